//! Intervals: an end's packets in order, as few of them in memory as an exchange needs.
//!
//! # Test plan
//!
//! Going on, over gaps, to the end; what is behind is forgotten; with the exchange's tests.

use super::{About, Clock, ExchangeError, MOST_HELD, Recording, processor_time};
use deltaline_estimate::WRONG_BY;
use deltaline_model::sketch::packet_cache::PacketCache;
use deltaline_model::time::{AbsoluteTime, TimeBase, Timestamp};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// An end's intervals.
pub(super) struct Intervals<R> {
    recording: R,
    held: BTreeMap<u64, PacketCache>,
    /// Those of them in whose packets times go back.
    back: BTreeSet<u64>,
    /// The packets of an interval that has none.
    none: PacketCache,
    first: Option<u64>,
    /// When a recording without intervals began.
    began: Option<AbsoluteTime>,
    /// Of an interval, in nanoseconds; zero if the recording is one as a whole.
    length: u64,
    /// The recording's first moment, and the last one that was read, in nanoseconds since the Unix epoch.
    recorded: Option<[u64; 2]>,
    /// The longest time in it without a packet.
    silence: [u64; 2],
    /// The last one that was read.
    newest: Option<u64>,
    /// The last packet that was read, and its interval.
    last: Option<(u64, Timestamp)>,
    has_ended: bool,
    /// The last interval that was asked about, and packets that were forgotten of others behind the first of these.
    asked: Option<u64>,
    unasked: u64,
    /// Processor time that reading has taken.
    pub(super) reading: Duration,
    /// Most packets that were held.
    pub(super) most: u64,
}

/// What is known of when an end saw packets, in nanoseconds since the Unix epoch.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recorded {
    /// From when to when.
    pub(super) span: [u64; 2],
    /// The longest time therein without a packet.
    pub(super) silence: [u64; 2],
}

const NANOSECONDS: u64 = 1_000_000_000;

impl<R: Recording> Intervals<R> {
    /// An end's intervals of this length in nanoseconds. Of a recording that is one interval as a whole, of length zero, the number that it gives
    /// is when it began, in seconds since the Unix epoch, and it is number 0 here.
    pub(super) fn of(length: u64, recording: R) -> Self {
        let mut intervals = Intervals {
            recording,
            held: BTreeMap::new(),
            back: BTreeSet::new(),
            none: PacketCache::default(),
            first: None,
            began: None,
            length,
            recorded: None,
            silence: [0; 2],
            newest: None,
            last: None,
            has_ended: false,
            asked: None,
            unasked: 0,
            reading: Duration::ZERO,
            most: 0,
        };
        intervals.read();
        intervals.first = intervals.newest;
        intervals
    }

    fn read(&mut self) {
        let before = processor_time();
        match self.recording.next() {
            // A number that does not rise would be forgotten.
            Some((seconds, mut packets)) if self.length == 0 => {
                self.began.get_or_insert(AbsoluteTime { base: TimeBase::Unix, seconds });
                self.watch(0, &packets);
                self.extend(seconds.saturating_mul(NANOSECONDS), &packets);
                packets.move_behind(self.held.entry(0).or_default(), |_| true);
                self.newest = Some(0);
            }
            Some((number, mut packets)) => {
                let number = self.newest.map_or(number, |newest| newest.max(number));
                self.watch(number, &packets);
                self.extend(number.saturating_mul(self.length), &packets);
                packets.move_behind(self.held.entry(number).or_default(), |_| true);
                self.newest = Some(number);
            }
            None => self.has_ended = true,
        }
        self.reading += processor_time().saturating_sub(before);
        self.most = self.most.max(self.packets_held());
    }

    /// Notes an interval in which times go back, before packets of others are moved to it.
    fn watch(&mut self, number: u64, packets: &PacketCache) {
        let mut times = packets.sightings().into_iter().flatten().map(|(_, time)| time);
        let first = times.next();
        // A stamp that is wrong may be the last of its interval.
        if let (Some((before, last)), Some(first)) = (self.last, first)
            && i128::from(last.nanoseconds_since(first)) >= i128::from(WRONG_BY)
        {
            self.back.insert(before);
        }
        let mut last = first;
        let goes_back = times.any(|time| {
            let by = last.replace(time).map_or(0, |last| last.nanoseconds_since(time));
            i128::from(by) >= i128::from(WRONG_BY)
        });
        self.last = last.map(|last| (number, last)).or(self.last);
        if goes_back {
            self.back.insert(number);
        }
    }

    /// Notes from when to when packets of an interval that begins then were seen. A wrong stamp says nothing: one that lies outside of the
    /// interval, or so far ahead of the packet behind it.
    fn extend(&mut self, begin: u64, packets: &PacketCache) {
        let length = Some(self.length).filter(|length| *length > 0).unwrap_or(u64::MAX);
        let since = |time: Timestamp| time.nanoseconds_since(Timestamp::from_nanoseconds(begin));
        let seen =
            packets.sightings().into_iter().flatten().filter_map(|(_, time)| since(time).try_into().ok());
        let sound = seen.filter(|since: &u64| *since < length);
        let mut moments = sound.map(|since| begin.saturating_add(since)).peekable();
        while let Some(moment) = moments.next() {
            let moment = moments.peek().map_or(moment, |next| moment.min(*next));
            let [from, until] = self.recorded.unwrap_or([moment; 2]);
            if moment.saturating_sub(until) > self.silence[1] - self.silence[0] {
                self.silence = [until, moment];
            }
            self.recorded = Some([from.min(moment), until.max(moment)]);
        }
    }

