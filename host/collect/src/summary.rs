//! A segment's intervals in numbers, and what is to be said of them.
//!
//! # Test plan
//!
//! What a point says of its clock stays beside what single packets show of it, and where they show nothing; what control frames show of clocks is a
//! doubt, and takes the delays away where they cannot be right. The rest by the collector's tests and the program's (`host/cli/tests`).

use crate::evaluation::{Evaluation, Unusable, distrust, singles};
use crate::text::{duration, utc};
use crate::truth::{Exact, Stamps};
use crate::verdict::Doubt;
use deltaline_capture::edges::Edges;
use deltaline_estimate::quantity::{self, Definition, Quantity, Remark};
use deltaline_estimate::{
    ALTERED, Block, ClockDoubt, Confidence, Estimate, Further, Loss, Method, Overall, Reason, Stratified,
    clock_doubts, combine, look_for_repeats, wild_stamps,
};
use deltaline_model::time::Timestamp;
use std::fmt;
use thiserror::Error;

/// The numbers of one or several intervals.
#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// Why there are none.
    pub void: Option<Unusable>,
    /// The numbers: what every table gives, and behind it what each synopsis adds.
    pub answers: Vec<Vec<Quantity>>,
    /// Where the mean comes from, if there is one.
    pub method: Option<Method>,
    /// The truth, where it is known.
    pub exact: Option<Vec<Quantity>>,
    /// Why delays may be off although everything fits together, if there is reason to think so.
    pub clock_doubt: Option<String>,
}

impl Figures {
    /// Where nothing can be evaluated for this reason. The totals of a synopsis that is not known are right all the same.
    fn of_void(reason: &Unusable, evaluations: &[Evaluation]) -> Self {
        let unknown = evaluations.iter().filter(|each| matches!(each.result, Err(Unusable::Kind(_))));
        let totals = unknown.filter_map(|each| Some((each.sender?.packets, each.receiver?.packets)));
        let answers = match totals.reduce(|sum, each| (sum.0 + each.0, sum.1 + each.1)) {
            Some((sent, received)) => quantity::of_totals(sent, received, Reason::Void),
            None => quantity::of_nothing(Reason::Void),
        };
        Figures { void: Some(reason.clone()), answers: vec![answers], ..Figures::default() }
    }

