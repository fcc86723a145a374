//! Mutations: faults planted in the emitted Verilog, to show that the checks notice them.
//!
//! A test bench that has never failed proves little. Each [`Mutation`] is one textual change of a statement, a
//! condition or an expression of the emitted Verilog, of the kind that a slip of the designer or of a synthesis tool
//! would make; the check of its stage must fail on it. `cargo xtask mutate` runs them all and prints what noticed each.
//!
//! # Test plan
//!
//! Every mutation applies (its text is there) and is caught; the unmutated text passes the same checks.

use crate::checks;
use crate::error::{CheckError, HardwareError};
use crate::faults::{Outcome, Planted, fault};
use deltaline_hdl::emit::kind::Module;
use deltaline_hdl::emit::module::emit;
use deltaline_model::configuration::{Configuration, ConfigurationError, Settings};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use verilator_sys::Toolchain;

/// A fault.
#[derive(Clone, Copy, Debug)]
pub struct Mutation {
    /// What goes wrong.
    pub fault: &'static str,
    /// The module that is emitted, changed and checked.
    pub module: Module,
    /// Emitted text.
    pub from: &'static str,
    /// What it is replaced with, once.
    pub to: &'static str,
}

const fn mutation(module: Module, fault: &'static str, from: &'static str, to: &'static str) -> Mutation {
    Mutation { fault, module, from, to }
}

