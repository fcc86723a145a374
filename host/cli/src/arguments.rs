//! The command line's arguments.

use clap::{Args, Parser, Subcommand, ValueEnum};
use deltaline_lab::{Experiment, Scale};
use deltaline_model::packet::hash::HashKind;
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
   6  no delay is identifiable, or nothing bounds the clocks' offset; the result says why
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
  17  no design meets the targets

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
    deltaline decode --json sender-management.pcap receiver-management.pcap

  Segment 1 from here to there, segment 2 back, rows with digests: how far apart the two points' clocks may be:
    deltaline decode --offset 1,2 management.pcapng";

const READ_EXAMPLES: &str = "\
Examples:
  A board at its serial port, live, until Ctrl-C:
    deltaline read /dev/ttyUSB1

  Measurement points at a management port, for Prometheus to scrape:
    deltaline read eth0 --prometheus 0.0.0.0:9469

  Ten intervals for a program to read, keeping the raw bytes, and again from these:
    deltaline read /dev/ttyUSB1 --json --intervals 10 --record run.bin
    deltaline read run.bin --json";

const DELIMIT_EXAMPLES: &str = "\
Examples:
  Intervals of a second for two boards' taps, or cores of the design 1g, until Ctrl-C:
    deltaline delimit eth0 --interval 1s

  For cores of the design 10g:
    deltaline delimit eth0 --rows 1024 --interval 100ms";

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

const LAB_EXAMPLES: &str = "\
Examples:
  The LDA paper's figures 4a to 4c, in full:
    deltaline lab 4

  Everything, a tenth of the packets, to look at:
    deltaline lab all --packets 500000 --out out/quick

  The results page of the documentation:
    deltaline lab all --out docs --recording \\
        sim/traffic/captures/t1-sender.pcap.zst sim/traffic/captures/t1-receiver.pcap.zst";

const SIZE_EXAMPLES: &str = "\
Examples:
  What a 10 Gbit/s link with 0.1 to 4 % loss needs for a mean good to 2 %, and why:
    deltaline size --rate 2M --loss 0.1%..4% --mean 2% --explain

  What fits into a small FPGA, and the file for it:
    deltaline size --design 1g --rate 300k --loss 0..1% --mean 1% --deviation 10% \\
        --device ice40-hx8k --out my_tap.toml
    cargo xtask verilog my_tap.toml --out my_tap

  Quantiles: the rank of the 99th percentile good to half a per cent of the packets:
    deltaline size --rate 2M --loss 0.1%..1% --quantile 99%:0.5%";

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
    /// Send the delimiters that cut a path's packets into intervals, out of a network interface in front of the path
    ///
    /// They must take the packets' way, in the same queue. Every tap on it that is configured alike ends its interval
    /// where one passes. Their number is that of the interval that ends; the first interval is always void.
    #[command(after_help = DELIMIT_EXAMPLES, after_long_help = DELIMIT_EXAMPLES)]
    Delimit(Delimit),
    /// Drive a board at a serial port
    #[command(subcommand)]
    Board(Board),
    /// Compare two captures packet by packet
    #[command(after_help = TRUTH_EXAMPLES, after_long_help = TRUTH_EXAMPLES)]
    Truth(Truth),
    /// Run the LDA paper's experiments, and some more
    #[command(after_help = LAB_EXAMPLES, after_long_help = LAB_EXAMPLES)]
    Lab(Lab),
    /// Size a design: banks, rows and prefixes for a rate, a range of losses and target errors
    #[command(after_help = SIZE_EXAMPLES, after_long_help = SIZE_EXAMPLES)]
    Size(Size),
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
    /// Bound by how much the clock of the FORWARD segment's receiver is ahead of its sender's (negative: behind), from
    /// the exact delays of this segment and of the one BACKWARD between the same two points
    ///
    /// Both need digests. The offset is taken to be the same all the time; the bounds are as far apart as the least exact
    /// delays of both directions together.
    #[arg(long, value_parser = parse_directions, value_name = "FORWARD,BACKWARD")]
    pub(crate) offset: Option<Directions>,
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

