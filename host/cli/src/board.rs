//! `deltaline board`: a board measures what it does itself, and so can be judged (`selftest`) and watched (`start`).
//!
//! # Self-test
//!
//! The board is reset and then given one setting after the other, each for one interval: lengths of packets, gaps,
//! delay, jitter, losses alone and in bursts. Of each the estimate, which rests on the control frames alone, is compared
//! with the truth, which the hardware counts beside: the loss must be exact, and the mean delay should lie within its
//! 99 % interval. That interval misses once in a hundred by its own definition; so [`MAY_MISS`] of a hundred settings
//! may, and are shown with how far they are off. Boards draw their random numbers from the settings' seed: the same
//! script gives the same figures, on any board and in simulation.
//!
//! An interval whose frames were damaged on the serial line is measured once more, and a message says so.
//!
//! # Test plan
//!
//! `tests/board.rs`: a board whose numbers are true passes; one whose estimates are off, or that loses what it does not
//! count, fails; damaged bytes cost a second try and no more; boards of another top, configuration or protocol, and what
//! is no board, by their exit codes. What was started is read: its delay and its losses.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::identity::{no_answer, top_name, wrong_version};
use crate::parse;
use crate::report::{self, duration, or_none};
use crate::show::json::Members;
use clap::{Args, Subcommand};
use deltaline_collect::collector::{Collector, Limits};
use deltaline_collect::evaluation::Evaluation;
use deltaline_collect::feed::{Event, Feed, Serial, Source};
use deltaline_collect::follower::check_version;
use deltaline_collect::pair::Interval;
use deltaline_collect::truth::{Delay, Exact, Stamps};
use deltaline_estimate::{Confidence, Loss, Range};
use deltaline_model::board::{
    Command, Identity, LEAST_DELAY, MAX_EXPONENT, Settings, Sizes, Top, Truth, traffic,
};
use serde::{Serialize, Serializer};
use std::time::{Duration, Instant};

pub(crate) const SELFTEST_EXAMPLES: &str = "\
Examples:
  A hundred settings of delay, jitter and loss, estimate beside truth:
    deltaline board selftest /dev/ttyUSB1

  For a program to read, the first twenty settings:
    deltaline board selftest /dev/ttyUSB1 --settings 20 --json";

pub(crate) const START_EXAMPLES: &str = "\
Examples:
  Half a millisecond of delay, two percent of losses, and what is measured of it:
    deltaline board start /dev/ttyUSB1 --delay 500us --loss 2
    deltaline read /dev/ttyUSB1";

#[derive(Debug, Subcommand)]
pub(crate) enum Board {
    /// Let the board delay and lose packets of its own, and compare the estimates with its truth
    #[command(after_help = SELFTEST_EXAMPLES, after_long_help = SELFTEST_EXAMPLES)]
    Selftest(Selftest),
    /// Let the board delay and lose packets of its own until it is told otherwise, for `deltaline read`
    #[command(after_help = START_EXAMPLES, after_long_help = START_EXAMPLES)]
    Start(Start),
}

#[derive(Debug, Args)]
pub(crate) struct Start {
    /// The board's serial port, such as /dev/ttyUSB1
    pub(crate) port: String,
    /// Least delay
    #[arg(long, value_parser = parse::duration, value_name = "DURATION", default_value = "100us")]
    pub(crate) delay: u64,
    /// Random part of the delay, rounded up to a power of two of the board's clock cycles
    #[arg(long, value_parser = parse::duration, value_name = "DURATION", default_value = "20us")]
    pub(crate) jitter: u64,
    /// Packets to lose, in percent
    #[arg(long, value_name = "PERCENT", default_value_t = 0.1)]
    pub(crate) loss: f64,
    /// Packets of an interval
    #[arg(long, value_name = "NUMBER", default_value_t = 50_000, value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) packets: u32,
}

#[derive(Debug, Args)]
pub(crate) struct Selftest {
    /// The board's serial port, such as /dev/ttyUSB1
    pub(crate) port: String,
    /// Write the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
    /// Run only the first so many of the hundred settings
    #[arg(long, value_name = "NUMBER", default_value_t = 100, value_parser = clap::value_parser!(u8).range(1..=100))]
    pub(crate) settings: u8,
}

