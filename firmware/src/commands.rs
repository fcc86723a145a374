//! Commands: receives the host's messages and holds the settings that they carry.
//!
//! # Theory of operation
//!
//! Bytes between two flags, unescaped, shift through a register that holds a whole settings message. At the closing
//! flag, the number of bytes, the check sequence and the kind show whether the message is valid settings. Valid
//! settings wait until they are taken; later ones replace them. Formats: `deltaline_model::board`.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | octet, valid | in | 8, 1 | a byte has arrived |
//! | take | in | 1 | put the waiting settings into force |
//! | pending | out | 1 | settings wait |
//! | identify | out | 1 | the host asks for an identity |
//! | reset | out | 1 | the host asks for a reset |
//! | number, intervals, seed, sizes, gap, delay, burst, loss, bursts, packets | out | | the settings in force |
//! | gap_mask, jitter_mask | out | 15 | the bits that the exponents of the settings allow |
//!
//! Latency three cycles from the closing flag. The octet must stay for a cycle after valid. No parameters. Cost:
//! about 600 flip-flops, 280 LUTs.
//!
//! # Test plan
//!
//! `sim/cosim/tests/board_selftest.rs`: all three messages, with every field in turn. Wrong check sequences, lengths and kinds,
//! escapes and garbage in between have no effect.

use deltaline_hdl::leaves::Flop;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::dff_setup;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct Commands {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub octet: Signal<In, Bits<8>>,
    pub valid: Signal<In, Bit>,
    pub take: Signal<In, Bit>,
    pub pending: Signal<Out, Bit>,
    pub identify: Signal<Out, Bit>,
    pub reset: Signal<Out, Bit>,
    pub number: Signal<Out, Bits<8>>,
    pub intervals: Signal<Out, Bits<16>>,
    pub seed: Signal<Out, Bits<32>>,
    pub sizes: Signal<Out, Bits<2>>,
    pub gap_mask: Signal<Out, Bits<15>>,
    pub gap: Signal<Out, Bits<16>>,
    pub delay: Signal<Out, Bits<16>>,
    pub jitter_mask: Signal<Out, Bits<15>>,
    pub burst: Signal<Out, Bits<8>>,
    pub loss: Signal<Out, Bits<16>>,
    pub bursts: Signal<Out, Bits<16>>,
    pub packets: Signal<Out, Bits<32>>,

    /// What has arrived: a flag, an escape, another byte.
    flag: Flop<Bit>,
    mark: Flop<Bit>,
    plain: Flop<Bit>,
    escaped: Flop<Bit>,
    check: Flop<Bits<16>>,
    /// Bytes since the flag, check sequence included; stops at 31.
    length: Flop<Bits<5>>,
    /// The last 26 of them: settings with their check sequence.
    bytes: Flop<Bits<208>>,
    closes: Flop<Bit>,
    good: Flop<Bit>,
    closed_length: Flop<Bits<5>>,
    waiting: Flop<Bits<184>>,
    is_waiting: Flop<Bit>,
    active: Flop<Bits<184>>,
    gap_bits: Flop<Bits<15>>,
    jitter_bits: Flop<Bits<15>>,
    does_identify: Flop<Bit>,
    does_reset: Flop<Bit>,

    is_flag: Signal<Local, Bit>,
    is_mark: Signal<Local, Bit>,
    value: Signal<Local, Bits<8>>,
    entering: Signal<Local, Bits<8>>,
    nibble: Signal<Local, Bits<8>>,
    wide: Signal<Local, Bits<16>>,
    short_kind: Signal<Local, Bits<8>>,
    long_kind: Signal<Local, Bits<8>>,
    gap_exponent: Signal<Local, Bits<4>>,
    jitter_exponent: Signal<Local, Bits<4>>,
    all_bits: Signal<Local, Bits<15>>,
    gap_above: Signal<Local, Bits<15>>,
    jitter_above: Signal<Local, Bits<15>>,
}

