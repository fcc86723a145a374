//! `deltaline read`: control frames as they come, from a board, a network interface or a recording.
//!
//! What happens is [`deltaline_collect::follower`]'s to find out; this prints it.
//!
//! # Test plan
//!
//! `tests/read.rs`, against a board at a pseudo-terminal: the figures are those of `decode`; garbage, cut bytes, a reset
//! in the middle, the port going and coming; every failure by its exit code; what Prometheus is served.

use crate::allow::{Allow, LeftOut};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flows::points::{FlowsOutput, WorstFlows};
use crate::identity::{error_at, no_answer, top_name};
use crate::keys::{collector, mention_forgery};
use crate::parse;
use crate::report::{self, duration};
use crate::show::json::{Interval as IntervalOutput, Schema};
use crate::show::live::Row;
use crate::show::prometheus::Served;
use crate::signals::stop_flag;
use clap::Args;
use deltaline_collect::collector::{self, Limits};
use deltaline_collect::feed::Source;
use deltaline_collect::flows::Asked;
use deltaline_collect::follower::{Followed, Follower, Happening, Restart};
use deltaline_collect::summary::interval_remarks;
use deltaline_estimate::quantity::{LOST, Number, SENT};
use deltaline_model::board::Identity;
use deltaline_model::wire::frame::Role;
use serde::Serialize;
use std::collections::BTreeSet;
use std::io::{self, ErrorKind, IsTerminal};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

pub(crate) const EXAMPLES: &str = "\
Examples:
  A board at its serial port, live, until Ctrl-C:
    deltaline read /dev/ttyUSB1

  Measurement points at a management port, for Prometheus to scrape:
    deltaline read eth0 --prometheus 0.0.0.0:9469

  Ten intervals for a program to read, keeping the raw bytes, then replaying them:
    deltaline read /dev/ttyUSB1 --json --intervals 10 --record run.bin
    deltaline read run.bin --json

  The twenty flows that are slowest for certain, in every interval, of those that a recording has:
    deltaline flows top --count 500 --json a.pcap b.pcap > flows.json
    deltaline read eth0 --design lds.toml --flows flows.json

  As a service: every hour's control frames in a file of their own
    deltaline read eth0 --record /var/lib/deltaline/run.pcapng --rotate 1h";

#[derive(Debug, Args)]
pub(crate) struct Read {
    /// A serial port (/dev/ttyUSB1), a network interface (eth0), a capture (pcap or pcapng), or a recording of a
    /// serial port
    pub(crate) source: String,
    /// The design that both ends were built from: a file, or the name of a shipped one. Intervals of another configuration
    /// are refused
    #[arg(long, value_name = "FILE")]
    pub(crate) design: Option<String>,
    /// Take only control frames that a key of this file has signed, as `deltaline key` makes it
    #[arg(long, value_name = "FILE")]
    pub(crate) key: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) allow: Allow,
    /// Write one JSON object a line
    #[arg(long)]
    pub(crate) json: bool,
    /// Serve the figures to Prometheus at this address, such as 127.0.0.1:9469
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) prometheus: Option<SocketAddr>,
    /// Keep what a live source says in a file: the bytes of a serial port, or an interface's control frames as pcapng. An
    /// interval is on the disk before it is shown; a file that exists is refused
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// Begin a new recording every so often, each called after its moment: run.pcapng becomes run-20260123T070000.000000Z.pcapng
    ///
    /// No frame is cut, but an interval may begin in one recording and end in the next: read them one after the other
    /// (`cat` for a serial port's, `deltaline decode A B` for pcapng).
    #[arg(long, value_parser = parse::duration, value_name = "DURATION", requires = "record")]
    pub(crate) rotate: Option<u64>,
    /// Stop after so many intervals
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u64).range(1..))]
    pub(crate) intervals: Option<u64>,
    #[command(flatten)]
    pub(crate) worst: WorstFlows,
    /// How long to wait for the first control frame of a live source
    #[arg(long, value_parser = parse::duration, value_name = "DURATION", default_value = "10s")]
    pub(crate) timeout: u64,
}

