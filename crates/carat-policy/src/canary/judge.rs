use std::time::Duration;

use super::latency_histogram::LatencyHistogram;
use super::rank_test::rank_deviation;
use super::share_test::{Share, chance_of_more};
use super::worker_cost::{CostSample, Measure, WorkerCost};

/// Requests to the new code that do not count: its workers are cold.
const WARM_UP: u64 = 100;

/// Requests of each code after which both are compared first. Each comparison waits for twice as many as the last.
const FIRST_LOOK: u64 = 100;

/// Requests of each code that are enough.
const ENOUGH: u64 = 400;

/// The same for figures of its workers.
const FIRST_COST_LOOK: u64 = 10;
const ENOUGH_COST: u64 = 20;

/// What workers may use too much of. What they allocate and keep also takes CPU time, so that is looked at last.
const MEASURES: [(Measure, CanaryVerdict); 3] = [
    (Measure::Objects, CanaryVerdict::MoreAllocations),
    (Measure::Private, CanaryVerdict::MoreMemory),
    (Measure::Cpu, CanaryVerdict::MoreCpu),
];

/// A difference that chance makes at most this often, in one comparison, is none.
const CHANCE: f64 = 0.001;

/// The same for ranks, in standard deviations.
const DEVIATION: f64 = 3.09;

/// A median that grows by less than this is no reason to go back,
const TOLERATED: Duration = Duration::from_millis(1);

/// nor is one that grows by less than one part of so many.
const TOLERATED_PART: u32 = 10;

/// Compares new code with old while both serve. It keeps a fixed number of counters, whatever the number of requests.
#[derive(Debug)]
pub struct CanaryJudge {
    warmed_up: u64,
    next_look: u64,
    next_cost_look: u64,
    /// From where the figures of each worker count next.
    workers: Vec<WorkerCost>,
    old: CodeSample,
    new: CodeSample,
}

#[derive(Debug, Default)]
struct CodeSample {
    requests: u64,
    errors: u64,
    /// Of those that are no errors.
    latency: LatencyHistogram,
    /// Of its workers.
    cost: CostSample,
}

/// Why a canary goes on or back by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CanaryVerdict {
    /// The new code goes on: with enough requests it is not worse.
    NotWorse,
    /// A greater share of its requests failed.
    MoreErrors,
    /// Its responses took longer.
    Slower,
    /// Its workers took more CPU time a request.
    MoreCpu,
    /// They allocated more objects a request.
    MoreAllocations,
    /// They had more private memory.
    MoreMemory,
    /// Its workers died while they served.
    WorkersDied,
    /// There were not enough requests in time.
    TooFewRequests,
}

/// What the requests to one code came to, as far as they were compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JudgedCode {
    /// After the warm-up.
    pub requests: u64,
    /// Those that failed.
    pub errors: u64,
    /// Of the others.
    pub median: Option<Duration>,
    /// Median CPU time a request of its workers.
    pub cpu: Option<Duration>,
    /// Median objects a request that they allocate.
    pub objects: Option<u64>,
    /// Median private memory of a worker in bytes.
    pub private: Option<u64>,
}

/// A comparison that decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CanaryFinding {
    /// What it comes to.
    pub verdict: CanaryVerdict,
    /// The code that served before.
    pub old: JudgedCode,
    /// The code on trial.
    pub new: JudgedCode,
}

impl CanaryVerdict {
    /// Whether the new code takes over.
    pub fn goes_on(self) -> bool {
        self == CanaryVerdict::NotWorse
    }

    /// As users read it.
    pub fn name(self) -> &'static str {
        match self {
            CanaryVerdict::NotWorse => "not worse",
            CanaryVerdict::MoreErrors => "more errors",
            CanaryVerdict::Slower => "slower",
            CanaryVerdict::MoreCpu => "more CPU time",
            CanaryVerdict::MoreAllocations => "more allocations",
            CanaryVerdict::MoreMemory => "more memory",
            CanaryVerdict::WorkersDied => "workers died",
            CanaryVerdict::TooFewRequests => "too few requests",
        }
    }
}

