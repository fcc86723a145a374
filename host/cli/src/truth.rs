//! `deltaline truth`: two captures, packet by packet.

use crate::arguments::Truth;
use crate::exit::{Exit, Failure};
use crate::matched::Matched;
use crate::report::{self, duration, or_none};
use crate::results::TruthFigures;
use deltaline_capture::matching;
use deltaline_model::packet::identity::WINDOW_BYTES;
use serde::Serialize;

#[derive(Serialize)]
struct Output<'a> {
    overall: TruthFigures,
    intervals: Vec<IntervalOutput>,
    /// Packets that arrived after a later sent one of their flow.
    reordered: u64,
    /// Packets that arrived after a later sent one of any flow.
    reordered_overall: u64,
    /// Measured packets of the receiver that were never sent.
    receiver_only: usize,
    sender: EndOutput,
    receiver: EndOutput,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct IntervalOutput {
    interval: usize,
    #[serde(flatten)]
    truth: TruthFigures,
}

#[derive(Serialize)]
struct EndOutput {
    packets: u64,
    unmeasured: u64,
    truncated: u64,
    duplicates: u64,
}

impl From<matching::End> for EndOutput {
    fn from(end: matching::End) -> Self {
        let matching::End { packets, unmeasured, truncated, duplicates } = end;
        EndOutput { packets, unmeasured, truncated, duplicates }
    }
}

pub(crate) fn run(arguments: &Truth) -> Result<Exit, Failure> {
    let matched = Matched::read(&arguments.sender, &arguments.receiver)?;
    let (spans, remark) = matched.spans(arguments.interval)?;
    let matching = &matched.matching;
    let overall = TruthFigures::from(matching.truth(..));
    let intervals: Vec<IntervalOutput> = spans
        .iter()
        .enumerate()
        .map(|(interval, span)| IntervalOutput {
            interval,
            truth: matching.truth(span.sender.clone()).into(),
        })
        .collect();

    let (exit, mut warnings) = judge(&matched, &overall);
    warnings.extend(remark);
    warnings.extend(matched.remark_on_duplicates());
    let truncated = [matching.sender.truncated, matching.receiver.truncated];
    if truncated != [0, 0] {
        warnings.push(format!(
            "{} packets of the sender and {} of the receiver were captured without the end of their identity; \
             if the snap lengths differ they look lost; capture at least {WINDOW_BYTES} bytes at both ends",
            truncated[0], truncated[1]
        ));
    }

    if arguments.json {
        report::print_json(&Output {
            overall,
            intervals,
            reordered: matching.reordered,
            reordered_overall: matching.reordered_overall,
            receiver_only: matching.receiver_only.len(),
            sender: matching.sender.into(),
            receiver: matching.receiver.into(),
            warnings: &warnings,
        })?;
    } else {
        let mut table =
            report::table(&["interval", "sent", "lost", "mean", "deviation", "minimum", "maximum"]);
        let mut row = |name: String, truth: &TruthFigures| {
            table.add_row([
                name,
                truth.sent.to_string(),
                report::loss(Some(truth.lost), Some(truth.sent)),
                or_none(truth.mean_ns, duration),
                or_none(truth.std_ns, duration),
                or_none(truth.min_ns, |time| duration(time as f64)),
                or_none(truth.max_ns, |time| duration(time as f64)),
            ]);
        };
        intervals.iter().for_each(|each| row(each.interval.to_string(), &each.truth));
        row("overall".into(), &overall);
        let mut text = format!("{table}\n");
        text += &format!(
            "reordered: {} within their flow, {} overall; received but never sent: {}\n",
            matching.reordered,
            matching.reordered_overall,
            matching.receiver_only.len()
        );
        for (name, end) in [("sender", matching.sender), ("receiver", matching.receiver)] {
            text += &format!(
                "{name}: {} packets, of them {} unmeasured, {} truncated, {} duplicates\n",
                end.packets, end.unmeasured, end.truncated, end.duplicates
            );
        }
        report::print(&text)?;
    }
    warnings.iter().for_each(|warning| report::say(warning));
    Ok(exit)
}

/// Whether the two captures fit together.
fn judge(matched: &Matched, overall: &TruthFigures) -> (Exit, Vec<String>) {
    let receiver_only = matched.matching.receiver_only.len() as u64;
    if matched.is_mostly_negative() && receiver_only > overall.lost {
        let message = format!(
            "most packets arrived before they were sent, and more were only received ({receiver_only}) than only \
             sent ({}): the two files seem to be swapped; give the sender's capture first",
            overall.lost
        );
        (Exit::Ends, vec![message])
    } else if overall.received == 0 {
        (Exit::NotIdentifiable, vec!["no packet was received, so that there is no delay".into()])
    } else {
        (Exit::Done, matched.remark_on_negative_delays().into_iter().collect())
    }
}
