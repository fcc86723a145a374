//! Recordings that do not begin and end together, and what repeats in them, as they come from elsewhere.
//!
//! Test plan: streams of UDP packets made here, of which every delay and every loss is known. Outages at the end with other packets behind
//! them and without, also where a filter or the direction passes these over; recordings cut, far apart by their clocks, damaged; look-alikes, every packet twice; each by `measure`, by `measure
//! --truth` and by `truth`, which must agree. Packets
//! that overtake each other where both recorders begin and stop; that a recorder says it dropped, or stood still for; that are rewritten on their way, or have no times;
//! an interval of one. A stamp wrong by less than a second, a clock that is set: no loss is hidden, and what is doubtful named. Recordings that are the same, empty, mostly empty records, or TCP with forged headers.

use crate::common::{Folder, Run, add_dropped, command, finish, pcap, run};
use deltaline_capture::Packet;
use serde_json::{Value, json};
use std::fs;

const MILLISECOND: u64 = 1_000_000;
const START: u64 = 1_700_000_000_000_000_000;

/// An IPv4 packet of UDP with this in it.
fn udp(number: u64) -> Vec<u8> {
    let mut data =
        [&[0; 12][..], &[8, 0, 0x45, 0, 0, 60, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]].concat();
    data.extend([3, 0xe8, 7, 0xd0, 0, 40, 0, 0]);
    data.extend(number.to_be_bytes());
    data.resize(74, 0);
    data
}

fn packet(timestamp: u64, data: Vec<u8>) -> Packet {
    Packet { timestamp, length: data.len() as u32, interface: 0, data }
}

/// What the sender records, a packet each millisecond, and what arrives of it 1.0 to 1.2 ms later.
fn stream(numbers: impl IntoIterator<Item = u64>, arrives: impl Fn(u64) -> bool) -> [Vec<Packet>; 2] {
    let sent: Vec<Packet> =
        numbers.into_iter().map(|number| packet(START + number * MILLISECOND, udp(number))).collect();
    let received =
        sent.iter().filter(|packet| arrives((packet.timestamp - START) / MILLISECOND)).map(|sent| Packet {
            timestamp: sent.timestamp + MILLISECOND + sent.timestamp / MILLISECOND * 7919 % 200_000,
            ..sent.clone()
        });
    let received = received.collect();
    [sent, received]
}

/// The losses and the mean by `measure`, `measure --truth` and `truth`, of which the last two are the same.
#[track_caller]
fn losses(folder: &Folder, [sent, received]: [&[Packet]; 2]) -> (Value, Value, Run) {
    let (sender, receiver) = (folder.capture("sender.pcap", sent), folder.capture("receiver.pcap", received));
    let measured = run(&["measure", "--json", &sender, &receiver]);
    let with_truth = run(&["measure", "--json", "--truth", &sender, &receiver]);
    let truth = run(&["truth", "--json", &sender, &receiver]).json()["overall"].clone();
    for (key, value) in with_truth.json()["overall"]["truth"].as_object().into_iter().flatten() {
        assert_eq!(&truth[key], value, "{key}");
    }
    (measured.json()["overall"]["lost"].clone(), truth["lost"].clone(), measured)
}

#[test]
fn an_outage_at_the_end_is_loss_if_the_receiver_recorded_on() {
    let folder = Folder::new();
    let [sent, received] = stream(0..3000, |number| number < 2500);
    let (measured, truth, run) = losses(&folder, [&sent, &received]);
    assert_eq!((measured, truth), (json!(0), json!(0)));
    run.told(0, &["the sender's has 500 behind that are of a time of which the other recorder has no record of any kind"]);
    // An ARP packet, long behind.
    let arp = packet(START + 2900 * MILLISECOND, [&[0; 12][..], &[8, 6], &[0; 46]].concat());
    let longer = [&received[..], &[arp]].concat();
    let (measured, truth, run) = losses(&folder, [&sent, &longer]);
    assert_eq!((measured, truth), (json!(399), json!(399)));
    run.told(0, &["the sender's has 101 behind"]);
}