    fn of<'a>(
        overall: &Overall,
        further: impl Iterator<Item = &'a Further> + Clone,
        distrust: Option<Reason>,
    ) -> Self {
        let mut delays = quantity::of_delays(overall, distrust);
        if let Some((lost, gained)) = Further::known(further.clone()) {
            match distrust {
                Some(Reason::Unrelated) => quantity::refuse_losses(&mut delays, Reason::Unrelated),
                _ => quantity::put_known(&mut delays, overall.sent, lost, gained),
            }
        }
        let chosen = Further::chosen(further.clone());
        if chosen > 0 {
            quantity::remark_on(&mut delays, &quantity::MEAN, Remark::Chosen(chosen));
        }
        let across = Further::across(further.clone());
        if across > 0 {
            quantity::remark_on(&mut delays, &quantity::MEAN, Remark::Across(across));
            quantity::leave_losses_open(&mut delays, Reason::Across(across), Remark::Across(across));
        }
        let all = Further::deviation(further.clone(), overall.received).filter(|_| distrust.is_none());
        if let Some(deviation) = all.filter(|_| overall.mean.is_ok() && overall.representative.is_ok()) {
            quantity::put_deviation(&mut delays, deviation);
        } else {
            let singles = further.clone().filter_map(Further::singles);
            let [sampled, of] = singles.fold([0, 0], |[sampled, of], each| {
                [sampled + each.delays().len() as u64, of + each.received()]
            });
            // Rows hold more packets, or as many as there are.
            if sampled < of && overall.deviation.is_ok_and(|deviation| deviation.rows as u64 == sampled) {
                quantity::remark_on_sample(&mut delays, sampled, of);
            }
        }
        let copies = if across > 0 { 0 } else { Further::copies(further.clone()) };
        let lost = Further::known(further.clone()).map(|(lost, _)| lost);
        if copies > 0 && lost.is_some_and(|lost| may_change(lost as f64, copies)) {
            let remark = Remark::Copies { packets: copies, of: overall.sent };
            quantity::remark_above(&mut delays, &quantity::LOST, remark);
        }
        let alike = Further::alike(further.clone());
        if alike > overall.sent / FEW_ALIKE {
            for what in [&quantity::LOST, &quantity::SURPLUS, &quantity::MEAN, &quantity::BRACKET] {
                quantity::remark_on(&mut delays, what, Remark::Alike(alike));
            }
        }
        let mut answers = vec![delays];
        answers.extend(Further::together(further, distrust.or(overall.representative.err())));
        let method = overall.mean.is_ok() && distrust.is_none();
        let mut figures = Figures { answers, method: method.then_some(overall.method), ..Figures::default() };
        figures.refuse_alike();
        figures
    }

    /// The same numbers, with the truth beside them.
    pub fn beside(self, exact: &Exact) -> Self {
        Figures { exact: Some(exact.quantities(Stamps::default())), ..self }
    }

    /// Marks losses and gains of which frames that an end does not measure may be a tenth or more ([`Remark::Unmeasured`]).
    fn look_for_unmeasured(&mut self, evaluations: &[Evaluation]) {
        let ends = evaluations
            .iter()
            .filter(|each| each.result.is_ok())
            .filter_map(|each| each.sender.zip(each.receiver));
        let more: i64 = ends
            .map(|(sender, receiver)| i64::from(receiver.unmeasured) - i64::from(sender.unmeasured))
            .sum();
        let what = if more > 0 { &quantity::LOST } else { &quantity::SURPLUS };
        let count =
            self.find(what.name).and_then(|count| count.value.ok()).map_or(0.0, |count| count.to_f64());
        let frames = more.unsigned_abs();
        if count > 0.0 && 10.0 * frames as f64 >= count {
            for answer in &mut self.answers {
                quantity::remark_above(answer, what, Remark::Unmeasured(frames));
            }
        }
    }

    /// Remarks on numbers of intervals that the next one does not confirm.
    fn look_for_unconfirmed(&mut self, evaluations: &[Evaluation]) {
        let is_open = |each: &&Evaluation| each.result.is_ok() && each.doubts.contains(&Doubt::Unconfirmed);
        let intervals = evaluations.iter().filter(is_open).count();
        if intervals > 0 {
            for answer in &mut self.answers {
                for what in [&quantity::LOST, &quantity::SURPLUS, &quantity::MEAN] {
                    quantity::remark_above(answer, what, Remark::Unconfirmed(intervals));
                }
            }
        }
    }

    /// Has no mean where packets look alike and sums do not make it exact: what is left are its bounds, and their middle is no mean.
    fn refuse_alike(&mut self) {
        let is_wide = |[low, high]: [f64; 2]| high > low;
        let range = self.find(quantity::MEAN.name).and_then(|mean| mean.range?.ok());
        if self.are_alike() && range.is_some_and(is_wide) {
            self.answers.iter_mut().for_each(|answer| quantity::refuse_mean(answer, Reason::Alike));
            self.method = None;
        }
    }

    /// Whether the deviation is refused because packets look alike.
    pub fn are_alike(&self) -> bool {
        self.find(quantity::DEVIATION.name).is_some_and(|deviation| deviation.value == Err(Reason::Alike))
    }

    /// Says this of a quantity that has a value and no remark yet.
    pub fn remark_on(&mut self, what: &Definition, remark: Remark) {
        self.answers.iter_mut().for_each(|answer| quantity::remark_on(answer, what, remark));
    }

    /// Marks a mean that hangs on so many packets at the edges that look alike.
    fn doubt_means(&mut self, packets: u64) {
        if packets > 0 {
            self.remark_on(&quantity::MEAN, Remark::AtEdges(packets));
        }
    }

    /// Adds a reason to think that delays may be off.
    pub fn doubt_clock(&mut self, reason: &str) {
        let text = self.clock_doubt.get_or_insert_default();
        if !text.contains(reason) {
            *text = if text.is_empty() { reason.into() } else { format!("{text}; {reason}") };
        }
    }

    fn refuse_delays(&mut self, reason: Reason) {
        for answer in &mut self.answers {
            quantity::refuse_delays(answer, reason);
        }
        self.method = None;
    }

    /// Marks numbers that packets would change which rows lack: of single packets, the delays in nanoseconds of those that came `once`, and of those
    /// that came more than once or look like others.
    pub fn look_for_absent(&mut self, once: &[i64], repeated: &[i64]) {
        let all = [once, repeated].concat();
        for answer in &mut self.answers {
            look_for_repeats(answer, once, repeated);
            quantity::look_for_unsampled(answer, &all);
        }
    }

    /// All numbers.
    pub fn quantities(&self) -> impl Iterator<Item = &Quantity> {
        self.answers.iter().flatten()
    }

    /// A number by its name.
    pub fn find(&self, name: &str) -> Option<&Quantity> {
        self.quantities().find(|quantity| quantity.what.name == name)
    }

    /// The true counterpart of a number, where it is known.
    pub fn exact(&self, quantity: &Quantity) -> Option<&Quantity> {
        let name = quantity.what.exact?;
        self.exact.as_ref()?.iter().find(|exact| exact.what.name == name)
    }

    /// Why numbers have no value, or not that of all packets; each reason once, with the numbers it concerns.
    pub fn reason(&self) -> Option<String> {
        let texts: Vec<String> = self
            .reasons()
            .into_iter()
            .map(
                |(keys, reason)| {
                    if keys.is_empty() { reason } else { format!("{}: {reason}", keys.join(", ")) }
                },
            )
            .collect();
        (!texts.is_empty()).then(|| texts.join("; "))
    }

    /// The parts of [`Figures::reason`]: keys of numbers, and the reason; no keys where it is that of all.
    pub fn reasons(&self) -> Vec<(Vec<String>, String)> {
        if let Some(void) = &self.void {
            return vec![(vec![], void.to_string())];
        }
        let mut groups: Vec<(Vec<String>, String)> = vec![];
        let mut add =
            |key: String, reason: String| match groups.iter_mut().find(|(_, known)| *known == reason) {
                Some((keys, _)) => keys.push(key),
                None => groups.push((vec![key], reason)),
            };
        // What is shown to nobody need not be explained.
        for quantity in self.quantities().filter(|quantity| quantity.what.heading.is_some()) {
            match (&quantity.value, &quantity.remark) {
                (Err(reason), _) => add(quantity.what.key(), reason.to_string()),
                (Ok(_), Some(remark)) => add(quantity.what.key(), remark.to_string()),
                (Ok(_), None) => {}
            }
            if let (Ok(_), Some(Err(reason))) = (quantity.value, quantity.range) {
                add(quantity.what.range_key(), reason.to_string());
            }
        }
        groups
    }
}

