//! Adjustable clock: a relative-64 clock of its own, which software steers.
//!
//! # Theory of operation
//!
//! Twin of `deltaline_model::clock::AdjustableClock`, where the units are explained. The time has 80 bits: 48 of
//! nanoseconds, 32 of fraction. Every cycle adds an increment: period, rate, and a share of the slew or a step.
//!
//! An adder of 80 bits would be slow. The time is two halves of 40 bits; the upper half does everything one cycle
//! after the lower, with its carry, and the lower waits for it at the output. The lower half is a period's own
//! width: 8 bits of nanoseconds and the fraction. A set takes the increment, which holds the value, for the sum: as
//! a choice behind the adder this fits into the adder's own LUTs, and takes no time before it.
//!
//! ```text
//! cycle         1                  2                  3                  4
//!        base  = period + rate
//!        extra = slew or value  -> lower increment -> lower time      -> lower time shown
//!                                                     upper increment -> upper time, shown
//! ```
//!
//! # Ports
//!
//! | port | direction | width | meaning |
//! |------|-----------|-------|---------|
//! | clk, rst | in | 1 | clock; synchronous reset: the time restarts from zero |
//! | period | in | 40 | nominal length of a cycle in 2^-32 ns (125 MHz: 8 x 2^32); at least 1 ns |
//! | rate | in | 32 | signed: added to it every cycle, in 2^-32 ns |
//! | slew | in | 1 | pulse: spread `offset` over the 65,536 cycles behind this one, in place of what is left of a slew |
//! | offset | in | 32 | signed: what a slew adds, in 2^-16 ns; read with `slew` |
//! | step | in | 1 | pulse: add `value` to the time, modulo 2^64; ends a slew |
//! | set | in | 1 | pulse: the time goes on from `value`; ends a slew |
//! | value | in | 64 | PTP relative-64, or a difference of two; read with `set` and `step` |
//! | synchronised | in | 1 | software holds the clock to its reference |
//! | ptp_ts | out | 64 | the time, PTP relative-64, straight from registers |
//! | stepped | out | 1 | with the first time behind a set or a step |
//! | locked | out | 1 | `synchronised`, and not `stepped`: for the core's `ptp_locked`, which flags the interval |
//! | slewing | out | 1 | a slew is under way; told in the next cycle |
//!
//! `set` wins over `step`, and both over `slew`. Period and rate may change in any cycle.
//!
//! Latency four cycles from every input to `ptp_ts`, `stepped` and `locked`. `set` in cycle t makes the time in
//! cycle t + 4 `value` and one increment. But for a set or a step, time never runs backwards, whatever rate and
//! slew are. No parameters.
//!
//! Cost before placement (`cargo xtask cost`): iCE40 344 LUT4, 410 flip-flops;
//! ECP5 446 LUT4, 410 flip-flops.
//!
//! # Test plan
//!
//! `sim/cosim`: every cycle against the twin and against sums in closed form: random rates, slews, steps and sets,
//! alone, together and on each other's heels; extremes of each; carries between the halves both ways; the wrap at
//! 2^48 ns; a slew's last cycle; reset under way. A servo on a drifting oscillator stays within the bound that its
//! gains give.

use crate::leaves::Flop;
use deltaline_hdl_macros::clocked;
use rust_hdl_core::prelude::*;

/// See the [module](self).
#[derive(LogicBlock, Default)]
pub struct AdjustableClock {
    pub clk: Signal<In, Clock>,
    pub rst: Signal<In, Bit>,
    pub period: Signal<In, Bits<40>>,
    pub rate: Signal<In, Bits<32>>,
    pub slew: Signal<In, Bit>,
    pub offset: Signal<In, Bits<32>>,
    pub step: Signal<In, Bit>,
    pub set: Signal<In, Bit>,
    pub value: Signal<In, Bits<64>>,
    pub synchronised: Signal<In, Bit>,
    pub ptp_ts: Signal<Out, Bits<64>>,
    pub stepped: Signal<Out, Bit>,
    pub locked: Signal<Out, Bit>,
    pub slewing: Signal<Out, Bit>,

