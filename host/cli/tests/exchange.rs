//! Two ends, each with its own recording, in two processes: the same result as from both recordings at hand, or a reason.
#![allow(clippy::unwrap_used)]

use crate::common::{Folder, RECEIVER, Run, SENDER, add_dropped, command, fragmented, packets, run};
use deltaline_capture::Packet;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A receiver that listens.
struct Serving {
    child: Child,
    messages: BufReader<std::process::ChildStderr>,
    address: String,
}

impl Serving {
    fn start(arguments: &[&str]) -> Self {
        Self::serve(&[&["--once"], arguments].concat())
    }

    /// With `--once` among the arguments, or not.
    fn serve(arguments: &[&str]) -> Self {
        let mut child = command(&[&["exchange", "serve"], arguments].concat())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut messages = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        let address = loop {
            line.clear();
            assert!(messages.read_line(&mut line).unwrap() > 0, "it does not listen");
            if let Some(address) = line.trim().strip_prefix("deltaline: listening at ") {
                break address.to_string();
            }
        };
        Serving { child, messages, address }
    }

    /// Its exit code and messages.
    fn end(mut self) -> (i32, String) {
        let mut rest = String::new();
        self.messages.read_to_string(&mut rest).unwrap();
        (self.child.wait().unwrap().code().unwrap(), rest)
    }
}

/// What two ends find out with these options.
fn exchange(options: &[&str], sender: &str, receiver: &str, address: &str) -> Value {
    let serving = Serving::start(&[options, &[address, receiver]].concat());
    let address = serving.address.clone();
    let asked = run(&[&["exchange", "ask", "--json"], options, &[&address, sender]].concat());
    let (code, messages) = serving.end();
    assert_eq!((asked.code, code), (0, 0), "{asked:?} {messages}");
    let result = asked.json();
    let costs = &result["exchange"];
    assert!(
        messages.contains(&format!(
            "{} octets sent, {} received",
            costs["octets_received"], costs["octets_sent"]
        )),
        "{costs} {messages}"
    );
    result
}

/// Keys of numbers that must be the same.
const SAME: [&str; 11] = [
    "sent",
    "received",
    "lost",
    "only_sent",
    "only_received",
    "repeated",
    "complete",
    "effective_samples",
    "mean_ns",
    "mean_ci95_ns",
    "bracket_ns",
];

/// The deviation of rows is that of all packets, which `measure` knows, within four of its standard errors.
fn deviations_agree(exchanged: &Value, measured: &Value, rows: f64) {
    let [of_rows, of_all] = [exchanged, measured].map(|each| each["overall"]["std_ns"].as_f64().unwrap());
    assert!((of_rows / of_all - 1.0).abs() < 4.0 / (2.0 * rows).sqrt(), "{rows}: {of_rows} {of_all}");
}

#[test]
fn one_interval_is_what_measure_finds() {
    let folder = Folder::new();
    // What an end that was killed leaves behind.
    drop(UnixListener::bind(folder.path("socket")).unwrap());
    for (rows, address) in [("1024", "127.0.0.1:0"), ("64", &format!("unix:{}", folder.path("socket")))] {
        let options = ["--rows", rows, "--seed", "5"];
        let exchanged = exchange(&options, SENDER, RECEIVER, address);
        let arguments = ["measure", "--json", "--synopsis", "identity"];
        let measured = run(&[&arguments[..], &options, &[SENDER, RECEIVER]].concat()).json();
        for key in SAME {
            assert_eq!(exchanged["overall"][key], measured["overall"][key], "{rows} {key}");
        }
        deviations_agree(&exchanged, &measured, rows.parse().unwrap());
        assert_eq!(exchanged["overall"]["only_sent"], json!(1566));
        assert_eq!(exchanged["exchange"]["cells"].as_u64() > Some(0), rows == "64");
        assert_eq!(exchanged["intervals"][0]["authenticated"], json!(false));
    }
    assert!(folder.files().is_empty());
}

#[test]
fn the_same_recording_at_both_ends_is_said() {
    for (receiver, is_said) in [(SENDER, true), (RECEIVER, false)] {
        let warnings = exchange(&[], SENDER, receiver, "127.0.0.1:0")["warnings"].to_string();
        assert_eq!(warnings.contains("the same recording, or copies of it"), is_said, "{warnings}");
    }
}

/// Without intervals the packets of the sample show what the clocks did: one was set, or runs fast.
#[test]
fn clocks_of_an_uncut_exchange_are_looked_at() {
    let folder = Folder::new();
    for (step, ppm, text) in [(0, 0, ""), (50_000_000, 0, "jump once"), (0, 50_000, "steadily")] {
        let mut received = packets(RECEIVER);
        let (late, begin) = (received.len() * 3 / 4, received[0].timestamp);
        for (number, packet) in received.iter_mut().enumerate() {
            let drift = (packet.timestamp - begin) * ppm / 1_000_000;
            packet.timestamp += drift + if number >= late { step } else { 0 };
        }
        // The shipped path's queue varies by more than that in its first second.
        let sent: Vec<Packet> = packets(SENDER);
        let from = sent[0].timestamp + 1_500_000_000;
        let [sender, receiver] =
            [("sender.pcap", sent), ("receiver.pcap", received)].map(|(name, mut all)| {
                all.retain(|packet| packet.timestamp >= from);
                folder.capture(name, &all)
            });
        let found = exchange(&[], &sender, &receiver, "127.0.0.1:0");
        let doubt = found["overall"]["clock_doubt"].as_str().unwrap_or_default();
        assert!(
            if text.is_empty() { doubt.is_empty() } else { doubt.contains(text) },
            "{step} {ppm}: {doubt}"
        );
        let reason = found["overall"]["reason"].as_str().unwrap_or_default();
        assert!(reason.contains("from their first packets to their last"), "{reason}");
    }
}

