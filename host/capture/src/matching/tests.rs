use super::*;
use proptest::prelude::*;

/// A UDP packet that is known by its identification and its flow's source port.
fn frame(identification: u16, port: u16) -> Vec<u8> {
    let mut frame = vec![0; 12];
    frame.extend([0x08, 0x00, 0x45, 0, 0, 28]);
    frame.extend(identification.to_be_bytes());
    frame.extend([0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    frame.extend(port.to_be_bytes());
    frame.extend([0, 9, 0, 8, 0, 0]);
    frame
}

/// A frame that is not measured.
fn arp() -> Vec<u8> {
    [&[0; 12][..], &[0x08, 0x06], &[0; 28]].concat()
}

/// Packets of one flow, each a timestamp and an identification; `None` is one that is not measured.
fn observe(packets: &[(u64, Option<u16>)]) -> Observations {
    let mut observations = Observations::default();
    for &(timestamp, identification) in packets {
        observations
            .push(timestamp, &identification.map_or_else(arp, |identification| frame(identification, 1)));
    }
    observations
}

fn pair(sender: usize, receiver: usize, delay: i64) -> Pair {
    Pair { sender, receiver, delay, likeness: Likeness::Single }
}

fn alike(sender: usize, receiver: usize, delay: i64) -> Pair {
    Pair { likeness: Likeness::Uneven, ..pair(sender, receiver, delay) }
}

#[test]
fn loss_duplication_reordering_and_unmeasured_packets() {
    let sender =
        observe(&[(10, Some(1)), (20, None), (30, Some(2)), (40, Some(3)), (50, Some(2)), (60, Some(4))]);
    let receiver = observe(&[
        (105, Some(9)),
        (110, Some(3)),
        (120, Some(2)),
        (130, None),
        (140, None),
        (150, Some(4)),
        (160, Some(2)),
        (170, Some(2)),
    ]);
    let matching = match_exactly(&sender, &receiver);
    // The second of the two equal packets was overtaken by 4, the first by 3; 1 is lost.
    assert_eq!(matching.pairs, [alike(2, 2, 90), pair(3, 1, 70), alike(4, 6, 110), pair(5, 5, 90)]);
    assert_eq!(matching.lost, [0]);
    assert_eq!(matching.receiver_only, [0, 7]);
    assert_eq!(matching.sender, End { packets: 6, unmeasured: 1, cut: 0, truncated: 0, duplicates: 1 });
    assert_eq!(matching.receiver, End { packets: 8, unmeasured: 2, cut: 0, truncated: 0, duplicates: 2 });
    assert_eq!((matching.reordered, matching.reordered_overall), (2, 2));
}

#[test]
fn the_timestamps_tell_the_order_not_the_captures() {
    let sender = observe(&[(20, Some(2)), (10, Some(1)), (30, Some(3))]);
    let receiver = observe(&[(130, Some(3)), (110, Some(1)), (120, Some(2))]);
    assert_eq!(match_exactly(&sender, &receiver).reordered, 0);
    // What arrives in the same nanosecond is not reordered, neither is what was sent in one.
    let receiver = observe(&[(110, Some(3)), (110, Some(2)), (110, Some(1))]);
    assert_eq!(match_exactly(&sender, &receiver).reordered, 0);
    let sender = observe(&[(10, Some(2)), (10, Some(1)), (10, Some(3))]);
    let receiver = observe(&[(113, Some(1)), (112, Some(2)), (111, Some(3))]);
    assert_eq!(match_exactly(&sender, &receiver).reordered, 0);
}

#[test]
fn reordering_counts_within_a_flow_and_overall() {
    let mut sender = Observations::default();
    let mut receiver = Observations::default();
    for (index, port) in [1, 1, 2, 2].into_iter().enumerate() {
        sender.push(10 + index as u64, &frame(index as u16, port));
    }
    // The second flow overtakes the first, which stays in order.
    for (time, index) in [(0, 2), (1, 0), (2, 1), (3, 3)] {
        receiver.push(100 + time, &frame(index, if index < 2 { 1 } else { 2 }));
    }
    let matching = match_exactly(&sender, &receiver);
    assert_eq!((matching.reordered, matching.reordered_overall), (0, 2));
}

#[test]
fn flows_are_told_by_version_protocol_addresses_and_ports() {
    let key = |frame: &[u8]| identity::identify(frame).unwrap().key;
    let flow_of = |edits: &[(usize, u8)]| {
        let mut frame = frame(7, 5000);
        for &(position, value) in edits {
            frame[position] = value;
        }
        flow(&key(&frame))
    };
    let original = flow_of(&[]);
    // Identification, and the checksum behind the ports.
    assert_eq!(flow_of(&[(18, 9), (40, 1)]), original);
    // Protocol, addresses, ports.
    for position in [23, 26, 29, 30, 33, 34, 35, 36, 37] {
        assert_ne!(flow_of(&[(position, 201)]), original, "byte {position}");
    }
    // ICMP has no ports, neither has a fragment that is not the first.
    assert_eq!(flow_of(&[(23, 1), (34, 9)]), flow_of(&[(23, 1)]));
    assert_eq!(flow_of(&[(21, 1), (34, 9)]), flow_of(&[(21, 1)]));
    assert_eq!(flow_of(&[(20, 1), (34, 9)]), flow_of(&[(20, 1)]));
    assert_ne!(flow_of(&[(20, 0x20), (34, 9)]), flow_of(&[(20, 0x20)]));

    let ipv6 = |edits: &[(usize, u8)]| {
        let mut frame = vec![0; 12];
        frame.extend([0x86, 0xdd, 0x60, 0, 0, 0, 0, 8, 17, 64]);
        frame.extend(1..=32);
        frame.extend([0x13, 0x88, 0, 9, 0, 8, 0, 0]);
        for &(position, value) in edits {
            frame[position] = value;
        }
        flow(&key(&frame))
    };
    assert_eq!(ipv6(&[(60, 1)]), ipv6(&[]));
    for position in [20, 22, 37, 38, 53, 54, 55, 56, 57] {
        assert_ne!(ipv6(&[(position, 201)]), ipv6(&[]), "byte {position}");
    }
}

#[test]
fn truncated_keys_are_counted() {
    let mut observations = Observations::default();
    observations.push(1, &frame(1, 1));
    observations.push(2, &frame(2, 1)[..36]);
    let matching = match_exactly(&observations, &observations);
    assert_eq!((matching.sender.truncated, matching.receiver.truncated), (1, 1));
    assert_eq!(matching.pairs.len(), 2);
}

#[test]
fn packets_cut_within_their_headers_are_counted() {
    let whole = frame(1, 1);
    let arp = [&whole[..12], &[8, 6, 0, 1]].concat();
    let mut observations = Observations::default();
    for (data, length) in [
        (&whole[..33], 60),
        (&whole[..13], 60),
        (&whole[..0], 60),
        (&whole[..34], 60),
        // Not cut, and no IP.
        (&whole[..33], 33),
        (&arp[..], 60),
    ] {
        observations.take(PacketRef { timestamp: 0, length, interface: 0, data }).unwrap();
    }
    let end = match_exactly(&observations, &observations).sender;
    assert_eq!(end, End { packets: 6, unmeasured: 5, cut: 3, truncated: 1, duplicates: 0 });
}

#[test]
fn extreme_delays_do_not_overflow() {
    let (early, late) = (observe(&[(0, Some(1))]), observe(&[(u64::MAX, Some(1))]));
    assert_eq!(match_exactly(&early, &late).pairs, [pair(0, 0, i64::MAX)]);
    assert_eq!(match_exactly(&late, &early).pairs, [pair(0, 0, i64::MIN)]);
    let delay = match_exactly(&early, &late).truth(..).delay.unwrap();
    assert_eq!((delay.min_ns, delay.max_ns, delay.std_ns), (i64::MAX, i64::MAX, 0.0));
}

#[test]
fn statistics_of_known_delays() {
    // Delays 0, 1, ..., n-1, far from zero: mean c + (n-1)/2, variance (n^2-1)/12.
    let (count, offset) = (1000u64, -3_000_000_000_000i64);
    let sender: Vec<_> = (0..count).map(|i| (1 << 60, Some(i as u16))).collect();
    let receiver: Vec<_> =
        (0..count).map(|i| (((1i64 << 60) + offset + i as i64) as u64, Some(i as u16))).collect();
    let truth = match_exactly(&observe(&sender), &observe(&receiver)).truth(..);
    let delay = truth.delay.unwrap();
    let count = count as f64;
    assert_eq!(delay.mean_ns, offset as f64 + (count - 1.0) / 2.0);
    let expected = ((count * count - 1.0) / 12.0).sqrt();
    assert!((delay.std_ns / expected - 1.0).abs() < 1e-12, "{} {expected}", delay.std_ns);
    assert_eq!((delay.min_ns, delay.max_ns), (offset, offset + 999));
    assert_eq!((truth.sent, truth.received, truth.lost), (1000, 1000, 0));
}

#[test]
fn nothing_received_has_no_delay() {
    let matching = match_exactly(&observe(&[(1, Some(1)), (2, None)]), &observe(&[]));
    assert_eq!(matching.truth(..), Truth { sent: 1, received: 0, lost: 1, delay: None, alike: 0, uneven: 0 });
    assert_eq!(
        matching.truth(1..),
        Truth { sent: 0, received: 0, lost: 0, delay: None, alike: 0, uneven: 0 }
    );
    assert_eq!(match_exactly(&observe(&[]), &observe(&[])), Matching::default());
}

/// For each packet of the sender, compares each of the receiver. Of look-alikes, one end has no more than the other.
fn brute_force(sender: &[(u64, Option<u16>)], receiver: &[(u64, Option<u16>)]) -> Matching {
    let mut matching = Matching::default();
    let mut taken = vec![false; receiver.len()];
    for (index, &(sent, identification)) in sender.iter().enumerate() {
        if identification.is_none() {
            continue;
        }
        match (0..receiver.len()).find(|&other| !taken[other] && receiver[other].1 == identification) {
            Some(other) => {
                taken[other] = true;
                let delay = receiver[other].0 as i64 - sent as i64;
                let of = |packets: &[(u64, Option<u16>)]| {
                    packets.iter().filter(|packet| packet.1 == identification).count()
                };
                let likeness = match [of(sender), of(receiver)] {
                    [1, 1] => Likeness::Single,
                    [sent, received] if sent == received => Likeness::Even,
                    _ => Likeness::Uneven,
                };
                matching.pairs.push(Pair { sender: index, receiver: other, delay, likeness });
            }
            None => matching.lost.push(index),
        }
    }
    matching.receiver_only =
        (0..receiver.len()).filter(|&other| !taken[other] && receiver[other].1.is_some()).collect();
    for pair in &matching.pairs {
        let overtakes = |other: &&Pair| {
            receiver[other.receiver].0 < receiver[pair.receiver].0
                && sender[other.sender].0 > sender[pair.sender].0
        };
        matching.reordered += u64::from(matching.pairs.iter().find(overtakes).is_some());
    }
    matching.reordered_overall = matching.reordered;
    for (end, packets) in [(&mut matching.sender, sender), (&mut matching.receiver, receiver)] {
        end.packets = packets.len() as u64;
        for (index, packet) in packets.iter().enumerate() {
            end.unmeasured += u64::from(packet.1.is_none());
            let is_again = packets[..index].iter().any(|earlier| earlier.1 == packet.1);
            end.duplicates += u64::from(packet.1.is_some() && is_again);
        }
    }
    matching
}

fn packets() -> impl Strategy<Value = Vec<(u64, Option<u16>)>> {
    prop::collection::vec((0u64..40, prop::option::weighted(0.9, 0u16..12)), 0..24)
}

proptest! {
    #[test]
    fn as_a_matcher_that_compares_each_with_each((sender, receiver) in (packets(), packets())) {
        // Those that one end has more of than the other, if it has any, are taken away.
        let count = |packets: &[(u64, Option<u16>)], it| packets.iter().filter(|packet| packet.1 == it).count();
        let evened = |packets: &[(u64, Option<u16>)], other: &[(u64, Option<u16>)]| -> Vec<_> {
            let mut seen: Vec<(u64, Option<u16>)> = vec![];
            for packet in packets {
                let most = if packet.1.is_some() { count(other, packet.1).max(1) } else { usize::MAX };
                if count(&seen, packet.1) < most {
                    seen.push(*packet);
                }
            }
            seen
        };
        let sender = evened(&sender, &receiver);
        let receiver = evened(&receiver, &sender);
        let matching = match_exactly(&observe(&sender), &observe(&receiver));
        prop_assert_eq!(matching, brute_force(&sender, &receiver));
    }

    #[test]
    fn the_truth_of_a_subset(
        (sender, receiver) in (packets(), packets()),
        (first, length) in (0usize..24, 0usize..24),
    ) {
        let matching = match_exactly(&observe(&sender), &observe(&receiver));
        let range = first..first + length;
        let truth = matching.truth(range.clone());
        prop_assert_eq!(truth, matching.truth_where(|index| range.contains(&index)));
        if let Some(last) = range.end.checked_sub(1) {
            prop_assert_eq!(truth, matching.truth(first..=last));
            let behind = (Bound::Excluded(first), Bound::Included(last));
            prop_assert_eq!(matching.truth(behind), matching.truth(first + 1..last + 1));
        }

        let sent = sender.iter().enumerate().filter(|(index, p)| range.contains(index) && p.1.is_some()).count();
        let delays: Vec<f64> =
            matching.pairs.iter().filter(|p| range.contains(&p.sender)).map(|p| p.delay as f64).collect();
        let received = delays.len() as u64;
        prop_assert_eq!((truth.sent, truth.received, truth.lost), (sent as u64, received, sent as u64 - received));
        prop_assert_eq!(truth.delay.is_some(), received > 0);
        if let Some(delay) = truth.delay {
            // The variance by its other form, of all differences: the sum of (a - b)^2 over all pairs is 2 n^2 s^2.
            let count = received as f64;
            let squares: f64 = delays.iter().flat_map(|a| delays.iter().map(move |b| (a - b) * (a - b))).sum();
            prop_assert!((delay.std_ns - (squares / (2.0 * count * count)).sqrt()).abs() < 1e-9);
            prop_assert!((delay.mean_ns - delays.iter().sum::<f64>() / count).abs() < 1e-9);
            prop_assert!(delays.iter().all(|&d| delay.min_ns as f64 <= d && d <= delay.max_ns as f64));
            prop_assert!(delays.contains(&(delay.min_ns as f64)) && delays.contains(&(delay.max_ns as f64)));
        }
    }
}

#[test]
fn look_alikes_are_matched_to_the_nearest() {
    // Every other packet looks alike, and takes 1 ms where the others take 10; a hundredth of all is lost. The k-th for the k-th would
    // be off by 50 gaps in the mean, and by a hundred in the end.
    let (mut sent, mut received, mut delays) = (vec![], vec![], vec![]);
    for number in 0..20_000u64 {
        let time = 500_000 * number + number * number % 77_773;
        let (key, delay) = if number % 2 == 0 { (0, 1_000_000) } else { (number as u16, 10_000_000) };
        let delay = delay + number * 7919 % 100_000;
        sent.push((time, Some(key)));
        if number * 31 % 100 != 17 && number * 31 % 200 != 82 {
            received.push((time + delay, Some(key)));
            delays.push(delay as f64);
        }
    }
    received.sort_unstable();
    let matching = match_exactly(&observe(&sent), &observe(&received));
    let truth = matching.truth(..);
    assert_eq!((truth.lost as usize, truth.received as usize), (20_000 - delays.len(), delays.len()));
    let mean = delays.iter().sum::<f64>() / delays.len() as f64;
    let found = truth.delay.unwrap().mean_ns;
    assert!((found / mean - 1.0).abs() < 0.02, "{found} {mean}");
}

#[test]
fn the_lost_one_of_look_alikes_is_found() {
    let fates = |lost: usize| {
        let sent: Vec<u64> = (0..10).map(|number| 1000 * number).collect();
        let received: Vec<u64> = (0..10)
            .filter(|number| *number != lost)
            .map(|number| sent[number] + 300 + number as u64)
            .collect();
        align(&sent, &received, Some(200))
    };
    for lost in 0..10 {
        assert!(fates(lost).contains(&Fate::Lost(lost)), "{lost}: {:?}", fates(lost));
        assert_eq!(fates(lost).len(), 10);
    }
    // Of what nothing is known, the first is the first.
    assert_eq!(align(&[0, 100], &[1000], None), [Fate::Received(0, 0), Fate::Lost(1)]);
    assert_eq!(align(&[0], &[1000, 1001], Some(1001)), [Fate::Foreign(0), Fate::Received(0, 1)]);
}
