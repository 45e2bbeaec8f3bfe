//! `Carat::Lab::Sampler`: samples what all threads allocate, and watches which samples are freed.
//!
//! Carat's allocator shows its [`blocks`], and Ruby reports its [`objects`] in [`windows`]. Both happen on any thread, and
//! some while the collector works: nothing here allocates an object of Ruby. Memory that the sampler takes for itself is
//! no sample.

mod blocks;
pub(crate) mod call_tree;
pub(crate) mod interval;
mod live_samples;
mod objects;
pub(crate) mod profile;
pub(crate) mod stack;
mod windows;

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};

use magnus::{Error, Object, RArray, RModule, Ruby, function};

use crate::malloc::Mallctl;
use call_tree::{CallTree, Function, Weight};
use interval::{BLOCKS, OBJECTS};
use live_samples::{LiveSamples, Sample, SampleMemory};
use stack::CallStack;

/// Whether samples are taken. False in a process that this one forks.
static IS_ON: AtomicBool = AtomicBool::new(false);
static SESSION: Mutex<Option<Session>> = Mutex::new(None);
/// The thread that works on the session. What it allocates meanwhile is the session's.
static OWNER: AtomicUsize = AtomicUsize::new(NOBODY);
const NOBODY: usize = 0;
static FORK_HANDLER: Once = Once::new();

/// A profile that is being taken.
struct Session {
    tree: CallTree<Weight>,
    live: LiveSamples,
    samples: u64,
    /// Whether blocks of the allocator are samples, too.
    is_native: bool,
}

/// Something that was allocated.
struct Allocation {
    memory: SampleMemory,
    /// The bytes that it takes.
    bytes: usize,
    /// Objects or blocks: 0 for one that grows.
    objects: f64,
    /// For how many allocations like this one it stands.
    scale: f64,
    /// What was allocated, if it is an object.
    class: Option<Function>,
}

/// Defines the functions on `Carat::Lab::Sampler`.
pub(crate) fn define(sampler: RModule) -> Result<(), Error> {
    sampler.define_singleton_method("start", function!(start, 2))?;
    sampler.define_singleton_method("stop", function!(stop, 0))?;
    sampler.define_singleton_method("look", function!(stack::look, 0))
}

/// Begins to take samples, one in so many bytes, and fewer when those of blocks or of objects take more than so many percent
/// of the time; 100 is no limit. Returns whether memory of C is seen too, or nil when the sampler is on.
fn start(ruby: &Ruby, mean_bytes: u64, cost_limit: u64) -> Result<Option<bool>, Error> {
    if IS_ON.load(Ordering::Relaxed) {
        return Ok(None);
    }
    stack::learn(ruby, Mallctl::find().as_ref())?;
    // The first stack loads a library, which allocates: not within `malloc`.
    let _ = CallStack::capture();
    FORK_HANDLER.call_once(|| {
        // SAFETY: the handler only stores numbers.
        let _ = unsafe { libc::pthread_atfork(None, None, Some(end_in_child)) };
    });
    objects::prepare();
    windows::prepare();
    let is_native = blocks::can_be_seen();
    with_session(|session| *session = Some(Session::new(is_native)));
    interval::seed(RandomState::new().build_hasher().finish());
    BLOCKS.begin(mean_bytes, cost_limit);
    let mean_of_objects = if is_native {
        windows::mean_bytes(mean_bytes)
    } else {
        mean_bytes
    };
    OBJECTS.begin(mean_of_objects, cost_limit);
    IS_ON.store(true, Ordering::Release);
    objects::watch(true);
    if is_native {
        windows::begin();
        blocks::see(true);
    } else {
        windows::open();
    }
    Ok(Some(is_native))
}

/// Ends the profile and returns it; see [`profile::describe`]. Returns nil when the sampler is off.
fn stop(ruby: &Ruby) -> Result<Option<RArray>, Error> {
    if !IS_ON.load(Ordering::Relaxed) {
        return Ok(None);
    }
    // Until the end, only the collector's roots keep what the stacks name.
    let was_enabled = !ruby.gc_disable();
    blocks::see(false);
    windows::end();
    objects::watch(false);
    end();
    let session = with_session(Option::take).flatten();
    let profile = session.map(|session| profile::describe(ruby, &session));
    if was_enabled {
        ruby.gc_enable();
    }
    profile.transpose()
}

impl Session {
    fn new(is_native: bool) -> Session {
        Session {
            tree: CallTree::default(),
            live: LiveSamples::default(),
            samples: 0,
            is_native,
        }
    }

    /// For how many bytes one sample stands now.
    fn sampling_bytes(&self) -> u64 {
        if self.is_native {
            BLOCKS.mean_bytes()
        } else {
            OBJECTS.mean_bytes()
        }
    }

    fn note(&mut self, stack: &CallStack, allocation: &Allocation) {
        let functions = stack.functions().chain(allocation.class);
        let call = self.tree.enter(functions);
        let scale = match allocation.memory {
            SampleMemory::Object(_) if self.is_native => allocation.scale / windows::SHARE,
            _ => allocation.scale,
        };
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
    let began = interval::clock();
    let stack = CallStack::capture();
    change(|session| session.note(&stack, allocation));
    let interval = match allocation.memory {
        SampleMemory::Block(_) => &BLOCKS,
        SampleMemory::Object(_) => &OBJECTS,
    };
    interval.spend(interval::clock().saturating_sub(began));
}

/// Whether this thread is at work on the session.
fn is_own() -> bool {
    let owner = OWNER.load(Ordering::Relaxed);
    owner != NOBODY && owner == this_thread()
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
    OWNER.store(NOBODY, Ordering::Relaxed);
    Some(result)
}

/// In a child process, another thread may have had the session: it stays as it is.
extern "C" fn end_in_child() {
    if IS_ON.load(Ordering::Relaxed) {
        blocks::see(false);
        end();
        windows::abandon();
    }
}

fn end() {
    IS_ON.store(false, Ordering::Release);
    BLOCKS.end();
    OBJECTS.end();
}
