//! `deltaline plan`.
//!
//! # Test plan
//!
//! A line of routers, counted by hand, as JSON and as a table; the toy network of the LDA paper's figures 7 and 8; the choices and
//! their order; what the numbers do not say is warned of; what is refused. With `DELTALINE_TOPOLOGIES`, the published numbers of the
//! Sprint network.

#![allow(clippy::unwrap_used, reason = "tests")]

use crate::common::{Folder, command, finish, run};
use serde_json::{Value, json};
use std::fs::File;

const TOY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../station/topologies/figure-7.graph");

/// A line of five routers as a Rocketfuel map.
const LINE: &str = "1 @a (1) -> <2> =a r0\n2 @a (2) -> <1> <3> =b r0\n3 @a (2) -> <2> <4> =c r0\n\
                    4 @a (2) -> <3> <5> =d r0\n5 @a (1) -> <4> =e r0\n";

#[test]
fn a_line_by_hand() {
    let folder = Folder::new();
    let line = folder.write("line.cch", LINE);
    let result = run(&["plan", &line, "--upgrade", "1", "--json"]);
    result.told(0, &[]);
    let json = result.json();
    // 2 (4 x 1 + 3 x 2 + 2 x 3 + 1 x 4) hops of 20 paths; in the middle 8 of them are cut, of 2 (2 + 3 + 3 + 4) hops.
    for (key, value) in [
        ("method", json!("greedy")),
        ("probe_hops_before", json!(40)),
        ("segments_before", json!(20)),
        ("granularity_mean_before", json!(2.0)),
        ("probe_hops", json!(16)),
        ("segments", json!(12)),
        ("granularity_min", json!(1)),
        ("granularity_max", json!(2)),
        ("probe_hops_optimal", json!(16)),
        ("routers", json!(["3"])),
        ("network", json!({ "routers": 5, "links": 8 })),
        ("m_sets", Value::Null),
    ] {
        assert_eq!(json[key], value, "{key}");
    }
    let warnings = json["warnings"].as_array().unwrap();
    assert!(
        warnings.len() == 1 && warnings[0].as_str().unwrap().starts_with("the file has no costs"),
        "{json}"
    );
    assert!((json["granularity_mean"].as_f64().unwrap() - 16.0 / 12.0).abs() < 1e-12);
    let table = run(&["plan", &line, "--upgrade", "1"]);
    table.told(0, &[]);
    for part in [
        "|        1 |      3 |         16 |       12 | 1.33 |",
        "5 routers, 8 links",
        "the best has 16 probe hops",
    ] {
        assert!(table.output.contains(part), "{part:?} is not in\n{}", table.output);
    }
    // Behind the third upgrade nothing is left.
    let all = run(&["plan", &line, "--upgrade", "5", "--json"]);
    let json = all.json();
    assert_eq!((&json["probe_hops"], json["routers"].as_array().unwrap().len()), (&json!(8), 3));
    assert!(all.messages.contains("2 upgrades would save nothing"), "{}", all.messages);
}

#[test]
fn the_papers_sets() {
    let result = run(&["plan", TOY, "--upgrade", "2", "--m-sets", "--json"]);
    result.told(0, &[]);
    let json = result.json();
    assert_eq!(json["routers"], json!(["F", "C"]));
    let sets = json["m_sets"].as_array().unwrap();
    let direct = |router: &str| json!({ "router": router, "path": 1, "through": [] });
    let published = [
        ("A", vec![direct("B"), direct("F")]),
        ("C", vec![direct("D"), direct("E"), direct("F")]),
        (
            "F",
            vec![
                direct("A"),
                direct("B"),
                json!({ "router": "D", "path": 2, "through": ["E"] }),
                direct("E"),
            ],
        ),
    ];
    for (router, measures) in published {
        let set = sets.iter().find(|set| set["router"] == router).unwrap();
        assert_eq!((&set["measures"], &set["is_upgraded"]), (&json!(measures), &json!(router != "A")));
    }
    let table = run(&["plan", TOY, "--upgrade", "2", "--m-sets"]);
    assert!(table.output.contains("m-server D: C, E, F2\n"), "{}", table.output);
}

