//! The sender's end: it asks, and evaluates interval by interval.

use super::alike::{Alike, Delays};
use super::answering::{RELEASE, halves, name, to_symbols};
use super::channel::{Channel, Said, What};
use super::intervals::{Intervals, Recorded};
use super::judging::{Known, beyond, may_have_arrived};
use super::overdue::{Alone, Overdue};
use super::{About, Costs, ExchangeError, Recording, Terms, processor_time, table};
use crate::collector::{Collector, Limits};
use crate::delays::{SAMPLE, sample};
use crate::evaluation::{Evaluation, Unusable, sums};
use crate::pair::Interval;
use crate::report::unit;
use crate::verdict::{self, Doubt, Void};
use deltaline_estimate::difference::{MOST_SYMBOLS, Symbol, Symbols, bound, by_counts, more_than, rows_for};
use deltaline_estimate::{Difference, Estimate, Further, Method, Reason, Rounding};
use deltaline_model::sketch::digest;
use deltaline_model::sketch::identity_table::IdentityCell;
use deltaline_model::sketch::packet_cache::{PacketCache, Sieve};
use deltaline_model::sketch::packet_id::PacketId;
use deltaline_model::sketch::synopsis::Hashed;
use deltaline_model::time::Timestamp;
use deltaline_model::wire::authentication::Key;
use deltaline_model::wire::frame::Role;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{Read, Write};
use std::ops::Range;
use std::time::{Duration, Instant};

/// What came of asking.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The intervals that were whole at both ends.
    pub evaluations: Vec<Evaluation>,
    /// When the sender saw each one's first packet and last, in nanoseconds modulo 2^48, is in them; this is their number of all, from the epoch on.
    pub numbers: Vec<u64>,
    /// How long each took.
    pub spent: Vec<Spent>,
    /// The longest time in which the sender, and the receiver, saw no packet while recording, in nanoseconds since the Unix epoch, as far as packets were read.
    pub silences: [[u64; 2]; 2],
    /// Of a recording without intervals: when packets of a sample were sent, in nanoseconds modulo 2^48, and their delays in nanoseconds, in order of time.
    pub sampled: Vec<(u64, i64)>,
    /// What the receiver says of its recording, if that came. What it says is worth no more than the other end itself.
    pub about: Option<About>,
    /// What it took.
    pub costs: Costs,
}

/// How long the steps of an interval took, waiting for the other end and reading of packets included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// Making and transmitting the tables of both ends.
    pub tables: Duration,
    /// Finding out which packets differ.
    pub difference: Duration,
    /// Having packets moved to the interval in which they were sent, and the tables of those.
    pub moves: Duration,
    /// The times of those that differ, and of a sample.
    pub times: Duration,
    /// Taking out packets that differ, and computing the numbers.
    pub evaluation: Duration,
}

impl Spent {
    /// All together.
    pub fn overall(&self) -> Duration {
        self.tables + self.difference + self.moves + self.times + self.evaluation
    }
}

