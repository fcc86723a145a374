//! Formal proofs of the emitted Verilog.
//!
//! `hdl/formal` holds one file for each proof: a module that instantiates an emitted block, drives it with anything that
//! its assumptions allow, and states properties. Here is the list of proofs: for which sizes, how
//! deep the solver looks, and which faults each proof must notice. Yosys turns design and properties into SMT;
//! yosys-smtbmc with Yices answers:
//!
//! * prove: no state in the first `base` cycles breaks a property (bounded), and no state that follows `step` good ones
//!   does (induction); together, as `base` is not less, they hold for ever. Induction needs invariants, which talk about
//!   the inside of the module; they are properties like the others, under the macro `INVARIANTS`.
//! * cover: the assumptions leave room for the situations that matter, so that no proof is true for want of a trace.
//! * fault: a change of the emitted text must break a property, without the invariants' help, on some trace from the
//!   start. The macro `TRACE` narrows the search for covers and faults to traces that are found fast.
//!
//! One proof is of another kind: [`hash`] compares a linear circuit with its matrix.
//!
//! # Test plan
//!
//! The faults test the proofs. A fault whose text is gone, an unreached cover, a question without an answer are
//! failures. Unit tests compare the list with `hdl/formal` and with what is emitted now, without a solver.

mod hash;

use crate::{Failure, tools};
use deltaline_hdl::byte::ledger::Ledger;
use deltaline_hdl::emit::block::emit_block;
use deltaline_hdl::emit::reader;
use deltaline_hdl::inline::inserter::Inserter;
use deltaline_hdl::interval::Interval;
use deltaline_hdl::interval::succession::Succession;
use deltaline_hdl::point::aggregator::Aggregator;
use deltaline_hdl::registers::{self, Emitted, Options};
use deltaline_hdl::report::emitter::Emitter;
use deltaline_hdl::sketch::flow_rows::FlowRows;
use deltaline_hdl::sketch::flow_vector::FlowVector;
use deltaline_hdl::sketch::identity_table::IdentityTable;
use deltaline_hdl::sketch::lane::Lane;
use deltaline_hdl::sketch::lda::Lda;
use deltaline_hdl::sketch::lda_identity::LdaIdentity;
use deltaline_hdl::sketch::slices::Slices;
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::packet::classifier::Fields;
use deltaline_model::wire::shape::Kind;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Instant;

/// A proof in `hdl/formal/<name>.v`, whose top module is `<name>_proof`.
struct Proof {
    name: &'static str,
    /// What it is proven for.
    designs: &'static [Design],
    /// In which covers and faults are searched.
    small: Design,
    /// Modules that are cut out of the design: their outputs become anything.
    cut: &'static str,
    /// Text that is put in front of the end of a module, so that the properties can look into its memory.
    window: Option<(&'static str, &'static str)>,
    /// Cycles from the start without a bad state: at least `step`.
    base: u32,
    /// Good cycles behind which no bad one comes.
    step: u32,
    /// Cycles within which everything coverable is reached.
    cover: u32,
    faults: &'static [Fault],
}

/// What is emitted, under the name of the emitted module, and what the properties know of its size.
#[derive(Clone, Copy)]
struct Design {
    size: &'static str,
    defines: &'static str,
    emit: fn() -> Result<String, Failure>,
}

const fn design(size: &'static str, defines: &'static str, emit: fn() -> Result<String, Failure>) -> Design {
    Design { size, defines, emit }
}

/// A configuration of `banks` banks of `rows` rows.
fn configuration(banks: u8, rows: usize) -> Result<Configuration, Failure> {
    let prefixes: Vec<u8> = (1..=banks).collect();
    Ok(Configuration::new(Settings { rows, prefixes: &prefixes, ..Settings::default() })?)
}

/// The same of one bank, of another kind.
fn of_kind(synopsis: Kind, rows: usize) -> Result<Configuration, Failure> {
    Ok(Configuration::new(Settings { synopsis, rows, prefixes: &[1], ..Settings::default() })?)
}

/// The same with two classes, by the IP version.
fn two_classes(banks: u8, rows: usize) -> Result<Configuration, Failure> {
    let prefixes: Vec<u8> = (1..=banks).collect();
    let version = |version| Fields { version: Some(version), ..Fields::default() };
    let entries = [version(4).entry(0)?, version(6).entry(1)?];
    let settings = Settings { rows, prefixes: &prefixes, entries: &entries, ..Settings::default() };
    Ok(Configuration::new(settings)?)
}

const LDA: Design = design("11 address bits", "-DA=11", || Ok(emit_block(&mut Lda::<11>::default(), "lda")?));
const LDA_SMALL: Design =
    design("4 address bits", "-DA=4", || Ok(emit_block(&mut Lda::<4>::default(), "lda")?));
const LDA_DIGESTS: Design = design("11 address bits, with digests", "-DA=11 -DDIGESTS", || {
    Ok(emit_block(&mut Lda::<11, 104, 1>::default(), "lda")?)
});
const LDA_DIGESTS_SMALL: Design = design("4 address bits, with digests", "-DA=4 -DDIGESTS", || {
    Ok(emit_block(&mut Lda::<4, 104, 1>::default(), "lda")?)
});
const EMITTER: Design =
    design("2 x 1024 cells", "-DA=11 -DROWS=1024 -DBANKS=2 -DCLASSES=1 -DWORDS=2048", || {
        Ok(emit_block(&mut Emitter::<11>::new(&configuration(2, 1024)?), "emitter")?)
    });
