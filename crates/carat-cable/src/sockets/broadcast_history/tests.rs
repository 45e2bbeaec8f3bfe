use super::*;

fn history(limit: usize) -> BroadcastHistory {
    let mut history = BroadcastHistory::new("e".into(), 10, limit);
    history.expire(100);
    history
}

fn position(stream: &str, offset: u64, since: Option<u64>) -> HistoryRequest {
    let position = format!(r#"{{"streams":{{"{stream}":{{"epoch":"e","offset":{offset}}}}}}}"#);
    let request = HistoryRequest::parse(&position).expect("a request");
    HistoryRequest { since, ..request }
}

fn since(since: u64) -> HistoryRequest {
    HistoryRequest {
        since: Some(since),
        ..HistoryRequest::default()
    }
}

/// The payloads, which are numbers.
fn missed(
    history: &BroadcastHistory,
    streams: &[&str],
    request: &HistoryRequest,
) -> Option<Vec<u64>> {
    let streams: Vec<Rc<str>> = streams.iter().map(|&stream| stream.into()).collect();
    let frames = history.replay("i", &streams, request, u64::MAX)?;
    let number = |frame: &Rc<[u8]>| {
        let text = String::from_utf8_lossy(frame).into_owned();
        let (_, rest) = text.split_once(r#""message":"#).expect("a message");
        rest.split(',')
            .next()
            .and_then(|number| number.parse().ok())
    };
    Some(
        frames
            .iter()
            .map(|frame| number(frame).expect("a number"))
            .collect(),
    )
}

#[track_caller]
fn assert_missed(
    history: &BroadcastHistory,
    stream: &str,
    request: &HistoryRequest,
    expected: Option<&[u64]>,
) {
    assert_eq!(missed(history, &[stream], request).as_deref(), expected);
}

#[test]
fn a_client_gets_what_came_after_its_position_in_the_order_of_the_broadcasts() {
    let mut history = history(1 << 20);
    for (stream, number) in [("a", "1"), ("b", "2"), ("a", "3"), ("c", "4"), ("b", "5")] {
        history.keep_payload(stream, number.as_bytes());
    }
    assert_missed(&history, "a", &position("a", 1, None), Some(&[3]));
    assert_missed(&history, "a", &position("a", 3, None), Some(&[]));
    let both = missed(&history, &["b", "a"], &position("a", 1, Some(100)));
    assert_eq!(both, Some(vec![2, 3, 5]));
    let until = history.replay("i", &["a".into()], &position("a", 0, None), 1);
    assert_eq!(until.map(|frames| frames.len()), Some(1));
}

#[test]
fn a_position_of_another_server_or_of_the_future_is_unknown() {
    let mut history = history(1 << 20);
    history.keep_payload("a", b"1");
    assert_missed(&history, "a", &position("a", 2, Some(100)), None);
    let mut other = position("a", 1, Some(100));
    other.streams.get_mut("a").expect("a stream").epoch = "f".into();
    assert_eq!(missed(&history, &["a"], &other), None);
}

#[test]
fn a_time_stands_for_all_that_was_broadcast_since() {
    let mut history = history(1 << 20);
    for (now, number) in [(100, "1"), (101, "2"), (102, "3")] {
        history.expire(now);
        history.keep_payload("a", number.as_bytes());
    }
    assert_missed(&history, "a", &since(101), Some(&[2, 3]));
    assert_missed(&history, "a", &since(1), Some(&[1, 2, 3]));
    assert_missed(&history, "other", &since(1), Some(&[]));
    history.expire(111);
    assert_missed(&history, "a", &since(101), Some(&[2, 3]));
    assert_missed(&history, "a", &since(100), None);
}

#[test]
fn what_is_too_old_is_forgotten_and_said_to_be() {
    let mut history = history(1 << 20);
    history.keep_payload("a", b"1");
    history.keep_payload("b", b"2");
    history.expire(105);
    history.keep_payload("b", b"3");
    history.expire(111);
    assert_missed(&history, "b", &position("b", 2, None), Some(&[3]));
    assert_missed(&history, "b", &position("b", 1, None), None);
    // The history has forgotten the stream, but until a moment ago the client had all of its
    // messages.
    assert_missed(&history, "a", &position("a", 1, Some(104)), Some(&[]));
    assert_missed(&history, "a", &position("a", 0, None), None);
    history.expire(200);
    assert_eq!((history.held_bytes(), history.streams.len()), (0, 0));
}

#[test]
fn a_stream_that_begins_again_does_not_pretend_to_be_complete() {
    let mut history = history(1 << 20);
    history.keep_payload("a", b"1");
    history.keep_payload("a", b"2");
    history.expire(111);
    history.keep_payload("a", b"3");
    assert_missed(&history, "a", &position("a", 1, None), None);
    assert_missed(&history, "a", &position("a", 2, None), Some(&[3]));
}

#[test]
fn all_that_is_kept_is_bounded_and_the_oldest_goes() {
    let mut history = history(10_000);
    for number in 0..100_u64 {
        history.keep_payload(&format!("s{}", number % 50), &[b'1'; 1000]);
        assert!(history.held_bytes() <= 10_000);
    }
    assert!(history.messages.len() >= 5);
    assert_missed(&history, "s0", &position("s0", 51, Some(100)), None);
    assert_missed(&history, "s0", &since(100), None);
    history.keep_payload("large", &vec![b'1'; 20_000]);
    assert_eq!((history.held_bytes(), history.messages.len()), (0, 0));
}

#[test]
fn one_stream_has_a_bound_of_its_own() {
    let mut history = history(usize::MAX);
    history.keep_payload("quiet", b"1");
    for _ in 0..500 {
        history.keep_payload("busy", &[&b"1,"[..], &[b' '; 1000]].concat());
    }
    assert!(history.held_bytes() <= STREAM_HISTORY_LIMIT + 1000);
    assert_missed(&history, "quiet", &since(100), Some(&[1]));
    assert_missed(&history, "busy", &position("busy", 2, None), None);
    assert!(missed(&history, &["busy"], &position("busy", 500, None)).is_some());
    history.keep_payload("huge", &vec![b'1'; STREAM_HISTORY_LIMIT]);
    assert_missed(&history, "huge", &since(100), None);
}

#[test]
fn more_than_a_client_may_be_sent_at_once_is_refused() {
    let mut history = history(usize::MAX);
    for stream in ["a", "b"] {
        for _ in 0..100 {
            history.keep_payload(stream, &[b'1'; 1000]);
        }
    }
    let streams = ["a".into(), "b".into()];
    assert!(
        history
            .replay("i", &streams[..1], &since(100), u64::MAX)
            .is_some()
    );
    assert!(
        history
            .replay("i", &streams, &since(100), u64::MAX)
            .is_none()
    );
}
