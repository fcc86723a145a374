//! Two captures' packets through two measurement points, interval by interval.

use crate::causes::{Surveys, is_suspect};
use crate::failure::Failure;
use crate::input::Input;
use crate::point::{Batch, Point};
use crate::points::Points;
use crate::progress::Progress;
use crate::recordings::{Recordings, remark_on_cut, remark_on_nothing_wanted};
use deltaline_capture::replay::Span;
use deltaline_capture::{PacketRef, PcapngWriter};
use deltaline_collect::collector::{Collector, Limits};
use deltaline_collect::evaluation::Evaluation;
use deltaline_model::packet::identity::WINDOW_BYTES;
use deltaline_model::time::Timestamp;
use deltaline_model::wire::frame::Role;
use serde::Serialize;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// What one end's capture held.
#[derive(Clone, Serialize)]
pub(crate) struct EndOutput {
    /// The capture.
    pub(crate) file: String,
    /// Packets of the capture between its edges.
    pub(crate) packets: u64,
    /// Those of them that are not measured.
    pub(crate) unmeasured: u64,
    /// Those of them that were cut within their headers.
    pub(crate) cut: u64,
    /// Measured ones that were captured without the end of their identity.
    pub(crate) truncated: u64,
}

/// What the simulation took.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct HardwareOutput {
    /// Packets that both ends saw.
    pub(crate) packets: u64,
    /// Clock cycles of both ends.
    pub(crate) cycles: u64,
    /// Clock cycles simulated in a second.
    pub(crate) cycles_per_second: f64,
}

/// Control frames that there were.
#[derive(Clone, Copy, Default, Serialize)]
pub(crate) struct FramesOutput {
    /// Control frames of both ends.
    pub(crate) count: u64,
    pub(crate) bytes: u64,
}

/// Passes the captures' packets through the measurement points, interval by interval.
pub(crate) fn pass_captures(
    recordings: &Recordings,
    points: &Points,
    spans: &[Span],
    writer: Option<PcapngWriter>,
) -> Result<Passed, Failure> {
    let mut sender = End::open(recordings, points, Role::Sender)?;
    let mut receiver = End::open(recordings, points, Role::Receiver)?;
    let progress = Progress::new("measuring", &[sender.recording.capture(), receiver.recording.capture()]);
    let mut sink = Sink { writer, total: FramesOutput::default(), progress, surveys: Surveys::default() };
    let started = Instant::now();
    let mut evaluations = Vec::with_capacity(spans.len());
    let (mut is_corrupted, mut times) = (false, Vec::with_capacity(spans.len()));
    if let Some(first) = spans.first() {
        sender.skip(first.sender.start)?;
        receiver.skip(first.receiver.start)?;
    }
    for span in spans {
        // A collector for each interval: what has been estimated need not be kept.
        let mut collector = Collector::default().within(Limits::recording());
        sender.pass(span.sender.end, &mut collector, &mut sink)?;
        receiver.pass(span.receiver.end, &mut collector, &mut sink)?;
        let collected = collector.finish();
        is_corrupted |= collected.counts.corrupted > 0;
        evaluations.extend(Evaluation::all(&collected));
        let last = evaluations.last().and_then(Evaluation::span);
        times.push(last.map(|(first, last)| [first, last].map(|moment| sender.absolute(moment))));
    }
    let elapsed = started.elapsed();
    if let Some(writer) = sink.writer {
        writer.finish()?;
    }
    let (frames, surveys) = (sink.total, sink.surveys);
    Ok(Passed { sender, receiver, evaluations, times, is_corrupted, frames, elapsed, surveys })
}

/// What came of two captures.
pub(crate) struct Passed {
    sender: End,
    receiver: End,
    pub(crate) evaluations: Vec<Evaluation>,
    /// When the sender saw each interval's first packet and last, in nanoseconds since the Unix epoch.
    pub(crate) times: Vec<Option<[u64; 2]>>,
    pub(crate) is_corrupted: bool,
    pub(crate) frames: FramesOutput,
    elapsed: Duration,
    surveys: Surveys,
}

impl Passed {
    pub(crate) fn sender_output(&self) -> EndOutput {
        self.sender.output(&self.evaluations)
    }

    pub(crate) fn receiver_output(&self) -> EndOutput {
        self.receiver.output(&self.evaluations)
    }

    pub(crate) fn hardware(&self) -> Option<HardwareOutput> {
        let cycles = self.sender.point.cycles()? + self.receiver.point.cycles()?;
        Some(HardwareOutput {
            packets: self.sender.packets + self.receiver.packets,
            cycles,
            cycles_per_second: cycles as f64 / self.elapsed.as_secs_f64().max(1e-9),
        })
    }

