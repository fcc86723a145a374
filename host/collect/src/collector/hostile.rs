//! Frames that nobody vouches for: forged, repeated, replayed, delayed, far off, very many.

use super::tests::{SETTINGS, end, live, numbers_and_voids, observe, point, prompt, rewritten};
use super::*;
use crate::evaluation::Evaluation;
use crate::verdict::misdated;
use deltaline_model::configuration::Settings;
use deltaline_model::point::{IntervalEnd, MeasurementPoint};
use deltaline_model::sketch::cell::Cell;
use deltaline_model::time::{AbsoluteTime, TimeBase};
use deltaline_model::wire::authentication::{Key, Keys};
use deltaline_model::wire::frame::Totals;
use proptest::prelude::*;
use std::num::NonZeroU16;

/// A segment whose interval is one frame.
const SMALL: Settings<'_> = Settings { rows: 8, prefixes: &[0], ..SETTINGS };

/// The frames of one end's interval of this number, with what the point held.
fn interval(point: &mut MeasurementPoint, number: u32) -> (Vec<Vec<u8>>, (Totals, Vec<Cell>)) {
    let held = (point.totals(0), point.cells::<Cell>());
    let mut frames = vec![];
    point.end_interval_at(number, |frame| frames.push(frame.to_vec()));
    (frames, held)
}

/// Both ends' frames, interval by interval, numbered from `first` on: ten packets in each.
fn run(settings: Settings, first: u32, intervals: u32, epoch: u32) -> Vec<Vec<u8>> {
    let mut ends = [Role::Sender, Role::Receiver].map(|role| point(settings, role));
    let mut frames = vec![];
    for interval in 0..intervals {
        for (role, point) in ends.iter_mut().enumerate() {
            point.set_boot_epoch(epoch);
            observe(point, 10 * interval..10 * interval + 10, 7 * role as u64);
            frames.extend(self::interval(point, first.wrapping_add(interval)).0);
        }
    }
    frames
}

/// One frame of an end that has seen nothing.
fn forged(role: Role, segment: u32, number: u32, epoch: u32) -> Vec<u8> {
    let mut point = point(Settings { segment, ..SMALL }, role);
    point.set_boot_epoch(epoch);
    interval(&mut point, number).0.remove(0)
}

/// Numbers of all that is handed out while frames come, and whether they are usable.
fn followed(collector: &mut Collector, frames: &[Vec<u8>]) -> Vec<(u32, bool)> {
    let mut found = vec![];
    for frame in frames {
        collector.push(frame);
        found.extend(numbers_and_voids(&collector.take_settled()));
    }
    found
}

/// Of consecutive intervals all but the first, which has a gap.
fn usable(first: u32, intervals: u32) -> Vec<(u32, bool)> {
    (0..intervals).map(|number| (first.wrapping_add(number), number > 0)).collect()
}

#[test]
fn one_far_number_at_any_place_changes_nothing() {
    for first in [5, u32::MAX - 3] {
        let frames = run(SMALL, first, 8, 0);
        for far in [1 << 31, (1 << 31) - 1, 1 << 20, 100, 14, u32::MAX - 40] {
            for at in 0..=frames.len() {
                let mut frames = frames.clone();
                frames.insert(at, forged(Role::Sender, SMALL.segment, first.wrapping_add(far), 0));
                let mut collector = prompt();
                assert_eq!(followed(&mut collector, &frames), usable(first, 8), "{far} at {at}");
                assert_eq!(collector.finish().counts, Counts { frames: 17, stray: 1, ..Counts::default() });

                let mut collector = Collector::default();
                frames.iter().for_each(|frame| collector.push(frame));
                let collected = collector.finish();
                assert_eq!(numbers_and_voids(&collected.intervals), usable(first, 8), "{far} at {at}");
                assert_eq!(collected.counts.stray, 1);
            }
        }
    }
}

#[test]
fn a_far_number_that_is_confirmed_is_a_jump_or_a_restart() {
    for (next, restarts) in [(1000, 0), (5u32.wrapping_sub(1000), 1), (0, 1)] {
        let frames = [run(SMALL, 5, 6, 0), run(SMALL, next, 6, 0)].concat();
        let mut collector = prompt();
        let expected = [usable(5, 6), usable(next, 6)].concat();
        let mut found = followed(&mut collector, &frames);
        found.extend(numbers_and_voids(&collector.take_settled()));
        assert_eq!((found, collector.counts().restarts), (expected, restarts), "{next}");
        assert_eq!(collector.counts().stray, 0);
    }
}

/// As [`run`], with other packets and an absolute time, which is later by a second an interval.
fn later_run(first: u32, intervals: u32, epoch: u32, seconds: u64) -> Vec<Vec<u8>> {
    let mut ends = [Role::Sender, Role::Receiver].map(|role| point(SMALL, role));
    let mut frames = vec![];
    for interval in 0..intervals {
        let seconds = seconds + u64::from(interval);
        for (role, point) in ends.iter_mut().enumerate() {
            point.set_boot_epoch(epoch);
            point.set_time(Some(AbsoluteTime { base: TimeBase::Tai, seconds }));
            observe(point, 5000 + 10 * interval..5010 + 10 * interval, 9 * role as u64);
            frames.extend(self::interval(point, first.wrapping_add(interval)).0);
        }
    }
    frames
}

/// Both ends start again, and their numbers start over. The last frame of an end's first start comes late, in the second one, whose own frame of
/// that number comes late as well.
#[test]
fn ends_of_two_starts_make_no_interval() {
    for role in 0..2 {
        for (late, later) in [(1, 2), (2, 3), (3, 2), (5, 3)] {
            let (mut old, mut new) = (run(SMALL, 0, 15, 1), run(SMALL, 0, 25, 2));
            let last = old.remove(28 + role);
            let own = new.remove(28 + role);
            new.insert(28 + role + later, own);
            new.insert(late, last);
            let mut collector = prompt();
            followed(&mut collector, &old);
            let found = followed(&mut collector, &new);
            // The late frame may have completed its own interval before.
            let of_second = found.iter().rfind(|(number, _)| *number == 14);
            assert_eq!(of_second, Some(&(14, false)), "{role} {late}: {found:?}");
            assert!(found.iter().filter(|(_, is_usable)| *is_usable).count() > 15, "{found:?}");
        }
    }
}

/// Without key and epoch: late copies of what was handed out before a restart, near the numbers that are due and far from them.
#[test]
fn copies_from_before_a_restart_count_no_second_time() {
    let (old, new) = (run(SMALL, 0, 12, 0), later_run(0, 8, 0, 1));
    for copied in [3, 9] {
        for at in 4..10 {
            let mut collector = prompt();
            let before = followed(&mut collector, &old);
            assert_eq!(before, usable(0, 12));
            let copies = &old[2 * copied..2 * copied + 2];
            let frames = [&new[..at], copies, &new[at..], copies].concat();
            let mut found = followed(&mut collector, &frames);
            found.extend(numbers_and_voids(&collector.take_settled()));
            assert_eq!(found, usable(0, 8), "{copied} {at}");
            assert_eq!((collector.counts().late, collector.counts().restarts), (4, 1));
        }
    }
}

