use std::cell::OnceCell;
use std::rc::{Rc, Weak};

use super::transports::Transports;
use crate::supervise::Mailbox;
use carat_http::{Listeners, Server};

/// The rooms of the edge beside the core, for parts that need more than that.
#[cfg_attr(
    not(all(feature = "consoles", feature = "metrics", feature = "tls")),
    allow(dead_code, reason = "some parts are not built")
)]
pub(crate) struct Surroundings<'a> {
    /// The transports by which the server listens for clients.
    pub(crate) transports: &'a Transports,
    /// All listeners, and those of the edge before.
    pub(crate) inherited: &'a Rc<Listeners>,
    /// The way to the supervisor.
    pub(crate) mailbox: &'a Mailbox,
    /// The server, once its parts are made.
    pub(crate) server: ServerHandle,
}

/// The server, which is made after its parts, and lives as long as its tasks.
#[derive(Clone, Default)]
pub(crate) struct ServerHandle(Rc<OnceCell<Weak<Server>>>);

impl ServerHandle {
    /// The server is made. Called once.
    pub(crate) fn set(&self, server: &Rc<Server>) {
        self.0.get_or_init(|| Rc::downgrade(server));
    }

    #[cfg(feature = "metrics")]
    pub(super) fn get(&self) -> Option<Rc<Server>> {
        self.0.get()?.upgrade()
    }
}
