//! The frames of a WebSocket mean the same wherever they are cut, a reader holds no more than has arrived, and whatever a
//! client writes is a command or none. What is compressed is the same text afterward, and no more than the limit.
#![no_main]

use std::collections::BTreeMap;

use carat_cable::{ClientCommand, CloseCode, FrameReader, MessageCoder, WebSocketEvent};
use carat_cable::{CommandResult, DEFLATE_LIMIT, DeflateWindow, HistoryRequest, Payload, message};
use carat_fuzz::Input;
use libfuzzer_sys::fuzz_target;
use serde_json::value::RawValue;

const LIMITS: [u32; 4] = [0, 20, 300, u32::MAX];

/// Bytes of the longest text.
const INFLATED: usize = 20_000;

/// The largest payload of a control frame.
const CONTROL: usize = 125;

type Outcome = (Vec<WebSocketEvent>, Option<CloseCode>);

fn read<'a>(
    (limit, deflate): (u32, Option<DeflateWindow>),
    pieces: impl Iterator<Item = &'a [u8]>,
) -> Outcome {
    let mut reader = FrameReader::new(limit).with_deflate(deflate);
    let (mut events, mut arrived) = (Vec::new(), 0);
    for mut piece in pieces {
        arrived += piece.len();
        loop {
            let next = reader.read(&mut piece);
            assert!(
                reader.held_bytes() <= 2 * arrived.max(CONTROL),
                "more than has arrived"
            );
            assert!(
                reader.held_bytes() <= limit as usize + CONTROL,
                "more than the limit"
            );
            match next {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break,
                Err(code) => {
                    assert_eq!(reader.held_bytes(), 0);
                    return (events, Some(code));
                }
            }
        }
        assert!(piece.is_empty(), "input is left");
    }
    (events, None)
}

/// A text as a client's command, as a broadcast, and as the application's result.
fn check_text(text: &str) {
    let command = ClientCommand::parse(text);
    if let Ok(
        ClientCommand::Subscribe {
            history: Some(history),
            ..
        }
        | ClientCommand::History {
            history: Some(history),
            ..
        },
    ) = &command
    {
        // The client's mistake is no panic.
        let _ = HistoryRequest::parse(history);
    }
    if let Ok(ClientCommand::Subscribe { identifier, .. }) = command {
        let raw: BTreeMap<String, Box<RawValue>> = serde_json::from_str(text).expect("JSON");
        let last: String = serde_json::from_str(raw["identifier"].get()).expect("a string");
        assert_eq!(last, identifier);
    }
    if let Some(payload) = Payload::parse(text.as_bytes()) {
        let message = message(text, &payload);
        let raw: BTreeMap<&str, &RawValue> = serde_json::from_str(&message).expect("JSON");
        let identifier: String = serde_json::from_str(raw["identifier"].get()).expect("a string");
        assert_eq!((raw.len(), &*identifier), (2, text));
        assert_eq!(raw["message"].get(), payload.as_str());
        assert_eq!(payload.as_str(), text.trim_ascii());
    }
    // Neither is an offer that makes no sense.
    let _ = DeflateWindow::negotiate([text]);
    // The application's mistake is no panic.
    let _ = CommandResult::parse(text.as_bytes());
}

/// Bytes as a compressed message.
fn check_inflated(message: &[u8]) {
    let mut coder = MessageCoder::default();
    match coder.inflate(message.to_vec(), INFLATED) {
        Ok(text) => {
            assert!(text.len() <= INFLATED, "a text over the limit");
            if let Some(frame) = coder.frame(text.as_bytes(), &mut DEFLATE_LIMIT.clone()) {
                let header = if frame[1] < 126 { 2 } else { 4 };
                let again = coder.inflate(frame[header..].to_vec(), text.len());
                assert_eq!(again, Ok(text));
            }
        }
        Err(code) => {
            assert!(code == CloseCode::INVALID_PAYLOAD || code == CloseCode::MESSAGE_TOO_BIG);
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::read(data) else {
        return;
    };
    let choice = input.choose(2 * LIMITS.len());
    let limit = LIMITS[choice % LIMITS.len()];
    let deflate = DeflateWindow::negotiate(["permessage-deflate"]).map(|(window, _)| window);
    let reader = (limit, deflate.filter(|_| choice >= LIMITS.len()));
    let whole = read(reader, [input.bytes].into_iter());
    assert_eq!(read(reader, input.pieces()), whole);
    assert_eq!(read(reader, input.bytes.chunks(1)), whole);
    check_inflated(input.bytes);
    for event in &whole.0 {
        match event {
            WebSocketEvent::Text(text) => {
                assert!(text.len() <= limit as usize, "a message over the limit");
                check_text(text);
            }
            WebSocketEvent::Deflated(message) => {
                assert!(reader.1.is_some(), "compression is not negotiated");
                check_inflated(message);
            }
            WebSocketEvent::Ping(payload) => assert!(payload.len() <= CONTROL),
            WebSocketEvent::Close(Some(code)) => {
                assert_eq!(CloseCode::received(code.get()), Some(*code));
            }
            WebSocketEvent::Close(None) | WebSocketEvent::Pong => {}
        }
    }
    if let Ok(text) = std::str::from_utf8(input.bytes) {
        check_text(text);
    }
});
