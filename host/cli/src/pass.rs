//! Two captures' packets through two measurement points, interval by interval.

use crate::both::both;
use crate::causes::{Surveys, is_suspect};
use crate::failure::Failure;
use crate::input::Input;
use crate::point::{Batch, Point};
use crate::points::Points;
use crate::progress::Progress;
use crate::recordings::{Recordings, remark_on_cut, remark_on_nothing_wanted};
use deltaline_capture::edges::Edges;
use deltaline_capture::replay::Span;
use deltaline_capture::survey::Survey;
use deltaline_capture::{PacketRef, PcapngWriter};
use deltaline_collect::collector::{Collector, Limits};
use deltaline_collect::evaluation::{Evaluation, name_crossings, reach_over_cut};
use deltaline_collect::verdict::{LONGEST_INTERVAL, Void};
use deltaline_design::CoreKind;
use deltaline_model::packet::identity::WINDOW_BYTES;
use deltaline_model::sketch::packet_cache::PacketCache;
use deltaline_model::time::{AbsoluteTime, TimeBase, Timestamp};
use deltaline_model::wire::frame::Role;
use serde::Serialize;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::mpsc::sync_channel;
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
#[derive(Clone, Serialize)]
pub(crate) struct HardwareOutput {
    /// What is simulated, whatever stream the design has.
    pub(crate) core: String,
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

/// Passes the captures' packets between these edges through the measurement points, interval by interval, both ends at once.
pub(crate) fn pass_captures(
    recordings: &Recordings,
    points: &Points,
    edges: Option<&Edges>,
    spans: &[Span],
    writer: Option<PcapngWriter>,
) -> Result<Passed, Failure> {
    let mut sender = End::open(recordings, Role::Sender, edges)?;
    let mut receiver = End::open(recordings, Role::Receiver, edges)?;
    let captures = [sender.recording.capture(), receiver.recording.capture()];
    let progress = Progress::new("measuring", &captures);
    let of_receiver = progress.clone();
    let started = Instant::now();
    // One interval's frames may wait, so that neither end is far ahead of the other.
    let (hand_over, received) = sync_channel::<IntervalFrames>(1);
    let (sent, receiver) = both(
        move || {
            let mut sink = Sink { writer, ..Sink::default() };
            sender.pass(spans.iter().map(|span| &span.sender), points, progress, |end, sent| {
                // Without them the receiver has failed.
                let Ok(received) = received.recv() else { return Ok(false) };
                sink.take(end, [sent, received])?;
                Ok(true)
            })?;
            Ok((sender, sink))
        },
        move || {
            receiver.pass(spans.iter().map(|span| &span.receiver), points, of_receiver, |_, frames| {
                // Without a taker the sender has failed.
                Ok(hand_over.send(frames).is_ok())
            })?;
            Ok(receiver)
        },
    )?;
    let (sender, sink) = sent;
    let elapsed = started.elapsed();
    let Sink { writer, mut evaluations, times, goes_back, is_corrupted, frames, .. } = sink;
    name_crossings(&mut evaluations);
    let rounding = Surveys { sender: sender.survey.clone(), receiver: receiver.survey.clone() }.rounding();
    evaluations.iter_mut().for_each(|evaluation| evaluation.round_by(rounding));
    if let Some(Edges { guessed: [in_front, behind], .. }) = edges {
        evaluations.first_mut().into_iter().for_each(|first| first.leave_open(in_front.nanoseconds));
        evaluations.last_mut().into_iter().for_each(|last| last.leave_open(behind.nanoseconds));
    }
    if let Some(writer) = writer {
        writer.finish()?;
    }
    Ok(Passed { sender, receiver, evaluations, times, goes_back, is_corrupted, frames, elapsed })
}

/// What came of two captures.
pub(crate) struct Passed {
    sender: End,
    receiver: End,
    pub(crate) evaluations: Vec<Evaluation>,
    /// When the sender saw each interval's first packet and last, in nanoseconds since the Unix epoch.
    pub(crate) times: Vec<Option<[u64; 2]>>,
    /// Whether each interval's times go back, at the sender and at the receiver.
    pub(crate) goes_back: Vec<[bool; 2]>,
    pub(crate) is_corrupted: bool,
    pub(crate) frames: FramesOutput,
    elapsed: Duration,
}

impl Passed {
    pub(crate) fn sender_output(&self) -> EndOutput {
        self.sender.output(&self.evaluations)
    }

    pub(crate) fn receiver_output(&self) -> EndOutput {
        self.receiver.output(&self.evaluations)
    }

