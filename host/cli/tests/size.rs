//! `deltaline size` on the command line.
//!
//! # Test plan
//!
//! The design that comes out is the smallest that is good enough, as a table and as JSON, and its file is one that the
//! hardware's reader takes and has hardware for, for every stream and with digests; what it promises of a capture is
//! what `measure` finds; rows and packets in them are as many as results without a mark take; prefixes that follow the loss are the control loop's; limits of memory by rows, bits and device;
//! no design: the nearest; what is refused. Of slices the smallest table, none where sums let it promise nothing, and of hardware one that is built, with its prefix length. What the expectations are worth is tested in `sim/lab/tests/sizing.rs`.

#![allow(clippy::unwrap_used, reason = "tests")]

use crate::common::{Folder, RECEIVER, Run, SENDER, run};
use deltaline_design::Design;
use deltaline_estimate::prefixes_for_loss;
use deltaline_model::wire::shape::Kind;
use serde_json::{Value, json};

fn size(more: &[&str]) -> Run {
    run(&[&["size", "--rate", "1M"], more].concat())
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

#[test]
fn the_smallest_design_that_is_good_enough() {
    let asked = ["--loss", "0.1%..4%", "--mean", "2%", "--deviation", "6%"];
    let text = size(&[&asked[..], &["--explain"]].concat());
    text.told(0, &[]);
    for part in [
        "bits of memory at each end",
        "usable rows",
        "control traffic",
        "Of what is smaller",
        "[measurement]",
    ] {
        assert!(text.output.contains(part), "{part:?} is not in {}", text.output);
    }
    let json = size(&[&asked[..], &["--json"]].concat()).json();
    let bits = json["memory_bits"].as_u64().unwrap();
    for expected in json["expected"].as_array().unwrap() {
        assert!(
            number(&expected["mean_error"]) <= 0.02 && number(&expected["std_error"]) <= 0.06,
            "{expected}"
        );
        assert!(number(&expected["usable_rows"]) >= 32.0, "{expected}");
        // Twice the error, give or take Student's t.
        let ratio = number(&expected["mean_ci95"]) / number(&expected["mean_error"]);
        assert!((1.95..2.05).contains(&ratio), "{expected}");
    }
    // All that is smaller is not good enough.
    let less = (bits - 1).to_string();
    size(&[&asked[..], &["--memory", &less]].concat())
        .failed(17, &["comes closest", &format!("({bits} bits)")]);
    // All cells of both copies leave in frames of at most 128, 9 bytes each.
    let (rows, banks) = (json["rows"].as_u64().unwrap(), json["banks"].as_array().unwrap().len() as u64);
    assert_eq!(bits, 2 * 72 * rows * banks);
    let bytes = json["control"]["bytes_per_interval"].as_u64().unwrap();
    assert_eq!(bytes, rows * banks * 9 + 160 * json["control"]["frames_per_interval"].as_u64().unwrap());
}

#[test]
fn results_that_will_not_be_marked() {
    for asked in [
        &["--rate", "5k", "--loss", "0..10%", "--mean", "10%"][..],
        &["--rate", "5k", "--loss", "1%..5%", "--mean", "5%", "--variation", "0.5", "--kurtosis", "0"],
        &["--rate", "2k", "--loss", "2%", "--mean", "3%", "--variation", "0.1"],
        &["--rate", "5k", "--loss", "10%..50%", "--mean", "10%", "--deviation", "40%"],
    ] {
        let sized = run(&[&["size", "--json"], asked].concat());
        if sized.code == 17 {
            assert!(
                sized.messages.contains("in usable rows in 95 % of intervals instead of 300"),
                "{sized:?}"
            );
            continue;
        }
        for expected in sized.json()["expected"].as_array().unwrap() {
            assert!(number(&expected["effective_samples"]) > 300.0, "{asked:?}: {expected}");
            assert!(number(&expected["usable_rows"]) > 32.0, "{asked:?}: {expected}");
        }
    }
    // However many rows: there are no more packets.
    run(&["size", "--rate", "200", "--loss", "1%", "--mean", "20%"])
        .failed(17, &["packets are in usable rows in 95 % of intervals instead of 300"]);
}

#[test]
fn quantiles_that_will_be_reported() {
    let asked = |quantile| ["--loss", "0.1%..1%", "--quantile", quantile];
    let json = size(&[&asked("99%:5%")[..], &["--json"]].concat()).json();
    for expected in json["expected"].as_array().unwrap() {
        let quantile = &expected["quantiles"][0];
        assert_eq!(quantile["single_packets_needed"], 368);
        assert!(number(&expected["single_packets_least"]) >= 368.0, "{expected}");
        assert!(number(&expected["single_packets"]) > number(&expected["single_packets_least"]));
    }
    // 4096 rows give 1,500 single packets at best.
    size(&asked("99.9%:5%"))
        .failed(17, &["p99.9 needs 3688 rows with a single packet", "in 95 % of intervals"]);
}

#[test]
fn files_for_the_hardware() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sized.toml");
    let path = file.to_str().unwrap();
    for (design, more) in [
        ("1g", &["--mean", "3%"][..]),
        ("10g", &["--mean", "3%"]),
        ("10g-inline", &["--deviation", "6%"]),
        ("10g-adaptive", &["--mean", "3%"]),
        ("10g", &["--quantile", "90%:3%", "--mean", "2%"]),
        ("40g", &["--quantile", "50%:4%"]),
        ("100g", &["--mean", "2%"]),
        ("400g", &["--mean", "2%"]),
    ] {
        let sized = size(&[&["--loss", "0..1%", "--design", design, "--out", path, "--json"], more].concat());
        sized.told(0, &[]);
        let json = sized.json();
        let made = Design::load(&file).unwrap();
        let base = Design::named(design).unwrap();
        assert_eq!((made.stream(), made.shell(), made.clock()), (base.stream(), base.shell(), base.clock()));
        let configuration = made.configuration();
        assert_eq!(configuration.rows() as u64, json["rows"].as_u64().unwrap());
        assert_eq!(json!(configuration.prefixes().lengths()), json["banks"]);
        assert_eq!(configuration.adaptive(), base.configuration().adaptive());
        assert_eq!(configuration.has_digests(), more.contains(&"--quantile"));
        assert_eq!(std::fs::read_to_string(&file).unwrap(), json["configuration"].as_str().unwrap());
        deltaline_hdl::emit::design::emit(&made, "tap").unwrap();
        // Another one does not take its place.
        size(&["--loss", "1%", "--mean", "5%", "--out", path]).failed(7, &["sized.toml", "not overwritten"]);
        assert_eq!(Design::load(&file).unwrap(), made);
        std::fs::remove_file(&file).unwrap();
    }
}

