//! Flows as the program writes them.

use crate::report::{self, duration, or_none};
use deltaline_capture::flows::FlowTruth;
use serde::Serialize;

/// A flow.
#[derive(Serialize)]
pub(crate) struct FlowOutput {
    pub(crate) source: String,
    pub(crate) destination: String,
    pub(crate) source_port: Option<u16>,
    pub(crate) destination_port: Option<u16>,
    pub(crate) protocol: u8,
    pub(crate) sent: u64,
    pub(crate) received: u64,
    pub(crate) lost: u64,
    pub(crate) surplus: u64,
    pub(crate) mean_ns: Option<f64>,
    pub(crate) mean_ci95_ns: Option<[f64; 2]>,
    pub(crate) std_ns: Option<f64>,
    pub(crate) reason: Option<String>,
}

impl FlowOutput {
    /// Packets that the flow is known by.
    pub(crate) fn packets(&self) -> u64 {
        self.sent.saturating_add(self.surplus)
    }
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
    let is_guess = |flow: &FlowOutput| flow.reason.is_some() && flow.mean_ns.is_some();
    let note = match flows.iter().any(is_guess) {
        true => "~ packets of this flow look like others: which of them is which is a guess by their times\n",
        false => "",
    };
    format!("{table}\n{note}")
}
