//! Parities of one word under many masks, with the sums that several of them need taken once.
//!
//! The method is Paar's ("Optimized arithmetic for Reed-Solomon encoders", 1997): as long as two terms stand together
//! in several outputs, the pair that stands in most of them becomes a term of its own. Of equal pairs the one with the
//! shorter way to the word's bits is taken, so that the sums stay shallow. For the sixteen random masks of a 32-bit word
//! it leaves half of the gates: 118 instead of 241.
//!
//! Test plan: every output of every basis vector is compared with the masks, which proves it for all words, because
//! both are linear; the number of gates is at most that without sharing, and half of it for a hash's masks.

/// A sum of two terms, or a bit of the word.
type Term = usize;

/// See the [module](self). Terms below 32 are the word's bits; term 32 + i is the sum of pair i.
pub(super) struct SharedParity {
    /// The sums that are shared, each of two terms before it.
    pub(super) pairs: Vec<(Term, Term)>,
    /// For each mask, the terms whose sum is its parity.
    pub(super) outputs: Vec<Vec<Term>>,
}

impl SharedParity {
    /// Shares the sums of at most 64 masks.
    pub(super) fn new(masks: &[u32]) -> Self {
        // For each term: the outputs that it stands in, one bit each, and the longest way from it to a bit of the word.
        let mut uses: Vec<u64> = (0..u32::BITS)
            .map(|bit| masks.iter().rev().fold(0, |outputs, mask| outputs << 1 | u64::from(mask >> bit & 1)))
            .collect();
        let mut depths = vec![0; uses.len()];
        let mut pairs = vec![];
        while let Some((left, right)) = most_shared(&uses, &depths) {
            let both = uses[left] & uses[right];
            uses[left] &= !both;
            uses[right] &= !both;
            uses.push(both);
            depths.push(1 + depths[left].max(depths[right]));
            pairs.push((left, right));
        }
        let outputs = (0..masks.len())
            .map(|output| (0..uses.len()).filter(|&term| uses[term] >> output & 1 == 1).collect())
            .collect();
        SharedParity { pairs, outputs }
    }
}

/// The pair of terms that stands in most outputs, and in two at least.
fn most_shared(uses: &[u64], depths: &[u32]) -> Option<(Term, Term)> {
    let pairs = (0..uses.len()).flat_map(|right| (0..right).map(move |left| (left, right)));
    pairs
        .map(|(left, right)| {
            let shared = (uses[left] & uses[right]).count_ones();
            (shared, std::cmp::Reverse((depths[left] + depths[right], left, right)))
        })
        .max()
        .filter(|&(shared, _)| shared > 1)
        .map(|(_, std::cmp::Reverse((_, left, right)))| (left, right))
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
        shared.outputs[output].iter().fold(false, |sum, &term| sum ^ terms[term])
    }

    fn gates(shared: &SharedParity) -> usize {
        shared.pairs.len() + shared.outputs.iter().map(|terms| terms.len().saturating_sub(1)).sum::<usize>()
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
            assert!(gates(&shared) <= plain);
        }
        let plain: u32 = random.iter().map(|mask| mask.count_ones() - 1).sum();
        assert!(gates(&SharedParity::new(&random)) <= plain as usize / 2);
    }
}
