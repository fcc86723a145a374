#![allow(clippy::unwrap_used, reason = "tests")]

use super::json::{Interval, Numbers};
use super::live::Row;
use super::prometheus::Metrics;
use super::{csv, html, plot, table};
use deltaline_collect::summary::{Figures, IntervalFigures, Summary};
use deltaline_estimate::Reason;
use deltaline_estimate::quantity::{Definition, LOST, Metric, Number, Quantity, Unit};
use serde_json::{Value, json};

static SURPRISE: Definition = Definition {
    is_brief: true,
    exact: Some("surprise"),
    metric: Some(Metric { name: "delay_surprise", help: "A made-up delay" }),
    ..Definition::new("surprise", "surprise", Unit::Nanoseconds)
};
static WONDERS: Definition = Definition {
    is_brief: true,
    metric: Some(Metric { name: "wondrous", help: "Made-up packets" }),
    share: Some(Metric { name: "wonder", help: "A made-up share" }),
    ..Definition::new("wonders", "wonders", Unit::Packets)
};
static TRUE_SURPRISE: Definition = Definition::new("surprise", "surprise", Unit::Nanoseconds);
static FURTHER: Definition = Definition {
    metric: Some(Metric { name: "delay_further", help: "A further made-up delay" }),
    ..Definition::new("further", "further", Unit::Nanoseconds)
};
static HIDDEN: Definition = Definition { heading: None, ..Definition::new("hidden", "", Unit::Packets) };

/// An answer of numbers that no release knows, and a further one.
fn figures(value: Result<Number, Reason>) -> Figures {
    let surprise = Quantity { range: Some(Ok([1000.0, 4000.0])), ..Quantity::new(&SURPRISE, value) };
    let wonders = Quantity { samples: Some(40), ..Quantity::count(&WONDERS, 10) };
    Figures {
        method: None,
        void: None,
        answers: vec![
            vec![surprise, wonders, Quantity::count(&HIDDEN, u64::MAX)],
            vec![Quantity { what: &FURTHER, range: Some(Ok([1000.0, 4500.0])), ..surprise }],
        ],
        exact: Some(vec![Quantity::new(&TRUE_SURPRISE, Ok(Number::Whole(2000)))]),
        clock_doubt: None,
    }
}

/// An interval of which nothing is known but these numbers.
pub(super) fn blank(number: u32, figures: Figures) -> IntervalFigures {
    IntervalFigures {
        segment: 0,
        number,
        span: None,
        times: None,
        reported: None,
        authenticated: false,
        usable_rows: None,
        figures,
    }
}

fn interval(value: Result<Number, Reason>) -> IntervalFigures {
    let span = Some((0, 1_000_000));
    IntervalFigures {
        segment: 3,
        number: 7,
        span,
        times: Some([1_700_000_000_000_000_000, 1_700_000_000_001_000_000]),
        reported: None,
        authenticated: false,
        usable_rows: None,
        figures: figures(value),
    }
}

const KNOWN: Result<Number, Reason> = Ok(Number::Real(2500.0));

#[test]
fn a_made_up_quantity_is_in_tables() {
    let intervals = vec![interval(KNOWN), interval(Err(Reason::NoSingle))];
    let text = table::summary(&Summary { overall: figures(KNOWN), intervals, findings: vec![] });
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split('|').map(str::trim).collect()).collect();
    assert_eq!(
        lines[0],
        ["", "interval", "start", "surprise (95 %)", "wonders", "true surprise", "error", ""],
        "{text}"
    );
    let known = ["2.500 ± 1.500 µs", "10 (25.000 %)", "2.000 µs", "+25.000 %", ""];
    assert_eq!(lines[2], [&["", "7", "0.000 ns"], &known[..]].concat());
    assert_eq!(lines[3], ["", "7", "0.000 ns", "-", "10 (25.000 %)", "2.000 µs", "-", ""]);
    assert_eq!(lines[4], [&["", "overall", "-"], &known[..]].concat());
    assert_eq!(lines[5], ["", "interval", "further (95 %)", ""]);
    assert_eq!(lines[7], ["", "7", "2.500 (1.000 to 4.500) µs", ""]);
    let reason = format!("{}\n    interval 7: surprise_ns, further_ns\n", Reason::NoSingle);
    assert!(text.contains(&reason), "{text}");
}

