//! Real traffic over real queues, in network namespaces: a [`Path`] of two hops, and a [`Network`](network::Network) of routers.
//!
//! The path has two hosts, which record, and the router between them:
//!
//! ```text
//!    sender                     router                                      receiver
//!  UDP and TCP ─► veth ─────► veth ─► forwards ─┬─► 31 of 32: queue, 20 Mbit/s ┬─► veth ─────► veth ─► sinks
//!            recorder                           └─► 1 of 32: 4 Mbit/s ─────────┘            recorder
//! ```
//!
//! Everything between the ends is the kernel's: its sockets, its forwarding, its token buckets. What finds no room in a queue is lost, and the
//! kernel counts it; what takes the slow way is overtaken. Both ends have one clock, so that delays are exact.
//!
//! To root alone, as a rule: elsewhere [`Path::new`] says why there is none.
//!
//! # Test plan
//!
//! What the recorders lack is what the router counts as dropped; an exchange of both recordings against exact matching
//! (`tests/path.rs`). Networks have their own.

mod answering;
mod namespace;
pub mod network;
mod recorder;
mod traffic;

use answering::Answering;
use deltaline_capture::Packet;
use deltaline_stamp::PORT;
use deltaline_stamp::sender::Outcome;
use namespace::{Namespace, command};
use std::io;
use std::net::Ipv4Addr;
use std::thread;
use std::time::Duration;
pub use traffic::Traffic;

/// Addresses of the sender, of the router at either side, and of the receiver.
const SENDER: Ipv4Addr = Ipv4Addr::new(10, 77, 1, 1);
const ROUTER: [Ipv4Addr; 2] = [Ipv4Addr::new(10, 77, 1, 2), Ipv4Addr::new(10, 77, 2, 2)];
const RECEIVER: Ipv4Addr = Ipv4Addr::new(10, 77, 2, 1);
/// Interfaces of the sender, of the router at either side, and of the receiver.
const INTERFACES: [&str; 4] = ["out", "near", "far", "in"];
/// How long packets may still be under way when the traffic has ended.
const TAIL: Duration = Duration::from_millis(600);

/// The router's queues towards the receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queues {
    /// One for all.
    One,
    /// A slow one besides, for one packet in 32, so that packets are overtaken.
    Two,
}

/// Sender, router and receiver, as long as this lives.
pub struct Path {
    sender: Namespace,
    router: Namespace,
    receiver: Namespace,
}

/// What both ends have recorded.
pub struct Recording {
    /// Packets that the sender sent, in the order in which they left.
    pub sender: Vec<Packet>,
    /// Packets that the receiver got from the sender.
    pub receiver: Vec<Packet>,
    /// Packets that each recorder had no room for.
    pub unrecorded: [u64; 2],
    /// Packets that the router's queues had no room for.
    pub dropped: u64,
    /// What came of the test packets, session by session.
    pub tested: Vec<Outcome>,
}

impl Path {
    /// Makes the path.
    ///
    /// # Errors
    ///
    /// What the system does not permit or does not have.
    pub fn new(queues: Queues) -> io::Result<Self> {
        let [sender, router, receiver] = ["sender", "router", "receiver"].map(Namespace::new);
        let path = Path { sender: sender?, router: router?, receiver: receiver? };
        path.join()?;
        path.shape(queues)?;
        Ok(path)
    }

