//! Every planted fault is caught, and the design without faults passes the same checks.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::mutations::{MUTATIONS, Outcome, check, name, run};
use deltaline_hdl::verilog::{Module, emit};
use deltaline_model::configuration::{Configuration, Settings};
use verilator_sys::Toolchain;

#[test]
fn all_are_caught() {
    let toolchain = Toolchain::find().unwrap();
    let configuration = Configuration::new(Settings { rows: 16, ..Settings::default() }).unwrap();
    for module in [Module::Identity, Module::Hash, Module::Sampler, Module::Lda, Module::Core] {
        let verilog = emit(&configuration, module, name(module)).unwrap();
        check(&toolchain, &configuration, module, &verilog).unwrap();
    }
    let mut blind = vec![];
    for mutation in MUTATIONS {
        match run(&toolchain, &configuration, mutation).unwrap() {
            Outcome::Caught(_) => {}
            outcome => blind.push(format!("{}: {outcome:?}", mutation.fault)),
        }
    }
    assert!(blind.is_empty(), "{blind:#?}");
}
