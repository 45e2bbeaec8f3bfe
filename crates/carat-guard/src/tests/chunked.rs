//! The rules of a chunked body.

use super::{
    LIMITS, assert_accepted, assert_each_refused, assert_refused, chunked, get, guard, pass_all,
};
use crate::http1::CHUNK_EXTENSIONS_LIMIT;
use crate::{Chunked, ChunkedEvent, GuardError, MessagePosition};

#[test]
fn a_chunk_size_is_hex_digits_only_cve_2022_24790_cve_2023_38697() {
    let sizes = "|+3|-3|0x3| 3|3 |3\t|\t3|g|3_0|3,|\r|;a";
    assert_each_refused(sizes, GuardError::ChunkSize, |size| {
        chunked(&format!("{size}\r\nabc\r\n"))
    });
    let ten = "0123456789";
    assert_accepted(chunked(&format!(
        "0000000000000003\r\nabc\r\nA\r\n{ten}\r\na\r\n{ten}\r\n00\r\n\r\n"
    )));
}

#[test]
fn a_chunk_size_that_overflows_is_refused() {
    let sizes = "00000000000000003|8000000000000000\r|ffffffffffffffff\r";
    assert_each_refused(sizes, GuardError::ChunkSize, chunked);
    let (mut guard, body) = (guard(), chunked("7fffffffffffffff\r\nab"));
    assert_eq!(pass_all(&mut guard, body.as_bytes()), Ok(&b""[..]));
    assert_eq!(guard.position(), MessagePosition::InBody);
}

#[test]
fn a_chunk_ends_with_crlf_cve_2022_24790() {
    assert_each_refused("d|\n|\r\r|\rd|0|\0", GuardError::ChunkEnd, |rest| {
        chunked(&format!("3\r\nabc{rest}"))
    });
}

#[test]
fn a_bare_line_end_after_a_chunk_size_is_refused() {
    let bodies = "3\n|3\ra|3\r\r|3;a\n|3;a\rb|0\n|0\r\n\n|0\r\n\ra";
    assert_each_refused(bodies, GuardError::BareLineEnd, chunked);
}

#[test]
fn chunk_extensions_are_skipped_and_malformed_ones_refused() {
    assert_accepted(chunked(
        "3;a\r\nabc\r\n3;a=\"b\tc\u{e9}\\\"\" ; b = c\r\nabc\r\n0;z\r\n\r\n",
    ));
    let extensions = ";\r|;;|;=a|;a=\r|;a=;|;a b|;a=b c|;bad[|;a=[|;a=\"b\r|;a=\"b\"c|\
        ;a=\"\\\r|;a\0|;a=\"\0|;\u{e9}";
    assert_each_refused(extensions, GuardError::ChunkExtension, |extension| {
        chunked(&format!("3{extension}"))
    });
}

#[test]
fn chunk_extensions_are_bounded_over_all_chunks_cve_2024_21647() {
    let large = GuardError::ChunkExtensionsTooLarge;
    let over = format!("3;{}", "a".repeat(CHUNK_EXTENSIONS_LIMIT));
    assert_refused(chunked(&over), large);
    let extension = "a".repeat(CHUNK_EXTENSIONS_LIMIT / 4 - 1);
    let most = format!("3;{extension}\r\nabc\r\n").repeat(4);
    assert_accepted(chunked(&format!("{most}0\r\n\r\n")));
    assert_refused(chunked(&format!("{most}0;a\r\n\r\n")), large);
}

#[test]
fn trailers_are_fields_cve_2023_40175() {
    for (trailers, refusal) in [
        ("A : b\r\n\r\n", GuardError::FieldName),
        ("A: b\r\n c\r\n\r\n", GuardError::FoldedLine),
        ("A: \0\r\n\r\n", GuardError::FieldValue),
        ("A: b\n\r\n", GuardError::BareLineEnd),
        ("GET / HTTP/1.1\r\n", GuardError::FieldName),
    ] {
        assert_refused(chunked(&format!("0\r\n{trailers}")), refusal);
    }
    assert_accepted(chunked("0\r\nA: b\r\nC:\r\n\r\n"));
    // Trailers do not frame the next message.
    let next = get("");
    let trailers = "Content-Length: 9\r\nTransfer-Encoding: gzip\r\nHost: b\r\nHost: c\r\n";
    assert_accepted(chunked(&format!("0\r\n{trailers}\r\n{next}{next}")));
}

#[test]
fn trailers_have_the_limits_of_headers() {
    let most = "A: b\r\n".repeat(LIMITS.max_headers);
    assert_accepted(chunked(&format!("0\r\n{most}\r\n")));
    let over = format!("0\r\n{most}X");
    assert_refused(chunked(&over), GuardError::TooManyHeaders);
    let value = "b".repeat(LIMITS.max_header_bytes - "A: \r\n\r\n".len());
    assert_accepted(chunked(&format!("0\r\nA: {value}\r\n\r\n")));
    let over = format!("0\r\nA: {value}b\r\n\r");
    assert_refused(chunked(&over), GuardError::HeaderTooLarge);
}

#[test]
fn the_content_of_a_chunked_body_comes_without_its_framing_and_a_refusal_last() {
    for (piece, expected) in [
        (
            &b"3;x\r\nabc\r\n2\r\nde\r\n0\r\nA: b\r\n\r\nnext"[..],
            [
                Ok(ChunkedEvent::Data(5..8)),
                Ok(ChunkedEvent::Data(13..15)),
                Ok(ChunkedEvent::End(28)),
            ]
            .to_vec(),
        ),
        (
            b"1\r\na\r\nx\r\n",
            vec![Ok(ChunkedEvent::Data(3..4)), Err(GuardError::ChunkSize)],
        ),
    ] {
        let mut body = Chunked::new(&LIMITS);
        assert_eq!(body.events(piece).collect::<Vec<_>>(), expected);
    }
}
