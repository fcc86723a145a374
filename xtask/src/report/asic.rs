//! Area and speed on an ASIC: yosys maps to a cell library, OpenSTA times the result.
//!
//! * **RAM leaves are black boxes.** Area is without them. Without a macro's Liberty file they launch and take their
//!   data in no time, so that paths at a RAM show what they leave for it: a macro fits if its access time and the
//!   path behind it, and its setup time and the path before it, are each shorter than the clock's period. With one
//!   (`--ram`), all leaves get the worst access and setup times found in its tables, and the macros that hold their
//!   words are counted; the multiplexer of a memory that is deeper than the macro is left out.
//! * **NAND2 equivalents** are area divided by that of the library's smallest two-input NAND. Libraries differ in
//!   what a flip-flop costs in this unit: four in osu018, almost seven in sg13g2, which has none without an
//!   asynchronous reset.
//! * **Stages** are the modules in the top module that are neither flip-flop nor RAM, and those in an aggregator or
//!   lane, which hold several. Their hierarchy is kept through mapping, so that they can be told apart, and dissolved
//!   before timing.
//! * **SRAM** is the area of the macros that the counters' memories become, each memory leaf by itself, as the seam
//!   instantiates them: a leaf of 2048 words of 36 bits takes two macros of 1024 x 32 and two of 1024 x 16.
//! * **Timing** is before layout: an ideal clock, the wires that the library assumes if it says nothing else (its default wire
//!   load, which OpenSTA applies; the report names it), inputs that arrive with the clock edge and outputs that are
//!   taken with it. The corner is the library's. Mapping is driven by delay (`&dch; &nf`, then buffering and sizing) towards a clock of 400 MHz.

use super::liberty::{self, Library, Macro};
use super::{Subject, Work, netlist};
use crate::acceptance::run;
use crate::{Failure, tools};
use deltaline_hdl::emit::reader::{Module, Port, modules};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// The clock that mapping aims at: that of the LDA paper's estimate.
pub(crate) const TARGET_MHZ: f64 = 400.0;

/// Words of the SRAM macros that leaves become: of the IHP-Open-PDK, in 130 nm, with two ports.
pub(crate) const SRAM_WORDS: usize = 1024;
/// Their width and area in mm², by their Liberty files, the narrower first.
pub(crate) const SRAM_MACROS: [(usize, f64); 2] = [(16, 0.155_154), (32, 0.264_167)];

/// Area in mm² of the macros of a memory leaf; none for one that leaves most of a macro empty.
fn sram(words: usize, width: usize) -> Option<f64> {
    let [(half, narrow), (full, wide)] = SRAM_MACROS;
    let rest = match width % full {
        0 => 0.0,
        rest if rest <= half => narrow,
        _ => wide,
    };
    let row = (width / full) as f64 * wide + rest;
    (words >= SRAM_WORDS).then(|| words.div_ceil(SRAM_WORDS) as f64 * row)
}

/// What a configuration costs in a library.
pub(crate) struct Cost {
    pub(crate) library: Library,
    pub(crate) cells: u64,
    pub(crate) area: f64,
    /// Bits in RAM leaves.
    pub(crate) ram_bits: usize,
    /// Area of the SRAM macros in mm², unless a leaf is too small for one.
    pub(crate) sram: Option<f64>,
    /// Stages and their area, the largest first; the last is what is in no stage.
    pub(crate) stages: Vec<(String, f64)>,
    pub(crate) worst: Delay,
    /// The longest path from an output of a RAM, and to an input; none without RAM.
    pub(crate) behind_ram: Option<Delay>,
    pub(crate) before_ram: Option<Delay>,
    /// Macros and their area.
    pub(crate) macros: Option<(Macro, usize)>,
}

/// A path with its setup time.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Delay {
    pub(crate) nanoseconds: f64,
    pub(crate) from: String,
    pub(crate) to: String,
}

impl Cost {
    /// Area in units of the NAND2.
    pub(crate) fn nand2(&self, area: f64) -> u64 {
        (area / self.library.nand2).round() as u64
    }
}

impl Delay {
    /// The clock that the path allows.
    pub(crate) fn mhz(&self) -> f64 {
        1000.0 / self.nanoseconds
    }

    /// What the path leaves of a clock's period.
    pub(crate) fn slack(&self, mhz: f64) -> f64 {
        1000.0 / mhz - self.nanoseconds
    }
}

