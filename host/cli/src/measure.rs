//! `deltaline measure`: two captures through two measurement points.

use crate::common_span::{Common, READ_ONCE};
use crate::described::Described;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::hash::Hash;
use crate::matched::Matched;
use crate::parse;
use crate::pass::{EndOutput, FramesOutput, HardwareOutput, pass_captures};
use crate::points::{Points, Through};
use crate::recordings::Recordings;
use crate::report::{self, or_none};
use crate::show::json::{Interval as IntervalOutput, Numbers};
use crate::show::{csv, html, plot, table};
use crate::truth::remarks_on_refused;
use crate::wrong_stamps::WrongStamps;
use clap::Args;
use deltaline_capture::PcapngWriter;
use deltaline_capture::edges::Edges;
use deltaline_capture::reordering::Reordering;
use deltaline_capture::replay::Span;
use deltaline_capture::stretches::Passages;
use deltaline_collect::summary::{Figures, Finding, Summary, interval_remarks, may_change};
use deltaline_collect::truth::{Exact, Stamps};
use deltaline_collect::verdict::Doubt;
use deltaline_design::CoreKind;
use deltaline_estimate::Method;
use deltaline_estimate::clock_doubts_of_packets;
use deltaline_estimate::quantity::{BRACKET, LOST, Remark, of_reordering};
use deltaline_model::configuration::Configuration;
use deltaline_model::wire::frame::Role;
use deltaline_model::wire::shape::Kind;
use serde::Serialize;
use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::time::SystemTime;

pub(crate) const EXAMPLES: &str = "\
Examples:
  One estimate of the whole recording, and how far it is from the truth:
    deltaline measure --truth sender.pcap.zst receiver.pcap.zst

  Every half second, for a program to read:
    deltaline measure --interval 500ms --json sender.pcap receiver.pcap

  The traffic of one direction, where the recordings hold both:
    deltaline measure --filter 'src net 10.1.0.0/16' sender.pcap receiver.pcap
    deltaline measure --direction out sender-any.pcap receiver-any.pcap

  The delay within a router, from one recording of all its interfaces:
    deltaline measure --direction in router-any.pcap router-any.pcap

  Quantiles up to the 99.9th percentile want many rows:
    deltaline measure --rows 16384 --interval 1m sender.pcap receiver.pcap

  With rows alone, as the cores count packets:
    deltaline measure --synopsis lda sender.pcap receiver.pcap

  As a design's file describes it, which both ends were built from:
    deltaline measure --design hdl/configurations/10g-quantiles.toml sender.pcap receiver.pcap

  Through the hardware design under simulation, keeping the control frames:
    deltaline measure --through hardware --frames control.pcapng sender.pcap receiver.pcap";

#[derive(Debug, Args)]
pub(crate) struct Measure {
    #[command(flatten)]
    pub(crate) recordings: Recordings,
    /// Length of an interval, such as 500ms, 2s, 1m, 250us or 10000ns, at most 39h; without it there is one interval, of as much at most
    #[arg(long, value_parser = parse::interval, value_name = "DURATION")]
    pub(crate) interval: Option<u64>,
    #[command(flatten)]
    pub(crate) described: Described,
    /// Through hardware: sum a digest of every packet in its row, which guards the delays against foreign packets and gives
    /// quantiles; a design that is given must have them. In software, lda, slices and both have digests anyway, unless a design
    /// has none; the other synopses do not allow this
    #[arg(long)]
    pub(crate) digest: bool,
    /// What the measurement points are: the software, or the hardware design under simulation, as a core of one lane of 64 bits
    /// whatever stream the design has, or of 8 bits where no other core has the design's rows
    #[arg(long, value_enum, default_value_t = Through::Software)]
    pub(crate) through: Through,
    /// Compare with the exact values, found by matching packet with packet
    #[arg(long)]
    pub(crate) truth: bool,
    /// Write the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Write the intervals as comma-separated values, a line each
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// Write the control frames to a pcapng file, in the place of one that is there, as --plot and --report do
    #[arg(long, value_name = "FILE")]
    pub(crate) frames: Option<PathBuf>,
    /// Plot delay and loss over time as SVG
    #[arg(long, value_name = "FILE")]
    pub(crate) plot: Option<PathBuf>,
    /// Write a report as one HTML file that needs no others: plot, tables and warnings
    #[arg(long, value_name = "FILE")]
    pub(crate) report: Option<PathBuf>,
}

