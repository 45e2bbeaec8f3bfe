use std::cell::Cell;
use std::sync::Arc;

use carat_policy::DescriptorBudget;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The clients that may be connected, each with a descriptor for the file of a response.
#[derive(Debug)]
pub(super) struct Seats {
    limit: usize,
    connections: Arc<Semaphore>,
    replies: Arc<Semaphore>,
    /// Descriptors for the files of further responses on connections with several at once.
    further_replies: Arc<Semaphore>,
    /// Seats that listeners hold for clients that have not come yet.
    offered: Cell<usize>,
}

/// A listener's wait for the client of a seat. Dropping it ends the wait.
#[derive(Debug)]
pub(super) struct Offer<'a>(&'a Seats);

/// The seat of one client.
#[derive(Debug)]
pub(super) struct Seat {
    /// Held while the client is connected.
    pub(super) connection: OwnedSemaphorePermit,
    /// Held until the last request of the client is over, even if it is gone.
    pub(super) reply: OwnedSemaphorePermit,
}

impl Seats {
    pub(super) fn new(budget: &DescriptorBudget) -> Seats {
        let permits = |count: usize| Arc::new(Semaphore::new(count.min(Semaphore::MAX_PERMITS)));
        Seats {
            limit: budget.connections,
            connections: permits(budget.connections),
            replies: permits(budget.replies),
            further_replies: permits(budget.further_replies),
            offered: Cell::new(0),
        }
    }

    /// Waits for the next free seat.
    pub(super) async fn take(&self) -> Seat {
        Seat {
            connection: acquire(&self.connections).await,
            reply: acquire(&self.replies).await,
        }
    }

    /// A free seat, if there is one.
    pub(super) fn take_now(&self) -> Option<Seat> {
        Some(Seat {
            connection: Arc::clone(&self.connections).try_acquire_owned().ok()?,
            reply: Arc::clone(&self.replies).try_acquire_owned().ok()?,
        })
    }

    /// Descriptors for the files of further responses on connections with several at once.
    pub(super) fn further_replies(&self) -> &Arc<Semaphore> {
        &self.further_replies
    }

    /// A listener that has taken a seat waits for its client.
    pub(super) fn offer(&self) -> Offer<'_> {
        self.offered.set(self.offered.get() + 1);
        Offer(self)
    }

    /// How many clients are connected.
    pub(super) fn clients(&self) -> usize {
        self.taken().saturating_sub(self.offered.get())
    }

    /// How many seats are taken.
    pub(super) fn taken(&self) -> usize {
        self.limit - self.connections.available_permits()
    }
}

impl Drop for Offer<'_> {
    fn drop(&mut self) {
        self.0.offered.set(self.0.offered.get() - 1);
    }
}

async fn acquire(permits: &Arc<Semaphore>) -> OwnedSemaphorePermit {
    let permit = Arc::clone(permits).acquire_owned().await;
    permit.expect("nobody closes the semaphore")
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn take(seats: &Seats) -> Option<Seat> {
        match pin!(seats.take()).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(seat) => Some(seat),
            Poll::Pending => None,
        }
    }

    fn seats(connections: usize, replies: usize) -> Seats {
        Seats::new(&DescriptorBudget {
            connections,
            replies,
            further_replies: 0,
            spools: 0,
        })
    }

    #[test]
    fn no_more_clients_than_seats_are_connected() {
        let seats = seats(2, 9);
        let first = take(&seats).expect("free");
        assert!(take(&seats).is_some_and(|_second| take(&seats).is_none()));
        assert_eq!(seats.taken(), 1);
        drop(first);
        assert_eq!(seats.taken(), 0);
    }

    #[test]
    fn a_seat_that_waits_for_a_client_has_none() {
        let seats = seats(2, 2);
        let _seat = take(&seats).expect("free");
        let offer = seats.offer();
        assert_eq!((seats.taken(), seats.clients()), (1, 0));
        drop(offer);
        assert_eq!(seats.clients(), 1);
    }

    #[test]
    fn a_client_that_left_a_running_request_keeps_its_descriptor() {
        let seats = seats(2, 2);
        let Seat { connection, reply } = take(&seats).expect("free");
        drop(connection);
        let second = take(&seats).expect("free");
        assert!(take(&seats).is_none());
        drop(reply);
        assert!(take(&seats).is_some());
        drop(second);
        assert_eq!(seats.taken(), 0);
    }
}
