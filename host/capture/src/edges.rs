//! Edges: where two recordings of the same traffic begin and end together.
//!
//! Two recorders that were started one after the other have seen different packets at both edges. What only one has seen
//! there is no loss, and nothing else tells it from loss: a row that is short of ten thousand packets is of no use. Times decide:
//!
//! * A recorder ran from its first record to its last, of whatever kind: packets that are not measured count, too, and so do those that a
//!   filter passes over ([`Identities::recorder_ran`]).
//! * What one end recorded outside the other recorder's time is left out, as the other one cannot have it. A packet that the other end
//!   has as well is not, as the last ones of a recording may be later than all others, and stamps may be wrong; but of one that repeats byte for byte,
//!   copies for which the other end has none at their time are other ones, from before its recorder began or from after it ended: all of them, if packets that
//!   do not repeat show that it did not run then, or else as many as the other end lacks.
//! * What one end recorded while the other recorder ran, and the other one lacks, was lost, or came in. So an outage up to the
//!   end of the recordings is loss, if the receiver has recorded anything after it; and it is left out, with a message, if nothing shows that
//!   the receiver's recorder ran on.
//!
//! The clocks may be apart by anything: a packet is looked for at the other end at its own time and the delays of the packets that both have near
//! this edge. What one end alone has is left out if even one of these delays puts it outside of the other recorder's time: packets overtake each
//! other, and one that was under way when a recorder began or stopped is not lost. Delays that stray from all others near the edge are those of wrong
//! stamps, and what delays are far from the edge says little of it, as clocks may have been set in between. Packets that may have been lost as well, by any
//! of these delays, are told ([`Edges::doubtful`]): the number of packets lost may be off by so many.
//!
//! Packets are compared by a 64-bit hash of their keys. Packets of both are those whose key occurs once at each end; where most
//! repeat, as at mirror ports that give every packet twice, they are those whose key occurs up to four times, as often at one end as at the other, the
//! k-th of a key being the k-th at the other end, without delays that stray from nine in ten. Of long
//! recordings only one packet in 2^k is compared at first; those outside the first and the last of these are then looked up in the whole other
//! recording.
//!
//! # Test plan
//!
//! Recordings of one stream, cut anywhere at either end and at both, short and long, in order and reordered, with loss, an outage as long as
//! anything that is cut, repeated keys, every packet twice, clocks apart, stamps that are wrong by less than a second, clocks that are set: what is left out is what the other recorder cannot have. Outages at the
//! edges with other packets behind them and without. Packets that overtake each other by far, both recorders begun and stopped at once, one after the other:
//! nothing is lost and nothing gained. Recorders that stand still, and wrong stamps that look like it. Recordings that have nothing in common, or a corner. Intervals of
//! measurements: `host/cli/tests/cuts.rs`.

mod expected;

use crate::Capture;
use crate::maps::{HashMap, HashSet};
use crate::matching::{Observations, delay_between};
use crate::replay::Span;
use deltaline_model::packet::identity::{self, Key};
use expected::{AtEdge, Passage, Shift};
use std::collections::TryReserveError;
use std::ops::Range;
use xxhash_rust::xxh3::xxh3_64;

/// The measured packets of a recording, and when its first and its last packet of any kind were recorded.
#[derive(Clone, Debug, Default)]
pub struct Identities {
    measured: Vec<Measured>,
    /// All packets.
    count: usize,
    /// When the first and the last one were recorded, in nanoseconds since the Unix epoch.
    ran: Option<[u64; 2]>,
    /// The longest time without any record.
    silence: Option<[u64; 2]>,
}

#[derive(Clone, Copy, Debug)]
struct Measured {
    /// Its place among all packets.
    place: usize,
    time: u64,
    hash: u64,
}

/// A measured packet.
#[derive(Clone, Copy, Debug)]
pub struct Identified {
    pub(crate) key: Key,
    pub(crate) hash: u64,
}

impl Identities {
    /// Appends a packet: `time` in nanoseconds since the Unix epoch, `frame` from its destination MAC address on. Gives who it is,
    /// unless it is not measured.
    ///
    /// # Errors
    ///
    /// There is no memory for it.
    pub fn push(&mut self, time: u64, frame: &[u8]) -> Result<Option<Identified>, TryReserveError> {
        self.measured.try_reserve(1)?;
        let key = identity::identify(frame).ok().map(|identity| identity.key);
        let packet = key.map(|key| Identified { key, hash: hash(&key) });
        self.add(time, packet.map(|packet| packet.hash));
        Ok(packet)
    }

