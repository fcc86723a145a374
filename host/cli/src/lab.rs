//! `deltaline lab`: the LDA paper's experiments.

use crate::arguments::Lab;
use crate::exit::{Exit, Failure};
use crate::matched::Matched;
use crate::report::{self, duration};
use deltaline_capture::write_file;
use deltaline_lab::{LabError, Progress, Report, Scale, page};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;
use std::path::Path;

impl From<LabError> for Failure {
    fn from(error: LabError) -> Self {
        Failure::new(Exit::Refused, error)
    }
}

#[derive(Serialize)]
struct Output<'a> {
    scale: Scale,
    experiments: &'a [Report],
}

/// A progress bar on standard error, if that is a terminal.
struct Bar(ProgressBar);

impl Progress for Bar {
    fn expect(&self, steps: u64) {
        self.0.inc_length(steps);
    }

    fn step(&self) {
        self.0.inc(1);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}

impl Bar {
    fn new(what: &'static str) -> Self {
        let style = ProgressStyle::with_template("{msg} {bar:40} {pos}/{len} runs ({eta} left)");
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        Bar(ProgressBar::new(0).with_style(style).with_message(what))
    }
}

pub(crate) fn run(arguments: &Lab) -> Result<Exit, Failure> {
    let scale = Scale { packets: arguments.packets, runs: arguments.runs, seed: arguments.seed };
    let figures = arguments.out.join(page::FIGURES);
    std::fs::create_dir_all(&figures).map_err(|reason| {
        let figures = figures.display();
        Failure::new(
            Exit::Output,
            format!("{figures}: cannot be made: {reason}; give another place with --out"),
        )
    })?;
    let recording = match &arguments.recording[..] {
        [sender, receiver] => recorded(sender, receiver)?,
        _ => vec![],
    };
    let mut reports = vec![];
    for experiment in arguments.experiments() {
        let bar = Bar::new(experiment.name());
        let result = experiment.run(&scale, &recording, &bar);
        drop(bar);
        let report = result?;
        for (name, contents) in page::figures(&report)? {
            write_file(figures.join(name), contents.as_bytes())?;
        }
        if !arguments.json {
            report::print(&page::section(&report))?;
        }
        reports.push(report);
    }
    write_file(arguments.out.join("results.md"), page::page(&reports, &scale).as_bytes())?;
    if arguments.json {
        report::print_json(&Output { scale, experiments: &reports })?;
    }
    Ok(Exit::Done)
}

/// What became of a recording's packets.
fn recorded(sender: &Path, receiver: &Path) -> Result<Vec<Option<u32>>, Failure> {
    let Matched { matching, .. } = Matched::read(sender, receiver)?;
    let mut fate: Vec<(usize, Option<u32>)> = matching.lost.iter().map(|&lost| (lost, None)).collect();
    for pair in &matching.pairs {
        let delay = u32::try_from(pair.delay).map_err(|_| {
            let (sender, delay) = (sender.display(), duration(pair.delay as f64));
            let message = format!(
                "{sender}: packet {} has a delay of {delay}; a recording for the lab has delays from 0 to 4.29 s",
                pair.sender
            );
            Failure::new(Exit::Refused, message)
        })?;
        fate.push((pair.sender, Some(delay)));
    }
    fate.sort_unstable();
    Ok(fate.into_iter().map(|(_, delay)| delay).collect())
}
