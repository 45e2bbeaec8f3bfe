//! What Ruby runs soon, on a thread that has its lock.

use std::ffi::{c_int, c_uint, c_void};
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::OnceLock;

use crate::libraries::function;

static JOB: OnceLock<Option<PostponedJob>> = OnceLock::new();

// SAFETY: Ruby calls it with the pointer that it was given.
type Function = unsafe extern "C" fn(*mut c_void);
// SAFETY: the signatures are those of Ruby's `debug.h`.
type Register = unsafe extern "C" fn(c_uint, Function, *mut c_void) -> c_uint;
type Trigger = unsafe extern "C" fn(c_uint);
type RegisterOne = unsafe extern "C" fn(c_uint, Function, *mut c_void) -> c_int;

enum PostponedJob {
    /// Since Ruby 3.3.
    Registered(Trigger, c_uint),
    Unregistered(RegisterOne),
}

/// Call it before [`trigger`], outside of a handler.
pub(super) fn prepare() {
    JOB.get_or_init(|| {
        let register = function(c"rb_postponed_job_preregister");
        let trigger = function(c"rb_postponed_job_trigger");
        if let (Some(register), Some(trigger)) = (register, trigger) {
            // SAFETY: Ruby exports them with these signatures.
            let handle =
                unsafe { transmute::<*mut c_void, Register>(register)(0, run, null_mut()) };
            // SAFETY: as above.
            let trigger = unsafe { transmute::<*mut c_void, Trigger>(trigger) };
            return Some(PostponedJob::Registered(trigger, handle));
        }
        let register = function(c"rb_postponed_job_register_one")?;
        // SAFETY: as above.
        Some(PostponedJob::Unregistered(unsafe {
            transmute::<*mut c_void, RegisterOne>(register)
        }))
    });
}

/// A handler of a signal may call it.
pub(super) fn trigger() {
    // SAFETY: Ruby allows both in a handler.
    unsafe {
        match JOB.get() {
            Some(Some(PostponedJob::Registered(trigger, handle))) => trigger(*handle),
            Some(Some(PostponedJob::Unregistered(register))) => {
                register(0, run, null_mut());
            }
            _ => {}
        }
    }
}

// SAFETY: only Ruby calls it.
unsafe extern "C" fn run(_data: *mut c_void) {
    super::run_job();
}
