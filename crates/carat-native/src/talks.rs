//! The requests of a lane that are under way, and what is streamed for them in either direction.

use std::collections::HashMap;

use carat_wire::stream::{Chunk, Window, decode_id};
use carat_wire::{Frame, Kind};

use crate::failure::Failure;
use crate::intake::Intake;
use crate::stream::Stream;

/// What a lane's frames are about, apart from new requests.
#[derive(Default)]
pub(crate) struct Talks {
    /// How many requests have been taken and are not over.
    under_way: usize,
    /// The bodies that are read while they arrive, by request.
    intakes: HashMap<u32, Intake>,
    /// The answers that are streamed, by request.
    streams: HashMap<u32, Stream>,
    /// Requests that something has come for.
    news: Vec<u32>,
    is_draining: bool,
}

impl Talks {
    /// A request is taken.
    pub(crate) fn begin(&mut self, id: u32, is_streamed: bool) {
        self.under_way += 1;
        if is_streamed {
            self.intakes.insert(id, Intake::default());
        }
    }

    /// Its answer has begun, and will be streamed.
    pub(crate) fn open_stream(&mut self, id: u32) {
        self.streams.insert(id, Stream::default());
    }

    /// It is over. Whoever still reads its body is told so.
    pub(crate) fn end(&mut self, id: u32) {
        self.under_way -= 1;
        self.streams.remove(&id);
        if self.intakes.remove(&id).is_some() {
            self.news.push(id);
        }
    }

    /// The body of request `id`, while that is under way.
    pub(crate) fn intake(&mut self, id: u32) -> Option<&mut Intake> {
        self.intakes.get_mut(&id)
    }

    /// The streamed answer to request `id`.
    pub(crate) fn stream(&mut self, id: u32) -> Option<&mut Stream> {
        self.streams.get_mut(&id)
    }

    /// No further request is to be taken.
    pub(crate) fn drain(&mut self) {
        self.is_draining = true;
    }

    pub(crate) fn is_draining(&self) -> bool {
        self.is_draining
    }

    /// Whether it drains and nothing is under way.
    pub(crate) fn is_drained(&self) -> bool {
        self.is_draining && self.under_way == 0
    }

    /// The requests that something has come for since the last time.
    pub(crate) fn take_news(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.news)
    }

    /// The edge says nothing more.
    pub(crate) fn cut(&mut self) {
        self.intakes.values_mut().for_each(Intake::abort);
    }

    /// Deals with a frame that is no request. What is about a request that is over is dropped.
    pub(crate) fn note(&mut self, frame: Frame<'_>) -> Result<(), Failure> {
        match frame.kind {
            Kind::Drain => self.is_draining = true,
            Kind::Window => {
                let window = Window::decode(frame.payload)?;
                self.with_stream(window.id, |stream| stream.grant(window.bytes));
            }
            Kind::Abort => {
                let id = decode_id(frame.payload)?;
                self.with_stream(id, |stream| stream.is_aborted = true);
                self.with_intake(id, |intake| {
                    intake.abort();
                    Ok(())
                })?;
            }
            Kind::Chunk => {
                let chunk = Chunk::decode(frame.payload)?;
                self.with_intake(chunk.id, |intake| intake.push(chunk.data))?;
            }
            Kind::End => {
                self.with_intake(decode_id(frame.payload)?, |intake| {
                    intake.end();
                    Ok(())
                })?;
            }
            kind => return Err(Failure::Unexpected(kind)),
        }
        Ok(())
    }

    fn with_stream(&mut self, id: u32, act: impl FnOnce(&mut Stream)) {
        if let Some(stream) = self.streams.get_mut(&id) {
            act(stream);
            self.news.push(id);
        }
    }

    fn with_intake(
        &mut self,
        id: u32,
        act: impl FnOnce(&mut Intake) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let Some(intake) = self.intakes.get_mut(&id) else {
            return Ok(());
        };
        act(intake)?;
        self.news.push(id);
        Ok(())
    }
}
