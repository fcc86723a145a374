//! Every planted fault is caught, and the designs without faults pass the same checks.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::faults::Outcome;
use deltaline_cosim::mutations::{CLASS_MUTATIONS, MUTATIONS, run, with_classes};
use deltaline_model::configuration::{Configuration, Settings};
use verilator_sys::Toolchain;

#[test]
fn all_are_caught() {
    let toolchain = Toolchain::find().unwrap();
    let configuration = Configuration::new(Settings { rows: 16, ..Settings::default() }).unwrap();
    let mut outcomes = run(&toolchain, &configuration, MUTATIONS).unwrap();
    outcomes.extend(run(&toolchain, &with_classes().unwrap(), CLASS_MUTATIONS).unwrap());
    outcomes.retain(|(_, outcome)| !matches!(outcome, Outcome::Caught(_)));
    assert!(outcomes.is_empty(), "{outcomes:#?}");
}