/// The path is dead for the last third: whole intervals are right, and those that the receiver has nothing of are named.
#[test]
fn intervals_without_anything_at_the_receiver_are_named() {
    let folder = Folder::new();
    let mut received = packets(RECEIVER);
    received.truncate(received.len() * 2 / 3);
    let receiver = folder.capture("receiver.pcap", &received);
    for (receiver, is_said) in [(receiver.as_str(), true), (RECEIVER, false)] {
        let warnings =
            exchange(&["--interval", "100ms"], SENDER, receiver, "127.0.0.1:0")["warnings"].to_string();
        assert_eq!(warnings.contains("are not whole in the other end's recording"), is_said, "{warnings}");
    }
}

/// Ten thousand packets that go back, in both recordings, and take five milliseconds.
#[test]
fn recordings_of_both_directions_are_said() {
    let folder = Folder::new();
    let [mut sent, mut received] = [SENDER, RECEIVER].map(packets);
    for packet in &received.clone()[..10_000] {
        let mut back = packet.clone();
        back.data[26..34].rotate_left(4);
        received.push(back.clone());
        back.timestamp += 5_000_000;
        sent.push(back);
    }
    let [sender, receiver] =
        [("sender.pcap", sent), ("receiver.pcap", received)].map(|(name, mut packets)| {
            packets.sort_by_key(|packet| packet.timestamp);
            folder.capture(name, &packets)
        });
    let both = exchange(&[], &sender, &receiver, "127.0.0.1:0");
    let warnings = both["warnings"].to_string();
    assert!(warnings.contains("go against the others of the same two addresses"), "{warnings}");
    let options = ["--filter", "src host 10.1.0.1"];
    assert!(warnings.contains("--filter, such as 'src host 10."), "{warnings}");
    let one = exchange(&options, &sender, &receiver, "127.0.0.1:0");
    assert!(!one["warnings"].to_string().contains("against"), "{}", one["warnings"]);
    assert_eq!(one["overall"], exchange(&[], SENDER, RECEIVER, "127.0.0.1:0")["overall"]);
}

#[test]
fn a_socket_in_use_is_left_alone() {
    let folder = Folder::new();
    let _listener = UnixListener::bind(folder.path("socket")).unwrap();
    let address = format!("unix:{}", folder.path("socket"));
    run(&["exchange", "serve", &address, RECEIVER]).told(12, &["in use"]);
    assert_eq!(folder.files().len(), 1);
}

/// The shipped captures, shifted so that the sender's first packet is where an interval of 250 ms begins.
fn aligned(folder: &Folder) -> [String; 2] {
    let [sent, received] = [SENDER, RECEIVER].map(packets);
    let shift = 250_000_000 - sent[0].timestamp % 250_000_000;
    let shifted = |name, packets: &[Packet]| {
        let later: Vec<Packet> = packets
            .iter()
            .map(|packet| Packet { timestamp: packet.timestamp + shift, ..packet.clone() })
            .collect();
        folder.capture(name, &later)
    };
    [shifted("sender.pcap", &sent), shifted("receiver.pcap", &received)]
}

#[test]
fn intervals_of_clocks_are_those_of_measure() {
    let folder = Folder::new();
    let [sender, receiver] = aligned(&folder);
    let key = folder.path("north.keys");
    run(&["key", &key]).told(0, &[]);
    let options = ["--rows", "256", "--seed", "5", "--interval", "250ms"];
    let exchanged = exchange(&[&options[..], &["--key", &key]].concat(), &sender, &receiver, "127.0.0.1:0");
    let arguments = ["measure", "--json", "--synopsis", "identity", "--truth"];
    let measured = run(&[&arguments[..], &options, &[&sender, &receiver]].concat()).json();
    let [exchanged, measured] = [exchanged, measured].map(|it| it["intervals"].as_array().unwrap().clone());
    // The first and the last are cut by the recording, and are left out.
    assert!(exchanged.len() + 2 >= measured.len() && exchanged.len() > 3, "{}", exchanged.len());
    let mut late = 0;
    for (found, expected) in exchanged.iter().zip(&measured[1..]) {
        for key in
            ["sent", "received", "lost", "only_sent", "only_received", "repeated", "complete", "start_time"]
        {
            assert_eq!(found[key], expected[key], "{key}: {found}");
        }
        let [mean, measured, exact] =
            [&found["mean_ns"], &expected["mean_ns"], &expected["truth"]["mean_ns"]]
                .map(|mean| mean.as_f64().unwrap());
        assert!((mean - exact).abs() < 0.5 && (mean - measured).abs() < 0.5, "{found}");
        assert_eq!((&found["authenticated"], &found["early"]), (&json!(true), &json!(0)));
        late += found["late"].as_u64().unwrap();
    }
    // Some 13 ms of traffic are in flight at every edge.
    assert!(late > 100, "{late}");
}

