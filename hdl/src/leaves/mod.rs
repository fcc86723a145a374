//! The leaves: everything that is hand-written Verilog, each with its model for RustHDL's own simulator.
//!
//! | leaf | why it is not generated |
//! |------|-------------------------|
//! | [`Flop`] | RustHDL's flip-flop has no reset, only an initial value, which an ASIC does not have |
//! | [`Ram`] | inference needs an attribute, a defined content and no read-first emulation; it is also the seam for a memory macro |
//! | [`OutputRegister`] | a memory macro may hold it already |
//! | [`Delay`] | a shift register of any length is one line |
//! | [`BeatWords`] | bytes regrouped for any width |
//! | [`CellFields`], [`CellWord`] | slices and a concatenation of fields whose places the model states |
//! | [`KeyVector`] | a concatenation, which RustHDL lacks |
//! | [`Rom`] | a case statement over constants is what synthesis turns into block RAM with content |
//! | [`Classifier`] | comparisons of the looked-at words alone keep the emitted text small and its constants visible |
//! | [`HashMatrix`] | reductions over constant masks keep the emitted text small and its constants visible |

mod beat_words;
mod cell_word;
mod classifier;
mod delay;
mod flop;
mod hash_matrix;
mod key_vector;
mod output_register;
mod ram;
mod rom;
mod shared_parity;

pub use beat_words::BeatWords;
pub use cell_word::{CellFields, CellWord};
pub use classifier::Classifier;
pub use delay::Delay;
pub use flop::Flop;
pub use hash_matrix::HashMatrix;
pub use key_vector::KeyVector;
pub use output_register::OutputRegister;
pub use ram::Ram;
pub use rom::Rom;
