use std::time::Instant;

use carat_policy::Backoff;

use super::mold::Mold;
use super::reaction::Reaction;
use super::worker::Worker;
use crate::dispatch::WorkerId;
use crate::supervise::command::Command;
use crate::supervise::log_line::LogLine;
use crate::supervise::ruby_process::RubyProcess;
use crate::supervise::stats_report::Role;

/// The molds: the one that forks, the one that is coming, and those that are ending.
#[derive(Debug, Default)]
pub(super) struct Molds {
    pub(super) current: Option<Mold>,
    /// The one that is to follow.
    pub(super) candidate: Option<MoldCandidate>,
    pub(super) leaving: Vec<LeavingMold>,
    /// That of the newest mold.
    pub(super) generation: u32,
    pub(super) backoff: Backoff,
}

/// A mold that is to follow the current one.
#[derive(Debug)]
pub(super) struct MoldCandidate {
    pub(super) mold: Mold,
    pub(super) origin: MoldOrigin,
}

/// Where a coming mold is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MoldOrigin {
    /// A worker that was told to be the mold (a refork).
    Worker(FormerWorker),
    /// It loads the application (a restart).
    Restart,
}

/// What the log calls a process that is no longer a worker and not yet a mold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FormerWorker {
    pub(super) id: WorkerId,
    pub(super) generation: u32,
}

/// A mold that is to end.
#[derive(Debug)]
pub(super) struct LeavingMold {
    mold: Mold,
    kind: LeavingKind,
    /// Killed then.
    deadline: Instant,
}

/// Why a mold ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LeavingKind {
    /// It forked workers, and is not needed any more.
    Retired,
    /// It could not load the application, and said so.
    Failed,
    /// It was a worker, and could not become a mold.
    Refused(FormerWorker),
}

impl Molds {
    /// The next generation's number.
    pub(super) fn next_generation(&mut self) -> u32 {
        self.generation += 1;
        self.generation
    }

    /// The current mold if it can fork.
    pub(super) fn ready(&self) -> Option<&Mold> {
        self.current.as_ref().filter(|mold| mold.is_ready)
    }

    /// The current mold if it has this generation.
    pub(super) fn current_mut(&mut self, generation: u32) -> Option<&mut Mold> {
        let current = self.current.as_mut();
        current.filter(|mold| mold.generation == generation)
    }

    /// Whether the candidate has this generation.
    pub(super) fn is_candidate(&self, generation: u32) -> bool {
        let candidate = self.candidate.as_ref();
        candidate.is_some_and(|candidate| candidate.mold.generation == generation)
    }

    /// Whether the coming mold loads the application for a restart.
    pub(super) fn is_restarting(&self) -> bool {
        let candidate = self.candidate.as_ref();
        candidate.is_some_and(|candidate| candidate.origin == MoldOrigin::Restart)
    }

    /// The molds that are coming or ending.
    pub(super) fn others(&self) -> impl Iterator<Item = (&Mold, Role)> {
        let candidate = self.candidate.iter().map(|it| (&it.mold, Role::NextMold));
        candidate.chain(self.leaving.iter().map(|it| (&it.mold, Role::EndingMold)))
    }

    /// Keeps a mold until its process ends, or is killed at the deadline, if it has a process.
    pub(super) fn leave(&mut self, mold: Mold, kind: LeavingKind, deadline: Instant) {
        if mold.pid.is_none() {
            return;
        }
        self.leaving.push(LeavingMold {
            mold,
            kind,
            deadline,
        });
    }

    /// Turns a worker into the candidate.
    pub(super) fn promote(&mut self, worker: &Worker, reaction: &mut Reaction) {
        let generation = self.next_generation();
        let line = worker.identify(LogLine::info("worker becomes the next mold"));
        reaction.log(line.number("next_gen", generation));
        reaction.push(Command::Promote {
            worker: worker.id,
            generation,
        });
        self.candidate = Some(MoldCandidate {
            mold: Mold::started(generation, worker.pid, reaction.now),
            origin: MoldOrigin::Worker(FormerWorker {
                id: worker.id,
                generation: worker.generation,
            }),
        });
    }

    /// Sends SIGKILL to the molds that should have ended by now.
    pub(super) fn kill_overdue(&self, reaction: &mut Reaction) {
        let overdue = self.leaving.iter().filter(|it| reaction.now >= it.deadline);
        let pids: Vec<_> = overdue.filter_map(|it| it.mold.pid).collect();
        reaction
            .commands
            .extend(pids.into_iter().map(|pid| Command::Kill { pid }));
    }

    /// Forgets an ending mold whose process is dead. False if there is none with this process id.
    pub(super) fn forget(&mut self, pid: u32, cause: &str, reaction: &mut Reaction) -> bool {
        let mut leaving = self.leaving.iter();
        let Some(index) = leaving.position(|leaving| leaving.mold.pid == Some(pid)) else {
            return false;
        };
        let LeavingMold { mold, kind, .. } = self.leaving.swap_remove(index);
        reaction.push(Command::CloseControl(RubyProcess::Mold(mold.generation)));
        match kind {
            LeavingKind::Failed => {}
            LeavingKind::Retired => {
                let line = mold.identify(LogLine::info("mold ended"));
                reaction.log(line.text("cause", cause));
            }
            LeavingKind::Refused(worker) => {
                let line = LogLine::info("worker ended").number("worker", worker.id.number);
                let line = line.number("gen", worker.generation).number("pid", pid);
                reaction.log(line.text("cause", cause));
            }
        }
        true
    }

    /// Whether a mold runs its `at_exit` blocks.
    pub(super) fn is_anyone_leaving(&self) -> bool {
        !self.leaving.is_empty()
    }

    /// Logs which molds did not end with the server in time.
    pub(super) fn warn_unfinished(&self, reaction: &mut Reaction) {
        let retired = |leaving: &&LeavingMold| leaving.kind == LeavingKind::Retired;
        for leaving in self.leaving.iter().filter(retired) {
            let message = "mold killed: its at_exit blocks did not finish in time";
            reaction.log(leaving.mold.identify(LogLine::warn(message)));
        }
    }
}
