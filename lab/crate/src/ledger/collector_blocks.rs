//! Blocks that belong to somebody other than the account that was the payer when they were allocated: those of an object
//! that the collector moves out of its space for young objects, and what it notes of each page of its heap.

use std::ffi::{c_int, c_uint, c_void};
use std::mem::transmute;
use std::ptr::null_mut;

use magnus::{Module, RHash, RModule, Ruby};
use rb_sys::{VALUE, ruby_value_type};

use crate::heap::{each_object, is, kind};
use crate::ledger::block_map::pass;
use crate::ledger::memory_ledger::COLLECTOR;
use crate::ledger::recorder::{CollectorListener, Recorder, recorder};
use crate::ledger::slots::EARLIER;
use crate::libraries::function;

// SAFETY: Ruby calls it with the pointer that it was given.
type Job = unsafe extern "C" fn(*mut c_void);
// SAFETY: the signature is that of Ruby's `debug.h`.
type Register = unsafe extern "C" fn(c_uint, Job, *mut c_void) -> c_int;

/// The words of a slot in which objects with a space for young buffers keep the address of their buffer.
const BUFFER_WORDS: [u64; 3] = [2, 3, 4];
const WORD_BYTES: u64 = 8;

/// Brackets for the job with which Ruby 3.1 and 3.2 move the buffers of Arrays, Hashes, Structs, and objects out of the
/// space for young objects (`transient_heap.c`). The job runs after a collection, amid whatever file or line comes next.
///
/// Ruby runs the jobs that wait in reverse order, and registers this one between the events `GC_START` and
/// `GC_END_MARK`: what is registered at the first runs after it, and what is registered at the second before it.
#[derive(Clone, Copy)]
struct Evacuation(Register);

impl Evacuation {
    /// Returns `None` when this Ruby has no such space.
    fn find() -> Option<Evacuation> {
        function(c"rb_ary_detransient")?;
        let register = function(c"rb_postponed_job_register_one")?;
        // SAFETY: a function of this name is Ruby's, and has this signature.
        Some(Evacuation(unsafe {
            transmute::<*mut c_void, Register>(register)
        }))
    }

    fn register(self, job: Job) {
        // SAFETY: Ruby allows this during a collection.
        unsafe { (self.0)(0, job, null_mut()) };
    }
}

/// Keeps the collector's blocks apart while objects are recorded; [`settle`] passes the rest.
pub(crate) struct CollectorBlocks {
    evacuation: Option<Evacuation>,
    pages: Option<HeapPages>,
}

impl CollectorBlocks {
    /// For the Ruby of this process.
    pub(crate) fn find() -> CollectorBlocks {
        CollectorBlocks {
            evacuation: Evacuation::find(),
            pages: HeapPages::find(),
        }
    }
}

impl CollectorListener for CollectorBlocks {
    fn on_start(&self) {
        if let Some(evacuation) = self.evacuation {
            evacuation.register(end);
        }
    }

    fn on_end_mark(&self) {
        if let Some(evacuation) = self.evacuation {
            evacuation.register(begin);
        }
    }

    fn on_page(&self, object: VALUE) {
        if let Some(pages) = self.pages {
            pages.pass_notes(object);
        }
    }
}

// SAFETY: only Ruby calls it.
unsafe extern "C" fn begin(_data: *mut c_void) {
    if let Some(recorder) = recorder() {
        recorder.change(|ledger| ledger.collect(true));
    }
}

// SAFETY: only Ruby calls it.
unsafe extern "C" fn end(_data: *mut c_void) {
    if let Some(recorder) = recorder() {
        recorder.change(|ledger| ledger.collect(false));
    }
}

/// The pages of Ruby's heap, which are aligned to their size.
#[derive(Clone, Copy)]
struct HeapPages {
    bytes: u64,
}

impl HeapPages {
    /// Returns `None` when Ruby does not say how large they are.
    fn find() -> Option<HeapPages> {
        let ruby = Ruby::get().ok()?;
        let collector: RModule = ruby.class_object().const_get("GC").ok()?;
        let constants: RHash = collector.const_get("INTERNAL_CONSTANTS").ok()?;
        let bytes: u64 = constants.fetch(ruby.to_symbol("HEAP_PAGE_SIZE")).ok()?;
        bytes.is_power_of_two().then_some(HeapPages { bytes })
    }

    fn of(self, object: VALUE) -> u64 {
        object & !(self.bytes - 1)
    }

    /// Passes what the collector notes of the page of a live object to the collector.
    fn pass_notes(self, object: VALUE) {
        // SAFETY: a page of Ruby's heap begins with the address of its notes.
        let notes = unsafe { *(self.of(object) as *const u64) };
        pass(notes, None, COLLECTOR);
    }
}

/// Passes each buffer that the collector has moved to the account of its object, and the notes of all pages to the
/// collector. The accounts must have room in the block map.
pub(crate) fn settle(recorder: &Recorder) {
    let CollectorBlocks { evacuation, pages } = CollectorBlocks::find();
    let mut last_page = 0;
    // The walk may collect first, so the ledger is not locked meanwhile.
    each_object(|object, _bytes| {
        if let Some(pages) = pages.filter(|pages| pages.of(object) != last_page) {
            last_page = pages.of(object);
            pages.pass_notes(object);
        }
        if evacuation.is_some() && has_buffer(object) {
            pass_buffer(object, recorder);
        }
    });
}

fn has_buffer(object: VALUE) -> bool {
    let kind = kind(object);
    [
        ruby_value_type::RUBY_T_ARRAY,
        ruby_value_type::RUBY_T_HASH,
        ruby_value_type::RUBY_T_OBJECT,
        ruby_value_type::RUBY_T_STRUCT,
    ]
    .into_iter()
    .any(|each| is(kind, each))
}

/// No two objects have one block, and no Ruby value is the address of a block: a word that is one is the owner's.
fn pass_buffer(object: VALUE, recorder: &Recorder) {
    let account = recorder.account_of(object);
    if account == EARLIER {
        return;
    }
    for word in BUFFER_WORDS {
        // SAFETY: a slot in use has at least five words.
        let value = unsafe { *((object + word * WORD_BYTES) as *const u64) };
        pass(value, Some(COLLECTOR), account);
    }
}
