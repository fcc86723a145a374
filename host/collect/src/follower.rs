//! A follower: a source's intervals as they come, evaluated, with all that happens to the source meanwhile.
//!
//! [`Follower::next_happenings`] waits as long as a [`Feed`] does and hands out what has happened: an interval as soon as
//! nothing more is to be expected of it, gaps in interval numbers, corrupted frames, a source that vanishes and comes
//! back, a board that begins anew. A board's truth is put beside its intervals; whatever it says before its identity is
//! known waits for that, but not for long.
//!
//! # Test plan
//!
//! A recording: the same intervals as collected at once; gaps, garbage and an interval that was never finished; clocks that
//! were set while it was made (`host/cli/tests/read.rs`). Live:
//! the program's tests (`host/cli/tests/read.rs`), against a board at a pseudo-terminal.

use crate::collector::{Collector, Counts, Problem};
use crate::evaluation::Evaluation;
use crate::feed::{Event, Feed, FeedError, Source};
use crate::pair::Interval;
use crate::summary::{IntervalFigures, Starts};
use crate::truth::Exact;
use crate::verdict::{Void, misdated};
use deltaline_model::board::{Command, Identity, Truth, VERSION};
use std::collections::{BTreeMap, VecDeque};
use std::time::{Duration, Instant, SystemTime};
use thiserror::Error;

/// How long intervals are held back for a board's identity.
const ANSWER: Duration = Duration::from_secs(2);
/// Between two frames of a recording no more time passes than this; a longer pause may be a clock that was set, and counts as none.
const LONGEST_PAUSE: Duration = Duration::from_secs(20);
/// Steps of its clock that are remembered, to say when an interval was reported.
const MOST_STEPS: usize = 64;
/// Events that are taken before what they came to is handed out.
const MOST_AT_ONCE: usize = 1024;
/// A live source that is left is silent when nothing comes for so long, and is left at last after so long.
const LAST: Duration = Duration::from_millis(10);
const LONGEST_END: Duration = Duration::from_secs(2);
/// Between two looks at a live source no more time than this counts: what came while this program stood still waits to be taken, and is not
/// late.
const LONGEST_LOOK: Duration = Duration::from_millis(250);
/// Truths whose intervals never come are forgotten beyond so many.
const MOST_TRUTHS: usize = 64;

/// Something that has happened.
#[derive(Clone, Debug)]
pub enum Happening {
    /// A board has said which one it is.
    Identity(Identity),
    /// An interval is over.
    Interval(Box<Followed>),
    /// An interval was under way when following began, and is left out.
    Partial {
        /// Number of the segment.
        segment: u32,
        /// Number of the interval.
        number: u32,
    },
    /// Nothing of these intervals arrived.
    Gap {
        /// Number of the segment.
        segment: u32,
        /// Number of the first interval.
        first: u32,
        /// Number of the last interval, not before `first`, modulo 2^32.
        last: u32,
    },
    /// A segment of which nothing has come for long was forgotten, to make room for others.
    Forgotten {
        /// Number of the segment.
        segment: u32,
    },
    /// A frame or message was corrupted, and is left out.
    Bad(String),
    /// An end reports numbers that it has passed, which are left out; said once of each of its starts.
    Again(String),
    /// Nothing has come of a segment but old frames since its last interval, and that for long.
    Starved {
        /// Number of the segment.
        segment: u32,
        /// How many.
        frames: u64,
        /// In words.
        reason: String,
    },
    /// Intervals count from zero again.
    Restart(Restart),
    /// No control frame has come for the time that silence is noticed after.
    Silence,
    /// The recording could not be written further; reading goes on.
    NotRecorded(String),
    /// The source has vanished; it is looked for.
    Lost(String),
    /// The source is back.
    Restored,
    /// The recording is over.
    End,
}

/// Why intervals count from zero again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restart {
    /// The board was reset.
    Reset,
    /// Interval numbers start over.
    Numbers,
}

