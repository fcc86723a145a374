//! Streams: the ports of an AXI4-Stream by their prefix, driven as a source, or taken and watched as a sink.
//!
//! One for every width, from bytes, which have no tkeep, to 512 bits. Tested by every check that has a stream; the rules that a
//! sink watches have planted faults in `mutations` and `checks::byte`.

use crate::bench::Bench;
use crate::error::HardwareError;
use deltaline_model::time::{TimeOfDay, Timestamp};
use verilator_sys::Port;

/// In nanoseconds.
const SECOND: u64 = 1_000_000_000;

/// One beat of a stream.
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

impl Beat {
    /// The bytes that hold data.
    pub(crate) fn bytes(&self) -> impl Iterator<Item = u8> + use<> {
        self.data.into_iter().flat_map(u64::to_le_bytes).take(self.keep.count_ones() as usize)
    }
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
        // Only the first beat's timestamp may count, and only the last beat's mark: the others carry their complements.
        let timestamp = if index == 0 { time.0 } else { !time.0 };
        Beat { data, keep: !0 >> (64 - chunk.len()), last, timestamp, bad: bad == last }
    })
}

/// The ports of a stream. Control frames between two blocks have no tkeep and no tuser.
struct Wires {
    tdata: Port,
    tkeep: Option<Port>,
    tvalid: Port,
    tready: Port,
    tlast: Port,
    tuser: Option<Port>,
}

impl Wires {
    /// Those whose names begin with `prefix`, such as `s_axis_`.
    fn of(bench: &Bench, prefix: &str) -> Result<Self, verilator_sys::Error> {
        let port = |name: &str| bench.port(&format!("{prefix}{name}"));
        Ok(Wires {
            tdata: port("tdata")?,
            tkeep: port("tkeep").ok(),
            tvalid: port("tvalid")?,
            tready: port("tready")?,
            tlast: port("tlast")?,
            tuser: port("tuser").ok(),
        })
    }

    fn beat_bytes(&self) -> usize {
        self.tdata.width() as usize / 8
    }
}

/// A stream into the module; tuser, if any, has the bit of a bad frame alone, or a timestamp beside it, relative-64 or a
/// time of day.
pub(crate) struct Source(Wires);

impl Source {
    /// The stream whose ports begin with `prefix`, such as `s_axis_`.
    pub(crate) fn of(bench: &Bench, prefix: &str) -> Result<Self, verilator_sys::Error> {
        Wires::of(bench, prefix).map(Source)
    }

    /// Bytes of a beat.
    pub(crate) fn beat_bytes(&self) -> usize {
        self.0.beat_bytes()
    }

    /// Shows a beat.
    #[inline]
    pub(crate) fn offer(&self, bench: &mut Bench, beat: Beat) {
        bench.set_beat(self.0.tdata, &beat.data);
        if let Some(tkeep) = self.0.tkeep {
            bench.set(tkeep, beat.keep);
        }
        bench.set(self.0.tlast, u64::from(beat.last));
        if let Some(tuser) = self.0.tuser {
            let is_relative = tuser.width() <= 65;
            let timestamp = u128::from(beat.timestamp);
            let timestamp = if is_relative { timestamp } else { time_of_day(Timestamp(beat.timestamp)) };
            bench.set_wide(tuser, timestamp << 1 | u128::from(beat.bad));
        }
        bench.set(self.0.tvalid, 1);
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
        bench.set(self.0.tvalid, 0);
    }

    /// The tready of a module that only watches the stream.
    pub(crate) fn set_ready(&self, bench: &mut Bench, ready: bool) {
        bench.set(self.0.tready, u64::from(ready));
    }

    /// Whether the module takes what is shown.
    pub(crate) fn is_ready(&self, bench: &Bench) -> bool {
        bench.get(self.0.tready) == 1
    }
}

/// A relative-64 time as one of day in 1970, or soon after.
fn time_of_day(time: Timestamp) -> u128 {
    let (seconds, nanoseconds) = (time.nanoseconds() / SECOND, time.nanoseconds() % SECOND);
    TimeOfDay::new(seconds, nanoseconds as u32, time.0 as u16).0
}

