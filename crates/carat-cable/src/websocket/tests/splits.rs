//! However the bytes are cut, a reader finds the same events.

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

const FIRST: [u8; 8] = [
    TEXT,
    FIN | TEXT,
    CONTINUATION,
    FIN | CONTINUATION,
    FIN | PING,
    FIN | PONG,
    FIN | CLOSE,
    FIN | BINARY,
];

/// Frames in an order that is often valid.
fn frames() -> impl Strategy<Value = Vec<u8>> {
    let parts = (0..FIRST.len(), vec(any::<char>(), 0..200));
    vec(parts, 0..12).prop_map(|frames| {
        let frames = frames.into_iter().map(|(first, payload)| {
            let payload = payload.into_iter().collect::<String>();
            let length = if FIRST[first] >= FIN | CLOSE {
                payload.len().min(125)
            } else {
                payload.len()
            };
            frame(FIRST[first], &payload.as_bytes()[..length])
        });
        frames.collect::<Vec<_>>().concat()
    })
}

proptest! {
    #[test]
    fn cuts_do_not_matter(bytes in prop_oneof![frames(), vec(any::<u8>(), 0..300)], size in 1..40_usize) {
        let whole = read(FrameReader::new(500), [&bytes[..]].into_iter());
        prop_assert_eq!(read(FrameReader::new(500), bytes.chunks(1)), whole.clone());
        prop_assert_eq!(read(FrameReader::new(500), bytes.chunks(size)), whole);
    }
}
