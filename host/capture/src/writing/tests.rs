use super::*;
use crate::{Capture, Packet};
use proptest::prelude::*;
use std::fs;
use tempfile::TempDir;

fn packet(timestamp: u64, length: u32, data: &[u8]) -> Packet {
    Packet { timestamp, length, interface: 0, data: data.to_vec() }
}

fn write_pcap(path: &Path, packets: &[Packet]) -> Result<(), WriteError> {
    let mut writer = PcapWriter::create(path)?;
    packets.iter().try_for_each(|packet| writer.write(packet.into()))?;
    writer.finish()
}

fn write_pcapng(path: &Path, packets: &[Packet]) -> Result<(), WriteError> {
    let mut writer = PcapngWriter::create(path, "eth0", "sender, lane 3")?;
    packets.iter().try_for_each(|packet| writer.write(packet.into()))?;
    writer.finish()
}

fn read(path: &Path) -> Vec<Packet> {
    Capture::open(path).unwrap().map(Result::unwrap).collect()
}

fn names(folder: &TempDir) -> Vec<String> {
    let entries = fs::read_dir(folder.path()).unwrap();
    entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_pcap_file_byte_by_byte() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pcap");
    write_pcap(&path, &[packet(258_000_000_259, 60, &[0xaa, 0xbb, 0xcc])]).unwrap();
    #[rustfmt::skip]
    let expected = [
        0x4d, 0x3c, 0xb2, 0xa1, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0,
        0x02, 0x01, 0, 0, 0x03, 0x01, 0, 0, 3, 0, 0, 0, 60, 0, 0, 0, 0xaa, 0xbb, 0xcc,
    ];
    assert_eq!(fs::read(path).unwrap(), expected);
}

#[test]
fn a_pcapng_file_byte_by_byte() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pcapng");
    let mut writer = PcapngWriter::create(&path, "e0", "hello").unwrap();
    writer.write((&packet((5 << 32) + 7, 60, &[0xaa, 0xbb, 0xcc, 0xdd, 0xee])).into()).unwrap();
    writer.finish().unwrap();
    // The program's name is the one text that changes, with the version.
    let program = concat!("deltaline ", env!("CARGO_PKG_VERSION"));
    let padded = program.len().next_multiple_of(4);
    let mut program = program.as_bytes().to_vec();
    let program_length = program.len() as u8;
    program.resize(padded, 0);
    let section_length = 28 + 4 + 8 + 4 + padded as u8 + 4;
    #[rustfmt::skip]
    let expected = [
        &[
            0x0a, 0x0d, 0x0d, 0x0a, section_length, 0, 0, 0, 0x4d, 0x3c, 0x2b, 0x1a, 1, 0, 0, 0,
            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
            1, 0, 5, 0, b'h', b'e', b'l', b'l', b'o', 0, 0, 0,
            4, 0, program_length, 0,
        ],
        &program[..],
        &[
            0, 0, 0, 0, section_length, 0, 0, 0,
            1, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0, 0, 0, 4, 0,
            2, 0, 2, 0, b'e', b'0', 0, 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0, 40, 0, 0, 0,
            6, 0, 0, 0, 40, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 7, 0, 0, 0, 5, 0, 0, 0, 60, 0, 0, 0,
            0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0, 0, 0, 40, 0, 0, 0,
        ],
    ];
    assert_eq!(fs::read(path).unwrap(), expected.concat());
}

#[test]
fn nothing_is_left_until_a_file_is_finished() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.pcap");
    fs::write(&path, "older").unwrap();
    let mut writer = PcapWriter::create(&path).unwrap();
    writer.write((&packet(1, 2, b"abc")).into()).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"older");
    drop(writer);
    assert_eq!(names(&folder), ["a.pcap"]);
    assert_eq!(fs::read(&path).unwrap(), b"older");

    write_pcap(&path, &[packet(1, 3, b"abc")]).unwrap();
    assert_eq!(names(&folder), ["a.pcap"]);
    assert_eq!(read(&path), [packet(1, 3, b"abc")]);
}

#[cfg(unix)]
#[test]
fn a_written_file_has_the_permissions_of_any_new_file() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let (written, plain) = (folder.path().join("a.pcap"), folder.path().join("plain"));
    write_pcap(&written, &[]).unwrap();
    fs::write(&plain, "").unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode();
    assert_eq!(mode(&written), mode(&plain));
}

