//! The memory of ECP5 block RAMs with their output registers, in the place of the lda's own memories.
//!
//! # Test plan
//!
//! The lda's check with block RAMs of 9 and of 18 bits (other widths differ in two constants); the same with the
//! output register left out, and with an address line missing, fails. The block RAM's model is `dp16kd.v`.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::checks;
use deltaline_hdl::emit::kind::Module;
use deltaline_hdl::emit::module::emit;
use deltaline_model::configuration::{Configuration, Settings};
use verilator_sys::Toolchain;

/// The lda with `rows` rows in two banks, the memory and the model of the block RAM.
fn verilog(rows: usize) -> String {
    let configuration = Configuration::new(Settings { rows, ..Settings::default() }).unwrap();
    let lda = emit(&configuration, Module::Lda, "lda").unwrap();
    let memory = include_str!("../../../hdl/ecp5/registered_ram_macro.v").replace("deltaline_", "lda_");
    format!("`define DELTALINE_REGISTERED_RAM_MACRO\n{lda}\n{memory}\n{}", include_str!("dp16kd.v"))
}

#[test]
fn block_rams_keep_the_cells() {
    let toolchain = Toolchain::find().unwrap();
    for rows in [16, 1024] {
        let updates = checks::lda::updates(&toolchain, &verilog(rows), 2 * rows, 100_000, 1).unwrap();
        assert!(updates >= 100_000);
    }
}

#[test]
fn broken_block_rams_are_noticed() {
    let toolchain = Toolchain::find().unwrap();
    for (from, to) in [(".REGMODE_B(\"OUTREG\")", ".REGMODE_B(\"NOREG\")"), (".ADB5(read[5])", ".ADB5(1'b0)")]
    {
        let broken = verilog(16).replace(from, to);
        assert_ne!(broken, verilog(16));
        assert!(checks::lda::updates(&toolchain, &broken, 32, 1000, 1).is_err(), "{to}");
    }
}
