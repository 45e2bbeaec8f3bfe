//! `Carat::Lab::Sampler`: samples what all threads allocate, and watches which samples are freed.
//!
//! jemalloc calls the hooks for its blocks, and Ruby reports its objects. Both run on any thread, and some while the
//! collector works: nothing here allocates an object of Ruby. Memory that the sampler takes for itself is no sample.

mod call_tree;
mod interval;
mod live_samples;
mod objects;
mod profile;
mod stack;

use std::collections::hash_map::RandomState;
use std::ffi::{c_int, c_void};
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, OnceLock, PoisonError};

use magnus::{Error, Object, RArray, RModule, Ruby, function};

use crate::hooks::{BlockSize, Hooks, remove};
use crate::malloc::Mallctl;
use call_tree::{CallTree, Function, Weight};
use live_samples::{LiveSamples, Sample, SampleMemory, may_be_watched};
use stack::CallStack;

/// Whether samples are taken. False in a process that this one forks.
static IS_ON: AtomicBool = AtomicBool::new(false);
static SESSION: Mutex<Option<Session>> = Mutex::new(None);
/// The thread that works on the session. What it allocates meanwhile is the session's.
static OWNER: AtomicUsize = AtomicUsize::new(0);
static FORK_HANDLER: Once = Once::new();
static BLOCK_SIZE: OnceLock<Option<BlockSize>> = OnceLock::new();

/// A profile that is being taken.
struct Session {
    tree: CallTree,
    live: LiveSamples,
    samples: u64,
    /// jemalloc, and the handle of the hooks; without jemalloc, there are none.
    native: Option<(Mallctl, usize)>,
}

/// Something that was allocated.
struct Allocation {
    memory: SampleMemory,
    /// The bytes that were asked for: the chance to be a sample depends on them.
    asked: usize,
    /// The bytes that it takes.
    bytes: usize,
    /// Objects or blocks: 0 for one that grows.
    objects: f64,
    /// What was allocated, if it is an object.
    class: Option<Function>,
}

/// Defines the functions on `Carat::Lab::Sampler`.
pub(crate) fn define(sampler: RModule) -> Result<(), Error> {
    sampler.define_singleton_method("start", function!(start, 1))?;
    sampler.define_singleton_method("stop", function!(stop, 0))?;
    sampler.define_singleton_method("look", function!(stack::look, 0))
}

/// Begins to take samples, one in so many bytes. Returns whether memory of C is seen too, or nil when the sampler is on.
fn start(ruby: &Ruby, mean_bytes: u64) -> Result<Option<bool>, Error> {
    if IS_ON.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let mallctl = Mallctl::find();
    stack::learn(ruby, mallctl.as_ref())?;
    // The first stack loads a library, which allocates: not within a hook.
    let _ = CallStack::capture();
    FORK_HANDLER.call_once(|| {
        // SAFETY: the handler only stores numbers.
        let _ = unsafe { libc::pthread_atfork(None, None, Some(end_in_child)) };
    });
    objects::prepare();
    with_session(|session| *session = Some(Session::new()));
    interval::begin(mean_bytes, RandomState::new().build_hasher().finish());
    IS_ON.store(true, Ordering::Release);
    let native = mallctl.and_then(|mallctl| {
        BLOCK_SIZE.get_or_init(BlockSize::find).as_ref()?;
        let handle = Hooks::new(on_allocation, on_free, Some(on_expansion)).install(&mallctl)?;
        Some((mallctl, handle))
    });
    let is_native = native.is_some();
    change(|session| session.native = native);
    objects::listen();
    Ok(Some(is_native))
}

/// Ends the profile and returns it; see [`profile::describe`]. Returns nil when the sampler is off.
fn stop(ruby: &Ruby) -> Result<Option<RArray>, Error> {
    if !IS_ON.load(Ordering::Relaxed) {
        return Ok(None);
    }
    // Until the end, only the collector's roots keep what the stacks name.
    let was_enabled = !ruby.gc_disable();
    objects::ignore();
    IS_ON.store(false, Ordering::Release);
    interval::end();
    let session = with_session(Option::take).flatten();
    let profile = session.map(|mut session| {
        if let Some((mallctl, handle)) = session.native.take() {
            remove(&mallctl, handle);
        }
        profile::describe(ruby, &session)
    });
    if was_enabled {
        ruby.gc_enable();
    }
    profile.transpose()
}

impl Session {
    fn new() -> Session {
        Session {
            tree: CallTree::default(),
            live: LiveSamples::default(),
            samples: 0,
            native: None,
        }
    }