/// All mutations.
pub const MUTATIONS: &[Mutation] = &[
    mutation(
        Module::Identity,
        "a stalled beat is taken",
        "transfer = s_axis_tvalid & s_axis_tready;",
        "transfer = s_axis_tvalid;",
    ),
    mutation(
        Module::Identity,
        "the slot behind the last beat is dropped",
        "is_slot = 1'b1;",
        "is_slot = 1'b0;",
    ),
    mutation(
        Module::Identity,
        "TTL is not masked",
        "word_2_d = x & 64'hff0000;",
        "word_2_d = x & 64'hffff0000;",
    ),
    mutation(
        Module::Identity,
        "traffic class is not masked",
        "word_0_d = x & 64'hf0000000;",
        "word_0_d = x & 64'hff000000;",
    ),
    mutation(Module::Identity, "padding is not masked", "tail_mask = 32'h0;", "tail_mask = 32'hffffffff;"),
    mutation(
        Module::Identity,
        "bytes outside tkeep are kept",
        "if (s_axis_tkeep[5]) begin",
        "if (1'b1) begin",
    ),
    mutation(
        Module::Identity,
        "one key word survives its frame",
        "word_12_d = 32'h0;",
        "word_12_d = word_12_q;",
    ),
    mutation(
        Module::Identity,
        "the timestamp of the wrong beat",
        "beat_opens_d = fire & ~in_frame_q;",
        "beat_opens_d = fire & in_frame_q;",
    ),
    mutation(Module::Identity, "bad frames are measured", "is_complete & ~pair_bad_q;", "is_complete;"),
    mutation(Module::Identity, "the fourth label is one too many", "(state & 32'h38)", "(state & 32'h18)"),
    mutation(
        Module::Identity,
        "fragment headers continue the chain",
        "if (chain_fragment_q | ~pair_x_whole_q) begin",
        "if (~pair_x_whole_q) begin",
    ),
    mutation(
        Module::Identity,
        "IPv6 length without its header",
        "out_length_d = ((length_q) & 17'h1ffff) + 32'h28;",
        "out_length_d = ((length_q) & 17'h1ffff);",
    ),
    mutation(
        Module::Identity,
        "a checksum below UDP stays in the key",
        "mask_1 = mask_1 & 64'hffff0000;",
        "",
    ),
    mutation(
        Module::Identity,
        "what an extension header names is not looked at",
        "summed_d = x_checksum_q;",
        "",
    ),
    mutation(
        Module::Identity,
        "an IPv4 header's protocol taken for that behind an IPv6 header",
        "if (header_pair_q[32'h1] & ~six_q) begin",
        "if (header_pair_q[32'h1]) begin",
    ),
    mutation(
        Module::Identity512,
        "the checksum of the next frame's protocol",
        "if (old_checksum_q[32'h1]) begin",
        "if (summed_now[32'h1]) begin",
    ),
    mutation(
        Module::Identity,
        "a place in the frame that does not saturate",
        "if (~beat_index_q[32'h4]) begin",
        "if (1'b1) begin",
    ),
    mutation(
        Module::Identity,
        "an extension header of 128 bytes taken for a short one",
        "x_back_by_eight_d = 32'h10;",
        "",
    ),
    mutation(
        Module::Identity,
        "an IPv6 length cut to 16 bits",
        "out_length_d = ((length_q) & 17'h1ffff) + 32'h28;",
        "out_length_d = (((length_q) & 17'h1ffff) + 32'h28) & 17'hffff;",
    ),
    mutation(
        Module::Identity,
        "the lowest bit of IPv4's EtherType is not looked at",
        "if (low_half == 32'h800) begin",
        "if ((low_half & 32'hfffe) == 32'h800) begin",
    ),
    mutation(
        Module::Identity256,
        "a place in the frame that does not saturate",
        "if (in_window) begin\n                count_d = index_now + 32'h1;",
        "if (1'b1) begin\n                count_d = index_now + 32'h1;",
    ),
    mutation(
        Module::Identity512,
        "the lowest bit of IPv6's EtherType is not looked at",
        "if (low_half == 32'h86dd) begin",
        "if ((low_half | 32'h1) == 32'h86dd) begin",
    ),
    mutation(
        Module::Core,
        "the high half of the octets is not cleared",
        "            bytes_high_d = 32'h0;",
        "",
    ),
    mutation(
        Module::Core,
        "a clock without an exponent ends intervals",
        "tick = change_changed & |interval_log2;",
        "tick = change_changed;",
    ),
    mutation(
        Module::Core,
        "an end in the cycle behind another is not refused",
        "busy = ~is_idle_q;",
        "busy = ~is_idle_q & ~((section_q == 32'h0) & (step_q == 32'h0) & (state_q == 32'h4));",
    ),
    mutation(
        Module::Core,
        "the lowest bit of a delimiter's EtherType is not looked at",
        "if (b[(32'h0)+:(16)] == ethertype) begin",
        "if ((b[(32'h0)+:(16)] | 16'h1) == ethertype) begin",
    ),
    mutation(
        Module::Core512,
        "a delimiter's EtherType is not looked at",
        "(window[(32'h60)+:(16)] == ethertype)",
        "1'b1",
    ),
    mutation(
        Module::Hash,
        "a wrong bit where Verilator reads",
        "bits <= hashed;",
        "bits <= {hashed[31:1], hashed[1]};",
    ),
    mutation(
        Module::Hash,
        "one column of the matrix is wrong",
        "bits[2] <= ^parity_2;",
        "bits[2] <= ^parity_1;",
    ),
    mutation(
        Module::Place,
        "a wrong constant",
        "mixed = total ^ constant;",
        "mixed = total ^ (constant | 16'h8);",
    ),
    mutation(Module::Place, "a round without its addition", "total = x_turned + y;", "total = x_turned ^ y;"),
    mutation(
        Module::Place,
        "a wrong rotation",
        "y_turned = (((y[(32'h0)+:(14)]) & 16'hffff) << 32'h2) | ((y[(32'he)+:(2)]) & 16'hffff);",
        "y_turned = (((y[(32'h0)+:(14)]) & 16'hffff) << 32'h2);",
    ),
    mutation(Module::Place, "a round left out", "x = round_3_x_after;", ""),
    mutation(
        Module::Place,
        "the halves exchanged",
        "round_0_x = matrix_bits[(32'h10)+:(16)];",
        "round_0_x = matrix_bits[(32'h0)+:(16)];",
    ),
    mutation(
        Module::Sampler,
        "the rarer bank loses to the commoner",
        "bank_base = base_1;",
        "bank_base = base_0;",
    ),
    mutation(
        Module::Lda,
        "no forwarding at distance 1",
        "lower_forward_1 = hazard_1_2_q;",
        "lower_forward_1 = 1'b0;",
    ),
    mutation(
        Module::Lda,
        "no forwarding at distance 2",
        "upper_forward_2 = hazard_2_2_q;",
        "upper_forward_2 = 1'b0;",
    ),
    mutation(
        Module::Lda,
        "no forwarding at distance 3",
        "lower_forward_3 = hazard_3_1_q;",
        "lower_forward_3 = 1'b0;",
    ),
    mutation(
        Module::Lda,
        "no forwarding at distance 4",
        "upper_forward_4 = hazard_4_2_q;",
        "upper_forward_4 = 1'b0;",
    ),
    mutation(Module::Lda, "forwarding across the epoch switch", "(copy_1_q == copy_0_q)", "1'b1"),
    mutation(
        Module::Lda,
        "forwarding from an update that never was",
        "valid_2_q & (copy_2_q == copy_0_q)",
        "(copy_2_q == copy_0_q)",
    ),
    mutation(
        Module::Lda,
        "operand from the wrong epoch",
        "lower_epoch = copy_2_q;",
        "lower_epoch = copy_1_q;",
    ),
    mutation(
        Module::Lda,
        "sum carry lost between the halves",
        "upper_adder_sum_carry_in = sum_carry_q;",
        "upper_adder_sum_carry_in = 1'b0;",
    ),
    mutation(
        Module::Lda,
        "count carry lost between the halves",
        "upper_adder_count_carry_in = count_carry_q;",
        "upper_adder_count_carry_in = 1'b0;",
    ),
    mutation(
        Module::Lda,
        "count overflow not told",
        "wraps_d = count_wraps_q & valid_5_q;",
        "wraps_d = 1'b0;",
    ),
    mutation(
        Module::Lda,
        "upper half not cleared",
        "upper_clear_first = clearing_0_q;",
        "upper_clear_first = 1'b0;",
    ),
    mutation(
        Module::Lda,
        "updates written into both copies",
        "lower_write_first = valid_4_q & ~copy_4_q;",
        "lower_write_first = valid_4_q;",
    ),
    mutation(
        Module::Core,
        "epoch of an update taken a cycle late",
        "lda_epoch = copy_5_q;",
        "lda_epoch = copy_4_q;",
    ),
    mutation(Module::Core, "totals not cleared", "            bytes_low_d = 32'h0;", ""),
    mutation(Module::Core, "interval end during a drain not refused", "may_end = ~busy;", "may_end = 1'b1;"),
    mutation(
        Module::Core,
        "interval end a cycle early",
        "if (asked_q | ticker_tick) begin",
        "if (interval_end | ticker_tick) begin",
    ),
    mutation(
        Module::Core,
        "an end by the pin passes for a delimiter's",
        "totals_timed = intervals_timed;",
        "totals_timed = 1'b0;",
    ),
    mutation(
        Module::Core,
        "a delimiter's end passes for the pin's",
        "totals_timed = intervals_timed;",
        "totals_timed = intervals_start_drain;",
    ),
    mutation(
        Module::Core,
        "the interval behind an end by the pin is not flagged",
        "by_clock_d = timed;",
        "by_clock_d = 1'b0;",
    ),
    mutation(
        Module::Core,
        "delimiters of other segments count",
        "if ((a == kind_and_segment) & (b[(32'h10)+:(16)] == segment_low)) begin",
        "if (a[31:16] == kind_and_segment[31:16]) begin",
    ),
    mutation(
        Module::Core,
        "bad delimiters count",
        "found_d = slot & closing & ~bad",
        "found_d = slot & closing",
    ),
    mutation(
        Module::Core,
        "a delimiter of 63 bytes counts",
        "(full & (matched_next == 32'h8))",
        "(matched_next == 32'h8)",
    ),
    mutation(
        Module::Core256,
        "a delimiter of 63 bytes counts",
        "((former_index_q == delimiter_end) & former_full_q)",
        "(former_index_q == delimiter_end)",
    ),
    mutation(
        Module::Core512,
        "a delimiter of 63 bytes counts",
        "((former_index_q == delimiter_end) & former_full_q)",
        "(former_index_q == delimiter_end)",
    ),
    mutation(
        Module::Core512,
        "delimiters that are padded do not count",
        "(former_index_q > delimiter_end)",
        "1'b0",
    ),
    mutation(
        Module::Core,
        "a missing delimiter is not told",
        "gap_now = ~is_due | lost_now | ~started_now;",
        "gap_now = lost_now | ~started_now;",
    ),
    mutation(
        Module::Core,
        "a refused delimiter leaves no gap",
        "gap_now = ~is_due | lost_now | ~started_now;",
        "gap_now = ~is_due | ~started_now;",
    ),
    mutation(Module::Core, "an ignored delimiter is not counted", "ignored_now = ignored_now + 32'h1;", ""),
    mutation(
        Module::Core,
        "a candidate is not kept",
        "has_candidate_now = 1'b1;",
        "has_candidate_now = 1'b0;",
    ),
    mutation(Module::Core, "a candidate outlives the end of an interval", "has_candidate_now = 1'b0;", ""),
    mutation(
        Module::Core,
        "a delimiter's epoch is not compared",
        "to_due_epoch = epoch;",
        "to_due_epoch = due_epoch;",
    ),
    mutation(
        Module::Core,
        "a candidate's epoch is not compared",
        "foresight_0_next_epoch = successor_epoch_q;",
        "foresight_0_next_epoch = epoch_0_q;",
    ),
    mutation(
        Module::Core512,
        "behind a delimiter that counts, the next one is compared with what was due before",
        "due_of_0_d = by_beside_0;",
        "due_of_0_d = 1'b0;",
    ),
    mutation(
        Module::Core512,
        "behind a candidate, the next one is compared with the candidate before",
        "next_of_0_d = next_by_beside_0;",
        "next_of_0_d = 1'b0;",
    ),
    mutation(
        Module::Core512,
        "behind a request, the next one is compared with what was due before",
        "due_behind_d = 1'b1;",
        "",
    ),
    mutation(
        Module::Core,
        "half of the epoch is that of the delimiter before",
        "epoch_seen_d = (((a[(32'h0)+:(16)]) & 32'hffffffff) << 32'h10) | ((b[(32'h10)+:(16)]) & 32'hffffffff);",
        "epoch_seen_d = (epoch_seen_q & 32'hffff) | (((a[(32'h0)+:(16)]) & 32'hffffffff) << 32'h10) | ((b[(32'h10)+:(16)]) & 32'hffffffff);",
    ),
    mutation(
        Module::Core,
        "late delimiters become candidates",
        " begins = to_due_begins;",
        " begins = 1'b1;",
    ),
    mutation(
        Module::Core,
        "delimiters far behind are taken for late ones",
        " begins = to_due_begins;",
        " begins = to_due_begins_keyed;",
    ),
    mutation(
        Module::Core,
        "a delimiter's number is not adopted",
        "due_now = judged_successor_0_q;",
        "due_now = due_number_q + 32'h1;",
    ),
    mutation(
        Module::TwoLanes512,
        "the second lane meets the state before the first",
        "by_beside_0 = 1'b1;",
        "by_beside_0 = 1'b0;",
    ),
    mutation(
        Module::TwoLanes512,
        "what is ignored behind an end is lost",
        "ignored_count_d = ((ignored_behind) & 16'hffff);",
        "ignored_count_d = 16'h0;",
    ),
    mutation(
        Module::Core,
        "an interval that began with the reset passes for a whole one",
        "gap_now = ~is_due | lost_now | ~started_now;",
        "gap_now = ~is_due | lost_now;",
    ),
    mutation(
        Module::Identity256,
        "a shift by a whole group taken a slot late",
        "late = start_now > longest_shift;",
        "late = start_now >= longest_shift;",
    ),
    mutation(
        Module::Identity512,
        "the next frame's words taken for the payload's",
        "if (~old_closes_q & walk_there_q) begin",
        "if (walk_there_q) begin",
    ),
    mutation(
        Module::Identity256,
        "the header of the next frame read too early",
        "committed_d = old_slot & old_closes_q;",
        "committed_d = walk_event_q & walk_closes_q;",
    ),
    mutation(
        Module::Identity512,
        "an extension header's length forgotten",
        "next_1_5 = pair_behind_5 << extra_1_5[(32'h0)+:(4)];",
        "next_1_5 = pair_behind_5;",
    ),
    mutation(
        Module::Identity512,
        "the length of an extension header that ends behind its group forgotten",
        "position_now = pair_end_5 + step_1_5;",
        "position_now = pair_end_5;",
    ),
    mutation(
        Module::Identity256,
        "the chain goes on behind a fragment header",
        "chain_now = 32'h0;\n            summed_now = checksum_of_2_q;\n        end\n        if (class_of_2_q == 32'h1) begin",
        "end\n        if (class_of_2_q == 32'h1) begin",
    ),
    mutation(
        Module::Identity256,
        "a frame of one beat waits for the next",
        "slot = former_valid_q & (former_last_q | beat_valid_q);",
        "slot = former_valid_q & beat_valid_q;",
    ),
    mutation(
        Module::TwoLanes512,
        "the second lane's cells not added",
        "merge_1_right = lane_1_drained_cell;",
        "merge_1_right = 72'h0;",
    ),
    mutation(
        Module::TwoLanes512,
        "the last of two packets' timestamps lost",
        "last_now_0 = staged_timestamp_1_q;",
        "",
    ),
    mutation(
        Module::Core256,
        "the payload's first word from the wrong place",
        "payload = old_window >> offset_shift;",
        "payload = old_window;",
    ),
    mutation(
        Module::Core,
        "counting before the memories are clear",
        "staged_unmeasured_0_d = commit_0 & ~measured_0 & ~bad_0 & emitter_running;",
        "staged_unmeasured_0_d = commit_0 & ~measured_0 & ~bad_0;",
    ),
    mutation(Module::Core, "check word not rotated", "rotated = check_q << 32'h1;", "rotated = check_q;"),
    mutation(
        Module::Core,
        "a carry of the byte total lost",
        "bytes_carry_d = bytes_sum[32'h18];",
        "bytes_carry_d = 1'b0;",
    ),
    mutation(
        Module::Core,
        "a carry of the packet total lost",
        "packets_carry_d = packets_sum[32'h18];",
        "packets_carry_d = 1'b0;",
    ),
    mutation(
        Module::Core,
        "a carry of the time sum's low segment lost",
        "low_carry_d = low_sum[32'h18];",
        "low_carry_d = 1'b0;",
    ),
    mutation(
        Module::Core,
        "a carry of the time sum's middle segment lost",
        "middle_carry_d = middle_sum[32'h19];",
        "middle_carry_d = 1'b0;",
    ),
    mutation(Module::Core, "the time sum's high segment is not cleared", "            high_d = 32'h0;", ""),
    mutation(
        Module::Core,
        "the time sum's middle segment ends a cycle early",
        "ended_middle_d = ended_low_q;",
        "ended_middle_d = ends;",
    ),
    mutation(
        Module::Core,
        "the packet before a boundary in the next interval's time sum",
        "if (ended_low_q) begin",
        "if (ends) begin",
    ),
    mutation(
        Module::Core,
        "the absolute time of a refused end",
        "if (intervals_start_drain) begin",
        "if (request) begin",
    ),
    mutation(
        Module::Core,
        "the point's identifier left out",
        "emitter_point_id = point_id;",
        "emitter_point_id = 32'h0;",
    ),
    mutation(
        Module::TwoLanes512,
        "what lanes' timestamps have above the low segment lost",
        "low_half_q[(32'h18)+:(2)]",
        "2'h0",
    ),
    mutation(
        Module::Core,
        "cell overflow not flagged",
        "totals_overflow = overflow;",
        "totals_overflow = 1'b0;",
    ),
    mutation(
        Module::Core,
        "cell overflow of the last packet told of the next interval",
        "overflows_old = overflow & (overflow_epoch != epoch);",
        "overflows_old = 1'b0;",
    ),
    mutation(
        Module::Core,
        "cell overflow of the first packet told of the interval before",
        "overflows_old = overflow & (overflow_epoch != epoch);",
        "overflows_old = overflow;",
    ),
    mutation(Module::Core, "a saturating counter wraps", "old_high_d = 32'hffff;", "old_high_d = 32'h0;"),
    mutation(
        Module::Core,
        "a saturated counter goes on from zero",
        "is_full = full_q | sum_high[32'h10];",
        "is_full = sum_high[32'h10];",
    ),
    mutation(Module::Core, "a carry of a frame count lost", "carry_d = sum[32'h10];", "carry_d = 1'b0;"),
    mutation(
        Module::Core,
        "idle while the end of a frame is still sent",
        "busy = ~is_idle_q;",
        "busy = ~is_idle_q & ~(section_q == 32'h4);",
    ),
    mutation(
        Module::Core,
        "a change of the exponent ends an interval",
        "change_rst = rst | (log2_before_q != interval_log2);",
        "change_rst = rst;",
    ),
    mutation(
        Module::Core,
        "the least interval is a cycle short",
        "left_d = least;",
        "left_d = least - 32'h1;",
    ),
    mutation(
        Module::Core,
        "the least interval is a cycle long",
        "left_d = least;",
        "left_d = least + 32'h1;",
    ),
    mutation(Module::Core, "the least interval does not begin again", "left_d = least;", "left_d = 32'h0;"),
    mutation(Module::Core, "the least interval is not over in time", "left_d = left_q - 32'h1;", ""),
    mutation(
        Module::Core,
        "ends count before the least interval is over",
        "drain_busy | pending_q | length_soon;",
        "drain_busy | pending_q;",
    ),
    mutation(
        Module::Core,
        "intervals by the wrong bit of the clock",
        "change_value = nanoseconds[interval_log2];",
        "change_value = nanoseconds[10];",
    ),
    mutation(
        Module::Core,
        "a lost lock flags the next interval too",
        "clock_lost_d = 1'b0;",
        "clock_lost_d = clock_lost_next;",
    ),
    mutation(
        Module::Core,
        "a lost lock flagged a cycle early",
        "if (lock_lost_q) begin",
        "if (~ptp_locked) begin",
    ),
    mutation(
        Module::Core,
        "a refused end counted in the next interval too",
        "refused_count_d = ((refused) & 16'hffff);",
        "refused_count_d = refused_next;",
    ),
    mutation(
        Module::Core,
        "the rest of a frame cut by reset is measured",
        "fire = transfer & ~is_adrift;",
        "fire = transfer;",
    ),
    mutation(
        Module::Core,
        "m_axis without tkeep",
        "m_axis_tkeep = emitter_m_axis_tkeep;",
        "m_axis_tkeep = 8'h0;",
    ),
    mutation(
        Module::Core,
        "m_axis gives a beat up before it is taken",
        "pack_taken = (state_q == 32'h8) & m_axis_tready;",
        "pack_taken = state_q == 32'h8;",
    ),
];

