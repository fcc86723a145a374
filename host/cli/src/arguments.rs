//! What `deltaline size` is asked.

use crate::parse;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

pub(crate) const EXAMPLES: &str = "\
Examples:
  What a 10 Gbit/s link with 0.1 to 4 % loss needs for a mean good to 2 %, and why:
    deltaline size --rate 2M --loss 0.1%..4% --mean 2% --explain

  What fits into a small FPGA, and the file for it:
    deltaline size --design 1g --rate 300k --loss 0..1% --mean 1% --deviation 10% \\
        --device ice40-hx8k --out my_tap.toml
    cargo xtask verilog my_tap.toml --out my_tap

  Quantiles: the rank of the 99th percentile good to half a per cent of the packets:
    deltaline size --rate 2M --loss 0.1%..1% --quantile 99%:0.5%

  Slices in software, for delays of some 5 ms, where losses come twenty in a row:
    deltaline size --synopsis slices --rate 500k --loss 0.1%..4% --burst 20 --delay 5ms --mean 2%";

#[derive(Debug, Args)]
pub(crate) struct Size {
    /// Packets a second, such as 300k or 1.5M
    #[arg(long, value_parser = parse::rate, value_name = "PACKETS")]
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
    #[arg(long, default_value = "1s", value_parser = parse::interval, value_name = "DURATION")]
    pub(crate) interval: u64,
    /// What keeps the packets: rows, or slices, which software merges where its table is full; with --design 10g-slices those of hardware
    #[arg(long, value_enum, default_value = "lda")]
    pub(crate) synopsis: Synopsis,
    /// Mean delay, such as 5ms; needed for slices, whose error is a time and does not grow with the delay
    #[arg(long, value_parser = parse::interval, value_name = "DURATION", required_if_eq("synopsis", "slices"))]
    pub(crate) delay: Option<u64>,
    /// Packets of the burst that a lost packet is in, on average, 1 unless given; only for slices: the longer bursts are, the less accurate slices become.
    /// Where bursts are of very different length, that is more than they are long on average
    #[arg(long, value_parser = parse_burst, value_name = "PACKETS")]
    pub(crate) burst: Option<f64>,
    #[command(flatten)]
    pub(crate) budget: Budget,
    /// The design, a file or the name of a shipped one, whose stream, shell and clock to use; 10g unless given, and none for slices. Prefixes of
    /// 10g-adaptive follow the loss: they need no less memory, but errors shrink as loss falls
    #[arg(long)]
    pub(crate) design: Option<String>,
    /// Standard deviation of delay over its mean: 1 is that of exponential delays, queues have less
    #[arg(long, default_value = "1", value_parser = parse_positive, value_name = "RATIO")]
    pub(crate) variation: f64,
    /// Excess kurtosis of delay: 0 for normal delays, 6 for exponential ones
    #[arg(long, default_value = "6", value_parser = parse_kurtosis, allow_negative_numbers = true)]
    pub(crate) kurtosis: f64,
    /// Write the design's file for `cargo xtask verilog`; one that exists is refused
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Say why
    #[arg(long)]
    pub(crate) explain: bool,
    /// Write the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What keeps the packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Synopsis {
    /// Banks of rows
    Lda,
    /// Records of slices
    Slices,
}

/// The most memory that cells may take at one end; without any of these, what the largest hardware has, and of slices what software can have.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct Budget {
    /// Most rows of all banks together
    #[arg(long, value_parser = parse::count::<8>)]
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

/// A quantile to be reported.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Quantile {
    /// The share of packets below it.
    pub(crate) probability: f64,
    /// Error of its rank, a share of the packets.
    pub(crate) error: f64,
}

fn parse_bits(text: &str) -> Result<u64, String> {
    Ok(parse::rate(text)? as u64)
}

fn parse_target(text: &str) -> Result<f64, String> {
    parse::share(text)
        .filter(|&error| error > 0.0)
        .ok_or_else(|| "give a share above 0, such as 2% or 0.02".into())
}

fn parse_losses(text: &str) -> Result<Losses, String> {
    let (low, high) = text.split_once("..").unwrap_or((text, text));
    match (parse::share(low), parse::share(high)) {
        (Some(low), Some(high)) if 0.0 <= low && low <= high && high < 1.0 => Ok(Losses { low, high }),
        _ => Err("give two ascending shares from 0 to below 1, such as 0.1%..4%, or one".into()),
    }
}

fn parse_quantile(text: &str) -> Result<Quantile, String> {
    let parts = text
        .split_once(':')
        .and_then(|(quantile, error)| Some((parse::share(quantile)?, parse::share(error)?)));
    match parts {
        Some((probability, error))
            if [probability, error].iter().all(|share| 0.0 < *share && *share < 1.0) =>
        {
            Ok(Quantile { probability, error })
        }
        _ => Err("give a quantile and the error of its rank, both between 0 and 1, such as 99%:0.5%".into()),
    }
}

fn parse_positive(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|&number: &f64| number > 0.0 && number.is_finite())
        .ok_or_else(|| "give a number above 0".into())
}

/// Packets lost in a row.
fn parse_burst(text: &str) -> Result<f64, String> {
    parse_positive(text)
        .ok()
        .filter(|&number| number >= 1.0)
        .ok_or_else(|| "give a number of at least 1".into())
}

/// An excess kurtosis, which is at least -2.
fn parse_kurtosis(text: &str) -> Result<f64, String> {
    text.parse()
        .ok()
        .filter(|&number: &f64| number >= -2.0 && number.is_finite())
        .ok_or_else(|| "give a number of at least -2".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(parse_losses("0.1%..4%"), Ok(Losses { low: 0.001, high: 0.04 }));
        assert_eq!(parse_losses("0.01"), Ok(Losses { low: 0.01, high: 0.01 }));
        assert_eq!(parse_quantile("99%:0.5%"), Ok(Quantile { probability: 0.99, error: 0.005 }));
        assert_eq!(parse_kurtosis("-1.2"), Ok(-1.2));
        for text in ["", "..", "4%..1%", "-1%..1%", "0..1", "nan..1%", "1%...2%"] {
            assert!(parse_losses(text).is_err(), "{text}");
        }
        for text in ["99%", "0:1%", "1:1%", "50%:0", "50%:x", "99%:150%"] {
            assert!(parse_quantile(text).is_err(), "{text}");
        }
        assert!(parse_target("0%").is_err() && parse_positive("0").is_err() && parse_kurtosis("-3").is_err());
    }
}
