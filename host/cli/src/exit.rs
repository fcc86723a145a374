//! How the program ends: exit codes.

use clap::ValueEnum;
use deltaline_collect::evaluation::{Evaluation, Unusable};
use deltaline_collect::summary::Finding;
use deltaline_collect::verdict::Void;
use deltaline_estimate::Reason;
use std::process::ExitCode;

/// The exit codes, which stay as they are from release to release. What is said here of each is what `--help` says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Exit {
    /// All went well.
    #[default]
    Done = 0,
    /// The command line is wrong.
    Usage = 2,
    /// An input cannot be read: missing, empty, truncated, not a capture, or of a link type that is not read.
    Input = 3,
    /// The two ends, or a board and this program, are configured differently.
    Configuration = 4,
    /// Control frames are lost, corrupted or contradict each other, or an interval is void for another reason; the result is
    /// that of the other intervals. Of a store, which always holds some such, `query` says so and ends
    /// with 0, but for `--flows`; and so does `store`, unless control frames may not be believed.
    Void = 5,
    /// No delay is identifiable, nothing bounds the clocks' offset, or there is no such interval; the result says why.
    NotIdentifiable = 6,
    /// An output cannot be written, or is there already.
    Output = 7,
    /// A tool is missing, the hardware cannot be built, or this program was built without what the command takes.
    Hardware = 8,
    /// The two ends have not seen the same packets, or the files are swapped.
    Ends = 9,
    /// Refused, because the result would be wrong, as of intervals cut by no delimiter, or because it takes too much, as a plan of
    /// too many paths or an exchange with an end that is full.
    Refused = 10,
    /// The port, the interface or the other end of an exchange is missing, down or gone, or cannot be used.
    Missing = 11,
    /// The port, or the address to listen at, is in use by another program.
    Busy = 12,
    /// No permission to open the port or interface, or to listen at the address.
    Denied = 13,
    /// Nothing came in time.
    NoData = 14,
    /// The board is another one than expected, or none of Deltaline's.
    WrongBoard = 15,
    /// A board's self-test failed.
    SelfTest = 16,
    /// No design meets the targets.
    Unmet = 17,
    /// The other end of an exchange has not the same key, or breaks the rules.
    Unauthentic = 18,
}

/// Columns of the help.
const WIDTH: usize = 100;

/// What `--help` says of the exit codes.
pub(crate) fn help() -> String {
    let mut help = "Exit codes:\n".to_string();
    for exit in Exit::value_variants() {
        let value = exit.to_possible_value();
        let meaning = value.and_then(|value| value.get_help().map(ToString::to_string)).unwrap_or_default();
        let mut line = format!("  {:2} ", *exit as u8);
        for word in meaning.split(' ') {
            if line.len() + 1 + word.len() > WIDTH {
                help += &format!("{line}\n");
                line = " ".repeat(5);
            }
            line += &format!(" {word}");
        }
        help += &format!("{line}\n");
    }
    help + "\nA result goes to standard output, messages and warnings go to standard error."
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        ExitCode::from(exit as u8)
    }
}

impl Exit {
    /// How the program ends after an interval, if nothing graver happens.
    pub(crate) fn after_interval(evaluation: &Evaluation) -> Self {
        match &evaluation.result {
            Ok(_) => Exit::Done,
            Err(Unusable::Void(Void::ConfigurationMismatch { .. } | Void::OtherConfiguration { .. })) => {
                Exit::Configuration
            }
            Err(Unusable::Void(Void::TimedCut { .. } | Void::TooLong { .. })) => Exit::Refused,
            Err(_) => Exit::Void,
        }
    }

    /// How the program ends after what is to be said of a segment, the gravest first.
    pub(crate) fn after_findings(findings: &[Finding]) -> Self {
        match findings.first() {
            Some(Finding::Distrusted(Reason::Unrelated) | Finding::Swapped { .. }) => Exit::Ends,
            Some(Finding::Distrusted(_) | Finding::NoDelay(_)) => Exit::NotIdentifiable,
            _ => Exit::Done,
        }
    }

    /// The gravest of several.
    pub(crate) fn gravest(exits: impl IntoIterator<Item = Exit>) -> Exit {
        let found: Vec<Exit> = exits.into_iter().filter(|exit| *exit != Exit::Done).collect();
        [
            Exit::Output,
            Exit::Input,
            Exit::Configuration,
            Exit::Void,
            Exit::Refused,
            Exit::Ends,
            Exit::NotIdentifiable,
        ]
        .into_iter()
        .find(|exit| found.contains(exit))
        .or(found.first().copied())
        .unwrap_or_default()
    }
}