/// An end that has not started again: old frames of its epoch with higher numbers hide what is due until that is seen to be newer.
#[test]
fn a_replay_of_higher_numbers_is_left_for_frames_of_later_times() {
    // The sender's counter began anew at its start; the receiver goes on in its epoch.
    let old = later_run(1000, 4, 7, 100);
    let new = later_run(100, 12, 7, 5000);
    let mut collector = prompt();
    let frames = [&new[..8], &old[..], &new[8..]].concat();
    let mut found = followed(&mut collector, &frames);
    found.extend(numbers_and_voids(&collector.take_settled()));
    let numbers: Vec<u32> = found.iter().map(|(number, _)| *number).filter(|number| *number < 1000).collect();
    assert_eq!(numbers, (100..112).collect::<Vec<_>>(), "{found:?}");
    // Without times nothing shows which of them are newer, and they are counted.
    let untimed = |frames: &[Vec<u8>]| -> Vec<Vec<u8>> {
        frames.iter().map(|frame| rewritten(frame, |header| header.time = None)).collect()
    };
    let mut collector = prompt();
    followed(&mut collector, &[untimed(&new[..8]), untimed(&old), untimed(&new[8..])].concat());
    assert_eq!(collector.counts().replayed, 16);
}

/// What sends delimiters begins anew, the points go on: numbers come again, and signed frames of the first time with them.
#[test]
fn frames_of_numbers_that_come_again_are_dated_back() {
    let doubted = |of: [bool; 2]| {
        let ends = [Role::Sender, Role::Receiver].into_iter().zip(of).filter(|(_, is_old)| *is_old);
        ends.map(|(role, _)| Doubt::DatedBack { role }).collect::<Vec<_>>()
    };
    let (old, new) = (later_run(0, 90, 7, 100), later_run(0, 12, 7, 5000));
    for replayed in [[true, true], [true, false], [false, true], [false, false]] {
        let mut collector = prompt();
        followed(&mut collector, &old);
        let mut frames = new.clone();
        for number in 5..9 {
            (0..2).filter(|role| replayed[*role]).for_each(|role| {
                frames[2 * number + role] = old[2 * number + role].clone();
            });
        }
        let mut found = vec![];
        for frame in &frames {
            collector.push(frame);
            found.extend(collector.take_settled());
        }
        found.extend(collector.take_settled());
        assert_eq!(found.len(), 12);
        for interval in &found {
            let doubts: Vec<Doubt> = interval
                .doubts
                .iter()
                .copied()
                .filter(|doubt| matches!(doubt, Doubt::DatedBack { .. }))
                .collect();
            let expected = if (5..9).contains(&interval.number) { doubted(replayed) } else { vec![] };
            // Ends that have not seen the same may be void for that.
            assert!(
                doubts == expected || interval.void.is_some(),
                "{replayed:?} {}: {doubts:?}",
                interval.number
            );
        }
        // All but the first one where the ends have seen the same.
        let usable = found.iter().filter(|interval| interval.void.is_none()).count();
        assert!(usable == 11 || replayed[0] != replayed[1] && usable >= 7, "{replayed:?}: {usable}");
    }
}

/// A report of one end's earlier start meets that of the other end's next one: signed frames that somebody has kept, or those of a network that did.
#[test]
fn reports_of_different_days_are_doubted() {
    let (old, new) = (later_run(0, 8, 7, 100), later_run(0, 8, 7, 86_500));
    for (sender, receiver, apart) in
        [(&old, &new, Some(86_400)), (&new, &old, Some(86_400)), (&new, &new, None)]
    {
        let mut collector = prompt();
        let mut found = vec![];
        for number in 0..8 {
            collector.push(&sender[2 * number]);
            collector.push(&receiver[2 * number + 1]);
            found.extend(collector.take_settled());
        }
        found.extend(collector.take_settled());
        assert_eq!(found.len(), 8);
        for interval in found.iter().filter(|interval| interval.void.is_none()) {
            let doubts = interval.doubts.iter().filter_map(|doubt| match doubt {
                Doubt::DatedApart { seconds } => Some(*seconds),
                _ => None,
            });
            assert_eq!(doubts.collect::<Vec<_>>(), apart.into_iter().collect::<Vec<_>>());
        }
        assert!(found.iter().filter(|interval| interval.void.is_none()).count() >= 7);
    }
}

/// Control frames that somebody has kept, and sends to one who has seen none of them: each is as it was signed, but for when it comes.
#[test]
fn control_frames_of_another_time_are_doubted() {
    // The first second of 2026.
    let (unix, atomic) = (1_767_225_600, 1_767_225_637);
    let mut collector = prompt();
    later_run(0, 1, 7, atomic).iter().for_each(|frame| collector.push(frame));
    let interval = collector.take_settled().remove(0);
    let role = Role::Sender;
    for came in [unix - 599, unix, unix + 599] {
        assert_eq!(misdated(&interval, came), None, "{came}");
    }
    let (early, late) = (misdated(&interval, unix - 600), misdated(&interval, unix + 86_400));
    assert_eq!(early, Some(Doubt::Misdated { role, by: 600, is_ahead: true }));
    assert_eq!(late, Some(Doubt::Misdated { role, by: 86_400, is_ahead: false }));
    let mut undated = prompt();
    run(SMALL, 0, 1, 0).iter().for_each(|frame| undated.push(frame));
    assert_eq!(misdated(&undated.take_settled()[0], unix), None);
}

/// A point that starts again while its clock is behind dates back what nobody doubts: its boot epoch says that it is new.
#[test]
fn a_start_with_an_earlier_clock_is_not_dated_back() {
    let mut collector = prompt();
    followed(&mut collector, &later_run(0, 20, 7, 5000));
    let mut found = vec![];
    for frame in later_run(0, 12, 8, 100) {
        collector.push(&frame);
        found.extend(collector.take_settled());
    }
    found.extend(collector.take_settled());
    assert_eq!(found.len(), 12);
    let is_dated_back = |doubt: &Doubt| matches!(doubt, Doubt::DatedBack { .. });
    assert!(found.iter().flat_map(|interval| &interval.doubts).all(|doubt| !is_dated_back(doubt)));
}

/// A live source that is left: what is whole is handed out, with a doubt, and what is not stays.
#[test]
fn what_is_whole_at_the_end_is_handed_out_with_a_doubt() {
    let frames = run(SMALL, 0, 4, 0);
    let mut collector = Collector::default();
    assert_eq!(followed(&mut collector, &frames[..7]), usable(0, 2));
    let left = collector.take_whole();
    assert_eq!(numbers_and_voids(&left), [(2, true)]);
    assert_eq!(left[0].doubts, [Doubt::Unconfirmed]);
    assert_eq!(numbers_and_voids(&collector.take_whole()), []);
    assert_eq!(collector.counts().under_way, 1);
}

/// A live source that is left while an interval lacks a frame: those behind it are handed out all the same, and it is void.
#[test]
fn what_is_behind_an_incomplete_interval_is_not_lost_at_the_end() {
    let mut frames = run(SMALL, 0, 6, 0);
    frames.truncate(11);
    frames.remove(5);
    let mut collector = Collector::default();
    let mut found = followed(&mut collector, &frames);
    found.extend(numbers_and_voids(&collector.take_whole()));
    // The first one has a gap.
    assert_eq!(found, [(0, false), (1, true), (2, false), (3, true), (4, true)]);
    assert_eq!(collector.counts().under_way, 1);
}

