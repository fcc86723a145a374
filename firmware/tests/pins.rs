//! The pins against the board support crate, the tops' ports and the committed constraints.
#![allow(clippy::unwrap_used)]

use deltaline_firmware::pins::{
    ALCHITRY_CU_RMII_TAP, ALCHITRY_CU_SELFTEST, Pin, alchitry_cu_rmii_tap, alchitry_cu_selftest,
};
use deltaline_firmware::selftest::BIT_CYCLES;
use deltaline_firmware::{rmii_tap, selftest};
use deltaline_hdl::emit::reader::ports;
use rust_hdl_bsp_alchitry_cu::pins::{CLOCK_SPEED_100MHZ, clock, leds, map_alchitry_pin_to_cu_pad};
use rust_hdl_core::prelude::*;
use std::collections::BTreeSet;

const TOPS: [&[Pin]; 2] = [&ALCHITRY_CU_SELFTEST, &ALCHITRY_CU_RMII_TAP];

fn locations(signal: &dyn Atom) -> Vec<String> {
    let constraints = signal.constraints();
    let located = constraints.into_iter().filter_map(|pin| match pin.constraint {
        Constraint::Location(pad) => Some(pad),
        _ => None,
    });
    located.collect()
}

#[test]
fn clock_and_leds_are_those_of_the_board_support_crate() {
    for pins in TOPS {
        let pads = |prefix: &str| -> Vec<&str> {
            pins.iter().filter(|pin| pin.port.starts_with(prefix)).map(|pin| pin.pad).collect()
        };
        assert_eq!(locations(&clock()), pads("clk"));
        assert_eq!(locations(&leds())[..4], pads("led_"));
    }
    let picoseconds = 1_000_000_000_000 / CLOCK_SPEED_100MHZ;
    assert_eq!(picoseconds, u64::from(deltaline_model::board::traffic::CYCLE_PICOSECONDS));
    let bit = CLOCK_SPEED_100MHZ / u64::from(deltaline_model::board::BAUD);
    assert_eq!(bit, u64::from(BIT_CYCLES));
}

#[test]
fn header_pins_are_those_of_the_board_support_crate() {
    let mut count = 0;
    for pin in &ALCHITRY_CU_RMII_TAP {
        if let Some((name, _)) = pin.what.strip_prefix("header ").and_then(|rest| rest.split_once(':')) {
            assert_eq!(map_alchitry_pin_to_cu_pad(name), pin.pad, "{}", pin.port);
            count += 1;
        }
    }
    assert_eq!(count, 8);
}

#[test]
fn every_port_has_a_pin_of_its_own() {
    let emitted = [selftest::emit(0, BIT_CYCLES, "top"), rmii_tap::emit(0, BIT_CYCLES, "top")];
    for (verilog, pins) in emitted.into_iter().zip(TOPS) {
        let verilog = verilog.unwrap();
        let ports = ports(&verilog, "top");
        assert!(ports.iter().all(|port| port.width == 1));
        let named: BTreeSet<&str> = ports.iter().map(|port| port.name).collect();
        let placed: BTreeSet<&str> = pins.iter().map(|pin| pin.port).collect();
        assert_eq!(named, placed);
        let pads: BTreeSet<&str> = pins.iter().map(|pin| pin.pad).collect();
        assert_eq!(pads.len(), pins.len());
    }
}

#[test]
fn the_committed_constraints_are_those_of_the_pins() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../constraints");
    let written = [("selftest", alchitry_cu_selftest()), ("rmii-tap", alchitry_cu_rmii_tap())];
    for (top, written) in written {
        let file = format!("{folder}/alchitry-cu-{top}.pcf");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), written, "{file}: write it anew from pins.rs");
    }
}
