//! Digests: the twin rule at every width, what they leave unchanged, and planted faults.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::checks;
use deltaline_cosim::error::CheckError;
use deltaline_cosim::faults::{Fault, fault, missed};
use deltaline_hdl::emit::kind::Module;
use deltaline_hdl::emit::module::emit;
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::packet::hash::HashKind;
use verilator_sys::Toolchain;

fn toolchain() -> Toolchain {
    Toolchain::find().unwrap()
}

fn configuration(settings: Settings) -> Configuration {
    Configuration::new(Settings { digest: true, ..settings }).unwrap()
}

/// Small, with three banks, which every width is built for.
fn small() -> Configuration {
    configuration(Settings { rows: 16, prefixes: &[0, 2, 4], seed: 2, ..Settings::default() })
}

#[test]
fn stage() {
    for settings in [
        Settings::default(),
        Settings { hash: HashKind::Rabin, seed: 0xfedc_ba98_7654_3210, ..Settings::default() },
    ] {
        let configuration = configuration(settings);
        let verilog = emit(&configuration, Module::Digest, "digest").unwrap();
        checks::digest::check(&toolchain(), &configuration, &verilog, 20_000, 1).unwrap();
    }
}

#[test]
fn lda() {
    let verilog = emit(&small(), Module::Lda, "lda").unwrap();
    checks::lda::check(&toolchain(), &verilog, 64, 200_000, 1).unwrap();
}

#[test]
fn cores() {
    let several_fragments = configuration(Settings {
        rows: 256,
        hash: HashKind::Rabin,
        prefixes: &[0, 3],
        seed: 3,
        segment: 0xdead_beef,
        ..Settings::default()
    });
    for (module, configuration) in
        [(Module::Core, small()), (Module::Core, several_fragments), (Module::Core256, small())]
    {
        let verilog = emit(&configuration, module, "deltaline").unwrap();
        let packets = checks::core::check(&toolchain(), &configuration, &verilog, 10_000, 1).unwrap();
        assert!(packets >= 10_000);
    }
}

#[test]
fn several_lanes() {
    let verilog = emit(&small(), Module::TwoLanes512, "deltaline").unwrap();
    let packets = checks::lanes::check(&toolchain(), &small(), &verilog, 10_000, 1).unwrap();
    assert!(packets >= 10_000);
}

/// What goes wrong, in which module, by which change of the emitted text.
const FAULTS: &[(&str, Module, &str, &str)] = &[
    ("a round without its addition", Module::Digest, "total = x_turned + y;", "total = x_turned ^ y;"),
    ("a round without its constant", Module::Digest, "mixed = total ^ constant;", "mixed = total;"),
    ("the wrong hash bits", Module::Digest, "bits[0] <= ^parity_0;", "bits[0] <= ^parity_16;"),
    (
        "digest not forwarded at distance 1",
        Module::Lda,
        "fields_0_forward_1 = hazard_1_3_q;",
        "fields_0_forward_1 = 1'b0;",
    ),
    (
        "digest forwarded at distance 4 from the wrong update",
        Module::Lda,
        "fields_0_forward_4 = hazard_4_2_q;",
        "fields_0_forward_4 = hazard_4_1_q;",
    ),
    (
        "digests written into both copies",
        Module::Lda,
        "fields_0_write_first = valid_5_q & ~copy_5_q;",
        "fields_0_write_first = valid_5_q;",
    ),
    (
        "digest not cleared",
        Module::Lda,
        "fields_0_clear_second = clearing_1_q;",
        "fields_0_clear_second = 1'b0;",
    ),
    (
        "digest operand from the wrong copy",
        Module::Lda,
        "fields_0_epoch = copy_3_q;",
        "fields_0_epoch = copy_2_q;",
    ),
    (
        "a carry from half to half",
        Module::Lda,
        "high = augend[(32'h10)+:(16)] + addend[(32'h10)+:(16)];",
        "high = augend[(32'h10)+:(16)] + addend[(32'h10)+:(16)] + (low < augend[15:0]);",
    ),
    (
        "a digest of the neighbouring packet",
        Module::Core,
        "lda_field_0 = field_0_q;",
        "lda_field_0 = field_0_d;",
    ),
    (
        "digest words not sent",
        Module::Core,
        "if ((section == 32'h5) & (step == field_number_0)) begin",
        "if (1'b0) begin",
    ),
    ("digests in the wrong order", Module::Core, "(held << 32'h20)", "(held >> 32'h20)"),
    (
        "packets before a boundary in the next interval's digest sum",
        Module::Core,
        "if (waiting_q[32'h3]) begin",
        "if (ends) begin",
    ),
    ("the digest sum of all intervals", Module::Core, "running_0_d = 32'h0;", ""),
    (
        "frames that are not measured in the digest sum",
        Module::Core,
        "if (waiting_q[32'h2] & (waiting_q[(32'h0)+:(2)] == class_number_0)) begin",
        "if (waiting_q[(32'h0)+:(2)] == class_number_0) begin",
    ),
    (
        "the second lane's digest sum not added",
        Module::TwoLanes512,
        "lane_digests = lane_1_digest_sum;",
        "lane_digests = 32'h0;",
    ),
    ("the second lane's digests not added", Module::TwoLanes512, "merge_1_right = lane_1_drained_cell;", ""),
];

fn check(module: Module, verilog: &str) -> Result<u64, CheckError> {
    match module {
        Module::Digest => checks::digest::check(&toolchain(), &small(), verilog, 1000, 7),
        Module::Lda => checks::lda::check(&toolchain(), verilog, 64, 100_000, 7),
        Module::TwoLanes512 => checks::lanes::check(&toolchain(), &small(), verilog, 3000, 7),
        _ => checks::core::traffic(&toolchain(), &small(), verilog, 3000, 7),
    }
}

#[test]
fn planted_faults_are_noticed() {
    let mut blind = vec![];
    for module in [Module::Digest, Module::Lda, Module::Core, Module::TwoLanes512] {
        let name = deltaline_cosim::mutations::name(module);
        let faults: Vec<Fault> = FAULTS
            .iter()
            .filter(|(_, of, ..)| *of == module)
            .map(|&(what, _, from, to)| fault(what, from, to))
            .collect();
        let verilog = emit(&small(), module, name).unwrap();
        blind.extend(missed(&verilog, name, &faults, |verilog| check(module, verilog)).unwrap());
    }
    assert!(blind.is_empty(), "{blind:#?}");
}