/// What is in data beside the quantities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// A number.
    Number(i64),
    /// Whether something is so.
    Truth(bool),
    /// A text.
    Text(String),
}

/// Fields of intervals, or of numbers: each key in data, and its value, if there is one.
pub type Fields<T> = [(&'static str, fn(&T) -> Option<Field>)];

/// What is in data of an interval alone, in front of its numbers.
pub const OF_INTERVALS: &Fields<IntervalFigures> = &[
    ("segment", |each| Some(Field::Number(each.segment.into()))),
    ("interval", |each| Some(Field::Number(each.number.into()))),
    ("start_ns", |each| each.span.map(|(start, _)| Field::Number(start))),
    ("end_ns", |each| each.span.map(|(_, end)| Field::Number(end))),
    ("start_time", |each| each.times.map(|[start, _]| Field::Text(utc(start)))),
    ("end_time", |each| each.times.map(|[_, end]| Field::Text(utc(end)))),
    ("reported_time", |each| each.reported.map(|time| Field::Text(utc(time)))),
    ("authenticated", |each| Some(Field::Truth(each.authenticated))),
    ("usable_rows", |each| each.usable_rows.map(|rows| Field::Number(rows as i64))),
];

/// What is in data behind the numbers of one or several intervals, and is to be said of them.
pub const OF_NUMBERS: &Fields<Figures> = &[
    ("method", |figures| figures.method.map(|method| Field::Text(method.name().into()))),
    ("clock_doubt", |figures| figures.clock_doubt.clone().map(Field::Text)),
    ("reason", |figures| figures.reason().map(Field::Text)),
];

/// An interval in numbers.
#[derive(Clone, Debug)]
pub struct IntervalFigures {
    /// Number of the measurement segment.
    pub segment: u32,
    /// Number of the interval.
    pub number: u32,
    /// When the sender saw the first packet and the last, in nanoseconds since the first packet of all.
    pub span: Option<(i64, i64)>,
    /// The same in nanoseconds since the Unix epoch, where clocks are known to be those of the recording.
    pub times: Option<[u64; 2]>,
    /// When its last control frame was captured or, live, came, in nanoseconds since the Unix epoch.
    pub reported: Option<u64>,
    /// Whether all its control frames had right tags; never so where none were sent.
    pub authenticated: bool,
    /// Rows with as many packets at either end (the same ones, with digests), empty ones left out.
    pub usable_rows: Option<usize>,
    /// Its numbers.
    pub figures: Figures,
}

impl IntervalFigures {
    /// An interval's numbers, `start` being the sender's first packet of it, in nanoseconds since its first one of all.
    pub fn new(evaluation: &Evaluation, start: Option<i64>) -> Self {
        let end = |first: Timestamp, last: Timestamp, start: i64| {
            start.saturating_add(last.nanoseconds_since(first))
        };
        let span =
            evaluation.span().zip(start).map(|((first, last), start)| (start, end(first, last, start)));
        IntervalFigures {
            segment: evaluation.segment,
            number: evaluation.number,
            span,
            times: None,
            reported: None,
            authenticated: evaluation.authenticated,
            usable_rows: evaluation.result.as_ref().ok().map(|(estimate, _)| estimate.usable_rows),
            figures: match &evaluation.result {
                Ok((estimate, rows)) => {
                    let overall = together(estimate);
                    let distrust = distrust(std::iter::once(rows));
                    let mut findings = Finding::of(&overall, distrust, 1);
                    findings.extend(wild(std::slice::from_ref(evaluation), distrust));
                    let mut figures = Figures::of(&overall, evaluation.further.iter(), distrust);
                    findings.extend(coarse(&figures, std::slice::from_ref(evaluation)));
                    figures.clock_doubt = clock_doubt(std::slice::from_ref(evaluation), &findings);
                    figures.look_for_unmeasured(std::slice::from_ref(evaluation));
                    figures.look_for_unconfirmed(std::slice::from_ref(evaluation));
                    if has_wrong_stamps(evaluation) {
                        figures.refuse_delays(Reason::WildStamps);
                    }
                    figures
                }
                Err(unusable) => Figures::of_void(unusable, std::slice::from_ref(evaluation)),
            },
        }
    }
}

/// When intervals of a segment begin, in their order. Packets' times are known modulo 2^48 ns: those of intervals that follow each other are less than half
/// of that apart, or as far as it is between the moments when they were reported.
#[derive(Clone, Copy, Debug, Default)]
pub struct Starts {
    before: Option<Start>,
}

#[derive(Clone, Copy, Debug)]
struct Start {
    first: Timestamp,
    since: i64,
    reported: Option<u64>,
}

impl Starts {
    /// The sender's first packet of the next interval, if it has any, in nanoseconds since its first one of all. It was `reported` in nanoseconds since the Unix
    /// epoch, if that is known.
    pub fn next(&mut self, evaluation: &Evaluation, reported: Option<u64>) -> Option<i64> {
        const WRAP: i128 = 1 << 48;
        let (first, _) = evaluation.span()?;
        let since = self.before.map_or(0, |before| {
            let step = i128::from(first.nanoseconds_since(before.first));
            let expected =
                reported.zip(before.reported).map_or(0, |(here, there)| i128::from(here) - i128::from(there));
            let turns = (expected - step + WRAP / 2).div_euclid(WRAP);
            let since = i128::from(before.since) + step + turns * WRAP;
            since.clamp(i64::MIN.into(), i64::MAX.into()) as i64
        });
        self.before = Some(Start { first, since, reported });
        Some(since)
    }
}

/// All intervals of a segment and what they are together.
#[derive(Clone, Debug)]
pub struct Summary {
    /// All intervals together.
    pub overall: Figures,
    /// The intervals.
    pub intervals: Vec<IntervalFigures>,
    /// What is to be said of all together, the gravest first.
    pub findings: Vec<Finding>,
}

impl Summary {
    /// Puts a segment's intervals together.
    pub fn of(evaluations: &[Evaluation]) -> Self {
        let usable = || evaluations.iter().filter_map(|each| each.result.as_ref().ok());
        let estimates: Vec<Estimate> = usable().map(|(estimate, _)| *estimate).collect();
        let overall = combine(&estimates);
        let distrusted = distrust(usable().map(|(_, rows)| rows));
        let (void, of) = (evaluations.len() - estimates.len(), evaluations.len());
        let mut figures = match evaluations.iter().find_map(|each| each.result.as_ref().err()) {
            Some(unusable) if estimates.is_empty() => Figures::of_void(unusable, evaluations),
            _ => Figures::of(&overall, evaluations.iter().flat_map(|each| &each.further), distrusted),
        };
        if let Some(sent) = figures.answers.iter_mut().flatten().next().filter(|_| void > 0) {
            sent.remark = Some(Remark::Void { void, of });
        }
        let mut order = Starts::default();
        let starts: Vec<Option<i64>> = evaluations.iter().map(|each| order.next(each, None)).collect();
        let intervals =
            evaluations.iter().zip(&starts).map(|(each, start)| IntervalFigures::new(each, *start));
        let mut findings = Finding::of(&overall, distrusted, estimates.len());
        if distrusted.is_none() {
            findings.extend(clock_doubts(&blocks(evaluations, &starts)).into_iter().map(Finding::Clock));
        }
        findings.extend(wild(evaluations, distrusted));
        findings.extend(altered(evaluations, distrusted));
        findings.extend(coarse(&figures, evaluations));
        figures.clock_doubt = clock_doubt(evaluations, &findings);
        figures.look_for_unmeasured(evaluations);
        figures.look_for_unconfirmed(evaluations);
        let mut summary = Summary { overall: figures, intervals: intervals.collect(), findings };
        summary.refuse_wrong_stamps(evaluations.iter().map(has_wrong_stamps));
        summary
    }

    /// Sets the moments at which the sender saw each interval's first packet and last, in nanoseconds since the Unix epoch.
    pub fn set_times(&mut self, times: impl IntoIterator<Item = Option<[u64; 2]>>) {
        let mut base = None;
        for (interval, times) in self.intervals.iter_mut().zip(times) {
            let Some([first, last]) = times else { continue };
            let base = *base.get_or_insert(first);
            interval.times = times;
            interval.span =
                Some((first.wrapping_sub(base).cast_signed(), last.wrapping_sub(base).cast_signed()));
        }
    }

    /// Takes mean and deviation out of the intervals in which packets have wrong stamps, and out of all together where any has: of each interval,
    /// whether it has.
    pub fn refuse_wrong_stamps(&mut self, has_wrong: impl IntoIterator<Item = bool>) {
        let wrong = self.intervals.iter_mut().zip(has_wrong).filter(|(_, has_wrong)| *has_wrong);
        let refused = wrong.map(|(interval, _)| interval.figures.refuse_delays(Reason::WildStamps)).count();
        if refused > 0 {
            self.overall.refuse_delays(Reason::WildStamps);
        }
    }

    /// Marks numbers that hang on where recordings begin and end together: those of lost packets that more than one in a hundred may be missing in, or
    /// be in for nothing ([`Remark::UnderWay`]), and means where packets that look alike lie there ([`Remark::AtEdges`]).
    pub fn doubt_edges(&mut self, edges: &Edges) {
        let last = self.intervals.len().saturating_sub(1);
        // Times may go back, and intervals have none.
        let mut latest = 0;
        let ended = self.intervals.iter().map(|interval| {
            latest = interval.times.map_or(latest, |[_, end]| end.max(latest));
            latest
        });
        let ended: Vec<u64> = ended.collect();
        let mut doubtful = vec![0; self.intervals.len()];
        for time in &edges.doubtful {
            let place = ended.partition_point(|end| end < time).min(last);
            doubtful.get_mut(place).into_iter().for_each(|packets| *packets += 1);
        }
        let intervals = self.intervals.iter_mut().map(|interval| &mut interval.figures).zip(doubtful);
        for (figures, packets) in intervals.chain([(&mut self.overall, edges.doubtful.len() as u64)]) {
            let lost = figures.find(quantity::LOST.name).and_then(|lost| lost.value.ok());
            if lost.is_some_and(|lost| may_change(lost.to_f64(), packets)) {
                figures.remark_on(&quantity::LOST, Remark::UnderWay(packets));
            }
        }
        let [in_front, behind] = edges.guessed.map(|guessed| guessed.packets);
        let [first, .., end] = &mut self.intervals[..] else {
            let all = self.intervals.iter_mut().map(|only| &mut only.figures).chain([&mut self.overall]);
            all.for_each(|figures| figures.doubt_means(in_front + behind));
            return;
        };
        first.figures.doubt_means(in_front);
        end.figures.doubt_means(behind);
        self.overall.doubt_means(in_front + behind);
    }

    /// Refuses losses and delays of intervals that have so many packets that look like others, and lie in another interval at the other end, and marks
    /// those of all together.
    pub fn refuse_crossing(&mut self, crossing: &[u64]) {
        for (interval, packets) in
            self.intervals.iter_mut().zip(crossing).filter(|(_, packets)| **packets > 0)
        {
            let reason = Reason::Crossing(*packets);
            interval.figures.method = None;
            for answer in &mut interval.figures.answers {
                quantity::refuse_times(answer, reason);
                quantity::refuse_losses(answer, reason);
            }
        }
        // Where intervals are cut among packets that look alike, their bounds are those of other packets, and no clock is judged by them.
        if self.intervals.len() > 1 {
            let figures = self.intervals.iter_mut().map(|interval| &mut interval.figures);
            for figures in figures.filter(|figures| figures.are_alike()) {
                figures.answers.iter_mut().for_each(|answer| quantity::refuse_times(answer, Reason::Alike));
                figures.clock_doubt = None;
            }
        }
        // Each is counted in two intervals.
        let all = crossing.iter().sum::<u64>() / 2;
        if all > 0 {
            self.overall.remark_on(&quantity::MEAN, Remark::Crossing(all));
            // Whatever rows of those intervals prove or let expect, it is of packets of others.
            for answer in &mut self.overall.answers {
                quantity::leave_losses_open(answer, Reason::Crossing(all), Remark::Crossing(all));
            }
        }
    }

    /// Marks all numbers of lost packets, and all means, as it is not known where recordings begin and end together ([`Remark::NoEdges`]).
    pub fn doubt_without_edges(&mut self) {
        let intervals = self.intervals.iter_mut().map(|interval| &mut interval.figures);
        let all = intervals.chain([&mut self.overall]);
        for figures in all {
            for what in [&quantity::LOST, &quantity::MEAN, &quantity::BRACKET] {
                figures.remark_on(what, Remark::NoEdges);
            }
        }
    }

    /// Marks losses and bounds of the mean of intervals in which more packets of the receiver are none of the sender's than are shown: of each interval,
    /// how many are.
    pub fn doubt_foreign(&mut self, foreign: &[u64]) {
        let intervals = self.intervals.iter_mut().map(|interval| &mut interval.figures);
        let all = intervals.zip(foreign.iter().copied()).chain([(&mut self.overall, foreign.iter().sum())]);
        for (figures, packets) in all {
            let surplus = figures.find(quantity::SURPLUS.name);
            let shown = surplus.and_then(|surplus| surplus.value.ok()).map_or(0.0, |shown| shown.to_f64());
            // Where losses are estimated, what is certain goes by those that rows prove.
            let proven = match surplus.and_then(|surplus| surplus.remark) {
                Some(Remark::Estimated { surplus, .. }) => surplus as f64,
                _ => shown,
            };
            let spoilt = [(&quantity::LOST, shown), (&quantity::BRACKET, proven)];
            for (what, _) in spoilt.into_iter().filter(|(_, known)| packets as f64 > *known) {
                figures.remark_on(what, Remark::Foreign(packets));
            }
        }
    }

    /// Marks the number of lost packets where so many `of` packets that were looked at are copies of others of which the receiver has fewer ([`Remark::Copies`]),
    /// so that they count as lost.
    pub fn doubt_copies(&mut self, packets: u64, of: u64) {
        let intervals = self.intervals.iter_mut().map(|interval| &mut interval.figures);
        for answer in intervals.chain([&mut self.overall]).flat_map(|figures| &mut figures.answers) {
            quantity::remark_above(answer, &quantity::LOST, Remark::Copies { packets, of });
        }
    }

    /// Marks numbers of lost and of gained packets that may be of a time when the other recorder did not run ([`Remark::Uncut`]).
    pub fn doubt_uncut(&mut self) {
        let intervals = self.intervals.iter_mut().map(|interval| &mut interval.figures);
        for figures in intervals.chain([&mut self.overall]) {
            for what in [&quantity::LOST, &quantity::SURPLUS] {
                let count = figures.find(what.name).and_then(|count| count.value.ok());
                if count.is_some_and(|count| count.to_f64() > 0.0) {
                    figures.remark_on(what, Remark::Uncut);
                }
            }
        }
    }

    /// Puts what single packets show of the clocks in the place of what intervals' delays show; `evaluations` are those that
    /// this is the summary of, whose points may have said that a clock was not locked.
    pub fn doubt_clocks(&mut self, evaluations: &[Evaluation], doubts: impl IntoIterator<Item = ClockDoubt>) {
        if matches!(self.findings[..], [Finding::Distrusted(Reason::Unrelated), ..]) {
            return;
        }
        self.findings.retain(|finding| !matches!(finding, Finding::Clock(_)));
        self.findings.extend(doubts.into_iter().map(Finding::Clock));
        self.overall.clock_doubt = clock_doubt(evaluations, &self.findings);
    }
}

/// One packet in how many may look like others before numbers say so.
const FEW_ALIKE: u64 = 100;

/// Whether so many packets, of which it is not known whether they were lost, make up more than one in a hundred of those that were.
pub fn may_change(lost: f64, packets: u64) -> bool {
    packets as f64 > lost / 100.0
}

/// The delays of the usable intervals, in order of time.
fn blocks(evaluations: &[Evaluation], starts: &[Option<i64>]) -> Vec<Block> {
    let block = |(each, start): (&Evaluation, &Option<i64>)| {
        let (estimate, _) = each.result.as_ref().ok()?;
        let singles = each.further.iter().find_map(Further::singles);
        Block::of_interval((*start)?, estimate, singles)
    };
    evaluations.iter().zip(starts).filter_map(block).collect()
}

/// Single packets whose delays are far from all others, among those that are known exactly.
fn wild(evaluations: &[Evaluation], distrust: Option<Reason>) -> Option<Finding> {
    let singles = singles(evaluations);
    let delays = singles.iter().flat_map(|each| each.delays()).copied();
    wild_stamps(delays).filter(|_| distrust.is_none()).map(Finding::Clock)
}

/// The unit of most recordings' times, in nanoseconds.
const ORDINARY_UNIT: f64 = 1000.0;
/// The part of the mean delay from which on the times' unit is spoken of.
const NOTABLE: f64 = 0.01;

impl Finding {
    /// Whether a clock is wrong, not only coarse.
    pub fn is_of_clocks(&self) -> bool {
        matches!(self, Finding::Clock(_) | Finding::ClockBehind(_))
    }

    /// Times that are multiples of `unit` nanoseconds, if it is more than that of ordinary recordings; or so much that what it leaves open is more than half the
    /// `width` of the interval of a `mean`, both in nanoseconds, and notable against the mean.
    pub fn of_unit(unit: u64, mean: f64, width: f64) -> Option<Self> {
        let open = unit as f64;
        // Of coarse units it must not hang on chance in mean and width whether they are spoken of.
        let is_coarse = open > ORDINARY_UNIT;
        (is_coarse || open > width / 2.0 && open > NOTABLE * mean.abs()).then_some(Finding::Coarse(unit))
    }
}

/// Times of either end that are coarse for a mean, unless points have said so.
fn coarse(figures: &Figures, evaluations: &[Evaluation]) -> Option<Finding> {
    let is_said = |doubt: &Doubt| matches!(doubt, Doubt::Coarse { .. });
    if evaluations.iter().flat_map(|each| &each.doubts).any(is_said) {
        return None;
    }
    let estimates = evaluations.iter().filter_map(|each| each.result.as_ref().ok());
    let unit =
        estimates.map(|(estimate, _)| estimate.rounding.sender.max(estimate.rounding.receiver)).max()?;
    let mean = figures.find(quantity::MEAN.name)?;
    let [low, high] = mean.range?.ok()?;
    Finding::of_unit(unit, mean.value.ok()?.to_f64(), high - low)
}

/// Packets that look lost and foreign because they are not what was sent any more, if they are that many.
fn altered(evaluations: &[Evaluation], distrust: Option<Reason>) -> Option<Finding> {
    let further = || evaluations.iter().flat_map(|each| &each.further);
    let (lost, _) = Further::known(further()).filter(|_| distrust != Some(Reason::Unrelated))?;
    let foreign = further().filter_map(|further| match further {
        Further::Difference(difference) => Some(difference.foreign()),
        Further::Singles(_) => None,
    });
    let (foreign, sent) = (foreign.sum::<u64>(), evaluations.iter().filter_map(|each| each.sender));
    let sent: u64 = sent.map(|totals| totals.packets).sum();
    (lost.min(foreign) > sent / ALTERED_ONE_IN).then_some(Finding::Altered { lost, foreign })
}

/// One packet in how many may be missing at the receiver, and as many be foreign there, before it is spoken of: traffic of others passes many receivers.
const ALTERED_ONE_IN: u64 = 20;

/// Whether an interval's sums hold times that cannot be right.
fn has_wrong_stamps(evaluation: &Evaluation) -> bool {
    evaluation.result.is_ok() && evaluation.doubts.iter().any(Doubt::spoils_delays)
}

/// Why delays may be off although everything fits together.
fn clock_doubt(evaluations: &[Evaluation], findings: &[Finding]) -> Option<String> {
    let doubts = evaluations.iter().flat_map(|each| &each.doubts).filter(|doubt| doubt.is_of_clocks());
    let found = findings
        .iter()
        .filter(|each| each.is_of_clocks() || matches!(each, Finding::Coarse(_) | Finding::Swapped { .. }));
    let mut texts: Vec<String> = vec![];
    let contradicts = evaluations.iter().any(contradicts).then(|| CONTRADICTS.to_string());
    for text in doubts.map(ToString::to_string).chain(found.map(ToString::to_string)).chain(contradicts) {
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    (!texts.is_empty()).then(|| texts.join("; "))
}

/// What is to be said of a mean over all packets that rows contradict.
const CONTRADICTS: &str = "rows, or single packets, show another mean than the sums over all packets, which the mean is of: a few packets that are in none of \
                           these have wrong stamps, or were held up alone";

/// Whether rows show another mean than that of the sums over all packets, or single packets none as small or as great.
fn contradicts(evaluation: &Evaluation) -> bool {
    let Ok((estimate, _)) = &evaluation.result else { return false };
    let Some(mean) = estimate.mean.ok().filter(|_| estimate.method == Method::Sums) else { return false };
    let singles = evaluation.further.iter().find_map(Further::singles).map(|singles| singles.delays());
    let singles = singles.filter(|delays| delays.len() >= MANY).unwrap_or_default();
    let ends = singles.iter().min().zip(singles.iter().max());
    // Times are rounded.
    let is_beyond = |(least, most): (&i64, &i64)| {
        mean.nanoseconds + 1.0 < *least as f64 || mean.nanoseconds - 1.0 > *most as f64
    };
    estimate.representative == Err(Reason::Unsampled) || ends.is_some_and(is_beyond)
}

/// So many delays of single packets enclose the mean of all.
const MANY: usize = 100;

/// Intervals of which nothing has come, by the numbers of those around them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Missing {
    /// How many.
    pub intervals: u64,
    /// The first of them.
    pub first: u32,
}

impl Missing {
    /// Those between two numbers that follow each other; none if numbers have started over.
    pub fn between(before: u32, behind: u32) -> Option<Self> {
        let step = behind.wrapping_sub(before);
        (step > 1 && step < 1 << 31)
            .then(|| Missing { intervals: u64::from(step) - 1, first: before.wrapping_add(1) })
    }

    /// These and later ones.
    pub fn and(self, later: Missing) -> Self {
        Missing { intervals: self.intervals.saturating_add(later.intervals), ..self }
    }

    /// Those between numbers in their order.
    pub fn among(numbers: impl IntoIterator<Item = u32>) -> Option<Self> {
        let mut before = None;
        let gaps = numbers.into_iter().filter_map(|number| Missing::between(before.replace(number)?, number));
        gaps.reduce(Missing::and)
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self.intervals {
            1 => write!(f, "nothing of interval {} arrived", self.first),
            intervals => {
                write!(f, "nothing of {intervals} intervals arrived, of which {} is the first", self.first)
            }
        }
    }
}

/// An interval alone, which keeps the reasons of its own.
fn together(only: &Estimate) -> Overall {
    let whole = |value| Stratified { value, missing: 0 };
    Overall { paper_deviation: only.paper_deviation.map(whole), ..combine(std::slice::from_ref(only)) }
}

/// Something to be said of a segment's intervals together.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
pub enum Finding {
    /// Delays can be computed and mean nothing.
    #[error("the delay is not identifiable: {0}")]
    Distrusted(Reason),
    /// The ends seem to be swapped.
    #[error(
        "{received} packets were received where {sent} were sent, and the mean delay is negative: the two ends seem to be \
         swapped; give the sender's capture first"
    )]
    Swapped {
        /// Packets sent.
        sent: u64,
        /// Packets received.
        received: u64,
    },
    /// No delay can be computed.
    #[error("the delay is {0}")]
    NoDelay(Reason),
    /// Less than half of the packets arrived.
    #[error(
        "of {sent} packets sent only {received} were received; unless the path is that bad, check that both recordings \
         cover the same time"
    )]
    FewReceived {
        /// Packets sent.
        sent: u64,
        /// Packets received.
        received: u64,
    },
    /// More packets arrived than were sent.
    #[error("{}", Reason::Surplus(*.0))]
    Surplus(u64),
    /// The mean delay is negative.
    #[error(
        "the mean delay is negative: the receiver's clock is behind the sender's by at least {}, or the two ends are \
         swapped; losses and the standard deviation are right if the offset was constant",
        duration(*.0)
    )]
    ClockBehind(
        /// By how many nanoseconds at least.
        f64,
    ),
    /// Many packets are missing at the receiver, and many are there that were not sent.
    #[error(
        "{lost} packets are missing at the receiver and {foreign} are there that were not sent: unless these are other traffic, {}; then so many \
         losses are none",
        ALTERED
    )]
    Altered {
        /// Those that are missing.
        lost: u64,
        /// Those that were not sent.
        foreign: u64,
    },
    /// The packets' times are multiples of so many nanoseconds.
    #[error(
        "the packets' times are multiples of {}: a mean may be off by as much, whatever its interval says; deviations are without the rounding; record \
         with finer times, such as tcpdump --time-stamp-precision=nano",
        duration(*.0 as f64)
    )]
    Coarse(u64),
    /// The clocks did not run alike.
    #[error("{0}")]
    Clock(ClockDoubt),
}

