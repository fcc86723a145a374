//! Verilator as a linter.

use crate::compile::{Source, check_top, write, write_source};
use crate::error::Error;
use crate::toolchain::Toolchain;

/// What to leave out of, or add to, a lint run.
#[derive(Clone, Copy, Debug, Default)]
pub struct LintOptions<'a> {
    /// Statements of a Verilator configuration file, such as
    /// `lint_off -rule UNUSEDSIGNAL -file "*" -match "*'pad'*"`, one on each line. The Verilog text is a file named
    /// after the top module, `<top>.v`.
    pub waivers: &'a str,
    /// Further arguments for Verilator, such as `-Wno-DECLFILENAME`.
    pub arguments: &'a [&'a str],
}

/// A warning about Verilog text.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Warning {
    /// Verilator's name of the rule, such as `WIDTHEXPAND`.
    pub rule: String,
    /// Line in the Verilog text, from 1; 0 if the warning has no place.
    pub line: u32,
    /// Column in the line, from 1; 0 if the warning has no place.
    pub column: u32,
    /// What is wrong, with the lines that Verilator adds to explain it.
    pub message: String,
}

/// Checks `source` with all of Verilator's warnings (`-Wall`) and returns those that no waiver covers.
///
/// # Errors
///
/// [`Error::Verilator`] if the text is not valid Verilog, [`Error::Io`] if Verilator does not run.
pub fn lint(toolchain: &Toolchain, source: &Source, options: LintOptions) -> Result<Vec<Warning>, Error> {
    check_top(source.top)?;
    let folder =
        tempfile::tempdir().map_err(Error::io("cannot create a folder in", &std::env::temp_dir()))?;
    let waivers = folder.path().join("waivers.vlt");
    write(&waivers, &format!("`verilator_config\n{}\n", options.waivers))?;
    let file = write_source(folder.path(), source)?;
    let output = toolchain
        .verilator()
        .current_dir(folder.path())
        .args(["--lint-only", "-Wall", "-Wno-fatal", "--no-timing", "--top-module", source.top])
        .args(options.arguments)
        .args(["waivers.vlt", &file])
        .output()
        .map_err(Error::io("cannot run Verilator from", &toolchain.root))?;
    let text = String::from_utf8_lossy(&output.stderr);
    if output.status.success() {
        Ok(parse(&text))
    } else {
        Err(Error::Verilator { top: source.top.to_string(), message: text.trim().to_string() })
    }
}

/// Reads `%Warning-RULE: file:line:column: message` and the indented lines that follow it.
fn parse(text: &str) -> Vec<Warning> {
    let mut warnings: Vec<Warning> = Vec::new();
    for line in text.lines() {
        if let Some((rule, rest)) = line.strip_prefix("%Warning-").and_then(|rest| rest.split_once(": ")) {
            let mut fields = rest.splitn(4, ':');
            let mut place = || {
                let _file = fields.next()?;
                let line: u32 = fields.next()?.parse().ok()?;
                let column: u32 = fields.next()?.parse().ok()?;
                Some((line, column, fields.next()?.trim()))
            };
            let (line, column, message) = place().unwrap_or((0, 0, rest));
            warnings.push(Warning { rule: rule.to_string(), line, column, message: message.to_string() });
        } else if line.starts_with('%') {
            // `%Error: Exiting due to ...` ends the list.
            break;
        } else if let Some(warning) = warnings.last_mut() {
            warning.message.push('\n');
            warning.message.push_str(line.trim_end());
        }
    }
    warnings
}

#[cfg(test)]
mod tests {
    //! Test plan: a warning with a place and explanation, one without a place, no text. The whole path, from
    //! Verilog text to warnings, is tested with the real Verilator in the folder `tests`.

    use super::*;

    #[test]
    fn warnings_are_read_with_place_and_explanation() {
        let text = "%Warning-WIDTHEXPAND: a.v:2:60: Operator ADD: expects 40 bits\n      : note: In 'top'\n\
                    %Warning-EOFNEWLINE: something: else\n";
        let warnings = parse(text);
        assert_eq!(warnings.len(), 2);
        let expected = ("WIDTHEXPAND", 2, 60, "Operator ADD: expects 40 bits\n      : note: In 'top'");
        let first = &warnings[0];
        assert_eq!((first.rule.as_str(), first.line, first.column, first.message.as_str()), expected);
        let second = &warnings[1];
        assert_eq!(
            (second.rule.as_str(), second.line, second.message.as_str()),
            ("EOFNEWLINE", 0, "something: else")
        );
        assert_eq!(parse(""), []);
    }
}
