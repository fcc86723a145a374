//! `deltaline size`: the smallest configuration that is good enough, before anything is built.

mod slices;

use crate::arguments::{Budget, Size, Synopsis};
use crate::described::named;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report::{self, duration, per_cent, table};
use deltaline_capture::write_file;
use deltaline_design::{
    CellKind, CoreKind, DEFAULT, Design, MAX_BANKS, MAX_ROWS, Measurement, Parts, random_seed,
};
use deltaline_estimate::sizing::{
    Expectation, LEAST_ROWS, LEAST_SAMPLES, Load, Sizing, Targets, best_prefixes, following_prefixes,
};
use deltaline_estimate::{Confidence, singles_needed};
use deltaline_model::configuration::MIN_ROWS;
use deltaline_model::wire::cell::bits;
use deltaline_model::wire::frame::{Header, Role, Totals, frame_bytes};
use deltaline_model::wire::shape::Kind;
use serde::Serialize;
use std::path::Path;

/// Losses at which a range is looked at.
const LOSSES: usize = 13;
/// Of these, every so many-th is shown in the table.
const SHOWN: usize = 3;
/// The smallest loss of a range that begins at none, as a share of the largest, besides none itself.
const LEAST_LOSS: f64 = 1e-3;

#[derive(Serialize)]
pub(crate) struct Output {
    design: String,
    rows: usize,
    /// Prefix lengths; those to begin with, where they follow the loss.
    banks: Vec<u8>,
    digest: bool,
    adaptive: bool,
    /// Both copies of all cells, at one end.
    memory_bits: u64,
    interval_ns: u64,
    packets_per_interval: f64,
    expected: Vec<Expected>,
    control: Control,
    /// TOML for `cargo xtask verilog`.
    configuration: String,
    explanation: Vec<String>,
}

/// What is expected at a loss.
#[derive(Serialize)]
struct Expected {
    loss: f64,
    /// Prefix lengths at it.
    banks: Vec<u8>,
    effective_samples: f64,
    usable_rows: f64,
    single_packets: f64,
    /// The number of them that 95 % of intervals reach.
    single_packets_least: f64,
    mean_error: f64,
    mean_ci95: f64,
    std_error: f64,
    quantiles: Vec<Quantile>,
}

#[derive(Serialize)]
struct Quantile {
    quantile: f64,
    rank_error: f64,
    /// Single packets from which on it is reported.
    single_packets_needed: u64,
}

/// What one end sends.
#[derive(Serialize)]
struct Control {
    frames_per_interval: usize,
    bytes_per_interval: usize,
    bits_per_second: f64,
}

/// What is asked for.
struct Request<'a> {
    arguments: &'a Size,
    design: Design,
    core: CoreKind,
    targets: Targets,
    loads: Vec<Load>,
}

/// A design that may be chosen.
#[derive(Clone)]
struct Candidate {
    sizing: Sizing,
    bits: u64,
}

/// A design is not replaced: hardware may have been built with its seed, or a hand have written it.
fn check_is_new(path: &Path) -> Result<(), Failure> {
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    let message =
        format!("--out {}: exists, and a design is not overwritten; name another file", path.display());
    Err(Failure::new(Exit::Output, message))
}

pub(crate) fn run(arguments: &Size) -> Result<Exit, Failure> {
    if let Some(path) = &arguments.out {
        check_is_new(path)?;
    }
    if arguments.synopsis == Synopsis::Slices {
        let output = slices::sized(arguments, &targets(arguments)?)?;
        if let Some((path, configuration)) = arguments.out.as_ref().zip(output.configuration.as_ref()) {
            write_file(path, configuration.as_bytes())?;
        }
        if arguments.json {
            report::print_result("size", &output)?;
        } else {
            report::print(&output.to_text(arguments))?;
        }
        return Ok(Exit::Done);
    }
    for (option, is_given) in [("--delay", arguments.delay.is_some()), ("--burst", arguments.burst.is_some())]
    {
        if is_given {
            let message = format!(
                "{option}: errors of rows do not hang on it; leave it out, or give --synopsis slices"
            );
            return Err(Failure::new(Exit::Usage, message));
        }
    }
    let output = sized(arguments)?;
    if let Some(path) = &arguments.out {
        write_file(path, output.configuration.as_bytes())?;
    }
    if arguments.json {
        report::print_result("size", &output)?;
    } else {
        report::print(&output.to_text(arguments))?;
    }
    Ok(Exit::Done)
}

