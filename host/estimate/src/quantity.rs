//! Quantities: the numbers that come of intervals, as one type that tables, JSON, metrics and plots go through.
//!
//! A renderer knows no number by name: what a number is called where, in which unit it is, and what it is worth is said
//! by its [`Definition`]. A new number is one more definition and one more [`Quantity`] in an answer; it edits no renderer.
//!
//! # Test plan
//!
//! Keys; an interval's quantities against its estimate; a value of some intervals only is remarked on; what the ends' rows
//! forbid has no value and that reason. The program's tests render a made-up quantity (`host/cli` `show`).

use crate::sizing::{LEAST_ROWS, LEAST_SAMPLES};
use crate::{Balance, Basis, Confidence, Overall, Range, Reason, Singles, Stratified, Uncertainty, quantile};
use std::fmt;

/// What a number counts or measures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Packets: intervals add up.
    Packets,
    /// Nanoseconds.
    Nanoseconds,
}

/// A number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Number {
    /// A count, exact.
    Count(u64),
    /// A whole number.
    Whole(i64),
    /// Any other one.
    Real(f64),
    /// Whether something is so: 1 or 0.
    Truth(bool),
}

impl Number {
    /// The nearest floating-point number.
    pub fn to_f64(self) -> f64 {
        match self {
            Number::Count(count) => count as f64,
            Number::Whole(number) => number as f64,
            Number::Real(number) => number,
            Number::Truth(is_so) => f64::from(u8::from(is_so)),
        }
    }
}

/// A metric's name, without prefix and unit, and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// Such as `delay_mean`.
    pub name: &'static str,
    /// One sentence.
    pub help: &'static str,
}

/// What a number is, and what it is called where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Its name in data, without unit.
    pub name: &'static str,
    /// Its heading in tables; none where it is in data only.
    pub heading: Option<&'static str>,
    /// Its unit.
    pub unit: Unit,
    /// Whether it is a pair of bounds, which are its range, and no number of its own.
    pub is_bounds: bool,
    /// Whether it is shown where there is room for few.
    pub is_brief: bool,
    /// The name of its exact counterpart, where the truth is known too.
    pub exact: Option<&'static str>,
    /// Its metric: a counter of packets, the last interval's nanoseconds in seconds.
    pub metric: Option<Metric>,
    /// The metric of its share of the samples, a ratio.
    pub share: Option<Metric>,
}

impl Definition {
    /// A number that is in data and tables.
    pub const fn new(name: &'static str, heading: &'static str, unit: Unit) -> Self {
        let heading = Some(heading);
        Definition {
            name,
            heading,
            unit,
            is_bounds: false,
            is_brief: false,
            exact: None,
            metric: None,
            share: None,
        }
    }

    /// Its key in JSON: name and unit.
    pub fn key(&self) -> String {
        format!("{}{}", self.name, self.suffix())
    }

    /// The key of its 95 % confidence interval in JSON; of bounds, their own.
    pub fn range_key(&self) -> String {
        if self.is_bounds {
            return self.key();
        }
        format!("{}_ci95{}", self.name, self.suffix())
    }

    fn suffix(&self) -> &'static str {
        match self.unit {
            Unit::Packets => "",
            Unit::Nanoseconds => "_ns",
        }
    }
}

/// A number of one or several intervals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantity {
    /// What it is.
    pub what: &'static Definition,
    /// Its value, or why there is none; of bounds, the lower one.
    pub value: Result<Number, Reason>,
    /// Its 95 % confidence interval in its unit, of a number that has one by its kind, or its bounds; not known without a
    /// value.
    pub range: Option<Result<[f64; 2], Reason>>,
    /// Packets that it is made of or a part of.
    pub samples: Option<u64>,
    /// What to know of the value.
    pub remark: Option<Remark>,
}

