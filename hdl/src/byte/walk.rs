//! Walk: goes through a frame byte by byte, says which bytes belong to the key, and what the frame is when it ends.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::packet::identity`, one byte a cycle. A byte's place in the key is known when the byte arrives, so
//! the key is never stored: the [hash](crate::byte::hash) takes it byte by byte. Masked bytes and bytes that are not
//! there are zero in the key and contribute nothing to a linear hash: they are simply left out.
//!
//! ```text
//! addresses -> types -> opening -> header -> payload -> over
//!                ^ |      ^          |  ^       ^
//!           VLAN +-+-> labels        +-> skip --+       skip: IPv4 options, IPv6 extension headers
//! ```
//!
//! Behind the addresses everything is aligned to words of four bytes that start two bytes into the frame; a word is
//! judged with its last byte. The protocol's [checksum](crate::identity::checksum) is left out, like padding. `offset` counts bytes from where the datagram's length field counts (the IPv4 header's
//! start, the IPv6 header's end), so that comparing the two tells payload from padding whatever was skipped.
//!
//! A reset may come amid a frame, whose rest must not pass for a frame of its own. So if the first byte behind a
//! reset comes before the core counts, everything up to the next tlast is dropped; nothing of it would count anyway.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | running | in | 1 | the core counts |
//! | s_axis_* | in | 8 + 1 + 1 + 1 + 65 | the observed stream; tuser\[0\] bad frame at tlast, tuser\[64:1\] timestamp on the first byte |
//! | key_octet | out | 8 | a byte of the key, two cycles after it was accepted; zero if there is none |
//! | key_position | out | 7 | its place in the key: 0..=67; each measured packet starts with place 0 |
//! | stamp | out | 64 | timestamp of the frame that is passing |
//! | take_stamp | out | 1 | take it: the frame may be measured; comes 34 cycles after the frame's first byte at the earliest |
//! | commit | out | 1 | a frame has ended, five cycles after its last byte was accepted |
//! | measured, bad | out | 1 | with commit: it is measured; the MAC marked it bad |
//! | octet_there, octet_now, octet_index, frame_ends, frame_bad | out | 1, 8, 7, 1, 1 | a byte, one cycle after it was accepted: its value, its place in the frame up to 126; it is the last one; of a bad frame |
//! | octets | out | 17 | with commit, and ten cycles more: IP octets of the measured packet |
//!
//! No parameters. One byte a cycle, frames of any length back to back.
//!
//! # Test plan
//!
//! `sim/cosim`: through the whole core, whose hash tells every wrong key byte: frames of every encapsulation, cut at
//! every byte, with gaps and stalls; 1-byte frames back to back.

