//! Keys: the byte core's registers for a key, and the key and boot epoch of its control frames, in one memory.
//!
//! # Theory of operation
//!
//! Twin of `MeasurementPoint::schedule_key` in `deltaline_model::point`, as the [wide cores' keys](crate::authentication::keys)
//! are, but all that waits and all that counts is in a memory of 16-bit words: where the emitter needs a byte at a time, no
//! flip-flops must hold them. What is written on s_axil goes to the lower half, where it waits; its place is its
//! register's address. At the end of an interval what is due is copied to the upper half, whose words the frames are made of:
//!
//! ```text
//! s_axil -> word 2, 3 epoch   4..=11 key   12 identifier   14, 15 from        (waiting)
//!               | always      | if a key waits and its interval is there, or behind
//!               v             v
//!          word 18, 19      20..=27       28                               -> emitter
//! ```
//!
//! The [tags of delimiters](super::delimiter_tags) need other words at the same time, also such that wait: they read a second memory,
//! which is written with the first.
//!
//! The copy begins with the number in `from`: its difference from that of the running interval says whether the key is due. A
//! write of a register during the copy begins it anew, so nothing half written counts; a key that was found due stays so.
//!
//! These registers are those of the [wide cores](crate::registers), at the same addresses, as far as they concern the key:
//! `boot_epoch`, `key_low`, `key_high`, `key_id`, `key_from`, `key_schedule`, which can only be written here, and of `status`, which
//! alone can be read, `key_pending`. All other accesses are answered by SLVERR and change nothing.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset: no key, epoch zero |
//! | s_axil_* | | | AXI4-Lite, 32 data bits, 12 address bits; awprot and arprot are not looked at |
//! | ends | in | 1 | an interval has ended, only if not busy |
//! | number | in | 32 | its number, constant until the next end |
//! | busy | out | 1 | from the cycle behind `ends` on: the copy is under way |
//! | is_keyed | out | 1 | if not busy: frames are signed |
//! | place | in | 4 | if not busy: word of the upper half to read, 0..=15 |
//! | word | out | 16 | a cycle later: its content |
//! | waits | out | 1 | a key waits, and is one |
//! | renews | out | 1 | from the next cycle on another key may wait, or for another interval |
//! | tag_place, tag_word | in, out | 5, 16 | as place and word, of both halves and at any time |
//!
//! No parameters. The copy takes 32 cycles, and longer by what passes until the last write during it; after reset s_axil is not
//! ready for 32 cycles, in which the memory is cleared. Cost: `docs/authentication.md`.
//!
//! # Test plan
//!
//! `sim/cosim` `checks::signed_byte`, in whole designs: keys and epochs that change, from intervals before, at and behind the next
//! one, while one waits, during copies, none; illegal accesses; resets.

use crate::leaves::{Flop, Ram};
use crate::registers::axi_lite::AxiLite;
use deltaline_hdl_macros::{clocked, passes};
use deltaline_model::registers::offset;
use rust_hdl_core::prelude::*;

