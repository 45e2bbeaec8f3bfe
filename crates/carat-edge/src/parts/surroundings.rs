use std::cell::OnceCell;
use std::rc::{Rc, Weak};

use crate::supervise::Mailbox;
use carat_http::{Listener, Listeners, Server};

/// The rooms of the edge beside the core, for parts that need more than that.
#[cfg_attr(
    not(all(feature = "certificates", feature = "consoles", feature = "metrics")),
    allow(dead_code, reason = "some parts are not built")
)]
pub(crate) struct Surroundings<'a> {
    /// The listeners for clients.
    pub(crate) listeners: &'a [Rc<Listener>],
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
