//! Shells: a core with registers, a clock and its way to the stream, as one module that drops into a design.
//!
//! # Theory of operation
//!
//! The parts are RustHDL blocks, each emitted by itself; a shell is the [wiring](crate::emit::wiring) between them,
//! written as Verilog straight away, since it differs with width, lanes and clock. Every input of every part must be
//! connected, or emission fails.
//!
//! ```text
//! tap       s_axis (observed) -> core -> [authenticator] -> frame buffer -> m_axis
//! inline    s_axis -> insertion -> m_axis (observed -> core) ; core -> [authenticator] -> insertion
//! both      s_axil -> registers <-> core, events, clock, [keys -> authenticator, tags]
//!           stream -> [tag match] -> core <-> [tags]
//! ```
//!
//! * **Tap**: watches a stream and drives nothing back. Control frames leave by `m_axis`, whole, without gaps.
//! * **Inline**: the stream passes through; delimiters and control frames are inserted between frames. The core
//!   watches the outgoing side, so that both ends of a segment cut at the same frames. Traffic is delayed by one
//!   cycle, is neither dropped nor reordered, and waits only while one frame is inserted; see [`crate::inline`].
//!   In the role of the receiver no delimiters are inserted.
//!
//! With `references = true` a shell receives reference packets ([`crate::reference`]), and in line it sends them, too, behind all else: what
//! passes is delayed by one more cycle, and waits while one is sent.
//!
//! ```text
//! inline    s_axis -> insertion -> (observed -> core, reference receiver) -> reference sender -> m_axis
//! tap       s_axis (observed) -> core, reference receiver
//! ```
//!
//! | clock | the design has | timestamps of frames |
//! |-------|----------------|----------------------|
//! | `ptp` | ports `ptp_ts`, `ptp_locked` | tuser\[64:1\], PTP relative-64 |
//! | `time-of-day` | ports `ptp_ts_96`, `ptp_locked`; control frames have its seconds | tuser\[96:1\], PTP time of day; taps only, all four cycles later |
//! | `built-in` | the adjustable clock, driven by registers | of the beat that is accepted, from that clock; tuser has one bit |
//!
//! # Test plan
//!
//! `sim/cosim` `checks::shell`: a tap's control frames and registers against the model, through s_axil; a sender's
//! outgoing stream into a receiver: both ends' control frames against the model, for every width; with authentication
//! keys that change; reference packets behind every n-th frame, and their delays at the receiver.

use crate::authentication::delimiter_tags::DelimiterTags;
use crate::authentication::keys::Keys;
use crate::authentication::tag_match::TagMatch;
use crate::clock::adjustable::AdjustableClock;
use crate::clock::stream_time_of_day::StreamTimeOfDay;
use crate::clock::ticker::Ticker;
use crate::clock::time_of_day::TimeOfDay;
use crate::emit::block::{check_name, emit_block};
use crate::emit::kind::Module;
use crate::emit::module::emit;
use crate::emit::refusal::EmitError;
use crate::emit::wiring::Wiring;
use crate::inline::frame_buffer::FrameBuffer;
use crate::inline::pace::Pace;
use crate::inline::{self, Width};
use crate::reference;
use crate::registers::events::Events;
use crate::registers::{self, Emitted, Options};
use crate::report::authenticator::Authenticator;
use deltaline_design::{ClockSource, CoreKind, Design, Refusal, Shell};

