//! The figures for Prometheus, in the OpenMetrics text format.
//!
//! Every metric, with its labels and meaning: `docs/metrics.md`.
//!
//! What is not known of the last interval has no sample: absence is an alarm, a zero would be a lie. Counters and the
//! histogram miss no interval, however rarely they are scraped, and begin at 0 with their segment's first interval.
//!
//! Of numbers, this file knows the units only: what is served is what has a metric in its definition, and a histogram
//! the first delay that has a confidence interval by its kind.
//!
//! # Test plan
//!
//! Scraped while a board is read (`tests/prometheus.rs`): the text passes a strict OpenMetrics parser, with types and units;
//! each metric stands in `docs/metrics.md`, with its type;
//! the figures are those of the JSON lines; counters and histogram add up over all intervals; a void interval removes its
//! segment's gauges; of an end that falls silent while the other one goes on, the time of its last frame stands still. The endpoint's own plan is in [`crate::endpoint`].

use crate::allow::LeftOut;
use crate::endpoint::Endpoint;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::report;
use deltaline_collect::summary::Figures;
use deltaline_estimate::quantity::{Metric, Number, Quantity, Unit};
use deltaline_model::wire::frame::Role;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::encode;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeLabelSet, EncodeLabelValue, EncodeMetric, LabelValueEncoder,
};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{self, Registry};
use std::collections::BTreeMap;
use std::fmt;
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

