use std::cell::{Cell, OnceCell};
use std::fmt;
use std::rc::Weak;
use std::time::{Duration, Instant};

use http::Response;
use http::request::Parts;

use crate::lanes::{LaneEvent, LaneEvents};
use crate::queue::Hold;
use carat_exchange::{ReplyBody, clock};

/// A comparison of the code that the workers have with its source, before each request.
pub trait CodeCheck {
    /// Has the request wait for other code where it is needed. Returns the response in place of the application's while
    /// the code cannot be loaded.
    fn check(&self, request: &Parts) -> Option<Response<ReplyBody>>;
}

/// The time in which requests wait for other code than the workers have.
pub struct CodeRenewal {
    events: LaneEvents,
    check: OnceCell<Weak<dyn CodeCheck>>,
    /// Requests wait while other code is loaded.
    pub(crate) hold: Hold,
    /// Whether the supervisor has yet to take the last request for other code.
    is_asked: Cell<bool>,
    /// Whether the server stops: its last requests get the code that there is.
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

    /// Checks requests from now on. There is one check at most.
    pub fn set_check(&self, check: Weak<dyn CodeCheck>) {
        // A second one is a mistake that no settings make.
        let _ = self.check.set(check);
    }

    /// The response to a request in place of the application's.
    pub(crate) fn check(&self, request: &Parts) -> Option<Response<ReplyBody>> {
        let check = self.check.get().filter(|_| !self.is_over.get())?;
        check.upgrade()?.check(request)
    }

    /// Lets requests wait for other code, for at most this long.
    pub fn hold_requests(&self, limit: Duration) {
        self.hold.begin(clock::now(), limit);
    }

    /// Whether requests wait.
    pub fn is_on(&self) -> bool {
        self.hold.is_on()
    }

    /// Whether the server stops: other code would come too late.
    pub fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// How much longer requests wait; `None` if they do not.
    pub fn left(&self, now: Instant) -> Option<Duration> {
        self.hold.left(now)
    }

    /// Asks the supervisor for other code, unless it has been asked already and has yet to begin.
    pub fn ask(&self) {
        if !self.is_asked.replace(true) {
            self.events.send(LaneEvent::CodeChanged);
        }
    }

    /// Whether a load follows the one under way.
    pub fn is_asked(&self) -> bool {
        self.is_asked.get()
    }

    /// The supervisor has received [`LaneEvent::CodeChanged`]: it begins, or has another load follow the one under way.
    pub fn note_asked(&self) {
        self.is_asked.set(false);
    }

    /// The server stops: requests get the code that the workers have. Those that wait do so once the renewal has ended.
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
