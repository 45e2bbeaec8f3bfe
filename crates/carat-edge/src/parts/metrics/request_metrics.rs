use std::cell::RefCell;
use std::collections::BTreeMap;
use std::time::Duration;

use prometheus_client::registry::{Registry, Unit};

use super::scraped::{ScrapedClass, ScrapedCounts, ScrapedTimes};
use super::time_counts::TimeCounts;
use carat_dispatch::{MAIN_POOL, PathPattern};
use carat_exchange::Call;
use carat_http::{EdgeEvent, FinishedRequest, RequestObserver, RequestSlots, TimeHistogram};
use carat_settings::PoolSettings;

/// The values of the label `status`. The first is for clients that left before the response.
const CLASSES: [&str; 6] = ["none", "1xx", "2xx", "3xx", "4xx", "5xx"];

/// The counts of requests, of connections, and of what the supervisor logs: the option `metrics`.
/// Only one thread counts, so a count costs a few instructions. The text of a scrape is made when
/// it is asked for.
#[derive(Debug)]
pub(super) struct RequestMetrics {
    /// The times by pool. The first pool is for the requests of no other pool.
    pools: Vec<PoolTimes>,
    refused: LabelCounts,
    connections: LabelCounts,
    handshakes: LabelCounts,
    events: LabelCounts,
    replacements: LabelCounts,
}

/// The times of the requests of a pool.
#[derive(Debug)]
struct PoolTimes {
    name: String,
    paths: Vec<PathPattern>,
    durations: Histograms,
    queue_times: Histograms,
    app_times: Histograms,
}

/// Times by class of status.
#[derive(Debug, Default)]
struct Histograms([TimeHistogram; CLASSES.len()]);

/// The counts until a moment, for the plots of a dashboard.
#[derive(Clone, Default)]
pub(super) struct RequestTotals {
    /// How long requests took.
    pub(super) durations: TimeCounts,
    /// How long requests waited for a worker.
    pub(super) queue_times: TimeCounts,
    /// Requests with a status of 500 or more.
    pub(super) errors: u64,
}

/// Counts by the value of one label. All values are known beforehand, so that the number of series has a bound.
#[derive(Debug)]
struct LabelCounts {
    label: &'static str,
    counts: RefCell<BTreeMap<&'static str, u64>>,
}

impl RequestMetrics {
    /// Counts that begin at 0. Each pool of the application has times of its own.
    pub(super) fn new(pools: &[PoolSettings]) -> RequestMetrics {
        let main = std::iter::once(PoolTimes::new(MAIN_POOL, &[]));
        let declared = pools.iter().map(|it| PoolTimes::new(&it.name, &it.paths));
        RequestMetrics {
            pools: main.chain(declared).collect(),
            refused: LabelCounts::by("reason"),
            connections: LabelCounts::by("protocol"),
            handshakes: LabelCounts::by("result"),
            events: LabelCounts::by("event"),
            replacements: LabelCounts::by("reason"),
        }
    }

    /// The index of the pool that a request for this path joins.
    pub(super) fn pool(&self, path: &str) -> usize {
        let is_for = |pool: &PoolTimes| pool.paths.iter().any(|it| it.matches(path));
        self.pools.iter().position(is_for).unwrap_or(0)
    }

    /// Counts a request of this pool that is over. `status` is `None` if its client left before the
    /// response.
    pub(super) fn ended(&self, pool: usize, status: Option<u16>, took: Duration) {
        self.pools[pool].durations.observe(status, took);
    }

    /// Counts an event that belongs to no request.
    pub(super) fn note(&self, event: &EdgeEvent) {
        match *event {
            EdgeEvent::Connected { protocol } => self.connections.add(protocol),
            EdgeEvent::Handshake { result } => self.handshakes.add(result),
            EdgeEvent::Logged { message, replaces } => {
                self.events.add(message);
                replaces.inspect(|reason| self.replacements.add(reason));
            }
        }
    }

    /// The counts so far.
    pub(super) fn totals(&self) -> RequestTotals {
        let mut totals = RequestTotals::default();
        for pool in &self.pools {
            totals.durations.add(&pool.durations.counts());
            totals.queue_times.add(&pool.queue_times.counts());
            let errors = pool.durations.0.last().map(TimeHistogram::counts);
            totals.errors += errors.into_iter().flatten().sum::<u64>();
        }
        totals
    }

