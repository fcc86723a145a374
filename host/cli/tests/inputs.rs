//! Captures from standard input, captures that were cut or damaged, and how far reading is.
#![allow(clippy::unwrap_used)]

use crate::common::{Folder, RECEIVER, Run, SENDER, command, finish, packets, run, timeless};
use deltaline_capture::{PacketRef, PcapWriter};
use serde_json::{Value, json};
use serialport::{SerialPort, TTYPort};
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

fn with_input(arguments: &[&str], path: &str) -> Run {
    finish(command(arguments).stdin(File::open(path).unwrap()))
}

/// The same, whatever the captures are called.
fn nameless(run: &Run) -> Value {
    assert_eq!(run.code, 0, "{run:?}");
    serde_json::from_str(&run.output.replace(SENDER, "standard input").replace(RECEIVER, "standard input"))
        .unwrap()
}

#[test]
fn standard_input_is_a_capture() {
    let folder = Folder::new();
    let frames = folder.path("frames.pcapng");
    for command in ["measure", "truth"] {
        // Read once, a capture is not cut where the other one begins: that is said, and here changes nothing.
        let without_warnings = |run: &Run| {
            let mut json = nameless(run);
            json["warnings"].take();
            // The order of packets is known of captures that can be read twice.
            crate::common::of_tables(&json)
        };
        let by_name = without_warnings(&run(&[command, "--json", SENDER, RECEIVER]));
        let piped = with_input(&[command, "--json", "-", RECEIVER], SENDER);
        assert_eq!(without_warnings(&piped), by_name);
        assert_eq!(without_warnings(&with_input(&[command, "--json", SENDER, "-"], RECEIVER)), by_name);
        with_input(&[command, "-", "-"], SENDER).failed(2, &["-: standard input can be one capture only"]);
    }
    with_input(&["measure", "--interval", "1s", "-", RECEIVER], SENDER)
        .failed(3, &["standard input: is not a regular file", "save it to a file"]);
    with_input(&["measure", SENDER, "-"], "/dev/null").failed(3, &["standard input: is empty"]);

    run(&["measure", "--frames", &frames, SENDER, RECEIVER]).told(0, &[]);
    let decoded = with_input(&["decode", "--json", "-"], &frames).json();
    assert_eq!(decoded["files"], json!(["standard input"]));
    assert_eq!(decoded["intervals"], run(&["decode", "--json", &frames]).json()["intervals"]);
}

/// Cut at both ends alike, a capture is as good as one that holds its whole packets only.
#[test]
fn a_cut_capture_is_read_up_to_there_when_asked_to() {
    let folder = Folder::new();
    let sent = packets(SENDER);
    let whole = folder.capture("whole.pcap", &sent[..1000]);
    let bytes = fs::read(folder.capture("longer.pcap", &sent[..1001])).unwrap();
    let cut = folder.write("cut.pcap", &bytes[..bytes.len() - 10]);
    let mut bytes = bytes;
    // A length of the last record that no packet has.
    let last = fs::metadata(&whole).unwrap().len() as usize;
    bytes[last + 8..last + 12].fill(0xff);
    let damaged = folder.write("damaged.pcap", bytes);
    for (bad, what) in [(&cut, "ends in the middle of this record"), (&damaged, "the capture is damaged")] {
        for command in ["measure", "truth"] {
            let arguments = [command, "--json", "--interval", "10ms"];
            run(&[&arguments[..], &[bad, RECEIVER]].concat()).told(3, &["packet 1001", what]);
            let kept = run(&[&arguments[..], &["--keep-going", bad, RECEIVER]].concat());
            kept.told(0, &[what, "only its 1000 packets before that are used"]);
            let (mut kept, mut expected) =
                (kept.json(), run(&[&arguments[..], &["--keep-going", &whole, RECEIVER]].concat()).json());
            assert!(kept["warnings"].to_string().contains("only its 1000 packets"), "{kept}");
            for json in [&mut kept, &mut expected] {
                json["warnings"] = Value::Null;
                json["sender"]["file"] = Value::Null;
            }
            assert_eq!(kept, expected);
        }
    }
    let compressed = fs::read(SENDER).unwrap();
    let cut = folder.write("cut.pcap.zst", &compressed[..compressed.len() / 2]);
    run(&["measure", &cut, RECEIVER]).failed(3, &["cut.pcap.zst"]);
    run(&["measure", "--keep-going", &cut, RECEIVER]).told(0, &["packets before that are used"]);
    // What is no damage stays refused.
    let text = folder.write("text", "no capture at all");
    run(&["measure", "--keep-going", &text, RECEIVER]).failed(3, &["is not a pcap"]);

    let frames = folder.path("frames.pcapng");
    run(&["measure", "--frames", &frames, "--interval", "1s", SENDER, RECEIVER]).told(0, &[]);
    let bytes = fs::read(&frames).unwrap();
    let cut = folder.write("cut.pcapng", &bytes[..bytes.len() - 10]);
    run(&["decode", &cut]).failed(3, &["cut.pcapng: packet 288"]);
    let kept = run(&["decode", "--json", "--keep-going", &cut]);
    kept.told(5, &["only its 287 packets before that are used", "interval 2"]);
    let whole = run(&["decode", "--json", &frames]).json();
    assert_eq!(timeless(&kept.json()["intervals"][1]), timeless(&whole["intervals"][1]));
}

