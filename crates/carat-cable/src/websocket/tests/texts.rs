//! Autobahn's cases 6: UTF-8.

use super::*;

/// Valid texts: characters of all planes, noncharacters, and the ends of each length.
const VALID: [&str; 6] = [
    "Hello-\u{b5}@\u{df}\u{f6}\u{e4}\u{fc}\u{e0}\u{e1}-UTF-8!!",
    "\u{3ba}\u{f3}\u{3c3}\u{3bc}\u{3b5}",
    "\0\u{7f}\u{80}\u{7ff}\u{800}\u{ffff}\u{10000}\u{10ffff}",
    "\u{d7ff}\u{e000}\u{fffd}",
    "\u{fffe}\u{1fffe}\u{10fffe}",
    "\u{1F600}",
];

/// Invalid texts: broken, overlong, with surrogates, and beyond the last plane.
const INVALID: [&[u8]; 18] = [
    b"\xce\xba\xe1\xbd\xb9\xcf\x83\xce\xbc\xce\xb5\xed\xa0\x80edited",
    b"\xf4\x90\x80\x80",
    b"\xf5\x80\x80\x80",
    b"\xf8\x88\x80\x80\x80",
    b"\xfc\x84\x80\x80\x80\x80",
    b"\x80",
    b"\xbf\xbf",
    b"\xc0 ",
    b"\xc2",
    b"\xe0\xa0",
    b"\xf0\x90\x80",
    b"\xfe",
    b"\xff",
    b"\xc0\xaf",
    b"\xe0\x80\xaf",
    b"\xf0\x8f\xbf\xbf",
    b"\xed\xa0\x80",
    b"\xed\xad\xbf\xed\xb0\x80",
];

/// The frames of a text that has one fragment for each byte.
fn fragments(bytes: &[u8]) -> Vec<Vec<u8>> {
    let (first, rest) = bytes.split_first().expect("a byte");
    let mut frames = vec![frame(TEXT, &[*first])];
    frames.extend(rest.iter().map(|byte| frame(CONTINUATION, &[*byte])));
    frames.push(frame(FIN, b""));
    frames
}

#[test]
fn a_text_may_be_cut_within_a_character() {
    for valid in VALID {
        let found = events(&[frame(FIN | TEXT, valid.as_bytes())]);
        assert_eq!(found, [text(valid)]);
        assert_eq!(events(&fragments(valid.as_bytes())), [text(valid)]);
    }
}

#[test]
fn a_text_that_is_not_utf8_is_refused() {
    for invalid in INVALID {
        let whole = [frame(FIN | TEXT, invalid)];
        assert_error(&whole, CloseCode::INVALID_PAYLOAD);
        assert_error(&fragments(invalid), CloseCode::INVALID_PAYLOAD);
    }
}

#[test]
fn a_character_does_not_reach_over_two_messages() {
    let frames = [frame(FIN | TEXT, b"\xc3"), frame(FIN | TEXT, b"\xa9")];
    assert_error(&frames, CloseCode::INVALID_PAYLOAD);
}
