use std::cell::{Cell, Ref, RefCell};
use std::fs::File;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use carat_link::Outbox;

use super::encode::encode;
use super::exchange::Exchange;
use super::holding::{Held, Holding, Stage};
use super::lane_state::State;
use super::lane_tag::LaneTag;
use super::pace::{PREFETCH_WAIT, Pace};
use super::page::{RECALL_REFRESH, SharedPage, shared_page};
use super::stall::Stall;
use super::usage::Usage;
use crate::body::StreamSender;
use crate::frames::FrameSocket;

/// With so many bytes waiting to be sent, a lane takes no further request.
const OUTBOX_LIMIT: usize = 1024 * 1024;

/// One Ruby thread, seen from the edge: what it was given and has not answered. A lane of capacity 1 works on the first
/// of its requests while others may wait behind it; one of many works on all that it has, and is given no more than that.
#[derive(Debug)]
pub(crate) struct Lane {
    pub(crate) tag: LaneTag,
    page: SharedPage,
    state: Cell<State>,
    is_over: Cell<bool>,
    capacity: Cell<u16>,
    outbox: RefCell<Outbox>,
    /// Whether a request had to wait because too many bytes wait to be sent.
    is_clogged: Cell<bool>,
    held: RefCell<Holding>,
    pace: Cell<Pace>,
    usage: Usage,
    stall: Stall,
    waker: RefCell<Option<Waker>>,
}

