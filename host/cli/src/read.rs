//! `deltaline read`: control frames as they come, from a board, a network interface or a recording.
//!
//! # Test plan
//!
//! `tests/read.rs`, against a board at a pseudo-terminal: the figures are those of `decode`; garbage, cut bytes, a reset
//! in the middle, the port going and coming; every failure by its exit code; what Prometheus is served.

use crate::arguments::Read;
use crate::exit::{Exit, Failure};
use crate::prometheus::Metrics;
use crate::report::{self, duration, or_none};
use crate::results::{
    Evaluation, IntervalFigures, TruthFigures, evaluate_interval, graver, interval_warnings,
};
use deltaline_collect::collector::{Collector, Problem};
use deltaline_collect::feed::{Event, Feed, Source};
use deltaline_collect::pair::Interval;
use deltaline_collect::verdict::Void;
use deltaline_model::board::{Command, Identity, Top, Truth, VERSION};
use deltaline_model::time::Timestamp;
use serde::Serialize;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Rows on a terminal from one heading to the next.
const ROWS: u64 = 24;
/// How long intervals are held back for a board's identity.
const ANSWER: Duration = Duration::from_secs(2);
/// Corrupted frames and messages that are told one by one.
const TOLD: u64 = 10;
/// Truths whose intervals never come are forgotten beyond so many.
const MOST_TRUTHS: usize = 64;

/// A line of the JSON output.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Line<'a> {
    /// A board has told which one it is.
    Identity(IdentityLine),
    Interval(&'a IntervalFigures),
    /// Intervals of which nothing has come.
    Gap {
        segment: u32,
        first: u32,
        last: u32,
    },
    /// A frame or message was corrupted.
    Bad {
        reason: String,
    },
    /// The source has begun anew: intervals count from zero again.
    Restart,
    /// Nothing has come for a while.
    Silence,
    Lost {
        reason: String,
    },
    Restored,
    End(&'a Counts),
}

#[derive(Serialize)]
struct IdentityLine {
    top: &'static str,
    cycle_ps: u32,
    digest: String,
    rows: u16,
    banks: Vec<u8>,
    build: u32,
}

impl From<&Identity> for IdentityLine {
    fn from(identity: &Identity) -> Self {
        IdentityLine {
            top: top_name(identity.top),
            cycle_ps: identity.cycle,
            digest: format!("{:#018x}", identity.digest),
            rows: identity.rows,
            banks: identity.prefixes.iter().copied().filter(|length| *length != u8::MAX).collect(),
            build: identity.build,
        }
    }
}

pub(crate) fn top_name(top: Top) -> &'static str {
    match top {
        Top::Selftest => "selftest",
        Top::RmiiTap => "rmii-tap",
    }
}

/// What has come so far.
#[derive(Default, Serialize)]
struct Counts {
    intervals: u64,
    void: u64,
    /// Intervals of which nothing has come.
    missing: u64,
    sent: u64,
    lost: u64,
    /// Corrupted frames and messages.
    bad: u64,
    /// Frames that repeat earlier ones, or came after their interval.
    repeated: u64,
    reconnects: u64,
    restarts: u64,
}

pub(crate) fn run(arguments: &Read) -> Result<Exit, Failure> {
    let mut source = Source::open(&arguments.source)?;
    if let Some(path) = &arguments.record {
        let Some(serial) = source.serial() else {
            let message =
                "--record keeps the bytes of a serial port; record a network interface with tcpdump";
            return Err(Failure::new(Exit::Usage, message));
        };
        let file = File::create(path).map_err(|reason| {
            let path = path.display();
            Failure::new(Exit::Output, format!("{path}: cannot be written: {reason}; check the folder"))
        })?;
        serial.record(file);
    }
    let metrics = arguments.prometheus.map(Metrics::serve).transpose()?;
    let stop = stop_flag()?;
    let mut reader = Reader::new(arguments, &mut source, metrics);
    if let Some(serial) = source.serial() {
        serial.send(&Command::Identify);
    }
    while !stop.load(Ordering::Relaxed) && reader.goes_on() {
        reader.take(&mut source)?;
    }
    reader.finish()
}