#[test]
fn prefixes_that_follow_the_loss() {
    let asked = ["--loss", "0.01%..4%", "--mean", "2%", "--design", "10g-adaptive"];
    let text = size(&[&asked[..], &["--explain"]].concat());
    text.told(0, &[]);
    for part in
        ["to begin with", "prefix lengths", "the one two before", "stays for three", "adaptive = true"]
    {
        assert!(text.output.contains(part), "{part:?} is not in {}", text.output);
    }
    let json = size(&[&asked[..], &["--json"]].concat()).json();
    // One of them is the guard.
    assert!(json["banks"].as_array().unwrap().len() > 1);
    let (rows, expected) = (json["rows"].as_u64().unwrap(), json["expected"].as_array().unwrap());
    for each in expected {
        let lost = (1e6 * number(&each["loss"])).round() as u64;
        let followed =
            prefixes_for_loss(json["banks"].as_array().unwrap().len(), rows as usize, 1_000_000, lost);
        assert_eq!(each["banks"], json!(followed.unwrap().lengths()));
        assert!(number(&each["mean_error"]) <= 0.02);
    }
    assert_eq!(json["banks"], expected[expected.len() - 1]["banks"]);
}

#[test]
fn limits_of_memory() {
    let bits = |more: &[&str]| {
        let sized = size(&[&["--loss", "1%", "--mean", "3%", "--json"], more].concat());
        sized.told(0, &[]);
        sized.json()["memory_bits"].as_u64().unwrap()
    };
    let least = bits(&[]);
    assert_eq!(bits(&["--memory", &least.to_string()]), least);
    assert_eq!(bits(&["--rows", &(least / 144).to_string()]), least);
    assert_eq!(bits(&["--device", "ecp5-25f"]), least);
    // 32 blocks of 4 kbit, half of them: 455 rows.
    let hard = ["--loss", "1%", "--mean", "0.3%", "--device", "ice40-hx8k"];
    size(&hard).failed(
        17,
        &["comes closest", "the error of the mean is", "instead of 0.300 %", "the smallest that meets"],
    );
    size(&["--loss", "1%", "--mean", "3%", "--memory", "100"]).failed(17, &["too small", "1152 bits"]);
    let hopeless = size(&["--loss", "20%", "--mean", "0.01%"]);
    hopeless.failed(17, &["no hardware does", "relax the targets"]);
}

