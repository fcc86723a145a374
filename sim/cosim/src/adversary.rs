//! Adversary: frames that look for the edges of what reads them, for every check that takes frames.
//!
//! # Test plan
//!
//! Each kind below has a planted fault that nothing else notices: a place in the frame that does not saturate (frames of
//! 9,000 and 16,000 bytes), extension headers of 128 bytes and more, IPv6 lengths above 65,535, the lowest bit of an
//! EtherType, and an extension header's length whose bit is stuck where only the datagram's end shows it. That all of them turn
//! up is tested here, against the identity stage's model.

use deltaline_traffic::udp_frame;

/// EtherTypes that something here knows.
const ETHERTYPES: [u16; 7] = [0x0800, 0x86dd, 0x8100, 0x88a8, 0x8847, 0x8848, 0x88b5];
/// Kinds of extension headers whose length field counts units of eight bytes.
const BY_EIGHT: [u8; 6] = [0, 43, 60, 135, 139, 140];
/// The authentication header's counts units of four.
const BY_FOUR: u8 = 51;

/// All frames, the same ones for everybody; some 1,800.
pub(crate) fn frames() -> Vec<Vec<u8>> {
    let mut frames = vec![];
    frames.extend(runts());
    frames.extend(ethertypes());
    frames.extend(padded_headers());
    frames.extend(long_headers());
    frames.extend(lengths());
    frames.extend(jumbo());
    frames
}

/// An IPv6 packet whose length field says the most that it can: with its header 65,575 octets.
pub(crate) fn longest_ipv6(number: u32) -> Vec<u8> {
    ipv6(u16::MAX, 17, &number.to_be_bytes().repeat(8))
}

/// Shorter than any header, with what would be the beginning of one; and every number of bytes in a frame's last beat.
fn runts() -> impl Iterator<Item = Vec<u8>> {
    let sound = udp_frame(1, 200);
    (1..=34).chain(129..=192).flat_map(move |length| [sound[..length].to_vec(), vec![0xff; length]])
}

/// Every EtherType with each of its bits changed, over what it would announce, without a tag in front and with one.
fn ethertypes() -> Vec<Vec<u8>> {
    let mut frames = vec![];
    for ethertype in ETHERTYPES {
        let announced = match ethertype {
            0x0800 | 0x88b5 => udp_frame(2, 80)[14..].to_vec(),
            0x86dd => ipv6(40, 17, &[7; 40])[14..].to_vec(),
            0x8847 | 0x8848 => [&[0, 1, 1, 64], &udp_frame(3, 80)[14..]].concat(),
            _ => [&[0, 7, 8, 0], &udp_frame(4, 80)[14..]].concat(),
        };
        for bit in 0..=16 {
            let changed = (ethertype ^ (1u32 << bit) as u16).to_be_bytes();
            for tag in [&[][..], &[0x81, 0, 0, 9]] {
                frames.push([&[0x5a; 12], tag, &changed, &announced].concat());
            }
        }
    }
    frames
}

/// An extension header of this kind and length field, full of what would pass for its end, in front of protocol `next`.
fn header(kind: u8, units: u8, next: u8) -> Vec<u8> {
    let bytes = match kind {
        BY_FOUR => 8 * (1 + usize::from(units / 2)),
        _ => 8 * (1 + usize::from(units)),
    };
    let mut header = [17, 0, 0, 0, 0, 0, 0, 0].repeat(bytes / 8);
    header[..2].copy_from_slice(&[next, units]);
    header
}

/// Every length of an extension header that ends within the window, in front of payloads that end in it too, with padding
/// behind them: only there does it matter what the length field leaves.
fn padded_headers() -> Vec<Vec<u8>> {
    let mut frames = vec![];
    let kinds = BY_EIGHT.map(|kind| (kind, 8)).into_iter().chain([(BY_FOUR, 17)]);
    for (kind, units) in kinds.flat_map(|(kind, most)| (0..=most).map(move |units| (kind, units))) {
        for (length, next) in (0..=36).step_by(3).zip([17, 6, 58].into_iter().cycle()) {
            let mut content = header(kind, units, next);
            let declared = content.len() as u16 + length;
            content.extend([!units; 64]);
            frames.push(ipv6(declared, kind, &content));
        }
    }
    frames
}