#[test]
fn packets_that_a_filter_passes_over_show_that_a_recorder_ran() {
    let folder = Folder::new();
    // Nothing arrives in the first fifth of the time and in the last one, while packets go back all the time.
    let [sent, received] = stream(0..3000, |number| (600..2400).contains(&number));
    let back = |later: u64| {
        (0..3000).map(move |number| {
            let mut data = udp(500_000 + number);
            data[26..34].rotate_left(4);
            packet(START + number * MILLISECOND + later, data)
        })
    };
    let with_back = |packets: Vec<Packet>, later| {
        let mut all: Vec<Packet> = packets.into_iter().chain(back(later)).collect();
        all.sort_by_key(|packet| packet.timestamp);
        all
    };
    let (sent, received) = (with_back(sent, 2 * MILLISECOND), with_back(received, 0));
    let plain = [folder.capture("sender.pcap", &sent), folder.capture("receiver.pcap", &received)];
    // The same as Linux cooked packets, which say which way they went.
    let cooked = |name, packets: &[Packet], from: u8| {
        let records: Vec<(u64, u32, Vec<u8>)> = packets
            .iter()
            .map(|packet| {
                let way = if packet.data[29] == from { 4 } else { 0 };
                let header = [0, way, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0];
                (packet.timestamp, packet.length + 2, [&header[..], &packet.data[14..]].concat())
            })
            .collect();
        folder.write(name, pcap(113, records))
    };
    let cooked = [cooked("sender.sll", &sent, 1), cooked("receiver.sll", &received, 2)];
    let filter = ["--filter", "src host 10.0.0.1"];
    let translated = [&filter[..], &["--nat"]].concat();
    let cases = [(&plain, &filter[..]), (&cooked, &["--direction", "out"]), (&plain, &translated)];
    for (ends, options) in cases {
        for command in
            [&["measure"][..], &["measure", "--truth"], &["measure", "--interval", "500ms"], &["truth"]]
        {
            let run = run(&[command, options, &["--json"], &[ends[0].as_str(), &ends[1]]].concat());
            // The first packets and the last ones of all lie outside of what was recorded on the way back.
            let lost = run.json()["overall"]["lost"].as_u64().unwrap();
            assert!((1195..=1200).contains(&lost), "{command:?} {options:?}: {lost} lost; {}", run.messages);
        }
    }
    let flows =
        run(&[&["flows", "list"][..], &filter[..], &["--json"], &[plain[0].as_str(), &plain[1]]].concat());
    let lost = flows.json()[0]["lost"].as_u64().unwrap();
    assert!((1195..=1200).contains(&lost), "{lost} lost");
}

#[test]
fn recordings_of_other_times_are_no_loss() {
    let folder = Folder::new();
    // An outage in the middle that is longer than what the recorders have in front and behind; the receiver's clock is ahead.
    let [sent, mut received] = stream(0..4000, |number| !(1500..2500).contains(&number) && number < 3500);
    received.iter_mut().for_each(|packet| packet.timestamp += 7_000 * MILLISECOND);
    let (measured, truth, run) = losses(&folder, [&sent[600..], &received]);
    assert_eq!(truth, json!(1000));
    assert_eq!(measured, json!(1000));
    run.told(
        0,
        &["the sender's has 500 behind", "the receiver's has 600 in front", "24.0 % of the receiver's"],
    );
    // A corner is no edge.
    let [sent, received] = stream(0..4000, |_| true);
    let [sender, receiver] =
        [folder.capture("a.pcap", &sent[..2000]), folder.capture("b.pcap", &received[1900..])];
    assert!(run_of(&sender, &receiver).messages.contains("too few packets in common"));
}

