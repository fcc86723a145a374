//! `deltaline flows`: two captures, flow by flow.

use crate::causes::Surveys;
use crate::common_span::{Common, READ_ONCE};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::matched::check_common;
use crate::parse;
use crate::progress::working;
use crate::recordings::Recordings;
use crate::report::{self, duration, or_none};
use crate::truth;
use clap::{Args, Subcommand, ValueEnum};
use deltaline_capture::flows::FlowTruth;
use serde::Serialize;
use std::cmp::Ordering;

const EXAMPLES: &str = "\
Examples:
  The twenty flows with most packets:
    deltaline flows top sender.pcap.zst receiver.pcap.zst

  The five that lost most, for a program to read:
    deltaline flows top --by loss --count 5 --json sender.pcap receiver.pcap";

#[derive(Debug, Subcommand)]
pub(crate) enum Flows {
    /// Show the flows with most packets, the greatest mean delay, or most losses
    ///
    /// A flow is packets of the same addresses, ports and protocol. Every packet is looked for at the other end, so that the numbers
    /// are exact; memory is bounded however many flows there are.
    #[command(after_help = EXAMPLES, after_long_help = EXAMPLES)]
    Top(Top),
}

#[derive(Debug, Args)]
pub(crate) struct Top {
    #[command(flatten)]
    pub(crate) recordings: Recordings,
    /// How many flows are shown
    #[arg(long, default_value_t = 20, value_parser = parse::count::<1>, value_name = "FLOWS")]
    pub(crate) count: usize,
    /// What is greatest in the first flow
    #[arg(long, value_enum, default_value_t = By::Packets)]
    pub(crate) by: By,
    /// Write the result as JSON
    #[arg(long)]
    pub(crate) json: bool,
}

/// What flows are ordered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// Packets sent, and those of the receiver only
    Packets,
    /// Mean delay
    Delay,
    /// Packets lost
    Loss,
}

impl By {
    /// Which flow comes first; those that are alike stay in the order of their addresses.
    fn compare(self, one: &FlowTruth, other: &FlowTruth) -> Ordering {
        let packets = |flow: &FlowTruth| flow.truth.sent.saturating_add(flow.surplus);
        let delay = |flow: &FlowTruth| flow.truth.delay.map_or(f64::NEG_INFINITY, |delay| delay.mean_ns);
        match self {
            By::Packets => packets(other).cmp(&packets(one)),
            By::Delay => delay(other).total_cmp(&delay(one)),
            By::Loss => other.truth.lost.cmp(&one.truth.lost),
        }
    }
}

/// The first flows of an order.
struct First {
    by: By,
    count: usize,
    flows: Vec<FlowTruth>,
    /// All flows that there are.
    all: u64,
}

impl First {
    fn take(&mut self, flow: FlowTruth) {
        self.all += 1;
        self.flows.push(flow);
        if self.flows.len() >= self.count.saturating_mul(2).saturating_add(1024) {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.flows.sort_by(|one, other| self.by.compare(one, other));
        self.flows.truncate(self.count);
    }
}

#[derive(Serialize)]
struct FlowOutput {
    source: String,
    destination: String,
    source_port: Option<u16>,
    destination_port: Option<u16>,
    protocol: u8,
    sent: u64,
    received: u64,
    lost: u64,
    surplus: u64,
    mean_ns: Option<f64>,
    mean_ci95_ns: Option<[f64; 2]>,
    std_ns: Option<f64>,
    reason: Option<String>,
}

impl From<&FlowTruth> for FlowOutput {
    fn from(flow: &FlowTruth) -> Self {
        let delay = flow.truth.delay;
        let reason = match (delay, flow.alike) {
            (None, _) if flow.truth.sent == 0 => Some("no packet was sent".into()),
            (None, _) => Some("no packet was received".into()),
            (Some(_), 0) => None,
            (Some(_), alike) => Some(format!(
                "{alike} packets look like others: which of them is which, and which were lost, is a guess by their times"
            )),
        };
        FlowOutput {
            source: flow.source.to_string(),
            destination: flow.destination.to_string(),
            source_port: flow.ports.map(|[port, _]| port),
            destination_port: flow.ports.map(|[_, port]| port),
            protocol: flow.protocol,
            sent: flow.truth.sent,
            received: flow.truth.received,
            lost: flow.truth.lost,
            surplus: flow.surplus,
            mean_ns: delay.map(|delay| delay.mean_ns),
            // Every packet is counted: nothing is estimated, unless packets look alike.
            mean_ci95_ns: delay.filter(|_| flow.alike == 0).map(|delay| [delay.mean_ns; 2]),
            std_ns: delay.map(|delay| delay.std_ns),
            reason,
        }
    }
}

pub(crate) fn top(arguments: &Top) -> Result<Exit, Failure> {
    let recordings = &arguments.recordings;
    recordings.check()?;
    recordings.check_addresses()?;
    let mut remarks = vec![];
    let mut surveys = Surveys::default();
    let common = if recordings.are_files() { Some(Common::of(recordings)?) } else { None };
    remarks.extend(common.as_ref().map_or(vec![READ_ONCE.into()], |common| common.remarks.clone()));
    let edges = common.and_then(|common| common.edges);
    let matcher = truth::read(recordings, edges.as_ref(), &mut surveys, &mut remarks)?;
    let mut first = First { by: arguments.by, count: arguments.count, flows: vec![], all: 0 };
    let matched =
        working("matching packets with packets", || matcher.finish_by_flow(|flow| first.take(flow)))?;
    first.cut();
    if matched.overall.received == 0 {
        check_common(recordings, [matched.sender, matched.receiver], &surveys, &remarks)?;
    }
    let (exit, mut warnings) = truth::judged(recordings, &matched, edges.as_ref(), &surveys, remarks)?;
    let beyond = first.all - first.flows.len() as u64;
    if beyond > 0 {
        warnings.push(format!("{beyond} of {} flows are not shown; see --count", first.all));
    }
    let flows: Vec<FlowOutput> = first.flows.iter().map(FlowOutput::from).collect();
    if arguments.json {
        report::print_json(&flows)?;
    } else {
        report::print(&table(&flows))?;
    }
    warnings.iter().for_each(|warning| report::say(warning));
    Ok(exit)
}

fn table(flows: &[FlowOutput]) -> String {
    let mut table = report::table(&[
        "source",
        "port",
        "destination",
        "port",
        "protocol",
        "sent",
        "received",
        "lost",
        "surplus",
        "mean",
        "std",
    ]);
    for flow in flows {
        let port = |port: Option<u16>| or_none(port, |port| port.to_string());
        // A guess is marked.
        let guess = if flow.reason.is_some() { "~" } else { "" };
        let time = |time: Option<f64>| or_none(time, |time| format!("{guess}{}", duration(time)));
        table.add_row([
            flow.source.clone(),
            port(flow.source_port),
            flow.destination.clone(),
            port(flow.destination_port),
            flow.protocol.to_string(),
            flow.sent.to_string(),
            flow.received.to_string(),
            flow.lost.to_string(),
            flow.surplus.to_string(),
            time(flow.mean_ns),
            time(flow.std_ns),
        ]);
    }
    let note = if flows.iter().any(|flow| flow.reason.is_some() && flow.mean_ns.is_some()) {
        "~ packets of this flow look like others: which of them is which is a guess by their times\n"
    } else {
        ""
    };
    format!("{table}\n{note}")
}
