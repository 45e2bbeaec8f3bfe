//! When a worker becomes the next mold.

use std::time::{Duration, Instant};

use serde::Deserialize;

/// The fewest requests after which a worker's memory is judged. With fewer, its caches are not full.
const REQUESTS_LEAST: u64 = 500;

/// The least gain for which a refork is made, in bytes. A refork costs a fork for each worker, and all of them start
/// cold.
const GAIN_LEAST: u64 = 16 * 1024 * 1024;
/// The least gain for which a refork is made, as a share of the workers' private memory.
const GAIN_SHARE_LEAST: f64 = 0.1;

/// A refork gained little if it saved less than this share of a worker's private memory.
const LITTLE: f64 = 0.15;

/// The share of a worker's private memory that the first refork saves for long. The rest is written to by the first
/// requests, or differs between workers from the start. Measured: 0.8 in Rails with YJIT, whose machine code every
/// worker compiles for itself, 0.55 where caches fill, 0.2 in Rails without a JIT
/// (`docs/decisions/0015-shared-pages.md`).
const SHARED_AT_FIRST: f64 = 0.5;

/// The share of the growth since the last refork that another refork saves for long. Pages that the first requests
/// after the last refork wrote to do not count as growth.
const SHARED_OF_GROWTH: f64 = 0.5;

/// The age of the server at the first refork. By then, hot code has been compiled, and most caches are full.
const WARM_AFTER: Duration = Duration::from_secs(15);

/// The first pause after a refork. It doubles with each refork, and doubles once more with each refork that failed or
/// gained little.
const FIRST_PAUSE: Duration = Duration::from_secs(60);
/// The longest pause after a refork.
const PAUSE_LIMIT: Duration = Duration::from_secs(24 * 3600);

/// The option `refork`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReforkRule {
    /// A worker becomes the mold when measurements say that this saves memory.
    Auto,
    /// No worker becomes the mold.
    Off,
    /// A worker becomes the mold after this many requests. There is a number for each refork; the last one is for all
    /// further reforks.
    #[serde(untagged)]
    After(Vec<u64>),
}

/// A worker that could become the mold.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct WorkerUsage {
    /// Identifies the worker.
    pub serial: u64,
    /// How many requests the worker was given since the mold took over.
    pub requests: u64,
    /// Private memory in bytes; 0 when unknown.
    pub private: u64,
}

/// The reforks so far, and when the next one is due.
#[derive(Debug)]
pub struct Reforks {
    rule: ReforkRule,
    /// How many reforks succeeded.
    done: usize,
    /// How long to wait after the next refork.
    pause: Duration,
    not_before: Option<Instant>,
    /// The generation whose workers cannot become a mold.
    unfit: Option<u32>,
    last: LastRefork,
}

/// The result of the last refork, measured by the private memory of the worker with the most requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LastRefork {
    /// No worker has become the mold yet.
    None,
    /// The refork is not measured yet. `before` is the private memory of the worker before it became the mold.
    Open { before: u64 },
    /// The refork is measured. `after` is the private memory that a new worker had soon after it: another refork would
    /// not save those bytes either.
    Judged { after: u64 },
}

impl Reforks {
    /// The state before the first refork. `Auto` waits until the server is warm.
    pub fn new(rule: ReforkRule, now: Instant) -> Reforks {
        let first = (rule == ReforkRule::Auto).then_some(now + WARM_AFTER);
        Reforks {
            rule,
            done: 0,
            pause: FIRST_PAUSE,
            not_before: first,
            unfit: None,
            last: LastRefork::None,
        }
    }

    /// Chooses the worker of this generation to make the next mold now, by its serial number. `None` if no refork is
    /// due.
    pub fn choose(
        &mut self,
        now: Instant,
        generation: u32,
        workers: &[WorkerUsage],
    ) -> Option<u64> {
        let busiest = *workers.iter().max_by_key(|worker| worker.requests)?;
        if self.unfit == Some(generation) {
            return None;
        }
        self.judge(now, &busiest);
        if self.not_before.is_some_and(|not_before| now < not_before) {
            return None;
        }
        let is_due = match &self.rule {
            ReforkRule::Off => false,
            ReforkRule::After(counts) => {
                let count = counts.get(self.done).or(counts.last());
                count.is_some_and(|count| busiest.requests >= *count)
            }
            ReforkRule::Auto => busiest.requests >= REQUESTS_LEAST && self.pays(&busiest, workers),
        };
        is_due.then_some(busiest.serial)
    }

