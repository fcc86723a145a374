//! A store: the intervals of months, in a folder that other programs read too.
//!
//! ```text
//! deltaline read eth1 --record store/north.pcapng --rotate 1h
//!     store/north-20260123T070000.000000Z.pcapng    control frames as they came: on the disk before they are shown
//!     store/north-20260123T080000.000000Z.pcapng
//! deltaline store store
//!     store/north-20260123T070000.000000Z.9f0c2a4be0d1763c-81920.parquet
//!                                                   their intervals in numbers, once the recording is closed
//! deltaline query store --segment 1 --from 2026-01-23T07:00:00Z
//! ```
//!
//! A record is a control frame in a block of pcapng, which has its length at both ends and the time; the frame has a check word,
//! and a tag if there is a key. Nothing that exists is ever written again: each start and each hour begins a recording of its own, so
//! that a torn end, which nobody was shown, spoils nothing behind it. Parquet files appear whole, under their name, or not at all.
//!
//! An interval belongs to the recording that holds its last control frame, whatever its time: clocks are set. A recording is closed once two minutes
//! were recorded behind it. The name of its file of numbers says how long the recording was; one that is longer by now is open again, and closed
//! anew. That name also holds a check, of the numbers and of the recording's name: moved or copied, a file of numbers is refused. Where control frames
//! are signed, the file says how far each segment had come, and the next reading goes on from there: what is older is a replay. A recording none of whose
//! frames is signed by the key stays as it is, and so does one that is damaged, of which what lies in front of the damage counts. [`Folder`] closes recordings and reads intervals,
//! [`Table`] is what they are in memory, [`table_file`] is how they are written; their cells are in recordings alone ([`Folder::each_with_cells`]).
//! A file of numbers also says what its intervals are together, so that [`Folder::sums`] of hours need not read each of them.
//!
//! # Test plan
//!
//! Tables there and back, with all kinds of numbers and none; row groups that are passed over; files cut or changed anywhere, and footers made to end the program, are refused. Recordings
//! cut at 10,000 random bytes: of what is read, no interval differs from that of the whole, and none is missing whose frames are all
//! in front of the cut. Intervals that lie across two recordings, starts in between, closing again, closing what is still
//! written to, a clock that is set back between recordings and within one; signed frames that are sent again for hours,
//! where the recordings before are gone; intervals that two recorders have, those that lost everything among them, in times that lie side by side, too; one damaged recording among others; recordings that are
//! all void; files of numbers that were copied or renamed; recordings whose frames another key has signed, all of them or some. Cells of all that counts, once. `cargo xtask store`: DuckDB reads what we wrote, and how long a month takes.

mod cells;
mod closing;
mod continuity;
mod folder;
mod footer;
mod overlap;
mod repetition;
mod shortcut;
mod stretch;
mod summing;
mod table;
pub mod table_file;

pub use cells::{Kept, NoCells};
pub use folder::{Folder, Noticed, StoreError, Work};
pub use summing::{Summing, Sums};
pub use table::LeftOut;
pub use table::{Column, Filter, Row, Table};
