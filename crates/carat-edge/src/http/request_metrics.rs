use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::{Registry, Unit};

use carat_exchange::Refusal;

/// Upper bounds of the buckets, in microseconds.
const BUCKETS: [u64; 15] = [
    1000, 2500, 5000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    5_000_000, 10_000_000, 30_000_000, 60_000_000,
];
/// The values of the label `status`. The first is for clients that left before the response.
const CLASSES: [&str; 6] = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"];
const MICROS: f64 = 1_000_000.0;

/// What is counted of requests, connections, and of what the supervisor logs: the option `metrics`. One thread counts,
/// so this costs a few instructions; what a scrape needs is made when one comes.
#[derive(Debug)]
pub(crate) struct RequestMetrics {
    durations: Histograms,
    queue_times: Histograms,
    app_times: Histograms,
    refused: LabelCounts,
    connections: LabelCounts,
    handshakes: LabelCounts,
    events: LabelCounts,
    replacements: LabelCounts,
}

/// Times by class of status.
#[derive(Debug, Default)]
struct Histograms([TimeHistogram; CLASSES.len()]);

/// How long something took, each time.
#[derive(Debug, Default)]
pub(crate) struct TimeHistogram {
    /// The last one counts what is above all bounds.
    buckets: [Cell<u64>; BUCKETS.len() + 1],
    micros: Cell<u64>,
}

/// What was counted until a moment: of a dashboard's plots.
#[derive(Debug, Clone, Default)]
pub(crate) struct RequestTotals {
    pub(crate) durations: TimeCounts,
    pub(crate) queue_times: TimeCounts,
    /// Requests with a status of 500 or more.
    pub(crate) errors: u64,
}

/// How many times were in each bucket.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct TimeCounts([u64; BUCKETS.len() + 1]);

/// Counts by the value of one label. All values are known beforehand, so that the number of series has a bound.
#[derive(Debug)]
struct LabelCounts {
    label: &'static str,
    counts: RefCell<BTreeMap<&'static str, u64>>,
}

impl RequestMetrics {
    pub(crate) fn new() -> RequestMetrics {
        RequestMetrics {
            durations: Histograms::default(),
            queue_times: Histograms::default(),
            app_times: Histograms::default(),
            refused: LabelCounts::by("reason"),
            connections: LabelCounts::by("protocol"),
            handshakes: LabelCounts::by("result"),
            events: LabelCounts::by("event"),
            replacements: LabelCounts::by("reason"),
        }
    }

    /// A request is over. Without a status its client left before.
    pub(crate) fn ended(&self, status: Option<u16>, took: Duration) {
        self.durations.observe(status, took);
    }

    /// The application has responded to a request.
    pub(crate) fn responded(&self, status: u16, queue_time: Duration, app_time: Duration) {
        self.queue_times.observe(Some(status), queue_time);
        self.app_times.observe(Some(status), app_time);
    }

    pub(crate) fn refused(&self, refusal: Refusal) {
        self.refused.add(refusal.reason());
    }

    /// A client speaks this protocol.
    pub(crate) fn connected(&self, protocol: &'static str) {
        self.connections.add(protocol);
    }

    /// A TLS handshake has ended like this.
    pub(crate) fn handshake(&self, result: &'static str) {
        self.handshakes.add(result);
    }

    /// The supervisor logs this message.
    pub(crate) fn event(&self, message: &'static str) {
        self.events.add(message);
    }

    /// The supervisor will replace a worker.
    pub(crate) fn replaced(&self, reason: &'static str) {
        self.replacements.add(reason);
    }

    /// What has been counted so far.
    pub(crate) fn totals(&self) -> RequestTotals {
        let durations = &self.durations.0;
        let errors = durations.last().map_or(0, |class| class.counts().sum());
        RequestTotals {
            durations: TimeCounts::of(&self.durations),
            queue_times: TimeCounts::of(&self.queue_times),
            errors,
        }
    }

