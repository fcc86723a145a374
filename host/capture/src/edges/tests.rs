#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use proptest::prelude::*;

/// Nanoseconds from packet to packet.
const GAP: u64 = 1000;
/// Delay of every packet, and by how much the receiver's clock is ahead, in nanoseconds.
const DELAY: u64 = 50_000;

/// Packets of a stream, each with its time.
type Packets = Vec<(u64, u64)>;

fn of(packets: &[(u64, u64)]) -> Identities {
    with_others(&[], packets, &[])
}

/// Packets between others, at these times, that are not measured.
fn with_others(before: &[u64], packets: &[(u64, u64)], behind: &[u64]) -> Identities {
    let mut identities = Identities::default();
    before.iter().for_each(|time| identities.add(*time, None));
    packets.iter().for_each(|(time, packet)| identities.add(*time, Some(xxh3_64(&packet.to_le_bytes()))));
    behind.iter().for_each(|time| identities.add(*time, None));
    identities
}

fn sent(packets: impl IntoIterator<Item = u64>) -> Packets {
    packets.into_iter().map(|packet| (1_000_000 + packet * GAP, packet)).collect()
}

fn received(packets: impl IntoIterator<Item = u64>) -> Packets {
    sent(packets).into_iter().map(|(time, packet)| (time + DELAY, packet)).collect()
}

/// Every tenth packet is lost, and once three in a row.
fn arrives(packet: &u64) -> bool {
    packet % 10 != 3 && !(500..503).contains(packet)
}

/// What a path and its recorders do to packets.
#[derive(Clone, Copy, Debug)]
struct Path {
    /// The receiver's packets of the middle fifth are lost.
    has_outage: bool,
    /// One packet in seven comes this many packets later.
    late: u64,
    /// One packet in so many has the key of all such.
    keepalives: Option<u64>,
    /// Both recorders have every packet twice.
    is_mirrored: bool,
    /// Nanoseconds by which the receiver's clock is ahead.
    ahead: u64,
}

fn path() -> impl Strategy<Value = Path> {
    let late = prop_oneof![Just(0u64), Just(3), Just(40)];
    let keepalives = prop::option::of(prop_oneof![Just(2u64), Just(50)]);
    (any::<bool>(), late, keepalives, any::<bool>(), 0..10_000_000_000u64).prop_map(
        |(has_outage, late, keepalives, is_mirrored, ahead)| Path {
            has_outage,
            late,
            keepalives,
            is_mirrored,
            ahead,
        },
    )
}

