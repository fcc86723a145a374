//! The reflector: answers every test packet, and counts those of each session.
//!
//! Its own sequence numbers say how many test packets of the session have come (RFC 8762, section 4: stateful), so that a sender can tell
//! on which way a packet was lost. A session is an address, a port and an identifier; a packet numbered zero begins it anew, if it says a later
//! time than any before. A packet that comes again, or is of before its session, is answered and not counted: whoever sends old packets again moves no
//! number. There
//! is room for [`MOST_SESSIONS`]; one that is silent for a quarter of an hour gives way. While there is no room a packet's own number is the answer's, as
//! of a reflector that keeps nothing.
//!
//! What comes from the reflector's own port number is refused: it may be another reflector's answer, or this one's, of a packet with a forged
//! source, and would be answered for ever.
//!
//! An answer is as long as its packet: a forged sender's address gets no more than was sent in its name.

use crate::packet::{Answer, Key, Stamp};
use crate::socket::Socket;
use crate::time::{ErrorEstimate, now, to_ntp};
use std::collections::HashMap;
use std::io;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

/// Sessions that are counted at a time.
pub const MOST_SESSIONS: usize = 1 << 16;
/// A session that is silent for so long gives way.
const SILENCE: Duration = Duration::from_secs(900);
/// Silent sessions are looked for no more often than this.
const SEARCH: Duration = Duration::from_secs(1);

/// What became of what came.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reflected {
    /// Test packets that were answered.
    pub answered: u64,
    /// Packets that were none, or not signed by the key.
    pub refused: u64,
    /// Answers that the system did not send.
    pub unsent: u64,
    /// Test packets of sessions that there was no room for; they were answered.
    pub uncounted: u64,
}

/// The reflector.
pub struct Reflector {
    socket: Socket,
    /// Its own; none if the system does not say.
    port: Option<u16>,
    key: Option<Key>,
    sessions: HashMap<(SocketAddr, u16), Session>,
    searched: Instant,
    reflected: Reflected,
}

struct Session {
    packets: u32,
    heard: Instant,
    /// The times of its first packet and of its latest, as these say.
    since: u64,
    latest: u64,
    /// The highest number, and which of the [`WINDOW`] up to it have come, the highest in the lowest bit.
    highest: u32,
    seen: u128,
}

/// Of so many numbers it is known whether they have come.
const WINDOW: u32 = u128::BITS;

/// Whether a time is later than another one, of those that wrap.
fn is_later(one: u64, other: u64) -> bool {
    one.wrapping_sub(other) as i64 > 0
}

impl Session {
    fn new(asked: &Stamp, heard: Instant) -> Self {
        let (since, latest) = (asked.time, asked.time);
        Session { packets: 0, heard, since, latest, highest: asked.number, seen: 0 }
    }

    /// Whether a packet has not come before.
    fn is_new(&mut self, asked: &Stamp) -> bool {
        if is_later(self.since, asked.time) {
            return false;
        }
        if is_later(asked.time, self.latest) {
            self.latest = asked.time;
        }
        let ahead = asked.number.wrapping_sub(self.highest) as i32;
        if ahead > 0 {
            self.seen = self.seen.checked_shl(ahead.unsigned_abs()).unwrap_or(0);
            self.highest = asked.number;
        }
        let behind = self.highest.wrapping_sub(asked.number);
        let bit = if behind < WINDOW { 1 << behind } else { 0 };
        let is_new = bit & !self.seen != 0;
        self.seen |= bit;
        is_new
    }
}

impl Reflector {
    /// One that answers what comes to a socket, and with a key only what that has signed.
    pub fn new(socket: Socket, key: Option<Key>) -> Self {
        let reflected = Reflected::default();
        let port = socket.address().ok().map(|address| address.port());
        Reflector { socket, port, key, sessions: HashMap::new(), searched: Instant::now(), reflected }
    }

    /// Answers one packet, if one comes within [`WAIT`](crate::socket::WAIT).
    ///
    /// # Errors
    ///
    /// Those of the socket.
    pub fn answer_next(&mut self) -> io::Result<()> {
        let arrived = match self.socket.receive() {
            Ok(Some(arrived)) => arrived,
            Ok(None) => return Ok(()),
            // An answer before went where nobody listens: that is another's affair.
            Err(reason) if reason.kind() == io::ErrorKind::ConnectionRefused => return Ok(()),
            Err(reason) => return Err(reason),
        };
        let asked = Stamp::read(&arrived.packet, self.key.as_ref());
        let (Ok(asked), false) = (asked, self.port == Some(arrived.from.port())) else {
            self.reflected.refused += 1;
            return Ok(());
        };
        let number = self.number(arrived.from, &asked);
        let error = ErrorEstimate::UNKNOWN;
        let mut answer = Answer {
            stamp: Stamp { number, time: 0, error, session: asked.session },
            arrival: to_ntp(arrived.time),
            asked,
            ttl: arrived.ttl.unwrap_or(u8::MAX),
        };
        answer.stamp.time = to_ntp(now());
        let packet = answer.packet(self.key.as_ref(), &arrived.packet);
        match self.socket.send(&packet, Some(arrived.from)) {
            Ok(()) => self.reflected.answered += 1,
            Err(_) => self.reflected.unsent += 1,
        }
        Ok(())
    }

    /// What became of all that came so far.
    pub fn reflected(&self) -> Reflected {
        self.reflected
    }

    /// Where it is.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.socket.address()
    }

    fn number(&mut self, from: SocketAddr, asked: &Stamp) -> u32 {
        let (now, session) = (Instant::now(), (from, asked.session));
        if self.sessions.len() >= MOST_SESSIONS && now - self.searched >= SEARCH {
            self.sessions.retain(|_, session| now - session.heard < SILENCE);
            self.searched = now;
        }
        let has_room = self.sessions.len() < MOST_SESSIONS;
        if !has_room && !self.sessions.contains_key(&session) {
            self.reflected.uncounted += 1;
            return asked.number;
        }
        let session = self.sessions.entry(session).or_insert_with(|| Session::new(asked, now));
        if asked.number == 0 && is_later(asked.time, session.latest) {
            *session = Session::new(asked, now);
        }
        session.heard = now;
        let number = session.packets;
        session.packets = session.packets.wrapping_add(u32::from(session.is_new(asked)));
        number
    }
}
