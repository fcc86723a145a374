use super::*;
use proptest::prelude::*;

const MACS: [u8; 12] = [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2];

/// What a tunnel carries: UDP from 10.9.0.1 to 10.9.0.2.
fn packet() -> Vec<u8> {
    let mut packet = vec![0x45, 0, 0, 40, 0x12, 0x34, 0, 0, 60, UDP, 0, 0, 10, 9, 0, 1, 10, 9, 0, 2];
    packet.extend([0x30, 0x39, 0, 53, 0, 20, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
    packet
}

fn packet6() -> Vec<u8> {
    let mut packet = vec![0x60, 0, 0, 0, 0, 20, UDP, 60];
    packet.extend(0x20..0x40);
    packet.extend(&packet_payload());
    packet
}

fn packet_payload() -> Vec<u8> {
    packet()[20..].to_vec()
}

fn ethernet(ethertype: u16, packet: &[u8]) -> Vec<u8> {
    [&MACS[..], &ethertype.to_be_bytes(), packet].concat()
}

/// IPv4 from 192.0.2.1 to 192.0.2.2.
fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let length = (20 + payload.len() as u16).to_be_bytes();
    let header =
        [0x45, 0, length[0], length[1], 0, 0, 0x40, 0, 64, protocol, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2];
    [&header[..], payload].concat()
}

fn ipv6(protocol: u8, payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u16).to_be_bytes();
    [&[0x60, 0, 0, 0, length[0], length[1], protocol, 64], &[0xfd; 32][..], payload].concat()
}

fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
    let length = (8 + payload.len() as u16).to_be_bytes();
    [&[0xc0, 0], &port.to_be_bytes(), &length[..], &[0, 0], payload].concat()
}

fn gtp_u(flags: u8, options: &[u8], payload: &[u8]) -> Vec<u8> {
    let length = ((options.len() + payload.len()) as u16).to_be_bytes();
    [&[0x30 | flags, 255, length[0], length[1], 0, 0, 0x12, 0x34], options, payload].concat()
}

fn vxlan(payload: &[u8]) -> Vec<u8> {
    [&[8, 0, 0, 0, 0, 0, 42, 0], payload].concat()
}

/// Header of GRE with flags and fields.
fn gre(flags: u8, ethertype: u16, fields: &[u8], payload: &[u8]) -> Vec<u8> {
    [&[flags, 0], &ethertype.to_be_bytes()[..], fields, payload].concat()
}

fn pppoe(payload: &[u8]) -> Vec<u8> {
    let length = (payload.len() as u16).to_be_bytes();
    [&[0x11, 0, 0, 7, length[0], length[1]], payload].concat()
}

