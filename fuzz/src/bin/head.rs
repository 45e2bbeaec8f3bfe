//! The headers of a response arrive as they were added, in lower case, or are refused; in Rack 2, a line
//! of a value is a header of its own.
#![no_main]

use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::Instant;

use carat_fuzz::Input;
use carat_lane::{BodyPieces, CurrentRequest, HeadEncoder, LaneSession, OutgoingBody, Step};
use carat_link::{Fill, Inbox};
use carat_wire::{Name, Response, name_of};
use libfuzzer_sys::fuzz_target;

/// A response without an inline body.
struct Nothing;

impl BodyPieces for Nothing {
    fn bytes(&self) -> u32 {
        0
    }

    fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        [].into_iter()
    }
}

type Headers = Vec<(Vec<u8>, Vec<u8>)>;

/// Sends a response with this head, and returns its headers as the edge decodes them.
fn arrived(head: &mut HeadEncoder) -> Headers {
    let (near, far) = UnixStream::pair().expect("a socket pair");
    let request = CurrentRequest {
        id: 1,
        is_head: false,
        started: Instant::now(),
    };
    let mut session = LaneSession::default();
    session.begin(request.id, false);
    let body = OutgoingBody::<Nothing>::Empty;
    assert!(!session.respond(request, head, body, Instant::now()));
    let mut inbox = Inbox::default();
    loop {
        // The repeated name of many lines may be more than the socket takes at once.
        let flushed = session.flush(near.as_fd()).expect("an open socket");
        while let Fill::Bytes { .. } = inbox.fill(&far).expect("an open socket") {}
        if flushed == Step::Done(()) {
            break;
        }
    }
    let frame = inbox.frames.next().expect("well formed").expect("a frame");
    let response = Response::decode(frame.payload).expect("well formed");
    let name = |name: Name<'_>| match name {
        Name::Known(code) => name_of(code).expect("a code").as_bytes().to_vec(),
        Name::Literal(name) => name.to_vec(),
    };
    response
        .headers
        .map(|(key, value)| (name(key), value.to_vec()))
        .collect()
}

/// Whether a head with these headers is refused.
fn exceeds_limits(headers: &Headers) -> bool {
    // A literal name and a value are preceded by 7 bytes at most.
    let bytes = headers
        .iter()
        .map(|(name, value)| name.len() + value.len() + 7);
    headers.len() > 1024 || bytes.sum::<usize>() > 256 * 1024
}

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::read(data) else {
        return;
    };
    let splits_lines = input.option % 2 == 0;
    let mut head = HeadEncoder::new(splits_lines);
    head.start(200).expect("a final status");
    let mut expected = Headers::new();
    for header in input.bytes.split(|&byte| byte == 0) {
        let at = header.iter().position(|&byte| byte == b':');
        let (name, value) = header.split_at(at.unwrap_or(header.len()));
        let is_added = head.add(name, value).is_ok();
        let has_wrong_name = name.is_empty() || !name.is_ascii() || name.len() > 1024;
        assert!(!(is_added && has_wrong_name));
        if has_wrong_name {
            continue;
        }
        let lines = value.split(|&byte| splits_lines && byte == b'\n');
        expected.extend(lines.map(|line| (name.to_ascii_lowercase(), line.to_vec())));
        if !is_added {
            assert!(exceeds_limits(&expected));
            return;
        }
    }
    assert_eq!(arrived(&mut head), expected);
});
