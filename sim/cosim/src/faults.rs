//! Faults: small changes planted in a module's Verilog, told apart by an input, so that they take one build.
//!
//! A fault replaces a text of the module, once, by another. Both are statements, conditions of an `if`, or
//! expressions; the module then does the one or the other, as its new input `fault` says. Faults of the same text may
//! be planted together.
//!
//! # Test plan
//!
//! Every kind of text, and what is none, below; `mutations` and the checks' own tests plant some two hundred.

use crate::bench::with_fault;
use crate::error::{CheckError, HardwareError};
use deltaline_hdl::emit::reader;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::thread;

/// A change of the emitted text that a check must notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// What goes wrong.
    pub what: &'static str,
    /// Text just before the place, which stays: it says which of several places is meant.
    pub before: &'static str,
    /// The emitted text.
    pub from: &'static str,
    /// What it is replaced with.
    pub to: &'static str,
}

/// A fault in the first place that has the text `from`.
pub const fn fault(what: &'static str, from: &'static str, to: &'static str) -> Fault {
    Fault { what, before: "", from, to }
}

/// What became of a fault.
#[derive(Debug)]
pub enum Outcome {
    /// The check failed, with this message.
    Caught(String),
    /// The check passed: the test bench is blind to the fault.
    Survived,
    /// The emitted text does not hold the fault's text: it has to be brought up to date.
    Stale,
}

/// A module with faults in it. All are off, unless [`Planted::outcome`] switches one on.
pub struct Planted {
    /// The module's Verilog.
    pub verilog: String,
    /// Those whose text was found; the input's value is the place here, from one.
    found: Vec<&'static str>,
}

impl Planted {
    /// Plants faults in module `top`, at most 255.
    pub fn new(verilog: &str, top: &str, faults: impl IntoIterator<Item = Fault>) -> Self {
        let mut verilog = with_input(verilog, top, "fault");
        let mut found = vec![];
        for Fault { what, before, from, to } in faults {
            let place = format!("{before}{from}");
            if verilog.contains(&place) {
                found.push(what);
                let is_on = format!("{top}.fault == 8'd{}", found.len());
                verilog = verilog.replacen(&place, &format!("{before}{}", either(&is_on, from, to)), 1);
            }
        }
        Planted { verilog, found }
    }

    /// Runs a check of [`Planted::verilog`] with a fault switched on.
    ///
    /// # Errors
    ///
    /// Verilator failed, which says nothing about the fault.
    pub fn outcome<T>(
        &self,
        fault: &str,
        check: impl FnOnce(&str) -> Result<T, CheckError>,
    ) -> Result<Outcome, CheckError> {
        let Some(place) = self.found.iter().position(|found| *found == fault) else {
            return Ok(Outcome::Stale);
        };
        outcome(place as u64 + 1, || check(&self.verilog))
    }
}

/// Runs a check of Verilog with an input `fault` while that input has a value: what became of the fault of that number.
///
/// # Errors
///
/// Verilator failed, which says nothing about the fault.
pub fn outcome<T>(fault: u64, check: impl FnOnce() -> Result<T, CheckError>) -> Result<Outcome, CheckError> {
    match with_fault(fault, check) {
        Ok(_) => Ok(Outcome::Survived),
        Err(error @ CheckError::Hardware(HardwareError::Verilator(_))) => Err(error),
        Err(noticed) => Ok(Outcome::Caught(noticed.to_string())),
    }
}

/// Plants faults in a module, runs the check on the module without and with each; returns those that were not caught. Every
/// processor takes its share of the faults.
///
/// # Errors
///
/// The module does not pass without faults, or Verilator failed.
pub fn missed<T>(
    verilog: &str,
    top: &str,
    faults: &[Fault],
    check: impl Fn(&str) -> Result<T, CheckError> + Sync,
) -> Result<Vec<(&'static str, Outcome)>, CheckError> {
    let planted = Planted::new(verilog, top, faults.iter().copied());
    check(&planted.verilog)?;
    let workers = thread::available_parallelism().map_or(1, NonZero::get);
    let share = |worker: usize| {
        let mut missed = vec![];
        for Fault { what, .. } in faults.iter().skip(worker).step_by(workers) {
            match planted.outcome(what, &check)? {
                Outcome::Caught(_) => {}
                outcome => missed.push((*what, outcome)),
            }
        }
        Ok(missed)
    };
    let shares: Vec<Result<_, CheckError>> = thread::scope(|scope| {
        let share = &share;
        let running: Vec<_> = (0..workers).map(|worker| scope.spawn(move || share(worker))).collect();
        running.into_iter().map(|worker| worker.join().unwrap_or_else(|panic| resume_unwind(panic))).collect()
    });
    let mut missed = vec![];
    for share in shares {
        missed.extend(share?);
    }
    Ok(missed)
}