#[test]
fn packets_that_overtake_each_other_at_the_edges_are_no_loss() {
    let folder = Folder::new();
    // Packets that come 20 to 60 ms later, as two recorders have them that run for the same two of three seconds.
    let delay = |number: u64| (20 + number * 7919 % 31 * number % 41) * MILLISECOND + number;
    let [sent, _] = stream(0..3000, |_| false);
    let mut received: Vec<Packet> =
        (0..).zip(&sent).map(|(number, sent)| packet(sent.timestamp + delay(number), udp(number))).collect();
    received.sort_by_key(|packet| packet.timestamp);
    let ran = |packets: &[Packet]| -> Vec<Packet> {
        let from = START + 500 * MILLISECOND;
        packets
            .iter()
            .filter(|packet| (from..from + 2000 * MILLISECOND).contains(&packet.timestamp))
            .cloned()
            .collect()
    };
    let ends = [ran(&sent), ran(&received)];
    let (measured, truth, run) = losses(&folder, [&ends[0], &ends[1]]);
    assert_eq!((measured, truth), (json!(0), json!(0)));
    run.told(0, &["have no partner in the other capture and are left out of all numbers"]);
    let delays: Vec<u64> = (500..2500u64)
        .map(delay)
        .zip(500..)
        .filter(|(delay, number)| number * MILLISECOND + delay < 2500 * MILLISECOND)
        .map(|(delay, _)| delay)
        .collect();
    let mean = delays.iter().sum::<u64>() as f64 / delays.len() as f64;
    let overall = &run.json()["overall"];
    assert!(
        (overall["mean_ns"].as_f64().unwrap() - mean).abs() < 1.0 && overall["surplus"] == json!(0),
        "{mean} {overall}"
    );
    // And flow by flow.
    let [sender, receiver] = ["sender.pcap", "receiver.pcap"].map(|name| folder.path(name));
    let flows = crate::common::run(&["flows", "list", "--json", &sender, &receiver]).json();
    assert_eq!(flows[0]["lost"], json!(0), "{flows}");
}

#[test]
fn wrong_stamps_and_clocks_that_are_set_hide_no_losses() {
    let folder = Folder::new();
    // Of five seconds, 100 of 5,000 packets are lost, up to the edges.
    let [sent, received] = stream(0..5000, |number| number % 50 != 47);
    let one = |at: usize| at..at + 1;
    let cases = [(one(2500), -900), (one(2500), 500), (one(20), 700), (2500..received.len(), -2500)];
    for (stamps, by) in cases {
        let mut ends = [sent.clone(), received.clone()];
        for packet in &mut ends[1][stamps.clone()] {
            packet.timestamp = packet.timestamp.saturating_add_signed(by * MILLISECOND.cast_signed());
        }
        let (measured, truth, run) = losses(&folder, [&ends[0], &ends[1]]);
        assert_eq!((measured, truth), (json!(100), json!(100)), "{stamps:?} {by}");
        let overall = &run.json()["overall"];
        // Delays that may be wrong are told.
        assert!(
            overall["clock_doubt"].as_str().unwrap().contains("times of its packets go back"),
            "{overall}"
        );
        if stamps.len() == 1 {
            // By this delay, some may have been under way: so a few, in no case all that were lost.
            assert!(overall["reason"].as_str().unwrap().contains("lost: off by up to "), "{overall}");
            let [sender, receiver] = ["sender.pcap", "receiver.pcap"].map(|name| folder.path(name));
            crate::common::run(&["truth", &sender, &receiver]).told(0, &["lost: off by up to "]);
        }
        let [sender, receiver] = ["sender.pcap", "receiver.pcap"].map(|name| folder.path(name));
        let cut = crate::common::run(&["measure", "--json", "--interval", "1s", &sender, &receiver]).json();
        let doubtful =
            |interval: &&Value| interval["clock_doubt"].as_str().is_some_and(|text| text.contains("go back"));
        let intervals = cut["intervals"].as_array().unwrap();
        let expected = if stamps.start == 20 { 0 } else { 2 };
        let found = intervals.iter().position(|interval| doubtful(&interval));
        assert_eq!(found, Some(expected), "{by}: {cut}");
        assert_eq!(intervals.iter().filter(doubtful).count(), 1, "{by}: {cut}");
    }
}