/// A capture that comes slowly.
fn measure_slowly(command: &mut Command) {
    let folder = Folder::new();
    let capture = fs::read(folder.capture("sender.pcap", &packets(SENDER))).unwrap();
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    let mut input = child.stdin.take().unwrap();
    let (before, behind) = capture.split_at(capture.len() / 2);
    input.write_all(before).unwrap();
    sleep(Duration::from_millis(2200));
    input.write_all(behind).unwrap();
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn what_takes_long_shows_how_far_it_is() {
    let arguments = ["measure", "--seed", "1", "-", RECEIVER];
    let (mut ours, theirs) = TTYPort::pair().unwrap();
    ours.set_timeout(Duration::from_millis(100)).unwrap();
    let terminal = File::options().write(true).open(theirs.name().unwrap()).unwrap();
    measure_slowly(command(&arguments).env("TERM", "xterm").stderr(OwnedFd::from(terminal)));
    let mut shown = vec![0; 1 << 16];
    let count = ours.read(&mut shown).unwrap();
    let shown = String::from_utf8_lossy(&shown[..count]);
    assert!(shown.contains("measuring"), "{shown:?}");

    let folder = Folder::new();
    let log = folder.path("log");
    measure_slowly(command(&arguments).stderr(File::create(&log).unwrap()));
    let said = fs::read_to_string(&log).unwrap();
    assert!(
        said.starts_with("deltaline: a capture that can be read only once") && said.lines().count() == 1,
        "{said}"
    );
}

/// A million packets of 64 bytes, of which each hundredth is lost: 350 MB of records.
#[test]
fn the_truth_does_not_need_to_fit_into_memory() {
    let folder = Folder::new();
    let mut frame = [&[0; 12][..], &[8, 0, 0x45, 0, 0, 50, 0, 0, 0, 0, 64, 17], &[10; 10], &[0; 30]].concat();
    let mut writers =
        ["sender.pcap", "receiver.pcap"].map(|name| PcapWriter::create(folder.path(name)).unwrap());
    for number in 0..1_000_000u64 {
        frame[48..56].copy_from_slice(&number.to_be_bytes());
        let length = frame.len() as u32;
        let [sender, receiver] = &mut writers;
        let packet = PacketRef { timestamp: 1000 * number, length, interface: 0, data: &frame };
        sender.write(packet).unwrap();
        if number % 100 != 7 {
            receiver.write(PacketRef { timestamp: packet.timestamp + 500 + number % 2, ..packet }).unwrap();
        }
    }
    writers.into_iter().for_each(|writer| writer.finish().unwrap());
    let captures = [folder.path("sender.pcap"), folder.path("receiver.pcap")];
    let mut truth = command(&["truth", "--json", "--interval", "100ms"]);
    truth.args(captures).env("TMPDIR", folder.path(""));
    let mut child = truth.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        peak = peak_memory(child.id()).unwrap_or(peak);
        sleep(Duration::from_millis(5));
    }
    assert!((10 << 10..100 << 10).contains(&peak), "{peak} KiB");
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let result = Run { code: 0, output: String::from_utf8(output.stdout).unwrap(), messages: String::new() };
    let result = result.json();
    let overall = &result["overall"];
    assert_eq!((&overall["sent"], &overall["lost"]), (&json!(1_000_000), &json!(10_000)));
    assert_eq!((&overall["min_ns"], &overall["max_ns"]), (&json!(500), &json!(501)));
    // Of the lost ones, all are odd: 490,000 of 990,000 take 501 ns.
    assert!((overall["mean_ns"].as_f64().unwrap() - 500.0 - 49.0 / 99.0).abs() < 1e-9, "{overall}");
    assert_eq!(result["intervals"].as_array().unwrap().len(), 10);
    assert!(result["intervals"].as_array().unwrap().iter().all(|interval| interval["lost"] == json!(1000)));
    // Nothing is left of the temporary files.
    assert_eq!(folder.files().len(), 2);
    finish(truth.env("TMPDIR", "/nowhere")).told(7, &["temporary files cannot be written", "set TMPDIR"]);
}

/// Of a process, in KiB, as long as it runs.
fn peak_memory(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    status.lines().find(|line| line.starts_with("VmHWM:"))?.split_whitespace().nth(1)?.parse().ok()
}
