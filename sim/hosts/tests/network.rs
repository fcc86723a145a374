//! MPLANE from end to end: the six routers of figure 7 of the LDA paper in network namespaces, their routes found by FRR's OSPF, two of them
//! upgraded.
//!
//! The station reads the network from a router's OSPF database, works out the segments, and has test packets (STAMP) sent along each in every
//! interval, while every router sends traffic to every other. The upgraded routers measure what they forward themselves, by an LDA each.
//! Of every segment the median of its test packets' delays is watched, of every upgraded router the mean of what it forwards.
//!
//! # Test plan
//!
//! * A queue is squeezed, one after the other: the link's own segment is named within three intervals, and nothing is that does not pass the
//!   queue. In quiet intervals nothing is named.
//! * How late packets are: what recorders say of each packet, beside what the station says.
//! * A link fails and comes back: from the interval on in which the station knows of it every way that the kernels' tables have consists of
//!   segments that are measured, the old segments are measured for the hold, and then no longer.
//!
//! To root alone, as a rule, and with FRR; elsewhere there is nothing to test. The whole, with 200 quiet intervals and 20 squeezed queues, takes minutes
//! and is `cargo xtask network`.

use crate::common::{measured, observations};
use deltaline_capture::Packet;
use deltaline_capture::matching::match_exactly;
use deltaline_estimate::Mean;
use deltaline_hosts::network::{Flows, LENGTH, Network, Passed, Reflectors, Session, Suite, exact_delay};
use deltaline_stamp::sender::{Outcome, Plan};
use deltaline_station::{Localiser, Measured, Named, Routes, Rule, Segment, Topology, read, segments};
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// Test packets in an interval, and how far apart they are; packets of each flow, on average.
const PACKETS: u32 = 20;
const DISTANCE: Duration = Duration::from_millis(5);
/// How long old segments are measured after a change, in intervals, which are the station's time here.
const HOLD: u32 = 3;
/// How many intervals routes may take.
const MOST_INTERVALS: u32 = 100;
/// Rises below this are of no interest, in nanoseconds: the machine's own load moves delays by tens of microseconds.
const LEAST_RISE: f64 = 1e6;
/// Bytes that a squeezed queue has room for: most of an interval, so that test packets are late and not lost.
const ROOM: u64 = 30_000;
const UPGRADED: [&str; 2] = ["C", "F"];

struct Station<'a> {
    network: &'a Network,
    upgraded: Vec<bool>,
    known: Topology,
    measured: Measured,
    sessions: BTreeMap<Segment, Session>,
    localiser: Localiser<Segment>,
    flows: Flows,
    interval: u32,
}

/// What an interval brought.
struct Seen {
    named: Vec<Named<Segment>>,
    outcomes: BTreeMap<Segment, Outcome>,
    passed: Vec<Passed>,
    /// Whether the routes were others than before.
    has_changed: bool,
}

fn links(topology: &Topology) -> Vec<Vec<(usize, u32)>> {
    (0..topology.len()).map(|router| topology.links(router).to_vec()).collect()
}

fn letters(segment: &[std::sync::Arc<str>]) -> String {
    segment.iter().map(|name| &**name).collect()
}

impl<'a> Station<'a> {
    fn new(network: &'a Network, rule: Rule) -> io::Result<Self> {
        let known = network.observed_by(0)?;
        let upgraded: Vec<bool> =
            (0..known.len()).map(|router| UPGRADED.contains(&known.name(router))).collect();
        let first = segments(&Routes::of(&known), &upgraded).map_err(io::Error::other)?;
        let mut station = Station {
            network,
            upgraded,
            known,
            measured: Measured::new(first, seconds(HOLD)),
            sessions: BTreeMap::new(),
            localiser: Localiser::new(rule.with_least_rise(LEAST_RISE)),
            flows: Flows::open(network)?,
            interval: 0,
        };
        station.open()?;
        Ok(station)
    }

