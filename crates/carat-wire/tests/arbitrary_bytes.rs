//! Decoders never panic, and never read past their payload, whatever the bytes.

use carat_wire::control::{AskStack, Broadcast, ForkWorker, Stack};
use carat_wire::hints::Hints;
use carat_wire::stream::{Chunk, Window, decode_id};
use carat_wire::{
    Frame, HEADER_BYTES, Hello, Hijack, Kind, Request, RequestBody, RequestHead, Response, Scheme,
};
use proptest::prelude::*;

fn decode_all(payload: &[u8]) {
    let _ = Hello::decode(payload);
    let _ = ForkWorker::decode(payload);
    let _ = Stack::decode(payload);
    let _ = AskStack::decode(payload);
    let _ = Broadcast::decode(payload);
    let _ = Chunk::decode(payload);
    let _ = Window::decode(payload);
    let _ = decode_id(payload);
    let _ = Hijack::decode(payload);
    if let Ok(request) = Request::decode(payload) {
        assert_eq!(request.headers.len(), request.headers.count());
        assert_eq!(request.files.is_empty(), request.files.iter().len() == 0);
    }
    if let Ok(hints) = Hints::decode(payload) {
        assert_eq!(hints.headers.len(), hints.headers.count());
    }
    if let Ok(response) = Response::decode(payload) {
        assert_eq!(response.headers.len(), response.headers.count());
    }
}

proptest! {
    #[test]
    fn any_payload_is_decoded_or_refused(payload in prop::collection::vec(any::<u8>(), 0..400)) {
        decode_all(&payload);
    }

    #[test]
    fn any_buffer_holds_a_frame_or_none_or_is_refused(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        if let Ok(Some(frame)) = Frame::first(&bytes) {
            prop_assert!(frame.size() <= bytes.len());
        }
    }

    #[test]
    fn a_damaged_request_is_decoded_or_refused(index in 0_usize..120, byte in any::<u8>()) {
        let mut bytes = request_bytes();
        let index = HEADER_BYTES + index % (bytes.len() - HEADER_BYTES);
        bytes[index] = byte;
        if let Ok(Some(frame)) = Frame::first(&bytes) {
            decode_all(frame.payload);
        }
    }
}

fn request_bytes() -> Vec<u8> {
    let head = RequestHead {
        id: 1,
        method: b"POST",
        path: b"/a",
        query: b"b=c",
        scheme: Scheme::Http,
        has_short_window: false,
        is_cable: false,
        server_name: b"example.org",
        server_port: 80,
        remote_addr: b"127.0.0.1",
        version: 11,
    };
    let mut bytes = Vec::new();
    let body = RequestBody::Inline(b"body");
    carat_wire::request::encode(&mut bytes, &head, body, [true].into_iter(), |out| {
        carat_wire::push_header(out, "host", b"example.org");
        carat_wire::push_header(out, "x-odd", b"1");
        2
    });
    bytes
}

#[test]
fn an_undamaged_request_is_decoded() {
    let bytes = request_bytes();
    let frame = Frame::first(&bytes)
        .expect("well formed")
        .expect("complete");
    assert_eq!(frame.kind, Kind::Request);
    assert!(Request::decode(frame.payload).is_ok());
}
