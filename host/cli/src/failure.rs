//! Why there is no result: one message for people, one object for programs.
//!
//! A message is `what is wrong; what to do about it`, with the file in front if there is one. As JSON the parts stand apart:
//! `error`, `file`, `place`, `remedy` (`docs/json.md`), on standard output in the place of the result.
//!
//! # Test plan
//!
//! `tests/json.rs`: failures of every kind have their file, place and remedy, and the exit codes of before.

use crate::exit::Exit;
use crate::show::json::Schema;
use deltaline_capture::exact::MatchError;
use deltaline_capture::replay::CutError;
use deltaline_capture::{CaptureError, Place, WriteError};
use deltaline_collect::feed::FeedError;
use serde::Serialize;

/// Why there is no result.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) message: String,
    file: Option<String>,
    place: Option<PlaceOutput>,
}

/// Where in a capture.
#[derive(Clone, Copy, Debug, Serialize)]
struct PlaceOutput {
    /// From 1.
    packet: u64,
    /// Of the uncompressed capture, from 0.
    byte: u64,
}

#[derive(Serialize)]
struct Output<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    event: Option<&'static str>,
    schema: Schema,
    error: &'a str,
    file: Option<&'a str>,
    place: Option<PlaceOutput>,
    remedy: Option<&'a str>,
    exit_code: u8,
}

impl Failure {
    pub(crate) fn new(exit: Exit, message: impl ToString) -> Self {
        Failure { exit, message: message.to_string(), file: None, place: None }
    }

    /// The file that it concerns, which the message names already.
    pub(crate) fn of_file(self, file: impl ToString) -> Self {
        Failure { file: Some(file.to_string()), ..self }
    }

    /// The same with one more remedy.
    pub(crate) fn or_else(self, remedy: &str) -> Self {
        Failure { message: format!("{}, or {remedy}", self.message), ..self }
    }

    /// Its object: as an event of its own among lines, or alone.
    pub(crate) fn json(&self, is_line: bool) -> impl Serialize {
        let (error, remedy) = match self.message.split_once("; ") {
            Some((error, remedy)) => (error, Some(remedy)),
            None => (self.message.as_str(), None),
        };
        Output {
            event: is_line.then_some("error"),
            schema: Schema::of("error"),
            error,
            file: self.file.as_deref(),
            place: self.place,
            remedy,
            exit_code: self.exit as u8,
        }
    }
}

impl From<CaptureError> for Failure {
    fn from(error: CaptureError) -> Self {
        let failure = Failure::new(Exit::Input, &error).of_file(error.file());
        let place = error.place().map(|Place { packet, offset, .. }| (*packet, *offset));
        Failure { place: place.map(|(packet, byte)| PlaceOutput { packet, byte }), ..failure }
    }
}

impl From<FeedError> for Failure {
    fn from(error: FeedError) -> Self {
        let exit = match error {
            FeedError::Missing { .. }
            | FeedError::InterfaceDown { .. }
            | FeedError::NoCarrier { .. }
            | FeedError::NoPort { .. }
            | FeedError::NoInterface { .. } => Exit::Missing,
            FeedError::Busy { .. } => Exit::Busy,
            FeedError::PortDenied { .. } | FeedError::InterfaceDenied { .. } => Exit::Denied,
            FeedError::NoCommands { .. } => Exit::Usage,
            FeedError::Capture(error) => return error.into(),
            FeedError::NoRecording { .. } => Exit::Input,
        };
        // Rights that are the program's own are nothing for one that loads the simulator.
        let may_have_rights =
            matches!(error, FeedError::InterfaceDenied { .. }) && !cfg!(feature = "hardware");
        let failure = Failure::new(exit, error);
        match may_have_rights {
            true => failure.or_else("once `sudo setcap cap_net_raw+ep \"$(command -v deltaline)\"`"),
            false => failure,
        }
    }
}

impl From<WriteError> for Failure {
    fn from(error: WriteError) -> Self {
        let file = match &error {
            WriteError::Io { file, .. }
            | WriteError::Special { file }
            | WriteError::Timestamp { file, .. }
            | WriteError::Length { file, .. }
            | WriteError::Text { file, .. } => file.clone(),
        };
        Failure::new(Exit::Output, error).of_file(file)
    }
}

impl From<MatchError> for Failure {
    fn from(error: MatchError) -> Self {
        match error {
            MatchError::Cut(error) => error.into(),
            error @ MatchError::Files(_) => Failure::new(Exit::Output, error),
        }
    }
}

impl From<CutError> for Failure {
    fn from(error: CutError) -> Self {
        Failure::new(Exit::Usage, format!("--interval: {error}"))
    }
}
