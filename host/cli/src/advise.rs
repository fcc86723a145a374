//! `deltaline advise`: which method to take, from what `deltaline lab methods` measured.
//!
//! The numbers are those of `docs/methods.json`, which is part of the program. A condition that was not measured is answered by the
//! nearest one that was, and refused where none is near: the odds of a packet's loss differ by more than a factor of [`NEAR`].
//!
//! # Test plan
//!
//! `tests/advise.rs`: every answer is that of the file, the best first; the nearest condition by hand; what is not near is refused, and so
//! are shares that are none and options that contradict each other; every command that is named is one that runs.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::parse;
use crate::report::{self, or_none, per_cent, table};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

/// What was measured.
const MEASURED: &str = include_str!("../../../docs/methods.json");

/// By which factor odds may differ from those that were measured.
const NEAR: f64 = 5.0;

/// What is to know of methods that were asked for where nothing is lost.
const UNTIL_A_LOSS: &str = "measured without any loss; sums alone have no mean from the first loss on: ask with --loss 0.1% where some may be";

pub(crate) const EXAMPLES: &str = "\
Examples:
  Which method shows the mean best where 1 % of the packets is lost:
    deltaline advise --need mean --loss 1%

  The same of the 99th percentile, losses in bursts, for programs:
    deltaline advise --need quantile --loss 0.2% --bursts --json

  Losses where packets come in from elsewhere, too:
    deltaline advise --need loss --loss 1% --foreign 0.1%

  The best methods under each condition that was measured:
    deltaline advise --need mean

How the numbers came about: docs/methods.md, which `deltaline lab methods` writes.";

#[derive(Debug, Args)]
pub(crate) struct Advise {
    /// What is to be known
    #[arg(long, value_enum)]
    need: Need,
    /// Share of the packets that is lost, such as 1% or 0.01; without it, the best of all conditions that were measured. The other options need it
    #[arg(long, value_parser = parse_share, allow_hyphen_values = true, value_name = "SHARE")]
    loss: Option<f64>,
    /// Losses come in bursts, of a hundred packets or so
    #[arg(long, requires = "loss")]
    bursts: bool,
    /// Share of the packets that others overtake
    #[arg(long, requires = "loss", value_parser = parse_share, allow_hyphen_values = true, value_name = "SHARE")]
    reordering: Option<f64>,
    /// Packets that come in from elsewhere, or twice, or from the next interval, as a share of those that are sent
    #[arg(long, requires = "loss", value_parser = parse_share, allow_hyphen_values = true, value_name = "SHARE")]
    foreign: Option<f64>,
    /// Write the result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Need {
    /// The mean delay of all packets
    Mean,
    /// The 99th percentile of delay
    Quantile,
    /// How many packets are lost
    Loss,
    /// The mean delay of each flow of a hundred packets or more
    Flow,
}

impl Need {
    fn words(self) -> &'static str {
        match self {
            Need::Mean => "mean delay of all packets",
            Need::Quantile => "99th percentile of delay, by rank",
            Need::Loss => "packets lost",
            Need::Flow => "mean delay of single flows",
        }
    }

    /// What a method answers a share of.
    fn answered(self) -> &'static str {
        if self == Need::Flow { "flows" } else { "runs" }
    }
}

/// All that was measured.
#[derive(Deserialize)]
struct Measured {
    packets: u64,
    runs: u64,
    /// The same of single flows.
    of_flows: [u64; 2],
    methods: Vec<Method>,
    cases: Vec<Case>,
}

#[derive(Serialize, Deserialize)]
struct Method {
    name: String,
    octets: u64,
    link_octets: u64,
    command: Option<String>,
}

/// A need under a condition.
#[derive(Serialize, Deserialize)]
struct Case {
    need: Need,
    condition: Condition,
    streams: Vec<String>,
    /// The best first; those that seldom answer last.
    answers: Vec<Answer>,
    /// How many of them answer nearly always.
    usual: usize,
}

#[derive(Serialize, Deserialize)]
struct Condition {
    name: String,
    loss: f64,
    is_bursty: bool,
    overtaken: f64,
    foreign: f64,
}

#[derive(Serialize, Deserialize)]
struct Answer {
    method: String,
    /// How many times its error is the best one of a stream, at most.
    excess: Option<f64>,
    errors: Vec<Option<f64>>,
    answered: Vec<f64>,
}

#[derive(Serialize)]
struct Output<'a> {
    packets: u64,
    runs: u64,
    cases: Vec<&'a Case>,
    /// What to take in each of the cases.
    take: Vec<Vec<Take<'a>>>,
    methods: Vec<&'a Method>,
}

