use std::fmt;

use serde::Deserialize;

/// The most bytes of `connection` and of a `state`: records that the edge keeps for the
/// application.
const RECORD_LIMIT: usize = 4096;
/// The most bytes of a stream's name.
pub(crate) const STREAM_NAME_LIMIT: usize = 1024;

/// The application's response to a handshake or a command. Unknown keys are ignored.
///
/// ```
/// use carat_cable::{CommandResult, StateChange, SubscriptionAnswer};
///
/// let json = r#"{"send": ["{}"], "subscription": "confirmed", "state": "s", "start": ["chat"]}"#;
/// let result = CommandResult::parse(json.as_bytes()).expect("a result");
/// assert_eq!(result.subscription, Some(SubscriptionAnswer::Confirmed));
/// assert_eq!(result.state, StateChange::To(Some("s".into())));
/// assert_eq!(result.start, [Box::from("chat")]);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct CommandResult {
    /// The record of the connection, which the application gets with each command from now on.
    pub connection: Option<Box<str>>,
    /// After a handshake: the stream by which the application disconnects the client.
    pub internal: Option<Box<str>>,
    /// After a handshake: the key of Turbo's stream names, which the edge can then verify.
    pub turbo: Option<SigningKey>,
    /// Texts for the client, in their order, after the streams have started.
    pub send: Vec<String>,
    /// The application's answer to `subscribe`.
    pub subscription: Option<SubscriptionAnswer>,
    /// The state that the subscription needs at its next command.
    pub state: StateChange,
    /// Streams that the subscription receives from now on, after `stop_all` and `stop`.
    pub start: Vec<Box<str>>,
    /// The timers of the subscription from now on, by their intervals in milliseconds.
    pub timers: Option<Vec<u64>>,
    /// Streams that the subscription does not receive any more.
    pub stop: Vec<Box<str>>,
    /// Whether the subscription does not receive any of its streams so far any more.
    pub stop_all: bool,
    /// The broadcasts of the command: names of streams, and messages.
    pub broadcasts: Vec<(Box<str>, String)>,
    /// Set if the connection is to be closed.
    pub close: Option<CommandClose>,
}

/// Whether the client has the subscription that it asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SubscriptionAnswer {
    /// The client has the subscription.
    Confirmed,
    /// The channel has rejected the subscription.
    Rejected,
    /// The client has the subscription, and a later command confirms it.
    Pending,
}

/// The change of a subscription's state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Option<Box<str>>")]
pub enum StateChange {
    /// The state stays.
    #[default]
    None,
    /// A new state replaces the old one; `None` removes it.
    To(Option<Box<str>>),
}

impl From<Option<Box<str>>> for StateChange {
    fn from(state: Option<Box<str>>) -> Self {
        StateChange::To(state)
    }
}

/// How a connection is closed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct CommandClose {
    /// The reason that the client is told.
    #[serde(default)]
    pub reason: Option<Box<str>>,
    /// Whether the client may come back.
    pub reconnect: bool,
}

/// A result that the edge does not accept, by a mistake of the application.
///
/// ```
/// use carat_cable::CommandResult;
///
/// let json = format!(r#"{{"state": "{}"}}"#, "a".repeat(4097));
/// let error = CommandResult::parse(json.as_bytes()).expect_err("more than is kept");
/// assert_eq!(error.to_string(), "state has more than 4096 bytes");
/// ```
#[derive(Debug)]
pub enum InvalidResult {
    /// The result is no JSON, or one of its values has another type.
    Json(serde_json::Error),
    /// The value with this name has more bytes than its limit.
    TooLong(&'static str, usize),
}

impl CommandResult {
    /// Reads the body of a response.
    pub fn parse(json: &[u8]) -> Result<CommandResult, InvalidResult> {
        let result: CommandResult = serde_json::from_slice(json).map_err(InvalidResult::Json)?;
        result.check()?;
        Ok(result)
    }

    fn check(&self) -> Result<(), InvalidResult> {
        let state = match &self.state {
            StateChange::To(state) => state.as_deref(),
            StateChange::None => None,
        };
        for (name, text) in [("connection", self.connection.as_deref()), ("state", state)] {
            check_length(name, text.into_iter(), RECORD_LIMIT)?;
        }
        let broadcasts = self.broadcasts.iter().map(|(stream, _)| stream);
        let streams = self.start.iter().chain(&self.stop).chain(broadcasts);
        let streams = streams.chain(&self.internal).map(|stream| &**stream);
        check_length("stream", streams, STREAM_NAME_LIMIT)
    }
}

fn check_length<'a>(
    name: &'static str,
    mut texts: impl Iterator<Item = &'a str>,
    limit: usize,
) -> Result<(), InvalidResult> {
    if texts.any(|text| text.len() > limit) {
        return Err(InvalidResult::TooLong(name, limit));
    }
    Ok(())
}

