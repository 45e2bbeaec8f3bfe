//! `Carat::Lab::Ledger.hold` and `rebook`: keeps the accounts of objects that compaction moves.

use std::collections::HashMap;

use magnus::r_hash::ForEach;
use magnus::rb_sys::{AsRawValue, FromRawValue};
use magnus::{Error, Object, RArray, RHash, RModule, Ruby, Value, function};
use rb_sys::VALUE;

use crate::heap::each_object;
use crate::ledger::memory_ledger::MemoryLedger;
use crate::ledger::recorder::recorder;
use crate::ledger::slots::EARLIER;

/// Defines the functions on `Carat::Lab::Ledger`.
pub(crate) fn define(ledger: RModule) -> Result<(), Error> {
    ledger.define_singleton_method("hold", function!(hold, 0))?;
    ledger.define_singleton_method("rebook", function!(rebook, 1))
}

/// Returns a Hash of all booked objects by account, for `rebook`. Ruby's own are among them: nobody may look at one.
fn hold(ruby: &Ruby) -> Result<RHash, Error> {
    let enabled = !ruby.gc_disable();
    let mut found: HashMap<u32, Vec<VALUE>> = HashMap::new();
    if let Some(recorder) = recorder() {
        each_object(|object, _| {
            let account = recorder.account_of(object);
            if account != EARLIER {
                found.entry(account).or_default().push(object);
            }
        });
    }
    let held = ruby.hash_new();
    for (account, objects) in found {
        let array = ruby.ary_new_capa(objects.len());
        for object in objects {
            // SAFETY: the object lives: the collector is off.
            array.push(unsafe { Value::from_raw(object) })?;
        }
        held.aset(account, array)?;
    }
    if enabled {
        ruby.gc_enable();
    }
    Ok(held)
}

/// Books the objects of `hold` anew, after compaction has moved them.
fn rebook(_ruby: &Ruby, held: RHash) -> Result<(), Error> {
    let Some(recorder) = recorder() else {
        return Ok(());
    };
    recorder.change(MemoryLedger::forget_addresses);
    held.foreach(|account: u32, objects: RArray| {
        for object in objects {
            let address = object.as_raw();
            recorder.change(|ledger| ledger.note(address, account));
        }
        Ok(ForEach::Continue)
    })
}