/// A method that is a command of this program.
#[derive(Serialize)]
struct Take<'a> {
    method: &'a str,
    command: &'a str,
    /// The least share of runs, or of flows, that it answers.
    answered: f64,
    /// When it no longer serves.
    remark: Option<&'static str>,
}

fn parse_share(text: &str) -> Result<f64, String> {
    let share = parse::share(text).filter(|share| (0.0..1.0).contains(share));
    share.ok_or_else(|| "give a share from 0 to below 1, such as 1% or 0.01".into())
}

/// By which factor the odds of two shares differ, 1 or more; 1 of two that are zero, and infinitely many if one is.
fn apart(one: f64, other: f64) -> f64 {
    let odds = |share: f64| share / (1.0 - share);
    let ratio = odds(one) / odds(other);
    if one == other { 1.0 } else { ratio.max(ratio.recip()) }
}

impl Advise {
    /// How far a condition is from what is asked for; none if it is another one.
    fn distance(&self, condition: &Condition) -> Option<f64> {
        let asked = [self.loss, self.reordering, self.foreign].map(Option::unwrap_or_default);
        let measured = [condition.loss, condition.overtaken, condition.foreign];
        let farthest = asked
            .into_iter()
            .zip(measured)
            .map(|(asked, measured)| apart(asked, measured))
            .fold(1.0, f64::max);
        (self.bursts == condition.is_bursty && farthest <= NEAR).then_some(farthest)
    }

    fn check(&self) -> Result<(), Failure> {
        match self.loss {
            Some(0.0) if self.bursts => {
                let message = "--bursts contradicts --loss 0: nothing is lost in bursts; give the loss or leave out --bursts";
                Err(Failure::new(Exit::Usage, message))
            }
            Some(0.0) if self.need == Need::Loss => {
                let message =
                    "--loss 0: where nothing is lost the loss has no relative error; give a loss above 0";
                Err(Failure::new(Exit::Usage, message))
            }
            _ => Ok(()),
        }
    }

    /// What was measured of the need, as near as it gets.
    fn cases<'a>(&self, measured: &'a Measured) -> Result<Vec<&'a Case>, Failure> {
        let of_need =
            || measured.cases.iter().filter(|case| case.need == self.need && !case.answers.is_empty());
        if self.loss.is_none() {
            return Ok(of_need().collect());
        }
        let near = of_need().filter_map(|case| Some((self.distance(&case.condition)?, case)));
        match near.min_by(|(one, _), (other, _)| one.total_cmp(other)) {
            Some((_, case)) => Ok(vec![case]),
            None => {
                let names: Vec<&str> = of_need().map(|case| case.condition.name.as_str()).collect();
                let message = format!(
                    "nothing was measured whose odds, lost to arrived, are within a factor of {NEAR} of this; measured were: {}",
                    names.join("; ")
                );
                Err(Failure::new(Exit::Refused, message))
            }
        }
    }
}

impl Measured {
    fn method(&self, answer: &Answer) -> Option<&Method> {
        self.methods.iter().find(|method| method.name == answer.method)
    }

