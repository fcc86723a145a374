//! STAMP, the Simple Two-way Active Measurement Protocol (RFC 8762), with the session identifiers and extensions of RFC 8972.
//!
//! Measurement points see the delays of real packets. Where a path has none, a sender's test packets and a reflector's answers tell of their
//! own: four times a packet, by two clocks.
//!
//! ```text
//! sender     T₁ ────── forward ──────▶ T₂     reflector
//!                                       │ dwell
//!            T₄ ◀───── backward ────── T₃
//!
//! round trip = (T₄ − T₁) − (T₃ − T₂)     whatever the clocks show
//! forward = T₂ − T₁, backward = T₄ − T₃   with the offset of the clocks
//! ```
//!
//! | module | what |
//! |---|---|
//! | [`packet`] | the packets, open and authenticated |
//! | [`time`] | their times, and what they say of their errors |
//! | [`socket`] | sending and receiving, with the kernel's times of arrival |
//! | [`reflector`] | answers |
//! | [`sender`] | asks |
//! | [`summary`] | what its samples say together |
//!
//! # Test plan
//!
//! Packets against examples made of the RFC's figures by hand; with each other over the loopback interface, 10,000 each way, open and
//! authenticated: none is lost, none misread. Likewise with stamp-suite, and with scapy's open packets, both ways (`cargo xtask stamp`). Wrong keys, cut and altered
//! packets, strangers' answers, answers twice, out of order and late; extensions that are unknown, cut, or longer than the packet.

pub mod packet;
pub mod reflector;
pub mod sender;
pub mod socket;
pub mod summary;
pub mod time;

/// The port of reflectors.
pub const PORT: u16 = 862;
