//! `--design`: one file describes a measurement everywhere.
//!
//! # Test plan
//!
//! A shipped design by file and by name gives what its settings as flags give, with the JSON keys of before. Flags that
//! agree are taken, those that contradict are refused with both named. `decode` and `read` take frames of the design
//! and refuse those of another one with the reason. Designs with classes, files that are none: refused. Where nobody
//! chose the seed, it is named once.
#![allow(clippy::unwrap_used)]

use crate::common::{Folder, RECEIVER, SENDER, run};

const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../hdl/configurations/10g-quantiles.toml");

#[test]
fn a_design_is_its_settings() {
    let settings = [
        "--synopsis",
        "lda",
        "--rows",
        "1024",
        "--banks",
        "1,6,12",
        "--seed",
        "1",
        "--hash",
        "h3",
        "--digest",
    ];
    let measure = |options: &[&str]| run(&[&["measure", "--json"], options, &[SENDER, RECEIVER]].concat());
    let by_flags = measure(&settings);
    by_flags.told(0, &[]);
    for options in [&["--design", FILE][..], &["--design", "10g-quantiles"]] {
        let by_design = measure(options);
        assert_eq!((by_design.code, &by_design.output), (0, &by_flags.output));
        let agreeing = measure(&[options, &settings].concat());
        assert_eq!((agreeing.code, &agreeing.output), (0, &by_flags.output));
        assert!(!by_design.messages.contains("seed"), "{}", by_design.messages);
    }
    let flags = [
        ("--rows", "512", "1024"),
        ("--banks", "1,6", "1,6,12"),
        ("--hash", "rabin", "h3"),
        ("--seed", "2", "1"),
        ("--segment", "5", "0"),
    ];
    for (flag, value, found) in flags {
        let said = format!("{flag} {value} contradicts --design 10g-quantiles, which has {found}");
        measure(&["--design", "10g-quantiles", flag, value]).told(2, &[&said]);
    }
    measure(&["--design", "10g", "--digest"]).told(2, &["--digest contradicts --design 10g"]);
}

#[test]
fn what_is_no_design_is_refused() {
    let measure = |design: &str| run(&["measure", "--design", design, SENDER, RECEIVER]);
    measure("10g-classes").failed(2, &["classes of packets", "name a design without classes"]);
    measure("11g").failed(2, &["'11g' is not a shipped design"]);
    measure("missing.toml").failed(2, &["missing.toml: cannot be read"]);
    for command in [&["decode", SENDER][..], &["read", SENDER], &["delimit", "lo"]] {
        run(&[command, &["--design", "11g"]].concat()).failed(2, &["'11g' is not a shipped design"]);
    }
    run(&["delimit", "lo", "--design", "10g", "--rows", "64"]).failed(2, &["--rows 64 contradicts", "1024"]);
}

#[test]
fn frames_of_another_design_are_refused() {
    let folder = Folder::new();
    let frames = folder.path("frames.pcapng");
    let measure = ["measure", "--design", FILE, "--interval", "1s", "--frames", &frames, SENDER, RECEIVER];
    run(&measure).told(0, &[]);
    for command in ["decode", "read"] {
        let plain = run(&[command, &frames]);
        let same = run(&[command, &frames, "--design", FILE]);
        assert_eq!((plain.code, same.code, &plain.output), (0, 0, &same.output));
        let other = run(&[command, &frames, "--design", "10g"]);
        other.told(
            4,
            &["the sender's control frames are of configuration 0x", "1024 rows, banks 1,6,12", "refused"],
        );
        let json = run(&[command, &frames, "--design", "10g", "--json"]);
        assert!(
            !json.output.contains("\"mean_ns\":1") && !json.output.contains("\"mean_ns\": 1"),
            "{}",
            json.output
        );
    }
}

#[test]
fn a_seed_that_nobody_chose_is_named_once() {
    let said = "no --design and no --seed: the hash function's seed is 1";
    let result = run(&["measure", SENDER, RECEIVER]);
    assert_eq!(result.messages.matches(said).count(), 1, "{}", result.messages);
    let result = run(&["measure", "--seed", "1", SENDER, RECEIVER]);
    assert!(!result.messages.contains(said), "{}", result.messages);
}
