//! Emission: a configuration's core, or one of its modules, as a Verilog file that drops into a design.
//!
//! RustHDL writes a top module called `top` and one module for each instance, named by its path with `$` in
//! between. Emission makes of that: a chosen name prefix, plain identifiers (`$` becomes `_`, checked to stay
//! unique), a header with licence, configuration and port table. The text depends on the configuration and the
//! name alone.
//!
//! # Test plan
//!
//! Golden file of the default configuration; two emissions are equal; no `$` is left;
//! Verilator `-Wall` under the waivers, Icarus and yosys accept it (`cargo xtask test`).

use crate::emit::design::BUILT;
use crate::emit::shell::{ClockSource, Shell};
use crate::identity::Identity;
use crate::identity::wide::{Identity256, Identity512};
use crate::leaves::{Classifier, HashMatrix, KeyVector};
use crate::point::core::Core;
use crate::point::wide_core::{Core256, Core512};
use crate::sketch::digest::Digest;
use crate::sketch::lda::Lda;
use crate::sketch::sampler::Sampler;
use deltaline_model::configuration::{Configuration, MIN_ROWS};
use rust_hdl_core::prelude::*;
use std::collections::BTreeMap;
use std::fmt::Write;

/// Most rows of a bank that hardware is built for.
pub const MAX_ROWS: usize = 1024;
/// Most banks that hardware is built for.
pub const MAX_BANKS: usize = 4;

/// What can be emitted on its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Module {
    /// The whole core for beats of 64 bits.
    Core,
    /// The whole core for beats of 256 bits.
    Core256,
    /// The whole core for beats of 512 bits.
    Core512,
    /// The whole core for two lanes with beats of 512 bits.
    TwoLanes512,
    /// The whole core for four lanes with beats of 512 bits.
    FourLanes512,
    /// The identity stage for beats of 64 bits: stream in, keys out.
    Identity,
    /// The identity stage for beats of 256 bits.
    Identity256,
    /// The identity stage for beats of 512 bits.
    Identity512,
    /// The hash stage.
    Hash,
    /// The digest stage.
    Digest,
    /// The sampler.
    Sampler,
    /// The classifier.
    Classifier,
    /// Banks of cells in two copies.
    Lda,
}

/// Why a configuration or a name is not emitted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EmitError {
    /// The hardware is not built for these sizes.
    #[error(
        "no core for {rows} rows and {banks} banks: the hardware has {MIN_ROWS} to {MAX_ROWS} rows and at most {MAX_BANKS} banks"
    )]
    Unsupported {
        /// Rows of each bank.
        rows: usize,
        /// Number of banks.
        banks: usize,
    },
    /// The wide hardware is not built for these sizes.
    #[error(
        "no wide core for {rows} rows and {banks} banks: it has 16, 256 or 1024 rows and at most 4 banks"
    )]
    UnsupportedWide {
        /// Rows of each bank.
        rows: usize,
        /// Number of banks.
        banks: usize,
    },
    /// Hardware with several classes is not built for these sizes.
    #[error(
        "no core for {classes} classes with {rows} rows and {banks} banks: several classes are built with 16, 256 or 1024 rows for \
         one lane of 64 bits, and with 16 or 1024 rows and at most 2 banks for one lane of 256 or 512 bits"
    )]
    UnsupportedClasses {
        /// Number of classes.
        classes: usize,
        /// Rows of each bank.
        rows: usize,
        /// Number of banks.
        banks: usize,
    },
    /// The hardware with digests is not built for these sizes.
    #[error(
        "no core with digests for {rows} rows and {banks} banks: for 64 bits it has 16, 256 or 1024 rows and at most \
         4 banks, wider ones 16 or 1024 rows and 3 or 4 banks; all have one class"
    )]
    UnsupportedDigest {
        /// Rows of each bank.
        rows: usize,
        /// Number of banks.
        banks: usize,
    },
    /// The byte core has no classifier.
    #[error(
        "the core of 8 bits has no classifier: leave the entries out, or use a stream of 64 bits or more"
    )]
    NoClassifier,
    /// The smallest core has no digests.
    #[error(
        "no 8-bit core with digests: its time a packet is used up; leave digest out, or give a stream of 64 bits"
    )]
    ByteDigest,
    /// The hardware is not built for this stream.
    #[error("no {shell} core for {lanes} lanes of {width} bits yet: built are {BUILT}")]
    Stream {
        /// How the core meets the stream.
        shell: Shell,
        /// Width of a lane in bits.
        width: usize,
        /// Number of lanes.
        lanes: usize,
    },
    /// The core of 8 bits cannot change its prefix lengths.
    #[error(
        "no adaptive core of 8 bits: its prefix lengths are fixed; set adaptive to false, or give a wider stream"
    )]
    Adaptive,
    /// The shell is not built for this clock.
    #[error(
        "no {shell} shell for the clock {clock}: it converts what it observes, four cycles late; give the clock ptp and put the module time_of_day in front"
    )]
    Clock {
        /// How the core meets the stream.
        shell: Shell,
        /// Where time comes from.
        clock: ClockSource,
    },
    /// Not a Verilog identifier.
    #[error("'{0}' is not a plain Verilog identifier: use letters, digits and underscores")]
    Name(String),
    /// Flattening `$` made two names equal.
    #[error("identifiers '{0}' and '{1}' would both become '{2}': give another name")]
    Collision(String, String, String),
    /// RustHDL refuses the design.
    #[error("the design is not connected: {0}")]
    Design(String),
}

