use std::cell::{Cell, OnceCell};
use std::fmt;
use std::rc::Weak;
use std::time::{Duration, Instant};

use http::Response;
use http::request::Parts;

use crate::lanes::{LaneEvent, LaneEvents};
use crate::queue::Hold;
use carat_exchange::{ReplyBody, clock};

/// Compares the source files with the code that the workers have loaded, before each request.
pub trait CodeCheck {
    /// Makes the request wait for new code if the workers' code is out of date. If the code cannot be loaded, returns
    /// the error page, which is sent instead of the application's response.
    fn check(&self, request: &Parts) -> Option<Response<ReplyBody>>;
}

/// Holds the requests while changed code is loaded.
pub struct CodeRenewal {
    events: LaneEvents,
    check: OnceCell<Weak<dyn CodeCheck>>,
    /// The hold in which requests wait while changed code is loaded.
    pub(crate) hold: Hold,
    /// Whether [`LaneEvent::CodeChanged`] was sent, and the supervisor has not received it yet.
    is_asked: Cell<bool>,
    /// Whether the server stops. Its last requests are then served by the code that is loaded.
    is_over: Cell<bool>,
}

impl CodeRenewal {
    pub(crate) fn new(events: LaneEvents) -> CodeRenewal {
        CodeRenewal {
            events,
            check: OnceCell::new(),
            hold: Hold::default(),
            is_asked: Cell::new(false),
            is_over: Cell::new(false),
        }
    }

    /// Sets the check of each request. There is at most one check.
    pub fn set_check(&self, check: Weak<dyn CodeCheck>) {
        // No settings lead to a second check; it would be ignored.
        let _ = self.check.set(check);
    }

    /// The error page for this request, if the code cannot be loaded; `None` if the request may continue.
    pub(crate) fn check(&self, request: &Parts) -> Option<Response<ReplyBody>> {
        let check = self.check.get().filter(|_| !self.is_over.get())?;
        check.upgrade()?.check(request)
    }

    /// Makes requests wait for changed code, for at most `limit`.
    pub fn hold_requests(&self, limit: Duration) {
        self.hold.begin(clock::now(), limit);
    }

    /// Whether requests wait for changed code.
    pub fn is_on(&self) -> bool {
        self.hold.is_on()
    }

    /// Whether the server stops. Then no new code is loaded.
    pub fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// How much longer requests may wait for changed code; `None` if they do not wait.
    pub fn left(&self, now: Instant) -> Option<Duration> {
        self.hold.left(now)
    }

    /// Asks the supervisor to load the changed code, unless it has yet to receive an earlier request for that.
    pub fn ask(&self) {
        if !self.is_asked.replace(true) {
            self.events.send(LaneEvent::CodeChanged);
        }
    }

    /// Whether the supervisor has been asked to load the code, and has not received the request yet.
    pub fn is_asked(&self) -> bool {
        self.is_asked.get()
    }

    /// Notes that the supervisor has received [`LaneEvent::CodeChanged`]. It then loads the code, now or after the load
    /// under way.
    pub fn note_asked(&self) {
        self.is_asked.set(false);
    }

    /// Notes that the server stops. From now on requests are served by the code that is loaded. The requests that
    /// already wait get it once the renewal has ended.
    pub fn stop(&self) {
        self.is_over.set(true);
    }
}

impl fmt::Debug for CodeRenewal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut fields = formatter.debug_struct("CodeRenewal");
        fields.field("hold", &self.hold).finish_non_exhaustive()
    }
}
