//! Recordings as other programs make them, byte by byte: every link type, tunnels, both directions, address translation,
//! and packets that a network card would have cut.
//!
//! Test plan: the shipped recordings, rewritten as such a program would have recorded them, give the shipped recordings'
//! results; where that cannot be, the message names the cause and its remedy.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, RECEIVER, SENDER, packets, run};
use deltaline_capture::Packet;
use serde_json::json;

/// A pcap file in nanoseconds of this link type: time, length on the wire, and what was recorded.
fn pcap(link_type: u32, records: impl IntoIterator<Item = (u64, u32, Vec<u8>)>) -> Vec<u8> {
    let mut file = vec![];
    file.extend(0xa1b2_3c4d_u32.to_le_bytes());
    file.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0]);
    file.extend(link_type.to_le_bytes());
    for (time, length, data) in records {
        for field in [(time / 1_000_000_000) as u32, (time % 1_000_000_000) as u32, data.len() as u32, length]
        {
            file.extend(field.to_le_bytes());
        }
        file.extend(data);
    }
    file
}

/// The packets behind another link header.
fn relinked(link_type: u32, header: &[u8], packets: &[Packet]) -> Vec<u8> {
    pcap(
        link_type,
        packets.iter().map(|packet| {
            let data = [header, &packet.data[14..]].concat();
            (packet.timestamp, packet.length - 14 + header.len() as u32, data)
        }),
    )
}

#[test]
fn recordings_of_other_link_types_give_the_same_result() {
    let folder = Folder::new();
    let (sent, received) = (packets(SENDER), packets(RECEIVER));
    let right = run(&["measure", "--json", "--truth", SENDER, RECEIVER]).json();
    let cooked = [0, 4, 0, 1, 0, 6, 0x52, 0x54, 0, 0x12, 0x34, 0x56, 0, 0, 8, 0];
    let sender = folder.write("any.pcap", relinked(113, &cooked, &sent));
    let receiver = folder.write("tun.pcap", relinked(101, &[], &received));
    let result = run(&["measure", "--json", "--truth", &sender, &receiver]);
    result.told(0, &[]);
    for part in ["overall", "intervals"] {
        assert_eq!(result.json()[part], right[part], "{part}");
    }
    for end in ["sender", "receiver"] {
        assert_eq!(result.json()[end]["packets"], right[end]["packets"], "{end}");
    }
    let sender = folder.write("ppp.pcap", relinked(9, &[0xff, 3, 0, 0x21], &sent));
    assert_eq!(run(&["truth", "--json", &sender, &receiver]).json()["overall"]["lost"], json!(1_566));
}

/// Packets of the other direction: those that were received, answered 100 µs later, 5 ms on the way back.
fn answers(received: &[Packet]) -> [Vec<Packet>; 2] {
    let answer = |after: u64| {
        move |packet: &Packet| {
            let mut packet = packet.clone();
            packet.timestamp += after;
            let (source, destination) = packet.data[26..34].split_at_mut(4);
            source.swap_with_slice(destination);
            packet
        }
    };
    [5_100_000, 100_000].map(|after| received.iter().map(answer(after)).collect())
}

/// The packets of both lists in order of time, those of the first one behind this packet type of Linux cooked.
fn both_ways(ours: (u8, &[Packet]), theirs: (u8, &[Packet])) -> Vec<u8> {
    let of = |(kind, packets): (u8, &[Packet])| -> Vec<(u64, u32, Vec<u8>)> {
        let header = [0, kind, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 8, 0];
        let record = |packet: &Packet| {
            (packet.timestamp, packet.length + 2, [&header[..], &packet.data[14..]].concat())
        };
        packets.iter().map(record).collect()
    };
    let mut records = [of(ours), of(theirs)].concat();
    records.sort_by_key(|record| record.0);
    pcap(113, records)
}

#[test]
fn one_direction_of_recordings_that_hold_both() {
    let folder = Folder::new();
    let (sent, received) = (packets(SENDER), packets(RECEIVER));
    let [back_at_sender, back_at_receiver] = answers(&received);
    let sender = folder.write("sender.pcap", both_ways((4, &sent), (0, &back_at_sender)));
    let receiver = folder.write("receiver.pcap", both_ways((0, &received), (4, &back_at_receiver)));
    let right = run(&["measure", "--json", SENDER, RECEIVER]).json();
    for options in [
        &["--direction", "out"][..],
        &["--filter", "src host 10.1.0.1"],
        &["--filter", "dst net 10.2.0.0/16 and not dst host 10.1.0.1", "--direction", "out"],
    ] {
        let one = run(&[&["measure", "--json", &sender, &receiver], options].concat());
        one.told(0, &[]);
        assert_eq!(one.json()["overall"], right["overall"], "{options:?}");
        assert_eq!(one.json()["sender"]["packets"], right["sender"]["packets"], "{options:?}");
        let truth = run(&[&["truth", "--json", &sender, &receiver], options].concat());
        assert_eq!(truth.told(0, &[]).json()["overall"]["lost"], json!(1_566));
    }
    // Without a choice, that is said.
    for command in ["measure", "truth"] {
        let both = run(&[command, &sender, &receiver]);
        both.told(0, &["% of the receiver's go against the others of the same two addresses"]);
        both.told(0, &["--filter, such as 'src host 10.1.0.1'", "--direction"]);
    }
    assert!(!run(&["measure", "--direction", "out", &sender, &receiver]).messages.contains("against"));
    // Intervals are cut where they are without the other direction.
    let interval = |options: &[&str]| {
        run(&[&["measure", "--json", "--interval", "250ms"], options].concat()).json()["intervals"].clone()
    };
    assert_eq!(interval(&["--direction", "out", &sender, &receiver]), interval(&[SENDER, RECEIVER]));
    // The other way: what the receiver's host sent, which all arrived.
    let back = run(&["truth", "--json", "--direction", "out", &receiver, &sender]);
    assert_eq!(back.json()["overall"]["lost"], json!(0));
    let back = run(&["truth", "--json", "--direction", "in", &sender, &receiver]);
    assert_eq!(back.json()["overall"]["mean_ns"], json!(-5_000_000.0));
}