/// The errors that are asked for.
fn targets(arguments: &Size) -> Result<Targets, Failure> {
    let targets = Targets {
        mean: arguments.mean,
        deviation: arguments.deviation,
        quantiles: arguments.quantile.iter().map(|each| (each.probability, each.error)).collect(),
    };
    if targets == Targets::default() {
        let message = "give at least one of --mean, --deviation and --quantile";
        return Err(Failure::new(Exit::Usage, message.to_string()));
    }
    Ok(targets)
}

/// The smallest design that meets the targets.
pub(crate) fn sized(arguments: &Size) -> Result<Output, Failure> {
    let request = Request::new(arguments)?;
    let mut candidates = request.candidates()?;
    candidates.sort_by(|a, b| {
        (a.bits, a.sizing.excess).partial_cmp(&(b.bits, b.sizing.excess)).unwrap_or(std::cmp::Ordering::Equal)
    });
    let allowed = |candidate: &&Candidate| request.allows(candidate);
    let Some(chosen) = candidates.iter().filter(allowed).find(|each| each.sizing.excess <= 1.0) else {
        return Err(request.refusal(&candidates));
    };
    request.output(chosen, &candidates)
}

/// A design by its name, and its core; the link has to bring as many packets as are asked for.
fn hardware(arguments: &Size, name: &str) -> Result<(Design, CoreKind), Failure> {
    let usage = |message: String| Failure::new(Exit::Usage, message);
    let design = named(name)?;
    let core = design.core().map_err(|refusal| usage(format!("--design: {refusal}")))?;
    let most = design.stream().frames_needed(64);
    if arguments.rate > most {
        return Err(usage(format!(
            "--rate: a link of {} Gbit/s brings at most {most:.0} packets a second; name a faster --design",
            design.stream().rate_gbps
        )));
    }
    Ok((design, core))
}

/// A design for so many packets a second with another measurement, without classes and with a seed of its own.
fn resized(design: &Design, rate: f64, measurement: Measurement) -> Result<Design, Failure> {
    let base = design.parts();
    let stream = &base.stream;
    let seed = random_seed()
        .map_err(|error| Failure::new(Exit::Usage, format!("no random seed can be drawn: {error}")))?;
    let parts = Parts {
        description: format!(
            "{} Gbit/s Ethernet on {} AXI4-Stream of {} bits, sized for {rate} packets a second",
            stream.rate_gbps,
            if stream.lanes == 1 { "an".into() } else { format!("{} lanes of", stream.lanes) },
            stream.width,
        ),
        measurement: Measurement { seed, classes: vec![], ..measurement },
        ..base.clone()
    };
    Design::new(design.name(), parts).map_err(|error| Failure::new(Exit::Usage, error))
}

impl<'a> Request<'a> {
    fn new(arguments: &'a Size) -> Result<Self, Failure> {
        let usage = |message: String| Failure::new(Exit::Usage, message);
        let (design, core) = hardware(arguments, arguments.design.as_deref().unwrap_or(DEFAULT))?;
        let targets = targets(arguments)?;
        if !targets.quantiles.is_empty() && core == CoreKind::Byte {
            return Err(usage(
                "--quantile: quantiles need digests, and the core of 8 bits has none; name a --design of 64 bits or more"
                    .into(),
            ));
        }
        let packets = arguments.rate * arguments.interval as f64 / 1e9;
        let load =
            |loss| Load { packets, loss, variation: arguments.variation, kurtosis: arguments.kurtosis };
        let loads = losses(arguments.loss.low, arguments.loss.high).into_iter().map(load).collect();
        Ok(Request { arguments, design, core, targets, loads })
    }

