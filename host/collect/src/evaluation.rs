//! Evaluation: what an interval's two reports say of delay and loss.

use crate::collector::Collected;
use crate::pair::{CLOCKS_TOO_FAR, Interval, Pair, Rows};
use crate::verdict::{Doubt, Void};
use deltaline_estimate::{
    Difference, EndSums, Estimate, Further, Observation, ObservationError, OffsetBounds, Reason, Singles,
    Sums, difference, estimate_traffic, offset_bounds,
};
use deltaline_model::sketch::cell::{Cell, Row};
use deltaline_model::sketch::digest;
use deltaline_model::sketch::finecomb;
use deltaline_model::sketch::identity_table::{IdentityCell, TABLES, row};
use deltaline_model::sketch::packet_cache::PacketCache;
use deltaline_model::sketch::packet_id::PacketId;
use deltaline_model::time::Timestamp;
use deltaline_model::wire::cell::WireCell;
use deltaline_model::wire::frame::Totals;
use deltaline_model::wire::shape::Kind;
use thiserror::Error;

/// Why an interval has no estimate.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Unusable {
    /// Its control frames do not make a pair.
    #[error(transparent)]
    Void(#[from] Void),
    /// Cells and totals contradict each other.
    #[error("{0}: the interval is void; this is no measurement point of this release")]
    Contradictory(#[from] ObservationError),
    /// Its synopsis cannot be evaluated.
    #[error("synopsis kind {0} has no estimator in this release: use a later release")]
    Kind(Kind),
}

/// What is known of an interval.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// Number of the measurement segment.
    pub segment: u32,
    /// Number of the interval.
    pub number: u32,
    /// The sender's own numbers, if it reported.
    pub sender: Option<Totals>,
    /// The receiver's own numbers, if it reported.
    pub receiver: Option<Totals>,
    /// The estimate, and how the ends' rows compare.
    pub result: Result<(Estimate, Rows), Unusable>,
    /// What its synopsis shows besides.
    pub further: Vec<Further>,
    /// What to keep in mind.
    pub doubts: Vec<Doubt>,
    /// Whether all control frames had right tags.
    pub authenticated: bool,
}

impl Evaluation {
    /// Evaluates an interval.
    pub fn of(interval: &Interval) -> Self {
        Evaluation::with_caches(interval, None)
    }

    /// Evaluates an interval of which the sender and the receiver remember their packets, if they do: where tables show which packets
    /// differ, delays are of all packets that both have seen, exactly.
    pub fn with_caches(interval: &Interval, caches: Option<[&PacketCache; 2]>) -> Self {
        let (result, further) = match evaluate(interval, caches) {
            Ok(Answer { estimate, rows, further }) => (Ok((estimate, rows)), further),
            Err(unusable) => (Err(unusable), vec![]),
        };
        Evaluation {
            segment: interval.segment,
            number: interval.number,
            sender: interval.sender.as_ref().map(|report| report.totals),
            receiver: interval.receiver.as_ref().map(|report| report.totals),
            result,
            further,
            doubts: interval.doubts.clone(),
            authenticated: interval.authenticated,
        }
    }

    /// Evaluates all intervals of a recording.
    pub fn all(collected: &Collected) -> impl Iterator<Item = Self> {
        collected.intervals.iter().map(Evaluation::of)
    }

    /// When the sender saw the first packet and the last, if it saw any.
    pub fn span(&self) -> Option<(Timestamp, Timestamp)> {
        let totals = self.sender.filter(|totals| totals.packets > 0)?;
        Some((totals.first, totals.last))
    }
}

/// What the cells of a pair say.
struct Answer {
    estimate: Estimate,
    rows: Rows,
    further: Vec<Further>,
}

/// The evaluation of a pair's kind of synopsis.
fn evaluate(interval: &Interval, caches: Option<[&PacketCache; 2]>) -> Result<Answer, Unusable> {
    let pair = interval.pair()?;
    match pair.sender.shape.kind {
        Kind::LDA => rows::<Cell>(&pair, pair.sender.shape.has_digests),
        Kind::FINECOMB => rows::<finecomb::RowCell>(&pair, true),
        Kind::IDENTITY_TABLE => identities(&pair, caches),
        kind => Err(Unusable::Kind(kind)),
    }
}

