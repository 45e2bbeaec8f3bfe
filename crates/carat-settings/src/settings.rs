//! The values of the option table, which the launcher passes as JSON.

use std::path::PathBuf;
use std::time::Duration;

use carat_fields::{Network, TrustedProxies};
use carat_policy::{MemoryLimit, ReforkRule, WorkerCount};
use serde::{Deserialize, Deserializer};

use crate::durations::{optional_seconds, seconds};
use crate::identity::Identity;
use crate::launch_settings::LaunchSettings;
use crate::parts::PartSettings;
use crate::pool_settings::PoolSettings;
use crate::process_settings::ProcessSettings;
use crate::url_prefix::UrlPrefix;

/// The environment variable that carries the settings.
pub const SETTINGS_VARIABLE: &str = "CARAT_EDGE_SETTINGS";

/// The environment variable that tells a new edge what the old one leaves to it.
pub const UPGRADE_VARIABLE: &str = "CARAT_UPGRADE";

/// The options that the edge reads, which `docs/options.md` describes, and what the launcher adds.
#[derive(Debug, Deserialize)]
#[cfg_attr(any(test, feature = "fixture"), derive(Clone))]
#[serde(deny_unknown_fields)]
#[expect(
    missing_docs,
    reason = "each is named after an option of docs/options.md"
)]
pub struct Settings {
    pub version: String,
    pub directory: PathBuf,
    /// A file with the process id of the edge, which is removed with the server.
    pub pid_file: Option<PathBuf>,
    /// The user that the server becomes when the ports are bound; `None` to stay the user that started the server.
    pub identity: Option<Identity>,
    pub bind: Vec<String>,
    pub backlog: i32,
    pub prefix: Option<UrlPrefix>,
    /// `None` when the option is not set.
    #[serde(deserialize_with = "proxies")]
    pub trusted_proxies: Option<TrustedProxies>,
    pub proxy_headers: ProxyHeaders,
    pub ready_fd: Option<i32>,
    #[serde(deserialize_with = "workers")]
    pub workers: WorkerCount,
    pub threads: u16,
    #[serde(deserialize_with = "seconds")]
    pub queue_time_target: Duration,
    #[serde(deserialize_with = "seconds")]
    pub worker_idle_timeout: Duration,
    pub worker_requests: Option<u64>,
    #[serde(deserialize_with = "optional_seconds")]
    pub worker_age: Option<Duration>,
    pub memory: MemoryLimit,
    pub client_memory: Option<MemoryLimit>,
    pub worker_memory: Option<u64>,
    pub refork: ReforkRule,
    pub control_socket: Option<PathBuf>,
    pub log: Option<PathBuf>,
    pub log_format: LogFormat,
    pub access_log: bool,
    pub spool_dir: PathBuf,
    pub spool_limit: u64,
    /// Whether the application learns when a request began to wait for a worker.
    pub request_start: bool,
    pub inline_body_limit: usize,
    pub body_buffer: usize,
    pub request_body: RequestMode,
    pub max_body: u64,
    pub max_header_bytes: usize,
    pub max_headers: usize,
    /// The most tunnels; `None` for as many as connections.
    pub max_tunnels: Option<usize>,
    pub max_uri: usize,
    pub max_connections: usize,
    /// `max_connections` if the user has set it; `None` for the default.
    pub chosen_connections: Option<usize>,
    pub body_min_rate: u64,
    #[serde(deserialize_with = "seconds")]
    pub write_timeout: Duration,
    pub write_min_rate: u64,
    pub queue_limit: usize,
    pub queue: QueueOrder,
    /// Routes with a queue and a share of the lanes of their own.
    pub pool: Vec<PoolSettings>,
    #[serde(deserialize_with = "seconds")]
    pub queue_delay: Duration,
    #[serde(deserialize_with = "seconds")]
    pub header_timeout: Duration,
    #[serde(deserialize_with = "seconds")]
    pub idle_timeout: Duration,
    #[serde(deserialize_with = "optional_seconds")]
    pub request_timeout: Option<Duration>,
    /// When a running request is reported as slow; `None` for no reports.
    #[serde(deserialize_with = "optional_seconds")]
    pub slow_request: Option<Duration>,
    #[serde(deserialize_with = "seconds")]
    pub queue_timeout: Duration,
    #[serde(deserialize_with = "optional_seconds")]
    pub drain_delay: Option<Duration>,
    /// The targets of readiness checks. Their paths get 503 while the server is about to stop.
    pub readiness_path: Vec<String>,
    #[serde(deserialize_with = "seconds")]
    pub shutdown_timeout: Duration,
    #[serde(deserialize_with = "seconds")]
    pub tunnel_timeout: Duration,
    #[serde(deserialize_with = "seconds")]
    pub keep_previous: Duration,
    pub restart_hold: bool,
    pub restart_check: Vec<String>,
    /// The path of the file, relative to `directory`.
    pub restart_file: Option<PathBuf>,
    #[serde(deserialize_with = "seconds")]
    pub upgrade_timeout: Duration,
    #[serde(deserialize_with = "seconds")]
    pub boot_timeout: Duration,
    /// The further processes of the application.
    pub processes: Vec<ProcessSettings>,
    pub launch: LaunchSettings,
    pub parts: PartSettings,
}

/// How log lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// A line of text for each event.
    Text,
    /// A JSON object for each event.
    Json,
}

/// The fields by which proxies name their clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProxyHeaders {
    /// `X-Forwarded-For` and its like.
    XForwarded,
    /// `Forwarded` (RFC 7239).
    Forwarded,
}

