use std::cell::{Cell, RefCell};
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

use super::hold::Hold;
use crate::frames::FailurePage;
use carat_log::Log;
use carat_watch::{SourceWatch, WatchRemark};

/// After this many changes during loads that failed, the error is shown although the files have changed since.
const ATTEMPTS_LIMIT: u8 = 3;

/// For this long, requests get the error of code that failed to load without another attempt: a browser that shows a page
/// may send several, and nobody mends faster what is not in the files.
pub(super) const FAILURE_HOLDS: Duration = Duration::from_secs(2);

/// The option `reload`: which code the workers have, compared with the files.
#[derive(Debug)]
pub(super) struct Reload {
    pub(super) watch: RefCell<SourceWatch>,
    pub(super) phase: RefCell<ReloadPhase>,
    /// Requests wait while new code is loaded.
    pub(super) hold: Hold,
    /// The supervisor has yet to take the last request for new code.
    is_requested: Cell<bool>,
    /// Code is loaded without waiting for a request once between two requests: an application that writes its own files
    /// does not keep the server busy.
    may_begin_early: Cell<bool>,
    attempts: Cell<u8>,
}

/// What the workers have.
#[derive(Debug)]
pub(super) enum ReloadPhase {
    /// Nothing yet: the server does not serve. Or it stops.
    Idle,
    /// The code of the files, as far as is known.
    Current,
    /// Old code. A new mold loads that of the files.
    Loading,
    /// Old code. That of the files cannot be loaded, as was last seen then.
    Failed(FailurePage, Instant),
}

impl Reload {
    pub(super) fn new(log: &Log) -> Reload {
        let (watch, remark) = SourceWatch::new();
        let reload = Reload {
            watch: RefCell::new(watch),
            phase: RefCell::new(ReloadPhase::Idle),
            hold: Hold::default(),
            is_requested: Cell::new(false),
            may_begin_early: Cell::new(true),
            attempts: Cell::new(0),
        };
        report(remark, log);
        reload
    }

    /// A descriptor that is readable when a file may have changed.
    pub(super) fn descriptor(&self) -> Option<Rc<OwnedFd>> {
        self.watch.borrow().descriptor()
    }

    /// Whether a file may have changed.
    pub(super) fn is_suspect(&self) -> bool {
        self.watch.borrow_mut().may_have_changed()
    }

    pub(super) fn is_idle(&self) -> bool {
        matches!(*self.phase.borrow(), ReloadPhase::Idle)
    }

    pub(super) fn is_loading(&self) -> bool {
        matches!(*self.phase.borrow(), ReloadPhase::Loading)
    }

    /// Requests get the cause from now on, unless the server stops.
    pub(super) fn fail(&self, cause: &str, now: Instant) {
        if !self.is_idle() {
            let page = FailurePage::unloadable(cause);
            self.phase.replace(ReloadPhase::Failed(page, now));
        }
    }

    /// Whether the code failed so long ago that what it needs may be there by now.
    pub(super) fn may_be_mended(&self, now: Instant) -> bool {
        match *self.phase.borrow() {
            ReloadPhase::Failed(_, since) => {
                !self.hold.is_on() && now.saturating_duration_since(since) >= FAILURE_HOLDS
            }
            _ => false,
        }
    }

    /// A client is interested in the newest code.
    pub(super) fn note_request(&self) {
        self.may_begin_early.set(true);
        self.attempts.set(0);
    }

    /// Whether to load code that no request waits for. Once until the next request.
    pub(super) fn take_early_beginning(&self) -> bool {
        !self.is_idle() && !self.is_loading() && self.may_begin_early.take()
    }

    /// Whether to load once more after a load that failed.
    pub(super) fn take_attempt(&self) -> bool {
        let attempts = self.attempts.get() + 1;
        self.attempts.set(attempts);
        attempts < ATTEMPTS_LIMIT
    }

    /// Notes that the supervisor is asked for new code. False if it has been asked and has not begun.
    pub(super) fn ask(&self) -> bool {
        !self.is_requested.replace(true)
    }

    /// The supervisor begins, or has another load follow the one under way.
    pub(super) fn asked(&self) {
        self.is_requested.set(false);
    }

    /// Whether another load follows the one that has ended.
    pub(super) fn is_asked(&self) -> bool {
        self.is_requested.get()
    }
}

/// Logs what limits the watch.
pub(super) fn report(remarks: impl IntoIterator<Item = WatchRemark>, log: &Log) {
    for remark in remarks {
        match remark {
            WatchRemark::Cut => log.warn(
                "reload: the application has too many files, and not all are watched",
                &[],
            ),
            WatchRemark::Unnoticed(cause) => {
                let message =
                    "reload: changes are not noticed, so each request looks for changed files";
                log.warn(message, &[("cause", &cause)]);
            }
        }
    }
}
