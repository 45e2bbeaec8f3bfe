//! From the start of a mold to its end.

use super::State;
use super::mold::Mold;
use super::molds::LeavingKind;
use super::phase::KILL_AFTER;
use super::reaction::Reaction;
use crate::supervise::command::{BootSettings, Command};
use crate::supervise::exit_status::ExitStatus;
use crate::supervise::log_line::LogLine;
use crate::supervise::ruby_process::RubyProcess;

/// The generation whose mold decides whether the server starts at all.
const FIRST_GENERATION: u32 = 1;

impl State {
    /// Starts a mold if there is none, and ends one that does not load the application in time.
    pub(super) fn keep_mold(&mut self, reaction: &mut Reaction) {
        let limit = reaction.limits.boot_timeout;
        if let Some(mold) = &self.molds.current {
            if !mold.is_ready && reaction.now.saturating_duration_since(mold.started) > limit {
                if let Some(pid) = mold.pid {
                    reaction.push(Command::Kill { pid });
                }
                let cause = format!("the application did not load within {limit:?} (boot_timeout)");
                self.mold_failed(&cause, reaction);
            }
        } else if self.molds.candidate.is_none() && self.molds.backoff.allows(reaction.now) {
            let generation = self.molds.next_generation();
            self.molds.current = Some(Mold::started(generation, None, reaction.now));
            let settings = BootSettings::Current;
            reaction.push(Command::BootMold {
                generation,
                settings,
            });
        }
    }

    pub(super) fn mold_started(&mut self, generation: u32, pid: u32) {
        let candidate = self.molds.candidate.as_mut();
        let candidate = candidate.map(|candidate| &mut candidate.mold);
        let started = candidate.filter(|mold| mold.generation == generation);
        match started.or(self.molds.current.as_mut()) {
            Some(mold) if mold.generation == generation => mold.pid = Some(pid),
            _ => {}
        }
    }

    pub(super) fn mold_ready(&mut self, generation: u32, reaction: &mut Reaction) {
        if self.molds.is_candidate(generation) {
            if self.molds.is_restarting() {
                return self.restart_loaded(reaction);
            }
            self.take_over(reaction);
        }
        let Some(mold) = self.molds.current_mut(generation) else {
            return;
        };
        mold.is_ready = true;
        let boot = reaction.now.saturating_duration_since(mold.started);
        let line = mold.identify(LogLine::info("mold ready"));
        reaction.log(line.milliseconds("boot_ms", boot));
        self.molds.backoff.succeed();
        self.memory.hurry(reaction.now);
        self.boot_errors.forget();
    }

    /// A mold closed its control socket: it is dead or dying, or must be made to end.
    pub(super) fn mold_closed(&mut self, generation: u32, reaction: &mut Reaction) {
        if self.molds.is_candidate(generation) {
            return self.candidate_closed(reaction);
        }
        if self
            .restarts
            .mold()
            .is_some_and(|mold| mold.generation == generation)
        {
            return self.lose_previous(reaction);
        }
        let mold = self.molds.current_mut(generation);
        if let Some(pid) = mold.filter(|mold| mold.is_ready).and_then(|mold| mold.pid) {
            reaction.push(Command::Kill { pid });
        }
    }

    /// The current mold is dead.
    pub(super) fn mold_exited(&mut self, status: ExitStatus, reaction: &mut Reaction) {
        let Some(mold) = self.molds.current.take() else {
            return;
        };
        let kills = status.kill();
        let is_oom = kills.is_some_and(|kills| self.memory.explains_kill(kills, reaction.now));
        let killer = if is_oom { " of the OOM killer" } else { "" };
        let cause = format!("{status}{killer}");
        reaction.push(Command::CloseControl(RubyProcess::Mold(mold.generation)));
        if mold.is_ready {
            let line = mold.identify(LogLine::error("mold died"));
            reaction.log(line.text("cause", cause));
            self.molds.backoff.fail(reaction.now);
        } else {
            self.boot_error(&mold, &format!("the mold ended ({cause})"), reaction);
        }
    }

    /// The current mold could not load the application. It ends by itself, or is killed.
    pub(super) fn mold_failed(&mut self, cause: &str, reaction: &mut Reaction) {
        let Some(mold) = self.molds.current.take() else {
            return;
        };
        self.boot_error(&mold, cause, reaction);
        reaction.push(Command::CloseControl(RubyProcess::Mold(mold.generation)));
        let deadline = reaction.now + KILL_AFTER;
        self.molds.leave(mold, LeavingKind::Failed, deadline);
    }

    /// The application could not be loaded. At the first boot that is the end of the server.
    fn boot_error(&mut self, mold: &Mold, cause: &str, reaction: &mut Reaction) {
        if mold.generation == FIRST_GENERATION {
            return self.fail(cause.to_owned(), reaction);
        }
        let delay = self.molds.backoff.fail(reaction.now);
        let line = mold.identify(LogLine::error("mold failed to boot"));
        reaction.log(self.boot_errors.line(line, delay, cause));
    }
}