/// Calls `$with!(R, A, C)` with the constants of a configuration.
macro_rules! for_size {
    ($configuration:expr, $with:ident) => {{
        let (rows, banks) = ($configuration.rows(), $configuration.prefixes().banks());
        let classes = $configuration.classes();
        match (rows, banks, classes) {
            (8, 1..=2, 1) => $with!(3, 4, 1),
            (8, 3..=4, 1) => $with!(3, 5, 1),
            (16, 1..=2, 1) => $with!(4, 5, 1),
            (16, 3..=4, 1) => $with!(4, 6, 1),
            (32, 1..=2, 1) => $with!(5, 6, 1),
            (32, 3..=4, 1) => $with!(5, 7, 1),
            (64, 1..=2, 1) => $with!(6, 7, 1),
            (64, 3..=4, 1) => $with!(6, 8, 1),
            (128, 1..=2, 1) => $with!(7, 8, 1),
            (128, 3..=4, 1) => $with!(7, 9, 1),
            (256, 1..=2, 1) => $with!(8, 9, 1),
            (256, 3..=4, 1) => $with!(8, 10, 1),
            (512, 1..=2, 1) => $with!(9, 10, 1),
            (512, 3..=4, 1) => $with!(9, 11, 1),
            (1024, 1..=2, 1) => $with!(10, 11, 1),
            (1024, 3..=4, 1) => $with!(10, 12, 1),
            (16, 1..=2, 2) => $with!(4, 6, 2),
            (16, 3..=4, 2) => $with!(4, 7, 2),
            (16, 1..=2, 3..=4) => $with!(4, 7, 4),
            (16, 3..=4, 3..=4) => $with!(4, 8, 4),
            (256, 1..=2, 2) => $with!(8, 10, 2),
            (256, 3..=4, 2) => $with!(8, 11, 2),
            (256, 1..=2, 3..=4) => $with!(8, 11, 4),
            (256, 3..=4, 3..=4) => $with!(8, 12, 4),
            (1024, 1..=2, 2) => $with!(10, 12, 2),
            (1024, 3..=4, 2) => $with!(10, 13, 2),
            (1024, 1..=2, 3..=4) => $with!(10, 13, 4),
            (1024, 3..=4, 3..=4) => $with!(10, 14, 4),
            (_, _, 1) => Err(EmitError::Unsupported { rows, banks }),
            _ => Err(EmitError::UnsupportedClasses { classes, rows, banks }),
        }
    }};
}

