//! The ledger of this process, fed by Ruby's heap events.
//!
//! Heap events arrive while the collector runs, so nothing here may allocate a Ruby object while the ledger is locked.
//! Ruby holds the GVL during each event and each method.

use std::ffi::{c_int, c_void};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use magnus::rb_sys::FromRawValue;
use magnus::{Error, Object as _, RArray, RModule, Ruby, Value, function};
use rb_sys::{
    RUBY_INTERNAL_EVENT_FREEOBJ, RUBY_INTERNAL_EVENT_GC_END_MARK, RUBY_INTERNAL_EVENT_GC_ENTER,
    RUBY_INTERNAL_EVENT_GC_EXIT, RUBY_INTERNAL_EVENT_GC_START, RUBY_INTERNAL_EVENT_NEWOBJ, VALUE,
    rb_gc_register_mark_object, rb_tracearg_event_flag, rb_tracearg_from_tracepoint,
    rb_tracearg_object, rb_tracepoint_disable, rb_tracepoint_enable, rb_tracepoint_new,
    ruby_value_type,
};

use crate::call_site::CallSite;
use crate::heap::{SlotSize, each_object, is, kind};
use crate::ledger::line_accounts::LineAccounts;
use crate::ledger::memory_ledger::{MemoryLedger, Object};
use crate::ledger::slots::EARLIER;
use crate::malloc::Counters;
use crate::watched_thread::WatchedThread;

// SAFETY: the signature is that of `gc.c` in Ruby 3.1 to 3.4; the object must be in use.
unsafe extern "C" {
    // Ruby exports it for its own extension `objspace`.
    fn rb_objspace_internal_object_p(object: VALUE) -> c_int;
}

/// The events of a collection.
const COLLECTOR_EVENTS: u32 = RUBY_INTERNAL_EVENT_GC_ENTER
    | RUBY_INTERNAL_EVENT_GC_EXIT
    | RUBY_INTERNAL_EVENT_GC_START
    | RUBY_INTERNAL_EVENT_GC_END_MARK;

/// The events that name an object.
const HEAP_EVENTS: u32 = RUBY_INTERNAL_EVENT_NEWOBJ | RUBY_INTERNAL_EVENT_FREEOBJ;

static RECORDER: OnceLock<Recorder> = OnceLock::new();

/// What hears of the collector's work. It must not allocate objects.
pub(crate) trait CollectorListener: Send + Sync {
    /// A collection begins to mark.
    fn on_start(&self);
    /// A collection has marked.
    fn on_end_mark(&self);
    /// The object is the first in its page.
    fn on_page(&self, object: VALUE);
}

/// What listens to this process.
pub(crate) struct Recorder {
    slot_size: SlotSize,
    listener: Box<dyn CollectorListener>,
    tracepoint: VALUE,
    /// The thread that has called `start`.
    thread: WatchedThread,
    /// The thread that works on the books. What it allocates meanwhile is the ledger's.
    owner: WatchedThread,
    books: Mutex<Books>,
}

/// The ledger, and what it takes for itself.
struct Books {
    counters: Option<Counters>,
    own: i64,
    ledger: MemoryLedger,
    lines: Option<LineAccounts>,
}

impl Books {
    fn open(counters: Option<Counters>) -> Books {
        Books {
            counters,
            own: 0,
            ledger: MemoryLedger::new(),
            lines: None,
        }
    }

    fn counter(&self) -> i64 {
        self.counters.as_ref().map_or(0, Counters::net)
    }

    /// The account of a new object of the present thread.
    fn payer_of_object(&mut self, is_watched: bool) -> u32 {
        match &mut self.lines {
            None => self.ledger.payer(),
            Some(lines) if is_watched => lines.running(&mut self.ledger),
            Some(lines) => lines.running_elsewhere(&mut self.ledger),
        }
    }

    /// The account of a new block of the present thread.
    fn payer_of_block(&mut self, is_watched: bool) -> u32 {
        match &mut self.lines {
            None if is_watched => self.ledger.payer(),
            None => EARLIER,
            Some(_) if self.ledger.collects() => self.ledger.payer(),
            Some(lines) if is_watched => lines.running(&mut self.ledger),
            Some(lines) => lines.last(),
        }
    }
}

