use std::time::Duration;

use serde::{Deserialize, Deserializer};

/// Reads a number of seconds, or null.
pub(crate) fn optional_seconds<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Duration>, D::Error> {
    let seconds = Option::<f64>::deserialize(deserializer)?;
    let duration = seconds.map(Duration::try_from_secs_f64).transpose();
    duration.map_err(serde::de::Error::custom)
}

/// Reads a number of seconds.
pub(crate) fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    let seconds = f64::deserialize(deserializer)?;
    Duration::try_from_secs_f64(seconds).map_err(serde::de::Error::custom)
}
