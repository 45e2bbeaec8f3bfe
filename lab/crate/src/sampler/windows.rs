//! When Ruby reports its objects: in short windows, an eighth of the time.
//!
//! Ruby reports each new object or none, and a report costs more than most objects. At each sample of the allocator, a
//! coin decides whether a window is open from there on. Samples come at random, so a window does not fall into step with
//! the requests, and each object has the same chance of being in one. Ruby may be told a little later, but until then,
//! what the last coin said holds, so the chance remains the same.

use std::ffi::{c_int, c_uint, c_void};
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{IS_ON, interval, objects};
use crate::libraries::function;

/// The share of the time in which windows are open: 1 / `PARTS`.
pub(super) const SHARE: f64 = 0.125;
const PARTS: u64 = 8;

// SAFETY: the signature is that of `thread.c` in Ruby 3.1 to 4.1.
unsafe extern "C" {
    // Ruby exports it for debuggers and extensions.
    fn ruby_thread_has_gvl_p() -> c_int;
}

// SAFETY: Ruby calls such a function with the pointer that it was given.
type OnJob = unsafe extern "C" fn(*mut c_void);
// SAFETY: any thread with the GVL may call it.
type RegisterOne = unsafe extern "C" fn(c_uint, OnJob, *mut c_void) -> c_int;
// SAFETY: any thread with the GVL may call it.
type Preregister = unsafe extern "C" fn(c_uint, OnJob, *mut c_void) -> c_uint;
// SAFETY: the number must be that of a job.
type Trigger = unsafe extern "C" fn(c_uint);

/// How Ruby is asked to call `on_job`.
enum WindowJob {
    /// Since Ruby 3.3: `rb_postponed_job_trigger` and the number of the job.
    Known(Trigger, c_uint),
    /// Up to Ruby 4.0.
    Anew(RegisterOne),
}

static JOB: OnceLock<Option<WindowJob>> = OnceLock::new();

impl WindowJob {
    fn find() -> Option<WindowJob> {
        WindowJob::known().or_else(|| {
            function(c"rb_postponed_job_register_one").map(|register| {
                // SAFETY: a function of this name is Ruby's, and has this signature wherever there is one.
                WindowJob::Anew(unsafe { transmute::<*mut c_void, RegisterOne>(register) })
            })
        })
    }

    fn known() -> Option<WindowJob> {
        let preregister = function(c"rb_postponed_job_preregister")?;
        let trigger = function(c"rb_postponed_job_trigger")?;
        // SAFETY: functions of these names are Ruby's, and have these signatures wherever there are any.
        unsafe {
            let number = transmute::<*mut c_void, Preregister>(preregister)(0, on_job, null_mut());
            let trigger = transmute::<*mut c_void, Trigger>(trigger);
            Some(WindowJob::Known(trigger, number))
        }
    }
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

/// Makes what the others need. Call it with the GVL.
pub(super) fn prepare() {
    JOB.get_or_init(WindowJob::find);
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
fn ask() {
    // SAFETY: any thread may ask, and Ruby allows a job to be registered anywhere.
    unsafe {
        match JOB.get() {
            Some(Some(job)) if ruby_thread_has_gvl_p() != 0 => match job {
                WindowJob::Known(trigger, number) => trigger(*number),
                WindowJob::Anew(register) => {
                    register(0, on_job, null_mut());
                }
            },
            _ => {}
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
