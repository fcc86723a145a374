//! The other synopses on the shipped captures, against the delays of all packets.
//!
//! # Test plan
//!
//! * Over twenty seeds each, the mean's 95 % interval holds the true mean as often as chance lets expect.
//! * Identity tables name every packet that was lost, and none that was not; where they are too small, symbols do, or it is said.
//! * RDA and sRDA: where all packets that differ come out, mean and loss are exact; where they do not, it is said, and the mean of RDA has an
//!   interval that holds the true one.
//! * FineComb's rows are repaired where packets came twice, and not where some were lost.
//! * The help names every synopsis that the registry has, and those whose prefix length is 0 where none is given.
//! * `decode` of the control frames says what `measure` said; a design may name the synopsis; what does not fit one is
//!   refused.
#![allow(clippy::unwrap_used)]

use crate::common::{Folder, RECEIVER, SENDER, packets, run};
use deltaline_capture::Packet;
use deltaline_model::wire::shape::Kind;
use serde_json::{Value, json};

const MEAN_NS: f64 = 13_058_477.7;
const LOST: u64 = 1566;

fn measure(more: &[&str]) -> Value {
    run(&[&["measure", "--json", SENDER, RECEIVER], more].concat()).json()
}

#[test]
fn means_are_covered() {
    for (synopsis, rows) in [("finecomb", "256"), ("identity", "4096")] {
        let covers = |seed: u32| {
            let (seed, folder) = (seed.to_string(), Folder::new());
            // Of tables alone: `measure` knows the times of the packets that are missing.
            let frames = folder.path("frames.pcapng");
            measure(&["--synopsis", synopsis, "--rows", rows, "--seed", &seed, "--frames", &frames]);
            let json = run(&["decode", "--json", &frames]).json();
            let range = &json["overall"]["mean_ci95_ns"];
            let [low, high] = [0, 1].map(|end| range[end].as_f64().unwrap());
            (low..=high).contains(&MEAN_NS)
        };
        let missed = (1..=20).filter(|seed| !covers(*seed)).count();
        // Of 20 intervals at 95 %, five or more miss once in 400 such tests.
        assert!(missed < 5, "{synopsis}: {missed} of 20 missed");
    }
}

#[test]
fn identity_tables_name_the_lost_packets() {
    for (seed, hash) in [("1", "h3"), ("2", "h3"), ("3", "rabin")] {
        let json = measure(&["--synopsis", "identity", "--rows", "1024", "--seed", seed, "--hash", hash]);
        let overall = &json["overall"];
        assert_eq!((&overall["only_sent"], &overall["only_received"]), (&json!(LOST), &json!(0)));
        assert_eq!(overall["complete"], json!(true));
        // Both ends remember when those were seen: the delays are those of all the others.
        assert!((overall["mean_ns"].as_f64().unwrap() - MEAN_NS).abs() < 0.1, "{overall}");
        assert_eq!(overall["mean_ci95_ns"][0], overall["mean_ci95_ns"][1]);
        assert_eq!(overall["effective_samples"], overall["received"]);
        // As many intervals as can be: each is exact, and so are all together.
        let parts = measure(&[
            "--synopsis",
            "identity",
            "--rows",
            "1024",
            "--seed",
            seed,
            "--interval",
            "250ms",
            "--truth",
        ]);
        assert!(
            (parts["overall"]["mean_ns"].as_f64().unwrap() - MEAN_NS).abs() < 0.1,
            "{}",
            parts["overall"]
        );
        for interval in parts["intervals"].as_array().unwrap() {
            let [mean, exact] =
                [&interval["mean_ns"], &interval["truth"]["mean_ns"]].map(|mean| mean.as_f64().unwrap());
            assert!((mean - exact).abs() < 0.5, "{interval}");
        }
    }
    // Tables that are too small: ends that remember their packets make symbols until all come out. Control frames have none.
    let (folder, rows) = (Folder::new(), "256");
    let frames = folder.path("frames.pcapng");
    let few = measure(&["--synopsis", "identity", "--rows", rows, "--frames", &frames])["overall"].clone();
    assert_eq!((&few["only_sent"], &few["complete"]), (&json!(LOST), &json!(true)));
    assert!((few["mean_ns"].as_f64().unwrap() - MEAN_NS).abs() < 0.1, "{few}");
    let few = run(&["decode", "--json", &frames]).json()["overall"].clone();
    assert_eq!((&few["only_sent"], &few["complete"]), (&Value::Null, &json!(false)));
    assert!(few["reason"].as_str().unwrap().contains("4 for every 10 packets"), "{few}");
}

