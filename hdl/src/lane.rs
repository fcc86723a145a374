//! Lane: the way of one stream's packets from key to cell.
//!
//! # Theory of operation
//!
//! ```text
//! packet, key -> hash -> hash -> sampler -> lda
//!     0           1       2        3        as written there
//! ```
//!
//! The copy and the timestamp of a packet wait until its word is known. Lanes know nothing of each other: cells are
//! linear, so those of several lanes may be added when they are drained.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset (not of the memories) |
//! | packet | in | 1 | a measured packet is committed |
//! | epoch | in | 1 | to this copy |
//! | key | in | 544 | its key, word i in bits 32i+31:32i |
//! | nanoseconds | in | 40 | its timestamp |
//! | masks | in | 128 | as the sampler's |
//! | drain_address, drain_epoch, clear_first, clear_second, drained_cell | | | as the lda's |
//! | overflow, overflow_epoch | out | 1 | as the lda's |
//!
//! One packet a cycle; a cell is written nine cycles behind the commit. Parameters: R = log2(rows), A = R + bits of
//! a bank number; the configuration's hash, seed and prefix lengths become constants, unless
//! the lengths adapt.
//!
//! # Test plan
//!
//! Its parts have checks of their own; together with the core, 64-byte frames back to back.

use crate::lda::Lda;
use crate::leaves::{Delay, Flop, HashMatrix};
use crate::sampler::{MASKS, Sampler};
use deltaline_model::configuration::Configuration;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct Lane<const R: usize, const A: usize> {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub packet: Signal<In, Bit>,
    pub epoch: Signal<In, Bit>,
    pub key: Signal<In, Bits<544>>,
    pub nanoseconds: Signal<In, Bits<40>>,
    pub masks: Signal<In, Bits<MASKS>>,
    pub drain_address: Signal<In, Bits<A>>,
    pub drain_epoch: Signal<In, Bit>,
    pub clear_first: Signal<In, Bit>,
    pub clear_second: Signal<In, Bit>,
    pub drained_cell: Signal<Out, Bits<72>>,
    pub overflow: Signal<Out, Bit>,
    pub overflow_epoch: Signal<Out, Bit>,

    hash: HashMatrix<R>,
    sampler: Sampler<R, A>,
    lda: Lda<A>,
    hashing: [Flop<Bit>; 2],
    copy: [Flop<Bit>; 3],
    timestamp: Delay<40, 3>,
}

impl<const R: usize, const A: usize> Lane<R, A> {
    /// The lane of a configuration with 2^R rows and at most 2^(A - R) banks.
    pub fn new(configuration: &Configuration) -> Self {
        Lane {
            clk: Default::default(),
            rst: Default::default(),
            packet: Default::default(),
            epoch: Default::default(),
            key: Default::default(),
            nanoseconds: Default::default(),
            masks: Default::default(),
            drain_address: Default::default(),
            drain_epoch: Default::default(),
            clear_first: Default::default(),
            clear_second: Default::default(),
            drained_cell: Default::default(),
            overflow: Default::default(),
            overflow_epoch: Default::default(),
            hash: HashMatrix::new(configuration),
            sampler: Sampler::new(configuration),
            lda: Default::default(),
            hashing: Default::default(),
            copy: Default::default(),
            timestamp: Default::default(),
        }
    }
}

impl<const R: usize, const A: usize> Logic for Lane<R, A> {
    #[hdl_gen]
    fn update(&mut self) {
        self.hash.clk.next = self.clk.val();
        self.hash.key.next = self.key.val();
        for i in 0..2 {
            self.hashing[i].clock.next = self.clk.val();
            self.hashing[i].rst.next = self.rst.val();
        }
        for i in 0..3 {
            self.copy[i].clock.next = self.clk.val();
            self.copy[i].rst.next = self.rst.val();
        }
        self.hashing[0].d.next = self.packet.val();
        self.hashing[1].d.next = self.hashing[0].q.val();
        self.copy[0].d.next = self.epoch.val();
        self.copy[1].d.next = self.copy[0].q.val();
        self.copy[2].d.next = self.copy[1].q.val();
        self.timestamp.clk.next = self.clk.val();
        self.timestamp.rst.next = self.rst.val();
        self.timestamp.d.next = self.nanoseconds.val();

        self.sampler.clk.next = self.clk.val();
        self.sampler.rst.next = self.rst.val();
        self.sampler.valid.next = self.hashing[1].q.val();
        self.sampler.row.next = self.hash.row.val();
        self.sampler.prefix.next = self.hash.prefix.val();
        self.sampler.masks.next = self.masks.val();

        self.lda.clk.next = self.clk.val();
        self.lda.rst.next = self.rst.val();
        self.lda.update.next = self.sampler.sampled.val();
        self.lda.epoch.next = self.copy[2].q.val();
        self.lda.address.next = self.sampler.address.val();
        self.lda.timestamp.next = self.timestamp.q.val();
        self.lda.drain_address.next = self.drain_address.val();
        self.lda.drain_epoch.next = self.drain_epoch.val();
        self.lda.clear[0].next = self.clear_first.val();
        self.lda.clear[1].next = self.clear_second.val();
        self.drained_cell.next = self.lda.drained_cell.val();
        self.overflow.next = self.lda.overflow.val();
        self.overflow_epoch.next = self.lda.overflow_epoch.val();
    }
}