/// Becomes true with Ctrl-C or a request to end; with the second one the program ends at once.
pub(crate) fn stop_flag() -> Result<Arc<AtomicBool>, Failure> {
    let stop = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM] {
        flag::register_conditional_shutdown(signal, 1, Arc::clone(&stop))
            .and_then(|_| flag::register(signal, Arc::clone(&stop)))
            .map_err(|reason| Failure::new(Exit::Input, format!("signals cannot be caught: {reason}")))?;
    }
    Ok(stop)
}

struct Reader<'a> {
    arguments: &'a Read,
    is_live: bool,
    is_serial: bool,
    metrics: Option<Metrics>,
    collector: Collector,
    identity: Option<Identity>,
    /// The board has been asked for its identity.
    is_asked: bool,
    /// Those whose intervals have not come yet, in the order of their coming.
    truths: VecDeque<Truth>,
    has_truth: bool,
    segments: BTreeMap<u32, Segment>,
    counts: Counts,
    /// Restarts of interval numbers that have been told.
    followed: u64,
    exit: Exit,
    began: Instant,
    /// When the last control frame came, at first when the reading began.
    heard: Instant,
    has_heard: bool,
    /// Control frames have come since the last identity.
    is_running: bool,
    is_silent: bool,
    is_over: bool,
}

/// What is known of a segment.
#[derive(Default)]
struct Segment {
    last: Option<u32>,
    first_packet: Option<Timestamp>,
}

impl<'a> Reader<'a> {
    fn new(arguments: &'a Read, source: &mut Source, metrics: Option<Metrics>) -> Self {
        Reader {
            arguments,
            is_live: source.is_live(),
            is_serial: source.serial().is_some(),
            metrics,
            collector: Collector::default(),
            identity: None,
            is_asked: true,
            truths: VecDeque::new(),
            has_truth: false,
            segments: BTreeMap::new(),
            counts: Counts::default(),
            followed: 0,
            exit: Exit::Done,
            began: Instant::now(),
            heard: Instant::now(),
            has_heard: false,
            is_running: false,
            is_silent: false,
            is_over: false,
        }
    }

    fn goes_on(&self) -> bool {
        !self.is_over && self.wants_more()
    }

    fn wants_more(&self) -> bool {
        self.arguments.intervals.is_none_or(|most| self.counts.intervals < most)
    }

    fn is_live(&self) -> bool {
        self.is_live
    }

    fn take(&mut self, source: &mut Source) -> Result<(), Failure> {
        match source.next_event()? {
            Event::Frame { bytes, .. } => self.frame(&bytes)?,
            Event::Truth(truth) => {
                if self.truths.len() == MOST_TRUTHS {
                    self.truths.pop_front();
                }
                self.truths.push_back(truth);
                self.has_truth = true;
            }
            Event::Identity(identity) => self.identity(identity)?,
            Event::Bad(bad) => self.bad(&bad.to_string())?,
            Event::Idle => {}
            Event::NotRecorded(reason) => {
                self.exit = graver([self.exit, Exit::Output]);
                report::say(&format!("--record: cannot be written further: {reason}; check the free space"));
            }
            Event::Lost(reason) => {
                self.say(&format!("is gone ({reason}); waiting for it to come back"));
                self.metrics.iter().for_each(|metrics| metrics.connected(false));
                self.line(&Line::Lost { reason })?;
            }
            Event::Restored => {
                self.counts.reconnects += 1;
                self.say("is back");
                self.metrics.iter().for_each(|metrics| metrics.connected(true));
                self.line(&Line::Restored)?;
                self.heard = Instant::now();
                if let Some(serial) = source.serial() {
                    self.is_asked = true;
                    serial.send(&Command::Identify);
                }
            }
            Event::End => self.is_over = true,
        }
        self.present_settled()?;
        if self.is_live() {
            self.watch(source)?;
        }
        Ok(())
    }

    /// Whether a board that has just been asked may still answer: without the answer, its truth cannot be read.
    fn waits_for_identity(&self) -> bool {
        self.is_serial && self.identity.is_none() && self.began.elapsed() < ANSWER
    }

    fn say(&self, message: &str) {
        report::say(&format!("{}: {message}", self.arguments.source));
    }