    fn add(&mut self, time: u64, hash: Option<u64>) {
        let place = self.count;
        self.measured.extend(hash.map(|hash| Measured { place, time, hash }));
        self.count += 1;
        self.ran = Some([self.ran.map_or(time, |[first, _]| first), time]);
    }

    /// Takes over when the recorder wrote its first record and its last one, where it has recorded more than these packets, and its longest silence.
    pub fn recorder_ran(&mut self, capture: &Capture) {
        self.ran = capture.ran().or(self.ran);
        self.silence = capture.silence();
    }

    /// Whether no packet is measured.
    pub fn is_empty(&self) -> bool {
        self.measured.is_empty()
    }

    /// The hashes of the measured packets, in order.
    pub(crate) fn hashes(&self) -> impl Iterator<Item = u64> {
        self.measured.iter().map(|packet| packet.hash)
    }
}

impl Identities {
    /// The measured packets, in order: place among all packets, time and hash.
    pub(crate) fn packets(&self) -> impl Iterator<Item = (usize, u64, u64)> {
        self.measured.iter().map(|packet| (packet.place, packet.time, packet.hash))
    }
}

impl From<&Observations> for Identities {
    fn from(observations: &Observations) -> Self {
        let mut identities = Identities::default();
        let packets = observations.timestamps().zip(observations.keys());
        packets.for_each(|(time, key)| identities.add(time, key.as_ref().map(hash)));
        identities
    }
}

fn hash(key: &Key) -> u64 {
    xxh3_64(&key.to_bytes())
}

/// Where two recordings begin and end together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edges {
    /// The packets between the edges.
    pub span: Span,
    /// Measured packets that are left out at the sender: in front and behind.
    pub sender: [usize; 2],
    /// Measured packets that are left out at the receiver: in front and behind.
    pub receiver: [usize; 2],
    /// Places within the span of packets that are left out as well, in order, of the sender and of the receiver: those that may have been under way when
    /// the other recorder began or stopped.
    pub under_way: [Vec<usize>; 2],
    /// When the sender sent packets that the receiver lacks, and that may have been lost or under way when a recorder began or stopped, in
    /// nanoseconds since the Unix epoch; some are left out, the others count as lost.
    pub doubtful: Vec<u64>,
    /// Which copies of packets that repeat lie outside is a guess: in front and behind.
    pub guessed: [Guessed; 2],
    /// All measured packets of the sender and of the receiver.
    pub measured: [usize; 2],
    /// Whether the sender's recorder, and the receiver's, may have stood still.
    pub still: [Option<Still>; 2],
}

/// Copies of packets that repeat, near an edge, of which the other end has others: they come so close one behind the other that which of them
/// are outside of its recorder's time is a guess.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Guessed {
    /// How many.
    pub packets: u64,
    /// By how many nanoseconds the sum of all delays may be off for it.
    pub nanoseconds: u64,
}

/// A time without a record of any kind, in which the other recorder went on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Still {
    /// How long it was.
    pub nanoseconds: u64,
    /// Measured packets of the other end in it, about.
    pub packets: usize,
}

/// Nanoseconds without a record from which on a recorder may have stood still.
pub const STILL: u64 = 1_000_000_000;
/// Packets that the other recorder has of that time, at least.
pub const MEANWHILE: usize = 100;

/// Packets of a recording that are compared at first, about.
const COMPARED: usize = 1 << 16;
/// Packets of both at an edge whose delays are taken, at most.
const OUTERMOST: usize = 1 << 14;

/// Packets of one key at an end, at most, whose order is relied on where no key occurs once.
const MOST_ALIKE: u32 = 4;

