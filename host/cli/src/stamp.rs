//! `deltaline stamp`: delays of a link that no measurement point watches, by test packets (STAMP, RFC 8762).
//!
//! # Test plan
//!
//! `tests/stamp.rs`: a sender and a reflector, open and with a key, as table and as JSON; another key, nobody there, a port in use,
//! keys that are none. The protocol's own plan is in `deltaline_stamp`.

use crate::exit::Exit;
use crate::failure::Failure;
use crate::parse;
use crate::progress::working;
use crate::report::{self, duration, or_none};
use crate::signals::stop_flag;
use clap::{Args, Subcommand};
use deltaline_design::check_permissions;
use deltaline_stamp::PORT;
use deltaline_stamp::packet::{Key, MOST, OPEN};
use deltaline_stamp::reflector::Reflector;
use deltaline_stamp::sender::{Outcome, Plan, Sample, measure};
use deltaline_stamp::socket::Socket;
use deltaline_stamp::summary::{Delays, offset_change};
use serde::Serialize;
use std::fs::File;
use std::io::{self, ErrorKind, Read as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Duration;

pub(crate) const SEND_EXAMPLES: &str = "\
Examples:
  Ten packets a second for ten seconds:
    deltaline stamp send 192.0.2.7

  A thousand, a millisecond apart and as long as data, with a key of both ends, for programs:
    deltaline stamp send router.example:862 --count 1000 --interval 1ms --length 1400 --key link.key --json";

pub(crate) const REFLECT_EXAMPLES: &str = "\
Examples:
  On all addresses, at STAMP's port, which takes the right to open ports below 1024:
    deltaline stamp reflect

  For who has the key, at one address:
    (umask 077; head -c 16 /dev/urandom | od -An -tx1 > link.key)
    deltaline stamp reflect 192.0.2.7:8620 --key link.key";

/// Octets of a file of a key at most.
const MOST_KEY: u64 = 4096;
/// Test packets at most: their times are kept.
const MOST_PACKETS: u32 = 10_000_000;

#[derive(Debug, Subcommand)]
pub(crate) enum Stamp {
    /// Send test packets to a reflector, and say how long they took and which were lost
    #[command(after_help = SEND_EXAMPLES, after_long_help = SEND_EXAMPLES)]
    Send(Send),
    /// Answer test packets until interrupted
    #[command(after_help = REFLECT_EXAMPLES, after_long_help = REFLECT_EXAMPLES)]
    Reflect(Reflect),
}

#[derive(Debug, Args)]
pub(crate) struct Send {
    /// The reflector: name or address, with a port if it is not 862
    reflector: String,
    /// Test packets
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=i64::from(MOST_PACKETS)))]
    count: u32,
    /// From one to the next
    #[arg(long, default_value = "100ms", value_parser = parse::duration, value_name = "DURATION")]
    interval: u64,
    /// Octets of each above UDP, if it is to be longer than it has to be
    #[arg(long, default_value_t = OPEN, value_parser = length, value_name = "OCTETS")]
    length: usize,
    /// How long to wait for answers behind the last one; what comes within as long again counts as late, not as lost
    #[arg(long, default_value = "2s", value_parser = parse::duration, value_name = "DURATION")]
    timeout: u64,
    /// A file with the key of both ends, in hexadecimal digits: 16 octets at least
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Write the result as JSON
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Reflect {
    /// Where to listen: an address, with a port if it is not 862
    #[arg(default_value = "0.0.0.0")]
    address: String,
    /// A file with the key of both ends, in hexadecimal digits: 16 octets at least
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// Write what was answered as JSON
    #[arg(long)]
    json: bool,
}

fn length(text: &str) -> Result<usize, String> {
    let given = text.parse().ok().filter(|length| (OPEN..=MOST).contains(length));
    given.ok_or_else(|| format!("give a number of octets from {OPEN} to {MOST}"))
}

pub(crate) fn run(arguments: &Stamp) -> Result<Exit, Failure> {
    match arguments {
        Stamp::Send(arguments) => send(arguments),
        Stamp::Reflect(arguments) => reflect(arguments),
    }
}

