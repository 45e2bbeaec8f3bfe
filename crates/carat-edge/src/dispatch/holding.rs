use std::collections::VecDeque;
use std::iter;
use std::rc::Rc;
use std::time::{Duration, Instant};

use carat_wire::is_behind;

use super::Intake;
use super::exchange::Exchange;
use crate::body::StreamSender;

/// So many gaps may be left, beside as many as there are requests, before they are closed up.
const GAPS_LIMIT: usize = 32;

/// A request that the worker has been given.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) id: u32,
    /// Since when the worker has had it and no other before it, or since when it has streamed its answer.
    pub(super) since: Instant,
    pub(super) stage: Stage,
}

/// What the next request on a lane is known by.
#[derive(Debug, Clone, Copy)]
pub(super) struct Ticket {
    /// How many there were before it. Unlike the id, which is its lower half, it never wraps around.
    number: u64,
    pub(super) id: u32,
}

#[derive(Debug)]
pub(super) enum Stage {
    /// The application has not answered.
    Waiting(Rc<Exchange>),
    /// Its answer is being streamed, while the application may still read its body.
    Streaming(StreamSender, Option<Rc<Intake>>),
}

impl Held {
    /// The body of the request, when it is handed over while it arrives.
    pub(super) fn intake(&self) -> Option<&Rc<Intake>> {
        match &self.stage {
            Stage::Waiting(exchange) => exchange.call.intake(),
            Stage::Streaming(_, intake) => intake.as_ref(),
        }
    }

    /// The application has answered, and streams the rest.
    pub(super) fn stream(&mut self, sender: StreamSender, now: Instant) {
        self.since = now;
        self.stage = Stage::Streaming(sender, self.intake().cloned());
    }

    /// Whether the application has worked on it for longer than `limit` and has not answered. While it waits for its
    /// client, or has only just heard of it, it does not work.
    pub(super) fn is_overdue(&self, now: Instant, limit: Duration) -> bool {
        let Stage::Waiting(exchange) = &self.stage else {
            return false;
        };
        let stood_still = |intake: &Rc<Intake>| intake.stood_still(now) > limit;
        now.saturating_duration_since(self.since) > limit
            && exchange.call.intake().is_none_or(stood_still)
    }
}

/// What a lane's worker has been given and has not answered, in the order in which it was given. What is answered leaves
/// a gap, so that a request is found among ten thousand, and goes, at the price of some comparisons.
#[derive(Debug, Default)]
pub(super) struct Holding {
    /// The first and the last are no gaps.
    slots: VecDeque<Slot>,
    gaps: usize,
    /// The number of the last ticket.
    last: u64,
}

#[derive(Debug)]
struct Slot {
    number: u64,
    held: Option<Held>,
}

impl Holding {
    pub(super) fn len(&self) -> usize {
        self.slots.len() - self.gaps
    }

    pub(super) fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// The id of the last one that was added.
    pub(super) fn last_id(&self) -> u32 {
        id_of(self.last)
    }

    /// What the next one is known by: not by the id of a stream which has gone on since the ids were here last.
    pub(super) fn ticket(&self) -> Ticket {
        let mut number = self.last + 1;
        while self.find(id_of(number)).is_some() {
            number += 1;
        }
        let id = id_of(number);
        Ticket { number, id }
    }

    /// Adds a request under the ticket that was given last.
    pub(super) fn add(&mut self, ticket: Ticket, exchange: Rc<Exchange>, now: Instant) {
        let Ticket { number, id } = ticket;
        self.last = number;
        let held = Some(Held {
            id,
            since: now,
            stage: Stage::Waiting(exchange),
        });
        self.slots.push_back(Slot { number, held });
    }

