use std::collections::HashMap;

use carat_supervisor::{AppProcessId, ExitStatus};
use carat_wire::control::encode_one_off;

use crate::supervise::messages::{OneOffOrder, OneOffReport};
use crate::supervise::processes::channel::Channel;

/// The clients that wait for the end of their one-off processes. Their number is bounded where they are accepted.
#[derive(Default)]
pub(crate) struct OneOffClients(HashMap<AppProcessId, OneOffOrder>);

impl OneOffClients {
    /// The process with this id is to run that.
    pub(crate) fn keep(&mut self, id: AppProcessId, order: OneOffOrder) {
        self.0.insert(id, order);
    }

    /// Tells the process at the other end what to run. False if it is not a one-off process.
    pub(crate) fn begin(&mut self, id: AppProcessId, channel: &Channel) -> bool {
        let Some(order) = self.0.get_mut(&id) else {
            return false;
        };
        let descriptors = std::mem::take(&mut order.descriptors);
        let text = std::mem::take(&mut order.order);
        channel.send(descriptors, |out| encode_one_off(out, &text));
        // Whoever asked may be gone.
        let _ = order.reports.send(OneOffReport::Begun);
        true
    }

    /// The process has ended, or never will begin.
    pub(crate) fn ended(&mut self, id: AppProcessId, end: Result<ExitStatus, String>) {
        if let Some(order) = self.0.remove(&id) {
            // Whoever asked may be gone.
            let _ = order.reports.send(OneOffReport::Ended(end));
        }
    }
}
