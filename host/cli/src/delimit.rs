//! `deltaline delimit`: sends the delimiters that cut a path's packets into intervals.
//!
//! They go out one after the other, numbered, at times that do not drift: the n-th comes n intervals behind the first,
//! however long sending took.
//!
//! # Test plan
//!
//! `tests/delimit.rs`: over the loopback interface, where the test may open it, numbers, contents and pace; failures by
//! their exit codes.

use crate::arguments::Delimit;
use crate::exit::{Exit, Failure};
use crate::read::stop_flag;
use deltaline_capture::source::{POLL, Sender};
use deltaline_model::configuration::{Configuration, Settings};
use deltaline_model::delimiter::Delimiter;
use std::sync::atomic::Ordering;
use std::thread::sleep;
use std::time::{Duration, Instant};

pub(crate) fn run(arguments: &Delimit) -> Result<Exit, Failure> {
    let configuration = Configuration::new(Settings {
        hash: arguments.hash.into(),
        seed: arguments.seed,
        rows: arguments.rows,
        prefixes: &arguments.banks,
        segment: arguments.segment,
        ..Settings::default()
    })
    .map_err(|error| Failure::new(Exit::Usage, format!("--rows, --banks: {error}")))?;
    let stop = stop_flag()?;
    let mut sender = Sender::open(&arguments.interface)?;
    let mut due = Instant::now();
    let mut sent = 0;
    while arguments.count.is_none_or(|count| sent < count) {
        while let Some(wait) = due.checked_duration_since(Instant::now()).filter(|wait| !wait.is_zero()) {
            if stop.load(Ordering::Relaxed) {
                return Ok(told(sent));
            }
            sleep(wait.min(POLL));
        }
        if stop.load(Ordering::Relaxed) {
            return Ok(told(sent));
        }
        let number = arguments.first.wrapping_add(sent);
        sender.send(&Delimiter::new(&configuration, number).encode()).map_err(|reason| {
            let name = &arguments.interface;
            Failure::new(Exit::Output, format!("{name}: delimiter {number} is not sent: {reason}; is it up?"))
        })?;
        sent = sent.wrapping_add(1);
        due += Duration::from_nanos(arguments.interval);
    }
    Ok(told(sent))
}

fn told(sent: u32) -> Exit {
    println!("{sent} delimiters sent");
    Exit::Done
}
