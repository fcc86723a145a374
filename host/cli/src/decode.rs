//! `deltaline decode`: control frames out of captures of a management port.

use crate::allow::{Allow, LeftOut};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::{Input, check_standard_input};
use crate::keys::{collector, mention_forgery};
use crate::progress::Progress;
use crate::report::{self, duration, or_none};
use crate::show::json::{Interval as IntervalOutput, Numbers};
use crate::show::{csv, table};
use clap::Args;
use deltaline_collect::collector::{Collected, Limits, Problem};
use deltaline_collect::evaluation::{Evaluation, bound_offset, name_crossings};
use deltaline_collect::pair::Interval;
use deltaline_collect::report::Report;
use deltaline_collect::summary::{Missing, Summary, interval_remarks};
use deltaline_model::time::{AbsoluteTime, TimeBase};
use deltaline_model::wire::frame::{Flags, MAX_FRAME_BYTES, Role};
use serde::Serialize;
use std::path::PathBuf;

pub(crate) const EXAMPLES: &str = "\
Examples:
  What two measurement points sent to the management port:
    deltaline decode management.pcapng

  One capture for each end:
    deltaline decode --json sender-management.pcap receiver-management.pcap

  Segment 1 from here to there, segment 2 back, rows with digests: how far apart the two points' clocks may be:
    deltaline decode --offset 1,2 management.pcapng";

#[derive(Debug, Args)]
pub(crate) struct Decode {
    /// Captures with control frames: pcap or pcapng, plain, gzip or Zstandard; - is standard input
    #[arg(required = true)]
    pub(crate) frames: Vec<PathBuf>,
    /// The design that both ends were built from: a file, or the name of a shipped one. Intervals of another configuration
    /// are refused
    #[arg(long, value_name = "FILE")]
    pub(crate) design: Option<String>,
    /// Take only control frames that a key of this file has signed, as `deltaline key` makes it
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) allow: Allow,
    /// Give bounds on how far the FORWARD segment's receiver clock is ahead of its sender's (negative: behind), from
    /// the exact delays of this segment and of the one BACKWARD between the same two points
    ///
    /// Both need digests. The offset is taken to be the same all the time; the bounds are as far apart as the least exact
    /// delays of both directions together.
    #[arg(long, value_parser = parse_directions, value_name = "FORWARD,BACKWARD")]
    pub(crate) offset: Option<Directions>,
    /// Read a capture that was cut or damaged up to that record, instead of refusing it
    #[arg(long)]
    pub(crate) keep_going: bool,
    /// Write the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the intervals as comma-separated values, a line each
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
}

/// The segments of the two directions between two points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Directions {
    pub(crate) forward: u32,
    pub(crate) backward: u32,
}

/// Two segments.
fn parse_directions(text: &str) -> Result<Directions, String> {
    let pair = text.split_once(',').and_then(|(forward, backward)| {
        Some(Directions { forward: forward.parse().ok()?, backward: backward.parse().ok()? })
    });
    pair.filter(|pair| pair.forward != pair.backward)
        .ok_or_else(|| "give the numbers of two different segments, such as 1,2".into())
}

/// Bad frames of one kind that are named one by one.
const NAMED: u64 = 10;

#[derive(Serialize)]
struct Output<'a> {
    /// Of the only segment; none when there are several.
    overall: Option<Numbers<'a>>,
    segments: Vec<SegmentOutput<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    offset: Option<&'a OffsetOutput>,
    intervals: Vec<IntervalOutput<'a>>,
    ends: Vec<EndOutput>,
    /// The captures.
    files: Vec<&'a str>,
    frames: FramesOutput,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct SegmentOutput<'a> {
    segment: u32,
    overall: Numbers<'a>,
}

/// By how much the clock of the forward segment's receiver is ahead of its sender's; negative if it is behind.
#[derive(Serialize)]
struct OffsetOutput {
    forward: u32,
    backward: u32,
    lowest_ns: Option<i64>,
    highest_ns: Option<i64>,
    /// Why they are none.
    reason: Option<String>,
}

