//! The command line: `deltaline measure`, `decode`, `truth`, `read`, `delimit`, `key`, `exchange`, `board`, `lab`, `flows`,
//! `store`, `query`, `plan`, `stamp`, `size`, `advise`, `completions` and `manual`.
//!
//! The program parses the command line, calls the libraries and prints; exit codes are in `deltaline --help`.

mod advise;
mod allow;
mod arguments;
mod board;
mod both;
mod causes;
mod common_span;
mod decode;
mod delimit;
mod described;
mod endpoint;
mod exchange;
mod exit;
mod failure;
mod flows;
#[cfg(feature = "hardware")]
mod hardware;
#[cfg(not(feature = "hardware"))]
#[path = "without_hardware.rs"]
mod hardware;
mod hash;
mod identity;
mod input;
mod keys;
#[cfg(feature = "lab")]
mod lab;
#[cfg(not(feature = "lab"))]
#[path = "without_lab.rs"]
mod lab;
mod manual;
mod matched;
mod measure;
pub mod outside;
mod parse;
mod pass;
mod plan;
mod point;
mod points;
mod progress;
mod query;
mod read;
mod recordings;
mod report;
mod show;
mod signals;
mod size;
mod stamp;
mod store;
mod truth;
mod wrong_stamps;

use board::Board;
use clap::{CommandFactory, Parser, Subcommand};
use exchange::Exchange;
use exit::Exit;
use failure::Failure;
use std::ffi::OsString;
use std::io::{self, Write as _};
use std::process::ExitCode;

/// One-way delay, its deviation and loss between two points of a path.
///
/// Both points keep the same small table of packet counts and timestamp sums (Lossy Difference Aggregator); the
/// difference of the two tables gives mean, standard deviation and loss.
#[derive(Debug, Parser)]
#[command(name = "deltaline", version, after_help = exit::help(), after_long_help = exit::help())]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Measure between two captures, each through a measurement point
    #[command(after_help = measure::EXAMPLES, after_long_help = measure::EXAMPLES)]
    Measure(measure::Measure),
    /// Decode the control frames of captures of a management port
    #[command(after_help = decode::EXAMPLES, after_long_help = decode::EXAMPLES)]
    Decode(decode::Decode),
    /// Read control frames live from a serial port or a network interface, or from a recording
    ///
    /// A live source that vanishes is waited for and read on. An interval is shown when the next one begins, which says whether
    /// delimiters were ignored in it; if none comes, a second and its own length later.
    #[command(after_help = read::EXAMPLES, after_long_help = read::EXAMPLES)]
    Read(read::Read),
    /// Send the delimiters that cut a path's packets into intervals, out of a network interface in front of the path
    ///
    /// They must follow the packets' path, through the same queue. Every tap on it that is configured alike ends its interval
    /// where one passes. Their number is that of the interval that ends; the first interval is always void.
    #[command(after_help = delimit::EXAMPLES, after_long_help = delimit::EXAMPLES)]
    Delimit(delimit::Delimit),
    /// Make a key that authenticates control frames and delimiters, or add one to those of a file
    #[command(after_help = keys::EXAMPLES, after_long_help = keys::EXAMPLES)]
    Key(keys::AddKey),
    /// Find out loss and delays between two ends, each of which has its own recording
    ///
    /// No packet goes to the other end: the sender asks for a table of what the receiver has seen, and when it saw the packets that
    /// differ. Losses, the mean and which packets differ are those of all packets, to the nanosecond; the deviation and percentiles are
    /// estimates from rows and a sample.
    #[command(subcommand)]
    Exchange(exchange::Exchange),
    /// Drive a board at a serial port
    #[command(subcommand)]
    Board(board::Board),
    /// Compare two captures packet by packet
    #[command(after_help = truth::EXAMPLES, after_long_help = truth::EXAMPLES)]
    Truth(truth::Truth),
    /// Compare two captures flow by flow
    #[command(subcommand)]
    Flows(flows::Flows),
    /// Write the numbers of recorded control frames as Parquet, hour by hour, for months
    #[command(after_help = store::EXAMPLES, after_long_help = store::EXAMPLES)]
    Store(store::Store),
    /// Ask a store for any segment and any time
    ///
    /// Recordings that are not closed yet are read, too.
    #[command(after_help = query::EXAMPLES, after_long_help = query::EXAMPLES)]
    Query(query::Query),
    /// Run the LDA paper's experiments, and some more
    #[command(after_help = lab::EXAMPLES, after_long_help = lab::EXAMPLES)]
    Lab(lab::Lab),
    /// Choose which routers of a network to upgrade, so that few probes measure every path
    ///
    /// Upgraded routers (m-routers) measure their own delay; beside every other one a server sends probes. A path is cut into segments
    /// where it passes an m-router, and a segment that many paths have in common is probed once (MPLANE, section VI of the LDA paper).
    #[command(after_help = plan::EXAMPLES, after_long_help = plan::EXAMPLES)]
    Plan(plan::Plan),
    /// Measure a link that no measurement point watches, by test packets (STAMP, RFC 8762)
    #[command(subcommand)]
    Stamp(stamp::Stamp),
    /// Size a design: banks, rows and prefixes for a rate, a range of losses and target errors
    #[command(after_help = arguments::EXAMPLES, after_long_help = arguments::EXAMPLES)]
    Size(arguments::Size),
    /// Say which method to take, by measurements of all methods with equal memory
    #[command(after_help = advise::EXAMPLES, after_long_help = advise::EXAMPLES)]
    Advise(advise::Advise),
    /// Write what a shell needs to complete commands and options
    #[command(after_help = manual::COMPLETIONS, after_long_help = manual::COMPLETIONS)]
    Completions(manual::Completions),
    /// Write the pages of `man`, one for each command
    #[command(after_help = manual::EXAMPLES, after_long_help = manual::EXAMPLES)]
    Manual(manual::Manual),
}

