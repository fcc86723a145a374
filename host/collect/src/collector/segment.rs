//! A segment whose interval numbers are known: intervals in their order, and what has been handed out of them.

use super::entry::{Entry, Together, common, digest};
use super::limits::Limits;
use super::passed::Passed;
use super::{LAG, MANY_REPLAYED};
use crate::pair::Interval;
use crate::verdict::{self, Doubt, Expected, Void};
use deltaline_model::time::AbsoluteTime;
use deltaline_model::wire::authentication::Keys;
use deltaline_model::wire::frame::{Header, Role};
use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

/// Intervals of a segment that are remembered when they have been handed out, so that their frames are known again.
const REMEMBERED: usize = 64;
/// Of those before a restart, how many are remembered still.
const REMEMBERED_BEFORE: usize = 16;
/// What a segment takes besides its pending intervals.
pub(super) const SEGMENT_BYTES: usize = 4096;
/// Numbers are compared modulo 2^32: half of them are later (RFC 1982).
const HALF: u32 = 1 << 31;

/// Whether a number is later than another one.
pub(super) fn is_ahead(number: u32, other: u32) -> bool {
    (number.wrapping_sub(other) as i32) > 0
}

/// Whether a time is known to be later than another one.
fn is_later(time: Option<AbsoluteTime>, other: Option<AbsoluteTime>) -> bool {
    time.zip(other).is_some_and(|(time, other)| time.base == other.base && time.seconds > other.seconds)
}

/// A segment.
#[derive(Clone, Debug)]
pub(super) struct Segment {
    /// What has not been handed out, by number: all of it behind `last`, up to `newest`.
    pending: BTreeMap<u32, Entry>,
    /// The number in front of the first one that may still come.
    last: u32,
    newest: u32,
    recent: VecDeque<Remembered>,
    /// The last ones before numbers started over.
    before: Vec<Remembered>,
    /// Of each end, the latest absolute time of an interval of its last boot epoch that has been handed out.
    times: [Option<AbsoluteTime>; 2],
    /// Of both ends, the newest ones that two whole ends had together, or that a key vouches for.
    epochs: [u32; 2],
    /// The first interval of the ends' latest starts that was handed out with both whole.
    together: Option<Together>,
    /// Of each end, the highest number of an interval that has been handed out in its boot epoch.
    passed: [Option<u32>; 2],
    /// Of each end, its latest time when numbers last started over; without that, its latest time.
    floors: [Option<AbsoluteTime>; 2],
    /// It has been said of an end that it reports numbers again.
    is_said: [bool; 2],
    /// Replayed frames since the last interval was handed out.
    replayed: u64,
    /// The newest key that an end signed with, by its place in the file.
    newest_key: usize,
    /// When the last interval that was handed out had come whole, of each end that had.
    pub(super) whole: [Option<Duration>; 2],
    /// When its last frame came.
    pub(super) heard: Duration,
}

/// What is remembered of an interval that has been handed out.
#[derive(Clone, Debug)]
struct Remembered {
    number: u32,
    digests: [Option<u64>; 2],
    /// The end that reported it twice.
    repeated: Option<Role>,
}

/// An interval that is handed out, with what was kept for it.
#[derive(Debug)]
pub(super) struct HandedOut {
    pub(super) interval: Interval,
    /// When it was to be looked at again.
    pub(super) due: Duration,
    /// What it took.
    pub(super) bytes: usize,
}

/// How a frame's interval stands to those of its segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// It is pending, or may be.
    Due,
    /// It has been handed out.
    Late,
    /// It is older than what its end has reported.
    Replayed,
    /// Its number is not above those that its end has reported in the same boot epoch, nor is it known to be later, as it must be.
    Again,
    /// Far ahead, or numbers have started over: it must be confirmed.
    Far,
}

impl Segment {
    /// A segment whose intervals begin with these, of which `first` is the earliest and `newest` the latest.
    pub(super) fn new(first: u32, newest: u32, pending: BTreeMap<u32, Entry>, heard: Duration) -> Self {
        let (recent, epochs) = (VecDeque::new(), [0; 2]);
        Segment {
            pending,
            last: first.wrapping_sub(1),
            newest,
            recent,
            before: vec![],
            times: [None; 2],
            epochs,
            together: None,
            passed: [None; 2],
            floors: [None; 2],
            is_said: [false; 2],
            replayed: 0,
            newest_key: 0,
            whole: [None; 2],
            heard,
        }
    }

