//! Hardware: the core under Verilator as a measurement point.

use crate::bench::Bench;
use deltaline_hdl::emit::kind::Module;
use deltaline_hdl::emit::module::emit;
use deltaline_hdl::emit::refusal::EmitError;
use deltaline_model::configuration::Configuration;
use deltaline_model::time::Timestamp;
use deltaline_model::wire::frame::{Header, MAX_FRAME_BYTES, Role, Totals, frame_bytes};
use verilator_sys::{Effort, Model, Options, Port, Source, Toolchain};

/// Name of the emitted top module.
pub(crate) const TOP: &str = "deltaline";

/// Why the hardware cannot be simulated.
#[derive(Debug, thiserror::Error)]
pub enum HardwareError {
    /// Verilator is missing, or refuses the design.
    #[error(transparent)]
    Verilator(#[from] verilator_sys::Error),
    /// The hardware is not built for this configuration.
    #[error(transparent)]
    Emit(#[from] EmitError),
    /// The core did not do what it must within a generous time.
    #[error("the core did not {0} within {1} cycles: the design is broken")]
    Stuck(&'static str, u64),
    /// The core broke a rule of AXI4-Stream on m_axis.
    #[error("m_axis: {0}: the design is broken")]
    Stream(&'static str),
}

/// The core of a configuration, built.
pub struct Hardware {
    model: Model,
    configuration: Configuration,
}

impl Hardware {
    /// Emits the core and builds it with Verilator; a core built before is found again.
    ///
    /// # Errors
    ///
    /// [`HardwareError`] when the configuration has no core or Verilator is missing.
    pub fn build(toolchain: &Toolchain, configuration: &Configuration) -> Result<Self, HardwareError> {
        let verilog = emit(configuration, Module::Core, TOP)?;
        Self::with(toolchain, configuration, &verilog, Effort::Run)
    }

    /// Builds a core from its Verilog, quickly, for checks.
    ///
    /// # Errors
    ///
    /// As [`Hardware::build`].
    pub fn of(
        toolchain: &Toolchain,
        configuration: &Configuration,
        verilog: &str,
    ) -> Result<Self, HardwareError> {
        Self::with(toolchain, configuration, verilog, Effort::Build)
    }

    fn with(
        toolchain: &Toolchain,
        configuration: &Configuration,
        verilog: &str,
        effort: Effort,
    ) -> Result<Self, HardwareError> {
        let options = Options { effort, ..Options::default() };
        let model = Model::build(toolchain, &Source { top: TOP, verilog }, options)?;
        Ok(Hardware { model, configuration: *configuration })
    }

    /// A measurement point, out of reset and counting.
    ///
    /// # Errors
    ///
    /// [`HardwareError::Stuck`] when it never starts to count.
    pub fn point(&self, role: Role) -> Result<HardwarePoint, HardwareError> {
        let mut point = self.unstarted_point(role)?;
        point.start()?;
        Ok(point)
    }

    /// A measurement point straight out of reset, still clearing its memories.
    ///
    /// # Errors
    ///
    /// As [`Hardware::point`].
    pub fn unstarted_point(&self, role: Role) -> Result<HardwarePoint, HardwareError> {
        let bench = Bench::of(&self.model)?;
        let ports = Ports::of(&bench)?;
        let classes = self.configuration.classes();
        let headers =
            (0..classes).flat_map(|_| Header::of_interval(&self.configuration, role, 0, Totals::default()));
        let (frames, bytes) = headers.fold((0, 0), |(frames, bytes), header| {
            (frames + 1, bytes + frame_bytes(usize::from(header.cells), header.shape.has_digests))
        });
        let mut point = HardwarePoint {
            beat_bytes: ports.tkeep.width() as usize,
            bench,
            ports,
            role,
            frames_per_interval: frames,
            // Seven cycles a cell and four a word, with room for back-pressure on every other beat.
            patience: 20_000 + 8 * bytes as u64,
            frame: Vec::with_capacity(MAX_FRAME_BYTES),
            frames: vec![],
            frames_due: 0,
            waiting: None,
        };
        point.apply_quiet_inputs();
        Ok(point)
    }
}

/// Handles of the core's ports.
struct Ports {
    tdata: Port,
    tkeep: Port,
    tvalid: Port,
    tready: Port,
    tlast: Port,
    tuser: Port,
    interval_end: Port,
    interval_log2: Port,
    ptp_ts: Port,
    ptp_locked: Port,
    receiver: Port,
    schedule: Port,
    next_prefixes: Port,
    from_interval: Port,
    schedule_legal: Port,
    schedule_pending: Port,
    ended: Port,
    refused: Port,
    running: Port,
    m_tdata: Port,
    m_tkeep: Port,
    m_tuser: Port,
    m_tvalid: Port,
    m_tready: Port,
    m_tlast: Port,
}

impl Ports {
    fn of(bench: &Bench) -> Result<Self, verilator_sys::Error> {
        Ok(Ports {
            tdata: bench.port("s_axis_tdata")?,
            tkeep: bench.port("s_axis_tkeep")?,
            tvalid: bench.port("s_axis_tvalid")?,
            tready: bench.port("s_axis_tready")?,
            tlast: bench.port("s_axis_tlast")?,
            tuser: bench.port("s_axis_tuser")?,
            interval_end: bench.port("interval_end")?,
            interval_log2: bench.port("interval_log2")?,
            ptp_ts: bench.port("ptp_ts")?,
            ptp_locked: bench.port("ptp_locked")?,
            receiver: bench.port("receiver")?,
            schedule: bench.port("schedule")?,
            next_prefixes: bench.port("next_prefixes")?,
            from_interval: bench.port("from_interval")?,
            schedule_legal: bench.port("schedule_legal")?,
            schedule_pending: bench.port("schedule_pending")?,
            ended: bench.port("ended")?,
            refused: bench.port("refused")?,
            running: bench.port("running")?,
            m_tdata: bench.port("m_axis_tdata")?,
            m_tkeep: bench.port("m_axis_tkeep")?,
            m_tuser: bench.port("m_axis_tuser")?,
            m_tvalid: bench.port("m_axis_tvalid")?,
            m_tready: bench.port("m_axis_tready")?,
            m_tlast: bench.port("m_axis_tlast")?,
        })
    }
}

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

/// The core as one end of a measurement segment.
pub struct HardwarePoint {
    bench: Bench,
    ports: Ports,
    beat_bytes: usize,
    role: Role,
    frames_per_interval: usize,
    patience: u64,
    frame: Vec<u8>,
    frames: Vec<Vec<u8>>,
    frames_due: usize,
    /// What m_axis offered in the last cycle without being taken.
    waiting: Option<(u64, u64)>,
}

impl HardwarePoint {
    /// The beats of a frame, as wide as the core's.
    pub fn beats<'a>(
        &self,
        frame: &'a [u8],
        time: Timestamp,
        bad: bool,
    ) -> impl Iterator<Item = Beat> + use<'a> {
        beats(self.beat_bytes, frame, time, bad)
    }

    /// Bytes of a beat.
    pub fn beat_bytes(&self) -> usize {
        self.beat_bytes
    }

    fn apply_quiet_inputs(&mut self) {
        let ports = &self.ports;
        let quiet =
            [ports.tkeep, ports.tlast, ports.tvalid, ports.interval_end, ports.interval_log2, ports.ptp_ts];
        for port in quiet {
            self.bench.set(port, 0);
        }
        self.bench.set_wide(ports.tuser, 0);
        self.bench.set(ports.tready, 1);
        self.bench.set(ports.ptp_locked, 1);
        self.bench.set(ports.m_tready, 1);
        self.bench.set(ports.receiver, self.role as u64);
    }

    /// Waits until the memories are clear and the core counts.
    ///
    /// # Errors
    ///
    /// [`HardwareError::Stuck`].
    pub fn start(&mut self) -> Result<(), HardwareError> {
        for _ in 0..self.patience {
            if self.bench.get(self.ports.running) == 1 {
                return Ok(());
            }
            self.tick()?;
        }
        Err(HardwareError::Stuck("start to count", self.patience))
    }

    /// Resets the core in the middle of whatever it does; it clears its memories then.
    ///
    /// # Errors
    ///
    /// The simulation has stopped.
    pub fn restart(&mut self) -> Result<(), HardwareError> {
        self.bench.set(self.ports.tvalid, 0);
        self.bench.reset()?;
        self.waiting = None;
        self.frame.clear();
        self.frames.clear();
        self.frames_due = 0;
        Ok(())
    }

    /// One clock cycle; a beat that is taken from m_axis joins its frame.
    ///
    /// # Errors
    ///
    /// The simulation has stopped, or m_axis breaks a rule of AXI4-Stream.
    #[inline]
    pub fn tick(&mut self) -> Result<(), HardwareError> {
        let ports = &self.ports;
        let mut waiting = None;
        if self.bench.get(ports.m_tvalid) == 1 {
            let beat = (self.bench.get(ports.m_tdata), self.bench.get(ports.m_tlast));
            if self.bench.get(ports.m_tkeep) != 0xff || self.bench.get(ports.m_tuser) != 0 {
                return Err(HardwareError::Stream("tkeep must be all ones, tuser zero"));
            }
            if self.waiting.is_some_and(|waiting| waiting != beat) {
                return Err(HardwareError::Stream("tdata or tlast changed before tready"));
            }
            if self.bench.get(ports.m_tready) == 0 {
                waiting = Some(beat);
            } else {
                self.frame.extend(beat.0.to_le_bytes());
                if beat.1 == 1 {
                    let next = Vec::with_capacity(MAX_FRAME_BYTES);
                    self.frames.push(std::mem::replace(&mut self.frame, next));
                    self.frames_due = self.frames_due.saturating_sub(1);
                }
            }
        } else if self.waiting.is_some() {
            return Err(HardwareError::Stream("tvalid fell before tready"));
        }
        self.waiting = waiting;
        self.bench.tick()?;
        Ok(())
    }

    /// Puts a beat on the stream for one cycle.
    ///
    /// # Errors
    ///
    /// The simulation has stopped.
    pub fn beat(&mut self, beat: Beat) -> Result<(), HardwareError> {
        self.offer(beat);
        self.tick()?;
        self.bench.set(self.ports.tvalid, 0);
        Ok(())
    }

    fn offer(&mut self, beat: Beat) {
        let ports = &self.ports;
        self.bench.set_beat(ports.tdata, &beat.data);
        self.bench.set(ports.tkeep, beat.keep);
        self.bench.set(ports.tlast, u64::from(beat.last));
        self.bench.set_wide(ports.tuser, u128::from(beat.timestamp) << 1 | u128::from(beat.bad));
        self.bench.set(ports.tvalid, 1);
    }

    /// Shows a beat for one cycle without accepting it.
    ///
    /// # Errors
    ///
    /// The simulation has stopped.
    pub fn stalled_beat(&mut self, beat: Beat) -> Result<(), HardwareError> {
        self.bench.set(self.ports.tready, 0);
        self.beat(beat)?;
        self.bench.set(self.ports.tready, 1);
        Ok(())
    }

    /// Records a frame whose first byte was seen at `time`, its beats without gaps.
    ///
    /// # Errors
    ///
    /// The simulation has stopped.
    pub fn observe(&mut self, frame: &[u8], time: Timestamp) -> Result<(), HardwareError> {
        for beat in self.beats(frame, time, false) {
            self.offer(beat);
            self.tick()?;
        }
        self.bench.set(self.ports.tvalid, 0);
        Ok(())
    }

    /// Requests an interval end in the present cycle, whatever the drain does.
    ///
    /// # Errors
    ///
    /// The simulation has stopped.
    pub fn request_interval_end(&mut self) -> Result<(), HardwareError> {
        self.set_interval_end(true);
        self.tick()?;
        self.set_interval_end(false);
        Ok(())
    }

    /// Ends the interval, once the previous one has been drained; its control frames come out while the next
    /// interval counts.
    ///
    /// # Errors
    ///
    /// [`HardwareError::Stuck`] when the previous interval's frames never come.
    pub fn end_interval(&mut self) -> Result<(), HardwareError> {
        self.wait_for_frames()?;
        self.request_interval_end()?;
        self.expect_interval();
        Ok(())
    }

    /// Notes that an interval has been ended by other means, so that its frames are waited for.
    pub fn expect_interval(&mut self) {
        self.frames_due += self.frames_per_interval;
    }

    /// Runs idle cycles until all control frames that are due have come out and the core is idle.
    ///
    /// # Errors
    ///
    /// [`HardwareError::Stuck`] when they never come.
    pub fn wait_for_frames(&mut self) -> Result<(), HardwareError> {
        let mut waited = 0;
        while self.frames_due > 0 {
            self.tick()?;
            waited += 1;
            if waited > self.patience {
                return Err(HardwareError::Stuck("emit its control frames", self.patience));
            }
        }
        // From the last word taken to idle.
        for _ in 0..4 {
            self.tick()?;
        }
        Ok(())
    }

    /// Whether all control frames that are due have come out.
    pub fn is_drained(&self) -> bool {
        self.frames_due == 0
    }

    /// The control frames that have come out since the last call.
    pub fn take_frames(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.frames)
    }

    /// The interval_end input.
    pub fn set_interval_end(&mut self, end: bool) {
        self.bench.set(self.ports.interval_end, u64::from(end));
    }

    /// Whether m_axis accepts beats.
    pub fn set_ready(&mut self, ready: bool) {
        self.bench.set(self.ports.m_tready, u64::from(ready));
    }

    /// The clock's lock signal.
    pub fn set_locked(&mut self, locked: bool) {
        self.bench.set(self.ports.ptp_locked, u64::from(locked));
    }

    /// Intervals by the clock: 0 none, else every 2^n ns.
    pub fn set_interval_log2(&mut self, log2: u8) {
        self.bench.set(self.ports.interval_log2, u64::from(log2));
    }

    /// The clock.
    pub fn set_time(&mut self, time: Timestamp) {
        self.bench.set(self.ports.ptp_ts, time.0);
    }

    /// What is shown of prefix lengths, as control frames carry them, and whether they are to be scheduled.
    pub fn set_schedule(&mut self, now: bool, lengths: u64, from: u32) {
        self.bench.set(self.ports.schedule, u64::from(now));
        self.bench.set(self.ports.next_prefixes, lengths);
        self.bench.set(self.ports.from_interval, u64::from(from));
    }

    /// Whether the lengths that were shown in the last cycle may be scheduled.
    pub fn schedule_is_legal(&self) -> bool {
        self.bench.get(self.ports.schedule_legal) == 1
    }

    /// Whether lengths wait for their interval.
    pub fn schedule_is_pending(&self) -> bool {
        self.bench.get(self.ports.schedule_pending) == 1
    }

    /// Whether an interval ends with the present cycle.
    pub fn ends(&self) -> bool {
        self.bench.get(self.ports.ended) == 1
    }

    /// Whether an end is refused in the present cycle.
    pub fn refuses(&self) -> bool {
        self.bench.get(self.ports.refused) == 1
    }

    /// Whether the core counts.
    pub fn is_running(&self) -> bool {
        self.bench.get(self.ports.running) == 1
    }

    /// Clock cycles since the model was made.
    pub fn cycles(&self) -> u64 {
        self.bench.cycles()
    }
}
