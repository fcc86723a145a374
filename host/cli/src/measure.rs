//! `deltaline measure`: two captures through two measurement points.

use crate::arguments::{Cut, Measure};
use crate::exit::{Exit, Failure};
use crate::matched::Matched;
use crate::plot;
use crate::points::{Point, Points};
use crate::progress::Progress;
use crate::report;
use crate::results::{Evaluation, Figures, IntervalFigures, evaluate, gravest, interval_warnings, summarize};
use deltaline_capture::replay::{Span, in_flight_at_clock_cuts};
use deltaline_capture::{Capture, PacketRef, PcapngWriter};
use deltaline_collect::collector::{Collector, Problem};
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::packet::identity::WINDOW_BYTES;
use deltaline_model::time::Timestamp;
use deltaline_model::wire::frame::Role;
use serde::Serialize;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

/// What `--cut clock` is explained with when there is no `--interval`: the length that people choose.
const USUAL_INTERVAL: u64 = 500_000_000;

#[derive(Serialize)]
struct Output<'a> {
    configuration: ConfigurationOutput<'a>,
    through: String,
    overall: &'a Figures,
    intervals: &'a [IntervalFigures],
    sender: EndOutput,
    receiver: EndOutput,
    /// Of the simulation; none for software.
    hardware: Option<HardwareOutput>,
    frames: FramesOutput,
    warnings: &'a [String],
}

#[derive(Serialize)]
struct ConfigurationOutput<'a> {
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

#[derive(Clone, Copy, Serialize)]
struct EndOutput {
    /// Packets of the capture.
    packets: u64,
    /// Those of them that are not measured.
    unmeasured: u64,
    /// Measured ones that were captured without the end of their identity.
    truncated: u64,
}

#[derive(Clone, Copy, Serialize)]
struct HardwareOutput {
    /// Packets that both ends saw.
    packets: u64,
    /// Clock cycles of both ends.
    cycles: u64,
    /// Clock cycles simulated in a second.
    cycles_per_second: f64,
}

#[derive(Clone, Copy, Default, Serialize)]
struct FramesOutput {
    /// Control frames of both ends.
    count: u64,
    bytes: u64,
}

pub(crate) fn run(arguments: &Measure) -> Result<Exit, Failure> {
    let configuration = configuration(arguments)?;
    if arguments.cut == Cut::Clock {
        return Err(clock_is_refused(arguments)?);
    }
    check_outputs(arguments)?;
    let writer = frames_writer(arguments)?;
    let matched = match arguments.interval.is_some() || arguments.truth {
        true => Some(match_captures(arguments)?),
        false => None,
    };
    let (spans, mut warnings) = match &matched {
        Some(matched) => {
            let (spans, remark) = matched.spans(arguments.interval)?;
            (spans, remark.into_iter().chain(matched.remark_on_duplicates()).collect())
        }
        None => (vec![Span { sender: 0..usize::MAX, receiver: 0..usize::MAX }], vec![]),
    };
    let points = Points::build(arguments.through, &configuration)?;
    let passed = pass_captures(arguments, &points, &spans, writer)?;

    let mut results = summarize(&passed.evaluations);
    if arguments.truth
        && let Some(Matched { matching, .. }) = &matched
    {
        for (interval, span) in results.intervals.iter_mut().zip(&spans) {
            interval.figures.truth = Some(matching.truth(span.sender.clone()).into());
        }
        results.overall.truth = Some(matching.truth(..).into());
    }
    let exit = gravest(&passed.evaluations, passed.is_corrupted, [results.exit]);
    warnings.splice(0..0, results.messages.drain(..));
    warnings.splice(0..0, interval_warnings(&passed.evaluations));
    if let Some(matched) = matched.filter(|_| exit != Exit::Ends) {
        warnings.extend(matched.remark_on_negative_delays());
    }
    warnings.extend(passed.remarks());

    let output = Output {
        configuration: ConfigurationOutput {
            hash: arguments.hash.to_string(),
            seed: configuration.seed(),
            rows: configuration.rows(),
            banks: configuration.prefixes().lengths(),
            segment: configuration.segment(),
            digest: format!("{:#018x}", configuration.digest()),
            digests: configuration.has_digests(),
            interval_ns: arguments.interval,
        },
        through: arguments.through.to_string(),
        overall: &results.overall,
        intervals: &results.intervals,
        sender: passed.sender.output(&passed.evaluations),
        receiver: passed.receiver.output(&passed.evaluations),
        hardware: passed.hardware(),
        frames: passed.frames,
        warnings: &warnings,
    };
    if let Some(path) = &arguments.plot {
        plot::write(path, &results.intervals)?;
    }
    if arguments.json {
        report::print_json(&output)?
    } else {
        report::print(&output.to_text())?
    }
    warnings.iter().for_each(|warning| report::say(warning));
    Ok(exit)
}

