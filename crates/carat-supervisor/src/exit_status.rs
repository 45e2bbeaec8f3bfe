use std::fmt;

use rustix::process::{Signal, WaitStatus};

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExitStatus {
    /// The process exited with this status.
    Exited(i32),
    /// A signal ended the process.
    Signaled {
        /// The number of the signal.
        signal: i32,
        /// How many processes the OOM killer had killed by then.
        oom_kills: u64,
    },
    /// The process never said hello, so its process id is unknown.
    Unknown,
}

impl ExitStatus {
    /// Translates what `wait` returned. `oom_kills` reads the kernel's count, and runs only for a signal.
    pub fn new(status: WaitStatus, oom_kills: impl FnOnce() -> u64) -> ExitStatus {
        match (status.exit_status(), status.terminating_signal()) {
            (Some(status), _) => ExitStatus::Exited(status),
            (None, Some(signal)) => ExitStatus::Signaled {
                signal,
                oom_kills: oom_kills(),
            },
            (None, None) => ExitStatus::Unknown,
        }
    }

    /// The count of the OOM killer if SIGKILL ended the process; `None` if something else did.
    pub fn kill(&self) -> Option<u64> {
        match *self {
            ExitStatus::Signaled { signal, oom_kills } if signal == Signal::KILL.as_raw() => {
                Some(oom_kills)
            }
            ExitStatus::Exited(_) | ExitStatus::Signaled { .. } | ExitStatus::Unknown => None,
        }
    }

    /// Whether the process exited with status 0.
    pub fn is_success(&self) -> bool {
        *self == ExitStatus::Exited(0)
    }
}

impl fmt::Display for ExitStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ExitStatus::Exited(status) => write!(f, "exit status {status}"),
            ExitStatus::Signaled { signal, .. } => write!(f, "signal {signal}"),
            ExitStatus::Unknown => write!(f, "unknown"),
        }
    }
}
