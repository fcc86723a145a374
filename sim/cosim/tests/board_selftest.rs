//! The self-test's emitted Verilog under Verilator against its twin: every byte on the serial line.
//!
//! # Test plan
//!
//! * Identity at power-on, on request, behind a reset by command and by button.
//! * Every kind of sizes, gaps, delays, jitters, losses and bursts; a delay line that is full; nothing received.
//! * Random settings. Settings that come while intervals run. Several intervals.
//! * Commands with a wrong check sequence, length or kind, and garbage, have no effect.
//! * LEDs.
//! * A fault planted in each module is noticed.
//! * At the speed of the board, as well as with a faster serial line that leaves room for more intervals.
#![allow(clippy::unwrap_used, clippy::panic)]

use deltaline_cosim::boards::selftest::{Comparison, Difference, SimulatedBoard};
use deltaline_firmware::selftest::{BIT_CYCLES, emit};
use deltaline_model::board::framing;
use deltaline_model::board::{Command, Settings, Sizes};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use verilator_sys::{Effort, Model, Options, Source, Toolchain};

const BUILD: u32 = 0x0102_7e7d;
/// A serial line quick enough that records, not bytes, take the time.
const QUICK: u8 = 8;

const BASE: Settings = Settings {
    number: 1,
    intervals: 2,
    seed: 0x1234_5678,
    sizes: Sizes::Shortest,
    gap_spread: 0,
    gap: 0,
    delay: 500,
    jitter: 0,
    burst: 0,
    loss: 0,
    bursts: 0,
    packets: 300,
};

fn model(verilog: &str) -> Model {
    let options = Options { effort: Effort::Build, ..Options::default() };
    Model::build(&Toolchain::find().unwrap(), &Source { top: "selftest", verilog }, options).unwrap()
}

fn start(model: &Model, bit_cycles: u8) -> Result<Comparison, Difference> {
    // Registers and memories start random, but for those that an FPGA's configuration sets.
    Comparison::new(SimulatedBoard::new(model.instantiate_random(1)?, bit_cycles)?, BUILD)
}

/// What each setting does, one after the other.
fn tour() -> Vec<Settings> {
    vec![
        BASE,
        Settings { sizes: Sizes::Uniform, gap: 3, ..BASE },
        Settings { sizes: Sizes::Bimodal, gap_spread: 7, ..BASE },
        Settings { sizes: Sizes::Longest, packets: 40, delay: 3000, ..BASE },
        Settings { delay: 0, jitter: 3, ..BASE },
        Settings { delay: 16, jitter: 12, ..BASE },
        Settings { loss: 20_000, jitter: 6, ..BASE },
        Settings { bursts: 2000, burst: 20, jitter: 10, ..BASE },
        Settings { bursts: 9000, burst: 1, loss: 9000, sizes: Sizes::Uniform, ..BASE },
        // Back to back into a full line.
        Settings { delay: 60_000, jitter: 15, packets: 700, ..BASE },
        // Nothing is received.
        Settings { bursts: 65_535, burst: 255, packets: 100, loss: 65_535, ..BASE },
        Settings { packets: 1, intervals: 5, ..BASE },
        Settings { gap: 65_535, gap_spread: 15, packets: 5, seed: 0, ..BASE },
        // Greatest delay without a full line.
        Settings { delay: 65_535, jitter: 15, gap: 2000, gap_spread: 12, ..BASE },
        Settings { intervals: 0, ..BASE },
    ]
}

#[test]
fn every_setting_gives_the_twins_bytes() {
    let model = model(&emit(BUILD, QUICK, "selftest").unwrap());
    let mut comparison = start(&model, QUICK).unwrap();
    for (number, settings) in tour().into_iter().enumerate() {
        let settings = Settings { number: number as u8, ..settings };
        comparison
            .command(&Command::Settings(settings))
            .unwrap_or_else(|error| panic!("{settings:?}: {error}"));
        let expected = (settings.loss > 0 || settings.bursts > 0, settings.delay == 60_000);
        if settings.intervals > 0 {
            let pin = |name| comparison.pin(name);
            assert_eq!((pin("led_loss"), pin("led_overrun")), expected, "{settings:?}");
        }
    }
    comparison.command(&Command::Identify).unwrap();
    println!("{:?}", comparison.compared());
}