/// What to know of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remark {
    /// Intervals with packets have none.
    Missing(usize),
    /// Intervals are void.
    Void {
        /// How many.
        void: usize,
        /// Of how many.
        of: usize,
    },
    /// Few packets of a heavy tail make up most of the spread.
    HeavyTail,
    /// All packets in rows took the same time.
    Constant,
    /// It is the number of a sample.
    Sample {
        /// Of so many packets.
        packets: u64,
        /// Of how many.
        of: u64,
    },
    /// What rows show lies outside of what is certain.
    Outside,
    /// Single packets beside the rows have delays far beyond those in rows.
    Unsampled {
        /// So many of them.
        packets: u64,
        /// Of how many that were looked at.
        of: u64,
    },
    /// Packets that came more than once, or look like others, took other times than the rest, which the number is of.
    Repeated {
        /// So many of them.
        packets: u64,
        /// Of how many that were looked at.
        of: u64,
    },
    /// Rows, or the packets in them, are so few that they do not show the delays' tail.
    FewSamples,
    /// Which of several packets that look alike both ends have seen is not known.
    Chosen(
        /// Of how many packets.
        u64,
    ),
    /// Which of the packets that look alike on both sides of an interval's edge are the interval's is not known.
    Across(
        /// Of how many packets.
        u64,
    ),
    /// Of packets that look alike, a loss may be hidden by another one that came twice.
    Alike(
        /// How many look like others.
        u64,
    ),
    /// Packets that look alike lie in another interval at the other end.
    Crossing(
        /// How many.
        u64,
    ),
    /// It is a guess which of packets that look alike both recorders could have.
    AtEdges(
        /// Of how many packets.
        u64,
    ),
    /// Too few packets are known to be the same to find where recordings begin and end together.
    NoEdges,
    /// One end's times are coarser than the other's.
    Uneven {
        /// What that adds on average is taken out.
        is_taken_out: bool,
    },
    /// Packets overtook others, and bounds come from slices.
    Overtaken(
        /// How many arrived behind one that was sent later.
        u64,
    ),
    /// Packets at the edges of recordings were lost, or else under way when a recorder began or stopped.
    UnderWay(
        /// How many.
        u64,
    ),
    /// Copies of packets that the sender's recorder alone has count as lost.
    Copies {
        /// So many of them.
        packets: u64,
        /// Of how many that were looked at.
        of: u64,
    },
    /// Packets of the receiver that are none of the sender's, which rows do not show.
    Foreign(
        /// How many.
        u64,
    ),
    /// Frames that an end does not measure may be packets that the other end has measured.
    Unmeasured(
        /// How many more it has of them.
        u64,
    ),
    /// Nothing of the next interval says whether an end took a delimiter that it should not have.
    Unconfirmed(
        /// Of how many intervals.
        usize,
    ),
    /// Recordings are compared from their first packets to their last, whenever these were.
    Uncut,
    /// A number of packets is estimated from rows.
    Estimated {
        /// At least so many packets were lost.
        lost: u64,
        /// At least so many were gained.
        surplus: u64,
    },
}

impl fmt::Display for Remark {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Remark::Missing(missing) => {
                write!(f, "{missing} intervals with packets have no value and are left out")
            }
            Remark::Void { void, of } => write!(f, "{void} of {of} intervals are void and left out"),
            Remark::HeavyTail => f.write_str(
                "few late packets make up most of the spread: the 95 % interval may hold in some points less",
            ),
            Remark::Sample { packets, of } => write!(
                f,
                "that of a sample of {packets} of {of} packets: where a few others took much longer, the number and its 95 % interval are too small"
            ),
            Remark::Unsampled { packets, of } => write!(
                f,
                "{packets} of {of} packets that were looked at have delays far beyond those of the rows, enough to move the mean out of its 95 % \
                 interval: rows that hold fewer of them than their share show too little or too much"
            ),
            Remark::Repeated { packets, of } => write!(
                f,
                "{packets} of {of} packets that were looked at came more than once or look like others, and took other times than the rest: \
                 this is rather the number of the rest, and that of all differs by more than a quarter of the 95 % interval"
            ),
            Remark::Constant => f.write_str(
                "all packets in rows took the same time: those outside of rows may have taken any other, and how many did no row shows",
            ),
            Remark::Outside => f.write_str(
                "rows show a mean outside of what is certain, and it was moved into it: if rows lack some of the tail, the 95 % interval holds less often",
            ),
            Remark::FewSamples => write!(
                f,
                "fewer than {LEAST_ROWS} usable rows or {LEAST_SAMPLES} packets in them do not show how heavy the delays' tail is: with a heavy \
                 one the 95 % interval holds less often"
            ),
            Remark::Chosen(packets) => write!(
                f,
                "{packets} packets that only one end has seen look like others, as repeated ones do; which of them it was is a guess by their \
                 times, and the 95 % interval and the bracket reach over all choices, in an interval and in those beside it"
            ),
            Remark::Across(packets) => write!(
                f,
                "{packets} packets look like others of an interval beside theirs, and clocks cut intervals: which are whose is a guess, a loss among them \
                 may be another interval's, and the mean's 95 % interval and bracket reach over what their delays may be"
            ),
            Remark::Alike(packets) => write!(
                f,
                "{packets} of the sender's packets look like others of them: what was lost of these, while another one that looks the same came twice, is not seen, and \
                 which is which is a guess"
            ),
            Remark::Crossing(packets) => write!(
                f,
                "{packets} packets that look like others lie, by their times, in another interval at the other end: each may count as lost in one and as \
                 gained in the other, and the mean lacks them or others"
            ),
            Remark::AtEdges(packets) => write!(
                f,
                "{packets} packets at the recordings' edges look like others, and which of them both recorders could have is a guess by their times; the \
                 95 % interval and the bracket reach over what their delays may be"
            ),
            Remark::Overtaken(packets) => write!(
                f,
                "{packets} packets arrived behind one that was sent later: bounds that come from slices are certain only where none does; --synopsis \
                 lda has bounds that do not ask for the order"
            ),
            Remark::Uneven { is_taken_out } => write!(
                f,
                "one end's times are whole microseconds, the other's are finer: {}",
                if *is_taken_out {
                    "half a microsecond, by which delays are off on average if the one recorder cuts its times off, is taken out; the 95 % interval and the \
                     bracket reach over all that it may be"
                } else {
                    "delays may be off by as much, over which the 95 % interval and the bracket reach"
                }
            ),
            Remark::NoEdges => f.write_str(
                "too few packets are the only ones of their kind to find where the recordings begin and end together: what one of them alone has may be of \
                 a time when the other recorder did not run",
            ),
            Remark::UnderWay(packets) => write!(
                f,
                "off by up to {packets}: so many packets at the recordings' edges were lost, or else under way when a recorder began or stopped"
            ),
            Remark::Copies { packets, of } => write!(
                f,
                "{packets} of {of} of the sender's packets that were looked at are copies of others of which the receiver has fewer, and count as lost: if \
                 its recorder wrote them twice, as a mirror port gives them, they were not; record at one port or direction"
            ),
            Remark::Foreign(packets) => write!(
                f,
                "{packets} packets of the receiver are none of the sender's, packet by packet, which rows do not show: as many lost ones more may be hidden by them, and what is \
                 certain without such packets is not"
            ),
            Remark::Unconfirmed(intervals) => write!(
                f,
                "of {intervals} intervals no control frame of the next one says whether an end had ignored delimiters: if it took a forged one, or a copy that came early, \
                 packets count as lost that are in the next interval, and the mean is not of the same packets"
            ),
            Remark::Unmeasured(frames) => write!(
                f,
                "one end has {frames} more frames that are not measured than the other, such as packets behind more tags or labels than are looked \
                 behind: those of them that are packets of the other end count as lost, or as gained, and are not; see what the path adds to packets"
            ),
            Remark::Uncut => f.write_str(
                "the recordings are compared from their first packets to their last: what one of them has of a time when the other recorder did not run is \
                 among these; --interval leaves out the intervals that recordings cut",
            ),
            Remark::Estimated { lost, surplus } => write!(
                f,
                "estimated from the rows' spread, because packets were received that were not sent; at least {lost} lost \
                 and {surplus} gained"
            ),
        }
    }
}

