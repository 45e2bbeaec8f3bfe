use super::whole::Whole;
use crate::dispatch::{Call, CallBody};
use crate::http::Refusal;
use crate::server::Server;

/// Where a body goes, plain and piece by piece.
pub(super) enum Sink<'a> {
    /// To the application, as it is.
    Whole(Whole<'a>),
}

impl<'a> Sink<'a> {
    /// The place for the body of `call`.
    pub(super) fn of(_call: &Call, server: &'a Server) -> Sink<'a> {
        Sink::Whole(Whole::new(server))
    }

    /// Appends a piece.
    pub(super) async fn take(&mut self, data: &[u8]) -> Result<(), Refusal> {
        match self {
            Sink::Whole(whole) => whole.take(data).await,
        }
    }

    /// The body is complete: what the application gets.
    pub(super) async fn finish(self) -> Result<CallBody, Refusal> {
        match self {
            Sink::Whole(whole) => whole.finish().await,
        }
    }
}
