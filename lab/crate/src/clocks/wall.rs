//! Time as it passes, for each thread of Ruby but the main one, which waits for orders of the server.
//!
//! The job that follows a signal reads the frames of all threads: it has Ruby's lock, so that none of them changes. While no
//! thread runs, it is the interrupted thread that gets the lock, at the latest at the second signal. A thread that computes keeps
//! the lock, and runs the job because the clock of the CPU interrupts it.

use std::ffi::{c_int, c_void};
use std::mem::transmute;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use magnus::rb_sys::{AsRawValue, FromRawValue, protect};
use magnus::{RArray, Value};
use rb_sys::{VALUE, rb_cThread, rb_funcallv, rb_intern2, rb_thread_main};

use super::{Times, note};
use crate::libraries::function;
use crate::sampler::interval::clock;
use crate::sampler::stack::CallStack;

/// Threads that are looked at in one sample.
const THREADS_LIMIT: usize = 1024;

/// Whether there is something to look at, and whether the time for it has come.
static IS_ON: AtomicBool = AtomicBool::new(false);
static IS_DUE: AtomicBool = AtomicBool::new(false);
/// When the threads were looked at last.
static LAST: AtomicU64 = AtomicU64::new(0);

// SAFETY: the signature is that of Ruby's `debug.h`.
type ReadThread = unsafe extern "C" fn(VALUE, c_int, c_int, *mut VALUE, *mut c_int) -> c_int;

/// `None` before Ruby 3.3.
fn reader() -> Option<ReadThread> {
    static READER: OnceLock<Option<ReadThread>> = OnceLock::new();
    *READER.get_or_init(|| {
        let function = function(c"rb_profile_thread_frames")?;
        // SAFETY: Ruby exports it with this signature.
        Some(unsafe { transmute::<*mut c_void, ReadThread>(function) })
    })
}

/// Why this clock cannot be read, or `None`.
pub(super) fn obstacle() -> Option<&'static str> {
    let is_missing = reader().is_none();
    is_missing.then_some("the frames of threads that wait can be read since Ruby 3.3")
}

/// Begins, or not.
pub(super) fn begin(is_on: bool) {
    LAST.store(clock(), Ordering::Relaxed);
    IS_DUE.store(false, Ordering::Relaxed);
    IS_ON.store(is_on, Ordering::Release);
}

/// The next job looks at the threads. A handler of a signal may call it.
pub(super) fn tick() {
    IS_DUE.store(IS_ON.load(Ordering::Acquire), Ordering::Release);
}

/// Looks at all threads if it is time: each has been where it is since the last look. This one has Ruby's lock.
pub(super) fn sample() {
    let Some(read) = reader().filter(|_| IS_DUE.swap(false, Ordering::AcqRel)) else {
        return;
    };
    let now = clock();
    let passed = now.saturating_sub(LAST.swap(now, Ordering::Relaxed));
    for thread in threads().into_iter().flatten().take(THREADS_LIMIT) {
        // SAFETY: it is a thread that lives, and cannot run meanwhile; the arrays have this length.
        let stack = CallStack::of(&|start, limit, frames, lines| unsafe {
            read(thread.as_raw(), start, limit, frames, lines)
        });
        let times = Times {
            wall: passed,
            wall_samples: 1,
            ..Times::default()
        };
        note(&stack, times);
    }
}

/// The threads but the main one.
fn threads() -> Option<impl Iterator<Item = Value>> {
    // SAFETY: the class has a method of this name, which takes nothing.
    let list = protect(|| unsafe {
        let name = rb_intern2(c"list".as_ptr(), 4);
        rb_funcallv(rb_cThread, name, 0, std::ptr::null())
    });
    // SAFETY: Ruby returned it just now, and this keeps it on the stack.
    let list = RArray::from_value(unsafe { Value::from_raw(list.ok()?) })?;
    // SAFETY: it can be asked at any time.
    let main = unsafe { rb_thread_main() };
    Some(
        list.into_iter()
            .filter(move |thread| thread.as_raw() != main),
    )
}
