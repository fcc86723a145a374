//! The contract between hardware and software, and the bit-exact software twin of the datapath.
//!
//! A packet's life, each stage one module here and one module of the same name in the hardware:
//!
//! ```text
//! bytes -> identity -> hash -> sampler -> synopsis (lda) -> interval end -> frame
//!                          \-> digest (if wanted) -^
//! ```
//!
//! Everything that both sides must agree on (which bytes identify a packet, the hash matrix, the bank rule, the
//! cell, the control frame's layout, the configuration's identifier) is defined in this crate and nowhere else.
//! [`point::MeasurementPoint`] puts the stages together: frames in, control frames out.
//!
//! The crate is `no_std` but for the feature `std` (on by default), by which the processor's carry-less multiplication is
//! found at run time; memory is allocated when a measurement point is built, never per packet.
#![no_std]

extern crate alloc;
#[cfg(feature = "std")]
extern crate std;

pub mod ascon;
pub mod board;
pub mod canonical;
pub mod clock;
pub mod configuration;
pub mod packet;
pub mod point;
pub mod reference;
pub mod registers;
pub mod sketch;
pub mod succession;
pub mod time;
pub mod wire;
