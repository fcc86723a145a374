//! Tap records: the tap's messages, in order.
//!
//! # Theory of operation
//!
//! An identity is sent after reset and on request. Otherwise whole control frames are sent, from whichever core
//! offers one; if both do, the sender's goes first. Formats: `deltaline_model::board`.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | identify | in | 1 | send an identity |
//! | sender_*, receiver_* | in (tready out) | 8 + 1 + 1 | control frames of the cores |
//! | tdata, tvalid, tlast | out (tready in) | 8 + 1 + 1 | payload for the framer |
//!
//! A byte takes two cycles or more. Parameter: the identity. Cost: 30 flip-flops, about 100 LUTs.
//!
//! # Test plan
//!
//! `sim/cosim/tests/board_rmii_tap.rs`: all control frames of both cores, each core's in order, with identities in between.

use deltaline_hdl::leaves::{Flop, Rom};
use deltaline_model::board::{IDENTITY_BYTES, Identity};
use rust_hdl_core::prelude::*;
use rust_hdl_widgets::dff_setup;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct TapRecords {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub identify: Signal<In, Bit>,
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

    identity: Rom<8, 5>,
    last_of_identity: Constant<Bits<5>>,
    identified: Flop<Bit>,
    /// 0 idle, 1 look the identity's byte up, 2 take a byte, 3 offer it.
    state: Flop<Bits<2>>,
    /// 0 sender's frame, 1 receiver's frame, 2 identity.
    kind: Flop<Bits<2>>,
    index: Flop<Bits<5>>,
    octet: Flop<Bits<8>>,
    is_last: Flop<Bit>,
}

impl TapRecords {
    /// For a board with this identity.
    pub fn new(identity: &Identity) -> Self {
        let bytes: Vec<u64> = identity.encode().as_bytes().iter().copied().map(u64::from).collect();
        TapRecords {
            identity: Rom::new(&bytes),
            last_of_identity: Constant::new((IDENTITY_BYTES as u64 - 1).into()),
            clk: Default::default(),
            rst: Default::default(),
            identify: Default::default(),
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
            identified: Default::default(),
            state: Default::default(),
            kind: Default::default(),
            index: Default::default(),
            octet: Default::default(),
            is_last: Default::default(),
        }
    }
}

impl Logic for TapRecords {
    #[hdl_gen]
    fn update(&mut self) {
        dff_setup!(self, clk, identified, state, kind, index, octet, is_last);
        self.identified.rst.next = self.rst.val();
        self.state.rst.next = self.rst.val();
        // Written before they are read.
        self.kind.rst.next = false;
        self.index.rst.next = false;
        self.octet.rst.next = false;
        self.is_last.rst.next = false;

        self.identity.clk.next = self.clk.val();
        self.identity.address.next = self.index.q.val();
        match self.state.q.val().index() {
            0 => {
                self.index.d.next = 0.into();
                self.is_last.d.next = false;
                // A control frame's kind.
                self.octet.d.next = 0.into();
                if !self.identified.q.val() {
                    self.kind.d.next = 2.into();
                    self.state.d.next = 1.into();
                } else if self.sender_tvalid.val() {
                    self.kind.d.next = 0.into();
                    self.state.d.next = 3.into();
                } else if self.receiver_tvalid.val() {
                    self.kind.d.next = 1.into();
                    self.state.d.next = 3.into();
                }
            }
            1 => {
                self.state.d.next = 2.into();
            }
            2 => match self.kind.q.val().index() {
                0 => {
                    if self.sender_tvalid.val() {
                        self.octet.d.next = self.sender_tdata.val();
                        self.is_last.d.next = self.sender_tlast.val();
                        self.state.d.next = 3.into();
                    }
                }
                1 => {
                    if self.receiver_tvalid.val() {
                        self.octet.d.next = self.receiver_tdata.val();
                        self.is_last.d.next = self.receiver_tlast.val();
                        self.state.d.next = 3.into();
                    }
                }
                _ => {
                    self.octet.d.next = self.identity.read_data.val();
                    self.is_last.d.next = self.index.q.val() == self.last_of_identity.val();
                    self.state.d.next = 3.into();
                }
            },
            _ => {
                if self.tready.val() {
                    self.index.d.next = self.index.q.val() + 1;
                    self.state.d.next = 2.into();
                    if self.kind.q.val() == 2 {
                        self.state.d.next = 1.into();
                    }
                    if self.is_last.q.val() {
                        self.state.d.next = 0.into();
                        if self.kind.q.val() == 2 {
                            self.identified.d.next = true;
                        }
                    }
                }
            }
        }
        if self.identify.val() {
            self.identified.d.next = false;
        }

        self.sender_tready.next = (self.state.q.val() == 2) & (self.kind.q.val() == 0);
        self.receiver_tready.next = (self.state.q.val() == 2) & (self.kind.q.val() == 1);
        self.tdata.next = self.octet.q.val();
        self.tvalid.next = self.state.q.val() == 3;
        self.tlast.next = self.is_last.q.val();
    }
}