/// Frames with a packet of [`packet`] or [`packet6`] in a tunnel, and in which.
fn tunnelled() -> Vec<(Tunnel, Vec<u8>, bool)> {
    let (v4, v6) = (packet(), packet6());
    let (in_v4, in_v6) =
        (|inner: &[u8]| ethernet(IPV4, &ipv4(UDP, inner)), |inner: &[u8]| ethernet(IPV6, &ipv6(UDP, inner)));
    let (ethernet4, ethernet6) = (ethernet(IPV4, &v4), ethernet(IPV6, &v6));
    let tagged = [&MACS[..], &[0x81, 0, 0, 5, 8, 0], &v4].concat();
    let outer_gre = |inner: Vec<u8>| ethernet(IPV4, &ipv4(47, &inner));
    vec![
        (Tunnel::GtpU, in_v4(&udp(2152, &gtp_u(0, &[], &v4))), false),
        (Tunnel::GtpU, in_v6(&udp(2152, &gtp_u(0, &[], &v6))), true),
        // A sequence number; and an extension header of 5G's user plane, and one more.
        (Tunnel::GtpU, in_v4(&udp(2152, &gtp_u(2, &[0, 9, 0, 0], &v4))), false),
        (Tunnel::GtpU, in_v4(&udp(2152, &gtp_u(4, &[0, 0, 0, 0x85, 1, 0x10, 9, 0], &v4))), false),
        (
            Tunnel::GtpU,
            in_v4(&udp(2152, &gtp_u(6, &[0, 1, 0, 0x85, 1, 0, 9, 0xc0, 2, 0, 0, 0, 0, 0, 0, 0], &v6))),
            true,
        ),
        (Tunnel::Vxlan, in_v4(&udp(4789, &vxlan(&ethernet4))), false),
        (Tunnel::Vxlan, in_v6(&udp(4789, &vxlan(&ethernet6))), true),
        (Tunnel::Vxlan, in_v4(&udp(8472, &vxlan(&tagged))), false),
        (Tunnel::Gre, outer_gre(gre(0, IPV4, &[], &v4)), false),
        (Tunnel::Gre, outer_gre(gre(0x80, IPV6, &[0, 1, 0, 0], &v6)), true),
        (Tunnel::Gre, outer_gre(gre(0x20, IPV4, &[0, 0, 0, 7], &v4)), false),
        (Tunnel::Gre, outer_gre(gre(0xb0, IPV4, &[0, 1, 0, 0, 0, 0, 0, 7, 0, 0, 0, 1], &v4)), false),
        (Tunnel::Gre, outer_gre(gre(0x20, TRANSPARENT_ETHERNET, &[0, 0, 0, 7], &ethernet4)), false),
        (Tunnel::Gre, ethernet(IPV6, &ipv6(47, &gre(0, IPV4, &[], &v4))), false),
        (Tunnel::Ip, ethernet(IPV4, &ipv4(4, &v4)), false),
        (Tunnel::Ip, ethernet(IPV4, &ipv4(41, &v6)), true),
        (Tunnel::Ip, ethernet(IPV6, &ipv6(4, &v4)), false),
        (Tunnel::Ip, ethernet(IPV6, &ipv6(41, &v6)), true),
        (Tunnel::Ip, [&MACS[..], &[0x88, 0x47, 0, 1, 0x11, 64], &ipv4(4, &v4)].concat(), false),
        (Tunnel::Pppoe, ethernet(PPPOE_SESSION, &pppoe(&[&[0, 0x21], &v4[..]].concat())), false),
        (Tunnel::Pppoe, ethernet(PPPOE_SESSION, &pppoe(&[&[0x57], &v6[..]].concat())), true),
        (
            Tunnel::Pppoe,
            [&MACS[..], &[0x81, 0, 0, 7, 0x88, 0x64], &pppoe(&[&[0, 0x21], &v4[..]].concat())].concat(),
            false,
        ),
        // GTP-U in VXLAN in IP in IP.
        (
            Tunnel::Ip,
            ethernet(
                IPV4,
                &ipv4(
                    4,
                    &ipv4(
                        UDP,
                        &udp(4789, &vxlan(&ethernet(IPV4, &ipv4(UDP, &udp(2152, &gtp_u(0, &[], &v6)))))),
                    ),
                ),
            ),
            true,
        ),
    ]
}

fn unpacked(frame: &[u8]) -> Option<(Tunnel, Vec<u8>, u32)> {
    let inner = Inner::of(frame)?;
    let mut unpacked = vec![1, 2, 3];
    let less = inner.unpack(frame, &mut unpacked);
    Some((inner.tunnel, unpacked, less))
}

#[test]
fn the_innermost_packet_comes_as_over_ethernet() {
    for (tunnel, frame, is_v6) in tunnelled() {
        let (found, inner, less) = unpacked(&frame).unwrap_or_else(|| panic!("{tunnel}: {frame:x?}"));
        assert_eq!(found, tunnel);
        assert_eq!(less as usize, frame.len() - inner.len());
        let expected = if is_v6 { packet6() } else { packet() };
        let tags = Tags::of(&inner).unwrap();
        assert_eq!(inner[tags.end..], expected, "{tunnel}: {frame:x?}");
        assert_eq!(tags.ethertype == IPV6, is_v6);
    }
}

