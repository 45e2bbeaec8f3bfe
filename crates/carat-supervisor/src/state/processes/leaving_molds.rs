use std::time::Instant;

use super::mold::{FormerWorker, Mold};
use crate::command::Command;
use crate::log_line::LogLine;
use crate::ruby_process::RubyProcess;
use crate::state::reaction::Reaction;

/// The molds that are to end. They are kept until their processes have ended.
#[derive(Debug, Default)]
pub struct LeavingMolds(Vec<LeavingMold>);

#[derive(Debug)]
struct LeavingMold {
    mold: Mold,
    kind: LeavingKind,
    /// When the mold is killed.
    deadline: Instant,
}

/// Why a mold ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeavingKind {
    /// The mold forked workers, and is not needed any more.
    Retired,
    /// The mold could not load the application, and reported why.
    Failed,
    /// The process was a worker, and could not become a mold.
    Refused(FormerWorker),
}

impl LeavingMolds {
    /// Keeps a mold until its process ends, or is killed at the deadline, if it has a process.
    pub fn add(&mut self, mold: Mold, kind: LeavingKind, deadline: Instant) {
        if mold.pid.is_some() {
            self.0.push(LeavingMold {
                mold,
                kind,
                deadline,
            });
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Mold> {
        self.0.iter().map(|leaving| &leaving.mold)
    }

    /// Whether no mold is ending.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Sends SIGKILL to the molds that should have ended by now.
    pub fn kill_overdue(&self, reaction: &mut Reaction) {
        let now = reaction.now;
        let overdue = self.0.iter().filter(|leaving| now >= leaving.deadline);
        overdue.for_each(|leaving| leaving.mold.kill(reaction));
    }

    /// Forgets a mold whose process is dead. False if there is none with this process id.
    pub fn forget(&mut self, pid: u32, cause: &str, reaction: &mut Reaction) -> bool {
        let Some(index) = self.iter().position(|mold| mold.pid == Some(pid)) else {
            return false;
        };
        let LeavingMold { mold, kind, .. } = self.0.swap_remove(index);
        reaction.push(Command::CloseControl(RubyProcess::Mold(mold.generation)));
        match kind {
            LeavingKind::Failed => {}
            LeavingKind::Retired => {
                let line = mold.identify(LogLine::info("mold ended"));
                reaction.log(line.text("cause", cause));
            }
            LeavingKind::Refused(worker) => {
                reaction.log(
                    LogLine::info("worker ended")
                        .number("worker", worker.id.number)
                        .number("gen", worker.generation)
                        .number("pid", pid)
                        .text("cause", cause),
                );
            }
        }
        true
    }

    /// Logs which molds did not end with the server in time.
    pub fn warn_unfinished(&self, reaction: &mut Reaction) {
        let retired = |leaving: &&LeavingMold| leaving.kind == LeavingKind::Retired;
        for leaving in self.0.iter().filter(retired) {
            let message = "mold killed: its at_exit blocks did not finish in time";
            reaction.log(leaving.mold.identify(LogLine::warn(message)));
        }
    }
}
