//! How a restart waits between old code and new: a few workers of the new mold serve a share of the requests, beside those
//! of the old one, until somebody decides.

use carat_policy::{CanaryRule, ReplacementReason};

use crate::command::Command;
use crate::held_code::HeldCode;
use crate::log_line::LogLine;
use crate::state::processes::Processes;
use crate::state::processes::worker::WorkerRole;
use crate::state::reaction::Reaction;

/// A restart that waits for a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CanaryHold {
    rule: CanaryRule,
    generation: u32,
    /// Workers of each code that died while they served.
    old_deaths: u32,
    new_deaths: u32,
}

impl CanaryHold {
    /// The first worker of the new code gets a share of the requests.
    pub(super) fn begin(rule: CanaryRule, generation: u32, reaction: &mut Reaction) -> CanaryHold {
        let line = LogLine::info("canary waits for `carat restart --go` or `--rollback`");
        let line = line.number("gen", generation);
        reaction.log(line.number("percent", rule.percent));
        reaction.push(Command::BeginCanary { generation, rule });
        CanaryHold {
            rule,
            generation,
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