#[test]
fn rda_and_srda_are_exact_while_decoding_completes() {
    // 1,566 packets: in 4 banks of 1,024 cells three seeds of four complete, in two banks of 4,096 nine of ten, in one array alike.
    for (synopsis, tables, rows) in [("rda", "4", "1024"), ("rda", "2", "4096"), ("srda", "3", "4096")] {
        let mut complete = 0;
        for seed in ["1", "2", "3", "4"] {
            let json = measure(&["--synopsis", synopsis, "--tables", tables, "--rows", rows, "--seed", seed]);
            let overall = &json["overall"];
            if overall["complete"] != json!(true) {
                assert_eq!(overall["only_sent"], Value::Null);
                continue;
            }
            complete += 1;
            assert_eq!(
                ["lost", "only_sent", "only_received"].map(|key| overall[key].as_u64()),
                [Some(LOST), Some(LOST), Some(0)]
            );
            assert!((overall["mean_ns"].as_f64().unwrap() - MEAN_NS).abs() < 0.1, "{overall}");
            assert_eq!(overall["mean_ci95_ns"][0], overall["mean_ci95_ns"][1]);
        }
        assert!(complete > 0, "{synopsis}");
        let parts =
            ["--interval", "250ms", "--truth", "--synopsis", synopsis, "--tables", tables, "--rows", rows];
        for interval in measure(&parts)["intervals"].as_array().unwrap() {
            if interval["complete"] == json!(true) {
                let [mean, exact] =
                    [&interval["mean_ns"], &interval["truth"]["mean_ns"]].map(|mean| mean.as_f64().unwrap());
                assert!((mean - exact).abs() < 0.5, "{interval}");
                assert_eq!(interval["lost"], interval["truth"]["lost"]);
            }
        }
    }
}

#[test]
fn rda_that_is_too_small_says_so() {
    let few = measure(&["--synopsis", "rda", "--rows", "256"]);
    assert_eq!((&few["overall"]["complete"], &few["overall"]["only_sent"]), (&json!(false), &Value::Null));
    let array = measure(&["--synopsis", "srda", "--rows", "512"]);
    assert_eq!(array["overall"]["complete"], json!(false));
    assert!(array["overall"]["reason"].as_str().unwrap().contains("several rows of one array"), "{array}");
    // What came out is repaired all the same: of the recording's later intervals, which lost less, nothing differs.
    let covers = |seed: u32| {
        let seed = seed.to_string();
        let json = measure(&["--synopsis", "rda", "--rows", "1024", "--seed", &seed]);
        let range = &json["overall"]["mean_ci95_ns"];
        let [low, high] = [0, 1].map(|end| range[end].as_f64().unwrap());
        (low - 0.1..=high + 0.1).contains(&MEAN_NS)
    };
    let missed = (1..=20).filter(|seed| !covers(*seed)).count();
    // Of 20 intervals at 95 %, five or more miss once in 400 such tests.
    assert!(missed < 5, "{missed} of 20 missed");
}

#[test]
fn sampled_identity_tables_do_not_pass_for_whole_ones() {
    let json = measure(&["--synopsis", "identity", "--rows", "256", "--banks", "3"]);
    assert_eq!((&json["overall"]["only_sent"], &json["overall"]["lost"]), (&Value::Null, &json!(LOST)));
    assert!(json["overall"]["reason"].as_str().unwrap().contains("hold a sample"), "{json}");
}