    /// Registers what has been counted so far.
    pub(crate) fn register(&self, registry: &mut Registry) {
        let mut times = |name: &str, help: &str, histograms: &Histograms| {
            registry.register_with_unit(name, help, Unit::Seconds, histograms.count());
        };
        let help = "Time from the header fields of a request to the end of its response";
        times("request_duration", help, &self.durations);
        let help = "Time that a request waited for a worker";
        times("request_queue_time", help, &self.queue_times);
        let help = "Time that the application took to respond";
        times("request_app_time", help, &self.app_times);
        let mut counts = |name: &str, help: &str, counts: &LabelCounts| {
            registry.register(name, help, counts.count());
        };
        let help = "Requests that the edge answered itself, by reason";
        counts("refused_requests", help, &self.refused);
        let help = "Client connections with a first request, by protocol";
        counts("client_connections", help, &self.connections);
        let help = "TLS handshakes, by result";
        counts("tls_handshakes", help, &self.handshakes);
        let help = "What the supervisor logged: starts, ends, and replacements of processes";
        counts("supervisor_events", help, &self.events);
        let help = "Workers that are replaced while they could serve, by reason";
        counts("worker_replacements", help, &self.replacements);
    }
}

impl TimeHistogram {
    pub(crate) fn observe(&self, time: Duration) {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        // Most times are short.
        let bucket = BUCKETS.iter().position(|bound| micros <= *bound);
        let bucket = bucket.unwrap_or(BUCKETS.len());
        add(&self.buckets[bucket], 1);
        add(&self.micros, micros);
    }

    /// Registers what has been counted so far.
    pub(crate) fn register(&self, registry: &mut Registry, name: &str, help: &str) {
        let times = ScrapedTimes(vec![self.count(None)]);
        registry.register_with_unit(name, help, Unit::Seconds, times);
    }

    #[expect(clippy::cast_precision_loss, reason = "a sum of times is rounded")]
    fn count(&self, class: Option<&'static str>) -> ScrapedClass {
        let bounds = BUCKETS.iter().map(|micros| *micros as f64 / MICROS);
        ScrapedClass {
            class,
            sum: self.micros.get() as f64 / MICROS,
            buckets: bounds.chain([f64::MAX]).zip(self.counts()).collect(),
        }
    }

    fn counts(&self) -> impl Iterator<Item = u64> {
        self.buckets.iter().map(Cell::get)
    }
}

impl TimeCounts {
    fn of(histograms: &Histograms) -> TimeCounts {
        let mut sum = TimeCounts::default();
        for histogram in &histograms.0 {
            let both = sum.0.iter_mut().zip(histogram.counts());
            both.for_each(|(sum, count)| *sum += count);
        }
        sum
    }

    pub(crate) fn add(&mut self, other: &TimeCounts) {
        let both = self.0.iter_mut().zip(other.0);
        both.for_each(|(count, other)| *count += other);
    }

    /// What has come since then.
    pub(crate) fn since(&self, before: &TimeCounts) -> TimeCounts {
        let mut counts = *self;
        let both = counts.0.iter_mut().zip(before.0);
        both.for_each(|(count, before)| *count = count.saturating_sub(before));
        counts
    }

    pub(crate) fn count(&self) -> u64 {
        self.0.iter().sum()
    }

    /// The time in seconds that this share of all has not exceeded, as `histogram_quantile` of Prometheus has it: times
    /// are taken to lie evenly in a bucket. `None` without a time.
    #[expect(clippy::cast_precision_loss, reason = "a bucket's width is far more")]
    pub(crate) fn quantile(&self, share: f64) -> Option<f64> {
        let rank = share * self.count() as f64;
        let (mut below, mut floor) = (0.0, 0.0);
        for (count, bound) in self.0.iter().zip(BUCKETS) {
            let (count, bound) = (*count as f64, bound as f64 / MICROS);
            if count > 0.0 && below + count >= rank {
                return Some(floor + (bound - floor) * ((rank - below) / count).max(0.0));
            }
            (below, floor) = (below + count, bound);
        }
        (self.count() > 0).then_some(floor)
    }
}

