//! `Carat::Native::Control`: a mold's or a worker's end of its control socket.

use std::cell::RefCell;
use std::os::fd::{IntoRawFd, OwnedFd};

use carat_lane::{AppOrder, ControlMessage, ControlSession};
use carat_wire::control::{
    Broadcast, ForkWorker, Stack, encode_boot_failed, encode_load, encode_not_fork_safe,
    encode_profile, encode_signal, encode_sources, encode_stats,
};
use carat_wire::{Hello, Kind, SocketKind};
use magnus::{
    Class, DataTypeFunctions, Error, IntoValue, Module, Object, RArray, RFile, RModule, RString,
    Ruby, Symbol, TypedData, Value, function, gc, method,
};

use crate::interpreter::{Io, borrow, owned};

/// The socket over which the edge controls a process.
#[derive(TypedData)]
#[magnus(class = "Carat::Native::Control", free_immediately, mark, size)]
pub(crate) struct Control {
    io: Io,
    session: RefCell<ControlSession>,
}

impl DataTypeFunctions for Control {
    fn mark(&self, marker: &gc::Marker) {
        self.io.mark(marker);
    }
}

/// Defines the class.
pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let class = native.define_class("Control", ruby.class_object())?;
    class.undef_default_alloc_func();
    class.define_singleton_method("new", function!(Control::new, 1))?;
    class.define_method("hello", method!(Control::hello, 1))?;
    class.define_method("receive", method!(Control::receive, 0))?;
    class.define_method("ready", method!(Control::ready, 0))?;
    class.define_method("boot_failed", method!(Control::boot_failed, 1))?;
    class.define_method("fork_safe", method!(Control::fork_safe, 0))?;
    class.define_method("not_fork_safe", method!(Control::not_fork_safe, 1))?;
    class.define_method("stack", method!(Control::stack, 3))?;
    class.define_method("stats", method!(Control::stats, 1))?;
    class.define_method("profile", method!(Control::profile, 1))?;
    class.define_method("load", method!(Control::load, 1))?;
    class.define_method("broadcast", method!(Control::broadcast, 2))?;
    class.define_method("sources", method!(Control::sources, 1))?;
    class.define_method("leaving", method!(Control::leaving, 0))?;
    class.define_method("close", method!(Control::close, 0))?;
    Ok(())
}

impl Control {
    /// Takes over an IO, the socket, and closes it.
    fn new(ruby: &Ruby, socket: RFile) -> Result<Control, Error> {
        Ok(Control {
            io: Io::take_over(ruby, socket)?,
            session: RefCell::default(),
        })
    }

    /// Greets the edge as `:mold`, `:worker` or `:process`.
    fn hello(ruby: &Ruby, control: &Control, kind: Symbol) -> Result<(), Error> {
        let socket = match &*kind.name()? {
            "mold" => SocketKind::Mold,
            "worker" => SocketKind::Worker,
            "process" => SocketKind::Process,
            _ => {
                return Err(Error::new(
                    ruby.exception_arg_error(),
                    "neither :mold, :worker nor :process",
                ));
            }
        };
        let hello = Hello::new(socket, std::process::id(), 0);
        control.send(ruby, |out| hello.encode(out))
    }

