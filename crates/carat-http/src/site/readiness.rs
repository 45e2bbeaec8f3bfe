use std::cell::Cell;
use std::ops::ControlFlow;

use crate::request::{ArrivedRequest, RequestAnswer, RequestStep};
use carat_exchange::Refusal;
use carat_settings::Settings;

/// The paths by which load balancers find out whether the server is ready: the option `readiness_path`.
#[derive(Debug)]
pub(crate) struct ReadinessPaths(Vec<String>);

impl ReadinessPaths {
    pub(crate) fn of(settings: &Settings) -> ReadinessPaths {
        let path = |target: &String| target.split('?').next().unwrap_or_default().to_owned();
        ReadinessPaths(settings.readiness_path.iter().map(path).collect())
    }

    pub(crate) fn contains(&self, path: &str) -> bool {
        self.0.iter().any(|known| known == path)
    }
}

/// Refuses the requests of load balancers once the server is about to stop.
pub(crate) struct ReadinessChecks {
    paths: ReadinessPaths,
    is_over: Cell<bool>,
}

impl ReadinessChecks {
    pub(crate) fn new(settings: &Settings) -> ReadinessChecks {
        ReadinessChecks {
            paths: ReadinessPaths::of(settings),
            is_over: Cell::new(false),
        }
    }

    /// From now on, the server is not ready.
    pub(crate) fn end(&self) {
        self.is_over.set(true);
    }

    pub(crate) fn check(&self, request: &mut ArrivedRequest) -> RequestStep {
        if self.is_over.get() && self.paths.contains(request.path()) {
            return ControlFlow::Break(RequestAnswer::Now(Err(Refusal::Stopping)));
        }
        ControlFlow::Continue(())
    }
}
