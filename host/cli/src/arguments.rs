//! The command line's arguments.

use clap::{Args, Parser, Subcommand, ValueEnum};
use deltaline_model::hash::HashKind;
use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use thiserror::Error;

const EXIT_CODES: &str = "\
Exit codes:
   0  all went well
   2  the command line is wrong
   3  an input cannot be read: missing, empty, truncated, not a capture, or not Ethernet
   4  the two ends are configured differently
   5  control frames are lost, corrupted or contradict each other, or an interval is void for another reason;
      the result is that of the other intervals
   6  no delay is identifiable; the result says why
   7  an output cannot be written
   8  a tool is missing, or the hardware cannot be built
   9  the two ends have not seen the same packets, or the files are swapped
  10  refused, because the result would be wrong: a cut by the clock
  11  the port or interface is missing or down, or is none
  12  the port is in use by another program
  13  no permission to open the port or interface
  14  nothing came in time
  15  the board is another one than expected, or none of Deltaline's
  16  a board's self-test failed

A result goes to standard output, messages and warnings go to standard error.";

const MEASURE_EXAMPLES: &str = "\
Examples:
  One estimate of the whole recording, and how far it is from the truth:
    deltaline measure --truth sender.pcap.zst receiver.pcap.zst

  Every half second, for a program to read:
    deltaline measure --interval 500ms --json sender.pcap receiver.pcap

  Quantiles: with digests, and a bank that samples about as many packets as it has rows:
    deltaline measure --digest --banks 1,6 --interval 500ms sender.pcap receiver.pcap

  Through the hardware design under simulation, keeping the control frames:
    deltaline measure --through hardware --frames control.pcapng sender.pcap receiver.pcap";

const DECODE_EXAMPLES: &str = "\
Examples:
  What two measurement points sent to the management port:
    deltaline decode management.pcapng

  One capture for each end:
    deltaline decode --json sender-management.pcap receiver-management.pcap";

const READ_EXAMPLES: &str = "\
Examples:
  A board at its serial port, live, until Ctrl-C:
    deltaline read /dev/ttyUSB1

  Measurement points at a management port, for Prometheus to scrape:
    deltaline read eth0 --prometheus 0.0.0.0:9469

  Ten intervals for a program to read, keeping the raw bytes, and again from these:
    deltaline read /dev/ttyUSB1 --json --intervals 10 --record run.bin
    deltaline read run.bin --json";

const SELFTEST_EXAMPLES: &str = "\
Examples:
  A hundred settings of delay, jitter and loss, estimate beside truth:
    deltaline board selftest /dev/ttyUSB1

  For a program to read, the first twenty settings:
    deltaline board selftest /dev/ttyUSB1 --settings 20 --json";

const START_EXAMPLES: &str = "\
Examples:
  Half a millisecond of delay, two percent of losses, and what is measured of it:
    deltaline board start /dev/ttyUSB1 --delay 500us --loss 2
    deltaline read /dev/ttyUSB1";

const TRUTH_EXAMPLES: &str = "\
Examples:
  Delay, loss, reordering and duplicates, packet by packet:
    deltaline truth sender.pcap.zst receiver.pcap.zst

  Every half second, for a program to read:
    deltaline truth --interval 500ms --json sender.pcap receiver.pcap";

/// One-way delay, its deviation and loss between two points of a path.
///
/// Both points keep the same small table of packet counts and timestamp sums (Lossy Difference Aggregator); the
/// difference of the two tables tells mean, standard deviation and loss.
#[derive(Debug, Parser)]
#[command(name = "deltaline", version, after_help = EXIT_CODES, after_long_help = EXIT_CODES)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Measure between two captures, each through a measurement point
    #[command(after_help = MEASURE_EXAMPLES, after_long_help = MEASURE_EXAMPLES)]
    Measure(Measure),
    /// Decode the control frames of captures of a management port
    #[command(after_help = DECODE_EXAMPLES, after_long_help = DECODE_EXAMPLES)]
    Decode(Decode),
    /// Read control frames live from a serial port or a network interface, or from a recording
    ///
    /// A live source that vanishes is waited for and read on.
    #[command(after_help = READ_EXAMPLES, after_long_help = READ_EXAMPLES)]
    Read(Read),
    /// Drive a board at a serial port
    #[command(subcommand)]
    Board(Board),
    /// Compare two captures packet by packet
    #[command(after_help = TRUTH_EXAMPLES, after_long_help = TRUTH_EXAMPLES)]
    Truth(Truth),
}

