mod lane_outbox;
mod service_time;
mod shared_page;
mod stall;
mod trial;
mod usage;

use std::cell::{Cell, Ref, RefCell, RefMut};
use std::fs::File;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use carat_wire::is_behind;
use carat_wire::stream::{encode_abort, encode_chunk, encode_end};

use crate::frames::encode;
use crate::lanes::exchange::Exchange;
use crate::lanes::in_flight::{InFlightRequest, InFlightRequests, RunningRequest, WorkerRequests};
use crate::lanes::lane::lane_outbox::LaneOutbox;
pub(crate) use crate::lanes::lane::service_time::PREFETCH_WAIT;
use crate::lanes::lane::service_time::ServiceTime;
use crate::lanes::lane::shared_page::{RECALL_REFRESH, SharedPage, shared_page};
use crate::lanes::lane::stall::Stall;
use crate::lanes::lane::trial::Trial;
use crate::lanes::lane::usage::Usage;
use carat_exchange::{BodySink, StreamCredit, WorkerTunnels};
use carat_log::LaneTag;

/// A lane gets no further request while the worker has this many bytes of requests that it has not begun. A worker
/// buffers up to 16 MiB.
const AHEAD_LIMIT: usize = 8 * 1024 * 1024;

/// The edge's side of a lane: the requests that one Ruby thread holds. With capacity 1 the thread serves the first
/// request, and others may wait behind it. With a larger capacity the thread serves all of its requests concurrently,
/// and never gets more than its capacity.
#[derive(Debug)]
pub struct Lane {
    /// The lane's worker and its number.
    pub tag: LaneTag,
    /// The generation of the worker.
    generation: Cell<u32>,
    page: SharedPage,
    state: Cell<LaneState>,
    is_over: Cell<bool>,
    pub(crate) trial: Trial,
    pub(crate) capacity: Cell<u16>,
    pub(crate) outbox: LaneOutbox,
    in_flight: RefCell<InFlightRequests>,
    service_time: Cell<ServiceTime>,
    pub(crate) usage: Usage,
    pub(crate) stall: Stall,
    /// Whether the thread runs code after its response, as far as is known without reading the page.
    lingers: Cell<bool>,
    /// The tunnels of the worker.
    pub tunnels: WorkerTunnels,
}

/// A stage in the life of a lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LaneState {
    /// The worker has not sent HELLO.
    Opening,
    /// The lane takes requests.
    Open,
    /// The worker rests: the lane gets no request until the worker has collected its garbage.
    Resting,
    /// The worker finishes the requests that it holds, and gets no more.
    Draining,
    /// The worker is gone.
    Closed,
}

impl Lane {
    /// A lane whose worker has not said how many requests it takes.
    pub fn new(
        tag: LaneTag,
        generation: u32,
        page: File,
        worker_requests: WorkerRequests,
        tunnels: WorkerTunnels,
    ) -> Lane {
        Lane {
            tag,
            generation: Cell::new(generation),
            page: shared_page(page),
            state: Cell::new(LaneState::Opening),
            is_over: Cell::new(false),
            trial: Trial::default(),
            capacity: Cell::new(0),
            outbox: LaneOutbox::default(),
            in_flight: RefCell::new(InFlightRequests::of(worker_requests)),
            service_time: Cell::default(),
            usage: Usage::default(),
            stall: Stall::default(),
            lingers: Cell::new(false),
            tunnels,
        }
    }

    pub(crate) fn generation(&self) -> u32 {
        self.generation.get()
    }

    /// Whether the lane takes requests, drains, or is closed.
    pub fn state(&self) -> LaneState {
        self.state.get()
    }

    /// Changes the state.
    pub fn set_state(&self, state: LaneState) {
        self.state.set(state);
    }

    /// The worker sent HELLO.
    pub(crate) fn open(&self, capacity: u16) {
        self.capacity.set(capacity);
        self.state.set(LaneState::Open);
    }

    /// The worker is dead: the lane is over once its last bytes are read. The socket does not report
    /// the end when a process that the worker started still holds the other end open.
    pub fn worker_died(&self) {
        self.is_over.set(true);
        self.tunnels.close();
        self.outbox.wake();
    }

    /// Whether the worker is dead.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// Whether the worker holds no request.
    pub fn is_empty(&self) -> bool {
        self.in_flight.borrow().is_empty()
    }

    /// From now on the lane gets no request from the queue.
    pub fn begin_trial(&self) {
        self.trial.begin();
    }

    /// How many requests were sent to the worker, without those that it never began.
    pub fn begun_count(&self) -> u64 {
        self.usage.begun()
    }

