//! Figure 9: reordering at the edges of intervals.
//!
//! Some packets sent shortly before an interval's end arrive in the next interval, and some packets of the next
//! arrive early. Both change rows at one end. Where a row lost one and gained another its counts match, and the
//! difference of two timestamps an interval apart enters the mean without a trace. No estimator can mend that:
//! either the segment keeps the order at the delimiter, or rows distinguish their packets by a digest.
//!
//! # Test plan
//!
//! At a reduced scale: without reordering the error is that of the sample; with reordering it is far larger.

use crate::banks::Banks;
use crate::figure::{Axis, Claim, Figure, Point, Series, Source, Stated, Style};
use crate::keys::Keys;
use crate::outcome::{GAP, Moments, Outcome};
use crate::traffic::{MEAN, purpose};
use crate::{LabError, Progress, Report, Scale};
use deltaline_estimate::Observation;
use deltaline_model::sketch::cell::Cell;
use deltaline_traffic::delay::Delay;
use deltaline_traffic::loss::Losses;
use deltaline_traffic::random::Seed;
use deltaline_traffic::source::Paced;
use deltaline_traffic::stream::{Drawn, Edges, Stream};
use rayon::prelude::*;

/// Packets on either side of an edge that may cross it.
const WINDOW: u64 = 100;
/// Shares of them that cross it.
const SHARES: [f64; 6] = [0.0, 0.01, 0.03, 0.1, 0.3, 0.5];
const LOSS: f64 = 0.001;
const COUNTERS: u32 = 1024;
/// The interval of other experiments is divided by this.
const FEWER_PACKETS: usize = 10;
/// Runs here for each run elsewhere.
const MORE_RUNS: usize = 3;

/// The second of three intervals, measured.
fn measure_between(share: f64, packets: usize, keys: Keys, seed: Seed) -> Result<Outcome, LabError> {
    let random = |purpose| seed.with(purpose).random();
    let path = Drawn {
        delay: Delay::weibull(MEAN, 0.6),
        losses: Losses::uniform(LOSS, random(purpose::LOSSES)),
        random: random(purpose::DELAYS),
    };
    let edges = Edges { window: WINDOW, probability: share, random: random(purpose::EDGES) };
    let source = Paced { gap: GAP, bytes: 250, time: 0 };
    let stream = Stream::new(source, path, packets as u64).reordered(edges);
    let banks = Banks::tuned(COUNTERS, &[LOSS], packets);
    let mut hashes = keys.hashes(seed.with(purpose::HASHES));
    let mut sender = vec![Cell::default(); banks.cells()];
    let mut receiver = sender.clone();
    let (mut moments, mut received) = (Moments::default(), 0);
    for packet in stream.take(3 * packets) {
        let cell = banks.cell(hashes.bits());
        let (sent_here, arrival) = (packet.interval == 1, packet.arrival);
        if sent_here {
            moments.add(arrival.map(|arrival| arrival.delay));
            cell.into_iter().for_each(|cell| _ = sender[cell].add(packet.sent.time));
        }
        if let Some(arrival) = arrival.filter(|arrival| arrival.interval == 1) {
            received += 1;
            let time = packet.sent.time + u64::from(arrival.delay);
            cell.into_iter().for_each(|cell| _ = receiver[cell].add(time));
        }
    }
    let truth = moments.truth();
    let estimate = deltaline_estimate::estimate(&Observation {
        rows: banks.rows(),
        sender: &sender,
        receiver: &receiver,
        sent: truth.sent,
        received,
    })?;
    Ok(Outcome { estimate, truth })
}

pub(crate) fn run(scale: &Scale, progress: &dyn Progress) -> Result<Report, LabError> {
    let seed = Seed::new(scale.seed).with(9);
    let (packets, runs) = (scale.packets / FEWER_PACKETS, scale.runs * MORE_RUNS);
    progress.expect((SHARES.len() * runs) as u64);
    let mut points = vec![];
    for share in SHARES {
        let outcomes = (0..runs as u64).into_par_iter().map(|run| {
            let outcome = measure_between(share, packets, scale.keys, seed.with(run));
            progress.step();
            outcome
        });
        let outcomes: Vec<Outcome> = outcomes.collect::<Result<_, LabError>>()?;
        let crossing = 2.0 * WINDOW as f64 * share;
        points.push(Point::average(crossing, outcomes.iter().map(Outcome::mean_error)));
    }
    let worst = points.last().and_then(|point| point.y).unwrap_or(f64::NAN);
    Ok(Report {
        title: "Reordering at the edges of intervals (figure 9)",
        text: format!(
            "{packets} packets, Weibull delays of shape 0.6, 0.1 % loss, one tuned bank of 1024 rows, {runs} runs. Of \
             the 100 packets on either side of each edge of the interval, a share arrives on the other side. The paper \
             requires packets in order; counts alone do not notice when they are not."
        ),
        figures: vec![Figure {
            name: "9",
            title: "relative error of the mean with reordering at the edges",
            x: Axis::linear("packets that cross each edge"),
            y: Axis::logarithmic("average relative error of the mean"),
            series: vec![Series { name: "one tuned bank".into(), colour: 0, style: Style::Line, points }],
        }],
        claims: vec![Claim {
            by: Source::Target,
            what: "error of the mean, 100 packets across each edge".into(),
            unit: " %",
            stated: Stated::Above(100.0),
            measured: [100.0 * worst; 2],
            comment: "a limit to know, not an aim: use a digest, or a path that keeps the order".into(),
        }],
    })
}
