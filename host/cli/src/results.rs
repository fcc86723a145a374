//! Results: estimates of collected intervals, and the figures that are printed of them.

use crate::exit::Exit;
use deltaline_capture::matching;
use deltaline_collect::collector::Collected;
use deltaline_collect::pair::{CLOCKS_TOO_FAR, Interval, Rows, SUM_NEAR_WRAP};
use deltaline_collect::verdict::{Doubt, Void};
use deltaline_estimate::{
    Confidence, Estimate, Loss, Mean, Observation, ObservationError, OffsetBounds, Overall, Quantile, Reason,
    Singles, Stratified, combine, estimate, offset_bounds, quantile,
};
use deltaline_model::time::Timestamp;
use deltaline_model::wire::frame::Totals;
use serde::Serialize;
use thiserror::Error;

/// Why an interval has no estimate.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub(crate) enum Unusable {
    /// Its control frames do not make a pair.
    #[error(transparent)]
    Void(#[from] Void),
    /// Cells and totals contradict each other.
    #[error("{0}: the interval is void; this is no measurement point of this release")]
    Contradictory(#[from] ObservationError),
}

/// What is known of an interval.
#[derive(Clone, Debug)]
pub(crate) struct Evaluation {
    pub(crate) segment: u32,
    pub(crate) number: u32,
    pub(crate) sender: Option<Totals>,
    pub(crate) receiver: Option<Totals>,
    pub(crate) result: Result<(Estimate, Rows), Unusable>,
    /// Exact delays of single packets, which digests vouch for.
    pub(crate) singles: Option<Singles>,
    pub(crate) doubts: Vec<Doubt>,
}

/// Estimates all intervals.
pub(crate) fn evaluate(collected: &Collected) -> impl Iterator<Item = Evaluation> {
    collected.intervals.iter().map(evaluate_interval)
}

/// Estimates an interval.
pub(crate) fn evaluate_interval(interval: &Interval) -> Evaluation {
    let (result, singles) = match evaluate_pair(interval) {
        Ok((estimate, rows, singles)) => (Ok((estimate, rows)), singles),
        Err(unusable) => (Err(unusable), None),
    };
    Evaluation {
        segment: interval.segment,
        number: interval.number,
        sender: interval.sender.as_ref().map(|report| report.totals),
        receiver: interval.receiver.as_ref().map(|report| report.totals),
        result,
        singles,
        doubts: interval.doubts.clone(),
    }
}

fn evaluate_pair(interval: &Interval) -> Result<(Estimate, Rows, Option<Singles>), Unusable> {
    let pair = interval.pair()?;
    let observation = Observation {
        rows: pair.sender.rows,
        sender: &pair.sender.cells,
        receiver: &pair.receiver.cells,
        sent: pair.sender.totals.packets,
        received: pair.receiver.totals.packets,
    };
    let singles = pair.sender.digests.then(|| Singles::of(&observation));
    Ok((estimate(&observation)?, pair.rows(), singles))
}

/// The figures of one or several intervals; what is not identifiable is none.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Figures {
    pub(crate) sent: Option<u64>,
    pub(crate) received: Option<u64>,
    pub(crate) lost: Option<u64>,
    pub(crate) effective_samples: Option<u64>,
    pub(crate) mean_ns: Option<f64>,
    pub(crate) mean_ci95_ns: Option<[f64; 2]>,
    pub(crate) std_ns: Option<f64>,
    pub(crate) std_paper_ns: Option<f64>,
    /// With digests only.
    #[serde(flatten)]
    pub(crate) quantiles: Option<QuantileFigures>,
    /// Why something is none, or is not that of all packets.
    pub(crate) reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) truth: Option<TruthFigures>,
}

/// Quantiles of delay.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct QuantileFigures {
    /// Packets whose delay is known exactly.
    pub(crate) exact_delays: usize,
    pub(crate) p50_ns: Option<f64>,
    pub(crate) p50_ci95_ns: Option<[f64; 2]>,
    pub(crate) p90_ns: Option<f64>,
    pub(crate) p90_ci95_ns: Option<[f64; 2]>,
    pub(crate) p99_ns: Option<f64>,
    pub(crate) p99_ci95_ns: Option<[f64; 2]>,
}

impl QuantileFigures {
    /// Those of one or several intervals, if any of them has digests.
    fn of(singles: &[&Singles], reasons: &mut Reasons) -> Option<Self> {
        if singles.is_empty() {
            return None;
        }
        let mut of = |member, probability| {
            let found = reasons.keep_part(member, quantile(singles, probability, Confidence::P95));
            let range = |quantile: Quantile| [quantile.range.lower, quantile.range.upper];
            (found.map(|quantile| quantile.nanoseconds), found.map(range))
        };
        let [p50, p90, p99] = [of("p50_ns", 0.5), of("p90_ns", 0.9), of("p99_ns", 0.99)];
        Some(QuantileFigures {
            exact_delays: singles.iter().map(|each| each.delays().len()).sum(),
            p50_ns: p50.0,
            p50_ci95_ns: p50.1,
            p90_ns: p90.0,
            p90_ci95_ns: p90.1,
            p99_ns: p99.0,
            p99_ci95_ns: p99.1,
        })
    }
}

