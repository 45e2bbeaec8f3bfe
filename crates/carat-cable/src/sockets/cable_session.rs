use std::collections::{BTreeMap, VecDeque};
use std::mem::take;
use std::rc::Rc;

use super::{ClientOutbox, Hub, Reached, SocketNumber};
use crate::{
    ClientCommand, CommandBody, CommandResult, StateChange, SubscriptionAnswer, SubscriptionRecord,
    reject_subscription,
};

/// Most bytes that the server keeps for one client between two commands: what the application needs to know of it, and
/// the identifiers, states and streams of its subscriptions.
pub const SESSION_LIMIT: usize = 256 * 1024;
/// No message of the client is read while this many bytes, or commands, wait for the application.
const WAITING_BYTES: usize = 64 * 1024;
const WAITING_COMMANDS: usize = 32;
/// What a subscription, a stream of one, or a command takes beside its texts.
const ENTRY_COST: usize = 128;

/// One client: what it has subscribed to, and its commands, which the application gets one after the other.
///
/// ```
/// use std::rc::Rc;
/// use carat_cable::{CommandResult, Hub, ClientOutbox, CableSession};
///
/// let (hub, outbox) = (Rc::<Hub>::default(), Rc::<ClientOutbox>::default());
/// let opened = CommandResult { connection: Some("c".into()), ..CommandResult::default() };
/// let (mut session, _) = CableSession::open(&hub, (1, &outbox), opened);
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
    /// What the application needs to know of the client.
    connection: Box<str>,
    internal: Option<Rc<str>>,
    subscriptions: BTreeMap<Rc<str>, Subscription>,
    waiting: VecDeque<ClientCommand>,
    waiting_bytes: usize,
    /// The one that the application has.
    running: Option<RunningCommand>,
    /// Bytes that are kept between two commands.
    kept: usize,
}

#[derive(Debug, Default)]
struct Subscription {
    state: Option<Box<str>>,
    streams: Vec<Rc<str>>,
}

#[derive(Debug)]
enum RunningCommand {
    Subscribe(Rc<str>),
    Message(Rc<str>),
    Unsubscribe,
}

impl CableSession {
    /// A client that the application has let in. Returns whom its broadcasts have reached, too.
    pub fn open(
        hub: &Rc<Hub>,
        (number, outbox): (SocketNumber, &Rc<ClientOutbox>),
        mut result: CommandResult,
    ) -> (CableSession, Reached) {
        let connection = result.connection.take().unwrap_or_default();
        let internal = result.internal.take();
        let internal = internal.map(|internal| hub.listen(&internal, number, outbox));
        let kept = connection.len() + internal.as_ref().map_or(0, |name| name.len() + ENTRY_COST);
        let session = CableSession {
            hub: Rc::clone(hub),
            number,
            outbox: Rc::clone(outbox),
            connection,
            internal,
            subscriptions: BTreeMap::new(),
            waiting: VecDeque::new(),
            waiting_bytes: 0,
            running: None,
            kept,
        };
        let reached = session.send(&result);
        (session, reached)
    }

    /// The client has sent a text. What is no command is ignored.
    pub fn receive(&mut self, text: &str) {
        match ClientCommand::parse(text) {
            Ok(ClientCommand::Unknown) | Err(_) => {}
            Ok(command) => {
                self.waiting_bytes += bytes_of(&command);
                self.waiting.push_back(command);
            }
        }
    }

    /// Whether the client is to wait before it sends more.
    pub fn is_full(&self) -> bool {
        self.waiting.len() >= WAITING_COMMANDS || self.waiting_bytes >= WAITING_BYTES
    }

    /// Whether the application has a command of the client.
    pub fn is_running(&self) -> bool {
        self.running.is_some()
    }

    /// What the client has subscribed to.
    pub fn subscriptions(&self) -> usize {
        self.subscriptions.len()
    }

    /// Bytes that are held for the client, without those that wait for it.
    pub fn held_bytes(&self) -> usize {
        self.kept + self.waiting_bytes
    }

    /// The next command, as JSON for the application. Those that make no sense are left out, as Rails does: to subscribe
    /// twice, and what is for a subscription that there is not.
    pub fn next_command(&mut self) -> Option<String> {
        while self.running.is_none() {
            let Some(command) = self.waiting.pop_front() else {
                self.waiting = VecDeque::new();
                return None;
            };
            self.waiting_bytes -= bytes_of(&command);
            let body = match command {
                ClientCommand::Subscribe { identifier } => self.subscribe(&identifier),
                ClientCommand::Message { identifier, data } => self.message(&identifier, &data),
                ClientCommand::Unsubscribe { identifier } => self.unsubscribe(&identifier),
                ClientCommand::Unknown => None,
            };
            if body.is_some() {
                return body;
            }
        }
        None
    }

