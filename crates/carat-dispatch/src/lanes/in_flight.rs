use std::cell::Cell;
use std::collections::VecDeque;
use std::iter;
use std::rc::Rc;
use std::time::{Duration, Instant};

use carat_wire::is_behind;

use crate::lanes::exchange::{Exchange, LoggedRequest};
use crate::lanes::pool_share::{PoolMembership, PoolShare};
use carat_exchange::{BodyStream, ReplySender, StreamCredit};
use carat_log::LaneTag;

/// The gaps are removed once there are more of them than requests, and `GAPS_LIMIT` more.
const GAPS_LIMIT: usize = 32;

/// A response that has been streamed for this long, such as a stream of events, does not delay a garbage collection.
/// Pages and files take less time to send.
const LONG_STREAM: Duration = Duration::from_secs(1);

/// A request that the worker holds.
#[derive(Debug)]
pub(crate) struct InFlightRequest {
    pub(crate) id: u32,
    /// The bytes of the request that were sent to the worker.
    bytes: usize,
    /// When the worker could begin the request, or when it began to stream its reply.
    pub(crate) since: Instant,
    /// The bytes of the response that the worker may send; `None` once the response is streamed, because the stream
    /// then has the credit.
    pub(crate) credit: Option<StreamCredit>,
    pub(crate) stage: RequestStage,
    /// Whether `slow_request` has expired for the request.
    is_slow: bool,
    /// The request's share of the bound of its pool.
    #[cfg_attr(
        not(any(test, feature = "fixture")),
        expect(dead_code, reason = "dropping it is what it is for")
    )]
    pub(crate) share: Option<PoolShare>,
}

/// A request that a worker has begun.
#[derive(Clone)]
pub struct RunningRequest {
    /// The lane that runs the request.
    pub tag: LaneTag,
    /// The number of the request on its lane.
    pub id: u32,
    /// How long ago the worker could begin the request, or began to stream its response.
    pub age: Duration,
    /// The method and the target of the request; empty once the response is streamed.
    pub text: String,
    /// The application's activity for the request: it runs, streams, or has a tunnel.
    pub stage: &'static str,
}

impl RunningRequest {
    /// The name of the request while it runs: its lane and its number there.
    pub fn key(&self) -> (LaneTag, u32) {
        (self.tag, self.id)
    }
}

/// How many requests a worker holds on all of its lanes together. Clones share the number.
#[derive(Debug, Clone, Default)]
pub struct WorkerRequests(Rc<Cell<usize>>);

impl WorkerRequests {
    pub(crate) fn count(&self) -> usize {
        self.0.get()
    }

    pub(crate) fn add(&self, requests: usize) {
        self.0.set(self.count() + requests);
    }

    pub(crate) fn remove(&self, requests: usize) {
        self.0.set(self.count() - requests);
    }
}

/// Identifies the next request on a lane.
#[derive(Clone, Copy)]
pub(crate) struct NextRequest {
    /// The number of the request on this lane. Unlike the id, its lower half, it never wraps around.
    number: u64,
    pub(crate) id: u32,
}

#[derive(Debug)]
pub(crate) enum RequestStage {
    /// The application has not replied.
    Waiting(Rc<Exchange>),
    /// The reply is being streamed, while the application may still read the request body.
    Streaming(ReplySender, Option<Rc<BodyStream>>),
    /// The application has taken over the connection, while it still works on the request.
    TakenOver,
}

#[cfg(any(test, feature = "fixture"))]
impl InFlightRequest {
    /// The index of the pool from which the request takes a lane.
    pub(crate) fn pool(&self) -> Option<usize> {
        self.share.as_ref().map(PoolShare::index)
    }
}

impl InFlightRequest {
    /// The body of the request, when it is forwarded while it arrives.
    pub(crate) fn body_stream(&self) -> Option<&Rc<BodyStream>> {
        match &self.stage {
            RequestStage::Waiting(exchange) => exchange.call.body_stream(),
            RequestStage::Streaming(_, body) => body.as_ref(),
            RequestStage::TakenOver => None,
        }
    }

