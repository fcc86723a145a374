//! A folder of recordings that were cut, rotated and begun anew, against what one whole recording holds.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;

use bytes::Bytes;
use common::{BEGINNING, SECOND, frames, frames_of, key, name, record_as, recording};
use deltaline_collect::collector::Collector;
use deltaline_collect::summary::Missing;
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::point::{IntervalEnd, MeasurementPoint};
use deltaline_model::sketch::cell::Cell;
use deltaline_model::time::{AbsoluteTime, TimeBase, Timestamp};
use deltaline_model::wire::frame::{Frame, MAX_FRAME_BYTES, Role, encode};
use deltaline_store::table_file::{self, TableFile};
use deltaline_store::{Column, Filter, Folder, LeftOut, Row, StoreError, Summing, Table};
use parquet::file::reader::{FileReader, SerializedFileReader};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tempfile::TempDir;
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

fn everything(folder: &Path) -> Table {
    Folder::open(folder).unwrap().read(&Filter::default(), Collector::default).unwrap()
}

/// The recordings that are removed after so many milliseconds.
fn removed(folder: &Folder, keep: u64) -> Vec<PathBuf> {
    folder.remove(Duration::from_millis(keep)).unwrap().into_iter().filter_map(Result::ok).collect()
}

/// Rows, each with those of its numbers that have a value, by name.
fn named(table: &Table) -> Vec<(Row, BTreeMap<String, i64>)> {
    let numbers = |place: usize| {
        let number = |column: &Column| Some((column.name.clone(), column.numbers[place]?));
        table.columns().iter().filter_map(number).collect()
    };
    table.rows().iter().enumerate().map(|(place, row)| (row.clone(), numbers(place))).collect()
}

/// How many intervals have this number.
fn having(table: &Table, name: &str) -> usize {
    table.column(name).unwrap_or_default().iter().flatten().count()
}

/// The sum of this number.
fn sum(table: &Table, name: &str) -> i64 {
    table.column(name).unwrap_or_default().iter().flatten().sum()
}

#[test]
fn rotated_recordings_hold_what_one_does_before_and_after_closing() {
    let frames = frames(400);
    let whole = TempDir::new().unwrap();
    fs::write(name(whole.path(), 0), recording(&frames)).unwrap();
    let expected = everything(whole.path());
    assert_eq!(expected.rows().len(), 400);
    let lost = sum(&expected, "lost");
    assert!(lost > 400, "{lost}");
    let folder = TempDir::new().unwrap();
    // Six pieces, cut between any two frames, as time goes on; after each, what is settled is closed.
    let mut rng = StdRng::seed_from_u64(5);
    let mut begins = 0;
    for number in 0..6 {
        let ends =
            if number == 5 { frames.len() } else { begins + frames.len() / 7 + rng.random_range(0..40) };
        fs::write(name(folder.path(), number), recording(&frames[begins..ends])).unwrap();
        begins = ends;
        let mut opened = Folder::open(folder.path()).unwrap();
        let work = opened.close(false, Collector::default).unwrap();
        assert!(work.open.contains(&name(folder.path(), number)), "{work:?}");
        assert_eq!(opened.close(false, Collector::default).unwrap().closed, Vec::<PathBuf>::new());
    }
    assert!(named(&everything(folder.path())) == named(&expected));
    let mut opened = Folder::open(folder.path()).unwrap();
    opened.close(true, Collector::default).unwrap();
    assert!(named(&everything(folder.path())) == named(&expected));
    // Without the recordings, all but the last of them.
    assert_eq!(removed(&opened, 0).len(), 5);
    assert!(named(&everything(folder.path())) == named(&expected));
    // A part of it.
    let from = expected.rows()[100].reported;
    let filter = Filter { segment: Some(0), reported: Some(from..from + 50_000_000), authenticated: false };
    let part = Folder::open(folder.path()).unwrap().read(&filter, Collector::default).unwrap();
    assert!(named(&part) == named(&expected)[100..150]);
    let other = Filter { segment: Some(2), reported: None, authenticated: false };
    assert!(opened.read(&other, Collector::default).unwrap().is_empty());
}

#[test]
fn recordings_torn_anywhere_lose_nothing_in_front_and_nothing_behind() {
    let frames = frames(24);
    let whole = TempDir::new().unwrap();
    fs::write(name(whole.path(), 0), recording(&frames)).unwrap();
    let expected = named(&everything(whole.path()));
    // The program is killed while it writes the first recording, at any byte, and started again for the second.
    let (first, second) = frames.split_at(frames.len() / 2);
    let (bytes, rest) = (recording(first), recording(second));
    let folder = TempDir::new().unwrap();
    fs::write(name(folder.path(), 1), rest).unwrap();
    let mut rng = StdRng::seed_from_u64(6);
    // All 10,000 with DELTALINE_CUTS=10000.
    let wanted: u32 = std::env::var("DELTALINE_CUTS").map_or(300, |cuts| cuts.parse().unwrap());
    let all = bytes.len() as u32;
    let cuts = (0..bytes.len()).filter(|_| rng.random_ratio(wanted.min(all), all)).chain([0, bytes.len()]);
    let (mut tried, mut right) = (0, 0);
    for cut in cuts {
        fs::write(name(folder.path(), 0), &bytes[..cut]).unwrap();
        let mut found = named(&everything(folder.path()));
        // The one in front of what is lost is the same, and has a remark: nothing confirms it.
        for (row, _) in &mut found {
            if row.reason.as_ref().is_some_and(|reason| reason.contains("no control frame of the next one")) {
                let same = expected.iter().find(|(other, _)| other.interval == row.interval);
                row.reason = same.and_then(|(same, _)| same.reason.clone());
            }
        }
        // Frames that are whole in front of the cut, and their intervals: two frames, one of each end.
        let mut length = recording(&[]).len();
        let kept = first.iter().take_while(|frame| {
            length += recording(std::slice::from_ref(*frame)).len() - recording(&[]).len();
            length <= cut
        });
        let kept = kept.count();
        let lost = &first[kept..];
        for row in &expected {
            let is_whole = lost.iter().all(|(captured, _)| {
                let ended = 1000 * (row.0.reported as u64) - SECOND;
                *captured != ended && *captured != ended + SECOND
            });
            if is_whole {
                assert!(found.contains(row), "cut at {cut}: interval {} is missing", row.0.interval);
                right += 1;
            }
        }
        // What is not there is void, and never another number.
        for row in found.iter().filter(|row| !expected.contains(row)) {
            assert!(!row.1.contains_key("mean_ns") && row.0.reason.is_some(), "cut at {cut}: {row:?}");
        }
        tried += 1;
    }
    println!("{tried} cuts, {right} whole intervals");
    assert!(tried > 200 && right > 10 * tried);
}