/// The same for wide cores, of which fewer sizes are built: each costs the compiler seconds.
macro_rules! for_wide_size {
    ($configuration:expr, $with:ident, $with_classes:ident) => {{
        let (rows, banks) = ($configuration.rows(), $configuration.prefixes().banks());
        let classes = $configuration.classes();
        match (rows, banks, classes) {
            (16, 1..=2, 1) => $with!(4, 5, 1),
            (16, 3..=4, 1) => $with!(4, 6, 1),
            (256, 1..=2, 1) => $with!(8, 9, 1),
            (256, 3..=4, 1) => $with!(8, 10, 1),
            (1024, 1..=2, 1) => $with!(10, 11, 1),
            (1024, 3..=4, 1) => $with!(10, 12, 1),
            (16, 1..=2, 2) => $with_classes!(4, 6, 2),
            (16, 1..=2, 3..=4) => $with_classes!(4, 7, 4),
            (1024, 1..=2, 2) => $with_classes!(10, 12, 2),
            (1024, 1..=2, 3..=4) => $with_classes!(10, 13, 4),
            (_, _, 1) => Err(EmitError::UnsupportedWide { rows, banks }),
            _ => Err(EmitError::UnsupportedClasses { classes, rows, banks }),
        }
    }};
}

/// Calls `$with!(R, A)` for a core with digests.
macro_rules! for_digest_size {
    ($configuration:expr, $with:ident) => {{
        let (rows, banks) = ($configuration.rows(), $configuration.prefixes().banks());
        match (rows, banks) {
            _ if $configuration.classes() > 1 => Err(EmitError::UnsupportedDigest { rows, banks }),
            (16, 1..=2) => $with!(4, 5),
            (16, 3..=4) => $with!(4, 6),
            (256, 1..=2) => $with!(8, 9),
            (256, 3..=4) => $with!(8, 10),
            (1024, 1..=2) => $with!(10, 11),
            (1024, 3..=4) => $with!(10, 12),
            _ => Err(EmitError::UnsupportedDigest { rows, banks }),
        }
    }};
}

/// The same for wide cores: a bank for quantiles stands beside at least two others.
macro_rules! for_wide_digest_size {
    ($configuration:expr, $with:ident) => {{
        let (rows, banks) = ($configuration.rows(), $configuration.prefixes().banks());
        match (rows, banks) {
            _ if $configuration.classes() > 1 => Err(EmitError::UnsupportedDigest { rows, banks }),
            (16, 3..=4) => $with!(4, 6),
            (1024, 3..=4) => $with!(10, 12),
            _ => Err(EmitError::UnsupportedDigest { rows, banks }),
        }
    }};
}

