use std::time::{Duration, Instant};

use crate::exit_status::ExitStatus;

/// How long an exit is remembered. After that, another process may have its process id.
const MEMORY: Duration = Duration::from_secs(1);

/// The exits of unknown processes. A worker that dies at once may end before its first message is read. All others are
/// processes that the application left behind.
#[derive(Debug, Default)]
pub(crate) struct UnclaimedExits(Vec<(Instant, u32, ExitStatus)>);

impl UnclaimedExits {
    pub(crate) fn add(&mut self, now: Instant, pid: u32, status: ExitStatus) {
        self.0.push((now, pid, status));
    }

    /// Removes and returns how the process with this process id ended; `None` if it did not.
    pub(crate) fn claim(&mut self, pid: u32) -> Option<ExitStatus> {
        let index = self.0.iter().position(|&(_, dead, _)| dead == pid)?;
        Some(self.0.swap_remove(index).2)
    }

    pub(crate) fn forget_old(&mut self, now: Instant) {
        self.0
            .retain(|&(since, ..)| now.saturating_duration_since(since) < MEMORY);
    }
}
