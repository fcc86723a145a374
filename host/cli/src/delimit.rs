//! `deltaline delimit`: sends the delimiters that cut a path's packets into intervals.
//!
//! They go out one after the other, numbered, at times that do not drift: a whole number of intervals behind the first,
//! however long sending took. Times that have passed when it wakes up are left out, no number is: boards need the time.
//! While the link is away it is waited for, and the number that was due goes out when it is back.
//!
//! A point that goes on takes whatever numbers come, and signs them: none may come again. So they begin with the wall clock's, where
//! nobody says with which, and at its time: whoever starts again is above what was sent before, even within the same interval.
//!
//! # Test plan
//!
//! Passed times; numbers by the clock rise from start to start, at any moment; `tests/delimit.rs`: over the loopback interface, where the test may open it, numbers, contents and pace; failures by
//! their exit codes, intervals shorter than a drain among them. `tests/interface.rs`: a link that goes and comes.

use crate::described::Described;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::keys::{keys, mention_forgery};
use crate::parse;
use crate::report;
use crate::signals::stop_flag;
use clap::Args;
use deltaline_collect::feed::{Sender, WAIT};
use deltaline_model::board;
use deltaline_model::wire::authentication::Keys;
use deltaline_model::wire::delimiter::Delimiter;
use deltaline_model::wire::shape::Kind;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub(crate) const EXAMPLES: &str = "\
Examples:
  Intervals of a second for two boards' taps, or cores of the design 1g, until Ctrl-C:
    deltaline delimit eth0 --interval 1s

  For cores of the design 10g:
    deltaline delimit eth0 --design 10g --interval 100ms";

#[derive(Debug, Args)]
pub(crate) struct Delimit {
    /// The network interface, such as eth0
    pub(crate) interface: String,
    /// From one delimiter to the next, such as 1s or 50ms; a board needs 30ms, which its serial line takes
    #[arg(long, value_parser = parse::interval, value_name = "DURATION", default_value = "1s")]
    pub(crate) interval: u64,
    /// Stop after so many delimiters
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) count: Option<u32>,
    /// Number of the first one, which goes out at once
    ///
    /// Without it numbers are those of the wall clock: how many intervals have begun since 1970, modulo 2^32, and the first one goes out
    /// when the next interval begins. So they rise from start to start, as points and readers with a key want them to, as long as the clock
    /// is not set back and --interval stays the same; if it does not, give a number above the last one. A pause of 2^31 intervals
    /// and more looks like a step back.
    #[arg(long, value_name = "NUMBER")]
    pub(crate) first: Option<u32>,
    /// Sign the delimiters with the last key of this file, as `deltaline key` makes it; cores of 64 bits and more check their tags
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    #[command(flatten)]
    described: Described,
}

/// The shortest interval without a design, in nanoseconds: some eleven times a drain of the board's tap.
const LEAST: u64 = 1_000_000;

/// Rows of each bank without a design: those of the boards and of the design `1g`.
fn rows() -> usize {
    board::traffic::configuration().rows()
}

pub(crate) fn run(arguments: &Delimit) -> Result<Exit, Failure> {
    let configuration = arguments.described.configuration(Kind::LDA, rows(), false, false)?;
    let keys = keys(arguments.key.as_deref())?;
    check_interval(arguments)?;
    let stop = stop_flag()?;
    let interval = Duration::from_nanos(arguments.interval);
    let mut link = Link { name: &arguments.interface, sender: Some(Sender::open(&arguments.interface)?) };
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    // Rises from start to start, as long as the clock does.
    let boot_epoch = now.as_secs() as u32;
    let (first, wait) =
        arguments.first.map_or_else(|| by_the_clock(now, interval), |first| (first, Duration::ZERO));
    let mut due = Instant::now() + wait;
    let mut sent = 0;
    while arguments.count.is_none_or(|count| sent < count) {
        while let Some(wait) = due.checked_duration_since(Instant::now()).filter(|wait| !wait.is_zero()) {
            if stop.load(Ordering::Relaxed) {
                return finish(arguments, sent);
            }
            sleep(wait.min(WAIT));
        }
        if stop.load(Ordering::Relaxed) {
            return finish(arguments, sent);
        }
        let number = first.wrapping_add(sent);
        let delimiter = Delimiter { boot_epoch, ..Delimiter::new(&configuration, number) };
        let frame =
            keys.as_ref().and_then(Keys::last).map_or(delimiter.encode(), |key| delimiter.signed(key));
        let pause = match link.send(&frame, number) {
            true => {
                sent = sent.wrapping_add(1);
                Duration::ZERO
            }
            false => WAIT,
        };
        due = next(due, interval, Instant::now() + pause);
    }
    finish(arguments, sent)
}

