//! The clocks: the twin rule, planted faults, and a servo that steers the adjustable clock.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::bench::Bench;
use deltaline_cosim::checks::clock;
use deltaline_cosim::error::CheckError;
use deltaline_cosim::faults::{Fault, fault, missed};
use deltaline_hdl::clock::adjustable::AdjustableClock;
use deltaline_hdl::clock::stream_time_of_day::StreamTimeOfDay;
use deltaline_hdl::clock::time_of_day::TimeOfDay;
use deltaline_hdl::emit::block::emit_block;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use verilator_sys::{LintOptions, Source, Toolchain, lint};

fn toolchain() -> Toolchain {
    Toolchain::find().unwrap()
}

fn time_of_day() -> String {
    emit_block(&mut TimeOfDay::default(), "time_of_day").unwrap()
}

fn stream_time_of_day() -> String {
    emit_block(&mut StreamTimeOfDay::<64, 8>::default(), "stream_time_of_day").unwrap()
}

fn adjustable_clock() -> String {
    emit_block(&mut AdjustableClock::default(), "adjustable_clock").unwrap()
}

fn check(stage: &str, verilog: &str, count: u64, seed: u64) -> Result<u64, CheckError> {
    match stage {
        "time_of_day" => clock::time_of_day(&toolchain(), verilog, count, seed),
        "stream_time_of_day" => clock::stream_time_of_day(&toolchain(), verilog, 64, count, seed),
        _ => clock::adjustable_clock(&toolchain(), verilog, count, seed),
    }
}

#[test]
fn times_of_day_become_relative() {
    assert!(check("time_of_day", &time_of_day(), 1_000_000, 1).unwrap() > 1_000_000);
}

#[test]
fn a_stream_of_times_of_day_becomes_relative() {
    assert!(check("stream_time_of_day", &stream_time_of_day(), 200_000, 1).unwrap() > 200_000);
    let narrow = emit_block(&mut StreamTimeOfDay::<8, 1>::default(), "stream_time_of_day").unwrap();
    assert!(clock::stream_time_of_day(&toolchain(), &narrow, 8, 50_000, 2).unwrap() > 50_000);
}

#[test]
fn the_adjustable_clock_obeys() {
    assert!(check("adjustable_clock", &adjustable_clock(), 1_000_000, 1).unwrap() > 1_000_000);
}

const TIME_OF_DAY_FAULTS: [Fault; 6] = [
    fault("seconds times 3", "seconds + (seconds << 32'h2)", "seconds + (seconds << 32'h1)"),
    fault("nanoseconds' upper bits lost", "whole_2_d = nanoseconds + times_5_q;", "whole_2_d = times_5_q;"),
    fault("one cycle more for the lower bits", "below_1_q[(32'h0)+:(25)]", "below_4_q[(32'h0)+:(25)]"),
    fault(
        "a product too narrow",
        "shifted_15 = ((times_15_q) & 30'h3fffffff)",
        "shifted_15 = ((times_15_q) & 30'h1fffff)",
    ),
    fault("a carry too much", "upper_d = shifted_15 - times_25;", "upper_d = shifted_15 + not_times_25_q;"),
    fault(
        "the seconds' highest bit lost",
        "shifted_5 = ((five_late) & 39'h7fffffffff)",
        "shifted_5 = ((five_late) & 39'h1ffffffff)",
    ),
];

const STREAM_FAULTS: [Fault; 4] = [
    fault("stalled beats are taken", "s_axis_tvalid & s_axis_tready;", "s_axis_tvalid;"),
    fault("tkeep a cycle early", "m_axis_tkeep = keep_3_q;", "m_axis_tkeep = keep_2_q;"),
    fault("the bad flag a cycle early", "bad_2_d = bad_1_q;", "bad_2_d = bad_0_q;"),
    fault("tvalid a cycle early", "valid_3_d = valid_2_q;", "valid_3_d = valid_1_q;"),
];

const CLOCK_FAULTS: [Fault; 10] = [
    fault("a negative rate is not", "if (rate[32'h1f]) begin", "if (1'b0) begin"),
    fault("carry of the increment lost", "if (increment_lower_q[32'h28]) begin", "if (1'b0) begin"),
    fault("carry of the time lost", "if (lower_carry_q) begin", "if (1'b0) begin"),
    fault(
        "halves a cycle apart",
        "lower_shown_d = lower_q[(32'h10)+:(24)];",
        "lower_shown_d = lower_d[(32'h10)+:(24)];",
    ),
    fault(
        "a long cycle's upper bit lost",
        "base_upper = ((base_sign_q) & 40'hffffffffff);",
        "base_upper = 40'h0;",
    ),
    fault("a slew a cycle too long", "slew_left_d = 32'h10000;", "slew_left_d = 32'h10001;"),
    fault(
        "a slew outlives a step",
        "if (steps) begin\n            slew_left_d = 32'h0;",
        "if (1'b0) begin\n            slew_left_d = 32'h0;",
    ),
    fault(
        "a slew reads its offset late",
        "if (slew) begin\n            slew_share_d = offset;",
        "if (is_slewing) begin\n            slew_share_d = offset;",
    ),
    fault("set adds in the upper half", "if (has_set_2_q) begin", "if (1'b0) begin"),
    fault("locked behind a step", "synchronised & ~steps;", "synchronised;"),
];

#[test]
fn planted_faults_are_noticed() {
    for (stage, verilog, faults) in [
        ("time_of_day", time_of_day(), &TIME_OF_DAY_FAULTS[..]),
        ("stream_time_of_day", stream_time_of_day(), &STREAM_FAULTS),
        ("adjustable_clock", adjustable_clock(), &CLOCK_FAULTS),
    ] {
        let missed = missed(&verilog, stage, faults, |verilog| check(stage, verilog, 20_000, 7)).unwrap();
        assert!(missed.is_empty(), "{missed:#?}");
    }
}

