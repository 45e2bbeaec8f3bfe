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
    pub consoles: ConsoleSettings,
    pub fibers: FiberSettings,
    pub reload: ReloadSettings,
    pub cable: CableSettings,
    pub multipart: MultipartSettings,
    pub codings: CodingSettings,
    pub site: SiteSettings,
    pub cache: CacheSettings,
}
