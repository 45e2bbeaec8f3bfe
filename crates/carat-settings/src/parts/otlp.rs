use serde::Deserialize;

/// The spans of requests.
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
    /// The share of the traces that begin here.
    pub sample: f64,
}
