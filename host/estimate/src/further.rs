//! Further answers: what a synopsis shows beyond mean, deviation and loss.
//!
//! # Test plan
//!
//! Quantities of each kind of answer: with [`Singles`] and [`Difference`]; answers of several intervals come out together,
//! one group for each kind that there is.

use crate::difference::{Difference, of_differences};
use crate::quantity::{Quantity, of_singles};
use crate::{Reason, Singles, deviation_of_all};

/// What an interval's synopsis shows besides.
#[derive(Clone, Debug)]
pub enum Further {
    /// Exact delays of single packets, which digests vouch for.
    Singles(Singles),
    /// The packets that only one end has seen, from identity tables.
    Difference(Difference),
}

impl Further {
    /// The exact delays, if these are they.
    pub fn singles(&self) -> Option<&Singles> {
        match self {
            Further::Singles(singles) => Some(singles),
            Further::Difference(_) => None,
        }
    }

    /// Packets lost and packets gained in several intervals, if all of them are known one by one.
    pub fn known<'a>(mut answers: impl Iterator<Item = &'a Further>) -> Option<(u64, u64)> {
        answers.try_fold(None, |sum, answer| match answer {
            Further::Singles(_) => Some(sum),
            Further::Difference(difference) => {
                let (lost, gained) = sum.unwrap_or((0, 0));
                Some(Some((lost + difference.lost()?, gained + difference.gained()?)))
            }
        })?
    }

    /// Of how many packets it was chosen by their times which ones both ends have seen.
    pub fn chosen<'a>(answers: impl Iterator<Item = &'a Further>) -> u64 {
        Further::count(answers, |difference| difference.chosen)
    }

    /// The deviation of all packets of several intervals, of which so many were received, where the delays of all of those that were sent are known one by one
    /// ([`deviation_of_all`]).
    pub fn deviation<'a>(
        answers: impl Iterator<Item = &'a Further> + Clone,
        received: u64,
    ) -> Option<Result<f64, Reason>> {
        let gained = Further::known(answers.clone()).map_or(0, |(_, gained)| gained);
        let singles: Vec<&Singles> = answers.filter_map(Further::singles).collect();
        let known: usize = singles.iter().map(|each| each.delays().len()).sum();
        deviation_of_all(&singles).filter(|_| known as u64 == received.saturating_sub(gained))
    }

    /// How many lost packets are copies of others that arrived.
    pub fn copies<'a>(answers: impl Iterator<Item = &'a Further>) -> u64 {
        Further::count(answers, |difference| difference.copies)
    }

    /// How many packets sent look like others of their interval.
    pub fn alike<'a>(answers: impl Iterator<Item = &'a Further>) -> u64 {
        Further::count(answers, |difference| difference.alike)
    }

    /// How many packets look like some of an interval beside theirs, so that which are whose is a guess.
    pub fn across<'a>(answers: impl Iterator<Item = &'a Further>) -> u64 {
        Further::count(answers, |difference| difference.across)
    }

    fn count<'a>(answers: impl Iterator<Item = &'a Further>, of: impl Fn(&Difference) -> u64) -> u64 {
        let counts = answers.map(|answer| match answer {
            Further::Singles(_) => 0,
            Further::Difference(difference) => of(difference),
        });
        counts.fold(0, u64::saturating_add)
    }

    /// The quantities of several intervals' answers, kind by kind. `distrust` is why delays that can be computed mean
    /// nothing all the same.
    pub fn together<'a>(
        answers: impl Iterator<Item = &'a Further> + Clone,
        distrust: Option<Reason>,
    ) -> Vec<Vec<Quantity>> {
        let singles: Vec<&Singles> = answers.clone().filter_map(Further::singles).collect();
        let differences: Vec<&Difference> = answers
            .filter_map(|answer| match answer {
                Further::Difference(difference) => Some(difference),
                Further::Singles(_) => None,
            })
            .collect();
        let mut groups = vec![];
        if !singles.is_empty() {
            groups.push(of_singles(&singles, distrust));
        }
        if !differences.is_empty() {
            groups.push(of_differences(&differences));
        }
        groups
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_a_kind_come_together() {
        let complete = || Further::Difference(Difference { complete: true, ..Difference::default() });
        let singles = Further::Singles(Singles::known(vec![5, 7]));
        let names = |answers: &[Further]| -> Vec<Vec<&str>> {
            let groups = Further::together(answers.iter(), None);
            groups.iter().map(|group| group.iter().map(|each| each.what.name).collect()).collect()
        };
        assert_eq!(names(&[]), Vec::<Vec<&str>>::new());
        assert_eq!(
            names(&[complete(), complete()]),
            [["only_sent", "only_received", "repeated", "late", "early", "complete"]]
        );
        let lost = |answers: &[Further]| Further::known(answers.iter()).map(|(lost, _)| lost);
        let unknown = || Further::Difference(Difference::default());
        let one = || {
            Further::Difference(Difference {
                only_sent: vec![[1, 2]],
                complete: true,
                ..Difference::default()
            })
        };
        assert_eq!((lost(&[]), lost(&[one(), one()]), lost(&[one(), unknown()])), (None, Some(2), None));
        let both = names(&[complete(), singles]);
        assert_eq!((both.len(), both[0][0], both[1][0]), (2, "exact_delays", "only_sent"));
    }
}
