//! `deltaline size --synopsis slices`: the smallest table of slices that is good enough.

use super::{hardware, losses, resized, text};
use crate::arguments::{Budget, Size};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report::{duration, per_cent, table};
use deltaline_design::{CellKind, CoreKind, Design, Measurement};
use deltaline_estimate::sizing::slices::{APPENDED, Expectation, LEAST_BOUNDARIES, MERGED, Sizing, Timing};
use deltaline_estimate::sizing::{Load, Targets};
use deltaline_estimate::{Confidence, singles_needed};
use deltaline_model::configuration::{MAX_ROWS, MIN_ROWS};
use deltaline_model::sketch::slices::RECORD_CELLS;
use deltaline_model::wire::cell::bits;
use deltaline_model::wire::shape::Kind;
use serde::Serialize;

#[derive(Serialize)]
pub(super) struct Output {
    synopsis: &'static str,
    /// The design that the stream, shell and clock are of; none for software.
    design: Option<String>,
    rows: usize,
    records: usize,
    /// Zeros of a boundary: of hardware the prefix length, of software what its table comes to.
    prefix_length: u32,
    /// Both copies of all records, at one end.
    memory_bits: u64,
    interval_ns: u64,
    delay_ns: u64,
    burst: f64,
    packets_per_interval: f64,
    expected: Vec<Expected>,
    /// What measures with it in software.
    command: Option<String>,
    /// TOML for `cargo xtask verilog`, of hardware.
    pub(super) configuration: Option<String>,
}

/// What is expected at a loss.
#[derive(Serialize)]
struct Expected {
    loss: f64,
    boundaries: f64,
    /// The number of them that 95 % of intervals reach.
    boundaries_least: f64,
    packets_per_slice: f64,
    mean_error: f64,
    std_error: f64,
    #[serde(skip)]
    wraps: bool,
    quantiles: Vec<super::Quantile>,
}

/// The smallest table that meets the targets.
pub(super) fn sized(arguments: &Size, targets: &Targets) -> Result<Output, Failure> {
    let hardware = match &arguments.design {
        Some(name) => Some(hardware(arguments, name)?),
        None => None,
    };
    check(arguments, hardware.as_ref())?;
    let zeros = if hardware.is_some() { APPENDED } else { MERGED };
    let is_built = |rows: &usize| hardware.iter().all(|(_, core)| is_built(*core, *rows));
    let packets = arguments.rate * arguments.interval as f64 / 1e9;
    let Size { variation, kurtosis, .. } = *arguments;
    let load = |loss| Load { packets, loss, variation, kurtosis };
    let loads: Vec<Load> = losses(arguments.loss.low, arguments.loss.high).into_iter().map(load).collect();
    let delay_ns = arguments.delay.unwrap_or(1);
    let burst = arguments.burst.unwrap_or(1.0);
    let timing = Timing { interval: arguments.interval as f64, delay: delay_ns as f64, burst };
    let all: Vec<Sizing> = (MIN_ROWS..=MAX_ROWS)
        .filter(|rows| rows.is_power_of_two() && is_built(rows))
        .map(|rows| Sizing::of(rows, &loads, &timing, targets, &zeros))
        .collect();
    let is_allowed = |sizing: &&Sizing| match arguments.budget {
        Budget { rows: Some(rows), .. } => sizing.rows <= rows,
        Budget { memory: Some(most), .. } => memory(sizing.rows) <= most,
        Budget { device: Some(device), .. } => memory(sizing.rows) <= device.bits_for_cells(),
        Budget { .. } => true,
    };
    let good = all.iter().find(|sizing| sizing.excess <= 1.0);
    let Some(sizing) = good.filter(is_allowed) else {
        // Of tables that promise nothing, the largest tells what is in the way.
        let allowed = all.iter().rev().filter(is_allowed).min_by(|a, b| a.excess.total_cmp(&b.excess));
        return Err(Failure::new(Exit::Unmet, refusal(allowed, good, targets)));
    };
    let prefix_length = sizing.at.iter().map(|(_, expected)| expected.zeros).max().unwrap_or_default();
    let configuration = match &hardware {
        Some((design, _)) => Some(text(&resized(
            design,
            arguments.rate,
            Measurement {
                rows: sizing.rows,
                prefixes: vec![prefix_length as u8],
                ..design.parts().measurement.clone()
            },
        )?)?),
        None => None,
    };
    let expected = sizing.at.iter().map(|(load, expected)| Expected {
        loss: load.loss,
        boundaries: expected.boundaries,
        boundaries_least: expected.boundaries_least,
        packets_per_slice: expected.slice,
        mean_error: expected.mean,
        std_error: expected.deviation,
        wraps: expected.wraps,
        quantiles: quantiles(expected, targets),
    });
    Ok(Output {
        synopsis: "slices",
        design: hardware.as_ref().map(|(design, _)| design.name().into()),
        prefix_length,
        rows: sizing.rows,
        records: sizing.rows / RECORD_CELLS,
        memory_bits: memory(sizing.rows),
        interval_ns: arguments.interval,
        delay_ns,
        burst,
        packets_per_interval: packets,
        expected: expected.collect(),
        command: hardware.is_none().then(|| {
            format!(
                "deltaline measure SENDER RECEIVER --synopsis slices --rows {} --interval {}ns",
                sizing.rows, arguments.interval
            )
        }),
        configuration,
    })
}

