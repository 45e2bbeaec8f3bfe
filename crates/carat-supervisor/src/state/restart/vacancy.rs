use std::time::{Duration, Instant};

/// How long slow responses of the last worker may keep all requests waiting before another worker takes its place: a
/// second more than tunnels have by default.
const PATIENCE: Duration = Duration::from_secs(6);

/// How long responses of the worker that took its place may do so. They have begun while the restart made room.
pub(super) const LAST_PATIENCE: Duration = Duration::from_secs(10);

/// A time in which no worker runs, and requests wait.
#[derive(Debug)]
pub(super) struct Vacancy {
    /// The number of the restart.
    pub number: u32,
    since: Instant,
    /// When the restart ended before a worker served.
    pub left: Option<Instant>,
}

impl Vacancy {
    /// Begins, for the restart with this number.
    pub(super) fn new(number: u32, since: Instant) -> Vacancy {
        Vacancy {
            number,
            since,
            left: None,
        }
    }

    /// How long it has lasted.
    pub(super) fn duration(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.since)
    }

    /// Whether requests have waited for long enough for the responses of the last worker.
    pub(super) fn is_too_long(&self, now: Instant) -> bool {
        self.duration(now) > PATIENCE
    }
}
