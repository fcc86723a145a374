use super::*;
use crate::evaluation::Evaluation;
use crate::pair::{Pair, Rows};
use crate::report::{Report, Table};
use crate::summary::Summary;
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::packet::hash::HashKind;
use deltaline_model::point::{IntervalEnd, MeasurementPoint};
use deltaline_model::sketch::cell::Cell;
use deltaline_model::sketch::mixing::Mixing;
use deltaline_model::time::Timestamp;
use deltaline_model::wire::delimiter::Delimiter;
use deltaline_model::wire::frame::Totals;
use deltaline_model::wire::shape::Kind;
use proptest::prelude::*;

pub(super) const SETTINGS: Settings<'_> = Settings {
    synopsis: Kind::LDA,
    hash: HashKind::H3,
    seed: 1,
    rows: 256,
    prefixes: &[0, 2],
    adaptive: false,
    segment: 7,
    entries: &[],
    digest: false,
    mixing: false,
    tables: None,
};
/// Of [`SETTINGS`], in an interval of one end.
const FRAGMENTS: usize = 4;

pub(super) fn point(settings: Settings, role: Role) -> MeasurementPoint {
    MeasurementPoint::new(&Configuration::new(settings).unwrap(), role)
}

/// A UDP packet that is known by its number.
fn packet(number: u32) -> [u8; 46] {
    let mut frame = [0; 46];
    frame[12..18].copy_from_slice(&[0x08, 0x00, 0x45, 0, 0, 32]);
    frame[23] = 17;
    frame[42..].copy_from_slice(&number.to_be_bytes());
    frame
}

pub(super) fn observe(point: &mut MeasurementPoint, numbers: impl IntoIterator<Item = u32>, delay: u64) {
    for number in numbers {
        point.observe(&packet(number), Timestamp::from_nanoseconds(1000 * u64::from(number) + delay));
    }
}

pub(super) fn end(point: &mut MeasurementPoint, by: IntervalEnd) -> Vec<Vec<u8>> {
    let mut frames = vec![];
    point.end_interval(by, |frame| frames.push(frame.to_vec()));
    frames
}

/// A segment's frames over intervals of 100 packets, each end changed by `change` before the interval's end.
fn segment(
    settings: [Settings; 2],
    intervals: u32,
    mut change: impl FnMut(u32, Role, &mut MeasurementPoint) -> IntervalEnd,
) -> Vec<Vec<u8>> {
    let mut frames = vec![];
    for (role, settings) in [Role::Sender, Role::Receiver].into_iter().zip(settings) {
        let mut point = point(settings, role);
        for interval in 0..intervals {
            observe(&mut point, 100 * interval..100 * (interval + 1), 50 * role as u64);
            let by = change(interval, role, &mut point);
            frames.extend(end(&mut point, by));
        }
    }
    frames
}

fn plain(_: u32, _: Role, _: &mut MeasurementPoint) -> IntervalEnd {
    IntervalEnd::Delimiter
}

fn collect<'a>(frames: impl IntoIterator<Item = &'a Vec<u8>>) -> Collected {
    let mut collector = Collector::default();
    frames.into_iter().for_each(|frame| collector.push(frame));
    collector.finish()
}

fn rows_of(pair: &Pair) -> Rows {
    pair.rows(&pair.sender.cells::<Cell>(), &pair.receiver.cells::<Cell>())
}

fn voids(collected: &Collected) -> Vec<Option<Void>> {
    collected.intervals.iter().map(|interval| interval.void.clone()).collect()
}

#[test]
fn whole_intervals_come_out_as_the_points_held_them() {
    let mut frames = vec![];
    let mut held = vec![];
    for role in [Role::Sender, Role::Receiver] {
        let mut point = point(SETTINGS, role);
        for interval in 0..3 {
            observe(&mut point, 100 * interval..100 * interval + 70, 9);
            held.push((point.totals(0), point.cells::<Cell>()));
            frames.extend(end(&mut point, IntervalEnd::Delimiter));
        }
    }
    frames.reverse();
    // One, two and three VLAN tags; the last is foreign. So are IPv4 and what has no EtherType.
    for tags in 1..=3 {
        let tag = [[0x88, 0xa8, 0, 5], [0x81, 0, 0, 6], [0x81, 0, 0, 7]][..tags].concat();
        let index = frames.len() - tags;
        let frame = &frames[index];
        let tagged = [&frame[..12], &tag, &frame[12..]].concat();
        if tags < 3 {
            frames[index] = tagged;
        } else {
            frames.push(tagged);
        }
    }
    frames.extend([packet(1).to_vec(), vec![], vec![0; 13]]);

    let collected = collect(&frames);
    assert_eq!((collected.counts.frames, collected.counts.foreign, collected.counts.duplicates), (28, 4, 0));
    assert_eq!(collected.problems, []);
    assert_eq!(collected.intervals.len(), 3);
    for (number, interval) in (0..).zip(&collected.intervals) {
        assert_eq!((interval.segment, interval.number), (7, number));
        let Pair { sender, receiver } = interval.pair().unwrap();
        for (report, held) in [(sender, &held[number as usize]), (receiver, &held[3 + number as usize])] {
            assert_eq!((report.totals, &report.cells::<Cell>()), (held.0, &held.1));
            assert_eq!(
                (report.shape.table_cells, report.prefixes.unwrap().lengths(), report.fragments),
                (256, &[0u8, 2][..], 4)
            );
            assert_eq!(report.configuration, Configuration::new(SETTINGS).unwrap().id());
        }
    }
}

