//! RustHDL's own simulator and Verilator agree on every output in every cycle.
//!
//! The two disagree silently on some expressions (a cast of a sum, a comparison with a sum, a complement in a wider
//! context), so this shows that the design uses none of them. RustHDL simulates some ten thousand cycles a second:
//! these runs are short and full of events.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::bench::Bench;
use deltaline_cosim::mutations::with_classes;
use deltaline_cosim::stream::beats;
use deltaline_hdl::emit::block::emit_block;
use deltaline_hdl::emit::kind::Module;
use deltaline_hdl::emit::module::emit;
use deltaline_hdl::interval::schedule::Schedule;
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::time::Timestamp;
use deltaline_traffic::Frames;
use num_bigint::BigUint;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use rust_hdl_core::prelude::*;
use verilator_sys::{Port, Toolchain};

/// A signal's value as a number.
trait Number: Copy {
    fn number(self) -> BigUint;
    fn of(number: u128) -> Self;
}

impl Number for bool {
    fn number(self) -> BigUint {
        u32::from(self).into()
    }

    fn of(number: u128) -> Self {
        number & 1 == 1
    }
}

impl<const N: usize> Number for Bits<N> {
    fn number(self) -> BigUint {
        self.into()
    }

    fn of(number: u128) -> Self {
        BigUint::from(number & (u128::MAX >> (128 - N))).into()
    }
}

fn settle(block: &mut impl Block) {
    let settled = (0..100).any(|_| {
        block.update_all();
        !block.has_changed()
    });
    assert!(settled, "the design does not settle");
}

/// What a port of the Verilog holds, as a number.
fn port_number(bench: &Bench, port: Port) -> BigUint {
    if port.width() <= 128 {
        return bench.get_wide(port).into();
    }
    let mut words = vec![0; port.width().div_ceil(32) as usize];
    bench.get_words(port, &mut words);
    BigUint::new(words)
}

/// Drives a block and its Verilog alike; `$stimulus` is asked for the inputs' values in each cycle.
macro_rules! lockstep {
    ($block:expr, $bench:expr, $cycles:expr, [$($rst:ident)?],
     inputs [$($input:ident $([$i:literal])?),* $(,)?], outputs [$($output:ident $([$o:literal])?),* $(,)?],
     $stimulus:expr) => {{
        let (mut block, mut bench, mut stimulus) = ($block, $bench, $stimulus);
        block.connect_all();
        let port = |name: &str| -> Port { bench.port(name).unwrap() };
        let inputs = [$(port(concat!(stringify!($input) $(, "_", $i)?))),*];
        let outputs = [$(port(concat!(stringify!($output) $(, "_", $o)?))),*];
        let names = [$(concat!(stringify!($output) $(, "_", $o)?)),*];
        let mut changes = 0u64;
        let mut before = vec![];
        // The bench has been reset for two cycles already.
        for cycle in 0..$cycles + 2 {
            let reset = cycle < 2;
            let values: [u128; { [$(stringify!($input)),*].len() }] =
                if reset { [0; { [$(stringify!($input)),*].len() }] } else { stimulus(cycle as usize - 2) };
            block.clk.next = Clock { clk: false };
            $(block.$rst.next = reset;)?
            let mut given = values.iter();
            $(block.$input$([$i])?.next = Number::of(*given.next().unwrap());)*
            settle(&mut block);
            block.clk.next = Clock { clk: true };
            settle(&mut block);
            if reset {
                continue;
            }
            for (port, value) in inputs.iter().zip(values) {
                bench.set_wide(*port, value);
            }
            bench.tick().unwrap();
            let found: Vec<BigUint> = vec![$(block.$output$([$o])?.val().number()),*];
            for ((name, port), found) in names.iter().zip(outputs).zip(&found) {
                assert_eq!(*found, port_number(&bench, port), "{name} in cycle {cycle}");
            }
            changes += u64::from(found != before);
            before = found;
        }
        // A run in which nothing happens shows nothing.
        assert!(changes > $cycles / 20, "outputs changed in {changes} cycles only");
    }};
}