/// The result, in nanoseconds.
#[derive(Serialize)]
struct Output<'a> {
    reflector: &'a str,
    authenticated: bool,
    sent: u32,
    received: u32,
    lost: u32,
    /// Answered when the wait was over.
    late: u32,
    /// None where it cannot be told on which way packets were lost.
    lost_forward: Option<u32>,
    lost_backward: Option<u32>,
    duplicates: u64,
    refused: u64,
    /// Answers that the delays are of, and those that have one-way delays.
    samples: usize,
    one_way_samples: usize,
    round_trip_ns: Option<DelaysOutput>,
    forward_ns: Option<DelaysOutput>,
    backward_ns: Option<DelaysOutput>,
    /// How long the reflector kept them.
    dwell_mean_ns: Option<f64>,
    clock_doubt: Option<String>,
    reason: Option<String>,
}

#[derive(Serialize)]
struct DelaysOutput {
    min: i64,
    mean: f64,
    p50: i64,
    p90: i64,
    p99: i64,
    max: i64,
    variation: i64,
}

impl From<Delays> for DelaysOutput {
    fn from(delays: Delays) -> Self {
        let Delays { least, mean, p50, p90, p99, greatest, variation } = delays;
        DelaysOutput { min: least, mean, p50, p90, p99, max: greatest, variation }
    }
}

const CLOCK_DOUBT: &str = "the two ends' clocks are not known to be synchronised: forward and backward delays hold the offset between them, with \
                           opposite signs; their variation does not unless a clock is set meanwhile, and the round trip never does";

/// Clocks that are so far apart are not two that are set, in nanoseconds: a day.
const FAR: u64 = 86_400_000_000_000;

/// What one-way delays rest on, and whether the samples show that it does not hold; why there are none, or not of all.
fn clock_doubt(samples: &[Sample]) -> Option<String> {
    let ways = || samples.iter().filter_map(|sample| sample.one_way);
    let without = samples.len() - ways().count();
    let other_format = (without > 0).then(|| {
        format!(
            "{without} of {} answers have times of PTP, which count from elsewhere: these have no forward and backward delays",
            samples.len()
        )
    });
    let doubt = (without < samples.len())
        .then(|| offset_doubt(samples, ways().map(|[forward, _]| forward.unsigned_abs()).min()));
    let texts: Vec<String> = other_format.into_iter().chain(doubt).collect();
    (!texts.is_empty()).then(|| texts.join("; "))
}

fn offset_doubt(samples: &[Sample], least: Option<u64>) -> String {
    let far = least.filter(|least| *least > FAR).map(|least| {
        format!(
            "; that offset is {}: one of the clocks is not set, or the reflector's times are in another format than it says",
            duration(least as f64)
        )
    });
    let change = offset_change(samples).map(|change| {
        format!(
            "; that offset changed by {} at least while it was measured: a clock was set, is coarse, or runs faster than the other one, and forward and backward \
             delays and their variations hold that as well",
            duration(change as f64)
        )
    });
    format!("{CLOCK_DOUBT}{}{}", far.unwrap_or_default(), change.unwrap_or_default())
}

fn send(arguments: &Send) -> Result<Exit, Failure> {
    let key = key(arguments.key.as_deref())?;
    let to = resolve(&arguments.reflector)?;
    let failed = |reason: io::Error| {
        let message =
            format!("{}: cannot be reached: {reason}; check address and network", arguments.reflector);
        Failure::new(Exit::Missing, message)
    };
    let socket = Socket::to(to).map_err(failed)?;
    let plan = Plan {
        count: arguments.count,
        interval: Duration::from_nanos(arguments.interval),
        length: arguments.length,
        patience: Duration::from_nanos(arguments.timeout),
        session: (std::process::id() & 0xffff) as u16,
    };
    let stop = stop_flag()?;
    let outcome = working("sending", || measure(&socket, &plan, key.as_ref(), &stop)).map_err(failed)?;
    let output = output(arguments, &outcome, key.is_some());
    if arguments.json {
        report::print_result("stamp", &output)?;
    } else {
        report::print(&text(&output))?;
    }
    if key.is_none() {
        report::say("unauthenticated: anybody on the path can forge answers; give both ends --key FILE");
    }
    if let Some(doubt) = &output.clock_doubt {
        report::say(doubt);
    }
    if outcome.timeless > 0 {
        report::say(&format!(
            "{} of {} answers have no times of the reflector, and are in no delay: it has no clock, or breaks the protocol",
            outcome.timeless, outcome.received
        ));
    }
    let contradict = (outcome.received - outcome.timeless) as usize - outcome.samples.len();
    if contradict > 0 {
        report::say(&format!(
            "{} of {} answers say that they stayed at the reflector for less than nothing, or for longer than they were away, and are in no delay: \
             its clock is coarse or was set, and the round trips of the others may be too long",
            contradict, outcome.received
        ));
    }
    if outcome.unsent > 0 {
        report::say(&format!("{} packets were not sent: the system refused them", outcome.unsent));
    }
    if let Some(reason) = &output.reason {
        report::say(reason);
        return Ok(Exit::NoData);
    }
    Ok(Exit::Done)
}

