//! The synopses beside the LDA: the twin rule, and planted faults.
#![allow(clippy::unwrap_used)]

use deltaline_cosim::checks;
use deltaline_cosim::faults::{Fault, fault, missed};
use deltaline_hdl::emit::kind::Module;
use deltaline_hdl::emit::module::emit;
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::packet::hash::HashKind;
use deltaline_model::wire::shape::Kind;
use verilator_sys::Toolchain;

fn toolchain() -> Toolchain {
    Toolchain::find().unwrap()
}

fn identity(prefix: u8, settings: Settings) -> Configuration {
    let settings = Settings { synopsis: Kind::IDENTITY_TABLE, rows: 16, prefixes: &[prefix], ..settings };
    Configuration::new(settings).unwrap()
}

fn lda_identity(prefix: u8, settings: Settings) -> Configuration {
    let settings = Settings { synopsis: Kind::LDA_IDENTITY, rows: 32, prefixes: &[prefix], ..settings };
    Configuration::new(settings).unwrap()
}

fn flow_rows(prefix: u8, settings: Settings) -> Configuration {
    let settings = Settings { synopsis: Kind::FLOW_ROWS, rows: 16, prefixes: &[prefix], ..settings };
    Configuration::new(settings).unwrap()
}

fn flow_vector(prefix: u8, settings: Settings) -> Configuration {
    let settings = Settings { synopsis: Kind::FLOW_VECTOR, rows: 128, prefixes: &[prefix], ..settings };
    Configuration::new(settings).unwrap()
}

fn slices(prefix: u8, rows: usize, settings: Settings) -> Configuration {
    let settings = Settings { synopsis: Kind::SLICES, rows, prefixes: &[prefix], ..settings };
    Configuration::new(settings).unwrap()
}

fn finecomb(settings: Settings) -> Configuration {
    Configuration::new(Settings { synopsis: Kind::FINECOMB, rows: 16, ..settings }).unwrap()
}

#[test]
fn digests() {
    let rabin = Settings { hash: HashKind::Rabin, seed: 0xfedc_ba98_7654_3210, ..Settings::default() };
    for configuration in [finecomb(Settings::default()), finecomb(rabin), identity(0, rabin)] {
        let verilog = emit(&configuration, Module::Digest, "digest").unwrap();
        checks::digest::check(&toolchain(), &configuration, &verilog, 20_000, 1).unwrap();
    }
}

#[test]
fn identity_table() {
    let rabin = Settings { hash: HashKind::Rabin, seed: 3, ..Settings::default() };
    for configuration in [identity(0, Settings::default()), identity(2, rabin)] {
        let verilog = emit(&configuration, Module::IdentityTable, "identity_table").unwrap();
        checks::identity_table::check(&toolchain(), &configuration, &verilog, 200_000, 1).unwrap();
    }
}

#[test]
fn rows_with_an_identity_table() {
    let rabin = Settings { hash: HashKind::Rabin, seed: 3, ..Settings::default() };
    for configuration in [lda_identity(0, Settings::default()), lda_identity(2, rabin)] {
        let verilog = emit(&configuration, Module::LdaIdentity, "lda_identity").unwrap();
        checks::identity_table::check(&toolchain(), &configuration, &verilog, 200_000, 1).unwrap();
    }
}

#[test]
fn rows_of_flows() {
    let rabin = Settings { hash: HashKind::Rabin, seed: 3, ..Settings::default() };
    for configuration in [flow_rows(0, Settings::default()), flow_rows(2, rabin)] {
        let verilog = emit(&configuration, Module::FlowRows, "flow_rows").unwrap();
        checks::identity_table::check(&toolchain(), &configuration, &verilog, 200_000, 1).unwrap();
    }
}

#[test]
fn vector_of_flows() {
    let rabin = Settings { hash: HashKind::Rabin, seed: 3, ..Settings::default() };
    for configuration in [flow_vector(0, Settings::default()), flow_vector(2, rabin)] {
        let verilog = emit(&configuration, Module::FlowVector, "flow_vector").unwrap();
        checks::identity_table::check(&toolchain(), &configuration, &verilog, 200_000, 1).unwrap();
    }
}

