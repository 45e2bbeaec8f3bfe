use std::io;
use std::rc::Rc;

use serde_json::json;
use tokio::sync::oneshot;

use super::Predecessor;
use crate::supervise::messages::{ControlReply, Mailbox};
use crate::supervise::signals_and_files::ServiceManager;
use carat_supervisor::UpgradeCommand;

/// The upgrade that this edge takes part in: the old edge, and the client that waits for the new one.
#[derive(Default)]
pub(in crate::supervise) struct EdgeHandover {
    /// The old edge, if this one takes over from one.
    predecessor: Option<Rc<Predecessor>>,
    /// The sender of the reply to the client of the control socket that waits for the end of the upgrade.
    asker: Option<oneshot::Sender<ControlReply>>,
}

impl EdgeHandover {
    /// Takes over from an old edge. Its end is reported to the mailbox.
    pub(in crate::supervise) fn follow(
        &mut self,
        predecessor: Rc<Predecessor>,
        mailbox: Mailbox,
    ) -> io::Result<()> {
        predecessor.watch(mailbox)?;
        self.predecessor = Some(predecessor);
        Ok(())
    }

    /// Tells the old edge, or the service manager without one, that the workers are ready. The error says why this edge
    /// cannot follow the old one.
    pub(in crate::supervise) fn say_ready(
        &self,
        service_manager: &mut ServiceManager,
    ) -> Result<(), String> {
        let Some(predecessor) = &self.predecessor else {
            service_manager.ready();
            return Ok(());
        };
        predecessor.say_ready().map_err(|error| {
            format!("the old edge does not hear that this one is ready: {error}")
        })?;
        service_manager.speak();
        Ok(())
    }

    /// Keeps the client of the control socket that waits for the end of the upgrade.
    pub(in crate::supervise) fn await_reply(&mut self, asker: oneshot::Sender<ControlReply>) {
        self.asker = Some(asker);
    }

    /// Whether a client of the control socket waits for the end of the upgrade.
    pub(in crate::supervise) fn is_awaited(&self) -> bool {
        self.asker.is_some()
    }

    /// Reports a command to the client and the service manager before it is carried out.
    pub(in crate::supervise) fn note(
        &mut self,
        command: &UpgradeCommand,
        service_manager: &mut ServiceManager,
    ) {
        match command {
            UpgradeCommand::StartSuccessor => {}
            UpgradeCommand::KeepServing { cause } => {
                self.answer(Err(format!("not upgraded: {cause}")));
            }
            UpgradeCommand::HandOver { pid } => {
                // Only the main process may notify that it is ready, and which process follows.
                service_manager.follow_restart(None);
                service_manager.main_process(*pid);
                service_manager.fall_silent();
            }
        }
    }

    /// Replies to the client: the new edge with this process id has taken over the files of the server.
    pub(in crate::supervise) fn settled(&mut self, pid: u32) {
        self.answer(Ok(json!({ "pid": pid })));
    }

    fn answer(&mut self, reply: ControlReply) {
        if let Some(asker) = self.asker.take() {
            // The client may be gone.
            let _ = asker.send(reply);
        }
    }
}
