use std::time::{Duration, Instant};

/// The stage of a worker's lifecycle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WorkerStage {
    /// Forked; killed unless ready before the deadline.
    Booting { deadline: Instant },
    /// Takes requests.
    Ready,
    /// Finishes its requests; told to end when its lanes are empty, or at the deadline.
    Retiring { deadline: Instant },
    /// A request exceeded `request_timeout`. The worker reports its stack before `stack`, and finishes its other
    /// requests; told to end when its lanes are empty, or at the deadline.
    Stuck {
        stack: Instant,
        deadline: Instant,
        is_drained: bool,
    },
    /// Told to end; killed at the deadline.
    Ending { deadline: Instant },
    /// Killed; killed again at the deadline.
    Killed { deadline: Instant },
    /// Closed its control socket without being told to end; killed at the deadline.
    Lost { deadline: Instant },
}

impl WorkerStage {
    /// Whether only the exit of the worker is expected.
    pub fn is_last(self) -> bool {
        matches!(
            self,
            WorkerStage::Ending { .. } | WorkerStage::Killed { .. } | WorkerStage::Lost { .. }
        )
    }

    /// Whether the deadline of the stage has passed, or a stuck worker has nothing left to do.
    pub fn is_over(self, now: Instant) -> bool {
        match self {
            WorkerStage::Ready => false,
            WorkerStage::Stuck {
                stack,
                deadline,
                is_drained,
            } => now >= deadline || (is_drained && now >= stack),
            WorkerStage::Booting { deadline }
            | WorkerStage::Retiring { deadline }
            | WorkerStage::Ending { deadline }
            | WorkerStage::Killed { deadline }
            | WorkerStage::Lost { deadline } => now >= deadline,
        }
    }

    /// Whether SIGTERM comes before SIGKILL.
    pub fn is_terminated_first(self) -> bool {
        matches!(
            self,
            WorkerStage::Retiring { .. } | WorkerStage::Stuck { .. }
        )
    }

    /// The stage after the process was sent the signal that is due.
    pub fn after_signal(self, now: Instant, pause: Duration) -> WorkerStage {
        let deadline = now + pause;
        match self {
            WorkerStage::Ready => WorkerStage::Ready,
            WorkerStage::Lost { .. } => WorkerStage::Lost { deadline },
            WorkerStage::Retiring { .. } | WorkerStage::Stuck { .. } => {
                WorkerStage::Ending { deadline }
            }
            WorkerStage::Booting { .. }
            | WorkerStage::Ending { .. }
            | WorkerStage::Killed { .. } => WorkerStage::Killed { deadline },
        }
    }
}