#[test]
fn classes_come_out_as_segments() {
    use deltaline_model::packet::classifier::Fields;
    let class = |class, destination: &str| {
        let destination = Some(destination.parse().unwrap());
        Fields { destination, ..Fields::default() }.entry(class).unwrap()
    };
    let entries = [class(0, "10.0.0.0/8"), class(1, "11.0.0.0/8")];
    let settings = Settings { entries: &entries, ..SETTINGS };
    let mut frames = vec![];
    for role in [Role::Sender, Role::Receiver] {
        let mut point = point(settings, role);
        for number in 0..90u32 {
            // The third of the packets that is of no class has been lost at the receiver.
            let mut frame = packet(number);
            frame[30] = 10 + (number % 3) as u8;
            let delay = 50 * u64::from(number % 3) * role as u64;
            if number % 3 != 2 || role == Role::Sender {
                point.observe(&frame, Timestamp::from_nanoseconds(1000 * u64::from(number) + delay));
            }
        }
        frames.extend(end(&mut point, IntervalEnd::Delimiter));
    }
    assert_eq!(frames.len(), 2 * 2 * FRAGMENTS);
    let collected = collect(&frames);
    assert_eq!(collected.problems, []);
    let found: Vec<_> =
        collected.intervals.iter().map(|interval| (interval.segment, interval.number)).collect();
    assert_eq!(found, [(7, 0), (8, 0)]);
    for (class, interval) in (0..).zip(&collected.intervals) {
        let Pair { sender, receiver } = interval.pair().unwrap();
        assert_eq!(
            (sender.totals.packets, sender.totals.unmeasured, receiver.totals.unmeasured),
            (30, 30, 0)
        );
        let sum = |report: &Report| report.cells::<Cell>().iter().map(|cell| cell.sum).sum::<u64>();
        let count =
            |report: &Report| report.cells::<Cell>().iter().map(|cell| u64::from(cell.count)).sum::<u64>();
        assert_eq!((count(sender), count(receiver)), (30, 30));
        // Every packet of a class has the class's delay.
        assert_eq!(sum(receiver) - sum(sender), 30 * 50 * class);
    }
}

#[test]
fn lost_fragments_void_their_interval_alone() {
    let mut frames = segment([SETTINGS; 2], 3, plain);
    frames.drain(FRAGMENTS + 1..FRAGMENTS + 3);
    let collected = collect(&frames);
    let void = Void::LostFragments { role: Role::Sender, missing: 2, of: 4 };
    assert_eq!(voids(&collected), [None, Some(void.clone()), None]);
    assert_eq!(collected.problems, [Problem::Void { segment: 7, interval: 1, reason: void }]);
    assert!(collected.intervals[1].pair().is_err());
    let sender = collected.intervals[1].sender.as_ref().unwrap();
    assert_eq!((sender.totals.packets, sender.blocks.len(), sender.missing), (100, 0, 2));
}

#[test]
fn the_message_counts_the_missing() {
    let lost = Void::LostFragments { role: Role::Receiver, missing: 2, of: 16 };
    let text = "2 of the 16 control frames of the receiver did not arrive: the interval is void; \
                capture the management port without loss";
    assert_eq!(lost.to_string(), text);
}

#[test]
fn an_end_that_is_missing_voids_the_interval() {
    let frames = segment([SETTINGS; 2], 2, plain);
    let collected = collect(&frames[..3 * FRAGMENTS]);
    assert_eq!(voids(&collected), [None, Some(Void::MissingEnd { role: Role::Receiver })]);
    let collected = collect(&frames[2 * FRAGMENTS..]);
    assert_eq!(voids(&collected)[0], Some(Void::MissingEnd { role: Role::Sender }));
    // Segments are not mixed.
    let other = Settings { segment: 8, ..SETTINGS };
    let collected = collect(&segment([SETTINGS, other], 1, plain));
    assert_eq!(
        voids(&collected),
        [Some(Void::MissingEnd { role: Role::Receiver }), Some(Void::MissingEnd { role: Role::Sender })]
    );
}