/// Asks a receiver about all intervals that are whole at both ends. `random` is a number at random, another one for each connection; the `recording` is
/// the sender's.
///
/// # Errors
///
/// Why the exchange ends early.
pub fn ask<S: Read + Write>(
    stream: S,
    terms: &Terms,
    random: u64,
    recording: impl Recording,
) -> Result<Asked, ExchangeError> {
    let started = processor_time();
    let mut asker = Asker {
        channel: Channel::new(stream, terms, Role::Sender),
        terms,
        intervals: Intervals::of(terms.length, recording),
        question: 0,
        previous: None,
        recorded: Recorded::default(),
        overdue: Overdue::default(),
        sampled: vec![],
        far: BTreeMap::new(),
        unasked: 0,
        spent: Spent::default(),
    };
    let theirs = asker.greet(random)?;
    let ours = asker.intervals.first();
    let apart = ExchangeError::Apart { sender: ours, receiver: theirs };
    // The first ones began before the recordings did.
    let before = ours.zip(theirs).map(|(ours, theirs)| ours.max(theirs));
    let mut number =
        if terms.length == 0 { Some(0) } else { before.and_then(|before| before.checked_add(1)) };
    let mut found = vec![];
    if terms.length == 0 {
        asker.intervals.go_to(0)?;
    }
    while let Some(next) = number {
        let here = if terms.length == 0 { Some(next) } else { asker.intervals.next_from(next)? };
        let Some(here) = here else { break };
        asker.look_ahead(next..here)?;
        number = Some(here);
        if terms.length > 0 && !asker.intervals.is_whole(here) {
            break;
        }
        let Some(evaluation) = asker.interval(here)? else { break };
        found.push((evaluation, here, asker.spent));
        number = here.checked_add(1).filter(|_| terms.length > 0);
    }
    if let Some(next) = number {
        asker.look_ahead(next..u64::MAX)?;
    }
    // All numbers are there: they need no more than these words' absence said.
    let about = asker.ask(What::About, 0, &[]).ok().and_then(|words| About::of_words(&words));
    let about = about.map(|about| About { unasked: about.unasked.saturating_add(asker.unasked), ..about });
    let Asker { channel, intervals, question, recorded, far, sampled, .. } = asker;
    let recorded = [intervals.recorded(), recorded];
    if terms.length > 0 {
        // Nobody has looked further back than into the interval before the first.
        let looked = before.unwrap_or(0).saturating_mul(terms.length);
        let known = Known { length: terms.length, spans: recorded.map(|end| end.span), looked, far };
        found.retain_mut(|(evaluation, number, _)| known.judge(evaluation, *number));
    }
    if found.is_empty() {
        return Err(apart);
    }
    if terms.length > 0 && !found.iter().any(|(evaluation, ..)| may_have_arrived(evaluation)) {
        return Err(ExchangeError::NothingInCommon);
    }
    let silences = recorded.map(|recorded| recorded.silence);
    let mut asked = Asked {
        evaluations: vec![],
        numbers: vec![],
        spent: vec![],
        silences,
        sampled,
        about,
        costs: Costs::default(),
    };
    for (evaluation, number, spent) in found {
        asked.evaluations.push(evaluation);
        asked.numbers.push(number);
        asked.spent.push(spent);
    }
    let processor = processor_time().saturating_sub(started).saturating_sub(intervals.reading);
    let costs = Costs { processor, questions: question.into(), packets: intervals.most, ..channel.costs };
    Ok(Asked { costs, ..asked })
}

/// Tells how long it is since it was last asked.
struct Watch(Instant);

impl Watch {
    fn lap(&mut self) -> Duration {
        let now = Instant::now();
        now - std::mem::replace(&mut self.0, now)
    }
}

/// The interval behind which another begins: what has come of it for the next one.
struct Previous {
    number: u64,
    /// Packets that were taken out of the next interval.
    late: u64,
}

struct Asker<'a, S, R> {
    channel: Channel<'a, S>,
    terms: &'a Terms,
    intervals: Intervals<R>,
    question: u32,
    previous: Option<Previous>,
    /// When the receiver has seen packets, as far as it has read them.
    recorded: Recorded,
    /// Packets that one end alone has, so far.
    overdue: Overdue,
    /// As [`Asked::sampled`].
    sampled: Vec<(u64, i64)>,
    /// Intervals whose packets were where nobody looked for them, and the delay of such a packet that is farthest from none.
    far: BTreeMap<u64, i64>,
    /// The receiver's packets in intervals in which the sender has none, as far as these were looked into.
    unasked: u64,
    /// Of the interval that is spoken of.
    spent: Spent,
}

