//! Single flows from measurement points with the synopsis lds, on the shipped captures.
//!
//! # Test plan
//!
//! * Intervals hold, of packets, losses and mean delay, against exact matching of each quarter of a second, in tables so small that most cells are shared;
//!   as many miss as may.
//! * Where no cell is shared and nothing is lost, numbers are exact: together they make the interval's own.
//! * Deviations hold, against exact matching of all packets, whether jitter chose them or packets did, and come with the greatest first; where flows share cells
//!   there are none, and the reason.
//! * The worst come first; how many were asked for and how many have no mean is said; text and JSON agree.
//! * Files that name no flows, or flows of which there can be no packet, designs without them, too many flows for so few that are shown: refused with the remedy.
#![allow(clippy::unwrap_used)]

use crate::common::{Folder, RECEIVER, Run, SENDER, run};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;

const DESIGN: &str = include_str!("../../../hdl/configurations/10g.toml");

/// A design of points with cells of flows.
pub(crate) fn design(folder: &Folder, rows: usize, seed: u64) -> String {
    design_of("lds", folder, rows, seed)
}

fn design_of(synopsis: &str, folder: &Folder, rows: usize, seed: u64) -> String {
    let path = folder.path(&format!("{synopsis}-{rows}-{seed}.toml"));
    let text = DESIGN
        .replace("synopsis = \"lda\"", &format!("synopsis = \"{synopsis}\""))
        .replace("rows = 1024", &format!("rows = {rows}"))
        .replace("prefixes = [1, 6]", "prefixes = [0]")
        .replace("\nseed = 1\n", &format!("\nseed = {seed}\n"));
    fs::write(&path, text).unwrap();
    path
}

/// The control frames of the shipped captures at points of a design.
pub(crate) fn frames(design: &str, interval: &str) -> String {
    let path = format!("{design}.pcapng");
    let all = [
        "measure",
        "--design",
        design,
        "--interval",
        interval,
        "--frames",
        &path,
        "--json",
        SENDER,
        RECEIVER,
    ];
    run(&all);
    path
}

/// The flows of the captures, as a file.
pub(crate) fn named(folder: &Folder) -> String {
    let path = folder.path("flows.json");
    let flows = run(&["flows", "top", "--count", "500", "--json", SENDER, RECEIVER]);
    fs::write(&path, flows.output).unwrap();
    path
}

