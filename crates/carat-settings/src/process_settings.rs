use std::time::Duration;

use serde::Deserialize;

use crate::durations::optional_seconds;

/// A further process of the application: a `process` of the config file.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessSettings {
    /// The name of the block that runs in the process.
    pub name: String,
    /// The fewest processes that run.
    pub count: u32,
    /// The most processes that run; equal to `count` unless the number follows a load.
    pub most: u32,
    /// The private memory of a process and its descendants above which it is replaced.
    pub memory: Option<u64>,
    /// The number of the signal that tells a process to end.
    pub stop_signal: i32,
    /// How long a process has from that signal to SIGKILL; `None` for `shutdown_timeout`.
    #[serde(deserialize_with = "optional_seconds")]
    pub stop_timeout: Option<Duration>,
    /// Whether another process is started when one has ended.
    pub restart: RestartPolicy,
    /// Whether the successor of a process runs before the process is told to end.
    pub overlap: bool,
    /// Whether the block is a command. Its whole process group gets the signal.
    pub is_command: bool,
}

/// After which kinds of exit a process is started again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RestartPolicy {
    /// After every exit.
    Always,
    /// After an exit with another status than 0.
    OnFailure,
    /// After no exit.
    Never,
}