fn output<'a>(arguments: &'a Send, outcome: &Outcome, authenticated: bool) -> Output<'a> {
    let samples = &outcome.samples;
    let way = |way: usize| {
        let delays = samples.iter().filter_map(|sample| sample.one_way?.get(way).copied());
        Delays::of(delays).map(DelaysOutput::from)
    };
    let by_way = |way: usize| outcome.lost_by_way.and_then(|lost| lost.get(way).copied());
    let dwell = Delays::of(samples.iter().map(|sample| sample.dwell));
    let nothing = match (outcome.is_unreachable, outcome.refused) {
        _ if !samples.is_empty() => None,
        _ if outcome.timeless > 0 && outcome.timeless == outcome.received => {
            Some("no answer has times of the reflector: it has no clock, or breaks the protocol".to_string())
        }
        _ if outcome.received > 0 => {
            Some("the times of all answers contradict each other: see to the reflector's clock".to_string())
        }
        (true, _) => Some("nobody listens there: start a reflector, or name another port".to_string()),
        (_, 0) => Some(format!(
            "no answer came within {}: check address, key and firewalls, or wait longer with --timeout",
            duration(arguments.timeout as f64)
        )),
        (_, refused) => {
            Some(format!("{refused} packets came that answer nothing: do both ends have the same key?"))
        }
    };
    Output {
        reflector: &arguments.reflector,
        authenticated,
        sent: outcome.sent,
        received: outcome.received,
        lost: outcome.sent.saturating_sub(outcome.received.saturating_add(outcome.late)),
        late: outcome.late,
        lost_forward: by_way(0),
        lost_backward: by_way(1),
        duplicates: outcome.duplicates,
        refused: outcome.refused,
        samples: samples.len(),
        one_way_samples: samples.iter().filter(|sample| sample.one_way.is_some()).count(),
        round_trip_ns: Delays::of(samples.iter().map(|sample| sample.round_trip)).map(DelaysOutput::from),
        clock_doubt: clock_doubt(samples),
        forward_ns: way(0),
        backward_ns: way(1),
        dwell_mean_ns: dwell.map(|dwell| dwell.mean),
        reason: nothing,
    }
}

fn text(output: &Output) -> String {
    let shown = |nanoseconds: i64| {
        let sign = if nanoseconds < 0 { "-" } else { "" };
        format!("{sign}{}", duration(nanoseconds.unsigned_abs() as f64))
    };
    let mut table = report::table(&["", "least", "mean", "p50", "p90", "p99", "greatest", "variation"]);
    let ways = [
        ("round trip", &output.round_trip_ns),
        ("forward", &output.forward_ns),
        ("backward", &output.backward_ns),
    ];
    for (name, delays) in ways {
        let cell = |of: fn(&DelaysOutput) -> i64| or_none(delays.as_ref(), |delays| shown(of(delays)));
        table.add_row([
            name.to_string(),
            cell(|delays| delays.min),
            cell(|delays| delays.mean.round() as i64),
            cell(|delays| delays.p50),
            cell(|delays| delays.p90),
            cell(|delays| delays.p99),
            cell(|delays| delays.max),
            cell(|delays| delays.variation),
        ]);
    }
    let ways = match (output.lost_forward, output.lost_backward) {
        (Some(forward), Some(backward)) if output.lost > 0 => {
            format!(", {forward} on the way there and {backward} on the way back")
        }
        (None, None) if output.received > 0 && output.lost > 0 => ", on which way cannot be told".into(),
        _ => String::new(),
    };
    let late = if output.late > 0 { format!(", {} answered too late", output.late) } else { String::new() };
    format!(
        "{table}\n{}: {} sent, {} lost{ways}{late}; {} duplicates\n",
        output.reflector, output.sent, output.lost, output.duplicates
    )
}

