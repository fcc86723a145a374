//! Figure 12: rows of which an identity table names the damaged ones, against rows alone, at equal bits.
//!
//! Packets are lost, anywhere in the interval; and packets cross its end, where half of the last ones are late and half of the next
//! interval's first ones are early. The delays are the RDA paper's. Rows alone trust equal counts: one that lost a packet and gained another
//! brings in times that lie up to the interval apart.
//!
//! | series | what |
//! |---|---|
//! | LDA | one bank of 3,072 rows, tuned to the packets that differ: one in each row, with which most rows' packets are trusted, or half of one |
//! | LDA with digests | the same bits: 2,126 rows, one packet that differs in each |
//! | lda-identity | 1,024 rows, with 1,024 cells of an identity table; sampled by the shortest prefix with which these show what differs |
//!
//! # The most that tables can do
//!
//! Let any table of M sums lose a share l of its packets by chance, and let nobody know when those were sent. A combination of its sums is
//! free of the times of lost packets only if it weighs every lost packet with zero. Lose packets one by one: each that has
//! any weight left in a combination that still counts takes one of M dimensions away. Before d were lost, a share u of the
//! packets, which never grows, had weight left; so u at the end, times d, is M at most in mean: **M / l packets are left to any table,
//! whatever it names**. Of M rows in one tuned bank M / (e l) are. So where packets keep their interval, no table can be more than
//! sqrt(e) = 1.65 times nearer than an LDA's of equal many sums; one that spends bits on names is farther.
//!
//! # Test plan
//!
//! At a reduced scale: errors of all where packets keep their interval are those of their samples; with 0.1 % that cross it, lda-identity's is
//! still that, and the LDA's at least ten times larger; what is lost, and nothing else, brings the LDA ahead.

use crate::banks::Banks;
use crate::figure::{Axis, Claim, Figure, Point, Series, Source, Stated, Style};
use crate::outcome::{GAP, Moments, Truth};
use crate::traffic::purpose;
use crate::{LabError, Progress, Report, Scale};
use deltaline_estimate::{Difference, Observation, estimate};
use deltaline_model::sketch::cell::{Cell, Row};
use deltaline_model::sketch::digest::PacketDigest;
use deltaline_model::sketch::lda_identity::{RowsAndIdentities, of_words};
use deltaline_model::sketch::sampler::{MAX_PREFIX, Prefixes, Sampler};
use deltaline_model::sketch::synopsis::{Hashed, Parameters, Synopsis};
use deltaline_model::time::Timestamp;
use deltaline_model::wire::cell::WireCell;
use deltaline_traffic::delay::Delay;
use deltaline_traffic::random::Seed;
use rayon::prelude::*;

/// Rows beside an identity table, and of an LDA and an LDA with digests in the same bits.
const ROWS: usize = 1024;
const ROWS_ALONE: u32 = 3 * ROWS as u32;
const ROWS_WITH_DIGESTS: u32 = ROWS_ALONE * 72 / 104;
/// Packets that differ for each cell of the identity table: it shows 0.67.
const LOAD: f64 = 0.6;
/// Shares of packets that are lost.
const LOSSES: [f64; 5] = [0.001, 0.003, 0.01, 0.03, 0.1];
/// The share of packets that cross the interval's edge, by the share that is lost.
type Crossing = fn(f64) -> f64;
/// Each figure's.
const CROSSINGS: [(&str, &str, Crossing); 3] = [
    ("13a", "relative error of the mean, packets keep their interval", |_| 0.0),
    (
        "13b",
        "relative error of the mean, a tenth as many packets as are lost cross the interval's end",
        |loss| loss / 10.0,
    ),
    ("13c", "relative error of the mean, 0.1 % of the packets cross the interval's end", |_| 0.001),
];
/// The loss of the target, from which on a tenth as many cross the end.
const TARGET: f64 = 0.01;
/// Mean of the delays: scale 66.47 µs.
const MEAN: f64 = 84_139.0;
const SHAPE: f64 = 0.7;
/// The interval of other experiments is multiplied by 2 / 5: 2 million packets.
const FEWER_PACKETS: (usize, usize) = (2, 5);

const NAMES: [&str; 4] = ["LDA, 1 in a row", "LDA, 1/2 in a row", "LDA with digests", "lda-identity"];

/// Rows of both ends, and what fills them.
struct Ends {
    banks: Banks,
    cells: [Vec<Cell>; 2],
    has_digests: bool,
}

impl Ends {
    fn new(rows: u32, differ: f64, packets: usize, in_a_row: f64, has_digests: bool) -> Self {
        let share = (in_a_row * f64::from(rows) / (differ * packets as f64 + 1.0)).min(1.0);
        let banks = Banks::new(rows, &[share]);
        let cells = [0, 1].map(|_| vec![Cell::default(); banks.cells()]);
        Ends { banks, cells, has_digests }
    }

