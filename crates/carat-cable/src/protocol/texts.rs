use serde_json::Value;

use super::Payload;

/// Tells the client that it is connected.
pub fn welcome() -> String {
    r#"{"type":"welcome"}"#.to_string()
}

/// Tells the client, every three seconds, that the connection lives.
///
/// ```
/// assert_eq!(carat_cable::ping(1_700_000_000), r#"{"type":"ping","message":1700000000}"#);
/// ```
pub fn ping(unix_seconds: u64) -> String {
    format!(r#"{{"type":"ping","message":{unix_seconds}}}"#)
}

/// Tells the client why the connection is closed, and whether it may come back.
///
/// ```
/// let text = carat_cable::disconnect(Some("unauthorized"), false);
/// assert_eq!(text, r#"{"type":"disconnect","reason":"unauthorized","reconnect":false}"#);
/// ```
pub fn disconnect(reason: Option<&str>, reconnect: bool) -> String {
    let reason = reason.map_or_else(|| "null".to_string(), string);
    format!(r#"{{"type":"disconnect","reason":{reason},"reconnect":{reconnect}}}"#)
}

/// Tells the client that it has subscribed.
pub fn confirm_subscription(identifier: &str) -> String {
    subscription(identifier, "confirm_subscription")
}

/// Tells the client that the channel has rejected its subscription.
///
/// ```
/// let text = carat_cable::reject_subscription(r#"{"channel":"Chat"}"#);
/// assert_eq!(text, r#"{"identifier":"{\"channel\":\"Chat\"}","type":"reject_subscription"}"#);
/// ```
pub fn reject_subscription(identifier: &str) -> String {
    subscription(identifier, "reject_subscription")
}

pub(super) fn subscription(identifier: &str, kind: &str) -> String {
    format!(r#"{{"identifier":{},"type":"{kind}"}}"#, string(identifier))
}

/// The text of a broadcast, for one subscription.
pub fn message(identifier: &str, payload: &Payload) -> String {
    format!("{}{}}}", message_start(identifier), payload.as_str())
}

/// The start of a broadcast's text, before the payload.
pub(crate) fn message_start(identifier: &str) -> String {
    format!(r#"{{"identifier":{},"message":"#, string(identifier))
}

/// The JSON of a String as Rails encodes it: characters that have a meaning in HTML or JavaScript
/// are escaped, too.
pub(super) fn string(text: &str) -> String {
    let mut json = Value::from(text).to_string();
    for (character, escape) in [
        ('<', r"\u003c"),
        ('>', r"\u003e"),
        ('&', r"\u0026"),
        ('\u{2028}', r"\u2028"),
        ('\u{2029}', r"\u2029"),
    ] {
        if json.contains(character) {
            json = json.replace(character, escape);
        }
    }
    json
}

#[cfg(test)]
mod tests {
    use super::{confirm_subscription, disconnect, string, welcome};

    #[test]
    fn a_string_has_the_escapes_of_rails() {
        let text = "\"\\/\u{7f}é\u{1F600} <b>&'\u{2028}\u{2029}\0\u{1}\u{8}\t\n\u{b}\u{c}\r\u{1f}";
        // The output of `ActiveSupport::JSON.encode` in Rails 8.1.
        let json =
            r#""\"\\/é😀 \u003cb\u003e\u0026'\u2028\u2029\u0000\u0001\b\t\n\u000b\f\r\u001f""#;
        assert_eq!(string(text), json.replace("/é", "/\u{7f}é"));
    }

    #[test]
    fn an_identifier_stays_within_its_string() {
        let text = confirm_subscription(r#"","type":"welcome"#);
        let json: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        assert_eq!(json["identifier"], r#"","type":"welcome"#);
        assert_eq!(json["type"], "confirm_subscription");
    }

    #[test]
    fn a_client_that_is_disconnected_without_a_reason_may_come_back() {
        assert_eq!(welcome(), r#"{"type":"welcome"}"#);
        let text = r#"{"type":"disconnect","reason":null,"reconnect":true}"#;
        assert_eq!(disconnect(None, true), text);
    }
}