#[derive(Serialize)]
struct Output<'a> {
    configuration: ConfigurationOutput<'a>,
    through: String,
    overall: Numbers<'a>,
    intervals: Vec<IntervalOutput<'a>>,
    sender: EndOutput,
    receiver: EndOutput,
    /// Of the simulation; none for software.
    hardware: Option<HardwareOutput>,
    frames: FramesOutput,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct ConfigurationOutput<'a> {
    synopsis: &'static str,
    hash: String,
    seed: u64,
    rows: usize,
    banks: &'a [u8],
    segment: u32,
    digest: String,
    /// Whether cells have digest sums.
    digests: bool,
    interval_ns: Option<u64>,
}

pub(crate) fn run(arguments: &Measure) -> Result<Exit, Failure> {
    let configuration = configuration(arguments)?;
    check_outputs(arguments)?;
    arguments.recordings.check()?;
    let writer = frames_writer(arguments)?;
    let Cut { matched, passages, edges, spans, mut warnings } = cut(arguments)?;
    let points = Points::build(arguments.through, &configuration)?;
    let passed = pass_captures(&arguments.recordings, &points, edges.as_ref(), &spans, writer)?;
    passed.surveys().check(&arguments.recordings)?;

    let mut summary = Summary::of(&passed.evaluations);
    summary.set_times(passed.times.iter().copied());
    let delays: Vec<i64> = match (&matched, &passages) {
        (Some(matched), _) => matched.delays().map(|(_, delay)| delay).collect(),
        (None, Some(passages)) => passages.delays().map(|(_, delay)| delay).collect(),
        (None, None) => vec![],
    };
    let has_slices = matches!(configuration.kind(), Kind::SLICES | Kind::BOTH);
    let wrong_stamps = WrongStamps::of(&passed.surveys(), &delays);
    match (&matched, &passages) {
        (Some(matched), _) => {
            summary.doubt_clocks(&passed.evaluations, clock_doubts_of_packets(matched.delays()));
            let are_in = |span| wrong_stamps.are_among(matched.delays_of(span));
            summary.refuse_wrong_stamps(spans.iter().map(are_in));
            let mut all = [vec![], vec![]];
            for (interval, span) in summary.intervals.iter_mut().zip(&spans) {
                let [once, repeated] = matched.delays_by_likeness(span);
                interval.figures.look_for_absent(&once, &repeated);
                all[0].extend(once);
                all[1].extend(repeated);
            }
            summary.overall.look_for_absent(&all[0], &all[1]);
            show_reordering(&mut summary, has_slices, spans.iter().map(|span| matched.reordering(span)));
            summary.refuse_crossing(&matched.crossing(&spans));
            summary.doubt_foreign(&matched.foreign(&spans));
        }
        (None, Some(passages)) => {
            summary.doubt_clocks(&passed.evaluations, clock_doubts_of_packets(passages.delays()));
            // There is one interval.
            summary.refuse_wrong_stamps([wrong_stamps.are_among(delays.iter().copied())]);
            let whole = summary.intervals.iter_mut().map(|interval| &mut interval.figures);
            whole
                .chain([&mut summary.overall])
                .for_each(|figures| figures.look_for_absent(&delays, passages.repeated()));
            show_reordering(&mut summary, has_slices, std::iter::once(passages.reordering()));
            let (lacking, looked_at) = passages.lacking_copies();
            let lost = summary.overall.find(LOST.name).and_then(|lost| lost.value.ok());
            let sent = passed
                .evaluations
                .iter()
                .filter_map(|each| each.sender)
                .map(|sender| sender.packets)
                .sum::<u64>();
            let share = sent as f64 / looked_at.max(1) as f64;
            if lacking > 0
                && lost.is_some_and(|lost| may_change(lost.to_f64(), (lacking as f64 * share) as u64))
            {
                summary.doubt_copies(lacking, looked_at);
            }
        }
        (None, None) => {}
    }
    let backward = passed.surveys().remarks_on_backward(&arguments.recordings);
    for (interval, goes_back) in summary.intervals.iter_mut().zip(&passed.goes_back) {
        let known = backward
            .iter()
            .zip(goes_back)
            .filter_map(|(remark, goes_back)| remark.as_ref().filter(|_| *goes_back));
        for remark in known {
            interval.figures.doubt_clock(remark);
            summary.overall.doubt_clock(remark);
        }
    }
    match &edges {
        Some(edges) => summary.doubt_edges(edges),
        None if arguments.recordings.are_files() => summary.doubt_without_edges(),
        None => {}
    }
    if arguments.truth
        && let Some(matched) = &matched
    {
        let matching = &matched.matching;
        let rounding = passed.surveys().rounding();
        let exact = |exact: Exact, delays: &[i64]| {
            exact.quantities(Stamps { are_wrong: wrong_stamps.are_among(delays.iter().copied()), rounding })
        };
        for (interval, span) in summary.intervals.iter_mut().zip(&spans) {
            let truth = Exact::from(matching.truth(span.sender.clone())).as_part(spans.len() > 1);
            interval.figures.exact = Some(exact(truth, &matched.delays_of(span)));
        }
        summary.overall.exact = Some(exact(matching.truth(..).into(), &delays));
        let intervals = summary.intervals.iter().map(|interval| &interval.figures);
        let exact = [&summary.overall].into_iter().chain(intervals).filter_map(|each| each.exact.as_deref());
        warnings.extend(remarks_on_refused(exact));
    }
    let intervals = passed.evaluations.iter().map(Exit::after_interval);
    let void = passed.is_corrupted.then_some(Exit::Void);
    let exit = Exit::gravest(intervals.chain(void).chain([Exit::after_findings(&summary.findings)]));
    warnings.splice(0..0, summary.findings.iter().map(ToString::to_string));
    warnings.splice(0..0, interval_remarks(&passed.evaluations));
    if let Some(matched) = matched.filter(|_| exit != Exit::Ends) {
        warnings.extend(matched.remark_on_negative_delays());
    }
    // A clock that was set explains it.
    let was_set = summary.findings.iter().any(Finding::is_of_clocks)
        || passed.evaluations.iter().flat_map(|each| &each.doubts).any(Doubt::is_of_clocks);
    let is_bad =
        summary.overall.are_alike() || !was_set && matches!(exit, Exit::Ends | Exit::NotIdentifiable);
    for remark in passed.remarks(&arguments.recordings, is_bad)? {
        // A capture's end may have been met before.
        if !warnings.contains(&remark) {
            warnings.push(remark);
        }
    }

    let output = Output {
        configuration: ConfigurationOutput {
            synopsis: configuration.kind().name().unwrap_or_default(),
            hash: Hash::from(configuration.hash()).to_string(),
            seed: configuration.seed(),
            rows: configuration.rows(),
            banks: configuration.prefixes().lengths(),
            segment: configuration.segment(),
            digest: format!("{:#018x}", configuration.id()),
            digests: configuration.has_digests(),
            interval_ns: arguments.interval,
        },
        through: arguments.through.to_string(),
        overall: Numbers(&summary.overall),
        intervals: summary.intervals.iter().map(IntervalOutput).collect(),
        sender: passed.sender_output(),
        receiver: passed.receiver_output(),
        hardware: passed.hardware(CoreKind::simulated(&configuration)),
        frames: passed.frames,
        warnings: &warnings,
    };
    if let Some(path) = &arguments.plot {
        plot::write(path, &summary.intervals)?;
    }
    if let Some(path) = &arguments.report {
        html::write(path, &output.about(&summary), &summary)?;
    }
    if arguments.json {
        report::print_result("measure", &output)?
    } else if arguments.csv {
        report::print(&csv::intervals(&summary.intervals))?
    } else {
        report::print(&output.to_text(&summary))?
    }
    warnings.iter().for_each(|warning| report::say(warning));
    arguments.described.mention_seed();
    Ok(exit)
}

