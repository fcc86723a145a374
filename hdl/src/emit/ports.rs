//! What the ports of cores and shells mean.
//!
//! # Test plan
//!
//! `hdl/tests/package.rs`: every port of the default design has a meaning.

/// What ports of cores and shells mean, in short; the long form is in the port tables of the modules. Lanes' ports
/// (s0_axis_tdata) mean what those of a single lane do.
const PORTS: [(&str, &str); 70] = [
    ("clk", "clock of all ports"),
    ("rst", "synchronous reset, active high; memories are cleared behind it"),
    ("s_axis_tdata", "observed stream, first byte in bits 7:0, no FCS"),
    ("s_axis_tkeep", "contiguous, partial only with tlast"),
    ("s_axis_tvalid", "a beat is observed when tvalid and tready are high"),
    ("s_axis_tready", "as an input: nothing is driven back; as an output: low while a frame is inserted"),
    ("s_axis_tlast", "last beat of a frame"),
    (
        "s_axis_tuser",
        "bit 0 with tlast: bad frame; bits from 1 on, if any, with the first beat: timestamp, as ptp_ts or ptp_ts_96",
    ),
    ("interval_end", "end the interval behind this cycle, and flag it; in line: insert a delimiter"),
    (
        "interval_log2",
        "0 or 48..63: never; else end intervals by the clock, where bit n of its nanoseconds changes",
    ),
    ("ptp_ts", "the clock, ns in 63:16; 0 if intervals do not end by it"),
    ("ptp_ts_96", "the clock as PTP time of day: seconds in 95:48, ns in 45:16"),
    ("ptp_locked", "low: the interval is flagged"),
    ("receiver", "strap: 0 sender, 1 receiver"),
    ("point_id", "identifier of the measurement point in its control frames, 0 for none"),
    ("absolute_time", "time base in 55:48 (1 TAI, 2 Unix), seconds below; 0 for none"),
    ("least_interval", "cycles from an interval's end to the next, at least; 0 for none"),
    ("schedule", "strobe: next_prefixes from interval from_interval on; 0 unless adaptive"),
    ("next_prefixes", "prefix lengths, a byte a bank, the first in 63:56, 255 for none"),
    ("from_interval", "number of the first interval with them"),
    ("schedule_legal", "next_prefixes may be scheduled"),
    ("schedule_pending", "scheduled prefix lengths wait for their interval"),
    ("schedule_mixing", "strobe: next_mixing from interval from_mixing on; 0 unless there is a mixing"),
    ("next_mixing", "matrix in 62:0, offset in 94:63; constant while mixing_pending, as the next two"),
    ("next_mixing_id", "its identifier in control frames; 0 for the design's own"),
    ("from_mixing", "number of the first interval with it"),
    ("mixing_pending", "a scheduled mixing waits for its interval"),
    ("running", "memories are clear: counting"),
    ("packets", "measured packets of the running interval so far"),
    ("bytes", "their IP octets, as the length fields of their IP headers have them"),
    ("unmeasured", "frames that are not measured, of the running interval"),
    ("bad", "frames that the MAC marked bad, of the running interval"),
    ("unmatched", "measured frames of no class, part of the unmeasured ones"),
    ("interval", "number of the running interval"),
    ("draining", "the last interval is being sent"),
    ("too_soon", "least_interval is not over: an end would be refused"),
    ("ended", "an interval ends behind this cycle"),
    ("refused", "an interval end was refused"),
    ("gap", "with ended: a delimiter is missing"),
    ("delimiter", "a delimiter of this measurement has come"),
    (
        "m_axis_tdata",
        "control frames, first byte in bits 7:0, no FCS; in line: the stream with frames inserted",
    ),
    ("m_axis_tkeep", "contiguous, partial only with tlast"),
    ("m_axis_tvalid", "of a shell: without gaps within inserted or control frames"),
    ("m_axis_tready", "a beat is taken when tvalid and tready are high"),
    ("m_axis_tlast", "last beat of a frame"),
    (
        "m_axis_tuser",
        "zero; in line: bit 0 as s_axis_tuser's, above it the timestamp that was taken, zero for inserted frames",
    ),
    (
        "reference_spacing",
        "a reference packet behind every so many other frames of m_axis; 0: none, and the count begins anew; may change at any time",
    ),
    (
        "reference_next",
        "number of the reference packet that is sent next, or is being sent; from 0 behind a reset",
    ),
    (
        "reference_there",
        "a reference packet of this measurement has come: of a tap two cycles behind its last beat, with the clock time-of-day six; in line later, as its frames are",
    ),
    ("reference_number", "with reference_there: its number; a missing one is lost"),
    (
        "reference_delay",
        "with reference_there: the time of its first beat less that in it, as ptp_ts, two's complement: by both ends' clocks",
    ),
    ("s_axil_awaddr", "AXI4-Lite, registers: write address in bytes"),
    ("s_axil_awprot", "not looked at"),
    ("s_axil_awvalid", "write address is there"),
    ("s_axil_awready", "write address is taken"),
    ("s_axil_wdata", "write data"),
    ("s_axil_wstrb", "all ones, or the write is refused"),
    ("s_axil_wvalid", "write data is there"),
    ("s_axil_wready", "write data is taken"),
    ("s_axil_bresp", "0 OKAY, 2 SLVERR: refused"),
    ("s_axil_bvalid", "write answer is there"),
    ("s_axil_bready", "write answer is taken"),
    ("s_axil_araddr", "read address in bytes"),
    ("s_axil_arprot", "not looked at"),
    ("s_axil_arvalid", "read address is there"),
    ("s_axil_arready", "read address is taken"),
    ("s_axil_rdata", "read data"),
    ("s_axil_rresp", "0 OKAY, 2 SLVERR: no such register"),
    ("s_axil_rvalid", "read data is there"),
    ("s_axil_rready", "read data is taken"),
];

/// What the port of a name means, in short; nothing for a name that no core has.
pub(crate) fn meaning(name: &str) -> &'static str {
    let lane = name.strip_prefix('s').and_then(|rest| rest.split_once("_axis_"));
    let lane = lane.filter(|(lane, _)| lane.chars().all(|c| c.is_ascii_digit()));
    let single = lane.map_or(name.to_string(), |(_, port)| format!("s_axis_{port}"));
    PORTS.iter().find(|(known, _)| *known == single).map_or("", |(_, meaning)| meaning)
}
