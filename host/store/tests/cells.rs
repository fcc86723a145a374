//! Intervals with their cells out of a folder's recordings, against what one whole recording holds.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod common;

use common::{BEGINNING, SECOND, frames, frames_of, frames_with, key, name, record_as, recording};
use deltaline_collect::collector::Collector;
use deltaline_collect::feed::Source;
use deltaline_collect::follower::{Follower, Happening};
use deltaline_collect::pair::Interval;
use deltaline_store::{Filter, Folder, Kept, NoCells, Noticed, Row, StoreError};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::BTreeMap;
use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;
use tempfile::TempDir;

/// The intervals of one recording, by number, read as one.
fn whole(frames: &[(u64, Vec<u8>)]) -> BTreeMap<u32, Interval> {
    let folder = TempDir::new().unwrap();
    let path = name(folder.path(), 0);
    fs::write(&path, recording(frames)).unwrap();
    let source = Source::open(path.to_str().unwrap()).unwrap();
    let mut follower = Follower::new(source, Collector::default(), Duration::ZERO);
    let mut all = vec![];
    while !all.iter().any(|each| matches!(each, Happening::End)) {
        all.extend(follower.next_happenings().unwrap());
    }
    all.extend(follower.finish().0);
    let intervals = all.into_iter().filter_map(|each| match each {
        Happening::Interval(followed) => Some((followed.interval.number, followed.interval)),
        _ => None,
    });
    intervals.collect()
}

/// All that a folder hands out.
fn kept(folder: &Path, filter: &Filter, collector: &Collector) -> (Vec<Result<Kept, StoreError>>, Noticed) {
    let mut all = vec![];
    let noticed = Folder::open(folder).unwrap().each_with_cells(
        filter,
        || collector.clone(),
        |kept| {
            all.push(kept);
            ControlFlow::Continue(())
        },
    );
    (all, noticed)
}

/// What counts, by [`Folder::each`].
fn counted(folder: &Path, filter: &Filter, collector: &Collector) -> Vec<Row> {
    let mut rows = vec![];
    Folder::open(folder).unwrap().each(
        filter,
        || collector.clone(),
        |table| rows.extend(table.into_iter().flat_map(|table| table.rows().to_vec())),
    );
    rows.sort_by_key(|row| (row.segment, row.reported, row.interval));
    rows
}

/// What is handed out is what counts, each once; what has no cells, and why.
#[track_caller]
fn check(
    folder: &Path,
    filter: &Filter,
    expected: &BTreeMap<u32, Interval>,
) -> Vec<(u32, Result<Interval, NoCells>)> {
    let collector = Collector::default();
    let (all, _) = kept(folder, filter, &collector);
    let all: Vec<Kept> = all.into_iter().filter_map(Result::ok).collect();
    let mut rows: Vec<Row> = all.iter().map(|kept| kept.table.rows()[0].clone()).collect();
    rows.sort_by_key(|row| (row.segment, row.reported, row.interval));
    assert!(all.iter().all(|kept| kept.table.rows().len() == 1));
    assert_eq!(rows, counted(folder, filter, &collector));
    let mut others = vec![];
    for Kept { table, followed } in all {
        let number = table.rows()[0].interval;
        match followed.map(|followed| followed.interval) {
            Ok(found) => {
                let known = &expected[&number];
                let is_same = (&found.sender, &found.receiver) == (&known.sender, &known.receiver);
                if !is_same || found.void.is_some() {
                    others.push((number, Ok(found)));
                }
            }
            Err(reason) => others.push((number, Err(reason))),
        }
    }
    others
}