#[test]
fn files_of_numbers_that_are_not_what_they_were_are_refused() {
    let folder = TempDir::new().unwrap();
    fs::write(name(folder.path(), 0), recording(&frames(20))).unwrap();
    let mut opened = Folder::open(folder.path()).unwrap();
    let work = opened.close(true, Collector::default).unwrap();
    assert_eq!((work.closed.len(), work.intervals), (1, 20));
    let is_table = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "parquet");
    let table =
        fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path()).find(is_table).unwrap();
    let bytes = fs::read(&table).unwrap();
    let mut rng = StdRng::seed_from_u64(9);
    for trial in 0..1000 {
        let mut damaged = bytes.clone();
        if trial % 2 == 0 {
            damaged.truncate(rng.random_range(0..bytes.len()));
        } else {
            damaged[rng.random_range(0..bytes.len())] ^= 1 << rng.random_range(0..8);
        }
        fs::write(&table, &damaged).unwrap();
        let refused = opened.read(&Filter::default(), Collector::default).unwrap_err();
        assert!(refused.to_string().contains("damaged, or renamed"), "{refused}");
    }
    // Without it the recording says the same again.
    fs::remove_file(&table).unwrap();
    assert_eq!(everything(folder.path()).rows().len(), 20);
}

/// Numbers that are damaged are no reason to remove what they are of.
#[test]
fn recordings_whose_numbers_are_damaged_are_kept() {
    let folder = TempDir::new().unwrap();
    let frames = frames(60);
    for (number, part) in frames.chunks(frames.len() / 3).enumerate() {
        fs::write(name(folder.path(), number), recording(part)).unwrap();
    }
    let mut opened = Folder::open(folder.path()).unwrap();
    let closed = opened.close(true, Collector::default).unwrap().closed;
    assert_eq!(closed.len(), 3);
    let first = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let first = first.filter(|path| path.extension().unwrap() == "parquet").min().unwrap();
    let bytes = fs::read(&first).unwrap();
    fs::write(&first, &bytes[..bytes.len() / 2]).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    let opened = Folder::open(folder.path()).unwrap();
    // That it is damaged is said.
    let done = opened.remove(Duration::from_millis(5)).unwrap();
    assert!(
        matches!(&done[..], [Err(StoreError::Damaged { path }), Ok(second)] if *path == first && *second == closed[1])
    );
    fs::write(&first, &bytes).unwrap();
    assert_eq!(removed(&Folder::open(folder.path()).unwrap(), 5), closed[..1]);
}

/// What was being written when a program was killed goes as soon as nobody can be writing it.
#[test]
fn abandoned_drafts_are_removed() {
    let folder = TempDir::new().unwrap();
    let [old, new] = ["a", "b"].map(|name| folder.path().join(format!(".deltaline-{name}.draft")));
    [&old, &new].into_iter().for_each(|draft| fs::write(draft, "PAR1").unwrap());
    let an_hour_ago = std::time::SystemTime::now() - Duration::from_secs(3600);
    fs::File::options().write(true).open(&old).unwrap().set_modified(an_hour_ago).unwrap();
    Folder::open(folder.path()).unwrap().close(true, Collector::default).unwrap();
    assert_eq!([old.exists(), new.exists()], [false, true]);
}

/// A second recorder, whose files are cut elsewhere; a copy; and somebody who sends the frames again, hours later, to a recorder of another name.
#[test]
fn intervals_in_recordings_of_several_names_count_once() {
    let frames = frames(400);
    let folder = TempDir::new().unwrap();
    for (number, part) in [&frames[..300], &frames[300..]].into_iter().enumerate() {
        fs::write(name(folder.path(), number), recording(part)).unwrap();
    }
    // Those with a mean: others may be alike by chance, as first ones are.
    let means = |table: &Table| having(table, "mean_ns");
    let expected = means(&everything(folder.path()));
    assert!(expected >= 398, "{expected}");
    for (other, later, cut) in [("south", 12_345, 417), ("backup", 0, 300), ("again", 7200 * SECOND, 800)] {
        let later: Vec<_> = frames.iter().map(|(time, frame)| (time + later, frame.clone())).collect();
        record_as(folder.path(), other, [&later[..cut], &later[cut..]]);
        for closes in [false, true] {
            let mut opened = Folder::open(folder.path()).unwrap();
            if closes {
                opened.close(true, Collector::default).unwrap();
            }
            let mut rows = 0;
            let repeating =
                opened.each(&Filter::default(), Collector::default, |table| rows += means(&table.unwrap()));
            assert_eq!(rows, expected, "{other} {closes}");
            assert!(
                repeating.repeated.iter().map(|(_, intervals)| intervals).sum::<usize>() >= expected,
                "{repeating:?}"
            );
        }
    }
    assert_eq!(means(&everything(folder.path())), expected);
}

