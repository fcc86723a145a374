//! What programs get: every key is described, errors are objects, and what was there stays.
#![allow(clippy::unwrap_used)]

use crate::common::reading::lines;
use crate::common::{Folder, RECEIVER, SENDER, packets, run};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;

/// All keys of an object and of those in it.
fn keys(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => members.iter().for_each(|(key, value)| {
            found.insert(key.clone());
            keys(value, found);
        }),
        Value::Array(values) => values.iter().for_each(|value| keys(value, found)),
        _ => {}
    }
}

#[test]
fn every_key_is_described() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json.md")).unwrap();
    let folder = Folder::new();
    let frames = folder.path("frames.pcapng");
    let missing = folder.path("missing.pcap");
    let measured = run(&[
        "measure",
        "--json",
        "--truth",
        "--digest",
        "--interval",
        "500ms",
        "--frames",
        &frames,
        SENDER,
        RECEIVER,
    ]);
    let toy = concat!(env!("CARGO_MANIFEST_DIR"), "/../station/topologies/figure-7.graph");
    let commands: [(&str, &[&str]); 8] = [
        ("measure", &["measure", "--json", "--synopsis", "identity", SENDER, RECEIVER]),
        ("decode", &["decode", "--json", "--offset", "0,1", &frames]),
        ("truth", &["truth", "--json", "--interval", "1s", SENDER, RECEIVER]),
        ("size", &["size", "--json", "--rate", "2M", "--loss", "1%", "--quantile", "99%:1%", "--explain"]),
        ("advise", &["advise", "--json", "--need", "loss"]),
        ("plan", &["plan", "--json", "--upgrade", "1", "--m-sets", toy]),
        ("error", &["decode", "--json", &missing]),
        ("error", &["decode", "--json"]),
    ];
    let mut all = BTreeSet::new();
    keys(&measured.json(), &mut all);
    for (name, arguments) in commands {
        let result = run(arguments).json();
        assert_eq!(
            result["schema"],
            json!({ "name": name, "version": if name == "decode" { 2 } else { 1 } })
        );
        keys(&result, &mut all);
    }
    let read = lines(&run(&["read", "--json", &frames]).output);
    assert_eq!(
        read[0],
        json!({ "event": "start", "schema": { "name": "read", "version": 1 }, "source": frames })
    );
    read.iter().for_each(|line| keys(line, &mut all));
    assert!(all.len() > 80, "{all:?}");
    for key in all {
        assert!(page.contains(&format!("`{key}`")), "{key} is not in docs/json.md");
    }
}

#[test]
fn failures_are_objects() {
    let folder = Folder::new();
    let bytes = fs::read(folder.capture("whole.pcap", &packets(SENDER)[..100])).unwrap();
    let truncated = folder.write("truncated.pcap", &bytes[..bytes.len() - 10]);
    let missing = folder.path("missing.pcap");
    let text = folder.write("text", "no capture");
    let cases: [(i32, &[&str], Value, bool); 8] = [
        (3, &["measure", "--json", &missing, RECEIVER], json!(missing), false),
        (3, &["measure", "--json", &truncated, RECEIVER], json!(truncated), true),
        (3, &["truth", "--json", SENDER, &truncated], json!(truncated), true),
        (3, &["decode", "--json", &text], json!(text), false),
        (6, &["decode", "--json", SENDER], Value::Null, false),
        (2, &["measure", "--json", "--interval", "1ns", SENDER, RECEIVER], Value::Null, false),
        (2, &["measure", "--json", "--rows", "x", SENDER, RECEIVER], Value::Null, false),
        (
            7,
            &["measure", "--json", "--plot", "/nowhere/x.svg", SENDER, RECEIVER],
            json!("/nowhere/x.svg"),
            false,
        ),
    ];
    for (code, arguments, file, has_place) in cases {
        let result = run(arguments);
        assert_eq!(result.code, code, "{result:?}");
        let error = result.json();
        assert_eq!((&error["exit_code"], &error["file"]), (&json!(code), &file), "{error}");
        let [message, remedy] = ["error", "remedy"].map(|key| error[key].as_str().unwrap());
        assert!(!message.is_empty() && !remedy.is_empty());
        assert_eq!(error["place"].is_object(), has_place, "{error}");
        if has_place {
            // A header of 24 bytes, and behind it 99 whole packets.
            assert_eq!(error["place"]["packet"], json!(100));
            assert!(error["place"]["byte"].as_u64().unwrap() > 24 + 99 * 16);
        }
        if code != 2 || remedy != "see `deltaline --help`" {
            assert!(result.messages.contains(&format!("{message}; {remedy}")), "{result:?}");
        }
    }
    let read = run(&["read", "--json", &missing]);
    assert_eq!(read.code, 11);
    let read = lines(&read.output);
    assert_eq!((&read[0]["event"], &read[0]["exit_code"]), (&json!("error"), &json!(11)));
    // People get text alone.
    assert_eq!(run(&["measure", &missing, RECEIVER]).output, "");
}