impl<S: Read + Write, R: Recording> Asker<'_, S, R> {
    /// The receiver's first interval.
    fn greet(&mut self, random: u64) -> Result<Option<u64>, ExchangeError> {
        let key = self.channel.key.as_ref().map_or(0, Key::id);
        let own = ((random >> 32) as u32, random as u32);
        self.channel.say(
            What::Greeting,
            own,
            &[RELEASE, self.terms.length, key.into(), self.terms.flows.into()],
        )?;
        let Said { what, interval, question, words } = self.channel.listen()?.ok_or(ExchangeError::Closed)?;
        let &[ours, has_first, first] = words.as_slice() else {
            return Err(ExchangeError::Rules("no greeting"));
        };
        if what != What::Greeting || ours != random {
            return Err(ExchangeError::Rules("a greeting that is not for us"));
        }
        self.channel.converse(random, u64::from(interval) << 32 | u64::from(question));
        Ok((has_first != 0).then_some(first))
    }

    /// Asks, and hears the answer to that.
    fn ask(&mut self, what: What, number: u64, words: &[u64]) -> Result<Vec<u64>, ExchangeError> {
        self.question = self.question.checked_add(1).ok_or(ExchangeError::Rules("too many questions"))?;
        let about = (number as u32, self.question);
        self.channel.say(what, about, words)?;
        let said = self.channel.listen()?.ok_or(ExchangeError::Closed)?;
        if (said.what, said.interval, said.question) != (what, about.0, about.1) {
            return Err(ExchangeError::Rules("an answer to another question"));
        }
        Ok(said.words)
    }

    /// An interval, if it is whole at the receiver.
    fn interval(&mut self, number: u64) -> Result<Option<Evaluation>, ExchangeError> {
        let mut watch = Watch(Instant::now());
        let (is_whole, raw) = self.tables(number)?;
        if !is_whole {
            return Ok(None);
        }
        self.spent = Spent { tables: watch.lap(), ..Spent::default() };
        let mut difference = self.difference(number, &raw)?;
        self.spent.difference = watch.lap();
        let (has_clocks, id) = (self.terms.length > 0, PacketId::default());
        let late = self.previous.take().filter(|previous| previous.number.checked_add(1) == Some(number));
        if !difference.complete {
            // Packets of other intervals are among its own, where clocks cut it: then the verdict says so.
            let mut evaluation = Evaluation::of(&raw);
            if let Err(Unusable::Void(void @ Void::TimedCut { .. })) = &mut evaluation.result {
                *void = Void::Unbound;
            }
            name_times_that_go_back(&mut evaluation);
            return Ok(Some(evaluation));
        }
        let mut interval = raw;
        if has_clocks {
            let (moved, early) = self.bind(number, &mut difference, late.as_ref())?;
            if moved > 0 {
                let (is_whole, moved) = self.tables(number)?;
                interval = Some(moved)
                    .filter(|_| is_whole)
                    .ok_or(ExchangeError::Rules("an interval that was whole"))?;
            }
            (difference.late, difference.early) = (late.map_or(0, |previous| previous.late), early);
            forgive_cut(&mut interval);
        }
        self.spent.moves = watch.lap();
        let alike = if has_clocks { self.alike(number) } else { vec![] };
        let names: BTreeSet<u64> = alike.iter().map(|alike| name(id.halves_of(alike.hash))).collect();
        let foreign = self.times(number, &difference, &alike)?;
        if !has_clocks {
            // Clocks cut no interval, between whose packets it would show.
            difference.alike = look_alike(self.hashes(number));
            let sent = self.intervals.packets(number);
            self.sampled = sampled(sent, &foreign);
            // A sample hardly has them, and no packet behind the last one shows that its stamp is wrong.
            let [first, last] = ends_of_common(sent, &foreign, &difference, self.recorded.span);
            self.sampled.splice(0..0, first);
            self.sampled.extend(last);
        }
        if has_clocks {
            self.look_back(number, &difference, &foreign);
        }
        let seen_alike = self.seen(number, &names)?;
        self.spent.times = watch.lap();
        let caches = [self.intervals.packets(number), &foreign];
        let mut evaluation = Evaluation::with_difference(&interval, caches, &difference);
        leave_open(&mut evaluation, &alike, &seen_alike);
        if let Some(void) = beyond(&evaluation, self.terms.length) {
            (evaluation.result, evaluation.further) = (Err(void.into()), vec![]);
        }
        name_times_that_go_back(&mut evaluation);
        let [sender, receiver] = caches.map(unit_of);
        evaluation.round_by(Rounding { sender, receiver });
        let units = [(Role::Sender, sender), (Role::Receiver, receiver)];
        evaluation.doubts.extend(units.iter().filter_map(|(role, unit)| Doubt::of_unit(*role, *unit)));
        for further in &mut evaluation.further {
            if let Further::Difference(found) = further {
                (found.late, found.early) = (difference.late, difference.early);
            }
        }
        self.spent.evaluation = watch.lap();
        Ok(Some(evaluation))
    }

    /// Whether an interval is whole at the receiver, and both ends' tables of it.
    fn tables(&mut self, number: u64) -> Result<(bool, Interval), ExchangeError> {
        let answer = self.ask(What::Table, number, &[number])?;
        let &[is_whole, frames, from, until, still, again] = answer.as_slice() else {
            return Err(ExchangeError::Rules("no table"));
        };
        self.recorded = Recorded { span: [from, until], silence: [still, again] };
        let expected = u64::from(self.terms.configuration.shape().fragments());
        if frames != expected {
            return Err(ExchangeError::Rules("a table of another size"));
        }
        let mut collector = Collector::expecting(&self.terms.configuration).within(Limits::recording());
        if let Some(keys) = self.channel.keys() {
            collector = collector.authenticated_by(keys.clone());
        }
        for _ in 0..frames {
            collector.push(&self.channel.control_frame()?);
        }
        let about = (number as u32, self.question);
        let (key, clock) = (self.channel.key.clone(), self.intervals.clock(number));
        let own = table(self.terms, Role::Sender, key, about, self.intervals.packets(number), clock);
        own.ok_or(ExchangeError::Full)?.iter().for_each(|frame| collector.push(frame));
        let collected = collector.finish();
        match <[Interval; 1]>::try_from(collected.intervals) {
            Ok([interval]) if interval.number == number as u32 => Ok((is_whole != 0, interval)),
            _ => Err(ExchangeError::Rules("control frames that are no table of this interval")),
        }
    }

    /// Which packets differ, by the tables or, where they are too small, by symbols.
    fn difference(&mut self, number: u64, interval: &Interval) -> Result<Difference, ExchangeError> {
        let (Some(sender), Some(receiver)) = (&interval.sender, &interval.receiver) else {
            return Err(ExchangeError::Rules("no table of the receiver"));
        };
        let cells = [sender, receiver].map(|report| report.cells::<IdentityCell>());
        let pair = crate::pair::Pair { sender, receiver };
        let (sums, digest) = (sums(&pair), digest::first(self.terms.configuration.kind(), 0));
        let agrees =
            |found: &Difference| found.complete && sums.is_none_or(|sums| found.agrees_with(&sums, &digest));
        let mut found = Difference::of(&cells[0], &cells[1]);
        if agrees(&found) {
            return Ok(found);
        }
        let differ = by_counts(&cells[0], &cells[1]);
        if let Some(rows) = rows_for(differ) {
            let words = self.ask(What::Bound, number, &[rows as u64])?;
            let own = bound(self.hashes(number), rows);
            if words.len() != 7 * own.len() / 4 {
                return Err(ExchangeError::Rules("a bound table of another size"));
            }
            self.channel.costs.cells += own.len() as u64;
            found = Difference::of_bound(&own, &to_symbols(&words).collect::<Vec<_>>());
            if agrees(&found) {
                return Ok(found);
            }
        }
        let mut own = Symbols::of(self.hashes(number));
        let mut made: [Vec<Symbol>; 2] = [vec![], vec![]];
        // Less than four for every three never are enough.
        let mut more = ((4.0 / 3.0 * differ) as usize).max(cells[0].len()).next_multiple_of(4);
        while made[0].len() < MOST_SYMBOLS {
            more = more.min(MOST_SYMBOLS - made[0].len());
            let words = self.ask(What::Symbols, number, &[more as u64])?;
            if words.len() != 7 * more / 4 {
                return Err(ExchangeError::Rules("as many symbols as nobody asked for"));
            }
            self.channel.costs.symbols += more as u64;
            made[0].extend(own.make(more));
            made[1].extend(to_symbols(&words));
            found = Difference::of_symbols(&made[0], &made[1]);
            if agrees(&found) {
                return Ok(found);
            }
            more = more_than(made[0].len());
        }
        Ok(Difference { complete: false, ..found })
    }

    /// Hashes of an interval's packets.
    fn hashes(&self, number: u64) -> impl Iterator<Item = u64> + '_ {
        self.intervals.packets(number).sightings().into_iter().flatten().map(|(hash, _)| hash)
    }

    /// Has packets moved to the interval in which they were sent, and takes them out of the difference; how many were moved, and how many of them to
    /// the next interval.
    fn bind(
        &mut self,
        number: u64,
        difference: &mut Difference,
        previous: Option<&Previous>,
    ) -> Result<(usize, u64), ExchangeError> {
        let mut moved = 0;
        // Where the interval before was evaluated, its packets are there already, and ours are here.
        if previous.is_none() && number > 0 {
            let late = self.seen_in(number - 1, &difference.only_received);
            moved += self.relocate(What::ToPrevious, number, late, &mut difference.only_received)?;
            let early = self.not_sent_in(number - 1, &difference.only_sent);
            let names = early.iter().map(|halves| name(*halves)).collect();
            moved += self.relocate(What::FromPrevious, number, names, &mut difference.only_sent)?;
        }
        let early = self.not_sent_in(number, &difference.only_received);
        let names = self.seen_in(number + 1, &early);
        let early = self.relocate(What::ToNext, number, names, &mut difference.only_received)?;
        let names = difference.only_sent.iter().map(|halves| name(*halves)).collect();
        let late = self.relocate(What::FromNext, number, names, &mut difference.only_sent)?;
        self.previous = Some(Previous { number, late: late as u64 });
        Ok((moved + early + late, early as u64))
    }

    /// Looks for packets that are still missing in intervals in which the sender has sent none, or that are not whole there, the first [`AHEAD`] of these.
    fn look_ahead(&mut self, intervals: Range<u64>) -> Result<(), ExchangeError> {
        let until = intervals.end;
        for number in intervals.take(AHEAD) {
            if self.terms.length == 0 || !self.overdue.is_waiting() {
                break;
            }
            let (is_whole, interval) = self.tables(number)?;
            // Those in front of the sender's next one are of no interval that is evaluated.
            let packets = interval.receiver.as_ref().map_or(0, |report| report.totals.packets);
            self.unasked += if until < u64::MAX { packets } else { 0 };
            let difference = self.difference(number, &interval)?;
            if difference.complete {
                let seen = self.times(number, &difference, &[])?;
                self.look_back(number, &difference, &seen);
            }
            // Behind the receiver's last one, which its recording cuts, there is nothing to be found.
            if !is_whole {
                break;
            }
        }
        Ok(())
    }

    /// Looks whether packets that one end alone has in an interval, of which the receiver's were `seen`, are those that the other end alone has in an
    /// earlier one.
    fn look_back(&mut self, number: u64, difference: &Difference, seen: &PacketCache) {
        let id = PacketId::default();
        let ends = [
            (Role::Sender, &difference.only_sent, self.intervals.packets(number)),
            (Role::Receiver, &difference.only_received, seen),
        ];
        for (role, only, cache) in ends {
            let hashes: Vec<u64> = only.iter().map(|halves| id.hash_of(*halves)).collect();
            let times = cache.all_times(&hashes).unwrap_or_default();
            for (halves, times) in only.iter().zip(times) {
                let Some(time) = times.first() else { continue };
                let alone = Alone { name: name(*halves), number, time: Timestamp::from_nanoseconds(*time) };
                if let Some((sent, delay)) = self.overdue.note(role, alone) {
                    let farthest = self.far.entry(sent).or_default();
                    if delay.unsigned_abs() > farthest.unsigned_abs() {
                        *farthest = delay;
                    }
                }
            }
        }
    }

    /// Those of these packets that the sender has sent in another interval, each at most as often.
    fn seen_in(&self, number: u64, packets: &[[u32; 2]]) -> Vec<u64> {
        let mut seen = self.sent_in(number, packets);
        let is_left =
            |name: &u64| seen.get_mut(name).filter(|count| **count > 0).map(|count| *count -= 1).is_some();
        packets.iter().map(|halves| name(*halves)).filter(is_left).collect()
    }

    /// Those of these packets that the sender has not sent in an interval: of two that look alike and are early, one at the receiver may be either.
    fn not_sent_in(&self, number: u64, packets: &[[u32; 2]]) -> Vec<[u32; 2]> {
        let sent = self.sent_in(number, packets);
        packets.iter().copied().filter(|halves| !sent.contains_key(&name(*halves))).collect()
    }

    /// How often the sender has sent each of these packets in an interval.
    fn sent_in(&self, number: u64, packets: &[[u32; 2]]) -> HashMap<u64, usize> {
        let id = PacketId::default();
        let wanted: BTreeSet<u64> = packets.iter().map(|halves| id.hash_of(*halves)).collect();
        let sieve = Sieve::of(wanted.iter().copied());
        let mut sent: HashMap<u64, usize> = HashMap::new();
        let sifted = self.hashes(number).filter(|hash| sieve.may_hold(*hash) && wanted.contains(hash));
        for hash in sifted.filter(|_| !wanted.is_empty()) {
            *sent.entry(name(id.halves_of(hash))).or_default() += 1;
        }
        sent
    }

    /// Has the receiver move packets, and takes those that were moved out of these.
    fn relocate(
        &mut self,
        what: What,
        number: u64,
        names: Vec<u64>,
        packets: &mut Vec<[u32; 2]>,
    ) -> Result<usize, ExchangeError> {
        if names.is_empty() {
            return Ok(0);
        }
        let moved = self.ask(what, number, &names)?;
        let mut gone: HashMap<u64, usize> = HashMap::new();
        moved.iter().for_each(|name| *gone.entry(*name).or_default() += 1);
        let before = packets.len();
        packets.retain(|halves| match gone.get_mut(&name(*halves)) {
            Some(count) if *count > 0 => {
                *count -= 1;
                false
            }
            _ => true,
        });
        if before - packets.len() != moved.len() {
            return Err(ExchangeError::Rules("packets moved that were not named"));
        }
        Ok(moved.len())
    }

    /// The packets that look alike in an interval and in those beside it.
    fn alike(&self, number: u64) -> Vec<Alike> {
        let none = PacketCache::default();
        let beside = [number.checked_sub(1), number.checked_add(1)]
            .map(|beside| beside.map_or(&none, |beside| self.intervals.packets(beside)));
        Alike::all(self.intervals.packets(number), beside)
    }

    /// When the receiver saw packets of the identities that differ, if it saw any, and a sample of those that both have seen and that are not `alike`.
    fn times(
        &mut self,
        number: u64,
        difference: &Difference,
        alike: &[Alike],
    ) -> Result<PacketCache, ExchangeError> {
        let id = PacketId::default();
        let mut lost: HashMap<u64, usize> = HashMap::new();
        difference.only_sent.iter().for_each(|halves| *lost.entry(id.hash_of(*halves)).or_default() += 1);
        let hashes: Vec<u64> = lost.keys().copied().collect();
        let sent = self.intervals.packets(number).all_times(&hashes).unwrap_or_default();
        // Of the others it has seen none.
        let some = hashes.iter().zip(sent).filter(|(hash, times)| lost.get(hash) != Some(&times.len()));
        let some = some.map(|(hash, _)| name(id.halves_of(*hash)));
        let mut names: BTreeSet<u64> =
            difference.only_received.iter().map(|halves| name(*halves)).chain(some).collect();
        // Of some that both have seen, to see how delays are distributed.
        let unwanted = lost.keys().copied().chain(alike.iter().map(|alike| alike.hash)).collect();
        let sample = sample(self.hashes(number), SAMPLE, &unwanted);
        names.extend(sample.into_iter().map(|hash| name(id.halves_of(hash))));
        self.seen(number, &names)
    }

    /// When the receiver saw packets of these names.
    fn seen(&mut self, number: u64, names: &BTreeSet<u64>) -> Result<PacketCache, ExchangeError> {
        let (id, mut cache) = (PacketId::default(), PacketCache::default());
        if names.is_empty() {
            return Ok(cache);
        }
        let words = self.ask(What::Times, number, &names.iter().copied().collect::<Vec<_>>())?;
        for [of, time] in words.as_chunks::<2>().0 {
            if !names.contains(of) {
                return Err(ExchangeError::Rules("times of packets that nobody asked for"));
            }
            let (hash, time) = (id.hash_of(halves(*of)), Timestamp::from_nanoseconds(*time));
            cache.remember(&[Hashed { hash, time, ..Hashed::default() }]);
        }
        Ok(cache)
    }
}

