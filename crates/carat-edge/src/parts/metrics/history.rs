use std::collections::VecDeque;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::request_metrics::RequestTotals;
use super::time_counts::TimeCounts;

/// The time from one sample to the next.
const SAMPLE_PERIOD: Duration = Duration::from_secs(5);
/// How many samples are kept: ten minutes, and about 40 KB.
const SAMPLE_LIMIT: usize = 120;
/// How many samples make the last minute.
const RECENT_SAMPLES: usize = 12;

/// The server's last ten minutes, for the plots of the dashboard.
pub(super) struct History {
    samples: VecDeque<HistorySample>,
    totals: RequestTotals,
    sampled: Instant,
    due: Instant,
}

#[derive(Clone)]
struct HistorySample {
    /// How long the server had run.
    uptime: Duration,
    /// The time since the sample before.
    period: Duration,
    requests: RequestTotals,
    gauges: Gauges,
}

/// The state of the server at the time of a sample.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Gauges {
    running: u64,
    waiting: u64,
    connections: u64,
    pss: u64,
    private: u64,
}

impl Gauges {
    /// Reads what `carat status` says.
    pub(super) fn of(status: &Value) -> Gauges {
        let number = |key: &str| status[key].as_u64().unwrap_or_default();
        let processes = status["memory"].as_array().map_or(&[][..], Vec::as_slice);
        let sum = |key: &str| processes.iter().filter_map(|it| it[key].as_u64()).sum();
        Gauges {
            running: number("running"),
            waiting: number("waiting"),
            connections: number("connections"),
            pss: sum("pss"),
            private: sum("private"),
        }
    }
}

impl History {
    pub(super) fn new(now: Instant) -> History {
        History {
            samples: VecDeque::with_capacity(SAMPLE_LIMIT),
            totals: RequestTotals::default(),
            sampled: now,
            due: now + SAMPLE_PERIOD,
        }
    }

    /// When the next sample is due.
    pub(super) fn due(&self) -> Instant {
        self.due
    }

    /// Adds a sample, and drops the oldest when there are enough.
    pub(super) fn add(
        &mut self,
        totals: RequestTotals,
        gauges: Gauges,
        started: Instant,
        now: Instant,
    ) {
        let requests = RequestTotals {
            durations: totals.durations.since(&self.totals.durations),
            queue_times: totals.queue_times.since(&self.totals.queue_times),
            errors: totals.errors.saturating_sub(self.totals.errors),
        };
        if self.samples.len() == SAMPLE_LIMIT {
            self.samples.pop_front();
        }
        self.samples.push_back(HistorySample {
            uptime: now.saturating_duration_since(started),
            period: now.saturating_duration_since(self.sampled),
            requests,
            gauges,
        });
        (self.totals, self.sampled) = (totals, now);
        // A sample is taken a little late, and very late after the server has stood still.
        let next = self.due + SAMPLE_PERIOD;
        self.due = if next > now {
            next
        } else {
            now + SAMPLE_PERIOD
        };
    }

    /// The figures of the last minute. Times are seconds.
    pub(super) fn recent(&self) -> Value {
        let (mut durations, mut queue_times) = (TimeCounts::default(), TimeCounts::default());
        let (mut errors, mut period) = (0, Duration::ZERO);
        for sample in self.samples.iter().rev().take(RECENT_SAMPLES) {
            durations.add(&sample.requests.durations);
            queue_times.add(&sample.requests.queue_times);
            errors += sample.requests.errors;
            period += sample.period;
        }
        json!({
            "seconds": period.as_secs_f64(),
            "requests": durations.count(),
            "errors": errors,
            "p50": durations.quantile(0.5),
            "p99": durations.quantile(0.99),
            "queue_p50": queue_times.quantile(0.5),
            "queue_p99": queue_times.quantile(0.99),
        })
    }

