//! Figures: the results of an experiment, as CSV and as tables.
//!
//! # Test plan
//!
//! CSV and table of a small figure, character by character; verdicts on both sides of each stated value.

use serde::Serialize;
use std::fmt::Write;

/// A figure: several series over a common axis.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    /// Name, such as `4a`; also the name of its files.
    pub name: &'static str,
    /// Title.
    pub title: &'static str,
    /// What the horizontal axis shows.
    pub x: Axis,
    /// What the vertical axis shows.
    pub y: Axis,
    /// The series.
    pub series: Vec<Series>,
}

/// An axis.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Axis {
    /// What it shows, with its unit.
    pub label: &'static str,
    /// Whether it is logarithmic.
    pub logarithmic: bool,
}

impl Axis {
    /// A logarithmic axis.
    pub const fn logarithmic(label: &'static str) -> Self {
        Axis { label, logarithmic: true }
    }

    /// A linear axis.
    pub const fn linear(label: &'static str) -> Self {
        Axis { label, logarithmic: false }
    }
}

/// A series of points.
#[derive(Clone, Debug, Serialize)]
pub struct Series {
    /// Its name.
    pub name: String,
    /// Series of one colour belong together.
    pub colour: usize,
    /// How it is drawn.
    pub style: Style,
    /// Its points.
    pub points: Vec<Point>,
}

/// How a series is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Style {
    /// A line with dots.
    Line,
    /// A broken line, for series with which the main ones are compared.
    Dashed,
    /// A band from `low` to `high`.
    Band,
}

/// A point of a series.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// The place on the horizontal axis.
    pub x: f64,
    /// The average over the runs that had a value; none when none had.
    pub y: Option<f64>,
    /// The least of them, or a band's lower end.
    pub low: Option<f64>,
    /// The largest of them, or a band's upper end.
    pub high: Option<f64>,
    /// Runs with a value.
    pub runs: usize,
    /// Runs without.
    pub missing: usize,
}

impl Point {
    /// The average, least and largest of the runs' values at `x`.
    pub fn average(x: f64, values: impl Iterator<Item = Option<f64>>) -> Self {
        let (mut sum, mut runs, mut missing) = (0.0, 0, 0);
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values {
            match value {
                Some(value) => {
                    (sum, runs) = (sum + value, runs + 1);
                    (low, high) = (low.min(value), high.max(value));
                }
                None => missing += 1,
            }
        }
        let some = |value| (runs > 0).then_some(value);
        Point { x, y: some(sum / runs as f64), low: some(low), high: some(high), runs, missing }
    }

    /// A value and a range around it.
    pub fn range(x: f64, y: f64, half: f64) -> Self {
        Point { x, y: Some(y), low: Some(y - half), high: Some(y + half), runs: 1, missing: 0 }
    }
}

impl Figure {
    /// All points, one a line.
    pub fn csv(&self) -> String {
        let mut text = String::from("figure,series,x,y,low,high,runs,missing\n");
        let number = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
        for series in &self.series {
            for point in &series.points {
                let [y, low, high] = [point.y, point.low, point.high].map(number);
                let Point { x, runs, missing, .. } = point;
                let (figure, series) = (self.name, &series.name);
                // Writing to a string does not fail.
                let _ = writeln!(text, "{figure},\"{series}\",{x},{y},{low},{high},{runs},{missing}");
            }
        }
        text
    }

    /// A Markdown table: a line for each place, a column for each series.
    pub fn table(&self) -> String {
        let mut header = format!("| {} |", self.x.label);
        let mut rule = String::from("|---:|");
        for series in &self.series {
            header += &format!(" {} |", series.name);
            rule += "---:|";
        }
        let mut places: Vec<f64> =
            self.series.iter().flat_map(|each| each.points.iter().map(|p| p.x)).collect();
        places.sort_by(f64::total_cmp);
        places.dedup();
        let mut text = format!("{header}\n{rule}\n");
        for x in places {
            text += &format!("| {} |", significant(x));
            for series in &self.series {
                let point = series.points.iter().find(|point| point.x == x);
                text += &format!(" {} |", point.map(|point| cell(series.style, point)).unwrap_or_default());
            }
            text.push('\n');
        }
        text
    }

    /// The series of this name.
    pub fn series(&self, name: &str) -> Option<&Series> {
        self.series.iter().find(|series| series.name == name)
    }
}

/// A point in a table.
fn cell(style: Style, point: &Point) -> String {
    let text = match (style, point.low, point.high) {
        (Style::Band, Some(low), Some(high)) => format!("{} to {}", significant(low), significant(high)),
        _ => point.y.map_or_else(|| "none".into(), significant),
    };
    match point.missing {
        0 => text,
        missing => format!("{text} ({missing} of {} without)", missing + point.runs),
    }
}

/// A number to three significant digits, without an exponent.
pub fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let magnitude = value.abs().log10().floor() as i32;
    let decimals = usize::try_from(2 - magnitude).unwrap_or(0);
    let text = format!("{value:.decimals$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_string() } else { text }
}

/// A statement about a figure.
#[derive(Clone, Debug, Serialize)]
pub struct Claim {
    /// Who made it.
    pub by: Source,
    /// The quantity it is about.
    pub what: String,
    /// The unit of `stated` and `measured`, with the space before it: ` %`, or empty.
    pub unit: &'static str,
    /// The stated value.
    pub stated: Stated,
    /// The least and the largest value measured.
    pub measured: [f64; 2],
    /// A comment, or empty.
    pub comment: String,
}

/// Who made a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// The LDA paper.
    Paper,
    /// This project.
    Target,
}

