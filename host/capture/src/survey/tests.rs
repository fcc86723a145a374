use super::*;

/// An IPv4 frame with this identification, source and destination.
fn frame(number: u16, source: u8, destination: u8, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let [high, low] = number.to_be_bytes();
    let length = (20 + payload.len()) as u8;
    let header =
        [0x45, 0, 0, length, high, low, 0, 0, 64, protocol, 0, 0, 10, 0, 0, source, 10, 0, 0, destination];
    [&[0; 12][..], &[8, 0], &header, payload].concat()
}

fn survey(frames: impl IntoIterator<Item = Vec<u8>>) -> Survey {
    let mut survey = Survey::default();
    for data in frames {
        survey.take(PacketRef { timestamp: 0, length: data.len() as u32, interface: 0, data: &data });
    }
    survey
}

fn plain(number: u16) -> Vec<u8> {
    frame(number, 1, 2, 17, &[0; 28])
}

/// VXLAN without an identification, whose first 28 bytes are those of every packet to the same machine.
fn vxlan(number: u16) -> Vec<u8> {
    let udp = [0xc0, 0, 0x12, 0xb5, 0, 92, 0, 0, 8, 0, 0, 0, 0, 0, 42, 0];
    frame(0, 1, 2, 17, &[&udp[..], &plain(number)].concat())
}

#[test]
fn tunnels_whose_packets_are_alike() {
    assert_eq!(survey((0..100).map(plain)).tunnelled(), None);
    let found = survey((0..100).map(|number| if number % 4 == 0 { vxlan(number) } else { plain(number) }));
    assert_eq!(found.tunnelled(), Some(Tunnelled { tunnel: Tunnel::Vxlan, share: 0.25, are_alike: true }));
    // IP in IP with an identification of its own.
    let inner = |number: u16| plain(number)[14..].to_vec();
    let found = survey((0..100).map(|number| frame(number, 1, 2, 4, &inner(number))));
    assert_eq!(found.tunnelled(), Some(Tunnelled { tunnel: Tunnel::Ip, share: 1.0, are_alike: false }));
    // Of a hundred packets, five have another's identity, or six.
    for (same, are_alike) in [(5, false), (6, true)] {
        let found = survey((same..100 + same).map(|number| {
            let number = number.max(2 * same);
            frame(number, 1, 2, 4, &inner(number))
        }));
        assert_eq!(found.tunnelled().unwrap().are_alike, are_alike, "{same}");
    }
    // Not measured at all without looking inside.
    let pppoe = [&[0; 12][..], &[0x88, 0x64, 0x11, 0, 0, 1, 0, 50, 0, 0x21], &inner(1)].concat();
    let found = survey([pppoe]).tunnelled().unwrap();
    assert!(found.are_alike && found.tunnel == Tunnel::Pppoe);
}

#[test]
fn fragments_are_counted() {
    let with_field = |field: u16| {
        let mut frame = plain(1);
        frame[20..22].copy_from_slice(&field.to_be_bytes());
        frame
    };
    let tagged = |frame: Vec<u8>| [&frame[..12], &[0x81, 0, 0, 5], &frame[12..]].concat();
    let v6 = |next: u8, behind: &[u8]| {
        let header = [&[0x60, 0, 0, 0, 0, 40, next, 64][..], &[0; 32], behind, &[0; 40]].concat();
        [&[0; 12][..], &[0x86, 0xdd], &header].concat()
    };
    // Whole: plain, "don't fragment", IPv6, and behind a tag.
    let whole = [with_field(0), with_field(0x4000), v6(17, &[]), tagged(with_field(0x4000)), vec![0; 20]];
    assert_eq!(survey(whole).fragments(), 0);
    // The first fragment, one in the middle, the last one; the same of IPv6 and behind a tag.
    let parts = [0x2000, 0x2005, 5].map(with_field);
    let of_v6 =
        [v6(44, &[17, 0, 0, 1, 0, 0, 0, 9]), v6(0, &[44, 0, 0, 0, 0, 0, 0, 0, 17, 0, 0, 40, 0, 0, 0, 9])];
    assert_eq!(survey(parts.clone().map(tagged).into_iter().chain(parts).chain(of_v6)).fragments(), 8);
}

#[test]
fn packets_of_both_directions() {
    let address = |last| IpAddr::V4(Ipv4Addr::new(10, 0, 0, last));
    let mixed = |back: u16| {
        survey((0..500).map(|number| match number < back {
            true => frame(number, 2, 1, 17, &[0; 28]),
            false => plain(number),
        }))
    };
    assert_eq!(mixed(9).both_ways(), None);
    let found = mixed(10).both_ways().unwrap();
    assert_eq!(found.example, [address(1), address(2)]);
    assert!((found.share - 0.02).abs() < 1e-9);
    assert!((mixed(350).both_ways().unwrap().share - 0.3).abs() < 1e-9);
    assert_eq!(mixed(350).both_ways().unwrap().example, [address(2), address(1)]);
    // To itself, as over the loopback interface, is no direction.
    assert_eq!(survey((0..100).map(|number| frame(number, 1, 1, 17, &[0; 28]))).both_ways(), None);
}

#[test]
fn what_begins_late_is_seen_and_memory_is_bounded() {
    let count = 200_000u32;
    let found = survey((0..count).map(|number| {
        let mut frame = plain(number as u16);
        frame[26..30].copy_from_slice(&number.to_be_bytes());
        // Strictly in turns, from the half on.
        if number > count / 2 && number % 2 == 0 { vxlan(number as u16) } else { frame }
    }));
    let share = found.tunnelled().unwrap().share;
    assert!((0.1..0.3).contains(&share), "{share}");
    assert!(found.pairs.len() <= MOST);
    assert_eq!(found.sampled, FIRST + u64::from(count) / STRIDE - FIRST / STRIDE);
}

#[test]
fn lengths_and_times_of_all_packets() {
    let mut survey = Survey::default();
    assert_eq!((survey.long(), survey.span(), survey.packets()), ((0, 0), None, 0));
    for number in 0..5_000u64 {
        let length = if number == 4_000 { 1522 } else { 60 };
        survey.take(PacketRef { timestamp: 9_000 - number, length, interface: 0, data: &[] });
    }
    assert_eq!((survey.long(), survey.span(), survey.packets()), ((0, 1522), Some([4_001, 9_000]), 5_000));
    survey.take(PacketRef { timestamp: 1, length: 1523, interface: 0, data: &[] });
    assert_eq!((survey.long(), survey.span()), ((1, 1523), Some([1, 9_000])));
}
