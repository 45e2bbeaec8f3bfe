use std::mem;

use super::bodies::RequestBodies;
use super::decoded_piece::DecodedPiece;
use super::spooler::Spooler;
use crate::exchange::{CallBody, Refusal};

/// A complete body: a small one in memory, a larger one in a file.
pub(super) struct BufferedBody<'a> {
    bodies: &'a RequestBodies,
    /// The body while it is small.
    held: Vec<u8>,
    /// The body once it is not.
    spooler: Option<Spooler<'a>>,
}

impl<'a> BufferedBody<'a> {
    pub(super) fn new(bodies: &'a RequestBodies) -> BufferedBody<'a> {
        BufferedBody {
            bodies,
            held: Vec::new(),
            spooler: None,
        }
    }

    /// Appends a piece.
    pub(super) async fn take(&mut self, data: &[u8]) -> Result<(), Refusal> {
        let limit = self.bodies.settings.inline_body_limit;
        if self.spooler.is_none() && self.held.len() + data.len() <= limit {
            self.held.extend_from_slice(data);
            return Ok(());
        }
        Box::pin(self.spill(data)).await
    }

    /// Appends pieces and returns them for reuse.
    pub(super) async fn take_all(
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
    pub(super) async fn finish(self) -> Result<CallBody, Refusal> {
        Ok(match self.spooler {
            Some(spooler) => CallBody::Spooled(Box::pin(spooler.finish()).await?),
            None if self.held.is_empty() => CallBody::None,
            None => CallBody::Inline(self.held),
        })
    }

    /// Writes to the file, first the bytes that were held.
    async fn spill(&mut self, data: &[u8]) -> Result<(), Refusal> {
        let spooler = match &mut self.spooler {
            Some(spooler) => spooler,
            empty => empty.insert(Spooler::create(self.bodies).await?),
        };
        if !self.held.is_empty() {
            spooler.write(&mem::take(&mut self.held)).await?;
        }
        spooler.write(data).await
    }
}
