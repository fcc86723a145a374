//! The measurement point: all stages together, frames in and control frames out.
//!
//! This is the software twin of the hardware core: fed with the same frames, timestamps and interval ends it emits
//! the same control frames, byte for byte.
//!
//! ```
//! use deltaline_model::configuration::{Configuration, Settings};
//! use deltaline_model::point::{IntervalEnd, MeasurementPoint};
//! use deltaline_model::time::Timestamp;
//! use deltaline_model::wire::frame::{Frame, Role};
//!
//! let configuration = Configuration::new(Settings { rows: 8, seed: 7, ..Settings::default() })?;
//! let mut point = MeasurementPoint::new(&configuration, Role::Sender);
//!
//! // An IPv4 packet of 28 octets with UDP in it, from its destination MAC address on.
//! let mut frame = [0; 42];
//! frame[12..18].copy_from_slice(&[0x08, 0x00, 0x45, 0, 0, 28]);
//! frame[23] = 17;
//! point.observe(&frame, Timestamp::from_nanoseconds(1_000));
//!
//! let mut frames = vec![];
//! point.end_interval(IntervalEnd::Delimiter, |frame| frames.push(frame.to_vec()));
//! // One control frame for each bank; both report the totals of all packets.
//! assert_eq!(frames.len(), 2);
//! let totals = Frame::decode(&frames[1])?.header.totals;
//! assert_eq!((totals.packets, totals.bytes), (1, 28));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Test plan
//!
//! Scheduled prefix lengths take effect at the first boundary whose next interval is due, at numbers around the wrap
//! and behind delimiters that jump; never within an interval; the latest schedule counts; what is refused changes
//! nothing. Totals, first and last time against a straight count; intervals start from zero; flags appear in the interval
//! that they belong to and no other; the frames decode to the cells of an LDA fed by hand. Each class reports what a
//! point that sees only its packets reports, and all repeat what is the point's. A batch leaves what its frames leave one
//! by one, for every length up to 62, with frames of the general way and unmeasured ones among them. Keys take effect at
//! boundaries, and all of an interval's frames have one; so do mixings, which place the packets of their intervals; delimiters that are not next are counted in their interval.

use crate::configuration::Configuration;
use crate::packet::classifier::MAX_CLASSES;
use crate::packet::flow::{FlowFields, FlowMasks};
use crate::packet::hash::{Keys, LinearHash, WHOLE};
use crate::packet::identity::{Identity, Key as PacketKey, identify, identify_plain};
use crate::sketch::digest::{self, PacketDigest};
use crate::sketch::mixing::Mixing;
use crate::sketch::packet_cache::PacketCache;
use crate::sketch::place::{self, Placement};
use crate::sketch::registry::{self, Tables};
use crate::sketch::sampler::{Prefixes, Sampler};
use crate::sketch::synopsis::Hashed;
use crate::succession::{Place, Succession, Trust, Verdict};
use crate::time::{AbsoluteTime, Timestamp};
use crate::wire::authentication::Key;
use crate::wire::cell::WireCell;
use crate::wire::delimiter::Delimiter;
use crate::wire::frame::{Header, MAX_FRAME_BYTES, Role, Totals};
use crate::wire::shape::BLOCK_CELLS;
use crate::wire::v2;
use alloc::vec;
use alloc::vec::Vec;
use multiversion::multiversion;
use multiversion::target::match_target;

/// Width of the totals in bits.
pub const TOTAL_BITS: u32 = 48;
/// Packets whose hashes are found before the first of their cells is touched.
const BATCH: usize = place::LANES;
/// Mask of the bits that a total keeps.
const TOTAL_MASK: u64 = (1 << TOTAL_BITS) - 1;

/// What ended an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum IntervalEnd {
    /// A delimiter in the stream: the same packets lie before it at both ends.
    Delimiter,
    /// The clock, a pin or a register: packets in flight lie before it at one end and behind it at the other.
    Request,
}

/// Why prefix lengths are not scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ScheduleError {
    /// The configuration does not adapt.
    #[error("the prefix lengths are fixed: set `adaptive` in the configuration, at both ends")]
    Fixed,
    /// The number of banks cannot change.
    #[error("{given} prefix lengths for {banks} banks: give one for each bank")]
    Banks {
        /// How many were given.
        given: usize,
        /// Banks of the configuration.
        banks: usize,
    },
}

/// The configuration has no mixing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("banks and rows are fixed by the seed: set `mixing` in the configuration, at both ends")]
pub struct NoMixing;

/// What is counted of each class.
#[derive(Clone, Copy, Default)]
struct ClassTotals {
    packets: u64,
    octets: u64,
    first: Timestamp,
    last: Timestamp,
    time_sum: u64,
    digest_sum: u32,
}

/// One end of a measurement segment.
pub struct MeasurementPoint {
    configuration: Configuration,
    role: Role,
    id: u32,
    boot_epoch: u32,
    key: Option<Key>,
    /// From the first interval from this one on.
    scheduled_key: Option<(Option<Key>, u32)>,
    succession: Succession,
    time: Option<AbsoluteTime>,
    hash: LinearHash,
    /// What a flow is, if flows have a say.
    flows: FlowMasks,
    is_of_flows: bool,
    digest: PacketDigest,
    placement: Placement,
    tables: Tables,
    /// Of the running interval.
    sampler: Sampler,
    /// Of the first interval from this one on.
    scheduled: Option<(Prefixes, u32)>,
    /// Likewise.
    scheduled_mixing: Option<(Mixing, u32)>,
    interval: u32,
    /// An interval has ended: the running one began at a known place.
    has_ended: bool,
    /// What is counted apart from classes.
    totals: Totals,
    classes: [ClassTotals; MAX_CLASSES],
    unmatched: u32,
    truncated: u64,
    /// Of each class, if packets are remembered.
    caches: Option<Vec<PacketCache>>,
}

impl MeasurementPoint {
    /// A measurement point before its first packet; intervals count from zero.
    pub fn new(configuration: &Configuration, role: Role) -> Self {
        MeasurementPoint {
            configuration: *configuration,
            role,
            id: 0,
            boot_epoch: 0,
            key: None,
            scheduled_key: None,
            succession: Succession::default(),
            time: None,
            digest: digest::first(configuration.kind(), configuration.seed()),
            placement: Placement::of(configuration),
            hash: LinearHash::new(configuration.hash(), configuration.seed()),
            flows: FlowMasks::new(&FlowFields::default()),
            is_of_flows: configuration.kind().is_of_flows(),
            tables: registry::synopsis(configuration.kind(), &configuration.parameters()),
            sampler: Sampler::new(*configuration.prefixes()),
            scheduled: None,
            scheduled_mixing: None,
            interval: 0,
            has_ended: false,
            totals: Totals::default(),
            classes: [ClassTotals::default(); MAX_CLASSES],
            unmatched: 0,
            truncated: 0,
            caches: None,
        }
    }

