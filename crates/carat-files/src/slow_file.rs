//! Open files that are closed away from the thread that serves connections.

use std::fs::File;
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// The files of responses that may always wait to be closed: their descriptors are in the reserve of the descriptor
/// budget. `set_further_waiting` adds the descriptors that the budget has left. More files may wait, of requests that
/// had begun before: other shares of the budget cover these.
const RESPONSES_LEAST: usize = 16;

/// A disk that takes this long to close a file does not respond.
const CLOSING_TIME: Duration = Duration::from_secs(1);

/// The thread that closes the files of request bodies. The descriptor budget limits their number until they are closed.
static BODIES: ClosingThread = ClosingThread::new();
/// The thread that closes the files of responses. A disk that does not respond blocks only one of the two kinds.
static RESPONSES: ClosingThread = ClosingThread::new();
/// The files of responses that may wait to be closed in addition to `RESPONSES_LEAST`.
static FURTHER_RESPONSES: AtomicUsize = AtomicUsize::new(0);

/// An open file that is closed on another thread: closing the last descriptor of an unlinked file of 3 GB takes more
/// than a second.
#[derive(Debug)]
pub struct SlowFile<H: Send + 'static = ()> {
    /// `None` while the file is being dropped.
    open: Option<Box<OpenFile<H>>>,
    thread: &'static ClosingThread,
}

/// An open file, and the value that is held until it is closed. Fields are dropped in their order.
#[derive(Debug)]
struct OpenFile<H> {
    file: File,
    held: H,
}

/// The file of a response.
impl From<File> for SlowFile {
    fn from(file: File) -> SlowFile {
        SlowFile::new(file, (), &RESPONSES)
    }
}

impl SlowFile {
    /// The bare file. The caller closes it, which is quick for a socket.
    pub fn into_file(mut self) -> File {
        let open = self.open.take();
        open.expect("open until it is dropped").file
    }
}

/// Sets how many files of responses may wait to be closed, beyond those in the reserve.
pub fn set_further_waiting(count: usize) {
    FURTHER_RESPONSES.store(count, Ordering::Relaxed);
}

/// Whether no further request may begin, because too many files of responses wait to be closed on a disk that does not
/// respond.
pub fn are_too_many_waiting(now: impl FnOnce() -> Instant) -> bool {
    let limit = RESPONSES_LEAST + FURTHER_RESPONSES.load(Ordering::Relaxed);
    RESPONSES.waiting.load(Ordering::Relaxed) > limit && RESPONSES.is_stuck(now())
}

/// Drops a value on another thread, because it may hold files of responses.
pub fn drop_elsewhere(holder: impl Send + 'static) {
    RESPONSES.close(Box::new(holder));
}

impl<H: Send + 'static> SlowFile<H> {
    /// The file of a request body. `held` is its share of the limit on the number of such files.
    pub fn of_body(file: File, held: H) -> SlowFile<H> {
        SlowFile::new(file, held, &BODIES)
    }

    fn new(file: File, held: H, thread: &'static ClosingThread) -> SlowFile<H> {
        SlowFile {
            open: Some(Box::new(OpenFile { file, held })),
            thread,
        }
    }

    /// The value that is held until the file is closed.
    pub fn held(&self) -> &H {
        &self.open().held
    }

    fn open(&self) -> &OpenFile<H> {
        self.open.as_ref().expect("open until it is dropped")
    }
}

impl<H: Send + 'static> Deref for SlowFile<H> {
    type Target = File;

    fn deref(&self) -> &File {
        &self.open().file
    }
}

impl<H: Send + 'static> AsFd for SlowFile<H> {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.open().file.as_fd()
    }
}

impl<H: Send + 'static> Drop for SlowFile<H> {
    fn drop(&mut self) {
        if let Some(open) = self.open.take() {
            self.thread.close(open);
        }
    }
}

/// A thread that closes files, one after the other.
#[derive(Debug)]
struct ClosingThread {
    waiting: AtomicUsize,
    /// When the thread began to close the current file.
    begun: Mutex<Option<Instant>>,
    /// The queue of the thread; `None` if no thread can be started.
    queue: OnceLock<Option<Sender<Box<dyn Send>>>>,
}

impl ClosingThread {
    const fn new() -> ClosingThread {
        ClosingThread {
            waiting: AtomicUsize::new(0),
            begun: Mutex::new(None),
            queue: OnceLock::new(),
        }
    }

    /// Makes the thread drop the file. Without a thread, the caller drops it.
    fn close(&'static self, open: Box<dyn Send>) {
        if let Some(queue) = self.queue.get_or_init(|| self.start()) {
            self.waiting.fetch_add(1, Ordering::Relaxed);
            // Sending cannot fail, because the thread never ends.
            let _ = queue.send(open);
        }
    }

    fn is_stuck(&self, now: Instant) -> bool {
        let begun = *self.begun();
        begun.is_some_and(|begun| now.saturating_duration_since(begun) >= CLOSING_TIME)
    }

    fn begun(&self) -> MutexGuard<'_, Option<Instant>> {
        self.begun.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&'static self) -> Option<Sender<Box<dyn Send>>> {
        let (queue, closed) = channel();
        let thread = thread::Builder::new().name("carat close".to_owned());
        let thread = thread.spawn(move || self.close_all(&closed));
        thread.ok().map(|_| queue)
    }

    fn close_all(&self, dropped: &Receiver<Box<dyn Send>>) {
        for open in dropped {
            *self.begun() = Some(Instant::now());
            drop(open);
            *self.begun() = None;
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread::{ThreadId, current};

    use super::*;

    /// A value that says on which thread it is dropped, and waits there until it may continue.
    struct Told {
        on: Sender<ThreadId>,
        may_go_on: Receiver<()>,
    }

    impl Drop for Told {
        fn drop(&mut self) {
            let _ = self.on.send(current().id());
            let _ = self.may_go_on.recv();
        }
    }

    fn file(on: &Sender<ThreadId>, thread: &'static ClosingThread) -> (SlowFile<Told>, Sender<()>) {
        let (go_on, may_go_on) = mpsc::channel();
        let file = tempfile::tempfile().expect("a file");
        let told = Told {
            on: on.clone(),
            may_go_on,
        };
        (SlowFile::new(file, told, thread), go_on)
    }

    #[test]
    fn another_thread_closes_a_file_however_many_wait() {
        let (on, threads) = mpsc::channel();
        let files = (0..=RESPONSES_LEAST).map(|_| file(&on, &RESPONSES));
        let (files, go_on): (Vec<_>, Vec<_>) = files.unzip();
        let mut on_threads = Vec::new();
        for file in files {
            assert!(!are_too_many_waiting(|| Instant::now() + CLOSING_TIME));
            drop(file);
            if on_threads.is_empty() {
                on_threads.extend(threads.recv());
            }
        }
        assert!(!are_too_many_waiting(Instant::now));
        assert!(are_too_many_waiting(|| Instant::now() + CLOSING_TIME));
        set_further_waiting(1);
        assert!(!are_too_many_waiting(|| Instant::now() + CLOSING_TIME));
        drop(go_on);
        on_threads.extend(threads.iter().take(RESPONSES_LEAST));
        assert!(on_threads.iter().all(|id| *id != current().id()));
    }
}
