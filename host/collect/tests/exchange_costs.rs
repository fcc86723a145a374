//! What an exchange costs: memory, time a packet, bits a difference.
//!
//! ```sh
//! cargo test --release -p deltaline-collect --test exchange_costs -- --ignored --nocapture --test-threads 1
//! ```
//!
//! # Test plan
//!
//! Two million packets an interval at either end, 2,000 of which are lost, in one process: both ends together stay below a gibibyte, and name
//! every packet that was lost. What is printed is of the machine that it runs on.
#![allow(clippy::unwrap_used, reason = "tests")]

use deltaline_collect::exchange::{Asked, Terms, answer, ask};
use deltaline_estimate::difference::{Symbols, more_than};
use deltaline_estimate::{Difference, Further};
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::packet::hash::HashKind;
use deltaline_model::point::{IntervalEnd, MeasurementPoint};
use deltaline_model::sketch::identity_table::{IdentityCell, TABLES, row};
use deltaline_model::sketch::packet_cache::PacketCache;
use deltaline_model::sketch::packet_id::PacketId;
use deltaline_model::sketch::synopsis::Hashed;
use deltaline_model::time::Timestamp;
use deltaline_model::wire::frame::Role;
use deltaline_model::wire::shape::Kind;
use nix::time::{ClockId, clock_gettime};
use std::fs;
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

const SECOND: u64 = 1_000_000_000;
/// Packets of an interval.
const PACKETS: u64 = 2_000_000;