/// What one end reported of an interval.
#[derive(Serialize)]
struct EndOutput {
    segment: u32,
    interval: u32,
    end: String,
    packets: u64,
    bytes: u64,
    /// First and last packet in nanoseconds of the end's clock, modulo 2^48.
    first_ns: u64,
    last_ns: u64,
    unmeasured: u32,
    bad: u32,
    refused_ends: u16,
    flags: Vec<&'static str>,
    synopsis: Option<&'static str>,
    digest: String,
    /// Identifier of the mixing, unless it is the design's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    mixing: Option<String>,
    /// The point's own number, and when its interval ended, if it said so.
    point: u32,
    time: Option<TimeOutput>,
    rows: usize,
    banks: Vec<u8>,
    /// Whether cells have digest sums.
    digests: bool,
    fragments: u16,
    missing: u16,
}

/// Absolute time.
#[derive(Serialize)]
struct TimeOutput {
    /// What it counts from: TAI or Unix.
    base: &'static str,
    seconds: u64,
}

impl From<AbsoluteTime> for TimeOutput {
    fn from(AbsoluteTime { base, seconds }: AbsoluteTime) -> Self {
        let base = match base {
            TimeBase::Tai => "TAI",
            TimeBase::Unix => "Unix",
        };
        TimeOutput { base, seconds }
    }
}

#[derive(Serialize)]
struct FramesOutput {
    /// All frames of the captures.
    all: u64,
    /// Those of other EtherTypes.
    foreign: u64,
    /// Those without a right tag, with `--key`.
    unauthentic: u64,
    duplicates: u64,
    corrupted: u64,
    #[serde(flatten)]
    left_out: LeftOut,
}

pub(crate) fn run(arguments: &Decode) -> Result<Exit, Failure> {
    let limits = Limits::recording();
    let collector = collector(arguments.design.as_deref(), arguments.key.as_deref())?;
    let mut collector = collector.within(limits).allowing(arguments.allow.allowed());
    // By file, the number of its last frame.
    let mut files: Vec<(String, u64)> = vec![];
    let mut frames = 0;
    let mut cut = vec![];
    check_standard_input(arguments.frames.iter().map(PathBuf::as_path))?;
    for path in &arguments.frames {
        let mut recording = Input::open(path, arguments.keep_going)?;
        let mut progress = Progress::new("decoding", &[recording.capture()]);
        while let Some(packet) = recording.next_packet()? {
            collector.captured(packet.timestamp);
            collector.push(packet.data);
            frames += 1;
            progress.packet(recording.capture());
        }
        cut.extend(recording.remark());
        files.push((recording.name().into(), frames));
    }
    let collected = collector.finish();
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    let names = names.join(", ");
    let counts = collected.counts;
    let left_out = LeftOut::of(&counts);
    if counts.frames == counts.foreign {
        return Err(Failure::new(
            Exit::NotIdentifiable,
            format!(
                "{names}: no control frame among {frames} frames; capture the management port of the measurement \
                 points, with a snap length of at least {MAX_FRAME_BYTES} bytes"
            ),
        ));
    }

    let mut evaluations: Vec<Evaluation> = Evaluation::all(&collected).collect();
    name_crossings(&mut evaluations);
    let segments: Vec<_> = evaluations
        .chunk_by(|a, b| a.segment == b.segment)
        .map(|group| (group[0].segment, Summary::of(group)))
        .collect();
    let offset = arguments.offset.map(|directions| bound(directions, &evaluations));
    let mut warnings = cut;
    warnings.extend(frame_warnings(&collected, &files));
    warnings.extend(left_out.remarks(&limits));
    warnings.extend(interval_remarks(&evaluations));
    let mut has_gap = false;
    for group in evaluations.chunk_by(|a, b| a.segment == b.segment) {
        let missing = Missing::among(group.iter().map(|each| each.number));
        has_gap |= missing.is_some();
        warnings.extend(missing.map(|missing| format!("segment {}: {missing}", group[0].segment)));
    }
    for (segment, results) in &segments {
        warnings.extend(results.findings.iter().map(|finding| format!("segment {segment}: {finding}")));
    }

    let unbounded = offset.as_ref().and_then(|offset| offset.reason.as_ref());
    warnings.extend(unbounded.map(|reason| format!("the clocks' offset is {reason}")));

    if arguments.json {
        report::print_result(
            "decode",
            &Output {
                overall: match &segments[..] {
                    [(_, only)] => Some(Numbers(&only.overall)),
                    _ => None,
                },
                segments: segments
                    .iter()
                    .map(|(segment, results)| SegmentOutput {
                        segment: *segment,
                        overall: Numbers(&results.overall),
                    })
                    .collect(),
                offset: offset.as_ref(),
                intervals: segments
                    .iter()
                    .flat_map(|(_, results)| results.intervals.iter().map(IntervalOutput))
                    .collect(),
                ends: collected.intervals.iter().flat_map(ends).collect(),
                files: files.iter().map(|(name, _)| name.as_str()).collect(),
                frames: FramesOutput {
                    all: counts.frames,
                    foreign: counts.foreign,
                    unauthentic: counts.unauthentic,
                    duplicates: counts.duplicates,
                    corrupted: counts.corrupted,
                    left_out,
                },
                warnings: &warnings,
            },
        )?;
    } else if arguments.csv {
        report::print(&csv::intervals(segments.iter().flat_map(|(_, results)| &results.intervals)))?;
    } else {
        let mut text = ends_table(collected.intervals.iter().flat_map(ends));
        for (segment, results) in &segments {
            text += &format!("\nsegment {segment}\n{}", table::summary(results));
        }
        text += &offset.as_ref().map_or(String::new(), |offset| format!("\n{}", offset.text()));
        report::print(&text)?;
    }
    if !arguments.json {
        mention_forgery(arguments.key.as_deref(), "control frames");
    }
    warnings.iter().for_each(|warning| report::say(&format!("{names}: {warning}")));
    let has_nothing = collected.intervals.is_empty();
    // Frames that nobody signed, or that are old, are in the place of some that are missing.
    let is_attacked = counts.unauthentic + left_out.replayed > 0;
    let void = has_nothing || has_gap || is_attacked || counts.corrupted > 0 || left_out.is_missed();
    let void = void.then_some(Exit::Void);
    let intervals = evaluations.iter().map(Exit::after_interval);
    let findings = segments.iter().map(|(_, results)| Exit::after_findings(&results.findings));
    let unbounded = unbounded.map(|_| Exit::NotIdentifiable);
    Ok(Exit::gravest(intervals.chain(void).chain(findings).chain(unbounded)))
}

