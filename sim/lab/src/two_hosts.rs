//! Figure 12: two hosts that remember their packets find out between them what was lost and how long the others took.
//!
//! The RDA paper's prototype (Fu, Barlet-Ros, Li, IEEE/ACM ToN 2018, section IX, figures 10 to 15): intervals cut by the clocks of both ends, which
//! exchange tables, identifiers and times. The ends are recordings of real traffic, such as `deltaline-hosts` makes; the truth is exact matching of
//! them, packet by packet.
//!
//! # Test plan
//!
//! Made-up recordings with known losses and delays, some of them across edges: exact means, every loss, and a time for every step; an empty
//! one gives a report that says so.

use crate::figure::{Axis, Claim, Figure, Point, Series, Source, Stated, Style};
use crate::{LabError, Progress, Recording, Report};
use deltaline_collect::exchange::{Asked, Spent, Terms, answer, ask};
use deltaline_estimate::{Further, Reason};
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::sketch::packet_cache::PacketCache;
use deltaline_model::sketch::synopsis::Hashed;
use deltaline_model::time::Timestamp;
use deltaline_model::wire::shape::Kind;
use std::collections::BTreeMap;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

/// The longest interval, which the paper has, in nanoseconds.
const LONGEST: u64 = 1_000_000_000;
/// So many intervals at least, of shorter recordings.
const INTERVALS: u64 = 10;
/// Rows of each of four tables.
const ROWS: [usize; 5] = [64, 256, 1024, 4096, 8192];
/// Errors below this are rounding and drawn here.
const NOTHING: f64 = 1e-12;

/// What is true of the packets sent in an interval.
#[derive(Clone, Copy, Default)]
struct Truth {
    sent: u64,
    lost: u64,
    received: u64,
    sum: i128,
    squares: f64,
}

impl Truth {
    fn mean(&self) -> f64 {
        self.sum as f64 / self.received as f64
    }

    fn deviation(&self) -> f64 {
        (self.squares / self.received as f64 - self.mean() * self.mean()).max(0.0).sqrt()
    }
}

fn cut(packets: impl Iterator<Item = (u64, u64)>, length: u64) -> BTreeMap<u64, PacketCache> {
    let mut intervals: BTreeMap<u64, PacketCache> = BTreeMap::new();
    for (hash, time) in packets {
        let seen = Hashed { hash, time: Timestamp::from_nanoseconds(time), ..Hashed::default() };
        intervals.entry(time / length).or_default().remember(&[seen]);
    }
    intervals
}

/// What the sender finds out, with tables of so many rows.
fn exchange(recording: &Recording, length: u64, rows: usize) -> Result<Asked, LabError> {
    let settings = Settings { synopsis: Kind::IDENTITY_TABLE, rows, prefixes: &[0], ..Settings::default() };
    let configuration = Configuration::new(settings)?;
    let terms = Terms { configuration, length, flows: 0, keys: None, patience: Duration::from_secs(60) };
    let (near, far) = UnixStream::pair()?;
    let mut sent = cut(recording.sent.iter().map(|(hash, time, _)| (*hash, *time)), length);
    let mut received = cut(recording.received.iter().copied(), length);
    thread::scope(|scope| {
        scope.spawn(|| answer(far, &terms, 2, || received.pop_first()));
        Ok(ask(near, &terms, 1, || sent.pop_first())?)
    })
}

fn line(name: &str, colour: usize, style: Style, points: Vec<Point>) -> Series {
    Series { name: name.into(), colour, style, points }
}

fn point(x: f64, y: Option<f64>) -> Point {
    Point::average(x, std::iter::once(y))
}