impl Quantity {
    /// A number without range.
    pub fn new(what: &'static Definition, value: Result<Number, Reason>) -> Self {
        Quantity { what, value, range: None, samples: None, remark: None }
    }

    /// Bounds.
    fn bounds(what: &'static Definition, range: Result<Range, Reason>) -> Self {
        let value = range.map(|range| Number::Real(range.lower));
        Quantity { range: Some(range.map(|range| [range.lower, range.upper])), ..Quantity::new(what, value) }
    }

    /// A count of packets.
    pub fn count(what: &'static Definition, packets: u64) -> Self {
        Quantity::new(what, Ok(Number::Count(packets)))
    }

    /// A number like this one, but so much less.
    fn less(self, what: &'static Definition, by: f64) -> Self {
        Quantity {
            what,
            value: self.value.map(|value| Number::Real(value.to_f64() - by)),
            range: self.range.map(|range| range.map(|ends| ends.map(|end| end - by))),
            ..self
        }
    }

    /// A number of several intervals, remarked on where it is not that of all.
    fn of<T>(
        what: &'static Definition,
        value: Result<Stratified<T>, Reason>,
        number: impl FnOnce(T) -> f64,
    ) -> Self {
        let missing = value.as_ref().map_or(0, |strata| strata.missing);
        Quantity {
            remark: (missing > 0).then_some(Remark::Missing(missing)),
            ..Quantity::new(what, value.map(|strata| Number::Real(number(strata.value))))
        }
    }
}

/// Packets sent.
pub static SENT: Definition = Definition {
    is_brief: true,
    metric: Some(Metric { name: "sent", help: "Packets that passed the sender in usable intervals" }),
    ..Definition::new("sent", "sent", Unit::Packets)
};
/// Packets received.
pub static RECEIVED: Definition = Definition {
    heading: None,
    metric: Some(Metric { name: "received", help: "Packets that passed the receiver in usable intervals" }),
    ..Definition::new("received", "received", Unit::Packets)
};
/// Packets lost.
pub static LOST: Definition = Definition {
    is_brief: true,
    exact: Some("lost"),
    metric: Some(Metric { name: "lost", help: "Packets lost in usable intervals" }),
    share: Some(Metric { name: "loss", help: "Share of packets lost in the last interval" }),
    ..Definition::new("lost", "lost", Unit::Packets)
};
/// Packets received that were not sent.
pub static SURPLUS: Definition = Definition {
    metric: Some(Metric {
        name: "surplus",
        help: "Packets received that were not sent, in usable intervals: repeated, foreign, or of another interval",
    }),
    ..Definition::new("surplus", "surplus", Unit::Packets)
};
/// Packets sent less packets received.
pub static NET: Definition = Definition { heading: None, ..Definition::new("net", "net", Unit::Packets) };
/// Packets in usable rows.
pub static SAMPLES: Definition = Definition::new("effective_samples", "samples", Unit::Packets);
/// Mean delay.
pub static MEAN: Definition = Definition {
    is_brief: true,
    exact: Some("mean"),
    metric: Some(Metric { name: "delay_mean", help: "Mean delay of the last interval" }),
    ..Definition::new("mean", "mean", Unit::Nanoseconds)
};
/// Bounds of the mean delay that hold for certain.
pub static BRACKET: Definition =
    Definition { is_bounds: true, ..Definition::new("bracket", "bracket", Unit::Nanoseconds) };
