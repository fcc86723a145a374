//! What is measured: the one list of subjects.
//!
//! Every shipped design in a passive shell gives its bare core: what stands around it, register block, counters and
//! frame buffer, is left out, and so it compares with published estimates. Besides:
//!
//! * `10g-inline` stands in the stream, so it is always measured whole.
//! * `10g-shell`, `40g-classifier-shell`, `100g-shell`: designs whole, as they are shipped; `-key`: the same with `authentication`;
//!   `-key-mixing`: with a mixing besides. Most of what a key costs stands around the core. `1g` has no shell without a key, and no mixing.
//! * `10g-registered`: the default core with the memories of `hdl/ecp5`, which use the block RAM's output register.
//! * `10g-identity`, `10g-lda-identity`, `10g-lds`, `10g-colate`: the default core with these synopses, in one bank; `100g-lds`: one of 512 bits.
//! * `1g-pair`: two byte cores, sender and receiver, as a small FPGA holds them.
//!
//! Test plan: a part of a file holds what its top needs and nothing else; the pair's cores share what they share; tags and mixings are
//! in the designs that are named for them, and in no others.

use super::netlist;
use super::synthesis::{ECP5, Family, ICE40};
use crate::Failure;
use deltaline_design::{CoreKind, DEFAULT, Design, Parts, Shell};
use deltaline_hdl::clock::adjustable::AdjustableClock;
use deltaline_hdl::clock::stream_time_of_day::StreamTimeOfDay;
use deltaline_hdl::clock::time_of_day::TimeOfDay;
use deltaline_hdl::emit::block::emit_block;
use deltaline_hdl::emit::kind::Module;
use deltaline_hdl::emit::module::emit;
use deltaline_hdl::emit::reader;
use deltaline_hdl::inline::{self, Width};
use deltaline_hdl::reference;
use deltaline_hdl::registers::{self, Emitted, Options};
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::wire::shape::Kind;
use std::fmt::Write as _;

/// Prefix of all emitted modules.
const NAME: &str = "deltaline";

/// Devices of all families; those of a family that a subject is not synthesised for are left out.
const ALL_DEVICES: [&str; 4] = ["hx8k", "25f-6", "25f-8", "85f-6"];

/// Without the fastest speed grade, of which the default core and the whole designs show what it is worth.
const USUAL_DEVICES: [&str; 3] = ["hx8k", "25f-6", "85f-6"];

/// Where designs with keys are placed: the usual speed grade of the smallest device of each family that holds them.
const KEY_DEVICES: [&str; 2] = ["hx8k", "25f-6"];

/// Where cores of more than 64 bits are placed: they are for other devices and for ASICs, and the largest of these tells how they compare.
/// What stands around them is not placed.
const WIDE_DEVICES: [&str; 1] = ["85f-6"];

/// The synopses, besides LDA, with which the default core is measured, and what its name ends with.
const SYNOPSES: [(Kind, &str); 4] = [
    (Kind::IDENTITY_TABLE, "identity"),
    (Kind::LDA_IDENTITY, "lda-identity"),
    (Kind::FLOW_ROWS, "lds"),
    (Kind::FLOW_VECTOR, "colate"),
];

/// The core of 512 bits that is measured with rows of flows, too.
const WIDE: &str = "100g";

/// The designs that are measured with keys too: one for each width.
const KEYED: [&str; 4] = ["1g", DEFAULT, "40g-classifier", "100g"];

/// Seeds of the placements.
const SEEDS: &[u32] = &[1, 2, 3];

/// Those of the pair, which the boards are made of: of three seeds the lowest is up to five per cent above that of ten.
const MANY_SEEDS: &[u32] = &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

/// A design, or a part of one, to be measured.
#[derive(Clone)]
pub(crate) struct Subject {
    /// Its name in tables, options and the budget.
    pub(crate) name: String,
    /// What it is, in a few words.
    pub(crate) description: String,
    /// Its Verilog: the top module and what it holds.
    pub(crate) verilog: String,
    /// The top module.
    pub(crate) top: String,
    /// The clock that its line rate needs.
    pub(crate) clock_mhz: f64,
    /// The families that its area is found for.
    pub(crate) families: &'static [&'static Family],
    /// Whether a table of its modules is made; it takes as long as the sum.
    pub(crate) by_module: bool,
    /// Options of the devices that it is placed on.
    pub(crate) devices: &'static [&'static str],
    /// Seeds of the placements.
    pub(crate) seeds: &'static [u32],
    /// Whether it is mapped to standard cells.
    pub(crate) asic: bool,
}