/// Of a hundred settings, how many means may lie outside of their interval.
pub(crate) const MAY_MISS: usize = 2;
/// How long an answer may take.
const ANSWER: Duration = Duration::from_secs(5);
/// How long an interval may take until its frames have come: the script's longest takes a second on a board, and a
/// simulated board takes longer.
const INTERVAL: Duration = Duration::from_secs(60);
/// Tries of a setting whose frames are damaged.
const TRIES: usize = 2;
/// What came of a setting.
#[derive(Serialize)]
struct Trial {
    #[serde(flatten)]
    settings: SettingsOutput,
    #[serde(serialize_with = "exact")]
    truth: Option<Exact>,
    sent: Option<u64>,
    lost: Option<u64>,
    mean_ns: Option<f64>,
    mean_ci99_ns: Option<[f64; 2]>,
    std_ns: Option<f64>,
    loss_is_exact: bool,
    mean_is_within: bool,
    /// By how many half widths of its interval the mean is off.
    off: Option<f64>,
    tries: usize,
    /// Why there is no estimate.
    reason: Option<String>,
}

#[derive(Serialize)]
struct SettingsOutput {
    number: u8,
    sizes: String,
    gap: u16,
    gap_spread: u8,
    delay_cycles: u16,
    jitter: u8,
    loss: u16,
    bursts: u16,
    burst: u8,
    packets: u32,
}

#[derive(Serialize)]
struct Output<'a> {
    passed: bool,
    settings: usize,
    losses_exact: usize,
    means_within: usize,
    repeated: usize,
    digest: String,
    build: u32,
    outcomes: &'a [Trial],
}

pub(crate) fn selftest(arguments: &Selftest) -> Result<Exit, Failure> {
    let mut board = Tested::open(&arguments.port)?;
    board.reset()?;
    let outcomes: Vec<Trial> = script()
        .iter()
        .take(arguments.settings.into())
        .map(|settings| board.measure(settings))
        .collect::<Result<_, Failure>>()?;

    let count = |is: fn(&Trial) -> bool| outcomes.iter().filter(|outcome| is(outcome)).count();
    let (settings, losses_exact) = (outcomes.len(), count(|outcome| outcome.loss_is_exact));
    let means_within = count(|outcome| outcome.mean_is_within);
    let repeated = count(|outcome| outcome.tries > 1);
    let passed = losses_exact == settings && settings - means_within <= MAY_MISS;
    if arguments.json {
        let digest = format!("{:#018x}", board.identity.digest);
        let build = board.identity.build;
        let outcomes = &outcomes[..];
        report::print_result(
            "selftest",
            &Output { passed, settings, losses_exact, means_within, repeated, digest, build, outcomes },
        )?;
    } else {
        let verdict = if passed { "passed" } else { "FAILED" };
        report::print(&format!(
            "{}\n{verdict}: of {settings} settings the loss is exact in {losses_exact}, the mean within its 99 % \
             interval in {means_within}; {repeated} measured twice for damaged bytes\n",
            table(&outcomes)
        ))?;
    }
    if !passed {
        report::say(&format!(
            "{}: the self-test failed: estimates contradict the board's own truth; program the board again, and \
             check that the bitstream met its clock (`cargo xtask bitstream alchitry-cu selftest`)",
            arguments.port
        ));
        return Ok(Exit::SelfTest);
    }
    Ok(Exit::Done)
}

