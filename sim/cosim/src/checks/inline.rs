//! Inline insertion: traffic, cuts and control frames in; traffic with whole frames between its frames out.
//!
//! Nothing of the hardware's structure is assumed. From what is seen on the ports alone it follows, cycle by cycle,
//!
//! * when m_axis must be valid: whenever an accepted beat of traffic has not left, which makes the latency one cycle;
//! * where a frame must be inserted: at the first pause between two frames since it waits, or behind the frame that
//!   ends when it is overdue; and which one it is;
//! * how long s_axis may be stalled: a cycle for each beat inserted and each cycle in which m_axis stalls.

use crate::bench::Bench;
use crate::error::{CheckError, HardwareError, same};
use crate::stream::{Beat, Carries, IDLE, Sink, Source};
use deltaline_hdl::inline::Width;
use deltaline_hdl::inline::inserter::PATIENCE;
use deltaline_model::configuration::Configuration;
use deltaline_model::wire::delimiter::{self, Delimiter};
use rand::rngs::StdRng;
use rand::{RngExt, SeedableRng};
use std::collections::VecDeque;
use verilator_sys::{Port, Toolchain};

const STAGE: &str = "insertion";
/// The name under which the block is emitted for its check.
pub const TOP: &str = "insertion";
/// Words of the shortest and the longest control frame.
const CONTROL_WORDS: std::ops::RangeInclusive<usize> = 20..=164;
/// Cycles in which nothing moves although something waits.
const STUCK: u64 = 2000;
/// Cycles from the last word of a control frame until it waits for its place.
const BUFFERING: u64 = 3;

/// What flows in a cycle: a beat offered, or taken.
#[derive(Clone, Copy, Debug)]
enum Flow {
    Never,
    Always,
    /// In so many of sixteen cycles.
    Random(u32),
    /// Runs of up to so many cycles.
    Bursts(u32),
}

/// A [`Flow`] under way.
struct Gate {
    flow: Flow,
    is_open: bool,
    left: u32,
}

impl Gate {
    fn new(flow: Flow) -> Self {
        Gate { flow, is_open: false, left: 0 }
    }

    fn next(&mut self, random: &mut StdRng) -> bool {
        match self.flow {
            Flow::Never => false,
            Flow::Always => true,
            Flow::Random(sixteenths) => random.random_ratio(sixteenths, 16),
            Flow::Bursts(longest) => {
                if self.left == 0 {
                    self.is_open = !self.is_open;
                    self.left = random.random_range(1..=longest);
                }
                self.left -= 1;
                self.is_open
            }
        }
    }
}

/// A control frame that waits for its place.
struct Waiting {
    /// The first cycle in which it does.
    since: u64,
    /// The first cycle in which it is overdue.
    overdue: u64,
}

/// A place between two frames that the switch must use.
struct Place {
    /// So many traffic frames leave before.
    behind: u64,
    /// A delimiter must take it; else either may, because a cut may still overtake a control frame.
    delimits: bool,
}

/// The block with its surroundings.
struct Surroundings<'a> {
    bench: Bench,
    source: Source,
    control_source: Source,
    sink: Sink,
    cut: Port,
    interval_port: Port,
    configuration: &'a Configuration,
    /// Bytes of a beat.
    width: usize,
    random: StdRng,
    cycle: u64,
    /// The last cycle with a transfer on any side.
    moved: u64,

    // What drives it.
    traffic: VecDeque<Beat>,
    s_gate: Gate,
    s_offered: bool,
    control: VecDeque<Beat>,
    c_gate: Gate,
    c_offered: bool,
    m_gate: Gate,
    /// Cuts in so many of 65,536 cycles, besides that of `cut_now`.
    cut_ratio: u32,
    cut_now: bool,

    // What must come out.
    accepted: VecDeque<Beat>,
    given_now: Vec<u8>,
    given: VecDeque<Vec<u8>>,
    waiting: Option<Waiting>,
    places: VecDeque<Place>,
    cuts: u64,
    interval: u64,
    in_frame: bool,
    frames_begun: u64,
    frames_left: u64,
    delimiters: u64,
    inserted: u64,

    // What has come out.
    held: Option<Beat>,
    leaving: Vec<Beat>,
    was_stalled: bool,
    /// Cycles of this stall of s_axis that no stall of m_axis explains.
    stall: u64,
    /// All such stalls.
    stalls: Vec<u64>,
    /// Beats of all inserted frames.
    lengths: Vec<u64>,
}