#[test]
fn repeated_frames_are_counted_and_do_no_harm() {
    let mut frames = segment([SETTINGS; 2], 1, plain);
    let whole = collect(&frames);
    frames.push(frames[2].clone());
    let collected = collect(&frames);
    assert_eq!(collected.counts.duplicates, 1);
    assert_eq!(
        collected.problems,
        [Problem::Duplicate { frame: 9, segment: 7, interval: 0, role: Role::Sender, fragment: 2 }]
    );
    assert_eq!(collected.intervals, whole.intervals);
}

#[test]
fn contradicting_frames_void_the_interval() {
    let first = segment([SETTINGS; 2], 1, plain);
    let contradicted = |frames: &[Vec<u8>], field| {
        let collected = collect(first.iter().chain(frames));
        let frame = first.len() as u64 + 1;
        assert_eq!(voids(&collected), [Some(Void::Contradiction { role: Role::Sender, frame, field })]);
    };
    // The same packets at another time: other sums, and other totals too.
    let mut late = point(SETTINGS, Role::Sender);
    observe(&mut late, 0..100, 77);
    contradicted(&end(&mut late, IntervalEnd::Delimiter), "totals");
    // Totals are equal when another packet in the middle has the same length and time.
    let mut other = point(SETTINGS, Role::Sender);
    for number in 0..100 {
        let other_number = if number == 50 { 1050 } else { number };
        other.observe(&packet(other_number), Timestamp::from_nanoseconds(1000 * u64::from(number)));
    }
    let others = end(&mut other, IntervalEnd::Delimiter);
    let changed = others.iter().zip(&first).find(|(other, first)| other != first).unwrap().0.clone();
    contradicted(&[changed], "cells");
    contradicted(
        &segment([Settings { seed: 2, ..SETTINGS }, SETTINGS], 1, plain)[..FRAGMENTS],
        "configuration",
    );
}

#[test]
fn corrupted_frames_are_left_out_and_told() {
    let mut frames = segment([SETTINGS; 2], 1, plain);
    frames[5][200] ^= 4;
    let collected = collect(&frames);
    assert!(matches!(
        collected.problems[..],
        [Problem::Corrupted { frame: 6, error: FrameError::Check { .. } }, Problem::Void { .. }]
    ));
    frames[5][200] ^= 4;
    frames[0][14] = 9;
    frames[1].truncate(500);
    let collected = collect(&frames);
    assert!(matches!(
        collected.problems[..],
        [
            Problem::Corrupted { frame: 1, error: FrameError::Version(9) },
            Problem::Corrupted { frame: 2, error: FrameError::Truncated(500, 1312) },
            Problem::Void { .. }
        ]
    ));
}

#[test]
fn different_configurations_are_named() {
    for other in [
        Settings { seed: 2, ..SETTINGS },
        Settings { hash: HashKind::Rabin, ..SETTINGS },
        Settings { rows: 512, ..SETTINGS },
        Settings { prefixes: &[0, 3], ..SETTINGS },
    ] {
        let [sender, receiver] = [SETTINGS, other].map(|settings| Configuration::new(settings).unwrap());
        let collected = collect(&segment([SETTINGS, other], 1, plain));
        let table = |configuration: &Configuration| Table {
            rows: configuration.rows(),
            kind: Kind::LDA,
            prefixes: Some(*configuration.prefixes()),
        };
        let void = Void::ConfigurationMismatch {
            sender: sender.id(),
            receiver: receiver.id(),
            sender_table: table(&sender),
            receiver_table: table(&receiver),
        };
        assert_eq!(voids(&collected), [Some(void.clone())]);
        let text = void.to_string();
        for part in [
            format!("{:#018x}", sender.id()),
            format!("{:#018x}", receiver.id()),
            "hash, seed, rows, banks and segment must be the same".into(),
        ] {
            assert!(text.contains(&part), "{text}");
        }
    }
}

#[test]
fn ends_that_sample_differently_are_void_though_their_digests_agree() {
    let adaptive = Settings { adaptive: true, ..SETTINGS };
    let other = Settings { prefixes: &[1, 3], ..adaptive };
    let [sender, receiver] = [adaptive, other].map(|settings| Configuration::new(settings).unwrap());
    assert_eq!(sender.id(), receiver.id());
    assert_eq!(voids(&collect(&segment([adaptive; 2], 1, plain))), [None]);
    let collected = collect(&segment([adaptive, other], 1, plain));
    let table = |configuration: &Configuration| Table {
        kind: Kind::LDA,
        rows: 256,
        prefixes: Some(*configuration.prefixes()),
    };
    let void = Void::DifferentSampling { sender: table(&sender), receiver: table(&receiver) };
    assert_eq!(voids(&collected), [Some(void.clone())]);
    assert!(void.to_string().contains("banks 0,2 at the sender, lda, 256 rows, banks 1,3 at the receiver"));
}

