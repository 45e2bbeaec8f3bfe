//! When a worker rests: it gets no new request, runs a full garbage collection while it serves none, and then serves
//! again.
//!
//! A full collection stops all threads of its process, for longer if the heap is larger. If the worker rests, no
//! request waits for that.
//!
//! ```
//! use carat_policy::{CollectionNeed, RestStep, Rotation, ServingWorker};
//! use std::time::{Duration, Instant};
//!
//! let now = Instant::now();
//! let busy = ServingWorker::new(1);
//! let due = ServingWorker { need: Some(CollectionNeed { since: now, is_urgent: false, load: 30 }), ..ServingWorker::new(2) };
//! let rotation = Rotation { workers: &[busy, due], waiting: 0, processors: 2, rests_pay: true, now };
//! assert_eq!(rotation.next_step(), Some(RestStep::Begin(2)));
//! ```

use std::cmp::Reverse;
use std::time::{Duration, Instant};

/// The number of workers of which one may rest at a time. One may rest where there are fewer, too.
const ONE_OF: usize = 4;

/// A resting worker whose requests last for long is told to collect after this time, although they still run. It gets
/// no new requests, so the fewest run at the end of this time. Nearly all requests of web applications are shorter.
const EMPTY_WITHIN: Duration = Duration::from_secs(2);

/// The limit that replaces `EMPTY_WITHIN` while requests wait because the other workers cannot serve them all. The idle
/// threads of a resting worker then cost more than a collection during requests.
const EMPTY_WITHIN_UNDER_LOAD: Duration = Duration::from_millis(100);

/// How long a due collection waits for a moment in which no request waits for a worker. Under full load there is no
/// such moment, and the heap grows meanwhile.
const PATIENCE: Duration = Duration::from_millis(300);

/// A worker that is the only one is told to collect when it has had no request for this long. Under load, the gaps
/// between requests are shorter.
const LULL: Duration = Duration::from_millis(50);

/// A worker that has not reported its collection within this time serves again, and collects during its requests. A
/// full collection takes less, even with a heap of many gigabytes.
const REPLY_WITHIN: Duration = Duration::from_secs(5);

/// A worker serves for at least this many times the idle part of its last rest before it rests again, however often a
/// collection is due.
const SERVES_FOR: u32 = 19;

/// How long no worker rests after a rest that did not pay: the first pause, and the longest one.
const COSTLY_PAUSES: [Duration; 2] = [Duration::from_secs(60), Duration::from_secs(16 * 60)];

/// The highest load at which a worker rests, in percent of what the others can serve meanwhile. Up to this load, few
/// requests queue during a rest, and none for long. Above it, the queue delays more requests than the collection would.
const MOST_LOAD_PERCENT: u64 = 80;

/// A full collection that a worker needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CollectionNeed {
    /// When the worker reported the need.
    pub since: Instant,
    /// Whether the worker is replaced unless the collection frees enough.
    pub is_urgent: bool,
    /// The share of one processor that the worker has used lately, in percent.
    pub load: u8,
}

/// A worker that takes requests, or rests.
#[derive(Debug, Clone, Copy)]
pub struct ServingWorker {
    /// Identifies the worker.
    pub serial: u64,
    /// `None` for a worker that needs no full collection.
    pub need: Option<CollectionNeed>,
    /// Since when the worker rests; `None` if it does not.
    pub rests_since: Option<Instant>,
    /// When the worker was told to collect.
    pub told: Option<Instant>,
    /// The time before which the worker may not rest again.
    pub not_before: Option<Instant>,
    /// How many requests would wait for a collection. A response that has been streamed for long does not count.
    pub running: usize,
    /// How long the worker has had no request.
    pub idle: Duration,
    /// How many requests the worker has begun in the same time as others, in any unit.
    pub rate: u64,
    /// Whether the worker would begin a request, as far as is known. Code of the application that computes may keep its
    /// threads busy.
    pub is_able: bool,
}

impl ServingWorker {
    /// A worker that could begin a request, and needs no collection.
    pub fn new(serial: u64) -> ServingWorker {
        ServingWorker {
            serial,
            need: None,
            rests_since: None,
            told: None,
            not_before: None,
            running: 0,
            idle: Duration::ZERO,
            rate: 1,
            is_able: true,
        }
    }

