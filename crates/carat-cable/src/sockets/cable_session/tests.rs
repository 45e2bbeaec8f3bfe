use super::*;
use crate::{SESSION_LIMIT, SocketLimits};

struct Client {
    hub: Rc<Hub>,
    outbox: Rc<ClientOutbox>,
    session: CableSession,
}

impl Client {
    fn new() -> Client {
        Client::opened(r#"{"connection": "c", "internal": "action_cable/c"}"#)
    }

    fn opened(json: &str) -> Client {
        Client::on(&Rc::default(), 1, json)
    }

    fn on(hub: &Rc<Hub>, number: SocketNumber, json: &str) -> Client {
        let outbox = Rc::<ClientOutbox>::default();
        let (session, _) = CableSession::open(hub, number, &outbox, result(json));
        Client {
            hub: Rc::clone(hub),
            outbox,
            session,
        }
    }

    fn finish(&mut self, json: &str) {
        self.session.finish(Some(result(json)));
    }

    /// A command of the channel has this result.
    fn changes(&mut self, json: &str) {
        assert!(self.sends("message", "chat").is_some());
        self.finish(json);
    }

    /// Neither streams nor subscriptions are left.
    fn has_nothing(&self) -> bool {
        self.hub.streams() == 0 && self.session.subscriptions() == 0
    }

    fn sends(&mut self, command: &str, identifier: &str) -> Option<String> {
        let text = format!(r#"{{"command":"{command}","identifier":"{identifier}","data":"d"}}"#);
        self.session.receive(&text);
        self.session.next_command()
    }

    fn subscribed(mut self, json: &str) -> Client {
        assert!(self.sends("subscribe", "chat").is_some());
        self.finish(json);
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

/// All parts were received, in this order.
#[track_caller]
fn assert_order(received: &str, parts: &[&str]) {
    let places: Vec<_> = parts.iter().map(|part| received.find(part)).collect();
    let are_there = places.iter().all(Option::is_some);
    assert!(are_there && places.is_sorted(), "{received}");
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
    client.finish(r#"{"state": null}"#);
    let body = client.sends("unsubscribe", "chat");
    assert!(body.is_some_and(|body| body.ends_with(r#""state":null}"#)));
    assert!(client.has_nothing());
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
    client.finish(CONFIRMED);
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
        assert!(client.has_nothing());
        assert_eq!(client.sends("message", "chat"), None);
    }
}

#[test]
fn a_channel_may_confirm_later_or_refuse_after_all() {
    let pending = r#"{"subscription": "pending", "start": ["a"]}"#;
    let mut client = Client::new().subscribed(pending);
    assert!(client.sends("message", "chat").is_some());
    client.finish(r#"{"subscription": "confirmed", "connection": "d"}"#);
    assert_eq!(client.receives("a"), 1);
    let body = client.sends("message", "chat");
    assert!(body.is_some_and(|body| body.contains(r#""connection":"d""#)));
    client.finish(r#"{"subscription": "rejected"}"#);
    assert!(client.has_nothing());
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
        client.changes(json);
        let reached = ["a", "b", "c"].map(|stream| client.receives(stream));
        assert_eq!(reached, expected);
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
    let streams = streams.join(",");
    let many = format!(r#"{{"subscription": "confirmed", "start": [{streams}]}}"#);
    let client = Client::new().subscribed(&many);
    let streams = client.hub.streams();
    assert!((1000..=SESSION_LIMIT / ENTRY_COST).contains(&streams));
    let reason = r#""reason":"too_many_subscriptions""#;
    assert!(client.received().contains(reason));
}

#[test]
fn what_clients_subscribe_to_alike_is_held_once_and_each_has_a_share() {
    let identifier = "x".repeat(1000);
    let confirmed = r#"{"subscription": "confirmed", "start": ["room"]}"#;
    let subscribe = |client: &mut Client| {
        assert!(client.sends("subscribe", &identifier).is_some());
        client.finish(confirmed);
    };
    let mut first = Client::new();
    subscribe(&mut first);
    let alone = first.session.held_bytes();
    let mut second = Client::on(
        &first.hub,
        2,
        r#"{"connection": "c", "internal": "action_cable/c"}"#,
    );
    subscribe(&mut second);
    let shares = [first.session.held_bytes(), second.session.held_bytes()];
    assert_eq!(shares, [alone - 502; 2]);
    drop(second);
    assert_eq!(first.session.held_bytes(), alone);
}

#[test]
fn where_there_is_little_memory_a_client_gets_less_of_it() {
    let mut client = Client::new();
    client.hub.set_limits(SocketLimits::of(1 << 20));
    let limit = client.hub.limits().session;
    let mut bytes = 0;
    while client
        .sends("subscribe", &format!("{bytes:01000}"))
        .is_some()
    {
        client.finish(r#"{"subscription": "confirmed"}"#);
        bytes = client.session.held_bytes();
    }
    assert!((limit - 1200..=limit).contains(&bytes), "{bytes}");
}

#[test]
fn the_end_of_a_client_names_its_subscriptions_and_leaves_nothing() {
    let client = Client::new().subscribed(CONFIRMED);
    let json = r#"{"command":"close","connection":"c","subscriptions":[{"identifier":"chat","state":"s"}]}"#;
    assert_eq!(client.session.close_body(), json);
    drop(client.session);
    assert_eq!(client.hub.streams(), 0);
    assert_eq!(Rc::strong_count(&client.outbox), 1);
}

#[test]
fn what_a_command_broadcasts_leaves_with_its_result() {
    let mut client = Client::new().subscribed(CONFIRMED);
    assert!(client.sends("message", "chat").is_some());
    let json = r#"{"send": ["own"], "broadcasts": [["a", "[7]"]], "close": {"reason": null, "reconnect": false}}"#;
    let reached = client.session.finish(Some(result(json)));
    assert_eq!((reached.clients, reached.slow), (1, 0));
    let received = client.received();
    assert_order(&received, &["own", "[7]", r#""type":"disconnect""#]);
    assert!(client.outbox.has_ended());
}

#[test]
fn a_stream_that_the_application_has_signed_needs_no_command() {
    let mut client = Client::opened(r#"{"connection": "c", "turbo": {"key": "736563726574"}}"#);
    let name = "IloybGtPaTh2YzJodmNDOVNiMjl0THpFOm1lc3NhZ2VzIg==";
    let signed =
        format!("{name}--dbd8ed2506779c312a0d26997981588d5909b29a3054e22a14074b131499a72e");
    let identifier =
        format!(r#"{{\"channel\":\"Turbo::StreamsChannel\",\"signed_stream_name\":\"{signed}\"}}"#);
    assert_eq!(client.sends("subscribe", &identifier), None);
    assert!(client.received().contains("confirm_subscription"));
    assert_eq!(client.receives("Z2lkOi8vc2hvcC9Sb29tLzE:messages"), 1);
    let json = r#"{"command":"close","connection":"c","subscriptions":[]}"#;
    assert_eq!(client.session.close_body(), json);
    assert_eq!(client.sends("unsubscribe", &identifier), None);
    assert!(client.has_nothing() && !client.session.is_running());
    let forged = identifier.replace("--d", "--e");
    assert!(client.sends("subscribe", &forged).is_some());
}

mod extended;
mod timers;
