//! Formal proofs of the emitted Verilog.
//!
//! `hdl/formal` holds one file for each proof: a module that instantiates the emitted one, drives it with anything that
//! its assumptions allow, and states properties. Here is the list of proofs: what is emitted, how deep the solver looks,
//! and which faults each proof must notice. Yosys turns design and properties into SMT, yosys-smtbmc with Yices answers:
//!
//! * prove: no state within `base` cycles of the start breaks a property (bounded), and no state that follows `step`
//!   good ones does (induction), which together hold for ever. Induction needs invariants, which talk about the inside
//!   of the module; they are properties like the others, under the macro `INVARIANTS`.
//! * cover: the assumptions leave room for the situations that matter, so that no proof is true for want of a trace.
//! * faults: a change of the emitted text must break a property, without the invariants' help, on some trace from the start.
//!   The macro `FAULT` may narrow the search.
//!
//! # Test plan
//!
//! The faults test the proofs. A fault whose text is gone, an unreached cover, an unanswered question are failures.

use crate::{Failure, tools};
use deltaline_hdl::verilog::{Module, emit};
use deltaline_model::configuration::{Configuration, Settings};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

/// A proof in `hdl/formal/<name>.v`, whose top module is `<name>_proof`.
struct Proof {
    name: &'static str,
    /// What the table says of the sizes.
    size: &'static str,
    /// Macros for yosys.
    defines: &'static str,
    design: fn() -> Result<String, Failure>,
    /// Cycles from the start without a bad state: at least `step`.
    base: u32,
    /// Good cycles behind which no bad one comes.
    step: u32,
    /// Cycles within which everything coverable is reached.
    cover: u32,
    /// The cycle in which a planted fault must show: late enough for all of them, for damage stays.
    late: u32,
    faults: &'static [Fault],
}

/// A change of the emitted text that the proof must notice.
struct Fault {
    what: &'static str,
    from: &'static str,
    to: &'static str,
}

const fn fault(what: &'static str, from: &'static str, to: &'static str) -> Fault {
    Fault { what, from, to }
}

const PROOFS: [Proof; 1] = [Proof {
    name: "lda",
    size: "A = 11",
    defines: "-DA=11",
    design: || Ok(emit(&Configuration::new(Settings::default())?, Module::Lda, "lda")?),
    base: 3,
    step: 2,
    cover: 16,
    late: 14,
    faults: &[
        fault("no forwarding at distance 1", "lower_forward_1 = hazard_1_2_q;", "lower_forward_1 = 1'b0;"),
        fault("no forwarding at distance 4", "upper_forward_4 = hazard_4_2_q;", "upper_forward_4 = 1'b0;"),
        fault(
            "forwarding across the epoch switch",
            "hazard_0 = valid_1_q & (copy_1_q == copy_0_q) &",
            "hazard_0 = valid_1_q &",
        ),
        fault("upper half not cleared", "upper_clear_0 = clearing_0_q;", "upper_clear_0 = 1'b0;"),
    ],
}];

/// One line of the table.
struct Outcome {
    property: String,
    engine: &'static str,
    depth: String,
    result: String,
    good: bool,
}

/// Runs the proofs, or the one called `only`, and prints a table.
pub(crate) fn prove(only: Option<&str>) -> Result<(), Failure> {
    let chosen: Vec<&Proof> =
        PROOFS.iter().filter(|proof| only.is_none_or(|name| name == proof.name)).collect();
    if chosen.is_empty() {
        let names: Vec<&str> = PROOFS.iter().map(|proof| proof.name).collect();
        return Err(format!("no proof has this name; there are {}", names.join(", ")).into());
    }
    tools::install(tools::Selection::Synthesis)?;
    tools::install(tools::Selection::Formal)?;
    println!("{:<60} {:<22} {:>6}  {:<34} {:>7}", "property", "engine", "depth", "result", "seconds");
    let mut bad = 0;
    for proof in chosen {
        let mut line = |outcome: &dyn Fn() -> Result<Outcome, Failure>| -> Result<(), Failure> {
            let start = Instant::now();
            let Outcome { property, engine, depth, result, good } = outcome()?;
            let seconds = start.elapsed().as_secs_f64();
            println!("{property:<60} {engine:<22} {depth:>6}  {result:<34} {seconds:>7.1}");
            bad += usize::from(!good);
            Ok(())
        };
        let design = (proof.design)()?;
        line(&|| prove_one(proof, &design))?;
        line(&|| cover_one(proof, &design))?;
        for fault in proof.faults {
            line(&|| find_one(proof, &design, fault))?;
        }
    }
    if bad == 0 { Ok(()) } else { Err(format!("{bad} of the lines above are not as they should be").into()) }
}