/// A delimiter reaches the receiver twice, at a point that does not ignore the second: what was printed as a loss of a fifth.
#[test]
fn a_delimiter_that_counts_twice_at_an_end_voids_both_sides() {
    for early in [false, true] {
        let mut ends = [Role::Sender, Role::Receiver].map(|role| point(SMALL, role));
        let mut frames = vec![];
        for number in 0..5u32 {
            observe(&mut ends[0], 100 * number..100 * (number + 1), 0);
            frames.extend(interval(&mut ends[0], number).0);
            if number == 2 {
                observe(&mut ends[1], 200..220, 50);
                frames.extend(interval(&mut ends[1], if early { 2 } else { 1 }).0);
                observe(&mut ends[1], 220..300, 50);
            } else {
                observe(&mut ends[1], 100 * number..100 * (number + 1), 50);
            }
            frames.extend(interval(&mut ends[1], number).0);
        }
        // Held back, every neighbour of the cut is void; not held back, whatever has not been handed out.
        let finished = {
            let mut collector = Collector::default();
            frames.iter().for_each(|frame| collector.push(frame));
            numbers_and_voids(&collector.finish().intervals)
        };
        let voids = if early { [0, 2, 3] } else { [0, 1, 2] };
        let expected: Vec<(u32, bool)> = (0..5).map(|number| (number, !voids.contains(&number))).collect();
        assert_eq!(finished, expected);
        let mut collector = Collector::default();
        let mut live = followed(&mut collector, &frames);
        live.extend(numbers_and_voids(&collector.finish().intervals));
        assert_eq!(live, expected);
        if !early {
            let expected: Vec<(u32, bool)> =
                (0..5).map(|number| (number, ![0, 2].contains(&number))).collect();
            assert_eq!(followed(&mut prompt(), &frames), expected);
        }
    }
}

/// Points that ignore what is not due count it; the interval before may have been cut short by a forged delimiter.
#[test]
fn ignored_delimiters_void_both_sides_with_a_key_too() {
    for key in [0, 3] {
        let frames: Vec<Vec<u8>> = live(4)
            .into_iter()
            .map(|bytes| {
                rewritten(&bytes, |header| {
                    header.key = key;
                    if (header.interval, header.role) == (2, Role::Receiver) {
                        header.totals.ignored_delimiters = 1;
                    }
                })
            })
            .collect();
        let mut collector = Collector::default();
        frames.iter().for_each(|frame| collector.push(frame));
        let found: Vec<bool> = collector.finish().intervals.iter().map(|each| each.void.is_none()).collect();
        assert_eq!(found, [true, false, false, true]);
    }
}

#[test]
fn with_epochs_what_is_older_is_a_replay() {
    let (old, new) = (run(SMALL, 100, 6, 1), run(SMALL, 0, 6, 2));
    let mut collector = prompt();
    assert_eq!(followed(&mut collector, &old), usable(100, 6));
    // Intervals that are remembered come late; others are replays. Neither restarts anything.
    let far_back = run(SMALL, 10, 6, 1);
    assert_eq!(followed(&mut collector, &[&old[..], &far_back[..]].concat()), []);
    assert_eq!((collector.counts().late, collector.counts().replayed), (12, 12));
    let mut found = followed(&mut collector, &new);
    found.extend(numbers_and_voids(&collector.take_settled()));
    assert_eq!(found, usable(0, 6));
    // The run of the epoch before, whole and with numbers that are due.
    assert_eq!(followed(&mut collector, &old), []);
    assert_eq!(followed(&mut collector, &run(SMALL, 6, 3, 1)), []);
    assert_eq!(followed(&mut collector, &run(SMALL, 6, 3, 0)), []);
    let counts = collector.counts();
    assert_eq!((counts.restarts, counts.late, counts.replayed), (1, 12, 12 + 12 + 6 + 6));
    let after = run(SMALL, 6, 2, 2);
    assert_eq!(followed(&mut collector, &after), usable(6, 2));
}

fn key() -> Key {
    Key::new(NonZeroU16::MIN, [7; 16])
}

fn keys() -> Keys {
    let mut keys = Keys::default();
    assert!(keys.add(key()));
    keys
}

/// The same frames, signed.
fn signed(frames: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    frames.iter().map(|bytes| signed_with(&key(), bytes)).collect()
}

/// A frame, signed with this key.
fn signed_with(key: &Key, bytes: &[u8]) -> Vec<u8> {
    let mut bytes = rewritten(bytes, |header| header.key = key.id());
    key.sign(&mut bytes);
    bytes
}

/// The same, from an interval on signed with a second key.
fn signed_in_turn(frames: Vec<Vec<u8>>, from: u32) -> Vec<Vec<u8>> {
    let sign = |bytes: &Vec<u8>| {
        let key = if Frame::decode(bytes).unwrap().header.interval < from { key() } else { next_key() };
        signed_with(&key, bytes)
    };
    frames.iter().map(sign).collect()
}

fn next_key() -> Key {
    Key::new(NonZeroU16::new(2).unwrap(), [8; 16])
}

/// Both ends change keys for the same interval. Who has the old one keeps back frames of one end, or of both, and signs others in their place; in
/// any order, live or recorded, and with its own frames beside the genuine ones.
#[test]
fn a_key_that_is_not_in_use_any_more_signs_nothing() {
    let mut keys = keys();
    assert!(keys.add(next_key()));
    let genuine = signed_in_turn(run(SMALL, 0, 20, 0), 10);
    let of = |frames: &[Vec<u8>], is_live: bool| {
        let mut collector = Collector::default().authenticated_by(keys.clone());
        let mut found = vec![];
        for frame in frames {
            collector.push(frame);
            if is_live {
                found.extend(collector.take_settled());
            }
        }
        found.extend(collector.finish().intervals);
        found
    };
    let usable_ones = |found: &[Interval]| -> Vec<u32> {
        found.iter().filter(|interval| interval.pair().is_ok()).map(|interval| interval.number).collect()
    };
    for is_live in [true, false] {
        assert_eq!(usable_ones(&of(&genuine, is_live)), (1..20).collect::<Vec<_>>(), "{is_live}");
        for (roles, is_beside) in [(0..1, false), (1..2, false), (0..2, false), (0..2, true)] {
            let mut frames = genuine.clone();
            for role in roles.clone().rev() {
                let at = 2 * 15 + role;
                let other = rewritten(&genuine[at], |header| header.totals.packets += 1);
                let forged = signed_with(&key(), &other);
                if is_beside {
                    frames.insert(at, forged);
                } else {
                    frames[at] = forged;
                }
            }
            let found = of(&frames, is_live);
            let case = format!("{is_live} {roles:?} {is_beside}");
            // Two reports of one number make the one behind it void, too.
            let expected = (1..20).filter(|number| *number != 15 && !(is_beside && *number == 16));
            assert_eq!(usable_ones(&found), expected.collect::<Vec<_>>(), "{case}");
            let is_said =
                found.iter().any(|interval| matches!(interval.void, Some(Void::OldKey { key: 1, .. })));
            assert_eq!(is_said, !is_beside, "{case}");
        }
        // A key that comes into use at one end alone.
        let late = signed_in_turn(run(SMALL, 0, 20, 0), 12);
        let ends = genuine.iter().zip(&late).enumerate();
        let frames: Vec<_> =
            ends.map(|(at, (one, other))| if at % 2 == 0 { one } else { other }.clone()).collect();
        let expected = (1..20).filter(|number| ![10, 11].contains(number));
        assert_eq!(usable_ones(&of(&frames, is_live)), expected.collect::<Vec<_>>(), "{is_live}");
    }
}

/// The frames of both ends, with the boot epoch of one of them changed.
fn in_epoch(frames: Vec<Vec<u8>>, role: Role, epoch: u32) -> Vec<Vec<u8>> {
    let change = |header: &mut Header| {
        if header.role == role {
            header.boot_epoch = epoch;
        }
    };
    frames.iter().map(|bytes| rewritten(bytes, change)).collect()
}