impl Default for CanaryJudge {
    fn default() -> CanaryJudge {
        CanaryJudge {
            warmed_up: 0,
            next_look: FIRST_LOOK,
            next_cost_look: FIRST_COST_LOOK,
            workers: Vec::new(),
            old: CodeSample::default(),
            new: CodeSample::default(),
        }
    }
}

impl CanaryJudge {
    /// Counts a request that came to its code by lot.
    pub fn note(&mut self, is_new: bool, took: Duration, is_error: bool) {
        if self.warmed_up < WARM_UP {
            self.warmed_up += u64::from(is_new);
            return;
        }
        let sample = if is_new { &mut self.new } else { &mut self.old };
        sample.requests += 1;
        if is_error {
            sample.errors += 1;
        } else {
            sample.latency.add(took);
        }
    }

    /// Notes what each worker that takes requests has used so far, and whether it runs the new code.
    pub fn note_workers(&mut self, workers: &[(bool, WorkerCost)]) {
        let before = std::mem::take(&mut self.workers);
        for (is_new, now) in workers {
            let known = before.iter().find(|it| it.pid == now.pid);
            let next = match known.filter(|_| self.warmed_up >= WARM_UP) {
                Some(known) if *is_new => self.new.cost.add(known, *now),
                Some(known) => self.old.cost.add(known, *now),
                None => *now,
            };
            self.workers.push(next);
        }
    }

    /// Compares both codes if another comparison is due. Few comparisons, each with twice the figures of the last, keep
    /// chance from finding a difference sooner or later.
    pub fn look(&mut self) -> Option<CanaryFinding> {
        let requests = self.old.requests.min(self.new.requests);
        let figures = self.old.cost.total().min(self.new.cost.total());
        let is_enough = requests >= ENOUGH && figures >= ENOUGH_COST;
        let of_requests = is_due(requests, &mut self.next_look, is_enough);
        let of_cost = is_due(figures, &mut self.next_cost_look, is_enough);
        let worse = of_requests.then(|| self.worse_requests()).flatten();
        let worse = worse.or_else(|| of_cost.then(|| self.worse_cost()).flatten());
        let verdict = worse.or_else(|| is_enough.then_some(CanaryVerdict::NotWorse))?;
        let (old, new) = (self.old.judged(), self.new.judged());
        Some(CanaryFinding { verdict, old, new })
    }

    fn worse_requests(&self) -> Option<CanaryVerdict> {
        if self.has_more_errors() {
            return Some(CanaryVerdict::MoreErrors);
        }
        self.is_slower().then_some(CanaryVerdict::Slower)
    }

    fn worse_cost(&self) -> Option<CanaryVerdict> {
        let (old, new) = (&self.old.cost, &self.new.cost);
        let mut measures = MEASURES.iter();
        let found = measures.find(|(measure, _)| new.exceeds(old, *measure));
        found.map(|(_, verdict)| *verdict)
    }

    fn has_more_errors(&self) -> bool {
        chance_of_more(self.old.failed(), self.new.failed()) < CHANCE
    }

    fn is_slower(&self) -> bool {
        let medians = (self.old.median(), self.new.median());
        let (Some(old), Some(new)) = medians else {
            return false;
        };
        let most = old.saturating_add(TOLERATED.max(old / TOLERATED_PART));
        let [first, second] = [&self.old, &self.new].map(|it| it.latency.counts());
        new > most && rank_deviation(first, second) > DEVIATION
    }
}

impl CodeSample {
    fn failed(&self) -> Share {
        Share {
            hits: self.errors,
            of: self.requests,
        }
    }

    fn median(&self) -> Option<Duration> {
        self.latency.quantile(0.5)
    }

    fn judged(&self) -> JudgedCode {
        JudgedCode {
            requests: self.requests,
            errors: self.errors,
            median: self.median(),
            cpu: self.cost.median(Measure::Cpu).map(Duration::from_micros),
            objects: self.cost.median(Measure::Objects),
            private: self.cost.median(Measure::Private).map(|it| it * 1024),
        }
    }
}

