//! `deltaline flows`: two captures, flow by flow.

mod output;
pub(crate) mod points;

use crate::causes::Surveys;
use crate::common_span::{Common, READ_ONCE};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::matched::check_common;
use crate::parse;
use crate::progress::working;
use crate::recordings::Recordings;
use crate::report;
use crate::truth;
use crate::wrong_stamps::WrongStamps;
use clap::{Args, Subcommand, ValueEnum};
use deltaline_collect::flows::Worst;
use deltaline_collect::truth::{Exact, Stamps};
use deltaline_estimate::clock_doubts_of_packets;
use deltaline_model::packet::flow::FlowFields;
use ipnet::IpNet;
use output::{FlowOutput, table};
use std::cmp::Ordering;
use std::net::IpAddr;

const EXAMPLES: &str = "\
Examples:
  The twenty flows with most packets:
    deltaline flows top sender.pcap.zst receiver.pcap.zst

  The five that lost most, for a program to read:
    deltaline flows top --by loss --count 5 --json sender.pcap receiver.pcap

  Networks of 24 bits instead of hosts and ports:
    deltaline flows top --fields source/24,destination/24 sender.pcap receiver.pcap

  One host's flows to DNS servers:
    deltaline flows show --source 10.0.0.7 --destination-port 53 sender.pcap receiver.pcap";

#[derive(Debug, Subcommand)]
pub(crate) enum Flows {
    /// Show the flows with most packets, the greatest mean delay, or most losses
    ///
    /// A flow is packets of the same addresses, ports and protocol, unless --fields says otherwise. Every packet is looked for at the
    /// other end, so that the numbers are exact; memory is bounded however many flows there are.
    #[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
    Top(Top),
    /// Show the flows of these addresses, ports and protocol
    #[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
    Show(Show),
    /// List all flows by protocol, addresses and ports
    #[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
    List(List),
}

/// What is compared, and how.
#[derive(Debug, Args)]
pub(crate) struct Compared {
    #[command(flatten)]
    pub(crate) recordings: Recordings,
    /// What flows are told apart by: source, destination, source-port, destination-port, protocol; addresses with /BITS of IPv4 or
    /// /BITS/BITS of IPv4 and IPv6
    #[arg(long, value_parser = fields, value_name = "FIELDS")]
    fields: Option<FlowFields>,
    /// Take both directions for one flow, whose source is the lower end
    #[arg(long)]
    joined: bool,
    /// Write the result as JSON
    #[arg(long)]
    json: bool,
}

impl Compared {
    /// Directions can be joined where both ends are told apart by the same.
    fn fields(&self) -> Result<FlowFields, Failure> {
        let fields = FlowFields { are_joined: self.joined, ..self.fields.unwrap_or_default() };
        let is_alike = fields.source == fields.destination && fields.source_port == fields.destination_port;
        if self.joined && !is_alike {
            let message = "--joined takes both directions for one flow, but --fields tells its ends apart by different fields; give the \
                           same of source and destination, such as source/24,destination/24";
            return Err(Failure::new(Exit::Usage, message));
        }
        Ok(fields)
    }
}

#[derive(Debug, Args)]
pub(crate) struct Top {
    #[command(flatten)]
    compared: Compared,
    /// How many flows are shown
    #[arg(long, default_value_t = 20, value_parser = parse::count::<1>, value_name = "FLOWS")]
    count: usize,
    /// What is greatest in the first flow
    #[arg(long, value_enum, default_value_t = By::Packets)]
    by: By,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    #[command(flatten)]
    compared: Compared,
    /// The flow's source
    #[arg(long, value_name = "ADDRESS")]
    source: Option<IpAddr>,
    /// Its destination
    #[arg(long, value_name = "ADDRESS")]
    destination: Option<IpAddr>,
    /// Its source port
    #[arg(long, value_name = "PORT")]
    source_port: Option<u16>,
    /// Its destination port
    #[arg(long, value_name = "PORT")]
    destination_port: Option<u16>,
    /// The number of its protocol, 6 for TCP
    #[arg(long, value_name = "NUMBER")]
    protocol: Option<u8>,
}

