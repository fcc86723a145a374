//! Evaluation: what an interval's two reports say of delay and loss.

use crate::collector::Collected;
use crate::delays::delays;
use crate::pair::{CLOCKS_TOO_FAR, Interval, Pair, Rows};
use crate::repair::{Repaired, repair};
use crate::verdict::{Doubt, Void};
use deltaline_estimate::difference::stash::{Stashed, by_rows};
use deltaline_estimate::difference::{best_table, published_deviation, published_mean};
use deltaline_estimate::slices::{Sliced, together};
use deltaline_estimate::{
    Difference, EndSums, Estimate, Further, Mean, Method, Observation, ObservationError, OffsetBounds,
    Reason, Rounding, Singles, Sums, Uncertainty, estimate_traffic, offset_bounds,
};
use deltaline_model::sketch::cell::{Cell, Row};
use deltaline_model::sketch::digest;
use deltaline_model::sketch::finecomb::{self, RowCell};
use deltaline_model::sketch::layout::{Layout, Subtractable};
use deltaline_model::sketch::lda_identity::of_words;
use deltaline_model::sketch::packet_cache::PacketCache;
use deltaline_model::sketch::packet_id::PacketId;
use deltaline_model::sketch::slices::{RECORD_CELLS, records};
use deltaline_model::time::Timestamp;
use deltaline_model::wire::cell::WireCell;
use deltaline_model::wire::frame::{Role, Totals};
use deltaline_model::wire::shape::{Kind, Shape};
use std::collections::BTreeMap;
use thiserror::Error;

/// Counts, in intervals that follow each other, the packets that crossed from one to the next, where all that differ are known.
pub fn name_crossings(evaluations: &mut [Evaluation]) {
    fn difference(evaluation: &mut Evaluation) -> Option<&mut Difference> {
        evaluation.further.iter_mut().find_map(|further| match further {
            Further::Difference(difference) => Some(difference),
            Further::Singles(_) => None,
        })
    }
    for place in 1..evaluations.len() {
        let [before, here] = &mut evaluations[place - 1..=place] else { continue };
        if before.segment != here.segment || before.number.wrapping_add(1) != here.number {
            continue;
        }
        if let Some((before, here)) = difference(before).zip(difference(here)) {
            before.cross(here);
        }
    }
}

