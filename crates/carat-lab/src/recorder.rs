//! `Carat::Lab::Ledger`: the ledger of this process, fed by Ruby's heap events.
//!
//! Heap events arrive while the collector runs, so nothing here may allocate a Ruby object while the ledger is locked.
//! Ruby holds the GVL during each event and each method.

use std::ffi::{c_int, c_void};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use magnus::rb_sys::FromRawValue;
use magnus::{Error, Object as _, RArray, RModule, Ruby, Value, function};
use rb_sys::{
    RUBY_INTERNAL_EVENT_FREEOBJ, RUBY_INTERNAL_EVENT_GC_ENTER, RUBY_INTERNAL_EVENT_GC_EXIT,
    RUBY_INTERNAL_EVENT_NEWOBJ, VALUE, rb_gc_register_mark_object, rb_tracearg_event_flag,
    rb_tracearg_from_tracepoint, rb_tracearg_object, rb_tracepoint_disable, rb_tracepoint_enable,
    rb_tracepoint_new, ruby_value_type,
};

use crate::heap::{SlotSize, each_object, is, kind};
use crate::malloc::Counters;
use crate::memory_ledger::{Account, MemoryLedger, Object};

// SAFETY: the signature is that of `gc.c` in Ruby 3.1 to 3.4; the object must be in use.
unsafe extern "C" {
    // Ruby exports it for its own extension `objspace`.
    fn rb_objspace_internal_object_p(object: VALUE) -> c_int;
}

/// The events that name an object.
const HEAP_EVENTS: u32 = RUBY_INTERNAL_EVENT_NEWOBJ | RUBY_INTERNAL_EVENT_FREEOBJ;

static RECORDER: OnceLock<Recorder> = OnceLock::new();

/// What listens to this process.
pub(crate) struct Recorder {
    slot_size: SlotSize,
    tracepoint: VALUE,
    books: Mutex<Books>,
}

/// The ledger, and where the bytes of malloc come from: without counters, only slots are booked.
struct Books {
    counters: Option<Counters>,
    ledger: MemoryLedger,
}

impl Books {
    fn open(counters: Option<Counters>) -> Books {
        let ledger = MemoryLedger::new(counters.as_ref().map_or(0, Counters::net));
        Books { counters, ledger }
    }

    fn counter(&self) -> i64 {
        self.counters.as_ref().map_or(0, Counters::net)
    }

    /// What changed since the last booking was the ledger's.
    fn excuse(&mut self) {
        self.ledger.excuse(self.counter());
    }
}

/// Defines the functions on `Carat::Lab::Ledger`.
pub(crate) fn define(ledger: RModule) -> Result<(), Error> {
    ledger.define_singleton_method("start", function!(start, 0))?;
    ledger.define_singleton_method("stop", function!(stop, 0))?;
    ledger.define_singleton_method("open", function!(open, 0))?;
    ledger.define_singleton_method("close", function!(close, 1))?;
    ledger.define_singleton_method("allocated_bytes", function!(allocated_bytes, 0))?;
    ledger.define_singleton_method("own_bytes", function!(own_bytes, 0))?;
    ledger.define_singleton_method("accounts", function!(accounts, 0))?;
    ledger.define_singleton_method("objects", function!(objects, 2))
}

/// Begins to record, with empty accounts. Bytes of malloc are those of the thread that calls this, which must live as
/// long as the recording. Returns false when this process's allocator does not count them.
fn start(_ruby: &Ruby) -> bool {
    let recorder = RECORDER.get_or_init(Recorder::new);
    let counters = Counters::find();
    let counts = counters.is_some();
    *recorder.books() = Books::open(counters);
    // SAFETY: it is a tracepoint.
    unsafe { rb_tracepoint_enable(recorder.tracepoint) };
    counts
}

/// Ends the recording.
fn stop(_ruby: &Ruby) {
    if let Some(recorder) = RECORDER.get() {
        // SAFETY: it is a tracepoint.
        unsafe { rb_tracepoint_disable(recorder.tracepoint) };
    }
}

