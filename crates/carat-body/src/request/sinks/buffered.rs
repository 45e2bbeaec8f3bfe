use std::mem;
use std::rc::Rc;

use crate::request::bodies::RequestBodies;
use crate::request::sinks::decoded_piece::DecodedPiece;
use crate::request::sinks::spooler::Spooler;
use carat_exchange::{CallBody, InlineBytes, MemoryAccount, Refusal};

/// A complete body: in memory when it is small, in a file when it is larger or memory is short.
pub struct BufferedBody<'a> {
    bodies: &'a RequestBodies,
    memory: Rc<MemoryAccount>,
    /// The bytes of the body while it is small.
    held: InlineBytes,
    /// The spool of the body, once it is larger.
    spooler: Option<Spooler<'a>>,
}

impl<'a> BufferedBody<'a> {
    /// An empty body.
    pub fn new(bodies: &'a RequestBodies, memory: &Rc<MemoryAccount>) -> BufferedBody<'a> {
        BufferedBody {
            bodies,
            memory: Rc::clone(memory),
            held: InlineBytes::new(memory),
            spooler: None,
        }
    }

    /// Appends a piece.
    pub async fn take(&mut self, data: &[u8]) -> Result<(), Refusal> {
        let limit = self.bodies.settings.inline_body_limit;
        if self.spooler.is_none() && self.held.push(data, limit) {
            return Ok(());
        }
        Box::pin(self.spill(data)).await
    }

    /// Appends pieces and returns them for reuse.
    pub(crate) async fn take_all(
        &mut self,
        pieces: Vec<DecodedPiece>,
    ) -> Result<Vec<DecodedPiece>, Refusal> {
        if let Some(spooler) = &mut self.spooler {
            return spooler.write_all(pieces).await;
        }
        for piece in &pieces {
            self.take(piece.bytes()).await?;
        }
        Ok(pieces)
    }

    /// The complete body.
    pub async fn finish(self) -> Result<CallBody, Refusal> {
        Ok(match self.spooler {
            Some(spooler) => CallBody::Spooled(Box::pin(spooler.finish()).await?),
            None if self.held.is_empty() => CallBody::None,
            None => CallBody::Inline(self.held),
        })
    }

    /// Writes to the file: first the bytes that were held in memory, then the new ones.
    async fn spill(&mut self, data: &[u8]) -> Result<(), Refusal> {
        let spooler = match &mut self.spooler {
            Some(spooler) => spooler,
            empty => empty.insert(Spooler::create(self.bodies, &self.memory).await?),
        };
        if !self.held.is_empty() {
            let held = mem::replace(&mut self.held, InlineBytes::new(&self.memory));
            spooler.write_inline(held).await?;
        }
        spooler.write(data).await
    }
}