/// Has an interval's mean reach over what the delays of packets may be that look like some of the intervals beside it, if the times at which the
/// receiver has `seen` them do not tell them apart.
fn leave_open(evaluation: &mut Evaluation, alike: &[Alike], seen: &PacketCache) {
    let hashes: Vec<u64> = alike.iter().map(|alike| alike.hash).collect();
    let times = seen.all_times(&hashes).unwrap_or_default();
    let delays = evaluation.further.iter().find_map(Further::singles);
    let delays = delays.and_then(|singles| Delays::around(singles.delays()));
    let (mut open, mut packets) = ([0.0; 2], 0);
    for (alike, times) in alike.iter().zip(times) {
        let by = delays.map_or(Some([f64::INFINITY; 2]), |delays| alike.open(&times, delays));
        let Some([less, more]) = by else { continue };
        open = [open[0] + less, open[1] + more];
        packets += alike.packets();
    }
    if let Ok((estimate, _)) = &mut evaluation.result
        && estimate.method == Method::Sums
    {
        let unknown = Estimate { mean: Err(Reason::Guessed), bracket: Err(Reason::Guessed), ..*estimate };
        *estimate = if open == [f64::INFINITY; 2] { unknown } else { estimate.with_open(open) };
    }
    for further in &mut evaluation.further {
        if let Further::Difference(found) = further {
            found.across = packets;
        }
    }
}

