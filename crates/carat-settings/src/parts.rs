//! The sections of the settings, one for each part: a capability that a user may switch off.

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use crate::durations::{optional_seconds, seconds};

/// The section of each part.
#[derive(Debug, Deserialize)]
#[cfg_attr(any(test, feature = "fixture"), derive(Clone))]
#[serde(deny_unknown_fields)]
#[expect(missing_docs, reason = "each is the section of the part of this name")]
pub struct PartSettings {
    pub http2: Http2Settings,
    pub tls: TlsSettings,
    pub metrics: MetricsSettings,
    pub otlp: OtlpSettings,
    pub rate_limit: RateLimitSettings,
    pub consoles: ConsoleSettings,
    pub fibers: FiberSettings,
    pub reload: ReloadSettings,
    pub cable: CableSettings,
    pub multipart: MultipartSettings,
    pub codings: CodingSettings,
    pub site: SiteSettings,
    pub cache: CacheSettings,
}

impl PartSettings {
    /// Whether a restart replaces all workers at once, and keeps nothing of the old code.
    pub fn replace_at_once(&self) -> bool {
        self.reload.enabled
    }

    /// How many requests a worker takes through one lane for all its fibers. `None` if it has a lane for each thread.
    pub(crate) fn shared_lane(&self) -> Option<u16> {
        self.fibers.slots
    }
}

/// The settings of HTTP/2, over TLS or unencrypted.
#[derive(Debug, Deserialize)]
#[cfg_attr(any(test, feature = "fixture"), derive(Clone))]
#[serde(deny_unknown_fields)]
pub struct Http2Settings {
    /// Whether clients may use HTTP/2.
    pub enabled: bool,
    /// The requests that one connection may have open at once.
    pub max_streams: u32,
}

/// The settings of encrypted connections, and of certificates from an authority with ACME.
#[derive(Debug, Deserialize)]
#[cfg_attr(any(test, feature = "fixture"), derive(Clone))]
#[serde(deny_unknown_fields)]
pub struct TlsSettings {
    /// The directory where the certificates of the authority are kept.
    pub acme_folder: PathBuf,
    /// The command that requests certificates from the authority. The names of the hosts are appended.
    pub acme_command: Vec<String>,
    /// The MAC key of the account at the authority to which the server's is bound, in base64; `None` without such an account.
    pub acme_eab_key: Option<String>,
    /// Who says which further names belong to the application; `None` if nobody is asked.
    pub acme_ask: Option<AcmeAsk>,
    /// How long a TLS handshake may take.
    #[serde(deserialize_with = "seconds")]
    pub handshake_timeout: Duration,
}

/// Who is asked whether a name belongs to the application.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AcmeAsk {
    /// The server that is asked; `None` for the application itself.
    pub server: Option<AskedServer>,
    /// The path, which may have a query. The name is added to it.
    pub target: String,
}

/// A server that is asked over plain HTTP.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskedServer {
    /// The name or address of the server.
    pub host: String,
    /// The port of the server.
    pub port: u16,
}

/// The port for Prometheus and health checks.
#[derive(Debug, Deserialize)]
#[cfg_attr(any(test, feature = "fixture"), derive(Clone))]
#[serde(deny_unknown_fields)]
pub struct MetricsSettings {
    /// The addresses on which metrics are served.
    pub addresses: Vec<String>,
}

/// The settings of tracing: the spans of requests.
#[derive(Debug, Deserialize)]
#[cfg_attr(any(test, feature = "fixture"), derive(Clone))]
#[serde(deny_unknown_fields)]
pub struct OtlpSettings {
    /// The collector that gets the spans; `None` to make none.
    pub collector: Option<Otlp>,
}

/// A collector of spans that speaks OTLP over HTTP.
#[derive(Debug, Clone, Deserialize)]
pub struct Otlp {
    /// The name or the address of the collector.
    pub host: String,
    /// The port of the collector.
    pub port: u16,
    /// The path in front of `/v1/traces`.
    pub path: String,
    /// The share of the traces beginning at this server that is recorded.
    pub sample: f64,
}

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

/// The settings of consoles: processes that are started for clients of the control socket.
#[derive(Debug, Deserialize)]
#[cfg_attr(any(test, feature = "fixture"), derive(Clone))]
#[serde(deny_unknown_fields)]
pub struct ConsoleSettings {
    /// Whether clients may start such processes.
    pub enabled: bool,
}

/// Workers that run each request in a fiber of one thread.
#[derive(Debug, Deserialize)]
#[cfg_attr(any(test, feature = "fixture"), derive(Clone))]
#[serde(deny_unknown_fields)]
pub struct FiberSettings {
    /// The requests that a worker runs at once; `None` for threads.
    pub slots: Option<u16>,
}

/// The loading of changed source files.
#[derive(Debug, Deserialize)]
#[cfg_attr(any(test, feature = "fixture"), derive(Clone))]
#[serde(deny_unknown_fields)]
pub struct ReloadSettings {
    /// Whether changed files are loaded before the next request.
    pub enabled: bool,
}