    /// Records that a worker with this much private memory became the mold.
    pub fn succeeded(&mut self, now: Instant, private: u64) {
        self.done += 1;
        if self.rule == ReforkRule::Auto {
            self.last = LastRefork::Open { before: private };
            self.wait(now, 2);
        } else {
            self.pause = FIRST_PAUSE;
            self.not_before = None;
        }
    }

    /// Records that a worker did not become the mold.
    pub fn failed(&mut self, now: Instant) {
        self.wait(now, 4);
    }

    /// Records that no worker of this generation can become a mold.
    pub fn refused(&mut self, now: Instant, generation: u32) {
        self.unfit = Some(generation);
        self.failed(now);
    }

    fn wait(&mut self, now: Instant, factor: u32) {
        self.not_before = Some(now + self.pause);
        self.pause = self.pause.saturating_mul(factor).min(PAUSE_LIMIT);
    }

    /// Measures the last refork once its workers have served enough requests.
    fn judge(&mut self, now: Instant, busiest: &WorkerUsage) {
        let LastRefork::Open { before } = self.last else {
            return;
        };
        if busiest.requests < REQUESTS_LEAST || busiest.private == 0 {
            return;
        }
        let after = busiest.private;
        if share(before.saturating_sub(after), before) < LITTLE {
            self.wait(now, 2);
        }
        self.last = LastRefork::Judged { after };
    }

    /// Whether sharing memory again is worth a refork.
    fn pays(&self, busiest: &WorkerUsage, workers: &[WorkerUsage]) -> bool {
        let (floor, shared) = match self.last {
            LastRefork::None => (0, SHARED_AT_FIRST),
            LastRefork::Open { .. } => return false,
            LastRefork::Judged { after } => (after, SHARED_OF_GROWTH),
        };
        let others = workers
            .iter()
            .filter(|worker| worker.serial != busiest.serial);
        let common = others.map(|worker| worker.private.min(busiest.private));
        let above: u64 = common.map(|bytes| bytes.saturating_sub(floor)).sum();
        let all: u64 = workers.iter().map(|worker| worker.private).sum();
        let gain = scaled(above, shared);
        gain >= GAIN_LEAST && share(gain, all) >= GAIN_SHARE_LEAST
    }
}

