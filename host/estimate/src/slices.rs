//! Slices: mean delay, its certain bracket and exact delays from streams that both ends cut at the same packets.
//!
//! [Slices](deltaline_model::sketch::slices) of both ends are put side by side where their boundaries agree: boundary packets
//! arrived, so each of them shows its delay exactly. Between two of them, the sender has n packets with the sum of times S, the
//! receiver r with the sum Q, and L = n - r were lost. The sum of the delays is Q - S and the sum of the lost packets' sending times, of
//! which every one lies within the slice. With the mean sending time t of the slice's packets, its first one left out,
//!
//! ```text
//! mean = sum (Q - S + L t) / R
//! ```
//!
//! All slices count: those without loss alone would be those of quiet moments. A boundary that the receiver has not seen merges two slices, and
//! its own sending time is known exactly.
//!
//! | quantity | formula |
//! |---|---|
//! | spread of a slice's sending times | v, the mean over its packets, by parts between the sender's own boundaries, of d ns and with their mean c at the share u of them, of d^2 u (1 - u) / 3 + (c - t)^2; in even traffic the first is d^2 / 12 |
//! | burstiness | b = sum L_k (L_k - q_k n_k) / sum L_k with q_k the share lost in its two neighbours, or 1, the greater |
//! | variance of a slice's completion, of L among m | v L min(b, L) (1 - L / m) m / (m - 1) |
//! | variance of all completions, as neighbours show it | sum ((L_k n_(k+1) - L_(k+1) n_k) / (n_k + n_(k+1)) (t_k - t_(k+1)))^2 / 2, if that is more than all slices' own together |
//! | lateness of a lost boundary that was sent at x | y = x - t - B (packets of the slice before it - it and those behind it), B fitted to all boundaries |
//! | lateness of all losses that are no boundaries | H sum y / (sum h + h_1 / 3), h what slices last, h_1 on average over these losses and H over all of them together |
//! | its variance | H^2 s^2 (sum h^2 + h_1^2 / 3) / (sum h + h_1 / 3)^2, s^2 the mean square of y over that of h of all boundaries |
//! | bracket | all L packets as early, or as late, as the slices' ends, their sums and the order of the packets allow |
//! | deviation, quantiles | of the boundary packets: a random sample |
//!
//! That losses lie anywhere in their slices is not believed. Lost boundaries, a random sample of all lost packets, show by how much these are later than
//! the completion has them, and how uncertain that is.
//!
//! The mean of the boundary packets' delays is an estimate of its own, independent of where losses lay; both are weighted by their
//! variances.
//!
//! The path has to keep its order. A packet that crosses a boundary is one lost in one slice and gained in the next; a slice that gained, a
//! boundary that was not sent, or boundaries in another order show it, and there is no mean then ([`Reason::Reordered`]). Crossings that
//! losses of the same slice hide stay unseen; each moves the mean by a slice's length over R to either side alike. As many packets at both ends whose
//! digests differ, or rows beside the slices, show that packets came in: there is no mean of slices then either ([`Reason::Gained`]).
//!
//! # Test plan
//!
//! `tests::slices`: mean and bracket by hand; the bracket in thousands of random streams that keep order; coverage, of packets in trains, of trains that lose packets at one place, behind a queue, of one interval and of many, with rows beside them; where lost boundaries say that losses lie, by hand; lost, repeated and
//! reordered boundaries; other people's packets, also one in another's place; other numbers of zeros at the two ends; empty ends, single packets, hostile cells, counts and times that wrap, brackets that contradict each other.

mod align;
mod apart;
mod complete;
mod guess;
mod lost_boundaries;
mod sample;

use crate::quantile::Singles;
use crate::{Balance, Estimate, Mean, Method, Range, Reason, Rounding, Sums, Uncertainty};
pub use align::{Slice, align};
pub use apart::Apart;
use complete::Completion;
use deltaline_model::sketch::slices::Record;
use guess::Guess;
pub(crate) use lost_boundaries::NONE_KNOWN;
use sample::Sample;

/// What slices show of an interval.
#[derive(Clone, Debug)]
pub struct Sliced {
    /// The estimate.
    pub estimate: Estimate,
    /// The exact delays of the boundary packets.
    pub singles: Singles,
    /// The slices that both ends have in common, in order of time; none where order was not kept.
    pub slices: Vec<Slice>,
}

