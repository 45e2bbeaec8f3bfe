use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The files that the responses of one connection may have open at once: one of its own, and
/// further ones from a number that all connections share.
pub(super) struct ResponseFiles {
    own: Arc<Semaphore>,
    further: Arc<Semaphore>,
}

impl ResponseFiles {
    /// The connection has a permit of its own; `further` are those that it shares with others.
    pub(super) fn new(further: &Arc<Semaphore>) -> ResponseFiles {
        ResponseFiles {
            own: Arc::new(Semaphore::new(1)),
            further: Arc::clone(further),
        }
    }

    /// Waits for a permit to open the file of a response. With the connection's own permit, its
    /// streams are at least served one after the other.
    pub(super) async fn take(&self) -> OwnedSemaphorePermit {
        let permit = tokio::select! {
            biased;
            own = Arc::clone(&self.own).acquire_owned() => own,
            further = Arc::clone(&self.further).acquire_owned() => further,
        };
        permit.expect("nobody closes the semaphore")
    }

    /// A permit for a file that is open already, if one is left.
    pub(super) fn take_now(&self) -> Option<OwnedSemaphorePermit> {
        let own = Arc::clone(&self.own).try_acquire_owned().ok();
        own.or_else(|| self.further_one())
    }

    /// A shared permit for the socket of a tunnel, if one is left. A tunnel may last, so it does
    /// not take the connection's own permit, which the other streams need.
    pub(super) fn further_one(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.further).try_acquire_owned().ok()
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn take(files: &ResponseFiles) -> Option<OwnedSemaphorePermit> {
        match pin!(files.take()).poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(permit) => Some(permit),
            Poll::Pending => None,
        }
    }

    #[test]
    fn connections_share_what_exceeds_one_file_each() {
        let further = Arc::new(Semaphore::new(2));
        let (greedy, modest) = (ResponseFiles::new(&further), ResponseFiles::new(&further));
        let mut files: Vec<_> = std::iter::from_fn(|| take(&greedy)).collect();
        assert_eq!(files.len(), 3);
        let own = take(&modest).expect("its own");
        assert!(take(&modest).is_none());
        files.clear();
        files.extend(std::iter::from_fn(|| take(&modest)));
        assert_eq!(files.len(), 2);
        drop(own);
        assert!(modest.further_one().is_none());
        files.clear();
        let _tunnels = [greedy.further_one(), greedy.further_one()].map(|it| it.expect("further"));
        assert!(greedy.further_one().is_none() && take(&greedy).is_some());
    }
}
