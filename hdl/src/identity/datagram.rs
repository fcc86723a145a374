//! Datagram: walks the IP header and its extension headers, and says which key words a pair holds.
//!
//! # Theory of operation
//!
//! Twin of the IPv4 and IPv6 halves of `deltaline_model::packet::identity`. Pairs (x, y) arrive aligned to the IP header.
//!
//! * Pairs 0, 1, 2 (IPv4) or 0..=4 (IPv6) are the fixed header.
//! * The *phase* counts pairs up to the payload: payload starts when it is zero. IPv4 starts it at minus half the
//!   header length, IPv6 at -5; every extension header sets it back by its own length. With an odd IPv4 header
//!   length the first payload word is y of phase 0, else x.
//! * `checksum` follows the protocol that the last header names.
//! * `left` is what the datagram's length field leaves for the payload; below zero counts as none.
//!
//! The two-word step that would limit the clock is only in the tags stage; here a pair never holds two headers,
//! because extension headers have lengths of a multiple of eight bytes.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | pair, first, network, closes, bad_frame, x, y, x_whole, y_whole | in | | from the tags stage |
//! | key_x, key_y | out | 32 | the pair, two cycles later |
//! | header | out | 5 | one-hot: the pair is pair 0..=4 of the fixed header |
//! | payload | out | 4 | one-hot: the pair is pair 0..=3 of the payload |
//! | odd | out | 1 | payload word 0 is y, not x |
//! | version6 | out | 1 | the header is IPv6's |
//! | payload_whole | out | 7 | payload words of the key that lie before the datagram's end, a run of ones from bit 0 on |
//! | payload_tail | out | 2 | bytes of the word behind them that do |
//! | checksum | out | 2 | of the payload: as [`Checksum`] says |
//! | closed | out | 1 | the frame's last pair |
//! | measured | out | 1 | with closed: the frame is measured |
//! | bad | out | 1 | with closed: the frame is bad |
//! | ip_length | out | 17 | with closed: IP octets |
//!
//! Latency two cycles, one pair a cycle.
//!
//! No parameters. Cost: `docs/report.md`, by stage and by module.
//!
//! # Test plan
//!
//! Cosimulated as part of the identity path: every header length, chains of extension headers, truncation at every
//! byte, length fields that contradict the frame; every protocol.

use crate::identity::checksum::Checksum;
use crate::leaves::Flop;
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// What a next-header byte names: 0 payload, 1 an extension header with its length in units of eight bytes,
/// 2 authentication, 3 fragment. Combinational.
///
/// | port | direction | width | meaning |
/// |------|-----------|-------|---------|
/// | next_header | in | 8 | the byte |
/// | class_code | out | 2 | its class |
#[derive(LogicBlock, Default)]
pub struct NextHeaderClass {
    pub next_header: Signal<In, Bits<8>>,
    pub class_code: Signal<Out, Bits<2>>,
    found: Signal<Local, Bits<2>>,
}

