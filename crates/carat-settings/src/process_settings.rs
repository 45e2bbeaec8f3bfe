use std::time::Duration;

use serde::Deserialize;

use crate::durations::optional_seconds;

/// A further process of the application: a `process` of the config file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessSettings {
    /// The name of the block that runs in it.
    pub name: String,
    /// How many run, at least.
    pub count: u32,
    /// How many run at most: as many, unless the number follows a load.
    pub most: u32,
    /// Private memory, with that of its descendants, above which it is replaced.
    pub memory: Option<u64>,
    /// The number of the signal that tells it to end.
    pub stop_signal: i32,
    /// How long it has from that signal to SIGKILL; `None` for `shutdown_timeout`.
    #[serde(deserialize_with = "optional_seconds")]
    pub stop_timeout: Option<Duration>,
    /// Whether another one follows it.
    pub restart: RestartPolicy,
    /// Whether its successor runs before it is told to end.
    pub overlap: bool,
    /// Whether it is a command, whose whole process group gets the signal.
    pub is_command: bool,
}

/// After which ends a process is started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RestartPolicy {
    /// After all.
    Always,
    /// After those with another status than 0.
    OnFailure,
    /// After none.
    Never,
}
