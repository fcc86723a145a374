//! Single flows from a store: `deltaline query --flows` says what `read --flows` says of the same recording.
//!
//! # Test plan
//!
//! * Recordings cut within intervals, closed or not, against `read` of the whole: the same intervals, the same flows, by each order, as JSON and as text.
//! * A part by time, by segment, of an empty store; a store of two recorders, in which each interval counts once.
//! * Recordings that were removed, cut anywhere, damaged or repeated: each interval that `query` counts is there, with the flows of the whole recording or a
//!   reason, and the exit code says so.
//! * Designs of other points, recordings without cells of flows, files of flows that are none, periods: refused with the remedy.
#![allow(clippy::unwrap_used)]

use crate::common::reading::{lines, of};
use crate::common::{Folder, RECEIVER, Run, SENDER, packets, run};
use crate::flows_of_points::{design, frames, named};
use crate::keys::forge;
use deltaline_capture::Packet;
use serde_json::{Value, json};
use std::fs;

/// Where recordings are cut: within intervals.
const PARTS: usize = 3;

/// A store of points with cells of flows, in parts, and what the tests ask it for.
struct Stored {
    folder: Folder,
    design: String,
    flows: String,
    store: String,
    /// All of it as one recording.
    whole: String,
    packets: Vec<Packet>,
}

impl Stored {
    fn new() -> Self {
        let folder = Folder::new();
        let (design, flows) = (design(&folder, 256, 3), named(&folder));
        let mut packets = packets(frames(&design, "250ms"));
        for (place, packet) in (0..).zip(&mut packets) {
            packet.timestamp = 1_790_000_000_000_000_000 + place * 10_000_000;
        }
        let store = folder.path("store");
        fs::create_dir(&store).unwrap();
        let whole = folder.frames("whole.pcapng", &packets);
        let stored = Stored { folder, design, flows, store, whole, packets };
        stored.record("lab", 0, 1);
        stored
    }

    /// Parts as a recorder of this name has them, whose clock is late by so many nanoseconds, and whose first one has some packets more.
    fn record(&self, recorder: &str, late: u64, more: usize) {
        let later = |packet: &Packet| Packet { timestamp: packet.timestamp + late, ..packet.clone() };
        let all: Vec<Packet> = self.packets.iter().map(later).collect();
        let mut rest = &all[..];
        for part in 0..PARTS {
            let end = if part + 1 == PARTS { rest.len() } else { all.len() / PARTS + more * (PARTS - part) };
            let (here, behind) = rest.split_at(end);
            self.folder.frames(&part_of(recorder, part), here);
            rest = behind;
        }
    }

    /// A store of its own with one recording, whose control frames were changed, and have right check words.
    fn forged(&self, change: impl Fn(&mut [u8])) -> String {
        let mut forged = self.packets.clone();
        forged.iter_mut().for_each(|frame| forge(frame, &change));
        fs::create_dir(self.folder.path("forged")).unwrap();
        self.folder.frames("forged/forged.pcapng", &forged)
    }

    /// What belongs to every question.
    fn about(&self) -> [&str; 4] {
        ["--design", &self.design, "--flows", &self.flows]
    }

    fn query(&self, more: &[&str]) -> Run {
        run(&[&["query", &self.store][..], &self.about(), more].concat())
    }

    /// Pairs of an interval and its flows, as lines of `query` or of `read`; the interval by what both have of it.
    fn pairs(&self, run: &Run) -> Vec<(Value, Value)> {
        let all = lines(&run.output);
        let pairs = all.windows(2).filter(|pair| pair[1]["event"] == "flows");
        let pairs: Vec<(Value, Value)> = pairs
            .map(|pair| {
                let of = |key: &str| pair[0][key].clone();
                let name = json!([of("segment"), of("interval"), of("reported_time"), of("sent")]);
                (name, pair[1].clone())
            })
            .collect();
        assert_eq!(pairs.len(), of(&all, "interval").len());
        pairs
    }

    /// What `read` says of the whole.
    fn read(&self, more: &[&str]) -> Vec<(Value, Value)> {
        self.pairs(&run(&[&["read", &self.whole, "--json"][..], &self.about(), more].concat()))
    }

    /// What `query` counts without flows.
    fn counted(&self) -> usize {
        run(&["query", &self.store, "--json"]).json()["intervals"].as_array().unwrap().len()
    }

    fn close(&self) {
        run(&["store", &self.store, "--all"]).told(0, &[]);
    }

