use std::time::Instant;

use carat_exchange::clock;
use tokio::sync::watch;

/// The state of a server: when it started, whether it accepts clients yet, and whether another server has taken its
/// place.
pub struct ServerLife {
    /// When the server started.
    pub started: Instant,
    opened: Flag,
    left: Flag,
}

impl ServerLife {
    pub(super) fn begin() -> ServerLife {
        ServerLife {
            started: clock::now(),
            opened: Flag::default(),
            left: Flag::default(),
        }
    }

    /// Notes that clients are accepted from now on.
    pub fn open(&self) {
        self.opened.set();
    }

    /// Waits until clients are accepted.
    pub async fn until_open(&self) {
        self.opened.wait().await;
    }

    /// Notes that another server answers on the control socket from now on.
    pub(crate) fn leave(&self) {
        self.left.set();
    }

    pub(crate) fn has_left(&self) -> bool {
        self.left.is_set()
    }

    /// Waits until another server answers on the control socket.
    pub async fn until_left(&self) {
        self.left.wait().await;
    }
}

/// An event that happens once, and that many tasks wait for.
pub(crate) struct Flag(watch::Sender<bool>);

impl Default for Flag {
    fn default() -> Self {
        Flag(watch::Sender::new(false))
    }
}

impl Flag {
    pub(crate) fn set(&self) {
        self.0.send_replace(true);
    }

    pub(crate) fn is_set(&self) -> bool {
        *self.0.borrow()
    }

    pub(crate) async fn wait(&self) {
        // The sender lives as long as the flag, so this ends only when the flag is set.
        let _ = self.0.subscribe().wait_for(|set| *set).await;
    }
}
