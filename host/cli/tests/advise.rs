//! `deltaline advise` on the command line.
//!
//! # Test plan
//!
//! Answers are those of `docs/methods.json`, number by number, and in its order; the page beside it has the same ones; the nearest condition
//! by hand; what is best and what to take; every command that is named runs; what is not near, no share or contradicts itself is refused.

#![allow(clippy::unwrap_used, reason = "tests")]

use crate::common::{RECEIVER, Run, SENDER, run};
use serde_json::{Value, json};
use std::fs;

const DOCS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs");

fn advise(arguments: &[&str]) -> Run {
    run(&[&["advise"], arguments].concat())
}

fn measured() -> Value {
    serde_json::from_str(&fs::read_to_string(format!("{DOCS}/methods.json")).unwrap()).unwrap()
}

/// The arguments that ask for just this case.
fn question(case: &Value) -> Vec<String> {
    let condition = &case["condition"];
    let mut asked = vec!["--need".into(), case["need"].as_str().unwrap().into()];
    for (option, key) in [("--loss", "loss"), ("--reordering", "overtaken"), ("--foreign", "foreign")] {
        asked.extend([option.into(), condition[key].to_string()]);
    }
    asked.extend((condition["is_bursty"] == true).then(|| "--bursts".into()));
    asked
}

#[test]
fn answers_are_what_was_measured() {
    let (measured, page) = (measured(), fs::read_to_string(format!("{DOCS}/methods.md")).unwrap());
    for case in measured["cases"].as_array().unwrap() {
        let answers = case["answers"].as_array().unwrap();
        let Some(first) = answers.first() else { continue };
        let asked = question(case);
        let asked: Vec<&str> = asked.iter().map(String::as_str).collect();
        let json = advise(&[&asked[..], &["--json"]].concat()).json();
        assert_eq!(json["cases"], json!([case]));
        let text = advise(&asked);
        text.told(0, &[]);
        let name = first["method"].as_str().unwrap();
        // The first line of the table behind its header.
        let line = text.output.lines().find(|line| line.contains(name)).unwrap();
        let error = first["errors"][0].as_f64().unwrap();
        let shown: f64 = match line.split('|').nth(3).unwrap().trim() {
            "exact" => 0.0,
            percent => percent.trim_end_matches(" %").parse::<f64>().unwrap() / 100.0,
        };
        assert!((shown - error).abs() <= 0.006 * error, "{line}, {error}");
        assert!(page.contains(case["condition"]["name"].as_str().unwrap()) && page.contains(name));
    }
}

#[test]
fn the_nearest_condition() {
    let condition = |arguments: &[&str]| {
        let json = advise(&[arguments, &["--need", "mean", "--json"]].concat()).json();
        assert_eq!((&json["schema"]["name"], json["cases"].as_array().unwrap().len()), (&json!("advise"), 1));
        json["cases"][0]["condition"]["name"].as_str().unwrap().to_string()
    };
    for (arguments, name) in [
        (&["--loss", "0"][..], "no loss"),
        (&["--loss", "0.03%"], "0.1 % lost, single"),
        (&["--loss", "0.02"], "1 % lost, single"),
        // Of 5 % the odds are 4.75 times less than of 20 %, and 5.2 times more than of 1 %.
        (&["--loss", "5%"], "20 % lost, single"),
        (&["--loss", "0.5%", "--bursts"], "1 % lost in bursts"),
        (&["--loss", "2%", "--reordering", "0.5%"], "1 % lost, 1 % overtaken"),
        (&["--loss", "2%", "--foreign", "0.2%", "--reordering", "0"], "1 % lost, 0.1 % from elsewhere"),
    ] {
        assert_eq!(condition(arguments), name, "{arguments:?}");
    }
}

#[test]
fn all_conditions() {
    let json = advise(&["--need", "loss", "--json"]).json();
    let of_loss =
        measured()["cases"].as_array().unwrap().iter().filter(|case| case["need"] == "loss").count();
    // Without any loss there is no error of it.
    assert_eq!(json["cases"].as_array().unwrap().len(), of_loss - 1);
    let text = advise(&["--need", "loss"]);
    text.told(0, &[]);
    for case in json["cases"].as_array().unwrap() {
        assert!(text.output.contains(case["condition"]["name"].as_str().unwrap()), "{}", text.output);
    }
}