    /// Whether cells have digest sums.
    fn digest(&self) -> bool {
        !self.targets.quantiles.is_empty()
    }

    fn cells(&self) -> CellKind {
        if self.digest() { CellKind::Digests } else { CellKind::Lda }
    }

    /// Whether prefix lengths follow the loss, as those of the named design do.
    fn adaptive(&self) -> bool {
        self.design.configuration().adaptive()
    }

    /// Memory of both copies of all cells.
    fn bits(&self, rows: usize, banks: usize) -> u64 {
        2 * (rows * banks) as u64 * u64::from(bits(self.cells().fields()))
    }

    /// Whether some rows stay usable when the loss jumps: where prefixes follow it, that is what the last of several
    /// banks is for.
    fn is_safe(&self, banks: usize) -> bool {
        !self.adaptive() || banks > 1
    }

    fn candidates(&self) -> Result<Vec<Candidate>, Failure> {
        let mut candidates = vec![];
        let rows = (MIN_ROWS..=MAX_ROWS).filter(|rows| rows.is_power_of_two());
        for rows in rows {
            let is_built = |banks: usize| self.core.is_built(rows, banks, 1, self.cells());
            for banks in (1..=MAX_BANKS).filter(|&banks| is_built(banks) && self.is_safe(banks)) {
                let prefixes = if self.adaptive() { following_prefixes } else { best_prefixes };
                let sizing = prefixes(rows, banks, &self.loads, &self.targets)
                    .map_err(|error| Failure::new(Exit::Usage, error))?;
                candidates.push(Candidate { sizing, bits: self.bits(rows, banks) });
            }
        }
        Ok(candidates)
    }

    /// Whether the memory that is allowed is enough.
    fn allows(&self, candidate: &Candidate) -> bool {
        match &self.arguments.budget {
            Budget { rows: Some(rows), .. } => {
                candidate.sizing.rows * candidate.sizing.prefixes.banks() <= *rows
            }
            Budget { memory: Some(bits), .. } => candidate.bits <= *bits,
            Budget { device: Some(device), .. } => candidate.bits <= device.bits_for_cells(),
            _ => true,
        }
    }

    /// No design is good enough: which comes closest, and which would be.
    fn refusal(&self, candidates: &[Candidate]) -> Failure {
        let allowed = candidates.iter().filter(|each| self.allows(each));
        let closest = allowed.min_by(|a, b| a.sizing.excess.total_cmp(&b.sizing.excess));
        let mut message = match closest {
            Some(candidate) if candidate.sizing.excess.is_finite() => {
                let Sizing { excess, .. } = &candidate.sizing;
                let (load, worst) = self.worst(&candidate.sizing);
                format!(
                    "no design within the memory meets the targets; {} comes closest: at {} loss {}",
                    self.words(candidate),
                    per_cent(load.loss),
                    self.misses(&worst, *excess),
                )
            }
            Some(_) => "no design meets the targets: nothing would be left to estimate from".into(),
            None => {
                format!("the memory is too small for any design: the smallest has {} bits", self.bits(8, 1))
            }
        };
        message += &match candidates.iter().find(|each| each.sizing.excess <= 1.0) {
            Some(nearest) => format!("; the smallest that meets them is {}", self.words(nearest)),
            None => "; no hardware does: relax the targets, narrow the range of losses, or take several intervals \
                     together, whose errors are smaller by the root of their number"
                .into(),
        };
        Failure::new(Exit::Unmet, message)
    }

