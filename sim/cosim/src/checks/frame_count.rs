//! Frame count: frames in, a saturating count out.

use crate::bench::Bench;
use crate::error::{CheckError, HardwareError, same};
use deltaline_hdl::emit::block::emit_block;
use deltaline_hdl::emit::reader::module;
use deltaline_hdl::point::frame_count::FrameCount;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use verilator_sys::Toolchain;

const STAGE: &str = "frame count";

/// Runs `count` cycles from zero, from below the carry between the halves and from below the counter's end, the latter
/// two by a changed reset; returns the number of cycles.
///
/// # Errors
///
/// [`CheckError::Mismatch`] with the first difference.
pub fn check(toolchain: &Toolchain, count: u64, seed: u64) -> Result<u64, CheckError> {
    let verilog = emit_block(&mut FrameCount::default(), "counter").map_err(HardwareError::from)?;
    let mut random = StdRng::seed_from_u64(seed);
    for start in [0u32, 0xfff0, 0xffff_fff0] {
        let reset_to = |text: &str, half: &str, value: u32| {
            let at = module(text, &format!("counter_{half}")).map_or(0, |module| module.start);
            let (before, behind) = text.split_at(at);
            before.to_string() + &behind.replacen("q <= 16'h0;", &format!("q <= 16'h{value:x};"), 1)
        };
        let text = reset_to(&reset_to(&verilog, "low", start & 0xffff), "high", start >> 16);
        same(STAGE, 0, "text that was changed", &(start != 0), &(text != verilog))?;
        let mut bench = Bench::new(toolchain, "counter", &text)?;
        let (ends, amount, shown) = (bench.port("ends")?, bench.port("frames")?, bench.port("count")?);
        let (mut sum, mut before) = (start, start);
        for cycle in 0..count {
            // Intervals of very different lengths, the first of them long enough for the changed start.
            let end = cycle > 200 && random.random_ratio(1, if cycle % 2000 < 100 { 2 } else { 500 });
            let added: u32 = if random.random_ratio(1, 2) { random.random_range(0..=4) } else { 0 };
            bench.set(ends, u64::from(end));
            bench.set(amount, u64::from(added));
            bench.tick()?;
            let found = bench.get(shown) as u32;
            // What is shown behind this clock edge counts up to the cycle before.
            same(STAGE, cycle, "sum", &before, &found)?;
            sum = if end { 0 } else { sum.saturating_add(added) };
            before = sum;
        }
    }
    Ok(3 * count)
}
