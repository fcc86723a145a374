//! Streams: the ports of an AXI4-Stream by their prefix, driven as a source, or taken and watched as a sink.
//!
//! One for every width, from bytes, which have no tkeep, to 512 bits. Tested by every check that has a stream; the rules that a
//! sink watches have planted faults in `checks::core` and `checks::byte`.

use crate::bench::Bench;
use crate::error::HardwareError;
use deltaline_model::time::Timestamp;
use verilator_sys::Port;

/// One beat of the observed stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Beat {
    /// Data, first byte in the lowest bits of the first word; up to 512 bits.
    pub data: [u64; 8],
    /// Bytes that hold data.
    pub keep: u64,
    /// Last beat of its frame.
    pub last: bool,
    /// Timestamp of the frame on its first beat; anything elsewhere.
    pub timestamp: u64,
    /// With last: the frame is bad.
    pub bad: bool,
}

/// A beat of no frame, for idle cycles.
pub const IDLE: Beat = Beat { data: [0; 8], keep: 0, last: false, timestamp: 0, bad: false };

/// The beats of a frame, of `bytes` bytes each: 1..=64, a power of two.
pub fn beats(bytes: usize, frame: &[u8], time: Timestamp, bad: bool) -> impl Iterator<Item = Beat> + use<'_> {
    let count = frame.len().div_ceil(bytes);
    frame.chunks(bytes).enumerate().map(move |(index, chunk)| {
        // Bytes without data carry noise.
        let mut data = [!0u64; 8];
        for (word, bytes) in data.iter_mut().zip(chunk.chunks(8)) {
            *word = bytes.iter().rev().fold(!0, |word, byte| word << 8 | u64::from(*byte));
        }
        let last = index + 1 == count;
        // Only the first beat's timestamp may count: the others carry its complement.
        let timestamp = if index == 0 { time.0 } else { !time.0 };
        Beat { data, keep: !0 >> (64 - chunk.len()), last, timestamp, bad: bad && last }
    })
}

/// A stream into the module, with a timestamp in tuser.
pub(crate) struct Source {
    tdata: Port,
    tkeep: Option<Port>,
    tvalid: Port,
    tready: Port,
    tlast: Port,
    tuser: Port,
}

impl Source {
    /// The stream whose ports begin with `prefix` and `_`.
    pub(crate) fn of(bench: &Bench, prefix: &str) -> Result<Self, verilator_sys::Error> {
        let port = |name: &str| bench.port(&format!("{prefix}_{name}"));
        Ok(Source {
            tdata: port("tdata")?,
            tkeep: port("tkeep").ok(),
            tvalid: port("tvalid")?,
            tready: port("tready")?,
            tlast: port("tlast")?,
            tuser: port("tuser")?,
        })
    }

    /// Bytes of a beat.
    pub(crate) fn beat_bytes(&self) -> usize {
        self.tdata.width() as usize / 8
    }

    /// Shows a beat.
    #[inline]
    pub(crate) fn offer(&self, bench: &mut Bench, beat: Beat) {
        bench.set_beat(self.tdata, &beat.data);
        if let Some(tkeep) = self.tkeep {
            bench.set(tkeep, beat.keep);
        }
        bench.set(self.tlast, u64::from(beat.last));
        bench.set_wide(self.tuser, u128::from(beat.timestamp) << 1 | u128::from(beat.bad));
        bench.set(self.tvalid, 1);
    }

    /// Shows a beat, or idles on what is no beat of a frame.
    pub(crate) fn drive(&self, bench: &mut Bench, beat: Option<Beat>) {
        self.offer(bench, beat.unwrap_or(IDLE));
        if beat.is_none() {
            self.rest(bench);
        }
    }

    /// Shows no beat any more; the other ports stay as they are.
    #[inline]
    pub(crate) fn rest(&self, bench: &mut Bench) {
        bench.set(self.tvalid, 0);
    }

    /// The tready of a module that only watches the stream.
    pub(crate) fn set_ready(&self, bench: &mut Bench, ready: bool) {
        bench.set(self.tready, u64::from(ready));
    }
}

/// A stream of control frames out of the module: whole beats, tuser zero.
pub(crate) struct Sink {
    tdata: Port,
    tkeep: Option<Port>,
    tvalid: Port,
    tready: Port,
    tlast: Port,
    tuser: Port,
    frame: Vec<u8>,
    frames: Vec<Vec<u8>>,
    /// What was offered in the last cycle without being taken.
    waiting: Option<(u64, u64)>,
}

impl Sink {
    /// The stream whose ports begin with `prefix` and `_`.
    pub(crate) fn of(bench: &Bench, prefix: &str) -> Result<Self, verilator_sys::Error> {
        let port = |name: &str| bench.port(&format!("{prefix}_{name}"));
        Ok(Sink {
            tdata: port("tdata")?,
            tkeep: port("tkeep").ok(),
            tvalid: port("tvalid")?,
            tready: port("tready")?,
            tlast: port("tlast")?,
            tuser: port("tuser")?,
            frame: vec![],
            frames: vec![],
            waiting: None,
        })
    }

    pub(crate) fn set_ready(&self, bench: &mut Bench, ready: bool) {
        bench.set(self.tready, u64::from(ready));
    }

    /// Before a clock edge: takes the beat that is handed over, if any, and says whether it is the last of its frame.
    ///
    /// # Errors
    ///
    /// A rule of AXI4-Stream is broken.
    #[inline]
    pub(crate) fn take(&mut self, bench: &Bench) -> Result<bool, HardwareError> {
        if bench.get(self.tvalid) == 0 {
            return match self.waiting.take() {
                Some(_) => Err(HardwareError::Stream("tvalid fell before tready")),
                None => Ok(false),
            };
        }
        let beat = (bench.get(self.tdata), bench.get(self.tlast));
        let is_whole = self.tkeep.is_none_or(|tkeep| bench.get(tkeep) == (1 << tkeep.width()) - 1);
        if !is_whole || bench.get(self.tuser) != 0 {
            return Err(HardwareError::Stream("tkeep must be all ones, tuser zero"));
        }
        if self.waiting.is_some_and(|waiting| waiting != beat) {
            return Err(HardwareError::Stream("tdata or tlast changed before tready"));
        }
        if bench.get(self.tready) == 0 {
            self.waiting = Some(beat);
            return Ok(false);
        }
        self.waiting = None;
        self.frame.extend(&beat.0.to_le_bytes()[..self.tdata.width() as usize / 8]);
        if beat.1 == 1 {
            let next = Vec::with_capacity(self.frame.len());
            self.frames.push(std::mem::replace(&mut self.frame, next));
        }
        Ok(beat.1 == 1)
    }

    /// Whole frames since the last call.
    pub(crate) fn take_frames(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.frames)
    }

    /// Forgets everything, for a reset.
    pub(crate) fn clear(&mut self) {
        self.waiting = None;
        self.frame.clear();
        self.frames.clear();
    }
}