    /// Waits for the next message and returns it as an Array: `[:drain]`, `[:bye]`, `[:promote, generation]`,
    /// `[:ask_stats]`, `[:ask_fork_safety]`, `[:trim_memory]`, `[:begin_profile, interval, clocks]`, `[:end_profile]`,
    /// `[:ask_stack, lane, request]`, `[:begin]`, `[:console, order, stdin, stdout, stderr]` with numbers of descriptors, `[:fork_app, name, number, generation, control]` or `[:fork_worker, worker, generation, control, [[socket, page], ...]]`, where the
    /// last two hold IOs. Returns nil when the edge is gone.
    fn receive(ruby: &Ruby, control: &Control) -> Result<Option<RArray>, Error> {
        let message = control
            .io
            .drive(ruby, &control.session, ControlSession::receive)?;
        Ok(match message {
            ControlMessage::End => None,
            ControlMessage::Drain => Some(ruby.ary_new_from_values(&[ruby.to_symbol("drain")])),
            ControlMessage::Bye => Some(ruby.ary_new_from_values(&[ruby.to_symbol("bye")])),
            ControlMessage::AskStats => {
                Some(ruby.ary_new_from_values(&[ruby.to_symbol("ask_stats")]))
            }
            ControlMessage::AskForkSafety => {
                Some(ruby.ary_new_from_values(&[ruby.to_symbol("ask_fork_safety")]))
            }
            ControlMessage::TrimMemory => {
                Some(ruby.ary_new_from_values(&[ruby.to_symbol("trim_memory")]))
            }
            ControlMessage::BeginProfile(sampling) => {
                let name = ruby.to_symbol("begin_profile");
                let message = (name, sampling.interval, sampling.clocks);
                RArray::from_value(message.into_value_with(ruby))
            }
            ControlMessage::EndProfile => {
                Some(ruby.ary_new_from_values(&[ruby.to_symbol("end_profile")]))
            }
            ControlMessage::AskStack(ask) => {
                let message = (ruby.to_symbol("ask_stack"), ask.lane, ask.request);
                RArray::from_value(message.into_value_with(ruby))
            }
            ControlMessage::Promote(generation) => {
                let message = (ruby.to_symbol("promote"), generation);
                RArray::from_value(message.into_value_with(ruby))
            }
            ControlMessage::Begin => Some(ruby.ary_new_from_values(&[ruby.to_symbol("begin")])),
            ControlMessage::Console(order, streams) => {
                let message = ruby.ary_new_from_values(&[ruby.to_symbol("console")]);
                message.push(ruby.str_from_slice(&order))?;
                for stream in streams {
                    message.push(stream.into_raw_fd())?;
                }
                Some(message)
            }
            ControlMessage::ForkApp(order, control) => Some(app_message(ruby, order, control)?),
            ControlMessage::ForkWorker(fork, descriptors) => {
                Some(fork_message(ruby, fork, descriptors)?)
            }
        })
    }

    /// Reports that this process is ready.
    fn ready(ruby: &Ruby, control: &Control) -> Result<(), Error> {
        control.send(ruby, |out| encode_signal(out, Kind::Ready))
    }

    /// Asks the edge to drain this process. Safe in a signal handler.
    fn leaving(ruby: &Ruby, control: &Control) -> Result<(), Error> {
        control.send(ruby, |out| encode_signal(out, Kind::Leaving))
    }

    /// Reports that this process ends, and why.
    fn boot_failed(ruby: &Ruby, control: &Control, text: RString) -> Result<(), Error> {
        // SAFETY: no Ruby code runs before the slice has been copied into the frame.
        let text = unsafe { text.as_slice() };
        control.send(ruby, |out| encode_boot_failed(out, text))
    }

    /// Replies that this process could be a mold.
    fn fork_safe(ruby: &Ruby, control: &Control) -> Result<(), Error> {
        control.send(ruby, |out| encode_signal(out, Kind::ForkSafe))
    }

    /// Reports why this process, or any of its generation, cannot be a mold.
    fn not_fork_safe(ruby: &Ruby, control: &Control, text: RString) -> Result<(), Error> {
        // SAFETY: no Ruby code runs before the slice has been copied into the frame.
        let text = unsafe { text.as_slice() };
        control.send(ruby, |out| encode_not_fork_safe(out, text))
    }

    /// Reports where a request stands. `lane` counts from 0; the first line of `text` is what the request waits for.
    fn stack(
        ruby: &Ruby,
        control: &Control,
        lane: u16,
        request: u32,
        text: RString,
    ) -> Result<(), Error> {
        // SAFETY: no Ruby code runs before the slice has been copied into the frame.
        let text = unsafe { text.as_slice() };
        let stack = Stack {
            lane,
            request,
            text,
        };
        control.send(ruby, |out| stack.encode(out))
    }

