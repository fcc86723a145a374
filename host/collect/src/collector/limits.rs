//! What a collector keeps at most, and of whom it takes frames at all.

use deltaline_model::wire::frame::Header;
use std::collections::BTreeSet;
use std::time::Duration;

/// How much is kept of frames that nobody vouches for, and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Segments that are followed.
    pub segments: usize,
    /// Intervals of a segment that have not been handed out.
    pub pending: usize,
    /// Bytes of all that has not been handed out, as the collector counts them.
    pub bytes: usize,
    /// How long, beside twice as long as it took, an interval that is whole is held back of a live source, unless both ends go on to the next
    /// one before: an end that repeats its number does so within a path's delay and a drain, and if the next one's frames are lost, those of the one behind it say so.
    pub grace: Duration,
    /// How long, beside as long again as it took, an interval that is whole at one end waits for the other end, of which not all has come.
    pub absence: Duration,
    /// How long after its first frame an interval is no longer waited for.
    pub patience: Duration,
    /// How long nothing must have come of a live source's segment before it makes room for another one, where there are as many as
    /// are followed.
    pub silence: Duration,
}

/// Those of a live source, of which [`Collector::take_settled`](super::Collector::take_settled) is called again and again.
impl Default for Limits {
    fn default() -> Self {
        Limits {
            segments: 4096,
            pending: 64,
            bytes: 64 << 20,
            grace: Duration::from_secs(1),
            absence: Duration::from_secs(1),
            patience: Duration::from_secs(60),
            silence: Duration::from_secs(3600),
        }
    }
}

impl Limits {
    /// Those of a recording, which is kept as a whole until [`Collector::finish`](super::Collector::finish): 4 GiB.
    pub fn recording() -> Self {
        Limits { pending: usize::MAX, bytes: 4 << 30, absence: Duration::MAX, ..Limits::default() }
    }
}

/// Of whom frames are taken: of everybody, as long as nothing is listed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    /// Numbers of segments.
    pub segments: BTreeSet<u32>,
    /// Identifiers of points.
    pub points: BTreeSet<u32>,
    /// Identifiers of configurations.
    pub digests: BTreeSet<u64>,
}

impl Allowed {
    pub(super) fn allows(&self, header: &Header) -> bool {
        is_listed(&self.segments, &header.segment)
            && is_listed(&self.points, &header.point)
            && is_listed(&self.digests, &header.configuration)
    }
}

fn is_listed<T: Ord>(list: &BTreeSet<T>, one: &T) -> bool {
    list.is_empty() || list.contains(one)
}
