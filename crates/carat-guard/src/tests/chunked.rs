//! The rules of a chunked body.

use super::{LIMITS, assert_accepted, assert_refused, chunked, get, guard, pass_all};
use crate::http1::CHUNK_EXTENSIONS_LIMIT;
use crate::{Chunked, ChunkedEvent, GuardError, MessagePosition};

#[test]
fn a_chunk_size_is_hex_digits_only_cve_2022_24790_cve_2023_38697() {
    for size in [
        "", "+3", "-3", "0x3", " 3", "3 ", "3\t", "\t3", "g", "3_0", "3,", "\r", ";a",
    ] {
        assert_refused(
            chunked(&format!("{size}\r\nabc\r\n")),
            GuardError::ChunkSize,
        );
    }
    assert_accepted(chunked(
        "0000000000000003\r\nabc\r\nA\r\n0123456789\r\na\r\n0123456789\r\n00\r\n\r\n",
    ));
}

#[test]
fn a_chunk_size_that_overflows_is_refused() {
    assert_refused(chunked("00000000000000003"), GuardError::ChunkSize);
    assert_refused(chunked("8000000000000000\r"), GuardError::ChunkSize);
    assert_refused(chunked("ffffffffffffffff\r"), GuardError::ChunkSize);
    let mut guard = guard();
    assert_eq!(
        pass_all(&mut guard, chunked("7fffffffffffffff\r\nab").as_bytes()),
        Ok(&b""[..])
    );
    assert_eq!(guard.position(), MessagePosition::InBody);
}

#[test]
fn a_chunk_ends_with_crlf_cve_2022_24790() {
    for rest in ["d", "\n", "\r\r", "\rd", "0", "\0"] {
        assert_refused(chunked(&format!("3\r\nabc{rest}")), GuardError::ChunkEnd);
    }
}

#[test]
fn a_bare_line_end_after_a_chunk_size_is_refused() {
    for body in [
        "3\n", "3\ra", "3\r\r", "3;a\n", "3;a\rb", "0\n", "0\r\n\n", "0\r\n\ra",
    ] {
        assert_refused(chunked(body), GuardError::BareLineEnd);
    }
}

#[test]
fn chunk_extensions_are_skipped() {
    assert_accepted(chunked(
        "3;a\r\nabc\r\n3;a=\"b\tc\u{e9}\\\"\" ; b = c\r\nabc\r\n0;z\r\n\r\n",
    ));
}

#[test]
fn a_malformed_chunk_extension_is_refused() {
    for extension in [
        ";\r",
        ";;",
        ";=a",
        ";a=\r",
        ";a=;",
        ";a b",
        ";a=b c",
        ";bad[",
        ";a=[",
        ";a=\"b\r",
        ";a=\"b\"c",
        ";a=\"\\\r",
        ";a\0",
        ";a=\"\0",
        ";\u{e9}",
    ] {
        assert_refused(
            chunked(&format!("3{extension}")),
            GuardError::ChunkExtension,
        );
    }
}

#[test]
fn chunk_extensions_are_bounded_over_all_chunks_cve_2024_21647() {
    assert_refused(
        chunked(&format!("3;{}", "a".repeat(CHUNK_EXTENSIONS_LIMIT))),
        GuardError::ChunkExtensionsTooLarge,
    );
    let extension = "a".repeat(CHUNK_EXTENSIONS_LIMIT / 4 - 1);
    let most = format!("3;{extension}\r\nabc\r\n").repeat(4);
    assert_accepted(chunked(&format!("{most}0\r\n\r\n")));
    assert_refused(
        chunked(&format!("{most}0;a\r\n\r\n")),
        GuardError::ChunkExtensionsTooLarge,
    );
}

#[test]
fn trailers_are_fields_cve_2023_40175() {
    assert_accepted(chunked("0\r\nA: b\r\nC:\r\n\r\n"));
    assert_refused(chunked("0\r\nA : b\r\n\r\n"), GuardError::FieldName);
    assert_refused(chunked("0\r\nA: b\r\n c\r\n\r\n"), GuardError::FoldedLine);
    assert_refused(chunked("0\r\nA: \0\r\n\r\n"), GuardError::FieldValue);
    assert_refused(chunked("0\r\nA: b\n\r\n"), GuardError::BareLineEnd);
    assert_refused(chunked("0\r\nGET / HTTP/1.1\r\n"), GuardError::FieldName);
}

#[test]
fn trailers_do_not_frame_the_next_message() {
    let next = get("");
    let trailers = "Content-Length: 9\r\nTransfer-Encoding: gzip\r\nHost: b\r\nHost: c\r\n";
    assert_accepted(chunked(&format!("0\r\n{trailers}\r\n{next}{next}")));
}

#[test]
fn trailers_have_the_limits_of_headers() {
    let most = "A: b\r\n".repeat(LIMITS.max_headers);
    assert_accepted(chunked(&format!("0\r\n{most}\r\n")));
    assert_refused(
        chunked(&format!("0\r\n{most}X")),
        GuardError::TooManyHeaders,
    );
    let room = LIMITS.max_header_bytes - "A: \r\n\r\n".len();
    assert_accepted(chunked(&format!("0\r\nA: {}\r\n\r\n", "b".repeat(room))));
    assert_refused(
        chunked(&format!("0\r\nA: {}\r\n\r", "b".repeat(room + 1))),
        GuardError::HeaderTooLarge,
    );
}

#[test]
fn the_content_of_a_chunked_body_comes_without_its_framing() {
    let piece = b"3;x\r\nabc\r\n2\r\nde\r\n0\r\nA: b\r\n\r\nnext";
    let events: Result<Vec<_>, _> = Chunked::new(&LIMITS).events(piece).collect();
    let expected = vec![
        ChunkedEvent::Data(5..8),
        ChunkedEvent::Data(13..15),
        ChunkedEvent::End(28),
    ];
    assert_eq!(events, Ok(expected));
}

#[test]
fn a_broken_chunked_body_yields_its_refusal_last() {
    let mut body = Chunked::new(&LIMITS);
    let events: Vec<_> = body.events(b"1\r\na\r\nx\r\n").collect();
    assert_eq!(
        events,
        [Ok(ChunkedEvent::Data(3..4)), Err(GuardError::ChunkSize)]
    );
}