#[derive(Debug, Args)]
pub(crate) struct Delimit {
    /// The network interface, such as eth0
    pub(crate) interface: String,
    /// From one delimiter to the next, such as 1s or 50ms; a board needs 30ms, which its serial line takes
    #[arg(long, value_parser = parse_duration, value_name = "DURATION", default_value = "1s")]
    pub(crate) interval: u64,
    /// Stop after so many delimiters
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) count: Option<u32>,
    /// Number of the first one
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub(crate) first: u32,
    /// Rows of each bank, as the taps have them
    #[arg(long, default_value_t = 128)]
    pub(crate) rows: usize,
    /// Prefix length of each bank, as the taps have them
    #[arg(long, default_value = "1,6", value_delimiter = ',', value_name = "LENGTHS")]
    pub(crate) banks: Vec<u8>,
    /// Hash function of the taps
    #[arg(long, value_enum, default_value_t = Hash::H3)]
    pub(crate) hash: Hash,
    /// Seed of the taps' hash function
    #[arg(long, default_value_t = 1)]
    pub(crate) seed: u64,
    /// Number of the measurement segment
    #[arg(long, default_value_t = 0)]
    pub(crate) segment: u32,
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

#[derive(Debug, Args)]
pub(crate) struct Lab {
    /// Which experiment
    #[arg(value_enum, required = true, value_name = "FIGURE")]
    figures: Vec<LabFigure>,
    /// Packets of an interval
    #[arg(long, default_value_t = Scale::default().packets, value_parser = count::<1000>)]
    pub(crate) packets: usize,
    /// Runs of each point
    #[arg(long, default_value_t = Scale::default().runs, value_parser = count::<1>)]
    pub(crate) runs: usize,
    /// Seed of all random numbers
    #[arg(long, default_value_t = Scale::default().seed)]
    pub(crate) seed: u64,
    /// Captures of both ends whose delays and losses figure 7 measures as well
    #[arg(long, num_args = 2, value_names = ["SENDER", "RECEIVER"])]
    pub(crate) recording: Vec<PathBuf>,
    /// Where to write results.md and, in results/, each figure as CSV and SVG
    #[arg(long, default_value = "out/lab", value_name = "FOLDER")]
    pub(crate) out: PathBuf,
    /// Write the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

impl Lab {
    /// The experiments asked for, each once, in the order of their figures.
    pub(crate) fn experiments(&self) -> impl Iterator<Item = Experiment> {
        let asked = |experiment| {
            let is_it = |figure: &LabFigure| figure.experiment().is_none_or(|asked| asked == experiment);
            self.figures.iter().any(is_it)
        };
        Experiment::ALL.into_iter().filter(move |&experiment| asked(experiment))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LabFigure {
    /// 4a to 4c: one bank, tuned to the loss
    #[value(name = "4", aliases = ["4a", "4b", "4c"])]
    KnownLoss,
    /// 5a to 5c: one to four banks, the loss unknown
    #[value(name = "5", aliases = ["5a", "5b", "5c"])]
    UnknownLoss,
    /// 6a to 6c: two banks against Poisson probes, loss in bursts
    #[value(name = "6", aliases = ["6a", "6b", "6c"])]
    Probes,
    /// 7: the standard deviation behind queues
    #[value(name = "7", alias = "queues")]
    Queues,
    /// 8: how often the confidence intervals hold the truth
    #[value(name = "8", aliases = ["8a", "8b", "coverage"])]
    Coverage,
    /// 9: reordering at the edges of intervals
    #[value(name = "9", alias = "edges")]
    Edges,
    /// All of them
    All,
}

impl LabFigure {
    /// The experiment; none for all of them.
    fn experiment(self) -> Option<Experiment> {
        match self {
            LabFigure::KnownLoss => Some(Experiment::KnownLoss),
            LabFigure::UnknownLoss => Some(Experiment::UnknownLoss),
            LabFigure::Probes => Some(Experiment::Probes),
            LabFigure::Queues => Some(Experiment::Queues),
            LabFigure::Coverage => Some(Experiment::Coverage),
            LabFigure::Edges => Some(Experiment::Edges),
            LabFigure::All => None,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct Size {
    /// Packets a second, such as 300k or 1.5M
    #[arg(long, value_parser = parse_rate, value_name = "PACKETS")]
    pub(crate) rate: f64,
    /// Shares of packets that an interval may lose, such as 0.1%..4%, or one of them
    #[arg(long, value_parser = parse_losses, value_name = "RANGE")]
    pub(crate) loss: Losses,
    /// Target error of the mean, relative to it: the root mean square of one interval, such as 2%
    #[arg(long, value_parser = parse_target, value_name = "ERROR")]
    pub(crate) mean: Option<f64>,
    /// Target error of the standard deviation, likewise
    #[arg(long, value_parser = parse_target, value_name = "ERROR")]
    pub(crate) deviation: Option<f64>,
    /// A quantile and the target error of its rank, such as 99%:0.5%; may be given several times
    #[arg(long, value_parser = parse_quantile, value_name = "QUANTILE:ERROR")]
    pub(crate) quantile: Vec<Quantile>,
    /// Length of an interval
    #[arg(long, default_value = "1s", value_parser = parse_duration, value_name = "DURATION")]
    pub(crate) interval: u64,
    #[command(flatten)]
    pub(crate) budget: Budget,
    /// The shipped design whose stream, shell and clock it is for. Prefixes of 10g-adaptive follow the loss: they need no
    /// less memory, but errors are smaller where less is lost
    #[arg(long, default_value = deltaline_design::DEFAULT)]
    pub(crate) design: String,
    /// Standard deviation of delay over its mean: 1 is that of exponential delays, queues have less
    #[arg(long, default_value = "1", value_parser = parse_positive, value_name = "RATIO")]
    pub(crate) variation: f64,
    /// Excess kurtosis of delay: 0 for normal delays, 6 for exponential ones
    #[arg(long, default_value = "6", value_parser = parse_kurtosis)]
    pub(crate) kurtosis: f64,
    /// Write the design's file for `cargo xtask verilog`
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Say why
    #[arg(long)]
    pub(crate) explain: bool,
    /// Write the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// The most memory that cells may take at one end; without any of these, what the largest hardware has.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct Budget {
    /// Most rows of all banks together
    #[arg(long, value_parser = count::<8>)]
    pub(crate) rows: Option<usize>,
    /// Most bits of memory for both copies of all cells, such as 300k or 1.2M
    #[arg(long, value_parser = parse_bits, value_name = "BITS")]
    pub(crate) memory: Option<u64>,
    /// An FPGA, half of whose block RAM cells may take
    #[arg(long, value_enum)]
    pub(crate) device: Option<Device>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Device {
    /// 32 block RAMs of 4 kbit
    Ice40Hx8k,
    /// 56 block RAMs of 18 kbit
    #[value(name = "ecp5-25f")]
    Ecp5x25f,
    /// 108 block RAMs of 18 kbit
    #[value(name = "ecp5-45f")]
    Ecp5x45f,
    /// 208 block RAMs of 18 kbit
    #[value(name = "ecp5-85f")]
    Ecp5x85f,
    /// 50 block RAMs of 36 kbit
    #[value(name = "artix7-35t")]
    Artix7x35t,
    /// 135 block RAMs of 36 kbit
    #[value(name = "artix7-100t")]
    Artix7x100t,
}

impl Device {
    /// Half of its block RAM: the core has other memories too, and so has what it stands in.
    pub(crate) fn bits_for_cells(self) -> u64 {
        let (blocks, kilobits) = match self {
            Device::Ice40Hx8k => (32, 4),
            Device::Ecp5x25f => (56, 18),
            Device::Ecp5x45f => (108, 18),
            Device::Ecp5x85f => (208, 18),
            Device::Artix7x35t => (50, 36),
            Device::Artix7x100t => (135, 36),
        };
        blocks * kilobits * 1024 / 2
    }
}

/// A range of losses, as shares of the packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Losses {
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// The segments of the two directions between two points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Directions {
    pub(crate) forward: u32,
    pub(crate) backward: u32,
}

/// A quantile to be told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Quantile {
    /// The share of packets below it.
    pub(crate) probability: f64,
    /// Error of its rank, a share of the packets.
    pub(crate) error: f64,
}

/// A number with a factor of a thousand, a million or a thousand millions behind it, above 0.
fn parse_rate(text: &str) -> Result<f64, String> {
    let units = [("k", 1e3), ("M", 1e6), ("G", 1e9)];
    let unit = units.iter().find_map(|(unit, scale)| Some((text.strip_suffix(unit)?, *scale)));
    let (number, scale) = unit.unwrap_or((text, 1.0));
    match number.trim_end().parse::<f64>() {
        Ok(number) if number > 0.0 && number.is_finite() => Ok(number * scale),
        _ => Err("give a number above 0, such as 300000, 300k or 1.5M".into()),
    }
}

fn parse_bits(text: &str) -> Result<u64, String> {
    Ok(parse_rate(text)? as u64)
}

/// A share: a number, or one in per cent.
fn parse_share(text: &str) -> Option<f64> {
    let (number, scale) = text.strip_suffix('%').map_or((text, 1.0), |number| (number.trim_end(), 100.0));
    number.trim().parse::<f64>().ok().map(|number| number / scale).filter(|share| share.is_finite())
}

fn parse_target(text: &str) -> Result<f64, String> {
    parse_share(text)
        .filter(|&error| error > 0.0)
        .ok_or_else(|| "give a share above 0, such as 2% or 0.02".into())
}

fn parse_losses(text: &str) -> Result<Losses, String> {
    let (low, high) = text.split_once("..").unwrap_or((text, text));
    match (parse_share(low), parse_share(high)) {
        (Some(low), Some(high)) if 0.0 <= low && low <= high && high < 1.0 => Ok(Losses { low, high }),
        _ => Err("give two ascending shares from 0 to below 1, such as 0.1%..4%, or one".into()),
    }
}

fn parse_quantile(text: &str) -> Result<Quantile, String> {
    let parts = text
        .split_once(':')
        .and_then(|(quantile, error)| Some((parse_share(quantile)?, parse_share(error)?)));
    match parts {
        Some((probability, error)) if 0.0 < probability && probability < 1.0 && error > 0.0 => {
            Ok(Quantile { probability, error })
        }
        _ => Err("give a quantile between 0 and 1 and the error of its rank, such as 99%:0.5%".into()),
    }
}

fn parse_positive(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|&number: &f64| number > 0.0 && number.is_finite())
        .ok_or_else(|| "give a number above 0".into())
}

/// Two segments.
fn parse_directions(text: &str) -> Result<Directions, String> {
    let pair = text.split_once(',').and_then(|(forward, backward)| {
        Some(Directions { forward: forward.parse().ok()?, backward: backward.parse().ok()? })
    });
    pair.filter(|pair| pair.forward != pair.backward)
        .ok_or_else(|| "give the numbers of two different segments, such as 1,2".into())
}

/// An excess kurtosis, which is at least -2.
fn parse_kurtosis(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|&number: &f64| number >= -2.0 && number.is_finite())
        .ok_or_else(|| "give a number of at least -2".into())
}

/// A number that is at least `LEAST`.
fn count<const LEAST: usize>(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(number) if number >= LEAST => Ok(number),
        _ => Err(format!("give a whole number of at least {LEAST}")),
    }
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
    fn sizes() {
        assert_eq!(parse_rate("300k"), Ok(3e5));
        assert_eq!(parse_rate("14.88M"), Ok(14.88e6));
        assert_eq!(parse_losses("0.1%..4%"), Ok(Losses { low: 0.001, high: 0.04 }));
        assert_eq!(parse_losses("0.01"), Ok(Losses { low: 0.01, high: 0.01 }));
        assert_eq!(parse_quantile("99%:0.5%"), Ok(Quantile { probability: 0.99, error: 0.005 }));
        assert_eq!(parse_kurtosis("-1.2"), Ok(-1.2));
        assert_eq!(parse_directions("1,2"), Ok(Directions { forward: 1, backward: 2 }));
        for text in ["", "1", "1,1", "1,-2", "1,2,3"] {
            assert!(parse_directions(text).is_err(), "{text}");
        }
        for text in ["", "0", "-1", "k", "1T", "inf", "nan"] {
            assert!(parse_rate(text).is_err(), "{text}");
        }
        for text in ["", "..", "4%..1%", "-1%..1%", "0..1", "nan..1%", "1%...2%"] {
            assert!(parse_losses(text).is_err(), "{text}");
        }
        for text in ["99%", "0:1%", "1:1%", "50%:0", "50%:x"] {
            assert!(parse_quantile(text).is_err(), "{text}");
        }
        assert!(parse_target("0%").is_err() && parse_positive("0").is_err() && parse_kurtosis("-3").is_err());
    }

    #[test]
    fn the_definition_is_sound() {
        use clap::CommandFactory;
        Arguments::command().debug_assert();
    }
}
