//! What a secret mixing is worth against who knows all else.
//!
//! The enemy knows hash, seed and rounds, sees every packet, and picks those that he holds back. He is well off if fewer of them
//! are sampled than by lot, or more: either way the mean that is found is wrong by more than its interval
//! says. Of m packets that are picked by lot, sampled with probability p, the number that is sampled has the mean mp and the
//! variance mp(1 - p). The places of any two packets are independent under a mixing, so these two hold for whatever he
//! picks, and no more than one secret in c² takes him further than c deviations from the mean, by Chebyshev's
//! inequality.
//!
//! # Test plan
//!
//! Four ways to pick, over many secrets: means within five deviations, no more excesses than the inequality allows. The
//! same enemy against the design's own mixing, and against rounds with secret constants in place of a mixing, does
//! far better, so that the test can fail. Packets that share their 32 bits share their fate, each fate as often as by chance.
#![allow(clippy::unwrap_used)]

use deltaline_model::packet::hash::{HashKind, LinearHash};
use deltaline_model::packet::identity::KEY_BYTES;
use deltaline_model::sketch::mixing::Mixing;
use deltaline_model::sketch::place::Placement;
use std::collections::HashSet;

/// The seed of the design, which the enemy knows.
const SEED: u64 = 0x5eed;
const PACKETS: u32 = 1 << 14;
const SECRETS: u64 = 500;
/// Deviations that count as an excess.
const FAR: f64 = 6.0;

/// The place is sampled by the one bank of prefix length 1, whose sampling probability is a half.
fn is_sampled(place: u32) -> bool {
    place >> 31 == 0
}

/// The 32 bits of a hash that the place is made of, x above y.
fn halves(hash: u64) -> (u16, u16) {
    ((hash >> 48) as u16, hash as u16)
}

/// Hashes of packets that differ in identification and sequence number, as traffic has them.
fn traffic(packets: u32) -> Vec<u64> {
    let hash = LinearHash::new(HashKind::H3, SEED);
    let hashes = (0..packets).map(|number| {
        let mut key = [0x45; KEY_BYTES];
        key[4..6].copy_from_slice(&(number as u16).to_be_bytes());
        key[44..48].copy_from_slice(&(1448 * number + 77).to_be_bytes());
        hash.hash(&key.into())
    });
    // Those that share their 32 bits have a test of their own.
    let mut seen = HashSet::new();
    hashes.filter(|hash| seen.insert(halves(*hash))).collect()
}

/// A sum of bits that agrees with the place's highest one more often than every second time, or less, under rounds whose constants
/// are secret: the enemy computes the first addition, which no constant precedes, and knows how likely the carries of the others are.
/// Of all such sums it is the best one that a Walsh transform over 24 of the 32 bits showed: 52.6 % on average.
fn linear_sum(hash: u64) -> bool {
    let (x, y) = halves(hash);
    let x = x.rotate_right(7).wrapping_add(y);
    let y = y.rotate_left(2) ^ x;
    let bit = |word: u16, number: u32| word >> number & 1 == 1;
    bit(x, 5) ^ bit(x, 6) ^ [4, 10, 11, 13, 15].iter().fold(false, |sum, number| sum ^ bit(y, *number))
}

/// What the enemy holds back, and how he came to it.
fn picks() -> [(&'static str, Vec<u64>); 4] {
    let (all, own) = (traffic(PACKETS), Placement::mixed(SEED, Mixing::own(SEED)));
    let chosen = |f: &dyn Fn(u64) -> bool| all.iter().copied().filter(|hash| f(*hash)).collect::<Vec<u64>>();
    [
        ("what the own mixing does not sample", chosen(&|hash| !is_sampled(own.place(hash)))),
        ("a row of the own mixing", chosen(&|hash| own.place(hash) % 16 == 3)),
        ("a linear sum of bits of the hash", chosen(&linear_sum)),
        // Made, not picked: all 2^12 packets that agree in 20 bits.
        ("a linear space", (0..1 << 12).map(|low| 0x1234 << 48 | low).collect()),
    ]
}

/// How many deviations from the mean, with its sign, the enemy gets a secret's number of sampled packets.
fn deviations(picked: &[u64], placement: &Placement) -> f64 {
    let sampled = picked.iter().filter(|hash| is_sampled(placement.place(**hash))).count();
    let packets = picked.len() as f64;
    (sampled as f64 - packets / 2.0) / (packets / 4.0).sqrt()
}

/// The mean over many secrets, and how many of these take the enemy far.
fn summary(picked: &[u64], secrets: u64, placement: impl Fn(u64) -> Placement) -> (f64, usize) {
    let found: Vec<f64> = (0..secrets).map(|secret| deviations(picked, &placement(secret))).collect();
    let far = found.iter().filter(|found| found.abs() > FAR).count();
    (found.iter().sum::<f64>() / secrets as f64, far)
}

fn secret(number: u64) -> Placement {
    let mut bytes = [0; 16];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    Placement::mixed(SEED, Mixing::new(&bytes))
}

#[test]
fn who_does_not_know_the_mixing_does_no_better_than_by_lot() {
    // Of so many secrets 1/36 at most take him beyond six deviations; five of the count's own beyond that.
    let share = 1.0 / (FAR * FAR);
    let most = SECRETS as f64 * share + 5.0 * (SECRETS as f64 * share * (1.0 - share)).sqrt();
    for (name, picked) in picks() {
        assert!(picked.len() > 500, "{name}: {}", picked.len());
        let (mean, far) = summary(&picked, SECRETS, secret);
        println!("{name}: {} packets, mean {mean:.3} deviations, far {far} of {SECRETS}", picked.len());
        assert!(mean.abs() < 5.0 / (SECRETS as f64).sqrt(), "{name}: {mean}");
        assert!((far as f64) < most, "{name}: {far} of {SECRETS}");
    }
}

#[test]
fn who_knows_it_holds_back_what_is_not_sampled() {
    let own = Placement::mixed(SEED, Mixing::own(SEED));
    let [(_, unsampled), ..] = picks();
    assert!(unsampled.iter().all(|hash| !is_sampled(own.place(*hash))));
    let found = deviations(&unsampled, &own);
    assert!(found < -10.0 * FAR, "{found}");
}

#[test]
fn secret_constants_in_the_rounds_would_not_do() {
    let mut picked = traffic(1 << 18);
    picked.retain(|hash| linear_sum(*hash));
    let secrets = 100;
    let (_, with_constants) = summary(&picked, secrets, Placement::new);
    let (_, with_mixing) = summary(&picked, secrets, secret);
    println!("{} packets: far {with_constants} and {with_mixing} of {secrets}", picked.len());
    assert!(with_constants > 50, "{with_constants}");
    // By Chebyshev's inequality 2.8 are expected at most; five deviations of such a count more.
    assert!(with_mixing < 12, "{with_mixing}");
}

#[test]
fn packets_that_share_their_bits_share_a_fate_that_is_chance() {
    // The enemy makes packets of one hash, or of hashes that differ in bits of the digest alone.
    let alike = [0xaaaa_0000_0000_5555, 0xaaaa_1234_5678_5555];
    let mut sampled = 0;
    for number in 0..SECRETS {
        let fates = alike.map(|hash| is_sampled(secret(number).place(hash)));
        assert_eq!(fates[0], fates[1]);
        sampled += u32::from(fates[0]);
    }
    let expected = SECRETS as f64 / 2.0;
    assert!((f64::from(sampled) - expected).abs() < 5.0 * (SECRETS as f64 / 4.0).sqrt(), "{sampled}");
}