#[test]
fn mixings_that_change_at_both_ends_void_nothing_and_others_what_they_differ_in() {
    let mixed = Settings { mixing: true, ..SETTINGS };
    let changing = |froms: [u32; 2], secrets: [u8; 2]| {
        let frames = segment([mixed; 2], 4, |interval, role, point| {
            if interval == 0 {
                let mixing = Mixing::new(&[secrets[role as usize]; 16]);
                point.schedule_mixing(mixing, froms[role as usize]).unwrap();
            }
            IntervalEnd::Delimiter
        });
        collect(&frames)
    };
    let [one, two] = [1, 2].map(|secret| Mixing::new(&[secret; 16]).id());
    let different = |sender, receiver| Some(Void::DifferentMixing { sender, receiver });
    let same = changing([2, 2], [1, 1]);
    assert_eq!(voids(&same), [None, None, None, None]);
    let ids = |interval: &Interval| interval.sender.as_ref().map(|report| report.mixing);
    assert_eq!(same.intervals.iter().map(ids).collect::<Vec<_>>(), [0, 0, one, one].map(Some));
    assert_eq!(voids(&changing([2, 3], [1, 1])), [None, None, different(one, 0), None]);
    assert_eq!(voids(&changing([3, 3], [1, 2])), [None, None, None, different(one, two)]);
    let text = different(one, two).unwrap().to_string();
    assert!(
        text.contains(&format!("{one:#010x} at the sender")) && text.contains("schedule the same one"),
        "{text}"
    );
}

#[test]
fn a_cut_by_the_clock_voids_both_neighbours() {
    for late in [Role::Sender, Role::Receiver] {
        let collected = collect(&segment([SETTINGS; 2], 4, |interval, role, _| {
            if (interval, role) == (1, late) { IntervalEnd::Request } else { IntervalEnd::Delimiter }
        }));
        let timed = Some(Void::TimedCut { role: late });
        assert_eq!(voids(&collected), [None, timed.clone(), timed, None]);
    }
}

#[test]
fn an_interval_behind_a_missing_delimiter_is_void_and_delimiters_are_passed_over() {
    for late in [Role::Sender, Role::Receiver] {
        let mut frames = segment([SETTINGS; 2], 2, |_, _, _| IntervalEnd::Delimiter);
        rewrite(&mut frames, late, |totals| totals.flags.gap = true);
        let configuration = Configuration::new(SETTINGS).unwrap();
        frames.push(deltaline_model::wire::delimiter::Delimiter::new(&configuration, 1).encode().to_vec());
        let collected = collect(&frames);
        assert_eq!(voids(&collected), [Some(Void::LostDelimiter { role: late }), None]);
        assert!(collected.problems.iter().all(|problem| !matches!(problem, Problem::Corrupted { .. })));
    }
}

/// The receiver refuses the second of five delimiters: that interval and the one behind it are void, no other.
#[test]
fn a_delimiter_refused_at_one_end_voids_what_it_touches_alone() {
    let mut frames = vec![];
    for role in [Role::Sender, Role::Receiver] {
        let mut point = point(SETTINGS, role);
        end(&mut point, IntervalEnd::Delimiter);
        for number in 1..6 {
            observe(&mut point, 100 * number..100 * (number + 1), 50 * role as u64);
            if (number, role) == (2, Role::Receiver) {
                point.refuse_interval_end();
            } else {
                point.end_interval_at(number, |frame| frames.push(frame.to_vec()));
            }
        }
    }
    let voids = voids(&collect(&frames));
    let late = Role::Receiver;
    let expected =
        [None, Some(Void::MissingEnd { role: late }), Some(Void::LostDelimiter { role: late }), None, None];
    assert_eq!(voids, expected);
}

/// A frame with another header over the same cells.
pub(super) fn rewritten(bytes: &[u8], change: impl FnOnce(&mut Header)) -> Vec<u8> {
    let frame = Frame::decode(bytes).unwrap();
    let (mut header, cells) = (frame.header, frame.cells::<Cell>().collect::<Vec<_>>());
    change(&mut header);
    let mut buffer = [0; deltaline_model::wire::frame::MAX_FRAME_BYTES];
    let length = deltaline_model::wire::frame::encode(&header, &cells, &mut buffer).unwrap();
    buffer[..length].to_vec()
}

/// Rewrites the totals in every frame of an end's interval 0.
fn rewrite(frames: &mut [Vec<u8>], role: Role, change: impl Fn(&mut Totals)) {
    for bytes in frames {
        *bytes = rewritten(bytes, |header| {
            if header.role == role && header.interval == 0 {
                change(&mut header.totals);
            }
        });
    }
}

/// Numbers of intervals, and whether they are usable.
pub(super) fn numbers_and_voids(intervals: &[Interval]) -> Vec<(u32, bool)> {
    intervals.iter().map(|interval| (interval.number, interval.void.is_none())).collect()
}

