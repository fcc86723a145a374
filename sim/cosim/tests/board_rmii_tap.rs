//! The RMII tap's emitted Verilog under Verilator: frames on the PHYs' pins, every control frame against both twins.
//!
//! # Test plan
//!
//! * Line rate: 148,809 frames of 64 bytes a second on both ports, over several intervals, some lost in between, cut by
//!   delimiters: every packet is counted, every cell is exact.
//! * Frames of random lengths up to 1518 bytes, near and far; carriers that end before the data (CRS_DV toggles) and with
//!   them; short and long preambles, zeros in front of them.
//! * Frames with a wrong check sequence, odd dibits, cut ones, false carriers, noise without a start delimiter.
//! * The clocks' phases: both PHYs' clocks drift through all of them, in every test.
//! * Identity at power-on, on request, behind a reset; a reset amid frames. LEDs.
//! * Faults planted in the modules that only this top has are noticed.
#![allow(clippy::unwrap_used, clippy::panic)]

use deltaline_cosim::boards::rmii_tap::{Damage, Shape, SimulatedTap};
use deltaline_cosim::boards::selftest::Difference;
use deltaline_firmware::rmii_tap::emit;
use deltaline_model::board::traffic::{Draw, Plan};
use deltaline_model::board::{Settings, Sizes};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use verilator_sys::{Effort, Model, Options, Source, Toolchain};

const BUILD: u32 = 0x0102_7e7d;
/// A serial line quick enough that the frames, not the records, take the time.
const QUICK: u8 = 8;

fn model(verilog: &str) -> Model {
    let options = Options { effort: Effort::Build, ..Options::default() };
    Model::build(&Toolchain::find().unwrap(), &Source { top: "rmii_tap", verilog }, options).unwrap()
}

fn start(model: &Model) -> SimulatedTap {
    // Registers and memories start random, but for those that an FPGA's configuration sets.
    SimulatedTap::new(model.instantiate_random(1).unwrap(), QUICK, BUILD).unwrap()
}

fn leds(tap: &SimulatedTap) -> [bool; 3] {
    ["led_ingress", "led_egress", "led_bad"].map(|name| tap.board().pin(name).unwrap())
}

fn shortest(loss: u16) -> Plan {
    Plan::new(&Settings { seed: 5, sizes: Sizes::Shortest, loss, ..Settings::default() })
}

#[test]
fn every_packet_counts_at_line_rate() {
    // 64 bytes, preamble and gap, at 50 million dibits a second.
    let dibits = 4 * 64 + Shape::DENSE.preamble + 1 + Shape::DENSE.gap;
    assert_eq!(50_000_000 / dibits, 148_809);
    let mut tap = start(&model(&emit(BUILD, QUICK, "rmii_tap").unwrap()));
    let mut plan = shortest(6_000);
    for interval in 0..3 {
        tap.send_packets(&mut plan, 1_600);
        tap.cut(interval);
        let began = tap.compared().cycles;
        tap.receive().unwrap();
        // As long as the frames take, which shows that none waited: 6.72 µs each.
        let took = tap.compared().cycles - began;
        assert!(took.abs_diff(1_601 * 672) < 1_000, "{took}");
        assert_eq!(leds(&tap), [true, true, false]);
        tap.compare().unwrap();
    }
    println!("{:?}", tap.compared());
}

/// Noise: no preamble, one of zeros, one that never ends or breaks off; false carriers; frames of less than five bytes.
fn noise(tap: &mut SimulatedTap) {
    let short = |bytes: usize| [&[1; 20][..], &vec![3; 1 + 4 * bytes]].concat();
    let broken = [&[1; 9][..], &[0], &[3; 60]].concat();
    for port in 0..2 {
        for dibits in [&[3; 60][..], &[0; 30], &[1; 90], &[2; 20], &broken, &[1; 5]] {
            tap.disturb(port, dibits);
        }
        (0..5).for_each(|bytes| tap.disturb(port, &short(bytes)));
    }
}

/// Frames of all kinds, good and bad, in an interval.
fn shapes(tap: &mut SimulatedTap, random: &mut StdRng, interval: u32, frames: u32) -> Result<(), Difference> {
    for number in 0..frames {
        let length = match number % 4 {
            0 => random.random_range(60..64),
            1 => random.random_range(60..1515),
            _ => random.random_range(60..200),
        };
        let draw = Draw { number, word: random.random(), length, gap: 0, jitter: 0, is_lost: false };
        for port in 0..2 {
            let toggles = 2 * random.random_range(0..9);
            let shape = Shape {
                zeros: random.random_range(0..4),
                preamble: random.random_range(3..40),
                toggles,
                // A carrier that ended before the data ends with a nibble.
                odd: if toggles == 0 { random.random_range(0..4) } else { 0 },
                gap: random.random_range(20..300),
            };
            let damage = match random.random_range(0..10) {
                0 => Damage::Changed,
                1 => Damage::Cut(random.random_range(5..length)),
                _ => Damage::None,
            };
            tap.send(port, &draw.packet()[..length], shape, damage);
        }
    }
    tap.cut(interval);
    tap.compare()
}

