//! Flow key: a packet's key with everything blanked that does not tell flows apart.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::packet::flow`, of the five-tuple. A mask of constants for each of four kinds of packets, by IP version and by whether
//! they have ports, is picked by the key itself:
//!
//! ```text
//! key ──┬── version, protocol, fragment offset ── mask ──┐
//!       └───────────────────────────────────────────── and ── register ── flow
//! ```
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset |
//! | key | in | 544 | a key, word i in bits 32i+31:32i |
//! | flow | out | 544 | its flow's, a cycle later |
//!
//! Latency one cycle, one key a cycle. No parameters. Cost before placement: 300 flip-flops, of the bits that are not blanked in every kind.
//!
//! # Test plan
//!
//! `sim/cosim`, as part of [flow rows](crate::sketch::flow_rows): keys of both versions, with every protocol, fragments among them. Planted faults:
//! version, protocol, fragment offset, a mask.

use crate::module::module;
use deltaline_hdl_macros::clocked;
use deltaline_model::packet::flow::{FlowFields, FlowMasks, PROTOCOLS_WITH_PORTS};
use deltaline_model::packet::identity::KEY_WORDS;
use rust_hdl_core::prelude::*;

use crate::leaves::Flop;

/// See the [module](self).
#[derive(LogicBlock)]
pub struct FlowKey {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub key: Signal<In, Bits<544>>,
    pub flow: Signal<Out, Bits<544>>,

    four: Constant<Bits<4>>,
    with_ports: [Constant<Bits<8>>; 5],
    /// Without ports, with ports.
    ipv4: [Constant<Bits<544>>; 2],
    other: [Constant<Bits<544>>; 2],
    is_ipv4: Signal<Local, Bit>,
    protocol: Signal<Local, Bits<8>>,
    has_ports: Signal<Local, Bit>,
    mask: Signal<Local, Bits<544>>,
    masked: Flop<Bits<544>>,
}

impl Default for FlowKey {
    fn default() -> Self {
        let masks = FlowMasks::new(&FlowFields::default());
        let of = |is_ipv4| [false, true].map(|ports| Constant::new(bits(masks.words(is_ipv4, ports))));
        module! { FlowKey {
            four: Constant::new(4.into()),
            with_ports: PROTOCOLS_WITH_PORTS.map(|protocol| Constant::new(u64::from(protocol).into())),
            ipv4: of(true),
            other: of(false),
        }
            clk rst key flow is_ipv4 protocol has_ports mask masked
        }
    }
}

fn bits(words: [u32; KEY_WORDS]) -> Bits<544> {
    words.iter().rev().fold(Bits::from(0), |bits: Bits<544>, &word| (bits << 32) | u64::from(word))
}

impl Logic for FlowKey {
    #[clocked(masked)]
    fn update(&mut self) {
        self.is_ipv4.next = self.key.val().get_bits::<4>(28) == self.four.val();
        // Word 2 of IPv4, word 1 of IPv6.
        self.protocol.next = self.key.val().get_bits::<8>(40);
        if self.is_ipv4.val() {
            self.protocol.next = self.key.val().get_bits::<8>(80);
        }
        self.has_ports.next = false;
        for i in 0..5 {
            if self.protocol.val() == self.with_ports[i].val() {
                self.has_ports.next = true;
            }
        }
        // A later fragment of IPv4 does not begin with ports.
        if self.is_ipv4.val() & self.key.val().get_bits::<13>(32).any() {
            self.has_ports.next = false;
        }
        self.mask.next = self.other[0].val();
        if self.has_ports.val() {
            self.mask.next = self.other[1].val();
        }
        if self.is_ipv4.val() {
            self.mask.next = self.ipv4[0].val();
            if self.has_ports.val() {
                self.mask.next = self.ipv4[1].val();
            }
        }
        self.masked.d.next = self.key.val() & self.mask.val();
        self.flow.next = self.masked.q.val();
    }
}