/// An interval that was followed.
#[derive(Clone, Debug)]
pub struct Followed {
    /// What is known of it.
    pub evaluation: Evaluation,
    /// In numbers, with the board's truth beside them.
    pub figures: IntervalFigures,
    /// The digests of its control frames' configuration and of the board's, if they differ.
    pub foreign_configuration: Option<(u64, u64)>,
    /// What both ends reported; [`heard`](Interval::heard) is by the clock of [`Follower::age`].
    pub interval: Interval,
}

/// Why a source is not followed any further.
#[derive(Debug, Error)]
pub enum FollowError {
    /// The source cannot be read.
    #[error(transparent)]
    Feed(#[from] FeedError),
    /// The board is of another release.
    #[error(transparent)]
    Version(#[from] WrongVersion),
}

/// A board of another release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error(
    "the board speaks version {0} of the protocol, this program version {VERSION}; program the board and build the \
     program from the same release"
)]
pub struct WrongVersion(
    /// The board's version of the protocol.
    u8,
);

/// Refuses a board of another release.
///
/// # Errors
///
/// [`WrongVersion`].
pub fn check_version(identity: &Identity) -> Result<(), WrongVersion> {
    if identity.version == VERSION { Ok(()) } else { Err(WrongVersion(identity.version)) }
}

/// Follows a source.
pub struct Follower {
    source: Source,
    collector: Collector,
    board: Board,
    segments: BTreeMap<u32, Segment>,
    restarts: u64,
    /// Restarts of interval numbers that have been handed out.
    followed: u64,
    hearing: Hearing,
    listening: Listening,
    /// A recording's clock.
    captured: Captured,
    happened: Vec<Happening>,
}

/// What is known of the board, where there is one.
struct Board {
    /// Until when its intervals wait for its identity; without one, its truth cannot be read.
    answer: Option<Instant>,
    identity: Option<Identity>,
    /// It has been asked for its identity.
    is_asked: bool,
    /// Control frames have come since the last identity.
    is_running: bool,
    /// Those whose intervals have not come yet, in the order of their coming.
    truths: VecDeque<Truth>,
    has_truth: bool,
}

/// A live source's clock: how long it has been listened to.
struct Listening {
    time: Duration,
    last: Instant,
}

impl Listening {
    /// Goes on to now.
    fn go_on(&mut self) -> Duration {
        let now = Instant::now();
        self.time += now.duration_since(self.last).min(LONGEST_LOOK);
        self.last = now;
        self.time
    }

    /// How long ago it showed this.
    fn since(&self, time: Duration) -> Duration {
        (self.time + self.last.elapsed()).saturating_sub(time)
    }
}

/// When control frames came.
struct Hearing {
    /// The time that silence is noticed after; none where it is not.
    patience: Option<Duration>,
    /// When the last one came, at first when following began.
    last: Instant,
    has_heard: bool,
    is_silent: bool,
}

/// A recording's times of capture are those of a clock that may have been set: what ages is counted without its steps.
#[derive(Default)]
struct Captured {
    /// The last one, in nanoseconds since the Unix epoch.
    last: u64,
    /// How much time has passed since the first one, by which its last steps are sorted: what the clock showed behind each.
    passed: Duration,
    steps: VecDeque<(Duration, u64)>,
    /// All of its steps forward, however long: what a pause and what a step is, it does not say.
    elapsed: Duration,
}

impl Captured {
    /// The time that has passed up to a frame of this time.
    fn at(&mut self, captured: u64) -> Duration {
        let pause = Duration::from_nanos(captured.saturating_sub(self.last));
        if !self.steps.is_empty() {
            self.elapsed += pause;
        }
        if self.steps.is_empty() || captured < self.last || pause > LONGEST_PAUSE {
            if self.steps.len() == MOST_STEPS {
                self.steps.pop_front();
            }
            self.passed += Duration::from_nanos(1);
            self.steps.push_back((self.passed, captured));
        } else {
            self.passed += pause;
        }
        self.last = captured;
        self.passed
    }