/// An interval's figures.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct IntervalFigures {
    pub(crate) segment: u32,
    pub(crate) interval: u32,
    /// When the sender saw the first packet, in nanoseconds since the first packet of all.
    pub(crate) start_ns: Option<i64>,
    /// When the sender saw the last packet, in nanoseconds since the first packet of all.
    pub(crate) end_ns: Option<i64>,
    /// Rows with as many packets at either end (the same ones, with digests), empty ones left out.
    pub(crate) usable_rows: Option<usize>,
    #[serde(flatten)]
    pub(crate) figures: Figures,
}

/// Exact figures.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct TruthFigures {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) lost: u64,
    pub(crate) mean_ns: Option<f64>,
    pub(crate) std_ns: Option<f64>,
    pub(crate) min_ns: Option<i64>,
    pub(crate) max_ns: Option<i64>,
}

impl From<matching::Truth> for TruthFigures {
    fn from(truth: matching::Truth) -> Self {
        let matching::Truth { sent, received, lost, delay } = truth;
        TruthFigures {
            sent,
            received,
            lost,
            mean_ns: delay.map(|delay| delay.mean_ns),
            std_ns: delay.map(|delay| delay.std_ns),
            min_ns: delay.map(|delay| delay.min_ns),
            max_ns: delay.map(|delay| delay.max_ns),
        }
    }
}

/// Reasons, each with the members that it concerns.
#[derive(Default)]
struct Reasons(Vec<(Vec<&'static str>, String)>);

impl Reasons {
    /// The value, unless there is a reason why not.
    fn keep<T>(&mut self, member: &'static str, value: Result<T, impl ToString>) -> Option<T> {
        value.map_err(|reason| self.add(member, reason.to_string())).ok()
    }

    /// The value, with a remark if it is not that of all intervals.
    fn keep_part<T>(&mut self, member: &'static str, value: Result<Stratified<T>, Reason>) -> Option<T> {
        let Stratified { value, missing } = self.keep(member, value)?;
        if missing > 0 {
            self.add(member, format!("{missing} intervals with packets have no value and are left out"));
        }
        Some(value)
    }

    fn add(&mut self, member: &'static str, reason: String) {
        match self.0.iter_mut().find(|(_, known)| *known == reason) {
            Some((members, _)) => members.push(member),
            None => self.0.push((vec![member], reason)),
        }
    }

    fn into_text(self) -> Option<String> {
        let texts: Vec<String> =
            self.0.into_iter().map(|(members, reason)| format!("{}: {reason}", members.join(", "))).collect();
        (!texts.is_empty()).then(|| texts.join("; "))
    }
}

/// Why delays that can be computed mean nothing all the same.
fn distrust<'a>(mut rows: impl Iterator<Item = &'a Rows> + Clone) -> Option<&'static str> {
    if rows.clone().any(Rows::are_unrelated) {
        return Some(UNRELATED);
    }
    if rows.clone().any(|rows| rows.apart >= CLOCKS_TOO_FAR) {
        return Some(TOO_FAR);
    }
    rows.any(|rows| rows.largest_sum >= SUM_NEAR_WRAP).then_some(SUMS_WRAP)
}

/// What first and last packets say that are too far apart.
const TOO_FAR: &str = "the two ends' clocks, or their recordings, are more than 2^39 ns (550 s) apart, and delays are known \
                       modulo 2^40 ns; bring the two clocks nearer to each other";

/// What a row says whose sum of delays may have wrapped.
const SUMS_WRAP: &str = "a row's sum of delays comes near 2^39 ns (550 s), where sums wrap; bring the two clocks nearer \
                         to each other, or use shorter intervals, more rows or longer prefixes";

/// What the two ends' rows say when they have nothing to do with each other.
pub(crate) const UNRELATED: &str = "the two ends have not seen the same packets: as many rows hold more packets at \
                                    the receiver as hold fewer, which loss cannot do; \
                                    check that the two captures are of the same traffic and time";

impl Figures {
    fn of_void(reason: &Unusable) -> Self {
        Figures { reason: Some(reason.to_string()), ..Figures::default() }
    }

    fn of_interval(estimate: &Estimate, singles: Option<&Singles>, distrust: Option<&str>) -> Self {
        let singles = singles.as_slice();
        Figures::of(&together(std::slice::from_ref(estimate)), singles, distrust, Reasons::default())
    }