impl Logic for NextHeaderClass {
    #[hdl_gen]
    fn update(&mut self) {
        self.found.next = 0.into();
        if (self.next_header.val() == 0)
            | (self.next_header.val() == 43)
            | (self.next_header.val() == 60)
            | (self.next_header.val() == 135)
            | (self.next_header.val() == 139)
            | (self.next_header.val() == 140)
        {
            self.found.next = 1.into();
        } else if self.next_header.val() == 51 {
            self.found.next = 2.into();
        } else if self.next_header.val() == 44 {
            self.found.next = 3.into();
        }
        self.class_code.next = self.found.val();
    }
}

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct Datagram {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub pair: Signal<In, Bit>,
    pub first: Signal<In, Bit>,
    pub network: Signal<In, Bits<2>>,
    pub closes: Signal<In, Bit>,
    pub bad_frame: Signal<In, Bit>,
    pub x: Signal<In, Bits<32>>,
    pub y: Signal<In, Bits<32>>,
    pub x_whole: Signal<In, Bit>,
    pub y_whole: Signal<In, Bit>,
    pub key_x: Signal<Out, Bits<32>>,
    pub key_y: Signal<Out, Bits<32>>,
    pub header: Signal<Out, Bits<5>>,
    pub payload: Signal<Out, Bits<4>>,
    pub odd: Signal<Out, Bit>,
    pub version6: Signal<Out, Bit>,
    pub payload_whole: Signal<Out, Bits<7>>,
    pub payload_tail: Signal<Out, Bits<2>>,
    pub checksum: Signal<Out, Bits<2>>,
    pub closed: Signal<Out, Bit>,
    pub measured: Signal<Out, Bit>,
    pub bad: Signal<Out, Bit>,
    pub ip_length: Signal<Out, Bits<17>>,

    class_of_x: NextHeaderClass,
    class_of_y: NextHeaderClass,
    /// What is named by x of an extension header, by y of an IPv6 header, by x of an IPv4 header's second pair.
    checksum_of_x: Checksum,
    checksum_of_y: Checksum,
    checksum_of_four: Checksum,
    version: Signal<Local, Bits<4>>,
    header_words: Signal<Local, Bits<4>>,
    opening_is_odd: Signal<Local, Bit>,
    opens4: Signal<Local, Bit>,
    opens6: Signal<Local, Bit>,
    is_active: Signal<Local, Bit>,
    is_chained: Signal<Local, Bit>,
    is_extension: Signal<Local, Bit>,
    is_complete: Signal<Local, Bit>,
    /// Minus the pairs of an extension header.
    minus: Signal<Local, Bits<14>>,
    rest: Signal<Local, Bits<14>>,
    low_left: Signal<Local, Bits<3>>,
    shortens: Signal<Local, Bit>,
    header_bytes: Signal<Local, Bits<17>>,
    next_phase: Signal<Local, Bits<5>>,
    header_mask: Signal<Local, Bits<5>>,
    opened_pair: Signal<Local, Bits<5>>,
    payload_mask: Signal<Local, Bits<4>>,
    payload_pair: Signal<Local, Bits<4>>,
    all_words: Signal<Local, Bits<7>>,
    words_left: Signal<Local, Bits<3>>,

    // The pair, decoded: what it would open, and the classes of the next headers that x and y would name.
    pair_there: Flop<Bit>,
    pair_closes: Flop<Bit>,
    pair_bad: Flop<Bit>,
    pair_x: Flop<Bits<32>>,
    pair_y: Flop<Bits<32>>,
    pair_x_whole: Flop<Bit>,
    pair_y_whole: Flop<Bit>,
    opens_ipv4: Flop<Bit>,
    opens_ipv6: Flop<Bit>,
    /// What the length field leaves behind the fixed header that it would open.
    opening_left: Flop<Bits<17>>,
    x_by_eight: Flop<Bit>,
    x_by_four: Flop<Bit>,
    x_fragment: Flop<Bit>,
    /// If a header starts with x: the complement of its length field.
    x_complement: Flop<Bits<8>>,
    /// If a header of that kind starts with x: minus its pairs beyond the first. The window ends long before sixteen.
    x_back_by_eight: Flop<Bits<5>>,
    x_back_by_four: Flop<Bits<5>>,
    y_by_eight: Flop<Bit>,
    y_by_four: Flop<Bit>,
    y_fragment: Flop<Bit>,
    x_checksum: Flop<Bits<2>>,
    y_checksum: Flop<Bits<2>>,
    four_checksum: Flop<Bits<2>>,

    active: Flop<Bit>,
    six: Flop<Bit>,
    complete: Flop<Bit>,
    /// One-hot: the next pair is this one of the fixed header.
    header_pair: Flop<Bits<5>>,
    /// Pairs since the payload's start, two's complement, up to 7.
    phase: Flop<Bits<5>>,
    /// What comes next: an extension header with its length in units of eight bytes, one in units of four, a fragment
    /// header; or else the payload.
    chain_by_eight: Flop<Bit>,
    chain_by_four: Flop<Bit>,
    chain_fragment: Flop<Bit>,
    odd_header: Flop<Bit>,
    summed: Flop<Bits<2>>,
    /// Payload bytes that the length field leaves, two's complement: malformed lengths go below zero.
    left: Flop<Bits<17>>,
    length: Flop<Bits<16>>,

    out_x: Flop<Bits<32>>,
    out_y: Flop<Bits<32>>,
    out_header: Flop<Bits<5>>,
    out_payload: Flop<Bits<4>>,
    out_odd: Flop<Bit>,
    out_six: Flop<Bit>,
    out_whole: Flop<Bits<7>>,
    out_tail: Flop<Bits<2>>,
    out_checksum: Flop<Bits<2>>,
    out_closed: Flop<Bit>,
    out_measured: Flop<Bit>,
    out_bad: Flop<Bit>,
    out_length: Flop<Bits<17>>,
}

