use std::time::Duration;

use serde::Deserialize;

use crate::durations::optional_seconds;

/// Action Cable whose sockets the edge keeps.
#[derive(Debug, Deserialize)]
#[cfg_attr(any(test, feature = "fixture"), derive(Clone))]
#[serde(deny_unknown_fields)]
pub struct CableSettings {
    /// The path of the cable; `None` to leave it to the application.
    pub path: Option<String>,
    /// How long broadcasts are kept for the extended protocol; `None` to do without.
    #[serde(deserialize_with = "optional_seconds")]
    pub history: Option<Duration>,
    /// The bytes of these broadcasts, over all streams.
    pub history_bytes: usize,
    /// Whether messages are compressed for clients that offer it.
    pub compression: bool,
    /// The secret with which other programs may broadcast.
    pub token: Option<String>,
}
