//! Loss: exact from the totals, and estimated from a bank.
//!
//! # Test plan
//!
//! Signs and limits of the exact loss; a bank's estimate against a count by hand and against its refusals.

use deltaline_model::sketch::cell::Cell;

/// The exact number of packets lost between the ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Loss {
    /// Packets that were sent but not received; zero when all arrived.
    Lost(u64),
    /// Packets received beyond those sent, at least 1: duplicates, packets from elsewhere, or packets of a
    /// neighbouring interval.
    Surplus(u64),
}

impl Loss {
    /// The loss between `sent` and `received` packets.
    pub fn between(sent: u64, received: u64) -> Self {
        match sent.checked_sub(received) {
            Some(lost) => Loss::Lost(lost),
            None => Loss::Surplus(received - sent),
        }
    }

    /// Lost packets; zero when there is a surplus.
    pub fn lost(self) -> u64 {
        match self {
            Loss::Lost(lost) => lost,
            Loss::Surplus(_) => 0,
        }
    }
}

/// Why a bank's loss cannot be estimated.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum BankLossError {
    /// The ends' banks differ in size.
    #[error("the sender's bank has {sender} rows, the receiver's {receiver}: configure both ends alike")]
    Sizes {
        /// Rows of the sender's bank.
        sender: usize,
        /// Rows of the receiver's bank.
        receiver: usize,
    },
    /// The sampling probability is out of range.
    #[error("sampling probability {0} is not within (0, 1]: give the share of packets that the bank samples")]
    Probability(f64),
}

/// Packets lost in the whole interval, estimated from one bank: sum (n_sender - n_receiver) / p.
///
/// `sender` and `receiver` are the bank's rows at the two ends. `probability` is its sampling probability p, within
/// (0, 1]. Banks are disjoint, so p is 2^-k less the 2^-k' of the bank with the next longer prefix
/// (`deltaline_model::sketch::sampler::Prefixes::probability`). The result is negative when more was received than
/// sent. The estimate of L losses has standard error sqrt(L (1 - p) / p); the exact loss is [`Loss::between`] the
/// totals.
///
/// ```
/// use deltaline_estimate::bank_loss;
/// use deltaline_model::sketch::cell::Cell;
///
/// let row = |count| Cell { count, sum: 0, digest: 0 };
/// // A bank that samples a quarter of the packets lost one: four in the whole interval.
/// assert_eq!(bank_loss(&[row(5), row(2)], &[row(4), row(2)], 0.25), Ok(4.0));
/// ```
///
/// # Errors
///
/// [`BankLossError`] when the banks differ in size or `probability` is out of range.
pub fn bank_loss(sender: &[Cell], receiver: &[Cell], probability: f64) -> Result<f64, BankLossError> {
    if sender.len() != receiver.len() {
        return Err(BankLossError::Sizes { sender: sender.len(), receiver: receiver.len() });
    }
    if !(probability > 0.0 && probability <= 1.0) {
        return Err(BankLossError::Probability(probability));
    }
    let sampled: i64 =
        sender.iter().zip(receiver).map(|(sent, got)| i64::from(sent.count) - i64::from(got.count)).sum();
    Ok(sampled as f64 / probability)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bank(counts: &[u32]) -> Vec<Cell> {
        counts.iter().map(|&count| Cell { count, ..Cell::default() }).collect()
    }

    #[test]
    fn exact_loss_has_a_sign() {
        assert_eq!(Loss::between(7, 7), Loss::Lost(0));
        assert_eq!(Loss::between(u64::MAX, 0), Loss::Lost(u64::MAX));
        assert_eq!(Loss::between(0, u64::MAX), Loss::Surplus(u64::MAX));
        assert_eq!(Loss::between(3, 5).lost(), 0);
        assert_eq!(Loss::between(5, 3).lost(), 2);
    }

    #[test]
    fn a_bank_scales_up_by_its_probability() {
        let p = 1.0 / 8.0 - 1.0 / 128.0;
        assert_eq!(bank_loss(&bank(&[5, 10, 2]), &bank(&[5, 7, 2]), p), Ok(25.6));
        assert_eq!(bank_loss(&bank(&[0, u32::MAX]), &bank(&[u32::MAX, 0]), 1.0), Ok(0.0));
        assert_eq!(bank_loss(&bank(&[1]), &bank(&[3]), 0.5), Ok(-4.0));
        assert_eq!(bank_loss(&[], &[], 0.5), Ok(0.0));
    }

    #[test]
    fn what_a_bank_refuses() {
        let sizes = BankLossError::Sizes { sender: 2, receiver: 1 };
        assert_eq!(bank_loss(&bank(&[1, 1]), &bank(&[1]), 0.5), Err(sizes));
        for p in [0.0, -0.5, 1.5, f64::INFINITY] {
            assert_eq!(bank_loss(&[], &[], p), Err(BankLossError::Probability(p)));
        }
        assert!(bank_loss(&[], &[], f64::NAN).is_err());
    }
}
