//! `deltaline flows`: what every flow's packets add up to, and which flows come first.
#![allow(clippy::unwrap_used)]

use crate::common::{Folder, RECEIVER, SENDER, packets, pcap, run};
use deltaline_capture::Packet;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

fn top(arguments: &[&str]) -> Vec<Value> {
    let run = run(&[&["flows", "top", "--json"], arguments].concat());
    assert_eq!(run.code, 0, "{run:?}");
    run.json().as_array().unwrap().clone()
}

fn sum(flows: &[Value], key: &str) -> u64 {
    flows.iter().map(|flow| flow[key].as_u64().unwrap()).sum()
}

#[test]
fn flows_add_up_to_the_truth() {
    let truth = run(&["truth", "--json", SENDER, RECEIVER]).json();
    let flows = top(&["--count", "1000000", SENDER, RECEIVER]);
    for key in ["sent", "received", "lost"] {
        assert_eq!(sum(&flows, key), truth["overall"][key].as_u64().unwrap(), "{key}");
    }
    assert_eq!(sum(&flows, "surplus"), truth["receiver_only"].as_u64().unwrap());
    let total: f64 =
        flows.iter().filter_map(|flow| Some(flow["mean_ns"].as_f64()? * flow["received"].as_f64()?)).sum();
    let mean = total / sum(&flows, "received") as f64;
    let expected = truth["overall"]["mean_ns"].as_f64().unwrap();
    assert!((mean / expected - 1.0).abs() < 1e-9, "{mean} {expected}");
    let keys: BTreeSet<String> = flows
        .iter()
        .map(|flow| {
            assert_eq!(flow["reason"].is_null(), flow["mean_ci95_ns"].is_array(), "{flow}");
            ["source", "source_port", "destination", "destination_port", "protocol"]
                .map(|key| flow[key].to_string())
                .join(" ")
        })
        .collect();
    assert_eq!(keys.len(), flows.len());
}

#[test]
fn the_greatest_come_first() {
    let all = top(&["--count", "1000000", SENDER, RECEIVER]);
    for (by, key) in [("packets", "sent"), ("delay", "mean_ns"), ("loss", "lost")] {
        let first = top(&["--by", by, "--count", "7", SENDER, RECEIVER]);
        assert_eq!(first.len(), 7);
        let mut values: Vec<f64> = all.iter().filter_map(|flow| flow[key].as_f64()).collect();
        values.sort_by(|one, other| other.total_cmp(one));
        let found: Vec<f64> = first.iter().map(|flow| flow[key].as_f64().unwrap()).collect();
        assert_eq!(found, values[..7], "{by}");
    }
    let beyond = format!("{} of {} flows are not shown", all.len() - 7, all.len());
    let people = run(&["flows", "top", "--count", "7", SENDER, RECEIVER]);
    people.told(0, &[&beyond]);
    assert!(people.output.contains("| destination |"), "{}", people.output);
}

/// A receiver that repeats a packet, has one of its own, and lacks one.
#[test]
fn duplicates_and_foreign_packets_are_surplus() {
    let folder = Folder::new();
    let (sent, arrived) = (packets(SENDER), packets(RECEIVER));
    let sender = folder.capture("sender.pcap", &sent[..2000]);
    let mut twice = arrived[..2000].to_vec();
    let mut again = twice[1000].clone();
    again.timestamp += 1_000_000;
    twice.insert(1001, again);
    let receiver = folder.capture("receiver.pcap", &twice);
    let (plain, found) = (
        top(&["--count", "9999", &sender, &folder.capture("plain.pcap", &arrived[..2000])]),
        top(&["--count", "9999", &sender, &receiver]),
    );
    assert_eq!(sum(&found, "surplus"), sum(&plain, "surplus") + 1);
    assert_eq!(sum(&found, "lost"), sum(&plain, "lost"));
    let of = |flows: &[Value]| flows.iter().filter(|flow| flow["reason"].is_string()).count();
    assert!(of(&found) <= of(&plain) + 1 && of(&found) >= 1);
}