/// All of them.
pub(crate) fn all() -> Result<Vec<Subject>, Failure> {
    let mut subjects = vec![];
    for design in Design::all()? {
        let name = design.name().to_string();
        if design.shell() == Shell::Inline {
            subjects.push(whole(name, &design)?);
            continue;
        }
        let is_default = name == DEFAULT;
        let subject = core(&design)?;
        let has_shell = subject.top != NAME;
        subjects.push(subject.clone());
        if is_default {
            subjects.push(registered(subject.clone()));
            for (synopsis, suffix) in SYNOPSES {
                subjects.push(of_synopsis(&design, synopsis, suffix)?);
            }
        }
        if name == WIDE {
            subjects.push(Subject { devices: &[], ..of_synopsis(&design, Kind::FLOW_ROWS, "lds")? });
        }
        if KEYED.contains(&design.name()) {
            if has_shell {
                subjects.push(Subject { asic: true, ..whole(format!("{name}-shell"), &design)? });
            }
            subjects.extend(keyed(&design)?);
        }
        // One small design stands for all.
        if !has_shell && KEYED.contains(&design.name()) {
            subjects.push(Subject {
                name: format!("{name}-pair"),
                description: format!("{}, two cores: sender and receiver", describe(&design)),
                verilog: pair(&subject.verilog) + &subject.verilog,
                top: PAIR.to_string(),
                clock_mhz: design.clock_mhz(),
                families: &[&ICE40],
                by_module: false,
                devices: &USUAL_DEVICES,
                seeds: MANY_SEEDS,
                asic: false,
            });
        }
    }
    Ok(subjects)
}

/// A design with all that stands around its core.
fn whole(name: String, design: &Design) -> Result<Subject, Failure> {
    let is_small = design.stream().width == CoreKind::Byte.width();
    let is_wide = design.stream().width > CoreKind::Bits64.width();
    Ok(Subject {
        name,
        description: format!("{}, whole", describe(design)),
        verilog: deltaline_hdl::emit::design::emit(design, NAME)?,
        top: NAME.to_string(),
        clock_mhz: design.clock_mhz(),
        families: if is_small { &[&ICE40, &ECP5] } else { &[&ECP5] },
        by_module: false,
        devices: if is_wide { &[] } else { &ALL_DEVICES },
        seeds: SEEDS,
        asic: false,
    })
}

/// A design's bare core.
fn core(design: &Design) -> Result<Subject, Failure> {
    let verilog = deltaline_hdl::emit::design::emit(design, NAME)?;
    let is_wide = design.stream().width > CoreKind::Bits64.width();
    let core = format!("{NAME}_core");
    let has_shell = reader::module(&verilog, &core).is_some();
    let top = if has_shell { core } else { NAME.to_string() };
    Ok(Subject {
        name: design.name().to_string(),
        description: format!("{}, core", describe(design)),
        verilog: netlist::part(&verilog, &top)?,
        top,
        clock_mhz: design.clock_mhz(),
        // A wide core does not fit the small family, and takes minutes.
        families: if is_wide { &[&ECP5] } else { &[&ICE40, &ECP5] },
        // What digests add is said in the pages of their modules.
        by_module: !is_wide && !design.configuration().has_digests(),
        devices: match design.name() {
            DEFAULT => &ALL_DEVICES,
            // nextpnr does not come to an end with four lanes: its usual router stands still with a quarter of the wires laid, the other one
            // was stopped after 50 minutes of processor time.
            _ if design.stream().lanes > 1 => &[],
            _ if is_wide => &WIDE_DEVICES,
            _ => &USUAL_DEVICES,
        },
        seeds: SEEDS,
        asic: true,
    })
}