fn small() -> Configuration {
    Configuration::new(Settings { rows: 16, ..Settings::default() }).unwrap()
}

fn bench(module: Module, name: &str) -> Bench {
    let verilog = emit(&small(), module, name).unwrap();
    Bench::zeroed(&Toolchain::find().unwrap(), name, &verilog).unwrap()
}

/// A stream of frames as values of tdata, tkeep, tvalid, tready, tlast, tuser.
fn stream(seed: u64) -> impl FnMut() -> [u128; 6] {
    let (mut frames, mut random) = (Frames::new(seed), StdRng::seed_from_u64(seed));
    let mut waiting = vec![];
    move || {
        if waiting.is_empty() {
            let time = Timestamp(random.random());
            let bad = random.random_ratio(1, 16);
            waiting = beats(8, &frames.next_frame(), time, bad).collect();
            waiting.reverse();
        }
        let beat = waiting[waiting.len() - 1];
        let (valid, ready) = (random.random_ratio(7, 8), random.random_ratio(7, 8));
        if valid && ready {
            waiting.pop();
        }
        let user = u128::from(beat.timestamp) << 1 | u128::from(beat.bad);
        [beat.data[0].into(), beat.keep.into(), valid.into(), ready.into(), beat.last.into(), user]
    }
}

#[test]
fn identity() {
    let mut stream = stream(1);
    lockstep!(
        deltaline_hdl::identity::Identity::new(&small()), bench(Module::Identity, "identity"), 3000u64, [rst],
        inputs [running, s_axis_tdata, s_axis_tkeep, s_axis_tvalid, s_axis_tready, s_axis_tlast, s_axis_tuser],
        outputs [commit, measured, bad, timestamp, ip_length, key],
        |cycle: usize| {
            let [data, keep, valid, ready, last, user] = stream();
            [u128::from(cycle > 50), data, keep, valid, ready, last, user]
        }
    );
}

#[test]
fn hash() {
    let mut random = StdRng::seed_from_u64(2);
    lockstep!(
        deltaline_hdl::emit::stages::Clocked::new(deltaline_hdl::sketch::place::outer_bits(&small())), bench(Module::Hash, "hash"), 2000u64, [],
        inputs [
            word[0], word[1], word[2], word[3], word[4], word[5], word[6], word[7], word[8], word[9], word[10],
            word[11], word[12], word[13], word[14], word[15], word[16],
        ],
        outputs [bits],
        |_| random.random::<[u32; 17]>().map(u128::from)
    );
}

#[test]
fn place() {
    let mut random = StdRng::seed_from_u64(9);
    lockstep!(
        deltaline_hdl::sketch::place::Place::new(&small()),
        bench(Module::Place, "place"),
        1000u64,
        [rst],
        inputs[key],
        outputs[value],
        |_| [random.random::<u32>().into()]
    );
}

#[test]
fn classifier() {
    let (configuration, mut random) = (with_classes().unwrap(), StdRng::seed_from_u64(8));
    let verilog = emit(&configuration, Module::Classifier, "classify").unwrap();
    let bench = Bench::zeroed(&Toolchain::find().unwrap(), "classify", &verilog).unwrap();
    lockstep!(
        deltaline_hdl::emit::stages::Classified::new(deltaline_hdl::leaves::Classifier::new(&configuration)), bench, 2000u64, [],
        inputs [
            word[0], word[1], word[2], word[3], word[4], word[5], word[6], word[7], word[8], word[9], word[10],
            word[11], word[12], word[13], word[14], word[15], word[16],
        ],
        outputs [matched, kind],
        |_| random.random::<[u32; 17]>().map(u128::from)
    );
}

#[test]
fn sampler() {
    let mut random = StdRng::seed_from_u64(3);
    lockstep!(
        deltaline_hdl::sketch::sampler::Sampler::<4, 5>::new(&small()), bench(Module::Sampler, "sampler"), 3000u64, [rst],
        inputs [valid, row, prefix],
        outputs [sampled, address],
        |_| [random.random(), random.random(), (random.random::<u128>() % 65536) >> random.random_range(0..16)]
    );
}