#[derive(Debug, Args)]
pub(crate) struct Measure {
    /// Capture of the sender, the point that packets pass first: pcap or pcapng, plain, gzip or Zstandard
    pub(crate) sender: PathBuf,
    /// Capture of the receiver
    pub(crate) receiver: PathBuf,
    /// Length of an interval, such as 500ms, 0.5s, 250us or 10000ns; without it there is one interval
    #[arg(long, value_parser = parse_duration, value_name = "DURATION")]
    pub(crate) interval: Option<u64>,
    /// Rows of each bank: a power of two from 8 to 32768
    #[arg(long, default_value_t = 1024)]
    pub(crate) rows: usize,
    /// Prefix length of each bank, ascending, 0 to 16; a bank with prefix length k samples one packet in 2^k
    #[arg(long, default_value = "1,6", value_delimiter = ',', value_name = "LENGTHS")]
    pub(crate) banks: Vec<u8>,
    /// Hash function
    #[arg(long, value_enum, default_value_t = Hash::H3)]
    pub(crate) hash: Hash,
    /// Seed of the hash function
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Number of the measurement segment
    #[arg(long, default_value_t = 0)]
    pub(crate) segment: u32,
    /// Sum a digest of every packet in its row, which guards the delays against foreign packets and tells quantiles;
    /// a bank that samples about as many packets as it has rows serves them best
    #[arg(long)]
    pub(crate) digest: bool,
    /// What the measurement points are: the software, or the hardware design under simulation
    #[arg(long, value_enum, default_value_t = Through::Software)]
    pub(crate) through: Through,
    /// What ends the intervals: a delimiter among the packets, or the clock, which is refused
    #[arg(long, value_enum, default_value_t = Cut::InBand)]
    pub(crate) cut: Cut,
    /// Compare with the exact values, found by matching packet with packet
    #[arg(long)]
    pub(crate) truth: bool,
    /// Write the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the control frames to a pcapng file
    #[arg(long, value_name = "FILE")]
    pub(crate) frames: Option<PathBuf>,
    /// Plot the delay over time as SVG
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Decode {
    /// Captures with control frames: pcap or pcapng, plain, gzip or Zstandard
    #[arg(required = true)]
    pub(crate) frames: Vec<PathBuf>,
    /// Write the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Read {
    /// A serial port (/dev/ttyUSB1), a network interface (eth0), a capture (pcap or pcapng), or a recording of a
    /// serial port
    pub(crate) source: String,
    /// Write one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
    /// Serve the figures to Prometheus at this address, such as 127.0.0.1:9469
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) prometheus: Option<SocketAddr>,
    /// Keep the raw bytes of a serial port in a file
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Stop after so many intervals
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) intervals: Option<u64>,
    /// How long to wait for the first control frame of a live source
    #[arg(long, value_parser = parse_duration, value_name = "DURATION", default_value = "10s")]
    pub(crate) timeout: u64,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Board {
    /// Let the board delay and lose packets of its own, and compare the estimates with its truth
    #[command(after_help = SELFTEST_EXAMPLES, after_long_help = SELFTEST_EXAMPLES)]
    Selftest(Selftest),
    /// Let the board delay and lose packets of its own until it is told otherwise, for `deltaline read`
    #[command(after_help = START_EXAMPLES, after_long_help = START_EXAMPLES)]
    Start(Start),
}