/// Runs traffic of `frames` frames under each combination of pauses, and the directed scenarios; returns the number
/// of traffic frames and of inserted frames.
///
/// # Errors
///
/// [`CheckError::Mismatch`] with the first difference.
pub fn check(
    toolchain: &Toolchain,
    configuration: &Configuration,
    width: Width,
    verilog: &str,
    frames: usize,
    seed: u64,
) -> Result<(u64, u64), CheckError> {
    let mut all = (0, 0);
    let mut run = |scenario: &mut dyn FnMut(&mut Surroundings) -> Result<(), CheckError>| {
        let bench = Bench::new(toolchain, TOP, verilog)?;
        let mut surroundings = Surroundings::new(bench, configuration, width, seed)?;
        scenario(&mut surroundings)?;
        surroundings.drain()?;
        all.0 += surroundings.frames_left;
        all.1 += surroundings.inserted;
        Ok::<(), CheckError>(())
    };
    run(&mut |each| each.alone())?;
    run(&mut |each| each.one_pause())?;
    run(&mut |each| each.saturated())?;
    run(&mut |each| each.cuts_at_every_beat(Flow::Always))?;
    run(&mut |each| each.cuts_at_every_beat(Flow::Random(6)))?;
    let flows = [Flow::Always, Flow::Random(13), Flow::Random(3), Flow::Bursts(40)];
    for offered in flows {
        for taken in flows {
            run(&mut |each| each.random(offered, taken, frames))?;
        }
    }
    Ok(all)
}

/// Random data of a beat of so many bytes.
fn random_data(random: &mut StdRng, bytes: usize) -> [u64; 8] {
    std::array::from_fn(|word| if 8 * word < bytes { random.random() } else { 0 })
}

impl<'a> Surroundings<'a> {
    fn new(
        bench: Bench,
        configuration: &'a Configuration,
        width: Width,
        seed: u64,
    ) -> Result<Self, CheckError> {
        Ok(Surroundings {
            source: Source::of(&bench, "s_axis_")?,
            control_source: Source::of(&bench, "control_axis_")?,
            sink: Sink::of(&bench, "m_axis_", Carries::Traffic)?,
            cut: bench.port("cut")?,
            interval_port: bench.port("interval")?,
            bench,
            configuration,
            width: 8 * width.words(),
            random: StdRng::seed_from_u64(seed),
            cycle: 0,
            moved: 0,
            traffic: VecDeque::new(),
            s_gate: Gate::new(Flow::Always),
            s_offered: false,
            control: VecDeque::new(),
            c_gate: Gate::new(Flow::Always),
            c_offered: false,
            m_gate: Gate::new(Flow::Always),
            cut_ratio: 0,
            cut_now: false,
            accepted: VecDeque::new(),
            given_now: vec![],
            given: VecDeque::new(),
            waiting: None,
            places: VecDeque::new(),
            cuts: 0,
            interval: 0,
            in_frame: false,
            frames_begun: 0,
            frames_left: 0,
            delimiters: 0,
            inserted: 0,
            held: None,
            leaving: vec![],
            was_stalled: false,
            stall: 0,
            stalls: vec![],
            lengths: vec![],
        })
    }

    /// Puts a frame of so many random bytes into the traffic. Its tuser is never zero, which tells it from an inserted
    /// one.
    fn push_frame(&mut self, length: usize) {
        let mut left = length;
        while left > 0 {
            let bytes = left.min(self.width);
            left -= bytes;
            self.traffic.push_back(Beat {
                data: random_data(&mut self.random, self.width),
                keep: u64::MAX >> (64 - bytes),
                last: left == 0,
                timestamp: self.random.random_range(1..=u64::MAX),
                bad: self.random.random(),
            });
        }
    }

    /// Hands over a control frame of so many words.
    fn push_control(&mut self, words: usize) {
        for word in 0..words {
            let data = random_data(&mut self.random, 8);
            self.control.push_back(Beat { data, last: word + 1 == words, ..IDLE });
        }
    }