/// Two ways between routers whose names end in digits, beside routers that are called so.
#[test]
fn no_path_is_called_as_another_router() {
    let folder = Folder::new();
    let map = "1 @a (2) -> <2> <3> =a r0\n2 @a (2) -> <1> <4> =b r0\n3 @a (2) -> <1> <4> =c r0\n\
               4 @a (3) -> <2> <3> <12> =d r0\n12 @a (1) -> <4> =e r0\n";
    let map = folder.write("map.cch", map);
    let table = run(&["plan", &map, "--upgrade", "0", "--m-sets"]);
    assert!(table.output.contains("m-server 4: 1, 1 (path 2), 2, 3, 12\n"), "{}", table.output);
    let json = run(&["plan", &map, "--upgrade", "0", "--m-sets", "--json"]).json();
    let set = json["m_sets"].as_array().unwrap().iter().find(|set| set["router"] == "4").unwrap();
    let ways = set["measures"].as_array().unwrap().iter().filter(|way| way["router"] == "1");
    let ways: Vec<_> = ways.map(|way| (way["path"].clone(), way["through"].clone())).collect();
    assert_eq!(ways, [(json!(1), json!(["2"])), (json!(2), json!(["3"]))]);
}

/// As a router's own program gives it.
#[test]
fn a_network_comes_through_a_pipe() {
    let of = |path: &str, input: &str| {
        finish(command(&["plan", path, "--upgrade", "2", "--json"]).stdin(File::open(input).unwrap()))
    };
    let by_name = of(TOY, "/dev/null").json();
    assert_eq!(of("-", TOY).json(), by_name);
    of("-", "/dev/null").told(3, &["standard input: no known form of topology"]);
}

#[test]
fn choices() {
    let folder = Folder::new();
    let line = folder.write("line.cch", LINE);
    let plan =
        |arguments: &[&str]| run(&[&["plan", &line, "--json", "--upgrade", "2"], arguments].concat()).json();
    let [greedy, improved] = [&[][..], &["--improved"]].map(plan);
    assert_eq!((&improved["method"], &greedy["probe_hops"]), (&json!("improved"), &improved["probe_hops"]));
    let drawn: Vec<Value> =
        (0..20).map(|seed| plan(&["--random", "--seed", &seed.to_string()])["routers"].clone()).collect();
    assert!(drawn.iter().any(|routers| *routers != drawn[0]));
    assert_eq!(plan(&["--random", "--seed", "7"])["routers"], drawn[7]);
}

#[test]
fn warned_and_refused() {
    let folder = Folder::new();
    let apart = folder.write(
        "apart.graph",
        "NODES 3\nlabel x y\nA 0 0\nB 0 0\nC 0 0\nEDGES 4\nlabel\na 0 1 5\nb 1 0 5\nc 0 1 6\nd 2 2 1\n",
    );
    let result = run(&["plan", &apart, "--upgrade", "0", "--json"]);
    for part in ["1 parallel links", "1 links from a router to itself", "4 ordered pairs"] {
        assert!(result.messages.contains(part), "{part:?} is not in {}", result.messages);
    }
    assert_eq!((result.code, result.json()["warnings"].as_array().unwrap().len()), (0, 3));
    let text = folder.write("text", "no network\n");
    let missing = folder.path("missing.graph");
    for (code, arguments, message) in [
        (3, &["plan", &text, "--upgrade", "1"][..], "no known form of topology"),
        (3, &["plan", &missing, "--upgrade", "1"], "cannot be read"),
        (2, &["plan", TOY, "--upgrade", "7"], "7 routers are to be upgraded, of a network of 6"),
        (2, &["plan", TOY], "--upgrade"),
        (2, &["plan", TOY, "--upgrade", "1", "--seed", "1"], "--random"),
        (2, &["plan", TOY, "--upgrade", "1", "--random", "--improved"], "--improved"),
    ] {
        let result = run(arguments);
        assert_eq!((result.code, result.output.as_str()), (code, ""), "{result:?}");
        assert!(result.messages.contains(message), "{result:?}");
    }
    let error = run(&["plan", &text, "--upgrade", "1", "--json"]).json();
    assert_eq!((&error["file"], &error["exit_code"]), (&json!(text), &json!(3)));
}

#[test]
fn sprint() {
    let folder = std::env::var("DELTALINE_TOPOLOGIES").unwrap_or_default();
    let sprint = format!("{folder}/sprint-as1239.graph");
    if !std::path::Path::new(&sprint).exists() {
        println!("skipped: DELTALINE_TOPOLOGIES names no folder with sprint-as1239.graph");
        return;
    }
    let json = run(&["plan", &sprint, "--upgrade", "45", "--json"]).json();
    assert_eq!((&json["probe_hops_before"], &json["probe_hops"]), (&json!(965_384), &json!(5742)));
    assert_eq!(json["routers"].as_array().unwrap().len(), 45);
}
