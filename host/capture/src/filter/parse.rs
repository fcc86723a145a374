//! From the text of a filter to its expression.

use super::{Expression, IPV4, IPV6, SCTP, Side, TCP, Test, UDP};
use std::net::{IpAddr, Ipv4Addr};

/// Most words of a filter: expressions are evaluated recursively.
const MOST_WORDS: usize = 1000;

pub(super) fn expression(text: &str) -> Result<Expression, String> {
    let words = words(text);
    if words.is_empty() {
        return Err("it is empty".into());
    }
    if words.len() > MOST_WORDS {
        return Err(format!("it has {} words, more than {MOST_WORDS}", words.len()));
    }
    let mut parser = Parser { words: &words, qualifiers: None };
    let expression = parser.alternatives()?;
    match parser.words {
        [] => Ok(expression),
        [word, ..] => Err(format!("{word:?} stands where `and`, `or` or the end should")),
    }
}

/// Words are separated by blanks; parentheses and operators separate themselves.
fn words(text: &str) -> Vec<&str> {
    let mut words = vec![];
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let is_operator = |each: char| matches!(each, '(' | ')' | '!' | '&' | '|');
        let length = match first {
            '&' if rest.starts_with("&&") => 2,
            '|' if rest.starts_with("||") => 2,
            _ if is_operator(first) => 1,
            _ => rest.find(|each: char| each.is_whitespace() || is_operator(each)).unwrap_or(rest.len()),
        };
        let (word, behind) = rest.split_at(length);
        words.push(word);
        rest = behind.trim_start();
    }
    words
}

/// What stands before a value.
#[derive(Clone, Copy)]
struct Qualifiers<'a> {
    protocol: Option<&'a str>,
    side: Option<Side>,
    kind: &'a str,
}

struct Parser<'a> {
    words: &'a [&'a str],
    /// Those of the last value, which the next one has when it has none of its own.
    qualifiers: Option<Qualifiers<'a>>,
}

