//! Insertion into the stream, at every width; see `deltaline_cosim::checks::inline` for the plan.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::checks::inline::{TOP, check};
use deltaline_hdl::inline::{Width, emit};
use deltaline_model::configuration::{Configuration, Settings};
use verilator_sys::Toolchain;

fn configuration() -> Configuration {
    Configuration::new(Settings { segment: 0x0102_0304, seed: 5, ..Settings::default() }).unwrap()
}

fn insertion(width: Width) {
    let verilog = emit(&configuration(), width, TOP).unwrap();
    let toolchain = Toolchain::find().unwrap();
    let (traffic, inserted) = check(&toolchain, &configuration(), width, &verilog, 2000, 1).unwrap();
    println!("{width:?}: {traffic} frames of traffic, {inserted} inserted");
    assert!(traffic > 32_000 && inserted > 4_000);
}

#[test]
fn insertion_into_64_bits() {
    insertion(Width::Bits64);
}

#[test]
fn insertion_into_256_bits() {
    insertion(Width::Bits256);
}

#[test]
fn insertion_into_512_bits() {
    insertion(Width::Bits512);
}
