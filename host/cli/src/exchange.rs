//! `deltaline exchange`: two ends, each with its own recording, find out loss and delays between them.
//!
//! # Test plan
//!
//! [`room`]; `tests/exchange.rs`: the same as `measure` of both recordings and as exact matching, by TCP and by a Unix socket; keys; who is refused, and with which
//! exit code; nobody there; whoever connects and says nothing, or no more, keeps nobody waiting.

use crate::causes::{Fragments, check_fragments, remark_on_fragments, remark_on_long};
use crate::described::Described;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::{Input, is_standard_input, name};
use crate::keys::{keys, mention_forgery};
use crate::parse;
use crate::report;
use crate::show::json::{Interval as IntervalOutput, Numbers};
use crate::show::table;
use clap::{Args, Subcommand};
use connection::{Address, Connection, Listener, connect};
use cut::{Cut, MOST_SHARE};
use deltaline_capture::edges::{MEANWHILE, STILL};
use deltaline_capture::filter::Filter;
use deltaline_collect::exchange::{
    About, Asked, Costs, ExchangeError, Recording, Refusal, Terms, answer, ask,
};
use deltaline_collect::summary::{Summary, interval_remarks};
use deltaline_design::random_seed;
use deltaline_estimate::clock_doubts_of_packets;
use deltaline_estimate::quantity::{Definition, GREATEST, LEAST, LOST, MEAN, SURPLUS};
use deltaline_model::sketch::packet_cache::PacketCache;
use deltaline_model::time::Timestamp;
use deltaline_model::wire::frame::Role;
use deltaline_model::wire::shape::Kind;
use room::{Close, Room, Turn};
use serde::Serialize;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

mod connection;
mod cut;
mod room;

pub(crate) const EXAMPLES: &str = "\
Examples:
  A key, which both ends have to have:
    deltaline key north.keys

  At the receiver, which answers senders, up to four at once:
    deltaline exchange serve --key north.keys --interval 1s 0.0.0.0:4711 receiver.pcap

  At the sender, which shows the result:
    deltaline exchange ask --key north.keys --interval 1s receiver.example:4711 sender.pcap

  Both on one machine, all packets as one interval:
    deltaline exchange serve --once unix:/tmp/exchange receiver.pcap &
    deltaline exchange ask --json unix:/tmp/exchange sender.pcap";

#[derive(Debug, Subcommand)]
pub(crate) enum Exchange {
    /// At the receiver: answer what senders ask of a recording
    #[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
    Serve(Serve),
    /// At the sender: ask the receiver, and show the result
    #[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
    Ask(Ask),
}