#[test]
fn refusals_and_little() {
    // Which way is the flow's, if only one end tells it apart?
    run(&["flows", "list", "--joined", "--fields", "source", SENDER, RECEIVER])
        .failed(2, &["--joined", "source/24,destination/24"]);
    let folder = Folder::new();
    run(&["flows", "top", "--nat", SENDER, RECEIVER]).failed(2, &["--nat ignores"]);
    run(&["flows", "top", "--count", "0", SENDER, RECEIVER]).told(2, &[]);
    let empty = folder.write("empty.pcap", "");
    run(&["flows", "top", SENDER, &empty]).told(3, &["empty.pcap"]);
    let (sent, arrived) = (packets(SENDER), packets(RECEIVER));
    let [one, none] = ["one.pcap", "none.pcap"].map(|name| (name, &sent[..usize::from(name == "one.pcap")]));
    let [one, none] = [one, none].map(|(name, packets)| folder.capture(name, packets));
    let same = run(&["flows", "top", "--json", &one, &one]);
    assert_eq!(same.json()[0]["mean_ns"], 0.0);
    let lost = run(&["flows", "top", "--json", &one, &none]);
    lost.told(6, &["no packet was received"]);
    assert_eq!(lost.json()[0]["reason"], "no packet was received");
    // Frames that are not IP belong to no flow.
    let mut arp = arrived[0].clone();
    arp.data = [&[0; 12][..], &[8, 6], &[0; 28]].concat();
    arp.length = 42;
    let arp = folder.capture("arp.pcap", [&arp]);
    let flows = run(&["flows", "top", "--json", &arp, &arp]);
    flows.told(6, &[]);
    assert_eq!(flows.json().as_array().unwrap().len(), 0);
}

#[test]
fn every_key_is_described() {
    let page = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/json.md")).unwrap();
    for flow in top(&["--count", "1", SENDER, RECEIVER]) {
        for key in flow.as_object().unwrap().keys() {
            assert!(page.contains(&format!("`{key}`")), "{key} is not in docs/json.md");
        }
    }
}

/// Tables that are large enough tell what exact matching tells.
#[test]
fn fields_add_flows_up() {
    let hosts = top(&["--count", "1000000", "--fields", "source,destination", SENDER, RECEIVER]);
    let five = top(&["--count", "1000000", SENDER, RECEIVER]);
    assert!(hosts.len() < five.len());
    assert_eq!(sum(&hosts, "sent"), sum(&five, "sent"));
    let expected: BTreeSet<[String; 2]> =
        five.iter().map(|flow| ["source", "destination"].map(|key| flow[key].to_string())).collect();
    assert_eq!(hosts.len(), expected.len());
    assert!(hosts.iter().all(|flow| flow["source_port"].is_null() && flow["protocol"].is_null()));
    let protocols = top(&["--fields", "protocol,source-port", SENDER, RECEIVER]);
    let is_any = |flow: &Value| ["0.0.0.0/0", "::/0"].iter().any(|any| flow["source"] == *any);
    assert!(protocols.iter().all(|flow| is_any(flow) && flow["destination_port"].is_null()));
    assert!(protocols.iter().any(|flow| flow["protocol"] == 6 && flow["source_port"].is_u64()));
    let nothing = top(&["--fields", "source/0,destination/0/0", SENDER, RECEIVER]);
    assert!(nothing.len() <= 2 && sum(&nothing, "sent") == sum(&five, "sent"), "{nothing:?}");
    let joined = top(&["--count", "1000000", "--joined", SENDER, RECEIVER]);
    assert!(joined.len() <= five.len() && sum(&joined, "sent") == sum(&five, "sent"));
    run(&["flows", "top", "--fields", "source/33", SENDER, RECEIVER]).told(2, &["0 to 32"]);
    run(&["flows", "top", "--fields", "sauce", SENDER, RECEIVER]).told(2, &["source-port"]);
}