impl<'a> Parser<'a> {
    fn peek(&self, ahead: usize) -> &'a str {
        self.words.get(ahead).copied().unwrap_or_default()
    }

    /// Takes the next word if it is one of these.
    fn take(&mut self, wanted: &[&str]) -> Option<&'a str> {
        let word = self.peek(0);
        wanted.contains(&word).then(|| self.skip())
    }

    fn skip(&mut self) -> &'a str {
        let word = self.peek(0);
        self.words = self.words.get(1..).unwrap_or_default();
        word
    }

    /// Terms with `and` and `or` between them, from left to right.
    fn alternatives(&mut self) -> Result<Expression, String> {
        let mut left = self.term()?;
        while let Some(operator) = self.take(&["and", "&&", "or", "||"]) {
            let both = Box::new([left, self.term()?]);
            left = match operator {
                "and" | "&&" => Expression::And(both),
                _ => Expression::Or(both),
            };
        }
        Ok(left)
    }

    fn term(&mut self) -> Result<Expression, String> {
        if self.take(&["not", "!"]).is_some() {
            return Ok(Expression::Not(Box::new(self.term()?)));
        }
        if self.take(&["("]).is_some() {
            return self.parenthesis();
        }
        if let Some(simple) = self.simple()? {
            // A value that follows does not belong to what stood before.
            self.qualifiers = None;
            return Ok(simple);
        }
        if let Some(qualifiers) = self.qualifiers()? {
            self.qualifiers = Some(qualifiers);
            if self.take(&["("]).is_some() {
                return self.parenthesis();
            }
        }
        let Some(qualifiers) = self.qualifiers else {
            return Err(match self.peek(0) {
                "" => "something is missing at its end".into(),
                word => format!("{word:?} is not known here"),
            });
        };
        self.value(qualifiers)
    }

    fn parenthesis(&mut self) -> Result<Expression, String> {
        let inner = self.alternatives()?;
        match self.take(&[")"]) {
            Some(_) => Ok(inner),
            None => Err("a parenthesis is not closed".into()),
        }
    }

    /// What needs no value.
    fn simple(&mut self) -> Result<Option<Expression>, String> {
        let protocol = |is_v6, number| Expression::Test(Test::Protocol { is_v6, number });
        let word = self.peek(0);
        if matches!(word, "ip" | "ip6" | "tcp" | "udp" | "sctp")
            && matches!(self.peek(1), "src" | "dst" | "host" | "net" | "port" | "portrange" | "proto")
        {
            return Ok(None);
        }
        let simple = match word {
            "ip" => Expression::Test(Test::EtherType(IPV4)),
            "ip6" => Expression::Test(Test::EtherType(IPV6)),
            "arp" => Expression::Test(Test::EtherType(0x0806)),
            "rarp" => Expression::Test(Test::EtherType(0x8035)),
            "tcp" => protocol(None, TCP),
            "udp" => protocol(None, UDP),
            "sctp" => protocol(None, SCTP),
            "icmp" => protocol(Some(false), 1),
            "igmp" => protocol(Some(false), 2),
            "icmp6" => protocol(Some(true), 58),
            "esp" => protocol(None, 50),
            "vlan" | "mpls" => {
                self.skip();
                let is_vlan = word == "vlan";
                let number =
                    self.peek(0).starts_with(|each: char| each.is_ascii_digit()).then(|| self.skip());
                let number =
                    number.map(|word| number_to(word, if is_vlan { 0xfff } else { 0xf_ffff })).transpose()?;
                return Ok(Some(Expression::Test(match is_vlan {
                    true => Test::Vlan(number.map(|number| number as u16)),
                    false => Test::Mpls(number),
                })));
            }
            _ => return Ok(None),
        };
        self.skip();
        Ok(Some(simple))
    }

    /// The qualifiers before a value, if there is one.
    fn qualifiers(&mut self) -> Result<Option<Qualifiers<'a>>, String> {
        let protocol = self.take(&["ip", "ip6", "tcp", "udp", "sctp"]);
        let side = match (self.peek(0), self.peek(1), self.peek(2)) {
            ("src", "or", "dst") | ("dst", "or", "src") => Some((Side::Either, 3)),
            ("src", "and", "dst") | ("dst", "and", "src") => Some((Side::Both, 3)),
            ("src", ..) => Some((Side::Source, 1)),
            ("dst", ..) => Some((Side::Destination, 1)),
            _ => None,
        };
        for _ in 0..side.map_or(0, |(_, words)| words) {
            self.skip();
        }
        let side = side.map(|(side, _)| side);
        let kind = match self.take(&["host", "net", "port", "portrange", "proto"]) {
            Some(kind) => kind,
            None if side.is_some() => "host",
            None if protocol.is_none() => return Ok(None),
            None => return Err(format!("{:?} is not known here", self.peek(0))),
        };
        let allowed: &[&str] = match kind {
            "port" | "portrange" => &["tcp", "udp", "sctp"],
            _ => &["ip", "ip6"],
        };
        match protocol {
            Some(protocol) if !allowed.contains(&protocol) => {
                Err(format!("`{protocol}` does not go with `{kind}`"))
            }
            _ if kind == "proto" && side.is_some() => Err("a protocol has no source and destination".into()),
            _ => Ok(Some(Qualifiers { protocol, side, kind })),
        }
    }

    fn value(&mut self, Qualifiers { protocol, side, kind }: Qualifiers<'a>) -> Result<Expression, String> {
        let word = self.skip();
        let side = side.unwrap_or(Side::Either);
        let test = match kind {
            "host" => {
                let address = word.parse().map_err(|_| format!("{word:?} is not an address"))?;
                net(side, address, if matches!(address, IpAddr::V4(_)) { 32 } else { 128 })?
            }
            "net" if self.take(&["mask"]).is_some() => {
                let mask = self.skip();
                let [address, mask] = [word, mask].map(|word| {
                    word.parse::<Ipv4Addr>()
                        .map(u32::from)
                        .map_err(|_| format!("{word:?} is not an IPv4 address"))
                });
                let (address, mask) = (address?, mask?);
                if address & !mask != 0 {
                    return Err(format!("{word:?} has bits outside its mask"));
                }
                Test::Mask { side, address, mask }
            }
            "net" => network(side, word)?,
            "proto" => {
                Test::Protocol { is_v6: protocol.map(|it| it == "ip6"), number: number_of_protocol(word)? }
            }
            _ => {
                let (first, last) = match word.split_once('-').filter(|_| kind == "portrange") {
                    Some((first, last)) => (number_to(first, 0xffff)?, number_to(last, 0xffff)?),
                    None => (number_to(word, 0xffff)?, number_to(word, 0xffff)?),
                };
                let (first, last) = (first.min(last) as u16, first.max(last) as u16);
                let protocol = protocol.map(|it| match it {
                    "tcp" => TCP,
                    "udp" => UDP,
                    _ => SCTP,
                });
                Test::Port { side, protocol, first, last }
            }
        };
        let is_v6 = match test {
            Test::Net { is_v6, .. } => is_v6,
            Test::Mask { .. } => false,
            _ => return Ok(Expression::Test(test)),
        };
        match protocol {
            Some(protocol) if is_v6 != (protocol == "ip6") => {
                Err(format!("{word:?} is not an address of `{protocol}`"))
            }
            _ => Ok(Expression::Test(test)),
        }
    }
}

