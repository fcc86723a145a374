//! The sender: sends test packets at equal distances, and takes their answers.
//!
//! | what came | what becomes of it |
//! |---|---|
//! | the answer to a packet that was sent, with the time that was sent | its four times are a sample |
//! | the same once more | a duplicate |
//! | a time of zero, which stands for none | it counts as received, and is no sample |
//! | times by which it stayed at the reflector for less than nothing, or for longer than it was away | it counts as received, and is no sample |
//! | anything else: cut, not signed by the key, of another session, with a time that was not sent | refused; it answers nothing |
//!
//! Packets that are not answered until the patience is over are lost, or late if an answer comes within as long again. Lost ones are so on one way or the other. On which one the reflector's own numbers tell,
//! if they show that it counts, and that packets kept their order on the way there: the distance of its number from the packet's grows with every packet
//! that it did not get, and never falls.

use crate::packet::{Answer, Key, Stamp};
use crate::socket::Socket;
use crate::time::{ErrorEstimate, from_ntp, from_ptp, now, to_ntp};
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// What is sent.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Test packets.
    pub count: u32,
    /// From one to the next.
    pub interval: Duration,
    /// Octets of each, at least.
    pub length: usize,
    /// How long is waited for answers behind the last one.
    pub patience: Duration,
    /// The session's identifier.
    pub session: u16,
}

/// An answered packet's times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Its number.
    pub number: u32,
    /// There and back, without the stay, in nanoseconds.
    pub round_trip: i64,
    /// The stay at the reflector, in nanoseconds.
    pub dwell: i64,
    /// There and back in nanoseconds, by both clocks; none of a reflector whose times are PTP's, which count from elsewhere.
    pub one_way: Option<[i64; 2]>,
    /// The TTL that it arrived with at the reflector, as that says.
    pub ttl: u8,
}

/// What came of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Test packets that were sent.
    pub sent: u32,
    /// Packets that were answered, each counted once.
    pub received: u32,
    /// Packets whose answers came when the patience was over: they are not among those answered, and were lost on neither way.
    pub late: u32,
    /// Answers to packets that were answered before.
    pub duplicates: u64,
    /// What was no answer to any packet.
    pub refused: u64,
    /// Packets whose answers have no times of the reflector: they were answered, and are no samples.
    pub timeless: u32,
    /// Packets that the system did not send.
    pub unsent: u32,
    /// The system said that nobody listens there.
    pub is_unreachable: bool,
    /// Of those lost, how many did not get there, and how many answers did not get back; none where it cannot be told.
    pub lost_by_way: Option<[u32; 2]>,
    /// The reflector says that its clock is synchronised, in every answer.
    pub is_synchronised: bool,
    /// The samples, in the order of their arrival.
    pub samples: Vec<Sample>,
}

/// Sends, and takes the answers, until all are there, the patience is over, or `stop` is set. For as long again it listens to what comes late.
///
/// # Errors
///
/// Those of the socket.
pub fn measure(socket: &Socket, plan: &Plan, key: Option<&Key>, stop: &AtomicBool) -> io::Result<Outcome> {
    let sent = AtomicU32::new(0);
    let [is_late, is_over] = [false; 2].map(AtomicBool::new);
    let times: Vec<AtomicTime> = (0..plan.count).map(|_| AtomicTime::default()).collect();
    thread::scope(|scope| {
        let answers = scope.spawn(|| take(socket, plan, key, &times, &sent, [&is_late, &is_over]));
        let unsent = send(socket, plan, key, stop, &times, &sent);
        for flag in [&is_late, &is_over] {
            let end = Instant::now() + plan.patience;
            while Instant::now() < end && !stop.load(Ordering::Relaxed) && !answers.is_finished() {
                thread::sleep(Duration::from_millis(5));
            }
            flag.store(true, Ordering::Relaxed);
        }
        let taken = answers.join().unwrap_or_else(|_| Err(io::Error::other("the receiver ended")))?;
        Ok(Outcome { sent: sent.load(Ordering::Relaxed), unsent, ..taken })
    })
}

/// When a packet was sent, as it says itself; zero before.
type AtomicTime = std::sync::atomic::AtomicU64;

