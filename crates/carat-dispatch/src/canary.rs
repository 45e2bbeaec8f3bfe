use std::cell::{Cell, RefCell, RefMut};
use std::time::Duration;

use carat_policy::{CanaryJudge, CanaryRule, CanaryUnit, DrawnShare, EvenShare, LatencyHistogram};
use http::header::{COOKIE, SET_COOKIE};
use http::{HeaderMap, HeaderValue};

/// The cookie that keeps a client with the code that its first request got.
const COOKIE_NAME: &str = "carat_canary";

/// While a restart waits, requests go to workers of the new code and of the old.
#[derive(Debug)]
pub(crate) struct Canary {
    /// That of the new code. All others are older.
    generation: u32,
    rule: CanaryRule,
    share: Cell<EvenShare>,
    lots: Cell<DrawnShare>,
    /// If the server decides.
    judge: Option<RefCell<CanaryJudge>>,
    old: CodeStats,
    new: CodeStats,
}

/// Which code serves a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Code {
    #[default]
    Old,
    New,
}

/// The code for a request.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct CodeChoice {
    pub(crate) code: Code,
    /// Whether the client gets the cookie.
    pub(crate) is_first: bool,
}

/// What the requests to one code came to.
#[derive(Debug, Default)]
struct CodeStats {
    errors: Cell<u64>,
    latency: RefCell<LatencyHistogram>,
}

/// What the requests to one code came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CodeReport {
    /// Requests with a response, or without one.
    pub requests: u64,
    /// Responses with a status of 500 to 599, and requests without a response.
    pub errors: u64,
    /// `None` before the first request.
    pub median: Option<Duration>,
    /// `None` before the first request.
    pub p99: Option<Duration>,
}

/// What the requests came to while a restart waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CanaryReport {
    /// Which requests the new code gets.
    pub rule: CanaryRule,
    /// The code that served before the restart.
    pub old: CodeReport,
    /// The code that the restart loaded.
    pub new: CodeReport,
}

impl Canary {
    pub(crate) fn new(generation: u32, rule: CanaryRule) -> Canary {
        Canary {
            generation,
            rule,
            share: Cell::default(),
            lots: Cell::default(),
            judge: rule.judges.then(RefCell::default),
            old: CodeStats::default(),
            new: CodeStats::default(),
        }
    }

    /// The code that workers of this generation run.
    pub(crate) fn code_of(&self, generation: u32) -> Code {
        if generation >= self.generation {
            Code::New
        } else {
            Code::Old
        }
    }

    /// Chooses the code for a request with these headers. A client may choose by its cookie: both codes serve.
    pub(crate) fn choose(&self, headers: &HeaderMap) -> CodeChoice {
        let is_by_client = self.rule.unit == CanaryUnit::Client;
        if let Some(code) = is_by_client.then(|| self.known(headers)).flatten() {
            let is_first = false;
            return CodeChoice { code, is_first };
        }
        CodeChoice {
            code: if self.picks() { Code::New } else { Code::Old },
            is_first: is_by_client,
        }
    }

    /// Whether the next request, or client, gets the new code. What is judged is drawn by lot: both codes get the same
    /// mixture of routes, even when these take turns.
    fn picks(&self) -> bool {
        let percent = self.rule.percent;
        if self.judge.is_some() {
            let mut lots = self.lots.get();
            let is_new = lots.picks(percent);
            self.lots.set(lots);
            return is_new;
        }
        let mut share = self.share.get();
        let is_new = share.picks(percent);
        self.share.set(share);
        is_new
    }

