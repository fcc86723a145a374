use super::*;
use deltaline_capture::CaptureError;
use deltaline_model::board::Settings;
use deltaline_model::board::framing::{self, FramingError};
use deltaline_model::board::traffic::Board;
use deltaline_model::board::{Command, MessageError, Record};
use serialport::{SerialPort, TTYPort};
use std::io::{Read, Write};

/// What a board says of two short intervals.
fn said() -> Vec<Vec<u8>> {
    let mut said = vec![];
    let mut board = Board::new(1, |payload| said.push(payload.to_vec()));
    let settings = Settings { intervals: 2, packets: 50, ..Settings::default() };
    board.command(&Command::Settings(settings), |_| {});
    while board.run_interval(|payload| said.push(payload.to_vec())) {}
    said
}

fn line(said: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = vec![];
    said.iter().for_each(|payload| framing::encode(payload, |byte| bytes.push(byte)));
    bytes
}

fn event(payload: &[u8]) -> Event {
    match Record::decode(payload).unwrap() {
        Record::Control(frame) => Event::Frame { bytes: frame.to_vec(), captured: None },
        Record::Truth(truth) => Event::Truth(truth),
        Record::Identity(identity) => Event::Identity(identity),
    }
}

fn events(said: &[Vec<u8>]) -> Vec<Event> {
    said.iter().map(|payload| event(payload)).collect()
}

/// So many events that are not idle.
fn next(source: &mut Source, count: usize) -> Vec<Event> {
    let events = std::iter::from_fn(|| Some(source.next_event().unwrap()));
    events.filter(|event| *event != Event::Idle).take(count).collect()
}

#[test]
fn a_serial_line_is_read_in_whatever_pieces_it_comes() {
    let (mut ours, theirs) = TTYPort::pair().unwrap();
    let mut source = Source::open(&theirs.name().unwrap()).unwrap();
    assert!(source.is_live());
    let said = said();
    let bytes = line(&said);
    let mut size = 1;
    let mut found = vec![];
    let mut left = &bytes[..];
    while !left.is_empty() {
        let (piece, rest) = left.split_at(size.min(left.len()));
        ours.write_all(piece).unwrap();
        left = rest;
        size = size % 900 + 37;
        while let Some(event) = Some(source.next_event().unwrap()).filter(|event| *event != Event::Idle) {
            found.push(event);
        }
    }
    assert_eq!(found, events(&said));
    assert_eq!(source.serial().unwrap().bytes(), bytes.len() as u64);

    // And back.
    source.serial().unwrap().send(&Command::Identify);
    let mut command = [0; 5];
    ours.read_exact(&mut command).unwrap();
    let mut expected = vec![];
    framing::encode(Command::Identify.encode().as_bytes(), |byte| expected.push(byte));
    assert_eq!(command, expected[..]);
}

#[test]
fn damage_costs_the_messages_it_touches() {
    let (mut ours, theirs) = TTYPort::pair().unwrap();
    let mut source = Source::open(&theirs.name().unwrap()).unwrap();
    let said = said();
    let whole = line(&said[..2]);
    ours.write_all(b"half a message\x7e").unwrap();
    ours.write_all(&whole).unwrap();
    ours.write_all(&line(&said[2..3])[..50]).unwrap();
    ours.write_all(&whole).unwrap();
    ours.write_all(&line(&[vec![9, 9, 9]])).unwrap();
    let expected = [
        events(&said[..2]),
        vec![Event::Bad(Bad::Framing(FramingError::Check))],
        events(&said[..2]),
        vec![Event::Bad(Bad::Message(MessageError::Kind(9)))],
    ];
    assert_eq!(next(&mut source, 6), expected.concat());
}

#[test]
fn a_port_that_vanishes_is_opened_again() {
    let folder = tempfile::TempDir::new().unwrap();
    let path = folder.path().join("port");
    let said = said();
    let (mut ours, theirs) = TTYPort::pair().unwrap();
    std::os::unix::fs::symlink(theirs.name().unwrap(), &path).unwrap();
    let mut source = Source::open(path.to_str().unwrap()).unwrap();
    ours.write_all(&line(&said[..1])).unwrap();
    ours.write_all(&line(&said[1..2])[..20]).unwrap();
    assert_eq!(next(&mut source, 1), events(&said[..1]));

    drop((ours, theirs));
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(next(&mut source, 1)[..], [Event::Lost(_)]));
    assert_eq!(source.next_event().unwrap(), Event::Idle);
    source.serial().unwrap().send(&Command::Identify);

    let (mut ours, theirs) = TTYPort::pair().unwrap();
    std::os::unix::fs::symlink(theirs.name().unwrap(), &path).unwrap();
    assert_eq!(next(&mut source, 1), [Event::Restored]);
    ours.write_all(&line(&said[1..])).unwrap();
    assert_eq!(next(&mut source, said.len() - 1), events(&said[1..]));
}

#[test]
fn recordings_are_recognised() {
    let folder = tempfile::TempDir::new().unwrap();
    let write = |bytes: &[u8]| {
        let path = folder.path().join("recording");
        std::fs::write(&path, bytes).unwrap();
        path.to_str().unwrap().to_string()
    };
    let said = said();
    let name = write(&line(&said));
    let mut source = Source::open(&name).unwrap();
    assert!(!source.is_live() && source.serial().is_none());
    assert_eq!(next(&mut source, said.len() + 1), [events(&said), vec![Event::End]].concat());
    assert!(matches!(Source::open_serial(&name), Err(FeedError::NoCommands { .. })));

    let mut nonsense = Source::open(&write(b"neither this nor that")).unwrap();
    assert!(matches!(nonsense.next_event(), Err(FeedError::NoRecording { .. })));
    assert!(matches!(Source::open(&write(b"")), Err(FeedError::Capture(CaptureError::Empty { .. }))));
}

#[test]
fn what_is_no_feed_has_its_reason() {
    let missing = Source::open("/dev/none-such").err().unwrap();
    assert!(matches!(&missing, FeedError::Missing { interfaces, .. } if !interfaces.is_empty()), "{missing}");
    assert!(matches!(Source::open("/dev/null").err().unwrap(), FeedError::NoPort { .. }));
    let (_ours, theirs) = TTYPort::pair().unwrap();
    let name = theirs.name().unwrap();
    let held = Source::open(&name).unwrap();
    assert!(matches!(Source::open(&name).err().unwrap(), FeedError::Busy { .. }));
    drop(held);
    Source::open(&name).unwrap();
}

/// Where packet sockets are allowed, that is, to root as a rule.
#[test]
fn frames_come_from_an_interface() {
    let mut source = match Source::open("lo") {
        Ok(source) => source,
        Err(reason) => {
            let reason = reason.to_string();
            assert!(reason.contains("run as root") || reason.contains("ip link set"), "{reason}");
            return;
        }
    };
    assert!(matches!(source, Source::Interface(_)));
    let Event::Frame { bytes: frame, .. } = event(&said()[2]) else { unreachable!() };
    Sender::open("lo").unwrap().send(&frame).unwrap();
    let is_sent = |event| matches!(event, Event::Frame { bytes, captured: Some(_) } if bytes == frame);
    assert!((0..10_000).any(|_| is_sent(source.next_event().unwrap())));
    assert_eq!(source.dropped(), Some(0));
}
