//! Autobahn's cases 5: fragments.

use super::*;

#[test]
fn a_control_frame_in_fragments_is_refused() {
    for opcode in [PING, PONG, CLOSE] {
        assert_error(&[vec![opcode]], CloseCode::PROTOCOL_ERROR);
    }
}

#[test]
fn fragments_are_joined() {
    let frames = [
        frame(TEXT, b"frag"),
        frame(CONTINUATION, b"ment"),
        frame(FIN, b"s"),
    ];
    assert_eq!(events(&frames), [text("fragments")]);
    let empty = [frame(TEXT, b""), frame(CONTINUATION, b""), frame(FIN, b"")];
    let found = events(&[&empty[..], &frames[..], &empty[..]].concat());
    assert_eq!(found, [text(""), text("fragments"), text("")]);
    let middle = [
        frame(TEXT, b""),
        frame(CONTINUATION, b"middle"),
        frame(FIN, b""),
    ];
    assert_eq!(events(&middle), [text("middle")]);
}

#[test]
fn control_frames_between_fragments_arrive_at_once() {
    let frames = [
        frame(TEXT, b""),
        frame(FIN | PING, b"first"),
        frame(CONTINUATION, b"frag"),
        frame(FIN | PONG, b"pong"),
        frame(FIN | PING, b""),
        frame(CONTINUATION, b"me"),
        frame(FIN | PING, &[7; 125]),
        frame(FIN, b"nt"),
        frame(FIN | TEXT, b"next"),
    ];
    let pings = [b"first".to_vec(), vec![], vec![7; 125]].map(WebSocketEvent::Ping);
    let [first, second, third] = pings;
    let expected = [
        first,
        WebSocketEvent::Pong,
        second,
        third,
        text("fragment"),
        text("next"),
    ];
    assert_eq!(events(&frames), expected);
}

#[test]
fn a_client_may_close_between_fragments() {
    let frames = [
        frame(TEXT, b"frag"),
        frame(FIN | CLOSE, &[]),
        frame(FIN, b"ment"),
    ];
    assert_eq!(events(&frames), [WebSocketEvent::Close(None)]);
}

#[test]
fn a_continuation_of_nothing_is_refused() {
    for first in [CONTINUATION, FIN | CONTINUATION] {
        assert_error(&[frame(first, b"")], CloseCode::PROTOCOL_ERROR);
        let after = [frame(TEXT, b"a"), frame(FIN, b"b"), vec![first]];
        let found = read_frames(&after);
        assert_eq!(found, (vec![text("ab")], Some(CloseCode::PROTOCOL_ERROR)));
    }
}

#[test]
fn a_message_within_a_message_is_refused() {
    for opcode in [TEXT, FIN | TEXT, BINARY, FIN | BINARY] {
        for begun in ["", "begun"] {
            let frames = [frame(TEXT, begun.as_bytes()), vec![opcode]];
            assert_error(&frames, CloseCode::PROTOCOL_ERROR);
        }
    }
}
