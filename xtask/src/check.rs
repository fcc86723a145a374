//! The checks that have a command of their own.

use crate::{Failure, tools};
use deltaline_cosim::bench::write_waves;
use deltaline_cosim::checks;
use deltaline_cosim::error::CheckError;
use deltaline_cosim::faults::Outcome;
use deltaline_cosim::mutations::{CLASS_MUTATIONS, MUTATIONS, name, run, with_classes};
use deltaline_hdl::emit::kind::Module;
use deltaline_hdl::emit::module::emit;
use deltaline_model::configuration::{Configuration, Settings};
use std::path::PathBuf;
use std::time::Instant;
use verilator_sys::Toolchain;

/// Packets of one run: each run has a seed of its own.
const RUN: u64 = 100_000;

/// The configuration of simulations that need few rows.
pub(crate) fn small() -> Result<Configuration, Failure> {
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

/// Compares hardware and model on many packets: the default configuration where the seed is even, else the small one.
pub(crate) fn cosim(packets: u64, seed: u64, wave: Option<PathBuf>) -> Result<(), Failure> {
    if let Some(file) = wave {
        write_waves(file);
    }
    tools::install(tools::Selection::Simulation)?;
    let toolchain = Toolchain::find()?;
    let start = Instant::now();
    let configurations = [Configuration::new(Settings::default())?, small()?];
    let (mut identities, mut cores) = (0, 0);
    for seed in (0..packets.div_ceil(RUN)).map(|run| seed.wrapping_add(run)) {
        let repeat = |mismatch: CheckError| {
            format!(
                "{mismatch}\nto see this again: cargo xtask cosim --packets {RUN} --seed {seed} --wave mismatch.vcd"
            )
        };
        let configuration = &configurations[(seed % 2) as usize];
        let verilog = emit(configuration, Module::Identity, name(Module::Identity))?;
        identities += checks::identity::check(&toolchain, &verilog, RUN, seed).map_err(repeat)?;
        let verilog = emit(configuration, Module::Core, name(Module::Core))?;
        cores += checks::core::check_whole(&toolchain, configuration, &verilog, RUN, seed).map_err(repeat)?;
        eprintln!("{identities} frames through identity, {cores} through the core, no mismatch");
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{identities} frames through identity, {cores} through the core: 0 mismatches in {seconds:.0} s"
    );
    Ok(())
}
