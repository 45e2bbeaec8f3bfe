//! When a worker becomes the next mold: a plain policy over plain numbers and times.

use std::time::{Duration, Instant};

use crate::dispatch::WorkerId;
use crate::settings::Refork;

/// Before so many requests a worker's caches are not full, and its memory says little.
const REQUESTS_LEAST: u64 = 500;

/// What is gained has to be as much, and so large a part of what the workers have for themselves: a refork costs a fork
/// for each worker, and all of them start cold.
const GAIN_LEAST: u64 = 16 * 1024 * 1024;
const GAIN_SHARE_LEAST: f64 = 0.1;

/// A refork that has gained less than this part of what a worker had for itself has gained little.
const LITTLE: f64 = 0.15;

/// The part of what two workers both have for themselves that a refork shares for long; the rest is written again by the
/// first requests, or never was the same. Measured: 0.12 where requests only make garbage, 0.2 in Rails, 0.55 where
/// caches fill (`docs/memory.md`).
const SHARED_AT_FIRST: f64 = 0.25;

/// The same for what workers have gathered since, beyond what the first requests after a refork wrote again.
const SHARED_OF_GROWTH: f64 = 0.5;

/// The first pause, which doubles with each refork and once more with each that failed or gained little.
const FIRST_PAUSE: Duration = Duration::from_secs(60);
const PAUSE_LIMIT: Duration = Duration::from_secs(24 * 3600);

/// A worker that could become the mold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) id: WorkerId,
    /// How many it has begun since the mold took over.
    pub(crate) requests: u64,
    /// What it has for itself, in bytes; 0 when that is not known.
    pub(crate) private: u64,
}

/// What the reforks so far tell about the next one.
#[derive(Debug)]
pub(crate) struct Reforks {
    rule: Refork,
    /// How many have succeeded.
    done: usize,
    /// How long to wait after the next one.
    pause: Duration,
    not_before: Option<Instant>,
    /// Has no worker that can become a mold.
    unfit: Option<u32>,
    last: Last,
}

/// The last refork, by what the worker with the most requests had for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    /// There was none.
    None,
    /// Not known yet what it came to; what the worker had that became the mold.
    Open { before: u64 },
    /// What its workers soon had again: so much is never shared.
    Judged { after: u64 },
}

impl Reforks {
    pub(crate) fn new(rule: Refork, now: Instant) -> Reforks {
        let first = (rule == Refork::Auto).then_some(now + FIRST_PAUSE);
        Reforks {
            rule,
            done: 0,
            pause: FIRST_PAUSE,
            not_before: first,
            unfit: None,
            last: Last::None,
        }
    }

    /// The worker of those that belong to the mold of this generation that is to become the next mold now, if any.
    pub(crate) fn choose(
        &mut self,
        now: Instant,
        generation: u32,
        workers: &[Candidate],
    ) -> Option<WorkerId> {
        let busiest = *workers.iter().max_by_key(|worker| worker.requests)?;
        if self.unfit == Some(generation) {
            return None;
        }
        self.judge(now, &busiest);
        if self.not_before.is_some_and(|not_before| now < not_before) {
            return None;
        }
        let is_due = match &self.rule {
            Refork::Off => false,
            Refork::After(counts) => {
                let count = counts.get(self.done).or(counts.last());
                count.is_some_and(|count| busiest.requests >= *count)
            }
            Refork::Auto => busiest.requests >= REQUESTS_LEAST && self.pays(&busiest, workers),
        };
        is_due.then_some(busiest.id)
    }

    /// A worker that had so many bytes for itself has become the mold.
    pub(crate) fn succeeded(&mut self, now: Instant, private: u64) {
        self.done += 1;
        if self.rule == Refork::Auto {
            self.last = Last::Open { before: private };
            self.wait(now, 2);
        } else {
            self.pause = FIRST_PAUSE;
            self.not_before = None;
        }
    }

    /// A worker was to become the mold, and did not.
    pub(crate) fn failed(&mut self, now: Instant) {
        self.wait(now, 4);
    }

    /// No worker of this generation can become a mold.
    pub(crate) fn refused(&mut self, now: Instant, generation: u32) {
        self.unfit = Some(generation);
        self.failed(now);
    }

