//! Topologies from files.
//!
//! # Test plan
//!
//! One file of each form, link by link as written down by hand; what is wrong in a file is refused with its line and a remedy;
//! what it does not say is remarked on; files cut anywhere, and with any byte changed, are read or refused. With `DELTALINE_TOPOLOGIES`, a folder of published networks,
//! their numbers of routers and links.

#![allow(clippy::unwrap_used, reason = "tests")]

use deltaline_station::{Remark, Topology, TopologyError, parse, read};
use std::path::{Path, PathBuf};

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("topologies").join(name)
}

/// Links by name, in the order of their routers.
fn links(topology: &Topology) -> Vec<String> {
    let of = |from: usize| {
        let links = topology.links(from).iter();
        links.map(move |&(to, cost)| format!("{} {} {cost}", topology.name(from), topology.name(to)))
    };
    (0..topology.len()).flat_map(of).collect()
}

#[test]
fn every_form() {
    let toy = read(&file("figure-7.graph")).unwrap();
    assert_eq!((toy.len(), toy.link_count(), toy.parallel), (6, 16, 0));
    assert_eq!(links(&toy)[..5], ["A B 1", "A F 1", "B A 1", "B F 1", "C D 2"]);

    let map = read(&file("map.cch")).unwrap();
    assert_eq!(links(&map), ["1 2 1", "1 3 1", "2 1 1", "2 3 1", "3 1 1", "3 2 1", "3 4 1", "4 3 1"]);
    assert_eq!((map.parallel, &map.remarks[..]), (0, &[Remark::NoCosts][..]));

    let zoo = read(&file("zoo.graphml")).unwrap();
    let expected = [
        "Alphaville (0) Betatown 1",
        "Betatown Alphaville (0) 1",
        "Betatown Alphaville (2) 1",
        "Alphaville (2) Betatown 1",
        "Alphaville (2) 3 1",
        "3 Alphaville (2) 1",
    ];
    assert_eq!((links(&zoo), zoo.parallel), (expected.map(String::from).to_vec(), 2));
    assert_eq!(zoo.remarks, [Remark::NoCosts]);

    // 10.0.0.9 is gone, and nothing goes through 10.0.0.2 into the network of three.
    let ospf = read(&file("ospf.json")).unwrap();
    let expected = [
        "10.0.0.1 10.0.0.2 5",
        "10.0.0.1 10.0.0.3 5",
        "10.0.0.2 10.0.0.1 20",
        "10.0.0.3 10.0.0.1 7",
        "10.0.0.3 10.0.0.2 7",
    ];
    assert_eq!((links(&ospf), ospf.parallel), (expected.map(String::from).to_vec(), 1));
    assert_eq!((toy.remarks, ospf.remarks), (vec![], vec![]));
}

/// A text of one of the files, with something of it changed.
fn changed(name: &str, from: &str, to: &str) -> Topology {
    let text = std::fs::read_to_string(file(name)).unwrap();
    assert!(text.contains(from), "{name} has no {from}");
    parse(name, &text.replacen(from, to, 1)).unwrap()
}

#[test]
fn what_a_file_does_not_say_is_remarked_on() {
    // A line that was cut, of a map that is named at both ends.
    let map = changed("map.cch", "<1> <2> <4>", "<1>");
    assert_eq!(map.remarks, [Remark::NoCosts, Remark::Neighbours(1)]);
    // A router of two areas, which says so in both.
    let other = "\"0.0.0.1\": [{ \"advertisingRouter\": \"10.0.0.1\", \"lsaAge\": 3 }],\n \"0.0.0.0\": [";
    assert_eq!(changed("ospf.json", "\"0.0.0.0\": [", other).remarks, [Remark::Areas(2)]);
    // What is withdrawn is not there.
    let ospf = changed("ospf.json", "\"lsaAge\": 14", "\"lsaAge\": 3600");
    assert_eq!(links(&ospf), ["10.0.0.1 10.0.0.3 5", "10.0.0.3 10.0.0.1 7"]);
}

/// Costs of edges by any name that is known, and by a key's default.
#[test]
fn costs_of_graphml() {
    let graph = |key: &str, data: &str| {
        let text = format!(
            "<graphml><key id=\"k\" for=\"edge\" {key}</key><graph edgedefault=\"directed\"><node id=\"A\"/><node id=\"B\"/>\
             <edge source=\"A\" target=\"B\">{data}</edge><edge source=\"B\" target=\"A\"/></graph></graphml>"
        );
        parse("graph", &text)
    };
    let seven = "<data key=\"k\">7</data>";
    let costed = graph("attr.name=\"Metric\"><default> 4 </default>", seven).unwrap();
    assert_eq!((links(&costed), costed.remarks), (vec!["A B 7".into(), "B A 4".into()], vec![]));
    let unknown = graph("attr.name=\"igp_metric\">", seven).unwrap();
    assert_eq!(
        (links(&unknown), unknown.remarks),
        (vec!["A B 1".into(), "B A 1".into()], vec![Remark::NoCosts])
    );
    let error = graph("attr.name=\"weight\">", seven).unwrap_err().to_string();
    assert!(error.contains("has no cost, as others have"), "{error}");
}