    /// The application has carried the command out; `None` if it could not. Returns whom its broadcasts have reached.
    pub fn finish(&mut self, result: Option<CommandResult>) -> Reached {
        let running = self.running.take();
        let Some(mut result) = result else {
            if let Some(RunningCommand::Subscribe(identifier)) = running {
                self.hub.release(&identifier);
            }
            return Reached::default();
        };
        if let Some(connection) = result.connection.take() {
            self.kept += connection.len();
            self.kept -= self.connection.len();
            self.connection = connection;
        }
        match running {
            Some(RunningCommand::Subscribe(identifier)) => match result.subscription {
                Some(SubscriptionAnswer::Confirmed | SubscriptionAnswer::Pending) => {
                    self.kept += identifier.len() + ENTRY_COST;
                    let subscriptions = &mut self.subscriptions;
                    subscriptions.insert(Rc::clone(&identifier), Subscription::default());
                    self.change(&identifier, &mut result);
                }
                Some(SubscriptionAnswer::Rejected) | None => self.hub.release(&identifier),
            },
            Some(RunningCommand::Message(identifier)) => {
                self.change(&identifier, &mut result);
                if result.subscription == Some(SubscriptionAnswer::Rejected) {
                    self.remove(&identifier);
                }
            }
            Some(RunningCommand::Unsubscribe) | None => {}
        }
        if self.kept > SESSION_LIMIT {
            self.outbox.close(Some("too_many_subscriptions"), false);
        }
        self.send(&result)
    }

    /// What the application is to know of the end of the client.
    pub fn close_body(&self) -> String {
        let records =
            self.subscriptions
                .iter()
                .map(|(identifier, subscription)| SubscriptionRecord {
                    identifier,
                    state: subscription.state.as_deref(),
                });
        let body = CommandBody::Close {
            connection: &self.connection,
            subscriptions: &records.collect::<Vec<_>>(),
        };
        body.to_json()
    }

    fn subscribe(&mut self, identifier: &str) -> Option<String> {
        if self.subscriptions.contains_key(identifier) {
            return None;
        }
        if self.kept + identifier.len() + ENTRY_COST > SESSION_LIMIT {
            self.outbox.send(&reject_subscription(identifier));
            return None;
        }
        let body = CommandBody::Subscribe {
            connection: &self.connection,
            identifier,
            state: None,
        };
        self.running = Some(RunningCommand::Subscribe(self.hub.identifier(identifier)));
        Some(body.to_json())
    }

    fn message(&mut self, identifier: &str, data: &str) -> Option<String> {
        let (identifier, subscription) = self.subscriptions.get_key_value(identifier)?;
        let body = CommandBody::Message {
            connection: &self.connection,
            identifier,
            data,
            state: subscription.state.as_deref(),
        };
        self.running = Some(RunningCommand::Message(Rc::clone(identifier)));
        Some(body.to_json())
    }

    /// The subscription ends before the application knows.
    fn unsubscribe(&mut self, identifier: &str) -> Option<String> {
        let subscription = self.subscriptions.get(identifier)?;
        let body = CommandBody::Unsubscribe {
            connection: &self.connection,
            identifier,
            state: subscription.state.as_deref(),
        };
        let body = body.to_json();
        self.running = Some(RunningCommand::Unsubscribe);
        self.remove(identifier);
        Some(body)
    }

    fn remove(&mut self, identifier: &str) {
        let Some((identifier, subscription)) = self.subscriptions.remove_entry(identifier) else {
            return;
        };
        self.kept -= identifier.len() + ENTRY_COST + subscription.state.map_or(0, |it| it.len());
        self.stop(&identifier, &subscription.streams);
        self.hub.release(&identifier);
    }

    /// Changes the state and the streams of a subscription.
    fn change(&mut self, identifier: &Rc<str>, result: &mut CommandResult) {
        let Some(mut subscription) = self.subscriptions.remove(identifier) else {
            return;
        };
        if let StateChange::To(state) = take(&mut result.state) {
            self.kept += state.as_ref().map_or(0, |state| state.len());
            self.kept -= subscription.state.map_or(0, |state| state.len());
            subscription.state = state;
        }
        let stops =
            |stream: &Rc<str>| result.stop_all || result.stop.iter().any(|it| **it == **stream);
        let (stopped, mut streams): (Vec<_>, Vec<_>) =
            subscription.streams.into_iter().partition(stops);
        self.stop(identifier, &stopped);
        for stream in take(&mut result.start) {
            if streams.iter().all(|it| **it != *stream) && self.kept <= SESSION_LIMIT {
                self.kept += stream.len() + ENTRY_COST;
                let socket = (self.number, &self.outbox);
                streams.push(self.hub.start(&stream, identifier, socket));
            }
        }
        streams.shrink_to_fit();
        subscription.streams = streams;
        self.subscriptions
            .insert(Rc::clone(identifier), subscription);
    }