/// A design's core with another synopsis, of one bank, which samples half of all packets; its memories fill more than the smallest device.
fn of_synopsis(design: &Design, synopsis: Kind, suffix: &str) -> Result<Subject, Failure> {
    let mut parts = design.parts().clone();
    (parts.measurement.synopsis, parts.measurement.prefixes) = (synopsis, vec![1]);
    let subject = core(&Design::new(&format!("{}-{suffix}", design.name()), parts)?)?;
    let description = format!("{}, {}", subject.description, suffix.replace('-', " and "));
    Ok(Subject {
        description,
        families: &[&ECP5],
        by_module: false,
        devices: &["85f-6"],
        asic: false,
        ..subject
    })
}

/// A design whole, with a key, and with a mixing besides where it can have one.
fn keyed(design: &Design) -> Result<Vec<Subject>, Failure> {
    let mut parts = Parts { authentication: true, ..design.parts().clone() };
    let mut subjects = vec![];
    for (suffix, mixing) in [("key", false), ("key-mixing", true)] {
        if mixing && parts.stream.width == CoreKind::Byte.width() {
            continue;
        }
        parts.measurement.mixing = mixing;
        let name = format!("{}-{suffix}", design.name());
        let subject = whole(name.clone(), &Design::new(&name, parts.clone())?)?;
        let description = format!("{}, with {}", subject.description, suffix.replace('-', " and "));
        let devices = if subject.devices.is_empty() { &[][..] } else { &KEY_DEVICES };
        subjects.push(Subject { description, devices, asic: true, ..subject });
    }
    Ok(subjects)
}

/// A core with ECP5 block RAMs that use their output registers.
fn registered(core: Subject) -> Subject {
    let memory = include_str!("../../../hdl/ecp5/registered_ram_macro.v");
    Subject {
        name: format!("{}-registered", core.name),
        description: format!("{}, memories of hdl/ecp5", core.description),
        verilog: format!("\n`define DELTALINE_REGISTERED_RAM_MACRO\n{}\n{memory}", core.verilog),
        families: &[&ECP5],
        by_module: false,
        asic: false,
        ..core
    }
}

/// Stream and counters of a design.
fn describe(design: &Design) -> String {
    let (stream, configuration) = (design.stream(), design.configuration());
    let lanes = if stream.lanes == 1 { String::new() } else { format!("{} x ", stream.lanes) };
    let (banks, rows) = (configuration.prefixes().banks(), configuration.rows());
    format!("{lanes}{} bits, {banks} x {rows} rows", stream.width)
}

/// The modules of `cargo xtask cost`: the 64-bit core with 2 x `rows` rows, the registers, the clocks, and what
/// inserts into a stream.
pub(crate) fn cost(rows: usize) -> Result<Vec<Subject>, Failure> {
    let configuration = Configuration::new(Settings { rows, ..Settings::default() })?;
    let mixed = Configuration::new(Settings { rows, mixing: true, ..Settings::default() })?;
    let subject = |name: &str, description: String, verilog: String| Subject {
        name: format!("cost-{name}"),
        description,
        verilog: format!("\n{verilog}"),
        top: name.to_string(),
        clock_mhz: 156.25,
        families: &[&ICE40, &ECP5],
        by_module: true,
        devices: &[],
        seeds: SEEDS,
        asic: false,
    };
    let beside = |name: &str, verilog: String| subject(name, format!("beside the core: {name}"), verilog);
    let emitted = Emitted::new(
        &configuration,
        8,
        1,
        0,
        Options { clock: true, delimiters: true, authentication: true },
    );
    let (insertion, wide_insertion) = ("insertion", "insertion_256");
    let [sender, wide_sender] = ["reference_sender", "reference_sender_256"];
    let [receiver, wide_receiver, widest_receiver] =
        ["reference_receiver", "reference_receiver_256", "reference_receiver_512"];
    let (time, stream_time, clock_name) = ("time_of_day", "stream_time_of_day", "adjustable_clock");
    Ok(vec![
        subject(NAME, format!("64 bits, 2 x {rows} rows"), emit(&configuration, Module::Core, NAME)?),
        subject(MIXED, "the same with a mixing".into(), emit(&mixed, Module::Core, MIXED)?),
        beside("registers", registers::emit(&emitted, "registers")?),
        beside(time, emit_block(&mut TimeOfDay::default(), time)?),
        beside(stream_time, emit_block(&mut StreamTimeOfDay::<64, 8>::default(), stream_time)?),
        beside(clock_name, emit_block(&mut AdjustableClock::default(), clock_name)?),
        beside(insertion, inline::emit(&configuration, Width::Bits64, insertion)?),
        beside(wide_insertion, inline::emit(&configuration, Width::Bits256, wide_insertion)?),
        beside(sender, reference::emit_sender(&configuration, Width::Bits64, sender)?),
        beside(wide_sender, reference::emit_sender(&configuration, Width::Bits256, wide_sender)?),
        beside(receiver, reference::emit_receiver(&configuration, Width::Bits64, receiver)?),
        beside(wide_receiver, reference::emit_receiver(&configuration, Width::Bits256, wide_receiver)?),
        beside(widest_receiver, reference::emit_receiver(&configuration, Width::Bits512, widest_receiver)?),
    ])
}