#[test]
fn overflow_voids_and_a_clock_without_lock_is_a_doubt() {
    for role in [Role::Sender, Role::Receiver] {
        let mut frames = segment([SETTINGS; 2], 2, plain);
        rewrite(&mut frames, role, |totals| totals.flags.saturated = true);
        assert_eq!(voids(&collect(&frames)), [Some(Void::Saturated { role }), None]);

        let collected = collect(&segment([SETTINGS; 2], 2, |interval, end, point| {
            if (interval, end) == (1, role) {
                point.clock_unlocked();
            }
            IntervalEnd::Delimiter
        }));
        assert_eq!(voids(&collected), [None, None]);
        assert_eq!(collected.intervals[1].doubts, [Doubt::ClockUnlocked { role }]);
        let doubt = Problem::Doubt { segment: 7, interval: 1, doubt: Doubt::ClockUnlocked { role } };
        assert_eq!(collected.problems, [doubt]);
    }
}

/// As [`segment`], the ends refusing so many interval ends in each interval.
fn refusing(sender: &[u16], receiver: &[u16]) -> Collected {
    collect(&segment([SETTINGS; 2], sender.len() as u32, |interval, role, point| {
        let refused = if role == Role::Sender { sender } else { receiver };
        (0..refused[interval as usize]).for_each(|_| point.refuse_interval_end());
        IntervalEnd::Delimiter
    }))
}

/// What was refused cut nothing: delimiters number the intervals at both ends, and one of them that is refused leaves a gap.
#[test]
fn refused_ends_are_a_doubt_of_their_interval_alone() {
    for (sender, receiver) in [(2, 2), (1, 0), (0, 2), (u16::MAX, 0)] {
        let collected = refusing(&[0, sender, 0, 0], &[0, receiver, 0, 0]);
        assert_eq!(voids(&collected), [None, None, None, None]);
        let doubts: Vec<_> = collected.intervals.iter().map(|interval| interval.doubts.clone()).collect();
        let refused = Doubt::Overrun { refused: sender.max(receiver) };
        assert_eq!(doubts, [vec![], vec![refused], vec![], vec![]]);
    }
}

#[test]
fn clocks_far_apart_are_told() {
    let apart = |sent: std::ops::Range<u32>, received: std::ops::Range<u32>, delay: u64| {
        let mut ends = [Role::Sender, Role::Receiver].map(|role| point(SETTINGS, role));
        observe(&mut ends[0], sent, 1 << 45);
        observe(&mut ends[1], received, (1 << 45) + delay);
        let frames: Vec<_> = ends.iter_mut().flat_map(|point| end(point, IntervalEnd::Delimiter)).collect();
        let collected = collect(&frames);
        rows_of(&collected.intervals[0].pair().unwrap())
    };
    let far = 1u64 << 40;
    let ahead = apart(0..100, 0..100, far + 7);
    assert_eq!(ahead.apart, far + 7, "{ahead:?}");
    assert_eq!(apart(0..100, 0..100, far.wrapping_neg()).apart, far);
    // The first and the last packets are lost.
    assert_eq!(apart(0..100, 10..90, far).apart, far - 10_000);
    assert_eq!(apart(0..100, 10..90, 0).apart, 0);
    assert_eq!(apart(0..100, 0..0, far).apart, 0);
}

#[test]
fn rows_tell_loss_from_strangers() {
    let rows = |sent: std::ops::Range<u32>, received: &mut dyn Iterator<Item = u32>| {
        let mut ends = [Role::Sender, Role::Receiver].map(|role| point(SETTINGS, role));
        observe(&mut ends[0], sent, 0);
        observe(&mut ends[1], received, 3000);
        let frames: Vec<_> = ends.iter_mut().flat_map(|point| end(point, IntervalEnd::Delimiter)).collect();
        let collected = collect(&frames);
        rows_of(&collected.intervals[0].pair().unwrap())
    };
    let all = rows(0..5000, &mut (0..5000));
    assert_eq!((all.short, all.surplus), (0, 0));
    assert!(all.equal > 256 && all.apart_share == 0.0, "{all:?}");
    assert!(!all.are_unrelated());

    let lossy = rows(0..5000, &mut (0..5000).filter(|number| number % 3 > 0));
    assert!(lossy.surplus == 0 && lossy.short > 200 && !lossy.are_unrelated(), "{lossy:?}");
    // A few repeated packets among many losses.
    let repeated = rows(0..5000, &mut (0..5000).filter(|number| number % 9 > 0).chain([1, 2, 3]));
    assert!(!repeated.are_unrelated(), "{repeated:?}");
    // Other packets, as many or fewer.
    for count in [5000, 4000, 3000] {
        let strangers = rows(0..5000, &mut (10_000..10_000 + count));
        assert!(strangers.are_unrelated(), "{strangers:?}");
    }
    // The two ends swapped is another matter: there is nothing but surplus.
    let swapped = rows(0..4000, &mut (0..5000));
    assert!(swapped.short == 0 && swapped.surplus > 200 && !swapped.are_unrelated(), "{swapped:?}");
}