#[test]
fn tables_say_whose_delays_they_show() {
    for (lost, is_said) in [(0, false), (3, true)] {
        let mut overall = figures(KNOWN);
        overall.answers[0].push(Quantity::count(&LOST, lost));
        let summary = Summary { overall, intervals: vec![interval(KNOWN)], findings: vec![] };
        let about = html::About { files: ["a", "b"], settings: vec![], warnings: &[] };
        for text in [table::summary(&summary), html::page(&about, &summary, "")] {
            assert_eq!(text.contains("the packets that arrived"), is_said, "{text}");
        }
    }
}

#[test]
fn a_made_up_quantity_is_in_json() {
    let members = serde_json::to_value(Numbers(&figures(KNOWN))).unwrap();
    assert_eq!(members["surprise_ns"], json!(2500.0));
    assert_eq!(members["surprise_ci95_ns"], json!([1000.0, 4000.0]));
    assert_eq!((&members["wonders"], &members["hidden"]), (&json!(10), &json!(u64::MAX)));
    assert_eq!((&members["reason"], &members["truth"]), (&Value::Null, &json!({"surprise_ns": 2000})));
    let unknown = serde_json::to_value(Interval(&interval(Err(Reason::NoSingle)))).unwrap();
    assert_eq!((&unknown["surprise_ns"], &unknown["interval"]), (&Value::Null, &json!(7)));
    assert!(unknown["reason"].as_str().unwrap().starts_with("surprise_ns, further_ns: not identifiable"));
}

#[test]
fn a_made_up_quantity_is_in_comma_separated_values() {
    let mut doubtful = interval(KNOWN);
    doubtful.figures.clock_doubt = Some("was set, twice".into());
    let text = csv::intervals(&[interval(KNOWN), interval(Err(Reason::NoSingle)), doubtful]);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        "segment,interval,start_ns,end_ns,start_time,end_time,reported_time,authenticated,usable_rows,surprise_ns,\
         surprise_ci95_ns_low,surprise_ci95_ns_high,wonders,hidden,further_ns,further_ci95_ns_low,further_ci95_ns_high,\
         true_surprise_ns,method,clock_doubt,reason"
    );
    let span = "3,7,0,1000000,2023-11-14T22:13:20.000000000Z,2023-11-14T22:13:20.001000000Z,,false,";
    let max = u64::MAX;
    assert_eq!(lines[1], format!("{span},2500,1000,4000,10,{max},2500,1000,4500,2000,,,"));
    assert!(
        lines[2].starts_with(&format!(
            "{span},,1000,4000,10,{max},,1000,4500,2000,,,\"surprise_ns, further_ns: "
        ))
    );
    assert!(lines[3].ends_with(",2000,,\"was set, twice\","), "{}", lines[3]);
}

#[test]
fn a_made_up_quantity_is_in_live_rows() {
    let row = Row::new(&interval(KNOWN), 2, 1, true);
    let heading = row.heading();
    let mut rest = heading.as_str();
    for word in ["segment", "interval", "surprise (95 %)", "wonders", "gaps", "bad", "true surprise"] {
        let at = rest.find(word);
        assert!(at.is_some(), "{word} is not in {rest:?}");
        rest = &rest[at.unwrap()..];
    }
    assert!(
        row.text().contains("2.500 ± 1.500 µs") && row.text().contains("10 (25.000 %)"),
        "{}",
        row.text()
    );
    assert_eq!(row.heading().chars().count(), row.text().chars().count());
}

