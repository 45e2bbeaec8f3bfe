use std::time::Duration;

use carat_policy::WorkerCount;
use http::{Method, StatusCode, Uri};

use crate::supervise::{ControlRequest, ProfileOrder};

/// The longest pause.
const PAUSE_LIMIT: Duration = Duration::from_secs(600);

/// The longest profile.
const PROFILE_LIMIT: Duration = Duration::from_secs(600);

/// The smallest sampling interval of a profile, in bytes or microseconds.
const SAMPLING_MIN: u64 = 1000;

/// The most workers that a command may ask for; more are a mistake. The option `workers` has the same limit.
const WORKERS_LIMIT: u32 = 10_000;

/// The most processes of one name that a command may ask for. The config file has the same limit.
const PROCESSES_LIMIT: u32 = 1000;

/// The resources of the control socket.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Route {
    /// The memory and the stats of each process.
    Memory,
    /// The stack of each running request.
    Stacks,
    /// The profile of a worker, which takes some time.
    Profile(ProfileOrder),
    /// A request that the supervisor carries out or answers.
    Control(ControlRequest),
}

/// Why a request has no resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NoRoute {
    NotFound,
    /// The methods that the path allows.
    NotAllowed(&'static str),
    /// The query is missing or wrong.
    BadQuery,
}

impl NoRoute {
    pub(super) fn status(self) -> StatusCode {
        match self {
            NoRoute::NotFound => StatusCode::NOT_FOUND,
            NoRoute::NotAllowed(_) => StatusCode::METHOD_NOT_ALLOWED,
            NoRoute::BadQuery => StatusCode::BAD_REQUEST,
        }
    }
}

impl Route {
    /// Finds the resource of a request. A request that changes something needs POST, and its argument is in the query.
    pub(super) fn find(method: &Method, uri: &Uri) -> Result<Route, NoRoute> {
        let query = uri.query().unwrap_or_default();
        match uri.path() {
            "/memory" => read(method, Route::Memory),
            "/stacks" => read(method, Route::Stacks),
            "/status" => read(
                method,
                Route::Control(ControlRequest::Status { asks_ruby: false }),
            ),
            "/top" => read(method, Route::Control(ControlRequest::Overview)),
            "/stop" => write(method, || Some(ControlRequest::Stop)),
            "/scale" => write(method, || scale(query)),
            "/pause" => write(method, || seconds(query).map(ControlRequest::Pause)),
            "/resume" => write(method, || Some(ControlRequest::Resume)),
            "/profile" if *method == Method::POST => {
                profile(query).map(Route::Profile).ok_or(NoRoute::BadQuery)
            }
            "/profile" => Err(NoRoute::NotAllowed("POST")),
            "/end-profile" => write(method, || number(query).map(ControlRequest::EndProfile)),
            "/kill-worker" => write(method, || number(query).map(ControlRequest::KillWorker)),
            "/kill-process" => write(method, || kill_process(query)),
            "/restart" if *method == Method::POST => write(method, || {
                query.is_empty().then_some(ControlRequest::Restart)
            }),
            "/restart" => {
                let number = number(query).ok_or(NoRoute::BadQuery)?;
                read(
                    method,
                    Route::Control(ControlRequest::RestartReport(number)),
                )
            }
            "/upgrade" => write(method, || Some(ControlRequest::Upgrade)),
            "/rollback" => write(method, || Some(ControlRequest::Rollback)),
            _ => Err(NoRoute::NotFound),
        }
    }
}

fn scale(query: &str) -> Option<ControlRequest> {
    let app = query.strip_prefix("process=");
    app.map_or_else(|| workers(query).map(ControlRequest::Scale), processes)
}

/// Reads `jobs&count=1..3`.
fn processes(query: &str) -> Option<ControlRequest> {
    let (name, count) = query.split_once("&count=")?;
    let (min, max) = count.split_once("..")?;
    let (min, max) = (min.parse().ok()?, max.parse().ok()?);
    let (name, bounds) = (name.to_owned(), (min, max));
    let is_allowed = min <= max && max <= PROCESSES_LIMIT;
    is_allowed.then_some(ControlRequest::ScaleApp { name, bounds })
}