impl Finding {
    /// What is to be said of `usable` intervals together.
    fn of(overall: &Overall, distrust: Option<Reason>, usable: usize) -> Vec<Self> {
        let &Overall { sent, received, .. } = overall;
        let mean = overall.mean.ok();
        let negative = mean.filter(|mean| distrust.is_none() && mean.clock_suspect());
        let surplus = match overall.loss() {
            Loss::Surplus(surplus) => Some(surplus),
            Loss::Lost(_) => None,
        };
        let mut findings = vec![];
        match (distrust, overall.mean) {
            (Some(Reason::Unrelated), _) => return vec![Finding::Distrusted(Reason::Unrelated)],
            (Some(reason), _) => findings.push(Finding::Distrusted(reason)),
            _ if surplus.is_some() && negative.is_some() => return vec![Finding::Swapped { sent, received }],
            (None, Err(reason)) if usable > 0 => findings.push(Finding::NoDelay(reason)),
            _ => {}
        }
        if received > 0 && received.saturating_mul(2) < sent {
            findings.push(Finding::FewReceived { sent, received });
        }
        findings.extend(surplus.map(Finding::Surplus));
        findings.extend(negative.map(|mean| {
            let upper = mean.range(Confidence::P95).map_or(mean.nanoseconds, |range| range.upper);
            Finding::ClockBehind(-upper)
        }));
        findings
    }
}