/// Refuses what has no meaning without hardware, and designs that have no slices.
fn check(arguments: &Size, hardware: Option<&(Design, CoreKind)>) -> Result<(), Failure> {
    let usage = |message: String| Err(Failure::new(Exit::Usage, message));
    let Some((design, core)) = hardware else {
        let options = [("--device", arguments.budget.device.is_some()), ("--out", arguments.out.is_some())];
        return match options.into_iter().find(|(_, is_given)| *is_given) {
            Some((option, _)) => usage(format!(
                "{option}: without a design, slices are merged where the table is full, for which there is no hardware; give --design 10g-slices as well"
            )),
            None => Ok(()),
        };
    };
    let name = arguments.design.as_deref().unwrap_or_default();
    if design.configuration().kind() != Kind::SLICES {
        return usage(format!(
            "--design {name}: it has no slices; name 10g-slices, or a design with `synopsis = \"slices\"`"
        ));
    }
    if !(MIN_ROWS..=MAX_ROWS).any(|rows| is_built(*core, rows)) {
        return usage(format!(
            "--design {name}: a core of {} x {} bits has no slices; name a design with one lane",
            design.stream().lanes,
            design.stream().width
        ));
    }
    Ok(())
}

/// Whether a core comes with a table of so many rows for slices.
fn is_built(core: CoreKind, rows: usize) -> bool {
    core.is_built(rows, 1, 1, CellKind::Slices)
}

/// Why no error of the mean is promised.
const WRAPS: &str = "slices are so long that their sums of times go round";

/// An error that may be none at all.
fn promised(error: f64) -> String {
    if error.is_finite() { per_cent(error) } else { "none".into() }
}

/// Both copies of all rows, in bits.
fn memory(rows: usize) -> u64 {
    2 * rows as u64 * u64::from(bits(CellKind::Lda.fields()))
}

fn quantiles(expected: &Expectation, targets: &Targets) -> Vec<super::Quantile> {
    let quantile = |&(quantile, _): &(f64, f64)| super::Quantile {
        quantile,
        rank_error: expected.rank(quantile),
        single_packets_needed: singles_needed(quantile, Confidence::P95),
    };
    targets.quantiles.iter().map(quantile).collect()
}

