use serde::Deserialize;

use carat_log::Log;

/// What the client of the authority says, one object a line.
#[derive(PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case", tag = "event")]
pub(crate) enum ClientMessage {
    /// It has written what answers the authority, and waits until the server has read it.
    Look,
    /// It has a certificate.
    Issued {
        name: String,
        expires: String,
        renewal: String,
    },
    /// It has none, and why.
    Failed {
        name: String,
        reason: String,
        next: String,
    },
    /// It cannot do anything.
    Unable { reason: String },
    /// It has tried all that was due.
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