    /// Sets the identifier that tells its control frames from those of other points; zero at first.
    pub fn set_id(&mut self, id: u32) {
        self.id = id;
    }

    /// Sets how often the point has started, or the time of its start in seconds: a number that rises with each start. Zero
    /// at first, which means that starts are not counted.
    pub fn set_boot_epoch(&mut self, boot_epoch: u32) {
        self.boot_epoch = boot_epoch;
    }

    /// Sets the key of control frames and delimiters from now on, or none; none at first.
    pub fn set_key(&mut self, key: Option<Key>) {
        self.key = key;
    }

    /// Schedules another key, or none: as [`MeasurementPoint::schedule_prefixes`] does prefix lengths. The control frames of the
    /// interval that ends at that boundary have the new key already, and so has the delimiter of the interval `from`.
    pub fn schedule_key(&mut self, key: Option<Key>, from: u32) {
        self.scheduled_key = Some((key, from));
    }

    /// Remembers the packets of each interval from now on, 24 bytes each.
    pub fn remember_packets(&mut self) {
        self.caches = Some(vec![PacketCache::default(); self.configuration.classes()]);
    }

    /// The packets of each class since the last call, if they are remembered: to be called where an interval has ended, for those of
    /// that interval.
    pub fn take_packets(&mut self) -> Option<Vec<PacketCache>> {
        let empty = vec![PacketCache::default(); self.configuration.classes()];
        self.caches.as_mut().map(|caches| core::mem::replace(caches, empty))
    }

    /// Goes on with the interval of this number, as if a delimiter had begun it.
    pub fn resume_at(&mut self, interval: u32) {
        (self.interval, self.has_ended) = (interval, true);
    }

    /// Records packets of the first class again, of which hash and time are remembered. Their octets are not known: they count
    /// as none.
    pub fn recall(&mut self, packets: impl IntoIterator<Item = (u64, Timestamp)>) {
        let (mut batch, mut length) = ([Hashed::default(); BATCH], 0);
        for (hash, time) in packets {
            batch[length] = Hashed { hash, time, ..Hashed::default() };
            length += 1;
            if length == BATCH {
                self.add(0, 0, &mut batch);
                length = 0;
            }
        }
        self.add(0, 0, &mut batch[..length]);
    }

    /// Sets the absolute time that the control frames of the next interval ends carry; none at first.
    pub fn set_time(&mut self, time: Option<AbsoluteTime>) {
        self.time = time;
    }

    /// The configuration.
    pub fn configuration(&self) -> &Configuration {
        &self.configuration
    }

    /// The prefix lengths of the running interval.
    pub fn prefixes(&self) -> &Prefixes {
        self.sampler.prefixes()
    }

    /// Schedules other prefix lengths: they take effect at the boundary before the first interval whose number is at
    /// least `from`, modulo 2^32 (at most 2^31 - 1 ahead of it). Since both ends number their intervals alike, the same call at both
    /// changes both at the same packet. A schedule that has not taken effect yet is replaced.
    ///
    /// # Errors
    ///
    /// [`ScheduleError`] if the lengths are fixed or are not as many as there are banks; nothing changes then.
    pub fn schedule_prefixes(&mut self, prefixes: Prefixes, from: u32) -> Result<(), ScheduleError> {
        let (banks, given) = (self.configuration.prefixes().banks(), prefixes.banks());
        if !self.configuration.adaptive() {
            return Err(ScheduleError::Fixed);
        }
        if given != banks {
            return Err(ScheduleError::Banks { given, banks });
        }
        self.scheduled = Some((prefixes, from));
        Ok(())
    }

    /// The schedule that has not taken effect yet, if any.
    pub fn scheduled(&self) -> Option<(Prefixes, u32)> {
        self.scheduled
    }

    /// The mixing of the running interval, if there is one.
    pub fn mixing(&self) -> Option<&Mixing> {
        self.placement.mixing()
    }

    /// Schedules another mixing, as [`MeasurementPoint::schedule_prefixes`] does prefix lengths. One whose identifier is zero is the
    /// configuration's own, whatever its bits.
    ///
    /// # Errors
    ///
    /// [`NoMixing`] if the configuration has none; nothing changes then.
    pub fn schedule_mixing(&mut self, mixing: Mixing, from: u32) -> Result<(), NoMixing> {
        if !self.configuration.has_mixing() {
            return Err(NoMixing);
        }
        let mixing = if mixing.id() == 0 { Mixing::own(self.configuration.seed()) } else { mixing };
        self.scheduled_mixing = Some((mixing, from));
        Ok(())
    }

    /// The mixing that has not taken effect yet, if any.
    pub fn scheduled_mixing(&self) -> Option<(Mixing, u32)> {
        self.scheduled_mixing
    }

    /// The cells of the running interval, if they are of this type: class by class, in it table by table.
    pub fn cells<C: WireCell>(&self) -> Vec<C> {
        let shape = self.tables.any().shape(self.prefixes());
        let block_bytes = usize::from(shape.cell_bits).max(1);
        let mut blocks = vec![0; shape.cells() / BLOCK_CELLS * block_bytes];
        let mut cells = vec![];
        for class in 0..self.configuration.classes() {
            self.tables.any().pack(class, 0, &mut blocks);
            cells.extend(blocks.chunks_exact(block_bytes).flat_map(C::unpack));
        }
        cells
    }

    /// How many cells all classes have together.
    pub fn cell_count(&self) -> usize {
        self.configuration.classes() * self.tables.any().shape(self.prefixes()).cells()
    }

    /// The totals of the running interval as a class's control frames would report them; zero for a class that is none.
    pub fn totals(&self, class: usize) -> Totals {
        let ClassTotals { packets, octets, first, last, time_sum, digest_sum } =
            self.classes.get(class).copied().unwrap_or_default();
        let time_sum = Some(time_sum);
        let digest_sum = self.configuration.has_digest_sum().then_some(digest_sum);
        Totals { packets, bytes: octets, first, last, time_sum, digest_sum, ..self.totals }
    }

