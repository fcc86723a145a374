use super::*;
use deltaline_model::packet::identity::identify;
use proptest::prelude::*;

/// Tags and a packet with all headers that are walked over; where its payload begins.
fn frames() -> Vec<(Vec<u8>, usize)> {
    let mut ipv4 = vec![0x46, 0, 0, 52, 0, 7, 0, 0, 64, TCP, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 1, 1, 1, 1];
    ipv4.extend(100..128);
    let mut ipv6 = vec![0x60, 0, 0, 0, 0, 60, 0, 64];
    ipv6.extend(0..32);
    ipv6.extend([51, 0, 0, 0, 0, 0, 0, 0]);
    ipv6.extend([44, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    ipv6.extend([UDP, 0, 0, 1, 0, 0, 0, 9]);
    ipv6.extend(100..128);
    let mut frames = vec![];
    for (packet, ethertype, header) in [(ipv4, [8, 0], 24), (ipv6, [0x86, 0xdd], 72)] {
        for tags in [
            &ethertype[..],
            &[0x81, 0, 0x20, 5, ethertype[0], ethertype[1]],
            &[0x88, 0xa8, 0, 7, 0x81, 0, 0, 9, ethertype[0], ethertype[1]],
            &[0x88, 0x47, 0, 1, 0x10, 64, 0, 2, 0x11, 63],
        ] {
            frames.push(([&[0; 12], tags, &packet].concat(), 12 + tags.len() + header));
        }
    }
    frames
}

#[test]
fn headers_end_where_the_identity_says() {
    for (frame, payload) in frames() {
        let ip = Tags::of(&frame).and_then(|tags| tags.ip(&frame)).unwrap();
        let key = identify(&frame).unwrap().key.to_bytes();
        assert_eq!(ip.payload, payload);
        // Without the checksum: payload bytes 16 and 17 of TCP, 6 and 7 of UDP.
        let checksum = if ip.is_v6() { 6 } else { 16 };
        let mut expected = frame[ip.payload..][..28].to_vec();
        expected[checksum..checksum + 2].fill(0);
        assert_eq!(expected, key[40..]);
        assert_eq!(ip.end, frame.len());
        let [source, destination] = ip.addresses(&frame);
        match ip.is_v6() {
            true => {
                assert_eq!((&source[..], &destination[..]), (&key[8..24], &key[24..40]));
                assert!(ip.is_fragment && !ip.is_later_fragment && ip.protocol == UDP);
            }
            false => {
                assert_eq!((&source[..4], &destination[..4]), (&key[12..16], &key[16..20]));
                assert!(!ip.is_fragment && ip.protocol == TCP);
            }
        }
        assert_eq!(ip.ports(&frame), Ok([0x6465, 0x6667]));
    }
}

#[test]
fn a_cut_header_is_called_that() {
    for (frame, payload) in frames() {
        for cut in 0..payload {
            let cut = &frame[..cut];
            match Tags::of(cut).and_then(|tags| tags.ip(cut)) {
                // All that says where the payload begins is there.
                Ok(ip) => assert_eq!(ip.payload, payload),
                Err(unknown) => assert_eq!(unknown, Unknown::Cut, "{}", cut.len()),
            }
        }
    }
    // ARP, a header of 16 bytes, and a version that contradicts the EtherType.
    for other in [[8, 6, 0, 0], [8, 0, 0x44, 0], [8, 0, 0x60, 0]] {
        let frame = [&[0; 12][..], &other].concat();
        assert_eq!(Tags::of(&frame).and_then(|tags| tags.ip(&frame)), Err(Unknown::Other));
    }
}

proptest! {
    #[test]
    fn what_is_ip_is_what_the_identity_takes_for_it(
        (base, _) in prop::sample::select(frames()),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..3),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut frame = base;
        for (at, value) in edits {
            let at = 12 + at.index(frame.len() - 12);
            frame[at] = value;
        }
        frame.truncate(12 + cut.index(frame.len() - 11));
        match (identify(&frame), Tags::of(&frame).and_then(|tags| tags.ip(&frame))) {
            // Its extension headers may be cut.
            (Ok(_), ip) => prop_assert_ne!(ip, Err(Unknown::Other)),
            (Err(_), unknown) => prop_assert!(unknown.is_err()),
        }
    }
}
