//! The byte core against the model; see `deltaline_cosim::checks::byte` for the scenarios.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::checks::byte::{
    FAULTS, SLICES_FAULTS, TOP, check, preloaded_counters, preloaded_slices, traffic,
};
use deltaline_cosim::faults::missed;
use deltaline_hdl::byte::emit;
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::packet::hash::HashKind;
use deltaline_model::wire::shape::Kind;
use verilator_sys::{LintOptions, Source, Toolchain, lint};

fn toolchain() -> Toolchain {
    Toolchain::find().unwrap()
}

fn configuration(settings: Settings) -> Configuration {
    Configuration::new(settings).unwrap()
}

/// Slices in so many rows, half as many records, cut at so many zeros.
fn slices(rows: usize, zeros: &[u8; 1]) -> Settings<'_> {
    Settings { synopsis: Kind::SLICES, rows, prefixes: zeros, ..Settings::default() }
}

#[test]
fn whole_core() {
    let base = Settings::default();
    for settings in [
        Settings { rows: 16, prefixes: &[0, 2], ..base },
        Settings { rows: 16, seed: 2, hash: HashKind::Rabin, segment: 0xdead_beef, ..base },
        slices(32, &[2]),
    ] {
        let configuration = configuration(settings);
        let verilog = emit(&configuration, TOP).unwrap();
        let packets = check(&toolchain(), &configuration, &verilog, 10_000, 1).unwrap();
        assert!(packets >= 10_000);
    }
}

#[test]
fn counters_near_their_ends() {
    let configuration = configuration(Settings { rows: 16, ..Settings::default() });
    let verilog = emit(&configuration, TOP).unwrap();
    preloaded_counters(&toolchain(), &configuration, &verilog).unwrap();
}

#[test]
fn counts_of_slices_near_their_ends() {
    let configuration = configuration(slices(128, &[4]));
    let verilog = emit(&configuration, TOP).unwrap();
    preloaded_slices(&toolchain(), &configuration, &verilog).unwrap();
}

/// The smallest and the largest sizes, with one and with several fragments a bank; prefixes of no and of 16 bits.
#[test]
fn sizes() {
    let base = Settings::default();
    for settings in [
        Settings { rows: 8, prefixes: &[2], ..base },
        Settings { rows: 8, prefixes: &[0, 1, 3, 5], ..base },
        Settings { rows: 1024, prefixes: &[0, 1, 3, 5], ..base },
        Settings { rows: 128, ..base },
        Settings {
            rows: 256,
            hash: HashKind::Rabin,
            prefixes: &[0, 3, 16],
            seed: 3,
            segment: 0xdead_beef,
            ..base
        },
        slices(1024, &[1]),
        Settings { hash: HashKind::Rabin, seed: 3, ..slices(256, &[5]) },
        slices(128, &[16]),
    ] {
        let configuration = configuration(settings);
        let verilog = emit(&configuration, TOP).unwrap();
        traffic(&toolchain(), &configuration, &verilog, 2000, 2).unwrap();
    }
}

/// Every planted fault is caught, and the design without faults passes the same check.
#[test]
fn faults() {
    let configuration = configuration(Settings { rows: 16, prefixes: &[1, 3], ..Settings::default() });
    let verilog = emit(&configuration, TOP).unwrap();
    let check = |verilog: &str| check(&toolchain(), &configuration, verilog, 2000, 7);
    let blind = missed(&verilog, TOP, &FAULTS, check).unwrap();
    assert!(blind.is_empty(), "{blind:#?}");
}

/// The same of slices.
#[test]
fn faults_of_slices() {
    let configuration = configuration(slices(32, &[2]));
    let verilog = emit(&configuration, TOP).unwrap();
    let check = |verilog: &str| check(&toolchain(), &configuration, verilog, 2000, 7);
    let blind = missed(&verilog, TOP, &SLICES_FAULTS, check).unwrap();
    assert!(blind.is_empty(), "{blind:#?}");
}

/// Verilator -Wall finds nothing but what the 64-bit core's waivers explain.
#[test]
fn no_warnings() {
    let waivers = include_str!("../../../hdl/lint/verilator.vlt");
    for settings in [Settings { rows: 128, ..Settings::default() }, slices(128, &[6])] {
        let verilog = emit(&configuration(settings), TOP).unwrap();
        let source = Source { top: TOP, verilog: &verilog };
        assert_eq!(lint(&toolchain(), &source, LintOptions { waivers, arguments: &[] }).unwrap(), []);
    }
}