fn lines(run: &Run) -> Vec<Value> {
    run.output.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn key(flow: &Value) -> String {
    ["source", "destination", "source_port", "destination_port", "protocol"]
        .map(|key| flow[key].to_string())
        .join(" ")
}

fn is_inside(bounds: &Value, truth: f64) -> bool {
    let [least, most] = [0, 1].map(|end| bounds[end].as_f64().unwrap());
    least - 1e-3 <= truth && truth <= most + 1e-3
}

#[test]
fn without_loss_flows_together_are_all_packets() {
    let folder = Folder::new();
    let (design, flows) = (design(&folder, 1024, 3), named(&folder));
    let frames = frames(&design, "250ms");
    let read = run(&["read", &frames, "--design", &design, "--flows", &flows, "--count", "15", "--json"]);
    let all = lines(&read);
    let mut exact = 0;
    for pair in all.windows(2).filter(|pair| pair[1]["event"] == "flows") {
        let [interval, flows] = pair else { continue };
        assert_eq!((&interval["segment"], &interval["interval"]), (&flows["segment"], &flows["interval"]));
        assert_eq!((&flows["asked"], &flows["reason"]), (&json!(15), &Value::Null));
        if interval["lost"] != 0 {
            continue;
        }
        let shown = flows["flows"].as_array().unwrap();
        let number = |flow: &Value, key: &str| flow[key][1].as_f64().unwrap();
        let sent: f64 = shown.iter().map(|flow| number(flow, "sent_ci95")).sum();
        let delays: f64 =
            shown.iter().map(|flow| number(flow, "sent_ci95") * flow["mean_ns"].as_f64().unwrap()).sum();
        // A column that two flows share is told by both.
        if Some(sent) == interval["sent"].as_f64() {
            exact += 1;
            assert!((delays / sent - interval["mean_ns"].as_f64().unwrap()).abs() < 1e-3, "{flows}");
        }
        let lower: Vec<f64> = shown.iter().map(|flow| flow["mean_ci95_ns"][0].as_f64().unwrap()).collect();
        assert!(lower.is_sorted_by(|one, other| one >= other), "{lower:?}");
    }
    assert!(exact >= 8, "{exact}");
}

/// The flows of each quarter of a second, at points of a design.
fn quarters(folder: &Folder, design: &str) -> BTreeMap<(u64, String), Value> {
    let (frames, flows) = (frames(design, "250ms"), named(folder));
    let read = [
        "read", &frames, "--design", design, "--flows", &flows, "--by", "packets", "--count", "15", "--json",
    ];
    let mut found = BTreeMap::new();
    for line in lines(&run(&read)).into_iter().filter(|line| line["event"] == "flows") {
        for flow in line["flows"].as_array().unwrap() {
            found.insert((line["interval"].as_u64().unwrap(), key(flow)), flow.clone());
        }
    }
    found
}

/// A list of joined flows names each by its lower end, whichever way its packets went.
#[test]
fn both_directions_of_joined_flows_are_asked() {
    let folder = Folder::new();
    let design = design(&folder, 1024, 3);
    let frames = frames(&design, "1s");
    let mut flow = run(&["flows", "top", "--count", "1", "--json", SENDER, RECEIVER]).json()[0].clone();
    let expected = key(&flow);
    for (one, other) in [("source", "destination"), ("source_port", "destination_port")] {
        (flow[one], flow[other]) = (flow[other].clone(), flow[one].clone());
    }
    for joined in [false, true] {
        flow["joined"] = json!(joined);
        let path = folder.path("joined.json");
        fs::write(&path, json!([flow]).to_string()).unwrap();
        let read =
            run(&["read", &frames, "--design", &design, "--flows", &path, "--by", "packets", "--json"]);
        let all: Vec<Value> = lines(&read).into_iter().filter(|line| line["event"] == "flows").collect();
        assert!(all.iter().all(|line| line["asked"] == 1 + u64::from(joined)), "{all:?}");
        let shown = all.iter().flat_map(|line| line["flows"].as_array().unwrap());
        assert_eq!(shown.filter(|flow| key(flow) == expected).count() > 0, joined);
    }
    let list = run(&["flows", "list", "--joined", "--json", SENDER, RECEIVER]);
    assert!(list.json().as_array().unwrap().iter().all(|flow| flow["joined"] == true));
}

#[test]
fn intervals_of_flows_hold() {
    let folder = Folder::new();
    // What happened to each flow, by points whose cells nobody shares.
    let exact = quarters(&folder, &design(&folder, 1024, 1));
    for (synopsis, rows) in [("lds", 16), ("colate", 128)] {
        let (mut missed, mut all, mut wide, mut means) = ([0.0; 3], 0.0, 0.0, 0.0);
        for seed in 1..=12 {
            for (of, flow) in quarters(&folder, &design_of(synopsis, &folder, rows, seed)) {
                let Some(truth) = exact.get(&of) else { continue };
                all += 1.0;
                for (missed, key) in missed.iter_mut().zip(["sent_ci95", "net_ci95"]) {
                    *missed += f64::from(u8::from(!is_inside(&flow[key], truth[key][1].as_f64().unwrap())));
                }
                wide += f64::from(u8::from(flow["sent_ci95"][0] != flow["sent_ci95"][1]));
                // Of flows that lost packets the truth is an interval itself.
                let is_exact = truth["mean_ci95_ns"][0] == truth["mean_ci95_ns"][1];
                if let (true, Some(mean), false) =
                    (is_exact, truth["mean_ns"].as_f64(), flow["mean_ns"].is_null())
                {
                    means += 1.0;
                    missed[2] += f64::from(u8::from(!is_inside(&flow["mean_ci95_ns"], mean)));
                }
            }
        }
        println!("{synopsis}: {missed:?} of {all}, {wide} wide, {means} means");
        // Five standard deviations of four independent flows in each table.
        let most = 0.05 + 5.0 * (0.05f64 * 0.95 / (12.0 * 12.0 * 4.0)).sqrt();
        assert!(missed.iter().all(|missed| missed / all < most), "{missed:?} of {all}");
        assert!(wide > 0.5 * all && means > 30.0, "the test is blind: {wide} of {all}, {means} means");
    }
}

#[test]
fn deviations_of_flows_hold() {
    let folder = Folder::new();
    let flows = named(&folder);
    let truth: BTreeMap<String, f64> =
        serde_json::from_str::<Vec<Value>>(&fs::read_to_string(&flows).unwrap())
            .unwrap()
            .iter()
            .filter_map(|flow| Some((key(flow), flow["std_ns"].as_f64()?)))
            .collect();
    let (mut missed, mut given) = (0.0, 0.0);
    for seed in 1..=30 {
        let design = design(&folder, 1024, seed);
        let frames = frames(&design, "1h");
        for by in ["jitter", "packets"] {
            let read = [
                "read", &frames, "--design", &design, "--flows", &flows, "--count", "15", "--by", by,
                "--json",
            ];
            let shown = lines(&run(&read)).into_iter().find(|line| line["event"] == "flows").unwrap();
            let shown = shown["flows"].as_array().unwrap();
            let deviations = shown.iter().filter(|flow| !flow["std_ns"].is_null());
            for flow in deviations.clone() {
                given += 1.0;
                missed += f64::from(u8::from(!is_inside(&flow["std_ci95_ns"], truth[&key(flow)])));
            }
            if by == "jitter" {
                let least: Vec<f64> =
                    deviations.map(|flow| flow["std_ci95_ns"][0].as_f64().unwrap()).collect();
                assert!(
                    least.len() == shown.len() && least.is_sorted_by(|one, other| one >= other),
                    "{least:?}"
                );
            }
        }
    }
    println!("{missed} of {given} missed");
    // Flows of a table fall into cells by the same places, but by their own packets: five standard deviations.
    assert!(given > 200.0 && missed < 0.05 * given + 5.0 * (0.05f64 * given).sqrt(), "{missed} of {given}");
    // Fifteen flows in sixteen columns.
    let design = design(&folder, 16, 1);
    let frames = frames(&design, "1h");
    let read = ["read", &frames, "--design", &design, "--flows", &flows];
    let text = run(&[&read[..], &["--by", "jitter"]].concat());
    assert!(text.output.contains("0 of 15 flows"), "{}", text.output);
    assert!(text.output.contains("of these without a deviation"), "{}", text.output);
    let shown = lines(&run(&[&read[..], &["--by", "packets", "--json"]].concat()));
    let shown = shown.iter().find(|line| line["event"] == "flows").unwrap();
    for flow in shown["flows"].as_array().unwrap() {
        assert_eq!(flow["std_ci95_ns"], Value::Null);
        assert!(flow["std_reason"].as_str().unwrap().contains("other flows' packets"), "{flow}");
    }
}

#[test]
fn the_worst_are_shown() {
    let folder = Folder::new();
    let (design, flows) = (design(&folder, 256, 3), named(&folder));
    let frames = frames(&design, "250ms");
    let read = ["read", &frames, "--design", &design, "--flows", &flows, "--count", "3"];
    let shown = run(&[&read[..], &["--by", "loss", "--json"]].concat());
    for line in lines(&shown).iter().filter(|line| line["event"] == "flows") {
        let flows = line["flows"].as_array().unwrap();
        assert_eq!(flows.len(), 3);
        let lost: Vec<i64> = flows.iter().map(|flow| flow["net_ci95"][0].as_i64().unwrap()).collect();
        assert!(lost.is_sorted_by(|one, other| one >= other), "{lost:?}");
    }
    let text = run(&read);
    let all = lines(&run(&[&read[..], &["--json"]].concat()));
    let (mut intervals, mut rows) = (0, 0);
    for line in all.iter().filter(|line| line["event"] == "flows") {
        let says = format!(
            "segment 0, interval {}: {} of 15 flows, {} of which may have packets here, {} of these without a mean",
            line["interval"],
            line["flows"].as_array().unwrap().len(),
            line["seen"],
            line["refused"]
        );
        assert!(text.output.contains(&says), "{says}\n{}", text.output);
        intervals += 1;
        rows += line["flows"].as_array().unwrap().len();
    }
    assert_eq!((intervals, text.output.matches("| 10.1.0.1 |").count()), (12, rows));
}

#[test]
fn what_names_no_flow_is_refused() {
    let folder = Folder::new();
    let (design, flows) = (design(&folder, 16, 3), named(&folder));
    let frames = frames(&design, "1s");
    let file = |name: &str, text: &str| {
        let path = folder.path(name);
        fs::write(&path, text).unwrap();
        path
    };
    let read = |flows: &str, more: &[&str]| run(&[&["read", &frames, "--flows", flows], more].concat());
    let at = |flows: &str| read(flows, &["--design", &design]);
    read(&flows, &[]).failed(2, &["--flows", "--design FILE"]);
    assert_eq!(run(&["read", &frames, "--by", "loss"]).code, 2);
    read(&flows, &["--design", "10g"]).failed(4, &["--design 10g", "synopsis \"lds\""]);
    at(&folder.path("missing.json")).failed(3, &["missing.json", "cannot be read"]);
    at(&file("text.json", "10.0.0.1")).failed(3, &["text.json", "is no list of flows", "flows top --json"]);
    at(&file("empty.json", "[]")).failed(3, &["empty.json", "names no flow"]);
    let flow = |source: &str, port: &str| {
        format!(
            "{{\"source\":\"{source}\",\"destination\":\"10.2.0.1\",\"source_port\":{port},\"destination_port\":{port},\"protocol\":17}}"
        )
    };
    at(&file("mixed.json", &format!("[{}]", flow("2001:db8::1", "1"))))
        .failed(3, &["flow 0", "different versions"]);
    at(&file("net.json", &format!("[{}]", flow("10.1.0.0/16", "1"))))
        .failed(3, &["net.json", "without --fields"]);
    at(&file("port.json", &format!("[{}]", flow("10.1.0.1", "70000")))).failed(3, &["port.json"]);
    let lame = flow("10.1.0.1", "1").replace("\"destination_port\":1,", "");
    at(&file("lame.json", &format!("[{lame}]"))).failed(3, &["flow 0", "one of its two ports"]);
    let ping = flow("10.1.0.1", "8").replace(":17}", ":1}");
    at(&file("ping.json", &format!("[{ping}]"))).failed(3, &["flow 0", "protocol 1 have no ports"]);
    let text = read(&folder.path("text.json"), &["--design", &design, "--json"]);
    assert_eq!(lines(&text)[0]["file"], json!(folder.path("text.json")));
    let many: Vec<String> = (0..2001).map(|port| flow("10.1.0.1", &port.to_string())).collect();
    let many = file("many.json", &format!("[{}]", many.join(",")));
    at(&many).failed(10, &["2001 flows", "at most 2000"]);
    let ports = at(&file("ports.json", &format!("[{}]", flow("10.1.0.1", "null"))));
    ports.told(run(&["read", &frames]).code, &["ports.json: 1 flows", "have none"]);
    // Hosts of IPv4, as programs of IPv6 name them: their packets have other addresses.
    let mapped = flow("::ffff:10.1.0.1", "1").replace("10.2.0.1", "::ffff:10.2.0.1");
    let mapped = at(&file("mapped.json", &format!("[{mapped}]")));
    mapped.told(run(&["read", &frames]).code, &["mapped.json: 1 flows", "::ffff:192.0.2.1"]);
    // A byte order mark in front says nothing.
    let marked = fs::read_to_string(&flows).unwrap();
    let marked = at(&file("marked.json", &format!("\u{feff}{marked}")));
    assert_eq!(marked.output, at(&flows).output);
    // One who is not there has no packets.
    let absent = file("absent.json", &format!("[{}]", flow("192.0.2.1", "9")));
    let wide = self::design(&folder, 1024, 5);
    let frames = self::frames(&wide, "1s");
    let shown = run(&["read", &frames, "--design", &wide, "--flows", &absent, "--json"]);
    let line = lines(&shown).into_iter().find(|line| line["event"] == "flows").unwrap();
    assert_eq!((&line["seen"], &line["flows"]), (&json!(0), &json!([])));
}