/// The frames as they come from a live source: interval by interval, the sender's before the receiver's.
pub(super) fn live(intervals: u32) -> Vec<Vec<u8>> {
    let mut frames = segment([SETTINGS; 2], intervals, plain);
    frames.sort_by_key(|bytes| {
        let header = Frame::decode(bytes).unwrap().header;
        (header.interval, header.role as usize, header.fragment)
    });
    frames
}

/// A collector that holds nothing back.
pub(super) fn prompt() -> Collector {
    Collector::default().within(Limits { grace: Duration::ZERO, ..Limits::default() })
}

/// After how many frames each interval is handed out.
fn handed_out(frames: &[Vec<u8>]) -> (Vec<(usize, Interval)>, Collector) {
    let mut collector = prompt();
    let mut intervals = vec![];
    for (frame, count) in frames.iter().zip(1..) {
        collector.push(frame);
        intervals.extend(collector.take_settled().into_iter().map(|interval| (count, interval)));
    }
    (intervals, collector)
}

fn numbers(intervals: &[(usize, Interval)]) -> Vec<(usize, u32)> {
    intervals.iter().map(|(count, interval)| (*count, interval.number)).collect()
}

#[test]
fn a_live_interval_is_handed_out_at_its_last_frame() {
    let frames = live(4);
    let (intervals, mut collector) = handed_out(&frames);
    assert_eq!(numbers(&intervals), [(8, 0), (16, 1), (24, 2), (32, 3)]);
    assert!(collector.take_settled().is_empty() && collector.take_problems().is_empty());
    let at_once: Vec<Interval> = intervals.into_iter().map(|(_, interval)| interval).collect();
    assert_eq!(at_once, collect(&frames).intervals);
    assert_eq!(collector.finish().intervals, []);
}

#[test]
fn a_live_interval_that_lost_a_frame_ends_when_its_end_goes_on() {
    for (lost, role, at) in [(1, Role::Sender, 8), (5, Role::Receiver, 12)] {
        let mut frames = live(3);
        frames.remove(lost);
        let (intervals, mut collector) = handed_out(&frames);
        assert_eq!(numbers(&intervals), [(at, 0), (15, 1), (23, 2)]);
        let reason = Void::LostFragments { role, missing: 1, of: 4 };
        assert_eq!(intervals[0].1.void, Some(reason.clone()));
        assert_eq!(collector.take_problems(), [Problem::Void { segment: 7, interval: 0, reason }]);
    }
}

#[test]
fn a_silent_end_is_not_waited_for_without_bound() {
    let mut frames = live(6);
    frames.retain(|bytes| Frame::decode(bytes).unwrap().header.role == Role::Sender);
    let (intervals, collector) = handed_out(&frames);
    let first = FRAGMENTS * LAG + 1;
    assert_eq!(numbers(&intervals), [(first, 0), (first + FRAGMENTS, 1)]);
    assert_eq!(intervals[0].1.void, Some(Void::MissingEnd { role: Role::Receiver }));
    assert_eq!(collector.finish().intervals.len(), 4);
}

#[test]
fn a_late_live_frame_is_counted_and_does_no_harm() {
    let mut frames = live(3);
    let whole = collect(&frames).intervals;
    let (repeated, late) = (frames[2].clone(), frames.remove(9));
    frames.extend([repeated, late]);
    let (intervals, collector) = handed_out(&frames);
    assert_eq!((collector.counts().late, collector.counts().restarts), (2, 0));
    assert_eq!([&intervals[0].1, &intervals[2].1], [&whole[0], &whole[2]]);
    assert!(matches!(intervals[1].1.void, Some(Void::LostFragments { .. })));
    assert_eq!(intervals.len(), 3);
}

/// Numbers start over with another run, whose first interval is whole; the old run's last one is not.
#[test]
fn a_live_source_that_starts_over_is_followed() {
    let mut frames = live(7);
    frames.truncate(7 * 8 - 3);
    for (role, delay) in [(Role::Sender, 10), (Role::Receiver, 20)] {
        let mut point = point(SETTINGS, role);
        for start in [0, 100, 200] {
            observe(&mut point, start..start + 90, delay);
            frames.extend(end(&mut point, IntervalEnd::Delimiter));
        }
    }
    let (intervals, collector) = handed_out(&frames);
    assert_eq!(collector.counts().restarts, 1);
    let usable: Vec<_> =
        intervals.iter().map(|(_, interval)| (interval.number, interval.void.is_none())).collect();
    let old = (0..6).map(|number| (number, true)).chain([(6, false)]);
    assert_eq!(usable, old.chain((0..3).map(|number| (number, true))).collect::<Vec<_>>());

    // The same with a word from the source, although the second run equals the first to the bit.
    let mut collector = prompt();
    live(2).iter().take(12).for_each(|frame| collector.push(frame));
    assert_eq!(collector.take_settled().len(), 1);
    collector.restart_all();
    live(2).iter().for_each(|frame| collector.push(frame));
    let voids: Vec<bool> = collector.take_settled().iter().map(|interval| interval.void.is_some()).collect();
    assert_eq!((voids, collector.counts().late), (vec![true, false, false], 0));
}

