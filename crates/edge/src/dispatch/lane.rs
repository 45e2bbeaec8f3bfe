use std::cell::{Cell, Ref, RefCell};
use std::collections::VecDeque;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::rc::Rc;
use std::sync::atomic::{Ordering, fence};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use link::Outbox;
use wire::control::Page;

use super::Intake;
use super::encode::encode;
use super::exchange::Exchange;
use super::pace::{PREFETCH_WAIT, Pace};
use crate::body::StreamSender;
use crate::frames::FrameSocket;
use crate::supervise::WorkerId;

/// With so many bytes waiting to be sent, a lane takes no further request.
const OUTBOX_LIMIT: usize = 1024 * 1024;

/// After so many requests an old recall is refreshed.
const RECALL_REFRESH: u32 = 1 << 24;

/// Which lane of which worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct LaneTag {
    pub(crate) worker: WorkerId,
    pub(crate) lane: u16,
}

/// One Ruby thread, seen from the edge: what it was given and has not answered.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) tag: LaneTag,
    page: File,
    state: Cell<State>,
    is_over: Cell<bool>,
    capacity: Cell<u16>,
    outbox: RefCell<Outbox>,
    held: RefCell<VecDeque<Held>>,
    last_id: Cell<u32>,
    /// The id through which requests were recalled.
    recalled: Cell<u32>,
    pace: Cell<Pace>,
    front_since: Cell<Instant>,
    waker: RefCell<Option<Waker>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// The worker has not said hello yet.
    Opening,
    /// Takes requests.
    Open,
    /// Finishes what it holds.
    Draining,
    /// Its worker is over the time of a request, or gone.
    Closed,
}

/// A request that the worker has been given.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) id: u32,
    pub(super) stage: Stage,
}

#[derive(Debug)]
pub(super) enum Stage {
    /// The application has not answered.
    Waiting(Rc<Exchange>),
    /// Its answer is being streamed, while the application may still read its body.
    Streaming(StreamSender, Option<Rc<Intake>>),
}

impl Lane {
    pub(crate) fn new(tag: LaneTag, page: File) -> Lane {
        Lane {
            tag,
            page,
            state: Cell::new(State::Opening),
            is_over: Cell::new(false),
            capacity: Cell::new(0),
            outbox: RefCell::default(),
            held: RefCell::default(),
            last_id: Cell::new(0),
            recalled: Cell::new(0),
            pace: Cell::default(),
            front_since: Cell::new(Instant::now()),
            waker: RefCell::default(),
        }
    }

    pub(crate) fn state(&self) -> State {
        self.state.get()
    }

    pub(crate) fn set_state(&self, state: State) {
        self.state.set(state);
    }

    /// The worker has said hello.
    pub(super) fn open(&self, capacity: u16) {
        self.capacity.set(capacity);
        self.state.set(State::Open);
    }

    /// The worker is dead: once what it has sent is read, the lane is over. The socket does not tell when
    /// a process that the worker has started holds its end open.
    pub(crate) fn worker_died(&self) {
        self.is_over.set(true);
        self.wake();
    }

    /// Whether nothing more comes.
    pub(super) fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// Whether the worker holds nothing.
    pub(crate) fn is_empty(&self) -> bool {
        self.held.borrow().is_empty()
    }