    /// Describes the request for reports.
    pub(crate) fn running(&self, tag: LaneTag, now: Instant) -> RunningRequest {
        let (stage, text) = match &self.stage {
            RequestStage::Waiting(exchange) => ("runs", LoggedRequest(exchange).to_string()),
            RequestStage::Streaming(..) => ("streams", String::new()),
            RequestStage::TakenOver => ("has a tunnel", String::new()),
        };
        RunningRequest {
            tag,
            id: self.id,
            age: now.saturating_duration_since(self.since),
            text,
            stage,
        }
    }

    /// The application replied, and streams the body.
    fn stream(&mut self, sender: ReplySender, now: Instant) {
        self.since = now;
        self.stage = RequestStage::Streaming(sender, self.body_stream().cloned());
    }

    /// The application has taken over the connection.
    fn take_over(&mut self, now: Instant) {
        self.since = now;
        self.credit = None;
        self.stage = RequestStage::TakenOver;
    }

    /// Whether the response has been streamed, or the connection taken over, for at least `LONG_STREAM`: a garbage
    /// collection does not wait for its end.
    pub(crate) fn is_long_stream(&self, now: Instant) -> bool {
        let lasted = now.saturating_duration_since(self.since);
        match self.stage {
            RequestStage::Waiting(_) => false,
            RequestStage::Streaming(..) | RequestStage::TakenOver => lasted >= LONG_STREAM,
        }
    }

    /// Whether the application has been serving the request for longer than `limit` without a reply.
    /// Time in which it waits for the client's body does not count.
    pub(crate) fn is_overdue(&self, now: Instant, limit: Duration) -> bool {
        let RequestStage::Waiting(exchange) = &self.stage else {
            return false;
        };
        let is_idle = |body: &Rc<BodyStream>| body.idle_time(now) > limit;
        now.saturating_duration_since(self.since) > limit
            && exchange.call.body_stream().is_none_or(is_idle)
    }
}

/// The requests of a lane, oldest first. A request that leaves the middle becomes a gap, so that finding
/// and removing one among ten thousand takes a binary search.
#[derive(Debug, Default)]
pub(crate) struct InFlightRequests {
    /// The requests and the gaps between them. Neither the first slot nor the last is a gap.
    slots: VecDeque<InFlightSlot>,
    gaps: usize,
    /// The number of the last request.
    last: u64,
    /// Bytes of all requests together.
    bytes: usize,
    worker_requests: WorkerRequests,
}

#[derive(Debug)]
struct InFlightSlot {
    number: u64,
    request: Option<InFlightRequest>,
}

#[cfg(test)]
impl InFlightRequests {
    /// The next request gets the number after this one.
    pub(crate) fn skip_to(&mut self, last: u64) {
        self.last = last;
    }
}

impl InFlightRequests {
    /// A lane without requests. Requests that are added count as requests of this worker.
    pub(crate) fn of(worker_requests: WorkerRequests) -> InFlightRequests {
        InFlightRequests {
            worker_requests,
            ..InFlightRequests::default()
        }
    }

    /// How many requests the worker holds on all of its lanes.
    pub(crate) fn worker_requests(&self) -> usize {
        self.worker_requests.count()
    }

