//! A flow's delay, loss and size from the [LDS](deltaline_model::sketch::lds) tables of two ends.
//!
//! **The paper's** ([`LdsPair::paper`]). A flow's cells are usable where counts and digests agree at both ends. n is the least count of a usable
//! cell, over its row's sampling probability, and the mean is that of all packets in usable cells with at most (1 + alpha) n. Its size is the least sum of its
//! k cells over the rows, which no other flow can make smaller than it is.
//!
//! **Ours** ([`LdsPair::regularised`]) solves for the flow's mean from all its usable cells at once. Cell i holds n_i packets; x_i of
//! them are the flow's, by its size less what other flows usually add, and v_i = n_i - x_i others', of mean M with deviation tau
//! between flows. So S_i - v_i M is x_i times the flow's mean with variance
//!
//! ```text
//! v_i^2 tau^2  +  v_i tau^2  +  u_i^2 (mean - M)^2     u_i: how far x_i is known
//! ```
//!
//! and the weighted mean of all cells is drawn towards M as if M were another one of variance tau^2.
//!
//! **What the error is made of.** How many other packets share a cell is known from all cells: to a flow, the others' load is that
//! of cells drawn at random, one in each row, and the table shows their distribution. 95 % of flows find a row with less than
//! v95. What these add to the mean is v95 / n times how far other flows' means lie from the flow's: the root of tau^2 + (M - mean)^2. The
//! 95 % interval takes both, and what sampling adds where not every packet is in a usable cell. A flow of which its cells might hold
//! less than half has no mean of ours: [`Reason::TooSmall`]. The paper answers there too, and the intervals of those answers need not hold.
//!
//! Sizes and losses are stated between the least, which leaves v95 to others, and the most.
//!
//! A tracked flow shares its cells with nobody: its mean is that of the longest whole sample.
//!
//! **When intervals fail.** M and tau are those of all flows, as if the flows in a cell were a random draw of packets. Where some flows hold many
//! packets, and delays rise and fall with time, intervals of 95 % held in as few as 30 % of a capture's flows. So no command gives
//! them: these numbers are for comparison in the lab. [`LdsPair::read`] assumes nothing of the kind.
//!
//! # Test plan
//!
//! A flow alone, by hand; the paper's figure 6 written again over maps; sizes and losses never below the truth, whatever collides; intervals
//! hold in 95 % of many flows and seeds; too small, too much lost and saturated are told; tables that differ are refused.
//! `deltaline lab lds` measures the errors.

mod absent;
mod alone;
pub mod ends;

use absent::Absent;
pub use absent::{FlowReading, HeldMean};
pub use alone::HeldDeviation;

use crate::mean::{Mean, Skew, Uncertainty};
use crate::reason::Reason;
use deltaline_model::sketch::lds::{FlowCell, Lds};

/// alpha that the paper found to be a good compromise.
pub const ALPHA: f64 = 0.1;
/// What a 95 % interval leaves out.
const MISSED: f64 = 0.05;
/// Packets that a flow has in a cell on average, so that it is not without any but once in a thousand times.
const LEAST_OWN: f64 = 8.0;

/// Why two tables cannot be compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LdsPairError {
    /// They are not alike.
    #[error("the two ends' tables differ in size, rows or seed: configure both ends alike")]
    Differ,
    /// A count overflowed.
    #[error(
        "a cell counted more than 2^32 - 1 packets times weight: use shorter intervals or smaller weights"
    )]
    Saturated,
}

/// A number of which the bounds are known: 95 % of flows lie between them.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Bounds {
    /// At least so many.
    pub least: f64,
    /// At most so many, for certain where every packet is sampled.
    pub most: f64,
}

/// What two tables say of a flow.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowEstimate {
    /// Packets sent, by weight. The paper's size is the most.
    pub sent: Bounds,
    /// Packets lost, by weight.
    pub lost: Bounds,
    /// Octets sent; none where they are not summed, or the flow is tracked.
    pub octets: Option<Bounds>,
    /// The mean delay in nanoseconds.
    pub mean: Result<Mean, Reason>,
    /// The standard deviation of delay in nanoseconds, from the differences between cells of a row.
    pub deviation: Result<f64, Reason>,
}

/// A usable cell that holds packets.
#[derive(Clone, Copy, Debug)]
struct Usable {
    row: usize,
    count: f64,
    delays: f64,
    probability: f64,
}

impl Usable {
    fn load(&self) -> f64 {
        self.count / self.probability
    }
}

