//! The only place where the GVL is released.

use std::ffi::c_void;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::ptr;

use rb_sys::{rb_thread_call_without_gvl2, rb_unblock_function_t};

use crate::interpreter::waker;

/// How a signal, `Thread#raise` or `Thread#kill` interrupts a thread that has released the GVL.
pub(crate) enum Callback<'a> {
    /// The interrupt notifies a waker that the thread watches.
    Waker(BorrowedFd<'a>),
    /// The interrupt is a signal, which ends the thread's system call with `EINTR`.
    Signal,
}

/// Runs `work` while other threads may run. Returns `None` when an exception waits to be raised in this thread: `work`
/// has not run, or was interrupted, and the caller has to call `rb_thread_check_ints`.
pub(crate) fn leave<F, R>(callback: &Callback<'_>, work: F) -> Option<R>
where
    F: FnOnce() -> R + Send,
    R: Send,
{
    let mut task = Task {
        work: Some(work),
        result: None,
    };
    let (unblock, data) = match callback {
        Callback::Waker(waker) => (Some(notify as _), notify_data(waker.as_raw_fd())),
        Callback::Signal => (by_signal(), ptr::null_mut()),
    };
    // SAFETY: `task` outlives the call, and the borrow in `callback` keeps the waker open for as long.
    unsafe {
        rb_thread_call_without_gvl2(
            Some(run::<F, R>),
            ptr::from_mut(&mut task).cast(),
            unblock,
            data,
        );
    }
    task.result
}

struct Task<F, R> {
    work: Option<F>,
    result: Option<R>,
}

/// # Safety
/// `task` is the one that `leave` has handed to Ruby, and nobody else uses it meanwhile.
// SAFETY: the caller's promise, above.
unsafe extern "C" fn run<F: FnOnce() -> R, R>(task: *mut c_void) -> *mut c_void {
    // SAFETY: `leave` hands its own task over and waits for this call.
    let task = unsafe { &mut *task.cast::<Task<F, R>>() };
    task.result = task.work.take().map(|work| work());
    ptr::null_mut()
}

/// A descriptor travels as the pointer that Ruby keeps for the callback.
fn notify_data(waker: RawFd) -> *mut c_void {
    ptr::without_provenance_mut(usize::try_from(waker).unwrap_or_default())
}

/// # Safety
/// `waker` is what `notify_data` has made of a waker that stays open meanwhile.
// SAFETY: the caller's promise, above.
unsafe extern "C" fn notify(waker: *mut c_void) {
    if let Ok(waker) = RawFd::try_from(waker.addr()) {
        // SAFETY: Ruby calls this only while `leave` waits, whose caller keeps the waker open.
        waker::notify(unsafe { BorrowedFd::borrow_raw(waker) });
    }
}

/// `RUBY_UBF_IO`, a cast of -1 that bindgen does not translate.
fn by_signal() -> rb_unblock_function_t {
    // SAFETY: Ruby compares this value and never calls it.
    unsafe { std::mem::transmute::<isize, rb_unblock_function_t>(-1) }
}