    /// Every interval that counts is there, with the flows of the whole or a reason; gives the last line.
    #[track_caller]
    fn is_whole_or_says_why(&self, asked: &Run) -> Value {
        let (found, read) = (self.pairs(asked), self.read(&[]));
        assert_eq!(found.len(), self.counted(), "{asked:?}");
        let mut silent = 0;
        for (name, flows) in &found {
            if flows["reason"].is_null() {
                assert!(read.contains(&(name.clone(), flows.clone())), "{name}: {flows}");
            } else {
                assert_eq!(flows["flows"], json!([]), "{flows}");
                silent += 1;
            }
        }
        let end = lines(&asked.output).pop().unwrap();
        let count = |key: &str| end[key].as_u64().unwrap();
        assert_eq!(count("intervals") as usize, found.len());
        assert_eq!(count("answered") as usize, found.len() - silent);
        assert_eq!(
            count("answered") + count("refused") + count("removed") + count("unread"),
            count("intervals")
        );
        end
    }
}

fn part_of(recorder: &str, part: usize) -> String {
    format!("store/{recorder}-20260921T1413{:02}.000000Z.pcapng", 20 + part)
}

#[test]
fn a_store_says_of_flows_what_read_says_closed_or_not() {
    let stored = Stored::new();
    let orders: [&[&str]; 3] = [&[], &["--by", "loss", "--count", "3"], &["--by", "packets", "--count", "1"]];
    let asked = |more: &[&str]| stored.query(&[more, &["--json"]].concat());
    let open: Vec<Run> = orders.iter().map(|more| asked(more)).collect();
    let text = stored.query(&[]);
    stored.close();
    for (more, open) in orders.iter().zip(&open) {
        open.told(0, &["unauthenticated"]);
        let (found, read) = (stored.pairs(open), stored.read(more));
        assert_eq!(found, read);
        assert_eq!(found.len(), 12);
        assert_eq!(asked(more).output, open.output);
    }
    let all = lines(&open[0].output);
    assert_eq!(
        all[0],
        json!({ "event": "start", "schema": { "name": "query", "version": 1 }, "folder": stored.store })
    );
    let end = json!({ "event": "end", "intervals": 12, "answered": 12, "refused": 0, "removed": 0, "unread": 0, "warnings": [] });
    assert_eq!(all.last(), Some(&end));
    // Its intervals are those of `query`.
    let mut counted =
        run(&["query", &stored.store, "--json"]).json()["intervals"].as_array().unwrap().clone();
    counted.iter_mut().for_each(|each| each["event"] = json!("interval"));
    assert_eq!(of(&all, "interval"), counted.iter().collect::<Vec<_>>());
    // As text, what `read` writes behind the moment.
    assert_eq!(text.output, stored.query(&[]).output);
    let read = run(&[&["read", &stored.whole][..], &stored.about()].concat()).output;
    let mut blocks = 0;
    for block in text.output.split("\n2026-") {
        let Some((_, flows)) = block.split_once(", segment") else { continue };
        let flows = flows.split("\n12 intervals").next().unwrap();
        assert!(read.contains(flows.trim_end()), "{flows}");
        blocks += 1;
    }
    assert_eq!(blocks, 12);
    assert!(text.output.contains("12 intervals; flows were read of 12; 0 say"), "{}", text.output);
}

#[test]
fn a_part_of_a_store_by_time_and_segment() {
    let stored = Stored::new();
    let read = stored.read(&[]);
    let time = |place: usize| read[place].0[2].as_str().unwrap().to_string();
    for closes in [false, true] {
        if closes {
            stored.close();
        }
        let part = stored.query(&["--from", &time(3), "--to", &time(8), "--json"]);
        assert_eq!(stored.pairs(part.told(0, &[])), read[3..8]);
        assert_eq!(stored.pairs(&stored.query(&["--segment", "0", "--json"])), read);
        let other = stored.query(&["--segment", "77", "--json"]);
        other.told(6, &["no such interval"]);
        assert_eq!(lines(&other.output).len(), 2);
    }
    let empty = stored.folder.path("empty");
    fs::create_dir(&empty).unwrap();
    run(&[&["query", &empty][..], &stored.about()].concat()).told(6, &["no such interval"]);
    let missing = stored.folder.path("missing");
    let missing = run(&[&["query", &missing, "--json"][..], &stored.about()].concat());
    let line = &lines(missing.told(3, &["missing", "check the name"]).output.as_str())[0];
    assert_eq!((&line["event"], &line["exit_code"]), (&json!("error"), &json!(3)));
}

