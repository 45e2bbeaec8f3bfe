//! `Carat::Lab::Clocks`: samples where the threads are while a clock runs.
//!
//! There are three clocks: [`cpu`] is the time of processors, [`wall`] is time as it passes for each thread, and [`gvl`] the
//! time in which threads wait for Ruby's lock. The first two interrupt the process by [`signal`]: what may only happen while
//! this thread has the lock is a [`job`], which Ruby runs when it may switch threads. No thread is started.

mod cpu;
mod gvl;
mod job;
mod signal;
mod wall;

use std::ffi::c_void;
use std::mem::zeroed;
use std::ops::AddAssign;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::time::Duration;

use magnus::{Error, Object, RArray, RModule, Ruby, function};
use rb_sys::{
    rb_cObject, rb_data_type_t, rb_data_typed_object_wrap, rb_gc_mark, rb_gc_register_mark_object,
};

use crate::malloc::Mallctl;
use crate::sampler::call_tree::CallTree;
use crate::sampler::profile::{describe_calls, json};
use crate::sampler::stack::{self, CallStack};

/// Whether samples are taken. False in a process that this one forks.
static IS_ON: AtomicBool = AtomicBool::new(false);
/// Locked by threads that have Ruby's lock, never by a handler of a signal, and nothing that Ruby does happens meanwhile.
static SESSION: Mutex<Option<TimeSession>> = Mutex::new(None);
static PREPARED: Once = Once::new();

/// The clocks, as bits of what [`start`] takes.
const CPU: u8 = 1;
const WALL: u8 = 2;
const GVL: u8 = 4;

/// A profile that is being taken.
struct TimeSession {
    tree: CallTree<Times>,
    sum: Times,
    cpu_began: Duration,
}

/// Samples by clock; those of the wall clock are nanoseconds, and counted.
#[derive(Clone, Copy, Default)]
struct Times {
    cpu: u64,
    wall: u64,
    wall_samples: u64,
    gvl: u64,
}

impl AddAssign for Times {
    fn add_assign(&mut self, other: Times) {
        self.cpu += other.cpu;
        self.wall += other.wall;
        self.wall_samples += other.wall_samples;
        self.gvl += other.gvl;
    }
}

/// Defines the functions on `Carat::Lab::Clocks`.
pub(crate) fn define(clocks: RModule) -> Result<(), Error> {
    clocks.define_singleton_method("start", function!(start, 2))?;
    clocks.define_singleton_method("stop", function!(stop, 0))?;
    clocks.define_singleton_method("obstacle", function!(obstacle, 1))
}

/// Why these clocks cannot be read here, or nil.
fn obstacle(clocks: u8) -> Option<&'static str> {
    let needed = [
        (CPU, cpu::obstacle as fn() -> Option<&'static str>),
        (WALL, wall::obstacle),
        (GVL, gvl::obstacle),
    ];
    let mut needed = needed.iter().filter(|(clock, _)| clocks & clock != 0);
    needed.find_map(|(_, obstacle)| obstacle())
}

/// Begins to take samples of these clocks, one in so many microseconds. The thread that calls this is the one that waits for
/// orders of the server: it has no samples of its own in two of the clocks. Raises, or returns false when it is on already.
fn start(ruby: &Ruby, clocks: u8, interval_micros: u64) -> Result<bool, Error> {
    if IS_ON.load(Ordering::Relaxed) {
        return Ok(false);
    }
    stack::learn(ruby, Mallctl::find().as_ref())?;
    // The first stack loads a library, which allocates: not within a handler.
    let _ = CallStack::capture();
    job::prepare();
    PREPARED.call_once(prepare);
    let interval = Duration::from_micros(interval_micros);
    change(|session| {
        *session = Some(TimeSession {
            tree: CallTree::default(),
            sum: Times::default(),
            cpu_began: cpu::spent(),
        });
    });
    cpu::begin();
    wall::begin(clocks & WALL != 0);
    IS_ON.store(true, Ordering::Release);
    // The job that a thread runs that computes has to follow a signal of its own: that of the CPU's time.
    let started = signal::begin(clocks & (CPU | WALL) != 0, clocks & WALL != 0, interval);
    if let Err(error) = started {
        IS_ON.store(false, Ordering::Release);
        let text = format!("signals cannot be had: {error}");
        return Err(Error::new(ruby.exception_runtime_error(), text));
    }
    if clocks & GVL != 0 {
        gvl::begin(interval);
    }
    Ok(true)
}

