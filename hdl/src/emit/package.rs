//! Packages: a design's Verilog with all that goes along with it into a user's project.
//!
//! # Theory of operation
//!
//! [`package`] emits a design once and derives every other text from the design and from the emitted Verilog, so
//! that no table can disagree with the hardware. With the prefix `my_tap`:
//!
//! | file | for |
//! |------|-----|
//! | `my_tap.v` | the hardware |
//! | `my_tap_template.v` | an instance to copy; elaborates as it is |
//! | `my_tap_ram_macro.v` | a model of the memory macro, for a simulation with `DELTALINE_RAM_MACRO` |
//! | `my_tap_registered_ram_macro.v` | the counters' memory of ECP5 block RAMs with their output registers, if the design is for ECP5 |
//! | `my_tap.f` | file list |
//! | `my_tap.core` | FuseSoC, CAPI2 |
//! | `my_tap.vlt` | waivers for Verilator -Wall |
//! | `my_tap.sdc`, `.xdc` | the clock, for a synthesis of the core alone |
//! | `my_tap.lpf`, `.pcf` | the same for ECP5 and iCE40, if the family reaches the clock |
//! | `my_tap.toml` | the design with its seed, if that was drawn for the package; host programs need it |
//! | `my_tap.md` | parameters, ports, timing, what counts how, seams |
//! | `my_tap_frames.md` | the layout of control frames and delimiters, and how a packet's cells are computed |
//! | `my_tap_registers.md`, `.rdl` | the registers, if the design has them |
//! | `MANIFEST.sha256` | SHA-256 of all others, for `sha256sum -c` |
//!
//! The texts depend on the design, the prefix and the version alone.
//!
//! # Test plan
//!
//! Two packages are equal; the default one is `hdl/golden`, file by file; the manifest names every file with its
//! hash; the core file is YAML with the keys that FuseSoC asks for and names files that are there; every port is in
//! the table with a meaning, and connected in the template; constraints have the clock's period; a description with
//! quotes stays one YAML string; no constraint for a family that is too slow. `cargo xtask acceptance`: Icarus
//! elaborates the template and runs the core with the model of the macro, which gives unknown values wherever a
//! macro may; yosys accepts both ways; `sim/cosim/tests/lint.rs`: so does Verilator -Wall.

use crate::emit::design::{commit_cycle, emit};
use crate::emit::frames;
use crate::emit::header::table_name;
use crate::emit::ports::meaning;
use crate::emit::reader::{self, Module, Port, range};
use crate::emit::refusal::EmitError;
use deltaline_design::{CellKind, ClockSource, Design, Shell, Stream};
use deltaline_model::wire::frame::{BLOCK_CELLS, frame_bytes};
use deltaline_model::wire::shape::{Kind, Shape};
use sha2::{Digest, Sha256};
use std::fmt::Write;

/// Name of the file with the hashes of all others.
pub const MANIFEST: &str = "MANIFEST.sha256";

/// Ports that the template connects to a constant: a port that may stay idle.
const STRAPS: [(&str, &str); 3] = [("interval_end", "1'b0"), ("interval_log2", "6'd0"), ("receiver", "1'b0")];

/// Above these clocks in MHz no device of the family runs logic like this.
const ICE40_LIMIT: f64 = 135.0;
const ECP5_LIMIT: f64 = 200.0;

/// A file of a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name, without a folder.
    pub name: String,
    /// Its content.
    pub text: String,
}

