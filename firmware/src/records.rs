//! Records: the board's messages, in order.
//!
//! # Theory of operation
//!
//! When an interval is cut, its truth is sent first, then the sender's control frames, then the receiver's. The
//! receiver's core waits until the sender's has sent all. An identity goes first after reset, and on request
//! between two records. Formats: `deltaline_model::board`.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | tell | in | 1 | an interval was cut |
//! | identify | in | 1 | send an identity |
//! | number, interval, sent, losses, received, holds, least, greatest, sum, squares | in | | the truth |
//! | sender_*, receiver_* | in (tready out) | 8 + 1 + 1 | control frames of the cores |
//! | tdata, tvalid, tlast | out (tready in) | 8 + 1 + 1 | payload for the framer |
//! | told | out | 1 | no truth is left to be sent |
//! | drained | out | 1 | nothing is |
//!
//! A byte takes three cycles or more. Parameters, from the configuration: control frames of an interval, identity. Cost:
//! about 110 flip-flops, 400 LUTs.
//!
//! # Test plan
//!
//! `sim/cosim/tests/board_selftest.rs`: all records in order, with identities in between.

use deltaline_hdl::leaves::Flop;
use deltaline_model::board::{IDENTITY_BYTES, Identity, TRUTH_BYTES};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::dff_setup;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Records {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub tell: Signal<In, Bit>,
    pub identify: Signal<In, Bit>,
    pub number: Signal<In, Bits<8>>,
    pub interval: Signal<In, Bits<32>>,
    pub sent: Signal<In, Bits<32>>,
    pub losses: Signal<In, Bits<32>>,
    pub received: Signal<In, Bits<32>>,
    pub holds: Signal<In, Bits<32>>,
    pub least: Signal<In, Bits<17>>,
    pub greatest: Signal<In, Bits<17>>,
    pub sum: Signal<In, Bits<48>>,
    pub squares: Signal<In, Bits<64>>,
    pub sender_tdata: Signal<In, Bits<8>>,
    pub sender_tvalid: Signal<In, Bit>,
    pub sender_tlast: Signal<In, Bit>,
    pub sender_tready: Signal<Out, Bit>,
    pub receiver_tdata: Signal<In, Bits<8>>,
    pub receiver_tvalid: Signal<In, Bit>,
    pub receiver_tlast: Signal<In, Bit>,
    pub receiver_tready: Signal<Out, Bit>,
    pub tdata: Signal<Out, Bits<8>>,
    pub tvalid: Signal<Out, Bit>,
    pub tlast: Signal<Out, Bit>,
    pub tready: Signal<In, Bit>,
    pub told: Signal<Out, Bit>,
    pub drained: Signal<Out, Bit>,

    /// The identity's bytes, eight a word, in order from the highest.
    identity: [Constant<Bits<64>>; 4],
    /// Control frames of a core and an interval.
    frames: Constant<Bits<8>>,
    last_of_truth: Constant<Bits<6>>,
    last_of_identity: Constant<Bits<6>>,

    tells: Flop<Bit>,
    identified: Flop<Bit>,
    sender_left: Flop<Bits<8>>,
    receiver_left: Flop<Bits<8>>,
    /// 0 idle, 1 and 5 look eight bytes up, 2 shift one out, 3 offer it, 4 take one from a core.
    state: Flop<Bits<3>>,
    /// 0 sender's frame, 1 truth, 2 identity, 3 receiver's frame.
    kind: Flop<Bits<2>>,
    index: Flop<Bits<6>>,
    /// The bytes of the eight that are left, the next one highest.
    word: Flop<Bits<64>>,
    octet: Flop<Bits<8>>,
    is_last: Flop<Bit>,

    line: [Signal<Local, Bits<64>>; 10],
    is_eighth: Signal<Local, Bit>,
    is_frame: Signal<Local, Bit>,
    /// Of the lines, which one comes next.
    row: Flop<Bits<4>>,
    offers: Signal<Local, Bit>,
    finishes: Signal<Local, Bit>,
}

