//! A network interface: frames from it, and onto it.

use super::error::FeedError;
use super::event::{Event, Feed, WAIT};
use pnet_datalink::{Channel, Config, DataLinkReceiver, DataLinkSender, NetworkInterface};
use std::io;
use std::thread::sleep;

/// Longer than any frame that is of interest.
const LONGEST: usize = 1 << 16;

/// The frames of a network interface, to whomever they are addressed.
pub struct Interface {
    name: String,
    /// None while it is away.
    receiver: Option<Box<dyn DataLinkReceiver>>,
}

impl Interface {
    /// Opens an interface by its name.
    ///
    /// # Errors
    ///
    /// [`FeedError`] when there is none of this name, it is down, or it may not be used.
    pub fn open(name: &str) -> Result<Self, FeedError> {
        Ok(Interface { name: name.into(), receiver: Some(open(name, true)?.1) })
    }

    fn next(&mut self) -> Event {
        let Some(receiver) = &mut self.receiver else {
            let Ok((_, receiver)) = open(&self.name, true) else {
                sleep(WAIT);
                return Event::Idle;
            };
            self.receiver = Some(receiver);
            return Event::Restored;
        };
        match receiver.next() {
            Ok(frame) => Event::Frame { bytes: frame.to_vec(), captured: None },
            Err(reason) => match reason.kind() {
                io::ErrorKind::TimedOut | io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock => {
                    Event::Idle
                }
                _ => {
                    self.receiver = None;
                    Event::Lost(reason.to_string())
                }
            },
        }
    }
}

impl Feed for Interface {
    fn next_event(&mut self) -> Result<Event, FeedError> {
        Ok(self.next())
    }
}

/// Sends frames out of a network interface.
pub struct Sender(Box<dyn DataLinkSender>);

impl Sender {
    /// Opens an interface by its name.
    ///
    /// # Errors
    ///
    /// [`FeedError`] when there is none of this name, it is down, or it may not be used.
    pub fn open(name: &str) -> Result<Self, FeedError> {
        Ok(Sender(open(name, false)?.0))
    }

    /// Sends an Ethernet frame, from its destination MAC address on, without check sequence.
    ///
    /// # Errors
    ///
    /// What the operating system says.
    pub fn send(&mut self, frame: &[u8]) -> io::Result<()> {
        self.0.send_to(frame, None).unwrap_or(Err(io::ErrorKind::OutOfMemory.into()))
    }
}

/// Both directions of an interface.
type Ends = (Box<dyn DataLinkSender>, Box<dyn DataLinkReceiver>);

/// Listens to others' frames, too, if asked to.
fn open(name: &str, promiscuous: bool) -> Result<Ends, FeedError> {
    let found = find(name);
    let name = name.to_string();
    let Some(interface) = found else {
        return Err(FeedError::Missing { name, ports: vec![], interfaces: names() });
    };
    if !interface.is_up() {
        return Err(FeedError::InterfaceDown { name });
    }
    let config =
        Config { read_timeout: Some(WAIT), read_buffer_size: LONGEST, promiscuous, ..Config::default() };
    match pnet_datalink::channel(&interface, config) {
        Ok(Channel::Ethernet(sender, receiver)) => Ok((sender, receiver)),
        Ok(_) => Err(FeedError::NoInterface { name, reason: "it carries no Ethernet frames".into() }),
        Err(reason) if reason.kind() == io::ErrorKind::PermissionDenied => {
            Err(FeedError::InterfaceDenied { name })
        }
        Err(reason) => Err(FeedError::NoInterface { name, reason: reason.to_string() }),
    }
}

fn find(name: &str) -> Option<NetworkInterface> {
    pnet_datalink::interfaces().into_iter().find(|interface| interface.name == name)
}

pub(super) fn exists(name: &str) -> bool {
    find(name).is_some()
}

/// The network interfaces that there are.
pub(super) fn names() -> Vec<String> {
    pnet_datalink::interfaces().into_iter().map(|interface| interface.name).collect()
}
