use super::*;
use crate::matching::match_exactly;
use crate::reading::Capture;
use proptest::prelude::*;
use std::path::Path;

/// Packets, each a timestamp and a number that it is known by.
fn observe(packets: &[(u64, u16)]) -> Observations {
    let mut observations = Observations::default();
    for (timestamp, number) in packets {
        let mut frame = [0; 46];
        frame[12..18].copy_from_slice(&[0x08, 0x00, 0x45, 0, 0, 32]);
        frame[23] = 17;
        frame[42..44].copy_from_slice(&number.to_be_bytes());
        observations.push(*timestamp, &frame);
    }
    observations
}

fn cuts(sender: &[(u64, u16)], receiver: &[(u64, u16)], length: u64) -> Result<Cuts, CutError> {
    let (sender, receiver) = (observe(sender), observe(receiver));
    Cuts::in_band(&sender, &receiver, &match_exactly(&sender, &receiver), length)
}

fn spans(cuts: &Cuts) -> Vec<(Range<usize>, Range<usize>)> {
    cuts.spans().map(|span| (span.sender, span.receiver)).collect()
}

#[test]
fn streams_in_order_are_cut_on_time() {
    let sent: Vec<(u64, u16)> = (0..10).map(|number| (1000 + 10 * u64::from(number), number)).collect();
    let received: Vec<(u64, u16)> = sent.iter().map(|(time, number)| (time + 25, *number)).collect();
    let cut = cuts(&sent, &received, 30).unwrap();
    assert_eq!(spans(&cut), [(0..3, 0..3), (3..6, 3..6), (6..9, 6..9), (9..10, 9..10)]);
    assert_eq!(cut.postponed(), 0);
    // Losses on both sides of a cut; a stranger belongs where it arrives.
    let received = [(1025, 0), (1035, 1), (1065, 4), (1066, 77), (1075, 5), (1095, 7), (1105, 8)];
    let cut = cuts(&sent, &received, 30).unwrap();
    assert_eq!(spans(&cut), [(0..3, 0..2), (3..6, 2..5), (6..9, 5..7), (9..10, 7..7)]);
}

#[test]
fn a_cut_waits_until_nothing_overtakes_it() {
    let sent = [(0, 0), (10, 1), (20, 2), (30, 3), (40, 4), (50, 5)];
    // 3 overtakes 2, so that a cut between them would part 3 from those sent behind the cut.
    let received = [(5, 0), (15, 1), (35, 3), (36, 2), (45, 4), (55, 5)];
    let cut = cuts(&sent, &received, 30).unwrap();
    assert_eq!(spans(&cut), [(0..4, 0..4), (4..6, 4..6)]);
    assert_eq!(cut.postponed(), 1);
    // Lost, 3 overtakes nothing.
    let received = [(5, 0), (15, 1), (36, 2), (45, 4), (55, 5)];
    assert_eq!(spans(&cuts(&sent, &received, 30).unwrap()), [(0..3, 0..3), (3..6, 3..5)]);
    // Where the first arrives last there is no place but the end, and what is left is for the last interval.
    let received = [(15, 1), (35, 2), (36, 3), (45, 4), (55, 5), (60, 0), (70, 77)];
    let cut = cuts(&sent, &received, 30).unwrap();
    assert_eq!(spans(&cut), [(0..6, 0..6), (6..6, 6..7)]);
    assert_eq!(cut.postponed(), 3);
}

#[test]
fn look_alikes_do_not_put_cuts_off() {
    // 7 is sent twice and arrives twice, behind nearly all others, or so it looks.
    let sent = [(0, 7), (10, 7), (20, 1), (30, 2), (40, 3), (50, 4), (60, 5), (70, 6)];
    let received = [(25, 1), (35, 2), (45, 3), (55, 4), (65, 5), (66, 7), (75, 6), (77, 7)];
    let cut = cuts(&sent, &received, 30).unwrap();
    assert_eq!(spans(&cut), [(0..3, 0..1), (3..6, 1..4), (6..8, 4..8)]);
    assert_eq!(cut.postponed(), 0);
    // Where nearly all look alike, they count.
    let all = [(0, 7), (10, 7), (20, 7), (30, 7)];
    assert_eq!(spans(&cuts(&all, &all, 20).unwrap()), [(0..2, 0..2), (2..4, 2..4)]);
}

#[test]
fn look_alikes_in_order_stay_in_their_intervals() {
    // 7 comes again and again; the last packet in front of the first cut is one of them.
    let sent = [(0, 1), (10, 7), (20, 2), (29, 7), (30, 3), (40, 4), (45, 7), (50, 5)];
    let received: Vec<(u64, u16)> = sent.iter().map(|(time, number)| (time + 8, *number)).collect();
    let crossing = |received: &[(u64, u16)]| {
        let [from, to] = [&sent[..], received].map(observe);
        let matching = match_exactly(&from, &to);
        let spans: Vec<Span> = Cuts::in_band(&from, &to, &matching, 30).unwrap().spans().collect();
        let ends: Vec<(usize, usize)> =
            spans.iter().map(|span| (span.sender.end, span.receiver.end)).collect();
        (ends, super::crossing(&spans, &matching.pairs))
    };
    assert_eq!(crossing(&received), (vec![(4, 4), (8, 8)], vec![0, 0]));
    // One that comes late, behind packets of the next interval, is in another one there.
    let mut late = received.clone();
    late[3].0 += 12;
    late.sort_unstable();
    assert_eq!(crossing(&late), (vec![(4, 3), (8, 8)], vec![1, 1]));
}

