//! Flows as the program writes them.

use crate::report::{self, duration, or_none};
use deltaline_capture::flows::FlowTruth;
use deltaline_collect::truth::{Exact, Stamps};
use deltaline_estimate::Reason;
use deltaline_model::packet::flow::FlowFields;
use ipnet::IpNet;
use serde::{Serialize, Serializer};
use std::net::IpAddr;

/// A flow.
#[derive(Serialize)]
pub(crate) struct FlowOutput {
    #[serde(serialize_with = "as_text")]
    pub(crate) source: IpNet,
    #[serde(serialize_with = "as_text")]
    pub(crate) destination: IpNet,
    pub(crate) source_port: Option<u16>,
    pub(crate) destination_port: Option<u16>,
    pub(crate) protocol: Option<u8>,
    joined: bool,
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) lost: u64,
    pub(crate) surplus: u64,
    pub(crate) mean_ns: Option<f64>,
    pub(crate) mean_ci95_ns: Option<[f64; 2]>,
    pub(crate) std_ns: Option<f64>,
    pub(crate) reason: Option<String>,
    /// Which of several packets is which is one.
    #[serde(skip)]
    is_guess: bool,
    /// Its packets are told by their first extension header.
    #[serde(skip)]
    pub(crate) is_behind_header: bool,
}

/// What may stand between an IPv6 header and that of its protocol (RFC 8200, section 4; RFC 6275, 7401, 5533).
const EXTENSION_HEADERS: [u8; 7] = [0, 43, 44, 60, 135, 139, 140];

impl FlowOutput {
    /// Packets that the flow is known by.
    pub(crate) fn packets(&self) -> u64 {
        self.sent.saturating_add(self.surplus)
    }
}

impl FlowOutput {
    /// A flow of recordings with these stamps, as these fields tell them apart.
    pub(crate) fn of(flow: &FlowTruth, fields: &FlowFields, stamps: Stamps) -> Self {
        let exact = Exact::from(flow.truth);
        let (mean, deviation) = (exact.mean(stamps), exact.deviation(stamps));
        let alike = (flow.alike > 0 && exact.delay.is_some()).then(|| {
            format!(
                "{} packets look like others: which of them is which, and which were lost, is a guess by their times",
                flow.alike
            )
        });
        let refused = match (flow.truth.sent, mean, deviation) {
            (0, ..) => Some("no packet was sent".into()),
            (_, Err(Reason::NothingReceived), _) => Some("no packet was received".into()),
            (_, Err(reason), _) => Some(reason.to_string()),
            (_, _, Err(reason)) => Some(format!("std_ns: {reason}")),
            _ => None,
        };
        let header = fields.protocol && flow.source.is_ipv6() && EXTENSION_HEADERS.contains(&flow.protocol);
        let behind_header = header.then(|| {
            format!(
                "packets with extension header {}, told by it and their addresses alone: behind it there may be several protocols and ports",
                flow.protocol
            )
        });
        let reasons: Vec<String> = refused.into_iter().chain(alike).chain(behind_header).collect();
        let mean = mean.ok();
        FlowOutput {
            source: network(flow.source, fields.source),
            destination: network(flow.destination, fields.destination),
            source_port: flow.ports.map(|[port, _]| port).filter(|_| fields.source_port),
            destination_port: flow.ports.map(|[_, port]| port).filter(|_| fields.destination_port),
            protocol: fields.protocol.then_some(flow.protocol),
            joined: fields.are_joined,
            sent: flow.truth.sent,
            received: flow.truth.received,
            lost: flow.truth.lost,
            surplus: flow.surplus,
            mean_ns: mean,
            // Every packet is counted: nothing is estimated, unless packets look alike.
            mean_ci95_ns: mean.filter(|_| flow.alike == 0).map(|mean| [mean; 2]),
            std_ns: deviation.ok(),
            reason: (!reasons.is_empty()).then(|| reasons.join("; ")),
            is_guess: flow.alike > 0,
            is_behind_header: header,
        }
    }
}

/// The network of an address, of which so many bits count in IPv4 and in IPv6.
fn network(address: IpAddr, [short, long]: [u8; 2]) -> IpNet {
    let whole = IpNet::from(address);
    let bits = if address.is_ipv4() { short } else { long };
    IpNet::new(address, bits.min(whole.max_prefix_len())).unwrap_or(whole)
}

/// A host is written without the number of its bits.
fn text(network: &IpNet) -> String {
    match network.prefix_len() == network.max_prefix_len() {
        true => network.addr().to_string(),
        false => network.to_string(),
    }
}

fn as_text<S: Serializer>(network: &IpNet, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&text(network))
}

/// A table for people. What is a guess is marked.
pub(crate) fn table(flows: &[FlowOutput]) -> String {
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
        let guess = if flow.is_guess { "~" } else { "" };
        let time = |time: Option<f64>| or_none(time, |time| format!("{guess}{}", duration(time)));
        table.add_row([
            text(&flow.source),
            port(flow.source_port),
            text(&flow.destination),
            port(flow.destination_port),
            or_none(flow.protocol, |protocol| protocol.to_string()),
            flow.sent.to_string(),
            flow.received.to_string(),
            flow.lost.to_string(),
            flow.surplus.to_string(),
            time(flow.mean_ns),
            time(flow.std_ns),
        ]);
    }
    let is_guess = |flow: &FlowOutput| flow.is_guess && flow.mean_ns.is_some();
    let note = match flows.iter().any(is_guess) {
        true => "~ packets of this flow look like others: which of them is which is a guess by their times\n",
        false => "",
    };
    format!("{table}\n{note}")
}