/// Sends the packets; how many the system refused.
fn send(
    socket: &Socket,
    plan: &Plan,
    key: Option<&Key>,
    stop: &AtomicBool,
    times: &[AtomicTime],
    sent: &AtomicU32,
) -> u32 {
    let (begun, mut unsent) = (Instant::now(), 0);
    for (number, slot) in (0..plan.count).zip(times) {
        let due = begun + plan.interval * number;
        // In steps, so that a long interval can be broken off.
        while let Some(left) = due.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            if stop.load(Ordering::Relaxed) {
                return unsent;
            }
            thread::sleep(left.min(crate::socket::WAIT));
        }
        if stop.load(Ordering::Relaxed) {
            return unsent;
        }
        let mut stamp =
            Stamp { number, time: to_ntp(now()), error: ErrorEstimate::UNKNOWN, session: plan.session };
        // No packet says zero, which stands for none.
        stamp.time = stamp.time.max(1);
        slot.store(stamp.time, Ordering::Release);
        // What was refused by whom the packet before went to is said with this one: it goes out all the same at the second attempt.
        let packet = stamp.packet(key, plan.length);
        if socket.send(&packet, None).or_else(|_| socket.send(&packet, None)).is_err() {
            unsent += 1;
        }
        sent.store(number + 1, Ordering::Relaxed);
    }
    unsent
}

/// Takes the answers, until all is over; from when on they are late.
fn take(
    socket: &Socket,
    plan: &Plan,
    key: Option<&Key>,
    times: &[AtomicTime],
    sent: &AtomicU32,
    [is_late, is_over]: [&AtomicBool; 2],
) -> io::Result<Outcome> {
    let mut outcome = Outcome { is_synchronised: true, ..Outcome::default() };
    let mut answered = vec![false; times.len()];
    let mut numbers = vec![];
    while !is_over.load(Ordering::Relaxed) && outcome.received + outcome.late < plan.count {
        let arrived = match socket.receive() {
            Ok(Some(arrived)) => arrived,
            Ok(None) => continue,
            Err(reason) if reason.kind() == io::ErrorKind::ConnectionRefused => {
                outcome.is_unreachable = true;
                continue;
            }
            Err(reason) => return Err(reason),
        };
        let Some((answer, is_first)) = expected(&arrived.packet, plan, key, times, &mut answered) else {
            outcome.refused += 1;
            continue;
        };
        if !is_first {
            outcome.duplicates += 1;
            continue;
        }
        if is_late.load(Ordering::Relaxed) {
            outcome.late += 1;
            continue;
        }
        outcome.received += 1;
        outcome.is_synchronised &= answer.stamp.error.is_synchronised();
        numbers.push((answer.asked.number, answer.stamp.number));
        if [answer.arrival, answer.stamp.time].contains(&0) {
            outcome.timeless += 1;
            continue;
        }
        outcome.samples.extend(sample(&answer, arrived.time));
    }
    let lost = sent.load(Ordering::Relaxed).saturating_sub(outcome.received + outcome.late);
    outcome.lost_by_way = match missing(numbers) {
        _ if lost == 0 => Some([0, 0]),
        // Those that came late were lost on neither way, and on which one they were held back is not known.
        _ if outcome.late > 0 => None,
        // What the reflector did not get of the last packets, whose numbers no answer tells, is not known to be of either way.
        Some(there) if there <= lost && answered.last() == Some(&true) => Some([there, lost - there]),
        _ => None,
    };
    outcome.is_synchronised &= outcome.received > 0;
    Ok(outcome)
}

/// How many of the packets the reflector did not get up to the last one that was answered, by the numbers of packets and of their answers; none if its
/// numbers are the packets' own, or do not follow each other as packets that keep their order have them.
fn missing(mut numbers: Vec<(u32, u32)>) -> Option<u32> {
    numbers.sort_unstable();
    let missing = numbers.into_iter().try_fold(0, |before, (asked, reflected)| {
        let missing = asked.wrapping_sub(reflected) as i32;
        (missing >= before).then_some(missing)
    });
    missing.filter(|missing| *missing > 0).map(i32::unsigned_abs)
}

/// The answer that this is to a packet that was sent, and whether it is the first one.
fn expected(
    packet: &[u8],
    plan: &Plan,
    key: Option<&Key>,
    times: &[AtomicTime],
    answered: &mut [bool],
) -> Option<(Answer, bool)> {
    let answer = Answer::read(packet, key).ok()?;
    let place = usize::try_from(answer.asked.number).ok()?;
    let time = times.get(place)?.load(Ordering::Acquire);
    // A reflector that does not know sessions leaves them zero.
    let is_ours = time != 0 && answer.asked.time == time && [0, plan.session].contains(&answer.stamp.session);
    let slot = answered.get_mut(place).filter(|_| is_ours)?;
    let is_first = !*slot;
    *slot = true;
    Some((answer, is_first))
}

