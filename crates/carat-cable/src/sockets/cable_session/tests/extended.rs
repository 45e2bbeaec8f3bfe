use super::*;
use crate::{BroadcastHistory, SocketEnd};

impl Client {
    /// A client that speaks the extended protocol, and has read its welcome.
    pub(super) fn extended() -> Client {
        let client = Client::welcome();
        client.received();
        client
    }

    fn welcome() -> Client {
        let mut history = BroadcastHistory::new("e".into(), 10, 1 << 20);
        history.expire(100);
        Client::named(&Rc::new(Hub::with_history(history)), "first", None)
    }

    fn named(hub: &Rc<Hub>, name: &str, kept: Option<KeptSession>) -> Client {
        let outbox = Rc::new(ClientOutbox::extended());
        let opened = result(r#"{"connection": "c", "send": ["{\"type\":\"welcome\"}"]}"#);
        let (session, _) = CableSession::open_named(hub, 1, &outbox, opened, &name.into(), kept);
        Client {
            hub: Rc::clone(hub),
            outbox,
            session,
        }
    }

    /// A client that has subscribed, and read the confirmation.
    fn confirmed() -> Client {
        let client = Client::extended().subscribed(CONFIRMED);
        client.received();
        client
    }

    /// Is cut off, and comes back.
    pub(super) fn comes_back(mut self) -> Client {
        assert!(self.session.may_return());
        let kept = self.session.keep();
        let body = self.session.close_body();
        assert!(body.ends_with(r#""subscriptions":[]}"#));
        let hub = Rc::clone(&self.hub);
        drop(self);
        assert_eq!(hub.streams(), 0);
        Client::named(&hub, "second", Some(kept))
    }

    fn asks(&mut self, command: &str, history: &str) -> Option<String> {
        let text = format!(r#"{{"command":"{command}","identifier":"chat","history":{history}}}"#);
        self.session.receive(&text);
        self.session.next_command()
    }
}

#[test]
fn what_was_missed_follows_the_confirmation_and_precedes_what_is_broadcast() {
    let mut client = Client::extended();
    client.hub.broadcast("a", b"1");
    client.hub.broadcast("b", b"2");
    assert!(client.asks("subscribe", r#"{"since":100}"#).is_some());
    assert!(client.session.held_bytes() > r#"{"since":100}"#.len());
    client.hub.broadcast("a", b"3");
    let answer = r#"{"subscription": "confirmed", "start": ["a", "b"], "send": ["yes"],
        "broadcasts": [["a", "4"]]}"#;
    client.finish(answer);
    let received = client.received();
    let parts = ["yes", ":1,", ":2,", ":3,", "confirm_history", ":4,"];
    assert_order(&received, &parts);
    assert_eq!(received.matches("\"message\":4").count(), 1);
}

#[test]
fn messages_are_sent_again_only_as_fast_as_the_client_reads() {
    let mut client = Client::confirmed();
    client.hub.broadcast("a", b"1");
    client.received();
    let position = r#"{"streams":{"a":{"epoch":"e","offset":0}}}"#;
    for _ in 0..100 {
        assert_eq!(client.asks("history", position), None);
    }
    assert!(client.session.is_full());
    assert_eq!(client.received().matches("confirm_history").count(), 1);
    assert_eq!(client.session.next_command(), None);
    assert_eq!(client.received().matches("confirm_history").count(), 1);
}

#[test]
fn what_is_not_kept_any_more_is_said() {
    let mut client = Client::confirmed();
    let other = r#"{"streams":{"a":{"epoch":"other","offset":0}}}"#;
    for (history, kind) in [
        (other, "reject"),
        ("7", "reject"),
        (r#"{"since":100}"#, "confirm"),
    ] {
        client.asks("history", history);
        let received = client.received();
        assert!(received.contains(&format!("{kind}_history")), "{received}");
    }
    client.asks("history", "{}");
    client
        .session
        .receive(r#"{"command":"history","identifier":"other","history":{"since":1}}"#);
    assert_eq!(client.session.next_command(), None);
    assert_eq!(client.received(), "");
}

#[test]
fn a_client_of_the_plain_protocol_asks_in_vain() {
    let mut client = Client::new().subscribed(CONFIRMED);
    client.received();
    let waiting = client.session.held_bytes();
    assert_eq!(client.asks("history", r#"{"since":1}"#), None);
    assert_eq!(client.received(), "");
    assert_eq!(client.session.held_bytes(), waiting);
}

#[test]
fn a_client_that_comes_back_goes_on_and_gets_what_it_missed_once_and_in_order() {
    let mut client = Client::welcome();
    let welcome = r#"{"type":"welcome","sid":"first"}"#;
    assert!(client.received().ends_with(welcome));
    assert!(!client.session.may_return());
    client = client.subscribed(CONFIRMED);
    client.hub.broadcast("a", b"1");
    client.received();
    let held = client.session.held_bytes();
    let hub = Rc::clone(&client.hub);
    hub.broadcast("b", b"2");
    let mut client = client.comes_back();
    assert_eq!(client.session.held_bytes(), held);
    let welcome = r#""sid":"second","restored":true,"restored_ids":["chat"]}"#;
    assert!(client.received().ends_with(welcome));
    hub.broadcast("a", b"3");
    assert!(client.session.is_held() && client.outbox.is_empty());
    let position =
        r#"{"since":100,"streams":{"a":{"epoch":"e","offset":1},"b":{"epoch":"e","offset":0}}}"#;
    client.asks("history", position);
    assert!(!client.session.is_held());
    hub.broadcast("a", b"4");
    let received = client.received();
    assert_order(&received, &[":2,", ":3,", "confirm_history", ":4,"]);
    assert_eq!(received.matches("\"message\":").count(), 3);
    let body = client.sends("message", "chat");
    assert!(body.is_some_and(|body| body.ends_with(r#""state":"s"}"#)));
}

#[test]
fn a_client_that_does_not_ask_goes_on_and_what_it_asks_for_later_ends_there() {
    let client = Client::confirmed();
    let hub = Rc::clone(&client.hub);
    let mut client = client.comes_back();
    hub.broadcast("a", b"1");
    client.received();
    client.session.release_held();
    hub.broadcast("a", b"2");
    let received = client.received();
    assert!(received.find(":1,") < received.find(":2,") && received.contains(":1,"));
    assert!(!client.session.is_held());
    for count in [0, 2] {
        client.asks("history", r#"{"streams":{"a":{"epoch":"e","offset":0}}}"#);
        let received = client.received();
        assert_eq!(received.matches("\"message\":").count(), count);
    }
}

#[test]
fn any_other_command_lets_a_client_that_has_come_back_go_on() {
    let mut client = Client::confirmed().comes_back();
    client.received();
    assert!(client.sends("unsubscribe", "chat").is_some());
    assert!(!client.session.is_held());
    assert_eq!((client.receives("a"), client.hub.streams()), (0, 0));
    client.session.finish(None);
    client.asks("history", r#"{"since":1}"#);
    assert_eq!(client.received(), "");
}

#[test]
fn a_client_that_does_not_know_that_it_has_subscribed_is_told_again() {
    let mut client = Client::confirmed().comes_back();
    client.received();
    client.hub.broadcast("a", b"1");
    assert_eq!(client.asks("subscribe", r#"{"since":100}"#), None);
    let received = client.received();
    assert_order(&received, &["confirm_subscription", ":1,"]);
    assert_eq!(client.receives("a"), 1);
}

#[test]
fn whoever_leaves_or_was_disconnected_does_not_come_back() {
    let mut client = Client::confirmed();
    assert!(client.session.may_return());
    client.session.leave();
    assert!(!client.session.may_return());
    let client = Client::confirmed();
    client.outbox.close(Some("remote"), true);
    assert!(!client.session.may_return());
    let client = Client::confirmed();
    client.outbox.end(SocketEnd::Returned, None);
    assert!(client.session.may_return());
    assert!(!Client::new().subscribed(CONFIRMED).session.may_return());
}

#[test]
fn the_end_of_a_client_that_stays_away_is_that_of_each_subscription() {
    let mut client = Client::confirmed();
    let bodies: Vec<_> = client.session.keep().end_bodies().collect();
    let body = r#"{"command":"unsubscribe","connection":"c","identifier":"chat","state":"s"}"#;
    assert_eq!(bodies, [body]);
}