    fn frame(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        let foreign = self.collector.foreign();
        self.collector.push(bytes);
        if self.collector.foreign() == foreign {
            self.heard = Instant::now();
            (self.has_heard, self.is_running, self.is_silent) = (true, true, false);
        }
        for problem in self.collector.take_problems() {
            if let Problem::Corrupted { error, .. } = problem {
                self.bad(&error.to_string())?;
            }
        }
        Ok(())
    }

    fn bad(&mut self, reason: &str) -> Result<(), Failure> {
        self.counts.bad += 1;
        self.exit = graver([self.exit, Exit::Void]);
        self.metrics.iter().for_each(Metrics::bad);
        match self.counts.bad {
            ..TOLD => self.say(&format!("{reason}; it is left out")),
            TOLD => self.say(&format!("{reason}; it is left out, and further ones are only counted")),
            _ => {}
        }
        self.line(&Line::Bad { reason: reason.into() })
    }

    fn identity(&mut self, identity: Identity) -> Result<(), Failure> {
        check_version(&self.arguments.source, &identity)?;
        // Told unasked in the midst of a run, by a board that begins anew.
        let was_asked = std::mem::take(&mut self.is_asked);
        if !was_asked && std::mem::take(&mut self.is_running) {
            self.collector.restart_all();
            self.followed = self.collector.restarts();
            self.present_settled()?;
            self.truths.clear();
            self.restart("the board was reset")?;
        }
        self.identity = Some(identity);
        self.line(&Line::Identity((&identity).into()))
    }

    fn present_settled(&mut self) -> Result<(), Failure> {
        if self.waits_for_identity() {
            return Ok(());
        }
        let restarts = self.collector.restarts();
        for interval in self.collector.take_settled() {
            if self.wants_more() {
                self.present(&interval)?;
            }
        }
        self.collector.take_problems();
        if restarts > self.followed {
            self.followed = restarts;
            self.restart("interval numbers start over")?;
        }
        Ok(())
    }

    fn restart(&mut self, message: &str) -> Result<(), Failure> {
        self.segments.clear();
        self.counts.restarts += 1;
        self.say(message);
        self.line(&Line::Restart)
    }

    fn present(&mut self, interval: &Interval) -> Result<(), Failure> {
        let Interval { segment, number, .. } = *interval;
        let is_first = !self.segments.contains_key(&segment);
        if is_first && self.is_live() && self.counts.restarts == 0 && is_partial(interval) {
            self.segments.insert(segment, Segment { last: Some(number), first_packet: None });
            self.say(&format!(
                "segment {segment}, interval {number}: was under way when reading began, and is left out"
            ));
            return Ok(());
        }
        let evaluation = evaluate_interval(interval);
        let known = self.segments.entry(segment).or_default();
        let gap =
            known.last.and_then(|last| (last.saturating_add(1) < number).then_some((last + 1, number - 1)));
        known.last = Some(number);
        known.first_packet = known.first_packet.or_else(|| evaluation.first());
        let mut shown = IntervalFigures::new(&evaluation, known.first_packet);
        if let Some((first, last)) = gap {
            self.gap(segment, first, last)?;
        }
        self.exit = graver([self.exit, evaluation.exit()]);
        shown.figures.truth = self.truth(number);
        self.check_digest(interval);
        self.count(&evaluation, &shown);
        interval_warnings(std::slice::from_ref(&evaluation)).iter().for_each(|warning| self.say(warning));
        if self.arguments.json {
            return self.line(&Line::Interval(&shown));
        }
        self.row(&shown)
    }

    fn count(&mut self, evaluation: &Evaluation, shown: &IntervalFigures) {
        let is_usable = evaluation.result.is_ok();
        self.counts.intervals += 1;
        self.counts.void += u64::from(!is_usable);
        self.counts.sent += shown.figures.sent.unwrap_or(0);
        self.counts.lost += shown.figures.lost.unwrap_or(0);
        if let Some(metrics) = &self.metrics {
            metrics.interval(shown.segment, is_usable, &shown.figures);
        }
    }

