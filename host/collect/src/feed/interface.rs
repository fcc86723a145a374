//! A network interface: control frames from it, and frames onto it.
//!
//! A thread of its own does nothing but take frames out of the socket and put them into a queue, so that the kernel's
//! buffer is emptied whatever the program is busy with. When the queue is full, too, the kernel drops frames, and counts
//! them.

use super::error::FeedError;
use super::event::{Event, Feed, WAIT};
use super::packet_socket::{Arrived, Link, PacketSocket, open_sender};
use super::recorder::Recorder;
use deltaline_capture::{PacketRef, pcapng_packet};
use socket2::Socket;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Weak};
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

/// Frames in the queue at most: those of some thousand intervals of a board.
const QUEUE: usize = 4096;

/// The frames of a network interface that have our EtherType, to whomever they are addressed.
pub struct Interface {
    name: String,
    events: Receiver<Event>,
    dropped: Arc<AtomicU64>,
    pub(super) recorder: Option<Recorder>,
}

impl Interface {
    /// Opens an interface by its name.
    ///
    /// # Errors
    ///
    /// [`FeedError`] when there is none of this name, it is down, or it may not be used.
    pub fn open(name: &str) -> Result<Self, FeedError> {
        let socket = Some(open(name)?);
        let (sender, events) = sync_channel(QUEUE);
        let dropped = Arc::default();
        let reader = Reader { name: name.into(), socket, events: sender, dropped: Arc::downgrade(&dropped) };
        let thread = thread::Builder::new().name("interface".into());
        match thread.spawn(move || reader.run()) {
            Ok(_) => Ok(Interface { name: name.into(), events, dropped, recorder: None }),
            Err(reason) => Err(FeedError::NoInterface { name: name.into(), reason: reason.to_string() }),
        }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many control frames came that the kernel had no room for.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

impl Interface {
    /// What comes next, within this time.
    pub(super) fn next_within(&mut self, wait: Duration) -> Event {
        let event = match self.events.recv_timeout(wait) {
            Ok(event) => event,
            Err(RecvTimeoutError::Timeout) => Event::Idle,
            // It never ends before.
            Err(RecvTimeoutError::Disconnected) => Event::End,
        };
        if let (Some(recorder), Event::Frame { bytes, captured }) = (&mut self.recorder, &event) {
            let (timestamp, length) = (captured.unwrap_or(0), bytes.len() as u32);
            recorder.write(&pcapng_packet(PacketRef { timestamp, length, interface: 0, data: bytes }));
        }
        event
    }
}

impl Feed for Interface {
    fn next_event(&mut self) -> Result<Event, FeedError> {
        Ok(self.next_within(WAIT))
    }
}

/// What the thread does.
struct Reader {
    name: String,
    /// None while the interface is away.
    socket: Option<PacketSocket>,
    events: SyncSender<Event>,
    /// Gone when nobody reads any more.
    dropped: Weak<AtomicU64>,
}

impl Reader {
    fn run(mut self) {
        let mut counted = Instant::now();
        while let Some(dropped) = self.dropped.upgrade() {
            let event = self.next();
            let is_due = counted.elapsed() >= WAIT || !matches!(event, Event::Frame { .. });
            if let Some(socket) = self.socket.as_ref().filter(|_| is_due) {
                dropped.fetch_add(socket.take_drops(), Ordering::Relaxed);
                counted = Instant::now();
            }
            if let Event::Lost(_) = event {
                self.socket = None;
            }
            if event != Event::Idle && self.events.send(event).is_err() {
                return;
            }
        }
    }

    fn next(&mut self) -> Event {
        let Some(socket) = &self.socket else {
            let Ok(socket) = open(&self.name) else {
                sleep(WAIT);
                return Event::Idle;
            };
            self.socket = Some(socket);
            return Event::Restored;
        };
        match socket.receive() {
            Ok(Arrived { bytes, time }) => Event::Frame { bytes, captured: time },
            Err(reason) => match reason.kind() {
                io::ErrorKind::TimedOut | io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock => {
                    Event::Idle
                }
                _ => Event::Lost(reason.to_string()),
            },
        }
    }
}

/// Sends frames out of a network interface.
pub struct Sender {
    socket: Socket,
    name: String,
}

impl Sender {
    /// Opens an interface by its name.
    ///
    /// # Errors
    ///
    /// [`FeedError`] when there is none of this name, it is down or has no carrier, or it may not be used.
    pub fn open(name: &str) -> Result<Self, FeedError> {
        let socket = open_by(name, open_sender)?;
        let name = name.to_string();
        if has_carrier(&name) { Ok(Sender { socket, name }) } else { Err(FeedError::NoCarrier { name }) }
    }

    /// Sends an Ethernet frame, from its destination MAC address on, without check sequence.
    ///
    /// # Errors
    ///
    /// [`io::ErrorKind::NetworkDown`] without a carrier, where frames vanish without a word; what the operating system
    /// says.
    pub fn send(&self, frame: &[u8]) -> io::Result<()> {
        if !has_carrier(&self.name) {
            return Err(io::ErrorKind::NetworkDown.into());
        }
        self.socket.send(frame).map(|_| ())
    }
}

/// Asked of the kernel: what `/sys` shows may be another network namespace's.
fn has_carrier(name: &str) -> bool {
    Link::find(name).is_some_and(|link| link.has_carrier)
}

fn open(name: &str) -> Result<PacketSocket, FeedError> {
    open_by(name, |link| PacketSocket::open(link, WAIT))
}

fn open_by<T>(name: &str, open: impl FnOnce(&Link) -> io::Result<T>) -> Result<T, FeedError> {
    let found = Link::find(name);
    let name = name.to_string();
    let Some(link) = found else {
        return Err(FeedError::Missing { name, ports: vec![], interfaces: Link::names() });
    };
    if !link.is_up {
        return Err(FeedError::InterfaceDown { name });
    }
    if !link.is_ethernet() {
        return Err(FeedError::NoInterface { name, reason: "it carries no Ethernet frames".into() });
    }
    open(&link).map_err(|reason| match reason.kind() {
        io::ErrorKind::PermissionDenied => FeedError::InterfaceDenied { name },
        _ => FeedError::NoInterface { name, reason: reason.to_string() },
    })
}