#[test]
fn a_made_up_quantity_is_a_metric() {
    let metrics = Metrics::default();
    for _ in 0..2 {
        metrics.interval(3, true, &figures(KNOWN));
    }
    let text = metrics.text().unwrap();
    for line in [
        "# UNIT deltaline_delay_surprise_seconds seconds",
        "deltaline_delay_surprise_seconds{segment=\"3\"} 0.0000025",
        "deltaline_delay_surprise_lower_seconds{segment=\"3\"} 0.000001",
        "deltaline_delay_surprise_upper_seconds{segment=\"3\"} 0.000004",
        "deltaline_wondrous_packets_total{segment=\"3\"} 20",
        "deltaline_wonder_ratio{segment=\"3\"} 0.25",
    ] {
        assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
    }
    // Of all intervals, the first delay alone.
    assert!(text.contains("deltaline_interval_delay_surprise_seconds_count{segment=\"3\"} 2"), "{text}");
    assert!(!text.contains("interval_delay_further"), "{text}");
    metrics.interval(3, false, &figures(Err(Reason::Void)));
    let text = metrics.text().unwrap();
    // Not even by name: some parsers do not take metrics without samples.
    assert!(!text.contains("deltaline_delay_surprise_seconds") && !text.contains("surprise_lower_seconds"));
    assert!(text.contains("deltaline_interval_delay_surprise_seconds_count{segment=\"3\"} 2"), "{text}");
    assert!(text.contains("deltaline_wondrous_packets_total{segment=\"3\"} 30"), "{text}");
}

#[test]
fn a_quantity_that_a_void_interval_does_not_have_leaves_no_old_value() {
    let metrics = Metrics::default();
    metrics.interval(3, true, &figures(KNOWN));
    metrics.interval(4, true, &figures(KNOWN));
    let void = Figures {
        answers: vec![deltaline_estimate::quantity::of_nothing(Reason::Void)],
        ..Figures::default()
    };
    metrics.interval(3, false, &void);
    let text = metrics.text().unwrap();
    for name in [
        "deltaline_delay_surprise_seconds",
        "deltaline_delay_surprise_lower_seconds",
        "deltaline_wonder_ratio",
    ] {
        assert!(!text.contains(&format!("{name}{{segment=\"3\"}}")), "{text}");
        assert!(text.contains(&format!("{name}{{segment=\"4\"}}")), "{text}");
    }
}

#[test]
fn losses_that_are_not_known_are_counted_for_prometheus() {
    let metrics = Metrics::default();
    let lost = |lost| Figures { answers: vec![vec![lost]], ..Figures::default() };
    metrics.interval(3, true, &lost(Quantity::count(&LOST, 7)));
    let unknown = |number| format!("deltaline_loss_unknown_intervals_total{{segment=\"3\"}} {number}\n");
    assert!(metrics.text().unwrap().contains(&unknown(0)));
    metrics.interval(3, true, &lost(Quantity::new(&LOST, Err(Reason::Alike))));
    metrics.interval(3, true, &lost(Quantity::count(&LOST, 0)));
    let void = vec![deltaline_estimate::quantity::of_nothing(Reason::Void)];
    metrics.interval(3, false, &Figures { answers: void, ..Figures::default() });
    let text = metrics.text().unwrap();
    assert!(text.contains(&unknown(2)), "{text}");
    assert!(text.contains("deltaline_lost_packets_total{segment=\"3\"} 7\n"), "{text}");
}

#[test]
fn a_segment_that_is_forgotten_leaves_nothing() {
    let metrics = Metrics::default();
    metrics.interval(4, true, &figures(KNOWN));
    let alone = metrics.text().unwrap();
    metrics.interval(3, true, &figures(KNOWN));
    assert!(metrics.text().unwrap().contains("segment=\"3\""));
    metrics.forgotten(3);
    let lines = |text: &str| text.lines().filter(|line| !line.contains("timestamp")).count();
    let text = metrics.text().unwrap();
    assert!(!text.contains("segment=\"3\"") && lines(&text) == lines(&alone), "{text}");
}

