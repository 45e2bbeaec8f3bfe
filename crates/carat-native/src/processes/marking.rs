//! A call of Ruby code soon after the garbage collector has marked.
//!
//! Ruby code must not be called while the collector runs. An event of Ruby's therefore requests a job, which the thread
//! does at its next safe point, a few instructions later.

use magnus::{Error, Module, RModule, Ruby};

/// The variable of `Carat::Native` that holds the observer.
pub(crate) const OBSERVER: &str = "@marking_observer";

/// The module `Carat::Native`.
pub(crate) fn native(ruby: &Ruby) -> Result<RModule, Error> {
    let carat: RModule = ruby.class_object().const_get("Carat")?;
    carat.const_get("Native")
}

#[cfg(not(ruby_gte_3_4))]
mod events {
    use magnus::{Error, Ruby};

    #[expect(clippy::unnecessary_wraps, reason = "as for other versions of Ruby")]
    pub(crate) fn watch(_: &Ruby) -> Result<bool, Error> {
        Ok(false)
    }

    pub(crate) fn watch_closely(_: bool) {}
}

#[cfg(ruby_gte_3_4)]
mod events {
    use std::ffi::{c_uint, c_void};
    use std::ptr;
    use std::sync::OnceLock;
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};

    use magnus::rb_sys::{AsRawValue, protect};
    use magnus::value::ReprValue;
    use magnus::{Error, Object, Ruby, Value};
    use rb_sys::{
        RUBY_INTERNAL_EVENT_GC_END_MARK, VALUE, rb_gc_latest_gc_info, rb_gc_register_mark_object,
        rb_postponed_job_handle_t, rb_postponed_job_preregister, rb_postponed_job_trigger,
        rb_tracepoint_enable, rb_tracepoint_new,
    };

    use super::OBSERVER;

    /// The number of the job in Ruby's table, once it is registered.
    static JOB: OnceLock<rb_postponed_job_handle_t> = OnceLock::new();
    /// Whether the observer wants to see each marking.
    static IS_CLOSE: AtomicBool = AtomicBool::new(false);
    /// The number of full collections when the job last ran, or when the observer was set.
    static FULL: AtomicUsize = AtomicUsize::new(0);
    /// The number that Ruby returns when its job table is full.
    const NO_JOB: c_uint = c_uint::MAX;

    /// Begins to watch; a second call does nothing.
    pub(crate) fn watch(ruby: &Ruby) -> Result<bool, Error> {
        FULL.store(full_collections(ruby)?, Relaxed);
        if JOB.get().is_some() {
            return Ok(true);
        }
        // SAFETY: `&Ruby` proves the GVL, and `run` is a function that lives as long as the process.
        let job = unsafe { rb_postponed_job_preregister(0, Some(run), ptr::null_mut()) };
        if job == NO_JOB {
            return Ok(false);
        }
        JOB.get_or_init(|| job);
        protect(enable)?;
        Ok(true)
    }

    pub(crate) fn watch_closely(is_wanted: bool) {
        IS_CLOSE.store(is_wanted, Relaxed);
    }

    fn enable() -> VALUE {
        // SAFETY: called under `protect`, with the GVL. Ruby is told to keep the new object.
        unsafe {
            let event = RUBY_INTERNAL_EVENT_GC_END_MARK;
            let point = rb_tracepoint_new(0, event, Some(ask), ptr::null_mut());
            rb_gc_register_mark_object(point);
            rb_tracepoint_enable(point)
        }
    }

    /// Handles an event while the collector runs.
    extern "C" fn ask(_: VALUE, _: *mut c_void) {
        if let Some(job) = JOB.get() {
            // SAFETY: it sets bits, and is meant for signal handlers.
            unsafe { rb_postponed_job_trigger(*job) };
        }
    }

    /// Does the job, at a safe point of some thread.
    extern "C" fn run(_: *mut c_void) {
        // SAFETY: Ruby runs jobs in its own threads, with the GVL.
        let ruby = unsafe { Ruby::get_unchecked() };
        // The observer does not raise. Nobody could rescue it here.
        let _ = tell(&ruby);
    }

    /// Under `GC.stress`, each object that the observer makes runs the collector, which asks for the job again: the thread
    /// would never get back to the application. If Ruby has begun to mark again, in steps, the end of that asks again:
    /// the observer would end the steps.
    fn tell(ruby: &Ruby) -> Result<(), Error> {
        if ruby.module_gc().funcall("stress", ())? || is_marking(ruby)? {
            return Ok(());
        }
        let full = full_collections(ruby)?;
        let is_new = FULL.swap(full, Relaxed) != full;
        if is_new || IS_CLOSE.load(Relaxed) || is_full_one_due(ruby)? {
            let observer: Value = super::native(ruby)?.ivar_get(OBSERVER)?;
            if !observer.is_nil() {
                observer.funcall::<_, _, Value>("marked", ())?;
            }
        }
        Ok(())
    }

    fn full_collections(ruby: &Ruby) -> Result<usize, Error> {
        ruby.gc_stat(ruby.to_symbol("major_gc_count"))
    }

    fn is_marking(ruby: &Ruby) -> Result<bool, Error> {
        Ok(latest(ruby, "state")? == ruby.to_symbol("marking").as_raw())
    }

    fn is_full_one_due(ruby: &Ruby) -> Result<bool, Error> {
        Ok(latest(ruby, "need_major_by")? != rb_sys::Qnil.into())
    }

    /// A value of `GC.latest_gc_info`.
    fn latest(ruby: &Ruby, name: &str) -> Result<VALUE, Error> {
        let key = ruby.to_symbol(name).as_raw();
        // SAFETY: called under `protect`, with the GVL.
        protect(|| unsafe { rb_gc_latest_gc_info(key) })
    }
}

pub(crate) use events::{watch, watch_closely};