#[test]
fn packets_that_a_recorder_lacks_are_spoken_of() {
    let folder = Folder::new();
    let [sent, received] = stream(0..3000, |number| number % 10 != 7);
    let sender = folder.capture("sender.pcap", &sent);
    let receiver = folder.frames("receiver.pcapng", &received);
    add_dropped(&receiver, [3000, 290, 10]);
    let lacks = [
        "receiver.pcapng: its recorder says that 290 packets were dropped by the interface and 10 by the system",
    ];
    for command in [&["measure"][..], &["measure", "--truth"], &["measure", "--interval", "1s"], &["truth"]] {
        let run = run(&[command, &["--json", &sender, &receiver]].concat());
        run.told(0, &lacks);
        assert_eq!(run.messages.matches("dropped by the interface").count(), 1, "{}", run.messages);
        assert!(run.json()["warnings"].to_string().contains(lacks[0]), "{}", run.output);
    }
    run(&["flows", "list", &sender, &receiver]).told(0, &lacks);
    run(&["truth", &receiver, &sender]).told(9, &["files seem to be swapped"]);
    // Two thirds of a second are no silence to speak of, and two seconds are.
    for (gap, is_still) in [(1000..1600, false), (1000..3000, true)] {
        let [sent, received] = stream(0..4000, |number| !gap.contains(&number));
        let ends = [folder.capture("sent.pcap", &sent), folder.capture("received.pcap", &received)];
        let [here, _] = stream((0..4000).filter(|number| !gap.contains(number)), |_| false);
        let [_, all] = stream(0..4000, |_| true);
        let back = [folder.capture("here.pcap", &here), folder.capture("all.pcap", &all)];
        for ([sender, receiver], end) in [(&ends, "receiver"), (&back, "sender")] {
            for command in [&["measure"][..], &["measure", "--truth"], &["truth"]] {
                let run = run(&[command, &[sender, receiver]].concat());
                let still = format!("the {end}'s recorder has no record of any kind of 2.00");
                assert_eq!(run.messages.contains(&still), is_still, "{command:?} {end}: {}", run.messages);
            }
        }
    }
}

#[test]
fn packets_that_are_rewritten_on_the_way_are_not_lost() {
    let folder = Folder::new();
    let [sent, mut received] = stream(0..3000, |_| true);
    // Two thirds of them.
    for (number, packet) in (0..).zip(&mut received).filter(|(number, _)| number % 3 > 0) {
        packet.data = udp(1_000_000 + number);
    }
    let ends = [folder.capture("sender.pcap", &sent), folder.capture("receiver.pcap", &received)];
    for command in [&["truth"][..], &["flows", "list"]] {
        let parts = ["have only 1000 packets in common (2999 and 2999 packets)", "TCP's sequence numbers"];
        run(&[command, &[&ends[0], &ends[1]]].concat()).failed(9, &parts);
    }
    // Foreign packets of one end are none of the other's.
    let foreign = |number: u64| packet(START + number * MILLISECOND + 5, udp(2_000_000 + number));
    let [sent, mut received] = stream(0..3000, |number| number % 3 > 0);
    received.extend((0..3000).map(foreign));
    received.sort_by_key(|packet| packet.timestamp);
    let receiver = folder.capture("more.pcap", &received);
    let sender = folder.capture("sender.pcap", &sent);
    assert_eq!(run(&["truth", "--json", &sender, &receiver]).json()["overall"]["lost"], json!(1000));
}

/// One packet that is repeated every so often, the same byte for byte, as VRRP's are: copies from before one recorder began are none of those from
/// after the other one ended, even if one alone is outside, at the time of a packet that may have been under way.
#[test]
fn packets_that_repeat_at_both_edges_are_other_ones() {
    let folder = Folder::new();
    for every in [10, 100, 1000] {
        for [begins, ends] in [[2000, 3000], [1, 1], [every, every + 1]] {
            let [mut sent, mut received] = stream(0..9000, |_| true);
            for packets in [&mut sent, &mut received] {
                packets.iter_mut().step_by(every).for_each(|packet| packet.data = udp(1_000_000));
            }
            // The sender's recorder begins earlier and ends earlier.
            let stop = sent.len() - ends;
            let delays = sent[begins..stop].iter().zip(&received[begins..]);
            let sum: f64 = delays.map(|(sent, got)| (got.timestamp - sent.timestamp) as f64).sum();
            let mean = sum / (stop - begins) as f64;
            let (sender, receiver) = (
                folder.capture("sender.pcap", &sent[..stop]),
                folder.capture("receiver.pcap", &received[begins..]),
            );
            for command in ["truth", "measure"] {
                let overall = run(&[command, "--json", &sender, &receiver]).json()["overall"].clone();
                let case = format!("{every} {begins} {ends} {command} {overall}");
                assert_eq!(overall["lost"], json!(0), "{case}");
                let found = overall["mean_ns"].as_f64().unwrap();
                assert!((found - mean).abs() < 100.0, "{case} {mean}");
            }
        }
    }
}