    fn rests(&self) -> bool {
        self.rests_since.is_some()
    }

    fn serves(&self) -> bool {
        !self.rests() && self.told.is_none()
    }
}

/// All workers that take requests, or rest.
#[derive(Debug, Clone, Copy)]
pub struct Rotation<'a> {
    /// The workers, in any order.
    pub workers: &'a [ServingWorker],
    /// How many requests wait for a worker.
    pub waiting: usize,
    /// How many processors the workers share.
    pub processors: u32,
    /// Whether the last rests were worth it ([`RestBalance::rests_pay`]).
    pub rests_pay: bool,
    /// The time.
    pub now: Instant,
}

/// A step in the rest of the worker with this serial number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RestStep {
    /// The worker takes no new request from now on.
    Begin(u64),
    /// The worker is told to collect, whether it rests or not.
    Collect(u64),
    /// The worker is told to leave its collection to Ruby, which marks in steps during requests. It needs none any more.
    Decline(u64),
    /// The worker takes requests again. If it was told to collect, it needs no collection any more.
    End(u64),
}

impl Rotation<'_> {
    /// The next step, if one is due. The caller takes it, and asks again.
    pub fn next_step(&self) -> Option<RestStep> {
        self.end()
            .or_else(|| self.collect())
            .or_else(|| self.decline())
            .or_else(|| self.begin())
            .or_else(|| self.collect_alone())
    }

    /// Ends a rest that is needless or lasts too long. If no other worker serves, or too many rest because others have
    /// ended, a rest is ended at once.
    fn end(&self) -> Option<RestStep> {
        let nobody_serves = self.resting() == self.workers.len();
        let too_many = self.resting() > self.most_resting();
        let ends = |worker: &&ServingWorker| {
            let is_late = worker
                .told
                .is_some_and(|told| self.since(told) >= REPLY_WITHIN);
            let is_needless = worker.need.is_none() && worker.told.is_none();
            // One that was told would hold its requests until it has collected.
            let is_one_too_many = too_many && worker.told.is_none();
            is_late || worker.rests() && (is_needless || nobody_serves || is_one_too_many)
        };
        // A worker that was told to collect would begin a request later, so another is preferred.
        let ending = self.workers.iter().filter(ends);
        let first = ending.min_by_key(|worker| worker.told.is_some())?;
        Some(RestStep::End(first.serial))
    }

    /// Tells a resting worker to collect when its requests have finished, or have lasted too long.
    fn collect(&self) -> Option<RestStep> {
        let limit = if self.waiting > 0 {
            EMPTY_WITHIN_UNDER_LOAD
        } else {
            EMPTY_WITHIN
        };
        let is_due = |worker: &&ServingWorker| {
            let rested = worker.rests_since.map(|since| self.since(since));
            worker.told.is_none()
                && rested.is_some_and(|rested| worker.running == 0 || rested >= limit)
        };
        let worker = self.workers.iter().find(is_due)?;
        Some(RestStep::Collect(worker.serial))
    }

    /// Declines a rest that would leave the others too little time to spare, also before the worker may rest again: its
    /// heap would grow while it waits in vain. More requests would wait for the rest than for a collection that Ruby runs
    /// in steps.
    fn decline(&self) -> Option<RestStep> {
        if self.workers.len() == 1 {
            return None;
        }
        let is_declined = |worker: &&ServingWorker| {
            let costs = |need: CollectionNeed| !need.is_urgent && !self.pays(worker, need);
            worker.serves() && worker.need.is_some_and(costs)
        };
        let worker = self.workers.iter().find(is_declined)?;
        Some(RestStep::Decline(worker.serial))
    }

    /// Whether a rest saves more waiting than it causes. The requests of all workers are assumed to cost the same. While
    /// one worker collects, the others get their share of the processors, and none uses more than one.
    fn pays(&self, worker: &ServingWorker, need: CollectionNeed) -> bool {
        let rate: u64 = self.workers.iter().map(|it| it.rate).sum();
        let workers = self.workers.len() as u64;
        let own = u64::from(need.load);
        let load = (own * rate).checked_div(worker.rate);
        let load = load.unwrap_or(own * workers);
        let serving = workers.saturating_sub(self.most_resting() as u64);
        let processors = workers.min(self.processors.into());
        self.rests_pay && load * workers <= processors * serving * MOST_LOAD_PERCENT
    }

    /// Begins the rest of the worker that needs a collection most; among several, of the one that has needed it for
    /// longest. Another worker must be able to serve meanwhile.
    fn begin(&self) -> Option<RestStep> {
        if self.resting() >= self.most_resting() {
            return None;
        }
        let may_rest = |worker: &&ServingWorker| {
            let serves = |other: &&ServingWorker| other.serial != worker.serial && !other.rests();
            let mut others = self.workers.iter().filter(serves);
            self.needs(worker) && others.any(|other| other.is_able)
        };
        let ready = self.workers.iter().filter(may_rest);
        let next = ready.min_by_key(|worker| order(worker))?;
        let waited = next.need.map(|need| self.since(need.since));
        let has_moment = self.waiting == 0 || waited.is_some_and(|waited| waited >= PATIENCE);
        has_moment.then_some(RestStep::Begin(next.serial))
    }

    /// Tells the only worker to collect while it has no request and none waits, or at once where it would be replaced.
    fn collect_alone(&self) -> Option<RestStep> {
        let [worker] = self.workers else { return None };
        let is_lull = self.waiting == 0 && worker.running == 0 && worker.idle >= LULL;
        let is_urgent = worker.need.is_some_and(|need| need.is_urgent);
        let has_moment = is_lull || is_urgent;
        (has_moment && self.needs(worker)).then_some(RestStep::Collect(worker.serial))
    }

    /// Whether a worker that serves needs a collection now.
    fn needs(&self, worker: &ServingWorker) -> bool {
        let may = worker.not_before.is_none_or(|at| self.now >= at);
        may && worker.serves() && worker.need.is_some()
    }

    /// How many workers may rest at a time.
    fn most_resting(&self) -> usize {
        (self.workers.len() / ONE_OF).max(1)
    }

    fn resting(&self) -> usize {
        self.workers.iter().filter(|worker| worker.rests()).count()
    }

    fn since(&self, then: Instant) -> Duration {
        self.now.saturating_duration_since(then)
    }
}

