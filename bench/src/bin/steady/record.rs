use std::collections::BTreeMap;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use crate::response::Response;

/// How long a window is.
const WINDOW: Duration = Duration::from_millis(100);
/// Latencies are counted in buckets 2 % wide.
const RATIO: f64 = 1.02;

/// What happened on one connection, or on all of them.
#[derive(Debug)]
pub(crate) struct Record {
    started: Instant,
    /// When the last request ended.
    elapsed: Duration,
    windows: Vec<Window>,
    statuses: BTreeMap<String, u64>,
    workers: BTreeMap<String, u64>,
}

#[derive(Debug, Default, Clone)]
struct Window {
    requests: u64,
    failed: u64,
    /// The number of latencies in each [`bucket`].
    latencies: BTreeMap<u64, u64>,
}

impl Record {
    pub(crate) fn new(started: Instant) -> Record {
        Record {
            started,
            elapsed: Duration::ZERO,
            windows: Vec::new(),
            statuses: BTreeMap::new(),
            workers: BTreeMap::new(),
        }
    }

    /// Counts a request that has ended now, with this response or with none.
    pub(crate) fn add(&mut self, latency: Duration, response: Option<&Response>) {
        let status = response.map_or_else(|| "lost".to_owned(), |one| one.status.to_string());
        let is_good = status == "200";
        *self.statuses.entry(status).or_default() += 1;
        if let Some(worker) = response.and_then(|one| one.worker.clone()) {
            *self.workers.entry(worker).or_default() += 1;
        }
        self.elapsed = self.started.elapsed();
        let number = self.elapsed.as_millis() / WINDOW.as_millis();
        let window = self.window(usize::try_from(number).unwrap_or(usize::MAX));
        window.requests += 1;
        window.failed += u64::from(!is_good);
        *window.latencies.entry(bucket(latency)).or_default() += 1;
    }

    /// Adds what happened on another connection since the same moment.
    pub(crate) fn merge(&mut self, other: Record) {
        self.elapsed = self.elapsed.max(other.elapsed);
        merge_counts(&mut self.statuses, other.statuses);
        merge_counts(&mut self.workers, other.workers);
        for (number, theirs) in other.windows.into_iter().enumerate() {
            let window = self.window(number);
            window.requests += theirs.requests;
            window.failed += theirs.failed;
            merge_counts(&mut window.latencies, theirs.latencies);
        }
    }

    pub(crate) fn to_json(&self) -> Value {
        let since = SystemTime::UNIX_EPOCH.elapsed().unwrap_or_default();
        let started = since.saturating_sub(self.started.elapsed());
        let windows: Vec<Value> = self.windows.iter().map(Window::to_json).collect();
        json!({
            "started": started.as_secs_f64(),
            "seconds": self.elapsed.as_secs_f64(),
            "window_seconds": WINDOW.as_secs_f64(),
            "statuses": self.statuses,
            "workers": self.workers,
            "windows": windows,
        })
    }

    fn window(&mut self, number: usize) -> &mut Window {
        if self.windows.len() <= number {
            self.windows.resize_with(number + 1, Window::default);
        }
        &mut self.windows[number]
    }
}

impl Window {
    fn to_json(&self) -> Value {
        let latencies: Vec<[u64; 2]> = self
            .latencies
            .iter()
            .map(|(&bucket, &count)| [microseconds(bucket), count])
            .collect();
        json!({ "requests": self.requests, "failed": self.failed, "latencies": latencies })
    }
}

fn merge_counts<Key: Ord>(mine: &mut BTreeMap<Key, u64>, theirs: BTreeMap<Key, u64>) {
    for (key, count) in theirs {
        *mine.entry(key).or_default() += count;
    }
}

/// The bucket of a latency, on a logarithmic scale.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Between 0 and 1400 for what a Duration can hold.
fn bucket(latency: Duration) -> u64 {
    let microseconds = (latency.as_secs_f64() * 1e6).max(1.0);
    microseconds.log(RATIO).floor() as u64
}

/// The lowest latency above the bucket.
#[allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss
)] // See `bucket`.
fn microseconds(bucket: u64) -> u64 {
    RATIO.powf(bucket as f64 + 1.0).ceil() as u64
}