/// What was answered.
#[derive(Serialize)]
struct ReflectedOutput {
    answered: u64,
    refused: u64,
    unsent: u64,
    uncounted: u64,
}

fn reflect(arguments: &Reflect) -> Result<Exit, Failure> {
    let key = key(arguments.key.as_deref())?;
    let address = resolve(&arguments.address)?;
    let failed = |reason: io::Error| {
        let (exit, remedy) = match reason.kind() {
            ErrorKind::PermissionDenied => (Exit::Denied, "name a port above 1023, or run as root"),
            ErrorKind::AddrInUse => (Exit::Busy, "name another port, or end the other reflector"),
            _ => (Exit::Missing, "name an address of this machine"),
        };
        Failure::new(exit, format!("{address}: cannot be listened at: {reason}; {remedy}"))
    };
    let socket = Socket::bind(address).map_err(failed)?;
    if key.is_none() {
        report::say("unauthenticated: whoever asks is answered; give both ends --key FILE");
    }
    let mut reflector = Reflector::new(socket, key);
    report::say(&format!("test packets are answered at {}", reflector.address().map_err(failed)?));
    let stop = stop_flag()?;
    while !stop.load(Ordering::Relaxed) {
        reflector.answer_next().map_err(failed)?;
    }
    let reflected = reflector.reflected();
    let output = ReflectedOutput {
        answered: reflected.answered,
        refused: reflected.refused,
        unsent: reflected.unsent,
        uncounted: reflected.uncounted,
    };
    match arguments.json {
        true => report::print_result("stamp-reflect", &output)?,
        false => report::print(&format!(
            "{} test packets answered, {} refused; {} answers not sent\n",
            output.answered, output.refused, output.unsent
        ))?,
    }
    Ok(Exit::Done)
}

/// The first address of a name, with STAMP's port unless another is named.
fn resolve(text: &str) -> Result<SocketAddr, Failure> {
    let alone: Option<IpAddr> = text.trim_matches(['[', ']']).parse().ok();
    if let Some(address) = alone {
        return Ok((address, PORT).into());
    }
    let port = text.rsplit_once(':').map(|(_, port)| port);
    let unknown = |reason: &dyn std::fmt::Display| {
        let message = format!(
            "{text}: {reason}; give a name or an address, and a port such as {}:8620",
            Ipv4Addr::LOCALHOST
        );
        Failure::new(Exit::Missing, message)
    };
    let found = match port.map(str::parse::<u16>) {
        Some(Ok(_)) => text.to_socket_addrs(),
        Some(Err(_)) if port.is_some_and(|port| port.bytes().all(|digit| digit.is_ascii_digit())) => {
            return Err(unknown(&"no such port: they go to 65535"));
        }
        _ => (text, PORT).to_socket_addrs(),
    };
    let mut found = found.map_err(|reason| unknown(&reason))?;
    found.next().ok_or_else(|| unknown(&"has no address"))
}

/// The key in a file.
fn key(path: Option<&Path>) -> Result<Option<Key>, Failure> {
    let Some(path) = path else { return Ok(None) };
    let wrong = |reason: &dyn std::fmt::Display| {
        let message = format!(
            "--key: {}: {reason}; give a file with 16 octets or more in hexadecimal digits",
            path.display()
        );
        Failure::new(Exit::Input, message)
    };
    check_permissions(path).map_err(|error| Failure::new(Exit::Input, format!("--key: {error}")))?;
    let mut text = String::new();
    File::open(path)
        .and_then(|file| file.take(MOST_KEY).read_to_string(&mut text))
        .map_err(|reason| wrong(&reason))?;
    let digits: Option<Vec<u8>> = text
        .chars()
        .filter(|character| !character.is_ascii_whitespace())
        .map(|character| character.to_digit(16).map(|digit| digit as u8))
        .collect();
    let digits = digits.filter(|digits| digits.len() % 2 == 0).ok_or_else(|| wrong(&"is no such text"))?;
    let octets: Vec<u8> =
        digits.chunks(2).map(|pair| pair.iter().fold(0, |octet, digit| octet << 4 | digit)).collect();
    Key::new(&octets).map(Some).map_err(|reason| wrong(&reason))
}
