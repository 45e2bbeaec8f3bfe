use std::time::Instant;

use carat_policy::Backoff;

use super::leaving_molds::{LeavingKind, LeavingMolds};
use super::mold::{FormerWorker, Mold};
use super::worker::Worker;
use crate::command::{BootSettings, Command, MoldCommand, WorkerCommand};
use crate::generation_settings::GenerationSettings;
use crate::log_line::LogLine;
use crate::ruby_process::{Role, RubyProcess};
use crate::state::reaction::Reaction;

/// The molds: the current one, which forks; the candidate; the previous one; and the ones that are ending.
#[derive(Debug, Default)]
pub struct Molds {
    pub current: Option<Mold>,
    /// The mold that is to follow the current one.
    pub candidate: Option<MoldCandidate>,
    /// The mold that served before the last restart.
    pub previous: Option<PreviousMold>,
    pub leaving: LeavingMolds,
    /// The generation of the newest mold.
    pub generation: u32,
    /// The oldest generation that may serve: workers of older generations are to be replaced.
    pub oldest_generation: u32,
    pub backoff: Backoff,
}

/// A mold that is to follow the current one.
#[derive(Debug)]
pub struct MoldCandidate {
    pub mold: Mold,
    pub origin: MoldOrigin,
}

/// The origin of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MoldOrigin {
    /// A worker that was told to be the mold (a refork).
    Worker(FormerWorker),
    /// A restart: the new mold loads the application.
    Restart,
}

/// A mold that can become the current one again.
#[derive(Debug)]
pub struct PreviousMold {
    pub mold: Mold,
    pub settings: GenerationSettings,
    /// When the previous mold ends; `None` while its workers are being replaced.
    pub until: Option<Instant>,
}

impl Molds {
    /// The next generation's number.
    pub fn next_generation(&mut self) -> u32 {
        self.generation += 1;
        self.generation
    }

    /// The current mold if it can fork.
    pub fn ready(&self) -> Option<&Mold> {
        self.current.as_ref().filter(|mold| mold.is_ready)
    }

    /// The current mold if it has this generation.
    pub fn current_mut(&mut self, generation: u32) -> Option<&mut Mold> {
        let current = self.current.as_mut();
        current.filter(|mold| mold.generation == generation)
    }

    /// The mold of the candidate.
    pub fn next(&self) -> Option<&Mold> {
        self.candidate.as_ref().map(|candidate| &candidate.mold)
    }

    /// Whether the candidate has this generation.
    pub fn is_candidate(&self, generation: u32) -> bool {
        self.next().is_some_and(|it| it.generation == generation)
    }

    /// Whether the candidate loads the application for a restart.
    pub fn is_restarting(&self) -> bool {
        let candidate = self.candidate.as_ref();
        candidate.is_some_and(|candidate| candidate.origin == MoldOrigin::Restart)
    }

    /// All molds, the current one first.
    pub fn iter(&self) -> impl Iterator<Item = (&Mold, Role)> {
        let current = self.current.iter().map(|mold| (mold, Role::Mold));
        current.chain(self.others())
    }

    /// The molds that do not fork workers: the previous one, the candidate, and the ones that are ending.
    pub fn others(&self) -> impl Iterator<Item = (&Mold, Role)> {
        let previous = self.previous.iter().map(|it| &it.mold);
        let previous = previous.map(|mold| (mold, Role::PreviousMold));
        let candidate = self.next().into_iter().map(|it| (it, Role::NextMold));
        let leaving = self.leaving.iter().map(|it| (it, Role::EndingMold));
        previous.chain(candidate).chain(leaving)
    }

    /// Boots a mold with these settings.
    fn boot(&mut self, settings: BootSettings, reaction: &mut Reaction) -> Mold {
        let generation = self.next_generation();
        reaction.push(Command::Mold(MoldCommand::Boot {
            generation,
            settings,
        }));
        Mold::started(generation, None, reaction.now)
    }

    /// Boots a mold if there is none.
    pub fn boot_missing(&mut self, reaction: &mut Reaction) {
        if self.candidate.is_none() && self.backoff.allows(reaction.now) {
            self.current = Some(self.boot(BootSettings::Current, reaction));
        }
    }

