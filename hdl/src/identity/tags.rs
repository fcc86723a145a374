//! Tags: walks VLAN tags and MPLS labels and aligns the words to the IP header.
//!
//! # Theory of operation
//!
//! A one-hot state says what the next word is. Each slot brings two words, so two [`TagStep`]s follow each other
//! within a cycle. When a word announces an IP header, that header starts either in word a or in word b of a
//! slot; in the second case all further pairs are taken one word later, so that behind this stage `x` is always the
//! first, third, fifth ... word of the IP header.
//!
//! | bit of the state | the next word is |
//! |---------|------------------|
//! | none    | of no interest |
//! | 0, 1, 2 | one whose low half is an EtherType, behind 0, 1, 2 VLAN tags |
//! | 3..=6   | the first to fourth MPLS label |
//! | 7, 8, 9 | the first of an IPv4, an IPv6, an unknown network header |
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | slot, opening, closing, bad, a, b, a_tag, b_tag | in | | from the header window |
//! | pair | out | 1 | a pair of aligned words is there |
//! | first | out | 1 | with pair: x is the first word of the network header |
//! | network | out | 2 | with first: 0 IPv4, 1 IPv6, 2 the version field tells |
//! | closes, bad_frame | out | 1 | with pair: the frame's last pair; the frame is bad |
//! | x, y | out | 32 | the pair |
//! | x_whole, y_whole | out | 1 | all four bytes are there |
//!
//! Latency one cycle, one pair a cycle.
//!
//! No parameters. Cost: `docs/report.md`, by stage and by module.
//!
//! # Test plan
//!
//! Cosimulated as part of the identity path: all stacks of 0..=3 VLAN tags and 0..=5 labels.

use crate::leaves::Flop;
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// One step of the walk over tags: from what a word is and says to what the next word is. Combinational.
///
/// | port | direction | width | meaning |
/// |------|-----------|-------|---------|
/// | state | in | 10 | what the word is, see the [module](self) |
/// | tag | in | 6 | what it says, see `header_window::WordTag` |
/// | following | out | 10 | what the next word is |
#[derive(LogicBlock, Default)]
pub struct TagStep {
    pub state: Signal<In, Bits<10>>,
    pub tag: Signal<In, Bits<6>>,
    pub following: Signal<Out, Bits<10>>,
    whole: Signal<Local, Bit>,
    vlan: Signal<Local, Bit>,
    mpls: Signal<Local, Bit>,
    ipv4: Signal<Local, Bit>,
    ipv6: Signal<Local, Bit>,
    bottom: Signal<Local, Bit>,
    is_type: Signal<Local, Bit>,
    is_label: Signal<Local, Bit>,
    next_state: Signal<Local, Bits<10>>,
}

impl Logic for TagStep {
    #[hdl_gen]
    fn update(&mut self) {
        self.whole.next = self.tag.val().get_bit(0);
        self.vlan.next = self.tag.val().get_bit(1);
        self.mpls.next = self.tag.val().get_bit(2);
        self.ipv4.next = self.tag.val().get_bit(3);
        self.ipv6.next = self.tag.val().get_bit(4);
        self.bottom.next = self.tag.val().get_bit(5);
        // A word announces one thing at most: bits are set, not chosen.
        self.is_type.next = self.state.val().get_bits::<3>(0).any();
        self.is_label.next = self.state.val().get_bits::<4>(3).any();
        self.next_state.next = 0.into();
        if self.vlan.val() {
            self.next_state.next = (self.state.val() & 0x3) << 1;
        }
        if self.is_type.val() & self.mpls.val() {
            self.next_state.next = self.next_state.val() | 0x8;
        }
        if self.whole.val() & !self.bottom.val() {
            self.next_state.next = self.next_state.val() | ((self.state.val() & 0x38) << 1);
        }
        if self.is_type.val() & self.ipv4.val() {
            self.next_state.next = self.next_state.val() | 0x80;
        }
        if self.is_type.val() & self.ipv6.val() {
            self.next_state.next = self.next_state.val() | 0x100;
        }
        if self.is_label.val() & self.bottom.val() {
            self.next_state.next = self.next_state.val() | 0x200;
        }
        self.following.next = self.next_state.val();
    }
}

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct Tags {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub slot: Signal<In, Bit>,
    pub opening: Signal<In, Bit>,
    pub closing: Signal<In, Bit>,
    pub bad: Signal<In, Bit>,
    pub a: Signal<In, Bits<32>>,
    pub b: Signal<In, Bits<32>>,
    pub a_tag: Signal<In, Bits<6>>,
    pub b_tag: Signal<In, Bits<6>>,
    pub pair: Signal<Out, Bit>,
    pub first: Signal<Out, Bit>,
    pub network: Signal<Out, Bits<2>>,
    pub closes: Signal<Out, Bit>,
    pub bad_frame: Signal<Out, Bit>,
    pub x: Signal<Out, Bits<32>>,
    pub y: Signal<Out, Bits<32>>,
    pub x_whole: Signal<Out, Bit>,
    pub y_whole: Signal<Out, Bit>,

    step_a: TagStep,
    step_b: TagStep,
    behind_a: Signal<Local, Bits<10>>,
    starts_in_a: Signal<Local, Bit>,
    starts_in_b: Signal<Local, Bit>,
    is_shifted: Signal<Local, Bit>,

    state: Flop<Bits<10>>,
    shifted: Flop<Bit>,
    started_in_b: Flop<Bit>,
    network_in_b: Flop<Bits<2>>,
    previous_b: Flop<Bits<32>>,
    previous_b_whole: Flop<Bit>,

    pair_valid: Flop<Bit>,
    pair_first: Flop<Bit>,
    pair_network: Flop<Bits<2>>,
    pair_closes: Flop<Bit>,
    pair_bad: Flop<Bit>,
    pair_x: Flop<Bits<32>>,
    pair_y: Flop<Bits<32>>,
    pair_x_whole: Flop<Bit>,
    pair_y_whole: Flop<Bit>,
}