/// As many cells as are no power of two.
const EMITTER_UNEVEN: Design =
    design("3 x 8 cells", "-DA=5 -DROWS=8 -DBANKS=3 -DCLASSES=1 -DWORDS=32", || {
        Ok(emit_block(&mut Emitter::<5>::new(&configuration(3, 8)?), "emitter")?)
    });
/// Classes with words between them that are left out.
const EMITTER_CLASSES: Design =
    design("2 classes of 3 x 8 cells", "-DA=6 -DROWS=8 -DBANKS=3 -DCLASSES=2 -DWORDS=32", || {
        Ok(emit_block(&mut Emitter::<6>::new(&two_classes(3, 8)?), "emitter")?)
    });
const EMITTER_SMALL: Design =
    design("1 x 8 cells", "-DA=4 -DROWS=8 -DBANKS=1 -DCLASSES=1 -DWORDS=16", || {
        Ok(emit_block(&mut Emitter::<4>::new(&configuration(1, 8)?), "emitter")?)
    });
const INTERVAL: Design = design("", "", || Ok(emit_block(&mut Interval::<1>::default(), "interval")?));
const SUCCESSION: Design =
    design("2 lanes", "", || Ok(emit_block(&mut Succession::<2>::default(), "succession")?));
const LANE: Design = design("2 x 1024 cells", "-DA=11 -DR=10 -DBANKS=2 -DSHIFT=11", || {
    Ok(emit_block(&mut Lane::<10, 11, 1>::new(&configuration(2, 1024)?), "lane")?)
});
const LANE_CLASSES: Design = design("4 classes of 2 x 256 cells", "-DA=11 -DR=8 -DBANKS=2 -DSHIFT=9", || {
    Ok(emit_block(&mut Lane::<8, 11, 1>::new(&configuration(2, 256)?), "lane")?)
});
const LANE_SMALL: Design = design("1 x 8 cells", "-DA=4 -DR=3 -DBANKS=1 -DSHIFT=3", || {
    Ok(emit_block(&mut Lane::<3, 4, 1>::new(&configuration(1, 8)?), "lane")?)
});
const IDENTITY_TABLE: Design = design("4 x 1024 cells", "-DA=12 -DR=10", || {
    let configuration = of_kind(Kind::IDENTITY_TABLE, 1024)?;
    Ok(emit_block(&mut IdentityTable::<10, 12>::new(&configuration), "identity_table")?)
});
const IDENTITY_TABLE_SMALL: Design = design("4 x 8 cells", "-DA=5 -DR=3", || {
    let configuration = of_kind(Kind::IDENTITY_TABLE, 32)?;
    Ok(emit_block(&mut IdentityTable::<3, 5>::new(&configuration), "identity_table")?)
});
const FLOW_ROWS: Design = design("4 x 1024 cells", "-DA=12 -DR=10", || {
    let configuration = of_kind(Kind::FLOW_ROWS, 1024)?;
    Ok(emit_block(&mut FlowRows::<10, 12>::new(&configuration), "flow_rows")?)
});
const FLOW_ROWS_SMALL: Design = design("4 x 8 cells", "-DA=5 -DR=3", || {
    let configuration = of_kind(Kind::FLOW_ROWS, 32)?;
    Ok(emit_block(&mut FlowRows::<3, 5>::new(&configuration), "flow_rows")?)
});
const FLOW_VECTOR: Design = design("1024 counters", "-DA=10", || {
    let configuration = of_kind(Kind::FLOW_VECTOR, 1024)?;
    Ok(emit_block(&mut FlowVector::<10>::new(&configuration), "flow_vector")?)
});
const FLOW_VECTOR_SMALL: Design = design("128 counters", "-DA=7", || {
    let configuration = of_kind(Kind::FLOW_VECTOR, 128)?;
    Ok(emit_block(&mut FlowVector::<7>::new(&configuration), "flow_vector")?)
});
const SLICES: Design = design("512 records", "-DA=10", || {
    let configuration = of_kind(Kind::SLICES, 1024)?;
    Ok(emit_block(&mut Slices::<10, 9>::new(&configuration), "slices")?)
});
const SLICES_SMALL: Design = design("4 records", "-DA=3", || {
    let configuration = of_kind(Kind::SLICES, 8)?;
    Ok(emit_block(&mut Slices::<3, 2>::new(&configuration), "slices")?)
});
const BYTE_SLICES: Design =
    design("64 records", "-DA=7", || Ok(emit_block(&mut Ledger::<7, 8, 1>::default(), "ledger")?));
