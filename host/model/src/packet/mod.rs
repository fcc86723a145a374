//! The packet: which of its bytes are its identity, its class, and its hash.

pub mod classifier;
pub mod flow;
pub mod hash;
pub mod identity;
#[cfg(target_arch = "x86_64")]
mod residue;
#[cfg(target_arch = "x86_64")]
mod side_by_side;
