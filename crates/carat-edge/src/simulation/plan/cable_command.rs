use serde_json::{Value, json};

use crate::simulation::plan::cable_ledger::CableMessage;

/// A command of a client of the cable, which the application executes.
#[derive(Debug, Clone)]
pub(crate) enum CableCommand {
    Subscribe(String),
    /// A message to broadcast.
    Message(String),
    /// A timer is due.
    Timer,
    /// The client is gone.
    Close,
}

impl CableCommand {
    /// The command of a request.
    pub(crate) fn read(body: &[u8]) -> CableCommand {
        let body: Value = serde_json::from_slice(body).expect("what the edge writes");
        let text = |key: &str| body[key].as_str().expect("a text").to_owned();
        match &*text("command") {
            "subscribe" => CableCommand::Subscribe(text("identifier")),
            "message" => CableCommand::Message(text("data")),
            "timer" => CableCommand::Timer,
            _ => CableCommand::Close,
        }
    }

    /// The message that the command broadcasts.
    pub(crate) fn message(&self) -> Option<CableMessage> {
        match self {
            CableCommand::Message(data) => CableMessage::parse(data),
            CableCommand::Subscribe(_) | CableCommand::Timer | CableCommand::Close => None,
        }
    }

    /// The application's response to the command: all clients hear each other.
    pub(crate) fn result(&self) -> Vec<u8> {
        let result = match self {
            CableCommand::Subscribe(identifier) => {
                let confirmation =
                    json!({ "identifier": identifier, "type": "confirm_subscription" });
                let send = [confirmation.to_string()];
                json!({ "subscription": "confirmed", "start": ["room"], "timers": [300], "send": send })
            }
            CableCommand::Message(data) => {
                json!({ "broadcasts": [["room", Value::from(&**data).to_string()]] })
            }
            CableCommand::Timer | CableCommand::Close => json!({}),
        };
        result.to_string().into_bytes()
    }
}
