//! How requests get the code of the files as they are when the request arrives.

use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::time::timeout;

use crate::dispatcher::Dispatcher;
use crate::frames::FailurePage;
use crate::lanes::{Exchange, LaneEvent};
use crate::reload::{Reload, ReloadPhase, report};
use carat_exchange::{Reply, SpoolReservation, clock};
use carat_watch::SourceFiles;

/// Code is loaded once the files have been quiet for this long, unless a request waits for it.
const QUIET: Duration = Duration::from_millis(50);

/// A checkout of a large repository takes less than this many times as long.
const QUIET_LIMIT: u32 = 40;

impl Dispatcher {
    /// Responds to a request while the code cannot be loaded. Begins to load the code first if files have changed, and
    /// then the request has to wait. False if the request is for the application.
    pub(crate) fn responds_itself(&self, exchange: &Exchange) -> bool {
        let Some(reload) = &self.reload else {
            return false;
        };
        reload.note_request();
        self.load_changes(reload);
        if reload.may_be_mended(clock::now()) {
            self.log.info("loading code that failed to load", &[]);
            self.load(reload);
        }
        let ReloadPhase::Failed(page, _) = &*reload.phase.borrow() else {
            return false;
        };
        self.show(page, exchange);
        true
    }

    /// Whether requests wait for new code.
    pub(crate) fn is_loading(&self) -> bool {
        let reload = self.reload.as_ref();
        reload.is_some_and(|reload| reload.hold.is_on())
    }

    /// The time that requests may wait for a worker, with that for new code.
    pub(crate) fn extend_by_reloads(&self, timeout: Duration, now: Instant) -> Duration {
        let reload = self.reload.as_ref();
        reload.map_or(timeout, |reload| reload.hold.extend(timeout, now))
    }

