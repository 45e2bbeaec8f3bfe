use std::fs;

use carat_fields::Accept;
use http::header::ACCEPT;
use http::{HeaderMap, HeaderValue};
use prometheus_client::encoding::text::{encode_eof, encode_registry};
use prometheus_client::registry::Registry;
use serde_json::Value;

use super::gauges::gauges;
use super::request_metrics::RequestMetrics;
use carat_files::REPORT_THREAD;
use carat_http::{EdgeCore, OtherParts};

/// The Content-Type of `OpenMetrics`.
pub(super) const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// The Content-Type of Prometheus' own format.
pub(super) const TEXT_FORMAT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Whether a client names `OpenMetrics`, the newer format, and does not prefer the older one.
pub(super) fn wants_open_metrics(request: &HeaderMap) -> bool {
    let accept = Accept::read(request.get_all(ACCEPT).iter().map(HeaderValue::as_bytes));
    let [open, plain] = [OPEN_METRICS, TEXT_FORMAT].map(|kind| accept.weight(kind.as_bytes()));
    accept.names("application/openmetrics-text") && open >= plain
}

/// All metrics at this moment; `None` when they cannot be read. `status` is what `carat status`
/// shows.
pub(super) async fn registry(
    core: &EdgeCore,
    parts: &dyn OtherParts,
    requests: &RequestMetrics,
    status: &Value,
) -> Option<Registry> {
    let files = REPORT_THREAD.run(|| fs::read_dir("/proc/self/fd").map_or(0, Iterator::count));
    let mut registry = gauges(core, parts, status, files.await.ok()?);
    requests.register(&mut registry);
    Some(registry)
}

/// The text of a registry, and of another one if asked for, in one of the two formats; `None` if it
/// cannot be encoded.
pub(super) fn exposition(
    registry: &Registry,
    other: Option<&Registry>,
    is_open_metrics: bool,
) -> Option<String> {
    let mut text = String::new();
    for registry in [registry].into_iter().chain(other) {
        encode_registry(&mut text, registry).ok()?;
    }
    if is_open_metrics {
        encode_eof(&mut text).ok()?;
        return Some(text);
    }
    Some(plain(&text))
}

/// The text in the older format: the name of a counter ends with `_total` in its comments, too, and
/// there are no units.
fn plain(text: &str) -> String {
    let counter = |line: &str| {
        Some(
            line.strip_prefix("# TYPE ")?
                .strip_suffix(" counter")?
                .to_owned(),
        )
    };
    let counters: Vec<String> = text.lines().filter_map(counter).collect();
    let mut plain = String::with_capacity(text.len());
    for line in text.lines().filter(|line| !line.starts_with("# UNIT ")) {
        let mut words = line.splitn(4, ' ');
        let name = line.starts_with('#').then(|| words.nth(2)).flatten();
        match name.filter(|name| counters.iter().any(|counter| counter == name)) {
            Some(name) => plain.push_str(&line.replacen(name, &format!("{name}_total"), 1)),
            None => plain.push_str(line),
        }
        plain.push('\n');
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_gets_the_newer_format_when_it_names_it_and_likes_it_as_well() {
        let wants = |accept: &'static str| {
            let accept = HeaderValue::from_static(accept);
            wants_open_metrics(&HeaderMap::from_iter([(ACCEPT, accept)]))
        };
        let prometheus = "application/openmetrics-text;version=1.0.0,\
            application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
        assert!(wants(prometheus) && wants("text/plain, Application/OpenMetrics-Text"));
        for accept in [
            "*/*",
            "application/*",
            "application/openmetrics-text;q=0",
            "application/openmetrics-text; version=1.0.0; q=0.0",
            "application/openmetrics-text;q=0.5, text/plain",
            "x=\"application/openmetrics-text\"",
        ] {
            assert!(!wants(accept), "{accept}");
        }
    }

    #[test]
    fn in_the_older_format_comments_name_counters_as_samples_do() {
        let text = "# HELP carat_x Help.\n# TYPE carat_x counter\ncarat_x_total 1\n\
                    # TYPE carat_y_seconds gauge\n# UNIT carat_y_seconds seconds\ncarat_y_seconds 2\n";
        let expected = "# HELP carat_x_total Help.\n# TYPE carat_x_total counter\ncarat_x_total 1\n\
                        # TYPE carat_y_seconds gauge\ncarat_y_seconds 2\n";
        assert_eq!(plain(text), expected);
    }
}
