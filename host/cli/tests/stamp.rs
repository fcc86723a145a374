//! A sender and a reflector of test packets.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::reading::Reading;
use deltaline_stamp::packet::{Answer, Stamp};
use deltaline_stamp::time::ErrorEstimate;
use serde_json::Value;
use std::fs::{self, Permissions};
use std::net::UdpSocket;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::thread;

/// A reflector at a port that the system chose, and where it is.
fn reflector(more: &[&str]) -> (Reading, String) {
    let mut reflector = Reading::start(&[&["stamp", "reflect", "127.0.0.1:0", "--json"], more].concat());
    loop {
        let message = reflector.message();
        assert!(!message.is_empty(), "the reflector has ended");
        if let Some((_, address)) = message.split_once("answered at ") {
            return (reflector, address.trim().into());
        }
    }
}

/// A file that its owner alone may read.
fn write_private(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, Permissions::from_mode(0o600)).unwrap();
}

/// Exit code, standard output, standard error.
fn deltaline(arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_deltaline")).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

const QUICK: [&str; 4] = ["--interval", "1ms", "--count", "200"];

#[test]
fn a_sender_and_a_reflector() {
    let folder = tempfile::tempdir().unwrap();
    let key = folder.path().join("link.key");
    write_private(&key, " 00 01 02 03 04 05 06 07\n 08 09 0A 0b 0c 0d 0e 0f\n");
    let key = key.to_str().unwrap();
    for keys in [&[][..], &["--key", key][..]] {
        let (reflector, address) = reflector(keys);
        let sent = [&["stamp", "send", &address, "--length", "900"][..], &QUICK, keys];
        let (code, output, messages) = deltaline(&[sent.concat(), vec!["--json"]].concat());
        assert_eq!(code, 0, "{messages}");
        let result: Value = serde_json::from_str(&output).unwrap();
        assert_eq!(
            (&result["sent"], &result["received"], &result["lost"]),
            (&200.into(), &200.into(), &0.into())
        );
        assert_eq!((&result["lost_forward"], &result["duplicates"]), (&0.into(), &0.into()));
        assert_eq!(result["authenticated"], !keys.is_empty());
        let of = |way: &str, what: &str| result[way][what].as_f64().unwrap();
        // One machine, one clock.
        for way in ["round_trip_ns", "forward_ns", "backward_ns"] {
            let all = ["min", "p50", "p90", "p99", "max"].map(|what| of(way, what));
            assert!(all.is_sorted() && all[0] >= 0.0 && all[4] < 1e9, "{result}");
            assert!((of(way, "p99") - of(way, "min") - of(way, "variation")).abs() < 0.5);
        }
        let ways = of("forward_ns", "mean") + of("backward_ns", "mean");
        assert!((ways - of("round_trip_ns", "mean")).abs() < 1e-3);
        let doubt = result["clock_doubt"].as_str().unwrap();
        assert!(doubt.contains("offset") && !doubt.contains("changed"), "{doubt}");
        assert_eq!(messages.contains("unauthenticated"), keys.is_empty(), "{messages}");

        let (code, output, _) = deltaline(&sent.concat());
        assert_eq!(code, 0);
        assert!(
            output.contains("200 sent, 0 lost; 0 duplicates") && output.contains("round trip"),
            "{output}"
        );
        reflector.interrupt();
        let result = reflector.end();
        assert_eq!(result.code, 0, "{}", result.messages);
        let counts: Value = serde_json::from_str(&result.output).unwrap();
        assert_eq!((&counts["answered"], &counts["refused"]), (&400.into(), &0.into()));
    }
}

/// What a sender of 20 packets says of a reflector with these times of arrival and departure, by number and time asked: exit code, result and
/// messages.
fn answered_at(times: impl Fn(u32, u64) -> [u64; 2] + Send + 'static) -> (i32, Value, String) {
    answered_in(times, |_| ErrorEstimate::UNKNOWN)
}

/// The same, and what the reflector says of its times.
fn answered_in(
    times: impl Fn(u32, u64) -> [u64; 2] + Send + 'static,
    errors: impl Fn(u32) -> ErrorEstimate + Send + 'static,
) -> (i32, Value, String) {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    let address = socket.local_addr().unwrap().to_string();
    let answers = thread::spawn(move || {
        let mut buffer = [0; 200];
        for number in 0..20 {
            let (length, from) = socket.recv_from(&mut buffer).unwrap();
            let asked = Stamp::read(&buffer[..length], None).unwrap();
            let [arrival, time] = times(number, asked.time);
            let stamp = Stamp { number, time, error: errors(number), ..asked };
            let answer = Answer { stamp, arrival, asked, ttl: 255 };
            socket.send_to(&answer.packet(None, &buffer[..length]), from).unwrap();
        }
    });
    let send = ["stamp", "send", &address, "--count", "20", "--interval", "1ms", "--json"];
    let (code, output, messages) = deltaline(&send);
    answers.join().unwrap();
    (code, serde_json::from_str(&output).unwrap(), messages)
}

#[test]
fn a_clock_that_is_set_meanwhile_is_said() {
    // A second ahead from the middle on, in units of 2^-32 s.
    let (code, result, messages) =
        answered_at(|number, asked| [asked + u64::from(number >= 10) * (1 << 32); 2]);
    let said = "that offset changed by ";
    assert!(code == 0 && messages.contains(said), "{code} {messages}");
    assert!(result["clock_doubt"].as_str().unwrap().contains(said), "{result}");
    assert_eq!(result["samples"], 20);
}

/// Times of PTP, in all answers or in half of them; seconds and nanoseconds.
#[test]
fn times_that_count_from_elsewhere_give_round_trips_alone() {
    for (every, samples) in [(1, 0), (2, 10)] {
        let (code, result, messages) = answered_in(
            move |number, asked| {
                if number % every == 0 { [5 << 32 | 200, 5 << 32 | 700] } else { [asked; 2] }
            },
            move |number| ErrorEstimate(if number % every == 0 { 0x4001 } else { 0x0001 }),
        );
        let said = format!("{} of 20 answers have times of PTP", 20 - samples);
        assert!(code == 0 && messages.contains(&said), "{code} {messages}");
        assert!(result["clock_doubt"].as_str().unwrap().contains(&said), "{result}");
        assert_eq!((&result["samples"], &result["one_way_samples"]), (&20.into(), &samples.into()));
        assert_eq!(
            (result["forward_ns"].is_null(), result["round_trip_ns"].is_null()),
            (samples == 0, false)
        );
    }
}

/// No clock, and one of which the format is another one than is said: 70 years are missing.
#[test]
fn a_reflector_without_the_time_is_said() {
    let (code, result, messages) = answered_at(|_, _| [0, 0]);
    assert!(code == 14 && messages.contains("no answer has times of the reflector"), "{code} {messages}");
    assert_eq!(
        (&result["received"], &result["samples"], &result["lost"]),
        (&20.into(), &0.into(), &0.into())
    );
    let (code, result, messages) = answered_at(|number, asked| [if number < 5 { 0 } else { asked }, asked]);
    assert!(code == 0 && messages.contains("5 of 20 answers have no times"), "{code} {messages}");
    assert_eq!(result["samples"], 15);
    let (code, _, messages) = answered_at(|_, asked| [asked - (2_208_988_800 << 32); 2]);
    assert!(code == 0 && messages.contains("one of the clocks is not set"), "{code} {messages}");
}

/// A reflector whose clock is coarse: by its times some packets stay there for longer than they are away.
#[test]
fn answers_that_contradict_themselves_are_in_no_delay_and_said() {
    for (contradicts, code, said) in [(2, 0, "10 of 20 answers say"), (1, 14, "all answers contradict")] {
        let (found, result, messages) = answered_at(move |number, asked| {
            [if number % contradicts == 0 { asked - (1 << 36) } else { asked }, asked]
        });
        assert!(found == code && messages.contains(said), "{found} {messages}");
        let samples = if code == 0 { 10 } else { 0 };
        assert_eq!((&result["received"], &result["samples"]), (&20.into(), &samples.into()));
    }
}

#[test]
fn what_fails_says_why() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        write_private(&path, text);
        path.to_str().unwrap().to_string()
    };
    let (ours, theirs) = (file("ours", &"00".repeat(16)), file("theirs", &"01".repeat(16)));
    let (theirs, address) = reflector(&["--key", &theirs]);
    let send = |more: &[&str]| {
        deltaline(&[&["stamp", "send", &address, "--timeout", "300ms"][..], &QUICK, more].concat())
    };
    for keys in [&["--key", &ours][..], &[]] {
        let (code, output, messages) = send(keys);
        assert_eq!(code, 14, "{messages}");
        assert!(
            output.contains("200 sent, 200 lost") && messages.contains("no answer came"),
            "{output}{messages}"
        );
    }
    let (code, _, messages) = deltaline(&["stamp", "reflect", &address]);
    assert!(code == 12 && messages.contains("another port"), "{messages}");
    theirs.interrupt();
    let result = theirs.end();
    let counts: Value = serde_json::from_str(&result.output).unwrap();
    assert_eq!((result.code, &counts["answered"], &counts["refused"]), (0, &0.into(), &400.into()));
    for (text, reason) in [("00", "16 octets at least"), ("0g", "no such text"), ("000", "no such text")] {
        let (code, _, messages) = send(&["--key", &file("bad", text)]);
        assert!(code == 3 && messages.contains(reason), "{messages}");
    }
    fs::set_permissions(&ours, Permissions::from_mode(0o644)).unwrap();
    let (code, _, messages) = send(&["--key", &ours]);
    assert!(code == 3 && messages.contains("chmod 600"), "{messages}");
    let (code, _, messages) = send(&["--key", "/nowhere"]);
    assert!(code == 3 && messages.contains("/nowhere"), "{messages}");

    let (code, _, messages) =
        deltaline(&["stamp", "send", "127.0.0.1:9", "--count", "3", "--interval", "1ms"]);
    assert!(code == 14 && messages.contains("nobody listens"), "{messages}");
    let (code, _, messages) = deltaline(&["stamp", "send", "no.such.name.invalid"]);
    assert!(code == 11 && messages.contains("no.such.name.invalid"), "{messages}");
    for to in ["127.0.0.1:99999", "[::1]:65536"] {
        let (code, _, messages) = deltaline(&["stamp", "send", to]);
        assert!(code == 11 && messages.contains("no such port"), "{messages}");
    }
    assert_eq!(deltaline(&["stamp", "send", "127.0.0.1", "--length", "43"]).0, 2);
}