/// What is the best of all and no command is said to be that, and so is what is nearer in fewer cases.
#[test]
fn what_to_take() {
    let measured = measured();
    let command = |name: &str| {
        let mut methods = measured["methods"].as_array().unwrap().iter();
        methods.find(|method| method["name"] == name).unwrap()["command"].as_str().map(str::to_string)
    };
    for case in measured["cases"].as_array().unwrap() {
        let answers = case["answers"].as_array().unwrap();
        let (usual, others) = answers.split_at(case["usual"].as_u64().unwrap() as usize);
        let Some(first) = usual.first() else { continue };
        let asked = question(case);
        let text = advise(&asked.iter().map(String::as_str).collect::<Vec<_>>()).output;
        let name = |answer: &Value| answer["method"].as_str().unwrap().to_string();
        let is_no_command = format!("best: {}, which is no command of this program", name(first));
        assert_eq!(text.contains(&is_no_command), command(&name(first)).is_none(), "{text}");
        let built =
            |answers: &[Value]| answers.iter().find(|answer| command(&name(answer)).is_some()).cloned();
        let best = built(usual).unwrap();
        let times = |answer: &Value| answer["excess"].as_f64().unwrap_or(f64::INFINITY);
        let nearer = built(others).filter(|other| times(other) < times(&best));
        let expected: Vec<Value> = nearer.into_iter().chain([best]).collect();
        let json = advise(&asked.iter().map(String::as_str).chain(["--json"]).collect::<Vec<_>>()).json();
        let take = json["take"][0].as_array().unwrap();
        assert_eq!(take.len(), expected.len(), "{take:?}");
        let mut at = 0;
        for (take, expected) in take.iter().zip(&expected) {
            let (name, command) = (name(expected), command(&name(expected)).unwrap());
            let shares = expected["answered"].as_array().unwrap().iter().map(|share| share.as_f64().unwrap());
            assert_eq!((&take["method"], &take["command"]), (&json!(name), &json!(command)));
            assert_eq!(take["answered"], json!(shares.fold(1.0, f64::min)));
            // One below the other.
            let line = text[at..].find(&format!("take {name}")).unwrap_or_else(|| panic!("{text}"));
            at += line;
            assert!(text[at..].lines().next().unwrap().ends_with(&command), "{text}");
            // A table that is useless with any loss is not recommended without a word.
            let is_exact = case["condition"]["loss"] == 0.0 && case["need"] == "mean";
            assert_eq!(take["remark"].is_string(), is_exact, "{take}");
        }
    }
}

#[test]
fn commands_that_are_named_run() {
    for method in measured()["methods"].as_array().unwrap() {
        let Some(command) = method["command"].as_str() else { continue };
        assert!(command.starts_with("deltaline "), "{command}");
        let command = command.replace("sender.pcap", SENDER).replace("receiver.pcap", RECEIVER);
        let mut arguments: Vec<&str> = command.split(' ').skip(1).collect();
        if !command.contains(".pcap") {
            // Without the other end, that it is a command.
            arguments.push("--help");
        }
        let done = run(&arguments);
        assert!([0, 6].contains(&done.code) && !done.output.is_empty(), "{command}: {done:?}");
    }
}

#[test]
fn refusals() {
    advise(&[]).told(2, &["--need"]);
    advise(&["--need", "jitter"]).told(2, &["possible values", "quantile"]);
    for share in ["-1%", "100%", "150%", "1", "NaN", "inf", "", "1%%", "one"] {
        for option in ["--loss", "--reordering", "--foreign"] {
            let arguments = ["--need", "mean", "--loss", "1%", option, share];
            let arguments = if option == "--loss" {
                [&arguments[..2], &arguments[4..]].concat()
            } else {
                arguments.to_vec()
            };
            advise(&arguments).told(2, &[option, "give a share from 0 to below 1"]);
        }
    }
    advise(&["--need", "mean", "--bursts"]).told(2, &["--loss"]);
    advise(&["--need", "mean", "--foreign", "1%"]).told(2, &["--loss"]);
    advise(&["--need", "mean", "--loss", "0", "--bursts"]).failed(2, &["--bursts contradicts --loss 0"]);
    advise(&["--need", "loss", "--loss", "0"]).failed(2, &["give a loss above 0"]);
    for arguments in [
        &["--loss", "70%"][..],
        &["--loss", "0.001%"],
        &["--loss", "0", "--reordering", "1%"],
        &["--loss", "1%", "--bursts", "--reordering", "1%"],
        &["--loss", "1%", "--foreign", "0.1%", "--reordering", "1%"],
        &["--loss", "1%", "--reordering", "20%"],
    ] {
        advise(&[&["--need", "mean"], arguments].concat())
            .failed(10, &["nothing was measured", "1 % lost, single"]);
    }
    let error = advise(&["--need", "mean", "--loss", "70%", "--json"]).json();
    assert_eq!((&error["exit_code"], &error["schema"]["name"]), (&json!(10), &json!("error")));
}
