use std::time::{Duration, Instant};

/// How long a process has from SIGTERM to SIGKILL, and its hooks at least.
pub(super) const KILL_AFTER: Duration = Duration::from_secs(2);

/// Where the server is in its life.
#[derive(Debug, Clone, Copy)]
pub(super) enum Phase {
    Serving,
    /// Still serving, but about to stop.
    Draining(DrainDelay),
    /// Another edge accepts the clients. Those that came before are still served.
    HandedOver(HandedOver),
    Stopping(Stop),
    /// The executor was told to exit; further events have no effect.
    Over,
}

/// The time between the request to stop and the stop.
#[derive(Debug, Clone, Copy)]
pub(super) struct DrainDelay {
    pub(super) begun: Instant,
    pub(super) until: Instant,
}

/// The time between an upgrade and the stop of the old edge.
#[derive(Debug, Clone, Copy)]
pub(super) struct HandedOver {
    /// When `upgrade_timeout` is over.
    pub(super) until: Instant,
    /// At the last tick.
    pub(super) has_clients: bool,
}

/// A stop under way.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stop {
    pub(super) begun: Instant,
    /// When `shutdown_timeout` is over.
    pub(super) deadline: Instant,
    /// At the last tick.
    pub(super) has_clients: bool,
    pub(super) step: StopStep,
    /// The warning if requests are still running at the deadline.
    pub(super) warning: &'static str,
}

/// The steps of a stop, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StopStep {
    FinishRequests,
    /// The last responses are sent.
    CutOff {
        until: Instant,
    },
    EndWorkers {
        until: Instant,
        /// The mold has not forked a worker that it was told to fork: it may be blocked in a hook.
        is_forking: bool,
    },
    EndMold {
        until: Instant,
    },
}

impl Phase {
    pub(super) fn is_over(&self) -> bool {
        matches!(self, Phase::Over)
    }
}

impl Stop {
    pub(super) fn begin(now: Instant, timeout: Duration, warning: &'static str) -> Stop {
        Stop {
            begun: now,
            deadline: now + timeout,
            has_clients: true,
            step: StopStep::FinishRequests,
            warning,
        }
    }

    /// When processes that are told to end now are killed.
    pub(super) fn end_deadline(&self, now: Instant) -> Instant {
        self.deadline.max(now + KILL_AFTER)
    }
}
