//! Parities of one word under many masks, with the sums that several of them need taken once, and no sum deep.
//!
//! The method is Paar's ("Optimized arithmetic for Reed-Solomon encoders", 1997): as long as two terms stand together
//! in several outputs, the pair that stands in most of them becomes a term of its own. Of equal pairs the one with the
//! shorter way to the word's bits is taken.
//!
//! What makes no sum deep is that an output adds its least deep terms first, and shares a pair only if all its terms can
//! still be added within [`DEPTH`] gates: terms of depths d fit into a tree of n levels if the sum of 2^d is at most 2^n, and
//! adding the two least deep again and again makes that tree.
//!
//! Test plan: every output of every basis vector is compared with the masks, which proves it for all words, because
//! both are linear; the number of gates is at most that without sharing, and half of it for a hash's masks; no
//! output is deeper than the bound. The pair that is found is the one that comes first of all that there are.

use std::cmp::Reverse;

/// Gates of two inputs in a row, at most: three LUTs of four inputs. A word of 32 bits needs five.
const DEPTH: u32 = 6;

/// A sum of two terms, or a bit of the word.
type Term = usize;

/// See the [module](self). Terms below 32 are the word's bits; term 32 + i is the sum of pair i.
pub(super) struct SharedParity {
    /// The sums, each of two terms before it.
    pub(super) pairs: Vec<(Term, Term)>,
    /// For each mask, the term that is its parity; none for no bits.
    pub(super) outputs: Vec<Option<Term>>,
}

impl SharedParity {
    /// Shares the sums of at most 64 masks.
    pub(super) fn new(masks: &[u32]) -> Self {
        let mut sums = Sums {
            // For each bit, the outputs that it stands in.
            uses: (0..u32::BITS)
                .map(|bit| {
                    masks.iter().rev().fold(0, |outputs, mask| outputs << 1 | u64::from(mask >> bit & 1))
                })
                .collect(),
            depths: vec![0; u32::BITS as usize],
            pairs: vec![],
        };
        while let Some((left, right, outputs)) = sums.most_shared(masks.len()) {
            sums.add(left, right, outputs);
        }
        let outputs = (0..masks.len()).map(|output| sums.finish(output)).collect();
        SharedParity { pairs: sums.pairs, outputs }
    }
}

/// Terms while they are found.
struct Sums {
    /// For each term: the outputs that it stands in, one bit each.
    uses: Vec<u64>,
    /// For each term: the longest way from it to a bit of the word.
    depths: Vec<u32>,
    pairs: Vec<(Term, Term)>,
}

impl Sums {
    /// The sum of two terms, which stands in these outputs in their place.
    fn add(&mut self, left: Term, right: Term, outputs: u64) -> Term {
        self.uses[left] &= !outputs;
        self.uses[right] &= !outputs;
        self.uses.push(outputs);
        self.depths.push(1 + self.depths[left].max(self.depths[right]));
        self.pairs.push((left, right));
        self.uses.len() - 1
    }

    fn terms(&self, output: usize) -> impl Iterator<Item = Term> {
        (0..self.uses.len()).filter(move |&term| self.uses[term] >> output & 1 == 1)
    }

    /// The pair of terms that stands in most outputs with room for it, and in two at least; and these outputs.
    ///
    /// Most pairs stand in fewer than one found before, whatever room there is, and are looked at no further: designs are written by
    /// programs that are compiled without optimisation, too.
    fn most_shared(&self, outputs: usize) -> Option<(Term, Term, u64)> {
        let weights = self.weights(outputs);
        let (uses, depths) = (self.uses.as_slice(), self.depths.as_slice());
        let in_several: Vec<Term> = (0..uses.len()).filter(|&term| uses[term].count_ones() > 1).collect();
        let mut most = 2;
        let mut best = None;
        for (place, &right) in in_several.iter().enumerate() {
            for &left in &in_several[..place] {
                let both = uses[left] & uses[right];
                if both.count_ones() < most {
                    continue;
                }
                // A pair of unequal terms is as deep as if both were as deep as the deeper one.
                let more = (1_u32 << depths[left]).abs_diff(1 << depths[right]);
                let full = ones(both).filter(|&output| weights[output] + more > 1 << DEPTH);
                let shared = full.fold(both, |shared, output| shared & !(1 << output));
                let rank = (shared.count_ones(), Reverse((depths[left] + depths[right], left, right)));
                if rank.0 >= most && best.is_none_or(|(found, _)| found < rank) {
                    most = rank.0;
                    best = Some((rank, shared));
                }
            }
        }
        best.map(|((_, Reverse((_, left, right))), shared)| (left, right, shared))
    }

    /// For each output: what its terms take of the 2^[`DEPTH`] that it has room for.
    fn weights(&self, outputs: usize) -> Vec<u32> {
        let mut weights = vec![0; outputs];
        for (uses, depth) in self.uses.iter().zip(&self.depths) {
            ones(*uses).for_each(|output| weights[output] += 1 << depth);
        }
        weights
    }

