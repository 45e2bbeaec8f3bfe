//! `Carat::Lab::Ledger`: begins and ends the record of objects and blocks, and reads the accounts.

pub(crate) mod block_map;
pub(crate) mod collector_blocks;
pub(crate) mod gaps;
pub(crate) mod held_objects;
pub(crate) mod line_accounts;
pub(crate) mod memory_ledger;
pub(crate) mod native_stacks;
pub(crate) mod page_shares;
pub(crate) mod recorder;
pub(crate) mod slots;
pub(crate) mod touched_pages;

use std::sync::Once;

use magnus::rb_sys::{AsRawValue, FromRawValue};
use magnus::{
    Class, DataTypeFunctions, Error, Module, Object, RArray, RModule, RString, Ruby, TypedData,
    Value, function, gc,
};
use rb_sys::rb_gc_register_mark_object;

use crate::ledger::collector_blocks::{CollectorBlocks, settle};
use crate::ledger::line_accounts::LineAccounts;
use crate::ledger::memory_ledger::ROOT;
use crate::ledger::recorder::{Recorder, recorder};

static KEPT: Once = Once::new();

/// Keeps paths alive whose addresses the accounts have.
#[derive(TypedData)]
#[magnus(class = "Carat::Lab::Ledger::PathMarks", mark)]
struct PathMarks;

impl DataTypeFunctions for PathMarks {
    fn mark(&self, marker: &gc::Marker) {
        for path in recorder().into_iter().flat_map(Recorder::paths) {
            // SAFETY: it is a String, or nil, which has been marked since it was noted.
            marker.mark(unsafe { Value::from_raw(path) });
        }
    }
}

/// Defines the functions on `Carat::Lab::Ledger`.
pub(crate) fn define(ruby: &Ruby, ledger: RModule) -> Result<(), Error> {
    let marks = ledger.define_class("PathMarks", ruby.class_object())?;
    marks.undef_default_alloc_func();
    ledger.define_singleton_method("start", function!(start, 0))?;
    ledger.define_singleton_method("stop", function!(stop, 0))?;
    ledger.define_singleton_method("accounts", function!(accounts, 0))?;
    ledger.define_singleton_method("trace_lines", function!(trace_lines, 2))?;
    ledger.define_singleton_method("lines", function!(lines, 0))
}

/// Begins to record, with empty accounts; see [`recorder::begin`]. Returns false when this process's allocator does not
/// show its blocks: then only slots are booked.
fn start(ruby: &Ruby) -> bool {
    KEPT.call_once(|| {
        // SAFETY: it is an object.
        unsafe { rb_gc_register_mark_object(ruby.obj_wrap(PathMarks).as_raw()) };
    });
    recorder::begin(CollectorBlocks::find()) && block_map::start()
}

/// Ends the recording.
fn stop() {
    block_map::stop();
    recorder::end();
}

/// Returns an Array for each account: the number of its parent, bytes of malloc, bytes of slots, objects, strings, and
/// seconds, without those of the accounts within.
fn accounts(ruby: &Ruby) -> Result<RArray, Error> {
    let rows = ruby.ary_new();
    let mut accounts = Vec::new();
    if let Some(recorder) = recorder() {
        recorder.change(|ledger| {
            accounts = ledger.balance();
            block_map::reserve(accounts.len());
        });
        settle(recorder);
    }
    let sums = block_map::sums();
    for (number, account) in accounts.into_iter().enumerate() {
        let time = account.time.as_secs_f64();
        let (malloc, slots) = (sums.get(number).copied().unwrap_or(0), account.slots);
        let (objects, strings) = (account.objects, account.strings);
        rows.push((account.parent, malloc, slots, objects, strings, time))?;
    }
    Ok(rows)
}

/// Begins to trace, after `start`. Lines below the directory of the server, or of the lab, are not the program's.
fn trace_lines(server: RString, lab: RString) {
    // SAFETY: nothing of Ruby runs before the bytes are copied.
    let [server, lab] = [server, lab].map(|path| unsafe { path.as_slice() }.to_vec());
    if let Some(recorder) = recorder() {
        recorder.trace_lines(LineAccounts::new(server, lab));
    }
}

/// Returns an Array for each line that has an account: its number, the path of the file, and the line. The account of
/// everything else has two nils.
fn lines(ruby: &Ruby) -> Result<RArray, Error> {
    let rows = ruby.ary_new();
    rows.push((ROOT, None::<Value>, None::<Value>))?;
    for (site, number) in recorder().map_or_else(Vec::new, Recorder::lines) {
        // SAFETY: it is a String, and the marked frame keeps it.
        rows.push((number, unsafe { Value::from_raw(site.path) }, site.line))?;
    }
    Ok(rows)
}
