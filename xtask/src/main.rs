//! Tasks of the repository, called as `cargo xtask <task>`.

mod acceptance;
mod cargo;
mod check;
mod report;
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
    /// Run every check; installs the tools that they need
    Test,
    /// Write the Verilog of a configuration's core
    Verilog(verilog::Arguments),
    /// Plant faults in the Verilog and show which check notices each
    Mutate,
    /// Run the emitted Verilog through Icarus Verilog and yosys
    Acceptance,
    /// Compare hardware and model on many random packets
    Cosim {
        /// Packets through the identity stage and through the core, each
        #[arg(long, default_value_t = 2_000_000)]
        packets: u64,
        /// Seed of the first run; each run of 100,000 packets takes the next
        #[arg(long, default_value_t = 1000)]
        seed: u64,
    },
    /// Show what each module of the core costs in FPGA cells
    Cost {
        /// Rows of each bank
        #[arg(long, default_value_t = 1024)]
        rows: usize,
    },
    /// Measure what each configuration costs on FPGA and ASIC; writes docs/report.md and docs/report.json
    Report(report::Arguments),
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
        Task::Test => {
            tools::install(tools::Selection::Test)?;
            cargo::format()?;
            cargo::lint()?;
            cargo::document()?;
            cargo::test()?;
            acceptance::icarus()?;
            acceptance::yosys()
        }
        Task::Verilog(arguments) => verilog::write(&arguments),
        Task::Mutate => check::mutate(),
        Task::Acceptance => acceptance::icarus().and_then(|()| acceptance::yosys()),
        Task::Cosim { packets, seed } => check::cosim(packets, seed),
        Task::Cost { rows } => report::cost(rows),
        Task::Report(arguments) => report::run(&arguments),
        Task::Tools { selection } => Ok(tools::install(selection)?),
    }
}
