use super::mold::Mold;
use super::worker::Worker;
use crate::ruby_process::{Role, RubyProcess};

/// A Ruby process with a known process id.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct RunningProcess {
    /// The identity of the process.
    pub process: RubyProcess,
    /// The role of the process.
    pub role: Role,
    /// The generation of the mold that forked the process, or of the mold itself.
    pub generation: u32,
    /// The process id.
    pub pid: u32,
    /// Whether the process replies on its control socket.
    pub listens: bool,
}

impl RunningProcess {
    /// The process of a mold; `None` before it runs. A mold replies from the time when it can fork until it is told to
    /// end.
    pub fn of_mold(mold: &Mold, role: Role) -> Option<RunningProcess> {
        Some(RunningProcess {
            process: RubyProcess::Mold(mold.generation),
            role,
            generation: mold.generation,
            pid: mold.pid?,
            listens: mold.is_ready && role != Role::EndingMold,
        })
    }

    /// The process of a worker; `None` before its first message.
    pub fn of_worker(worker: &Worker) -> Option<RunningProcess> {
        Some(RunningProcess {
            process: RubyProcess::Worker(worker.id),
            role: Role::Worker,
            generation: worker.generation,
            pid: worker.pid?,
            listens: worker.listens(),
        })
    }
}