    fn join(&self) -> io::Result<()> {
        let [out, near, far, into] = INTERFACES;
        let (sender, router, receiver) = (&self.sender, &self.router, &self.receiver);
        // Hosts with IPv6 introduce themselves when they like, and the router's queue would drop and count that as well.
        const QUIET: &str = "/proc/sys/net/ipv6/conf/default/disable_ipv6";
        for namespace in [sender, router, receiver] {
            namespace.inside(|| {
                if std::path::Path::new(QUIET).exists() { std::fs::write(QUIET, "1") } else { Ok(()) }
            })??;
        }
        let pair = |one: &Namespace, name, other: &Namespace, peer| {
            let end = ["type", "veth", "peer", "name", peer, "netns", other.name()];
            one.ip(&[&["link", "add", name][..], &end].concat())
        };
        pair(sender, out, router, near)?;
        pair(router, far, receiver, into)?;
        let ends = [
            (sender, out, SENDER),
            (router, near, ROUTER[0]),
            (router, far, ROUTER[1]),
            (receiver, into, RECEIVER),
        ];
        for (namespace, interface, address) in ends {
            namespace.ip(&["address", "add", &format!("{address}/24"), "dev", interface])?;
            // TCP in packets as they are on a wire.
            namespace.ip(&["link", "set", interface, "gso_max_segs", "1", "up"])?;
        }
        sender.ip(&["route", "add", "default", "via", &ROUTER[0].to_string()])?;
        receiver.ip(&["route", "add", "default", "via", &ROUTER[1].to_string()])?;
        router.inside(|| std::fs::write("/proc/sys/net/ipv4/ip_forward", "1"))?
    }

    fn shape(&self, queues: Queues) -> io::Result<()> {
        let tc = |arguments: &str| {
            let all = ["-n", self.router.name()].into_iter().chain(arguments.split(' '));
            command("tc", &all.collect::<Vec<_>>()).map(|_| ())
        };
        if queues == Queues::One {
            return tc("qdisc add dev far root tbf rate 20mbit burst 4kb limit 60kb");
        }
        tc("qdisc add dev far root handle 1: htb default 10 r2q 1000")?;
        tc("class add dev far parent 1: classid 1:10 htb rate 1gbit")?;
        tc("class add dev far parent 1: classid 1:20 htb rate 1gbit")?;
        tc("qdisc add dev far parent 1:10 handle 10: tbf rate 20mbit burst 4kb limit 60kb")?;
        tc("qdisc add dev far parent 1:20 handle 20: tbf rate 4mbit burst 2kb limit 30kb")?;
        // By TCP's IP identification, or the first byte of UDP's data.
        let filter = "filter add dev far parent 1: protocol ip prio";
        tc(&format!("{filter} 1 u32 match ip protocol 17 0xff match u8 0x05 0x1f at 28 flowid 1:20"))?;
        tc(&format!("{filter} 2 u32 match ip protocol 6 0xff match u16 0x0005 0x001f at 4 flowid 1:20"))
    }

    /// Sends traffic over the path and records both ends.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn record(&self, traffic: &Traffic) -> io::Result<Recording> {
        let [out, _, _, into] = INTERFACES;
        let wants = |frame: &[u8]| frame.get(26..30) == Some(&SENDER.octets());
        let recorders = [
            self.sender.inside(|| recorder::Recorder::start(out, wants))??,
            self.receiver.inside(|| recorder::Recorder::start(into, wants))??,
        ];
        let sinks = self.receiver.inside(|| traffic::Sinks::open(RECEIVER))??;
        let reflector = self.receiver.inside(|| Answering::start((RECEIVER, PORT).into()))??;
        let tested = self.sender.inside(|| traffic.send(RECEIVER))??;
        thread::sleep(TAIL);
        drop((sinks, reflector));
        let [(sender, lost), (receiver, missing)] = recorders.map(recorder::Recorder::end);
        Ok(Recording { sender, receiver, unrecorded: [lost, missing], dropped: self.dropped()?, tested })
    }

    /// Packets that the router's queues have had no room for.
    fn dropped(&self) -> io::Result<u64> {
        let said = command("tc", &["-n", self.router.name(), "-s", "qdisc", "show", "dev", "far"])?;
        // Of the whole; those of its parts are among them.
        let whole = said.split("qdisc ").find(|part| part.contains(" root "));
        let dropped = whole.and_then(|part| part.split("(dropped ").nth(1)?.split(',').next()?.parse().ok());
        dropped.ok_or_else(|| io::Error::other("tc does not say how many packets were dropped"))
    }
}
