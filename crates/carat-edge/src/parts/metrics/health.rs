use http::StatusCode;
use serde_json::Value;

/// Whether the server is ready for requests, and why not, in one line. `status` is the status that
/// `carat status` shows, `None` when the supervisor is gone.
pub(super) fn readiness(status: Option<&Value>) -> (StatusCode, String) {
    let Some(status) = status else {
        return not("the server is about to exit");
    };
    let state = status["state"].as_str().unwrap_or_default();
    if !matches!(state, "serving" | "paused") {
        return not(&format!("the server is {state}"));
    }
    let workers = status["processes"].as_array();
    let is_serving =
        |worker: &Value| worker["state"] == "serving" || worker["state"] == "to be replaced";
    if workers.is_some_and(|workers| workers.iter().any(is_serving)) {
        return (StatusCode::OK, "ready\n".to_owned());
    }
    not("no worker is ready")
}

fn not(reason: &str) -> (StatusCode, String) {
    (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_server_is_ready_when_it_serves_with_a_worker_and_else_says_why() {
        let of = |state: &str, worker: &str| {
            let status = json!({ "state": state, "processes": [{ "state": worker }] });
            readiness(Some(&status)).1
        };
        assert_eq!(of("serving", "serving"), "ready\n");
        assert_eq!(of("paused", "to be replaced"), "ready\n");
        assert_eq!(of("serving", "booting"), "no worker is ready\n");
        assert_eq!(of("draining", "serving"), "the server is draining\n");
        assert_eq!(readiness(None).0, StatusCode::SERVICE_UNAVAILABLE);
    }
}