/// The order in which workers rest: by urgency, then by the age of the need. The serial number makes the order
/// complete.
fn order(worker: &ServingWorker) -> (Reverse<bool>, Option<Instant>, u64) {
    let need = worker.need;
    let is_urgent = need.is_some_and(|need| need.is_urgent);
    (
        Reverse(is_urgent),
        need.map(|need| need.since),
        worker.serial,
    )
}

/// How long a worker serves at least after a rest that lasted for `rest`. The time `took` of the collection does not
/// count, because the worker would have run it anyway. With this pause, a worker idles at most a twentieth of its time.
pub fn pause_after_rest(rest: Duration, took: Duration) -> Duration {
    rest.saturating_sub(took).saturating_mul(SERVES_FOR)
}

/// Whether rests save more waiting than they cause, as the last ones have shown.
///
/// A full collection outside of a rest delays at most the requests that its worker serves at once. If more requests wait
/// at the end of a rest, the rest has cost more than that: the other workers could not serve the share of the resting
/// one. After such a rest no worker rests for a minute. Each further one in a row doubles the pause, up to 16 minutes.
/// Until then, collections run during requests, in steps, as Ruby runs them by default.
#[derive(Debug, Clone, Copy, Default)]
pub struct RestBalance {
    pause: Duration,
    until: Option<Instant>,
}

impl RestBalance {
    /// Notes that the rest of a worker that serves `slots` requests at once is over, and how many requests wait.
    pub fn note_rest(&mut self, waiting: usize, slots: usize, now: Instant) {
        let [first, longest] = COSTLY_PAUSES;
        if waiting > slots {
            self.pause = (self.pause * 2).clamp(first, longest);
            self.until = Some(now + self.pause);
        } else {
            *self = RestBalance::default();
        }
    }