/// The Verilog of a design's core in its shell, without a header; all names are prefixed by `prefix`.
///
/// # Errors
///
/// [`EmitError`] as its parts, or when the shell is not built around the core.
pub(crate) fn shell(design: &Design, core: CoreKind, prefix: &str) -> Result<String, EmitError> {
    check_name(prefix)?;
    let module = match core {
        CoreKind::Byte => return Err(stream_refusal(design).into()),
        CoreKind::Bits64 => Module::Core,
        CoreKind::Bits256 => Module::Core256,
        CoreKind::Bits512 => Module::Core512,
        CoreKind::TwoLanes512 => Module::TwoLanes512,
        CoreKind::FourLanes512 => Module::FourLanes512,
    };
    let configuration = design.configuration();
    let clock = design.clock();
    let options = Options {
        clock: clock == ClockSource::BuiltIn,
        delimiters: true,
        authentication: design.authentication(),
    };
    let (data_bytes, lanes) = (core.width() as u32 / 8, core.lanes() as u32);
    let emitted = Emitted::new(configuration, data_bytes, lanes, design.build(), options);
    let mut build = Build { design, core, prefix, wiring: Wiring::new(prefix) };
    build.wiring.port("input", 1, "clk");
    build.wiring.port("input", 1, "rst");
    build.wiring.part("core", emit(configuration, module, &build.name("core"))?);
    build.wiring.part("registers", registers::emit(&emitted, &build.name("registers"))?);
    build.wiring.part("events", emit_block(&mut Events::default(), &build.name("events"))?);
    let now = build.time()?;
    build.wiring.port("input", 1, "interval_end");
    build.wiring.port("output", 1, "running");
    build.wiring.connect("running", "core_running");
    match design.shell() {
        Shell::Tap => build.tap(now)?,
        Shell::Inline => build.inline(now)?,
    }
    build.reference_receiver()?;
    build.prefix_lengths();
    build.mixing();
    build.keys()?;
    build.delimiter_tags()?;
    build.registers();
    build.wiring.text()
}

fn stream_refusal(design: &Design) -> Refusal {
    let stream = design.stream();
    let (shell, clock) = (design.shell(), design.clock());
    Refusal::Stream { shell, clock, width: stream.width, lanes: stream.lanes }
}

/// When intervals end by the clock.
const INTERVAL_LOG2: &str =
    "(registers_control_interval_source == 2'd1) ? registers_control_interval_log2 : 6'd0";

/// When no delimiter is inserted: an end would be refused, or the delimiter's tag is not ready.
const BUSY_OR_UNSIGNED: &str = "core_draining | core_too_soon | (core_keyed & ~tags_ready_1)";

/// The absolute time of a clock that has none, and that of one of PTP time of day, whose seconds are those of TAI.
const NO_TIME: &str = "56'd0";
const TAI_SECONDS: &str = "{8'd1, ptp_ts_96[95:48]}";

/// Names of what compares the lanes' frames with the tags that are expected.
const MATCHES: [&str; 4] = ["match_0", "match_1", "match_2", "match_3"];

/// Names of the converters of the lanes' timestamps.
const CONVERTERS: [&str; 4] = ["stream_0", "stream_1", "stream_2", "stream_3"];

/// What puts reference packets into the stream.
const REFERENCE_SENDER: &str = "reference_sender";

/// A shell under construction.
struct Build<'a> {
    design: &'a Design,
    core: CoreKind,
    prefix: &'a str,
    wiring: Wiring,
}