/// What happens to a frame on its way.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Arrives,
    Lost,
    Repeated,
    /// Bits within 64 consecutive ones are turned over, from this byte on.
    Corrupted(usize, u64),
}

fn fate() -> impl Strategy<Value = Fate> {
    prop_oneof![
        40 => Just(Fate::Arrives),
        1 => Just(Fate::Lost),
        1 => Just(Fate::Repeated),
        1 => (12usize..1265, 1u64..).prop_map(|(at, bits)| Fate::Corrupted(at, bits)),
    ]
}

proptest! {
    #[test]
    fn whatever_happens_to_frames_a_usable_pair_is_right(
        fates in proptest::collection::vec((fate(), any::<u64>()), 2 * 6 * FRAGMENTS),
        refused in proptest::collection::vec((0u32..8, 0u32..8), 6),
        may_refuse: bool,
    ) {
        // Twelve intervals of ten packets; an end refuses some of the delimiters between them.
        let mut frames = vec![];
        let mut held = vec![BTreeMap::new(), BTreeMap::new()];
        let configuration = Configuration::new(SETTINGS).unwrap();
        for (role, held) in [Role::Sender, Role::Receiver].into_iter().zip(&mut held) {
            let mut point = point(SETTINGS, role);
            let mut start = 0;
            for delimiter in 1..=12u32 {
                observe(&mut point, 10 * (delimiter - 1)..10 * delimiter, 5 * role as u64);
                let is_refused = may_refuse && refused.iter().any(|&(sender, receiver)| {
                    delimiter < 12 && delimiter == if role == Role::Sender { sender } else { receiver }
                });
                let number = delimiter - 1;
                let bytes = Delimiter::new(&configuration, number).encode();
                if is_refused {
                    assert!(point.refuse_delimiter(&bytes));
                } else {
                    held.insert(number, (start..delimiter, point.totals(0), point.cells::<Cell>()));
                    start = delimiter;
                    assert!(point.observe_delimiter(&bytes, |frame| frames.push(frame.to_vec())));
                }
            }
        }
        let mut arriving: Vec<(u64, Vec<u8>)> = vec![];
        for (index, frame) in frames.iter().enumerate() {
            let (fate, order) = fates[index % fates.len()];
            match fate {
                Fate::Arrives => arriving.push((order, frame.clone())),
                Fate::Lost => {}
                Fate::Repeated => {
                    arriving.push((order, frame.clone()));
                    arriving.push((order.rotate_left(32), frame.clone()));
                }
                Fate::Corrupted(at, bits) => {
                    let mut frame = frame.clone();
                    for (byte, bits) in frame[at..].iter_mut().zip(bits.to_be_bytes()) {
                        *byte ^= bits;
                    }
                    arriving.push((order, frame));
                }
            }
        }
        arriving.sort();
        let collected = collect(arriving.iter().map(|(_, frame)| frame));
        // Live, in the order of emission, the same is handed out, unless numbers are missing: what is behind them confirms nothing before it has come.
        if !may_refuse && !fates.iter().any(|(fate, _)| matches!(fate, Fate::Repeated)) {
            let key = |bytes: &[u8]| Frame::decode(bytes).map_or((0, 0), |frame| {
                (frame.header.interval, frame.header.role as usize)
            });
            let mut ordered: Vec<Vec<u8>> = arriving.iter().map(|(_, frame)| frame.clone()).collect();
            ordered.sort_by_key(|frame| key(frame));
            let (mut intervals, collector) = handed_out(&ordered);
            prop_assert_eq!((collector.counts().late, collector.counts().restarts), (0, 0));
            intervals.extend(collector.finish().intervals.into_iter().map(|interval| (0, interval)));
            let intervals: Vec<Interval> = intervals.into_iter().map(|(_, interval)| interval).collect();
            prop_assert_eq!(&intervals, &collect(&ordered).intervals);
        }
        for interval in &collected.intervals {
            let Ok(pair) = interval.pair() else { continue };
            let (sender, receiver) = (&held[0][&interval.number], &held[1][&interval.number]);
            prop_assert_eq!(&sender.0, &receiver.0);
            prop_assert_eq!((pair.sender.totals, &pair.sender.cells::<Cell>()), (sender.1, &sender.2));
            prop_assert_eq!((pair.receiver.totals, &pair.receiver.cells::<Cell>()), (receiver.1, &receiver.2));
        }
        // And nothing is void for nothing.
        let all_arrive = fates.iter().all(|(fate, _)| matches!(fate, Fate::Arrives | Fate::Repeated));
        if all_arrive && !may_refuse {
            // The first one began amid the stream.
            prop_assert!(voids(&collected)[1..].iter().all(Option::is_none));
        }
    }

    #[test]
    fn arbitrary_frames_never_panic(frames in proptest::collection::vec(
        proptest::collection::vec(any::<u8>(), 0..200), 0..20,
    )) {
        let mut collector = Collector::default();
        for mut frame in frames {
            collector.push(&frame);
            if frame.len() > 20 {
                frame[12..18].copy_from_slice(&[0x81, 0, 0, 0, 0x88, 0xb5]);
                collector.push(&frame);
            }
        }
        prop_assert!(collector.finish().intervals.len() < 2);
    }
}