#[test]
fn every_shape_of_frame() {
    let mut tap = start(&model(&emit(BUILD, QUICK, "rmii_tap").unwrap()));
    let mut random = StdRng::seed_from_u64(6);
    noise(&mut tap);
    for interval in 0..2 {
        shapes(&mut tap, &mut random, interval, 350).unwrap();
        noise(&mut tap);
    }
    assert_eq!(leds(&tap), [true, true, true]);
    tap.identify().unwrap();
    println!("{:?}", tap.compared());
}

#[test]
fn a_reset_amid_frames_forgets_all_before() {
    let mut tap = start(&model(&emit(BUILD, QUICK, "rmii_tap").unwrap()));
    let mut plan = Plan::new(&Settings { seed: 7, sizes: Sizes::Longest, ..Settings::default() });
    tap.send_packets(&mut plan, 20);
    // Into the eighth of them, which take 1538 bytes each.
    tap.run(7 * 12_304 + 3_000).unwrap();
    tap.press_button().unwrap();
    for interval in 0..2 {
        tap.send_packets(&mut plan, 20);
        tap.cut(interval);
        tap.compare().unwrap();
    }
}

/// A fault in each module that only this top has: module, a statement in it, and what replaces its result.
const FAULTS: [(&str, &str, &str); 10] = [
    ("egress_pad", "clk = pin;", "clk = ~pin;"),
    ("ingress_frames", "is_silent = ~valid_q & ~was_valid_q;", "is_silent = ~valid_q;"),
    ("ingress_frames", "is_full = held_q == 32'h5;", "is_full = held_q == 3'h4;"),
    ("egress_frames", "is_bad_d = ~is_right_q;", "is_bad_d = 1'b0;"),
    ("egress_frames", "after_second = after_first >> 32'h1;", "after_second = after_first;"),
    ("ingress_bytes", "bad_here_d = bad;", "bad_here_d = 1'b0;"),
    ("egress_bytes", "comes = met_q ^ seen_q;", "comes = meeting_q ^ met_q;"),
    ("records", "is_last_d = index_q == last_of_identity;", "is_last_d = index_q == 5'h1b;"),
    ("ingress_frames", "state_d = 32'h2;", "state_d = 2'h3;"),
    ("records", "octet_d = receiver_tdata;", "octet_d = sender_tdata;"),
];

/// The Verilog with all faults, of which a new port of the top picks one.
fn with_faults(verilog: &str) -> String {
    let mut text = verilog.replacen("module rmii_tap(clk,", "module rmii_tap(clk,fault,", 1).replacen(
        "input wire  clk;",
        "input wire [7:0] fault;\n    input wire  clk;",
        1,
    );
    assert!(text.contains("module rmii_tap(clk,fault,") && text.contains("fault;"));
    for (number, (module, good, bad)) in FAULTS.iter().enumerate() {
        let start = text.find(&format!("\nmodule rmii_tap_{module}(")).unwrap();
        let end = start + text[start..].find("\nendmodule").unwrap();
        let body = &text[start..end];
        assert!(body.contains(good), "{module} has no '{good}'");
        let number = number + 1;
        let faulty = body.replacen(good, &format!("{good}\n if (rmii_tap.fault == 8'd{number}) {bad}"), 1);
        text = format!("{}{faulty}{}", &text[..start], &text[end..]);
    }
    text
}

/// Some of everything, as short as it can be.
fn short_tour(mut tap: SimulatedTap) -> Result<(), Difference> {
    noise(&mut tap);
    shapes(&mut tap, &mut StdRng::seed_from_u64(8), 0, 60)?;
    tap.send_packets(&mut shortest(6_000), 100);
    tap.cut(1);
    tap.compare()?;
    tap.identify()
}

#[test]
fn every_planted_fault_is_noticed() {
    let model = model(&with_faults(&emit(BUILD, QUICK, "rmii_tap").unwrap()));
    for fault in 0..=FAULTS.len() {
        let mut instance = model.instantiate_random(1).unwrap();
        instance.set(model.port("fault").unwrap(), fault as u64);
        let found = SimulatedTap::new(instance, QUICK, BUILD).and_then(short_tour);
        match (fault, found) {
            (0, found) => found.unwrap(),
            (_, Ok(())) => panic!("{:?} is not noticed", FAULTS[fault - 1]),
            (_, Err(error)) => println!("{}: {error}", FAULTS[fault - 1].0),
        }
    }
}
