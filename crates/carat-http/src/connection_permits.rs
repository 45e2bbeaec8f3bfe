use std::cell::Cell;
use std::sync::Arc;

use carat_files::set_further_waiting;
use carat_policy::DescriptorBudget;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The permits of clients: one to be connected, and one to have a file open for a response.
pub(super) struct ConnectionPermits {
    connections: Permits,
    replies: Permits,
    /// Permits for the files of further responses on connections with several requests at once.
    further_replies: Permits,
    /// Permits that listeners hold for clients that have not come yet.
    offered: Cell<usize>,
}

/// Permits whose number may change.
struct Permits {
    limit: Cell<usize>,
    free: Arc<Semaphore>,
}

/// A listener that has a permit and waits for a client to use it. Dropping the offer ends the wait.
pub(super) struct Offer<'a>(&'a ConnectionPermits);

/// The permit of one client.
pub(super) struct ConnectionPermit {
    /// Held while the client is connected.
    pub(super) connection: OwnedSemaphorePermit,
    /// Held until the last request of the client is over, even if it is gone.
    pub(super) reply: OwnedSemaphorePermit,
}

impl ConnectionPermits {
    pub(super) fn new(budget: &DescriptorBudget) -> ConnectionPermits {
        set_further_waiting(budget.closing);
        ConnectionPermits {
            connections: Permits::new(budget.connections),
            replies: Permits::new(budget.replies),
            further_replies: Permits::new(budget.further_replies),
            offered: Cell::new(0),
        }
    }

    /// Sets the numbers of permits to another budget. Permits beyond it that are taken stay valid.
    pub(super) fn resize(&self, budget: &DescriptorBudget) {
        self.connections.resize(budget.connections);
        self.replies.resize(budget.replies);
        self.further_replies.resize(budget.further_replies);
        set_further_waiting(budget.closing);
    }

    /// Waits for the next free permit.
    pub(super) async fn take(&self) -> ConnectionPermit {
        ConnectionPermit {
            connection: acquire(&self.connections.free).await,
            reply: acquire(&self.replies.free).await,
        }
    }

    /// A free permit, if there is one.
    pub(super) fn take_now(&self) -> Option<ConnectionPermit> {
        Some(ConnectionPermit {
            connection: self.connections.take_now()?,
            reply: self.replies.take_now()?,
        })
    }

    /// Permits for the files of further responses on connections with several requests at once.
    pub(super) fn further_replies(&self) -> &Arc<Semaphore> {
        &self.further_replies.free
    }

    /// A listener that has taken a permit waits for its client.
    pub(super) fn offer(&self) -> Offer<'_> {
        self.offered.set(self.offered.get() + 1);
        Offer(self)
    }

    /// How many clients are connected.
    pub(super) fn clients(&self) -> usize {
        self.taken().saturating_sub(self.offered.get())
    }

    /// How many permits are taken.
    pub(super) fn taken(&self) -> usize {
        self.connections.limit.get() - self.connections.free.available_permits()
    }
}

impl Permits {
    fn new(count: usize) -> Permits {
        let count = count.min(Semaphore::MAX_PERMITS);
        Permits {
            limit: Cell::new(count),
            free: Arc::new(Semaphore::new(count)),
        }
    }

    fn take_now(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.free).try_acquire_owned().ok()
    }

    fn resize(&self, wanted: usize) {
        let limit = self.limit.get();
        let wanted = wanted.min(Semaphore::MAX_PERMITS);
        self.free.add_permits(wanted.saturating_sub(limit));
        let gone = self.free.forget_permits(limit.saturating_sub(wanted));
        self.limit.set(limit.max(wanted) - gone);
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

    fn take(permits: &ConnectionPermits) -> Option<ConnectionPermit> {
        match pin!(permits.take()).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(permit) => Some(permit),
            Poll::Pending => None,
        }
    }

    fn permits(connections: usize, replies: usize) -> ConnectionPermits {
        ConnectionPermits::new(&DescriptorBudget {
            connections,
            replies,
            further_replies: 0,
            closing: 0,
            spools: 0,
        })
    }

    #[test]
    fn permits_come_and_go_with_the_budget_and_those_that_are_taken_stay() {
        let permits = permits(3, 9);
        let taken = [take(&permits), take(&permits)];
        for (connections, free) in [(1, 0), (4, 2), (3, 1)] {
            permits.resize(&DescriptorBudget {
                connections,
                replies: 9,
                further_replies: 0,
                closing: 0,
                spools: 0,
            });
            let more: Vec<_> = std::iter::from_fn(|| permits.take_now()).collect();
            assert_eq!((more.len(), permits.taken()), (free, 2 + free));
        }
        drop(taken);
        assert_eq!(permits.taken(), 0);
    }

    #[test]
    fn no_more_clients_than_permits_are_connected() {
        let permits = permits(2, 9);
        let first = take(&permits).expect("free");
        assert!(take(&permits).is_some_and(|_second| take(&permits).is_none()));
        assert_eq!(permits.taken(), 1);
        drop(first);
        assert_eq!(permits.taken(), 0);
    }

    #[test]
    fn a_permit_that_waits_for_a_client_has_none() {
        let permits = permits(2, 2);
        let _permit = take(&permits).expect("free");
        let offer = permits.offer();
        assert_eq!((permits.taken(), permits.clients()), (1, 0));
        drop(offer);
        assert_eq!(permits.clients(), 1);
    }

    #[test]
    fn a_client_that_left_a_running_request_keeps_its_descriptor() {
        let permits = permits(2, 2);
        let ConnectionPermit { connection, reply } = take(&permits).expect("free");
        drop(connection);
        let second = take(&permits).expect("free");
        assert!(take(&permits).is_none());
        drop(reply);
        assert!(take(&permits).is_some());
        drop(second);
        assert_eq!(permits.taken(), 0);
    }
}