/// Defines the functions on `Carat::Lab::Ledger`.
pub(crate) fn define(ledger: RModule) -> Result<(), Error> {
    ledger.define_singleton_method("open", function!(open, 0))?;
    ledger.define_singleton_method("close", function!(close, 1))?;
    ledger.define_singleton_method("allocated_bytes", function!(allocated_bytes, 0))?;
    ledger.define_singleton_method("own_bytes", function!(own_bytes, 0))?;
    ledger.define_singleton_method("objects", function!(objects, 2))
}

/// Opens an account, and returns its number.
fn open(_ruby: &Ruby) -> u32 {
    let recorder = RECORDER.get();
    recorder.map_or(0, |each| {
        each.work(|books| books.ledger.open()).unwrap_or(0)
    })
}

/// Returns to the account in which this one was opened.
fn close(_ruby: &Ruby, number: u32) {
    if let Some(recorder) = RECORDER.get() {
        recorder.change(|ledger| ledger.close(number));
    }
}

/// The bytes that the thread that calls this has ever allocated; 0 when this process's allocator does not count. It needs
/// no ledger.
fn allocated_bytes(_ruby: &Ruby) -> u64 {
    Counters::find().map_or(0, |counters| counters.allocated())
}

/// The bytes of malloc that the ledger takes for itself. Ask for them before the accounts: copies of these count.
fn own_bytes(_ruby: &Ruby) -> i64 {
    let recorder = RECORDER.get();
    recorder.map_or(0, |each| each.work(|books| books.own).unwrap_or(0))
}

/// Returns up to `limit` live objects of the account; objects of Ruby's own are left out.
fn objects(ruby: &Ruby, number: u32, limit: usize) -> Result<RArray, Error> {
    let enabled = !ruby.gc_disable();
    let result = ruby.ary_new();
    for object in collect(number, limit) {
        // SAFETY: the object lives: the collector is off.
        result.push(unsafe { Value::from_raw(object) })?;
    }
    if enabled {
        ruby.gc_enable();
    }
    Ok(result)
}

fn collect(number: u32, limit: usize) -> Vec<VALUE> {
    let mut found = Vec::new();
    let Some(recorder) = RECORDER.get() else {
        return found;
    };
    // The walk may collect first, so the ledger is not locked meanwhile.
    each_object(|object, _bytes| {
        // SAFETY: the object is in use.
        let hidden = || unsafe { rb_objspace_internal_object_p(object) } != 0;
        if found.len() < limit && recorder.account_of(object) == number && !hidden() {
            found.push(object);
        }
    });
    found
}

// SAFETY: only Ruby calls it, with a tracepoint and during an event.
unsafe extern "C" fn on_event(tracepoint: VALUE, _data: *mut c_void) {
    let Some(recorder) = RECORDER.get() else {
        return;
    };
    // SAFETY: Ruby calls this with a tracepoint, during an event.
    let (event, object) = unsafe {
        let event = rb_tracearg_from_tracepoint(tracepoint);
        let flag = rb_tracearg_event_flag(event);
        (
            flag,
            (flag & HEAP_EVENTS != 0).then(|| rb_tracearg_object(event)),
        )
    };
    recorder.on_event(event, object);
}

/// Begins to record, with empty accounts. Files are loaded by the thread that calls this, which must live as long as
/// the recording. Returns whether this process's allocator counts bytes.
pub(crate) fn begin(listener: impl CollectorListener + 'static) -> bool {
    let recorder = RECORDER.get_or_init(|| Recorder::new(Box::new(listener)));
    recorder.thread.enter();
    let counters = Counters::find();
    let counts = counters.is_some();
    drop(recorder.open(counters));
    // SAFETY: it is a tracepoint.
    unsafe { rb_tracepoint_enable(recorder.tracepoint) };
    counts
}

/// Ends the recording.
pub(crate) fn end() {
    if let Some(recorder) = RECORDER.get() {
        // SAFETY: it is a tracepoint.
        unsafe { rb_tracepoint_disable(recorder.tracepoint) };
    }
}

/// The recorder that [`begin`] has made.
pub(crate) fn recorder() -> Option<&'static Recorder> {
    RECORDER.get()
}