    fn gap(&mut self, segment: u32, first: u32, last: u32) -> Result<(), Failure> {
        let intervals = u64::from(last - first) + 1;
        self.counts.missing += intervals;
        self.exit = graver([self.exit, Exit::Void]);
        self.metrics.iter().for_each(|metrics| metrics.missing(segment, intervals));
        self.say(&match intervals {
            1 => format!("segment {segment}, interval {first}: nothing of it arrived"),
            _ => format!("segment {segment}, intervals {first} to {last}: nothing of them arrived"),
        });
        self.line(&Line::Gap { segment, first, last })
    }

    /// A board's frames must be of the configuration that it tells.
    fn check_digest(&mut self, interval: &Interval) {
        let reports = [&interval.sender, &interval.receiver].into_iter().flatten();
        let Some(identity) = self.identity else { return };
        if let Some(other) = reports.into_iter().find(|report| report.digest != identity.digest) {
            self.exit = graver([self.exit, Exit::Configuration]);
            self.say(&format!(
                "segment {}, interval {}: its control frames are of configuration {:#018x}, the board's is {:#018x}; \
                 program the board again",
                interval.segment, interval.number, other.digest, identity.digest
            ));
        }
    }

    /// The truth of an interval; that of earlier ones will not be asked for.
    fn truth(&mut self, interval: u32) -> Option<TruthFigures> {
        let position = self.truths.iter().position(|truth| truth.interval == interval)?;
        let truth = self.truths.drain(..=position).next_back()?;
        Some(truth_figures(&truth, self.identity?.cycle))
    }

    /// Tells when nothing comes.
    fn watch(&mut self, source: &mut Source) -> Result<(), Failure> {
        let timeout = Duration::from_nanos(self.arguments.timeout);
        if self.heard.elapsed() < timeout || self.is_silent {
            return Ok(());
        }
        let length = duration(timeout.as_nanos() as f64);
        if self.has_heard {
            self.is_silent = true;
            self.say(&format!("no control frame has come for {length}"));
            return self.line(&Line::Silence);
        }
        let port = &self.arguments.source;
        Err(match (&self.identity, source.serial()) {
            (Some(identity), _) => Failure::new(
                Exit::NoData,
                format!(
                    "{port}: the board answers as {}, but no control frame came within {length}; start it with \
                     `deltaline board start {port}`, or wait longer with --timeout",
                    top_name(identity.top)
                ),
            ),
            (None, Some(serial)) => no_answer(port, serial.bytes(), &length),
            (None, None) => Failure::new(
                Exit::NoData,
                format!(
                    "{port}: no control frame came within {length}, only {} other frames; connect the management \
                     port, end intervals, or wait longer with --timeout",
                    self.collector.foreign()
                ),
            ),
        })
    }

    /// Shows a line where lines are asked for.
    fn line(&mut self, line: &Line) -> Result<(), Failure> {
        if self.arguments.json && !report::print_json_line(line)? {
            self.is_over = true;
        }
        Ok(())
    }

    fn row(&mut self, shown: &IntervalFigures) -> Result<(), Failure> {
        let figures = &shown.figures;
        let row = [
            shown.segment.to_string(),
            shown.interval.to_string(),
            or_none(figures.sent, |sent| sent.to_string()),
            report::loss(figures.lost, figures.sent),
            report::mean(figures),
            or_none(figures.std_ns, duration),
            (self.counts.void + self.counts.missing).to_string(),
            self.counts.bad.to_string(),
            or_none(figures.truth, |truth| truth.lost.to_string()),
            or_none(figures.truth.and_then(|truth| truth.mean_ns), duration),
            or_none(figures.truth.and_then(|truth| truth.std_ns), duration),
        ];
        let columns = if self.has_truth { COLUMNS.len() } else { COLUMNS.len() - TRUTH_COLUMNS };
        let mut text = String::new();
        let period = if io::stdout().is_terminal() { ROWS } else { u64::MAX };
        if (self.counts.intervals - 1).is_multiple_of(period) {
            text += &aligned(COLUMNS[..columns].iter().copied());
        }
        let widths = COLUMNS[..columns].iter().map(|(_, width)| *width);
        text += &aligned(row.iter().map(String::as_str).zip(widths));
        self.is_over |= !report::print_part(&text)?;
        Ok(())
    }