impl Show {
    /// Whether it is asked for: if directions are joined, whichever end is its source.
    fn is_meant(&self, flow: &FlowOutput) -> bool {
        let address = |asked: Option<IpAddr>, found: &IpNet| asked.is_none_or(|asked| found.contains(&asked));
        let port = |asked: Option<u16>, found: Option<u16>| asked.is_none_or(|port| found == Some(port));
        let ends = [(&flow.source, flow.source_port), (&flow.destination, flow.destination_port)];
        let are_meant = |[source, destination]: [(&IpNet, Option<u16>); 2]| {
            address(self.source, source.0)
                && address(self.destination, destination.0)
                && port(self.source_port, source.1)
                && port(self.destination_port, destination.1)
        };
        let [one, other] = ends;
        (are_meant(ends) || self.compared.joined && are_meant([other, one]))
            && self.protocol.is_none_or(|protocol| flow.protocol == Some(protocol))
    }

    /// Refuses to ask for what flows are not told apart by: such a flow is of all of them.
    fn check(&self, fields: &FlowFields) -> Result<(), Failure> {
        let asked = [
            ("source", self.source.is_some(), fields.source != [0; 2]),
            ("destination", self.destination.is_some(), fields.destination != [0; 2]),
            ("source-port", self.source_port.is_some(), fields.source_port),
            ("destination-port", self.destination_port.is_some(), fields.destination_port),
            ("protocol", self.protocol.is_some(), fields.protocol),
        ];
        let refused = asked.into_iter().find(|(_, is_asked, is_told)| *is_asked && !is_told);
        refused.map_or(Ok(()), |(name, ..)| {
            let message = format!(
                "--{name}: --fields does not tell flows apart by it; add {name} to --fields, or choose packets with --filter"
            );
            Err(Failure::new(Exit::Usage, message))
        })
    }
}

#[derive(Debug, Args)]
pub(crate) struct List {
    #[command(flatten)]
    compared: Compared,
}

/// What flows are ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// Packets sent, and those of the receiver only
    Packets,
    /// Mean delay
    Delay,
    /// Standard deviation of delay
    Jitter,
    /// Packets lost
    Loss,
}

impl By {
    /// Which flow comes first; those that are alike stay in the order of their addresses.
    fn compare(self, one: &FlowOutput, other: &FlowOutput) -> Ordering {
        let or_last = |number: Option<f64>| number.unwrap_or(f64::NEG_INFINITY);
        match self {
            By::Packets => other.packets().cmp(&one.packets()),
            By::Delay => or_last(other.mean_ns).total_cmp(&or_last(one.mean_ns)),
            By::Jitter => or_last(other.std_ns).total_cmp(&or_last(one.std_ns)),
            By::Loss => other.lost.cmp(&one.lost),
        }
    }
}

impl From<By> for Worst {
    fn from(by: By) -> Self {
        match by {
            By::Packets => Worst::Packets,
            By::Delay => Worst::Delay,
            By::Jitter => Worst::Jitter,
            By::Loss => Worst::Loss,
        }
    }
}

/// The flows that are shown.
struct Shown<'a> {
    wanted: &'a dyn Fn(&FlowOutput) -> bool,
    order: Option<(By, usize)>,
    flows: Vec<FlowOutput>,
    /// All flows that there are.
    all: u64,
}

impl Shown<'_> {
    fn take(&mut self, flow: FlowOutput) {
        self.all += 1;
        if (self.wanted)(&flow) {
            self.flows.push(flow);
        }
        if self
            .order
            .is_some_and(|(_, count)| self.flows.len() >= count.saturating_mul(2).saturating_add(1024))
        {
            self.cut();
        }
    }

    fn cut(&mut self) {
        if let Some((by, count)) = self.order {
            self.flows.sort_by(|one, other| by.compare(one, other));
            self.flows.truncate(count);
        }
    }
}

pub(crate) fn run(command: &Flows) -> Result<Exit, Failure> {
    match command {
        Flows::Top(top) => show(&top.compared, Some((top.by, top.count)), &|_| true),
        Flows::Show(asked) => {
            asked.check(&asked.compared.fields()?)?;
            show(&asked.compared, None, &|flow| asked.is_meant(flow))
        }
        Flows::List(list) => show(&list.compared, None, &|_| true),
    }
}

