//! Channel: frames of one end to the other, each behind its length in four bytes.
//!
//! # Test plan
//!
//! With the exchange's: streams that end, stall, drip or hold anything at all.

use super::{Costs, ExchangeError, MOST_SAID, Refusal, Terms};
use deltaline_model::wire::authentication::{Key, Keys, Unauthentic};
use deltaline_model::wire::frame::{Frame, FrameError, Role};
use deltaline_model::wire::message::{MOST_BYTES, MOST_WORDS, Message};
use std::io::{self, Read, Write};
use std::time::Instant;

/// What is said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    /// Of the sender: release of the exchange, length of the intervals, its key's number, share of the flows; of the receiver: the sender's number, its first interval and whether it has one.
    Greeting = 1,
    /// Why an end goes no further.
    Refusal = 2,
    /// An interval's table. Answer: whether the interval is whole, how many control frames follow, and from when to when packets were seen, and when for
    /// longest none was, as far as they were read, in nanoseconds since the Unix epoch.
    Table = 3,
    /// How many symbols more, in fours. Answer: of each four their counts, their checks, and their identifiers.
    Symbols = 4,
    /// Identifiers of packets to look for in the next interval. Answer: those that were found, and belong here now.
    FromNext = 5,
    /// Identifiers of packets that belong to the next interval. Answer: those that went there.
    ToNext = 6,
    /// Identifiers of packets that belong to the interval before. Answer: those that went there.
    ToPrevious = 7,
    /// Identifiers of packets to look for in the interval before. Answer: those that were found, and belong here now.
    FromPrevious = 8,
    /// Identifiers of packets. Answer: identifier and time of each that was seen.
    Times = 9,
    /// Rows of a bound table. Answer: its cells, as symbols.
    Bound = 10,
    /// The last question. Answer: what there is to be said of the recording ([`About`](super::About)).
    About = 11,
}

impl What {
    const ALL: [What; 11] = [
        What::Greeting,
        What::Refusal,
        What::Table,
        What::Symbols,
        What::FromNext,
        What::ToNext,
        What::ToPrevious,
        What::FromPrevious,
        What::Times,
        What::Bound,
        What::About,
    ];
}

/// What was said: all parts of it.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) what: What,
    pub(super) interval: u32,
    pub(super) question: u32,
    pub(super) words: Vec<u64>,
}

/// One end of a connection.
pub(super) struct Channel<'a, S> {
    stream: S,
    terms: &'a Terms,
    role: Role,
    /// Signs what is sent.
    pub(super) key: Option<Key>,
    /// Check what comes.
    keys: Option<Keys>,
    /// They are those of this conversation.
    has_begun: bool,
    pub(super) costs: Costs,
}

impl<'a, S: Read + Write> Channel<'a, S> {
    pub(super) fn new(stream: S, terms: &'a Terms, role: Role) -> Self {
        let (key, costs) = (terms.keys.as_ref().and_then(Keys::last).cloned(), Costs::default());
        Channel { stream, terms, role, key, keys: terms.keys.clone(), has_begun: false, costs }
    }

    pub(super) fn keys(&self) -> Option<&Keys> {
        self.keys.as_ref()
    }

    /// From now on, the keys of the conversation that these numbers at random make.
    pub(super) fn converse(&mut self, sender: u64, receiver: u64) {
        let number = u128::from(sender) << 64 | u128::from(receiver);
        self.key = self.key.as_ref().map(|key| key.of_conversation(number.to_be_bytes()));
        self.keys = self.key.clone().map(|key| {
            let mut keys = Keys::default();
            keys.add(key);
            keys
        });
        self.has_begun = true;
    }

