use serde_json::{Value, json};

use carat_dispatch::{CanaryReport, CodeReport};
use carat_policy::{CanaryUnit, JudgedCode};
use carat_supervisor::{CanaryDecision, HeldCode};

/// What old code and new came to while a restart waits, for those who ask. Times are seconds.
pub(crate) fn canary_hold([old, new]: [HeldCode; 2], report: CanaryReport) -> Value {
    json!({
        "percent": report.rule.percent,
        "by": match report.rule.unit {
            CanaryUnit::Request => "request",
            CanaryUnit::Client => "cookie",
        },
        "judge": report.rule.judges,
        "old": code(old, report.old),
        "new": code(new, report.new),
    })
}

/// What the server decided about a canary, and why. Times are seconds.
pub(crate) fn canary_decision(decision: &CanaryDecision) -> Value {
    let code = |code: JudgedCode| {
        json!({
            "requests": code.requests,
            "errors": code.errors,
            "p50": code.median.map(|it| it.as_secs_f64()),
            "cpu_per_request": code.cpu.map(|it| it.as_secs_f64()),
            "objects_per_request": code.objects,
            "private_bytes_per_worker": code.private,
        })
    };
    let codes = decision.codes.map(|codes| codes.map(code));
    let [old, new] = codes.map_or([None, None], |codes| codes.map(Some));
    let goes_on = decision.verdict.goes_on();
    json!({
        "generation": decision.generation,
        "decision": if goes_on { "go" } else { "rollback" },
        "cause": decision.verdict.name(),
        "old": old,
        "new": new,
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
