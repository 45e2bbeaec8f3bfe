//! What the supervisor does on both sides of an upgrade.

use std::time::Duration;

use crate::supervise::messages::PredecessorMessage;
use crate::supervise::processes::Host;
use crate::supervise::supervisor::Supervisor;
use crate::supervise::upgrade::PredecessorLink;
use carat_exchange::clock;
use carat_supervisor::{Event, Outcome};

/// How long the old edge waits for the command that asked for the upgrade, which asks again and again.
const ASKER_TIMEOUT: Duration = Duration::from_secs(10);

impl<H: Host> Supervisor<H> {
    /// The workers are ready. A server that takes over from another one waits until that one lets it.
    pub(crate) fn announce(&mut self) {
        let addresses = &self.server.settings.bind;
        match &mut self.predecessor {
            Some(predecessor) => {
                if predecessor.ready(addresses, clock::now()) {
                    self.begin_to_serve();
                }
            }
            None => self.begin_to_serve(),
        }
    }

    fn begin_to_serve(&mut self) {
        self.server.open();
        if let Some(predecessor) = &self.predecessor {
            predecessor.say_serving(&self.server);
        }
        self.service_manager.speak();
        self.service_manager.ready();
        self.executor.announce();
    }

    /// SIGUSR2.
    pub(crate) fn upgrade_by_signal(&mut self) -> Option<Outcome> {
        if self.state.upgrade_obstacle().is_none() {
            self.is_upgrade_asked_for = false;
        }
        self.handle([Event::UpgradeRequested])
    }

    /// What the old edge said.
    pub(crate) fn predecessor_says(&mut self, message: &PredecessorMessage) -> Option<Outcome> {
        let begins = self
            .predecessor
            .as_mut()
            .is_some_and(|it| it.receive(message));
        if begins {
            self.begin_to_serve();
        }
        match message {
            PredecessorMessage::Serve => None,
            PredecessorMessage::Load { bytes, .. } => {
                self.handle([Event::PredecessorUses { bytes: *bytes }])
            }
            PredecessorMessage::Ended => self.handle([Event::PredecessorUses { bytes: 0 }]),
        }
    }

    /// The service manager is to take the new edge for the server before that one says that it serves.
    pub(crate) fn name_main_process(&self) {
        if let Some(successor) = self.executor.successor() {
            self.service_manager.main_process(successor.pid());
        }
    }

    /// The old edge need not serve in place of this one when it ends.
    pub(crate) fn tell_stop(&self) {
        self.predecessor
            .iter()
            .for_each(PredecessorLink::say_stopping);
    }

    /// The new edge has died: this one is the server again.
    pub(crate) fn note_return(&mut self) {
        self.handed_over = None;
        self.is_upgrade_asked_for = false;
        self.service_manager.speak();
        self.stay_main_process();
    }

    /// The new edge does not take over.
    pub(crate) fn stay_main_process(&self) {
        self.service_manager.main_process(std::process::id());
    }

    /// Tells the other edge what this one does, and notices one that does not reply. Called once a tick.
    pub(crate) fn follow_hand_over(&mut self) -> Option<Outcome> {
        let now = clock::now();
        if self.predecessor.as_ref().is_some_and(|it| it.is_late(now)) {
            let cause = "the old edge does not reply, so this one does not take over";
            return Some(Outcome::Failed(cause.to_owned()));
        }
        let successor = self.executor.successor()?;
        let totals = self.state.processes().memory.totals;
        let bytes = totals.map_or(0, |totals| totals.used.bytes);
        let load = (self.server.connections(), bytes.max(1));
        if load != self.reported_load {
            successor.report(load.0, load.1);
            self.reported_load = load;
        }
        None
    }

    /// The new edge accepts clients: the service manager and the control socket are its own.
    pub(crate) fn note_hand_over(&mut self) {
        self.service_manager.fall_silent();
        self.handed_over = Some(clock::now());
        if !self.is_upgrade_asked_for {
            self.server.leave();
        }
    }

    /// Whether the command that asked for the upgrade does not know yet how it ended. If the options name a control
    /// socket, the new edge answers there.
    pub(crate) fn is_asker_waiting(&self) -> bool {
        let is_recent = |at| clock::now().saturating_duration_since(at) < ASKER_TIMEOUT;
        self.handed_over.is_some_and(is_recent)
            && self.server.settings.control_socket.is_none()
            && !self.server.has_left()
    }
}