/// Arguments: Verilog, library, constraints for abc, top, period in picoseconds, netlist to write, stages, RAM leaves. Statistics are
/// printed as JSON behind a line `statistics`; RAM instances of the flattened netlist behind `ram`.
const SCRIPT: &str = "\
import sys
from pyosys import libyosys as yosys
verilog, library, constraints, top, period, netlist, stages, rams = sys.argv[1:]
design = yosys.Design()
def command(text):
    yosys.run_pass(text, design)
command('read_liberty -lib -ignore_miss_func ' + library)
command('read_verilog ' + verilog)
command('hierarchy -check -top ' + top)
for stage in stages.split():
    command('setattr -mod -set keep_hierarchy 1 ' + stage)
command('synth -noabc -flatten -top ' + top)
command('dfflibmap -liberty ' + library)
command('abc -liberty ' + library + ' -constr ' + constraints + ' -D ' + period + ' -script +&get,-n;&st;&dch;&nf;&put;buffer,-c;topo;upsize,{D};dnsize,{D}')
command('opt_clean -purge')
command('check -mapped -assert')
command('tee -o ' + netlist + '.json stat -json -liberty ' + library)
command('setattr -mod -unset keep_hierarchy *')
# OpenSTA reads neither assignments of concatenations nor names that it can place: split, and name cells by wires.
for text in ('flatten', 'splitnets', 'opt_clean -purge', 'rename -wire -suffix _reg'):
    command(text)
command('write_verilog -noattr -noexpr -nohex -nodec ' + netlist)
found = list(design.top_module().cells_.values())
rams = [cell.name.str().lstrip('\\\\') for cell in found if cell.type.str().lstrip('\\\\') in rams.split()]
print('ram ' + ' '.join(rams))
print('cells', len(found) - len(rams))
";

/// Measures a configuration with a library, and with the times of a macro for its RAM leaves.
pub(crate) fn measure(
    work: &Work,
    subject: &Subject,
    library_text: &str,
    ram: Option<&Macro>,
) -> Result<Cost, Failure> {
    let library = Library::parse(library_text)?;
    let verilog = netlist::without_rams(&subject.verilog);
    let modules = modules(&verilog);
    let top = netlist::find(&modules, &subject.top)?;
    let mut stages = vec![];
    find_stages(top, &modules, &mut stages);
    let leaves: Vec<(&str, Vec<Port<'_>>)> = modules
        .iter()
        .filter(|module| netlist::is_ram(module))
        .map(|module| (module.name, module.ports()))
        .collect();
    let names: Vec<&str> = leaves.iter().map(|(name, _)| *name).collect();
    let kept: Vec<&str> = stages.iter().map(|stage| stage.name).collect();
    let (stage_list, leaf_list) = (kept.join(" "), names.join(" "));
    let period = 1000.0 / TARGET_MHZ;

    let design = work.folder.join(format!("{}-asic.v", subject.name));
    let cells = work.folder.join(format!("{}.lib", library.name));
    let mapped = work.folder.join(format!("{}-{}.v", subject.name, library.name));
    fs::write(&design, &verilog)?;
    fs::write(&cells, library_text)?;
    // Without a driving cell abc takes what comes from flip-flops as infinitely strong, and buffers none of it.
    let constraints = work.folder.join(format!("{}.constr", library.name));
    fs::write(&constraints, format!("set_driving_cell {}\nset_load 0.02 [all_outputs]\n", library.inverter))?;
    let what = format!("{}: synthesis for {}", subject.name, library.name);
    let key = [SCRIPT, &verilog, library_text, &period.to_string(), &stage_list];
    let summary = work.remembered(&what, &key, || {
        let mut yosys = tools::yosys_python()?;
        yosys.arg("-c").arg(SCRIPT).arg(&design).arg(&cells).arg(&constraints).arg(&subject.top);
        yosys.arg((period * 1000.0).to_string()).arg(&mapped).args([&stage_list, &leaf_list]);
        let printed = run(&mut yosys)?;
        let instances =
            printed.lines().rfind(|line| line.starts_with("ram ") || *line == "ram").unwrap_or("ram ");
        let count =
            printed.lines().rfind(|line| line.starts_with("cells ")).ok_or("yosys counted no cells")?;
        let mut statistics = mapped.clone().into_os_string();
        statistics.push(".json");
        // Three parts: RAM instances, number of cells, areas and netlist.
        let areas = areas(&fs::read_to_string(statistics)?)?;
        Ok(format!("{instances}\n{count}\n{areas}\n{}", fs::read_to_string(&mapped)?))
    })?;
    let mut parts = summary.splitn(4, '\n');
    let mut part = |prefix: &str| parts.next().map(|line| line.trim_start_matches(prefix).to_string());
    let (instances, count) = (part("ram").unwrap_or_default(), part("cells ").unwrap_or_default());
    let areas: Value = serde_json::from_str(&part("").unwrap_or_default())?;
    fs::write(&mapped, part("").unwrap_or_default())?;

    let area_of = |module: &str| areas[module].as_f64().unwrap_or_default();
    let area = area_of(&subject.top);
    let mut list: Vec<(String, f64)> = stages
        .iter()
        .map(|Stage { name, parts }| {
            let path = name.strip_prefix(subject.top.as_str()).unwrap_or(name).trim_start_matches('_');
            let own = area_of(name) - parts.iter().map(|part| area_of(part)).sum::<f64>();
            (path.trim_start_matches("aggregator_").to_string(), own)
        })
        .collect();
    let rest = area - list.iter().map(|(_, area)| area).sum::<f64>();
    list.sort_by(|a, b| b.1.total_cmp(&a.1));
    list.push(("rest".to_string(), rest));

    let rams = work.folder.join(format!("{}-rams.lib", subject.name));
    fs::write(&rams, liberty::rams(&leaves, ram.map_or_else(Default::default, |ram| ram.timing)))?;
    let timed = Netlist {
        library: &cells,
        rams: &rams,
        verilog: &mapped,
        top: &subject.top,
        instances: instances.trim(),
    };
    let [worst, behind_ram, before_ram] = time(work, subject, &timed, period)?;
    let sizes: Vec<(usize, usize)> = leaves
        .iter()
        .map(|(_, ports)| {
            let width = |name: &str| ports.iter().find(|port| port.name == name).map_or(0, |port| port.width);
            (1 << width("read_address"), width("read_data"))
        })
        .collect();
    let ram_bits = sizes.iter().map(|(words, width)| words * width).sum();
    let sram = sizes.iter().map(|&(words, width)| sram(words, width)).sum();
    let macros =
        ram.map(|ram| (ram.clone(), sizes.iter().map(|(words, width)| ram.count(*words, *width)).sum()));
    let worst = worst.ok_or_else(|| format!("OpenSTA found no path in '{}'", subject.name))?;
    Ok(Cost {
        library,
        cells: count.parse()?,
        area,
        ram_bits,
        sram,
        stages: list,
        worst,
        behind_ram,
        before_ram,
        macros,
    })
}

/// A module whose area is given apart.
struct Stage<'a> {
    name: &'a str,
    /// Stages in it, which its own area is without.
    parts: Vec<&'a str>,
}

