//! `deltaline truth`: two captures, packet by packet.

use crate::causes::{Surveys, is_suspect};
use crate::common_span::{self, Common, READ_ONCE};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::matched::{check_common, remark_on_duplicates, remark_on_negative_delays, remark_on_postponed};
use crate::parse;
use crate::progress::{Progress, working};
use crate::recordings::{Recordings, remark_on_cut, remark_on_nothing_wanted};
use crate::report;
use crate::show::json::Members;
use crate::show::table;
use crate::wrong_stamps::WrongStamps;
use clap::Args;
use deltaline_capture::PacketRef;
use deltaline_capture::edges::Edges;
use deltaline_capture::exact::{Matched, Matcher};
use deltaline_capture::matching;
use deltaline_collect::truth::{Exact, Stamps};
use deltaline_estimate::quantity::Quantity;
use deltaline_estimate::{Reason, clock_doubts_of_packets};
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
    receiver_only: u64,
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
    let mut remarks = vec![];
    let mut surveys = Surveys::default();
    let common = if recordings.are_files() { Some(Common::of(recordings)?) } else { None };
    remarks.extend(common.as_ref().map_or(vec![READ_ONCE.into()], |common| common.remarks.clone()));
    let (edges, delays) = match common {
        Some(Common { edges, passages, .. }) => (edges, passages.delays().collect::<Vec<_>>()),
        None => (None, vec![]),
    };
    let matcher = read(recordings, edges.as_ref(), &mut surveys, &mut remarks)?;
    let matched = working("matching packets with packets", || matcher.finish(arguments.interval))?;
    let ends = [matched.sender, matched.receiver];
    check_common(recordings, ends, matched.overall.received, &surveys, &remarks)?;
    let overall = Exact::from(matched.overall);
    // A sample may lack them.
    let known: Vec<i64> = delays.iter().map(|(_, delay)| *delay).chain(overall.extremes()).collect();
    let (wrong_stamps, rounding) = (WrongStamps::of(&surveys, &known), surveys.rounding());
    // By name, the overall numbers last.
    let is_part = matched.intervals.len() > 1;
    let exact = matched.intervals.iter().map(|truth| Exact::from(*truth).as_part(is_part));
    let named = exact.enumerate().map(|(interval, exact)| (interval.to_string(), exact));
    let rows: Vec<_> = named
        .chain([("overall".into(), overall)])
        .map(|(name, exact)| {
            let are_wrong = wrong_stamps.are_among(exact.extremes());
            (name, exact.quantities(Stamps { are_wrong, rounding }))
        })
        .collect();
    let intervals = matched.intervals.len();
    let [.., (_, of_all)] = &rows[..] else { return Ok(Exit::NotIdentifiable) };

    let (exit, mut warnings) = judged(recordings, &matched, edges.as_ref(), &surveys, remarks)?;
    warnings.extend(clock_doubts_of_packets(delays).iter().map(ToString::to_string));
    warnings.extend(remarks_on_refused(rows.iter().rev().map(|(_, quantities)| &quantities[..])));

    if arguments.json {
        report::print_result(
            "truth",
            &Output {
                overall: Members(of_all),
                intervals: rows[..intervals]
                    .iter()
                    .enumerate()
                    .map(|(interval, (_, quantities))| IntervalOutput {
                        interval,
                        truth: Members(quantities),
                    })
                    .collect(),
                reordered: matched.reordered,
                reordered_overall: matched.reordered_overall,
                receiver_only: matched.receiver_only,
                sender: EndOutput::new(recordings.name(Role::Sender), matched.sender),
                receiver: EndOutput::new(recordings.name(Role::Receiver), matched.receiver),
                warnings: &warnings,
            },
        )?;
    } else {
        let mut text = format!("{}\n", table::rows("interval", &rows));
        text += &format!(
            "reordered: {} within their flow, {} overall; received but never sent: {}\n",
            matched.reordered, matched.reordered_overall, matched.receiver_only
        );
        for (name, end) in [("sender", matched.sender), ("receiver", matched.receiver)] {
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

/// Why exact numbers are refused, those of all together first: each reason once. That nothing was received is plain.
pub(crate) fn remarks_on_refused<'a>(exact: impl IntoIterator<Item = &'a [Quantity]>) -> Vec<String> {
    let mut reasons: Vec<(Reason, Vec<String>)> = vec![];
    for quantities in exact {
        for quantity in quantities {
            let Err(reason) = quantity.value else { continue };
            match reasons.iter_mut().find(|(known, _)| *known == reason) {
                Some((_, keys)) if keys.contains(&quantity.what.key()) => {}
                Some((_, keys)) => keys.push(quantity.what.key()),
                None => reasons.push((reason, vec![quantity.what.key()])),
            }
        }
    }
    let is_plain = |reason: &Reason| *reason == Reason::NothingReceived;
    let refused = reasons.into_iter().filter(|(reason, _)| !is_plain(reason));
    refused.map(|(reason, keys)| format!("exact {}: {reason}", keys.join(", "))).collect()
}

/// How well two captures fit together, and what is to be said of it, `remarks` among it.
pub(crate) fn judged(
    recordings: &Recordings,
    matched: &Matched,
    edges: Option<&Edges>,
    surveys: &Surveys,
    remarks: Vec<String>,
) -> Result<(Exit, Vec<String>), Failure> {
    let overall = Exact::from(matched.overall);
    let (exit, mut warnings) = judge(matched, &overall);
    warnings.extend(remarks);
    warnings.extend(edges.and_then(|edges| common_span::remark_on_doubtful(edges, overall.lost)));
    let is_doubtful = [0, matched.receiver_only]
        .into_iter()
        .any(|others| is_suspect(overall.sent, overall.received + others));
    if is_doubtful || edges.is_some_and(common_span::is_notable) {
        warnings.extend(surveys.reasons(recordings)?);
    }
    warnings.extend(remark_on_postponed(
        matched.postponed,
        matched.sender.packets / matched.intervals.len().max(1) as u64,
    ));
    warnings.extend(remark_on_duplicates(matched.sender.duplicates));
    let mean = overall.delay.map(|delay| delay.mean);
    warnings.extend(mean.and_then(|mean| surveys.remark_on_resolution(mean)));
    for (path, end) in
        [(recordings.sender.display(), matched.sender), (recordings.receiver.display(), matched.receiver)]
    {
        warnings.extend(remark_on_cut(&path, end.cut, end.packets));
    }
    let truncated = [matched.sender.truncated, matched.receiver.truncated];
    if truncated != [0, 0] {
        warnings.push(format!(
            "{} packets of the sender and {} of the receiver were captured without the end of their identity; \
             if the snap lengths differ they look lost; capture at least {WINDOW_BYTES} bytes at both ends",
            truncated[0], truncated[1]
        ));
    }
    Ok((exit, warnings))
}

/// Reads two captures, to be matched; `remarks` is what is to be said of them.
pub(crate) fn read(
    recordings: &Recordings,
    edges: Option<&Edges>,
    surveys: &mut Surveys,
    remarks: &mut Vec<String>,
) -> Result<Matcher, Failure> {
    let mut matcher = Matcher::default();
    each_packet(recordings, edges, surveys, remarks, |role, packet| match role {
        Role::Sender => Ok(matcher.sent(packet)?),
        Role::Receiver => Ok(matcher.received(packet)?),
    })?;
    Ok(matcher)
}

/// Calls for every packet of the sender's capture, and then for every one of the receiver's, that lies between the edges.
pub(crate) fn each_packet(
    recordings: &Recordings,
    edges: Option<&Edges>,
    surveys: &mut Surveys,
    remarks: &mut Vec<String>,
    mut take: impl FnMut(Role, PacketRef<'_>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    for (role, what) in
        [(Role::Sender, "reading the sender's packets"), (Role::Receiver, "reading the receiver's packets")]
    {
        let mut recording = recordings.open(role)?.within(edges, role);
        let mut progress = Progress::new(what, &[recording.capture()]);
        while let Some(packet) = recording.next_packet()? {
            surveys.of(role).take(packet);
            take(role, packet)?;
            progress.packet(recording.capture());
        }
        let passed_over = recording.capture().passed_over();
        // The capture's end was met before, where the edges were looked for.
        let read = recording.remarks().into_iter().filter(|remark| !remarks.contains(remark));
        let read: Vec<String> = read.chain(recording.remark_on_split()).collect();
        remarks.extend(read);
        remarks.extend(remark_on_nothing_wanted(recordings.path(role), recording.packets(), passed_over));
    }
    surveys.check(recordings)?;
    remarks.extend(surveys.remarks(recordings));
    Ok(())
}

/// Whether the two captures fit together.
fn judge(matched: &Matched, overall: &Exact) -> (Exit, Vec<String>) {
    let &Matched { receiver_only, unlike, .. } = matched;
    if overall.delay.is_none() {
        return (Exit::NotIdentifiable, vec!["no packet was received, so that there is no delay".into()]);
    }
    if 2 * unlike.negative > unlike.packets && receiver_only > overall.lost {
        let message = format!(
            "most packets arrived before they were sent, and more were only received ({receiver_only}) than only \
             sent ({}): the two files seem to be swapped; give the sender's capture first",
            overall.lost
        );
        return (Exit::Ends, vec![message]);
    }
    let remark = remark_on_negative_delays(unlike);
    let exit = match overall.mean(Stamps::default()) {
        Err(Reason::Guessed) => Exit::NotIdentifiable,
        _ => Exit::Done,
    };
    (exit, remark.into_iter().collect())
}
