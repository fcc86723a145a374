//! Registers: how a host reads and controls a measurement point over any bus of 32-bit words.
//!
//! The map itself (offsets, fields, accessors) is made from `hdl/registers/deltaline.rdl` by `cargo xtask registers`,
//! as are the hardware and `docs/registers.md`. This module has what does not depend on the map.
//!
//! ```
//! use deltaline_model::registers::{Bus, Control, Registers, Role};
//!
//! fn packets<B: Bus>(bus: B) -> Result<u64, B::Error> {
//!     let mut registers = Registers::new(bus);
//!     registers.write_control(Control::default().with_role(Role::Receiver))?;
//!     registers.snapshot()?;
//!     registers.packets()
//! }
//! ```
//!
//! # Test plan
//!
//! Fields lie in their registers without overlap, registers at ascending offsets without overlap; accessors on a bus
//! of plain memory; enumerations equal those of the model. Hardware against [`REGISTERS`]: `sim/cosim`.

mod map;

pub use map::*;

use crate::sketch::mixing::Mixing;

/// A bus with words of 32 bits, such as mapped memory.
pub trait Bus {
    /// Why an access failed; [`core::convert::Infallible`] where none can.
    type Error;

    /// Reads the word at an offset in bytes from the block's first register.
    ///
    /// # Errors
    ///
    /// The bus refuses the access.
    fn read(&mut self, offset: u32) -> Result<u32, Self::Error>;

    /// Writes a whole word.
    ///
    /// # Errors
    ///
    /// The bus refuses the access.
    fn write(&mut self, offset: u32, value: u32) -> Result<(), Self::Error>;
}

/// The registers of a measurement point.
#[derive(Clone, Copy, Debug)]
pub struct Registers<B> {
    bus: B,
}

impl<B> Registers<B> {
    /// The registers behind a bus.
    pub fn new(bus: B) -> Self {
        Registers { bus }
    }
}

impl<B: Bus> Registers<B> {
    /// A register of two words. What is read is consistent if it does not change meanwhile: snapshots do not.
    fn read_long(&mut self, offset: u32) -> Result<u64, B::Error> {
        let low = self.bus.read(offset)?;
        Ok(u64::from(self.bus.read(offset + 4)?) << 32 | u64::from(low))
    }

    /// Schedules a mixing: at the boundary before the first interval whose number is `from` or later, modulo 2^32, it
    /// takes effect. So that this is the same packet at both ends, schedule it at both before that interval begins.
    ///
    /// # Errors
    ///
    /// The bus refuses a write: the design has no mixing, or one that was scheduled waits still.
    pub fn change_mixing(&mut self, mixing: &Mixing, from: u32) -> Result<(), B::Error> {
        self.write_mixing_matrix(mixing.matrix())?;
        self.write_mixing_offset(mixing.offset())?;
        self.write_mixing_id(mixing.id())?;
        self.write_mixing_from(from)?;
        self.mixing_schedule()
    }

    fn write_long(&mut self, offset: u32, value: u64) -> Result<(), B::Error> {
        self.bus.write(offset, value as u32)?;
        self.bus.write(offset + 4, (value >> 32) as u32)
    }
}

/// A register.
#[derive(Clone, Copy, Debug)]
pub struct Register {
    /// Its name in the source.
    pub name: &'static str,
    /// Bytes from the first register.
    pub offset: u32,
    /// Bits: 32 or 64.
    pub width: u32,
    /// The hardware may refuse every write to it.
    pub guarded: bool,
    /// Its fields, lowest first.
    pub fields: &'static [Field],
}

/// Some bits of a register.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Its name in the source.
    pub name: &'static str,
    /// Lowest bit in the register.
    pub low: u32,
    /// Bits.
    pub width: u32,
    /// What it is.
    pub kind: Kind,
    /// What may be written.
    pub legal: Legal,
}

