//! The room in which asking ends wait to be served, as many at once as there are turns.
//!
//! Who says nothing has no turn and holds nobody up: it waits here until its patience is over, or until the room is full and it has
//! waited longest. Then its connection is closed.
//!
//! # Test plan
//!
//! Turns are given back and taken by whoever waits; who came first goes first from a full room, those that wait for a turn too.
//! `tests/exchange.rs`: connections that say nothing, more than there is room for, and one that greets and says nothing more.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Most that wait at once.
const MOST_WAITING: usize = 64;

/// What can be closed from outside.
pub(super) trait Close {
    /// Ends it for both sides.
    fn close(&self);
}

/// The room.
pub(super) struct Room<C: Close> {
    turns: usize,
    state: Mutex<State<C>>,
    changed: Condvar,
}

struct State<C> {
    /// By their numbers, in the order in which they came.
    waiting: VecDeque<(u64, C)>,
    came: u64,
    /// Turns that are taken.
    taken: usize,
}

/// A turn, until it is dropped.
pub(super) struct Turn<'a, C: Close>(&'a Room<C>);

impl<C: Close> Room<C> {
    /// A room of so many turns.
    pub(super) fn new(turns: usize) -> Self {
        let state = State { waiting: VecDeque::new(), came: 0, taken: 0 };
        Room { turns, state: Mutex::new(state), changed: Condvar::new() }
    }

    /// Lets a connection in, by the number that it gets.
    pub(super) fn enter(&self, connection: C) -> u64 {
        let mut state = self.state();
        if state.waiting.len() == MOST_WAITING
            && let Some((_, oldest)) = state.waiting.pop_front()
        {
            oldest.close();
            self.changed.notify_all();
        }
        state.came += 1;
        let number = state.came;
        state.waiting.push_back((number, connection));
        number
    }

    /// Waits for a turn; none for who is no longer in the room.
    pub(super) fn turn(&self, number: u64) -> Option<Turn<'_, C>> {
        let mut state = self.state();
        loop {
            let place = state.waiting.iter().position(|(other, _)| *other == number)?;
            if state.taken < self.turns {
                state.waiting.remove(place);
                state.taken += 1;
                return Some(Turn(self));
            }
            state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Who waits goes.
    pub(super) fn leave(&self, number: u64) {
        self.state().waiting.retain(|(other, _)| *other != number);
    }

    /// Nothing is left half done where a thread ends in between.
    fn state(&self) -> MutexGuard<'_, State<C>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<C: Close> Drop for Turn<'_, C> {
    fn drop(&mut self) {
        self.0.state().taken -= 1;
        self.0.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests")]

    use super::*;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::thread;

    #[derive(Clone, Default)]
    struct Guest(Arc<AtomicBool>);

    impl Close for Guest {
        fn close(&self) {
            self.0.store(true, Ordering::SeqCst);
        }
    }

    impl Guest {
        fn is_closed(&self) -> bool {
            self.0.load(Ordering::SeqCst)
        }
    }

    #[test]
    fn turns_are_given_back() {
        let room = Room::new(2);
        let [one, two, three] = [0; 3].map(|_| room.enter(Guest::default()));
        let (first, _second) = (room.turn(one).unwrap(), room.turn(two).unwrap());
        // Who has a turn, or has gone, waits no more.
        assert!(room.turn(one).is_none() && room.turn(99).is_none());
        thread::scope(|scope| {
            let third = scope.spawn(|| room.turn(three).is_some());
            drop(first);
            assert!(third.join().unwrap());
        });
    }

    #[test]
    fn who_has_waited_longest_goes_from_a_full_room() {
        let room = Room::new(1);
        let served = Guest::default();
        let _turn = room.turn(room.enter(served.clone())).unwrap();
        let guests = [0; MOST_WAITING].map(|_| Guest::default());
        let numbers: Vec<u64> = guests.iter().map(|guest| room.enter(guest.clone())).collect();
        room.leave(numbers[5]);
        room.enter(Guest::default());
        assert!(!guests[0].is_closed());
        thread::scope(|scope| {
            // It waits for a turn, and is shown out.
            let waits = scope.spawn(|| room.turn(numbers[0]).is_none());
            room.enter(Guest::default());
            assert!(waits.join().unwrap());
        });
        assert!(guests[0].is_closed() && !guests[1].is_closed() && !served.is_closed());
    }
}
