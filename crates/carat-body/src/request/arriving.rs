use std::rc::Rc;

use bytes::Bytes;

use super::received_body::ReceivedBody;
use carat_exchange::{ConnectionState, Refusal};

/// The longest rest of an unread body, in bytes, that is drained so that the connection can be kept.
const DISCARD_LIMIT: u64 = 64 * 1024;

/// A request body that is arriving, at most `max_body` bytes.
pub struct ArrivingBody {
    body: ReceivedBody,
    connection: Rc<ConnectionState>,
    /// How many more bytes the body may have.
    allowance: u64,
}

impl ArrivingBody {
    /// Refuses a body whose declared length exceeds `max_body`.
    pub(super) fn new(
        body: ReceivedBody,
        connection: &Rc<ConnectionState>,
        max_body: u64,
    ) -> Result<ArrivingBody, Refusal> {
        let announced = body.announced();
        if announced.is_some_and(|bytes| bytes > max_body) {
            return Err(Refusal::BodyTooLarge);
        }
        Ok(ArrivingBody {
            body,
            connection: Rc::clone(connection),
            allowance: max_body,
        })
    }

    /// Length in bytes, if the client declared it.
    pub(super) fn announced(&self) -> Option<u64> {
        self.body.announced()
    }

    /// Whether the client has sent the complete body.
    pub(super) fn has_arrived(&mut self) -> bool {
        match &mut self.body {
            ReceivedBody::Http1(_) => self.connection.body.has_arrived(),
            ReceivedBody::Streamed(body) => body.has_arrived(),
            ReceivedBody::None => true,
        }
    }

    /// The state of the connection.
    pub fn connection(&self) -> Rc<ConnectionState> {
        Rc::clone(&self.connection)
    }

    /// Whether the rest of the body is so short that draining it is worth it to keep the connection.
    pub(super) fn is_nearly_complete(&mut self) -> bool {
        self.fits(DISCARD_LIMIT)
    }

    /// Drains an unread body. The connection ends when the rest is longer than `DISCARD_LIMIT`.
    pub(super) async fn discard(mut self) {
        self.connection.body.pause(false);
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

    fn fits(&mut self, left: u64) -> bool {
        match self.announced() {
            Some(bytes) => bytes <= left,
            None => self.has_arrived(),
        }
    }

    /// Closes the connection after the response: the rest of the body is not read.
    pub(super) fn abandon(self) {
        self.connection.end.linger();
    }

    /// The next piece; `None` at the end.
    pub async fn next(&mut self) -> Result<Option<Bytes>, Refusal> {
        if self.body.is_end_stream() {
            return Ok(None);
        }
        let Some(data) = self.body.next().await else {
            return Ok(None);
        };
        // An error means that the guard has stored its refusal in the state, or that the client is gone and the
        // response does not matter.
        let data = data.map_err(|()| self.connection.end.refusal().unwrap_or(Refusal::TooSlow))?;
        let left = self.allowance.checked_sub(data.len() as u64);
        self.allowance = left.ok_or(Refusal::BodyTooLarge)?;
        Ok(Some(data))
    }
}
