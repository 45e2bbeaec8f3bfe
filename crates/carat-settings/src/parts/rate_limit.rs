use std::time::Duration;

use serde::Deserialize;

use crate::durations::seconds;

/// How many requests each client address may send.
#[derive(Debug, Deserialize)]
#[cfg_attr(any(test, feature = "fixture"), derive(Clone))]
#[serde(deny_unknown_fields)]
pub struct RateLimitSettings {
    /// The limit; `None` for no limit.
    pub limit: Option<RateLimit>,
}

/// A number of requests in a period.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RateLimit {
    /// How many requests, at least one.
    pub requests: u32,
    /// In how much time.
    #[serde(deserialize_with = "seconds")]
    pub period: Duration,
}
