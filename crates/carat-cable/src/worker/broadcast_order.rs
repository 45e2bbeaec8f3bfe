use serde::Deserialize;

use crate::Payload;

/// What a program asks for that is no process of the server: a message for the subscribers of a stream.
///
/// ```
/// use carat_cable::BroadcastOrder;
///
/// let order = BroadcastOrder::parse(br#"{"stream": "chat", "message": {"body": "hi"}}"#);
/// let order = order.expect("complete");
/// assert_eq!((&*order.stream, order.message.as_str()), ("chat", r#"{"body": "hi"}"#));
/// assert!(BroadcastOrder::parse(br#"{"stream": "chat"}"#).is_err());
/// ```
#[derive(Clone, Debug, Deserialize)]
pub struct BroadcastOrder {
    /// The name of the stream.
    pub stream: Box<str>,
    /// What its subscribers get.
    pub message: Payload,
    /// It is for clients of this server: the broker, if there is one, has said so.
    #[serde(default)]
    pub local: bool,
}

impl BroadcastOrder {
    /// Reads the body of a request.
    pub fn parse(json: &[u8]) -> serde_json::Result<BroadcastOrder> {
        serde_json::from_slice(json)
    }
}
