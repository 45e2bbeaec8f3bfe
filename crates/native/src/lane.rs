//! `Carat::Native::Lane`: the worker's end of one lane.

use std::cell::{Cell, RefCell};
use std::os::fd::{FromRawFd, OwnedFd, RawFd};
use std::time::Instant;

use link::Flush;
use magnus::typed_data::Obj;
use magnus::value::{Opaque, ReprValue};
use magnus::{
    Class, DataTypeFunctions, Error, Module, Object, RHash, RModule, Ruby, TypedData, Value,
    function, gc, method,
};
use rustix::net::{Shutdown, shutdown};
use wire::control::encode_signal;
use wire::stream::encode_abort;
use wire::{Hello, Kind, Peer, Request, RequestBody};

use crate::env::Template;
use crate::error;
use crate::head::Head;
use crate::input::Input;
use crate::intake::Intake;
use crate::io::{Io, Readiness, Step, borrow};
use crate::page::Page;
use crate::session::Session;

/// A lane of capacity 1.
#[derive(TypedData)]
#[magnus(class = "Carat::Native::Lane", free_immediately, mark, size)]
pub(crate) struct Lane {
    pub(crate) io: Io,
    pub(crate) state: RefCell<State>,
    page: Page,
    template: Template,
    /// `rack.input` of the last request, when it is a file.
    input: Cell<Option<Opaque<Value>>>,
    /// The files of the last request's form.
    form_files: Cell<Option<Opaque<Value>>>,
}

/// What changes from request to request.
pub(crate) struct State {
    pub(crate) session: Session,
    pub(crate) head: Head,
    /// The request that waits for its answer.
    pub(crate) current: Option<Current>,
}

/// A request that the application works on.
#[derive(Clone, Copy)]
pub(crate) struct Current {
    pub(crate) id: u32,
    pub(crate) is_head: bool,
    pub(crate) started: Instant,
}

impl DataTypeFunctions for Lane {
    fn mark(&self, marker: &gc::Marker) {
        self.io.mark(marker);
        self.template.mark(marker);
        for owned in [&self.input, &self.form_files] {
            if let Some(owned) = owned.get() {
                marker.mark(owned);
            }
        }
    }
}

/// Defines the class.
pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let class = native.define_class("Lane", ruby.class_object())?;
    class.undef_default_alloc_func();
    class.define_singleton_method("new", function!(Lane::new, 3))?;
    class.define_method("hello", method!(Lane::hello, 1))?;
    class.define_method("take", method!(Lane::take, 0))?;
    class.define_method("answer", method!(Lane::answer, 3))?;
    class.define_method("answer_empty", method!(Lane::answer_empty, 2))?;
    class.define_method("answer_file", method!(Lane::answer_file, 3))?;
    class.define_method("head?", method!(Lane::is_head, 0))?;
    class.define_method("pending?", method!(Lane::is_pending, 0))?;
    class.define_method("open_stream", method!(Lane::open_stream, 2))?;
    class.define_method("write", method!(Lane::write, 1))?;
    class.define_method("close_stream", method!(Lane::close_stream, 0))?;
    class.define_method("abort_stream", method!(Lane::abort_stream, 0))?;
    class.define_method("flush", method!(Lane::flush, 0))?;
    class.define_method("drain", method!(Lane::drain, 0))?;
    class.define_method("leave", method!(Lane::leave, 0))?;
    Ok(())
}

impl Lane {
    fn new(ruby: &Ruby, socket: RawFd, page: RawFd, options: RHash) -> Result<Lane, Error> {
        // SAFETY: the mold has received this descriptor for this lane, and nobody else owns it.
        let page = unsafe { OwnedFd::from_raw_fd(page) };
        Ok(Lane {
            io: Io::new(ruby, socket)?,
            page: Page::map(&page).map_err(|failure| error::link(ruby, failure))?,
            template: Template::from_options(ruby, options)?,
            input: Cell::new(None),
            form_files: Cell::new(None),
            state: RefCell::new(State {
                session: Session::default(),
                head: Head::new(options.fetch(ruby.to_symbol("split"))?),
                current: None,
            }),
        })
    }

    /// Greets the edge; `capacity` is how many requests the lane takes at once.
    fn hello(ruby: &Ruby, lane: &Lane, capacity: u16) -> Result<(), Error> {
        let hello = Hello::new(Peer::Lane, std::process::id(), capacity);
        hello.encode(borrow(ruby, &lane.state)?.session.outbox.buffer());
        Lane::flush(ruby, lane)
    }

    /// Waits for the next request and returns its environment; nil when none follows.
    fn take(ruby: &Ruby, lane: Obj<Lane>) -> Result<Option<RHash>, Error> {
        lane.close_files(ruby)?;
        while let Some(started) = lane.wait(ruby)? {
            if let Some(env) = Lane::take_arrived(ruby, lane, started)? {
                return Ok(Some(env));
            }
        }
        Ok(None)
    }

