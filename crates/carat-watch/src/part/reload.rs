use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;
use std::time::{Duration, Instant};

use http::Response;
use http::request::Parts;

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::{sleep, timeout};

use crate::source_files::SourceFiles;
use crate::source_watch::{SourceWatch, WatchRemark};
use carat_dispatch::{CodeCheck, Dispatcher, FailurePage};
use carat_exchange::{ReplyBody, clock};
use carat_log::Log;
use carat_settings::Settings;

/// Code is loaded once the files have been quiet for this long, unless a request waits for it.
const QUIET: Duration = Duration::from_millis(50);

/// The number of rounds, each of at most twice `QUIET`, after which files count as quiet in any case. A checkout of a
/// large repository takes less.
const QUIET_LIMIT: u32 = 40;

/// The failed loads in a row after which the error is shown. After fewer, the code is loaded again at once if files
/// have changed meanwhile.
const ATTEMPTS_LIMIT: u8 = 3;

/// How long requests get the error of a failed load without another attempt: a browser sends several requests for a
/// page, and a cause outside the files takes longer to mend.
const FAILURE_HOLDS: Duration = Duration::from_secs(2);

/// The option `reload`: compares the code that the workers have with the files. Requests get the
/// code of the files as they are when the request arrives.
pub(super) struct Reload {
    log: Rc<Log>,
    dispatcher: Rc<Dispatcher>,
    watch: RefCell<SourceWatch>,
    phase: RefCell<ReloadPhase>,
    /// How long requests wait for new code.
    limit: Cell<Duration>,
    /// Whether code may be loaded before a request asks for it. This happens only once between two
    /// requests, so that an application that writes its own files does not keep the server busy.
    may_begin_early: Cell<bool>,
    attempts: Cell<u8>,
}

/// The code that the workers have.
#[derive(Debug)]
enum ReloadPhase {
    /// The server does not serve yet.
    Idle,
    /// The workers have the code of the files, as far as is known.
    Current,
    /// The workers have old code, and a new mold loads the code of the files.
    Loading,
    /// The workers have old code. The code of the files could not be loaded, at this time.
    Failed(FailurePage, Instant),
}

impl Reload {
    pub(super) fn new(settings: &Settings, log: &Rc<Log>, dispatcher: &Rc<Dispatcher>) -> Reload {
        let (watch, remark) = SourceWatch::new();
        report(remark, log);
        let reload = Reload {
            log: Rc::clone(log),
            dispatcher: Rc::clone(dispatcher),
            watch: RefCell::new(watch),
            phase: RefCell::new(ReloadPhase::Idle),
            limit: Cell::default(),
            may_begin_early: Cell::new(true),
            attempts: Cell::new(0),
        };
        reload.adopt(settings);
        reload
    }

    /// Sets how long requests wait for new code: long enough to load the application twice.
    pub(super) fn adopt(&self, settings: &Settings) {
        self.limit.set(settings.boot_timeout * 2);
    }

    /// Begins to compare the files, because the server serves from now on.
    pub(super) fn begin(&self) {
        self.phase.replace(ReloadPhase::Current);
    }

    /// Sets the files to watch, which the mold has named as JSON while it loads the application.
    pub(super) fn watch_sources(&self, json: &str) {
        match serde_json::from_str::<SourceFiles>(json) {
            Ok(sources) => report(self.watch.borrow_mut().retarget(sources), &self.log),
            Err(error) => {
                let message = "reload: the mold does not say what its files are";
                self.log.warn(message, &[("cause", &error.to_string())]);
            }
        }
    }