    /// What the clock showed when so much time had passed; none if no frame has a time, or it was too long ago.
    fn shown(&self, passed: Duration) -> Option<Duration> {
        let (step, captured) = self.steps.iter().rev().find(|(step, _)| *step <= passed)?;
        Duration::from_nanos(*captured).checked_add(passed - *step)
    }
}

/// What is known of a segment.
#[derive(Default)]
struct Segment {
    last: Option<u32>,
    starts: Starts,
}

impl Follower {
    /// Begins to follow a source, whose frames `collector` takes; of a live one, it notices when no control frame comes
    /// for `patience`.
    pub fn new(mut source: Source, collector: Collector, patience: Duration) -> Self {
        let collector = if source.is_live() { collector } else { collector.waiting_for_ends() };
        let began = Instant::now();
        let answer = source.serial().map(|serial| {
            serial.send(&Command::Identify);
            began + ANSWER
        });
        Follower {
            collector,
            board: Board {
                answer,
                identity: None,
                is_asked: true,
                is_running: false,
                truths: VecDeque::new(),
                has_truth: false,
            },
            segments: BTreeMap::new(),
            restarts: 0,
            followed: 0,
            hearing: Hearing {
                patience: source.is_live().then_some(patience),
                last: began,
                has_heard: false,
                is_silent: false,
            },
            listening: Listening { time: Duration::ZERO, last: began },
            captured: Captured::default(),
            source,
            happened: vec![],
        }
    }

    /// Where everything comes from.
    pub fn source(&mut self) -> &mut Source {
        &mut self.source
    }

    /// Which board speaks, once it has said so.
    pub fn identity(&self) -> Option<Identity> {
        self.board.identity
    }

    /// Whether the board knows the truth about its packets.
    pub fn has_truth(&self) -> bool {
        self.board.has_truth
    }

    /// Whether any control frame has come.
    pub fn has_heard(&self) -> bool {
        self.hearing.has_heard
    }

    /// By what ages in a recording, when its last frame was captured: it never goes back, and pauses hardly count.
    pub fn age(&self) -> Duration {
        self.captured.passed
    }

    /// How long a recording has lasted up to its last frame, pauses included; where its clock was set back, it goes on from there.
    pub fn elapsed(&self) -> Duration {
        self.captured.elapsed
    }

    /// How many control frames came that the kernel had no room for; none where it does not say.
    pub fn dropped(&self) -> Option<u64> {
        self.source.dropped()
    }

    /// What became of all frames so far.
    pub fn counts(&self) -> Counts {
        self.collector.counts()
    }

    /// Waits for what comes next, as long as a [`Feed`] does, and hands out what has happened, if anything has.
    ///
    /// # Errors
    ///
    /// [`FollowError`].
    pub fn next_happenings(&mut self) -> Result<Vec<Happening>, FollowError> {
        let event = self.source.next_event()?;
        if self.source.is_live() {
            self.collector.advance(self.listening.go_on());
        }
        self.take(event)?;
        self.hand_out_settled();
        // What has come meanwhile is taken along: many intervals wait for the disk once.
        for _ in 0..MOST_AT_ONCE {
            let Some(event) = self.source.waiting(Duration::ZERO) else { break };
            self.take(event)?;
            self.hand_out_settled();
        }
        self.listen();
        if !self.happened.is_empty() {
            self.secure();
        }
        Ok(std::mem::take(&mut self.happened))
    }

    /// What is left of intervals, and what became of all frames. Of a recording, all of it. Live, what had come before the end and waits to be
    /// taken, and intervals that are whole; what is still under way is not void, only unfinished.
    pub fn finish(mut self) -> (Vec<Happening>, Counts) {
        if self.source.is_live() {
            self.take_rest();
        }
        let mut counts = self.counts();
        if !self.source.is_live() {
            let collected = std::mem::take(&mut self.collector).finish();
            counts = collected.counts;
            for interval in collected.intervals {
                self.hand_out(interval);
            }
        }
        self.secure();
        (self.happened, counts)
    }

