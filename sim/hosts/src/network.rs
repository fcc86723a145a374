//! A network of routers, each in a network namespace, whose routes FRR's OSPF finds.
//!
//! ```text
//!   router 0                                router 1
//!  10.78.0.1 on lo                         10.78.0.2 on lo
//!   zebra, ospfd                            zebra, ospfd
//!      to-1 ───────────── veth ───────────── to-0
//!        │ squeezed: a token bucket           recorder of both directions
//! ```
//!
//! The topology says who is joined to whom, at which cost of OSPF in either direction. What routers forward, and which of several paths of
//! equal cost a flow takes, is the kernel's own; [`Network::way`] asks its tables. All routers have one clock.
//!
//! A frame's hardware addresses say which router sent it and which one gets it, so that a recorder of an interface knows what comes
//! and what goes. What goes is recorded behind the interface's queue.
//!
//! # Test plan
//!
//! `tests/network.rs`: what OSPF finds is the topology, kernels' ways are its shortest paths; a link that fails is gone from both, and comes back.

mod flows;
mod routing;
mod session;

use crate::namespace::{Namespace, command};
use crate::recorder::Recorder;
use deltaline_capture::Packet;
use deltaline_station::{Routes, Topology, parse};
pub use flows::{Flows, LENGTH, exact_delay};
pub use routing::Suite;
use routing::{Interface, Routing};
pub use session::{Reflectors, Session};
use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// Most routers, and most links: what their addresses have room for.
const MOST_ROUTERS: usize = 250;
const MOST_LINKS: usize = 1 << 14;
/// How long routes may take until they are there.
const PATIENCE: Duration = Duration::from_secs(90);
const PAUSE: Duration = Duration::from_millis(200);
/// What each namespace is told: it forwards, by addresses and ports, whatever way packets come.
const SETTINGS: [(&str, &str); 6] = [
    ("ipv6/conf/all/disable_ipv6", "1"),
    ("ipv6/conf/default/disable_ipv6", "1"),
    ("ipv4/ip_forward", "1"),
    ("ipv4/fib_multipath_hash_policy", "1"),
    ("ipv4/conf/all/rp_filter", "0"),
    ("ipv4/conf/default/rp_filter", "0"),
];

/// A network, as long as this lives.
pub struct Network {
    topology: Topology,
    // Daemons end before their namespaces go.
    routing: Vec<Routing>,
    routers: Vec<Namespace>,
}

/// A flow of UDP between two routers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// The router that sends it.
    pub from: usize,
    /// The router that it is for.
    pub to: usize,
    /// Ports of both.
    pub ports: [u16; 2],
}

/// Frames that passed a router's interfaces, in the order of their times.
#[derive(Clone, Debug, Default)]
pub struct Passed {
    /// Frames that came.
    pub arrived: Vec<Packet>,
    /// Frames that went, behind the queues.
    pub left: Vec<Packet>,
    /// Frames that a recorder had no room for.
    pub unrecorded: u64,
}

impl Network {
    /// Makes a network of this topology, and waits for its routes.
    ///
    /// # Errors
    ///
    /// What the system does not permit or does not have; links of one direction, and more routers or links than there are addresses for; routes that do
    /// not come.
    pub fn new(topology: &Topology, suite: &Suite) -> io::Result<Self> {
        let routers: io::Result<Vec<Namespace>> =
            (0..topology.len()).map(|router| Namespace::new(&router.to_string())).collect();
        let mut network = Network { topology: topology.clone(), routing: vec![], routers: routers? };
        network.join()?;
        for router in 0..network.len() {
            let links = topology.links(router).iter();
            let interfaces = links.map(|&(to, cost)| Interface { name: interface(to), cost });
            let interfaces: Vec<Interface> = interfaces.collect();
            let namespace = &network.routers[router];
            let routing = Routing::start(suite, namespace, network.address(router), &interfaces)?;
            network.routing.push(routing);
        }
        network.await_routes()?;
        Ok(network)
    }