#[derive(Debug, Args)]
pub(crate) struct Serve {
    #[command(flatten)]
    end: End,
    /// End after one sender, as its exchange ended
    #[arg(long)]
    once: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Ask {
    #[command(flatten)]
    end: End,
    /// Write the result as JSON
    #[arg(long)]
    json: bool,
}

/// What both ends are given, alike but for the recording.
#[derive(Clone, Debug, Args)]
struct End {
    /// Where the receiver listens: HOST:PORT, or unix:PATH
    #[arg(value_name = "ADDRESS")]
    address: Address,
    /// This end's recording: pcap or pcapng, plain, gzip or Zstandard; - is standard input
    recording: PathBuf,
    /// Length of an interval, such as 500ms or 2s: cut by both ends' clocks where these are a multiple of it. A packet belongs to the
    /// interval in which it was sent; the first interval and the last, which recordings cut, are left out. Without it all
    /// packets are one interval
    #[arg(long, value_parser = parse::interval, value_name = "DURATION")]
    interval: Option<u64>,
    /// Only packets of one flow in 2^N, the same ones at both ends: for intervals with more packets than are remembered. All numbers are of
    /// those flows alone
    #[arg(long, value_parser = clap::value_parser!(u8).range(..=MOST_SHARE), value_name = "N", default_value_t = 0)]
    flows: u8,
    /// Keys that authenticate the exchange, as `deltaline key` makes them
    #[arg(long, value_name = "FILE")]
    key: Option<PathBuf>,
    /// How long to wait for the other end's next message
    #[arg(long, value_parser = parse::duration, value_name = "DURATION", default_value = "60s")]
    patience: u64,
    /// Only packets that match, in tcpdump's syntax
    #[arg(long, value_name = "EXPRESSION", value_parser = Filter::new)]
    filter: Option<Filter>,
    /// Read a truncated or damaged capture up to the bad record, instead of refusing it: intervals behind it are left out
    #[arg(long, requires = "interval")]
    keep_going: bool,
    #[command(flatten)]
    described: Described,
}

/// What an end's command line says that both have in common.
fn terms(end: &End) -> Result<Terms, Failure> {
    let configuration = end.described.of_identities(ROWS)?;
    if configuration.kind() != Kind::IDENTITY_TABLE
        || configuration.prefixes().lengths() != [0]
        || !configuration.classifier().is_empty()
    {
        let message = "--synopsis, --banks, --design: an exchange is of identity tables of all packets, without classes; name such a \
                       design, or leave them out";
        return Err(Failure::new(Exit::Usage, message));
    }
    mention_forgery(end.key.as_deref(), "the other end's answers");
    let patience = Duration::from_nanos(end.patience);
    Ok(Terms {
        configuration,
        length: end.interval.unwrap_or(0),
        flows: end.flows,
        keys: keys(end.key.as_deref())?,
        patience,
    })
}

/// Rows of each table.
const ROWS: usize = 64;
fn random() -> Result<u64, Failure> {
    random_seed().map_err(|error| {
        Failure::new(Exit::Input, format!("the system gives no number at random: {error}; try again later"))
    })
}

/// A failure of the connection to or at an address.
fn unreachable(address: &str, error: &io::Error) -> Failure {
    let exit = match error.kind() {
        io::ErrorKind::AddrInUse => Exit::Busy,
        io::ErrorKind::PermissionDenied => Exit::Denied,
        _ => Exit::Missing,
    };
    Failure::new(
        exit,
        format!("{address}: {error}; see whether the address is right and the other end listens"),
    )
}

fn failure(address: &str, error: &ExchangeError) -> Failure {
    let exit = match error {
        ExchangeError::Connection(_) | ExchangeError::Closed => Exit::Missing,
        ExchangeError::Silent => Exit::NoData,
        ExchangeError::Apart { .. } | ExchangeError::NothingInCommon => Exit::NotIdentifiable,
        ExchangeError::Full | ExchangeError::Refused(Refusal::Full) => Exit::Refused,
        ExchangeError::Refused(reason) | ExchangeError::Refuses(reason) => match reason {
            Refusal::Key => Exit::Unauthentic,
            _ => Exit::Configuration,
        },
        ExchangeError::Frame(_) | ExchangeError::Unauthentic(_) | ExchangeError::Rules(_) => {
            Exit::Unauthentic
        }
    };
    Failure::new(exit, format!("{address}: {error}"))
}

pub(crate) fn serve(arguments: &Serve) -> Result<Exit, Failure> {
    let end = &arguments.end;
    let terms = terms(end)?;
    // What cannot be read is better known before anybody asks.
    let is_pipe = std::fs::metadata(&end.recording).is_ok_and(|about| !about.is_file() && !about.is_dir());
    if !is_standard_input(&end.recording) && !is_pipe {
        drop(Input::open(&end.recording, end.keep_going)?);
    } else if !arguments.once {
        let message = format!(
            "{}: standard input or a pipe can be read once; name a file, or give --once",
            name(&end.recording)
        );
        return Err(Failure::new(Exit::Usage, message));
    }
    let listener =
        Listener::bind(&end.address).map_err(|error| unreachable(&end.address.to_string(), &error))?;
    let address = listener.address(&end.address);
    report::say(&format!("listening at {address}"));
    let turns = if arguments.once { 1 } else { AT_ONCE };
    let serving = Arc::new(Serving { end: end.clone(), terms, address, room: Room::new(turns) });
    let (ended, all_ended) = mpsc::channel();
    thread::spawn(move || serving.welcome(&listener, &ended));
    for Ended { was_heard, result } in all_ended {
        if arguments.once && was_heard {
            if let Address::Unix(path) = &end.address {
                // Whoever comes later finds nobody.
                let _ = std::fs::remove_file(path);
            }
            return result.map(|()| Exit::Done);
        }
        if let Err(failure) = result {
            report::say(&failure.message);
        }
    }
    Ok(Exit::Done)
}

/// So many asking ends are served at once, each with its packets in memory.
const AT_ONCE: usize = 4;
/// How long nobody is let in after a connection that could not be.
const PAUSE: Duration = Duration::from_millis(100);

/// What all asking ends are served with.
struct Serving {
    end: End,
    terms: Terms,
    address: String,
    room: Room<Connection>,
}

/// How a connection has ended.
struct Ended {
    /// Its other end has said something.
    was_heard: bool,
    result: Result<(), Failure>,
}

impl Serving {
    /// Lets in who comes, each with a thread of its own, and reports how they end to who listens.
    fn welcome(self: Arc<Self>, listener: &Listener, ended: &mpsc::Sender<Ended>) {
        loop {
            if let Err(error) = self.let_in(listener, ended) {
                let result = Err(unreachable(&self.address, &error));
                if ended.send(Ended { was_heard: false, result }).is_err() {
                    return;
                }
                thread::sleep(PAUSE);
            }
        }
    }