impl Logic for Datagram {
    #[clocked(
        pair_there,
        pair_closes,
        pair_bad,
        pair_x,
        pair_y,
        pair_x_whole,
        pair_y_whole,
        opens_ipv4,
        opens_ipv6,
        opening_left,
        x_by_eight,
        x_by_four,
        x_fragment,
        x_complement,
        x_back_by_eight,
        x_back_by_four,
        y_by_eight,
        y_by_four,
        y_fragment,
        x_checksum,
        y_checksum,
        four_checksum,
        active,
        six,
        complete,
        header_pair,
        phase,
        chain_by_eight,
        chain_by_four,
        chain_fragment,
        odd_header,
        summed,
        left,
        length,
        out_x,
        out_y,
        out_header,
        out_payload,
        out_odd,
        out_six,
        out_whole,
        out_tail,
        out_checksum,
        out_closed,
        out_measured,
        out_bad,
        out_length
    )]
    fn update(&mut self) {
        // First cycle: decode the pair.
        self.version.next = self.x.val().get_bits::<4>(28);
        self.header_words.next = self.x.val().get_bits::<4>(24);
        self.pair_there.d.next = self.pair.val();
        self.pair_closes.d.next = self.closes.val();
        self.pair_bad.d.next = self.bad_frame.val();
        self.pair_x.d.next = self.x.val();
        self.pair_y.d.next = self.y.val();
        self.pair_x_whole.d.next = self.x_whole.val();
        self.pair_y_whole.d.next = self.y_whole.val();
        self.opens_ipv4.d.next = self.pair.val()
            & self.first.val()
            & self.x_whole.val()
            & (self.version.val() == 4)
            & (self.header_words.val() >= 5)
            & (self.network.val() != 1);
        self.opens_ipv6.d.next = self.pair.val()
            & self.first.val()
            & self.x_whole.val()
            & (self.version.val() == 6)
            & self.network.val().any();
        self.header_bytes.next = bit_cast::<17, 4>(self.header_words.val()) << 2;
        self.opening_left.d.next =
            bit_cast::<17, 16>(self.x.val().get_bits::<16>(0)) - self.header_bytes.val();
        if self.version.val() == 6 {
            self.opening_left.d.next = bit_cast::<17, 16>(self.y.val().get_bits::<16>(16));
        }
        self.class_of_x.next_header.next = self.x.val().get_bits::<8>(24);
        self.class_of_y.next_header.next = self.y.val().get_bits::<8>(8);
        self.checksum_of_x.protocol.next = self.x.val().get_bits::<8>(24);
        self.checksum_of_y.protocol.next = self.y.val().get_bits::<8>(8);
        self.checksum_of_four.protocol.next = self.x.val().get_bits::<8>(16);
        self.x_checksum.d.next = self.checksum_of_x.checksum.val();
        self.y_checksum.d.next = self.checksum_of_y.checksum.val();
        self.four_checksum.d.next = self.checksum_of_four.checksum.val();
        self.x_by_eight.d.next = self.class_of_x.class_code.val() == 1;
        self.x_by_four.d.next = self.class_of_x.class_code.val() == 2;
        self.x_fragment.d.next = self.class_of_x.class_code.val() == 3;
        self.y_by_eight.d.next = self.class_of_y.class_code.val() == 1;
        self.y_by_four.d.next = self.class_of_y.class_code.val() == 2;
        self.y_fragment.d.next = self.class_of_y.class_code.val() == 3;
        self.x_complement.d.next = !self.x.val().get_bits::<8>(16);
        self.x_back_by_eight.d.next = 0 - bit_cast::<5, 4>(self.x.val().get_bits::<4>(16));
        if self.x.val().get_bits::<4>(20).any() {
            self.x_back_by_eight.d.next = 16.into();
        }
        self.x_back_by_four.d.next = 0 - bit_cast::<5, 4>(self.x.val().get_bits::<4>(17));
        if self.x.val().get_bits::<3>(21).any() {
            self.x_back_by_four.d.next = 16.into();
        }

        // Second cycle: walk.
        self.opening_is_odd.next = self.pair_x.q.val().get_bit(24);
        self.opens4.next = self.opens_ipv4.q.val();
        self.opens6.next = self.opens_ipv6.q.val();
        self.is_active.next = self.active.q.val() & self.pair_there.q.val();
        self.is_chained.next =
            self.chain_by_eight.q.val() | self.chain_by_four.q.val() | self.chain_fragment.q.val();
        self.is_extension.next = self.is_active.val() & self.is_chained.val() & !self.phase.q.val().any();

        // What the length field leaves behind an extension header: minus eight bytes for each of its pairs. Their number
        // less one stands in the header, so that its complement is all it takes. The sum is needed late in the cycle: behind it
        // nothing is left to choose but whether it counts.
        self.minus.next = 0x3fff.into();
        if self.chain_by_eight.q.val() {
            self.minus.next = bit_cast::<14, 8>(self.x_complement.q.val()) | 0x3f00;
        }
        if self.chain_by_four.q.val() {
            self.minus.next = bit_cast::<14, 7>(self.x_complement.q.val().get_bits::<7>(1)) | 0x3f80;
        }
        self.rest.next = self.left.q.val().get_bits::<14>(3) + self.minus.val();
        self.shortens.next = self.is_extension.val() & !self.opens4.val() & !self.opens6.val();
        if self.opens4.val() | self.opens6.val() {
            self.left.d.next = self.opening_left.q.val();
        }
        self.low_left.next = self.left.q.val().get_bits::<3>(0);
        if self.shortens.val() {
            self.left.d.next =
                (bit_cast::<17, 14>(self.rest.val()) << 3) | bit_cast::<17, 3>(self.low_left.val());
        }

        self.next_phase.next = self.phase.q.val();
        if self.phase.q.val() != 7 {
            self.next_phase.next = self.phase.q.val() + 1;
        }
        // Outside of a datagram the phase may be anything: what opens one sets it. That saves a step where paths are long.
        if self.pair_there.q.val() {
            self.phase.d.next = self.next_phase.val();
            if self.is_extension.val() {
                self.phase.d.next = 0.into();
                if self.chain_by_eight.q.val() {
                    self.phase.d.next = self.x_back_by_eight.q.val();
                }
                if self.chain_by_four.q.val() {
                    self.phase.d.next = self.x_back_by_four.q.val();
                }
                // Without the header's first word nothing behind it is there either.
                if !self.pair_x_whole.q.val() {
                    self.phase.d.next = 7.into();
                }
            }
        }
        if self.is_active.val() {
            self.header_pair.d.next = self.header_pair.q.val() << 1;
            if self.header_pair.q.val().get_bit(1) & !self.six.q.val() {
                self.summed.d.next = self.four_checksum.q.val();
            }
            if self.is_extension.val() {
                self.summed.d.next = self.x_checksum.q.val();
                self.chain_by_eight.d.next = self.x_by_eight.q.val();
                self.chain_by_four.d.next = self.x_by_four.q.val();
                self.chain_fragment.d.next = self.x_fragment.q.val();
                if self.chain_fragment.q.val() | !self.pair_x_whole.q.val() {
                    self.chain_by_eight.d.next = false;
                    self.chain_by_four.d.next = false;
                    self.chain_fragment.d.next = false;
                }
            }
        }
        if self.opens4.val() {
            self.active.d.next = true;
            self.six.d.next = false;
            self.header_pair.d.next = 2.into();
            self.phase.d.next = 1 - bit_cast::<5, 3>(self.pair_x.q.val().get_bits::<3>(25));
            self.chain_by_eight.d.next = false;
            self.chain_by_four.d.next = false;
            self.chain_fragment.d.next = false;
            self.odd_header.d.next = self.opening_is_odd.val();
            self.length.d.next = self.pair_x.q.val().get_bits::<16>(0);
        }
        if self.opens6.val() {
            self.active.d.next = true;
            self.six.d.next = true;
            self.header_pair.d.next = 2.into();
            // -4
            self.phase.d.next = 28.into();
            self.chain_by_eight.d.next = self.y_by_eight.q.val();
            self.chain_by_four.d.next = self.y_by_four.q.val();
            self.chain_fragment.d.next = self.y_fragment.q.val();
            self.summed.d.next = self.y_checksum.q.val();
            self.length.d.next = self.pair_y.q.val().get_bits::<16>(16);
        }

        // The fixed header is complete.
        self.is_complete.next = self.complete.q.val();
        if self.is_active.val()
            & !self.six.q.val()
            & self.header_pair.q.val().get_bit(2)
            & self.pair_x_whole.q.val()
        {
            self.is_complete.next = true;
        }
        if self.is_active.val()
            & self.six.q.val()
            & self.header_pair.q.val().get_bit(4)
            & self.pair_y_whole.q.val()
        {
            self.is_complete.next = true;
        }
        self.complete.d.next = self.is_complete.val();
        if self.pair_closes.q.val() {
            self.active.d.next = false;
            self.complete.d.next = false;
        }

        // Which key words the pair holds.
        self.out_x.d.next = self.pair_x.q.val();
        self.out_y.d.next = self.pair_y.q.val();
        // Masked by words, not chosen by conditions: synthesis would make those part of the flip-flops' reset, whose way from the
        // core's port is long.
        self.header_mask.next = 0.into();
        if self.is_active.val() & !self.opens4.val() & !self.opens6.val() {
            // IPv4 has but three pairs.
            self.header_mask.next = 0x7.into();
            if self.six.q.val() {
                self.header_mask.next = 0x1f.into();
            }
        }
        self.opened_pair.next = 0.into();
        if self.opens4.val() | self.opens6.val() {
            self.opened_pair.next = 1.into();
        }
        self.out_header.d.next = (self.header_pair.q.val() & self.header_mask.val()) | self.opened_pair.val();
        self.payload_mask.next = 0.into();
        if self.is_active.val() & !self.is_extension.val() {
            self.payload_mask.next = 0xf.into();
        }
        self.payload_pair.next = 0.into();
        if self.phase.q.val() == 0 {
            self.payload_pair.next = 1.into();
        } else if self.phase.q.val() == 1 {
            self.payload_pair.next = 2.into();
        } else if self.phase.q.val() == 2 {
            self.payload_pair.next = 4.into();
        } else if self.phase.q.val() == 3 {
            self.payload_pair.next = 8.into();
        }
        self.out_payload.d.next = self.payload_pair.val() & self.payload_mask.val();
        self.out_odd.d.next = self.odd_header.q.val() & !self.six.q.val();
        self.out_six.d.next = self.six.q.val() & !self.opens4.val() | self.opens6.val();
        // With 28 bytes and more all seven words are whole, and the tail does not matter.
        self.all_words.next = 0x7f.into();
        self.words_left.next = self.left.q.val().get_bits::<3>(2);
        self.out_whole.d.next = !(self.all_words.val() << self.words_left.val());
        self.out_tail.d.next = self.left.q.val().get_bits::<2>(0);
        if self.left.q.val().get_bits::<11>(5).any() {
            self.out_whole.d.next = 0x7f.into();
        }
        if self.left.q.val().get_bit(16) {
            self.out_whole.d.next = 0.into();
            self.out_tail.d.next = 0.into();
        }
        self.out_checksum.d.next = self.summed.q.val();
        self.out_closed.d.next = self.pair_closes.q.val();
        self.out_bad.d.next = self.pair_bad.q.val();
        self.out_measured.d.next = self.pair_closes.q.val() & self.is_complete.val() & !self.pair_bad.q.val();
        self.out_length.d.next = bit_cast::<17, 16>(self.length.q.val());
        if self.six.q.val() {
            self.out_length.d.next = bit_cast::<17, 16>(self.length.q.val()) + 40;
        }

        self.key_x.next = self.out_x.q.val();
        self.key_y.next = self.out_y.q.val();
        self.header.next = self.out_header.q.val();
        self.payload.next = self.out_payload.q.val();
        self.odd.next = self.out_odd.q.val();
        self.version6.next = self.out_six.q.val();
        self.payload_whole.next = self.out_whole.q.val();
        self.payload_tail.next = self.out_tail.q.val();
        self.checksum.next = self.out_checksum.q.val();
        self.closed.next = self.out_closed.q.val();
        self.measured.next = self.out_measured.q.val();
        self.bad.next = self.out_bad.q.val();
        self.ip_length.next = self.out_length.q.val();
    }
}
