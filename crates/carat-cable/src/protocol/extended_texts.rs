use super::texts::{string, subscription};

/// Tells the client that it is connected, and the name of its session. `restored` are the identifiers of the
/// subscriptions that continue, if the client has come back.
///
/// ```
/// use carat_cable::welcome_session;
///
/// assert_eq!(welcome_session("5f", None), r#"{"type":"welcome","sid":"5f"}"#);
/// let text = r#"{"type":"welcome","sid":"5f","restored":true,"restored_ids":["{}"]}"#;
/// assert_eq!(welcome_session("5f", Some(&["{}"])), text);
/// ```
pub fn welcome_session(sid: &str, restored: Option<&[&str]>) -> String {
    let sid = string(sid);
    let Some(restored) = restored else {
        return format!(r#"{{"type":"welcome","sid":{sid}}}"#);
    };
    let restored: Vec<_> = restored
        .iter()
        .map(|identifier| string(identifier))
        .collect();
    let restored = restored.join(",");
    format!(r#"{{"type":"welcome","sid":{sid},"restored":true,"restored_ids":[{restored}]}}"#)
}

/// Tells the client that it has been sent all messages that it asked for.
///
/// ```
/// let text = r#"{"identifier":"{}","type":"confirm_history"}"#;
/// assert_eq!(carat_cable::confirm_history("{}"), text);
/// ```
pub fn confirm_history(identifier: &str) -> String {
    subscription(identifier, "confirm_history")
}

/// Tells the client that messages which it asked for are not kept any more.
///
/// ```
/// let text = r#"{"identifier":"{}","type":"reject_history"}"#;
/// assert_eq!(carat_cable::reject_history("{}"), text);
/// ```
pub fn reject_history(identifier: &str) -> String {
    subscription(identifier, "reject_history")
}

/// The end of a broadcast's text, behind the payload; see [`message_start`](super::message_start).
pub(crate) fn message_end(stream: &str, epoch: &str, offset: u64) -> String {
    let stream = string(stream);
    format!(r#","stream_id":{stream},"epoch":"{epoch}","offset":{offset}}}"#)
}