/// Every hundredth packet lost, another hundred repeated, by a stream of the receiver's own.
#[test]
fn lost_and_repeated_packets_do_not_cancel_out() {
    let folder = Folder::new();
    let sent: Vec<_> = packets(SENDER).into_iter().take(20_000).collect();
    let mut received = vec![];
    for (number, packet) in sent.iter().enumerate() {
        if number % 100 == 7 {
            continue;
        }
        let later = |more| Packet { timestamp: packet.timestamp + 5_000_000 + more, ..packet.clone() };
        received.push(later(0));
        if number % 100 == 50 {
            received.push(later(1_000));
        }
    }
    let [sender, receiver] =
        [("s", &sent), ("r", &received)].map(|(name, packets)| folder.capture(name, packets));
    let json = run(&["measure", "--json", "--synopsis", "identity", &sender, &receiver]).json();
    let overall = &json["overall"];
    let numbers = ["only_sent", "only_received", "lost", "repeated"].map(|key| overall[key].as_u64());
    assert_eq!(numbers, [Some(200); 4]);
    assert_eq!((&overall["late"], &overall["early"]), (&json!(0), &json!(0)));
    assert!((overall["mean_ns"].as_f64().unwrap() - 5e6).abs() < 1.0, "{overall}");
}

/// A repeated packet's copies lie on either side of the cut between two intervals: the bounds reach over both choices.
#[test]
fn a_copy_behind_the_cut_may_be_the_original() {
    let folder = Folder::new();
    let sent: Vec<_> = packets(SENDER).into_iter().take(2_000).collect();
    let times: Vec<u64> = sent.iter().map(|packet| packet.timestamp).collect();
    let mut received: Vec<_> = sent
        .iter()
        .map(|packet| Packet { timestamp: packet.timestamp + 5_000_000, ..packet.clone() })
        .collect();
    // Of each twentieth packet a copy comes late, of which some have crossed a cut.
    let late = (times[1_999] - times[0]) / 20;
    let copies: Vec<_> = received
        .iter()
        .step_by(20)
        .map(|packet| Packet { timestamp: packet.timestamp + late, ..packet.clone() })
        .collect();
    // Those from behind the sender's last packet are others.
    let in_time = copies.iter().filter(|packet| packet.timestamp <= times[1_999] + 5_000_000).count();
    let more = in_time as f64 * late as f64 / sent.len() as f64;
    received.extend(copies);
    received.sort_by_key(|packet| packet.timestamp);
    let [sender, receiver] =
        [("s", &sent), ("r", &received)].map(|(name, packets)| folder.capture(name, packets));
    let interval = format!("{}ns", (times[1_999] - times[0]) / 4);
    let arguments = ["measure", "--json", "--synopsis", "identity", "--interval", &interval];
    let overall = run(&[&arguments[..], &[&sender, &receiver]].concat()).json()["overall"].clone();
    for key in ["bracket_ns", "mean_ci95_ns"] {
        let [lower, upper] = [0, 1].map(|end| overall[key][end].as_f64().unwrap());
        assert!(lower <= 5e6 + 1.0 && upper >= 5e6 + more - 1.0, "{more} {overall}");
    }
}

/// Every hundredth packet comes twice, and nothing is lost: rows of FineComb are repaired, and the mean is that of all packets.
#[test]
fn finecomb_is_repaired() {
    let folder = Folder::new();
    let sent: Vec<_> = packets(SENDER).into_iter().take(20_000).collect();
    let delay = |number: usize| 5_000_000 + 1000 * (number as u64 % 7);
    let mean = (0..sent.len()).map(delay).sum::<u64>() as f64 / sent.len() as f64;
    let mut received: Vec<_> = sent
        .iter()
        .enumerate()
        .flat_map(|(number, packet)| {
            let delay = delay(number);
            let later = move |more| Packet { timestamp: packet.timestamp + delay + more, ..packet.clone() };
            [Some(later(0)), (number % 100 == 50).then(|| later(400_000))].into_iter().flatten()
        })
        .collect();
    received.sort_by_key(|packet| packet.timestamp);
    let [sender, receiver] =
        [("s", &sent), ("r", &received)].map(|(name, packets)| folder.capture(name, packets));
    let measured = |banks: &str| {
        let options = ["measure", "--json", "--truth", "--synopsis", "finecomb", "--banks", banks];
        run(&[&options[..], &[&sender, &receiver]].concat()).json()["overall"].clone()
    };
    let all = measured("0");
    assert_eq!(
        (&all["complete"], &all["lost"], &all["surplus"]),
        (&json!(true), &json!(0), &json!(200)),
        "{all}"
    );
    assert!((all["mean_ns"].as_f64().unwrap() - mean).abs() < 0.1, "{all}");
    // Which of two copies was sent is a guess of exact matching.
    assert!(all["truth"]["mean_ns"].is_null(), "{all}");
    let sampled = measured("1,6");
    assert_eq!((&sampled["complete"], &sampled["only_received"]), (&json!(true), &Value::Null), "{sampled}");
    let range = &sampled["mean_ci95_ns"];
    assert!(range[1].as_f64().unwrap() - range[0].as_f64().unwrap() < 100.0, "{sampled}");
    // Lost packets are nobody's to repair.
    assert_eq!(measure(&["--synopsis", "finecomb"])["overall"]["complete"], json!(false));
}