    fn of(overall: &Overall, singles: &[&Singles], distrust: Option<&str>, mut reasons: Reasons) -> Self {
        let mut figures = Figures {
            sent: Some(overall.sent),
            received: Some(overall.received),
            lost: reasons.keep("lost", lost(overall)),
            effective_samples: Some(overall.effective_samples),
            ..Figures::default()
        };
        if let Some(distrust) = distrust {
            figures.effective_samples = None;
            reasons.add("mean_ns", distrust.into());
        } else {
            let mean: Option<Mean> = reasons.keep_part("mean_ns", overall.mean);
            figures.mean_ns = mean.map(|mean| mean.nanoseconds);
            figures.mean_ci95_ns = mean
                .and_then(|mean| reasons.keep("mean_ci95_ns", mean.range(Confidence::P95)))
                .map(|range| [range.lower, range.upper]);
            figures.std_ns = reasons.keep_part("std_ns", overall.deviation);
            figures.std_paper_ns = reasons.keep_part("std_paper_ns", overall.paper_deviation);
            figures.quantiles = QuantileFigures::of(singles, &mut reasons);
        }
        figures.reason = reasons.into_text();
        figures
    }
}

/// Intervals together; one alone keeps the reasons of its own.
fn together(estimates: &[Estimate]) -> Overall {
    let overall = combine(estimates);
    let [only] = estimates else { return overall };
    let whole = |value| Stratified { value, missing: 0 };
    Overall {
        mean: only.mean.map(|value| Stratified { value, missing: 0 }),
        deviation: only.deviation.map(whole),
        paper_deviation: only.paper_deviation.map(whole),
        ..overall
    }
}

fn lost(overall: &Overall) -> Result<u64, String> {
    match overall.loss() {
        Loss::Lost(lost) => Ok(lost),
        Loss::Surplus(surplus) => Err(format!(
            "{surplus} more packets were received than sent; possible causes: the two ends are swapped, \
             the recordings did not start and end together, packets were duplicated"
        )),
    }
}

/// All intervals of a segment and what they are together.
pub(crate) struct Results {
    pub(crate) overall: Figures,
    pub(crate) intervals: Vec<IntervalFigures>,
    pub(crate) exit: Exit,
    /// What to say of it, the reason of `exit` first.
    pub(crate) messages: Vec<String>,
}

/// Puts a segment's intervals together.
pub(crate) fn summarize(evaluations: &[Evaluation]) -> Results {
    let usable = || evaluations.iter().filter_map(|each| each.result.as_ref().ok());
    let estimates: Vec<Estimate> = usable().map(|(estimate, _)| *estimate).collect();
    let overall = together(&estimates);
    let distrusted = distrust(usable().map(|(_, rows)| rows));

    let mut reasons = Reasons::default();
    let void = evaluations.len() - estimates.len();
    if void > 0 {
        reasons.add("sent", format!("{void} of {} intervals are void and left out", evaluations.len()));
    }
    let figures = match evaluations.iter().find_map(|each| each.result.as_ref().err()) {
        Some(unusable) if estimates.is_empty() => Figures::of_void(unusable),
        _ => Figures::of(&overall, &singles(evaluations), distrusted, reasons),
    };
    let base = evaluations.iter().find_map(Evaluation::first);
    let intervals = evaluations.iter().map(|each| IntervalFigures::new(each, base));
    let (exit, messages) = judge(&overall, distrusted, void, evaluations);
    Results { intervals: intervals.collect(), overall: figures, exit, messages }
}

impl Evaluation {
    /// When the sender saw the first packet.
    pub(crate) fn first(&self) -> Option<Timestamp> {
        self.sender.and_then(seen).map(|(first, _)| first)
    }

    /// How the program ends if nothing graver happens.
    pub(crate) fn exit(&self) -> Exit {
        match &self.result {
            Ok(_) => Exit::Done,
            Err(Unusable::Void(Void::ConfigurationMismatch { .. })) => Exit::Configuration,
            Err(Unusable::Void(Void::TimedCut { .. })) => Exit::Refused,
            Err(_) => Exit::Void,
        }
    }
}

impl IntervalFigures {
    /// An interval's figures, `base` being the time of the first packet of all.
    pub(crate) fn new(evaluation: &Evaluation, base: Option<Timestamp>) -> Self {
        let times = evaluation.sender.and_then(seen).zip(base);
        IntervalFigures {
            segment: evaluation.segment,
            interval: evaluation.number,
            start_ns: times.map(|((first, _), base)| first.nanoseconds_since(base)),
            end_ns: times.map(|((_, last), base)| last.nanoseconds_since(base)),
            usable_rows: evaluation.result.as_ref().ok().map(|(estimate, _)| estimate.usable_rows),
            figures: match &evaluation.result {
                Ok((estimate, rows)) => {
                    let singles = evaluation.singles.as_ref();
                    Figures::of_interval(estimate, singles, distrust(std::iter::once(rows)))
                }
                Err(unusable) => Figures::of_void(unusable),
            },
        }
    }
}