#[test]
fn a_frame_cut_anywhere_is_the_beginning_of_what_it_carries() {
    for (tunnel, frame, _) in tunnelled() {
        let (_, whole, _) = unpacked(&frame).unwrap();
        for cut in 0..frame.len() {
            if let Some((found, inner, _)) = unpacked(&frame[..cut])
                && whole.len() - inner.len() == frame.len() - cut
            {
                assert_eq!(found, tunnel);
                assert!(whole.starts_with(&inner), "{tunnel} cut at {cut}");
            }
        }
    }
}

#[test]
fn tunnels_deeper_than_the_most_are_left() {
    let nested = |depth: usize| {
        let mut packet = packet();
        for _ in 0..depth {
            packet = ipv4(4, &packet);
        }
        (ethernet(IPV4, &packet), packet)
    };
    let (_, inner, _) = unpacked(&nested(MOST).0).unwrap();
    assert_eq!(inner[14..], packet());
    let (_, inner, _) = unpacked(&nested(MOST + 2).0).unwrap();
    assert_eq!(inner[14..], nested(2).1);
}

#[test]
fn what_only_looks_like_a_tunnel_is_none() {
    let in_udp = |port, payload: &[u8]| ethernet(IPV4, &ipv4(UDP, &udp(port, payload)));
    let (v4, frame) = (packet(), ethernet(IPV4, &packet()));
    let mut fragment = ethernet(IPV4, &ipv4(4, &v4));
    fragment[20] = 0x20;
    let mut echo = gtp_u(0, &[], &v4);
    echo[1] = 1;
    let mut prime = gtp_u(0, &[], &v4);
    prime[0] = 0x20;
    let no_network = [&[0, 0, 0, 0, 0, 0, 42, 0], &frame[..]].concat();
    for other in [
        frame.clone(),
        fragment,
        in_udp(2152, &echo),
        in_udp(2152, &prime),
        in_udp(2152, b"no tunnel at all, only this port"),
        // An extension header of no length.
        in_udp(2152, &gtp_u(4, &[0, 0, 0, 0x85, 0, 0, 0, 0], &v4)),
        in_udp(4789, &no_network),
        in_udp(4788, &vxlan(&frame)),
        // Nothing that is IP inside.
        in_udp(4789, &vxlan(&[0x71; 40])),
        in_udp(4789, &vxlan(&ethernet(0x0806, &[0; 28]))),
        in_udp(4789, &vxlan(&ethernet(IPV4, &[0x71; 28]))),
        ethernet(IPV4, &ipv4(47, &gre(0x40, IPV4, &[0; 8], &v4))),
        ethernet(IPV4, &ipv4(47, &[&[0x20, 1, 0x88, 0x0b, 0, 0, 0, 0], &v4[..]].concat())),
        ethernet(IPV4, &ipv4(47, &gre(0, 0x88cc, &[], &v4))),
        ethernet(IPV4, &ipv4(4, &[0x50, 0, 0, 0])),
        // Link control of PPP.
        ethernet(PPPOE_SESSION, &pppoe(&[0xc0, 0x21, 1, 1, 0, 4])),
        ethernet(0x8863, &pppoe(&[&[0, 0x21], &v4[..]].concat())),
        ethernet(0x0806, &v4),
    ] {
        assert_eq!(Inner::of(&other), None, "{other:x?}");
    }
}

proptest! {
    #[test]
    fn arbitrary_edits_are_harmless(
        (_, base, _) in prop::sample::select(tunnelled()),
        edits in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut frame = base;
        for (at, value) in edits {
            let at = at.index(frame.len());
            frame[at] = value;
        }
        frame.truncate(cut.index(frame.len() + 1));
        if let Some((_, inner, less)) = unpacked(&frame) {
            prop_assert_eq!(inner.len() + less as usize, frame.len());
        }
    }
}
