use carat_guard::GuardError;

use carat_exchange::Refusal;

/// How a stream ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Http2StreamEnd {
    /// The stream ended with a complete response.
    Complete,
    /// The stream ended with the response to a request that has a malformed field, and with a reset
    /// unless the response has no body (RFC 9113, section 8.1.1).
    Malformed,
    /// The client has reset the stream, or has sent a request to which no response is possible.
    Broken,
    /// The server has reset the stream, because the client was too slow or memory is used up.
    CutOff,
}

impl From<Refusal> for Http2StreamEnd {
    fn from(refusal: Refusal) -> Http2StreamEnd {
        let malformed = Refusal::Malformed(GuardError::FieldName);
        let padded = Refusal::Malformed(GuardError::FieldPadding);
        if [malformed, padded].contains(&refusal) {
            Http2StreamEnd::Malformed
        } else {
            Http2StreamEnd::Complete
        }
    }
}