/// What ends are said to report again.
fn again(collector: &mut Collector) -> Vec<(Role, u32)> {
    let of = |problem| match problem {
        Problem::Again { role, passed, .. } => Some((role, passed)),
        _ => None,
    };
    collector.take_problems().into_iter().filter_map(of).collect()
}

/// What sends delimiters begins anew, the points go on and sign numbers that they have signed before. Who recorded the first run drops what
/// he likes of the second, at both ends or one, and sends the old frames instead, those of idle intervals among them: none of these is taken,
/// whether the points count their starts or not. Without times nothing of the second run is, until numbers are higher or points start anew.
#[test]
fn with_a_key_no_number_of_a_start_comes_again() {
    for (epoch, has_times, is_idle) in [0, 7].into_iter().flat_map(|epoch| {
        [(false, false), (false, true), (true, false), (true, true)].map(|(a, b)| (epoch, a, b))
    }) {
        let made = |first, intervals, seconds: u64| match has_times {
            true => later_run(first, intervals, epoch, seconds),
            false => run(SMALL, first, intervals, epoch),
        };
        let idle = |header: &mut Header| header.totals.packets *= u64::from(!is_idle);
        let old = signed(made(0, 90, 100).iter().map(|bytes| rewritten(bytes, idle)).collect());
        let (new, next) = (signed(made(0, 12, 5000)), signed(made(90, 4, 6000)));
        for replayed in [[true, true], [false, true], [false, false]] {
            let mut collector = Collector::default().authenticated_by(keys());
            let mut found = followed(&mut collector, &old);
            let mut frames = new.clone();
            for number in 5..9 {
                (0..2).filter(|role| replayed[*role]).for_each(|role| {
                    frames[2 * number + role] = old[2 * number + role].clone();
                });
            }
            again(&mut collector);
            found.extend(followed(&mut collector, &frames));
            let said = again(&mut collector);
            let is_said = |role: Role| !has_times || replayed[role as usize];
            let ends = [Role::Sender, Role::Receiver].into_iter().filter(|role| is_said(*role));
            assert_eq!(said, ends.map(|role| (role, 89)).collect::<Vec<_>>());
            let count = if has_times { 4 * replayed.iter().filter(|is| **is).count() as u64 } else { 24 };
            assert_eq!(collector.counts().replayed, count);
            // It goes on where numbers are higher.
            found.extend(followed(&mut collector, &next));
            found.extend(numbers_and_voids(&collector.finish().intervals));
            let (first, second) = found.split_at(90);
            assert!(first.iter().map(|(number, _)| *number).eq(0..90));
            let is_taken = |number: &u32| match (has_times, replayed) {
                (false, _) => *number >= 90,
                (true, [true, _]) => !(5..9).contains(number),
                (true, _) => true,
            };
            let expected: Vec<u32> = (0..12).chain(90..94).filter(is_taken).collect();
            assert_eq!(second.iter().map(|(number, _)| *number).collect::<Vec<_>>(), expected);
            let wrong = second
                .iter()
                .filter(|(number, is_usable)| *is_usable && replayed[1] && (5..9).contains(number));
            assert_eq!(wrong.count(), 0, "{second:?}");
        }
        // Or in a new start of both.
        let mut collector = Collector::default().authenticated_by(keys());
        followed(&mut collector, &old);
        let ends = [Role::Sender, Role::Receiver].into_iter();
        let anew = signed(ends.fold(made(0, 12, 5000), |frames, role| in_epoch(frames, role, epoch + 1)));
        let mut found = followed(&mut collector, &[&anew[..], &old[10..18]].concat());
        found.extend(numbers_and_voids(&collector.finish().intervals));
        found.retain(|(number, _)| *number < 12);
        assert_eq!(found, usable(0, 12));
    }
}

/// Numbers start over twice, and times tell: neither run's frames pass for those of a later one.
/// Signed frames of an earlier start, with other numbers, are sent again between those of a later one: of a recording they are as few as
/// of a live source. A point that does start again while the recording is made keeps both its starts.
#[test]
fn with_a_key_a_recording_holds_no_earlier_start_behind_a_later_one() {
    let (new, old) = (signed(run(SMALL, 200, 20, 5)), signed(run(SMALL, 120, 17, 4)));
    let mixed = new[6..].chunks(2).zip(old.chunks(2)).flat_map(|(new, old)| [new, old].concat());
    let frames: Vec<Vec<u8>> = new[..6].iter().cloned().chain(mixed).collect();
    let recorded = |frames: &[Vec<u8>]| {
        let mut collector = Collector::default().authenticated_by(keys()).within(Limits::recording());
        frames.iter().for_each(|frame| collector.push(frame));
        collector.finish()
    };
    let collected = recorded(&frames);
    assert_eq!(numbers_and_voids(&collected.intervals), usable(200, 20));
    assert_eq!(collected.counts.replayed, 34);
    let collected = recorded(&[old, new].concat());
    assert_eq!(numbers_and_voids(&collected.intervals), [usable(120, 17), usable(200, 20)].concat());
    assert_eq!(collected.counts.replayed, 0);
}

#[test]
fn with_a_key_times_tell_runs_apart_that_have_the_same_numbers() {
    let runs = [100, 5000, 9000].map(|seconds| signed(later_run(0, 30, 7, seconds)));
    let mut collector = Collector::default().authenticated_by(keys());
    let mut found: Vec<_> = runs[..2].iter().flat_map(|frames| followed(&mut collector, frames)).collect();
    let (begun, rest) = runs[2].split_at(40);
    // Of the runs before, what is due by its number, and beyond.
    let replayed = [&runs[0][40..48], &runs[1][40..48], &runs[1][58..]].concat();
    found.extend(followed(&mut collector, &[begun, &replayed, rest].concat()));
    found.extend(numbers_and_voids(&collector.finish().intervals));
    assert_eq!(found, [usable(0, 30), usable(0, 30), usable(0, 30)].concat());
}

/// A sender in line starts anew, with its numbers, and the receiver goes on: its old frames would pass for new ones. Once it has a new boot
/// epoch, too, intervals are usable.
#[test]
fn with_a_key_one_ends_start_takes_the_other_end_back_to_no_number() {
    let old = signed(run(SMALL, 100, 80, 3));
    let unlike = |intervals| later_run(100, intervals, 3, 5000);
    let (new, both) = (in_epoch(unlike(12), Role::Sender, 4), in_epoch(unlike(24), Role::Sender, 4));
    let (new, both) = (signed(new), signed(in_epoch(both, Role::Receiver, 4)));
    let mut collector = Collector::default().authenticated_by(keys());
    followed(&mut collector, &old);
    again(&mut collector);
    // The receiver's frames of the first run in the place of its own.
    let mut frames = new.clone();
    (0..12).for_each(|number| frames[2 * number + 1] = old[2 * number + 1].clone());
    let found = followed(&mut collector, &frames);
    assert!(found.iter().all(|(number, is_usable)| *number == 179 || !is_usable), "{found:?}");
    assert_eq!(again(&mut collector), [(Role::Receiver, 179)]);
    assert_eq!(collector.counts().replayed, 12);
    let mut found = followed(&mut collector, &both[24..]);
    found.extend(numbers_and_voids(&collector.finish().intervals));
    found.retain(|(number, _)| *number >= 112);
    assert_eq!(found, (112..124).map(|number| (number, true)).collect::<Vec<_>>());
}

