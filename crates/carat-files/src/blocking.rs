//! Work that waits for a disk, or computes for long, away from the thread that serves connections. Each kind of work has
//! threads of its own: a disk that does not respond holds up only the work that needs it.

use std::io;
use std::sync::LazyLock;
use std::thread::{self, available_parallelism};

use tokio::sync::Semaphore;
use tokio::sync::oneshot::channel;
use tokio::task::{JoinError, spawn_blocking};

/// The most pieces that are encoded or decoded at a time, however many processors there are.
const CODING_LIMIT: usize = 8;

/// The threads that create and write the files of request bodies.
pub static BODY_THREADS: BlockingThreads = BlockingThreads::new(4);
/// The threads that read the files of responses.
pub static FILE_THREADS: BlockingThreads = BlockingThreads::new(4);
/// The threads that look up files that clients or applications name.
pub static LOOKUP_THREADS: BlockingThreads = BlockingThreads::new(4);
/// The threads that read the files that the configuration names. Each watcher of such a file uses one thread at most,
/// so a thread remains free.
pub static CONFIGURATION_THREADS: BlockingThreads = BlockingThreads::new(6);
/// The thread that reads the memory of the processes, for the limits on it.
pub static MEMORY_THREAD: BlockingThreads = BlockingThreads::new(1);
/// The thread that reads the memory of the processes, for reports.
pub static REPORT_THREAD: BlockingThreads = BlockingThreads::new(1);
/// The threads that encode and decode bodies.
pub static CODING_THREADS: LazyLock<BlockingThreads> = LazyLock::new(|| {
    BlockingThreads::new(available_parallelism().map_or(1, |count| count.get().min(CODING_LIMIT)))
});

/// The threads for one kind of work.
pub struct BlockingThreads {
    count: usize,
    free: Semaphore,
}

impl BlockingThreads {
    const fn new(count: usize) -> BlockingThreads {
        BlockingThreads {
            count,
            free: Semaphore::const_new(count),
        }
    }

    /// How many threads there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Does the work when a thread is free. Dropping the future drops work that has not begun, so waiting work belongs
    /// to the callers that wait for it. Returns an error if the work panicked.
    pub async fn run<T: Send + 'static>(
        &'static self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, JoinError> {
        let thread = self.free.acquire().await;
        let thread = thread.expect("the semaphore is never closed");
        spawn_blocking(move || {
            let done = work();
            drop(thread);
            done
        })
        .await
    }

    /// Like [`BlockingThreads::run`], for work that may fail; a panic is a failure, too.
    pub async fn try_run<T: Send + 'static>(
        &'static self,
        work: impl FnOnce() -> io::Result<T> + Send + 'static,
    ) -> io::Result<T> {
        let done = self.run(work).await;
        done.unwrap_or_else(|panic| Err(io::Error::other(panic)))
    }
}

/// Does the work on a thread of its own, which ends with it. This is for callers with one piece of work at a time: work
/// that never returns blocks no other work. Returns an error if no thread can be started, or the work panicked.
pub async fn on_own_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> io::Result<T> {
    let (done, result) = channel();
    let thread = thread::Builder::new().name("carat file".to_owned());
    // The caller may be gone.
    thread.spawn(move || drop(done.send(work())))?;
    result.await.map_err(io::Error::other)
}

/// How many threads there are in all.
pub fn blocking_threads() -> usize {
    let kinds = [
        &BODY_THREADS,
        &FILE_THREADS,
        &LOOKUP_THREADS,
        &CONFIGURATION_THREADS,
        &MEMORY_THREAD,
        &REPORT_THREAD,
        &CODING_THREADS,
    ];
    kinds.iter().map(|threads| threads.count()).sum()
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};
    use std::sync::{Arc, Mutex};
    use std::task::Waker;

    use tokio::task::{LocalSet, yield_now};

    use super::*;

    static SLOW: BlockingThreads = BlockingThreads::new(3);
    static OTHER: BlockingThreads = BlockingThreads::new(1);

    fn locally(test: impl Future<Output = ()>) {
        let mut runtime = tokio::runtime::Builder::new_current_thread();
        let runtime = runtime.max_blocking_threads(SLOW.count() + OTHER.count());
        LocalSet::new().block_on(&runtime.build().expect("a runtime"), test);
    }

    /// Work that waits for a disk, and says when it has begun.
    fn stuck(begun: &Sender<()>) -> (Sender<()>, impl FnOnce() + Send + 'static) {
        let (respond, disk) = channel();
        let begun = begun.clone();
        let work = move || {
            // Nobody may listen.
            let _ = begun.send(());
            let _ = disk.recv();
        };
        (respond, work)
    }

    #[test]
    fn work_that_waits_for_a_disk_holds_up_only_its_own_kind() {
        locally(async {
            let (begun, begins) = channel();
            let (disks, work): (Vec<_>, Vec<_>) = (0..60).map(|_| stuck(&begun)).unzip();
            let all: Vec<_> = work
                .into_iter()
                .map(|work| tokio::spawn(SLOW.run(work)))
                .collect();
            while SLOW.free.available_permits() > 0 {
                yield_now().await;
            }
            assert_eq!(OTHER.run(|| 42).await.expect("no panic"), 42);
            for _ in 0..3 {
                begins.recv().expect("begun");
            }
            assert!(begins.try_recv().is_err());
            drop(disks);
            for done in all {
                done.await.expect("no panic").expect("no panic");
            }
        });
    }

    #[test]
    fn work_on_its_own_thread_waits_for_no_other() {
        locally(async {
            let (begun, begins) = channel();
            let (disks, work): (Vec<_>, Vec<_>) = (0..20).map(|_| stuck(&begun)).unzip();
            let all: Vec<_> = work
                .into_iter()
                .map(|work| tokio::spawn(on_own_thread(work)))
                .collect();
            yield_now().await;
            for _ in 0..20 {
                begins.recv().expect("begun");
            }
            assert_eq!(on_own_thread(|| 42).await.expect("done"), 42);
            drop(disks);
            for done in all {
                done.await.expect("no panic").expect("done");
            }
            let panic = on_own_thread(|| panic!("on purpose")).await;
            assert!(panic.is_err());
        });
    }

    #[test]
    fn work_whose_client_is_gone_is_dropped_before_it_begins() {
        static ONE: BlockingThreads = BlockingThreads::new(1);
        locally(async {
            let (begun, begins) = channel();
            let (disk, work) = stuck(&begun);
            let first = tokio::spawn(ONE.run(work));
            while begins.try_recv().is_err() {
                yield_now().await;
            }
            let held = Arc::new(Mutex::new(()));
            let waiting = Arc::clone(&held);
            let mut second = Box::pin(ONE.run(move || drop(waiting)));
            let cx = &mut std::task::Context::from_waker(Waker::noop());
            assert!(second.as_mut().poll(cx).is_pending());
            drop(second);
            assert_eq!(Arc::strong_count(&held), 1);
            drop(disk);
            first.await.expect("no panic").expect("no panic");
        });
    }
}