/// Standard deviation of delay.
pub static DEVIATION: Definition = Definition {
    is_brief: true,
    exact: Some("std"),
    metric: Some(Metric {
        name: "delay_deviation",
        help: "Standard deviation of delay in the last interval",
    }),
    ..Definition::new("std", "deviation", Unit::Nanoseconds)
};
/// Standard deviation of delay as the LDA paper has it.
pub static PAPER_DEVIATION: Definition =
    Definition { heading: None, ..Definition::new("std_paper", "", Unit::Nanoseconds) };
/// Packets whose delay is known exactly.
pub static EXACT_DELAYS: Definition = Definition::new("exact_delays", "exact delays", Unit::Packets);
/// Median delay.
pub static MEDIAN: Definition = Definition {
    metric: Some(Metric { name: "delay_p50", help: "Median delay of the last interval" }),
    ..Definition::new("p50", "p50", Unit::Nanoseconds)
};
/// The delay that nine tenths of the packets do not exceed.
pub static P90: Definition = Definition {
    metric: Some(Metric { name: "delay_p90", help: "90th percentile of delay in the last interval" }),
    ..Definition::new("p90", "p90", Unit::Nanoseconds)
};
/// The delay that all but a hundredth of the packets do not exceed.
pub static P99: Definition = Definition {
    metric: Some(Metric { name: "delay_p99", help: "99th percentile of delay in the last interval" }),
    ..Definition::new("p99", "p99", Unit::Nanoseconds)
};
/// The delay that all but a thousandth of the packets do not exceed. It takes 3,688 exact delays, which few tables have: in data only.
pub static P999: Definition =
    Definition { heading: None, ..Definition::new("p999", "p99.9", Unit::Nanoseconds) };
/// Delay variation (RFC 3393) against the least delay (RFC 5481, PDV): that of the 99th percentile. A constant
/// offset between the clocks does not change it. The least delay is that of the sample, and so the variation rather too small; it has an interval only
/// where the sample is all packets.
pub static VARIATION: Definition = Definition {
    metric: Some(Metric {
        name: "delay_variation",
        help: "99th percentile of delay less the least delay in the last interval",
    }),
    ..Definition::new("variation", "variation", Unit::Nanoseconds)
};
/// The least delay that is known exactly.
pub static LEAST: Definition = Definition::new("min", "least", Unit::Nanoseconds);
/// The greatest delay that is known exactly.
pub static GREATEST: Definition = Definition::new("max", "greatest", Unit::Nanoseconds);

/// Packets that arrived after a later sent one of their flow (RFC 4737, section 3.3).
pub static REORDERED: Definition = Definition::new("reordered", "reordered", Unit::Packets);
/// Packets that arrived after a later sent one of any flow.
pub static REORDERED_OVERALL: Definition =
    Definition::new("reordered_overall", "reordered overall", Unit::Packets);
/// Packets whose order was compared.
pub static COMPARED: Definition =
    Definition { heading: None, ..Definition::new("compared", "", Unit::Packets) };

/// How many packets overtook each other, of `compared`: within their flow, and in all.
pub fn of_reordering(in_flow: u64, overall: u64, compared: u64) -> [Quantity; 3] {
    [
        Quantity { samples: Some(compared), ..Quantity::count(&REORDERED, in_flow) },
        Quantity::count(&REORDERED_OVERALL, overall),
        Quantity::count(&COMPARED, compared),
    ]
}

/// What a table of counts and timestamp sums gives: losses, mean delay, its deviation. `distrust` is why delays that can
/// be computed mean nothing all the same.
pub fn of_delays(overall: &Overall, distrust: Option<Reason>) -> Vec<Quantity> {
    let trusted = || distrust.map_or(Ok(()), Err);
    let samples = trusted().map(|()| Number::Count(overall.effective_samples));
    let mean = trusted().and(overall.mean);
    let range = mean.and_then(|mean| mean.range(Confidence::P95));
    let deviation = trusted().and(overall.deviation);
    // Delays that are spread less than rests are no rests' sum: packets may be in step with a clock.
    let shift = if deviation.is_ok() { overall.rounding.shift() } else { 0.0 };
    let uneven = overall.rounding.is_uneven().then_some(Remark::Uneven { is_taken_out: deviation.is_ok() });
    let is_sampled = mean.is_ok_and(|mean| mean.uncertainty != Uncertainty::Exact);
    let samples_are_few = (overall.sampled as f64) < LEAST_SAMPLES;
    // Of some intervals too few packets are in rows to show a deviation at all.
    let strained = match deviation {
        Ok(deviation) if deviation.strains_the_mean(overall.sampled) => {
            Some(if deviation.has_few(overall.sampled) { Remark::FewSamples } else { Remark::HeavyTail })
        }
        Err(_) if samples_are_few => Some(Remark::FewSamples),
        _ => None,
    }
    .filter(|_| is_sampled);
    let constant = is_sampled && range.is_ok_and(|range| range.lower == range.upper);
    let has_no_spread = deviation.is_ok_and(|deviation| deviation.nanoseconds == 0.0);
    let outside = mean.is_ok_and(|mean| mean.strains_its_bounds(Confidence::P95));
    let deviation_range = deviation.and_then(|deviation| deviation.range(Confidence::P95));
    let ends = |range: Range| [range.lower, range.upper];
    let mut quantities =
        vec![Quantity::count(&SENT, overall.sent), Quantity::count(&RECEIVED, overall.received)];
    // Rows show of packets of both kinds what chance makes of them: not of other packets, nor of those that share rows.
    let alike = overall.representative.err().filter(|reason| *reason == Reason::Alike);
    let unrelated = distrust.filter(|reason| *reason == Reason::Unrelated).or(alike);
    quantities.extend(of_balance(&overall.balance, overall.sent).map(
        |each| match each.remark.and(unrelated) {
            Some(reason) => Quantity {
                range: each.range.map(|_| Err(reason)),
                remark: None,
                ..Quantity::new(each.what, Err(reason))
            },
            None => each,
        },
    ));
    quantities.extend([
        Quantity::new(&SAMPLES, samples),
        Quantity {
            range: Some(range.map(|range| ends(overall.rounding.around(range)))),
            samples: Some(overall.effective_samples),
            remark: strained
                .or(constant.then_some(Remark::Constant))
                .or(outside.then_some(Remark::Outside))
                .or(uneven),
            ..Quantity::new(&MEAN, mean.map(|mean| Number::Real(mean.within_bounds() + shift)))
        },
        Quantity::bounds(
            &BRACKET,
            trusted().and(overall.bracket).map(|bounds| overall.rounding.around(bounds)),
        ),
        Quantity {
            range: Some(deviation_range.map(ends)),
            remark: (constant || is_sampled && has_no_spread).then_some(Remark::Constant),
            ..Quantity::new(&DEVIATION, deviation.map(|deviation| Number::Real(deviation.nanoseconds)))
        },
        Quantity::of(&PAPER_DEVIATION, trusted().and(overall.paper_deviation), |deviation| deviation),
    ]);
    quantities
}

