//! The figures for Prometheus, in the OpenMetrics text format.
//!
//! | metric | type | labels | meaning |
//! |--------|------|--------|---------|
//! | `deltaline_source_up` | gauge | | 1 while the source is there |
//! | `deltaline_reconnects_total` | counter | | how often it came back |
//! | `deltaline_bad_frames_total` | counter | | frames and messages that were corrupted |
//! | `deltaline_intervals_total` | counter | segment, result | intervals, `usable` or `void` |
//! | `deltaline_missing_intervals_total` | counter | segment | intervals of which nothing arrived |
//! | `deltaline_sent_packets_total` | counter | segment | packets that passed the sender in usable intervals |
//! | `deltaline_received_packets_total` | counter | segment | packets that passed the receiver in these |
//! | `deltaline_lost_packets_total` | counter | segment | packets lost in these |
//! | `deltaline_delay_mean_seconds` | gauge | segment | mean delay of the last interval |
//! | `deltaline_delay_mean_lower_seconds`, `..._upper_seconds` | gauge | segment | its 95 % confidence interval |
//! | `deltaline_delay_deviation_seconds` | gauge | segment | standard deviation of the last interval |
//! | `deltaline_loss_ratio` | gauge | segment | share of packets lost in the last interval |
//! | `deltaline_last_interval_timestamp_seconds` | gauge | segment | when the last usable interval was reported |
//!
//! What is not known of the last interval has no sample: absence is an alarm, a zero would be a lie.
//!
//! # Test plan
//!
//! Scraped while a board is read (`tests/read.rs`): the text passes a strict OpenMetrics parser, with types and units;
//! the figures are those of the JSON lines; a void interval removes its segment's gauges.

use crate::exit::{Exit, Failure};
use crate::report;
use crate::results::Figures;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::thread;
use std::time::SystemTime;
use tiny_http::{Header, Method, Request, Response, Server};

const CONTENT_TYPE: &str = "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Segment {
    segment: u32,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Intervals {
    segment: u32,
    result: Outcome,
}

#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
enum Outcome {
    Usable,
    Void,
}

impl EncodeLabelValue for Outcome {
    fn encode(&self, encoder: &mut LabelValueEncoder) -> fmt::Result {
        let name = match self {
            Outcome::Usable => "usable",
            Outcome::Void => "void",
        };
        name.encode(encoder)
    }
}

type Value = Gauge<f64, AtomicU64>;
type Values = Family<Segment, Value>;
type Counters = Family<Segment, Counter>;

/// The figures that are served.
#[derive(Default)]
pub(crate) struct Metrics {
    up: Gauge,
    reconnects: Counter,
    bad: Counter,
    intervals: Family<Intervals, Counter>,
    missing: Counters,
    sent: Counters,
    received: Counters,
    lost: Counters,
    mean: Values,
    lower: Values,
    upper: Values,
    deviation: Values,
    loss: Values,
    reported: Values,
}

impl Metrics {
    /// Starts to serve them.
    pub(crate) fn serve(address: SocketAddr) -> Result<Self, Failure> {
        let server = Server::http(address).map_err(|reason| {
            let message =
                format!("--prometheus {address}: cannot be served: {reason}; choose another address or port");
            Failure::new(Exit::Output, message)
        })?;
        report::say(&format!("figures for Prometheus at http://{}/metrics", server.server_addr()));
        let metrics = Metrics::default();
        let registry = Arc::new(metrics.registry());
        metrics.up.set(1);
        thread::spawn(move || {
            // A scraper that went away is no error.
            server.incoming_requests().for_each(|request| drop(answer(&registry, request)));
        });
        Ok(metrics)
    }