use crate::identity::checksum::Checksum;
use crate::identity::datagram::NextHeaderClass;
use crate::identity::header_window::WordTag;
use crate::leaves::Flop;
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct Walk {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub running: Signal<In, Bit>,
    pub s_axis_tdata: Signal<In, Bits<8>>,
    pub s_axis_tvalid: Signal<In, Bit>,
    pub s_axis_tready: Signal<In, Bit>,
    pub s_axis_tlast: Signal<In, Bit>,
    pub s_axis_tuser: Signal<In, Bits<65>>,
    pub key_octet: Signal<Out, Bits<8>>,
    pub key_position: Signal<Out, Bits<7>>,
    pub stamp: Signal<Out, Bits<64>>,
    pub take_stamp: Signal<Out, Bit>,
    pub commit: Signal<Out, Bit>,
    pub measured: Signal<Out, Bit>,
    pub bad: Signal<Out, Bit>,
    pub octets: Signal<Out, Bits<17>>,
    pub octet_there: Signal<Out, Bit>,
    pub octet_now: Signal<Out, Bits<8>>,
    pub octet_index: Signal<Out, Bits<7>>,
    pub frame_ends: Signal<Out, Bit>,
    pub frame_bad: Signal<Out, Bit>,

    transfer: Signal<Local, Bit>,
    is_adrift: Signal<Local, Bit>,
    fire: Signal<Local, Bit>,
    /// A byte has come since reset.
    octet_seen: Flop<Bit>,
    /// Where the stream's frames start is not known until the next tlast.
    adrift: Flop<Bit>,
    in_frame: Flop<Bit>,
    first_time: Flop<Bits<64>>,
    octet: Flop<Bits<8>>,
    there: Flop<Bit>,
    closing: Flop<Bit>,
    spoiled: Flop<Bit>,

    /// Number of the byte in its frame; stops where the window ends.
    index: Flop<Bits<7>>,
    /// The window is over.
    over: Flop<Bit>,
    /// What the byte and the one before it say as the end of a word.
    kind: Flop<Bits<6>>,
    /// What is to be skipped, if it is this byte that says it: an extension header's length, of which fifteen outlasts the window, or the
    /// first byte of an IPv4 header.
    to_skip: Flop<Bits<4>>,
    /// The byte as the first of an IPv4 or an IPv6 header.
    version4: Flop<Bit>,
    version6: Flop<Bit>,
    /// 0 addresses, 1 types, 2 labels, 3 opening, 4 header, 5 skip, 6 payload, 7 over.
    state: Flop<Bits<3>>,
    /// VLAN tags or labels passed.
    tags: Flop<Bits<2>>,
    allows4: Flop<Bit>,
    allows6: Flop<Bit>,
    six: Flop<Bit>,
    /// Place in the key.
    position: Flop<Bits<7>>,
    /// Number of the byte, counted from where the length field counts.
    offset: Flop<Bits<7>>,
    length: Flop<Bits<16>>,
    /// What is left to skip: words of an IPv4 header, units of eight bytes of an extension header beyond this one.
    skip: Flop<Bits<4>>,
    /// In an extension header's first eight bytes.
    fresh: Flop<Bit>,
    /// Class of the extension header that passes, and of what follows it.
    chain: Flop<Bits<2>>,
    next_chain: Flop<Bits<2>>,
    /// Of the protocol that the last header names.
    summed: Flop<Bits<2>>,
    complete: Flop<Bit>,

    passes: Signal<Local, Bit>,
    ends: Signal<Local, Bit>,
    tag_of_word: WordTag,
    word_ends: Signal<Local, Bit>,
    class_of_octet: NextHeaderClass,
    checksum_of_octet: Checksum,
    opens: Signal<Local, Bit>,
    is_masked: Signal<Local, Bit>,
    /// The next byte is the fixed header's last one.
    header_end: Flop<Bit>,
    is_complete: Signal<Local, Bit>,
    before_end: Signal<Local, Bit>,
    is_checksum: Signal<Local, Bit>,
    is_key: Signal<Local, Bit>,
    kept: Signal<Local, Bits<8>>,
    units: Signal<Local, Bits<8>>,
    beyond: Signal<Local, Bits<4>>,
    skip_begins: Signal<Local, Bit>,
    skip_goes_on: Signal<Local, Bit>,

    key: Flop<Bits<8>>,
    place: Flop<Bits<7>>,
    /// Routers rewrite the byte, or it lies behind the datagram's end or in a checksum.
    left_out: Flop<Bit>,
    key_now: Signal<Local, Bits<8>>,
    takes: Flop<Bit>,
    /// Index i: what ended i + 2 cycles ago.
    ended: [Flop<Bit>; 4],
    ended_measured: [Flop<Bit>; 4],
    ended_bad: [Flop<Bit>; 4],
    total: Flop<Bits<17>>,
}

