//! Whether an interval's two reports may be compared, and if not, why not and what to do about it.
//!
//! A report speaks for itself (whole, cut by a delimiter, not saturated), the two together (same configuration, same
//! prefix lengths, same mixing), and all reports of a segment so far (the ends refused the same interval ends).

use crate::pair::Interval;
use crate::report::{Report, Table, Times};
use crate::text::duration;
use deltaline_estimate::WRONG_BY;
use deltaline_model::configuration::Configuration;
use deltaline_model::point::TOTAL_BITS;
use deltaline_model::time::{AbsoluteTime, TimeBase};
use deltaline_model::wire::frame::{FrameError, Header, Role};
use thiserror::Error;

/// Why an interval's two reports must not be compared.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Error)]
pub enum Void {
    /// Frames of one end and interval contradict each other.
    #[error(
        "frame {frame} contradicts an earlier frame of the {role} in its {field}: the interval is void; \
         give every sender and receiver its own segment number, and every run its own recording, read by itself"
    )]
    Contradiction {
        /// The end.
        role: Role,
        /// The first frame that contradicts, counted from 1.
        frame: u64,
        /// What it contradicts.
        field: &'static str,
    },
    /// An end reported the number before this one twice.
    #[error(
        "the {role} reported interval {number} twice, with different packets: a delimiter was repeated or forged, and the \
         interval behind it is void as well; let each delimiter reach each end once"
    )]
    Repeated {
        /// The end.
        role: Role,
        /// The number that it repeated.
        number: u32,
    },
    /// An end's frames are of a boot epoch behind which it has reported already.
    #[error(
        "the {role}'s control frames are of before it started again, and intervals of after that have come: the other end's may be of another interval \
         of the same number, and the interval is void; give every run its own recording"
    )]
    Outdated {
        /// The end.
        role: Role,
    },
    /// An end signed with another key than was in use.
    #[error(
        "the {role}'s control frames are signed with key {key}, and a newer one of the key file was in use in this interval or before: whoever has the old key can have \
         forged them, and the interval is void; change keys at both ends for the same interval"
    )]
    OldKey {
        /// The end.
        role: Role,
        /// Its key's identifier.
        key: u16,
    },
    /// An end ignored delimiters in this interval or the next one.
    #[error(
        "the {role} ignored {ignored} delimiters that were not due in this interval or the next: one of those that \
         it took may be forged, and the interval is void; keep copies and strangers' delimiters off the path"
    )]
    IgnoredDelimiters {
        /// The end.
        role: Role,
        /// How many, in one interval.
        ignored: u16,
    },
    /// The ends are configured differently.
    #[error(
        "the configurations differ: {sender:#018x} at the sender ({sender_table}), {receiver:#018x} at the \
         receiver ({receiver_table}); hash, seed, rows, banks and segment must be the same at both ends"
    )]
    ConfigurationMismatch {
        /// The identifier of the sender's configuration.
        sender: u64,
        /// The identifier of the receiver's configuration.
        receiver: u64,
        /// The sender's rows and banks.
        sender_table: Table,
        /// The receiver's rows and banks.
        receiver_table: Table,
    },
    /// An end is configured otherwise than was expected.
    #[error(
        "the {role}'s control frames are of configuration {found:#018x} ({table}), the design's is {expected:#018x}: the \
         interval is refused; name the design that both ends were built from"
    )]
    OtherConfiguration {
        /// The end.
        role: Role,
        /// The identifier of its configuration.
        found: u64,
        /// Its rows and banks.
        table: Table,
        /// The identifier of the expected configuration.
        expected: u64,
    },
    /// Not all of an end's frames arrived.
    #[error(
        "{missing} of the {of} control frames of the {role} did not arrive: the interval is void; capture the management port without loss"
    )]
    LostFragments {
        /// The end.
        role: Role,
        /// How many, at least one.
        missing: u16,
        /// Frames that the interval has.
        of: u16,
    },
    /// No frame of one end arrived.
    #[error(
        "nothing of the {role} arrived: the interval is void; capture the control frames of both ends, \
         and give both the same segment number"
    )]
    MissingEnd {
        /// The end that is missing.
        role: Role,
    },
    /// Packets of an exchange may be farther from where they were sent than they are looked for.
    #[error(
        "by the ends' clocks packets arrived up to {} {} they were sent, in this interval or another, which is more than an interval of {}: those that \
         are still farther away, or behind the recording's end, are not found and would look lost: the interval is void; set the clocks alike, or take longer intervals",
        duration(delay.unsigned_abs() as f64), if *delay < 0 { "before" } else { "after" }, duration(*length as f64)
    )]
    Beyond {
        /// The delay that is farthest from none, in nanoseconds.
        delay: i64,
        /// The intervals' length in nanoseconds.
        length: u64,
    },
    /// The packets that differ at two ends whose clocks cut the interval were not found out, so that those in flight at the cut remain where they are.
    #[error(
        "which packets differ cannot be told, as too many do, or several look alike: the interval is void; check that both recordings are of \
         the same traffic, by clocks that agree, and leave out with --filter what repeats its packets, such as keep-alives"
    )]
    Unbound,
    /// No delimiter ended or started the interval.
    #[error(
        "the clock, a pin or a register cut the {role}'s interval, so that packets in flight at the cut lie in different \
         intervals at the two ends and would corrupt rows without a trace: the interval is void; use in-band delimiters"
    )]
    TimedCut {
        /// An end whose interval was cut by no delimiter.
        role: Role,
    },
    /// It lasted so long that its packets' times wrap.
    #[error(
        "the {role}'s packets of this interval are {} apart by their stamps, and times are known modulo 2^48 ns (78 h), so that an interval may last \
         39 hours at most: the interval is void; take shorter ones with --interval, or mend stamps that are wrong", duration(*.lasted as f64)
    )]
    TooLong {
        /// An end.
        role: Role,
        /// From its first packet to its last, in nanoseconds.
        lasted: u64,
    },
    /// A delimiter did not reach an end, or reached it during a drain.
    #[error(
        "a delimiter before this interval's end did not count at the {role}, so that its interval covers more than \
         the number says: the interval is void; the first interval of an end that starts amid the stream is always so"
    )]
    LostDelimiter {
        /// An end whose interval has a gap.
        role: Role,
    },
    /// The ends sampled an interval of a configuration that adapts with different prefix lengths.
    #[error(
        "the ends sampled with different prefix lengths ({sender} at the sender, {receiver} at the receiver): the \
         interval is void; schedule lengths at both ends before the interval that they are for begins"
    )]
    DifferentSampling {
        /// The sender's rows and banks.
        sender: Table,
        /// The receiver's rows and banks.
        receiver: Table,
    },
    /// The ends counted an interval with different mixings.
    #[error(
        "the ends counted with different mixings ({sender:#010x} at the sender, {receiver:#010x} at the receiver), which put the          same packets into different rows: the interval is void; schedule the same one at both ends before the interval that it is for begins"
    )]
    DifferentMixing {
        /// The identifier of the sender's mixing.
        sender: u32,
        /// The identifier of the receiver's.
        receiver: u32,
    },
    /// A count overflowed.
    #[error("a counter of the {role} overflowed: the interval is void; use shorter intervals")]
    Saturated {
        /// An end whose counter overflowed.
        role: Role,
    },
}

