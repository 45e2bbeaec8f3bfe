use std::time::Instant;

use super::reaction::{KILL_AFTER, Reaction};
use super::stop::Stop;

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

impl Phase {
    /// Until when a worker that is told to end now may run its hooks, and whether its requests are given up.
    pub(super) fn worker_end(&self, reaction: &Reaction) -> (Instant, bool) {
        let now = reaction.now;
        match self {
            Phase::Stopping(stop) => (stop.end_deadline(now), now >= stop.deadline),
            _ => (
                now + reaction.limits.shutdown_timeout.max(KILL_AFTER),
                false,
            ),
        }
    }
}
