use serde::Serialize;

/// A command of a client, as the application gets it. `connection` and `state` are the records that
/// the application has made before.
///
/// ```
/// use carat_cable::CommandBody;
///
/// let body = CommandBody::Message {
///     connection: "c",
///     identifier: "{}",
///     data: "[1]",
///     state: None,
/// };
/// let json = r#"{"command":"message","connection":"c","identifier":"{}","data":"[1]","state":null}"#;
/// assert_eq!(body.to_json(), json);
/// ```
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(tag = "command", rename_all = "snake_case")]
#[expect(missing_docs, reason = "the fields are those of the JSON")]
pub enum CommandBody<'a> {
    /// A new subscription.
    Subscribe {
        connection: &'a str,
        identifier: &'a str,
        state: Option<&'a str>,
    },
    /// The end of a subscription.
    Unsubscribe {
        connection: &'a str,
        identifier: &'a str,
        state: Option<&'a str>,
    },
    /// An action of a channel.
    Message {
        connection: &'a str,
        identifier: &'a str,
        data: &'a str,
        state: Option<&'a str>,
    },
    /// A timer of a channel is due: the timer's number, and its interval in milliseconds.
    Timer {
        connection: &'a str,
        identifier: &'a str,
        timer: usize,
        every: u128,
        state: Option<&'a str>,
    },
    /// A broadcast that another program has asked for, and that the application passes to the
    /// broker.
    Broadcast { stream: &'a str, message: &'a str },
    /// The client is gone.
    Close {
        connection: &'a str,
        subscriptions: &'a [SubscriptionRecord<'a>],
    },
}

/// A subscription of a client that is gone.
///
/// ```
/// use carat_cable::{CommandBody, SubscriptionRecord};
///
/// let subscriptions = &[SubscriptionRecord { identifier: "{}", state: Some("s") }];
/// let body = CommandBody::Close { connection: "c", subscriptions };
/// let json = r#"{"command":"close","connection":"c","subscriptions":[{"identifier":"{}","state":"s"}]}"#;
/// assert_eq!(body.to_json(), json);
/// ```
#[derive(Clone, Copy, Debug, Serialize)]
pub struct SubscriptionRecord<'a> {
    /// The identifier as the client has sent it.
    pub identifier: &'a str,
    /// The state that the channel has left for its next command.
    pub state: Option<&'a str>,
}

impl CommandBody<'_> {
    /// The body of the request.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("a body has only string keys")
    }
}

#[cfg(test)]
mod tests {
    use super::CommandBody;

    #[test]
    fn each_command_has_the_keys_that_the_application_reads() {
        let (connection, identifier, state) = ("\"c\"", "i\n", Some("s"));
        let subscribe = CommandBody::Subscribe {
            connection,
            identifier,
            state: None,
        };
        let json =
            r#"{"command":"subscribe","connection":"\"c\"","identifier":"i\n","state":null}"#;
        assert_eq!(subscribe.to_json(), json);
        let unsubscribe = CommandBody::Unsubscribe {
            connection,
            identifier,
            state,
        };
        let json =
            r#"{"command":"unsubscribe","connection":"\"c\"","identifier":"i\n","state":"s"}"#;
        assert_eq!(unsubscribe.to_json(), json);
    }
}
