use super::mold::Mold;
use super::worker::Worker;
use crate::supervise::ruby_process::RubyProcess;
use crate::supervise::stats_report::Role;

/// A Ruby process with a known process id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunningProcess {
    pub(crate) process: RubyProcess,
    pub(crate) role: Role,
    pub(crate) generation: u32,
    pub(crate) pid: u32,
    /// Whether it replies on its control socket.
    pub(crate) listens: bool,
}

impl RunningProcess {
    /// `None` before the process runs. A mold listens once it can fork, until it is told to end.
    pub(crate) fn of_mold(mold: &Mold, role: Role) -> Option<RunningProcess> {
        Some(RunningProcess {
            process: RubyProcess::Mold(mold.generation),
            role,
            generation: mold.generation,
            pid: mold.pid?,
            listens: mold.is_ready && role != Role::EndingMold,
        })
    }

    /// `None` before the worker said hello.
    pub(crate) fn of_worker(worker: &Worker) -> Option<RunningProcess> {
        Some(RunningProcess {
            process: RubyProcess::Worker(worker.id),
            role: Role::Worker,
            generation: worker.generation,
            pid: worker.pid?,
            listens: worker.listens(),
        })
    }
}