#[test]
fn verilator_has_nothing_to_say() {
    let waivers =
        [include_str!("../../../hdl/lint/verilator.vlt"), include_str!("../../../hdl/lint/clock.vlt")]
            .join("\n");
    for (top, verilog) in [
        ("time_of_day", time_of_day()),
        ("stream_time_of_day", stream_time_of_day()),
        ("adjustable_clock", adjustable_clock()),
    ] {
        let source = Source { top, verilog: &verilog };
        let warnings =
            lint(&toolchain(), &source, LintOptions { waivers: &waivers, arguments: &[] }).unwrap();
        assert_eq!(warnings, [], "{top}");
    }
}

/// Cycles between two measurements of the servo.
const UPDATE: u32 = 2048;
/// The servo's gains: shares of the measured offset, and of the sum of all offsets, taken back in one update.
const PROPORTIONAL: f64 = 0.3;
const INTEGRAL: f64 = 0.03;
/// Largest error of a measurement, ns either way.
const NOISE: f64 = 0.5;
/// Largest change of what the oscillator gains in an update, ns either way: 0.6 ppm, every 16 us.
const WANDER: f64 = 0.01;

/// How the clock's offset at the following measurements answers one nanosecond of measurement noise, or one
/// nanosecond an update of frequency change: the servo's difference equation. A new rate shows in the time four
/// cycles later, three of them within the next update.
fn response(noise: f64, wander: f64) -> Vec<f64> {
    let late = 3.0 / f64::from(UPDATE);
    let (mut offset, mut sum, mut before) = (0.0, 0.0, 0.0);
    (0..1000)
        .map(|update| {
            let answer = offset;
            let measured = offset + if update == 0 { noise } else { 0.0 };
            sum += measured;
            let rate = -PROPORTIONAL * measured - INTEGRAL * sum;
            offset += (1.0 - late) * rate + late * before - wander;
            before = rate;
            answer
        })
        .collect()
}

/// An oscillator of 125 MHz that starts 80 ppm off and wanders, a noisy comparison with the true time, and a
/// proportional-integral servo that only sees that. The true offset stays within the bound that the difference
/// equation gives for the worst noise and wander, and is as large on average as the equation says.
#[test]
fn a_servo_holds_the_clock_to_a_drifting_reference() {
    let mut bench = Bench::new(&toolchain(), "adjustable_clock", &adjustable_clock()).unwrap();
    let port = |name: &str| bench.port(name).unwrap();
    let (period, rate, step, value) = (port("period"), port("rate"), port("step"), port("value"));
    let (slew, offset) = (port("slew"), port("offset"));
    let (ptp_ts, slewing) = (port("ptp_ts"), port("slewing"));
    let mut random = StdRng::seed_from_u64(1);
    bench.set(period, 8 << 32);

    // The reference read this when the clock started from zero.
    let start = 0x8000_1234_5678_9abc_u64;
    // True time since then, and the true length of a cycle.
    let (mut elapsed, mut cycle) = (0.0f64, 8.0 * (1.0 + 80e-6));
    let mut sum = 0.0;
    let (mut worst, mut squares, mut counted) = (0.0f64, 0.0, 0);
    for update in 0..3000 {
        cycle += random.random_range(-WANDER..WANDER) / f64::from(UPDATE);
        for _ in 0..UPDATE {
            bench.tick().unwrap();
            bench.set(step, 0);
            bench.set(slew, 0);
            elapsed += cycle;
        }
        let difference = bench.get(ptp_ts).wrapping_sub(start).cast_signed();
        let error = difference as f64 / 65536.0 - elapsed;
        let measured = error + random.random_range(-NOISE..NOISE);
        match update {
            // The first comparison finds a wrong date: a step.
            0 => {
                bench.set(step, 1);
                bench.set(value, ((-measured * 65536.0) as i64).cast_unsigned());
            }
            // The second finds what the wrong frequency made of it, and takes out both, the offset by a slew.
            1 => {
                sum = measured / INTEGRAL;
                bench.set(slew, 1);
                bench.set(offset, ((-measured * 65536.0) as i64).cast_unsigned());
            }
            _ if bench.get(slewing) == 1 => {}
            _ => sum += measured,
        }
        let proportional = if update < 2 || bench.get(slewing) == 1 { 0.0 } else { PROPORTIONAL * measured };
        let correction = -(proportional + INTEGRAL * sum) / f64::from(UPDATE);
        bench.set(
            rate,
            u64::from(((correction * f64::from(1u32 << 31) * 2.0).round() as i32).cast_unsigned()),
        );
        if update >= 500 {
            worst = worst.max(error.abs());
            squares += error * error;
            counted += 1;
        }
    }

    let (noise, wander) = (response(1.0, 0.0), response(0.0, 1.0));
    let total = |response: &[f64]| response.iter().map(|answer| answer.abs()).sum::<f64>();
    let energy = |response: &[f64]| response.iter().map(|answer| answer * answer).sum::<f64>();
    let bound = NOISE * total(&noise) + WANDER * total(&wander) + 1e-3;
    let expected = ((NOISE * NOISE * energy(&noise) + WANDER * WANDER * energy(&wander)) / 3.0).sqrt();
    let found = (squares / f64::from(counted)).sqrt();
    println!(
        "worst {worst:.3} ns, bound {bound:.3} ns; root mean square {found:.3} ns, expected {expected:.3} ns"
    );
    assert!(bound < 2.0, "{bound}");
    assert!(worst < bound, "{worst} ns, bound {bound} ns");
    assert!((found / expected - 1.0).abs() < 0.15, "{found} ns, expected {expected} ns");
}
