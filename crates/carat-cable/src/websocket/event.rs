use super::CloseCode;

/// An event that a client sent. The protocol's answer to a ping is [`pong_frame`](crate::pong_frame), and to a close
/// [`close_frame`](crate::close_frame) with the same code.
///
/// ```
/// use carat_cable::{WebSocketEvent, close_frame, pong_frame};
///
/// fn answer(event: &WebSocketEvent) -> Option<Vec<u8>> {
///     match event {
///         WebSocketEvent::Ping(payload) => Some(pong_frame(payload)),
///         WebSocketEvent::Close(code) => Some(close_frame(*code, "")),
///         _ => None,
///     }
/// }
/// assert_eq!(answer(&WebSocketEvent::Close(None)), Some(vec![0x88, 0]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebSocketEvent {
    /// A whole message, of the type text or binary: Action Cable accepts both.
    Text(String),
    /// A whole message that is to be decompressed, by a [`MessageCoder`](crate::MessageCoder).
    Deflated(Vec<u8>),
    /// A ping, with at most 125 bytes.
    Ping(Vec<u8>),
    /// A pong. Its payload does not matter.
    Pong,
    /// The client closes, with a code or without.
    Close(Option<CloseCode>),
}