impl Logic for Walk {
    #[clocked(
        octet_seen, adrift, in_frame, first_time, octet, there, closing, spoiled, kind, to_skip, version4,
        version6, index, over, state, tags, allows4, allows6, six, position, offset, length, skip, fresh,
        chain, next_chain, summed, header_end, complete, key, place, left_out, takes, total
    )]
    fn update(&mut self) {
        for i in 0..4 {
            self.ended[i].clock.next = self.clk.val();
            self.ended[i].rst.next = self.rst.val();
            self.ended[i].d.next = self.ended[i].q.val();
        }
        for i in 0..4 {
            self.ended_measured[i].clock.next = self.clk.val();
            self.ended_measured[i].rst.next = self.rst.val();
            self.ended_measured[i].d.next = self.ended_measured[i].q.val();
        }
        for i in 0..4 {
            self.ended_bad[i].clock.next = self.clk.val();
            self.ended_bad[i].rst.next = self.rst.val();
            self.ended_bad[i].d.next = self.ended_bad[i].q.val();
        }

        // The byte register.
        self.transfer.next = self.s_axis_tvalid.val() & self.s_axis_tready.val();
        self.is_adrift.next = self.adrift.q.val() | (!self.octet_seen.q.val() & !self.running.val());
        if self.transfer.val() {
            self.octet_seen.d.next = true;
            self.adrift.d.next = self.is_adrift.val() & !self.s_axis_tlast.val();
        }
        self.fire.next = self.transfer.val() & !self.is_adrift.val();
        self.tag_of_word.low_half.next =
            (bit_cast::<16, 8>(self.octet.q.val()) << 8) | bit_cast::<16, 8>(self.s_axis_tdata.val());
        self.tag_of_word.whole.next = true;
        // Behind an opening there is no chain yet.
        self.units.next = bit_cast::<8, 4>(self.s_axis_tdata.val().get_bits::<4>(0)) - 5;
        if self.chain.q.val() == 1 {
            self.units.next = self.s_axis_tdata.val();
        } else if self.chain.q.val() == 2 {
            self.units.next = bit_cast::<8, 7>(self.s_axis_tdata.val().get_bits::<7>(1));
        } else if self.chain.q.val() == 3 {
            self.units.next = 0.into();
        }
        self.beyond.next = self.units.val().get_bits::<4>(0);
        if self.units.val().get_bits::<4>(4).any() {
            self.beyond.next = 15.into();
        }
        self.there.d.next = self.fire.val();
        self.closing.d.next = self.s_axis_tlast.val();
        self.spoiled.d.next = self.s_axis_tuser.val().get_bit(0);
        if self.transfer.val() {
            self.octet.d.next = self.s_axis_tdata.val();
            // Judged a cycle ahead of the walk, whose paths are the longest.
            self.kind.d.next = self.tag_of_word.tag.val();
            self.to_skip.d.next = self.beyond.val();
            self.version4.d.next = (self.s_axis_tdata.val().get_bits::<4>(4) == 4)
                & (self.s_axis_tdata.val().get_bits::<4>(0) >= 5);
            self.version6.d.next = self.s_axis_tdata.val().get_bits::<4>(4) == 6;
            // Of a frame that is dropped, too: what follows takes its place.
            if !self.in_frame.q.val() {
                self.first_time.d.next = self.s_axis_tuser.val().get_bits::<64>(1);
            }
        }
        if self.fire.val() {
            self.in_frame.d.next = !self.s_axis_tlast.val();
        }

        // What the byte says.
        self.passes.next = self.there.q.val() & !self.over.q.val();
        self.ends.next = self.there.q.val() & self.closing.q.val();
        self.word_ends.next = self.index.q.val().get_bits::<2>(0) == 1;
        self.class_of_octet.next_header.next = self.octet.q.val();
        self.checksum_of_octet.protocol.next = self.octet.q.val();
        self.opens.next =
            (self.allows4.q.val() & self.version4.q.val()) | (self.allows6.q.val() & self.version6.q.val());

        // Bytes of the fixed header that routers rewrite.
        self.is_masked.next = (self.position.q.val() == 1)
            | (self.position.q.val() == 8)
            | (self.position.q.val() == 10)
            | (self.position.q.val() == 11);
        if self.six.q.val() {
            self.is_masked.next = (self.position.q.val() == 1)
                | (self.position.q.val() == 2)
                | (self.position.q.val() == 3)
                | (self.position.q.val() == 7);
        }
        self.is_complete.next = self.complete.q.val() | self.header_end.q.val();
        self.before_end.next = self.length.q.val().get_bits::<9>(7).any()
            | (self.offset.q.val() < self.length.q.val().get_bits::<7>(0));

        // The key's byte. One that should open a header and does not is of no packet: what it adds to a key does not count.
        self.is_key.next = (self.state.q.val() == 3) | (self.state.q.val() == 4) | (self.state.q.val() == 6);
        self.kept.next = self.octet.q.val();
        if (self.state.q.val() == 3) & self.version6.q.val() {
            self.kept.next = self.octet.q.val() & 0xf0;
        }
        // Said one cycle later, when the key's byte leaves: comparing takes long.
        self.is_checksum.next = (self.summed.q.val().get_bit(0)
            & (self.position.q.val().get_bits::<6>(1) == 23))
            | (self.summed.q.val().get_bit(1) & (self.position.q.val().get_bits::<6>(1) == 28));
        self.left_out.d.next = ((self.state.q.val() == 4) & self.is_masked.val())
            | ((self.state.q.val() == 6) & (!self.before_end.val() | self.is_checksum.val()));
        self.key.d.next = 0.into();
        if self.passes.val() & self.is_key.val() {
            self.key.d.next = self.kept.val();
        }
        self.place.d.next = self.position.q.val();

        // Nothing reads it before it begins anew, so that fewer conditions do.
        self.skip_begins.next = (self.state.q.val() == 3)
            | (self.six.q.val() & self.fresh.q.val() & (self.offset.q.val().get_bits::<3>(0) == 1));
        self.skip_goes_on.next = (self.six.q.val() & (self.offset.q.val().get_bits::<3>(0) == 7))
            | (!self.six.q.val() & (self.state.q.val() == 5) & (self.offset.q.val().get_bits::<2>(0) == 3));

        // The walk.
        if self.passes.val() {
            self.index.d.next = self.index.q.val() + 1;
            self.over.d.next = self.index.q.val() == 125;
            if self.skip_begins.val() {
                self.skip.d.next = self.to_skip.q.val();
            } else if self.skip_goes_on.val() {
                self.skip.d.next = self.skip.q.val() - 1;
            }
            self.complete.d.next = self.is_complete.val();
            if (self.state.q.val() == 0) & (self.index.q.val() == 11) {
                self.state.d.next = 1.into();
            }
            if (self.state.q.val() == 1) & self.word_ends.val() {
                self.allows4.d.next = self.kind.q.val().get_bit(3);
                self.allows6.d.next = self.kind.q.val().get_bit(4);
                if self.kind.q.val().get_bit(1) & !self.tags.q.val().get_bit(1) {
                    self.tags.d.next = self.tags.q.val() + 1;
                } else if self.kind.q.val().get_bit(2) {
                    self.tags.d.next = 0.into();
                    self.state.d.next = 2.into();
                } else if self.kind.q.val().get_bit(3) | self.kind.q.val().get_bit(4) {
                    self.state.d.next = 3.into();
                } else {
                    self.state.d.next = 7.into();
                }
            }
            if (self.state.q.val() == 2) & self.word_ends.val() {
                self.allows4.d.next = true;
                self.allows6.d.next = true;
                self.tags.d.next = self.tags.q.val() + 1;
                if self.kind.q.val().get_bit(5) {
                    self.state.d.next = 3.into();
                } else if self.tags.q.val() == 3 {
                    self.state.d.next = 7.into();
                }
            }
            if self.state.q.val() == 3 {
                self.state.d.next = 7.into();
                if self.opens.val() {
                    self.state.d.next = 4.into();
                }
                self.six.d.next = self.version6.q.val();
                self.position.d.next = 1.into();
                self.offset.d.next = 1.into();
            }
            if self.state.q.val() == 4 {
                self.position.d.next = self.position.q.val() + 1;
                self.offset.d.next = self.offset.q.val() + 1;
                if (!self.six.q.val() & (self.position.q.val().get_bits::<6>(1) == 1))
                    | (self.six.q.val() & (self.position.q.val().get_bits::<6>(1) == 2))
                {
                    self.length.d.next = (self.length.q.val() << 8) | bit_cast::<16, 8>(self.octet.q.val());
                }
                if self.position.q.val() == 6 {
                    self.chain.d.next = self.class_of_octet.class_code.val();
                }
                if (!self.six.q.val() & (self.position.q.val() == 9))
                    | (self.six.q.val() & (self.position.q.val() == 6))
                {
                    self.summed.d.next = self.checksum_of_octet.checksum.val();
                }
                self.header_end.d.next =
                    (!self.six.q.val() & (self.position.q.val() == 18)) | (self.position.q.val() == 38);
                if self.header_end.q.val() {
                    self.position.d.next = 40.into();
                    self.fresh.d.next = true;
                    self.state.d.next = 6.into();
                    if self.six.q.val() {
                        self.offset.d.next = 0.into();
                        if self.chain.q.val().any() {
                            self.state.d.next = 5.into();
                        }
                    } else if self.skip.q.val().any() {
                        self.state.d.next = 5.into();
                    }
                }
            }
            if self.state.q.val() == 5 {
                self.offset.d.next = self.offset.q.val() + 1;
                if self.six.q.val() {
                    if self.fresh.q.val() & (self.offset.q.val().get_bits::<3>(0) == 0) {
                        self.summed.d.next = self.checksum_of_octet.checksum.val();
                        self.next_chain.d.next = self.class_of_octet.class_code.val();
                        if self.chain.q.val() == 3 {
                            self.next_chain.d.next = 0.into();
                        }
                    }
                    if self.offset.q.val().get_bits::<3>(0) == 7 {
                        self.fresh.d.next = false;
                        if !self.skip.q.val().any() {
                            self.fresh.d.next = true;
                            self.chain.d.next = self.next_chain.q.val();
                            if !self.next_chain.q.val().any() {
                                self.state.d.next = 6.into();
                            }
                        }
                    }
                } else if self.offset.q.val().get_bits::<2>(0) == 3 {
                    if self.skip.q.val() == 1 {
                        self.state.d.next = 6.into();
                    }
                }
            }
            if self.state.q.val() == 6 {
                self.position.d.next = self.position.q.val() + 1;
                self.offset.d.next = self.offset.q.val() + 1;
                if self.position.q.val() == 67 {
                    self.state.d.next = 7.into();
                }
            }
        }
        if self.ends.val() {
            self.index.d.next = 0.into();
            self.over.d.next = false;
            self.chain.d.next = 0.into();
            self.state.d.next = 0.into();
            self.tags.d.next = 0.into();
            self.position.d.next = 0.into();
            self.header_end.d.next = false;
            self.complete.d.next = false;
        }

        // The commit.
        self.takes.d.next = self.there.q.val() & (self.index.q.val() == 32);
        self.total.d.next = bit_cast::<17, 16>(self.length.q.val());
        if self.six.q.val() {
            self.total.d.next = bit_cast::<17, 16>(self.length.q.val()) + 40;
        }
        for i in 0..3 {
            self.ended[i + 1].d.next = self.ended[i].q.val();
            self.ended_measured[i + 1].d.next = self.ended_measured[i].q.val();
            self.ended_bad[i + 1].d.next = self.ended_bad[i].q.val();
        }
        self.ended[0].d.next = self.ends.val();
        self.ended_measured[0].d.next = self.is_complete.val() & self.ends.val() & !self.spoiled.q.val();
        self.ended_bad[0].d.next = self.spoiled.q.val();

        self.key_now.next = self.key.q.val();
        if self.left_out.q.val() {
            self.key_now.next = 0.into();
        }
        self.key_octet.next = self.key_now.val();
        self.key_position.next = self.place.q.val();
        self.stamp.next = self.first_time.q.val();
        self.take_stamp.next = self.takes.q.val();
        self.commit.next = self.ended[3].q.val();
        self.measured.next = self.ended_measured[3].q.val();
        self.bad.next = self.ended_bad[3].q.val();
        self.octets.next = self.total.q.val();
        self.octet_there.next = self.there.q.val();
        self.octet_now.next = self.octet.q.val();
        self.octet_index.next = self.index.q.val();
        self.frame_ends.next = self.ends.val();
        self.frame_bad.next = self.spoiled.q.val();
    }
}