    /// A segment of which nothing is pending, and which has come so far.
    pub(super) fn behind(passed: &Passed, heard: Duration) -> Self {
        let Passed { last, ends } = *passed;
        let times = ends.map(|end| end?.time);
        Segment {
            times,
            epochs: ends.map(|end| end.map_or(0, |end| end.boot_epoch)),
            passed: ends.map(|end| Some(end?.number)),
            floors: times,
            ..Segment::new(last.wrapping_add(1), last, BTreeMap::new(), heard)
        }
    }

    /// Where a frame belongs. If an end reports an interval anew that was the last to be handed out, the next one is void. With
    /// `must_rise`, no end's numbers start over in a boot epoch, unless times show that they have.
    pub(super) fn place(&mut self, header: &Header, must_rise: bool) -> Place {
        match self.place_by_number(header) {
            Place::Due | Place::Far | Place::Replayed if must_rise && self.has_passed(header) => Place::Again,
            place => place,
        }
    }

    /// Whether an end has come to a frame's number before, in the same boot epoch, and the frame may be of then.
    fn has_passed(&self, header: &Header) -> bool {
        let role = header.role as usize;
        header.boot_epoch == self.epochs[role]
            && self.passed[role].is_some_and(|passed| !is_ahead(header.interval, passed))
            && !is_later(header.time, self.floors[role])
    }

    /// The highest number that an end has reported in its boot epoch, when it reports numbers again for the first time.
    pub(super) fn say_again(&mut self, role: Role) -> Option<u32> {
        let role = role as usize;
        let is_said = std::mem::replace(&mut self.is_said[role], true);
        let passed = self.passed[role].filter(|_| !is_said)?;
        Some(if is_ahead(self.newest, passed) { self.newest } else { passed })
    }

    /// Counts a replayed frame; true once when there have been many since the last interval.
    pub(super) fn say_starved(&mut self) -> bool {
        self.replayed = self.replayed.saturating_add(1);
        self.replayed == MANY_REPLAYED
    }

    fn place_by_number(&mut self, header: &Header) -> Place {
        let known = self.epochs[header.role as usize];
        if header.boot_epoch < known {
            return Place::Replayed;
        }
        if self.is_copy_of_before(header) {
            return Place::Late;
        }
        let ahead = header.interval.wrapping_sub(self.last);
        if ahead > 0 && ahead <= self.span().saturating_add(LAG as u32) && ahead < HALF {
            return Place::Due;
        }
        let is_latest = header.interval == self.last;
        let same_epoch = header.boot_epoch == known;
        let found = self.recent.iter_mut().rev().find(|recent| recent.number == header.interval);
        if let Some(recent) = found {
            let digest = digest(&common(header));
            match recent.digests[header.role as usize] {
                Some(known) if known != digest => {}
                _ => return Place::Late,
            }
            if is_latest && same_epoch {
                recent.repeated = Some(header.role);
                return Place::Late;
            }
        }
        let is_behind = ahead == 0 || ahead >= HALF;
        if known > 0 && same_epoch && is_behind && !self.is_newer(header) {
            Place::Replayed
        } else {
            Place::Far
        }
    }

    /// Whether it is a copy of what was handed out before numbers started over. An interval without packets may come again as it was.
    fn is_copy_of_before(&self, header: &Header) -> bool {
        let of_number = |before: &&Remembered| before.number == header.interval;
        header.totals.packets > 0
            && self.before.iter().filter(of_number).any(|before| {
                before.digests[header.role as usize].is_some_and(|known| known == digest(&common(header)))
            })
    }

    /// Whether its interval ended later than all that its end has reported: then these were a replay, whatever their numbers.
    fn is_newer(&self, header: &Header) -> bool {
        is_later(header.time, self.times[header.role as usize])
    }

    /// An end has reported in this boot epoch for certain: what is older is a replay from now on.
    pub(super) fn reports_in(&mut self, role: usize, epoch: u32) {
        if epoch > self.epochs[role] {
            self.epochs[role] = epoch;
            (self.passed[role], self.floors[role], self.is_said[role]) = (None, None, false);
        }
    }