/// The settings of Action Cable, whose sockets the edge keeps.
#[derive(Debug, Deserialize)]
#[cfg_attr(any(test, feature = "fixture"), derive(Clone))]
#[serde(deny_unknown_fields)]
pub struct CableSettings {
    /// The path of the cable; `None` to leave it to the application.
    pub path: Option<String>,
    /// How long broadcasts are kept for the extended protocol; `None` to do without.
    #[serde(deserialize_with = "optional_seconds")]
    pub history: Option<Duration>,
    /// The most bytes of kept broadcasts, over all streams.
    pub history_bytes: usize,
    /// Whether messages are compressed for clients that offer it.
    pub compression: bool,
    /// The secret with which other programs may broadcast.
    pub token: Option<String>,
}

/// The forms whose files the edge extracts.
#[derive(Debug, Deserialize)]
#[cfg_attr(any(test, feature = "fixture"), derive(Clone))]
#[serde(deny_unknown_fields)]
pub struct MultipartSettings {
    /// The side that extracts the files of a form.
    pub parser: Multipart,
    /// The parts of a form, at most.
    pub max_parts: usize,
    /// The files of a form, at most.
    pub max_files: usize,
    /// The bytes of the header fields of a part, at most.
    pub max_part_header: usize,
    /// The bytes of all parts that are no files, at most.
    pub max_field_bytes: usize,
}

/// The side that extracts the files of a form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Multipart {
    /// The application.
    App,
    /// The edge, while they arrive.
    Edge,
}

/// The compression of responses, and the decoding of requests.
#[derive(Debug, Deserialize)]
#[cfg_attr(any(test, feature = "fixture"), derive(Clone))]
#[serde(deny_unknown_fields)]
pub struct CodingSettings {
    /// Whether compressed bodies are decoded before the application sees them.
    pub decode_requests: bool,
    /// The bytes of a decoded body, at most.
    pub max_decoded_body: u64,
    /// The decoded bytes for each byte of an encoded body, at most.
    pub max_decode_ratio: u64,
    /// Whether responses are compressed for clients that accept it.
    pub compress: bool,
    /// The least size in bytes of a response that is compressed.
    pub compress_min_bytes: u64,
    /// The compression level of gzip.
    pub gzip_level: u32,
    /// The compression level of brotli.
    pub brotli_level: u32,
    /// The compression level of zstd.
    pub zstd_level: i32,
}

/// The requests that the edge answers by a file, a page, or a redirect.
#[derive(Debug, Deserialize)]
#[cfg_attr(any(test, feature = "fixture"), derive(Clone))]
#[serde(deny_unknown_fields)]
pub struct SiteSettings {
    /// The directories whose files are served.
    pub static_files: Vec<StaticDirectory>,
    /// The directories from which the application may name files.
    pub sendfile: Vec<StaticDirectory>,
    /// The directory of the pages that browsers get in place of errors.
    pub error_pages: Option<PathBuf>,
    /// The page that all clients get while this file exists.
    pub maintenance: Option<PathBuf>,
    /// Whether unencrypted requests are redirected to https.
    pub force_tls: bool,
    /// For how many seconds browsers use only https for this host.
    pub hsts_max_age: u64,
}

/// A directory whose files are served.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StaticDirectory {
    /// The start of the path in URLs.
    pub prefix: String,
    /// An absolute path.
    pub directory: PathBuf,
    /// The Cache-Control field of files without a fingerprint in their names.
    pub cache_control: Option<String>,
    /// The page for files that do not exist. With it, requests for them do not go to the application.
    pub not_found: Option<String>,
}

/// The public responses that the edge keeps.
#[derive(Debug, Deserialize)]
#[cfg_attr(any(test, feature = "fixture"), derive(Clone))]
#[serde(deny_unknown_fields)]
pub struct CacheSettings {
    /// The most bytes of kept responses; `None` to keep none.
    pub limit: Option<u64>,
}

/// Sections of parts that are off, for tests.
#[cfg(any(test, feature = "fixture"))]
const PLAIN: &str = r#"{
    "http2": { "enabled": true, "max_streams": 1 },
    "tls": { "acme_folder": "/", "acme_command": [], "acme_eab_key": null, "acme_ask": null, "handshake_timeout": 60 },
    "metrics": { "addresses": [] },
    "otlp": { "collector": null },
    "rate_limit": { "limit": null },
    "consoles": { "enabled": true },
    "fibers": { "slots": null },
    "reload": { "enabled": false },
    "cable": { "path": null, "history": null, "history_bytes": 1, "compression": false, "token": null },
    "multipart": { "parser": "app", "max_parts": 1, "max_files": 1, "max_part_header": 1, "max_field_bytes": 1 },
    "codings": { "decode_requests": false, "max_decoded_body": 1, "max_decode_ratio": 1, "compress": false, "compress_min_bytes": 0, "gzip_level": 1, "brotli_level": 1, "zstd_level": 1 },
    "site": { "static_files": [], "sendfile": [], "error_pages": null, "maintenance": null, "force_tls": false, "hsts_max_age": 0 },
    "cache": { "limit": null }
}"#;

/// The sections of `Settings::plain`.
#[cfg(any(test, feature = "fixture"))]
pub(crate) fn plain_sections() -> serde_json::Value {
    serde_json::from_str(PLAIN).expect("an object")
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_worker_has_a_lane_for_each_thread_unless_its_requests_share_one() {
        let mut settings = crate::Settings::plain();
        settings.threads = 3;
        assert_eq!((settings.lanes(), settings.slots()), (3, 3));
        settings.parts.fibers.slots = Some(200);
        assert_eq!((settings.lanes(), settings.slots()), (1, 200));
    }
}