impl Logic for Tags {
    #[clocked(
        state,
        shifted,
        started_in_b,
        network_in_b,
        previous_b,
        previous_b_whole,
        pair_valid,
        pair_first,
        pair_network,
        pair_closes,
        pair_bad,
        pair_x,
        pair_y,
        pair_x_whole,
        pair_y_whole
    )]
    fn update(&mut self) {
        self.step_a.state.next = self.state.q.val();
        self.step_a.tag.next = self.a_tag.val();
        // In the opening slot word a lies within the MAC addresses, and word b ends with the first EtherType.
        self.behind_a.next = self.step_a.following.val();
        self.starts_in_a.next = self.state.q.val().get_bits::<3>(7).any();
        self.is_shifted.next = self.shifted.q.val();
        if self.opening.val() {
            self.behind_a.next = 1.into();
            self.starts_in_a.next = false;
            self.is_shifted.next = false;
        }
        self.starts_in_b.next = self.behind_a.val().get_bits::<3>(7).any();
        self.step_b.state.next = self.behind_a.val();
        self.step_b.tag.next = self.b_tag.val();

        self.pair_valid.d.next = self.slot.val();
        self.pair_closes.d.next = self.slot.val() & self.closing.val();
        self.pair_bad.d.next = self.bad.val();
        if self.slot.val() {
            self.state.d.next = self.step_b.following.val();
            self.shifted.d.next = self.is_shifted.val() | self.starts_in_b.val();
            self.started_in_b.d.next = self.starts_in_b.val();
            self.network_in_b.d.next = self.behind_a.val().get_bits::<2>(8);
            self.previous_b.d.next = self.b.val();
            self.previous_b_whole.d.next = self.b_tag.val().get_bit(0);

            self.pair_first.d.next = self.starts_in_a.val();
            self.pair_network.d.next = self.state.q.val().get_bits::<2>(8);
            self.pair_x.d.next = self.a.val();
            self.pair_y.d.next = self.b.val();
            self.pair_x_whole.d.next = self.a_tag.val().get_bit(0);
            self.pair_y_whole.d.next = self.b_tag.val().get_bit(0);
            if self.is_shifted.val() {
                self.pair_first.d.next = self.started_in_b.q.val();
                self.pair_network.d.next = self.network_in_b.q.val();
                self.pair_x.d.next = self.previous_b.q.val();
                self.pair_y.d.next = self.a.val();
                self.pair_x_whole.d.next = self.previous_b_whole.q.val();
                self.pair_y_whole.d.next = self.a_tag.val().get_bit(0);
            }
        }

        self.pair.next = self.pair_valid.q.val();
        self.first.next = self.pair_first.q.val();
        self.network.next = self.pair_network.q.val();
        self.closes.next = self.pair_closes.q.val();
        self.bad_frame.next = self.pair_bad.q.val();
        self.x.next = self.pair_x.q.val();
        self.y.next = self.pair_y.q.val();
        self.x_whole.next = self.pair_x_whole.q.val();
        self.y_whole.next = self.pair_y_whole.q.val();
    }
}
