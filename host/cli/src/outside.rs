//! Where texts and bytes of others come in, without the files and sockets that they come from: for the checks of
//! `sim/hostile`, which give them anything.
//!
//! # Test plan
//!
//! `sim/hostile`: its corpus, as it is and mutilated; libFuzzer (`fuzz/`).

use crate::{Arguments, Command, endpoint, size};
use clap::Parser;
use hyper::rt::{Read, Write};
use std::path::Path;

/// What a command line comes to that names no file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Understood {
    /// It is refused, with this message.
    Refused(String),
    /// It is a command's.
    Command,
    /// It is `deltaline size`, whose result is this JSON.
    Size(String),
}

/// Reads a command line, behind the program's name, and does what `size` does, but for writing files and reading designs that
/// are not shipped.
pub fn understood(words: &[&str]) -> Understood {
    let size = match Arguments::try_parse_from([&["deltaline"], words].concat()).map(|read| read.command) {
        Ok(Command::Size(size)) if !size.design.iter().any(|name| Path::new(name).exists()) => size,
        Ok(_) => return Understood::Command,
        Err(refused) => return Understood::Refused(refused.render().to_string()),
    };
    match size::sized(&size) {
        Ok(output) => serde_json::to_string(&output)
            .map_or_else(|reason| Understood::Refused(reason.to_string()), Understood::Size),
        Err(refused) => Understood::Refused(refused.message),
    }
}

/// Answers one connection to the figures' endpoint, whose page is this text.
pub async fn converse(connection: impl Read + Write + Unpin + 'static, page: &'static str) {
    endpoint::converse(connection, endpoint::Page::of(page)).await;
}