/// When packets were sent that both ends have seen once, and their delays in nanoseconds, in order of time.
fn sampled(sent: &PacketCache, received: &PacketCache) -> Vec<(u64, i64)> {
    let mut seen: BTreeMap<u64, Vec<u64>> = BTreeMap::new();
    for (hash, time) in received.sightings().into_iter().flatten() {
        seen.entry(hash).or_default().push(time.nanoseconds());
    }
    let hashes: Vec<u64> = seen.keys().copied().collect();
    let times = sent.all_times(&hashes).unwrap_or_default();
    let since = |time: u64, other: u64| {
        Timestamp::from_nanoseconds(time).nanoseconds_since(Timestamp::from_nanoseconds(other))
    };
    let mut sampled: Vec<(u64, i64)> = times
        .iter()
        .zip(seen.values())
        .filter_map(|(sent, seen)| match (sent.as_slice(), seen.as_slice()) {
            (&[sent], &[arrived]) => Some((sent, since(arrived, sent))),
            _ => None,
        })
        .collect();
    let first =
        sent.sightings().and_then(|mut sightings| sightings.next()).map_or(0, |(_, time)| time.nanoseconds());
    sampled.sort_unstable_by_key(|(sent, _)| since(*sent, first));
    sampled
}

/// How many of these packets look like others of them.
fn look_alike(hashes: impl Iterator<Item = u64>) -> u64 {
    let mut hashes: Vec<u64> = hashes.collect();
    hashes.sort_unstable();
    hashes.chunk_by(|one, other| one == other).map(<[u64]>::len).filter(|many| *many > 1).sum::<usize>()
        as u64
}