#[test]
fn a_copy_lost_within_does_not_stand_for_one_outside() {
    let folder = Folder::new();
    for every in [10, 100, 500] {
        for [begins, ends] in [[0, 2000], [1, 1001], [1500, 0], [every, every + 1]] {
            let [mut sent, mut received] = stream(0..9000, |_| true);
            for packets in [&mut sent, &mut received] {
                packets.iter_mut().step_by(every).for_each(|packet| packet.data = udp(1_000_000));
            }
            let (lost, stop) = (4000 / every * every, sent.len() - ends);
            let kept = (begins..stop).filter(|place| *place != lost);
            let delays: Vec<u64> =
                kept.map(|place| received[place].timestamp - sent[place].timestamp).collect();
            let mean = delays.iter().sum::<u64>() as f64 / delays.len() as f64;
            received.remove(lost);
            let (sender, receiver) = (
                folder.capture("sender.pcap", &sent[..stop]),
                folder.capture("receiver.pcap", &received[begins..]),
            );
            for command in [&["truth"][..], &["measure", "--synopsis", "identity"]] {
                let result = run(&[command, &["--json", &sender, &receiver]].concat()).json();
                let (overall, case) = (&result["overall"], format!("{every} {begins} {ends} {command:?}"));
                assert_eq!(overall["lost"], json!(1), "{case} {overall}");
                match overall["mean_ns"].as_f64() {
                    Some(found) => assert!((found - mean).abs() < 0.01 * mean, "{case} {overall} {mean}"),
                    None => assert!(result.to_string().contains("look alike"), "{case} {result}"),
                }
            }
        }
    }
}

#[test]
fn packets_that_come_twice_do_not_pair_across_edges() {
    let folder = Folder::new();
    // Each content comes twice, at places that have nothing to do with each other; every third packet overtakes the others by 40 ms.
    let packets: Vec<(u64, u64, u64)> = (0..3000)
        .map(|number| {
            let held = if number % 3 == 0 { 100_000 } else { 40 * MILLISECOND };
            (number, 1000 + number * 1009 % 3000 / 2, held + number * 7919 % 31 * 10_000)
        })
        .collect();
    for [began, ended, began_there, ended_there] in [
        [0, 3000, 0, 3000],
        [20, 3000, 0, 3000],
        [200, 3000, 0, 2800],
        [0, 2800, 200, 3000],
        [20, 2980, 0, 2800],
    ] {
        for is_lossy in [false, true] {
            let time = |number: u64| START + number * MILLISECOND;
            let is_sent = |(number, ..): &&(u64, u64, u64)| (began..ended).contains(number);
            let is_there = |(number, _, delay): &&(u64, u64, u64)| {
                (time(began_there)..time(ended_there)).contains(&(time(*number) + delay))
            };
            let is_lost = |(number, ..): &&(u64, u64, u64)| is_lossy && number % 50 == 47;
            let sent: Vec<Packet> = packets
                .iter()
                .filter(is_sent)
                .map(|(number, content, _)| packet(time(*number), udp(*content)))
                .collect();
            let mut received: Vec<Packet> = packets
                .iter()
                .filter(|each| is_there(each) && !is_lost(each))
                .map(|(number, content, delay)| packet(time(*number) + delay, udp(*content)))
                .collect();
            received.sort_by_key(|packet| packet.timestamp);
            let common = || packets.iter().filter(|each| is_sent(each) && is_there(each));
            let lost = common().filter(is_lost).count();
            let delays: Vec<u64> = common().filter(|each| !is_lost(each)).map(|(.., delay)| *delay).collect();
            let mean = delays.iter().sum::<u64>() as f64 / delays.len() as f64;
            let (sender, receiver) =
                (folder.capture("sender.pcap", &sent), folder.capture("receiver.pcap", &received));
            let run = run(&["measure", "--json", "--synopsis", "identity", &sender, &receiver]).json();
            let overall = &run["overall"];
            let case =
                format!("{began} {ended} {began_there} {ended_there} {is_lossy}: {mean} {lost} {overall}");
            let names_lost = overall["reason"].as_str().is_some_and(|reason| reason.contains("lost: "));
            assert!(overall["lost"] == json!(lost) || names_lost, "{case}");
            let [low, high] = [0, 1].map(|at| overall["bracket_ns"][at].as_f64().unwrap());
            assert!(low - 1.0 <= mean && mean <= high + 1.0, "{case}");
            assert!(overall["mean_ns"].as_f64().is_none_or(|found| (found - mean).abs() < 1.0), "{case}");
            assert_eq!(overall["mean_ns"].is_null(), is_lossy, "{case}");
        }
    }
}

