//! The receiver's end: it answers what the sender asks of its packets.

use super::channel::{Channel, Said, What};
use super::intervals::{Intervals, Recorded};
use super::{
    Costs, ExchangeError, MOST_ANSWERED, MOST_QUESTIONS, Recording, Refusal, Terms, processor_time, table,
};
use deltaline_estimate::difference::{MOST_ROWS, MOST_SYMBOLS, Symbol, Symbols, bound};
use deltaline_model::sketch::packet_cache::Sieve;
use deltaline_model::sketch::packet_id::PacketId;
use deltaline_model::wire::authentication::Keys;
use deltaline_model::wire::frame::Role;
use std::collections::HashMap;
use std::io::{Read, Write};
use std::time::Duration;

/// Release of the exchange.
pub(super) const RELEASE: u64 = 6;

/// The interval that is spoken of.
struct Current {
    number: u64,
    symbols: Option<Symbols>,
    questions: u32,
    words: usize,
}

/// Answers one sender, until it has closed the connection. `random` is a number at random, another one for each connection; the `recording` is
/// the receiver's. It is read once a sender has greeted, authentically where there are keys.
///
/// # Errors
///
/// Why the exchange ends early.
pub fn answer<S: Read + Write>(
    stream: S,
    terms: &Terms,
    random: u64,
    recording: impl Recording,
) -> Result<Costs, ExchangeError> {
    let started = processor_time();
    let mut channel = Channel::new(stream, terms, Role::Receiver);
    let theirs = greeting(&mut channel, terms)?;
    let mut intervals = Intervals::of(terms.length, recording);
    let own = ((random >> 32) as u32, random as u32);
    let first = intervals.first();
    channel.say(What::Greeting, own, &[theirs, u64::from(first.is_some()), first.unwrap_or(0)])?;
    channel.converse(theirs, random);
    let mut current: Option<Current> = None;
    while let Some(said) = channel.listen()? {
        channel.costs.questions += 1;
        if said.what == What::About {
            let about = intervals.about().to_words();
            channel.say(What::About, (said.interval, said.question), &about)?;
            return match channel.listen()? {
                Some(_) => Err(ExchangeError::Rules("a question behind the last")),
                None => Ok(costs(&channel, &intervals, started)),
            };
        }
        reply(&mut channel, terms, &mut intervals, &mut current, said)?;
    }
    Ok(costs(&channel, &intervals, started))
}

fn costs<S, R>(channel: &Channel<S>, intervals: &Intervals<R>, started: Duration) -> Costs {
    let processor = processor_time().saturating_sub(started).saturating_sub(intervals.reading);
    Costs { processor, packets: intervals.most, ..channel.costs }
}

/// Takes the sender's greeting: its number at random.
fn greeting<S: Read + Write>(channel: &mut Channel<S>, terms: &Terms) -> Result<u64, ExchangeError> {
    let greeting = channel.listen()?.ok_or(ExchangeError::Closed)?;
    let Said { what: What::Greeting, interval, question, words } = greeting else {
        return Err(ExchangeError::Rules("no greeting"));
    };
    let &[RELEASE, length, key, flows] = words.as_slice() else {
        return Err(ExchangeError::Rules("another release's greeting"));
    };
    if length != terms.length {
        return Err(channel.refuse(Refusal::Length));
    }
    if flows != u64::from(terms.flows) {
        return Err(channel.refuse(Refusal::Flows));
    }
    // The key that the sender signs with.
    let id = u16::try_from(key).unwrap_or(0);
    channel.key = terms.keys.as_ref().and_then(|keys: &Keys| keys.get(id)).cloned();
    Ok(u64::from(interval) << 32 | u64::from(question))
}