#[test]
fn wrong_stamps_are_in_no_delay_and_cut_no_interval() {
    let folder = Folder::new();
    let files = aligned(&folder);
    let ends = files.each_ref().map(packets);
    let sound = exchange(&["--seed", "5", "--interval", "250ms"], &files[0], &files[1], "127.0.0.1:0");
    for (end, by) in [(1, 1_000_000_000_000i64), (0, 1_000_000_000_000), (1, -1_000_000_000_000)] {
        let mut ends = ends.clone();
        let stamp = &mut ends[end][20_000].timestamp;
        *stamp = stamp.saturating_add_signed(by);
        let ends = [("a.pcap", &ends[0]), ("b.pcap", &ends[1])].map(|(name, all)| folder.capture(name, all));
        let whole = exchange(&["--seed", "5"], &ends[0], &ends[1], "127.0.0.1:0");
        refuses(&whole["overall"], end);
        let found = exchange(&["--seed", "5", "--interval", "250ms"], &ends[0], &ends[1], "127.0.0.1:0");
        refuses(&found["overall"], end);
        let [found, sound] = [&found, &sound].map(|it| it["intervals"].as_array().unwrap().clone());
        let refused = found.iter().filter(|interval| interval["mean_ns"].is_null()).count();
        assert_eq!((refused, found.len()), (1, sound.len()), "{end} {by}");
        for (interval, sound) in found.iter().zip(&sound) {
            assert_eq!(
                [&interval["sent"], &interval["lost"]],
                [&sound["sent"], &sound["lost"]],
                "{end} {by}"
            );
            if !interval["mean_ns"].is_null() {
                assert_eq!(interval["mean_ns"], sound["mean_ns"]);
            }
        }
    }
}

/// No delay but the reason, and whose stamps are wrong.
#[track_caller]
fn refuses(numbers: &Value, end: usize) {
    for key in ["mean_ns", "mean_ci95_ns", "std_ns", "bracket_ns"] {
        assert!(numbers[key].is_null(), "{key}: {numbers}");
    }
    assert!(numbers["reason"].as_str().unwrap().contains("wrong stamps"), "{numbers}");
    let whose = format!("the times of the {}'s packets go back", ["sender", "receiver"][end]);
    assert!(numbers["clock_doubt"].as_str().unwrap().contains(&whose), "{numbers}");
}

#[test]
fn ends_without_packets_for_long_are_said() {
    let folder = Folder::new();
    let ends = aligned(&folder).map(|file| packets(&file));
    let (began, slower) = (ends[0][0].timestamp, 10);
    let (gap, length) = (began + 2_600_000_000..began + 5_100_000_000, 2_500_000_000);
    let slow = |packets: &[Packet]| -> Vec<Packet> {
        let later = |packet: &Packet| Packet {
            timestamp: began + (packet.timestamp - began) * slower,
            ..packet.clone()
        };
        packets.iter().map(later).collect()
    };
    let ends = ends.map(|packets| slow(&packets));
    let sound = exchange(
        &["--seed", "5"],
        &folder.capture("a.pcap", &ends[0]),
        &folder.capture("b.pcap", &ends[1]),
        "127.0.0.1:0",
    );
    assert!(!sound["warnings"].to_string().contains("has no packet of"), "{sound}");
    let by_interval = |found: &Value| -> HashMap<u64, Value> {
        let intervals = found["intervals"].as_array().unwrap().iter();
        intervals.map(|it| (it["interval"].as_u64().unwrap(), it["lost"].clone())).collect()
    };
    let sound_losses = by_interval(&exchange(
        &["--seed", "5", "--interval", "1s"],
        &folder.path("a.pcap"),
        &folder.path("b.pcap"),
        "127.0.0.1:0",
    ));
    for (end, name, counted) in [(0, "sender", "gained"), (1, "receiver", "lost")] {
        // Its recorder stands still, or its clock is set.
        for is_set in [false, true] {
            let mut ends = ends.clone();
            match is_set {
                false => ends[end].retain(|packet| !gap.contains(&packet.timestamp)),
                true => {
                    let later = ends[end].iter_mut().filter(|packet| packet.timestamp >= gap.start);
                    later.for_each(|packet| packet.timestamp += length);
                }
            }
            let [a, b] =
                [("a.pcap", &ends[0]), ("b.pcap", &ends[1])].map(|(name, all)| folder.capture(name, all));
            for options in [&["--seed", "5"][..], &["--seed", "5", "--interval", "1s"]] {
                let serving = Serving::start(&[options, &["127.0.0.1:0", &b]].concat());
                let asked = run(&[&["exchange", "ask", "--json"], options, &[&serving.address, &a]].concat());
                serving.end();
                let said = asked.json();
                let expected = format!("the {name} has no packet of 2.5");
                let warnings = said["warnings"].to_string();
                match (is_set, options.len() > 2) {
                    (false, _) => {
                        assert!(warnings.contains(&expected) && warnings.contains(counted), "{asked:?}")
                    }
                    // Packets are found where their stamps put them, intervals away; what was before that is right.
                    (true, true) => {
                        let text = format!("{warnings} {}", said["overall"]["reason"]);
                        assert!(text.contains("packets arrived up to 2."), "{asked:?}");
                        let known = by_interval(&said).into_iter().filter(|(_, lost)| !lost.is_null());
                        known.for_each(|(number, lost)| assert_eq!(lost, sound_losses[&number], "{asked:?}"));
                    }
                    // Without intervals, it changes delays, and loses nothing.
                    (true, false) => assert_eq!(said["overall"]["lost"], sound["overall"]["lost"]),
                }
            }
        }
    }
}