#[expect(clippy::cast_precision_loss, reason = "an estimate")]
fn share(part: u64, whole: u64) -> f64 {
    part as f64 / (whole.max(1)) as f64
}

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an estimate of bytes, which is never negative"
)]
fn scaled(bytes: u64, factor: f64) -> u64 {
    (bytes as f64 * factor) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1024 * 1024;
    const MINUTE: Duration = Duration::from_secs(60);

    /// Workers by requests and private memory.
    fn workers(figures: &[(u64, u64)]) -> Vec<WorkerUsage> {
        let worker = |(serial, &(requests, private)): (u64, &(u64, u64))| WorkerUsage {
            serial,
            requests,
            private,
        };
        (1..).zip(figures).map(worker).collect()
    }

    fn after(counts: &[u64]) -> (Reforks, Instant) {
        let now = Instant::now();
        (Reforks::new(ReforkRule::After(counts.to_vec()), now), now)
    }

    /// The rule that measures, when the server is warm.
    fn auto() -> (Reforks, Instant) {
        let now = Instant::now();
        (Reforks::new(ReforkRule::Auto, now), now + WARM_AFTER)
    }

    #[test]
    fn the_worker_with_the_most_requests_is_chosen_when_it_has_enough() {
        let (mut reforks, now) = after(&[1000]);
        let choose = |reforks: &mut Reforks, figures: &[(u64, u64)]| {
            reforks.choose(now, 1, &workers(figures))
        };
        assert_eq!(choose(&mut reforks, &[(999, 0), (10, 0)]), None);
        assert_eq!(choose(&mut reforks, &[(10, 0), (1000, 0)]), Some(2));
        assert_eq!(choose(&mut reforks, &[]), None);
    }

    #[test]
    fn each_refork_has_its_number_and_the_last_counts_for_all_further() {
        let (mut reforks, now) = after(&[10, 100]);
        for enough in [10, 100, 100, 100] {
            assert_eq!(reforks.choose(now, 1, &workers(&[(enough - 1, 0)])), None);
            let chosen = reforks.choose(now, 1, &workers(&[(enough, 0)]));
            assert_eq!(chosen, Some(1));
            reforks.succeeded(now, 0);
        }
    }

    #[test]
    fn a_failed_refork_is_retried_after_growing_pauses() {
        let (mut reforks, mut now) = after(&[10]);
        let due = workers(&[(10, 0)]);
        for minutes in [1, 4, 16, 64, 256, 1024, 1440, 1440] {
            reforks.failed(now);
            let pause = MINUTE * minutes;
            assert_eq!(reforks.choose(now + pause / 2, 1, &due), None);
            now += pause;
            assert_eq!(reforks.choose(now, 1, &due), Some(1), "{minutes}");
        }
        reforks.succeeded(now, 0);
        reforks.failed(now);
        assert_eq!(reforks.choose(now + MINUTE, 2, &due), Some(1));
    }

    #[test]
    fn a_generation_that_is_not_fork_safe_is_never_asked_again() {
        let (mut reforks, now) = after(&[10]);
        reforks.refused(now, 1);
        let (due, later) = (workers(&[(10, 0)]), now + PAUSE_LIMIT);
        assert_eq!(reforks.choose(later, 1, &due), None);
        assert_eq!(reforks.choose(later, 2, &due), Some(1));
    }

    #[test]
    fn it_can_be_off() {
        let now = Instant::now();
        let mut reforks = Reforks::new(ReforkRule::Off, now);
        let due = workers(&[(u64::MAX, 1000 * MB), (9, 1000 * MB)]);
        assert_eq!(reforks.choose(now + PAUSE_LIMIT, 1, &due), None);
    }

    #[test]
    fn sharing_must_have_decayed_enough_to_pay() {
        let (mut reforks, now) = auto();
        let mut choose = |figures: &[(u64, u64)]| reforks.choose(now, 1, &workers(figures));
        let busy = 10_000;
        assert_eq!(choose(&[(busy, 40 * MB), (1, 40 * MB)]), Some(1));
        // Too few bytes.
        assert_eq!(choose(&[(busy, 30 * MB), (1, 30 * MB)]), None);
        // The share of this worker is too small: pages that only it has touched are not shared.
        assert_eq!(choose(&[(busy, 400 * MB), (1, 80 * MB)]), None);
        // Caches are not full.
        assert_eq!(choose(&[(400, 80 * MB), (1, 80 * MB)]), None);
        // Not measured.
        assert_eq!(choose(&[(busy, 0), (1, 0)]), None);
        // No other worker to share with.
        assert_eq!(choose(&[(busy, 1000 * MB)]), None);
    }

    #[test]
    fn measuring_starts_when_the_server_is_warm() {
        let now = Instant::now();
        let mut reforks = Reforks::new(ReforkRule::Auto, now);
        let decayed = workers(&[(9999, 100 * MB), (1, 100 * MB)]);
        assert_eq!(reforks.choose(now + WARM_AFTER / 2, 1, &decayed), None);
        let chosen = reforks.choose(now + WARM_AFTER, 1, &decayed);
        assert_eq!(chosen, Some(1));
    }

    #[test]
    fn memory_that_came_back_after_a_refork_does_not_count_as_gain() {
        let (mut reforks, now) = auto();
        reforks.succeeded(now, 100 * MB);
        let later = now + PAUSE_LIMIT;
        let mut choose = |figures: &[(u64, u64)]| reforks.choose(later, 2, &workers(figures));
        assert_eq!(choose(&[(499, 90 * MB), (400, 90 * MB)]), None);
        assert_eq!(choose(&[(500, 40 * MB), (500, 40 * MB)]), None);
        assert_eq!(choose(&[(9999, 60 * MB), (9000, 60 * MB)]), None);
        assert_eq!(choose(&[(9999, 90 * MB), (9000, 90 * MB)]), Some(1));
    }

    #[test]
    fn each_pause_doubles_and_doubles_again_after_little_gain() {
        let (mut reforks, now) = auto();
        let settled = |private| workers(&[(500, private), (500, private)]);
        let decayed = workers(&[(9999, 300 * MB), (9999, 300 * MB)]);

        // The refork gained much: the pause of a minute becomes one of two.
        reforks.succeeded(now, 100 * MB);
        reforks.choose(now, 2, &settled(50 * MB));
        assert_eq!(reforks.choose(now + MINUTE / 2, 2, &decayed), None);
        assert!(reforks.choose(now + MINUTE, 2, &decayed).is_some());
        assert_eq!(reforks.pause, MINUTE * 2);

        // The refork gained little: the pause of two minutes becomes one of four.
        reforks.succeeded(now, 100 * MB);
        reforks.choose(now, 3, &settled(95 * MB));
        assert_eq!(reforks.choose(now + MINUTE * 3, 3, &decayed), None);
        assert!(reforks.choose(now + MINUTE * 4, 3, &decayed).is_some());
        assert_eq!(reforks.pause, MINUTE * 8);
    }
}
