//! Estimates delay and loss from two tables of cells.
//!
//! ```text
//! cargo run -p deltaline-estimate --example two_tables -- SENDER RECEIVER
//! ```
//!
//! Each file holds the table of one end, as in `examples/tables`, which are read when no file is given. The first line
//! is `packets,P,rows,M`: P packets passed this end in the interval, and a bank has M rows. Each further line is one
//! cell, bank after bank: packet count, timestamp sum in nanoseconds modulo 2^40, digest sum (0 without digests). Lines
//! that begin with `#` are comments.
//!
//! # Test plan
//!
//! The shipped tables against figures by hand; tables that are malformed or contradict each other are refused, with the
//! line.

use deltaline_estimate::{Confidence, Estimate, Loss, Observation, Reason, Singles, estimate, quantile};
use deltaline_model::sketch::cell::{Cell, SUM_MASK};
use std::error::Error;

const SENDER: &str = include_str!("tables/sender.csv");
const RECEIVER: &str = include_str!("tables/receiver.csv");

/// What one end reports about an interval.
struct Table {
    packets: u64,
    rows: usize,
    cells: Vec<Cell>,
}

impl Table {
    fn parse(text: &str) -> Result<Self, Box<dyn Error>> {
        let mut lines = text.lines().zip(1..).filter(|(line, _)| !line.starts_with('#') && !line.is_empty());
        let (header, _) = lines.next().ok_or("the table is empty")?;
        let fields: Vec<&str> = header.split(',').collect();
        let ["packets", packets, "rows", rows] = fields[..] else {
            return Err(format!("the first line is {header:?}: write packets,P,rows,M").into());
        };
        let cells = lines.map(|(line, number)| {
            cell(line).ok_or_else(|| {
                format!("line {number}, {line:?}, is no cell: write count,sum,digest with a sum below 2^40")
            })
        });
        Ok(Table { packets: packets.parse()?, rows: rows.parse()?, cells: cells.collect::<Result<_, _>>()? })
    }
}

fn cell(line: &str) -> Option<Cell> {
    let mut fields = line.split(',').map(str::trim);
    let cell = Cell {
        count: fields.next()?.parse().ok()?,
        sum: fields.next()?.parse().ok().filter(|sum| *sum <= SUM_MASK)?,
        digest: fields.next()?.parse().ok()?,
    };
    fields.next().is_none().then_some(cell)
}

/// A value in nanoseconds, or the reason why there is none.
fn value(value: Result<f64, Reason>) -> String {
    value.map_or_else(|reason| reason.to_string(), |nanoseconds| format!("{nanoseconds:.1} ns"))
}

fn report(sender: &str, receiver: &str) -> Result<String, Box<dyn Error>> {
    let (sender, receiver) = (Table::parse(sender)?, Table::parse(receiver)?);
    if sender.rows != receiver.rows {
        return Err(format!("{} and {} rows: configure both ends alike", sender.rows, receiver.rows).into());
    }
    let observation = Observation {
        rows: sender.rows,
        sender: &sender.cells,
        receiver: &receiver.cells,
        sent: sender.packets,
        received: receiver.packets,
    };
    let found: Estimate = estimate(&observation)?;
    let loss = match found.loss() {
        Loss::Lost(packets) => format!("{packets} packets"),
        Loss::Surplus(packets) => format!("none, but {packets} packets more received than sent"),
    };
    let interval = found.mean.and_then(|mean| mean.range(Confidence::P95)).map_or_else(
        |reason| reason.to_string(),
        |range| format!("{:.1} to {:.1} ns", range.lower, range.upper),
    );
    let median = quantile(&[&Singles::of(&observation)], 0.5, Confidence::P95);
    Ok(format!(
        "loss                {loss}\nmean delay          {}\n95 % interval       {interval}\nstandard deviation  {}\n\
         median delay        {}\nbased on            {} packets in {} usable rows\n",
        value(found.mean.map(|mean| mean.nanoseconds)),
        value(found.deviation),
        value(median.map(|median| median.value.nanoseconds)),
        found.effective_samples,
        found.usable_rows
    ))
}

fn main() -> Result<(), Box<dyn Error>> {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let text = match &files[..] {
        [] => report(SENDER, RECEIVER)?,
        [sender, receiver] => report(&std::fs::read_to_string(sender)?, &std::fs::read_to_string(receiver)?)?,
        _ => return Err("give two tables, SENDER and RECEIVER, or none for the shipped ones".into()),
    };
    print!("{text}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Usable rows hold 2, 1, 1, 2, 1, 1, 1 and 1 packets with delay sums of 2100, 1000, 1040, 1900, 980, 1020, 960
    /// and 1000 ns: 10,000 ns over 10 packets. The single packets' delays are 960, 980, 1000, 1000, 1020 and 1040 ns.
    #[test]
    fn the_shipped_tables() {
        let text = report(SENDER, RECEIVER).unwrap();
        for line in [
            "loss                2 packets",
            "mean delay          1000.0 ns",
            "median delay        1000.0 ns",
            "based on            10 packets in 8 usable rows",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
        // s^2 = (100^2 / 2 + 40^2 + 100^2 / 2 + 20^2 + 20^2 + 40^2) / 7 = 2000, and sigma^2 = s^2 * 12 / 13.
        assert!(text.contains("standard deviation  43.0 ns"), "{text}");
    }

    #[test]
    fn wrong_tables_are_refused() {
        let refusal = |sender: &str, receiver: &str| report(sender, receiver).unwrap_err().to_string();
        let good = "packets,1,rows,1\n1,5,0\n";
        assert!(report(good, good).is_ok());
        assert_eq!(refusal("", good), "the table is empty");
        assert!(refusal(good, "1,5,0\n").contains("write packets,P,rows,M"));
        for cell in ["1,5", "1,5,0,0", "-1,5,0", "1,1099511627776,0", "1,x,0"] {
            let bad = format!("packets,1,rows,1\n# comment\n{cell}\n");
            assert!(refusal(good, &bad).starts_with("line 3,"), "{cell}");
        }
        assert!(refusal(good, "packets,1,rows,2\n1,5,0\n1,5,0\n").contains("configure both ends alike"));
        assert!(refusal(good, "packets,0,rows,1\n1,5,0\n").contains("its total is 0"));
        assert!(refusal(good, "packets,x,rows,1\n1,5,0\n").contains("invalid digit"));
    }
}
