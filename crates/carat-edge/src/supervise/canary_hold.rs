use serde::Serialize;
use serde_json::{Value, json};

use crate::dispatch::{CanaryReport, CodeReport};
use carat_policy::CanaryUnit;

/// The workers of one code while a restart waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub(crate) struct HeldCode {
    pub(crate) generation: u32,
    /// How many take requests.
    pub(crate) workers: usize,
    /// How many died while they served.
    pub(crate) deaths: u32,
}

/// What old code and new came to while a restart waits, for those who ask. Times are seconds.
pub(super) fn canary_hold([old, new]: [HeldCode; 2], report: CanaryReport) -> Value {
    json!({
        "percent": report.rule.percent,
        "by": match report.rule.unit {
            CanaryUnit::Request => "request",
            CanaryUnit::Client => "cookie",
        },
        "old": code(old, report.old),
        "new": code(new, report.new),
    })
}

fn code(held: HeldCode, report: CodeReport) -> Value {
    json!({
        "generation": held.generation,
        "workers": held.workers,
        "dead_workers": held.deaths,
        "requests": report.requests,
        "errors": report.errors,
        "p50": report.median.map(|it| it.as_secs_f64()),
        "p99": report.p99.map(|it| it.as_secs_f64()),
    })
}
