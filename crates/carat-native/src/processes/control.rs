//! `Carat::Native::Control`: a mold's or a worker's end of its control socket.

use std::cell::RefCell;
use std::os::fd::{IntoRawFd, OwnedFd};

use carat_lane::{ControlMessage, ControlSession};
use carat_wire::control::{
    Collected, PartMessage, Sampling, Stack, encode_boot_failed, encode_load, encode_not_fork_safe,
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
    class.define_method("tell", method!(Control::tell, 3))?;
    class.define_method("sources", method!(Control::sources, 1))?;
    class.define_method("collected", method!(Control::collected, 1))?;
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
    /// `[:ask_stats]`, `[:ask_fork_safety]`, `[:trim_memory]`, `[:collect]`, `[:decline_collection]`,
    /// `[:begin_profile, interval, clocks]`, `[:end_profile]`, `[:ask_stack, lane, request]`, `[:begin]`,
    /// `[:one_off, order, stdin, stdout, stderr]` with numbers of descriptors,
    /// `[:fork_app, name, number, generation, control]`, or
    /// `[:fork_worker, worker, generation, control, [[socket, page], ...]]`, where the last two hold IOs. Returns nil when
    /// the edge is gone.
    fn receive(ruby: &Ruby, control: &Control) -> Result<Option<RArray>, Error> {
        let message = control
            .io
            .drive(ruby, &control.session, ControlSession::receive)?;
        let name = |name: &str| ruby.to_symbol(name);
        let signal = |signal| (name(signal),).into_value_with(ruby);
        Ok(RArray::from_value(match message {
            ControlMessage::End => return Ok(None),
            ControlMessage::Drain => signal("drain"),
            ControlMessage::Bye => signal("bye"),
            ControlMessage::AskStats => signal("ask_stats"),
            ControlMessage::AskForkSafety => signal("ask_fork_safety"),
            ControlMessage::TrimMemory => signal("trim_memory"),
            ControlMessage::Collect => signal("collect"),
            ControlMessage::DeclineCollection => signal("decline_collection"),
            ControlMessage::EndProfile => signal("end_profile"),
            ControlMessage::Begin => signal("begin"),
            ControlMessage::BeginProfile(Sampling { interval, clocks }) => {
                (name("begin_profile"), interval, clocks).into_value_with(ruby)
            }
            ControlMessage::AskStack(ask) => {
                (name("ask_stack"), ask.lane, ask.request).into_value_with(ruby)
            }
            ControlMessage::Promote(generation) => {
                (name("promote"), generation).into_value_with(ruby)
            }
            ControlMessage::OneOff(order, streams) => {
                let message = ruby.ary_new_from_values(&[name("one_off")]);
                message.push(ruby.str_from_slice(&order))?;
                for stream in streams {
                    message.push(stream.into_raw_fd())?;
                }
                message.into_value_with(ruby)
            }
            ControlMessage::ForkApp(order, control) => {
                let control = owned(ruby, control)?;
                let order = (order.name, order.number, order.generation);
                (name("fork_app"), order.0, order.1, order.2, control).into_value_with(ruby)
            }
            ControlMessage::ForkWorker(fork, descriptors) => {
                let (control, lanes) = lane_sockets(ruby, descriptors)?;
                let name = name("fork_worker");
                (name, fork.worker, fork.generation, control, lanes).into_value_with(ruby)
            }
        }))
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

    /// Replies that the full garbage collection is done, which took `micros` microseconds; 0 if there was none.
    fn collected(ruby: &Ruby, control: &Control, micros: u32) -> Result<(), Error> {
        control.send(ruby, |out| Collected { micros }.encode(out))
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

    /// Sends a message to a part of the edge. Returns false when it is too long. Any thread may call it.
    fn tell(
        ruby: &Ruby,
        control: &Control,
        part: RString,
        subject: RString,
        content: RString,
    ) -> Result<bool, Error> {
        let part = part.to_string()?;
        // SAFETY: no Ruby code runs before the slices have been copied into the frame.
        let (subject, content) = unsafe { (subject.as_slice(), content.as_slice()) };
        let message = PartMessage {
            part: &part,
            subject,
            content,
        };
        let mut fits = false;
        control.send(ruby, |out| {
            fits = message.encode(out);
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

/// The IO of the control socket, and for each lane those of its socket and its page.
fn lane_sockets(ruby: &Ruby, descriptors: Vec<OwnedFd>) -> Result<(Value, RArray), Error> {
    let ios = ruby.ary_new_capa(descriptors.len());
    for descriptor in descriptors {
        ios.push(owned(ruby, descriptor)?)?;
    }
    let control: Value = ios.shift()?;
    let lanes = ruby.ary_new();
    while !ios.is_empty() {
        lanes.push((ios.shift::<Value>()?, ios.shift::<Value>()?))?;
    }
    Ok((control, lanes))
}
