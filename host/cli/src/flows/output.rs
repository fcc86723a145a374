//! Flows as the program writes them, whichever way they were found.

use crate::report::{self, duration, or_none};
use deltaline_capture::flows::FlowTruth;
use deltaline_estimate::colate::ColateEstimate;
use deltaline_estimate::lds::FlowEstimate;
use deltaline_estimate::{Confidence, Reason};
use deltaline_model::packet::flow::FlowKey;
use serde::Serialize;

/// A flow. Of a synopsis the counts are the most that it may be, and their ranges are beside them.
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
    pub(crate) surplus: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) sent_ci95: Option<[u64; 2]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lost_ci95: Option<[u64; 2]>,
    pub(crate) mean_ns: Option<f64>,
    pub(crate) mean_ci95_ns: Option<[f64; 2]>,
    pub(crate) std_ns: Option<f64>,
    pub(crate) reason: Option<String>,
}

impl FlowOutput {
    /// Packets that the flow is known by.
    pub(crate) fn packets(&self) -> u64 {
        self.sent.saturating_add(self.surplus.unwrap_or(0))
    }

    /// What a synopsis says of a flow.
    pub(crate) fn estimated(flow: &FlowKey, found: &FlowEstimate) -> Self {
        let whole = |bounds: deltaline_estimate::lds::Bounds| {
            [bounds.least.floor() as u64, bounds.most.ceil() as u64]
        };
        let [sent, lost] = [found.sent, found.lost].map(whole);
        let range = found.mean.and_then(|mean| mean.range(Confidence::P95));
        let reason = found.mean.err().or(range.err()).or(found.deviation.err());
        FlowOutput {
            source: flow.source().to_string(),
            destination: flow.destination().to_string(),
            source_port: flow.ports().map(|[port, _]| port),
            destination_port: flow.ports().map(|[_, port]| port),
            protocol: flow.protocol(),
            sent: sent[1],
            received: sent[1] - lost[1].min(sent[1]),
            lost: lost[1],
            surplus: None,
            sent_ci95: Some(sent),
            lost_ci95: Some(lost),
            mean_ns: found.mean.ok().map(|mean| mean.nanoseconds),
            mean_ci95_ns: range.ok().map(|range| [range.lower, range.upper]),
            // Where others hide the mean they hide the spread.
            std_ns: found.mean.and(found.deviation).ok(),
            reason: reason.map(|reason| reason.to_string()),
        }
    }
}

impl FlowOutput {
    /// What counters say of a flow whose packets were counted beside them, at the sender and at the receiver.
    pub(crate) fn counted(
        flow: &FlowKey,
        [sent, received]: [u64; 2],
        found: Result<ColateEstimate, Reason>,
    ) -> Self {
        let deviation = found.and_then(|found| found.deviation);
        FlowOutput {
            source: flow.source().to_string(),
            destination: flow.destination().to_string(),
            source_port: flow.ports().map(|[port, _]| port),
            destination_port: flow.ports().map(|[_, port]| port),
            protocol: flow.protocol(),
            sent,
            received,
            lost: sent.saturating_sub(received),
            surplus: None,
            sent_ci95: Some([sent; 2]),
            lost_ci95: Some([sent.saturating_sub(received); 2]),
            mean_ns: found.ok().map(|found| found.mean),
            mean_ci95_ns: found.ok().map(|found| [found.range.lower, found.range.upper]),
            std_ns: deviation.ok(),
            reason: found.err().or(deviation.err()).map(|reason| reason.to_string()),
        }
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
            surplus: Some(flow.surplus),
            sent_ci95: None,
            lost_ci95: None,
            mean_ns: delay.map(|delay| delay.mean_ns),
            // Every packet is counted: nothing is estimated, unless packets look alike.
            mean_ci95_ns: delay.filter(|_| flow.alike == 0).map(|delay| [delay.mean_ns; 2]),
            std_ns: delay.map(|delay| delay.std_ns),
            reason,
        }
    }
}

/// A table for people. What is a guess, or estimated, is marked.
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
        let is_estimated = flow.sent_ci95.is_some();
        let guess = if flow.reason.is_some() && !is_estimated { "~" } else { "" };
        let time = |time: Option<f64>| or_none(time, |time| format!("{guess}{}", duration(time)));
        let count = |most: u64, range: Option<[u64; 2]>| match range {
            Some([least, most]) if least < most => format!("{least} to {most}"),
            _ => most.to_string(),
        };
        let mean = match (flow.mean_ns, flow.mean_ci95_ns) {
            (Some(mean), Some([lower, upper])) if is_estimated => {
                format!("{} ± {}", duration(mean), duration(0.5 * (upper - lower)))
            }
            (mean, _) => time(mean),
        };
        table.add_row([
            flow.source.clone(),
            port(flow.source_port),
            flow.destination.clone(),
            port(flow.destination_port),
            flow.protocol.to_string(),
            count(flow.sent, flow.sent_ci95),
            if is_estimated { "".into() } else { flow.received.to_string() },
            count(flow.lost, flow.lost_ci95),
            or_none(flow.surplus, |surplus| surplus.to_string()),
            mean,
            time(flow.std_ns),
        ]);
    }
    let is_guess =
        |flow: &FlowOutput| flow.reason.is_some() && flow.mean_ns.is_some() && flow.surplus.is_some();
    let mut note = String::new();
    if flows.iter().any(is_guess) {
        note += "~ packets of this flow look like others: which of them is which is a guess by their times\n";
    }
    if let Some(reason) =
        flows.iter().filter(|flow| flow.mean_ns.is_none()).find_map(|flow| flow.reason.as_ref())
    {
        note += &format!("flows without a mean, such as: {reason}\n");
    }
    format!("{table}\n{note}")
}
