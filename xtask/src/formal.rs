//! Formal proofs of the emitted Verilog.
//!
//! `hdl/formal` holds one file for each proof: a module that instantiates the emitted core or a module of it, drives it
//! with anything that its assumptions allow, and states properties. Here is the list of proofs: for which sizes, how
//! deep the solver looks, and which faults each proof must notice. Yosys turns design and properties into SMT;
//! yosys-smtbmc with Yices answers:
//!
//! * prove: no state in the first `base` cycles breaks a property (bounded), and no state that follows `step` good ones
//!   does (induction); together, as `base` is not less, they hold for ever. Induction needs invariants, which talk about
//!   the inside of the module; they are properties like the others, under the macro `INVARIANTS`.
//! * cover: the assumptions leave room for the situations that matter, so that no proof is true for want of a trace.
//! * fault: a change of the emitted text must break a property, without the invariants' help, on some trace from the
//!   start. The macro `TRACE` narrows the search for covers and faults to traces that are found fast.
//!
//! # Test plan
//!
//! The faults test the proofs. A fault whose text is gone, an unreached cover, a question without an answer are
//! failures.

use crate::{Failure, tools};
use deltaline_hdl::verilog::{Module, emit};
use deltaline_model::configuration::{Configuration, Settings};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// A proof in `hdl/formal/<name>.v`, whose top module is `<name>_proof`, of the core emitted under the name `core`.
struct Proof {
    name: &'static str,
    /// Sizes that it is proven for.
    sizes: &'static [Size],
    /// Size in which covers and faults are searched.
    small: Size,
    /// Modules that are cut out of the design: their outputs become anything.
    cut: &'static str,
    /// Text that is put in front of the end of a module, so that the properties can look into its memory.
    window: Option<(&'static str, &'static str)>,
    /// Cycles from the start without a bad state: at least `step`.
    base: u32,
    /// Good cycles behind which no bad one comes.
    step: u32,
    /// Cycles within which everything coverable is reached.
    cover: u32,
    faults: &'static [Fault],
}

/// Rows of each bank, and banks.
#[derive(Clone, Copy)]
struct Size(usize, usize);

const DEFAULT: Size = Size(1024, 2);
/// The smallest core.
const SMALL: Size = Size(8, 1);
/// As many cells as are no power of two.
const UNEVEN: Size = Size(8, 3);

/// A change of the emitted text that breaks a property in one of these cycles.
struct Fault {
    what: &'static str,
    from: &'static str,
    to: &'static str,
    cycles: (u32, u32),
}

const fn fault(what: &'static str, from: &'static str, to: &'static str, cycles: (u32, u32)) -> Fault {
    Fault { what, from, to, cycles }
}

