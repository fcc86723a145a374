//! Intervals whose numbers nothing confirms yet: the first ones of a segment, and those far from the others.
//!
//! One frame may say anything. Two that agree are believed: both ends on a number, or one end on two consecutive ones.
//! Until then an interval waits here; it is given up when its time is over, or to make room for younger ones.

use super::LAG;
use super::entry::Entry;
use std::collections::BTreeMap;

/// An interval's segment and number.
pub(super) type Name = (u32, u32);

#[derive(Clone, Debug, Default)]
pub(super) struct Quarantine {
    entries: BTreeMap<Name, Entry>,
    /// By the number of their first frame, which is also the order of their coming.
    order: BTreeMap<u64, Name>,
}

impl Quarantine {
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// The interval of this name, as `new` makes it if it is not here yet.
    pub(super) fn entry(&mut self, name: Name, new: impl FnOnce() -> Entry) -> &mut Entry {
        self.entries.entry(name).or_insert_with(|| {
            let entry = new();
            self.order.insert(entry.born, name);
            entry
        })
    }

    /// Whether two frames agree on the number.
    pub(super) fn is_confirmed(&self, (segment, number): Name, role: usize) -> bool {
        let has = |number, role| self.entries.get(&(segment, number)).is_some_and(|entry| entry.has(role));
        let before = number.wrapping_sub(1);
        has(number, 1 - role) || has(before, role) || has(number.wrapping_add(1), role)
    }

    pub(super) fn remove(&mut self, name: Name) -> Option<Entry> {
        let entry = self.entries.remove(&name)?;
        self.order.remove(&entry.born);
        Some(entry)
    }

    pub(super) fn oldest(&self) -> Option<&Entry> {
        let name = self.order.values().next()?;
        self.entries.get(name)
    }

    pub(super) fn pop_oldest(&mut self) -> Option<Entry> {
        let (_, name) = self.order.pop_first()?;
        self.entries.remove(&name)
    }

    /// Takes out the interval closest to a number, at most [`LAG`] away in steps of `step`, with its number.
    pub(super) fn take_near(&mut self, segment: u32, from: u32, step: u32) -> Option<(u32, Entry)> {
        (1..=LAG as u32).find_map(|far| {
            let number = from.wrapping_add(step.wrapping_mul(far));
            Some((number, self.remove((segment, number))?))
        })
    }

    /// All that is here, by name.
    pub(super) fn take_all(&mut self) -> BTreeMap<Name, Entry> {
        self.order.clear();
        std::mem::take(&mut self.entries)
    }

    /// Takes out those of a segment from one number to another one, modulo 2^32.
    pub(super) fn take_between(&mut self, segment: u32, first: u32, last: u32) -> Vec<(u32, Entry)> {
        let parts = if first <= last { [(first, last), (1, 0)] } else { [(first, u32::MAX), (0, last)] };
        let inside = parts.into_iter().filter(|(from, to)| from <= to);
        let names: Vec<Name> = inside
            .flat_map(|(from, to)| self.entries.range((segment, from)..=(segment, to)).map(|(name, _)| *name))
            .collect();
        names.into_iter().filter_map(|name| Some((name.1, self.remove(name)?))).collect()
    }
}
