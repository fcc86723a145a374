//! Loss: exact, from the totals.
//!
//! # Test plan
//!
//! Signs and limits.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exact_loss_has_a_sign() {
        assert_eq!(Loss::between(7, 7), Loss::Lost(0));
        assert_eq!(Loss::between(u64::MAX, 0), Loss::Lost(u64::MAX));
        assert_eq!(Loss::between(0, u64::MAX), Loss::Surplus(u64::MAX));
        assert_eq!(Loss::between(3, 5).lost(), 0);
        assert_eq!(Loss::between(5, 3).lost(), 2);
    }
}