/// What a stream out of the module carries.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Carries {
    /// Control frames alone: whole beats, tuser zero.
    ControlFrames,
    /// Any frames.
    Traffic,
}

/// A frame as it left a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) bytes: Vec<u8>,
    /// From its first beat, if the stream has timestamps.
    pub(crate) time: Timestamp,
    /// From its last beat.
    pub(crate) bad: bool,
}

/// A stream out of the module.
pub(crate) struct Sink {
    wires: Wires,
    carries: Carries,
    frame: Seen,
    frames: Vec<Seen>,
    /// What was offered in the last cycle without being taken.
    waiting: Option<Beat>,
}

impl Sink {
    /// The stream whose ports begin with `prefix`, such as `s_axis_`.
    pub(crate) fn of(bench: &Bench, prefix: &str, carries: Carries) -> Result<Self, verilator_sys::Error> {
        let wires = Wires::of(bench, prefix)?;
        Ok(Sink { wires, carries, frame: Seen::default(), frames: vec![], waiting: None })
    }

    pub(crate) fn set_ready(&self, bench: &mut Bench, ready: bool) {
        bench.set(self.wires.tready, u64::from(ready));
    }

    /// The beat that the module shows, if any.
    #[inline]
    pub(crate) fn shown(&self, bench: &Bench) -> Option<Beat> {
        if bench.get(self.wires.tvalid) == 0 {
            return None;
        }
        let user = self.wires.tuser.map_or(0, |tuser| bench.get_wide(tuser));
        Some(Beat {
            data: bench.get_beat(self.wires.tdata),
            keep: self.wires.tkeep.map_or(self.all(), |tkeep| bench.get(tkeep)),
            last: bench.get(self.wires.tlast) == 1,
            timestamp: (user >> 1) as u64,
            bad: user & 1 == 1,
        })
    }

    /// The tkeep of a whole beat.
    fn all(&self) -> u64 {
        !0 >> (64 - self.wires.beat_bytes())
    }

    /// Before a clock edge: takes the beat that is handed over, if any, and says whether it is the last of its frame.
    ///
    /// # Errors
    ///
    /// A rule of AXI4-Stream is broken.
    #[inline]
    pub(crate) fn take(&mut self, bench: &Bench) -> Result<bool, HardwareError> {
        let Some(beat) = self.shown(bench) else {
            return match self.waiting.take() {
                Some(_) => Err(HardwareError::Stream("tvalid fell before tready")),
                None => Ok(false),
            };
        };
        let is_plain = beat.keep == self.all() && beat.timestamp == 0 && !beat.bad;
        if self.carries == Carries::ControlFrames && !is_plain {
            return Err(HardwareError::Stream("tkeep must be all ones, tuser zero"));
        }
        if self.waiting.is_some_and(|waiting| waiting != beat) {
            return Err(HardwareError::Stream("a beat changed before tready"));
        }
        if bench.get(self.wires.tready) == 0 {
            self.waiting = Some(beat);
            return Ok(false);
        }
        self.waiting = None;
        if self.frame.bytes.is_empty() {
            self.frame.time = Timestamp(beat.timestamp);
        }
        self.frame.bytes.extend(beat.bytes());
        if beat.last {
            self.frame.bad = beat.bad;
            let bytes = Vec::with_capacity(self.frame.bytes.len());
            self.frames.push(std::mem::replace(&mut self.frame, Seen { bytes, ..Seen::default() }));
        }
        Ok(beat.last)
    }

    /// Frames that are whole since the last call of [`Sink::take_seen`], and bytes of the one that is not.
    pub(crate) fn progress(&self) -> (usize, usize) {
        (self.frames.len(), self.frame.bytes.len())
    }

    /// Whole frames since the last call.
    pub(crate) fn take_seen(&mut self) -> Vec<Seen> {
        std::mem::take(&mut self.frames)
    }

    /// The same, their bytes alone.
    pub(crate) fn take_frames(&mut self) -> Vec<Vec<u8>> {
        self.frames.drain(..).map(|seen| seen.bytes).collect()
    }

    /// Forgets everything, for a reset.
    pub(crate) fn clear(&mut self) {
        self.waiting = None;
        self.frame = Seen::default();
        self.frames.clear();
    }
}