/// What to keep in mind about a usable interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Error)]
pub enum Doubt {
    /// The clock was not locked.
    #[error(
        "the {role}'s clock was not locked at some moment: losses are right, delays may not be; \
         wait until the clock is locked"
    )]
    ClockUnlocked {
        /// The end.
        role: Role,
    },
    /// An end refused interval ends.
    #[error(
        "{refused} interval ends came too soon at an end and were refused: the interval is longer than \
         asked for; send delimiters farther apart than a drain and the points' least interval take"
    )]
    Overrun {
        /// How many.
        refused: u16,
    },
    /// No control frame of the next interval confirms it.
    #[error(
        "no control frame of the next interval says whether an end had ignored delimiters: if one of those that it took was forged, or a copy that came early, \
         what looks lost is in the next one"
    )]
    Unconfirmed,
    /// The cells hold times that the totals do not.
    #[error(
        "packets in the {role}'s cells lie before its first packet or behind its last one: its clock was set, or the frames \
         were forged"
    )]
    TimesApart {
        /// The end.
        role: Role,
        /// By how many nanoseconds at least.
        by: u64,
    },
    /// Times go back by a second or more.
    #[error(
        "the times of the {role}'s packets go back by a second or more: single stamps are wrong, or its clock was set back; losses are right, \
         delays are not"
    )]
    TimesGoBack {
        /// The end.
        role: Role,
    },
    /// The times are coarse.
    #[error(
        "the {role}'s times are multiples of {}: a mean may be off by as much, whatever its interval says; deviations are without the \
         rounding; take a clock that shows finer times", duration(*.unit as f64)
    )]
    Coarse {
        /// The end.
        role: Role,
        /// In nanoseconds.
        unit: u64,
    },
    /// An end dates it before an interval that it has reported already.
    #[error(
        "the {role} dates this interval before one that it reported earlier: its clock was set back, or somebody replays \
         its control frames of then"
    )]
    DatedBack {
        /// The end.
        role: Role,
    },
    /// An end dates it otherwise than when its control frames came.
    #[error(
        "the {role} dates this interval {} {} its control frames came: either its clock is set wrong, or these are control frames of another time, which \
         somebody sends again", duration(*.by as f64 * 1e9), if *.is_ahead { "after" } else { "before" }
    )]
    Misdated {
        /// The end.
        role: Role,
        /// By so many seconds.
        by: u64,
        /// It is dated later than they came.
        is_ahead: bool,
    },
    /// Their control frames were captured at different times.
    #[error(
        "the two ends' control frames were captured {} apart: either they are of two starts, and neither losses nor delays mean anything, or the clocks of their \
         recorders are", duration(*.seconds as f64 * 1e9)
    )]
    CapturedApart {
        /// By so many seconds.
        seconds: u64,
    },
    /// The ends date it differently.
    #[error(
        "the ends date this interval {} apart: either their clocks are, and delays mean nothing, or an end's control frames are of an earlier \
         time than the other's, and losses mean nothing either; set the clocks, and see whether somebody replays control frames",
        duration(*.seconds as f64 * 1e9)
    )]
    DatedApart {
        /// By so many seconds.
        seconds: u64,
    },
}