    fn let_in(self: &Arc<Self>, listener: &Listener, ended: &mpsc::Sender<Ended>) -> io::Result<()> {
        let connection = listener.accept()?.within(self.terms.patience)?;
        let (closer, number) = (connection.try_clone()?, self.room.enter(connection.try_clone()?));
        let (serving, ended) = (Arc::clone(self), ended.clone());
        let served = thread::Builder::new().spawn(move || {
            // Nobody listens any more where another one was the last.
            let _ = ended.send(serving.serve_one(connection, &closer, number));
            serving.room.leave(number);
        });
        served.map(drop).inspect_err(|_| self.room.leave(number))
    }

    fn serve_one(&self, connection: Connection, closer: &Connection, number: u64) -> Ended {
        let Serving { terms, address, .. } = self;
        let random = match random() {
            Ok(random) => random,
            Err(failure) => return Ended { was_heard: false, result: Err(failure) },
        };
        let mut served = Served { serving: self, closer, number, turn: None, cut: None, broken: None };
        let answered = answer(connection, terms, random, &mut served);
        let Served { turn, cut, broken, .. } = served;
        let is_lost = |error: &ExchangeError| {
            matches!(error, ExchangeError::Silent | ExchangeError::Closed | ExchangeError::Connection(_))
        };
        let was_heard = turn.is_some() || answered.as_ref().err().is_none_or(|error| !is_lost(error));
        let result = match (broken, answered) {
            (Some(failure), _) => Err(failure),
            (None, Err(error)) => Err(failure(address, &error)),
            (None, Ok(costs)) => {
                cut.iter().flat_map(Cut::remarks).for_each(|remark| report::say(&remark));
                let text = CostsOutput::of(&costs).text();
                report::say(&format!("served {} questions: {text}", costs.questions));
                Ok(())
            }
        };
        Ended { was_heard, result }
    }
}

/// The recording as one asking end has it: who has greeted has a turn, and reads it.
struct Served<'a> {
    serving: &'a Serving,
    closer: &'a Connection,
    number: u64,
    turn: Option<Turn<'a, Connection>>,
    cut: Option<Cut>,
    /// Why it cannot be read.
    broken: Option<Failure>,
}