#[test]
fn records_of_slices() {
    let rabin = Settings { hash: HashKind::Rabin, seed: 3, ..Settings::default() };
    for configuration in [slices(1, 16, Settings::default()), slices(4, 16, rabin), slices(2, 1024, rabin)] {
        let verilog = emit(&configuration, Module::Slices, "slices").unwrap();
        checks::slices::check(&toolchain(), &configuration, &verilog, 200_000, 1).unwrap();
    }
}

/// Several control frames of each table.
#[test]
fn large_tables() {
    for configuration in [
        Settings { synopsis: Kind::FINECOMB, prefixes: &[0, 3], ..Settings::default() },
        Settings { synopsis: Kind::IDENTITY_TABLE, prefixes: &[0], ..Settings::default() },
        Settings { synopsis: Kind::LDA_IDENTITY, prefixes: &[0], ..Settings::default() },
        Settings { synopsis: Kind::FLOW_ROWS, prefixes: &[0], ..Settings::default() },
        Settings { synopsis: Kind::FLOW_VECTOR, prefixes: &[0], ..Settings::default() },
        Settings { synopsis: Kind::SLICES, prefixes: &[1], ..Settings::default() },
    ] {
        let configuration = Configuration::new(configuration).unwrap();
        let verilog = emit(&configuration, Module::Core, "deltaline").unwrap();
        checks::core::traffic(&toolchain(), &configuration, &verilog, 2000, 2).unwrap();
    }
}

/// Every scenario of the cores.
#[test]
fn cores() {
    let rabin = Settings { hash: HashKind::Rabin, seed: 3, segment: 0xdead_beef, ..Settings::default() };
    for configuration in [
        finecomb(Settings::default()),
        finecomb(rabin),
        identity(0, Settings::default()),
        identity(2, rabin),
        lda_identity(2, rabin),
        flow_rows(0, Settings::default()),
        flow_rows(1, Settings { mixing: true, adaptive: true, ..rabin }),
    ] {
        let verilog = emit(&configuration, Module::Core, "deltaline").unwrap();
        let packets = checks::core::check(&toolchain(), &configuration, &verilog, 10_000, 1).unwrap();
        assert!(packets >= 10_000);
    }
    let configuration = flow_rows(0, rabin);
    let verilog = emit(&configuration, Module::Core512, "deltaline").unwrap();
    let packets = checks::core::check(&toolchain(), &configuration, &verilog, 10_000, 1).unwrap();
    assert!(packets >= 10_000);
}

#[test]
fn cores_with_a_vector() {
    let rabin = Settings { hash: HashKind::Rabin, seed: 3, segment: 0xdead_beef, ..Settings::default() };
    for (module, configuration) in [
        (Module::Core, flow_vector(1, Settings { mixing: true, adaptive: true, ..rabin })),
        (Module::Core512, flow_vector(0, Settings::default())),
    ] {
        let verilog = emit(&configuration, module, "deltaline").unwrap();
        let packets = checks::core::check(&toolchain(), &configuration, &verilog, 10_000, 1).unwrap();
        assert!(packets >= 10_000);
    }
}

#[test]
fn cores_with_slices() {
    let rabin = Settings { hash: HashKind::Rabin, seed: 3, segment: 0xdead_beef, ..Settings::default() };
    for (module, configuration) in [
        (Module::Core, slices(2, 16, Settings { mixing: true, adaptive: true, ..rabin })),
        (Module::Core256, slices(1, 16, Settings::default())),
        (Module::Core512, slices(3, 16, Settings::default())),
    ] {
        let verilog = emit(&configuration, module, "deltaline").unwrap();
        let packets = checks::core::check(&toolchain(), &configuration, &verilog, 10_000, 1).unwrap();
        assert!(packets >= 10_000);
    }
}

