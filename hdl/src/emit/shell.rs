//! Shells: a core with registers, a clock and its way to the stream, as one module that drops into a design.
//!
//! # Theory of operation
//!
//! The parts are RustHDL blocks, each emitted by itself; a shell is the wiring between them, written as Verilog
//! straight away, since it differs with width, lanes and clock. Every input of every part must be connected, or
//! emission fails.
//!
//! ```text
//! tap       s_axis (observed) -> core -> frame buffer -> m_axis
//! inline    s_axis -> insertion -> m_axis (observed -> core) ; core's control frames -> insertion
//! both      s_axil -> registers <-> core, events, clock
//! ```
//!
//! * **Tap**: watches a stream and drives nothing back. Control frames leave by `m_axis`, whole, without gaps.
//! * **Inline**: the stream passes through; delimiters and control frames are inserted between frames. The core
//!   watches the outgoing side, so that both ends of a segment cut at the same frames. Traffic is delayed by one
//!   cycle, is neither dropped nor reordered, and waits only while one frame is inserted; see [`crate::inline`].
//!   In the role of the receiver no delimiters are inserted.
//!
//! | clock | the design has | timestamps of frames |
//! |-------|----------------|----------------------|
//! | `ptp` | ports `ptp_ts`, `ptp_locked` | tuser\[64:1\], PTP relative-64 |
//! | `time-of-day` | ports `ptp_ts_96`, `ptp_locked` | tuser\[96:1\], PTP time of day; taps only, all four cycles later |
//! | `built-in` | the adjustable clock, driven by registers | of the beat that is accepted, from that clock; tuser has one bit |
//!
//! # Test plan
//!
//! `sim/cosim` `checks::shell`: a tap's control frames and registers against the model, through s_axil; a sender's
//! outgoing stream into a receiver: both ends' control frames against the model, for every width.

use crate::clock::adjustable::AdjustableClock;
use crate::clock::stream_time_of_day::StreamTimeOfDay;
use crate::clock::ticker::Ticker;
use crate::clock::time_of_day::TimeOfDay;
use crate::emit::verilog::{EmitError, Module, check_name, emit, emit_block, ports};
use crate::inline::frame_buffer::FrameBuffer;
use crate::inline::{self, Width};
use crate::registers::events::Events;
use crate::registers::{self, Emitted, Options};
use deltaline_model::configuration::Configuration;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::fmt::Write;

/// How a core meets the stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Shell {
    /// It watches and drives nothing back.
    Tap,
    /// The stream passes through it.
    Inline,
}

impl fmt::Display for Shell {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Shell::Tap => "tap",
            Shell::Inline => "inline",
        })
    }
}

/// Where time comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClockSource {
    /// From outside: PTP relative-64 with every frame and on a port.
    Ptp,
    /// From outside: PTP time of day (96 bits) with every frame and on a port.
    TimeOfDay,
    /// From the adjustable clock inside.
    BuiltIn,
}

impl fmt::Display for ClockSource {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            ClockSource::Ptp => "ptp",
            ClockSource::TimeOfDay => "time-of-day",
            ClockSource::BuiltIn => "built-in",
        })
    }
}

/// A core that a shell can be put around.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Core {
    /// The core.
    pub module: Module,
    /// Bytes of a beat.
    pub data_bytes: u32,
    /// Lanes.
    pub lanes: u32,
}

