//! The pins against the board support crate, the top's ports and the committed constraints.
#![allow(clippy::unwrap_used)]

use deltaline_firmware::pins::{ALCHITRY_CU_SELFTEST, alchitry_cu_selftest};
use deltaline_firmware::selftest::{BIT_CYCLES, emit};
use deltaline_hdl::verilog::ports;
use rust_hdl_bsp_alchitry_cu::pins::{CLOCK_SPEED_100MHZ, clock, leds};
use rust_hdl_core::prelude::*;
use std::collections::BTreeSet;

fn pad(port: &str) -> &str {
    ALCHITRY_CU_SELFTEST.iter().find(|pin| pin.port == port).unwrap().pad
}

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
    assert_eq!(locations(&clock()), [pad("clk")]);
    let leds = locations(&leds());
    let ours = ["led_alive", "led_loss", "led_overrun", "led_flow"].map(pad);
    assert_eq!(leds[..4], ours);
    let picoseconds = 1_000_000_000_000 / CLOCK_SPEED_100MHZ;
    assert_eq!(picoseconds, u64::from(deltaline_model::board::traffic::CYCLE_PICOSECONDS));
    let bit = CLOCK_SPEED_100MHZ / u64::from(deltaline_model::board::BAUD);
    assert_eq!(bit, u64::from(BIT_CYCLES));
}

#[test]
fn every_port_has_a_pin_of_its_own() {
    let verilog = emit(0, BIT_CYCLES, "selftest").unwrap();
    let ports = ports(&verilog, "selftest");
    assert!(ports.iter().all(|port| port.width == 1));
    let named: BTreeSet<&str> = ports.iter().map(|port| port.name.as_str()).collect();
    let placed: BTreeSet<&str> = ALCHITRY_CU_SELFTEST.iter().map(|pin| pin.port).collect();
    assert_eq!(named, placed);
    let pads: BTreeSet<&str> = ALCHITRY_CU_SELFTEST.iter().map(|pin| pin.pad).collect();
    assert_eq!(pads.len(), ALCHITRY_CU_SELFTEST.len());
}

#[test]
fn the_committed_constraints_are_those_of_the_pins() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../constraints/alchitry-cu-selftest.pcf");
    let written = alchitry_cu_selftest();
    assert_eq!(std::fs::read_to_string(file).unwrap(), written, "{file}: write it anew from pins.rs");
}
