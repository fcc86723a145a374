//! The figures that are served while a board is read, and clients that mean no good.
#![allow(clippy::unwrap_used, clippy::panic)]

use crate::common::board::{LOSSY, Simulated, said};
use crate::common::reading::{Reading, lines, of};
use deltaline_model::board::{Command, Record, Settings};
use deltaline_model::wire::frame::Role;
use openmetrics_parser::openmetrics::parse_openmetrics;
use openmetrics_parser::{OpenMetricsType, OpenMetricsValue};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::{Duration, Instant, UNIX_EPOCH};

#[test]
fn prometheus_scrapes_what_is_read() {
    let board = Simulated::new();
    board.command(Command::Settings(Settings { intervals: 6, ..LOSSY }));
    let mut reading = Reading::start(&["read", &board.port(), "--json", "--prometheus", "127.0.0.1:0"]);
    let address = address(&mut reading);
    reading.wait_for("interval", 6);
    let read = lines(&reading.text);
    let intervals = of(&read, "interval");

    // The text may be a second late on a busy machine.
    let is_whole = |body: &str| body.contains(r#"deltaline_intervals_total{segment="0",result="usable"} 6"#);
    let scrapes = (0..30).map(|number| {
        sleep(Duration::from_millis(if number == 0 { 0 } else { 100 }));
        scraped(&address, "/metrics")
    });
    let (head, body) = scrapes.into_iter().find(|(_, body)| is_whole(body)).unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert!(head.contains("application/openmetrics-text; version=1.0.0"), "{head}");
    assert!(scraped(&address, "/").0.starts_with("HTTP/1.1 404"));
    keeps_to_the_rules(&body);
    let exposition = parse_openmetrics(&body).unwrap();
    let family = |name: &str| exposition.families.get(name).unwrap_or_else(|| panic!("no {name} in {body}"));
    let sum = |member: &str| -> f64 { intervals.iter().map(|line| line[member].as_f64().unwrap()).sum() };
    let last = intervals.last().unwrap();
    let nanoseconds = |value: &Value| value.as_f64().unwrap() / 1e9;
    for (name, kind, unit, expected) in [
        ("deltaline_sent_packets", OpenMetricsType::Counter, "packets", sum("sent")),
        ("deltaline_received_packets", OpenMetricsType::Counter, "packets", sum("received")),
        ("deltaline_lost_packets", OpenMetricsType::Counter, "packets", sum("lost")),
        ("deltaline_delay_mean_seconds", OpenMetricsType::Gauge, "seconds", nanoseconds(&last["mean_ns"])),
        (
            "deltaline_delay_mean_lower_seconds",
            OpenMetricsType::Gauge,
            "seconds",
            nanoseconds(&last["mean_ci95_ns"][0]),
        ),
        (
            "deltaline_delay_mean_upper_seconds",
            OpenMetricsType::Gauge,
            "seconds",
            nanoseconds(&last["mean_ci95_ns"][1]),
        ),
        (
            "deltaline_delay_deviation_seconds",
            OpenMetricsType::Gauge,
            "seconds",
            nanoseconds(&last["std_ns"]),
        ),
        (
            "deltaline_loss_ratio",
            OpenMetricsType::Gauge,
            "ratio",
            last["lost"].as_f64().unwrap() / last["sent"].as_f64().unwrap(),
        ),
    ] {
        let family = family(name);
        assert_eq!((&family.family_type, family.unit.as_str()), (&kind, unit), "{name}");
        assert!(!family.help.is_empty());
        let sample = family.iter_samples().next().unwrap();
        assert_eq!(sample.get_labelset().unwrap().get_label_value("segment"), Some("0"));
        assert!((value(&sample.value).unwrap() - expected).abs() <= 1e-12 * expected.abs(), "{name}: {body}");
    }
    for (name, expected) in
        [("deltaline_source_up", 1.0), ("deltaline_reconnects", 0.0), ("deltaline_bad_frames", 0.0)]
    {
        assert_eq!(value(&family(name).iter_samples().next().unwrap().value), Some(expected));
    }
    for line in [
        r#"deltaline_intervals_total{segment="0",result="usable"} 6"#,
        r#"deltaline_intervals_total{segment="0",result="void"} 0"#,
        r#"deltaline_missing_intervals_total{segment="0"} 0"#,
        r#"deltaline_negative_delay_mean_intervals_total{segment="0"} 0"#,
    ] {
        assert!(body.lines().any(|found| found == line), "{line} is not in\n{body}");
    }
    let distribution = family("deltaline_interval_delay_mean_seconds").iter_samples().next().unwrap();
    let OpenMetricsValue::Histogram(distribution) = &distribution.value else { panic!("{distribution:?}") };
    let mean = distribution.sum.as_ref().unwrap().as_f64();
    assert!((mean - sum("mean_ns") / 1e9).abs() < 1e-12, "{body}");
    assert_eq!(distribution.buckets.last().unwrap().count.as_f64(), 6.0);

    // Ctrl-C ends it, and what it has read stands.
    reading.interrupt();
    let result = reading.end();
    result.told(0, &[]);
    assert_eq!(of(&lines(&result.output), "end")[0]["intervals"], json!(6));
}

/// A receiver that falls silent, while the sender goes on and the port is there.
#[test]
fn a_silent_end_is_seen() {
    let settings = Settings { intervals: 9, ..LOSSY };
    // By the messages' numbers.
    let said = said(&settings, 9);
    let is_mute: Vec<bool> = said
        .iter()
        .scan(0, |frames, payload| match Record::decode(payload).unwrap() {
            Record::Control(frame) if frame[15] == Role::Receiver as u8 => {
                *frames += 1;
                // Two frames an interval: it reports two.
                Some(*frames > 4)
            }
            _ => Some(false),
        })
        .collect();
    let mute = move |number: usize, bytes| if is_mute.get(number) == Some(&true) { vec![] } else { bytes };
    let board = Simulated::with(Box::new(|payload| payload), Box::new(mute));
    let mut reading = Reading::start(&["read", &board.port(), "--json", "--prometheus", "127.0.0.1:0"]);
    let address = address(&mut reading);
    reading.wait_for("identity", 1);
    board.command(Command::Settings(settings));
    reading.wait_for("interval", 5);
    let heard = |text: &str, end: &str| -> Option<f64> {
        let name = format!(r#"deltaline_last_frame_timestamp_seconds{{segment="0",end="{end}"}} "#);
        text.lines().find_map(|line| line.strip_prefix(&name))?.parse().ok()
    };
    // The text may be a second late on a busy machine.
    let is_whole = |body: &str| {
        let [sender, receiver] = ["sender", "receiver"].map(|end| heard(body, end));
        sender.zip(receiver).is_some_and(|(sender, receiver)| sender > receiver)
    };
    let scrapes = (0..50).map(|_| {
        sleep(Duration::from_millis(100));
        scraped(&address, "/metrics").1
    });
    let body = scrapes.into_iter().find(|body| is_whole(body)).expect("that the receiver is silent");
    keeps_to_the_rules(&body);
    parse_openmetrics(&body).unwrap();
    assert!(body.lines().any(|line| line == "deltaline_source_up 1"), "{body}");
    reading.interrupt();
    let read = lines(&reading.end().output);
    let reported: Vec<f64> = of(&read, "interval")
        .iter()
        .filter(|line| !line["mean_ns"].is_null())
        .map(|line| humantime::parse_rfc3339(line["reported_time"].as_str().unwrap()).unwrap())
        .map(|time| time.duration_since(UNIX_EPOCH).unwrap().as_secs_f64())
        .collect();
    assert_eq!(reported.len(), 2);
    assert!((heard(&body, "receiver").unwrap() - reported[1]).abs() < 1e-3, "{body} {reported:?}");
}

fn value(value: &OpenMetricsValue) -> Option<f64> {
    match value {
        OpenMetricsValue::Gauge(number) | OpenMetricsValue::Unknown(number) => Some(number.as_f64()),
        OpenMetricsValue::Counter(counter) => Some(counter.value.as_f64()),
        _ => None,
    }
}

/// Where the figures are served.
fn address(reading: &mut Reading) -> String {
    let message = reading.message();
    message.split("http://").nth(1).unwrap().trim_end().trim_end_matches("/metrics").into()
}

/// What the OpenMetrics specification asks of names and order, and its parsers do not check; and that each is described.
fn keeps_to_the_rules(text: &str) {
    assert!(text.ends_with("\n# EOF\n"), "{text}");
    let (mut families, mut family, mut kind) = (HashSet::new(), "", "");
    for line in text.lines() {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        match words[..] {
            ["#", "EOF"] => {}
            ["#", "HELP", name, help] => {
                assert!(families.insert(name), "{name} is there twice");
                assert!(!help.is_empty(), "{line}");
                family = name;
            }
            ["#", "TYPE", name, of] => {
                assert_eq!(name, family, "{line}");
                let served = if of == "counter" { format!("`{name}_total`") } else { format!("`{name}`") };
                let is_described =
                    METRICS.lines().any(|row| row.contains(&served) && row.contains(&format!("| {of} |")));
                assert!(is_described, "docs/metrics.md does not have the {of} {served}");
                kind = of;
            }
            ["#", "UNIT", name, unit] => {
                assert!(name == family && name.ends_with(&format!("_{unit}")), "{line}");
            }
            [sample, ..] => {
                let name = sample.split('{').next().unwrap();
                let suffixes: &[&str] = match kind {
                    "counter" => &["_total"],
                    "gauge" => &[""],
                    "histogram" => &["_bucket", "_sum", "_count"],
                    _ => panic!("{kind}"),
                };
                let suffix = name.strip_prefix(family).unwrap_or_else(|| panic!("{line} is not of {family}"));
                assert!(suffixes.contains(&suffix) && name.starts_with("deltaline_"), "{line}");
            }
            [] => panic!("an empty line"),
        }
    }
}

/// Every metric, for users.
const METRICS: &str = include_str!("../../../docs/metrics.md");

const CLIENTS: usize = 1000;

/// Whatever clients do, the figures stay within reach and the intervals are those of the board.
#[test]
fn bad_clients_do_no_harm() {
    let most = getrlimit(Resource::Nofile).maximum;
    setrlimit(Resource::Nofile, Rlimit { current: most, maximum: most }).unwrap();
    let board = Simulated::new();
    let mut reading = Reading::start(&["read", &board.port(), "--json", "--prometheus", "127.0.0.1:0"]);
    let address = address(&mut reading);
    reading.wait_for("identity", 1);
    board.command(Command::Settings(LOSSY));
    let connect =
        || -> Vec<TcpStream> { (0..CLIENTS).map(|_| TcpStream::connect(&address).unwrap()).collect() };
    // Asks while clients hold their connections, and when they are gone.
    let mut intervals = 0;
    let mut hold = |clients: Vec<TcpStream>, reading: &mut Reading| {
        intervals += 5;
        reading.wait_for("interval", intervals);
        is_served_beside_others(&address);
        drop(clients);
        is_served_beside_others(&address);
    };
    is_served_beside_others(&address);
    let memory = peak_memory(&reading);

    hold(connect(), &mut reading);

    let mut slow = connect();
    for byte in b"GET" {
        sleep(Duration::from_secs(1));
        // Those that have been shut out cannot write.
        slow.iter_mut().for_each(|client| _ = client.write_all(&[*byte]));
    }
    hold(slow, &mut reading);

    const MALFORMED: [&[u8]; 10] = [
        b"GET /metrics HTTP/1.1\r\nContent-Length: 99999999999\r\n\r\n",
        b"POST /metrics HTTP/1.1\r\nContent-Length: 18446744073709551616\r\n\r\n",
        b"POST /metrics HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
        b"POST /metrics HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
        b"GET /metrics HTTP/9.9\r\n\r\n",
        b"GET /\0\xff\xfe HTTP/1.1\r\n\r\n",
        b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"\r\n\r\n\r\n\r\n",
        b"GET /metrics HTTP/1.1\r\n: nameless\r\n\r\n",
    ];
    let mut malformed = connect();
    for (client, bytes) in malformed.iter_mut().zip(MALFORMED.iter().cycle()) {
        let _ = client.write_all(bytes);
    }
    hold(malformed, &mut reading);

    for endless in [&b"GET /"[..], b"GET /metrics HTTP/1.1\r\nX: ", b"GET /metrics HTTP/1.1\r\n"] {
        let mut client = TcpStream::connect(&address).unwrap();
        client.write_all(endless).unwrap();
        let part = if endless.ends_with(b"\n") { &b"X: y\r\n".repeat(10_000)[..] } else { &[b'a'; 1 << 16] };
        let written = (0..4096).take_while(|_| client.write_all(part).is_ok()).count();
        assert!(written < 4096, "all of it was taken");
        hold(vec![client], &mut reading);
    }

    let grown = peak_memory(&reading) - memory;
    assert!(grown < 16 << 10, "{grown} KiB more were used");
    reading.interrupt();
    let result = reading.end();
    result.told(0, &[]);
    let read = lines(&result.output);
    for (number, interval) in of(&read, "interval").into_iter().enumerate() {
        assert_eq!((&interval["interval"], &interval["sent"]), (&json!(number), &json!(2000)));
        assert_eq!(interval["lost"], interval["truth"]["lost"]);
    }
    let end = of(&read, "end")[0];
    for none in ["void", "missing", "bad", "repeated", "reconnects", "restarts"] {
        assert_eq!(end[none], json!(0), "{none}");
    }
}

/// Without waiting for others: 64 of them at a time, for 5 s each, would take 78 s. A busy machine may lose the first
/// attempts to connect, and the kernel's next come 1, 3 and 7 s later.
fn is_served_beside_others(address: &str) {
    let began = Instant::now();
    let (head, body) = scraped(address, "/metrics");
    assert!(head.starts_with("HTTP/1.1 200") && body.ends_with("# EOF\n"), "{head}");
    assert!(began.elapsed() < Duration::from_secs(30), "{:?}", began.elapsed());
}

/// In KiB.
fn peak_memory(reading: &Reading) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", reading.child.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Head and body of a page.
fn scraped(address: &str, page: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {page} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.into(), body.into())
}