    /// The load at which a design is worst, and what it does there.
    fn worst(&self, sizing: &Sizing) -> (Load, Expectation) {
        let expected =
            sizing.at.iter().map(|(load, prefixes)| (*load, Expectation::of(sizing.rows, prefixes, load)));
        let excess = |(_, expected): &(Load, Expectation)| self.targets.excess(expected);
        let worst = expected.max_by(|a, b| excess(a).total_cmp(&excess(b)));
        worst.unwrap_or_else(|| {
            let load = Load { packets: 0.0, loss: 0.0, variation: 0.0, kurtosis: 0.0 };
            (load, Expectation::of(sizing.rows, &sizing.prefixes, &load))
        })
    }

    /// Which targets are missed, and by how much.
    fn misses(&self, expected: &Expectation, excess: f64) -> String {
        let mut misses = vec![];
        let mut miss = |what: String, found: f64, target: f64| {
            if found > target {
                misses.push(format!(
                    "the error of {what} is {} instead of {}",
                    per_cent(found),
                    per_cent(target)
                ));
            }
        };
        if let Some(target) = self.targets.mean {
            miss("the mean".into(), expected.mean, target);
        }
        if let Some(target) = self.targets.deviation {
            miss("the standard deviation".into(), expected.deviation, target);
        }
        for &(probability, target) in &self.targets.quantiles {
            miss(format!("the rank of p{}", 100.0 * probability), expected.rank(probability), target);
        }
        for &(probability, _) in self.targets.quantiles.iter().filter(|(each, _)| !expected.shows(*each)) {
            misses.push(format!(
                "p{} needs {} rows with a single packet, and only {:.0} are there in 95 % of intervals",
                100.0 * probability,
                singles_needed(probability, Confidence::P95),
                expected.singles_least
            ));
        }
        for (what, found, least) in [
            ("rows are usable", expected.rows_least, LEAST_ROWS),
            ("packets are in usable rows", expected.samples_least, LEAST_SAMPLES),
        ] {
            if found < least {
                // Rounded down: it is never as many as it takes.
                misses.push(format!(
                    "only {:.0} {what} in 95 % of intervals instead of {least}",
                    found.floor()
                ));
            }
        }
        if misses.is_empty() {
            format!("the largest error is {excess:.2} times its target")
        } else {
            misses.join(", ")
        }
    }

    fn words(&self, candidate: &Candidate) -> String {
        let Sizing { rows, prefixes, .. } = &candidate.sizing;
        let s = if prefixes.banks() == 1 { "" } else { "s" };
        let lengths =
            if self.adaptive() { "that follow the loss".into() } else { listed(prefixes.lengths()) };
        format!("{} bank{s} of {rows} rows, prefixes {lengths} ({} bits)", prefixes.banks(), candidate.bits)
    }

    fn output(&self, chosen: &Candidate, candidates: &[Candidate]) -> Result<Output, Failure> {
        let Sizing { rows, prefixes, at, .. } = &chosen.sizing;
        let design = resized(
            &self.design,
            self.arguments.rate,
            Measurement {
                synopsis: Kind::LDA,
                rows: *rows,
                prefixes: prefixes.lengths().to_vec(),
                digest: self.digest(),
                ..self.design.parts().measurement.clone()
            },
        )?;
        let expected = at.iter().map(|(load, prefixes)| {
            let expected = Expectation::of(*rows, prefixes, load);
            let quantile = |&(quantile, _): &(f64, f64)| Quantile {
                quantile,
                rank_error: expected.rank(quantile),
                single_packets_needed: singles_needed(quantile, Confidence::P95),
            };
            Expected {
                loss: load.loss,
                banks: prefixes.lengths().to_vec(),
                effective_samples: expected.samples,
                usable_rows: expected.rows,
                single_packets: expected.singles,
                single_packets_least: expected.singles_least,
                mean_error: expected.mean,
                mean_ci95: expected.mean_interval(Confidence::P95),
                std_error: expected.deviation,
                quantiles: self.targets.quantiles.iter().map(quantile).collect(),
            }
        });
        let frames = Header::of_interval(design.configuration(), Role::Sender, 0, Totals::default());
        let bytes: Vec<usize> =
            frames.map(|header| frame_bytes(usize::from(header.cells), self.digest())).collect();
        let bytes_per_interval = bytes.iter().sum();
        let interval_ns = self.arguments.interval;
        Ok(Output {
            design: self.design.name().into(),
            rows: *rows,
            banks: prefixes.lengths().to_vec(),
            digest: self.digest(),
            adaptive: self.adaptive(),
            memory_bits: chosen.bits,
            interval_ns,
            packets_per_interval: self.arguments.rate * interval_ns as f64 / 1e9,
            expected: expected.collect(),
            control: Control {
                frames_per_interval: bytes.len(),
                bytes_per_interval,
                bits_per_second: 8.0 * bytes_per_interval as f64 / (interval_ns as f64 / 1e9),
            },
            configuration: text(&design)?,
            explanation: self.explain(chosen, candidates),
        })
    }