#[test]
fn rotated_recordings_hold_the_cells_of_one_before_and_after_closing() {
    let frames = frames(400);
    let expected = whole(&frames);
    assert_eq!(expected.len(), 400);
    let folder = TempDir::new().unwrap();
    let mut rng = StdRng::seed_from_u64(5);
    let mut begins = 0;
    for number in 0..6 {
        let ends =
            if number == 5 { frames.len() } else { begins + frames.len() / 7 + rng.random_range(0..40) };
        fs::write(name(folder.path(), number), recording(&frames[begins..ends])).unwrap();
        begins = ends;
        Folder::open(folder.path()).unwrap().close(false, Collector::default).unwrap();
        let known: BTreeMap<_, _> = whole(&frames[..ends]).into_iter().collect();
        assert_eq!(
            check(folder.path(), &Filter::default(), &known).len(),
            known.values().filter(|each| each.void.is_some()).count()
        );
    }
    Folder::open(folder.path()).unwrap().close(true, Collector::default).unwrap();
    assert_eq!(check(folder.path(), &Filter::default(), &expected), []);
    // A part: the numbers of the hundredth to the hundred and fiftieth, and none of a segment that is none.
    let reported = |number: u64| ((BEGINNING + (number + 2) * SECOND) / 1000) as i64;
    let part = Filter { reported: Some(reported(100)..reported(150)), ..Filter::default() };
    let (all, _) = kept(folder.path(), &part, &Collector::default());
    let numbers: Vec<u32> = all.iter().map(|kept| kept.as_ref().unwrap().table.rows()[0].interval).collect();
    assert_eq!(numbers, (100..150).collect::<Vec<_>>());
    assert_eq!(check(folder.path(), &part, &expected), []);
    let other = Filter { segment: Some(2), ..Filter::default() };
    assert!(kept(folder.path(), &other, &Collector::default()).0.is_empty());
    // Whoever has enough gets no more.
    let mut taken = 0;
    Folder::open(folder.path()).unwrap().each_with_cells(&Filter::default(), Collector::default, |_| {
        taken += 1;
        if taken < 70 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    assert_eq!(taken, 70);
}

/// Those of recordings that are not there any more; what began in one of them is void, or has other numbers than were stored.
#[test]
fn what_was_removed_is_said() {
    let frames = frames(300);
    let expected = whole(&frames);
    let folder = TempDir::new().unwrap();
    for (number, part) in frames.chunks(201).enumerate() {
        fs::write(name(folder.path(), number), recording(part)).unwrap();
    }
    Folder::open(folder.path()).unwrap().close(true, Collector::default).unwrap();
    fs::remove_file(name(folder.path(), 1)).unwrap();
    let others = check(folder.path(), &Filter::default(), &expected);
    let is_removed = |each: &&(u32, Result<Interval, NoCells>)| matches!(&each.1, Err(NoCells::Removed { recording }) if recording.contains("T000100"));
    let removed = others.iter().filter(is_removed).count();
    // The first recording's last interval ends in the second one, whose last one ends in the third.
    let rest: Vec<_> = others.iter().filter(|each| !is_removed(each)).collect();
    assert!((48..=52).contains(&removed), "{removed}");
    assert!(matches!(rest[..], [(_, Ok(found))] if found.void.is_some()), "{rest:?}");
}

/// A recording that ends with an interval, and one that has a frame of the next and then, hours later, the rest.
#[test]
fn pauses_hide_no_interval() {
    let (frames, late) = (frames(40), 7200 * SECOND);
    let folder = TempDir::new().unwrap();
    let (first, second) = frames.split_at(100);
    let paused =
        |(place, (time, frame)): (u64, &(u64, Vec<u8>))| (time + late * (1 + place.min(1)), frame.clone());
    let second: Vec<_> = (0..).zip(second).map(paused).collect();
    let all = [first, &second].concat();
    for (number, part) in [first, &second].into_iter().enumerate() {
        fs::write(name(folder.path(), number), recording(part)).unwrap();
    }
    for closes in [false, true] {
        if closes {
            Folder::open(folder.path()).unwrap().close(true, Collector::default).unwrap();
        }
        assert_eq!(check(folder.path(), &Filter::default(), &whole(&all)), []);
    }
}

/// Two recorders, one of whom is cut elsewhere; somebody who sends frames again in the same run, in another, and hours later.
#[test]
fn what_comes_again_is_handed_out_once() {
    let frames = frames(120);
    let expected = whole(&frames);
    let later =
        |by: u64| -> Vec<_> { frames.iter().map(|(time, frame)| (time + by, frame.clone())).collect() };
    let (soon, hours) = (later(12_345), later(7200 * SECOND));
    for closes in [false, true] {
        let folder = TempDir::new().unwrap();
        record_as(folder.path(), "north", [&frames[..100], &frames[100..], &hours[..50]]);
        record_as(folder.path(), "south", [&soon[..77], &soon[77..]]);
        record_as(folder.path(), "again", [&hours[..]]);
        if closes {
            Folder::open(folder.path()).unwrap().close(true, Collector::default).unwrap();
        }
        let others = check(folder.path(), &Filter::default(), &expected);
        // Void ones have no numbers by which they are known again.
        assert!(
            others.iter().all(|(_, found)| found.as_ref().is_ok_and(|found| found.void.is_some())),
            "{others:?}"
        );
        let (all, noticed) = kept(folder.path(), &Filter::default(), &Collector::default());
        assert!(noticed.repeated.iter().map(|(_, many)| many).sum::<usize>() > 200, "{noticed:?}");
        let usable = all
            .iter()
            .flatten()
            .filter(|kept| kept.followed.as_ref().is_ok_and(|it| it.interval.void.is_none()));
        assert_eq!(usable.count(), 120);
    }
}

/// Closed recordings that are cut or damaged behind their closing: nothing that is handed out is another interval, and nothing is missing.
#[test]
fn recordings_that_are_not_what_they_were_say_so() {
    let frames = frames(24);
    let expected = whole(&frames);
    let (first, second) = frames.split_at(frames.len() / 2);
    let folder = TempDir::new().unwrap();
    fs::write(name(folder.path(), 0), recording(first)).unwrap();
    fs::write(name(folder.path(), 1), recording(second)).unwrap();
    Folder::open(folder.path()).unwrap().close(true, Collector::default).unwrap();
    let bytes = recording(first);
    let mut rng = StdRng::seed_from_u64(7);
    let (mut missing, mut unreadable, mut void) = (0, 0, 0);
    for trial in 0..200 {
        let mut changed = bytes.clone();
        if trial % 2 == 0 {
            changed.truncate(rng.random_range(0..bytes.len()));
        } else {
            changed[rng.random_range(0..bytes.len())] ^= 1 << rng.random_range(0..8);
        }
        fs::write(name(folder.path(), 0), changed).unwrap();
        for (number, found) in check(folder.path(), &Filter::default(), &expected) {
            match found {
                Ok(found) => {
                    assert!(found.void.is_some(), "trial {trial}: interval {number} is another one");
                    void += 1;
                }
                Err(NoCells::Missing { .. }) => missing += 1,
                Err(NoCells::Unreadable { .. }) => unreadable += 1,
                Err(reason) => panic!("trial {trial}: {reason}"),
            }
        }
    }
    println!("{missing} missing, {unreadable} unreadable, {void} void");
    assert!(missing > 300 && unreadable > 10 && void > 10, "{missing} {unreadable} {void}");
    // Another one under its name, of the same times.
    let other = frames_with(0, 24, 20, None);
    fs::write(name(folder.path(), 0), recording(&other[..first.len()])).unwrap();
    let found = check(folder.path(), &Filter::default(), &expected);
    let changed = found.iter().filter(|(_, found)| matches!(found, Err(NoCells::Changed { .. }))).count();
    assert!(changed >= 10, "{found:?}");
}

/// Signed ones with the key that signed them, with another one, and without.
#[test]
fn cells_are_of_signed_frames_where_a_key_is_given() {
    let ((right, with_right), (_, with_wrong)) = (key(7), key(8));
    let signed = frames_of(0, 120, Some(right));
    let folder = TempDir::new().unwrap();
    for (number, part) in signed.chunks(81).enumerate() {
        fs::write(name(folder.path(), number), recording(part)).unwrap();
    }
    let filter = Filter { authenticated: true, ..Filter::default() };
    let found = |collector: &Collector, filter: &Filter| {
        let (all, _) = kept(folder.path(), filter, collector);
        let [mut signed, mut unsigned, mut missing] = [0; 3];
        for each in all.into_iter().map(Result::unwrap) {
            match each.followed {
                Ok(followed) if followed.interval.void.is_some() => {}
                Ok(followed) if followed.interval.authenticated => signed += 1,
                Ok(_) => unsigned += 1,
                Err(NoCells::Missing { .. }) => missing += 1,
                Err(reason) => panic!("{reason}"),
            }
        }
        [signed, unsigned, missing]
    };
    assert_eq!(found(&with_right, &filter), [120, 0, 0]);
    Folder::open(folder.path()).unwrap().close(true, || with_right.clone()).unwrap();
    assert_eq!(found(&with_right, &filter), [120, 0, 0]);
    assert_eq!(found(&with_wrong, &filter), [0, 0, 120]);
    assert_eq!(found(&Collector::default(), &Filter::default()), [0, 120, 0]);
    // Frames that came before what is asked for, sent again behind it, are replays.
    let end = signed[signed.len() - 1].0;
    let again: Vec<_> =
        signed[..60].iter().map(|(time, frame)| (time + end - BEGINNING, frame.clone())).collect();
    fs::write(name(folder.path(), 9), recording(&again)).unwrap();
    assert_eq!(found(&with_right, &filter), [120, 0, 0]);
}