/// What is searched is not what the totals' 128 words are cleared in: they are cut out, and the planes have 16.
const BYTE_SLICES_SMALL: Design = design("4 records", "-DA=3", || {
    let text = emit_block(&mut Ledger::<3, 4, 1>::default(), "ledger")?;
    Ok(text.replace("last_word = 13'b1111111;", "last_word = 13'b1111;"))
});
const LDA_IDENTITY: Design = design("1024 rows, 4 x 256 cells", "-DA=12 -DR=10 -DT=8", || {
    let configuration = of_kind(Kind::LDA_IDENTITY, 1024)?;
    Ok(emit_block(&mut LdaIdentity::<10, 12, 8>::new(&configuration), "lda_identity")?)
});
const LDA_IDENTITY_SMALL: Design = design("32 rows, 4 x 8 cells", "-DA=7 -DR=5 -DT=3", || {
    let configuration = of_kind(Kind::LDA_IDENTITY, 32)?;
    Ok(emit_block(&mut LdaIdentity::<5, 7, 3>::new(&configuration), "lda_identity")?)
});
const AGGREGATOR: Design = design("1 lane, 2 x 1024 cells", "-DA=11", || {
    Ok(emit_block(&mut Aggregator::<10, 11, 1, 1>::new(&configuration(2, 1024)?), "aggregator")?)
});
const AGGREGATOR_TWO_LANES: Design = design("2 lanes, 2 x 1024 cells", "-DA=11 -DTWO_LANES", || {
    Ok(emit_block(&mut Aggregator::<10, 11, 2, 1>::new(&configuration(2, 1024)?), "aggregator")?)
});
const AGGREGATOR_TWO_CLASSES: Design =
    design("1 lane, 2 classes of 2 x 256 cells", "-DA=10 -DTWO_CLASSES", || {
        Ok(emit_block(&mut Aggregator::<8, 10, 1, 2>::new(&two_classes(2, 256)?), "aggregator")?)
    });
const AGGREGATOR_SMALL: Design = design("2 lanes, 1 x 8 cells", "-DA=4 -DTWO_LANES", || {
    Ok(emit_block(&mut Aggregator::<3, 4, 2, 1>::new(&configuration(1, 8)?), "aggregator")?)
});
const REGISTERS: Design = design("", "", || {
    let options = Options { clock: true, delimiters: true, authentication: true };
    Ok(registers::emit(&Emitted::new(&configuration(2, 1024)?, 8, 1, 0, options), "registers")?)
});
const INSERTER: Design =
    design("64 bits", "", || Ok(emit_block(&mut Inserter::<64, 8>::default(), "inserter")?));

/// A change of the emitted text that breaks a property in one of these cycles.
struct Fault {
    what: &'static str,
    from: &'static str,
    to: &'static str,
    cycles: (u32, u32),
}

const fn fault(what: &'static str, from: &'static str, to: &'static str, cycles: (u32, u32)) -> Fault {
    Fault { what, from, to, cycles }
}