    /// The code that the client's cookie names.
    fn known(&self, headers: &HeaderMap) -> Option<Code> {
        let cookies = headers.get_all(COOKIE).iter();
        let mut pairs = cookies.flat_map(|line| line.as_bytes().split(|byte| *byte == b';'));
        pairs.find_map(|pair| {
            let value = pair.trim_ascii().strip_prefix(COOKIE_NAME.as_bytes())?;
            let value = std::str::from_utf8(value.strip_prefix(b"=")?).ok()?;
            let (generation, code) = value.split_once('-')?;
            match code {
                _ if generation.parse() != Ok(self.generation) => None,
                "old" => Some(Code::Old),
                "new" => Some(Code::New),
                _ => None,
            }
        })
    }

    /// Adds the cookie of a client whose request this code served.
    pub(crate) fn mark(&self, headers: &mut HeaderMap, code: Code) {
        let code = match code {
            Code::Old => "old",
            Code::New => "new",
        };
        let generation = self.generation;
        let cookie = format!("{COOKIE_NAME}={generation}-{code}; Path=/; HttpOnly; SameSite=Lax");
        if let Ok(cookie) = HeaderValue::try_from(cookie) {
            // A response with as many headers as there may be goes without it.
            let _ = headers.try_append(SET_COOKIE, cookie);
        }
    }

    /// How many requests for the new code may wait.
    pub(crate) fn queue_part(&self, queue_limit: usize) -> usize {
        self.rule.queue_part(queue_limit)
    }

    /// A worker of this code took so long for a request.
    pub(crate) fn note(&self, code: Code, took: Duration, is_error: bool) {
        let stats = match code {
            Code::Old => &self.old,
            Code::New => &self.new,
        };
        stats.latency.borrow_mut().add(took);
        stats.errors.set(stats.errors.get() + u64::from(is_error));
    }

    /// Tells the judge of a request that came to its code by lot: not by a cookie, and not for want of a worker.
    pub(crate) fn judge_outcome(&self, choice: CodeChoice, took: Duration, is_error: bool) {
        let is_by_lot = choice.is_first || self.rule.unit == CanaryUnit::Request;
        if let Some(mut judge) = self.judge().filter(|_| is_by_lot) {
            judge.note(choice.code == Code::New, took, is_error);
        }
    }

    /// Who compares both codes, if the server decides.
    pub(crate) fn judge(&self) -> Option<RefMut<'_, CanaryJudge>> {
        self.judge.as_ref().map(RefCell::borrow_mut)
    }

    pub(crate) fn report(&self) -> CanaryReport {
        CanaryReport {
            rule: self.rule,
            old: self.old.report(),
            new: self.new.report(),
        }
    }
}

impl CodeStats {
    fn report(&self) -> CodeReport {
        let latency = self.latency.borrow();
        CodeReport {
            requests: latency.total(),
            errors: self.errors.get(),
            median: latency.quantile(0.5),
            p99: latency.quantile(0.99),
        }
    }
}

#[cfg(test)]
mod tests {
    use carat_policy::WorkerCost;

    use super::*;

    fn canary(percent: u8, unit: CanaryUnit) -> Canary {
        let judges = false;
        Canary::new(
            3,
            CanaryRule {
                percent,
                unit,
                judges,
            },
        )
    }

    fn worker(pid: u32, requests: u64) -> WorkerCost {
        WorkerCost {
            pid,
            requests,
            cpu: Duration::from_millis(requests),
            objects: requests,
            private: None,
        }
    }

    /// Whether a judge counts requests of such a choice.
    fn judged(unit: CanaryUnit, is_first: bool) -> bool {
        let rule = CanaryRule {
            percent: 50,
            unit,
            judges: true,
        };
        let canary = Canary::new(3, rule);
        (0..1000).any(|round| {
            let workers = [false, true].map(|is_new| (is_new, worker(is_new.into(), round * 10)));
            if let Some(mut judge) = canary.judge() {
                judge.note_workers(&workers);
            }
            for code in [Code::New, Code::Old] {
                let choice = CodeChoice { code, is_first };
                canary.judge_outcome(choice, Duration::from_millis(1), false);
            }
            canary
                .judge()
                .is_some_and(|mut judge| judge.look().is_some())
        })
    }

