//! How the server returns to the code before the last restart.

use carat_policy::CanaryRule;

use super::State;
use super::mold::Mold;
use super::molds::LeavingKind;
use super::reaction::Reaction;
use super::restart::{PreviousMold, RestartStage};
use crate::supervise::command::Command;
use crate::supervise::generation_settings::GenerationSettings;
use crate::supervise::log_line::LogLine;

/// After this many new workers that fail to boot, a restart goes back to the previous mold.
const FAILURES_LIMIT: u32 = 3;

impl State {
    /// `carat restart --rollback`.
    pub(super) fn rollback_requested(&mut self, reaction: &mut Reaction) {
        if self.is_stopping() {
            return;
        }
        if self.restarts.stage() == Some(RestartStage::Canary) {
            return self.roll_back_canary(reaction);
        }
        if self.restarts.previous.is_none() {
            return;
        }
        self.begin_rollback(reaction);
        self.go_back(reaction);
    }

    /// The restart under way is over, and the rollback is the next one.
    pub(super) fn begin_rollback(&mut self, reaction: &mut Reaction) {
        self.restarts.drop_queued("rolled back");
        self.restarts.finish(Err("rolled back".to_owned()));
        self.restarts.begin(RestartStage::Replacing, reaction.now);
        if let Some(rollback) = &mut self.restarts.current {
            rollback.is_rollback = true;
        }
        reaction.log(LogLine::info("rolling back"));
    }

    /// The previous mold becomes the current one, under a new number. False if there is none.
    fn go_back(&mut self, reaction: &mut Reaction) -> bool {
        let Some(PreviousMold {
            mut mold, settings, ..
        }) = self.restarts.previous.take()
        else {
            return false;
        };
        self.kill_candidate(reaction);
        self.candidate_failed("a rollback takes precedence", false, reaction);
        let before = mold.generation;
        mold.generation = self.molds.next_generation();
        let generation = mold.generation;
        reaction.push(Command::Renumber { before, generation });
        let old = self.molds.current.replace(mold);
        self.keep_as_previous(old, reaction);
        self.adopt(generation, settings, reaction);
        true
    }

    /// Ends the previous mold when its time is over, or when its memory is needed for a worker.
    pub(super) fn end_old_previous(&mut self, reaction: &mut Reaction) {
        let previous = self.restarts.previous.as_ref();
        let Some(until) = previous.and_then(|previous| previous.until) else {
            return;
        };
        let is_short = self.workers.missing(self.wanted) > 0
            && self.memory.is_current(reaction.now)
            && self.room() == 0;
        if reaction.now >= until || is_short {
            self.end_previous(reaction);
        }
    }

    /// Ends the previous mold, which runs its `at_exit` blocks: its application does not live on.
    pub(super) fn end_previous(&mut self, reaction: &mut Reaction) {
        if let Some(PreviousMold { mold, .. }) = self.restarts.previous.take() {
            let generation = mold.generation;
            reaction.push(Command::EndWithServer { generation });
            let deadline = reaction.now + reaction.limits.shutdown_timeout;
            self.molds.leave(mold, LeavingKind::Retired, deadline);
        }
    }

    /// The previous mold is dead, or dying.
    pub(super) fn lose_previous(&mut self, reaction: &mut Reaction) {
        if let Some(PreviousMold { mold, .. }) = self.restarts.previous.take() {
            if let Some(pid) = mold.pid {
                reaction.push(Command::Kill { pid });
            }
            self.molds.leave(mold, LeavingKind::Retired, reaction.now);
        }
    }

    /// Keeps a mold for a rollback; one that cannot fork ends.
    pub(super) fn keep_as_previous(&mut self, mold: Option<Mold>, reaction: &mut Reaction) {
        let Some(mold) = mold else { return };
        if mold.is_ready {
            let settings = GenerationSettings {
                limits: self.limits,
                refork: self.refork.rule().clone(),
                canary: CanaryRule::NONE,
            };
            self.restarts.previous = Some(PreviousMold {
                mold,
                settings,
                until: None,
            });
        } else {
            self.end_failed_mold(mold, reaction);
        }
    }

    /// A new worker failed to boot after the trial. Several go back to the previous mold.
    pub(super) fn count_failure(&mut self, generation: u32, cause: &str, reaction: &mut Reaction) {
        let is_canary = self.is_canary_generation(generation);
        let is_new = is_canary || generation >= self.refork.oldest_generation;
        let Some(restart) = &mut self.restarts.current else {
            return;
        };
        if !is_new || !(is_canary || restart.stage == RestartStage::Replacing) {
            return;
        }
        restart.failures += 1;
        if is_canary && restart.failures >= FAILURES_LIMIT {
            return self.restart_failed(cause, reaction);
        }
        if restart.failures >= FAILURES_LIMIT && restart.undone.is_none() {
            restart.failures = 0;
            if self.go_back(reaction) {
                if let Some(restart) = &mut self.restarts.current {
                    restart.undone = Some(cause.to_owned());
                }
            }
        }
    }
}