/// The edges of two recordings, if they have a packet in common, and most of one of them is between them.
pub fn edges(sender: &Identities, receiver: &Identities) -> Option<Edges> {
    let most = sender.measured.len().max(receiver.measured.len());
    let mask = if most <= 4 * COMPARED { 0 } else { (most / COMPARED).next_power_of_two() as u64 - 1 };
    let ends = [sender, receiver];
    let is_compared = |hash: u64| hash & mask == 0;
    let (mut most_alike, mut common) = (1, common(ends, 1, is_compared));
    // Where most packets repeat, those that do not may be of two that do, one at either edge.
    let repeated = self::common(ends, MOST_ALIKE, is_compared);
    if 2 * common.len() < repeated.len() {
        (most_alike, common) = (MOST_ALIKE, repeated);
    }
    if common.is_empty() {
        return None;
    }
    if mask > 0 {
        // Outside the first compared packet of both and the last there may be more that were not compared.
        let outer = outer(ends, &common)?;
        common.extend(self::common(ends, most_alike, |hash| outer.contains(&hash)));
    }
    let still = [0, 1].map(|end| still(ends, end, &common));
    let [sent, received] = [0, 1].map(|end| outside(ends, end, &mut common, most_alike > 1));
    let LeftOut { places, doubtful, guessed } = LeftOut::of(ends, &[sent?, received?], most_alike > 1);
    let [sent, received] = [0, 1].map(|end| kept(ends[end], &places[end]));
    // Two recordings that have but a corner in common are not of the same traffic.
    let keeps_most =
        |kept: &Kept| 2 * (kept.left_out.iter().sum::<usize>() + kept.under_way.len()) < kept.measured;
    (keeps_most(&sent) || keeps_most(&received)).then_some(Edges {
        span: Span { sender: sent.packets, receiver: received.packets },
        sender: sent.left_out,
        receiver: received.left_out,
        under_way: [sent.under_way, received.under_way],
        doubtful,
        guessed,
        measured: [sent.measured, received.measured],
        still,
    })
}

/// Whether an end's recorder may have stood still, by the packets that both have.
fn still(ends: [&Identities; 2], end: usize, common: &[Places]) -> Option<Still> {
    let [own, other] = [ends[end], ends[1 - end]];
    let [from, to] = own.silence.filter(|[from, to]| to - from >= STILL)?;
    let time = |places: &Places, end: usize| ends[end].measured[places[end]].time;
    let mut shifts: Vec<i64> =
        common.iter().map(|places| delay_between(time(places, end), time(places, 1 - end))).collect();
    let middle = shifts.len() / 2;
    let (_, &mut shift, _) = shifts.select_nth_unstable(middle);
    let between = |end: &Identities, shift: i64| {
        let [from, to] = [from, to].map(|time| i128::from(time) + i128::from(shift));
        end.measured.iter().filter(|packet| (from + 1..to).contains(&packet.time.into())).count()
    };
    // What has packets from before or behind in it is a wrong stamp's.
    let packets = if between(own, 0) == 0 { between(other, shift) } else { 0 };
    (packets >= MEANWHILE).then_some(Still { nanoseconds: to - from, packets })
}

/// The places among the measured packets of both ends of a packet that both have.
type Places = [usize; 2];

/// The packets of both, of keys that occur at most `most` times at each end, and as often at one as at the other: the k-th of a key is the k-th at
/// the other end.
fn common(ends: [&Identities; 2], most: u32, is_wanted: impl Fn(u64) -> bool) -> Vec<Places> {
    // How often each key occurs at each end, and where each packet is.
    let mut counts: HashMap<u64, [u32; 2]> = HashMap::default();
    let mut found: HashMap<(u64, u32), [Option<usize>; 2]> = HashMap::default();
    for (end, identities) in ends.into_iter().enumerate() {
        for (place, hash) in identities.hashes().enumerate().filter(|(_, hash)| is_wanted(*hash)) {
            let count = &mut counts.entry(hash).or_default()[end];
            if *count < most {
                found.entry((hash, *count)).or_default()[end] = Some(place);
            }
            *count = count.saturating_add(1);
        }
    }
    let is_even =
        |hash: u64| counts.get(&hash).is_some_and(|[sent, received]| sent == received && *sent <= most);
    let both = found.into_iter().filter(|((hash, _), _)| is_even(*hash));
    both.filter_map(|(_, [sent, received])| Some([sent?, received?])).collect()
}

/// The hashes of packets that an end has outside its first and its last one in `common`, and the other end anywhere.
fn outer(ends: [&Identities; 2], common: &[Places]) -> Option<HashSet<u64>> {
    let mut both = HashSet::default();
    for end in 0..2 {
        let places = common.iter().map(|places| places[end]);
        let (first, last) = (places.clone().min()?, places.max()?);
        let packets = &ends[end].measured;
        let hashes = packets[..first].iter().chain(&packets[last + 1..]).map(|packet| packet.hash).collect();
        both.extend(also_at(ends[1 - end], hashes));
    }
    Some(both)
}