    /// Opens the sessions that are missing and closes those that are over.
    fn open(&mut self) -> io::Result<()> {
        self.sessions.retain(|segment, _| self.measured.contains(segment));
        for segment in self.measured.segments() {
            if self.sessions.contains_key(segment) {
                continue;
            }
            let path: Vec<usize> = segment.iter().map(|name| self.known.number(name).unwrap()).collect();
            if let Some(session) = Session::along(self.network, &path)? {
                self.sessions.insert(segment.clone(), session);
            }
        }
        Ok(())
    }

    fn interval(&mut self) -> io::Result<Seen> {
        self.interval += 1;
        let observed = self.network.observed_by(0)?;
        let has_changed = links(&observed) != links(&self.known);
        if has_changed {
            let now = segments(&Routes::of(&observed), &self.upgraded).map_err(io::Error::other)?;
            self.measured.change(seconds(self.interval), now);
            self.known = observed;
        }
        self.measured.advance(seconds(self.interval));
        self.open()?;
        let plan =
            Plan { count: PACKETS, interval: DISTANCE, length: 0, patience: DISTANCE * 200, session: 1 };
        let (sessions, flows, interval) = (&self.sessions, &self.flows, self.interval);
        let work = || {
            thread::scope(|scope| {
                let asked: Vec<_> = sessions
                    .iter()
                    .map(|(segment, session)| (segment.clone(), scope.spawn(move || session.measure(&plan))))
                    .collect();
                flows.send(DISTANCE * PACKETS, DISTANCE, u64::from(interval) << 32);
                asked
                    .into_iter()
                    .map(|(segment, asked)| Ok((segment, asked.join().unwrap()?)))
                    .collect::<io::Result<BTreeMap<_, _>>>()
            })
        };
        let (outcomes, passed) = self.network.record(work)?;
        let outcomes = outcomes?;
        let of_segments = outcomes.iter().filter_map(|(segment, outcome)| {
            let median = median(outcome.samples.iter().filter_map(|sample| Some(sample.one_way?[0])))?;
            Some((segment.clone(), median as f64))
        });
        let of_routers = (0..self.known.len()).filter(|&router| self.upgraded[router]).filter_map(|router| {
            let (mean, _) = self.through(router, &passed[router])?;
            Some((vec![self.known.name(router).into()], mean.nanoseconds))
        });
        let values: Vec<(Segment, f64)> = of_segments.chain(of_routers).collect();
        Ok(Seen { named: self.localiser.take(values), outcomes, passed, has_changed })
    }

    /// The mean delay of what a router forwards: by its two points' rows, and by exact matching.
    fn through(&self, router: usize, passed: &Passed) -> Option<(Mean, f64)> {
        let own = self.network.address(router).octets();
        let is_forwarded = |packet: &&Packet| packet.data[26..30] != own && packet.data[30..34] != own;
        let ends = [&passed.arrived, &passed.left].map(|packets| packets.iter().filter(is_forwarded));
        let mean = measured(ends.clone())?.mean.ok()?;
        let [sent, received] = ends.map(observations);
        let pairs = match_exactly(&sent, &received).pairs;
        let exact = pairs.iter().map(|pair| pair.delay as f64).sum::<f64>() / pairs.len() as f64;
        Some((mean, exact))
    }

    /// Parts of ways of traffic, by the kernels' tables, that are not segments that are measured, or have no session yet.
    fn uncovered(&self) -> io::Result<[Vec<String>; 2]> {
        let mut uncovered = [(); 2].map(|()| vec![]);
        for flow in self.flows.all()? {
            let Some(way) = self.network.way(&flow)? else { continue };
            let mut part: Segment = vec![];
            for (place, &router) in way.iter().enumerate() {
                part.push(self.known.name(router).into());
                let is_end = place + 1 == way.len() || self.upgraded[router];
                if place > 0 && is_end {
                    if !self.measured.contains(&part) {
                        uncovered[0].push(letters(&part));
                    }
                    if !self.sessions.contains_key(&part) {
                        uncovered[1].push(letters(&part));
                    }
                    part = vec![self.known.name(router).into()];
                }
            }
        }
        Ok(uncovered)
    }
}