    fn stop(&mut self, identifier: &Rc<str>, streams: &[Rc<str>]) {
        for stream in streams {
            self.kept -= stream.len() + ENTRY_COST;
            self.hub.stop(stream, identifier, self.number);
        }
    }

    /// Sends the client its texts, and others what was broadcast.
    fn send(&self, result: &CommandResult) -> Reached {
        for text in &result.send {
            self.outbox.send(text);
        }
        let mut reached = Reached::default();
        for (stream, payload) in &result.broadcasts {
            let more = self
                .hub
                .broadcast(stream, payload.as_bytes())
                .unwrap_or_default();
            reached.clients += more.clients;
            reached.slow += more.slow;
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
        if let Some(RunningCommand::Subscribe(identifier)) = running {
            self.hub.release(&identifier);
        }
        for (identifier, subscription) in take(&mut self.subscriptions) {
            for stream in &subscription.streams {
                self.hub.stop(stream, &identifier, self.number);
            }
            self.hub.release(&identifier);
        }
    }
}

fn bytes_of(command: &ClientCommand) -> usize {
    ENTRY_COST
        + match command {
            ClientCommand::Message { identifier, data } => identifier.len() + data.len(),
            ClientCommand::Subscribe { identifier } | ClientCommand::Unsubscribe { identifier } => {
                identifier.len()
            }
            ClientCommand::Unknown => 0,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Client {
        hub: Rc<Hub>,
        outbox: Rc<ClientOutbox>,
        session: CableSession,
    }

    impl Client {
        fn new() -> Client {
            let (hub, outbox) = (Rc::<Hub>::default(), Rc::<ClientOutbox>::default());
            let opened = result(r#"{"connection": "c", "internal": "action_cable/c"}"#);
            let (session, _) = CableSession::open(&hub, (1, &outbox), opened);
            Client {
                hub,
                outbox,
                session,
            }
        }

        fn sends(&mut self, command: &str, identifier: &str) -> Option<String> {
            let text =
                format!(r#"{{"command":"{command}","identifier":"{identifier}","data":"d"}}"#);
            self.session.receive(&text);
            self.session.next_command()
        }

        fn subscribed(mut self, json: &str) -> Client {
            assert!(self.sends("subscribe", "chat").is_some());
            self.session.finish(Some(result(json)));
            self
        }

        /// How many of its subscriptions receive this stream.
        fn receives(&self, stream: &str) -> usize {
            self.hub.broadcast(stream, b"1").expect("JSON").clients
        }

        fn received(&self) -> String {
            let mut bytes = vec![0; 10_000];
            let count = self.outbox.take(&mut bytes);
            String::from_utf8_lossy(&bytes[..count]).into_owned()
        }
    }

    fn result(json: &str) -> CommandResult {
        CommandResult::parse(json.as_bytes()).expect("a result")
    }

    const CONFIRMED: &str =
        r#"{"subscription": "confirmed", "start": ["a", "b"], "state": "s", "send": ["yes"]}"#;

    #[test]
    fn what_a_subscription_needs_goes_with_each_of_its_commands() {
        let mut client = Client::new().subscribed(CONFIRMED);
        assert!(client.received().contains("yes"));
        let body = client.sends("message", "chat");
        let json =
            r#"{"command":"message","connection":"c","identifier":"chat","data":"d","state":"s"}"#;
        assert_eq!(body.as_deref(), Some(json));
        client.session.finish(Some(result(r#"{"state": null}"#)));
        let body = client.sends("unsubscribe", "chat");
        assert!(body.is_some_and(|body| body.ends_with(r#""state":null}"#)));
        assert_eq!(
            (client.receives("a"), client.session.subscriptions()),
            (0, 0)
        );
    }

    #[test]
    fn commands_wait_for_the_one_before_them_and_senseless_ones_are_left_out() {
        let mut client = Client::new();
        for (command, identifier) in [("message", "chat"), ("unsubscribe", "chat"), ("dance", "")] {
            assert_eq!(client.sends(command, identifier), None);
        }
        client.session.receive("hello");
        assert!(client.sends("subscribe", "chat").is_some());
        assert_eq!(client.sends("subscribe", "chat"), None);
        assert_eq!(client.sends("message", "chat"), None);
        assert!(client.session.is_running());
        client.session.finish(Some(result(CONFIRMED)));
        let next = client.session.next_command();
        assert!(next.is_some_and(|body| body.contains(r#""command":"message""#)));
    }

    #[test]
    fn a_subscription_that_is_refused_or_fails_is_none() {
        for result in [
            Some(result(r#"{"subscription": "rejected", "start": ["a"]}"#)),
            None,
        ] {
            let mut client = Client::new();
            assert!(client.sends("subscribe", "chat").is_some());
            client.session.finish(result);
            assert_eq!(
                (client.receives("a"), client.session.subscriptions()),
                (0, 0)
            );
            assert_eq!(client.sends("message", "chat"), None);
        }
    }

    #[test]
    fn a_channel_may_confirm_later_or_refuse_after_all() {
        let pending = r#"{"subscription": "pending", "start": ["a"]}"#;
        let mut client = Client::new().subscribed(pending);
        assert!(client.sends("message", "chat").is_some());
        client.session.finish(Some(result(
            r#"{"subscription": "confirmed", "connection": "d"}"#,
        )));
        assert_eq!(client.receives("a"), 1);
        let body = client.sends("message", "chat");
        assert!(body.is_some_and(|body| body.contains(r#""connection":"d""#)));
        client
            .session
            .finish(Some(result(r#"{"subscription": "rejected"}"#)));
        assert_eq!(
            (client.receives("a"), client.session.subscriptions()),
            (0, 0)
        );
    }

    #[test]
    fn streams_stop_before_others_start() {
        let mut client = Client::new().subscribed(CONFIRMED);
        let kept = client.session.held_bytes();
        for (json, expected) in [
            (r#"{"stop": ["a"], "start": ["c"]}"#, [0, 1, 1]),
            (r#"{"stop_all": true, "start": ["a", "a"]}"#, [1, 0, 0]),
            (r#"{"stop": ["a"], "start": ["a", "b"]}"#, [1, 1, 0]),
        ] {
            assert!(client.sends("message", "chat").is_some());
            client.session.finish(Some(result(json)));
            assert_eq!(
                ["a", "b", "c"].map(|stream| client.receives(stream)),
                expected
            );
        }
        assert_eq!(client.session.held_bytes(), kept);
    }

    #[test]
    fn a_client_waits_while_much_of_it_waits_for_the_application() {
        let mut client = Client::new().subscribed(CONFIRMED);
        assert!(client.sends("message", "chat").is_some());
        let mut sent = 0;
        while !client.session.is_full() {
            assert_eq!(client.sends("message", "chat"), None);
            sent += 1;
        }
        assert_eq!(sent, WAITING_COMMANDS);
        client.session.finish(None);
        assert!(client.session.next_command().is_some() && !client.session.is_full());
    }

    #[test]
    fn what_is_kept_for_a_client_has_a_limit() {
        let mut client = Client::new();
        let mut subscriptions = 0;
        while let Some(_body) = client.sends("subscribe", &format!("{subscriptions:01000}")) {
            let confirmed = result(r#"{"subscription": "confirmed"}"#);
            client.session.finish(Some(confirmed));
            subscriptions += 1;
        }
        assert!(client.received().contains("reject_subscription"));
        assert_eq!(subscriptions, SESSION_LIMIT / (1000 + ENTRY_COST));

        let streams: Vec<_> = (0..2000).map(|number| format!("\"{number}\"")).collect();
        let many = format!(
            r#"{{"subscription": "confirmed", "start": [{}]}}"#,
            streams.join(",")
        );
        let client = Client::new().subscribed(&many);
        let streams = client.hub.streams();
        assert!(
            (1000..SESSION_LIMIT / ENTRY_COST + 1).contains(&streams),
            "{streams}"
        );
        assert!(
            client
                .received()
                .contains(r#""reason":"too_many_subscriptions""#)
        );
    }

    #[test]
    fn the_end_of_a_client_names_its_subscriptions_and_leaves_nothing() {
        let client = Client::new().subscribed(CONFIRMED);
        let json = r#"{"command":"close","connection":"c","subscriptions":[{"identifier":"chat","state":"s"}]}"#;
        assert_eq!(client.session.close_body(), json);
        drop(client.session);
        assert_eq!(
            (client.hub.streams(), Rc::strong_count(&client.outbox)),
            (0, 1)
        );
    }

    #[test]
    fn what_a_command_broadcasts_leaves_with_its_result() {
        let mut client = Client::new().subscribed(CONFIRMED);
        assert!(client.sends("message", "chat").is_some());
        let json = r#"{"send": ["own"], "broadcasts": [["a", "[7]"]], "close": {"reason": null, "reconnect": false}}"#;
        let reached = client.session.finish(Some(result(json)));
        assert_eq!((reached.clients, reached.slow), (1, 0));
        let received = client.received();
        let positions = ["own", "[7]", r#""type":"disconnect""#].map(|text| received.find(text));
        assert!(
            positions.is_sorted() && positions[0].is_some(),
            "{received}"
        );
        assert!(client.outbox.has_ended());
    }
}
