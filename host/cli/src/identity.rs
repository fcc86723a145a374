//! What boards say of themselves, and what is said of those that do not answer.

use crate::exit::Exit;
use crate::failure::Failure;
use deltaline_collect::follower::{FollowError, WrongVersion};
use deltaline_model::board::Top;

/// A board's top as it is called on the command line.
pub(crate) fn top_name(top: Top) -> &'static str {
    match top {
        Top::Selftest => "selftest",
        Top::RmiiTap => "rmii-tap",
    }
}

/// Why a source is not followed any further.
pub(crate) fn error_at(source: &str, error: FollowError) -> Failure {
    match error {
        FollowError::Feed(error) => error.into(),
        FollowError::Version(error) => wrong_version(source, error),
    }
}

/// A board of another release.
pub(crate) fn wrong_version(port: &str, error: WrongVersion) -> Failure {
    Failure::new(Exit::WrongBoard, format!("{port}: {error}"))
}

/// Nothing understandable came over a serial line.
pub(crate) fn no_answer(port: &str, bytes: u64, length: &str) -> Failure {
    match bytes {
        0 => Failure::new(
            Exit::NoData,
            format!(
                "{port}: nothing came within {length}; check that the board has power and is programmed (its first \
                 LED blinks), and that this is its data port: of a board with two ports, the second"
            ),
        ),
        _ => Failure::new(
            Exit::WrongBoard,
            format!(
                "{port}: {bytes} bytes came within {length}, but no message of a Deltaline board; check the port, \
                 and program the board with `cargo xtask bitstream alchitry-cu selftest`"
            ),
        ),
    }
}
