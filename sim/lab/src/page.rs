//! Pages: experiments with their figures and statements, as Markdown.
//!
//! # Test plan
//!
//! A page of one small report contains its figures, its statements and those that do not hold; each page has a beginning of its own.

use crate::figure::claims_table;
use crate::keys::Keys;
use crate::{LabError, Report, Scale, plot};

/// Where the figures are, relative to the pages.
pub const FIGURES: &str = "results";

/// A page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Page {
    /// The papers' experiments, and those that they leave out.
    Results,
    /// Which method to take.
    Methods,
}

impl Page {
    /// All of them.
    pub const ALL: [Page; 2] = [Page::Results, Page::Methods];

    /// The name of its file.
    pub fn file(self) -> &'static str {
        match self {
            Page::Results => "results.md",
            Page::Methods => "methods.md",
        }
    }

    /// The page, which `command` writes.
    pub fn text(self, reports: &[Report], scale: &Scale, command: &str) -> String {
        let mut text = match self {
            Page::Results => results(scale, command),
            Page::Methods => methods(scale, command),
        };
        let claims = || reports.iter().flat_map(|report| &report.claims);
        let broken = claims().filter(|claim| !claim.holds()).count();
        text += &format!(
            "{} statements, of the paper and of this project's targets, were tested; {broken} do not hold as stated. The ratio \
             is measured over stated, where the two are farthest apart.\n",
            claims().count()
        );
        for report in reports {
            text += &section(report);
        }
        text
    }
}

/// The beginning of the page of results.
fn results(scale: &Scale, command: &str) -> String {
    let Scale { packets, runs, seed, keys } = scale;
    let hashes = match keys {
        Keys::Random => "are drawn instead of computed",
        Keys::Counter(..) => "are those of keys that differ in a counter alone",
    };
    format!(
        "# Results of the experiments\n\nWritten by `{command}`; do not edit. {packets} packets an interval, {runs} \
         runs a point, seed {seed}.\n\nThe paper is Kompella, Levchenko, Snoeren, Varghese: \"Router Support for \
         Fine-Grained Latency Measurements\", IEEE/ACM ToN 2012, section IV. Errors are averages of |true - \
         estimated| / true, as there. Delays are whole nanoseconds, and hashes {hashes} \
         (`sim/lab/src/keys.rs`).\n\n"
    )
}

/// The beginning of the page of methods.
fn methods(scale: &Scale, command: &str) -> String {
    format!(
        "# Which method for which need\n\nWritten by `{command}`, with `methods.json` beside it; do not edit. Seed {}.\n\n\
         Methods of five papers and of this project measure the same streams in as many octets of memory: the LDA paper (Kompella, \
         Levchenko, Snoeren, Varghese, IEEE/ACM ToN 2012), the RDA paper (Fu, Barlet-Ros, Li, IEEE/ACM ToN 2018) with FineComb, the LDS \
         paper (Sanjuàs-Cuxart et al., IMC 2011), the COLATE paper (Shahzad, Liu, SIGMETRICS 2014), the RLI paper (Lee, Duffield, Kompella, \
         SIGCOMM 2010), and what they are compared with there.\n\n",
        scale.seed
    )
}

/// The files of an experiment's figures, by name: each as CSV and as SVG.
///
/// # Errors
///
/// [`LabError::Drawing`].
pub fn figures(report: &Report) -> Result<Vec<(String, String)>, LabError> {
    let mut files = vec![];
    for figure in &report.figures {
        let drawn = plot::svg(figure);
        let svg =
            drawn.map_err(|error| LabError::Drawing { figure: figure.name, reason: error.to_string() })?;
        files.push((format!("{}.csv", figure.name), figure.csv()));
        files.push((format!("{}.svg", figure.name), svg));
    }
    Ok(files)
}

/// An experiment's section of the page.
pub fn section(report: &Report) -> String {
    let mut text = format!("\n## {}\n\n{}\n\n", report.title, report.text);
    if !report.claims.is_empty() {
        text += &claims_table(&report.claims);
    }
    for figure in &report.figures {
        let name = figure.name;
        text += &format!(
            "\n### Figure {name}: {}\n\n![Figure {name}]({FIGURES}/{name}.svg)\n\n{} ([CSV]({FIGURES}/{name}.csv)):\n\n",
            figure.title, figure.y.label
        );
        text += &figure.table();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::figure::{Axis, Claim, Figure, Source, Stated};

    #[test]
    fn a_page() {
        let axis = Axis::linear("axis");
        let claim = |measured| Claim {
            by: Source::Paper,
            what: "error".into(),
            unit: " %",
            stated: Stated::Below(4.0),
            measured: [measured; 2],
            comment: "why".into(),
        };
        let report = Report {
            title: "A title",
            text: "Some text.".into(),
            figures: vec![Figure { name: "9z", title: "a figure", x: axis, y: axis, series: vec![] }],
            claims: vec![claim(1.0), claim(5.0)],
        };
        let scale = Scale { packets: 1000, runs: 2, seed: 3, keys: Keys::Random };
        let text = |page: Page| page.text(std::slice::from_ref(&report), &scale, "deltaline lab 9");
        let page = text(Page::Results);
        for part in [
            "`deltaline lab 9`; do not edit. 1000 packets an interval, 2 runs a point, seed 3.",
            "are drawn",
            "2 statements",
            "; 1 do not hold",
            "## A title\n\nSome text.",
            "![Figure 9z](results/9z.svg)",
            "| error | paper | at most 4 % | 5 % | 1.25 | **no** | why |",
        ] {
            assert!(page.contains(part), "{part} is not in {page}");
        }
        let other = text(Page::Methods);
        assert!(
            other.contains("`deltaline lab 9`, with `methods.json`") && other.contains("2 statements"),
            "{other}"
        );
        assert!(!other.contains("are drawn"));
        let names: Vec<String> = figures(&report).unwrap().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["9z.csv", "9z.svg"]);
    }
}