const PROOFS: [Proof; 15] = [
    Proof {
        name: "ram",
        designs: &[LDA],
        small: LDA_SMALL,
        cut: "",
        window: Some((
            "lda_lower_ram_0",
            "(* anyconst *) wire [`A-1:0] chosen;\nwire [35:0] held = words[chosen];\n",
        )),
        base: 1,
        step: 1,
        cover: 5,
        faults: &[fault(
            "a write of an odd word is lost",
            "if (write_enable) words",
            "if (write_enable & ~write_address[0]) words",
            (4, 4),
        )],
    },
    Proof {
        name: "lda",
        designs: &[LDA, LDA_DIGESTS],
        small: LDA_DIGESTS_SMALL,
        cut: "",
        window: None,
        base: 2,
        step: 2,
        cover: 16,
        faults: &[
            fault(
                "no forwarding at distance 1",
                "lower_forward_1 = hazard_1_2_q;",
                "lower_forward_1 = 1'b0;",
                (14, 14),
            ),
            fault(
                "no forwarding at distance 4",
                "upper_forward_4 = hazard_4_2_q;",
                "upper_forward_4 = 1'b0;",
                (14, 14),
            ),
            fault(
                "forwarding across the epoch switch",
                "hazard_0 = valid_1_q & (copy_1_q == copy_0_q) &",
                "hazard_0 = valid_1_q &",
                (14, 14),
            ),
            fault(
                "sum carry lost between the halves",
                "upper_adder_sum_carry_in = sum_carry_q;",
                "upper_adder_sum_carry_in = 1'b0;",
                (14, 14),
            ),
            fault(
                "upper half not cleared",
                "upper_clear_first = clearing_0_q;",
                "upper_clear_first = 1'b0;",
                (14, 14),
            ),
            fault(
                "drain reads the other copy",
                "drained_lower = lower_stored_second;",
                "drained_lower = lower_stored_first;",
                (14, 14),
            ),
            fault(
                "count overflow not reported",
                "wraps_d = count_wraps_q & valid_5_q;",
                "wraps_d = 1'b0;",
                (14, 14),
            ),
            fault(
                "no forwarding of a digest at distance 2",
                "fields_0_forward_2 = hazard_2_2_q;",
                "fields_0_forward_2 = 1'b0;",
                (14, 14),
            ),
            fault(
                "digests written into both copies",
                "fields_0_write_first = valid_5_q & ~copy_5_q;",
                "fields_0_write_first = valid_5_q;",
                (14, 14),
            ),
            fault(
                "digests not cleared",
                "fields_0_clear_second = clearing_1_q;",
                "fields_0_clear_second = 1'b0;",
                (14, 14),
            ),
        ],
    },
    Proof {
        name: "emitter",
        designs: &[EMITTER, EMITTER_UNEVEN, EMITTER_CLASSES],
        small: EMITTER_SMALL,
        cut: "",
        window: None,
        base: 2,
        step: 2,
        cover: 178,
        faults: &[
            fault(
                "a beat is given up before it is taken",
                "pack_taken = (state_q == 32'h8) & m_axis_tready;",
                "pack_taken = state_q == 32'h8;",
                (26, 26),
            ),
            fault(
                "a stray tlast",
                "is_last_d = section == 32'h4;",
                "is_last_d = section == 32'h3;",
                (166, 166),
            ),
            fault(
                "running before all is clear",
                "cleared_d = cleared_q;",
                "cleared_d = |walk_address;",
                (4, 4),
            ),
            fault(
                "a clear as the address moves on",
                "clearing_d = (state_q == 32'h6) & (step_q == 32'h0);",
                "clearing_d = (state_q == 32'h6) & (step_q == 32'h1);",
                (107, 107),
            ),
            fault(
                "cells are not cleared",
                "clearing_d = (state_q == 32'h6) & (step_q == 32'h0);",
                "clearing_d = 1'b0;",
                (177, 177),
            ),
            fault("a top byte is displaced", "(tops_q << 32'h8)", "(tops_q << 32'h4)", (161, 161)),
            fault(
                "a header word is taken before it is looked up",
                "state_d = 32'h4;\n            step_d",
                "state_d = 32'h5;\n            step_d",
                (33, 33),
            ),
        ],
    },
    Proof {
        name: "interval",
        designs: &[INTERVAL],
        small: INTERVAL,
        cut: "",
        window: None,
        base: 8,
        step: 2,
        cover: 16,
        faults: &[
            fault("an end during a drain not refused", "may_end = ~busy;", "may_end = 1'b1;", (5, 12)),
            fault("an end while another is on its way", "drain_busy | pending_q |", "drain_busy |", (5, 12)),
            fault("a refused delimiter not reported", "refused_now = refused_now + 32'h1;", "", (5, 14)),
            fault(
                "a delimiter's number is not adopted",
                "due_now = judged_successor_0_q;",
                "due_now = due_number_q;",
                (5, 16),
            ),
            fault(
                "late delimiters become candidates",
                "begins = (by_register & foresight_0_begins)",
                "begins = by_register",
                (5, 20),
            ),
            fault("the epoch stays", "current_d = ~current_q;", "current_d = current_q;", (5, 12)),
            fault(
                "the least interval counts by two",
                "left_d = left_q - 32'h1;",
                "left_d = left_q - 32'h2;",
                (5, 20),
            ),
            fault("the least interval a cycle too long", "& ~|late);", ");", (5, 20)),
        ],
    },
    Proof {
        name: "succession",
        designs: &[SUCCESSION],
        small: SUCCESSION,
        cut: "",
        window: None,
        base: 4,
        step: 2,
        cover: 14,
        faults: &[
            fault(
                "a tag counts before it is ready",
                "due_tag_now = due_ready;",
                "due_tag_now = 1'b1;",
                (2, 6),
            ),
            fault(
                "the candidate's successor needs no tag",
                "next_tag_now & judged_next_tag_1_q",
                "next_tag_now",
                (2, 10),
            ),
            fault("the tag of one is good for its neighbour", "due_tag_now = 1'b0;", "", (2, 10)),
            fault(
                "with a key the first one counts",
                "if (keyed) begin",
                "if (keyed & started_now) begin",
                (2, 6),
            ),
            fault("it is not told that another is due", "due_changes_now = 1'b1;", "", (2, 8)),
        ],
    },
    Proof {
        name: "lane",
        designs: &[LANE, LANE_CLASSES],
        small: LANE_SMALL,
        cut: "lane_place lane_lda",
        window: None,
        base: 2,
        step: 2,
        cover: 20,
        faults: &[
            fault(
                "copy of an update taken a cycle late",
                "lda_epoch = copy_5_q;",
                "lda_epoch = copy_4_q;",
                (7, 7),
            ),
            fault("the timestamp of the packet behind", "q <= stage_5;", "q <= stage_4;", (7, 7)),
            fault(
                "a packet right behind another is lost",
                "placing_0_d = packet;",
                "placing_0_d = packet & ~placing_0_q;",
                (8, 8),
            ),
            fault("the class of the packet behind", "((kinds_5_q) &", "((kinds_4_q) &", (7, 7)),
        ],
    },
    Proof {
        name: "identity_table",
        designs: &[IDENTITY_TABLE],
        small: IDENTITY_TABLE_SMALL,
        cut: "identity_table_place identity_table_digest_? identity_table_checks identity_table_table_?_lda",
        window: None,
        base: 22,
        step: 22,
        cover: 24,
        faults: &[
            fault(
                "a packet right behind another is lost",
                "placing_0_d = packet;",
                "placing_0_d = packet & ~placing_0_q;",
                (9, 9),
            ),
            fault("the copy of the packet behind", "q <= stage_6;", "q <= stage_5;", (8, 8)),
            fault("a field of the packet behind", "q <= stage_4;", "q <= stage_3;", (8, 14)),
            fault(
                "two tables have the same cell",
                "table_2_row = digest_2_value",
                "table_2_row = digest_1_value",
                (8, 8),
            ),
            fault("a table's wrap is not told", "overflows = overflows | table_3_overflow;", "", (2, 2)),
            fault("all tables are cleared", "clear_first & is_drained", "clear_first", (2, 2)),
        ],
    },
    Proof {
        name: "flow_rows",
        designs: &[FLOW_ROWS],
        small: FLOW_ROWS_SMALL,
        cut: "flow_rows_place flow_rows_digest flow_rows_digests flow_rows_flow_key flow_rows_flow_hash_? flow_rows_base_? \
              flow_rows_table_?_lda",
        window: None,
        base: 22,
        step: 22,
        cover: 24,
        faults: &[
            fault(
                "a packet right behind another is lost",
                "placing_0_d = packet;",
                "placing_0_d = packet & ~placing_0_q;",
                (9, 9),
            ),
            fault("the copy of the packet behind", "q <= stage_6;", "q <= stage_5;", (8, 8)),
            fault("the digest of the packet behind", "q <= stage_4;", "q <= stage_3;", (8, 14)),
            fault(
                "two rows have the same base",
                "base_2_x = flow_hash_1_bits",
                "base_2_x = flow_hash_0_bits",
                (1, 8),
            ),
            fault(
                "the offset of the packet behind",
                "base_2_column + ((offset_q)",
                "base_2_column + ((offset_d)",
                (8, 8),
            ),
            fault("a row's wrap is not told", "overflows = overflows | table_3_overflow;", "", (2, 2)),
            fault("all rows are cleared", "clear_first & is_drained", "clear_first", (2, 2)),
        ],
    },
    Proof {
        name: "flow_vector",
        designs: &[FLOW_VECTOR],
        small: FLOW_VECTOR_SMALL,
        cut: "flow_vector_place flow_vector_flow_key flow_vector_flow_hash_? flow_vector_subvector_first flow_vector_subvector_second \
              flow_vector_lda",
        window: None,
        base: 30,
        step: 30,
        cover: 32,
        faults: &[
            fault(
                "a packet right behind another is lost",
                "placing_0_d = packet;",
                "placing_0_d = packet & ~placing_0_q;",
                (17, 17),
            ),
            fault("the copy of the packet behind", "q <= stage_14;", "q <= stage_13;", (16, 16)),
            fault("the update a cycle early", "q <= stage_8;", "q <= stage_7;", (15, 16)),
            fault(
                "the other half of the flow's hash",
                "flow_0_d = flow_hash_0_bits;",
                "flow_0_d = flow_hash_1_bits;",
                (1, 8),
            ),
            fault("the upper half of the packet behind", "q <= stage_5;", "q <= stage_4;", (10, 12)),
            fault(
                "j of other bits",
                "number = place_value[(32'ha)+:(6)];",
                "number = place_value[(32'h9)+:(6)];",
                (6, 8),
            ),
            fault("a wrong step", "9e3779b9", "9e3779b8", (6, 8)),
            fault(
                "lower bits of what the rounds give",
                "second_mixed >> below",
                "second_mixed >> 1'b1",
                (1, 2),
            ),
            fault(
                "one copy is cleared for the other",
                "lda_clear_1 = clear_second;",
                "lda_clear_1 = clear_first;",
                (2, 2),
            ),
            fault("a wrap is not told", "overflow = lda_overflow;", "overflow = 1'b0;", (2, 2)),
        ],
    },
    Proof {
        name: "slices",
        designs: &[SLICES],
        small: SLICES_SMALL,
        cut: "slices_place",
        window: None,
        base: 16,
        step: 16,
        cover: 30,
        faults: &[
            fault(
                "a packet right behind another is lost",
                "waiting_0_d = packet;",
                "waiting_0_d = packet & ~waiting_0_q;",
                (1, 20),
            ),
            fault("the copy of the packet behind", "copy_5_d = copy_4_q;", "copy_5_d = copy_3_q;", (1, 20)),
            fault(
                "the place of the packet behind",
                "first_place_d = place_then_q;",
                "first_place_d = place_value;",
                (1, 20),
            ),
            fault(
                "the copy goes on where it ended",
                "if (copy_5_q != copy_before_q) begin",
                "if (1'b0) begin",
                (1, 20),
            ),
            fault(
                "a copy without a packet keeps its records",
                "used_1_d = used_then;",
                "used_1_d = starts ? used_then : used_1_q;",
                (1, 20),
            ),
            fault("one record more than there are", "used_now != all", "used_now != all + 32'h1", (1, 20)),
            fault(
                "a full table's last slice ends",
                "& ~starts & |used_now",
                "& ~sampler_sampled & |used_now",
                (1, 20),
            ),
            fault("a start counts twice", "count_d = 32'h1;", "count_d = 32'h2;", (1, 20)),
            fault("packets in front of the first slice", "& ~starts & |used_now", "& ~starts", (1, 20)),
            fault(
                "the other copy is written",
                "memory_1_write = written_q & written_copy_q;",
                "memory_1_write = written_q & ~written_copy_q;",
                (1, 20),
            ),
            fault(
                "a start is not written before another packet comes",
                "written_d = starts | goes_on;",
                "written_d = goes_on;",
                (1, 20),
            ),
            fault("what is not used is shown", "if (is_used_q) begin", "if (1'b1) begin", (1, 20)),
            fault("the words are exchanged", "if (is_second) begin", "if (~is_second) begin", (1, 20)),
            fault(
                "the drained copy has the other's number",
                "drained_used = used_1_q;",
                "drained_used = used_0_q;",
                (1, 20),
            ),
        ],
    },
    Proof {
        name: "byte_slices",
        designs: &[BYTE_SLICES],
        small: BYTE_SLICES_SMALL,
        cut: "ledger_totals",
        window: None,
        base: 16,
        step: 14,
        cover: 85,
        faults: &[
            fault(
                "a start has no record",
                "used_then_0 = used_now_0 + 32'h1;",
                "used_then_0 = used_now_0;",
                (26, 36),
            ),
            fault(
                "a start is in the record before",
                "number_0 = used_now_0;",
                "number_0 = used_now_0 - 32'h1;",
                (26, 36),
            ),
            fault(
                "a packet is in the record behind",
                "number_0 = used_now_0 - 32'h1;",
                "number_0 = used_now_0;",
                (58, 72),
            ),
            fault(
                "the other copy's records",
                "used_now_0 = used_second_0_q;",
                "used_now_0 = used_first_0_q;",
                (58, 72),
            ),
            fault("sums in the first cell", "(number_0 << 32'h1) | 32'h1", "(number_0 << 32'h1)", (26, 36)),
            fault(
                "a packet in front of the first slice counts",
                "is_sampled_d = |used_then_0;",
                "is_sampled_d = 1'b1;",
                (26, 40),
            ),
            fault(
                "a start's time in its second cell",
                "sum_middle_write_address = write_cell ^ 32'h2;",
                "sum_middle_write_address = write_cell;",
                (26, 40),
            ),
            fault(
                "a start's place is not kept",
                "count_high_write_enable = 1'b1;",
                "count_high_write_enable = 1'b0;",
                (26, 40),
            ),
            fault(
                "halves of the place exchanged",
                "place_0[(32'h10)+:(16)]",
                "place_0[(32'h0)+:(16)]",
                (26, 40),
            ),
        ],
    },
    Proof {
        name: "lda_identity",
        designs: &[LDA_IDENTITY],
        small: LDA_IDENTITY_SMALL,
        cut: "lda_identity_place lda_identity_digest_? lda_identity_checks lda_identity_rows lda_identity_part_?_lda",
        window: None,
        base: 22,
        step: 22,
        cover: 24,
        faults: &[
            fault(
                "a packet right behind another is lost",
                "placing_0_d = packet;",
                "placing_0_d = packet & ~placing_0_q;",
                (9, 9),
            ),
            fault("the copy of the packet behind", "q <= stage_6;", "q <= stage_5;", (8, 8)),
            fault("a field of the packet behind", "q <= stage_4;", "q <= stage_3;", (8, 14)),
            fault(
                "two parts have the same cell",
                "part_2_row = digest_2_value",
                "part_2_row = digest_1_value",
                (8, 8),
            ),
            fault("a part's wrap is not told", "overflows = overflows | part_3_overflow;", "", (2, 2)),
            fault("a row is cleared with every cell", "clear_first & rows_drained", "clear_first", (2, 2)),
            fault(
                "a cell is cleared with its first word",
                "clear_second & is_drained & is_second",
                "clear_second & is_drained",
                (2, 2),
            ),
        ],
    },
    Proof {
        name: "aggregator",
        designs: &[AGGREGATOR, AGGREGATOR_TWO_LANES, AGGREGATOR_TWO_CLASSES],
        small: AGGREGATOR_SMALL,
        cut: "aggregator_lane_? aggregator_totals aggregator_class_totals_? aggregator_time_sum_? aggregator_unmatched_count aggregator_classifier_?",
        window: None,
        base: 2,
        step: 2,
        cover: 100,
        faults: &[
            fault(
                "counting before all is clear",
                "commit_0 & measured_0 & emitter_running;",
                "commit_0 & measured_0;",
                (2, 2),
            ),
            fault(
                "the counting copy is cleared",
                "clear_second = emitter_clear_all | (emitter_clear & idle);",
                "clear_second = emitter_clear_all | (emitter_clear & ~idle);",
                (90, 93),
            ),
            fault(
                "cells are drained behind the header's first word",
                "if ((section_q == 32'h0) & header_step_q[32'h10]) begin",
                "if ((section_q == 32'h0) & (step_q == 32'h0)) begin",
                (27, 30),
            ),
            fault("an interval ends during a drain", "may_end = ~busy;", "may_end = 1'b1;", (18, 24)),
            fault(
                "the last timestamp is not the last lane's",
                "last_now_0 = staged_timestamp_1_q;",
                "last_now_0 = staged_timestamp_0_q;",
                (18, 18),
            ),
            fault(
                "a lane's counts are left out of the drained cell",
                "merge_1_right = lane_1_drained_cell",
                "merge_1_right = lane_0_drained_cell",
                (1, 1),
            ),
            fault(
                "the absolute time of an end that is refused",
                "if (intervals_start_drain) begin",
                "if (intervals_request) begin",
                (1, 24),
            ),
            fault(
                "an end by the pin passes for a delimiter's",
                "totals_timed = intervals_timed;",
                "totals_timed = 1'b0;",
                (18, 24),
            ),
        ],
    },
    Proof {
        name: "axi_lite",
        designs: &[REGISTERS],
        small: REGISTERS,
        cut: "",
        window: None,
        base: 12,
        step: 2,
        cover: 24,
        faults: &[
            fault(
                "a write does not wait for the answer before it",
                "writes = aw_full_q & w_full_q & ~b_full_q;",
                "writes = aw_full_q & w_full_q;",
                (6, 6),
            ),
            fault(
                "a refused schedule is taken",
                "~|prefixes_schedule_reserved & prefixes_schedule_allowed;",
                "~|prefixes_schedule_reserved;",
                (4, 4),
            ),
            fault(
                "a write to any register sets the point's identifier",
                "if (point_id_write) begin",
                "if (axi_write) begin",
                (4, 4),
            ),
            fault(
                "the address of a read does not stay",
                "ar_address_next = ar_address_q;",
                "ar_address_next = s_axil_araddr;",
                (7, 7),
            ),
        ],
    },
    Proof {
        name: "inserter",
        designs: &[INSERTER],
        small: INSERTER,
        cut: "",
        window: None,
        base: 20,
        step: 3,
        cover: 20,
        faults: &[
            fault(
                "a turn within a frame",
                "(s_taken & s_axis_tlast & overdue)",
                "(s_taken & overdue)",
                (3, 3),
            ),
            fault(
                "a beat runs over the skid register",
                "s_ready_d = ~skid_next &",
                "s_ready_d = ~stalled &",
                (4, 4),
            ),
            fault(
                "traffic's tuser on an inserted beat",
                "beat_user = 32'h0",
                "beat_user = s_axis_tuser",
                (4, 4),
            ),
        ],
    },
];