/// Mutations of what tells classes apart, for [`with_classes`].
pub const CLASS_MUTATIONS: &[Mutation] = &[
    mutation(
        Module::Classifier,
        "an entry does not look at a bit",
        "((key[351:320] & 32'h00000003) == 32'h00000000)",
        "((key[351:320] & 32'h00000001) == 32'h00000000)",
    ),
    mutation(
        Module::Classifier,
        "an entry is left out",
        "matched <= match_0 | match_1;",
        "matched <= match_0;",
    ),
    mutation(Module::Classifier, "classes by the wrong entry", "kind[0] <= match_1;", "kind[0] <= match_0;"),
    mutation(
        Module::Core,
        "cells of all classes in one",
        "lda_address = sampler_address | class_base;",
        "lda_address = sampler_address;",
    ),
    mutation(
        Module::Core,
        "the class of the packet behind",
        "class_number = ((kinds_5_q) & 6'h3f);",
        "class_number = ((kinds_4_q) & 6'h3f);",
    ),
    mutation(
        Module::Core,
        "packets of no class are measured",
        "packet_0 = staged_measured_0_q & classifier_0_matched;",
        "packet_0 = staged_measured_0_q;",
    ),
    mutation(
        Module::Core,
        "packets of no class are not counted",
        "unmeasured_now = unmeasured_now + 32'h1;",
        "",
    ),
    mutation(
        Module::Core,
        "the first class's totals for all",
        "sent_bytes = class_totals_1_ended_bytes;",
        "",
    ),
    mutation(Module::Core, "one segment for all classes", "segment_now = segment_word_1;", ""),
    mutation(
        Module::Core,
        "fragments of all classes counted on",
        "place = address_now_q & place_mask;",
        "place = address_now_q;",
    ),
    mutation(
        Module::Core,
        "the last class is not cleared",
        "is_last_d = address_now_q == last_address;",
        "is_last_d = &address_now_q[4:0];",
    ),
    mutation(
        Module::Core256,
        "totals not told apart",
        "if (packet_0 & (classifier_0_kind == class_number_1)) begin",
        "if (packet_0) begin",
    ),
];

