//! RMII: frames out of a PHY's receive pins, byte by byte, without preamble and check sequence.
//!
//! # Theory of operation
//!
//! Two bits (a dibit) come with each cycle of the 50 MHz reference clock, the lowest first. While the PHY hears a
//! carrier, the first byte is preceded by zeros, preamble (dibits 01) and start delimiter (11). After the carrier's
//! end, CRS_DV is low in the first dibit of each nibble as long as dibits are left, and low in both when none is.
//! It may rise at any time, so it goes through two flip-flops, and so do the dibits.
//!
//! Five bytes are held back. When the frame ends, the oldest of them is its last byte and the others are its check
//! sequence, which is compared. One or two dibits after the last whole byte are dropped, as Ethernet requires.
//! Three make a byte with the silence, and the frame is bad. Frames of fewer than five bytes are ignored. After a
//! false carrier everything up to the next silence is ignored.
//!
//! There is no reset: whatever state the module begins in ([`crate::state_register`]), the next silence brings it
//! into the right one. When the rest of the board is reset, the core behind this module ignores the frame that is
//! under way.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk | in | 1 | reference clock, 50 MHz |
//! | crs_dv | in | 1 | from the PHY: carrier sense, data valid |
//! | rxd | in | 2 | from the PHY: a dibit |
//! | octet | out | 8 | a byte of a frame; this and the next two hold until the next byte |
//! | last | out | 1 | it is the frame's last one |
//! | bad | out | 1 | with last: the check sequence is wrong |
//! | turn | out | 1 | changes with every byte |
//!
//! Bytes are at least four cycles apart. From a frame's first dibit after the start delimiter to its first byte: 25
//! cycles, always. No parameters. Cost: 105 flip-flops, about 60 LUTs.
//!
//! # Test plan
//!
//! `sim/cosim/tests/board_rmii_tap.rs`, with the whole tap: frames of random lengths from 60 bytes, back to back and apart, with
//! carriers that end before the data or with them; long and short preambles, false carriers, wrong check sequences,
//! odd dibits, cut frames, a reset during frames; power-on with random registers.

use crate::state_register::StateRegister;
use deltaline_hdl::leaves::Flop;
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::dff_setup;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Rmii {
    pub clk: Signal<In, Clock>,
    pub crs_dv: Signal<In, Bit>,
    pub rxd: Signal<In, Bits<2>>,
    pub octet: Signal<Out, Bits<8>>,
    pub last: Signal<Out, Bit>,
    pub bad: Signal<Out, Bit>,
    pub turn: Signal<Out, Bit>,

    polynomial: Constant<Bits<32>>,
    /// What is left in the check register after a correct frame.
    residue: Constant<Bits<32>>,
    sampled_valid: Flop<Bit>,
    sampled_dibit: Flop<Bits<2>>,
    valid: Flop<Bit>,
    dibit: Flop<Bits<2>>,
    was_valid: Flop<Bit>,
    /// 0 wait for silence, 1 silence, 2 preamble, 3 frame.
    state: StateRegister<Bits<2>>,
    /// Number of the dibit in its byte.
    phase: Flop<Bits<2>>,
    /// The frame has ended in this byte.
    ends: Flop<Bit>,
    /// Bytes held, up to five.
    held: Flop<Bits<3>>,
    shift: Flop<Bits<8>>,
    /// The last five bytes, the oldest highest.
    bytes: Flop<Bits<40>>,
    check: Flop<Bits<32>>,
    is_right: Flop<Bit>,
    octet_out: Flop<Bits<8>>,
    is_last: Flop<Bit>,
    is_bad: Flop<Bit>,
    turns: Flop<Bit>,

    is_silent: Signal<Local, Bit>,
    is_over: Signal<Local, Bit>,
    is_full: Signal<Local, Bit>,
    shifted: Signal<Local, Bits<8>>,
    entering: Signal<Local, Bits<2>>,
    after_first: Signal<Local, Bits<32>>,
    after_second: Signal<Local, Bits<32>>,
}

impl Default for Rmii {
    fn default() -> Self {
        Rmii {
            polynomial: Constant::new(0xedb8_8320_u64.into()),
            residue: Constant::new(0xdebb_20e3_u64.into()),
            clk: Default::default(),
            crs_dv: Default::default(),
            rxd: Default::default(),
            octet: Default::default(),
            last: Default::default(),
            bad: Default::default(),
            turn: Default::default(),
            sampled_valid: Default::default(),
            sampled_dibit: Default::default(),
            valid: Default::default(),
            dibit: Default::default(),
            was_valid: Default::default(),
            state: Default::default(),
            phase: Default::default(),
            ends: Default::default(),
            held: Default::default(),
            shift: Default::default(),
            bytes: Default::default(),
            check: Default::default(),
            is_right: Default::default(),
            octet_out: Default::default(),
            is_last: Default::default(),
            is_bad: Default::default(),
            turns: Default::default(),
            is_silent: Default::default(),
            is_over: Default::default(),
            is_full: Default::default(),
            shifted: Default::default(),
            entering: Default::default(),
            after_first: Default::default(),
            after_second: Default::default(),
        }
    }
}