impl Output<'_> {
    fn to_text(&self) -> String {
        let ConfigurationOutput { hash, seed, rows, banks, segment, digest, .. } = &self.configuration;
        let banks: Vec<String> = banks.iter().map(u8::to_string).collect();
        let mut text = format!(
            "{hash} seed {seed}, {rows} rows, banks {}, segment {segment}, digest {digest}, through {}\n{}\n{}{}",
            banks.join(","),
            self.through,
            report::figures(self.intervals, self.overall),
            report::quantiles(self.intervals, self.overall),
            report::reasons(self.intervals, self.overall),
        );
        if let Some(HardwareOutput { packets, cycles, cycles_per_second }) = self.hardware {
            text += &format!(
                "hardware: {packets} packets in {cycles} cycles, {:.0} thousand cycles a second; \
                 {} control frames, {} bytes\n",
                cycles_per_second / 1e3,
                self.frames.count,
                self.frames.bytes
            );
        }
        text
    }
}

fn configuration(arguments: &Measure) -> Result<Configuration, Failure> {
    Configuration::new(Settings {
        hash: arguments.hash.into(),
        seed: arguments.seed,
        rows: arguments.rows,
        prefixes: &arguments.banks,
        adaptive: false,
        segment: arguments.segment,
        digest: arguments.digest,
        ..Settings::default()
    })
    .map_err(|error| Failure::new(Exit::Usage, format!("--rows, --banks: {error}")))
}

/// Why a cut by the clock is refused, with the number of packets that it would assign wrongly.
fn clock_is_refused(arguments: &Measure) -> Result<Failure, Failure> {
    let matched = Matched::read(&arguments.sender, &arguments.receiver)?;
    let length = arguments.interval.unwrap_or(USUAL_INTERVAL);
    let packets = match in_flight_at_clock_cuts(&matched.sender, &matched.matching, length) {
        Some(packets) => format!("the about {packets:.0} packets"),
        None => "packets".into(),
    };
    Ok(Failure::new(
        Exit::Refused,
        format!(
            "--cut clock is refused: {packets} in flight at each cut would lie in different intervals at the two \
             ends and corrupt rows without a trace; use --cut in-band"
        ),
    ))
}

/// Refuses outputs that would replace a capture.
fn check_outputs(arguments: &Measure) -> Result<(), Failure> {
    let real = |path: &Path| fs::canonicalize(path).ok();
    for (option, output) in [("--frames", &arguments.frames), ("--plot", &arguments.plot)] {
        let Some(target) = output.as_deref().and_then(real) else { continue };
        if [&arguments.sender, &arguments.receiver]
            .into_iter()
            .any(|capture| real(capture).as_ref() == Some(&target))
        {
            let message =
                format!("{option}: {} would replace a capture; name another file", target.display());
            return Err(Failure::new(Exit::Usage, message));
        }
    }
    if arguments.frames.is_some() && arguments.frames == arguments.plot {
        return Err(Failure::new(Exit::Usage, "--frames and --plot name the same file; name two"));
    }
    Ok(())
}

/// Starts the file of control frames, if one is asked for.
fn frames_writer(arguments: &Measure) -> Result<Option<PcapngWriter>, Failure> {
    let Some(path) = &arguments.frames else { return Ok(None) };
    Ok(Some(PcapngWriter::create(path, "", "Control frames of deltaline measure")?))
}

/// Matches the captures, which will be read a second time: a pipe is refused.
fn match_captures(arguments: &Measure) -> Result<Matched, Failure> {
    for path in [&arguments.sender, &arguments.receiver] {
        // What is missing will be told when it is opened.
        if fs::metadata(path).is_ok_and(|about| !about.is_file()) {
            let message = format!(
                "{}: is not a regular file, but --interval and --truth read a capture twice; save it to a file",
                path.display()
            );
            return Err(Failure::new(Exit::Input, message));
        }
    }
    Matched::read(&arguments.sender, &arguments.receiver)
}

/// Passes the captures' packets through the measurement points, interval by interval.
fn pass_captures(
    arguments: &Measure,
    points: &Points,
    spans: &[Span],
    writer: Option<PcapngWriter>,
) -> Result<Passed, Failure> {
    let mut sender = End::open(&arguments.sender, points, Role::Sender)?;
    let mut receiver = End::open(&arguments.receiver, points, Role::Receiver)?;
    let progress = Progress::new("measuring", &[&sender.capture, &receiver.capture]);
    let mut sink = Sink { writer, total: FramesOutput::default(), progress };
    let started = Instant::now();
    let mut evaluations = Vec::with_capacity(spans.len());
    let mut is_corrupted = false;
    for span in spans {
        // A collector for each interval: what has been estimated need not be kept.
        let mut collector = Collector::default();
        sender.pass(span.sender.end, &mut collector, &mut sink)?;
        receiver.pass(span.receiver.end, &mut collector, &mut sink)?;
        let collected = collector.finish();
        is_corrupted |= collected.problems.iter().any(|each| matches!(each, Problem::Corrupted { .. }));
        evaluations.extend(evaluate(&collected));
    }
    let elapsed = started.elapsed();
    if let Some(writer) = sink.writer {
        writer.finish()?;
    }
    Ok(Passed { sender, receiver, evaluations, is_corrupted, frames: sink.total, elapsed })
}