impl Served<'_> {
    /// What there is not for a fault of ours must not look lost.
    fn close_if_broken(&mut self) {
        self.broken = self.broken.take().or_else(|| self.cut.as_mut()?.failure.take());
        if self.broken.is_some() {
            self.closer.close();
        }
    }
}

impl Recording for &mut Served<'_> {
    fn next(&mut self) -> Option<(u64, PacketCache)> {
        let Serving { end, terms, room, .. } = self.serving;
        if self.turn.is_none() {
            self.turn = Some(room.turn(self.number)?);
            match Cut::open(end, terms, Role::Receiver) {
                Ok(opened) => self.cut = Some(opened),
                Err(failure) => self.broken = Some(failure),
            }
        }
        let next = self.cut.as_mut().and_then(Cut::next);
        self.close_if_broken();
        next
    }

    fn about(&mut self) -> About {
        let about = self.cut.as_mut().map(Cut::about);
        self.close_if_broken();
        about.unwrap_or_default()
    }
}

#[derive(Serialize)]
struct Output<'a> {
    overall: Numbers<'a>,
    intervals: Vec<IntervalOutput<'a>>,
    exchange: CostsOutput,
    warnings: &'a [String],
}

/// What an exchange took.
#[derive(Serialize)]
struct CostsOutput {
    octets_sent: u64,
    octets_received: u64,
    processor_ns: u64,
    symbols: u64,
    cells: u64,
    questions: u64,
    packets_held: u64,
}

impl CostsOutput {
    fn of(costs: &Costs) -> Self {
        let Costs { sent, received, processor, symbols, cells, questions, packets } = *costs;
        CostsOutput {
            octets_sent: sent,
            octets_received: received,
            processor_ns: processor.as_nanos() as u64,
            symbols,
            cells,
            questions,
            packets_held: packets,
        }
    }

    fn text(&self) -> String {
        format!(
            "{} octets sent, {} received, {} cells of bound tables, {} symbols, {} of processor time, at most {} packets in memory",
            self.octets_sent,
            self.octets_received,
            self.cells,
            self.symbols,
            report::duration(self.processor_ns as f64),
            self.packets_held
        )
    }
}

/// Recordings between which nothing takes any time.
fn remark_on_same(summary: &Summary) -> Option<String> {
    let is_none = |what: &Definition| {
        let delay = summary.overall.find(what.name).and_then(|delay| delay.value.ok());
        delay.is_some_and(|delay| delay.to_f64() == 0.0)
    };
    [&MEAN, &LEAST, &GREATEST].into_iter().all(is_none).then(|| {
        "all delays are zero: both ends seem to read the same recording, or copies of it; give each end its own".into()
    })
}

/// What the receiver says of its recording, or that it does not.
fn remarks_of_receiver(address: &str, about: Option<About>) -> Vec<String> {
    match about {
        Some(about) => about.remarks.iter().map(|remark| format!("{address} says: {remark}")).collect(),
        None => vec![format!(
            "{address} has not said what is to be said of its recording, such as packets that its recorder dropped; see what it says there"
        )],
    }
}

/// An end without a packet while the other one had many: an outage, or no traffic lost at all. These are the numbers of the intervals, and their length.
fn remarks_on_silence(
    summary: &Summary,
    numbers: &[u64],
    length: u64,
    silences: [[u64; 2]; 2],
) -> Vec<String> {
    let ends = [("sender", &SURPLUS, "gained"), ("receiver", &LOST, "lost")];
    let remark = |((name, what, counted), [from, until]): ((&str, &Definition, &str), [u64; 2])| {
        let nanoseconds = until.saturating_sub(from);
        let is_touched = |number: u64| {
            let begin = number.saturating_mul(length);
            length == 0 || begin < until && from < begin.saturating_add(length)
        };
        let touched = summary.intervals.iter().zip(numbers).filter(|(_, number)| is_touched(**number));
        let counts = touched.filter_map(|(interval, _)| interval.figures.find(what.name)?.value.ok());
        let packets: f64 = counts.map(|count| count.to_f64()).sum();
        (nanoseconds >= STILL && packets >= MEANWHILE as f64).then(|| {
            format!(
                "the {name} has no packet of {}, and {packets:.0} of the intervals of that time are {counted}: if its recorder stood still, or its clock was \
                 set, and not the traffic interrupted, these are not",
                report::duration(nanoseconds as f64)
            )
        })
    };
    ends.into_iter().zip(silences).filter_map(remark).collect()
}

