use serde::Deserialize;

/// HTTP/2, over TLS or in clear.
#[derive(Debug, Deserialize)]
#[cfg_attr(any(test, feature = "fixture"), derive(Clone))]
#[serde(deny_unknown_fields)]
pub struct Http2Settings {
    /// Whether clients may speak it.
    pub enabled: bool,
    /// The requests that one connection may have open at once.
    pub max_streams: u32,
}
