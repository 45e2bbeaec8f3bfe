//! Any payload is decoded or refused; what was decoded survives being encoded again.
#![no_main]

use carat_fuzz::Input;
use carat_wire::control::{AskStack, ForkWorker, Stack};
use carat_wire::hints::{self, Hints};
use carat_wire::response::{self, ResponseHead, body};
use carat_wire::stream::{Chunk, Window, decode_id};
use carat_wire::{
    EncodedHeaders, Frame, Headers, Hello, Hijack, Name, Request, Response, ResponseBody, name_of,
    push_header, request,
};
use libfuzzer_sys::fuzz_target;

/// Names and values; `None` for a name that is no text, which the edge never sends.
fn texts(headers: Headers<'_>) -> Option<Vec<(&str, &[u8])>> {
    assert_eq!(headers.len(), headers.count());
    headers
        .map(|(name, value)| {
            let text = match name {
                Name::Known(code) => name_of(code).expect("`decode` checks codes"),
                Name::Literal(name) => std::str::from_utf8(name).ok()?,
            };
            Some((text, value))
        })
        .collect()
}

fn push(out: &mut Vec<u8>, headers: &[(&str, &[u8])]) -> u16 {
    for (name, value) in headers {
        push_header(out, name, value);
    }
    u16::try_from(headers.len()).expect("the count came from a u16")
}

fn payload(frame: &[u8]) -> &[u8] {
    let frame = Frame::first(frame).expect("well formed").expect("complete");
    frame.payload
}

fn check_request(payload: &[u8]) {
    let Ok(request) = Request::decode(payload) else {
        return;
    };
    let Some(headers) = texts(request.headers) else {
        return;
    };
    let mut frame = Vec::new();
    request::encode(
        &mut frame,
        &request.head,
        request.body,
        request.files.iter(),
        |out| push(out, &headers),
    );
    let again = Request::decode(self::payload(&frame)).expect("encoded by this crate");
    assert_eq!(again.head, request.head);
    assert_eq!(texts(again.headers), Some(headers));
    assert_eq!(again.body, request.body);
    assert_eq!(again.files, request.files);
}

fn check_response(payload: &[u8]) {
    let Ok(response) = Response::decode(payload) else {
        return;
    };
    let Some(headers) = texts(response.headers) else {
        return;
    };
    let head = ResponseHead {
        id: response.id,
        status: response.status,
        app_micros: response.app_micros,
    };
    let (mut frame, mut encoded) = (Vec::new(), Vec::new());
    let count = push(&mut encoded, &headers);
    response::encode(
        &mut frame,
        head,
        EncodedHeaders {
            count,
            fields: &encoded,
        },
        |out| match response.body {
            ResponseBody::None => body::none(out),
            ResponseBody::Inline(bytes) => body::whole(out, bytes),
            ResponseBody::File {
                offset,
                length,
                allows_ranges,
            } => body::file(out, offset, length, allows_ranges),
            ResponseBody::Stream => body::stream(out),
            ResponseBody::Tunnel => body::tunnel(out),
        },
    );
    let again = Response::decode(self::payload(&frame)).expect("encoded by this crate");
    assert_eq!((again.id, again.status), (response.id, response.status));
    assert_eq!(again.app_micros, response.app_micros);
    assert_eq!(texts(again.headers), Some(headers));
    assert_eq!(again.body, response.body);
}

fn check_hints(payload: &[u8]) {
    let Ok(hints) = Hints::decode(payload) else {
        return;
    };
    let Some(headers) = texts(hints.headers) else {
        return;
    };
    let (mut frame, mut encoded) = (Vec::new(), Vec::new());
    let count = push(&mut encoded, &headers);
    hints::encode(
        &mut frame,
        hints.id,
        EncodedHeaders {
            count,
            fields: &encoded,
        },
    );
    let again = Hints::decode(self::payload(&frame)).expect("encoded by this crate");
    assert_eq!((again.id, texts(again.headers)), (hints.id, Some(headers)));
}

/// Encodes what was decoded from `payload` and compares the bytes.
fn check_bytes(payload: &[u8]) {
    let mut frame = Vec::new();
    if let Ok(hello) = Hello::decode(payload) {
        hello.encode(&mut frame);
        assert_eq!(self::payload(&frame), payload);
        frame.clear();
    }
    if let Ok(fork) = ForkWorker::decode(payload) {
        fork.encode(&mut frame);
        assert_eq!(self::payload(&frame), payload);
        frame.clear();
    }
    if let Ok(ask) = AskStack::decode(payload) {
        ask.encode(&mut frame);
        assert_eq!(self::payload(&frame), payload);
        frame.clear();
    }
    if let Ok(stack) = Stack::decode(payload) {
        stack.encode(&mut frame);
        assert_eq!(self::payload(&frame), payload);
    }
    let _ = (
        Chunk::decode(payload),
        Window::decode(payload),
        decode_id(payload),
        Hijack::decode(payload),
    );
}

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::read(data) else {
        return;
    };
    match input.choose(4) {
        0 => check_request(input.bytes),
        1 => check_response(input.bytes),
        2 => {
            check_bytes(input.bytes);
            check_hints(input.bytes);
        }
        _ => {
            if let Ok(Some(frame)) = Frame::first(input.bytes) {
                assert!(frame.size() <= input.bytes.len());
                check_request(frame.payload);
                check_response(frame.payload);
                check_hints(frame.payload);
            }
        }
    }
});