    fn note(&mut self, stack: &CallStack, allocation: &Allocation) {
        let functions = stack.functions().chain(allocation.class);
        let call = self.tree.enter(functions);
        let scale = interval::scale(allocation.asked);
        let weight = Weight {
            bytes: f64::from(u32::try_from(allocation.bytes).unwrap_or(u32::MAX)) * scale,
            objects: allocation.objects * scale,
        };
        self.tree.add(call, weight);
        self.live.watch(allocation.memory, Sample { call, weight });
        self.samples += 1;
    }
}

/// Notes an allocation that is a sample. The stack is captured first: the unwinder may wait for the loader, and who loads
/// a library may wait for the session.
fn note(allocation: &Allocation) {
    if is_own() {
        return;
    }
    let stack = CallStack::capture();
    change(|session| session.note(&stack, allocation));
}

/// Whether this thread is at work on the session.
fn is_own() -> bool {
    OWNER.load(Ordering::Relaxed) == this_thread()
}

fn this_thread() -> usize {
    // SAFETY: it takes nothing.
    let thread = unsafe { libc::pthread_self() };
    usize::try_from(thread).unwrap_or(usize::MAX)
}

/// Changes the session, if there is one.
fn change(function: impl FnOnce(&mut Session)) {
    with_session(|session| session.as_mut().map(function));
}

/// Returns `None` when this thread is at work on the session already.
fn with_session<T>(function: impl FnOnce(&mut Option<Session>) -> T) -> Option<T> {
    if is_own() {
        return None;
    }
    let mut session = SESSION.lock().unwrap_or_else(PoisonError::into_inner);
    OWNER.store(this_thread(), Ordering::Relaxed);
    let result = function(&mut session);
    OWNER.store(0, Ordering::Relaxed);
    Some(result)
}

/// In a child process, another thread may have had the session: it stays as it is.
extern "C" fn end_in_child() {
    IS_ON.store(false, Ordering::Release);
    interval::end();
}

// SAFETY: only jemalloc calls it, with a block that it has just allocated.
unsafe extern "C" fn on_allocation(
    _extra: *mut c_void,
    kind: c_int,
    block: *mut c_void,
    _raw: usize,
    arguments: *const usize,
) {
    // SAFETY: jemalloc passes at least three arguments.
    let arguments = unsafe { std::slice::from_raw_parts(arguments, 3) };
    let asked = asked_bytes(kind, arguments);
    if block.is_null() || !interval::take(asked) || !IS_ON.load(Ordering::Acquire) {
        return;
    }
    let Some(block_size) = BLOCK_SIZE.get().copied().flatten() else {
        return;
    };
    note(&Allocation {
        memory: SampleMemory::Block(block as usize),
        asked,
        // SAFETY: jemalloc has just allocated the block.
        bytes: unsafe { block_size.of(block) },
        objects: 1.0,
        class: None,
    });
}

// SAFETY: only jemalloc calls it; nothing is read.
unsafe extern "C" fn on_expansion(
    _extra: *mut c_void,
    _kind: c_int,
    block: *mut c_void,
    before: usize,
    after: usize,
    _raw: usize,
    _arguments: *const usize,
) {
    let growth = after.saturating_sub(before);
    if growth == 0 || !interval::take(growth) || !IS_ON.load(Ordering::Acquire) {
        return;
    }
    note(&Allocation {
        memory: SampleMemory::Block(block as usize),
        asked: growth,
        bytes: growth,
        objects: 0.0,
        class: None,
    });
}

// SAFETY: only jemalloc calls it; the block is not read.
unsafe extern "C" fn on_free(
    _extra: *mut c_void,
    _kind: c_int,
    block: *mut c_void,
    _arguments: *const usize,
) {
    let block = block as usize;
    if may_be_watched(block) && IS_ON.load(Ordering::Acquire) {
        change(|session| session.live.free(block));
    }
}

/// The bytes that a function of jemalloc was asked for, by its number in `hook_alloc_e`.
fn asked_bytes(function: c_int, arguments: &[usize]) -> usize {
    match (function, arguments) {
        // posix_memalign(pointer, alignment, size)
        (1, [.., size])
        // aligned_alloc(alignment, size), memalign(alignment, size), realloc(block, size), rallocx(block, size, flags)
        | (2 | 4 | 7 | 8, [_, size, _])
        // malloc(size), valloc(size), mallocx(size, flags)
        | (0 | 5 | 6, [size, ..]) => *size,
        // calloc(count, size)
        (3, [count, size, ..]) => count.saturating_mul(*size),
        _ => 0,
    }
}