    /// All samples: a list for each plot, the oldest first. Times are seconds, sizes bytes.
    pub(super) fn plots(&self) -> Value {
        json!({
            "uptime": self.each(|it| it.uptime.as_secs_f64()),
            // Requests and errors per second.
            "requests": self.each(|it| it.rate(it.requests.durations.count())),
            "errors": self.each(|it| it.rate(it.requests.errors)),
            "p50": self.each(|it| it.requests.durations.quantile(0.5)),
            "p99": self.each(|it| it.requests.durations.quantile(0.99)),
            "queue_p99": self.each(|it| it.requests.queue_times.quantile(0.99)),
            "running": self.each(|it| it.gauges.running),
            "waiting": self.each(|it| it.gauges.waiting),
            "connections": self.each(|it| it.gauges.connections),
            "private": self.each(|it| it.gauges.private),
            // Shared memory, with each page once.
            "shared": self.each(|it| it.gauges.pss.saturating_sub(it.gauges.private)),
        })
    }

    fn each<T>(&self, plotted: impl Fn(&HistorySample) -> T) -> Vec<T> {
        self.samples.iter().map(plotted).collect()
    }
}

impl HistorySample {
    #[expect(clippy::cast_precision_loss, reason = "a number in a plot")]
    fn rate(&self, count: u64) -> f64 {
        count as f64 / self.period.as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parts::metrics::request_metrics::RequestMetrics;

    const DAY: u64 = 24 * 60 * 60;

    #[test]
    fn after_a_day_there_are_ten_minutes_and_no_byte_more() {
        let (started, metrics) = (Instant::now(), RequestMetrics::new(&[]));
        let mut history = History::new(started);
        let capacity = history.samples.capacity();
        // The supervisor's ticks come ten times a second.
        for tenth in 1..=DAY * 10 {
            let now = started + Duration::from_millis(tenth * 100);
            if now < history.due() {
                continue;
            }
            metrics.ended(0, Some(200), Duration::from_millis(7));
            history.add(metrics.totals(), Gauges::default(), started, now);
        }
        assert_eq!(history.samples.len(), SAMPLE_LIMIT);
        assert_eq!(history.samples.capacity(), capacity);
        assert!(capacity * size_of::<HistorySample>() <= 42 * 1024);
        let plots = history.plots();
        let uptime = plots["uptime"].as_array().expect("a list");
        assert_eq!(
            (&uptime[0], &uptime[119]),
            (&json!(85805.0), &json!(86400.0))
        );
        let rates = plots["requests"].as_array().expect("a list").iter();
        assert!(
            rates
                .filter_map(Value::as_f64)
                .all(|rate| (rate - 0.2).abs() < 1e-9)
        );
        let json = plots.to_string();
        assert!(json.len() < 16 * 1024, "{}", json.len());
    }

    #[test]
    fn the_last_minute_leaves_out_what_was_before() {
        let (started, metrics) = (Instant::now(), RequestMetrics::new(&[]));
        let mut history = History::new(started);
        metrics.ended(0, Some(500), Duration::from_secs(20));
        for sample in 1..=13 {
            let now = started + SAMPLE_PERIOD * sample;
            history.add(metrics.totals(), Gauges::default(), started, now);
            metrics.ended(0, Some(200), Duration::from_millis(7));
        }
        let recent = history.recent();
        assert_eq!(
            (&recent["requests"], &recent["errors"]),
            (&json!(12), &json!(0))
        );
        assert_eq!(recent["seconds"], 60.0);
        assert!(recent["p99"].as_f64().is_some_and(|seconds| seconds < 0.01));
        assert!(recent["queue_p99"].is_null());
    }

    #[test]
    fn after_a_standstill_one_sample_covers_it() {
        let (started, metrics) = (Instant::now(), RequestMetrics::new(&[]));
        let mut history = History::new(started);
        metrics.ended(0, Some(200), Duration::ZERO);
        let now = started + Duration::from_secs(100);
        history.add(metrics.totals(), Gauges::default(), started, now);
        assert!(history.due() > now);
        assert_eq!(
            history.plots()["requests"].as_array().map(Vec::len),
            Some(1)
        );
        assert_eq!(history.recent()["seconds"], 100.0);
    }
}