#[test]
fn packets_without_times_have_no_delay() {
    let folder = Folder::new();
    for time in [0, START] {
        let untimed = |packets: &[Packet]| -> Vec<Packet> {
            packets.iter().map(|each| packet(time, each.data.clone())).collect()
        };
        let [sent, received] = stream(0..100, |number| number % 10 != 7);
        let receiver = folder.capture("receiver.pcap", &untimed(&received));
        for sent in [untimed(&sent), sent] {
            let sender = folder.capture("sender.pcap", &sent);
            for command in [&["measure"][..], &["measure", "--truth"], &["truth"], &["flows", "list"]] {
                run(&[command, &[&sender, &receiver]].concat())
                    .failed(6, &["not identifiable: all ", "packets have the same time"]);
            }
        }
    }
}

#[test]
fn a_last_interval_of_one_packet_leaves_the_deviation_of_all() {
    let folder = Folder::new();
    let mut ends = stream(0..3001, |_| true);
    for packets in &mut ends {
        (0..).zip(packets).for_each(|(number, packet)| packet.timestamp += 977 * (number % 7));
    }
    let ends = [folder.capture("sender.pcap", &ends[0]), folder.capture("receiver.pcap", &ends[1])];
    let found = run(&["measure", "--json", "--interval", "1s", &ends[0], &ends[1]]).json();
    let intervals = found["intervals"].as_array().unwrap();
    assert_eq!(intervals.last().unwrap()["sent"], json!(1), "{found}");
    let exact = run(&["truth", "--json", &ends[0], &ends[1]]).json()["overall"]["std_ns"].as_f64().unwrap();
    let deviation = found["overall"]["std_ns"].as_f64().unwrap();
    assert!((deviation / exact - 1.0).abs() < 0.1, "{deviation} {exact}");
}

fn run_of(sender: &str, receiver: &str) -> Run {
    run(&["measure", sender, receiver])
}

#[test]
fn packets_that_repeat_hide_no_loss() {
    let folder = Folder::new();
    // The same at the start and at the end, and the first copy is lost.
    let [mut sent, mut received] = stream(0..1000, |number| number != 5);
    sent[5].data = udp(77_777);
    sent[990].data = udp(77_777);
    received[989].data = udp(77_777);
    let (measured, truth, _) = losses(&folder, [&sent, &received]);
    assert_eq!((measured, truth), (json!(1), json!(1)));
    // Every packet twice, and 3 of them not at all.
    let [sent, received] = stream(0..1000, |number| number % 300 != 250);
    let twice = |packets: &[Packet]| -> Vec<Packet> {
        packets.iter().flat_map(|packet| [packet.clone(), packet.clone()]).collect()
    };
    let (measured, truth, run) = losses(&folder, [&twice(&sent)[400..], &twice(&received)]);
    assert_eq!((measured, truth), (json!(6), json!(6)));
    run.told(0, &["the receiver's has 400 in front", "repeat an earlier one", "`editcap -d`"]);
    assert!(run.json()["overall"]["mean_ns"].is_null(), "{run:?}");
}