fn show(
    compared: &Compared,
    order: Option<(By, usize)>,
    wanted: &dyn Fn(&FlowOutput) -> bool,
) -> Result<Exit, Failure> {
    let (recordings, fields) = (&compared.recordings, compared.fields()?);
    recordings.check()?;
    recordings.check_addresses()?;
    let mut remarks = vec![];
    let mut surveys = Surveys::default();
    let common = if recordings.are_files() { Some(Common::of(recordings)?) } else { None };
    remarks.extend(common.as_ref().map_or(vec![READ_ONCE.into()], |common| common.remarks.clone()));
    let (edges, delays) = match common {
        Some(Common { edges, passages, .. }) => (edges, passages.delays().collect::<Vec<_>>()),
        None => (None, vec![]),
    };
    let mut shown = Shown { wanted, order, flows: vec![], all: 0 };
    let matcher = truth::read(recordings, edges.as_ref(), &mut surveys, &mut remarks)?;
    let known: Vec<i64> = delays.iter().map(|(_, delay)| *delay).collect();
    let (wrong_stamps, rounding) = (WrongStamps::of(&surveys, &known), surveys.rounding());
    let matched = working("matching packets with packets", || {
        matcher.finish_by_flow(&fields, |flow| {
            let are_wrong = wrong_stamps.are_among(Exact::from(flow.truth).extremes());
            shown.take(FlowOutput::of(&flow, &fields, Stamps { are_wrong, rounding }));
        })
    })?;
    let ends = [matched.sender, matched.receiver];
    check_common(recordings, ends, matched.overall.received, &surveys, &remarks)?;
    let (exit, mut warnings) = truth::judged(recordings, &matched, edges.as_ref(), &surveys, remarks)?;
    warnings.extend(clock_doubts_of_packets(delays).iter().map(ToString::to_string));
    if exit == Exit::NotIdentifiable {
        let of_all = Exact::from(matched.overall).quantities(Stamps { are_wrong: false, rounding });
        let refused = truth::remarks_on_refused([&of_all[..]]);
        warnings.extend(refused.into_iter().map(|refused| format!("of all flows together: {refused}")));
    }
    shown.cut();
    let merged = shown.flows.iter().filter(|flow| flow.is_behind_header).count();
    if merged > 0 {
        warnings.push(format!(
            "{merged} flows are of IPv6 with extension headers, by which and by their addresses alone they are told: behind these there may be several protocols and ports; \
             tell them apart with --filter, such as 'udp port 53'"
        ));
    }
    let beyond = shown.all - shown.flows.len() as u64;
    if beyond > 0 && order.is_some() {
        warnings.push(format!("{beyond} of {} flows are not shown; see --count", shown.all));
    }
    if shown.flows.is_empty() {
        warnings.push(format!("none of {} flows is meant; see `deltaline flows list`", shown.all));
    }
    if compared.json {
        report::print_json(&shown.flows)?;
    } else {
        report::print(&table(&shown.flows))?;
    }
    warnings.iter().for_each(|warning| report::say(warning));
    Ok(exit)
}

/// Reads what flows are told apart by.
fn fields(text: &str) -> Result<FlowFields, String> {
    let mut fields = FlowFields {
        source: [0; 2],
        destination: [0; 2],
        source_port: false,
        destination_port: false,
        protocol: false,
        are_joined: false,
    };
    let bits = |given: Option<&str>, most: u8| match given {
        None => Ok(most),
        Some(text) => match text.parse() {
            Ok(bits) if bits <= most => Ok(bits),
            _ => Err(format!("/{text}: give a number of bits from 0 to {most}")),
        },
    };
    for field in text.split(',') {
        let mut parts = field.split('/');
        let name = parts.next().unwrap_or_default();
        let given: Vec<&str> = parts.collect();
        match (name, &given[..]) {
            ("source" | "destination", [] | [_] | [_, _]) => {
                let of = [bits(given.first().copied(), 32)?, bits(given.get(1).copied(), 128)?];
                *if name == "source" { &mut fields.source } else { &mut fields.destination } = of;
            }
            ("source-port", []) => fields.source_port = true,
            ("destination-port", []) => fields.destination_port = true,
            ("protocol", []) => fields.protocol = true,
            _ => {
                return Err(format!(
                    "{field:?}: give source, destination, source-port, destination-port, protocol, and bits behind addresses alone, such as source/24"
                ));
            }
        }
    }
    Ok(fields)
}