fn hash(packet: u64) -> u64 {
    (packet + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn configuration(rows: usize) -> Configuration {
    let settings = Settings { synopsis: Kind::IDENTITY_TABLE, rows, prefixes: &[0], ..Settings::default() };
    Configuration::new(settings).unwrap()
}

/// Of this thread.
fn processor_time() -> Duration {
    clock_gettime(ClockId::CLOCK_THREAD_CPUTIME_ID).unwrap().into()
}

/// An end's intervals, of so many packets at equal distances, delayed, without every `lost`-th.
fn intervals(many: u64, packets: u64, delay: u64, lost: u64) -> impl FnMut() -> Option<(u64, PacketCache)> {
    let gap = SECOND / packets;
    let mut number = 0;
    move || {
        number += 1;
        (number <= many).then(|| {
            let mut cache = PacketCache::default();
            // The first ones were sent in the interval before.
            let first = (number * SECOND - delay).div_ceil(gap);
            for packet in first..first + packets {
                if lost == 0 || packet % lost != 0 {
                    let time = Timestamp::from_nanoseconds(gap * packet + delay);
                    cache.remember(&[Hashed { hash: hash(packet), time, ..Hashed::default() }]);
                }
            }
            (number, cache)
        })
    }
}

fn exchange(rows: usize, many: u64, packets: u64, lost: u64) -> Asked {
    let terms = Terms {
        configuration: configuration(rows),
        length: SECOND,
        flows: 0,
        keys: None,
        patience: Duration::from_secs(60),
    };
    let (near, far) = UnixStream::pair().unwrap();
    thread::scope(|scope| {
        scope.spawn(|| answer(far, &terms, 2, intervals(many, packets, 5_000_000, lost)).unwrap());
        ask(near, &terms, 1, intervals(many, packets, 0, 0)).unwrap()
    })
}

fn lost(asked: &Asked, interval: usize) -> u64 {
    let further = asked.evaluations[interval].further.iter();
    let mut found = further.filter_map(|further| match further {
        Further::Difference(found) => found.complete.then_some(found.only_sent.len() as u64),
        Further::Singles(_) => None,
    });
    found.next().unwrap()
}

#[test]
#[ignore = "takes half a minute, and a gibibyte"]
fn two_million_packets_an_interval_fit_into_a_gibibyte() {
    let asked = exchange(1024, 5, PACKETS, 1000);
    assert_eq!(asked.numbers, [2, 3, 4]);
    (0..3).for_each(|interval| assert_eq!(lost(&asked, interval), PACKETS / 1000));
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let peak: u64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    let costs = asked.costs;
    println!(
        "{PACKETS} packets an interval: peak {} MiB of both ends together, at most {} packets at the asking one; its processor \
         time {:?} an interval",
        peak >> 10,
        costs.packets,
        costs.processor / 3
    );
    assert!(peak < 1 << 20, "{peak} KiB");
}

#[test]
#[ignore = "takes seconds, which mean something on an idle machine alone"]
fn a_hundred_thousand_packets_a_second() {
    for lost in [100u64, 1000, 5000] {
        let asked = exchange(64, 6, 100_000, 100_000 / lost);
        assert!((0..4).all(|interval| self::lost(&asked, interval) == lost));
        let costs = asked.costs;
        println!(
            "100000 packets a second, {lost} of them lost: {:?} of processor time a second at the asking end, {} octets, {} cells, {} symbols",
            costs.processor / 4,
            (costs.sent + costs.received) / 4,
            costs.cells / 4,
            costs.symbols / 4
        );
    }
}

#[test]
#[ignore = "takes half a minute"]
fn what_a_packet_and_a_difference_cost() {
    for (hash, remembers) in
        [HashKind::H3, HashKind::Rabin].into_iter().flat_map(|hash| [(hash, false), (hash, true)])
    {
        let settings =
            Settings { synopsis: Kind::IDENTITY_TABLE, hash, prefixes: &[0], ..Settings::default() };
        let configuration = Configuration::new(settings).unwrap();
        let mut best = Duration::MAX;
        for _ in 0..5 {
            let mut point = MeasurementPoint::new(&configuration, Role::Sender);
            if remembers {
                point.remember_packets();
            }
            let mut frame = [0; 64];
            frame[12..18].copy_from_slice(&[8, 0, 0x45, 0, 0, 50]);
            frame[23] = 17;
            let mut frames = vec![frame; 1024];
            let mut taken = Duration::ZERO;
            for batch in 0..PACKETS / 1024 {
                for (number, frame) in frames.iter_mut().enumerate() {
                    frame[42..50].copy_from_slice(&(batch * 1024 + number as u64).to_be_bytes());
                }
                let time = Timestamp::from_nanoseconds(batch);
                let started = processor_time();
                point.observe_batch(frames.iter().map(|frame| (&frame[..], time)));
                taken += processor_time() - started;
            }
            best = best.min(taken);
            point.end_interval(IntervalEnd::Delimiter, |_| ());
        }
        let nanoseconds = best.as_nanos() as f64 / PACKETS as f64;
        println!(
            "update, {hash:?}, {} cache: {nanoseconds:.1} ns a packet",
            if remembers { "with" } else { "without" }
        );
    }
    let id = PacketId::default();
    let [mut sent, received] = [(); 2].map(|()| vec![IdentityCell::default(); TABLES * 1024]);
    for hash in (0..2000).map(hash) {
        let halves = id.halves_of(hash);
        let fields = [id.check_of(hash), halves[0], halves[1]];
        (0..TABLES).for_each(|table| _ = sent[1024 * table + row(halves, table, 1024)].add(0, fields));
    }
    let mut best = Duration::MAX;
    for _ in 0..500 {
        let started = processor_time();
        let found = Difference::of(&sent, &received);
        best = best.min(processor_time() - started);
        assert!(found.complete);
    }
    println!("2000 packets out of {} cells, least of 500: decoded in {best:?}", sent.len());
    for different in [100u64, 1000, 10_000] {
        let started = processor_time();
        let [mut sent, mut received] =
            [0..PACKETS, different..PACKETS].map(|packets| Symbols::of(packets.map(hash)));
        let (mut made, mut more) = ([vec![], vec![]], 64);
        let decoded = loop {
            made[0].extend(sent.make(more));
            made[1].extend(received.make(more));
            let encoded = processor_time();
            let found = Difference::of_symbols(&made[0], &made[1]);
            if found.complete {
                break processor_time() - encoded;
            }
            more = more_than(made[0].len());
        };
        let symbols = made[0].len();
        println!(
            "{different} of {PACKETS} packets differ: {symbols} symbols, {:.0} bits of symbols a packet that differs, decoded in \
             {decoded:?}, made at both ends and decoded in {:?}",
            112.0 * symbols as f64 / different as f64,
            processor_time() - started
        );
    }
    for (rows, different) in [(64, 100), (64, 1000), (512, 1000), (1024, 1000), (64, 10_000)] {
        // Of four intervals two are whole at both ends. A thousand packets are in flight at each edge.
        let asked = exchange(rows, 4, 200_000, 200_000 / different);
        assert_eq!((asked.numbers.len(), lost(&asked, 0)), (2, different));
        let octets = (asked.costs.sent + asked.costs.received) / 2;
        println!(
            "exchange with {rows} rows, {different} of 200000 packets lost, 1000 in flight at each edge: {octets} octets an interval, \
             {} cells, {} symbols, {:.0} bits a packet that differs",
            asked.costs.cells / 2,
            asked.costs.symbols / 2,
            8.0 * octets as f64 / (different as f64 + 2000.0)
        );
    }
}