    /// All of them, oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Held> {
        self.slots.iter().filter_map(|slot| slot.held.as_ref())
    }

    pub(super) fn oldest(&self) -> Option<&Held> {
        self.slots.front()?.held.as_ref()
    }

    pub(super) fn oldest_mut(&mut self) -> Option<&mut Held> {
        self.slots.front_mut()?.held.as_mut()
    }

    pub(super) fn newest(&self) -> Option<&Held> {
        self.slots.back()?.held.as_ref()
    }

    pub(super) fn get(&self, id: u32) -> Option<&Held> {
        self.slots[self.find(id)?].held.as_ref()
    }

    pub(super) fn get_mut(&mut self, id: u32) -> Option<&mut Held> {
        let slot = self.find(id)?;
        self.slots[slot].held.as_mut()
    }

    pub(super) fn remove(&mut self, id: u32) -> Option<Held> {
        let slot = self.find(id)?;
        let held = self.slots[slot].held.take();
        self.gaps += 1;
        self.close_up();
        held
    }

    /// The oldest of those that come behind `begun`.
    pub(super) fn first_behind(&self, begun: u32) -> Option<&Held> {
        let behind = id_of(self.last).wrapping_sub(begun);
        let begun = self.last.checked_sub(u64::from(behind))?;
        let first = self.slots.partition_point(|slot| slot.number <= begun);
        self.slots
            .range(first..)
            .find_map(|slot| slot.held.as_ref())
    }

    /// Takes out those that come behind `begun` and are not answered, oldest first.
    pub(super) fn take_behind(&mut self, begun: u32) -> Vec<Rc<Exchange>> {
        let mut back = Vec::new();
        self.slots.retain(|slot| match &slot.held {
            Some(Held {
                id,
                stage: Stage::Waiting(exchange),
                ..
            }) if is_behind(*id, begun) => {
                back.push(Rc::clone(exchange));
                false
            }
            held => held.is_some(),
        });
        self.gaps = 0;
        back
    }

    /// Takes out all of them, oldest first.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Held> + use<> {
        self.gaps = 0;
        let slots = std::mem::take(&mut self.slots);
        slots.into_iter().filter_map(|slot| slot.held)
    }

    /// Where the request with this id is: the last that was given it, or a stream from when it was given before.
    fn find(&self, id: u32) -> Option<usize> {
        let oldest = self.slots.front()?.number;
        let behind = id_of(self.last).wrapping_sub(id);
        let newest = self.last.checked_sub(u64::from(behind))?;
        iter::successors(Some(newest), |number| number.checked_sub(1 << u32::BITS))
            .take_while(|number| *number >= oldest)
            .find_map(|number| self.place_of(number))
    }

    fn place_of(&self, number: u64) -> Option<usize> {
        let found = self.slots.binary_search_by_key(&number, |slot| slot.number);
        found.ok().filter(|slot| self.slots[*slot].held.is_some())
    }

    /// Gaps stay in the middle until there are many.
    fn close_up(&mut self) {
        let is_gap = |slot: Option<&Slot>| slot.is_some_and(|slot| slot.held.is_none());
        while is_gap(self.slots.front()) {
            self.slots.pop_front();
            self.gaps -= 1;
        }
        while is_gap(self.slots.back()) {
            self.slots.pop_back();
            self.gaps -= 1;
        }
        if self.gaps > self.len() + GAPS_LIMIT {
            self.slots.retain(|slot| slot.held.is_some());
            self.gaps = 0;
        }
    }
}

