//! Counts the forks between the process that loaded the extension and this one.

use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

static GENERATION: AtomicU32 = AtomicU32::new(0);

/// Begins to count.
pub(crate) fn watch() {
    static WATCH: Once = Once::new();
    // SAFETY: the handler only increments an atomic, which is allowed in the child of a process with threads.
    WATCH.call_once(|| unsafe {
        libc::pthread_atfork(None, None, Some(in_child));
    });
}

/// A number that differs between a process and its child. Owners of kernel objects compare it before they use them.
pub(crate) fn generation() -> u32 {
    GENERATION.load(Ordering::Relaxed)
}

extern "C" fn in_child() {
    GENERATION.fetch_add(1, Ordering::Relaxed);
}
