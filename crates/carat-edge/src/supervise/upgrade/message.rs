use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use carat_tls::TicketKeys;

/// What the old edge tells the new one. A message that the reader does not know is ignored: the versions may differ.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum OldEdgeMessage {
    /// The first message, with a descriptor for each address.
    Listeners(HandOver),
    /// Accept clients.
    Serve,
    /// What it still does.
    Load {
        connections: usize,
        bytes: u64,
        /// Whether it runs further processes of the application. Earlier versions have none.
        #[serde(default)]
        runs_apps: bool,
    },
}

/// What the old edge hands over, beside the descriptors of its listeners.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HandOver {
    /// The number of the upgrade.
    pub(crate) number: u32,
    pub(crate) pid: u32,
    pub(crate) pid_file: Option<PathBuf>,
    pub(crate) control_socket: Option<PathBuf>,
    /// For each descriptor, the value of the `bind` option.
    pub(crate) addresses: Vec<String>,
    /// Likewise, the keys of session tickets. Earlier versions hand none over.
    #[serde(default)]
    pub(crate) tickets: Vec<Option<TicketKeys>>,
}

/// What the new edge tells the old one. The command that starts it may say why it failed.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum NewEdgeMessage {
    /// Its workers are ready. It listens on these addresses, values of the `bind` option.
    Ready { addresses: Vec<String> },
    /// It accepts clients.
    Serving,
    /// It was told to stop: if it ends, nobody is to serve in its place.
    Stopping,
    /// It cannot take over.
    Failed(String),
}

/// A message as a line.
pub(super) fn line(message: &impl Serialize) -> Vec<u8> {
    let mut line = serde_json::to_vec(message).expect("only string keys");
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_one_line() {
        let failed = NewEdgeMessage::Failed("no\nconfig.ru".to_owned());
        let text = String::from_utf8(line(&failed)).expect("JSON");
        assert_eq!(text, "{\"failed\":\"no\\nconfig.ru\"}\n");
        assert_eq!(line(&OldEdgeMessage::Serve), b"\"serve\"\n");
    }
}