/// A stated value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Stated {
    /// No more than this.
    Below(f64),
    /// No less than this.
    Above(f64),
    /// Between these two.
    Between(f64, f64),
    /// About this much: within a quarter.
    About(f64),
}

impl Claim {
    /// Whether all measured values are as stated.
    pub fn holds(&self) -> bool {
        let [low, high] = self.measured;
        match self.stated {
            Stated::Below(limit) => high <= limit,
            Stated::Above(limit) => low >= limit,
            Stated::Between(least, most) => low >= least && high <= most,
            Stated::About(value) => low >= value / 1.25 && high <= value * 1.25,
        }
    }

    /// Measured over stated, where they are farthest apart; none over zero.
    pub fn ratio(&self) -> Option<f64> {
        let [low, high] = self.measured;
        let ratio = match self.stated {
            Stated::Below(limit) => high / limit,
            Stated::Above(limit) => low / limit,
            Stated::Between(least, most) => {
                let (below, above) = (low / least, high / most);
                if above > 1.0 || below >= 1.0 { above } else { below }
            }
            Stated::About(value) => {
                if high / value > value / low {
                    high / value
                } else {
                    low / value
                }
            }
        };
        ratio.is_finite().then_some(ratio)
    }

    fn stated_text(&self) -> String {
        let unit = self.unit;
        match self.stated {
            Stated::Below(limit) => format!("at most {}{unit}", significant(limit)),
            Stated::Above(limit) => format!("at least {}{unit}", significant(limit)),
            Stated::Between(least, most) => format!("{} to {}{unit}", significant(least), significant(most)),
            Stated::About(value) => format!("about {}{unit}", significant(value)),
        }
    }

    fn measured_text(&self) -> String {
        let [low, high] = self.measured.map(significant);
        if low == high { format!("{low}{}", self.unit) } else { format!("{low} to {high}{}", self.unit) }
    }
}

/// A Markdown table of claims: stated, measured, ratio, comment.
pub fn claims_table(claims: &[Claim]) -> String {
    let mut text = String::from("| of | stated by | stated | measured | ratio | holds | comment |\n");
    text += "|---|---|---:|---:|---:|---|---|\n";
    for claim in claims {
        let by = match claim.by {
            Source::Paper => "paper",
            Source::Target => "target",
        };
        text += &format!(
            "| {} | {by} | {} | {} | {} | {} | {} |\n",
            claim.what,
            claim.stated_text(),
            claim.measured_text(),
            claim.ratio().map_or("–".into(), significant),
            if claim.holds() { "yes" } else { "**no**" },
            claim.comment
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figure() -> Figure {
        let series = |name: &str, points| Series { name: name.into(), colour: 0, style: Style::Line, points };
        Figure {
            name: "9z",
            title: "a test",
            x: Axis::logarithmic("loss"),
            y: Axis::linear("error"),
            series: vec![
                series("one", vec![Point::average(0.1, [Some(1.0), None, Some(0.5)].into_iter())]),
                series("two", vec![Point::average(0.05, [None].into_iter())]),
            ],
        }
    }

    #[test]
    fn comma_separated() {
        let expected = "figure,series,x,y,low,high,runs,missing\n9z,\"one\",0.1,0.75,0.5,1,2,1\n9z,\"two\",0.05,,,,0,1\n";
        assert_eq!(figure().csv(), expected);
    }

    #[test]
    fn a_table() {
        let expected = "| loss | one | two |\n|---:|---:|---:|\n| 0.05 |  | none (1 of 1 without) |\n\
                        | 0.1 | 0.75 (1 of 3 without) |  |\n";
        assert_eq!(figure().table(), expected);
    }

    #[test]
    fn three_digits() {
        for (value, text) in [
            (0.0, "0"),
            (0.000123456, "0.000123"),
            (1.0, "1"),
            (-2.5, "-2.5"),
            (99.96, "100"),
            (123_456.0, "123456"),
        ] {
            assert_eq!(significant(value), text);
        }
    }

    #[test]
    fn verdicts() {
        let claim = |stated, measured| {
            let (by, what, comment) = (Source::Paper, String::new(), String::new());
            Claim { by, what, unit: " %", stated, measured, comment }
        };
        for (stated, measured, holds, ratio) in [
            (Stated::Below(4.0), [1.0, 4.0], true, 1.0),
            (Stated::Below(4.0), [1.0, 5.0], false, 1.25),
            (Stated::Above(2.0), [2.0, 9.0], true, 1.0),
            (Stated::Above(2.0), [1.0, 9.0], false, 0.5),
            (Stated::Between(2.0, 4.0), [2.0, 3.0], true, 0.75),
            (Stated::Between(2.0, 4.0), [1.0, 3.0], false, 0.5),
            (Stated::Between(2.0, 4.0), [1.0, 6.0], false, 1.5),
            (Stated::About(2.0), [1.8, 2.0], true, 0.9),
            (Stated::About(2.0), [2.0, 3.0], false, 1.5),
        ] {
            let claim = claim(stated, measured);
            assert_eq!((claim.holds(), claim.ratio()), (holds, Some(ratio)), "{stated:?} {measured:?}");
        }
        let table = claims_table(&[claim(Stated::Below(4.0), [1.0, 5.0])]);
        assert!(table.ends_with("|  | paper | at most 4 % | 1 to 5 % | 1.25 | **no** |  |\n"), "{table}");
        let table = claims_table(&[claim(Stated::Below(0.0), [0.0; 2])]);
        assert!(table.ends_with("| at most 0 % | 0 % | – | yes |  |\n"), "{table}");
    }
}
