//! The hardware under simulation, measuring the shipped captures: control frames and results are the software's.
//!
//! # Test plan
//!
//! * The shipped pair, in intervals, with rows and with slices: frames and results are the software's, byte by byte.
//! * Recordings without loss, through the synopses with digests: the mean is exact, to the nanosecond of the sum.
//! * Two cores whose intervals are ended by synchronised pins, packets under way: no number, and the reason.
#![allow(clippy::unwrap_used)]

use crate::common::{Folder, RECEIVER, SENDER, packets, run};
use deltaline_capture::Packet;
use deltaline_cosim::hardware::Hardware;
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::time::Timestamp;
use deltaline_model::wire::frame::Role;
use serde_json::{Value, json};
use std::fs;
use verilator_sys::Toolchain;

#[test]
fn hardware_and_software_emit_the_same_control_frames() {
    let folder = Folder::new();
    let measure = |design: &str, through: &str| {
        let frames = folder.path(through);
        let arguments = [
            "measure",
            "--json",
            "--interval",
            "500ms",
            // Software alone has digests.
            "--design",
            design,
            "--through",
            through,
            "--frames",
            &frames,
            SENDER,
            RECEIVER,
        ];
        let result = run(&arguments);
        result.told(0, &[]);
        (result.json(), fs::read(frames).unwrap())
    };
    let both = |design: &str| {
        let (software, hardware) = (measure(design, "software"), measure(design, "hardware"));
        assert!(software.1 == hardware.1, "control frames differ");
        for member in ["overall", "intervals", "frames", "configuration", "sender", "receiver"] {
            assert_eq!(software.0[member], hardware.0[member]);
        }
        (software, hardware)
    };
    let slices = folder.path("slices.toml");
    let design = include_str!("../../../hdl/configurations/10g.toml").replace("\"lda\"\n", "\"slices\"\n");
    fs::write(&slices, design.replace("prefixes = [1, 6]", "prefixes = [7]")).unwrap();
    let (_, (of_slices, _)) = both(&slices);
    assert_eq!(of_slices["overall"]["method"], json!("slices"));
    let [low, high] = [0, 1].map(|end| of_slices["overall"]["bracket_ns"][end].as_f64().unwrap());
    // The captures' README has the mean.
    assert!(low <= 13_058_477.7 && 13_058_477.7 <= high && high - low < 1e6, "{low} to {high}");
    // The core of 8 bits, for there is no other with so many rows.
    let bytes = include_str!("../../../hdl/configurations/1g-slices.toml").replace("[11]", "[8]");
    let bytes = folder.write("bytes.toml", bytes);
    let (_, (of_bytes, _)) = both(&bytes);
    assert_eq!(of_bytes["overall"]["method"], json!("slices"));
    assert_eq!(of_bytes["hardware"]["core"], json!("one lane of 8 bits"));
    let (software, hardware) = both("10g");
    let report = &hardware.0["hardware"];
    assert_eq!(report["core"], json!("one lane of 64 bits"));
    assert_eq!(report["packets"].as_u64(), Some(59_461 + 57_895));
    // Up to sixteen beats a packet, and the drains.
    let cycles = report["cycles"].as_u64().unwrap();
    assert!((1_500_000..3_000_000).contains(&cycles), "{cycles}");
    assert!(report["cycles_per_second"].as_f64().unwrap() > 1e4);
    assert_eq!(software.0["hardware"], Value::Null);
}

#[test]
fn sizes_that_hardware_does_not_come_in_are_refused() {
    let result = run(&["measure", "--through", "hardware", "--rows", "2048", SENDER, RECEIVER]);
    result.failed(8, &["for 2048 rows and 2 banks", "built are 8, 16, 32, 64, 128, 256, 512 or 1024 rows"]);
}

