//! Tasks of the repository, called as `cargo xtask <task>`.

mod tools;

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
        Task::Tools { selection } => tools::install(selection)?,
    }
    Ok(())
}
