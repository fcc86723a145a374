//! Clocks: where the core's time comes from when no relative-64 clock is at hand.
//!
//! * [`TimeOfDayConverter`] makes relative-64 of a time-of-day-96 clock, or of the timestamps of a stream.
//! * [`AdjustableClock`] is a clock of its own, which software steers.
//!
//! Both are the twins of the hardware's modules cycle by cycle, latency included.
//!
//! # The adjustable clock
//!
//! 80 bits: 48 bits of nanoseconds and 32 bits of fraction, of which relative-64 shows the upper 16. Every cycle
//! adds `period + rate`, which software keeps equal to the true length of a cycle:
//!
//! * `period` is the nominal length, from the clock's frequency ([`period`]); `rate` is what the servo finds, in
//!   2^-32 ns a cycle. At 125 MHz one unit is 0.03 parts in 10^9, and the range 6 %.
//! * `slew` spreads a small offset over 2^16 cycles: the 32 bits of `offset`, in units of 2^-16 ns (32.8 us either
//!   way), are added 2^16 times with the weight of 2^-32 ns. That is exact, and divides nothing.
//! * `step` adds a 64-bit difference at once, `set` replaces the time.
//!
//! Rate and slew take away half a nanosecond each at most. With a period of at least 1 ns time therefore never
//! runs backwards but by a step, which is reported (`stepped`) and for which `locked` is low, so that the interval
//! is flagged.
//!
//! # Test plan
//!
//! Rate, slew, step, and set by hand; latency; time never goes backwards at the extremes; periods of common
//! frequencies. The cosimulation compares with the hardware, and both with arithmetic in closed form.

use crate::time::{TimeOfDay, Timestamp};

/// Cycles from a time of day to its relative-64.
pub const CONVERSION_LATENCY: usize = 4;
/// Cycles from the adjustable clock's controls to the time that obeys them.
pub const CLOCK_LATENCY: usize = 4;
/// Cycles that a slew takes.
pub const SLEW_CYCLES: u32 = 1 << 16;

const PERIOD_MASK: u64 = (1 << 40) - 1;
const TIME_MASK: u128 = (1 << 80) - 1;

/// The adjustable clock's period at a frequency, in units of 2^-32 ns, rounded.
///
/// `None` unless it is at least 1 ns and below 256 ns: 3.90625 MHz < `hertz` <= 1 GHz.
pub fn period(hertz: u64) -> Option<u64> {
    let cycle = ((1_000_000_000 << 32) + u128::from(hertz) / 2).checked_div(u128::from(hertz))?;
    (1 << 32..1 << 40).contains(&cycle).then_some(cycle as u64)
}

/// Gives back what it got N cycles ago; at first, default values.
#[derive(Clone, Debug)]
struct Delay<T, const N: usize> {
    line: [T; N],
    next: usize,
}

impl<T: Copy + Default, const N: usize> Default for Delay<T, N> {
    fn default() -> Self {
        Delay { line: [T::default(); N], next: 0 }
    }
}

impl<T: Copy, const N: usize> Delay<T, N> {
    fn tick(&mut self, value: T) -> T {
        self.line[self.next] = value;
        self.next = (self.next + 1) % N;
        self.line[self.next]
    }
}

/// Time of day in, relative-64 out, one a cycle.
#[derive(Clone, Debug, Default)]
pub struct TimeOfDayConverter {
    delay: Delay<Timestamp, CONVERSION_LATENCY>,
}

impl TimeOfDayConverter {
    /// One clock cycle: the output behind the edge that takes `time` in.
    pub fn tick(&mut self, time: TimeOfDay) -> Timestamp {
        self.delay.tick(time.into())
    }
}

/// What is asked of the adjustable clock in a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Controls {
    /// Nominal length of a cycle, 40 bits in units of 2^-32 ns; at least 2^32, or time may run backwards.
    pub period: u64,
    /// What a cycle is longer than that, in units of 2^-32 ns.
    pub rate: i32,
    /// Begin to spread `offset`; what is left of a slew before is dropped.
    pub slew: bool,
    /// What a slew adds to the time, in units of 2^-16 ns.
    pub offset: i32,
    /// Add `value` to the time, modulo 2^64, at once. Drops what is left of a slew.
    pub step: bool,
    /// Replace the time with `value`; also if `step` is given. Drops what is left of a slew.
    pub set: bool,
    /// Relative-64.
    pub value: u64,
    /// Software holds the clock to its reference.
    pub synchronised: bool,
}

/// What the adjustable clock shows behind a cycle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reading {
    /// The time.
    pub time: Timestamp,
    /// This is the first time behind a set or a step.
    pub stepped: bool,
    /// The clock was said to be synchronised, and this time is not behind a step.
    pub locked: bool,
}

/// A relative-64 clock that software steers.
#[derive(Clone, Debug, Default)]
pub struct AdjustableClock {
    time: u128,
    slew: i32,
    slew_left: u32,
    delay: Delay<Reading, CLOCK_LATENCY>,
}

