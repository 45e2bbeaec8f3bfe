use std::fmt;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

/// A command of a client.
///
/// ```
/// use carat_cable::{ClientCommand, NotACommand};
///
/// let command = ClientCommand::parse(r#"{"command":"message","identifier":"{}","data":"[1]"}"#);
/// let (identifier, data) = ("{}".to_string(), "[1]".to_string());
/// assert_eq!(command, Ok(ClientCommand::Message { identifier, data }));
/// assert_eq!(ClientCommand::parse(r#"{"command":"dance"}"#), Ok(ClientCommand::Unknown));
/// assert_eq!(ClientCommand::parse("hello"), Err(NotACommand));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClientCommand {
    /// A subscription to a channel.
    Subscribe {
        /// JSON that names the channel and its parameters. The client compares it byte by byte.
        identifier: String,
        /// In the extended protocol, the JSON of a [`HistoryRequest`](crate::HistoryRequest).
        history: Option<Box<str>>,
    },
    /// The end of a subscription.
    Unsubscribe {
        /// The identifier of the subscription, as it was in `subscribe`.
        identifier: String,
    },
    /// An action of a channel.
    Message {
        /// The identifier of the subscription, as it was in `subscribe`.
        identifier: String,
        /// JSON with the action and its arguments.
        data: String,
    },
    /// In the extended protocol: the request for the messages that a subscription has missed.
    History {
        /// The identifier of the subscription, as it was in `subscribe`.
        identifier: String,
        /// The JSON of a [`HistoryRequest`](crate::HistoryRequest).
        history: Option<Box<str>>,
    },
    /// A command that the protocol does not have, or an object without a command.
    Unknown,
}

/// The error for a text that is no command: it is no JSON object, or a member that its command needs is no String.
/// Rails logs an error and continues.
///
/// ```
/// use carat_cable::{ClientCommand, NotACommand};
///
/// let command = ClientCommand::parse(r#"{"command":"subscribe","identifier":{"channel":"Chat"}}"#);
/// assert_eq!(command, Err(NotACommand));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotACommand;

impl ClientCommand {
    /// Reads the text of a message. Keys that the protocol does not have are ignored, and the last
    /// of several equal keys counts. The stack does not grow with the depth of the JSON.
    pub fn parse(text: &str) -> Result<ClientCommand, NotACommand> {
        let keys: CommandKeys<'_> = serde_json::from_str(text).map_err(|_| NotACommand)?;
        let identifier = || string(keys.identifier);
        let history = keys.history.map(|history| history.get().into());
        match string(keys.command).as_deref() {
            Ok("subscribe") => Ok(Self::Subscribe {
                identifier: identifier()?,
                history,
            }),
            Ok("unsubscribe") => identifier().map(|identifier| Self::Unsubscribe { identifier }),
            Ok("history") => Ok(Self::History {
                identifier: identifier()?,
                history,
            }),
            Ok("message") => Ok(Self::Message {
                identifier: identifier()?,
                data: string(keys.data)?,
            }),
            _ => Ok(Self::Unknown),
        }
    }
}

impl ClientCommand {
    /// Bytes of the command's texts.
    pub(crate) fn text_bytes(&self) -> usize {
        let (identifier, more) = match self {
            Self::Message { identifier, data } => (identifier, data.len()),
            Self::Unsubscribe { identifier } => (identifier, 0),
            Self::Subscribe {
                identifier,
                history,
            }
            | Self::History {
                identifier,
                history,
            } => (identifier, history.as_ref().map_or(0, |it| it.len())),
            Self::Unknown => return 0,
        };
        identifier.len() + more
    }
}

fn string(value: Option<&RawValue>) -> Result<String, NotACommand> {
    let value = value.ok_or(NotACommand)?;
    serde_json::from_str(value.get()).map_err(|_| NotACommand)
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum CommandKey {
    Command,
    Identifier,
    Data,
    History,
    #[serde(other)]
    Other,
}

/// The values of a command as raw JSON. Each is decoded only when it is needed.
#[derive(Default)]
struct CommandKeys<'a> {
    command: Option<&'a RawValue>,
    identifier: Option<&'a RawValue>,
    data: Option<&'a RawValue>,
    history: Option<&'a RawValue>,
}

impl<'a> Deserialize<'a> for CommandKeys<'a> {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(CommandKeysVisitor)
    }
}

struct CommandKeysVisitor;

impl<'a> Visitor<'a> for CommandKeysVisitor {
    type Value = CommandKeys<'a>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<CommandKeys<'a>, A::Error> {
        let mut keys = CommandKeys::default();
        while let Some(key) = map.next_key()? {
            let value = Some(map.next_value()?);
            match key {
                CommandKey::Command => keys.command = value,
                CommandKey::Identifier => keys.identifier = value,
                CommandKey::Data => keys.data = value,
                CommandKey::History => keys.history = value,
                CommandKey::Other => {}
            }
        }
        Ok(keys)
    }
}

