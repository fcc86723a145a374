//! How the program ends: exit codes.

use deltaline_collect::evaluation::{Evaluation, Unusable};
use deltaline_collect::summary::Finding;
use deltaline_collect::verdict::Void;
use deltaline_estimate::Reason;
use std::process::ExitCode;

/// The exit codes, which stay as they are from release to release.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All went well.
    #[default]
    Done = 0,
    /// The command line is wrong.
    Usage = 2,
    /// An input cannot be read.
    Input = 3,
    /// The two ends are configured differently.
    Configuration = 4,
    /// Control frames are lost, corrupted or contradict each other, or an interval is void for another reason.
    Void = 5,
    /// No delay could be identified.
    NotIdentifiable = 6,
    /// An output cannot be written.
    Output = 7,
    /// A tool is missing, or the hardware cannot be built.
    Hardware = 8,
    /// The two ends have not seen the same packets, or are swapped.
    Ends = 9,
    /// The measurement was refused because it would be wrong.
    Refused = 10,
    /// There is no such port or interface, or it cannot be used.
    Missing = 11,
    /// Another program has the port.
    Busy = 12,
    /// The user may not open the port or interface.
    Denied = 13,
    /// Nothing came in time.
    NoData = 14,
    /// What answers is not the board that was expected.
    WrongBoard = 15,
    /// Estimates contradict the board's own truth.
    SelfTest = 16,
    /// No design meets the targets.
    Unmet = 17,
    /// What an end of an exchange says is not authentic, or breaks the rules.
    Unauthentic = 18,
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
            Err(Unusable::Void(Void::TimedCut { .. })) => Exit::Refused,
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
        let found: Vec<Exit> = exits.into_iter().collect();
        [Exit::Output, Exit::Configuration, Exit::Void, Exit::Refused, Exit::Ends, Exit::NotIdentifiable]
            .into_iter()
            .find(|exit| found.contains(exit))
            .unwrap_or_default()
    }
}
