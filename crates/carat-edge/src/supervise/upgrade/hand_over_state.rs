use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use crate::supervise::messages::{Mailbox, PredecessorMessage};
use crate::supervise::upgrade::predecessor::{Predecessor, PredecessorLink};
use crate::supervise::upgrade::successor::Successor;
use carat_exchange::clock;
use carat_http::Server;

/// How long the old edge waits for the command that asked for the upgrade, which asks again and again.
const ASKER_TIMEOUT: Duration = Duration::from_secs(10);

/// An upgrade as the two edges see it: the one before this one, and the one after.
#[derive(Default)]
pub(crate) struct HandOverState {
    /// The old edge, if this one takes over from one.
    predecessor: Option<PredecessorLink>,
    /// The clients, the memory, and whether further processes run, as the new edge knows it.
    reported_load: (usize, u64, bool),
    /// When the new edge began to accept clients.
    since: Option<Instant>,
    /// Whether somebody waits at the control socket for the end of the upgrade.
    is_asked_for: bool,
}

impl HandOverState {
    /// This edge takes over.
    pub(crate) fn follow(&mut self, predecessor: Predecessor, mailbox: Mailbox) -> io::Result<()> {
        self.predecessor = Some(PredecessorLink::open(predecessor, mailbox)?);
        Ok(())
    }

    /// The workers are ready. False if this edge has to wait until the old one lets it serve.
    pub(crate) fn may_serve(&mut self, addresses: &[String]) -> bool {
        let predecessor = self.predecessor.as_mut();
        predecessor.is_none_or(|it| it.ready(addresses, clock::now()))
    }

    /// The old edge said something. Whether this one begins to serve.
    pub(crate) fn receive(&mut self, message: &PredecessorMessage) -> bool {
        let predecessor = self.predecessor.as_mut();
        predecessor.is_some_and(|it| it.receive(message))
    }

    /// This edge serves.
    pub(crate) fn say_serving(&self, server: &Rc<Server>) {
        if let Some(predecessor) = &self.predecessor {
            predecessor.say_serving(server);
        }
    }

    /// The old edge need not serve in place of this one when it ends.
    pub(crate) fn say_stopping(&self) {
        if let Some(predecessor) = &self.predecessor {
            predecessor.say_stopping();
        }
    }

    /// The process id of the old edge, and how many clients it has left.
    pub(crate) fn remainder(&self) -> Option<(u32, usize)> {
        self.predecessor.as_ref()?.remainder()
    }

    /// Whether the old edge does not reply.
    pub(crate) fn is_late(&self) -> bool {
        let predecessor = self.predecessor.as_ref();
        predecessor.is_some_and(|it| it.is_late(clock::now()))
    }

    /// An upgrade was asked for, at the control socket or by a signal.
    pub(crate) fn ask(&mut self, by_command: bool) {
        self.is_asked_for = by_command;
    }

    /// Tells the new edge how many clients and bytes this one has, and whether it runs further processes of the
    /// application, when that changes.
    pub(crate) fn report(&mut self, successor: &Successor, load: (usize, u64, bool)) {
        if load != self.reported_load {
            successor.report(load);
            self.reported_load = load;
        }
    }

    /// The new edge accepts clients.
    pub(crate) fn begin(&mut self, server: &Server) {
        self.since = Some(clock::now());
        if !self.is_asked_for {
            server.leave();
        }
    }

    /// The new edge has died: this one is the server again.
    pub(crate) fn take_back(&mut self) {
        self.since = None;
        self.is_asked_for = false;
    }

    /// Whether the command that asked for the upgrade does not know yet how it ended. If the options name a control
    /// socket, the new edge answers there.
    pub(crate) fn is_asker_waiting(&self, server: &Server) -> bool {
        let is_recent = |at| clock::now().saturating_duration_since(at) < ASKER_TIMEOUT;
        self.since.is_some_and(is_recent)
            && server.settings.control_socket.is_none()
            && !server.has_left()
    }
}
