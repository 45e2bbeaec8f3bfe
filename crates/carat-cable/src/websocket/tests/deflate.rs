//! Autobahn's cases 12 and 13: compression. The tests of `MessageCoder` say what a message may
//! consist of.

use super::*;
use crate::DeflateWindow;

const DEFLATED: u8 = 0x40;
const HELLO: &[u8] = b"\xF2\x48\xCD\xC9\xC9\x07\x00";

fn read_deflated(frames: &[Vec<u8>]) -> (Vec<WebSocketEvent>, Option<CloseCode>) {
    let (window, _) = DeflateWindow::negotiate(["permessage-deflate"]).expect("an answer");
    read_frames_by(
        || FrameReader::new(LIMIT).with_deflate(Some(window)),
        frames,
    )
}

fn deflated(message: &[u8]) -> WebSocketEvent {
    WebSocketEvent::Deflated(message.to_vec())
}

#[test]
fn messages_are_compressed_or_not() {
    let frames = [
        frame(FIN | DEFLATED | TEXT, HELLO),
        frame(FIN | TEXT, b"plain"),
        frame(FIN | DEFLATED | TEXT, b""),
    ];
    let events = vec![deflated(HELLO), text("plain"), deflated(b"")];
    assert_eq!(read_deflated(&frames), (events, None));
}

#[test]
fn the_first_fragment_says_so_for_the_message() {
    let frames = [
        frame(DEFLATED | TEXT, &HELLO[..3]),
        frame(FIN | PING, b""),
        frame(CONTINUATION, &HELLO[3..4]),
        frame(FIN, &HELLO[4..]),
        frame(TEXT, b"pl"),
        frame(FIN, b"ain"),
    ];
    let ping = WebSocketEvent::Ping(vec![]);
    let events = vec![ping, deflated(HELLO), text("plain")];
    assert_eq!(read_deflated(&frames), (events, None));
}

#[test]
fn no_other_frame_may_say_so() {
    for first in [FIN, CONTINUATION] {
        for begun in [TEXT, DEFLATED | TEXT] {
            let frames = [frame(begun, b"a"), vec![first | DEFLATED]];
            let error = Some(CloseCode::PROTOCOL_ERROR);
            assert_eq!(read_deflated(&frames), (vec![], error));
        }
    }
    for opcode in [PING, PONG, CLOSE] {
        let (_, error) = read_deflated(&[vec![FIN | DEFLATED | opcode]]);
        assert_eq!(error, Some(CloseCode::PROTOCOL_ERROR));
    }
    for reserved in [0x10, 0x20, 0x30, 0x50, 0x60] {
        let (_, error) = read_deflated(&[vec![FIN | reserved | TEXT]]);
        assert_eq!(error, Some(CloseCode::PROTOCOL_ERROR));
    }
}

#[test]
fn a_compressed_message_has_the_limit_of_others() {
    let (_, error) = read_deflated(&[header(FIN | DEFLATED | TEXT, u64::from(LIMIT) + 1)]);
    assert_eq!(error, Some(CloseCode::MESSAGE_TOO_BIG));
}