    fn registry(&self) -> Registry {
        let packets = || Unit::Other("packets".into());
        let mut all = Registry::with_prefix("deltaline");
        all.register("source_up", "1 while the source is there, 0 while it is away", self.up.clone());
        all.register("reconnects", "How often the source came back", self.reconnects.clone());
        all.register("bad_frames", "Frames and messages that were corrupted", self.bad.clone());
        all.register("intervals", "Intervals reported, usable or void", self.intervals.clone());
        all.register("missing_intervals", "Intervals of which nothing arrived", self.missing.clone());
        for (name, help, counters) in [
            ("sent", "Packets that passed the sender in usable intervals", &self.sent),
            ("received", "Packets that passed the receiver in usable intervals", &self.received),
            ("lost", "Packets lost in usable intervals", &self.lost),
        ] {
            all.register_with_unit(name, help, packets(), counters.clone());
        }
        for (name, help, values) in [
            ("delay_mean", "Mean delay of the last interval", &self.mean),
            ("delay_mean_lower", "Lower end of the mean's 95 % confidence interval", &self.lower),
            ("delay_mean_upper", "Upper end of the mean's 95 % confidence interval", &self.upper),
            ("delay_deviation", "Standard deviation of delay in the last interval", &self.deviation),
            ("last_interval_timestamp", "When the last usable interval was reported", &self.reported),
        ] {
            all.register_with_unit(name, help, Unit::Seconds, values.clone());
        }
        let help = "Share of packets lost in the last interval";
        all.register_with_unit("loss", help, Unit::Other("ratio".into()), self.loss.clone());
        all
    }

    pub(crate) fn connected(&self, is_connected: bool) {
        self.up.set(is_connected.into());
        if is_connected {
            self.reconnects.inc();
        }
    }

    pub(crate) fn bad(&self) {
        self.bad.inc();
    }

    pub(crate) fn missing(&self, segment: u32, intervals: u64) {
        self.missing.get_or_create(&Segment { segment }).inc_by(intervals);
    }

    /// An interval has been reported.
    pub(crate) fn interval(&self, segment: u32, is_usable: bool, figures: &Figures) {
        let result = if is_usable { Outcome::Usable } else { Outcome::Void };
        self.intervals.get_or_create(&Intervals { segment, result }).inc();
        let labels = Segment { segment };
        for (counters, packets) in
            [(&self.sent, figures.sent), (&self.received, figures.received), (&self.lost, figures.lost)]
        {
            counters.get_or_create(&labels).inc_by(packets.unwrap_or(0));
        }
        let seconds = |nanoseconds: Option<f64>| nanoseconds.map(|nanoseconds| nanoseconds / 1e9);
        let range = figures.mean_ci95_ns;
        let sent = figures.sent.filter(|sent| *sent > 0);
        for (values, value) in [
            (&self.mean, seconds(figures.mean_ns)),
            (&self.lower, seconds(range.map(|[lower, _]| lower))),
            (&self.upper, seconds(range.map(|[_, upper]| upper))),
            (&self.deviation, seconds(figures.std_ns)),
            (&self.loss, figures.lost.zip(sent).map(|(lost, sent)| lost as f64 / sent as f64)),
        ] {
            match value {
                Some(value) => _ = values.get_or_create(&labels).set(value),
                None => _ = values.remove(&labels),
            }
        }
        if is_usable && let Ok(now) = SystemTime::UNIX_EPOCH.elapsed() {
            self.reported.get_or_create(&labels).set(now.as_secs_f64());
        }
    }
}

fn answer(registry: &Registry, request: Request) -> io::Result<()> {
    if request.url() != "/metrics" {
        let hint = "Deltaline: the figures are at /metrics\n";
        return request.respond(Response::from_string(hint).with_status_code(404));
    }
    if *request.method() != Method::Get {
        return request.respond(Response::empty(405));
    }
    let mut text = String::new();
    match (encode(&mut text, registry), CONTENT_TYPE.parse::<Header>()) {
        (Ok(()), Ok(kind)) => request.respond(Response::from_string(text).with_header(kind)),
        _ => request.respond(Response::empty(500)),
    }
}
