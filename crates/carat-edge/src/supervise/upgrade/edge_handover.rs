use std::io;
use std::rc::Rc;

use serde_json::json;
use tokio::sync::oneshot;

use super::Predecessor;
use crate::supervise::messages::{ControlReply, Mailbox};
use crate::supervise::signals_and_files::ServiceManager;
use carat_supervisor::UpgradeCommand;

/// The upgrade that this edge takes part in: the old edge, and who waits for the new one.
#[derive(Default)]
pub(in crate::supervise) struct EdgeHandover {
    /// The old edge, if this one takes over from one.
    predecessor: Option<Rc<Predecessor>>,
    /// The sender of the reply to the client of the control socket that waits for the end of the upgrade.
    asker: Option<oneshot::Sender<ControlReply>>,
}

impl EdgeHandover {
    /// Takes over from another edge, whose end the mailbox hears of.
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

    /// A client of the control socket waits for the end of the upgrade that is about to begin.
    pub(in crate::supervise) fn await_reply(&mut self, asker: oneshot::Sender<ControlReply>) {
        self.asker = Some(asker);
    }

    /// Whether a client of the control socket waits.
    pub(in crate::supervise) fn is_awaited(&self) -> bool {
        self.asker.is_some()
    }

    /// Tells the client and the service manager what is about to be carried out.
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
                // Only the main process may say that it is ready, and which one follows.
                service_manager.follow_restart(None);
                service_manager.main_process(*pid);
                service_manager.fall_silent();
            }
        }
    }

    /// The files of the server are those of the new edge with this process id.
    pub(in crate::supervise) fn settled(&mut self, pid: u32) {
        self.answer(Ok(json!({ "pid": pid })));
    }

    fn answer(&mut self, reply: ControlReply) {
        if let Some(asker) = self.asker.take() {
            // Whoever asked may be gone.
            let _ = asker.send(reply);
        }
    }
}