#[test]
fn places_that_cannot_be_written() {
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing").join("a.pcap");
    let error = write_pcap(&missing, &[]).unwrap_err();
    assert!(matches!(error, WriteError::Io { .. }));
    assert!(error.to_string().starts_with(&missing.display().to_string()), "{error}");
    // A folder that has the target's name.
    let taken = folder.path().join("a.pcapng");
    fs::create_dir(&taken).unwrap();
    assert!(matches!(write_pcapng(&taken, &[]), Err(WriteError::Special { .. })));
    assert_eq!(names(&folder), ["a.pcapng"]);
}

#[test]
fn packets_and_texts_that_do_not_fit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a");
    let last = u64::from(u32::MAX) * 1_000_000_000 + 999_999_999;
    write_pcap(&path, &[packet(last, 0, b"")]).unwrap();
    assert_eq!(read(&path), [packet(last, 0, b"")]);
    match write_pcap(&path, &[packet(0, 0, b""), packet(last + 1, 0, b"")]) {
        Err(WriteError::Timestamp { packet: 2, timestamp, .. }) => assert_eq!(timestamp, last + 1),
        other => panic!("{other:?}"),
    }
    write_pcapng(&path, &[packet(u64::MAX, 0, b"")]).unwrap();
    assert_eq!(read(&path), [packet(u64::MAX, 0, b"")]);

    let longest = [packet(0, 262_144, &vec![1; 262_144])];
    let longer = [packet(0, 262_145, &vec![1; 262_145])];
    for write in [write_pcap, write_pcapng] {
        write(&path, &longest).unwrap();
        assert_eq!(read(&path), longest);
        let error = write(&path, &longer).unwrap_err();
        assert!(matches!(error, WriteError::Length { packet: 1, length: 262_145, .. }));
    }

    let text = "a".repeat(65_536);
    for (interface, comment) in [("", text.as_str()), (&text, "")] {
        let error = PcapngWriter::create(&path, interface, comment).err().unwrap();
        assert!(matches!(error, WriteError::Text { length: 65_536, .. }));
        PcapngWriter::create(&path, &interface[interface.len().min(1)..], &comment[comment.len().min(1)..])
            .unwrap()
            .finish()
            .unwrap();
        assert_eq!(read(&path), []);
    }
}

#[test]
fn a_wire_length_below_the_captured_one_is_raised() {
    let folder = tempfile::tempdir().unwrap();
    for (write, length_at) in [(write_pcap as fn(&Path, &[Packet]) -> _, 24 + 12), (write_pcapng, 0)] {
        let path = folder.path().join("a");
        write(&path, &[packet(1, 2, b"abcd")]).unwrap();
        let bytes = fs::read(path).unwrap();
        // In pcapng: before the four bytes of data and the block's length.
        let at = if length_at > 0 { length_at } else { bytes.len() - 12 };
        assert_eq!(bytes[at..at + 4], [4, 0, 0, 0]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn what_was_written_is_read(
        packets in prop::collection::vec(
            (0u64..4_000_000_000_000_000_000, 0u32..2000, prop::collection::vec(any::<u8>(), 0..200)),
            0..20,
        )
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        let packets: Vec<Packet> = packets
            .into_iter()
            .map(|(timestamp, more, data)| packet(timestamp, data.len() as u32 + more, &data))
            .collect();
        for write in [write_pcap, write_pcapng] {
            write(&path, &packets).unwrap();
            prop_assert_eq!(&read(&path), &packets);
        }
    }
}

#[test]
#[cfg(unix)]
fn special_files_are_left_alone_and_links_followed() {
    let folder = tempfile::tempdir().unwrap();
    let (target, link) = (folder.path().join("target"), folder.path().join("link"));
    std::fs::write(&target, "old").unwrap();
    std::os::unix::fs::symlink(&target, &link).unwrap();
    crate::write_file(&link, b"new").unwrap();
    assert_eq!(std::fs::read(&target).unwrap(), b"new");
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());

    // A socket stands for devices and pipes too; a folder is no file either.
    let socket = folder.path().join("socket");
    let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    for special in [socket.as_path(), folder.path()] {
        let refused = crate::write_file(special, b"new").unwrap_err();
        assert!(refused.to_string().contains("is not a regular file"), "{refused}");
        assert!(!std::fs::symlink_metadata(special).unwrap().is_file());
    }
}