#[test]
fn look_alikes_leave_intervals_where_they_are() {
    let folder = Folder::new();
    // Every tenth looks alike, and takes 40 ms; one of them is lost.
    let [mut sent, received] = stream(0..4000, |number| number != 2010);
    let mut received = received;
    let change = |packet: &mut Packet, later: u64| {
        if packet.data[42..50] != 0u64.to_be_bytes() && packet.data[49].is_multiple_of(10) {
            packet.data[42..50].fill(0xff);
            packet.timestamp += later;
        }
    };
    sent.iter_mut().for_each(|packet| change(packet, 0));
    received.iter_mut().for_each(|packet| change(packet, 40 * MILLISECOND));
    received.sort_by_key(|packet| packet.timestamp);
    let (sender, receiver) =
        (folder.capture("sender.pcap", &sent), folder.capture("receiver.pcap", &received));
    for command in ["truth", "measure"] {
        let result = run(&[command, "--json", "--interval", "500ms", &sender, &receiver]);
        // So many that look alike leave tables without a mean.
        result.told(if command == "measure" { 6 } else { 0 }, &["the mean, the standard deviation"]);
        let json = result.json();
        let sent: Vec<u64> =
            json["intervals"].as_array().unwrap().iter().map(|each| each["sent"].as_u64().unwrap()).collect();
        assert_eq!(sent, [500; 8], "{command}");
        assert!(!result.messages.contains("overtake"), "{}", result.messages);
    }
    // Where the first packet of all comes last, there is no place for a cut.
    let last = received.len() - 1;
    received[0].timestamp = received[last].timestamp + 1;
    received.rotate_left(1);
    let receiver = folder.capture("receiver.pcap", &received);
    run(&["truth", "--interval", "500ms", &sender, &receiver]).told(0, &["there is no place for a cut"]);
}

#[test]
fn damaged_captures_are_read_up_to_there_by_all_that_reads_them() {
    let folder = Folder::new();
    let [sent, received] = stream(0..4000, |number| number % 2 == 0);
    let sender = folder.capture("sender.pcap", &sent);
    let bytes = fs::read(folder.capture("whole.pcap", &received)).unwrap();
    let cut = folder.write("cut.pcap", &bytes[..bytes.len() - 10]);
    for command in ["measure", "truth"] {
        for options in [&[][..], &["--split"], &["--interval", "100ms"]] {
            let arguments = [&[command], options].concat();
            run(&[&arguments[..], &[&sender, &cut]].concat())
                .failed(3, &["ends in the middle of this record", "--keep-going"]);
            run(&[&arguments[..], &["--keep-going", &sender, &cut]].concat())
                .told(0, &["only its 1999 packets before that are used"]);
        }
    }
}

#[test]
fn what_is_no_loss_is_not_called_loss() {
    let folder = Folder::new();
    let loss = "nothing in the recordings explains it but loss";
    let [sent, received] = stream(0..2000, |_| true);
    let half: Vec<Packet> = received.iter().step_by(2).cloned().collect();
    let [whole, some] = [folder.capture("whole.pcap", &received), folder.capture("half.pcap", &half)];
    let sender = folder.capture("sender.pcap", &sent);
    run(&["truth", &sender, &some]).told(0, &[loss]);
    // More was received than sent.
    assert!(!run(&["truth", &some, &sender]).messages.contains(loss));
    // Packets that come twice.
    let twice: Vec<Packet> = received.iter().flat_map(|packet| [packet.clone(), packet.clone()]).collect();
    let result = run(&["truth", &sender, &folder.capture("twice.pcap", &twice)]);
    result.told(6, &["0.0 % of the sender's packets and 50.0 % of the receiver's repeat an earlier one"]);
    assert!(!result.messages.contains(loss));
    // Another identification in each.
    let mut rewritten = received;
    for (number, packet) in rewritten.iter_mut().enumerate() {
        packet.data[18..20].copy_from_slice(&(number as u16 + 1).to_be_bytes());
    }
    let rewritten = folder.capture("rewritten.pcap", &rewritten);
    run(&["truth", &sender, &rewritten]).failed(9, &["without IPv4's identification", "rewrites these"]);
    for command in ["truth", "measure"] {
        run(&[command, &whole, &whole]).told(0, &["is given for both ends, so that every delay is 0"]);
        let copy = folder.write("copy.pcap", fs::read(&whole).unwrap());
        run(&[command, &whole, &copy]).told(0, &["as copies of one recording do, so that every delay is 0"]);
        let empty = folder.capture("empty.pcap", []);
        run(&[command, &empty, &whole]).told(6, &["empty.pcap: the capture has no packets"]);
    }
}