/// Of an identity table.
const FAULTS: &[Fault] = &[
    fault("an update a cycle early", "table_0_update = updating_q;", "table_0_update = sampler_sampled;"),
    fault("a packet that is not sampled", "updating_d = sampler_sampled;", "updating_d = 1'b1;"),
    fault("the copy of a later packet", "table_1_epoch = waiting_q[32'h28];", "table_1_epoch = epoch;"),
    fault("the timestamp of a later packet", "waiting_d = entering;", "waiting_d = {entering[40], 40'h0};"),
    fault(
        "the row from the wrong part",
        "table_1_row = digest_1_value[(32'h0)+:(4)];",
        "table_1_row = digest_1_value[(32'h10)+:(4)];",
    ),
    fault(
        "the row from the wrong half",
        "table_2_row = digest_2_value[(32'h10)+:(4)];",
        "table_2_row = digest_1_value[(32'h10)+:(4)];",
    ),
    Fault {
        what: "fields without their delay",
        before: "fields = (",
        from: "(field_0_q)",
        to: "(field_0_d)",
    },
    Fault { what: "halves exchanged", before: "| ((", from: "(field_1_q)", to: "(field_2_q)" },
    fault("one table's overflow unseen", "overflows = overflows | table_3_overflow;", ""),
    fault("overflow in the wrong copy", "overflow_epoch = wrapped_copy;", "overflow_epoch = epoch;"),
    fault("all tables drained at once", "is_drained = drained_table == number;", "is_drained = 1'b1;"),
    fault("cleared in all tables", "lda_clear_1 = clear_second & is_drained;", "lda_clear_1 = clear_second;"),
    fault("a copy not cleared", "lda_clear_0 = clear_first & is_drained;", "lda_clear_0 = 1'b0;"),
];

/// Of rows with an identity table.
const ROWS_FAULTS: &[Fault] = &[
    fault("rows updated a cycle early", "rows_update = updating_q;", "rows_update = sampler_sampled;"),
    fault("a part updated a cycle early", "part_0_update = updating_q;", "part_0_update = sampler_sampled;"),
    fault(
        "the row of the other half",
        "rows_address = digest_2_value[(32'h0)+:(5)];",
        "rows_address = digest_1_value[(32'h0)+:(5)];",
    ),
    fault(
        "the cell from the wrong part",
        "part_1_row = digest_1_value[(32'h0)+:(3)];",
        "part_1_row = digest_1_value[(32'h10)+:(3)];",
    ),
    fault(
        "the identifier in place of the check",
        "part_3_check = digest_0_value;",
        "part_3_check = digest_1_value;",
    ),
    fault("a half without its delay", "part_3_upper = half_0_q;", "part_3_upper = half_0_d;"),
    fault("halves exchanged", "part_2_upper = half_0_q;", "part_2_upper = half_1_q;"),
    fault("the rows' overflow unseen", "overflows = rows_overflow;", "overflows = 1'b0;"),
    fault("rows drained with cells", "rows_drained = ~|drained_table;", "rows_drained = 1'b1;"),
    fault("all parts drained at once", "is_drained = drained_part == number;", "is_drained = 1'b1;"),
    fault(
        "a cell cleared with its first word",
        "lda_clear_0 = clear_first & is_drained & is_second;",
        "lda_clear_0 = clear_first & is_drained;",
    ),
    fault(
        "a cell not cleared",
        "lda_clear_1 = clear_second & is_drained & is_second;",
        "lda_clear_1 = 1'b0;",
    ),
];

/// Of rows of flows.
const FLOW_FAULTS: &[Fault] = &[
    fault("an update a cycle early", "table_0_update = updating_q;", "table_0_update = sampler_sampled;"),
    fault("a packet that is not sampled", "updating_d = sampler_sampled;", "updating_d = 1'b1;"),
    fault("the copy of a later packet", "table_1_epoch = waiting_q[32'h28];", "table_1_epoch = epoch;"),
    Fault {
        what: "the offset of the packet behind",
        before: "column_1_d = base_1_column + (",
        from: "(offset_q)",
        to: "(offset_d)",
    },
    fault(
        "the offset of other bits",
        "offset_d = place_value[(32'he)+:(2)];",
        "offset_d = place_value[(32'hd)+:(2)];",
    ),
    fault(
        "a row's base of another row's hash bits",
        "base_3_y = flow_hash_1_bits[(32'h10)+:(16)];",
        "base_3_y = flow_hash_0_bits[(32'h10)+:(16)];",
    ),
    fault(
        "a hash of the packet in place of the flow's",
        "flow_hash_1_key = flow_key_flow;",
        "flow_hash_1_key = key;",
    ),
    fault("ports of every protocol", "has_ports = 1'b0;", "has_ports = 1'b1;"),
    fault("ports of a later fragment", "if (is_ipv4 & |key[(32'h20)+:(13)]) begin", "if (1'b0) begin"),
    fault("IPv4's protocol of IPv6", "protocol = key[(32'h28)+:(8)];", "protocol = key[(32'h50)+:(8)];"),
    fault("the mask of IPv6 for IPv4", "mask = ipv4_1;", "mask = other_1;"),
    fault("a digest without its delay", "table_3_fields = field_q;", "table_3_fields = field_d;"),
    fault("one row's overflow unseen", "overflows = overflows | table_3_overflow;", ""),
    fault("all rows drained at once", "is_drained = drained_table == number;", "is_drained = 1'b1;"),
    fault("cleared in all rows", "lda_clear_1 = clear_second & is_drained;", "lda_clear_1 = clear_second;"),
];