/// Name of a core with a mixing.
const MIXED: &str = "mixing_core";
/// Name of the module that holds two cores.
const PAIR: &str = "pair";

/// What both cores of a pair take from the same place.
const SHARED: [&str; 7] =
    ["clk", "rst", "interval_log2", "ptp_ts", "ptp_locked", "point_id", "least_interval"];

/// A module with two byte cores, each with streams of its own.
fn pair(verilog: &str) -> String {
    let ports = reader::ports(verilog, NAME);
    let (mut names, mut declarations, mut instances) = (vec![], String::new(), String::new());
    for (role, strap) in [("sender", 0), ("receiver", 1)] {
        let mut connections = vec![];
        for port in &ports {
            let is_shared = SHARED.contains(&port.name);
            let name = if is_shared { port.name.to_string() } else { format!("{role}_{}", port.name) };
            if port.name == "receiver" {
                connections.push(format!(".receiver(1'b{strap})"));
                continue;
            }
            connections.push(format!(".{}({name})", port.name));
            if names.contains(&name) {
                continue;
            }
            let range = reader::range(port.width);
            let _ = writeln!(declarations, "    {} wire  {range}{name};", port.direction());
            names.push(name);
        }
        let _ = writeln!(instances, "    {NAME} {role}_core({});", connections.join(", "));
    }
    format!("\nmodule {PAIR}({});\n{declarations}{instances}endmodule\n", names.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_design_is_measured() {
        let subjects = all().unwrap();
        let names: Vec<&str> = subjects.iter().map(|subject| subject.name.as_str()).collect();
        for design in Design::all().unwrap() {
            assert!(names.contains(&design.name()), "{} of {names:?}", design.name());
        }
        for subject in &subjects {
            assert!(reader::module(&subject.verilog, &subject.top).is_some(), "{}", subject.name);
        }
        let core = subjects.iter().find(|subject| subject.name == DEFAULT).unwrap();
        assert!(!core.verilog.contains("module deltaline_registers"));
    }

    #[test]
    fn tags_and_mixings_are_where_their_names_say() {
        let subjects = all().unwrap();
        let mut found = [0; 3];
        for subject in &subjects {
            let (is_keyed, is_mixed) = (subject.name.contains("-key"), subject.name.ends_with("-mixing"));
            assert_eq!(subject.verilog.contains("_keys("), is_keyed, "{}", subject.name);
            assert_eq!(
                subject.verilog.contains("core_schedule_mixing = registers_mixing_schedule;"),
                is_mixed,
                "{}",
                subject.name
            );
            let kinds = [subject.name.ends_with("-shell"), is_keyed, is_mixed];
            kinds.iter().zip(&mut found).for_each(|(is_one, count)| *count += usize::from(*is_one));
        }
        assert_eq!(found, [3, 7, 3]);
    }

    #[test]
    fn the_cores_of_a_pair_have_streams_of_their_own() {
        let text = "\nmodule deltaline(clk,receiver,data,done);\n    input wire  clk;\n    input wire  receiver;\n    input wire  [7:0] data;\n    output reg  done;\nendmodule\n";
        let pair = pair(text);
        assert!(
            pair.contains("module pair(clk,sender_data,sender_done,receiver_data,receiver_done);"),
            "{pair}"
        );
        assert!(pair.contains("    input wire  [7:0] receiver_data;\n"), "{pair}");
        assert!(pair.contains(
            "deltaline sender_core(.clk(clk), .receiver(1'b0), .data(sender_data), .done(sender_done));"
        ));
    }
}
