//! A measurement point, whatever it is made of, and the packets that it observes at once.

use crate::failure::Failure;
use deltaline_model::packet::identity::WINDOW_BYTES;
use deltaline_model::point::{IntervalEnd, MeasurementPoint};
use deltaline_model::sketch::packet_cache::PacketCache;
use deltaline_model::time::Timestamp;
use deltaline_model::wire::delimiter::Delimiter;

/// Packets that are observed at once, which is faster than one after the other.
const MOST: usize = 64;

/// Packets that wait to be observed: of each, what a measurement point looks at, and its time.
#[derive(Default)]
pub(crate) struct Batch {
    bytes: Vec<u8>,
    /// Where each ends.
    ends: Vec<(usize, Timestamp)>,
}

impl Batch {
    /// Adds a packet.
    pub(crate) fn push(&mut self, frame: &[u8], time: Timestamp) {
        self.bytes.extend_from_slice(&frame[..frame.len().min(WINDOW_BYTES)]);
        self.ends.push((self.bytes.len(), time));
    }

    /// Whether it is time to observe them.
    pub(crate) fn is_full(&self) -> bool {
        self.ends.len() >= MOST
    }

    /// The packets in their order.
    pub(crate) fn packets(&self) -> impl Iterator<Item = (&[u8], Timestamp)> {
        let mut start = 0;
        self.ends.iter().map(move |&(end, time)| (&self.bytes[std::mem::replace(&mut start, end)..end], time))
    }

    /// Forgets them.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.ends.clear();
    }
}

/// One end of a measurement segment.
pub(crate) trait Point {
    /// Records packets, and empties the batch; of how many bytes of the identity are missing.
    fn observe(&mut self, batch: &mut Batch) -> Result<u64, Failure>;

    /// A delimiter has come: ends the interval and hands out its control frames.
    fn end_interval(&mut self, emit: &mut dyn FnMut(&[u8])) -> Result<(), Failure>;

    /// The packets of the interval that has just ended, if they are remembered.
    fn take_packets(&mut self) -> Option<PacketCache> {
        None
    }

    /// Clock cycles so far; none where there is no clock.
    fn cycles(&self) -> Option<u64>;
}

impl Point for MeasurementPoint {
    fn observe(&mut self, batch: &mut Batch) -> Result<u64, Failure> {
        let before = self.truncated();
        self.observe_batch(batch.packets());
        batch.clear();
        Ok(self.truncated() - before)
    }

    fn end_interval(&mut self, emit: &mut dyn FnMut(&[u8])) -> Result<(), Failure> {
        // Counted as an unmeasured frame, as hardware does, whose control frames are the same ones.
        let delimiter = Delimiter::new(self.configuration(), self.interval()).encode();
        MeasurementPoint::observe(self, &delimiter, Timestamp(0));
        MeasurementPoint::end_interval(self, IntervalEnd::Delimiter, emit);
        Ok(())
    }

    fn take_packets(&mut self) -> Option<PacketCache> {
        // Recordings are measured as one class.
        MeasurementPoint::take_packets(self)?.pop()
    }

    fn cycles(&self) -> Option<u64> {
        None
    }
}
