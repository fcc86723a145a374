//! Succession: which delimiter ends an interval, and which is ignored.
//!
//! Delimiters are numbered, and only the next one counts. So one that arrives twice, late, out of order or forged does not end an
//! interval:
//!
//! ```text
//! the number that is due, of the same boot epoch          ends the interval
//! one above the candidate, of the candidate's boot epoch  ends it with a gap: the ones between were lost, or the sender restarted
//! another one                                             is ignored and counted; if it may be the first of a new
//!                                                         run, it becomes the candidate
//! ```
//!
//! What ends an interval by this rule may come while none can end, because the drain of the one before is not over: then it is
//! refused. The running interval has a gap from there on, and its number becomes the one behind.
//!
//! A request that ends an interval takes the candidate away, too.
//!
//! After a loss or a restart the second delimiter of the new run is the first that counts. A point that has not ended
//! an interval yet and has no key takes the first delimiter that it sees: its first interval has a gap anyway.
//!
//! A candidate is ahead of the number that is due, by serial-number arithmetic (RFC 1982), or of a later boot epoch. Without a
//! key, it may also be [`RECENT`] and more behind, or of any other boot epoch: senders that do not count their starts begin at zero
//! again. With a key, what ends an interval must have the right tag, and numbers of one epoch never return: a replay is of no use.
//! A candidate's own tag does not matter, because its successor's does. Until one has counted by its tag, the sender's epoch is not
//! known, and any delimiter is a candidate.
//!
//! So the only tags that matter are that of the delimiter that is due and that of the candidate's successor. The cores compute these
//! two beforehand.
//!
//! # Test plan
//!
//! Each rule by hand. Every delimiter up to five times, in any order within a window of [`RECENT`]: intervals rise by one or
//! have a gap, and none ends twice. Lost ones: exactly those up to the second of a run are missing. Restarts with epochs and without.
//! With a key: forged ones at any place change nothing; replays of whole runs change nothing.

/// So far behind, a delimiter is late or a copy; farther, without a key, its sender may have started again.
pub const RECENT: u32 = 64;

/// A delimiter's place in its sender's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// Boot epoch of the sender.
    pub epoch: u32,
    /// Number of the interval that it ends.
    pub number: u32,
}

/// What becomes of a delimiter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is the one that was due.
    Due,
    /// It ends the interval, but others are missing before it.
    Gap,
    /// It is not the next one.
    Ignored,
}

/// How far a delimiter can be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The point has no key.
    NoKey,
    /// Its tag is right.
    Authentic,
    /// The point has a key, and the tag is not right.
    Forged,
}

/// What is known of the sender of delimiters.
#[derive(Clone, Copy, Debug, Default)]
pub struct Succession {
    /// Of the last delimiter that counted.
    epoch: u32,
    /// That one's tag was right: the epoch is the sender's.
    is_known: bool,
    candidate: Option<Place>,
}

impl Succession {
    /// Decides on a delimiter while the interval `due` runs; `has_ended`: an interval has ended before.
    pub fn judge(&mut self, place: Place, due: u32, has_ended: bool, trust: Trust) -> Verdict {
        let is_due = place == Place { epoch: self.epoch, number: due };
        let is_next =
            |candidate: Place| place == Place { number: candidate.number.wrapping_add(1), ..candidate };
        let may_count = trust != Trust::Forged;
        let is_first = !has_ended && trust == Trust::NoKey;
        if may_count && (is_due || is_first || self.candidate.is_some_and(is_next)) {
            self.candidate = None;
            self.epoch = place.epoch;
            self.is_known = trust == Trust::Authentic;
            return if is_due { Verdict::Due } else { Verdict::Gap };
        }
        if self.may_begin_a_run(place, due, trust) {
            self.candidate = Some(place);
        }
        Verdict::Ignored
    }

    /// An interval has ended by a request: what was a candidate may be behind it.
    pub fn end_by_request(&mut self) {
        self.candidate = None;
    }

