//! `deltaline lab` on the command line.
//!
//! # Test plan
//!
//! Tables on standard output and the files beside them; the same as JSON; experiments by number and by figure, each once;
//! a recording among the queues; methods on a page of their own; what is refused.

#![allow(clippy::unwrap_used, reason = "tests")]

use crate::common::{RECEIVER, SENDER, run};
use serde_json::json;
use std::path::Path;

/// Runs the lab at its smallest, writing to `out`.
fn lab(out: &Path, arguments: &[&str]) -> crate::common::Run {
    let mut all = vec!["lab", "--packets", "20000", "--runs", "1", "--out", out.to_str().unwrap()];
    all.extend(arguments);
    run(&all)
}

#[test]
fn tables_and_files() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("deep/lab");
    let tables = lab(&out, &["6", "4b", "4"]);
    tables.told(0, &[]);
    let [first, second] = ["(figure 4)", "(figure 6)"].map(|title| tables.output.find(title).unwrap());
    assert!(first < second && tables.output.matches("(figure 4)").count() == 1, "{}", tables.output);
    let page = std::fs::read_to_string(out.join("results.md")).unwrap();
    for name in ["4a", "4b", "4c", "6a", "6b", "6c"] {
        assert!(page.contains(&format!("](results/{name}.svg)")), "{name}");
        let svg = std::fs::read_to_string(out.join(format!("results/{name}.svg"))).unwrap();
        assert!(svg.starts_with("<svg") && svg.contains(&format!("Figure {name}")));
        let csv = std::fs::read_to_string(out.join(format!("results/{name}.csv"))).unwrap();
        assert!(
            csv.lines().skip(1).all(|line| line.starts_with(&format!("{name},"))) && csv.lines().count() > 10
        );
    }
    let again = lab(&out, &["4", "6"]);
    assert_eq!(again.output, tables.output);
}

#[test]
fn json_with_a_recording() {
    let folder = tempfile::tempdir().unwrap();
    let recorded = lab(folder.path(), &["queues", "--json", "--recording", SENDER, RECEIVER]);
    recorded.told(0, &[]);
    let json = recorded.json();
    assert_eq!(json["scale"]["packets"], 20_000);
    let report = &json["experiments"][0];
    assert_eq!(report["figures"][0]["name"], "7");
    // The shipped capture's truth: 59,461 packets, 2.63 % lost, 13.06 ms, 3.31 ms.
    let text = report["text"].as_str().unwrap();
    assert!(text.contains("| recording | 59461 | 2.63 | 13058 | 3306 |"), "{text}");
}

#[test]
fn two_hosts_of_the_shipped_capture() {
    let folder = tempfile::tempdir().unwrap();
    let hosts = lab(folder.path(), &["12", "--json", "--recording", SENDER, RECEIVER]);
    hosts.told(0, &[]);
    let report = &hosts.json()["experiments"][0];
    for claim in report["claims"].as_array().unwrap() {
        let (stated, measured) = (claim["stated"]["below"].as_f64(), claim["measured"][1].as_f64());
        assert!(measured <= stated, "{claim}");
    }
    assert_eq!(report["figures"].as_array().unwrap().len(), 5);
}

#[test]
fn keys_that_count() {
    let folder = tempfile::tempdir().unwrap();
    let drawn = lab(folder.path(), &["9", "--json"]).json();
    let counted = lab(folder.path(), &["9", "--json", "--keys", "sequence", "--hash", "rabin"]).json();
    assert_eq!(
        (&drawn["scale"]["keys"], &counted["scale"]["keys"]),
        (&json!("random"), &json!("sequence --hash rabin"))
    );
    assert_ne!(drawn["experiments"], counted["experiments"]);
    let page = std::fs::read_to_string(folder.path().join("results.md")).unwrap();
    assert!(page.contains("--keys sequence --hash rabin") && page.contains("differ in a counter alone"));
    lab(folder.path(), &["9", "--hash", "rabin"]).failed(2, &["--hash", "--keys"]);
}

#[test]
fn methods_have_a_page_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let methods = lab(folder.path(), &["methods", "--json"]);
    methods.told(0, &[]);
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name));
    let page = read("methods.md").unwrap();
    assert!(page.starts_with("# Which method") && page.contains("](results/methods1.svg)"), "{page}");
    assert!(read("results.md").is_err());
    let data: serde_json::Value = serde_json::from_str(&read("methods.json").unwrap()).unwrap();
    assert_eq!((&data["packets"], &data["runs"], &data["seed"]), (&json!(800), &json!(10), &json!(1)));
    for method in data["methods"].as_array().unwrap() {
        assert!(
            page.contains(&format!("| {} | {} |", method["name"].as_str().unwrap(), method["octets"])),
            "{method}"
        );
    }
    assert_eq!(methods.json()["experiments"].as_array().unwrap().len(), 1);
    // Nor does another experiment touch it.
    lab(folder.path(), &["9"]).told(0, &[]);
    assert_eq!(read("methods.md").unwrap(), page);
    assert!(!read("results.md").unwrap().contains("methods1"));
}

#[test]
fn refusals() {
    let folder = tempfile::tempdir().unwrap();
    lab(folder.path(), &["3"]).told(2, &["FIGURE", "possible values"]);
    lab(folder.path(), &[]).told(2, &["FIGURE"]);
    run(&["lab", "4", "--packets", "10"]).told(2, &["from 1000 to"]);
    run(&["lab", "4", "--runs", "0"]).told(2, &["from 1 to"]);
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    lab(&file, &["4"]).failed(7, &["file", "--out"]);
    lab(folder.path(), &["7", "--recording", "none.pcap", "none.pcap"]).failed(3, &["none.pcap"]);
    lab(folder.path(), &["7", "--recording", RECEIVER, SENDER]).failed(10, &["0 to 4.29 s"]);
}