    /// Takes what had come before the end, as long as it does not come faster than it is taken.
    fn take_rest(&mut self) {
        let begun = Instant::now();
        while let Some(event) = self.source.waiting(LAST).filter(|_| begun.elapsed() < LONGEST_END) {
            if self.take(event).is_err() {
                break;
            }
            self.hand_out_settled();
        }
        self.collector.advance(self.listening.go_on());
        for interval in self.collector.take_whole() {
            self.hand_out(interval);
        }
    }

    /// What has happened is on the disk before anybody hears of it, where it is recorded; if it is not, that is said first.
    fn secure(&mut self) {
        self.source.sync();
        if let Some(reason) = self.source.not_recorded() {
            // Before what may not be on it.
            self.happened.insert(0, Happening::NotRecorded(reason.to_string()));
        }
    }

    fn take(&mut self, event: Event) -> Result<(), WrongVersion> {
        match event {
            Event::Frame { bytes, captured } => self.frame(&bytes, captured),
            Event::Truth(truth) => {
                if self.board.truths.len() == MOST_TRUTHS {
                    self.board.truths.pop_front();
                }
                self.board.truths.push_back(truth);
                self.board.has_truth = true;
            }
            Event::Identity(identity) => self.identify(identity)?,
            Event::Bad(bad) => self.happened.push(Happening::Bad(bad.to_string())),
            Event::Idle => {}
            Event::Lost(reason) => self.happened.push(Happening::Lost(reason)),
            Event::Restored => {
                self.happened.push(Happening::Restored);
                self.hearing.last = Instant::now();
                if let Some(serial) = self.source.serial() {
                    self.board.is_asked = true;
                    serial.send(&Command::Identify);
                }
            }
            Event::End => self.happened.push(Happening::End),
        }
        Ok(())
    }

    fn frame(&mut self, bytes: &[u8], captured: Option<u64>) {
        if let Some(captured) = captured.filter(|_| !self.source.is_live()) {
            self.collector.advance(self.captured.at(captured));
        }
        let foreign = self.collector.counts().foreign;
        self.collector.push(bytes);
        if self.collector.counts().foreign == foreign {
            let Hearing { patience, .. } = self.hearing;
            self.hearing = Hearing { patience, last: Instant::now(), has_heard: true, is_silent: false };
            self.board.is_running = true;
        }
        for problem in self.collector.take_problems() {
            match problem {
                Problem::Corrupted { error, .. } => self.happened.push(Happening::Bad(error.to_string())),
                Problem::Unauthentic { reason, .. } => {
                    self.happened.push(Happening::Bad(format!("control frame: {reason}")));
                }
                Problem::Starved { segment, frames } => {
                    let reason = problem.to_string();
                    self.happened.push(Happening::Starved { segment, frames, reason });
                }
                again @ Problem::Again { .. } => self.happened.push(Happening::Again(again.to_string())),
                _ => {}
            }
        }
    }

    fn identify(&mut self, identity: Identity) -> Result<(), WrongVersion> {
        check_version(&identity)?;
        // Said unasked in the midst of a run, by a board that begins anew.
        let was_asked = std::mem::take(&mut self.board.is_asked);
        if !was_asked && std::mem::take(&mut self.board.is_running) {
            self.collector.restart_all();
            self.followed = self.collector.counts().restarts;
            self.hand_out_settled();
            self.board.truths.clear();
            self.segments.clear();
            self.restart(Restart::Reset);
        }
        self.board.identity = Some(identity);
        self.happened.push(Happening::Identity(identity));
        Ok(())
    }

    fn restart(&mut self, restart: Restart) {
        self.restarts += 1;
        self.happened.push(Happening::Restart(restart));
    }

