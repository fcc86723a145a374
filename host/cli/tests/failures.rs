//! Every failure: its exit code, one message with the file and the remedy, and nothing half-written.
#![allow(clippy::unwrap_used)]

use crate::common::{Folder, RECEIVER, SENDER, command, finish, packets, run};
use std::fs;
use std::process::Stdio;

#[test]
fn usage() {
    run(&[""; 0]).told(2, &["Usage: deltaline"]);
    run(&["measure", SENDER]).told(2, &["RECEIVER"]);
    run(&["measure", "--interval", "5 parsecs", SENDER, RECEIVER])
        .told(2, &["ns, us, ms, s, m (minutes) or h"]);
    run(&["measure", "--interval", "0s", SENDER, RECEIVER]).told(2, &["--interval"]);
    run(&["measure", "--rows", "1000", SENDER, RECEIVER])
        .failed(2, &["1000 rows", "power of two from 8 to 32768"]);
    run(&["measure", "--banks", "6,1", SENDER, RECEIVER]).failed(2, &["--banks", "lengths must rise"]);
    run(&["measure", "--interval", "1ns", SENDER, RECEIVER])
        .failed(2, &["--interval", "give longer intervals"]);
    let folder = Folder::new();
    let copy = folder.path("copy.pcap");
    fs::copy(SENDER, &copy).unwrap();
    let before = fs::read(&copy).unwrap();
    run(&["measure", "--frames", &copy, &copy, RECEIVER]).failed(2, &["would replace a capture"]);
    assert_eq!(fs::read(&copy).unwrap(), before);
}

/// A terminal is not to act on a file's name.
#[test]
fn control_characters_of_names_are_escaped() {
    let folder = Folder::new();
    let [sender, none, design, report] =
        ["a\u{1b}[2J.zst", "no\u{1b}[2J.pcap", "d\u{1b}]0;x\u{7}.toml", "r.html"]
            .map(|name| folder.path(name));
    fs::copy(SENDER, &sender).unwrap();
    fs::write(&design, "name = \"\u{9b}2J\"\n").unwrap();
    run(&["measure", &none, RECEIVER]).failed(3, &["no\\u{1b}[2J.pcap"]);
    run(&["measure", "--design", &design, SENDER, RECEIVER]).failed(2, &["d\\u{1b}]0;x\\u{7}.toml"]);
    let value = run(&["measure", "--rows", "\u{1b}[2J", SENDER, RECEIVER]);
    assert!(value.code == 2 && !value.messages.contains('\u{1b}'), "{value:?}");
    let json = run(&["measure", "--json", "--report", &report, &sender, RECEIVER]);
    assert_eq!(json.json()["sender"]["file"], sender.as_str());
    let page = fs::read_to_string(&report).unwrap();
    let table = run(&["truth", &sender, &sender]);
    for text in [&page, &json.output, &table.output, &table.messages] {
        assert!(!text.is_empty() && !text.contains(['\u{1b}', '\u{7}', '\u{9b}']), "{text}");
    }
    assert!(page.contains("a\\u{1b}[2J.zst"));
    run(&["read", "/dev/no\u{1b}[2J"]).failed(11, &["/dev/no\\u{1b}[2J"]);
    run(&["delimit", "no\u{1b}]0;x\u{7}"]).failed(11, &["no\\u{1b}]0;x\\u{7}"]);
    // What makes `evil.exe` of a name that ends in `exe.live`, on a screen.
    run(&["measure", &folder.path("\u{202e}exe.live"), RECEIVER]).failed(3, &["\\u{202e}exe.live"]);
    run(&["read", &none, "--json", "--record", &none]).told(11, &["no\\u{1b}[2J.pcap"]);
    assert!(run(&["truth", &sender, &none]).messages.contains("no\\u{1b}[2J.pcap"));
}

#[test]
fn help_tells_the_exit_codes_and_examples() {
    let help = run(&["--help"]);
    assert_eq!((help.code, help.messages.as_str()), (0, ""));
    for part in [
        "Exit codes:",
        " 0  All went well\n",
        " 10  Refused",
        "too many paths",
        " 11  The port, the interface or the other end of an exchange",
        " 16  A board's",
        " 17  No design",
        "measure",
        "decode",
        "truth",
        "size",
    ] {
        assert!(help.output.contains(part), "{part:?} is not in {}", help.output);
    }
    for (subcommand, example) in [
        (&["read"][..], "deltaline read run.bin --json"),
        (&["delimit"], "deltaline delimit eth0 --interval 1s"),
        (&["board", "selftest"], "deltaline board selftest /dev/ttyUSB1"),
        (&["board", "start"], "deltaline board start /dev/ttyUSB1 --delay 500us"),
    ] {
        let help = run(&[subcommand, &["--help"]].concat());
        assert!(help.code == 0 && help.output.contains(example), "{}", help.output);
    }
    for subcommand in ["measure", "decode", "truth"] {
        let help = run(&[subcommand, "--help"]);
        assert!(
            help.code == 0 && help.output.contains(&format!("deltaline {subcommand} --json"))
                || help.output.contains(&format!("deltaline {subcommand} --interval 500ms --json")),
            "{}",
            help.output
        );
    }
}