/// Two ends' tables of an interval.
pub struct LdsPair<'a> {
    sender: &'a Lds,
    receiver: &'a Lds,
    /// Rows with the shortest prefix.
    fullest: Vec<usize>,
    /// What the emptiest k neighbouring cells of these rows hold, over the probability, of all flows but [`MISSED`], and of half of them.
    windows: [f64; 2],
    /// What they lack at the receiver, of all flows but [`MISSED`].
    lacks: f64,
    /// What the emptiest usable cell holds, over the probability, of all flows but [`MISSED`]: of one row, of two, and so on.
    loads: Vec<f64>,
    /// Mean delay of cells of usual load, and the deviation between cells.
    others: (f64, f64),
    absent: Absent,
}

impl<'a> LdsPair<'a> {
    /// Compares two tables.
    ///
    /// # Errors
    ///
    /// [`LdsPairError`].
    pub fn new(sender: &'a Lds, receiver: &'a Lds) -> Result<Self, LdsPairError> {
        let parameters = sender.parameters();
        if parameters != receiver.parameters() || sender.bits() != receiver.bits() {
            return Err(LdsPairError::Differ);
        }
        if sender.is_saturated() || receiver.is_saturated() {
            return Err(LdsPairError::Saturated);
        }
        let shortest = parameters.prefixes.iter().min().copied().unwrap_or(0);
        let rows = 0..parameters.prefixes.len();
        let fullest: Vec<usize> = rows.filter(|&row| parameters.prefixes[row] == shortest).collect();
        let (mut windows, mut lacks) = (vec![], vec![]);
        for &row in &fullest {
            let range = row * parameters.columns..(row + 1) * parameters.columns;
            let [sent, received] =
                [sender, receiver].map(|end| sums(end.cells(), range.clone(), parameters.width));
            let probability = parameters.probability(row);
            lacks.extend(sent.iter().zip(received).map(|(sent, received)| (sent - received) / probability));
            windows.extend(sent.into_iter().map(|sent| sent / probability));
        }
        [&mut windows, &mut lacks].into_iter().for_each(|values| values.sort_by(f64::total_cmp));
        let windows = [MISSED, 0.5].map(|probability| exceeded(&windows, probability, fullest.len()));
        let lacks = exceeded(&lacks, MISSED, fullest.len());
        let absent = Absent::default();
        let (loads, others) = (vec![], (0.0, 0.0));
        let mut pair = LdsPair { sender, receiver, fullest, windows, lacks, loads, others, absent };
        let all: Vec<Usable> = (0..sender.cells().len()).filter_map(|at| pair.usable(at)).collect();
        // An empty cell is one that adds nothing.
        let agree = |(one, other): &(&FlowCell, &FlowCell)| one.delay_sum(other).is_some();
        let usable = sender.cells().iter().zip(receiver.cells()).filter(agree).count();
        let mut loads = vec![0.0; usable - all.len().min(usable)];
        loads.extend(all.iter().map(Usable::load));
        loads.sort_by(f64::total_cmp);
        pair.loads = (1..=parameters.prefixes.len()).map(|rows| exceeded(&loads, MISSED, rows)).collect();
        pair.others = spread(&all, pair.load(parameters.prefixes.len()));
        Ok(pair)
    }

    /// The load that the emptiest of a flow's usable cells in so many rows exceeds with probability [`MISSED`].
    fn load(&self, rows: usize) -> f64 {
        self.loads.get(rows.max(1) - 1).copied().unwrap_or(0.0)
    }

    fn usable(&self, at: usize) -> Option<Usable> {
        let (sender, receiver) = (self.sender.cells().get(at)?, self.receiver.cells().get(at)?);
        let row = at / self.sender.parameters().columns;
        let delays = sender.delay_sum(receiver)? as f64;
        let probability = self.sender.parameters().probability(row);
        (sender.count > 0).then(|| Usable { row, count: sender.count.into(), delays, probability })
    }

    fn cells(&self, flow: u64) -> Vec<Usable> {
        let rows = 0..self.sender.parameters().prefixes.len();
        rows.flat_map(|row| self.sender.cells_of(flow, row)).filter_map(|at| self.usable(at)).collect()
    }

    /// Over the rows that sample most, the least sum of the flow's cells of these values.
    fn least(&self, flow: u64, value: impl Fn(usize) -> f64) -> f64 {
        let sums = self.fullest.iter().map(|&row| {
            let sum: f64 = self.sender.cells_of(flow, row).map(&value).sum();
            sum / self.sender.parameters().probability(row)
        });
        sums.fold(f64::INFINITY, f64::min)
    }