// A register's word in the memory is bits 4:2 of its address, and register zero of these is none of them.
const _: () = {
    assert!(offset::BOOT_EPOCH == 0xa4 && offset::KEY_LOW == 0xa8 && offset::KEY_HIGH == 0xb0);
    assert!(offset::KEY_ID == 0xb8 && offset::KEY_FROM == 0xbc && offset::KEY_SCHEDULE == 0xc0);
    assert!(offset::STATUS == 0x24);
};

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct Keys {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub s_axil_awaddr: Signal<In, Bits<12>>,
    pub s_axil_awprot: Signal<In, Bits<3>>,
    pub s_axil_awvalid: Signal<In, Bit>,
    pub s_axil_awready: Signal<Out, Bit>,
    pub s_axil_wdata: Signal<In, Bits<32>>,
    pub s_axil_wstrb: Signal<In, Bits<4>>,
    pub s_axil_wvalid: Signal<In, Bit>,
    pub s_axil_wready: Signal<Out, Bit>,
    pub s_axil_bresp: Signal<Out, Bits<2>>,
    pub s_axil_bvalid: Signal<Out, Bit>,
    pub s_axil_bready: Signal<In, Bit>,
    pub s_axil_araddr: Signal<In, Bits<12>>,
    pub s_axil_arprot: Signal<In, Bits<3>>,
    pub s_axil_arvalid: Signal<In, Bit>,
    pub s_axil_arready: Signal<Out, Bit>,
    pub s_axil_rdata: Signal<Out, Bits<32>>,
    pub s_axil_rresp: Signal<Out, Bits<2>>,
    pub s_axil_rvalid: Signal<Out, Bit>,
    pub s_axil_rready: Signal<In, Bit>,
    pub ends: Signal<In, Bit>,
    pub number: Signal<In, Bits<32>>,
    pub busy: Signal<Out, Bit>,
    pub is_keyed: Signal<Out, Bit>,
    pub place: Signal<In, Bits<4>>,
    pub word: Signal<Out, Bits<16>>,
    pub waits: Signal<Out, Bit>,
    pub renews: Signal<Out, Bit>,
    pub tag_place: Signal<In, Bits<5>>,
    pub tag_word: Signal<Out, Bits<16>>,

    axi: AxiLite,
    memory: Ram<16, 5, false>,
    /// The same words for the tags of delimiters.
    memory_of_tags: Ram<16, 5, false>,

    /// The memory has been cleared.
    cleared: Flop<Bit>,
    copying: Flop<Bit>,
    /// Clearing: the word. Copying: its turn, in bits 4:1, of two cycles: look up, copy.
    turn: Flop<Bits<5>>,
    /// The high half of what is written follows.
    second: Flop<Bit>,
    pending: Flop<Bit>,
    /// The identifier that was written is not zero.
    named: Flop<Bit>,
    /// Of `from` less the number of the running interval: the low half's carry, and whether it is not zero. Then, whether the
    /// key is due, to the end of the copy.
    carry: Flop<Bit>,
    differs: Flop<Bit>,
    due: Flop<Bit>,
    keyed: Flop<Bit>,
    status_addressed: Flop<Bit>,

    is_schedule: Signal<Local, Bit>,
    schedules: Signal<Local, Bit>,
    is_held: Signal<Local, Bit>,
    /// Which of the registers that are held, by bits 4:2 of its address.
    held: Signal<Local, Bits<3>>,
    is_key: Signal<Local, Bit>,
    fits: Signal<Local, Bit>,
    legal: Signal<Local, Bit>,
    stores: Signal<Local, Bit>,
    /// The word that is copied: `from` first.
    copied: Signal<Local, Bits<4>>,
    copies: Signal<Local, Bit>,
    number_part: Signal<Local, Bits<16>>,
    from_part: Signal<Local, Bits<16>>,
    carried: Signal<Local, Bits<17>>,
    partial: Signal<Local, Bits<17>>,
    difference: Signal<Local, Bits<17>>,
    is_more: Signal<Local, Bit>,
    writes: Signal<Local, Bit>,
    write_address: Signal<Local, Bits<5>>,
    write_data: Signal<Local, Bits<16>>,
    read_address: Signal<Local, Bits<5>>,
}