/// No table is good enough: what the best one that is allowed misses, and which would be.
fn refusal(allowed: Option<&Sizing>, good: Option<&Sizing>, targets: &Targets) -> String {
    let tables = if good.is_some() {
        "no table that is allowed meets the targets"
    } else {
        "no table meets the targets"
    };
    let mut message = match allowed {
        None => format!("the memory is too small for any table: the smallest has {} bits", memory(MIN_ROWS)),
        Some(best) if best.excess.is_infinite() => {
            let remedy = if good.is_some() { "" } else { "; take another --interval" };
            let any = |of: fn(&Expectation) -> bool| best.at.iter().any(|(_, expected)| of(expected));
            let why = match any(|expected| expected.is_full) {
                true => "so many packets are more than its records hold, with the longest prefix length",
                false if targets.mean.is_some() && any(|expected| expected.wraps) => WRAPS,
                false => "too few packets arrive",
            };
            format!("{tables}: {why}{remedy}")
        }
        Some(best) => {
            let worst =
                best.at.iter().max_by(|(_, a), (_, b)| a.excess(targets).total_cmp(&b.excess(targets)));
            let (loss, expected) = worst.map_or((0.0, None), |(load, expected)| (load.loss, Some(expected)));
            let errors = expected.map_or_else(String::new, |expected| {
                let rank = |&(quantile, _): &(f64, f64)| {
                    format!(", of the rank of p{} of {}", 100.0 * quantile, per_cent(expected.rank(quantile)))
                };
                format!(
                    ": {:.0} boundaries ({:.0} or more in 95 % of intervals, where {LEAST_BOUNDARIES} are needed), an error of the mean of {}, of the \
                     standard deviation of {}{}",
                    expected.boundaries,
                    expected.boundaries_least,
                    promised(expected.mean),
                    per_cent(expected.deviation),
                    targets.quantiles.iter().map(rank).collect::<String>()
                )
            });
            format!(
                "{tables}; {} rows come closest, {:.2} times what they allow at {} loss{errors}",
                best.rows,
                best.excess,
                per_cent(loss)
            )
        }
    };
    message += &match good {
        Some(good) => {
            format!("; the smallest that meets them has {} rows ({} bits)", good.rows, memory(good.rows))
        }
        None => "; relax the targets, narrow the range of losses, or ask for rows by --synopsis lda".into(),
    };
    message
}

impl Output {
    pub(super) fn to_text(&self, arguments: &Size) -> String {
        let mut header =
            ["loss", "boundaries", "packets a slice", "mean", "deviation"].map(String::from).to_vec();
        let quantiles = self.expected.first().map_or(&[][..], |first| &first.quantiles);
        header.extend(quantiles.iter().map(|each| format!("rank of p{}", 100.0 * each.quantile)));
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        let mut table = table(&header);
        for each in super::shown(&self.expected) {
            let mut cells = vec![
                per_cent(each.loss),
                format!("{:.0}", each.boundaries),
                format!("{:.0}", each.packets_per_slice),
                promised(each.mean_error),
                per_cent(each.std_error),
            ];
            cells.extend(each.quantiles.iter().map(|quantile| per_cent(quantile.rank_error)));
            table.add_row(cells);
        }
        let mut text = format!(
            "{} rows, which are {} records of slices, prefix length {}: {} bits of memory at each end\n\
             {:.0} packets in an interval of {}; errors expected of it:\n{table}\n",
            self.rows,
            self.records,
            self.prefix_length,
            self.memory_bits,
            self.packets_per_interval,
            duration(self.interval_ns as f64),
        );
        if self.expected.iter().any(|each| each.wraps) {
            text += &format!("none: no error of the mean is promised, as {WRAPS}; ask for one by --mean\n");
        }
        if arguments.explain {
            text += &format!(
                "\nA slice begins where a packet's hash has enough zeros; its lost packets count with the mean sending time of \
                 the others. The error of the mean is made of how far sending times of a slice lie apart, over a mean delay of {}, \
                 and of the delays of the packets at boundaries, which are known exactly.\n\
                 Assumed: packets sent at random times, not in trains, that keep their order, losses of {} in a row, as likely at one time as at another, \
                 delays with a deviation of {} of their mean and an excess kurtosis of {}. Errors are root mean squares of one \
                 interval, relative to the value.\n",
                duration(self.delay_ns as f64),
                self.burst,
                per_cent(arguments.variation),
                arguments.kurtosis
            );
        }
        match (&self.command, &self.configuration, &arguments.out) {
            (_, Some(_), Some(path)) => {
                let path = path.display();
                text + &format!("\n{path} is for `cargo xtask verilog {path} --out DIR`\n")
            }
            (_, Some(configuration), None) => text + "\n" + configuration,
            (Some(command), ..) => text + &format!("\n{command}\n"),
            (None, ..) => text,
        }
    }
}