    /// Says words, in as many parts as it takes.
    pub(super) fn say(
        &mut self,
        what: What,
        (interval, question): (u32, u32),
        words: &[u64],
    ) -> Result<(), ExchangeError> {
        let parts = words.len().div_ceil(MOST_WORDS).max(1);
        let too_much = ExchangeError::Rules("too much to say");
        let Ok(parts) = u16::try_from(parts) else { return Err(too_much) };
        for part in 0..parts {
            let words = words.chunks(MOST_WORDS).nth(usize::from(part)).unwrap_or_default();
            let message = Message {
                role: self.role,
                segment: self.terms.configuration.segment(),
                configuration: self.terms.configuration.id(),
                interval,
                question,
                what: what as u8,
                part,
                parts,
                key: self.key.as_ref().map_or(0, Key::id),
                words: words.to_vec(),
            };
            let Some(mut frame) = message.encode() else { return Err(too_much) };
            if let Some(key) = &self.key {
                key.sign(&mut frame);
            }
            self.send(&frame)?;
        }
        self.flush()
    }

    /// What the other end says next, with all its parts; none if the connection ends before.
    pub(super) fn listen(&mut self) -> Result<Option<Said>, ExchangeError> {
        let mut said: Option<Said> = None;
        for next in 0.. {
            let frame = match (self.receive()?, &said) {
                (Some(frame), _) => frame,
                (None, None) => return Ok(None),
                (None, Some(_)) => return Err(ExchangeError::Closed),
            };
            let decoded = Message::decode(&frame);
            let refusal =
                decoded.as_ref().ok().filter(|message| message.what == What::Refusal as u8).map(refused);
            // Who does not take our key cannot sign that. In a conversation nothing else is believed without a tag.
            let is_open = !self.has_begun || matches!(refusal, Some(ExchangeError::Refused(Refusal::Key)));
            match refusal {
                Some(refusal) if is_open || self.unauthentic(&frame).is_none() => return Err(refusal),
                _ => self.authenticate(&frame)?,
            }
            let Message { role, segment, configuration, interval, question, what, part, parts, key, words } =
                decoded.map_err(|error| self.spoilt(error))?;
            // It would not take our answers.
            if self.keys.is_none() && key != 0 {
                return Err(self.refuse(Refusal::Key));
            }
            let what = What::ALL.into_iter().find(|known| *known as u8 == what);
            let what = what.ok_or(ExchangeError::Rules("an unknown message"))?;
            if role == self.role {
                return Err(ExchangeError::Rules("a message of our own role"));
            }
            let terms = &self.terms.configuration;
            if configuration != terms.id() || segment != terms.segment() {
                return Err(self.refuse(Refusal::Configuration));
            }
            if part != next {
                return Err(ExchangeError::Rules("parts out of order"));
            }
            match &mut said {
                None => said = Some(Said { what, interval, question, words }),
                Some(said) => {
                    if (what, interval, question) != (said.what, said.interval, said.question)
                        || said.words.len() + words.len() > MOST_SAID
                    {
                        return Err(ExchangeError::Rules("parts of different messages, or too many"));
                    }
                    said.words.extend(words);
                }
            }
            if part + 1 >= parts {
                return Ok(said);
            }
        }
        Ok(said)
    }

    /// The next control frame of a table, which has to be one.
    pub(super) fn control_frame(&mut self) -> Result<Vec<u8>, ExchangeError> {
        let frame = self.receive()?.ok_or(ExchangeError::Closed)?;
        self.authenticate(&frame)?;
        Frame::decode(&frame).map_err(|error| self.spoilt(error))?;
        Ok(frame)
    }

    /// A right tag does not cover the check word: somebody has altered that.
    fn spoilt(&mut self, error: FrameError) -> ExchangeError {
        if self.keys.is_some() {
            self.refuse(Refusal::Key);
        }
        ExchangeError::Frame(error)
    }

    fn unauthentic(&self, frame: &[u8]) -> Option<Unauthentic> {
        self.keys.as_ref()?.check(frame).err()
    }

    /// With a key, refuses whatever has no right tag, before anything of it is read.
    fn authenticate(&mut self, frame: &[u8]) -> Result<(), ExchangeError> {
        let Some(reason) = self.unauthentic(frame) else { return Ok(()) };
        self.refuse(Refusal::Key);
        Err(ExchangeError::Unauthentic(reason))
    }