/// Adds the stages in `module`, and returns the names of those directly in it.
fn find_stages<'a>(module: &Module<'a>, all: &[Module<'a>], stages: &mut Vec<Stage<'a>>) -> Vec<&'a str> {
    let mut direct = vec![];
    for child in
        module.children(all).into_iter().filter(|child| !netlist::is_flop(child) && !netlist::is_ram(child))
    {
        let word = child.name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '_');
        let holds_several = word.ends_with("_aggregator") || word.ends_with("_lane");
        let parts = if holds_several { find_stages(child, all, stages) } else { vec![] };
        stages.push(Stage { name: child.name, parts });
        direct.push(child.name);
    }
    direct
}

/// Area of every module with all it holds, as one line of JSON.
fn areas(statistics: &str) -> Result<Value, Failure> {
    let statistics: Value = serde_json::from_str(statistics)?;
    let modules = statistics["modules"].as_object().ok_or("yosys's statistics have no modules")?;
    let areas = modules
        .iter()
        .map(|(name, module)| (name.trim_start_matches('\\').to_string(), module["area"].clone()));
    Ok(Value::Object(areas.collect()))
}

/// What OpenSTA reads.
struct Netlist<'a> {
    library: &'a Path,
    rams: &'a Path,
    verilog: &'a Path,
    top: &'a str,
    /// RAM instances.
    instances: &'a str,
}