/// Does what the process's command line says.
pub fn main() -> ExitCode {
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(help_or_error) => {
            let text = help_or_error.render().to_string();
            let printable = report::printable(&text);
            // If it cannot be printed there is nobody to read it.
            let _ = match printable == text {
                true => help_or_error.print(),
                false => io::stderr().write_all(printable.as_bytes()),
            };
            if !help_or_error.use_stderr() {
                return Exit::Done.into();
            }
            let error = text.lines().next().unwrap_or_default().trim_start_matches("error: ");
            let failure = Failure::new(Exit::Usage, format!("{error}; see `deltaline --help`"));
            return end_with(&failure).into();
        }
    };
    let result = match arguments.command {
        Command::Measure(arguments) => measure::run(&arguments),
        Command::Decode(arguments) => decode::run(&arguments),
        Command::Read(arguments) => read::run(&arguments),
        Command::Delimit(arguments) => delimit::run(&arguments),
        Command::Key(arguments) => keys::run(&arguments),
        Command::Exchange(Exchange::Serve(arguments)) => exchange::serve(&arguments),
        Command::Exchange(Exchange::Ask(arguments)) => exchange::ask_receiver(&arguments),
        Command::Board(Board::Selftest(arguments)) => board::selftest(&arguments),
        Command::Board(Board::Start(arguments)) => board::start(&arguments),
        Command::Truth(arguments) => truth::run(&arguments),
        Command::Flows(arguments) => flows::run(&arguments),
        Command::Store(arguments) => store::run(&arguments),
        Command::Query(arguments) => query::run(&arguments),
        Command::Lab(arguments) => lab::run(&arguments),
        Command::Plan(arguments) => plan::run(&arguments),
        Command::Stamp(arguments) => stamp::run(&arguments),
        Command::Size(arguments) => size::run(&arguments),
        Command::Advise(arguments) => advise::run(&arguments),
        Command::Completions(arguments) => manual::completions(&arguments, Arguments::command()),
        Command::Manual(arguments) => manual::manual(&arguments, Arguments::command()),
    };
    match result {
        Ok(exit) => exit,
        Err(failure) => {
            report::say(&failure.message);
            end_with(&failure)
        }
    }
    .into()
}

/// How the program ends with a failure, which a program that asked for JSON gets as such.
fn end_with(failure: &Failure) -> Exit {
    let arguments: Vec<OsString> =
        std::env::args_os().skip(1).take_while(|argument| argument != "--").collect();
    let command = arguments.first().and_then(|command| command.to_str());
    let is_of_flows = |argument: &OsString| argument.to_string_lossy().split('=').next() == Some("--flows");
    let is_lines = command == Some("read") || command == Some("query") && arguments.iter().any(is_of_flows);
    if arguments.iter().any(|argument| argument == "--json") {
        let object = failure.json(is_lines);
        let printed = match is_lines {
            true => report::print_json_line(&object).map(|_| ()),
            false => report::print_json(&object),
        };
        if let Err(failure) = printed {
            report::say(&failure.message);
        }
    }
    failure.exit
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Arguments::command().debug_assert();
    }
}
