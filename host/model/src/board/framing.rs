//! Messages on a serial line: RFC 1662, asynchronous framing.
//!
//! A message's payload stands between two flags, 0x7e. Behind it come 16 bits of check sequence (FCS-16, also known as
//! CRC-16/X.25), the less significant byte first. Within, 0x7e and 0x7d are written as 0x7d and the byte with bit 5
//! inverted; no other byte is. Nothing between two flags is no message. 0x7d before a flag gives the message up.
//!
//! Whoever starts to listen in the middle finds the next message: what comes before the first flag is passed over,
//! silently, and what is left of a cut message fails its check.
//!
//! # Test plan
//!
//! The check sequence's published value; the RFC's good value; round trip of arbitrary payloads; every single-bit
//! error on the line is noticed; messages behind garbage are found; arbitrary bytes never panic.

use super::MAX_PAYLOAD_BYTES;

/// Begins and ends a message.
pub const FLAG: u8 = 0x7e;
/// The next byte has bit 5 inverted.
pub const ESCAPE: u8 = 0x7d;
/// What an escaped byte is changed by.
pub const ESCAPED: u8 = 0x20;
/// The check sequence's start.
pub const FCS_START: u16 = 0xffff;
/// The check sequence over payload and check sequence, when both are right.
pub const FCS_GOOD: u16 = 0xf0b8;

/// One step of the check sequence.
pub const fn fcs_step(fcs: u16, byte: u8) -> u16 {
    let mut fcs = fcs ^ byte as u16;
    let mut bit = 0;
    while bit < 8 {
        fcs = fcs >> 1 ^ if fcs & 1 == 1 { 0x8408 } else { 0 };
        bit += 1;
    }
    fcs
}

/// Hands a message's bytes on the line to `send`, both flags included.
pub fn encode(payload: &[u8], mut send: impl FnMut(u8)) {
    let fcs = !payload.iter().fold(FCS_START, |fcs, byte| fcs_step(fcs, *byte));
    send(FLAG);
    for byte in payload.iter().copied().chain(fcs.to_le_bytes()) {
        if byte == FLAG || byte == ESCAPE {
            send(ESCAPE);
            send(byte ^ ESCAPED);
        } else {
            send(byte);
        }
    }
    send(FLAG);
}

/// What came between two flags and is no message.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FramingError {
    /// The check sequence does not agree.
    #[error("a message with a wrong check sequence: bytes were lost or changed on the serial line")]
    Check,
    /// Longer than any message.
    #[error(
        "more than {MAX_PAYLOAD_BYTES} bytes without a flag: this is no Deltaline board, or the speed is wrong"
    )]
    Long,
    /// The sender gave it up.
    #[error("a message that its sender gave up")]
    Aborted,
}

/// Finds the messages in the bytes of a line.
#[derive(Clone, Debug)]
pub struct Deframer {
    bytes: [u8; MAX_PAYLOAD_BYTES + 2],
    length: usize,
    /// A flag has come.
    synchronised: bool,
    is_escaped: bool,
    is_long: bool,
}

impl Default for Deframer {
    fn default() -> Self {
        Self::new()
    }
}

impl Deframer {
    /// A deframer before its first byte.
    pub const fn new() -> Self {
        Deframer {
            bytes: [0; MAX_PAYLOAD_BYTES + 2],
            length: 0,
            synchronised: false,
            is_escaped: false,
            is_long: false,
        }
    }

    /// Takes a byte off the line; with a message's last flag its payload comes back.
    ///
    /// # Errors
    ///
    /// [`FramingError`] with the last flag of what is no message.
    pub fn push(&mut self, byte: u8) -> Option<Result<&[u8], FramingError>> {
        if byte == FLAG {
            let (length, is_escaped, is_long) = (self.length, self.is_escaped, self.is_long);
            let was_synchronised = self.synchronised;
            (self.length, self.is_escaped, self.is_long, self.synchronised) = (0, false, false, true);
            let taken = self.bytes.get(..length).unwrap_or_default();
            return match () {
                () if !was_synchronised || (length == 0 && !is_escaped) => None,
                () if is_long => Some(Err(FramingError::Long)),
                () if is_escaped => Some(Err(FramingError::Aborted)),
                () => Some(message(taken)),
            };
        }
        if !self.synchronised {
            return None;
        }
        if byte == ESCAPE {
            self.is_escaped = true;
            return None;
        }
        let value = if self.is_escaped { byte ^ ESCAPED } else { byte };
        self.is_escaped = false;
        match self.bytes.get_mut(self.length) {
            Some(slot) => {
                *slot = value;
                self.length += 1;
            }
            None => self.is_long = true,
        }
        None
    }
}

