//! Every planted fault is caught, and the designs without faults pass the same checks.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::faults::Outcome;
use deltaline_cosim::mutations::{CLASS_MUTATIONS, MUTATIONS, Mutation, run, with_classes};
use deltaline_model::configuration::{Configuration, Settings};
use verilator_sys::Toolchain;

#[test]
fn all_are_caught() {
    caught(&Configuration::new(Settings { rows: 16, ..Settings::default() }).unwrap(), MUTATIONS);
}

#[test]
fn those_of_classes_are_caught() {
    caught(&with_classes().unwrap(), CLASS_MUTATIONS);
}

fn caught(configuration: &Configuration, mutations: &'static [Mutation]) {
    let mut outcomes = run(&Toolchain::find().unwrap(), configuration, mutations).unwrap();
    outcomes.retain(|(_, outcome)| !matches!(outcome, Outcome::Caught(_)));
    assert!(outcomes.is_empty(), "{outcomes:#?}");
}