    /// The bounds of a number that others add to, at most so much of all flows but [`MISSED`].
    fn bounds(&self, most: f64, added: f64) -> Bounds {
        let probability = self.fullest.first().map_or(1.0, |&row| self.sender.parameters().probability(row));
        // Two standard deviations of a binomial count.
        let chance = 2.0 * (most.abs() * (1.0 - probability) / probability).sqrt();
        Bounds { least: (most - added.max(0.0) - chance).max(0.0), most: (most + chance).max(0.0) }
    }

    /// Packets sent and lost, octets.
    fn counts(&self, flow: u64) -> (Bounds, Bounds, Option<Bounds>) {
        let [sender, receiver] = [self.sender, self.receiver];
        let count = |end: &Lds, at: usize| end.cells().get(at).map_or(0.0, |cell| f64::from(cell.count));
        let sent = self.bounds(self.least(flow, |at| count(sender, at)), self.windows[0]);
        let lost = self.least(flow, |at| count(sender, at) - count(receiver, at));
        let lost = self.bounds(lost.max(0.0), self.lacks);
        let lost = Bounds { least: lost.least.min(sent.most), most: lost.most.min(sent.most) };
        let octets = (!sender.octets().is_empty()).then(|| {
            let most = self.least(flow, |at| sender.octets().get(at).map_or(0.0, |&octets| octets as f64));
            let share = if sent.most > 0.0 { sent.least / sent.most } else { 0.0 };
            Bounds { least: most * share, most }
        });
        (sent, lost, octets)
    }

    /// The paper's estimates, from the cells with at most 1 + `alpha` times the packets of the emptiest; of a tracked flow its own.
    pub fn paper(&self, flow: u64, alpha: f64) -> FlowEstimate {
        self.tracked(flow).unwrap_or_else(|| {
            let (sent, lost, octets) = self.counts(flow);
            let cells = self.cells(flow);
            let deviation = deviation(&cells);
            let mean = self.papers_mean(&cells, alpha, sent, deviation);
            FlowEstimate { sent, lost, octets, mean, deviation }
        })
    }

    fn papers_mean(
        &self,
        cells: &[Usable],
        alpha: f64,
        sent: Bounds,
        deviation: Result<f64, Reason>,
    ) -> Result<Mean, Reason> {
        let emptiest = Self::emptiest(cells, sent)?;
        let limit = (1.0 + alpha) * emptiest;
        let chosen: Vec<Usable> = cells.iter().filter(|cell| cell.load() <= limit).copied().collect();
        let [count, load, delays] = [Usable::count, Usable::load, Usable::delays]
            .map(|value| -> f64 { chosen.iter().map(value).sum() });
        let mean = delays / count;
        // Chosen cells beyond the emptiest hold others' packets too.
        let own = (emptiest - self.load(self.loads.len())).max(0.0) * chosen.len() as f64;
        let share = (1.0 - own / load).clamp(0.0, 1.0);
        Ok(self.stated(mean, share, &chosen, sent, deviation))
    }

    /// The load of the emptiest cell.
    fn emptiest(cells: &[Usable], sent: Bounds) -> Result<f64, Reason> {
        if sent.most == 0.0 {
            return Err(Reason::NothingReceived);
        }
        cells.iter().map(Usable::load).reduce(f64::min).ok_or(Reason::NoUsableRow)
    }

    /// The mean with its error, `share` of the cells' packets being others'.
    fn stated(
        &self,
        mean: f64,
        share: f64,
        chosen: &[Usable],
        sent: Bounds,
        deviation: Result<f64, Reason>,
    ) -> Mean {
        let (others, between) = self.others;
        let mixed = share * between.hypot(others - mean);
        let sampled = self.sampling(chosen, sent, deviation.unwrap_or(between));
        let rows = chosen.chunk_by(|one, other| one.row == other.row).count();
        let standard_error = mixed.hypot(sampled);
        let uncertainty = match deviation {
            // Means of cells differ far less than packets do.
            Err(reason) if sampled > 0.0 => Uncertainty::Unknown(reason),
            _ => Uncertainty::Sampled {
                standard_error,
                degrees_of_freedom: if sampled > 0.0 {
                    (chosen.len() - rows).max(1) as f64
                } else {
                    f64::INFINITY
                },
                skew: Skew::default(),
            },
        };
        Mean::unbounded(mean, uncertainty)
    }

