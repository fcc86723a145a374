//! Hash: the linear hash of a key that comes byte by byte, its place, and the cell that it names.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::packet::hash`, `deltaline_model::sketch::place` and `deltaline_model::sketch::sampler`. The hash is
//! the exclusive or of one matrix row for every set bit of the key, H3 or Rabin alike. Four [ROMs](crate::leaves::Rom) serve two
//! bits of the key's byte each: they hold the exclusive or of the rows that these two bits pick, for each value from 1 to 3
//! and each of the 68 places, which is 204 of 256 words. The four are added to the hash; place 0 starts a new one.
//!
//! | ROM address, bits 7:0 | word: hash bits 63:48 above 15:0 |
//! |-----------------------|------|
//! | value, place\[5:0\], value not 0 | places 0..=63 |
//! | 0, 1, value, place\[1:0\] (2 + 2 + 2 + 2 bits) | places 64..=67; nothing for value 0 |
//! | 0 | nothing: value 0 |
//!
//! When a packet counts, its hash goes through one [round](crate::sketch::rounds) four times, with four constants:
//!
//! ```text
//! key_octet -> ROMs -> picked -> sum --+-> round -+-> sampler -> sampled, address
//!                                      +----------+
//! ```
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | key_octet | in | 8 | a byte of the key, or zero |
//! | key_position | in | 7 | its place: 0..=67 |
//! | packet | in | 1 | a packet counts, whose last byte came three cycles ago at the latest; at least six cycles apart |
//! | sampled | out | 1 | five cycles behind packet: it belongs to a bank |
//! | address | out | A | likewise: its cell: bank in the bits from R on, row below |
//! | place | out | Z x 32 | with slices: its place, from then on until as many cycles behind the next packet |
//!
//! Latency five cycles behind the packet; one byte a cycle. Parameters: R = log2(rows), A = R + bits of a bank number, Z, 1 with
//! slices, else 0. The ROMs take eight iCE40 block RAMs; the rounds some 110 LUT4 and 35 flip-flops, where four stages would take twice as
//! many LUT4 and 128 flip-flops.
//!
//! # The matrix at run time
//!
//! The ROMs are constant: another seed is another emission. Block RAM has a second port, so that memories of 256
//! words of 16 bits that a port writes cost eight LUT4 of iCE40 more than the ROMs do, and no block RAM (yosys, before
//! placement, with `no_rw_check`; without it yosys spends 115 LUT4 and 48 flip-flops more on what is read while it is
//! written). Not built: the seed is part of the configuration digest, so that with the matrix the digest in the emitter's
//! ROM and the 64 bits that delimiters are compared with would have to be loaded, in a core that has no registers; and
//! an ASIC has logic where an FPGA has memory with initial content, and would have to load a key before it could count.
//!
//! # Test plan
//!
//! `sim/cosim`: through the whole core, several configurations, both hash kinds; planted faults in the rounds.

use crate::leaves::{Flop, Rom};
use crate::module::module;
use crate::sketch::rounds::Round;
use crate::sketch::sampler::{PREFIX_BITS, Sampler};
use deltaline_hdl_macros::clocked;
use deltaline_model::configuration::Configuration;
use deltaline_model::packet::hash::LinearHash;
use deltaline_model::packet::identity::KEY_BYTES;
use deltaline_model::sketch::place::{Placement, ROUNDS};
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Hash<const R: usize, const A: usize, const Z: usize = 0> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub key_octet: Signal<In, Bits<8>>,
    pub key_position: Signal<In, Bits<7>>,
    pub packet: Signal<In, Bit>,
    pub sampled: Signal<Out, Bit>,
    pub address: Signal<Out, Bits<A>>,
    pub place: [Signal<Out, Bits<32>>; Z],

    /// Two bits of the key's byte, from the most significant on.
    pair: [Signal<Local, Bits<8>>; 4],
    rom_address: [Signal<Local, Bits<8>>; 4],
    rom: [Rom<32, 8>; 4],
    starts: Signal<Local, Bit>,
    starting: [Flop<Bit>; 2],
    picked: Flop<Bits<32>>,
    sum: Flop<Bits<32>>,
    round: Round,
    constant: [Constant<Bits<16>>; ROUNDS],
    /// Index i: round i + 1 is under way.
    placing: [Flop<Bit>; 3],
    /// What goes into the round.
    x: Signal<Local, Bits<16>>,
    y: Signal<Local, Bits<16>>,
    mixer: Signal<Local, Bits<16>>,
    sampler: Sampler<R, A>,
    /// The last round is over; what came out of it.
    placed: [Flop<Bit>; Z],
    place_then: [Flop<Bits<32>>; Z],
}

impl<const R: usize, const A: usize, const Z: usize> Hash<R, A, Z> {
    /// The hash of a configuration with 2^R rows.
    pub fn new(configuration: &Configuration) -> Self {
        let contents = contents(configuration);
        module! { Hash {
            rom: std::array::from_fn(|pair| Rom::new(&contents[pair])),
            constant: Placement::new(configuration.seed())
                .constants()
                .map(|constant| Constant::new(u64::from(constant).into())),
            sampler: Sampler::new(configuration),
        }
            clk rst key_octet key_position packet sampled address pair rom_address starts starting picked sum round
            placing x y mixer; each place placed place_then
        }
    }
}

