use std::rc::Rc;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};

use crate::exchange::{ConnectionState, Refusal};

/// Most bytes of a body that nobody reads which are taken nevertheless, so that the connection can be kept.
const DISCARD_LIMIT: u64 = 64 * 1024;

/// The body of a request on its way in: its pieces as they come, at most `max_body` bytes.
pub(super) struct ArrivingBody {
    body: Incoming,
    connection: Rc<ConnectionState>,
    /// Bytes that may still come.
    allowance: u64,
}

impl ArrivingBody {
    /// Refuses a body that is announced to be larger than `max_body` bytes.
    pub(super) fn new(
        body: Incoming,
        connection: &Rc<ConnectionState>,
        max_body: u64,
    ) -> Result<ArrivingBody, Refusal> {
        let announced = body.size_hint().exact();
        if announced.is_some_and(|bytes| bytes > max_body) {
            return Err(Refusal::BodyTooLarge);
        }
        Ok(ArrivingBody {
            body,
            connection: Rc::clone(connection),
            allowance: max_body,
        })
    }

    /// Bytes in the body, if the client has said so.
    pub(super) fn announced(&self) -> Option<u64> {
        self.body.size_hint().exact()
    }

    /// Whether the client has sent all of it.
    pub(super) fn has_arrived(&self) -> bool {
        self.connection.body_has_arrived()
    }

    /// The connection of its connection.
    pub(super) fn connection(&self) -> Rc<ConnectionState> {
        Rc::clone(&self.connection)
    }

    /// Whether so little is left that the connection is worth keeping.
    pub(super) fn is_nearly_complete(&self) -> bool {
        self.fits(DISCARD_LIMIT)
    }

    /// Takes what nobody reads; if that is more than a little, the connection ends.
    pub(super) async fn discard(mut self) {
        self.connection.pause_body(false);
        let mut left = DISCARD_LIMIT;
        while self.fits(left) {
            match self.next().await {
                Ok(Some(data)) if data.len() as u64 <= left => left -= data.len() as u64,
                Ok(None) => return,
                Ok(Some(_)) | Err(_) => break,
            }
        }
        self.abandon();
    }

    fn fits(&self, left: u64) -> bool {
        self.announced()
            .map_or_else(|| self.has_arrived(), |bytes| bytes <= left)
    }

    /// Ends the connection with the answer: nobody reads the rest.
    pub(super) fn abandon(self) {
        self.connection.linger();
    }

    /// The next piece; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Refusal> {
        if self.body.is_end_stream() {
            return Ok(None);
        }
        while let Some(frame) = self.body.frame().await {
            // An error here is the guard's, who has left its reason with the connection, or the client
            // has gone, and nobody reads the answer.
            let frame = frame.map_err(|_| self.connection.refusal().unwrap_or(Refusal::TooSlow))?;
            // Trailers are dropped: they could shadow headers that a proxy has checked.
            if let Ok(data) = frame.into_data() {
                let left = self.allowance.checked_sub(data.len() as u64);
                self.allowance = left.ok_or(Refusal::BodyTooLarge)?;
                return Ok(Some(data));
            }
        }
        Ok(None)
    }
}