#[test]
fn a_made_up_quantity_is_plotted() {
    let folder = tempfile::tempdir().unwrap();
    let draw = |name: &str, intervals: &[IntervalFigures]| {
        let path = folder.path().join(name);
        plot::write(&path, intervals).unwrap();
        std::fs::read_to_string(path).unwrap()
    };
    let known = draw("known.svg", &[interval(KNOWN)]);
    let texts: Vec<&str> = known.lines().filter(|line| !line.starts_with('<')).collect();
    for text in [
        "estimate",
        "95 % interval",
        "exact",
        "further",
        "loss",
        "0.002",
        "time of day at the sender (UTC, 2023-11-14)",
    ] {
        assert!(texts.iter().any(|found| found.contains(text)), "{text} is not in {texts:?}");
    }
    assert!(texts.iter().any(|text| text.starts_with("22:13:20.")) && !texts.contains(&"void"), "{texts:?}");
    // A value less: what is drawn, and what is said of it.
    let count = |svg: &str| svg.matches("<rect").count() + svg.matches("<polyline").count();
    let unknown = draw("unknown.svg", &[interval(Err(Reason::NoSingle))]);
    assert!(count(&known) > count(&unknown) && !unknown.lines().any(|line| line == "estimate"), "{unknown}");
}

#[test]
fn no_two_lines_of_a_plot_look_alike() {
    let singles = deltaline_estimate::Singles::drawn((1..=1000).collect(), 2000);
    let mut lossy = interval(KNOWN);
    lossy.figures.answers.push(deltaline_estimate::quantity::of_singles(&[&singles], None));
    let svg = plot::svg(std::path::Path::new("plot.svg"), &[lossy]).unwrap();
    let legend = svg.lines().filter(|line| line.starts_with("<polyline") && line.contains(" points=\"950,"));
    let part = |line: &str, key: &str| {
        line.split(&format!(" {key}=\"")).nth(1).unwrap().split('"').next().unwrap().to_string()
    };
    let looks: Vec<[String; 2]> =
        legend.map(|line| ["stroke", "opacity"].map(|key| part(line, key))).collect();
    // The estimate, its interval, the truth, the loss, a further delay and four of single packets.
    let distinct: std::collections::BTreeSet<_> = looks.iter().collect();
    assert_eq!((looks.len(), distinct.len()), (9, 9), "{looks:?}");
}

/// Of an interval that did not report, only its neighbours' times are known.
#[test]
fn a_void_interval_is_plotted_between_its_neighbours() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("void.svg");
    let void = IntervalFigures { span: None, times: None, figures: void_figures(), ..interval(KNOWN) };
    let later = IntervalFigures { span: Some((3_000_000, 4_000_000)), times: None, ..interval(KNOWN) };
    plot::write(&path, &[interval(KNOWN), void.clone(), later]).unwrap();
    let svg = std::fs::read_to_string(&path).unwrap();
    let grey: Vec<&str> =
        svg.lines().filter(|line| line.starts_with("<rect") && line.contains("#808080")).collect();
    assert_eq!(grey.len(), 2, "{svg}");
    let number = |line: &str, key: &str| -> f64 {
        line.split(&format!(" {key}=\"")).nth(1).unwrap().split('"').next().unwrap().parse().unwrap()
    };
    // The second and the third of four milliseconds.
    let (left, right) = (96.0, 1100.0 - 150.0 - 16.0);
    for line in grey {
        let (x, width) = (number(line, "x"), number(line, "width"));
        let (first, last) = ((x - left) / (right - left), (x + width - left) / (right - left));
        assert!((first - 0.25).abs() < 0.05 && (last - 0.75).abs() < 0.05, "{line}");
    }
    assert!(svg.lines().any(|line| line == "void"));
    // Alone it is nowhere, which is no reason to fail.
    plot::write(&path, &[void]).unwrap();
}

