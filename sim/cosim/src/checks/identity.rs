//! Identity: frames in, keys out.

use crate::bench::Bench;
use crate::error::{CheckError, same};
use crate::stream::{Beat, IDLE, beats};
use deltaline_model::packet::identity::{Identity, KEY_WORDS, identify};
use deltaline_model::time::Timestamp;
use deltaline_traffic::{Frames, udp_frame};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::VecDeque;
use verilator_sys::{Port, Toolchain};

const STAGE: &str = "identity";

/// What a frame must come out as.
#[derive(Debug, PartialEq)]
enum Outcome {
    Measured { key: [u32; KEY_WORDS], ip_length: u32, timestamp: u64 },
    Unmeasured,
    Bad,
}

struct Twin {
    bench: Bench,
    tdata: Port,
    tkeep: Port,
    tvalid: Port,
    tready: Port,
    tlast: Port,
    tuser: Port,
    commit: Port,
    measured: Port,
    bad: Port,
    key: Port,
    beat_bytes: usize,
    timestamp: Port,
    ip_length: Port,
    expected: VecDeque<Outcome>,
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
    let stream = |name: &str| bench.port(&format!("s_axis_{name}")).or_else(|_| bench.port(name));
    let mut twin = Twin {
        tdata: stream("tdata")?,
        tkeep: stream("tkeep")?,
        tvalid: stream("tvalid")?,
        tready: stream("tready")?,
        tlast: stream("tlast")?,
        tuser: stream("tuser")?,
        beat_bytes: stream("tkeep")?.width() as usize,
        commit: bench.port("commit")?,
        measured: bench.port("measured")?,
        bad: bench.port("bad")?,
        key: bench.port("key")?,
        timestamp: bench.port("timestamp")?,
        ip_length: bench.port("ip_length")?,
        bench,
        expected: VecDeque::new(),
        frames: 0,
    };
    let mut random = StdRng::seed_from_u64(seed);
    twin.directed(&mut random)?;

    let mut frames = Frames::new(seed);
    for _ in 0..count {
        let frame = frames.next_frame();
        let bad = random.random_ratio(1, 16);
        // Streams without gaps, with few, with many.
        let gaps = [0, 0, 8, 2][(twin.frames / 64 % 4) as usize];
        twin.frame(&frame, bad, gaps, &mut random)?;
    }
    twin.finish()
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

/// EtherTypes and packets: IPv4 of every header length, IPv6 with every kind of extension header and chains of them.
fn packets(random: &mut StdRng) -> Vec<([u8; 2], Vec<u8>)> {
    let mut noise = |count: usize| -> Vec<u8> { (0..count).map(|_| random.random()).collect() };
    let ipv4 = (4..=15u8).map(|words| {
        let mut packet = noise(4 * usize::from(words.max(5)) + 30);
        packet[0] = 0x40 | words;
        packet[2..4].copy_from_slice(&(4 * u16::from(words) + 30).to_be_bytes());
        ([8, 0], packet)
    });
    let mut all: Vec<_> = ipv4.collect();
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
    for chain in chains {
        let mut packet = noise(40);
        packet[0] = 0x60;
        packet[6] = chain.first().copied().unwrap_or(17);
        for (index, kind) in chain.iter().enumerate() {
            // Authentication headers count in fours, 2 of them beyond the first eight bytes; the others in eights.
            let length_field = if *kind == 51 { 2 } else { 1 };
            let mut header = noise(if *kind == 44 { 8 } else { 16 });
            header[..2].copy_from_slice(&[chain.get(index + 1).copied().unwrap_or(17), length_field]);
            packet.extend(header);
        }
        packet.extend(noise(30));
        let payload = (packet.len() - 40) as u16;
        packet[4..6].copy_from_slice(&payload.to_be_bytes());
        all.push(([0x86, 0xdd], packet));
    }
    all
}

impl Twin {
    /// Frames whose timing or length is at an edge.
    fn directed(&mut self, random: &mut StdRng) -> Result<(), CheckError> {
        for number in 0..64 {
            self.frame(&udp_frame(number, 60), false, 0, random)?;
        }
        // One-beat frames push the flush slots together; measured ones in between must survive them.
        for number in 0..64 {
            for length in 0..number % 4 {
                let length = 1 + length as usize * self.beat_bytes / 4;
                self.frame(&[0xff; 64][..length], false, 0, random)?;
            }
            self.frame(&udp_frame(number, 60 + number as usize % 9), number % 8 == 7, 0, random)?;
        }
        // Every stack of tags with every kind of header behind it, cut at every byte of the header window and beyond.
        for tags in tag_stacks() {
            for (ethertype, packet) in packets(random) {
                let behind_labels = tags.len() % 4 == 2;
                let ethertype: &[u8] = if behind_labels { &[] } else { &ethertype };
                let frame = [&[0x5a; 12], &tags[..], ethertype, &packet].concat();
                for length in 1..=frame.len().min(132) {
                    self.frame(&frame[..length], false, 0, random)?;
                }
            }
        }
        Ok(())
    }

    /// Sends a frame; before each beat, one time in `gaps`, an idle or stalled cycle.
    fn frame(&mut self, frame: &[u8], bad: bool, gaps: u32, random: &mut StdRng) -> Result<(), CheckError> {
        let timestamp = random.random();
        self.expected.push_back(match identify(frame) {
            _ if bad => Outcome::Bad,
            Ok(Identity { key, ip_length, .. }) => {
                Outcome::Measured { key: key.words(), ip_length, timestamp }
            }
            Err(_) => Outcome::Unmeasured,
        });
        self.frames += 1;
        for beat in beats(self.beat_bytes, frame, Timestamp(timestamp), bad) {
            while gaps > 0 && random.random_ratio(1, gaps) {
                let (valid, ready) = [(0, 0), (0, 1), (1, 0)][random.random_range(0..3)];
                self.cycle(beat, valid, ready)?;
            }
            self.cycle(beat, 1, 1)?;
        }
        Ok(())
    }

    fn cycle(&mut self, beat: Beat, valid: u64, ready: u64) -> Result<(), CheckError> {
        self.bench.set_beat(self.tdata, &beat.data);
        self.bench.set(self.tkeep, beat.keep);
        self.bench.set(self.tlast, u64::from(beat.last));
        self.bench.set_wide(self.tuser, u128::from(beat.timestamp) << 1 | u128::from(beat.bad));
        self.bench.set(self.tvalid, valid);
        self.bench.set(self.tready, ready);
        self.bench.tick()?;
        if self.bench.get(self.commit) == 1 {
            let found = self.outcome();
            let at = self.frames - self.expected.len() as u64;
            match self.expected.pop_front() {
                Some(expected) => same(STAGE, at, "frame", &expected, &found)?,
                None => same(STAGE, at, "commits without a frame", &0, &1)?,
            }
        }
        Ok(())
    }

    fn outcome(&self) -> Outcome {
        if self.bench.get(self.measured) == 0 {
            return if self.bench.get(self.bad) == 1 { Outcome::Bad } else { Outcome::Unmeasured };
        }
        let mut words = [0; KEY_WORDS];
        self.bench.get_words(self.key, &mut words);
        let ip_length = self.bench.get(self.ip_length) as u32;
        Outcome::Measured { key: words, ip_length, timestamp: self.bench.get(self.timestamp) }
    }

    fn finish(mut self) -> Result<u64, CheckError> {
        for _ in 0..16 {
            self.cycle(IDLE, 0, 1)?;
        }
        same(STAGE, self.frames, "frames that never came out", &0, &self.expected.len())?;
        Ok(self.frames)
    }
}
