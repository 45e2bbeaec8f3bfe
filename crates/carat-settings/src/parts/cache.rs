use serde::Deserialize;

/// The public responses that the edge keeps.
#[derive(Debug, Deserialize)]
#[cfg_attr(any(test, feature = "fixture"), derive(Clone))]
#[serde(deny_unknown_fields)]
pub struct CacheSettings {
    /// The bytes of these responses; `None` to keep none.
    pub limit: Option<u64>,
}