#[test]
fn inputs_that_cannot_be_read() {
    let folder = Folder::new();
    let capture = fs::read(folder.capture("whole.pcap", &packets(SENDER)[..100])).unwrap();
    let empty = folder.write("empty.pcap", "");
    let text = folder.write("text.pcap", "This is no capture at all.\n");
    let truncated = folder.write("truncated.pcap", &capture[..capture.len() - 10]);
    let mut other_link = capture.clone();
    other_link[20] = 105;
    let other_link = folder.write("wireless.pcap", other_link);
    let mut compressed = fs::read(SENDER).unwrap();
    compressed.truncate(compressed.len() / 2);
    let compressed = folder.write("half.pcap.zst", compressed);
    for (path, parts) in [
        ("missing.pcap", &["cannot be opened", "check the name"][..]),
        (&empty, &["is empty", "check that the recording was started"]),
        (&text, &["is not a pcap or pcapng capture", "54 68 69 73"]),
        (&truncated, &["packet 100", "ends in the middle", "record or copy it again"]),
        (&other_link, &["link type is 105 (IEEE 802.11)", "record Ethernet (1)"]),
        (&compressed, &["packet ", "ends in the middle"]),
    ] {
        let parts = [&[path], parts].concat();
        run(&["measure", path, RECEIVER]).failed(3, &parts);
        run(&["measure", SENDER, path]).failed(3, &parts);
        run(&["measure", "--interval", "1s", SENDER, path]).failed(3, &parts);
        run(&["truth", path, RECEIVER]).failed(3, &parts);
        run(&["decode", path]).failed(3, &parts);
    }
}

#[test]
fn outputs_that_cannot_be_written() {
    let folder = Folder::new();
    let nowhere = folder.path("missing/output");
    for option in ["--frames", "--plot", "--report"] {
        let named = format!("there is no folder {}", folder.path("missing"));
        run(&["measure", option, &nowhere, SENDER, RECEIVER])
            .failed(7, &[option, &nowhere, &named, "mkdir -p"]);
    }
    let in_the_way = folder.path("folder");
    fs::create_dir(&in_the_way).unwrap();
    run(&["measure", "--frames", &in_the_way, SENDER, RECEIVER])
        .failed(7, &[&in_the_way, "cannot be written"]);
    assert_eq!(folder.files().len(), 1);

    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let full = finish(command(&["truth", SENDER, RECEIVER]).stdout(full));
    // Its output was not caught.
    assert_eq!(full.code, 7);
}

#[test]
fn a_failure_leaves_no_file_and_keeps_the_old_one() {
    let folder = Folder::new();
    let bytes = fs::read(folder.capture("whole.pcap", &packets(SENDER)[..100])).unwrap();
    let truncated = folder.write("truncated.pcap", &bytes[..bytes.len() - 10]);
    let frames = folder.write("frames.pcapng", "old");
    run(&["measure", "--frames", &frames, &truncated, RECEIVER]).failed(3, &["truncated.pcap"]);
    assert_eq!(fs::read(&frames).unwrap(), b"old");
    assert_eq!(folder.files().len(), 3);
}

#[test]
fn nobody_reading_the_result_is_no_error() {
    for arguments in [
        &["truth", SENDER, RECEIVER][..],
        &["measure", "--json", "--seed", "1", SENDER, RECEIVER],
        &["--help"],
    ] {
        let mut child = command(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        assert_eq!(output.stderr, b"");
    }
}

#[test]
fn what_nobody_reads_any_more_is_not_missing() {
    let folder = Folder::new();
    let frames = folder.path("frames.pcapng");
    run(&["measure", "--interval", "100ms", "--frames", &frames, SENDER, RECEIVER]);
    for options in [&[][..], &["--json"]] {
        let arguments = [&["read", &frames], options].concat();
        let mut child = command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        let messages = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(0), "{messages}");
        // That nothing is signed is said with the first interval.
        assert!(messages.lines().all(|line| line.contains("unauthenticated")), "{messages}");
    }
}

#[test]
fn a_closed_standard_error_is_no_panic() {
    let mut child = command(&["measure", "missing.pcap", RECEIVER]).stderr(Stdio::piped()).spawn().unwrap();
    drop(child.stderr.take());
    assert_eq!(child.wait().unwrap().code(), Some(3));
}

#[cfg(feature = "hardware")]
#[test]
fn missing_tools_are_named() {
    let folder = Folder::new();
    let mut hardware = command(&["measure", "--through", "hardware", SENDER, RECEIVER]);
    hardware.env("DELTALINE_TOOLS", folder.path(""));
    finish(&mut hardware).failed(8, &["Verilator is not installed", "cargo xtask tools simulation"]);
}

#[cfg(not(feature = "hardware"))]
#[test]
fn what_was_not_built_names_its_remedy() {
    let remedy = "cargo build --release -p deltaline --features hardware";
    run(&["measure", "--through", "hardware", SENDER, RECEIVER])
        .failed(8, &["without the simulated hardware", remedy]);
}

#[cfg(not(feature = "lab"))]
#[test]
fn a_lab_that_was_not_built_names_its_remedy() {
    for arguments in
        [&["lab"][..], &["lab", "4"], &["lab", "all", "--packets", "500000", "--out", "out/quick"]]
    {
        run(arguments).failed(8, &["without the lab", "cargo build --release -p deltaline --features lab"]);
    }
}