/// Of a vector of flows.
const VECTOR_FAULTS: &[Fault] = &[
    fault("an update a cycle early", "q <= stage_8;", "q <= stage_7;"),
    fault("a packet that is not sampled", "if (sampler_sampled) begin", "if (1'b1) begin"),
    fault("the copy of a later packet", "lda_epoch = waiting_q[32'h28];", "lda_epoch = epoch;"),
    fault("the timestamp of a later packet", "q <= stage_14;", "q <= stage_13;"),
    fault(
        "j of other bits",
        "subvector_number = place_value[(32'ha)+:(6)];",
        "subvector_number = place_value[(32'h9)+:(6)];",
    ),
    fault(
        "j's step taken away",
        "sum_d = low_now_q + product_read_data;",
        "sum_d = low_now_q - product_read_data;",
    ),
    fault("the upper half of the packet behind", "q <= stage_5;", "q <= stage_4;"),
    fault("the lower half for the upper", "subvector_high = flow_1_q;", "subvector_high = flow_0_q;"),
    fault("no exclusive or", "second_value = first_mixed ^ high_then_q;", "second_value = first_mixed;"),
    fault("the first rounds alone", "shifted = second_mixed >> below;", "shifted = first_mixed >> below;"),
    fault(
        "a hash of the packet in place of the flow's",
        "flow_hash_1_key = flow_key_flow;",
        "flow_hash_1_key = key;",
    ),
    fault("an overflow unseen", "overflow = lda_overflow;", "overflow = 1'b0;"),
    fault("cleared in the other copy", "lda_clear_1 = clear_second;", "lda_clear_1 = clear_first;"),
];

/// Of slices.
const SLICES_FAULTS: &[Fault] = &[
    fault(
        "a packet right behind another is lost",
        "waiting_0_d = packet;",
        "waiting_0_d = packet & ~waiting_0_q;",
    ),
    fault("the copy of a later packet", "copy_5_d = copy_4_q;", "copy_5_d = copy_3_q;"),
    fault("the place of the packet behind", "first_place_d = place_then_q;", "first_place_d = place_value;"),
    fault("the timestamp of a later packet", "q <= stage_5;", "q <= stage_4;"),
    fault("a copy that goes on where it ended", "if (copy_5_q != copy_before_q) begin", "if (1'b0) begin"),
    fault(
        "a copy without a packet keeps its records",
        "used_1_d = used_then;",
        "used_1_d = starts ? used_then : used_1_q;",
    ),
    fault("a record more than there are", "used_now != all", "used_now != all + 32'h1"),
    fault(
        "a full table's last slice ends",
        "goes_on = waiting_5_q & ~starts & |used_now;",
        "goes_on = waiting_5_q & ~sampler_sampled & |used_now;",
    ),
    fault(
        "packets in front of the first slice",
        "goes_on = waiting_5_q & ~starts & |used_now;",
        "goes_on = waiting_5_q & ~starts;",
    ),
    fault("a start that counts twice", "count_d = 32'h1;", "count_d = 32'h2;"),
    fault(
        "the other copy is written",
        "memory_1_write = written_q & written_copy_q;",
        "memory_1_write = written_q & ~written_copy_q;",
    ),
    fault("a start that is not written", "written_d = starts | goes_on;", "written_d = goes_on;"),
    fault("an overflow unseen", "overflow = written_q & ~|count_q;", "overflow = 1'b0;"),
    fault(
        "an overflow of the other copy",
        "overflow_epoch = written_copy_q;",
        "overflow_epoch = ~written_copy_q;",
    ),
    fault("records of earlier intervals", "if (is_used_q) begin", "if (1'b1) begin"),
    fault("words exchanged", "if (is_second) begin", "if (~is_second) begin"),
    fault(
        "a sum without its upper half",
        "ram_3_write_data = second[(32'h24)+:(36)];",
        "ram_3_write_data = first[(32'h24)+:(36)];",
    ),
];