    // The slew.
    slew_share: Flop<Bits<32>>,
    slew_left: Flop<Bits<17>>,
    is_slewing: Signal<Local, Bit>,
    steps: Signal<Local, Bit>,

    // Cycle 1. The base is signed: a negative rate with a period of zero makes it negative.
    base_left: Signal<Local, Bits<42>>,
    base_right: Signal<Local, Bits<42>>,
    base: Flop<Bits<42>>,
    extra_lower: Flop<Bits<40>>,
    extra_upper: Flop<Bits<40>>,

    // Cycle 2. One bit longer: the carry.
    increment_left: Signal<Local, Bits<41>>,
    increment_right: Signal<Local, Bits<41>>,
    increment_lower: Flop<Bits<41>>,
    base_sign: Flop<Bits<2>>,
    extra_upper_late: Flop<Bits<40>>,

    // Cycle 3. The carry enters the upper half below its lowest bit.
    lower_left: Signal<Local, Bits<41>>,
    lower_right: Signal<Local, Bits<41>>,
    lower_sum: Signal<Local, Bits<41>>,
    lower: Flop<Bits<40>>,
    lower_carry: Flop<Bit>,
    base_upper: Signal<Local, Bits<40>>,
    carried_left: Signal<Local, Bits<41>>,
    carried_right: Signal<Local, Bits<41>>,
    carried_sum: Signal<Local, Bits<41>>,
    increment_upper: Flop<Bits<40>>,

    // Cycle 4.
    upper_left: Signal<Local, Bits<41>>,
    upper_right: Signal<Local, Bits<41>>,
    upper_sum: Signal<Local, Bits<41>>,
    upper: Flop<Bits<40>>,
    lower_shown: Flop<Bits<24>>,

    /// Index i: i + 1 cycles ago.
    has_set: [Flop<Bit>; 3],
    has_stepped: [Flop<Bit>; 4],
    has_locked: [Flop<Bit>; 4],
}