    pub(crate) fn len(&self) -> usize {
        self.slots.len() - self.gaps
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The id of the request that was added last.
    pub(crate) fn last_id(&self) -> u32 {
        id_of(self.last)
    }

    /// The number and the id of the next request. It skips the id of a stream that has lasted since the ids last
    /// wrapped around.
    pub(crate) fn next(&self) -> NextRequest {
        let mut number = self.last + 1;
        while self.find(id_of(number)).is_some() {
            number += 1;
        }
        let id = id_of(number);
        NextRequest { number, id }
    }

    /// Adds the request that `next` has numbered, with its size in bytes and the credit of its response.
    pub(crate) fn add(
        &mut self,
        next: NextRequest,
        exchange: Rc<Exchange>,
        bytes: usize,
        credit: StreamCredit,
        now: Instant,
    ) {
        let NextRequest { number, id } = next;
        self.last = number;
        self.bytes += bytes;
        self.worker_requests.add(1);
        let share = exchange.pool.get().map(PoolMembership::take_share);
        let request = Some(InFlightRequest {
            id,
            bytes,
            since: now,
            credit: Some(credit),
            stage: RequestStage::Waiting(exchange),
            is_slow: false,
            share,
        });
        self.slots.push_back(InFlightSlot { number, request });
    }

    /// Bytes of all requests together.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Bytes of the requests after `begun`.
    pub(crate) fn bytes_behind(&self, begun: u32) -> usize {
        let newest_first = self
            .slots
            .iter()
            .rev()
            .filter_map(|slot| slot.request.as_ref());
        newest_first
            .take_while(|request| is_behind(request.id, begun))
            .map(|request| request.bytes)
            .sum()
    }

    /// Every request, oldest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &InFlightRequest> {
        self.slots.iter().filter_map(|slot| slot.request.as_ref())
    }

    pub(crate) fn oldest(&self) -> Option<&InFlightRequest> {
        self.slots.front()?.request.as_ref()
    }

    pub(crate) fn oldest_mut(&mut self) -> Option<&mut InFlightRequest> {
        self.slots.front_mut()?.request.as_mut()
    }

    pub(crate) fn newest(&self) -> Option<&InFlightRequest> {
        self.slots.back()?.request.as_ref()
    }

    pub(crate) fn get(&self, id: u32) -> Option<&InFlightRequest> {
        self.slots[self.find(id)?].request.as_ref()
    }

    /// The request with this id, if the application has not replied.
    pub(crate) fn waiting(&self, id: u32) -> Option<Rc<Exchange>> {
        match &self.get(id)?.stage {
            RequestStage::Waiting(exchange) => Some(Rc::clone(exchange)),
            RequestStage::Streaming(..) | RequestStage::TakenOver => None,
        }
    }

    /// Notes that `slow_request` has expired for request `id`. Returns whether that is news.
    pub(crate) fn report_slow(&mut self, id: u32) -> bool {
        let request = self.get_mut(id);
        request.is_some_and(|request| !std::mem::replace(&mut request.is_slow, true))
    }

    /// Whether `slow_request` has expired for request `id`.
    pub(crate) fn is_slow(&self, id: u32) -> bool {
        self.get(id).is_some_and(|request| request.is_slow)
    }

    /// Takes the credit for the response to request `id`: the bytes that the worker may send of it.
    pub(crate) fn take_credit(&mut self, id: u32) -> Option<StreamCredit> {
        self.get_mut(id)?.credit.take()
    }

    /// The application replied, and streams the body from now on.
    pub(crate) fn stream(&mut self, id: u32, sender: ReplySender, now: Instant) {
        if let Some(request) = self.get_mut(id) {
            request.stream(sender, now);
        }
    }

    /// The application has taken over the connection of request `id`.
    pub(crate) fn take_over(&mut self, id: u32, now: Instant) {
        if let Some(request) = self.get_mut(id) {
            request.take_over(now);
        }
    }

    /// The worker accepts `bytes` more of the body of request `id`.
    pub(crate) fn grant(&self, id: u32, bytes: u32) {
        if let Some(body) = self.get(id).and_then(InFlightRequest::body_stream) {
            body.grant(bytes);
        }
    }

    fn get_mut(&mut self, id: u32) -> Option<&mut InFlightRequest> {
        let slot = self.find(id)?;
        self.slots[slot].request.as_mut()
    }

    pub(crate) fn remove(&mut self, id: u32) -> Option<InFlightRequest> {
        let slot = self.find(id)?;
        let request = self.slots[slot].request.take()?;
        self.bytes -= request.bytes;
        self.gaps += 1;
        self.worker_requests.remove(1);
        self.compact();
        Some(request)
    }

