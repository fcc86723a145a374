//! Reference packets: when the sender of reference latency interpolation (RLI; Lee, Duffield, Kompella, SIGCOMM 2010) sends one.
//!
//! A reference packet carries the time at which it was sent, and so its receiver knows its delay. It is sent behind every n-th packet.
//! Where n adapts, it follows the load of the link: a lightly loaded link has room for many reference packets, and its delays, which hang
//! on single packets, need them; a busy one has neither.
//!
//! ```text
//! packets ──▶ octets of this millisecond ──▶ load, a moving average ──▶ n ──▶ the n-th behind the last one? ──▶ reference packet
//! ```
//!
//! The paper says of n how small and how large it may be, 10 and 300; that it rises linearly with the load between them, and that the load is looked at in
//! steps of a millisecond, is ours.
//!
//! # Test plan
//!
//! Static spacings by count; loads of a link that is idle, half busy, busy, and silent for long against n; n between its ends for
//! any packets.

/// How far apart reference packets are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spacing {
    /// One behind every so many packets.
    Static(u32),
    /// One behind every so many packets, from the first number on an idle link to the second on a busy one.
    Adaptive(u32, u32),
}

impl Spacing {
    /// The paper's: one in 10 packets to one in 300.
    pub const PAPER: Spacing = Spacing::Adaptive(10, 300);
}

/// The load is looked at so often, in nanoseconds.
const STEP: u64 = 1_000_000;
/// Weight of a step in the moving average of the load.
const WEIGHT: f64 = 0.125;
/// So many steps behind the last packet nothing is left of its load.
const FORGOTTEN: u64 = 200;

/// Decides when reference packets are sent.
#[derive(Clone, Debug)]
pub struct Injector {
    spacing: Spacing,
    octets_a_step: f64,
    /// The step that runs, and its octets.
    step: u64,
    octets: u64,
    /// Share of the link's rate, as a moving average.
    load: f64,
    /// Packets since the last reference packet.
    packets: u32,
}

impl Injector {
    /// For a link that carries so many octets a second.
    pub fn new(spacing: Spacing, octets_a_second: f64) -> Self {
        let octets_a_step = octets_a_second * STEP as f64 / 1e9;
        Injector { spacing, octets_a_step, step: 0, octets: 0, load: 0.0, packets: 0 }
    }

    /// Takes a packet of so many octets, sent at `nanoseconds`, which never fall: whether a reference packet is sent behind it.
    pub fn is_due_behind(&mut self, nanoseconds: u64, octets: u32) -> bool {
        let step = nanoseconds / STEP;
        for _ in self.step..step.min(self.step + FORGOTTEN) {
            let share = self.octets as f64 / self.octets_a_step;
            self.load += WEIGHT * (share.min(1.0) - self.load);
            self.octets = 0;
        }
        self.step = self.step.max(step);
        self.octets += u64::from(octets);
        self.packets += 1;
        let is_due = self.packets >= self.packets_apart();
        if is_due {
            self.packets = 0;
        }
        is_due
    }

    /// Packets from one reference packet to the next, at the present load.
    pub fn packets_apart(&self) -> u32 {
        match self.spacing {
            Spacing::Static(packets) => packets,
            Spacing::Adaptive(least, most) => {
                // The load is between 0 and 1.
                least + (f64::from(most.saturating_sub(least)) * self.load) as u32
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn static_ones_are_counted() {
        let mut injector = Injector::new(Spacing::Static(3), 1e9);
        let due: [bool; 7] = core::array::from_fn(|packet| injector.is_due_behind(packet as u64, 64));
        assert_eq!(due, [false, false, true, false, false, true, false]);
    }

    #[test]
    fn adaptive_ones_follow_the_load() {
        // An octet a nanosecond; packets of 1000 octets, farther apart the lower the load.
        for (load, expected) in [(0.1, 39), (0.5, 155), (1.0, 300)] {
            let mut injector = Injector::new(Spacing::PAPER, 1e9);
            assert_eq!(injector.packets_apart(), 10);
            let mut nanoseconds = 0.0;
            while nanoseconds < 200e6 {
                injector.is_due_behind(nanoseconds as u64, 1000);
                nanoseconds += 1000.0 / load;
            }
            assert!(injector.packets_apart().abs_diff(expected) <= 1, "{load}: {}", injector.packets_apart());
            // Behind a long silence it is idle, whatever the clock shows.
            injector.is_due_behind(u64::MAX, 1000);
            assert_eq!(injector.packets_apart(), 10);
        }
    }

    proptest! {
        #[test]
        fn never_beyond_its_ends(packets in proptest::collection::vec((any::<u32>(), any::<u32>()), 1..200)) {
            let mut injector = Injector::new(Spacing::PAPER, 1e6);
            let (mut now, mut apart) = (0u64, 0);
            for (gap, octets) in packets {
                now += u64::from(gap);
                apart = if injector.is_due_behind(now, octets) { 0 } else { apart + 1 };
                prop_assert!((10..=300).contains(&injector.packets_apart()) && apart < 300);
            }
        }
    }
}