/// From the first packet that the sender has of those that both have seen to the receiver's first one, and so with the last ones: when the sender saw
/// it, and the nanoseconds between both. Some packet takes as long or longer, and some as long or shorter. None where the receiver's is none
/// of these: of its packets these were `seen`, and it has seen packets from and to then.
fn ends_of_common(
    sent: &PacketCache,
    seen: &PacketCache,
    difference: &Difference,
    span: [u64; 2],
) -> [Option<(u64, i64)>; 2] {
    let id = PacketId::default();
    let hashes = |packets: &[[u32; 2]]| packets.iter().map(|halves| id.hash_of(*halves)).collect::<Vec<_>>();
    let only_sent: BTreeSet<u64> = hashes(&difference.only_sent).into_iter().collect();
    let foreign = seen.all_times(&hashes(&difference.only_received)).unwrap_or_default().concat();
    let mut common = sent.sightings().into_iter().flatten().filter(|(hash, _)| !only_sent.contains(hash));
    let Some((_, start)) = common.next() else { return [None; 2] };
    let since = common.map(|(_, time)| time.nanoseconds_since(start));
    let [least, most] = since.fold([0; 2], |[least, most]: [i64; 2], each| [least.min(each), most.max(each)]);
    let sent = [least, most]
        .map(|since| Timestamp::from_nanoseconds(start.nanoseconds().wrapping_add_signed(since)));
    let arrived = span.map(Timestamp::from_nanoseconds);
    std::array::from_fn(|end| {
        let is_common = span != [0; 2] && !foreign.contains(&arrived[end].nanoseconds());
        is_common.then(|| (sent[end].nanoseconds(), arrived[end].nanoseconds_since(sent[end])))
    })
}

