use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::timeout;

use crate::traced_request::TracedRequest;

/// The most requests whose spans wait for the collector. Each takes less than 2 KiB. The spans of
/// further requests are dropped.
const SPAN_REQUEST_LIMIT: usize = 1024;
/// The most requests whose spans are sent in one message.
const BATCH: usize = 128;
/// How long a request waits for others to share its message.
const BATCH_DELAY: Duration = Duration::from_secs(1);

/// The spans of requests that are over, until they are sent.
#[derive(Debug, Default)]
pub(crate) struct SpanQueue {
    requests: RefCell<VecDeque<Box<TracedRequest>>>,
    exported: Cell<u64>,
    dropped: Cell<u64>,
    /// Spans that the exporter has taken, and that are neither exported nor dropped.
    sending: Cell<u64>,
    is_closed: Cell<bool>,
    changed: Notify,
}

impl SpanQueue {
    pub(crate) fn push(&self, request: Box<TracedRequest>) {
        let mut requests = self.requests.borrow_mut();
        if requests.len() >= SPAN_REQUEST_LIMIT {
            add(&self.dropped, request.spans());
            return;
        }
        requests.push_back(request);
        if requests.len() == 1 || requests.len() == BATCH {
            self.changed.notify_one();
        }
    }

    /// Waits for spans to be sent together; `None` once the queue is closed and empty.
    pub(crate) async fn next_batch(&self) -> Option<Vec<Box<TracedRequest>>> {
        while self.requests.borrow().is_empty() {
            if self.is_closed() {
                return None;
            }
            self.changed.notified().await;
        }
        let gathered = async {
            while self.requests.borrow().len() < BATCH && !self.is_closed() {
                self.changed.notified().await;
            }
        };
        // A message with fewer requests is sent when the delay is over.
        let _ = timeout(BATCH_DELAY, gathered).await;
        let mut requests = self.requests.borrow_mut();
        let count = requests.len().min(BATCH);
        let batch: Vec<_> = requests.drain(..count).collect();
        self.sending.set(batch.iter().map(|it| it.spans()).sum());
        Some(batch)
    }

    /// Counts the spans of the last batch: the collector has taken `taken` of them, and the others
    /// are dropped.
    pub(crate) fn settle(&self, taken: u64) {
        let sent = self.sending.take();
        let taken = taken.min(sent);
        add(&self.exported, taken);
        add(&self.dropped, sent - taken);
    }

    /// Waits for this long, or until the queue is closed.
    pub(crate) async fn pause(&self, pause: Duration) {
        let closed = async {
            while !self.is_closed() {
                self.changed.notified().await;
            }
        };
        // Either of both ends the wait.
        let _ = timeout(pause, closed).await;
    }

    /// Closes the queue, because the server ends.
    pub(crate) fn close(&self) {
        self.is_closed.set(true);
        self.changed.notify_one();
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.get()
    }

    pub(crate) fn exported(&self) -> u64 {
        self.exported.get()
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.dropped.get()
    }

    /// Spans that have not been sent yet.
    pub(crate) fn unsent(&self) -> u64 {
        let waiting: u64 = self.requests.borrow().iter().map(|it| it.spans()).sum();
        waiting + self.sending.get()
    }
}

fn add(counter: &Cell<u64>, number: u64) {
    counter.set(counter.get().saturating_add(number));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn spans_beyond_the_limit_are_dropped_and_counted() {
        let queue = SpanQueue::default();
        for _ in 0..SPAN_REQUEST_LIMIT + 2 {
            queue.push(TracedRequest::plain());
        }
        assert_eq!((queue.dropped(), queue.unsent()), (2, 1024));
        let batch = queue.next_batch().await.expect("spans");
        assert_eq!(batch.len(), BATCH);
        queue.settle(100);
        assert_eq!((queue.exported(), queue.dropped()), (100, 30));
        assert_eq!(queue.unsent(), 1024 - 128);
    }

    #[tokio::test(start_paused = true)]
    async fn a_closed_queue_gives_what_it_has_at_once_and_then_ends() {
        let queue = SpanQueue::default();
        queue.push(TracedRequest::plain());
        queue.close();
        assert_eq!(queue.next_batch().await.map(|batch| batch.len()), Some(1));
        queue.settle(1);
        assert!(queue.next_batch().await.is_none());
        queue.pause(Duration::MAX).await;
    }
}
