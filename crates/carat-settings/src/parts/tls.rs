use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

use crate::durations::seconds;

/// Encrypted connections, and the certificates of an authority that speaks ACME.
#[derive(Debug, Deserialize)]
#[cfg_attr(any(test, feature = "fixture"), derive(Clone))]
#[serde(deny_unknown_fields)]
pub struct TlsSettings {
    /// The directory where the certificates of the authority are kept.
    pub acme_folder: PathBuf,
    /// The command that asks the authority for the certificates of the names that follow it.
    pub acme_command: Vec<String>,
    /// How long a TLS handshake may take.
    #[serde(deserialize_with = "seconds")]
    pub handshake_timeout: Duration,
}
