use std::cell::{Cell, RefCell, RefMut};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::rc::Rc;
use std::task::Waker;

use serde::Deserialize;

use super::encoded_message::EncodedMessage;
use super::signed_streams::SignedStreams;
use super::{BroadcastHistory, ClientOutbox, SocketLimits, SocketNumber};
use crate::worker::STREAM_NAME_LIMIT;
use crate::{CloseCode, HistoryRequest, MessageCoder, Payload, SigningKey};

/// The subscriptions of all clients to streams. A message is encoded once for each identifier, not
/// for each client.
///
/// ```
/// use std::rc::Rc;
/// use carat_cable::{Hub, ClientOutbox};
///
/// let (hub, outbox) = (Hub::default(), Rc::<ClientOutbox>::default());
/// let identifier = hub.identifier(r#"{"channel":"Chat"}"#);
/// let stream = hub.start("chat", &identifier, 1, &outbox);
/// assert_eq!(hub.broadcast("chat", b"1").map(|reached| reached.clients), Some(1));
/// hub.stop(&stream, &identifier, 1);
/// assert_eq!(hub.broadcast("chat", b"1").map(|reached| reached.clients), Some(0));
/// ```
#[derive(Debug, Default)]
pub struct Hub {
    streams: RefCell<HashMap<Rc<str>, Audience>>,
    /// The clients that each internal stream can disconnect.
    internal: RefCell<HashMap<Rc<str>, Vec<NumberedOutbox>>>,
    /// `None` until the application has said how it signs the names of streams.
    signed: RefCell<Option<SignedStreams>>,
    /// The identifiers of subscriptions, whose texts clients share.
    identifiers: RefCell<HashSet<Rc<str>>>,
    /// `None` when no broadcasts are kept.
    history: Option<RefCell<BroadcastHistory>>,
    limits: Cell<SocketLimits>,
    pub(super) coder: RefCell<MessageCoder>,
}

type NumberedOutbox = (SocketNumber, Rc<ClientOutbox>);

/// The outboxes of the clients that receive a stream, ordered by identifier.
type Audience = BTreeMap<(Rc<str>, SocketNumber), Rc<ClientOutbox>>;

/// The clients that a broadcast has reached. Their outboxes have the message, but their tasks still
/// have to be woken. The caller wakes some at a time, so that the event loop does other work in
/// between. The tasks that are left are woken when this is dropped.
#[derive(Debug, Default)]
pub struct Reached {
    /// How many subscriptions got the message.
    pub clients: usize,
    /// How many of these had too much to read, and are disconnected.
    pub slow: usize,
    /// The wakers of the tasks that waited for something to send.
    sleeping: Vec<Waker>,
}

impl Reached {
    /// Wakes the tasks of at most `count` clients. Returns whether others are left.
    pub fn wake(&mut self, count: usize) -> bool {
        let rest = self.sleeping.len().saturating_sub(count);
        self.sleeping.drain(rest..).for_each(Waker::wake);
        rest > 0
    }

    /// Adds the clients that another broadcast has reached.
    pub(super) fn add(&mut self, mut other: Reached) {
        self.clients += other.clients;
        self.slow += other.slow;
        self.sleeping.append(&mut other.sleeping);
    }
}

impl Drop for Reached {
    fn drop(&mut self) {
        self.wake(usize::MAX);
    }
}

/// A message that Rails broadcasts on the internal stream of a connection.
#[derive(Deserialize)]
struct InternalMessage {
    #[serde(rename = "type")]
    kind: String,
    #[serde(default = "may_reconnect")]
    reconnect: bool,
}

fn may_reconnect() -> bool {
    true
}

impl Hub {
    /// A hub that keeps what is broadcast.
    pub fn with_history(history: BroadcastHistory) -> Hub {
        Hub {
            history: Some(RefCell::new(history)),
            ..Hub::default()
        }
    }

    /// The limits of what may be held for clients.
    pub fn limits(&self) -> SocketLimits {
        self.limits.get()
    }

