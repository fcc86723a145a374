//! The twin rule on the emitted design; see `deltaline_cosim::checks` for the plan.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::checks;
use deltaline_hdl::emit::kind::Module;
use deltaline_hdl::emit::module::emit;
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::packet::hash::HashKind;
use verilator_sys::Toolchain;

fn toolchain() -> Toolchain {
    Toolchain::find().unwrap()
}

fn configurations() -> Vec<Configuration> {
    let base = Settings::default();
    [
        base,
        Settings { rows: 16, seed: 2, ..base },
        Settings {
            rows: 256,
            hash: HashKind::Rabin,
            prefixes: &[0, 3, 16],
            seed: 3,
            segment: 0xdead_beef,
            ..base
        },
    ]
    .map(|settings| Configuration::new(settings).unwrap())
    .to_vec()
}

#[test]
fn identity() {
    let configuration = configurations()[0];
    for module in [Module::Identity, Module::Identity256, Module::Identity512] {
        let verilog = emit(&configuration, module, "identity").unwrap();
        let frames = checks::identity::check(&toolchain(), &verilog, 40_000, 1).unwrap();
        assert!(frames > 40_000);
    }
}

#[test]
fn hash() {
    for configuration in configurations() {
        let verilog = emit(&configuration, Module::Hash, "hash").unwrap();
        checks::hash::check(&toolchain(), &configuration, &verilog, 20_000, 1).unwrap();
    }
}

#[test]
fn place() {
    for configuration in configurations() {
        let verilog = emit(&configuration, Module::Place, "place").unwrap();
        checks::place::check(&toolchain(), &configuration, &verilog, 20_000, 1).unwrap();
    }
}

#[test]
fn sampler() {
    for configuration in configurations() {
        let verilog = emit(&configuration, Module::Sampler, "sampler").unwrap();
        checks::sampler::check(&toolchain(), &configuration, &verilog, 20_000, 1).unwrap();
    }
}

#[test]
fn lda() {
    let configuration = configurations()[1];
    let verilog = emit(&configuration, Module::Lda, "lda").unwrap();
    checks::lda::check(&toolchain(), &verilog, 32, 200_000, 1).unwrap();
}

/// `cargo xtask cosim` takes millions of packets.
#[test]
fn core() {
    for configuration in configurations() {
        let verilog = emit(&configuration, Module::Core, "deltaline").unwrap();
        let packets = checks::core::check(&toolchain(), &configuration, &verilog, 20_000, 1).unwrap();
        assert!(packets >= 20_000);
    }
}

#[test]
fn wide_cores() {
    for (module, configuration) in [
        (Module::Core256, configurations()[1]),
        (Module::Core256, configurations()[2]),
        (Module::Core512, configurations()[1]),
    ] {
        let verilog = emit(&configuration, module, "deltaline").unwrap();
        let packets = checks::core::check(&toolchain(), &configuration, &verilog, 20_000, 1).unwrap();
        assert!(packets >= 20_000);
    }
}

fn with_classes(classes: u8, prefixes: &[u8]) -> Configuration {
    let entries = checks::core::entries(classes);
    let settings = Settings {
        rows: 16,
        seed: 2,
        segment: u32::MAX - 3,
        prefixes,
        entries: &entries,
        ..Settings::default()
    };
    let configuration = Configuration::new(settings).unwrap();
    assert_eq!(configuration.classes(), usize::from(classes));
    configuration
}

/// Two classes in every scenario.
#[test]
fn two_classes() {
    let configuration = with_classes(2, &[1, 6]);
    for module in [Module::Core, Module::Core256] {
        let verilog = emit(&configuration, module, "deltaline").unwrap();
        let packets = checks::core::check(&toolchain(), &configuration, &verilog, 10_000, 1).unwrap();
        assert!(packets >= 10_000);
    }
}

/// An entry alone; three classes, with banks that leave words between the classes out; four classes.
#[test]
fn classes() {
    for (module, classes, prefixes) in [
        (Module::Core, 1, &[1, 6][..]),
        (Module::Core, 3, &[0, 2, 5]),
        (Module::Core, 4, &[3]),
        (Module::Core512, 4, &[1, 6]),
    ] {
        let configuration = with_classes(classes, prefixes);
        let verilog = emit(&configuration, module, "deltaline").unwrap();
        let packets = checks::core::traffic(&toolchain(), &configuration, &verilog, 10_000, 1).unwrap();
        assert!(packets >= 10_000);
    }
}

#[test]
fn classifier() {
    for classes in 0..=4 {
        let entries = if classes == 0 { vec![] } else { checks::core::entries(classes) };
        let entries = Settings { entries: &entries, ..Settings::default() };
        let configuration = Configuration::new(entries).unwrap();
        let verilog = emit(&configuration, Module::Classifier, "classify").unwrap();
        checks::classifier::check(&toolchain(), &configuration, &verilog, 10_000, 1).unwrap();
    }
}

#[test]
fn frame_count() {
    checks::frame_count::check(&toolchain(), 20_000, 1).unwrap();
}

#[test]
fn several_lanes() {
    let configuration = configurations()[1];
    for module in [Module::TwoLanes512, Module::FourLanes512] {
        let verilog = emit(&configuration, module, "deltaline").unwrap();
        let packets = checks::lanes::check(&toolchain(), &configuration, &verilog, 40_000, 1).unwrap();
        assert!(packets >= 40_000);
    }
}

/// Every number of rows and every number of banks that is built.
#[test]
fn sizes() {
    let prefixes = [&[2][..], &[1, 6], &[0, 3, 16], &[0, 1, 3, 5]];
    for bits in 3..=10 {
        let settings = Settings {
            rows: 1 << bits,
            prefixes: prefixes[bits % 4],
            seed: bits as u64,
            ..Settings::default()
        };
        let configuration = Configuration::new(settings).unwrap();
        let verilog = emit(&configuration, Module::Core, "deltaline").unwrap();
        checks::core::traffic(&toolchain(), &configuration, &verilog, 1000, 2).unwrap();
    }
}