/// A board's word that it begins anew is not signed.
#[test]
fn with_a_key_an_unsigned_reset_makes_no_old_frame_new() {
    let old = signed(run(SMALL, 0, 6, 7));
    let mut collector = Collector::default().authenticated_by(keys());
    assert_eq!(followed(&mut collector, &old), usable(0, 5));
    collector.restart_all();
    assert_eq!(numbers_and_voids(&collector.take_settled()), [(5, true)]);
    assert_eq!(followed(&mut collector, &old), []);
    let mut found = followed(&mut collector, &signed(run(SMALL, 6, 4, 7)));
    found.extend(numbers_and_voids(&collector.finish().intervals));
    assert_eq!(found.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [6, 7, 8, 9]);
}

/// With a key, and live: frames of an earlier start, however few of the new one have come, change nothing.
#[test]
fn with_a_key_the_first_frames_of_a_start_end_the_one_before() {
    let (old, new) = (signed(run(SMALL, 1_000_000, 8, 100)), signed(run(SMALL, 57, 20, 101)));
    // Of one end, of both, of one number and of two.
    for replayed in [&old[12..13], &old[12..14], &old[12..16], &[old[12].clone(), old[14].clone()]] {
        for known in [&old[..], &[], replayed] {
            for at in 2..6 {
                let mut collector = Collector::default().authenticated_by(keys());
                let frames =
                    [known, &new[..at], replayed, &new[at..at + 2], replayed, &new[at + 2..]].concat();
                let mut found = followed(&mut collector, &frames);
                found.extend(numbers_and_voids(&collector.finish().intervals));
                found.retain(|(number, _)| *number < 1_000_000);
                assert_eq!(found, usable(57, 20), "{at}");
            }
        }
    }
}

/// The sender starts again, its delimiters take the receiver along, which has not started again.
#[test]
fn an_end_that_restarts_takes_the_other_one_along() {
    let mut collector = prompt();
    followed(&mut collector, &run(SMALL, 100, 6, 1));
    let mut again = run(SMALL, 0, 5, 2);
    for bytes in &mut again {
        *bytes = rewritten(bytes, |header| {
            if header.role == Role::Receiver {
                header.boot_epoch = 1;
            }
        });
    }
    let mut found = followed(&mut collector, &again);
    found.extend(numbers_and_voids(&collector.take_settled()));
    found.extend(numbers_and_voids(&collector.finish().intervals));
    // The receiver's first one came before two of the sender's frames had agreed.
    assert_eq!(found, [(0, false), (1, true), (2, true), (3, true), (4, true)]);
}

#[test]
fn what_is_pending_ages() {
    let seconds = Duration::from_secs;
    let frames = run(SMALL, 0, 3, 0);
    let mut collector = Collector::default().waiting_for_ends();
    // Of the receiver interval 0 alone has come. A stray is among them.
    for frame in [0, 1, 2, 4].map(|index| &frames[index]) {
        collector.push(frame);
    }
    collector.push(&forged(Role::Sender, 9, 3, 0));
    assert_eq!(collector.take_settled(), []);
    collector.advance(seconds(1));
    assert_eq!(numbers_and_voids(&collector.take_settled()), [(0, false)]);
    collector.advance(seconds(59));
    assert_eq!((collector.take_settled(), collector.counts().stray), (vec![], 0));
    collector.advance(seconds(60));
    assert_eq!(numbers_and_voids(&collector.take_settled()), [(1, false), (2, false)]);
    assert_eq!(collector.counts().stray, 1);
    // A clock that goes back stands still.
    collector.advance(seconds(1));
    assert_eq!((collector.now, collector.timers.len()), (seconds(60), 0));
    assert_eq!(collector.bytes(), SEGMENT_BYTES);
}

/// Both ends report an interval a second, and from the fourth one on the sender alone.
#[test]
fn an_end_that_dies_leaves_no_interval_open() {
    let mut collector = Collector::default();
    let mut points = [Role::Sender, Role::Receiver].map(|role| point(SETTINGS, role));
    let mut found = collector.take_settled();
    for number in 0..6u32 {
        collector.advance(Duration::from_secs(number.into()));
        for (delay, point) in points.iter_mut().enumerate().take(if number < 3 { 2 } else { 1 }) {
            observe(point, 10 * number..10 * number + 10, delay as u64);
            end(point, IntervalEnd::Delimiter).iter().for_each(|frame| collector.push(frame));
        }
        found.extend(collector.take_settled());
    }
    // A second, and twice as long as it took, behind the last one.
    for (seconds, open) in [(7, 1), (8, 0)] {
        collector.advance(Duration::from_secs(seconds));
        found.extend(collector.take_settled());
        assert_eq!(found.len(), 6 - open, "{seconds}");
    }
    for (number, interval) in (0..).zip(&found) {
        let void = (number >= 3).then_some(Void::MissingEnd { role: Role::Receiver });
        assert_eq!((interval.number, &interval.void), (number, &void));
    }
}

/// Held back for its grace and twice as long as it took, unless both ends go on before.
#[test]
fn a_whole_interval_is_held_back_for_its_grace() {
    let frames = run(SMALL, 0, 2, 0);
    let mut collector = Collector::default().waiting_for_ends();
    assert_eq!(followed(&mut collector, &frames[..3]), []);
    collector.advance(Duration::from_millis(999));
    assert_eq!(collector.take_settled(), []);
    collector.advance(Duration::from_secs(1));
    assert_eq!(numbers_and_voids(&collector.take_settled()), [(0, false)]);
    assert_eq!(followed(&mut collector, &frames[3..]), []);
    collector.advance(Duration::from_millis(3999));
    assert_eq!(collector.take_settled(), []);
    collector.advance(Duration::from_secs(4));
    let [interval] = &collector.take_settled()[..] else { panic!("one interval") };
    assert_eq!((interval.number, interval.heard), (1, Duration::from_secs(1)));
}

/// Intervals of ten seconds. A forged delimiter, due by its number, ends the receiver's interval 2 three seconds early; the genuine one
/// is ignored, which the receiver's next control frame says: live, no interval that was cut is shown as usable.
#[test]
fn a_delimiter_forged_early_at_one_end_is_not_shown_before_the_next_interval() {
    let mut ends = [Role::Sender, Role::Receiver].map(|role| point(SMALL, role));
    let (mut early, mut frames) = (vec![], vec![]);
    for number in 0..6u32 {
        let (from, to, cut) = (100 * number, 100 * (number + 1), 100 * number + 70);
        observe(&mut ends[0], from..to, 0);
        frames.push((10 * (u64::from(number) + 1), interval(&mut ends[0], number).0.remove(0)));
        observe(&mut ends[1], from..if number == 2 { cut } else { to }, 50);
        let seconds = 10 * (u64::from(number) + 1) - if number == 2 { 3 } else { 0 };
        let frame = interval(&mut ends[1], number).0.remove(0);
        let said = rewritten(&frame, |header| header.totals.ignored_delimiters = u16::from(number == 3));
        frames.push((seconds, said));
        if number == 2 {
            observe(&mut ends[1], cut..to, 50);
        }
    }
    frames.sort_by_key(|(seconds, _)| *seconds);
    let (mut collector, mut found) = (Collector::default(), vec![]);
    for tenth in 0..1000 {
        let now = Duration::from_millis(100 * tenth);
        collector.advance(now);
        for (_, frame) in frames.extract_if(.., |(seconds, _)| Duration::from_secs(*seconds) <= now) {
            collector.push(&frame);
        }
        for (number, is_usable) in numbers_and_voids(&collector.take_settled()) {
            early.push(tenth / 10);
            found.push((number, is_usable));
        }
    }
    let usable = [false, true, false, false, true, true];
    assert_eq!(found, (0..).zip(usable).collect::<Vec<_>>());
    // The first one, which is void, after the grace; each with the next one's first frames; the last after twice its own length and the grace.
    assert_eq!(early, [11, 30, 40, 50, 60, 81]);
}

