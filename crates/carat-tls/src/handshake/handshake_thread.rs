use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;

use tokio::sync::{Semaphore, oneshot};

/// The most steps that the thread has at a time: the one that it computes, and further ones, so that it is not idle
/// before the next turn of the event loop. Steps beyond them wait in the event loop, and are dropped with their
/// connections.
const STEPS_LIMIT: usize = 8;

/// A thread that computes the steps of handshakes, in the order in which they arrive. Requests would wait too long for
/// them: a step takes 0.1 ms with ECDSA on P-256, and 0.6 ms (2048 bits) to 4 ms (4096 bits) with RSA.
pub(super) struct HandshakeThread {
    steps: Sender<HandshakeStep>,
    room: Arc<Semaphore>,
}

type HandshakeStep = Box<dyn FnOnce() + Send>;

impl HandshakeThread {
    /// Starts the thread, which ends when this is dropped.
    pub(super) fn start() -> io::Result<HandshakeThread> {
        let (thread, arriving) = HandshakeThread::channel();
        thread::Builder::new()
            .name("carat tls".to_owned())
            .spawn(move || compute(&arriving))?;
        Ok(thread)
    }

    fn channel() -> (HandshakeThread, Receiver<HandshakeStep>) {
        let (steps, arriving) = channel();
        let room = Arc::new(Semaphore::new(STEPS_LIMIT));
        (HandshakeThread { steps, room }, arriving)
    }

    /// Computes a step on the thread. When the future is dropped, a step that has not begun is skipped. An error means
    /// that the step panicked.
    pub(super) async fn compute<T: Send + 'static>(
        &self,
        step: impl FnOnce() -> T + Send + 'static,
    ) -> io::Result<T> {
        let room = Arc::clone(&self.room).acquire_owned().await;
        let room = room.expect("nobody closes the semaphore");
        let (done, result) = oneshot::channel();
        let step = move || {
            // Held until the thread is done, even when nobody waits for it any more.
            let _room = room;
            if !done.is_closed() {
                // The connection may be over meanwhile.
                let _ = done.send(step());
            }
        };
        // This is no error: the thread runs as long as this sender exists.
        let _ = self.steps.send(Box::new(step));
        result
            .await
            .map_err(|_| io::Error::other("a handshake has panicked"))
    }
}

fn compute(steps: &Receiver<HandshakeStep>) {
    for step in steps {
        // The panic hook has logged the panic, and the caller of `compute` gets an error.
        let _ = catch_unwind(AssertUnwindSafe(step));
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future;
    use std::pin::{Pin, pin};
    use std::task::{Context, Poll, Waker};

    use super::*;

    fn poll<F: Future>(future: Pin<&mut F>) -> Poll<F::Output> {
        future.poll(&mut Context::from_waker(Waker::noop()))
    }

    fn block_on<F: Future>(future: F) -> F::Output {
        let runtime = tokio::runtime::Builder::new_current_thread().build();
        runtime.expect("a runtime").block_on(future)
    }

    #[test]
    fn a_step_is_computed_on_another_thread() {
        let thread = HandshakeThread::start().expect("a thread");
        let id = block_on(thread.compute(|| thread::current().id()));
        assert_ne!(id.expect("a result"), thread::current().id());
    }

    #[test]
    fn the_thread_survives_a_step_that_panics() {
        let thread = HandshakeThread::start().expect("a thread");
        assert!(block_on(thread.compute(|| panic!("as it is to"))).is_err());
        assert_eq!(block_on(thread.compute(|| 1)).expect("a result"), 1);
    }

    #[test]
    fn the_thread_has_no_more_steps_than_the_limit_even_when_nobody_waits() {
        let (thread, arriving) = HandshakeThread::channel();
        let mut steps: Vec<_> = (0..2 * STEPS_LIMIT)
            .map(|number| Box::pin(thread.compute(move || number)))
            .collect();
        for step in &mut steps {
            assert!(poll(step.as_mut()).is_pending());
        }
        // The steps that the thread has.
        steps.drain(..STEPS_LIMIT);
        assert!(poll(steps[0].as_mut()).is_pending());
        let held: Vec<_> = arriving.try_iter().collect();
        assert_eq!(held.len(), STEPS_LIMIT);

        for skipped in held {
            skipped();
        }
        let mut next = pin!(steps.remove(0));
        assert!(poll(next.as_mut()).is_pending());
        arriving.recv().expect("the next step")();
        assert!(matches!(poll(next.as_mut()), Poll::Ready(Ok(number)) if number == STEPS_LIMIT));
    }
}