/// The Verilog of one module of a configuration, with all names prefixed by `name`.
///
/// # Errors
///
/// [`EmitError`] when the hardware is not built for the configuration's sizes or `name` is no identifier.
pub fn emit(configuration: &Configuration, module: Module, name: &str) -> Result<String, EmitError> {
    macro_rules! narrow {
        ($r:literal, $a:literal, $c:literal) => {
            match module {
                Module::Hash => emit_block(&mut Clocked::new(HashMatrix::<$r>::new(configuration)), name),
                Module::Sampler => emit_block(&mut Sampler::<$r, $a>::new(configuration), name),
                Module::Lda => emit_block(&mut Lda::<$a>::default(), name),
                _ => emit_block(&mut Core::<$r, $a, $c>::new(configuration), name),
            }
        };
    }
    macro_rules! wide {
        ($r:literal, $a:literal, $c:literal) => {
            match module {
                Module::Core256 => emit_block(&mut Core256::<$r, $a, $c>::new(configuration), name),
                Module::Core512 => emit_block(&mut Core512::<$r, $a, 1, $c>::new(configuration), name),
                Module::TwoLanes512 => emit_block(&mut Core512::<$r, $a, 2, $c>::new(configuration), name),
                _ => emit_block(&mut Core512::<$r, $a, 4, $c>::new(configuration), name),
            }
        };
    }
    // Several lanes and several classes are not built together.
    macro_rules! wide_with_classes {
        ($r:literal, $a:literal, $c:literal) => {
            match module {
                Module::Core256 => emit_block(&mut Core256::<$r, $a, $c>::new(configuration), name),
                Module::Core512 => emit_block(&mut Core512::<$r, $a, 1, $c>::new(configuration), name),
                _ => Err(EmitError::UnsupportedClasses {
                    classes: configuration.classes(),
                    rows: configuration.rows(),
                    banks: configuration.prefixes().banks(),
                }),
            }
        };
    }
    macro_rules! narrow_digest {
        ($r:literal, $a:literal) => {
            match module {
                Module::Lda => emit_block(&mut Lda::<$a, 104, 1>::default(), name),
                _ => emit_block(&mut Core::<$r, $a, 1, 104, 1>::new(configuration), name),
            }
        };
    }
    macro_rules! wide_digest {
        ($r:literal, $a:literal) => {
            match module {
                Module::Core256 => emit_block(&mut Core256::<$r, $a, 1, 104, 1>::new(configuration), name),
                Module::Core512 => emit_block(&mut Core512::<$r, $a, 1, 1, 104, 1>::new(configuration), name),
                Module::TwoLanes512 => {
                    emit_block(&mut Core512::<$r, $a, 2, 1, 104, 1>::new(configuration), name)
                }
                _ => emit_block(&mut Core512::<$r, $a, 4, 1, 104, 1>::new(configuration), name),
            }
        };
    }
    let digests = configuration.has_digests();
    let body = with_room(|| match module {
        Module::Identity => emit_block(&mut Identity::new(configuration), name),
        Module::Identity256 => emit_block(&mut Identity256::new(configuration), name),
        Module::Identity512 => emit_block(&mut Identity512::new(configuration), name),
        Module::Classifier => emit_block(&mut Classified::new(Classifier::new(configuration)), name),
        Module::Core256 | Module::Core512 | Module::TwoLanes512 | Module::FourLanes512 if digests => {
            for_wide_digest_size!(configuration, wide_digest)
        }
        Module::Core | Module::Lda if digests => for_digest_size!(configuration, narrow_digest),
        Module::Core256 | Module::Core512 | Module::TwoLanes512 | Module::FourLanes512 => {
            for_wide_size!(configuration, wide, wide_with_classes)
        }
        Module::Digest => emit_block(&mut Digest::new(configuration), name),
        Module::Core | Module::Hash | Module::Sampler | Module::Lda => for_size!(configuration, narrow),
    })?;
    let what = format!("stage {module:?}");
    Ok(format!("{}\n{}", header(configuration, &what, name, &body), body))
}

/// A leaf cannot be RustHDL's top module; this wraps the hash for its own test bench.
#[derive(LogicBlock)]
pub struct Clocked<const R: usize> {
    pub clk: Signal<In, Clock>,
    pub word: [Signal<In, Bits<32>>; 17],
    pub row: Signal<Out, Bits<R>>,
    pub prefix: Signal<Out, Bits<16>>,
    vector: KeyVector,
    matrix: HashMatrix<R>,
}

impl<const R: usize> Clocked<R> {
    /// Wraps a hash.
    pub fn new(matrix: HashMatrix<R>) -> Self {
        Clocked {
            clk: Default::default(),
            word: Default::default(),
            row: Default::default(),
            prefix: Default::default(),
            vector: Default::default(),
            matrix,
        }
    }
}

impl<const R: usize> Logic for Clocked<R> {
    #[hdl_gen]
    fn update(&mut self) {
        self.matrix.clk.next = self.clk.val();
        for i in 0..17 {
            self.vector.word[i].next = self.word[i].val();
        }
        self.matrix.key.next = self.vector.key.val();
        self.row.next = self.matrix.row.val();
        self.prefix.next = self.matrix.prefix.val();
    }
}

