use super::form::Form;
use super::piece::Piece;
use super::upload::Handover;
use super::whole::Whole;
use crate::dispatch::Call;
use crate::http::Refusal;
use crate::server::Server;

/// Where a body goes, plain and piece by piece.
pub(super) enum Sink<'a> {
    /// To the application, as it is.
    Whole(Whole<'a>),
    /// To the application, its files apart.
    Form(Box<Form<'a>>),
    /// To the application, while it arrives.
    Handover(&'a Handover),
}

impl<'a> Sink<'a> {
    /// The place for the body of `call`.
    pub(super) fn of(call: &Call, server: &'a Server) -> Sink<'a> {
        match Form::of(&call.parts.headers, server) {
            Some(form) => Sink::Form(Box::new(form)),
            None => Sink::Whole(Whole::new(server)),
        }
    }

    /// Appends a piece.
    pub(super) async fn take(&mut self, data: &[u8]) -> Result<(), Refusal> {
        match self {
            Sink::Whole(whole) => whole.take(data).await,
            Sink::Form(form) => Box::pin(form.take(data)).await,
            Sink::Handover(handover) => {
                handover.take(data).await;
                Ok(())
            }
        }
    }

    /// Appends pieces, which come back.
    pub(super) async fn take_all(&mut self, pieces: Vec<Piece>) -> Result<Vec<Piece>, Refusal> {
        if let Sink::Whole(whole) = self {
            return whole.take_all(pieces).await;
        }
        for piece in &pieces {
            self.take(piece.bytes()).await?;
        }
        Ok(pieces)
    }

    /// Whether the application gets the body itself.
    pub(super) fn is_plain(&self) -> bool {
        !matches!(self, Sink::Form(_))
    }

    /// The body is complete: it goes to `call`.
    pub(super) async fn finish(self, call: &mut Call) -> Result<(), Refusal> {
        match self {
            Sink::Whole(whole) => call.body = whole.finish().await?,
            Sink::Form(form) => (call.body, call.files) = Box::pin(form.finish()).await?,
            // Nothing of it is left.
            Sink::Handover(_) => {}
        }
        Ok(())
    }
}
