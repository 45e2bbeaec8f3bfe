use crate::request::bodies::RequestBodies;
use crate::request::sinks::buffered::BufferedBody;
use crate::request::sinks::decoded_piece::DecodedPiece;
use crate::request::sinks::handover::Handover;
use crate::request::sinks::part_sink::PartSink;
use carat_exchange::{Call, Refusal};

/// The destination of the bytes of a body, which arrive decoded and piece by piece.
pub enum RequestSink<'a> {
    /// The body is kept as it is until it is complete.
    Buffered(BufferedBody<'a>),
    /// A part keeps the body until it is complete.
    Part(Box<dyn PartSink + 'a>),
    /// The body is forwarded to the application while it arrives.
    Handover(&'a Handover),
}

impl<'a> RequestSink<'a> {
    /// The sink for the body of `call`. A part may have a sink of its own for it.
    pub(crate) fn of(
        call: &Call,
        own: Option<Box<dyn PartSink + 'a>>,
        bodies: &'a RequestBodies,
    ) -> RequestSink<'a> {
        match own {
            Some(sink) => RequestSink::Part(sink),
            None => RequestSink::Buffered(BufferedBody::new(bodies, &call.memory)),
        }
    }

    /// Appends a piece.
    pub async fn take(&mut self, data: &[u8]) -> Result<(), Refusal> {
        match self {
            RequestSink::Buffered(body) => body.take(data).await,
            RequestSink::Part(sink) => sink.take(data).await,
            RequestSink::Handover(handover) => {
                handover.take(data).await;
                Ok(())
            }
        }
    }

    /// Appends pieces and returns them for reuse.
    pub async fn take_all(
        &mut self,
        pieces: Vec<DecodedPiece>,
    ) -> Result<Vec<DecodedPiece>, Refusal> {
        if let RequestSink::Buffered(body) = self {
            return body.take_all(pieces).await;
        }
        for piece in &pieces {
            self.take(piece.bytes()).await?;
        }
        Ok(pieces)
    }

    /// Whether the application gets the body unchanged.
    pub(crate) fn is_plain(&self) -> bool {
        !matches!(self, RequestSink::Part(_))
    }

    /// Moves the complete body into `call`.
    pub(crate) async fn finish(self, call: &mut Call) -> Result<(), Refusal> {
        match self {
            RequestSink::Buffered(body) => call.body = body.finish().await?,
            RequestSink::Part(sink) => sink.finish(call).await?,
            // Every byte has been forwarded.
            RequestSink::Handover(_) => {}
        }
        Ok(())
    }
}