impl fmt::Display for InvalidResult {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => error.fmt(formatter),
            Self::TooLong(name, limit) => write!(formatter, "{name} has more than {limit} bytes"),
        }
    }
}

impl std::error::Error for InvalidResult {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Json(error) => Some(error),
            Self::TooLong(..) => None,
        }
    }
}

/// The application's key for the signatures of Turbo's stream names.
///
/// ```
/// use carat_cable::SigningKey;
///
/// let json = r#"{"key": "6b", "prefix": "shop:"}"#;
/// let key: SigningKey = serde_json::from_str(json).expect("complete");
/// assert_eq!(key.key, "6b");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct SigningKey {
    /// The key, in hexadecimal digits.
    pub key: String,
    /// The text before the name of each stream.
    #[serde(default)]
    pub prefix: String,
}

#[cfg(test)]
mod tests {
    use super::{CommandResult, InvalidResult, StateChange, SubscriptionAnswer};

    fn parse(json: &str) -> CommandResult {
        CommandResult::parse(json.as_bytes()).expect(json)
    }

    #[test]
    fn a_result_may_be_empty() {
        assert_eq!(parse("{}"), CommandResult::default());
    }

    #[test]
    fn the_result_of_a_handshake_has_a_connection() {
        let result = parse(r#"{"connection":"c","internal":"action_cable/1","send":["{}","[]"]}"#);
        assert_eq!(result.connection.as_deref(), Some("c"));
        assert_eq!(result.internal.as_deref(), Some("action_cable/1"));
        assert_eq!(result.send, ["{}", "[]"]);
        assert_eq!(result.close, None);
    }

    #[test]
    fn the_result_of_a_command_has_streams_and_broadcasts() {
        let result = parse(
            r#"{"subscription":"rejected","start":["a"],"stop":["b"],"stop_all":true,"new":0,
            "broadcasts":[["s","{\"a\":1}"]],"close":{"reason":"remote","reconnect":false}}"#,
        );
        assert_eq!(result.subscription, Some(SubscriptionAnswer::Rejected));
        assert_eq!((&*result.start[0], &*result.stop[0]), ("a", "b"));
        assert!(result.stop_all);
        assert_eq!(result.broadcasts, [("s".into(), r#"{"a":1}"#.into())]);
        let close = result.close.expect("a close");
        let found = (close.reason.as_deref(), close.reconnect);
        assert_eq!(found, (Some("remote"), false));
    }

    #[test]
    fn a_state_stays_unless_it_is_named() {
        assert_eq!(parse("{}").state, StateChange::None);
        assert_eq!(parse(r#"{"state":null}"#).state, StateChange::To(None));
        let state = StateChange::To(Some("s".into()));
        assert_eq!(parse(r#"{"state":"s"}"#).state, state);
    }

    #[test]
    fn what_the_edge_keeps_has_a_limit() {
        let json = |name, length| match name {
            "start" | "stop" => format!(r#"{{"{name}":["{}"]}}"#, "é".repeat(length / 2)),
            "broadcasts" => format!(r#"{{"{name}":[["{}","1"]]}}"#, "é".repeat(length / 2)),
            _ => format!(r#"{{"{name}":"{}"}}"#, "é".repeat(length / 2)),
        };
        for (name, limit) in [("connection", 4096), ("state", 4096), ("internal", 1024)] {
            parse(&json(name, limit));
            refused(&json(name, limit + 2), limit);
        }
        for name in ["start", "stop", "broadcasts"] {
            parse(&json(name, 1024));
            refused(&json(name, 1026), 1024);
        }
    }

    fn refused(json: &str, limit: usize) {
        let result = CommandResult::parse(json.as_bytes());
        let is_too_long = matches!(result, Err(InvalidResult::TooLong(_, most)) if most == limit);
        assert!(is_too_long, "{json}");
    }

    #[test]
    fn a_result_of_another_shape_is_refused() {
        for json in [
            "",
            "null",
            "[]x",
            r#"{"send":"text"}"#,
            r#"{"send":[1]}"#,
            r#"{"broadcasts":[["stream"]]}"#,
            r#"{"close":{}}"#,
            r#"{"subscription":"maybe"}"#,
            r#"{"state":{}}"#,
            r#"{"state":"a","state":"b"}"#,
        ] {
            let result = CommandResult::parse(json.as_bytes());
            assert!(matches!(result, Err(InvalidResult::Json(_))), "{json}");
        }
    }
}