    /// What the worker holds, oldest first.
    pub(super) fn held(&self) -> Ref<'_, VecDeque<Held>> {
        self.held.borrow()
    }

    /// Whether the lane takes another request.
    pub(super) fn has_room(&self, now: Instant) -> bool {
        let held = self.held.borrow().len();
        self.state.get() == State::Open
            && self
                .pace
                .get()
                .has_room(usize::from(self.capacity.get()), held, self.running(now))
            && self.outbox.borrow().len() < OUTBOX_LIMIT
    }

    /// How long the request at the front has been with the worker.
    pub(super) fn running(&self, now: Instant) -> Duration {
        now.saturating_duration_since(self.front_since.get())
    }

    /// Gives the worker a request.
    pub(super) fn begin(self: &Rc<Self>, exchange: Rc<Exchange>, now: Instant) -> io::Result<()> {
        let id = self.last_id.get().wrapping_add(1);
        encode(&mut self.outbox.borrow_mut(), id, &exchange.call)?;
        if let Some(intake) = exchange.call.intake() {
            intake.connect(Rc::clone(self), id);
        }
        self.last_id.set(id);
        if id % RECALL_REFRESH == 0 {
            self.refresh_recall()?;
        }
        let mut held = self.held.borrow_mut();
        if held.is_empty() {
            self.front_since.set(now);
        }
        held.push_back(Held {
            id,
            stage: Stage::Waiting(exchange),
        });
        self.wake();
        Ok(())
    }

    /// Takes the request with this id off the lane.
    pub(super) fn release(&self, id: u32, now: Instant) -> Option<Stage> {
        let mut held = self.held.borrow_mut();
        let place = held.iter().position(|held| held.id == id)?;
        if place == 0 {
            self.front_since.set(now);
        }
        held.remove(place).map(|held| held.stage)
    }

    /// Puts the request back as one whose answer is being streamed.
    pub(super) fn keep_streaming(&self, id: u32, sender: StreamSender, intake: Option<Rc<Intake>>) {
        self.held.borrow_mut().push_front(Held {
            id,
            stage: Stage::Streaming(sender, intake),
        });
    }

    /// The worker takes `bytes` more of the body of request `id`.
    pub(super) fn grant(&self, id: u32, bytes: u32) {
        let held = self.held.borrow();
        let intake = held
            .iter()
            .find(|held| held.id == id)
            .and_then(|held| match &held.stage {
                Stage::Waiting(exchange) => exchange.call.intake(),
                Stage::Streaming(_, intake) => intake.as_ref(),
            });
        if let Some(intake) = intake {
            intake.grant(bytes);
        }
    }

    /// Takes everything that the worker holds, oldest first.
    pub(super) fn take_held(&self) -> VecDeque<Held> {
        self.held.take()
    }

    /// The request that the worker has begun last, as it wrote on the shared page.
    pub(super) fn begun(&self) -> u32 {
        let mut id = [0; size_of::<u32>()];
        // The page cannot be read only if it was never written: nothing has begun.
        let _ = self.page.read_exact_at(&mut id, Page::BEGUN_AT as u64);
        u32::from_le_bytes(id)
    }

    /// Whether requests wait in the lane behind one that takes long.
    pub(super) fn has_surplus(&self, now: Instant) -> bool {
        self.is_ahead() && self.running(now) > PREFETCH_WAIT
    }

    /// Whether the lane holds more than the worker takes at once.
    pub(super) fn is_ahead(&self) -> bool {
        self.held.borrow().len() > usize::from(self.capacity.get())
    }

    fn write_recalled(&self, id: u32) -> io::Result<()> {
        self.recalled.set(id);
        let word = id.to_le_bytes();
        self.page.write_all_at(&word, Page::RECALLED_AT as u64)
    }

    /// Moves an old recall up to what has begun, which recalls nothing: ids wrap around, and what is
    /// half of them behind would look as if it were ahead. One that may still be wanted stays.
    fn refresh_recall(&self) -> io::Result<()> {
        let begun = self.begun();
        if Page::is_behind(begun, self.recalled.get()) {
            self.write_recalled(begun)?;
        }
        Ok(())
    }

    /// Takes back what the worker has not begun, oldest first.
    pub(super) fn recall(&self) -> io::Result<Vec<Rc<Exchange>>> {
        self.write_recalled(self.last_id.get())?;
        fence(Ordering::SeqCst);
        let begun = self.begun();
        let mut recalled = Vec::new();
        self.held.borrow_mut().retain(|held| match &held.stage {
            Stage::Waiting(exchange) if Page::is_behind(held.id, begun) => {
                recalled.push(Rc::clone(exchange));
                false
            }
            _ => true,
        });
        Ok(recalled)
    }

    /// Takes note of how long the application took.
    pub(super) fn note_pace(&self, app_time: Duration) {
        let mut pace = self.pace.get();
        pace.note(app_time);
        self.pace.set(pace);
    }

    /// Appends frames and sees to it that they are sent.
    pub(super) fn push(&self, encode: impl FnOnce(&mut Vec<u8>)) {
        encode(self.outbox.borrow_mut().buffer());
        self.wake();
    }

    /// Sends what waits.
    pub(super) fn poll_flush(
        &self,
        cx: &mut Context<'_>,
        socket: &FrameSocket,
    ) -> Poll<io::Result<()>> {
        socket.poll_flush(cx, &mut self.outbox.borrow_mut())
    }

    /// Who is woken when there is something to send. Only after a flush: what is pushed while the
    /// lane's task runs is flushed by it anyway.
    pub(super) fn set_waker(&self, waker: &Waker) {
        self.waker.replace(Some(waker.clone()));
    }

    fn wake(&self) {
        if let Some(waker) = self.waker.borrow_mut().take() {
            waker.wake();
        }
    }
}

