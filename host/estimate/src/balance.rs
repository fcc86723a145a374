//! Balance: packets that were lost, and packets that came in from elsewhere, apart.
//!
//! The totals give only the *net* loss, sent less received: a packet that was lost and one that was repeated, or that is
//! another stream's, cancel. Rows keep them apart as long as they do not meet in one. A row that counted more packets at
//! the receiver proves a *surplus*; so does, with digests, a row of equal counts and different digests, which lost as many
//! as it gained.
//!
//! Where nothing proves a surplus, the net loss is the loss, and no packet less was lost. More may have been, in place of which as many came in:
//! those that no row shows. A gained packet is shown with the chance q that its bank samples it and its row is whole without it, so that of u gained
//! ones none is shown with the chance (1 - q)^u: more than ln(0.05) / ln(1 - q) would have been seen at 95 % confidence. Where few rows are
//! whole, their spread, as below, may say more; and no more were lost than were sent. Whichever bound is least is the upper end of what was lost; only digest
//! sums of all packets prove that it is none.
//!
//! Where rows or totals prove one, let d_i be what row i lost less what it
//! gained, l packets lost and s gained in all m rows of a bank together, scattered by chance. Then d_i has the variance (l + s) / m,
//! and sum (d_i - mean)^2 m / (m - 1) estimates the bank's l + s, with the variance 2 (l + s)^2 / (m - 1): of an estimate that was
//! found, the variance is 2 / (m - 5) of its square, which few rows make more of. The sum of all
//! banks over the share p of packets that they hold is that of the interval, with (l + s) (1 - p) / p^2 more variance for which
//! packets were sampled; half of it more or less half of the net loss are the packets lost and gained. What rows prove packet for
//! packet is a *least* number of both. Where a surplus is proven and no rows show how large it is, neither number is known.
//!
//! # Test plan
//!
//! By hand: net, rows of surplus, foreign rows, digest sums that differ; intervals add up. Over many seeds of losses and
//! repetitions the estimate is unbiased and its interval holds the truth, also where no row shows any: `tests::balance`.

use crate::{Confidence, Observation, Reason};
use deltaline_model::sketch::cell::Row;

/// Packets lost and gained between two ends.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Balance {
    /// Packets sent less packets received.
    pub net: i64,
    /// Packets lost that rows prove, or the net loss.
    pub lost_least: u64,
    /// Packets gained that rows prove, or the net gain.
    pub surplus_least: u64,
    /// Estimate of the packets lost, if a surplus is proven beyond the net gain, and its variance.
    estimated: Option<(f64, f64)>,
    /// How many more packets may have been lost than that, and as many gained, although no row shows any.
    unseen: Unseen,
    /// The ends have seen the same packets, as sums over all of them show.
    is_same: bool,
    /// Why it is not known how many were lost and gained, if so.
    unknown: Option<Reason>,
}

/// So many more packets than differ may have been expected to, by 95 %, where few do.
const FEW_MORE: f64 = 3.0;
/// Packets by which rows differ, from which on their spread is about normal.
const ENOUGH_SPREAD: f64 = 30.0;

/// How many packets were lost in place of which others were gained, if no row shows it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Unseen {
    /// By which chance a gained packet is missed; none where something else bounds them.
    chance: f64,
    /// The variance of the packets lost, by rows' spread.
    variance: f64,
    /// Packets that were sent and are not known to be lost.
    room: f64,
}

impl Unseen {
    /// The bounds of an interval whose rows show a gained packet with a chance, whose packets lost have a variance, and of which no more than
    /// `room` packets more can have been lost: the least of these.
    fn of(shown: f64, variance: f64, room: f64) -> Self {
        let none = Unseen::default();
        let of_chance = Unseen { chance: (1.0 - shown).clamp(0.0, 1.0), ..none };
        let bounds = [of_chance, Unseen { variance, ..none }, Unseen { room, ..none }];
        let most = |each: &Unseen| each.most(Confidence::P95);
        bounds.into_iter().min_by(|one, other| most(one).total_cmp(&most(other))).unwrap_or(none)
    }

    /// Nothing shows any.
    fn unknown() -> Self {
        Unseen { chance: 1.0, ..Unseen::default() }
    }

    /// Those of these intervals and the other ones together: that all of any packets were missed is at most as likely as in the interval that shows
    /// least.
    fn and(self, other: Unseen) -> Self {
        Unseen {
            chance: self.chance.max(other.chance),
            variance: self.variance + other.variance,
            room: self.room + other.room,
        }
    }

