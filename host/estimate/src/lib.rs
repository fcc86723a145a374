//! Delay mean, standard deviation and loss of a measurement segment, estimated from the cells of its two ends.
//!
//! Every function here is pure, and every delay is in nanoseconds. A quantity that the data cannot show is a
//! [`Reason`], never a NaN.
//!
//! | to get | use |
//! |---|---|
//! | mean, standard deviation and loss of one interval | [`estimate`], from an [`Observation`] to an [`Estimate`] |
//! | the same over several intervals | [`combine`], to an [`Overall`] |
//! | which packets only one end saw | [`difference`], from identity tables |
//! | delay, loss and size of a flow | [`lds::LdsPair`] |
//! | delay of a flow, from reference packets | [`interpolation::Interpolator`] |
//! | quantiles of delay | [`quantile`], from [`Singles`] |
//! | the interval of the LDA paper, for comparison | [`hoeffding_half_width`] |
//! | bounds on the offset between the clocks | [`offset_bounds`] |
//! | jumps, drift and wild stamps of the clocks | [`clock_doubts`], [`clock_doubts_of_packets`], [`Tame`] |
//! | the sampling for the next interval | [`prefixes_for_loss`] |
//! | the accuracy of a configuration before it is built | [`sizing`] |
//!
//! # Example
//!
//! One bank of four rows with digests. Five packets entered the segment and one of the two in row 2 was lost, so
//! that row is not usable.
//!
//! ```
//! use deltaline_estimate::{Confidence, Loss, Observation, Singles, estimate, quantile};
//! use deltaline_model::sketch::cell::Cell;
//!
//! let cell = |count, sum, digest| Cell { count, sum, digest };
//! let sender = [cell(2, 300, 7), cell(1, 400, 9), cell(2, 900, 4), cell(0, 0, 0)];
//! let receiver = [cell(2, 420, 7), cell(1, 450, 9), cell(1, 520, 1), cell(0, 0, 0)];
//! let observation = Observation { rows: 4, sender: &sender, receiver: &receiver, sent: 5, received: 4 };
//!
//! let found = estimate(&observation)?;
//! assert_eq!(found.loss(), Loss::Lost(1));
//! assert_eq!((found.usable_rows, found.effective_samples), (2, 3));
//!
//! let mean = found.mean?;
//! assert!((mean.nanoseconds - 170.0 / 3.0).abs() < 1e-9);
//! let range = mean.range(Confidence::P95)?;
//! assert!(range.lower < mean.nanoseconds && mean.nanoseconds < range.upper);
//! let deviation = found.deviation?;
//! assert!((deviation - 50f64.sqrt()).abs() < 1e-9);
//!
//! // Row 1 holds the same single packet at both ends: its delay is exact.
//! let singles = Singles::of(&observation);
//! assert_eq!(singles.delays(), [50]);
//! // One packet is too few for a quantile, and the reason says how many it takes.
//! let reason = quantile(&[&singles], 0.5, Confidence::P95).unwrap_err();
//! assert!(reason.to_string().contains("this quantile needs 6 rows with a single packet"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `cargo run -p deltaline-estimate --example two_tables` does the same with two tables in files.
//!
//! # Model
//!
//! R packets are received in an interval, and hashing puts some of them into rows. A row is *usable* when both ends
//! counted the same number of packets in it and, with digests, their digest sums are equal. Of the usable rows, g
//! hold packets: row i of them holds n_i packets with delay sum X_i, and S = sum n_i is the *effective sample size*
//! (LDA paper, section III-D). The hash knows nothing of delays. So the packets of usable rows are a simple random
//! sample, without replacement, of the R delays, however loss and delay depend on each other. What is estimated is
//! the mean mu and the standard deviation sigma of the R delays. Sigma has divisor R, as in the paper.
//!
//! | quantity | formula | guarantee |
//! |---|---|---|
//! | mean | sum X_i / S | unbiased; exact when S = R |
//! | mean, where sums over all packets show that the ends saw the same ones | (sum of times received - sum of times sent) / R | exact |
//! | bracket, where L were lost and none gained | [`Sums::bracket`] | holds the mean for certain |
//! | between-row variance | s^2 = sum w_i (X_i - n_i mean)^2 / n_i / sum w_i (1 - n_i/S), with w_i = 1 / (2 + k/n_i), k the rows' estimate of the delays' excess kurtosis | with any given weights unbiased for sum (w - mu)^2 / (R-1) |
//! | sigma | sqrt(s^2 (R-1)/R) | relative error 1/sqrt(4 sum w_i): about 1/sqrt(2 g) where the delays' tail is light |
//! | standard error of the mean | sqrt(s^2 (1 - S/R) / S), at most g - 1 degrees of freedom | its square is unbiased |
//! | the paper's second moment | F = sum (X_2i - X_2i-1)^2 / sum (n_2i + n_2i-1) | unbiased for sum w^2 / R |
//! | the paper's sigma | sqrt(F - mean^2) | useless when mu >> sigma |
//!
//! Sampling without replacement makes Var(X_i) = n_i s^2 (1 - n_i/R) and Cov(X_i, X_j) = -n_i n_j s^2 / R. So the
//! expectation of (X_i - n_i mean)^2 is n_i s^2 (1 - n_i/S): the finite-population terms cancel. Only the standard error
//! carries the factor 1 - S/R. With fewer than 8 rows, or k = 0, all weigh alike. A heavy tail makes k and the spread of the
//! same rows large together, which leaves sigma a few per cent too small.
//!
//! # Limits
//!
//! * Without digests, a row may have equal counts although it holds different packets at the two ends: as many were
//!   lost as came in from elsewhere, by duplication or by reordering across the interval's end. Nothing
//!   distinguishes such a row from a good one, and it spoils the mean without a trace. [`Balance`] says whether packets came in
//!   from elsewhere; take that as a warning for the delays too.
//! * A row's delay sum is known modulo 2^40 ns. [`estimate`] is right while |X_i| < 2^39 ns (549 s): with n packets
//!   a row, |mu| < 549 s / n. The offset between the two clocks is part of mu. [`estimate_traffic`] goes on from what first and last times and sums over
//!   all packets say of mu, as far as 549 s, and refuses where they say too little.
//! * The intervals rest on the central limit theorem. Student's t makes up for few usable rows (4 rows with 36
//!   packets of Weibull delays of shape 1.5: 95 % covered), but only in part for few samples of a heavy tail. From
//!   8 usable rows on, the third moment of the rows therefore moves the interval ([`Skew`]) and their fourth moment
//!   reduces its degrees of freedom. With 23 rows and 94 packets the paper's Weibull delays of shape 0.6 are then
//!   covered in 93 to 94 %; Student's t alone would cover 91 to 92 %. Figure 8 of `deltaline lab` measures a whole
//!   grid.
//! * Packets with equal identity share a row and are lost, sampled and counted together: rows are no chance sample then. [`estimate_traffic`]
//!   refuses what rows alone show as soon as so many share rows or banks that it is no chance. A share too small for that, about a
//!   fifth of the rows' packets in pairs or a fiftieth in crowds of ten, goes unnoticed.
//! * Delays rarer than 3/S may not be among the S packets, and then nothing shows them. The mean is marked where S or g is
//!   small ([`quantity::Remark::FewSamples`]) and where few packets make up most of the spread
//!   ([`quantity::Remark::HeavyTail`]). Figure 10 of `deltaline lab` measures what is left.
//!
//! # Test plan
//!
//! * The paper's worked example (Fig. 2), and every edge case by hand: `tests::examples`.
//! * Every formula above as an identity, to rounding: the average over all assignments of a few packets to a few
//!   rows against the formula's claim: `tests::exhaustive`.
//! * Coverage, relative error and the paper's failure at mu >> sigma: simulation against intervals from theory, in
//!   `tests::monte_carlo`.
//! * Arbitrary input causes no panic and no NaN, and the invariances hold: `tests::properties`.
//! * Student's quantile against published tables: [`Confidence`]'s module.

