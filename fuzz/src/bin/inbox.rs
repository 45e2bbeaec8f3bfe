//! An inbox hands out the frames that are in the bytes, or the same refusal, however they arrive.
#![no_main]

use std::io::Write;
use std::os::unix::net::UnixStream;

use carat_fuzz::Input;
use carat_link::{Fill, Inbox};
use carat_wire::{Frame, Kind, Malformed};
use libfuzzer_sys::fuzz_target;

type Frames = Vec<(Kind, Vec<u8>)>;

/// What is in the bytes, frame by frame.
fn expected(mut bytes: &[u8]) -> (Frames, Option<Malformed>) {
    let mut frames = Frames::new();
    loop {
        match Frame::first(bytes) {
            Ok(Some(frame)) => {
                frames.push((frame.kind, frame.payload.to_vec()));
                bytes = &bytes[frame.size()..];
            }
            Ok(None) => return (frames, None),
            Err(refusal) => return (frames, Some(refusal)),
        }
    }
}

/// Takes all whole frames; the refusal if the next one is malformed.
fn take(inbox: &mut Inbox, frames: &mut Frames) -> Option<Malformed> {
    loop {
        match inbox.frames.next() {
            Ok(Some(frame)) => frames.push((frame.kind, frame.payload.to_vec())),
            Ok(None) => return None,
            Err(refusal) => return Some(refusal),
        }
    }
}

fn received<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> (Frames, Option<Malformed>) {
    let (mut near, far) = UnixStream::pair().expect("a socket pair");
    let (mut inbox, mut frames) = (Inbox::default(), Frames::new());
    for piece in pieces {
        near.write_all(piece).expect("a piece fits into a socket");
        let fill = inbox.fill(&far).expect("an open socket");
        assert!(matches!(fill, Fill::Bytes { count, .. } if count == piece.len()));
        if let Some(refusal) = take(&mut inbox, &mut frames) {
            return (frames, Some(refusal));
        }
    }
    assert_eq!(inbox.fill(&far).expect("an open socket"), Fill::Blocked);
    drop(near);
    assert_eq!(inbox.fill(&far).expect("a socket"), Fill::Closed);
    (frames, None)
}

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::read(data) else {
        return;
    };
    let expected = expected(input.bytes);
    assert_eq!(received(input.pieces()), expected);
    assert_eq!(received(input.bytes.chunks(4096)), expected);
});
