//! Hardware: the core under Verilator as a measurement point.

use crate::bench::{Bench, build};
use crate::error::HardwareError;
use crate::stream::{Beat, Carries, Sink, Source, beats};
use deltaline_design::CoreKind;
use deltaline_hdl::byte;
use deltaline_hdl::emit::kind::Module;
use deltaline_hdl::emit::module::emit;
use deltaline_model::configuration::Configuration;
use deltaline_model::sketch::mixing::Mixing;
use deltaline_model::time::{AbsoluteTime, Timestamp};
use deltaline_model::wire::delimiter::Delimiter;
use deltaline_model::wire::frame::{Header, Role, Totals, frame_bytes};
use verilator_sys::{Effort, Model, Port, Toolchain};

/// Name of the emitted top module.
pub const TOP: &str = "deltaline";

/// The core of a configuration, built.
pub struct Hardware {
    model: Model,
    configuration: Configuration,
}

impl Hardware {
    /// Emits the [core](CoreKind::simulated) and builds it with Verilator; one built before is found again.
    ///
    /// # Errors
    ///
    /// [`HardwareError`] when the configuration has no core or Verilator is missing.
    pub fn build(toolchain: &Toolchain, configuration: &Configuration) -> Result<Self, HardwareError> {
        let verilog = match CoreKind::simulated(configuration) {
            CoreKind::Byte => byte::emit(configuration, TOP)?,
            _ => emit(configuration, Module::Core, TOP)?,
        };
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
        let model = build(toolchain, TOP, verilog, effort)?;
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
        let (source, sink) =
            (Source::of(&bench, "s_axis_")?, Sink::of(&bench, "m_axis_", Carries::ControlFrames)?);
        // Seven cycles a cell and four a word, in the byte core four a byte and four a word of its memories, with room for
        // back-pressure on every other beat.
        let patience = 20_000 + if source.beat_bytes() == 1 { 40 } else { 8 } * bytes as u64;
        let mut point = HardwarePoint {
            bench,
            ports,
            source,
            sink,
            role,
            configuration: self.configuration,
            next_delimiter: u32::MAX,
            frames_per_interval: frames,
            patience,
            frames_due: 0,
        };
        point.apply_quiet_inputs();
        Ok(point)
    }
}

/// Handles of the core's ports beside its streams.
struct Ports {
    interval_end: Port,
    interval_log2: Port,
    ptp_ts: Port,
    ptp_locked: Port,
    receiver: Port,
    running: Port,
    /// Those that the byte core lacks.
    wide: Option<WidePorts>,
}

/// Ports of the cores of 64 bits and more.
struct WidePorts {
    schedule: Port,
    next_prefixes: Port,
    from_interval: Port,
    schedule_legal: Port,
    schedule_pending: Port,
    schedule_mixing: Port,
    next_mixing: Port,
    next_mixing_id: Port,
    from_mixing: Port,
    mixing_pending: Port,
    ended: Port,
    refused: Port,
}

impl Ports {
    fn of(bench: &Bench) -> Result<Self, verilator_sys::Error> {
        Ok(Ports {
            interval_end: bench.port("interval_end")?,
            interval_log2: bench.port("interval_log2")?,
            ptp_ts: bench.port("ptp_ts")?,
            ptp_locked: bench.port("ptp_locked")?,
            receiver: bench.port("receiver")?,
            running: bench.port("running")?,
            wide: if bench.port("schedule").is_ok() { Some(WidePorts::of(bench)?) } else { None },
        })
    }
}

impl WidePorts {
    fn of(bench: &Bench) -> Result<Self, verilator_sys::Error> {
        Ok(WidePorts {
            schedule: bench.port("schedule")?,
            next_prefixes: bench.port("next_prefixes")?,
            from_interval: bench.port("from_interval")?,
            schedule_legal: bench.port("schedule_legal")?,
            schedule_pending: bench.port("schedule_pending")?,
            schedule_mixing: bench.port("schedule_mixing")?,
            next_mixing: bench.port("next_mixing")?,
            next_mixing_id: bench.port("next_mixing_id")?,
            from_mixing: bench.port("from_mixing")?,
            mixing_pending: bench.port("mixing_pending")?,
            ended: bench.port("ended")?,
            refused: bench.port("refused")?,
        })
    }
}