const NANOSECONDS_A_SECOND: f64 = 1e9;
/// Seconds: 1, 2 and 5 of every decade.
const BUCKETS: [f64; 25] = [
    1e-7, 2e-7, 5e-7, 1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2,
    5e-2, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0,
];
/// The text is not written more often than takes a twentieth of the time.
const SHARE: u32 = 20;
/// But it is never older than this: writing may have taken long because the machine was busy.
const LONGEST: Duration = Duration::from_secs(1);

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

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Cause {
    reason: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct End {
    segment: u32,
    end: &'static str,
}

impl End {
    fn of(segment: u32, role: Role) -> Self {
        let end = match role {
            Role::Sender => "sender",
            Role::Receiver => "receiver",
        };
        End { segment, end }
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
    /// Seconds of all intervals, from 0 on.
    Distribution(Family<Segment, Histogram, fn() -> Histogram>),
    /// Intervals, added up.
    Intervals(Family<Segment, Counter>),
}

impl Series {
    fn is_empty(&self) -> bool {
        match self {
            Series::Seconds(family) | Series::Ratio(family) => family.is_empty(),
            Series::Packets(family) | Series::Intervals(family) => family.is_empty(),
            Series::Distribution(family) => family.is_empty(),
        }
    }

    fn distribution() -> Self {
        Series::Distribution(Family::new_with_constructor(|| Histogram::new(BUCKETS)))
    }
}

/// What numbers the intervals have brought, by the metric's name; numbers that no interval has brought yet are not there.
#[derive(Clone, Debug, Default)]
struct Numbers(Arc<Mutex<BTreeMap<String, (String, Series)>>>);

impl Numbers {
    /// Sets a segment's last value, or adds it where values add up. What is not known has no sample, and adds nothing to a counter, whose losses
    /// [`take`](Self::take) counts as unknown.
    fn set(&self, name: &str, help: &str, segment: u32, value: Option<f64>, series: fn() -> Series) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (_, series) = all.entry(name.into()).or_insert_with(|| (help.into(), series()));
        let labels = Segment { segment };
        match (series, value) {
            (Series::Seconds(family) | Series::Ratio(family), Some(value)) => {
                family.get_or_create(&labels).set(value);
            }
            (Series::Seconds(family) | Series::Ratio(family), None) => _ = family.remove(&labels),
            (Series::Packets(family) | Series::Intervals(family), value) => {
                family.get_or_create(&labels).inc_by(value.map_or(0, |value| value as u64));
            }
            (Series::Distribution(family), value) => {
                let histogram = family.get_or_create(&labels);
                value.iter().for_each(|value| histogram.observe(*value));
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

    /// Forgets all of a segment.
    fn remove(&self, segment: u32) {
        let (mut all, labels) = (self.0.lock().unwrap_or_else(PoisonError::into_inner), Segment { segment });
        for (_, series) in all.values_mut() {
            match series {
                Series::Seconds(family) | Series::Ratio(family) => family.remove(&labels),
                Series::Packets(family) | Series::Intervals(family) => family.remove(&labels),
                Series::Distribution(family) => family.remove(&labels),
            };
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
            // The counter of what it is a share of has nothing of this interval then, which it cannot say itself.
            let is_unknown = f64::from(u8::from(value.is_none()));
            let help = format!(
                "Intervals, void ones among them, whose {name} is not known: its counter has nothing of them"
            );
            let intervals = || Series::Intervals(Family::default());
            self.set(&format!("{name}_unknown"), &help, segment, Some(is_unknown), intervals);
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

    /// Adds an interval's delay to those of all intervals. A histogram of what may be negative has no sum that only grows,
    /// so that what is below 0 is counted beside it.
    fn distribute(&self, segment: u32, quantity: &Quantity) {
        let Some(Metric { name, .. }) = quantity.what.metric else { return };
        let delay = quantity.value.ok().map(|delay| delay.to_f64() / NANOSECONDS_A_SECOND);
        let is_negative = delay.is_some_and(|delay| delay < 0.0);
        let (negative, distribution) = (format!("negative_{name}"), format!("interval_{name}"));
        let help = format!("Intervals whose {name} is below 0, for a clock that is behind");
        let count = if is_negative { 1.0 } else { 0.0 };
        self.set(&negative, &help, segment, Some(count), || Series::Intervals(Family::default()));
        let help = format!("The {name} of every usable interval, from 0 on");
        self.set(&distribution, &help, segment, delay.filter(|_| !is_negative), Series::distribution);
    }
}

impl Collector for Numbers {
    fn encode(&self, mut encoder: DescriptorEncoder) -> fmt::Result {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // A metric without samples is not there: not all parsers take one.
        for (name, (help, series)) in all.iter().filter(|(_, (_, series))| !series.is_empty()) {
            let packets = registry::Unit::Other("packets".into());
            let ratio = registry::Unit::Other("ratio".into());
            let intervals = registry::Unit::Other("intervals".into());
            match series {
                Series::Packets(family) => put(&mut encoder, name, help, Some(&packets), family)?,
                Series::Seconds(family) => {
                    put(&mut encoder, name, help, Some(&registry::Unit::Seconds), family)?
                }
                Series::Ratio(family) => put(&mut encoder, name, help, Some(&ratio), family)?,
                // Its unit is in its name alone: not all parsers take a histogram's metadata.
                Series::Distribution(family) => {
                    put(&mut encoder, &format!("{name}_seconds"), help, None, family)?
                }
                Series::Intervals(family) => put(&mut encoder, name, help, Some(&intervals), family)?,
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
    unit: Option<&registry::Unit>,
    metric: &impl EncodeMetric,
) -> fmt::Result {
    let metric_encoder = encoder.encode_descriptor(name, help, unit, metric.metric_type())?;
    metric.encode(metric_encoder)
}

/// The figures that are served.
#[derive(Default)]
pub(crate) struct Metrics {
    up: Gauge,
    reconnects: Counter,
    bad: Counter,
    dropped: Counter,
    left_out: Family<Cause, Counter>,
    intervals: Family<Intervals, Counter>,
    missing: Family<Segment, Counter>,
    reported: Family<Segment, Value>,
    heard: Family<End, Value>,
    numbers: Numbers,
}

impl Metrics {
    /// All of them as text.
    pub(super) fn text(&self) -> Result<String, fmt::Error> {
        let mut all = Registry::with_prefix("deltaline");
        let help =
            "1 while the port or interface is there, 0 while it is away, whether or not a point speaks";
        all.register("source_up", help, self.up.clone());
        all.register("reconnects", "How often the source came back", self.reconnects.clone());
        all.register("bad_frames", "Frames and messages that were corrupted", self.bad.clone());
        let help = "Control frames that came and that the kernel had no room for";
        all.register("dropped_frames", help, self.dropped.clone());
        all.register("left_out_frames", "Control frames that were left out", self.left_out.clone());
        all.register("intervals", "Intervals reported, usable or void", self.intervals.clone());
        all.register("missing_intervals", "Intervals of which nothing arrived", self.missing.clone());
        let (name, help) = ("last_interval_timestamp", "When the last usable interval was reported");
        all.register_with_unit(name, help, registry::Unit::Seconds, self.reported.clone());
        let help = "When the last control frame came of the last interval that the end has reported";
        all.register_with_unit("last_frame_timestamp", help, registry::Unit::Seconds, self.heard.clone());
        all.register_collector(Box::new(self.numbers.clone()));
        let mut text = String::new();
        encode(&mut text, &all)?;
        Ok(text)
    }

    fn connected(&self, is_connected: bool) {
        self.up.set(is_connected.into());
        if is_connected {
            self.reconnects.inc();
        }
    }

    fn missing(&self, segment: u32, intervals: u64) {
        self.missing.get_or_create(&Segment { segment }).inc_by(intervals);
    }

    /// All of a segment is gone, its counters too: they would be kept without end where anybody can make segments.
    pub(super) fn forgotten(&self, segment: u32) {
        for result in [Usable::Yes, Usable::No] {
            self.intervals.remove(&Intervals { segment, result });
        }
        self.missing.remove(&Segment { segment });
        self.reported.remove(&Segment { segment });
        for role in [Role::Sender, Role::Receiver] {
            self.heard.remove(&End::of(segment, role));
        }
        self.numbers.remove(segment);
    }

    pub(super) fn interval(&self, segment: u32, is_usable: bool, figures: &Figures) {
        for (result, count) in [(Usable::Yes, is_usable), (Usable::No, !is_usable)] {
            self.intervals.get_or_create(&Intervals { segment, result }).inc_by(count.into());
        }
        self.missing(segment, 0);
        // A quantity that this interval does not have must not keep the value of an earlier one.
        self.numbers.forget(segment);
        for quantity in figures.quantities() {
            self.numbers.take(segment, quantity);
        }
        let doubted = f64::from(u8::from(figures.clock_doubt.is_some()));
        let help = "Intervals whose clocks are doubtful: their delays are given all the same, and may be off";
        self.numbers
            .set("clock_doubted", help, segment, Some(doubted), || Series::Intervals(Family::default()));
        let is_delay = |each: &&Quantity| each.what.unit == Unit::Nanoseconds && each.range.is_some();
        if let Some(delay) = figures.quantities().find(is_delay) {
            self.numbers.distribute(segment, delay);
        }
        if is_usable && let Ok(now) = SystemTime::UNIX_EPOCH.elapsed() {
            self.reported.get_or_create(&Segment { segment }).set(now.as_secs_f64());
        }
    }
}

/// The figures at an endpoint.
pub(crate) struct Served {
    metrics: Metrics,
    endpoint: Endpoint,
    /// The endpoint's text is older than the figures.
    is_stale: bool,
    /// The text is not written again before.
    due: Instant,
}

impl Served {
    /// Begins to serve them.
    pub(crate) fn serve(address: SocketAddr) -> Result<Self, Failure> {
        let endpoint = Endpoint::serve(address).map_err(|reason| {
            let message =
                format!("--prometheus {address}: cannot be served: {reason}; choose another address or port");
            let exit = match reason.kind() {
                ErrorKind::AddrInUse => Exit::Busy,
                ErrorKind::PermissionDenied => Exit::Denied,
                _ => Exit::Output,
            };
            Failure::new(exit, message)
        })?;
        report::say(&format!("figures for Prometheus at http://{}/metrics", endpoint.address()));
        let metrics = Metrics::default();
        metrics.up.set(1);
        let mut served = Served { metrics, endpoint, is_stale: true, due: Instant::now() };
        served.refresh()?;
        Ok(served)
    }

    /// The source is there again, or gone.
    pub(crate) fn connected(&mut self, is_connected: bool) -> Result<(), Failure> {
        self.metrics.connected(is_connected);
        self.changed()
    }

    /// A frame or message was corrupted.
    pub(crate) fn bad(&mut self) -> Result<(), Failure> {
        self.metrics.bad.inc();
        self.changed()
    }

    /// So many more frames found no room.
    pub(crate) fn dropped(&mut self, frames: u64) -> Result<(), Failure> {
        self.metrics.dropped.inc_by(frames);
        self.changed()
    }

    /// So many control frames have been left out so far.
    pub(crate) fn left_out(&mut self, left_out: &LeftOut) -> Result<(), Failure> {
        let LeftOut { unlisted, replayed, stray, beyond, .. } = *left_out;
        let counts = [("unlisted", unlisted), ("replayed", replayed), ("stray", stray), ("beyond", beyond)];
        let mut has_changed = false;
        for (reason, frames) in counts {
            let known = self.metrics.left_out.get_or_create(&Cause { reason });
            has_changed |= known.get() != frames;
            known.inc_by(frames - known.get());
        }
        if has_changed { self.changed() } else { Ok(()) }
    }

    /// Nothing came of so many intervals.
    pub(crate) fn missing(&mut self, segment: u32, intervals: u64) -> Result<(), Failure> {
        self.metrics.missing(segment, intervals);
        self.changed()
    }

    /// A segment has been forgotten.
    pub(crate) fn forgotten(&mut self, segment: u32) -> Result<(), Failure> {
        self.metrics.forgotten(segment);
        self.changed()
    }

    /// An end has reported an interval, the last control frame of which came at this time, in nanoseconds since the Unix epoch.
    pub(crate) fn heard(&mut self, segment: u32, role: Role, time: u64) -> Result<(), Failure> {
        self.metrics.heard.get_or_create(&End::of(segment, role)).set(time as f64 / NANOSECONDS_A_SECOND);
        self.changed()
    }

    /// An interval has been reported.
    pub(crate) fn interval(
        &mut self,
        segment: u32,
        is_usable: bool,
        figures: &Figures,
    ) -> Result<(), Failure> {
        self.metrics.interval(segment, is_usable, figures);
        self.changed()
    }

    fn changed(&mut self) -> Result<(), Failure> {
        self.is_stale = true;
        self.refresh()
    }

    /// Serves what has changed; to be called again and again, for it puts off what would take too much of the time.
    pub(crate) fn refresh(&mut self) -> Result<(), Failure> {
        let began = Instant::now();
        if self.is_stale && began >= self.due {
            let text = self.metrics.text().map_err(|error| Failure::new(Exit::Output, error))?;
            self.endpoint.publish(text);
            self.is_stale = false;
            self.due = began + (began.elapsed() * SHARE).min(LONGEST);
        }
        Ok(())
    }

    /// Why nothing is served any more, once.
    pub(crate) fn lost(&mut self) -> Option<String> {
        self.endpoint.lost()
    }
}
