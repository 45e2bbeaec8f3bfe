use std::collections::HashMap;

use carat_supervisor::{AppProcessId, ExitStatus};
use carat_wire::control::encode_console;

use crate::supervise::messages::{ConsoleOrder, ConsoleReport};
use crate::supervise::processes::channel::Channel;

/// The clients that wait for the end of their consoles. Their number is bounded where they are accepted.
#[derive(Default)]
pub(crate) struct ConsoleClients(HashMap<AppProcessId, ConsoleOrder>);

impl ConsoleClients {
    /// The process with this id is to run that.
    pub(crate) fn keep(&mut self, id: AppProcessId, order: ConsoleOrder) {
        self.0.insert(id, order);
    }

    /// Tells the process at the other end what to run. False if it is not a console.
    pub(crate) fn begin(&mut self, id: AppProcessId, channel: &Channel) -> bool {
        let Some(console) = self.0.get_mut(&id) else {
            return false;
        };
        let descriptors = std::mem::take(&mut console.descriptors);
        let order = std::mem::take(&mut console.order);
        channel.send(descriptors, |out| encode_console(out, &order));
        // Whoever asked may be gone.
        let _ = console.reports.send(ConsoleReport::Begun);
        true
    }

    /// The process has ended, or never will begin.
    pub(crate) fn ended(&mut self, id: AppProcessId, end: Result<ExitStatus, String>) {
        if let Some(console) = self.0.remove(&id) {
            // Whoever asked may be gone.
            let _ = console.reports.send(ConsoleReport::Ended(end));
        }
    }
}