#[test]
fn refusals() {
    size(&["--loss", "1%"]).failed(2, &["--mean", "--deviation", "--quantile"]);
    size(&["--mean", "1%"]).told(2, &["--loss"]);
    size(&["--loss", "4%..1%", "--mean", "1%"]).told(2, &["ascending"]);
    size(&["--loss", "1%", "--mean", "0"]).told(2, &["above 0"]);
    size(&["--loss", "1%", "--mean", "1%", "--rows", "64", "--memory", "1M"])
        .told(2, &["cannot be used with"]);
    size(&["--loss", "1%", "--mean", "1%", "--design", "25g"]).failed(2, &["--design", "25g", "10g"]);
    size(&["--loss", "1%", "--mean", "1%", "--design", "1g", "--rate", "2M"]).told(2, &[]);
    run(&["size", "--rate", "2M", "--loss", "1%", "--mean", "1%", "--design", "1g"])
        .failed(2, &["--rate", "1488095", "faster"]);
    size(&["--loss", "1%", "--quantile", "50%:5%", "--design", "1g"]).failed(2, &["8 bits", "64 bits"]);
    size(&["--loss", "1%", "--mean", "5%", "--out", "/nowhere/x.toml"]).failed(7, &["/nowhere/x.toml"]);
}

/// Of a path whose delays are short.
const SLICES: [&str; 10] = [
    "--synopsis",
    "slices",
    "--delay",
    "200us",
    "--loss",
    "0.1%..4%",
    "--mean",
    "2%",
    "--quantile",
    "90%:3%",
];

#[test]
fn the_smallest_table_of_slices_that_is_good_enough() {
    let json = size(&[&SLICES[..], &["--interval", "100ms", "--json"]].concat()).json();
    let rows = json["rows"].as_u64().unwrap();
    assert_eq!(json["records"], rows / 2);
    assert_eq!(json["memory_bits"], 2 * 72 * rows);
    assert_eq!(
        (&json["synopsis"], &json["delay_ns"], &json["burst"]),
        (&json!("slices"), &json!(200_000), &json!(1.0))
    );
    let expected = json["expected"].as_array().unwrap();
    for each in expected {
        assert!(number(&each["mean_error"]) <= 0.02, "{each}");
        assert!(number(&each["quantiles"][0]["rank_error"]) <= 0.03, "{each}");
        let slices = 1e5 / number(&each["packets_per_slice"]);
        assert!((slices / number(&each["boundaries"]) - 1.0).abs() < 1e-9, "{each}");
        assert!(number(&each["boundaries_least"]) < number(&each["boundaries"]), "{each}");
    }
    assert_eq!(number(&expected[0]["loss"]), 0.001);
    // Half of it is not; bursts take more.
    let half = (rows / 2).to_string();
    size(&[&SLICES[..], &["--interval", "100ms", "--rows", &half]].concat())
        .failed(17, &["come closest", &format!("has {rows} rows")]);
    let bits = (2 * 72 * rows - 1).to_string();
    size(&[&SLICES[..], &["--interval", "100ms", "--memory", &bits]].concat()).failed(17, &["come closest"]);
    let bursts = size(&[&SLICES[..], &["--interval", "100ms", "--burst", "20", "--json"]].concat()).json();
    let worst = |json: &Value| number(&json["expected"].as_array().unwrap().last().unwrap()["mean_error"]);
    assert!(bursts["rows"].as_u64().unwrap() > rows || worst(&bursts) > worst(&json), "{bursts}");
    // Software has larger tables than any hardware.
    let near = ["--synopsis", "slices", "--delay", "5ms", "--loss", "1%", "--mean", "0.003%", "--json"];
    let large = size(&near).json();
    assert!(large["rows"].as_u64().unwrap() > 1024, "{large}");
    assert!(worst(&large) <= 0.00003, "{large}");
    // What measures with it is what it says, and takes such a table.
    let text = size(&[&SLICES[..], &["--interval", "100ms", "--explain"]].concat());
    text.told(0, &[]);
    let command = json["command"].as_str().unwrap();
    for part in ["records of slices", "rank of p90", "keep their order", command] {
        assert!(text.output.contains(part), "{part:?} is not in {}", text.output);
    }
    let words = command.replace("SENDER", SENDER).replace("RECEIVER", RECEIVER);
    let measured = run(&[&words.split(' ').skip(1).collect::<Vec<_>>()[..], &["--json"]].concat()).json();
    assert_eq!(measured["configuration"]["rows"], rows);
}