#[test]
fn flows_are_listed_and_shown() {
    let all = top(&["--count", "1000000", SENDER, RECEIVER]);
    let list = run(&["flows", "list", "--json", SENDER, RECEIVER]);
    assert_eq!(list.json().as_array().unwrap().len(), all.len());
    let source = all[0]["source"].as_str().unwrap();
    let shown = run(&["flows", "show", "--source", source, "--json", SENDER, RECEIVER]).json();
    let expected = all.iter().filter(|flow| flow["source"] == source).count();
    assert_eq!(shown.as_array().unwrap().len(), expected);
    // A network is shown by an address in it.
    let networks =
        ["flows", "show", "--fields", "source/8/8", "--json", "--source", source, SENDER, RECEIVER];
    let shown = run(&networks).json();
    let network = shown[0]["source"].as_str().unwrap();
    assert!(shown.as_array().unwrap().len() == 1 && network.ends_with("/8"), "{shown}");
    run(&["flows", "show", "--source", "255.255.255.255", SENDER, RECEIVER]).told(0, &["none of"]);
    // Of flows that are not told apart by their source, none is that host's.
    for (asked, value, fields) in [
        ("--source", source, "destination"),
        ("--destination-port", "53", "source"),
        ("--protocol", "6", "source,destination"),
    ] {
        run(&["flows", "show", asked, value, "--fields", fields, SENDER, RECEIVER])
            .failed(2, &[asked, "does not tell flows apart by it"]);
    }
    // Joined, a host's flows are its own, whichever end it is.
    let joined = top(&["--count", "1000000", "--joined", SENDER, RECEIVER]);
    for end in ["source", "destination"] {
        let host = joined[0][end].as_str().unwrap();
        let expected = joined.iter().filter(|flow| flow["source"] == host || flow["destination"] == host);
        for asked in ["--source", "--destination"] {
            let shown = run(&["flows", "show", "--joined", asked, host, "--json", SENDER, RECEIVER]).json();
            assert_eq!(shown.as_array().unwrap().len(), expected.clone().count(), "{asked} {host}");
        }
    }
}

/// UDP from two ports behind an IPv6 header for destination options, in raw IP.
#[test]
fn flows_behind_extension_headers_are_one_and_say_so() {
    let folder = Folder::new();
    let packet = |number: u64| {
        let mut packet = vec![0x60, 0, 0, 0, 0, 20, 60, 64];
        packet.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
        packet.extend([0x20, 1, 0xd, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2]);
        packet.extend([17, 0, 1, 4, 0, 0, 0, 0]);
        packet.extend([0x13, 0x88 + (number % 2) as u8, 0, 53, 0, 12, 0, 0]);
        packet.extend((number as u32).to_be_bytes());
        (1_790_000_000_000_000_000 + number * 1_000_000, 60, packet)
    };
    let path = folder.write("raw.pcap", pcap(101, (0..100).map(packet)));
    let list = run(&["flows", "list", "--json", &path, &path]);
    list.told(0, &["1 flows are of IPv6 with extension headers", "--filter"]);
    let flows = list.json();
    let [flow] = &flows.as_array().unwrap()[..] else { panic!("{}", list.output) };
    assert_eq!((&flow["sent"], &flow["protocol"]), (&Value::from(100), &Value::from(60)));
    assert!(flow["reason"].as_str().unwrap().contains("extension header 60"), "{flow}");
    let one = run(&["flows", "list", "--json", "--filter", "udp src port 5001", &path, &path]).json();
    assert_eq!(one[0]["sent"], 50);
}

/// The exit code is of all flows together: why is said.
#[test]
fn a_guess_of_most_packets_is_said() {
    let folder = Folder::new();
    let copies = |delay: u64, count: u64| {
        let packet = packets(SENDER).remove(0);
        (0..count).map(move |number| Packet {
            timestamp: 1_790_000_000_000_000_000 + number * 1_000_000 + delay,
            ..packet.clone()
        })
    };
    let [sent, arrived] =
        [(0, 100), (300_000, 110)].map(|(delay, count)| copies(delay, count).collect::<Vec<_>>());
    let (sent, arrived) = (folder.capture("a.pcap", &sent), folder.capture("b.pcap", &arrived));
    run(&["flows", "list", &sent, &arrived]).told(6, &["of all flows together", "a guess by their times"]);
}