    /// Number of the running interval.
    pub fn interval(&self) -> u32 {
        self.interval
    }

    /// Packets of the running interval, of all classes together, modulo 2^48.
    pub fn packets(&self) -> u64 {
        self.classes.iter().fold(0, |sum, class| sum + class.packets) & TOTAL_MASK
    }

    /// Their IP octets, modulo 2^48.
    pub fn bytes(&self) -> u64 {
        self.classes.iter().fold(0, |sum, class| sum + class.octets) & TOTAL_MASK
    }

    /// Packets of the running interval that no entry of the classifier matches, saturating; they are part of the
    /// unmeasured frames.
    pub fn unmatched(&self) -> u32 {
        self.unmatched
    }

    /// Frames so far, of all intervals, that ended before bytes of their identity ([`Identity::truncated`]).
    pub fn truncated(&self) -> u64 {
        self.truncated
    }

    /// Records a frame whose first byte was seen at `time`.
    pub fn observe(&mut self, frame: &[u8], time: Timestamp) {
        match identify_plain(frame) {
            // The key of these never is in memory.
            Some(identity) if self.configuration.classifier().is_empty() => {
                let packet = self.hashed(&identity.key, time);
                self.add(0, u64::from(identity.ip_length), &mut [packet]);
            }
            _ => self.observe_any(frame, time),
        }
    }