/// The intervals of two captures.
struct Cut {
    /// Where packets were matched one by one.
    matched: Option<Matched>,
    /// Where a sample of them was.
    passages: Option<Passages>,
    /// Where they begin and end together, if that is known.
    edges: Option<Edges>,
    /// By the packets between these.
    spans: Vec<Span>,
    warnings: Vec<String>,
}

/// Cuts the captures where they begin and end together, and in between.
fn cut(arguments: &Measure) -> Result<Cut, Failure> {
    let recordings = &arguments.recordings;
    if arguments.interval.is_some() || arguments.truth {
        recordings.must_be_files("--interval and --truth")?;
        let mut matched = Matched::read_common(recordings)?;
        let (spans, remark) = matched.spans(arguments.interval)?;
        let remarks = remark.into_iter().chain(matched.remark_on_duplicates());
        let warnings = matched.left_out.iter().cloned().chain(remarks).collect();
        let edges = matched.edges.take();
        return Ok(Cut { matched: Some(matched), passages: None, edges, spans, warnings });
    }
    let (edges, passages, warnings) = match recordings.are_files() {
        true => {
            let Common { edges, passages, remarks } = Common::of(recordings)?;
            (edges, Some(passages), remarks)
        }
        false => (None, None, vec![READ_ONCE.into()]),
    };
    let whole = Span { sender: 0..usize::MAX, receiver: 0..usize::MAX };
    Ok(Cut { matched: None, passages, edges, spans: vec![whole], warnings })
}