/// Bounds of the offset of two points' clocks from the intervals of both directions, or why there are none.
pub(crate) fn bound_offset(forward: &[Evaluation], backward: &[Evaluation]) -> Result<OffsetBounds, String> {
    offset_bounds(&exact_delays(forward)?, &exact_delays(backward)?).map_err(|reason| reason.to_string())
}

/// The exact delays of a segment's intervals, or why there are none.
fn exact_delays(evaluations: &[Evaluation]) -> Result<Vec<&Singles>, String> {
    let rows: Vec<&Rows> =
        evaluations.iter().filter_map(|each| each.result.as_ref().ok()).map(|(_, rows)| rows).collect();
    let (singles, segment) = (singles(evaluations), evaluations.first().map_or(0, |each| each.segment));
    let why_not = if rows.is_empty() {
        "all its intervals are void"
    } else if let Some(distrust) = distrust(rows.into_iter()) {
        distrust
    } else if singles.is_empty() {
        "no delay is exact without digests; measure with `digest = true` in the design, or `measure --digest`"
    } else {
        return Ok(singles);
    };
    Err(format!("not identifiable: segment {segment}: {why_not}"))
}

/// The exact delays of all intervals that have digests.
fn singles(evaluations: &[Evaluation]) -> Vec<&Singles> {
    evaluations.iter().filter_map(|each| each.singles.as_ref()).collect()
}

/// First and last time, if there was any packet.
fn seen(totals: Totals) -> Option<(Timestamp, Timestamp)> {
    (totals.packets > 0).then_some((totals.first, totals.last))
}

/// What is to be said of a segment's result.
fn judge(
    overall: &Overall,
    distrust: Option<&'static str>,
    void: usize,
    all: &[Evaluation],
) -> (Exit, Vec<String>) {
    let mut messages = vec![];
    let mean = overall.mean.ok().map(|mean| mean.value);
    let is_negative = distrust.is_none() && mean.is_some_and(|mean| mean.clock_suspect());
    let surplus = match overall.loss() {
        Loss::Surplus(surplus) => surplus,
        Loss::Lost(_) => 0,
    };
    let mut exit = Exit::Done;
    if let Some(distrust) = distrust {
        exit = if distrust == UNRELATED { Exit::Ends } else { Exit::NotIdentifiable };
        messages.push(format!("the delay is not identifiable: {distrust}"));
    } else if surplus > 0 && is_negative {
        exit = Exit::Ends;
        messages.push(format!(
            "{} packets were received where {} were sent, and the mean delay is negative: \
             the two ends seem to be swapped; give the sender's capture first",
            overall.received, overall.sent
        ));
    } else if mean.is_none() && all.len() > void {
        exit = Exit::NotIdentifiable;
        let reason = overall.mean.err().unwrap_or(Reason::NoInterval);
        messages.push(format!("the delay is {reason}"));
    }
    if exit != Exit::Ends {
        if overall.received > 0 && 2 * overall.received < overall.sent {
            messages.push(format!(
                "of {} packets sent only {} were received; unless the path is that bad, \
                 check that both recordings cover the same time",
                overall.sent, overall.received
            ));
        }
        if surplus > 0 {
            messages.extend(lost(overall).err());
        }
        if let Some(mean) = mean.filter(|_| is_negative) {
            let upper = mean.range(Confidence::P95).map_or(mean.nanoseconds, |range| range.upper);
            let least = crate::report::duration(-upper);
            messages.push(format!(
                "the mean delay is negative: the receiver's clock is behind the sender's by at least {least}, \
                 or the two ends are swapped; losses and the standard deviation are right all the same"
            ));
        }
    }
    (exit, messages)
}

/// What is to be said of intervals, once for neighbours of which the same is to be said.
pub(crate) fn interval_warnings(evaluations: &[Evaluation]) -> Vec<String> {
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

/// The gravest of all that went wrong: with intervals, with single frames, with what was made of them.
pub(crate) fn gravest(
    evaluations: &[Evaluation],
    is_corrupted: bool,
    results: impl IntoIterator<Item = Exit>,
) -> Exit {
    let intervals = evaluations.iter().map(Evaluation::exit);
    graver(intervals.chain(is_corrupted.then_some(Exit::Void)).chain(results))
}

/// The gravest of several.
pub(crate) fn graver(exits: impl IntoIterator<Item = Exit>) -> Exit {
    let found: Vec<Exit> = exits.into_iter().collect();
    [Exit::Output, Exit::Configuration, Exit::Void, Exit::Refused, Exit::Ends, Exit::NotIdentifiable]
        .into_iter()
        .find(|exit| found.contains(exit))
        .unwrap_or_default()
}