    /// Records frames in their order, each with its time: what [`MeasurementPoint::observe`] does with one after the
    /// other, faster where several are at hand. A processor looks ahead no further than two or three packets; here a hash
    /// does not stand in line behind the cell of the packet before, and totals are touched once a batch.
    pub fn observe_batch<'a>(&mut self, frames: impl IntoIterator<Item = (&'a [u8], Timestamp)>) {
        observe_all(self, frames);
    }

    /// As [`MeasurementPoint::observe`], for every frame and classifier.
    #[inline(never)]
    fn observe_any(&mut self, frame: &[u8], time: Timestamp) {
        match identify(frame) {
            Ok(identity) => {
                self.truncated += u64::from(identity.truncated);
                self.record(&identity, time);
            }
            Err(_) => self.totals.unmeasured = self.totals.unmeasured.saturating_add(1),
        }
    }

    /// Records a packet whose identity is known already.
    pub fn record(&mut self, identity: &Identity, time: Timestamp) {
        match self.configuration.classifier().class(&identity.key) {
            Some(class) => {
                let packet = self.hashed(&identity.key, time);
                self.add(class, u64::from(identity.ip_length), &mut [packet]);
            }
            None => {
                self.totals.unmeasured = self.totals.unmeasured.saturating_add(1);
                self.unmatched = self.unmatched.saturating_add(1);
            }
        }
    }

    /// A packet, with its flow if that has a say.
    #[inline(always)]
    fn hashed(&self, key: &PacketKey, time: Timestamp) -> Hashed {
        let flow = if self.is_of_flows { self.hash.hash(self.flows.flow(key).key()) } else { 0 };
        Hashed { hash: self.hash.hash(key), flow, time, ..Hashed::default() }
    }

    /// Counts packets of a class that have so many octets together; their places and digests are not known yet.
    #[inline(always)]
    fn add(&mut self, class: usize, octets: u64, packets: &mut [Hashed]) {
        let totals = &mut self.classes[class];
        let mut is_full = count(totals, octets, packets);
        let times = packets.iter().map(|packet| packet.time.nanoseconds());
        totals.time_sum = times.fold(totals.time_sum, u64::wrapping_add);
        let has_digests = self.configuration.has_digest_sum();
        if let Ok(batch) = <&mut [Hashed; BATCH]>::try_from(&mut *packets) {
            let hashes = batch.map(|packet| packet.hash);
            let places = self.placement.places(hashes);
            batch.iter_mut().zip(places).for_each(|(packet, place)| packet.place = place);
            if has_digests {
                let digests = self.digest.digests(hashes);
                batch.iter_mut().zip(digests).for_each(|(packet, digest)| packet.digest = digest);
            }
        } else {
            for packet in packets.iter_mut() {
                packet.place = self.placement.place(packet.hash);
                if has_digests {
                    packet.digest = self.digest.digest(packet.hash);
                }
            }
        }
        if has_digests {
            let sum = digest::sum(packets.iter().map(|packet| packet.digest));
            totals.digest_sum = digest::add(totals.digest_sum, sum);
        }
        if let Some(cache) = self.caches.as_mut().and_then(|caches| caches.get_mut(class)) {
            cache.remember(packets);
        }
        is_full |= self.tables.add(class, &self.sampler, packets);
        self.totals.flags.saturated |= is_full;
    }

    /// As [`MeasurementPoint::add`], of the first class, of packets with these keys: with their flows if they have a say, and their hashes
    /// where all are found at once.
    #[inline(always)]
    fn add_batch(&mut self, octets: u64, packets: &mut [Hashed], keys: &Keys) {
        if self.hash.is_faster_at_once(false) {
            let hashes = self.hash.hashes(keys, &WHOLE, packets.len());
            packets.iter_mut().zip(hashes).for_each(|(packet, hash)| packet.hash = hash);
        }
        if self.is_of_flows {
            hash_flows(&self.hash, &self.flows, keys, packets);
        }
        self.add(0, octets, packets);
    }

    /// Records a frame that the MAC marked bad.
    pub fn observe_bad(&mut self) {
        self.totals.bad = self.totals.bad.saturating_add(1);
    }

    /// Records an interval end that was refused because it came too soon: during a drain, or before the least interval was over.
    pub fn refuse_interval_end(&mut self) {
        self.totals.refused_ends = self.totals.refused_ends.saturating_add(1);
        self.totals.flags.overrun = true;
    }

    /// Records that the clock was not locked at some moment of this interval.
    pub fn clock_unlocked(&mut self) {
        self.totals.flags.clock = true;
    }

    /// Takes a delimiter of this measurement, as its frame, and ends the interval if it is the [next
    /// one](crate::succession); returns whether it did. Others are counted.
    pub fn observe_delimiter(&mut self, frame: &[u8], emit: impl FnMut(&[u8])) -> bool {
        let next = self.judge(frame);
        if let Some(number) = next {
            self.end_interval_at(number, emit);
        }
        next.is_some()
    }

    /// Takes a delimiter while no interval can end; returns whether it was the next one. Then its end is refused, and the running
    /// interval has a gap and the number behind.
    pub fn refuse_delimiter(&mut self, frame: &[u8]) -> bool {
        let next = self.judge(frame);
        if let Some(number) = next {
            self.refuse_interval_end();
            self.totals.flags.gap = true;
            self.interval = number.wrapping_add(1);
        }
        next.is_some()
    }

    /// Takes a delimiter that comes before its tag could be known: with a key it is as good as forged. So a core does, which
    /// computes the tags of the delimiters that may come next while it waits for them.
    pub fn doubt_delimiter(&mut self, frame: &[u8]) {
        self.judge_at(frame, Trust::Forged);
    }

    /// The key that signs the delimiter of this number, if the point has one: that which is scheduled from this interval or one
    /// before, or the one in force. So both ends change at the same delimiter, even if the one before it is lost. A key that is
    /// scheduled to be no more is in force until the boundary.
    pub fn key_of_delimiter(&self, number: u32) -> Option<&Key> {
        let scheduled = self.scheduled_key.as_ref().filter(|(_, from)| is_due(*from, number));
        let scheduled = scheduled.and_then(|(key, _)| key.as_ref());
        self.key.as_ref().map(|key| scheduled.unwrap_or(key))
    }

    /// The number of a delimiter that is the next one; others are counted.
    fn judge(&mut self, frame: &[u8]) -> Option<u32> {
        let Delimiter { interval, key, .. } = Delimiter::of(&self.configuration, frame)?;
        let trust = match self.key_of_delimiter(interval) {
            None => Trust::NoKey,
            Some(ours) if ours.id() == key && ours.has_signed(frame) => Trust::Authentic,
            Some(_) => Trust::Forged,
        };
        self.judge_at(frame, trust)
    }

    fn judge_at(&mut self, frame: &[u8], trust: Trust) -> Option<u32> {
        let Delimiter { interval, boot_epoch, .. } = Delimiter::of(&self.configuration, frame)?;
        let place = Place { epoch: boot_epoch, number: interval };
        match self.succession.judge(place, self.interval, self.has_ended, trust) {
            Verdict::Due => {}
            Verdict::Gap => self.totals.flags.gap = true,
            Verdict::Ignored => {
                let ignored = &mut self.totals.ignored_delimiters;
                *ignored = ignored.saturating_add(1);
                return None;
            }
        }
        Some(interval)
    }

    /// Ends the interval at a delimiter that carries `number`, which becomes the interval's own; if it is not the
    /// one that was due, a delimiter is missing, and the interval has a gap. So has the very first interval, which
    /// no delimiter has begun.
    pub fn end_interval_at(&mut self, number: u32, emit: impl FnMut(&[u8])) {
        self.totals.flags.gap |= number != self.interval || !self.has_ended;
        self.interval = number;
        self.end_interval(IntervalEnd::Delimiter, emit);
    }

    /// Ends the interval: hands its control frames to `emit`, in order, and starts the next from zero. A request flags both,
    /// and the very first interval has a gap as well.
    pub fn end_interval(&mut self, end: IntervalEnd, mut emit: impl FnMut(&[u8])) {
        let is_request = end == IntervalEnd::Request;
        self.totals.flags.timed |= is_request;
        self.totals.flags.gap |= is_request && !self.has_ended;
        if is_request {
            self.succession.end_by_request();
        }
        let next = self.interval.wrapping_add(1);
        if let Some((key, _)) = self.scheduled_key.take_if(|(_, from)| is_due(*from, next)) {
            self.key = key;
        }
        for class in 0..self.configuration.classes() {
            self.report(class, &mut emit);
        }
        self.tables.clear();
        self.has_ended = true;
        self.interval = next;
        self.totals = Totals::default();
        self.totals.flags.timed = is_request;
        self.classes = [ClassTotals::default(); MAX_CLASSES];
        self.unmatched = 0;
        if let Some((prefixes, _)) = self.scheduled.take_if(|(_, from)| is_due(*from, next)) {
            self.sampler = Sampler::new(prefixes);
        }
        if let Some((mixing, _)) = self.scheduled_mixing.take_if(|(_, from)| is_due(*from, next)) {
            self.placement = Placement::mixed(self.configuration.seed(), mixing);
        }
    }

    /// The control frames of a class: those of its own measurement segment.
    fn report(&self, class: usize, emit: &mut impl FnMut(&[u8])) {
        let mut buffer = [0; MAX_FRAME_BYTES];
        let totals = self.totals(class);
        for header in Header::of_interval(&self.configuration, self.role, self.interval, totals) {
            let segment = header.segment + class as u32;
            let shape = self.tables.any().shape(self.prefixes());
            let (point, time, boot_epoch) = (self.id, self.time, self.boot_epoch);
            let key = self.key.as_ref().map_or(0, Key::id);
            let mixing = self.mixing().map_or(0, Mixing::id);
            let header = Header { segment, shape, point, time, boot_epoch, key, mixing, ..header };
            let pack = |blocks: &mut [u8]| self.tables.any().pack(class, header.cells_before(), blocks);
            if let Some(length) = v2::encode_blocks(&header, &mut buffer, pack) {
                let frame = &mut buffer[..length];
                if let Some(key) = &self.key {
                    key.sign(frame);
                }
                emit(frame);
            }
        }
    }
}

/// What [`MeasurementPoint::observe_batch`] does, with the instructions that this processor has: products for the hash, and
/// registers of 256 bits for the rounds of sixteen packets.
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+lzcnt+pclmulqdq", "x86_64+pclmulqdq"))]
fn observe_all<'a>(point: &mut MeasurementPoint, frames: impl IntoIterator<Item = (&'a [u8], Timestamp)>) {
    let (mut batch, mut packets, mut octets) = ([Hashed::default(); BATCH], 0, 0);
    let mut keys = Keys::default();
    let is_plain = point.configuration.classifier().is_empty();
    let is_hashed_at_once = point.hash.is_faster_at_once(false);
    for (frame, time) in frames {
        match identify_plain(frame) {
            Some(identity) if is_plain => {
                let hash = if is_hashed_at_once {
                    0
                } else {
                    match_target! {
                        "x86_64+avx2+bmi1+bmi2+lzcnt+pclmulqdq" => point.hash.multiplied(&identity.key, |residue, ab, cd, ef, gh, half| residue.of(ab, cd, ef, gh, half)),
                        "x86_64+pclmulqdq" => point.hash.multiplied(&identity.key, |residue, ab, cd, ef, gh, half| residue.of(ab, cd, ef, gh, half)),
                        _ => point.hash.looked_up(*identity.key.long_words()),
                    }
                };
                batch[packets] = Hashed { hash, time, ..Hashed::default() };
                if is_hashed_at_once || point.is_of_flows {
                    keys.set(packets, &identity.key);
                }
                octets += u64::from(identity.ip_length);
                packets += 1;
                if packets == BATCH {
                    point.add_batch(octets, &mut batch, &keys);
                    (packets, octets) = (0, 0);
                }
            }
            _ => {
                point.add_batch(octets, &mut batch[..packets], &keys);
                (packets, octets) = (0, 0);
                point.observe(frame, time);
            }
        }
    }
    point.add_batch(octets, &mut batch[..packets], &keys);
}