pub(crate) fn start(arguments: &Start) -> Result<Exit, Failure> {
    let Start { port, delay, jitter, loss, packets } = arguments;
    let refused = |what, least, most| {
        Failure::new(
            Exit::Usage,
            format!("--{what}: the board can do {least} to {most}; give a value in between"),
        )
    };
    let mut board = Tested::open(port)?;
    let cycle = f64::from(board.identity.cycle) / 1000.0;
    let cycles = *delay as f64 / cycle;
    let longest = |cycles: f64| duration(cycles * cycle);
    if !(f64::from(LEAST_DELAY)..=f64::from(u16::MAX)).contains(&cycles.round()) {
        return Err(refused("delay", longest(LEAST_DELAY.into()), longest(u16::MAX.into())));
    }
    let exponent = (*jitter as f64 / cycle).max(1.0).log2().ceil();
    if exponent > f64::from(MAX_EXPONENT) {
        return Err(refused("jitter", longest(0.0), longest(f64::from(1u32 << MAX_EXPONENT))));
    }
    if !(0.0..=100.0).contains(loss) {
        return Err(refused("loss", "0".into(), "100".into()));
    }
    board.reset()?;
    let settings = Settings {
        number: 1,
        intervals: Settings::ENDLESS,
        seed: 1,
        sizes: Sizes::Uniform,
        delay: cycles.round() as u16,
        jitter: exponent as u8,
        // A cast of what is too large gives the greatest.
        loss: (loss / 100.0 * 65_536.0).round() as u16,
        packets: *packets,
        ..Settings::default()
    };
    board.source.send(&Command::Settings(settings));
    if board.interval(settings.number)?.is_none() {
        let message = format!("{port}: the board did not start; press its reset button and try again");
        return Err(Failure::new(Exit::NoData, message));
    }
    report::print(&format!("{port}: runs; see what is measured with `deltaline read {port}`\n"))?;
    Ok(Exit::Done)
}

/// A hundred settings: every delay with every jitter and every kind of loss, lengths and gaps in turn.
fn script() -> Vec<Settings> {
    const DELAYS: [u16; 5] = [16, 100, 1_000, 10_000, 60_000];
    const JITTERS: [u8; 5] = [0, 4, 8, 11, 15];
    /// Alone, bursts, length of a burst: none; 0.1 %; 5 %; bursts of 20 in 0.1 %.
    const LOSSES: [(u16, u16, u8); 4] = [(0, 0, 0), (66, 0, 0), (3_277, 0, 0), (0, 66, 20)];
    const SIZES: [Sizes; 4] = [Sizes::Shortest, Sizes::Uniform, Sizes::Bimodal, Sizes::Longest];
    /// Gap and spread: back to back, fixed, random.
    const GAPS: [(u16, u8); 3] = [(0, 0), (200, 0), (0, 9)];
    (0..100u8)
        .map(|number| {
            let index = usize::from(number);
            let (loss, bursts, burst) = LOSSES[index % 4];
            let (gap, gap_spread) = GAPS[index % 3];
            Settings {
                number,
                intervals: 1,
                seed: 2 * u32::from(number) + 1,
                sizes: SIZES[index / 4 % 4],
                gap_spread,
                gap,
                delay: DELAYS[index / 4 % 5],
                jitter: JITTERS[index / 20],
                burst,
                loss,
                bursts,
                packets: 4_000 + 37 * u32::from(number),
            }
        })
        .collect()
}

/// A board that was found to be of this release.
struct Tested<'a> {
    port: &'a str,
    source: Serial,
    collector: Collector,
    identity: Identity,
}

/// A collector that holds nothing back: a board's own delimiters are neither repeated nor forged.
fn prompt() -> Collector {
    Collector::default().within(Limits { grace: Duration::ZERO, ..Limits::default() })
}

impl<'a> Tested<'a> {
    /// Finds out who answers, and refuses all but the board of this release.
    fn open(port: &'a str) -> Result<Self, Failure> {
        let mut source = Source::open_serial(port)?;
        source.send(&Command::Identify);
        let identity = identity(port, &mut source)?;
        check_version(&identity).map_err(|error| wrong_version(port, error))?;
        if identity.top != Top::Selftest {
            let message = format!(
                "{port}: the board is programmed as {}, the self-test needs selftest; program it with \
                 `cargo xtask bitstream alchitry-cu selftest`, or read from it with `deltaline read {port}`",
                top_name(identity.top)
            );
            return Err(Failure::new(Exit::WrongBoard, message));
        }
        let expected = traffic::configuration();
        if identity.digest != expected.id() {
            let message = format!(
                "{port}: the board's configuration is {:#018x} ({} rows), this program's self-test is {:#018x} ({} \
                 rows); program the board with this release: `cargo xtask bitstream alchitry-cu selftest`",
                identity.digest,
                identity.rows,
                expected.id(),
                expected.rows()
            );
            return Err(Failure::new(Exit::Configuration, message));
        }
        Ok(Tested { port, source, collector: prompt(), identity })
    }

