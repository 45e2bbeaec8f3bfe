//! How a restart waits between old code and new: a few workers of the new mold serve a share of the requests, beside those
//! of the old one, until somebody decides.

use std::time::{Duration, Instant};

use carat_policy::{CanaryRule, CanaryVerdict, JudgedCode, ReplacementReason};

use crate::command::Command;
use crate::held_code::HeldCode;
use crate::log_line::LogLine;
use crate::state::processes::Processes;
use crate::state::processes::worker::WorkerRole;
use crate::state::reaction::Reaction;

/// A server that decides does so after this time, whatever the requests.
const JUDGE_LIMIT: Duration = Duration::from_secs(3600);

/// New code whose workers die this often, and more often than those of old code, goes back.
const DEATHS_LIMIT: u32 = 2;

/// What the log calls the figures of the old code and the new.
const JUDGED_FIELDS: [[&str; 6]; 2] = [
    [
        "old_requests",
        "old_errors",
        "old_p50_ms",
        "old_cpu_us",
        "old_objects",
        "old_private",
    ],
    [
        "new_requests",
        "new_errors",
        "new_p50_ms",
        "new_cpu_us",
        "new_objects",
        "new_private",
    ],
];

/// What the server decided about a canary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CanaryDecision {
    /// Of the new code.
    pub generation: u32,
    /// What it decided, and why.
    pub verdict: CanaryVerdict,
    /// The old code and the new; `None` if they were not compared.
    pub codes: Option<[JudgedCode; 2]>,
}

/// A restart that waits for a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CanaryHold {
    rule: CanaryRule,
    generation: u32,
    /// When the server decides at the latest, if it does.
    until: Option<Instant>,
    /// Workers of each code that died while they served.
    old_deaths: u32,
    new_deaths: u32,
}

impl CanaryHold {
    /// The first worker of the new code gets a share of the requests.
    pub(super) fn begin(rule: CanaryRule, generation: u32, reaction: &mut Reaction) -> CanaryHold {
        let line = LogLine::info(if rule.judges {
            "canary is judged"
        } else {
            "canary waits for `carat restart --go` or `--rollback`"
        });
        let line = line.number("gen", generation);
        reaction.log(line.number("percent", rule.percent));
        reaction.push(Command::BeginCanary { generation, rule });
        CanaryHold {
            rule,
            generation,
            until: rule.judges.then(|| reaction.now + JUDGE_LIMIT),
            old_deaths: 0,
            new_deaths: 0,
        }
    }

    /// Forks the workers that the share needs, as far as there is memory for them.
    pub(super) fn advance(&self, processes: &mut Processes, reaction: &mut Reaction) {
        let workers = &processes.workers;
        let needed = self.rule.workers(workers.wanted);
        let is_short = workers.canaries() < needed && workers.backoff.allows(reaction.now);
        if is_short && processes.memory.is_current(reaction.now) && processes.room() > 0 {
            processes.fork(self.generation, WorkerRole::Canary, reaction);
        }
    }

    /// Why the new code goes back now, if the server decides, whatever the requests came to.
    pub(super) fn defect(&self, now: Instant) -> Option<CanaryVerdict> {
        let until = self.until?;
        if self.new_deaths >= DEATHS_LIMIT && self.new_deaths > self.old_deaths {
            return Some(CanaryVerdict::WorkersDied);
        }
        (now >= until).then_some(CanaryVerdict::TooFewRequests)
    }

    /// What the server decides about it.
    pub(super) fn decided(
        &self,
        verdict: CanaryVerdict,
        codes: Option<[JudgedCode; 2]>,
    ) -> CanaryDecision {
        CanaryDecision {
            generation: self.generation,
            verdict,
            codes,
        }
    }

    /// Whether workers of this generation run the new code.
    pub(super) fn is_new(&self, generation: u32) -> bool {
        generation == self.generation
    }

    /// A worker died while it served.
    pub(super) fn count_death(&mut self, generation: u32) {
        let deaths = if self.is_new(generation) {
            &mut self.new_deaths
        } else {
            &mut self.old_deaths
        };
        *deaths = deaths.saturating_add(1);
    }

    /// The workers of old code and new.
    pub(super) fn codes(&self, processes: &Processes) -> [HeldCode; 2] {
        let code = |generation, deaths, is_new: bool| HeldCode {
            generation,
            workers: {
                let ready = processes.workers.ready();
                ready
                    .filter(|it| self.is_new(it.generation) == is_new)
                    .count()
            },
            deaths,
        };
        let molds = &processes.molds;
        let current = molds.current.as_ref().map(|mold| mold.generation);
        let old = current.unwrap_or(molds.oldest_generation);
        [
            code(old, self.old_deaths, false),
            code(self.generation, self.new_deaths, true),
        ]
    }
}

impl CanaryDecision {
    /// Says what was decided, and why.
    pub(super) fn log(&self, reaction: &mut Reaction) {
        let line = if self.verdict.goes_on() {
            LogLine::info("canary judged: the new code goes on")
        } else {
            LogLine::error("canary judged: the new code goes back")
        };
        let line = line.text("cause", self.verdict.name());
        let mut line = line.number("gen", self.generation);
        for (code, names) in self.codes.iter().flatten().zip(JUDGED_FIELDS) {
            let figures = [
                Some(code.requests),
                Some(code.errors),
                code.median.map(|it| whole(it.as_millis())),
                code.cpu.map(|it| whole(it.as_micros())),
                code.objects,
                code.private,
            ];
            for (name, figure) in names.into_iter().zip(figures) {
                line = figure.iter().fold(line, |line, it| line.number(name, *it));
            }
        }
        reaction.log(line);
    }
}

fn whole(time: u128) -> u64 {
    u64::try_from(time).unwrap_or(u64::MAX)
}

/// The workers of the new code finish their requests, and get no more.
pub(super) fn end_canary_workers(processes: &mut Processes, reaction: &mut Reaction) {
    for id in processes.workers.ids() {
        let worker = processes.workers.get_mut(id);
        let Some(worker) = worker.filter(|worker| worker.is_canary()) else {
            continue;
        };
        if worker.is_booting() {
            processes.abandon(id, reaction);
        } else {
            // Its longest request may finish.
            worker.replacement = Some(ReplacementReason::Restart);
            worker.retire("canary worker ends", reaction);
        }
    }
    reaction.push(Command::EndCanary);
}