    /// Why this design.
    fn explain(&self, chosen: &Candidate, candidates: &[Candidate]) -> Vec<String> {
        let Sizing { rows, prefixes, excess, .. } = &chosen.sizing;
        let packets = self.loads.first().map_or(0.0, |load| load.packets);
        let mut lines = vec![format!(
            "An interval of {} brings {packets:.0} packets. A bank that takes the share p of them is hit by p L / {rows} \
             of L losses a row; a row stays usable with e to the minus that, and usable rows are the samples.",
            duration(self.arguments.interval as f64)
        )];
        if self.adaptive() {
            lines.push(
                "Software sets the prefix lengths of an interval for the loss of the one two before: the first bank's so that \
                 at most one loss hits a row of it, the last bank's so that one packet does, whatever becomes of it: that bank \
                 guards against a loss that jumps."
                    .into(),
            );
        }
        let fixed = if self.adaptive() { &[][..] } else { prefixes.lengths() };
        for (bank, length) in fixed.iter().enumerate() {
            let share = prefixes.probability(bank);
            let a_row = share * packets / *rows as f64;
            lines.push(format!(
                "Bank {bank} (prefix length {length}) takes one packet in {:.1}, {a_row:.2} a row; it has most samples where \
                 {} of the packets are lost, one loss a row.",
                1.0 / share,
                per_cent(a_row.recip().min(1.0))
            ));
        }
        let (load, worst) = self.worst(&chosen.sizing);
        lines.push(format!(
            "It is at its worst at {} loss: {:.2} of what the targets allow, with {:.0} usable rows and {:.0} samples.",
            per_cent(load.loss),
            excess,
            worst.rows,
            worst.samples
        ));
        let smaller = candidates.iter().filter(|each| each.bits < chosen.bits);
        if let Some(best) = smaller.min_by(|a, b| a.sizing.excess.total_cmp(&b.sizing.excess)) {
            let (load, worst) = self.worst(&best.sizing);
            lines.push(format!(
                "Of what is smaller, {} comes closest: at {} loss {}.",
                self.words(best),
                per_cent(load.loss),
                self.misses(&worst, best.sizing.excess)
            ));
        }
        let steady = if self.adaptive() { "a loss that stays for three intervals, " } else { "" };
        lines.push(format!(
            "Assumed: {steady}losses as likely for one packet as for another, delays with a deviation of {} of their mean and an excess \
             kurtosis of {}. Errors are root mean squares of one interval, relative to the value; n intervals together \
             have errors smaller by the root of n.",
            per_cent(self.arguments.variation),
            self.arguments.kurtosis
        ));
        lines
    }
}

