use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Wake, Waker};

/// Notes whether a task can continue, and wakes the caller that waits for one.
#[derive(Debug)]
pub(super) struct TasksWaker {
    is_set: AtomicBool,
    waits: Mutex<Option<Waker>>,
}

impl Default for TasksWaker {
    fn default() -> TasksWaker {
        TasksWaker {
            is_set: AtomicBool::new(true),
            waits: Mutex::default(),
        }
    }
}

impl TasksWaker {
    /// Whether a task can continue.
    pub(super) fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Relaxed)
    }

    /// Whether a task could continue. Resets the note: the caller runs the tasks next.
    pub(super) fn take(&self) -> bool {
        self.is_set.swap(false, Ordering::Relaxed)
    }

    /// Sets the waker that is called when a task can continue.
    pub(super) fn wakes(&self, waker: &Waker) {
        let mut waits = self.waits.lock().unwrap_or_else(PoisonError::into_inner);
        waits.replace(waker.clone());
    }
}

impl Wake for TasksWaker {
    fn wake(self: Arc<Self>) {
        self.is_set.store(true, Ordering::Relaxed);
        let waits = self
            .waits
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        if let Some(waker) = waits {
            waker.wake();
        }
    }
}