/// The Verilog of a core in its shell, without a header; all names are prefixed by `prefix`.
///
/// # Errors
///
/// [`EmitError`] as its parts, or when an inline shell is asked for around several lanes.
pub fn shell(
    configuration: &Configuration,
    core: Core,
    shell: Shell,
    clock: ClockSource,
    build: u32,
    prefix: &str,
) -> Result<String, EmitError> {
    check_name(prefix)?;
    let options = Options { clock: clock == ClockSource::BuiltIn, delimiters: true };
    let emitted = Emitted::new(configuration, core.data_bytes, core.lanes, build, options);
    let name = |part: &str| format!("{prefix}_{part}");
    let mut wiring = Wiring::new(prefix);
    wiring.port("input", 1, "clk");
    wiring.port("input", 1, "rst");
    wiring.part("core", emit(configuration, core.module, &name("core"))?);
    wiring.part("registers", registers::emit(&emitted, &name("registers"))?);
    wiring.part("events", emit_block(&mut Events::default(), &name("events"))?);

    // Time.
    let now = match clock {
        ClockSource::Ptp | ClockSource::TimeOfDay => {
            let now = if clock == ClockSource::Ptp {
                wiring.port("input", 64, "ptp_ts");
                "ptp_ts"
            } else {
                wiring.part("time_of_day", emit_block(&mut TimeOfDay::default(), &name("time_of_day"))?);
                wiring.input_of_part("time_of_day", "ptp_ts_96");
                "time_of_day_ptp_ts"
            };
            wiring.port("input", 1, "ptp_locked");
            wiring.connect("core_ptp_locked", "ptp_locked");
            wiring.connect("registers_clock_status_locked", "1'b0");
            wiring.connect("registers_clock_status_slewing", "1'b0");
            now
        }
        ClockSource::BuiltIn => {
            wiring.part("clock", emit_block(&mut AdjustableClock::default(), &name("clock"))?);
            for field in ["period", "rate", "offset", "value", "synchronised"] {
                wiring.connect(&format!("clock_{field}"), &format!("registers_clock_{field}"));
            }
            for command in ["set", "step", "slew"] {
                wiring.connect(&format!("clock_{command}"), &format!("registers_clock_command_{command}"));
            }
            wiring.connect("core_ptp_locked", "clock_locked");
            wiring.connect("registers_clock_status_locked", "clock_locked");
            wiring.connect("registers_clock_status_slewing", "clock_slewing");
            "clock_ptp_ts"
        }
    };
    wiring.connect("registers_timestamp", now);

    // The stream, and what ends intervals.
    wiring.port("input", 1, "interval_end");
    wiring.port("output", 1, "running");
    wiring.connect("running", "core_running");
    let interval_log2 =
        "(registers_control_interval_source == 2'd1) ? registers_control_interval_log2 : 6'd0";
    match shell {
        Shell::Tap => {
            wiring.part("buffer", emit_block(&mut FrameBuffer::<64, 8, 1, 8>::default(), &name("buffer"))?);
            for lane in 0..core.lanes {
                let stream = if core.lanes == 1 { "s_axis".to_string() } else { format!("s{lane}_axis") };
                if clock == ClockSource::TimeOfDay {
                    let part = CONVERTERS[lane as usize];
                    wiring.part(part, converter(core.data_bytes, &name(part))?);
                    wiring.converted(part, &stream);
                    continue;
                }
                for signal in ["tdata", "tkeep", "tvalid", "tready", "tlast"] {
                    wiring.input_of_part("core", &format!("{stream}_{signal}"));
                }
                wiring.timestamps("core", &stream, clock, now);
            }
            for signal in ["tdata", "tvalid", "tlast"] {
                wiring.connect(&format!("buffer_s_axis_{signal}"), &format!("core_m_axis_{signal}"));
            }
            wiring.connect("core_m_axis_tready", "buffer_s_axis_tready");
            for signal in ["tdata", "tkeep", "tvalid", "tlast"] {
                wiring.output_of_part("buffer", &format!("m_axis_{signal}"));
            }
            wiring.port("output", 1, "m_axis_tuser");
            wiring.connect("m_axis_tuser", "1'b0");
            wiring.input_of_part("buffer", "m_axis_tready");
            // Converted timestamps are late, and so is the end that belongs to them.
            let interval_end = match clock {
                ClockSource::TimeOfDay => "stream_0_m_interval_end",
                _ => "interval_end",
            };
            wiring.connect("core_interval_end", &format!("{interval_end} | registers_interval_end"));
            wiring.connect("core_ptp_ts", now);
            wiring.connect("core_interval_log2", interval_log2);
            wiring.connect("events_frame", "m_axis_tvalid & m_axis_tready & m_axis_tlast");
        }
        Shell::Inline => {
            if clock == ClockSource::TimeOfDay {
                return Err(EmitError::Clock { shell, clock });
            }
            let width = match (core.data_bytes, core.lanes) {
                (8, 1) => Width::Bits64,
                (32, 1) => Width::Bits256,
                (64, 1) => Width::Bits512,
                (bytes, lanes) => {
                    let (width, lanes) = (8 * bytes as usize, lanes as usize);
                    return Err(EmitError::Stream { shell, width, lanes });
                }
            };
            wiring.part("insertion", inline::emit(configuration, width, &name("insertion"))?);
            wiring.part("ticker", emit_block(&mut Ticker::default(), &name("ticker"))?);
            for signal in ["tdata", "tkeep", "tvalid", "tlast"] {
                wiring.input_of_part("insertion", &format!("s_axis_{signal}"));
                wiring.output_of_part("insertion", &format!("m_axis_{signal}"));
                wiring.connect(&format!("core_s_axis_{signal}"), &format!("m_axis_{signal}"));
            }
            wiring.timestamps("insertion", "s_axis", clock, now);
            wiring.output_of_part("insertion", "s_axis_tready");
            wiring.input_of_part("insertion", "m_axis_tready");
            wiring.output_of_part("insertion", "m_axis_tuser");
            wiring.connect("core_s_axis_tready", "m_axis_tready");
            wiring.connect("core_s_axis_tuser", "m_axis_tuser");
            for signal in ["tdata", "tvalid", "tlast"] {
                wiring.connect(&format!("insertion_control_axis_{signal}"), &format!("core_m_axis_{signal}"));
            }
            wiring.connect("core_m_axis_tready", "insertion_control_axis_tready");
            wiring.connect("ticker_ptp_ts", now);
            wiring.connect("ticker_interval_log2", interval_log2);
            // Before the core counts, or at the receiver, nothing is to be cut.
            wiring.connect(
                "insertion_cut",
                "(interval_end | registers_interval_end | ticker_tick) & core_running & ~registers_control_role",
            );
            wiring.connect("core_interval_end", "1'b0");
            wiring.connect("core_interval_log2", "6'd0");
            wiring.connect("core_ptp_ts", "64'd0");
            wiring.connect("events_frame", "core_m_axis_tvalid & core_m_axis_tready & core_m_axis_tlast");
        }
    }

    // Prefix lengths.
    for (wire, driver) in [
        ("core_schedule", "registers_prefixes_schedule"),
        ("core_next_prefixes", "registers_prefixes_next"),
        ("core_from_interval", "registers_prefixes_from"),
        ("registers_prefixes_next_allowed", "1'b1"),
        ("registers_prefixes_from_allowed", "1'b1"),
        ("registers_prefixes_schedule_allowed", "core_schedule_legal"),
        ("registers_status_prefixes_pending", "core_schedule_pending"),
    ] {
        // Where lengths are fixed nothing of all this is left.
        let fixed = match wire {
            "core_next_prefixes" => "64'd0",
            "core_from_interval" => "32'd0",
            _ => "1'b0",
        };
        wiring.connect(wire, if configuration.adaptive() { driver } else { fixed });
    }

    // Registers.
    wiring.connect("core_receiver", "registers_control_role");
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
    wiring.text()
}