/// A copy of a delimiter comes early at the receiver, which ends its interval 3 too soon and ignores the genuine one, as its next control frame says. Where that frame is
/// lost, or comes three intervals late, or the sender's of then is lost, too, nothing voids what looks lost in interval 3: it is not shown without a word, live or
/// recorded. And nothing is said of other intervals.
#[test]
fn an_interval_that_the_next_one_does_not_confirm_is_doubted() {
    let mut ends = [Role::Sender, Role::Receiver].map(|role| point(SMALL, role));
    let mut frames = vec![];
    for number in 0..10u32 {
        let (from, to, cut) = (100 * number, 100 * (number + 1), 100 * number + 70);
        observe(&mut ends[0], from..to, 0);
        frames.push((u64::from(number) + 1, interval(&mut ends[0], number).0.remove(0)));
        observe(&mut ends[1], from..if number == 3 { cut } else { to }, 50);
        let frame = interval(&mut ends[1], number).0.remove(0);
        let said = rewritten(&frame, |header| header.totals.ignored_delimiters = u16::from(number == 4));
        frames.push((u64::from(number) + 1, said));
        if number == 3 {
            observe(&mut ends[1], cut..to, 50);
        }
    }
    // By the number of a frame, how many seconds later it comes, or never.
    let fates: [(&[usize], u64); 4] = [(&[], 0), (&[9], 3), (&[9], u64::MAX), (&[8, 9], u64::MAX)];
    for (frames_of_4, late) in fates {
        let arrives = |(index, (second, frame)): (usize, &(u64, Vec<u8>))| {
            let late = if frames_of_4.contains(&index) { late } else { 0 };
            Some((second.checked_add(late)?, frame.clone()))
        };
        let mut arriving: Vec<(u64, Vec<u8>)> = frames.iter().enumerate().filter_map(arrives).collect();
        arriving.sort_by_key(|(second, _)| *second);
        let (mut collector, mut live) = (Collector::default(), vec![]);
        for second in 0..40 {
            collector.advance(Duration::from_secs(second));
            for (_, frame) in arriving.iter().filter(|(then, _)| *then == second) {
                collector.push(frame);
                live.extend(collector.take_settled());
            }
            live.extend(collector.take_settled());
        }
        let mut recorded = Collector::default().within(Limits::recording());
        arriving.iter().for_each(|(_, frame)| recorded.push(frame));
        for (found, is_live) in [(live, true), (recorded.finish().intervals, false)] {
            let open = |interval: &&Interval| interval.doubts.contains(&Doubt::Unconfirmed);
            let doubted: Vec<u32> = found.iter().filter(open).map(|interval| interval.number).collect();
            let is_void = found.iter().any(|interval| interval.number == 3 && interval.void.is_some());
            // A recording's frames may come in any order.
            let is_heard = frames_of_4.is_empty() || (late < u64::MAX && !is_live);
            let expected = (is_heard, if is_heard { vec![] } else { vec![3] });
            assert_eq!((is_void, doubted), expected, "{frames_of_4:?} {late} {is_live}");
            assert_eq!(found.len(), if frames_of_4.len() == 2 && late == u64::MAX { 9 } else { 10 });
        }
    }
}

/// Damage that the check word does not see, in an end's total, where its rows hold all packets: no loss comes of it, and no gain.
#[test]
fn a_total_that_whole_rows_contradict_is_refused() {
    for (role, by) in [(Role::Sender, 32), (Role::Receiver, 32), (Role::Sender, -2i64), (Role::Receiver, -2)]
    {
        let mut collector = Collector::default().within(Limits::recording());
        for frame in run(SMALL, 0, 4, 0) {
            collector.push(&rewritten(&frame, |header| {
                if (header.interval, header.role) == (2, role) {
                    header.totals.packets = header.totals.packets.wrapping_add_signed(by);
                }
            }));
        }
        let found: Vec<bool> =
            Evaluation::all(&collector.finish()).map(|evaluation| evaluation.result.is_ok()).collect();
        assert_eq!(found, [false, true, false, true], "{role} {by}");
    }
}

/// The ends of two starts that lie in one recording, far apart, one of each with the same number: without absolute times that is all that tells.
#[test]
fn ends_that_were_captured_far_apart_are_doubted() {
    let second = 1_000_000_000;
    for (apart, is_doubted) in
        [(0, false), (59 * second, false), (60 * second, true), (86_400 * second, true)]
    {
        let mut collector = Collector::default().within(Limits::recording());
        for frame in run(SMALL, 0, 3, 0) {
            let is_receiver = Frame::decode(&frame).unwrap().header.role == Role::Receiver;
            collector.captured(1_790_000_000 * second + if is_receiver { apart } else { 0 });
            collector.push(&rewritten(&frame, |header| header.time = None));
        }
        let intervals = collector.finish().intervals;
        assert_eq!(intervals.len(), 3);
        let doubt = Doubt::CapturedApart { seconds: apart / second };
        // The first one is void: a delimiter is missing in front of it.
        let usable = intervals.iter().filter(|interval| interval.void.is_none());
        assert_eq!(usable.map(|each| each.doubts.contains(&doubt)).collect::<Vec<_>>(), [is_doubted; 2]);
    }
}

/// Hostile frames of `count` segments, and an honest run among them: what is kept, and the work.
fn flooded(count: u32) -> (usize, u64, Collector) {
    let mut collector = Collector::default();
    let honest = run(SMALL, 0, 100, 0);
    let mut honest = honest.iter();
    let (mut most, mut usable) = (0, 0);
    let template = forged(Role::Sender, 0, 0, 0);
    for segment in 0..count {
        // One frame of most; of every tenth segment so many that agree that it is followed.
        let numbers = if segment % 10 == 0 { 3 } else { 1 };
        for number in 0..numbers {
            let frame =
                rewritten(&template, |header| (header.segment, header.interval) = (1000 + segment, number));
            collector.push(&frame);
            collector.advance(Duration::from_micros(segment.into()));
        }
        if segment % (count / 200) == 0 {
            honest.by_ref().take(1).for_each(|frame| collector.push(frame));
        }
        usable += collector.take_settled().iter().filter(|interval| interval.void.is_none()).count();
        collector.take_problems();
        most = most.max(collector.bytes());
    }
    collector.advance(Duration::from_secs(3600));
    usable += collector.take_settled().iter().filter(|interval| interval.void.is_none()).count();
    assert_eq!(usable, 99, "the honest run");
    (most, collector.work(), collector)
}

#[test]
fn a_hundred_thousand_hostile_segments_are_bounded_in_memory_and_linear_in_work() {
    let (_, half, _) = flooded(50_000);
    let (most, work, collector) = flooded(100_000);
    assert!(most <= Limits::default().bytes, "{most} bytes");
    // It was the limit that held, not the want of frames; and the count of it is whole.
    assert!(most > Limits::default().bytes / 2, "{most} bytes");
    assert_eq!(collector.segments.len(), Limits::default().segments);
    let counts = collector.counts();
    assert!(counts.beyond > 10_000 && counts.stray > 80_000, "{counts:?}");
    assert!(work < 2 * half + half / 10, "{half} and {work} steps");
    assert!(work < 10 * counts.frames, "{work} steps for {} frames", counts.frames);
}

