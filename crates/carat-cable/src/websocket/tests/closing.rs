//! Autobahn's cases 7: close frames.

use super::*;
use crate::close_frame;

fn close(code: u16, reason: &[u8]) -> Vec<Vec<u8>> {
    let payload = [&code.to_be_bytes(), reason].concat();
    vec![
        frame(FIN | CLOSE, &payload),
        frame(FIN | TEXT, b"later"),
        b"anything".to_vec(),
    ]
}

#[test]
fn nothing_counts_after_a_close() {
    let frames = [close(1000, b""), close(1001, b"")].concat();
    let found = events(&frames);
    assert_eq!(found, [WebSocketEvent::Close(Some(CloseCode::NORMAL))]);
    let frames = [frame(FIN | CLOSE, b""), frame(FIN | PING, b"")];
    assert_eq!(events(&frames), [WebSocketEvent::Close(None)]);
}

#[test]
fn a_code_that_may_be_sent_is_sent_back() {
    for code in [
        1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 1014, 3000, 3999, 4000, 4999,
    ] {
        for reason in ["", "Hello World!", &"*".repeat(123)] {
            let received = CloseCode::received(code).expect("a code");
            let event = WebSocketEvent::Close(Some(received));
            assert_eq!(events(&close(code, reason.as_bytes())), [event]);
            assert_eq!(received.get(), code);
            assert_eq!(close_frame(Some(received), "")[2..], code.to_be_bytes());
        }
    }
}

#[test]
fn a_code_that_is_never_sent_is_refused() {
    for code in [
        0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65_535,
    ] {
        assert_error(&close(code, b""), CloseCode::PROTOCOL_ERROR);
    }
}

#[test]
fn half_a_code_is_refused() {
    assert_error(&[frame(FIN | CLOSE, b"\x03")], CloseCode::PROTOCOL_ERROR);
}

#[test]
fn a_reason_that_is_not_utf8_is_refused() {
    for reason in [&b"\xce\xba\xed\xa0\x80"[..], b"\xff", b"cut \xc3"] {
        assert_error(&close(1000, reason), CloseCode::INVALID_PAYLOAD);
    }
}

#[test]
fn a_long_reason_is_cut_between_characters() {
    let frame = close_frame(Some(CloseCode::NORMAL), &"é".repeat(100));
    assert_eq!(frame[..4], [0x88, 124, 0x03, 0xE8]);
    assert_eq!(frame[4..], *"é".repeat(61).as_bytes());
    assert_eq!(close_frame(None, "unsent"), [0x88, 0]);
}
