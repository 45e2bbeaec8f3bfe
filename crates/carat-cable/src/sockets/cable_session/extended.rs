use std::mem::take;
use std::rc::Rc;

use super::CableSession;
use super::extended_session::{ExtendedSession, HeldSubscription};
use super::kept_session::KeptSession;
use super::subscription::Subscription;
use crate::{
    ClientCommand, ClientOutbox, CommandResult, HistoryPosition, HistoryRequest, Hub, Reached,
    SocketEnd, SocketNumber, confirm_history, confirm_subscription, reject_history, welcome,
    welcome_session,
};

/// The extended protocol: a client that was away continues its subscriptions, and gets the messages that it has missed.
impl CableSession {
    /// Begins the session of a client of the extended protocol that the application has let in,
    /// with what was `kept` of its last session. The client sends `name` when it comes back.
    pub fn open_named(
        hub: &Rc<Hub>,
        number: SocketNumber,
        outbox: &Rc<ClientOutbox>,
        mut result: CommandResult,
        name: &Rc<str>,
        kept: Option<KeptSession>,
    ) -> (CableSession, Reached) {
        let restored = kept.as_ref().map(KeptSession::identifiers);
        let text = welcome_session(name, restored.as_deref());
        if let Some(plain) = result.send.iter_mut().find(|text| **text == welcome()) {
            *plain = text;
        }
        let (mut session, reached) = CableSession::open(hub, number, outbox, result);
        session.extended = Some(Box::new(ExtendedSession {
            name: Rc::clone(name),
            leaves: false,
            held: Vec::new(),
            restored: hub.history().map(|history| history.position()),
        }));
        if let Some(kept) = kept {
            session.restore(kept);
        }
        (session, reached)
    }

    /// The name of the session, which the client sends when it comes back. `None` in the other
    /// protocol.
    pub fn name(&self) -> Option<&Rc<str>> {
        self.extended.as_ref().map(|extended| &extended.name)
    }

    /// Notes that the client does not come back.
    pub fn leave(&mut self) {
        if let Some(extended) = &mut self.extended {
            extended.leaves = true;
        }
    }

    /// Takes the subscriptions out of the session of a client that may come back. They receive
    /// nothing while it is away.
    pub fn keep(&mut self) -> KeptSession {
        let bytes = self.kept;
        let subscriptions = take(&mut self.subscriptions);
        let kept = subscriptions.into_iter().map(|it| {
            for stream in &it.streams {
                self.hub.stop(stream, &it.identifier, self.number);
            }
            self.hub.release(&it.identifier);
            // A copy of the text: each reference to the shared one counts as a subscription.
            let identifier = (&*it.identifier).into();
            Subscription { identifier, ..it }
        });
        KeptSession {
            subscriptions: kept.collect(),
            connection: self.connection.clone(),
            bytes,
        }
    }

    /// Restores the subscriptions of a client that has come back. They receive nothing until the client has asked for
    /// the messages that it has missed, or until [`CableSession::release_held`].
    fn restore(&mut self, kept: KeptSession) {
        for mut subscription in kept.subscriptions {
            let identifier = (&*subscription.identifier).into();
            subscription.identifier = self.hub.identifier(&subscription.identifier);
            self.kept += subscription.cost();
            self.subscriptions.push(subscription);
            if let Some(extended) = &mut self.extended {
                let is_released = false;
                extended.held.push(HeldSubscription {
                    identifier,
                    is_released,
                });
            }
        }
    }

    /// Whether the client may come back: it was cut off, or asked to connect again, has not said
    /// that it leaves, and has subscriptions.
    pub fn may_return(&self) -> bool {
        let end = self.outbox.socket_end();
        let is_cut_off = matches!(
            end,
            None | Some(SocketEnd::Client | SocketEnd::Returned | SocketEnd::ServerRestart)
        );
        let leaves = self.extended.as_ref().is_none_or(|it| it.leaves);
        is_cut_off && !leaves && !self.subscriptions.is_empty()
    }

    /// Whether subscriptions wait until the client asks for what it has missed.
    pub fn is_held(&self) -> bool {
        let extended = self.extended.as_ref();
        extended.is_some_and(|it| it.held.iter().any(|held| !held.is_released))
    }

    /// Ends the wait of all held subscriptions. They receive what was broadcast since the client
    /// came back.
    pub fn release_held(&mut self) {
        let Some(extended) = &mut self.extended else {
            return;
        };
        let restored = extended.restored.clone();
        let mut held = take(&mut extended.held);
        for subscription in held.iter_mut().filter(|it| !it.is_released) {
            subscription.is_released = true;
            if let Some(at) = self.start_again(&subscription.identifier) {
                self.catch_up(at, restored.as_ref());
            }
        }
        if let Some(extended) = &mut self.extended {
            extended.held = held;
        }
    }

