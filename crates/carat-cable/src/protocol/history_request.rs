use std::collections::HashMap;

use serde::Deserialize;
use serde_json::value::RawValue;

/// The request of a client of the extended protocol to be sent messages again.
///
/// ```
/// use carat_cable::HistoryRequest;
///
/// let json = r#"{"since": 1700000000, "streams": {"chat": {"epoch": "e", "offset": 7}}}"#;
/// let request = HistoryRequest::parse(json).expect("a request");
/// assert_eq!((request.since, request.streams["chat"].offset), (Some(1_700_000_000), 7));
/// assert!(HistoryRequest::parse("[]").is_none());
/// ```
#[derive(Debug, Default, PartialEq, Eq)]
pub struct HistoryRequest {
    /// The Unix time in seconds until which the client has all messages.
    pub since: Option<u64>,
    /// The last messages that the client has, by stream.
    pub streams: HashMap<String, HistoryPosition>,
}

/// The position of a message in the history.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct HistoryPosition {
    /// The name of the history that has numbered the messages: each server has its own.
    pub epoch: String,
    /// The number of the message.
    pub offset: u64,
}

#[derive(Deserialize)]
struct Members<'a> {
    #[serde(borrow)]
    since: Option<&'a RawValue>,
    streams: Option<HashMap<String, HistoryPosition>>,
}

impl HistoryRequest {
    /// Reads the member `history` of a command. `None` if the JSON is no such request.
    pub fn parse(json: &str) -> Option<HistoryRequest> {
        let members: Members<'_> = serde_json::from_str(json).ok()?;
        Some(HistoryRequest {
            // AnyCable's client sends `false` if it does not ask by time.
            since: members
                .since
                .and_then(|since| serde_json::from_str(since.get()).ok()),
            streams: members.streams.unwrap_or_default(),
        })
    }

    /// Whether the client asks for no message.
    pub fn is_empty(&self) -> bool {
        self.since.is_none() && self.streams.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::HistoryRequest;

    #[test]
    fn a_request_may_name_a_time_or_positions_or_nothing() {
        for json in [
            "{}",
            r#"{"since":false,"streams":null}"#,
            r#"{"since":-1,"x":[]}"#,
        ] {
            let holds = HistoryRequest::parse(json).is_some_and(|it| it.is_empty());
            assert!(holds, "{json}");
        }
        let request = HistoryRequest::parse(r#"{"since":5}"#).expect("a request");
        assert_eq!(request.since, Some(5));
    }

    #[test]
    fn what_is_no_request_is_none() {
        let deep = format!(r#"{{"since":{}"#, "[".repeat(1 << 20));
        for json in [
            "",
            "null",
            "7",
            r#"{"streams":[]}"#,
            r#"{"streams":{"a":{"offset":1}}}"#,
            r#"{"streams":{"a":{"epoch":"e","offset":-1}}}"#,
            &deep,
        ] {
            assert_eq!(HistoryRequest::parse(json), None);
        }
    }
}