    /// One cycle: checks the outputs, applies inputs, and follows what the transfers of this cycle bring about.
    fn cycle(&mut self) -> Result<(), CheckError> {
        let shown = self.sink.shown(&self.bench);
        let s_ready = self.source.is_ready(&self.bench);
        let c_ready = self.control_source.is_ready(&self.bench);
        let interval = self.bench.get(self.interval_port);

        // The rules of AXI4-Stream, and the latency.
        if let Some(held) = self.held.take() {
            same(STAGE, self.cycle, "m_axis while it waits", &Some(held), &shown)?;
        }
        if !self.accepted.is_empty() {
            same(STAGE, self.cycle, "m_axis valid with an accepted beat", &true, &shown.is_some())?;
        }
        same(STAGE, self.cycle, "beats inside at most two", &true, &(self.accepted.len() <= 2))?;
        self.watch_the_stall(s_ready)?;

        // Frames that have gone into the stream; a control frame's patience starts over behind a delimiter.
        if c_ready {
            self.waiting = None;
        }
        if interval != self.interval {
            same(STAGE, self.cycle, "interval", &(self.interval + 1), &interval)?;
            self.interval = interval;
            if let Some(waiting) = &mut self.waiting {
                waiting.overdue = waiting.overdue.max(self.cycle + PATIENCE);
            }
        }
        let is_due = self.cuts > self.interval;

        // Inputs. What has been offered stays until it is taken.
        let random = &mut self.random;
        self.s_offered |= self.s_gate.next(random) && !self.traffic.is_empty();
        self.c_offered |= self.c_gate.next(random) && !self.control.is_empty();
        let m_ready = self.m_gate.next(random);
        let cut = std::mem::take(&mut self.cut_now) || random.random_ratio(self.cut_ratio, 65_536);
        // What is not valid is noise.
        let noise = Beat {
            data: random_data(random, self.width),
            keep: random.random(),
            last: random.random(),
            timestamp: random.random(),
            bad: random.random(),
        };
        let s_beat = self.traffic.front().copied().filter(|_| self.s_offered);
        let c_beat = self.control.front().copied().filter(|_| self.c_offered);
        for (source, beat) in [(&self.source, s_beat), (&self.control_source, c_beat)] {
            source.offer(&mut self.bench, beat.unwrap_or(noise));
            if beat.is_none() {
                source.rest(&mut self.bench);
            }
        }
        self.sink.set_ready(&mut self.bench, m_ready);
        self.bench.set(self.cut, u64::from(cut));

        // Transfers.
        let left = shown.filter(|_| m_ready);
        let moves = left.is_some() || (self.s_offered && s_ready) || (self.c_offered && c_ready);
        if moves || self.is_empty() {
            self.moved = self.cycle;
        } else if self.cycle > self.moved + STUCK {
            return Err(HardwareError::Stuck("move a beat", STUCK).into());
        }
        self.held = shown.filter(|_| !m_ready);
        self.was_stalled = self.held.is_some();
        if let Some(beat) = left {
            self.leave(beat)?;
        }
        let mut turns = false;
        if let Some(beat) = s_beat.filter(|_| s_ready) {
            self.frames_begun += u64::from(!self.in_frame);
            self.in_frame = !beat.last;
            self.accepted.push_back(beat);
            self.traffic.pop_front();
            self.s_offered = false;
            let is_overdue = self.waiting.as_ref().is_some_and(|waiting| self.cycle >= waiting.overdue);
            turns = beat.last && (is_due || is_overdue);
        } else if s_ready && !self.in_frame {
            turns = is_due || self.waiting.as_ref().is_some_and(|waiting| self.cycle >= waiting.since);
        }
        if turns {
            self.places.push_back(Place { behind: self.frames_begun, delimits: is_due });
        }
        if let Some(beat) = c_beat.filter(|_| c_ready) {
            self.control.pop_front();
            self.c_offered = false;
            self.given_now.extend(beat.data[0].to_le_bytes());
            if beat.last {
                let since = self.cycle + BUFFERING;
                self.waiting = Some(Waiting { since, overdue: since + PATIENCE });
                self.given.push_back(std::mem::take(&mut self.given_now));
            }
        }
        // A cut while one is due asks for the same delimiter.
        self.cuts += u64::from(cut && !is_due);

        self.bench.tick()?;
        self.cycle += 1;
        Ok(())
    }

