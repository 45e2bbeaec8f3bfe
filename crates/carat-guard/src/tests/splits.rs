//! However the bytes are cut, the guard finds the same messages, or the same error.

use super::LIMITS;
use crate::{Guard, GuardError, HeaderLimits, MessagePosition};

/// Limits that the messages below reach.
const TIGHT: HeaderLimits = HeaderLimits {
    max_header_bytes: 120,
    max_headers: 4,
    max_uri: 24,
};

const GET: &[u8] = b"GET /a?b=c HTTP/1.1\r\nHost: a.example:80\r\nAccept: */*\r\n\r\n";
const POST: &[u8] =
    "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 15\r\n\r\nGr\u{fc}\u{df}e\r\n\r\n\u{2713}\n"
        .as_bytes();
const CHUNKED: &[u8] = "PUT /\u{7e} HTTP/1.1\r\nHost: [::1]\r\ntransfer-encoding:chunked\r\n\r\n\
    5;n=\"v\"\r\n\u{2713}\r\n\r\n00A;a;b\r\n0\r\n\r\nGET /\r\n3\r\n\u{fffd}\r\n0;last\r\nX-Sum: 1\r\nY:\r\n\r\n".as_bytes();
const OLD: &[u8] = b"HEAD http://a/b HTTP/1.0\r\nX: \xff\t\x80\r\n\r\n";

/// Streams of one or more messages, valid and invalid.
fn streams() -> Vec<Vec<u8>> {
    let mut streams = vec![
        [GET, GET].concat(),
        [POST, GET].concat(),
        [CHUNKED, POST, b"\r\n", GET].concat(),
        [b"\r\n\r\n", OLD, CHUNKED, CHUNKED].concat(),
        [GET, b"\r\n\r\n\r\n"].concat(),
        [GET, b"CONNECT a:80 HTTP/1.1\r\n"].concat(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
        b"OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n".to_vec(),
        b"GET /a/target/over/its/limit HTTP/1.1\r\nHost: a\r\n\r\n".to_vec(),
        b"AMETHODTHATISLONGERTHANANYKNOWNONE / HTTP/1.1\r\n\r\n".to_vec(),
    ];
    let fields = [
        "Host: b\r\n",
        "A : b\r\n",
        "A: b\n",
        "A: b\rc\r\n",
        "A: b\r\n c\r\n",
        "A: \0\r\n",
        "Content-Length: 1,1\r\n",
        "Content-Length: 1\r\nContent-Length: 1\r\n",
        "Content-Length: 1\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: gzip, chunked\r\n",
        "Transfer-Encoding: x\r\n",
        "A: b\r\nA: b\r\nA: b\r\nA: b\r\n",
        "A: a long value that takes the head over its limit in bytes, which is a hundred and twenty of them\r\n",
    ];
    for field in fields {
        let head = [b"GET / HTTP/1.1\r\nHost: a\r\n", field.as_bytes(), b"\r\n"];
        streams.push([GET, &head.concat()].concat());
    }
    let bodies = [
        "3\r\nabcd\r\n0\r\n\r\n",
        "3\nabc",
        "0x3\r\nabc",
        "3 \r\nabc",
        "\r\n",
        "3;a\nabc",
        "0\r\nA b\r\n\r\n",
        "11111111111111111\r\n",
        "ffffffffffffffff\r\n",
        "0\r\n\r\r\n",
        "0\r\nA: b\r\nA: b\r\nA: b\r\nA: b\r\nA: b\r\n\r\n",
    ];
    for body in bodies {
        let head = b"POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n";
        streams.push([GET, head, body.as_bytes()].concat());
    }
    streams
}

/// What a guard found in a stream: where headers and bodies end, and its state.
#[derive(Debug, PartialEq)]
struct Outcome {
    ends: Vec<(MessagePosition, usize)>,
    position: MessagePosition,
    refusal: Option<GuardError>,
}

/// Offers `pieces` as a connection does, which keeps bytes that were not passed.
fn feed<'a>(limits: HeaderLimits, pieces: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
    let mut guard = Guard::new(limits);
    let (mut received, mut passed) = (Vec::new(), 0);
    let (mut ends, mut refusal) = (Vec::new(), None);
    for piece in pieces {
        received.extend_from_slice(piece);
        loop {
            let was_in_body = guard.position() == MessagePosition::InBody;
            match guard.pass(&received[passed..]) {
                Ok(0) => break,
                Ok(length) => passed += length,
                Err(why) => {
                    refusal = Some(why);
                    break;
                }
            }
            if !(was_in_body && guard.position() == MessagePosition::InBody) {
                ends.push((guard.position(), passed));
            }
        }
    }
    Outcome {
        ends,
        position: guard.position(),
        refusal,
    }
}

#[test]
fn a_stream_cut_at_any_byte_or_at_each_has_the_same_messages() {
    for limits in [LIMITS, TIGHT] {
        for stream in streams() {
            let whole = feed(limits, [&stream[..]]);
            let text = stream.escape_ascii();
            assert_eq!(feed(limits, stream.chunks(1)), whole, "{text}");
            for cut in 0..=stream.len() {
                let (front, back) = stream.split_at(cut);
                assert_eq!(feed(limits, [front, back]), whole, "cut at {cut}: {text}");
            }
        }
    }
}

#[test]
fn valid_streams_are_passed_and_invalid_ones_are_refused() {
    let streams = streams();
    let outcomes: Vec<_> = streams.iter().map(|it| feed(LIMITS, [&it[..]])).collect();
    for outcome in &outcomes[..4] {
        assert_eq!(outcome.refusal, None);
        assert_eq!(outcome.position, MessagePosition::BetweenMessages);
    }
    let found = outcomes[3].ends.len();
    assert_eq!(found, 5, "one request without a body, two with one");
    let accepted = outcomes.iter().filter(|it| it.refusal.is_none());
    let found = accepted.count();
    assert_eq!(found, 9, "of the others those that break the tight limits");
}

#[test]
fn dropped_blank_lines_do_not_change_the_messages() {
    let mut guard = Guard::new(LIMITS);
    let (mut buffer, mut heads) = (Vec::new(), 0);
    for &byte in &[b"\r\n\r\n", GET, b"\r\n", GET].concat() {
        buffer.push(byte);
        match guard.pass(&buffer) {
            Ok(0) => drop(buffer.drain(..guard.take_blank_lines())),
            Ok(length) => {
                assert_eq!(buffer, GET);
                buffer.drain(..length);
                heads += 1;
            }
            Err(refusal) => panic!("{refusal:?}"),
        }
    }
    assert_eq!(heads, 2);
}
