//! `Carat::Native::Lane`: the worker's end of one lane.

use std::cell::{Cell, RefCell};
use std::os::fd::{BorrowedFd, FromRawFd, OwnedFd, RawFd};

use carat_link::Flush;
use carat_wire::control::encode_signal;
use carat_wire::{Hello, Kind, Peer};
use magnus::{
    Class, DataTypeFunctions, Error, Module, Object, RHash, RModule, Ruby, TypedData, function, gc,
    method,
};
use rustix::net::{Shutdown, shutdown};

use crate::env::Template;
use crate::error;
use crate::failure::Failure;
use crate::head::Head;
use crate::io::{Io, Readiness, Step, borrow, pause};
use crate::page::MappedPage;
use crate::session::Session;
use crate::turns::{Turns, Want};

/// A socket over which one thread is given requests, and as many places as it works on at once.
#[derive(TypedData)]
#[magnus(class = "Carat::Native::Lane", free_immediately, mark, size)]
pub(crate) struct Lane {
    pub(crate) io: Io,
    pub(crate) state: RefCell<State>,
    pub(crate) page: MappedPage,
    pub(crate) template: Template,
    pub(crate) turns: Turns,
    capacity: Cell<u16>,
    /// How many places there are now.
    places: Cell<u16>,
}

/// What changes from request to request.
pub(crate) struct State {
    pub(crate) session: Session,
    pub(crate) head: Head,
}

impl DataTypeFunctions for Lane {
    fn mark(&self, marker: &gc::Marker) {
        self.io.mark(marker);
        self.template.mark(marker);
        self.turns.mark(marker);
    }
}

