use std::rc::Rc;

use super::super::server::Server;
use super::unsent_bytes::UnsentBytes;
use crate::exchange::{ConnectionState, Peer};

/// What the streams of one connection share.
pub(super) struct Http2Client {
    pub(super) server: Rc<Server>,
    pub(super) peer: Rc<Peer>,
    pub(super) state: Rc<ConnectionState>,
    pub(super) unsent: Rc<UnsentBytes>,
}