    /// Asks for the code of the files if they have changed.
    fn load_changes(&self, reload: &Reload) {
        if reload.is_idle() {
            return;
        }
        let Some(change) = reload.watch.borrow_mut().changes() else {
            return;
        };
        let path = change.path.display().to_string();
        let fields: [carat_log::Field<'_>; 2] = [("path", &path), ("files", &change.files)];
        self.log.info("source files changed", &fields);
        self.load(reload);
    }

    /// Asks for the code of the files. Requests wait until it serves.
    fn load(&self, reload: &Reload) {
        if !reload.is_loading() {
            reload.hold.begin(clock::now(), self.load_timeout());
            reload.phase.replace(ReloadPhase::Loading);
        }
        if reload.ask() {
            self.events.send(LaneEvent::CodeChanged);
        }
    }

    /// How long requests wait for new code: enough for an application that is loaded twice.
    fn load_timeout(&self) -> Duration {
        self.settings().boot_timeout * 2
    }

    /// The cratevisor has received [`LaneEvent::CodeChanged`].
    pub fn reload_begins(&self) {
        if let Some(reload) = &self.reload {
            reload.asked();
        }
    }

    /// The workers that take requests have the code of the files, or why they have not.
    pub fn end_reload(&self, result: Result<(), String>) {
        let Some(reload) = self.reload.as_ref().filter(|it| !it.is_asked()) else {
            return;
        };
        match result {
            Ok(()) => {
                reload.phase.replace(ReloadPhase::Current);
                self.end_reload_hold(reload);
            }
            // `carat restart` failed without a change of the files.
            Err(_) if matches!(*reload.phase.borrow(), ReloadPhase::Current) => {}
            Err(cause) => {
                reload.fail(&cause, clock::now());
                // Perhaps not all files were there yet.
                if reload.take_attempt() {
                    self.load_changes(reload);
                }
                self.respond_to_waiting(reload);
            }
        }
    }

    /// Responds to all waiting requests if the code cannot be loaded.
    fn respond_to_waiting(&self, reload: &Reload) {
        if let ReloadPhase::Failed(page, _) = &*reload.phase.borrow() {
            for exchange in self.queue.take() {
                self.show(page, &exchange);
            }
        }
        if !reload.is_loading() {
            self.end_reload_hold(reload);
        }
    }

    fn show(&self, page: &FailurePage, exchange: &Exchange) {
        exchange.call.discard_body();
        exchange.settle(Ok(Reply {
            response: page.response(&exchange.call.parts.headers),
            spooled: SpoolReservation::of(&self.spool_quota),
            queue_time: exchange.waited(clock::now()),
            app_time: Duration::ZERO,
        }));
    }

    fn end_reload_hold(&self, reload: &Reload) {
        let now = clock::now();
        if reload.hold.end(now) {
            self.resume(now);
        }
    }

    /// Does not let requests wait for new code for ever. Called once a tick.
    pub(crate) fn expire_reload(&self, now: Instant) {
        let Some(reload) = &self.reload else {
            return;
        };
        if reload.hold.left(now).is_some_and(|left| left.is_zero()) {
            let limit = self.load_timeout();
            reload.fail(&format!("the code is not loaded within {limit:?}"), now);
            self.respond_to_waiting(reload);
        }
    }

    /// The server serves: from now on it watches its files.
    pub fn begin_reloading(&self) {
        if let Some(reload) = &self.reload {
            reload.phase.replace(ReloadPhase::Current);
        }
    }

    /// The server stops: requests that wait for new code get the old one.
    pub fn stop_reloading(&self) {
        if let Some(reload) = &self.reload {
            reload.phase.replace(ReloadPhase::Idle);
            self.end_reload_hold(reload);
        }
    }

    /// The mold that loads the application named its files, as JSON.
    pub fn watch_sources(&self, json: &str) {
        let Some(reload) = &self.reload else {
            return;
        };
        match serde_json::from_str::<SourceFiles>(json) {
            Ok(sources) => report(reload.watch.borrow_mut().retarget(sources), &self.log),
            Err(error) => {
                let message = "reload: the mold does not say what its files are";
                self.log.warn(message, &[("cause", &error.to_string())]);
            }
        }
    }

    /// Loads changed code before a request asks for it. Returns if the kernel does not notice changes.
    pub async fn load_early(self: Rc<Self>) -> io::Result<()> {
        let descriptor = self.reload.as_ref().and_then(Reload::descriptor);
        let (Some(reload), Some(descriptor)) = (&self.reload, descriptor) else {
            return Ok(());
        };
        #[expect(
            deprecated,
            reason = "its successor is unsafe, and an OwnedFd is what that asks for"
        )]
        let descriptor = AsyncFd::with_interest(descriptor, Interest::READABLE)?;
        loop {
            descriptor.readable().await?.clear_ready();
            if !reload.is_suspect() {
                continue;
            }
            for _ in 0..QUIET_LIMIT {
                let Ok(ready) = timeout(QUIET, descriptor.readable()).await else {
                    break;
                };
                ready?.clear_ready();
                reload.is_suspect();
            }
            if reload.take_early_beginning() {
                self.load_changes(reload);
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
    use crate::PendingReply;
    use crate::fixture::{Fixture, locally};
    use crate::reload::FAILURE_HOLDS;

    /// A server that watches a directory with the file `a.rb`.
    struct Project {
        fixture: Fixture,
        directory: TempDir,
    }

    impl Project {
        fn new(capacities: &[u16]) -> Project {
            // A failure is repeated for a while.
            tokio::time::pause();
            let directory = tempfile::tempdir().expect("a directory");
            let project = Project {
                fixture: Fixture::reloading(capacities),
                directory,
            };
            project.write("one");
            let tree = project.directory.path().display();
            let json = format!(r#"{{"trees":["{tree}"],"files":[],"except":[],"complete":true}}"#);
            project.fixture.dispatcher.watch_sources(&json);
            project.fixture.dispatcher.begin_reloading();
            project
        }

        fn write(&self, content: &str) {
            fs::write(self.directory.path().join("a.rb"), content).expect("written");
        }

        /// How often the supervisor was asked for new code since the last call.
        fn asked(&mut self) -> usize {
            let mut count = 0;
            while let Ok(event) = self.fixture.events.try_recv() {
                assert_eq!(event, LaneEvent::CodeChanged);
                self.fixture.dispatcher.reload_begins();
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
            assert_eq!((project.fixture.load(), queue()), (vec![1], 3));
            project.fixture.dispatcher.end_reload(Ok(()));
            assert_eq!((project.fixture.load(), queue()), (vec![3], 1));
            drop((before, after));
        });
    }

    #[test]
    fn the_end_of_an_earlier_reload_does_not_count() {
        locally(|| {
            let mut project = Project::new(&[3]);
            project.write("two");
            let pending = project.fixture.dispatch("GET", "/");
            project.fixture.dispatcher.end_reload(Ok(()));
            assert_eq!(project.fixture.load(), [0]);
            assert_eq!(project.asked(), 1);
            project.fixture.dispatcher.end_reload(Ok(()));
            assert_eq!(project.fixture.load(), [1]);
            drop(pending);
        });
    }

    #[test]
    fn code_that_cannot_be_loaded_is_answered_by_its_cause_until_it_changes() {
        locally(|| {
            let mut project = Project::new(&[3]);
            project.write("wrong");
            let waiting = project.fixture.dispatch("GET", "/");
            assert_eq!(project.asked(), 1);
            let cause = Err("a.rb:1: wrong".to_owned());
            project.fixture.dispatcher.end_reload(cause);
            assert_eq!(status(waiting), Some(500));
            assert_eq!(status(project.fixture.dispatch("GET", "/")), Some(500));
            assert_eq!(project.asked(), 0);
            project.write("right");
            let waiting = project.fixture.dispatch("GET", "/");
            assert_eq!(project.asked(), 1);
            project.fixture.dispatcher.end_reload(Ok(()));
            assert_eq!((project.fixture.load(), status(waiting)), (vec![1], None));
        });
    }

    #[test]
    fn code_that_failed_is_loaded_again_after_a_while_for_a_request() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .build();
        tokio::task::LocalSet::new().block_on(&runtime.expect("a runtime"), async {
            let mut project = Project::new(&[3]);
            project.write("needs a database");
            let waiting = project.fixture.dispatch("GET", "/");
            assert_eq!(project.asked(), 1);
            let cause = Err("no database".to_owned());
            project.fixture.dispatcher.end_reload(cause);
            assert_eq!(status(waiting), Some(500));
            tokio::time::advance(FAILURE_HOLDS).await;
            let waiting = project.fixture.dispatch("GET", "/");
            assert_eq!(project.asked(), 1);
            project.fixture.dispatcher.end_reload(Ok(()));
            assert_eq!((project.fixture.load(), status(waiting)), (vec![1], None));
        });
    }

    #[test]
    fn code_that_changed_while_it_failed_to_load_is_loaded_again_but_not_for_ever() {
        locally(|| {
            let mut project = Project::new(&[3]);
            project.write("half");
            let waiting = project.fixture.dispatch("GET", "/");
            for round in 1..ROUNDS {
                assert_eq!(project.asked(), 1, "{round}");
                project.write(&format!("half {round}"));
                let cause = Err("half".to_owned());
                project.fixture.dispatcher.end_reload(cause);
            }
            assert_eq!((project.asked(), status(waiting)), (0, Some(500)));
        });
    }

    /// One more than loads that may fail in a row.
    const ROUNDS: usize = 4;

    #[test]
    fn code_that_takes_too_long_is_not_waited_for() {
        locally(|| {
            let project = Project::new(&[3]);
            project.write("two");
            let waiting = project.fixture.dispatch("GET", "/");
            let limit = project.fixture.dispatcher.load_timeout();
            let dispatcher = &project.fixture.dispatcher;
            dispatcher.expire_reload(clock::now());
            assert_eq!(project.fixture.queue().len(), 1);
            dispatcher.expire_reload(clock::now() + limit);
            assert_eq!(status(waiting), Some(500));
        });
    }

    #[test]
    fn a_stop_gives_waiting_requests_to_the_old_code() {
        locally(|| {
            let project = Project::new(&[3]);
            project.write("two");
            let waiting = project.fixture.dispatch("GET", "/");
            project.fixture.dispatcher.stop_reloading();
            project.write("three");
            let late = project.fixture.dispatch("GET", "/");
            assert_eq!(project.fixture.load(), [2]);
            drop((waiting, late));
        });
    }

    #[test]
    fn what_the_mold_says_may_be_nonsense() {
        locally(|| {
            let project = Project::new(&[3]);
            project.fixture.dispatcher.watch_sources("{}");
            let pending = project.fixture.dispatch("GET", "/");
            assert_eq!(project.fixture.load(), [1]);
            drop(pending);
        });
    }
}