/// How many nanoseconds an interval may last, half of what packets' times are known by: 39 hours.
pub const LONGEST_INTERVAL: u64 = 1 << 47;

/// By how many seconds an interval may be dated before or after its control frames came: a drain, a leap second, a clock that nobody disciplines.
const MISDATED: u64 = 600;
/// What International Atomic Time is ahead of Unix time, since 2017, in seconds.
const LEAP_SECONDS: u64 = 37;

/// Which end's dates of an interval are not those at which its frames came, in seconds since the Unix epoch.
pub(crate) fn misdated(interval: &Interval, came: u64) -> Option<Doubt> {
    let ends = [(Role::Sender, &interval.sender), (Role::Receiver, &interval.receiver)];
    let mut dated = ends.into_iter().filter_map(|(role, report)| Some((role, report.as_ref()?.time?)));
    dated.find_map(|(role, AbsoluteTime { base, seconds })| {
        let seconds = match base {
            TimeBase::Tai => seconds.saturating_sub(LEAP_SECONDS),
            TimeBase::Unix => seconds,
        };
        let by = seconds.abs_diff(came);
        (by >= MISDATED).then_some(Doubt::Misdated { role, by, is_ahead: seconds > came })
    })
}

/// From how many seconds on the dates of an interval's two reports are apart: no packet takes as long.
const APART: u64 = 60;

/// How far the dates of the sender's report of an interval and of the receiver's are apart, if so.
pub(crate) fn dated_apart(times: [Option<AbsoluteTime>; 2]) -> Option<Doubt> {
    let [Some(sender), Some(receiver)] = times else { return None };
    let seconds = sender.seconds.abs_diff(receiver.seconds);
    (sender.base == receiver.base && seconds >= APART).then_some(Doubt::DatedApart { seconds })
}

/// How far the captures of the two ends' control frames of an interval, in nanoseconds since the Unix epoch, are apart, if so.
pub(crate) fn captured_apart(captured: [Option<u64>; 2]) -> Option<Doubt> {
    let [Some(sender), Some(receiver)] = captured else { return None };
    let seconds = sender.abs_diff(receiver) / 1_000_000_000;
    (seconds >= APART).then_some(Doubt::CapturedApart { seconds })
}

/// The unit of most recordings' times, in nanoseconds; clocks of points have smaller ones.
const ORDINARY_UNIT: u64 = 1000;

impl Doubt {
    /// What an end's times that are multiples of so many nanoseconds make doubtful.
    pub(crate) fn of_unit(role: Role, unit: u64) -> Option<Self> {
        (unit > ORDINARY_UNIT).then_some(Doubt::Coarse { role, unit })
    }

    /// Whether it is one of clocks: delays may be off, losses are not.
    pub fn is_of_clocks(&self) -> bool {
        !matches!(self, Doubt::Overrun { .. } | Doubt::Unconfirmed)
    }

    /// Whether delays of the interval mean nothing.
    pub fn spoils_delays(&self) -> bool {
        match self {
            Doubt::TimesApart { by, .. } => *by >= WRONG_BY,
            Doubt::TimesGoBack { .. } => true,
            _ => false,
        }
    }
}