/// Somebody who sends frames again to the same recorder, when nobody who collects them remembers them: at the end of the recording, and in the next one.
#[test]
fn intervals_that_come_again_in_a_run_count_once() {
    let frames = frames(120);
    let means = |table: &Table| having(table, "mean_ns");
    for again in [&frames[..40], &frames[24..28], &frames[..]] {
        let later: Vec<_> = again.iter().map(|(time, frame)| (time + 3600 * SECOND, frame.clone())).collect();
        for parts in [vec![[&frames[..], &later].concat()], vec![frames.clone(), later]] {
            let folder = TempDir::new().unwrap();
            fs::write(name(folder.path(), 0), recording(&frames)).unwrap();
            let expected = means(&everything(folder.path()));
            for (number, part) in parts.iter().enumerate() {
                fs::write(name(folder.path(), number), recording(part)).unwrap();
            }
            for closes in [false, true] {
                let mut opened = Folder::open(folder.path()).unwrap();
                if closes {
                    opened.close(true, Collector::default).unwrap();
                }
                let mut rows = 0;
                let repeating = opened
                    .each(&Filter::default(), Collector::default, |table| rows += means(&table.unwrap()));
                assert_eq!(rows, expected, "{} {} {closes}", again.len(), parts.len());
                assert!(matches!(repeating.repeated[..], [(_, 1..)]), "{repeating:?}");
                // They start no numbers over.
                assert!(repeating.missing.is_empty() && repeating.late.is_empty(), "{repeating:?}");
                // Nor are they intervals of the time when they come again.
                let then = ((BEGINNING + 1800 * SECOND) / 1000) as i64;
                let filter = Filter { reported: Some(then..i64::MAX), ..Filter::default() };
                let mut rows = 0;
                let repeating =
                    opened.each(&filter, Collector::default, |table| rows += means(&table.unwrap()));
                assert!(rows == 0 && matches!(repeating.repeated[..], [(_, 1..)]), "{rows} {repeating:?}");
            }
        }
    }
}

/// Two recordings of one segment number at one time, of other points, or of a recorder that lacks frames: that is said, and not of one that goes on where the
/// other ended.
#[test]
fn recordings_of_the_same_time_that_differ_are_named() {
    let frames = frames(60);
    let later: Vec<_> = self::frames(100).split_off(70 * frames.len() / 60);
    let other_points: Vec<_> =
        later.iter().map(|(time, frame)| (time - 50 * SECOND, frame.clone())).collect();
    let half: Vec<_> =
        frames.iter().filter(|(time, _)| !(time / SECOND).is_multiple_of(3)).cloned().collect();
    let on: Vec<_> =
        frames_of(0, 20, None).iter().map(|(time, frame)| (time + 61 * SECOND, frame.clone())).collect();
    // Two recorders that take turns, a third of the time each.
    let third = frames.len() / 3;
    let turn = frames[third..2 * third].to_vec();
    let others = [&frames[..third], &frames[2 * third..]].concat();
    for (north, other, is_named) in [
        (&frames, &other_points, true),
        (&frames, &half, true),
        (&frames, &on, false),
        (&frames, &frames, false),
        (&others, &turn, false),
    ] {
        let folder = TempDir::new().unwrap();
        fs::write(name(folder.path(), 0), recording(north)).unwrap();
        fs::write(folder.path().join("south-20260123T000000.000000Z.pcapng"), recording(other)).unwrap();
        let doubles =
            Folder::open(folder.path()).unwrap().each(&Filter::default(), Collector::default, |_| ());
        let named = [(0, ["north".to_string(), "south".to_string()])];
        assert_eq!(doubles.at_once, if is_named { named.to_vec() } else { vec![] }, "{}", other.len());
    }
}

/// Sums of closed recordings and of those that are open, by the second and all together, with frames that are sent again in what is open, or not.
#[test]
fn sums_are_those_of_intervals_whatever_is_open() {
    let frames = frames(200);
    let again: Vec<_> =
        frames[40..60].iter().map(|(time, frame)| (time + 300 * SECOND, frame.clone())).collect();
    let parts = [&frames[..90], &frames[90..210], &frames[210..390], &frames[390..], &again];
    for parts in [&parts[..4], &parts[..]] {
        let folder = TempDir::new().unwrap();
        for (number, part) in parts.iter().enumerate() {
            fs::write(name(folder.path(), number), recording(part)).unwrap();
        }
        for closes in [None, Some(false), Some(true)] {
            let mut opened = Folder::open(folder.path()).unwrap();
            if let Some(all) = closes {
                let work = opened.close(all, Collector::default).unwrap();
                assert_eq!(work.open.is_empty(), all, "{work:?}");
            }
            let second = |second: u64| ((BEGINNING + second * SECOND) / 1000) as i64;
            for reported in [None, Some(second(0)..second(1000)), Some(second(60)..second(190))] {
                let filter = Filter { reported, ..Filter::default() };
                for every in [1_000_000, i64::MAX] {
                    let mut summing = Summing::new(every);
                    let noticed =
                        opened.each(&filter, Collector::default, |table| summing.add(&table.unwrap()));
                    let failed = |error| panic!("{error}");
                    let (sums, of_sums) = opened.sums(&filter, every, Collector::default, failed);
                    assert_eq!(of_sums, noticed);
                    let expected = summing.finish();
                    assert_eq!(sums.len(), expected.len());
                    for (sums, expected) in sums.iter().zip(&expected) {
                        assert_eq!((sums.start, sums.intervals), (expected.start, expected.intervals));
                        assert_eq!((sums.sent, sums.lost), (expected.sent, expected.lost));
                        let apart = sums.mean.unwrap_or(0.0) - expected.mean.unwrap_or(0.0);
                        assert!(apart.abs() < 1e-6 && sums.mean.is_some() == expected.mean.is_some());
                    }
                }
            }
        }
    }
}

