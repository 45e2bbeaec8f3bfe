//! All schedulers of the process: fibers of one thread may wait for an IO that another thread closes.

use std::ops::Deref;
use std::os::fd::RawFd;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use super::core::Core;

/// A core that only threads that hold the GVL use.
pub(crate) struct Guarded(Core);

// SAFETY: a core is reached only through methods of Ruby objects and through the garbage collector, both with the GVL.
// `gvl::leave` passes none of it on.
unsafe impl Send for Guarded {}
// SAFETY: see above.
unsafe impl Sync for Guarded {}

impl Deref for Guarded {
    type Target = Core;

    fn deref(&self) -> &Core {
        &self.0
    }
}

static ALL: Mutex<Vec<Weak<Guarded>>> = Mutex::new(Vec::new());

/// A new core, listed as long as it lives.
pub(crate) fn enlist() -> Arc<Guarded> {
    let core = Arc::new(Guarded(Core::new()));
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|core| core.strong_count() > 0);
    all.push(Arc::downgrade(&core));
    core
}

/// Raises an `IOError` in every fiber that waits for this descriptor.
pub(crate) fn close(number: RawFd) {
    let all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    for core in all.iter().filter_map(Weak::upgrade) {
        if core.state().close(number) {
            core.notify();
        }
    }
}

/// Whether there is any scheduler.
pub(crate) fn is_empty() -> bool {
    ALL.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .is_empty()
}
