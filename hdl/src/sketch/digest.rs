//! Digest: 32 bits of a packet's key that are not linear over GF(2).
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::sketch::digest`. 32 bits of the hash go through six rounds of addition, rotation and exclusive
//! or on two halves of 16 bits, one round a cycle, so that no adder is longer than 16 bits. In a [lane](crate::sketch::lane)
//! it is ready when the upper half of the packet's cell is added: nothing waits for it.
//!
//! Which bits of the hash, and which constants the rounds have, is the function's: [`function`] says whose a cell's further
//! fields are.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | key | in | 544 | the key, word i in bits 32i+31:32i |
//! | value | out | 32 | its digest, eight cycles later |
//!
//! Latency eight cycles, one key a cycle. Parameters: none; the configuration's hash, its seed and the function become
//! constants.
//!
//! Cost before placement: iCE40 2794 LUT4, 512 flip-flops; ECP5 2865 LUT4, 512 flip-flops. Nine parts in ten are the
//! 32 bits of hash: of a matrix that depends on all of the key, none can be spared without losing keys that differ.
//!
//! # Test plan
//!
//! `sim/cosim`: every key bit alone, and random keys, for the first field of each synopsis; all fields as part of the
//! cores, whose control frames hold the sums.

use crate::leaves::{Flop, HashMatrix};
use crate::module::module;
use deltaline_hdl_macros::clocked;
use deltaline_model::configuration::Configuration;
use deltaline_model::sketch::digest::{PacketDigest, ROUNDS};
use deltaline_model::sketch::packet_id::PacketId;
use deltaline_model::wire::shape::Kind;
use rust_hdl_core::prelude::*;

/// The function that makes further field `field` of a configuration's cells.
pub fn function(configuration: &Configuration, field: usize) -> PacketDigest {
    let id = PacketId::default();
    let [upper, lower] = *id.halves();
    match (configuration.kind(), field) {
        (Kind::FINECOMB, 0) | (Kind::IDENTITY_TABLE, 1) => upper,
        (Kind::FINECOMB, _) | (Kind::IDENTITY_TABLE, 2..) => lower,
        (Kind::IDENTITY_TABLE, _) => *id.check(),
        _ => PacketDigest::new(configuration.seed()),
    }
}

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Digest {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub key: Signal<In, Bits<544>>,
    pub value: Signal<Out, Bits<32>>,

    matrix: HashMatrix<32>,
    round: [Round; ROUNDS],
    x: Signal<Local, Bits<16>>,
    y: Signal<Local, Bits<16>>,
}

impl Digest {
    /// A configuration's digest by this function.
    pub fn new(configuration: &Configuration, function: &PacketDigest) -> Self {
        module! { Digest {
            matrix: HashMatrix::of_digest(configuration, function.first_bit()),
            round: function.constants().map(Round::new),
        }
            clk rst key value x y
        }
    }
}

impl Logic for Digest {
    #[hdl_gen]
    fn update(&mut self) {
        self.matrix.clk.next = self.clk.val();
        self.matrix.key.next = self.key.val();
        for i in 0..6 {
            self.round[i].clk.next = self.clk.val();
            self.round[i].rst.next = self.rst.val();
        }
        self.round[0].x.next = self.matrix.row.val().get_bits::<16>(16);
        self.round[0].y.next = self.matrix.row.val().get_bits::<16>(0);
        for i in 0..5 {
            self.round[i + 1].x.next = self.round[i].x_after.val();
            self.round[i + 1].y.next = self.round[i].y_after.val();
        }
        self.x.next = self.round[5].x_after.val();
        self.y.next = self.round[5].y_after.val();
        self.value.next = bit_cast::<32, 16>(self.y.val()) | (bit_cast::<32, 16>(self.x.val()) << 16);
    }
}

/// One round of the digest: x, y in, x_after, y_after a cycle later. Cost: 32 flip-flops and an adder of 16 bits.
#[derive(LogicBlock)]
pub struct Round {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub x: Signal<In, Bits<16>>,
    pub y: Signal<In, Bits<16>>,
    pub x_after: Signal<Out, Bits<16>>,
    pub y_after: Signal<Out, Bits<16>>,

    constant: Constant<Bits<16>>,
    x_turned: Signal<Local, Bits<16>>,
    y_turned: Signal<Local, Bits<16>>,
    total: Signal<Local, Bits<16>>,
    mixed: Signal<Local, Bits<16>>,
    x_now: Flop<Bits<16>>,
    y_now: Flop<Bits<16>>,
}

impl Round {
    fn new(constant: u16) -> Self {
        module! { Round {
            constant: Constant::new(u64::from(constant).into()),
        }
            clk rst x y x_after y_after x_turned y_turned total mixed x_now y_now
        }
    }
}

impl Logic for Round {
    #[clocked(x_now, y_now)]
    fn update(&mut self) {
        self.x_turned.next = (bit_cast::<16, 7>(self.x.val().get_bits::<7>(0)) << 9)
            | bit_cast::<16, 9>(self.x.val().get_bits::<9>(7));
        self.y_turned.next = (bit_cast::<16, 14>(self.y.val().get_bits::<14>(0)) << 2)
            | bit_cast::<16, 2>(self.y.val().get_bits::<2>(14));
        self.total.next = self.x_turned.val() + self.y.val();
        self.mixed.next = self.total.val() ^ self.constant.val();
        self.x_now.d.next = self.mixed.val();
        self.y_now.d.next = self.y_turned.val() ^ self.mixed.val();
        self.x_after.next = self.x_now.q.val();
        self.y_after.next = self.y_now.q.val();
    }
}