/// All files of a design's package, [`MANIFEST`] last; all names are prefixed by `prefix`.
///
/// # Errors
///
/// As [`emit`].
pub fn package(design: &Design, prefix: &str) -> Result<Vec<File>, EmitError> {
    let verilog = emit(design, prefix)?;
    let has_registered_memories = verilog.contains("_registered_ram_macro #(");
    let parts = Parts {
        design,
        commit: commit_cycle(design.core()?, CellKind::of_configuration(design.configuration())),
        prefix,
        ports: reader::ports(&verilog, prefix),
        memories: memories(&verilog, prefix),
    };
    let mut files = vec![];
    let mut add = |ending: &str, text: String| files.push(File { name: format!("{prefix}{ending}"), text });
    add("_template.v", parts.template());
    add("_ram_macro.v", parts.ram_macro());
    add(".f", format!("{prefix}.v\n"));
    add(".core", parts.fusesoc());
    add(".vlt", parts.waivers());
    add(".sdc", parts.sdc());
    add(".xdc", parts.xdc());
    if design.clock_mhz() <= ECP5_LIMIT {
        add(".lpf", parts.lpf());
        if has_registered_memories {
            add("_registered_ram_macro.v", parts.registered_ram_macro());
        }
    }
    if design.clock_mhz() <= ICE40_LIMIT {
        add(".pcf", parts.pcf());
    }
    if design.seed_is_drawn() {
        let toml = design.to_toml().map_err(|error| EmitError::Design(format!("its file: {error}")))?;
        add(
            ".toml",
            parts.head("#", "The design, with the seed that was drawn. Both ends need this file.") + &toml,
        );
    }
    add("_frames.md", frames::page(design));
    if parts.has_registers() {
        add("_registers.md", include_str!("../../../docs/registers.md").into());
        add(".rdl", include_str!("../../registers/deltaline.rdl").into());
    }
    add(".md", parts.readme());
    add(".v", verilog);
    files.sort_by(|a, b| a.name.cmp(&b.name));
    let manifest = manifest(&files);
    files.push(manifest);
    Ok(files)
}

/// The hashes, one a line, as `sha256sum` writes them.
fn manifest(files: &[File]) -> File {
    let lines = files.iter().map(|file| format!("{}  {}\n", sha256(file.text.as_bytes()), file.name));
    File { name: MANIFEST.to_string(), text: lines.collect() }
}

/// SHA-256 in hexadecimal digits.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A module that the memory macro replaces.
struct Memory {
    module: String,
    width: usize,
    address: usize,
}

/// The memories of an emitted text: the modules with an instance of the macro.
fn memories(verilog: &str, prefix: &str) -> Vec<Memory> {
    let instance = format!("{prefix}_ram_macro #(");
    let memory = |module: Module| {
        let (_, parameters) = module.text.split_once(&instance)?;
        let value = |name: &str| {
            let (_, value) = parameters.split_once(&format!(".{name}("))?;
            value.split_once(')')?.0.parse().ok()
        };
        Some(Memory { module: module.name.to_string(), width: value("WIDTH")?, address: value("ADDRESS")? })
    };
    reader::modules(verilog).into_iter().filter_map(memory).collect()
}

/// What the texts are made of.
struct Parts<'a> {
    design: &'a Design,
    /// The cycle behind a frame's last beat in which its cell is written.
    commit: usize,
    prefix: &'a str,
    ports: Vec<Port<'a>>,
    memories: Vec<Memory>,
}

