//! Carat's Ruby extension: the worker's ends of the sockets that lead to the edge.
//!
//! Only what touches Ruby is here; the rest is in `carat-lane` and `carat-fibers`. [`lanes`] turn frames into Rack
//! environments ([`environment`]) and responses into frames. [`processes`] has the control socket of a mold or a worker,
//! and what Ruby does not offer of the kernel. [`scheduler`] is independent of these: it runs the fibers of a thread.

#![expect(missing_docs, reason = "magnus adds the exported `Init_native`")]

mod scheduler;

mod environment {
    //! A request as a Rack environment.

    pub(crate) mod env;
    pub(crate) mod env_base;
    pub(crate) mod env_builder;
    pub(crate) mod env_template;
    pub(crate) mod hijack;
    pub(crate) mod known_headers;
    pub(crate) mod local_request;

    pub(crate) use env::environment;
    pub(crate) use env_template::EnvTemplate;
}

mod interpreter {
    //! The interpreter as every class here uses it: errors, Strings, waiting, the GVL, and objects that are kept.

    pub(crate) mod error;
    pub(crate) mod fork;
    pub(crate) mod gvl;
    pub(crate) mod io;
    pub(crate) mod roots;
    pub(crate) mod text;
    pub(crate) mod waker;

    pub(crate) use io::{Io, borrow, descriptor, owned, yield_to_others};
    pub(crate) use roots::{Roots, roots};
    pub(crate) use text::{bytes_of, is_string};
}

mod lanes {
    //! The lanes of a worker, their slots, and what is read from and written to them.

    pub(crate) mod callables;
    pub(crate) mod inline_body;
    pub(crate) mod input;
    pub(crate) mod lane;
    pub(crate) mod page;
    pub(crate) mod reader_role;
    pub(crate) mod respond;
    pub(crate) mod response_head;
    pub(crate) mod slot;
}

mod processes {
    //! The process, its memory, and its control socket, as far as Ruby does not offer them.

    pub(crate) mod allocator;
    pub(crate) mod collector;
    pub(crate) mod control;
    pub(crate) mod full_marks;
    pub(crate) mod main_stack;
    pub(crate) mod marking;
    pub(crate) mod process;

    pub(crate) use collector::{CollectionWatch, close_forgotten_files};
    pub(crate) use full_marks::MarksSeen;
}

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
    processes::full_marks::define(native)?;
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
