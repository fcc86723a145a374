#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::matching::{Observations, match_exactly};
use crate::replay::Cuts;
use proptest::prelude::*;

/// A UDP packet that is known by its identification and its flow's source port, or a frame that is not measured.
fn frame(identification: Option<u16>) -> Vec<u8> {
    let Some(identification) = identification else {
        return [&[0; 12][..], &[0x08, 0x06], &[0; 28]].concat();
    };
    let mut frame = vec![0; 12];
    frame.extend([0x08, 0x00, 0x45, 0, 0, 28]);
    frame.extend(identification.to_be_bytes());
    frame.extend([0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0, (identification % 3) as u8]);
    frame.extend([0, 9, 0, 8, 0, 0]);
    frame
}

type Packets = Vec<(u64, Option<u16>)>;

fn packets() -> impl Strategy<Value = Packets> {
    prop::collection::vec((0u64..60, prop::option::weighted(0.9, 0u16..20)), 0..40)
}

fn matched(sender: &Packets, receiver: &Packets, length: Option<u64>, memory: usize) -> Matched {
    taken(sender, receiver, memory).finish(length).unwrap()
}

fn taken(sender: &Packets, receiver: &Packets, memory: usize) -> Matcher {
    let mut matcher = Matcher::new(memory);
    for (timestamp, identification) in sender {
        let data = &frame(*identification);
        let length = data.len() as u32;
        matcher.sent(PacketRef { timestamp: *timestamp, length, interface: 0, data }).unwrap();
    }
    for (timestamp, identification) in receiver {
        let data = &frame(*identification);
        let length = data.len() as u32;
        matcher.received(PacketRef { timestamp: *timestamp, length, interface: 0, data }).unwrap();
    }
    matcher
}

fn observed(packets: &Packets) -> Observations {
    let mut observations = Observations::default();
    packets
        .iter()
        .for_each(|(timestamp, identification)| observations.push(*timestamp, &frame(*identification)));
    observations
}

proptest! {
    #[test]
    fn as_in_memory(
        (mut sender, mut receiver) in (packets(), packets()),
        is_in_order: bool,
        length in prop::option::of(1u64..30),
        memory in prop_oneof![Just(0usize), Just(500), Just(1 << 20)],
    ) {
        if is_in_order {
            sender.sort();
            receiver.sort();
        }
        let found = matched(&sender, &receiver, length, memory);
        let (sender, receiver) = (observed(&sender), observed(&receiver));
        let matching = match_exactly(&sender, &receiver);
        let (truths, postponed) = match length {
            Some(length) => {
                let cuts = Cuts::in_band(&sender, &receiver, &matching, length).unwrap();
                (cuts.spans().map(|span| matching.truth(span.sender)).collect(), cuts.postponed())
            }
            None => (vec![matching.truth(..)], 0),
        };
        prop_assert_eq!(found, Matched {
            overall: matching.truth(..),
            intervals: truths,
            postponed: postponed as u64,
            receiver_only: matching.receiver_only.len() as u64,
            unlike: Unlike::of(matching.pairs.iter().map(|pair| (pair.delay, pair.likeness))),
            reordered: matching.reordered,
            reordered_overall: matching.reordered_overall,
            sender: matching.sender,
            receiver: matching.receiver,
        });
    }
}

proptest! {
    #[test]
    fn by_flow_as_in_memory(
        sender in packets(),
        receiver in packets(),
        memory in prop_oneof![Just(0usize), Just(500), Just(1 << 20)],
    ) {
        let mut flows = vec![];
        let whole = taken(&sender, &receiver, memory).finish_by_flow(&FlowFields::default(), |flow| flows.push(flow)).unwrap();
        prop_assert_eq!(&whole, &matched(&sender, &receiver, None, memory));
        let matching = match_exactly(&observed(&sender), &observed(&receiver));
        let port = |packets: &Packets, index: usize| packets[index].1.map(|identification| identification % 3);
        let mut found = flows.iter();
        for source in 0..3 {
            let truth = matching.truth_where(|index| port(&sender, index) == Some(source));
            let surplus =
                matching.receiver_only.iter().filter(|index| port(&receiver, **index) == Some(source)).count();
            if truth.sent == 0 && surplus == 0 {
                continue;
            }
            let flow = found.next().unwrap();
            prop_assert_eq!(flow.ports, Some([source, 9]));
            prop_assert_eq!(flow.protocol, 17);
            prop_assert_eq!(flow.source.to_string(), "10.0.0.1");
            prop_assert_eq!(flow.destination.to_string(), "10.0.0.2");
            prop_assert_eq!((flow.truth.sent, flow.truth.received, flow.truth.lost), (truth.sent, truth.received, truth.lost));
            prop_assert_eq!(flow.surplus, surplus as u64);
            // Added up in another order.
            let near = |one: f64, other: f64| (one - other).abs() < 1e-6;
            match (flow.truth.delay, truth.delay) {
                (Some(one), Some(other)) => {
                    prop_assert!(near(one.mean_ns, other.mean_ns) && near(one.std_ns, other.std_ns));
                    prop_assert_eq!((one.min_ns, one.max_ns), (other.min_ns, other.max_ns));
                }
                (one, other) => prop_assert_eq!(one, other),
            }
        }
        prop_assert!(found.next().is_none());
    }
}

#[test]
fn limits() {
    let far = vec![(0, Some(1)), (u64::MAX, Some(2))];
    let finish = |length| {
        let mut matcher = Matcher::new(1 << 20);
        for (timestamp, identification) in &far {
            let data = &frame(*identification);
            matcher.sent(PacketRef { timestamp: *timestamp, length: 42, interface: 0, data }).unwrap();
        }
        matcher.finish(Some(length)).map(|_| ())
    };
    assert!(matches!(finish(0), Err(MatchError::Cut(CutError::NoLength))));
    assert!(matches!(finish(1), Err(MatchError::Cut(CutError::TooMany(u64::MAX)))));
}
