use super::*;
use deltaline_model::packet::identity::identify;

/// An IPv4 packet: UDP from 10.1.0.1 to 10.2.0.1.
fn ipv4() -> Vec<u8> {
    let mut packet = vec![0x45, 0, 0, 60, 0xbe, 0xef, 0x40, 0, 63, 17, 0xaa, 0x55, 10, 1, 0, 1, 10, 2, 0, 1];
    packet.extend((0..40).map(|byte| 0x80 + byte));
    packet
}

/// An IPv6 packet likewise.
fn ipv6() -> Vec<u8> {
    let mut packet = vec![0x60, 0, 0, 0, 0, 40, 17, 64];
    packet.extend(0x20..0x40);
    packet.extend((0..40).map(|byte| 0x80 + byte));
    packet
}

fn mpls(packet: Vec<u8>) -> Vec<u8> {
    [vec![0, 1, 0x11, 64], packet].concat()
}

fn ethernet(ethertype: [u8; 2], packet: &[u8]) -> Vec<u8> {
    [&[0; 12], &ethertype[..], packet].concat()
}

/// Link type, link header, EtherType and packet.
type Record = (u16, &'static [u8], [u8; 2], Vec<u8>);

/// Link headers as other programs write them, with what they stand for.
fn records() -> Vec<Record> {
    const V4: [u8; 2] = [0x08, 0x00];
    const V6: [u8; 2] = [0x86, 0xdd];
    const MPLS: [u8; 2] = [0x88, 0x47];
    // tcpdump -i any: sent by this host, Ethernet, six bytes of address, two unused ones.
    const COOKED_V4: &[u8] = &[0, 4, 0, 1, 0, 6, 0x52, 0x54, 0, 0x12, 0x34, 0x56, 0, 0, 0x08, 0x00];
    // Received, of a tunnel interface (no addresses).
    const COOKED_V6: &[u8] = &[0, 0, 3, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x86, 0xdd];
    // A VLAN tag, which libpcap puts behind the header.
    const COOKED_VLAN: &[u8] = &[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 1, 0, 0, 0x81, 0x00];
    // Interface 3, Ethernet, received, six bytes of address.
    const COOKED2_V4: &[u8] = &[0x08, 0, 0, 0, 0, 0, 0, 3, 0, 1, 0, 6, 0x52, 0x54, 0, 1, 2, 3, 0, 0];
    const COOKED2_V6: &[u8] = &[0x86, 0xdd, 0, 0, 0, 0, 0, 3, 0, 1, 4, 6, 0x52, 0x54, 0, 1, 2, 3, 0, 0];
    let tagged = [vec![0x20, 5, 0x08, 0x00], ipv4()].concat();
    vec![
        (1, &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0], V4, ipv4()),
        (113, COOKED_V4, V4, ipv4()),
        (113, COOKED_V6, V6, ipv6()),
        (113, COOKED_VLAN, [0x81, 0x00], tagged),
        (276, COOKED2_V4, V4, ipv4()),
        (276, COOKED2_V6, V6, ipv6()),
        (101, &[], V4, ipv4()),
        (12, &[], V4, ipv4()),
        (14, &[], V6, ipv6()),
        (101, &[], V6, ipv6()),
        (228, &[], V4, ipv4()),
        (229, &[], V6, ipv6()),
        (9, &[0xff, 0x03, 0x00, 0x21], V4, ipv4()),
        (9, &[0x00, 0x21], V4, ipv4()),
        // The protocol field, compressed to a byte.
        (9, &[0x21], V4, ipv4()),
        (9, &[0xff, 0x03, 0x57], V6, ipv6()),
        (50, &[0xff, 0x03, 0x00, 0x57], V6, ipv6()),
        (50, &[0xff, 0x03, 0x02, 0x81], MPLS, mpls(ipv4())),
        // Cisco HDLC.
        (50, &[0x0f, 0x00, 0x08, 0x00], V4, ipv4()),
        (50, &[0x8f, 0x00, 0x86, 0xdd], V6, ipv6()),
        (0, &[2, 0, 0, 0], V4, ipv4()),
        (0, &[0, 0, 0, 2], V4, ipv4()),
        (0, &[30, 0, 0, 0], V6, ipv6()),
        (0, &[0, 0, 0, 28], V6, ipv6()),
        (0, &[24, 0, 0, 0], V6, ipv6()),
        (0, &[23, 0, 0, 0], V6, ipv6()),
        (108, &[0, 0, 0, 2], V4, ipv4()),
        (108, &[0, 0, 0, 24], V6, ipv6()),
    ]
}

#[test]
fn every_link_type_becomes_the_ethernet_frame_of_the_same_packet() {
    for (number, header, ethertype, packet) in records() {
        let link = Link::of(number).unwrap();
        let mut frame = vec![0xee; 3];
        let longer = link.to_ethernet(&[header, &packet].concat(), &mut frame);
        assert_eq!(frame, ethernet(ethertype, &packet), "{number} {header:x?}");
        assert_eq!(longer, 14 - header.len() as i32);
        identify(&frame).unwrap();
    }
}

#[test]
fn a_record_cut_anywhere_is_the_beginning_of_its_frame() {
    for (number, header, ethertype, packet) in records() {
        let (record, whole) = ([header, &packet].concat(), ethernet(ethertype, &packet));
        for cut in 0..record.len() {
            let mut frame = vec![];
            Link::of(number).unwrap().to_ethernet(&record[..cut], &mut frame);
            assert!(whole.starts_with(&frame), "{number} {header:x?} cut at {cut}");
            assert_eq!(frame.is_empty(), cut < header.len() || cut == 0 && matches!(number, 12 | 14 | 101));
        }
    }
}

#[test]
fn what_is_no_ip_stays_none() {
    let cases: [(u16, &[u8]); 8] = [
        // Netlink, whose protocol is no EtherType; ARP; a control message of PPP; keep-alive of Cisco HDLC.
        (113, &[0, 4, 3, 0x38, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]),
        (276, &[0x08, 0x06, 0, 0, 0, 0, 0, 3, 0, 1, 0, 6, 0x52, 0x54, 0, 1, 2, 3, 0, 0]),
        (9, &[0xff, 0x03, 0xc0, 0x21]),
        (50, &[0x8f, 0x00, 0x80, 0x35]),
        // Neither version 4 nor 6; AppleTalk.
        (101, &[0x50]),
        (12, &[0x00]),
        (0, &[16, 0, 0, 0]),
        (108, &[0, 0, 0, 16]),
    ];
    for (number, header) in cases {
        let mut frame = vec![];
        Link::of(number).unwrap().to_ethernet(&[header, &ipv4()].concat(), &mut frame);
        assert!(identify(&frame).is_err() && frame.len() > 14, "{number} {header:x?}");
    }
}

#[test]
fn cooked_records_say_which_way_they_went() {
    for (number, at) in [(113, 1), (276, 10)] {
        let link = Link::of(number).unwrap();
        let mut record = [0; 20];
        for (kind, expected) in [
            (0, Direction::In),
            (1, Direction::In),
            (2, Direction::In),
            (3, Direction::In),
            (4, Direction::Out),
        ] {
            record[at] = kind;
            assert_eq!(link.direction(&record), Some(expected));
        }
        assert_eq!(link.direction(&record[..at]), None);
    }
    assert_eq!(Link::Ethernet.direction(&[0; 20]), None);
}
