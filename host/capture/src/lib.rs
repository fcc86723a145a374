//! Captures in and out, and the exact matching of two captures.
//!
//! * [`reading`]: packets from pcap and pcapng files, plain or compressed.
//! * [`filter`]: which packets of a capture are wanted.
//! * [`writing`]: packets into pcap and pcapng files that appear only once they are whole.
//! * [`matching`]: which packet of the sender's capture is which of the receiver's, and so the true delays and
//!   losses that an estimate is compared with.
//! * [`exact`]: the same for captures of any length, in bounded memory.
//! * [`flows`]: what became of the packets of each flow.
//! * [`reordering`]: packets that arrive after one that was sent later.
//! * [`replay`]: two captures as two streams that delimiters cut into intervals.
//! * [`segments`]: TCP packets that a network card would cut, cut.
//! * [`stretches`]: packets in a row that are looked for at the other end, in recordings of any length.
//! * [`survey`]: what a recording holds that makes it hard to compare with another.
//!
//! ```no_run
//! use deltaline_capture::{Capture, CaptureError, matching, matching::Observations};
//!
//! # fn main() -> Result<(), CaptureError> {
//! let sender = Observations::read(&mut Capture::open("sender.pcap.zst")?)?;
//! let receiver = Observations::read(&mut Capture::open("receiver.pcap.zst")?)?;
//! let truth = matching::match_exactly(&sender, &receiver).truth(..);
//! println!("{} of {} packets arrived", truth.received, truth.sent);
//! # Ok(())
//! # }
//! ```

mod error;
mod headers;
mod input;
mod link;
mod packet;
mod pcap;
mod pcapng;
mod sorting;
mod translation;
mod tunnel;

pub mod edges;
pub mod exact;
pub mod filter;
pub mod flows;
mod maps;
pub mod matching;
pub mod reading;
pub mod reordering;
pub mod replay;
pub mod segments;
pub mod stretches;
pub mod survey;
pub mod writing;

pub use error::{CaptureError, Place, WriteError};
pub use input::Progress;
pub use packet::{Direction, Packet, PacketRef};
pub use reading::{Capture, Selection};
pub use translation::blank_identification;
pub use tunnel::Tunnel;
pub use writing::{PcapWriter, PcapngWriter, pcapng_beginning, pcapng_packet, write_file};