    /// Boots the mold of a restart.
    pub fn boot_candidate(&mut self, reaction: &mut Reaction) {
        self.candidate = Some(MoldCandidate {
            mold: self.boot(BootSettings::New, reaction),
            origin: MoldOrigin::Restart,
        });
    }

    /// Notes the process id of a mold that has been started.
    pub fn started(&mut self, generation: u32, pid: u32) {
        let candidate = self.candidate.as_mut().map(|it| &mut it.mold);
        let mut molds = candidate.into_iter().chain(&mut self.current);
        if let Some(mold) = molds.find(|mold| mold.generation == generation) {
            mold.pid = Some(pid);
        }
    }

    /// Turns a worker into the candidate.
    pub fn promote(&mut self, worker: &Worker, reaction: &mut Reaction) {
        let generation = self.next_generation();
        let line = worker.identify(LogLine::info("worker becomes the next mold"));
        reaction.log(line.number("next_gen", generation));
        reaction.push(Command::Worker(WorkerCommand::Promote {
            worker: worker.id,
            generation,
        }));
        self.candidate = Some(MoldCandidate {
            mold: Mold {
                has_booted: false,
                ..Mold::started(generation, worker.pid, reaction.now)
            },
            origin: MoldOrigin::Worker(FormerWorker {
                id: worker.id,
                generation: worker.generation,
            }),
        });
    }

    pub fn kill_candidate(&self, reaction: &mut Reaction) {
        reaction.kill(self.next().and_then(|mold| mold.pid));
    }

    /// Kills a mold that did not fork a worker in time, so that another mold replaces it.
    pub fn kill_stuck(&self, generation: u32, reaction: &mut Reaction) {
        let candidate = self.next().filter(|mold| mold.generation == generation);
        let Some(mold) = candidate.or(self.current.as_ref()) else {
            return;
        };
        reaction.log(mold.identify(LogLine::error("mold does not fork")));
        mold.kill(reaction);
    }

    /// Kills a mold that cannot fork, or is not needed.
    pub fn end_failed(&mut self, mold: Mold, reaction: &mut Reaction) {
        mold.kill(reaction);
        reaction.push(Command::CloseControl(RubyProcess::Mold(mold.generation)));
        self.leaving.add(mold, LeavingKind::Failed, reaction.now);
    }

    /// Ends a candidate that was a worker. It runs its `at_exit` blocks, which may send data that it has collected.
    pub fn end_former_worker(&mut self, deadline: Instant, reaction: &mut Reaction) {
        let is_former = |it: &mut MoldCandidate| matches!(it.origin, MoldOrigin::Worker(_));
        if let Some(candidate) = self.candidate.take_if(is_former) {
            self.end_for_good(candidate.mold, deadline, reaction);
        }
    }

    /// Ends a mold that no other mold continues: it runs its `at_exit` blocks until the deadline.
    pub fn end_for_good(&mut self, mold: Mold, deadline: Instant, reaction: &mut Reaction) {
        let generation = mold.generation;
        reaction.push(Command::Mold(MoldCommand::EndWithServer { generation }));
        self.leaving.add(mold, LeavingKind::Retired, deadline);
    }

    /// Keeps a mold for a rollback. A mold that cannot fork is ended instead.
    pub fn keep_previous(
        &mut self,
        mold: Mold,
        settings: GenerationSettings,
        reaction: &mut Reaction,
    ) {
        if !mold.is_ready {
            return self.end_failed(mold, reaction);
        }
        self.previous = Some(PreviousMold {
            mold,
            settings,
            until: None,
        });
    }

    pub fn end_previous(&mut self, reaction: &mut Reaction) {
        if let Some(PreviousMold { mold, .. }) = self.previous.take() {
            let deadline = reaction.now + reaction.limits.shutdown_timeout;
            self.end_for_good(mold, deadline, reaction);
        }
    }

    /// Ends the previous mold if it is dead or dying, as `is_lost` says. Returns whether it has ended it.
    pub fn lose_previous(
        &mut self,
        is_lost: impl Fn(&Mold) -> bool,
        reaction: &mut Reaction,
    ) -> bool {
        let lost = self.previous.take_if(|it| is_lost(&it.mold));
        lost.is_some_and(|PreviousMold { mold, .. }| {
            mold.kill(reaction);
            self.leaving.add(mold, LeavingKind::Retired, reaction.now);
            true
        })
    }
}