/// Defines the class.
pub(crate) fn define(ruby: &Ruby, native: RModule) -> Result<(), Error> {
    let class = native.define_class("Lane", ruby.class_object())?;
    class.undef_default_alloc_func();
    class.define_singleton_method("new", function!(Lane::new, 3))?;
    class.define_method("hello", method!(Lane::hello, 2))?;
    class.define_method("idle", method!(Lane::idle, 0))?;
    class.define_method("give_way", method!(Lane::give_way, 1))?;
    class.define_method("await_vacancy", method!(Lane::await_vacancy, 0))?;
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
            page: MappedPage::map(&page).map_err(|failure| error::link(ruby, failure))?,
            template: Template::from_options(ruby, options)?,
            turns: Turns::default(),
            capacity: Cell::new(0),
            places: Cell::new(0),
            state: RefCell::new(State {
                session: Session::default(),
                head: Head::new(options.fetch(ruby.to_symbol("split"))?),
            }),
        })
    }

    /// Greets the edge; `capacity` is how many requests the lane takes at once, `by_fibers` whether fibers of one thread
    /// do so, and have to take turns.
    fn hello(ruby: &Ruby, lane: &Lane, capacity: u16, by_fibers: bool) -> Result<(), Error> {
        lane.capacity.set(capacity);
        let mut state = borrow(ruby, &lane.state)?;
        if by_fibers {
            state.session.fairness.begin();
        }
        let hello = Hello::new(Peer::Lane, std::process::id(), capacity);
        hello.encode(state.session.outbox.buffer());
        drop(state);
        Lane::flush(ruby, lane)
    }

    /// How many places wait for a request.
    fn idle(&self) -> usize {
        self.turns.idle()
    }

    /// Lets other fibers go on before the next request when so many have been woken, unless it is the one alone that is
    /// to read.
    fn give_way(ruby: &Ruby, lane: &Lane, woken: usize) -> Result<(), Error> {
        if woken > usize::from(lane.turns.is_promised()) {
            borrow(ruby, &lane.state)?.session.fairness.owe();
        }
        Ok(())
    }

    /// Waits until all places are at work, though there may be more of them: true. False when the lane is over, and all
    /// have closed.
    fn await_vacancy(ruby: &Ruby, lane: &Lane) -> Result<bool, Error> {
        loop {
            let (is_over, is_paused, has_held) = {
                let session = &borrow(ruby, &lane.state)?.session;
                (session.is_over(), session.is_paused, session.has_held())
            };
            let places = lane.places.get();
            if is_over && places == 0 {
                return Ok(false);
            }
            let is_waiting = has_held || !lane.turns.is_read();
            let is_missed = lane.turns.idle() == 0 && !is_paused && is_waiting;
            if !is_over && is_missed && places < lane.capacity.get() {
                return Ok(true);
            }
            lane.turns.wait_for_others(ruby, Want::Vacancy)?;
        }
    }

    /// A place more.
    pub(crate) fn add_place(&self) {
        self.places.set(self.places.get() + 1);
    }

    /// A place less.
    pub(crate) fn remove_place(&self, ruby: &Ruby) -> Result<(), Error> {
        self.places.set(self.places.get() - 1);
        self.pass_on(ruby)
    }

    /// Repeats `step` on the state until it is done, for somebody who waits for what `want` says. The state is not
    /// borrowed while this waits.
    pub(crate) fn drive<T>(
        &self,
        ruby: &Ruby,
        want: Want,
        step: impl FnMut(&mut State, BorrowedFd<'_>) -> Result<Step<T>, Failure>,
    ) -> Result<T, Error> {
        let reached = self.repeat(ruby, want, step);
        // Also when this one gives up: others may wait for what only it would have read.
        self.pass_on(ruby)?;
        reached
    }

    fn repeat<T>(
        &self,
        ruby: &Ruby,
        want: Want,
        mut step: impl FnMut(&mut State, BorrowedFd<'_>) -> Result<Step<T>, Failure>,
    ) -> Result<T, Error> {
        loop {
            if want == Want::Request && borrow(ruby, &self.state)?.session.is_paused {
                self.turns.wait_for_others(ruby, want)?;
                continue;
            }
            let reached = {
                let mut state = borrow(ruby, &self.state)?;
                state.session.is_read = self.turns.is_read();
                step(&mut state, self.io.socket(ruby)?)
                    .map_err(|failure| error::link(ruby, failure))?
            };
            let is_old = self.announce(ruby)?;
            match reached {
                Step::Done(result) => return Ok(result),
                // What it wants may have been read by one of those that were woken.
                Step::Wait(Readiness::Readable) if is_old => {}
                Step::Wait(Readiness::Writable) => self.io.wait(ruby, Readiness::Writable)?,
                Step::Wait(Readiness::Readable) => {
                    let read = || self.io.wait(ruby, Readiness::Readable);
                    self.turns.wait(ruby, want, read)?;
                }
                Step::Pause => self.pause(ruby)?,
            }
            borrow(ruby, &self.state)?.session.fairness.resumed();
        }
    }

    /// Lets others have their turn. What has arrived stays where it is until then: no other place, and no new one, is
    /// needed for it, since this one goes on.
    fn pause(&self, ruby: &Ruby) -> Result<(), Error> {
        borrow(ruby, &self.state)?.session.is_paused = true;
        let paused = pause(ruby);
        borrow(ruby, &self.state)?.session.is_paused = false;
        paused
    }

    /// Wakes those for whom something has been read; whether there was anybody.
    fn announce(&self, ruby: &Ruby) -> Result<bool, Error> {
        let (news, has_request) = borrow(ruby, &self.state)?.session.take_news();
        self.turns.announce(ruby, &news, has_request)
    }

    fn pass_on(&self, ruby: &Ruby) -> Result<(), Error> {
        self.turns
            .pass_on(ruby, self.places.get() < self.capacity.get())
    }

    /// Sends what waits.
    pub(crate) fn flush(ruby: &Ruby, lane: &Lane) -> Result<(), Error> {
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
        borrow(ruby, &lane.state)?.session.talks.drain();
        lane.end_if_idle(ruby)
    }

    /// Wakes whoever reads when nothing more comes: the lane drains, and no request is under way, so that the edge,
    /// which has been told to send no more, has nothing to say on this socket.
    pub(crate) fn end_if_idle(&self, ruby: &Ruby) -> Result<(), Error> {
        if borrow(ruby, &self.state)?.session.is_drained() {
            shutdown(self.io.socket(ruby)?, Shutdown::Read)
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
}