/// A frame of an unknown kind may say that 65,534 others are missing: of each interval that takes a few bytes, in memory and in words.
#[test]
fn what_is_missing_is_counted_and_not_listed() {
    let mut template = live(1).remove(0);
    template[32..37].copy_from_slice(&[0, 0, 255, 255, 200]);
    template[38] = 1;
    let mut collector = Collector::default().within(Limits::recording());
    for number in 0..500u32 {
        template[20..24].copy_from_slice(&number.to_be_bytes());
        put_check_right(&mut template);
        collector.push(&template);
    }
    let collected = collector.finish();
    assert_eq!(collected.intervals.len(), 500);
    let void = collected.intervals[0].void.as_ref().unwrap();
    assert!(
        void.to_string().starts_with("65534 of the 65535 control frames of the sender did not arrive"),
        "{void}"
    );
    let shown = format!("{:?}", collected.intervals).len();
    assert!(shown < 500 * 5_000, "{shown} bytes");
}

/// However short a flood, all of it is in the counts: live and of a recording, below and above what segments there may be.
#[test]
fn every_frame_of_a_flood_is_counted() {
    let template = forged(Role::Sender, 0, 0, 0);
    for flood in [0, 1, 2_000, 20_000u32] {
        for is_live in [false, true] {
            let mut collector = Collector::default();
            let honest = run(SMALL, 0, 10, 0);
            let mut usable = followed_if(&mut collector, &honest, is_live);
            for segment in 0..flood {
                // Of the measured segment, far from its numbers, and of others.
                let frame = rewritten(&template, |header| match segment % 100 {
                    0 => (header.segment, header.interval) = (SMALL.segment, 1_000_000 + 10 * segment),
                    _ => (header.segment, header.interval) = (1000 + segment, 7),
                });
                usable += followed_if(&mut collector, &[frame], is_live);
            }
            let counts = if is_live {
                usable += collector.take_whole().iter().filter(|interval| interval.void.is_none()).count();
                let empty = SEGMENT_BYTES * collector.segments.len();
                assert_eq!(collector.bytes(), empty);
                collector.counts()
            } else {
                let collected = collector.finish();
                usable += collected.intervals.iter().filter(|interval| interval.void.is_none()).count();
                collected.counts
            };
            assert_eq!(usable, 9);
            let Counts { frames, stray, beyond, unconfirmed, .. } = counts;
            assert_eq!(frames, 20 + u64::from(flood));
            assert_eq!(stray + beyond + unconfirmed, flood.into(), "{is_live}: {counts:?}");
        }
    }
}

/// Takes frames, and counts the usable intervals that are handed out meanwhile, of a live source.
fn followed_if(collector: &mut Collector, frames: &[Vec<u8>], is_live: bool) -> usize {
    if is_live {
        return followed(collector, frames).iter().filter(|(_, is_usable)| *is_usable).count();
    }
    frames.iter().for_each(|frame| collector.push(frame));
    0
}

/// Forged segments that are followed keep a later one out for as long as its frames come and the [silence](Limits::silence), and no
/// longer; an honest one of which frames come is never among those that go.
#[test]
fn a_silent_segment_makes_room_for_another() {
    let limits = Limits { segments: 3, silence: Duration::from_secs(100), ..Limits::default() };
    let mut collector = Collector::default().within(limits);
    let honest = run(SMALL, 0, 6, 0);
    let follow = |collector: &mut Collector, seconds: u64, frames: &[Vec<u8>]| {
        collector.advance(Duration::from_secs(seconds));
        followed(collector, frames)
    };
    follow(&mut collector, 0, &honest[..4]);
    let two = |segment| run(Settings { segment, ..SMALL }, 0, 2, 0);
    follow(&mut collector, 0, &[two(5), two(8)].concat());
    let late = two(9);
    follow(&mut collector, 99, &[&honest[4..8], &late].concat());
    assert_eq!((collector.counts().beyond, collector.take_forgotten()), (4, vec![]));
    follow(&mut collector, 100, &late);
    assert_eq!((collector.counts().beyond, collector.take_forgotten()), (4, vec![5]));
    let held = collector.segments.keys().copied().collect::<Vec<_>>();
    assert_eq!((held, collector.silent.len()), (vec![SMALL.segment, 8, 9], 3));
    // What is heard again is not silent; what was forgotten begins anew.
    follow(&mut collector, 199, &[&honest[8..], &two(5)].concat());
    assert_eq!(collector.take_forgotten(), [8]);
    collector.advance(Duration::from_secs(400));
    collector.take_settled();
    assert_eq!(collector.bytes(), 3 * SEGMENT_BYTES);
    assert_eq!(collector.counts().restarts, 0);
    // A recording's are kept.
    let mut collector = Collector::default().within(limits);
    collector.advance(Duration::from_secs(1000));
    [two(5), two(8), two(9)].concat().iter().for_each(|frame| collector.push(frame));
    collector.advance(Duration::from_secs(2000));
    two(10).iter().for_each(|frame| collector.push(frame));
    assert_eq!(collector.take_forgotten(), []);
}

#[test]
fn a_segment_keeps_so_many_intervals_and_no_more() {
    let limits = Limits { pending: 8, ..Limits::default() };
    let mut collector = Collector::default().within(limits);
    run(SMALL, 0, 20, 0).iter().for_each(|frame| collector.push(frame));
    let collected = collector.finish();
    assert_eq!(collected.intervals.len(), 8);
    assert_eq!((collected.counts.beyond + collected.counts.stray, collected.counts.frames), (24, 40));
}

#[test]
fn problems_are_named_up_to_a_number_and_counted_beyond() {
    let mut collector = Collector::default();
    for _ in 0..3000 {
        let mut frame = forged(Role::Sender, 1, 1, 0);
        frame[100] ^= 1;
        collector.push(&frame);
    }
    let collected = collector.finish();
    assert_eq!((collected.problems.len(), collected.counts.unnamed), (MOST_PROBLEMS, 2000));
    assert_eq!(collected.counts.corrupted, 3000);
}

#[test]
fn what_no_point_says_is_refused_or_doubted() {
    let frames = live(1);
    type Change = fn(&mut Header);
    let changes: [(&str, Change); 2] = [
        ("packets", |header| header.totals.packets |= 1 << 48),
        ("bytes", |header| header.totals.bytes |= 1 << 63),
    ];
    for (name, change) in changes {
        let mut collector = Collector::default();
        collector.push(&rewritten(&frames[0], change));
        let refused = Problem::Corrupted { frame: 1, error: FrameError::Field(name) };
        assert_eq!(collector.take_problems(), [refused]);
        assert_eq!(collector.finish().intervals, []);
    }
    // Of an unknown kind, whose place in its interval the layout does not check.
    for change in [39 - 7, 37, 38, 35] {
        let mut frame = frames[0].clone();
        frame[36] = 200;
        frame[change] = 255;
        put_check_right(&mut frame);
        let mut collector = Collector::default();
        collector.push(&frame);
        assert_eq!(collector.counts().corrupted, 1, "byte {change}");
    }
    // Ten seconds later than any of its packets, as its totals say.
    let late: Vec<Vec<u8>> = frames
        .iter()
        .map(|bytes| {
            rewritten(bytes, |header| {
                if header.role == Role::Sender {
                    let totals = &mut header.totals;
                    totals.first.0 += 10_000_000_000 << 16;
                    totals.last.0 += 10_000_000_000 << 16;
                }
            })
        })
        .collect();
    let doubts = |frames: &[Vec<u8>]| {
        let mut collector = Collector::default();
        frames.iter().for_each(|frame| collector.push(frame));
        collector.finish().intervals[0].doubts.clone()
    };
    assert_eq!(doubts(&frames), []);
    let late = doubts(&late);
    let &[Doubt::TimesApart { role: Role::Sender, by }] = &late[..] else { panic!("{late:?}") };
    assert!((9_900_000_000..=10_000_000_000).contains(&by), "{by}");
}