/// Widens the bounds of two intervals that follow each other, of which both ends remember their packets (`caches`, the sender's first), by packets
/// that the receiver has more of in one, and of which both ends have one in the other: a copy behind the cut may be the original.
pub fn reach_over_cut(
    before: (&mut Evaluation, [&PacketCache; 2]),
    here: (&mut Evaluation, [&PacketCache; 2]),
) {
    let gained = [&before, &here].map(|(evaluation, caches)| evaluation.gained(caches[1]));
    let [of_before, of_here] = gained;
    before.0.reach(before.1, &of_here);
    here.0.reach(here.1, &of_before);
}

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
        Evaluation::with(interval, caches, None)
    }

    /// As [`Evaluation::with_caches`] of identity tables, where it is known already how the ends differ. Caches need no more than the packets whose
    /// identifiers it names.
    pub(crate) fn with_difference(
        interval: &Interval,
        caches: [&PacketCache; 2],
        difference: &Difference,
    ) -> Self {
        Evaluation::with(interval, Some(caches), Some(difference))
    }

    fn with(interval: &Interval, caches: Option<[&PacketCache; 2]>, difference: Option<&Difference>) -> Self {
        let (result, further) = match evaluate(interval, caches, difference) {
            Ok(Answer { estimate, rows, further }) => (Ok((estimate, rows)), further),
            Err(unusable) => (Err(unusable), vec![]),
        };
        let mut evaluation = Evaluation {
            segment: interval.segment,
            number: interval.number,
            sender: interval.sender.as_ref().map(|report| report.totals),
            receiver: interval.receiver.as_ref().map(|report| report.totals),
            result,
            further,
            doubts: interval.doubts.clone(),
            authenticated: interval.authenticated,
        };
        evaluation.round();
        evaluation
    }

    /// Takes out of deviations what times add that its doubts call coarse, and widens quantiles by it.
    pub(crate) fn round(&mut self) {
        let mut rounding = Rounding::default();
        for doubt in &self.doubts {
            match *doubt {
                Doubt::Coarse { role: Role::Sender, unit } => rounding.sender = unit,
                Doubt::Coarse { role: Role::Receiver, unit } => rounding.receiver = unit,
                _ => {}
            }
        }
        self.set_rounding(rounding);
    }

    /// The same where both ends' units are known; they take the place of what doubts say.
    pub fn round_by(&mut self, rounding: Rounding) {
        self.doubts.retain(|doubt| !matches!(doubt, Doubt::Coarse { .. }));
        self.set_rounding(rounding);
    }

    fn set_rounding(&mut self, rounding: Rounding) {
        if let Ok((estimate, _)) = &mut self.result {
            estimate.rounding = rounding;
        }
        for further in &mut self.further {
            if let Further::Singles(singles) = further {
                singles.rounding = rounding;
            }
        }
    }

    /// The packets of which the receiver has more, if all that differ are known: their hashes, and when it saw any that look so.
    fn gained(&self, received: &PacketCache) -> Vec<(u64, Vec<u64>)> {
        let known = self.further.iter().find_map(|further| match further {
            Further::Difference(difference) if difference.complete => Some(difference),
            _ => None,
        });
        let id = PacketId::default();
        let mut hashes: Vec<u64> = known
            .map_or(&[][..], |difference| &difference.only_received)
            .iter()
            .map(|halves| id.hash_of(*halves))
            .collect();
        hashes.sort_unstable();
        hashes.dedup();
        let times = received.all_times(&hashes).unwrap_or_default();
        hashes.into_iter().zip(times).collect()
    }

    /// Widens bounds by what the sum of delays changes if the receiver's packet was one of these `copies`, seen in an interval beside.
    fn reach(&mut self, caches: [&PacketCache; 2], copies: &[(u64, Vec<u64>)]) {
        let hashes: Vec<u64> = copies.iter().map(|(hash, _)| *hash).collect();
        let [Some(sent), Some(received)] = caches.map(|cache| cache.all_times(&hashes)) else { return };
        let (mut open, mut chosen) = ([0.0; 2], 0);
        for (((_, copies), sent), received) in copies.iter().zip(sent).zip(received) {
            if sent.is_empty() || received.is_empty() {
                continue;
            }
            for copy in copies {
                let later = received.iter().map(|time| {
                    Timestamp::from_nanoseconds(*copy).nanoseconds_since(Timestamp::from_nanoseconds(*time))
                });
                let [least, most] = [later.clone().min(), later.max()].map(Option::unwrap_or_default);
                open[0] += least.min(0).unsigned_abs() as f64;
                open[1] += most.max(0).unsigned_abs() as f64;
                chosen += 1;
            }
        }
        if let Ok((estimate, _)) = &mut self.result {
            *estimate = estimate.with_open(open);
        }
        for further in &mut self.further {
            if let Further::Difference(difference) = further {
                difference.chosen += chosen;
            }
        }
    }

    /// Widens bounds by so many nanoseconds of all delays together, as it is a guess which copies of packets that repeat are of its recordings' common
    /// time.
    pub fn leave_open(&mut self, nanoseconds: u64) {
        if let Ok((estimate, _)) = &mut self.result {
            *estimate = estimate.with_open([nanoseconds as f64; 2]);
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
fn evaluate(
    interval: &Interval,
    caches: Option<[&PacketCache; 2]>,
    difference: Option<&Difference>,
) -> Result<Answer, Unusable> {
    let pair = interval.pair()?;
    match pair.sender.shape.kind {
        Kind::LDA => rows::<Cell>(&pair, pair.sender.shape.has_digests),
        Kind::FINECOMB => finecomb(&pair, caches),
        Kind::IDENTITY_TABLE => subtracted(&pair, caches, |sent, received, _| match difference {
            Some(known) => known.clone(),
            None => Difference::of(sent, received),
        }),
        Kind::RDA => subtracted(&pair, caches, Difference::of_rda),
        Kind::SRDA => subtracted(&pair, caches, Difference::of_srda),
        Kind::SLICES => sliced(&pair, &pair.sender.cells(), &pair.receiver.cells()),
        Kind::BOTH => both(&pair),
        Kind::LDA_IDENTITY => with_identities(&pair),
        Kind::FLOW_ROWS | Kind::FLOW_VECTOR => of_flows(&pair),
        kind => Err(Unusable::Kind(kind)),
    }
}

/// The evaluation of slices in these cells.
fn sliced(pair: &Pair, sender: &[Cell], receiver: &[Cell]) -> Result<Answer, Unusable> {
    // Every reader of this kind has sums.
    let sums = sums(pair).ok_or(Unusable::Kind(pair.sender.shape.kind))?;
    let Sliced { estimate, singles, slices } =
        Sliced::of(&records(sender), &records(receiver), &sums, room(pair));
    // Rows that gained packets make others doubtful; slices tell themselves.
    let rows = Rows { vouched: true, ..pair.rows::<Cell>(&[], &[]) };
    let is_sample = !slices.is_empty() && estimate.deviation != Err(Reason::FullTable);
    let singles = if is_sample { singles } else { none_known(pair) };
    Ok(Answer { estimate, rows, further: vec![Further::Singles(singles)] })
}

/// No delay of an interval that has some: so that quantiles of several intervals say that they are without it.
fn none_known(pair: &Pair) -> Singles {
    Singles::drawn(vec![], pair.receiver.totals.packets)
}

/// How many records a table has, if they are not merged when it is full.
fn room(pair: &Pair) -> usize {
    let is_merged = pair.sender.prefixes.is_none_or(|prefixes| prefixes.lengths() == [0]);
    match pair.sender.shape {
        Shape { kind: Kind::SLICES, table_cells, .. } if !is_merged => table_cells as usize / RECORD_CELLS,
        _ => usize::MAX,
    }
}

/// The evaluation of an LDA and of the slices behind it.
fn both(pair: &Pair) -> Result<Answer, Unusable> {
    let [(sent, cut), (received, cut_received)] =
        [pair.sender, pair.receiver].map(|end| end.rows_and_slices());
    let has_digests = pair.sender.shape.has_digests;
    let of_rows = of_rows(pair, observation(pair, &sent, &received), has_digests, sums(pair), 0)?;
    let of_slices = sliced(pair, &cut, &cut_received)?;
    let estimate = together(of_rows.estimate, &of_slices.estimate);
    // Single packets of rows and boundary packets are random samples, both.
    let further = [of_rows.further, of_slices.further].into_iter().max_by_key(|each| delays_in(each));
    Ok(Answer { estimate, rows: of_rows.rows, further: further.unwrap_or_default() })
}

/// How many exact delays are among these.
fn delays_in(further: &[Further]) -> usize {
    further.iter().filter_map(Further::singles).map(|singles| singles.delays().len()).sum()
}

/// The evaluation of an LDA's rows of which an identity table names those that lost or gained packets.
fn with_identities(pair: &Pair) -> Result<Answer, Unusable> {
    let [sender, receiver]: [Vec<Cell>; 2] = [pair.sender.cells(), pair.receiver.cells()];
    let [(sent, sent_identities), (received, received_identities)] =
        [&sender, &receiver].map(|end| of_words(end));
    let prefixes = pair.sender.prefixes;
    let share = prefixes.map_or(1.0, |prefixes| prefixes.probability(0));
    let found = Difference::beside_rows(&sent_identities, &received_identities);
    let mut difference = Difference { is_sampled: share < 1.0, ..found };
    let (named, is_explained) = difference.name_rows(sent, received);
    let (sums, digest) = (sums(pair), digest::first(pair.sender.shape.kind, 0));
    // Sums are of all packets.
    difference.complete &= is_explained
        && (difference.is_sampled || sums.is_none_or(|sums| difference.agrees_with(&sums, &digest)));
    let (lost, gained) = (difference.only_sent.len() as u64, difference.only_received.len() as u64);
    let whole = observation(pair, &named[0], &named[1]);
    let mut answer = of_rows(pair, whole, difference.complete, sums, gained)?;
    if difference.complete {
        // It is known which rows hold other packets: they are no reason to doubt those that do not.
        answer.rows = Rows { surplus: 0, foreign: 0, ..answer.rows };
        answer.estimate.balance = answer.estimate.balance.with_known(lost, gained, share);
    } else {
        answer.further.push(Further::Singles(none_known(pair)));
    }
    answer.further.push(Further::Difference(difference));
    Ok(answer)
}

/// The evaluation of tables that can be subtracted.
fn subtracted<C: Subtractable>(
    pair: &Pair,
    caches: Option<[&PacketCache; 2]>,
    decode: impl FnOnce(&[C], &[C], Layout) -> Difference,
) -> Result<Answer, Unusable> {
    let shape = &pair.sender.shape;
    let layout = Layout::of(shape).ok_or(Unusable::Kind(shape.kind))?;
    let cells = [pair.sender.cells::<C>(), pair.receiver.cells::<C>()];
    let cells = [cells[0].as_slice(), cells[1].as_slice()];
    // All packets, if the prefix has no length.
    let is_sampled = pair.sender.prefixes.is_none_or(|prefixes| prefixes.lengths() != [0]);
    let (sums, digest) = (sums(pair), digest::first(shape.kind, 0));
    let mut difference = Difference { is_sampled, ..decode(cells[0], cells[1], layout) };
    // Ends that remember their packets can make as large a table as it takes.
    if let (Kind::IDENTITY_TABLE, false, false, Some([sent, received])) =
        (shape.kind, difference.complete, is_sampled, caches)
        && let Some((sent, received)) = sent.packets().zip(received.packets())
    {
        let (found, _) = Difference::by_symbols(sent.map(|(hash, _)| hash), received.map(|(hash, _)| hash));
        if found.complete {
            difference = found;
        }
    }
    // Sums are of all packets.
    difference.complete &= is_sampled || sums.is_none_or(|sums| difference.agrees_with(&sums, &digest));
    let named = difference.only_received.len() as u64;
    let mut answer = of_table(pair, cells, layout, sums, if difference.complete { named } else { 0 })?;
    let known = sums.filter(|_| !is_sampled).zip(caches);
    if let Some((sums, caches)) = known {
        let single = delays(caches[0], caches[1]);
        let usual = usual_delay(single.as_deref(), &answer.estimate);
        let id = PacketId::default();
        let places = |_, halves| layout.places(&id, halves).collect();
        let repaired = repair(cells, sums, places, &difference, caches, (usual, digest));
        if let Some(repaired) = repaired.as_ref().filter(|_| difference.complete) {
            difference.repeated = Some(repaired.repeated);
            difference.copies = repaired.copies;
            difference.chosen = repaired.chosen;
        }
        let open = repaired.as_ref().map_or([0; 2], |repaired| repaired.open);
        // Of all that differ if they are known, none of those that were gained is left.
        let gained = answer.estimate.balance.surplus_least.max(named);
        let gained = if difference.complete { 0 } else { gained };
        if let Some(common) =
            repaired.and_then(|repaired| common(pair, layout, &difference, repaired, gained))
        {
            answer.estimate = answer.estimate.with_common(&common).with_open(open.map(|sum| sum as f64));
        }
    }
    if difference.complete {
        // It is known which packets differ: rows that show more at the receiver are no reason to doubt the others.
        answer.rows = match is_sampled {
            true => Rows { surplus: 0, foreign: 0, ..answer.rows },
            false => {
                let totals = [pair.sender.totals.packets, pair.receiver.totals.packets];
                answer.rows.with_known(totals, difference.only_sent.len() as u64, difference.foreign())
            }
        };
    }
    // Of identity tables alone: the others are as they were published. Far more than rows of single packets show.
    if let (Kind::IDENTITY_TABLE, true, Some((_, [sent, received]))) =
        (shape.kind, difference.complete, known)
        && let Some(delays) = delays(sent, received).filter(|delays| !delays.is_empty())
    {
        let common = answer.estimate.received.saturating_sub(difference.only_received.len() as u64);
        answer.further.retain(|further| further.singles().is_none());
        answer.estimate = answer.estimate.with_spread_of(&delays);
        answer.further.push(Further::Singles(Singles::drawn(delays, common)));
    }
    answer.further.push(Further::Difference(difference));
    Ok(answer)
}

/// About the delay of a packet: the middle one of those that look like no other, as exact matching takes it, or else rows' mean.
fn usual_delay(single: Option<&[i64]>, estimate: &Estimate) -> Option<f64> {
    let mut sorted = single.unwrap_or_default().to_vec();
    sorted.sort_unstable();
    let middle = sorted.get(sorted.len() / 2).map(|delay| *delay as f64);
    middle.or_else(|| estimate.mean.ok().map(|mean| mean.nanoseconds))
}

/// The estimate of the packets that are not known to be only one end's. If all that differ are, counts and checks of all packets must vouch
/// for it.
fn common<C: Subtractable>(
    pair: &Pair,
    layout: Layout,
    difference: &Difference,
    repaired: Repaired<C>,
    gained: u64,
) -> Option<Estimate> {
    let Repaired { cells: [sender, receiver], sums, taken, .. } = repaired;
    if taken == 0 && !difference.complete || difference.complete && !sums.are_same() {
        return None;
    }
    Some(of_table(pair, [&sender, &receiver], layout, Some(sums), gained).ok()?.estimate)
}

/// The estimate from a table's rows: of several tables, from the best of them as a bank. At least so many packets were `gained`.
fn of_table<C: Subtractable>(
    pair: &Pair,
    cells: [&[C]; 2],
    layout: Layout,
    sums: Option<Sums>,
    gained: u64,
) -> Result<Answer, Unusable> {
    let [sender, receiver] = cells;
    let mut whole = observation(pair, sender, receiver);
    if let Some(Sums { sender, receiver }) = sums {
        (whole.sent, whole.received) = (sender.packets, receiver.packets);
    }
    if let Layout::Flat { .. } = layout {
        return of_array(pair, whole, sums, gained);
    }
    let mut answer = of_rows(pair, best_table(&whole), true, sums, gained)?;
    if let (Layout::Banks { .. }, Ok(mean)) = (layout, answer.estimate.mean) {
        (answer.estimate.paper_second_moment, answer.estimate.paper_deviation) =
            published_deviation(&whole, mean.nanoseconds);
    }
    Ok(answer)
}

/// The estimate from one array in which a packet has several rows: the published mean, whose error is not known, unless sums show it
/// exactly.
fn of_array<C: Subtractable>(
    pair: &Pair,
    whole: Observation<C>,
    sums: Option<Sums>,
    gained: u64,
) -> Result<Answer, Unusable> {
    // Rows of their own, in which nothing is sampled.
    let blank = [C::default()];
    let without = Observation { rows: 1, sender: &blank, receiver: &blank, ..whole };
    let mut estimate = estimate_traffic(&without, None, &[])?;
    let unknown = Uncertainty::Unknown(Reason::SharedRows);
    estimate.mean = published_mean(&whole).map(|mean| Mean::unbounded(mean, unknown));
    estimate.deviation = Err(Reason::SharedRows);
    let rows = Rows { vouched: true, ..pair.rows(whole.sender, whole.receiver) };
    // Rows prove that packets came in, and not how many: each is in several.
    let gained = gained.max(u64::from(rows.surplus + rows.foreign > 0));
    estimate.balance = estimate.balance.with_gained(gained);
    if let Some(sums) = sums {
        estimate = estimate.with_sums(&sums);
    }
    estimate.balance = estimate.balance.without_rows(None);
    if let Ok(mean) = estimate.mean {
        (estimate.paper_second_moment, estimate.paper_deviation) =
            published_deviation(&Observation { rows: whole.sender.len(), ..whole }, mean.nanoseconds);
    }
    Ok(Answer { estimate, rows, further: vec![] })
}

/// The evaluation of cells of flows: of all packets together, what sums say.
fn of_flows(pair: &Pair) -> Result<Answer, Unusable> {
    let [sender, receiver]: [Vec<Cell>; 2] = [pair.sender.cells(), pair.receiver.cells()];
    let all = pair.sender.prefixes.is_none_or(|prefixes| prefixes.lengths() == [0]);
    for (end, cells, totals) in
        [(Role::Sender, &sender, &pair.sender.totals), (Role::Receiver, &receiver, &pair.receiver.totals)]
    {
        let rows = cells.chunks((pair.sender.shape.table_cells as usize).max(1));
        let counts = rows.map(|row| row.iter().map(|cell| u64::from(cell.count)).sum::<u64>());
        if let Some(cells) =
            counts.into_iter().find(|cells| *cells > totals.packets || all && *cells != totals.packets)
        {
            return Err(ObservationError::Total { end, cells, total: totals.packets }.into());
        }
    }
    // Rows of their own, in which nothing is sampled.
    let blank = [Cell::default()];
    let without = Observation { rows: 1, ..observation(pair, &blank, &blank) };
    let mut estimate = estimate_traffic(&without, None, &[])?;
    (estimate.mean, estimate.deviation) = (Err(Reason::OfFlows), Err(Reason::OfFlows));
    let rows = Rows { vouched: pair.sender.shape.has_digests, ..pair.rows(&sender, &receiver) };
    // Rows prove that packets came in, and not how many: each is in all of them.
    let gained = u64::from(rows.surplus + rows.foreign > 0);
    estimate.balance = estimate.balance.with_gained(gained);
    if let Some(sums) = sums(pair) {
        estimate = estimate.with_sums(&sums);
    }
    estimate.balance = estimate.balance.without_rows(None);
    Ok(Answer { estimate, rows, further: vec![] })
}

/// The evaluation of FineComb's rows, without the packets that only the receiver has seen, as far as it remembers them.
fn finecomb(pair: &Pair, caches: Option<[&PacketCache; 2]>) -> Result<Answer, Unusable> {
    let mut answer = rows::<RowCell>(pair, true)?;
    let cells = [pair.sender.cells::<RowCell>(), pair.receiver.cells::<RowCell>()];
    let known = caches.zip(sums(pair)).zip(pair.sender.prefixes);
    let Some(((caches, sums), prefixes)) = known else { return Ok(answer) };
    let Some(packets) = caches[1].packets() else { return Ok(answer) };
    let id = PacketId::default();
    let bank = pair.sender.shape.table_cells as usize;
    let stash: Vec<(usize, u64)> =
        packets.filter_map(|(hash, place)| Some((finecomb::cell(&prefixes, bank, place)?, hash))).collect();
    let stashed: Vec<Stashed> = stash.iter().map(|(row, hash)| (*row, id.halves_of(*hash))).collect();
    let (found, complete) = by_rows(&cells[0], &cells[1], &stashed);
    let foreign: Vec<(usize, Stashed)> =
        found.into_iter().filter_map(|at| Some((at, *stashed.get(at)?))).collect();
    let difference = Difference {
        only_received: foreign.iter().map(|(_, (_, halves))| *halves).collect(),
        complete,
        is_sampled: prefixes.lengths() != [0],
        of_rows: true,
        ..Difference::default()
    };
    let rows_of: BTreeMap<u64, usize> =
        foreign.iter().filter_map(|(at, (row, _))| Some((stash.get(*at)?.1, *row))).collect();
    let places = |hash: u64, _| rows_of.get(&hash).copied().into_iter().collect();
    let usual = usual_delay(delays(caches[0], caches[1]).as_deref(), &answer.estimate);
    let digest = digest::first(Kind::FINECOMB, 0);
    let repaired = repair([&cells[0], &cells[1]], sums, places, &difference, caches, (usual, digest));
    let mut difference = difference;
    if let Some(Repaired { cells: [sender, receiver], sums, open, chosen, .. }) =
        repaired.filter(|each| each.taken > 0)
    {
        let (sent, received) = (sums.sender.packets, sums.receiver.packets);
        let whole = Observation { sent, received, ..observation(pair, &sender, &receiver) };
        // A row that lost packets may hide what it gained.
        let gained = if difference.complete { 0 } else { answer.estimate.balance.surplus_least };
        let common = of_rows(pair, whole, true, Some(sums), gained)?;
        answer.estimate = answer.estimate.with_common(&common.estimate).with_open(open.map(|sum| sum as f64));
        if answer.estimate.method == Method::Sums {
            difference.chosen = chosen;
        }
        // Those rows need no longer make anybody doubt the others.
        answer.rows.foreign = common.rows.foreign;
        answer.rows.surplus = common.rows.surplus;
        answer.rows.equal = common.rows.equal;
    }
    answer.further.push(Further::Difference(difference));
    Ok(answer)
}

/// The evaluation of banks of rows, of which digests vouch for single packets or do not.
fn rows<R: Row + WireCell>(pair: &Pair, has_digests: bool) -> Result<Answer, Unusable> {
    let (sender, receiver) = (pair.sender.cells::<R>(), pair.receiver.cells::<R>());
    of_rows(pair, observation(pair, &sender, &receiver), has_digests, sums(pair), 0)
}

/// The estimate from rows and sums. At least so many packets were `gained`, whatever the rows show: then sums bound nothing.
fn of_rows<R: Row>(
    pair: &Pair,
    observation: Observation<R>,
    has_digests: bool,
    sums: Option<Sums>,
    gained: u64,
) -> Result<Answer, Unusable> {
    let singles = has_digests.then(|| Further::Singles(Singles::of(&observation)));
    let rows = Rows { vouched: has_digests, ..pair.rows(observation.sender, observation.receiver) };
    let prefixes = pair.sender.prefixes;
    let shares: Vec<f64> = prefixes
        .iter()
        .flat_map(|prefixes| (0..prefixes.banks()).map(|bank| prefixes.probability(bank)))
        .collect();
    let mut estimate = estimate_traffic(&observation, sums.and_then(|sums| sums.near()), &shares)?;
    estimate.balance = estimate.balance.with_gained(gained);
    let estimate = sums.map_or(estimate, |sums| estimate.with_sums(&sums));
    Ok(Answer { estimate, rows, further: singles.into_iter().collect() })
}

/// The sums over all packets, if both ends report them.
pub(crate) fn sums(pair: &Pair) -> Option<Sums> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collector::Collector;
    use deltaline_model::configuration::{Configuration, Settings};
    use deltaline_model::point::{IntervalEnd, MeasurementPoint};

    #[test]
    fn packets_that_cross_an_edge_are_named() {
        let synopsis = Kind::IDENTITY_TABLE;
        let settings = Settings { synopsis, rows: 64, prefixes: &[0], ..Settings::default() };
        let configuration = Configuration::new(settings).unwrap();
        let mut collector = Collector::default();
        // Packets 98 and 99 are late, 100 is early, 50 is lost.
        let received: [Vec<u32>; 2] = [
            (0..98).filter(|number| *number != 50).chain([100]).collect(),
            (98..100).chain(101..200).collect(),
        ];
        let ends = [(Role::Sender, [(0..100).collect(), (100..200).collect()]), (Role::Receiver, received)];
        for (role, intervals) in ends {
            let mut point = MeasurementPoint::new(&configuration, role);
            for (index, packets) in intervals.into_iter().enumerate() {
                for number in packets {
                    let mut packet = [0; 46];
                    packet[12..18].copy_from_slice(&[0x08, 0x00, 0x45, 0, 0, 32]);
                    packet[42..].copy_from_slice(&number.to_be_bytes());
                    let time = 10_000_000 * (index as u64 + 1) + 10_000 * u64::from(number);
                    point.observe(&packet, Timestamp::from_nanoseconds(time));
                }
                point.end_interval(IntervalEnd::Delimiter, |frame| collector.push(frame));
            }
        }
        let mut evaluations: Vec<Evaluation> = Evaluation::all(&collector.finish()).collect();
        name_crossings(&mut evaluations);
        let crossed: Vec<(u64, u64, usize)> = evaluations
            .iter()
            .flat_map(|each| &each.further)
            .filter_map(|further| match further {
                Further::Difference(found) => Some((found.late, found.early, found.only_sent.len())),
                Further::Singles(_) => None,
            })
            .collect();
        assert_eq!(crossed, [(0, 1, 3), (2, 0, 1)]);
    }
}