/// One line of the table.
struct Outcome {
    property: String,
    engine: &'static str,
    depth: String,
    result: String,
    good: bool,
}

/// Runs the proofs, or the one called `only`, with the faults that show within `most` cycles, and prints a table.
pub(crate) fn prove(only: Option<&str>, most: u32) -> Result<(), Failure> {
    let chosen: Vec<&Proof> =
        PROOFS.iter().filter(|proof| only.is_none_or(|name| name == proof.name)).collect();
    let with_hash = only.is_none_or(|name| name == hash::NAME);
    if chosen.is_empty() && !with_hash {
        let names: Vec<&str> = PROOFS.iter().map(|proof| proof.name).chain([hash::NAME]).collect();
        return Err(format!("no proof has this name; there are {}", names.join(", ")).into());
    }
    eprintln!("==> formal proofs");
    tools::install(tools::Selection::Synthesis)?;
    tools::install(tools::Selection::Formal)?;
    println!("{:<56} {:<17} {:>8}  {:<28} {:>7}", "property", "engine", "depth", "result", "seconds");
    let bad = AtomicUsize::new(0);
    let line = |outcome: &dyn Fn() -> Result<Outcome, Failure>| -> Result<(), Failure> {
        let start = Instant::now();
        let Outcome { property, engine, depth, result, good } = outcome()?;
        let seconds = start.elapsed().as_secs_f64();
        println!("{property:<56} {engine:<17} {depth:>8}  {result:<28} {seconds:>7.1}");
        bad.fetch_add(usize::from(!good), Ordering::Relaxed);
        Ok(())
    };
    if with_hash {
        hash::prove(&line)?;
    }
    // Solvers have one thread each.
    let waiting = Mutex::new(chosen.into_iter());
    let work = || -> Result<(), String> {
        loop {
            let next = waiting.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some(proof) = next else { return Ok(()) };
            lines(proof, most, line).map_err(|error| format!("{}: {error}", proof.name))?;
        }
    };
    let workers = thread::available_parallelism().map_or(1, NonZeroUsize::get);
    thread::scope(|scope| -> Result<(), Failure> {
        let start = |_| thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work);
        let started: Vec<_> = (0..workers).map(start).collect::<Result<_, _>>()?;
        for worker in started {
            worker.join().map_err(|_| "a proof panicked")??;
        }
        Ok(())
    })?;
    match bad.into_inner() {
        0 => Ok(()),
        bad => Err(format!("{bad} of these lines are not as they should be").into()),
    }
}