fn message(bytes: &[u8]) -> Result<&[u8], FramingError> {
    let payload = bytes.len().checked_sub(2).and_then(|length| bytes.get(..length));
    let fcs = bytes.iter().fold(FCS_START, |fcs, byte| fcs_step(fcs, *byte));
    payload.filter(|_| fcs == FCS_GOOD).ok_or(FramingError::Check)
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use proptest::prelude::*;
    use std::vec;
    use std::vec::Vec;

    fn line(payload: &[u8]) -> Vec<u8> {
        let mut line = vec![];
        encode(payload, |byte| line.push(byte));
        line
    }

    fn messages(line: &[u8]) -> Vec<Result<Vec<u8>, FramingError>> {
        let mut deframer = Deframer::new();
        line.iter().filter_map(|byte| deframer.push(*byte).map(|found| found.map(<[u8]>::to_vec))).collect()
    }

    proptest! {
        #[test]
        fn payloads_survive_the_round_trip(
            payloads in proptest::collection::vec(
                proptest::collection::vec(prop_oneof![any::<u8>(), Just(FLAG), Just(ESCAPE)], 1..MAX_PAYLOAD_BYTES),
                1..4,
            ),
        ) {
            let line: Vec<u8> = payloads.iter().flat_map(|payload| line(payload)).collect();
            let found: Vec<Vec<u8>> = messages(&line).into_iter().map(|found| found.unwrap()).collect();
            prop_assert_eq!(found, payloads);
        }

        #[test]
        fn arbitrary_bytes_never_panic_and_hide_no_message(
            garbage in proptest::collection::vec(any::<u8>(), 0..3000),
            payload in proptest::collection::vec(any::<u8>(), 1..100),
        ) {
            let found = messages(&[&garbage[..], &line(&payload)].concat());
            prop_assert_eq!(found.last(), Some(&Ok(payload)));
        }
    }

    #[test]
    fn the_check_sequence_is_the_published_one() {
        let fcs = b"123456789".iter().fold(FCS_START, |fcs, byte| fcs_step(fcs, *byte));
        assert_eq!(!fcs, 0x906e);
        let with_fcs = b"123456789\x6e\x90".iter().fold(FCS_START, |fcs, byte| fcs_step(fcs, *byte));
        assert_eq!(with_fcs, FCS_GOOD);
        assert_eq!(line(b"123456789"), b"~123456789\x6e\x90~");
        assert_eq!(line(&[0x7e, 0x7d])[..5], [0x7e, 0x7d, 0x5e, 0x7d, 0x5d]);
    }

    #[test]
    fn every_single_bit_error_is_noticed() {
        let payload: Vec<u8> = (0x70..0x90).collect();
        let good = line(&payload);
        for bit in 0..good.len() * 8 {
            let mut broken = good.clone();
            broken[bit / 8] ^= 1 << (bit % 8);
            let found = messages(&broken);
            assert!(found.iter().all(|found| found.is_err()), "bit {bit}: {found:?}");
        }
    }

    #[test]
    fn what_is_no_message_is_told() {
        assert_eq!(messages(b"abc~~~"), []);
        assert_eq!(messages(b"~ab~"), [Err(FramingError::Check)]);
        assert_eq!(messages(b"~a~"), [Err(FramingError::Check)]);
        assert_eq!(messages(b"~ab\x7d~"), [Err(FramingError::Aborted)]);
        assert_eq!(messages(b"~\x7d~"), [Err(FramingError::Aborted)]);
        let long = [&b"~"[..], &[0; MAX_PAYLOAD_BYTES + 3], b"~"].concat();
        assert_eq!(messages(&long), [Err(FramingError::Long)]);
        let longest = vec![7; MAX_PAYLOAD_BYTES];
        assert_eq!(messages(&line(&longest)), [Ok(longest)]);
    }
}