#[test]
fn coarse_stamps_of_either_end_are_said() {
    let folder = Folder::new();
    for end in 0..2 {
        let mut ends = [SENDER, RECEIVER].map(packets);
        ends[end].iter_mut().for_each(|packet| packet.timestamp -= packet.timestamp % 1_000_000);
        let ends = [("a.pcap", &ends[0]), ("b.pcap", &ends[1])].map(|(name, all)| folder.capture(name, all));
        let found = exchange(&["--seed", "5"], &ends[0], &ends[1], "127.0.0.1:0");
        let whose = format!("the {}'s times are multiples of 1.000 ms", ["sender", "receiver"][end]);
        assert!(found["overall"]["clock_doubt"].as_str().unwrap().contains(&whose), "{found}");
        let measured = run(&[
            "measure",
            "--json",
            "--synopsis",
            "identity",
            "--rows",
            "64",
            "--seed",
            "5",
            &ends[0],
            &ends[1],
        ]);
        deviations_agree(&found, &measured.json(), 64.0);
    }
}

#[test]
fn a_share_of_the_flows_is_the_same_at_both_ends() {
    // The shipped captures, each flow of which becomes sixteen by the source port.
    let folder = Folder::new();
    let [sender, receiver] = [SENDER, RECEIVER].map(packets);
    let many = |mut all: Vec<Packet>| {
        for packet in &mut all {
            // A packet of one identity gets one port at both ends.
            let of =
                packet.data[18..20].iter().fold(7u8, |sum, byte| sum.wrapping_mul(31).wrapping_add(*byte));
            packet.data[34..36].copy_from_slice(&(4000 + u16::from(of % 16)).to_be_bytes());
        }
        all
    };
    let (sender, receiver) = (many(sender), many(receiver));
    let files = [folder.capture("sender.pcap", &sender), folder.capture("receiver.pcap", &receiver)];
    let exchanged = exchange(&["--flows", "2", "--seed", "5"], &files[0], &files[1], "127.0.0.1:0");
    let number = |key: &str| exchanged["overall"][key].as_u64().unwrap() as usize;
    // Were they not the same ones, most packets of one end would be missing at the other: of all 2.6 % are.
    assert!(number("sent") > sender.len() / 20 && number("sent") < sender.len() / 2, "{}", number("sent"));
    assert_eq!((number("only_received"), number("only_sent")), (0, number("sent") - number("received")));
    assert!(number("only_sent") < number("sent") / 10, "{exchanged}");
    assert!(exchanged["warnings"].to_string().contains("of 4 flows one was taken"));
}

#[test]
fn who_is_refused_learns_why() {
    let folder = Folder::new();
    let keys = ["a.keys", "b.keys"].map(|name| folder.path(name));
    for key in &keys {
        run(&["key", key]).told(0, &[]);
    }
    let listen = "127.0.0.1:0";
    let with = |options: &[&str], asking: &[&str], codes: [i32; 2], part: &str| {
        let serving = Serving::start(&[options, &[listen, RECEIVER]].concat());
        let address = serving.address.clone();
        let asked = run(&[&["exchange", "ask", "--json"], asking, &[&address, SENDER]].concat());
        let (code, messages) = serving.end();
        assert_eq!([asked.code, code], codes, "{asked:?} {messages}");
        asked.told(codes[0], &[part]);
        assert_eq!(asked.json()["exit_code"], json!(codes[0]));
    };
    with(&["--key", &keys[0]], &["--key", &keys[1]], [18, 18], "give both ends the same file of keys");
    with(&["--key", &keys[0]], &[], [18, 18], "unauthenticated: anybody on the path can forge");
    with(&[], &["--key", &keys[1]], [18, 18], "the same file of keys");
    with(&["--seed", "2"], &[], [4, 4], "configured differently");
    with(&["--interval", "1s"], &[], [4, 4], "another length");
    with(&["--flows", "3"], &[], [4, 4], "another share of the flows");
    run(&["exchange", "ask", "--synopsis", "lda", listen, SENDER])
        .failed(2, &["identity tables of all packets"]);
    run(&["exchange", "ask", "nowhere", SENDER]).told(2, &["HOST:PORT"]);
    run(&["exchange", "ask", &format!("unix:{}", folder.path("nobody")), SENDER]).told(11, &["No such file"]);
}

#[test]
fn whoever_is_silent_or_no_receiver_is_left() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let silent = thread::spawn(move || {
        let _silent = listener.accept().unwrap().0;
        let (mut garbage, _) = listener.accept().unwrap();
        garbage.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
        garbage.read_to_end(&mut vec![]).unwrap_or_default();
    });
    let started = Instant::now();
    run(&["exchange", "ask", "--patience", "300ms", &address, SENDER]).told(14, &["silent"]);
    assert!(started.elapsed().as_secs() < 30, "the patience unless asked is 60 s");
    run(&["exchange", "ask", &address, SENDER]).told(18, &["breaks the rules"]);
    silent.join().unwrap();
    // One end's recording is empty; and as intervals there is nothing in common.
    let folder = Folder::new();
    let empty = folder.capture("empty.pcap", &[]);
    let nothing = exchange_codes(&["--interval", "1s"], SENDER, &empty);
    assert_eq!(nothing.code, 6, "{nothing:?}");
    let hour_later: Vec<Packet> = packets(RECEIVER)
        .into_iter()
        .map(|packet| Packet { timestamp: packet.timestamp + 3_600_000_000_000, ..packet })
        .collect();
    let far = folder.capture("far.pcap", &hour_later);
    exchange_codes(&["--interval", "100ms"], SENDER, &far).told(6, &["whether their clocks agree"]);
    // Without intervals, and by a whole turn of packets' times.
    let turn_later: Vec<Packet> = packets(RECEIVER)
        .into_iter()
        .map(|packet| Packet { timestamp: packet.timestamp + (1 << 48), ..packet })
        .collect();
    let far = folder.capture("turn.pcap", &turn_later);
    let refused = exchange_codes(&["--json"], SENDER, &far);
    refused.told(6, &["more than 541 s apart"]);
    assert!(refused.json()["overall"]["mean_ns"].is_null(), "{refused:?}");
    let lost = exchange_codes(&["--json"], SENDER, &empty);
    assert_eq!(lost.json()["overall"]["received"], json!(0));
}

