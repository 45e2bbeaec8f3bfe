//! The guard finds the same messages, or the same refusal, however the bytes are cut; and hyper's
//! parser agrees about each message that it passes.
#![no_main]

use carat_fuzz::{Body, ChunkedBody, Input, Message};
use carat_guard::{Guard, GuardError, HeaderLimits, MessagePosition};
use libfuzzer_sys::fuzz_target;

const LIMITS: [HeaderLimits; 2] = [
    HeaderLimits {
        max_header_bytes: 64 * 1024,
        max_headers: 100,
        max_uri: 16 * 1024,
    },
    // Seeds reach these.
    HeaderLimits {
        max_header_bytes: 120,
        max_headers: 4,
        max_uri: 24,
    },
];

/// What was passed at once, and what the connection waits for then. The pieces of a body count as one.
#[derive(Debug, PartialEq, Eq)]
struct Passed {
    end: usize,
    then: MessagePosition,
    higher_minor: Option<usize>,
}

#[derive(Debug, PartialEq, Eq)]
struct Framing {
    passed: Vec<Passed>,
    position: MessagePosition,
    refusal: Option<GuardError>,
}

/// Offers pieces as a connection does, which keeps what was not passed.
fn frame<'a>(
    limits: HeaderLimits,
    bytes: &[u8],
    pieces: impl Iterator<Item = &'a [u8]>,
) -> Framing {
    let mut guard = Guard::new(limits);
    let (mut received, mut start) = (0, 0);
    let (mut passed, mut refusal): (Vec<Passed>, _) = (Vec::new(), None);
    for piece in pieces {
        received += piece.len();
        while refusal.is_none() {
            let was_in_body = guard.position() == MessagePosition::InBody;
            match guard.pass(&bytes[start..received]) {
                Ok(0) => break,
                Ok(length) => start += length,
                Err(why) => refusal = Some(why),
            }
            if was_in_body && guard.position() == MessagePosition::InBody {
                continue;
            }
            if refusal.is_none() {
                passed.push(Passed {
                    end: start,
                    then: guard.position(),
                    higher_minor: guard.take_higher_minor(),
                });
            }
        }
    }
    Framing {
        passed,
        position: guard.position(),
        refusal,
    }
}

/// What the guard passed means the same to hyper's parser.
fn check(framing: &Framing, bytes: &[u8]) {
    let (mut start, mut in_body) = (0, false);
    for passed in &framing.passed {
        if !in_body {
            let mut head = bytes[start..passed.end].to_vec();
            if let Some(at) = passed.higher_minor {
                head[at] = b'1';
            }
            let message = Message::read(&head).expect("hyper accepts what the guard passes");
            assert_eq!(message.length, head.len());
            assert!(message.hosts < 2, "more than one Host");
            check_body(message.body, passed, framing, bytes);
        }
        in_body = passed.then == MessagePosition::InBody;
        start = passed.end;
    }
}

fn check_body(body: Body, head: &Passed, framing: &Framing, bytes: &[u8]) {
    let next = framing
        .passed
        .iter()
        .find(|passed| passed.end > head.end)
        .map(|passed| passed.end);
    let behind = &bytes[head.end..];
    match body {
        Body::Length(0) => assert_ne!(head.then, MessagePosition::InBody),
        Body::Length(length) => {
            assert_eq!(head.then, MessagePosition::InBody);
            let end = usize::try_from(length).ok().filter(|&n| n <= behind.len());
            assert_eq!(next, end.map(|length| head.end + length));
        }
        Body::Chunked => {
            assert_eq!(head.then, MessagePosition::InBody);
            if let Some(next) = next {
                let body = ChunkedBody::read(behind, b"\r\n").expect("complete");
                assert_eq!(next, head.end + body.end);
            }
        }
    }
}

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::read(data) else {
        return;
    };
    let limits = LIMITS[input.choose(LIMITS.len())];
    let whole = frame(limits, input.bytes, [input.bytes].into_iter());
    assert_eq!(frame(limits, input.bytes, input.pieces()), whole);
    assert_eq!(frame(limits, input.bytes, input.bytes.chunks(1)), whole);
    check(&whole, input.bytes);
});
