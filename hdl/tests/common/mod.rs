//! What holds for every emitted module.

use deltaline_hdl::emit::reader::modules;
use std::collections::BTreeMap;

/// A process that assigns an output, or the input of a submodule with a combinational path, twice makes it change
/// twice in no time. Two modules that do so and read each other wake each other for ever in an event-driven
/// simulator. Inputs of flip-flops and memories are read at clock edges only and are exempt.
pub(crate) fn assert_signals_between_processes_are_assigned_once(verilog: &str) {
    let exempt = |name: &str| {
        ["_d", "_write_data", "_write_address", "_write_enable"].iter().any(|input| name.ends_with(input))
    };
    for module in modules(verilog).iter().map(|module| module.text) {
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
