use std::cell::{Cell, OnceCell, RefCell};
use std::collections::VecDeque;
use std::io;
use std::rc::Rc;

use super::deadlines::Deadline;
use super::failures::Failures;
use super::handshake_thread::HandshakeThread;
use crate::exchange::{Peer, Refusal};
use crate::log::Log;
use crate::tls::{HandshakeError, TlsStream};

/// How many handshakes may be in progress. One more ends the oldest, whose client has had the most time: clients that
/// stall keep nobody out.
const RUNNING_LIMIT: usize = 512;

/// The TLS handshakes of all clients.
#[derive(Debug)]
pub(super) struct Handshakes {
    /// Started for the first client.
    thread: OnceCell<HandshakeThread>,
    running: RefCell<VecDeque<(u64, Rc<Deadline>)>>,
    begun: Cell<u64>,
    failed: RefCell<Failures>,
    /// Clients that speak TLS at a port without it.
    misdirected: RefCell<Failures>,
}

/// A handshake in progress. Dropping it ends it.
#[derive(Debug)]
pub(super) struct RunningHandshake<'a> {
    handshakes: &'a Handshakes,
    id: u64,
}

impl Handshakes {
    pub(super) fn new() -> Handshakes {
        Handshakes {
            thread: OnceCell::new(),
            running: RefCell::default(),
            begun: Cell::new(0),
            failed: RefCell::default(),
            misdirected: RefCell::default(),
        }
    }

    /// A client has sent its first bytes; `deadline` is expired when it has to give way.
    pub(super) fn begin(&self, deadline: &Rc<Deadline>) -> RunningHandshake<'_> {
        let id = self.begun.get();
        self.begun.set(id + 1);
        let mut running = self.running.borrow_mut();
        if running.len() >= RUNNING_LIMIT {
            if let Some((_, oldest)) = running.pop_front() {
                oldest.expire();
            }
        }
        running.push_back((id, Rc::clone(deadline)));
        RunningHandshake {
            handshakes: self,
            id,
        }
    }

    /// Processes what a client has sent, when it is its turn. Returns the connection, and whether the handshake is
    /// complete.
    pub(super) async fn step(
        &self,
        mut stream: Box<TlsStream>,
    ) -> io::Result<(Box<TlsStream>, Result<bool, HandshakeError>)> {
        let step = move || {
            let is_complete = stream.shake_hands();
            (stream, is_complete)
        };
        self.thread()?.compute(step).await
    }

    fn thread(&self) -> io::Result<&HandshakeThread> {
        if let Some(thread) = self.thread.get() {
            return Ok(thread);
        }
        let started = HandshakeThread::start()?;
        Ok(self.thread.get_or_init(|| started))
    }

    /// Counts a failure.
    pub(super) fn note_failure(&self, peer: &Peer, error: &HandshakeError) {
        self.failed.borrow_mut().note(peer, error.to_string());
    }

    /// Counts a refusal if its client speaks TLS at a port without it.
    pub(super) fn note_refusal(&self, peer: &Peer, refusal: Refusal) {
        if refusal == Refusal::UnexpectedTls {
            let reason = refusal.reason().to_owned();
            self.misdirected.borrow_mut().note(peer, reason);
        }
    }

    /// Logs the failures since the last report.
    pub(super) fn report(&self, log: &Log) {
        self.failed.take().report("TLS handshakes failed", log);
        let misdirected = self.misdirected.take();
        misdirected.report("TLS on a port without it", log);
    }
}

impl Drop for RunningHandshake<'_> {
    fn drop(&mut self) {
        let mut running = self.handshakes.running.borrow_mut();
        if let Ok(index) = running.binary_search_by_key(&self.id, |(id, _)| *id) {
            running.remove(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::task::Waker;
    use std::time::Duration;

    use super::*;
    use crate::http::deadlines::Deadlines;

    #[test]
    fn one_handshake_too_many_ends_the_oldest() {
        let deadlines = Deadlines::new();
        let handshakes = Handshakes::new();
        let mut clients: Vec<_> = std::iter::repeat_with(|| {
            let deadline = Rc::new(deadlines.deadline());
            deadline.set(Duration::from_secs(3600));
            (handshakes.begin(&deadline), deadline)
        })
        .take(RUNNING_LIMIT + 1)
        .collect();
        let expired = |(_, deadline): &(_, Rc<Deadline>)| deadline.passed(Waker::noop());
        let ended: Vec<_> = clients.iter().map(expired).collect();
        assert!(ended[0] && !ended[1..].contains(&true));

        clients.remove(5);
        clients.remove(0);
        assert_eq!(handshakes.running.borrow().len(), RUNNING_LIMIT - 1);
        clients.clear();
        assert!(handshakes.running.borrow().is_empty());
    }
}