/// Adds to each interval, and to all together, how many packets overtook each other.
fn show_reordering(summary: &mut Summary, has_slices: bool, of_intervals: impl Iterator<Item = Reordering>) {
    let mut all = Reordering::default();
    let add = |figures: &mut Figures, Reordering { compared, in_flow, overall }: Reordering| {
        // What sums of all packets give does not hang on their order.
        if has_slices && overall > 0 && figures.method != Some(Method::Sums) {
            figures.remark_on(&BRACKET, Remark::Overtaken(overall));
        }
        let quantities = of_reordering(in_flow, overall, compared);
        figures.answers.first_mut().into_iter().for_each(|answer| answer.extend(quantities));
    };
    for (interval, reordering) in summary.intervals.iter_mut().zip(of_intervals) {
        add(&mut interval.figures, reordering);
        all += reordering;
    }
    add(&mut summary.overall, all);
}

impl Output<'_> {
    /// What a report says beside the numbers.
    fn about(&self, summary: &Summary) -> html::About<'_> {
        let ConfigurationOutput { synopsis, hash, seed, rows, banks, segment, digest, .. } =
            &self.configuration;
        let banks: Vec<String> = banks.iter().map(u8::to_string).collect();
        let end = |end: &EndOutput| {
            format!("{} packets, {} not measured, {} truncated", end.packets, end.unmeasured, end.truncated)
        };
        let times = || summary.intervals.iter().filter_map(|interval| interval.times);
        let recorded = times().next().zip(times().next_back());
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        html::About {
            files: [&self.sender.file, &self.receiver.file],
            settings: vec![
                (
                    "recorded (UTC, the sender's clock)",
                    or_none(recorded, |([start, _], [_, end])| {
                        format!("{} to {}", html::moment(start), html::moment(end))
                    }),
                ),
                ("made (UTC)", html::moment(now.as_nanos() as u64)),
                ("command", command_line()),
                (
                    "interval",
                    self.configuration
                        .interval_ns
                        .map_or("the whole recording".into(), |length| report::duration(length as f64)),
                ),
                ("sender", end(&self.sender)),
                ("receiver", end(&self.receiver)),
                ("through", self.through.clone()),
                ("synopsis", synopsis.to_string()),
                ("hash", format!("{hash}, seed {seed}")),
                ("rows", rows.to_string()),
                ("banks", banks.join(",")),
                ("segment", segment.to_string()),
                ("configuration identifier", digest.clone()),
            ],
            warnings: self.warnings,
        }
    }

    fn to_text(&self, summary: &Summary) -> String {
        let ConfigurationOutput { synopsis, hash, seed, rows, banks, segment, digest, .. } =
            &self.configuration;
        let banks: Vec<String> = banks.iter().map(u8::to_string).collect();
        let mut text = format!(
            "{synopsis}, {hash} seed {seed}, {rows} rows, banks {}, segment {segment}, digest {digest}, through {}\n{}",
            banks.join(","),
            self.through,
            table::summary(summary),
        );
        if let Some(HardwareOutput { core, packets, cycles, cycles_per_second }) = &self.hardware {
            text += &format!(
                "hardware, {core}: {packets} packets in {cycles} cycles, {:.0} thousand cycles a second; \
                 {} control frames, {} bytes\n",
                cycles_per_second / 1e3,
                self.frames.count,
                self.frames.bytes
            );
        }
        text
    }
}

