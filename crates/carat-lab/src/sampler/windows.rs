//! When Ruby reports its objects: in short windows, an eighth of the time.
//!
//! Ruby reports each new object or none, and a report costs more than most objects. At each sample of the allocator, a
//! coin decides whether a window is open from there on. Samples come at random, so a window does not fall into step with
//! the requests, and each object has the same chance of being in one. Ruby may be told a little later, but until then,
//! what the last coin said holds, so the chance remains the same.

use std::ffi::{c_int, c_void};
use std::ptr::null_mut;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{IS_ON, interval, objects};

/// The share of the time in which windows are open: 1 / `PARTS`.
pub(super) const SHARE: f64 = 0.125;
const PARTS: u64 = 8;

// SAFETY: the signature is that of `thread.c` in Ruby 3.1 to 3.4.
unsafe extern "C" {
    // Ruby exports it for debuggers and extensions.
    fn ruby_thread_has_gvl_p() -> c_int;
}

/// Whether something was decided that Ruby does not know yet.
static IS_DRAWN: AtomicBool = AtomicBool::new(false);
/// Whether a window is to be open, and whether one is.
static SHOULD_BE_OPEN: AtomicBool = AtomicBool::new(false);
static IS_OPEN: AtomicBool = AtomicBool::new(false);

/// Mean bytes between two samples within a window, if there is to be one sample in so many bytes of all.
pub(super) fn mean_bytes(of_all: u64) -> u64 {
    of_all / PARTS
}

/// Opens the first window, or none. Call it with the GVL.
pub(super) fn begin() {
    SHOULD_BE_OPEN.store(interval::unit() <= SHARE, Ordering::Relaxed);
    switch();
}

/// Opens one for good, where there are no samples of the allocator. Call it with the GVL.
pub(super) fn open() {
    SHOULD_BE_OPEN.store(true, Ordering::Relaxed);
    switch();
}

/// Closes the last one. Call it with the GVL.
pub(super) fn end() {
    SHOULD_BE_OPEN.store(false, Ordering::Relaxed);
    switch();
}

/// Has Ruby forget the profile, in a process that was forked meanwhile.
pub(super) fn abandon() {
    SHOULD_BE_OPEN.store(false, Ordering::Relaxed);
    ask();
}

/// Decides anew whether a window is open.
pub(super) fn draw() {
    SHOULD_BE_OPEN.store(interval::unit() <= SHARE, Ordering::Relaxed);
    IS_DRAWN.store(true, Ordering::Relaxed);
    follow();
}

/// Has Ruby do what was decided, if this thread can. Whether it is a change must not matter: if only changes took effect,
/// those that are taken back at once would shorten the time in windows.
pub(super) fn follow() {
    if IS_DRAWN.load(Ordering::Relaxed) {
        ask();
    }
}

/// Within `malloc`, Ruby cannot be changed: it calls `on_job` as soon as it can. Only a thread with the GVL asks: before
/// Ruby 3.3, others could disturb the list of jobs.
#[cold]
#[allow(deprecated, reason = "its successor begins with Ruby 3.3")]
fn ask() {
    // SAFETY: any thread may ask, and Ruby allows a job to be registered anywhere.
    unsafe {
        if ruby_thread_has_gvl_p() != 0 {
            rb_sys::rb_postponed_job_register_one(0, Some(on_job), null_mut());
        }
    }
}

// SAFETY: only Ruby calls it, with the GVL.
unsafe extern "C" fn on_job(_data: *mut c_void) {
    switch();
    if !IS_ON.load(Ordering::Acquire) {
        objects::watch(false);
    }
}

fn switch() {
    // First: what follows allocates, and must not ask again.
    IS_DRAWN.store(false, Ordering::Relaxed);
    let should_be_open = SHOULD_BE_OPEN.load(Ordering::Relaxed);
    if IS_OPEN.swap(should_be_open, Ordering::Relaxed) != should_be_open {
        objects::report(should_be_open);
    }
}