    /// What the simulation of this core took, if there was one.
    pub(crate) fn hardware(&self, core: CoreKind) -> Option<HardwareOutput> {
        let cycles = self.sender.cycles? + self.receiver.cycles?;
        Some(HardwareOutput {
            core: core.to_string(),
            packets: self.sender.packets + self.receiver.packets,
            cycles,
            cycles_per_second: cycles as f64 / self.elapsed.as_secs_f64().max(1e-9),
        })
    }

    /// What both ends' captures hold.
    pub(crate) fn surveys(&self) -> Surveys {
        Surveys { sender: self.sender.survey.clone(), receiver: self.receiver.survey.clone() }
    }

    /// What is to be said of the captures' packets; and, if the result is doubtful for `is_bad`, what may explain it.
    pub(crate) fn remarks(&self, recordings: &Recordings, is_bad: bool) -> Result<Vec<String>, Failure> {
        let measured = |end: &End| {
            let EndOutput { packets, unmeasured, .. } = end.output(&self.evaluations);
            packets - unmeasured
        };
        let surveys = self.surveys();
        let mut remarks = surveys.remarks(recordings);
        if is_bad || is_suspect(measured(&self.sender), measured(&self.receiver)) {
            remarks.extend(surveys.reasons(recordings)?);
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
                end.recording.packets(),
                end.recording.capture().passed_over(),
            )
        };
        let of_end = |end: &End| {
            let read = end.recording.remarks().into_iter().chain(end.recording.remark_on_split());
            read.chain(nothing(end)).chain(unmeasured(end)).collect::<Vec<_>>()
        };
        remarks.extend(truncated.into_iter().chain(of_end(&self.sender)).chain(of_end(&self.receiver)));
        Ok(remarks)
    }
}

/// The control frames of an end's interval.
struct IntervalFrames {
    frames: Vec<Vec<u8>>,
    /// Of the last packet, in nanoseconds since the Unix epoch.
    timestamp: u64,
    /// From the earliest packet's stamp to the latest one's, in nanoseconds.
    lasted: u64,
    /// Its packets, where they are remembered.
    packets: Option<PacketCache>,
    /// Whether their times go back.
    goes_back: bool,
}

/// Where control frames go, and what comes of them.
#[derive(Default)]
struct Sink {
    writer: Option<PcapngWriter>,
    evaluations: Vec<Evaluation>,
    times: Vec<Option<[u64; 2]>>,
    goes_back: Vec<[bool; 2]>,
    is_corrupted: bool,
    frames: FramesOutput,
    /// Both ends' packets of the interval before, where they are remembered.
    before: Option<[PacketCache; 2]>,
}

impl Sink {
    /// Takes both ends' control frames of an interval, which the `sender` has just ended.
    fn take(&mut self, sender: &End, ends: [IntervalFrames; 2]) -> Result<(), Failure> {
        // A collector for each interval: what has been estimated need not be kept.
        let mut collector = Collector::default().within(Limits::recording());
        for IntervalFrames { frames, timestamp, .. } in &ends {
            for data in frames {
                collector.push(data);
                self.frames.count += 1;
                self.frames.bytes += data.len() as u64;
                if let Some(writer) = &mut self.writer {
                    writer.write(PacketRef {
                        timestamp: *timestamp,
                        length: data.len() as u32,
                        interface: 0,
                        data,
                    })?;
                }
            }
        }
        let mut collected = collector.finish();
        for interval in &mut collected.intervals {
            // Control frames of a recording carry packets' times modulo 2^48 ns: whole stamps tell clocks that are so far apart.
            let ended = |end: &IntervalFrames| Some(unix_time(end.timestamp));
            for (report, end) in [&mut interval.sender, &mut interval.receiver].into_iter().zip(&ends) {
                report.iter_mut().for_each(|report| report.time = ended(end));
            }
            // Where times go back, single stamps are wrong, and doubted as such.
            let roles = [Role::Sender, Role::Receiver].into_iter().zip(&ends);
            let mut long = roles.filter(|(_, end)| end.lasted >= LONGEST_INTERVAL && !end.goes_back);
            if let Some((role, IntervalFrames { lasted, .. })) = long.next() {
                interval.void.get_or_insert(Void::TooLong { role, lasted: *lasted });
                // Times that wrap seem to go back.
                interval.doubts.clear();
            }
        }
        self.is_corrupted |= collected.counts.corrupted > 0;
        let caches = match &ends {
            [IntervalFrames { packets: Some(sent), .. }, IntervalFrames { packets: Some(received), .. }] => {
                Some([sent, received])
            }
            _ => None,
        };
        self.evaluations
            .extend(collected.intervals.iter().map(|interval| Evaluation::with_caches(interval, caches)));
        if let (Some(before), Some(here), [.., left, right]) =
            (&self.before, caches, self.evaluations.as_mut_slice())
        {
            reach_over_cut((left, before.each_ref()), (right, here));
        }
        let last = self.evaluations.last().and_then(Evaluation::span);
        self.times.push(last.map(|(first, last)| [first, last].map(|moment| sender.absolute(moment))));
        self.goes_back.push(ends.each_ref().map(|end| end.goes_back));
        let [sent, received] = ends.map(|end| end.packets);
        self.before = sent.zip(received).map(|(sent, received)| [sent, received]);
        Ok(())
    }
}