    fn catch_up(&self, at: usize, restored: Option<&HistoryPosition>) {
        let subscription = &self.subscriptions[at];
        let streams = subscription.streams.iter();
        let positions = streams.filter_map(|stream| Some((stream.to_string(), restored?.clone())));
        let request = HistoryRequest {
            since: None,
            streams: positions.collect(),
        };
        let (identifier, streams) = (&subscription.identifier, &subscription.streams);
        let frames = self.hub.replay(identifier, streams, &request, u64::MAX);
        for frame in frames.iter().flatten() {
            self.outbox.push(frame);
        }
    }

    /// Ends the wait of all held subscriptions unless this command asks for missed messages: a client that wants them
    /// asks before it sends any other command.
    pub(super) fn resume_for(&mut self, command: &ClientCommand) {
        let asks = matches!(command, ClientCommand::History { .. })
            || matches!(command, ClientCommand::Subscribe { history, .. } if history.is_some());
        if !asks && self.is_held() {
            self.release_held();
        }
    }

    fn start_again(&mut self, identifier: &str) -> Option<usize> {
        let at = self.position(identifier)?;
        let subscription = &mut self.subscriptions[at];
        for stream in &mut subscription.streams {
            let identifier = &subscription.identifier;
            *stream = (self.hub).start(stream, identifier, self.number, &self.outbox);
        }
        Some(at)
    }

    /// Confirms a subscription that exists, for a client that has come back and may not know of it. Clients of the
    /// other protocol get no answer, as in Rails.
    pub(super) fn confirm_again(
        &mut self,
        identifier: &str,
        history: Option<&str>,
    ) -> Option<String> {
        if self.outbox.is_extended() {
            self.outbox.send(&confirm_subscription(identifier));
            self.send_again(identifier, history.unwrap_or("{}"));
        }
        None
    }

    /// Whether the next command has to wait until the client has read what it was sent. A client that asks for old
    /// messages again and again therefore gets them only as fast as it reads.
    pub(super) fn awaits_client(&self) -> bool {
        let asks = |command: &ClientCommand| match command {
            ClientCommand::History { .. } => true,
            ClientCommand::Subscribe { history, .. } => history.is_some(),
            _ => false,
        };
        self.outbox.is_extended()
            && !self.outbox.is_empty()
            && self.waiting.front().is_some_and(asks)
    }

    /// Sends the client what a subscription has missed, without a command for the application. A held subscription
    /// continues in the same moment, so that the client misses no message and gets none twice.
    pub(super) fn send_again(&mut self, identifier: &str, history: &str) -> Option<String> {
        let until = self.release(identifier);
        self.replay(identifier, history, until);
        None
    }

    /// Ends the wait of a subscription, if it is held. Returns the offset up to which the client
    /// may have missed messages. If `release_held` has ended the wait, the subscription has got all
    /// messages since the client came back.
    fn release(&mut self, identifier: &str) -> u64 {
        let Some(extended) = &mut self.extended else {
            return u64::MAX;
        };
        let mut held = extended.held.iter();
        let Some(at) = held.position(|it| *it.identifier == *identifier) else {
            return u64::MAX;
        };
        if extended.held.swap_remove(at).is_released {
            return extended.restored.as_ref().map_or(u64::MAX, |it| it.offset);
        }
        self.start_again(identifier);
        u64::MAX
    }

    /// Sends the client the messages of the history that it asks for, before anything that is
    /// broadcast from now on.
    pub(super) fn replay(&self, identifier: &str, history: &str, until: u64) {
        let Some(at) = self.position(identifier) else {
            return;
        };
        let request = HistoryRequest::parse(history);
        if request.as_ref().is_some_and(HistoryRequest::is_empty) {
            return;
        }
        let streams = &self.subscriptions[at].streams;
        let frames = request.and_then(|request| {
            let frames = self.hub.replay(identifier, streams, &request, until)?;
            let bytes = frames.iter().map(|frame| frame.len()).sum();
            self.outbox.has_room(frames.len(), bytes).then_some(frames)
        });
        match frames {
            Some(frames) => {
                for frame in &frames {
                    self.outbox.push(frame);
                }
                self.outbox.send(&confirm_history(identifier));
            }
            None => {
                self.outbox.send(&reject_history(identifier));
            }
        }
    }
}
