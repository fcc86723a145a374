//! What `--through hardware` says of a program that was built without the simulated hardware.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::point::Point;
use deltaline_model::configuration::Configuration;
use deltaline_model::wire::frame::Role;

/// There is none.
pub(crate) enum Hardware {}

/// Refuses.
pub(crate) fn build(_: &Configuration) -> Result<Hardware, Failure> {
    Err(Failure::new(
        Exit::Hardware,
        "--through hardware: this program was built without the simulated hardware; build it in the repository with \
         `cargo build --release -p deltaline --features hardware`",
    ))
}

/// Nothing was built, so there is no end.
pub(crate) fn point(hardware: &Hardware, _: Role) -> Result<Box<dyn Point>, Failure> {
    match *hardware {}
}