/// Somebody holds back all control frames of five intervals, at both ends, in the midst of a recording or where one follows another.
#[test]
fn intervals_of_which_nothing_came_are_named() {
    let held_back = |(time, _): &&(u64, Vec<u8>)| !(31..36).contains(&((time - BEGINNING) / SECOND));
    let frames: Vec<_> = frames(60).iter().filter(held_back).cloned().collect();
    for cut in [frames.len(), 40, 62] {
        let folder = TempDir::new().unwrap();
        for (number, part) in [&frames[..cut], &frames[cut..]].into_iter().enumerate() {
            fs::write(name(folder.path(), number), recording(part)).unwrap();
        }
        for closes in [false, true] {
            let mut opened = Folder::open(folder.path()).unwrap();
            if closes {
                opened.close(true, Collector::default).unwrap();
            }
            // Whoever asks for a time that ends amid the gap, or begins there, is told, too.
            let second = |second: u64| ((BEGINNING + second * SECOND) / 1000) as i64;
            for (reported, is_said) in [
                (None, true),
                (Some(i64::MIN..second(33)), true),
                (Some(second(33)..i64::MAX), true),
                (Some(i64::MIN..second(28)), false),
                (Some(second(45)..i64::MAX), false),
            ] {
                let filter = Filter { reported: reported.clone(), ..Filter::default() };
                let noticed = opened.each(&filter, Collector::default, |_| ());
                let missing: Vec<_> = noticed.missing.into_iter().collect();
                match &missing[..] {
                    [((run, 0), Missing { intervals, first })] => assert!(
                        is_said && run == "north" && (3..=5).contains(intervals) && (30..=32).contains(first),
                        "{cut} {reported:?} {missing:?}"
                    ),
                    _ => assert!(!is_said && missing.is_empty(), "{cut} {reported:?} {missing:?}"),
                }
            }
        }
    }
    let folder = TempDir::new().unwrap();
    fs::write(name(folder.path(), 0), recording(&self::frames(60))).unwrap();
    let whole = Folder::open(folder.path()).unwrap().each(&Filter::default(), Collector::default, |_| ());
    assert!(whole.missing.is_empty());
}

/// Frames that were damaged on their way: what they said is in no number, and whoever asks for that time is told, whether recordings are closed or not.
#[test]
fn frames_that_are_left_out_are_named() {
    let mut frames = frames(60);
    // A bit of the numbers of three frames, which the check word covers.
    frames[4..7].iter_mut().for_each(|(_, frame)| frame[60] ^= 1);
    let folder = TempDir::new().unwrap();
    for (number, part) in [&frames[..40], &frames[40..]].into_iter().enumerate() {
        fs::write(name(folder.path(), number), recording(part)).unwrap();
    }
    for closes in [false, true] {
        let mut opened = Folder::open(folder.path()).unwrap();
        if closes {
            let work = opened.close(true, Collector::default).unwrap();
            assert_eq!(work.left_out, LeftOut { corrupted: 3, ..LeftOut::default() });
        }
        for (from, is_said) in [(0, true), (frames[50].0, false)] {
            let filter = Filter { reported: Some((from / 1000) as i64..i64::MAX), ..Filter::default() };
            let noticed = opened.each(&filter, Collector::default, |_| ());
            let left_out: Vec<LeftOut> = noticed.left_out.iter().map(|(_, left_out)| *left_out).collect();
            let expected = is_said.then_some(LeftOut { corrupted: 3, ..LeftOut::default() });
            assert_eq!(left_out, expected.into_iter().collect::<Vec<_>>(), "{closes} {from}");
        }
    }
    // What was closed is read again with the next recording, and has been said.
    let folder = TempDir::new().unwrap();
    for (number, part) in [&frames[..40], &frames[40..]].into_iter().enumerate() {
        fs::write(name(folder.path(), number), recording(part)).unwrap();
        let work = Folder::open(folder.path()).unwrap().close(true, Collector::default).unwrap();
        assert_eq!((work.closed.len(), work.left_out.corrupted), (1, if number == 0 { 3 } else { 0 }));
    }
}

/// Points that say the time, and a recorder whose clock is an hour wrong: whether the one doubts the other's clock is no number that makes two intervals of one.
#[test]
fn intervals_count_once_whatever_a_recorders_clock_makes_doubtful() {
    let frames: Vec<_> = frames_of(0, 60, None)
        .into_iter()
        .map(|(time, frame)| {
            let decoded = Frame::decode(&frame).unwrap();
            let (mut header, cells) = (decoded.header, decoded.cells::<Cell>().collect::<Vec<_>>());
            header.time = Some(AbsoluteTime { base: TimeBase::Unix, seconds: time / SECOND });
            let mut bytes = [0; MAX_FRAME_BYTES];
            let length = encode(&header, &cells, &mut bytes).unwrap();
            (time, bytes[..length].to_vec())
        })
        .collect();
    for (other, by) in [("south", 3600 * SECOND), ("alpha", 700 * SECOND)] {
        let folder = TempDir::new().unwrap();
        fs::write(name(folder.path(), 0), recording(&frames)).unwrap();
        let later: Vec<_> = frames.iter().map(|(time, frame)| (time + by, frame.clone())).collect();
        let path = folder.path().join(format!("{other}-20260123T120000.000000Z.pcapng"));
        fs::write(path, recording(&later)).unwrap();
        for closes in [false, true] {
            let mut opened = Folder::open(folder.path()).unwrap();
            if closes {
                opened.close(true, Collector::default).unwrap();
            }
            let (mut rows, mut doubted) = (0, 0);
            let noticed = opened.each(&Filter::default(), Collector::default, |table| {
                let table = table.unwrap();
                rows += having(&table, "mean_ns");
                let has_both = |place: &usize| {
                    ["mean_ns", "clock_doubted"].iter().all(|name| table.number(*place, name).is_some())
                };
                doubted += (0..table.rows().len()).filter(has_both).count();
            });
            assert!((58..=60).contains(&rows) && doubted == 0, "{other} {closes}: {rows} {doubted}");
            assert!(noticed.repeated.iter().map(|(_, intervals)| intervals).sum::<usize>() >= 58);
        }
    }
}

