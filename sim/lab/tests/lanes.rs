//! Why several lanes have no slices: their frames end in another order at either point.
//!
//! # Test plan
//!
//! A link of 400 Gbit/s whose frames are dealt out to four lanes of 512 bits, each to the lane that is free first. The packets
//! keep their order on the wire, with other gaps at the far end, as behind a queue; none is lost. Slices are cut in the
//! order in which frames end, lane by lane in one cycle, as the core of four lanes commits them. Counted are slices that
//! have another number of packets at the far end: those would be told as loss and gain. With one lane as wide as
//! all four there are none, whatever the gaps.

#![allow(clippy::unwrap_used, reason = "tests")]

use deltaline_traffic::random::{Random, Seed};

const PACKETS: usize = 200_000;
/// One packet in so many starts a slice.
const A_SLICE: f64 = 1024.0;
/// Bits of the link in a cycle of 322.27 MHz.
const LINK: f64 = 400e9 / 322.27e6;
/// Bits of a beat.
const BEAT: usize = 512;

/// A packet: its length with FCS, and whether it starts a slice.
#[derive(Clone, Copy)]
struct Packet {
    octets: usize,
    starts: bool,
}

/// Seven short, four middling, one long in twelve.
fn packets(random: &mut Random) -> Vec<Packet> {
    let packet = |_| Packet {
        octets: match random.bits() % 12 {
            0..7 => 64,
            7..11 => 594,
            _ => 1518,
        },
        starts: random.chance(1.0 / A_SLICE),
    };
    (0..PACKETS).map(packet).collect()
}

/// When frames are on the wire, in cycles: back to back, or behind gaps that leave so much of the link idle.
fn wire(packets: &[Packet], idle: f64, random: &mut Random) -> Vec<f64> {
    let mut free = 0.0;
    let mut start = |packet: &Packet| {
        let long = (packet.octets + 20) as f64 * 8.0 / LINK;
        // As long as the frame on average, which keeps the order.
        let gap = -random.uniform().ln() * long * idle / (1.0 - idle);
        let start = free + gap;
        free = start + long;
        start
    };
    packets.iter().map(&mut start).collect()
}

/// The packets of each slice, cut in the order in which frames end.
fn slices(packets: &[Packet], wire: &[f64], lanes: usize, beat: usize) -> Vec<usize> {
    let mut free = vec![0u64; lanes];
    let mut ends: Vec<(u64, usize, usize)> = vec![];
    for (number, (packet, start)) in packets.iter().zip(wire).enumerate() {
        let lane = (0..lanes).min_by_key(|lane| free[*lane]).unwrap();
        let begins = free[lane].max(start.ceil() as u64);
        free[lane] = begins + ((packet.octets - 4) * 8).div_ceil(beat) as u64;
        ends.push((free[lane], lane, number));
    }
    ends.sort_unstable();
    let mut slices = vec![0];
    for (_, _, number) in ends {
        if packets[number].starts {
            slices.push(0);
        }
        *slices.last_mut().unwrap() += 1;
    }
    slices
}

/// The share of slices with another number of packets at the far end.
fn differing(lanes: usize, beat: usize, seed: u64) -> f64 {
    let mut random = Seed::new(seed).random();
    let packets = packets(&mut random);
    let [near, far] = [0.5, 0.3].map(|idle| {
        let wire = wire(&packets, idle, &mut random);
        slices(&packets, &wire, lanes, beat)
    });
    let differ = near.iter().zip(&far).filter(|(near, far)| near != far).count();
    differ as f64 / near.len() as f64
}

#[test]
fn slices_of_several_lanes_differ_where_packets_kept_their_order() {
    let shares: Vec<f64> = (1..=20).map(|seed| differing(4, BEAT, seed)).collect();
    let mean = shares.iter().sum::<f64>() / shares.len() as f64;
    println!("four lanes: {:.0} % of slices have another number of packets, none lost", 100.0 * mean);
    assert!(shares.iter().all(|share| *share > 0.1), "{shares:?}");
    assert!((1..=20).all(|seed| differing(1, 4 * BEAT, seed) == 0.0));
}