    /// The oldest request after `begun`.
    pub(crate) fn first_behind(&self, begun: u32) -> Option<&InFlightRequest> {
        let behind = id_of(self.last).wrapping_sub(begun);
        let begun = self.last.checked_sub(u64::from(behind))?;
        let first = self.slots.partition_point(|slot| slot.number <= begun);
        self.slots
            .range(first..)
            .find_map(|slot| slot.request.as_ref())
    }

    /// Removes the requests after `begun` that have no reply, oldest first.
    pub(crate) fn take_behind(&mut self, begun: u32) -> Vec<Rc<Exchange>> {
        let mut back = Vec::new();
        self.slots.retain(|slot| match &slot.request {
            Some(InFlightRequest {
                id,
                bytes,
                stage: RequestStage::Waiting(exchange),
                ..
            }) if is_behind(*id, begun) => {
                self.bytes -= bytes;
                back.push(Rc::clone(exchange));
                false
            }
            request => request.is_some(),
        });
        self.gaps = 0;
        self.worker_requests.remove(back.len());
        back
    }

    /// Removes every request, oldest first.
    pub(crate) fn take_all(&mut self) -> impl Iterator<Item = InFlightRequest> + use<> {
        self.worker_requests.remove(self.len());
        (self.gaps, self.bytes) = (0, 0);
        let slots = std::mem::take(&mut self.slots);
        slots.into_iter().filter_map(|slot| slot.request)
    }

    /// The index of the request with this id. That is the last request with it, or a stream that has lasted since
    /// before the ids wrapped around.
    fn find(&self, id: u32) -> Option<usize> {
        let oldest = self.slots.front()?.number;
        let behind = id_of(self.last).wrapping_sub(id);
        let newest = self.last.checked_sub(u64::from(behind))?;
        iter::successors(Some(newest), |number| number.checked_sub(1 << u32::BITS))
            .take_while(|number| *number >= oldest)
            .find_map(|number| self.index_of(number))
    }

    fn index_of(&self, number: u64) -> Option<usize> {
        let oldest = self.slots.front()?.number;
        // The index is right unless gaps before the request were removed.
        let guess = usize::try_from(number.checked_sub(oldest)?).ok()?;
        let found = match self.slots.get(guess) {
            Some(slot) if slot.number == number => Some(guess),
            _ => {
                let found = self.slots.binary_search_by_key(&number, |slot| slot.number);
                found.ok()
            }
        };
        found.filter(|slot| self.slots[*slot].request.is_some())
    }

    /// Removes gaps at both ends, and all of them once there are many.
    fn compact(&mut self) {
        let is_gap = |slot: Option<&InFlightSlot>| slot.is_some_and(|slot| slot.request.is_none());
        while is_gap(self.slots.front()) {
            self.slots.pop_front();
            self.gaps -= 1;
        }
        while is_gap(self.slots.back()) {
            self.slots.pop_back();
            self.gaps -= 1;
        }
        if self.gaps > self.len() + GAPS_LIMIT {
            self.slots.retain(|slot| slot.request.is_some());
            self.gaps = 0;
        }
    }
}

