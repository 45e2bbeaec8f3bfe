use std::cell::RefCell;
use std::fmt;
use std::io;
use std::rc::Rc;
use std::task::{Context, Poll, Waker, ready};

use http::HeaderMap;

use crate::memory::{MemoryAccount, MemoryReservation};

/// The memory that an interim response takes in addition to its names and values, in bytes.
const INTERIM_COST: usize = 512;

/// Sends early hints to the client of one request. Each version of HTTP has a sink of its own.
pub trait HintSink: fmt::Debug {
    /// Sends a 103 response with these fields (RFC 8297). The caller wakes the task that serves the request.
    fn send(&self, fields: &HeaderMap);
}

/// The 103 responses that wait to be sent, before the response to the same request.
///
/// hyper cannot send them over HTTP/1.1. The edge writes them when hyper has written all its output, so that they never
/// end up within another response.
#[derive(Debug, Default)]
pub struct InterimResponses(RefCell<Option<Box<WaitingInterim>>>);

#[derive(Debug)]
struct WaitingInterim {
    /// The fields of each response.
    hints: Vec<HeaderMap>,
    /// The interim responses that are being written.
    bytes: Vec<u8>,
    written: usize,
    /// Whether a write was tried. An encrypted connection may then have sent bytes that do not count as written yet.
    is_begun: bool,
    /// The memory reserved for the responses.
    held: MemoryReservation,
    waiter: Option<Waker>,
}

impl InterimResponses {
    /// Adds a 103 response with these fields.
    pub fn add_hints(&self, fields: &HeaderMap, memory: &Rc<MemoryAccount>) {
        let mut waiting = self.0.borrow_mut();
        let waiting = waiting.get_or_insert_with(|| {
            Box::new(WaitingInterim {
                hints: Vec::new(),
                bytes: Vec::new(),
                written: 0,
                is_begun: false,
                held: MemoryReservation::of(memory),
                waiter: None,
            })
        });
        let bytes = fields
            .iter()
            .map(|(name, value)| name.as_str().len() + value.len());
        waiting.held.grow(bytes.sum::<usize>() + INTERIM_COST);
        waiting.hints.push(fields.clone());
    }

    /// Takes the fields of each response, for a protocol that sends them as they are.
    pub fn take_hints(&self) -> Vec<HeaderMap> {
        let Some(waiting) = self.0.take() else {
            return Vec::new();
        };
        if let Some(waiter) = waiting.waiter {
            waiter.wake();
        }
        waiting.hints
    }

    /// Whether a part of the responses may be written, so that they have to be completed before anything else.
    pub fn is_begun(&self) -> bool {
        let waiting = self.0.borrow();
        waiting.as_ref().is_some_and(|waiting| waiting.is_begun)
    }

    /// Writes the responses that wait.
    pub fn poll_write(
        &self,
        cx: &mut Context<'_>,
        mut write: impl FnMut(&mut Context<'_>, &[u8]) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<()>> {
        let mut slot = self.0.borrow_mut();
        let Some(waiting) = slot.as_mut() else {
            return Poll::Ready(Ok(()));
        };
        waiting.is_begun = true;
        for fields in waiting.hints.drain(..) {
            encode(&fields, &mut waiting.bytes);
        }
        while waiting.written < waiting.bytes.len() {
            let written = ready!(write(cx, &waiting.bytes[waiting.written..]))?;
            if written == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            waiting.written += written;
        }
        if let Some(waiter) = slot.take().and_then(|waiting| waiting.waiter) {
            waiter.wake();
        }
        Poll::Ready(Ok(()))
    }

    /// Ready when all interim responses are written, and the response may follow.
    pub fn poll_written(&self, cx: &Context<'_>) -> Poll<()> {
        match self.0.borrow_mut().as_mut() {
            Some(waiting) => {
                waiting.waiter = Some(cx.waker().clone());
                Poll::Pending
            }
            None => Poll::Ready(()),
        }
    }
}

/// Appends a 103 response of HTTP/1.1.
fn encode(fields: &HeaderMap, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(b"HTTP/1.1 103 Early Hints\r\n");
    for (name, value) in fields {
        bytes.extend_from_slice(name.as_str().as_bytes());
        bytes.extend_from_slice(b": ");
        bytes.extend_from_slice(value.as_bytes());
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use http::header::LINK;

    use super::*;
    use crate::ClientMemory;

    const HINTS: &str = "HTTP/1.1 103 Early Hints\r\nlink: </a.css>\r\nlink: </b.js>\r\n\r\n";

    fn hinted(interim: &InterimResponses, memory: &Rc<MemoryAccount>) {
        let mut fields = HeaderMap::new();
        fields.append(LINK, HeaderValue::from_static("</a.css>"));
        fields.append(LINK, HeaderValue::from_static("</b.js>"));
        interim.add_hints(&fields, memory);
    }

    #[test]
    fn hints_are_written_in_pieces_and_release_their_memory() {
        let memory = ClientMemory::new(u64::MAX);
        let account = memory.account();
        let interim = InterimResponses::default();
        let mut cx = Context::from_waker(Waker::noop());
        assert!(interim.poll_written(&cx).is_ready());
        hinted(&interim, &account);
        hinted(&interim, &account);
        assert!(account.held() >= 2 * HINTS.len() as u64);
        assert!(!interim.is_begun() && interim.poll_written(&cx).is_pending());
        let mut sent = Vec::new();
        for _ in 0..HINTS.len() {
            let mut is_blocked = false;
            let written = interim.poll_write(&mut cx, |_, bytes| {
                if std::mem::replace(&mut is_blocked, true) {
                    return Poll::Pending;
                }
                let count = bytes.len().min(2);
                sent.extend_from_slice(&bytes[..count]);
                Poll::Ready(Ok(count))
            });
            assert_eq!(written.is_pending(), interim.is_begun());
        }
        assert_eq!(sent, HINTS.repeat(2).as_bytes());
        assert!(interim.poll_written(&cx).is_ready());
        assert_eq!(account.held(), 0);
    }

    #[test]
    fn hints_that_are_taken_release_their_memory_and_the_response() {
        let memory = ClientMemory::new(u64::MAX);
        let account = memory.account();
        let interim = InterimResponses::default();
        let cx = Context::from_waker(Waker::noop());
        hinted(&interim, &account);
        assert!(account.held() > 0 && interim.poll_written(&cx).is_pending());
        assert_eq!(interim.take_hints()[0].get_all(LINK).iter().count(), 2);
        assert!(interim.take_hints().is_empty() && interim.poll_written(&cx).is_ready());
        assert_eq!(account.held(), 0);
    }

    #[test]
    fn a_client_that_is_gone_is_an_error() {
        let memory = ClientMemory::new(u64::MAX);
        let interim = InterimResponses::default();
        hinted(&interim, &memory.account());
        let mut cx = Context::from_waker(Waker::noop());
        let written = interim.poll_write(&mut cx, |_, _| Poll::Ready(Ok(0)));
        assert!(
            matches!(written, Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::WriteZero)
        );
    }
}