/// Finds the flows of packets. Not where their keys are found: a key that was just written is slow to read.
#[multiversion(targets("x86_64+pclmulqdq"))]
fn hash_flows(hash: &LinearHash, masks: &FlowMasks, keys: &Keys, packets: &mut [Hashed]) {
    let length = packets.len();
    if hash.is_faster_at_once(true) {
        let hashes = match masks.common(keys, length) {
            Some(mask) => hash.hashes(keys, mask, length),
            None => {
                let mut flows = Keys::default();
                (0..length).for_each(|at| flows.set(at, masks.flow(&keys.get(at)).key()));
                hash.hashes(&flows, &WHOLE, length)
            }
        };
        packets.iter_mut().zip(hashes).for_each(|(packet, hash)| packet.flow = hash);
        return;
    }
    for (at, packet) in packets.iter_mut().enumerate() {
        let flow = masks.flow(&keys.get(at));
        packet.flow = match_target! {
            "x86_64+pclmulqdq" => hash.multiplied(flow.key(), |residue, ab, cd, ef, gh, half| residue.of(ab, cd, ef, gh, half)),
            _ => hash.looked_up(*flow.key().long_words()),
        };
    }
}

/// Whether `interval` is `from` or later, modulo 2^32.
fn is_due(from: u32, interval: u32) -> bool {
    interval.wrapping_sub(from) as i32 >= 0
}

/// Counts packets; true when a total overflowed.
fn count(totals: &mut ClassTotals, octets: u64, packets: &[Hashed]) -> bool {
    let [first, ..] = packets else { return false };
    if totals.packets == 0 {
        totals.first = first.time;
    }
    totals.last = packets.last().unwrap_or(first).time;
    add(&mut totals.packets, packets.len() as u64) | add(&mut totals.octets, octets)
}

