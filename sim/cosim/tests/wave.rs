//! Waveforms of benches: alone in this file, because they are asked for once in a process.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::bench::{Bench, write_waves};
use std::fs;
use std::path::Path;
use verilator_sys::Toolchain;

/// The file holds the last cycles up to the last one, and a second file those before it.
#[test]
fn a_waveform_ends_with_the_last_cycle_and_stays_short() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("bench.vcd");
    write_waves(file.clone());
    let verilog = "module counter(input wire clk, output reg [31:0] count);\nalways @(posedge clk) count <= count + 1;\n\
                   initial count = 0;\nendmodule\n";
    let mut bench = Bench::new(&Toolchain::find().unwrap(), "counter", verilog).unwrap();
    for _ in 0..25_000 {
        bench.tick().unwrap();
    }
    assert_eq!(bench.get(bench.port("count").unwrap()), 25_000);
    drop(bench);
    let before = fs::read_to_string(file.with_extension("vcd.before")).unwrap();
    let times = |text: &str| -> Vec<u64> {
        text.lines().filter_map(|line| line.strip_prefix('#')?.parse().ok()).collect()
    };
    let last = fs::read_to_string(&file).unwrap();
    assert!(last.contains(" count ") && last.contains(&format!("b{:032b} ", 25_000)));
    // A cycle is a nanosecond: times are in picoseconds.
    assert_eq!((times(&last)[0], *times(&last).last().unwrap()), (20_000_000, 24_999_500));
    assert_eq!((times(&before)[0], *times(&before).last().unwrap()), (10_000_000, 19_999_500));
}