    fn mean(&self, [sent, received]: [u64; 2]) -> Result<Option<f64>, LabError> {
        mean(self.banks.rows(), [&self.cells[0], &self.cells[1]], [sent, received])
    }
}

/// What rows say of the mean.
fn mean<R: Row>(
    rows: usize,
    [sender, receiver]: [&[R]; 2],
    [sent, received]: [u64; 2],
) -> Result<Option<f64>, LabError> {
    let found = estimate(&Observation { rows, sender, receiver, sent, received })?;
    Ok(found.mean.ok().map(|mean| mean.nanoseconds))
}

/// The words of an end's tables.
fn words(tables: &RowsAndIdentities) -> Vec<Cell> {
    let mut blocks = vec![0; 3 * ROWS / 8 * 72];
    tables.pack(0, 0, &mut blocks);
    blocks.chunks(72).flat_map(Cell::unpack).collect()
}

/// One interval with these shares of packets lost and across its end, through all tables.
fn measure(
    packets: usize,
    loss: f64,
    crossing: f64,
    scale: &Scale,
    seed: Seed,
) -> Result<([Option<f64>; 4], Truth), LabError> {
    let random = |purpose| seed.with(purpose).random();
    let [mut delays, mut losses, mut edges] = [purpose::DELAYS, purpose::LOSSES, purpose::EDGES].map(random);
    let mut law = Delay::weibull(MEAN, SHAPE);
    let mut hashes = scale.keys.hashes(seed.with(purpose::HASHES));
    let window = (crossing * packets as f64) as usize;
    let differ = loss + crossing;
    let mut alone = [
        Ends::new(ROWS_ALONE, differ, packets, 1.0, false),
        Ends::new(ROWS_ALONE, differ, packets, 0.5, false),
        Ends::new(ROWS_WITH_DIGESTS, differ, packets, 1.0, true),
    ];
    let sampled = |length: &u8| differ * packets as f64 / f64::from(1u32 << length) <= LOAD * ROWS as f64;
    let length = (0..MAX_PREFIX).find(sampled).unwrap_or(MAX_PREFIX);
    let prefixes = Prefixes::new(&[length])?;
    let parameters =
        Parameters { classes: 1, rows: ROWS, prefixes, has_digests: false, seed: 0, tables: None };
    let mut tables = [0, 1].map(|_| RowsAndIdentities::new(&parameters));
    let sampler = Sampler::new(parameters.prefixes);
    let digests = PacketDigest::new(0);
    let (mut moments, mut received) = (Moments::default(), 0);
    for number in 0..packets + window {
        let (hash, delay) = (hashes.bits(), law.draw(&mut delays));
        let is_lost = losses.uniform() < loss;
        // Half of those on either side of the end arrive on the other one.
        let crosses = number + window >= packets && edges.uniform() < 0.5;
        let is_next = number >= packets;
        let sent = number as u64 * GAP;
        let times =
            [(!is_next).then_some(sent), (!is_lost && is_next == crosses).then(|| sent + u64::from(delay))];
        received += u64::from(times[1].is_some());
        if !is_next {
            moments.add(times[1].map(|_| delay));
        }
        for rows in &mut alone {
            let Some(row) = rows.banks.cell(hash) else { continue };
            let digest = if rows.has_digests { digests.digest(hash) } else { 0 };
            for (cells, time) in rows.cells.iter_mut().zip(times) {
                time.into_iter().for_each(|time| _ = cells[row].add_some(1, time, digest));
            }
        }
        for (tables, time) in tables.iter_mut().zip(times) {
            let Some(time) = time.map(Timestamp::from_nanoseconds) else { continue };
            _ = tables.add(
                0,
                &sampler,
                &[Hashed { hash, place: (hash >> 32) as u32, time, ..Hashed::default() }],
            );
        }
    }
    let truth = moments.truth();
    let totals = [packets as u64, received];
    let [sender, receiver] = tables.each_ref().map(words);
    let [(sent_rows, sent_cells), (received_rows, received_cells)] =
        [&sender, &receiver].map(|words| of_words(words));
    let difference = Difference::beside_rows(&sent_cells, &received_cells);
    let ([sender, receiver], is_explained) = difference.name_rows(sent_rows, received_rows);
    let of_named = match difference.complete && is_explained {
        true => mean(ROWS, [&sender, &receiver], totals)?,
        false => None,
    };
    let [first, second, digests] = alone;
    Ok(([first.mean(totals)?, second.mean(totals)?, digests.mean(totals)?, of_named], truth))
}

/// The error of a mean of so many of all packets that arrived, by the deviation of these delays.
fn of_samples(samples: f64, arrived: f64) -> f64 {
    // Gamma functions at 1 + 1/0.7 and 1 + 2/0.7 give the deviation over the mean; a normal error's mean is 0.798 of its deviation.
    const DEVIATION: f64 = 1.461_7;
    0.797_885 * DEVIATION * ((1.0 - samples / arrived).max(0.0) / samples).sqrt()
}

