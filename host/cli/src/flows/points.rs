//! `deltaline read --flows` and `deltaline query --flows`: single flows from measurement points whose cells are of flows.
//!
//! # Test plan
//!
//! `tests/flows_of_points.rs`, `tests/flows_of_a_store.rs`.

use crate::described;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::flows::By;
use crate::parse;
use crate::report::{self, duration, or_none};
use clap::Args;
use deltaline_collect::flows::{Asked, Chosen, NoFlows, ReadFlow, Worst};
use deltaline_collect::follower::Followed;
use deltaline_estimate::lds::{Bounds, FlowReading, HeldMean};
use deltaline_model::packet::flow::{FLOW_BYTES, FlowKey, PROTOCOLS_WITH_PORTS};
use serde::{Deserialize, Serialize};
use std::fmt::Display;
use std::net::IpAddr;
use std::path::{Path, PathBuf};

/// Most flows that are asked for.
const MOST_ASKED: usize = 2000;

/// A flow as `deltaline flows --json` writes it; what else is there is left alone.
#[derive(Deserialize)]
struct Named {
    source: IpAddr,
    destination: IpAddr,
    #[serde(default)]
    source_port: Option<u16>,
    #[serde(default)]
    destination_port: Option<u16>,
    protocol: u8,
    /// Whether both directions are meant.
    #[serde(default)]
    joined: bool,
}

impl Named {
    /// The flow's key; none where its ends are of different versions of IP.
    fn key(&self) -> Option<FlowKey> {
        let mut bytes = [0; FLOW_BYTES];
        bytes[1] = self.protocol;
        match (self.source, self.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                bytes[0] = 4;
                bytes[2..6].copy_from_slice(&source.octets());
                bytes[6..10].copy_from_slice(&destination.octets());
            }
            (IpAddr::V6(source), IpAddr::V6(destination)) => {
                bytes[0] = 6;
                bytes[2..18].copy_from_slice(&source.octets());
                bytes[18..34].copy_from_slice(&destination.octets());
            }
            _ => return None,
        }
        bytes[34..36].copy_from_slice(&self.source_port.unwrap_or(0).to_be_bytes());
        bytes[36..38].copy_from_slice(&self.destination_port.unwrap_or(0).to_be_bytes());
        Some(FlowKey::from(bytes))
    }
}

/// Which flows of an interval are shown.
#[derive(Debug, Args)]
pub(crate) struct WorstFlows {
    /// Show of each interval the worst of the flows that this file names, as `deltaline flows top --json` writes them: of points whose
    /// design has the synopsis lds or colate, and of which --design is given
    ///
    /// Flows are five-tuples, each direction one of its own: of a file of `flows --joined` both are asked, and one of `--fields` is none. The fewer are named,
    /// the surer is each answer; two hundred take some hundredths of a second an interval, two thousand up to a second; with colate,
    /// where packets were lost, some seconds.
    #[arg(long = "flows", value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// How many of them are shown at most
    #[arg(long, default_value_t = 20, value_parser = parse::count::<1>, value_name = "FLOWS", requires = "file")]
    count: usize,
    /// What is greatest in the first flow, for certain
    #[arg(long, value_enum, default_value_t = By::Delay, requires = "file")]
    by: By,
}

impl WorstFlows {
    /// The flows of the file, asked at the points of a design; none without a file.
    pub(crate) fn asked(&self, design: Option<&str>) -> Result<Option<Asked>, Failure> {
        self.file.as_deref().map(|path| asked(path, design)).transpose()
    }

    /// The worst of them in an interval.
    pub(crate) fn of(&self, asked: &Asked, followed: &Followed) -> Result<Chosen, NoFlows> {
        asked.worst(followed, self.by.into(), self.count)
    }
}