/// The configuration of [`CLASS_MUTATIONS`]: two classes and packets of none.
///
/// # Errors
///
/// Never: the tests use it.
pub fn with_classes() -> Result<Configuration, ConfigurationError> {
    Configuration::new(Settings { rows: 16, entries: &checks::core::entries(2), ..Settings::default() })
}

/// Tries mutations, on all cores, and the designs without faults first; the outcomes in their order.
///
/// # Errors
///
/// A design does not pass without faults, or emission or Verilator failed.
pub fn run(
    toolchain: &Toolchain,
    configuration: &Configuration,
    mutations: &'static [Mutation],
) -> Result<Vec<(&'static Mutation, Outcome)>, CheckError> {
    let mut modules = vec![];
    for mutation in mutations {
        if !modules.contains(&mutation.module) {
            modules.push(mutation.module);
        }
    }
    let planted = on_all_cores(&modules, |module| {
        let verilog = emit(configuration, *module, name(*module)).map_err(HardwareError::from)?;
        let faults = mutations.iter().filter(|mutation| mutation.module == *module);
        let faults = faults.map(|mutation| fault(mutation.fault, mutation.from, mutation.to));
        let planted = Planted::new(&verilog, name(*module), faults);
        check(toolchain, configuration, *module, &planted.verilog)?;
        Ok((*module, planted))
    })?;
    on_all_cores(mutations, |mutation| {
        let Some((module, planted)) = planted.iter().find(|(module, _)| *module == mutation.module) else {
            return Ok((mutation, Outcome::Stale));
        };
        let check = |verilog: &str| check(toolchain, configuration, *module, verilog);
        Ok((mutation, planted.outcome(mutation.fault, check)?))
    })
}

