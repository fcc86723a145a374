//! The numbers of the Sprint network.
//!
//! # Test plan
//!
//! With `DELTALINE_TOPOLOGIES`, a folder that holds `sprint-as1239.graph` (Repetita's copy of Rocketfuel's map, whose terms do not let it
//! be passed on): probe hops, segments and chosen routers as a program of 40 lines has them that lists all paths with networkx
//! 3.6.1 and follows Algorithm 1 line by line, on sets of paths. Other networks of that folder: the improved choice, never worse.

#![allow(clippy::unwrap_used, reason = "tests")]

use deltaline_station::{Plan, Routes, read};
use std::path::{Path, PathBuf};

fn network(name: &str) -> Option<PathBuf> {
    let file = std::env::var("DELTALINE_TOPOLOGIES").ok().map(|folder| Path::new(&folder).join(name));
    let file = file.filter(|file| file.exists());
    if file.is_none() {
        println!("skipped: DELTALINE_TOPOLOGIES names no folder with {name}");
    }
    file
}

#[test]
fn sprint() {
    let Some(file) = network("sprint-as1239.graph") else { return };
    let topology = read(&file).unwrap();
    let routes = Routes::of(&topology);
    let plan = Plan::greedy(&routes, 50).unwrap();
    assert_eq!((plan.before.probe_hops, plan.before.segments), (965_384, 207_138));
    // Hops and segments after every fifth upgrade.
    let listed = [
        (362_354, 89_284),
        (159_794, 42_456),
        (56_908, 18_802),
        (29_454, 11_890),
        (18_808, 8_400),
        (12_772, 6_286),
        (9_632, 5_042),
        (7_306, 4_162),
        (5_742, 3_586),
        (4_794, 3_204),
    ];
    for (step, expected) in plan.steps.iter().skip(4).step_by(5).zip(listed) {
        assert_eq!((step.totals.probe_hops, step.totals.segments), expected);
    }
    let routers: Vec<usize> = plan.steps.iter().map(|step| step.router).collect();
    assert_eq!(routers[..12], [32, 4, 128, 25, 54, 34, 24, 11, 23, 127, 3, 152]);
    // The paper: "around 1.5".
    assert_eq!(format!("{:.2}", plan.after().granularity().unwrap()), "1.50");
}

#[test]
fn others() {
    for name in ["Abilene", "Geant2012", "Colt"] {
        let Some(file) = network(&format!("{name}.graphml")) else { return };
        let topology = read(&file).unwrap();
        let routes = Routes::of(&topology);
        let count = topology.len() / 6;
        let [greedy, improved] =
            [Plan::greedy(&routes, count), Plan::improved(&routes, count)].map(|plan| plan.unwrap().after());
        println!(
            "{name}, {count} upgraded: {} probe hops, improved {}",
            greedy.probe_hops, improved.probe_hops
        );
        assert!(improved.probe_hops <= greedy.probe_hops && improved.granularity() <= greedy.granularity());
    }
}