/// Many more intervals than columns of pixels: none of them is lost to sight, and one that says little spoils no axis.
#[test]
fn a_long_recording_is_plotted_whole() {
    let length = 100_000_000;
    let mut intervals: Vec<IntervalFigures> = (0..8614)
        .map(|number| IntervalFigures {
            number,
            span: Some((i64::from(number) * length, i64::from(number + 1) * length)),
            ..interval(KNOWN)
        })
        .collect();
    for each in &mut intervals {
        each.figures.answers[0][1] = Quantity { samples: Some(40), ..Quantity::count(&WONDERS, 0) };
    }
    let draw =
        |intervals: &[IntervalFigures]| plot::svg(std::path::Path::new("plot.svg"), intervals).unwrap();
    let plain = draw(&intervals);
    intervals[3000].figures.answers[0][1] = Quantity { samples: Some(1000), ..Quantity::count(&WONDERS, 1) };
    intervals[4000].figures = void_figures();
    intervals[5000].figures.answers[0][0].range = Some(Ok([-4e10, 4e10]));
    let svg = draw(&intervals);
    let count = |svg: &str, colour: &str| {
        svg.lines().filter(|line| line.starts_with("<rect") && line.contains(colour)).count()
    };
    // In the legend alone, and once more.
    let losses = |svg: &str| {
        svg.lines().filter(|line| line.starts_with("<polyline") && line.contains("#A81F5F")).count()
    };
    assert_eq!([count(&plain, "#808080"), plain.matches("<polygon").count()], [0; 2]);
    assert_eq!((losses(&plain), losses(&svg), count(&svg, "#808080")), (1, 2, 2));
    // Up, down and in the legend.
    assert_eq!(svg.matches("<polygon").count(), 3);
    assert!(svg.matches("<rect").count() < 6 * 900 && !svg.contains("width=\"0\""), "{}", svg.len());
    // Between 2.5 and 4.5 microseconds as before.
    let labels = |svg: &str| -> Vec<f64> { svg.lines().filter_map(|line| line.parse().ok()).collect() };
    assert!(labels(&svg).iter().all(|label| label.abs() < 0.2), "{:?}", labels(&svg));
}

fn void_figures() -> Figures {
    Figures {
        method: None,
        void: Some(
            deltaline_collect::verdict::Void::MissingEnd { role: deltaline_model::wire::frame::Role::Sender }
                .into(),
        ),
        answers: vec![deltaline_estimate::quantity::of_nothing(Reason::Void)],
        ..Figures::default()
    }
}

#[test]
fn a_made_up_quantity_is_in_reports() {
    let about = html::About {
        files: ["a<b>.pcap", "b&c.pcap"],
        settings: vec![("seed", "1".into()), ("file", "\u{1b}[2J".into())],
        warnings: &["<script>alert(1)</script>".into()],
    };
    let void = IntervalFigures { figures: void_figures(), ..interval(KNOWN) };
    let summary =
        Summary { overall: figures(KNOWN), intervals: vec![interval(KNOWN), void], findings: vec![] };
    let page = html::page(&about, &summary, "<svg></svg>");
    for part in [
        "a&lt;b&gt;.pcap",
        "b&amp;c.pcap",
        "&lt;script&gt;",
        "<th>surprise (95 %)</th>",
        "<td>2.500&nbsp;±&nbsp;1.500&nbsp;µs</td>",
        "<td>10 (25.000&nbsp;%)</td>",
        "<td>2023-11-14 22:13:20.000</td>",
        "<tr class=\"void\">",
        "<dd>interval 7</dd>",
        "\\u{1b}[2J",
        "<th>seed</th><td class=\"text\">1</td>",
        "<svg></svg>",
    ] {
        assert!(page.contains(part), "{part} is not in\n{page}");
    }
    assert!(!page.contains("<script") && !page.contains("http"), "{page}");
}