impl Recorder {
    fn new(listener: Box<dyn CollectorListener>) -> Recorder {
        let events = HEAP_EVENTS | COLLECTOR_EVENTS;
        // SAFETY: Ruby calls the function with the tracepoint, and the object is kept for good.
        let tracepoint = unsafe {
            let tracepoint = rb_tracepoint_new(0, events, Some(on_event), std::ptr::null_mut());
            rb_gc_register_mark_object(tracepoint);
            tracepoint
        };
        Recorder {
            slot_size: SlotSize::find(),
            listener,
            tracepoint,
            thread: WatchedThread::default(),
            owner: WatchedThread::default(),
            books: Mutex::new(Books::open(None)),
        }
    }

    /// Changes the ledger.
    pub(crate) fn change(&self, function: impl FnOnce(&mut MemoryLedger)) {
        let _ = self.work(|books| function(&mut books.ledger));
    }

    /// Calls the function with the account of a block that this thread has just allocated. Does nothing while this
    /// thread works on the ledger.
    pub(crate) fn book_block(&self, function: impl FnOnce(u32)) {
        let is_watched = self.thread.is_present();
        let _ = self.work(|books| function(books.payer_of_block(is_watched)));
    }

    /// The account of what this thread allocates; `None` while it works on the ledger.
    pub(crate) fn payer(&self) -> Option<u32> {
        let is_watched = self.thread.is_present();
        self.work(|books| books.payer_of_block(is_watched))
    }

    /// Books lines from now on.
    pub(crate) fn trace_lines(&self, lines: LineAccounts) {
        let _ = self.work(|books| books.lines = Some(lines));
    }

    /// The accounts of lines.
    pub(crate) fn lines(&self) -> Vec<(CallSite, u32)> {
        let rows = self.work(|books| books.lines.as_ref().map(LineAccounts::rows));
        rows.flatten().unwrap_or_default()
    }

    /// The paths that the accounts of lines name.
    pub(crate) fn paths(&self) -> Vec<VALUE> {
        let paths = self.work(|books| books.lines.as_ref().map(LineAccounts::paths));
        paths.flatten().unwrap_or_default()
    }

    /// Empties all accounts.
    pub(crate) fn clear(&self) {
        drop(self.open(None));
    }

    /// The account of a live object.
    pub(crate) fn account_of(&self, object: VALUE) -> u32 {
        let account = self.work(|books| books.ledger.account_of(object));
        account.unwrap_or(EARLIER)
    }

    /// Returns the old books, to be freed without the lock.
    fn open(&self, counters: Option<Counters>) -> Books {
        let new = Books::open(counters);
        std::mem::replace(&mut *self.lock(), new)
    }

    fn lock(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Works on the books; returns `None` when this thread does so already.
    fn work<T>(&self, function: impl FnOnce(&mut Books) -> T) -> Option<T> {
        if self.owner.is_present() {
            return None;
        }
        let mut books = self.lock();
        self.owner.enter();
        let before = books.counter();
        let result = function(&mut books);
        if self.thread.is_present() {
            books.own += books.counter() - before;
        }
        self.owner.leave();
        Some(result)
    }

    fn on_event(&self, event: u32, object: Option<VALUE>) {
        match event {
            RUBY_INTERNAL_EVENT_GC_START => self.listener.on_start(),
            RUBY_INTERNAL_EVENT_GC_END_MARK => self.listener.on_end_mark(),
            _ => self.book(event, object),
        }
    }

    fn book(&self, event: u32, object: Option<VALUE>) {
        let object = object.map(|value| self.describe(value));
        let is_watched = self.thread.is_present();
        let _ = self.work(|books| match object {
            Some(object) if event == RUBY_INTERNAL_EVENT_NEWOBJ => {
                let account = books.payer_of_object(is_watched);
                if books.ledger.born(object, account) {
                    self.listener.on_page(object.address);
                }
            }
            Some(object) => books.ledger.dies(object),
            None => books.ledger.collect(event == RUBY_INTERNAL_EVENT_GC_ENTER),
        });
    }

    fn describe(&self, value: VALUE) -> Object {
        // SAFETY: Ruby names an object whose slot is in use.
        let bytes = unsafe { self.slot_size.of(value) };
        Object {
            address: value,
            bytes: i64::try_from(bytes).unwrap_or(0),
            string: is(kind(value), ruby_value_type::RUBY_T_STRING),
        }
    }
}
