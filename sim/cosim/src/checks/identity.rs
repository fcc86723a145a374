//! Identity: frames in, keys out.

use crate::adversary;
use crate::bench::Bench;
use crate::error::{CheckError, same};
use crate::stream::{Beat, IDLE, Source, beats};
use crate::twin::Twin;
use deltaline_model::packet::identity::{Identity, KEY_WORDS, identify};
use deltaline_model::time::Timestamp;
use deltaline_traffic::{Frames, udp_frame};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::VecDeque;
use verilator_sys::{Port, Toolchain};

const STAGE: &str = "identity";

/// What comes of a frame.
#[derive(Debug, PartialEq)]
enum Commit {
    Measured { key: [u32; KEY_WORDS], ip_length: u32, timestamp: u64 },
    Unmeasured,
    Bad,
}

/// What the model makes of frames.
#[derive(Default)]
struct Identified(VecDeque<Commit>);

impl Twin for Identified {
    /// A frame, its timestamp, and whether it is bad.
    type Input<'a> = (&'a [u8], u64, bool);
    type Output = Commit;

    fn take(&mut self, (frame, timestamp, bad): (&[u8], u64, bool)) {
        self.0.push_back(match identify(frame) {
            _ if bad => Commit::Bad,
            Ok(Identity { key, ip_length, .. }) => {
                Commit::Measured { key: key.words(), ip_length, timestamp }
            }
            Err(_) => Commit::Unmeasured,
        });
    }

    fn due(&mut self) -> Option<Commit> {
        self.0.pop_front()
    }
}

/// The stage and its twin.
struct Stage {
    bench: Bench,
    source: Source,
    commit: Port,
    measured: Port,
    bad: Port,
    key: Port,
    timestamp: Port,
    ip_length: Port,
    twin: Identified,
    frames: u64,
}

/// Runs `count` random frames and all directed ones; returns the number of frames.
///
/// # Errors
///
/// [`CheckError::Mismatch`] with the first difference.
pub fn check(toolchain: &Toolchain, verilog: &str, count: u64, seed: u64) -> Result<u64, CheckError> {
    let mut bench = Bench::new(toolchain, "identity", verilog)?;
    bench.set(bench.port("running")?, 1);
    let mut stage = Stage {
        source: Source::of(&bench, "s_axis_").or_else(|_| Source::of(&bench, ""))?,
        commit: bench.port("commit")?,
        measured: bench.port("measured")?,
        bad: bench.port("bad")?,
        key: bench.port("key")?,
        timestamp: bench.port("timestamp")?,
        ip_length: bench.port("ip_length")?,
        bench,
        twin: Identified::default(),
        frames: 0,
    };
    let mut random = StdRng::seed_from_u64(seed);
    stage.directed(&mut random)?;

    let mut frames = Frames::new(seed);
    for _ in 0..count {
        let frame = frames.next_frame();
        let bad = random.random_ratio(1, 16);
        // Streams without gaps, with few, with many.
        let gaps = [0, 0, 8, 2][(stage.frames / 64 % 4) as usize];
        stage.frame(&frame, bad, gaps, &mut random)?;
    }
    stage.finish()
}

/// None to three VLAN tags, each with none to five MPLS labels behind them.
fn tag_stacks() -> Vec<Vec<u8>> {
    let vlan = |tags: usize| [0x81, 0, 0x20, 7].repeat(tags);
    let labels = |labels: usize| match labels {
        0 => vec![],
        _ => [&[0x88, 0x47][..], &[0, 1, 0x10, 64].repeat(labels - 1), &[0, 2, 0x11, 63]].concat(),
    };
    (0..=3).flat_map(|tags| (0..=5).map(move |count| [vlan(tags), labels(count)].concat())).collect()
}

fn noise(random: &mut StdRng, count: usize) -> Vec<u8> {
    (0..count).map(|_| random.random()).collect()
}

/// An IPv4 packet with a header of so many words, above this protocol; with its EtherType.
fn ipv4(random: &mut StdRng, words: u8, protocol: u8) -> ([u8; 2], Vec<u8>) {
    let mut packet = noise(random, 4 * usize::from(words.max(5)) + 30);
    packet[0] = 0x40 | words;
    packet[2..4].copy_from_slice(&(4 * u16::from(words) + 30).to_be_bytes());
    packet[9] = protocol;
    ([8, 0], packet)
}

/// An IPv6 packet with these extension headers, above this protocol; with its EtherType.
fn ipv6(random: &mut StdRng, chain: &[u8], protocol: u8) -> ([u8; 2], Vec<u8>) {
    let mut packet = noise(random, 40);
    packet[0] = 0x60;
    packet[6] = chain.first().copied().unwrap_or(protocol);
    for (index, kind) in chain.iter().enumerate() {
        // Authentication headers count in fours, 2 of them beyond the first eight bytes; the others in eights.
        let length_field = if *kind == 51 { 2 } else { 1 };
        let mut header = noise(random, if *kind == 44 { 8 } else { 16 });
        header[..2].copy_from_slice(&[chain.get(index + 1).copied().unwrap_or(protocol), length_field]);
        packet.extend(header);
    }
    packet.extend(noise(random, 30));
    let payload = (packet.len() - 40) as u16;
    packet[4..6].copy_from_slice(&payload.to_be_bytes());
    ([0x86, 0xdd], packet)
}