/// Ends the profile and returns an Array: that of [`describe_calls`], the microseconds of each call on each clock as JSON, the
/// samples on each clock, samples of the first that were lost, the nanoseconds of processors, and for how long threads waited
/// for Ruby's lock and had it, and whether a limit was reached. Returns nil when it is off.
fn stop(ruby: &Ruby) -> Result<Option<RArray>, Error> {
    if !IS_ON.load(Ordering::Relaxed) {
        return Ok(None);
    }
    signal::end();
    gvl::end();
    // Until the end, only the collector's roots keep what the stacks name.
    let was_enabled = !ruby.gc_disable();
    wall::tick();
    run_job();
    IS_ON.store(false, Ordering::Release);
    let session = change(Option::take);
    let profile = session.map(|session| describe(ruby, &session));
    if was_enabled {
        ruby.gc_enable();
    }
    profile.transpose()
}

fn describe(ruby: &Ruby, session: &TimeSession) -> Result<RArray, Error> {
    let spent = cpu::spent().saturating_sub(session.cpu_began);
    let (waited, ran) = gvl::totals();
    let calls = &session.tree.calls;
    let profile = describe_calls(ruby, &session.tree)?;
    let scale = |total: Duration, samples: u64| {
        move |own: u64| u128::from(own) * total.as_micros() / u128::from(samples.max(1))
    };
    let cpu_micros = scale(spent, session.sum.cpu);
    let gvl_micros = scale(waited, session.sum.gvl);
    profile.push(json(calls.iter().map(|call| cpu_micros(call.weight.cpu))))?;
    profile.push(json(calls.iter().map(|call| call.weight.wall / 1000)))?;
    profile.push(json(calls.iter().map(|call| gvl_micros(call.weight.gvl))))?;
    let sum = session.sum;
    for samples in [sum.cpu, sum.wall_samples, sum.gvl, cpu::lost()] {
        profile.push(samples)?;
    }
    for time in [spent, waited, ran] {
        profile.push(time.as_secs_f64())?;
    }
    profile.push(session.tree.is_truncated)?;
    Ok(profile)
}

/// Notes a sample. The thread has Ruby's lock.
fn note(stack: &CallStack, times: Times) {
    change(|session| {
        if let Some(session) = session {
            let call = session.tree.enter(stack.functions());
            session.tree.add(call, times);
            session.sum += times;
        }
    });
}

/// What Ruby runs after a signal, on a thread that has its lock.
fn run_job() {
    if IS_ON.load(Ordering::Acquire) {
        cpu::note_captured();
        wall::sample();
    }
}

/// What is done once.
fn prepare() {
    // SAFETY: the handler only stores numbers. The object and the type are kept for good, Ruby marks only what has data, and
    // a type of zeros has no functions and no parent.
    unsafe {
        let _ = libc::pthread_atfork(None, None, Some(end_in_child));
        let mut roots: rb_data_type_t = zeroed();
        roots.wrap_struct_name = c"Carat::Lab::Clocks".as_ptr();
        roots.function.dmark = Some(mark);
        let data = (&raw const SESSION).cast_mut().cast();
        let roots = Box::leak(Box::new(roots));
        rb_gc_register_mark_object(rb_data_typed_object_wrap(rb_cObject, data, roots));
    }
}

/// Marks what the stacks name.
// SAFETY: only the collector calls it.
unsafe extern "C" fn mark(_data: *mut c_void) {
    if IS_ON.load(Ordering::Acquire) {
        change(|session| {
            if let Some(session) = session {
                session.tree.mark();
            }
        });
        cpu::each_captured(|stack| {
            for frame in stack.frames() {
                // SAFETY: the collector marks, and the frame was captured since it ran last, or has been marked ever since.
                unsafe { rb_gc_mark(*frame) };
            }
        });
    }
}

fn change<T>(function: impl FnOnce(&mut Option<TimeSession>) -> T) -> T {
    function(&mut SESSION.lock().unwrap_or_else(PoisonError::into_inner))
}

/// A child process inherits no timer.
extern "C" fn end_in_child() {
    IS_ON.store(false, Ordering::Release);
}