    /// From when to when packets were seen, as far as they were read, and the longest time therein without one, in nanoseconds since the Unix
    /// epoch; zeros if it is not known.
    pub(super) fn recorded(&self) -> Recorded {
        Recorded { span: self.recorded.unwrap_or_default(), silence: self.silence }
    }

    fn packets_held(&self) -> u64 {
        self.held.values().map(|packets| packets.len() as u64).sum()
    }

    /// The first interval that has packets.
    pub(super) fn first(&self) -> Option<u64> {
        self.first
    }

    /// What there is to say of the clock in an interval that is held.
    pub(super) fn clock(&self, number: u64) -> Clock {
        Clock { began: self.began, goes_back: self.back.contains(&number) }
    }

    /// Goes on to an interval and forgets those more than one before it.
    ///
    /// # Errors
    ///
    /// [`ExchangeError::Full`]
    pub(super) fn go_to(&mut self, number: u64) -> Result<(), ExchangeError> {
        loop {
            let held = self.held.split_off(&number.saturating_sub(1));
            let forgotten = std::mem::replace(&mut self.held, held);
            let unasked =
                self.asked.and_then(|asked| asked.checked_add(1)).map(|behind| forgotten.range(behind..));
            self.unasked +=
                unasked.into_iter().flatten().map(|(_, packets)| packets.len() as u64).sum::<u64>();
            self.back = self.back.split_off(&number.saturating_sub(1));
            let is_full = |packets: &PacketCache| packets.sightings().is_none();
            if self.packets_held() > MOST_HELD || self.held.values().any(is_full) {
                return Err(ExchangeError::Full);
            }
            if self.has_ended || self.newest.is_some_and(|newest| newest > number) {
                return Ok(());
            }
            self.read();
        }
    }

    /// Goes on to the first interval from this one on that has packets.
    pub(super) fn next_from(&mut self, number: u64) -> Result<Option<u64>, ExchangeError> {
        self.go_to(number)?;
        let next = self.held.range(number..).next().map(|(number, _)| *number);
        // Whether it is whole is known from the one behind it.
        next.map_or(Ok(()), |next| self.go_to(next))?;
        Ok(next)
    }

    /// An interval is asked about.
    pub(super) fn note_asked(&mut self, number: u64) {
        self.asked = Some(number);
    }

    /// What is to be said of the recording. Nothing more can be asked of it then.
    pub(super) fn about(&mut self) -> About {
        let before = processor_time();
        self.has_ended = true;
        let about = About { unasked: self.unasked, ..self.recording.about() };
        self.reading += processor_time().saturating_sub(before);
        about
    }

    /// Whether a later interval has begun.
    pub(super) fn is_whole(&self, number: u64) -> bool {
        self.newest.is_some_and(|newest| newest > number)
    }

    /// The packets of an interval that is held.
    pub(super) fn packets(&self, number: u64) -> &PacketCache {
        self.held.get(&number).unwrap_or(&self.none)
    }

    /// The packets of two intervals that are held.
    pub(super) fn with_two<T>(
        &mut self,
        [one, other]: [u64; 2],
        work: impl FnOnce(&mut PacketCache, &mut PacketCache) -> T,
    ) -> T {
        let mut first = self.held.remove(&one).unwrap_or_default();
        let result = work(&mut first, self.held.entry(other).or_default());
        self.held.insert(one, first);
        result
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use deltaline_model::sketch::synopsis::Hashed;

    #[test]
    fn intervals_go_on_and_are_forgotten() {
        let packets = |number: u64| {
            let mut packets = PacketCache::default();
            let time = Timestamp::from_nanoseconds(1000 * number + 7);
            packets.remember(&[Hashed { hash: number, time, ..Hashed::default() }]);
            (number, packets)
        };
        let mut given = [3, 4, 5, 9, 8, 20].into_iter().map(packets);
        let mut intervals = Intervals::of(1000, || given.next());
        assert_eq!(intervals.first(), Some(3));
        intervals.go_to(4).unwrap();
        assert_eq!(intervals.recorded().span, [3007, 5007]);
        assert!(intervals.is_whole(4) && !intervals.is_whole(5));
        // 8 comes too late to be an interval of its own.
        assert_eq!(intervals.next_from(6).unwrap(), Some(9));
        assert_eq!(intervals.held.keys().copied().collect::<Vec<_>>(), [9, 20]);
        assert_eq!(intervals.recorded().silence, [9007, 20_007]);
        assert_eq!((intervals.packets(9).len(), intervals.is_whole(9)), (2, true));
        let both = intervals.with_two([9, 20], |nine, twenty| (nine.len(), twenty.len()));
        let next = [20, 21].map(|from| intervals.next_from(from).unwrap());
        assert_eq!((both, next), ((2, 1), [Some(20), None]));
        assert!(!intervals.is_whole(20));
        assert_eq!(intervals.most, 3);
    }
}