pub(crate) fn run(scale: &Scale, progress: &dyn Progress) -> Result<Report, LabError> {
    let seed = Seed::new(scale.seed).with(12);
    let packets = scale.packets * FEWER_PACKETS.0 / FEWER_PACKETS.1;
    progress.expect((LOSSES.len() * CROSSINGS.len() * scale.runs) as u64);
    let mut figures = vec![];
    for (name, title, crossing) in CROSSINGS {
        let mut errors: [Vec<Point>; 4] = Default::default();
        for (number, loss) in LOSSES.into_iter().enumerate() {
            let outcomes = (0..scale.runs as u64).into_par_iter().map(|run| {
                let outcome =
                    measure(packets, loss, crossing(loss), scale, seed.with(number as u64).with(run));
                progress.step();
                outcome
            });
            let outcomes: Vec<_> = outcomes.collect::<Result<_, LabError>>()?;
            for (synopsis, points) in errors.iter_mut().enumerate() {
                let error = |(found, truth): &([Option<f64>; 4], Truth)| {
                    Some((found[synopsis]? - truth.mean).abs() / truth.mean)
                };
                points.push(Point::average(loss, outcomes.iter().map(error)));
            }
        }
        let mut series: Vec<Series> = NAMES
            .iter()
            .zip(errors)
            .enumerate()
            .map(|(colour, (name, points))| Series {
                name: (*name).into(),
                colour,
                style: Style::Line,
                points,
            })
            .collect();
        let bound = |loss: &f64| {
            let differ = loss + crossing(*loss);
            let arrived = packets as f64 * (1.0 - differ);
            let y = of_samples(f64::from(ROWS_ALONE) / differ, arrived);
            (f64::from(ROWS_ALONE) < differ * packets as f64).then(|| Point::range(*loss, y, 0.0))
        };
        let points = LOSSES.iter().filter_map(bound).collect();
        series.push(Series { name: "no table is nearer".into(), colour: 4, style: Style::Dashed, points });
        figures.push(Figure {
            name,
            title,
            x: Axis::logarithmic("share of packets lost"),
            y: Axis::logarithmic("average relative error of the mean"),
            series,
        });
    }
    let at = |figure: usize, name: &str, loss: f64| {
        let points = figures[figure].series(name).into_iter().flat_map(|series| &series.points);
        points.filter(|point| point.x == loss).find_map(|point| point.y).unwrap_or(f64::NAN)
    };
    let nearer = |figure: usize, loss: f64| {
        let of_lda = NAMES[..2].iter().map(|name| at(figure, name, loss)).fold(f64::INFINITY, f64::min);
        of_lda / at(figure, NAMES[3], loss)
    };
    let from_target = |figure: usize| {
        let ratios = LOSSES.iter().filter(|loss| **loss >= TARGET).map(|loss| nearer(figure, *loss));
        ratios
            .fold([f64::INFINITY, 0.0], |[least, most]: [f64; 2], ratio| [least.min(ratio), most.max(ratio)])
    };
    let claim = |figure, what: &str, comment: &str| Claim {
        by: Source::Target,
        what: format!("error of the better LDA over that of lda-identity from 1 % loss on, {what}"),
        unit: "",
        stated: Stated::Above(10.0),
        measured: from_target(figure),
        comment: comment.into(),
    };
    let claims = vec![
        claim(
            1,
            "a tenth as many across the end",
            "rows alone trust rows that lost one packet and gained another",
        ),
        claim(
            2,
            "0.1 % across the end",
            "the more are lost, the smaller is the sample, and the rarer a row that gained one",
        ),
        claim(
            0,
            "none across the end",
            "no table can: 1.65 is the most, of as many sums; names take two thirds of the bits",
        ),
    ];
    let text = format!(
        "{packets} packets, Weibull delays of scale 66.47 µs and shape 0.7, {} runs, 221,184 bits of each synopsis: {ROWS_ALONE} rows of an \
         LDA, tuned to one packet that differs in a row or to half of one, {ROWS_WITH_DIGESTS} rows with digests, and {ROWS} rows with an \
         identity table of as many cells. The identity table's prefix is a power of two, the others' sampling is as fine as you like. \
         Where packets keep their interval, rows alone are nearer: any table of M sums that lost a share l bases its mean on M / l \
         packets at most, a tuned LDA on M / (e l) ([why](../sim/lab/src/damaged_rows.rs)), and names take bits. Where packets cross the end, \
         rows that lost one and gained another look whole to an LDA. Digests and names tell them. Names also say which packets they were.",
        scale.runs,
    );
    Ok(Report { title: "Rows whose damage is known (figure 13)", text, figures, claims })
}