    /// Whether a worker may rest.
    pub fn rests_pay(&self, now: Instant) -> bool {
        self.until.is_none_or(|until| now >= until)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    fn now() -> Instant {
        Instant::now()
    }

    fn due(serial: u64, since: Instant) -> ServingWorker {
        let is_urgent = false;
        ServingWorker {
            need: Some(CollectionNeed {
                since,
                is_urgent,
                load: 20,
            }),
            ..ServingWorker::new(serial)
        }
    }

    fn resting(serial: u64, since: Instant) -> ServingWorker {
        ServingWorker {
            rests_since: Some(since),
            ..due(serial, since)
        }
    }

    fn step(workers: &[ServingWorker], waiting: usize, now: Instant) -> Option<RestStep> {
        let (processors, rests_pay) = (16, true);
        let rotation = Rotation {
            workers,
            waiting,
            processors,
            rests_pay,
            now,
        };
        rotation.next_step()
    }

    /// The step where no request waits.
    fn step_on(processors: u32, workers: &[ServingWorker], rests_pay: bool) -> Option<RestStep> {
        let rotation = Rotation {
            workers,
            waiting: 0,
            processors,
            rests_pay,
            now: now(),
        };
        rotation.next_step()
    }

    /// Carries out every step that is due.
    fn settle(workers: &mut [ServingWorker], now: Instant) {
        while let Some(step) = step(workers, 0, now) {
            let mut with = |serial: u64, act: &dyn Fn(&mut ServingWorker)| {
                workers
                    .iter_mut()
                    .filter(|it| it.serial == serial)
                    .for_each(act);
            };
            match step {
                RestStep::Begin(serial) => with(serial, &|it| it.rests_since = Some(now)),
                RestStep::Decline(serial) => with(serial, &|it| it.need = None),
                RestStep::Collect(serial) => with(serial, &|it| it.told = Some(now)),
                RestStep::End(serial) => with(serial, &|it| {
                    (it.need, it.rests_since, it.told) = (None, None, None);
                }),
            }
        }
    }

    #[test]
    fn nobody_rests_where_nobody_needs_to() {
        let workers = [ServingWorker::new(1), ServingWorker::new(2)];
        assert_eq!(step(&workers, 0, now()), None);
        assert_eq!(step(&[], 0, now()), None);
    }

    #[test]
    fn one_worker_of_four_rests_at_a_time_and_one_of_fewer() {
        for (count, expected) in [(2, 1), (3, 1), (4, 1), (7, 1), (8, 2), (16, 4)] {
            let now = now();
            let mut workers: Vec<_> = (0..count).map(|serial| due(serial, now)).collect();
            settle(&mut workers, now);
            let resting = workers.iter().filter(|it| it.rests()).count();
            assert_eq!(resting, expected, "of {count}");
        }
    }

    #[test]
    fn all_that_are_due_at_once_rest_one_after_the_other() {
        let now = now();
        let mut workers: Vec<_> = (1..=3).map(|serial| due(serial, now)).collect();
        let mut order = Vec::new();
        for _ in 0..3 {
            settle(&mut workers, now);
            let out = workers.iter_mut().find(|it| it.told.is_some());
            let out = out.expect("one that collects");
            order.push(out.serial);
            (out.need, out.rests_since, out.told) = (None, None, None);
        }
        settle(&mut workers, now);
        assert_eq!(order, [1, 2, 3]);
        assert!(workers.iter().all(|it| !it.rests()));
    }

    #[test]
    fn the_worker_with_the_greatest_need_rests_first_and_of_several_the_one_that_waits_for_longest()
    {
        let now = now();
        let mut workers = [due(1, now + 2 * MS), due(2, now), due(3, now + MS)];
        let later = now + 3 * MS;
        assert_eq!(step(&workers, 0, later), Some(RestStep::Begin(2)));
        workers[2].need = Some(CollectionNeed {
            since: later,
            is_urgent: true,
            load: 20,
        });
        assert_eq!(step(&workers, 0, later), Some(RestStep::Begin(3)));
    }

    #[test]
    fn a_worker_collects_once_it_is_empty() {
        let now = now();
        let mut workers = [ServingWorker::new(1), resting(2, now)];
        workers[1].running = 1;
        assert_eq!(step(&workers, 0, now), None);
        workers[1].running = 0;
        assert_eq!(step(&workers, 0, now), Some(RestStep::Collect(2)));
        workers[1].told = Some(now);
        assert_eq!(step(&workers, 0, now), None);
    }

    #[test]
    fn a_worker_that_does_not_become_empty_collects_with_its_requests() {
        let now = now();
        let mut workers = [ServingWorker::new(1), resting(2, now)];
        workers[1].running = 1;
        let at = |waiting, after: Duration| step(&workers, waiting, now + after);
        assert_eq!(at(0, EMPTY_WITHIN.saturating_sub(MS)), None);
        assert_eq!(at(0, EMPTY_WITHIN), Some(RestStep::Collect(2)));
        // Clients wait, and the worker that rests keeps a thread idle.
        assert_eq!(at(1, EMPTY_WITHIN_UNDER_LOAD.saturating_sub(MS)), None);
        assert_eq!(at(1, EMPTY_WITHIN_UNDER_LOAD), Some(RestStep::Collect(2)));
    }

    #[test]
    fn a_rest_begins_when_no_client_waits_or_the_need_is_old() {
        let now = now();
        let workers = [ServingWorker::new(1), due(2, now)];
        assert_eq!(step(&workers, 1, now + PATIENCE.saturating_sub(MS)), None);
        assert_eq!(step(&workers, 1, now + PATIENCE), Some(RestStep::Begin(2)));
        assert_eq!(step(&workers, 0, now), Some(RestStep::Begin(2)));
    }

    #[test]
    fn the_only_worker_never_rests_and_collects_in_a_lull() {
        let now = now();
        let mut worker = due(1, now);
        assert_eq!(step(&[worker], 0, now), None);
        worker.idle = LULL;
        assert_eq!(step(&[worker], 1, now), None);
        assert_eq!(step(&[worker], 0, now), Some(RestStep::Collect(1)));
        (worker.idle, worker.running) = (Duration::ZERO, 1);
        let is_urgent = true;
        worker.need = Some(CollectionNeed {
            since: now,
            is_urgent,
            load: 100,
        });
        assert_eq!(step(&[worker], 1, now), Some(RestStep::Collect(1)));
        worker.told = Some(now);
        assert_eq!(step(&[worker], 0, now), None);
        assert_eq!(
            step(&[worker], 0, now + REPLY_WITHIN),
            Some(RestStep::End(1))
        );
    }

    #[test]
    fn a_worker_does_not_rest_while_the_others_compute() {
        let now = now();
        let mut workers = [ServingWorker::new(1), due(2, now)];
        workers[0].is_able = false;
        assert_eq!(step(&workers, 0, now + PATIENCE), None);
        workers[0].is_able = true;
        assert_eq!(step(&workers, 0, now), Some(RestStep::Begin(2)));
    }

    #[test]
    fn a_worker_that_is_left_alone_serves_again_at_once() {
        let now = now();
        let mut worker = resting(1, now);
        assert_eq!(step(&[worker], 0, now), Some(RestStep::End(1)));
        worker.told = Some(now);
        assert_eq!(step(&[worker], 0, now), Some(RestStep::End(1)));
        // Of two, the one that begins a request sooner.
        let other = resting(2, now);
        assert_eq!(step(&[worker, other], 0, now), Some(RestStep::End(2)));
    }

    #[test]
    fn where_others_have_ended_too_many_do_not_stay_out() {
        let now = now();
        let mut workers: Vec<_> = (3..=8).map(ServingWorker::new).collect();
        workers.extend([1, 2].map(|serial| ServingWorker {
            running: 1,
            ..resting(serial, now)
        }));
        assert_eq!(step(&workers, 0, now), None);
        workers.remove(0);
        assert_eq!(step(&workers, 0, now), Some(RestStep::End(1)));
        workers[5].told = Some(now);
        assert_eq!(step(&workers, 0, now), Some(RestStep::End(2)));
        workers[6].told = Some(now);
        assert_eq!(step(&workers, 0, now), None);
    }

    #[test]
    fn a_rest_that_is_needless_ends() {
        let now = now();
        let mut worker = resting(2, now);
        worker.need = None;
        let workers = [ServingWorker::new(1), worker];
        assert_eq!(step(&workers, 0, now), Some(RestStep::End(2)));
    }

    #[test]
    fn a_worker_that_does_not_reply_serves_again() {
        let now = now();
        let mut worker = resting(2, now);
        worker.told = Some(now);
        let workers = [ServingWorker::new(1), worker];
        assert_eq!(
            step(&workers, 0, now + REPLY_WITHIN.saturating_sub(MS)),
            None
        );
        let late = step(&workers, 0, now + REPLY_WITHIN);
        assert_eq!(late, Some(RestStep::End(2)));
    }

    #[test]
    fn a_rest_that_makes_more_requests_wait_than_it_saves_is_not_repeated_soon() {
        let start = now();
        let mut balance = RestBalance::default();
        balance.note_rest(3, 3, start);
        assert!(balance.rests_pay(start));
        let mut at = start;
        for minutes in [1, 2, 4, 8, 16, 16] {
            balance.note_rest(4, 3, at);
            let pause = Duration::from_secs(minutes * 60);
            assert!(!balance.rests_pay(at + pause / 2));
            at += pause;
            assert!(balance.rests_pay(at));
        }
        balance.note_rest(0, 3, at);
        balance.note_rest(4, 3, at);
        assert!(balance.rests_pay(at + Duration::from_secs(60)));
    }

    /// The step of a worker with this load, of so many on so many processors, all of which could begin a request.
    fn step_of(
        load: u8,
        is_urgent: bool,
        workers: u64,
        processors: u32,
        rests_pay: bool,
    ) -> Option<RestStep> {
        let now = now();
        let need = Some(CollectionNeed {
            since: now,
            is_urgent,
            load,
        });
        let mut workers: Vec<_> = (1..=workers).map(ServingWorker::new).collect();
        workers[0].need = need;
        workers[0].idle = LULL;
        step_on(processors, &workers, rests_pay)
    }

    #[test]
    fn a_worker_rests_only_if_the_others_can_serve_its_share() {
        // Workers, processors, and the highest load of each worker at which one rests.
        for (workers, processors, most) in [
            (2, 2, 40),
            (2, 8, 40),
            (2, 1, 20),
            (4, 4, 60),
            (4, 2, 30),
            (8, 8, 60),
            (3, 3, 53),
        ] {
            let step = |load| step_of(load, false, workers, processors, true);
            let of = format!("{workers} workers on {processors} processors");
            assert_eq!(step(most), Some(RestStep::Begin(1)), "{of}");
            assert_eq!(step(most + 1), Some(RestStep::Decline(1)), "{of}");
        }
    }

    #[test]
    fn the_load_of_the_others_follows_from_the_share_of_the_requests_that_they_begin() {
        let now = now();
        let step = |load, rates: [u64; 2]| {
            let mut workers = [due(1, now), ServingWorker::new(2)];
            workers[0].need = Some(CollectionNeed {
                since: now,
                is_urgent: false,
                load,
            });
            for (worker, rate) in workers.iter_mut().zip(rates) {
                worker.rate = rate;
            }
            step_on(2, &workers, true)
        };
        assert_eq!(step(80, [1000, 0]), Some(RestStep::Begin(1)));
        assert_eq!(step(70, [1000, 140]), Some(RestStep::Begin(1)));
        assert_eq!(step(70, [1000, 160]), Some(RestStep::Decline(1)));
        assert_eq!(step(20, [100, 500]), Some(RestStep::Decline(1)));
    }

    #[test]
    fn a_rest_is_declined_although_the_worker_has_just_rested() {
        let now = now();
        let mut workers = [due(1, now), ServingWorker::new(2)];
        workers[0].not_before = Some(now + Duration::from_secs(30));
        assert_eq!(step_on(2, &workers, true), None);
        assert_eq!(step_on(2, &workers, false), Some(RestStep::Decline(1)));
    }

    #[test]
    fn a_worker_that_would_be_replaced_rests_even_where_rests_do_not_pay() {
        assert_eq!(step_of(20, false, 2, 2, false), Some(RestStep::Decline(1)));
        assert_eq!(step_of(20, true, 2, 2, false), Some(RestStep::Begin(1)));
        assert_eq!(step_of(100, true, 2, 2, true), Some(RestStep::Begin(1)));
    }

    #[test]
    fn the_only_worker_waits_for_a_lull_at_any_load() {
        assert_eq!(step_of(100, false, 1, 1, false), Some(RestStep::Collect(1)));
    }

    #[test]
    fn a_worker_idles_at_most_a_twentieth_of_its_time_however_often_it_collects() {
        let now = now();
        let pause = pause_after_rest(120 * MS, 80 * MS);
        let mut worker = due(2, now);
        worker.not_before = Some(now + pause);
        let workers = [ServingWorker::new(1), worker];
        assert_eq!(step(&workers, 0, now), None);
        let later = now + 19 * 40 * MS;
        assert_eq!(step(&workers, 0, later), Some(RestStep::Begin(2)));
    }
}
