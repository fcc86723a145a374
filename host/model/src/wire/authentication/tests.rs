extern crate std;
use super::*;
use crate::configuration::{Configuration, Settings};
use crate::sketch::cell::Cell;
use crate::wire::delimiter::Delimiter;
use crate::wire::frame::{self, Frame, Header, MAX_FRAME_BYTES, Role, Totals};
use std::format;
use std::vec;

fn key(id: u16) -> Key {
    Key::new(NonZeroU16::new(id).unwrap(), core::array::from_fn(|i| i as u8))
}

fn keys(ids: &[u16]) -> Keys {
    let mut keys = Keys::default();
    ids.iter().for_each(|id| assert!(keys.add(key(*id))));
    keys
}

/// A frame of each kind that a key signs: a control frame with its length, and a delimiter.
fn signed(id: u16) -> [Vec<u8>; 2] {
    let configuration = Configuration::new(Settings { rows: 8, segment: 9, ..Settings::default() }).unwrap();
    let header =
        Header::of_interval(&configuration, Role::Receiver, 0xfffe_fdfc, Totals::default()).nth(1).unwrap();
    let header = Header { boot_epoch: 77, key: id, ..header };
    let mut buffer = [0; MAX_FRAME_BYTES];
    let length =
        frame::encode(&header, &[Cell { count: 3, sum: 4, ..Cell::default() }; 8], &mut buffer).unwrap();
    let mut control = buffer[..length].to_vec();
    key(id).sign(&mut control);
    let delimiter = Delimiter { boot_epoch: 77, ..Delimiter::new(&configuration, 3) };
    [control, delimiter.signed(&key(id)).to_vec()]
}

#[test]
fn nonce_and_contents_by_hand() {
    let [control, delimiter] = signed(0x0a0b);
    for (frame, role, fragment) in [(control, 1, 1), (delimiter, 2, 0)] {
        let version = if role == 2 { 1 } else { 2 };
        let mut nonce = [0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0, 77, version, role, 0, fragment];
        nonce[4..8].copy_from_slice(if role == 2 { &[0, 0, 0, 3] } else { &[0xff, 0xfe, 0xfd, 0xfc] });
        let end = frame.len() - 24;
        assert_eq!(frame[end..end + 16], ascon::tag(key(0x0a0b).secret(), nonce, &frame[16..end]));
    }
}

#[test]
fn every_changed_bit_is_refused_under_a_right_check_word() {
    let keys = keys(&[7, 8]);
    for frame in signed(7) {
        assert_eq!(keys.check(&frame), Ok(()));
        let padded: Vec<u8> = frame.iter().copied().chain([0xaa; 30]).collect();
        assert_eq!(keys.check(&padded), Ok(()));
        for bit in 8 * 14..8 * (frame.len() - 8) {
            let mut forged = frame.clone();
            forged[bit / 8] ^= 0x80 >> (bit % 8);
            let length = forged.len();
            let check = check_word(&forged[..length - 8]);
            forged[length - 8..].copy_from_slice(&check.to_be_bytes());
            assert!(keys.check(&forged).is_err(), "bit {bit}");
        }
    }
}

#[test]
fn reasons_are_named() {
    let configuration = Configuration::new(Settings::default()).unwrap();
    let [control, delimiter] = signed(7);
    assert_eq!(Keys::default().check(&control), Err(Unauthentic::UnknownKey(7)));
    assert_eq!(keys(&[8]).check(&delimiter), Err(Unauthentic::UnknownKey(7)));
    assert_eq!(keys(&[7]).check(&Delimiter::new(&configuration, 0).encode()), Err(Unauthentic::Untagged));
    let mut other = Keys::default();
    assert!(other.add(Key::new(NonZeroU16::new(7).unwrap(), [1; KEY_BYTES])));
    assert_eq!(other.check(&control), Err(Unauthentic::Tag(7)));
    assert!(!other.add(key(7)), "an identifier is taken once");
    // A frame of version 1, a short one, and one that says that it is longer than it is.
    assert_eq!(keys(&[7]).check(&[0; 30]), Err(Unauthentic::Untagged));
    let mut old = control.clone();
    old[14] = 1;
    assert_eq!(keys(&[7]).check(&old), Err(Unauthentic::Untagged));
    assert_eq!(keys(&[7]).check(&control[..control.len() - 1]), Err(Unauthentic::Untagged));
}

#[test]
fn signed_frames_still_decode() {
    let [control, delimiter] = signed(7);
    let header = Frame::decode(&control).unwrap().header;
    assert_eq!((header.boot_epoch, header.key), (77, 7));
    let delimiter = Delimiter::decode(&delimiter).unwrap();
    assert_eq!((delimiter.boot_epoch, delimiter.key, delimiter.interval), (77, 7, 3));
}

#[test]
fn frames_of_other_keys_are_not_touched() {
    for mut frame in signed(7) {
        let before = frame.clone();
        key(8).sign(&mut frame);
        assert_eq!(frame, before);
        key(8).sign(&mut frame[..20]);
        assert_eq!(frame, before);
    }
}

#[test]
fn secrets_do_not_show() {
    let text = format!("{:?}", keys(&[7]));
    assert!(text.contains('7') && !text.contains("secret") && !text.contains("14"), "{text}");
    assert_eq!(keys(&[7, 8]).ids().collect::<Vec<_>>(), vec![7, 8]);
}