/// Whether so many figures are to be compared; then the next comparison waits for twice as many.
fn is_due(seen: u64, next: &mut u64, is_enough: bool) -> bool {
    let is_due = is_enough || seen >= *next;
    if is_due {
        *next = seen.saturating_mul(2);
    }
    is_due
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests of a code: how long the nth takes in microseconds, and whether it fails.
    type Behavior = fn(u64) -> (u64, bool);

    /// What a worker has used after so many requests.
    type Cost = fn(u64) -> WorkerCost;

    /// Any times, the same for both, from 5 to 25 ms.
    fn plain(number: u64) -> (u64, bool) {
        (5000 + number * 7919 % 20_000, false)
    }

    fn cost(requests: u64) -> WorkerCost {
        WorkerCost {
            pid: 1,
            requests,
            cpu: Duration::from_millis(requests),
            objects: requests * 500,
            private: Some(64 << 20),
        }
    }

    /// The finding, and how many requests each code got. Every request is noted for both codes.
    fn judged(old: Behavior, new: Behavior) -> (CanaryFinding, u64) {
        judged_with((old, cost), (new, cost))
    }

    fn judged_with(
        (old, old_cost): (Behavior, Cost),
        (new, new_cost): (Behavior, Cost),
    ) -> (CanaryFinding, u64) {
        let mut judge = CanaryJudge::default();
        let found = (1..=10_000).find_map(|number| {
            let new_worker = WorkerCost {
                pid: 2,
                ..new_cost(number)
            };
            judge.note_workers(&[(false, old_cost(number)), (true, new_worker)]);
            for (is_new, (micros, is_error)) in [(true, new(number)), (false, old(number))] {
                judge.note(is_new, Duration::from_micros(micros), is_error);
            }
            Some((judge.look()?, number))
        });
        found.expect("it decides")
    }

    fn verdict(old: Behavior, new: Behavior) -> CanaryVerdict {
        judged(old, new).0.verdict
    }

    #[test]
    fn equal_code_goes_on_when_both_have_enough_requests() {
        let (finding, requests) = judged(plain, plain);
        assert_eq!(finding.verdict, CanaryVerdict::NotWorse);
        assert_eq!(finding.new.requests, ENOUGH);
        assert!((WARM_UP + ENOUGH..=WARM_UP + ENOUGH + 1).contains(&requests));
    }

    #[test]
    fn code_that_fails_more_often_goes_back_soon() {
        let (finding, _) = judged(plain, |number| (5000, number % 10 == 0));
        assert_eq!(finding.verdict, CanaryVerdict::MoreErrors);
        assert_eq!((finding.new.requests, finding.new.errors), (100, 10));
        assert_eq!(finding.old.errors, 0);
    }

    #[test]
    fn errors_that_both_have_are_no_reason() {
        let failing = |number| (5000, number % 10 == 0);
        assert_eq!(verdict(failing, failing), CanaryVerdict::NotWorse);
        let repaired = verdict(failing, plain);
        assert_ne!(repaired, CanaryVerdict::MoreErrors);
    }

    #[test]
    fn slower_code_goes_back_and_faster_code_goes_on() {
        let slow = |number| (plain(number).0 * 2, false);
        assert_eq!(verdict(plain, slow), CanaryVerdict::Slower);
        assert_eq!(verdict(slow, plain), CanaryVerdict::NotWorse);
    }

    #[test]
    fn a_difference_below_a_tenth_or_a_millisecond_is_no_reason() {
        let found = verdict(|_| (500, false), |_| (1400, false));
        assert_eq!(found, CanaryVerdict::NotWorse);
        let found = verdict(|_| (50_000, false), |_| (52_000, false));
        assert_eq!(found, CanaryVerdict::NotWorse);
        let found = verdict(|_| (500, false), |_| (1700, false));
        assert_eq!(found, CanaryVerdict::Slower);
    }

    #[test]
    fn what_a_cold_worker_does_does_not_count() {
        let cold = |number| {
            if number <= WARM_UP {
                (900_000, true)
            } else {
                plain(number)
            }
        };
        assert_eq!(verdict(plain, cold), CanaryVerdict::NotWorse);
    }

    #[test]
    fn code_whose_workers_use_more_goes_back_and_code_that_uses_less_goes_on() {
        let worse: [(CanaryVerdict, Cost); 3] = [
            (CanaryVerdict::MoreCpu, |number| WorkerCost {
                cpu: cost(number).cpu * 2,
                ..cost(number)
            }),
            (CanaryVerdict::MoreAllocations, |number| WorkerCost {
                objects: number * 5000,
                ..cost(number)
            }),
            (CanaryVerdict::MoreMemory, |number| WorkerCost {
                private: Some((64 << 20) + number * 100_000),
                ..cost(number)
            }),
        ];
        for (verdict, heavy) in worse {
            let (finding, _) = judged_with((plain, cost), (plain, heavy));
            assert_eq!(finding.verdict, verdict);
            let (finding, _) = judged_with((plain, heavy), (plain, cost));
            assert_eq!(finding.verdict, CanaryVerdict::NotWorse);
        }
    }

    #[test]
    fn workers_that_use_a_little_more_are_no_reason() {
        let little: Cost = |number| WorkerCost {
            cpu: cost(number).cpu.mul_f64(1.15),
            objects: number * 580,
            private: Some(71 << 20),
            ..cost(number)
        };
        let (finding, _) = judged_with((plain, cost), (plain, little));
        assert_eq!(finding.verdict, CanaryVerdict::NotWorse);
        assert!(finding.new.cpu > finding.old.cpu && finding.new.private > finding.old.private);
    }

    #[test]
    fn fast_requests_wait_for_the_figures_of_the_workers() {
        let mut judge = CanaryJudge::default();
        for _ in 0..100_000 {
            for is_new in [true, false] {
                judge.note(is_new, Duration::from_millis(1), false);
            }
            assert_eq!(judge.look(), None);
        }
    }

    /// How many of 200 canaries go on. The times are drawn anew from 5 to 45 ms, one request in 100 fails, and each takes
    /// 0.2 to 4.2 ms of CPU time and 100 to 2100 objects; memory grows to 40 MiB, give or take 10.
    fn that_go_on(slower: f64, heavier: f64) -> usize {
        let mut state: u64 = 7;
        let mut below = |limit: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005) ^ 0x9e37_79b9;
            u32::try_from(state >> 33).expect("31 bits") % limit
        };
        let goes_on = |_: &u32| {
            let mut judge = CanaryJudge::default();
            let mut workers = [0, 1].map(|pid| WorkerCost { pid, ..cost(0) });
            let verdict = loop {
                let is_new = below(2) == 1;
                let took = Duration::from_micros((5000 + below(40_000)).into());
                let took = if is_new { took.mul_f64(slower) } else { took };
                judge.note(is_new, took, below(100) == 0);
                let worker = &mut workers[usize::from(is_new)];
                let cpu = Duration::from_micros((200 + below(4000)).into());
                worker.requests += 1;
                worker.cpu += if is_new { cpu.mul_f64(heavier) } else { cpu };
                worker.objects += u64::from(100 + below(2000));
                worker.private = Some(u64::from((30 << 20) + below(20 << 20)));
                judge.note_workers(&[(false, workers[0]), (true, workers[1])]);
                if let Some(finding) = judge.look() {
                    break finding.verdict;
                }
            };
            verdict.goes_on()
        };
        (0..200_u32).filter(goes_on).count()
    }

    #[test]
    fn chance_seldom_decides() {
        assert!(that_go_on(1.0, 1.0) >= 197);
        assert!(that_go_on(1.5, 1.0) <= 3);
        assert!(that_go_on(1.0, 1.5) <= 3);
    }

    #[test]
    fn code_without_requests_is_not_judged() {
        for is_new in [true, false] {
            let mut judge = CanaryJudge::default();
            for _ in 0..100_000 {
                judge.note(is_new, Duration::from_millis(1), true);
                assert_eq!(judge.look(), None);
            }
        }
    }
}