    /// Asks for the code of the files if they have changed.
    fn load_changes(&self) {
        if self.is_idle() {
            return;
        }
        let Some(change) = self.watch.borrow_mut().changes() else {
            return;
        };
        let path = change.path.display().to_string();
        let fields: [carat_log::Field<'_>; 2] = [("path", &path), ("files", &change.files)];
        self.log.info("source files changed", &fields);
        self.load();
    }

    /// Asks for the code of the files, unless the supervisor has been asked already and has yet to begin. Requests
    /// wait until the code serves.
    fn load(&self) {
        if !self.is_loading() {
            self.dispatcher.renewal().hold_requests(self.limit.get());
            self.phase.replace(ReloadPhase::Loading);
        }
        self.dispatcher.renewal().ask();
    }

    /// Ends a load: the workers that take requests have the code of the files, or `result` says why
    /// not. Then the requests that wait get the error.
    pub(super) fn end(&self, result: &Result<(), String>) {
        let renewal = self.dispatcher.renewal();
        if renewal.is_asked() || renewal.is_over() {
            // Another load follows, or the server stops, and the workers serve the last requests.
            return;
        }
        match result {
            Ok(()) => {
                self.phase.replace(ReloadPhase::Current);
                self.dispatcher.end_renewal();
            }
            // `carat restart` failed without a change of the files.
            Err(_) if matches!(*self.phase.borrow(), ReloadPhase::Current) => {}
            Err(cause) => {
                self.fail(cause, clock::now());
                // Perhaps not all files were written yet.
                let attempts = self.attempts.get() + 1;
                self.attempts.set(attempts);
                if attempts < ATTEMPTS_LIMIT {
                    self.load_changes();
                }
                self.respond_to_waiting();
            }
        }
    }

    /// Ends the wait of requests for new code after a time. Called once a tick.
    pub(super) fn expire(&self, now: Instant) {
        let left = self.dispatcher.renewal().left(now);
        if left.is_some_and(|left| left.is_zero()) {
            let limit = self.limit.get();
            self.fail(&format!("the code is not loaded within {limit:?}"), now);
            self.respond_to_waiting();
        }
    }

    /// Lets waiting requests continue, unless code is being loaded. If the code cannot be loaded, responds to them with
    /// the error.
    fn respond_to_waiting(&self) {
        if let ReloadPhase::Failed(page, _) = &*self.phase.borrow() {
            (self.dispatcher).answer_waiting(|request| page.response(request));
        }
        if !self.is_loading() {
            self.dispatcher.end_renewal();
        }
    }

    /// Whether no code is to be loaded: the server does not serve yet, or stops.
    fn is_idle(&self) -> bool {
        self.dispatcher.renewal().is_over() || matches!(*self.phase.borrow(), ReloadPhase::Idle)
    }

    fn is_loading(&self) -> bool {
        matches!(*self.phase.borrow(), ReloadPhase::Loading)
    }

    /// Shows requests the cause from now on, unless the server stops.
    fn fail(&self, cause: &str, now: Instant) {
        if !self.is_idle() {
            let page = FailurePage::unloadable(cause);
            self.phase.replace(ReloadPhase::Failed(page, now));
        }
    }

    /// Whether the load failed so long ago that its cause may be gone by now.
    fn may_be_mended(&self, now: Instant) -> bool {
        match *self.phase.borrow() {
            ReloadPhase::Failed(_, since) => {
                !self.dispatcher.renewal().is_on()
                    && now.saturating_duration_since(since) >= FAILURE_HOLDS
            }
            ReloadPhase::Idle | ReloadPhase::Current | ReloadPhase::Loading => false,
        }
    }

    /// Loads changed code before a request asks for it. Returns if the kernel does not notice changes.
    pub(super) async fn load_early(self: Rc<Self>) -> io::Result<()> {
        let Some(descriptor) = self.descriptor() else {
            return Ok(());
        };
        #[expect(
            deprecated,
            reason = "its successor is unsafe, and asks for no more than an OwnedFd guarantees"
        )]
        let descriptor = AsyncFd::with_interest(descriptor, Interest::READABLE)?;
        loop {
            descriptor.readable().await?.clear_ready();
            if !self.is_suspect() {
                // A program that writes other files without end therefore causes a look only once in a while.
                sleep(QUIET).await;
                continue;
            }
            for _ in 0..QUIET_LIMIT {
                let Ok(ready) = timeout(QUIET, descriptor.readable()).await else {
                    break;
                };
                ready?.clear_ready();
                self.is_suspect();
                sleep(QUIET).await;
            }
            let may_load = !self.is_idle() && !self.is_loading();
            if may_load && self.may_begin_early.take() {
                self.load_changes();
            }
        }
    }

    /// A descriptor that is readable when a file may have changed.
    fn descriptor(&self) -> Option<Rc<OwnedFd>> {
        self.watch.borrow().descriptor()
    }

    /// Whether a file may have changed.
    fn is_suspect(&self) -> bool {
        self.watch.borrow_mut().may_have_changed()
    }
}