    /// Waits until a request is at the front; returns when, or `None` when none follows.
    fn wait(&self, ruby: &Ruby) -> Result<Option<Instant>, Error> {
        let mut now = Instant::now();
        let arrived = self.io.drive(ruby, &self.state, |state, socket| {
            now = Instant::now();
            state.session.next(socket, now)
        })?;
        Ok(arrived.then_some(now))
    }

    /// Takes the request at the front; `None` when the edge has recalled it.
    fn take_arrived(
        ruby: &Ruby,
        lane: Obj<Lane>,
        started: Instant,
    ) -> Result<Option<RHash>, Error> {
        let mut state = borrow(ruby, &lane.state)?;
        let taken = state.session.take(|request, descriptors| {
            let (id, is_head) = (request.head.id, request.head.method == b"HEAD");
            let begins = lane.page.begin(id);
            let is_streamed = matches!(request.body, RequestBody::Stream { .. });
            let env = begins.then(|| Lane::env(ruby, lane, request, descriptors.body));
            let current = Current {
                id,
                is_head,
                started,
            };
            let intake = is_streamed.then(|| Intake::new(id));
            let env = env.map(|env| env.map(|env| (env, intake)));
            (current, env.transpose(), descriptors.files)
        });
        let (current, env, files) = taken.map_err(|failure| error::link(ruby, failure))?;
        let Some((env, intake)) = env? else {
            encode_abort(state.session.outbox.buffer(), current.id);
            return Ok(None);
        };
        state.session.intake = intake;
        state.current = Some(current);
        drop(state); // other threads may run in what follows
        lane.add_form_files(ruby, env, files)?;
        Ok(Some(env))
    }

    fn env(
        ruby: &Ruby,
        lane: Obj<Lane>,
        request: &Request<'_>,
        file: Option<OwnedFd>,
    ) -> Result<RHash, Error> {
        let input = match (file, request.body) {
            (Some(file), _) => {
                let input = lane.template.file(ruby, file)?;
                lane.input.set(Some(input.into()));
                input
            }
            (None, RequestBody::Inline(bytes)) => lane.template.memory(ruby, bytes)?,
            (None, RequestBody::Stream { .. }) => {
                let input = Input::new(lane, request.head.id);
                lane.template.stream(ruby, input)
            }
            (None, _) => lane.template.memory(ruby, b"")?,
        };
        lane.template.env(ruby, request, input)
    }

    fn add_form_files(
        &self,
        ruby: &Ruby,
        env: RHash,
        files: Vec<Option<OwnedFd>>,
    ) -> Result<(), Error> {
        if !files.is_empty() {
            let files = self.template.add_form_files(ruby, env, files)?;
            self.form_files.set(Some(files.into()));
        }
        Ok(())
    }

    /// Whether the request that waits for its answer is a HEAD.
    fn is_head(ruby: &Ruby, lane: &Lane) -> Result<bool, Error> {
        let state = borrow(ruby, &lane.state)?;
        Ok(state.current.is_some_and(|current| current.is_head))
    }

    /// Whether a request waits for its answer.
    fn is_pending(ruby: &Ruby, lane: &Lane) -> Result<bool, Error> {
        Ok(borrow(ruby, &lane.state)?.current.is_some())
    }

    /// Sends what waits.
    fn flush(ruby: &Ruby, lane: &Lane) -> Result<(), Error> {
        lane.io.drive(ruby, &lane.state, |state, socket| {
            Ok(match state.session.flush(socket)? {
                Flush::Done => Step::Done(()),
                Flush::Blocked => Step::Wait(Readiness::Writable),
            })
        })
    }

    /// Has `take` return nil when it has handed out what has arrived; for another thread than the lane's,
    /// which may have left already.
    fn drain(ruby: &Ruby, lane: &Lane) -> Result<(), Error> {
        if !lane.io.is_open() {
            return Ok(());
        }
        let mut state = borrow(ruby, &lane.state)?;
        if state.session.drain() && state.current.is_none() {
            // Wakes the lane's thread, which finds the end of what it reads.
            shutdown(lane.io.socket(ruby)?, Shutdown::Read)
                .map_err(|errno| error::link(ruby, errno))?;
        }
        Ok(())
    }

    /// Says goodbye and closes the lane.
    fn leave(ruby: &Ruby, lane: &Lane) -> Result<(), Error> {
        encode_signal(
            borrow(ruby, &lane.state)?.session.outbox.buffer(),
            Kind::Bye,
        );
        Lane::flush(ruby, lane)?;
        lane.io.close(ruby)
    }

    /// Closes what the last request had open.
    fn close_files(&self, ruby: &Ruby) -> Result<(), Error> {
        let open = [self.input.take(), self.form_files.take()];
        for owned in open.into_iter().flatten() {
            ruby.get_inner(owned).funcall::<_, _, Value>("close", ())?;
        }
        Ok(())
    }
}