/// Packets lost and gained, of `sent`.
fn of_balance(balance: &Balance, sent: u64) -> [Quantity; 3] {
    let net = Quantity::new(&NET, Ok(Number::Whole(balance.net)));
    if let Some(reason) = balance.unknown() {
        let unknown = |what| Quantity { range: Some(Err(reason)), ..Quantity::new(what, Err(reason)) };
        return [unknown(&LOST), unknown(&SURPLUS), net];
    }
    // No packet that was not sent was lost.
    let room = sent as f64 - balance.lost() as f64;
    let range = |value: u64, range: Option<[f64; 2]>| match range {
        Some([low, high]) => Some(Ok([low, high.min(value as f64 + room)])),
        None if room <= 0.0 => Some(Ok([value as f64; 2])),
        None => Some(Err(Reason::UnseenGains)),
    };
    let remark = (balance.basis() == Basis::Estimated)
        .then_some(Remark::Estimated { lost: balance.lost_least, surplus: balance.surplus_least });
    [
        Quantity {
            samples: Some(sent),
            range: range(balance.lost(), balance.lost_range(Confidence::P95)),
            remark,
            ..Quantity::count(&LOST, balance.lost())
        },
        Quantity {
            range: range(balance.surplus(), balance.surplus_range(Confidence::P95)),
            remark,
            ..Quantity::count(&SURPLUS, balance.surplus())
        },
        net,
    ]
}

/// Takes mean and deviation, with their ranges and bounds, out of quantities, for this reason.
pub fn refuse_delays(quantities: &mut [Quantity], reason: Reason) {
    refuse(quantities, &[&MEAN, &BRACKET, &DEVIATION, &PAPER_DEVIATION], reason);
}

/// Takes all times, with their ranges and bounds, and the number of exact delays out of quantities, for this reason.
pub fn refuse_times(quantities: &mut [Quantity], reason: Reason) {
    let is_of_times = |what: &Definition| what.unit == Unit::Nanoseconds || std::ptr::eq(what, &EXACT_DELAYS);
    let refused: Vec<&Definition> =
        quantities.iter().map(|each| each.what).filter(|what| is_of_times(what)).collect();
    refuse(quantities, &refused, reason);
}

/// Takes losses and gains out of quantities, for this reason.
pub fn refuse_losses(quantities: &mut [Quantity], reason: Reason) {
    refuse(quantities, &[&LOST, &SURPLUS], reason);
}

/// Says so of a number's value, whatever else there is to know of it.
pub fn remark_above(quantities: &mut [Quantity], what: &Definition, remark: Remark) {
    let these = quantities.iter_mut().filter(|each| std::ptr::eq(each.what, what) && each.value.is_ok());
    these.for_each(|each| each.remark = Some(remark));
}

/// Leaves the intervals of losses and gains open, for this reason, and says so of their numbers.
pub fn leave_losses_open(quantities: &mut [Quantity], reason: Reason, remark: Remark) {
    let is_either =
        |each: &&mut Quantity| [&LOST, &SURPLUS].iter().any(|what| std::ptr::eq(*what, each.what));
    for each in quantities.iter_mut().filter(is_either).filter(|each| each.value.is_ok()) {
        *each = Quantity { range: Some(Err(reason)), remark: Some(remark), ..*each };
    }
}

/// Takes the mean with its range out of quantities, for this reason; its bounds stay.
pub fn refuse_mean(quantities: &mut [Quantity], reason: Reason) {
    refuse(quantities, &[&MEAN], reason);
}