    /// Sets the limits of what may be held for clients.
    pub fn set_limits(&self, limits: SocketLimits) {
        self.limits.set(limits);
    }

    /// The broadcasts that are kept, if any are.
    pub fn history(&self) -> Option<RefMut<'_, BroadcastHistory>> {
        self.history.as_ref().map(RefCell::borrow_mut)
    }

    /// Decompresses a message of a client, to at most `limit` bytes.
    pub fn inflate(&self, message: Vec<u8>, limit: u32) -> Result<String, CloseCode> {
        self.coder.borrow_mut().inflate(message, limit as usize)
    }

    /// The identifier of a subscription as the text that clients share.
    pub fn identifier(&self, identifier: &str) -> Rc<str> {
        let mut identifiers = self.identifiers.borrow_mut();
        if let Some(known) = identifiers.get(identifier) {
            return Rc::clone(known);
        }
        let identifier = Rc::from(identifier);
        identifiers.insert(Rc::clone(&identifier));
        identifier
    }

    /// Ends a subscription with this identifier: its text is forgotten if no other subscription has
    /// it.
    pub fn release(&self, identifier: &Rc<str>) {
        if Rc::strong_count(identifier) <= 2 {
            self.identifiers.borrow_mut().remove(identifier);
        }
    }

    /// Subscribes a client to the stream. Returns the shared text of the stream's name, for `stop`.
    pub fn start(
        &self,
        stream: &str,
        identifier: &Rc<str>,
        number: SocketNumber,
        outbox: &Rc<ClientOutbox>,
    ) -> Rc<str> {
        let mut streams = self.streams.borrow_mut();
        let known = streams.get_key_value(stream);
        let stream = known.map_or_else(|| Rc::from(stream), |(stream, _)| Rc::clone(stream));
        let audience = streams.entry(Rc::clone(&stream)).or_default();
        audience.insert((Rc::clone(identifier), number), Rc::clone(outbox));
        stream
    }

    /// Ends this subscription of the client to the stream.
    pub fn stop(&self, stream: &str, identifier: &Rc<str>, number: SocketNumber) {
        let mut streams = self.streams.borrow_mut();
        if let Some(audience) = streams.get_mut(stream) {
            audience.remove(&(Rc::clone(identifier), number));
            if audience.is_empty() {
                streams.remove(stream);
            }
        }
    }

    /// Disconnects the client when a message on this internal stream says so. Returns the shared
    /// text of the stream's name, for `forget`.
    pub fn listen(
        &self,
        internal: &str,
        number: SocketNumber,
        outbox: &Rc<ClientOutbox>,
    ) -> Rc<str> {
        let mut listening = self.internal.borrow_mut();
        let known = listening.get_key_value(internal);
        let internal = known.map_or_else(|| Rc::from(internal), |(known, _)| Rc::clone(known));
        let entry = listening.entry(Rc::clone(&internal)).or_default();
        entry.push((number, Rc::clone(outbox)));
        internal
    }

    /// Ends what `listen` has begun: the client is gone.
    pub fn forget(&self, internal: &str, number: SocketNumber) {
        let mut listening = self.internal.borrow_mut();
        if let Some(entry) = listening.get_mut(internal) {
            entry.retain(|(other, _)| *other != number);
            if entry.is_empty() {
                listening.remove(internal);
            }
        }
    }

    /// Sends a message to all subscribers of a stream; on an internal stream, carries out what the
    /// message says. `None` if the message is no JSON.
    pub fn broadcast(&self, stream: &str, payload: &[u8]) -> Option<Reached> {
        let payload = Payload::parse(payload)?;
        if let Some(listening) = self.internal.borrow().get(stream) {
            let message: InternalMessage = serde_json::from_str(payload.as_str()).ok()?;
            if message.kind == "disconnect" {
                let each = listening.iter().map(|(_, outbox)| outbox);
                each.for_each(|outbox| outbox.close(Some("remote"), message.reconnect));
            }
            return Some(Reached::default());
        }
        let streams = self.streams.borrow();
        let mut reached = Reached::default();
        let mut history = self.history();
        let end = history.as_ref().map(|history| history.next_end(stream));
        let mut encoded = EncodedMessage::new(&payload, end, &self.coder);
        for ((identifier, _), outbox) in streams.get(stream).into_iter().flatten() {
            let frame = encoded.frame(identifier, outbox.is_extended(), outbox.deflate());
            let (fits, waker) = outbox.push_quietly(frame);
            reached.clients += 1;
            reached.slow += usize::from(!fits);
            reached.sleeping.extend(waker);
        }
        if let Some(history) = &mut history {
            encoded.keep(stream, history);
        }
        Some(reached)
    }

    /// The messages that a subscription to these streams has missed; see [`BroadcastHistory::replay`].
    pub fn replay(
        &self,
        identifier: &str,
        streams: &[Rc<str>],
        request: &HistoryRequest,
        until: u64,
    ) -> Option<Vec<Rc<[u8]>>> {
        self.history()?.replay(identifier, streams, request, until)
    }

    /// Sets the key with which the application signs the names of Turbo's streams.
    pub fn verify_with(&self, key: SigningKey) {
        let mut signed = self.signed.borrow_mut();
        if signed.as_ref().is_none_or(|known| known.differs(&key)) {
            *signed = SignedStreams::new(key);
        }
    }

    /// The stream of Turbo that an identifier names, if the application has signed the name.
    pub fn signed_stream(&self, identifier: &str) -> Option<String> {
        let stream = self.signed.borrow().as_ref()?.stream_of(identifier)?;
        (stream.len() <= STREAM_NAME_LIMIT).then_some(stream)
    }

    /// How many streams have subscribers.
    pub fn streams(&self) -> usize {
        self.streams.borrow().len()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::task::{Context, Wake};

    use super::*;

    struct Woken(Arc<AtomicUsize>);

    impl Wake for Woken {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn received(outbox: &ClientOutbox) -> String {
        let mut bytes = [0; 1000];
        let count = outbox.take(&mut bytes);
        String::from_utf8_lossy(&bytes[..count]).into_owned()
    }

    #[test]
    fn each_subscription_gets_a_message_with_its_own_identifier() {
        let hub = Hub::default();
        let outboxes = [(); 3].map(|()| Rc::<ClientOutbox>::default());
        for (index, identifier) in [(0, "a"), (1, "b"), (2, "a"), (2, "b")] {
            let identifier = hub.identifier(identifier);
            hub.start("chat", &identifier, index as u64, &outboxes[index]);
        }
        let reach = |stream| {
            let reached = hub.broadcast(stream, b"[1]");
            reached.map(|reached| (reached.clients, reached.slow))
        };
        assert_eq!(reach("chat"), Some((4, 0)));
        assert_eq!(reach("other"), Some((0, 0)));
        let text = |identifier| format!(r#"{{"identifier":"{identifier}","message":[1]}}"#);
        assert!(received(&outboxes[0]).ends_with(&text("a")));
        assert!(received(&outboxes[1]).ends_with(&text("b")));
        let both = received(&outboxes[2]);
        assert!(both.contains(&text("a")) && both.ends_with(&text("b")));
    }

    #[test]
    fn the_clients_that_wait_are_woken_some_after_the_other() {
        let hub = Hub::default();
        let identifier = hub.identifier("a");
        let woken = Arc::new(AtomicUsize::new(0));
        let waker = Waker::from(Arc::new(Woken(Arc::clone(&woken))));
        let outboxes = [(); 5].map(|()| Rc::<ClientOutbox>::default());
        for (number, outbox) in (0..).zip(&outboxes) {
            hub.start("chat", &identifier, number, outbox);
            assert!(outbox.poll_ready(&Context::from_waker(&waker)).is_pending());
        }
        let mut first = hub.broadcast("chat", b"1").expect("JSON");
        let second = hub.broadcast("chat", b"2");
        assert!(first.wake(2));
        assert_eq!(woken.load(Ordering::Relaxed), 2);
        drop(second);
        assert_eq!(woken.load(Ordering::Relaxed), 2);
        drop(first);
        assert_eq!(woken.load(Ordering::Relaxed), 5);
    }

    #[test]
    fn nothing_of_a_client_stays_when_it_is_gone() {
        let hub = Hub::default();
        let outbox = Rc::<ClientOutbox>::default();
        let identifier = hub.identifier("a");
        let again = hub.identifier("a");
        assert!(Rc::ptr_eq(&identifier, &again));
        hub.release(&again);
        drop(again);
        let stream = hub.start("chat", &identifier, 1, &outbox);
        let internal = hub.listen("action_cable/1", 1, &outbox);
        assert_eq!(hub.streams(), 1);
        hub.stop(&stream, &identifier, 1);
        hub.stop(&stream, &identifier, 1);
        hub.release(&identifier);
        hub.forget(&internal, 1);
        assert!(hub.streams.borrow().is_empty() && hub.internal.borrow().is_empty());
        assert!(hub.identifiers.borrow().is_empty());
        assert_eq!(Rc::strong_count(&outbox), 1);
    }

    #[test]
    fn the_application_disconnects_a_client_by_its_internal_stream() {
        let hub = Hub::default();
        let outbox = Rc::<ClientOutbox>::default();
        hub.listen("action_cable/1", 1, &outbox);
        let message = br#"{"type":"disconnect","reconnect":false}"#;
        assert!(hub.broadcast("action_cable/1", b"{").is_none());
        hub.broadcast("action_cable/1", br#"{"type":"other"}"#);
        assert!(outbox.is_empty());
        hub.broadcast("action_cable/1", message);
        assert!(received(&outbox).contains(r#""reason":"remote","reconnect":false"#));
        assert!(outbox.has_ended());
    }

    #[test]
    fn what_is_no_json_is_not_broadcast() {
        assert!(Hub::default().broadcast("chat", b"{").is_none());
    }

    #[test]
    fn clients_of_both_protocols_get_their_own_and_what_is_kept_is_shared_with_them() {
        let mut history = BroadcastHistory::new("e".into(), 10, 1 << 20);
        history.expire(100);
        let hub = Hub::with_history(history);
        let identifier = hub.identifier("a");
        let plain = Rc::<ClientOutbox>::default();
        let extended = Rc::new(ClientOutbox::extended());
        hub.start("chat", &identifier, 1, &plain);
        hub.start("chat", &identifier, 2, &extended);
        hub.broadcast("chat", b"[1]");
        assert!(received(&plain).ends_with(r#"{"identifier":"a","message":[1]}"#));
        let end = r#""message":[1],"stream_id":"chat","epoch":"e","offset":1}"#;
        assert!(received(&extended).ends_with(end));
        let request = HistoryRequest::parse(r#"{"since":100}"#).expect("a request");
        let replay = |identifier| {
            let frames = hub.replay(identifier, &["chat".into()], &request, u64::MAX);
            frames.expect("complete").remove(0)
        };
        assert_eq!(Rc::strong_count(&replay("a")), 2);
        let other = replay("b");
        assert!(String::from_utf8_lossy(&other).contains(r#"{"identifier":"b","message":[1],"#));
        assert_eq!(Rc::strong_count(&other), 1);
    }

    #[test]
    fn what_was_sent_to_plain_clients_alone_is_kept_as_it_was_sent() {
        let mut history = BroadcastHistory::new("e".into(), 10, 1 << 20);
        history.expire(100);
        let hub = Hub::with_history(history);
        let plain = Rc::<ClientOutbox>::default();
        let payload = format!("\"{}\"", "x".repeat(300));
        hub.start("chat", &hub.identifier("a"), 1, &plain);
        hub.broadcast("chat", payload.as_bytes());
        let request = HistoryRequest::parse(r#"{"since":1}"#).expect("a request");
        let frames = hub.replay("a", &["chat".into()], &request, u64::MAX);
        let frame = frames.expect("complete").remove(0);
        let text = format!(r#"{{"identifier":"a","message":{payload},"stream_id""#);
        assert!(String::from_utf8_lossy(&frame).contains(&text));
    }
}