const PROOFS: [Proof; 5] = [
    Proof {
        name: "ram",
        sizes: &[DEFAULT],
        small: SMALL,
        cut: "",
        window: Some((
            "core_lda_lower_ram_0",
            "(* anyconst *) wire [`A-1:0] chosen;\nwire [35:0] held = words[chosen];\n",
        )),
        base: 1,
        step: 1,
        cover: 5,
        faults: &[fault(
            "a write of an odd word is lost",
            "if (write_enable) words",
            "if (write_enable & ~write_address[0]) words",
            (4, 4),
        )],
    },
    Proof {
        name: "lda",
        sizes: &[DEFAULT],
        small: SMALL,
        cut: "",
        window: None,
        base: 2,
        step: 2,
        cover: 16,
        faults: &[
            fault(
                "no forwarding at distance 1",
                "lower_forward_1 = hazard_1_2_q;",
                "lower_forward_1 = 1'b0;",
                (14, 14),
            ),
            fault(
                "no forwarding at distance 4",
                "upper_forward_4 = hazard_4_2_q;",
                "upper_forward_4 = 1'b0;",
                (14, 14),
            ),
            fault(
                "forwarding across the epoch switch",
                "hazard_0 = valid_1_q & (copy_1_q == copy_0_q) &",
                "hazard_0 = valid_1_q &",
                (14, 14),
            ),
            fault(
                "sum carry lost between the halves",
                "upper_sum_carry_in = lower_sum_carry;",
                "upper_sum_carry_in = 1'b0;",
                (14, 14),
            ),
            fault(
                "upper half not cleared",
                "upper_clear_0 = clearing_0_q;",
                "upper_clear_0 = 1'b0;",
                (14, 14),
            ),
            fault(
                "drain reads the other copy",
                "drained_lower = lower_stored_1;",
                "drained_lower = lower_stored_0;",
                (14, 14),
            ),
            fault(
                "count overflow not told",
                "wraps_d = upper_count_carry & valid_5_q;",
                "wraps_d = 1'b0;",
                (14, 14),
            ),
        ],
    },
    Proof {
        name: "emitter",
        sizes: &[DEFAULT, UNEVEN],
        small: SMALL,
        cut: "",
        window: None,
        base: 2,
        step: 2,
        cover: 160,
        faults: &[
            fault(
                "a beat is given up before it is taken",
                "if ((state_q == 32'h8) & m_axis_tready) begin",
                "if (state_q == 32'h8) begin",
                (26, 26),
            ),
            fault(
                "a stray tlast",
                "is_last_d = section_q == 32'h4;",
                "is_last_d = section_q == 32'h3;",
                (141, 141),
            ),
            fault(
                "running before all is clear",
                "cleared_d = cleared_q;",
                "cleared_d = |address_now_q;",
                (4, 4),
            ),
            fault(
                "a clear as the address moves on",
                "clear = (state_q == 32'h6) & (step_q == 32'h1);",
                "clear = (state_q == 32'h6) & (step_q == 32'h2);",
                (82, 82),
            ),
            fault(
                "cells are not cleared",
                "clear = (state_q == 32'h6) & (step_q == 32'h1);",
                "clear = 1'b0;",
                (153, 153),
            ),
            fault("a top byte is displaced", "(tops_q << 32'h8)", "(tops_q << 32'h4)", (136, 136)),
            fault(
                "a header word is taken before it is looked up",
                "state_d = 32'h4;\n            step_d",
                "state_d = 32'h5;\n            step_d",
                (33, 33),
            ),
        ],
    },
    Proof {
        name: "interval",
        sizes: &[SMALL],
        small: SMALL,
        cut: "",
        window: None,
        base: 10,
        step: 10,
        cover: 14,
        faults: &[
            fault(
                "an end during a drain not refused",
                "ends = request_6_q & running & ~drain_busy;",
                "ends = request_6_q & running;",
                (2, 12),
            ),
            fault(
                "a refused end not reported",
                "refused = request_6_q & running & drain_busy;",
                "refused = 1'b0;",
                (2, 12),
            ),
            fault("the epoch stays", "current_d = ~current_q;", "current_d = current_q;", (2, 12)),
        ],
    },
    Proof {
        name: "core",
        sizes: &[DEFAULT, UNEVEN],
        small: SMALL,
        cut: "core_identity core_hash core_totals_0 core_totals_1 core_lda",
        window: None,
        base: 2,
        step: 2,
        cover: 80,
        faults: &[
            fault(
                "epoch of an update taken a cycle late",
                "lda_epoch = hash_epoch_2_q;",
                "lda_epoch = hash_epoch_1_q;",
                (24, 24),
            ),
            fault(
                "counting before all is clear",
                "counts = identity_commit & emitter_running;",
                "counts = identity_commit;",
                (2, 2),
            ),
            fault(
                "the counting copy is cleared",
                "lda_clear_1 = emitter_clear_all | (emitter_clear & idle);",
                "lda_clear_1 = emitter_clear_all | (emitter_clear & ~idle);",
                (69, 69),
            ),
        ],
    },
];

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
    eprintln!("==> formal proofs");
    tools::install(tools::Selection::Synthesis)?;
    tools::install(tools::Selection::Formal)?;
    println!("{:<56} {:<17} {:>8}  {:<28} {:>7}", "property", "engine", "depth", "result", "seconds");
    let mut bad = 0;
    for proof in chosen {
        let mut line = |outcome: &dyn Fn() -> Result<Outcome, Failure>| -> Result<(), Failure> {
            let start = Instant::now();
            let Outcome { property, engine, depth, result, good } = outcome()?;
            let seconds = start.elapsed().as_secs_f64();
            println!("{property:<56} {engine:<17} {depth:>8}  {result:<28} {seconds:>7.1}");
            bad += usize::from(!good);
            Ok(())
        };
        for size in proof.sizes {
            line(&|| hold(proof, *size))?;
        }
        line(&|| cover(proof))?;
        for fault in proof.faults {
            line(&|| notice(proof, fault))?;
        }
    }
    if bad == 0 { Ok(()) } else { Err(format!("{bad} of these lines are not as they should be").into()) }
}

/// The properties hold for ever.
fn hold(proof: &Proof, size: Size) -> Result<Outcome, Failure> {
    let model = Model { proof, size, task: "prove", define: "-DINVARIANTS" }.write(&design(proof, size)?)?;
    let base = ask(&model, &["-t", &proof.base.to_string()])?;
    let answer = if base.holds { ask(&model, &["-i", "-t", &proof.step.to_string()])? } else { base };
    Ok(Outcome {
        property: format!("{}, {} x {}", proof.name, size.1, size.0),
        engine: "induction",
        depth: proof.step.to_string(),
        good: answer.holds,
        result: if answer.holds { "proven".into() } else { format!("NOT PROVEN, {}", answer.detail) },
    })
}