    /// A stall of s_axis lasts a cycle for each beat that is inserted meanwhile and for each stall of m_axis.
    fn watch_the_stall(&mut self, s_ready: bool) -> Result<(), CheckError> {
        if s_ready {
            if self.stall > 0 {
                self.stalls.push(std::mem::take(&mut self.stall));
            }
            return Ok(());
        }
        // The first cycle behind reset.
        self.stall += u64::from(!self.was_stalled && self.cycle > 0);
        let longest = CONTROL_WORDS.end().div_ceil(self.width / 8) as u64;
        same(STAGE, self.cycle, "stall within its bound", &true, &(self.stall <= longest))
    }

    /// A beat leaves through m_axis.
    fn leave(&mut self, beat: Beat) -> Result<(), CheckError> {
        let is_traffic = |beat: &Beat| beat.timestamp != 0 || beat.bad;
        let is_inserted = !is_traffic(self.leaving.first().unwrap_or(&beat));
        if !is_inserted {
            same(STAGE, self.cycle, "beat of traffic", &self.accepted.pop_front(), &Some(beat))?;
            self.leaving.push(beat);
            if beat.last {
                self.leaving.clear();
                self.frames_left += 1;
            }
            return Ok(());
        }
        same(STAGE, self.cycle, "tuser of an inserted beat", &(0, false), &(beat.timestamp, beat.bad))?;
        let bytes = beat.keep.count_ones() as usize;
        let is_contiguous = bytes > 0 && beat.keep == u64::MAX >> (64 - bytes);
        same(STAGE, self.cycle, "tkeep contiguous", &true, &is_contiguous)?;
        same(
            STAGE,
            self.cycle,
            "tkeep full before the last beat",
            &true,
            &(beat.last || bytes == self.width),
        )?;
        self.leaving.push(beat);
        if !beat.last {
            return Ok(());
        }
        let frame: Vec<u8> = self.leaving.iter().flat_map(Beat::bytes).collect();
        self.lengths.push(self.leaving.len() as u64);
        self.leaving.clear();
        self.inserted += 1;
        let Some(place) = self.places.pop_front() else {
            return same(STAGE, self.cycle, "inserted frame", &None, &Some(frame));
        };
        same(STAGE, self.cycle, "traffic frames before an inserted one", &place.behind, &self.frames_left)?;
        let cuts_open = self.cuts > self.delimiters;
        let is_delimiter = place.delimits || (cuts_open && Delimiter::decode(&frame).is_ok());
        if is_delimiter {
            let expected = Delimiter::new(self.configuration, self.delimiters as u32);
            self.delimiters += 1;
            same(STAGE, self.cycle, "delimiter", &Ok(expected), &Delimiter::decode(&frame))?;
            return same(STAGE, self.cycle, "bytes of a delimiter", &delimiter::BYTES, &frame.len());
        }
        same(STAGE, self.cycle, "control frame", &self.given.pop_front(), &Some(frame))
    }

    fn cycles(&mut self, count: u64) -> Result<(), CheckError> {
        (0..count).try_for_each(|_| self.cycle())
    }

    /// Runs until all that went in has come out, and nothing else.
    fn drain(&mut self) -> Result<(), CheckError> {
        self.cut_ratio = 0;
        while !self.is_empty() {
            self.cycle()?;
        }
        (self.s_gate, self.c_gate, self.m_gate) =
            (Gate::new(Flow::Always), Gate::new(Flow::Always), Gate::new(Flow::Always));
        self.cycles(2 * PATIENCE)?;
        same(STAGE, self.cycle, "frames begun and left", &self.frames_begun, &self.frames_left)?;
        same(STAGE, self.cycle, "frame behind the end", &0, &self.leaving.len())?;
        same(STAGE, self.cycle, "places used", &0, &self.places.len())?;
        let total = |cycles: &[u64]| cycles.iter().sum::<u64>();
        let within = total(&self.stalls) <= total(&self.lengths);
        same(STAGE, self.cycle, "all stalls within the inserted beats", &true, &within)
    }

    fn is_empty(&self) -> bool {
        let nothing_goes_in = self.traffic.is_empty() && self.control.is_empty();
        nothing_goes_in && self.accepted.is_empty() && self.given.is_empty() && self.delimiters == self.cuts
    }