/// RustHDL's blocks are large values.
const STACK: usize = 1 << 28;

/// All lines of a proof.
fn lines(
    proof: &Proof,
    most: u32,
    line: impl Fn(&dyn Fn() -> Result<Outcome, Failure>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    for design in proof.designs {
        line(&|| hold(proof, design))?;
    }
    let small = emitted(proof, &proof.small)?;
    line(&|| cover(proof, &small))?;
    for fault in proof.faults.iter().filter(|fault| fault.cycles.1 <= most) {
        line(&|| notice(proof, fault, &small))?;
    }
    Ok(())
}

/// The properties hold for ever.
fn hold(proof: &Proof, design: &Design) -> Result<Outcome, Failure> {
    let text = emitted(proof, design)?;
    let model = Model { proof, design, task: "prove", define: "-DINVARIANTS" }.write(&text)?;
    let base = ask(&model, &["-t", &proof.base.to_string()])?;
    let answer = if base.holds { ask(&model, &["-i", "-t", &proof.step.to_string()])? } else { base };
    let separator = if design.size.is_empty() { "" } else { ", " };
    Ok(Outcome {
        property: format!("{}{separator}{}", proof.name, design.size),
        engine: "induction",
        depth: proof.step.to_string(),
        good: answer.holds,
        result: if answer.holds { "proven".into() } else { format!("NOT PROVEN, {}", answer.detail) },
    })
}

/// Everything coverable is reached in the small design, whose text is `small`.
fn cover(proof: &Proof, small: &str) -> Result<Outcome, Failure> {
    let design = &proof.small;
    let model = Model { proof, design, task: "cover", define: "-DTRACE" }.write(small)?;
    let answer = ask(&model, &["-c", "-t", &proof.cover.to_string()])?;
    Ok(Outcome {
        property: format!("{}: covers", proof.name),
        engine: "bounded",
        depth: proof.cover.to_string(),
        good: answer.holds,
        result: if answer.holds { "all reached".into() } else { format!("NOT REACHED, {}", answer.detail) },
    })
}

/// The fault in `small`, the text of the small design, breaks a property.
fn notice(proof: &Proof, fault: &Fault, small: &str) -> Result<Outcome, Failure> {
    let (first, last) = fault.cycles;
    let design = &proof.small;
    let mut outcome = Outcome {
        property: format!("{}, fault: {}", proof.name, fault.what),
        engine: "bounded",
        depth: last.to_string(),
        good: false,
        result: "STALE: its text is gone".into(),
    };
    if small.contains(fault.from) {
        let faulty = small.replace(fault.from, fault.to);
        let model = Model { proof, design, task: "fault", define: "-DTRACE" }.write(&faulty)?;
        let answer = ask(&model, &["-t", &format!("{first}:{}", last + 1)])?;
        outcome.good = !answer.holds;
        outcome.result = if answer.holds { "MISSED".into() } else { format!("found, {}", answer.detail) };
    }
    Ok(outcome)
}

/// A proof's design, with its window.
fn emitted(proof: &Proof, design: &Design) -> Result<String, Failure> {
    let text = (design.emit)()?;
    let Some((module, window)) = proof.window else { return Ok(text) };
    let Some(found) = reader::module(&text, module) else {
        return Err(format!("proof {}: nothing emitted is called {module}", proof.name).into());
    };
    let (before, behind) = text.split_at(found.start + found.text.len() - "endmodule".len());
    Ok(format!("{before}{window}{behind}"))
}

/// What is asked of the solver. Yosys elaborates of the design only what the proof needs.
struct Model<'a> {
    proof: &'a Proof,
    design: &'a Design,
    task: &'static str,
    define: &'static str,
}