/// How the program was called, as a shell takes it.
fn command_line() -> String {
    let quoted = |word: String| {
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./,:=%+@".contains(&byte);
        match !word.is_empty() && word.bytes().all(is_plain) {
            true => word,
            false => format!("'{}'", word.replace('\'', r"'\''")),
        }
    };
    let arguments = std::env::args_os().skip(1).map(|argument| quoted(argument.to_string_lossy().into()));
    format!("deltaline {}", arguments.collect::<Vec<_>>().join(" "))
}

/// Rows of each bank without a design.
const ROWS: usize = 1024;

/// What both ends have in common. A design with classes makes a segment of each, and there is one result here.
fn configuration(arguments: &Measure) -> Result<Configuration, Failure> {
    let (usual, by_default) = match arguments.through {
        Through::Software => (Kind::BOTH, true),
        Through::Hardware => (Kind::LDA, false),
    };
    let configuration = arguments.described.configuration(usual, ROWS, arguments.digest, by_default)?;
    if !configuration.classifier().is_empty() {
        let message = "--design: the design has classes of packets, each a segment of its own, and `measure` gives the \
                       result of one segment; name a design without classes";
        return Err(Failure::new(Exit::Usage, message));
    }
    Ok(configuration)
}

/// Refuses outputs that would replace a capture, or each other.
fn check_outputs(arguments: &Measure) -> Result<(), Failure> {
    let real = |path: &Path| fs::canonicalize(path).ok();
    let outputs =
        [("--frames", &arguments.frames), ("--plot", &arguments.plot), ("--report", &arguments.report)];
    let mut before: Vec<(&str, &Path)> = vec![];
    for (option, output) in outputs {
        let Some(output) = output.as_deref() else { continue };
        if let Some((other, _)) = before.iter().find(|(_, path)| *path == output) {
            let message = format!("{other} and {option} name the same file; name two");
            return Err(Failure::new(Exit::Usage, message));
        }
        before.push((option, output));
        let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty() && !folder.is_dir());
        if let Some(folder) = folder {
            let message = format!(
                "{option} {}: there is no folder {}; make it with `mkdir -p`, or name another file",
                output.display(),
                folder.display()
            );
            return Err(Failure::new(Exit::Output, message).of_file(output.display()));
        }
        let Some(target) = real(output) else { continue };
        if [Role::Sender, Role::Receiver]
            .into_iter()
            .any(|role| real(arguments.recordings.path(role)).as_ref() == Some(&target))
        {
            let message =
                format!("{option}: {} would replace a capture; name another file", target.display());
            return Err(Failure::new(Exit::Usage, message));
        }
    }
    Ok(())
}

/// Starts the file of control frames, if one is asked for.
fn frames_writer(arguments: &Measure) -> Result<Option<PcapngWriter>, Failure> {
    let Some(path) = &arguments.frames else { return Ok(None) };
    Ok(Some(PcapngWriter::create(path, "", "Control frames of deltaline measure")?))
}