    /// Registers the counts so far.
    pub(super) fn register(&self, registry: &mut Registry) {
        let mut times = |name: &str, help: &str, of: fn(&PoolTimes) -> &Histograms| {
            registry.register_with_unit(name, help, Unit::Seconds, self.count(of));
        };
        let help = "Time from the header fields of a request to the end of its response";
        times("request_duration", help, |pool| &pool.durations);
        let help = "Time that a request waited for a worker";
        times("request_queue_time", help, |pool| &pool.queue_times);
        let help = "Time that the application took to respond";
        times("request_app_time", help, |pool| &pool.app_times);
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

    /// The times by class of status, and by pool if there are several. If there are several pools, a class of a pool
    /// appears only after a request.
    fn count(&self, of: fn(&PoolTimes) -> &Histograms) -> ScrapedTimes {
        if let [main] = &self.pools[..] {
            let classes = CLASSES.iter().zip(&of(main).0);
            let classes =
                classes.map(|(class, times)| ScrapedClass::new(times, [("status", *class)]));
            return ScrapedTimes(classes.collect());
        }
        let classes = self.pools.iter().flat_map(|pool| {
            let classes = CLASSES.iter().zip(&of(pool).0);
            let seen = classes.filter(|(_, times)| times.counts().any(|count| count > 0));
            seen.map(|(class, times)| {
                ScrapedClass::new(times, [("status", *class), ("pool", &pool.name)])
            })
        });
        ScrapedTimes(classes.collect())
    }
}

/// The index of the pool that a request joins. Requests of the first pool have none.
struct JoinedPool(usize);

impl RequestObserver for RequestMetrics {
    fn begin(&self, call: &mut Call, slots: &mut RequestSlots) {
        let pool = self.pool(call.parts.uri.path());
        if pool > 0 {
            slots.set(JoinedPool(pool));
        }
    }

    fn finished(&self, request: &mut FinishedRequest) {
        let pool = request.slots.take().map_or(0, |JoinedPool(pool)| pool);
        let status = request.status;
        self.ended(pool, status, request.took);
        if request.answered.is_some() {
            let pool = &self.pools[pool];
            pool.queue_times.observe(status, request.times.queue);
            pool.app_times.observe(status, request.times.app());
        }
        if let Some(refusal) = request.refusal {
            self.refused.add(refusal.reason());
        }
    }
}

impl PoolTimes {
    fn new(name: &str, paths: &[String]) -> PoolTimes {
        PoolTimes {
            name: name.to_owned(),
            paths: paths.iter().map(|it| PathPattern::new(it)).collect(),
            durations: Histograms::default(),
            queue_times: Histograms::default(),
            app_times: Histograms::default(),
        }
    }
}

impl Histograms {
    fn observe(&self, status: Option<u16>, time: Duration) {
        let class = status.map_or(0, |status| usize::from(status / 100));
        if let Some(histogram) = self.0.get(class) {
            histogram.observe(time);
        }
    }

    /// The times of all classes.
    fn counts(&self) -> TimeCounts {
        let mut sum = TimeCounts::default();
        for histogram in &self.0 {
            sum.add(&TimeCounts::of(histogram));
        }
        sum
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn millis(quantile: Option<f64>) -> Option<f64> {
        quantile.map(|seconds| (seconds * 1e6).round() / 1e3)
    }

    #[test]
    fn a_quantile_lies_in_the_bucket_of_its_rank() {
        let reports = PoolSettings {
            name: "reports".to_owned(),
            paths: vec!["/reports/*".to_owned()],
            ..PoolSettings::default()
        };
        let metrics = RequestMetrics::new(&[reports]);
        let none = metrics.totals();
        assert_eq!(none.durations.quantile(0.5), None);
        for millis in [7, 7, 7, 7, 7, 7, 7, 7, 7, 400] {
            let pool = metrics.pool("/");
            metrics.ended(pool, Some(200), Duration::from_millis(millis));
        }
        let pool = metrics.pool("/reports/1");
        metrics.ended(pool, Some(503), Duration::from_secs(100));
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
