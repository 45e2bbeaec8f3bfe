use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};

use crate::http::{Refusal, Watch};

/// The body of a request on its way in: its pieces as they come, at most `max_body` bytes.
pub(super) struct Arriving<'a> {
    body: Incoming,
    watch: &'a Watch,
    /// Bytes that may still come.
    room: u64,
}

impl<'a> Arriving<'a> {
    /// Refuses a body that is announced to be larger than `max_body` bytes.
    pub(super) fn new(
        body: Incoming,
        watch: &'a Watch,
        max_body: u64,
    ) -> Result<Arriving<'a>, Refusal> {
        let announced = body.size_hint().exact();
        if announced.is_some_and(|bytes| bytes > max_body) {
            return Err(Refusal::BodyTooLarge);
        }
        Ok(Arriving {
            body,
            watch,
            room: max_body,
        })
    }

    /// The next piece; `None` at the end.
    pub(super) async fn next(&mut self) -> Result<Option<Bytes>, Refusal> {
        if self.body.is_end_stream() {
            return Ok(None);
        }
        while let Some(frame) = self.body.frame().await {
            // An error here is the guard's, who has left its reason with the watch, or the client
            // has gone, and nobody reads the answer.
            let frame = frame.map_err(|_| self.watch.refusal().unwrap_or(Refusal::TooSlow))?;
            // Trailers are dropped: they could shadow headers that a proxy has checked.
            if let Ok(data) = frame.into_data() {
                let left = self.room.checked_sub(data.len() as u64);
                self.room = left.ok_or(Refusal::BodyTooLarge)?;
                return Ok(Some(data));
            }
        }
        Ok(None)
    }
}