/// More connections than there is room for that say nothing, all there before who asks.
#[test]
fn connections_that_say_nothing_keep_nobody_waiting() {
    let folder = Folder::new();
    let unix = format!("unix:{}", folder.path("socket"));
    for address in ["127.0.0.1:0", unix.as_str()] {
        let serving = Serving::start(&["--patience", "10m", address, RECEIVER]);
        let address = serving.address.clone();
        let silent: Vec<Box<dyn Read>> = (0..80)
            .map(|_| match address.strip_prefix("unix:") {
                Some(path) => Box::new(UnixStream::connect(path).unwrap()) as Box<dyn Read>,
                None => Box::new(TcpStream::connect(&address).unwrap()),
            })
            .collect();
        run(&["exchange", "ask", "--patience", "30s", &address, SENDER]).told(0, &[]);
        assert_eq!(serving.end().0, 0);
        drop(silent);
    }
}

/// A greeting that somebody has recorded, sent again without another word.
#[test]
fn a_greeting_and_no_more_keeps_nobody_waiting() {
    let folder = Folder::new();
    let key = folder.path("north.keys");
    run(&["key", &key]).told(0, &[]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let mut asking = command(&["exchange", "ask", "--key", &key, &address, SENDER]);
    let mut asking = asking.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let mut near = listener.accept().unwrap().0;
    let mut greeting = vec![0; 4];
    near.read_exact(&mut greeting).unwrap();
    let length = u32::from_be_bytes([0, 1, 2, 3].map(|at| greeting[at])) as usize;
    greeting.resize(4 + length, 0);
    near.read_exact(&mut greeting[4..]).unwrap();
    asking.kill().unwrap();
    asking.wait().unwrap();

    let mut serving = Serving::serve(&["--patience", "10m", "--key", &key, "127.0.0.1:0", RECEIVER]);
    let silent = [0; 3].map(|_| {
        let mut silent = TcpStream::connect(&serving.address).unwrap();
        silent.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        silent.write_all(&greeting).unwrap();
        // It has its turn.
        silent.read_exact(&mut [0; 4]).unwrap();
        silent
    });
    let address = serving.address.clone();
    run(&["exchange", "ask", "--key", &key, "--patience", "30s", &address, SENDER]).told(0, &[]);
    serving.child.kill().unwrap();
    serving.child.wait().unwrap();
    drop(silent);
}

/// What the receiver cannot read does not look lost at the sender.
#[test]
fn a_recording_that_is_cut_off_gives_no_numbers() {
    let folder = Folder::new();
    let bytes = std::fs::read(RECEIVER).unwrap();
    let damaged = folder.write("cut.pcap", &bytes[..bytes.len() - 5]);
    let serving = Serving::start(&["127.0.0.1:0", &damaged]);
    let asked = run(&["exchange", "ask", "--json", &serving.address.clone(), SENDER]);
    let (code, messages) = serving.end();
    assert!(code == 3 && messages.contains("cut.pcap"), "{code} {messages}");
    asked.told(11, &["see what it says"]);
    assert_eq!(asked.json()["overall"], Value::Null);
}

/// As far as a damaged recording goes, intervals are those of the whole one.
#[test]
fn what_a_recording_that_is_cut_off_holds_is_taken_on_request() {
    let folder = Folder::new();
    let [sender, receiver] = aligned(&folder);
    let bytes = std::fs::read(&receiver).unwrap();
    let damaged = folder.write("cut.pcap", &bytes[..bytes.len() * 2 / 3]);
    let options = ["--rows", "256", "--interval", "250ms"];
    let whole = exchange(&options, &sender, &receiver, "127.0.0.1:0");
    let kept = exchange(&[&options[..], &["--keep-going"]].concat(), &sender, &damaged, "127.0.0.1:0");
    let [whole, kept] = [whole, kept].map(|it| it["intervals"].as_array().unwrap().clone());
    assert!(kept.len() > 2 && kept.len() < whole.len(), "{} of {}", kept.len(), whole.len());
    for (kept, whole) in kept.iter().zip(&whole) {
        for key in ["sent", "received", "lost", "mean_ns", "start_time"] {
            assert_eq!(kept[key], whole[key], "{key}");
        }
    }
    run(&["exchange", "serve", "127.0.0.1:0", &damaged, "--keep-going"]).told(2, &["--interval"]);
}

/// Passes frames on, the one of this number with a bit turned in its middle.
fn pass_on(mut from: TcpStream, mut to: TcpStream, altered: usize) {
    for number in 1.. {
        let mut length = [0; 4];
        if from.read_exact(&mut length).is_err() {
            break;
        }
        let mut frame = vec![0; u32::from_be_bytes(length) as usize];
        if from.read_exact(&mut frame).is_err() {
            break;
        }
        if number == altered {
            let middle = frame.len() / 2;
            frame[middle] ^= 1;
        }
        if to.write_all(&[&length[..], &frame].concat()).is_err() {
            break;
        }
    }
    let _ = (from.shutdown(Shutdown::Read), to.shutdown(Shutdown::Write));
}

/// Somebody in between alters a frame of either end, with a key: a message, or a control frame of a table.
#[test]
fn what_was_altered_on_the_way_is_not_authentic_at_either_end() {
    let folder = Folder::new();
    let key = folder.path("north.keys");
    run(&["key", &key]).told(0, &[]);
    for (of_sender, of_receiver) in [(2, 0), (0, 1), (0, 2), (0, 3), (0, 7)] {
        let serving = Serving::start(&["--key", &key, "127.0.0.1:0", RECEIVER]);
        let between = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, receiver) = (between.local_addr().unwrap().to_string(), serving.address.clone());
        let passing = thread::spawn(move || {
            let near = between.accept().unwrap().0;
            let far = TcpStream::connect(receiver).unwrap();
            let (near_again, far_again) = (near.try_clone().unwrap(), far.try_clone().unwrap());
            let back = thread::spawn(move || pass_on(far_again, near_again, of_receiver));
            pass_on(near, far, of_sender);
            back.join().unwrap();
        });
        let asked = run(&["exchange", "ask", "--key", &key, &address, SENDER]);
        let (code, messages) = serving.end();
        assert_eq!((asked.code, code), (18, 18), "{of_sender} {of_receiver}: {asked:?} {messages}");
        passing.join().unwrap();
    }
}