    fn may_begin_a_run(&self, place: Place, due: u32, trust: Trust) -> bool {
        let ahead = place.number.wrapping_sub(due) as i32;
        match (trust, place.epoch == self.epoch) {
            (_, true) if ahead > 0 => true,
            (Trust::NoKey, true) => ahead < -(RECENT as i32),
            (Trust::NoKey, false) => true,
            _ if !self.is_known => true,
            (_, is_same) => !is_same && place.epoch.wrapping_sub(self.epoch) as i32 > 0,
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    /// A point that takes delimiters, as far as their numbers go.
    #[derive(Default)]
    struct Point {
        succession: Succession,
        due: u32,
        has_ended: bool,
        ended: Vec<(u32, Verdict)>,
    }

    impl Point {
        fn take(&mut self, epoch: u32, number: u32, trust: Trust) -> Verdict {
            let verdict = self.succession.judge(Place { epoch, number }, self.due, self.has_ended, trust);
            if verdict != Verdict::Ignored {
                self.ended.push((number, verdict));
                (self.due, self.has_ended) = (number.wrapping_add(1), true);
            }
            verdict
        }

        fn take_all(&mut self, numbers: impl IntoIterator<Item = u32>) -> Vec<Verdict> {
            numbers.into_iter().map(|number| self.take(0, number, Trust::NoKey)).collect()
        }
    }

    use Verdict::{Due, Gap, Ignored};

    #[test]
    fn rules_by_hand() {
        let mut point = Point::default();
        // The first one, wherever it is; then those that are due; a copy; a lost one, whose successor's successor counts.
        assert_eq!(
            point.take_all([7, 8, 8, 7, 9, 11, 12, 13]),
            [Gap, Due, Ignored, Ignored, Due, Ignored, Gap, Due]
        );
        // A forged one far ahead, amid those that are due.
        assert_eq!(point.take_all([0x4000_0000, 14, 0x4000_0001, 15]), [Ignored, Due, Ignored, Due]);
        // A sender that starts again without an epoch: near, what is due comes; far, the second one counts.
        assert_eq!(point.take_all([0, 1, 14, 15, 16]), [Ignored, Ignored, Ignored, Ignored, Due]);
        point.due = 1000;
        assert_eq!(point.take_all([0, 1, 2]), [Ignored, Gap, Due]);
        // With an epoch, near as well.
        assert_eq!([0, 1, 2].map(|number| point.take(5, number, Trust::NoKey)), [Ignored, Gap, Due]);
        // Around the wrap.
        point.due = u32::MAX;
        assert_eq!(
            [u32::MAX, 0, u32::MAX, 1].map(|number| point.take(5, number, Trust::NoKey)),
            [Due, Due, Ignored, Due]
        );
    }

    #[test]
    fn a_key_decides_what_counts() {
        let mut point = Point::default();
        let authentic = |point: &mut Point, epoch, number| point.take(epoch, number, Trust::Authentic);
        assert_eq!([0, 1].map(|number| authentic(&mut point, 0, number)), [Due, Due]);
        assert_eq!(point.take(0, 2, Trust::Forged), Ignored);
        assert_eq!(authentic(&mut point, 0, 2), Due);
        // A run of a later start of the sender, led in by a forged one: the tag of the second counts.
        assert_eq!(point.take(3, 0, Trust::Forged), Ignored);
        assert_eq!(authentic(&mut point, 3, 1), Gap);
        // Replays of the run before, from any number on.
        for number in 0..2000 {
            assert_eq!(authentic(&mut point, 0, number), Ignored);
        }
        assert_eq!(authentic(&mut point, 3, 0), Ignored);
        assert_eq!(authentic(&mut point, 3, 2), Due);
    }

    /// Half of all epochs are behind zero, by serial-number arithmetic.
    #[test]
    fn any_epoch_begins_a_point_with_a_key() {
        for epoch in [0, 1, 1 << 31, (1 << 31) + 1, u32::MAX] {
            for is_requested in [false, true] {
                let mut point =
                    Point { due: is_requested.into(), has_ended: is_requested, ..Point::default() };
                // What is forged may come first, of whatever epoch, and takes nothing away for good.
                assert_eq!(point.take(epoch ^ 1 << 31, 9, Trust::Forged), Ignored);
                assert_eq!(
                    [7, 8, 9].map(|number| point.take(epoch, number, Trust::Authentic)),
                    [Ignored, Gap, Due]
                );
                // From here on earlier epochs are replays.
                for number in [20, 21] {
                    assert_eq!(point.take(epoch.wrapping_sub(1), number, Trust::Authentic), Ignored);
                }
            }
        }
    }

    proptest! {
        #[test]
        fn copies_and_disorder_end_no_interval_twice(
            offset: u32,
            // How far behind its turn each copy of each delimiter arrives.
            copies in proptest::collection::vec(proptest::collection::vec(0u32..RECENT - 1, 1..5), 50..200),
        ) {
            let mut arrivals: Vec<(u32, u32)> = vec_of(&copies);
            arrivals.sort_by_key(|(turn, _)| *turn);
            let mut point = Point { due: offset, has_ended: true, ..Point::default() };
            for (_, number) in arrivals {
                point.take(0, offset.wrapping_add(number), Trust::NoKey);
            }
            for pair in point.ended.windows(2) {
                let step = pair[1].0.wrapping_sub(pair[0].0);
                prop_assert!(step == 1 && pair[1].1 == Due || (1..1 << 31).contains(&step) && pair[1].1 == Gap);
            }
        }

        #[test]
        fn of_lost_ones_exactly_the_next_is_missing_too(lost in proptest::collection::vec(any::<bool>(), 10..200)) {
            let mut point = Point { has_ended: true, ..Point::default() };
            let mut expected = Vec::new();
            let mut due = 0;
            let mut run = 0;
            for (number, is_lost) in (0..).zip(&lost) {
                run = if *is_lost { 0 } else { run + 1 };
                // Due, or the second of a run.
                if !is_lost && (number == due || run >= 2) {
                    expected.push(number);
                    due = number + 1;
                }
                if !is_lost {
                    point.take(0, number, Trust::NoKey);
                }
            }
            prop_assert_eq!(point.ended.iter().map(|(number, _)| *number).collect::<Vec<_>>(), expected);
        }

        #[test]
        fn forged_ones_change_nothing_under_a_key(
            forged in proptest::collection::vec((0u32..3, any::<u32>(), 0u32..60), 0..300),
        ) {
            let mut point = Point { due: 0, ..Point::default() };
            for number in 0..60 {
                for (epoch, any_number, _) in forged.iter().filter(|(_, _, turn)| *turn == number) {
                    let near = number.wrapping_add(any_number % 5).wrapping_sub(2);
                    for number in [*any_number, near] {
                        prop_assert_eq!(point.take(*epoch, number, Trust::Forged), Ignored);
                    }
                }
                prop_assert_eq!(point.take(0, number, Trust::Authentic), Due);
            }
        }
    }

    fn vec_of(copies: &[Vec<u32>]) -> Vec<(u32, u32)> {
        (0..)
            .zip(copies)
            .flat_map(|(number, delays)| delays.iter().map(move |delay| (number + delay, number)))
            .collect()
    }
}
