use serde::Deserialize;

/// The port for Prometheus and health checks.
#[derive(Debug, Deserialize)]
#[cfg_attr(any(test, feature = "fixture"), derive(Clone))]
#[serde(deny_unknown_fields)]
pub struct MetricsSettings {
    /// The addresses on which metrics are served.
    pub addresses: Vec<String>,
}
