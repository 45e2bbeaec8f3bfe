//! `Carat::Native::Lane`: the worker's end of one lane.

use std::cell::{Cell, RefCell};
use std::os::fd::BorrowedFd;
use std::time::Instant;

use carat_lane::{HeadEncoder, LaneSession, LinkError, Readiness, Step, WaitFor};
use magnus::value::ReprValue;
use magnus::{
    Class, DataTypeFunctions, Error, Module, Object, RFile, RHash, RModule, Ruby, TypedData, Value,
    function, gc, method,
};
use rustix::net::{Shutdown, shutdown};

use crate::environment::EnvTemplate;
use crate::interpreter::{Io, borrow, error, yield_to_others};
use crate::lanes::page::MappedPage;
use crate::lanes::reader_role::ReaderRole;
use crate::processes::{CollectionWatch, full_marks};

/// A socket over which one thread gets requests, with a slot for each request that the thread works on at once.
#[derive(TypedData)]
#[magnus(class = "Carat::Native::Lane", free_immediately, mark, size)]
pub(crate) struct Lane {
    pub(crate) io: Io,
    pub(crate) session: RefCell<LaneSession>,
    pub(crate) head: RefCell<HeadEncoder>,
    pub(crate) page: MappedPage,
    pub(crate) template: EnvTemplate,
    pub(crate) reader_role: ReaderRole,
    collections: CollectionWatch,
    capacity: Cell<u16>,
    slots: Cell<u16>,
}

impl DataTypeFunctions for Lane {
    fn mark(&self, marker: &gc::Marker) {
        self.io.mark(marker);
        self.template.mark(marker);
        self.reader_role.mark(marker);
        self.collections.mark(marker);
    }
}

/// Defines the class.
pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let class = native.define_class("Lane", ruby.class_object())?;
    class.undef_default_alloc_func();
    class.define_singleton_method("new", function!(Lane::new, 3))?;
    class.define_method("watch_collections", method!(Lane::watch_collections, 1))?;
    class.define_method("hello", method!(Lane::hello, 2))?;
    class.define_method("idle", method!(Lane::idle, 0))?;
    class.define_method("held?", method!(Lane::is_held, 0))?;
    class.define_method("give_way", method!(Lane::give_way, 1))?;
    class.define_method("await_slot_demand", method!(Lane::await_slot_demand, 0))?;
    class.define_method("flush", method!(Lane::flush, 0))?;
    class.define_method("drain", method!(Lane::drain, 0))?;
    class.define_method("leave", method!(Lane::leave, 0))?;
    Ok(())
}

impl Lane {
    /// Takes over two IOs, the socket and the page, and closes them. The options come from `Request::EnvTemplate`.
    fn new(ruby: &Ruby, socket: RFile, page: RFile, options: RHash) -> Result<Lane, Error> {
        let splits_lines = options.fetch(ruby.to_symbol("split"))?;
        let lane = Lane {
            page: MappedPage::map(ruby, page)?,
            io: Io::take_over(ruby, socket)?,
            template: EnvTemplate::from_options(ruby, options)?,
            reader_role: ReaderRole::default(),
            collections: CollectionWatch::default(),
            capacity: Cell::new(0),
            slots: Cell::new(0),
            session: RefCell::default(),
            head: RefCell::new(HeadEncoder::new(splits_lines)),
        };
        page.funcall::<_, _, Value>("close", ())?;
        Ok(lane)
    }

    /// Calls `review` of `observer` between two requests when the garbage collector has run.
    fn watch_collections(ruby: &Ruby, lane: &Lane, observer: Value) {
        lane.collections.set(ruby, observer);
    }

    /// Sends pending responses and calls the observer if the garbage collector has run. Tells the edge when a full
    /// collection is due.
    pub(crate) fn report_collections(&self, ruby: &Ruby) -> Result<(), Error> {
        if let Some(observer) = self.collections.due(ruby) {
            self.linger(&mut *borrow(ruby, &self.session)?);
            Lane::flush(ruby, self)?;
            observer.funcall::<_, _, Value>("review", ())?;
        }
        if let Some(due) = full_marks::take_due() {
            borrow(ruby, &self.session)?.report_collection_due(due);
            Lane::flush(ruby, self)?;
        }
        Ok(())
    }

    /// Greets the edge. `capacity` is how many requests the lane takes at once, `is_shared` whether one thread
    /// serves them in turns.
    fn hello(ruby: &Ruby, lane: &Lane, capacity: u16, is_shared: bool) -> Result<(), Error> {
        lane.capacity.set(capacity);
        borrow(ruby, &lane.session)?.push_hello(capacity, is_shared);
        Lane::flush(ruby, lane)
    }

    /// How many slots wait for a request.
    fn idle(&self) -> usize {
        self.reader_role.idle()
    }

    /// Whether a method of the lane or of one of its slots is running: nothing may wait now. Only finalizers can see this.
    fn is_held(&self) -> bool {
        self.session.try_borrow_mut().is_err() || self.head.try_borrow_mut().is_err()
    }

    /// Lets others run before the next request, if any but the reader have been `woken`.
    fn give_way(ruby: &Ruby, lane: &Lane, woken: usize) -> Result<(), Error> {
        if woken > usize::from(lane.reader_role.is_promised()) {
            borrow(ruby, &lane.session)?.yield_before_next();
        }
        Ok(())
    }

