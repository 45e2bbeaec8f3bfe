//! Measurements for `carat weigh`, `carat leak`, `carat profile`, and others, as a Ruby extension. A server loads it when
//! somebody profiles one of its workers.
//!
//! [`recorder`] listens to Ruby's heap, and [`block_map`] to [`malloc`]; [`memory_ledger`] says who has to pay:
//! a file that is being loaded, or with [`line_accounts`] a line of Ruby. [`native_stacks`] has the stacks of C below it,
//! and [`gaps`] what is free between blocks. [`heap_census`] adds up all live objects, with [`ruby_tables`];
//! [`collector_memory`] is what the collector takes for itself, and [`thread_cache`] what glibc caches. [`allocations`]
//! counts what is allocated, whether or not it is freed. [`sampler`] samples what all threads allocate, with the stacks
//! of Ruby and C.

#![expect(missing_docs, reason = "magnus adds the exported `Init_lab`")]

mod address_hasher;
mod allocations;
mod block_map;
mod call_site;
mod collector_memory;
mod gaps;
mod heap;
mod heap_census;
mod held_objects;
mod hooks;
mod ledger;
mod libraries;
mod line_accounts;
mod malloc;
mod memory_ledger;
mod native_stacks;
mod page_shares;
mod recorder;
mod ruby_tables;
mod sampler;
mod slots;
mod thread_cache;
mod watched_thread;

use magnus::{Error, Module, Ruby};

#[magnus::init(name = "lab")]
fn init(ruby: &Ruby) -> Result<(), Error> {
    let lab = ruby.define_module("Carat")?.define_module("Lab")?;
    let heap = lab.define_module("Heap")?;
    heap_census::define(heap)?;
    collector_memory::define(heap)?;
    thread_cache::define(heap)?;
    allocations::define(ruby, lab.define_module("Allocations")?)?;
    let ledger = lab.define_module("Ledger")?;
    ledger::define(ruby, ledger)?;
    recorder::define(ledger)?;
    native_stacks::define(ledger)?;
    gaps::define(ledger)?;
    held_objects::define(ledger)?;
    page_shares::define(ledger)?;
    sampler::define(lab.define_module("Sampler")?)
}