/// A network: an address with the number of its bits, or the first bytes of an IPv4 address.
fn network(side: Side, word: &str) -> Result<Test, String> {
    let problem = || format!("{word:?} is not a network");
    let (address, bits) = match word.split_once('/') {
        Some((address, bits)) => (address, Some(bits.parse().map_err(|_| problem())?)),
        None => (word, None),
    };
    if let Ok(address @ IpAddr::V6(_)) = address.parse() {
        return net(side, address, bits.unwrap_or(128));
    }
    let mut bytes = [0; 4];
    let parts: Vec<&str> = address.split('.').collect();
    for (place, part) in parts.iter().enumerate() {
        *bytes.get_mut(place).ok_or_else(problem)? = part.parse().map_err(|_| problem())?;
    }
    net(side, Ipv4Addr::from(bytes).into(), bits.unwrap_or(8 * parts.len() as u32))
}

fn net(side: Side, address: IpAddr, bits: u32) -> Result<Test, String> {
    let mut bytes = [0; 16];
    let is_v6 = match address {
        IpAddr::V4(address) => {
            bytes[..4].copy_from_slice(&address.octets());
            false
        }
        IpAddr::V6(address) => {
            bytes = address.octets();
            true
        }
    };
    if bits > if is_v6 { 128 } else { 32 } {
        return Err(format!("{address} has no {bits} bits"));
    }
    if u128::from_be_bytes(bytes).checked_shl(bits).unwrap_or(0) != 0 {
        return Err(format!("{address} has bits behind the first {bits}"));
    }
    Ok(Test::Net { side, is_v6, address: bytes, bits })
}

fn number_of_protocol(word: &str) -> Result<u8, String> {
    let name = word.strip_prefix('\\').unwrap_or(word);
    Ok(match name {
        "icmp" => 1,
        "igmp" => 2,
        "tcp" => TCP,
        "udp" => UDP,
        "gre" => 47,
        "esp" => 50,
        "icmp6" | "ipv6-icmp" => 58,
        "ospf" => 89,
        "sctp" => SCTP,
        _ => number_to(word, 0xff)? as u8,
    })
}

/// A number, decimal or hexadecimal.
fn number_to(word: &str, most: u32) -> Result<u32, String> {
    let number = match word.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => word.parse(),
    };
    number
        .ok()
        .filter(|number| *number <= most)
        .ok_or_else(|| format!("{word:?} is not a number from 0 to {most}"))
}