    /// Stops everything; intervals count from zero.
    fn reset(&mut self) -> Result<(), Failure> {
        self.source.send(&Command::Reset);
        identity(self.port, &mut self.source)?;
        self.collector = prompt();
        Ok(())
    }

    fn measure(&mut self, settings: &Settings) -> Result<Trial, Failure> {
        let mut tries = 1;
        loop {
            self.source.send(&Command::Settings(*settings));
            let measured = self.interval(settings.number)?;
            let damaged = match &measured {
                Some((interval, _)) => interval.void.as_ref().map(ToString::to_string),
                None => Some("no control frame or no truth of it came".into()),
            };
            match damaged {
                Some(reason) if tries < TRIES => {
                    report::say(&format!("{}: setting {}: {reason}; once more", self.port, settings.number));
                    self.reset()?;
                    tries += 1;
                }
                _ => return Ok(self.judge(settings, measured, tries)),
            }
        }
    }

    /// The interval that ran under the settings of this number, and its truth; none if one of them does not come.
    fn interval(&mut self, number: u8) -> Result<Option<(Interval, Truth)>, Failure> {
        let started = Instant::now();
        let mut heard = None;
        let mut truth: Option<Truth> = None;
        while started.elapsed() < INTERVAL {
            match self.source.next_event()? {
                Event::Frame { bytes, .. } => self.collector.push(&bytes),
                Event::Truth(came) if came.settings == number => truth = Some(came),
                Event::Bad(bad) => report::say(&format!("{}: {bad}; it is left out", self.port)),
                Event::Lost(reason) => {
                    let message = format!(
                        "{}: the board is gone ({reason}); check the cable and begin again",
                        self.port
                    );
                    return Err(Failure::new(Exit::Missing, message));
                }
                // What was lost will not come: the interval's other messages are through.
                Event::Idle if heard.is_some_and(|heard: Instant| heard.elapsed() > ANSWER) => break,
                Event::Idle => continue,
                _ => {}
            }
            heard = Some(Instant::now());
            let wanted = truth.map(|truth| truth.interval);
            let settled = self.collector.take_settled();
            if let Some(interval) = settled.into_iter().find(|interval| Some(interval.number) == wanted) {
                return Ok(Some(interval).zip(truth));
            }
        }
        // As far as its frames have come.
        let collector = std::mem::replace(&mut self.collector, prompt());
        let wanted = truth.map(|truth| truth.interval);
        let interval =
            collector.finish().intervals.into_iter().find(|interval| Some(interval.number) == wanted);
        Ok(interval.zip(truth))
    }

