//! `deltaline exchange`: two ends, each with its own recording, find out loss and delays between them.
//!
//! # Test plan
//!
//! [`room`]; `tests/exchange.rs`: the same as `measure` of both recordings and as exact matching, by TCP and by a Unix socket; keys; who is refused, and with which
//! exit code; nobody there; whoever connects and says nothing, or no more, keeps nobody waiting.

use crate::causes::remark_on_backward;
use crate::described::Described;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::input::{Input, is_standard_input, name};
use crate::keys::{keys, mention_forgery};
use crate::parse;
use crate::pass::unix_time;
use crate::point::{Batch, Point};
use crate::report;
use crate::show::json::{Interval as IntervalOutput, Numbers};
use crate::show::table;
use clap::{Args, Subcommand};
use deltaline_capture::Selection;
use deltaline_capture::filter::Filter;
use deltaline_capture::matching::flow;
use deltaline_capture::survey::Survey;
use deltaline_collect::exchange::{Asked, Costs, ExchangeError, Refusal, Terms, answer, ask};
use deltaline_collect::summary::{Summary, interval_remarks};
use deltaline_design::random_seed;
use deltaline_model::packet::hash::LinearHash;
use deltaline_model::packet::identity::{KEY_BYTES, identify};
use deltaline_model::point::{IntervalEnd, MeasurementPoint};
use deltaline_model::sketch::packet_cache::PacketCache;
use deltaline_model::sketch::place::Placement;
use deltaline_model::time::Timestamp;
use deltaline_model::wire::frame::Role;
use deltaline_model::wire::shape::Kind;
use room::{Close, Room};
use serde::Serialize;
use std::collections::VecDeque;
use std::fs;
use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream, ToSocketAddrs};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

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
    #[arg(long, value_parser = parse::duration, value_name = "DURATION")]
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
    #[command(flatten)]
    described: Described,
}

/// Where a receiver listens.
#[derive(Clone, Debug)]
enum Address {
    Tcp(String),
    Unix(PathBuf),
}

impl std::str::FromStr for Address {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.strip_prefix("unix:") {
            Some("") => Err("give a path behind unix:"),
            Some(path) => Ok(Address::Unix(path.into())),
            None if text.contains(':') => Ok(Address::Tcp(text.into())),
            None => Err("give HOST:PORT, or unix:PATH"),
        }
    }
}

impl std::fmt::Display for Address {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Address::Tcp(address) => f.write_str(address),
            Address::Unix(path) => write!(f, "unix:{}", path.display()),
        }
    }
}

/// A connection of either kind.
enum Connection {
    Tcp(TcpStream),
    Unix(UnixStream),
}

impl Close for Connection {
    fn close(&self) {
        // One that has ended already is closed.
        let _ = match self {
            Connection::Tcp(stream) => stream.shutdown(Shutdown::Both),
            Connection::Unix(stream) => stream.shutdown(Shutdown::Both),
        };
    }
}

impl Connection {
    fn try_clone(&self) -> io::Result<Self> {
        Ok(match self {
            Connection::Tcp(stream) => Connection::Tcp(stream.try_clone()?),
            Connection::Unix(stream) => Connection::Unix(stream.try_clone()?),
        })
    }

    /// The same, giving up after some time.
    fn within(self, patience: Duration) -> io::Result<Self> {
        let patience = Some(patience);
        match &self {
            Connection::Tcp(stream) => {
                stream.set_nodelay(true)?;
                stream.set_read_timeout(patience)?;
                stream.set_write_timeout(patience)?;
            }
            Connection::Unix(stream) => {
                stream.set_read_timeout(patience)?;
                stream.set_write_timeout(patience)?;
            }
        }
        Ok(self)
    }
}

impl Read for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Connection::Tcp(stream) => stream.read(buffer),
            Connection::Unix(stream) => stream.read(buffer),
        }
    }
}

