//! Timestamps: PTP relative-64, as open Ethernet MACs deliver them.
//!
//! | bits  | meaning |
//! |-------|---------|
//! | 63:16 | nanoseconds, modulo 2^48 (wraps every 3.26 days) |
//! | 15:0  | fraction of a nanosecond, in units of 2^-16 ns |

/// A moment in PTP relative-64 format.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Timestamp(pub u64);

impl Timestamp {
    /// The moment `nanoseconds` after the clock's epoch; bits above 2^48 ns are dropped, the fraction is zero.
    pub fn from_nanoseconds(nanoseconds: u64) -> Self {
        Timestamp(nanoseconds << 16)
    }

    /// Whole nanoseconds since the clock's epoch, modulo 2^48.
    pub fn nanoseconds(self) -> u64 {
        self.0 >> 16
    }
}
