use std::collections::VecDeque;
use std::mem::take;
use std::rc::Rc;

use self::extended_session::ExtendedSession;
use super::{ClientOutbox, Hub, Reached, SocketNumber};
use crate::{
    ClientCommand, CommandBody, CommandResult, DEFLATE_LIMIT, StateChange, SubscriptionAnswer,
    confirm_subscription, reject_subscription, text_frame,
};

mod channel_timer;
mod extended;
mod extended_session;
mod kept_session;
mod subscription;
mod timers;

use channel_timer::ChannelTimer;
pub use kept_session::KeptSession;
use subscription::{ENTRY_COST, Subscription};

/// Commands of a client that may wait for the application before the server stops reading its
/// messages. Their bytes have a limit, too: that of one message.
const WAITING_COMMANDS: usize = 32;

/// A client's session: its subscriptions, and its commands, which the application gets one after the other.
///
/// ```
/// use std::rc::Rc;
/// use carat_cable::{CommandResult, Hub, ClientOutbox, CableSession};
///
/// let (hub, outbox) = (Rc::<Hub>::default(), Rc::<ClientOutbox>::default());
/// let opened = CommandResult { connection: Some("c".into()), ..CommandResult::default() };
/// let (mut session, _) = CableSession::open(&hub, 1, &outbox, opened);
/// session.receive(r#"{"command":"subscribe","identifier":"chat"}"#);
/// let body = session.next_command().expect("a command");
/// assert!(body.starts_with(r#"{"command":"subscribe","connection":"c","identifier":"chat""#));
/// let result = br#"{"subscription":"confirmed","start":["room"]}"#;
/// session.finish(Some(CommandResult::parse(result).expect("a result")));
/// assert_eq!(hub.broadcast("room", b"1").map(|reached| reached.clients), Some(1));
/// ```
#[derive(Debug)]
pub struct CableSession {
    hub: Rc<Hub>,
    number: SocketNumber,
    outbox: Rc<ClientOutbox>,
    /// The record of the connection, which the application gets with each command.
    connection: Box<str>,
    internal: Option<Rc<str>>,
    /// A list, which takes the least memory: most clients have few.
    subscriptions: Vec<Subscription>,
    waiting: VecDeque<ClientCommand>,
    waiting_bytes: usize,
    /// The command that the application carries out now.
    running: Option<RunningCommand>,
    /// Bytes that the client's data takes between two commands.
    kept: usize,
    /// The state that only a client of the extended protocol has.
    extended: Option<Box<ExtendedSession>>,
}

#[derive(Debug)]
enum RunningCommand {
    /// The identifier, and perhaps the JSON of a `HistoryRequest`.
    Subscribe(Rc<str>, Option<Box<str>>),
    Message(Rc<str>),
    Unsubscribe,
}

impl CableSession {
    /// Begins the session of a client that the application has let in. Also returns the clients
    /// that the broadcasts of the result have reached.
    pub fn open(
        hub: &Rc<Hub>,
        number: SocketNumber,
        outbox: &Rc<ClientOutbox>,
        mut result: CommandResult,
    ) -> (CableSession, Reached) {
        let connection = result.connection.take().unwrap_or_default();
        if let Some(key) = result.turbo.take() {
            hub.verify_with(key);
        }
        let internal = result.internal.take();
        let internal = internal.map(|internal| hub.listen(&internal, number, outbox));
        let kept = connection.len() + internal.as_ref().map_or(0, |name| name.len() + ENTRY_COST);
        let session = CableSession {
            hub: Rc::clone(hub),
            number,
            outbox: Rc::clone(outbox),
            connection,
            internal,
            subscriptions: Vec::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            running: None,
            kept,
            extended: None,
        };
        session.send(&result);
        let reached = session.broadcast(&result);
        (session, reached)
    }

    /// Queues the command in a text of the client. A text that is no command is ignored.
    pub fn receive(&mut self, text: &str) {
        match ClientCommand::parse(text) {
            Ok(ClientCommand::Unknown) | Err(_) => {}
            Ok(ClientCommand::History { .. }) if !self.outbox.is_extended() => {}
            Ok(command) => {
                self.waiting_bytes += bytes_of(&command);
                self.waiting.push_back(command);
            }
        }
    }

    /// Whether the server has to stop reading the client's messages, because too many commands wait.
    pub fn is_full(&self) -> bool {
        self.waiting.len() >= WAITING_COMMANDS
            || self.waiting_bytes >= self.hub.limits().message as usize
    }

    /// Whether the application has a command of the client.
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// The number of the client's subscriptions.
    pub fn subscriptions(&self) -> usize {
        self.subscriptions.len()
    }

    /// Bytes that are held for the client, without those of its outbox. A text that is held once for several clients
    /// counts for each of them by its share.
    pub fn held_bytes(&self) -> usize {
        let shared: usize = self
            .subscriptions
            .iter()
            .map(Subscription::shared_bytes)
            .sum();
        self.kept + self.waiting_bytes - shared
    }

