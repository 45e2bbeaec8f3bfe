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
    /// A name or an address.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// What precedes `/v1/traces`.
    pub path: String,
    /// The share of the traces that begin here.
    pub sample: f64,
}
