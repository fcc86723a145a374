//! Sampling that follows the loss: the next interval's prefix lengths from the last one's exact loss.
//!
//! Let a bank of m rows sample the share p of the packets, and let L packets be lost. Each row is then hit by a = p
//! L / m losses on average. What is left to estimate from is proportional to a e^-a, which is largest at a = 1; a
//! row stays clean with probability e^-a. Banks sample with powers of 1/2, so the first bank gets the shortest
//! prefix with a <= 1. Then a is above 1/2, unless all packets are sampled already. That costs at most 18 % of the
//! samples that the best p would leave.
//!
//! The next interval may lose more. The last bank, the guard, is sized in the same way for the loss of every
//! packet. Whatever the loss, even half of all packets or more, some of its rows stay clean, and it takes at most m
//! packets from the first. The prefix lengths of the banks in between are evenly spaced.
//!
//! Both ends must change at the same interval. So the lengths are scheduled for an interval far enough ahead that
//! both ends receive them before it begins: with the control frames of interval i at hand, that is i + 2 or later.
//! They are computed once for both.
//!
//! # Test plan
//!
//! Worked figures; for any input: legal lengths, the bounds of a above, no shorter prefix for more loss.

use deltaline_model::sketch::sampler::{MAX_PREFIX, PrefixError, Prefixes};

/// The prefix lengths for intervals like one in which `lost` of `packets` were lost, with `banks` banks of `rows`
/// rows. They do not depend on what the lengths were.
///
/// # Errors
///
/// [`PrefixError::Banks`] unless there are 1 to 8 banks.
pub fn prefixes_for_loss(
    banks: usize,
    rows: usize,
    packets: u64,
    lost: u64,
) -> Result<Prefixes, PrefixError> {
    let steps = u8::try_from(banks.saturating_sub(1)).unwrap_or(u8::MAX);
    let first = shortest(rows, lost).min(MAX_PREFIX.saturating_sub(steps));
    let last = shortest(rows, packets).clamp(first.saturating_add(steps).min(MAX_PREFIX), MAX_PREFIX);
    let between =
        |step: u8| first + (u32::from(last - first) * u32::from(step) / u32::from(steps.max(1))) as u8;
    let lengths: Vec<u8> = (0..=steps).map(between).collect();
    Prefixes::new(if banks == 0 { &[] } else { &lengths })
}

/// The shortest prefix with which `lost` losses hit a row of `rows` once or less; the longest there is if none is.
fn shortest(rows: usize, lost: u64) -> u8 {
    let fits = |length: &u8| u128::from(lost) <= (rows as u128) << length;
    (0..MAX_PREFIX).find(fits).unwrap_or(MAX_PREFIX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn worked_figures() {
        let lengths = |banks, packets, lost| {
            prefixes_for_loss(banks, 1024, packets, lost).map(|prefixes| prefixes.lengths().to_vec())
        };
        // 5 million packets, of which 0.01 %, 0.1 %, 1 % and all are lost.
        for (lost, expected) in [(500, [0, 13]), (5000, [3, 13]), (50_000, [6, 13]), (5_000_000, [13, 14])] {
            assert_eq!(lengths(2, 5_000_000, lost), Ok(expected.to_vec()));
        }
        assert_eq!(lengths(1, 5_000_000, 1025), Ok(vec![1]));
        assert_eq!(lengths(4, 5_000_000, 5000), Ok(vec![3, 6, 9, 13]));
        assert_eq!(lengths(2, 0, 0), Ok(vec![0, 1]));
        assert_eq!(lengths(8, u64::MAX, u64::MAX), Ok((9..=16).collect()));
        assert_eq!(lengths(0, 1, 1), Err(PrefixError::Banks(0)));
        assert_eq!(lengths(9, 1, 1), Err(PrefixError::Banks(9)));
    }

    proptest! {
        #[test]
        fn lengths_are_legal_and_fit_the_loss(
            banks in 1usize..=8, log_rows in 3u32..16, packets: u64, share in 0f64..1.0, magnitude in 0u32..64,
        ) {
            let packets = packets >> magnitude;
            let lost = (packets as f64 * share) as u64;
            let rows = 1usize << log_rows;
            let prefixes = prefixes_for_loss(banks, rows, packets, lost).unwrap();
            prop_assert_eq!(prefixes.banks(), banks);
            let hits = |lost: u64, length: u8| lost as f64 / f64::from(1u32 << length) / rows as f64;
            let (first, last) = (prefixes.lengths()[0], prefixes.lengths()[banks - 1]);
            let room = MAX_PREFIX - (banks as u8 - 1);
            prop_assert!(first == room || hits(lost, first) <= 1.0);
            prop_assert!(first == 0 || hits(lost, first) > 0.5);
            // One bank has no guard.
            prop_assert!(banks == 1 || last == MAX_PREFIX || hits(packets, last) <= 1.0);
            let more = prefixes_for_loss(banks, rows, packets.saturating_mul(2), lost.saturating_mul(2)).unwrap();
            prop_assert!(more.lengths().iter().zip(prefixes.lengths()).all(|(more, less)| more >= less));
        }
    }
}