/// As [`exchange`], whatever becomes of it.
fn exchange_codes(options: &[&str], sender: &str, receiver: &str) -> Run {
    let common: Vec<&str> = options.iter().copied().filter(|option| *option != "--json").collect();
    let serving = Serving::start(&[&common[..], &["127.0.0.1:0", receiver]].concat());
    let address = serving.address.clone();
    let asked = run(&[&["exchange", "ask"], options, &[&address, sender]].concat());
    serving.end();
    asked
}

/// The last packets are stamped two seconds late by the receiver, so that no time goes back: the mean is beyond every packet that is looked at, and says so.
#[test]
fn a_mean_beyond_all_single_packets_is_doubted() {
    let folder = Folder::new();
    let sent = packets(SENDER);
    let sender = folder.capture("sender.pcap", &sent);
    for (wrong, is_doubted) in [(5, true), (0, false)] {
        let mut received = sent.clone();
        for (number, packet) in (0..).zip(&mut received) {
            packet.timestamp += 1_000_000 + number % 1000;
        }
        let from = received.len() - wrong;
        received[from..].iter_mut().for_each(|packet| packet.timestamp += 2_000_000_000);
        let receiver = folder.capture("receiver.pcap", &received);
        let found = exchange(&[], &sender, &receiver, "127.0.0.1:0");
        let doubt = found["overall"]["clock_doubt"].as_str().unwrap_or_default();
        assert_eq!(doubt.contains("show another mean than the sums"), is_doubted, "{found}");
    }
}

/// What is in one end's recording alone is said at the other one, which shows the numbers.
#[test]
fn what_the_receiver_alone_sees_is_said_at_the_sender() {
    let folder = Folder::new();
    let received = packets(RECEIVER);
    let dropped = folder.frames("dropped.pcapng", &received);
    add_dropped(&dropped, [3000, 290, 10]);
    let mut short = received.clone();
    short.iter_mut().step_by(10).for_each(|packet| packet.data.truncate(60));
    let short = folder.capture("short.pcap", &short);
    let mut both_ways = received.clone();
    for (at, packet) in received.iter().take(9000).enumerate() {
        let mut back = packet.clone();
        back.data[26..34].rotate_left(4);
        both_ways.insert(2 * at + 1, back);
    }
    let both_ways = folder.capture("both_ways.pcap", &both_ways);
    // Outer headers of GRE around one packet in ten.
    let mut tunnelled = received.clone();
    for packet in tunnelled.iter_mut().step_by(10).filter(|packet| packet.data[12..14] == [8, 0]) {
        let length = (packet.length - 14 + 24) as u16;
        let outer: [[u8; 4]; 6] = [
            [0x45, 0, (length >> 8) as u8, length as u8],
            [0; 4],
            [64, 47, 0, 0],
            [10, 9, 0, 1],
            [10, 9, 0, 2],
            [0, 0, 8, 0],
        ];
        packet.data.splice(14..14, outer.concat());
        packet.length += 24;
    }
    let tunnelled = folder.capture("tunnelled.pcap", &tunnelled);
    for (receiver, text) in [
        (dropped.as_str(), "290 packets were dropped by the interface and 10 by the system"),
        (&short, "were captured without the end of their identity"),
        (&both_ways, "go against the others"),
        (&tunnelled, "are in tunnels (GRE)"),
        (RECEIVER, ""),
    ] {
        for options in [&["--json"][..], &["--json", "--interval", "200ms"]] {
            let found = exchange_codes(options, SENDER, receiver);
            let result = found.json();
            let warnings = result["warnings"].as_array().unwrap().iter().filter_map(Value::as_str);
            let by_receiver =
                warnings.filter(|warning| warning.contains(" says: ") && warning.contains(receiver));
            let said: Vec<&str> = by_receiver.filter(|warning| warning.contains(text)).collect();
            assert_eq!(said.len(), usize::from(!text.is_empty()), "{text}: {result}");
            assert_eq!(found.messages.contains(" says: "), !text.is_empty(), "{}", found.messages);
        }
    }
}

/// The receiver's card has joined pairs of full packets.
#[test]
fn packets_longer_than_a_link_carries_are_named() {
    let folder = Folder::new();
    let mut received = packets(RECEIVER);
    received.iter_mut().step_by(20).for_each(|packet| packet.length = 2962);
    let receiver = folder.capture("receiver.pcap", &received);
    for options in [&["--json"][..], &["--json", "--interval", "200ms"]] {
        for (receiver, is_said) in [(receiver.as_str(), true), (RECEIVER, false)] {
            let warnings = exchange_codes(options, SENDER, receiver).json()["warnings"].to_string();
            assert_eq!(warnings.contains("longer than an ordinary link carries"), is_said, "{warnings}");
        }
    }
}

