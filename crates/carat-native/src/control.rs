//! `Carat::Native::Control`: a mold's or a worker's end of its control socket.

use std::cell::RefCell;
use std::os::fd::{BorrowedFd, IntoRawFd, OwnedFd, RawFd};

use carat_link::{Fill, Flush, Inbox, Outbox};
use carat_wire::control::{
    AskStack, ForkWorker, Stack, decode_promote, encode_boot_failed, encode_figures,
    encode_not_fork_safe, encode_signal,
};
use carat_wire::{Hello, Kind, Peer};
use magnus::{
    Class, DataTypeFunctions, Error, IntoValue, Module, Object, RArray, RModule, RString, Ruby,
    Symbol, TypedData, function, gc, method,
};

use crate::failure::Failure;
use crate::io::{Io, Readiness, Step, borrow};

/// The socket on which a process and the edge talk about the process itself.
#[derive(TypedData)]
#[magnus(class = "Carat::Native::Control", free_immediately, mark, size)]
pub(crate) struct Control {
    io: Io,
    state: RefCell<State>,
}

#[derive(Default)]
struct State {
    inbox: Inbox,
    outbox: Outbox,
}

/// What the edge asks for.
enum Message {
    Drain,
    /// The server ends.
    Bye,
    AskStack(AskStack),
    AskFigures,
    ForkWorker(ForkWorker, Vec<OwnedFd>),
    /// Become the mold of this generation.
    Promote(u32),
    /// The edge has closed the socket.
    End,
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
    class.define_method("not_fork_safe", method!(Control::not_fork_safe, 1))?;
    class.define_method("stack", method!(Control::stack, 2))?;
    class.define_method("figures", method!(Control::figures, 1))?;
    class.define_method("leaving", method!(Control::leaving, 0))?;
    class.define_method("close", method!(Control::close, 0))?;
    Ok(())
}

impl Control {
    fn new(ruby: &Ruby, socket: RawFd) -> Result<Control, Error> {
        Ok(Control {
            io: Io::new(ruby, socket)?,
            state: RefCell::default(),
        })
    }

    /// Greets the edge as `:mold` or `:worker`.
    fn hello(ruby: &Ruby, control: &Control, kind: Symbol) -> Result<(), Error> {
        let peer = match &*kind.name()? {
            "mold" => Peer::Mold,
            "worker" => Peer::Worker,
            _ => {
                return Err(Error::new(
                    ruby.exception_arg_error(),
                    "neither :mold nor :worker",
                ));
            }
        };
        let hello = Hello::new(peer, std::process::id(), 0);
        control.send(ruby, |out| hello.encode(out))
    }

    /// Waits for the next message and returns it as an Array, `[:drain]`, `[:bye]`, `[:promote, generation]`, `[:ask_figures]`,
    /// `[:ask_stack, lane, request]` or `[:fork_worker, worker, generation, control, [[socket, page], ...]]`; nil when
    /// the edge is gone.
    fn receive(ruby: &Ruby, control: &Control) -> Result<Option<RArray>, Error> {
        let message = control.io.drive(ruby, &control.state, State::receive)?;
        Ok(match message {
            Message::End => None,
            Message::Drain => Some(ruby.ary_new_from_values(&[ruby.to_symbol("drain")])),
            Message::Bye => Some(ruby.ary_new_from_values(&[ruby.to_symbol("bye")])),
            Message::AskFigures => Some(ruby.ary_new_from_values(&[ruby.to_symbol("ask_figures")])),
            Message::AskStack(ask) => {
                let message = (ruby.to_symbol("ask_stack"), ask.lane, ask.request);
                RArray::from_value(message.into_value_with(ruby))
            }
            Message::Promote(generation) => {
                let message = (ruby.to_symbol("promote"), generation);
                RArray::from_value(message.into_value_with(ruby))
            }
            Message::ForkWorker(fork, descriptors) => Some(fork_message(ruby, fork, descriptors)?),
        })
    }

    /// This process is ready for work.
    fn ready(ruby: &Ruby, control: &Control) -> Result<(), Error> {
        control.send(ruby, |out| encode_signal(out, Kind::Ready))
    }

    /// This process asks to be drained. Safe in a signal handler.
    fn leaving(ruby: &Ruby, control: &Control) -> Result<(), Error> {
        control.send(ruby, |out| encode_signal(out, Kind::Leaving))
    }

    /// This process ends, and `text` says why.
    fn boot_failed(ruby: &Ruby, control: &Control, text: RString) -> Result<(), Error> {
        // SAFETY: no Ruby code runs before the slice has been copied into the frame.
        let text = unsafe { text.as_slice() };
        control.send(ruby, |out| encode_boot_failed(out, text))
    }

