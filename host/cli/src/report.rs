//! What goes to standard output and standard error: text, JSON, messages, and the form of tables.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::show::json::Schema;
use comfy_table::{CellAlignment, Table, presets};
pub(crate) use deltaline_collect::text::duration;
use serde::Serialize;
use std::io::{self, ErrorKind, Write};

/// Writes a result to standard output. Nobody reading it any more is no error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_part(text).map(|_| ())
}

/// As [`print()`]; says whether anybody may still be reading.
pub(crate) fn print_part(text: &str) -> Result<bool, Failure> {
    let mut output = io::stdout().lock();
    match output.write_all(text.as_bytes()).and_then(|()| output.flush()) {
        Err(reason) if reason.kind() == ErrorKind::BrokenPipe => Ok(false),
        Err(reason) => Err(Failure::new(
            Exit::Output,
            format!("standard output cannot be written: {reason}; check where it is redirected to"),
        )),
        Ok(()) => Ok(true),
    }
}

/// A result, and which keys it has.
#[derive(Serialize)]
struct Document<'a, T> {
    schema: Schema,
    #[serde(flatten)]
    result: &'a T,
}

/// Writes the result of a command as JSON to standard output.
pub(crate) fn print_result(command: &'static str, result: &impl Serialize) -> Result<(), Failure> {
    print_json(&Document { schema: Schema::of(command), result })
}

/// Writes an object as JSON to standard output.
pub(crate) fn print_json(result: &impl Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(result).map_err(|error| Failure::new(Exit::Output, error))?;
    print(&(text + "\n"))
}

/// Writes a result as a line of JSON to standard output; says whether anybody may still be reading.
pub(crate) fn print_json_line(result: &impl Serialize) -> Result<bool, Failure> {
    let text = serde_json::to_string(result).map_err(|error| Failure::new(Exit::Output, error))?;
    print_part(&(text + "\n"))
}

/// Writes a message to standard error; if that fails there is nobody to tell.
pub(crate) fn say(message: &str) {
    let _ = writeln!(io::stderr(), "deltaline: {message}");
}

const NONE: &str = "-";

/// What is known, or that it is not.
pub(crate) fn or_none<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| NONE.into(), show)
}

/// A table without clutter, numbers to the right.
pub(crate) fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header(header.iter().copied());
    for column in table.column_iter_mut() {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}