/// Bounds of the clocks' offset, from a segment of either direction.
fn bound(directions: Directions, evaluations: &[Evaluation]) -> OffsetOutput {
    let Directions { forward, backward } = directions;
    let of = |segment: u32| {
        let mut groups = evaluations.chunk_by(|a, b| a.segment == b.segment);
        let found = groups.find(|group| group[0].segment == segment);
        found.ok_or_else(|| format!("not identifiable: no interval of segment {segment} was read"))
    };
    let bounds = of(forward)
        .and_then(|forward| bound_offset(forward, of(backward)?).map_err(|why_not| why_not.to_string()));
    OffsetOutput {
        forward,
        backward,
        lowest_ns: bounds.as_ref().ok().map(|bounds| bounds.lowest),
        highest_ns: bounds.as_ref().ok().map(|bounds| bounds.highest),
        reason: bounds.err(),
    }
}

impl OffsetOutput {
    /// For people: to the nanosecond, so that no rounding makes the bounds tighter than they are.
    fn text(&self) -> String {
        let bounds = self.lowest_ns.zip(self.highest_ns).map(|(lowest, highest)| {
            let [lowest, highest] = [lowest, highest].map(|bound| bound as f64 / 1e9);
            format!("{lowest:+.9} s to {highest:+.9} s")
        });
        let what = bounds.as_deref().or(self.reason.as_deref()).unwrap_or_default();
        format!("clock of segment {}'s receiver less its sender's: {what}\n", self.forward)
    }
}