#[test]
fn two_recorders_of_the_same_points_count_once() {
    let stored = Stored::new();
    stored.record("other", 5000, 4);
    let read = stored.read(&[]);
    for closes in [false, true] {
        if closes {
            stored.close();
        }
        let asked = stored.query(&["--json"]);
        asked.told(0, &["other-20260921T1413", "were reported before"]);
        assert_eq!(stored.pairs(&asked), read);
    }
    // The recording in which they count is gone, and the other one counts no second time.
    (0..PARTS).for_each(|part| fs::remove_file(stored.folder.path(&part_of("lab", part))).unwrap());
    let asked = stored.query(&["--json"]);
    asked.told(5, &["recordings of 12 intervals are not in the folder any more", "--keep"]);
    assert_eq!(stored.is_whole_or_says_why(&asked)["removed"], 12);
}

#[test]
fn recordings_that_are_gone_or_damaged_are_named() {
    let stored = Stored::new();
    stored.close();
    let first = stored.folder.path(&part_of("lab", 0));
    let bytes = fs::read(&first).unwrap();
    fs::remove_file(&first).unwrap();
    let gone = stored.query(&["--json"]);
    gone.told(5, &["are not in the folder any more"]);
    let end = stored.is_whole_or_says_why(&gone);
    // One goes on into the second recording.
    let [answered, removed] = ["answered", "removed"].map(|key| end[key].as_u64().unwrap());
    assert!((3..=4).contains(&removed) && (7..=8).contains(&answered), "{end}");
    assert!(gone.output.contains("lab-20260921T141320.000000Z.pcapng is not in the folder any more"));
    assert_eq!(gone.output.matches("its numbers were stored when more").count(), 1);
    assert_eq!(removed + answered, 11);
    let text = stored.query(&[]);
    text.told(5, &["--keep"]);
    assert!(text.output.contains(&format!("the recordings of {removed} are gone")), "{}", text.output);
    // Damaged behind its closing, and cut.
    let mut damaged = bytes.clone();
    let middle = damaged.len() / 2 / 4 * 4;
    damaged[middle..middle + 4000].fill(0xff);
    fs::write(&first, &damaged).unwrap();
    let asked = stored.query(&["--json"]);
    let end = stored.is_whole_or_says_why(&asked);
    assert!(end["answered"].as_u64() >= Some(8) && end["answered"].as_u64() < Some(12), "{end}");
    assert!([3, 5].contains(&asked.code), "{asked:?}");
    // Open ones, of which `query` says so.
    for entry in fs::read_dir(&stored.store).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ending| ending == "parquet") {
            fs::remove_file(path).unwrap();
        }
    }
    let mut codes = vec![];
    for (place, byte) in [(0, 0), (middle, 0xff)] {
        let mut damaged = bytes.clone();
        damaged[place..place + 4000].fill(byte);
        fs::write(&first, &damaged).unwrap();
        let asked = stored.query(&["--json"]);
        stored.is_whole_or_says_why(&asked);
        codes.push([run(&["query", &stored.store]).code, asked.code]);
    }
    assert!(
        codes.contains(&[3, 3]) && codes.iter().all(|[without, with]| *without != 3 || *with == 3),
        "{codes:?}"
    );
}

/// Cut at any byte, closed or not, and with all that came before a second time.
#[test]
fn recordings_cut_anywhere_say_the_same_or_why_not() {
    let stored = Stored::new();
    let last = stored.folder.path(&part_of("lab", PARTS - 1));
    let bytes = fs::read(&last).unwrap();
    for closes in [false, true] {
        if closes {
            fs::write(&last, &bytes).unwrap();
            stored.close();
        }
        let mut answered = vec![];
        for cut in (0..8).map(|eighth| bytes.len() * eighth / 8 + 7 * eighth).chain([bytes.len()]) {
            fs::write(&last, &bytes[..cut]).unwrap();
            let asked = stored.query(&["--json"]);
            let end = stored.is_whole_or_says_why(&asked);
            assert_eq!(asked.code, if end["answered"] == end["intervals"] { 0 } else { 5 }, "{asked:?}");
            answered.push(end["answered"].as_u64().unwrap());
        }
        assert!(answered.is_sorted() && answered[0] >= 7 && answered[8] == 12, "{answered:?}");
    }
    fs::copy(&last, stored.folder.path(&part_of("lab", PARTS))).unwrap();
    let asked = stored.query(&["--json"]);
    stored.is_whole_or_says_why(&asked);
    assert_eq!(stored.pairs(&asked)[..12], stored.read(&[]));
}