/// Reads `process=jobs`, or `process=jobs&number=2`.
fn kill_process(query: &str) -> Option<ControlRequest> {
    let query = query.strip_prefix("process=")?;
    let (name, number) = match query.split_once('&') {
        Some((name, rest)) => (name, Some(number(rest)?)),
        None => (query, None),
    };
    let name = name.to_owned();
    Some(ControlRequest::KillApp { name, number })
}

fn read(method: &Method, route: Route) -> Result<Route, NoRoute> {
    match *method {
        Method::GET | Method::HEAD => Ok(route),
        _ => Err(NoRoute::NotAllowed("GET, HEAD")),
    }
}

fn write(
    method: &Method,
    request: impl FnOnce() -> Option<ControlRequest>,
) -> Result<Route, NoRoute> {
    match *method {
        Method::POST => request().map(Route::Control).ok_or(NoRoute::BadQuery),
        _ => Err(NoRoute::NotAllowed("POST")),
    }
}

fn number(query: &str) -> Option<u32> {
    query.strip_prefix("number=")?.parse().ok()
}

fn seconds(query: &str) -> Option<Duration> {
    within(query, PAUSE_LIMIT)
}

fn within(query: &str, limit: Duration) -> Option<Duration> {
    let seconds: f64 = query.strip_prefix("seconds=")?.parse().ok()?;
    let duration = Duration::try_from_secs_f64(seconds).ok()?;
    (!duration.is_zero() && duration <= limit).then_some(duration)
}

/// Reads `worker=2&seconds=10&interval=524288&clocks=1`, of which the last two may be missing.
fn profile(query: &str) -> Option<ProfileOrder> {
    let mut order = ProfileOrder::default();
    for pair in query.split('&') {
        match pair.split_once('=')? {
            ("seconds", _) => order.duration = within(pair, PROFILE_LIMIT)?,
            ("interval", number) => order.sampling.interval = Some(number.parse().ok()?),
            ("clocks", number) => order.sampling.clocks = number.parse().ok()?,
            ("worker", number) => order.worker = number.parse().ok()?,
            _ => return None,
        }
    }
    let is_complete = order.worker > 0 && !order.duration.is_zero();
    let is_allowed = |interval| interval >= SAMPLING_MIN;
    (is_complete && order.sampling.interval.is_none_or(is_allowed)).then_some(order)
}

/// Reads what the option table writes: `2..2`, `1..8` or `auto`.
fn workers(query: &str) -> Option<WorkerCount> {
    let text = query.strip_prefix("workers=")?;
    if text == "auto" {
        return Some(WorkerCount::Auto);
    }
    let (min, max) = text.split_once("..")?;
    let (min, max) = (min.parse().ok()?, max.parse().ok()?);
    (1 <= min && min <= max && max <= WORKERS_LIMIT).then_some(WorkerCount::Between { min, max })
}

#[cfg(test)]
mod tests {
    use super::*;
    use carat_wire::control::Sampling;

    fn find(method: &Method, target: &str) -> Result<Route, NoRoute> {
        Route::find(method, &target.parse().expect("a target"))
    }

    #[test]
    fn a_path_and_a_method_make_a_route() {
        assert_eq!(find(&Method::GET, "/memory"), Ok(Route::Memory));
        assert_eq!(find(&Method::HEAD, "/memory"), Ok(Route::Memory));
        let status = Ok(Route::Control(ControlRequest::Status { asks_ruby: false }));
        assert_eq!(find(&Method::GET, "/status"), status);
        let not_allowed = Err(NoRoute::NotAllowed("GET, HEAD"));
        assert_eq!(find(&Method::POST, "/memory"), not_allowed);
        for path in ["/", "/memory/", "/Memory"] {
            assert_eq!(find(&Method::GET, path), Err(NoRoute::NotFound), "{path}");
        }
    }

    #[test]
    fn what_changes_something_takes_post() {
        let stop = Ok(Route::Control(ControlRequest::Stop));
        assert_eq!(find(&Method::POST, "/stop"), stop);
        for path in [
            "/stop",
            "/scale?workers=1..2",
            "/pause?seconds=1",
            "/resume",
        ] {
            let not_allowed = Err(NoRoute::NotAllowed("POST"));
            assert_eq!(find(&Method::GET, path), not_allowed, "{path}");
        }
    }

