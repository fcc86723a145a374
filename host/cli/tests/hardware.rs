//! The hardware under simulation, measuring the shipped captures: control frames and results are the software's.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, RECEIVER, SENDER, run};
use serde_json::Value;
use std::fs;

#[test]
fn hardware_and_software_emit_the_same_control_frames() {
    let folder = Folder::new();
    let measure = |through: &str| {
        let frames = folder.path(through);
        let arguments = [
            "measure",
            "--json",
            "--interval",
            "500ms",
            // Software alone has digests.
            "--design",
            "10g",
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
    let (software, hardware) = (measure("software"), measure("hardware"));
    assert!(software.1 == hardware.1, "control frames differ");
    for member in ["overall", "intervals", "frames", "configuration", "sender", "receiver"] {
        assert_eq!(software.0[member], hardware.0[member]);
    }
    let report = &hardware.0["hardware"];
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