/// One end: a capture, and what passed its measurement point.
struct End {
    recording: Input,
    path: PathBuf,
    role: Role,
    survey: Survey,
    packets: u64,
    cut: u64,
    truncated: u64,
    /// The longest captured length of a packet: its snap length, if packets are longer.
    longest: usize,
    timestamp: u64,
    /// Of the measurement point, if it has a clock.
    cycles: Option<u64>,
}

impl End {
    fn open(recordings: &Recordings, role: Role, edges: Option<&Edges>) -> Result<Self, Failure> {
        Ok(End {
            recording: recordings.open(role)?.within(edges, role),
            path: recordings.path(role).into(),
            role,
            survey: Survey::default(),
            packets: 0,
            cut: 0,
            truncated: 0,
            longest: 0,
            timestamp: 0,
            cycles: None,
        })
    }

    /// Passes the packets of each interval through a measurement point, and hands its control frames out, until that says that
    /// they are no longer wanted.
    fn pass<'a>(
        &mut self,
        intervals: impl Iterator<Item = &'a Range<usize>>,
        points: &Points,
        mut progress: Progress,
        mut take: impl FnMut(&End, IntervalFrames) -> Result<bool, Failure>,
    ) -> Result<(), Failure> {
        let mut point = points.point(self.role)?;
        for interval in intervals {
            let frames = self.pass_interval(interval.end, &mut *point, &mut progress)?;
            if !take(self, frames)? {
                break;
            }
        }
        self.cycles = point.cycles();
        Ok(())
    }

    /// Passes packets through the measurement point until `end` have passed in all, or the capture ends; then
    /// ends the interval.
    fn pass_interval(
        &mut self,
        end: usize,
        point: &mut dyn Point,
        progress: &mut Progress,
    ) -> Result<IntervalFrames, Failure> {
        let mut batch = Batch::default();
        let backward = self.survey.backward();
        let (mut earliest, mut latest) = (u64::MAX, 0);
        while self.packets < end as u64 {
            let Some(packet) = self.recording.next_packet()? else { break };
            batch.push(packet.data, Timestamp::from_nanoseconds(packet.timestamp));
            self.packets += 1;
            self.cut += u64::from(packet.has_cut_headers());
            self.survey.take(packet);
            self.timestamp = packet.timestamp;
            (earliest, latest) = (earliest.min(packet.timestamp), latest.max(packet.timestamp));
            self.longest = self.longest.max(packet.data.len());
            if batch.is_full() {
                self.truncated += point.observe(&mut batch)?;
            }
            progress.packet(self.recording.capture());
        }
        self.truncated += point.observe(&mut batch)?;
        let mut frames = vec![];
        point.end_interval(&mut |data| frames.push(data.to_vec()))?;
        let goes_back = self.survey.backward() != backward;
        Ok(IntervalFrames {
            frames,
            timestamp: self.timestamp,
            lasted: latest.saturating_sub(earliest),
            packets: point.take_packets(),
            goes_back,
        })
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

/// A stamp of a recording, in nanoseconds since the Unix epoch, in whole seconds.
pub(crate) fn unix_time(timestamp: u64) -> AbsoluteTime {
    AbsoluteTime { base: TimeBase::Unix, seconds: timestamp / 1_000_000_000 }
}

/// What is to be said of packets without the end of their identity.
fn remark_on_truncated(sender: &End, receiver: &End) -> Option<String> {
    let harm = if sender.longest == receiver.longest {
        "so that they are told apart by less than they could be"
    } else {
        "and differently at the two ends, so that they look lost at one and foreign at the other"
    };
    let ends = [sender, receiver].map(|end| (end.recording.name(), end.truncated, end.packets));
    remark_on_nameless(ends, harm)
}

/// What is to be said of these recordings, of which so many packets, of so many, are without the end of their identity, if there are any.
pub(crate) fn remark_on_nameless<const ENDS: usize>(
    ends: [(&str, u64, u64); ENDS],
    harm: &str,
) -> Option<String> {
    let of =
        |(name, nameless, packets): (&str, u64, u64)| format!("{nameless} of {packets} packets of {name}");
    ends.iter().any(|(_, nameless, _)| *nameless > 0).then(|| {
        format!(
            "{} were captured without the end of their identity, {harm}; capture with a snap length of at least {WINDOW_BYTES} bytes at both ends",
            ends.map(of).join(" and ")
        )
    })
}
