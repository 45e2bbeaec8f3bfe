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

/// Whether the server has begun to accept clients. The port of the metrics is open before that, while
/// the application is loaded.
pub(super) fn startup(status: Option<&Value>) -> (StatusCode, String) {
    match status {
        None => not("the server is about to exit"),
        Some(status) if status["state"] == "starting" => not("the server is starting"),
        Some(_) => (StatusCode::OK, "started\n".to_owned()),
    }
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

    #[test]
    fn a_server_has_started_when_it_accepts_clients_also_when_it_is_not_ready() {
        let of = |state: &str| startup(Some(&json!({ "state": state }))).1;
        assert_eq!(of("starting"), "the server is starting\n");
        assert_eq!(of("paused"), "started\n");
        assert_eq!(of("draining"), "started\n");
        assert_eq!(startup(None).0, StatusCode::SERVICE_UNAVAILABLE);
    }
}