/// Without loss the sums of all packets' times give the mean, and digests say that they are the same packets.
#[test]
fn the_mean_of_a_path_without_loss_is_exact() {
    let folder = Folder::new();
    let sent: Vec<Packet> = packets(SENDER).into_iter().take(6_000).collect();
    // Delays from 1 ms to 1.04 ms; those of neighbours differ, but packets keep their order.
    let mut received = sent.clone();
    let (mut last, mut sum) = (0, 0);
    for (number, packet) in (0u64..).zip(&mut received) {
        let sent = packet.timestamp;
        packet.timestamp = (sent + 1_000_000 + number * 7919 % 40_000).max(last);
        last = packet.timestamp;
        sum += last - sent;
    }
    let mean = sum as f64 / sent.len() as f64;
    let [sender, receiver] =
        [("s", &sent), ("r", &received)].map(|(name, packets)| folder.capture(name, packets));
    for settings in [
        &["--design", "10g-quantiles"][..],
        &["--synopsis", "finecomb", "--rows", "16"],
        &["--synopsis", "identity", "--rows", "1024"],
    ] {
        let [software, hardware] = ["software", "hardware"].map(|through| {
            let frames = folder.path(through);
            let measure =
                ["measure", "--json", "--through", through, "--frames", &frames, &sender, &receiver];
            let result = run(&[&measure[..], settings].concat());
            result.told(0, &[]);
            (result.json(), fs::read(frames).unwrap())
        });
        assert!(software.1 == hardware.1, "{settings:?}: control frames differ");
        // Software remembers packets, hardware does not: what follows from that alone it cannot say.
        let overall = &hardware.0["overall"];
        let mut of_software = software.0["overall"].clone();
        let keys = of_software.as_object_mut().unwrap();
        // Delays of single packets come from all of them in software, and the reason names what has none.
        let is_of_singles = |key: &str| {
            let names = [
                "std_ns",
                "std_ci95",
                "exact_delays",
                "min_ns",
                "max_ns",
                "p50",
                "p90",
                "p99",
                "variation",
                "reason",
            ];
            settings.contains(&"identity") && names.iter().any(|name| key.starts_with(name))
        };
        keys.retain(|key, _| {
            !is_of_singles(key)
                && (!overall[key].is_null() || !["complete", "repeated"].contains(&key.as_str()))
        });
        let differ: Vec<_> = keys.iter().filter(|(key, value)| overall[*key] != **value).collect();
        assert!(differ.is_empty(), "{settings:?}: {differ:?}");
        let others: Vec<_> = overall
            .as_object()
            .unwrap()
            .keys()
            .filter(|key| !is_of_singles(key) && of_software.get(key).is_none() && !overall[*key].is_null())
            .collect();
        assert!(others.is_empty(), "{settings:?}: {others:?}");
        assert_eq!(overall["mean_ns"], json!(mean), "{settings:?}");
        assert_eq!(overall["mean_ci95_ns"], json!([mean, mean]), "{settings:?}");
        assert_eq!((&overall["sent"], &overall["lost"]), (&json!(6_000), &json!(0)));
    }
}

/// A packet a microsecond, each 19.2 µs under way, none lost; both pins end the intervals at the same moments.
#[test]
fn synchronised_pins_give_no_false_loss() {
    let folder = Folder::new();
    let configuration = Configuration::new(Settings { rows: 64, ..Settings::default() }).unwrap();
    let hardware = Hardware::build(&Toolchain::find().unwrap(), &configuration).unwrap();
    let sent: Vec<Packet> = packets(SENDER).into_iter().take(5_000).collect();
    let mut frames = vec![];
    for (role, delay) in [(Role::Sender, 0), (Role::Receiver, 19_200)] {
        let mut point = hardware.point(role).unwrap();
        let mut end = 1_000_000;
        for (number, packet) in (0u64..).zip(&sent) {
            let time = 1_000 * number + delay;
            if time >= end {
                point.end_interval().unwrap();
                end += 1_000_000;
            }
            point.observe(&packet.data, Timestamp::from_nanoseconds(time)).unwrap();
        }
        // The sender's last one, behind all packets.
        if end == 5_000_000 {
            point.end_interval().unwrap();
        }
        point.wait_for_frames().unwrap();
        let packet = |data| Packet { timestamp: 0, length: 0, interface: 0, data };
        frames.extend(point.take_frames().into_iter().map(packet));
    }
    let result = run(&["decode", "--json", &folder.frames("pins", &frames)]);
    result.told(10, &["a pin or a register cut the sender's interval", "use in-band delimiters"]);
    let intervals = result.json()["intervals"].as_array().unwrap().clone();
    assert_eq!(intervals.len(), 5);
    for interval in intervals.iter().chain([&result.json()["overall"]]) {
        for number in ["lost", "mean_ns", "std_ns"] {
            assert_eq!(interval[number], Value::Null, "{interval}");
        }
    }
}
