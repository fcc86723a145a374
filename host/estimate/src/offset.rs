//! Bounds on the offset between two clocks, from delays in both directions.
//!
//! Let the second end's clock be ahead of the first's by `o`. A delay measured from the first end to the second is
//! the true delay plus `o`; in the other direction it is the true delay minus `o`. No true delay is negative, so
//! `o` is at most the least forward delay, and at least minus the least backward delay. [`offset_bounds`] uses the
//! exact delays of single packets.
//!
//! # Guarantees
//!
//! The bounds are not estimates. They hold whatever the delays are, provided that digests identified the single
//! packets and the offset was the same for all of them. More packets make them tighter, until each is as far from
//! the offset as the least delay of its direction. Their middle is the offset only if the two least delays are
//! equal, which nothing here can show. An offset that moves by more than the round trip's least delay can
//! contradict itself, and that is an error.
//!
//! # Test plan
//!
//! For any delays and any offset, the bounds hold the offset and are as wide as the sum of the least delays. A
//! moving clock is reported.

use crate::{Reason, Singles};

/// Bounds on the second clock's time minus the first's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OffsetBounds {
    /// The least it can be, in nanoseconds.
    pub lowest: i64,
    /// The most it can be, in nanoseconds.
    pub highest: i64,
}

/// Bounds on the offset of the second end's clock against the first's, from the delays of single packets `forward`
/// to the second end and `backward` to the first.
///
/// ```
/// use deltaline_estimate::{Observation, Singles, offset_bounds};
/// use deltaline_model::sketch::cell::Cell;
///
/// // One row with one packet; the second clock is 70 ns ahead and each way takes 100 ns.
/// let singles = |sent, received| {
///     let cell = |sum| [Cell { count: 1, sum, digest: 5 }];
///     Singles::of(&Observation { rows: 1, sender: &cell(sent), receiver: &cell(received), sent: 1, received: 1 })
/// };
/// let bounds = offset_bounds(&[&singles(1000, 1170)], &[&singles(2070, 2100)])?;
/// assert_eq!((bounds.lowest, bounds.highest), (-30, 170));
/// # Ok::<(), deltaline_estimate::Reason>(())
/// ```
///
/// # Errors
///
/// [`Reason::NoSingle`] if a direction has none; [`Reason::ClockMoved`] if no offset is consistent with the delays.
pub fn offset_bounds(forward: &[&Singles], backward: &[&Singles]) -> Result<OffsetBounds, Reason> {
    let least = |singles: &[&Singles]| {
        singles.iter().flat_map(|each| each.delays()).copied().min().ok_or(Reason::NoSingle)
    };
    let bounds = OffsetBounds { lowest: -least(backward)?, highest: least(forward)? };
    if bounds.lowest > bounds.highest { Err(Reason::ClockMoved) } else { Ok(bounds) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn singles(delays: &[i64], offset: i64) -> Singles {
        Singles::known(delays.iter().map(|delay| delay + offset).collect())
    }

    proptest! {
        #[test]
        fn the_bounds_hold_the_offset(
            forward in proptest::collection::vec(0..1_000_000i64, 1..50),
            backward in proptest::collection::vec(0..1_000_000i64, 1..50),
            offset in -500_000_000_000..500_000_000_000i64,
        ) {
            let (there, back) = (singles(&forward, offset), singles(&backward, -offset));
            // In two intervals, one of them without single packets.
            let nothing = singles(&[], 0);
            let OffsetBounds { lowest, highest } = offset_bounds(&[&there, &nothing], &[&nothing, &back]).unwrap();
            prop_assert!((lowest..=highest).contains(&offset));
            let round_trip = forward.iter().min().unwrap() + backward.iter().min().unwrap();
            prop_assert_eq!(highest - lowest, round_trip);
        }
    }

    #[test]
    fn a_clock_that_moved_is_reported() {
        assert_eq!(
            offset_bounds(&[&singles(&[100], 50)], &[&singles(&[100], -251)]),
            Err(Reason::ClockMoved)
        );
        assert_eq!(offset_bounds(&[&singles(&[100], 0)], &[&singles(&[], 0)]), Err(Reason::NoSingle));
    }
}
