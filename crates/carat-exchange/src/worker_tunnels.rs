use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;
use std::task::{Context, Waker};

use tokio::sync::OwnedSemaphorePermit;

/// The tunnels of one worker. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct WorkerTunnels(Rc<OpenTunnels>);

#[derive(Debug, Default)]
struct OpenTunnels {
    /// The wakers of the tasks that carry the tunnels, by number.
    wakers: RefCell<BTreeMap<u64, Option<Waker>>>,
    last: Cell<u64>,
    is_closing: Cell<bool>,
}

/// A tunnel of a worker. Dropping it ends the tunnel.
#[derive(Debug)]
pub struct TunnelPlace {
    tunnels: WorkerTunnels,
    number: u64,
    /// A permit of `max_tunnels`, held while the tunnel is open; `None` without that option.
    permit: Option<OwnedSemaphorePermit>,
}

impl WorkerTunnels {
    /// Adds a tunnel.
    pub fn open(&self) -> TunnelPlace {
        let number = self.0.last.get() + 1;
        self.0.last.set(number);
        self.0.wakers.borrow_mut().insert(number, None);
        TunnelPlace {
            tunnels: self.clone(),
            number,
            permit: None,
        }
    }

    /// Whether these are the tunnels of the same worker.
    pub fn are_those_of(&self, other: &WorkerTunnels) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }

    /// How many tunnels there are.
    pub fn count(&self) -> usize {
        self.0.wakers.borrow().len()
    }

    /// Closes all tunnels as soon as the application's bytes are passed on; also tunnels that are added later.
    pub fn close(&self) {
        self.0.is_closing.set(true);
        let mut wakers = self.0.wakers.borrow_mut();
        let woken: Vec<_> = wakers.values_mut().filter_map(Option::take).collect();
        drop(wakers);
        woken.into_iter().for_each(Waker::wake);
    }
}

impl TunnelPlace {
    /// Holds this permit as long as the tunnel is open.
    pub fn keep(&mut self, permit: OwnedSemaphorePermit) {
        self.permit = Some(permit);
    }

    /// Whether the tunnel is to be closed. Otherwise the task is woken when it is.
    pub fn poll_closing(&self, cx: &Context<'_>) -> bool {
        let tunnels = &self.tunnels.0;
        if tunnels.is_closing.get() {
            return true;
        }
        if let Some(known) = tunnels.wakers.borrow_mut().get_mut(&self.number) {
            match known {
                Some(waker) => waker.clone_from(cx.waker()),
                None => *known = Some(cx.waker().clone()),
            }
        }
        false
    }
}

impl Drop for TunnelPlace {
    fn drop(&mut self) {
        self.tunnels.0.wakers.borrow_mut().remove(&self.number);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::Wake;

    use super::*;

    #[derive(Default)]
    struct Count(AtomicUsize);

    impl Wake for Count {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn all_tunnels_of_a_worker_are_closed_and_later_ones_too() {
        let count = Arc::new(Count::default());
        let waker = Waker::from(Arc::clone(&count));
        let cx = Context::from_waker(&waker);
        let tunnels = WorkerTunnels::default();
        let (first, second) = (tunnels.open(), tunnels.clone().open());
        assert!(!first.poll_closing(&cx) && !second.poll_closing(&cx));
        drop(second);
        assert_eq!(tunnels.count(), 1);
        tunnels.close();
        assert_eq!(count.0.load(Ordering::Relaxed), 1);
        assert!(first.poll_closing(&cx) && tunnels.open().poll_closing(&cx));
        drop(first);
        assert_eq!(tunnels.count(), 0);
    }
}
