use std::time::Duration;

use super::latency_histogram::LatencyHistogram;
use super::rank_test::rank_deviation;
use super::share_test::{Share, chance_of_more};

/// Requests to the new code that do not count: its workers are cold.
const WARM_UP: u64 = 100;

/// Requests of each code after which both are compared first. Each comparison waits for twice as many as the last.
const FIRST_LOOK: u64 = 100;

/// Requests of each code that are enough.
const ENOUGH: u64 = 400;

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
    old: CodeSample,
    new: CodeSample,
}

#[derive(Debug, Default)]
struct CodeSample {
    requests: u64,
    errors: u64,
    /// Of those that are no errors.
    latency: LatencyHistogram,
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
    #[must_use]
    pub fn goes_on(self) -> bool {
        self == CanaryVerdict::NotWorse
    }

    /// As users read it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            CanaryVerdict::NotWorse => "not worse",
            CanaryVerdict::MoreErrors => "more errors",
            CanaryVerdict::Slower => "slower",
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

    /// Compares both codes if another comparison is due. Few comparisons, each with twice the requests of the last, keep
    /// chance from finding a difference sooner or later.
    pub fn look(&mut self) -> Option<CanaryFinding> {
        let seen = self.old.requests.min(self.new.requests);
        if seen < self.next_look {
            return None;
        }
        self.next_look = seen.saturating_mul(2).min(ENOUGH.max(seen + 1));
        let verdict = if self.has_more_errors() {
            CanaryVerdict::MoreErrors
        } else if self.is_slower() {
            CanaryVerdict::Slower
        } else if seen >= ENOUGH {
            CanaryVerdict::NotWorse
        } else {
            return None;
        };
        let (old, new) = (self.old.judged(), self.new.judged());
        Some(CanaryFinding { verdict, old, new })
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
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Requests of a code: how long the nth takes in microseconds, and whether it fails.
    type Behavior = fn(u64) -> (u64, bool);

    /// Any times, the same for both, from 5 to 25 ms.
    fn plain(number: u64) -> (u64, bool) {
        (5000 + number * 7919 % 20_000, false)
    }

    /// The finding, and how many requests each code got. Every request is noted for both codes.
    fn judged(old: Behavior, new: Behavior) -> (CanaryFinding, u64) {
        let mut judge = CanaryJudge::default();
        let found = (1..=10_000).find_map(|number| {
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
        assert_eq!(
            verdict(|_| (500, false), |_| (1400, false)),
            CanaryVerdict::NotWorse
        );
        assert_eq!(
            verdict(|_| (50_000, false), |_| (52_000, false)),
            CanaryVerdict::NotWorse
        );
        assert_eq!(
            verdict(|_| (500, false), |_| (1700, false)),
            CanaryVerdict::Slower
        );
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

    /// How many of 200 canaries, whose times are drawn anew from 5 to 45 ms and of whose requests one in 100 fails, go on.
    fn that_go_on(slower: f64) -> usize {
        let mut state: u64 = 7;
        let mut below = |limit: u32| {
            state = state.wrapping_mul(6_364_136_223_846_793_005) ^ 0x9e37_79b9;
            u32::try_from(state >> 33).expect("31 bits") % limit
        };
        let goes_on = |_: &u32| {
            let mut judge = CanaryJudge::default();
            let verdict = loop {
                let is_new = below(2) == 1;
                let took = Duration::from_micros((5000 + below(40_000)).into());
                let took = if is_new { took.mul_f64(slower) } else { took };
                judge.note(is_new, took, below(100) == 0);
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
        assert!(that_go_on(1.0) >= 197);
        assert!(that_go_on(1.5) <= 3);
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
