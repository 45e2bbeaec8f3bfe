//! `Carat::Native::Slot`: one request of a lane at a time. `respond.rs` has the methods that respond to it.

use std::cell::Cell;
use std::os::fd::OwnedFd;
use std::time::Instant;

use carat_lane::{CurrentRequest, TakenRequest, WaitFor};
use carat_wire::{Name, Request, RequestBody};
use magnus::typed_data::Obj;
use magnus::value::{Opaque, ReprValue};
use magnus::{
    Class, DataTypeFunctions, Error, Module, Object, RHash, RModule, Ruby, TypedData, Value,
    function, gc, method,
};

use crate::environment::environment;
use crate::interpreter::{borrow, error, roots};
use crate::lanes::input::Input;
use crate::lanes::lane::Lane;
use crate::processes::{MarksSeen, close_forgotten_files};

/// A slot of a lane, which has one of the requests that the lane works on at once.
#[derive(TypedData)]
#[magnus(class = "Carat::Native::Slot", free_immediately, mark, size)]
pub(crate) struct Slot {
    lane: Opaque<Obj<Lane>>,
    /// The request that waits for its response.
    pub(crate) current: Cell<Option<CurrentRequest>>,
    /// The full garbage collections that had happened when the request began.
    pub(crate) marks: Cell<MarksSeen>,
    /// The request whose response is being streamed, or whose connection the application has taken over.
    pub(crate) streaming: Cell<Option<u32>>,
    /// `rack.input` of the last request, when it is a file.
    input: Cell<Option<Opaque<Value>>>,
    /// The files of the last request's form.
    form_files: Cell<Option<Opaque<Value>>>,
    is_closed: Cell<bool>,
}

impl DataTypeFunctions for Slot {
    fn mark(&self, marker: &gc::Marker) {
        marker.mark(self.lane);
        for owned in [&self.input, &self.form_files] {
            if let Some(owned) = owned.get() {
                marker.mark(owned);
            }
        }
    }
}

/// Defines the class.
pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let class = native.define_class("Slot", ruby.class_object())?;
    class.undef_default_alloc_func();
    class.define_singleton_method("new", function!(Slot::new, 1))?;
    class.define_method("take", method!(Slot::take, 0))?;
    class.define_method("id", method!(Slot::id, 0))?;
    class.define_method("respond", method!(Slot::respond_inline, 3))?;
    class.define_method("respond_empty", method!(Slot::respond_empty, 2))?;
    class.define_method("respond_file", method!(Slot::respond_file, 3))?;
    class.define_method("respond_tunnel", method!(Slot::respond_tunnel, 3))?;
    class.define_method("hijack", method!(Slot::hijack, 2))?;
    class.define_method("head?", method!(Slot::is_head, 0))?;
    class.define_method("fail", method!(Slot::fail, 1))?;
    class.define_method("hint", method!(Slot::hint, 2))?;
    class.define_method("pending?", method!(Slot::is_pending, 0))?;
    class.define_method("open_stream", method!(Slot::open_stream, 2))?;
    class.define_method("write", method!(Slot::write, 1))?;
    class.define_method("close_stream", method!(Slot::close_stream, 0))?;
    class.define_method("abort_stream", method!(Slot::abort_stream, 0))?;
    class.define_method("flush", method!(Slot::flush, 0))?;
    class.define_method("linger", method!(Slot::linger, 0))?;
    class.define_method("close", method!(Slot::close, 0))?;
    Ok(())
}

/// Whether the client's side of a request can become a tunnel. Where requests share a connection, only an
/// extended CONNECT can, which the edge translates to an upgrade.
fn may_switch(request: &Request<'_>) -> bool {
    let upgrade = Name::Known(roots().upgrade);
    let mut headers = request.headers.into_iter();
    request.head.version < 20 || headers.any(|(name, _)| name == upgrade)
}

impl Slot {
    fn new(lane: Obj<Lane>) -> Slot {
        lane.add_slot();
        Slot {
            lane: lane.into(),
            current: Cell::new(None),
            marks: Cell::default(),
            streaming: Cell::new(None),
            input: Cell::new(None),
            form_files: Cell::new(None),
            is_closed: Cell::new(false),
        }
    }

    /// The lane that the slot belongs to.
    pub(crate) fn lane(&self, ruby: &Ruby) -> Obj<Lane> {
        ruby.get_inner(self.lane)
    }

    /// Waits for the next request and returns its environment; nil when no request follows.
    fn take(ruby: &Ruby, slot: Obj<Slot>) -> Result<Option<RHash>, Error> {
        slot.close_files(ruby)?;
        let lane = slot.lane(ruby);
        lane.report_collections(ruby)?;
        lane.page.linger(false);
        while let Some(started) = wait(ruby, &lane)? {
            if let Some(env) = Slot::take_arrived(ruby, slot, lane, started)? {
                return Ok(Some(env));
            }
        }
        Ok(None)
    }