#[test]
fn control_frames_say_the_same() {
    for synopsis in ["finecomb", "identity", "rda", "srda"] {
        let folder = Folder::new();
        let frames = folder.path("frames.pcapng");
        let measured = measure(&["--synopsis", synopsis, "--interval", "500ms", "--frames", &frames]);
        let decoded = run(&["decode", "--json", &frames]).json();
        if synopsis == "finecomb" {
            let mut measured = crate::common::of_tables(&measured["overall"]);
            measured.as_object_mut().unwrap().remove("complete");
            assert_eq!(crate::common::of_tables(&decoded["overall"]), measured);
        }
        let same = ["sent", "received", "lost", "only_sent", "complete"];
        // Only who remembers packets repairs rows.
        same.iter()
            .filter(|key| synopsis != "finecomb" || **key != "complete")
            .for_each(|key| assert_eq!(decoded["overall"][key], measured["overall"][key]));
        let [low, high] = [0, 1].map(|end| decoded["overall"]["mean_ci95_ns"][end].as_f64().unwrap());
        assert!((low..=high).contains(&measured["overall"]["mean_ns"].as_f64().unwrap()));
        assert!(measured["overall"]["mean_ns"].is_f64());
    }
}

/// What the help says of an option, word by word.
fn help_of(subcommand: &[&str], option: &str) -> Vec<String> {
    let help = run(&[subcommand, &["--help"]].concat()).output;
    let from = help.lines().skip_while(|line| !line.trim_start().starts_with(option)).skip(1);
    let text: String =
        from.take_while(|line| !line.trim_start().starts_with('-')).flat_map(|line| [line, " "]).collect();
    let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '-';
    text.split(|letter| !is_of_word(letter)).map(str::to_string).collect()
}

#[test]
fn the_help_names_every_synopsis() {
    for subcommand in [&["measure"][..], &["delimit"], &["exchange", "serve"], &["exchange", "ask"]] {
        let [synopses, banks] = ["--synopsis", "--banks"].map(|option| help_of(subcommand, option));
        for kind in Kind::all() {
            let name = kind.name().unwrap();
            let names_it = |words: &[String]| words.iter().any(|word| word == name);
            assert!(names_it(&synopses), "{subcommand:?}: {name} is not in {synopses:?}");
            assert_eq!(names_it(&banks), kind.default_prefixes() == [0], "{subcommand:?}: {name}, {banks:?}");
        }
        assert!(!synopses.iter().any(|word| word == "sketch"));
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let measure = |more: &[&str]| run(&[&["measure", SENDER, RECEIVER], more].concat());
    measure(&["--synopsis", "identity", "--banks", "0,3"]).failed(2, &["give one prefix length"]);
    measure(&["--synopsis", "finecomb", "--digest"]).failed(2, &["leave out digest"]);
    measure(&["--synopsis", "sketch"]).told(2, &["lda, finecomb, identity, rda, srda"]);
    measure(&["--synopsis", "rda", "--tables", "5"]).failed(2, &["give 1 to 4 tables"]);
    measure(&["--synopsis", "identity", "--tables", "2"]).failed(2, &["take rda or srda"]);
    measure(&["--synopsis", "finecomb", "--design", "10g"])
        .failed(2, &["contradicts --design 10g, which has lda"]);
}