/// Those of these hashes that an end has as well, each as often as it has it.
fn also_at(end: &Identities, hashes: HashSet<u64>) -> impl Iterator<Item = u64> {
    end.hashes().filter(move |hash| hashes.contains(hash))
}

/// What is kept of a recording.
struct Kept {
    packets: Range<usize>,
    /// Measured packets in front and behind.
    left_out: [usize; 2],
    /// Places of others in between that are left out.
    under_way: Vec<usize>,
    measured: usize,
}

/// What an end recorded while the other recorder may not have run.
struct Outside {
    packets: Vec<OutsidePacket>,
    /// When packets are expected at the other end.
    at_edges: [AtEdge; 2],
}

#[derive(Clone, Copy)]
struct OutsidePacket {
    /// Its place among the measured packets.
    place: usize,
    /// Whether the other recorder ran, or not.
    ran: Ran,
}

/// Whether a recorder ran when a packet is expected there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ran {
    /// It did, unless delays were as they are far from the edge.
    Probably,
    /// By some delays near the edge.
    Perhaps,
    /// By none of them.
    Never,
}

/// When the other end's recorder ran, by its outermost record and the passages at this edge, the outermost ones first. Of a delay that strays from those
/// near the edge one of two stamps is wrong: the packet came there by then, or when it should have come, and `innermost` of both is sure.
fn ran(
    record: u64,
    passages: impl Iterator<Item = Passage>,
    near: Shift,
    innermost: impl Fn(&Passage) -> i128,
) -> Vec<i128> {
    let (right, wrong): (Vec<Passage>, Vec<Passage>) =
        passages.take(OUTERMOST).partition(|passage| near.holds(passage));
    let there = |passage: &Passage| i128::from(passage.time) + passage.shift;
    let record = Some(i128::from(record)).filter(|record| wrong.iter().all(|each| there(each) != *record));
    right.iter().map(there).chain(wrong.iter().map(innermost)).chain(record).collect()
}

/// The packets of one end outside the other recorder's time, outermost ones first.
fn outside(ends: [&Identities; 2], end: usize, common: &mut [Places], repeat: bool) -> Option<Outside> {
    let [own, other] = [ends[end], ends[1 - end]];
    common.sort_unstable_by_key(|places| places[end]);
    // From this end to the other one.
    let time = |places: &Places, end: usize| ends[end].measured[places[end]].time;
    let passage = |places: &Places| {
        let [time, there] = [time(places, end), time(places, 1 - end)];
        Passage { time, shift: delay_between(time, there).into() }
    };
    let at_front = AtEdge::of(common.iter().map(passage), repeat)?;
    let at_back = AtEdge::of(common.iter().rev().map(passage), repeat)?;
    let [began, ended] = other.ran?;
    let latest = |Passage { time, shift }: &Passage| i128::from(*time) + (*shift).max(at_front.near.greatest);
    let earliest = |Passage { time, shift }: &Passage| i128::from(*time) + (*shift).min(at_back.near.least);
    let began = ran(began, common.iter().map(passage), at_front.near, latest).into_iter().min()?;
    let ended = ran(ended, common.iter().rev().map(passage), at_back.near, earliest).into_iter().max()?;
    let packet = |place: usize| {
        let time = i128::from(own.measured[place].time);
        let may_be = |front: Shift, back: Shift| time + front.least < began || time + back.greatest > ended;
        let is_certain = time + at_front.near.greatest < began || time + at_back.near.least > ended;
        let ran = match is_certain {
            true => Ran::Never,
            false if may_be(at_front.near, at_back.near) => Ran::Perhaps,
            false if may_be(at_front.far, at_back.far) => Ran::Probably,
            false => return None,
        };
        Some(OutsidePacket { place, ran })
    };
    let stop = own.measured.len();
    let inwards = (0..stop / 2).chain((stop / 2..stop).rev());
    Some(Outside { packets: inwards.filter_map(packet).collect(), at_edges: [at_front, at_back] })
}

