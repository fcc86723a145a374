//! The proof of the hash: both of its emitted forms are the model's matrix, two cycles late.
//!
//! A solver that searches is no help: parities of hundreds of bits under other brackets are its worst case. But the leaf
//! is linear over GF(2), and a linear circuit has a normal form. Yosys makes gates of the emitted text; each signal is
//! then the set of key bits whose sum it is, with their age in cycles: of an exclusive or the symmetric difference, of a
//! register the same set one cycle older. Two outputs are equal for every key if and only if their sets are. Any gate
//! that is not linear is refused, so that nothing is proven of a circuit that this does not describe.
//!
//! Proven for all 64 bits of H3 and of Rabin, 32 for the place and 32 for the digest, each in the form that synthesis reads
//! and in the one that Verilator reads. So the two forms are also equal to each other.
//!
//! # Test plan
//!
//! Each fault, in either form, breaks the proof: a wrong bit, a mask, a sum, a stage, a gate that is not linear. Unit
//! tests, without yosys: every gate on a hand-made netlist, and what is refused (a foreign cell, a loop, another clock,
//! an undriven signal); every fault's text is in what is emitted.

use super::Outcome;
use crate::{Failure, tools};
use deltaline_hdl::emit::block::emit_block;
use deltaline_hdl::emit::stages::Clocked;
use deltaline_hdl::leaves::HashMatrix;
use deltaline_hdl::sketch::place;
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::packet::hash::{HashKind, LinearHash};
use deltaline_model::packet::identity::KEY_BITS;
use deltaline_model::sketch::digest::FIRST_HASH_BIT;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;

/// Name of the proof.
pub(super) const NAME: &str = "hash";
/// Name of the emitted module.
const TOP: &str = "hash";
/// Its output.
const OUTPUT: &str = "bits";
/// Cycles from key to hash.
const LATENCY: u32 = 2;

/// Which text of the leaf is read.
#[derive(Clone, Copy, PartialEq)]
enum Form {
    Synthesis,
    Simulation,
}

impl Form {
    const ALL: [(Form, &str); 2] = [(Form::Synthesis, "synthesis"), (Form::Simulation, "simulation")];

    fn define(self) -> &'static str {
        match self {
            Form::Synthesis => "",
            Form::Simulation => "-DVERILATOR",
        }
    }
}

/// What is proven: 32 bits of a hash.
struct Subject {
    name: &'static str,
    matrix: fn(&Configuration) -> HashMatrix,
    kind: HashKind,
    /// The hash bit of the lower and of the upper half's lowest output bit.
    first_bits: [u32; 2],
}

fn digest_bits(configuration: &Configuration) -> HashMatrix {
    HashMatrix::new(configuration, FIRST_HASH_BIT..FIRST_HASH_BIT + 32)
}

const OUTER: [u32; 2] = [0, 48];
const INNER: [u32; 2] = [FIRST_HASH_BIT, FIRST_HASH_BIT + 16];
const H3: Subject = subject("H3, the place's 32 bits", place::outer_bits, HashKind::H3, OUTER);
const SUBJECTS: [Subject; 4] = [
    H3,
    subject("H3, the digest's 32 bits", digest_bits, HashKind::H3, INNER),
    subject("Rabin, the place's 32 bits", place::outer_bits, HashKind::Rabin, OUTER),
    subject("Rabin, the digest's 32 bits", digest_bits, HashKind::Rabin, INNER),
];

const fn subject(
    name: &'static str,
    matrix: fn(&Configuration) -> HashMatrix,
    kind: HashKind,
    first_bits: [u32; 2],
) -> Subject {
    Subject { name, matrix, kind, first_bits }
}

/// A change of H3's emitted text that must be noticed: its form, what goes wrong, the text and what replaces it.
const FAULTS: [(Form, &str, &str, &str); 7] = [
    (Form::Synthesis, "a wrong bit", "bits[2] <= ^parity_2;", "bits[2] <= ^parity_1;"),
    (Form::Synthesis, "a shared sum of one term", "wire sum_0_0 = key[", "wire sum_0_0 = 1'b0 & key["),
    (Form::Synthesis, "a gate that is not linear", "bits[3] <= ^parity_3;", "bits[3] <= |parity_3;"),
    (Form::Simulation, "a mask inverted", "key[63:0] & 64'h", "key[63:0] & ~64'h"),
    (Form::Simulation, "a part left out", " ^ (key[127:64] & 64'h", " ^ (64'h0 & 64'h"),
    (Form::Simulation, "an inverted bit", "bits <= hashed;", "bits <= hashed ^ 32'h10;"),
    (Form::Simulation, "a stage too many", "bits <= hashed;", "late <= hashed; bits <= late;"),
];