    /// Sends the statistics that the edge has asked for, a JSON object.
    fn stats(ruby: &Ruby, control: &Control, json: RString) -> Result<(), Error> {
        // SAFETY: no Ruby code runs before the slice has been copied into the frame.
        let json = unsafe { json.as_slice() };
        control.send(ruby, |out| encode_stats(out, json))
    }

    /// Sends the profile that the edge has asked for, a JSON object.
    fn profile(ruby: &Ruby, control: &Control, json: RString) -> Result<(), Error> {
        // SAFETY: no Ruby code runs before the slice has been copied into the frame.
        let json = unsafe { json.as_slice() };
        control.send(ruby, |out| encode_profile(out, json))
    }

    /// Sends the load of the processes of a name.
    fn load(ruby: &Ruby, control: &Control, load: f64) -> Result<(), Error> {
        control.send(ruby, |out| encode_load(out, load))
    }

    /// Sends what the subscribers of a stream of the cable get, a JSON value. Returns false when the name or the message is
    /// too long. Any thread may call it.
    fn broadcast(
        ruby: &Ruby,
        control: &Control,
        stream: RString,
        message: RString,
    ) -> Result<bool, Error> {
        // SAFETY: no Ruby code runs before the slices have been copied into the frame.
        let (stream, message) = unsafe { (stream.as_slice(), message.as_slice()) };
        let mut fits = false;
        control.send(ruby, |out| {
            fits = Broadcast { stream, message }.encode(out);
        })?;
        Ok(fits)
    }

    /// Reports which files the code of the application is in, a JSON object.
    fn sources(ruby: &Ruby, control: &Control, json: RString) -> Result<(), Error> {
        // SAFETY: no Ruby code runs before the slice has been copied into the frame.
        let json = unsafe { json.as_slice() };
        control.send(ruby, |out| encode_sources(out, json))
    }

    /// Closes the socket, and the descriptors that have arrived with messages that were not received: in a new worker,
    /// the sockets of workers that the mold forks next.
    fn close(ruby: &Ruby, control: &Control) -> Result<(), Error> {
        borrow(ruby, &control.session)?.discard();
        control.io.close(ruby)
    }

    fn send(&self, ruby: &Ruby, encode: impl FnOnce(&mut Vec<u8>)) -> Result<(), Error> {
        encode(borrow(ruby, &self.session)?.buffer());
        self.io.drive(ruby, &self.session, ControlSession::flush)
    }
}

/// The message as Ruby sees it, with an IO for the control socket.
fn app_message(ruby: &Ruby, order: AppOrder, control: OwnedFd) -> Result<RArray, Error> {
    let message = ruby.ary_new_capa(5);
    message.push(ruby.to_symbol("fork_app"))?;
    message.push(order.name)?;
    message.push(order.number)?;
    message.push(order.generation)?;
    message.push(owned(ruby, control)?)?;
    Ok(message)
}

/// The message as Ruby sees it, with an IO for each descriptor.
fn fork_message(ruby: &Ruby, fork: ForkWorker, descriptors: Vec<OwnedFd>) -> Result<RArray, Error> {
    let ios = ruby.ary_new_capa(descriptors.len());
    for descriptor in descriptors {
        ios.push(owned(ruby, descriptor)?)?;
    }
    let control: Value = ios.shift()?;
    let lanes = ruby.ary_new_capa(usize::from(fork.lanes));
    while !ios.is_empty() {
        lanes.push((ios.shift::<Value>()?, ios.shift::<Value>()?))?;
    }
    let message = ruby.ary_new_capa(5);
    message.push(ruby.to_symbol("fork_worker"))?;
    message.push(fork.worker)?;
    message.push(fork.generation)?;
    message.push(control)?;
    message.push(lanes)?;
    Ok(message)
}
