//! Every planted fault is caught, and the designs without faults pass the same checks.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::faults::Outcome;
use deltaline_cosim::mutations::run;
use deltaline_model::configuration::{Configuration, Settings};
use verilator_sys::Toolchain;

#[test]
fn all_are_caught() {
    let toolchain = Toolchain::find().unwrap();
    let configuration = Configuration::new(Settings { rows: 16, ..Settings::default() }).unwrap();
    let mut outcomes = run(&toolchain, &configuration).unwrap();
    outcomes.retain(|(_, outcome)| !matches!(outcome, Outcome::Caught(_)));
    assert!(outcomes.is_empty(), "{outcomes:#?}");
}