#[test]
fn gaps_make_empty_intervals() {
    let sent = [(100, 0), (101, 1), (135, 2)];
    let cut = cuts(&sent, &sent, 10).unwrap();
    assert_eq!(spans(&cut), [(0..2, 0..2), (2..2, 2..2), (2..2, 2..2), (2..3, 2..3)]);
    // The sender's capture is not in the order of time: a packet before the first belongs to the first interval.
    let cut = cuts(&[(100, 0), (90, 1), (112, 2), (108, 3)], &[], 10).unwrap();
    assert_eq!(spans(&cut), [(0..2, 0..0), (2..4, 0..0)]);
}

#[test]
fn limits() {
    let ends = [(0, 0), (1_000_000_000, 1)];
    assert_eq!(cuts(&ends, &ends, 0), Err(CutError::NoLength));
    assert_eq!(cuts(&ends, &ends, 10_000), Err(CutError::TooMany(100_001)));
    assert_eq!(cuts(&ends, &ends, 10_001).unwrap().spans().len(), 99_991);
    assert_eq!(cuts(&[(0, 0), (u64::MAX, 1)], &ends, 1), Err(CutError::TooMany(u64::MAX)));
    assert_eq!(spans(&cuts(&[], &[], 10).unwrap()), [(0..0, 0..0)]);
    assert_eq!(spans(&cuts(&[], &[(5, 1)], 10).unwrap()), [(0..0, 0..1)]);
    assert_eq!(spans(&cuts(&[(5, 1)], &[], 10).unwrap()), [(0..1, 0..0)]);
}

/// The definition: no packet overtakes a delimiter in front of the sender's packet `place`.
fn is_possible(matching: &Matching, place: usize) -> bool {
    let before = matching.pairs.iter().filter(|pair| pair.sender < place);
    before.clone().all(|a| matching.pairs.iter().all(|b| b.sender < place || a.receiver < b.receiver))
}

proptest! {
    #[test]
    fn every_cut_is_the_first_possible_one(
        packets in proptest::collection::vec((0u64..20, 0u64..60, 0u8..10), 0..40),
        strangers in proptest::collection::vec(0u64..900, 0..4),
        length in 1u64..300,
    ) {
        let mut time = 0;
        let sent: Vec<(u64, u16)> = (0..).zip(&packets).map(|(number, (gap, _, _))| {
            time += gap;
            (time, number)
        }).collect();
        let arrived = sent.iter().zip(&packets).filter(|(_, (_, _, fate))| *fate > 0);
        let mut received: Vec<(u64, u16)> =
            arrived.map(|((time, number), (_, delay, _))| (time + delay, *number)).collect();
        received.extend(strangers.iter().zip(1000..).map(|(time, number)| (*time, number)));
        received.sort();
        let (sender, receiver) = (observe(&sent), observe(&received));
        let matching = match_exactly(&sender, &receiver);
        let cuts = Cuts::in_band(&sender, &receiver, &matching, length).unwrap();
        let spans: Vec<Span> = cuts.spans().collect();

        // Together they are the two streams.
        let mut end = (0, 0);
        for span in &spans {
            prop_assert_eq!((span.sender.start, span.receiver.start), end);
            end = (span.sender.end, span.receiver.end);
        }
        prop_assert_eq!(end, (sent.len(), received.len()));
        // An interval holds the same packets at both ends.
        for pair in &matching.pairs {
            let of = spans.iter().filter(|span| span.sender.contains(&pair.sender));
            prop_assert!(of.clone().count() == 1 && of.clone().all(|span| span.receiver.contains(&pair.receiver)));
        }
        // Cuts are as early as they can be, from the time on that they are wanted at.
        let last = sent.last().map_or(0, |(time, _)| time - sent[0].0);
        prop_assert_eq!(spans.len() as u64, last / length + 1);
        let mut postponed = 0;
        for (span, number) in spans.iter().skip(1).zip(1..) {
            let wanted = sent.iter().position(|(time, _)| *time >= sent[0].0 + number * length).unwrap();
            let first = (wanted..=sent.len()).find(|place| is_possible(&matching, *place)).unwrap();
            prop_assert_eq!(span.sender.start, first);
            let arrived = matching.pairs.iter().filter(|pair| pair.sender < first);
            prop_assert_eq!(span.receiver.start, arrived.map(|pair| pair.receiver + 1).max().unwrap_or(0));
            postponed = postponed.max(first - wanted);
        }
        prop_assert_eq!(cuts.postponed(), postponed);
    }
}

#[test]
fn the_shipped_pair_is_cut_cleanly() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../sim/traffic/captures"));
    let observe = |name| Observations::read(&mut Capture::open(folder.join(name)).unwrap()).unwrap();
    let (sender, receiver) = (observe("t1-sender.pcap.zst"), observe("t1-receiver.pcap.zst"));
    let matching = match_exactly(&sender, &receiver);
    let first = sender.timestamps().next().unwrap();
    let lasted = sender.timestamps().max().unwrap() - first;
    // There are 16 inversions in the order of the streams, most of which no cut meets.
    for (length, postponed) in [(500_000_000, 0), (1_000_000, 0), (110_000, 2)] {
        let cuts = Cuts::in_band(&sender, &receiver, &matching, length).unwrap();
        assert_eq!((cuts.spans().len() as u64, cuts.postponed()), (lasted / length + 1, postponed));
        let mut pairs = matching.pairs.iter().peekable();
        let mut received = 0;
        for span in cuts.spans() {
            while let Some(pair) = pairs.next_if(|pair| pair.sender < span.sender.end) {
                assert!(span.receiver.contains(&pair.receiver));
                received += 1;
            }
            let truth = matching.truth(span.sender.clone());
            assert_eq!(truth.sent as usize, span.sender.len());
            assert_eq!(truth.received as usize, span.receiver.len());
        }
        assert_eq!(received, 57_895);
    }
}