/// Runs the proof; `line` takes each line of the table.
pub(super) fn prove(
    mut line: impl FnMut(&dyn Fn() -> Result<Outcome, Failure>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    for subject in &SUBJECTS {
        for (form, name) in Form::ALL {
            line(&|| {
                let difference = difference(subject, &subject.emitted()?, form)?;
                Ok(Outcome {
                    property: format!("{NAME}, {}, form for {name}", subject.name),
                    engine: "linear algebra",
                    depth: LATENCY.to_string(),
                    good: difference.is_none(),
                    result: difference.map_or("proven".into(), |what| format!("NOT PROVEN, {what}")),
                })
            })?;
        }
    }
    for (form, what, from, to) in FAULTS {
        line(&|| {
            let emitted = H3.emitted()?;
            let found = if emitted.contains(from) {
                let faulty = emitted.replacen(from, to, 1).replacen(
                    "reg [31:0] hashed;",
                    "reg [31:0] hashed; reg [31:0] late;",
                    1,
                );
                difference(&H3, &faulty, form)?.map(|what| format!("found, {what}")).ok_or("MISSED")
            } else {
                Err("STALE: its text is gone")
            };
            Ok(Outcome {
                property: format!("{NAME}, fault: {what}"),
                engine: "linear algebra",
                depth: LATENCY.to_string(),
                good: found.is_ok(),
                result: found.unwrap_or_else(str::to_string),
            })
        })?;
    }
    Ok(())
}

impl Subject {
    fn configuration(&self) -> Result<Configuration, Failure> {
        let settings = Settings { hash: self.kind, seed: 0x1234_5678_9abc_def1, ..Settings::default() };
        Ok(Configuration::new(settings)?)
    }

    fn emitted(&self) -> Result<String, Failure> {
        Ok(emit_block(&mut Clocked::new((self.matrix)(&self.configuration()?)), TOP)?)
    }
}

/// Where the emitted text is not the model's matrix; nothing if it is.
fn difference(subject: &Subject, verilog: &str, form: Form) -> Result<Option<String>, Failure> {
    let netlist = gates(verilog, form)?;
    let configuration = subject.configuration()?;
    let hash = LinearHash::new(configuration.hash(), configuration.seed());
    match Circuit::new(&netlist) {
        Ok(circuit) => {
            let found = match circuit.output(OUTPUT) {
                Ok(found) => found,
                Err(refusal) => return Ok(Some(refusal)),
            };
            if found.len() != 32 {
                return Ok(Some(format!("{OUTPUT} has {} bits", found.len())));
            }
            let hash_bits = subject.first_bits.into_iter().flat_map(|first| first..first + 16);
            for (bit, (found, hash_bit)) in found.iter().zip(hash_bits).enumerate() {
                let rows = hash.rows().iter().enumerate().filter(|(_, row)| *row >> hash_bit & 1 == 1);
                let expected: Sum = rows.map(|(bit, _)| Term::Key { bit, age: LATENCY }).collect();
                if *found != expected {
                    return Ok(Some(format!("{OUTPUT}[{bit}]")));
                }
            }
            Ok(None)
        }
        Err(refusal) => Ok(Some(refusal)),
    }
}

/// Yosys' netlist of a text.
fn gates(verilog: &str, form: Form) -> Result<Value, Failure> {
    let script = "\
import sys
from pyosys import libyosys as yosys
design = yosys.Design()
emitted, define, top, netlist = sys.argv[1:]
for command in (
    f'read_verilog {define} {emitted}',
    f'hierarchy -check -top {top}',
    'proc',
    'flatten -noscopeinfo',
    'check -assert',
    'simplemap',
    'opt_clean',
    f'write_json {netlist}',
):
    yosys.run_pass(command, design)
";
    let folder = tools::folder()?.join("formal-run");
    fs::create_dir_all(&folder)?;
    let scratch = tempfile::Builder::new().prefix("hash-").tempdir_in(&folder)?;
    let (emitted, netlist) = (scratch.path().join("hash.v"), scratch.path().join("hash.json"));
    fs::write(&emitted, verilog)?;
    let mut yosys = tools::yosys_python()?;
    yosys.arg("-c").arg(script).arg(&emitted).arg(form.define()).arg(TOP).arg(&netlist);
    crate::acceptance::run(&mut yosys)?;
    Ok(serde_json::from_str(&fs::read_to_string(&netlist)?)?)
}

/// A summand of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Term {
    /// The constant one.
    One,
    /// A bit of the key, in the order of the model, as it was `age` cycles ago.
    Key { bit: usize, age: u32 },
}