/// What no frame of a measurement point holds, although its fields are those of a control frame.
///
/// # Errors
///
/// Which field is wrong.
pub(crate) fn check(header: &Header) -> Result<(), FrameError> {
    let field = |name| Err(FrameError::Field(name));
    match header {
        _ if header.totals.packets >> TOTAL_BITS != 0 => field("packets"),
        _ if header.totals.bytes >> TOTAL_BITS != 0 => field("bytes"),
        // Of a known kind they have been checked with the rest.
        _ if header.fragment >= header.fragments => field("fragment"),
        _ if header.shape.tables == 0 || header.table >= header.shape.tables => field("table"),
        _ if !header.fragments.is_multiple_of(header.shape.tables.into()) => field("fragments"),
        _ => Ok(()),
    }
}

/// A configuration that ends are expected to have: its identifiers in frames of version 1 and 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Expected {
    identifiers: [u64; 2],
}

impl Expected {
    pub(crate) fn new(configuration: &Configuration) -> Self {
        Expected { identifiers: [configuration.version_1_id(), configuration.id()] }
    }

    /// Why reports of another configuration are refused.
    pub(crate) fn refuse(&self, sender: Option<&Report>, receiver: Option<&Report>) -> Option<Void> {
        let ends = [(Role::Sender, sender), (Role::Receiver, receiver)];
        let mut present = ends.into_iter().filter_map(|(role, end)| Some((role, end?)));
        let (role, other) = present.find(|(_, end)| !self.identifiers.contains(&end.configuration))?;
        let (found, table, expected) = (other.configuration, other.table(), self.identifiers[1]);
        Some(Void::OtherConfiguration { role, found, table, expected })
    }
}

/// Why two reports must not be compared, but for refused interval ends.
pub(crate) fn void(sender: Option<&Report>, receiver: Option<&Report>) -> Option<Void> {
    if let (Some(sender), Some(receiver)) = (sender, receiver) {
        // Equal digests of tables of different size are not chance but forgery; the cells could not be compared.
        let size =
            |end: &Report| (end.shape.kind, end.shape.tables, end.shape.table_cells, end.shape.cell_bits);
        if sender.configuration != receiver.configuration || size(sender) != size(receiver) {
            return Some(Void::ConfigurationMismatch {
                sender: sender.configuration,
                receiver: receiver.configuration,
                sender_table: sender.table(),
                receiver_table: receiver.table(),
            });
        }
    }
    let ends = [(Role::Sender, sender), (Role::Receiver, receiver)];
    let present = || ends.iter().filter_map(|(role, end)| Some((*role, (*end)?)));
    if let Some((role, end)) = present().find(|(_, end)| end.missing > 0) {
        return Some(Void::LostFragments { role, missing: end.missing, of: end.fragments });
    }
    if let Some((role, _)) = ends.iter().find(|(_, end)| end.is_none()) {
        return Some(Void::MissingEnd { role: *role });
    }
    if let Some((role, _)) = present().find(|(_, end)| end.totals.flags.timed) {
        return Some(Void::TimedCut { role });
    }
    if let Some((role, _)) = present().find(|(_, end)| end.totals.flags.gap) {
        return Some(Void::LostDelimiter { role });
    }
    // Behind what may be the cause: an end that missed a delimiter changes its lengths late.
    if let (Some(sender), Some(receiver)) = (sender, receiver)
        && sender.prefixes != receiver.prefixes
    {
        return Some(Void::DifferentSampling { sender: sender.table(), receiver: receiver.table() });
    }
    if let (Some(sender), Some(receiver)) = (sender, receiver)
        && sender.mixing != receiver.mixing
    {
        return Some(Void::DifferentMixing { sender: sender.mixing, receiver: receiver.mixing });
    }
    let (role, _) = present().find(|(_, end)| end.totals.flags.saturated)?;
    Some(Void::Saturated { role })
}

/// What to keep in mind about two reports that may be compared.
pub(crate) fn doubts(sender: &Report, receiver: &Report) -> Vec<Doubt> {
    let mut doubts = vec![];
    for (role, end) in [(Role::Sender, sender), (Role::Receiver, receiver)] {
        if end.totals.flags.clock {
            doubts.push(Doubt::ClockUnlocked { role });
        }
        let Times { apart, unit } = end.times();
        if apart > 0 {
            doubts.push(Doubt::TimesApart { role, by: apart });
        }
        doubts.extend(Doubt::of_unit(role, unit));
    }
    let refused = sender.totals.refused_ends.max(receiver.totals.refused_ends);
    if refused > 0 {
        doubts.push(Doubt::Overrun { refused });
    }
    doubts
}
