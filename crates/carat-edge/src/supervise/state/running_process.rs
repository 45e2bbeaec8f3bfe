use super::mold::Mold;
use super::worker::Worker;
use crate::supervise::ruby_process::RubyProcess;

/// A Ruby process with a known process id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct RunningProcess {
    pub(crate) process: RubyProcess,
    pub(crate) generation: u32,
    pub(crate) pid: u32,
    /// Whether it replies on its control socket.
    pub(crate) listens: bool,
}

impl RunningProcess {
    /// `None` before the process runs. A mold listens once it can fork and as long as it is the current one.
    pub(super) fn of_mold(mold: &Mold, is_current: bool) -> Option<RunningProcess> {
        Some(RunningProcess {
            process: RubyProcess::Mold(mold.generation),
            generation: mold.generation,
            pid: mold.pid?,
            listens: is_current && mold.is_ready,
        })
    }

    /// `None` before the worker said hello.
    pub(super) fn of_worker(worker: &Worker) -> Option<RunningProcess> {
        Some(RunningProcess {
            process: RubyProcess::Worker(worker.id),
            generation: worker.generation,
            pid: worker.pid?,
            listens: worker.listens(),
        })
    }
}
