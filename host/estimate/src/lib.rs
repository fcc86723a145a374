//! Delay mean, standard deviation and loss of a measurement segment from its two ends' cells.
//!
//! Pure functions: [`estimate`] turns one interval's [`Observation`] into an [`Estimate`], [`combine`] turns
//! consecutive estimates into an [`Overall`], [`bank_loss`] counts a bank's losses, [`hoeffding_half_width`] gives
//! the LDA paper's own interval, [`quantile`] the quantiles of delay, [`Histogram`] keeps delays in bounded memory,
//! [`offset_bounds`] tells how far the clocks may be apart, [`prefixes_for_loss`] the sampling for the next
//! interval, [`sizing`] what a configuration will be worth. Delays are in nanoseconds. What cannot be told is a
//! [`Reason`], never a NaN.
//!
//! # Model
//!
//! Of the R packets received in an interval, hashing puts some into rows. A row is *usable* when both ends counted
//! the same number of packets in it, and, with digests, equal digest sums; row i of the g usable rows that are not empty holds n_i packets with delay sum
//! X_i, and S = sum n_i is the *effective sample size* (LDA paper, section III-D). Since the hash knows nothing of
//! delays, the packets of usable rows are a simple random sample, without replacement, of the R delays, however
//! loss and delay depend on each other. What is estimated is the mean mu and the standard deviation sigma of the
//! R delays; sigma has divisor R, as in the paper.
//!
//! | quantity | formula | guarantee |
//! |---|---|---|
//! | mean | sum X_i / S | unbiased; exact when S = R |
//! | between-row variance | s^2 = 1/(g-1) * sum (X_i - n_i mean)^2 / n_i | unbiased for sum (w - mu)^2 / (R-1) |
//! | sigma | sqrt(s^2 (R-1)/R) | relative error about 1/sqrt(2 g) |
//! | standard error of the mean | sqrt(s^2 (1 - S/R) / S), at most g - 1 degrees of freedom | its square is unbiased |
//! | the paper's second moment | F = sum (X_2i - X_2i-1)^2 / sum (n_2i + n_2i-1) | unbiased for sum w^2 / R |
//! | the paper's sigma | sqrt(F - mean^2) | useless when mu >> sigma |
//!
//! Sampling without replacement makes Var(X_i) = n_i s^2 (1 - n_i/R) and Cov(X_i, X_j) = -n_i n_j s^2 / R. In the
//! expectation of the between-row sum of squares the two finite-population terms cancel, so that it needs no
//! correction: sum n_i (X_i/n_i)^2 expects s^2 (g - S/R) + S mu^2 and S mean^2 expects s^2 (1 - S/R) + S mu^2.
//! Only the standard error carries the factor 1 - S/R.
//!
//! # Limits
//!
//! * Without digests, a row whose counts match although it holds different packets at the two ends (as many lost as
//!   came in from elsewhere, by reordering across the interval's end or by duplication) cannot be told from a good one
//!   and spoils the mean without any trace. More received than sent is reported as [`Loss::Surplus`]; take it as a
//!   warning for the delays too.
//! * A row's delay sum is known modulo 2^40 ns. The estimate is right while |X_i| < 2^39 ns (549 s): with n packets
//!   a row, |mu| < 549 s / n. The offset between the two clocks is part of mu.
//! * The intervals rest on the central limit theorem. Few usable rows are made up for by Student's t (4 rows with
//!   36 packets of Weibull delays of shape 1.5: 95 % covered), few samples of a heavy tail in part: from 8 usable
//!   rows on, the rows' third moment moves the interval ([`Skew`]) and their fourth takes degrees of freedom from it. So
//!   the paper's Weibull delays of shape 0.6 are covered in 93 to 94 % with 23 rows and 94 packets, where Student's t
//!   alone would cover 91 to 92 %. Figure 8 of `deltaline lab` measures a whole grid.
//! * Packets with equal identity share a row, which makes rows more alike or less alike than chance would: the
//!   mean stays right, the standard deviation and the intervals do not.
//!
//! # Test plan
//!
//! * Worked example of the paper (Fig. 2), and every edge case by hand: `tests::examples`.
//! * Every formula above as an identity: all assignments of a few packets to a few rows, averaged, against the
//!   formula's claim, to rounding: `tests::exhaustive`.
//! * Coverage, relative error, the paper's failure at mu >> sigma, by simulation against intervals from theory:
//!   `tests::monte_carlo`.
//! * Any input whatever: no panic, no NaN, invariances: `tests::properties`.
//! * Student's quantile against published tables: [`Mean`]'s module.

mod combine;
mod confidence;
mod histogram;
mod interval;
mod loss;
mod mean;
mod observation;
mod offset;
mod quantile;
pub mod quantity;
mod reason;
mod sampling;
pub mod sizing;
#[cfg(test)]
mod tests;

pub use combine::{Overall, Stratified, combine};
pub use confidence::{Confidence, ConfidenceError, hoeffding_half_width};
pub use histogram::{Histogram, RELATIVE_ERROR};
pub use interval::{Estimate, estimate};
pub use loss::{BankLossError, Loss, bank_loss};
pub use mean::{Mean, Range, Skew, Uncertainty};
pub use observation::{End, Observation, ObservationError};
pub use offset::{OffsetBounds, offset_bounds};
pub use quantile::{Quantile, Singles, quantile};
pub use reason::Reason;
pub use sampling::prefixes_for_loss;
