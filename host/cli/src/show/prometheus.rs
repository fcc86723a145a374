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
//! | `deltaline_delay_p50_seconds`, `..._p90_...`, `..._p99_...` | gauge | segment | quantiles of the last interval with digests, `_lower` and `_upper` as above |
//! | `deltaline_loss_ratio` | gauge | segment | share of packets lost in the last interval |
//! | `deltaline_last_interval_timestamp_seconds` | gauge | segment | when the last usable interval was reported |
//!
//! What is not known of the last interval has no sample: absence is an alarm, a zero would be a lie.
//!
//! Of numbers, this file knows the units only: what is served is what has a metric in its definition.
//!
//! # Test plan
//!
//! Scraped while a board is read (`tests/read.rs`): the text passes a strict OpenMetrics parser, with types and units;
//! the figures are those of the JSON lines; a void interval removes its segment's gauges.

use crate::exit::{Exit, Failure};
use crate::report;
use deltaline_collect::summary::Figures;
use deltaline_estimate::quantity::{Metric, Number, Quantity, Unit};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeLabelSet, EncodeLabelValue, EncodeMetric, LabelValueEncoder,
};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{self, Registry};
use std::collections::BTreeMap;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::SystemTime;
use tiny_http::{Header, Method, Request, Response, Server};

const NANOSECONDS_A_SECOND: f64 = 1e9;
const CONTENT_TYPE: &str = "Content-Type: application/openmetrics-text; version=1.0.0; charset=utf-8";

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Segment {
    segment: u32,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Intervals {
    segment: u32,
    result: Usable,
}

#[derive(Clone, Copy, Debug, Hash, PartialEq, Eq)]
enum Usable {
    Yes,
    No,
}

impl EncodeLabelValue for Usable {
    fn encode(&self, encoder: &mut LabelValueEncoder) -> fmt::Result {
        let name = match self {
            Usable::Yes => "usable",
            Usable::No => "void",
        };
        name.encode(encoder)
    }
}

type Value = Gauge<f64, AtomicU64>;

/// A metric of every segment.
#[derive(Clone, Debug)]
enum Series {
    /// Packets, added up.
    Packets(Family<Segment, Counter>),
    /// Seconds of the last interval.
    Seconds(Family<Segment, Value>),
    /// A share in the last interval.
    Ratio(Family<Segment, Value>),
}

/// What numbers the intervals have brought, by the metric's name; numbers that no interval has brought yet are not there.
#[derive(Clone, Debug, Default)]
struct Numbers(Arc<Mutex<BTreeMap<String, (String, Series)>>>);

impl Numbers {
    /// Sets a segment's last value; what is not known has no sample.
    fn set(&self, name: &str, help: &str, segment: u32, value: Option<f64>, series: fn() -> Series) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, series) = all.entry(name.into()).or_insert_with(|| (help.into(), series()));
        let labels = Segment { segment };
        match (series, value) {
            (Series::Seconds(family) | Series::Ratio(family), Some(value)) => {
                family.get_or_create(&labels).set(value);
            }
            (Series::Seconds(family) | Series::Ratio(family), None) => _ = family.remove(&labels),
            (Series::Packets(family), value) => {
                family.get_or_create(&labels).inc_by(value.map_or(0, |value| value as u64));
            }
        }
    }

    /// Forgets a segment's values of the last interval; what is added up stays.
    fn forget(&self, segment: u32) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (_, series) in all.values_mut() {
            if let Series::Seconds(family) | Series::Ratio(family) = series {
                family.remove(&Segment { segment });
            }
        }
    }

    /// What a quantity says of the last interval.
    fn take(&self, segment: u32, quantity: &Quantity) {
        let value = quantity.value.ok().map(Number::to_f64);
        let ratio = || Series::Ratio(Family::default());
        if let Some(Metric { name, help }) = quantity.what.share {
            let samples = quantity.samples.filter(|samples| *samples > 0);
            let share = value.zip(samples).map(|(value, samples)| value / samples as f64);
            self.set(name, help, segment, share, ratio);
        }
        let Some(Metric { name, help }) = quantity.what.metric else { return };
        if quantity.what.unit == Unit::Packets {
            return self.set(name, help, segment, value, || Series::Packets(Family::default()));
        }
        let seconds = || Series::Seconds(Family::default());
        self.set(name, help, segment, value.map(|value| value / NANOSECONDS_A_SECOND), seconds);
        let Some(range) = quantity.range else { return };
        let known = value.and(range.ok());
        for (end, which) in [("lower", 0), ("upper", 1)] {
            let help = format!("The {end} end of its 95 % confidence interval: {help}");
            let value = known.map(|range| range[which] / NANOSECONDS_A_SECOND);
            self.set(&format!("{name}_{end}"), &help, segment, value, seconds);
        }
    }
}

impl Collector for Numbers {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (name, (help, series)) in all.iter() {
            let packets = registry::Unit::Other("packets".into());
            let ratio = registry::Unit::Other("ratio".into());
            match series {
                Series::Packets(family) => put(&mut encoder, name, help, &packets, family)?,
                Series::Seconds(family) => put(&mut encoder, name, help, &registry::Unit::Seconds, family)?,
                Series::Ratio(family) => put(&mut encoder, name, help, &ratio, family)?,
            }
        }
        Ok(())
    }
}

/// One metric of all segments.
fn put(
    encoder: &mut DescriptorEncoder,
    name: &str,
    help: &str,
    unit: &registry::Unit,
    metric: &impl EncodeMetric,
) -> fmt::Result {
    let metric_encoder = encoder.encode_descriptor(name, help, Some(unit), metric.metric_type())?;
    metric.encode(metric_encoder)
}

/// The figures that are served.
#[derive(Default)]
pub(crate) struct Metrics {
    up: Gauge,
    reconnects: Counter,
    bad: Counter,
    intervals: Family<Intervals, Counter>,
    missing: Family<Segment, Counter>,
    reported: Family<Segment, Value>,
    numbers: Numbers,
}

impl Metrics {
    /// Begins to serve them.
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

    /// What is served.
    #[cfg(test)]
    pub(super) fn text(&self) -> Result<String, fmt::Error> {
        let mut text = String::new();
        encode(&mut text, &self.registry())?;
        Ok(text)
    }

    fn registry(&self) -> Registry {
        let mut all = Registry::with_prefix("deltaline");
        all.register("source_up", "1 while the source is there, 0 while it is away", self.up.clone());
        all.register("reconnects", "How often the source came back", self.reconnects.clone());
        all.register("bad_frames", "Frames and messages that were corrupted", self.bad.clone());
        all.register("intervals", "Intervals reported, usable or void", self.intervals.clone());
        all.register("missing_intervals", "Intervals of which nothing arrived", self.missing.clone());
        let (name, help) = ("last_interval_timestamp", "When the last usable interval was reported");
        all.register_with_unit(name, help, registry::Unit::Seconds, self.reported.clone());
        all.register_collector(Box::new(self.numbers.clone()));
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
        let result = if is_usable { Usable::Yes } else { Usable::No };
        self.intervals.get_or_create(&Intervals { segment, result }).inc();
        // A quantity that this interval does not have must not keep the value of an earlier one.
        self.numbers.forget(segment);
        for quantity in figures.quantities() {
            self.numbers.take(segment, quantity);
        }
        if is_usable && let Ok(now) = SystemTime::UNIX_EPOCH.elapsed() {
            self.reported.get_or_create(&Segment { segment }).set(now.as_secs_f64());
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
