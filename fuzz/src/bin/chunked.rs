//! A chunked body has the same content and the same end however it is cut, and means the same to a
//! parser that ends its lines with LF.
#![no_main]

use carat_fuzz::{ChunkedBody, Input};
use carat_guard::{Chunked, ChunkedEvent, GuardError, HeaderLimits};
use libfuzzer_sys::fuzz_target;

const LIMITS: [HeaderLimits; 2] = [
    HeaderLimits {
        max_header_bytes: 64 * 1024,
        max_headers: 100,
        max_uri: 1,
    },
    HeaderLimits {
        max_header_bytes: 40,
        max_headers: 2,
        max_uri: 1,
    },
];

#[derive(Debug, Default, PartialEq, Eq)]
struct Read {
    data: Vec<u8>,
    end: Option<usize>,
    refusal: Option<GuardError>,
}

fn read<'a>(limits: &HeaderLimits, pieces: impl Iterator<Item = &'a [u8]>) -> Read {
    let mut chunked = Chunked::new(limits);
    let (mut body, mut base) = (Read::default(), 0);
    for piece in pieces {
        if body.end.is_some() || body.refusal.is_some() {
            break;
        }
        for event in chunked.events(piece) {
            assert!(body.end.is_none(), "an event behind the end");
            match event {
                Ok(ChunkedEvent::Data(range)) => {
                    assert!(!range.is_empty(), "an event without a byte");
                    body.data.extend_from_slice(&piece[range]);
                }
                Ok(ChunkedEvent::End(at)) => body.end = Some(base + at),
                Err(refusal) => body.refusal = Some(refusal),
            }
        }
        base += piece.len();
    }
    body
}

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::read(data) else {
        return;
    };
    let limits = &LIMITS[input.choose(LIMITS.len())];
    let whole = read(limits, [input.bytes].into_iter());
    assert_eq!(read(limits, input.pieces()), whole);
    assert_eq!(read(limits, input.bytes.chunks(1)), whole);
    if let Some(end) = whole.end {
        let expected = Some(ChunkedBody {
            data: whole.data,
            end,
        });
        assert_eq!(ChunkedBody::read(input.bytes, b"\r\n"), expected);
        assert_eq!(ChunkedBody::read(input.bytes, b"\n"), expected);
    }
});