/// An answer's four times; none if they contradict each other.
fn sample(answer: &Answer, returned: i64) -> Option<Sample> {
    let sent = from_ntp(answer.asked.time, returned)?;
    let is_ptp = answer.stamp.error.is_ptp();
    let read = |bits| if is_ptp { Some(from_ptp(bits)) } else { from_ntp(bits, returned) };
    let (arrival, left) = (read(answer.arrival)?, read(answer.stamp.time)?);
    let (away, dwell) = (returned.checked_sub(sent)?, left.checked_sub(arrival)?);
    let one_way = || Some([arrival.checked_sub(sent)?, returned.checked_sub(left)?]);
    let is_sound = (0..=away).contains(&dwell);
    is_sound.then(|| Sample {
        number: answer.asked.number,
        round_trip: away - dwell,
        dwell,
        one_way: one_way().filter(|_| !is_ptp),
        ttl: answer.ttl,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reflector::Reflector;
    use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

    const PLAN: Plan = Plan {
        count: 1000,
        interval: Duration::from_micros(50),
        length: 0,
        patience: Duration::from_secs(5),
        session: 77,
    };

    fn key(octets: &[u8; 16]) -> Key {
        Key::new(octets).unwrap()
    }

    /// What a sender finds of one of our reflectors, and what that counts.
    fn reflected(
        address: SocketAddr,
        plan: &Plan,
        keys: [Option<Key>; 2],
    ) -> (Outcome, crate::reflector::Reflected) {
        let [theirs, ours] = keys;
        let mut reflector = Reflector::new(Socket::bind(address).unwrap(), theirs);
        let to = reflector.address().unwrap();
        let (stop, never) = (AtomicBool::new(false), AtomicBool::new(false));
        thread::scope(|scope| {
            let answers = scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    reflector.answer_next().unwrap();
                }
                reflector.reflected()
            });
            let outcome = measure(&Socket::to(to).unwrap(), plan, ours.as_ref(), &never).unwrap();
            stop.store(true, Ordering::Relaxed);
            (outcome, answers.join().unwrap())
        })
    }

    #[test]
    fn ten_thousand_each_way_open_and_authenticated() {
        let open: [SocketAddr; 2] = [(Ipv4Addr::LOCALHOST, 0).into(), (Ipv6Addr::LOCALHOST, 0).into()];
        for (address, key) in [(open[0], None), (open[0], Some(key(b"0123456789abcdef"))), (open[1], None)] {
            let plan = Plan { count: 10_000, patience: Duration::from_secs(60), ..PLAN };
            let (outcome, reflected) = reflected(address, &plan, [key.clone(), key]);
            assert_eq!((outcome.sent, outcome.received, outcome.samples.len()), (10_000, 10_000, 10_000));
            assert_eq!((outcome.duplicates, outcome.refused, outcome.unsent), (0, 0, 0));
            assert_eq!((reflected.answered, reflected.refused, reflected.unsent), (10_000, 0, 0));
            assert_eq!(outcome.lost_by_way, Some([0, 0]));
            assert!(!outcome.is_synchronised && !outcome.is_unreachable);
            for sample in &outcome.samples {
                // One machine, one clock: no way takes less than nothing.
                let [there, back] = sample.one_way.unwrap();
                assert!(there >= 0 && back >= 0, "{sample:?}");
                assert_eq!(there + back, sample.round_trip);
                assert_eq!(sample.ttl, 255);
            }
        }
    }

    /// A reflector that counts, and gets the second packet behind the others, when the sender waits no longer: by its numbers alone that one was lost on the way there.
    #[test]
    fn an_answer_behind_the_wait_is_late() {
        let mut reflector = Reflector::new(Socket::bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap(), None);
        let to = reflector.address().unwrap();
        let relay = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        relay.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
        let at = relay.local_addr().unwrap();
        let plan = Plan { count: 4, patience: Duration::from_millis(500), ..PLAN };
        let outcome = thread::scope(|scope| {
            scope.spawn(|| {
                let (mut buffer, mut asked) = ([0; 200], vec![]);
                for _ in 0..4 {
                    let (length, from) = relay.recv_from(&mut buffer).unwrap();
                    asked.push((buffer[..length].to_vec(), from));
                }
                // The second one gets to the reflector behind the others, too late.
                let held = asked.remove(1);
                asked.push(held);
                for (number, (packet, from)) in asked.into_iter().enumerate() {
                    if number == 3 {
                        thread::sleep(Duration::from_millis(700));
                    }
                    relay.send_to(&packet, to).unwrap();
                    reflector.answer_next().unwrap();
                    let (length, _) = relay.recv_from(&mut buffer).unwrap();
                    relay.send_to(&buffer[..length], from).unwrap();
                }
            });
            measure(&Socket::to(at).unwrap(), &plan, None, &AtomicBool::new(false)).unwrap()
        });
        let Outcome { sent, received, late, lost_by_way, .. } = outcome;
        assert_eq!((sent, received, late, lost_by_way), (4, 3, 1, Some([0, 0])));
        assert_eq!(outcome.samples.len(), 3);
    }

    #[test]
    fn without_the_key_nothing_is_answered() {
        let plan = Plan { count: 20, patience: Duration::from_millis(300), ..PLAN };
        let address = (Ipv4Addr::LOCALHOST, 0).into();
        for keys in [
            [Some(key(b"0123456789abcdef")), Some(key(b"0123456789abcdeg"))],
            [Some(key(b"0123456789abcdef")), None],
        ] {
            let (outcome, reflected) = reflected(address, &plan, keys);
            assert_eq!((outcome.sent, outcome.received, outcome.lost_by_way), (20, 0, None));
            assert_eq!((reflected.answered, reflected.refused), (0, 20));
        }
    }

    /// A reflector that loses, repeats, invents and disorders.
    #[test]
    fn what_is_no_answer_is_none() {
        let strange = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let to = strange.local_addr().unwrap();
        strange.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
        let plan = Plan { count: 10, patience: Duration::from_millis(500), ..PLAN };
        let outcome = thread::scope(|scope| {
            scope.spawn(|| {
                let mut buffer = [0; 100];
                let mut answers = vec![];
                let mut sender = to;
                let mut got = 0;
                for number in 0..10 {
                    let (length, from) = strange.recv_from(&mut buffer).unwrap();
                    sender = from;
                    // Packet 3 does not get here.
                    if number == 3 {
                        continue;
                    }
                    let asked = Stamp::read(&buffer[..length], None).unwrap();
                    let time = to_ntp(now());
                    let stamp = Stamp { number: got, time, error: ErrorEstimate(0x8001), session: 0 };
                    got += 1;
                    let answer = Answer { stamp, arrival: time, asked, ttl: 9 };
                    answers.push((number, answer, buffer[..length].to_vec()));
                }
                answers.reverse();
                for (number, answer, asked) in answers {
                    let good = answer.packet(None, &asked);
                    let told = |answer: Answer| answer.packet(None, &asked);
                    let asked_at = |time| Answer { asked: Stamp { time, ..answer.asked }, ..answer };
                    match number {
                        // The answer of one gets lost, one comes twice.
                        5 => {}
                        6 => [&good, &good]
                            .into_iter()
                            .for_each(|packet| drop(strange.send_to(packet, sender))),
                        // Without a time.
                        8 => drop(strange.send_to(&told(Answer { arrival: 0, ..answer }), sender)),
                        // A stay of less than nothing.
                        7 => drop(strange.send_to(
                            &told(Answer { arrival: answer.stamp.time + (1 << 40), ..answer }),
                            sender,
                        )),
                        _ => drop(strange.send_to(&good, sender)),
                    }
                    // Cut, of another time, of a number that was not sent.
                    let other = Answer { asked: Stamp { number: 10, ..answer.asked }, ..answer };
                    for packet in [&good[..43], &told(asked_at(answer.asked.time ^ 1)), &told(other)] {
                        strange.send_to(packet, sender).unwrap();
                    }
                }
            });
            measure(&Socket::to(to).unwrap(), &plan, None, &AtomicBool::new(false)).unwrap()
        });
        assert_eq!((outcome.sent, outcome.received, outcome.duplicates), (10, 8, 1));
        assert_eq!((outcome.refused, outcome.lost_by_way), (27, Some([1, 1])));
        let numbers: Vec<u32> = outcome.samples.iter().map(|sample| sample.number).collect();
        assert_eq!((numbers, outcome.timeless), (vec![9, 6, 4, 2, 1, 0], 1));
        assert!(outcome.is_synchronised && outcome.samples.iter().all(|sample| sample.ttl == 9));
    }

    #[test]
    fn the_way_of_losses_is_told_where_order_was_kept_alone() {
        // Packet 2 and 5 did not get there; without the answer of 3, too.
        assert_eq!(missing(vec![(0, 0), (1, 1), (3, 2), (4, 3), (6, 4)]), Some(2));
        assert_eq!(missing(vec![(6, 4), (0, 0), (1, 1), (4, 3)]), Some(2));
        // All came, or a reflector repeats the packets' numbers.
        assert_eq!(missing(vec![(0, 0), (1, 1), (3, 3)]), None);
        // 1 and 2 changed places, 0 and 1; 1 came twice; a reflector that begins anew or invents.
        for numbers in [
            [(0, 0), (1, 2), (2, 1), (4, 3)],
            [(0, 1), (1, 0), (2, 2), (4, 3)],
            [(0, 0), (1, 1), (2, 3), (5, 4)],
        ] {
            assert_eq!(missing(numbers.to_vec()), None, "{numbers:?}");
        }
        assert_eq!(missing(vec![(0, u32::MAX), (1, 7)]), None);
    }

    /// Packets that overtake each other, come twice, and such of before that somebody sends again.
    #[test]
    fn a_reflector_counts_each_packet_of_a_session_once() {
        let mut reflector = Reflector::new(Socket::bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap(), None);
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        socket.connect(reflector.address().unwrap()).unwrap();
        let mut number = |number: u32, time: u64| {
            let stamp = Stamp { number, time, error: ErrorEstimate::UNKNOWN, session: 5 };
            socket.send(&stamp.packet(None, 0)).unwrap();
            reflector.answer_next().unwrap();
            let mut buffer = [0; 100];
            let length = socket.recv(&mut buffer).unwrap();
            Answer::read(&buffer[..length], None).unwrap().stamp.number
        };
        let start = u64::MAX - 2;
        let at = |after: u64| start.wrapping_add(after);
        assert_eq!([(1, at(1)), (0, at(0)), (2, at(2))].map(|(n, time)| number(n, time)), [0, 1, 1]);
        // Packet 0 begins anew with a later time alone; packets of before it, and those that came, do not count.
        assert_eq!(
            [(0, at(10)), (1, at(11)), (0, at(10)), (0, at(0))].map(|(n, time)| number(n, time)),
            [0, 1, 2, 2]
        );
        assert_eq!(
            [(900, at(5)), (2, at(12)), (4, at(14)), (3, at(13)), (3, at(13))]
                .map(|(n, time)| number(n, time)),
            [2, 2, 3, 4, 5]
        );
        assert_eq!(
            [(700, at(800)), (5, at(15)), (700, at(800)), (701, at(801))].map(|(n, time)| number(n, time)),
            [5, 6, 6, 6]
        );
        assert_eq!(number(0, at(900)), 0);
    }

    /// One packet with the other reflector's source, and two of them would answer each other for ever.
    #[test]
    fn reflectors_do_not_answer_each_other() {
        let mut one = Reflector::new(Socket::bind((Ipv4Addr::LOCALHOST, 0).into()).unwrap(), None);
        let address = one.address().unwrap();
        let other = UdpSocket::bind((Ipv4Addr::new(127, 0, 0, 2), address.port())).unwrap();
        let stamp = Stamp { number: 0, time: 9, error: ErrorEstimate::UNKNOWN, session: 5 };
        other.send_to(&stamp.packet(None, 0), address).unwrap();
        one.answer_next().unwrap();
        assert_eq!((one.reflected().answered, one.reflected().refused), (0, 1));
    }

    #[test]
    fn nobody_listens() {
        let nobody = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
        let plan = Plan { count: 5, patience: Duration::from_millis(200), ..PLAN };
        let outcome = measure(&Socket::to(nobody).unwrap(), &plan, None, &AtomicBool::new(false)).unwrap();
        assert!(outcome.is_unreachable && outcome.received == 0 && outcome.sent == 5, "{outcome:?}");
    }

    #[test]
    fn times_by_hand() {
        let answer = |arrival: i64, left: i64, error| Answer {
            stamp: Stamp { number: 0, time: to_ntp(left), error, session: 0 },
            arrival: to_ntp(arrival),
            asked: Stamp { number: 4, time: to_ntp(1000), error, session: 0 },
            ttl: 64,
        };
        let found = sample(&answer(51_000, 53_000, ErrorEstimate::UNKNOWN), 10_000);
        // The reflector's clock is ahead by some 45 µs.
        let expected =
            Sample { number: 4, round_trip: 7000, dwell: 2000, one_way: Some([50_000, -43_000]), ttl: 64 };
        assert_eq!(found, Some(expected));
        assert_eq!(sample(&answer(51_000, 50_000, ErrorEstimate::UNKNOWN), 10_000), None);
        assert_eq!(sample(&answer(51_000, 62_000, ErrorEstimate::UNKNOWN), 10_000), None);
        // PTP's times: seconds and nanoseconds, of another beginning.
        let ptp = Answer {
            stamp: Stamp { time: 5 << 32 | 700, ..answer(0, 0, ErrorEstimate(0x4001)).stamp },
            arrival: 5 << 32 | 200,
            ..answer(0, 0, ErrorEstimate(0x4001))
        };
        let found = sample(&ptp, 10_000).unwrap();
        assert_eq!((found.dwell, found.round_trip, found.one_way), (500, 8500, None));
    }
}
