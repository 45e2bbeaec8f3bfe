//! The sections of the settings, one for each part: a capability that a user may switch off.

mod cable;
mod cache;
mod codings;
mod consoles;
mod fibers;
mod http2;
mod metrics;
mod multipart;
mod otlp;
mod rate_limit;
mod reload;
mod site;
mod tls;

use serde::Deserialize;

pub use cable::CableSettings;
pub use cache::CacheSettings;
pub use codings::CodingSettings;
pub use consoles::ConsoleSettings;
pub use fibers::FiberSettings;
pub use http2::Http2Settings;
pub use metrics::MetricsSettings;
pub use multipart::{Multipart, MultipartSettings};
pub use otlp::{Otlp, OtlpSettings};
pub use rate_limit::{RateLimit, RateLimitSettings};
pub use reload::ReloadSettings;
pub use site::{SiteSettings, StaticDirectory};
pub use tls::TlsSettings;

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

    /// How many requests a worker takes through one lane that they share. `None` for a lane for each thread.
    pub(crate) fn shared_lane(&self) -> Option<u16> {
        self.fibers.slots
    }
}

/// Sections of parts that are off, for tests.
#[cfg(any(test, feature = "fixture"))]
const PLAIN: &str = r#"{
    "http2": { "enabled": true, "max_streams": 1 },
    "tls": { "acme_folder": "/", "acme_command": [], "handshake_timeout": 60 },
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
