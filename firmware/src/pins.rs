//! Pins: where the tops' ports are on the boards.
//!
//! Clock, LEDs and header pins are those of the crate `rust-hdl-bsp-alchitry-cu`, and a test compares them. The
//! crate lacks the button and the serial line, which are taken from the board's schematic. `constraints/` holds the
//! output of [`pcf`].
//!
//! # Test plan
//!
//! Clock, LEDs and header pins against the crate. Every port of a top has one pin, and no pin is used twice. The
//! committed files are those that `pcf` writes.

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
    /// Its function on the board.
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

/// The RMII tap on the Alchitry Cu. G1 and H1 are the two pads of its headers that reach a global buffer (GBIN7, GBIN6).
pub const ALCHITRY_CU_RMII_TAP: [Pin; 16] = [
    pin("clk", "P7", "oscillator, 100 MHz"),
    Pin { pull_up: true, ..pin("rst_n", "P8", "reset button, low while it is held down") },
    Pin { pull_up: true, ..pin("usb_rx", "P14", "from the USB bridge, channel B") },
    pin("usb_tx", "M9", "to the USB bridge, channel B"),
    pin("ingress_clk", "G1", "header A8: ingress PHY, reference clock, 50 MHz"),
    pin("ingress_crs_dv", "G3", "header A9: ingress PHY, CRS_DV"),
    pin("ingress_rxd_0", "J1", "header A5: ingress PHY, RXD0"),
    pin("ingress_rxd_1", "J3", "header A6: ingress PHY, RXD1"),
    pin("egress_clk", "H1", "header A42: egress PHY, reference clock, 50 MHz"),
    pin("egress_crs_dv", "H3", "header A43: egress PHY, CRS_DV"),
    pin("egress_rxd_0", "H4", "header A39: egress PHY, RXD0"),
    pin("egress_rxd_1", "G4", "header A40: egress PHY, RXD1"),
    pin("led_alive", "J11", "LED 0"),
    pin("led_ingress", "K11", "LED 1"),
    pin("led_egress", "K12", "LED 2"),
    pin("led_bad", "K14", "LED 3"),
];

/// Pin constraints as nextpnr reads them, and the frequencies in MHz of nets that are clocks but not the board's.
pub fn pcf(title: &str, pins: &[Pin], clocks: &[(&str, u32)]) -> String {
    let mut text =
        format!("# {title}\n# Written from firmware/src/pins.rs, which gives the source of the pins.\n");
    for Pin { port, pad, pull_up, what } in pins {
        let option = if *pull_up { "-pullup yes " } else { "" };
        let _ = writeln!(text, "\n# {what}\nset_io {option}{port} {pad}");
    }
    for (net, mhz) in clocks {
        let _ = writeln!(text, "\nset_frequency {net} {mhz}");
    }
    text
}

/// The constraints of the self-test: `constraints/alchitry-cu-selftest.pcf`.
pub fn alchitry_cu_selftest() -> String {
    pcf("Alchitry Cu, top selftest (iCE40 HX8K, cb132)", &ALCHITRY_CU_SELFTEST, &[])
}

/// The constraints of the RMII tap: `constraints/alchitry-cu-rmii-tap.pcf`.
pub fn alchitry_cu_rmii_tap() -> String {
    let clocks = [("ingress_pad_clk", 50), ("egress_pad_clk", 50)];
    pcf("Alchitry Cu, top rmii-tap (iCE40 HX8K, cb132)", &ALCHITRY_CU_RMII_TAP, &clocks)
}