impl Logic for AdjustableClock {
    #[clocked(
        slew_share,
        slew_left,
        base,
        extra_lower,
        extra_upper,
        increment_lower,
        base_sign,
        extra_upper_late,
        lower,
        lower_carry,
        increment_upper,
        upper,
        lower_shown
    )]
    fn update(&mut self) {
        for i in 0..3 {
            self.has_set[i].clock.next = self.clk.val();
            self.has_set[i].rst.next = self.rst.val();
        }
        for i in 0..4 {
            self.has_stepped[i].clock.next = self.clk.val();
            self.has_stepped[i].rst.next = self.rst.val();
            self.has_locked[i].clock.next = self.clk.val();
            self.has_locked[i].rst.next = self.rst.val();
        }

        // The slew.
        self.steps.next = self.set.val() | self.step.val();
        self.is_slewing.next = self.slew_left.q.val().any();
        if self.slew.val() {
            self.slew_share.d.next = self.offset.val();
        }
        if self.is_slewing.val() {
            self.slew_left.d.next = self.slew_left.q.val() - 1;
        }
        if self.slew.val() {
            self.slew_left.d.next = 0x10000.into();
        }
        if self.steps.val() {
            self.slew_left.d.next = 0.into();
        }
        self.slewing.next = self.is_slewing.val();

        // Cycle 1.
        self.base_left.next = bit_cast::<42, 40>(self.period.val());
        self.base_right.next = bit_cast::<42, 32>(self.rate.val());
        if self.rate.val().get_bit(31) {
            self.base_right.next = bit_cast::<42, 32>(self.rate.val()) | 0x3ff_0000_0000_u64;
        }
        self.base.d.next = self.base_left.val() + self.base_right.val();
        self.extra_lower.d.next = 0.into();
        self.extra_upper.d.next = 0.into();
        if self.steps.val() {
            self.extra_lower.d.next = bit_cast::<40, 24>(self.value.val().get_bits::<24>(0)) << 16;
            self.extra_upper.d.next = self.value.val().get_bits::<40>(24);
        } else if self.is_slewing.val() {
            self.extra_lower.d.next = bit_cast::<40, 32>(self.slew_share.q.val());
            if self.slew_share.q.val().get_bit(31) {
                self.extra_lower.d.next = bit_cast::<40, 32>(self.slew_share.q.val()) | 0xff_0000_0000_u64;
                self.extra_upper.d.next = 0xff_ffff_ffff_u64.into();
            }
        }

        // Cycle 2.
        self.increment_left.next = bit_cast::<41, 40>(self.base.q.val().get_bits::<40>(0));
        self.increment_right.next = bit_cast::<41, 40>(self.extra_lower.q.val());
        self.increment_lower.d.next = self.increment_left.val() + self.increment_right.val();
        self.base_sign.d.next = self.base.q.val().get_bits::<2>(40);
        self.extra_upper_late.d.next = self.extra_upper.q.val();

        // Cycle 3.
        self.lower_left.next = bit_cast::<41, 40>(self.lower.q.val());
        self.lower_right.next = bit_cast::<41, 40>(self.increment_lower.q.val().get_bits::<40>(0));
        self.lower_sum.next = self.lower_left.val() + self.lower_right.val();
        self.lower.d.next = self.lower_sum.val().get_bits::<40>(0);
        if self.has_set[1].q.val() {
            self.lower.d.next = self.increment_lower.q.val().get_bits::<40>(0);
        }
        // Behind a set the upper half does not look at it.
        self.lower_carry.d.next = self.lower_sum.val().get_bit(40);
        self.base_upper.next = bit_cast::<40, 2>(self.base_sign.q.val());
        if self.base_sign.q.val().get_bit(1) {
            self.base_upper.next = 0xff_ffff_ffff_u64.into();
        }
        self.carried_left.next = (bit_cast::<41, 40>(self.extra_upper_late.q.val()) << 1) | 1;
        self.carried_right.next = bit_cast::<41, 40>(self.base_upper.val()) << 1;
        if self.increment_lower.q.val().get_bit(40) {
            self.carried_right.next = self.carried_right.val() | 1;
        }
        self.carried_sum.next = self.carried_left.val() + self.carried_right.val();
        self.increment_upper.d.next = self.carried_sum.val().get_bits::<40>(1);

        // Cycle 4.
        self.upper_left.next = (bit_cast::<41, 40>(self.upper.q.val()) << 1) | 1;
        self.upper_right.next = bit_cast::<41, 40>(self.increment_upper.q.val()) << 1;
        if self.lower_carry.q.val() {
            self.upper_right.next = self.upper_right.val() | 1;
        }
        self.upper_sum.next = self.upper_left.val() + self.upper_right.val();
        self.upper.d.next = self.upper_sum.val().get_bits::<40>(1);
        if self.has_set[2].q.val() {
            self.upper.d.next = self.increment_upper.q.val();
        }
        self.lower_shown.d.next = self.lower.q.val().get_bits::<24>(16);
        self.ptp_ts.next =
            (bit_cast::<64, 40>(self.upper.q.val()) << 24) | bit_cast::<64, 24>(self.lower_shown.q.val());

        // What is told along with the time.
        self.has_set[0].d.next = self.set.val();
        self.has_stepped[0].d.next = self.steps.val();
        self.has_locked[0].d.next = self.synchronised.val() & !self.steps.val();
        for i in 0..2 {
            self.has_set[i + 1].d.next = self.has_set[i].q.val();
        }
        for i in 0..3 {
            self.has_stepped[i + 1].d.next = self.has_stepped[i].q.val();
            self.has_locked[i + 1].d.next = self.has_locked[i].q.val();
        }
        self.stepped.next = self.has_stepped[3].q.val();
        self.locked.next = self.has_locked[3].q.val();
    }
}