/// The same for the classifier.
#[derive(LogicBlock)]
pub struct Classified {
    pub clk: Signal<In, Clock>,
    pub word: [Signal<In, Bits<32>>; 17],
    pub matched: Signal<Out, Bit>,
    pub kind: Signal<Out, Bits<2>>,
    vector: KeyVector,
    classifier: Classifier,
}

impl Classified {
    /// Wraps a classifier.
    pub fn new(classifier: Classifier) -> Self {
        Classified {
            clk: Default::default(),
            word: Default::default(),
            matched: Default::default(),
            kind: Default::default(),
            vector: Default::default(),
            classifier,
        }
    }
}

impl Logic for Classified {
    #[hdl_gen]
    fn update(&mut self) {
        self.classifier.clk.next = self.clk.val();
        for i in 0..17 {
            self.vector.word[i].next = self.word[i].val();
        }
        self.classifier.key.next = self.vector.key.val();
        self.matched.next = self.classifier.matched.val();
        self.kind.next = self.classifier.kind.val();
    }
}

/// Runs emission on a stack of its own: RustHDL's blocks are values, those of wide cores of several megabytes.
fn with_room(emission: impl FnOnce() -> Result<String, EmitError> + Send) -> Result<String, EmitError> {
    const STACK: usize = 1 << 29;
    let failed = |what: &dyn std::fmt::Debug| EmitError::Design(format!("emission failed: {what:?}"));
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, emission);
        let thread = thread.map_err(|error| failed(&error))?;
        thread.join().map_err(|panic| failed(&panic.downcast_ref::<&str>()))?
    })
}

/// Refuses what is no plain identifier.
pub(crate) fn check_name(name: &str) -> Result<(), EmitError> {
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !starts_well || !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
        return Err(EmitError::Name(name.to_string()));
    }
    Ok(())
}

/// The Verilog of any block, without a header; all names are prefixed by `name`.
///
/// # Errors
///
/// [`EmitError`] when `name` is no identifier or the block is not connected.
pub fn emit_block<T: Block>(block: &mut T, name: &str) -> Result<String, EmitError> {
    check_name(name)?;
    block.connect_all();
    check_all(block).map_err(|error| EmitError::Design(format!("{error:?}")))?;
    flatten(&generate_verilog_unchecked(block), name)
}

/// The name of a lane's port: `s_axis_tdata` if there is one lane, else `s0_axis_tdata` and so on.
fn lane_port(token: &str, has_lanes: bool) -> Option<String> {
    let (port, lane) = token.strip_prefix("s_axis_")?.split_once('$')?;
    Some(if has_lanes { format!("s{lane}_axis_{port}") } else { format!("s_axis_{port}") })
}

/// Renames `top` to `name` and makes every identifier plain.
fn flatten(raw: &str, name: &str) -> Result<String, EmitError> {
    let has_lanes = raw.contains("s_axis_tdata$1");
    let mut plain: BTreeMap<String, String> = BTreeMap::new();
    let mut flat = String::new();
    let mut rest = raw;
    while let Some(start) =
        rest.find(|c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$' || c == '\'')
    {
        flat.push_str(&rest[..start]);
        let token = &rest[start..];
        let length = token
            .find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '$' || c == '\''))
            .unwrap_or(token.len());
        let (token, behind) = token.split_at(length);
        rest = behind;
        let is_identifier = token.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !is_identifier {
            flat.push_str(token);
            continue;
        }
        let renamed = match token.strip_prefix("top") {
            Some("") => name.to_string(),
            Some(path) if path.starts_with('$') => format!("{name}{}", path.replace('$', "_")),
            _ => lane_port(token, has_lanes).unwrap_or_else(|| token.replace('$', "_")),
        };
        match plain.get(&renamed) {
            Some(first) if first != token => {
                return Err(EmitError::Collision(first.clone(), token.to_string(), renamed));
            }
            Some(_) => {}
            None => {
                plain.insert(renamed.clone(), token.to_string());
            }
        }
        flat.push_str(&renamed);
    }
    flat.push_str(rest);
    // RustHDL leaves trailing blanks and runs of empty lines.
    let mut tidy = String::new();
    let mut empty = true;
    for line in flat.lines().map(str::trim_end) {
        if !line.is_empty() || !empty {
            tidy.push_str(line);
            tidy.push('\n');
        }
        empty = line.is_empty();
    }
    Ok(tidy)
}

