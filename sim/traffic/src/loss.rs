//! Loss: which packets are lost, independently or in bursts.
//!
//! * **Uniform**: every packet is lost with the same probability, independently of the others.
//! * **Bursts**: episodes in which every packet is lost alternate with episodes without loss. The lengths of both
//!   are exponentially distributed, in whole packets (geometrically). The LDA paper's section IV-C has 100 packets
//!   an episode, after Misra et al. and Sommers et al. The sequence starts in its steady state.
//!
//! # Test plan
//!
//! Share of losses, mean length of episodes and their variance, against the laws; no loss, and loss of every
//! packet.

use crate::random::Random;

/// An endless sequence that says of each packet whether it is lost.
#[derive(Clone, Debug)]
pub struct Losses {
    random: Random,
    law: Law,
    /// Whether the next `remaining` packets are lost; then it changes.
    losing: bool,
    remaining: u64,
}

#[derive(Clone, Copy, Debug)]
enum Law {
    Uniform {
        share: f64,
    },
    Bursts {
        /// Probability that an episode of loss ends after a packet.
        end: f64,
        /// Probability that one begins after a packet.
        begin: f64,
    },
}

impl Losses {
    /// Every packet is lost with probability `share`, within 0 to 1.
    pub fn uniform(share: f64, mut random: Random) -> Self {
        let remaining = random.failures(share);
        Losses { random, law: Law::Uniform { share }, losing: false, remaining }
    }

    /// `share` of all packets is lost, within 0 to 1, in episodes of `length` packets on average, at least 1.
    pub fn bursts(share: f64, length: f64, mut random: Random) -> Self {
        let (end, begin) = match length.recip() {
            end if share < 1.0 => (end, end * share / (1.0 - share)),
            _ => (0.0, 1.0),
        };
        let losing = random.chance(share);
        let mut losses = Losses { random, law: Law::Bursts { end, begin }, losing: !losing, remaining: 0 };
        losses.next_episode();
        losses
    }

    fn next_episode(&mut self) {
        self.losing = !self.losing;
        self.remaining = match self.law {
            Law::Uniform { .. } if self.losing => 1,
            Law::Uniform { share } => self.random.failures(share),
            Law::Bursts { end, .. } if self.losing => self.random.failures(end).saturating_add(1),
            Law::Bursts { begin, .. } => self.random.failures(begin).saturating_add(1),
        };
    }
}

impl Iterator for Losses {
    type Item = bool;

    #[inline]
    fn next(&mut self) -> Option<bool> {
        while self.remaining == 0 {
            self.next_episode();
        }
        self.remaining -= 1;
        Some(self.losing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Seed;

    /// Lengths of the episodes of loss among the first `packets`, and packets lost.
    fn episodes(losses: Losses, packets: usize) -> (Vec<f64>, f64) {
        let lost: Vec<bool> = losses.take(packets).collect();
        let lengths = lost.split(|&lost| !lost).filter(|run| !run.is_empty()).map(|run| run.len() as f64);
        (lengths.collect(), lost.iter().filter(|&&lost| lost).count() as f64)
    }

    #[test]
    fn uniform_losses() {
        for share in [0.001, 0.2, 0.7] {
            let packets = 300_000;
            let (lengths, lost) = episodes(Losses::uniform(share, Seed::new(1).random()), packets);
            let expected = share * packets as f64;
            assert!((lost - expected).abs() < 5.0 * (expected * (1.0 - share)).sqrt(), "{share}: {lost}");
            // Runs of independent losses are geometric: mean 1 / (1 - share).
            let mean = lost / lengths.len() as f64;
            let deviation = share.sqrt() / (1.0 - share) / (lengths.len() as f64).sqrt();
            assert!((mean - 1.0 / (1.0 - share)).abs() < 5.0 * deviation, "{share}: runs of {mean}");
        }
    }

    #[test]
    fn bursts() {
        for share in [0.01, 0.2] {
            let packets = 20_000_000;
            let (lengths, lost) = episodes(Losses::bursts(share, 100.0, Seed::new(2).random()), packets);
            let count = lengths.len() as f64;
            let mean = lengths.iter().sum::<f64>() / count;
            let variance = lengths.iter().map(|length| (length - mean).powi(2)).sum::<f64>() / count;
            // Exponential lengths: deviation equals mean.
            assert!((mean - 100.0).abs() < 5.0 * 100.0 / count.sqrt(), "{share}: {mean}");
            assert!(
                (variance.sqrt() / 100.0 - 1.0).abs() < 5.0 * (2.0 / count).sqrt(),
                "{share}: {variance}"
            );
            // An alternating renewal process of exponential times loses with relative variance 2 (1 - share)^2 / episodes.
            let expected = share * packets as f64;
            let deviation = expected * (2.0 / count).sqrt();
            assert!((lost - expected).abs() < 5.0 * deviation, "{share}: {lost}, not {expected}");
        }
    }

    #[test]
    fn none_and_all() {
        let random = || Seed::new(3).random();
        assert!(Losses::uniform(0.0, random()).take(1000).all(|lost| !lost));
        assert!(Losses::uniform(1.0, random()).take(1000).all(|lost| lost));
        assert!(Losses::bursts(0.0, 100.0, random()).take(1000).all(|lost| !lost));
        assert!(Losses::bursts(1.0, 100.0, random()).take(1000).all(|lost| lost));
    }
}