/// Everything coverable is reached.
fn cover(proof: &Proof) -> Result<Outcome, Failure> {
    let size = proof.small;
    let model = Model { proof, size, task: "cover", define: "-DTRACE" }.write(&design(proof, size)?)?;
    let answer = ask(&model, &["-c", "-t", &proof.cover.to_string()])?;
    Ok(Outcome {
        property: format!("{}: covers", proof.name),
        engine: "bounded",
        depth: proof.cover.to_string(),
        good: answer.holds,
        result: if answer.holds { "all reached".into() } else { format!("NOT REACHED, {}", answer.detail) },
    })
}

/// The fault breaks a property.
fn notice(proof: &Proof, fault: &Fault) -> Result<Outcome, Failure> {
    let (first, last) = fault.cycles;
    let design = design(proof, proof.small)?;
    let mut outcome = Outcome {
        property: format!("{}, fault: {}", proof.name, fault.what),
        engine: "bounded",
        depth: last.to_string(),
        good: false,
        result: "STALE: its text is gone".into(),
    };
    if design.contains(fault.from) {
        let faulty = design.replace(fault.from, fault.to);
        let model = Model { proof, size: proof.small, task: "fault", define: "-DTRACE" }.write(&faulty)?;
        let answer = ask(&model, &["-t", &format!("{first}:{}", last + 1)])?;
        outcome.good = !answer.holds;
        outcome.result = if answer.holds { "MISSED".into() } else { format!("found, {}", answer.detail) };
    }
    Ok(outcome)
}

fn design(proof: &Proof, Size(rows, banks): Size) -> Result<String, Failure> {
    let prefixes: Vec<u8> = (1..=banks as u8).collect();
    let configuration = Configuration::new(Settings { rows, prefixes: &prefixes, ..Settings::default() })?;
    let design = emit(&configuration, Module::Core, "core")?;
    let Some((module, text)) = proof.window else { return Ok(design) };
    let end = format!("endmodule // {module}\n");
    if !design.contains(&end) {
        return Err(format!("proof {}: the emitted core has no module {module}", proof.name).into());
    }
    Ok(design.replacen(&end, &format!("{text}{end}"), 1))
}

/// What is asked of the solver.
struct Model<'a> {
    proof: &'a Proof,
    size: Size,
    task: &'static str,
    define: &'static str,
}

impl Model<'_> {
    /// Makes SMT of a design and its properties; the file's path.
    fn write(&self, design: &str) -> Result<PathBuf, Failure> {
        let script = "\
import sys
from pyosys import libyosys as yosys
design = yosys.Design()
emitted, folder, name, model, defines, cut = sys.argv[1:]
for command in (
    f'read_verilog -formal {defines} {emitted}',
    f'read_verilog -formal -overwrite -I{folder} {defines} {folder}/{name}.v',
    f'hierarchy -check -top {name}_proof',
    'proc',
    f'cutpoint {cut}' if cut else '',
    'flatten',
    'check -assert',
    'prep -nordff',
    'memory_nordff',
    'async2sync',
    f'write_smt2 -wires {model}',
):
    if command:
        yosys.run_pass(command, design)
";
        let Model { proof, size: Size(rows, banks), task, define } = self;
        let address = rows.ilog2() + (*banks as u32).next_power_of_two().ilog2().max(1);
        let folder = tools::folder()?.join("formal-run");
        fs::create_dir_all(&folder)?;
        let emitted = folder.join(format!("{}-{task}.v", proof.name));
        fs::write(&emitted, design)?;
        let model = folder.join(format!("{}-{task}.smt2", proof.name));
        let mut yosys = tools::yosys_python()?;
        yosys.arg("-c").arg(script).arg(&emitted).arg(tools::workspace()?.join("hdl/formal"));
        yosys.arg(proof.name).arg(&model);
        yosys.arg(format!("-DA={address} -DROWS={rows} -DBANKS={banks} {define}")).arg(proof.cut);
        crate::acceptance::run(&mut yosys)?;
        Ok(model)
    }
}

/// What the solver found.
struct Answer {
    holds: bool,
    /// The line of the first property that does not hold, and the cycle.
    detail: String,
}

fn ask(model: &Path, options: &[&str]) -> Result<Answer, Failure> {
    let output = tools::smtbmc()?.args(options).arg(model).output()?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = |text: &str| printed.lines().rev().find(|line| line.contains(text));
    match (output.status.success(), line("Status: PASSED"), line("Status: FAILED")) {
        (true, Some(_), _) => Ok(Answer { holds: true, detail: String::new() }),
        (false, _, Some(_)) => {
            let cycle = line("in step").and_then(|line| line.split("in step ").nth(1)).unwrap_or("?");
            let place = line("Assert failed").or(line("Unreached cover")).unwrap_or("");
            let place = place.split(".v:").nth(1).and_then(|place| place.split('.').next()).unwrap_or("?");
            Ok(Answer {
                holds: false,
                detail: format!("line {place}, cycle {}", cycle.trim_end_matches('.')),
            })
        }
        _ => {
            let complaint = String::from_utf8_lossy(&output.stderr);
            Err(format!("{}: yosys-smtbmc gave no answer:\n{printed}{complaint}", model.display()).into())
        }
    }
}