/// What ports of cores and shells mean, in short; the long form is in the port tables of the modules. Lanes' ports
/// (s0_axis_tdata) mean what those of a single lane do.
const PORTS: [(&str, &str); 56] = [
    ("clk", "clock of all ports"),
    ("rst", "synchronous reset, active high; memories are cleared behind it"),
    ("s_axis_tdata", "observed stream, first byte in bits 7:0, no FCS"),
    ("s_axis_tkeep", "contiguous, partial only with tlast"),
    ("s_axis_tvalid", "a beat is observed when tvalid and tready are high"),
    ("s_axis_tready", "as an input: nothing is driven back; as an output: low while a frame is inserted"),
    ("s_axis_tlast", "last beat of a frame"),
    (
        "s_axis_tuser",
        "bit 0 with tlast: bad frame; bits from 1 on, if any, with the first beat: timestamp, as ptp_ts or ptp_ts_96",
    ),
    ("interval_end", "end the interval behind this cycle; in line: insert a delimiter"),
    ("interval_log2", "0 or 48..63: never; else end intervals by the clock every 2^n ns"),
    ("ptp_ts", "the clock, ns in 63:16; 0 if intervals do not end by it"),
    ("ptp_ts_96", "the clock as PTP time of day: seconds in 95:48, ns in 45:16"),
    ("ptp_locked", "low: the interval is flagged"),
    ("receiver", "strap: 0 sender, 1 receiver"),
    ("schedule", "strobe: next_prefixes from interval from_interval on; 0 unless adaptive"),
    ("next_prefixes", "prefix lengths, a byte a bank, the first in 63:56, 255 for none"),
    ("from_interval", "number of the first interval with them"),
    ("schedule_legal", "next_prefixes may be scheduled"),
    ("schedule_pending", "scheduled prefix lengths wait for their interval"),
    ("running", "memories are clear: counting"),
    ("packets", "measured packets of the running interval so far"),
    ("bytes", "their IP octets"),
    ("unmeasured", "frames that are not measured, of the running interval"),
    ("bad", "frames that the MAC marked bad, of the running interval"),
    ("unmatched", "measured frames of no class, part of the unmeasured ones"),
    ("interval", "number of the running interval"),
    ("draining", "the last interval is being sent"),
    ("ended", "an interval ends behind this cycle"),
    ("refused", "an interval end was refused"),
    ("gap", "with ended: a delimiter is missing"),
    ("delimiter", "a delimiter of this measurement has come"),
    (
        "m_axis_tdata",
        "control frames, first byte in bits 7:0, no FCS; in line: the stream with frames inserted",
    ),
    ("m_axis_tkeep", "contiguous, partial only with tlast"),
    ("m_axis_tvalid", "of a shell: without gaps within inserted or control frames"),
    ("m_axis_tready", "a beat is taken when tvalid and tready are high"),
    ("m_axis_tlast", "last beat of a frame"),
    ("m_axis_tuser", "zero; in line: as s_axis_tuser, zero for inserted frames"),
    ("s_axil_awaddr", "AXI4-Lite, registers: docs/registers.md"),
    ("s_axil_awprot", "not looked at"),
    ("s_axil_awvalid", "write address is there"),
    ("s_axil_awready", "write address is taken"),
    ("s_axil_wdata", "write data"),
    ("s_axil_wstrb", "all ones, or the write is refused"),
    ("s_axil_wvalid", "write data is there"),
    ("s_axil_wready", "write data is taken"),
    ("s_axil_bresp", "0 OKAY, 2 SLVERR: refused"),
    ("s_axil_bvalid", "write answer is there"),
    ("s_axil_bready", "write answer is taken"),
    ("s_axil_araddr", "read address"),
    ("s_axil_arprot", "not looked at"),
    ("s_axil_arvalid", "read address is there"),
    ("s_axil_arready", "read address is taken"),
    ("s_axil_rdata", "read data"),
    ("s_axil_rresp", "0 OKAY, 2 SLVERR: no such register"),
    ("s_axil_rvalid", "read data is there"),
    ("s_axil_rready", "read data is taken"),
];