/// EtherTypes and packets above this protocol: IPv4 of every header length, IPv6 with every kind of extension header and chains
/// of them.
fn packets(random: &mut StdRng, protocol: u8) -> Vec<([u8; 2], Vec<u8>)> {
    let mut all: Vec<_> = (4..=15).map(|words| ipv4(random, words, protocol)).collect();
    let chains: [&[u8]; 12] = [
        &[],
        &[0],
        &[43],
        &[44],
        &[51],
        &[60],
        &[135],
        &[139],
        &[140],
        &[0, 43, 60],
        &[60, 44, 0],
        &[51, 51],
    ];
    all.extend(chains.map(|chain| ipv6(random, chain, protocol)));
    all
}

impl Stage {
    /// Frames whose timing or length is at an edge.
    fn directed(&mut self, random: &mut StdRng) -> Result<(), CheckError> {
        for number in 0..64 {
            self.frame(&udp_frame(number, 60), false, 0, random)?;
        }
        // One-beat frames push the flush slots together; measured ones in between must survive them.
        for number in 0..64 {
            for length in 0..number % 4 {
                let length = 1 + length as usize * self.source.beat_bytes() / 4;
                self.frame(&[0xff; 64][..length], false, 0, random)?;
            }
            self.frame(&udp_frame(number, 60 + number as usize % 9), number % 8 == 7, 0, random)?;
        }
        // Every stack of tags with every kind of header behind it, cut at every byte of the header window and beyond.
        for (tags, protocol) in tag_stacks().into_iter().zip([17, 6].into_iter().cycle()) {
            for (ethertype, packet) in packets(random, protocol) {
                let behind_labels = tags.len() % 4 == 2;
                let ethertype: &[u8] = if behind_labels { &[] } else { &ethertype };
                let frame = [&[0x5a; 12], &tags[..], ethertype, &packet].concat();
                for length in 1..=frame.len().min(132) {
                    self.frame(&frame[..length], false, 0, random)?;
                }
            }
        }
        for (number, frame) in adversary::frames().iter().enumerate() {
            self.frame(frame, number % 16 == 15, [0, 8][number % 2], random)?;
        }
        // Every protocol at every place that names one.
        for protocol in 0..=255 {
            let named = [
                ipv4(random, 5, protocol),
                ipv4(random, 6, protocol),
                ipv6(random, &[], protocol),
                ipv6(random, &[51], protocol),
                ipv6(random, &[60, 44], protocol),
            ];
            for (ethertype, packet) in named {
                let frame = [&[0x5a; 12], &ethertype[..], &packet].concat();
                self.frame(&frame, false, 0, random)?;
            }
        }
        Ok(())
    }

    /// Sends a frame; before each beat, one time in `gaps`, an idle or stalled cycle.
    fn frame(&mut self, frame: &[u8], bad: bool, gaps: u32, random: &mut StdRng) -> Result<(), CheckError> {
        let timestamp = random.random();
        self.twin.take((frame, timestamp, bad));
        self.frames += 1;
        for beat in beats(self.source.beat_bytes(), frame, Timestamp(timestamp), bad) {
            while gaps > 0 && random.random_ratio(1, gaps) {
                let (valid, ready) =
                    [(false, false), (false, true), (true, false)][random.random_range(0..3)];
                self.cycle(beat, valid, ready)?;
            }
            self.cycle(beat, true, true)?;
        }
        Ok(())
    }

    fn cycle(&mut self, beat: Beat, valid: bool, ready: bool) -> Result<(), CheckError> {
        self.source.offer(&mut self.bench, beat);
        if !valid {
            self.source.rest(&mut self.bench);
        }
        self.source.set_ready(&mut self.bench, ready);
        self.bench.tick()?;
        if self.bench.get(self.commit) == 1 {
            let (at, found) = (self.frames - self.twin.0.len() as u64, self.committed());
            self.twin.compare(STAGE, at, "frame", Some(found))?;
        }
        Ok(())
    }

    fn committed(&self) -> Commit {
        if self.bench.get(self.measured) == 0 {
            return if self.bench.get(self.bad) == 1 { Commit::Bad } else { Commit::Unmeasured };
        }
        let mut words = [0; KEY_WORDS];
        self.bench.get_words(self.key, &mut words);
        let ip_length = self.bench.get(self.ip_length) as u32;
        Commit::Measured { key: words, ip_length, timestamp: self.bench.get(self.timestamp) }
    }

    fn finish(mut self) -> Result<u64, CheckError> {
        for _ in 0..16 {
            self.cycle(IDLE, false, true)?;
        }
        same(STAGE, self.frames, "frames that never came out", &0, &self.twin.0.len())?;
        Ok(self.frames)
    }
}