#[test]
fn selections_that_cannot_be_made_are_refused() {
    run(&["measure", "--filter", "port http", SENDER, RECEIVER])
        .told(2, &["\"http\" is not a number", "understood are"]);
    run(&["truth", "--direction", "out", SENDER, RECEIVER])
        .failed(3, &["does not say which way the packet went", "filter by addresses"]);
    let nothing = ["none of its 59461 packets is wanted", "which way the traffic goes"];
    run(&["measure", "--filter", "src host 10.2.0.1", SENDER, RECEIVER]).told(6, &nothing);
    run(&["truth", "--filter", "src host 10.2.0.1", SENDER, RECEIVER]).told(6, &nothing);
}

#[test]
fn packets_cut_within_their_headers_are_called_that() {
    let folder = Folder::new();
    let sent = packets(SENDER);
    let mut cut = sent.clone();
    cut[..100].iter_mut().for_each(|packet| packet.data.truncate(30));
    cut[100].data[12..14].copy_from_slice(&[8, 6]);
    let sender = folder.capture("sender.pcap", &cut);
    let receiver = folder.capture("receiver.pcap", &sent[101..]);
    let messages =
        ["100 of 59461 packets were cut within their headers", "snap length of at least 126 bytes"];
    let result = run(&["measure", "--json", &sender, &receiver]);
    result.told(0, &messages).told(0, &["1 of 59461 packets are not IP"]);
    assert_eq!(result.json()["overall"]["lost"], json!(0));
    let result = run(&["truth", "--json", &sender, &receiver]);
    assert_eq!(result.told(0, &messages).json()["sender"]["cut"], json!(100));
}

/// The packets in a tunnel: behind these bytes, from where they stood in the frame. The lengths of the outer headers are not
/// right, and nobody looks at them.
fn tunnelled(outer: &[u8], start: usize, packets: &[Packet]) -> Vec<Packet> {
    let wrap = |packet: &Packet| {
        let data = [outer, &packet.data[start..]].concat();
        Packet { length: packet.length + outer.len() as u32 - start as u32, data, ..packet.clone() }
    };
    packets.iter().map(wrap).collect()
}

const MACS: [u8; 12] = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];

/// An outer header of IPv4 without an identification, and of UDP.
fn outer_udp(port: u16) -> Vec<u8> {
    let ipv4 = [0x45, 0, 3, 0, 0, 0, 0x40, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2];
    [&MACS[..], &[8, 0], &ipv4, &[0xc0, 0], &port.to_be_bytes(), &[2, 0xec, 0, 0]].concat()
}

#[test]
fn packets_in_tunnels() {
    let folder = Folder::new();
    let (sent, received) = (packets(SENDER), packets(RECEIVER));
    let right = run(&["measure", "--json", SENDER, RECEIVER]).json();
    let vxlan = [&outer_udp(4789)[..], &[8, 0, 0, 0, 0, 0, 42, 0]].concat();
    let gtp = [&outer_udp(2152)[..], &[0x30, 255, 2, 0xdc, 0, 0, 0, 7]].concat();
    let pppoe = [&MACS[..], &[0x88, 0x64, 0x11, 0, 0, 7, 2, 0xdc, 0, 0x21]].concat();
    for (name, outer, start) in [("VXLAN", &vxlan, 0), ("GTP-U", &gtp, 14), ("PPPoE", &pppoe, 14)] {
        let sender = folder.capture("sender.pcap", &tunnelled(outer, start, &sent));
        let receiver = folder.capture("receiver.pcap", &tunnelled(outer, start, &received));
        // A tunnel at both ends, and between the points.
        for receiver in [receiver.as_str(), RECEIVER] {
            let result = run(&["measure", "--json", "--inner", &sender, receiver]);
            assert_eq!(result.told(0, &[]).json()["overall"], right["overall"], "{name}");
            assert!(!result.messages.contains("tunnel"), "{}", result.messages);
            let result = run(&["truth", "--json", "--inner", &sender, receiver]);
            assert_eq!(result.json()["overall"]["lost"], json!(1_566));
            let result = run(&["measure", &sender, receiver]);
            let share = if receiver == RECEIVER { "0.0 %" } else { "100.0 %" };
            let message = format!(
                "100.0 % of the sender's packets and {share} of the receiver's are in tunnels ({name})"
            );
            assert!(result.messages.contains(&message) && result.messages.contains("--inner"), "{result:?}");
            let alike = result.messages.contains("whose headers do not distinguish them");
            assert_eq!(alike, receiver != RECEIVER && name != "GTP-U", "{name}: {}", result.messages);
        }
    }
    // The message of a failure names it, too; the filter sees the outer packet.
    let sender = folder.capture("sender.pcap", &tunnelled(&vxlan, 0, &sent));
    run(&["truth", &sender, RECEIVER])
        .failed(9, &["no packet in common", "--inner takes the packets inside"]);
    let result =
        run(&["truth", "--json", "--inner", "--filter", "udp port 4789 or src net 10", &sender, RECEIVER]);
    assert_eq!(result.json()["overall"]["lost"], json!(1_566));
}