pub(crate) fn header(configuration: &Configuration, what: &str, name: &str, body: &str) -> String {
    let mut text = String::new();
    let _ = write!(
        text,
        "// {name}: generated by Deltaline {version} from RustHDL; do not edit.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
// {what}
// hash           {hash:?}, seed {seed}
// banks          {banks}, prefix lengths {prefixes:?}{adaptive}
// rows           {rows} a bank
// segment        {segment}
{classes}{digests}// configuration  {digest:#018x}
//
// Ports
",
        version = env!("CARGO_PKG_VERSION"),
        hash = configuration.hash(),
        seed = configuration.seed(),
        banks = configuration.prefixes().banks(),
        prefixes = configuration.prefixes().lengths(),
        adaptive = if configuration.adaptive() { " after reset, adaptive" } else { "" },
        rows = configuration.rows(),
        segment = configuration.segment(),
        classes = match configuration.classifier().entries().len() {
            0 => String::new(),
            entries =>
                format!("// classes        {}, told apart by {entries} entries\n", configuration.classes()),
        },
        digests = if configuration.has_digests() { "// digests        32 bits a cell\n" } else { "" },
        digest = configuration.digest(),
    );
    for Port { direction, width, name, meaning } in ports(body, name) {
        let range = if width == 1 { String::new() } else { format!("[{}:0]", width - 1) };
        let line = format!("//   {direction:<6} {range:>8} {name:<14} {meaning}");
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// A port of an emitted module.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// `input` or `output`.
    pub direction: &'static str,
    /// Width in bits.
    pub width: usize,
    /// Name.
    pub name: String,
    /// What the core's port of this name means, in short; empty for a name that the core does not have.
    pub meaning: &'static str,
}

/// The ports of module `name` of an emitted text, in their order.
pub fn ports(verilog: &str, name: &str) -> Vec<Port> {
    let module = verilog.split_once(&format!("module {name}(")).map_or("", |(_, behind)| behind);
    let lines = module.lines().map(str::trim).take_while(|line| !line.starts_with("endmodule"));
    lines.filter_map(port).collect()
}

/// Reads a declaration such as `input wire  [63:0] ptp_ts;`.
fn port(line: &str) -> Option<Port> {
    let mut words = line.strip_suffix(';')?.split_whitespace();
    let direction = match words.next()? {
        "input" => "input",
        "output" => "output",
        _ => return None,
    };
    let _wire_or_reg = words.next()?;
    let last = words.next()?;
    let (width, name) = match last.strip_prefix('[').and_then(|range| range.strip_suffix(":0]")) {
        Some(top) => (top.parse::<usize>().ok()? + 1, words.next()?),
        None => (1, last),
    };
    let lane = name.strip_prefix('s').and_then(|rest| rest.split_once("_axis_"));
    let lane = lane.filter(|(lane, _)| lane.chars().all(|c| c.is_ascii_digit()));
    let single = lane.map_or(name.to_string(), |(_, port)| format!("s_axis_{port}"));
    let meaning = PORTS.iter().find(|(known, _)| *known == single).map_or("", |(_, meaning)| meaning);
    Some(Port { direction, width, name: name.to_string(), meaning })
}
