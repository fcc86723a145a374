//! Adaptive sampling against the model, at every width; see `deltaline_cosim::checks::adaptive`. And faults that its
//! check must notice.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::checks::{CheckError, adaptive, core, lanes};
use deltaline_hdl::verilog::{Module, emit};
use deltaline_model::configuration::{Configuration, Settings};
use verilator_sys::Toolchain;

fn configuration(prefixes: &[u8]) -> Configuration {
    let settings = Settings { rows: 16, seed: 5, prefixes, adaptive: true, ..Settings::default() };
    Configuration::new(settings).unwrap()
}

fn check(module: Module, prefixes: &[u8]) {
    let (toolchain, configuration) = (Toolchain::find().unwrap(), configuration(prefixes));
    let verilog = emit(&configuration, module, "deltaline").unwrap();
    adaptive::check(&toolchain, &configuration, &verilog, 10_000, 1).unwrap();
    // Without a schedule it is a core as any other.
    core::check(&toolchain, &configuration, &verilog, 2000, 1).unwrap();
}

#[test]
fn narrow() {
    check(Module::Core, &[1, 6]);
    check(Module::Core, &[0, 3, 7, 16]);
    check(Module::Core, &[4]);
}

#[test]
fn wide() {
    check(Module::Core256, &[1, 6]);
    check(Module::Core512, &[0, 1, 2]);
}

#[test]
fn several_lanes() {
    let (toolchain, configuration) = (Toolchain::find().unwrap(), configuration(&[1, 6]));
    let verilog = emit(&configuration, Module::TwoLanes512, "deltaline").unwrap();
    lanes::check(&toolchain, &configuration, &verilog, 10_000, 1).unwrap();
}