fn ends(interval: &Interval) -> impl Iterator<Item = EndOutput> {
    let (segment, number) = (interval.segment, interval.number);
    let of = move |role: Role, report: &Report| EndOutput {
        segment,
        interval: number,
        end: role.to_string(),
        packets: report.totals.packets,
        bytes: report.totals.bytes,
        first_ns: report.totals.first.nanoseconds(),
        last_ns: report.totals.last.nanoseconds(),
        unmeasured: report.totals.unmeasured,
        bad: report.totals.bad,
        refused_ends: report.totals.refused_ends,
        flags: flags(report.totals.flags),
        synopsis: report.shape.kind.name(),
        digest: format!("{:#018x}", report.configuration),
        mixing: (report.mixing != 0).then(|| format!("{:#010x}", report.mixing)),
        point: report.point,
        time: report.time.map(TimeOutput::from),
        rows: report.shape.table_cells as usize,
        banks: report.prefixes.map_or(vec![], |prefixes| prefixes.lengths().to_vec()),
        digests: report.shape.has_digests,
        fragments: report.fragments,
        missing: report.missing,
    };
    let sender = interval.sender.as_ref().map(|report| of(Role::Sender, report));
    let receiver = interval.receiver.as_ref().map(|report| of(Role::Receiver, report));
    [sender, receiver].into_iter().flatten()
}

fn flags(flags: Flags) -> Vec<&'static str> {
    let Flags { saturated, overrun, clock, timed, gap } = flags;
    let named =
        [("saturated", saturated), ("overrun", overrun), ("clock", clock), ("timed", timed), ("gap", gap)];
    named.into_iter().filter_map(|(name, is_set)| is_set.then_some(name)).collect()
}

fn ends_table(ends: impl Iterator<Item = EndOutput>) -> String {
    let mut table = report::table(&[
        "segment",
        "interval",
        "end",
        "packets",
        "bytes",
        "first to last",
        "unmeasured",
        "bad",
        "flags",
        "fragments",
    ]);
    for end in ends {
        let span = end.last_ns.wrapping_sub(end.first_ns) << 16 >> 16;
        table.add_row([
            end.segment.to_string(),
            end.interval.to_string(),
            end.end,
            end.packets.to_string(),
            end.bytes.to_string(),
            or_none((end.packets > 0).then_some(span as f64), duration),
            end.unmeasured.to_string(),
            end.bad.to_string(),
            or_none((!end.flags.is_empty()).then_some(end.flags), |flags| flags.join(" ")),
            format!("{}/{}", end.fragments.saturating_sub(end.missing), end.fragments),
        ]);
    }
    format!("{table}\n")
}

/// What is to be said of single frames, by file.
fn frame_warnings(collected: &Collected, files: &[(String, u64)]) -> Vec<String> {
    let place = |frame: u64| {
        let file = files.partition_point(|(_, last)| *last < frame);
        let before = file.checked_sub(1).and_then(|before| files.get(before)).map_or(0, |(_, last)| *last);
        let name = files.get(file).map_or("", |(name, _)| name.as_str());
        format!("{name}: frame {}", frame - before)
    };
    let mut warnings = vec![];
    let counts = &collected.counts;
    let (mut bad, mut forged, mut repeated) = (0, 0, 0);
    for problem in &collected.problems {
        match problem {
            Problem::Corrupted { frame, error } => {
                bad += 1;
                if bad <= NAMED {
                    warnings.push(format!("{}: {error}; it is left out", place(*frame)));
                }
            }
            Problem::Unauthentic { frame, reason } => {
                forged += 1;
                if forged <= NAMED {
                    warnings.push(format!("{}: {reason}; it is left out", place(*frame)));
                }
            }
            Problem::Duplicate { frame, .. } => {
                repeated += 1;
                if repeated == 1 {
                    warnings.push(format!(
                        "{}: this frame, and {} in all, repeat earlier ones and are ignored; \
                         check that the management port is captured once",
                        place(*frame),
                        counts.duplicates
                    ));
                }
            }
            Problem::Void { .. }
            | Problem::Doubt { .. }
            | Problem::Again { .. }
            | Problem::Starved { .. } => {}
        }
    }
    if counts.unauthentic > NAMED {
        warnings.push(format!("and {} more control frames without a right tag", counts.unauthentic - NAMED));
    }
    if counts.corrupted > NAMED {
        warnings.push(format!("and {} more such frames", counts.corrupted - NAMED));
    }
    warnings
}