impl Sliced {
    /// The estimate from both ends' records and the sums over all packets. Tables that are not merged have `room` for so many
    /// records: boundaries of a full one are no sample of the whole interval.
    pub fn of(sender: &[Record], receiver: &[Record], sums: &Sums, room: usize) -> Self {
        let is_full = sender.len().max(receiver.len()) >= room;
        let (slices, failed) = match align(sender, receiver, sums, room) {
            Ok(slices) => (slices, None),
            Err(reason) => (vec![], Some(reason)),
        };
        let exact = slices.iter().filter_map(|slice| slice.delay);
        let delays: Vec<i64> = if is_full { vec![] } else { exact.collect() };
        let reason = no_mean(sums, failed);
        let (sent, received) = (sums.sender.packets, sums.receiver.packets);
        let mut balance = Balance::of_totals(sent, received);
        if let Some(Reason::Gained(gained)) = reason {
            balance.surplus_least = balance.surplus_least.max(gained);
            balance.lost_least = balance.surplus_least.saturating_add_signed(balance.net);
        }
        let sample = Sample::of(&delays);
        let completion = reason.map_or_else(|| Completion::of(&slices, !is_full), Err);
        let own = completion.as_ref().ok().and_then(|completion| completion.bracket);
        let apart = completion.map(|completion| Apart::new(&completion, &sample, received));
        let mean = apart.map(|apart| {
            let mean = Apart::mean(&[apart]).bounded(own.unwrap_or(Range::ALL));
            Mean { nanoseconds: mean.within_bounds(), ..mean }
        });
        let deviation = match reason {
            Some(reason) => Err(reason),
            None if is_full => Err(Reason::FullTable),
            None if sample.count < 2.0 => Err(Reason::OneUsableRow),
            None => Ok(sample.variance.sqrt()),
        };
        let bare = Estimate {
            sent,
            received,
            delivered: received,
            effective_samples: if mean.is_ok() { received } else { 0 },
            usable_rows: delays.len(),
            mean,
            method: Method::Slices,
            bracket: Err(Reason::NoSums),
            deviation,
            deviation_freedom: sample.freedom,
            deviation_rows: delays.len(),
            rounding: Rounding::default(),
            // The boundaries of a full table show nothing of the others' losses.
            apart: apart.ok().filter(|_| !is_full),
            balance,
            representative: Ok(()),
            paper_second_moment: Err(Reason::NoUsablePair),
            paper_deviation: Err(Reason::NoUsablePair),
        };
        let mut estimate = bare.with_sums(sums);
        let open = failed.filter(|reason| matches!(reason, Reason::Reordered(_)));
        estimate.balance = estimate.balance.without_rows(open);
        let bracket = match (own, estimate.bracket) {
            // Where they contradict each other, packets crossed a boundary unseen; sums over all do not ask for order.
            (Some(own), Ok(whole)) => Some(own.common(whole).unwrap_or(whole)),
            // Without digests, it is slices that vouch for the order; and all know how often times wrapped in them.
            (own, Err(Reason::NoSums)) if sums.digests_agree().is_none() || sums.wraps_are_open() => own,
            _ => None,
        };
        if let Some(bracket) = bracket {
            estimate.bracket = Ok(bracket);
            estimate.mean = estimate.mean.map(|mean| match mean.uncertainty {
                Uncertainty::Exact => mean,
                _ => mean.bounded(bracket),
            });
        }
        // Packets that came from elsewhere look like packets out of order.
        if let (Some(reason), false) = (failed, sums.are_same()) {
            estimate.bracket = Err(reason);
        }
        Sliced { estimate, singles: Singles::drawn(delays, received), slices }
    }
}

/// Why there is no mean of slices, if so.
fn no_mean(sums: &Sums, failed: Option<Reason>) -> Option<Reason> {
    // As many packets, but others: no slice shows in which one a packet took another's place.
    let is_other = sums.sender.packets == sums.receiver.packets && sums.digests_agree() == Some(false);
    match sums.receiver.packets {
        0 => Some(Reason::NothingReceived),
        _ => failed.or(is_other.then_some(Reason::Gained(1))),
    }
}

/// The estimate of rows and of slices together: the completion of slices, weighted with the larger one of two samples, rows and boundary packets. Where one of both has
/// no mean, the other's; where they contradict each other, or rows show packets that came in, which no slice tells from others, that of the rows, which do not ask for
/// order.
pub fn together(rows: Estimate, slices: &Estimate) -> Estimate {
    let gained = rows.balance.surplus_least;
    if gained > 0 && rows.mean.is_ok() {
        return rows;
    }
    let deviation = match (rows.deviation, slices.deviation) {
        (Ok(_), Ok(_)) if slices.deviation_freedom <= rows.deviation_freedom => rows,
        (_, Ok(_)) => *slices,
        _ => rows,
    };
    let bracket = match (rows.bracket, slices.bracket) {
        // Rows do not ask for order.
        (Ok(of_rows), Ok(of_slices)) => Ok(of_rows.common(of_slices).unwrap_or(of_rows)),
        (one, other) => one.or(other),
    };
    let (mean, method, apart) = match (rows.mean, slices.mean) {
        (Ok(of_rows), Ok(of_slices)) if rows.method != Method::Sums => {
            let (mean, method, apart) = of_both(&rows, of_rows, slices, of_slices);
            (Ok(mean), method, apart)
        }
        (Err(_), Ok(mean)) => (Ok(mean), slices.method, slices.apart),
        (mean, _) => (mean, rows.method, None),
    };
    let mean = mean.map(|mean| match (mean.uncertainty, bracket) {
        (Uncertainty::Exact, _) | (_, Err(_)) => mean,
        (_, Ok(bracket)) => mean.bounded(bracket),
    });
    Estimate {
        mean,
        method,
        apart,
        bracket,
        deviation: deviation.deviation,
        deviation_freedom: deviation.deviation_freedom,
        deviation_rows: deviation.deviation_rows,
        effective_samples: rows.effective_samples.max(slices.effective_samples),
        usable_rows: deviation.usable_rows,
        ..rows
    }
}

/// The mean of both, where it comes from, and what it is made of.
fn of_both(
    rows: &Estimate,
    of_rows: Mean,
    slices: &Estimate,
    of_slices: Mean,
) -> (Mean, Method, Option<Apart>) {
    let by_rows = (of_rows, rows.method, None);
    let by_slices = (of_slices, slices.method, slices.apart);
    match (Guess::of(&of_rows), Guess::of(&of_slices)) {
        (Some(known), _) if known.variance == 0.0 => by_rows,
        (_, Some(known)) if known.variance == 0.0 => by_slices,
        (None, _) => by_slices,
        (_, None) => by_rows,
        (Some(by), Some(other)) if by.contradicts(&other) => by_rows,
        (Some(by), Some(other)) => match slices.apart {
            Some(apart) => match apart.with_rows(rows) {
                Some(apart) => (Apart::mean(&[apart]), Method::Both, Some(apart)),
                None => by_slices,
            },
            // The boundaries of a full table are no sample, so that nothing of it is in the rows.
            None => (by.with(other).into(), Method::Both, None),
        },
    }
}
