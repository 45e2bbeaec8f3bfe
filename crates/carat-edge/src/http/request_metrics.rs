use std::array;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use carat_exchange::Refusal;

/// Upper bounds of the buckets, in seconds.
const BUCKETS: [f64; 15] = [
    0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0,
];
/// The values of the label `status`. The first is for clients that left before the response.
const CLASSES: [&str; 6] = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"];

/// A label whose values are known beforehand, so that the number of series has a bound.
pub(crate) type KnownLabel = [(&'static str, &'static str); 1];
pub(crate) type KnownCounters = Family<KnownLabel, Counter<u64, AtomicU64>>;

/// What is counted of each request, and of what the supervisor logs: the option `metrics`.
#[derive(Debug)]
pub(crate) struct RequestMetrics {
    pub(crate) registry: Registry,
    durations: Histograms,
    queue_times: Histograms,
    app_times: Histograms,
    refused: KnownCounters,
    events: KnownCounters,
}

/// One for each class of status.
#[derive(Debug)]
struct Histograms([Histogram; CLASSES.len()]);

impl RequestMetrics {
    pub(crate) fn new() -> RequestMetrics {
        let mut registry = Registry::with_prefix("carat");
        let help = "Time from the header fields of a request to the end of its response";
        let durations = Histograms::register(&mut registry, "request_duration", help);
        let help = "Time that a request waited for a worker";
        let queue_times = Histograms::register(&mut registry, "request_queue_time", help);
        let help = "Time that the application took to respond";
        let app_times = Histograms::register(&mut registry, "request_app_time", help);
        let (refused, events) = (KnownCounters::default(), KnownCounters::default());
        let help = "Requests that the edge answered itself, by reason";
        registry.register("refused_requests", help, refused.clone());
        let help = "What the supervisor logged: starts, ends, and replacements of processes";
        registry.register("supervisor_events", help, events.clone());
        RequestMetrics {
            registry,
            durations,
            queue_times,
            app_times,
            refused,
            events,
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
        self.refused
            .get_or_create(&[("reason", refusal.reason())])
            .inc();
    }

    /// The supervisor logs this message.
    pub(crate) fn event(&self, message: &'static str) {
        self.events.get_or_create(&[("event", message)]).inc();
    }
}

impl Histograms {
    fn register(registry: &mut Registry, name: &str, help: &str) -> Histograms {
        let family =
            Family::<KnownLabel, Histogram>::new_with_constructor(|| Histogram::new(BUCKETS));
        let of = |index: usize| family.get_or_create(&[("status", CLASSES[index])]).clone();
        let histograms = Histograms(array::from_fn(of));
        registry.register_with_unit(name, help, Unit::Seconds, family);
        histograms
    }

    fn observe(&self, status: Option<u16>, time: Duration) {
        let class = status.map_or(0, |status| usize::from(status / 100));
        if let Some(histogram) = self.0.get(class) {
            histogram.observe(time.as_secs_f64());
        }
    }
}