#[test]
fn schedule() {
    let settings = Settings { rows: 16, adaptive: true, ..Settings::default() };
    let block = || Schedule::new(&Configuration::new(settings).unwrap());
    let verilog = emit_block(&mut block(), "schedule").unwrap();
    let bench = Bench::zeroed(&Toolchain::find().unwrap(), "schedule", &verilog).unwrap();
    let (mut random, mut number) = (StdRng::seed_from_u64(6), u32::MAX - 9);
    lockstep!(
        block(), bench, 4000u64, [rst],
        inputs [load, lengths, from, ends, begun],
        outputs [legal, pending, masks, ended],
        |_| {
            let ends = random.random_ratio(1, 12);
            let running = number;
            number = number.wrapping_add(u32::from(ends));
            let (first, second) = (random.random_range(0..18u128), random.random_range(0..18u128));
            let lengths = if random.random_ratio(7, 8) { u128::MAX >> 80 } else { random.random() };
            let from = running.wrapping_add(random.random_range(0..5)).wrapping_sub(1);
            [
                random.random_ratio(1, 8).into(), first << 56 | second << 48 | lengths & (u128::MAX >> 80), from.into(),
                ends.into(), running.into(),
            ]
        }
    );
}

#[test]
fn lda() {
    let mut random = StdRng::seed_from_u64(4);
    lockstep!(
        deltaline_hdl::sketch::lda::Lda::<5>::default(), bench(Module::Lda, "lda"), 4000u64, [rst],
        inputs [update, epoch, address, timestamp, drain_address, drain_epoch, clear[0], clear[1]],
        outputs [overflow, overflow_epoch, drained_cell],
        // The copies swap every 256 cycles; the idle one is drained, and now and then a word of it cleared.
        |cycle: usize| {
            let epoch = cycle / 256 % 2;
            let clear = cycle % 256 > 16 && random.random_ratio(1, 64);
            [
                random.random_ratio(3, 4).into(), epoch as u128, random.random_range(0..4), random.random(),
                (cycle / 4 % 4) as u128, 1 - epoch as u128,
                u128::from(clear && epoch == 1), u128::from(clear && epoch == 0),
            ]
        }
    );
}

/// Of one class and of two.
#[test]
fn core() {
    core_of(deltaline_hdl::point::core::Core::<4, 5, 1>::new(&small()), &small());
    let classes = with_classes().unwrap();
    core_of(deltaline_hdl::point::core::Core::<4, 6, 2>::new(&classes), &classes);
}

fn core_of<const A: usize, const C: usize>(
    core: deltaline_hdl::point::core::Core<4, A, C>,
    configuration: &Configuration,
) {
    let (mut stream, mut random) = (stream(5), StdRng::seed_from_u64(5));
    let verilog = emit(configuration, Module::Core, "deltaline").unwrap();
    let bench = Bench::zeroed(&Toolchain::find().unwrap(), "deltaline", &verilog).unwrap();
    lockstep!(
        core, bench, 5000u64, [rst],
        inputs [
            s_axis_tdata, s_axis_tkeep, s_axis_tvalid, s_axis_tready, s_axis_tlast, s_axis_tuser, interval_end,
            interval_log2, ptp_ts, ptp_locked, receiver, m_axis_tready,
        ],
        outputs [running, packets, bytes, unmeasured, unmatched, m_axis_tdata, m_axis_tkeep, m_axis_tvalid, m_axis_tlast, m_axis_tuser],
        |cycle: usize| {
            let [data, keep, valid, ready, last, user] = stream();
            let log2 = if cycle > 3000 { 10 } else { 0 };
            let end = random.random_ratio(1, 700);
            [
                data, keep, valid, ready, last, user, end.into(), log2, (cycle as u128 * 7) << 16,
                random.random_ratio(999, 1000).into(), 1, random.random_ratio(3, 4).into(),
            ]
        }
    );
}
