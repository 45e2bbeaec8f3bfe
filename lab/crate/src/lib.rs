//! Measurements for `carat weigh`, `carat leak`, `carat profile`, and others, as a Ruby extension. A server loads it when
//! somebody profiles one of its workers.
//!
//! [`ledger`] has the accounts of memory: its recorder listens to Ruby's heap, its map of blocks to [`malloc`], and who has
//! to pay is a file that is being loaded, or a line of Ruby. It also has the stacks of C below that line, and what is
//! free between blocks. [`heap`] adds up all live objects and the interpreter's tables; [`malloc`] counts what the
//! collector takes for itself, and what glibc caches. [`allocations`] counts what is allocated, whether or not it is
//! freed. [`sampler`] samples what all threads allocate, with the stacks of Ruby and C, and [`clocks`] where they are
//! while time passes.

#![expect(missing_docs, reason = "magnus adds the exported `Init_lab`")]

mod address_hasher;
mod allocations;
mod call_site;
mod clocks;
mod heap;
mod ledger;
mod libraries;
mod malloc;
mod sampler;
mod watched_thread;

use magnus::{Error, Module, Ruby};

#[magnus::init(name = "lab")]
fn init(ruby: &Ruby) -> Result<(), Error> {
    let lab = ruby.define_module("Carat")?.define_module("Lab")?;
    let heap = lab.define_module("Heap")?;
    heap::heap_census::define(heap)?;
    malloc::collector_memory::define(heap)?;
    malloc::thread_cache::define(heap)?;
    allocations::define(ruby, lab.define_module("Allocations")?)?;
    let ledger = lab.define_module("Ledger")?;
    ledger::define(ruby, ledger)?;
    ledger::recorder::define(ledger)?;
    ledger::native_stacks::define(ledger)?;
    ledger::gaps::define(ledger)?;
    ledger::held_objects::define(ledger)?;
    ledger::page_shares::define(ledger)?;
    ledger::touched_pages::define(ledger)?;
    sampler::define(lab.define_module("Sampler")?)?;
    clocks::define(lab.define_module("Clocks")?)
}
