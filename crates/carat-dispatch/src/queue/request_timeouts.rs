use std::cell::{Ref, RefCell};
use std::rc::Rc;
use std::time::{Duration, Instant};

use carat_settings::Settings;

use crate::queue::excluded_times::ExcludedTimes;

/// The settings of the current generation, and its timeouts, extended by the time in which the server stood still.
#[derive(Debug)]
pub(crate) struct RequestTimeouts {
    settings: RefCell<Rc<Settings>>,
    frozen: ExcludedTimes,
}

impl RequestTimeouts {
    pub(crate) fn new(settings: &Rc<Settings>) -> RequestTimeouts {
        RequestTimeouts {
            settings: RefCell::new(Rc::clone(settings)),
            frozen: ExcludedTimes::default(),
        }
    }

    /// Adopts the timeouts and limits of these settings.
    pub(crate) fn adopt(&self, settings: &Rc<Settings>) {
        self.settings.replace(Rc::clone(settings));
    }

    /// The server stood still until now.
    pub(crate) fn note_freeze(&self, now: Instant, duration: Duration) {
        self.frozen.add(now, duration);
    }

    pub(crate) fn settings(&self) -> Ref<'_, Settings> {
        Ref::map(self.settings.borrow(), Rc::as_ref)
    }

    /// How long a request may wait for a lane, without the time in which requests are held.
    pub(crate) fn queue_timeout(&self, now: Instant) -> Duration {
        self.frozen.extend(self.settings().queue_timeout, now)
    }

    /// How long a request may run.
    pub(crate) fn request_timeout(&self, now: Instant) -> Option<Duration> {
        let limit = self.settings().request_timeout?;
        Some(self.frozen.extend(limit, now))
    }

    /// How long a request may run before the log shows the stack of its thread.
    pub(crate) fn slow_request(&self, now: Instant) -> Option<Duration> {
        let limit = self.settings().slow_request?;
        Some(self.frozen.extend(limit, now))
    }

    /// How long the tunnels of a worker that ends may last.
    pub(crate) fn tunnel_timeout(&self, now: Instant) -> Duration {
        self.frozen.extend(self.settings().tunnel_timeout, now)
    }
}