/// What a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Always this value.
    Constant(u64),
    /// Constant in hardware, given when it was emitted.
    Emitted,
    /// The hardware's value at the moment of reading.
    Input,
    /// The hardware's value at the last snapshot, zero before the first.
    Snapshot,
    /// What was written last, zero after reset.
    Storage,
    /// The same, but it reads as zero.
    Secret,
    /// Writing 1 acts once; reads as zero.
    Strobe,
}

/// What may be written to a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Legal {
    /// Every value.
    Any,
    /// Values up to this one.
    UpTo(u64),
    /// These values.
    Only(&'static [u64]),
}

impl Legal {
    /// Whether hardware takes the value.
    pub fn allows(self, value: u64) -> bool {
        match self {
            Legal::Any => true,
            Legal::UpTo(maximum) => value <= maximum,
            Legal::Only(values) => values.contains(&value),
        }
    }
}

impl Register {
    /// A port's name in the hardware: the register's, and the field's where there are several.
    pub fn port(&self, field: &Field) -> alloc::string::String {
        match self.fields {
            [_] => self.name.into(),
            _ => alloc::format!("{}_{}", self.name, field.name),
        }
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use core::convert::Infallible;
    use std::vec;
    use std::vec::Vec;

    struct Memory(Vec<u32>);

    impl Bus for &mut Memory {
        type Error = Infallible;

        fn read(&mut self, offset: u32) -> Result<u32, Infallible> {
            Ok(self.0[offset as usize / 4])
        }

        fn write(&mut self, offset: u32, value: u32) -> Result<(), Infallible> {
            self.0[offset as usize / 4] = value;
            Ok(())
        }
    }

    #[test]
    fn nothing_overlaps() {
        let mut end = 0;
        for register in &REGISTERS {
            assert!(
                register.offset >= end && register.offset.is_multiple_of(register.width / 8),
                "{}",
                register.name
            );
            end = register.offset + register.width / 8;
            let mut bit = 0;
            for field in register.fields {
                assert!(field.low >= bit && field.width > 0, "{}.{}", register.name, field.name);
                bit = field.low + field.width;
            }
            assert!(bit <= register.width);
        }
    }

    #[test]
    fn accessors_reach_their_words() {
        let mut memory = Memory(vec![0; 64]);
        let mut registers = Registers::new(&mut memory);
        let control = Control::default()
            .with_role(Role::Receiver)
            .with_interval_source(IntervalSource::Clock)
            .with_interval_log2(30);
        registers.write_control(control).unwrap();
        assert_eq!(registers.control(), Ok(control));
        assert_eq!(control.with_interval_log2(30).interval_log2(), 30);
        registers.write_clock_rate(-2).unwrap();
        assert_eq!(registers.clock_rate(), Ok(-2));
        registers.write_clock_value(0x0123_4567_89ab_cdef).unwrap();
        assert_eq!(registers.clock_value(), Ok(0x0123_4567_89ab_cdef));
        registers.snapshot().unwrap();
        assert_eq!(memory.0[0x20 / 4], 0x1e11);
        assert_eq!(memory.0[0x28 / 4], 1);
        assert_eq!(memory.0[0x78 / 4], 0xffff_fffe);
        assert_eq!(memory.0[0x80 / 4..][..2], [0x89ab_cdef, 0x0123_4567]);
    }

    #[test]
    fn values_that_the_map_does_not_know() {
        assert_eq!(Control(0x20).interval_source(), None);
        assert_eq!(Control(0x10).interval_source(), Some(IntervalSource::Clock));
        assert_eq!(Capability::default().with_rows_log2(0xffff).0, Capability::ROWS_LOG2);
    }

    #[test]
    fn enumerations_are_those_of_the_model() {
        use crate::packet::hash;
        use crate::wire::frame;
        assert_eq!(Role::Receiver as u32, frame::Role::Receiver as u32);
        assert_eq!(Role::Sender as u32, frame::Role::Sender as u32);
        assert_eq!(HashKind::H3 as u32, hash::HashKind::H3 as u32);
        assert_eq!(HashKind::Rabin as u32, hash::HashKind::Rabin as u32);
    }
}
