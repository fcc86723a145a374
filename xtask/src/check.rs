//! The checks that have a command of their own.

use crate::{Failure, tools};
use deltaline_cosim::checks;
use deltaline_cosim::faults::Outcome;
use deltaline_cosim::mutations::{CLASS_MUTATIONS, MUTATIONS, name, run, with_classes};
use deltaline_hdl::emit::kind::Module;
use deltaline_hdl::emit::module::emit;
use deltaline_model::configuration::{Configuration, Settings};
use std::time::Instant;
use verilator_sys::Toolchain;

/// Packets of one run: each run has a seed of its own.
const RUN: u64 = 100_000;

fn small() -> Result<Configuration, Failure> {
    Ok(Configuration::new(Settings { rows: 16, ..Settings::default() })?)
}

/// Tries every mutation and prints what noticed it.
pub(crate) fn mutate() -> Result<(), Failure> {
    tools::install(tools::Selection::Simulation)?;
    let (toolchain, configuration, classes) = (Toolchain::find()?, small()?, with_classes()?);
    let mut outcomes = run(&toolchain, &configuration, MUTATIONS)?;
    outcomes.extend(run(&toolchain, &classes, CLASS_MUTATIONS)?);
    let (mut blind, all) = (0, outcomes.len());
    for (mutation, outcome) in outcomes {
        let verdict = match &outcome {
            Outcome::Caught(noticed) => {
                format!("caught    {}", noticed.chars().take(100).collect::<String>())
            }
            Outcome::Survived => "SURVIVED".into(),
            Outcome::Stale => "STALE     its text is not in the Verilog any more".into(),
        };
        blind += usize::from(!matches!(outcome, Outcome::Caught(_)));
        println!("{:<9} {:<45} {verdict}", format!("{:?}", mutation.module), mutation.fault);
    }
    println!("{} of {} faults caught", all - blind, all);
    if blind == 0 { Ok(()) } else { Err(format!("{blind} faults are not caught").into()) }
}

/// Compares hardware and model on many packets: default and small configuration in turns.
pub(crate) fn cosim(packets: u64, seed: u64) -> Result<(), Failure> {
    tools::install(tools::Selection::Simulation)?;
    let toolchain = Toolchain::find()?;
    let start = Instant::now();
    let configurations = [Configuration::new(Settings::default())?, small()?];
    let (mut identities, mut cores) = (0, 0);
    for run in 0..packets.div_ceil(RUN) {
        let configuration = &configurations[(run % 2) as usize];
        let verilog = emit(configuration, Module::Identity, name(Module::Identity))?;
        identities += checks::identity::check(&toolchain, &verilog, RUN, seed + run)?;
        let verilog = emit(configuration, Module::Core, name(Module::Core))?;
        cores += checks::core::check(&toolchain, configuration, &verilog, RUN, seed + run)?;
        eprintln!("{identities} frames through identity, {cores} through the core, no mismatch");
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{identities} frames through identity, {cores} through the core: 0 mismatches in {seconds:.0} s"
    );
    Ok(())
}