    /// Takes the request at the front; `None` when the edge has recalled it, or sends it again.
    fn take_arrived(
        ruby: &Ruby,
        slot: Obj<Slot>,
        lane: Obj<Lane>,
        started: Instant,
    ) -> Result<Option<RHash>, Error> {
        let mut session = borrow(ruby, &lane.session)?;
        let taken = session.take(|request, descriptors| {
            let (id, is_head) = (request.head.id, request.head.method == b"HEAD");
            let begins = lane.page.begin(id);
            let is_streamed = matches!(request.body, RequestBody::Stream { .. });
            // In a tunnel, nobody could tell where a body that still arrives ends.
            let may_take_over = !is_streamed && may_switch(request);
            let taker = may_take_over.then_some(slot);
            let env = begins.then(|| slot.env(ruby, lane, taker, request, descriptors.body));
            let current = CurrentRequest {
                id,
                is_head,
                started,
            };
            (current, env.transpose(), is_streamed, descriptors.files)
        });
        let taken = taken.map_err(|failure| error::link(ruby, failure))?;
        let (current, env, is_streamed, files) = match taken {
            TakenRequest::Request(taken) => taken,
            TakenRequest::DescriptorsLost(id) => {
                drop(session); // other code may run in what follows
                close_forgotten_files(ruby)?;
                borrow(ruby, &lane.session)?.report_descriptors_lost(id);
                return Ok(None);
            }
        };
        let Some(env) = env? else {
            session.skip(current.id);
            return Ok(None);
        };
        session.begin(current.id, is_streamed);
        slot.current.set(Some(current));
        slot.marks.set(MarksSeen::now());
        drop(session); // other threads may run in what follows
        slot.add_form_files(ruby, &lane, env, files)?;
        Ok(Some(env))
    }

    /// With a `taker`, the application may take over the connection.
    fn env(
        &self,
        ruby: &Ruby,
        lane: Obj<Lane>,
        taker: Option<Obj<Slot>>,
        request: &Request<'_>,
        file: Option<OwnedFd>,
    ) -> Result<RHash, Error> {
        let input = match (file, request.body) {
            (Some(file), _) => {
                let spooled = lane.template.file(ruby, file)?;
                self.input.set(Some(spooled.into()));
                Some(spooled)
            }
            (None, RequestBody::Inline(bytes)) => Some(lane.template.memory(ruby, bytes)?),
            (None, RequestBody::Stream { .. }) => {
                let streamed = Input::new(lane, request.head.id);
                Some(lane.template.stream(ruby, streamed))
            }
            (None, _) => None,
        };
        let taker = taker.map(ReprValue::as_value);
        environment(ruby, &lane.template, request, input, taker)
    }

    fn add_form_files(
        &self,
        ruby: &Ruby,
        lane: &Lane,
        env: RHash,
        files: Vec<Option<OwnedFd>>,
    ) -> Result<(), Error> {
        if !files.is_empty() {
            let files = lane.template.add_form_files(ruby, env, files)?;
            self.form_files.set(Some(files.into()));
        }
        Ok(())
    }

    /// The id by which the edge knows the current request; nil between two requests.
    fn id(&self) -> Option<u32> {
        let waiting = self.current.get().map(|current| current.id);
        waiting.or(self.streaming.get())
    }

    /// Whether the request that waits for its response is a HEAD.
    fn is_head(&self) -> bool {
        self.current.get().is_some_and(|current| current.is_head)
    }

    /// Whether a request waits for its response.
    fn is_pending(&self) -> bool {
        self.current.get().is_some()
    }

    /// Sends the lane's outbox.
    fn flush(ruby: &Ruby, slot: &Slot) -> Result<(), Error> {
        Lane::flush(ruby, &slot.lane(ruby))
    }

    /// Sends the lane's outbox before code of the application that follows the response.
    fn linger(ruby: &Ruby, slot: &Slot) -> Result<(), Error> {
        let lane = slot.lane(ruby);
        lane.linger(&mut *borrow(ruby, &lane.session)?);
        Lane::flush(ruby, &lane)
    }

    /// Takes no more requests; a second call does nothing.
    fn close(ruby: &Ruby, slot: &Slot) -> Result<(), Error> {
        if slot.is_closed.replace(true) {
            return Ok(());
        }
        slot.close_files(ruby)?;
        let lane = slot.lane(ruby);
        if lane.reader_role.is_read() {
            // The next reader would flush, but the present one waits already.
            Lane::flush(ruby, &lane)?;
        }
        lane.remove_slot(ruby)
    }

    /// Closes the files of the last request.
    fn close_files(&self, ruby: &Ruby) -> Result<(), Error> {
        let open = [self.input.take(), self.form_files.take()];
        for owned in open.into_iter().flatten() {
            ruby.get_inner(owned).funcall::<_, _, Value>("close", ())?;
        }
        Ok(())
    }
}

/// Waits until a request is at the front. Returns when that was, or `None` when no request follows.
fn wait(ruby: &Ruby, lane: &Lane) -> Result<Option<Instant>, Error> {
    let mut now = Instant::now();
    let arrived = lane.drive(ruby, WaitFor::Request, |session, socket| {
        now = Instant::now();
        session.next(socket, now)
    })?;
    Ok(arrived.then_some(now))
}