    /// Waits until another slot is needed: all are busy, and there may be more. Returns false when the lane is over, and
    /// all slots have closed.
    fn await_slot_demand(ruby: &Ruby, lane: &Lane) -> Result<bool, Error> {
        loop {
            let (is_over, is_paused, has_held) = {
                let session = borrow(ruby, &lane.session)?;
                (session.is_over(), session.is_paused, session.has_held())
            };
            if is_over && lane.slots.get() == 0 {
                return Ok(false);
            }
            let is_waiting = has_held || !lane.reader_role.is_read();
            let is_needed = lane.reader_role.idle() == 0 && !is_paused && is_waiting;
            if !is_over && is_needed && lane.may_open_slot() {
                return Ok(true);
            }
            lane.reader_role
                .wait_for_others(ruby, WaitFor::SlotDemand)?;
        }
    }

    /// Counts a slot that opens.
    pub(crate) fn add_slot(&self) {
        self.slots.set(self.slots.get() + 1);
    }

    /// Counts a slot that closes.
    pub(crate) fn remove_slot(&self, ruby: &Ruby) -> Result<(), Error> {
        self.slots.set(self.slots.get() - 1);
        self.pass_on(ruby)
    }

    /// Repeats `step` until it is done, for a waiter for `wanted`. The session is not borrowed while this waits.
    pub(crate) fn drive<T>(
        &self,
        ruby: &Ruby,
        wanted: WaitFor,
        step: impl FnMut(&mut LaneSession, BorrowedFd<'_>) -> Result<Step<T>, LinkError>,
    ) -> Result<T, Error> {
        let reached = self.repeat(ruby, wanted, step);
        // Also after an error: other slots may wait for frames that only this slot would have read.
        self.pass_on(ruby)?;
        reached
    }

    fn repeat<T>(
        &self,
        ruby: &Ruby,
        wanted: WaitFor,
        mut step: impl FnMut(&mut LaneSession, BorrowedFd<'_>) -> Result<Step<T>, LinkError>,
    ) -> Result<T, Error> {
        loop {
            if wanted == WaitFor::Request && borrow(ruby, &self.session)?.is_paused {
                self.reader_role.wait_for_others(ruby, wanted)?;
                continue;
            }
            let reached = {
                let mut session = borrow(ruby, &self.session)?;
                session.is_read = self.reader_role.is_read();
                step(&mut session, self.io.socket(ruby)?)
                    .map_err(|failure| error::link(ruby, failure))?
            };
            let is_old = self.announce(ruby)?;
            match reached {
                Step::Done(result) => return Ok(result),
                // Another slot that was woken may have read what this one wants.
                Step::Wait(Readiness::Readable) if is_old => {}
                Step::Wait(Readiness::Writable) => self.io.wait(ruby, Readiness::Writable)?,
                Step::Wait(Readiness::Readable) => {
                    let read = || self.io.wait(ruby, Readiness::Readable);
                    self.reader_role.wait(ruby, wanted, read)?;
                }
                Step::Yield => self.pause(ruby)?,
            }
            borrow(ruby, &self.session)?.resumed(Instant::now());
        }
    }

    /// Lets the other slots of the thread run. A request that has arrived waits for this slot, which then continues:
    /// neither an idle slot nor a new one is needed.
    fn pause(&self, ruby: &Ruby) -> Result<(), Error> {
        borrow(ruby, &self.session)?.is_paused = true;
        let paused = yield_to_others(ruby);
        borrow(ruby, &self.session)?.is_paused = false;
        paused
    }

    /// Wakes the waiters for which something has been read. Returns whether there were any.
    fn announce(&self, ruby: &Ruby) -> Result<bool, Error> {
        let (updated, has_request) = borrow(ruby, &self.session)?.take_updates();
        self.reader_role.announce(ruby, &updated, has_request)
    }

    fn pass_on(&self, ruby: &Ruby) -> Result<(), Error> {
        self.reader_role.pass_on(ruby, self.may_open_slot())
    }

    fn may_open_slot(&self) -> bool {
        self.slots.get() < self.capacity.get()
    }

    /// Announces code that runs after the response: the edge prefers other lanes meanwhile. A thread that many share
    /// takes requests all the same.
    pub(crate) fn linger(&self, session: &mut LaneSession) {
        if self.capacity.get() == 1 {
            self.page.linger(true);
            session.linger();
        }
    }

    /// Sends the outbox.
    pub(crate) fn flush(ruby: &Ruby, lane: &Lane) -> Result<(), Error> {
        lane.io.drive(ruby, &lane.session, LaneSession::flush)
    }

    /// Lets `take` return nil when it has handed out what has arrived. Any thread may call it, also after the lane has
    /// closed.
    fn drain(ruby: &Ruby, lane: &Lane) -> Result<(), Error> {
        if !lane.io.is_open() {
            return Ok(());
        }
        borrow(ruby, &lane.session)?.drain();
        lane.end_if_drained(ruby)
    }

    /// Wakes the reader when nothing more arrives: the lane drains and no request is in flight, so nothing more comes
    /// from the edge, which has been told to send no more.
    pub(crate) fn end_if_drained(&self, ruby: &Ruby) -> Result<(), Error> {
        if borrow(ruby, &self.session)?.is_drained() {
            shutdown(self.io.socket(ruby)?, Shutdown::Read)
                .map_err(|errno| error::link(ruby, errno))?;
        }
        Ok(())
    }

    /// Says goodbye and closes the lane.
    fn leave(ruby: &Ruby, lane: &Lane) -> Result<(), Error> {
        borrow(ruby, &lane.session)?.push_bye();
        Lane::flush(ruby, lane)?;
        lane.io.close(ruby)
    }
}