impl Logic for Rmii {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clk,
            sampled_valid,
            sampled_dibit,
            valid,
            dibit,
            was_valid,
            state,
            phase,
            ends,
            held,
            shift,
            bytes,
            check,
            is_right,
            octet_out,
            is_last,
            is_bad,
            turns
        );
        self.sampled_valid.rst.next = false;
        self.sampled_dibit.rst.next = false;
        self.valid.rst.next = false;
        self.dibit.rst.next = false;
        self.was_valid.rst.next = false;
        self.phase.rst.next = false;
        self.ends.rst.next = false;
        self.held.rst.next = false;
        self.shift.rst.next = false;
        self.bytes.rst.next = false;
        self.check.rst.next = false;
        self.is_right.rst.next = false;
        self.octet_out.rst.next = false;
        self.is_last.rst.next = false;
        self.is_bad.rst.next = false;
        self.turns.rst.next = false;

        self.sampled_valid.d.next = self.crs_dv.val();
        self.sampled_dibit.d.next = self.rxd.val();
        self.valid.d.next = self.sampled_valid.q.val();
        self.dibit.d.next = self.sampled_dibit.q.val();
        self.was_valid.d.next = self.valid.q.val();
        self.is_silent.next = !self.valid.q.val() & !self.was_valid.q.val();
        self.is_over.next = self.ends.q.val() | self.is_silent.val();
        self.is_full.next = self.held.q.val() == 5;

        self.shifted.next = (self.shift.q.val() >> 2) | (bit_cast::<8, 2>(self.dibit.q.val()) << 6);
        self.entering.next = self.dibit.q.val() ^ self.check.q.val().get_bits::<2>(0);
        self.after_first.next = self.check.q.val() >> 1;
        if self.entering.val().get_bit(0) {
            self.after_first.next = (self.check.q.val() >> 1) ^ self.polynomial.val();
        }
        // The polynomial's lowest bit is zero, so the second bit to leave is still unchanged.
        self.after_second.next = self.after_first.val() >> 1;
        if self.entering.val().get_bit(1) {
            self.after_second.next = (self.after_first.val() >> 1) ^ self.polynomial.val();
        }

        match self.state.q.val().index() {
            0 => {
                if self.is_silent.val() {
                    self.state.d.next = 1.into();
                }
            }
            1 => {
                self.phase.d.next = 0.into();
                self.ends.d.next = false;
                self.held.d.next = 0.into();
                self.check.d.next = 0xffff_ffff_u64.into();
                if self.valid.q.val() {
                    if self.dibit.q.val() == 1 {
                        self.state.d.next = 2.into();
                    } else if self.dibit.q.val().any() {
                        self.state.d.next = 0.into();
                    }
                }
            }
            2 => {
                if self.dibit.q.val() == 3 {
                    self.state.d.next = 3.into();
                } else if self.dibit.q.val() != 1 {
                    self.state.d.next = 0.into();
                }
                if !self.valid.q.val() {
                    self.state.d.next = 0.into();
                }
            }
            _ => {
                self.phase.d.next = self.phase.q.val() + 1;
                self.shift.d.next = self.shifted.val();
                self.check.d.next = self.after_second.val();
                self.ends.d.next = self.is_over.val();
                // A multiple of whole bytes: the end is noticed with the next byte's first dibit at the earliest.
                if self.phase.q.val() == 0 {
                    self.is_right.d.next = self.check.q.val() == self.residue.val();
                }
                if self.phase.q.val() == 3 {
                    if self.is_full.val() {
                        self.octet_out.d.next = self.bytes.q.val().get_bits::<8>(32);
                        self.is_last.d.next = self.is_over.val();
                        self.is_bad.d.next = !self.is_right.q.val();
                        self.turns.d.next = !self.turns.q.val();
                    } else {
                        self.held.d.next = self.held.q.val() + 1;
                    }
                    self.bytes.d.next = (self.bytes.q.val() << 8) | bit_cast::<40, 8>(self.shifted.val());
                    if self.is_over.val() {
                        self.state.d.next = 1.into();
                    }
                }
            }
        }

        self.octet.next = self.octet_out.q.val();
        self.last.next = self.is_last.q.val();
        self.bad.next = self.is_bad.q.val();
        self.turn.next = self.turns.q.val();
    }
}
