use serde_json::{Value, json};

use carat_dispatch::{CanaryReport, CodeReport};
use carat_policy::CanaryUnit;
use carat_supervisor::HeldCode;

/// What old code and new came to while a restart waits, for those who ask. Times are seconds.
pub(crate) fn canary_hold([old, new]: [HeldCode; 2], report: CanaryReport) -> Value {
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