fn random(random: &mut StdRng) -> Settings {
    let sizes = [Sizes::Shortest, Sizes::Uniform, Sizes::Bimodal, Sizes::Longest];
    let sizes = sizes[random.random_range(0..4)];
    // At most as long as a drain or so, that many settings can be tried.
    let packets = random.random_range(1..if sizes == Sizes::Shortest { 2000 } else { 200 });
    Settings {
        number: random.random(),
        intervals: random.random_range(1..3),
        seed: random.random(),
        sizes,
        gap_spread: random.random_range(0..9),
        gap: random.random_range(0..100),
        delay: random.random::<u16>() >> random.random_range(0..16),
        jitter: random.random_range(0..16),
        burst: random.random::<u8>() >> random.random_range(0..8),
        loss: random.random::<u16>() >> random.random_range(0..16),
        bursts: random.random::<u16>() >> random.random_range(0..16),
        packets,
    }
}

#[test]
fn random_settings_give_the_twins_bytes() {
    let model = model(&emit(BUILD, QUICK, "selftest").unwrap());
    let mut comparison = start(&model, QUICK).unwrap();
    let mut generator = StdRng::seed_from_u64(4);
    for _ in 0..24 {
        let settings = random(&mut generator);
        comparison
            .command(&Command::Settings(settings))
            .unwrap_or_else(|error| panic!("{settings:?}: {error}"));
    }
    let compared = comparison.compared();
    println!("{compared:?}");
    assert!(compared.intervals > 24 && compared.packets > 4_000);
}

#[test]
fn commands_rule_from_the_next_interval_and_what_is_none_has_no_effect() {
    let model = model(&emit(BUILD, QUICK, "selftest").unwrap());
    let mut comparison = start(&model, QUICK).unwrap();
    let longer = Settings { packets: 3000, gap: 100, ..BASE };
    comparison.replace_endless(&longer, &Settings { intervals: 1, number: 77, ..BASE }, 3).unwrap();
    comparison.replace_endless(&longer, &Settings { intervals: 0, ..BASE }, 1).unwrap();

    let mut message = vec![];
    framing::encode(Command::Settings(BASE).encode().as_bytes(), |byte| message.push(byte));
    for bit in 0..message.len() * 8 {
        let mut broken = message.clone();
        broken[bit / 8] ^= 1 << (bit % 8);
        comparison.disturb(&broken);
    }
    // A byte less, a byte more, another kind, a given up message, each with a right check sequence.
    let payload = Command::Settings(BASE).encode();
    let mut wrong = vec![payload.as_bytes()[..23].to_vec(), [payload.as_bytes(), &[0]].concat()];
    wrong.push([&[0x83], &payload.as_bytes()[1..]].concat());
    wrong.extend([vec![0x80, 0], vec![0x83], vec![0x82, 0, 0], vec![]]);
    for payload in wrong {
        let mut bytes = vec![];
        framing::encode(&payload, |byte| bytes.push(byte));
        comparison.disturb(&bytes);
    }
    message.insert(message.len() - 1, framing::ESCAPE);
    comparison.disturb(&message);
    comparison.disturb(&[0x55; 40]);

    comparison.command(&Command::Identify).unwrap();
    comparison.command(&Command::Settings(BASE)).unwrap();
    comparison.command(&Command::Reset).unwrap();
    comparison.command(&Command::Settings(BASE)).unwrap();
    comparison.press_button().unwrap();
    comparison.command(&Command::Settings(Settings { number: 0x7e, seed: 0x7d7e_7d7e, ..BASE })).unwrap();
}

#[test]
fn at_the_speed_of_the_board() {
    let model = model(&emit(BUILD, BIT_CYCLES, "selftest").unwrap());
    let mut comparison = start(&model, BIT_CYCLES).unwrap();
    let settings = Settings { sizes: Sizes::Uniform, loss: 2000, jitter: 9, packets: 4000, ..BASE };
    comparison.command(&Command::Settings(settings)).unwrap();
    println!("{:?}", comparison.compared());
}