/// Makes the check word right again, from the layout's description.
fn put_check_right(frame: &mut [u8]) {
    let end = frame.len() - 8;
    let word = |bytes: &[u8]| bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
    let start = word(&frame[12..16]);
    let check: u64 = frame[16..end].chunks(8).fold(start, |check, eight| check.rotate_left(1) ^ word(eight));
    frame[end..].copy_from_slice(&check.to_be_bytes());
}

/// What happens to an honest frame, or comes in its place.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Arrives,
    Lost,
    /// So many copies, each so much later.
    Copies(u8, u8),
    Delayed(u8),
    /// A bit is turned, behind which the check word is put right or not.
    Altered(u16, bool),
    /// A forged frame of an end beside it: its number so far off, of this epoch.
    Beside(bool, Far, u8),
    /// All that came so far comes once more.
    Replayed,
}

#[derive(Clone, Copy, Debug)]
enum Far {
    Near(i8),
    Half(i8),
    Any(u32),
}

impl Far {
    fn from(self, number: u32) -> u32 {
        match self {
            Far::Near(by) => number.wrapping_add_signed(by.into()),
            Far::Half(by) => number.wrapping_add(1 << 31).wrapping_add_signed(by.into()),
            Far::Any(number) => number,
        }
    }
}

fn fate() -> impl Strategy<Value = Fate> {
    let far = prop_oneof![
        any::<i8>().prop_map(Far::Near),
        (-3i8..4).prop_map(Far::Near),
        (-3i8..4).prop_map(Far::Half),
        any::<u32>().prop_map(Far::Any),
    ];
    prop_oneof![
        20 => Just(Fate::Arrives),
        1 => Just(Fate::Lost),
        2 => (1u8..4, 0u8..60).prop_map(|(copies, later)| Fate::Copies(copies, later)),
        2 => (0u8..60).prop_map(Fate::Delayed),
        1 => (any::<u16>(), any::<bool>()).prop_map(|(bit, right)| Fate::Altered(bit, right)),
        2 => (any::<bool>(), far, 0u8..4).prop_map(|(end, far, epoch)| Fate::Beside(end, far, epoch)),
        1 => Just(Fate::Replayed),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    /// 100 runs of 100 frames and more: whatever comes, a usable interval holds what the points held, unless its frames were
    /// altered or forged with a right check word, against which only keys help.
    #[test]
    fn whatever_comes_a_usable_interval_is_true(
        fates in proptest::collection::vec(fate(), 100),
        first in prop_oneof![Just(0u32), Just(u32::MAX - 20), Just((1 << 31) - 20), any::<u32>()],
        restart in 0usize..50,
        epochs: bool,
        is_live: bool,
    ) {
        // Fifty intervals; amid them one end or both may start over.
        let mut held: BTreeMap<(u32, u64), (Totals, Vec<Cell>)> = BTreeMap::new();
        let mut honest = vec![];
        let mut ends = [Role::Sender, Role::Receiver].map(|role| point(SMALL, role));
        let mut number = first;
        for turn in 0..50 {
            if turn == restart {
                ends = [Role::Sender, Role::Receiver].map(|role| point(SMALL, role));
                number = if restart % 2 == 0 { number } else { first };
            }
            for (role, point) in ends.iter_mut().enumerate() {
                point.set_boot_epoch(if epochs { 1 + u32::from(turn >= restart) } else { 0 });
                observe(point, 10 * turn as u32..10 * turn as u32 + 10, 7 * role as u64);
                let (frames, truth) = interval(point, number);
                held.insert((number, (2 * turn + role) as u64), truth);
                honest.extend(frames.into_iter().map(|frame| (number, frame)));
            }
            number = number.wrapping_add(1);
        }
        let mut arriving: Vec<(usize, Vec<u8>)> = vec![];
        let mut touched = BTreeSet::new();
        let mut replays = 0;
        for (turn, ((number, frame), fate)) in honest.iter().zip(&fates).enumerate() {
            let turn = 10 * turn;
            match *fate {
                Fate::Arrives => arriving.push((turn, frame.clone())),
                Fate::Lost => {}
                Fate::Copies(copies, later) => {
                    arriving.extend((0..=usize::from(copies)).map(|copy| (turn + copy * usize::from(later), frame.clone())));
                }
                Fate::Delayed(later) => arriving.push((turn + usize::from(later), frame.clone())),
                Fate::Altered(bit, right) => {
                    let mut altered = frame.clone();
                    let bit = usize::from(bit) % (8 * frame.len() - 112) + 112;
                    altered[bit / 8] ^= 1 << (bit % 8);
                    if right {
                        put_check_right(&mut altered);
                        if let Ok(Frame { header, .. }) = Frame::decode(&altered) {
                            touched.insert(header.interval);
                        }
                    }
                    arriving.push((turn, altered));
                }
                Fate::Beside(end, far, epoch) => {
                    let role = if end { Role::Sender } else { Role::Receiver };
                    let forged_number = far.from(*number);
                    touched.insert(forged_number);
                    arriving.push((turn, frame.clone()));
                    arriving.push((turn + 1, forged(role, SMALL.segment, forged_number, epoch.into())));
                }
                Fate::Replayed if replays < 2 => {
                    replays += 1;
                    arriving.push((turn, frame.clone()));
                    let again: Vec<_> = arriving.iter().map(|(_, frame)| (turn + 5, frame.clone())).collect();
                    arriving.extend(again);
                }
                Fate::Replayed => arriving.push((turn, frame.clone())),
            }
        }
        arriving.sort_by_key(|(turn, _)| *turn);
        let mut collector = Collector::default();
        let mut found = vec![];
        for (turn, frame) in &arriving {
            collector.advance(Duration::from_millis(10 * *turn as u64));
            collector.push(frame);
            if is_live {
                found.extend(collector.take_settled());
            }
            prop_assert!(collector.bytes() <= Limits::default().bytes);
        }
        let collected = collector.finish();
        prop_assert_eq!(collected.counts.frames, arriving.len() as u64);
        found.extend(collected.intervals);
        for interval in &found {
            let Ok(pair) = interval.pair() else { continue };
            if touched.contains(&interval.number) || interval.segment != SMALL.segment {
                continue;
            }
            let is_held = |role: u64, report: &crate::report::Report| {
                let mut same = held.iter().filter(|((number, turn), _)| *number == interval.number && turn % 2 == role);
                same.any(|(_, (totals, cells))| {
                    let flags = report.totals.flags;
                    Totals { flags, ..*totals } == report.totals && *cells == report.cells::<Cell>()
                })
            };
            prop_assert!(is_held(0, pair.sender) && is_held(1, pair.receiver), "interval {}", interval.number);
            // Of numbers that started over nothing but a boot epoch tells which of two intervals a frame is of; and of a recording, where one start's frame
            // of an end and the other start's of the other were lost, not that either, as ends start each for itself.
            let of_number = held.keys().filter(|(number, turn)| *number == interval.number && turn % 2 == 0);
            if !(epochs && is_live) && of_number.count() > 1 {
                continue;
            }
            // Both of the same interval: none lost, none gained.
            prop_assert_eq!(pair.sender.totals.packets, pair.receiver.totals.packets);
            prop_assert_eq!(pair.sender.totals.first.0 >> 16, (pair.receiver.totals.first.0 >> 16) - 7);
        }
    }
}
