use std::cell::Cell;
use std::ops::ControlFlow;

use crate::request::{ArrivedRequest, RequestAnswer, RequestStep};
use carat_dispatch::PathPattern;
use carat_exchange::Refusal;
use carat_settings::Settings;

/// The paths that load balancers request to find out whether the server is ready: the option `readiness_path`.
#[derive(Debug)]
pub struct ReadinessPaths(Vec<PathPattern>);

impl ReadinessPaths {
    /// The paths of the settings.
    pub fn of(settings: &Settings) -> ReadinessPaths {
        let path = |target: &String| PathPattern::new(target.split('?').next().unwrap_or_default());
        ReadinessPaths(settings.readiness_path.iter().map(path).collect())
    }

    /// Whether a load balancer asks for this path.
    pub fn contains(&self, path: &str) -> bool {
        self.0.iter().any(|known| known.matches(path))
    }
}

/// Refuses the readiness checks of load balancers once the server is about to stop.
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

    /// Notes that the server is not ready any more.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_check_is_found_however_the_load_balancer_spells_its_path() {
        let mut settings = Settings::plain();
        settings.readiness_path = vec!["/up?full=1".to_owned()];
        let paths = ReadinessPaths::of(&settings);
        assert!(
            ["/up", "/up/", "//up", "/%75p"]
                .iter()
                .all(|path| paths.contains(path))
        );
        assert!(!paths.contains("/upload"));
    }
}