impl AdjustableClock {
    /// One clock cycle: the outputs behind the edge that takes `controls` in.
    pub fn tick(&mut self, controls: &Controls) -> Reading {
        let stepped = controls.set || controls.step;
        let cycle = i128::from(controls.period & PERIOD_MASK) + i128::from(controls.rate);
        let (start, extra) = match (stepped, self.slew_left > 0) {
            (true, _) if controls.set => (0, i128::from(controls.value) << 16),
            (true, _) => (self.time, i128::from(controls.value) << 16),
            (false, true) => (self.time, i128::from(self.slew)),
            (false, false) => (self.time, 0),
        };
        self.time = start.wrapping_add_signed(cycle + extra) & TIME_MASK;
        self.slew_left = match (stepped, controls.slew) {
            (true, _) => 0,
            (false, true) => SLEW_CYCLES,
            (false, false) => self.slew_left.saturating_sub(1),
        };
        if controls.slew {
            self.slew = controls.offset;
        }
        self.delay.tick(Reading {
            time: Timestamp((self.time >> 16) as u64),
            stepped,
            locked: controls.synchronised && !stepped,
        })
    }

    /// A slew is under way: shown at once, without the latency of the time.
    pub fn slewing(&self) -> bool {
        self.slew_left > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NANOSECOND: u64 = 1 << 16;

    fn at_125_mhz() -> Controls {
        Controls { period: period(125_000_000).unwrap(), ..Controls::default() }
    }

    /// The time that the clock has come to, as it will be shown.
    fn settled(clock: &AdjustableClock, controls: &Controls) -> u64 {
        let mut clock = clock.clone();
        let quiet = Controls { set: false, step: false, slew: false, ..*controls };
        let mut reading = Reading::default();
        for _ in 1..CLOCK_LATENCY {
            reading = clock.tick(&quiet);
        }
        reading.time.0
    }

    #[test]
    fn periods() {
        assert_eq!(period(1_000_000_000), Some(1 << 32));
        assert_eq!(period(125_000_000), Some(8 << 32));
        assert_eq!(period(156_250_000), Some(27_487_790_694)); // 6.4 ns
        assert_eq!(period(100_000_000), Some(10 << 32));
        for refused in [0, 1, 3_906_250, 1_000_000_001, u64::MAX] {
            assert_eq!(period(refused), None, "{refused}");
        }
        assert!(period(3_906_251).is_some());
    }

    #[test]
    fn the_time_obeys_after_four_cycles() {
        let mut clock = AdjustableClock::default();
        let set = Controls { set: true, value: 1000 * NANOSECOND, synchronised: true, ..at_125_mhz() };
        let run = Controls { synchronised: true, ..at_125_mhz() };
        let readings: [Reading; 6] =
            core::array::from_fn(|cycle| clock.tick(if cycle == 1 { &set } else { &run }));
        let reading = |nanoseconds, stepped, locked| Reading {
            time: Timestamp::from_nanoseconds(nanoseconds),
            stepped,
            locked,
        };
        assert_eq!(readings[2], Reading::default());
        assert_eq!(readings[3], reading(8, false, true));
        assert_eq!(readings[4], reading(1008, true, false));
        assert_eq!(readings[5], reading(1016, false, true));
    }

    #[test]
    fn rates_add_up() {
        let mut clock = AdjustableClock::default();
        // 8 ns less 2^-9 ns: 4096 cycles are 8 ns short.
        let controls = Controls { rate: -(1 << 23), ..at_125_mhz() };
        for _ in 0..4096 {
            clock.tick(&controls);
        }
        assert_eq!(clock.time, (4095 * 8) << 32);
    }

    #[test]
    fn a_slew_adds_exactly_its_offset() {
        for offset in [1, -1, 77_777, -65_536, i32::MAX, i32::MIN] {
            let mut clock = AdjustableClock::default();
            clock.tick(&Controls { set: true, value: 1 << 40, ..at_125_mhz() });
            clock.tick(&Controls { slew: true, offset, ..at_125_mhz() });
            let mut before = clock.time;
            for _ in 0..SLEW_CYCLES {
                assert!(clock.slewing());
                clock.tick(&at_125_mhz());
                assert!(clock.time > before);
                before = clock.time;
            }
            assert!(!clock.slewing());
            let unslewed = (1u64 << 40) + (u64::from(SLEW_CYCLES) + 2) * 8 * NANOSECOND;
            assert_eq!(settled(&clock, &at_125_mhz()), unslewed.wrapping_add_signed(offset.into()));
        }
    }

    #[test]
    fn a_step_is_relative_and_ends_a_slew() {
        let mut clock = AdjustableClock::default();
        clock.tick(&Controls { set: true, value: 500 * NANOSECOND, ..at_125_mhz() });
        clock.tick(&Controls { slew: true, offset: 1 << 30, ..at_125_mhz() });
        let back = 100 * NANOSECOND;
        clock.tick(&Controls { step: true, slew: true, value: back.wrapping_neg(), ..at_125_mhz() });
        assert!(!clock.slewing());
        assert_eq!(settled(&clock, &at_125_mhz()), (500 + 3 * 8 - 100) * NANOSECOND);
    }

    #[test]
    fn time_moves_forward_at_the_extremes() {
        let slowest = Controls { period: 1 << 32, rate: i32::MIN, offset: i32::MIN, ..Controls::default() };
        let mut clock = AdjustableClock::default();
        clock.tick(&Controls { slew: true, ..slowest });
        let start = clock.time;
        for _ in 0..100 {
            clock.tick(&slowest);
        }
        assert_eq!(clock.time, start, "1 ns less twice half a nanosecond");
        clock.tick(&Controls { rate: i32::MIN + 1, ..slowest });
        assert_eq!(clock.time, start + 1);
    }
}