/// A sum over GF(2): terms that stand in it twice are gone.
type Sum = BTreeSet<Term>;

/// The driver of a signal.
enum Gate {
    Key(usize),
    Xor(Vec<Bit>, bool),
    Register(Bit),
}

/// A signal's number, or a constant.
type Bit = Result<u64, bool>;

/// A netlist of exclusive ors, masks, inverters and registers of one clock.
struct Circuit {
    drivers: BTreeMap<u64, Gate>,
    outputs: BTreeMap<String, Vec<Bit>>,
}

impl Circuit {
    /// Reads yosys' JSON; the refusal names what is not linear.
    fn new(netlist: &Value) -> Result<Self, String> {
        let module = &netlist["modules"][TOP];
        let (mut drivers, mut outputs) = (BTreeMap::new(), BTreeMap::new());
        let mut clock = None;
        for (name, port) in module["ports"].as_object().into_iter().flatten() {
            let bits = bits(&port["bits"])?;
            match (name.strip_prefix("word_").and_then(|word| word.parse::<usize>().ok()), name.as_str()) {
                (Some(word), _) => {
                    for (place, bit) in bits.into_iter().enumerate() {
                        // The first bit of the key is the highest of its first word.
                        let key_bit = (32 * word + 31).checked_sub(place).filter(|bit| *bit < KEY_BITS);
                        let key_bit = key_bit.ok_or_else(|| format!("{name} is no word of the key"))?;
                        drivers.insert(bit.map_err(|_| format!("{name} is constant"))?, Gate::Key(key_bit));
                    }
                }
                (None, "clk") => clock = bits.first().copied(),
                _ if port["direction"] == "output" => {
                    outputs.insert(name.clone(), bits);
                }
                _ => return Err(format!("an input {name}")),
            }
        }
        for cell in module["cells"].as_object().into_iter().flatten().map(|(_, cell)| cell) {
            let pin = |pin: &str| match bits(&cell["connections"][pin])?.as_slice() {
                &[bit] => Ok(bit),
                _ => Err(format!("a cell without a pin {pin}")),
            };
            let (output, gate) = match cell["type"].as_str().unwrap_or_default() {
                "$_XOR_" => (pin("Y")?, Gate::Xor(vec![pin("A")?, pin("B")?], false)),
                "$_XNOR_" => (pin("Y")?, Gate::Xor(vec![pin("A")?, pin("B")?], true)),
                "$_NOT_" => (pin("Y")?, Gate::Xor(vec![pin("A")?], true)),
                "$_BUF_" => (pin("Y")?, Gate::Xor(vec![pin("A")?], false)),
                // Under a mask of constants.
                "$_AND_" if let (bit, Err(mask)) | (Err(mask), bit) = (pin("A")?, pin("B")?) => {
                    (pin("Y")?, Gate::Xor(mask.then_some(bit).into_iter().collect(), false))
                }
                "$_DFF_P_" if clock == Some(pin("C")?) => (pin("Q")?, Gate::Register(pin("D")?)),
                other => return Err(format!("{other} is not linear")),
            };
            let output = output.map_err(|_| "a constant is driven")?;
            if drivers.insert(output, gate).is_some() {
                return Err(format!("signal {output} is driven twice"));
            }
        }
        Ok(Circuit { drivers, outputs })
    }

    /// What each bit of an output is the sum of.
    fn output(&self, port: &str) -> Result<Vec<Sum>, String> {
        let bits = self.outputs.get(port).ok_or_else(|| format!("no output {port}"))?;
        let mut known = BTreeMap::new();
        bits.iter().map(|bit| self.sum(*bit, &mut known)).collect()
    }

