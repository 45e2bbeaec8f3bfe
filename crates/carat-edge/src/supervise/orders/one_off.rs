use crate::supervise::messages::{OneOffMessage, OneOffOrder};
use crate::supervise::processes::Host;
use crate::supervise::supervisor::Supervisor;
use carat_supervisor::{AppEvent, AppProcessId, Event, Outcome};

impl<H: Host> Supervisor<H> {
    /// Handles a message of a client that has a one-off process, or wants one.
    pub(crate) fn one_off(&mut self, message: OneOffMessage) -> Option<Outcome> {
        match message {
            OneOffMessage::Open(order, asker) => {
                let (reply, outcome) = self.open_one_off(order);
                // The client may be gone, which its attendant notices.
                let _ = asker.send(reply);
                outcome
            }
            OneOffMessage::Signal(id, signal, done) => {
                let outcome = self.handle([Event::App(AppEvent::OneOffSignaled { id, signal })]);
                // The client may be gone.
                let _ = done.send(());
                outcome
            }
        }
    }

    fn open_one_off(
        &mut self,
        order: OneOffOrder,
    ) -> (Result<AppProcessId, String>, Option<Outcome>) {
        if let Some(obstacle) = self.state.one_off_obstacle() {
            return (Err(obstacle.to_owned()), None);
        }
        let (id, name) = (self.state.apps().next_id(), order.name);
        self.executor.one_offs.keep(id, order);
        (
            Ok(id),
            self.handle([Event::App(AppEvent::OneOffRequested { id, name })]),
        )
    }
}
