//! Checksum: which payload bytes are left out of a key, because they hold a checksum.
//!
//! # Theory of operation
//!
//! Twin of the rule in `deltaline_model::packet::identity`: payload bytes 6 and 7 below UDP, 16 and 17 below TCP. The
//! identity stages keep what this says of the last header that they have passed.
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | protocol | in | 8 | what an IPv4 header or the last extension header names |
//! | checksum | out | 2 | bit 0: UDP; bit 1: TCP |
//!
//! Combinational. No parameters. Cost: four LUT4.
//!
//! # Test plan
//!
//! `sim/cosim`, with the identity stages: every protocol at every place that can name one; planted faults.

use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct Checksum {
    pub protocol: Signal<In, Bits<8>>,
    pub checksum: Signal<Out, Bits<2>>,
    found: Signal<Local, Bits<2>>,
}

impl Logic for Checksum {
    #[hdl_gen]
    fn update(&mut self) {
        self.found.next = 0.into();
        if self.protocol.val() == 17 {
            self.found.next = 1.into();
        } else if self.protocol.val() == 6 {
            self.found.next = 2.into();
        }
        self.checksum.next = self.found.val();
    }
}