/// Names of the converters of the lanes' timestamps.
const CONVERTERS: [&str; 4] = ["stream_0", "stream_1", "stream_2", "stream_3"];

/// What makes relative-64 of the times of day of a stream with beats of this many bytes.
fn converter(data_bytes: u32, name: &str) -> Result<String, EmitError> {
    match data_bytes {
        8 => emit_block(&mut StreamTimeOfDay::<64, 8>::default(), name),
        32 => emit_block(&mut StreamTimeOfDay::<256, 32>::default(), name),
        _ => emit_block(&mut StreamTimeOfDay::<512, 64>::default(), name),
    }
}

/// Whether an expression names a wire.
fn mentions(expression: &str, wire: &str) -> bool {
    expression.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|word| word == wire)
}

/// Name, direction and width of a part's ports.
type PartPorts = Vec<(String, &'static str, usize)>;

/// A module under construction: instances, and what drives which wire.
struct Wiring {
    prefix: String,
    ports: Vec<(&'static str, usize, String)>,
    parts: Vec<(&'static str, PartPorts)>,
    drivers: BTreeMap<String, String>,
    modules: String,
}

impl Wiring {
    fn new(prefix: &str) -> Self {
        Wiring {
            prefix: prefix.to_string(),
            ports: vec![],
            parts: vec![],
            drivers: BTreeMap::new(),
            modules: String::new(),
        }
    }

    fn port(&mut self, direction: &'static str, width: usize, name: &str) {
        self.ports.push((direction, width, name.to_string()));
    }

    /// Adds an instance; port p of part x is the wire x_p.
    fn part(&mut self, part: &'static str, verilog: String) {
        let ports = ports(&verilog, &format!("{}_{part}", self.prefix));
        self.parts
            .push((part, ports.into_iter().map(|port| (port.name, port.direction, port.width)).collect()));
        for name in ["clk", "rst"] {
            self.connect(&format!("{part}_{name}"), name);
        }
        // A part that is emitted with a header of its own needs none here.
        let start = verilog.find("\nmodule ").map_or(0, |start| start + 1);
        let verilog = ["ram_macro", "registered_ram_macro"].into_iter().fold(verilog, |verilog, name| {
            verilog.replace(&format!("{}_{part}_{name}", self.prefix), &format!("{}_{name}", self.prefix))
        });
        self.modules.push_str(if verilog.starts_with("module ") { &verilog } else { &verilog[start..] });
        self.modules.push('\n');
    }

    fn connect(&mut self, wire: &str, expression: &str) {
        self.drivers.insert(wire.to_string(), expression.to_string());
    }

    fn width(&self, part: &str, port: &str) -> usize {
        let ports = self.parts.iter().find(|(name, _)| *name == part).map(|(_, ports)| ports.as_slice());
        ports.unwrap_or(&[]).iter().find(|(name, ..)| name == port).map_or(0, |(_, _, width)| *width)
    }

    /// The part's input becomes an input of the shell, under the same name.
    fn input_of_part(&mut self, part: &str, port: &str) {
        self.port("input", self.width(part, port), port);
        self.connect(&format!("{part}_{port}"), port);
    }

    /// The part's output becomes an output of the shell, under the same name.
    fn output_of_part(&mut self, part: &str, port: &str) {
        self.port("output", self.width(part, port), port);
        self.connect(port, &format!("{part}_{port}"));
    }

    /// All ports of a part whose name starts so.
    fn bus(&mut self, part: &'static str, start: &str) {
        let found = self.parts.iter().find(|(name, _)| *name == part).map(|(_, ports)| ports.clone());
        for (name, direction, _) in
            found.unwrap_or_default().iter().filter(|(name, ..)| name.starts_with(start))
        {
            match *direction {
                "input" => self.input_of_part(part, name),
                _ => self.output_of_part(part, name),
            }
        }
    }

    /// The stream's tuser: as it comes, or the bad mark alone, with the time of the built-in clock put in.
    fn timestamps(&mut self, part: &str, stream: &str, clock: ClockSource, now: &str) {
        let port = format!("{stream}_tuser");
        match clock {
            ClockSource::Ptp | ClockSource::TimeOfDay => self.input_of_part(part, &port),
            ClockSource::BuiltIn => {
                self.port("input", 1, &port);
                self.connect(&format!("{part}_{port}"), &format!("{{{now}, {port}}}"));
            }
        }
    }

    /// The observed stream enters the core through its converter.
    fn converted(&mut self, part: &str, stream: &str) {
        for signal in ["tdata", "tkeep", "tvalid", "tready", "tlast", "tuser"] {
            let port = format!("{stream}_{signal}");
            self.port("input", self.width(part, &format!("s_axis_{signal}")), &port);
            self.connect(&format!("{part}_s_axis_{signal}"), &port);
        }
        for signal in ["tdata", "tkeep", "tvalid", "tlast", "tuser"] {
            self.connect(&format!("core_{stream}_{signal}"), &format!("{part}_m_axis_{signal}"));
        }
        self.connect(&format!("core_{stream}_tready"), "1'b1");
        self.connect(&format!("{part}_interval_end"), "interval_end");
    }

    fn text(mut self) -> Result<String, EmitError> {
        let range = |width: usize| if width == 1 { String::new() } else { format!("[{}:0] ", width - 1) };
        let names: Vec<&str> = self.ports.iter().map(|(_, _, name)| name.as_str()).collect();
        let mut text = format!("module {}({});\n\n    // Module arguments\n", self.prefix, names.join(","));
        for (direction, width, name) in &self.ports {
            let _ = writeln!(text, "    {direction} wire  {}{name};", range(*width));
        }
        for (part, ports) in &self.parts {
            text.push('\n');
            for (name, _, width) in ports {
                let _ = writeln!(text, "    wire {}{part}_{name};", range(*width));
            }
        }
        for (part, ports) in &self.parts {
            let _ = writeln!(text, "\n    {}_{part} {part}(", self.prefix);
            let connections: Vec<String> =
                ports.iter().map(|(name, ..)| format!("        .{name}({part}_{name})")).collect();
            let _ = writeln!(text, "{}\n    );", connections.join(",\n"));
        }
        text.push('\n');
        // What nobody reads, in a form that linters take for intended.
        let outputs = self.parts.iter().flat_map(|(part, ports)| {
            let outputs = ports.iter().filter(|(_, direction, _)| *direction == "output");
            outputs.map(move |(name, ..)| format!("{part}_{name}"))
        });
        let is_read = |wire: &str| self.drivers.values().any(|driver| mentions(driver, wire));
        let unread: Vec<String> = outputs.filter(|wire| !is_read(wire)).collect();
        let _ = writeln!(text, "    wire unused = &{{1'b0, {}}};", unread.join(", "));
        for (part, ports) in &self.parts {
            for (name, ..) in ports.iter().filter(|(_, direction, _)| *direction == "input") {
                let wire = format!("{part}_{name}");
                let Some(driver) = self.drivers.remove(&wire) else {
                    return Err(EmitError::Design(format!("nothing drives {wire}")));
                };
                let _ = writeln!(text, "    assign {wire} = {driver};");
            }
        }
        for (wire, driver) in &self.drivers {
            if !self.ports.iter().any(|(direction, _, name)| *direction == "output" && name == wire) {
                return Err(EmitError::Design(format!("{wire} is driven but is no input of a part")));
            }
            let _ = writeln!(text, "    assign {wire} = {driver};");
        }
        let _ = writeln!(text, "\nendmodule // {}\n\n{}", self.prefix, self.modules.trim_end());
        Ok(text)
    }
}
