use crate::supervise::messages::{ConsoleMessage, ConsoleOrder};
use crate::supervise::processes::Host;
use crate::supervise::supervisor::Supervisor;
use carat_supervisor::{AppEvent, AppProcessId, Event, Outcome};

impl<H: Host> Supervisor<H> {
    /// Does what a client with a console wants, or a client that wants one.
    pub(crate) fn console(&mut self, message: ConsoleMessage) -> Option<Outcome> {
        match message {
            ConsoleMessage::Open(order, asker) => {
                let (reply, outcome) = self.open_console(order);
                // Whoever asked may be gone: the attendant sees that.
                let _ = asker.send(reply);
                outcome
            }
            ConsoleMessage::Signal(id, signal, done) => {
                let outcome = self.handle([Event::App(AppEvent::ConsoleSignaled { id, signal })]);
                // The same.
                let _ = done.send(());
                outcome
            }
        }
    }

    fn open_console(
        &mut self,
        order: ConsoleOrder,
    ) -> (Result<AppProcessId, String>, Option<Outcome>) {
        if let Some(obstacle) = self.state.console_obstacle() {
            return (Err(obstacle.to_owned()), None);
        }
        let id = self.state.apps().next_id();
        self.executor.consoles.keep(id, order);
        (
            Ok(id),
            self.handle([Event::App(AppEvent::ConsoleRequested(id))]),
        )
    }
}