/// A delimiter that comes before the last interval has been sent out would be refused, and one before its tag is known count as forged.
fn check_interval(arguments: &Delimit) -> Result<(), Failure> {
    let designed = arguments.described.least_interval()?;
    let least = designed.unwrap_or(LEAST);
    if arguments.interval >= least {
        return Ok(());
    }
    let least = report::duration(least as f64);
    let why = match designed {
        Some(_) => format!("the design takes up to {least} for an interval"),
        None => format!("without --design, {least} is the shortest"),
    };
    Err(Failure::new(Exit::Usage, format!("--interval: too short: {why}; give a longer one")))
}

/// The interface, which may go and come.
struct Link<'a> {
    name: &'a str,
    /// None while it is away.
    sender: Option<Sender>,
}

impl Link<'_> {
    /// Sends a delimiter, if the link is there.
    fn send(&mut self, delimiter: &[u8], number: u32) -> bool {
        let Link { name, sender } = self;
        if let Some(present) = sender {
            let Err(reason) = present.send(delimiter) else { return true };
            *sender = None;
            report::say(&format!("{name}: is gone ({reason}); delimiter {number} waits for it to come back"));
            return false;
        }
        let Ok(found) = Sender::open(name) else { return false };
        let is_sent = found.send(delimiter).is_ok();
        if is_sent {
            *sender = Some(found);
            report::say(&format!("{name}: is back; delimiter {number} has been sent"));
        }
        is_sent
    }
}

/// The number of the interval that is the next to begin, of all since 1970, and in what time it does.
fn by_the_clock(now: Duration, interval: Duration) -> (u32, Duration) {
    let number = now.as_nanos() / interval.as_nanos().max(1) + 1;
    let wait = number * interval.as_nanos() - now.as_nanos();
    (number as u32, Duration::from_nanos(wait as u64))
}

/// The first time of the grid behind `due` that has not passed; the next one if all of them are still to come.
fn next(due: Instant, interval: Duration, now: Instant) -> Instant {
    let passed = now.saturating_duration_since(due).as_nanos() / interval.as_nanos().max(1);
    due + interval * u32::try_from(passed + 1).unwrap_or(u32::MAX)
}

fn finish(arguments: &Delimit, sent: u32) -> Result<Exit, Failure> {
    report::print(&format!("delimiters sent: {sent}\n"))?;
    arguments.described.mention_seed();
    mention_forgery(arguments.key.as_deref(), "delimiters");
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use deltaline_design::Design;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        delimit: Delimit,
    }

    /// Or no interval of theirs would end.
    #[test]
    fn without_a_design_boards_and_the_smallest_core_know_the_delimiters() {
        let plain = Command::parse_from(["deltaline", "eth0"]).delimit;
        let id = plain.described.configuration(Kind::LDA, rows(), false, false).unwrap().id();
        assert_eq!(id, board::traffic::configuration().id());
        assert_eq!(id, Design::named("1g").unwrap().configuration().id());
    }

    /// Started again at any moment behind a delimiter, for many intervals' lengths and times of day.
    #[test]
    fn numbers_by_the_clock_rise_from_start_to_start() {
        for interval in
            [125_400, 1_000_000, 50_000_000, 1_000_000_000, 3_600_000_000_000].map(Duration::from_nanos)
        {
            for second in [0, 1_764_000_000, 4_294_967_290] {
                let start = Duration::new(second, 987_654_321);
                let (first, wait) = by_the_clock(start, interval);
                assert!(!wait.is_zero() && wait <= interval);
                for sent in [0, 1, 999] {
                    // The last one has just gone out.
                    let last = first.wrapping_add(sent);
                    let stopped = start + wait + interval * sent;
                    for pause in [0, 1, 7, 1_000_000].map(Duration::from_nanos).into_iter().chain([
                        interval / 2,
                        interval,
                        interval * 5,
                    ]) {
                        let (again, _) = by_the_clock(stopped + pause, interval);
                        let step = again.wrapping_sub(last);
                        assert_eq!(
                            u128::from(step),
                            pause.as_nanos() / interval.as_nanos() + 1,
                            "{interval:?} {pause:?}"
                        );
                    }
                }
            }
        }
    }

    #[test]
    fn passed_times_are_left_out() {
        let first = Instant::now();
        let after = |milliseconds| first + Duration::from_millis(milliseconds);
        let next = |now| next(first, Duration::from_millis(50), after(now));
        assert_eq!([next(0), next(49), next(51), next(499)], [after(50), after(50), after(100), after(500)]);
    }
}
