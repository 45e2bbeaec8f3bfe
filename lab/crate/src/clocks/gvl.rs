//! The time in which threads wait for Ruby's lock, the GVL, by the events of threads that Ruby has since 3.2.

use std::cell::Cell;
use std::ffi::{c_uint, c_void};
use std::mem::transmute;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::{Times, note};
use crate::libraries::function;
use crate::sampler::interval::clock;
use crate::sampler::stack::CallStack;
use crate::watched_thread::WatchedThread;

/// As Ruby numbers events.
const READY: c_uint = 1 << 1;
const RESUMED: c_uint = 1 << 2;
const SUSPENDED: c_uint = 1 << 3;

// SAFETY: the signatures are those of Ruby's `thread.h`.
type OnEvent = unsafe extern "C" fn(c_uint, *const c_void, *mut c_void);
type Add = unsafe extern "C" fn(OnEvent, c_uint, *mut c_void) -> *mut c_void;
type Remove = unsafe extern "C" fn(*mut c_void) -> bool;

/// How to listen; `None` before Ruby 3.2.
static EVENTS: OnceLock<Option<(Add, Remove)>> = OnceLock::new();
static HOOK: Mutex<Option<usize>> = Mutex::new(None);

/// The thread that waits for orders of the server: it begins and ends profiles.
static CONTROL: WatchedThread = WatchedThread::new();
/// When the profile began, in nanoseconds of [`clock`]; 0 while there is none.
static BEGAN: AtomicU64 = AtomicU64::new(0);
static INTERVAL: AtomicU64 = AtomicU64::new(0);
static WAITED: AtomicU64 = AtomicU64::new(0);
static RAN: AtomicU64 = AtomicU64::new(0);

thread_local! {
    static LAST: Cell<Last> = const { Cell::new(Last { changed: 0, owed: 0 }) };
}

/// What a thread did last.
#[derive(Clone, Copy)]
struct Last {
    /// When it began to wait, or got the lock.
    changed: u64,
    /// For how long it has waited since it had a sample.
    owed: u64,
}

/// Call it before [`has_events`].
pub(super) fn prepare() {
    EVENTS.get_or_init(|| {
        let add = function(c"rb_internal_thread_add_event_hook")?;
        let remove = function(c"rb_internal_thread_remove_event_hook")?;
        // SAFETY: Ruby exports them with these signatures.
        Some(unsafe {
            (
                transmute::<*mut c_void, Add>(add),
                transmute::<*mut c_void, Remove>(remove),
            )
        })
    });
}

/// Whether Ruby is 3.2 or newer. A handler of a signal may ask.
pub(super) fn has_events() -> bool {
    EVENTS.get().is_some_and(Option::is_some)
}

/// Why this clock cannot be read, or `None`.
pub(super) fn obstacle() -> Option<&'static str> {
    prepare();
    (!has_events()).then_some("who waits for the GVL is known since Ruby 3.2")
}

/// Begins: each thread that has waited for so long has a sample.
pub(super) fn begin(interval: Duration) {
    let Some(Some((add, _))) = EVENTS.get() else {
        return;
    };
    CONTROL.enter();
    for total in [&WAITED, &RAN] {
        total.store(0, Ordering::Relaxed);
    }
    let interval = u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX);
    INTERVAL.store(interval.max(1), Ordering::Relaxed);
    BEGAN.store(clock(), Ordering::Release);
    let mut hook = HOOK.lock().unwrap_or_else(PoisonError::into_inner);
    hook.get_or_insert_with(|| {
        // SAFETY: the function can be called at any time.
        unsafe { add(on_event, READY | RESUMED | SUSPENDED, null_mut()) as usize }
    });
}

/// Ends that.
pub(super) fn end() {
    BEGAN.store(0, Ordering::Release);
    let hook = HOOK.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let (Some(Some((_, remove))), Some(hook)) = (EVENTS.get(), hook) {
        // SAFETY: Ruby has returned it, and it has not been removed.
        let _ = unsafe { remove(hook as *mut c_void) };
    }
}

/// For how long threads have waited for the lock, and have had it.
pub(super) fn totals() -> (Duration, Duration) {
    let read = |total: &AtomicU64| Duration::from_nanos(total.load(Ordering::Relaxed));
    (read(&WAITED), read(&RAN))
}

// SAFETY: only Ruby calls it, on the thread that the event is about; one that resumes has the lock.
unsafe extern "C" fn on_event(event: c_uint, _details: *const c_void, _data: *mut c_void) {
    let began = BEGAN.load(Ordering::Acquire);
    if began == 0 || CONTROL.is_present() || !super::IS_ON.load(Ordering::Acquire) {
        return;
    }
    let now = clock();
    let mut last = LAST.get();
    // What the thread did before the profile does not count.
    let passed = now.saturating_sub(last.changed.max(began));
    last.changed = now;
    match event {
        RESUMED => {
            WAITED.fetch_add(passed, Ordering::Relaxed);
            last.owed += passed;
            let interval = INTERVAL.load(Ordering::Relaxed);
            let samples = last.owed / interval;
            last.owed %= interval;
            if samples > 0 {
                let times = Times {
                    gvl: samples,
                    ..Times::default()
                };
                note(&CallStack::capture_ruby(), times);
            }
        }
        SUSPENDED => {
            RAN.fetch_add(passed, Ordering::Relaxed);
        }
        _ => {}
    }
    LAST.set(last);
}