/// A step of an exchange: its name, and how long it took.
type Step = (&'static str, fn(&Spent) -> Duration);

/// The steps of an exchange, as the paper's figure 12 has them.
const STEPS: [Step; 5] = [
    ("tables", |spent| spent.tables),
    ("difference", |spent| spent.difference),
    ("moves", |spent| spent.moves),
    ("times", |spent| spent.times),
    ("numbers", |spent| spent.evaluation),
];

fn milliseconds(duration: Duration) -> f64 {
    1e3 * duration.as_secs_f64()
}

/// Figure 12e: the average time of each step by the size of tables.
fn by_rows(recording: &Recording, length: u64, progress: &dyn Progress) -> Result<Figure, LabError> {
    let mut series: Vec<Vec<Point>> = vec![vec![]; STEPS.len()];
    for rows in ROWS {
        let spent = exchange(recording, length, rows)?.spent;
        for ((_, step), points) in STEPS.iter().zip(&mut series) {
            let times = spent.iter().map(|spent| Some(milliseconds(step(spent))));
            points.push(Point::average((4 * rows) as f64, times));
        }
        progress.step();
    }
    let named = STEPS.iter().zip(series).enumerate();
    Ok(Figure {
        name: "12e",
        title: "time of each step by the size of tables, on the machine that wrote this",
        x: Axis::logarithmic("cells of each end's table"),
        y: Axis::logarithmic("milliseconds an interval"),
        series: named.map(|(colour, ((name, _), points))| line(name, colour, Style::Line, points)).collect(),
    })
}

pub(crate) fn run(recording: &Recording, progress: &dyn Progress) -> Result<Report, LabError> {
    let title = "Two hosts, by an exchange between them (figure 12)";
    let times = || recording.sent.iter().map(|(_, time, _)| *time);
    let (Some(first), Some(last)) = (times().min(), times().max()) else {
        let text = "Without a recording there is nothing to show: give both ends' with `--recording`.".into();
        return Ok(Report { title, text, figures: vec![], claims: vec![] });
    };
    progress.expect(1 + ROWS.len() as u64);
    let length = ((last - first) / (INTERVALS + 2)).clamp(1, LONGEST);
    let mut truth: BTreeMap<u64, Truth> = BTreeMap::new();
    for (_, time, delay) in &recording.sent {
        let each = truth.entry(time / length).or_default();
        each.sent += 1;
        match delay {
            Some(delay) => {
                each.received += 1;
                each.sum += i128::from(*delay);
                each.squares += (*delay as f64).powi(2);
            }
            None => each.lost += 1,
        }
    }
    let asked = exchange(recording, length, ROWS[0])?;
    progress.step();
    let mut found: [Vec<Point>; 4] = Default::default();
    let mut errors: [Vec<Point>; 2] = Default::default();
    let mut steps: Vec<Vec<Point>> = vec![vec![]; STEPS.len()];
    let mut load = vec![];
    let (mut sent, mut wrong, mut farthest) = (0, 0, 0f64);
    for ((number, evaluation), spent) in asked.numbers.iter().zip(&asked.evaluations).zip(&asked.spent) {
        let truth = truth.get(number).copied().unwrap_or_default();
        let x = (number * length).saturating_sub(first) as f64 / 1e9;
        let estimate = evaluation.result.as_ref().map(|(estimate, _)| estimate);
        let of = |value: fn(&deltaline_estimate::Estimate) -> Result<f64, Reason>| {
            estimate.ok().and_then(|estimate| value(estimate).ok())
        };
        let mean = of(|estimate| estimate.mean.map(|mean| mean.nanoseconds));
        let deviation = of(|estimate| estimate.deviation);
        let exact = (truth.received > 0).then(|| [truth.mean(), truth.deviation()]);
        let exact = exact.map_or([None; 2], |both| both.map(Some));
        for (points, value) in found.iter_mut().zip([exact[0], mean, exact[1], deviation]) {
            points.push(point(x, value.map(|nanoseconds| nanoseconds / 1e6)));
        }
        for (points, (value, exact)) in errors.iter_mut().zip([mean, deviation].into_iter().zip(exact)) {
            let error = value.zip(exact).map(|(value, exact)| ((value - exact).abs() / exact).max(NOTHING));
            points.push(point(x, error));
        }
        for ((_, step), points) in STEPS.iter().zip(&mut steps) {
            points.push(point(x, Some(milliseconds(step(spent)))));
        }
        load.push(point(truth.sent as f64 * 1e9 / length as f64, Some(milliseconds(spent.overall()))));
        sent += truth.sent;
        let lost = Further::known(evaluation.further.iter()).map(|(lost, _)| lost);
        wrong += u64::from(lost != Some(truth.lost));
        farthest =
            mean.zip(exact[0]).map_or(f64::INFINITY, |(mean, exact)| farthest.max((mean - exact).abs()));
    }
    load.sort_by(|one, other| one.x.total_cmp(&other.x));
    let intervals = asked.numbers.len();
    let [exact_mean, mean, exact_deviation, deviation] = found;
    let [of_mean, of_deviation] = errors;
    let x = Axis::linear("seconds");
    let costs = asked.costs;
    let text = format!(
        "{intervals} intervals of {} ms, {sent} packets, recorded at both ends of a path and cut by their clocks; the truth is exact matching of \
         both recordings. Exchange: {} octets an interval, {:.1} ms of processor time of the asking end for each second of traffic, {} cells and {} symbols. \
         These are the RDA paper's figures 10 to 15: 12a is its 10, 12b its 11, 12c its 12, 12d its 13, and 12e its 14a and 15. Errors below \
         10^-12 are drawn as that. The deviation is estimated between rows of {} packets and so never exact.",
        length / 1_000_000,
        (costs.sent + costs.received) / intervals.max(1) as u64,
        1e3 * costs.processor.as_secs_f64() / (intervals.max(1) as f64 * length as f64 / 1e9),
        costs.cells,
        costs.symbols,
        ROWS[0],
    );
    let target = |what: &str, unit, stated, measured| Claim {
        by: Source::Target,
        what: what.into(),
        unit,
        stated,
        measured: [measured; 2],
        comment: String::new(),
    };
    let claims = vec![
        target("error of the mean of packets that arrived, at most", " ns", Stated::Below(1.0), farthest),
        target(
            "intervals whose losses are not those of exact matching",
            "",
            Stated::Below(0.0),
            wrong as f64,
        ),
    ];
    let named = STEPS.iter().zip(steps).enumerate();
    let steps = named.map(|(colour, ((name, _), points))| line(name, colour, Style::Line, points)).collect();
    let figure = |name, title, y, series| Figure { name, title, x, y, series };
    Ok(Report {
        title,
        text,
        figures: vec![
            figure(
                "12a",
                "mean and standard deviation of delay over time",
                Axis::linear("milliseconds"),
                vec![
                    line("mean, exact", 0, Style::Dashed, exact_mean),
                    line("mean, exchange", 0, Style::Line, mean),
                    line("deviation, exact", 1, Style::Dashed, exact_deviation),
                    line("deviation, exchange", 1, Style::Line, deviation),
                ],
            ),
            figure(
                "12b",
                "relative errors over time",
                Axis::logarithmic("relative error"),
                vec![line("mean", 0, Style::Line, of_mean), line("deviation", 1, Style::Line, of_deviation)],
            ),
            figure(
                "12c",
                "time of each step, on the machine that wrote this",
                Axis::linear("milliseconds"),
                steps,
            ),
            Figure {
                name: "12d",
                title: "time of all steps by the load, on the machine that wrote this",
                x: Axis::linear("packets a second"),
                y: Axis::linear("milliseconds an interval"),
                series: vec![line("all steps", 0, Style::Line, load)],
            },
            by_rows(recording, length, progress)?,
        ],
        claims,
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]
    use super::*;
    use deltaline_collect::exchange::ExchangeError;

    #[test]
    fn losses_and_means_are_exact() {
        // A packet every 100 us for 1.2 s, delayed by 3 to 5 ms in turns, so that packets overtake; one in 37 is lost.
        let sent: Vec<(u64, u64, Option<i64>)> = (0..12_000u64)
            .map(|number| {
                let delay = (number % 37 != 5).then_some(3_000_000 + (number * 7919 % 2_000_000) as i64);
                ((number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15), 5_000_000_000 + 100_000 * number, delay)
            })
            .collect();
        let arrive = |(hash, time, delay): &(u64, u64, Option<i64>)| Some((*hash, time + (*delay)? as u64));
        let mut received: Vec<(u64, u64)> = sent.iter().filter_map(arrive).collect();
        received.sort_unstable_by_key(|(_, time)| *time);
        let report = run(&Recording { sent, received }, &()).unwrap();
        assert_eq!((report.figures.len(), report.claims.len()), (5, 2));
        assert!(report.claims.iter().all(Claim::holds), "{:?}", report.claims);
        assert!(report.figures[0].series.iter().all(|series| series.points.len() >= 9));
        // Between rows there are 256 samples at most: an error of some 4 %, and never none.
        let deviation = &report.figures[1].series[1];
        assert!(deviation.points.iter().all(|point| point.y.unwrap() > NOTHING && point.y.unwrap() < 0.5));
    }

    #[test]
    fn without_a_recording_there_is_no_figure() {
        let report = run(&Recording::default(), &()).unwrap();
        assert!(report.figures.is_empty() && report.text.contains("--recording"));
        let alone = Recording { sent: vec![(1, 1, None)], received: vec![] };
        assert!(matches!(run(&alone, &()), Err(LabError::Exchange(ExchangeError::Apart { .. }))));
    }
}
