//! Autobahn's cases 1 to 4: messages, pings, reserved bits, opcodes.

use super::*;
use crate::{ping_frame, pong_frame, text_frame};

/// Lengths around those at which a header grows.
const LENGTHS: [usize; 9] = [0, 1, 125, 126, 127, 128, 65_535, 65_536, 100_000];

#[test]
fn a_text_of_any_length_arrives() {
    for length in LENGTHS {
        let payload = "*".repeat(length);
        let found = events(&[frame(FIN | TEXT, payload.as_bytes())]);
        assert_eq!(found, [text(&payload)]);
    }
}

#[test]
fn a_text_of_any_length_is_sent_in_one_frame_without_a_mask() {
    for length in LENGTHS {
        let payload = "*".repeat(length);
        let mut header = header(FIN | TEXT, length as u64);
        header.truncate(header.len() - MASK.len());
        header[1] &= 0x7F;
        let frame = text_frame(&payload);
        assert_eq!(frame, [header, payload.into_bytes()].concat());
        assert_eq!(frame.capacity(), frame.len());
    }
}

#[test]
fn a_binary_message_is_read_as_a_text() {
    let frames = [frame(BINARY, b"{\"a\""), frame(FIN, b":1}")];
    assert_eq!(events(&frames), [text("{\"a\":1}")]);
    assert_eq!(events(&[frame(FIN | BINARY, b"[]")]), [text("[]")]);
    assert_error(&[frame(FIN | BINARY, b"\xff")], CloseCode::INVALID_PAYLOAD);
    let header = header(BINARY, u64::from(LIMIT) + 1);
    assert_error(&[header], CloseCode::MESSAGE_TOO_BIG);
}

#[test]
fn a_ping_has_its_payload_back() {
    for payload in [
        &b""[..],
        b"Hello, world!",
        b"\x00\xff\xfe\xfd",
        &[0xFE; 125],
    ] {
        let pings = [frame(FIN | PING, payload), frame(FIN | PING, payload)];
        let event = WebSocketEvent::Ping(payload.to_vec());
        assert_eq!(events(&pings), [event.clone(), event]);
        let length = u8::try_from(payload.len()).expect("a control frame");
        assert_eq!(pong_frame(payload), [&[0x8A, length], payload].concat());
        assert_eq!(ping_frame(payload), [&[0x89, length], payload].concat());
    }
    assert_eq!(pong_frame(&[0; 126]), pong_frame(&[0; 125]));
}

#[test]
fn a_pong_that_nobody_asked_for_is_no_mistake() {
    let frames = [
        frame(FIN | PONG, b""),
        frame(FIN | PONG, b"unasked"),
        frame(FIN | PING, b"p"),
    ];
    let pong = WebSocketEvent::Pong;
    assert_eq!(
        events(&frames),
        [pong.clone(), pong, WebSocketEvent::Ping(b"p".to_vec())]
    );
}

#[test]
fn a_control_frame_over_125_bytes_is_refused_at_its_header() {
    for opcode in [PING, PONG, CLOSE] {
        for length in [126, 65_536] {
            assert_error(&[header(FIN | opcode, length)], CloseCode::PROTOCOL_ERROR);
        }
    }
}

#[test]
fn a_reserved_bit_is_refused() {
    for reserved in 1..8 {
        for opcode in [TEXT, CONTINUATION, CLOSE, PING, PONG] {
            let first = FIN | reserved << 4 | opcode;
            let frames = [frame(FIN | TEXT, b"before"), vec![first]];
            assert_eq!(
                read_frames(&frames),
                (vec![text("before")], Some(CloseCode::PROTOCOL_ERROR))
            );
        }
    }
}

#[test]
fn a_reserved_opcode_is_refused() {
    for opcode in (3..8).chain(11..16) {
        let frames = [frame(FIN | TEXT, b"before"), vec![FIN | opcode]];
        assert_eq!(
            read_frames(&frames),
            (vec![text("before")], Some(CloseCode::PROTOCOL_ERROR))
        );
    }
}

#[test]
fn a_frame_without_a_mask_is_refused() {
    assert_error(&[text_frame("hello")], CloseCode::PROTOCOL_ERROR);
    assert_error(&[ping_frame(b"")], CloseCode::PROTOCOL_ERROR);
}

#[test]
fn a_length_with_more_bytes_than_it_needs_is_refused() {
    for header in [
        &[FIN | TEXT, 0xFE, 0, 125][..],
        &[FIN | TEXT, 0xFF, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF],
    ] {
        assert_error(&[header.to_vec()], CloseCode::PROTOCOL_ERROR);
    }
}
