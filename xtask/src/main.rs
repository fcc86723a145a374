//! Tasks of the repository, called as `cargo xtask <task>`.

mod acceptance;
mod bitstream;
mod cargo;
mod check;
mod cocotb;
mod everything;
mod formal;
mod mutations;
mod package;
mod reference;
mod registers;
mod report;
mod stamp;
mod store;
mod supply;
mod tools;
mod verilog;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

type Failure = Box<dyn std::error::Error>;

#[derive(Parser)]
#[command(name = "cargo xtask", about = "Tasks of the repository")]
struct Arguments {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Measure the shipped capture through two simulated cores, and show what they found beside the truth
    Demo,
    /// Formatting, lints and unit tests, without tools from outside: the quick check while one works
    Check,
    /// Run every check; installs the tools that they need
    Test,
    /// Write a design's Verilog with all that goes along with it: constraints, file lists, documentation
    Verilog(verilog::Arguments),
    /// Write the Verilog of what sends and receives reference packets, for reference latency interpolation
    Reference(reference::Arguments),
    /// Make the register block, its accessors and its documentation from the SystemRDL source
    Registers {
        /// Only compare them with the committed ones
        #[arg(long)]
        check: bool,
    },
    /// Plant faults in the Verilog, by hand and by yosys, and show which check notices each
    Mutate(mutations::Arguments),
    /// Run the emitted Verilog through Icarus Verilog and yosys
    Acceptance,
    /// Run the emitted Verilog in Icarus Verilog under cocotb, with the AXI masters and streams of cocotbext-axi
    Cocotb,
    /// Compare hardware and model on many random packets
    Cosim {
        /// Packets through the identity stage and through the core, each
        #[arg(long, default_value_t = 2_000_000)]
        packets: u64,
        /// Seed of the first run; each run of 100,000 packets takes the next
        #[arg(long, default_value_t = 1000)]
        seed: u64,
        /// Writes the waveform of the module under test, its last cycles if it runs long
        #[arg(long, value_name = "FILE")]
        wave: Option<std::path::PathBuf>,
    },
    /// Prove properties of the emitted Verilog, and show that the proofs notice planted faults
    Formal {
        /// Only this proof
        #[arg(long, value_name = "NAME")]
        only: Option<String>,
        /// Of the faults those that show within so many cycles; all unless given
        #[arg(long, value_name = "CYCLES", default_value_t = u32::MAX, hide_default_value = true)]
        faults_within: u32,
    },
    /// Show what each module costs in FPGA cells: of the core, the registers, the clocks, and what inserts into a stream
    Cost {
        /// Rows of each bank
        #[arg(long, default_value_t = 1024)]
        rows: usize,
    },
    /// Measure what each configuration costs on FPGA and ASIC; writes docs/report.md and docs/report.json
    Report(report::Arguments),
    /// Build a board's bitstream with several seeds, and verify it down to its bits
    Bitstream(bitstream::Arguments),
    /// Collect the licences of all crates in the program into THIRD-PARTY-NOTICES.txt
    Notices {
        /// Only compare them with the committed ones
        #[arg(long)]
        check: bool,
    },
    /// Build the operator's program as a Debian package with manual, completions and a systemd unit, and check it
    Package,
    /// Write a month of intervals as the store does, let DuckDB read them, and compare
    Store {
        /// Intervals; a month of ten segments and seconds unless given
        #[arg(long, default_value_t = 25_920_000)]
        rows: u64,
    },
    /// Exchange test packets (STAMP) with other people's senders and reflectors
    Stamp {
        /// Test packets each way
        #[arg(long, default_value_t = 10_000)]
        count: u32,
    },
    /// Squeeze queues and cut a link of six routers in network namespaces, and see that the station says so; and compare an LDA with
    /// probes over a real queue. To root alone, as a rule
    Network,
    /// Look the crates up in the newest RustSec database of advisories, which is fetched from its repository
    Audit,
    /// Install the pinned tools into the folder `.tools`; does nothing if they are there
    Tools {
        /// Which tools
        #[arg(value_enum, default_value_t = tools::Selection::All)]
        selection: tools::Selection,
    },
}

fn main() -> ExitCode {
    match run(Arguments::parse().task) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("error: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(task: Task) -> Result<(), Failure> {
    match task {
        Task::Demo => {
            tools::install(tools::Selection::Simulation)?;
            cargo::demo()
        }
        Task::Check => {
            cargo::format()?;
            supply::notices(true)?;
            cargo::lint()?;
            cargo::unit_tests()
        }
        Task::Test => everything::run(),
        Task::Verilog(arguments) => verilog::run(&arguments),
        Task::Reference(arguments) => reference::run(&arguments),
        Task::Registers { check } => registers::generate(check),
        Task::Mutate(arguments) => mutations::run_all(&arguments),
        Task::Acceptance => acceptance::run_all(),
        Task::Cocotb => cocotb::run(),
        Task::Cosim { packets, seed, wave } => check::cosim(packets, seed, wave),
        Task::Formal { only, faults_within } => formal::prove(only.as_deref(), faults_within),
        Task::Cost { rows } => report::cost(rows),
        Task::Report(arguments) => report::run(&arguments),
        Task::Bitstream(arguments) => bitstream::build(&arguments),
        Task::Notices { check } => supply::notices(check),
        Task::Package => package::run(),
        Task::Stamp { count } => stamp::run(count),
        Task::Network => cargo::network(),
        Task::Store { rows } => store::check(rows),
        Task::Audit => supply::audit(),
        Task::Tools { selection } => Ok(tools::install(selection)?),
    }
}