    /// At most so many, at this confidence; any number where nothing shows them.
    fn most(self, confidence: Confidence) -> f64 {
        let by_chance = match self.chance {
            0.0 => 0.0,
            1.0.. => f64::INFINITY,
            chance => ((1.0 - confidence.level()).ln() / chance.ln()).floor(),
        };
        by_chance + confidence.student(f64::INFINITY) * self.variance.sqrt() + self.room
    }
}

/// What a number of lost or gained packets rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Counts and digest sums of all packets are equal: none.
    Exact,
    /// The totals; nothing proves that packets of both kinds cancel in them, and as many as may do so unseen are in the interval.
    Net,
    /// The spread of rows, because packets of both kinds are proven.
    Estimated,
}

impl Balance {
    /// From totals alone.
    pub fn of_totals(sent: u64, received: u64) -> Self {
        let net = i64::try_from(i128::from(sent) - i128::from(received)).unwrap_or(i64::MAX);
        Balance {
            net,
            lost_least: sent.saturating_sub(received),
            surplus_least: received.saturating_sub(sent),
            unseen: Unseen::unknown(),
            ..Balance::default()
        }
    }

    pub(crate) fn of_rows<R: Row>(observation: &Observation<R>) -> Self {
        let mut balance = Balance::of_totals(observation.sent, observation.received);
        let (mut short, mut surplus) = (0, 0);
        let (mut rows_filled, mut rows_gained) = (0, 0);
        let (mut spread, mut spread_variance) = (0.0, 0.0);
        let mut shown = 0.0;
        let banks = observation
            .sender
            .chunks(observation.rows.max(1))
            .zip(observation.receiver.chunks(observation.rows.max(1)));
        for (sender, receiver) in banks {
            let rows = sender.len() as f64;
            let (mut sum, mut squares) = (0.0, 0.0);
            let (mut whole, mut in_bank) = (0.0, 0.0);
            for (sender, receiver) in sender.iter().zip(receiver) {
                let difference = i64::from(sender.count()) - i64::from(receiver.count());
                short += difference.max(0) as u64;
                surplus += (-difference).max(0) as u64;
                if difference == 0 && sender.count() > 0 && !sender.agrees(receiver) {
                    (short, surplus) = (short + 1, surplus + 1);
                }
                whole += f64::from(u8::from(sender.agrees(receiver)));
                in_bank += f64::from(sender.count());
                rows_filled += usize::from(sender.count() > 0);
                rows_gained += usize::from(difference < 0);
                sum += difference as f64;
                squares += (difference * difference) as f64;
            }
            let freedom = (rows - 1.0).max(1.0);
            let both = (squares - sum * sum / rows) * rows / freedom;
            spread += both;
            shown += in_bank / observation.sent.max(1) as f64 * whole / rows;
            spread_variance += 2.0 * both * both / (freedom - 4.0).max(1.0);
        }
        // What rows prove of one kind, the totals prove of the other.
        let lost = short.max(add_signed(surplus, balance.net)).max(balance.lost_least);
        balance.lost_least = lost;
        balance.surplus_least = add_signed(lost, balance.net.saturating_neg());
        let sampled: u64 = observation.sender.iter().map(|cell| u64::from(cell.count())).sum();
        // Where many of the rows have gained, none may be left that shows a loss: it is in the spread alone.
        let hides_losses = 10 * rows_gained > rows_filled;
        let share = (sampled as f64 / observation.sent.max(1) as f64).min(1.0);
        let lost = ((spread / share + balance.net as f64) / 2.0).min(observation.sent as f64);
        let of_spread = |spread: f64| (spread_variance + spread * (1.0 - share)) / (4.0 * share * share);
        let variance = of_spread(spread);
        if balance.surplus_least > 0 && (balance.lost_least > 0 || hides_losses) && sampled > 0 {
            let most = lost + Confidence::P95.student(f64::INFINITY) * variance.sqrt();
            let least = 2.0 * lost - most;
            // Where no row proves a loss and none is within the error, none is said, and as many as the error allows are the bound.
            balance.estimated = Some(match balance.lost_least == 0 && least <= 0.0 {
                true => (0.0, (most / Confidence::P95.student(f64::INFINITY)).powi(2)),
                // Few packets that differ may have been a few more as well, and a row may hold one of either kind.
                false => (lost, of_spread(spread + FEW_MORE) + FEW_MORE / 4.0),
            });
            balance.unseen = Unseen::default();
        } else {
            let of_spread = if spread >= ENOUGH_SPREAD { variance } else { f64::INFINITY };
            let room = observation.sent.saturating_sub(balance.lost_least) as f64;
            balance.unseen = Unseen::of(shown, of_spread, room);
        }
        balance
    }