/// The core as one end of a measurement segment.
pub struct HardwarePoint {
    bench: Bench,
    ports: Ports,
    source: Source,
    sink: Sink,
    role: Role,
    configuration: Configuration,
    next_delimiter: u32,
    frames_per_interval: usize,
    patience: u64,
    frames_due: usize,
}

impl HardwarePoint {
    /// The beats of a frame, as wide as the core's.
    pub fn beats<'a>(
        &self,
        frame: &'a [u8],
        time: Timestamp,
        bad: bool,
    ) -> impl Iterator<Item = Beat> + use<'a> {
        beats(self.beat_bytes(), frame, time, bad)
    }

    /// Bytes of a beat.
    pub fn beat_bytes(&self) -> usize {
        self.source.beat_bytes()
    }

    fn apply_quiet_inputs(&mut self) {
        self.source.drive(&mut self.bench, None);
        self.source.set_ready(&mut self.bench, true);
        self.sink.set_ready(&mut self.bench, true);
        for port in [self.ports.interval_end, self.ports.interval_log2, self.ports.ptp_ts] {
            self.bench.set(port, 0);
        }
        self.bench.set(self.ports.ptp_locked, 1);
        self.bench.set(self.ports.receiver, self.role as u64);
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
        self.source.rest(&mut self.bench);
        self.bench.reset()?;
        self.sink.clear();
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
        if self.sink.take(&self.bench)? {
            self.frames_due = self.frames_due.saturating_sub(1);
        }
        self.bench.tick()?;
        Ok(())
    }

    /// Puts a beat on the stream for one cycle.
    ///
    /// # Errors
    ///
    /// The simulation has stopped.
    pub fn beat(&mut self, beat: Beat) -> Result<(), HardwareError> {
        self.source.offer(&mut self.bench, beat);
        self.tick()?;
        self.source.rest(&mut self.bench);
        Ok(())
    }

    /// Shows a beat for one cycle without accepting it.
    ///
    /// # Errors
    ///
    /// The simulation has stopped.
    pub fn stalled_beat(&mut self, beat: Beat) -> Result<(), HardwareError> {
        self.source.set_ready(&mut self.bench, false);
        self.beat(beat)?;
        self.source.set_ready(&mut self.bench, true);
        Ok(())
    }

    /// Records a frame whose first byte was seen at `time`, its beats without gaps.
    ///
    /// # Errors
    ///
    /// The simulation has stopped.
    pub fn observe(&mut self, frame: &[u8], time: Timestamp) -> Result<(), HardwareError> {
        for beat in self.beats(frame, time, false) {
            self.source.offer(&mut self.bench, beat);
            self.tick()?;
        }
        self.source.rest(&mut self.bench);
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

    /// Ends the interval by a delimiter in the stream, once the previous one has been drained. The first one carries the
    /// number before zero: behind it begins interval 0, at a known place.
    ///
    /// # Errors
    ///
    /// As [`HardwarePoint::end_interval`].
    pub fn delimit(&mut self) -> Result<(), HardwareError> {
        self.wait_for_frames()?;
        let delimiter = Delimiter::new(&self.configuration, self.next_delimiter).encode();
        self.observe(&delimiter, Timestamp(0))?;
        self.next_delimiter = self.next_delimiter.wrapping_add(1);
        self.expect_interval();
        Ok(())
    }

    /// Ends the interval by the pin, once the previous one has been drained; its control frames come out while the next
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

    /// Control frames of an interval.
    pub fn frames_per_interval(&self) -> usize {
        self.frames_per_interval
    }

    /// Whether all control frames that are due have come out.
    pub fn is_drained(&self) -> bool {
        self.frames_due == 0
    }

    /// The control frames that have come out since the last call.
    pub fn take_frames(&mut self) -> Vec<Vec<u8>> {
        self.sink.take_frames()
    }

    /// The interval_end input.
    pub fn set_interval_end(&mut self, end: bool) {
        self.bench.set(self.ports.interval_end, u64::from(end));
    }

    /// Whether m_axis accepts beats.
    pub fn set_ready(&mut self, ready: bool) {
        self.sink.set_ready(&mut self.bench, ready);
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

    /// Cycles from an interval's end to the next, at least; 0 for none.
    ///
    /// # Errors
    ///
    /// The core has no such port.
    pub fn set_least_interval(&mut self, cycles: u32) -> Result<(), HardwareError> {
        let port = self.bench.port("least_interval")?;
        self.bench.set(port, cycles.into());
        Ok(())
    }

    /// The identifier of the measurement point.
    pub fn set_id(&mut self, id: u32) {
        if let Ok(port) = self.bench.port("point_id") {
            self.bench.set(port, id.into());
        }
    }

    /// Packets and their IP octets of the running interval, as the pins show them.
    ///
    /// # Errors
    ///
    /// The core has no such pins.
    pub fn running_totals(&self) -> Result<[u64; 2], HardwareError> {
        Ok([self.bench.get(self.bench.port("packets")?), self.bench.get(self.bench.port("bytes")?)])
    }

    /// The absolute time, which the byte core does not have.
    pub fn set_absolute_time(&mut self, time: Option<AbsoluteTime>) {
        if let Ok(port) = self.bench.port("absolute_time") {
            self.bench.set(port, time.map_or(0, |time| (time.base as u64) << 48 | time.seconds));
        }
    }

    /// What is shown of prefix lengths, as control frames carry them, and whether they are to be scheduled.
    pub fn set_schedule(&mut self, now: bool, lengths: u64, from: u32) {
        let Some(ports) = &self.ports.wide else { return };
        self.bench.set(ports.schedule, u64::from(now));
        self.bench.set(ports.next_prefixes, lengths);
        self.bench.set(ports.from_interval, u64::from(from));
    }

    /// Whether the lengths that were shown in the last cycle may be scheduled.
    pub fn schedule_is_legal(&self) -> bool {
        self.ports.wide.as_ref().is_some_and(|ports| self.bench.get(ports.schedule_legal) == 1)
    }

    /// Whether lengths wait for their interval.
    pub fn schedule_is_pending(&self) -> bool {
        self.ports.wide.as_ref().is_some_and(|ports| self.bench.get(ports.schedule_pending) == 1)
    }

    /// A mixing is scheduled in the cycle to come, or none.
    pub fn set_mixing_strobe(&mut self, now: bool) {
        if let Some(ports) = &self.ports.wide {
            self.bench.set(ports.schedule_mixing, u64::from(now));
        }
    }

    /// What is shown of a mixing.
    pub fn set_mixing(&mut self, mixing: &Mixing, from: u32) {
        let Some(ports) = &self.ports.wide else { return };
        self.bench.set_wide(ports.next_mixing, crate::checks::place::bits(mixing));
        self.bench.set(ports.next_mixing_id, mixing.id().into());
        self.bench.set(ports.from_mixing, from.into());
    }

    /// Whether a mixing waits for its interval: what is shown of it must stay then.
    pub fn mixing_is_pending(&self) -> bool {
        self.ports.wide.as_ref().is_some_and(|ports| self.bench.get(ports.mixing_pending) == 1)
    }

    /// Whether an interval ends with the present cycle.
    pub fn ends(&self) -> bool {
        self.ports.wide.as_ref().is_some_and(|ports| self.bench.get(ports.ended) == 1)
    }

    /// Whether an end is refused in the present cycle.
    pub fn refuses(&self) -> bool {
        self.ports.wide.as_ref().is_some_and(|ports| self.bench.get(ports.refused) == 1)
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