pub(crate) fn ask_receiver(arguments: &Ask) -> Result<Exit, Failure> {
    let end = &arguments.end;
    let terms = terms(end)?;
    let mut cut = Cut::open(end, &terms, Role::Sender)?;
    let address = end.address.to_string();
    let connection = connect(&end.address, terms.patience).map_err(|error| unreachable(&address, &error))?;
    let asked = ask(connection, &terms, random()?, &mut cut);
    if let Some(failure) = cut.failure.take() {
        return Err(failure);
    }
    let Asked { evaluations, numbers, silences, sampled, about, costs, .. } =
        asked.map_err(|error| failure(&address, &error))?;

    let mut summary = Summary::of(&evaluations);
    if terms.length > 0 {
        summary.set_times(evaluations.iter().zip(&numbers).map(|(evaluation, number)| {
            let start = number.saturating_mul(terms.length);
            let absolute = |moment: Timestamp| {
                start.saturating_add_signed(moment.nanoseconds_since(Timestamp::from_nanoseconds(start)))
            };
            evaluation.span().map(|(first, last)| [first, last].map(absolute))
        }));
    }
    let exit = Exit::gravest(
        evaluations.iter().map(Exit::after_interval).chain([Exit::after_findings(&summary.findings)]),
    );
    let mut warnings = interval_remarks(&evaluations);
    if terms.length == 0 {
        summary.doubt_uncut();
        summary.doubt_clocks(&evaluations, clock_doubts_of_packets(sampled));
    }
    warnings.extend(summary.findings.iter().map(ToString::to_string));
    let sent = evaluations.iter().filter_map(|each| each.sender).map(|sender| sender.packets).sum();
    warnings.extend(cut.remark_on_rest(evaluations.len() as u64, sent));
    let own = cut.about();
    let of = |about: &About| Fragments { fragments: about.fragments, packets: about.packets };
    if let Some(theirs) = &about {
        let fragments = [of(&own), of(theirs)];
        let remark = remark_on_fragments(fragments, [name(&end.recording), address.clone()]);
        check_fragments(fragments, remark.as_deref())?;
        warnings.extend(remark);
        warnings.extend((theirs.unasked > 0).then(|| {
            format!(
                "{address} has {} packets of intervals in which {} has none: they are in no number; if its recorder stood still, these are no foreign ones, and \
                 what was lost then is not known",
                theirs.unasked,
                name(&end.recording)
            )
        }));
        let long = [&own, theirs].map(|about| (about.long, about.longest));
        warnings.extend(remark_on_long(long, "record"));
    }
    warnings.extend(own.remarks);
    // Behind all that was asked for.
    warnings.extend(cut.failure.take().map(|failure| failure.message));
    warnings.extend(remarks_of_receiver(&address, about));
    warnings.extend(remark_on_same(&summary));
    warnings.extend(remarks_on_silence(&summary, &numbers, terms.length, silences));
    let costs = CostsOutput::of(&costs);
    if arguments.json {
        let intervals = summary.intervals.iter().map(IntervalOutput).collect();
        let overall = Numbers(&summary.overall);
        report::print_result(
            "exchange",
            &Output { overall, intervals, exchange: costs, warnings: &warnings },
        )?;
    } else {
        let said = format!(
            "{} with {address}\n{}exchange: {}\n",
            name(&end.recording),
            table::summary(&summary),
            costs.text()
        );
        report::print(&said)?;
    }
    warnings.iter().for_each(|warning| report::say(warning));
    end.described.mention_seed();
    Ok(exit)
}