/// Rows on a terminal from one heading to the next.
const ROWS: u64 = 24;
/// Corrupted frames and messages that are named one by one, and segments whose doubts are.
const NAMED: u64 = 10;

/// A line of the JSON output.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "snake_case")]
enum Line<'a> {
    /// The first line.
    Start {
        schema: Schema,
        source: &'a str,
    },
    /// A board has said which one it is.
    Identity(IdentityLine),
    Interval(IntervalOutput<'a>),
    /// The worst flows of the interval before.
    Flows(&'a FlowsOutput),
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
    /// An end reports numbers that it has passed, which are left out.
    Again {
        reason: &'a str,
    },
    /// The source has begun anew: intervals count from zero again.
    Restart,
    /// Nothing but old control frames has come of a segment since its last interval.
    Replayed {
        segment: u32,
        frames: u64,
    },
    /// Nothing has come for a while.
    Silence,
    Lost {
        reason: String,
    },
    Restored,
    /// What follows may not be in the recording.
    NotRecorded {
        reason: String,
    },
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

/// What has come so far.
#[derive(Default, Serialize)]
struct Counts {
    intervals: u64,
    void: u64,
    /// Intervals of which nothing has come.
    missing: u64,
    sent: u64,
    lost: u64,
    /// Intervals whose losses are not known, void ones among them: `lost` has none of theirs.
    lost_unknown: u64,
    /// Corrupted frames and messages.
    bad: u64,
    /// Frames that repeat earlier ones, or came after their interval.
    repeated: u64,
    /// Frames that the kernel had no room for.
    dropped: u64,
    reconnects: u64,
    restarts: u64,
    /// Intervals that lacked control frames when reading ended.
    under_way: u64,
    #[serde(flatten)]
    left_out: LeftOut,
}

pub(crate) fn run(arguments: &Read) -> Result<Exit, Failure> {
    let collector = collector(arguments.design.as_deref(), arguments.key.as_deref())?;
    let collector = collector.allowing(arguments.allow.allowed());
    let asked = arguments.worst.asked(arguments.design.as_deref())?;
    let mut source = Source::open(&arguments.source)?;
    if let Some(path) = &arguments.record {
        record(&mut source, path, arguments.rotate.map(Duration::from_nanos))?;
    }
    let metrics = arguments.prometheus.map(Served::serve).transpose()?;
    let stop = stop_flag()?;
    let is_live = source.is_live();
    let mut follower = Follower::new(source, collector, Duration::from_nanos(arguments.timeout));
    let mut printer = Printer {
        arguments,
        asked,
        metrics,
        counts: Counts::default(),
        exit: Exit::Done,
        is_over: false,
        doubted: BTreeSet::new(),
        is_closed: false,
    };
    printer.line(&Line::Start { schema: Schema::of("read"), source: &arguments.source })?;
    while !stop.load(Ordering::Relaxed) && printer.wants_more() {
        let happenings = follower.next_happenings();
        for happening in happenings.map_err(|error| error_at(&arguments.source, error))? {
            printer.print(&happening, &mut follower)?;
        }
        printer.dropped(follower.dropped().unwrap_or(0))?;
        printer.left_out(&follower.counts())?;
        printer.serve()?;
    }
    let has_truth = follower.has_truth();
    let (happenings, counts) = follower.finish();
    for happening in happenings {
        printer.settled(&happening, has_truth)?;
    }
    printer.left_out(&counts)?;
    printer.counts.repeated = counts.duplicates + counts.late;
    printer.finish(is_live)
}

/// Keeps what a live source says in files.
fn record(source: &mut Source, path: &Path, period: Option<Duration>) -> Result<(), Failure> {
    let shown = path.display();
    source.record(path, period).map_err(|reason| match reason.kind() {
        ErrorKind::Unsupported => Failure::new(
            Exit::Usage,
            "--record keeps what a live source says, and this is a recording already; copy the file",
        ),
        ErrorKind::AlreadyExists => Failure::new(
            Exit::Output,
            format!("{shown}: exists, and is not overwritten; name another file, or have files named by time with --rotate 1h"),
        ),
        _ => Failure::new(Exit::Output, format!("{shown}: cannot be written: {reason}; check the folder")),
    })
}

/// Prints what happens.
struct Printer<'a> {
    arguments: &'a Read,
    /// Flows that are asked for.
    asked: Option<Asked>,
    metrics: Option<Served>,
    counts: Counts,
    exit: Exit,
    is_over: bool,
    /// Segments of whose clocks a doubt was said.
    doubted: BTreeSet<u32>,
    /// Nobody reads standard output any more: what is under way is no longer of interest, and not missing.
    is_closed: bool,
}

impl Printer<'_> {
    fn wants_more(&self) -> bool {
        !self.is_over && self.wants_intervals()
    }

    fn wants_intervals(&self) -> bool {
        !self.is_closed && self.arguments.intervals.is_none_or(|most| self.counts.intervals < most)
    }

    fn say(&self, message: &str) {
        report::say(&format!("{}: {message}", self.arguments.source));
    }

    /// Keeps what is served up to date. Reading goes on without it.
    fn serve(&mut self) -> Result<(), Failure> {
        let Some(metrics) = &mut self.metrics else { return Ok(()) };
        if let Some(reason) = metrics.lost() {
            self.exit = Exit::gravest([self.exit, Exit::Output]);
            report::say(&format!("--prometheus: nothing is served any more: {reason}; start again"));
        }
        metrics.refresh()
    }

    /// Counts the control frames that were left out.
    fn left_out(&mut self, counts: &collector::Counts) -> Result<(), Failure> {
        let left_out = LeftOut::of(counts);
        if left_out.is_missed() {
            self.exit = Exit::gravest([self.exit, Exit::Void]);
        }
        if left_out.beyond > 0 && self.counts.left_out.beyond == 0 {
            self.say(
                "control frames are left out for which there is no room: somebody floods, or more is measured than is followed; name \
                 what matters with --segment, --point or --digest",
            );
        }
        self.counts.left_out = left_out;
        self.counts.under_way = counts.under_way;
        self.metrics.iter_mut().try_for_each(|metrics| metrics.left_out(&left_out))
    }

    fn print(&mut self, happening: &Happening, follower: &mut Follower) -> Result<(), Failure> {
        match happening {
            Happening::Identity(identity) => self.line(&Line::Identity(identity.into())),
            Happening::Bad(reason) => self.bad(reason),
            Happening::Again(what) => {
                self.say(what);
                self.line(&Line::Again { reason: what })
            }
            Happening::Starved { segment, frames, reason } => {
                self.exit = Exit::gravest([self.exit, Exit::Void]);
                self.say(reason);
                self.line(&Line::Replayed { segment: *segment, frames: *frames })
            }
            Happening::Restart(restart) => {
                self.counts.restarts += 1;
                self.say(match restart {
                    Restart::Reset => "the board was reset",
                    Restart::Numbers => "interval numbers start over",
                });
                self.line(&Line::Restart)
            }
            Happening::Silence if follower.has_heard() => {
                self.say(&format!("no control frame has come for {}", self.timeout()));
                self.line(&Line::Silence)
            }
            Happening::Silence => Err(self.nothing_came(follower)),
            Happening::Lost(reason) => {
                self.say(&format!("is gone ({reason}); waiting for it to come back"));
                self.metrics.iter_mut().try_for_each(|metrics| metrics.connected(false))?;
                self.line(&Line::Lost { reason: reason.clone() })
            }
            Happening::Restored => {
                self.counts.reconnects += 1;
                self.say("is back");
                self.metrics.iter_mut().try_for_each(|metrics| metrics.connected(true))?;
                self.line(&Line::Restored)
            }
            Happening::End => {
                self.is_over = true;
                Ok(())
            }
            Happening::Forgotten { segment } => {
                self.metrics.iter_mut().try_for_each(|metrics| metrics.forgotten(*segment))?;
                self.say(&format!(
                    "segment {segment}: forgotten, for nothing has come of it for long and others need its room; name those \
                     that matter with --segment"
                ));
                Ok(())
            }
            Happening::Interval(_)
            | Happening::Partial { .. }
            | Happening::Gap { .. }
            | Happening::NotRecorded(_) => self.settled(happening, follower.has_truth()),
        }
    }

    /// What comes of intervals, as long as more are asked for, and of recording them.
    fn settled(&mut self, happening: &Happening, has_truth: bool) -> Result<(), Failure> {
        if let Happening::NotRecorded(reason) = happening {
            self.exit = Exit::gravest([self.exit, Exit::Output]);
            report::say(&format!(
                "--record: cannot be written further: {reason}; check the free space, the file and its folder"
            ));
            return self.line(&Line::NotRecorded { reason: reason.clone() });
        }
        if !self.wants_intervals() {
            return Ok(());
        }
        match happening {
            Happening::Interval(followed) => self.interval(followed, has_truth),
            Happening::Partial { segment, number } => {
                self.say(&format!(
                    "segment {segment}, interval {number}: was under way when reading began, and is left out"
                ));
                Ok(())
            }
            Happening::Gap { segment, first, last } => self.gap(*segment, *first, *last),
            _ => Ok(()),
        }
    }

    fn bad(&mut self, reason: &str) -> Result<(), Failure> {
        self.counts.bad += 1;
        self.exit = Exit::gravest([self.exit, Exit::Void]);
        self.metrics.iter_mut().try_for_each(Served::bad)?;
        match self.counts.bad {
            ..NAMED => self.say(&format!("{reason}; it is left out")),
            NAMED => self.say(&format!("{reason}; it is left out, and further ones are only counted")),
            _ => {}
        }
        self.line(&Line::Bad { reason: reason.into() })
    }

    /// So many frames found no room so far.
    fn dropped(&mut self, frames: u64) -> Result<(), Failure> {
        let more = frames.saturating_sub(self.counts.dropped);
        if more == 0 {
            return Ok(());
        }
        if self.counts.dropped == 0 {
            self.say(
                "frames came faster than they were read, and the kernel dropped some; look for a flood of control frames, \
                 or allow a larger buffer with `sysctl net.core.rmem_max=8388608`",
            );
        }
        self.counts.dropped = frames;
        // What they were of is not known: all of a segment, maybe.
        self.exit = Exit::gravest([self.exit, Exit::Void]);
        self.metrics.iter_mut().try_for_each(|metrics| metrics.dropped(more))
    }

    fn interval(&mut self, followed: &Followed, has_truth: bool) -> Result<(), Failure> {
        let Followed { evaluation, figures, foreign_configuration, .. } = followed;
        self.exit = Exit::gravest([self.exit, Exit::after_interval(evaluation)]);
        if let Some((other, own)) = foreign_configuration {
            self.exit = Exit::gravest([self.exit, Exit::Configuration]);
            self.say(&format!(
                "segment {}, interval {}: its control frames are of configuration {other:#018x}, the board's is \
                 {own:#018x}; program the board again",
                figures.segment, figures.number
            ));
        }
        let is_usable = evaluation.result.is_ok();
        let packets = |name| match figures.figures.find(name).map(|quantity| quantity.value) {
            Some(Ok(Number::Count(packets))) => Some(packets),
            _ => None,
        };
        let lost = packets(LOST.name);
        self.counts.intervals += 1;
        self.counts.void += u64::from(!is_usable);
        self.counts.sent += packets(SENT.name).unwrap_or(0);
        self.counts.lost += lost.unwrap_or(0);
        self.counts.lost_unknown += u64::from(lost.is_none());
        if let Some(metrics) = &mut self.metrics {
            metrics.interval(figures.segment, is_usable, &figures.figures)?;
            let ends = [
                (Role::Sender, evaluation.sender.is_some()),
                (Role::Receiver, evaluation.receiver.is_some()),
            ];
            for (role, _) in ends.into_iter().filter(|(_, has_reported)| *has_reported) {
                figures.reported.map_or(Ok(()), |time| metrics.heard(figures.segment, role, time))?;
            }
        }
        interval_remarks(std::slice::from_ref(evaluation)).iter().for_each(|remark| self.say(remark));
        let flows = self.asked.as_ref().map(|asked| {
            let worst = self.arguments.worst.of(asked, followed);
            FlowsOutput::of((figures.segment, figures.number), asked.count(), worst)
        });
        if self.arguments.json {
            self.line(&Line::Interval(IntervalOutput(figures)))?;
            return flows.as_ref().map_or(Ok(()), |flows| self.line(&Line::Flows(flows)));
        }
        if let Some(doubt) = &figures.figures.clock_doubt
            && self.doubted.len() < NAMED as usize
            && self.doubted.insert(figures.segment)
        {
            self.say(&format!(
                "segment {}, interval {}: {doubt}; this is said once, and all such intervals have 'clock' in the column 'doubt'",
                figures.segment, figures.number
            ));
        }
        if self.counts.intervals == 1 {
            mention_forgery(self.arguments.key.as_deref(), "control frames");
        }
        let gaps = self.counts.void + self.counts.missing;
        let row = Row::new(figures, gaps, self.counts.bad, has_truth);
        let period = if io::stdout().is_terminal() { ROWS } else { u64::MAX };
        let mut text = String::new();
        if (self.counts.intervals - 1).is_multiple_of(period) {
            text += &row.heading();
        }
        text += &row.text();
        text += &flows.map_or(String::new(), |flows| flows.text());
        self.is_closed |= !report::print_part(&text)?;
        Ok(())
    }

    fn gap(&mut self, segment: u32, first: u32, last: u32) -> Result<(), Failure> {
        // Numbers count modulo 2^32.
        let intervals = u64::from(last.wrapping_sub(first)) + 1;
        self.counts.missing += intervals;
        self.exit = Exit::gravest([self.exit, Exit::Void]);
        self.metrics.iter_mut().try_for_each(|metrics| metrics.missing(segment, intervals))?;
        self.say(&match intervals {
            1 => format!("segment {segment}, interval {first}: nothing of it arrived"),
            _ => format!("segment {segment}, intervals {first} to {last}: nothing of them arrived"),
        });
        self.line(&Line::Gap { segment, first, last })
    }

    fn timeout(&self) -> String {
        duration(self.arguments.timeout as f64)
    }

    /// Why there is nothing to read.
    fn nothing_came(&self, follower: &mut Follower) -> Failure {
        let (port, length) = (&self.arguments.source, self.timeout());
        let foreign = follower.counts().foreign;
        match (follower.identity(), follower.source().serial()) {
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
                    "{port}: no control frame came within {length}, only {foreign} delimiters; connect the management \
                     port, end intervals, or wait longer with --timeout"
                ),
            ),
        }
    }

    /// Shows a line where lines are asked for.
    fn line(&mut self, line: &Line) -> Result<(), Failure> {
        if self.arguments.json && !report::print_json_line(line)? {
            self.is_closed = true;
        }
        Ok(())
    }

    fn finish(self, is_live: bool) -> Result<Exit, Failure> {
        if self.is_closed {
            return Ok(self.exit);
        }
        let counts = &self.counts;
        counts.left_out.remarks(&Limits::default()).iter().for_each(|remark| self.say(remark));
        if counts.under_way > 0 {
            self.say(&format!(
                "{} intervals lacked control frames when reading ended, and are left out: they were under way, or the frames were lost",
                counts.under_way
            ));
        }
        if self.arguments.json {
            report::print_json_line(&Line::End(counts))?;
        } else {
            let Counts {
                intervals,
                void,
                missing,
                sent,
                lost,
                lost_unknown,
                bad,
                repeated,
                dropped,
                reconnects,
                restarts,
                ..
            } = counts;
            let unknown = match lost_unknown {
                0 => String::new(),
                unknown => format!(" (the losses of {unknown} intervals are not known)"),
            };
            report::print(&format!(
                "{intervals} intervals, {void} of them void, {missing} missing; {sent} packets sent, {lost} lost{unknown}; \
                 {bad} bad, {repeated} repeated and {dropped} dropped frames, {reconnects} reconnections, {restarts} \
                 restarts\n"
            ))?;
        }
        if !is_live && counts.intervals == 0 && counts.bad == 0 {
            let message = format!(
                "{}: no control frame in it; record the management port of measurement points",
                self.arguments.source
            );
            return Err(Failure::new(Exit::NotIdentifiable, message));
        }
        Ok(self.exit)
    }
}
