use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// The status of the certificate of a name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
pub(crate) struct CertificateStatus {
    /// The name of the host.
    #[serde(default)]
    pub(crate) name: String,
    /// When the certificate expires; `None` while there is none. All times are seconds since 1970.
    pub(crate) expires: Option<u64>,
    /// When the authority is asked next.
    pub(crate) due: Option<u64>,
    /// Why the last attempt failed.
    pub(crate) error: Option<String>,
    /// Whether the name is not in the address of the listener: the application has called it its own.
    #[serde(skip_deserializing)]
    pub(crate) on_demand: bool,
}

impl CertificateStatus {
    /// The time until the authority is to be asked. A name that has no certificate, and for which
    /// no attempt has failed, is due at once.
    pub(crate) fn wait(&self, now: SystemTime) -> Duration {
        let is_open = self.expires.is_none() && self.error.is_none();
        let due = self.due.filter(|_| !is_open).unwrap_or(0);
        let since = now.duration_since(UNIX_EPOCH).unwrap_or_default();
        Duration::from_secs(due).saturating_sub(since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_authority_is_asked_when_it_is_time_and_at_once_for_what_is_missing() {
        let now = UNIX_EPOCH + Duration::from_secs(1000);
        let status =
            |json: &str| -> CertificateStatus { serde_json::from_str(json).expect("a status") };
        let waits = |json: &str| status(json).wait(now).as_secs();
        assert_eq!(CertificateStatus::default().wait(now), Duration::ZERO);
        let found = waits(r#"{"expires": 9000, "due": 1060, "error": null}"#);
        assert_eq!(found, 60);
        assert_eq!(waits(r#"{"expires": 9000, "due": 60, "error": null}"#), 0);
        assert_eq!(waits(r#"{"expires": null, "due": 1060, "error": "x"}"#), 60);
        assert_eq!(waits(r#"{"expires": null, "due": 1060, "error": null}"#), 0);
    }
}
