//! `Carat::Lab::Allocations`: the objects and the memory that one thread allocates, by the line of Ruby.
//!
//! Each object and each block counts, whether or not it is freed. Objects come from Ruby's events, blocks of malloc from
//! jemalloc's hooks. What the collector allocates for itself does not count.

use std::collections::HashMap;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use magnus::rb_sys::{AsRawValue, FromRawValue};
use magnus::{
    Class, DataTypeFunctions, Error, Module, Object, RArray, RModule, Ruby, TypedData, Value,
    function, gc,
};
use rb_sys::{
    RBasic, RUBY_INTERNAL_EVENT_GC_ENTER as ENTER, RUBY_INTERNAL_EVENT_GC_EXIT as EXIT,
    RUBY_INTERNAL_EVENT_NEWOBJ as NEWOBJ, VALUE, rb_class_real, rb_gc_register_mark_object,
    rb_tracearg_event_flag, rb_tracearg_from_tracepoint, rb_tracearg_object, rb_tracepoint_disable,
    rb_tracepoint_enable, rb_tracepoint_new, ruby_value_type,
};

use crate::call_site::{CallSite, CallSites, Running};
use crate::heap::{SlotSize, is, kind};
use crate::malloc::Mallctl;
use crate::malloc::hooks::{BlockSize, Hooks, remove};
use crate::watched_thread::WatchedThread;

static RECORD: OnceLock<AllocationRecord> = OnceLock::new();
/// Whether the collector works.
static COLLECTS: AtomicBool = AtomicBool::new(false);

struct AllocationRecord {
    tracepoint: VALUE,
    slot_size: SlotSize,
    block_size: Option<BlockSize>,
    thread: WatchedThread,
    sums: Mutex<Sums>,
}

#[derive(Default)]
struct Sums {
    /// Of jemalloc's hooks.
    handle: Option<usize>,
    sites: CallSites,
    /// By line and class; the class is 0 for objects of Ruby's own.
    objects: HashMap<(CallSite, VALUE), Sum>,
    blocks: HashMap<CallSite, Sum>,
    /// Objects of other threads.
    elsewhere: Sum,
}

#[derive(Clone, Copy, Default)]
struct Sum {
    count: u64,
    bytes: u64,
}

/// Keeps paths and classes alive whose addresses the sums have.
#[derive(TypedData)]
#[magnus(class = "Carat::Lab::Allocations::Marks", mark)]
struct Marks;

impl DataTypeFunctions for Marks {
    fn mark(&self, marker: &gc::Marker) {
        let Some(record) = RECORD.get() else {
            return;
        };
        let sums = record.sums();
        let classes = sums.objects.keys().map(|(_, class)| *class);
        for value in sums.sites.paths().chain(classes).filter(|raw| *raw != 0) {
            // SAFETY: it is an object, which has been marked since it was noted.
            marker.mark(unsafe { Value::from_raw(value) });
        }
    }
}

/// Defines the functions on `Carat::Lab::Allocations`.
pub(crate) fn define(ruby: &Ruby, allocations: RModule) -> Result<(), Error> {
    let marks = allocations.define_class("Marks", ruby.class_object())?;
    marks.undef_default_alloc_func();
    allocations.define_singleton_method("start", function!(start, 0))?;
    allocations.define_singleton_method("stop", function!(stop, 0))
}

/// Begins to record the thread that calls this. Returns whether blocks of malloc count: only jemalloc has hooks.
fn start(ruby: &Ruby) -> bool {
    let record = RECORD.get_or_init(|| AllocationRecord::new(ruby));
    record.thread.enter();
    *record.sums() = Sums::default();
    COLLECTS.store(false, Ordering::Relaxed);
    // SAFETY: it is a tracepoint.
    unsafe { rb_tracepoint_enable(record.tracepoint) };
    let handle = record.block_size.and(Mallctl::find()).and_then(|mallctl| {
        Hooks::new(on_allocation, on_free, Some(on_expansion)).install(&mallctl)
    });
    record.sums().handle = handle;
    handle.is_some()
}

/// Ends the record. Returns an Array for each line and class: the path of the file and the line, or nil and 0; the
/// class, or nil for objects of Ruby's own; objects, bytes of slots, blocks, and bytes of malloc. Blocks have rows of their
/// own, whose class is false. The last row, whose path is false, has the objects of other threads.
fn stop(ruby: &Ruby) -> Result<RArray, Error> {
    let rows = ruby.ary_new();
    let Some(record) = RECORD.get() else {
        return Ok(rows);
    };
    if let (Some(handle), Some(mallctl)) = (record.sums().handle.take(), Mallctl::find()) {
        remove(&mallctl, handle);
    }
    // SAFETY: it is a tracepoint.
    unsafe { rb_tracepoint_disable(record.tracepoint) };
    // Nothing is recorded any more; the sums stay, so that the marks do. Rows are made without the lock.
    let (objects, blocks, elsewhere) = record.copy();
    for ((site, class), sum) in objects {
        let class = (class != 0).then(|| {
            // SAFETY: it is a class, and marked.
            unsafe { Value::from_raw(class) }
        });
        rows.push((path(site), site.line, class, sum.count, sum.bytes, 0, 0))?;
    }
    for (site, sum) in blocks {
        rows.push((path(site), site.line, false, 0, 0, sum.count, sum.bytes))?;
    }
    rows.push((false, 0, false, elsewhere.count, elsewhere.bytes, 0, 0))?;
    Ok(rows)
}

