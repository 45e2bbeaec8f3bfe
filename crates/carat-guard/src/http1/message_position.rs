/// Where in the stream of messages a connection is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessagePosition {
    /// No byte of the next message has arrived, blank lines aside.
    BetweenMessages,
    /// The request line or the headers are incomplete, or were refused.
    InHeaders,
    /// The headers were passed, the last byte of the body was not.
    InBody,
}
