//! Repeats: packets that came more than once, or look like others, and took other times than the rest.
//!
//! Rows that hold such packets seldom agree at both ends, and no row holds one of them alone. So rows and exact delays show the other packets: as good
//! as all of them, unless the repeated ones went another way. Single packets of recordings show both kinds. What a number would be of all of them
//! is compared with what it is of those that came once: where that differs by more than a quarter of the number's interval, and the number is rather
//! the latter, it is marked.
//!
//! # Test plan
//!
//! Here: repeated packets that are slower, and that are not; a mean that holds them already. Recordings: `host/cli/tests/foreign.rs`.

use crate::quantity::{
    DEVIATION, Definition, GREATEST, LEAST, MEAN, MEDIAN, P90, P99, P999, Quantity, Remark, VARIATION,
};

/// Delays in nanoseconds, in order.
struct Sorted(Vec<f64>);

impl Sorted {
    fn of(delays: impl Iterator<Item = i64>) -> Self {
        let mut delays: Vec<f64> = delays.map(|delay| delay as f64).collect();
        delays.sort_unstable_by(f64::total_cmp);
        Sorted(delays)
    }

    fn mean(&self) -> f64 {
        self.0.iter().sum::<f64>() / self.0.len() as f64
    }

    /// A number of these delays.
    fn number(&self, what: &Definition) -> Option<f64> {
        let is = |other: &Definition| std::ptr::eq(what, other);
        let quantile = |share: f64| {
            let rank = (share * self.0.len() as f64).ceil() as usize;
            self.0.get(rank.saturating_sub(1)).copied()
        };
        if is(&MEAN) {
            Some(self.mean())
        } else if is(&DEVIATION) {
            let mean = self.mean();
            let squares: f64 = self.0.iter().map(|delay| (delay - mean).powi(2)).sum();
            Some((squares / self.0.len() as f64).sqrt())
        } else if is(&VARIATION) {
            Some(quantile(0.99)? - self.0.first()?)
        } else {
            let shares =
                [(&MEDIAN, 0.5), (&P90, 0.9), (&P99, 0.99), (&P999, 0.999), (&LEAST, 0.0), (&GREATEST, 1.0)];
            let (_, share) = shares.into_iter().find(|(other, _)| is(other))?;
            quantile(share)
        }
    }
}

/// Remarks on numbers, unless something as grave is to know of them already, that packets would change which came more than once or look like others: of
/// single packets, the delays in nanoseconds of those that came `once` and of the `repeated` ones.
pub fn look_for_repeats(quantities: &mut [Quantity], once: &[i64], repeated: &[i64]) {
    if once.is_empty() || repeated.is_empty() {
        return;
    }
    let remark =
        Remark::Repeated { packets: repeated.len() as u64, of: (once.len() + repeated.len()) as u64 };
    let all = Sorted::of(once.iter().chain(repeated).copied());
    let once = Sorted::of(once.iter().copied());
    let spread = once.number(&GREATEST).zip(once.number(&LEAST)).map_or(0.0, |(most, least)| most - least);
    for each in quantities {
        let (Ok(value), Some(of_all), Some(of_once)) =
            (each.value, all.number(each.what), once.number(each.what))
        else {
            continue;
        };
        let width = match each.range {
            Some(Ok([lower, upper])) => upper - lower,
            // A mean or a deviation without an interval says so.
            _ if [&MEAN, &DEVIATION].into_iter().any(|what| std::ptr::eq(each.what, what)) => continue,
            _ => spread,
        };
        let value = value.to_f64();
        let is_mild = matches!(
            each.remark,
            None | Some(Remark::HeavyTail | Remark::FewSamples | Remark::Constant | Remark::Outside)
        );
        if is_mild
            && (of_all - of_once).abs() > width / 4.0
            && (value - of_all).abs() > (value - of_once).abs()
        {
            each.remark = Some(remark);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quantity::Number;

    /// The remarks on a mean with an interval of ±10 ns, and on the greatest delay, both of them `value`.
    fn remarks(value: f64, once: &[i64], repeated: &[i64]) -> [Option<Remark>; 2] {
        let range = Some(Ok([value - 10.0, value + 10.0]));
        let mut quantities = [
            Quantity { range, ..Quantity::new(&MEAN, Ok(Number::Real(value))) },
            Quantity::new(&GREATEST, Ok(Number::Real(value))),
        ];
        look_for_repeats(&mut quantities, once, repeated);
        quantities.map(|each| each.remark)
    }

    #[test]
    fn slower_packets_are_marked_where_the_number_lacks_them() {
        let once: Vec<i64> = (0..990).map(|packet| 1000 + packet % 7).collect();
        let remark = Some(Remark::Repeated { packets: 10, of: 1000 });
        // They move the mean by 9 ns, and a twentieth of them by less than 1 ns.
        assert_eq!(remarks(1003.0, &once, &[1900; 10]), [remark, remark]);
        assert_eq!(remarks(1003.0, &once, &[1003; 10]), [None, None]);
        assert_eq!(remarks(1003.0, &once, &[1048; 10])[0], None);
        // The mean holds them.
        assert_eq!(remarks(1012.0, &once, &[1900; 10])[0], None);
        assert_eq!(remarks(1003.0, &once, &[]), [None, None]);
        assert_eq!(remarks(1003.0, &[], &once), [None, None]);
    }
}