/// Recorders whose clocks are apart, and somebody who sends all frames again two hours later to one of another name: times that lie side by side hold each interval
/// once, with a mean or without one, and that of the replay none, whichever name comes first.
#[test]
fn times_side_by_side_hold_each_interval_once() {
    let all = frames(120);
    let later =
        |by: u64| all.iter().map(|(time, frame)| (time + by, frame.clone())).collect::<Vec<(u64, Vec<u8>)>>();
    let microseconds = |time: u64| (time / 1000) as i64;
    for (other, by) in [("south", 12_345), ("alpha", 12_345), ("south", 3 * SECOND), ("alpha", 7200 * SECOND)]
    {
        let folder = TempDir::new().unwrap();
        for (number, part) in all.chunks(100).enumerate() {
            fs::write(name(folder.path(), number), recording(part)).unwrap();
        }
        let expected = everything(folder.path());
        record_as(folder.path(), other, later(by).chunks(130));
        for closes in [false, true] {
            let mut opened = Folder::open(folder.path()).unwrap();
            if closes {
                opened.close(true, Collector::default).unwrap();
            }
            let of = |reported| {
                let mut rows = vec![];
                let filter = Filter { reported: Some(reported), ..Filter::default() };
                let noticed = opened
                    .each(&filter, Collector::default, |table| rows.extend_from_slice(table.unwrap().rows()));
                let repeated = noticed.repeated.iter().map(|(_, intervals)| intervals).sum::<usize>();
                (rows.into_iter().map(|row| row.interval).collect::<Vec<u32>>(), repeated)
            };
            for cut in [0, 1, 17, 60, 100, 119, 125] {
                let cut = microseconds(BEGINNING + cut * SECOND + SECOND / 2);
                let end = microseconds(BEGINNING + 3600 * SECOND);
                let [(mut both, _), (behind, _)] = [of(i64::MIN..cut), of(cut..end)];
                both.extend(behind);
                both.sort_unstable();
                let once: Vec<u32> = expected.rows().iter().map(|row| row.interval).collect();
                assert_eq!(both, once, "{other} {by} {closes} {cut}");
            }
            if by > 3600 * SECOND {
                let (rows, repeated) = of(microseconds(BEGINNING + 3600 * SECOND)..i64::MAX);
                // Those without a mean may be alike by chance.
                assert!(rows.len() <= 2 && repeated >= 118, "{} {repeated}", rows.len());
            }
        }
    }
}

/// A file of numbers that was copied, or moved, under the name of a later hour, where it would count twice or take a recording's place.
#[test]
fn copied_and_renamed_files_of_numbers_are_refused() {
    let folder = TempDir::new().unwrap();
    fs::write(name(folder.path(), 0), recording(&frames(30))).unwrap();
    Folder::open(folder.path()).unwrap().close(true, Collector::default).unwrap();
    let files = || fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let table = files().find(|path| path.extension().unwrap() == "parquet").unwrap();
    let copied = table.to_str().unwrap().replace("T000000", "T000100");
    fs::copy(&table, &copied).unwrap();
    let told = || {
        let (mut rows, mut refused) = (0, vec![]);
        let opened = Folder::open(folder.path()).unwrap();
        opened.each(&Filter::default(), Collector::default, |table| match table {
            Ok(table) => rows += table.rows().len(),
            Err(error) => refused.push(error.to_string()),
        });
        (rows, refused)
    };
    let is_refused = |refused: &[String]| matches!(refused, [only] if only.starts_with(&format!("{copied}: damaged, or renamed")));
    let (rows, refused) = told();
    assert!(rows == 30 && is_refused(&refused), "{rows} {refused:?}");
    // Recordings of other intervals that seem to be closed: neither hidden without a word nor removed, nor what the first of them may need.
    for number in [1, 2] {
        fs::write(name(folder.path(), number), recording(&frames(3))).unwrap();
    }
    std::thread::sleep(Duration::from_millis(20));
    let mut opened = Folder::open(folder.path()).unwrap();
    opened.close(true, Collector::default).unwrap();
    assert_eq!(removed(&opened, 5), Vec::<PathBuf>::new());
    assert!(is_refused(&told().1), "{:?}", told().1);
    // Moved while its recording is there: the recording's numbers count, and no others.
    fs::write(name(folder.path(), 0), recording(&frames(30))).unwrap();
    fs::rename(&table, &copied).unwrap();
    for number in [1, 2] {
        fs::remove_file(name(folder.path(), number)).unwrap();
    }
    let (rows, refused) = told();
    assert!(rows == 30 && is_refused(&refused), "{rows} {refused:?}");
}

/// Two recorders of a path that loses everything and then nothing: nobody knows a mean of most of it. What is alike by chance, hours later, is not the same.
#[test]
fn intervals_that_lost_everything_count_once_of_two_recorders() {
    let settings = Settings { segment: 3, rows: 16, ..Settings::default() };
    let configuration = Configuration::new(settings).unwrap();
    let mut points = [Role::Sender, Role::Receiver].map(|role| MeasurementPoint::new(&configuration, role));
    let mut frames = vec![];
    for interval in 0..30u64 {
        for (end, point) in points.iter_mut().enumerate() {
            for packet in 0..50 {
                if end == 1 && interval < 25 {
                    continue;
                }
                let mut bytes = [0; 46];
                bytes[12..18].copy_from_slice(&[0x08, 0x00, 0x45, 0, 0, 32]);
                bytes[38..].copy_from_slice(&(1000 * interval + packet).to_be_bytes());
                let time = interval * SECOND + packet * 1_000_000;
                point.observe(&bytes, Timestamp::from_nanoseconds(time + 5000 * end as u64));
            }
            let captured = BEGINNING + (interval + 1) * SECOND;
            point.end_interval(IntervalEnd::Delimiter, |frame| frames.push((captured, frame.to_vec())));
        }
    }
    for (later, expected) in [(0, 30), (1_700_000_000, 30), (3600 * SECOND, 55)] {
        let folder = TempDir::new().unwrap();
        for (recorder, later) in [("north", 0), ("south", later)] {
            let frames: Vec<_> = frames.iter().map(|(time, frame)| (time + later, frame.clone())).collect();
            let path = folder.path().join(format!("{recorder}-20260123T100000.000000Z.pcapng"));
            fs::write(path, recording(&frames)).unwrap();
        }
        for closes in [false, true] {
            if closes {
                Folder::open(folder.path()).unwrap().close(true, Collector::default).unwrap();
            }
            let table = everything(folder.path());
            let lost: i64 = sum(&table, "lost");
            assert_eq!(table.rows().len(), expected, "{later} {closes}");
            assert!(lost == 25 * 50 * if expected == 30 { 1 } else { 2 }, "{later} {closes}: {lost}");
        }
    }
}

