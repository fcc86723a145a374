//! Figure 6 of the LDA paper with real probes over a real queue: test packets (STAMP) and an LDA beside them.
//!
//! Bursts of UDP and TCP fill a queue of 20 Mbit/s, of which the kernel drops what finds no room; sessions of 1, 7, 144 and 1,000 test packets a second
//! pass the same queue. In each second both are asked for the mean delay of the traffic, which exact matching of both recordings knows.
//!
//! # Test plan
//!
//! The LDA's interval of 99.9 % holds the exact mean in every second; every test packet takes at least as
//! long by its own times as by the recorders'.
//! How far off each is, is printed: in a minute (`cargo xtask network`) the LDA is nearer than 144 test packets a second.
//!
//! To root alone, as a rule, who may make network namespaces; elsewhere there is nothing to test.

use crate::common::{measured, observations};
use deltaline_capture::Packet;
use deltaline_capture::matching::match_exactly;
use deltaline_estimate::Confidence;
use deltaline_hosts::{Path, Queues, Recording, Traffic};
use std::collections::BTreeMap;
use std::time::Duration;

/// Test packets a second.
const RATES: [u32; 4] = [1, 7, 144, 1000];
const SECOND: u64 = 1_000_000_000;

/// What passed in a second of the sender's clock.
#[derive(Default)]
struct Interval<'a> {
    /// Packets of the traffic at both ends.
    ends: [Vec<&'a Packet>; 2],
    delays: Vec<i64>,
    /// Delays of test packets by the recorders, session by session.
    tests: [Vec<i64>; RATES.len()],
}

/// The port of the session that a test packet is of.
fn session(packet: &Packet) -> Option<u16> {
    let port = |at: usize| packet.data.get(at..at + 2).map(|port| u16::from_be_bytes([port[0], port[1]]));
    (packet.data.get(23) == Some(&17) && port(36) == Some(deltaline_stamp::PORT)).then(|| port(34)).flatten()
}

fn intervals(recording: &Recording) -> Vec<Interval<'_>> {
    let [sent, received] = [&recording.sender, &recording.receiver].map(observations);
    let matching = match_exactly(&sent, &received);
    // Sessions by how many packets they have.
    let mut sessions: BTreeMap<u16, usize> = BTreeMap::new();
    for port in recording.sender.iter().filter_map(session) {
        *sessions.entry(port).or_default() += 1;
    }
    let mut by_rate: Vec<(usize, u16)> =
        sessions.into_iter().map(|(port, packets)| (packets, port)).collect();
    by_rate.sort_unstable();
    let rate = |packet| session(packet).and_then(|port| by_rate.iter().position(|(_, each)| *each == port));
    let first = recording.sender.iter().map(|packet| packet.timestamp).min().unwrap();
    let mut intervals: BTreeMap<u64, Interval> = BTreeMap::new();
    for packet in recording.sender.iter().filter(|packet| session(packet).is_none()) {
        intervals.entry((packet.timestamp - first) / SECOND).or_default().ends[0].push(packet);
    }
    for pair in &matching.pairs {
        let (sent, received) = (&recording.sender[pair.sender], &recording.receiver[pair.receiver]);
        let interval = intervals.entry((sent.timestamp - first) / SECOND).or_default();
        match rate(sent) {
            Some(rate) => interval.tests[rate].push(pair.delay),
            None => {
                interval.ends[1].push(received);
                interval.delays.push(pair.delay);
            }
        }
    }
    intervals.into_values().collect()
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len() as f64;
    values.sum::<f64>() / count
}

/// Root mean square.
fn size(errors: &[f64]) -> f64 {
    mean(errors.iter().map(|error| error * error)).sqrt()
}

/// Errors of an LDA, and of 144 test packets a second; why not, if there can be no path here.
fn compare(lasts: Duration) -> Result<[f64; 2], String> {
    let path = Path::new(Queues::One).map_err(|reason| reason.to_string())?;
    let tests = RATES.map(|rate| Duration::from_secs(1) / rate).to_vec();
    let recording = path.record(&Traffic { lasts, tests, ..Traffic::default() }).unwrap();
    assert_eq!(recording.unrecorded, [0, 0]);
    let mut intervals = intervals(&recording);
    // By its own times a test packet takes as long as by the recorders, and the way from the sender to its recorder besides.
    for (outcome, rate) in recording.tested.iter().zip(0..) {
        let mut own: Vec<i64> =
            outcome.samples.iter().filter_map(|sample| Some(sample.one_way?[0])).collect();
        let mut recorded: Vec<i64> =
            intervals.iter().flat_map(|interval| &interval.tests[rate]).copied().collect();
        own.sort_unstable();
        recorded.sort_unstable();
        assert_eq!(own.len(), recorded.len(), "{} a second", RATES[rate]);
        // Times in packets are rounded to 2^-32 s.
        assert!(
            own.iter().zip(&recorded).all(|(own, recorded)| own + 2 >= *recorded),
            "{own:?} {recorded:?}"
        );
    }
    // The last second is not whole.
    intervals.truncate(lasts.as_secs() as usize);
    let sure = Confidence::new(0.999).unwrap();
    let (mut of_rows, mut of_tests) = (vec![], [(); RATES.len()].map(|()| vec![]));
    let (mut sent, mut lost) = (0, 0);
    for interval in &intervals {
        let exact = mean(interval.delays.iter().map(|delay| *delay as f64));
        let ends = interval.ends.each_ref().map(|packets| packets.iter().copied());
        let estimate = measured(ends).unwrap().mean.unwrap();
        let range = estimate.range(sure).unwrap();
        assert!((range.lower..=range.upper).contains(&exact), "{range:?} {exact}");
        of_rows.push((estimate.nanoseconds - exact) / exact);
        sent += interval.ends[0].len();
        lost += interval.ends[0].len() - interval.ends[1].len();
        for (errors, delays) in of_tests.iter_mut().zip(&interval.tests) {
            let error = (mean(delays.iter().map(|delay| *delay as f64)) - exact) / exact;
            errors.extend(error.is_finite().then_some(error));
        }
    }
    println!(
        "{} seconds, {sent} packets, {lost} lost; relative error of the mean of a second:",
        intervals.len()
    );
    println!("LDA of 1,024 rows: {:.2} %", 100.0 * size(&of_rows));
    for (rate, errors) in RATES.iter().zip(&of_tests) {
        let (bias, seconds) = (100.0 * mean(errors.iter().copied()), errors.len());
        println!(
            "{rate} test packets a second: {:.1} %, {bias:+.1} % on average ({seconds} seconds)",
            100.0 * size(errors)
        );
    }
    Ok([size(&of_rows), size(&of_tests[2])])
}

#[test]
fn rows_hold_the_mean() {
    if let Err(reason) = compare(Duration::from_secs(3)) {
        eprintln!("not tested: network namespaces cannot be made here: {reason}");
    }
}

#[test]
#[ignore = "it takes a minute"]
fn rows_are_nearer_than_144_probes_a_second() {
    let [rows, probes] = compare(Duration::from_secs(60)).unwrap();
    assert!(rows < probes, "{rows} {probes}");
}
