//! Designs: what one file says about a measurement, for hardware and host programs alike.
//!
//! ```text
//! TOML <-> text -> design (stream, shell, clock, measurement) -> hardware (core kind, size, or why there is none)
//! ```
//!
//! A design file names the stream, the shell around the core, where time comes from, and what both ends of a
//! measurement must have in common. This crate reads it, checks it, writes it back, and knows which hardware is built.
//! It knows nothing about how that hardware is made, so a program without hardware needs nothing else.
//!
//! ```
//! use deltaline_design::Design;
//!
//! let design = Design::named("10g")?;
//! assert_eq!(design.stream().width, 64);
//! assert!(design.core()?.size(design.configuration()).is_ok());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod design;
mod error;
mod hardware;
mod keys;
mod kind;
mod measurement;
mod refusal;
mod shipped;
mod sizes;
mod small_file;
mod stream;
mod text;

pub use design::{Design, Parts};
pub use error::{DesignError, Place};
pub use keys::{KeyFileError, add_key, check_permissions, load_keys, parse_keys};
pub use kind::{CellKind, ClockSource, CoreKind, Shell};
pub use measurement::{Class, Measurement};
pub use refusal::Refusal;
pub use shipped::{DEFAULT, shipped_names};
pub use sizes::{MAX_BANKS, MAX_ROWS, Size, row_bits, sizes, word_bits};
pub use stream::Stream;
pub use text::random_seed;