impl Write for Connection {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Connection::Tcp(stream) => stream.write(bytes),
            Connection::Unix(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Connection::Tcp(stream) => stream.flush(),
            Connection::Unix(stream) => stream.flush(),
        }
    }
}

/// Where senders come in.
enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    fn bind(address: &Address) -> io::Result<Self> {
        Ok(match address {
            Address::Tcp(address) => Listener::Tcp(TcpListener::bind(address)?),
            Address::Unix(path) => Listener::Unix(Self::bind_unix(path)?),
        })
    }

    /// A socket's file outlives its program: one that nobody listens to any more makes room.
    fn bind_unix(path: &Path) -> io::Result<UnixListener> {
        match UnixListener::bind(path) {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse && is_left_behind(path) => {
                fs::remove_file(path)?;
                UnixListener::bind(path)
            }
            bound => bound,
        }
    }

    /// Where it is: of TCP, with the port that the system chose for port 0.
    fn address(&self, asked: &Address) -> String {
        match self {
            Listener::Tcp(listener) => {
                listener.local_addr().map_or_else(|_| asked.to_string(), |own| own.to_string())
            }
            Listener::Unix(_) => asked.to_string(),
        }
    }

    fn accept(&self) -> io::Result<Connection> {
        Ok(match self {
            Listener::Tcp(listener) => Connection::Tcp(listener.accept()?.0),
            Listener::Unix(listener) => Connection::Unix(listener.accept()?.0),
        })
    }
}