    /// What it adds to the error that not every packet of the flow is in these cells.
    fn sampling(&self, cells: &[Usable], sent: Bounds, deviation: f64) -> f64 {
        let width = self.sender.parameters().width as f64;
        // Rows hold the same packets: the one that holds most of them counts.
        let rows = 0..self.sender.parameters().prefixes.len();
        let seen = rows.map(|row| {
            cells.iter().filter(|cell| cell.row == row).map(|cell| cell.probability / width).sum::<f64>()
        });
        let seen = seen.fold(0.0, f64::max).min(1.0);
        let packets = seen * 0.5 * (sent.least + sent.most);
        if seen >= 1.0 || packets <= 0.0 { 0.0 } else { deviation * ((1.0 - seen) / packets).sqrt() }
    }

    /// Our estimates, from all usable cells at once; of a tracked flow its own.
    pub fn regularised(&self, flow: u64) -> FlowEstimate {
        self.tracked(flow).unwrap_or_else(|| {
            let (sent, lost, octets) = self.counts(flow);
            let cells = self.cells(flow);
            let deviation = deviation(&cells);
            let mean = self.regularised_mean(&cells, sent);
            FlowEstimate { sent, lost, octets, mean, deviation }
        })
    }

    fn regularised_mean(&self, cells: &[Usable], sent: Bounds) -> Result<Mean, Reason> {
        let width = self.sender.parameters().width as f64;
        Self::emptiest(cells, sent)?;
        // A cell that may hold none of the flow's packets says nothing of it.
        let holds = |cell: &&Usable| {
            let share = cell.probability / width;
            share >= 1.0 || sent.most * share >= LEAST_OWN
        };
        let cells: &[Usable] = &cells.iter().filter(holds).copied().collect::<Vec<_>>();
        let rows = cells.chunk_by(|one, other| one.row == other.row).count();
        let foreign = self.load(rows);
        let too_small = Reason::TooSmall { packets: sent.most as u64, others: foreign as u64 };
        let emptiest = Self::emptiest(cells, sent).map_err(|_| too_small)?;
        if 2.0 * foreign > emptiest {
            return Err(too_small);
        }
        let first =
            cells.iter().find(|cell| cell.load() == emptiest).map_or(0.0, |cell| cell.delays / cell.count);
        let (others, between) = self.others;
        let size = (sent.most - self.windows[1]).max(0.5 * sent.most);
        // Without other flows nothing but rounding limits the weights.
        let rounding = 1e-18 * (first * first + 1.0);
        let (mut weights, mut sum, mut mixed) = (0.0, 0.0, 0.0);
        for cell in cells {
            let share = cell.probability / width;
            let own = (size * share).min(cell.count);
            let foreign = cell.count - own;
            // How many of the flow's packets fall into a cell is chance unless all of them do.
            let chance = own * (1.0 - share);
            let known = chance + (0.5 * (sent.most - sent.least) * share).powi(2);
            let variance = (foreign * foreign + foreign) * between * between
                + known * (first - others).powi(2)
                + own * own * rounding;
            let weight = own * own / variance;
            weights += weight;
            sum += weight * (cell.delays - foreign * others) / own;
            mixed += weight * foreign / cell.count;
        }
        let prior = (between * between + rounding).recip();
        let mean = (sum + prior * others) / (weights + prior);
        // The stated share is no less than what others may have of the emptiest cell.
        let share = (mixed / weights).min(1.0).max(foreign / emptiest);
        let mean = self.stated(mean, share, cells, sent, deviation(cells));
        match mean.uncertainty {
            Uncertainty::Unknown(reason) => Err(reason),
            _ => Ok(mean),
        }
    }