impl CodeCheck for Reload {
    /// Begins to load the code if files have changed: then the request has to wait. Returns the
    /// error if the code could not be loaded.
    fn check(&self, request: &Parts) -> Option<Response<ReplyBody>> {
        // A client is interested in the newest code.
        self.may_begin_early.set(true);
        self.attempts.set(0);
        self.load_changes();
        if self.may_be_mended(clock::now()) {
            self.log.info("loading code that failed to load", &[]);
            self.load();
        }
        match &*self.phase.borrow() {
            ReloadPhase::Failed(page, _) => Some(page.response(request)),
            ReloadPhase::Idle | ReloadPhase::Current | ReloadPhase::Loading => None,
        }
    }
}

/// Logs the limits of the watch.
fn report(remarks: impl IntoIterator<Item = WatchRemark>, log: &Log) {
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use tempfile::TempDir;

    use super::*;
    use carat_dispatch::{Fixture, LaneEvent, PendingReply, locally};

    /// A server that watches a directory with the file `a.rb`.
    struct Project {
        fixture: Fixture,
        reload: Rc<Reload>,
        directory: TempDir,
    }

    impl Project {
        fn new(capacities: &[u16]) -> Project {
            // Requests get the same failure for a while.
            tokio::time::pause();
            let directory = tempfile::tempdir().expect("a directory");
            let fixture = Fixture::with_queue(capacities);
            let settings = Settings::plain();
            let log = Rc::new(Log::open(&settings).expect("a log"));
            let reload = Rc::new(Reload::new(&settings, &log, &fixture.dispatcher));
            let check: Rc<dyn CodeCheck> = reload.clone();
            fixture
                .dispatcher
                .renewal()
                .set_check(Rc::downgrade(&check));
            let project = Project {
                fixture,
                reload,
                directory,
            };
            project.write("one");
            let tree = project.directory.path().display();
            let json = format!(r#"{{"trees":["{tree}"],"files":[],"except":[],"complete":true}}"#);
            project.reload.watch_sources(&json);
            project.reload.begin();
            project
        }

        /// The number of requests that each lane holds.
        fn load(&self) -> Vec<usize> {
            self.fixture.load()
        }

        /// A request that arrives after the file has changed.
        fn change(&self, content: &str) -> PendingReply {
            self.write(content);
            self.dispatch()
        }

        fn dispatch(&self) -> PendingReply {
            self.fixture.dispatch("GET", "/")
        }

        /// The server stops.
        fn stop(&self) {
            self.fixture.dispatcher.renewal().stop();
            self.fixture.dispatcher.end_renewal();
        }

        fn end(&self, result: Result<(), &str>) {
            let result = result.map_err(str::to_owned);
            self.reload.end(&result);
        }

        fn write(&self, content: &str) {
            fs::write(self.directory.path().join("a.rb"), content).expect("written");
        }

        /// How often the supervisor was asked for new code since the last call.
        fn asked(&mut self) -> usize {
            let mut count = 0;
            while let Ok(event) = self.fixture.events.try_recv() {
                assert_eq!(event, LaneEvent::CodeChanged);
                self.fixture.dispatcher.renewal().note_asked();
                count += 1;
            }
            count
        }
    }

    fn status(pending: PendingReply) -> Option<u16> {
        match pin!(pending).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(Ok(reply)) => Some(reply.response.status().as_u16()),
            Poll::Ready(Err(refusal)) => panic!("{refusal:?}"),
            Poll::Pending => None,
        }
    }

    #[test]
    fn requests_after_a_change_wait_for_the_new_code() {
        locally(|| {
            let mut project = Project::new(&[3]);
            let before = project.fixture.dispatch("GET", "/before");
            project.write("two");
            let after: Vec<_> = (0..3)
                .map(|_| project.fixture.dispatch("GET", "/after"))
                .collect();
            assert_eq!(project.asked(), 1);
            let queue = || project.fixture.queue().len();
            assert_eq!((project.load(), queue()), (vec![1], 3));
            project.end(Ok(()));
            assert_eq!((project.load(), queue()), (vec![3], 1));
            drop((before, after));
        });
    }

    #[test]
    fn the_end_of_an_earlier_reload_does_not_count() {
        locally(|| {
            let mut project = Project::new(&[3]);
            let pending = project.change("two");
            project.end(Ok(()));
            assert_eq!(project.load(), [0]);
            assert_eq!(project.asked(), 1);
            project.end(Ok(()));
            assert_eq!(project.load(), [1]);
            drop(pending);
        });
    }

    #[test]
    fn code_that_cannot_be_loaded_is_answered_by_its_cause_until_it_changes() {
        locally(|| {
            let mut project = Project::new(&[3]);
            let waiting = project.change("wrong");
            assert_eq!(project.asked(), 1);
            project.end(Err("a.rb:1: wrong"));
            assert_eq!(status(waiting), Some(500));
            assert_eq!(status(project.dispatch()), Some(500));
            assert_eq!(project.asked(), 0);
            let waiting = project.change("right");
            assert_eq!(project.asked(), 1);
            project.end(Ok(()));
            assert_eq!((project.load(), status(waiting)), (vec![1], None));
        });
    }

    #[test]
    fn code_that_failed_is_loaded_again_after_a_while_for_a_request() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build();
        tokio::task::LocalSet::new().block_on(&runtime.expect("a runtime"), async {
            let mut project = Project::new(&[3]);
            let waiting = project.change("needs a database");
            assert_eq!(project.asked(), 1);
            project.end(Err("no database"));
            assert_eq!(status(waiting), Some(500));
            tokio::time::advance(FAILURE_HOLDS).await;
            let waiting = project.dispatch();
            assert_eq!(project.asked(), 1);
            project.end(Ok(()));
            assert_eq!((project.load(), status(waiting)), (vec![1], None));
        });
    }

    #[test]
    fn code_that_changed_while_it_failed_to_load_is_loaded_again_but_not_for_ever() {
        locally(|| {
            let mut project = Project::new(&[3]);
            let waiting = project.change("half");
            for round in 1..ROUNDS {
                assert_eq!(project.asked(), 1, "{round}");
                project.write(&format!("half {round}"));
                project.end(Err("half"));
            }
            assert_eq!((project.asked(), status(waiting)), (0, Some(500)));
        });
    }

    /// The end of a range that begins at 1, with a round for each load that may fail in a row.
    const ROUNDS: usize = 4;

    #[test]
    fn code_that_takes_too_long_is_not_waited_for() {
        locally(|| {
            let project = Project::new(&[3]);
            let waiting = project.change("two");
            let limit = project.reload.limit.get();
            project.reload.expire(clock::now());
            assert_eq!(project.fixture.queue().len(), 1);
            project.reload.expire(clock::now() + limit);
            assert_eq!(status(waiting), Some(500));
        });
    }

    #[test]
    fn a_stop_gives_waiting_requests_to_the_old_code() {
        locally(|| {
            let project = Project::new(&[3]);
            let waiting = project.change("two");
            project.stop();
            let late = project.change("three");
            assert_eq!(project.load(), [2]);
            drop((waiting, late));
        });
    }

    #[test]
    fn a_load_that_a_stop_has_ended_has_not_failed() {
        locally(|| {
            let mut project = Project::new(&[1]);
            let running = project.dispatch();
            let waiting = project.change("two");
            assert_eq!(project.asked(), 1);
            project.stop();
            project.end(Err("the server stops"));
            assert_eq!(project.fixture.queue().len(), 1);
            drop((running, waiting));
        });
    }

    #[test]
    fn what_the_mold_says_may_be_nonsense() {
        locally(|| {
            let project = Project::new(&[3]);
            project.reload.watch_sources("{}");
            let pending = project.dispatch();
            assert_eq!(project.load(), [1]);
            drop(pending);
        });
    }
}
