//! What a packet costs in instructions: `cargo bench -p deltaline-model --bench instructions`.
//!
//! The program runs itself under `valgrind --tool=callgrind` with one number of packets and with another; the
//! difference is the packets' alone. Unlike times, the counts are the same on a busy machine.

mod common;

use common::{KINDS, frames, ipv6_frames};
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::packet::hash::HashKind;
use deltaline_model::point::MeasurementPoint;
use deltaline_model::time::Timestamp;
use deltaline_model::wire::frame::Role;
use std::error::Error;
use std::process::Command;

const FRAMES: usize = 1024;
/// Passes over the frames in the shorter and in the longer run.
const PASSES: [u64; 2] = [10, 110];
/// Frames one by one and in batches.
const RUNS: [&str; 3] = ["IPv4", "IPv4 in batches", "IPv6"];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    if let [_, option, name, run, passes] = &arguments[..]
        && option == "--passes"
    {
        let kind = KINDS.iter().find(|(kind, _)| kind == name).ok_or("no such hash")?.1;
        let passes = passes.parse()?;
        return match &run[..] {
            "IPv4" => observe(kind, &frames(FRAMES), passes),
            "IPv4 in batches" => observe_batch(kind, &frames(FRAMES), passes),
            _ => observe(kind, &ipv6_frames(FRAMES), passes),
        };
    }
    for (name, _) in KINDS {
        for run in RUNS {
            let [short, long] = PASSES.map(|passes| instructions(name, run, passes));
            let packets = (PASSES[1] - PASSES[0]) * FRAMES as u64;
            let a_packet = (long? - short?) as f64 / packets as f64;
            println!("observe/{name}, {run}: {a_packet:.1} instructions a packet");
        }
    }
    Ok(())
}

/// Passes the frames through a measurement point.
fn observe<const BYTES: usize>(
    kind: HashKind,
    frames: &[[u8; BYTES]],
    passes: u64,
) -> Result<(), Box<dyn Error>> {
    let mut point = point(kind)?;
    for pass in 0..passes {
        for frame in frames {
            point.observe(frame, Timestamp::from_nanoseconds(pass));
        }
    }
    Ok(())
}

/// The same, 32 frames at a time.
fn observe_batch<const BYTES: usize>(
    kind: HashKind,
    frames: &[[u8; BYTES]],
    passes: u64,
) -> Result<(), Box<dyn Error>> {
    let mut point = point(kind)?;
    for pass in 0..passes {
        for frames in frames.chunks(32) {
            point.observe_batch(frames.iter().map(|frame| (&frame[..], Timestamp::from_nanoseconds(pass))));
        }
    }
    Ok(())
}

fn point(kind: HashKind) -> Result<MeasurementPoint, Box<dyn Error>> {
    let configuration = Configuration::new(Settings { hash: kind, ..Settings::default() })?;
    Ok(MeasurementPoint::new(&configuration, Role::Sender))
}

/// The instructions of a run of this program, counted by callgrind.
fn instructions(hash: &str, run: &str, passes: u64) -> Result<u64, Box<dyn Error>> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(std::env::current_exe()?)
        .args(["--passes", hash, run, &passes.to_string()])
        .output()
        .map_err(|reason| format!("valgrind: {reason}; install it: apt-get install valgrind"))?;
    let told = String::from_utf8_lossy(&output.stderr);
    let count = told.lines().find_map(|line| line.split_once("Collected : "));
    Ok(count.ok_or_else(|| format!("valgrind counted nothing: {told}"))?.1.trim().parse()?)
}
