//! Recordings as other programs make them, byte by byte: every link type, tunnels, both directions, address translation,
//! and packets that a network card would have cut.
//!
//! Test plan: the shipped recordings, rewritten as such a program would have recorded them, give the shipped recordings'
//! results; where that cannot be, the message names the cause and its remedy.
#![allow(clippy::unwrap_used)]

use crate::common::{Folder, RECEIVER, SENDER, fragmented, packets, pcap, run};
use deltaline_capture::Packet;
use serde_json::json;

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

#[test]
fn control_frames_of_the_interface_any_are_decoded() {
    let folder = Folder::new();
    let frames = folder.path("frames.pcapng");
    let measured = run(&["measure", "--json", "--frames", &frames, SENDER, RECEIVER]).json();
    let cooked = [0, 2, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0];
    let records = packets(&frames)
        .into_iter()
        .map(|frame| (frame.timestamp, frame.length + 2, [&cooked[..], &frame.data[12..]].concat()));
    let any = folder.write("any.pcap", pcap(113, records));
    let decoded = run(&["decode", "--json", &any]).told(0, &[]).json();
    assert_eq!(decoded["overall"], crate::common::of_tables(&measured["overall"]));
}

#[test]
fn packets_that_are_fragmented_in_between_are_refused() {
    let folder = Folder::new();
    let sent = packets(SENDER);
    let parts = fragmented(packets(RECEIVER));
    let sender = folder.capture("sender.pcap", &sent);
    let receiver = folder.capture("receiver.pcap", &parts);
    for command in [&["measure"][..], &["measure", "--interval", "500ms"], &["truth"], &["flows", "list"]] {
        for ends in [[&sender, &receiver], [&receiver, &sender]] {
            let run = run(&[command, &[ends[0].as_str(), ends[1]]].concat());
            run.failed(9, &["fragments of IP packets are ", "0 (0.0 %)", "receiver.pcap", "MTU"]);
        }
    }
    // Fragments at both ends are packets like others.
    run(&["measure", &receiver, &receiver]).told(0, &[]);
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
    // Not with slices: the shipped files do not keep the order of their times, as those of both directions do.
    let lda = ["measure", "--json", "--synopsis", "lda"];
    let right = run(&[&lda[..], &[SENDER, RECEIVER]].concat()).json();
    for options in [
        &["--direction", "out"][..],
        &["--filter", "src host 10.1.0.1"],
        &["--filter", "dst net 10.2.0.0/16 and not dst host 10.1.0.1", "--direction", "out"],
    ] {
        let one = run(&[&lda[..], &[&sender, &receiver], options].concat());
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
        run(&[&lda[..], &["--interval", "250ms"], options].concat()).json()["intervals"].clone()
    };
    assert_eq!(interval(&["--direction", "out", &sender, &receiver]), interval(&[SENDER, RECEIVER]));
    // The other way: what the receiver's host sent, which all arrived.
    let back = run(&["truth", "--json", "--direction", "out", &receiver, &sender]);
    assert_eq!(back.json()["overall"]["lost"], json!(0));
    let back = run(&["truth", "--json", "--direction", "in", &sender, &receiver]);
    assert_eq!(back.json()["overall"]["mean_ns"], json!(-5_000_000.0));
}