/// The evaluation of identity tables: the best of them as a bank of rows.
fn identities(pair: &Pair, caches: Option<[&PacketCache; 2]>) -> Result<Answer, Unusable> {
    let (sender, receiver) = (pair.sender.cells(), pair.receiver.cells());
    // All packets, if the prefix has no length.
    let is_sampled = pair.sender.prefixes.is_none_or(|prefixes| prefixes.lengths() != [0]);
    let difference = Difference { is_sampled, ..Difference::of(&sender, &receiver) };
    let mut answer = of_rows(pair, difference::best_table(&observation(pair, &sender, &receiver)), true)?;
    if difference.complete {
        // It is known which packets differ: rows that show more at the receiver are no reason to doubt the others.
        answer.rows = Rows { surplus: 0, foreign: 0, ..answer.rows };
        if let Some(common) =
            caches.and_then(|caches| common(pair, [&sender, &receiver], &difference, caches))
        {
            answer.estimate = answer.estimate.with_common(&common);
        }
    }
    answer.further.push(Further::Difference(difference));
    Ok(answer)
}

/// The estimate of the packets that both ends have seen, if it is known when each of the others was seen.
fn common(
    pair: &Pair,
    cells: [&[IdentityCell]; 2],
    difference: &Difference,
    caches: [&PacketCache; 2],
) -> Option<Estimate> {
    let Sums { sender, receiver } = sums(pair).filter(|_| !difference.is_sampled)?;
    let (sender_cells, sender) = without(cells[0], sender, &difference.only_sent, caches[0])?;
    let (receiver_cells, receiver) = without(cells[1], receiver, &difference.only_received, caches[1])?;
    let sums = Sums { sender, receiver };
    // Counts and checks of all packets vouch for it.
    let (sent, received) = (sender.packets, receiver.packets);
    let (sender, receiver) = (sender_cells.as_slice(), receiver_cells.as_slice());
    let whole = Observation { sender, receiver, sent, received, ..observation(pair, sender, receiver) };
    let rows = difference::best_table(&whole);
    let estimate = estimate_traffic(&rows, sums.near(), &[1.0]).ok()?;
    sums.are_same().then(|| estimate.with_sums(&sums))
}

/// An end's cells and sums without some of its packets.
fn without(
    cells: &[IdentityCell],
    sums: EndSums,
    packets: &[[u32; 2]],
    cache: &PacketCache,
) -> Option<(Vec<IdentityCell>, EndSums)> {
    let id = PacketId::default();
    let hashes: Vec<u64> = packets.iter().map(|halves| id.hash_of(*halves)).collect();
    let (mut cells, mut sums) = (cells.to_vec(), sums);
    let rows = cells.len() / TABLES;
    for ((halves, hash), time) in packets.iter().zip(&hashes).zip(cache.times(&hashes)?) {
        let check = id.check_of(*hash);
        for table in 0..TABLES {
            cells
                .get_mut(table * rows + row(*halves, table, rows))?
                .remove(time, [check, halves[0], halves[1]]);
        }
        sums.packets = sums.packets.checked_sub(1)?;
        sums.times = sums.times.wrapping_sub(time);
        sums.digests = sums.digests.map(|digests| digest::subtract(digests, check));
    }
    Some((cells, sums))
}

/// The evaluation of banks of rows, of which digests vouch for single packets or do not.
fn rows<R: Row + WireCell>(pair: &Pair, has_digests: bool) -> Result<Answer, Unusable> {
    let (sender, receiver) = (pair.sender.cells::<R>(), pair.receiver.cells::<R>());
    of_rows(pair, observation(pair, &sender, &receiver), has_digests)
}