/// The packets of a key, at the sender and at the receiver.
#[derive(Default)]
struct Copies {
    /// Their places among the measured packets.
    places: [Vec<usize>; 2],
    /// Those that have no packet of the other end at the time at which it is expected.
    alone: [HashSet<usize>; 2],
    /// How many of them are others than those of the other end, as far as it is known.
    others: [usize; 2],
    /// Whether two of an end come so close one behind the other that each can be the other end's.
    are_close: bool,
    /// Whether an end has one that is alone and outside the other recorder's time.
    is_outside: [bool; 2],
}

impl Copies {
    /// Finds those that are alone: in order of their times, each takes the first one of the other end that it can be.
    fn pair(&mut self, ends: [&Identities; 2], least: i128, greatest: i128) {
        let time = |end: usize, place: usize| i128::from(ends[end].measured[place].time);
        for (end, places) in self.places.iter_mut().enumerate() {
            places.sort_by_key(|place| time(end, *place));
            let gaps = places.windows(2).map(|pair| time(end, pair[1]) - time(end, pair[0]));
            self.are_close |= gaps.min().is_some_and(|gap| gap <= greatest - least);
        }
        let [mut sent, mut received] = self.places.each_ref().map(|places| places.iter().copied().peekable());
        while let (Some(&one), Some(&other)) = (sent.peek(), received.peek()) {
            let delay = time(1, other) - time(0, one);
            if delay >= least {
                sent.next();
            }
            if delay <= greatest {
                received.next();
            }
            if delay > greatest {
                self.alone[0].insert(one);
            } else if delay < least {
                self.alone[1].insert(other);
            }
        }
        self.alone[0].extend(sent);
        self.alone[1].extend(received);
    }

    /// Whether which of them are the other end's is a guess.
    fn are_guessed(&self) -> bool {
        self.are_close && self.alone.iter().any(|alone| !alone.is_empty())
    }

    /// Whether an end has more than the other one, without those that are known to be others.
    fn has_surplus(&self, end: usize) -> bool {
        let [own, other] = [end, 1 - end].map(|end| self.places[end].len() - self.others[end]);
        own > other
    }

    /// Whether those that both ends have alone, outside of the other recorder's time, are other ones, as no wrong stamp puts both there.
    fn are_apart(&self) -> bool {
        self.is_outside == [true; 2]
    }

    /// Whether the packet at this place, outside the other recorder's time, may be another one than those of the other end. One that comes once at
    /// each end is the same, held up for long or with a wrong stamp, unless most packets `repeat`.
    fn may_be_other(&self, end: usize, place: usize, repeat: bool) -> bool {
        (repeat || self.places.iter().any(|places| places.len() > 1)) && self.alone[end].contains(&place)
    }
}

/// Packets outside the other recorder's time that it cannot have, or may not have had time for.
struct LeftOut {
    /// Their places among the measured packets of each end.
    places: [HashSet<usize>; 2],
    /// When the sender sent those that may have been lost as well, left out or not.
    doubtful: Vec<u64>,
    /// What is a guess, in front and behind.
    guessed: [Guessed; 2],
}