    /// Adds what an output is left with.
    fn finish(&mut self, output: usize) -> Option<Term> {
        let mut terms: Vec<Term> = self.terms(output).collect();
        loop {
            // The least deep last.
            terms.sort_by_key(|&term| Reverse((self.depths[term], term)));
            let left = terms.pop()?;
            let Some(right) = terms.pop() else { return Some(left) };
            terms.push(self.add(left, right, 0));
        }
    }
}

/// The outputs of a set, one bit each.
fn ones(mut outputs: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let output = outputs.checked_ilog2()?;
        outputs &= !(1 << output);
        Some(output as usize)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltaline_model::configuration::{Configuration, Settings};
    use deltaline_model::packet::hash::LinearHash;

    fn parity(shared: &SharedParity, output: usize, word: u32) -> bool {
        let mut terms: Vec<bool> = (0..32).map(|bit| word >> bit & 1 == 1).collect();
        for &(left, right) in &shared.pairs {
            terms.push(terms[left] ^ terms[right]);
        }
        shared.outputs[output].is_some_and(|term| terms[term])
    }

    /// Gates in a row, at most.
    fn depth(shared: &SharedParity) -> u32 {
        let mut depths = vec![0; 32];
        for &(left, right) in &shared.pairs {
            depths.push(1 + u32::max(depths[left], depths[right]));
        }
        shared.outputs.iter().flatten().map(|&term| depths[term]).max().unwrap_or_default()
    }

    #[test]
    fn outputs_are_the_parities_under_their_masks() {
        let configuration = Configuration::new(Settings::default()).unwrap();
        let hash = LinearHash::new(configuration.hash(), configuration.seed());
        let random: Vec<u32> = (0..16)
            .map(|bit| (0..32).fold(0, |mask, key_bit| mask << 1 | (hash.rows()[key_bit] >> bit & 1) as u32))
            .collect();
        for masks in
            [random.clone(), vec![], vec![0, 0], vec![0, 1, u32::MAX, u32::MAX, 1 << 31], vec![7; 64]]
        {
            let shared = SharedParity::new(&masks);
            assert_eq!(shared.outputs.len(), masks.len());
            for (output, mask) in masks.iter().enumerate() {
                for bit in 0..32 {
                    assert_eq!(parity(&shared, output, 1 << bit), mask >> bit & 1 == 1, "{output} {bit}");
                }
            }
            let plain = masks.iter().map(|mask| mask.count_ones().saturating_sub(1) as usize).sum();
            assert!(shared.pairs.len() <= plain && depth(&shared) <= DEPTH);
        }
        let plain: u32 = random.iter().map(|mask| mask.count_ones() - 1).sum();
        let shared = SharedParity::new(&random);
        assert!(shared.pairs.len() <= plain as usize / 2);
    }

    /// The same pair as that which comes first where all pairs are ranked, round by round.
    #[test]
    fn the_pair_that_is_found_is_the_first_of_all() {
        let mut state = 1_u64;
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 32) as u32
        };
        for outputs in [2, 16, 64] {
            let masks: Vec<u32> = (0..outputs).map(|_| random() | random() & random()).collect();
            let stands = |bit: usize| {
                (0..outputs).fold(0, |uses, output| uses | u64::from(masks[output] >> bit & 1) << output)
            };
            let mut sums = Sums { uses: (0..32).map(stands).collect(), depths: vec![0; 32], pairs: vec![] };
            loop {
                let weight =
                    |output: usize| -> u32 { sums.terms(output).map(|term| 1 << sums.depths[term]).sum() };
                let weights: Vec<u32> = (0..outputs).map(weight).collect();
                let rank = |left: usize, right: usize| {
                    let more = (1_u32 << sums.depths[left]).abs_diff(1 << sums.depths[right]);
                    let fits = |output: &usize| {
                        (sums.uses[left] & sums.uses[right]) >> output & 1 == 1
                            && weights[*output] + more <= 1 << DEPTH
                    };
                    let shared = (0..outputs).filter(fits).fold(0, |all, output| all | 1_u64 << output);
                    let depth = sums.depths[left] + sums.depths[right];
                    (shared.count_ones(), Reverse((depth, left, right)), shared)
                };
                let all = (0..sums.uses.len()).flat_map(|right| (0..right).map(move |left| (left, right)));
                let first = all.map(|(left, right)| rank(left, right)).max().filter(|first| first.0 > 1);
                let expected = first.map(|(_, Reverse((_, left, right)), shared)| (left, right, shared));
                assert_eq!(sums.most_shared(outputs), expected);
                let Some((left, right, shared)) = expected else { break };
                sums.add(left, right, shared);
            }
            assert!(!sums.pairs.is_empty());
        }
    }
}
