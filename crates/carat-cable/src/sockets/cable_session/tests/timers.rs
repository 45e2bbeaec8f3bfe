use std::time::{Duration, Instant};

use super::super::channel_timer::TIMERS_LIMIT;
use super::*;

const TIMED: &str = r#"{"subscription": "confirmed", "start": ["a"], "timers": [1000, 60000]}"#;

/// A client, and the clock.
struct Timed(Client, Instant);

impl Timed {
    fn new(json: &str) -> Timed {
        let mut timed = Timed(Client::new().subscribed(json), Instant::now());
        timed.after(0);
        timed
    }

    /// Lets this many milliseconds pass. Returns how many pass until a timer is due next.
    fn after(&mut self, milliseconds: u64) -> Option<u128> {
        self.1 += Duration::from_millis(milliseconds);
        let next = self.0.session.pass_time(self.1);
        next.map(|next| (next - self.1).as_millis())
    }

    /// Carries out the next command of a timer. Returns the number of the timer.
    fn next(&mut self) -> Option<usize> {
        let body = self.0.session.next_command()?;
        self.0.session.finish(Some(CommandResult::default()));
        let body: serde_json::Value = serde_json::from_str(&body).expect("a body");
        usize::try_from(body["timer"].as_u64()?).ok()
    }
}

#[test]
fn a_timer_is_a_command_each_time_that_it_is_due() {
    let mut client = Timed::new(TIMED);
    assert_eq!((client.after(999), client.next()), (Some(1), None));
    assert_eq!(client.after(1), Some(1000));
    let body = client.0.session.next_command();
    let json = r#"{"command":"timer","connection":"c","identifier":"chat","timer":0,"every":1000,"state":null}"#;
    assert_eq!(body.as_deref(), Some(json));
    client.0.finish(r#"{"state": "s"}"#);
    assert_eq!((client.next(), client.after(1000)), (None, Some(1000)));
    let body = client.0.session.next_command();
    assert!(body.is_some_and(|body| body.ends_with(r#""state":"s"}"#)));
}

#[test]
fn a_command_of_a_timer_that_waits_is_not_doubled() {
    let mut client = Timed::new(TIMED);
    client.0.sends("message", "chat").expect("a command");
    for _ in 0..70 {
        client.after(1000);
    }
    client.0.session.finish(None);
    // The timer that has waited for longest is first.
    assert_eq!([(); 3].map(|()| client.next()), [Some(0), Some(1), None]);
    assert_eq!(client.after(500), Some(500));
    client.after(100_000);
    assert_eq!([(); 3].map(|()| client.next()), [Some(0), Some(1), None]);
    assert_eq!(client.after(0), Some(1000));
}

#[test]
fn timers_and_the_client_take_turns() {
    let mut client = Timed::new(r#"{"subscription": "confirmed", "timers": [1000, 1000]}"#);
    for _ in 0..2 {
        let text = r#"{"command":"message","identifier":"chat","data":"d"}"#;
        client.0.session.receive(text);
    }
    client.after(1000);
    assert_eq!([(); 2].map(|()| client.next()), [Some(0), None]);
    client.after(1000);
    let turns = [(); 4].map(|()| client.next());
    assert_eq!(turns, [Some(1), None, Some(0), None]);
    assert!(!client.0.session.is_running());
}

#[test]
fn timers_end_with_their_subscription_or_when_the_application_says_so() {
    let mut client = Timed::new(r#"{"subscription": "confirmed"}"#);
    let kept = client.0.session.held_bytes();
    client.0.changes(r#"{"timers": []}"#);
    assert_eq!(client.after(0), None);
    client.0.changes(r#"{"timers": [5000]}"#);
    assert!(client.0.session.held_bytes() > kept);
    assert_eq!(client.after(0), Some(5000));
    client.0.changes(r#"{"timers": [7000]}"#);
    assert_eq!(client.after(0), Some(7000));
    client.0.changes(r#"{"timers": []}"#);
    assert_eq!(client.after(10_000), None);
    assert_eq!(client.0.session.held_bytes(), kept);
    client.0.changes(r#"{"timers": [5000]}"#);
    client.after(0);
    client.0.sends("unsubscribe", "chat").expect("a command");
    client.0.finish(r#"{"timers": []}"#);
    assert_eq!((client.after(10_000), client.next()), (None, None));
    let rejected = Timed::new(r#"{"subscription": "rejected", "timers": [1000]}"#);
    let new = Client::new().session.held_bytes();
    assert_eq!(rejected.0.session.held_bytes(), new);
}

#[test]
fn timers_have_bounds() {
    let many = vec!["0"; 100].join(",");
    let json = format!(r#"{{"subscription": "confirmed", "timers": [{many}]}}"#);
    let mut client = Timed::new(&json);
    assert_eq!(client.after(0), Some(100));
    client.after(100);
    assert_eq!((0..100).filter_map(|_| client.next()).count(), TIMERS_LIMIT);
    let forever = format!(r#"{{"timers": [{}]}}"#, u64::MAX);
    client.0.changes(&forever);
    client.after(0);
    client.after(1000);
    assert_eq!(client.next(), None);
}
