//! What goes to standard output and standard error: text, JSON, messages, and the form of tables.
//!
//! Names of files, and texts of designs and boards, may hold anything: control characters and those that format text unseen, with which a
//! terminal can be made to show something else, are written as escapes.
//!
//! # Test plan
//!
//! Characters of both control ranges, and of each that formats; JSON with them stays JSON. `tests/failures.rs`: names of files with escape sequences
//! in messages, tables, JSON and reports.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::show::json::Schema;
use comfy_table::{CellAlignment, Table, presets};
pub(crate) use deltaline_collect::text::duration;
use serde::Serialize;
use std::fmt::Write as _;
use std::io::{self, ErrorKind, Write as _};

/// Writes a result to standard output. Nobody reading it any more is no error.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    print_part(text).map(|_| ())
}

/// As [`print()`]; says whether anybody may still be reading.
pub(crate) fn print_part(text: &str) -> Result<bool, Failure> {
    let mut output = io::stdout().lock();
    match output.write_all(printable(text).as_bytes()).and_then(|()| output.flush()) {
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
    print(&(plain_json(&text) + "\n"))
}

/// Writes a result as a line of JSON to standard output; says whether anybody may still be reading.
pub(crate) fn print_json_line(result: &impl Serialize) -> Result<bool, Failure> {
    let text = serde_json::to_string(result).map_err(|error| Failure::new(Exit::Output, error))?;
    print_part(&(plain_json(&text) + "\n"))
}

/// Writes a message to standard error; if that fails there is nobody to tell.
pub(crate) fn say(message: &str) {
    // Names may hold ends of lines: what follows one does not look like a message of its own.
    let _ = writeln!(io::stderr(), "deltaline: {}", printable(message).replace('\n', "\n  "));
}

/// A text with escapes in the place of control characters, ends of lines and tabulators left out.
pub(crate) fn printable(text: &str) -> String {
    escaped(text, |escape, character| _ = write!(escape, "{}", character.escape_unicode()))
}

/// The same of JSON, in which strings alone hold any.
fn plain_json(text: &str) -> String {
    escaped(text, |escape, character| {
        let mut units = [0; 2];
        character.encode_utf16(&mut units).iter().for_each(|unit| _ = write!(escape, "\\u{unit:04x}"));
    })
}

fn escaped(text: &str, escape: impl Fn(&mut String, char)) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        match is_unseen(character) && !matches!(character, '\n' | '\t') {
            true => escape(&mut plain, character),
            false => plain.push(character),
        }
    }
    plain
}

/// Whether a character shows nothing itself: Unicode's categories Cc, Cf, Zl and Zp. Among them are those that turn what follows from right
/// to left.
fn is_unseen(character: char) -> bool {
    character.is_control()
        || matches!(u32::from(character),
            0xad | 0x600..=0x605 | 0x61c | 0x6dd | 0x70f | 0x890..=0x891 | 0x8e2 | 0x180e | 0x200b..=0x200f
            | 0x2028..=0x202e | 0x2060..=0x206f | 0xfeff | 0xfff9..=0xfffb | 0x110bd | 0x110cd
            | 0x13430..=0x1343f | 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a | 0xe0001 | 0xe0020..=0xe007f)
}

const NONE: &str = "-";

/// What is known, or that it is not.
pub(crate) fn or_none<T>(value: Option<T>, show: impl FnOnce(T) -> String) -> String {
    value.map_or_else(|| NONE.into(), show)
}

/// A share in per cent, with three significant digits.
pub(crate) fn per_cent(share: f64) -> String {
    let value = 100.0 * share;
    let digits = if value > 0.0 { (2.0 - value.log10().floor()).clamp(0.0, 6.0) } else { 0.0 };
    format!("{value:.*} %", digits as usize)
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;

    #[test]
    fn control_characters_are_escaped() {
        let text = "a\u{1b}[2Jb\r\u{7f}\u{9b}1m\tµ\n";
        assert_eq!(printable(text), "a\\u{1b}[2Jb\\u{d}\\u{7f}\\u{9b}1m\tµ\n");
        // From right to left, a mark of it, no width at all, an end of a line, and one beyond the first plane.
        let unseen = "a\u{202e}gpj\u{2066}\u{200f}\u{200b}\u{2028}\u{e0041}µ→漢";
        assert_eq!(printable(unseen), "a\\u{202e}gpj\\u{2066}\\u{200f}\\u{200b}\\u{2028}\\u{e0041}µ→漢");
        let json = plain_json(&serde_json::to_string(unseen).unwrap());
        assert!(!json.chars().any(is_unseen), "{json:?}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), unseen);
        let json = plain_json(&serde_json::to_string(text).unwrap());
        assert!(!json.chars().any(char::is_control), "{json:?}");
        assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
    }

    #[test]
    fn shares_are_readable() {
        for (share, text) in
            [(0.0, "0 %"), (0.012_345, "1.23 %"), (1.0, "100 %"), (0.000_123_4, "0.0123 %"), (12.3, "1230 %")]
        {
            assert_eq!(per_cent(share), text);
        }
    }
}