/// Files of numbers with the right check in their names, each with one byte of what describes it changed, at some of which the library panics: they are
/// read, or refused by name.
#[test]
fn files_of_numbers_that_contradict_themselves_are_refused_by_name() {
    let folder = TempDir::new().unwrap();
    fs::write(name(folder.path(), 0), recording(&frames(20))).unwrap();
    let work = Folder::open(folder.path()).unwrap().close(true, Collector::default).unwrap();
    fs::remove_file(&work.closed[0]).unwrap();
    let table = fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let bytes = fs::read(&table).unwrap();
    let (mut read, mut refused) = (0, 0);
    let end = bytes.len() - 8;
    let footer = u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap()) as usize;
    for place in (end - footer..end).step_by(5) {
        let mut forged = bytes.clone();
        forged[place] = 0x7f;
        let folder = TempDir::new().unwrap();
        let path = folder
            .path()
            .join(format!("north.{:016x}.parquet", xxh3_64_with_seed(&forged, xxh3_64(b"north"))));
        fs::write(&path, forged).unwrap();
        match Folder::open(folder.path()).unwrap().read(&Filter::default(), Collector::default) {
            Ok(_) => read += 1,
            Err(error) => {
                assert!(error.to_string().starts_with(path.to_str().unwrap()), "{error}");
                refused += 1;
            }
        }
    }
    assert!(read > 50 && refused > 50, "{read} read, {refused} refused");
}

/// Who may read a recording may read its numbers: a file of numbers has the permissions of any new file.
#[cfg(unix)]
#[test]
fn files_of_numbers_are_as_readable_as_recordings() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempDir::new().unwrap();
    fs::write(name(folder.path(), 0), recording(&frames(10))).unwrap();
    Folder::open(folder.path()).unwrap().close(true, Collector::default).unwrap();
    let modes: Vec<u32> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().permissions().mode() & 0o777)
        .collect();
    assert_eq!(modes.len(), 2);
    assert_eq!(modes[0], modes[1]);
}

/// Behind 200 genuine seconds, signed frames of 600 earlier intervals that nobody recorded are sent again, and the genuine ones are held back; another
/// segment goes on. What is refused of the whole is refused by a store that is closed, and cleared, as it goes.
#[test]
fn old_frames_that_come_for_long_are_never_stored_as_new() {
    let (key, taking) = key(7);
    let collector = || taking.clone();
    let number = |frame: &[u8]| u64::from(u32::from_be_bytes(frame[20..24].try_into().unwrap()));
    let mut all = vec![];
    for (_, frame) in frames_of(1, 800, Some(key.clone())) {
        // 600 to 799 are genuine.
        all.push(((number(&frame) + 200) % 800, frame));
    }
    all.extend(frames_of(2, 800, Some(key.clone())).into_iter().map(|(_, frame)| (number(&frame), frame)));
    all.sort_by_key(|(second, _)| *second);
    let folder = TempDir::new().unwrap();
    let mut starved = vec![];
    for now in [350, 550, 750, 800] {
        for begins in (0..now).step_by(200).filter(|begins| now - begins <= 400) {
            let of_file = all.iter().filter(|(second, _)| (begins..now.min(begins + 200)).contains(second));
            let frames: Vec<_> =
                of_file.map(|(second, frame)| (BEGINNING + second * SECOND, frame.clone())).collect();
            fs::write(name(folder.path(), begins as usize / 10), recording(&frames)).unwrap();
        }
        let mut opened = Folder::open(folder.path()).unwrap();
        let work = opened.close(false, collector).unwrap();
        starved.push((work.starved.len(), work.left_out.replayed > 0));
        opened.remove(Duration::ZERO).unwrap();
        let table = opened.read(&Filter::default(), collector).unwrap();
        assert!(table.rows().iter().all(|row| row.authenticated));
        let of = |segment| {
            let rows = table.rows().iter().filter(move |row| row.segment == segment);
            rows.map(|row| row.interval).collect::<Vec<_>>()
        };
        assert_eq!(of(1), (600..800).collect::<Vec<_>>(), "{now} s");
        assert_eq!(of(2), (0..now as u32).collect::<Vec<_>>(), "{now} s");
    }
    assert_eq!(starved, [(1, true); 4]);
}

