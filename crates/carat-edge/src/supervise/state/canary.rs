//! How a restart waits between old code and new: a few workers of the new mold serve a share of the requests, beside those
//! of the old one, until somebody decides.

use carat_policy::{CanaryRule, ReplacementReason};

use super::State;
use super::molds::LeavingKind;
use super::reaction::Reaction;
use super::restart::{CanaryHold, RestartStage};
use super::worker::{Worker, WorkerRole};
use crate::supervise::canary_hold::HeldCode;
use crate::supervise::command::Command;
use crate::supervise::log_line::LogLine;

impl State {
    /// `carat restart --canary`: begins a restart with this share, unless one is under way.
    pub(super) fn canary_requested(&mut self, percent: u8, reaction: &mut Reaction) {
        if self.restarts.current.is_some() {
            return;
        }
        self.restart_requested(reaction);
        if let Some(restart) = &mut self.restarts.current {
            restart.percent = Some(percent);
        }
    }

    /// The share that the new code gets at first. Whoever works on the code wants to see the new one alone.
    pub(super) fn canary_rule(&self) -> CanaryRule {
        if self.limits.reload {
            return CanaryRule::NONE;
        }
        let restart = self.restarts.current.as_ref();
        let settings = restart.and_then(|restart| restart.settings.as_ref());
        let rule = settings.map_or(CanaryRule::NONE, |settings| settings.canary);
        CanaryRule {
            percent: restart.and_then(|it| it.percent).unwrap_or(rule.percent),
            ..rule
        }
    }

    /// The first worker of the new code gets a share of the requests.
    pub(super) fn begin_canary(&mut self, rule: CanaryRule, reaction: &mut Reaction) {
        let Some(candidate) = &self.molds.candidate else {
            return;
        };
        let generation = candidate.mold.generation;
        self.restarts.set_stage(RestartStage::Canary, reaction.now);
        if let Some(restart) = &mut self.restarts.current {
            restart.hold = Some(CanaryHold {
                rule,
                old_deaths: 0,
                new_deaths: 0,
            });
        }
        let line = LogLine::info("canary waits for `carat restart --go` or `--rollback`");
        let line = line.number("gen", generation);
        reaction.log(line.number("percent", rule.percent));
        reaction.push(Command::BeginCanary { generation, rule });
    }

    /// Forks the workers that the share needs, as far as there is memory for them.
    pub(super) fn keep_canary(&mut self, reaction: &mut Reaction) {
        let hold = self.restarts.hold();
        let (Some(hold), Some(candidate)) = (hold, &self.molds.candidate) else {
            return;
        };
        let generation = candidate.mold.generation;
        let needed = hold.rule.workers(self.wanted);
        let missing = needed.saturating_sub(self.workers.canaries());
        if missing == 0 || !self.worker_backoff.allows(reaction.now) {
            return;
        }
        if !self.memory.is_current(reaction.now) || self.room() == 0 {
            return;
        }
        let id = self.workers.next_id();
        let mut worker = Worker::forked(id, generation, reaction);
        worker.role = WorkerRole::Canary;
        self.workers.insert(worker);
        reaction.push(Command::Fork {
            worker: id,
            generation,
            is_trial: false,
        });
    }

    /// `carat restart --go`: the new code gets all requests.
    pub(super) fn go_requested(&mut self, reaction: &mut Reaction) {
        if self.is_stopping() || !self.is_canary() {
            return;
        }
        reaction.log(LogLine::info("canary goes on to all workers"));
        for worker in self.workers.iter_mut() {
            worker.role = WorkerRole::Regular;
        }
        self.restarts.end_hold();
        self.new_code_takes_over(reaction);
        reaction.push(Command::EndCanary);
    }

    /// `carat restart --rollback`: the old code gets all requests again.
    pub(super) fn roll_back_canary(&mut self, reaction: &mut Reaction) {
        self.begin_rollback(reaction);
        self.end_canary_workers(reaction);
        if let Some(candidate) = self.molds.candidate.take() {
            let generation = candidate.mold.generation;
            reaction.push(Command::EndWithServer { generation });
            let deadline = reaction.now + reaction.limits.shutdown_timeout;
            self.molds
                .leave(candidate.mold, LeavingKind::Retired, deadline);
        }
    }

    /// The workers of the new code finish their requests, and get no more.
    pub(super) fn end_canary_workers(&mut self, reaction: &mut Reaction) {
        let canaries = self.workers.iter().filter(|worker| worker.is_canary());
        let canaries: Vec<_> = canaries.map(|it| (it.id, it.is_booting())).collect();
        for (id, is_booting) in canaries {
            if is_booting {
                self.abandon(id, reaction);
                continue;
            }
            if let Some(worker) = self.workers.get_mut(id) {
                // Its longest request may finish.
                worker.replacement = Some(ReplacementReason::Restart);
            }
            self.retire(id, "canary worker ends", reaction);
        }
        reaction.push(Command::EndCanary);
    }

    /// A worker died while it served.
    pub(super) fn count_death(&mut self, generation: u32) {
        let is_new = self.is_canary_generation(generation);
        let restart = self.restarts.current.as_mut();
        if let Some(hold) = restart.and_then(|restart| restart.hold.as_mut()) {
            let deaths = if is_new {
                &mut hold.new_deaths
            } else {
                &mut hold.old_deaths
            };
            *deaths = deaths.saturating_add(1);
        }
    }

    /// Whether a restart waits for a decision.
    pub(crate) fn is_canary(&self) -> bool {
        self.restarts.stage() == Some(RestartStage::Canary)
    }

    /// Whether workers of this generation run the new code of a restart that waits.
    pub(super) fn is_canary_generation(&self, generation: u32) -> bool {
        self.is_canary() && self.molds.is_candidate(generation)
    }

    /// The workers of old code and new, if a restart waits.
    pub(crate) fn held_codes(&self) -> Option<[HeldCode; 2]> {
        let hold = self.restarts.hold()?;
        let new = self.molds.candidate.as_ref()?.mold.generation;
        let current = self.molds.current.as_ref().map(|mold| mold.generation);
        let ready = |is_new: bool| {
            let ready = self.workers.ready();
            ready.filter(|it| (it.generation == new) == is_new).count()
        };
        let old = HeldCode {
            generation: current.unwrap_or(self.refork.oldest_generation),
            workers: ready(false),
            deaths: hold.old_deaths,
        };
        let new = HeldCode {
            generation: new,
            workers: ready(true),
            deaths: hold.new_deaths,
        };
        Some([old, new])
    }
}