#[test]
fn fragments_at_one_end_are_refused() {
    let folder = Folder::new();
    let parts = folder.capture("receiver.pcap", &fragmented(packets(RECEIVER)));
    for options in [&[][..], &["--interval", "200ms"]] {
        for ends in [[SENDER, &parts], [&parts, SENDER]] {
            let found = exchange_codes(options, ends[0], ends[1]);
            found.told(9, &["fragments of IP packets are ", "0 (0.0 %)", "127.0.0.1:", "MTU"]);
        }
        exchange_codes(options, &parts, &parts).told(0, &[]);
    }
}

/// One packet in ten is in the sender's recording twice, as a mirror port gives it.
#[test]
fn copies_that_the_sender_alone_has_are_named() {
    let folder = Folder::new();
    for is_copied in [true, false] {
        let mut sent = vec![];
        for (number, packet) in packets(SENDER).into_iter().enumerate() {
            sent.push(packet.clone());
            if is_copied && number % 10 == 9 {
                sent.push(Packet { timestamp: packet.timestamp + 1000, ..packet });
            }
        }
        let sender = folder.capture("sender.pcap", &sent);
        for options in [&["--json"][..], &["--json", "--interval", "200ms"]] {
            let found = exchange_codes(options, &sender, RECEIVER).json();
            let reason = found["overall"]["reason"].as_str().unwrap_or_default();
            assert_eq!(
                reason.contains("are copies of others of which the receiver has fewer"),
                is_copied,
                "{reason}"
            );
        }
    }
}

/// One stamp, of the first or the last packet at either end, is off by 1,000 s: it is in no sample, and no packet beside it shows it.
#[test]
fn a_wrong_stamp_at_an_edge_is_doubted() {
    let folder = Folder::new();
    let second = 1_000_000_000;
    let loss = |number: usize| number % 50 == 7;
    for lacks_edges in [false, true] {
        for (end, is_last) in [(0, false), (0, true), (1, false), (1, true), (2, false)] {
            let sent: Vec<Packet> = packets(SENDER).into_iter().skip(100).take(5000).collect();
            let received =
                sent.iter().enumerate().filter(|(number, _)| !loss(*number)).map(|(number, packet)| {
                    let delay = 1_000_000 + (number as u64 * 7919) % 50_000;
                    Packet { timestamp: packet.timestamp + delay, ..packet.clone() }
                });
            let received: Vec<Packet> = received.collect();
            let mut ends = [sent, received];
            if lacks_edges {
                // The other end has more, in front and behind.
                let length = ends[1].len();
                ends[1] = ends[1][10..length - 10].to_vec();
            }
            if let Some(packets) = ends.get_mut(end) {
                match is_last {
                    true => packets.last_mut().unwrap().timestamp += 1000 * second,
                    false => packets[0].timestamp -= 1000 * second,
                }
            }
            let [sender, receiver] = [("sender.pcap", &ends[0]), ("receiver.pcap", &ends[1])]
                .map(|(name, all)| folder.capture(name, all));
            let found = exchange_codes(&["--json"], &sender, &receiver).json();
            let doubt = found["overall"]["clock_doubt"].as_str().unwrap_or_default();
            // A packet that the other end lacks has no delay that could be wrong.
            let is_doubted = end == 1 || end == 0 && !lacks_edges;
            assert_eq!(
                doubt.contains("from the median, far from all others"),
                is_doubted,
                "{end} {is_last} {lacks_edges}: {found}"
            );
        }
    }
}

/// The sender's recorder stands still for a second, in which the receiver has packets: they are in no interval of the sender's.
#[test]
fn packets_of_intervals_that_the_sender_lacks_are_named() {
    let folder = Folder::new();
    let mut sent = packets(SENDER);
    // From the beginning of an interval on.
    let from = (sent[0].timestamp / 200_000_000 + 5) * 200_000_000;
    sent.retain(|packet| !(from..from + 1_000_000_000).contains(&packet.timestamp));
    let sender = folder.capture("sender.pcap", &sent);
    for (sender, is_said) in [(sender.as_str(), true), (SENDER, false)] {
        let found = exchange_codes(&["--json", "--interval", "200ms"], sender, RECEIVER).json();
        let warnings = found["warnings"].as_array().unwrap().iter().filter_map(Value::as_str);
        let said: Vec<&str> =
            warnings.filter(|warning| warning.contains("packets of intervals in which")).collect();
        assert_eq!(said.len(), usize::from(is_said), "{found}");
        if let [said] = said[..] {
            let packets: u64 =
                said.split(" has ").nth(1).unwrap().split(' ').next().unwrap().parse().unwrap();
            // A second of traffic, but for what came late into the first of the five and out of the last.
            assert!((17_000..21_000).contains(&packets), "{said}");
        }
    }
}