#[derive(Debug, Args)]
pub(crate) struct Start {
    /// The board's serial port, such as /dev/ttyUSB1
    pub(crate) port: String,
    /// Least delay
    #[arg(long, value_parser = parse_duration, value_name = "DURATION", default_value = "100us")]
    pub(crate) delay: u64,
    /// Random part of the delay, rounded up to a power of two of the board's clock cycles
    #[arg(long, value_parser = parse_duration, value_name = "DURATION", default_value = "20us")]
    pub(crate) jitter: u64,
    /// Packets to lose, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 0.1)]
    pub(crate) loss: f64,
    /// Packets of an interval
    #[arg(long, value_name = "NUMBER", default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) packets: u32,
}

#[derive(Debug, Args)]
pub(crate) struct Selftest {
    /// The board's serial port, such as /dev/ttyUSB1
    pub(crate) port: String,
    /// Write the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Run only the first so many of the hundred settings
    #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = clap::value_parser!(u8).range(1..=100))]
    pub(crate) settings: u8,
}

#[derive(Debug, Args)]
pub(crate) struct Truth {
    /// Capture of the sender, the point that packets pass first: pcap or pcapng, plain, gzip or Zstandard
    pub(crate) sender: PathBuf,
    /// Capture of the receiver
    pub(crate) receiver: PathBuf,
    /// Length of an interval, such as 500ms, 0.5s, 250us or 10000ns; without it there is one interval
    #[arg(long, value_parser = parse_duration, value_name = "DURATION")]
    pub(crate) interval: Option<u64>,
    /// Write the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Hash {
    /// A random row for every bit
    H3,
    /// Rabin's fingerprint
    Rabin,
}

impl From<Hash> for HashKind {
    fn from(hash: Hash) -> Self {
        match hash {
            Hash::H3 => HashKind::H3,
            Hash::Rabin => HashKind::Rabin,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Through {
    /// The software measurement point
    Software,
    /// The hardware design, built with Verilator
    Hardware,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Cut {
    /// Delimiters among the packets
    InBand,
    /// The clock; refused
    Clock,
}

impl fmt::Display for Hash {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Hash::H3 => "h3",
            Hash::Rabin => "rabin",
        })
    }
}

impl fmt::Display for Through {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Through::Software => "software",
            Through::Hardware => "hardware",
        })
    }
}

#[derive(Debug, Error)]
#[error("give a number and a unit of ns, us, ms, s or min, such as 500ms, from 1ns to 584 years")]
struct NotADuration;

/// A duration in whole nanoseconds, at least 1.
fn parse_duration(text: &str) -> Result<u64, NotADuration> {
    const UNITS: [(&str, f64); 6] =
        [("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("min", 60e9), ("s", 1e9)];
    let unit = UNITS.iter().find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, scale)));
    let (number, scale) = unit.ok_or(NotADuration)?;
    let number = number.trim_end();
    // Neither a sign nor an exponent nor "inf".
    if !number.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        return Err(NotADuration);
    }
    let nanoseconds = (number.parse::<f64>().map_err(|_| NotADuration)? * scale).round();
    if (1.0..u64::MAX as f64).contains(&nanoseconds) { Ok(nanoseconds as u64) } else { Err(NotADuration) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations() {
        for (text, nanoseconds) in [
            ("500ms", 500_000_000),
            ("0.5s", 500_000_000),
            (".5 s", 500_000_000),
            ("250us", 250_000),
            ("250µs", 250_000),
            ("1ns", 1),
            ("2min", 120_000_000_000),
        ] {
            assert_eq!(parse_duration(text).unwrap(), nanoseconds, "{text}");
        }
        for text in
            ["", "5", "ms", "-1s", "0s", "0.1ns", "1e3s", "infs", "NaNs", "1h", "1..2s", "99999999999min"]
        {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_definition_is_sound() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }
}