#[test]
fn what_no_store_says_of_flows_is_refused() {
    let stored = Stored::new();
    let query = |design: &str, flows: &str, more: &[&str]| {
        run(&[&["query", &stored.store, "--design", design, "--flows", flows][..], more].concat())
    };
    let (own, flows) = (&stored.design, &stored.flows);
    query(own, flows, &["--every", "1h"]).failed(2, &["--every", "single intervals", "leave out --every"]);
    run(&["query", &stored.store, "--flows", flows]).failed(2, &["--flows", "--design FILE"]);
    run(&["query", &stored.store, "--count", "3"]).told(2, &["--flows <FILE>"]);
    query("10g", flows, &[]).failed(4, &["--design 10g", "synopsis \"lds\""]);
    query(own, &stored.folder.write("empty.json", "[]"), &[]).failed(3, &["empty.json", "names no flow"]);
    query(own, &stored.folder.write("none.json", ""), &[]).failed(3, &["none.json", "is no list of flows"]);
    let flow = |port: u32| {
        format!(
            "{{\"source\":\"10.1.0.1\",\"destination\":\"10.2.0.1\",\"source_port\":{port},\"destination_port\":9,\"protocol\":17}}"
        )
    };
    let many: Vec<String> = (0..2001).map(flow).collect();
    let many = stored.folder.write("many.json", format!("[{}]", many.join(",")));
    query(own, &many, &[]).failed(10, &["2001 flows", "at most 2000"]);
    // What was closed without a key is not left out without a word.
    stored.close();
    let keys = stored.folder.path("north.keys");
    run(&["key", &keys]).told(0, &[]);
    query(own, flows, &["--json", "--key", &keys]).told(5, &["not of signed control frames"]);
    // Who is not there has no packets.
    let absent = query(own, &stored.folder.write("absent.json", format!("[{}]", flow(9))), &["--json"]);
    for (_, flows) in stored.pairs(absent.told(0, &[])) {
        assert_eq!(
            (&flows["asked"], &flows["flows"], &flows["reason"]),
            (&json!(1), &json!([]), &Value::Null)
        );
    }
    // Points of other designs, and a store of points that keep no cells of flows.
    let others = [design(&stored.folder, 256, 4), design(&stored.folder, 128, 3)];
    for closes in [false, true] {
        if closes {
            stored.close();
        }
        for other in &others {
            let asked = query(other, flows, &["--json"]);
            asked.told(4, &[]);
            let end = lines(&asked.output).pop().unwrap();
            assert_eq!((&end["answered"], &end["refused"]), (&json!(0), &json!(12)));
            let reasons = stored.pairs(&asked).into_iter().map(|(_, flows)| flows["reason"].to_string());
            assert!(reasons.clone().all(|reason| reason.contains("name the design")), "{asked:?}");
        }
    }
    let lda = stored.folder.path("lda");
    fs::create_dir(&lda).unwrap();
    let frames = stored.folder.path("lda/lab-20260921T141320.000000Z.pcapng");
    run(&["measure", "--design", "10g", "--interval", "250ms", "--frames", &frames, SENDER, RECEIVER]);
    for closes in [false, true] {
        if closes {
            run(&["store", &lda, "--all"]).told(0, &[]);
        }
        let asked = run(&[&["query", &lda, "--json"][..], &stored.about()].concat());
        asked.told(4, &[]);
        assert_eq!(lines(&asked.output).pop().unwrap()["refused"], 12);
    }
}

/// Points whose totals are not those of their cells: their cells may be anything.
#[test]
fn contradictory_intervals_have_no_flows() {
    let stored = Stored::new();
    let whole = stored.forged(|frame| frame[56..64].copy_from_slice(&((1_u64 << 48) - 1).to_be_bytes()));
    let folder = stored.folder.path("forged");
    for command in ["read", "query"] {
        let source = if command == "read" { &whole } else { &folder };
        let asked = run(&[&[command, source.as_str(), "--json"][..], &stored.about()].concat());
        assert_eq!(asked.code, 5, "{asked:?}");
        let all = lines(&asked.output);
        let flows = of(&all, "flows");
        assert!(flows.len() >= 3, "{asked:?}");
        let is_void = |line: &Value| line["reason"].as_str().is_some_and(|reason| reason.contains("void"));
        assert!(flows.iter().all(|line| is_void(line) && line["flows"] == json!([])), "{asked:?}");
    }
}

/// The flag of a clock that was not locked: delays are shown, and the doubt of them in text as in JSON.
#[test]
fn doubts_of_clocks_are_said_beside_flows() {
    let stored = Stored::new();
    stored.forged(|frame| frame[53] |= 1 << 2);
    let folder = stored.folder.path("forged");
    let text = run(&[&["query", folder.as_str()][..], &stored.about()].concat()).output;
    assert!(text.matches("not locked").count() >= 3, "{text}");
    assert_eq!(stored.query(&[]).output.matches("not locked").count(), 0);
}
