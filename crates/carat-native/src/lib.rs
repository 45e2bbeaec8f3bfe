//! Carat's Ruby extension: the worker's ends of the sockets that lead to the edge.
//!
//! Only what touches Ruby is here; the rest is in `carat-lane` and `carat-fibers`. [`lanes`] turn frames into Rack
//! environments ([`environment`]) and responses into frames. [`processes`] has the control socket of a mold or a worker,
//! and what Ruby does not offer of the kernel. [`scheduler`] is independent of these: it runs the fibers of a thread.

#![expect(missing_docs, reason = "magnus adds the exported `Init_native`")]

mod environment;
mod interpreter;
mod lanes;
mod processes;
mod scheduler;

use magnus::{Error, Module, Ruby};

#[magnus::init(name = "native")]
fn init(ruby: &Ruby) -> Result<(), Error> {
    let native = ruby.define_module("Carat")?.define_module("Native")?;
    interpreter::error::define(ruby, native)?;
    interpreter::roots::load(ruby)?;
    processes::control::define(ruby, native)?;
    lanes::lane::define(ruby, native)?;
    lanes::callables::define(native)?;
    processes::collector::define(native)?;
    environment::local_request::define(native)?;
    lanes::slot::define(ruby, native)?;
    environment::hijack::define(ruby, native)?;
    native.const_set("INLINE_LIMIT", lanes::inline_body::INLINE_LIMIT)?;
    lanes::input::define(ruby, native)?;
    scheduler::define(ruby, native)?;
    processes::allocator::define(native)?;
    processes::main_stack::define(native)?;
    processes::process::define(native)
}
