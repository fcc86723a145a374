//! Packets that arrived so late, or by clocks so far apart so early, that nobody looked for them where they were.
//!
//! An interval's packets are looked for in the intervals beside it. One that is in neither is lost in the interval in which it was sent, and of unknown
//! origin where it arrived. Both ends' names of such packets are kept here, the latest [`MOST`] of them: where the other end's
//! interval comes, it is known that the packet was no lost one.
//!
//! # Test plan
//!
//! Late ones and early ones, each at most once; lost ones that stay lost; the bound. In exchanges: `tests.rs`.

use deltaline_model::time::Timestamp;
use deltaline_model::wire::frame::Role;
use std::collections::{HashMap, VecDeque};

/// Most packets whose other end is waited for.
const MOST: usize = 1 << 20;

/// A packet that an end alone has in an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Alone {
    /// Its name.
    pub(super) name: u64,
    /// The interval.
    pub(super) number: u64,
    /// When the end saw it.
    pub(super) time: Timestamp,
}

/// Packets that an end alone has, of all intervals so far.
#[derive(Default)]
pub(super) struct Overdue {
    waiting: HashMap<(bool, u64), VecDeque<Alone>>,
    /// In the order in which they came; some are there no more.
    order: VecDeque<(bool, u64)>,
    /// How many of them the sender has.
    sent: usize,
}

impl Overdue {
    /// Whether the sender has sent packets that are missing.
    pub(super) fn is_waiting(&self) -> bool {
        self.sent > 0
    }

    /// Notes a packet that this end alone has in an interval. If the other end had it in another one, and alone: the interval in which it was
    /// sent, and its delay in nanoseconds.
    pub(super) fn note(&mut self, role: Role, alone: Alone) -> Option<(u64, i64)> {
        let is_sender = role == Role::Sender;
        let found = self.waiting.get_mut(&(!is_sender, alone.name)).and_then(VecDeque::pop_front);
        if let Some(other) = found {
            self.sent -= usize::from(!is_sender);
            let (sent, received) = if is_sender { (alone, other) } else { (other, alone) };
            return Some((sent.number, received.time.nanoseconds_since(sent.time)));
        }
        let key = (is_sender, alone.name);
        self.waiting.entry(key).or_default().push_back(alone);
        self.order.push_back(key);
        self.sent += usize::from(is_sender);
        if self.order.len() > MOST
            && let Some(oldest) = self.order.pop_front()
            && let Some(waiting) = self.waiting.get_mut(&oldest)
        {
            self.sent -= usize::from(waiting.pop_front().is_some() && oldest.0);
            if waiting.is_empty() {
                self.waiting.remove(&oldest);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn alone(name: u64, number: u64, milliseconds: u64) -> Alone {
        Alone { name, number, time: Timestamp::from_nanoseconds(milliseconds * 1_000_000) }
    }

    #[test]
    fn late_and_early_ones_are_found_once_and_lost_ones_stay() {
        let mut overdue = Overdue::default();
        assert_eq!(overdue.note(Role::Sender, alone(1, 3, 310)), None);
        assert_eq!(overdue.note(Role::Sender, alone(2, 3, 320)), None);
        assert_eq!(overdue.note(Role::Sender, alone(1, 4, 410)), None);
        assert_eq!(overdue.note(Role::Receiver, alone(9, 5, 510)), None);
        assert_eq!(overdue.note(Role::Receiver, alone(1, 6, 640)), Some((3, 330_000_000)));
        assert_eq!(overdue.note(Role::Receiver, alone(1, 7, 700)), Some((4, 290_000_000)));
        assert_eq!(overdue.note(Role::Receiver, alone(1, 8, 800)), None);
        assert!(overdue.is_waiting());
        assert_eq!(overdue.note(Role::Sender, alone(9, 8, 810)), Some((8, -300_000_000)));
        assert_eq!(overdue.note(Role::Receiver, alone(2, 8, 820)), Some((3, 500_000_000)));
        assert!(!overdue.is_waiting());
    }

    #[test]
    fn the_oldest_are_forgotten() {
        let mut overdue = Overdue::default();
        for name in 0..=MOST as u64 {
            assert_eq!(overdue.note(Role::Sender, alone(name, 1, 100)), None);
        }
        assert_eq!(overdue.note(Role::Receiver, alone(0, 4, 400)), None);
        assert_eq!(overdue.note(Role::Receiver, alone(2, 4, 400)), Some((1, 300_000_000)));
        assert!(overdue.order.len() <= MOST && overdue.waiting.len() <= MOST);
    }
}