    /// What a tracked flow's own cells say.
    fn tracked(&self, flow: u64) -> Option<FlowEstimate> {
        let (mut sent, mut lost, mut best) = (None, None, None::<(f64, f64, bool)>);
        let mut deviations = Err(Reason::OneCell);
        for ((prefix, sender), (_, receiver)) in self.sender.tracked(flow)?.zip(self.receiver.tracked(flow)?)
        {
            let probability = (-f64::from(prefix)).exp2();
            let all = |cells: &[FlowCell]| cells.iter().map(|cell| f64::from(cell.count)).sum::<f64>();
            let (first, last) = (all(sender) / probability, all(receiver) / probability);
            let chance =
                if prefix == 0 { 0.0 } else { 2.0 * (first * (1.0 - probability) / probability).sqrt() };
            sent.get_or_insert(Bounds { least: (first - chance).max(0.0), most: first + chance });
            let lacking = (first - last).max(0.0);
            lost.get_or_insert(Bounds { least: (lacking - chance).max(0.0), most: lacking + chance });
            let usable: Vec<Usable> = sender
                .iter()
                .zip(receiver)
                .filter_map(|(sender, receiver)| {
                    let delays = sender.delay_sum(receiver)? as f64;
                    (sender.count > 0).then(|| Usable {
                        row: 0,
                        count: sender.count.into(),
                        delays,
                        probability,
                    })
                })
                .collect();
            let [count, delays] =
                [Usable::count, Usable::delays].map(|value| usable.iter().map(value).sum::<f64>());
            if count > best.map_or(0.0, |(count, ..)| count) {
                best = Some((count, delays, count == first && prefix == 0));
                deviations = deviation(&usable);
            }
        }
        let (sent, lost) = (sent?, lost?);
        let mean = match best {
            None if sent.most == 0.0 => Err(Reason::NothingReceived),
            None => Err(Reason::NoUsableRow),
            Some((count, delays, true)) => Ok(Mean::unbounded(delays / count, Uncertainty::Exact)),
            Some((count, delays, false)) => {
                let received = (0.5 * (sent.least + sent.most - lost.least - lost.most)).max(count);
                let uncertainty = match deviations {
                    Ok(deviation) => Uncertainty::Sampled {
                        standard_error: deviation * ((1.0 - count / received) / count).sqrt(),
                        degrees_of_freedom: f64::INFINITY,
                        skew: Skew::default(),
                    },
                    Err(reason) => Uncertainty::Unknown(reason),
                };
                Ok(Mean::unbounded(delays / count, uncertainty))
            }
        };
        Some(FlowEstimate { sent, lost, octets: None, mean, deviation: deviations })
    }
}

impl Usable {
    fn count(&self) -> f64 {
        self.count
    }

    fn delays(&self) -> f64 {
        self.delays
    }
}

/// The counts of `width` neighbouring cells, beginning at each of the row, whose end and beginning are neighbours.
fn sums(cells: &[FlowCell], row: std::ops::Range<usize>, width: usize) -> Vec<f64> {
    let cells = cells.get(row).unwrap_or_default();
    let count = |at: usize| cells.get(at % cells.len().max(1)).map_or(0.0, |cell| f64::from(cell.count));
    let mut sum: f64 = (0..width).map(count).sum();
    (0..cells.len())
        .map(|at| {
            let this = sum;
            sum += count(at + width) - count(at);
            this
        })
        .collect()
}

/// What the least of `rows` values drawn from `values`, which ascend, exceeds with this probability.
fn exceeded(values: &[f64], probability: f64, rows: usize) -> f64 {
    let below = 1.0 - probability.powf((rows.max(1) as f64).recip());
    let at = (below * values.len() as f64).ceil() as usize;
    values.get(at.min(values.len().saturating_sub(1))).copied().unwrap_or(0.0)
}

/// The mean delay of cells and the deviation between them: of all by their packets, or of those of at most this load, whichever
/// deviate more.
fn spread(cells: &[Usable], load: f64) -> (f64, f64) {
    let moments = |cells: &mut dyn Iterator<Item = (f64, f64)>| {
        let (mut all, mut sum, mut squares) = (0.0, 0.0, 0.0);
        for (weight, mean) in cells {
            (all, sum, squares) = (all + weight, sum + weight * mean, squares + weight * mean * mean);
        }
        let mean = if all > 0.0 { sum / all } else { 0.0 };
        (mean, (squares / f64::max(all, 1.0) - mean * mean).max(0.0).sqrt())
    };
    let of = |cell: &Usable| cell.delays / cell.count;
    let all = moments(&mut cells.iter().map(|cell| (cell.load(), of(cell))));
    let usual = cells.iter().filter(|cell| cell.load() <= load.max(1.0));
    let usual = moments(&mut usual.map(|cell| (1.0, of(cell))));
    if usual.1 > all.1 { usual } else { all }
}

/// The deviation of packets' delays by the spread between cells of the same row.
fn deviation(cells: &[Usable]) -> Result<f64, Reason> {
    let (mut squares, mut freedom) = (0.0, 0.0);
    for row in cells.chunk_by(|one, other| one.row == other.row).filter(|row| row.len() > 1) {
        let [count, delays] = [Usable::count, Usable::delays].map(|value| row.iter().map(value).sum::<f64>());
        let mean = delays / count;
        squares += row.iter().map(|cell| (cell.delays - cell.count * mean).powi(2) / cell.count).sum::<f64>();
        freedom += row.len() as f64 - 1.0;
    }
    if freedom > 0.0 { Ok((squares / freedom).sqrt()) } else { Err(Reason::OneCell) }
}