    #[test]
    fn only_requests_that_came_to_their_code_by_lot_are_judged() {
        assert!(judged(CanaryUnit::Request, false));
        assert!(judged(CanaryUnit::Client, true));
        assert!(!judged(CanaryUnit::Client, false));
    }

    #[test]
    fn routes_that_take_turns_both_get_both_codes_when_they_are_judged() {
        let rule = CanaryRule {
            percent: 50,
            unit: CanaryUnit::Request,
            judges: true,
        };
        let canary = Canary::new(3, rule);
        let choices: Vec<_> = (0..200)
            .map(|_| canary.choose(&HeaderMap::new()).code)
            .collect();
        let (even, odd): (Vec<_>, Vec<_>) = choices.chunks(2).map(|it| (it[0], it[1])).unzip();
        for route in [even, odd] {
            assert!(route.contains(&Code::Old) && route.contains(&Code::New));
        }
    }

    fn headers(cookie: &str) -> HeaderMap {
        let cookie = HeaderValue::from_str(cookie).expect("a value");
        [(COOKIE, cookie)].into_iter().collect()
    }

    #[test]
    fn a_share_of_the_requests_gets_new_code() {
        let canary = canary(25, CanaryUnit::Request);
        let choices: Vec<_> = (0..8).map(|_| canary.choose(&HeaderMap::new())).collect();
        let new = choices.iter().filter(|it| it.code == Code::New).count();
        assert_eq!(new, 2);
        assert!(choices.iter().all(|choice| !choice.is_first));
    }

    #[test]
    fn a_client_stays_with_the_code_that_its_cookie_names() {
        let canary = canary(10, CanaryUnit::Client);
        for _ in 0..20 {
            let old = canary.choose(&headers("a=b; carat_canary=3-old"));
            let new = canary.choose(&headers("carat_canary=3-new; c=d"));
            assert_eq!([old.code, new.code], [Code::Old, Code::New]);
            assert!(!old.is_first && !new.is_first);
        }
        assert!(canary.choose(&HeaderMap::new()).is_first);
    }

    #[test]
    fn a_cookie_of_another_restart_or_of_no_sense_does_not_count() {
        let canary = canary(1, CanaryUnit::Client);
        let cookies = [
            "2-new",
            "3-",
            "3",
            "-new",
            "new",
            "",
            "3-newer",
            "99999999999-new",
        ];
        for value in cookies {
            let choice = canary.choose(&headers(&format!("carat_canary={value}")));
            assert_eq!((choice.code, choice.is_first), (Code::Old, true), "{value}");
        }
        let other = canary.choose(&headers("carat_canary_2=3-new; xcarat_canary=3-new"));
        assert!(other.is_first);
    }

    #[test]
    fn the_cookie_that_is_set_is_the_one_that_is_read() {
        let canary = canary(10, CanaryUnit::Client);
        for code in [Code::Old, Code::New] {
            let mut response = HeaderMap::new();
            canary.mark(&mut response, code);
            let set = response[SET_COOKIE].to_str().expect("text");
            let (pair, attributes) = set.split_once("; ").expect("attributes");
            assert_eq!(attributes, "Path=/; HttpOnly; SameSite=Lax");
            assert_eq!(canary.choose(&headers(pair)).code, code);
        }
    }

    #[test]
    fn the_figures_of_both_codes_are_apart() {
        let canary = canary(10, CanaryUnit::Request);
        canary.note(Code::Old, Duration::from_millis(1), false);
        canary.note(Code::New, Duration::from_millis(2), true);
        let report = canary.report();
        assert_eq!([report.old.errors, report.new.errors], [0, 1]);
        assert_eq!([report.old.requests, report.new.requests], [1, 1]);
        assert!(report.old.p99 < report.new.p99);
        let found = [canary.code_of(2), canary.code_of(3)];
        assert_eq!(found, [Code::Old, Code::New]);
    }
}