/// Extension headers that end far behind the window, full of what would pass for their end.
fn long_headers() -> Vec<Vec<u8>> {
    let mut frames = vec![];
    for units in [7, 8, 14, 15, 16, 17, 30, 31, 32, 62, 64, 126, 127, 128, 240, 254, 255] {
        for kind in BY_EIGHT.into_iter().chain([BY_FOUR]) {
            let long = header(kind, units, 17);
            let behind = [&long[..], &[9; 40]].concat();
            frames.push(ipv6(behind.len() as u16, kind, &behind));
            // Behind a short one.
            let chain = [&[kind, 0, 1, 2, 3, 4, 5, 6], &behind[..]].concat();
            frames.push(ipv6(chain.len() as u16, 60, &chain));
        }
    }
    frames
}

/// Length fields around what 16 bits hold, and below the header's own.
fn lengths() -> impl Iterator<Item = Vec<u8>> {
    let of_six = [0u16, 1, 0xffd6, 0xffd7, 0xffd8, 0xffff].map(|length| ipv6(length, 17, &[3; 60]));
    let of_four = [0u16, 1, 19, 20, 21, 0x7fff, 0x8000, 0xffff].map(|length| {
        let mut frame = udp_frame(5, 90);
        frame[16..18].copy_from_slice(&length.to_be_bytes());
        frame
    });
    of_six.into_iter().chain(of_four).chain(long_lengths())
}

/// Length fields with a single high bit, of frames as short as that bit's absence would make them.
fn long_lengths() -> impl Iterator<Item = Vec<u8>> {
    (7..16).flat_map(|bit| (0..40).step_by(5).map(move |more| 1 << bit | more)).flat_map(|length: u16| {
        let mut four = udp_frame(length.into(), 90);
        four[16..18].copy_from_slice(&(length + 20).to_be_bytes());
        [ipv6(length, 17, &[!0; 60]), four]
    })
}

/// Frames of 9,000 and 16,000 bytes in which a sound one, or an extension header's end, starts every 64 bytes.
fn jumbo() -> impl Iterator<Item = Vec<u8>> {
    [8_993, 8_999, 9_000, 9_007, 16_000].into_iter().flat_map(|length: usize| {
        let mut plain = vec![];
        for number in 0..length as u32 / 64 + 1 {
            plain.extend(udp_frame(number, 64));
        }
        plain.truncate(length);
        plain[16..18].copy_from_slice(&(length as u16 - 14).to_be_bytes());
        let mut six = ipv6(length as u16 - 54, 17, &[]);
        six.extend(&plain[..length - 54]);
        // The same with a chain that does not end within the window.
        let mut chained = six.clone();
        chained[20] = 60;
        chained[54..56].copy_from_slice(&[43, 15]);
        [plain, six, chained]
    })
}

/// An IPv6 packet with this length field, next header and content.
fn ipv6(length: u16, next: u8, content: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x5a; 54];
    frame[12..18].copy_from_slice(&[0x86, 0xdd, 0x60, 0, 0, 0]);
    frame[18..20].copy_from_slice(&length.to_be_bytes());
    frame[20] = next;
    frame.extend(content);
    frame
}

#[cfg(test)]
mod tests {
    use super::*;
    use deltaline_model::packet::identity::{Unmeasured, identify};

    #[test]
    fn every_kind_turns_up() {
        let frames = frames();
        let count = |wanted: fn(&[u8]) -> bool| frames.iter().filter(|frame| wanted(frame)).count();
        assert_eq!(frames.len(), 701 + 13 * (6 * 9 + 18) + 2 * 9 * 8);
        assert!(count(|frame| frame.len() < 14) >= 26);
        assert!(count(|frame| frame.len() >= 9_000) >= 9);
        assert!(count(|frame| identify(frame).is_ok_and(|found| found.ip_length > 65_535)) >= 2);
        // Datagrams that end between a chain's end and the window's.
        let is_padded = |frame: &[u8]| {
            let is_chained = frame.len() > 60 && frame[12..14] == [0x86, 0xdd] && frame[20] == BY_FOUR;
            is_chained && identify(frame).is_ok_and(|found| found.key.words()[16] == 0)
        };
        assert!(count(is_padded) > 100, "{}", count(is_padded));
        // IPv6 whose extension headers end behind the window.
        let is_chained = |frame: &[u8]| frame.len() > 182 && frame[12..14] == [0x86, 0xdd] && frame[20] != 17;
        assert!(count(is_chained) > 100, "{}", count(is_chained));
        assert!(count(|frame| identify(frame) == Err(Unmeasured::NotIp)) > 100);
        assert!(count(|frame| identify(frame).is_ok_and(|found| !found.truncated)) > 60);
        assert_eq!(identify(&longest_ipv6(1)).map(|found| found.ip_length), Ok(65_575));
    }
}