/// Maps all items, with as many threads as there are cores; results in order, or the first error.
fn on_all_cores<'a, T: Sync, R: Send>(
    items: &'a [T],
    work: impl Fn(&'a T) -> Result<R, CheckError> + Sync,
) -> Result<Vec<R>, CheckError> {
    let (next, results) = (AtomicUsize::new(0), Mutex::new(vec![]));
    let worker = || {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = items.get(index) else { break };
            let result = work(item);
            results.lock().unwrap_or_else(PoisonError::into_inner).push((index, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(worker);
        }
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(index, _)| *index);
    results.into_iter().map(|(_, result)| result).collect()
}

/// The check of a module, at the effort that mutations are tried with.
///
/// # Errors
///
/// As the check.
pub fn check(
    toolchain: &Toolchain,
    configuration: &Configuration,
    module: Module,
    verilog: &str,
) -> Result<(), CheckError> {
    let words = (configuration.rows() * configuration.prefixes().banks()).next_power_of_two();
    match module {
        Module::Identity | Module::Identity256 | Module::Identity512 => {
            checks::identity::check(toolchain, verilog, 20_000, 7)
        }
        Module::Hash => checks::hash::check(toolchain, configuration, verilog, 1000, 7),
        Module::Place => checks::place::check(toolchain, configuration, verilog, 1000, 7),
        Module::Digest => checks::digest::check(toolchain, configuration, verilog, 1000, 7),
        Module::Sampler => checks::sampler::check(toolchain, configuration, verilog, 1000, 7),
        Module::Classifier => checks::classifier::check(toolchain, configuration, verilog, 1000, 7),
        Module::Lda => checks::lda::check(toolchain, verilog, words, 100_000, 7),
        Module::IdentityTable | Module::LdaIdentity | Module::FlowRows | Module::FlowVector => {
            checks::identity_table::check(toolchain, configuration, verilog, 20_000, 7)
        }
        Module::Slices => checks::slices::check(toolchain, configuration, verilog, 20_000, 7),
        Module::Core | Module::Core256 | Module::Core512 => {
            checks::core::check(toolchain, configuration, verilog, 3000, 7)
        }
        Module::TwoLanes512 | Module::FourLanes512 => {
            checks::lanes::check(toolchain, configuration, verilog, 3000, 7)
        }
    }
    .map(|_| ())
}

/// The name that a module is emitted under for its check.
pub fn name(module: Module) -> &'static str {
    match module {
        Module::Core | Module::Core256 | Module::Core512 | Module::TwoLanes512 | Module::FourLanes512 => {
            "deltaline"
        }
        Module::Identity | Module::Identity256 | Module::Identity512 => "identity",
        Module::Hash => "hash",
        Module::Place => "place",
        Module::Digest => "digest",
        Module::Sampler => "sampler",
        Module::Classifier => "classify",
        Module::Lda => "lda",
        Module::IdentityTable => "identity_table",
        Module::LdaIdentity => "lda_identity",
        Module::FlowRows => "flow_rows",
        Module::FlowVector => "flow_vector",
        Module::Slices => "slices",
    }
}