    /// The JSON of the next command that the application is to carry out. Commands that make no sense are left out, as
    /// Rails does: those for a subscription that does not exist, and those that subscribe a second time.
    pub fn next_command(&mut self) -> Option<String> {
        while self.running.is_none() && !self.awaits_client() {
            if let Some(body) = self.next_timer() {
                return Some(body);
            }
            let Some(command) = self.waiting.pop_front() else {
                self.waiting = VecDeque::new();
                return None;
            };
            self.waiting_bytes -= bytes_of(&command);
            self.resume_for(&command);
            let body = match command {
                ClientCommand::Subscribe {
                    identifier,
                    history,
                } => self.subscribe(&identifier, history),
                ClientCommand::History {
                    identifier,
                    history,
                } => self.send_again(&identifier, history.as_deref().unwrap_or("{}")),
                ClientCommand::Message { identifier, data } => self.message(&identifier, &data),
                ClientCommand::Unsubscribe { identifier } => self.unsubscribe(&identifier),
                ClientCommand::Unknown => None,
            };
            if let Some(body) = body {
                return Some(body);
            }
        }
        None
    }

    /// Ends the running command with its result, or `None` if the application could not carry it
    /// out. Returns the clients that the broadcasts of the result have reached.
    pub fn finish(&mut self, result: Option<CommandResult>) -> Reached {
        let running = self.running.take();
        let Some(mut result) = result else {
            if let Some(RunningCommand::Subscribe(identifier, history)) = running {
                self.waiting_bytes -= history.map_or(0, |history| history.len());
                self.hub.release(&identifier);
            }
            return Reached::default();
        };
        if let Some(connection) = result.connection.take() {
            self.kept += connection.len();
            self.kept -= self.connection.len();
            self.connection = connection;
        }
        let mut missed = None;
        match running {
            Some(RunningCommand::Subscribe(identifier, history)) => {
                missed = self.answer(identifier, history, &mut result);
            }
            Some(RunningCommand::Message(identifier)) => {
                if let Some(at) = self.position(&identifier) {
                    self.change(at, &mut result);
                    if result.subscription == Some(SubscriptionAnswer::Rejected) {
                        self.remove(at);
                    }
                }
            }
            Some(RunningCommand::Unsubscribe) | None => {}
        }
        if self.kept > self.hub.limits().session {
            self.outbox.close(Some("too_many_subscriptions"), false);
        }
        self.send(&result);
        if let Some((identifier, history)) = missed {
            self.replay(&identifier, &history, u64::MAX);
        }
        self.broadcast(&result)
    }

    /// The body of the command that tells the application that the client is gone.
    pub fn close_body(&self) -> String {
        let known = self.subscriptions.iter().filter(|it| !it.is_signed);
        let records = known.map(Subscription::record);
        let body = CommandBody::Close {
            connection: &self.connection,
            subscriptions: &records.collect::<Vec<_>>(),
        };
        body.to_json()
    }

    fn position(&self, identifier: &str) -> Option<usize> {
        let mut subscriptions = self.subscriptions.iter();
        subscriptions.position(|subscription| *subscription.identifier == *identifier)
    }

    fn subscribe(&mut self, identifier: &str, history: Option<Box<str>>) -> Option<String> {
        let history = history.filter(|_| self.outbox.is_extended());
        if self.position(identifier).is_some() {
            return self.confirm_again(identifier, history.as_deref());
        }
        if self.kept + identifier.len() + ENTRY_COST > self.hub.limits().session {
            self.outbox.send(&reject_subscription(identifier));
            return None;
        }
        if let Some(stream) = self.hub.signed_stream(identifier) {
            self.subscribe_signed(identifier, &stream);
            return history.and_then(|history| self.send_again(identifier, &history));
        }
        let body = CommandBody::Subscribe {
            connection: &self.connection,
            identifier,
            state: None,
        };
        self.waiting_bytes += history.as_ref().map_or(0, |history| history.len());
        let identifier = self.hub.identifier(identifier);
        self.running = Some(RunningCommand::Subscribe(identifier, history));
        Some(body.to_json())
    }

    /// Adds the subscription that the application has confirmed. Returns the identifier and the
    /// JSON of the client's `HistoryRequest`, if it has sent one.
    fn answer(
        &mut self,
        identifier: Rc<str>,
        history: Option<Box<str>>,
        result: &mut CommandResult,
    ) -> Option<(Rc<str>, Box<str>)> {
        self.waiting_bytes -= history.as_ref().map_or(0, |history| history.len());
        let answer = result.subscription;
        if !matches!(
            answer,
            Some(SubscriptionAnswer::Confirmed | SubscriptionAnswer::Pending)
        ) {
            self.hub.release(&identifier);
            return None;
        }
        self.kept += identifier.len() + ENTRY_COST;
        let at = self.subscriptions.len();
        self.subscriptions.reserve_exact(1);
        self.subscriptions.push(Subscription {
            identifier: Rc::clone(&identifier),
            state: None,
            streams: Box::default(),
            is_signed: false,
            timers: None,
        });
        self.change(at, result);
        history.map(|history| (identifier, history))
    }