    /// What is to be said of the captures' packets; and, if the result is doubtful for `is_bad`, what may explain it.
    /// `mean` are the mean and the width of its interval, if there is one.
    pub(crate) fn remarks(
        &self,
        recordings: &Recordings,
        is_bad: bool,
        mean: Option<(f64, f64)>,
    ) -> Result<Vec<String>, Failure> {
        let measured = |end: &End| {
            let EndOutput { packets, unmeasured, .. } = end.output(&self.evaluations);
            packets - unmeasured
        };
        let mut remarks = self.surveys.remarks(recordings);
        remarks.extend(mean.and_then(|(mean, width)| self.surveys.remark_on_resolution(mean, width)));
        if is_bad || is_suspect(measured(&self.sender), measured(&self.receiver)) {
            remarks.extend(self.surveys.reasons(recordings)?);
        }
        let unmeasured = |end: &End| {
            let EndOutput { packets, unmeasured, cut, .. } = end.output(&self.evaluations);
            let path = end.recording.name();
            let other = unmeasured.saturating_sub(cut);
            let other = (other > 0)
                .then(|| format!("{path}: {other} of {packets} packets are not IP and not measured"));
            remark_on_cut(&path, cut, packets).into_iter().chain(other)
        };
        let truncated = remark_on_truncated(&self.sender, &self.receiver);
        let nothing = |end: &End| {
            remark_on_nothing_wanted(
                &end.path,
                end.skipped + end.packets,
                end.recording.capture().passed_over(),
            )
        };
        let of_end = |end: &End| {
            let read = end.recording.remark().into_iter().chain(end.recording.remark_on_split());
            read.chain(nothing(end)).chain(unmeasured(end)).collect::<Vec<_>>()
        };
        remarks.extend(truncated.into_iter().chain(of_end(&self.sender)).chain(of_end(&self.receiver)));
        Ok(remarks)
    }
}

/// Where control frames go, how far it is, and what the packets show.
struct Sink {
    writer: Option<PcapngWriter>,
    total: FramesOutput,
    progress: Progress,
    surveys: Surveys,
}

/// One end: a capture and its measurement point.
struct End {
    recording: Input,
    path: PathBuf,
    role: Role,
    point: Box<dyn Point>,
    batch: Batch,
    /// Packets in front of those that are measured.
    skipped: u64,
    packets: u64,
    cut: u64,
    truncated: u64,
    /// The longest captured length of a packet: its snap length, if packets are longer.
    longest: usize,
    timestamp: u64,
}

impl End {
    fn open(recordings: &Recordings, points: &Points, role: Role) -> Result<Self, Failure> {
        Ok(End {
            recording: recordings.open(role)?,
            path: recordings.path(role).into(),
            role,
            point: points.point(role)?,
            batch: Batch::default(),
            skipped: 0,
            packets: 0,
            cut: 0,
            truncated: 0,
            longest: 0,
            timestamp: 0,
        })
    }

    /// Leaves out packets until `start` have passed in all.
    fn skip(&mut self, start: usize) -> Result<(), Failure> {
        while self.skipped < start as u64 && self.recording.next_packet()?.is_some() {
            self.skipped += 1;
        }
        Ok(())
    }

    /// Passes packets through the measurement point until `end` have passed in all, or the capture ends; then
    /// ends the interval.
    fn pass(&mut self, end: usize, collector: &mut Collector, sink: &mut Sink) -> Result<(), Failure> {
        while self.skipped + self.packets < end as u64 {
            let Some(packet) = self.recording.next_packet()? else { break };
            self.batch.push(packet.data, Timestamp::from_nanoseconds(packet.timestamp));
            self.packets += 1;
            self.cut += u64::from(packet.has_cut_headers());
            sink.surveys.of(self.role).take(packet);
            self.timestamp = packet.timestamp;
            self.longest = self.longest.max(packet.data.len());
            if self.batch.is_full() {
                self.truncated += self.point.observe(&mut self.batch)?;
            }
            sink.progress.packet(self.role as usize, self.recording.capture());
        }
        self.truncated += self.point.observe(&mut self.batch)?;
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

    /// A moment of the interval that has just ended, which the last packet was near.
    fn absolute(&self, moment: Timestamp) -> u64 {
        let since = moment.nanoseconds_since(Timestamp::from_nanoseconds(self.timestamp));
        self.timestamp.saturating_add_signed(since)
    }

    fn output(&self, evaluations: &[Evaluation]) -> EndOutput {
        let totals = evaluations.iter().filter_map(|each| match self.role {
            Role::Sender => each.sender,
            Role::Receiver => each.receiver,
        });
        EndOutput {
            file: self.recording.name().into(),
            packets: self.packets,
            // The delimiter is no packet of the capture.
            unmeasured: totals.map(|totals| u64::from(totals.unmeasured.saturating_sub(1))).sum(),
            cut: self.cut,
            truncated: self.truncated,
        }
    }
}

/// What is to be said of packets without the end of their identity.
fn remark_on_truncated(sender: &End, receiver: &End) -> Option<String> {
    if sender.truncated == 0 && receiver.truncated == 0 {
        return None;
    }
    let of = |end: &End| format!("{} of {} packets of {}", end.truncated, end.packets, end.recording.name());
    let harm = if sender.longest == receiver.longest {
        "so that they are told apart by less than they could be"
    } else {
        "and differently at the two ends, so that they look lost at one and foreign at the other"
    };
    Some(format!(
        "{} and {} were captured without the end of their identity, {harm}; \
         capture with a snap length of at least {WINDOW_BYTES} bytes at both ends",
        of(sender),
        of(receiver)
    ))
}