    /// The first answer of a method that is a command of this program, and the command.
    fn first_built<'a>(&'a self, answers: &'a [Answer]) -> Option<(&'a Answer, &'a str)> {
        answers.iter().find_map(|answer| Some((answer, self.method(answer)?.command.as_deref()?)))
    }

    /// A case with all its methods.
    fn details(&self, case: &Case) -> String {
        let mut header = vec!["method", "times the best"];
        header.extend(case.streams.iter().map(String::as_str));
        header.extend(["octets at each end", "on the link"]);
        let mut table = table(&header);
        for answer in &case.answers {
            let excess = or_none(answer.excess, |excess| format!("{excess:.2}"));
            let mut row = vec![answer.method.clone(), excess];
            let found = answer.errors.iter().zip(&answer.answered);
            row.extend(found.map(|(found, share)| match share {
                1.0 => error(*found),
                share => format!("{} (in {} of {})", error(*found), per_cent(*share), case.need.answered()),
            }));
            let method = self.method(answer);
            row.extend([
                or_none(method, |method| method.octets.to_string()),
                or_none(method, |method| method.link_octets.to_string()),
            ]);
            table.add_row(row);
        }
        let mut text = format!("{}, measured: {}\n{table}\n", case.need.words(), case.condition.name);
        let usual = &case.answers[..case.usual.min(case.answers.len())];
        let best = self.first_built(usual);
        if let Some(first) =
            usual.first().filter(|first| best.is_none_or(|(best, _)| best.method != first.method))
        {
            text += &format!("best: {}, which is no command of this program\n", first.method);
        }
        for (place, take) in self.takes(case).iter().enumerate() {
            let where_it_answers = match take.answered {
                1.0 => String::new(),
                share => format!(", which answers {} of the {}", per_cent(share), case.need.answered()),
            };
            let word = if place == 0 { "take" } else { "for the others, take" };
            text += &format!("{word} {}{where_it_answers}: {}\n", take.method, take.command);
            text += &take.remark.map_or_else(String::new, |remark| format!("    {remark}\n"));
        }
        text
    }

    /// What to take: the best method that is a command, and before it what is nearer where it answers.
    fn takes<'a>(&'a self, case: &'a Case) -> Vec<Take<'a>> {
        let (usual, others) = case.answers.split_at(case.usual.min(case.answers.len()));
        let times = |answer: &Answer| answer.excess.unwrap_or(f64::INFINITY);
        let best = self.first_built(usual);
        let least = best.map_or(f64::INFINITY, |(best, _)| times(best));
        let nearer = self.first_built(others).filter(|(other, _)| times(other) < least);
        let is_exact = case.condition.loss == 0.0 && case.need == Need::Mean;
        let take = |(answer, command): (&'a Answer, &'a str)| Take {
            method: &answer.method,
            command,
            answered: answer.answered.iter().copied().fold(1.0, f64::min),
            remark: is_exact.then_some(UNTIL_A_LOSS),
        };
        nearer.into_iter().chain(best).map(take).collect()
    }

    /// The best methods of several cases.
    fn overview(&self, cases: &[&Case]) -> String {
        let mut table = table(&["condition", "best", "errors", "then", "errors"]);
        for case in cases {
            let best = |place: usize| case.answers.get(place).filter(|_| place < case.usual);
            let mut row = vec![case.condition.name.clone()];
            for place in [0, 1] {
                row.push(or_none(best(place), |answer| answer.method.clone()));
                row.push(or_none(best(place), Answer::range));
            }
            table.add_row(row);
        }
        let need = cases.first().map_or("", |case| case.need.words());
        format!("{need}, errors on the streams where they are least and largest\n{table}\n")
    }
}

impl Answer {
    /// The least and the largest error.
    fn range(&self) -> String {
        let errors = || self.errors.iter().flatten().copied();
        let [least, largest] = [errors().reduce(f64::min), errors().reduce(f64::max)].map(error);
        if least == largest { least } else { format!("{least} to {largest}") }
    }
}

/// An error in per cent.
fn error(error: Option<f64>) -> String {
    or_none(error, |error| if error == 0.0 { "exact".into() } else { per_cent(error) })
}

pub(crate) fn run(arguments: &Advise) -> Result<Exit, Failure> {
    arguments.check()?;
    let measured: Measured = serde_json::from_str(MEASURED)
        .map_err(|error| Failure::new(Exit::Input, format!("docs/methods.json: {error}")))?;
    let cases = arguments.cases(&measured)?;
    let [packets, runs] = match arguments.need {
        Need::Flow => measured.of_flows,
        _ => [measured.packets, measured.runs],
    };
    if arguments.json {
        let has_answer = |method: &&Method| {
            cases.iter().flat_map(|case| &case.answers).any(|answer| answer.method == method.name)
        };
        let methods = measured.methods.iter().filter(has_answer).collect();
        let take = cases.iter().map(|case| measured.takes(case)).collect();
        report::print_result("advise", &Output { packets, runs, cases, take, methods })?;
        return Ok(Exit::Done);
    }
    let answer = match &cases[..] {
        [case] => measured.details(case),
        cases => measured.overview(cases),
    };
    report::print(&format!(
        "errors of {runs} runs of {packets} packets on each stream; docs/methods.md says how they came about\n\n{answer}"
    ))?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_those_of_odds() {
        assert_eq!((apart(0.0, 0.0), apart(0.5, 0.5)), (1.0, 1.0));
        assert_eq!((apart(0.0, 0.1), apart(0.1, 0.0)), (f64::INFINITY, f64::INFINITY));
        // 4 to 1 against 1 to 1.
        assert!((apart(0.8, 0.5) - 4.0).abs() < 1e-12 && (apart(0.5, 0.8) - 4.0).abs() < 1e-12);
        for text in ["-1%", "1", "100%", "nan", "inf", "", "1%%"] {
            assert!(parse_share(text).is_err(), "{text}");
        }
        assert_eq!(parse_share("0.5 %"), Ok(0.005));
    }
}