    fn wait(&mut self, now: Instant, factor: u32) {
        self.not_before = Some(now + self.pause);
        self.pause = self.pause.saturating_mul(factor).min(PAUSE_LIMIT);
    }

    /// Whether the last refork has gained what it was for, once that is to be seen.
    fn judge(&mut self, now: Instant, busiest: &Candidate) {
        let Last::Open { before } = self.last else {
            return;
        };
        if busiest.requests < REQUESTS_LEAST || busiest.private == 0 {
            return;
        }
        let after = busiest.private;
        if share(before.saturating_sub(after), before) < LITTLE {
            self.wait(now, 2);
        }
        self.last = Last::Judged { after };
    }

    /// Whether what is shared again is worth it.
    fn pays(&self, busiest: &Candidate, workers: &[Candidate]) -> bool {
        let (floor, shared) = match self.last {
            Last::None => (0, SHARED_AT_FIRST),
            Last::Open { .. } => return false,
            Last::Judged { after } => (after, SHARED_OF_GROWTH),
        };
        let others = workers.iter().filter(|worker| worker.id != busiest.id);
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
    reason = "an estimate of bytes, which are not negative"
)]
fn scaled(bytes: u64, factor: f64) -> u64 {
    (bytes as f64 * factor) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MB: u64 = 1024 * 1024;
    const MINUTE: Duration = Duration::from_secs(60);

    /// Workers by their requests and what they have for themselves.
    fn workers(figures: &[(u64, u64)]) -> Vec<Candidate> {
        let worker = |(number, &(requests, private)): (u32, &(u64, u64))| Candidate {
            id: id(number),
            requests,
            private,
        };
        (1..).zip(figures).map(worker).collect()
    }

    fn id(number: u32) -> WorkerId {
        WorkerId {
            number,
            serial: u64::from(number),
        }
    }

    fn after(counts: &[u64]) -> (Reforks, Instant) {
        let now = Instant::now();
        (Reforks::new(Refork::After(counts.to_vec()), now), now)
    }

    /// The policy that measures, when its first pause is over.
    fn auto() -> (Reforks, Instant) {
        let now = Instant::now();
        (Reforks::new(Refork::Auto, now), now + FIRST_PAUSE)
    }

    #[test]
    fn the_worker_that_has_begun_most_is_chosen_when_it_has_begun_enough() {
        let (mut reforks, now) = after(&[1000]);
        let choose = |reforks: &mut Reforks, figures: &[(u64, u64)]| {
            reforks.choose(now, 1, &workers(figures))
        };
        assert_eq!(choose(&mut reforks, &[(999, 0), (10, 0)]), None);
        assert_eq!(choose(&mut reforks, &[(10, 0), (1000, 0)]), Some(id(2)));
        assert_eq!(choose(&mut reforks, &[]), None);
    }

    #[test]
    fn each_refork_has_its_number_and_the_last_one_counts_for_all_further() {
        let (mut reforks, now) = after(&[10, 100]);
        for enough in [10, 100, 100, 100] {
            assert_eq!(reforks.choose(now, 1, &workers(&[(enough - 1, 0)])), None);
            let chosen = reforks.choose(now, 1, &workers(&[(enough, 0)]));
            assert_eq!(chosen, Some(id(1)));
            reforks.succeeded(now, 0);
        }
    }

    #[test]
    fn what_has_failed_is_tried_again_after_a_time_that_grows_until_it_succeeds() {
        let (mut reforks, mut now) = after(&[10]);
        let due = workers(&[(10, 0)]);
        for minutes in [1, 4, 16, 64, 256, 1024, 1440, 1440] {
            reforks.failed(now);
            let pause = MINUTE * minutes;
            assert_eq!(reforks.choose(now + pause / 2, 1, &due), None);
            now += pause;
            assert_eq!(reforks.choose(now, 1, &due), Some(id(1)), "{minutes}");
        }
        reforks.succeeded(now, 0);
        reforks.failed(now);
        assert_eq!(reforks.choose(now + MINUTE, 2, &due), Some(id(1)));
    }

    #[test]
    fn a_generation_that_is_not_fork_safe_is_never_asked_again() {
        let (mut reforks, now) = after(&[10]);
        reforks.refused(now, 1);
        let (due, later) = (workers(&[(10, 0)]), now + PAUSE_LIMIT);
        assert_eq!(reforks.choose(later, 1, &due), None);
        assert_eq!(reforks.choose(later, 2, &due), Some(id(1)));
    }

    #[test]
    fn it_can_be_off() {
        let now = Instant::now();
        let mut reforks = Reforks::new(Refork::Off, now);
        let due = workers(&[(u64::MAX, 1000 * MB), (9, 1000 * MB)]);
        assert_eq!(reforks.choose(now + PAUSE_LIMIT, 1, &due), None);
    }

    #[test]
    fn measured_sharing_must_have_decayed_enough_to_pay() {
        let (mut reforks, now) = auto();
        let mut choose = |figures: &[(u64, u64)]| reforks.choose(now, 1, &workers(figures));
        let busy = 10_000;
        assert_eq!(choose(&[(busy, 80 * MB), (1, 80 * MB)]), Some(id(1)));
        // Too little in bytes.
        assert_eq!(choose(&[(busy, 60 * MB), (1, 60 * MB)]), None);
        // Too little in relation: what one has alone is not shared by anything.
        assert_eq!(choose(&[(busy, 400 * MB), (1, 80 * MB)]), None);
        // Caches are not full.
        assert_eq!(choose(&[(400, 80 * MB), (1, 80 * MB)]), None);
        // Nobody has measured.
        assert_eq!(choose(&[(busy, 0), (1, 0)]), None);
        // There is nobody to share with.
        assert_eq!(choose(&[(busy, 1000 * MB)]), None);
    }

    #[test]
    fn measuring_begins_when_the_server_has_run_for_a_while() {
        let now = Instant::now();
        let mut reforks = Reforks::new(Refork::Auto, now);
        let decayed = workers(&[(9999, 100 * MB), (1, 100 * MB)]);
        assert_eq!(reforks.choose(now + FIRST_PAUSE / 2, 1, &decayed), None);
        let chosen = reforks.choose(now + FIRST_PAUSE, 1, &decayed);
        assert_eq!(chosen, Some(id(1)));
    }

    #[test]
    fn what_came_back_soon_after_a_refork_is_not_expected_to_be_shared_by_the_next() {
        let (mut reforks, now) = auto();
        reforks.succeeded(now, 100 * MB);
        let later = now + PAUSE_LIMIT;
        let mut choose = |figures: &[(u64, u64)]| reforks.choose(later, 2, &workers(figures));
        assert_eq!(choose(&[(499, 90 * MB), (400, 90 * MB)]), None);
        assert_eq!(choose(&[(500, 40 * MB), (500, 40 * MB)]), None);
        assert_eq!(choose(&[(9999, 60 * MB), (9000, 60 * MB)]), None);
        assert_eq!(choose(&[(9999, 90 * MB), (9000, 90 * MB)]), Some(id(1)));
    }

    #[test]
    fn each_pause_is_twice_as_long_and_after_little_gain_longer() {
        let (mut reforks, now) = auto();
        let settled = |private| workers(&[(500, private), (500, private)]);
        let decayed = workers(&[(9999, 300 * MB), (9999, 300 * MB)]);

        // It gained much: the second pause is the second, of a minute, then two.
        reforks.succeeded(now, 100 * MB);
        reforks.choose(now, 2, &settled(50 * MB));
        assert_eq!(reforks.choose(now + MINUTE / 2, 2, &decayed), None);
        assert!(reforks.choose(now + MINUTE, 2, &decayed).is_some());
        assert_eq!(reforks.pause, MINUTE * 2);

        // It gained little: the pause of two minutes becomes one of four.
        reforks.succeeded(now, 100 * MB);
        reforks.choose(now, 3, &settled(95 * MB));
        assert_eq!(reforks.choose(now + MINUTE * 3, 3, &decayed), None);
        assert!(reforks.choose(now + MINUTE * 4, 3, &decayed).is_some());
        assert_eq!(reforks.pause, MINUTE * 8);
    }
}