/// The wrong key, at first: nothing is closed that it believes nothing of, and nothing is lost. Frames of others among signed ones are left out.
#[test]
fn recordings_without_a_right_tag_are_neither_closed_nor_removed() {
    let [(right_key, right), (wrong_key, _), (_, other)] = [7, 8, 9].map(key);
    let collector = |taking: &Collector| {
        let taking = taking.clone();
        move || taking.clone()
    };
    let signed = frames_of(1, 60, Some(right_key));
    let forged = frames_of(1, 60, Some(wrong_key));
    let (third, folder) = (signed.len() / 3, TempDir::new().unwrap());
    // One frame of somebody else's in the first one, and nothing but such in the last one.
    let parts = [
        [&forged[..1], &signed[..third]].concat(),
        signed[third..2 * third].to_vec(),
        signed[2 * third..].to_vec(),
        forged[2 * third..].to_vec(),
    ];
    for (number, part) in parts.iter().enumerate() {
        fs::write(name(folder.path(), number), recording(part)).unwrap();
    }
    let names = [0, 1, 2, 3].map(|number| name(folder.path(), number));
    std::thread::sleep(Duration::from_millis(20));
    let close = |taking: &Collector| {
        let mut opened = Folder::open(folder.path()).unwrap();
        let work = opened.close(true, collector(taking)).unwrap();
        (work, removed(&opened, 5))
    };
    let (work, removed) = close(&other);
    assert_eq!((&work.closed, &work.distrusted, removed), (&vec![], &names.to_vec(), vec![]));
    assert_eq!((work.intervals, work.left_out.unauthentic), (0, parts.concat().len() as u64));
    let (work, removed) = close(&right);
    assert_eq!(
        (&work.closed[..], &work.distrusted[..], &removed[..]),
        (&names[..3], &names[3..], &names[..2])
    );
    assert_eq!((work.intervals, work.left_out.unauthentic), (60, 1 + parts[3].len() as u64));
    // Whoever asks for them has them all, and the last one is there still.
    let table = Folder::open(folder.path()).unwrap().read(&Filter::default(), collector(&right)).unwrap();
    assert_eq!(table.rows().len(), 60);
    assert!(names[2].exists() && names[3].exists());
    // Without a key, what is in it is told for what it is.
    let mut opened = Folder::open(folder.path()).unwrap();
    let work = opened.close(true, Collector::default).unwrap();
    assert_eq!((&work.closed[..], work.distrusted.len(), work.left_out.unauthentic), (&names[3..], 0, 0));
}

/// The clock is set back, long before and within a recording, as a boot with a wrong clock ends. Recordings of 200 seconds are called after what
/// it showed, so that one that is still written to has a name before others', and are stamped by it.
#[test]
fn a_clock_that_is_set_back_loses_no_interval() {
    for (step, when) in [(900, 20), (100, 250)] {
        let clock = |second: u64| second + if second < when { step } else { 0 };
        // All control frames of an interval come together.
        let stamped = frames(800).into_iter().map(|(_, frame)| {
            let second = u64::from(u32::from_be_bytes(frame[20..24].try_into().unwrap()));
            (second, (BEGINNING + clock(second) * SECOND, frame))
        });
        let mut all: Vec<(u64, (u64, Vec<u8>))> = stamped.collect();
        all.sort_by_key(|(second, _)| *second);
        let folder = TempDir::new().unwrap();
        let mut closed = 0;
        for now in [250, 450, 650, 800] {
            for begins in (0..now).step_by(200) {
                let of_file =
                    all.iter().filter(|(second, _)| (begins..now.min(begins + 200)).contains(second));
                let frames: Vec<_> = of_file.map(|(_, frame)| frame.clone()).collect();
                fs::write(name(folder.path(), (clock(begins) / 10) as usize), recording(&frames)).unwrap();
            }
            let mut opened = Folder::open(folder.path()).unwrap();
            closed += opened.close(false, Collector::default).unwrap().closed.len();
            let table = everything(folder.path());
            let mut found: Vec<_> = table.rows().iter().map(|row| row.interval).collect();
            found.sort();
            let expected: Vec<u32> = (0..now as u32).collect();
            assert_eq!(found, expected, "{step} s back at {when} s, {now} s");
            assert!(table.column("sent").unwrap().iter().all(|sent| *sent == Some(50)));
        }
        assert!(closed >= 3, "{closed}");
    }
}

/// One recording of a run of three has bytes cut out of its middle, or begins with others: what lies in front of that counts, and so do all other recordings, which are
/// closed.
#[test]
fn a_damaged_recording_costs_no_other_one() {
    let frames = frames(90);
    let parts: Vec<Vec<u8>> = frames.chunks(frames.len() / 3).map(recording).collect();
    let other = recording(&frames_of(9, 20, None));
    let folder = TempDir::new().unwrap();
    parts.iter().enumerate().for_each(|(number, part)| fs::write(name(folder.path(), number), part).unwrap());
    let whole: BTreeMap<u32, _> =
        named(&everything(folder.path())).into_iter().map(|(row, numbers)| (row.interval, numbers)).collect();
    for (cut, least) in [(parts[1].len() / 2..parts[1].len() / 2 + 500, 70), (0..30, 58)] {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("zulu-20260123T120000.000000Z.pcapng"), &other).unwrap();
        for (number, mut part) in parts.clone().into_iter().enumerate() {
            if number == 1 {
                part.drain(cut.clone());
            }
            fs::write(name(folder.path(), number), part).unwrap();
        }
        for closes in [false, true] {
            let mut opened = Folder::open(folder.path()).unwrap();
            if closes {
                let work = opened.close(true, Collector::default).unwrap();
                let damaged: Vec<_> = work.damaged.iter().map(|(path, _)| path.clone()).collect();
                assert_eq!((work.closed.len(), damaged), (3, vec![name(folder.path(), 1)]));
                // It is still there, and the one in front of it, in which its first interval began.
                assert!(removed(&opened, 0).is_empty());
            }
            let (mut rows, mut errors) = (vec![], vec![]);
            opened.each(&Filter::default(), Collector::default, |table| match table {
                Ok(table) => rows.extend(named(&table)),
                Err(error) => errors.push(error),
            });
            assert!(
                matches!(&errors[..], [StoreError::Recording { path, .. }] if *path == name(folder.path(), 1))
            );
            let of = |segment| rows.iter().filter(move |(row, _)| row.segment == segment);
            assert_eq!(of(9).count(), 20);
            let sound: Vec<_> = of(0).filter(|(_, numbers)| numbers.contains_key("sent")).collect();
            assert!(sound.iter().all(|(row, numbers)| whole[&row.interval] == *numbers), "{cut:?}");
            assert!((least..90).contains(&sound.len()), "{cut:?}: {}", sound.len());
        }
    }
}

