//! `deltaline truth`: two captures, packet by packet.

use crate::causes::is_suspect;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::matched::Matched;
use crate::parse;
use crate::recordings::{Recordings, remark_on_cut};
use crate::report;
use crate::show::json::Members;
use crate::show::table;
use clap::Args;
use deltaline_capture::matching;
use deltaline_collect::truth::Exact;
use deltaline_model::packet::identity::WINDOW_BYTES;
use deltaline_model::wire::frame::Role;
use serde::Serialize;

pub(crate) const EXAMPLES: &str = "\
Examples:
  Delay, loss, reordering and duplicates, packet by packet:
    deltaline truth sender.pcap.zst receiver.pcap.zst

  Every half second, for a program to read:
    deltaline truth --interval 500ms --json sender.pcap receiver.pcap";

#[derive(Debug, Args)]
pub(crate) struct Truth {
    #[command(flatten)]
    pub(crate) recordings: Recordings,
    /// Length of an interval, such as 500ms, 2s, 1m, 250us or 10000ns; without it there is one interval
    #[arg(long, value_parser = parse::duration, value_name = "DURATION")]
    pub(crate) interval: Option<u64>,
    /// Write the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Serialize)]
struct Output<'a> {
    overall: Members<'a>,
    intervals: Vec<IntervalOutput<'a>>,
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
struct IntervalOutput<'a> {
    interval: usize,
    #[serde(flatten)]
    truth: Members<'a>,
}

#[derive(Serialize)]
struct EndOutput {
    /// The capture.
    file: String,
    packets: u64,
    unmeasured: u64,
    cut: u64,
    truncated: u64,
    duplicates: u64,
}

impl EndOutput {
    fn new(file: String, end: matching::End) -> Self {
        let matching::End { packets, unmeasured, cut, truncated, duplicates } = end;
        EndOutput { file, packets, unmeasured, cut, truncated, duplicates }
    }
}

pub(crate) fn run(arguments: &Truth) -> Result<Exit, Failure> {
    let recordings = &arguments.recordings;
    recordings.check()?;
    let matched = Matched::read(recordings)?;
    let (spans, remark) = matched.spans(arguments.interval)?;
    let matching = &matched.matching;
    let overall = Exact::from(matching.truth(..));
    // By name, the overall numbers last.
    let exact = spans.iter().map(|span| Exact::from(matching.truth(span.sender.clone())));
    let mut rows: Vec<_> =
        exact.enumerate().map(|(interval, exact)| (interval.to_string(), exact.quantities())).collect();
    rows.push(("overall".into(), overall.quantities()));

    let (exit, mut warnings) = judge(&matched, &overall);
    warnings.extend(matched.remarks.iter().cloned());
    if is_suspect(overall.sent, overall.received) {
        warnings.extend(matched.surveys.reasons(recordings)?);
    }
    warnings.extend(remark);
    warnings.extend(matched.remark_on_duplicates());
    for (path, end) in
        [(recordings.sender.display(), matching.sender), (recordings.receiver.display(), matching.receiver)]
    {
        warnings.extend(remark_on_cut(&path, end.cut, end.packets));
    }
    let truncated = [matching.sender.truncated, matching.receiver.truncated];
    if truncated != [0, 0] {
        warnings.push(format!(
            "{} packets of the sender and {} of the receiver were captured without the end of their identity; \
             if the snap lengths differ they look lost; capture at least {WINDOW_BYTES} bytes at both ends",
            truncated[0], truncated[1]
        ));
    }

    if arguments.json {
        report::print_result(
            "truth",
            &Output {
                overall: Members(&overall.quantities()),
                intervals: rows[..spans.len()]
                    .iter()
                    .enumerate()
                    .map(|(interval, (_, quantities))| IntervalOutput {
                        interval,
                        truth: Members(quantities),
                    })
                    .collect(),
                reordered: matching.reordered,
                reordered_overall: matching.reordered_overall,
                receiver_only: matching.receiver_only.len(),
                sender: EndOutput::new(recordings.name(Role::Sender), matching.sender),
                receiver: EndOutput::new(recordings.name(Role::Receiver), matching.receiver),
                warnings: &warnings,
            },
        )?;
    } else {
        let mut text = format!("{}\n", table::rows("interval", &rows));
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
fn judge(matched: &Matched, overall: &Exact) -> (Exit, Vec<String>) {
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