    fn judge(&self, settings: &Settings, measured: Option<(Interval, Truth)>, tries: usize) -> Trial {
        let Settings { number, sizes, gap, gap_spread, delay, jitter, loss, bursts, burst, packets, .. } =
            *settings;
        let sizes = format!("{sizes:?}").to_lowercase();
        let mut outcome = Trial {
            settings: SettingsOutput {
                number,
                sizes,
                gap,
                gap_spread,
                delay_cycles: delay,
                jitter,
                loss,
                bursts,
                burst,
                packets,
            },
            truth: measured.as_ref().map(|(_, truth)| Exact::of_board(truth, self.identity.cycle)),
            sent: None,
            lost: None,
            mean_ns: None,
            mean_ci99_ns: None,
            std_ns: None,
            loss_is_exact: false,
            mean_is_within: false,
            off: None,
            tries,
            reason: None,
        };
        let (Some((interval, _)), Some(truth)) = (measured, outcome.truth) else {
            outcome.reason = Some("no control frame or no truth of it came".into());
            return outcome;
        };
        match Evaluation::of(&interval) {
            Evaluation { result: Err(reason), .. } => outcome.reason = Some(reason.to_string()),
            Evaluation { result: Ok((estimate, _)), .. } => {
                outcome.sent = Some(estimate.sent);
                outcome.lost = match estimate.loss() {
                    Loss::Lost(lost) => Some(lost),
                    Loss::Surplus(_) => None,
                };
                outcome.loss_is_exact = (estimate.sent, estimate.received, outcome.lost)
                    == (truth.sent, truth.received, Some(truth.lost));
                outcome.std_ns = estimate.deviation.ok();
                outcome.reason = estimate.mean.err().map(|reason| reason.to_string());
                if let (Ok(mean), Some(true_mean)) = (estimate.mean, truth.delay.map(|delay| delay.mean)) {
                    outcome.mean_ns = Some(mean.within_bounds());
                    let confidence = Confidence::new(0.99).unwrap_or(Confidence::P95);
                    match mean.range(confidence) {
                        Ok(Range { lower, upper }) => {
                            let half = (upper - lower) / 2.0;
                            let distance = (f64::midpoint(lower, upper) - true_mean).abs();
                            outcome.mean_ci99_ns = Some([lower, upper]);
                            outcome.mean_is_within = distance <= half + ROUNDING;
                            outcome.off = (half > 0.0).then_some(distance / half);
                        }
                        Err(reason) => outcome.reason = Some(reason.to_string()),
                    }
                }
            }
        }
        outcome
    }
}

/// Nanoseconds by which two exact means may differ for their being floating-point numbers.
const ROUNDING: f64 = 1e-6;

fn exact<S: Serializer>(truth: &Option<Exact>, serializer: S) -> Result<S::Ok, S::Error> {
    let quantities = truth.map(|truth| truth.quantities(Stamps::default()));
    quantities.as_deref().map(Members).serialize(serializer)
}

/// Waits for a board to say which one it is.
fn identity(port: &str, source: &mut Serial) -> Result<Identity, Failure> {
    let (started, bytes) = (Instant::now(), source.bytes());
    while started.elapsed() < ANSWER {
        match source.next_event()? {
            Event::Identity(identity) => return Ok(identity),
            Event::Lost(reason) => {
                let message =
                    format!("{port}: the board is gone ({reason}); check the cable and begin again");
                return Err(Failure::new(Exit::Missing, message));
            }
            _ => {}
        }
    }
    Err(no_answer(port, source.bytes() - bytes, &duration(ANSWER.as_nanos() as f64)))
}

fn table(outcomes: &[Trial]) -> comfy_table::Table {
    let mut table = report::table(&[
        "setting",
        "sizes",
        "sent",
        "lost",
        "true lost",
        "mean (99 %)",
        "true mean",
        "deviation",
        "true deviation",
        "",
    ]);
    for outcome in outcomes {
        let truth = outcome.truth;
        let true_delay =
            |of: fn(Delay) -> f64| or_none(truth.and_then(|truth| truth.delay).map(of), duration);
        let mean = or_none(outcome.mean_ns, |mean| match outcome.mean_ci99_ns {
            Some([low, high]) => format!("{} ± {}", duration(mean), duration((high - low) / 2.0)),
            None => duration(mean),
        });
        let verdict = match (&outcome.reason, outcome.loss_is_exact, outcome.off) {
            (Some(reason), ..) => reason.clone(),
            (None, false, _) => "loss is wrong".into(),
            (None, true, Some(off)) if !outcome.mean_is_within => {
                format!("mean is off by {off:.2} half widths")
            }
            (None, true, None) if !outcome.mean_is_within => "mean is wrong".into(),
            _ => "ok".into(),
        };
        table.add_row([
            outcome.settings.number.to_string(),
            outcome.settings.sizes.clone(),
            or_none(outcome.sent, |sent| sent.to_string()),
            or_none(outcome.lost, |lost| lost.to_string()),
            or_none(truth, |truth| truth.lost.to_string()),
            mean,
            true_delay(|delay| delay.mean),
            or_none(outcome.std_ns, duration),
            true_delay(|delay| delay.deviation),
            verdict,
        ]);
    }
    table
}
