//! Identity: frames in, keys out.

use super::{CheckError, same};
use crate::bench::Bench;
use crate::hardware::{Beat, beats};
use deltaline_model::identity::{Identity, KEY_WORDS, identify};
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
    Measured { key: [u8; 68], ip_length: u32, timestamp: u64 },
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
    word: Vec<Port>,
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
    let bench = Bench::new(toolchain, "identity", verilog)?;
    let word = (0..KEY_WORDS).map(|i| bench.port(&format!("word_{i}"))).collect::<Result<_, _>>()?;
    let mut twin = Twin {
        tdata: bench.port("s_axis_tdata")?,
        tkeep: bench.port("s_axis_tkeep")?,
        tvalid: bench.port("s_axis_tvalid")?,
        tready: bench.port("s_axis_tready")?,
        tlast: bench.port("s_axis_tlast")?,
        tuser: bench.port("s_axis_tuser")?,
        commit: bench.port("commit")?,
        measured: bench.port("measured")?,
        bad: bench.port("bad")?,
        word,
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

impl Twin {
    /// Frames whose timing or length is at an edge.
    fn directed(&mut self, random: &mut StdRng) -> Result<(), CheckError> {
        for number in 0..64 {
            self.frame(&udp_frame(number, 60), false, 0, random)?;
        }
        // One-beat frames push the flush slots together; measured ones in between must survive them.
        for number in 0..64 {
            for length in 0..number % 4 {
                self.frame(&[0xff; 8][..=length as usize * 2], false, 0, random)?;
            }
            self.frame(&udp_frame(number, 60 + number as usize % 9), number % 8 == 7, 0, random)?;
        }
        let mut frames = Frames::new(77);
        let mut whole = vec![];
        while whole.len() < 48 {
            let frame = frames.next_frame();
            if identify(&frame).is_ok_and(|identity| !identity.truncated) && frame.len() < 140 {
                whole.push(frame);
            }
        }
        for frame in whole {
            for length in 1..=frame.len() {
                self.frame(&frame[..length], false, 0, random)?;
            }
        }
        Ok(())
    }

    /// Sends a frame; before each beat, one time in `gaps`, an idle or stalled cycle.
    fn frame(&mut self, frame: &[u8], bad: bool, gaps: u32, random: &mut StdRng) -> Result<(), CheckError> {
        let timestamp = random.random();
        self.expected.push_back(match identify(frame) {
            _ if bad => Outcome::Bad,
            Ok(Identity { key, ip_length, .. }) => Outcome::Measured { key, ip_length, timestamp },
            Err(_) => Outcome::Unmeasured,
        });
        self.frames += 1;
        for beat in beats(frame, Timestamp(timestamp), bad) {
            while gaps > 0 && random.random_ratio(1, gaps) {
                let (valid, ready) = [(0, 0), (0, 1), (1, 0)][random.random_range(0..3)];
                self.cycle(beat, valid, ready)?;
            }
            self.cycle(beat, 1, 1)?;
        }
        Ok(())
    }

    fn cycle(&mut self, beat: Beat, valid: u64, ready: u64) -> Result<(), CheckError> {
        self.bench.set(self.tdata, beat.data);
        self.bench.set(self.tkeep, u64::from(beat.keep));
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
        let mut key = [0; 68];
        for (bytes, port) in key.chunks_exact_mut(4).zip(&self.word) {
            bytes.copy_from_slice(&(self.bench.get(*port) as u32).to_be_bytes());
        }
        let ip_length = self.bench.get(self.ip_length) as u32;
        Outcome::Measured { key, ip_length, timestamp: self.bench.get(self.timestamp) }
    }

    fn finish(mut self) -> Result<u64, CheckError> {
        let idle = Beat { data: 0, keep: 0, last: false, timestamp: 0, bad: false };
        for _ in 0..16 {
            self.cycle(idle, 0, 1)?;
        }
        same(STAGE, self.frames, "frames that never came out", &0, &self.expected.len())?;
        Ok(self.frames)
    }
}