/// What came of two captures.
struct Passed {
    sender: End,
    receiver: End,
    evaluations: Vec<Evaluation>,
    is_corrupted: bool,
    frames: FramesOutput,
    elapsed: Duration,
}

impl Passed {
    fn hardware(&self) -> Option<HardwareOutput> {
        let cycles = self.sender.point.cycles()? + self.receiver.point.cycles()?;
        Some(HardwareOutput {
            packets: self.sender.packets + self.receiver.packets,
            cycles,
            cycles_per_second: cycles as f64 / self.elapsed.as_secs_f64().max(1e-9),
        })
    }

    /// What is to be said of the captures' packets.
    fn remarks(&self) -> impl Iterator<Item = String> {
        let unmeasured = |end: &End| {
            let EndOutput { packets, unmeasured, .. } = end.output(&self.evaluations);
            (unmeasured > 0).then(|| {
                format!("{}: {unmeasured} of {packets} packets are not IP and not measured", end.name)
            })
        };
        let truncated = remark_on_truncated(&self.sender, &self.receiver);
        truncated.into_iter().chain(unmeasured(&self.sender)).chain(unmeasured(&self.receiver))
    }
}

/// Where control frames go, and how far it is.
struct Sink {
    writer: Option<PcapngWriter>,
    total: FramesOutput,
    progress: Progress,
}

/// One end: a capture and its measurement point.
struct End {
    capture: Capture,
    name: String,
    role: Role,
    point: Box<dyn Point>,
    packets: u64,
    truncated: u64,
    /// The longest captured length of a packet: its snap length, if packets are longer.
    longest: usize,
    timestamp: u64,
}

impl End {
    fn open(path: &Path, points: &Points, role: Role) -> Result<Self, Failure> {
        Ok(End {
            capture: Capture::open(path)?,
            name: path.display().to_string(),
            role,
            point: points.point(role)?,
            packets: 0,
            truncated: 0,
            longest: 0,
            timestamp: 0,
        })
    }

    /// Passes packets through the measurement point until `end` have passed in all, or the capture ends; then
    /// ends the interval.
    fn pass(&mut self, end: usize, collector: &mut Collector, sink: &mut Sink) -> Result<(), Failure> {
        while self.packets < end as u64 {
            let Some(packet) = self.capture.next_packet()? else { break };
            let is_truncated =
                self.point.observe(packet.data, Timestamp::from_nanoseconds(packet.timestamp))?;
            self.packets += 1;
            self.timestamp = packet.timestamp;
            self.truncated += u64::from(is_truncated);
            self.longest = self.longest.max(packet.data.len());
            sink.progress.packet(self.role as usize, &self.capture);
        }
        let timestamp = self.timestamp;
        let mut written = Ok(());
        self.point.end_interval(&mut |data| {
            collector.push(data);
            sink.total.count += 1;
            sink.total.bytes += data.len() as u64;
            if let (Some(writer), Ok(())) = (&mut sink.writer, &written) {
                written =
                    writer.write(PacketRef { timestamp, length: data.len() as u32, interface: 0, data });
            }
        })?;
        Ok(written?)
    }

    fn output(&self, evaluations: &[Evaluation]) -> EndOutput {
        let totals = evaluations.iter().filter_map(|each| match self.role {
            Role::Sender => each.sender,
            Role::Receiver => each.receiver,
        });
        EndOutput {
            packets: self.packets,
            unmeasured: totals.map(|totals| u64::from(totals.unmeasured)).sum(),
            truncated: self.truncated,
        }
    }
}

/// What is to be said of packets without the end of their identity.
fn remark_on_truncated(sender: &End, receiver: &End) -> Option<String> {
    if sender.truncated == 0 && receiver.truncated == 0 {
        return None;
    }
    let tell = |end: &End| format!("{} of {} packets of {}", end.truncated, end.packets, end.name);
    let harm = if sender.longest == receiver.longest {
        "so that they are told apart by less than they could be"
    } else {
        "and differently at the two ends, so that they look lost at one and foreign at the other"
    };
    Some(format!(
        "{} and {} were captured without the end of their identity, {harm}; \
         capture with a snap length of at least {WINDOW_BYTES} bytes at both ends",
        tell(sender),
        tell(receiver)
    ))
}