/// The words of the four ROMs: hash bits 63:48 above 15:0.
fn contents(configuration: &Configuration) -> [[u64; 256]; 4] {
    let hash = LinearHash::new(configuration.hash(), configuration.seed());
    let outer_bits = |row: u64| row >> 48 << 16 | row & 0xffff;
    let mut contents = [[0; 256]; 4];
    for (pair, words) in contents.iter_mut().enumerate() {
        for place in 0..KEY_BYTES {
            for value in 1..4usize {
                let first = 8 * place + 2 * pair;
                let high = hash.rows()[first] & ((value as u64) >> 1).wrapping_neg();
                let low = hash.rows()[first + 1] & ((value as u64) & 1).wrapping_neg();
                let address = if place < 64 { value << 6 | place } else { 1 << 4 | value << 2 | place & 3 };
                words[address] = outer_bits(high ^ low);
            }
        }
    }
    contents
}

impl<const R: usize, const A: usize, const Z: usize> Logic for Hash<R, A, Z> {
    #[clocked(picked, sum)]
    fn update(&mut self) {
        for i in 0..2 {
            self.starting[i].clock.next = self.clk.val();
            self.starting[i].rst.next = self.rst.val();
            self.starting[i].d.next = self.starting[i].q.val();
        }

        self.pair[0].next = bit_cast::<8, 2>(self.key_octet.val().get_bits::<2>(6));
        self.pair[1].next = bit_cast::<8, 2>(self.key_octet.val().get_bits::<2>(4));
        self.pair[2].next = bit_cast::<8, 2>(self.key_octet.val().get_bits::<2>(2));
        self.pair[3].next = bit_cast::<8, 2>(self.key_octet.val().get_bits::<2>(0));
        for i in 0..4 {
            self.rom_address[i].next = 0.into();
            if self.key_position.val().get_bit(6) {
                self.rom_address[i].next = bit_cast::<8, 2>(self.key_position.val().get_bits::<2>(0))
                    | (self.pair[i].val() << 2)
                    | 16;
            } else if self.pair[i].val().any() {
                self.rom_address[i].next =
                    bit_cast::<8, 6>(self.key_position.val().get_bits::<6>(0)) | (self.pair[i].val() << 6);
            }
            self.rom[i].clk.next = self.clk.val();
            self.rom[i].address.next = self.rom_address[i].val();
        }
        self.starts.next = self.key_octet.val().any() & (self.key_position.val() == 0);
        self.starting[0].d.next = self.starts.val();
        self.starting[1].d.next = self.starting[0].q.val();
        self.picked.d.next = self.rom[0].read_data.val()
            ^ self.rom[1].read_data.val()
            ^ self.rom[2].read_data.val()
            ^ self.rom[3].read_data.val();
        self.sum.d.next = self.sum.q.val() ^ self.picked.q.val();
        if self.starting[1].q.val() {
            self.sum.d.next = self.picked.q.val();
        }

        // Four rounds from the packet on; what comes out afterwards nobody looks at.
        self.round.clk.next = self.clk.val();
        self.round.rst.next = self.rst.val();
        for i in 0..3 {
            self.placing[i].clock.next = self.clk.val();
            self.placing[i].rst.next = self.rst.val();
        }
        self.placing[0].d.next = self.packet.val();
        self.placing[1].d.next = self.placing[0].q.val();
        self.placing[2].d.next = self.placing[1].q.val();
        self.x.next = self.round.x_after.val();
        self.y.next = self.round.y_after.val();
        self.mixer.next = self.constant[3].val();
        for i in 0..3 {
            if self.placing[i].q.val() {
                self.mixer.next = self.constant[i + 1].val();
            }
        }
        if self.packet.val() {
            self.x.next = self.sum.q.val().get_bits::<16>(16);
            self.y.next = self.sum.q.val().get_bits::<16>(0);
            self.mixer.next = self.constant[0].val();
        }
        self.round.x.next = self.x.val();
        self.round.y.next = self.y.val();
        self.round.constant.next = self.mixer.val();

        self.sampler.clk.next = self.clk.val();
        self.sampler.rst.next = self.rst.val();
        self.sampler.valid.next = true;
        // Prefix lengths are fixed here.
        self.sampler.masks.next = 0.into();
        self.sampler.row.next = self.round.y_after.val().get_bits::<R>(0);
        self.sampler.prefix.next = self.round.x_after.val().get_bits::<PREFIX_BITS>(0);
        self.sampled.next = self.sampler.sampled.val();
        self.address.next = self.sampler.address.val();
        for i in 0..Z {
            self.placed[i].clock.next = self.clk.val();
            self.placed[i].rst.next = self.rst.val();
            self.placed[i].d.next = self.placing[2].q.val();
            self.place_then[i].clock.next = self.clk.val();
            self.place_then[i].rst.next = self.rst.val();
            self.place_then[i].d.next = self.place_then[i].q.val();
            if self.placed[i].q.val() {
                self.place_then[i].d.next = bit_cast::<32, 16>(self.round.y_after.val())
                    | (bit_cast::<32, 16>(self.round.x_after.val()) << 16);
            }
            self.place[i].next = self.place_then[i].q.val();
        }
    }
}