fn refuse(quantities: &mut [Quantity], refused: &[&Definition], reason: Reason) {
    for each in quantities.iter_mut().filter(|each| refused.iter().any(|what| std::ptr::eq(*what, each.what)))
    {
        let range = each.range.map(|_| Err(reason));
        *each = Quantity { range, ..Quantity::new(each.what, Err(reason)) };
    }
}

/// By how many deviations of the rows a delay is far beyond them: of exponential delays, one in 22,000 is.
const FAR: f64 = 10.0;

/// Remarks on mean and deviation, unless there is something to know of them already, if single packets' `delays` in nanoseconds show that the packets far beyond
/// those in rows change the mean by more than a quarter of its interval's width.
pub fn look_for_unsampled(quantities: &mut [Quantity], delays: &[i64]) {
    let find = |what: &Definition| quantities.iter().find(|each| std::ptr::eq(each.what, what));
    let Some((mean, Some(Ok([lower, upper])))) =
        find(&MEAN).and_then(|each| Some((each.value.ok()?, each.range)))
    else {
        return;
    };
    let mean = mean.to_f64();
    // Without one, no rows make the mean's interval.
    let Some(deviation) = find(&DEVIATION).and_then(|each| each.value.ok()) else { return };
    let deviation = deviation.to_f64();
    let is_far = |delay: &&i64| (**delay as f64 - mean).abs() > FAR * deviation.max(1.0);
    let far: Vec<f64> = delays.iter().filter(is_far).map(|delay| *delay as f64 - mean).collect();
    let change = far.iter().sum::<f64>() / delays.len().max(1) as f64;
    let is_exact = lower == upper && find(&MEAN).is_some_and(|each| each.remark != Some(Remark::Constant));
    if is_exact || change.abs() <= (upper - lower) / 4.0 {
        return;
    }
    let remark = Remark::Unsampled { packets: far.len() as u64, of: delays.len() as u64 };
    let is_either =
        |each: &&mut Quantity| [&MEAN, &DEVIATION].into_iter().any(|what| std::ptr::eq(each.what, what));
    for each in quantities.iter_mut().filter(is_either).filter(|each| matches!(each.range, Some(Ok(_)))) {
        each.remark = each.remark.filter(|remark| *remark != Remark::Constant).or(Some(remark));
    }
}

/// Remarks on a quantity, unless there is something to know of it already.
pub fn remark_on(quantities: &mut [Quantity], what: &Definition, remark: Remark) {
    let these = quantities.iter_mut().filter(|each| std::ptr::eq(each.what, what) && each.value.is_ok());
    these.for_each(|each| each.remark = each.remark.or(Some(remark)));
}

/// Puts the deviation of all packets, whose delays are known one by one, in the place of that of the packets in rows.
pub fn put_deviation(quantities: &mut [Quantity], deviation: Result<f64, Reason>) {
    let rows = quantities.iter_mut().filter(|each| std::ptr::eq(each.what, &DEVIATION));
    rows.for_each(|each| {
        *each = Quantity {
            range: Some(deviation.map(|deviation| [deviation; 2])),
            ..Quantity::new(&DEVIATION, deviation.map(Number::Real))
        };
    });
}

/// Says that the deviation is that of a sample of so many packets, of all that are `of`, and that one without spread is none of all.
pub fn remark_on_sample(quantities: &mut [Quantity], packets: u64, of: u64) {
    remark_on(quantities, &DEVIATION, Remark::Sample { packets, of });
    let has_no_spread = |each: &&mut Quantity| {
        std::ptr::eq(each.what, &DEVIATION) && each.value.is_ok_and(|value| value.to_f64() == 0.0)
    };
    for each in quantities.iter_mut().filter(has_no_spread) {
        each.range = Some(Err(Reason::ConstantSample));
    }
}

/// Puts the numbers of packets that are known one by one to be lost and gained in the place of those that totals and
/// rows give.
pub fn put_known(quantities: &mut [Quantity], sent: u64, lost: u64, surplus: u64) {
    let range = |number: u64| Some(Ok([number as f64; 2]));
    let known = [
        Quantity { samples: Some(sent), range: range(lost), ..Quantity::count(&LOST, lost) },
        Quantity { range: range(surplus), ..Quantity::count(&SURPLUS, surplus) },
    ];
    for known in known {
        quantities
            .iter_mut()
            .filter(|each| std::ptr::eq(each.what, known.what))
            .for_each(|each| *each = known);
    }
}