impl Records {
    /// For cores that send `frames` control frames an interval, and a board with this identity.
    pub fn new(frames: u8, identity: &Identity) -> Self {
        let bytes = identity.encode();
        let word = |index: usize| {
            let bytes = bytes.as_bytes().iter().copied().chain([0; 3]).skip(8 * index).take(8);
            bytes.fold(0u64, |word, byte| word << 8 | u64::from(byte))
        };
        Records {
            identity: std::array::from_fn(|index| Constant::new(word(index).into())),
            frames: Constant::new(u64::from(frames).into()),
            last_of_truth: Constant::new((TRUTH_BYTES as u64 - 1).into()),
            last_of_identity: Constant::new((IDENTITY_BYTES as u64 - 1).into()),
            clk: Default::default(),
            rst: Default::default(),
            tell: Default::default(),
            identify: Default::default(),
            number: Default::default(),
            interval: Default::default(),
            sent: Default::default(),
            losses: Default::default(),
            received: Default::default(),
            holds: Default::default(),
            least: Default::default(),
            greatest: Default::default(),
            sum: Default::default(),
            squares: Default::default(),
            sender_tdata: Default::default(),
            sender_tvalid: Default::default(),
            sender_tlast: Default::default(),
            sender_tready: Default::default(),
            receiver_tdata: Default::default(),
            receiver_tvalid: Default::default(),
            receiver_tlast: Default::default(),
            receiver_tready: Default::default(),
            tdata: Default::default(),
            tvalid: Default::default(),
            tlast: Default::default(),
            tready: Default::default(),
            told: Default::default(),
            drained: Default::default(),
            tells: Default::default(),
            identified: Default::default(),
            sender_left: Default::default(),
            receiver_left: Default::default(),
            state: Default::default(),
            kind: Default::default(),
            index: Default::default(),
            word: Default::default(),
            octet: Default::default(),
            is_last: Default::default(),
            line: Default::default(),
            is_eighth: Default::default(),
            is_frame: Default::default(),
            row: Default::default(),
            offers: Default::default(),
            finishes: Default::default(),
        }
    }
}

impl Logic for Records {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(
            self,
            clk,
            tells,
            identified,
            sender_left,
            receiver_left,
            state,
            kind,
            index,
            word,
            octet,
            is_last,
            row
        );
        self.tells.rst.next = self.rst.val();
        self.identified.rst.next = self.rst.val();
        self.sender_left.rst.next = self.rst.val();
        self.receiver_left.rst.next = self.rst.val();
        self.state.rst.next = self.rst.val();
        // Written before they are read.
        self.kind.rst.next = false;
        self.index.rst.next = false;
        self.octet.rst.next = false;
        self.is_last.rst.next = false;
        self.word.rst.next = false;
        self.row.rst.next = false;

        // The truth's bytes, eight a word, in order from the highest.
        self.line[0].next = (bit_cast::<64, 8>(self.number.val()) << 48)
            | (bit_cast::<64, 32>(self.interval.val()) << 16)
            | bit_cast::<64, 16>(self.sent.val().get_bits::<16>(16))
            | 0x0100_0000_0000_0000_u64;
        self.line[1].next = (bit_cast::<64, 16>(self.sent.val().get_bits::<16>(0)) << 48)
            | (bit_cast::<64, 32>(self.losses.val()) << 16)
            | bit_cast::<64, 16>(self.received.val().get_bits::<16>(16));
        self.line[2].next = (bit_cast::<64, 16>(self.received.val().get_bits::<16>(0)) << 48)
            | (bit_cast::<64, 32>(self.holds.val()) << 16)
            | bit_cast::<64, 1>(self.least.val().get_bits::<1>(16));
        self.line[3].next = (bit_cast::<64, 16>(self.least.val().get_bits::<16>(0)) << 48)
            | (bit_cast::<64, 17>(self.greatest.val()) << 16);
        self.line[4].next = (bit_cast::<64, 48>(self.sum.val()) << 16)
            | bit_cast::<64, 16>(self.squares.val().get_bits::<16>(48));
        self.line[5].next = bit_cast::<64, 48>(self.squares.val().get_bits::<48>(0)) << 16;
        self.line[6].next = self.identity[0].val();
        self.line[7].next = self.identity[1].val();
        self.line[8].next = self.identity[2].val();
        self.line[9].next = self.identity[3].val();
        self.row.d.next = bit_cast::<4, 3>(self.index.q.val().get_bits::<3>(3));
        if self.kind.q.val().get_bit(1) {
            self.row.d.next = bit_cast::<4, 3>(self.index.q.val().get_bits::<3>(3)) + 6;
        }