    #[test]
    fn the_query_is_the_argument_and_has_its_bounds() {
        let scale = |text: &str| find(&Method::POST, &format!("/scale?workers={text}"));
        let between = |min, max| {
            let count = WorkerCount::Between { min, max };
            Ok(Route::Control(ControlRequest::Scale(count)))
        };
        assert_eq!(scale("1..6"), between(1, 6));
        let auto = Ok(Route::Control(ControlRequest::Scale(WorkerCount::Auto)));
        assert_eq!(scale("auto"), auto);
        for text in ["", "0..1", "3..2", "1..10001", "x..2", "4"] {
            assert_eq!(scale(text), Err(NoRoute::BadQuery), "{text}");
        }
        let pause = |text: &str| find(&Method::POST, &format!("/pause?seconds={text}"));
        let half = Duration::from_millis(500);
        assert_eq!(
            pause("0.5"),
            Ok(Route::Control(ControlRequest::Pause(half)))
        );
        for text in ["", "0", "-1", "601", "inf", "NaN"] {
            assert_eq!(pause(text), Err(NoRoute::BadQuery), "{text}");
        }
        let report = Ok(Route::Control(ControlRequest::RestartReport(3)));
        assert_eq!(find(&Method::GET, "/restart?number=3"), report);
        let restart = Ok(Route::Control(ControlRequest::Restart));
        assert_eq!(find(&Method::POST, "/restart"), restart);
        assert_eq!(
            find(&Method::POST, "/restart?now=1"),
            Err(NoRoute::BadQuery)
        );
        let kill = Ok(Route::Control(ControlRequest::KillWorker(2)));
        assert_eq!(find(&Method::POST, "/kill-worker?number=2"), kill);
        assert_eq!(find(&Method::POST, "/kill-worker"), Err(NoRoute::BadQuery));
    }

    #[test]
    fn further_processes_are_named() {
        let two = Ok(Route::Control(ControlRequest::ScaleApp {
            name: "jobs".to_owned(),
            bounds: (2, 2),
        }));
        assert_eq!(find(&Method::POST, "/scale?process=jobs&count=2..2"), two);
        for query in [
            "process=jobs",
            "process=jobs&count=1..1001",
            "process=jobs&count=2..1",
            "process=jobs&count=2",
        ] {
            let target = format!("/scale?{query}");
            assert_eq!(find(&Method::POST, &target), Err(NoRoute::BadQuery));
        }
        for (number, query) in [(None, ""), (Some(2), "&number=2")] {
            let name = "jobs".to_owned();
            let kill = Ok(Route::Control(ControlRequest::KillApp { name, number }));
            let target = format!("/kill-process?process=jobs{query}");
            assert_eq!(find(&Method::POST, &target), kill);
        }
    }

    #[test]
    fn a_profile_has_a_time_and_a_rate_within_their_bounds() {
        let profile = |query: &str| find(&Method::POST, &format!("/profile?{query}"));
        let order = ProfileOrder {
            worker: 2,
            duration: Duration::from_secs(10),
            sampling: Sampling {
                interval: Some(4096),
                clocks: 5,
            },
        };
        let complete = profile("seconds=10&interval=4096&worker=2&clocks=5");
        assert_eq!(complete, Ok(Route::Profile(order)));
        let order = ProfileOrder {
            sampling: Sampling::default(),
            ..order
        };
        let by_default = profile("worker=2&seconds=10");
        assert_eq!(by_default, Ok(Route::Profile(order)));
        for query in [
            "",
            "worker=2",
            "seconds=10",
            "worker=2&seconds=601&interval=4096",
            "worker=2&seconds=10&interval=999",
            "worker=x&seconds=10&interval=4096",
            "worker=2&seconds=10&interval=4096&path=/etc/passwd",
        ] {
            assert_eq!(profile(query), Err(NoRoute::BadQuery), "{query}");
        }
        let not_allowed = Err(NoRoute::NotAllowed("POST"));
        assert_eq!(find(&Method::GET, "/profile?seconds=1"), not_allowed);
    }
}
