use std::rc::Rc;

use super::transports::Transports;
use crate::supervise::Mailbox;
use carat_http::Listeners;

/// The surroundings of the core, for parts that need them.
#[cfg_attr(
    not(all(feature = "consoles", feature = "metrics", feature = "tls")),
    allow(dead_code, reason = "some parts are not built")
)]
pub(crate) struct Surroundings<'a> {
    /// The transports by which the server listens for clients.
    pub(crate) transports: &'a Transports,
    /// All listeners, and the sockets that the old edge of an upgrade has handed over.
    pub(crate) inherited: &'a Rc<Listeners>,
    /// The way to the supervisor.
    pub(crate) mailbox: &'a Mailbox,
}
