use super::*;

/// A frame with these addresses, ports (or an identifier) and checksum, for a protocol whose checksum is at `at`.
fn frame(protocol: u8, addresses: [u8; 2], ports: [u8; 2], at: usize, checksum: u8) -> Vec<u8> {
    let mut frame = [&[0; 12][..], &[8, 0, 0x45, 0, 0, 60, 0, 7, 0, 0, 64, protocol, 0, 0]].concat();
    frame.extend([addresses[0]; 4]);
    frame.extend([addresses[1]; 4]);
    let mut payload: Vec<u8> = (0x80..0x80 + 40).collect();
    match protocol {
        ICMP => payload[4..6].copy_from_slice(&ports),
        _ => payload[..4].copy_from_slice(&[ports[0], 1, ports[1], 2]),
    }
    payload[at] = checksum;
    frame.extend(payload);
    frame
}

fn blanked(mut frame: Vec<u8>) -> Vec<u8> {
    blank(&mut frame);
    frame
}

#[test]
fn a_packet_is_the_same_before_and_after() {
    for (protocol, at) in [(TCP, 16), (UDP, 6), (UDP_LITE, 7), (DCCP, 6), (SCTP, 9), (ICMP, 2)] {
        let before = frame(protocol, [10, 9], [5, 6], at, 0x55);
        let after = frame(protocol, [198, 9], [77, 6], at, 0xaa);
        assert_eq!(blanked(before.clone()), blanked(after), "{protocol}");
        // All that is left still counts.
        let blank = blanked(before.clone());
        for position in 0..before.len() {
            let mut other = before.clone();
            other[position] ^= 0xff;
            let is_blank = (26..34).contains(&position)
                || match protocol {
                    TCP => (34..38).contains(&position) || (50..52).contains(&position),
                    SCTP => (34..38).contains(&position) || (42..46).contains(&position),
                    ICMP => (36..40).contains(&position),
                    _ => (34..38).contains(&position) || (40..42).contains(&position),
                };
            // Headers that change say how the rest is read.
            if !matches!(position, 12..=14 | 20..=21 | 23) {
                assert_eq!(blanked(other) == blank, is_blank, "{protocol}: byte {position}");
            }
        }
    }
}

#[test]
fn ipv6_and_fragments_and_what_is_no_ip() {
    let mut ipv6 = [&[0; 12][..], &[0x86, 0xdd, 0x60, 0, 0, 0, 0, 20, UDP, 64], &[1; 32], &[2; 20]].concat();
    blank(&mut ipv6);
    assert_eq!(ipv6[22..], [&[0; 32][..], &[0, 0, 0, 0, 2, 2, 0, 0], &[2; 12]].concat());
    let mut fragment = frame(UDP, [10, 9], [5, 6], 6, 0x55);
    fragment[21] = 9;
    let blank = blanked(fragment.clone());
    assert_eq!((&blank[26..34], &blank[34..]), (&[0; 8][..], &fragment[34..]));
    let arp = [&[0; 12][..], &[8, 6], &[7; 40]].concat();
    assert_eq!(blanked(arp.clone()), arp);
    let whole = frame(TCP, [10, 9], [5, 6], 16, 0x55);
    for cut in 0..whole.len() {
        assert_eq!(blanked(whole[..cut].to_vec()).len(), cut);
    }
}
