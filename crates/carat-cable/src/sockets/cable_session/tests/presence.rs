use std::time::Instant;

use super::*;

const LOBBY: &str =
    r#"{"subscription": "confirmed", "start": ["a"], "presence": "a", "may_join": true}"#;
const JOIN: &str = r#""presence":{"id":"7","info":{"name":"Ann"}}"#;
const JOINED: &str = r#"{"type":"presence","identifier":"chat","message":{"type":"join","info":{"name":"Ann"},"id":"7"}}"#;
const LEFT: &str = r#""message":{"type":"leave","id":"7"}}"#;
const ERROR: &str = r#"{"type":"presence","identifier":"chat","message":{"type":"error"}}"#;
const NOBODY: &str = r#""message":{"type":"info","total":0}}"#;

impl Client {
    fn says(&mut self, command: &str, more: &str) {
        let text = format!(r#"{{"command":"{command}","identifier":"chat",{more}}}"#);
        self.session.receive(&text);
        assert_eq!(self.session.next_ask(), None);
    }

    /// One in the lobby, who has read the confirmation.
    fn in_lobby() -> Client {
        let client = Client::extended().subscribed(LOBBY);
        client.received();
        client
    }

    /// What it has been told at this time.
    fn told(&self, now: u64) -> String {
        self.hub.tell_presence(now);
        self.received()
    }
}

#[test]
fn a_client_says_who_it_is_and_hears_who_is_there() {
    let mut client = Client::in_lobby();
    let kept = client.session.held_bytes();
    client.says("presence", JOIN);
    assert!(client.received().contains(NOBODY));
    client.says("join", JOIN);
    assert!(client.session.held_bytes() > kept);
    assert!(client.told(1).contains(JOINED));
    client.says("join", r#""presence":{"id":"8"}"#);
    client.says("presence", JOIN);
    let list = r#"{"type":"info","total":1,"records":[{"info":{"name":"Ann"},"id":"7"}]}"#;
    assert!(client.told(2).ends_with(&format!(r#""message":{list}}}"#)));
    client.says("leave", r#""presence":null"#);
    assert!(client.told(3).contains(LEFT));
    assert_eq!(client.session.held_bytes(), kept);
    assert_eq!(client.hub.presence_bytes(), 0);
}

#[test]
fn who_is_present_is_asked_for_only_as_fast_as_the_client_reads() {
    let mut client = Client::in_lobby();
    for _ in 0..5 {
        client.says("presence", JOIN);
    }
    assert_eq!(client.received().matches("info").count(), 1);
}

#[test]
fn a_subscription_may_say_who_is_present_from_then_on_and_its_end_that_he_leaves() {
    let mut client = Client::extended();
    let text = format!(r#"{{"command":"subscribe","identifier":"chat",{JOIN}}}"#);
    client.session.receive(&text);
    assert!(client.session.next_ask().is_some());
    client.finish(LOBBY);
    assert_eq!(client.session.next_ask(), None);
    assert!(client.told(1).contains(JOINED));
    let other = Rc::new(ClientOutbox::extended());
    let plain = Rc::<ClientOutbox>::default();
    let identifier = client.hub.identifier("chat");
    client.hub.start("a", &identifier, (2, &other));
    client.hub.start("a", &identifier, (3, &plain));
    assert!(client.sends("unsubscribe", "chat").is_some());
    client.told(2);
    assert!(!other.is_empty() && plain.is_empty());
}

#[test]
fn a_client_says_nothing_where_its_channel_has_not_asked_for_it() {
    let mut client = Client::extended().subscribed(CONFIRMED);
    client.received();
    for command in ["join", "presence"] {
        client.says(command, JOIN);
        assert!(client.told(1).ends_with(ERROR), "{command}");
    }
    let mut client = Client::in_lobby();
    let long = format!(r#"{{"id":"{}"}}"#, "a".repeat(5000));
    for member in ["null", r#"{"id":7}"#, &long] {
        client.says("join", &format!(r#""presence":{member}"#));
        assert!(client.told(1).ends_with(ERROR), "{member}");
    }
    let mut client = Client::new().subscribed(LOBBY);
    client.received();
    client.says("join", JOIN);
    client.says("presence", JOIN);
    assert_eq!(client.told(1), "");
    assert_eq!(client.hub.presence_bytes(), 0);
}

#[test]
fn the_application_says_who_is_present_and_its_word_is_the_last() {
    let mut client = Client::extended().subscribed(CONFIRMED);
    client.received();
    client.changes(r#"{"join": "{\"id\":\"7\",\"info\":{\"name\":\"Ann\"}}"}"#);
    assert!(client.told(1).contains(JOINED));
    client.says("leave", r#""presence":null"#);
    client.says("join", JOIN);
    assert!(client.told(2).ends_with(ERROR));
    client.changes(r#"{"join": "{\"id\":\"8\"}"}"#);
    let told = client.told(3);
    assert!(told.contains(LEFT) && told.contains(r#"{"type":"join","id":"8"}"#));
    client.changes(r#"{"leave": true}"#);
    assert!(client.told(4).contains(r#"{"type":"leave","id":"8"}"#));
    client.changes(r#"{"join": "{\"id\":\"7\"}", "presence": "b"}"#);
    client.changes(r#"{"stop": ["b"]}"#);
    client.told(5);
    assert_eq!(client.hub.presence_bytes(), 0);
}

#[test]
fn who_comes_back_in_time_has_not_left() {
    let mut client = Client::in_lobby();
    client.says("join", JOIN);
    client.told(100);
    let mut client = client.comes_back();
    client.session.go_on();
    client.received();
    client.hub.tell_presence(115);
    client.says("presence", JOIN);
    assert!(client.told(116).contains(r#""total":1"#));
    let hub = Rc::clone(&client.hub);
    drop(client);
    let witness = Rc::new(ClientOutbox::extended());
    hub.start("a", &hub.identifier("chat"), (9, &witness));
    hub.tell_presence(130);
    assert!(witness.is_empty());
    hub.tell_presence(131);
    assert!(!witness.is_empty());
    assert_eq!(hub.presence_bytes(), 0);
}

#[test]
fn who_is_present_is_so_at_another_edge() {
    let mut client = Client::in_lobby();
    client.says("join", JOIN);
    let (there, now) = (Client::extended().hub, Instant::now());
    let record = client.session.record(now);
    let resumed = Client::resumed(&there, ClientOutbox::default(), record, now);
    assert_eq!(resumed.session.held_bytes(), client.session.held_bytes());
    assert_eq!(there.presence_bytes(), client.hub.presence_bytes());
    assert_eq!(there.tell_presence(1).clients, 0, "all know it");
}

#[test]
fn who_is_away_leaves_at_another_edge_unless_he_comes_back() {
    let mut client = Client::in_lobby();
    client.says("join", JOIN);
    let (there, now) = (Client::extended().hub, Instant::now());
    there.tell_presence(100);
    let record = client.session.keep().record(now);
    KeptSession::resume(&there, 7, record, now);
    let witness = Rc::new(ClientOutbox::extended());
    there.start("a", &there.identifier("chat"), (9, &witness));
    there.tell_presence(114);
    assert!(witness.is_empty());
    assert_eq!(there.tell_presence(115).clients, 1);
    assert_eq!(there.presence_bytes(), 0);
}
