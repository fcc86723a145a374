//! The stream that a design observes, and whether it keeps up with the link.
//!
//! A frame of n bytes with FCS occupies n + 20 bytes of the link (preamble and gap), and, because its FCS is cut off
//! and it starts on a beat of its own, ceil((n - 4) / bytes of a beat) beats of its lane. Every length from 64 to 9018
//! bytes must pass back to back. The shortest frame is seldom the tightest: with 512 bits the frame of 69 bytes takes
//! two beats where that of 64 bytes takes one. Lanes count as if the frames were spread over them evenly.
//!
//! # Test plan
//!
//! Frames a second against figures known from elsewhere (14,880,952 at 10 Gbit/s), and known hard cases: 256 bits at
//! 156.25 MHz carry 40 Gbit/s of payload but not of every frame length. The lowest clock is enough, a lower one is not.

use std::ops::RangeInclusive;

/// Lengths of an Ethernet frame with FCS in bytes, jumbo frames included.
const FRAMES: RangeInclusive<u32> = 64..=9018;
/// Preamble, start delimiter and gap between frames, in byte times.
const GAP_BYTES: u32 = 20;
/// The frame check sequence, which the stream does not carry.
const FCS_BYTES: u32 = 4;

/// The stream that a design observes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Stream {
    /// Width of a lane's tdata in bits.
    pub width: usize,
    /// Streams of that width side by side.
    pub lanes: usize,
    /// Their clock in MHz.
    pub clock_mhz: f64,
    /// Rate of the Ethernet link in Gbit/s, preamble and gaps included.
    pub rate_gbps: f64,
}

impl Stream {
    /// Frames of `length` bytes (with FCS) that the link can bring in a second.
    pub fn frames_needed(&self, length: u32) -> f64 {
        self.rate_gbps * 1e9 / (8.0 * f64::from(length + GAP_BYTES))
    }

    /// Frames of `length` bytes (with FCS) that the stream can carry in a second.
    pub fn frames_possible(&self, length: u32) -> f64 {
        let beats = (length - FCS_BYTES).div_ceil(self.width as u32 / 8);
        self.clock_mhz * 1e6 * self.lanes as f64 / f64::from(beats)
    }

    /// The frame length in bytes that comes closest to the stream's limit, or exceeds it most.
    pub fn tightest(&self) -> u32 {
        let spare = |length: &u32| self.frames_possible(*length) / self.frames_needed(*length);
        FRAMES.min_by(|a, b| spare(a).total_cmp(&spare(b))).unwrap_or(*FRAMES.start())
    }

    /// The lowest clock in MHz that keeps up with the rate.
    pub fn clock_needed(&self) -> f64 {
        let tightest = self.tightest();
        self.clock_mhz * self.frames_needed(tightest) / self.frames_possible(tightest)
    }

    /// Whether every frame length passes back to back.
    pub fn keeps_up(&self) -> bool {
        let length = self.tightest();
        self.frames_possible(length) >= self.frames_needed(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEN: Stream = Stream { width: 64, lanes: 1, clock_mhz: 156.25, rate_gbps: 10.0 };

    /// From elsewhere: 1,488,095 frames/s at 1 Gbit/s and multiples of it; 812,744 of 1518 bytes at 10 Gbit/s.
    #[test]
    fn frames_a_second_are_those_of_ethernet() {
        assert_eq!(TEN.frames_needed(64).round(), 14_880_952.0);
        assert_eq!(TEN.frames_needed(1518).round(), 812_744.0);
        // 60 bytes are 8 beats, 1514 are 190, 8996 are 1125.
        assert_eq!(TEN.frames_possible(64), 156.25e6 / 8.0);
        assert_eq!(TEN.frames_possible(1518), 156.25e6 / 190.0);
        assert_eq!(TEN.frames_possible(9000), 156.25e6 / 1125.0);
        let lanes = Stream { width: 512, lanes: 2, ..TEN };
        assert_eq!(lanes.frames_possible(68), 2.0 * 156.25e6);
        assert_eq!(lanes.frames_possible(69), 156.25e6);
    }

    #[test]
    fn a_stream_keeps_up_with_every_frame_length_or_does_not() {
        for (width, lanes, clock_mhz, rate_gbps, keeps_up) in [
            (8, 1, 125.0, 1.0, true),
            (64, 1, 156.25, 10.0, true),
            (256, 1, 400.0, 40.0, true),
            (512, 1, 322.265625, 100.0, true),
            (512, 3, 402.83203125, 400.0, true),
            (64, 1, 155.9, 10.0, false),
            (8, 1, 100.0, 1.0, false),
            // 40 Gbit/s of payload, but not of every frame length.
            (256, 1, 156.25, 40.0, false),
            // A lane has its share of the frames only: 64 bytes pass at 400 Gbit/s in two lanes, 69 bytes do not.
            (512, 2, 402.83203125, 400.0, false),
        ] {
            let stream = Stream { width, lanes, clock_mhz, rate_gbps };
            let all = FRAMES
                .into_iter()
                .all(|length| stream.frames_possible(length) >= stream.frames_needed(length));
            assert_eq!(stream.keeps_up(), all, "{stream:?}");
            assert_eq!(all, keeps_up, "{stream:?}");
            let needed = stream.clock_needed();
            assert!(Stream { clock_mhz: needed * 1.000001, ..stream }.keeps_up());
            assert!(!Stream { clock_mhz: needed * 0.999999, ..stream }.keeps_up());
        }
    }
}