/// The worst path of all, from RAMs, and to RAMs.
fn time(
    work: &Work,
    subject: &Subject,
    netlist: &Netlist<'_>,
    period: f64,
) -> Result<[Option<Delay>; 3], Failure> {
    let Netlist { library, rams, verilog, top, instances } = netlist;
    let quoted = |path: &Path| format!("{{{}}}", path.display());
    let mut script = format!(
        "read_liberty {}
read_liberty {}
read_verilog {}
link_design {top}
create_clock -name clk -period {period} [get_ports clk]
set_input_delay 0 -clock clk [all_inputs]
set_output_delay 0 -clock clk [all_outputs]
puts {{report worst}}
report_checks
",
        quoted(library),
        quoted(rams),
        quoted(verilog),
    );
    if !instances.is_empty() {
        script += &format!("puts {{report behind}}\nreport_checks -from [get_cells {{{instances}}}]\n");
        script += &format!("puts {{report before}}\nreport_checks -to [get_cells {{{instances}}}]\n");
    }
    // A failing command does not end OpenSTA by itself.
    let commands = work.folder.join(format!("{}-sta.tcl", subject.name));
    fs::write(
        &commands,
        format!(
            "if {{[catch {{\n{script}}} message]}} {{ puts stderr $message; exit 1 }}\nputs {{report done}}\n"
        ),
    )?;
    let printed = run(tools::sta()?.args(["-no_splash", "-exit"]).arg(&commands))?;
    let complaint = printed.lines().find(|line| line.starts_with("Error"));
    if let Some(complaint) = complaint.or((!printed.contains("report done")).then_some("it did not finish")) {
        return Err(format!("OpenSTA, {}: {complaint}", commands.display()).into());
    }
    Ok(["report worst", "report behind", "report before"].map(|part| path(&printed, part, period)))
}

/// The path that is reported behind the line `part`.
fn path(printed: &str, part: &str, period: f64) -> Option<Delay> {
    let report = printed.split_once(part)?.1.split("report ").next()?;
    let field = |key: &str| {
        let line = report.lines().find_map(|line| line.strip_prefix(key))?;
        // OpenSTA prints an escaped name with its backslashes.
        Some(line.split_whitespace().next()?.replace('\\', ""))
    };
    let slack = report.lines().rfind(|line| line.contains("slack"))?;
    let slack: f64 = slack.split_whitespace().next()?.parse().ok()?;
    Some(Delay { nanoseconds: period - slack, from: field("Startpoint:")?, to: field("Endpoint:")? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn macros_are_counted_as_they_are_instantiated() {
        // Two rows of one macro of 32 bits and one of 16.
        assert!((sram(2048, 36).unwrap() - 2.0 * (0.264_167 + 0.155_154)).abs() < 1e-9);
        assert!((sram(1024, 32).unwrap() - 0.264_167).abs() < 1e-9);
        assert!((sram(1025, 52).unwrap() - 4.0 * 0.264_167).abs() < 1e-9);
        assert_eq!(sram(512, 36), None);
    }

    #[test]
    fn stages_in_an_aggregator_are_told_apart() {
        let text = "\nmodule a(clk);\n    a_aggregator aggregator(\n    a_tail tail(\nendmodule\n\
                    \nmodule a_aggregator(clk);\n    a_aggregator_hash hash(\nendmodule\n\
                    \nmodule a_aggregator_hash(clk);\n    a_aggregator_hash_tree tree(\nendmodule\n\
                    \nmodule a_aggregator_hash_tree(clk);\nendmodule\n\nmodule a_tail(clk);\nendmodule\n";
        let modules = modules(text);
        let mut stages = vec![];
        assert_eq!(find_stages(&modules[0], &modules, &mut stages), ["a_aggregator", "a_tail"]);
        let found: Vec<_> = stages.iter().map(|stage| (stage.name, &stage.parts[..])).collect();
        let expected: [(&str, &[&str]); 3] =
            [("a_aggregator_hash", &[]), ("a_aggregator", &["a_aggregator_hash"]), ("a_tail", &[])];
        assert_eq!(found, expected);
    }

    #[test]
    fn paths_are_told_apart() {
        let printed = "report worst\nStartpoint: a\\[1\\]_reg (rising edge)\nEndpoint: b\n          (rising edge)\n\
                       -1.331   slack (VIOLATED)\n\nreport behind\nNo paths found.\nreport done\n";
        let worst = Delay { nanoseconds: 2.5 + 1.331, from: "a[1]_reg".into(), to: "b".into() };
        assert_eq!(path(printed, "report worst", 2.5), Some(worst.clone()));
        assert_eq!(path(printed, "report behind", 2.5), None);
        assert!((worst.mhz() - 261.0).abs() < 0.1 && (worst.slack(200.0) - 1.169).abs() < 1e-9);
    }
}