/// Opens an account, and returns its number.
fn open(_ruby: &Ruby) -> u32 {
    RECORDER.get().map_or(0, |recorder| {
        let mut books = recorder.books();
        let counter = books.counter();
        let number = books.ledger.open(counter);
        books.excuse();
        number
    })
}

/// Returns to the account in which this one was opened.
fn close(_ruby: &Ruby, number: u32) {
    if let Some(recorder) = RECORDER.get() {
        let mut books = recorder.books();
        let counter = books.counter();
        books.ledger.close(counter, number);
    }
}

/// The bytes that the thread that calls this has ever allocated; 0 when this process's allocator does not count. It needs
/// no ledger.
fn allocated_bytes(_ruby: &Ruby) -> u64 {
    Counters::find().map_or(0, |counters| counters.allocated())
}

/// The bytes of malloc that the ledger takes for itself.
fn own_bytes(_ruby: &Ruby) -> i64 {
    balance().1
}

/// Returns an Array for each account: the number of its parent, bytes of malloc, bytes of slots, objects, strings, and
/// seconds, without those of the accounts within.
fn accounts(ruby: &Ruby) -> Result<RArray, Error> {
    let rows = ruby.ary_new();
    for account in balance().0 {
        let time = account.time.as_secs_f64();
        let (malloc, slots) = (account.malloc, account.slots);
        let (objects, strings) = (account.objects, account.strings);
        rows.push((account.parent, malloc, slots, objects, strings, time))?;
    }
    Ok(rows)
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

fn balance() -> (Vec<Account>, i64) {
    RECORDER.get().map_or_else(Default::default, |recorder| {
        let mut books = recorder.books();
        let counter = books.counter();
        books.ledger.balance(counter)
    })
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

/// The recorder that [`start`] has made.
pub(crate) fn recorder() -> Option<&'static Recorder> {
    RECORDER.get()
}

impl Recorder {
    fn new() -> Recorder {
        let events = HEAP_EVENTS | RUBY_INTERNAL_EVENT_GC_ENTER | RUBY_INTERNAL_EVENT_GC_EXIT;
        // SAFETY: Ruby calls the function with the tracepoint, and the object is kept for good.
        let tracepoint = unsafe {
            let tracepoint = rb_tracepoint_new(0, events, Some(on_event), std::ptr::null_mut());
            rb_gc_register_mark_object(tracepoint);
            tracepoint
        };
        Recorder {
            slot_size: SlotSize::find(),
            tracepoint,
            books: Mutex::new(Books::open(None)),
        }
    }

    /// Changes the ledger. What the change itself allocates belongs to the ledger.
    pub(crate) fn change(&self, function: impl FnOnce(&mut MemoryLedger)) {
        let mut books = self.books();
        let counter = books.counter();
        books.ledger.settle(counter);
        function(&mut books.ledger);
        books.excuse();
    }

    /// As [`Recorder::change`]; does nothing while the ledger itself allocates.
    pub(crate) fn try_change(&self, function: impl FnOnce(&mut MemoryLedger)) {
        if let Ok(mut books) = self.books.try_lock() {
            let counter = books.counter();
            books.ledger.settle(counter);
            function(&mut books.ledger);
            books.excuse();
        }
    }

    /// Empties all accounts.
    pub(crate) fn clear(&self) {
        *self.books() = Books::open(None);
    }

    /// The account of a live object.
    pub(crate) fn account_of(&self, object: VALUE) -> u32 {
        self.books().ledger.account_of(object)
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn on_event(&self, event: u32, object: Option<VALUE>) {
        let mut books = self.books();
        let counter = books.counter();
        match object.map(|value| self.describe(value)) {
            Some(object) if event == RUBY_INTERNAL_EVENT_NEWOBJ => {
                if books.ledger.born(counter, object) {
                    books.excuse();
                }
            }
            Some(object) => books.ledger.dies(counter, object),
            None if event == RUBY_INTERNAL_EVENT_GC_ENTER => books.ledger.collects(counter),
            None => books.ledger.collected(counter),
        }
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