impl Model<'_> {
    /// Makes SMT of a design and its properties; the file's path.
    fn write(&self, text: &str) -> Result<PathBuf, Failure> {
        let script = "\
import sys
from pyosys import libyosys as yosys
design = yosys.Design()
emitted, folder, name, model, defines, cut = sys.argv[1:]
for command in (
    f'read_verilog -formal -I{folder} {defines} {folder}/{name}.v',
    f'read_verilog -formal -defer {defines} {emitted}',
    f'hierarchy -check -top {name}_proof',
    # A memory of constants would hold anything in induction.
    'proc -norom',
    f'cutpoint {cut}' if cut else '',
    'flatten',
    'check -assert',
    'prep -nordff',
    'memory_nordff',
    'async2sync',
    f'write_smt2 -wires {model}',
):
    if command:
        yosys.run_pass(command, design)
";
        let Model { proof, design, task, define } = self;
        let folder = tools::folder()?.join("formal-run");
        fs::create_dir_all(&folder)?;
        let emitted = folder.join(format!("{}-{task}.v", proof.name));
        fs::write(&emitted, text)?;
        let model = folder.join(format!("{}-{task}.smt2", proof.name));
        let mut yosys = tools::yosys_python()?;
        yosys.arg("-c").arg(script).arg(&emitted).arg(tools::workspace()?.join("hdl/formal"));
        yosys.arg(proof.name).arg(&model);
        yosys.arg(format!("{} {define}", design.defines)).arg(proof.cut);
        crate::acceptance::run(&mut yosys)?;
        Ok(model)
    }
}