/// The id of the request with this number: the lower half of the number.
fn id_of(number: u64) -> u32 {
    u32::try_from(number & u64::from(u32::MAX)).expect("the lower half")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::ignored_stream;
    use carat_exchange::Call;

    fn add(requests: &mut InFlightRequests) -> u32 {
        let next = requests.next();
        let exchange = Rc::new(Exchange::new(Call::plain("GET", "/")));
        let credit = StreamCredit::of(exchange.call.memory.memory());
        requests.add(next, exchange, 100, credit, Instant::now());
        next.id
    }

    fn add_stream(requests: &mut InFlightRequests) -> u32 {
        let id = add(requests);
        let (sender, _body) = ignored_stream();
        let request = requests.get_mut(id).expect("in flight");
        request.stream(sender, Instant::now());
        id
    }

    fn requests_with(count: u32) -> InFlightRequests {
        let mut requests = InFlightRequests::default();
        for _ in 0..count {
            add(&mut requests);
        }
        requests
    }

    fn ids(requests: &InFlightRequests) -> Vec<u32> {
        requests.iter().map(|request| request.id).collect()
    }

    #[test]
    fn requests_may_be_removed_in_any_order() {
        let mut requests = requests_with(5);
        for id in [4, 1, 5] {
            assert_eq!(requests.remove(id).map(|request| request.id), Some(id));
            assert!(requests.remove(id).is_none() && requests.get(id).is_none());
        }
        assert_eq!((ids(&requests), requests.len()), (vec![2, 3], 2));
        assert_eq!(requests.oldest().map(|request| request.id), Some(2));
        assert_eq!(requests.newest().map(|request| request.id), Some(3));
        assert_eq!(add(&mut requests), 6);
        assert_eq!(ids(&requests), [2, 3, 6]);
        let taken: Vec<_> = requests.take_all().map(|request| request.id).collect();
        assert_eq!((taken, requests.is_empty()), (vec![2, 3, 6], true));
    }

    #[test]
    fn unknown_ids_are_not_found() {
        let mut requests = requests_with(3);
        for id in [0, 4, u32::MAX] {
            assert!(requests.get(id).is_none() && requests.remove(id).is_none());
        }
        assert!(InFlightRequests::default().get(0).is_none());
    }

    #[test]
    fn gaps_behind_a_long_request_do_not_pile_up() {
        let mut requests = InFlightRequests::default();
        add_stream(&mut requests);
        for _ in 0..10_000 {
            add(&mut requests);
            let (first, second) = (add(&mut requests), add(&mut requests));
            requests.remove(first);
            requests.remove(first - 1);
            assert!(requests.slots.len() <= 2 * requests.len() + GAPS_LIMIT + 1);
            if requests.len() > 100 {
                for id in ids(&requests).into_iter().skip(1).step_by(2) {
                    requests.remove(id);
                }
            }
            assert!(requests.get(second).is_some() || requests.len() <= 100);
        }
        assert!(requests.get(1).is_some());
    }

    #[test]
    fn ids_wrap_around_and_keep_their_order() {
        let mut requests = InFlightRequests {
            last: u64::from(u32::MAX) - 2,
            ..InFlightRequests::default()
        };
        for _ in 0..4 {
            add(&mut requests);
        }
        assert_eq!(ids(&requests), [u32::MAX - 1, u32::MAX, 0, 1]);
        assert_eq!(requests.last_id(), 1);
        assert_eq!(
            requests.first_behind(u32::MAX).map(|request| request.id),
            Some(0)
        );
        assert_eq!(requests.take_behind(u32::MAX).len(), 2);
        assert!(requests.remove(u32::MAX - 1).is_some());
        assert_eq!(ids(&requests), [u32::MAX]);
    }

    #[test]
    fn the_id_of_a_stream_is_not_reused_while_it_lasts() {
        let mut requests = InFlightRequests::default();
        let stream = add_stream(&mut requests);
        requests.last = u64::from(stream) + u64::from(u32::MAX);
        assert_eq!(add(&mut requests), stream + 1);
        assert_eq!(ids(&requests), [stream, stream + 1]);
        let request = requests.remove(stream).expect("in flight");
        assert!(matches!(request.stage, RequestStage::Streaming(..)));
        assert_eq!(
            requests.remove(stream + 1).map(|request| request.id),
            Some(2)
        );
    }

    #[test]
    fn only_later_requests_without_a_reply_are_taken() {
        let mut requests = requests_with(2);
        add_stream(&mut requests);
        add(&mut requests);
        requests.remove(2);
        assert_eq!(requests.first_behind(1).map(|request| request.id), Some(3));
        assert!(requests.first_behind(4).is_none());
        assert_eq!(requests.take_behind(1).len(), 1);
        assert_eq!(ids(&requests), [1, 3]);
        assert_eq!(requests.len(), 2);
    }
}