    /// The same where the packets are known that were lost and gained among a `share` of all, from above 0 to 1: of all, that many are
    /// known exactly; of a sample, a packet that was not sampled may differ too.
    pub fn with_known(self, lost: u64, gained: u64, share: f64) -> Self {
        let lost_least = lost.max(add_signed(gained, self.net)).max(self.lost_least);
        let surplus_least = add_signed(lost_least, self.net.saturating_neg());
        let both = (lost + gained) as f64;
        let all = ((both / share + self.net as f64) / 2.0).max(lost_least as f64);
        let variance = both * (1.0 - share) / (4.0 * share * share);
        let estimated = (surplus_least > 0 && lost_least > 0).then_some((all, variance));
        let unseen = if estimated.is_some() {
            Unseen::default()
        } else {
            Unseen::of(share, f64::INFINITY, f64::INFINITY)
        };
        Balance { lost_least, surplus_least, estimated, unseen, ..self }
    }

    /// The same where at least so many packets are known to be gained.
    pub fn with_gained(self, gained: u64) -> Self {
        let surplus_least = self.surplus_least.max(gained);
        let lost_least = self.lost_least.max(add_signed(surplus_least, self.net));
        Balance { lost_least, surplus_least, ..self }
    }

    /// The same where no rows show how many packets were gained: if some were, they may be any number, and hide as many losses. `reason` is
    /// why some may have been although nothing proves it.
    pub fn without_rows(self, reason: Option<Reason>) -> Self {
        let proven = (self.surplus_least > 0).then_some(Reason::Gained(self.surplus_least));
        Balance { unknown: proven.or(reason.filter(|_| !self.is_same)), ..self }
    }

    /// The same with what sums of all packets' digests show, if counts are equal.
    pub(crate) fn with_digest_sums(self, are_equal: bool) -> Self {
        match (self.net, are_equal) {
            (0, true) if self.surplus_least == 0 => {
                Balance { is_same: true, unseen: Unseen::default(), ..self }
            }
            (0, false) => Balance {
                lost_least: self.lost_least.max(1),
                surplus_least: self.surplus_least.max(1),
                ..self
            },
            _ => self,
        }
    }

    /// The balance of these packets and the other ones together.
    pub fn and(self, other: Balance) -> Self {
        let value = |each: &Balance| each.estimated.unwrap_or((each.lost_least as f64, 0.0));
        let (one, two) = (value(&self), value(&other));
        let estimated =
            (self.estimated.is_some() || other.estimated.is_some()).then_some((one.0 + two.0, one.1 + two.1));
        Balance {
            net: self.net.saturating_add(other.net),
            lost_least: self.lost_least.saturating_add(other.lost_least),
            surplus_least: self.surplus_least.saturating_add(other.surplus_least),
            estimated,
            unseen: self.unseen.and(other.unseen),
            is_same: self.is_same && other.is_same,
            unknown: self.unknown.or(other.unknown),
        }
    }

    /// What the numbers rest on.
    pub fn basis(&self) -> Basis {
        match self.estimated {
            _ if self.is_same => Basis::Exact,
            // Proven by sums alone, or the net loss of one interval and the net gain of another.
            None if self.lost_least > 0 && self.surplus_least > 0 => Basis::Estimated,
            None => Basis::Net,
            Some(_) => Basis::Estimated,
        }
    }

    /// Why it is not known how many packets were lost and gained, if so.
    pub fn unknown(&self) -> Option<Reason> {
        self.unknown
    }

    /// Packets lost.
    pub fn lost(&self) -> u64 {
        let least = self.lost_least;
        self.estimated.map_or(least, |(lost, _)| (lost.round() as u64).max(least))
    }

    /// Packets gained: repeated, foreign, or of a neighbouring interval.
    pub fn surplus(&self) -> u64 {
        add_signed(self.lost(), self.net.saturating_neg())
    }

    /// The confidence interval of the packets lost, never below the least number; none where nothing shows how many more were lost and as many
    /// gained. That of the packets gained is as wide.
    pub fn lost_range(&self, confidence: Confidence) -> Option<[f64; 2]> {
        let least = self.lost_least as f64;
        let unseen = self.unseen.most(confidence);
        if !unseen.is_finite() {
            return None;
        }
        let (lost, variance) = self.estimated.unwrap_or((least, 0.0));
        let half = confidence.student(f64::INFINITY) * variance.sqrt();
        Some([(lost - half).max(least), (lost + half).max(least) + unseen])
    }

    /// How far the packets gained are below the packets lost.
    pub fn surplus_range(&self, confidence: Confidence) -> Option<[f64; 2]> {
        let net = self.net as f64;
        self.lost_range(confidence).map(|range| range.map(|end| (end - net).max(0.0)))
    }
}

fn add_signed(number: u64, change: i64) -> u64 {
    number.saturating_add_signed(change)
}