fn of_rows<R: Row>(pair: &Pair, observation: Observation<R>, has_digests: bool) -> Result<Answer, Unusable> {
    let singles = has_digests.then(|| Further::Singles(Singles::of(&observation)));
    let rows = Rows { vouched: has_digests, ..pair.rows(observation.sender, observation.receiver) };
    let sums = sums(pair);
    let prefixes = pair.sender.prefixes;
    let shares: Vec<f64> = prefixes
        .iter()
        .flat_map(|prefixes| (0..prefixes.banks()).map(|bank| prefixes.probability(bank)))
        .collect();
    let estimate = estimate_traffic(&observation, sums.and_then(|sums| sums.near()), &shares)?;
    let estimate = sums.map_or(estimate, |sums| estimate.with_sums(&sums));
    Ok(Answer { estimate, rows, further: singles.into_iter().collect() })
}

/// The sums over all packets, if both ends report them.
fn sums(pair: &Pair) -> Option<Sums> {
    let of = |totals: &Totals| {
        Some(EndSums {
            packets: totals.packets,
            times: totals.time_sum?,
            digests: totals.digest_sum,
            first: totals.first.nanoseconds(),
            last: totals.last.nanoseconds(),
        })
    };
    Some(Sums { sender: of(&pair.sender.totals)?, receiver: of(&pair.receiver.totals)? })
}

fn observation<'a, R: Row>(pair: &Pair, sender: &'a [R], receiver: &'a [R]) -> Observation<'a, R> {
    let (sent, received) = (pair.sender.totals.packets, pair.receiver.totals.packets);
    Observation { rows: pair.sender.shape.table_cells as usize, sender, receiver, sent, received }
}

/// Why delays are meaningless although they can be computed, if so: one of [`Reason::Unrelated`],
/// [`Reason::ClocksTooFar`] and [`Reason::Contaminated`].
pub fn distrust<'a>(rows: impl Iterator<Item = &'a Rows> + Clone) -> Option<Reason> {
    if rows.clone().any(Rows::are_unrelated) {
        return Some(Reason::Unrelated);
    }
    if rows.clone().any(|rows| rows.apart >= CLOCKS_TOO_FAR) {
        return Some(Reason::ClocksTooFar);
    }
    if let Some(rows) = rows.clone().find(|rows| rows.may_hide_foreign_packets()) {
        return Some(Reason::Contaminated(rows.surplus as u64));
    }
    None
}

/// Why the offset of two clocks has no bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum Unbounded {
    /// A direction's intervals are all void.
    #[error("not identifiable: segment {0}: all its intervals are void")]
    AllVoid(u32),
    /// A direction's delays mean nothing.
    #[error("not identifiable: segment {0}: {1}")]
    Distrusted(u32, Reason),
    /// A direction has no digests.
    #[error(
        "not identifiable: segment {0}: no delay is exact without digests; measure with `digest = true` in the design, \
         or `measure --digest`"
    )]
    NoDigests(u32),
    /// The delays give no bounds.
    #[error(transparent)]
    Delays(#[from] Reason),
}

/// Bounds of the offset of two points' clocks from the intervals of both directions between them.
///
/// # Errors
///
/// Why there are none.
pub fn bound_offset(forward: &[Evaluation], backward: &[Evaluation]) -> Result<OffsetBounds, Unbounded> {
    Ok(offset_bounds(&exact_delays(forward)?, &exact_delays(backward)?)?)
}

/// The exact delays of a segment's intervals.
fn exact_delays(evaluations: &[Evaluation]) -> Result<Vec<&Singles>, Unbounded> {
    let segment = evaluations.first().map_or(0, |each| each.segment);
    let rows = evaluations.iter().filter_map(|each| each.result.as_ref().ok()).map(|(_, rows)| rows);
    let singles = singles(evaluations);
    if rows.clone().next().is_none() {
        return Err(Unbounded::AllVoid(segment));
    }
    match distrust(rows) {
        Some(reason) => Err(Unbounded::Distrusted(segment, reason)),
        None if singles.is_empty() => Err(Unbounded::NoDigests(segment)),
        None => Ok(singles),
    }
}

/// The exact delays of all intervals that have digests.
pub(crate) fn singles(evaluations: &[Evaluation]) -> Vec<&Singles> {
    evaluations.iter().flat_map(|each| &each.further).filter_map(Further::singles).collect()
}