/// What exact delays of single packets give: quantiles.
pub fn of_singles(singles: &[&Singles], distrust: Option<Reason>) -> Vec<Quantity> {
    let count: usize = singles.iter().map(|each| each.delays().len()).sum();
    let distrust = distrust.or(may_have_wrapped(singles).then_some(Reason::SumsWrap));
    let exact = distrust.map_or(Ok(Number::Count(count as u64)), Err);
    let quantile = |what, probability| {
        let found = distrust.map_or_else(|| quantile(singles, probability, Confidence::P95), Err);
        let range = found.map(|found| [found.value.range.lower, found.value.range.upper]);
        Quantity {
            range: Some(range),
            samples: Some(count as u64),
            ..Quantity::of(what, found, |quantile| quantile.nanoseconds)
        }
    };
    let delays = || singles.iter().flat_map(|each| each.delays()).copied();
    let end = |delay: Option<i64>| match distrust {
        Some(reason) => Err(reason),
        None => delay.map(Number::Whole).ok_or(Reason::NoSingle),
    };
    let p99 = quantile(&P99, 0.99);
    let variation = match delays().min() {
        Some(least) => p99.less(&VARIATION, least as f64),
        None => Quantity { what: &VARIATION, ..p99 },
    };
    // A sample's least delay bounds that of all packets from above alone: no interval of the variation would hold.
    let has_all = singles.iter().all(|each| each.are_all());
    let range =
        variation.range.map(|range| if has_all { range } else { range.and(Err(Reason::LeastUnseen)) });
    let variation = Quantity { range, ..variation };
    vec![
        Quantity::new(&EXACT_DELAYS, exact),
        quantile(&MEDIAN, 0.5),
        quantile(&P90, 0.9),
        p99,
        quantile(&P999, 0.999),
        variation,
        Quantity::new(&LEAST, end(delays().min())),
        Quantity::new(&GREATEST, end(delays().max())),
    ]
}

/// Whether single delays, which are known modulo 2^40 ns, are so far apart that some of them may be wrapped.
fn may_have_wrapped(singles: &[&Singles]) -> bool {
    let delays = || singles.iter().flat_map(|each| each.delays()).copied();
    let ends = delays().min().zip(delays().max());
    ends.is_some_and(|(least, greatest)| greatest.abs_diff(least) >= 1 << 39)
}

/// The quantities of [`of_delays`] where packets are counted and nothing else is known.
pub fn of_totals(sent: u64, received: u64, reason: Reason) -> Vec<Quantity> {
    let mut quantities = of_nothing(reason);
    let balance = of_balance(&Balance::of_totals(sent, received), sent);
    let known = [Quantity::count(&SENT, sent), Quantity::count(&RECEIVED, received)];
    quantities.iter_mut().zip(known.into_iter().chain(balance)).for_each(|(unknown, known)| *unknown = known);
    quantities
}