/// The Verilog with one more input of module `top`, eight bits wide.
pub(crate) fn with_input(verilog: &str, top: &str, input: &str) -> String {
    let Some(module) = reader::module(verilog, top) else { return verilog.to_string() };
    let (before, behind) = verilog.split_at(module.start);
    let behind = behind.replacen('(', &format!("({input},"), 1);
    let behind = behind.replacen(");", &format!(");\n    input wire [7:0] {input};"), 1);
    before.to_string() + &behind
}

/// Verilog that is `to` where `is_on` holds and `from` otherwise.
pub(crate) fn either(is_on: &str, from: &str, to: &str) -> String {
    if let (Some((from, rest)), Some((to, _))) = (condition(from), condition(to)) {
        return format!("if (({is_on}) ? ({to}) : ({from})) begin{rest}");
    }
    // Statements that are left out before others.
    if let Some(left_out) = from.strip_suffix(to).filter(|text| text.trim_end().ends_with(';')) {
        return format!("if (!({is_on})) begin {left_out} end {to}");
    }
    match (assignment(from), assignment(to)) {
        // An assignment that becomes another.
        (Some(_), Some(_)) if from.ends_with(';') => {
            format!("if ({is_on}) begin {to} end else begin {from} end")
        }
        // The beginning of one.
        (Some((target, from)), Some((_, to))) => format!("{target} = (({is_on}) ? ({to}) : ({from}))"),
        _ => {
            let end = if from.ends_with(';') { ";" } else { "" };
            let (from, to) = (from.trim_end_matches(';'), to.trim_end_matches(';'));
            format!("(({is_on}) ? ({to}) : ({from})){end}")
        }
    }
}

/// The condition of an `if`, and the text behind its `begin`.
fn condition(text: &str) -> Option<(&str, &str)> {
    text.strip_prefix("if (")?.split_once(") begin")
}

/// Target and value of an assignment, or of its beginning; " <= " may also compare.
fn assignment(text: &str) -> Option<(&str, &str)> {
    let non_blocking = || text.split_once(" <= ").filter(|_| text.ends_with(';'));
    let (target, value) = text.split_once(" = ").or_else(non_blocking)?;
    (!target.trim().contains([' ', '('])).then_some((target, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_of_text() {
        for (from, to, expected) in [
            ("a = b;", "a = c;", "if (on) begin a = c; end else begin a = b; end"),
            ("a[2] <= b;", "a[2] <= c;", "if (on) begin a[2] <= c; end else begin a[2] <= b; end"),
            ("a = b;", "", "if (!(on)) begin a = b; end "),
            ("a = b;\nend", "end", "if (!(on)) begin a = b;\n end end"),
            ("if (b) begin", "if (c) begin", "if ((on) ? (c) : (b)) begin"),
            ("if (b) begin\n  x", "if (c) begin\n  x", "if ((on) ? (c) : (b)) begin\n  x"),
            ("a = (b)", "a = (c)", "a = ((on) ? ((c)) : ((b)))"),
            ("b & c;", "b;", "((on) ? (b) : (b & c));"),
            ("b <= 1", "b <= 2", "((on) ? (b <= 2) : (b <= 1))"),
            ("(b != 1)", "(b <= 1)", "((on) ? ((b <= 1)) : ((b != 1)))"),
        ] {
            assert_eq!(either("on", from, to), expected);
        }
    }

    #[test]
    fn the_input_is_added_and_texts_are_counted() {
        let faults = [
            fault("one", "a = b;", "a = c;"),
            fault("none", "x = y;", "x = z;"),
            fault("two", "a = b;", "a = d;"),
        ];
        let planted = Planted::new("module m(a,b);\n    a = b;\n", "m", faults);
        assert!(planted.verilog.starts_with("module m(fault,a,b);\n    input wire [7:0] fault;\n"));
        assert!(planted.verilog.contains("m.fault == 8'd1") && planted.verilog.contains("m.fault == 8'd2"));
        assert_eq!(planted.found, ["one", "two"]);
        let stale = planted.outcome("none", |_| Ok(())).unwrap();
        assert!(matches!(stale, Outcome::Stale));
        assert!(matches!(planted.outcome("two", |_| Ok(())).unwrap(), Outcome::Survived));
    }
}