impl Logic for Commands {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clk,
            flag,
            mark,
            plain,
            escaped,
            check,
            length,
            bytes,
            closes,
            good,
            closed_length,
            waiting,
            is_waiting,
            active,
            gap_bits,
            jitter_bits,
            does_identify,
            does_reset
        );
        self.escaped.rst.next = self.rst.val();
        self.check.rst.next = self.rst.val();
        self.length.rst.next = self.rst.val();
        self.is_waiting.rst.next = self.rst.val();
        // Written before they are read.
        self.flag.rst.next = false;
        self.mark.rst.next = false;
        self.plain.rst.next = false;
        self.bytes.rst.next = false;
        self.closes.rst.next = false;
        self.good.rst.next = false;
        self.closed_length.rst.next = false;
        self.waiting.rst.next = false;
        self.active.rst.next = false;
        self.gap_bits.rst.next = false;
        self.jitter_bits.rst.next = false;
        self.does_identify.rst.next = false;
        self.does_reset.rst.next = false;

        // The byte itself stays for many cycles.
        self.is_flag.next = self.octet.val() == 0x7e;
        self.is_mark.next = self.octet.val() == 0x7d;
        self.flag.d.next = self.valid.val() & self.is_flag.val();
        self.mark.d.next = self.valid.val() & self.is_mark.val();
        self.plain.d.next = self.valid.val() & !self.is_flag.val() & !self.is_mark.val();
        self.value.next = self.octet.val();
        if self.escaped.q.val() {
            self.value.next = self.octet.val() ^ 0x20;
        }
        // The check sequence of a byte in closed form.
        self.entering.next = self.value.val() ^ self.check.q.val().get_bits::<8>(0);
        self.nibble.next = self.entering.val() ^ (self.entering.val() << 4);
        self.wide.next = bit_cast::<16, 8>(self.nibble.val());
        self.closes.d.next = false;
        if self.flag.q.val() {
            self.closes.d.next = true;
            self.good.d.next = (self.check.q.val() == 0xf0b8) & !self.escaped.q.val();
            self.closed_length.d.next = self.length.q.val();
            self.escaped.d.next = false;
            self.check.d.next = 0xffff.into();
            self.length.d.next = 0.into();
        }
        if self.mark.q.val() {
            self.escaped.d.next = true;
        }
        if self.plain.q.val() {
            self.escaped.d.next = false;
            self.bytes.d.next = (self.bytes.q.val() << 8) | bit_cast::<208, 8>(self.value.val());
            self.check.d.next = (self.check.q.val() >> 8)
                ^ (self.wide.val() << 8)
                ^ (self.wide.val() << 3)
                ^ (self.wide.val() >> 4);
            if !self.length.q.val().all() {
                self.length.d.next = self.length.q.val() + 1;
            }
        }

        self.short_kind.next = self.bytes.q.val().get_bits::<8>(16);
        self.long_kind.next = self.bytes.q.val().get_bits::<8>(200);
        self.does_identify.d.next = false;
        self.does_reset.d.next = false;
        if self.take.val() {
            self.is_waiting.d.next = false;
            self.active.d.next = self.waiting.q.val();
        }
        if self.closes.q.val() & self.good.q.val() {
            if self.closed_length.q.val() == 3 {
                self.does_identify.d.next = self.short_kind.val() == 0x80;
                self.does_reset.d.next = self.short_kind.val() == 0x82;
            }
            if (self.closed_length.q.val() == 26) & (self.long_kind.val() == 0x81) {
                self.is_waiting.d.next = true;
                self.waiting.d.next = self.bytes.q.val().get_bits::<184>(16);
            }
        }

        self.all_bits.next = 0x7fff.into();
        self.gap_exponent.next = self.active.q.val().get_bits::<4>(112);
        self.jitter_exponent.next = self.active.q.val().get_bits::<4>(72);
        self.gap_above.next = self.all_bits.val() << self.gap_exponent.val();
        self.jitter_above.next = self.all_bits.val() << self.jitter_exponent.val();
        self.gap_bits.d.next = !self.gap_above.val();
        self.jitter_bits.d.next = !self.jitter_above.val();

        self.pending.next = self.is_waiting.q.val();
        self.identify.next = self.does_identify.q.val();
        self.reset.next = self.does_reset.q.val();
        self.number.next = self.active.q.val().get_bits::<8>(176);
        self.intervals.next = self.active.q.val().get_bits::<16>(160);
        self.seed.next = self.active.q.val().get_bits::<32>(128);
        self.sizes.next = self.active.q.val().get_bits::<2>(120);
        self.gap_mask.next = self.gap_bits.q.val();
        self.gap.next = self.active.q.val().get_bits::<16>(96);
        self.delay.next = self.active.q.val().get_bits::<16>(80);
        self.jitter_mask.next = self.jitter_bits.q.val();
        self.burst.next = self.active.q.val().get_bits::<8>(64);
        self.loss.next = self.active.q.val().get_bits::<16>(48);
        self.bursts.next = self.active.q.val().get_bits::<16>(32);
        self.packets.next = self.active.q.val().get_bits::<32>(0);
    }
}