/// Whether a socket's file has no listener.
fn is_left_behind(path: &Path) -> bool {
    UnixStream::connect(path).is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

/// A recording, cut into intervals by its clock.
struct Cut {
    input: Input,
    running: Running,
    flows: Flows,
    /// Of an interval, in nanoseconds; zero for one of all.
    length: u64,
    /// The first packet's time, in nanoseconds since the Unix epoch.
    began: Option<u64>,
    /// Packets that were read and are in no interval yet, with their times.
    next: VecDeque<(Vec<u8>, u64)>,
    survey: Survey,
    packets: u64,
    unmeasured: u64,
    failure: Option<Failure>,
}

/// The running interval.
struct Running {
    point: MeasurementPoint,
    batch: Batch,
    /// None before the first.
    number: Option<u64>,
    has_any: bool,
}

impl Running {
    fn put(&mut self, data: &[u8], timestamp: u64) -> Result<(), Failure> {
        self.has_any = true;
        self.batch.push(data, Timestamp::from_nanoseconds(timestamp));
        if self.batch.is_full() {
            Point::observe(&mut self.point, &mut self.batch)?;
        }
        Ok(())
    }
}

/// By how many nanoseconds the packet behind one with a wrong stamp is earlier.
const BACK: u64 = 1_000_000_000;

impl Cut {
    fn open(end: &End, terms: &Terms, role: Role) -> Result<Self, Failure> {
        let selection = Selection { filter: end.filter.clone(), ..Selection::default() };
        let mut point = MeasurementPoint::new(&terms.configuration, role);
        point.remember_packets();
        Ok(Cut {
            input: Input::open(&end.recording, false)?.select(selection),
            running: Running { point, batch: Batch::default(), number: None, has_any: false },
            flows: Flows::new(terms),
            length: terms.length,
            began: None,
            next: VecDeque::new(),
            survey: Survey::default(),
            packets: 0,
            unmeasured: 0,
            failure: None,
        })
    }

    /// The next interval that has packets.
    fn next(&mut self) -> Option<(u64, PacketCache)> {
        self.try_next().unwrap_or_else(|failure| {
            self.failure = Some(failure);
            None
        })
    }

    fn try_next(&mut self) -> Result<Option<(u64, PacketCache)>, Failure> {
        self.running.has_any = false;
        while self.read_up_to_another()? {
            let Some((data, timestamp)) = self.next.pop_front() else { break };
            let number = timestamp.checked_div(self.length).unwrap_or(0);
            // The stamp of the packet behind it shows whether its own is wrong: then it stays where it is.
            if self.next.is_empty() {
                self.look_ahead()?;
            }
            let is_wrong = self.next.front().is_some_and(|(_, time)| time.saturating_add(BACK) <= timestamp);
            if !is_wrong {
                if self.running.number.is_some() && self.running.has_any {
                    self.next.push_front((data, timestamp));
                    break;
                }
                self.began.get_or_insert(timestamp);
                self.running.number = Some(number);
            }
            self.running.put(&data, timestamp)?;
        }
        let Running { point, batch, number, has_any } = &mut self.running;
        Point::observe(point, batch)?;
        let Some(number) = number.filter(|_| *has_any) else { return Ok(None) };
        // Of one interval of all, the other end wants to know when it was.
        let number = match self.began {
            Some(began) if self.length == 0 => unix_time(began).seconds,
            _ => number,
        };
        self.unmeasured += u64::from(point.totals(0).unmeasured);
        point.end_interval(IntervalEnd::Request, |_| ());
        Ok(point.take_packets().and_then(|mut caches| caches.pop()).map(|packets| (number, packets)))
    }

    /// Puts packets into the running interval, up to one that comes after it, by its stamp, and waits; false at the end.
    fn read_up_to_another(&mut self) -> Result<bool, Failure> {
        loop {
            let is_later = |timestamp: u64, running: &Running| {
                running.number.is_none_or(|number| timestamp.checked_div(self.length).unwrap_or(0) > number)
            };
            // Packets from before a clock that was set back stay in the running interval.
            if let Some((_, timestamp)) = self.next.front() {
                if is_later(*timestamp, &self.running) {
                    return Ok(true);
                }
                if let Some((data, timestamp)) = self.next.pop_front() {
                    self.running.put(&data, timestamp)?;
                }
                continue;
            }
            let Some(packet) = self.input.next_packet()? else { return Ok(false) };
            self.packets += 1;
            if !self.flows.take(packet.data) {
                continue;
            }
            self.survey.take(packet);
            if is_later(packet.timestamp, &self.running) {
                self.next.push_back((packet.data.to_vec(), packet.timestamp));
                return Ok(true);
            }
            self.running.put(packet.data, packet.timestamp)?;
        }
    }

    /// Has the next packet wait.
    fn look_ahead(&mut self) -> Result<(), Failure> {
        while let Some(packet) = self.input.next_packet()? {
            self.packets += 1;
            if self.flows.take(packet.data) {
                self.survey.take(packet);
                self.next.push_back((packet.data.to_vec(), packet.timestamp));
                break;
            }
        }
        Ok(())
    }

    /// What is to be said of the recording.
    fn remarks(&self) -> Vec<String> {
        let name = self.input.name();
        let unmeasured = (self.unmeasured > 0).then(|| {
            format!("{name}: {} of {} packets are not IP and not measured", self.unmeasured, self.packets)
        });
        let sampled = (self.flows.zeros > 0).then(|| {
            format!(
                "{name}: of {} flows one was taken, and all numbers are of those alone",
                1u32 << self.flows.zeros
            )
        });
        let backward = self.survey.backward().map(|backward| remark_on_backward(name, backward));
        unmeasured.into_iter().chain(sampled).chain(backward).collect()
    }
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
/// The smallest share of flows: one in 2^20.
const MOST_SHARE: i64 = 20;

/// Which flows are taken, alike at both ends: those whose addresses, protocol and ports have a place with so many zeros in front.
struct Flows {
    zeros: u8,
    hash: LinearHash,
    placement: Placement,
}

impl Flows {
    fn new(terms: &Terms) -> Self {
        let (configuration, zeros) = (&terms.configuration, terms.flows);
        let hash = LinearHash::new(configuration.hash(), configuration.seed());
        Flows { zeros, hash, placement: Placement::new(configuration.seed()) }
    }

    /// Frames that are not measured are taken, to be counted.
    fn take(&self, frame: &[u8]) -> bool {
        let Some(identity) = Some(frame).filter(|_| self.zeros > 0).and_then(|frame| identify(frame).ok())
        else {
            return true;
        };
        let flow = flow(&identity.key);
        let mut bytes = [0; KEY_BYTES];
        bytes.iter_mut().zip(flow).for_each(|(byte, of)| *byte = of);
        self.placement.place(self.hash.hash(&bytes.into())).leading_zeros() >= self.zeros.into()
    }
}

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
        ExchangeError::Apart { .. } => Exit::NotIdentifiable,
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
    if !is_standard_input(&end.recording) {
        drop(Input::open(&end.recording, false)?);
    } else if !arguments.once {
        let message = "-: standard input can be read once; name a file, or give --once";
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
        let Serving { end, terms, address, room } = self;
        let random = match random() {
            Ok(random) => random,
            Err(failure) => return Ended { was_heard: false, result: Err(failure) },
        };
        // Only who has greeted has a turn, and reads the recording.
        let (mut turn, mut cut, mut broken) = (None, None, None);
        let answered = answer(connection, terms, random, || {
            if turn.is_none() {
                turn = Some(room.turn(number)?);
                match Cut::open(end, terms, Role::Receiver) {
                    Ok(opened) => cut = Some(opened),
                    Err(failure) => broken = Some(failure),
                }
            }
            let next = cut.as_mut().and_then(Cut::next);
            broken = broken.take().or_else(|| cut.as_mut()?.failure.take());
            if broken.is_some() {
                // What there is not for a fault of ours must not look lost.
                closer.close();
            }
            next
        });
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

pub(crate) fn ask_receiver(arguments: &Ask) -> Result<Exit, Failure> {
    let end = &arguments.end;
    let terms = terms(end)?;
    let mut cut = Cut::open(end, &terms, Role::Sender)?;
    let address = end.address.to_string();
    let connection = connect(&end.address, terms.patience).map_err(|error| unreachable(&address, &error))?;
    let asked = ask(connection, &terms, random()?, || cut.next());
    if let Some(failure) = cut.failure.take() {
        return Err(failure);
    }
    let Asked { evaluations, numbers, costs, .. } = asked.map_err(|error| failure(&address, &error))?;

    let mut summary = Summary::of(&evaluations);
    for ((interval, evaluation), number) in summary.intervals.iter_mut().zip(&evaluations).zip(&numbers) {
        let start = number.saturating_mul(terms.length);
        let absolute = |moment: Timestamp| {
            start.saturating_add_signed(moment.nanoseconds_since(Timestamp::from_nanoseconds(start)))
        };
        interval.times = evaluation
            .span()
            .filter(|_| terms.length > 0)
            .map(|(first, last)| [absolute(first), absolute(last)]);
    }
    let exit = Exit::gravest(
        evaluations.iter().map(Exit::after_interval).chain([Exit::after_findings(&summary.findings)]),
    );
    let mut warnings = interval_remarks(&evaluations);
    warnings.extend(summary.findings.iter().map(ToString::to_string));
    warnings.extend(cut.remarks());
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

fn connect(address: &Address, patience: Duration) -> io::Result<Connection> {
    let connection = match address {
        Address::Unix(path) => Connection::Unix(UnixStream::connect(path)?),
        Address::Tcp(address) => {
            let mut refused = io::Error::from(io::ErrorKind::AddrNotAvailable);
            let mut connected = None;
            for address in address.to_socket_addrs()? {
                match TcpStream::connect_timeout(&address, patience) {
                    Ok(stream) => {
                        connected = Some(stream);
                        break;
                    }
                    Err(error) => refused = error,
                }
            }
            Connection::Tcp(connected.ok_or(refused)?)
        }
    };
    connection.within(patience)
}
