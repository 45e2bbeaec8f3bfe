//! How code is replaced while somebody works on it: no request may reach the old code, and nobody goes back to it.

use std::time::Duration;

use super::State;
use super::reaction::Reaction;
use super::worker::Worker;
use crate::supervise::command::Command;

impl State {
    /// Source files have changed. A restart under way may have read them before, so another one follows it.
    pub(super) fn reload_requested(&mut self, reaction: &mut Reaction) {
        if self.is_stopping() {
            // The old code serves the last requests.
            return reaction.push(Command::EndReload(Ok(())));
        }
        self.cancel_upgrade("source files have changed", reaction);
        if self.restarts.current.is_some() {
            self.restarts.queue();
        } else {
            self.begin_restart(reaction);
        }
    }

    /// Gives the workers of older generations no more requests. Otherwise they serve until others have replaced them.
    pub(super) fn retire_old_code(&mut self, reaction: &mut Reaction) {
        if !self.limits.reload {
            return;
        }
        let generation = self.refork.oldest_generation;
        let old = self.workers.ready();
        let old = old.filter(|worker| worker.generation < generation);
        let old: Vec<_> = old.map(|worker| worker.id).collect();
        for id in old {
            self.retire(id, "worker is replaced", reaction);
        }
    }

    /// Whether a worker of an older generation keeps a restart from being over. A reload does not wait for the requests
    /// of old code.
    pub(super) fn may_respond(&self, worker: &Worker) -> bool {
        !self.limits.reload || worker.is_ready()
    }

    /// How long a rollback is possible.
    pub(super) fn time_to_go_back(&self) -> Duration {
        if self.limits.reload {
            Duration::ZERO
        } else {
            self.limits.keep_previous
        }
    }

    /// What the log says when new code cannot serve.
    pub(super) fn failure_message(&self) -> &'static str {
        if self.limits.reload {
            "restart failed: clients get the cause until it is fixed"
        } else {
            "restart failed: the old code continues to serve"
        }
    }

    /// Reports how the last restart ended, unless another one follows.
    pub(super) fn report_reload(&mut self, reaction: &mut Reaction) {
        if self.restarts.current.is_some() {
            return;
        }
        if let Some(result) = self.restarts.news.take().filter(|_| self.limits.reload) {
            reaction.push(Command::EndReload(result));
        }
    }
}