#[test]
fn records_of_nothing_need_little_memory() {
    let folder = Folder::new();
    let [sent, received] = stream(0..1000, |_| true);
    let mut bytes = fs::read(folder.capture("sender.pcap", &sent)).unwrap();
    // Four million records without a byte: 16 bytes each in the file, and 8 in memory.
    let end = (START / 1_000_000_000 + 1) as u32;
    let record = [end.to_le_bytes(), [0; 4], [0; 4], [60, 0, 0, 0]].concat();
    bytes.extend(record.repeat(4_000_000));
    let sender = folder.write("long.pcap", bytes);
    let receiver = folder.capture("receiver.pcap", &received);
    let mut limited = std::process::Command::new("sh");
    let program = command(&[""; 0]).get_program().to_owned();
    limited.args(["-c", "ulimit -v 300000; exec \"$@\"", "sh"]).arg(&program);
    limited.args(["measure", "--json", "--interval", "100ms", &sender, &receiver]);
    let result = finish(&mut limited);
    assert_eq!(result.told(0, &[]).json()["overall"]["lost"], json!(0));
    // As many of which each is measured are too many, and that is said.
    let many: Vec<Packet> =
        (0..1_500_000).map(|number| packet(START + number, udp(number)[..66].to_vec())).collect();
    let many = folder.capture("many.pcap", &many);
    let mut limited = std::process::Command::new("sh");
    limited.args(["-c", "ulimit -v 300000; exec \"$@\"", "sh"]).arg(&program);
    limited.args(["measure", "--json", "--interval", "100ms", &many, &many]);
    finish(&mut limited).told(3, &["many.pcap: its packets need more memory than there is"]);
}

/// A TCP packet of 1,460 bytes in 1,500; with other flags, options and total length.
fn tcp(number: u64, flags: u8, options: &[u8], payload: usize, total: Option<u16>) -> Vec<u8> {
    let length = total.unwrap_or((40 + options.len() + payload) as u16);
    let mut data = [&[0; 12][..], &[8, 0, 0x45, 0]].concat();
    data.extend(length.to_be_bytes());
    data.extend((number as u16).to_be_bytes());
    data.extend([0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 3, 0xe8, 0, 80]);
    data.extend(((number * 1460) as u32).to_be_bytes());
    data.extend([0, 0, 0, 0, (5 + options.len() as u8 / 4) << 4, flags, 0xff, 0xff, 0, 0, 0, 0]);
    data.extend(options);
    data.resize(data.len() + payload, 0x78);
    data
}

#[test]
fn forged_headers_split_nothing() {
    let folder = Folder::new();
    let times = |number: u64| START + number * MILLISECOND;
    let mut sent: Vec<Packet> =
        (0..500).map(|number| packet(times(number), tcp(number, 0x10, &[], 1460, None))).collect();
    let received: Vec<Packet> =
        sent.iter().map(|sent| Packet { timestamp: sent.timestamp + MILLISECOND, ..sent.clone() }).collect();
    // An announcement of 256 bytes, and packets of 300 that call themselves 65,535: all at the sender alone.
    sent.insert(250, packet(times(250) - 7, tcp(9000, 2, &[2, 4, 1, 0], 0, None)));
    for number in 0..20 {
        let place = 40 + number as usize * 10;
        let time = sent[place].timestamp + 3;
        sent.insert(place + 1, packet(time, tcp(5000 + number, 0x10, &[], 246, Some(65_535))));
    }
    let (sender, receiver) =
        (folder.capture("sender.pcap", &sent), folder.capture("receiver.pcap", &received));
    let result = run(&["truth", "--json", "--split", &sender, &receiver]);
    let json = result.told(0, &[]).json();
    assert_eq!((&json["overall"]["sent"], &json["overall"]["lost"]), (&json!(521), &json!(21)));
    assert!(!result.messages.contains("--split has made"), "{}", result.messages);
    // A packet that is too long indeed.
    let mut long = received.clone();
    long[100] = packet(long[100].timestamp, tcp(100, 0x10, &[], 2920, None));
    long.remove(101);
    let long = folder.capture("long.pcap", &long);
    run(&["truth", "--split", &long, &receiver]).told(0, &["long.pcap: --split has made 2 packets of 1"]);
}