/// The flows of a file, asked at the points of a design.
fn asked(path: &Path, design: Option<&str>) -> Result<Asked, Failure> {
    let at = path.display();
    let Some(design) = design else {
        let message = "--flows: which cells are a flow's, the design says; give --design FILE";
        return Err(Failure::new(Exit::Usage, message));
    };
    let bad = |reason: String| Failure::new(Exit::Input, format!("{at}: {reason}")).of_file(&at);
    let text =
        std::fs::read(path).map_err(|error| bad(format!("cannot be read: {error}; check the name")))?;
    // Editors of some systems begin every text with a byte order mark.
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&text);
    let form = "give an array of flows with source, destination, source_port, destination_port and protocol, as `deltaline flows top --json` \
                writes it without --fields";
    let flows: Vec<Named> =
        serde_json::from_slice(text).map_err(|error| bad(format!("is no list of flows: {error}; {form}")))?;
    let (mut keys, mut without_ports, mut mapped) = (vec![], 0, 0);
    for (place, flow) in flows.iter().enumerate() {
        let Named { source, destination, .. } = flow;
        if flow.source_port.is_some() != flow.destination_port.is_some() {
            return Err(bad(format!("flow {place}: has one of its two ports; {form}")));
        }
        let has_ports = PROTOCOLS_WITH_PORTS.contains(&flow.protocol);
        if flow.source_port.is_some() && !has_ports {
            return Err(bad(format!(
                "flow {place}: packets of protocol {} have no ports, so no packet is of this flow; leave its ports out",
                flow.protocol
            )));
        }
        let key = flow.key().ok_or_else(|| {
            bad(format!(
                "flow {place}: {source} and {destination} are addresses of different versions of IP; {form}"
            ))
        })?;
        without_ports += usize::from(has_ports && flow.source_port.is_none());
        mapped += usize::from([source, destination].iter().any(|address| is_mapped(**address)));
        keys.push(key);
        keys.extend(flow.joined.then(|| key.swapped()));
    }
    if keys.is_empty() {
        return Err(bad(format!("names no flow; {form}")));
    }
    let refused = |error: NoFlows| Failure::new(Exit::Configuration, format!("--design {design}: {error}"));
    let asked = Asked::new(described::named(design)?.configuration(), keys).map_err(refused)?;
    if asked.count() > MOST_ASKED {
        let message = format!(
            "{at}: names {} flows: the more are asked for, the less is sure of any of them; name at most {MOST_ASKED}",
            asked.count()
        );
        return Err(Failure::new(Exit::Refused, message));
    }
    if without_ports > 0 {
        report::say(&format!(
            "{at}: {without_ports} flows are of protocols with ports, and have none: only their fragments without are read; name ports to read the rest"
        ));
    }
    if mapped > 0 {
        report::say(&format!(
            "{at}: {mapped} flows have addresses such as ::ffff:192.0.2.1, by which programs of IPv6 name hosts of IPv4: packets of IPv4 are not read under these; \
             give 192.0.2.1 for them"
        ));
    }
    Ok(asked)
}

/// Whether it is an address of IPv4 in the form of IPv6 (RFC 4291, section 2.5.5.2), which packets do not have.
fn is_mapped(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(address) if address.to_ipv4_mapped().is_some())
}

/// What an interval says of the flows that are shown.
#[derive(Serialize)]
pub(crate) struct FlowsOutput {
    segment: u32,
    interval: u32,
    /// Flows that are asked for.
    asked: usize,
    /// Of these, flows that may have packets in this interval.
    seen: Option<usize>,
    /// Of these, flows without a mean; by jitter, without a deviation.
    refused: Option<usize>,
    /// Why most of these are.
    refused_reason: Option<String>,
    #[serde(skip)]
    lacking: &'static str,
    flows: Vec<FlowOutput>,
    /// Why there are none.
    reason: Option<String>,
}

/// A flow.
#[derive(Serialize)]
struct FlowOutput {
    source: IpAddr,
    destination: IpAddr,
    source_port: Option<u16>,
    destination_port: Option<u16>,
    protocol: u8,
    sent_ci95: [i64; 2],
    net_ci95: [i64; 2],
    mean_ns: Option<f64>,
    mean_ci95_ns: Option<[f64; 2]>,
    sample_share: Option<f64>,
    sample_mean_ns: Option<f64>,
    sample_mean_ci95_ns: Option<[f64; 2]>,
    reason: Option<String>,
    std_ns: Option<f64>,
    std_ci95_ns: Option<[f64; 2]>,
    std_reason: Option<String>,
}

