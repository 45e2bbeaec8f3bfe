use std::path::PathBuf;

use serde::Deserialize;

/// What the edge answers without the application.
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
    /// The page that all clients get while it is there.
    pub maintenance: Option<PathBuf>,
    /// Whether requests in clear are sent to https.
    pub force_tls: bool,
    /// The seconds for which browsers ask for this host over https only.
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
    /// For files without a fingerprint in their names.
    pub cache_control: Option<String>,
    /// The page for what is not there, which then does not go to the application.
    pub not_found: Option<String>,
}