/// What is to be said of single intervals, once for neighbours of which the same is to be said.
pub fn interval_remarks(evaluations: &[Evaluation]) -> Vec<String> {
    let mut groups: Vec<(u32, u32, u32, String)> = vec![];
    for each in evaluations {
        let void = each.result.as_ref().err().map(Unusable::to_string);
        for message in void.into_iter().chain(each.doubts.iter().map(ToString::to_string)) {
            let same = groups.iter_mut().rev().find(|(segment, _, last, text)| {
                (*segment, last.wrapping_add(1)) == (each.segment, each.number) && *text == message
            });
            match same {
                Some((_, _, last, _)) => *last = each.number,
                None => groups.push((each.segment, each.number, each.number, message)),
            }
        }
    }
    groups
        .into_iter()
        .map(|(segment, first, last, message)| match first == last {
            true => format!("segment {segment}, interval {first}: {message}"),
            false => format!("segment {segment}, intervals {first} to {last}: {message}"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::collector::Collector;
    use deltaline_model::configuration::{Configuration, Settings};
    use deltaline_model::point::{IntervalEnd, MeasurementPoint};
    use deltaline_model::wire::frame::Role;

    /// An interval of 100 packets, in which the receiver's clock was not locked.
    fn unlocked() -> Vec<Evaluation> {
        let configuration = Configuration::new(Settings { digest: true, ..Settings::default() }).unwrap();
        let mut collector = Collector::default();
        for (role, delay) in [(Role::Sender, 0), (Role::Receiver, 5000)] {
            let mut point = MeasurementPoint::new(&configuration, role);
            for number in 0..100u32 {
                let mut packet = [0; 46];
                packet[12..18].copy_from_slice(&[0x08, 0x00, 0x45, 0, 0, 32]);
                packet[42..].copy_from_slice(&number.to_be_bytes());
                let time = 10_000 * u64::from(number) + u64::from(number * number % 7) + delay;
                point.observe(&packet, Timestamp::from_nanoseconds(time));
            }
            if role == Role::Receiver {
                point.clock_unlocked();
            }
            point.end_interval(IntervalEnd::Delimiter, |frame| collector.push(frame));
        }
        Evaluation::all(&collector.finish()).collect()
    }

    #[test]
    fn what_control_frames_show_of_clocks_is_a_doubt_and_no_delay_may_come_of_it() {
        let role = Role::Sender;
        let [near, far] = [10_000_000, 3_000_000_000].map(|by| Doubt::TimesApart { role, by });
        let back = Doubt::TimesGoBack { role };
        let coarse = Doubt::Coarse { role, unit: 1_000_000 };
        for (doubt, is_refused) in
            [(Doubt::DatedBack { role }, false), (coarse, false), (near, false), (far, true), (back, true)]
        {
            let mut evaluations = unlocked();
            evaluations[0].doubts = vec![doubt, Doubt::Unconfirmed];
            let Summary { overall, intervals, .. } = Summary::of(&evaluations);
            for figures in [&overall, &intervals[0].figures] {
                assert_eq!(figures.clock_doubt, Some(doubt.to_string()));
                for name in ["mean", "std", "bracket"] {
                    let value = figures.find(name).unwrap().value;
                    assert_eq!(value == Err(Reason::WildStamps), is_refused, "{doubt} {name}");
                }
                assert!(figures.find("lost").unwrap().value.is_ok());
            }
        }
    }

    #[test]
    fn a_clock_without_lock_stays_doubtful_whatever_packets_show() {
        let evaluations = unlocked();
        let jump = ClockDoubt::Jump { count: 1, time: 5, by: 1e6 };
        for doubts in [&[][..], &[jump]] {
            let mut summary = Summary::of(&evaluations);
            summary.doubt_clocks(&evaluations, doubts.iter().copied());
            let doubt = summary.overall.clock_doubt.unwrap_or_default();
            assert!(doubt.contains("the receiver's clock was not locked"), "{doubt}");
            assert_eq!(doubt.contains("jump once"), !doubts.is_empty(), "{doubt}");
        }
    }
}
