//! Clients of the control socket that want a process of their own, forked from the mold: `carat console`, `carat run`.

mod attendance;
mod console_socket;

use std::sync::Arc;

use hyper::Request;
use hyper::body::Incoming;
use tokio::sync::Semaphore;
use tokio::task::spawn_local;

use self::attendance::attend;
use crate::supervise::Mailbox;

/// Consoles that are open, or about to be, at once.
const CONSOLES_LIMIT: usize = 8;

/// Opens consoles while there may be more.
pub(super) struct Consoles {
    is_allowed: bool,
    permits: Arc<Semaphore>,
    mailbox: Mailbox,
}

impl Consoles {
    pub(super) fn new(is_allowed: bool, mailbox: Mailbox) -> Consoles {
        Consoles {
            is_allowed,
            permits: Arc::new(Semaphore::new(CONSOLES_LIMIT)),
            mailbox,
        }
    }

    /// Takes over the connection of a request once its response has been sent, or says why not.
    pub(super) fn open(&self, request: &mut Request<Incoming>) -> Result<(), String> {
        if !self.is_allowed {
            return Err("the server allows no consoles (option `console`)".to_owned());
        }
        let permit = Arc::clone(&self.permits).try_acquire_owned();
        let permit =
            permit.map_err(|_| format!("{CONSOLES_LIMIT} consoles are open, the limit"))?;
        let upgrade = hyper::upgrade::on(request);
        let mailbox = self.mailbox.clone();
        spawn_local(async move {
            attend(upgrade, mailbox).await;
            drop(permit);
        });
        Ok(())
    }
}