impl Lane {
    pub(crate) fn new(tag: LaneTag, page: File) -> Lane {
        Lane {
            tag,
            page: shared_page(page),
            state: Cell::new(State::Opening),
            is_over: Cell::new(false),
            capacity: Cell::new(0),
            outbox: RefCell::default(),
            is_clogged: Cell::new(false),
            held: RefCell::default(),
            pace: Cell::default(),
            usage: Usage::default(),
            stall: Stall::default(),
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

    /// How many requests the worker was given.
    pub(crate) fn begun_count(&self) -> u64 {
        self.usage.begun()
    }

    /// How long the worker has held nothing.
    pub(crate) fn idle(&self, now: Instant) -> Duration {
        if self.is_empty() {
            self.usage.quiet(now)
        } else {
            Duration::ZERO
        }
    }

    /// What the worker holds.
    pub(super) fn held(&self) -> Ref<'_, Holding> {
        self.held.borrow()
    }

    /// Whether the worker works on several requests at once.
    pub(super) fn is_of_many(&self) -> bool {
        self.capacity.get() > 1
    }

    /// How many more requests the worker would work on.
    pub(super) fn vacancies(&self) -> usize {
        let capacity = match self.state.get() {
            State::Open => usize::from(self.capacity.get()),
            State::Opening | State::Draining | State::Closed => 0,
        };
        capacity.saturating_sub(self.held.borrow().len())
    }

    /// Whether the lane takes another request.
    pub(super) fn has_room(&self, now: Instant) -> bool {
        let held = self.held.borrow().len();
        let running = self.running(now);
        let capacity = usize::from(self.capacity.get());
        let wants =
            self.state.get() == State::Open && self.pace.get().has_room(capacity, held, running);
        let is_full = wants && self.outbox.borrow().len() >= OUTBOX_LIMIT;
        if is_full {
            self.is_clogged.set(true);
        }
        wants && !is_full
    }

    /// Whether a lane that had to refuse a request for the bytes that wait takes some again.
    pub(super) fn has_recovered(&self) -> bool {
        self.is_clogged.get()
            && self.outbox.borrow().len() < OUTBOX_LIMIT / 2
            && self.is_clogged.replace(false)
    }

    /// How long the worker has been at the oldest request.
    fn running(&self, now: Instant) -> Duration {
        let held = self.held.borrow();
        let since = held.oldest().map_or(now, |oldest| oldest.since);
        now.saturating_duration_since(since)
    }

    /// The requests that the application works on and has not answered for longer than `limit`, oldest first.
    pub(super) fn overdue(&self, now: Instant, limit: Duration) -> Vec<u32> {
        let held = self.held.borrow();
        let running = held.iter().take(usize::from(self.capacity.get()));
        let overdue = running.filter(|held| held.is_overdue(now, limit));
        overdue.map(|held| held.id).collect()
    }

    /// Gives the worker a request.
    pub(super) fn begin(self: &Rc<Self>, exchange: Rc<Exchange>, now: Instant) -> io::Result<()> {
        let mut held = self.held.borrow_mut();
        let ticket = held.ticket();
        encode(&mut self.outbox.borrow_mut(), ticket.id, &exchange.call)?;
        if let Some(intake) = exchange.call.intake() {
            intake.connect(Rc::clone(self), ticket.id);
        }
        if ticket.id % RECALL_REFRESH == 0 {
            self.page.refresh_recall()?;
        }
        held.add(ticket, exchange, now);
        self.usage.begin(now);
        self.wake();
        Ok(())
    }

    /// Takes the request with this id off the lane.
    pub(super) fn release(&self, id: u32, now: Instant) -> Option<Held> {
        let mut held = self.held.borrow_mut();
        let is_oldest = held.oldest().is_some_and(|oldest| oldest.id == id);
        let released = held.remove(id)?;
        self.usage.end(now);
        if is_oldest && !self.is_of_many() {
            // Its thread comes to the next one only now.
            if let Some(next) = held.oldest_mut() {
                next.since = now;
            }
        }
        Some(released)
    }

    /// The request with this id, if it is not answered.
    pub(super) fn waiting(&self, id: u32) -> Option<Rc<Exchange>> {
        match &self.held.borrow().get(id)?.stage {
            Stage::Waiting(exchange) => Some(Rc::clone(exchange)),
            Stage::Streaming(..) => None,
        }
    }

    /// The request is answered, and its body is streamed from now on.
    pub(super) fn keep_streaming(&self, id: u32, sender: StreamSender, now: Instant) {
        if let Some(held) = self.held.borrow_mut().get_mut(id) {
            held.stream(sender, now);
        }
    }

    /// The worker takes `bytes` more of the body of request `id`.
    pub(super) fn grant(&self, id: u32, bytes: u32) {
        let held = self.held.borrow();
        if let Some(intake) = held.get(id).and_then(Held::intake) {
            intake.grant(bytes);
        }
    }

    /// Takes everything that the worker holds, oldest first.
    pub(super) fn take_held(&self) -> impl Iterator<Item = Held> + use<> {
        self.held.borrow_mut().take_all()
    }

    /// The request that the worker has begun last, as it wrote on the shared page.
    pub(super) fn begun(&self) -> u32 {
        // The page is unreadable only if nobody has ever written to it.
        self.page.begun().unwrap_or(0)
    }

    /// The worker has sent something.
    pub(super) fn heard(&self) {
        self.stall.end();
    }

    /// Whether the worker was seen to stand still, and has not been heard of since.
    pub(super) fn is_stalled(&self) -> bool {
        self.stall.is_on()
    }

    /// Whether the worker begins at once what it is given, as far as is known without looking.
    pub(super) fn is_quick(&self) -> bool {
        !self.is_stalled() && !self.is_ahead()
    }

    /// Whether requests wait in the lane that the worker does not come to.
    pub(super) fn has_surplus(&self, now: Instant) -> bool {
        let waited = if self.is_of_many() {
            let held = self.held.borrow();
            self.stall.look(&held, self.begun(), now)
        } else {
            self.running(now)
        };
        self.is_ahead() && waited > PREFETCH_WAIT
    }

    /// Whether the lane holds requests that the worker has not begun, as far as is known without looking.
    pub(super) fn is_ahead(&self) -> bool {
        let held = self.held.borrow();
        if self.is_of_many() {
            return self.stall.may_be_behind(&held);
        }
        held.len() > usize::from(self.capacity.get())
    }

    /// Takes back what the worker has not begun, oldest first.
    pub(super) fn recall(&self) -> io::Result<Vec<Rc<Exchange>>> {
        let mut held = self.held.borrow_mut();
        let begun = self.page.recall(held.last_id())?;
        let back = held.take_behind(begun);
        if self.is_of_many() && !back.is_empty() {
            self.stall.begin();
        }
        Ok(back)
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

#[cfg(test)]
pub(super) mod tests {
    use http::Request;

    use super::*;
    use crate::body::Upstream;
    use crate::dispatch::Call;
    use crate::dispatch::WorkerId;
    use crate::dispatch::page::unshared_page;
    use crate::http::Peer;
    use crate::listen::Local;

    const LIMIT: Duration = Duration::from_secs(1);

    struct Nobody;

    impl Upstream for Nobody {
        fn taken(&self, _bytes: u32) {}
        fn abandoned(&self) {}
    }

    pub(in crate::dispatch) fn call(method: &str, path: &str) -> Call {
        let request = Request::builder().method(method).uri(path).body(());
        let (parts, ()) = request.expect("a valid request").into_parts();
        let local = Local { port: 80 };
        let remote = "127.0.0.1".to_owned();
        Call::new(parts, Rc::new(Peer { remote, local }))
    }

    fn exchange() -> Rc<Exchange> {
        Rc::new(Exchange::new(call("GET", "/")))
    }

    /// A lane of a worker that begins what a test says.
    pub(in crate::dispatch) fn lane(worker: u32, capacity: u16) -> Rc<Lane> {
        let worker = WorkerId {
            number: worker,
            serial: u64::from(worker),
        };
        let unshared = File::open("/dev/null").expect("there on every machine");
        let mut lane = Lane::new(LaneTag { worker, lane: 0 }, unshared);
        lane.page = unshared_page();
        lane.open(capacity);
        Rc::new(lane)
    }

    impl Lane {
        /// The worker begins this request; whether it may.
        pub(in crate::dispatch) fn worker_begins(&self, id: u32) -> bool {
            self.page.begin(id).expect("written")
        }

        /// The worker reads nothing.
        pub(in crate::dispatch) fn clog(&self) {
            self.push(|out| out.resize(OUTBOX_LIMIT, 0));
        }

        pub(in crate::dispatch) fn ids(&self) -> Vec<u32> {
            self.held().iter().map(|held| held.id).collect()
        }
    }

    /// A lane that has been given this many requests at a time, and that time.
    fn lane_with(requests: u32, capacity: u16) -> (Rc<Lane>, Instant) {
        let (lane, now) = (lane(1, capacity), Instant::now());
        for _ in 0..requests {
            lane.begin(exchange(), now).expect("encoded");
        }
        (lane, now)
    }

    fn stream(lane: &Lane, id: u32, now: Instant) {
        let (sender, _body) = crate::body::stream(Box::new(Nobody));
        lane.keep_streaming(id, sender, now);
    }

    #[test]
    fn only_what_the_worker_has_not_begun_is_recalled() {
        for capacity in [1, 256] {
            let (lane, _) = lane_with(3, capacity);
            assert!(lane.worker_begins(1));
            assert_eq!(lane.recall().expect("recalled").len(), 2);
            assert_eq!(lane.ids(), [1]);
            assert!(!lane.worker_begins(3));
        }
    }

    #[test]
    fn a_lane_of_one_is_ahead_when_it_holds_more_than_that() {
        assert!(!lane_with(1, 1).0.is_ahead());
        assert!(lane_with(2, 1).0.is_ahead());
    }

    #[test]
    fn behind_a_request_that_runs_the_time_of_the_next_has_not_begun() {
        let (lane, start) = lane_with(2, 1);
        assert_eq!(lane.overdue(start + LIMIT * 2, LIMIT), [1]);
        lane.release(1, start + LIMIT).expect("held");
        assert!(lane.overdue(start + LIMIT * 2, LIMIT).is_empty());
        assert_eq!(lane.overdue(start + LIMIT * 3, LIMIT), [2]);
    }

    #[test]
    fn in_a_lane_of_many_each_request_has_its_own_time() {
        let (lane, start) = lane_with(2, 256);
        lane.begin(exchange(), start + LIMIT).expect("encoded");
        lane.release(1, start + LIMIT).expect("held");
        assert!(lane.overdue(start + LIMIT, LIMIT).is_empty());
        assert_eq!(lane.overdue(start + LIMIT * 2, LIMIT), [2]);
        assert_eq!(lane.overdue(start + LIMIT * 3, LIMIT), [2, 3]);
    }

    #[test]
    fn a_stream_is_never_overdue_and_hides_nobody_in_a_lane_of_many() {
        let (many, start) = lane_with(3, 256);
        stream(&many, 1, start);
        stream(&many, 3, start);
        assert_eq!(many.overdue(start + LIMIT * 2, LIMIT), [2]);

        let (one, start) = lane_with(2, 1);
        stream(&one, 1, start);
        assert!(one.overdue(start + LIMIT * 2, LIMIT).is_empty());
    }

    #[test]
    fn an_answer_that_is_streamed_leaves_the_order_as_it_was() {
        let (lane, start) = lane_with(3, 256);
        stream(&lane, 2, start + LIMIT);
        assert_eq!(lane.ids(), [1, 2, 3]);
        assert!(lane.waiting(2).is_none());
        let held = lane.release(2, start).expect("held");
        assert!(matches!(held.stage, Stage::Streaming(..)));
        assert_eq!(held.since, start + LIMIT);
    }

    #[test]
    fn a_lane_of_many_never_takes_more_than_its_capacity() {
        let (lane, now) = lane_with(3, 4);
        lane.note_pace(Duration::from_micros(1));
        assert!(lane.has_room(now));
        assert_eq!(lane.vacancies(), 1);
        lane.begin(exchange(), now).expect("encoded");
        assert!(!lane.has_room(now));
        assert_eq!(lane.vacancies(), 0);
    }

    #[test]
    fn a_lane_that_drains_has_no_vacancies() {
        let (lane, now) = lane_with(1, 4);
        lane.set_state(State::Draining);
        assert_eq!((lane.vacancies(), lane.has_room(now)), (0, false));
    }

    #[test]
    fn a_lane_whose_bytes_wait_recovers_when_half_of_them_are_gone() {
        let (lane, now) = lane_with(1, 4);
        assert!(!lane.has_recovered());
        lane.clog();
        assert!(!lane.has_room(now));
        assert!(!lane.has_recovered());
        lane.push(|out| out.truncate(OUTBOX_LIMIT / 2 - 1));
        assert!(lane.has_recovered());
        assert!(lane.has_room(now) && !lane.has_recovered());
    }

    #[test]
    fn what_a_computing_thread_has_not_begun_becomes_surplus() {
        let (lane, start) = lane_with(3, 256);
        assert!(lane.is_ahead());
        lane.worker_begins(2);
        assert!(!lane.has_surplus(start + PREFETCH_WAIT * 2));
        assert!(lane.has_surplus(start + PREFETCH_WAIT * 4));
        assert_eq!(lane.recall().expect("recalled").len(), 1);
        assert!(lane.is_stalled() && !lane.is_ahead());
        lane.heard();
        assert!(!lane.is_stalled());
    }

    #[test]
    fn a_thread_that_goes_on_beginning_has_no_surplus() {
        let (lane, start) = lane_with(100, 256);
        for id in 1..100 {
            lane.worker_begins(id);
            assert!(!lane.has_surplus(start + PREFETCH_WAIT * 2 * id));
        }
        lane.worker_begins(100);
        assert!(!lane.has_surplus(start + LIMIT) && !lane.is_ahead());
    }
}