/// One packet in ten is one of fifty that come again and again, as heartbeats do: across cuts it is a guess which is which. Losses are right or say so; and the deviation,
/// which rows of such packets would make many times what it is, is that of the others.
#[test]
fn heartbeats_spoil_no_deviation() {
    let folder = Folder::new();
    let mut sent: Vec<Packet> = packets(SENDER).into_iter().step_by(4).collect();
    for number in (500..sent.len()).step_by(10) {
        sent[number] = Packet { timestamp: sent[number].timestamp, ..sent[10 * (number / 10 % 50)].clone() };
    }
    let is_lost = |number: u64| number % 97 == 37;
    let mut lost: HashMap<u64, u64> = HashMap::new();
    for (packet, _) in sent.iter().zip(0u64..).filter(|(_, number)| is_lost(*number)) {
        *lost.entry(packet.timestamp / 250_000_000 % (1 << 32)).or_default() += 1;
    }
    let received = sent.iter().zip(0u64..).filter(|(_, number)| !is_lost(*number));
    let mut received: Vec<Packet> = received
        .map(|(packet, number)| {
            let even = ((number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11) + 1) as f64 / (1u64 << 53) as f64;
            let delay = 5_000_000 + (-even.ln() * 1e6) as u64;
            Packet { timestamp: packet.timestamp + delay, ..packet.clone() }
        })
        .collect();
    received.sort_by_key(|packet| packet.timestamp);
    let [sender, receiver] =
        [("sender.pcap", &sent), ("receiver.pcap", &received)].map(|(name, all)| folder.capture(name, all));
    let found = exchange_codes(&["--json", "--interval", "250ms"], &sender, &receiver).json();
    let overall = &found["overall"];
    // A sample of 512 in each of the intervals, of a kurtosis of 9: four standard errors.
    let samples = 512.0 * found["intervals"].as_array().unwrap().len() as f64;
    let deviation = overall["std_ns"].as_f64().unwrap();
    assert!((deviation / 1e6 - 1.0).abs() < 4.0 * (8.0 / (4.0 * samples)).sqrt(), "{deviation} {samples}");
    let mut open = 0;
    for interval in found["intervals"].as_array().unwrap() {
        let truth = lost[&interval["interval"].as_u64().unwrap()] as f64;
        match interval["lost_ci95"].as_array() {
            Some(range) => assert_eq!(range.clone(), [json!(truth), json!(truth)], "{interval}"),
            None => {
                open += 1;
                let reason = interval["reason"].as_str().unwrap();
                assert!(reason.contains("look like others of an interval beside theirs"), "{reason}");
            }
        }
    }
    assert_eq!(overall["lost_ci95"].is_null(), open > 0, "{overall}");
    assert!(open > 0, "{found}");
}

/// One packet of 3000 takes much longer. A sample of 512 rarely holds it, and whether the others take one time or several, what it shows of the deviation is not said without a
/// word: a packet less than the sample, and it is that of all.
#[test]
fn the_deviation_of_a_sample_says_that_it_is_one() {
    let folder = Folder::new();
    for (count, jitter) in [(3000, 0), (3000, 1000), (512, 1000), (511, 0)] {
        let sent: Vec<Packet> = packets(SENDER).into_iter().take(count).collect();
        let received: Vec<Packet> = sent
            .iter()
            .zip(0u64..)
            .map(|(packet, number)| {
                let delay = 5_000_000 + number * 7919 % 13 * jitter + if number == 250 { 100_000 } else { 0 };
                Packet { timestamp: packet.timestamp + delay, ..packet.clone() }
            })
            .collect();
        let mut delays: Vec<f64> = sent
            .iter()
            .zip(&received)
            .map(|(sent, received)| (received.timestamp - sent.timestamp) as f64)
            .collect();
        let mean = delays.iter().sum::<f64>() / count as f64;
        delays.iter_mut().for_each(|delay| *delay = (*delay - mean).powi(2));
        let truth = (delays.iter().sum::<f64>() / count as f64).sqrt();
        let mut received = received;
        received.sort_by_key(|packet| packet.timestamp);
        let [sender, receiver] = [("sender.pcap", &sent), ("receiver.pcap", &received)]
            .map(|(name, all)| folder.capture(name, all));
        for seed in ["1", "9"] {
            let found = exchange_codes(&["--json", "--seed", seed], &sender, &receiver).json();
            let overall = &found["overall"];
            let reason = overall["reason"].as_str().unwrap_or_default();
            let is_sample = reason.contains("that of a sample of 512 of 3000 packets");
            let deviation = overall["std_ns"].as_f64().unwrap();
            assert_eq!(is_sample, count > 512, "{reason}");
            if !is_sample {
                assert!((deviation - truth).abs() < 1e-6 * truth, "{deviation} {truth}");
            }
            // One without spread is no exact one.
            assert!(deviation > 0.0 || overall["std_ci95_ns"].is_null(), "{overall}");
        }
    }
}

/// Half of the packets look like others: of one that was lost, while another one came twice, nothing is seen.
#[test]
fn packets_that_look_alike_are_named() {
    let folder = Folder::new();
    for is_alike in [true, false] {
        let mut sent: Vec<Packet> = packets(SENDER).into_iter().take(6000).collect();
        for number in (1..sent.len()).step_by(2).filter(|_| is_alike) {
            sent[number] =
                Packet { timestamp: sent[number].timestamp, ..sent[1 + 2 * (number / 2 % 20)].clone() };
        }
        let mut received: Vec<Packet> = sent
            .iter()
            .map(|packet| Packet { timestamp: packet.timestamp + 1_000_000, ..packet.clone() })
            .collect();
        // One of twenty is lost, and the next one of them comes in its place.
        if is_alike {
            received[2001] = Packet { timestamp: received[2041].timestamp, ..received[2001].clone() };
            received.sort_by_key(|packet| packet.timestamp);
        }
        let [sender, receiver] = [("sender.pcap", &sent), ("receiver.pcap", &received)]
            .map(|(name, all)| folder.capture(name, all));
        let found = exchange_codes(&["--json"], &sender, &receiver).json();
        let reason = found["overall"]["reason"].as_str().unwrap_or_default();
        assert_eq!(reason.contains("look like others of them: what was lost of these"), is_alike, "{found}");
    }
}