#[test]
fn one_recording_of_all_interfaces_gives_the_delay_within() {
    let folder = Folder::new();
    let any = folder.write("any.pcap", both_ways((0, &packets(SENDER)), (4, &packets(RECEIVER))));
    let lda = ["measure", "--json", "--synopsis", "lda"];
    let result = run(&[&lda[..], &["--direction", "in", &any, &any]].concat());
    let right = run(&[&lda[..], &[SENDER, RECEIVER]].concat()).json();
    assert_eq!(result.told(0, &[]).json()["overall"], right["overall"]);
    assert_eq!(result.json()["intervals"], right["intervals"]);
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

#[test]
fn packets_behind_an_address_translation() {
    let folder = Folder::new();
    let mut received = packets(RECEIVER);
    // Another source, and another port with its checksum.
    for packet in &mut received {
        packet.data[26..30].copy_from_slice(&[198, 51, 100, 7]);
        // Of TCP, UDP and ICMP; the last one's is an identifier.
        let (port, checksum) = match packet.data[23] {
            6 => (34, 50),
            17 => (34, 40),
            _ => (38, 36),
        };
        packet.data[port] ^= 0x15;
        packet.data[checksum] ^= 0x33;
    }
    let receiver = folder.capture("receiver.pcap", &received);
    let right = run(&["measure", "--json", "--truth", SENDER, RECEIVER]).json();
    let named = [
        "0.0 % of the packets are at both ends, but 100.0 % without",
        "address translation (NAT)",
        "--nat knows packets",
    ];
    run(&["measure", SENDER, &receiver]).told(9, &named);
    run(&["truth", SENDER, &receiver]).failed(9, &named);
    // Some packets have been let through as they were.
    received[..2_000].clone_from_slice(&packets(RECEIVER)[..2_000]);
    let some = folder.capture("some.pcap", &received);
    run(&["truth", SENDER, &some]).failed(9, &["3.5 % of the packets are at both ends", "--nat"]);
    for receiver in [&receiver, &some] {
        let result = run(&["truth", "--json", "--nat", SENDER, receiver]);
        assert_eq!(result.told(0, &[]).json()["overall"]["lost"], json!(1_566));
        let result = run(&["measure", "--json", "--truth", "--nat", SENDER, receiver]);
        assert_eq!(result.told(0, &[]).json()["overall"]["truth"], right["overall"]["truth"]);
    }
    assert!(!run(&["truth", SENDER, RECEIVER]).messages.contains("NAT"));
}

#[test]
fn what_explains_a_doubtful_result_is_named() {
    let folder = Folder::new();
    let (sent, mut late) = (packets(SENDER), packets(RECEIVER));
    late.iter_mut().for_each(|packet| packet.timestamp += 3_600_000_000_000);
    let late = folder.capture("late.pcap", &late[30_000..]);
    let times = ["have 0.000 ns in common", "begins 3", "after the sender's", "made at the same time"];
    run(&["truth", SENDER, &late]).told(0, &times);
    run(&["measure", SENDER, &late]).told(6, &times);
    // Every other packet is lost, and that is all.
    let few = folder.capture("few.pcap", sent.iter().step_by(2));
    for result in
        [run(&["truth", SENDER, &few]), run(&["measure", "--rows", "8", "--banks", "0", SENDER, &few])]
    {
        assert!(result.messages.contains("nothing in the recordings explains it but loss"), "{result:?}");
    }
    for messages in [run(&["truth", SENDER, RECEIVER]), run(&["measure", SENDER, RECEIVER])] {
        assert!(!messages.messages.contains("recordings"), "{messages:?}");
    }
}

/// A TCP stream in packets of so many bytes, as one end records it: from time 0, a packet for each length, 1 ms apart.
fn stream(after: u64, lengths: impl IntoIterator<Item = usize>) -> Vec<Packet> {
    let (mut sequence, mut identification) = (7u32, 1u16);
    let mut packets = vec![];
    for (number, bytes) in lengths.into_iter().enumerate() {
        let mut data = [&MACS[..], &[8, 0, 0x45, 0]].concat();
        data.extend((52 + bytes as u16).to_be_bytes());
        data.extend(identification.to_be_bytes());
        data.extend([0x40, 0, 64, 6, 0, 0, 10, 1, 0, 1, 10, 2, 0, 1, 0x9c, 0x40, 0, 80]);
        data.extend(sequence.to_be_bytes());
        data.extend([0, 0, 0, 1, 0x80, 0x10, 1, 0, 0, 0, 0, 0, 1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2]);
        let length = (data.len() + bytes) as u32;
        let timestamp = 1_000_000_000 + after + 1_000_000 * number as u64;
        packets.push(Packet { timestamp, length, interface: 0, data });
        sequence = sequence.wrapping_add(bytes as u32);
        identification = identification.wrapping_add(bytes.div_ceil(1448) as u16);
    }
    packets
}

#[test]
fn packets_that_a_network_card_cuts_or_joins() {
    let folder = Folder::new();
    // The sender's host hands over 20 segments at a time; on the way they are single ones, and the receiver's joins 2.
    let sent = folder.capture("sent.pcap", &stream(0, [20 * 1448; 300]));
    let wire = folder.capture("wire.pcap", &stream(500_000, [1448; 6000]));
    let joined = folder.capture("joined.pcap", &stream(500_000, [2 * 1448; 3000]));
    for (sender, receiver) in [(&sent, &wire), (&wire, &joined), (&wire, &sent)] {
        let result = run(&["truth", "--json", "--split", sender, receiver]).told(0, &[]).json();
        assert_eq!((&result["overall"]["lost"], &result["receiver_only"]), (&json!(0), &json!(0)));
        let result = run(&["measure", "--json", "--split", sender, receiver]);
        assert_eq!(result.told(0, &[]).json()["overall"]["lost"], json!(0));
        assert!(!result.messages.contains("ethtool"), "{}", result.messages);
        let whole = run(&["measure", sender, receiver]).messages;
        for part in
            ["longer than an ordinary link carries", "--split cuts those of TCP", "tso off gso off gro off"]
        {
            assert!(whole.contains(part), "{part} is not in {whole}");
        }
    }
    // Whole at both ends: without the handshake nobody knows what the path carries.
    let result =
        run(&["truth", "--split", &sent, &folder.capture("whole.pcap", &stream(500_000, [30 * 1448; 200]))]);
    result.failed(9, &["for want of a handshake", "ethtool -K INTERFACE"]);
    run(&["measure", "--split", "/dev/null", &wire])
        .failed(3, &["/dev/null", "--split", "save it to a file"]);
    run(&["measure", "--split", "--nat", &sent, &wire]).told(2, &["cannot be used with"]);
}