        self.is_eighth.next = self.index.q.val().get_bits::<3>(0).all();
        self.is_frame.next = (self.kind.q.val() == 0) | (self.kind.q.val() == 3);
        self.offers.next = self.state.q.val() == 3;
        self.finishes.next = self.offers.val() & self.tready.val() & self.is_last.q.val();
        match self.state.q.val().index() {
            0 => {
                self.index.d.next = 0.into();
                self.is_last.d.next = false;
                if self.tells.q.val() {
                    self.kind.d.next = 1.into();
                    self.state.d.next = 1.into();
                } else if !self.identified.q.val() {
                    self.kind.d.next = 2.into();
                    self.state.d.next = 1.into();
                } else if self.sender_left.q.val().any() {
                    self.kind.d.next = 0.into();
                    self.state.d.next = 2.into();
                } else if self.receiver_left.q.val().any() {
                    self.kind.d.next = 3.into();
                    self.state.d.next = 2.into();
                }
            }
            // The line's number has a cycle of its own: it picks from hundreds of bits.
            1 => {
                self.state.d.next = 5.into();
            }
            5 => {
                match self.row.q.val().index() {
                    0 => {
                        self.word.d.next = self.line[0].val();
                    }
                    1 => {
                        self.word.d.next = self.line[1].val();
                    }
                    2 => {
                        self.word.d.next = self.line[2].val();
                    }
                    3 => {
                        self.word.d.next = self.line[3].val();
                    }
                    4 => {
                        self.word.d.next = self.line[4].val();
                    }
                    5 => {
                        self.word.d.next = self.line[5].val();
                    }
                    6 => {
                        self.word.d.next = self.line[6].val();
                    }
                    7 => {
                        self.word.d.next = self.line[7].val();
                    }
                    8 => {
                        self.word.d.next = self.line[8].val();
                    }
                    _ => {
                        self.word.d.next = self.line[9].val();
                    }
                }
                self.state.d.next = 2.into();
            }
            2 => {
                // A frame's kind is zero.
                self.octet.d.next = 0.into();
                if !self.is_frame.val() {
                    self.octet.d.next = self.word.q.val().get_bits::<8>(56);
                }
                self.word.d.next = self.word.q.val() << 8;
                if self.kind.q.val() == 1 {
                    self.is_last.d.next = self.index.q.val() == self.last_of_truth.val();
                }
                if self.kind.q.val() == 2 {
                    self.is_last.d.next = self.index.q.val() == self.last_of_identity.val();
                }
                self.state.d.next = 3.into();
            }
            3 => {
                if self.tready.val() {
                    self.index.d.next = self.index.q.val() + 1;
                    self.state.d.next = 2.into();
                    if self.is_eighth.val() {
                        self.state.d.next = 1.into();
                    }
                    if self.is_frame.val() {
                        self.state.d.next = 4.into();
                    }
                    if self.is_last.q.val() {
                        self.state.d.next = 0.into();
                    }
                }
            }
            _ => {
                if (self.kind.q.val() == 0) & self.sender_tvalid.val() {
                    self.octet.d.next = self.sender_tdata.val();
                    self.is_last.d.next = self.sender_tlast.val();
                    self.state.d.next = 3.into();
                }
                if (self.kind.q.val() == 3) & self.receiver_tvalid.val() {
                    self.octet.d.next = self.receiver_tdata.val();
                    self.is_last.d.next = self.receiver_tlast.val();
                    self.state.d.next = 3.into();
                }
            }
        }
        if self.finishes.val() {
            match self.kind.q.val().index() {
                0 => {
                    self.sender_left.d.next = self.sender_left.q.val() - 1;
                }
                1 => {
                    self.tells.d.next = false;
                }
                2 => {
                    self.identified.d.next = true;
                }
                _ => {
                    self.receiver_left.d.next = self.receiver_left.q.val() - 1;
                }
            }
        }
        if self.identify.val() {
            self.identified.d.next = false;
        }
        if self.tell.val() {
            self.tells.d.next = true;
            self.sender_left.d.next = self.frames.val();
            self.receiver_left.d.next = self.frames.val();
        }

        self.sender_tready.next = (self.state.q.val() == 4) & (self.kind.q.val() == 0);
        self.receiver_tready.next = (self.state.q.val() == 4) & (self.kind.q.val() == 3);
        self.tdata.next = self.octet.q.val();
        self.tvalid.next = self.offers.val();
        self.tlast.next = self.is_last.q.val();
        self.told.next = !self.tells.q.val();
        self.drained.next = (self.state.q.val() == 0)
            & self.identified.q.val()
            & !self.tells.q.val()
            & !self.sender_left.q.val().any()
            & !self.receiver_left.q.val().any();
    }
}
