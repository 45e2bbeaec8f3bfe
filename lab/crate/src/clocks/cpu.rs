//! The time of processors: a signal interrupts the thread that computes, and its handler captures the stack.
//!
//! Before Ruby 3.2, a handler must not read the frames of Ruby: it counts, and the job that follows reads them.

use std::cell::UnsafeCell;
use std::mem::zeroed;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::time::Duration;

use rb_sys::{rb_during_gc, rb_profile_frames};

use super::{Times, gvl, note};
use crate::libraries::function;
use crate::sampler::stack::CallStack;

/// Stacks that wait for the job. More samples than these are lost, and counted.
const CAPTURED_LIMIT: usize = 64;

static CAPTURED: [StackSlot; CAPTURED_LIMIT] = [const { StackSlot::new() }; CAPTURED_LIMIT];
static LOST: AtomicU64 = AtomicU64::new(0);
/// Samples that only the job captures: in methods, and in the collector.
static COUNTED: AtomicU64 = AtomicU64::new(0);
static COUNTED_IN_COLLECTOR: AtomicU64 = AtomicU64::new(0);

const FREE: u8 = 0;
const IN_USE: u8 = 1;
const CAPTURED_STACK: u8 = 2;

/// A stack that a handler has captured.
struct StackSlot {
    state: AtomicU8,
    stack: UnsafeCell<CallStack>,
}

// SAFETY: only the thread that has set the state to `IN_USE` reaches the stack; a captured one is only read, by threads that
// have Ruby's lock.
unsafe impl Sync for StackSlot {}

impl StackSlot {
    const fn new() -> StackSlot {
        StackSlot {
            state: AtomicU8::new(FREE),
            stack: UnsafeCell::new(CallStack::NONE),
        }
    }

    fn take(&self) -> bool {
        let (success, failure) = (Ordering::Acquire, Ordering::Relaxed);
        let taken = self.state.compare_exchange(FREE, IN_USE, success, failure);
        taken.is_ok()
    }
}

/// Why this clock cannot be read, or `None`: only a C library that finds the tables of functions without a lock lets a handler
/// read a stack.
pub(super) fn obstacle() -> Option<&'static str> {
    let is_safe = function(c"_dl_find_object").is_some();
    (!is_safe).then_some("a profile of the CPU needs glibc 2.35")
}

/// Call it while no signal arrives.
pub(super) fn begin() {
    gvl::prepare();
    for counter in [&LOST, &COUNTED, &COUNTED_IN_COLLECTOR] {
        counter.store(0, Ordering::Relaxed);
    }
    for slot in &CAPTURED {
        slot.state.store(FREE, Ordering::Release);
    }
}

/// Captures the stack that is interrupted. Only a handler calls it.
pub(super) fn capture() {
    if !gvl::has_events() {
        // SAFETY: it only reads a flag.
        let collects = unsafe { rb_during_gc() } != 0;
        let counter = if collects {
            &COUNTED_IN_COLLECTOR
        } else {
            &COUNTED
        };
        counter.fetch_add(1, Ordering::Relaxed);
    } else if let Some(slot) = CAPTURED.iter().find(|slot| slot.take()) {
        // SAFETY: the slot is this handler's.
        unsafe { (*slot.stack.get()).capture_interrupted() };
        slot.state.store(CAPTURED_STACK, Ordering::Release);
    } else {
        LOST.fetch_add(1, Ordering::Relaxed);
    }
}

/// Yields the captured stacks. The thread has Ruby's lock.
pub(super) fn each_captured(mut function: impl FnMut(&CallStack)) {
    for slot in &CAPTURED {
        if slot.state.load(Ordering::Acquire) == CAPTURED_STACK {
            // SAFETY: nobody writes to a captured stack.
            function(unsafe { &*slot.stack.get() });
        }
    }
}

/// Notes what handlers have captured or counted, and forgets it.
pub(super) fn note_captured() {
    let sample = |cpu| Times {
        cpu,
        ..Times::default()
    };
    for slot in &CAPTURED {
        if slot.state.load(Ordering::Acquire) == CAPTURED_STACK {
            // SAFETY: as above.
            note(unsafe { &*slot.stack.get() }, sample(1));
            slot.state.store(FREE, Ordering::Release);
        }
    }
    let counted = COUNTED.swap(0, Ordering::Relaxed);
    if counted > 0 {
        // SAFETY: the thread runs Ruby, and the arrays have this length.
        let stack = CallStack::of(&|start, limit, frames, lines| unsafe {
            rb_profile_frames(start, limit, frames, lines)
        });
        note(&stack, sample(counted));
    }
    let collected = COUNTED_IN_COLLECTOR.swap(0, Ordering::Relaxed);
    if collected > 0 {
        note(&CallStack::COLLECTOR, sample(collected));
    }
}

/// Samples without a stack: there were more at once than have room.
pub(super) fn lost() -> u64 {
    LOST.load(Ordering::Relaxed)
}

/// The time of processors that the process has had.
pub(super) fn spent() -> Duration {
    // SAFETY: the structure is complete, and the clock is there.
    let time = unsafe {
        let mut time: libc::timespec = zeroed();
        libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time);
        time
    };
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    Duration::new(seconds, u32::try_from(time.tv_nsec).unwrap_or(0))
}
