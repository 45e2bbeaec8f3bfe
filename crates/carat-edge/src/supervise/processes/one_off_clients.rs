use std::collections::HashMap;

use carat_supervisor::{AppProcessId, ExitStatus};
use carat_wire::control::encode_one_off;

use crate::supervise::messages::{OneOffOrder, OneOffReport};
use crate::supervise::processes::channel::Channel;

/// The clients that wait for the end of their one-off processes. Their number is bounded where they are accepted.
#[derive(Default)]
pub(crate) struct OneOffClients(HashMap<AppProcessId, OneOffOrder>);

impl OneOffClients {
    /// Keeps the order that the process with this id is to run.
    pub(crate) fn keep(&mut self, id: AppProcessId, order: OneOffOrder) {
        self.0.insert(id, order);
    }

    /// Tells the process what to run. False if it is not a one-off process.
    pub(crate) fn begin(&mut self, id: AppProcessId, channel: &Channel) -> bool {
        let Some(order) = self.0.get_mut(&id) else {
            return false;
        };
        let descriptors = std::mem::take(&mut order.descriptors);
        let text = std::mem::take(&mut order.order);
        channel.send(descriptors, |out| encode_one_off(out, &text));
        // The client may be gone.
        let _ = order.reports.send(OneOffReport::Begun);
        true
    }

    /// Tells the client that its process has ended, or will never begin.
    pub(crate) fn ended(&mut self, id: AppProcessId, end: Result<ExitStatus, String>) {
        if let Some(order) = self.0.remove(&id) {
            // The client may be gone.
            let _ = order.reports.send(OneOffReport::Ended(end));
        }
    }
}