    /// Subscribes to a stream of Turbo without a command: with its signature of the stream's name, the
    /// application has allowed that.
    fn subscribe_signed(&mut self, identifier: &str, stream: &str) {
        let identifier = self.hub.identifier(identifier);
        let stream = (self.hub).start(stream, &identifier, self.number, &self.outbox);
        self.kept += identifier.len() + stream.len() + 2 * ENTRY_COST;
        self.outbox.send(&confirm_subscription(&identifier));
        self.subscriptions.reserve_exact(1);
        self.subscriptions.push(Subscription {
            identifier,
            state: None,
            streams: [stream].into(),
            is_signed: true,
            timers: None,
        });
    }

    fn message(&mut self, identifier: &str, data: &str) -> Option<String> {
        let subscription = &self.subscriptions[self.position(identifier)?];
        let body = CommandBody::Message {
            connection: &self.connection,
            identifier,
            data,
            state: subscription.state.as_deref(),
        };
        self.running = Some(RunningCommand::Message(Rc::clone(&subscription.identifier)));
        Some(body.to_json())
    }

    /// Ends the subscription, and returns the command that tells the application, unless the
    /// application does not know the subscription.
    fn unsubscribe(&mut self, identifier: &str) -> Option<String> {
        let at = self.position(identifier)?;
        let body = CommandBody::Unsubscribe {
            connection: &self.connection,
            identifier,
            state: self.subscriptions[at].state.as_deref(),
        };
        let body = (!self.subscriptions[at].is_signed).then(|| body.to_json());
        self.running = body.as_ref().map(|_| RunningCommand::Unsubscribe);
        self.remove(at);
        body
    }

    fn remove(&mut self, at: usize) {
        let removed = self.subscriptions.remove(at);
        self.kept -= removed.timers_bytes();
        let identifier = removed.identifier;
        self.kept -= identifier.len() + ENTRY_COST + removed.state.map_or(0, |it| it.len());
        self.stop(&identifier, &removed.streams);
        self.hub.release(&identifier);
    }

    /// Changes state, streams, and timers of a subscription as the result says.
    fn change(&mut self, at: usize, result: &mut CommandResult) {
        let subscription = &mut self.subscriptions[at];
        let identifier = Rc::clone(&subscription.identifier);
        if let StateChange::To(state) = take(&mut result.state) {
            self.kept += state.as_ref().map_or(0, |state| state.len());
            self.kept -= subscription.state.as_ref().map_or(0, |state| state.len());
            subscription.state = state;
        }
        let stops =
            |stream: &Rc<str>| result.stop_all || result.stop.iter().any(|it| **it == **stream);
        let streams = take(&mut subscription.streams);
        let (stopped, mut streams): (Vec<_>, Vec<_>) = streams.into_iter().partition(stops);
        self.stop(&identifier, &stopped);
        for stream in take(&mut result.start) {
            if streams.iter().all(|it| **it != *stream) && self.kept <= self.hub.limits().session {
                self.kept += stream.len() + ENTRY_COST;
                let started = (self.hub).start(&stream, &identifier, self.number, &self.outbox);
                streams.push(started);
            }
        }
        self.subscriptions[at].streams = streams.into();
        if let Some(intervals) = &result.timers {
            self.set_timers(at, ChannelTimer::all(intervals));
        }
    }

    fn stop(&mut self, identifier: &Rc<str>, streams: &[Rc<str>]) {
        for stream in streams {
            self.kept -= stream.len() + ENTRY_COST;
            self.hub.stop(stream, identifier, self.number);
        }
    }

    fn send(&self, result: &CommandResult) {
        let mut budget = DEFLATE_LIMIT;
        for text in &result.send {
            let window = (self.outbox.deflate()).filter(|window| window.holds(text.len()));
            let deflated = window.and_then(|_| {
                let mut coder = self.hub.coder.borrow_mut();
                coder.frame(text.as_bytes(), &mut budget)
            });
            let frame = deflated.unwrap_or_else(|| text_frame(text).into());
            self.outbox.push(&frame);
        }
    }

    /// Sends others what the command broadcasts, and then closes the socket if the result says so.
    fn broadcast(&self, result: &CommandResult) -> Reached {
        let mut reached = Reached::default();
        for (stream, payload) in &result.broadcasts {
            let more = self.hub.broadcast(stream, payload.as_bytes());
            reached.add(more.unwrap_or_default());
        }
        if let Some(close) = &result.close {
            self.outbox.close(close.reason.as_deref(), close.reconnect);
        }
        reached
    }
}

impl Drop for CableSession {
    fn drop(&mut self) {
        if let Some(internal) = &self.internal {
            self.hub.forget(internal, self.number);
        }
        let running = self.running.take();
        if let Some(RunningCommand::Subscribe(identifier, _)) = running {
            self.hub.release(&identifier);
        }
        for subscription in take(&mut self.subscriptions) {
            let identifier = subscription.identifier;
            for stream in &subscription.streams {
                self.hub.stop(stream, &identifier, self.number);
            }
            self.hub.release(&identifier);
        }
    }
}

fn bytes_of(command: &ClientCommand) -> usize {
    ENTRY_COST + command.text_bytes()
}

#[cfg(test)]
mod tests;