/// The receiver got another packet of the same row in place of a lost one: the counts agree, the digests do not.
#[test]
fn digests_pass_through_and_tell_foreign_packets() {
    let settings = Settings { digest: true, rows: 8, prefixes: &[0], ..SETTINGS };
    let mut frames = vec![];
    // Packets of one row, alone in it: numbers found with the model's own cells.
    let row_of = |number| {
        let mut probe = point(settings, Role::Sender);
        observe(&mut probe, [number], 0);
        probe.cells::<Cell>().iter().position(|cell| cell.count == 1)
    };
    let other = (1..).find(|number| row_of(*number) == row_of(0)).unwrap();
    for (role, number) in [(Role::Sender, 0), (Role::Receiver, other)] {
        let mut point = point(settings, role);
        observe(&mut point, [number], 0);
        frames.extend(end(&mut point, IntervalEnd::Delimiter));
    }
    let collected = collect(&frames);
    let pair = collected.intervals[0].pair().unwrap();
    assert!(pair.sender.shape.has_digests && pair.receiver.shape.has_digests);
    // The other packet is sent a microsecond times its number later.
    let apart = 1000 * u64::from(other);
    assert_eq!(rows_of(&pair), Rows { foreign: 1, apart, ..Rows::default() });

    let mixed = segment([settings, Settings { digest: false, ..settings }], 1, plain);
    let void = voids(&collect(&mixed)).remove(0);
    assert!(matches!(void, Some(Void::ConfigurationMismatch { .. })), "{void:?}");
}

#[test]
fn another_configuration_than_expected_is_refused() {
    let frames = segment([SETTINGS; 2], 2, plain);
    let judged = |expected: Settings| {
        let limits = Limits { grace: Duration::ZERO, ..Limits::default() };
        let mut collector = Collector::expecting(&Configuration::new(expected).unwrap()).within(limits);
        frames.iter().for_each(|frame| collector.push(frame));
        let live: Vec<Option<Void>> = collector.take_settled().into_iter().map(|each| each.void).collect();
        let mut collector = Collector::expecting(&Configuration::new(expected).unwrap());
        frames.iter().for_each(|frame| collector.push(frame));
        assert_eq!(voids(&collector.finish()), live);
        live
    };
    assert_eq!(judged(SETTINGS), [None, None]);
    for other in [Settings { seed: 2, ..SETTINGS }, Settings { rows: 128, ..SETTINGS }] {
        let voids = judged(other);
        assert_eq!(voids.len(), 2);
        for void in voids {
            let Some(Void::OtherConfiguration { role: Role::Sender, found, expected, .. }) = void else {
                panic!("{void:?}");
            };
            assert_eq!(found, Configuration::new(SETTINGS).unwrap().id());
            assert_eq!(expected, Configuration::new(other).unwrap().id());
        }
    }
}

/// A later release's synopsis at both ends.
#[test]
fn an_unknown_synopsis_still_has_its_loss() {
    let mut frames = vec![];
    for (role, packets) in [(Role::Sender, 100), (Role::Receiver, 97)] {
        let mut point = point(SETTINGS, role);
        observe(&mut point, 0..packets, 50 * role as u64);
        frames.extend(end(&mut point, IntervalEnd::Delimiter));
    }
    for frame in &mut frames {
        frame[36] = 200;
        let end = frame.len() - 8;
        let word = |bytes: &[u8]| bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let start = word(&frame[12..16]);
        let check: u64 =
            frame[16..end].chunks(8).fold(start, |check, eight| check.rotate_left(1) ^ word(eight));
        frame[end..].copy_from_slice(&check.to_be_bytes());
    }
    let collected = collect(&frames);
    assert_eq!(collected.problems, []);
    let summary = Summary::of(&Evaluation::all(&collected).collect::<Vec<_>>());
    let found = ["sent", "received", "lost", "mean"].map(|name| {
        summary.overall.find(name).and_then(|quantity| quantity.value.ok()).map(|number| number.to_f64())
    });
    assert_eq!(found, [Some(100.0), Some(97.0), Some(3.0), None]);
    assert!(summary.overall.reason().unwrap().contains("kind 200"));
}
