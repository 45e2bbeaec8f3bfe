use serde::Deserialize;

/// The loading of changed source files.
#[derive(Debug, Deserialize)]
#[cfg_attr(any(test, feature = "fixture"), derive(Clone))]
#[serde(deny_unknown_fields)]
pub struct ReloadSettings {
    /// Whether changed files are loaded before the next request.
    pub enabled: bool,
}
