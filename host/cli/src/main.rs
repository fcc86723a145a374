//! The command line: `deltaline measure`, `decode`, `truth`, `read`, `delimit`, `board`, `lab` and `size`.
//!
//! The program parses the command line, calls the libraries and prints; exit codes are in `deltaline --help`.

mod arguments;
mod board;
mod decode;
mod delimit;
mod exit;
mod lab;
mod matched;
mod measure;
mod plot;
mod points;
mod progress;
mod prometheus;
mod read;
mod report;
mod results;
mod size;
mod truth;

use arguments::{Arguments, Board, Command};
use clap::Parser;
use exit::Exit;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(help_or_error) => {
            // If it cannot be printed there is nobody to tell.
            let _ = help_or_error.print();
            return if help_or_error.use_stderr() { Exit::Usage } else { Exit::Done }.into();
        }
    };
    let outcome = match arguments.command {
        Command::Measure(arguments) => measure::run(&arguments),
        Command::Decode(arguments) => decode::run(&arguments),
        Command::Read(arguments) => read::run(&arguments),
        Command::Delimit(arguments) => delimit::run(&arguments),
        Command::Board(Board::Selftest(arguments)) => board::selftest(&arguments),
        Command::Board(Board::Start(arguments)) => board::start(&arguments),
        Command::Truth(arguments) => truth::run(&arguments),
        Command::Lab(arguments) => lab::run(&arguments),
        Command::Size(arguments) => size::run(&arguments),
    };
    match outcome {
        Ok(exit) => exit,
        Err(failure) => {
            report::say(&failure.message);
            failure.exit
        }
    }
    .into()
}