    fn join(&self) -> io::Result<()> {
        let links: Vec<(usize, usize)> = (0..self.len())
            .flat_map(|from| self.topology.links(from).iter().map(move |&(to, _)| (from, to)))
            .collect();
        if let Some((from, to)) = links.iter().find(|&&(from, to)| !links.contains(&(to, from))) {
            let [from, to] = [from, to].map(|&router| self.topology.name(router));
            return Err(io::Error::other(format!("a link leads from {from} to {to}, and none back")));
        }
        if self.len() > MOST_ROUTERS || links.len() > MOST_LINKS {
            let what = format!("more than {MOST_ROUTERS} routers, or {MOST_LINKS} links");
            return Err(io::Error::other(what));
        }
        for (router, namespace) in self.routers.iter().enumerate() {
            namespace.inside(|| -> io::Result<()> {
                for (setting, value) in SETTINGS {
                    let file = Path::new("/proc/sys/net").join(setting);
                    if file.exists() {
                        fs::write(file, value)?;
                    }
                }
                Ok(())
            })??;
            let address = format!("{}/32", self.address(router));
            namespace.ip(&["address", "add", &address, "dev", "lo"])?;
        }
        for (number, &(from, to)) in links.iter().filter(|(from, to)| from < to).enumerate() {
            let ends = [(from, to), (to, from)];
            let [near, far] = ends.map(|(here, there)| (interface(there), text(hardware(here, there))));
            let peer = ["peer", "name", &far.0, "address", &far.1, "netns", self.routers[to].name()];
            let pair = ["link", "add", &near.0, "address", &near.1, "type", "veth"];
            self.routers[from].ip(&[&pair[..], &peer[..]].concat())?;
            for (last, (here, there)) in (1..).zip(ends) {
                let address = format!("10.79.{}.{}/30", number / 64, number % 64 * 4 + last);
                self.routers[here].ip(&["address", "add", &address, "dev", &interface(there)])?;
                self.routers[here].ip(&["link", "set", &interface(there), "up"])?;
            }
        }
        Ok(())
    }

    /// Waits until OSPF and all kernels know the topology as it is built.
    fn await_routes(&self) -> io::Result<()> {
        let begun = Instant::now();
        loop {
            let missing = self.missing()?;
            match missing {
                None => return Ok(()),
                Some(what) if begun.elapsed() > PATIENCE => {
                    return Err(io::Error::new(io::ErrorKind::TimedOut, what));
                }
                Some(_) => thread::sleep(PAUSE),
            }
        }
    }

    /// What is not yet as it is built.
    fn missing(&self) -> io::Result<Option<String>> {
        let links = |topology: &Topology| -> Vec<Vec<(usize, u32)>> {
            (0..self.len()).map(|router| topology.links(router).to_vec()).collect()
        };
        for router in 0..self.len() {
            // Until the daemons are there, they have no socket.
            let is_known = self.observed_by(router).is_ok_and(|known| links(&known) == links(&self.topology));
            if !is_known {
                return Ok(Some(format!("{} does not know all links", self.topology.name(router))));
            }
        }
        let routes = Routes::of(&self.topology);
        for (from, to) in self.pairs().filter(|&(from, to)| routes.distance(from, to).is_some()) {
            let way = self.way(&Flow { from, to, ports: [1024, 862] })?;
            let is_short = way.is_some_and(|way| {
                way.windows(2).all(|hop| routes.next(from, hop[0]).any(|next| next == hop[1]))
            });
            if !is_short {
                let [from, to] = [from, to].map(|router| self.topology.name(router));
                return Ok(Some(format!("no shortest way leads from {from} to {to}")));
            }
        }
        Ok(None)
    }

    /// How many routers there are.
    #[expect(clippy::len_without_is_empty, reason = "a network of nothing is of no use")]
    pub fn len(&self) -> usize {
        self.topology.len()
    }