/// A recording of one end alone, whose intervals are all void, and one of which all is known: programs that read all files find the same columns in each.
#[test]
fn all_files_of_numbers_have_the_same_columns() {
    let frames = frames(40);
    let folder = TempDir::new().unwrap();
    let void: Vec<_> = frames.iter().step_by(2).cloned().collect();
    for (number, part) in [&void[..10], &frames[20..]].into_iter().enumerate() {
        fs::write(name(folder.path(), number), recording(part)).unwrap();
    }
    Folder::open(folder.path()).unwrap().close(true, Collector::default).unwrap();
    let files = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().path());
    let files = files.filter(|path| path.extension().is_some_and(|ending| ending == "parquet"));
    let bytes: Vec<Bytes> = files.map(|path| fs::read(path).unwrap().into()).collect();
    let columns = |bytes: &Bytes| -> Vec<String> {
        let file = SerializedFileReader::new(bytes.clone()).unwrap();
        let columns = file.metadata().file_metadata().schema_descr().columns();
        columns.iter().map(|column| column.name().to_string()).collect()
    };
    let all: Vec<Vec<String>> = bytes.iter().map(columns).collect();
    assert!(all.len() == 2 && all[0] == all[1], "{all:?}");
    let tables: Vec<Table> = bytes
        .into_iter()
        .map(|bytes| TableFile::open(bytes).unwrap().rows(&Filter::default()).unwrap())
        .collect();
    let [one, other] = &tables[..] else { panic!("{} files", tables.len()) };
    let means = |table: &Table| having(table, "mean_ns");
    let [least, most] = [means(one).min(means(other)), means(one).max(means(other))];
    assert!(least == 0 && most > 20, "{least} {most}");
    // None has one that the others lack, in an order of its own.
    let known = ["sent", "received", "lost", "lost_ci95_low", "lost_ci95_high"];
    assert_eq!(all[0][5..10], known);
}

/// A recording that somebody compressed under another name.
#[test]
fn what_is_no_recording_any_more_is_named() {
    let folder = TempDir::new().unwrap();
    let compressed = folder.path().join("north-20260123T090000.000000Z.pcapng.gz");
    fs::write(&compressed, "compressed").unwrap();
    fs::write(folder.path().join("notes.txt"), "of somebody").unwrap();
    fs::write(name(folder.path(), 0), recording(&frames(10))).unwrap();
    let mut opened = Folder::open(folder.path()).unwrap();
    let noticed = opened.each(&Filter::default(), Collector::default, |_| ());
    assert_eq!(noticed.passed_over, std::slice::from_ref(&compressed));
    assert_eq!(opened.close(true, Collector::default).unwrap().passed_over, [compressed]);
}

/// Recordings are told apart by names as text: of two whose names are the same there, the one would stand for the other.
#[cfg(unix)]
#[test]
fn names_that_are_no_text_are_passed_over() {
    use std::os::unix::ffi::OsStrExt;
    let folder = TempDir::new().unwrap();
    let names =
        [b"n\xfe.pcapng", b"n\xff.pcapng"].map(|name| folder.path().join(std::ffi::OsStr::from_bytes(name)));
    names.iter().for_each(|path| fs::write(path, recording(&frames(10))).unwrap());
    fs::write(name(folder.path(), 0), recording(&frames(10))).unwrap();
    let mut opened = Folder::open(folder.path()).unwrap();
    let work = opened.close(true, Collector::default).unwrap();
    assert_eq!((work.passed_over, work.closed), (names.to_vec(), vec![name(folder.path(), 0)]));
    assert!(removed(&opened, 0).is_empty());
}

/// A file of numbers whose name says that its recording was longer than it is, beside the genuine one.
#[test]
fn the_file_of_a_recording_as_it_is_counts() {
    let folder = TempDir::new().unwrap();
    fs::write(name(folder.path(), 0), recording(&frames(30))).unwrap();
    Folder::open(folder.path()).unwrap().close(true, Collector::default).unwrap();
    let expected = named(&everything(folder.path()));
    let mut forged = vec![];
    table_file::write(Table::default(), &BTreeMap::new(), LeftOut::default(), &mut forged).unwrap();
    let recording = name(folder.path(), 0).file_stem().unwrap().to_string_lossy().into_owned();
    let check = xxh3_64_with_seed(&forged, xxh3_64(recording.as_bytes()));
    fs::write(folder.path().join(format!("{recording}.{check:016x}-99999999.parquet")), forged).unwrap();
    assert_eq!(named(&everything(folder.path())), expected);
    assert_eq!(expected.len(), 30);
}

/// What segments have come to is not signed: whoever forges it can have all that follows look like frames that were sent again.
#[test]
fn recordings_of_replays_alone_are_neither_closed_nor_removed() {
    let (key, taking) = key(7);
    let collector = || taking.clone();
    let signed = frames_of(1, 60, Some(key));
    let folder = TempDir::new().unwrap();
    // As if what the first one's file says had been forged.
    fs::write(name(folder.path(), 0), recording(&signed)).unwrap();
    Folder::open(folder.path()).unwrap().close(true, collector).unwrap();
    fs::rename(name(folder.path(), 0), name(folder.path(), 1)).unwrap();
    fs::write(name(folder.path(), 2), recording(&signed[..1])).unwrap();
    std::thread::sleep(Duration::from_millis(20));
    let mut opened = Folder::open(folder.path()).unwrap();
    let work = opened.close(true, collector).unwrap();
    let names = [1, 2].map(|number| name(folder.path(), number));
    assert_eq!((work.closed, work.distrusted), (vec![], names.to_vec()));
    assert!(work.left_out.replayed as usize > signed.len() && removed(&opened, 5).is_empty());
}