impl FlowOutput {
    fn of(ReadFlow { flow, reading, deviation }: &ReadFlow) -> Self {
        let FlowReading { sent, net, mean } = reading;
        let ports = flow.ports();
        let whole = |bounds: &Bounds| [bounds.least.ceil() as i64, bounds.most.floor() as i64];
        let of_all = mean.ok().filter(|mean| mean.share == 1.0);
        let of_sample = mean.ok().filter(|mean| mean.share < 1.0);
        let range = |mean: HeldMean| [mean.range.lower, mean.range.upper];
        let sampled = of_sample.map(|mean| {
            format!(
                "the flow lost packets: what is known is the mean of {:.0} in 100 of those that arrived, drawn by lot",
                100.0 * mean.share
            )
        });
        FlowOutput {
            source: flow.source(),
            destination: flow.destination(),
            source_port: ports.map(|[port, _]| port),
            destination_port: ports.map(|[_, port]| port),
            protocol: flow.protocol(),
            sent_ci95: whole(sent),
            net_ci95: whole(net),
            mean_ns: of_all.map(|mean| mean.nanoseconds),
            mean_ci95_ns: of_all.map(range),
            sample_share: of_sample.map(|mean| mean.share),
            sample_mean_ns: of_sample.map(|mean| mean.nanoseconds),
            sample_mean_ci95_ns: of_sample.map(range),
            reason: sampled.or(mean.err().map(|reason| reason.to_string())),
            std_ns: deviation.ok().map(|deviation| deviation.nanoseconds),
            std_ci95_ns: deviation.ok().map(|deviation| [deviation.range.lower, deviation.range.upper]),
            std_reason: deviation.err().map(|reason| reason.to_string()),
        }
    }
}

impl FlowsOutput {
    /// Of an interval, in which `asked` flows were asked for.
    pub(crate) fn of(
        (segment, interval): (u32, u32),
        asked: usize,
        read: Result<Chosen, impl Display>,
    ) -> Self {
        let chosen = read.as_ref().ok();
        FlowsOutput {
            segment,
            interval,
            asked,
            seen: chosen.map(|chosen| chosen.seen),
            refused: chosen.map(|chosen| chosen.refused),
            refused_reason: chosen.and_then(|chosen| chosen.reason).map(|reason| reason.to_string()),
            lacking: if chosen.is_some_and(|chosen| chosen.by == Worst::Jitter) {
                "deviation"
            } else {
                "mean"
            },
            flows: chosen.map_or(vec![], |chosen| chosen.flows.iter().map(FlowOutput::of).collect()),
            reason: read.as_ref().err().map(ToString::to_string),
        }
    }

    /// A table for people.
    pub(crate) fn text(&self) -> String {
        let FlowsOutput { segment, interval, asked, seen, refused, refused_reason, lacking, flows, reason } =
            self;
        let at = format!("segment {segment}, interval {interval}");
        if let Some(reason) = reason {
            return format!("{at}: nothing is said of flows: {reason}\n");
        }
        let mut table = report::table(&[
            "source",
            "port",
            "destination",
            "port",
            "protocol",
            "sent (95 %)",
            "lost, net (95 %)",
            "mean (95 %)",
            "of its packets",
            "deviation (95 %)",
        ]);
        let number = |[least, most]: [i64; 2]| {
            if least == most { most.to_string() } else { format!("{least} to {most}") }
        };
        let range = |[lower, upper]: [f64; 2]| format!("{} to {}", duration(lower), duration(upper));
        for flow in flows {
            let port = |port: Option<u16>| or_none(port, |port| port.to_string());
            table.add_row([
                flow.source.to_string(),
                port(flow.source_port),
                flow.destination.to_string(),
                port(flow.destination_port),
                flow.protocol.to_string(),
                number(flow.sent_ci95),
                number(flow.net_ci95),
                or_none(flow.mean_ci95_ns.or(flow.sample_mean_ci95_ns), range),
                match (flow.mean_ns, flow.sample_share) {
                    (Some(_), _) => "all".into(),
                    (_, share) => or_none(share, |share| format!("a random {:.0} %", 100.0 * share)),
                },
                or_none(flow.std_ci95_ns, range),
            ]);
        }
        let [seen, refused] = [seen, refused].map(|number| number.unwrap_or_default());
        let mostly =
            refused_reason.as_ref().map_or(String::new(), |reason| format!(", most because: {reason}"));
        format!(
            "{at}: {shown} of {asked} flows, {seen} of which may have packets here, {refused} of these without a {lacking}{mostly}\n{table}\n",
            shown = flows.len()
        )
    }
}