    /// How long the worker has held no request.
    pub fn idle(&self, now: Instant) -> Duration {
        if self.is_empty() {
            self.usage.quiet(now)
        } else {
            Duration::ZERO
        }
    }

    /// The requests that the worker holds.
    pub(crate) fn in_flight(&self) -> Ref<'_, InFlightRequests> {
        self.in_flight.borrow()
    }

    /// The requests that the worker holds, to change one of them.
    pub(crate) fn in_flight_mut(&self) -> RefMut<'_, InFlightRequests> {
        self.in_flight.borrow_mut()
    }

    /// Whether the worker serves several requests concurrently.
    pub(crate) fn is_concurrent(&self) -> bool {
        self.capacity.get() > 1
    }

    /// How many more requests the worker would begin at once.
    pub(crate) fn free_slots(&self) -> usize {
        let capacity = match self.state.get() {
            LaneState::Open => usize::from(self.capacity.get()),
            LaneState::Opening | LaneState::Resting | LaneState::Draining | LaneState::Closed => 0,
        };
        capacity.saturating_sub(self.in_flight.borrow().len())
    }

    /// Whether the lane takes another request.
    pub(crate) fn has_room(&self, now: Instant) -> bool {
        self.takes_one(now, ServiceTime::has_room)
    }

    /// Whether a busy lane takes another request although other lanes are idle.
    pub(crate) fn gathers(&self, now: Instant) -> bool {
        !self.trial.is_on() && self.takes_one(now, ServiceTime::gathers)
    }

    fn takes_one(
        &self,
        now: Instant,
        may: impl FnOnce(&ServiceTime, usize, usize, Duration) -> bool,
    ) -> bool {
        let in_flight = self.in_flight.borrow().len();
        let running = self.running(now);
        let capacity = usize::from(self.capacity.get());
        let wants = self.state.get() == LaneState::Open
            && !self.stall.is_on()
            && may(&self.service_time.get(), capacity, in_flight, running);
        wants && !self.outbox.is_full() && !self.is_far_ahead()
    }

    /// Whether the worker may have more than `AHEAD_LIMIT` bytes of requests that it has not begun. Reads the page only
    /// if that is possible.
    fn is_far_ahead(&self) -> bool {
        let in_flight = self.in_flight.borrow();
        in_flight.bytes() >= AHEAD_LIMIT && in_flight.bytes_behind(self.begun()) >= AHEAD_LIMIT
    }

    /// How long the worker has been able to serve its oldest request.
    fn running(&self, now: Instant) -> Duration {
        let in_flight = self.in_flight.borrow();
        let since = in_flight.oldest().map_or(now, |oldest| oldest.since);
        now.saturating_duration_since(since)
    }

    /// The requests that the application has been serving for longer than `limit`, oldest first. A request that the
    /// worker has not begun waits for another one, and is not overdue.
    pub(crate) fn overdue(&self, now: Instant, limit: Duration) -> Vec<u32> {
        let in_flight = self.in_flight.borrow();
        let running = in_flight.iter().take(usize::from(self.capacity.get()));
        let overdue = running.filter(|request| request.is_overdue(now, limit));
        let mut ids: Vec<u32> = overdue.map(|request| request.id).collect();
        if !ids.is_empty() {
            let begun = self.begun();
            ids.retain(|id| !is_behind(*id, begun));
        }
        ids
    }

    /// The requests that became slow since the last call.
    pub(crate) fn newly_slow(&self, now: Instant, limit: Duration) -> Vec<u32> {
        let mut slow = self.overdue(now, limit);
        let mut in_flight = self.in_flight.borrow_mut();
        slow.retain(|id| in_flight.report_slow(*id));
        slow
    }

    /// The requests that the worker has begun: the time since when each could run, and its id.
    pub(crate) fn begun_requests(&self) -> Vec<(Instant, u32)> {
        let in_flight = self.in_flight.borrow();
        let running = in_flight.iter().take(usize::from(self.capacity.get()));
        let mut requests: Vec<_> = running.map(|it| (it.since, it.id)).collect();
        let begun = if requests.is_empty() { 0 } else { self.begun() };
        requests.retain(|(_, id)| !is_behind(*id, begun));
        requests
    }

    /// Describes a request that the worker has.
    pub(crate) fn running_request(&self, id: u32, now: Instant) -> Option<RunningRequest> {
        Some(self.in_flight.borrow().get(id)?.running(self.tag, now))
    }

    /// How many requests a garbage collection would delay. Code that runs after a response counts as one, because a
    /// client may still see what it does.
    pub(crate) fn disturbed(&self, now: Instant) -> usize {
        let in_flight = self.in_flight.borrow();
        let disturbed = in_flight.iter().filter(|it| !it.is_long_stream(now));
        disturbed.count() + usize::from(self.is_lingering())
    }

    /// Whether the thread has begun no request for longer than `limit`. The lane is empty then, because its requests
    /// were recalled.
    pub(crate) fn is_stuck(&self, now: Instant, limit: Duration) -> bool {
        self.is_empty() && self.stall.lasted(now) > limit
    }

    /// Notes that the thread runs code after its response.
    pub(crate) fn note_lingering(&self) {
        self.lingers.set(true);
    }

    /// Whether the thread runs code after its response.
    pub(crate) fn is_lingering(&self) -> bool {
        if self.lingers.get() {
            // The page is unreadable only if it was never written.
            self.lingers.set(self.page.lingers().unwrap_or(false));
        }
        self.lingers.get()
    }

    /// Sends a request to the worker.
    pub(crate) fn begin(self: &Rc<Self>, exchange: Rc<Exchange>, now: Instant) -> io::Result<()> {
        let mut in_flight = self.in_flight.borrow_mut();
        let next = in_flight.next();
        // The step that may fail comes first: a request whose sending fails is refused, so the worker must not get it.
        if next.id % RECALL_REFRESH == 0 {
            self.page.refresh_recall()?;
        }
        let credit = StreamCredit::of(exchange.call.memory.memory());
        let bytes = self
            .outbox
            .append(|out| encode(out, next.id, &exchange.call, credit.is_short()));
        if let Some(body) = exchange.call.body_stream() {
            let (lane, id) = (Rc::clone(self), next.id);
            body.connect(Box::new(LaneBodySink { lane, id }));
        }
        in_flight.add(next, exchange, bytes, credit, now);
        self.usage.begin(now);
        self.outbox.wake();
        Ok(())
    }

    /// Removes a request from the lane.
    pub(crate) fn release(&self, id: u32, now: Instant) -> Option<InFlightRequest> {
        let mut in_flight = self.in_flight.borrow_mut();
        let is_oldest = in_flight.oldest().is_some_and(|oldest| oldest.id == id);
        let released = in_flight.remove(id)?;
        self.usage.end(now);
        if is_oldest && !self.is_concurrent() {
            // The thread begins the next request only now.
            if let Some(next) = in_flight.oldest_mut() {
                next.since = now;
            }
        }
        Some(released)
    }

    /// Removes every request, oldest first.
    pub(crate) fn take_in_flight(&self) -> impl Iterator<Item = InFlightRequest> + use<> {
        self.in_flight.borrow_mut().take_all()
    }

    /// The id of the last request that the worker began, from the shared page.
    pub(crate) fn begun(&self) -> u32 {
        // The page is unreadable only if it was never written.
        self.page.begun().unwrap_or(0)
    }

    /// Whether the worker begins requests at once, as far as is known without reading the page.
    pub(crate) fn is_prompt(&self) -> bool {
        !self.stall.is_on() && !self.is_ahead()
    }

    /// How long requests have waited in the lane behind others. Zero unless they have waited for longer than
    /// `PREFETCH_WAIT`.
    pub(crate) fn surplus(&self, now: Instant) -> Duration {
        let mut waited = self.running(now);
        if self.is_concurrent() || waited > PREFETCH_WAIT {
            let stalled = self.stall.look(&self.in_flight.borrow(), self.begun(), now);
            if self.is_concurrent() {
                waited = stalled;
            }
        }
        let is_surplus = self.is_ahead() && waited > PREFETCH_WAIT;
        if is_surplus { waited } else { Duration::ZERO }
    }

    /// Whether the lane holds requests that the worker has not begun, as far as is known without
    /// reading the page.
    pub(crate) fn is_ahead(&self) -> bool {
        self.stall.may_be_behind(&self.in_flight.borrow())
    }

    /// Recalls the requests that the worker has not begun, oldest first.
    pub(crate) fn recall(&self) -> io::Result<Vec<Rc<Exchange>>> {
        let mut in_flight = self.in_flight.borrow_mut();
        let begun = self.page.recall(in_flight.last_id())?;
        let back = in_flight.take_behind(begun);
        self.usage.take_back(back.len());
        Ok(back)
    }

    /// Recalls all requests of a lane that is given up. Its worker may still live, and must not begin a request that
    /// another worker gets. Returns the id of the last request that the worker began; if the page cannot be read, all
    /// requests count as begun.
    pub(crate) fn recall_for_good(&self) -> u32 {
        let last = self.in_flight.borrow().last_id();
        self.page.recall(last).unwrap_or(last)
    }

    /// Records how long the application took.
    pub(crate) fn note_service_time(&self, app_time: Duration) {
        let mut service_time = self.service_time.get();
        service_time.note(app_time);
        self.service_time.set(service_time);
    }
}

