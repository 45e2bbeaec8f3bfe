//! The requests that a lane works on, and what is streamed for them in either direction.

use std::collections::{HashMap, HashSet};

use carat_wire::stream::{Chunk, Window, decode_id};
use carat_wire::{Frame, Kind};

use crate::lane::body_receiver::BodyReceiver;
use crate::lane::response_stream::ResponseStream;
use crate::link_error::LinkError;

/// The requests of a lane between the first byte that the application sees and the last that it sends.
#[derive(Debug, Default)]
pub(crate) struct InFlight {
    count: usize,
    /// The bodies that are read while they arrive, by request.
    bodies: HashMap<u32, BodyReceiver>,
    /// The responses that are streamed, by request.
    streams: HashMap<u32, ResponseStream>,
    /// The requests whose streamed response has a short window at first.
    short: HashSet<u32>,
    /// Requests for which something has arrived.
    updated: Vec<u32>,
    is_draining: bool,
}

impl InFlight {
    /// Request `id`, which the application is about to begin, has a short window.
    pub(crate) fn note_short_window(&mut self, id: u32) {
        self.short.insert(id);
    }

    /// Whether request `id` has a short window. Most have none, and cost nothing here.
    pub(crate) fn take_short_window(&mut self, id: u32) -> bool {
        !self.short.is_empty() && self.short.remove(&id)
    }

    /// The application begins a request.
    pub(crate) fn begin(&mut self, id: u32, is_streamed: bool) {
        self.count += 1;
        if is_streamed {
            self.bodies.insert(id, BodyReceiver::default());
        }
    }

    /// The request has a response whose body will be streamed.
    pub(crate) fn open_stream(&mut self, id: u32) {
        let stream = ResponseStream::new(self.take_short_window(id));
        self.streams.insert(id, stream);
    }

    /// The request is over. A slot that still reads its body is woken to see that.
    pub(crate) fn end(&mut self, id: u32) {
        self.count -= 1;
        self.take_short_window(id);
        // Most lanes stream nothing. An empty map still hashes the key that it is asked for.
        if !self.streams.is_empty() {
            self.streams.remove(&id);
        }
        if !self.bodies.is_empty() && self.bodies.remove(&id).is_some() {
            self.updated.push(id);
        }
    }

    /// The streamed body of request `id`, while that is in flight.
    pub(crate) fn body(&mut self, id: u32) -> Option<&mut BodyReceiver> {
        self.bodies.get_mut(&id)
    }

    /// The streamed response to request `id`.
    pub(crate) fn stream(&mut self, id: u32) -> Option<&mut ResponseStream> {
        self.streams.get_mut(&id)
    }

    /// The lane takes no further request.
    pub(crate) fn drain(&mut self) {
        self.is_draining = true;
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.is_draining
    }

    /// Whether the lane drains and no request is in flight.
    pub(crate) fn is_drained(&self) -> bool {
        self.is_draining && self.count == 0
    }

    /// The requests that something has arrived for since the last call.
    pub(crate) fn take_updated(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.updated)
    }

    /// The edge sends nothing more: bodies that are incomplete stay so.
    pub(crate) fn cut(&mut self) {
        self.bodies.values_mut().for_each(BodyReceiver::abort);
    }

    /// Handles a frame that is not a request. Ignores a frame of a request that is over.
    pub(crate) fn handle(&mut self, frame: Frame<'_>) -> Result<(), LinkError> {
        match frame.kind {
            Kind::Drain => self.is_draining = true,
            Kind::Window => {
                let window = Window::decode(frame.payload)?;
                self.with_stream(window.id, |stream| stream.grant(window.bytes));
            }
            Kind::Abort => {
                let id = decode_id(frame.payload)?;
                self.with_stream(id, |stream| stream.is_aborted = true);
                self.with_body(id, |body| {
                    body.abort();
                    Ok(())
                })?;
            }
            Kind::Chunk => {
                let chunk = Chunk::decode(frame.payload)?;
                self.with_body(chunk.id, |body| body.push(chunk.data))?;
            }
            Kind::End => {
                self.with_body(decode_id(frame.payload)?, |body| {
                    body.complete();
                    Ok(())
                })?;
            }
            kind => return Err(LinkError::Unexpected(kind)),
        }
        Ok(())
    }

    fn with_stream(&mut self, id: u32, act: impl FnOnce(&mut ResponseStream)) {
        if let Some(stream) = self.streams.get_mut(&id) {
            act(stream);
            self.updated.push(id);
        }
    }

    fn with_body(
        &mut self,
        id: u32,
        act: impl FnOnce(&mut BodyReceiver) -> Result<(), LinkError>,
    ) -> Result<(), LinkError> {
        let Some(body) = self.bodies.get_mut(&id) else {
            return Ok(());
        };
        act(body)?;
        self.updated.push(id);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use carat_wire::stream::{encode_abort, encode_chunk};

    use super::*;
    use crate::lane::body_receiver::BodyStatus;

    fn handle(in_flight: &mut InFlight, encode: impl FnOnce(&mut Vec<u8>)) {
        let mut bytes = Vec::new();
        encode(&mut bytes);
        let frame = Frame::first(&bytes).expect("well formed");
        let handled = in_flight.handle(frame.expect("complete"));
        handled.expect("a frame of a lane");
    }

    #[test]
    fn a_lane_is_drained_when_its_last_request_is_over() {
        let mut in_flight = InFlight::default();
        in_flight.begin(1, false);
        in_flight.drain();
        assert!(!in_flight.is_drained());
        in_flight.end(1);
        assert!(in_flight.is_drained());
    }

    #[test]
    fn frames_about_a_request_that_is_over_are_dropped() {
        let mut in_flight = InFlight::default();
        handle(&mut in_flight, |out| encode_chunk(out, 9, b"late"));
        handle(&mut in_flight, |out| encode_abort(out, 9));
        assert!(in_flight.take_updated().is_empty());
    }

    #[test]
    fn readers_of_the_body_of_a_request_that_ends_are_woken() {
        let mut in_flight = InFlight::default();
        in_flight.begin(4, true);
        in_flight.end(4);
        assert_eq!(in_flight.take_updated(), [4]);
        assert!(in_flight.body(4).is_none());
    }

    #[test]
    fn an_abort_breaks_the_body_and_the_response_of_its_request() {
        let mut in_flight = InFlight::default();
        in_flight.begin(4, true);
        in_flight.open_stream(4);
        handle(&mut in_flight, |out| encode_abort(out, 4));
        let status = in_flight.body(4).map(|body| body.status());
        assert_eq!(status, Some(BodyStatus::Broken));
        assert!(in_flight.stream(4).is_some_and(|stream| stream.is_aborted));
    }
}
