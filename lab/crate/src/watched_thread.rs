//! The one thread that a measurement is about.

use std::sync::atomic::{AtomicUsize, Ordering};

/// A thread of this process, none at first.
#[derive(Default)]
pub(crate) struct WatchedThread(AtomicUsize);

impl WatchedThread {
    /// Watches none at first.
    pub(crate) const fn new() -> WatchedThread {
        WatchedThread(AtomicUsize::new(0))
    }

    /// Watches the thread that calls this.
    pub(crate) fn enter(&self) {
        self.0.store(present(), Ordering::Relaxed);
    }

    /// Watches no thread.
    pub(crate) fn leave(&self) {
        self.0.store(0, Ordering::Relaxed);
    }

    /// Whether the watched thread calls this.
    pub(crate) fn is_present(&self) -> bool {
        self.0.load(Ordering::Relaxed) == present()
    }
}

/// A number for the thread that calls this.
pub(crate) fn present() -> usize {
    // SAFETY: it takes nothing.
    let thread = unsafe { libc::pthread_self() };
    usize::try_from(thread).unwrap_or(0)
}
