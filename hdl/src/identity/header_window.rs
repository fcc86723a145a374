//! Header window: an AXI4-Stream of 64-bit beats becomes pairs of 32-bit words.
//!
//! # Theory of operation
//!
//! Behind Ethernet's addresses and EtherType every header is aligned to 32-bit words that start two bytes into the
//! frame. Beat b (b >= 1) completes two of them: word a = bytes 8b-2..8b+1, word b = bytes 8b+2..8b+5. Two bytes
//! are left over at the frame's end; they get a slot of their own in the cycle behind the last beat. That slot
//! never collides: if the next frame starts in the very next cycle, its beat 0 brings no words.
//!
//! ```text
//! s_axis -> [beat register] -> words a, b, what they say as tags -> [slot register] -> tags
//! ```
//!
//! A reset may come amid a frame, whose rest must not pass for a frame of its own. So if the first beat behind a
//! reset comes before the core counts, everything up to the next tlast is dropped; nothing of it would count anyway.
//!
//! Words behind byte 126 (the model's window) and bytes outside tkeep read as zero.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | s_axis_* | in | 64 + 8 + 1 + 1 + 1 + 65 | the observed stream; tuser\[0\] bad frame at tlast, tuser\[64:1\] timestamp on the first beat |
//! | running | in | 1 | the core counts |
//! | slot | out | 1 | a pair of words is there |
//! | opening | out | 1 | with slot: the frame's first pair |
//! | closing | out | 1 | with slot: the frame's last pair; comes for every frame |
//! | bad | out | 1 | with closing: the MAC marked the frame bad |
//! | full | out | 1 | with closing: the frame's last beat has all its bytes |
//! | a, b | out | 32 | the words, first byte on the wire most significant |
//! | a_tag, b_tag | out | 6 | what the word says as a tag: see [`WordTag`] |
//! | timestamp | out | 64 | timestamp of the frame's first beat, from behind its slot 4 to the next frame's slot 4 |
//!
//! Latency: a beat's words two cycles later, the closing slot three cycles behind the last beat. One beat a cycle.
//!
//! No parameters. Cost: `docs/report.md`, by stage and by module.
//!
//! # Test plan
//!
//! Cosimulated as part of the identity path (`sim/cosim`): all lengths from 1 byte, gaps, back-to-back frames.

use crate::leaves::Flop;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::dff_setup;

/// What a word says as a tag. Combinational.
///
/// | port | direction | width | meaning |
/// |------|-----------|-------|---------|
/// | low_half | in | 16 | the word's low half: an EtherType, or the end of an MPLS label |
/// | whole | in | 1 | all four bytes of the word are there |
/// | tag | out | 6 | zero unless whole; else bit 0 whole, 1 VLAN, 2 MPLS, 3 IPv4, 4 IPv6, 5 bottom of stack |
#[derive(LogicBlock, Default)]
pub struct WordTag {
    pub low_half: Signal<In, Bits<16>>,
    pub whole: Signal<In, Bit>,
    pub tag: Signal<Out, Bits<6>>,
    found: Signal<Local, Bits<6>>,
}

impl Logic for WordTag {
    #[hdl_gen]
    fn update(&mut self) {
        self.found.next = 0.into();
        if self.whole.val() {
            self.found.next = 1.into();
            if (self.low_half.val() == 0x8100) | (self.low_half.val() == 0x88a8) {
                self.found.next = self.found.val() | 2;
            }
            if (self.low_half.val() == 0x8847) | (self.low_half.val() == 0x8848) {
                self.found.next = self.found.val() | 4;
            }
            if self.low_half.val() == 0x0800 {
                self.found.next = self.found.val() | 8;
            }
            if self.low_half.val() == 0x86dd {
                self.found.next = self.found.val() | 16;
            }
            if self.low_half.val().get_bit(8) {
                self.found.next = self.found.val() | 32;
            }
        }
        self.tag.next = self.found.val();
    }
}

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct HeaderWindow {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub running: Signal<In, Bit>,
    pub s_axis_tdata: Signal<In, Bits<64>>,
    pub s_axis_tkeep: Signal<In, Bits<8>>,
    pub s_axis_tvalid: Signal<In, Bit>,
    pub s_axis_tready: Signal<In, Bit>,
    pub s_axis_tlast: Signal<In, Bit>,
    pub s_axis_tuser: Signal<In, Bits<65>>,
    pub slot: Signal<Out, Bit>,
    pub opening: Signal<Out, Bit>,
    pub closing: Signal<Out, Bit>,
    pub bad: Signal<Out, Bit>,
    pub full: Signal<Out, Bit>,
    pub a: Signal<Out, Bits<32>>,
    pub b: Signal<Out, Bits<32>>,
    pub a_tag: Signal<Out, Bits<6>>,
    pub b_tag: Signal<Out, Bits<6>>,
    pub timestamp: Signal<Out, Bits<64>>,

    transfer: Signal<Local, Bit>,
    is_adrift: Signal<Local, Bit>,
    fire: Signal<Local, Bit>,
    /// A beat has come since reset.
    beat_seen: Flop<Bit>,
    /// Where the stream's frames start is not known until the next tlast.
    adrift: Flop<Bit>,
    in_frame: Flop<Bit>,
    beat_time: Flop<Bits<64>>,
    beat_opens: Flop<Bit>,
    first_time: Flop<Bits<64>>,
    beat_was_fifth: Flop<Bit>,
    beat: [Flop<Bits<8>>; 8],
    beat_valid: Flop<Bit>,
    beat_last: Flop<Bit>,
    beat_bad: Flop<Bit>,
    beat_a_whole: Flop<Bit>,
    beat_b_whole: Flop<Bit>,
    beat_full: Flop<Bit>,

    ends: Signal<Local, Bit>,
    beat_index: Flop<Bits<5>>,
    next_index: Signal<Local, Bits<5>>,
    flush: Flop<Bit>,
    flush_index: Flop<Bits<5>>,
    flush_bad: Flop<Bit>,
    flush_full: Flop<Bit>,
    tail: Flop<Bits<16>>,

    index: Signal<Local, Bits<5>>,
    is_slot: Signal<Local, Bit>,
    word_a: Signal<Local, Bits<32>>,
    word_b: Signal<Local, Bits<32>>,
    a_whole: Signal<Local, Bit>,
    b_whole: Signal<Local, Bit>,
    tag_of_a: WordTag,
    tag_of_b: WordTag,

    slot_valid: Flop<Bit>,
    slot_opening: Flop<Bit>,
    slot_closing: Flop<Bit>,
    slot_bad: Flop<Bit>,
    slot_full: Flop<Bit>,
    slot_a: Flop<Bits<32>>,
    slot_b: Flop<Bits<32>>,
    slot_a_tag: Flop<Bits<6>>,
    slot_b_tag: Flop<Bits<6>>,
    slot_time: Flop<Bits<64>>,
}

