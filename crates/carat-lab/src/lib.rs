//! Measurements for `carat weigh`, as a Ruby extension that a server never loads.
//!
//! [`recorder`] listens to Ruby's heap and reads the counters of [`malloc`]; [`memory_ledger`] says which part
//! of the boot has to pay.

#![expect(missing_docs, reason = "magnus adds the exported `Init_lab`")]

mod malloc;
mod memory_ledger;
mod recorder;
mod slots;

use magnus::{Error, Module, Ruby};

#[magnus::init(name = "lab")]
fn init(ruby: &Ruby) -> Result<(), Error> {
    let lab = ruby.define_module("Carat")?.define_module("Lab")?;
    recorder::define(ruby, lab.define_module("Ledger")?)
}