impl LeftOut {
    /// What `outside` holds of it; whether most packets `repeat`.
    fn of(ends: [&Identities; 2], outside: &[Outside; 2], repeat: bool) -> Self {
        let hash = |end: usize, place: usize| ends[end].measured[place].hash;
        let expected = Shift::of_edges(outside[0].at_edges);
        let mut keys = copies(ends, outside, expected);
        // Of keys that one end alone has, which may be millions, nothing need be known.
        let alone = [0, 1].map(|end| {
            let packets = outside[end].packets.iter();
            packets.copied().filter(|packet| !keys.contains_key(&hash(end, packet.place))).collect::<Vec<_>>()
        });
        let mut places = alone.each_ref().map(|alone| {
            let left_out = alone.iter().filter(|packet| packet.ran != Ran::Probably);
            left_out.map(|packet| packet.place).collect::<HashSet<usize>>()
        });
        // In front and behind: whether packets that do not repeat show that the other recorder did not run; where most repeat, it is taken for granted.
        let is_behind = |end: usize, packet: &OutsidePacket| packet.place >= ends[end].measured.len() / 2;
        let is_shown = [0, 1].map(|end| {
            [false, true].map(|behind| {
                let mut certain = alone[end].iter().filter(|packet| packet.ran == Ran::Never);
                repeat || certain.any(|packet| is_behind(end, packet) == behind)
            })
        });
        let packets = || {
            [0, 1].into_iter().flat_map(|end| outside[end].packets.iter().map(move |packet| (end, packet)))
        };
        let (known, unknown): (Vec<_>, Vec<_>) = packets()
            .filter(|(_, packet)| packet.ran != Ran::Probably)
            .partition(|(end, packet)| is_shown[*end][usize::from(is_behind(*end, packet))]);
        let turns =
            known.into_iter().map(|each| (true, each)).chain(unknown.into_iter().map(|each| (false, each)));
        let mut uncertain = HashSet::default();
        for (is_known, (end, packet)) in turns {
            let Some(copies) = keys.get_mut(&hash(end, packet.place)) else { continue };
            if !copies.may_be_other(end, packet.place, repeat) {
                continue;
            }
            if is_known || copies.are_apart() || copies.has_surplus(end) {
                copies.others[end] += 1;
                places[end].insert(packet.place);
            } else {
                uncertain.insert((end, packet.place));
            }
        }
        let sent_at = |end: usize, place: usize| {
            let time = i128::from(ends[end].measured[place].time);
            let sent = if end == 0 { time } else { time - expected.greatest };
            u64::try_from(sent).unwrap_or(0)
        };
        let mut guessed = [Guessed::default(); 2];
        let mut doubtful = vec![];
        for (end, packet) in packets() {
            let is_uncertain = uncertain.contains(&(end, packet.place));
            if packet.ran == Ran::Never && !is_uncertain {
                continue;
            }
            let key = keys.get(&hash(end, packet.place));
            let is_guessed = packet.ran == Ran::Perhaps && key.is_some_and(Copies::are_guessed);
            if is_guessed {
                let guessed = &mut guessed[usize::from(is_behind(end, packet))];
                guessed.packets += 1;
                guessed.nanoseconds = guessed.nanoseconds.saturating_add(expected.width() as u64);
            }
            let is_alone = end == 0 && (key.is_none() || places[0].contains(&packet.place));
            if is_guessed || is_alone || is_uncertain {
                doubtful.push(sent_at(end, packet.place));
            }
        }
        LeftOut { places, doubtful, guessed }
    }
}

/// The packets of each key that one end has outside the other recorder's time, and the other end anywhere; and which of them are alone.
fn copies(ends: [&Identities; 2], outside: &[Outside; 2], expected: Shift) -> HashMap<u64, Copies> {
    let mut keys: HashMap<u64, Copies> = HashMap::default();
    for end in 0..2 {
        let packets = outside[end].packets.iter();
        let hashes = packets.map(|packet| ends[end].measured[packet.place].hash).collect();
        keys.extend(also_at(ends[1 - end], hashes).map(|hash| (hash, Copies::default())));
    }
    for (end, identities) in ends.into_iter().enumerate() {
        for (place, hash) in identities.hashes().enumerate() {
            if let Some(copies) = keys.get_mut(&hash) {
                copies.places[end].push(place);
            }
        }
    }
    for copies in keys.values_mut() {
        copies.pair(ends, expected.least, expected.greatest);
    }
    for end in 0..2 {
        for packet in outside[end].packets.iter().filter(|packet| packet.ran != Ran::Probably) {
            let copies = keys.get_mut(&ends[end].measured[packet.place].hash);
            if let Some(copies) = copies.filter(|copies| copies.alone[end].contains(&packet.place)) {
                copies.is_outside[end] = true;
            }
        }
    }
    keys
}

/// What is kept of one end, without those left out.
fn kept(own: &Identities, left_out: &HashSet<usize>) -> Kept {
    let places = 0..own.measured.len();
    let in_front = places.clone().take_while(|place| left_out.contains(place)).count();
    let behind = (in_front..places.end).rev().take_while(|place| left_out.contains(place)).count();
    let stop = places.end - behind;
    Kept {
        packets: in_front.checked_sub(1).map_or(0, |last| own.measured[last].place + 1)
            ..own.measured.get(stop).map_or(own.count, |first| first.place),
        left_out: [in_front, behind],
        under_way: (in_front..stop)
            .filter(|place| left_out.contains(place))
            .map(|place| own.measured[place].place)
            .collect(),
        measured: places.end,
    }
}

#[cfg(test)]
mod tests;
