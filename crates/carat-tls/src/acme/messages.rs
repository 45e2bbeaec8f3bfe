use serde::Deserialize;

use carat_log::Log;

/// A message of the authority's client: a JSON object on a line.
#[derive(PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub(crate) enum ClientMessage {
    /// The client has written the answer for the authority, and waits until the server has read it.
    Look,
    /// The client has a certificate.
    Issued {
        name: String,
        expires: String,
        renewal: String,
    },
    /// The client has no certificate, for a reason.
    Failed {
        name: String,
        reason: String,
        next: String,
    },
    /// The client cannot try anything.
    Unable { reason: String },
    /// The client has tried all that was due.
    Done,
}

impl ClientMessage {
    /// Logs what an operator should know.
    pub(crate) fn log(&self, log: &Log) {
        match self {
            ClientMessage::Issued {
                name,
                expires,
                renewal,
            } => log.info(
                "certificate issued",
                &[("name", name), ("expires", expires), ("renewal", renewal)],
            ),
            ClientMessage::Failed { name, reason, next } => log.error(
                "certificate not issued",
                &[("name", name), ("reason", reason), ("next", next)],
            ),
            ClientMessage::Unable { reason } => {
                log.error("certificates not issued", &[("reason", reason)]);
            }
            ClientMessage::Look | ClientMessage::Done => {}
        }
    }
}