fn reply<S: Read + Write, R: Recording>(
    channel: &mut Channel<S>,
    terms: &Terms,
    intervals: &mut Intervals<R>,
    current: &mut Option<Current>,
    Said { what, interval, question, words }: Said,
) -> Result<(), ExchangeError> {
    let about = (interval, question);
    if what == What::Table {
        let &[number] = words.as_slice() else { return Err(ExchangeError::Rules("a table of no interval")) };
        let before = current.as_ref().map_or(0, |current| current.number);
        if number as u32 != interval || number < before {
            return Err(ExchangeError::Rules("intervals out of order"));
        }
        if current.as_ref().is_none_or(|current| current.number != number) {
            if intervals.go_to(number).is_err() {
                channel.refuse(Refusal::Full);
                return Err(ExchangeError::Full);
            }
            intervals.note_asked(number);
            *current = Some(Current { number, symbols: None, questions: 0, words: 0 });
        }
    }
    let Some(current) = current.as_mut().filter(|current| current.number as u32 == interval) else {
        return Err(ExchangeError::Rules("a question about an interval without its table"));
    };
    current.questions += 1;
    if current.questions > MOST_QUESTIONS || current.words > MOST_ANSWERED {
        return Err(ExchangeError::Rules("too many questions about one interval"));
    }
    let number = current.number;
    let answer = match what {
        What::Table => {
            let is_whole = terms.length == 0 || intervals.is_whole(number);
            let (key, clock) = (channel.key.clone(), intervals.clock(number));
            let frames = table(terms, Role::Receiver, key, about, intervals.packets(number), clock)
                .ok_or(ExchangeError::Full)?;
            let Recorded { span: [from, until], silence: [still, again] } = intervals.recorded();
            let answer = [u64::from(is_whole), frames.len() as u64, from, until, still, again];
            channel.say(What::Table, about, &answer)?;
            frames.iter().try_for_each(|frame| channel.send(frame))?;
            current.words += frames.iter().map(|frame| frame.len() / 8).sum::<usize>();
            return channel.flush();
        }
        What::Symbols => {
            let symbols = match &mut current.symbols {
                Some(symbols) => symbols,
                None => {
                    let packets = intervals.packets(number).sightings();
                    current.symbols.insert(Symbols::of(packets.into_iter().flatten().map(|(hash, _)| hash)))
                }
            };
            let more = match words.as_slice() {
                [more] if *more <= (MOST_SYMBOLS - symbols.made()) as u64 && more % 4 == 0 => *more as usize,
                _ => return Err(ExchangeError::Rules("too many symbols")),
            };
            channel.costs.symbols += more as u64;
            to_words(&symbols.make(more))
        }
        What::Bound => {
            let rows = match words.as_slice() {
                [rows] if (1..=MOST_ROWS as u64).contains(rows) => *rows as usize,
                _ => return Err(ExchangeError::Rules("a bound table of no size")),
            };
            let packets = intervals.packets(number).sightings();
            let cells = bound(packets.into_iter().flatten().map(|(hash, _)| hash), rows);
            channel.costs.cells += cells.len() as u64;
            to_words(&cells)
        }
        What::FromNext | What::ToNext | What::ToPrevious | What::FromPrevious => {
            current.symbols = None;
            moved(intervals, number, what, &words)
        }
        What::Times => {
            let id = PacketId::default();
            let hashes: Vec<u64> = words.iter().map(|name| id.hash_of(halves(*name))).collect();
            let times = intervals.packets(number).all_times(&hashes).unwrap_or_default();
            let each = |(name, times): (&u64, Vec<u64>)| {
                times.into_iter().flat_map(|time| [*name, time]).collect::<Vec<_>>()
            };
            words.iter().zip(times).flat_map(each).collect()
        }
        What::Greeting | What::Refusal | What::About => {
            return Err(ExchangeError::Rules("a second greeting"));
        }
    };
    current.words += answer.len();
    channel.say(what, about, &answer)
}