    /// No traffic at all; then traffic of every length, and nothing to insert.
    fn alone(&mut self) -> Result<(), CheckError> {
        self.cut_now = true;
        self.cycles(20)?;
        for words in 1..=2 * CONTROL_WORDS.start() {
            self.push_control(words);
        }
        self.push_control(*CONTROL_WORDS.end());
        while !self.is_empty() {
            self.cycle()?;
        }
        self.stalls.clear();
        self.lengths.clear();
        for length in 1..=4 * self.width {
            self.push_frame(length);
        }
        let (start, beats) = (self.cycle, self.traffic.len() as u64);
        while !self.is_empty() {
            self.cycle()?;
        }
        // A beat a cycle, and a cycle for the last one to leave.
        same(STAGE, self.cycle, "cycles for traffic alone", &(beats + 1), &(self.cycle - start))?;
        same(STAGE, self.cycle, "stalls of traffic alone", &vec![], &self.stalls)
    }

    /// One pause between two frames, at every distance around the moment from which a control frame waits.
    fn one_pause(&mut self) -> Result<(), CheckError> {
        for before in 0..40 {
            self.push_control(15);
            self.cycles(before)?;
            for _ in 0..2 {
                for _ in 0..PATIENCE / 2 {
                    self.push_frame(2 * self.width);
                }
                while !self.traffic.is_empty() {
                    self.cycle()?;
                }
                self.cycle()?;
            }
        }
        self.drain()
    }

    /// No pause at all, control frames as fast as they are taken, m_axis never stalls: the stated stall, exactly.
    fn saturated(&mut self) -> Result<(), CheckError> {
        let longest = self.width * 190;
        for number in 0..60 {
            self.push_control(if number % 3 == 0 { 15 } else { *CONTROL_WORDS.end() });
        }
        for _ in 0..600 {
            let length = [1, self.width, 3 * self.width + 1, 60, longest][self.random.random_range(0..5)];
            self.push_frame(length);
        }
        while self.cycle < 30_000 {
            if self.traffic.len() < 400 {
                let length = self.random.random_range(1..20 * self.width);
                self.push_frame(length);
            }
            self.cut_now = self.cycle % 1000 == 999;
            self.cycle()?;
        }
        // The last stall may not have ended, nor its frame have left.
        let whole = self.stalls.len().min(self.lengths.len());
        same(STAGE, self.cycle, "inserted frames", &true, &(whole > 40))?;
        same(STAGE, self.cycle, "stalls", &self.lengths[..whole].to_vec(), &self.stalls[..whole].to_vec())
    }

    /// A cut in each cycle of two frames, while m_axis is taken as given, with and without a control frame that waits.
    fn cuts_at_every_beat(&mut self, taken: Flow) -> Result<(), CheckError> {
        self.m_gate = Gate::new(taken);
        for beats in [1, 2, 5] {
            for with_control in [false, true] {
                for at in 0..20 * beats {
                    if with_control {
                        self.push_control(15);
                        while !self.control.is_empty() {
                            self.push_frame(beats * self.width - 1);
                            self.cycle()?;
                        }
                    }
                    for _ in 0..24 {
                        self.push_frame(beats * self.width - 1);
                    }
                    self.cycles(at as u64)?;
                    self.cut_now = true;
                    self.cycles(7)?;
                    self.cut_now = true;
                    while !self.is_empty() {
                        self.cycle()?;
                    }
                }
            }
        }
        Ok(())
    }

    fn random(&mut self, offered: Flow, taken: Flow, frames: usize) -> Result<(), CheckError> {
        self.s_gate = Gate::new(offered);
        self.m_gate = Gate::new(taken);
        self.cut_ratio = 300;
        for number in 0..frames {
            let length = match number % 4 {
                0 => self.random.random_range(1..=3 * self.width),
                1 => 60,
                2 => self.random.random_range(60..=1514),
                _ => self.random.random_range(1..=128),
            };
            self.push_frame(length);
            if number % 8 == 0 {
                let words = self.random.random_range(CONTROL_WORDS);
                self.push_control(words);
            }
            if number % 32 == 0 {
                let flows = [Flow::Always, Flow::Never, Flow::Random(4), Flow::Bursts(8)];
                self.c_gate = Gate::new(flows[self.random.random_range(0..4)]);
            }
            while self.traffic.len() > 100 {
                self.cycle()?;
            }
        }
        self.c_gate = Gate::new(Flow::Random(4));
        self.drain()
    }
}
