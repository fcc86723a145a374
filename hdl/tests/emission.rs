//! The emitted text: stable, plain, and fit for event-driven simulators.
#![allow(clippy::unwrap_used)]

use deltaline_hdl::verilog::{EmitError, Module, emit};
use deltaline_model::configuration::{Configuration, Settings};
use std::collections::BTreeMap;

fn default_core(name: &str) -> String {
    emit(&Configuration::new(Settings::default()).unwrap(), Module::Core, name).unwrap()
}

#[test]
fn every_module_carries_the_prefix_and_every_name_is_plain() {
    let verilog = default_core("acme_tap");
    assert_eq!(verilog, default_core("acme_tap"));
    assert!(!verilog.contains('$'));
    for line in verilog.lines().filter_map(|line| line.strip_prefix("module ")) {
        assert!(line.starts_with("acme_tap"), "{line}");
    }
    for port in
        ["s_axis_tdata", "s_axis_tkeep", "s_axis_tlast", "s_axis_tuser", "m_axis_tdata", "m_axis_tready"]
    {
        let listed = |line: &str| line.starts_with("//") && line.split_whitespace().any(|word| word == port);
        assert!(verilog.lines().any(listed), "{port}");
    }
}

#[test]
fn illegal_requests_are_refused() {
    let configuration = Configuration::new(Settings { rows: 2048, ..Settings::default() }).unwrap();
    let refused = emit(&configuration, Module::Core, "core");
    assert_eq!(refused, Err(EmitError::Unsupported { rows: 2048, banks: 2 }));
    let configuration = Configuration::new(Settings::default()).unwrap();
    for name in ["", "9core", "my core", "a$b"] {
        assert_eq!(emit(&configuration, Module::Core, name), Err(EmitError::Name(name.into())));
    }
}

/// A process that assigns an output, or the input of a submodule with a combinational path, twice makes it change
/// twice in no time. Two modules that do so and read each other wake each other for ever in an event-driven
/// simulator. Inputs of flip-flops and memories are read at clock edges only and are exempt.
#[test]
fn signals_between_processes_are_assigned_once() {
    let exempt = |name: &str| name.ends_with("_d") || name.ends_with("_write_data");
    for module in default_core("deltaline").split("endmodule") {
        let is_leaf = module.contains("(custom)");
        let mut assigned: BTreeMap<&str, usize> = BTreeMap::new();
        let between: Vec<&str> = module
            .split("// Local signals")
            .next()
            .unwrap_or("")
            .lines()
            .map(str::trim)
            .filter(|line| line.starts_with("output reg") || line.starts_with("reg "))
            .filter_map(|line| line.strip_suffix(';')?.rsplit(' ').next())
            .collect();
        for line in module.lines() {
            if let Some((target, _)) = line.trim().split_once(" = ") {
                *assigned.entry(target).or_default() += 1;
            }
        }
        for (name, count) in assigned {
            let twice = count > 1 && between.contains(&name) && !exempt(name);
            assert!(
                is_leaf || !twice,
                "{name} is assigned {count} times in {}",
                module.trim().lines().next().unwrap()
            );
        }
    }
}
