//! Delay sums beyond what a cell holds.
//!
//! A cell knows its sum of delays modulo 2^40 ns (1,100 s). A row of n packets whose delays have the mean mu is near n mu, so that the right
//! one of the sums that are 2^40 apart is known as soon as mu is, to within 2^39 / n. Rows are taken in the order of their packets, because those of few
//! packets need the least of mu: what they show of it serves for the next. An interval's first and last times, or sums over all packets,
//! make the beginning.
//!
//! # Test plan
//!
//! Rows of any counts around any mean, wrapped, come out as they were; where the beginning is too vague for the smallest row, or the
//! spread too large for the next, there is no answer. Recordings with clocks a second apart and two thousand packets a row:
//! `host/cli/tests/sums.rs`.

use crate::observation::UsableRow;
use crate::{Range, Reason};

/// Sums are known modulo this, in nanoseconds.
const WRAP: f64 = (1u64 << 40) as f64;
/// Rows from which on their own spread says how far the next one may be off.
const ROWS_FOR_SPREAD: u64 = 8;
/// Standard errors that a row may be off.
const ERRORS: f64 = 8.0;

/// A mean delay in nanoseconds, near enough to know every row's sum; `near` is where the mean lies, as far as it is known from elsewhere. Without
/// it, sums are taken as they are.
///
/// # Errors
///
/// [`Reason::SumsWrap`].
pub(crate) fn near_delay(rows: &[UsableRow], near: Option<Range>) -> Result<Option<f64>, Reason> {
    let Some(Range { lower, upper }) = near else { return Ok(None) };
    let mut rows: Vec<UsableRow> = rows.to_vec();
    rows.sort_unstable_by_key(|row| row.packets);
    let (mut delay, open) = (f64::midpoint(lower, upper), (upper - lower) / 2.0);
    let (mut packets, mut sum, mut squares, mut count) = (0.0, 0.0, 0.0, 0);
    let mut before: Option<(f64, f64)> = None;
    for row in rows {
        let own = row.packets as f64;
        let spread = (squares / f64::from(count.max(2) as u32 - 1)).sqrt();
        let by_rows = ERRORS * spread * (own.sqrt() + own / f64::max(packets, 1.0).sqrt());
        let off = if count < ROWS_FOR_SPREAD { own * open } else { f64::min(own * open, by_rows) };
        if off >= WRAP / 2.0 {
            return Err(Reason::SumsWrap);
        }
        let own_sum = row.near(delay) as f64;
        // Of two rows' means, the squared difference over 1/n + 1/m is the delays' variance.
        if let Some((packets, mean)) = before {
            squares += (own_sum / own - mean).powi(2) / (packets.recip() + own.recip());
        }
        before = Some((own, own_sum / own));
        (packets, sum, count) = (packets + own, sum + own_sum, count + 1);
        delay = sum / packets;
    }
    Ok(Some(delay))
}

impl UsableRow {
    /// The sum of delays that is nearest to that of packets with this mean delay.
    pub(crate) fn near(&self, delay: f64) -> i128 {
        let turns = ((self.packets as f64 * delay - self.delay_sum as f64) / WRAP).round();
        self.delay_sum + ((turns as i128) << 40)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn wrapped(packets: u64, sum: i128) -> UsableRow {
        let half = 1i128 << 39;
        UsableRow { packets, delay_sum: (sum + half).rem_euclid(2 * half) - half }
    }

    proptest! {
        #[test]
        fn sums_come_out_as_they_were(
            rows in proptest::collection::vec((1u64..1_000_000, -1.0f64..1.0), 1..100),
            mean in -500_000_000_000i64..500_000_000_000,
            off in -1.0f64..1.0,
        ) {
            // A row's sum is within 4 standard errors of 1 ms a packet.
            let sums: Vec<(u64, i128)> = rows
                .iter()
                .map(|&(packets, error)| {
                    (packets, i128::from(packets) * i128::from(mean) + (4e6 * error * (packets as f64).sqrt()) as i128)
                })
                .collect();
            let least = rows.iter().map(|(packets, _)| *packets).min().unwrap() as f64;
            // What is known beforehand suffices for the smallest rows.
            let open = 5e11 / least / if rows.len() < 8 { 1e6 / least } else { 20.0 };
            let centre = mean as f64 + off * open;
            let near = Range { lower: centre - open, upper: centre + open };
            let all: Vec<UsableRow> = sums.iter().map(|&(packets, sum)| wrapped(packets, sum)).collect();
            // The eight smallest rows may be too large for what is known beforehand; then it is said.
            if let Ok(delay) = near_delay(&all, Some(near)) {
                for (row, (_, sum)) in all.iter().zip(&sums) {
                    prop_assert_eq!(row.near(delay.unwrap()), *sum);
                }
            }
        }
    }

    #[test]
    fn what_is_too_vague_has_no_answer() {
        let near = |open: f64| Some(Range { lower: 1e9 - open, upper: 1e9 + open });
        let rows: Vec<UsableRow> =
            (0..100).map(|row| wrapped(2000 + row, (2000 + row as i128) * 1_000_000_000)).collect();
        assert_eq!(near_delay(&rows, near(1e9)), Err(Reason::SumsWrap));
        assert_eq!(near_delay(&rows, near(1e8)), Ok(Some(1e9)));
        assert_eq!(near_delay(&rows, None), Ok(None));
        // Eight small rows, and then the spread of half an hour.
        let apart = |row: u64| wrapped(1, if row.is_multiple_of(2) { 0 } else { 400_000_000_000 });
        let rows: Vec<UsableRow> = (0..8).map(apart).chain([wrapped(100, 100)]).collect();
        assert_eq!(near_delay(&rows, near(5e11)), Err(Reason::SumsWrap));
    }
}