/// Sends a request body to the worker as frames.
struct LaneBodySink {
    lane: Rc<Lane>,
    id: u32,
}

impl BodySink for LaneBodySink {
    fn send(&self, piece: &[u8]) {
        self.lane
            .outbox
            .push(|out| encode_chunk(out, self.id, piece));
    }

    fn end(&self) {
        self.lane.outbox.push(|out| encode_end(out, self.id));
    }

    fn abort(&self) {
        self.lane.outbox.push(|out| encode_abort(out, self.id));
    }
}

#[cfg(any(test, feature = "fixture"))]
mod fixture;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::ignored_stream;
    use crate::lanes::RequestStage;
    use carat_exchange::{Call, CallBody, InlineBytes};

    const LIMIT: Duration = Duration::from_secs(1);

    fn exchange() -> Rc<Exchange> {
        Rc::new(Exchange::new(Call::plain("GET", "/")))
    }

    /// A lane that got this many requests at once, and when.
    fn lane_with(requests: u32, capacity: u16) -> (Rc<Lane>, Instant) {
        let (lane, now) = (Lane::unshared(1, capacity), Instant::now());
        for _ in 0..requests {
            lane.begin(exchange(), now).expect("encoded");
        }
        (lane, now)
    }

    fn stream(lane: &Lane, id: u32, now: Instant) {
        let (sender, _body) = ignored_stream();
        lane.in_flight_mut().stream(id, sender, now);
    }

    #[test]
    fn a_request_that_cannot_begin_is_not_sent() {
        let (other, now) = lane_with(0, 1);
        let unwritten = File::open("/dev/null").expect("there on every machine");
        let lane = Rc::new(Lane::new(
            other.tag,
            1,
            unwritten,
            WorkerRequests::default(),
            WorkerTunnels::default(),
        ));
        let last = u64::from(RECALL_REFRESH) - 1;
        lane.in_flight.borrow_mut().skip_to(last);
        assert!(lane.begin(exchange(), now).is_err());
        assert!(lane.outbox.append(|out| assert!(out.is_empty())) == 0 && lane.is_empty());
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
    fn a_worker_need_not_keep_more_than_a_bound_of_what_it_has_not_begun() {
        const BODY: usize = 64 * 1024;
        let (lane, now) = (Lane::unshared(1, 1000), Instant::now());
        for _ in 0..AHEAD_LIMIT / BODY {
            assert!(lane.has_room(now));
            let mut call = Call::plain("POST", "/");
            call.body = CallBody::Inline(InlineBytes::plain(&vec![0; BODY]));
            lane.begin(Rc::new(Exchange::new(call)), now)
                .expect("encoded");
            lane.outbox.push(Vec::clear);
        }
        assert!(!lane.has_room(now));
        lane.worker_begins(1);
        assert!(lane.has_room(now));
        assert_eq!(
            lane.recall().expect("recalled").len(),
            AHEAD_LIMIT / BODY - 1
        );
        assert!(lane.in_flight().bytes() < 2 * BODY);
    }

    #[test]
    fn recalled_requests_do_not_count_as_those_of_the_worker() {
        for capacity in [1, 256] {
            let (lane, now) = lane_with(3, capacity);
            assert!(lane.worker_begins(1));
            lane.recall().expect("recalled");
            assert_eq!(lane.usage.begun(), 1);
            lane.begin(exchange(), now).expect("encoded");
            assert_eq!(lane.usage.begun(), 2);
        }
    }

    #[test]
    fn a_lane_is_ahead_until_its_last_request_is_known_to_have_begun() {
        for requests in [1, 2] {
            let (lane, start) = lane_with(requests, 1);
            lane.worker_begins(1);
            assert!(lane.is_ahead());
            let has_surplus = !lane.surplus(start + LIMIT).is_zero();
            assert_eq!(
                (lane.is_ahead(), has_surplus),
                (requests == 2, requests == 2)
            );
        }
    }

    #[test]
    fn a_request_that_has_not_begun_is_not_overdue() {
        for capacity in [1, 256] {
            let (lane, start) = lane_with(2, capacity);
            assert!(lane.overdue(start + LIMIT * 2, LIMIT).is_empty());
            lane.worker_begins(1);
            assert_eq!(lane.overdue(start + LIMIT * 2, LIMIT), [1]);
        }
    }

    #[test]
    fn a_lane_that_begins_nothing_for_too_long_is_stuck() {
        let (lane, start) = lane_with(1, 1);
        lane.stall.begin(start);
        assert_eq!(lane.recall().expect("recalled").len(), 1);
        assert!(!lane.has_room(start) && !lane.is_stuck(start + LIMIT, LIMIT));
        assert!(lane.is_stuck(start + LIMIT * 2, LIMIT));
        lane.stall.end();
        assert!(lane.has_room(start) && !lane.is_stuck(start + LIMIT * 2, LIMIT));
    }

    #[test]
    fn a_request_behind_a_running_one_is_not_timed_yet() {
        let (lane, start) = lane_with(2, 1);
        lane.worker_begins(1);
        assert_eq!(lane.overdue(start + LIMIT * 2, LIMIT), [1]);
        lane.release(1, start + LIMIT).expect("in_flight");
        lane.worker_begins(2);
        assert!(lane.overdue(start + LIMIT * 2, LIMIT).is_empty());
        assert_eq!(lane.overdue(start + LIMIT * 3, LIMIT), [2]);
    }

    #[test]
    fn each_request_of_a_concurrent_lane_has_its_own_time() {
        let (lane, start) = lane_with(2, 256);
        lane.begin(exchange(), start + LIMIT).expect("encoded");
        lane.worker_begins(3);
        lane.release(1, start + LIMIT).expect("in_flight");
        assert!(lane.overdue(start + LIMIT, LIMIT).is_empty());
        assert_eq!(lane.overdue(start + LIMIT * 2, LIMIT), [2]);
        assert_eq!(lane.overdue(start + LIMIT * 3, LIMIT), [2, 3]);
    }

    #[test]
    fn a_stream_is_never_overdue_and_does_not_hide_other_requests() {
        let (concurrent, start) = lane_with(3, 256);
        concurrent.worker_begins(3);
        stream(&concurrent, 1, start);
        stream(&concurrent, 3, start);
        assert_eq!(concurrent.overdue(start + LIMIT * 2, LIMIT), [2]);

        let (single, start) = lane_with(2, 1);
        stream(&single, 1, start);
        assert!(single.overdue(start + LIMIT * 2, LIMIT).is_empty());
    }

    #[test]
    fn a_streamed_reply_does_not_change_the_order() {
        let (lane, start) = lane_with(3, 256);
        stream(&lane, 2, start + LIMIT);
        assert_eq!(lane.ids(), [1, 2, 3]);
        assert!(lane.in_flight().waiting(2).is_none());
        let request = lane.release(2, start).expect("in_flight");
        assert!(matches!(request.stage, RequestStage::Streaming(..)));
        assert_eq!(request.since, start + LIMIT);
    }

    #[test]
    fn a_concurrent_lane_never_takes_more_than_its_capacity() {
        let (lane, now) = lane_with(3, 4);
        lane.note_service_time(Duration::from_micros(1));
        assert!(lane.has_room(now));
        assert_eq!(lane.free_slots(), 1);
        lane.begin(exchange(), now).expect("encoded");
        assert!(!lane.has_room(now));
        assert_eq!(lane.free_slots(), 0);
    }

    #[test]
    fn a_draining_lane_has_no_free_slots() {
        let (lane, now) = lane_with(1, 4);
        lane.set_state(LaneState::Draining);
        assert_eq!((lane.free_slots(), lane.has_room(now)), (0, false));
    }

    #[test]
    fn requests_that_a_computing_thread_has_not_begun_are_surplus() {
        let (lane, start) = lane_with(3, 256);
        assert!(lane.is_ahead());
        lane.worker_begins(2);
        assert!(lane.surplus(start + PREFETCH_WAIT * 2).is_zero());
        assert!(!lane.surplus(start + PREFETCH_WAIT * 4).is_zero());
        lane.stall.begin(start);
        assert_eq!(lane.recall().expect("recalled").len(), 1);
        assert!(lane.stall.is_on() && !lane.is_ahead());
        lane.stall.end();
        assert!(!lane.stall.is_on());
    }

    #[test]
    fn a_thread_that_keeps_beginning_requests_has_no_surplus() {
        let (lane, start) = lane_with(100, 256);
        for id in 1..100 {
            lane.worker_begins(id);
            assert!(lane.surplus(start + PREFETCH_WAIT * 2 * id).is_zero());
        }
        lane.worker_begins(100);
        assert!(lane.surplus(start + LIMIT).is_zero() && !lane.is_ahead());
    }
}