fn prove_one(proof: &Proof, design: &str) -> Result<Outcome, Failure> {
    let model = model(proof, design, "prove", "-DINVARIANTS")?;
    let base = ask(&model, &[], &proof.base.to_string())?;
    let answer = if base.holds { ask(&model, &["-i"], &proof.step.to_string())? } else { base };
    Ok(Outcome {
        property: format!("{}, {}", proof.name, proof.size),
        engine: "bounded and induction",
        depth: format!("{}, {}", proof.base, proof.step),
        good: answer.holds,
        result: if answer.holds { "proven".into() } else { format!("NOT PROVEN {}", answer.detail) },
    })
}

fn cover_one(proof: &Proof, design: &str) -> Result<Outcome, Failure> {
    let answer = ask(&model(proof, design, "cover", "")?, &["-c"], &proof.cover.to_string())?;
    Ok(Outcome {
        property: format!("{}: covers", proof.name),
        engine: "bounded",
        depth: proof.cover.to_string(),
        good: answer.holds,
        result: if answer.holds { "all reached".into() } else { format!("NOT REACHED {}", answer.detail) },
    })
}

fn find_one(proof: &Proof, design: &str, fault: &Fault) -> Result<Outcome, Failure> {
    let mut outcome = Outcome {
        property: format!("{}, fault: {}", proof.name, fault.what),
        engine: "bounded",
        depth: proof.late.to_string(),
        good: false,
        result: "STALE: its text is not there".into(),
    };
    if design.contains(fault.from) {
        let faulty = design.replacen(fault.from, fault.to, 1);
        let answer = ask(
            &model(proof, &faulty, "fault", "-DFAULT")?,
            &[],
            &format!("{}:{}", proof.late, proof.late + 1),
        )?;
        outcome.good = !answer.holds;
        outcome.result = if answer.holds { "MISSED".into() } else { format!("found {}", answer.detail) };
    }
    Ok(outcome)
}

/// Makes SMT of a design and a proof; the path of the file.
fn model(proof: &Proof, design: &str, task: &str, define: &str) -> Result<PathBuf, Failure> {
    let script = "\
import sys
from pyosys import libyosys as yosys
design = yosys.Design()
emitted, folder, name, model, *defines = sys.argv[1:]
defines = ' '.join(defines)
for command in (
    f'read_verilog -formal {emitted}',
    f'read_verilog -formal -overwrite -I{folder} {defines} {folder}/{name}.v',
    f'hierarchy -check -top {name}_proof',
    'proc',
    'flatten',
    'check -assert',
    'prep -nordff',
    'memory_nordff',
    'async2sync',
    f'write_smt2 -wires {model}',
):
    yosys.run_pass(command, design)
";
    let folder = tools::folder()?.join("formal-run");
    fs::create_dir_all(&folder)?;
    let emitted = folder.join(format!("{}-{task}.v", proof.name));
    fs::write(&emitted, design)?;
    let model = folder.join(format!("{}-{task}.smt2", proof.name));
    let mut yosys = tools::yosys_python()?;
    yosys.arg("-c").arg(script).arg(&emitted).arg(tools::workspace()?.join("hdl/formal"));
    yosys.arg(proof.name).arg(&model).args(proof.defines.split(' ')).arg(define);
    crate::acceptance::run(&mut yosys)?;
    Ok(model)
}

/// What the solver found.
struct Answer {
    holds: bool,
    /// The place of the first property that does not hold, and the cycle.
    detail: String,
}

fn ask(model: &Path, options: &[&str], depth: &str) -> Result<Answer, Failure> {
    let mut command: Command = tools::smtbmc()?;
    let output = command.args(options).args(["-t", depth]).arg(model).output()?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = |text: &str| printed.lines().rev().find(|line| line.contains(text));
    match (output.status.success(), line("Status: PASSED"), line("Status: FAILED")) {
        (true, Some(_), _) => Ok(Answer { holds: true, detail: String::new() }),
        (false, _, Some(_)) => {
            let step = line("in step").and_then(|line| line.split("in step ").nth(1)).unwrap_or("?");
            let place = line("Assert failed").or(line("Unreached cover")).unwrap_or("");
            let place = place.split(".v:").nth(1).and_then(|place| place.split('.').next()).unwrap_or("?");
            Ok(Answer {
                holds: false,
                detail: format!("at line {place}, cycle {}", step.trim_end_matches('.')),
            })
        }
        _ => {
            let complaint = String::from_utf8_lossy(&output.stderr);
            Err(format!("{}: yosys-smtbmc gave no answer:\n{printed}{complaint}", model.display()).into())
        }
    }
}
