use std::pin::Pin;

use carat_exchange::{Call, Refusal};

/// The sink of a part. It takes the decoded bytes of a body until the body is complete.
pub trait PartSink {
    /// Appends a piece.
    fn take<'a>(&'a mut self, data: &'a [u8]) -> BodyTask<'a>;

    /// Moves the complete body into `call`.
    fn finish<'a>(self: Box<Self>, call: &'a mut Call) -> BodyTask<'a>
    where
        Self: 'a;
}

/// The work of a part on a body. An error refuses the request.
pub type BodyTask<'a> = Pin<Box<dyn Future<Output = Result<(), Refusal>> + 'a>>;