/// Adds to a 48-bit total; true when it overflowed.
fn add(total: &mut u64, amount: u64) -> bool {
    let sum = *total + amount;
    *total = sum & TOTAL_MASK;
    sum >> TOTAL_BITS != 0
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use crate::configuration::Settings;
    use crate::packet::classifier::Fields;
    use crate::packet::flow::FlowKey;
    use crate::packet::hash::HashKind;
    use crate::sketch::cell::Cell;
    use crate::sketch::lda::{Lda, Table};
    use crate::sketch::lds::{FlowCell, FlowHash, FlowPacket, Lds};
    use crate::sketch::synopsis::Synopsis;
    use crate::sketch::{flow_rows, flow_vector};
    use crate::wire::authentication::Keys;
    use crate::wire::frame::{Flags, Frame};
    use crate::wire::shape::Kind;
    use core::num::NonZeroU16;
    use std::vec;
    use std::vec::Vec;

    fn packet(number: u16) -> Vec<u8> {
        let mut frame = vec![0; 62];
        frame[12..18].copy_from_slice(&[8, 0, 0x45, 0, 0, 48]);
        frame[18..20].copy_from_slice(&number.to_be_bytes());
        frame[23] = 17;
        frame
    }

    fn collect(point: &mut MeasurementPoint, end: IntervalEnd) -> (Vec<Header>, Vec<Cell>) {
        let (mut headers, mut cells) = (vec![], vec![]);
        point.end_interval(end, |bytes| {
            let frame = Frame::decode(bytes).unwrap();
            headers.push(frame.header);
            cells.extend(frame.cells::<Cell>());
        });
        (headers, cells)
    }

    #[test]
    fn frames_carry_what_was_seen_and_intervals_start_from_zero() {
        let configuration = Configuration::new(Settings { rows: 256, ..Settings::default() }).unwrap();
        let mut point = MeasurementPoint::new(&configuration, Role::Sender);
        let hash = LinearHash::new(configuration.hash(), configuration.seed());
        for interval in 0..3u32 {
            let mut lda = Lda::new(&configuration.parameters());
            for number in 0..500 {
                let frame = packet(number);
                let time = Timestamp(u64::from(interval) << 60 | u64::from(number) << 20 | 3);
                point.observe(&frame, time);
                let place =
                    Placement::new(configuration.seed()).place(hash.hash(&identify(&frame).unwrap().key));
                let packet = Hashed { place, time, ..Hashed::default() };
                lda.add(0, &Sampler::new(*configuration.prefixes()), &[packet]);
            }
            point.observe(&[0; 60], Timestamp(9));
            point.observe_bad();
            if interval == 1 {
                point.refuse_interval_end();
                point.clock_unlocked();
            }
            let (headers, cells) = collect(&mut point, IntervalEnd::Delimiter);
            assert_eq!(cells, lda.cells());
            assert_eq!(headers.len(), 4);
            let expected = Totals {
                packets: 500,
                bytes: 500 * 48,
                first: Timestamp(u64::from(interval) << 60 | 3),
                last: Timestamp(u64::from(interval) << 60 | 499 << 20 | 3),
                time_sum: Some((0..500u64).map(|number| u64::from(interval) << 44 | number << 4).sum()),
                digest_sum: None,
                unmeasured: 1,
                bad: 1,
                refused_ends: u16::from(interval == 1),
                ignored_delimiters: 0,
                flags: Flags { overrun: interval == 1, clock: interval == 1, ..Flags::default() },
            };
            assert!(headers.iter().all(|header| header.totals == expected && header.interval == interval));
        }
    }

    #[test]
    fn a_batch_is_its_frames_one_by_one() {
        let entry = Fields { version: Some(4), ..Fields::default() }.entry(0).unwrap();
        let frames: Vec<(Vec<u8>, Timestamp)> = (0..2000u16)
            .map(|number| {
                let mut frame = packet(number);
                frame[37] = (number % 7) as u8;
                // Runs of one protocol, and runs of several, with ports and without, with later fragments.
                if number / 90 % 2 == 0 {
                    frame[23] = [17, 6, 1][usize::from(number) % 3];
                    frame[21] = u8::from(number % 11 == 0);
                }
                // Between frames of other kinds, ever longer runs of plain ones.
                match (number % (1 + number / 50), number % 3) {
                    (0, 0) => frame.truncate(50),
                    (0, 1) => frame[12] = 0,
                    (0, _) => drop(frame.splice(12..12, [0x81, 0, 0, 1])),
                    _ => {}
                }
                (frame, Timestamp(u64::from(number) << 20 | 3))
            })
            .collect();
        let base = Settings { rows: 8, prefixes: &[0, 2], ..Settings::default() };
        for settings in [
            base,
            Settings { digest: true, ..base },
            Settings { entries: &[entry], ..base },
            Settings { synopsis: Kind::FLOW_ROWS, prefixes: &[1], ..base },
            Settings { synopsis: Kind::FLOW_ROWS, prefixes: &[0], hash: HashKind::Rabin, ..base },
            Settings { synopsis: Kind::FLOW_VECTOR, rows: 128, prefixes: &[1], ..base },
        ] {
            let configuration = Configuration::new(settings).unwrap();
            let [mut point, mut batches] =
                [(); 2].map(|()| MeasurementPoint::new(&configuration, Role::Sender));
            let mut left = &frames[..];
            for length in (0..100).cycle() {
                let (batch, rest) = left.split_at(length.min(left.len()));
                left = rest;
                batch.iter().for_each(|(frame, time)| point.observe(frame, *time));
                batches.observe_batch(batch.iter().map(|(frame, time)| (&frame[..], *time)));
                let [expected, found] =
                    [&mut point, &mut batches].map(|point| collect(point, IntervalEnd::Delimiter));
                assert_eq!(found, expected, "{length} frames");
                if left.is_empty() {
                    break;
                }
            }
            assert_eq!(batches.truncated(), point.truncated());
            assert!(point.truncated() > 0);
        }
    }

    #[test]
    fn cells_of_flows_are_those_of_five_tuples() {
        let base = Settings { synopsis: Kind::FLOW_ROWS, rows: 32, seed: 9, ..Settings::default() };
        let configuration = Configuration::new(Settings { prefixes: &[0], ..base }).unwrap();
        let mut point = MeasurementPoint::new(&configuration, Role::Sender);
        let parameters = flow_rows::parameters(32, configuration.prefixes(), 9);
        let (mut lds, hash) = (Lds::new(parameters).unwrap(), FlowHash::new(configuration.hash(), 9));
        let base = Settings { synopsis: Kind::FLOW_VECTOR, rows: 128, ..base };
        let configuration = Configuration::new(Settings { prefixes: &[0], ..base }).unwrap();
        let mut vector_point = MeasurementPoint::new(&configuration, Role::Sender);
        let (subvectors, placement) = (flow_vector::subvectors(128, 9), Placement::new(9));
        let mut vector = vec![Cell::default(); 128];
        for number in 0..3000u16 {
            let mut frame = packet(number);
            // Flows of all sizes, told apart by ports and by the protocol, which has some or not.
            frame[34..38].copy_from_slice(&(u32::from(number) % (1 + u32::from(number) / 20)).to_be_bytes());
            frame[23] = [17, 6, 1][usize::from(number) % 3];
            let (key, time) = (identify(&frame).unwrap().key, Timestamp(u64::from(number) << 20));
            point.observe(&frame, time);
            vector_point.observe(&frame, time);
            let (flow, packet) = (hash.flow(&FlowKey::of(&key)), hash.packet(&key));
            let nanoseconds = time.nanoseconds();
            lds.add(&FlowPacket { flow, packet, nanoseconds, octets: 0, weight: 1 });
            let j = placement.place(packet) >> 10 & 63;
            vector[subvectors.counter(flow, j as usize)].add(nanoseconds);
        }
        assert_eq!(vector_point.cells::<Cell>(), vector);
        let expected = lds.cells().iter();
        let expected = expected.map(|&FlowCell { sum, count, digest }| Cell { count, sum, digest });
        assert_eq!(point.cells::<Cell>(), expected.collect::<Vec<_>>());
    }

    /// Two classes by the protocol's lowest bit; in each, packets that are neither.
    #[test]
    fn each_class_reports_as_a_segment_of_its_own() {
        let entry = |class, protocol: u8| {
            Fields { version: Some(4), protocol: Some(protocol), ..Fields::default() }.entry(class).unwrap()
        };
        let entries = [entry(0, 17), entry(1, 6), entry(1, 132)];
        let base = Settings { rows: 256, segment: 40, ..Settings::default() };
        let configuration = Configuration::new(Settings { entries: &entries, ..base }).unwrap();
        let mut point = MeasurementPoint::new(&configuration, Role::Sender);
        let alone = |segment| Configuration::new(Settings { segment, ..base }).unwrap();
        let mut alone = [40, 41].map(|segment| MeasurementPoint::new(&alone(segment), Role::Sender));
        for interval in 0..2 {
            let mut unmatched = 0;
            for number in 0..900u16 {
                let mut frame = packet(number);
                frame[23] = [17, 6, 1, 132, 17][usize::from(number) % 5];
                let time = Timestamp(u64::from(number) << 20 | interval);
                point.observe(&frame, time);
                match frame[23] {
                    17 => alone[0].observe(&frame, time),
                    1 => {
                        unmatched += 1;
                        alone.iter_mut().for_each(|point| point.observe(&[0; 60], time));
                    }
                    _ => alone[1].observe(&frame, time),
                }
            }
            assert_eq!((point.packets(), point.unmatched()), (720, unmatched));
            point.observe(&[0; 60], Timestamp(9));
            alone.iter_mut().for_each(|point| point.observe(&[0; 60], Timestamp(9)));
            point.refuse_interval_end();
            alone.iter_mut().for_each(|point| point.refuse_interval_end());
            let (headers, cells) = collect(&mut point, IntervalEnd::Request);
            let [mut first, second] = alone.each_mut().map(|point| collect(point, IntervalEnd::Request));
            first.0.extend(second.0);
            first.1.extend(second.1);
            // The identifier is that of the configuration with its entries.
            first.0.iter_mut().for_each(|header| header.configuration = configuration.id());
            assert_eq!((headers, cells), first);
        }
        assert_eq!(point.unmatched(), 0);
    }

    #[test]
    fn both_neighbours_of_a_timed_end_say_so() {
        let configuration = Configuration::new(Settings { rows: 8, ..Settings::default() }).unwrap();
        let mut point = MeasurementPoint::new(&configuration, Role::Sender);
        let ends =
            [IntervalEnd::Delimiter, IntervalEnd::Request, IntervalEnd::Delimiter, IntervalEnd::Delimiter];
        let timed = ends.map(|end| collect(&mut point, end).0[0].totals.flags.timed);
        assert_eq!(timed, [false, true, true, false]);
    }

    #[test]
    fn the_first_interval_has_a_gap_unless_its_start_is_known() {
        let configuration = Configuration::new(Settings { rows: 8, ..Settings::default() }).unwrap();
        for (end, gaps) in [(IntervalEnd::Request, [true, false]), (IntervalEnd::Delimiter, [false, false])] {
            let mut point = MeasurementPoint::new(&configuration, Role::Sender);
            let found = [end; 2].map(|end| collect(&mut point, end).0[0].totals.flags.gap);
            assert_eq!(found, gaps);
        }
    }

    fn adaptive() -> MeasurementPoint {
        let settings = Settings { rows: 8, adaptive: true, ..Settings::default() };
        MeasurementPoint::new(&Configuration::new(settings).unwrap(), Role::Sender)
    }

    fn lengths(point: &mut MeasurementPoint) -> Vec<u8> {
        let shape = collect(point, IntervalEnd::Delimiter).0[0].shape;
        Table::read(&shape).unwrap().prefixes.lengths().to_vec()
    }

    #[test]
    fn scheduled_lengths_take_effect_at_the_boundary_before_their_interval() {
        let mut point = adaptive();
        point.schedule_prefixes(Prefixes::new(&[0, 3]).unwrap(), 2).unwrap();
        let found: Vec<Vec<u8>> = (0..4).map(|_| lengths(&mut point)).collect();
        assert_eq!(found, [[1, 6], [1, 6], [0, 3], [0, 3]]);
        // The running interval is never changed, and what is late takes effect at once behind it.
        point.schedule_prefixes(Prefixes::new(&[2, 16]).unwrap(), 1).unwrap();
        assert_eq!((lengths(&mut point), lengths(&mut point)), (vec![0, 3], vec![2, 16]));
        assert_eq!(point.scheduled(), None);
        // The latest schedule replaces what has not taken effect.
        point.schedule_prefixes(Prefixes::new(&[0, 1]).unwrap(), 7).unwrap();
        point.schedule_prefixes(Prefixes::new(&[4, 5]).unwrap(), 8).unwrap();
        let found: Vec<Vec<u8>> = (6..9).map(|_| lengths(&mut point)).collect();
        assert_eq!(found, [[2, 16], [2, 16], [4, 5]]);
    }

    #[test]
    fn packets_are_sampled_with_their_own_intervals_lengths() {
        let mut point = adaptive();
        point.schedule_prefixes(Prefixes::new(&[0, 1]).unwrap(), 1).unwrap();
        let hash = LinearHash::new(point.configuration().hash(), point.configuration().seed());
        let placement = Placement::new(point.configuration().seed());
        for _ in 0..3 {
            let prefixes = *point.prefixes();
            let mut expected = [0u32; 2];
            for number in 0..400 {
                let frame = packet(number);
                point.observe(&frame, Timestamp(1 << 16));
                if let Some(bank) = prefixes.bank(placement.place(hash.hash(&identify(&frame).unwrap().key)))
                {
                    expected[bank] += 1;
                }
            }
            let (headers, cells) = collect(&mut point, IntervalEnd::Delimiter);
            assert!(headers.iter().all(|header| Table::read(&header.shape).unwrap().prefixes == prefixes));
            let found = [0, 8].map(|row| cells[row..row + 8].iter().map(|cell| cell.count).sum::<u32>());
            assert_eq!(found, expected);
        }
        assert_eq!(point.prefixes().lengths(), [0, 1]);
    }

    #[test]
    fn numbers_wrap_and_delimiters_jump() {
        for (delimiter, from, takes) in [
            (u32::MAX, 0, true),
            (u32::MAX - 1, 0, false),
            (u32::MAX, u32::MAX, true),
            (4, 5, true),
            (3, 5, false),
            (900, 5, true),
            (0x8000_0003, 5, true),
            (0x8000_0004, 5, false),
        ] {
            let mut point = adaptive();
            point.schedule_prefixes(Prefixes::new(&[0, 3]).unwrap(), from).unwrap();
            point.end_interval_at(delimiter, |_| {});
            assert_eq!(point.prefixes().lengths() == [0, 3], takes, "{delimiter} {from}");
        }
    }

    /// The key that each control frame names, if its tag is right.
    fn signers(point: &mut MeasurementPoint, keys: &Keys) -> Vec<u16> {
        let mut signers = vec![];
        point.end_interval(IntervalEnd::Delimiter, |bytes| {
            assert_eq!(keys.check(bytes), Ok(()));
            let header = Frame::decode(bytes).unwrap().header;
            assert_eq!(header.boot_epoch, 44);
            signers.push(header.key);
        });
        signers
    }

    fn key(id: u16) -> Key {
        Key::new(NonZeroU16::new(id).unwrap(), [id as u8; 16])
    }

    #[test]
    fn keys_take_effect_at_the_boundary_before_their_interval() {
        let mut keys = Keys::default();
        assert!(keys.add(key(1)) && keys.add(key(2)));
        let mut point = adaptive();
        point.set_boot_epoch(44);
        point.set_key(Some(key(1)));
        point.schedule_key(Some(key(2)), 3);
        let signed: Vec<Vec<u16>> = (0..4).map(|_| signers(&mut point, &keys)).collect();
        assert_eq!(signed, [[1, 1], [1, 1], [2, 2], [2, 2]]);
        point.schedule_key(None, 0);
        let (headers, _) = collect(&mut point, IntervalEnd::Delimiter);
        assert!(headers.iter().all(|header| header.key == 0));
    }

    #[test]
    fn delimiters_that_are_not_next_are_counted_in_their_interval() {
        for keyed in [false, true] {
            let mut point = adaptive();
            let delimiter = |number, key: Option<u16>| {
                let delimiter = Delimiter { boot_epoch: 3, ..Delimiter::new(point.configuration(), number) };
                key.map_or(delimiter.encode(), |id| delimiter.signed(&self::key(id)))
            };
            let (wrong, ours) = if keyed { (Some(2), Some(1)) } else { (None, None) };
            let far = delimiter(1 << 20, wrong);
            let all = [0, 1, 2].map(|number| delimiter(number, ours));
            point.set_key(keyed.then(|| key(1)));
            // With a key, the first one of a later start is ignored, and the second begins with a gap.
            assert_eq!(point.observe_delimiter(&all[0], |_| {}), !keyed);
            assert!(!point.observe_delimiter(&far[..63], |_| {}), "too short, and not counted");
            let mut found = vec![];
            for frame in [&all[0], &all[1], &far, &all[1], &all[2]] {
                point.observe_delimiter(frame, |bytes| {
                    let header = Frame::decode(bytes).unwrap().header;
                    found.push((header.interval, header.totals.ignored_delimiters, header.totals.flags.gap));
                });
            }
            found.dedup();
            assert_eq!(found, [(1, if keyed { 2 } else { 1 }, keyed), (2, 2, false)], "{keyed}");
        }
    }

    /// Both ends change at the delimiter of the interval that the key is scheduled from, whichever are lost before it.
    #[test]
    fn lost_delimiters_do_not_keep_a_key_from_changing() {
        for lost in [0..0, 4..5, 3..5, 3..6, 5..8] {
            let mut point = adaptive();
            point.set_key(Some(key(1)));
            point.schedule_key(Some(key(2)), 5);
            let configuration = *point.configuration();
            let mut ended = vec![];
            for number in (0..12).filter(|number| !lost.contains(number)) {
                // The genuine one, and a copy under the other key behind it.
                let ids = if number < 5 { [1, 2] } else { [2, 1] };
                for id in ids {
                    let frame = Delimiter::new(&configuration, number).signed(&key(id));
                    if point.observe_delimiter(&frame, |_| {}) {
                        assert_eq!(id, ids[0], "{number}");
                        ended.push(number);
                    }
                }
            }
            // The first behind a loss is the candidate.
            let expected =
                (0..12).filter(|number| !(lost.contains(number) || !lost.is_empty() && *number == lost.end));
            assert_eq!(ended, expected.collect::<Vec<u32>>(), "{lost:?}");
        }
    }

    #[test]
    fn behind_a_refused_delimiter_its_successor_is_due() {
        let mut point = adaptive();
        let configuration = *point.configuration();
        let delimiter = |number| Delimiter::new(&configuration, number).encode();
        assert!(point.observe_delimiter(&delimiter(4), |_| {}));
        assert!(!point.refuse_delimiter(&delimiter(9)), "not the next one");
        assert!(point.refuse_delimiter(&delimiter(5)) && point.refuse_delimiter(&delimiter(6)));
        assert!(!point.observe_delimiter(&delimiter(6), |_| {}), "a copy");
        let mut found = vec![];
        assert!(point.observe_delimiter(&delimiter(7), |bytes| {
            let Header { interval, totals, .. } = Frame::decode(bytes).unwrap().header;
            found.push((interval, totals.refused_ends, totals.ignored_delimiters, totals.flags.gap));
        }));
        assert_eq!(found, [(7, 2, 2, true); 2]);
        // A request takes the candidate away: its successor does not end an interval whose number was there before.
        assert!(!point.observe_delimiter(&delimiter(9), |_| {}));
        for _ in 8..12 {
            point.end_interval(IntervalEnd::Request, |_| {});
        }
        assert!(!point.observe_delimiter(&delimiter(10), |_| {}));
    }

    #[test]
    fn mixings_place_the_packets_of_their_intervals() {
        let settings = Settings { rows: 8, mixing: true, ..Settings::default() };
        let configuration = Configuration::new(settings).unwrap();
        let mut point = MeasurementPoint::new(&configuration, Role::Sender);
        let hash = LinearHash::new(configuration.hash(), configuration.seed());
        let (own, other) = (Mixing::own(configuration.seed()), Mixing::new(&[7; 16]));
        point.schedule_mixing(Mixing::new(&[6; 16]), 1).unwrap();
        // The latest counts; one that is late takes effect at once behind the running interval; zero is the own one.
        point.schedule_mixing(other, 2).unwrap();
        for (interval, mixing) in [own, own, other, other, own, own].into_iter().enumerate() {
            if interval == 3 {
                point.schedule_mixing(Mixing::from_parts(1, 2, 0), 1).unwrap();
            }
            let (placement, prefixes) = (Placement::mixed(configuration.seed(), mixing), *point.prefixes());
            let mut expected = [0u32; 16];
            let packets: Vec<Vec<u8>> = (0..400).map(packet).collect();
            for frame in &packets {
                let place = placement.place(hash.hash(&identify(frame).unwrap().key));
                if let Some(bank) = prefixes.bank(place) {
                    expected[bank * 8 + place as usize % 8] += 1;
                }
            }
            point.observe_batch(packets.iter().map(|frame| (&frame[..], Timestamp(1 << 16))));
            assert_eq!(point.mixing(), Some(&mixing));
            let (headers, cells) = collect(&mut point, IntervalEnd::Delimiter);
            assert!(headers.iter().all(|header| header.mixing == mixing.id()), "{interval}");
            assert_eq!(cells.iter().map(|cell| cell.count).collect::<Vec<u32>>(), expected, "{interval}");
        }
        assert_eq!(point.scheduled_mixing(), None);
        let refused = adaptive().schedule_mixing(other, 0);
        assert_eq!(refused, Err(NoMixing));
        assert!(std::format!("{NoMixing}").contains("set `mixing`"));
    }

    #[test]
    fn schedules_that_are_refused_change_nothing() {
        let mut point = adaptive();
        let one = Prefixes::new(&[1]).unwrap();
        let refused = point.schedule_prefixes(one, 0);
        assert_eq!(refused, Err(ScheduleError::Banks { given: 1, banks: 2 }));
        let configuration = Configuration::new(Settings { prefixes: &[1], ..Settings::default() }).unwrap();
        let mut fixed = MeasurementPoint::new(&configuration, Role::Sender);
        assert_eq!(fixed.schedule_prefixes(one, 0), Err(ScheduleError::Fixed));
        assert_eq!((point.scheduled(), fixed.scheduled()), (None, None));
    }

    #[test]
    fn totals_tell_their_overflow() {
        let mut total = (1 << 48) - 2;
        assert!(!add(&mut total, 1));
        assert!(add(&mut total, 3));
        assert_eq!(total, 2);
    }
}