impl Build<'_> {
    /// The module's name of a part.
    fn name(&self, part: &str) -> String {
        format!("{}_{part}", self.prefix)
    }

    /// The source of time; returns the wire that has it as relative-64.
    fn time(&mut self) -> Result<&'static str, EmitError> {
        let part = |part: &str| format!("{}_{part}", self.prefix);
        let (time_of_day, adjustable) = (part("time_of_day"), part("clock"));
        let wiring = &mut self.wiring;
        let now = match self.design.clock() {
            ClockSource::BuiltIn => {
                wiring.part("clock", emit_block(&mut AdjustableClock::default(), &adjustable)?);
                for field in ["period", "rate", "offset", "value", "synchronised"] {
                    wiring.connect(&format!("clock_{field}"), &format!("registers_clock_{field}"));
                }
                for command in ["set", "step", "slew"] {
                    let strobe = format!("registers_clock_command_{command}");
                    wiring.connect(&format!("clock_{command}"), &strobe);
                }
                wiring.connect("core_ptp_locked", "clock_locked");
                wiring.connect("core_absolute_time", NO_TIME);
                wiring.connect("registers_clock_status_locked", "clock_locked");
                wiring.connect("registers_clock_status_slewing", "clock_slewing");
                wiring.connect("registers_timestamp", "clock_ptp_ts");
                return Ok("clock_ptp_ts");
            }
            ClockSource::Ptp => {
                wiring.port("input", 64, "ptp_ts");
                wiring.connect("core_absolute_time", NO_TIME);
                "ptp_ts"
            }
            ClockSource::TimeOfDay => {
                wiring.part("time_of_day", emit_block(&mut TimeOfDay::default(), &time_of_day)?);
                wiring.input_of_part("time_of_day", "ptp_ts_96");
                wiring.connect("core_absolute_time", TAI_SECONDS);
                "time_of_day_ptp_ts"
            }
        };
        wiring.port("input", 1, "ptp_locked");
        wiring.connect("core_ptp_locked", "ptp_locked");
        wiring.connect("registers_clock_status_locked", "1'b0");
        wiring.connect("registers_clock_status_slewing", "1'b0");
        wiring.connect("registers_timestamp", now);
        Ok(now)
    }

    /// The core watches the stream; its control frames leave by a buffer.
    fn tap(&mut self, now: &str) -> Result<(), EmitError> {
        let buffer = emit_block(&mut FrameBuffer::<64, 8, 1, 8>::default(), &self.name("buffer"))?;
        self.wiring.part("buffer", buffer);
        for lane in 0..self.core.lanes() {
            self.observed(lane, now)?;
        }
        self.control_frames("buffer_s_axis");
        let wiring = &mut self.wiring;
        for signal in ["tdata", "tkeep", "tvalid", "tlast"] {
            wiring.output_of_part("buffer", &format!("m_axis_{signal}"));
        }
        wiring.port("output", 1, "m_axis_tuser");
        wiring.connect("m_axis_tuser", "1'b0");
        wiring.input_of_part("buffer", "m_axis_tready");
        // Converted timestamps are late, and so is the end that belongs to them.
        let interval_end = match self.design.clock() {
            ClockSource::TimeOfDay => "stream_0_m_interval_end",
            ClockSource::Ptp | ClockSource::BuiltIn => "interval_end",
        };
        wiring.connect("core_interval_end", &format!("{interval_end} | registers_interval_end"));
        wiring.connect("core_ptp_ts", now);
        wiring.connect("core_interval_log2", INTERVAL_LOG2);
        wiring.connect("events_frame", "m_axis_tvalid & m_axis_tready & m_axis_tlast");
        Ok(())
    }

    /// A lane of a tap's stream.
    fn observed(&mut self, lane: usize, now: &str) -> Result<(), EmitError> {
        let stream = if self.core.lanes() == 1 { "s_axis".to_string() } else { format!("s{lane}_axis") };
        if self.design.clock() == ClockSource::TimeOfDay {
            let part = CONVERTERS[lane];
            self.wiring.part(part, converter(self.core, &self.name(part))?);
            self.converted(part, &stream);
            return Ok(());
        }
        for signal in ["tdata", "tkeep", "tvalid", "tready", "tlast"] {
            self.wiring.input_of_part("core", &format!("{stream}_{signal}"));
        }
        self.timestamps("core", &stream, now);
        Ok(())
    }

    /// The width of a stream of one lane.
    fn width(&self) -> Result<Width, EmitError> {
        match self.core {
            CoreKind::Bits64 => Ok(Width::Bits64),
            CoreKind::Bits256 => Ok(Width::Bits256),
            CoreKind::Bits512 => Ok(Width::Bits512),
            CoreKind::Byte | CoreKind::TwoLanes512 | CoreKind::FourLanes512 => {
                Err(stream_refusal(self.design).into())
            }
        }
    }

    /// The stream passes through the insertion, and the core watches what leaves.
    fn inline(&mut self, now: &str) -> Result<(), EmitError> {
        let width = self.width()?;
        let insertion = inline::emit(self.design.configuration(), width, &self.name("insertion"))?;
        self.wiring.part("insertion", insertion);
        self.wiring.part("pace", emit_block(&mut Pace::default(), &self.name("pace"))?);
        self.wiring.part("ticker", emit_block(&mut Ticker::default(), &self.name("ticker"))?);
        // What leaves the insertion leaves the shell, unless reference packets are put in between.
        let last = if self.design.references() { REFERENCE_SENDER } else { "insertion" };
        if self.design.references() {
            self.reference_sender(now)?;
        }
        for signal in ["tdata", "tkeep", "tvalid", "tlast"] {
            self.wiring.input_of_part("insertion", &format!("s_axis_{signal}"));
            self.wiring.output_of_part(last, &format!("m_axis_{signal}"));
        }
        self.timestamps("insertion", "s_axis", now);
        self.control_frames("insertion_control_axis");
        let is_signed = self.design.authentication();
        let wiring = &mut self.wiring;
        wiring.output_of_part("insertion", "s_axis_tready");
        wiring.input_of_part(last, "m_axis_tready");
        wiring.output_of_part(last, "m_axis_tuser");
        for signal in ["tdata", "tkeep", "tvalid", "tready", "tlast", "tuser"] {
            let observed = if last == REFERENCE_SENDER { "insertion_m_axis" } else { "m_axis" };
            wiring.connect(&format!("core_s_axis_{signal}"), &format!("{observed}_{signal}"));
        }
        wiring.connect("ticker_ptp_ts", now);
        wiring.connect("ticker_interval_log2", INTERVAL_LOG2);
        // Before the core counts, or at the receiver, nothing is to be cut.
        wiring.connect(
            "pace_asked",
            "(interval_end | registers_interval_end | ticker_tick) & core_running & ~registers_control_role",
        );
        wiring
            .connect("pace_busy", if is_signed { BUSY_OR_UNSIGNED } else { "core_draining | core_too_soon" });
        // A delimiter without a key has no tag.
        for (wire, driver, without) in [
            ("insertion_boot_epoch", "keys_epoch", "32'd0"),
            ("insertion_key_id", "core_keyed ? tags_tag_key_1 : 16'd0", "16'd0"),
            ("insertion_tag", "core_keyed ? tags_tag_1 : 128'd0", "128'd0"),
        ] {
            wiring.connect(wire, if is_signed { driver } else { without });
        }
        wiring.connect("pace_met", "core_delimiter");
        wiring.connect("insertion_cut", "pace_cut");
        wiring.connect("core_interval_end", "1'b0");
        wiring.connect("core_interval_log2", "6'd0");
        wiring.connect("core_ptp_ts", "64'd0");
        wiring.connect("events_frame", "core_m_axis_tvalid & core_m_axis_tready & core_m_axis_tlast");
        Ok(())
    }

    /// Reference packets join what leaves, with the time at which they do.
    fn reference_sender(&mut self, now: &str) -> Result<(), EmitError> {
        let part = REFERENCE_SENDER;
        let verilog = reference::emit_sender(self.design.configuration(), self.width()?, &self.name(part))?;
        let wiring = &mut self.wiring;
        wiring.part(part, verilog);
        for signal in ["tdata", "tkeep", "tvalid", "tlast", "tuser"] {
            wiring.connect(&format!("{part}_s_axis_{signal}"), &format!("insertion_m_axis_{signal}"));
        }
        wiring.connect("insertion_m_axis_tready", &format!("{part}_s_axis_tready"));
        wiring.connect(&format!("{part}_ptp_ts"), now);
        wiring.port("input", 32, "reference_spacing");
        wiring.connect(&format!("{part}_spacing"), "reference_spacing");
        wiring.port("output", 32, "reference_next");
        wiring.connect("reference_next", &format!("{part}_number"));
        Ok(())
    }

    /// Reference packets are looked for in what the core observes.
    fn reference_receiver(&mut self) -> Result<(), EmitError> {
        if !self.design.references() {
            return Ok(());
        }
        let part = "reference_receiver";
        let verilog = reference::emit_receiver(self.design.configuration(), self.width()?, &self.name(part))?;
        let wiring = &mut self.wiring;
        wiring.part(part, verilog);
        for signal in ["tdata", "tkeep", "tvalid", "tready", "tlast", "tuser"] {
            wiring.connect(&format!("{part}_s_axis_{signal}"), &format!("core_s_axis_{signal}"));
        }
        for (port, width) in [("there", 1), ("number", 32), ("delay", 64)] {
            wiring.port("output", width, &format!("reference_{port}"));
            wiring.connect(&format!("reference_{port}"), &format!("{part}_{port}"));
        }
        Ok(())
    }

    /// Control frames go from the core to a stream, through the authenticator if there is one.
    fn control_frames(&mut self, to: &str) {
        let hops: &[(&str, &str)] = match self.design.authentication() {
            true => &[("core_m_axis", "authenticator_s_axis"), ("authenticator_m_axis", to)],
            false => &[("core_m_axis", to)],
        };
        for (from, to) in hops {
            for signal in ["tdata", "tvalid", "tlast"] {
                self.wiring.connect(&format!("{to}_{signal}"), &format!("{from}_{signal}"));
            }
            self.wiring.connect(&format!("{from}_tready"), &format!("{to}_tready"));
        }
    }

    /// The tags of delimiters, known before they come, and what compares each lane's frames with them.
    fn delimiter_tags(&mut self) -> Result<(), EmitError> {
        let is_there = self.design.authentication();
        let configuration = self.design.configuration();
        // The most urgent first.
        let (tags, next) = match self.design.shell() {
            Shell::Tap => (emit_block(&mut DelimiterTags::<2>::new(configuration), &self.name("tags")), 1),
            Shell::Inline => (emit_block(&mut DelimiterTags::<3>::new(configuration), &self.name("tags")), 2),
        };
        if is_there {
            self.wiring.part("tags", tags?);
            let mut connect = |wire: &str, driver: &str| self.wiring.connect(&format!("tags_{wire}"), driver);
            connect("key", "keys_key");
            connect("key_id", "keys_key_id");
            connect("renew", "keys_renews");
            connect("pending", "keys_pending");
            connect("next_key", "{registers_key_high, registers_key_low}");
            connect("next_id", "registers_key_id");
            connect("from", "registers_key_from");
            for (wire, driver) in [("number", "due"), ("epoch", "due_epoch"), ("changes", "due_changes")] {
                connect(&format!("{wire}_0"), &format!("core_{driver}"));
            }
            if next == 2 {
                connect("number_1", "insertion_interval");
                connect("epoch_1", "keys_epoch");
                connect("changes_1", "insertion_sent");
            }
            for (wire, driver) in [("number", "number"), ("epoch", "epoch"), ("changes", "changes")] {
                connect(&format!("{wire}_{next}"), &format!("core_next_{driver}"));
            }
        }
        for (lane, part) in MATCHES.into_iter().enumerate().take(self.core.lanes()) {
            if is_there {
                self.wiring.part(part, tag_match(self.core, &self.name(part))?);
                let stream =
                    if self.core.lanes() == 1 { "s_axis".to_string() } else { format!("s{lane}_axis") };
                for signal in ["tdata", "tvalid", "tready", "tlast"] {
                    self.wiring.connect(&format!("{part}_{signal}"), &format!("core_{stream}_{signal}"));
                }
                for (which, tag) in [("due", 0), ("next", next)] {
                    self.wiring.connect(&format!("{part}_{which}_key"), &format!("tags_tag_key_{tag}"));
                    self.wiring.connect(&format!("{part}_{which}_tag"), &format!("tags_tag_{tag}"));
                    self.wiring.connect(&format!("{part}_{which}_ready"), &format!("tags_ready_{tag}"));
                }
            }
            for which in ["due", "next"] {
                let signed = format!("{part}_{which}_signed");
                let driver = if is_there { &signed } else { "1'b0" };
                self.wiring.connect(&format!("core_{which}_signed_{lane}"), driver);
            }
        }
        let next_ready = format!("tags_ready_{next}");
        for (wire, driver) in
            [("keyed", "keys_key_id != 16'd0"), ("due_ready", "tags_ready_0"), ("next_ready", &next_ready)]
        {
            self.wiring.connect(&format!("core_{wire}"), if is_there { driver } else { "1'b0" });
        }
        Ok(())
    }

    /// Authentication, its key from the registers; in a design without, nothing of that is left.
    fn keys(&mut self) -> Result<(), EmitError> {
        let is_there = self.design.authentication();
        if is_there {
            let mut authenticator = Authenticator::new(self.design.configuration());
            let authenticator = emit_block(&mut authenticator, &self.name("authenticator"))?;
            self.wiring.part("authenticator", authenticator);
            self.wiring.part("keys", emit_block(&mut Keys::default(), &self.name("keys"))?);
            for (wire, driver) in [
                ("keys_load", "registers_key_schedule"),
                ("keys_next_key", "{registers_key_high, registers_key_low}"),
                ("keys_next_id", "registers_key_id"),
                ("keys_from", "registers_key_from"),
                ("keys_boot_epoch", "registers_boot_epoch"),
                ("keys_ends", "core_ended"),
                ("keys_running_number", "core_interval"),
                ("authenticator_key", "keys_key"),
                ("authenticator_key_id", "keys_key_id"),
                ("authenticator_boot_epoch", "keys_epoch"),
            ] {
                self.wiring.connect(wire, driver);
            }
        }
        for (wire, driver) in [
            ("registers_boot_epoch_allowed", "1'b1"),
            ("registers_key_low_allowed", "~keys_pending"),
            ("registers_key_high_allowed", "~keys_pending"),
            ("registers_key_id_allowed", "~keys_pending"),
            ("registers_key_from_allowed", "1'b1"),
            ("registers_key_schedule_allowed", "1'b1"),
            ("registers_status_key_pending", "keys_pending"),
        ] {
            self.wiring.connect(wire, if is_there { driver } else { "1'b0" });
        }
        Ok(())
    }

    /// Prefix lengths come from the registers; where they are fixed nothing of that is left.
    fn prefix_lengths(&mut self) {
        let adaptive = self.design.configuration().adaptive();
        for (wire, driver, fixed) in [
            ("core_schedule", "registers_prefixes_schedule", "1'b0"),
            ("core_next_prefixes", "registers_prefixes_next", "64'd0"),
            ("core_from_interval", "registers_prefixes_from", "32'd0"),
            ("registers_prefixes_next_allowed", "1'b1", "1'b0"),
            ("registers_prefixes_from_allowed", "1'b1", "1'b0"),
            ("registers_prefixes_schedule_allowed", "core_schedule_legal", "1'b0"),
            ("registers_status_prefixes_pending", "core_schedule_pending", "1'b0"),
        ] {
            self.wiring.connect(wire, if adaptive { driver } else { fixed });
        }
    }

    /// Mixings come from the registers; where there is none nothing of that is left.
    fn mixing(&mut self) {
        let is_there = self.design.configuration().has_mixing();
        for (wire, driver, absent) in [
            ("core_schedule_mixing", "registers_mixing_schedule", "1'b0"),
            ("core_next_mixing", "{registers_mixing_offset, registers_mixing_matrix}", "95'd0"),
            ("core_next_mixing_id", "registers_mixing_id", "32'd0"),
            ("core_from_mixing", "registers_mixing_from", "32'd0"),
            ("registers_mixing_matrix_allowed", "~core_mixing_pending", "1'b0"),
            ("registers_mixing_offset_allowed", "~core_mixing_pending", "1'b0"),
            ("registers_mixing_id_allowed", "~core_mixing_pending", "1'b0"),
            ("registers_mixing_from_allowed", "1'b1", "1'b0"),
            ("registers_mixing_schedule_allowed", "1'b1", "1'b0"),
            ("registers_status_mixing_pending", "core_mixing_pending", "1'b0"),
        ] {
            self.wiring.connect(wire, if is_there { driver } else { absent });
        }
    }

    /// What the registers show, and their bus.
    fn registers(&mut self) {
        let wiring = &mut self.wiring;
        wiring.connect("core_receiver", "registers_control_role");
        wiring.connect("core_point_id", "registers_point_id");
        wiring.connect("core_least_interval", "registers_least_interval");
        for signal in ["ended", "refused", "gap", "delimiter"] {
            wiring.connect(&format!("events_{signal}"), &format!("core_{signal}"));
        }
        for signal in ["interval", "packets", "bytes", "unmeasured", "bad", "unmatched"] {
            wiring.connect(&format!("registers_{signal}"), &format!("core_{signal}"));
        }
        for signal in ["refused_ends", "control_frames", "delimiters", "delimiter_gaps"] {
            wiring.connect(&format!("registers_{signal}"), &format!("events_{signal}"));
        }
        wiring.connect("registers_status_running", "core_running");
        wiring.connect("registers_status_ptp_locked", "core_ptp_locked");
        wiring.connect("registers_status_drain_busy", "core_draining");
        wiring.connect("registers_status_end_refused", "events_end_refused");
        wiring.bus("registers", "s_axil_");
    }

    /// The stream's tuser: as it comes, or the bad mark alone, with the time of the built-in clock put in.
    fn timestamps(&mut self, part: &str, stream: &str, now: &str) {
        let port = format!("{stream}_tuser");
        match self.design.clock() {
            ClockSource::Ptp | ClockSource::TimeOfDay => self.wiring.input_of_part(part, &port),
            ClockSource::BuiltIn => {
                self.wiring.port("input", 1, &port);
                self.wiring.connect(&format!("{part}_{port}"), &format!("{{{now}, {port}}}"));
            }
        }
    }

    /// The observed stream enters the core through its converter.
    fn converted(&mut self, part: &str, stream: &str) {
        let wiring = &mut self.wiring;
        for signal in ["tdata", "tkeep", "tvalid", "tready", "tlast", "tuser"] {
            let port = format!("{stream}_{signal}");
            wiring.port("input", wiring.width(part, &format!("s_axis_{signal}")), &port);
            wiring.connect(&format!("{part}_s_axis_{signal}"), &port);
        }
        for signal in ["tdata", "tkeep", "tvalid", "tlast", "tuser"] {
            wiring.connect(&format!("core_{stream}_{signal}"), &format!("{part}_m_axis_{signal}"));
        }
        wiring.connect(&format!("core_{stream}_tready"), "1'b1");
        wiring.connect(&format!("{part}_interval_end"), "interval_end");
    }
}

/// What compares a core's frames with tags, as late as the core finds delimiters.
fn tag_match(core: CoreKind, name: &str) -> Result<String, EmitError> {
    match core.width() {
        64 => emit_block(&mut TagMatch::<64, 3>::default(), name),
        256 => emit_block(&mut TagMatch::<256, 2>::default(), name),
        _ => emit_block(&mut TagMatch::<512, 2>::default(), name),
    }
}

/// What makes relative-64 of the times of day of a core's stream.
fn converter(core: CoreKind, name: &str) -> Result<String, EmitError> {
    match core.width() {
        64 => emit_block(&mut StreamTimeOfDay::<64, 8>::default(), name),
        256 => emit_block(&mut StreamTimeOfDay::<256, 32>::default(), name),
        _ => emit_block(&mut StreamTimeOfDay::<512, 64>::default(), name),
    }
}