/// In so many intervals without packets of the sender, one after the other, packets are looked for that are missing.
const AHEAD: usize = 16;

/// Judges an interval anew, whose packets are where they belong although clocks cut it.
fn forgive_cut(interval: &mut Interval) {
    for report in interval.sender.iter_mut().chain(&mut interval.receiver) {
        report.totals.flags.timed = false;
    }
    let (sender, receiver) = (interval.sender.as_ref(), interval.receiver.as_ref());
    interval.void = verdict::void(sender, receiver);
    if let (Some(sender), Some(receiver), None) = (sender, receiver, &interval.void) {
        interval.doubts = verdict::doubts(sender, receiver);
    }
}

/// What an end of an exchange means by a clock that was not locked.
fn name_times_that_go_back(evaluation: &mut Evaluation) {
    for doubt in &mut evaluation.doubts {
        if let Doubt::ClockUnlocked { role } = *doubt {
            *doubt = Doubt::TimesGoBack { role };
        }
    }
}

/// What the times of these packets are multiples of, in nanoseconds, from the first one on; 0 if they are too few.
fn unit_of(cache: &PacketCache) -> u64 {
    let mut times = cache.sightings().into_iter().flatten().map(|(_, time)| time);
    let Some(first) = times.next() else { return 0 };
    unit(times.map(|time| time.nanoseconds_since(first).unsigned_abs()))
}