#[test]
fn what_is_wrong_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("network");
    let text = |name: &str| std::fs::read_to_string(file(name)).unwrap();
    let (toy, zoo, map, ospf) =
        (text("figure-7.graph"), text("zoo.graphml"), text("map.cch"), text("ospf.json"));
    let weighted = zoo.replace(
        "attr.name=\"label\" attr.type=\"string\" for=\"edge\"",
        "attr.name=\"weight\" attr.type=\"string\" for=\"edge\"",
    );
    let bomb = zoo.replace("<graphml ", "<!DOCTYPE x [<!ENTITY a \"aaaa\">]>\n<graphml ");
    let summary = "{\"routerId\":\"1.1.1.1\",\"areas\":{\"0.0.0.0\":{\"routerLinkStates\":[]}}}";
    let cases: [(String, &str); 22] = [
        (String::new(), "no known form of topology"),
        ("A B 1\n".into(), "no known form of topology"),
        (toy.replace("NODES 6", "NODES six"), ":1: 'NODES six' is no 'NODES' with a number"),
        (toy.replace("NODES 6", "NODES 7"), "6 routers instead of 7"),
        (toy.replace("B 0.0", "A 0.0"), ":4: the router 'A' is there twice"),
        (toy.replace("EDGES 16", "EDGES 17"), "16 links instead of 17"),
        (toy.replace("EDGES 16", "EDGES 15"), ":27: more than 15 links"),
        (toy.replace("FB 5 1 1", "FB 5 9 1"), ":17: '9' is none of the 6 routers"),
        (toy.replace("FB 5 1 1", "FB 5 1 -1"), ":17: '-1' is no cost"),
        (toy.replace("FB 5 1 1", "FB 5 1 0"), ":17: the link from F to B costs nothing"),
        // A line that was cut in its weight, and one without a weight.
        (toy.replace("FB 5 1 1 0 0", "FB 5 1 1"), ":17: 4 columns instead of 6"),
        (toy.replace("FB 5 1 1 0 0", "FB 5 1 0 0"), ":17: 5 columns instead of 6"),
        (
            toy.replace("label src dest weight bw delay\n", "").replace("AB 0 1 1 0 0", "AB 0 1"),
            ":11: 3 columns instead of 4",
        ),
        (zoo.replace("<edge ", "<hyperedge/><edge "), "a link between more than two routers"),
        (
            ospf.replace("\"advertisingRouter\": \"10.0.0.3\"", "\"advertisingRouter\": \"10.0.0.2\""),
            "router 10.0.0.2 is there twice",
        ),
        (zoo.replace("target=\"3\"", "target=\"4\""), ":12: the target '4' of an edge is no node"),
        (zoo.replace("</graphml>", ""), "no XML"),
        (weighted, ":10: 'OC-3 (7 MBit/s)' is no cost"),
        (bomb, "no XML"),
        (map.replace("<4>", "<5>"), ":3: the neighbour 5 of router 3 has no line of its own"),
        (ospf.replace("a Transit", "a Strange"), "link2 of router 10.0.0.1 is of the unknown type"),
        (summary.into(), ":1: no OSPF database"),
    ];
    for (text, expected) in cases {
        std::fs::write(&path, &text).unwrap();
        let error = read(&path).unwrap_err();
        let message = error.to_string();
        assert!(message.starts_with(path.to_str().unwrap()), "{message}");
        assert!(message.contains(expected) && message.contains("; "), "{message} instead of {expected}");
        assert_eq!(error.file(), path.to_str().unwrap());
    }
    assert!(matches!(read(folder.path()), Err(TopologyError::Read { .. })));
    assert!(matches!(read(Path::new("/dev/zero")), Err(TopologyError::Read { .. })));
}

/// Whatever a file holds, reading ends without a panic.
#[test]
fn damaged_files() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("network");
    for name in ["figure-7.graph", "map.cch", "zoo.graphml", "ospf.json"] {
        let bytes = std::fs::read(file(name)).unwrap();
        let mut refused = 0;
        for place in (0..bytes.len()).step_by(3) {
            let mut changed = bytes.clone();
            changed[place] = [b'9', b'<', b'-', b'"'][place % 4];
            for damaged in [&bytes[..place], &changed] {
                std::fs::write(&path, damaged).unwrap();
                refused += i32::from(read(&path).is_err());
            }
        }
        assert!(refused > 20, "{name}: {refused}");
    }
}

#[test]
fn published_networks() {
    let Ok(folder) = std::env::var("DELTALINE_TOPOLOGIES") else {
        println!("skipped: DELTALINE_TOPOLOGIES names no folder of networks");
        return;
    };
    // As networkx counts them, each edge once, parallel ones and loops included.
    for (name, routers, edges) in [
        ("Abilene", 11, 14),
        ("Cogentco", 197, 245),
        ("Colt", 153, 191),
        ("Geant2012", 40, 61),
        ("Kdl", 754, 899),
    ] {
        let topology = read(&Path::new(&folder).join(format!("{name}.graphml"))).unwrap();
        let links = topology.link_count() as u64 + topology.parallel + topology.loops;
        assert_eq!((topology.len(), links), (routers, 2 * edges), "{name}");
    }
}