    /// All ordered pairs of different routers.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let routers = self.len();
        (0..routers * routers)
            .map(move |pair| (pair / routers, pair % routers))
            .filter(|(from, to)| from != to)
    }

    /// The topology as it is built.
    pub fn topology(&self) -> &Topology {
        &self.topology
    }

    /// A router's own address.
    pub fn address(&self, router: usize) -> Ipv4Addr {
        Ipv4Addr::new(10, 78, 0, (router + 1).min(255) as u8)
    }

    /// Does this in a router's namespace, where the sockets that it makes stay.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn inside<T: Send>(&self, router: usize, work: impl FnOnce() -> T + Send) -> io::Result<T> {
        self.namespace(router)?.inside(work)
    }

    fn namespace(&self, router: usize) -> io::Result<&Namespace> {
        self.routers.get(router).ok_or_else(|| io::Error::other(format!("there is no router {router}")))
    }

    /// The topology as a router knows it at present, from its OSPF database, under the names and numbers of that which is built.
    ///
    /// # Errors
    ///
    /// What the daemon says; a database that cannot be read.
    pub fn observed_by(&self, router: usize) -> io::Result<Topology> {
        let routing = self.routing.get(router);
        let text = routing.ok_or_else(|| io::Error::other("it has no routing"))?.database()?;
        let database = parse("the OSPF database", &text).map_err(io::Error::other)?;
        let mut observed = Topology::new();
        let names: Vec<&str> = (0..self.len()).map(|router| self.topology.name(router)).collect();
        names.iter().try_for_each(|name| observed.router(name).map(|_| ())).map_err(io::Error::other)?;
        let of = |router: usize| database.number(&self.address(router).to_string());
        let known: Vec<(usize, usize)> =
            (0..self.len()).filter_map(|router| Some((of(router)?, router))).collect();
        for &(number, from) in &known {
            for &(end, cost) in database.links(number) {
                let to = known.iter().find(|(number, _)| *number == end);
                let Some(&(_, to)) = to else { continue };
                observed.link(names[from], names[to], cost).map_err(io::Error::other)?;
            }
        }
        Ok(observed)
    }

    /// The way on which the kernels' tables lead a flow at present; none if one of them has no route, or they lead it in a circle.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn way(&self, flow: &Flow) -> io::Result<Option<Vec<usize>>> {
        let (to, from) = (self.address(flow.to).to_string(), self.address(flow.from).to_string());
        let ports = flow.ports.map(|port| port.to_string());
        let mut way = vec![flow.from];
        while let Some(&here) = way.last().filter(|&&here| here != flow.to) {
            let before = way.len().checked_sub(2).map(|place| interface(way[place]));
            let mut question = vec!["-n", self.namespace(here)?.name(), "route", "get", &to, "from", &from];
            if let Some(before) = &before {
                question.extend(["iif", before]);
            }
            question.extend(["ipproto", "udp", "sport", &ports[0], "dport", &ports[1]]);
            let answer = match command("ip", &question) {
                // It says so by its exit code.
                Err(error) if error.kind() == io::ErrorKind::Other => return Ok(None),
                answer => answer?,
            };
            let mut words = answer.split_whitespace().skip_while(|word| *word != "dev").skip(1);
            let next = words.next().and_then(|name| name.strip_prefix("to-")?.parse().ok());
            match next {
                Some(next) if way.len() < self.len() => way.push(next),
                _ => return Ok(None),
            }
        }
        Ok(Some(way))
    }

    /// Makes the queue from a router to the next one slow: so many bits a second, hardly more than a packet at once, and room for so many bytes.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn squeeze(&self, from: usize, to: usize, rate: u64, room: u64) -> io::Result<()> {
        let (rate, room) = (format!("{rate}bit"), room.to_string());
        let bucket = ["root", "tbf", "rate", &rate, "burst", "700", "limit", &room];
        self.queue(from, to, "replace", &bucket)
    }

    /// Gives the queue back what it had.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn release(&self, from: usize, to: usize) -> io::Result<()> {
        self.queue(from, to, "delete", &["root"])
    }

    fn queue(&self, from: usize, to: usize, action: &str, what: &[&str]) -> io::Result<()> {
        let (namespace, interface) = (self.namespace(from)?.name(), interface(to));
        let whole = ["-n", namespace, "qdisc", action, "dev", &interface];
        command("tc", &[&whole[..], what].concat()).map(|_| ())
    }

    /// Takes a link away, as if it were cut, or gives it back.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn set_link(&self, one: usize, other: usize, is_up: bool) -> io::Result<()> {
        let state = if is_up { "up" } else { "down" };
        self.namespace(one)?.ip(&["link", "set", &interface(other), state])
    }

    /// Records all interfaces of all routers while something is done.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn record<T>(&self, work: impl FnOnce() -> T) -> io::Result<(T, Vec<Passed>)> {
        let mut recorders = vec![];
        for router in 0..self.len() {
            for &(to, _) in self.topology.links(router) {
                let start = || Recorder::start(&interface(to), flows::is_of_a_flow);
                recorders.push((router, self.inside(router, start)??));
            }
        }
        let done = work();
        recorders.iter().for_each(|(_, recorder)| recorder.stop());
        let mut passed = vec![Passed::default(); self.len()];
        for (router, recorder) in recorders {
            let (packets, unrecorded) = recorder.end();
            passed[router].unrecorded += unrecorded;
            for packet in packets {
                let is_own = packet.data.get(6..11) == Some(&hardware(router, 0)[..5]);
                let passed = &mut passed[router];
                if is_own { passed.left.push(packet) } else { passed.arrived.push(packet) }
            }
        }
        for Passed { arrived, left, .. } in &mut passed {
            arrived.sort_by_key(|packet| packet.timestamp);
            left.sort_by_key(|packet| packet.timestamp);
        }
        Ok((done, passed))
    }
}

/// A router's interface to the next one.
fn interface(to: usize) -> String {
    format!("to-{to}")
}

/// The hardware address of a router's interface to the next one.
fn hardware(router: usize, to: usize) -> [u8; 6] {
    [2, 0, 0, 0, router.min(255) as u8, to.min(255) as u8]
}

fn text(hardware: [u8; 6]) -> String {
    hardware.map(|byte| format!("{byte:02x}")).join(":")
}
