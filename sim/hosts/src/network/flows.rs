//! Traffic from every router to every other; each packet says when it was sent.
//!
//! # Test plan
//!
//! With the network: as much as was sent arrives while nothing is squeezed, at every interface on the way.

use super::{Flow, Network};
use deltaline_capture::Packet;
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::io;
use std::net::UdpSocket;
use std::thread::{self, sleep};
use std::time::{Duration, Instant, SystemTime};

/// The port that all are sent to.
const PORT: u16 = 4000;
/// Octets of data, and of the headers of Ethernet, IPv4 and UDP before it.
const DATA: usize = 558;
const HEADERS: usize = 14 + 20 + 8;
/// Octets of a packet.
pub const LENGTH: u64 = (HEADERS + DATA) as u64;

/// A socket for each pair of routers.
pub struct Flows {
    /// By sender; and who takes what arrives, which nobody reads.
    senders: Vec<Vec<UdpSocket>>,
    _sinks: Vec<UdpSocket>,
}

impl Flows {
    /// Opens the sockets.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn open(network: &Network) -> io::Result<Self> {
        let at = |router: usize| (network.address(router), PORT);
        let sinks =
            (0..network.len()).map(|router| network.inside(router, || UdpSocket::bind(at(router)))?);
        let sinks: io::Result<Vec<UdpSocket>> = sinks.collect();
        let mut senders: Vec<Vec<UdpSocket>> = (0..network.len()).map(|_| vec![]).collect();
        for (from, to) in network.pairs() {
            let socket = network.inside(from, || UdpSocket::bind((network.address(from), 0)))??;
            socket.connect(at(to))?;
            senders[from].push(socket);
        }
        Ok(Flows { senders, _sinks: sinks? })
    }

    /// All flows.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn all(&self) -> io::Result<Vec<Flow>> {
        let flow = |from: usize, place: usize, socket: &UdpSocket| -> io::Result<Flow> {
            // A router has none to itself.
            let to = if place < from { place } else { place + 1 };
            Ok(Flow { from, to, ports: [socket.local_addr()?.port(), PORT] })
        };
        let senders = self.senders.iter().enumerate();
        senders
            .flat_map(|(from, sockets)| {
                sockets.iter().enumerate().map(move |(place, socket)| (from, place, socket))
            })
            .map(|(from, place, socket)| flow(from, place, socket))
            .collect()
    }

    /// Sends packets for as long as this, of each flow one in `distance` on average, at exponential distances: nothing that is sent at equal ones
    /// besides meets the same of them each time.
    pub fn send(&self, lasts: Duration, distance: Duration, seed: u64) {
        thread::scope(|scope| {
            for (sockets, seed) in self.senders.iter().zip(seed..) {
                scope.spawn(move || {
                    let mut random = StdRng::seed_from_u64(seed);
                    let (begun, mut due) = (Instant::now(), Duration::ZERO);
                    while due < lasts && !sockets.is_empty() {
                        sleep((begun + due).saturating_duration_since(Instant::now()));
                        // What no way leads for is not sent.
                        let _ = sockets[random.random_range(0..sockets.len())].send(&data());
                        let apart = -random.random_range(f64::EPSILON..1.0).ln() / sockets.len() as f64;
                        due += distance.mul_f64(apart);
                    }
                });
            }
        });
    }
}

/// The data of a packet that is sent now.
fn data() -> [u8; DATA] {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let mut data = [0; DATA];
    data[..8].copy_from_slice(&(now.as_nanos() as u64).to_be_bytes());
    data
}

/// Whether a frame is a packet of a flow.
pub(super) fn is_of_a_flow(frame: &[u8]) -> bool {
    // IPv4, UDP, the port: the header has no options.
    frame.get(12..14) == Some(&[8, 0])
        && frame.get(23) == Some(&17)
        && frame.get(36..38) == Some(&PORT.to_be_bytes())
}

/// How long a packet was under way to a router where it was recorded, in nanoseconds, by what it says itself.
pub fn exact_delay(packet: &Packet) -> Option<i64> {
    let sent = packet.data.get(HEADERS..HEADERS + 8)?.try_into().ok()?;
    Some(packet.timestamp.wrapping_sub(u64::from_be_bytes(sent)) as i64)
}