mod balance;
mod clock;
pub mod colate;
mod combine;
mod confidence;
pub mod difference;
mod further;
pub mod interpolation;
mod interval;
pub mod lds;
mod loss;
mod mean;
mod observation;
mod offset;
mod quantile;
pub mod quantity;
mod reason;
mod repeats;
mod rounding;
mod sampling;
pub mod sizing;
pub mod slices;
mod sums;
#[cfg(test)]
mod tests;
mod wrapping;

pub use balance::{Balance, Basis};
pub use clock::{Block, ClockDoubt, Tame, WRONG_BY, clock_doubts, clock_doubts_of_packets, wild_stamps};
pub use combine::{Deviation, Overall, Stratified, combine};
pub use confidence::{Confidence, ConfidenceError, hoeffding_half_width};
pub use difference::Difference;
pub use further::Further;
pub use interval::{Estimate, Method, estimate, estimate_traffic};
pub use loss::Loss;
pub use mean::{Mean, Range, Skew, Uncertainty};
pub use observation::{Observation, ObservationError};
pub use offset::{OffsetBounds, offset_bounds};
pub use quantile::{Quantile, Singles, deviation_of_all, quantile, singles_needed};
pub use reason::{ALTERED, Reason};
pub use repeats::look_for_repeats;
pub use rounding::Rounding;
pub use sampling::prefixes_for_loss;
pub use sums::{EndSums, Sums};