impl Output {
    fn to_text(&self, arguments: &Size) -> String {
        let s = if self.banks.len() == 1 { "" } else { "s" };
        let mut header = vec!["loss".to_string()];
        header.extend(self.adaptive.then(|| "prefix lengths".into()));
        header.extend(["samples", "usable rows"].map(String::from));
        header.extend(["mean", "95 % interval", "deviation"].map(String::from));
        let quantiles = self.expected.first().map_or(&[][..], |first| &first.quantiles);
        header.extend(quantiles.iter().map(|each| format!("rank of p{}", 100.0 * each.quantile)));
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let mut table = table(&header);
        for each in shown(&self.expected) {
            let mut cells = vec![per_cent(each.loss)];
            cells.extend(self.adaptive.then(|| listed(&each.banks)));
            cells.extend([
                format!("{:.0}", each.effective_samples),
                format!("{:.0}", each.usable_rows),
                per_cent(each.mean_error),
                format!("± {}", per_cent(each.mean_ci95)),
                per_cent(each.std_error),
            ]);
            cells.extend(each.quantiles.iter().map(|quantile| per_cent(quantile.rank_error)));
            table.add_row(cells);
        }
        let Control { frames_per_interval, bytes_per_interval, bits_per_second } = self.control;
        let mut text = format!(
            "{} bank{s} of {} rows, prefix length{s} {}{}{}: {} bits of memory at each end\n\
             {:.0} packets in an interval of {}; errors expected of it:\n{table}\n\
             control traffic of each end: {frames_per_interval} frames, {bytes_per_interval} bytes an interval, {:.1} kbit/s\n",
            self.banks.len(),
            self.rows,
            listed(&self.banks),
            if self.adaptive { " to begin with" } else { "" },
            if self.digest { ", with digests" } else { "" },
            self.memory_bits,
            self.packets_per_interval,
            duration(self.interval_ns as f64),
            bits_per_second / 1e3,
        );
        if arguments.explain {
            text += "\n";
            for line in &self.explanation {
                text += &format!("{line}\n");
            }
        }
        match &arguments.out {
            Some(path) => {
                let path = path.display();
                text += &format!("{path} is for `cargo xtask verilog {path} --out DIR`\n");
            }
            None => text += &format!("\n{}", self.configuration),
        }
        text
    }
}

/// The file that `cargo xtask verilog` reads.
fn text(design: &Design) -> Result<String, Failure> {
    let toml = design.to_toml().map_err(|error| Failure::new(Exit::Usage, error))?;
    let head =
        "# Written by `deltaline size`, with a random seed; hdl/configurations/10g.toml explains the keys.";
    Ok(format!("{head}\n{toml}"))
}

/// Prefix lengths with commas between them.
fn listed(lengths: &[u8]) -> String {
    let lengths: Vec<String> = lengths.iter().map(u8::to_string).collect();
    lengths.join(",")
}

/// The losses of a range that are looked at.
fn losses(low: f64, high: f64) -> Vec<f64> {
    if low == high {
        return vec![low];
    }
    let first = low.max(high * LEAST_LOSS);
    let step = |number: usize| first * (high / first).powf(number as f64 / (LOSSES - 1) as f64);
    let zero = (low < first).then_some(low);
    zero.into_iter().chain((0..LOSSES).map(step)).collect()
}

/// What of a range of losses is shown in a table: the first, the last, and some between.
fn shown<T>(expected: &[T]) -> impl Iterator<Item = &T> {
    let last = expected.len().saturating_sub(1);
    let is_shown = move |place: usize| place == 0 || (last - place).is_multiple_of(SHOWN);
    expected.iter().enumerate().filter(move |(place, _)| is_shown(*place)).map(|(_, each)| each)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_losses() {
        assert_eq!(losses(0.01, 0.01), [0.01]);
        let range = losses(0.001, 0.1);
        assert_eq!((range.len(), range[0]), (13, 0.001));
        assert!((range[12] - 0.1).abs() < 1e-12 && range.windows(2).all(|pair| pair[0] < pair[1]));
        let from_none = losses(0.0, 0.1);
        assert_eq!((from_none.len(), from_none[0], from_none[1]), (14, 0.0, 1e-4));
    }
}