fn seconds(interval: u32) -> Duration {
    Duration::from_secs(interval.into())
}

fn median(values: impl Iterator<Item = i64>) -> Option<i64> {
    let mut values: Vec<i64> = values.collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

/// Bits of what leaves a router for the next one.
fn bits(passed: &Passed, to: usize) -> u64 {
    let packets = passed.left.iter().filter(|packet| usize::from(packet.data[4]) == to);
    packets.map(|packet| u64::from(packet.length) * 8).sum()
}

/// Runs a whole life of the network; says why not if there can be none here.
fn live(rule: Rule, past: usize, quiet: usize, squeezes: usize) -> Result<(), String> {
    let reason = |error: io::Error| error.to_string();
    let suite = Suite::find().map_err(reason)?;
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/../../host/station/topologies/figure-7.graph");
    let begun = Instant::now();
    let network = Network::new(&read(Path::new(file)).unwrap(), &suite).map_err(reason)?;
    println!("routes are there after {:.1} s", begun.elapsed().as_secs_f64());
    let _reflectors = Reflectors::start(&network).unwrap();
    let mut station = Station::new(&network, rule).unwrap();
    assert_eq!(station.sessions.len(), 18, "the members of all m-sets");
    assert_eq!(station.uncovered().unwrap(), [[""; 0]; 2]);

    let all: Vec<(usize, usize)> = (0..network.len())
        .flat_map(|from| network.topology().links(from).iter().map(move |&(to, _)| (from, to)))
        .collect();
    let mut loads = vec![0; all.len()];
    let (mut held, mut means) = (0, 0);
    for interval in 0..past + quiet {
        let seen = station.interval().unwrap();
        assert!(seen.named.is_empty(), "interval {interval}: {:?}", seen.named);
        for (segment, outcome) in &seen.outcomes {
            let answered = outcome.received + outcome.late;
            assert_eq!((answered, outcome.unsent), (PACKETS, 0), "{}", letters(segment));
            // Each router between takes one.
            let between = segment.len() as u8 - 2;
            assert!(outcome.samples.iter().all(|sample| sample.ttl == 255 - between), "{}", letters(segment));
        }
        for router in (0..network.len()).filter(|&router| station.upgraded[router]) {
            let (mean, exact) = station.through(router, &seen.passed[router]).unwrap();
            let range = mean.range(deltaline_estimate::Confidence::P95).unwrap();
            means += 1;
            held += usize::from((range.lower - 1.0..=range.upper + 1.0).contains(&exact));
        }
        for (load, &(from, to)) in loads.iter_mut().zip(&all) {
            *load += bits(&seen.passed[from], to);
        }
    }
    println!("{quiet} quiet intervals behind {past} without a name; {held} of {means} means of routers hold");
    assert_eq!(held, means, "nothing is lost, so that all rows are exact");

    for squeeze in 0..squeezes {
        // Seven is prime to the sixteen directed links.
        let link = squeeze * 7 % all.len();
        let (from, to) = all[link];
        let [one, other] = [from, to].map(|router| network.topology().name(router).to_string());
        let passes = |segment: &str| {
            segment.contains(&format!("{one}{other}")) || (segment == one && UPGRADED.contains(&segment))
        };
        // A quarter of what passes otherwise: of packets at random times, enough come in any interval to fill the queue.
        let lasted = (DISTANCE * PACKETS * (past + quiet) as u32).as_millis() as u64;
        let rate = loads[link] * 1000 / lasted / 4;
        network.squeeze(from, to, rate, ROOM).unwrap();
        let mut when = None;
        for interval in 1..=3 {
            let seen = station.interval().unwrap();
            let names: Vec<String> = seen.named.iter().map(|named| letters(&named.segment)).collect();
            assert!(names.iter().all(|name| passes(name)), "{one}{other} is squeezed: {names:?}");
            let own = seen.named.iter().find(|named| letters(&named.segment) == format!("{one}{other}"));
            let Some(own) = own else { continue };
            when = when.or(Some(interval));
            let delays: Vec<i64> = seen.passed[to]
                .arrived
                .iter()
                .filter(|packet| packet.data[26..30] == network.address(from).octets())
                .filter(|packet| packet.data[30..34] == network.address(to).octets())
                .filter_map(exact_delay)
                .collect();
            let exact = median(delays.into_iter()).unwrap();
            println!(
                "{one}{other} squeezed to {rate} bit/s: in interval {interval} named {names:?}, {:.2} ms more; \
                 packets by recorders {:.2} ms",
                own.rise / 1e6,
                exact as f64 / 1e6
            );
            let tested =
                seen.outcomes[&own.segment].samples.iter().filter_map(|sample| Some(sample.one_way?[0]));
            let (least, greatest) = (tested.clone().min().unwrap(), tested.max().unwrap());
            // A long packet waits for more of the bucket than a test packet does.
            let greatest = greatest + (LENGTH * 8 * 1_000_000_000 / rate) as i64;
            assert!(
                (least..=greatest).contains(&exact),
                "{one}{other}: {exact} ns is not of {least} to {greatest}"
            );
        }
        assert!(when.is_some(), "{one}{other} was squeezed, and not named");
        network.release(from, to).unwrap();
        for interval in 1..=2 {
            let named = station.interval().unwrap().named;
            assert!(named.is_empty(), "{interval} after {one}{other} was released: {named:?}");
        }
    }

    let number = |name: &str| network.topology().number(name).unwrap();
    for is_up in [false, true] {
        let before: Vec<Segment> = station.measured.segments().cloned().collect();
        network.set_link(number("C"), number("F"), is_up).unwrap();
        let begun = Instant::now();
        let mut intervals = 0;
        while !station.interval().unwrap().has_changed {
            intervals += 1;
            assert!(intervals < MOST_INTERVALS, "the station knows of no change");
        }
        println!(
            "link CF {}: known after {:.2} s and {intervals} intervals, {} segments measured where {} were",
            if is_up { "comes back" } else { "fails" },
            begun.elapsed().as_secs_f64(),
            station.measured.segments().count(),
            before.len()
        );
        assert!(before.iter().all(|segment| station.measured.contains(segment)));
        // A session is opened when the routers on its way have taken the new routes, each in its time.
        for interval in 0.. {
            let [unmeasured, without_session] = station.uncovered().unwrap();
            assert_eq!(unmeasured, [""; 0], "ways without a segment");
            if without_session.is_empty() {
                println!("every way has its sessions after {interval} more");
                break;
            }
            assert!(interval < MOST_INTERVALS, "no session for {without_session:?}");
            assert!(!station.interval().unwrap().has_changed);
        }
        while station.measured.next_end().is_some() {
            station.interval().unwrap();
        }
        let now = segments(&Routes::of(&station.known), &station.upgraded).unwrap();
        assert_eq!(station.measured.segments().count(), now.len());
        assert_eq!(station.sessions.len(), now.len());
    }
    assert_eq!(links(&station.known), links(network.topology()));
    Ok(())
}

#[test]
fn squeezed_queues_are_named_and_changes_are_followed() {
    if let Err(reason) = live(Rule::new(8, 3).unwrap(), 8, 4, 2) {
        eprintln!("not tested: there can be no network here: {reason}");
    }
}

#[test]
#[ignore = "it takes minutes"]
fn twenty_squeezed_queues_and_two_hundred_quiet_intervals() {
    live(Rule::default(), 60, 200, 20).unwrap();
}
