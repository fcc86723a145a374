//! Cells of an FPGA family, by yosys, before placement.
//!
//! The top module keeps its ports, as it does inside the wrapper; what is flattened depends on who asks: all of it
//! for a configuration's figures, flip-flops into the modules that hold them for a table of modules.

use super::netlist::{self, WRAPPER};
use super::{Subject, Work};
use crate::acceptance::run;
use crate::{Failure, tools};
use deltaline_hdl::emit::reader::modules;
use std::collections::BTreeMap;
use std::fs;
use std::ops::AddAssign;
use std::path::PathBuf;

/// Cells of a module or a configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cells {
    pub(crate) luts: u64,
    pub(crate) flops: u64,
    pub(crate) rams: u64,
}

impl AddAssign for Cells {
    fn add_assign(&mut self, other: Self) {
        self.luts += other.luts;
        self.flops += other.flops;
        self.rams += other.rams;
    }
}

/// A device family: yosys's command, and what cells cost.
pub(crate) struct Family {
    pub(crate) name: &'static str,
    /// The cell that `luts` counts.
    pub(crate) lut: &'static str,
    pub(crate) ram: &'static str,
    pub(crate) command: &'static str,
    costs: fn(&str) -> Cells,
}

const LUT: Cells = Cells { luts: 1, flops: 0, rams: 0 };
const FLOP: Cells = Cells { luts: 0, flops: 1, rams: 0 };
const RAM: Cells = Cells { luts: 0, flops: 0, rams: 1 };

pub(crate) const ICE40: Family = Family {
    name: "iCE40",
    lut: "LUT4",
    ram: "RAM of 4 kbit",
    command: "synth_ice40",
    costs: |kind| match kind {
        "SB_LUT4" => LUT,
        "SB_RAM40_4K" => RAM,
        _ if kind.starts_with("SB_DFF") => FLOP,
        _ => Cells::default(),
    },
};

pub(crate) const ECP5: Family = Family {
    name: "ECP5",
    lut: "LUT4",
    ram: "RAM of 18 kbit",
    command: "synth_ecp5",
    costs: |kind| match kind {
        "LUT4" => LUT,
        // A carry cell adds two bits; a distributed memory takes four LUTs and two for its write port.
        "CCU2C" => Cells { luts: 2, ..LUT },
        "TRELLIS_DPR16X4" => Cells { luts: 6, ..LUT },
        "TRELLIS_FF" => FLOP,
        "DP16KD" => RAM,
        _ => Cells::default(),
    },
};

const SCRIPT: &str = "\
import sys
from pyosys import libyosys as yosys
verilog, command, netlist, kept = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4:]
design = yosys.Design()
yosys.run_pass('read_verilog ' + verilog, design)
for module in kept:
    yosys.run_pass('setattr -mod -set keep_hierarchy 1 ' + module, design)
yosys.run_pass(command, design)
yosys.run_pass('check -assert', design)
if netlist:
    yosys.run_pass('write_json ' + netlist, design)
for module in design.modules_.values():
    if module.get_blackbox_attribute(True):
        continue
    counts = {}
    for cell in module.cells_.values():
        counts[cell.type.str()] = counts.get(cell.type.str(), 0) + 1
    for kind, count in counts.items():
        print('cells', module.name.str().lstrip('\\\\'), kind.lstrip('\\\\'), count)
";

/// Cells of each module that is no flip-flop, without the modules it holds; the name is the path in the core.
pub(crate) fn by_module(
    work: &Work,
    subject: &Subject,
    family: &Family,
) -> Result<BTreeMap<String, Cells>, Failure> {
    let modules = modules(&subject.verilog);
    let kept: Vec<&str> =
        modules.iter().filter(|module| !netlist::is_flop(module)).map(|module| module.name).collect();
    let command = format!("{} -top {}", family.command, subject.top);
    let what = format!("{}: synthesis for {}, module by module", subject.name, family.name);
    let counted = work.remembered(&what, &[SCRIPT, &command, &kept.join(" "), &subject.verilog], || {
        let design = work.folder.join(format!("{}.v", subject.name));
        fs::write(&design, &subject.verilog)?;
        run(tools::yosys_python()?.arg("-c").arg(SCRIPT).arg(design).args([&command, ""]).args(&kept))
            .map(|printed| counts(&printed))
    })?;
    let mut cells: BTreeMap<String, Cells> = BTreeMap::new();
    for module in kept {
        // A module of which nothing is left costs nothing, and is still one.
        cells.insert(path(subject, module), total(family, &counted, module)?);
    }
    Ok(cells)
}

/// A module's path in the core: its name without that of the core.
fn path(subject: &Subject, module: &str) -> String {
    let path = module.strip_prefix(&subject.top).unwrap_or(module).trim_start_matches('_');
    if path.is_empty() { "core".to_string() } else { path.to_string() }
}

/// Cells of the whole configuration, flattened, and the netlist of it in the wrapper, for nextpnr.
pub(crate) fn whole(work: &Work, subject: &Subject, family: &Family) -> Result<(Cells, PathBuf), Failure> {
    let verilog = netlist::wrapper(&subject.verilog, &subject.top)? + &subject.verilog;
    let command = format!("{} -top {WRAPPER}", family.command);
    let what = format!("{}: synthesis for {}", subject.name, family.name);
    let key = [SCRIPT, &command, &verilog];
    let netlist = work.file(&key, "json");
    if !netlist.is_file() && !work.known {
        work.forget(&key)?;
    }
    let counted = work.remembered(&what, &key, || {
        let design = work.folder.join(format!("{}-{WRAPPER}.v", subject.name));
        fs::write(&design, &verilog)?;
        run(tools::yosys_python()?.arg("-c").arg(SCRIPT).arg(design).arg(&command).arg(&netlist))
            .map(|printed| counts(&printed))
    })?;
    Ok((total(family, &counted, &subject.top)?, netlist))
}

/// The lines that count cells.
fn counts(printed: &str) -> String {
    printed
        .lines()
        .filter(|line| line.starts_with("cells "))
        .fold(String::new(), |all, line| all + line + "\n")
}

fn total(family: &Family, counted: &str, module: &str) -> Result<Cells, Failure> {
    let mut total = Cells::default();
    for line in counted.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        let ["cells", name, kind, count] = words[..] else { continue };
        let count: u64 = count.parse()?;
        let cost = (family.costs)(kind);
        if name == module {
            total += Cells { luts: cost.luts * count, flops: cost.flops * count, rams: cost.rams * count };
        }
    }
    Ok(total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_counted_by_module_and_weight() {
        let counted =
            "cells core CCU2C 3\ncells core LUT4 10\ncells core_ram DP16KD 4\ncells core TRELLIS_FF 7\n";
        assert_eq!(total(&ECP5, counted, "core").unwrap(), Cells { luts: 16, flops: 7, rams: 0 });
        assert_eq!(total(&ECP5, counted, "core_ram").unwrap(), Cells { rams: 4, ..Cells::default() });
        assert_eq!(total(&ICE40, "cells a SB_DFFSR 2\ncells a SB_CARRY 9\n", "a").unwrap().flops, 2);
    }
}
