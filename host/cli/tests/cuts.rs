//! Recordings as they come: cut anywhere, with repeated, foreign and reordered packets.
//!
//! Test plan: 300 variants of the shipped pair, each with a seed and a hash function of its own. Either end is cut at either
//! edge, or not; packets are repeated, mixed with another stream's, or moved behind later ones, at either end. The truth is the
//! mean delay of the packets that both variants hold, by the numbers that the packets had before. Intervals of 95 % may miss it
//! in 5 % of the variants, within chance, at most a quarter may be refused, and one without width must be exact.

use crate::common::{Folder, RECEIVER, SENDER, packets, run};
use deltaline_capture::Packet;
use std::collections::HashMap;

/// A packet, and its number in the sender's recording; none of a packet that was not sent.
#[derive(Clone)]
struct Numbered {
    packet: Packet,
    number: Option<usize>,
}

/// Random numbers, the same for the same seed (splitmix64).
struct Random(u64);

impl Random {
    fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ x >> 31
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.bits() % limit as u64) as usize
    }

    fn happens(&mut self, probability: f64) -> bool {
        (self.bits() >> 11) as f64 / 2f64.powi(53) < probability
    }

    /// One of these, each as likely as the other.
    fn of(&mut self, choices: &[f64]) -> f64 {
        choices[self.below(choices.len())]
    }
}

/// The shipped pair, its packets numbered by their bytes behind the MAC addresses and their time to live.
fn numbered() -> [Vec<Numbered>; 2] {
    let identity = |packet: &Packet| {
        let mut bytes = packet.data[14..].to_vec();
        // Time to live and header checksum.
        [8, 10, 11].into_iter().for_each(|place| bytes[place] = 0);
        bytes
    };
    let sent = packets(SENDER);
    let numbers: HashMap<Vec<u8>, usize> =
        sent.iter().enumerate().map(|(number, packet)| (identity(packet), number)).collect();
    assert_eq!(numbers.len(), sent.len(), "packets that look alike");
    let received = packets(RECEIVER);
    let received: Vec<Numbered> = received
        .into_iter()
        .map(|packet| Numbered { number: numbers.get(&identity(&packet)).copied(), packet })
        .collect();
    assert_eq!(received.iter().filter(|each| each.number.is_some()).count(), 57_895);
    let sent = sent.into_iter().enumerate();
    [sent.map(|(number, packet)| Numbered { packet, number: Some(number) }).collect(), received]
}

/// Cuts up to a fifth of the packets off each edge, or none.
fn cut(packets: &mut Vec<Numbered>, random: &mut Random) {
    for _ in 0..2 {
        if random.happens(0.4) {
            let left = packets.len() - random.below(packets.len() / 5);
            packets.truncate(left);
        }
        packets.reverse();
    }
}

/// Adds copies of packets, a little later, which `change` alters.
fn add(packets: &mut Vec<Numbered>, share: f64, random: &mut Random, change: impl Fn(&mut Packet)) {
    let mut copies = vec![];
    for each in packets.iter() {
        if random.happens(share) {
            let mut copy = Numbered { packet: each.packet.clone(), number: None };
            copy.packet.timestamp += 1 + random.bits() % 2_000_000;
            change(&mut copy.packet);
            copies.push(copy);
        }
    }
    packets.extend(copies);
    packets.sort_by_key(|each| each.packet.timestamp);
}

/// Moves packets behind up to 200 later ones.
fn reorder(packets: &mut [Numbered], share: f64, random: &mut Random) {
    for place in 0..packets.len() {
        if random.happens(share) {
            let target = (place + 1 + random.below(200)).min(packets.len() - 1);
            packets[place].packet.timestamp = packets[target].packet.timestamp + 1;
        }
    }
    packets.sort_by_key(|each| each.packet.timestamp);
}

/// The mean delay of the packets that both hold.
fn truth(sent: &[Numbered], received: &[Numbered]) -> f64 {
    let times: HashMap<usize, u64> =
        sent.iter().filter_map(|each| Some((each.number?, each.packet.timestamp))).collect();
    let delays: Vec<f64> = received
        .iter()
        .filter_map(|each| Some(each.packet.timestamp as f64 - *times.get(&each.number?)? as f64))
        .collect();
    delays.iter().sum::<f64>() / delays.len() as f64
}

const VARIANTS: u64 = 300;

#[test]
fn intervals_hold_on_recordings_of_any_kind() {
    let [sent, received] = numbered();
    let folder = Folder::new();
    let (mut missed, mut refused) = (vec![], vec![]);
    for seed in 0..VARIANTS {
        let random = &mut Random(seed);
        let mut variant = [sent.clone(), received.clone()];
        for (end, packets) in variant.iter_mut().enumerate() {
            cut(packets, random);
            let share = random.of(&[0.0, 0.0, 0.0005, 0.005, 0.02]);
            add(packets, share, random, |_| {});
            let share = random.of(&[0.0, 0.0, 0.0005, 0.005, 0.02]);
            add(packets, share, random, |packet| packet.data[26] ^= 0x55);
            if end == 1 {
                let share = random.of(&[0.0, 0.0, 0.001, 0.02]);
                reorder(packets, share, random);
            }
        }
        let [a, b] = [0, 1].map(|end| {
            let packets = variant[end].iter().map(|each| &each.packet);
            folder.capture(["sender.pcap", "receiver.pcap"][end], packets)
        });
        let truth = truth(&variant[0], &variant[1]);
        let hash = ["h3", "rabin"][(seed % 2) as usize];
        let result = run(&["measure", "--json", "--hash", hash, "--seed", &seed.to_string(), &a, &b]);
        let overall = &result.json()["overall"];
        let range =
            overall["mean_ci95_ns"].as_array().map(|ends| [0, 1].map(|end| ends[end].as_f64().unwrap()));
        match (overall["mean_ns"].as_f64(), range) {
            (Some(mean), Some([lower, upper])) => {
                let slack = if lower < upper { 0.0 } else { 1.0 };
                if truth < lower - slack || truth > upper + slack {
                    missed.push((seed, truth, mean, lower, upper));
                }
            }
            _ => {
                assert!(overall["reason"].is_string(), "{seed}: {result:?}");
                refused.push((seed, overall["reason"].clone()));
            }
        }
    }
    println!("{} missed, {} refused of {VARIANTS}", missed.len(), refused.len());
    // A binomial count of probability .05 is no larger than this in all but one of 500 runs.
    let most = 0.05 * VARIANTS as f64 + 2.9 * (VARIANTS as f64 * 0.05 * 0.95).sqrt();
    assert!((missed.len() as f64) < most, "{} missed: {missed:?}", missed.len());
    assert!(4 * refused.len() <= VARIANTS as usize, "{} refused: {refused:?}", refused.len());
}
