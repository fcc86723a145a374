//! The emitted Verilog under cocotb: `sim/cocotb/README.md` has the test plan.

use crate::{Failure, acceptance, tools};
use deltaline_hdl::registers::{self, Emitted, Options};
use deltaline_hdl::verilog::{Module, emit};
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::frame::Role;
use deltaline_model::point::{IntervalEnd, MeasurementPoint};
use deltaline_model::time::Timestamp;
use deltaline_traffic::Frames;
use serde_json::{Value, json};
use std::fs;

/// Frames of each interval, and intervals, of the core's run.
const FRAMES: u64 = 40;
const INTERVALS: u64 = 2;

/// Runs all benches.
pub(crate) fn run() -> Result<(), Failure> {
    let configuration = Configuration::new(Settings { rows: 16, ..Settings::default() })?;
    // The registers are those of the default core.
    let emitted = Emitted::new(
        &Configuration::new(Settings::default())?,
        8,
        1,
        0x1234_5678,
        Options { clock: true, delimiters: false },
    );
    bench("registers", "registers", &registers::emit(&emitted, "registers")?, &Value::Null)?;
    bench("core", "deltaline", &emit(&configuration, Module::Core, "deltaline")?, &vectors(&configuration))
}

/// Runs `sim/cocotb/test_<name>.py` on a module with these vectors.
fn bench(name: &str, top: &str, verilog: &str, vectors: &Value) -> Result<(), Failure> {
    eprintln!("==> cocotb: {name}");
    let folder = tools::folder()?.join("cocotb-run");
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(format!("{name}.v")), verilog)?;
    fs::write(folder.join(format!("{name}.json")), vectors.to_string())?;
    let mut python = tools::cocotb_python()?;
    python.arg(tools::workspace()?.join("sim/cocotb/run.py")).args([name, top]).arg(&folder);
    let printed = acceptance::run(python.env("PYTHONDONTWRITEBYTECODE", "1"))?;
    let results = printed.lines().filter(|line| line.contains("PASS") && line.contains("test_"));
    results.for_each(|line| eprintln!("    {}", line.trim().trim_matches(['*', ' '])));
    Ok(())
}

/// Frames with their timestamps, and the control frames that the model makes of them.
fn vectors(configuration: &Configuration) -> Value {
    let mut point = MeasurementPoint::new(configuration, Role::Receiver);
    let mut frames = Frames::new(5);
    let intervals: Vec<Value> = (0..INTERVALS)
        .map(|interval| {
            let frames: Vec<Value> = (0..FRAMES)
                .map(|number| {
                    let (frame, bad) = (frames.next_frame(), number % 16 == 7);
                    let time = Timestamp((interval * FRAMES + number) * 0x1234_5678_9abc);
                    if bad {
                        point.observe_bad()
                    } else {
                        point.observe(&frame, time)
                    }
                    json!({ "bytes": hex(&frame), "timestamp": time.0, "bad": u8::from(bad) })
                })
                .collect();
            let mut control_frames = vec![];
            point.end_interval(IntervalEnd::Delimiter, |frame| control_frames.push(hex(frame)));
            json!({ "frames": frames, "control_frames": control_frames })
        })
        .collect();
    json!({ "receiver": 1, "intervals": intervals })
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