impl Logic for Keys {
    #[passes(
        axi,
        in(
            clk,
            s_axil_awaddr,
            s_axil_awvalid,
            s_axil_wdata,
            s_axil_wstrb,
            s_axil_wvalid,
            s_axil_bready,
            s_axil_araddr,
            s_axil_arvalid,
            s_axil_rready
        ),
        out(
            s_axil_awready,
            s_axil_wready,
            s_axil_bresp,
            s_axil_bvalid,
            s_axil_arready,
            s_axil_rdata,
            s_axil_rresp,
            s_axil_rvalid
        )
    )]
    #[clocked(cleared, copying, turn, second, pending, named, carry, differs, due, keyed, status_addressed)]
    fn update(&mut self) {
        self.axi.rst.next = self.rst.val() | !self.cleared.q.val();

        // What may be written: whole words, a key while none waits, an identifier of 16 bits.
        self.held.next = self.axi.write_address.val().get_bits::<3>(2);
        self.is_held.next = (self.axi.write_address.val().get_bits::<7>(5) == 5)
            & self.held.val().any()
            & !self.axi.write_address.val().get_bits::<2>(0).any();
        self.is_schedule.next = self.axi.write_address.val() == 0xc0;
        self.is_key.next = (self.held.val() >= 2) & (self.held.val() <= 6);
        self.fits.next = !self.axi.write_data.val().get_bits::<15>(1).any()
            & !self.axi.write_data.val().get_bits::<16>(16).any();
        if self.is_held.val() {
            self.fits.next = true;
            if self.held.val() == 6 {
                self.fits.next = !self.axi.write_data.val().get_bits::<16>(16).any();
            }
        }
        self.legal.next = self.axi.write_whole.val()
            & self.fits.val()
            & (self.is_schedule.val() | (self.is_held.val() & !(self.is_key.val() & self.pending.q.val())));
        self.axi.write_legal.next = self.legal.val();
        self.stores.next = self.axi.write.val() & self.legal.val() & self.is_held.val();
        self.second.d.next = self.stores.val();
        if self.stores.val() & (self.held.val() == 6) {
            self.named.d.next = self.axi.write_data.val().any();
        }

        // The copy: from, the epoch, the key, its identifier.
        self.copied.next = self.turn.q.val().get_bits::<4>(1) - 2;
        // From less the running number: plus the complement of the number of the one before.
        self.number_part.next = self.number.val().get_bits::<16>(0) ^ 0xffff;
        self.carried.next = 0.into();
        if self.copied.val().get_bit(0) {
            self.number_part.next = self.number.val().get_bits::<16>(16) ^ 0xffff;
            if self.carry.q.val() {
                self.carried.next = 1.into();
            }
        }
        self.from_part.next = self.memory.read_data.val();
        self.partial.next =
            bit_cast::<17, 16>(self.from_part.val()) + bit_cast::<17, 16>(self.number_part.val());
        self.difference.next = self.partial.val() + self.carried.val();
        self.is_more.next = false;
        self.copies.next = false;
        if self.copying.q.val() {
            self.turn.d.next = self.turn.q.val() + 1;
            if self.turn.q.val().get_bit(0) {
                self.copies.next = (self.copied.val().get_bits::<3>(1) == 1) | self.due.q.val();
                if self.turn.q.val() == 1 {
                    self.carry.d.next = self.difference.val().get_bit(16);
                    self.differs.d.next = self.difference.val().get_bits::<16>(0).any();
                }
                // Due: the difference is zero, or negative and not the least number, whose opposite is itself.
                if self.turn.q.val() == 3 {
                    self.is_more.next = self.differs.q.val() | self.difference.val().get_bits::<15>(0).any();
                    self.due.d.next = self.due.q.val()
                        | (self.pending.q.val() & (self.difference.val().get_bit(15) == self.is_more.val()));
                }
                if (self.copied.val() == 12) & self.due.q.val() {
                    self.keyed.d.next = self.memory.read_data.val().any();
                }
                if self.turn.q.val() == 31 {
                    self.copying.d.next = false;
                    self.due.d.next = false;
                    if self.due.q.val() {
                        self.pending.d.next = false;
                    }
                }
            }
        }
        if self.ends.val() {
            self.copying.d.next = true;
        }
        if self.stores.val() {
            self.turn.d.next = 0.into();
            self.due.d.next = self.due.q.val();
            self.copying.d.next = self.copying.q.val() | self.ends.val();
            self.pending.d.next = self.pending.q.val();
        }
        self.schedules.next = self.axi.write.val()
            & self.legal.val()
            & self.is_schedule.val()
            & self.axi.write_data.val().get_bit(0);
        if self.schedules.val() {
            self.pending.d.next = true;
        }

        self.memory.clk.next = self.clk.val();
        self.read_address.next = bit_cast::<5, 4>(self.place.val()) | 16;
        if self.copying.q.val() {
            self.read_address.next = bit_cast::<5, 4>(self.copied.val());
        }
        self.write_address.next = bit_cast::<5, 4>(self.copied.val()) | 16;
        self.write_data.next = self.memory.read_data.val();
        if self.stores.val() | self.second.q.val() {
            self.write_address.next = bit_cast::<5, 3>(self.held.val()) << 1;
            self.write_data.next = self.axi.write_data.val().get_bits::<16>(0);
            if self.second.q.val() {
                self.write_address.next = (bit_cast::<5, 3>(self.held.val()) << 1) | 1;
                self.write_data.next = self.axi.write_data.val().get_bits::<16>(16);
            }
        }
        if !self.cleared.q.val() {
            self.write_address.next = self.turn.q.val();
            self.write_data.next = 0.into();
            self.turn.d.next = self.turn.q.val() + 1;
            if self.turn.q.val() == 31 {
                self.cleared.d.next = true;
            }
        }
        self.memory.read_address.next = self.read_address.val();
        self.memory.write_address.next = self.write_address.val();
        self.memory.write_data.next = self.write_data.val();
        self.writes.next =
            self.stores.val() | self.second.q.val() | self.copies.val() | !self.cleared.q.val();
        self.memory.write_enable.next = self.writes.val();
        self.memory_of_tags.clk.next = self.clk.val();
        self.memory_of_tags.read_address.next = self.tag_place.val();
        self.memory_of_tags.write_address.next = self.write_address.val();
        self.memory_of_tags.write_data.next = self.write_data.val();
        self.memory_of_tags.write_enable.next = self.writes.val();

        self.status_addressed.d.next = self.axi.read_address.val() == 0x24;
        self.axi.read_legal.next = self.status_addressed.q.val();
        self.axi.read_data.next = 0.into();
        if self.pending.q.val() & self.status_addressed.q.val() {
            self.axi.read_data.next = 0x20.into();
        }

        self.busy.next = self.copying.q.val();
        self.is_keyed.next = self.keyed.q.val();
        self.word.next = self.memory.read_data.val();
        self.waits.next = self.pending.q.val() & self.named.q.val();
        self.renews.next = self.schedules.val() | (self.second.q.val() & self.pending.q.val());
        self.tag_word.next = self.memory_of_tags.read_data.val();
    }
}