/// Of a core with FineComb.
const FINECOMB_FAULTS: &[Fault] = &[
    fault("halves exchanged", "lda_field_0 = field_0_q;", "lda_field_0 = field_1_q;"),
    fault(
        "second fields not sent",
        "if ((section == 32'h5) & (step == field_number_1)) begin",
        "if (1'b0) begin",
    ),
    fault("the last of the fields' words left out", "(step_q == last_field)", "(step_q == 32'h0)"),
];

/// Of a core with an identity table.
const CORE_FAULTS: &[Fault] = &[
    fault("one copy counts", "identity_0_epoch = intervals_epoch;", "identity_0_epoch = 1'b0;"),
    fault(
        "the copy that counts is drained",
        "identity_0_drain_epoch = idle;",
        "identity_0_drain_epoch = ~idle;",
    ),
    fault(
        "the timestamp's fraction",
        "identity_0_nanoseconds = staged_timestamp_0_q[(32'h10)+:(40)];",
        "identity_0_nanoseconds = staged_timestamp_0_q[(32'h0)+:(40)];",
    ),
    fault(
        "cells are not cleared",
        "identity_0_clear_first = emitter_clear_all | (emitter_clear & ~idle);",
        "identity_0_clear_first = emitter_clear_all;",
    ),
    fault("an overflow unseen", "overflow = identity_0_overflow;", "overflow = 1'b0;"),
    fault(
        "third fields not sent",
        "if ((section == 32'h5) & (step == field_number_2)) begin",
        "if (1'b0) begin",
    ),
];

#[test]
fn planted_faults_are_noticed() {
    let configuration = identity(1, Settings::default());
    let verilog = emit(&configuration, Module::IdentityTable, "identity_table").unwrap();
    let check =
        |verilog: &str| checks::identity_table::check(&toolchain(), &configuration, verilog, 10_000, 7);
    let blind = missed(&verilog, "identity_table", FAULTS, check).unwrap();
    assert!(blind.is_empty(), "{blind:#?}");
    let configuration = lda_identity(1, Settings::default());
    let verilog = emit(&configuration, Module::LdaIdentity, "lda_identity").unwrap();
    let check =
        |verilog: &str| checks::identity_table::check(&toolchain(), &configuration, verilog, 10_000, 7);
    let blind = missed(&verilog, "lda_identity", ROWS_FAULTS, check).unwrap();
    assert!(blind.is_empty(), "{blind:#?}");
    let configuration = flow_rows(1, Settings::default());
    let verilog = emit(&configuration, Module::FlowRows, "flow_rows").unwrap();
    let check =
        |verilog: &str| checks::identity_table::check(&toolchain(), &configuration, verilog, 10_000, 7);
    let blind = missed(&verilog, "flow_rows", FLOW_FAULTS, check).unwrap();
    assert!(blind.is_empty(), "{blind:#?}");
    for (configuration, faults) in
        [(finecomb(Settings::default()), FINECOMB_FAULTS), (identity(0, Settings::default()), CORE_FAULTS)]
    {
        let verilog = emit(&configuration, Module::Core, "deltaline").unwrap();
        let check = |verilog: &str| checks::core::check(&toolchain(), &configuration, verilog, 3000, 7);
        let blind = missed(&verilog, "deltaline", faults, check).unwrap();
        assert!(blind.is_empty(), "{blind:#?}");
    }
}

#[test]
fn planted_faults_of_a_vector_are_noticed() {
    let configuration = flow_vector(1, Settings::default());
    let verilog = emit(&configuration, Module::FlowVector, "flow_vector").unwrap();
    let check =
        |verilog: &str| checks::identity_table::check(&toolchain(), &configuration, verilog, 10_000, 7);
    let blind = missed(&verilog, "flow_vector", VECTOR_FAULTS, check).unwrap();
    assert!(blind.is_empty(), "{blind:#?}");
}

#[test]
fn planted_faults_of_slices_are_noticed() {
    let configuration = slices(2, 16, Settings::default());
    let verilog = emit(&configuration, Module::Slices, "slices").unwrap();
    let check = |verilog: &str| checks::slices::check(&toolchain(), &configuration, verilog, 10_000, 7);
    let blind = missed(&verilog, "slices", SLICES_FAULTS, check).unwrap();
    assert!(blind.is_empty(), "{blind:#?}");
}
