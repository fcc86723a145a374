//! What each stage of the core costs, by yosys, before placement.
//!
//! The hierarchy is kept, so that cells can be told apart by stage; synthesis across stages would save some. Modules
//! that stand beside the core follow.

use crate::{Failure, tools};
use deltaline_hdl::adjustable_clock::AdjustableClock;
use deltaline_hdl::stream_time_of_day::StreamTimeOfDay;
use deltaline_hdl::time_of_day::TimeOfDay;
use deltaline_hdl::verilog::{EmitError, Module, emit, emit_block};
use deltaline_model::configuration::{Configuration, Settings};
use std::collections::BTreeMap;
use std::fs;

/// Name of the emitted core, which all modules' names start with.
const NAME: &str = "deltaline";

/// Stages by the path of their module; a longer path is counted apart from the shorter.
const STAGES: [&str; 10] = [
    "identity_header_window",
    "identity_tags",
    "identity_datagram",
    "identity",
    "hash",
    "sampler",
    "lda",
    "totals",
    "interval",
    "emitter",
];

/// The modules beside the core, and how each is emitted under a name.
type Emission = fn(&str) -> Result<String, EmitError>;
const BESIDE: [(&str, Emission); 3] = [
    ("time_of_day", |name| emit_block(&mut TimeOfDay::default(), name)),
    ("stream_time_of_day", |name| emit_block(&mut StreamTimeOfDay::<64, 8>::default(), name)),
    ("adjustable_clock", |name| emit_block(&mut AdjustableClock::default(), name)),
];

/// A device family: yosys's command, and which cells are which.
struct Family {
    name: &'static str,
    command: &'static str,
    luts: &'static [&'static str],
    flops: &'static [&'static str],
    memories: &'static [&'static str],
}

const FAMILIES: [Family; 2] = [
    Family {
        name: "iCE40",
        command: "synth_ice40",
        luts: &["SB_LUT4"],
        flops: &["SB_DFF"],
        memories: &["SB_RAM40_4K"],
    },
    Family {
        name: "ECP5",
        command: "synth_ecp5",
        luts: &["LUT4", "CCU2C"],
        flops: &["TRELLIS_FF"],
        memories: &["DP16KD"],
    },
];

/// Prints a table of stages for both families, for the default configuration with as many rows as given.
pub(crate) fn print(rows: usize) -> Result<(), Failure> {
    let configuration = Configuration::new(Settings { rows, ..Settings::default() })?;
    let folder = tools::folder()?.join("cost");
    fs::create_dir_all(&folder)?;
    let design = folder.join("deltaline.v");
    fs::write(&design, emit(&configuration, Module::Core, NAME)?)?;
    println!("2 x {rows} rows, H3, prefix lengths 1 and 6; cells before placement, hierarchy kept");
    println!("{:<24} {:>24} {:>24}", "", FAMILIES[0].name, FAMILIES[1].name);
    println!(
        "{:<24} {:>8} {:>8} {:>6} {:>8} {:>8} {:>6}",
        "stage", "LUT4", "flops", "RAM", "LUT4", "flops", "RAM"
    );
    let core: Vec<_> =
        FAMILIES.iter().map(|family| costs(family, &design, NAME)).collect::<Result<_, _>>()?;
    let stages = STAGES.iter().copied().chain(["core"]);
    for stage in stages.chain(["total"]) {
        print_line(stage, stage, &core);
    }
    println!("beside the core");
    for (name, emission) in BESIDE {
        let design = folder.join(format!("{name}.v"));
        fs::write(&design, emission(name)?)?;
        let module: Vec<_> =
            FAMILIES.iter().map(|family| costs(family, &design, name)).collect::<Result<_, _>>()?;
        print_line(name, "total", &module);
    }
    println!("An ECP5 carry cell (CCU2C) counts as two LUT4.");
    Ok(())
}

/// LUTs, flip-flops and memories by stage.
type Costs = BTreeMap<&'static str, [u64; 3]>;

fn print_line(title: &str, stage: &str, families: &[Costs]) {
    let mut line = format!("{title:<24}");
    for costs in families {
        let [luts, flops, memories] = costs.get(stage).copied().unwrap_or_default();
        line += &format!(" {luts:>8} {flops:>8} {memories:>6}");
    }
    println!("{line}");
}

/// What each stage of the design with this top module costs.
fn costs(family: &Family, design: &std::path::Path, top: &str) -> Result<Costs, Failure> {
    eprintln!("==> yosys synthesises {top} for {}", family.name);
    let script = "\
import sys
from pyosys import libyosys as yosys
design = yosys.Design()
for command in ('read_verilog ' + sys.argv[1], sys.argv[2] + ' -noflatten -top ' + sys.argv[3]):
    yosys.run_pass(command, design)
for module in design.modules_.values():
    counts = {}
    for cell in module.cells_.values():
        counts[cell.type.str()] = counts.get(cell.type.str(), 0) + 1
    for kind, count in counts.items():
        print('cells', module.name.str().lstrip('\\\\'), kind.lstrip('\\\\'), count)
";
    let printed = crate::acceptance::run(
        tools::yosys_python()?.arg("-c").arg(script).arg(design).arg(family.command).arg(top),
    )?;
    let mut costs = Costs::new();
    for line in printed.lines().filter_map(|line| line.strip_prefix("cells ")) {
        let [module, kind, count] = line.split(' ').collect::<Vec<_>>()[..] else { continue };
        let count: u64 = count.parse()?;
        let path = module.strip_prefix(NAME).unwrap_or(module).trim_start_matches('_');
        let stage = STAGES.iter().find(|stage| path.starts_with(**stage)).copied().unwrap_or("core");
        let of = |names: &[&str]| names.iter().any(|name| kind.starts_with(name));
        // A carry cell adds two bits.
        let weight = if kind == "CCU2C" { 2 } else { 1 };
        let cost = [
            if of(family.luts) { weight * count } else { 0 },
            if of(family.flops) { count } else { 0 },
            if of(family.memories) { count } else { 0 },
        ];
        for stage in [stage, "total"] {
            let entry = costs.entry(stage).or_default();
            entry.iter_mut().zip(cost).for_each(|(entry, cost)| *entry += cost);
        }
    }
    Ok(costs)
}