    fn finish(mut self) -> Result<Exit, Failure> {
        // Live, what is still under way is not void, only unfinished.
        self.counts.repeated = self.collector.duplicates() + self.collector.late();
        if !self.is_live() {
            for interval in std::mem::take(&mut self.collector).finish().intervals {
                if self.wants_more() {
                    self.present(&interval)?;
                }
            }
        }
        let counts = &self.counts;
        if self.arguments.json {
            report::print_json_line(&Line::End(counts))?;
        } else {
            let Counts { intervals, void, missing, sent, lost, bad, repeated, reconnects, restarts } = counts;
            report::print(&format!(
                "{intervals} intervals, {void} of them void, {missing} missing; {sent} packets sent, {lost} lost; \
                 {bad} bad and {repeated} repeated frames, {reconnects} reconnections, {restarts} restarts\n"
            ))?;
        }
        if !self.is_live() && counts.intervals == 0 && counts.bad == 0 {
            let message = format!(
                "{}: no control frame in it; record the management port of measurement points",
                self.arguments.source
            );
            return Err(Failure::new(Exit::NotIdentifiable, message));
        }
        Ok(self.exit)
    }
}

const TRUTH_COLUMNS: usize = 3;

/// The table's columns and their widths; those of the truth last.
const COLUMNS: [(&str, usize); 11] = [
    ("segment", 7),
    ("interval", 10),
    ("sent", 10),
    ("lost", 18),
    ("mean (95 %)", 22),
    ("deviation", 11),
    ("gaps", 5),
    ("bad", 5),
    ("true lost", 9),
    ("true mean", 11),
    ("true deviation", 14),
];

/// A line of cells, each to the right of its width.
fn aligned<'a>(cells: impl Iterator<Item = (&'a str, usize)>) -> String {
    let cells: Vec<String> = cells.map(|(text, width)| format!("{text:>width$}")).collect();
    cells.join("  ") + "\n"
}

/// Whether an interval lacks what came before reading began.
fn is_partial(interval: &Interval) -> bool {
    matches!(interval.void, Some(Void::LostFragments { .. } | Void::MissingEnd { .. }))
}

/// The truth in nanoseconds, with so many picoseconds a cycle.
pub(crate) fn truth_figures(truth: &Truth, cycle: u32) -> TruthFigures {
    let received = u64::from(truth.received);
    let scale = f64::from(cycle) / 1000.0;
    let nanoseconds = |cycles: f64| (received > 0).then_some(cycles * scale);
    let count = f64::from(truth.received);
    // In whole numbers, so that a small deviation of a large mean is right.
    let variance = (u128::from(received) * u128::from(truth.squares))
        .saturating_sub(u128::from(truth.sum) * u128::from(truth.sum)) as f64;
    let extreme = |cycles: u32| nanoseconds(f64::from(cycles)).map(|value| value as i64);
    TruthFigures {
        sent: truth.sent.into(),
        received,
        lost: truth.lost.into(),
        mean_ns: nanoseconds(truth.sum as f64 / count),
        std_ns: nanoseconds(variance.sqrt() / count),
        min_ns: extreme(truth.least),
        max_ns: extreme(truth.greatest),
    }
}

/// Refuses a board of another release.
pub(crate) fn check_version(port: &str, identity: &Identity) -> Result<(), Failure> {
    if identity.version == VERSION {
        return Ok(());
    }
    let message = format!(
        "{port}: the board speaks version {} of the protocol, this program version {VERSION}; \
         program the board and build the program from the same release",
        identity.version
    );
    Err(Failure::new(Exit::WrongBoard, message))
}

/// Nothing understandable came over a serial line.
pub(crate) fn no_answer(port: &str, bytes: u64, length: &str) -> Failure {
    match bytes {
        0 => Failure::new(
            Exit::NoData,
            format!(
                "{port}: nothing came within {length}; check that the board has power and is programmed (its first \
                 LED blinks), and that this is its data port: of a board with two ports, the second"
            ),
        ),
        _ => Failure::new(
            Exit::WrongBoard,
            format!(
                "{port}: {bytes} bytes came within {length}, but no message of a Deltaline board; check the port, \
                 and program the board with `cargo xtask bitstream alchitry-cu selftest`"
            ),
        ),
    }
}