/// The capture's own first and last packet, as its reader has them.
#[test]
fn intervals_have_times_of_day() {
    let result = run(&["measure", "--json", "--interval", "500ms", SENDER, RECEIVER]).json();
    assert_eq!(result["sender"]["file"], json!(SENDER));
    let sent = packets(SENDER);
    let intervals = result["intervals"].as_array().unwrap();
    let time = |nanoseconds| json!(deltaline_collect::text::utc(nanoseconds));
    assert_eq!(intervals[0]["start_time"], time(sent[0].timestamp));
    assert_eq!(intervals.last().unwrap()["end_time"], time(sent.last().unwrap().timestamp));
    let first = &intervals[1];
    let since = first["start_ns"].as_u64().unwrap();
    assert_eq!(first["start_time"], time(sent[0].timestamp + since));
}

#[test]
fn intervals_are_comma_separated() {
    let arguments = ["--truth", "--interval", "500ms", SENDER, RECEIVER];
    let csv = run(&[&["measure", "--csv"][..], &arguments].concat());
    let json = run(&[&["measure", "--json"][..], &arguments].concat()).json();
    assert_eq!(csv.code, 0);
    let rows: Vec<Vec<&str>> = csv.output.lines().map(|line| line.split(',').collect()).collect();
    let intervals = json["intervals"].as_array().unwrap();
    assert_eq!(rows.len(), 1 + intervals.len());
    for (row, interval) in rows[1..].iter().zip(intervals) {
        for key in interval.as_object().unwrap().keys().filter(|key| *key != "truth") {
            let has = |name: String| rows[0].contains(&name.as_str());
            assert!(has(key.clone()) || has(format!("{key}_low")) && has(format!("{key}_high")), "{key}");
        }
        for (key, cell) in rows[0].iter().zip(row) {
            let value = match (key.strip_prefix("true_"), key.strip_suffix("_low"), key.strip_suffix("_high"))
            {
                (Some(key), ..) => &interval["truth"][key],
                (_, Some(key), _) => &interval[key][0],
                (.., Some(key)) => &interval[key][1],
                _ => &interval[*key],
            };
            match value {
                Value::Null => assert_eq!(*cell, "", "{key}"),
                Value::Bool(is_so) => assert_eq!(*cell, is_so.to_string(), "{key}"),
                Value::Number(number) => {
                    // The parser of JSON is not exact to the last bit.
                    let (cell, number) = (cell.parse::<f64>().unwrap(), number.as_f64().unwrap());
                    assert!((cell - number).abs() <= 1e-14 * number.abs(), "{key}: {cell}, not {number}");
                }
                Value::String(_) if *key == "reason" => {}
                Value::Array(ends) => {
                    let ends: Vec<f64> = ends.iter().map(|end| end.as_f64().unwrap()).collect();
                    let found: Vec<f64> = cell.split(' ').map(|end| end.parse().unwrap()).collect();
                    assert!(
                        ends.iter().zip(&found).all(|(a, b)| (a - b).abs() <= 1e-14 * a.abs()),
                        "{key}: {cell}"
                    );
                }
                text => assert_eq!(text, cell),
            }
        }
    }
    run(&["measure", "--csv", "--json", SENDER, RECEIVER]).told(2, &["cannot be used with"]);
}
