use serde::Deserialize;
use serde::de::Error;

use super::STREAM_NAME_LIMIT;
use crate::Payload;

/// An order from a program outside of the server: a message for the subscribers of a stream.
///
/// ```
/// use carat_cable::BroadcastOrder;
///
/// let order = BroadcastOrder::parse(br#"{"stream": "chat", "message": {"body": "hi"}}"#);
/// let order = order.expect("complete");
/// assert_eq!((&*order.stream, order.message.as_str()), ("chat", r#"{"body": "hi"}"#));
/// assert!(BroadcastOrder::parse(br#"{"stream": "chat"}"#).is_err());
/// let long = format!(r#"{{"stream": "{}", "message": 1}}"#, "x".repeat(1025));
/// let error = BroadcastOrder::parse(long.as_bytes()).expect_err("too long");
/// assert_eq!(error.to_string(), "stream has more than 1024 bytes");
/// ```
#[derive(Clone, Debug, Deserialize)]
pub struct BroadcastOrder {
    /// The name of the stream.
    pub stream: Box<str>,
    /// The message that the subscribers get.
    pub message: Payload,
    /// Whether the message is for the clients of this server alone, as when the broker has brought
    /// it.
    #[serde(default)]
    pub local: bool,
}

impl BroadcastOrder {
    /// Reads the body of a request.
    pub fn parse(json: &[u8]) -> serde_json::Result<BroadcastOrder> {
        let order: BroadcastOrder = serde_json::from_slice(json)?;
        if order.stream.len() > STREAM_NAME_LIMIT {
            let cause = format!("stream has more than {STREAM_NAME_LIMIT} bytes");
            return Err(serde_json::Error::custom(cause));
        }
        Ok(order)
    }
}
