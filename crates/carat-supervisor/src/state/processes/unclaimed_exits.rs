use std::time::{Duration, Instant};

use crate::exit_status::ExitStatus;

/// How long an exit is remembered. Later its process id may belong to another process.
const MEMORY: Duration = Duration::from_secs(1);

/// Exits of unknown processes. A worker that dies at once may be reaped before its hello is read; all others are
/// processes that the application left behind.
#[derive(Debug, Default)]
pub(crate) struct UnclaimedExits(Vec<(Instant, u32, ExitStatus)>);

impl UnclaimedExits {
    pub(crate) fn add(&mut self, now: Instant, pid: u32, status: ExitStatus) {
        self.0.push((now, pid, status));
    }

    /// How the process with this id ended, if it did.
    pub(crate) fn claim(&mut self, pid: u32) -> Option<ExitStatus> {
        let index = self.0.iter().position(|&(_, dead, _)| dead == pid)?;
        Some(self.0.swap_remove(index).2)
    }

    pub(crate) fn forget_old(&mut self, now: Instant) {
        self.0
            .retain(|&(since, ..)| now.saturating_duration_since(since) < MEMORY);
    }
}