impl Logic for HeaderWindow {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clk,
            beat_seen,
            adrift,
            in_frame,
            beat_time,
            beat_opens,
            first_time,
            beat_was_fifth,
            beat_valid,
            beat_last,
            beat_bad,
            beat_a_whole,
            beat_b_whole,
            beat_full,
            beat_index,
            flush,
            flush_index,
            flush_bad,
            flush_full,
            tail,
            slot_valid,
            slot_opening,
            slot_closing,
            slot_bad,
            slot_full,
            slot_a,
            slot_b,
            slot_a_tag,
            slot_b_tag,
            slot_time
        );
        self.beat_seen.rst.next = self.rst.val();
        self.adrift.rst.next = self.rst.val();
        self.in_frame.rst.next = self.rst.val();
        self.beat_time.rst.next = self.rst.val();
        self.beat_opens.rst.next = self.rst.val();
        self.beat_was_fifth.rst.next = self.rst.val();
        self.first_time.rst.next = self.rst.val();
        self.beat_valid.rst.next = self.rst.val();
        self.beat_last.rst.next = self.rst.val();
        self.beat_bad.rst.next = self.rst.val();
        self.beat_a_whole.rst.next = self.rst.val();
        self.beat_b_whole.rst.next = self.rst.val();
        self.beat_full.rst.next = self.rst.val();
        self.beat_index.rst.next = self.rst.val();
        self.flush.rst.next = self.rst.val();
        self.flush_index.rst.next = self.rst.val();
        self.flush_bad.rst.next = self.rst.val();
        self.flush_full.rst.next = self.rst.val();
        self.tail.rst.next = self.rst.val();
        self.slot_valid.rst.next = self.rst.val();
        self.slot_opening.rst.next = self.rst.val();
        self.slot_closing.rst.next = self.rst.val();
        self.slot_bad.rst.next = self.rst.val();
        self.slot_full.rst.next = self.rst.val();
        self.slot_a.rst.next = self.rst.val();
        self.slot_b.rst.next = self.rst.val();
        self.slot_a_tag.rst.next = self.rst.val();
        self.slot_b_tag.rst.next = self.rst.val();
        self.slot_time.rst.next = self.rst.val();

        // The beat register; bytes outside tkeep read as zero.
        self.transfer.next = self.s_axis_tvalid.val() & self.s_axis_tready.val();
        self.is_adrift.next = self.adrift.q.val() | (!self.beat_seen.q.val() & !self.running.val());
        if self.transfer.val() {
            self.beat_seen.d.next = true;
            self.adrift.d.next = self.is_adrift.val() & !self.s_axis_tlast.val();
        }
        self.fire.next = self.transfer.val() & !self.is_adrift.val();
        for i in 0..8 {
            self.beat[i].clock.next = self.clk.val();
            self.beat[i].rst.next = self.rst.val();
            self.beat[i].d.next = 0.into();
            if self.s_axis_tkeep.val().get_bit(i) {
                self.beat[i].d.next = self.s_axis_tdata.val().get_bits::<8>(i * 8);
            }
        }
        self.beat_valid.d.next = self.fire.val();
        self.beat_last.d.next = self.s_axis_tlast.val();
        self.beat_bad.d.next = self.s_axis_tuser.val().get_bit(0);
        self.beat_a_whole.d.next = self.s_axis_tkeep.val().get_bit(1);
        self.beat_b_whole.d.next = self.s_axis_tkeep.val().get_bit(5);
        self.beat_full.d.next = self.s_axis_tkeep.val().get_bit(7);
        self.beat_time.d.next = self.s_axis_tuser.val().get_bits::<64>(1);
        self.beat_opens.d.next = self.fire.val() & !self.in_frame.q.val();
        if self.fire.val() {
            self.in_frame.d.next = !self.s_axis_tlast.val();
        }

        // Where in its frame the beat is, and the slot behind the last beat.
        self.ends.next = self.beat_valid.q.val() & self.beat_last.q.val();
        self.next_index.next = self.beat_index.q.val();
        if !self.beat_index.q.val().get_bit(4) {
            self.next_index.next = self.beat_index.q.val() + 1;
        }
        if self.beat_opens.q.val() {
            self.first_time.d.next = self.beat_time.q.val();
        }
        if self.beat_valid.q.val() {
            self.beat_index.d.next = self.next_index.val();
            self.tail.d.next =
                (bit_cast::<16, 8>(self.beat[6].q.val()) << 8) | bit_cast::<16, 8>(self.beat[7].q.val());
        }
        self.flush.d.next = self.ends.val();
        if self.ends.val() {
            self.beat_index.d.next = 0.into();
            self.flush_index.d.next = self.next_index.val();
            self.flush_bad.d.next = self.beat_bad.q.val();
            self.flush_full.d.next = self.beat_full.q.val();
        }

        // The words.
        self.word_a.next = (bit_cast::<32, 16>(self.tail.q.val()) << 16)
            | (bit_cast::<32, 8>(self.beat[0].q.val()) << 8)
            | bit_cast::<32, 8>(self.beat[1].q.val());
        self.word_b.next = (bit_cast::<32, 8>(self.beat[2].q.val()) << 24)
            | (bit_cast::<32, 8>(self.beat[3].q.val()) << 16)
            | (bit_cast::<32, 8>(self.beat[4].q.val()) << 8)
            | bit_cast::<32, 8>(self.beat[5].q.val());
        self.a_whole.next = self.beat_a_whole.q.val();
        self.b_whole.next = self.beat_b_whole.q.val();
        self.index.next = self.beat_index.q.val();
        self.is_slot.next = self.beat_valid.q.val() & self.beat_index.q.val().any();
        if self.flush.q.val() {
            self.index.next = self.flush_index.q.val();
            self.is_slot.next = true;
            self.word_a.next = bit_cast::<32, 16>(self.tail.q.val()) << 16;
            self.word_b.next = 0.into();
            self.a_whole.next = false;
            self.b_whole.next = false;
        }
        if self.index.val().get_bit(4) {
            self.word_a.next = 0.into();
            self.word_b.next = 0.into();
            self.a_whole.next = false;
            self.b_whole.next = false;
        }

        // What they say as tags: nothing, if they are not whole.
        self.tag_of_a.low_half.next =
            (bit_cast::<16, 8>(self.beat[0].q.val()) << 8) | bit_cast::<16, 8>(self.beat[1].q.val());
        self.tag_of_a.whole.next = self.a_whole.val();
        self.tag_of_b.low_half.next =
            (bit_cast::<16, 8>(self.beat[4].q.val()) << 8) | bit_cast::<16, 8>(self.beat[5].q.val());
        self.tag_of_b.whole.next = self.b_whole.val();

        // The slot register.
        self.slot_valid.d.next = self.is_slot.val();
        self.slot_opening.d.next = self.index.val() == 1;
        self.slot_closing.d.next = self.flush.q.val();
        self.slot_bad.d.next = self.flush_bad.q.val();
        self.slot_full.d.next = self.flush_full.q.val();
        self.slot_a.d.next = self.word_a.val();
        self.slot_b.d.next = self.word_b.val();
        self.slot_a_tag.d.next = self.tag_of_a.tag.val();
        self.slot_b_tag.d.next = self.tag_of_b.tag.val();
        // Frames that end before their beat 4 are not measured: they leave the time alone.
        self.beat_was_fifth.d.next = self.beat_valid.q.val() & (self.beat_index.q.val() == 4);
        if self.beat_was_fifth.q.val() {
            self.slot_time.d.next = self.first_time.q.val();
        }
        self.slot.next = self.slot_valid.q.val();
        self.opening.next = self.slot_opening.q.val();
        self.closing.next = self.slot_closing.q.val();
        self.bad.next = self.slot_bad.q.val();
        self.full.next = self.slot_full.q.val();
        self.a.next = self.slot_a.q.val();
        self.b.next = self.slot_b.q.val();
        self.a_tag.next = self.slot_a_tag.q.val();
        self.b_tag.next = self.slot_b_tag.q.val();
        self.timestamp.next = self.slot_time.q.val();
    }
}