/// What the solver found.
struct Answer {
    holds: bool,
    /// The line of the first property that does not hold, and the cycle.
    detail: String,
}

fn ask(model: &Path, options: &[&str]) -> Result<Answer, Failure> {
    let output = tools::smtbmc()?.args(options).arg(model).output()?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    let line = |text: &str| printed.lines().rev().find(|line| line.contains(text));
    match (output.status.success(), line("Status: PASSED"), line("Status: FAILED")) {
        (true, Some(_), _) => Ok(Answer { holds: true, detail: String::new() }),
        (false, _, Some(_)) => {
            let cycle = line("in step").and_then(|line| line.split("in step ").nth(1)).unwrap_or("?");
            let place = line("Assert failed").or(line("Unreached cover")).unwrap_or("");
            let place = place.split(".v:").nth(1).and_then(|place| place.split('.').next()).unwrap_or("?");
            Ok(Answer {
                holds: false,
                detail: format!("line {place}, cycle {}", cycle.trim_end_matches('.')),
            })
        }
        _ => {
            let complaint = String::from_utf8_lossy(&output.stderr);
            Err(format!("{}: yosys-smtbmc gave no answer:\n{printed}{complaint}", model.display()).into())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_a_proof() -> Result<(), Failure> {
        let mut files = Vec::new();
        for entry in fs::read_dir(tools::workspace()?.join("hdl/formal"))? {
            let path = entry?.path();
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            if name != "memory" {
                let top = reader::module(&fs::read_to_string(&path)?, &format!("{name}_proof")).is_some();
                assert!(top, "{name}");
                files.push(name);
            }
        }
        files.sort();
        let mut names: Vec<&str> = PROOFS.iter().map(|proof| proof.name).collect();
        names.sort_unstable();
        assert_eq!(files, names);
        Ok(())
    }

    #[test]
    fn every_fault_changes_what_is_emitted() -> Result<(), Failure> {
        for proof in &PROOFS {
            assert!(proof.base >= proof.step, "{}", proof.name);
            assert!(!proof.faults.is_empty(), "{}", proof.name);
            let text = emitted(proof, &proof.small)?;
            for fault in proof.faults {
                assert!(text.contains(fault.from), "{}: {}", proof.name, fault.what);
                assert_ne!(fault.from, fault.to);
            }
        }
        Ok(())
    }
}