/// The id that goes with a number.
fn id_of(number: u64) -> u32 {
    u32::try_from(number & u64::from(u32::MAX)).expect("no more than the lower half")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::Upstream;
    use crate::dispatch::lane::tests::call;

    struct Nobody;

    impl Upstream for Nobody {
        fn taken(&self, _bytes: u32) {}
        fn abandoned(&self) {}
    }

    fn add(holding: &mut Holding) -> u32 {
        let ticket = holding.ticket();
        let exchange = Rc::new(Exchange::new(call("GET", "/")));
        holding.add(ticket, exchange, Instant::now());
        ticket.id
    }

    fn add_stream(holding: &mut Holding) -> u32 {
        let id = add(holding);
        let (sender, _body) = crate::body::stream(Box::new(Nobody));
        let held = holding.get_mut(id).expect("held");
        held.stream(sender, Instant::now());
        id
    }

    fn holding_with(requests: u32) -> Holding {
        let mut holding = Holding::default();
        for _ in 0..requests {
            add(&mut holding);
        }
        holding
    }

    fn ids(holding: &Holding) -> Vec<u32> {
        holding.iter().map(|held| held.id).collect()
    }

    #[test]
    fn what_is_answered_in_any_order_leaves_the_others_in_theirs() {
        let mut holding = holding_with(5);
        for id in [4, 1, 5] {
            assert_eq!(holding.remove(id).map(|held| held.id), Some(id));
            assert!(holding.remove(id).is_none() && holding.get(id).is_none());
        }
        assert_eq!((ids(&holding), holding.len()), (vec![2, 3], 2));
        assert_eq!(holding.oldest().map(|held| held.id), Some(2));
        assert_eq!(holding.newest().map(|held| held.id), Some(3));
        assert_eq!(add(&mut holding), 6);
        assert_eq!(ids(&holding), [2, 3, 6]);
        let taken: Vec<_> = holding.take_all().map(|held| held.id).collect();
        assert_eq!((taken, holding.is_empty()), (vec![2, 3, 6], true));
    }

    #[test]
    fn ids_that_nobody_was_given_are_not_found() {
        let mut holding = holding_with(3);
        for id in [0, 4, u32::MAX] {
            assert!(holding.get(id).is_none() && holding.remove(id).is_none());
        }
        assert!(Holding::default().get(0).is_none());
    }

    #[test]
    fn gaps_behind_a_request_that_stays_do_not_pile_up() {
        let mut holding = Holding::default();
        add_stream(&mut holding);
        for _ in 0..10_000 {
            add(&mut holding);
            let (first, second) = (add(&mut holding), add(&mut holding));
            holding.remove(first);
            holding.remove(first - 1);
            assert!(holding.slots.len() <= 2 * holding.len() + GAPS_LIMIT + 1);
            if holding.len() > 100 {
                for id in ids(&holding).into_iter().skip(1).step_by(2) {
                    holding.remove(id);
                }
            }
            assert!(holding.get(second).is_some() || holding.len() <= 100);
        }
        assert!(holding.get(1).is_some());
    }

    #[test]
    fn ids_wrap_around_and_keep_their_order() {
        let mut holding = Holding {
            last: u64::from(u32::MAX) - 2,
            ..Holding::default()
        };
        for _ in 0..4 {
            add(&mut holding);
        }
        assert_eq!(ids(&holding), [u32::MAX - 1, u32::MAX, 0, 1]);
        assert_eq!(holding.last_id(), 1);
        assert_eq!(holding.first_behind(u32::MAX).map(|held| held.id), Some(0));
        assert_eq!(holding.take_behind(u32::MAX).len(), 2);
        assert!(holding.remove(u32::MAX - 1).is_some());
        assert_eq!(ids(&holding), [u32::MAX]);
    }

    #[test]
    fn the_id_of_a_stream_is_not_given_again_while_it_lasts() {
        let mut holding = Holding::default();
        let stream = add_stream(&mut holding);
        holding.last = u64::from(stream) + u64::from(u32::MAX);
        assert_eq!(add(&mut holding), stream + 1);
        assert_eq!(ids(&holding), [stream, stream + 1]);
        let held = holding.remove(stream).expect("held");
        assert!(matches!(held.stage, Stage::Streaming(..)));
        assert_eq!(holding.remove(stream + 1).map(|held| held.id), Some(2));
    }

    #[test]
    fn only_what_is_behind_and_not_answered_is_taken_out() {
        let mut holding = holding_with(2);
        add_stream(&mut holding);
        add(&mut holding);
        holding.remove(2);
        assert_eq!(holding.first_behind(1).map(|held| held.id), Some(3));
        assert!(holding.first_behind(4).is_none());
        assert_eq!(holding.take_behind(1).len(), 1);
        assert_eq!(ids(&holding), [1, 3]);
        assert_eq!(holding.len(), 2);
    }
}
