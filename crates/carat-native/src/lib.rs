//! Carat's Ruby extension: the worker's ends of the sockets that lead to the edge.
//!
//! Only what touches Ruby is here; the rest is in `carat-lane` and `carat-fibers`. [`lane`] and its [`slot`]s turn frames
//! into Rack environments and responses into frames, [`control`] is the control socket of a mold or a worker, and
//! [`process`] calls what Ruby does not offer of the kernel. [`scheduler`] is independent of these: it runs the fibers of
//! a thread.

#![expect(missing_docs, reason = "magnus adds the exported `Init_native`")]

mod allocator;
mod callables;
mod collector;
mod control;
mod env;
mod env_base;
mod env_builder;
mod env_template;
mod error;
mod fork;
mod gvl;
mod hijack;
mod inline_body;
mod input;
mod io;
mod known_headers;
mod lane;
mod local_request;
mod main_stack;
mod page;
mod process;
mod respond;
mod response_head;
mod roots;
mod scheduler;
mod slot;
mod text;
mod turns;
mod waker;

use magnus::{Error, Module, Ruby};

#[magnus::init(name = "native")]
fn init(ruby: &Ruby) -> Result<(), Error> {
    let native = ruby.define_module("Carat")?.define_module("Native")?;
    error::define(ruby, native)?;
    roots::load(ruby)?;
    control::define(ruby, native)?;
    lane::define(ruby, native)?;
    callables::define(native)?;
    collector::define(native)?;
    local_request::define(native)?;
    slot::define(ruby, native)?;
    hijack::define(ruby, native)?;
    native.const_set("INLINE_LIMIT", inline_body::INLINE_LIMIT)?;
    input::define(ruby, native)?;
    scheduler::define(ruby, native)?;
    allocator::define(native)?;
    main_stack::define(native)?;
    process::define(native)
}
