//! Boards that measure: tops in RustHDL around the measurement cores, their pins and their Verilog.
//!
//! [`selftest`] is the top for a bare board with a USB cable, and [`rmii_tap`] the one that measures a device
//! between two Ethernet PHYs. Their messages and behaviour are defined in `deltaline_model::board`.
// Ports are documented in each module's port table, where all of them can be compared.
#![allow(missing_docs)]

pub mod byte_crossing;
pub mod clock_pad;
pub mod commands;
pub mod conductor;
pub mod delay_line;
pub mod framer;
pub mod pacer;
pub mod packet;
pub mod pausing_clock;
pub mod pins;
pub mod plan;
pub mod power_on_reset;
pub mod records;
pub mod register_slice;
pub mod rmii;
pub mod rmii_tap;
pub mod selftest;
pub mod state_register;
pub mod tap_records;
pub mod truth;
pub mod uart;
