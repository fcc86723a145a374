//! Pins: where the tops' ports are on the boards.
//!
//! Clock and LEDs are those of the crate `rust-hdl-bsp-alchitry-cu`, which a test compares; it does not know the
//! button and the serial line, which are the ones of the board's schematic. `constraints/` holds what [`pcf`] writes.
//!
//! # Test plan
//!
//! Clock and LEDs against the crate; every port of a top has one pin and no pin is used twice; the committed file is
//! what is written.

use std::fmt::Write as _;

/// A port of a top and its place on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pin {
    /// The port.
    pub port: &'static str,
    /// The ball of the FPGA.
    pub pad: &'static str,
    /// The FPGA's own pull-up, for inputs that may be left open.
    pub pull_up: bool,
    /// What it is on the board.
    pub what: &'static str,
}

const fn pin(port: &'static str, pad: &'static str, what: &'static str) -> Pin {
    Pin { port, pad, pull_up: false, what }
}

/// The self-test on the Alchitry Cu.
pub const ALCHITRY_CU_SELFTEST: [Pin; 8] = [
    pin("clk", "P7", "oscillator, 100 MHz"),
    Pin { pull_up: true, ..pin("rst_n", "P8", "reset button, low while it is held down") },
    Pin { pull_up: true, ..pin("usb_rx", "P14", "from the USB bridge, channel B") },
    pin("usb_tx", "M9", "to the USB bridge, channel B"),
    pin("led_alive", "J11", "LED 0"),
    pin("led_loss", "K11", "LED 1"),
    pin("led_overrun", "K12", "LED 2"),
    pin("led_flow", "K14", "LED 3"),
];

/// Pin constraints as nextpnr reads them.
pub fn pcf(title: &str, pins: &[Pin]) -> String {
    let mut text =
        format!("# {title}\n# Written from firmware/src/pins.rs, which says where the pins are from.\n");
    for Pin { port, pad, pull_up, what } in pins {
        let option = if *pull_up { "-pullup yes " } else { "" };
        let _ = writeln!(text, "\n# {what}\nset_io {option}{port} {pad}");
    }
    text
}

/// The constraints of the self-test: `constraints/alchitry-cu-selftest.pcf`.
pub fn alchitry_cu_selftest() -> String {
    pcf("Alchitry Cu, top selftest (iCE40 HX8K, cb132)", &ALCHITRY_CU_SELFTEST)
}