impl Histograms {
    fn observe(&self, status: Option<u16>, time: Duration) {
        let class = status.map_or(0, |status| usize::from(status / 100));
        if let Some(histogram) = self.0.get(class) {
            histogram.observe(time);
        }
    }

    fn count(&self) -> ScrapedTimes {
        let classes = CLASSES.iter().zip(&self.0);
        ScrapedTimes(
            classes
                .map(|(class, times)| times.count(Some(class)))
                .collect(),
        )
    }
}

fn add(counter: &Cell<u64>, number: u64) {
    counter.set(counter.get().saturating_add(number));
}

impl LabelCounts {
    fn by(label: &'static str) -> LabelCounts {
        LabelCounts {
            label,
            counts: RefCell::default(),
        }
    }

    fn add(&self, value: &'static str) {
        *self.counts.borrow_mut().entry(value).or_default() += 1;
    }

    fn count(&self) -> ScrapedCounts {
        ScrapedCounts(self.label, self.counts.borrow().clone())
    }
}

/// Histograms at the time of a scrape.
#[derive(Debug)]
struct ScrapedTimes(Vec<ScrapedClass>);

/// The times of one class of status, in seconds; `None` for those that have no status.
#[derive(Debug)]
struct ScrapedClass {
    class: Option<&'static str>,
    sum: f64,
    buckets: Vec<(f64, u64)>,
}

impl EncodeMetric for ScrapedTimes {
    fn encode(&self, mut encoder: MetricEncoder) -> Result<(), fmt::Error> {
        for ScrapedClass {
            class,
            sum,
            buckets,
        } in &self.0
        {
            let labels: Vec<_> = class.iter().map(|class| ("status", *class)).collect();
            let mut encoder = encoder.encode_family(&labels)?;
            let count = buckets.iter().map(|(_, count)| count).sum();
            encoder.encode_histogram::<NoLabelSet>(*sum, count, buckets, None)?;
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}

/// Counts at the time of a scrape, by the value of a label.
#[derive(Debug)]
struct ScrapedCounts(&'static str, BTreeMap<&'static str, u64>);

impl EncodeMetric for ScrapedCounts {
    fn encode(&self, mut encoder: MetricEncoder) -> Result<(), fmt::Error> {
        for (value, count) in &self.1 {
            let label = [(self.0, *value)];
            let mut encoder = encoder.encode_family(&label)?;
            encoder.encode_counter::<NoLabelSet, _, u64>(count, None)?;
        }
        Ok(())
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Counter
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(quantile: Option<f64>) -> Option<f64> {
        quantile.map(|seconds| (seconds * 1e6).round() / 1e3)
    }

    #[test]
    fn a_quantile_lies_in_the_bucket_of_its_rank() {
        let metrics = RequestMetrics::new();
        let none = metrics.totals();
        assert_eq!(none.durations.quantile(0.5), None);
        for millis in [7, 7, 7, 7, 7, 7, 7, 7, 7, 400] {
            metrics.ended(Some(200), Duration::from_millis(millis));
        }
        metrics.ended(Some(503), Duration::from_secs(100));
        let totals = metrics.totals();
        let times = totals.durations.since(&none.durations);
        assert_eq!((times.count(), totals.errors), (11, 1));
        assert_eq!(millis(times.quantile(0.0)), Some(5.0));
        assert_eq!(millis(times.quantile(9.0 / 11.0)), Some(10.0));
        assert_eq!(millis(times.quantile(10.0 / 11.0)), Some(500.0));
        // Above all bounds.
        assert_eq!(times.quantile(0.99), Some(60.0));
        assert_eq!(times.since(&times).quantile(0.99), None);
    }
}