    /// Numbers from the first that may come to the newest.
    fn span(&self) -> u32 {
        self.newest.wrapping_sub(self.last)
    }

    pub(super) fn pending(&self) -> usize {
        self.pending.len()
    }

    /// The number of the first pending interval, if it is whole at both ends, or another one behind it is.
    pub(super) fn first_up_to_whole(&self) -> Option<u32> {
        let is_whole = |entry: &Entry| entry.whole(0).is_some() && entry.whole(1).is_some();
        self.first().filter(|_| self.pending.values().any(is_whole))
    }

    pub(super) fn has_handed_out(&self) -> bool {
        !self.recent.is_empty()
    }

    pub(super) fn newest(&self) -> u32 {
        self.newest
    }

    pub(super) fn get(&mut self, number: u32) -> Option<&mut Entry> {
        self.pending.get_mut(&number)
    }

    /// Adds an interval that is due; true if it is the newest one.
    pub(super) fn insert(&mut self, number: u32, entry: Entry) -> bool {
        self.pending.insert(number, entry);
        let is_newest = number.wrapping_sub(self.last) > self.span();
        if is_newest {
            self.newest = number;
        }
        is_newest
    }

    /// The numbers that are due if those from `first` to `newest` are as well, nothing having been handed out; none if they
    /// are too far apart to be in an order.
    pub(super) fn joined(&self, first: u32, newest: u32) -> Option<(u32, u32)> {
        let own = self.last.wrapping_add(1);
        let begin = if is_ahead(first, own) { own } else { first };
        let end = if is_ahead(newest, self.newest) { newest } else { self.newest };
        (end.wrapping_sub(begin) < HALF - 1).then_some((begin, end))
    }

    /// Makes these numbers due.
    pub(super) fn widen(&mut self, (first, newest): (u32, u32)) {
        self.last = first.wrapping_sub(1);
        self.newest = newest;
    }

    /// Goes on with other numbers; true if they have started over. Everything pending has been handed out.
    pub(super) fn jump(&mut self, first: u32, newest: u32, pending: BTreeMap<u32, Entry>) -> bool {
        let is_back = first == self.last || first.wrapping_sub(self.last) >= HALF;
        if is_back {
            let kept = self.recent.len().min(REMEMBERED_BEFORE);
            self.before = self.recent.split_off(self.recent.len() - kept).into();
            self.recent.clear();
            self.floors = self.times;
        }
        self.whole = [None; 2];
        self.pending = pending;
        self.widen((first, newest));
        is_back
    }

    /// The number of the first pending interval.
    pub(super) fn first(&self) -> Option<u32> {
        let next = self.last.wrapping_add(1);
        let behind = self.pending.range(next..).next().or_else(|| self.pending.first_key_value());
        behind.map(|(number, _)| *number)
    }

    /// Whether nothing more is to be expected of the first pending interval, which has this number.
    pub(super) fn is_settled(&self, number: u32, now: Duration, limits: &Limits) -> bool {
        let Some(entry) = self.pending.get(&number) else { return false };
        let next = self.pending.get(&number.wrapping_add(1));
        let is_over = |role| {
            // An end that is silent is void as soon as it should long have come.
            let absent = entry
                .whole(role)
                .is_none()
                .then(|| entry.waits_until(1 - role, self.whole[1 - role], limits.absence));
            let held = entry.held_until(role, self.whole[role], limits.grace);
            [held, absent.flatten()].into_iter().flatten().any(|end| end <= now)
                || next.is_some_and(|next| next.has(role))
        };
        self.pending.len() > LAG || (is_over(0) && is_over(1))
    }

    /// Takes down the times of an interval, and doubts those before what the same start of the same end has reported, and those of the two ends that are
    /// far apart.
    fn follow_times(&mut self, entry: &Entry) -> Vec<Doubt> {
        let starts: Vec<(usize, u32)> = entry.reported_epochs().collect();
        let mut doubts = vec![];
        for (role, epoch) in starts {
            let Some(time) = entry.times()[role] else { continue };
            let known =
                self.times[role].filter(|known| known.base == time.base && epoch <= self.epochs[role]);
            match known {
                Some(known) if time.seconds < known.seconds => {
                    let role = if role == Role::Sender as usize { Role::Sender } else { Role::Receiver };
                    doubts.push(Doubt::DatedBack { role });
                }
                _ => self.times[role] = Some(time),
            }
        }
        let times = entry.times();
        // Where both ends say the time, that is more than when a recorder heard of it.
        let are_dated = times.iter().all(Option::is_some);
        doubts.extend(verdict::dated_apart(times));
        doubts.extend(verdict::captured_apart(entry.captured()).filter(|_| !are_dated));
        doubts
    }