/// The quantities of [`of_delays`], all of them without value.
pub fn of_nothing(reason: Reason) -> Vec<Quantity> {
    let of = |what| Quantity::new(what, Err(reason));
    let with_range = |what| Quantity { range: Some(Err(reason)), ..of(what) };
    vec![
        of(&SENT),
        of(&RECEIVED),
        with_range(&LOST),
        with_range(&SURPLUS),
        of(&NET),
        of(&SAMPLES),
        with_range(&MEAN),
        Quantity::bounds(&BRACKET, Err(reason)),
        with_range(&DEVIATION),
        of(&PAPER_DEVIATION),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Deviation, Observation, Rounding, combine, estimate};
    use deltaline_model::sketch::cell::Cell;

    /// Two rows with packets that took 10 and 30 ns, and a row that lost one.
    fn overall() -> Overall {
        let cell = |count, sum| Cell { count, sum, ..Cell::default() };
        let sender = [cell(2, 100), cell(1, 500), cell(3, 900), cell(0, 0)].repeat(2);
        let receiver = [cell(2, 120), cell(1, 530), cell(2, 700), cell(0, 0)].repeat(2);
        let observation =
            Observation { rows: 8, sender: &sender, receiver: &receiver, sent: 12, received: 10 };
        combine(&[estimate(&observation).unwrap()])
    }

    fn value(quantities: &[Quantity], name: &str) -> Result<f64, Reason> {
        let found = quantities.iter().find(|quantity| quantity.what.name == name);
        found.unwrap().value.map(Number::to_f64)
    }

    #[test]
    fn keys_are_name_and_unit() {
        assert_eq!(
            (SENT.key(), MEAN.key(), MEAN.range_key()),
            ("sent".into(), "mean_ns".into(), "mean_ci95_ns".into())
        );
        assert_eq!(P99.range_key(), "p99_ci95_ns");
    }

    #[test]
    fn quantities_are_the_estimate() {
        let quantities = of_delays(&overall(), None);
        for (name, expected) in
            [("sent", 12.0), ("received", 10.0), ("lost", 2.0), ("effective_samples", 6.0)]
        {
            assert_eq!(value(&quantities, name), Ok(expected), "{name}");
        }
        // Four packets of 10 ns and two of 30 ns.
        let mean = value(&quantities, "mean").unwrap();
        assert!((mean - 100.0 / 6.0).abs() < 1e-9, "{mean}");
        let find = |what: &Definition| quantities.iter().find(|each| std::ptr::eq(each.what, what));
        let range = find(&MEAN).unwrap().range.unwrap().unwrap();
        assert!(range[0] < mean && mean < range[1]);
        let void = of_nothing(Reason::Void);
        assert!(void.iter().all(|quantity| quantity.value == Err(Reason::Void)));
        let names = |all: &[Quantity]| {
            all.iter().map(|each| (each.what.name, each.range.is_some())).collect::<Vec<_>>()
        };
        assert_eq!(names(&void), names(&quantities));
    }

    #[test]
    fn delays_that_are_half_a_wrap_apart_have_no_quantiles() {
        let of = |far: i64| {
            let singles = Singles::drawn((0..100).map(|number| number % 2 * far).collect(), 100);
            of_singles(&[&singles], None)
        };
        let known = |quantities: &[Quantity]| quantities.iter().filter(|each| each.value.is_ok()).count();
        assert_eq!(known(&of(1 << 39)), 0);
        assert!(of(1 << 39).iter().all(|each| each.value == Err(Reason::SumsWrap)));
        assert_eq!(value(&of((1 << 39) - 1), "max"), Ok(((1u64 << 39) - 1) as f64));
    }

    #[test]
    fn a_deviation_of_nothing_is_not_exact() {
        let deviation =
            Deviation { nanoseconds: 0.0, degrees_of_freedom: 7.0, rows: 8, rounding: Rounding::default() };
        let mut overall = overall();
        overall.deviation = Ok(deviation);
        let quantities = of_delays(&overall, None);
        let shown = quantities.iter().find(|each| std::ptr::eq(each.what, &DEVIATION)).unwrap();
        assert_eq!((shown.range, shown.remark), (Some(Err(Reason::FewRows)), Some(Remark::Constant)));
    }

    #[test]
    fn rows_of_other_packets_estimate_no_loss() {
        let cell = |count| Cell { count, sum: 1000 * u64::from(count), ..Cell::default() };
        let sender = [cell(9), cell(1), cell(7), cell(3)].repeat(4);
        let receiver = [cell(2), cell(6), cell(1), cell(9)].repeat(4);
        let observation =
            Observation { rows: 16, sender: &sender, receiver: &receiver, sent: 80, received: 72 };
        let overall = combine(&[estimate(&observation).unwrap()]);
        assert!(value(&of_delays(&overall, None), "lost").unwrap() > 8.0);
        let refused = of_delays(&overall, Some(Reason::Unrelated));
        for name in ["lost", "surplus", "mean"] {
            assert_eq!(value(&refused, name), Err(Reason::Unrelated), "{name}");
        }
        assert_eq!(value(&refused, "net"), Ok(8.0));
    }

    #[test]
    fn variation_of_a_sample_has_no_interval() {
        let variation = |received: u64| {
            let singles = Singles::drawn((1..=1000).collect(), received);
            let found = of_singles(&[&singles], None);
            *found.iter().find(|each| each.what.name == "variation").unwrap()
        };
        // The least of all packets, and the least of half of them.
        let [whole, half] = [1000, 2000].map(variation);
        assert_eq!((whole.value, half.value), (Ok(Number::Real(989.0)), Ok(Number::Real(989.0))));
        assert!(whole.range.unwrap().unwrap()[0] < 989.0);
        assert_eq!(half.range, Some(Err(Reason::LeastUnseen)));
    }

    #[test]
    fn distrust_leaves_counts_alone() {
        let quantities = of_delays(&overall(), Some(Reason::ClocksTooFar));
        assert_eq!(value(&quantities, "lost"), Ok(2.0));
        for name in ["effective_samples", "mean", "std", "std_paper"] {
            assert_eq!(value(&quantities, name), Err(Reason::ClocksTooFar), "{name}");
        }
        let quantiles = of_singles(&[], Some(Reason::Unrelated));
        assert!(quantiles.iter().all(|quantity| quantity.value == Err(Reason::Unrelated)));
    }

    #[test]
    fn what_is_not_of_all_intervals_is_remarked_on() {
        let value = Ok(Stratified { value: 5.0, missing: 2 });
        let quantity = Quantity::of(&DEVIATION, value, |value| value);
        assert_eq!(quantity.remark, Some(Remark::Missing(2)));
        assert_eq!(Quantity::of(&DEVIATION, Err(Reason::NoInterval), |value: f64| value).remark, None);
    }

    #[test]
    fn one_delay_in_all_rows_is_remarked_on_unless_all_packets_are_in_rows() {
        let cell = |sum| Cell { count: 2, sum, digest: 0 };
        let of = |received| {
            let (sender, receiver) = ([cell(0); 200], [cell(20); 200]);
            let observation =
                Observation { rows: 200, sender: &sender, receiver: &receiver, sent: received, received };
            of_delays(&combine(&[estimate(&observation).unwrap()]), None)
        };
        let remarks = |quantities: &[Quantity]| {
            [&MEAN, &DEVIATION].map(|what| quantities.iter().find(|each| each.what == what).unwrap().remark)
        };
        assert_eq!(remarks(&of(400)), [None; 2]);
        let mut sampled = of(500);
        assert_eq!(remarks(&sampled), [Some(Remark::Constant); 2]);
        // Where single packets show others, this is said instead.
        let delays: Vec<i64> = (0..400).map(|number| if number == 7 { 1000 } else { 10 }).collect();
        look_for_unsampled(&mut sampled, &delays);
        assert_eq!(remarks(&sampled), [Some(Remark::Unsampled { packets: 1, of: 400 }); 2]);
    }

    #[test]
    fn a_surplus_is_no_loss() {
        let balance = Balance::of_totals(3, 5);
        let quantities = of_delays(&Overall { balance, ..overall() }, None);
        let found = ["lost", "surplus", "net"].map(|name| value(&quantities, name));
        assert_eq!(found, [Ok(0.0), Ok(2.0), Ok(-2.0)]);
    }
}
