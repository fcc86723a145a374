use super::*;
use proptest::prelude::*;
use std::collections::HashMap;

/// Frames by name, and what libpcap says of them.
const LIBPCAP: &str = include_str!("libpcap.txt");

fn frames() -> HashMap<&'static str, Vec<u8>> {
    let lines = LIBPCAP.lines().filter_map(|line| line.strip_prefix("frame ")?.split_once(' '));
    lines
        .map(|(name, hex)| {
            let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
            (name, (0..hex.len()).step_by(2).map(byte).collect())
        })
        .collect()
}

#[test]
fn the_same_packets_as_libpcap() {
    let frames = frames();
    let mut expressions = 0;
    for line in LIBPCAP.lines().filter_map(|line| line.strip_prefix("expression ")) {
        let (expression, names) = line.rsplit_once(" :").unwrap();
        let filter = Filter::new(expression).unwrap();
        let expected: Vec<&str> = names.split_whitespace().collect();
        for (name, frame) in &frames {
            assert_eq!(filter.wants(frame), expected.contains(name), "{expression} of {name}");
        }
        expressions += 1;
    }
    assert!(expressions > 80 && frames.len() > 15);
}

#[test]
fn tags_and_extension_headers_are_looked_through() {
    let tcp = &frames()["tcp"];
    let (macs, packet) = (&tcp[..12], &tcp[14..]);
    let vlans = [macs, &[0x88, 0xa8, 0, 7, 0x81, 0, 0x20, 9, 8, 0], packet].concat();
    let mpls = [macs, &[0x88, 0x47, 0, 1, 0, 64, 0, 2, 1, 64], packet].concat();
    let tcp6 = &frames()["tcp6"];
    let mut extended = [&tcp6[..54], &[6, 0, 1, 4, 0, 0, 0, 0], &tcp6[54..]].concat();
    extended[20] = 60;
    for (frame, wanted, unwanted) in [
        (&vlans, &["vlan", "vlan 7", "vlan 9 and tcp", "vlan 7 and host 10.1.2.3 and vlan 9"][..], "vlan 8"),
        (&mpls, &["mpls", "mpls 16", "mpls 32", "ip", "src 10.1.2.3", "not vlan"], "mpls 1"),
        (&extended, &["tcp", "ip6 proto 6", "tcp dst port 443"], "proto 60"),
    ] {
        for expression in wanted {
            assert!(Filter::new(expression).unwrap().wants(frame), "{expression}");
        }
        assert!(!Filter::new(unwanted).unwrap().wants(frame), "{unwanted}");
    }
}

#[test]
fn what_is_not_understood_is_refused_with_what_is() {
    let deep = "(".repeat(2000);
    let cases = [
        ("", "it is empty"),
        ("tcp[13] & 2 != 0", "\"tcp[13]\" is not known here"),
        ("10.0.0.1", "\"10.0.0.1\" is not known here"),
        ("host example.org", "\"example.org\" is not an address"),
        ("host 10.1", "is not an address"),
        ("port http", "\"http\" is not a number from 0 to 65535"),
        ("port 65536", "is not a number"),
        ("port 5-7", "is not a number"),
        ("portrange 5-", "is not a number"),
        ("net 10.1.2.3/16", "10.1.2.3 has bits behind the first 16"),
        ("net 10.1.2.3.4", "is not a network"),
        ("net 1.2.3.0/33", "has no 33 bits"),
        ("net 10.1.2.3 mask 255.0.0.0", "outside its mask"),
        ("net 2001:db8::1/32", "bits behind"),
        ("udp host 1.2.3.4", "`udp` does not go with `host`"),
        ("ip port 5", "`ip` does not go with `port`"),
        ("ip6 host 1.2.3.4", "is not an address of `ip6`"),
        ("ip net 2001:db8::/32", "is not an address of `ip`"),
        ("src proto 6", "no source and destination"),
        ("src tcp port 80", "is not an address"),
        ("proto 256", "is not a number"),
        ("vlan 4096", "is not a number"),
        ("tcp udp", "\"udp\" stands where"),
        ("tcp and", "something is missing at its end"),
        ("(tcp", "not closed"),
        ("tcp)", "\")\" stands where"),
        ("tcp & udp", "stands where"),
        ("not", "something is missing"),
        ("port", "\"\" is not a number"),
        ("icmp and 7", "is not known here"),
        ("broadcast", "is not known here"),
        (&deep, "more than 1000"),
    ];
    for (expression, problem) in cases {
        let error = Filter::new(expression).unwrap_err();
        assert!(error.problem.contains(problem), "{expression}: {}", error.problem);
        assert!(error.to_string().contains("understood are host, net, port"), "{error}");
    }
}

proptest! {
    #[test]
    fn arbitrary_expressions_are_harmless(
        words in prop::collection::vec(
            prop::sample::select(&[
                "tcp", "ip", "ip6", "host", "net", "port", "src", "dst", "and", "or", "not", "(", ")", "10.1.2.3", "443",
                "10.1/16", "::1", "mask", "proto", "vlan", "portrange", "1-5", "é", "!", "&",
            ][..]),
            0..12,
        ),
        frame in prop::collection::vec(any::<u8>(), 0..90),
    ) {
        if let Ok(filter) = Filter::new(&words.join(" ")) {
            filter.wants(&frame);
        }
    }

    #[test]
    fn arbitrary_texts_are_harmless(text in ".{0,40}") {
        let _ = Filter::new(&text);
    }
}