impl Parts<'_> {
    /// The first lines of a file whose comments start with `comment`.
    fn head(&self, comment: &str, what: &str) -> String {
        format!(
            "{comment} {what}\n{comment} Generated by Deltaline {} for the design '{}'.\n\
             {comment} SPDX-License-Identifier: MIT OR Apache-2.0\n",
            env!("CARGO_PKG_VERSION"),
            self.design.name()
        )
    }

    /// For the package's file alone: what an integrator's files hold is warned of as before.
    fn waivers(&self) -> String {
        let mut text = format!("`verilator_config\n{}", include_str!("../../lint/verilator.vlt"));
        if self.design.clock() == ClockSource::TimeOfDay {
            text += include_str!("../../lint/clock.vlt");
        }
        text.replace("-file \"*\"", &format!("-file \"*{}.v\"", self.prefix))
    }

    fn template(&self) -> String {
        let prefix = self.prefix;
        let mut text =
            self.head("//", &format!("An instance of {prefix} to copy; what is constant here is a strap."));
        let strap = |name: &str| STRAPS.iter().find(|(strap, _)| *strap == name).map(|(_, value)| *value);
        let declarations: Vec<String> = self
            .ports
            .iter()
            .filter(|port| strap(port.name).is_none())
            .map(|port| format!("    {} wire {}{}", port.direction(), range(port.width), port.name))
            .collect();
        let _ = writeln!(text, "module {prefix}_template(\n{}\n);", declarations.join(",\n"));
        let _ = writeln!(text, "    {prefix} point(");
        for (i, Port { name, .. }) in self.ports.iter().enumerate() {
            let comma = if i + 1 < self.ports.len() { "," } else { "" };
            let connection = format!(".{name}({}){comma}", strap(name).unwrap_or(name));
            let _ = writeln!(text, "        {connection:<34} // {}", meaning(name));
        }
        text + "    );\nendmodule\n"
    }

    fn ram_macro(&self) -> String {
        let prefix = self.prefix;
        let head = self.head(
            "//",
            "A model of the memory macro, for simulations with the define DELTALINE_RAM_MACRO.\n\
                 // For synthesis, put a module of this name with your macro in its place.",
        );
        format!(
            "{head}//
// One write port, one read port, one clock. A read takes one cycle. What a read gives that meets a write of the same
// word, and what the words hold before they are written, is anything: here, it is unknown.
module {prefix}_ram_macro #(
    parameter WIDTH = 36,
    parameter ADDRESS = 11
) (
    input wire clk,
    input wire [ADDRESS-1:0] read_address,
    output reg [WIDTH-1:0] read_data,
    input wire write_enable,
    input wire [ADDRESS-1:0] write_address,
    input wire [WIDTH-1:0] write_data
);
    reg [WIDTH-1:0] content [0:(1<<ADDRESS)-1];
    always @(posedge clk) begin
        if (write_enable && write_address == read_address) read_data <= {{WIDTH{{1'bx}}}};
        else read_data <= content[read_address];
        if (write_enable) content[write_address] <= write_data;
    end
endmodule
"
        )
    }

    fn registered_ram_macro(&self) -> String {
        let head = self.head(
            "//",
            "For the define DELTALINE_REGISTERED_RAM_MACRO: ECP5 block RAMs with their output registers.",
        );
        let text = include_str!("../../ecp5/registered_ram_macro.v");
        let body = text.find("//\n").map_or(text, |at| &text[at..]);
        head + &body.replace("deltaline_", &format!("{}_", self.prefix))
    }

    fn fusesoc(&self) -> String {
        let prefix = self.prefix;
        // A YAML string in double quotes has JSON's escapes.
        let description = self.design.description().replace('\\', "\\\\").replace('"', "\\\"");
        let filesets = format!(
            "
name: \"deltaline:generated:{prefix}:{version}\"
description: \"{description}\"

filesets:
  rtl:
    files:
      - {prefix}.v
    file_type: verilogSource-2005
  waivers:
    files:
      - {prefix}.vlt
    file_type: vlt
  template:
    files:
      - {prefix}_template.v
    file_type: verilogSource-2005
  vivado:
    files:
      - {prefix}.xdc
    file_type: xdc
  clock:
    files:
      - {prefix}.sdc
    file_type: SDC

",
            version = env!("CARGO_PKG_VERSION"),
        );
        ["CAPI=2:\n".to_string(), self.head("#", "FuseSoC core file."), filesets, self.fusesoc_targets()]
            .concat()
    }

    fn fusesoc_targets(&self) -> String {
        let prefix = self.prefix;
        format!(
            "targets:
  default:
    filesets:
      - rtl
      - \"tool_verilator? (waivers)\"
  lint:
    description: Verilator -Wall
    flow: lint
    flow_options:
      tool: verilator
      verilator_options:
        - -Wall
    filesets:
      - waivers
      - rtl
    toplevel: {prefix}
  elaborate:
    description: The template around the core, in Icarus Verilog
    flow: sim
    flow_options:
      tool: icarus
    filesets:
      - rtl
      - template
    toplevel: {prefix}_template
  synthesise:
    description: The core alone, at its clock; name the tool, as in fusesoc run --target synthesise --tool vivado
    filesets:
      - rtl
      - \"tool_vivado? (vivado)\"
      - \"!tool_vivado? (clock)\"
    toplevel: {prefix}
",
        )
    }

    /// The clock's period in ns, rounded down to whole picoseconds: never longer than it is.
    fn period(&self) -> String {
        format!("{:.3}", (1e6 / self.design.clock_mhz()).floor() / 1e3)
    }

    fn sdc(&self) -> String {
        let head = self.head(
            "#",
            "The clock, for a synthesis of the core alone. One clock domain: no false path and no multicycle path inside.",
        );
        format!("{head}create_clock -name clk -period {} [get_ports clk]\n", self.period())
    }

    fn xdc(&self) -> String {
        let head = self.head(
            "#",
            "The clock, for a synthesis of the core alone (read_xdc -mode out_of_context). Inside a design, the design's\n\
             # own constraint of the clock is all: one clock domain, no false path and no multicycle path inside.",
        );
        format!("{head}create_clock -name clk -period {} [get_ports clk]\n", self.period())
    }

    fn lpf(&self) -> String {
        let head = self.head(
            "#",
            "The clock, for nextpnr-ecp5. The speed that a device reaches is not promised by this.",
        );
        format!("{head}FREQUENCY PORT \"clk\" {} MHZ;\n", self.design.clock_mhz())
    }

    fn pcf(&self) -> String {
        let head = self.head(
            "#",
            "The clock, for nextpnr-ice40. The speed that a device reaches is not promised by this.",
        );
        format!("{head}set_frequency clk {}\n", self.design.clock_mhz())
    }

    fn readme(&self) -> String {
        [
            self.overview(),
            self.parameters(),
            self.port_table(),
            self.figures(),
            self.rules(),
            self.line_rate(),
            self.seams(),
        ]
        .concat()
    }

    /// What the package is, and its files.
    fn overview(&self) -> String {
        let Parts { design, prefix, .. } = self;
        let clock_mhz = design.clock_mhz();
        let constraints = [(ECP5_LIMIT, ".lpf"), (ICE40_LIMIT, ".pcf")];
        let families = constraints.iter().filter(|(limit, _)| clock_mhz <= *limit);
        format!(
            "# {prefix}

{description}.
The design `{design}` of Deltaline {version}; MIT OR Apache-2.0.

`{prefix}.v` is generated; do not edit it. `{prefix}_template.v` holds an instance to copy. `sha256sum -c {MANIFEST}`
tells whether anything here was changed.

| file | for |
|------|-----|
| `{prefix}.v` | the hardware: all modules, every name with the prefix `{prefix}` |
| `{prefix}_template.v` | an instance to copy; elaborates as it is |
| `{prefix}_ram_macro.v` | a model of the memory macro (see Seams); not part of the design |
| `{prefix}.f`, `{prefix}.core` | file list; FuseSoC core with the targets `lint`, `elaborate`, and `synthesise` with a `--tool` |
| `{prefix}.vlt` | waivers for Verilator -Wall, each with its reason |
| `{prefix}.sdc`, `{prefix}.xdc`{more} | the clock, for a synthesis of the core alone |
{registers}| `{prefix}_frames.md` | the layout of control frames{reference_packets} and delimiters, and how a packet's cells are computed |
{completed}",
            reference_packets = if design.references() { ", reference packets" } else { "" },
            registers = if self.has_registers() {
                format!("| `{prefix}_registers.md`, `{prefix}.rdl` | the registers, and their source in SystemRDL |\n")
            } else {
                String::new()
            },
            description = design.description(),
            design = design.name(),
            version = env!("CARGO_PKG_VERSION"),
            more = families.map(|(_, ending)| format!(", `{prefix}{ending}`")).collect::<String>(),
            completed = if design.seed_is_drawn() {
                format!("| `{prefix}.toml` | the design with the seed that was drawn; both ends and host programs need it |\n")
            } else {
                String::new()
            },
        )
    }

    fn parameters(&self) -> String {
        let design = self.design;
        let Stream { width, lanes, clock_mhz, rate_gbps } = design.stream();
        let configuration = design.configuration();
        let (rows, tables, table) =
            (configuration.rows(), configuration.shape().tables, table_name(configuration));
        format!(
            "
## Parameters

They are constants of the Verilog. Hash, seed, prefix lengths, rows and segment must be the same at both ends; the configuration
identifier in every control frame shows whether they are.

| parameter | value |
|-----------|-------|
| shell | {shell} |
| clock | {clock} |
| stream | {lanes} x {width} bits at {clock_mhz} MHz |
| link | {rate_gbps} Gbit/s |
| hash | {hash:?}, seed {seed} |
| {table}s | {tables}, prefix lengths {lengths} |
| rows | {rows} a {table} |
| segment | {segment} |
{classes}{synopsis}| configuration identifier | `{id:#018x}` |
",
            shell = design.shell(),
            clock = design.clock(),
            hash = configuration.hash(),
            seed = configuration.seed(),
            lengths = frames::lengths(configuration),
            segment = configuration.segment(),
            classes = match configuration.classifier().entries().len() {
                0 => String::new(),
                entries => format!(
                    "| classes | {classes}, told apart by {entries} entries; class c reports as segment {segment} + c |\n",
                    classes = configuration.classes(),
                    segment = configuration.segment()
                ),
            },
            synopsis = match configuration.shape() {
                Shape { kind: Kind::LDA, has_digests, .. } => {
                    format!("| digests | {} |\n", if has_digests { "32 bits in every cell" } else { "none" })
                }
                Shape { kind, cell_bits, .. } => format!(
                    "| synopsis | {}, cells of {cell_bits} bits |\n",
                    kind.name().unwrap_or_default()
                ),
            },
            id = configuration.id(),
        )
    }

    fn port_table(&self) -> String {
        let mut text = String::from(
            "
## Ports

| port | direction | width | meaning |
|------|-----------|-------|---------|
",
        );
        for port in &self.ports {
            let (name, direction, width) = (port.name, port.direction(), port.width);
            let _ = writeln!(text, "| {name} | {direction} | {width} | {} |", meaning(name));
        }
        text + "
All ports belong to the domain of `clk`. PTP relative-64 has nanoseconds in bits 63:16 and their fraction below.
"
    }

    /// How long everything takes.
    fn figures(&self) -> String {
        let configuration = self.design.configuration();
        let (shape, classes) = (configuration.shape(), configuration.classes());
        let frames = classes * usize::from(shape.fragments());
        let blocks = usize::from(shape.frame_cells()) / BLOCK_CELLS;
        let is_byte = self.design.stream().width == 8;
        let drain = self.design.drain_cycles();
        format!(
            "
## Timing

* One beat a cycle, frames of any length back to back; a frame is in its cell or record in cycle {commit} behind its last beat.
* `rst` for one cycle is enough. Then the counter memory is cleared in {clearing} cycles, and `running` rises.
* An interval is sent as {frames} control frames of {bytes} bytes, {pace}. With
  `m_axis_tready` always high, an end that comes {drain} cycles ({microseconds:.1} µs) behind the last one or later is never refused{wait}. One
  that comes earlier may be: while cells are still read it is refused, counted and flagged; while the last frame leaves it is not.
{tags}",
            pace = if is_byte {
                "whose bytes come 4 to 10 cycles apart: put a buffer\n  of whole frames, which is not in this package, before a MAC that cannot pause"
            } else {
                "each whole and without gaps"
            },
            tags = if self.design.authentication() {
                format!(
                    "\
* With a key delimiters must be {} cycles apart at least: the tags of those that may come are made meanwhile. One that comes
  while its tag is not ready counts as forged: it is ignored and counted in a control frame, and the point waits for it ever after,
  until two successive ones come whose tags are ready.
",
                    self.design.interval_cycles()
                )
            } else {
                String::new()
            },
            wait = if self.design.shell() == Shell::Inline { "; in line, control frames also wait for their turn" } else { "" },
            commit = self.commit,
            clearing = 2 * classes * configuration.rows() * usize::from(shape.tables).next_power_of_two(),
            bytes = frame_bytes(0, false) + blocks * usize::from(shape.cell_bits),
            microseconds = drain as f64 / self.design.clock_mhz(),
        )
    }

    fn has_registers(&self) -> bool {
        self.ports.iter().any(|port| port.name == "s_axil_awaddr")
    }

    /// What is not to be seen from the ports.
    fn rules(&self) -> String {
        let mut text = String::from(
            "
## What counts, and how

* A frame belongs to the interval in which its last beat is accepted; its timestamp is that of its first beat.
* `tkeep` has its ones together from bit 0 on, at least one; all of them, but on a frame's last beat.
* A frame that is marked bad counts as bad and as nothing else; it is no delimiter either.
* Delimiters and control frames in the stream count as unmeasured frames, this design's own too.
* A delimiter is recognised by its EtherType, version, role, segment and configuration, and by 64 bytes at least; more
  may follow. Addresses, key, reserved bytes and, without a key, the tag are not looked at. The check word is not either: the
  FCS, which the MAC checks, covers the same bytes.
* Only the delimiter that is due ends an interval: the one numbered behind the last, of the same boot epoch. Behind a gap the second of
  two successive ones ends it, with the flag `gap`. Others are ignored, and each control frame says how many of its interval.
  Behind a reset, without a key, any one is due.
* A delimiter that is due and comes too soon is refused: the running interval has a gap from there on, its number becomes the one behind,
  and the one behind is due. `delimiter_gaps` counts none, `refused_ends` one.
* The first interval behind a reset has number 0. If a delimiter of another number ends it, `delimiter_gaps` counts one, though none
  need be lost; if something else does, number 1 of boot epoch 0 is due: of another boot epoch the first delimiter is ignored, and the
  second ends an interval with the flag `gap`. Of a sender that counts its starts let a delimiter end the first interval.
* Two successive ones need not be neighbours in the stream: others that are ignored may lie between them, unless one of these can be the
  first of two itself; then that one counts as the first.
* The first of two successive ones must be ahead of the one that is due, or more than 64 behind it, or of another boot epoch:
  a sender may have started again. So without a key whoever sends two frames renumbers a point. With a key only delimiters with the right
  tag end intervals, and neither numbers nor boot epochs go back. A key is there from the first end behind its schedule on: before, delimiters
  are believed without. So end the first interval by `interval_end`, and then let delimiters in.
* `interval_end` is a level: in every cycle in which it is high, an end is asked for. Those that come too soon, during a drain or
  before the least interval is over, are refused; a control frame says how many of its interval, the register `refused_ends` how
  many since reset.
* An end by `interval_end`, by a register or by the clock is no delimiter: packets in flight may be cut apart. The
  interval and the next one have the flag `timed`, and the host refuses them. In line all of these insert a delimiter.
  One that comes in the cycle of the last beat of the delimiter that is due is that delimiter's end. A delimiter's own frame counts in the
  interval that it ends.
* In line, an end that is asked for too soon inserts no delimiter: a pin that is held high, or a clock's interval
  shorter than a drain, ends intervals as fast as they can be drained.
* The first interval behind a reset has the flag `gap`: it is void.
* Frames count from about `running` on, those whose last beat comes up to eight cycles earlier included. One that has
  begun before it is left out when it came behind the reset as the first.
* A reset cuts a control frame without `tlast`: reset what takes it, too.
* Where the macro `VERILATOR` is defined, wide designs compute the hash in another form, which Verilator is faster with: the same function of
  the same key, in the same cycle.
* Packages of two designs have modules of the same names: give each its own with `--name` where both are in one chip.
",
        );
        if self.design.references() {
            text += "\
* Reference packets of this segment and configuration are told of by `reference_there`, whatever `control.role` is, and before `running`, too; they count as
  unmeasured frames. One that is marked bad is not told of.
* In line they are put in by the last stage, whatever the role: the core does not see its own. The time in one is that of the cycle in which its first
  beat is taken from `m_axis` (`tvalid` and `tready`), while packets have that of their arrival: what waits for a reference packet is late for the path
  behind it. It follows the frame behind which it is due at once, before any that waits.
* `reference_spacing` is a port, so that whoever watches the load can follow it. It is looked at when the last beat of a frame enters the last stage, a cycle
  before that beat is on `m_axis`, earlier under stalls: one is due if it is not 0 and no more than the frames since the last one, or since it was 0.
  Delimiters and control frames count as frames. While nothing passes nothing is sent.
";
        }
        if self.design.stream().lanes > 1 {
            text += "* Frames that end in the same cycle count in the order of their lanes, lane 0 first; a delimiter must be the last of\n  them.\n";
        }
        if self.design.stream().width == 8 && self.has_registers() {
            text += "* Of the registers this core has those for the key: `boot_epoch`, `key_low`, `key_high`, `key_id`, `key_from` and\n                       `key_schedule`, which can be written, and `status`, which can be read and of which `key_pending` alone is not zero.\n                       Every other access is answered by SLVERR. What the others are for, the pins do.\n";
        }
        text
    }

    fn line_rate(&self) -> String {
        let stream = self.design.stream();
        let mut text = format!(
            "
## Line rate

The stream carries every frame length from 64 to 9018 bytes back to back; the tightest is {tightest} bytes, for which
{needed_clock:.3} MHz would be enough.

| frame with FCS | frames/s that the link brings | frames/s that the stream carries |
|----------------|-------------------------------|----------------------------------|
",
            tightest = stream.tightest(),
            needed_clock = stream.clock_needed(),
        );
        for length in [64, 1518, 9000] {
            let (needed, possible) = (stream.frames_needed(length), stream.frames_possible(length));
            let _ = writeln!(text, "| {length} | {needed:.0} | {possible:.0} |");
        }
        text
    }

    fn seams(&self) -> String {
        let prefix = self.prefix;
        let mut text = format!(
            "
## Seams

**Memories.** With the define `DELTALINE_RAM_MACRO` the modules below hold an instance of `{prefix}_ram_macro` instead of
an array: supply a module of that name around your macro; no generated file is edited. It has one write port, one read port
and one clock, and answers a read in the next cycle. What a read gives that meets a write of the same word, and what the
words hold before they are written, does not matter. `{prefix}_ram_macro.v` is a model with ports and parameters.

With the define `DELTALINE_REGISTERED_RAM_MACRO` the memories of the counters become instances of
`{prefix}_registered_ram_macro`, which has the register at their outputs inside: its data come one cycle later.
`{prefix}_registered_ram_macro.v`, if it is in this package, is made of ECP5's block RAMs, whose own output limits the clock there.

| module | WIDTH | words = 2^ADDRESS |
|--------|-------|-------------------|
"
        );
        for Memory { module, width, address } in &self.memories {
            let _ = writeln!(text, "| {module} | {width} | {} = 2^{address} |", 1u64 << address);
        }
        text + "
**Clocks.** There is no clock crossing inside: bring timestamps, `interval_end` and `ptp_locked` into the domain of `clk`
first.
"
    }
}
