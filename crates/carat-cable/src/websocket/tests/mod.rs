//! The cases of Autobahn's test suite, with its numbers, as far as they concern the server's side
//! and texts.

mod closing;
mod deflate;
mod fragments;
mod frames;
mod memory;
mod texts;

use crate::{CloseCode, FrameReader, WebSocketEvent};

const FIN: u8 = 0x80;
const CONTINUATION: u8 = 0;
const TEXT: u8 = 1;
const BINARY: u8 = 2;
const CLOSE: u8 = 8;
const PING: u8 = 9;
const PONG: u8 = 10;

const LIMIT: u32 = 1 << 20;
const MASK: [u8; 4] = [0xA5, 0x5A, 0x0F, 0xF0];

/// A frame of a client.
fn frame(first: u8, payload: &[u8]) -> Vec<u8> {
    let masked = payload.iter().zip(MASK.iter().cycle());
    [
        header(first, payload.len() as u64),
        masked.map(|(byte, mask)| byte ^ mask).collect(),
    ]
    .concat()
}

/// The header of such a frame, with the mask.
fn header(first: u8, length: u64) -> Vec<u8> {
    let bytes = length.to_be_bytes();
    let (short, long) = match length {
        0..=125 => (bytes[7], &bytes[8..]),
        126..=0xFFFF => (126, &bytes[6..]),
        _ => (127, &bytes[..]),
    };
    [&[first, 0x80 | short], long, &MASK].concat()
}

fn text(text: &str) -> WebSocketEvent {
    WebSocketEvent::Text(text.to_string())
}

/// The events that a reader makes of the pieces, and the error.
fn read<'a>(
    mut reader: FrameReader,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> (Vec<WebSocketEvent>, Option<CloseCode>) {
    let mut events = Vec::new();
    for mut piece in pieces {
        loop {
            match reader.read(&mut piece) {
                Ok(Some(event)) => events.push(event),
                Ok(None) => break,
                Err(code) => return (events, Some(code)),
            }
        }
        assert_eq!(piece, b"", "bytes are left");
    }
    (events, None)
}

fn read_frames(frames: &[Vec<u8>]) -> (Vec<WebSocketEvent>, Option<CloseCode>) {
    read_frames_by(|| FrameReader::new(LIMIT), frames)
}

/// The events of these frames, which are the same wherever the frames are cut.
fn read_frames_by(
    reader: impl Fn() -> FrameReader,
    frames: &[Vec<u8>],
) -> (Vec<WebSocketEvent>, Option<CloseCode>) {
    let bytes = frames.concat();
    let whole = read(reader(), [&bytes[..]].into_iter());
    assert_eq!(read(reader(), bytes.chunks(1)), whole);
    assert_eq!(read(reader(), frames.iter().map(|frame| &frame[..])), whole);
    whole
}

fn events(frames: &[Vec<u8>]) -> Vec<WebSocketEvent> {
    let (events, error) = read_frames(frames);
    assert_eq!(error, None);
    events
}

#[track_caller]
fn assert_error(frames: &[Vec<u8>], code: CloseCode) {
    assert_eq!(read_frames(frames).1, Some(code), "{frames:?}");
}