impl fmt::Display for LaneTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.worker, self.lane)
    }
}

#[cfg(test)]
mod tests {
    use http::Request;

    use super::*;
    use crate::dispatch::Call;
    use crate::http::Peer;
    use crate::listen::Local;

    fn exchange() -> Rc<Exchange> {
        let (parts, ()) = Request::new(()).into_parts();
        let local = Local { port: 80 };
        let remote = "127.0.0.1".to_owned();
        Rc::new(Exchange::new(Call::new(
            parts,
            Rc::new(Peer { remote, local }),
        )))
    }

    /// A lane that holds this many requests, with its page.
    fn lane_with(requests: u32) -> (Rc<Lane>, File) {
        let page = rustix::fs::memfd_create("page", rustix::fs::MemfdFlags::CLOEXEC);
        let page = File::from(page.expect("a memfd"));
        page.set_len(Page::BYTES as u64).expect("room for the page");
        let tag = LaneTag {
            worker: WorkerId {
                number: 1,
                serial: 0,
            },
            lane: 0,
        };
        let lane = Rc::new(Lane::new(tag, page.try_clone().expect("a duplicate")));
        lane.open(1);
        for _ in 0..requests {
            lane.begin(exchange(), Instant::now()).expect("encoded");
        }
        (lane, page)
    }

    #[test]
    fn only_what_the_worker_has_not_begun_is_recalled() {
        let (lane, page) = lane_with(3);
        page.write_all_at(&1_u32.to_le_bytes(), Page::BEGUN_AT as u64)
            .expect("written");
        assert_eq!(lane.recall().expect("recalled").len(), 2);
        assert_eq!(
            lane.held().iter().map(|held| held.id).collect::<Vec<_>>(),
            [1]
        );

        let mut recalled = [0; 4];
        page.read_exact_at(&mut recalled, Page::RECALLED_AT as u64)
            .expect("read");
        assert_eq!(u32::from_le_bytes(recalled), 3);
    }

    #[test]
    fn an_old_recall_never_looks_as_if_it_were_ahead() {
        let (lane, page) = lane_with(0);
        for last in [
            RECALL_REFRESH,
            u32::MAX / 2 + 1,
            u32::MAX - RECALL_REFRESH + 1,
            0,
        ] {
            let begun = last.wrapping_sub(2);
            page.write_all_at(&begun.to_le_bytes(), Page::BEGUN_AT as u64)
                .expect("written");
            lane.last_id.set(last.wrapping_sub(1));
            lane.recalled.set(begun.wrapping_sub(RECALL_REFRESH));
            lane.begin(exchange(), Instant::now()).expect("encoded");
            assert_eq!(lane.recalled.get(), begun);
        }
    }

    #[test]
    fn a_recall_that_is_still_wanted_is_not_refreshed() {
        let (lane, page) = lane_with(0);
        lane.last_id.set(RECALL_REFRESH - 1);
        lane.recalled.set(RECALL_REFRESH - 1);
        page.write_all_at(&7_u32.to_le_bytes(), Page::BEGUN_AT as u64)
            .expect("written");
        lane.begin(exchange(), Instant::now()).expect("encoded");
        assert_eq!(lane.recalled.get(), RECALL_REFRESH - 1);
    }

    #[test]
    fn a_lane_is_ahead_when_it_holds_more_than_its_capacity() {
        assert!(!lane_with(1).0.is_ahead());
        assert!(lane_with(2).0.is_ahead());
    }
}
