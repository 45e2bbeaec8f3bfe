use serde::{Deserialize, Serialize};

use super::ClientRecord;
use crate::ClientIdentity;
use crate::sockets::SessionRecord;

/// What two edges know of a client of the extended protocol that is away, and may come back.
#[derive(Debug, Serialize, Deserialize)]
pub struct AwayRecord {
    /// What the client says when it comes back.
    pub name: Box<str>,
    /// Who it is for the application.
    pub identity: ClientIdentity,
    /// Since when it is away, in Unix time.
    pub since: u64,
    /// What it has subscribed to.
    pub session: SessionRecord,
    /// Who it is for the log.
    pub client: ClientRecord,
}