    /// What a signal is the sum of; `known` holds those of others, nothing for one that is being found.
    fn sum(&self, bit: Bit, known: &mut BTreeMap<u64, Option<Sum>>) -> Result<Sum, String> {
        let signal = match bit {
            Ok(signal) => signal,
            Err(constant) => return Ok(constant.then_some(Term::One).into_iter().collect()),
        };
        if let Some(found) = known.get(&signal) {
            return found.clone().ok_or_else(|| format!("signal {signal} depends on itself"));
        }
        known.insert(signal, None);
        let sum = match self.drivers.get(&signal) {
            None => return Err(format!("signal {signal} is not driven")),
            Some(Gate::Key(bit)) => Sum::from([Term::Key { bit: *bit, age: 0 }]),
            Some(Gate::Xor(inputs, inverted)) => {
                let mut sum: Sum = inverted.then_some(Term::One).into_iter().collect();
                for input in inputs {
                    sum = &sum ^ &self.sum(*input, known)?;
                }
                sum
            }
            Some(Gate::Register(input)) => {
                let older = |term| match term {
                    Term::Key { bit, age } => Term::Key { bit, age: age + 1 },
                    Term::One => Term::One,
                };
                self.sum(*input, known)?.into_iter().map(older).collect()
            }
        };
        known.insert(signal, Some(sum.clone()));
        Ok(sum)
    }
}

/// The signals of a JSON list.
fn bits(list: &Value) -> Result<Vec<Bit>, String> {
    let list = list.as_array().map_or(&[][..], Vec::as_slice);
    list.iter()
        .map(|bit| match (bit.as_u64(), bit.as_str()) {
            (Some(signal), _) => Ok(Ok(signal)),
            (_, Some("0")) => Ok(Err(false)),
            (_, Some("1")) => Ok(Err(true)),
            _ => Err(format!("a bit that is {bit}")),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn netlist(cells: Value) -> Value {
        let ports = json!({
            "clk": {"direction": "input", "bits": [1]},
            "word_0": {"direction": "input", "bits": [10, 11]},
            "bits": {"direction": "output", "bits": [20, "1"]},
        });
        json!({"modules": {TOP: {"ports": ports, "cells": cells}}})
    }

    fn sums(cells: Value) -> Result<Vec<Sum>, String> {
        Circuit::new(&netlist(cells))?.output(OUTPUT)
    }

    #[test]
    fn gates_are_sums_of_key_bits_with_their_age() {
        let key = |bit, age| Term::Key { bit, age };
        let two = |kind: &str| json!({"a": {"type": kind, "connections": {"A": [10], "B": [11], "Y": [20]}}});
        assert_eq!(
            sums(two("$_XOR_")).unwrap(),
            [Sum::from([key(31, 0), key(30, 0)]), Sum::from([Term::One])]
        );
        assert_eq!(sums(two("$_XNOR_")).unwrap()[0], Sum::from([key(31, 0), key(30, 0), Term::One]));
        let cells = json!({
            "a": {"type": "$_NOT_", "connections": {"A": [10], "Y": [21]}},
            "b": {"type": "$_DFF_P_", "connections": {"C": [1], "D": [21], "Q": [22]}},
            "c": {"type": "$_XOR_", "connections": {"A": [22], "B": [10], "Y": [23]}},
            "d": {"type": "$_XOR_", "connections": {"A": [23], "B": [24], "Y": [20]}},
            "e": {"type": "$_AND_", "connections": {"A": ["1"], "B": [10], "Y": [24]}},
        });
        assert_eq!(sums(cells).unwrap()[0], Sum::from([Term::One, key(31, 1)]));
    }

    #[test]
    fn what_is_not_a_linear_circuit_is_refused() {
        for (cells, refusal) in [
            (
                json!({"a": {"type": "$_AND_", "connections": {"A": [10], "B": [11], "Y": [20]}}}),
                "not linear",
            ),
            (
                json!({"a": {"type": "$_DFF_P_", "connections": {"C": [10], "D": [11], "Q": [20]}}}),
                "not linear",
            ),
            (
                json!({"a": {"type": "$_XOR_", "connections": {"A": [10], "B": [20], "Y": [20]}}}),
                "depends on itself",
            ),
            (json!({"a": {"type": "$_NOT_", "connections": {"A": [12], "Y": [20]}}}), "not driven"),
            (json!({"a": {"type": "$_NOT_", "connections": {"A": [10], "Y": [11]}}}), "driven twice"),
            (json!({"a": {"type": "$_NOT_", "connections": {"A": ["x"], "Y": [20]}}}), "a bit that is"),
        ] {
            let found = sums(cells).unwrap_err();
            assert!(found.contains(refusal), "{found}");
        }
    }

    #[test]
    fn every_fault_changes_its_form() -> Result<(), Failure> {
        let emitted = H3.emitted()?;
        let (before, behind) = emitted.split_once("`else").ok_or("one form only")?;
        for (form, what, from, to) in FAULTS {
            let (its, other) = if form == Form::Simulation { (before, behind) } else { (behind, before) };
            assert!(its.contains(from) && !other.contains(from) && from != to, "{what}");
        }
        Ok(())
    }
}