    /// Neither this process nor any other of its generation can be a mold, and `text` says why.
    fn not_fork_safe(ruby: &Ruby, control: &Control, text: RString) -> Result<(), Error> {
        // SAFETY: no Ruby code runs before the slice has been copied into the frame.
        let text = unsafe { text.as_slice() };
        control.send(ruby, |out| encode_not_fork_safe(out, text))
    }

    /// Where a request of a lane, counted from 0, stands.
    fn stack(ruby: &Ruby, control: &Control, lane: u16, text: RString) -> Result<(), Error> {
        // SAFETY: no Ruby code runs before the slice has been copied into the frame.
        let text = unsafe { text.as_slice() };
        control.send(ruby, |out| Stack { lane, text }.encode(out))
    }

    /// The figures that the edge has asked for, a JSON object.
    fn figures(ruby: &Ruby, control: &Control, json: RString) -> Result<(), Error> {
        // SAFETY: no Ruby code runs before the slice has been copied into the frame.
        let json = unsafe { json.as_slice() };
        control.send(ruby, |out| encode_figures(out, json))
    }

    /// Closes the socket, and what came through it and was not asked for yet: in a new worker, the sockets of
    /// those that are to be forked next.
    fn close(ruby: &Ruby, control: &Control) -> Result<(), Error> {
        borrow(ruby, &control.state)?.inbox = Inbox::default();
        control.io.close(ruby)
    }

    fn send(&self, ruby: &Ruby, encode: impl FnOnce(&mut Vec<u8>)) -> Result<(), Error> {
        encode(borrow(ruby, &self.state)?.outbox.buffer());
        self.io.drive(ruby, &self.state, State::flush)
    }
}

impl State {
    fn flush(&mut self, socket: BorrowedFd<'_>) -> Result<Step<()>, Failure> {
        Ok(match self.outbox.flush(socket) {
            Ok(Flush::Done) => Step::Done(()),
            Ok(Flush::Blocked) => Step::Wait(Readiness::Writable),
            // The edge is gone; `receive` tells, and there is nobody left to talk to.
            Err(error) if Failure::is_gone(&error) => Step::Done(()),
            Err(error) => return Err(error.into()),
        })
    }

    fn receive(&mut self, socket: BorrowedFd<'_>) -> Result<Step<Message>, Failure> {
        loop {
            if let Some(message) = self.message()? {
                return Ok(Step::Done(message));
            }
            match self.inbox.fill(socket)? {
                Fill::Bytes { .. } => {}
                Fill::Blocked => return Ok(Step::Wait(Readiness::Readable)),
                Fill::Closed => return Ok(Step::Done(Message::End)),
            }
        }
    }

    fn message(&mut self) -> Result<Option<Message>, Failure> {
        let Some(frame) = self.inbox.frames.next()? else {
            return Ok(None);
        };
        Ok(Some(match frame.kind {
            Kind::Drain => Message::Drain,
            Kind::Bye => Message::Bye,
            Kind::AskFigures => Message::AskFigures,
            Kind::AskStack => Message::AskStack(AskStack::decode(frame.payload)?),
            Kind::Promote => Message::Promote(decode_promote(frame.payload)?),
            Kind::ForkWorker => {
                let fork = ForkWorker::decode(frame.payload)?;
                if self.inbox.descriptors.len() < fork.descriptors() {
                    return Err(Failure::NoDescriptor);
                }
                let descriptors = self.inbox.descriptors.drain(..fork.descriptors()).collect();
                Message::ForkWorker(fork, descriptors)
            }
            kind => return Err(Failure::Unexpected(kind)),
        }))
    }
}

/// The message as Ruby sees it; the descriptors belong to Ruby from now on.
fn fork_message(ruby: &Ruby, fork: ForkWorker, descriptors: Vec<OwnedFd>) -> Result<RArray, Error> {
    let mut numbers = descriptors.into_iter().map(IntoRawFd::into_raw_fd);
    let control = numbers.next();
    let lanes = ruby.ary_new_capa(usize::from(fork.lanes));
    while let (Some(socket), Some(page)) = (numbers.next(), numbers.next()) {
        lanes.push((socket, page))?;
    }
    let message = ruby.ary_new_capa(5);
    message.push(ruby.to_symbol("fork_worker"))?;
    message.push(fork.worker)?;
    message.push(fork.generation)?;
    message.push(control)?;
    message.push(lanes)?;
    Ok(message)
}