impl Path {
    /// All packets of `count` as the two points see them: time, key, and number.
    fn packets(&self, count: u64) -> [Vec<(u64, u64, u64)>; 2] {
        let key = |packet: u64| match self.keepalives {
            Some(every) if packet.is_multiple_of(every) => u64::MAX,
            _ => packet,
        };
        let is_lost = |packet: u64| {
            packet % 10 == 3 || self.has_outage && (2 * count / 5..3 * count / 5).contains(&packet)
        };
        let sent: Vec<_> = (0..count).map(|packet| (1_000_000 + packet * GAP, key(packet), packet)).collect();
        let arrival = |(time, key, packet): (u64, u64, u64)| {
            let late = if packet % 7 == 5 { self.late * GAP } else { 0 };
            (time + DELAY + self.ahead + late, key, packet)
        };
        let mut received: Vec<_> =
            sent.iter().filter(|sent| !is_lost(sent.2)).copied().map(arrival).collect();
        received.sort_unstable();
        [sent, received].map(|packets| {
            let times = if self.is_mirrored { 2 } else { 1 };
            packets.into_iter().flat_map(|packet| std::iter::repeat_n(packet, times)).collect()
        })
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn cut_anywhere(
        path in path(),
        cuts in [0u64..300, 700u64..1000, 0u64..300, 700u64..1000],
        scale in prop_oneof![7 => Just(1u64), 1 => Just(300)],
    ) {
        let all = path.packets(1000 * scale);
        // The recorders run by the number of a packet, the receiver's one delay later.
        let [a, b, c, d] = cuts.map(|cut| 1_000_000 + cut * scale * GAP);
        let shift = DELAY + path.ahead;
        let [sent, received] = [(a..b, 0), (c + shift..d + shift, 1)].map(|(runs, end)| {
            let within = all[end].iter().filter(|(time, ..)| runs.contains(time));
            within.copied().collect::<Vec<_>>()
        });
        let [from, to] = [&sent, &received].map(|packets| {
            of(&packets.iter().map(|(time, key, _)| (*time, *key)).collect::<Vec<_>>())
        });
        let found = edges(&from, &to).unwrap();
        let [first, last] = [a.max(c), b.min(d)];
        // Packets up to so much outside of both recorders' time may stay, and up to so much inside of it be left out: what
        // the packets come late by, and a few packets in a row that are lost at the very edge.
        let slack = (path.late + 5) * GAP;
        let is_alike = |packet: &u64| path.keepalives.is_some_and(|every| packet.is_multiple_of(every));
        let kept = |packets: &[(u64, u64, u64)], span: &Range<usize>, left_out: &[usize]| -> Vec<_> {
            let places = span.clone().filter(|place| !left_out.contains(place));
            places.map(|place| packets[place]).filter(|packet| !is_alike(&packet.2)).collect()
        };
        let kept_sent = kept(&sent, &found.span.sender, &found.under_way[0]);
        let kept_received = kept(&received, &found.span.receiver, &found.under_way[1]);
        let kept = &kept_sent;
        prop_assert!(kept[0].0 + slack >= first && kept[0].0 <= first + slack, "{found:?}");
        prop_assert!(kept[kept.len() - 1].0 < last + slack && kept[kept.len() - 1].0 + slack >= last - GAP, "{found:?}");
        let kept = &kept_received;
        prop_assert!(kept[0].0 + slack >= first + shift && kept[0].0 <= first + shift + slack, "{found:?}");
        let end = kept[kept.len() - 1].0;
        prop_assert!(end < last + shift + slack && end + slack >= last + shift - GAP, "{found:?}");
        // No packet that both have, and that is the only one with its key, is left out.
        let hashes = |packets: &[(u64, u64, u64)]| packets.iter().map(|packet| packet.2).collect::<HashSet<_>>();
        let both = &hashes(&sent) & &hashes(&received);
        for kept in [&kept_sent, &kept_received] {
            let kept = hashes(kept);
            prop_assert!(both.iter().all(|packet| kept.contains(packet) || is_alike(packet)), "{found:?}");
        }
    }
}

#[test]
fn whole_recordings_stay_whole() {
    let found = edges(&of(&sent(0..1000)), &of(&received((0..1000).filter(arrives)))).unwrap();
    assert_eq!([found.sender, found.receiver], [[0; 2]; 2]);
    let received_count = (0..1000).filter(arrives).count();
    assert_eq!(found.span, Span { sender: 0..1000, receiver: 0..received_count });
    assert_eq!(found.measured, [1000, received_count]);
    assert_eq!(edges(&of(&sent(0..10)), &of(&received(10..20))), None);
    assert_eq!(edges(&of(&[]), &of(&[])), None);
    // A corner.
    assert_eq!(edges(&of(&sent(0..1000)), &of(&received(990..2000))), None);
}

#[test]
fn a_few_packets_of_other_delays_show_that_a_recorder_ran() {
    // At both edges a few packets of another path, whose delay no other packet has: among hundreds that are alike they look like wrong stamps. Long
    // pauses, and an outage at each.
    const PAUSE: u64 = 1_000_000_000;
    for others in 1..5 {
        for ahead in [0, 3 * DELAY] {
            let few = |at: u64| (0..others).map(move |number| (at + number * GAP, at + number));
            let stream = (0..1000).map(|number| (2 * PAUSE + number * GAP, number));
            let all: Packets = few(PAUSE).chain(stream).chain(few(3 * PAUSE)).collect();
            let arrived =
                all.iter().filter(|(_, packet)| !(0..50).contains(packet) && !(950..1000).contains(packet));
            let delay = |packet: u64| if packet < 1000 { DELAY } else { DELAY / 5 + ahead };
            let arrived: Packets = arrived.map(|&(time, packet)| (time + delay(packet), packet)).collect();
            let found = edges(&of(&all), &of(&arrived)).unwrap();
            assert_eq!((found.sender, found.receiver), ([0, 0], [0, 0]), "{others}");
            assert_eq!((found.under_way, found.doubtful), ([vec![], vec![]], vec![]), "{others}");
        }
    }
}

#[test]
fn packets_that_occur_again_and_again_are_no_edges() {
    // A keepalive that looks alike each time, in front of everything at the receiver.
    let keepalive = 77_777;
    let at = |number: u64, packet| (1_000_000 + number * GAP, packet);
    let stream = (0..2000).map(|number| at(number, if number % 1000 == 250 { keepalive } else { number }));
    let from: Packets = stream.clone().collect();
    let to: Packets = stream.skip(500).map(|(time, packet)| (time + DELAY, packet)).collect();
    let found = edges(&of(&from), &of(&to)).unwrap();
    assert_eq!((found.sender, found.receiver), ([500, 0], [0, 0]));
    assert!(found.under_way.iter().all(Vec::is_empty));
    let found = edges(&of(&to), &of(&from)).unwrap();
    assert_eq!((found.sender, found.receiver), ([0, 0], [500, 0]));
    // The only one of them that is lost is the last packet but one: it stays, and is missing.
    let from: Packets = (0..1000)
        .map(|number| at(number, if number % 999 == 998 || number == 5 { keepalive } else { number }))
        .collect();
    let to = from
        .iter()
        .enumerate()
        .filter(|(number, _)| *number != 998)
        .map(|(_, (time, packet))| (time + DELAY, *packet));
    let found = edges(&of(&from), &of(&to.collect::<Packets>())).unwrap();
    assert_eq!([found.sender, found.receiver], [[0; 2]; 2]);
}

#[test]
fn outages_at_the_edges() {
    // Nothing shows that the receiver's recorder ran on.
    let found = edges(&of(&sent(0..1000)), &of(&received(0..600))).unwrap();
    assert_eq!((found.sender, found.receiver), ([0, 400], [0, 0]));
    // It did, and has recorded a packet of another kind when the 900th would have come.
    let until = with_others(&[], &received(0..600), &[1_000_000 + 900 * GAP + DELAY]);
    let found = edges(&of(&sent(0..1000)), &until).unwrap();
    assert_eq!((found.sender, found.receiver), ([0, 99], [0, 0]));
    let from = with_others(&[1_000_000 + 100 * GAP + DELAY], &received(500..1000), &[]);
    let found = edges(&of(&sent(0..1000)), &from).unwrap();
    assert_eq!((found.sender, found.receiver), ([100, 0], [0, 0]));
    // A longer outage in between makes no difference.
    let from = of(&received((0..200).chain(500..900)));
    let found = edges(&of(&sent(0..1000)), &from).unwrap();
    assert_eq!((found.sender, found.receiver), ([0, 100], [0, 0]));
}

#[test]
fn packets_that_overtake_each_other_are_neither_lost_nor_gained_at_the_edges() {
    // Nine thousand packets, later by 0 to 800 gaps: those recorded while both recorders ran, whose time starts and stops by these gaps.
    let late = |packet: u64| packet * 7919 % 31 * packet % 800;
    for [a, b, c, d] in
        [[1000, 8000, 1000, 8000], [0, 8000, 1000, 9000], [1000, 9000, 0, 8000], [0, 9000, 1000, 8000]]
    {
        let within = |packets: Packets, [from, to]: [u64; 2]| -> Packets {
            let mut packets: Packets =
                packets.into_iter().filter(|(time, _)| (from..to).contains(&(time / GAP))).collect();
            packets.sort_unstable();
            packets
        };
        let from = within((0..9000).map(|packet| (packet * GAP, packet)).collect(), [a, b]);
        let to = (0..9000).map(|packet| (packet * GAP + (20 + late(packet)) * GAP, packet)).collect();
        let to = within(to, [c, d]);
        let found = edges(&of(&from), &of(&to)).unwrap();
        let keys = |packets: &Packets, span: &Range<usize>, left_out: &[usize]| -> HashSet<u64> {
            let kept = span.clone().filter(|place| !left_out.contains(place));
            kept.map(|place| packets[place].1).collect()
        };
        let sent = keys(&from, &found.span.sender, &found.under_way[0]);
        let received = keys(&to, &found.span.receiver, &found.under_way[1]);
        assert_eq!(sent, received, "{a} {b} {c} {d}");
        assert!(found.doubtful.len() >= found.under_way[0].len(), "{found:?}");
        assert!(sent.len() > 3000 && found.under_way.iter().any(|places| !places.is_empty()), "{found:?}");
    }
}

#[test]
fn recorders_that_stand_still() {
    // A packet each millisecond; the receiver's recorder stands still for 1.2 s of three.
    let sent: Packets = (0..3000).map(|packet| (1_000_000 * packet, packet)).collect();
    let received: Packets = sent.iter().map(|(time, packet)| (time + DELAY, *packet)).collect();
    let still: Packets =
        received.iter().filter(|(_, packet)| !(1000..2200).contains(packet)).copied().collect();
    let quiet = |packets: &Packets, silence| {
        let mut identities = of(packets);
        identities.silence = silence;
        identities
    };
    let silence = Some([999 * 1_000_000 + DELAY, 2200 * 1_000_000 + DELAY]);
    let found = edges(&of(&sent), &quiet(&still, silence)).unwrap();
    assert_eq!(found.still, [None, Some(Still { nanoseconds: 1_201_000_000, packets: 1200 })]);
    // As a wrong stamp makes it look; and as long as the other end is silent, too.
    assert_eq!(edges(&of(&sent), &quiet(&received, silence)).unwrap().still, [None; 2]);
    let pause: Packets = sent.iter().filter(|(_, packet)| !(1000..2150).contains(packet)).copied().collect();
    assert_eq!(edges(&of(&pause), &quiet(&still, silence)).unwrap().still, [None; 2]);
}

#[test]
fn wrong_stamps_and_clocks_that_are_set_take_no_losses_at_the_edges() {
    // A packet each millisecond for ten seconds, one in fifty lost.
    const MILLISECOND: i64 = 1_000_000;
    let sent: Packets = (0..10_000).map(|packet| (packet * 1_000_000, packet)).collect();
    let arrived: Packets = sent
        .iter()
        .filter(|(_, packet)| packet % 50 != 47)
        .map(|(time, packet)| (time + 2_000_000 + packet * 7919 % 31 * 20_000, *packet))
        .collect();
    let plain = edges(&of(&sent), &of(&arrived)).unwrap();
    assert_eq!(plain.under_way, [vec![], vec![]]);
    assert_eq!(plain.doubtful, []);
    let one = |at: usize| at..at + 1;
    let cases = [
        (one(5000), -900, true),
        (one(5000), -300, true),
        (one(5000), 500, true),
        (one(20), 500, true),
        (one(9700), -700, true),
        // Wild ones are told from all others anyway.
        (one(5000), -5000, false),
        (6000..arrived.len(), -900, true),
        (6000..arrived.len(), -2500, true),
        (6000..arrived.len(), 1500, false),
    ];
    for (stamps, by, is_doubtful) in cases {
        let mut received = arrived.clone();
        for (time, _) in &mut received[stamps.clone()] {
            *time = time.saturating_add_signed(by * MILLISECOND);
        }
        let found = edges(&of(&sent), &of(&received)).unwrap();
        let whole = Edges { doubtful: found.doubtful.clone(), ..plain.clone() };
        assert_eq!(found, whole, "{stamps:?} {by}");
        // By that delay, packets of so long a time at either edge may have been under way.
        let most = if is_doubtful { 2 * (by.unsigned_abs() as usize / 50 + 1) } else { 0 };
        assert!(found.doubtful.len() <= most && is_doubtful != found.doubtful.is_empty(), "{found:?} {by}");
    }
}

#[test]
fn paths_that_differ_by_more_than_a_second_are_no_wrong_stamps() {
    // Every fifth packet takes 1.8 s, the others 0.6 s; both recorders stop at once.
    let second = 1_000_000_000;
    let delay = |packet: u64| if packet.is_multiple_of(5) { 9 * second / 5 } else { 3 * second / 5 };
    let until = |packets: Packets| -> Packets {
        let mut packets: Packets = packets.into_iter().filter(|(time, _)| *time < 15 * second).collect();
        packets.sort_unstable();
        packets
    };
    let all = || (0..2000).map(|packet| (packet * second / 100, packet));
    let from = until(all().collect());
    let to = until(all().map(|(time, packet)| (time + delay(packet), packet)).collect());
    let found = edges(&of(&from), &of(&to)).unwrap();
    let kept = found.span.sender.clone().filter(|place| !found.under_way[0].contains(place));
    assert_eq!(kept.count(), to.len(), "{found:?}");
    assert_eq!(found.span.receiver, 0..to.len());
}

#[test]
fn a_wild_stamp_in_a_short_recording_is_none_of_the_path() {
    let from = sent(0..60);
    for packets in [20, 60] {
        let mut to = received((0..packets).filter(|packet| packet % 10 != 3));
        to[7].0 += 1_000_000_000_000;
        let found = edges(&of(&from[..packets as usize]), &of(&to)).unwrap();
        assert_eq!(
            (found.sender, found.under_way[0].len(), found.doubtful),
            ([0; 2], 0, vec![]),
            "{packets}"
        );
    }
}
