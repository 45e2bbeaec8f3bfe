use std::time::Duration;

use carat_wire::control::Sampling;

/// How long a worker has to reply with its profile. It has to wait for Ruby's lock and to collect its garbage first.
pub(crate) const REPLY_TIMEOUT: Duration = Duration::from_secs(30);

/// A client's order to profile a worker.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct ProfileOrder {
    /// The number of the worker.
    pub(crate) worker: u32,
    pub(crate) duration: Duration,
    pub(crate) sampling: Sampling,
}

impl ProfileOrder {
    pub(crate) fn takes_at_most(&self) -> Duration {
        self.duration + REPLY_TIMEOUT
    }
}

/// A profile, as a JSON object, or one sentence about why there is none.
pub(crate) type ProfileReply = Result<String, String>;