    fn hand_out_settled(&mut self) {
        let Board { answer, identity, .. } = &self.board;
        if identity.is_none() && answer.is_some_and(|until| Instant::now() < until) {
            return;
        }
        let restarts = self.collector.counts().restarts;
        for interval in self.collector.take_settled() {
            self.hand_out(interval);
        }
        self.collector.take_problems();
        for segment in self.collector.take_forgotten() {
            self.segments.remove(&segment);
            self.happened.push(Happening::Forgotten { segment });
        }
        if restarts > self.followed {
            self.followed = restarts;
            self.restart(Restart::Numbers);
        }
    }

    fn hand_out(&mut self, interval: Interval) {
        let Interval { segment, number, .. } = interval;
        let is_first = !self.segments.contains_key(&segment);
        if is_first && self.source.is_live() && self.restarts == 0 && is_partial(&interval) {
            self.segments.insert(segment, Segment { last: Some(number), starts: Starts::default() });
            self.happened.push(Happening::Partial { segment, number });
            return;
        }
        let reported = self.reported(interval.heard);
        let mut evaluation = Evaluation::of(&interval);
        let came = reported.map(|nanoseconds| nanoseconds / 1_000_000_000);
        evaluation.doubts.extend(came.and_then(|came| misdated(&interval, came)));
        let known = self.segments.entry(segment).or_default();
        // Numbers are compared modulo 2^32, as the collector does.
        match known.last.map(|last| (last, number.wrapping_sub(last) as i32)) {
            Some((last, 2..)) => {
                let (first, last) = (last.wrapping_add(1), number.wrapping_sub(1));
                self.happened.push(Happening::Gap { segment, first, last });
            }
            Some((_, ..=0)) => *known = Segment::default(),
            _ => {}
        }
        known.last = Some(number);
        let mut figures = IntervalFigures::new(&evaluation, known.starts.next(&evaluation, reported));
        figures.reported = reported;
        if let Some(exact) = self.board.truth(number) {
            figures.figures = figures.figures.beside(&exact);
        }
        let foreign_configuration = self.board.foreign_configuration(&interval);
        let followed = Followed { evaluation, figures, foreign_configuration, interval };
        self.happened.push(Happening::Interval(Box::new(followed)));
    }

    /// The collector's time, in nanoseconds since the Unix epoch.
    fn reported(&self, heard: Duration) -> Option<u64> {
        let time = if self.source.is_live() {
            SystemTime::UNIX_EPOCH.elapsed().ok()?.checked_sub(self.listening.since(heard))
        } else {
            self.captured.shown(heard)
        };
        time?.as_nanos().try_into().ok()
    }

    /// Notices when nothing comes.
    fn listen(&mut self) {
        let Hearing { patience, last, is_silent, .. } = &mut self.hearing;
        if patience.is_some_and(|patience| last.elapsed() >= patience) && !*is_silent {
            *is_silent = true;
            self.happened.push(Happening::Silence);
        }
    }
}

impl Board {
    /// The truth of an interval; that of earlier ones will not be asked for.
    fn truth(&mut self, interval: u32) -> Option<Exact> {
        let position = self.truths.iter().position(|truth| truth.interval == interval)?;
        let truth = self.truths.drain(..=position).next_back()?;
        Some(Exact::of_board(&truth, self.identity?.cycle))
    }

    /// A board's frames must be of the configuration that it names.
    fn foreign_configuration(&self, interval: &Interval) -> Option<(u64, u64)> {
        let own = self.identity?.digest;
        let reports = [&interval.sender, &interval.receiver].into_iter().flatten();
        reports.map(|report| (report.configuration, own)).find(|(other, own)| other != own)
    }
}

/// Whether an interval lacks what came before following began.
fn is_partial(interval: &Interval) -> bool {
    matches!(interval.void, Some(Void::LostFragments { .. } | Void::MissingEnd { .. }))
}