/// The table that is written is one that the core comes in, and its prefix length one at which it is seldom full.
#[test]
fn slices_of_hardware_have_a_prefix_length() {
    let folder = Folder::new();
    let path = folder.path("tap.toml");
    let asked = [&SLICES[..], &["--rate", "2.5M", "--interval", "100ms", "--design", "10g-slices"]].concat();
    let json = run(&[&["size", "--json", "--out", &path], &asked[..]].concat()).json();
    // 250,000 packets: 488 of 512 records with 9 zeros, and sometimes all.
    assert_eq!((&json["rows"], &json["prefix_length"]), (&json!(1024), &json!(10)));
    assert_eq!((&json["design"], &json["command"]), (&json!("10g-slices"), &Value::Null));
    let written = Design::load(path.as_ref()).unwrap();
    let configuration = written.configuration();
    assert_eq!((configuration.rows(), configuration.prefixes().lengths()), (1024, &[10][..]));
    assert_eq!(configuration.kind(), Kind::SLICES);
    assert!(written.core().unwrap().size(configuration).is_ok());
    // The smaller table that is built is too small, and is said to be.
    run(&[&["size", "--rows", "16"], &asked[..]].concat()).failed(17, &["has 1024 rows"]);
    // A minute of them: 16 zeros are too few.
    let minute = [&SLICES[..], &["--rate", "2.5M", "--interval", "1m", "--design", "10g-slices"]].concat();
    run(&[&["size"], &minute[..]].concat()).failed(17, &["more than its records hold", "--interval"]);
    // Other designs have no slices, and without one there is nothing to write.
    let asked = [&SLICES[..], &["--rate", "2M"]].concat();
    run(&[&["size", "--design", "10g"], &asked[..]].concat()).failed(2, &["no slices", "10g-slices"]);
    run(&[&["size", "--out", &path], &asked[..]].concat()).failed(7, &["exists"]);
    let lanes = include_str!("../../../hdl/configurations/400g.toml");
    let lanes = lanes
        .replace("[measurement]", "[measurement]\nsynopsis = \"slices\"")
        .replace("prefixes = [1, 6]", "prefixes = [1]");
    let lanes = folder.write("lanes.toml", lanes);
    run(&[&["size", "--rate", "1M", "--design", &lanes], &SLICES[..]].concat())
        .failed(2, &["lanes.toml", "a core of 4 x 512 bits has no slices"]);
    // The core of 8 bits has sizes of its own.
    let mean = &SLICES[..SLICES.len() - 2];
    let asked = [mean, &["--rate", "1M", "--interval", "20ms", "--rows", "128"]].concat();
    let json = run(&[&["size", "--json", "--design", "1g-slices"], &asked[..]].concat()).json();
    assert_eq!((&json["rows"], &json["prefix_length"]), (&json!(128), &json!(9)));
    let asked = [&SLICES[..], &["--rate", "2M"]].concat();
    let other = folder.path("other.toml");
    run(&[&["size", "--out", &other], &asked[..]].concat()).failed(2, &["--out", "10g-slices"]);
    run(&[&["size", "--device", "ecp5-25f"], &asked[..]].concat()).failed(2, &["--device", "10g-slices"]);
}

#[test]
fn slices_that_promise_nothing() {
    let asked = ["--synopsis", "slices", "--loss", "1%", "--mean", "1000%"];
    // Packets that hardly come; 10^7 packets a second in slices of seconds.
    size(&[&asked[..], &["--delay", "1ms", "--burst", "0.5"]].concat()).told(2, &["at least 1"]);
    run(&[&["size", "--rate", "2"], &asked[..], &["--delay", "1ms"]].concat())
        .failed(17, &["come closest", "boundaries"]);
    run(&[&["size", "--rate", "10M"], &asked[..], &["--delay", "1ms", "--interval", "10m"]].concat())
        .failed(17, &["go round"]);
    // Nobody asked for the mean, of which nothing can be promised: that is said.
    let long = ["size", "--rate", "10M", "--synopsis", "slices", "--loss", "2.6%", "--delay", "13ms"];
    let long = [&long[..], &["--interval", "1h", "--deviation", "7%"]].concat();
    let found = run(&long);
    found.told(0, &[]);
    assert!(
        found.output.contains("none: no error of the mean is promised") && !found.output.contains("inf"),
        "{}",
        found.output
    );
    assert!(run(&[&long[..], &["--json"]].concat()).json()["expected"][0]["mean_error"].is_null());
    // What other tables do is not said of those that are allowed, and each target is named.
    let small = [
        "--synopsis",
        "slices",
        "--rate",
        "500k",
        "--loss",
        "1%",
        "--delay",
        "5ms",
        "--mean",
        "2%",
        "--rows",
        "512",
    ];
    run(&[&["size"], &small[..]].concat())
        .failed(17, &["no table that is allowed meets the targets", "has 1024 rows"]);
    let rank = ["--synopsis", "slices", "--loss", "1%", "--delay", "5ms", "--quantile", "99.99%:0.001%"];
    size(&rank).failed(17, &["boundaries (", "of the rank of p99.99 of"]);
    size(&asked).told(2, &["--delay"]);
    for more in [["--delay", "1ms"], ["--burst", "20"]] {
        size(&[&["--loss", "1%", "--mean", "5%"], &more[..]].concat())
            .failed(2, &[more[0], "--synopsis slices"]);
    }
}