/// The order of the requests that wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum QueueOrder {
    /// The oldest request is next; in an overload, mostly the newest.
    Adaptive,
    /// The oldest request is next.
    Fifo,
}

/// When the application begins a request with a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RequestMode {
    /// When the body has arrived.
    Whole,
    /// When the header fields have arrived.
    Stream,
}

impl Settings {
    /// How many lanes a worker has: one for each thread, or one that all its requests share.
    pub fn lanes(&self) -> u16 {
        self.parts.shared_lane().map_or(self.threads, |_| 1)
    }

    /// How many requests one worker runs concurrently.
    pub fn slots(&self) -> u16 {
        self.parts.shared_lane().unwrap_or(self.threads)
    }

    /// Reads the settings from the environment of this process.
    pub fn from_environment() -> Result<Settings, String> {
        let json = std::env::var(SETTINGS_VARIABLE).map_err(|_| {
            format!("{SETTINGS_VARIABLE} is not set: start the server with the `carat` command")
        })?;
        // Parsed from bytes, like the settings that are read later, so that the parser is compiled only once.
        serde_json::from_slice(json.as_bytes()).map_err(|error| {
            format!(
                "the `carat` command is of another version than the edge, so build again: {error}"
            )
        })
    }
}

/// Parses a number of workers as the option table writes it: `2..2`, `1..8` or `auto`.
fn workers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<WorkerCount, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text == "auto" {
        return Ok(WorkerCount::Auto);
    }
    let range = text
        .split_once("..")
        .and_then(|(min, max)| Some((min.parse().ok()?, max.parse().ok()?)));
    let (min, max) = range.ok_or_else(|| serde::de::Error::custom("workers is not a range"))?;
    Ok(WorkerCount::Between { min, max })
}

fn proxies<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<TrustedProxies>, D::Error> {
    let Some(texts) = Option::<Vec<String>>::deserialize(deserializer)? else {
        return Ok(None);
    };
    let network = |text: &String| {
        text.parse::<Network>().map_err(|problem| {
            serde::de::Error::custom(format!("trusted_proxies: {text:?} {problem}"))
        })
    };
    let networks = texts.iter().map(network).collect::<Result<_, _>>()?;
    Ok(Some(TrustedProxies::new(networks)))
}

#[cfg(any(test, feature = "fixture"))]
const PLAIN: &str = r#"{
    "version": "", "directory": "/", "pid_file": null, "identity": null, "bind": [], "backlog": 1, "prefix": null, "trusted_proxies": null, "proxy_headers": "x-forwarded",
    "ready_fd": null, "workers": "1..1", "threads": 1, "queue_time_target": 60,
    "worker_idle_timeout": 60, "worker_requests": null, "worker_age": null, "memory": 18446744073709551615, "client_memory": null,
    "worker_memory": null, "refork": "off", "control_socket": null, "log": "/dev/null", "log_format": "text",
    "access_log": false, "spool_dir": "/var/tmp", "spool_limit": 18446744073709551615, "inline_body_limit": 1,
    "body_buffer": 1, "request_body": "whole", "max_body": 1, "max_header_bytes": 1, "max_headers": 1, "max_tunnels": null, "max_uri": 1,
    "max_connections": 1, "chosen_connections": null, "body_min_rate": 0, "write_timeout": 60, "write_min_rate": 0, "queue_limit": 1, "queue": "fifo", "pool": [], "queue_delay": 60, "header_timeout": 60, "idle_timeout": 60, "request_timeout": 60, "slow_request": null, "queue_timeout": 60, "request_start": false, "drain_delay": null, "readiness_path": [],
    "shutdown_timeout": 60, "tunnel_timeout": 5,
    "keep_previous": 60, "restart_hold": true, "restart_check": [], "restart_file": null, "upgrade_timeout": 60, "boot_timeout": 60, "processes": [],
    "launch": {
        "mold_command": [], "reader_command": [], "upgrade_command": [], "mold_environment": {}, "start_options": null,
        "control_socket_name": "carat-PID.sock", "control_directories": [], "ignores_hangup": false
    }
}"#;

#[cfg(any(test, feature = "fixture"))]
fn plain() -> serde_json::Value {
    let mut written: serde_json::Value = serde_json::from_str(PLAIN).expect("an object");
    written["parts"] = crate::parts::plain_sections();
    written
}

#[cfg(any(test, feature = "fixture"))]
impl Settings {
    /// Settings without any timeout that a test would have to wait for.
    pub fn plain() -> Settings {
        serde_json::from_value(plain()).expect("every setting")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_the_policies_have_several_forms() {
        let with = |option: &str, value: serde_json::Value| {
            let mut written = plain();
            written[option] = value;
            serde_json::from_value::<Settings>(written)
        };
        let memory = |value: &str| with("memory", value.into()).map(|it| it.memory);
        assert_eq!(memory("80%").expect("a share"), MemoryLimit::Share(0.8));
        assert!(memory("80").is_err());
        let clients = with("client_memory", 5.into()).expect("bytes");
        assert_eq!(clients.client_memory, Some(MemoryLimit::Bytes(5)));
        let refork = |value| with("refork", value).map(|it| it.refork);
        assert_eq!(refork("auto".into()).expect("a rule"), ReforkRule::Auto);
        let counts = refork([1000, 2000].as_slice().into()).expect("counts");
        assert_eq!(counts, ReforkRule::After(vec![1000, 2000]));
        assert!(refork("never".into()).is_err());
    }
}
