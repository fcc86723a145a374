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
    for part in ["overall", "intervals", "sender", "receiver"] {
        assert_eq!(result.json()[part], right[part], "{part}");
    }
    let sender = folder.write("ppp.pcap", relinked(9, &[0xff, 3, 0, 0x21], &sent));
    assert_eq!(run(&["truth", "--json", &sender, &receiver]).json()["overall"]["lost"], json!(1_566));
}