/// A fault in each module: module, a statement in it, and what replaces its result.
const FAULTS: [(&str, &str, &str); 18] = [
    ("clock_now", "total = ((low_q) & 25'h1ffffff) + 32'ha;", "total = low_q + 32'hb;"),
    ("sender_plan", "burst_left_d = burst - 32'h1;", "burst_left_d = burst;"),
    ("receiver_plan", "third_shift = second_shift ^ (second_shift << 32'h5);", "third_shift = second_shift;"),
    ("sender_pacer", "gap_d = gap_now;", "gap_d = gap_now + 17'h1;"),
    (
        "sender_packet",
        "at_last_d = active_q & (index_q == before_last);",
        "at_last_d = active_q & (index_q == before_last + 11'h1);",
    ),
    ("receiver_packet", "picked_2 = number[(32'h0)+:(8)];", "picked_2 = 8'h0;"),
    ("line", "difference = now - due_q;", "difference = now - due_q + 18'h1;"),
    ("line", "full = count_q[32'h8];", "full = 1'b0;"),
    ("truth", "square_carry_d = square_total[32'h10];", "square_carry_d = 1'b0;"),
    ("truth", "most_d = delay_q;", "most_d = most_q;"),
    ("conductor", "left_d = left_q - 32'h1;", "left_d = left_q;"),
    ("commands", "gap_above = all_bits << gap_exponent;", "gap_above = all_bits << 4'h0;"),
    (
        "framer",
        "is_special = (byte_now_q == 32'h7e) | (byte_now_q == 32'h7d);",
        "is_special = byte_now_q == 8'h7e;",
    ),
    ("receiver_slice", "tready = ~is_full_q;", "tready = 1'b1;"),
    ("records", "sender_left_d = frames;", "sender_left_d = frames - 8'h1;"),
    ("records", "word_d = word_q << 32'h8;", "word_d = word_q;"),
    ("transmitter", "low_d = ~shift_q[32'h0];", "low_d = shift_q[32'h0];"),
    ("receiver_line", "sampled = (shift_q >> 32'h1) | 32'h80;", "sampled = shift_q >> 32'h1;"),
];

/// The Verilog with all faults, of which a new port of the top picks one.
fn with_faults(verilog: &str) -> String {
    let mut text = verilog.replacen("module selftest(clk,", "module selftest(clk,fault,", 1).replacen(
        "input wire  clk;",
        "input wire [7:0] fault;\n    input wire  clk;",
        1,
    );
    assert!(text.contains("module selftest(clk,fault,") && text.contains("fault;"));
    for (number, (module, good, bad)) in FAULTS.iter().enumerate() {
        let start = text.find(&format!("\nmodule selftest_{module}(")).unwrap();
        let end = start + text[start..].find("\nendmodule").unwrap();
        let body = &text[start..end];
        assert!(body.contains(good), "{module} has no '{good}'");
        let number = number + 1;
        let faulty = body.replacen(good, &format!("{good}\n if (selftest.fault == 8'd{number}) {bad}"), 1);
        text = format!("{}{faulty}{}", &text[..start], &text[end..]);
    }
    text
}

/// Some of everything, as short as it can be.
fn short_tour(comparison: &mut Comparison) -> Result<(), Difference> {
    let few = Settings { intervals: 2, packets: 30, ..BASE };
    let all = Settings {
        sizes: Sizes::Uniform,
        gap_spread: 5,
        jitter: 8,
        loss: 4000,
        bursts: 4000,
        burst: 4,
        packets: 300,
        ..few
    };
    for settings in [all, Settings { delay: 60_000, packets: 400, intervals: 1, ..BASE }, few] {
        comparison.command(&Command::Settings(settings))?;
    }
    comparison.command(&Command::Identify)
}

#[test]
fn every_planted_fault_is_noticed() {
    let model = model(&with_faults(&emit(BUILD, QUICK, "selftest").unwrap()));
    for fault in 0..=FAULTS.len() {
        let mut instance = model.instantiate_random(1).unwrap();
        instance.set(model.port("fault").unwrap(), fault as u64);
        let board = SimulatedBoard::new(instance, QUICK).unwrap();
        let found = Comparison::new(board, BUILD).and_then(|mut comparison| short_tour(&mut comparison));
        match (fault, found) {
            (0, found) => found.unwrap(),
            (_, Ok(())) => panic!("{:?} is not noticed", FAULTS[fault - 1]),
            (_, Err(error)) => println!("{}: {error}", FAULTS[fault - 1].0),
        }
    }
}