#[cfg(test)]
mod tests {
    use super::{ClientCommand, NotACommand};

    fn subscribe(identifier: &str) -> ClientCommand {
        ClientCommand::Subscribe {
            identifier: identifier.to_string(),
            history: None,
        }
    }

    #[test]
    fn each_command_has_what_it_needs() {
        let identifier = r#"{"channel":"Chat"}"#.to_string();
        let keys = r#""identifier":"{\"channel\":\"Chat\"}","data":"{\"action\":\"say\"}""#;
        let parse = |command| ClientCommand::parse(&format!(r#"{{"command":"{command}",{keys}}}"#));
        assert_eq!(parse("subscribe"), Ok(subscribe(&identifier)));
        let unsubscribe = ClientCommand::Unsubscribe {
            identifier: identifier.clone(),
        };
        assert_eq!(parse("unsubscribe"), Ok(unsubscribe));
        let data = r#"{"action":"say"}"#.to_string();
        let message = ClientCommand::Message { identifier, data };
        assert_eq!(parse("message"), Ok(message));
    }

    #[test]
    fn keys_in_any_order_count_and_others_do_not() {
        let text = r#" {"x": [{"command": "message"}], "identifier": "a", "other": {"id": 1},
            "command": "subscribe", "data": null} "#;
        assert_eq!(ClientCommand::parse(text), Ok(subscribe("a")));
    }

    #[test]
    fn what_was_missed_is_asked_for_with_a_subscription_or_later() {
        let parse = |command| {
            let history = r#""history": {"since": 1}"#;
            let text = format!(r#"{{"command":"{command}","identifier":"a",{history}}}"#);
            ClientCommand::parse(&text)
        };
        let (identifier, history) = ("a".to_string(), Some(r#"{"since": 1}"#.into()));
        let command = ClientCommand::Subscribe {
            identifier: identifier.clone(),
            history: history.clone(),
        };
        assert_eq!(parse("subscribe"), Ok(command));
        let command = ClientCommand::History {
            identifier,
            history,
        };
        assert_eq!(parse("history"), Ok(command));
    }

    #[test]
    fn the_last_of_equal_keys_counts_as_in_ruby() {
        let text =
            r#"{"identifier":[],"command":"message","identifier":"b","command":"subscribe"}"#;
        assert_eq!(ClientCommand::parse(text), Ok(subscribe("b")));
    }

    #[test]
    fn an_escaped_key_is_the_same_key() {
        let text = r#"{"c\u006fmmand":"sub\u0073cribe","identifier":"\ud83d\ude00\n"}"#;
        assert_eq!(ClientCommand::parse(text), Ok(subscribe("\u{1F600}\n")));
    }

    #[test]
    fn a_command_that_the_protocol_does_not_have_is_unknown() {
        for text in [
            "{}",
            r#"{"command":"dance","identifier":1}"#,
            r#"{"command":1}"#,
            r#"{"command":null,"identifier":"a"}"#,
            r#"{"command":"Subscribe","identifier":"a"}"#,
            r#"{"command":"pong"}"#,
            r#"{"command":"whisper","identifier":"a","data":1}"#,
        ] {
            let found = ClientCommand::parse(text);
            assert_eq!(found, Ok(ClientCommand::Unknown), "{text}");
        }
    }

    #[test]
    fn what_is_no_object_or_lacks_a_string_is_no_command() {
        for text in [
            "",
            "null",
            "[]",
            r#""command""#,
            r#"["subscribe","a"]"#,
            r#"{"command":"subscribe"}"#,
            r#"{"command":"subscribe","identifier":{"channel":"Chat"}}"#,
            r#"{"command":"unsubscribe","identifier":null}"#,
            r#"{"command":"history"}"#,
            r#"{"command":"message","identifier":"a"}"#,
            r#"{"command":"message","identifier":"a","data":{}}"#,
            r#"{"command":"subscribe","identifier":"\ud800"}"#,
            r#"{"command":"subscribe","identifier":"a"} {}"#,
            r#"{"command":"subscribe","identifier":"a",}"#,
            "{'command':'subscribe','identifier':'a'}",
        ] {
            assert_eq!(ClientCommand::parse(text), Err(NotACommand), "{text}");
        }
    }

    #[test]
    fn deep_json_takes_no_stack() {
        let deep = "[".repeat(1 << 20);
        for text in [
            &deep,
            &format!(r#"{{"x":{deep}"#),
            &format!(r#"{{"identifier":{deep}"#),
        ] {
            assert_eq!(ClientCommand::parse(text), Err(NotACommand));
        }
        let closed = "]".repeat(1 << 20);
        let text = format!(r#"{{"x":{deep}{closed},"command":{deep}{closed}}}"#);
        assert_eq!(ClientCommand::parse(&text), Ok(ClientCommand::Unknown));
    }
}