/// The path of a line's file as a String.
fn path(site: CallSite) -> Option<Value> {
    (site.path != 0).then(|| {
        // SAFETY: it is a String, and marked.
        unsafe { Value::from_raw(site.path) }
    })
}

// SAFETY: only Ruby calls it, with a tracepoint and during an event.
unsafe extern "C" fn on_event(tracepoint: VALUE, _data: *mut c_void) {
    let Some(record) = RECORD.get() else {
        return;
    };
    // SAFETY: Ruby calls this with a tracepoint, during an event.
    let event = unsafe { rb_tracearg_from_tracepoint(tracepoint) };
    // SAFETY: the event has not ended.
    match unsafe { rb_tracearg_event_flag(event) } {
        ENTER => COLLECTS.store(true, Ordering::Relaxed),
        EXIT => COLLECTS.store(false, Ordering::Relaxed),
        // SAFETY: the event names an object.
        _ => record.born(unsafe { rb_tracearg_object(event) }),
    }
}

// SAFETY: only jemalloc calls it, with a block that it has just allocated.
unsafe extern "C" fn on_allocation(
    _extra: *mut c_void,
    _kind: c_int,
    block: *mut c_void,
    _raw: usize,
    _arguments: *const usize,
) {
    let Some(record) = RECORD.get().filter(|_| !block.is_null()) else {
        return;
    };
    if let Some(size) = record.block_size {
        // SAFETY: jemalloc has just allocated the block.
        record.allocated(unsafe { size.of(block) });
    }
}

// SAFETY: only jemalloc calls it; nothing is read.
unsafe extern "C" fn on_free(
    _extra: *mut c_void,
    _kind: c_int,
    _block: *mut c_void,
    _arguments: *const usize,
) {
}

// SAFETY: only jemalloc calls it; the block is not read.
unsafe extern "C" fn on_expansion(
    _extra: *mut c_void,
    _kind: c_int,
    _block: *mut c_void,
    old_bytes: usize,
    bytes: usize,
    _raw: usize,
    _arguments: *const usize,
) {
    if let Some(record) = RECORD.get().filter(|_| bytes > old_bytes) {
        record.allocated(bytes - old_bytes);
    }
}

impl AllocationRecord {
    fn new(ruby: &Ruby) -> AllocationRecord {
        let events = NEWOBJ | ENTER | EXIT;
        // SAFETY: Ruby calls the function with the tracepoint, and the objects are kept for good.
        let tracepoint = unsafe {
            let tracepoint = rb_tracepoint_new(0, events, Some(on_event), std::ptr::null_mut());
            rb_gc_register_mark_object(tracepoint);
            rb_gc_register_mark_object(ruby.obj_wrap(Marks).as_raw());
            tracepoint
        };
        AllocationRecord {
            tracepoint,
            slot_size: SlotSize::find(),
            block_size: BlockSize::find(),
            thread: WatchedThread::default(),
            sums: Mutex::default(),
        }
    }

    fn sums(&self) -> MutexGuard<'_, Sums> {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[expect(clippy::type_complexity, reason = "a copy of the tables")]
    fn copy(&self) -> (Vec<((CallSite, VALUE), Sum)>, Vec<(CallSite, Sum)>, Sum) {
        let sums = self.sums();
        (
            sums.objects.iter().map(|(key, sum)| (*key, *sum)).collect(),
            sums.blocks.iter().map(|(key, sum)| (*key, *sum)).collect(),
            sums.elsewhere,
        )
    }

    fn born(&self, object: VALUE) {
        // SAFETY: Ruby has just made the object.
        let bytes = unsafe { self.slot_size.of(object) };
        let mut sums = self.sums();
        if !self.thread.is_present() {
            return sums.elsewhere.add(bytes);
        }
        let site = sums.site();
        sums.objects
            .entry((site, class_of(object)))
            .or_default()
            .add(bytes);
    }

    /// While the sums are locked, it is they that allocate.
    fn allocated(&self, bytes: usize) {
        if !self.thread.is_present() || COLLECTS.load(Ordering::Relaxed) {
            return;
        }
        if let Ok(mut sums) = self.sums.try_lock() {
            let site = sums.site();
            sums.blocks.entry(site).or_default().add(bytes);
        }
    }
}

impl Sums {
    fn site(&mut self) -> CallSite {
        match self.sites.current() {
            Running::Program(site) => site,
            Running::Lab => CallSite::default(),
        }
    }
}

impl Sum {
    fn add(&mut self, bytes: usize) {
        self.count += 1;
        self.bytes += bytes as u64;
    }
}

/// The class of an object that has just been made; 0 for those of Ruby's own, whose class may be anything.
fn class_of(object: VALUE) -> VALUE {
    let kind = kind(object);
    let own = [
        ruby_value_type::RUBY_T_IMEMO,
        ruby_value_type::RUBY_T_NODE,
        ruby_value_type::RUBY_T_ICLASS,
    ];
    if own.into_iter().any(|each| is(kind, each)) {
        return 0;
    }
    // SAFETY: the object has a class, or 0 if it is hidden.
    unsafe {
        let class = (*(object as *const RBasic)).klass;
        if class == 0 { 0 } else { rb_class_real(class) }
    }
}