    /// What keys both ends' frames of an interval were signed with: none may be older than one that was in use, for whoever has an old key could sign
    /// for an end whose frames he keeps back.
    fn follow_keys(&mut self, used: [Option<u16>; 2], keys: &Keys) -> Option<Void> {
        let places = used.map(|key| keys.position(key?));
        self.newest_key = places.into_iter().flatten().fold(self.newest_key, usize::max);
        let is_old = |role: &usize| places[*role].is_some_and(|place| place < self.newest_key);
        let old = (0..2).find(is_old)?;
        Some(Void::OldKey { role: [Role::Sender, Role::Receiver][old], key: used[old]? })
    }

    /// Takes out the first pending interval, which has this number, and judges it. The next one confirms it, unless it may be
    /// the last one and nothing was heard of any later one.
    pub(super) fn hand_out(
        &mut self,
        segment: u32,
        number: u32,
        expected: Option<Expected>,
        keys: Option<&Keys>,
        is_last: bool,
    ) -> Option<HandedOut> {
        let entry = self.pending.remove(&number)?;
        self.last = number;
        self.replayed = 0;
        let before = self.recent.back().filter(|before| before.number.wrapping_add(1) == number);
        let repeated = before.and_then(|before| Some((before.repeated?, before.number)));
        // What a delimiter is ignored in favour of may have been forged: then the interval before is too short.
        let next = self.pending.get(&number.wrapping_add(1));
        let is_confirmed =
            (is_last && number == self.newest) || next.is_some_and(|next| (0..2).all(|role| next.has(role)));
        let ignored = entry.ignored_delimiters().or(next.and_then(Entry::ignored_delimiters));
        let contradiction = entry.contradiction();
        if self.recent.len() == REMEMBERED {
            self.recent.pop_front();
        }
        let repeats = contradiction.as_ref().map(|(role, _)| *role);
        self.recent.push_back(Remembered { number, digests: entry.digests(), repeated: repeats });
        let dated_back = self.follow_times(&entry);
        let outdated = entry.together().and_then(|here| {
            let known = self.together.unwrap_or(here);
            let outdated = here.outdated(known);
            self.together = Some(if outdated.is_some() { known } else { here.later(known) });
            outdated
        });
        if let Some(epochs) = entry.epochs() {
            (0..).zip(epochs).for_each(|(role, epoch)| self.reports_in(role, epoch));
        }
        for role in 0..2 {
            if self.passed[role].is_none_or(|passed| is_ahead(number, passed)) {
                (self.passed[role], self.floors[role]) = (Some(number), self.times[role]);
            }
        }
        self.whole = [0, 1].map(|role| entry.whole(role).or(self.whole[role]));
        let old_key = keys.and_then(|keys| self.follow_keys(entry.keys(), keys));
        let Entry { due, bytes, heard, .. } = entry;
        let [sender, receiver] = entry.into_reports();
        let (from, to) = (sender.as_ref(), receiver.as_ref());
        let void = contradiction
            .map(|(_, void)| void)
            .or(old_key)
            .or_else(|| expected.and_then(|expected| expected.refuse(from, to)))
            .or_else(|| verdict::void(from, to))
            .or(outdated.map(|role| Void::Outdated { role }))
            .or(repeated.map(|(role, number)| Void::Repeated { role, number }))
            .or(ignored.map(|(role, ignored)| Void::IgnoredDelimiters { role, ignored }));
        let doubts = match (&sender, &receiver) {
            (Some(sender), Some(receiver)) if void.is_none() => {
                let unconfirmed = (!is_confirmed).then_some(Doubt::Unconfirmed);
                verdict::doubts(sender, receiver).into_iter().chain(dated_back).chain(unconfirmed).collect()
            }
            _ => vec![],
        };
        let interval =
            Interval { segment, number, heard, sender, receiver, void, doubts, authenticated: false };
        Some(HandedOut { interval, due, bytes })
    }
}
