//! Accuracy on whole recordings, over many seeds.
//!
//! Test plan: on the shipped pair, and where the environment variable `DELTALINE_DATA` names a folder with the full
//! recordings on the full pair too, one interval of the default configuration (2 x 1024 rows, probabilities 1/2 and
//! 1/64) under fifty seeds: the loss is exact, the 95 % interval covers the true mean as often as theory says, and
//! mean and standard deviation are as near the truth as their sample sizes let expect.

use crate::common::{RECEIVER, SENDER, run};
use serde_json::Value;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const SEEDS: u32 = 50;

struct Errors {
    mean: f64,
    deviation: f64,
    is_covered: bool,
}

/// A member that must be a number.
#[track_caller]
fn number(object: &Value, member: &str) -> f64 {
    let number = object[member].as_f64();
    assert!(number.is_some(), "{member} of {object}");
    number.unwrap_or_default()
}

fn errors(sender: &Path, receiver: &Path) -> Vec<Errors> {
    let of_seed = |seed: u32| {
        let seed = seed.to_string();
        let arguments = [sender.as_os_str(), receiver.as_os_str()].into_iter();
        let arguments: Vec<_> = ["measure", "--json", "--truth", "--seed", &seed]
            .into_iter()
            .map(std::ffi::OsStr::new)
            .chain(arguments)
            .collect();
        let result = run(&arguments).json();
        let (overall, truth) = (&result["overall"], &result["overall"]["truth"]);
        assert_eq!(overall["lost"], truth["lost"]);
        let (mean, deviation) = (number(truth, "mean_ns"), number(truth, "std_ns"));
        let range = &overall["mean_ci95_ns"];
        let covers = |bound: usize| range[bound].as_f64().map(|bound| bound.total_cmp(&mean));
        Errors {
            mean: (number(overall, "mean_ns") / mean - 1.0).abs(),
            deviation: (number(overall, "std_ns") / deviation - 1.0).abs(),
            is_covered: covers(0).is_some_and(|low| low.is_le())
                && covers(1).is_some_and(|high| high.is_ge()),
        }
    };
    (1..=SEEDS).map(of_seed).collect()
}

fn average(errors: &[Errors], of: impl Fn(&Errors) -> f64) -> f64 {
    errors.iter().map(of).sum::<f64>() / errors.len() as f64
}

/// Fewer than 43 of 50 intervals of true coverage 95 % cover the truth once in 270 runs; these seeds are fixed.
fn check_coverage(errors: &[Errors]) {
    let covered = errors.iter().filter(|errors| errors.is_covered).count();
    assert!(covered >= 43, "{covered} of {SEEDS}");
}

#[test]
fn the_shipped_pair() {
    let errors = errors(Path::new(SENDER), Path::new(RECEIVER));
    check_coverage(&errors);
    // 13,900 samples of 57,895 packets with a deviation of a quarter of the mean: a standard error of 0.19 %, whose
    // absolute value averages 0.15 %. 1/sqrt(2g) with 900 usable rows is 2.4 %; losses come in bursts, which the
    // theory does not know.
    assert!(average(&errors, |errors| errors.mean) < 0.0025);
    assert!(average(&errors, |errors| errors.deviation) < 0.05);
}

#[test]
fn the_full_pair() {
    let Some(folder) = std::env::var_os("DELTALINE_DATA").map(PathBuf::from) else {
        // Not `eprintln!`, which the test harness swallows.
        let _ = writeln!(
            io::stderr(),
            "skipped, because the variable DELTALINE_DATA does not name a folder with the full recordings"
        );
        return;
    };
    let file = |end: &str| folder.join("captures").join(format!("t1.{end}.pcap.zst"));
    let errors = errors(&file("ingress"), &file("egress"));
    let summary = format!(
        "mean error {:.4} %, deviation error {:.3} %, covered {}",
        100.0 * average(&errors, |errors| errors.mean),
        100.0 * average(&errors, |errors| errors.deviation),
        errors.iter().filter(|errors| errors.is_covered).count()
    );
    let _ = writeln!(io::stderr(), "{summary}");
    check_coverage(&errors);
    assert!(errors[0].mean <= 0.003 && errors[0].deviation <= 0.12, "{summary}");
    assert!(average(&errors, |errors| errors.mean) <= 0.001, "{summary}");
    assert!(average(&errors, |errors| errors.deviation) <= 0.05, "{summary}");
}