    /// Says why we go no further: that a key is wrong in a frame without a tag, which everybody understands, as before a conversation anything.
    pub(super) fn refuse(&mut self, refusal: Refusal) -> ExchangeError {
        self.key = self.key.take().filter(|_| self.has_begun && refusal != Refusal::Key);
        // Whether it arrives is the other end's affair, but not for our closing the connection before all has come that it says.
        if self.say(What::Refusal, (0, 0), &[refusal.number()]).is_ok() {
            self.hear_out();
        }
        ExchangeError::Refuses(refusal)
    }

    /// Passes over what still comes, until the other end has closed the connection or its time is over.
    fn hear_out(&mut self) {
        let deadline = Instant::now() + self.terms.patience;
        let mut passed_over = [0; 4096];
        while Instant::now() < deadline && matches!(self.stream.read(&mut passed_over), Ok(1..)) {}
    }

    /// Sends a frame.
    pub(super) fn send(&mut self, frame: &[u8]) -> Result<(), ExchangeError> {
        let deadline = Instant::now() + self.terms.patience;
        let length = (frame.len() as u32).to_be_bytes();
        for mut bytes in [&length[..], frame] {
            while !bytes.is_empty() {
                match self.stream.write(bytes) {
                    Ok(0) => return Err(ExchangeError::Closed),
                    Ok(written) => bytes = &bytes[written..],
                    Err(error) => give_up(error)?,
                }
                if Instant::now() > deadline {
                    return Err(ExchangeError::Silent);
                }
            }
        }
        self.costs.sent += 4 + frame.len() as u64;
        Ok(())
    }

    pub(super) fn flush(&mut self) -> Result<(), ExchangeError> {
        self.stream.flush().or_else(give_up)
    }

    /// The next frame, if the connection has not ended.
    pub(super) fn receive(&mut self) -> Result<Option<Vec<u8>>, ExchangeError> {
        let deadline = Instant::now() + self.terms.patience;
        let mut length = [0; 4];
        if !self.fill(&mut length, deadline)? {
            return Ok(None);
        }
        let length = u32::from_be_bytes(length) as usize;
        if length > MOST_BYTES {
            return Err(ExchangeError::Rules("a frame that is too long"));
        }
        let mut frame = vec![0; length];
        if !self.fill(&mut frame, deadline)? {
            return Err(ExchangeError::Closed);
        }
        self.costs.received += 4 + length as u64;
        Ok(Some(frame))
    }

    /// Fills the bytes; false if the connection ends before the first.
    fn fill(&mut self, bytes: &mut [u8], deadline: Instant) -> Result<bool, ExchangeError> {
        let mut filled = 0;
        while let Some(rest) = bytes.get_mut(filled..).filter(|rest| !rest.is_empty()) {
            match self.stream.read(rest) {
                Ok(0) if filled == 0 => return Ok(false),
                Ok(0) => return Err(ExchangeError::Closed),
                Ok(read) => filled += read,
                Err(error) => give_up(error)?,
            }
            if Instant::now() > deadline {
                return Err(ExchangeError::Silent);
            }
        }
        Ok(true)
    }
}

/// What a refusal says.
fn refused(message: &Message) -> ExchangeError {
    let reason =
        message.words.first().and_then(|word| Refusal::ALL.into_iter().find(|it| it.number() == *word));
    reason.map_or(ExchangeError::Closed, ExchangeError::Refused)
}

/// Goes on where a call was but interrupted.
fn give_up(error: io::Error) -> Result<(), ExchangeError> {
    match error.kind() {
        io::ErrorKind::Interrupted => Ok(()),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut => Err(ExchangeError::Silent),
        io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe | io::ErrorKind::ConnectionAborted => {
            Err(ExchangeError::Closed)
        }
        _ => Err(ExchangeError::Connection(error)),
    }
}
