//! Carat's Ruby extension: the worker's ends of the sockets that lead to the edge.
//!
//! [`lane`] and its [`place`]s turn frames into Rack environments and answers into frames, [`control`] is how a mold or a worker
//! talks with the edge about itself, and [`process`] holds what Ruby cannot ask of the kernel. [`scheduler`] has
//! nothing to do with these: it runs the fibers of a thread.

#![expect(missing_docs, reason = "magnus adds the exported `Init_native`")]

mod allocator;
mod answer;
mod bell;
mod body;
mod control;
mod env;
mod env_key;
mod error;
mod failure;
mod fairness;
mod fork;
mod gvl;
mod head;
mod input;
mod intake;
mod io;
mod lane;
mod page;
mod patience;
mod place;
mod process;
mod roots;
mod scheduler;
mod session;
mod stream;
mod talks;
mod text;
mod turns;

use magnus::{Error, Module, Ruby};

#[magnus::init(name = "native")]
fn init(ruby: &Ruby) -> Result<(), Error> {
    let native = ruby.define_module("Carat")?.define_module("Native")?;
    error::define(ruby, native)?;
    roots::load(ruby)?;
    control::define(ruby, native)?;
    lane::define(ruby, native)?;
    place::define(ruby, native)?;
    input::define(ruby, native)?;
    scheduler::define(ruby, native)?;
    allocator::define(native)?;
    process::define(native)
}
