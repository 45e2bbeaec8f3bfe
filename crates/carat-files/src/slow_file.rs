//! Open files that are closed away from the thread that serves connections.

use std::fs::File;
use std::ops::Deref;
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

/// Most files of responses that wait to be closed, within the reserve of the budget of descriptors. What the budget has for
/// more is added. Who drops one beyond all of these closes it himself.
const RESPONSES_LEAST: usize = 16;

/// Files of request bodies, whose number the budget of descriptors limits until they are closed.
static BODIES: ClosingThread = ClosingThread::new(usize::MAX);
/// Files of responses. A disk that does not respond holds up only its own kind here, too.
static RESPONSES: ClosingThread = ClosingThread::new(RESPONSES_LEAST);

/// An open file that another thread closes: the last descriptor of an unlinked file of 3 GB takes more than a second.
#[derive(Debug)]
pub struct SlowFile<H: Send + 'static = ()> {
    /// `None` when it is being dropped.
    open: Option<Box<OpenFile<H>>>,
    thread: &'static ClosingThread,
}

/// An open file, and what is held until it is closed. The order of the fields is that in which they are dropped.
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
    /// The file, which is quick to close: it is a socket.
    pub fn into_file(mut self) -> File {
        let open = self.open.take();
        open.expect("open until it is dropped").file
    }
}

/// Sets how many files of responses may wait to be closed, beyond those in the reserve.
pub fn set_further_waiting(count: usize) {
    let limit = RESPONSES_LEAST + count;
    RESPONSES.limit.store(limit, Ordering::Relaxed);
}

/// Drops on another thread what may hold files of responses.
pub fn drop_elsewhere(holder: impl Send + 'static) {
    RESPONSES.close(Box::new(holder));
}

impl<H: Send + 'static> SlowFile<H> {
    /// The file of a request body, and its part of what limits their number.
    pub fn of_body(file: File, held: H) -> SlowFile<H> {
        SlowFile::new(file, held, &BODIES)
    }

    fn new(file: File, held: H, thread: &'static ClosingThread) -> SlowFile<H> {
        SlowFile {
            open: Some(Box::new(OpenFile { file, held })),
            thread,
        }
    }

    /// What is held until the file is closed.
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
    limit: AtomicUsize,
    waiting: AtomicUsize,
    /// `None` where the system has no thread to give.
    queue: OnceLock<Option<Sender<Box<dyn Send>>>>,
}

impl ClosingThread {
    const fn new(limit: usize) -> ClosingThread {
        ClosingThread {
            limit: AtomicUsize::new(limit),
            waiting: AtomicUsize::new(0),
            queue: OnceLock::new(),
        }
    }

    /// Has the thread drop the file, unless too many wait.
    fn close(&'static self, open: Box<dyn Send>) {
        let waiting = self.waiting.fetch_add(1, Ordering::Relaxed);
        let queue = self.queue.get_or_init(|| self.start()).as_ref();
        let unsent = match queue {
            Some(queue) if waiting < self.limit.load(Ordering::Relaxed) => {
                queue.send(open).err().map(|error| error.0)
            }
            _ => Some(open),
        };
        if unsent.is_some() {
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn start(&'static self) -> Option<Sender<Box<dyn Send>>> {
        let (queue, closed) = channel();
        let thread = thread::Builder::new().name("carat close".to_owned());
        let thread = thread.spawn(move || self.close_all(&closed));
        thread.ok().map(|_| queue)
    }

    fn close_all(&self, dropped: &Receiver<Box<dyn Send>>) {
        for open in dropped {
            drop(open);
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread::{ThreadId, current};

    use super::*;

    /// Says on which thread it is dropped, and waits there until it may go on.
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
    fn another_thread_closes_a_file_unless_too_many_wait() {
        static THREAD: ClosingThread = ClosingThread::new(2);
        let (on, threads) = mpsc::channel();
        let files: Vec<_> = (0..3).map(|_| file(&on, &THREAD)).collect();
        let (files, go_on): (Vec<_>, Vec<_>) = files.into_iter().unzip();
        go_on[2].send(()).expect("it waits for it");
        drop(files);
        let dropped: Vec<_> = threads.iter().take(2).collect();
        assert_eq!(
            dropped.iter().filter(|id| **id == current().id()).count(),
            1
        );
        drop(go_on);
        assert_ne!(threads.recv(), Ok(current().id()));
    }
}