/// Moves packets between an interval and its neighbours, of each identifier as many as it is named; which were.
fn moved<R: Recording>(intervals: &mut Intervals<R>, number: u64, what: What, names: &[u64]) -> Vec<u64> {
    let id = PacketId::default();
    let mut wanted: HashMap<u64, usize> = HashMap::new();
    names.iter().for_each(|name| *wanted.entry(id.hash_of(halves(*name))).or_default() += 1);
    let sieve = Sieve::of(wanted.keys().copied());
    let mut found = vec![];
    let mut take = |hash: u64| {
        let count = Some(hash).filter(|hash| sieve.may_hold(*hash)).and_then(|hash| wanted.get_mut(&hash));
        let is_wanted = count.filter(|count| **count > 0).map(|count| *count -= 1).is_some();
        if is_wanted {
            found.push(name(id.halves_of(hash)));
        }
        is_wanted
    };
    match what {
        // There is none behind the last.
        What::FromNext | What::ToNext if number == u64::MAX => {}
        What::FromNext => {
            intervals.with_two([number + 1, number], |next, here| next.move_behind(here, &mut take));
        }
        What::ToNext => {
            intervals.with_two([number, number + 1], |here, next| here.move_before(next, &mut take));
        }
        // There is none before the first.
        _ if number == 0 => {}
        What::FromPrevious => {
            intervals.with_two([number - 1, number], |before, here| before.move_before(here, &mut take));
        }
        _ => {
            intervals.with_two([number, number - 1], |here, before| here.move_behind(before, &mut take));
        }
    }
    found
}

/// An identifier as a word.
pub(super) fn name([upper, lower]: [u32; 2]) -> u64 {
    u64::from(upper) << 32 | u64::from(lower)
}

/// The identifier of a word.
pub(super) fn halves(name: u64) -> [u32; 2] {
    [(name >> 32) as u32, name as u32]
}

/// Symbols as words, seven for each four; of four that are not all there, the others are empty.
fn to_words(symbols: &[Symbol]) -> Vec<u64> {
    let four = |symbols: &[Symbol]| {
        let of = |number: usize| symbols.get(number).copied().unwrap_or_default();
        let [a, b, c, d] = [of(0), of(1), of(2), of(3)];
        let counts = [a, b, c, d].iter().fold(0, |word, symbol| word << 16 | u64::from(symbol.count));
        let checks = |one: Symbol, other: Symbol| name([one.fields[0], other.fields[0]]);
        let names = [a, b, c, d].map(|symbol| name([symbol.fields[1], symbol.fields[2]]));
        [counts, checks(a, b), checks(c, d), names[0], names[1], names[2], names[3]]
    };
    symbols.chunks(4).flat_map(four).collect()
}

/// Symbols of words, four of each seven.
pub(super) fn to_symbols(words: &[u64]) -> impl Iterator<Item = Symbol> {
    words.as_chunks::<7>().0.iter().flat_map(|[counts, one, other, names @ ..]| {
        let ([a, b], [c, d]) = (halves(*one), halves(*other));
        let symbol = |number: usize, check: u32| {
            let [upper, lower] = halves(names[number]);
            Symbol { count: (counts >> (48 - 16 * number)) as u16, fields: [check, upper, lower] }
        };
        [symbol(0, a), symbol(1, b), symbol(2, c), symbol(3, d)]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_are_what_their_words_say() {
        let symbol = |number: u32| Symbol {
            count: (number * 7919) as u16,
            fields: [1, 2, 3].map(|field: u32| field.wrapping_mul(0x9e37_79b9).wrapping_add(number)),
        };
        for length in 0..9 {
            let symbols: Vec<Symbol> = (0..length).map(symbol).collect();
            let words = to_words(&symbols);
            let again: Vec<Symbol> = to_symbols(&words).collect();
            assert_eq!(words.len(), 7 * symbols.len().div_ceil(4));
            assert_eq!(&again[..symbols.len()], symbols);
            assert!(again[symbols.len()..].iter().all(|symbol| *symbol == Symbol::default()));
        }
    }
}
