//! Any sequence of frames decodes to the same frames, wherever its bytes are cut. Decoders never panic, and never read
//! past their payload, whatever the bytes.

use std::fmt::Debug;

use carat_wire::control::{
    AskStack, Collected, Exited, ForkApp, ForkWorker, PartMessage, Sampling, Stack, TEXT_LIMIT,
    decode_begin_profile, decode_load, decode_promote, encode_begin_profile, encode_boot_failed,
    encode_load, encode_not_fork_safe, encode_one_off, encode_promote, encode_signal,
    encode_sources, encode_stats,
};
use carat_wire::hints::{self, Hints};
use carat_wire::request::{self, encode_descriptors_lost};
use carat_wire::response::{self, ResponseHead, body};
use carat_wire::stream::{Chunk, Window, decode_id, encode_abort, encode_chunk, encode_end};
use carat_wire::{
    Collection, CollectionDue, EncodedHeaders, FRAME_LIMIT, Frame, HEADER_BYTES, Headers, Hello,
    Hijack, Kind, Malformed, Name, Request, RequestBody, RequestHead, Response, ResponseBody,
    Scheme, SocketKind, name_of, push_header,
};
use proptest::collection;
use proptest::prelude::*;
use proptest::sample::{Index, select};

type EncodeText = fn(&mut Vec<u8>, &[u8]);

/// Frames that contain only a text. The text of the first three is cut at its limit.
const TEXTS: [(Kind, EncodeText); 5] = [
    (Kind::BootFailed, encode_boot_failed),
    (Kind::NotForkSafe, encode_not_fork_safe),
    (Kind::Stats, encode_stats),
    (Kind::Sources, encode_sources),
    (Kind::OneOff, encode_one_off),
];

/// An encoded frame, and what its decoder must find in it.
type Message = (Vec<u8>, String);

fn message(kind: Kind, encode: impl FnOnce(&mut Vec<u8>), content: impl Debug) -> Message {
    let mut encoded = Vec::new();
    encode(&mut encoded);
    (encoded, format!("{:?}", (kind, content)))
}

type Field = (String, Vec<u8>);

fn push_fields(out: &mut Vec<u8>, fields: &[Field]) -> u16 {
    for (name, value) in fields {
        push_header(out, name, value);
    }
    u16::try_from(fields.len()).expect("few")
}

fn encoded_fields(fields: &[Field]) -> (u16, Vec<u8>) {
    let mut encoded = Vec::new();
    (push_fields(&mut encoded, fields), encoded)
}

fn found_fields(headers: Headers<'_>) -> Vec<Field> {
    let name = |name: Name<'_>| match name {
        Name::Known(code) => name_of(code).expect("known").to_owned(),
        Name::Literal(bytes) => String::from_utf8_lossy(bytes).into_owned(),
    };
    let count = headers.len();
    let found: Vec<_> = headers
        .map(|(found, value)| (name(found), value.to_vec()))
        .collect();
    assert_eq!(found.len(), count);
    found
}

/// What a frame says.
fn decode(frame: Frame<'_>) -> Result<String, Malformed> {
    let (kind, payload) = (frame.kind, frame.payload);
    let text = |content: &dyn Debug| format!("{:?}", (kind, content));
    Ok(match kind {
        Kind::Request => {
            let it = Request::decode(payload)?;
            let files: Vec<_> = it.files.iter().collect();
            assert_eq!(it.files.is_empty(), files.is_empty());
            text(&(it.head, found_fields(it.headers), it.body, files))
        }
        Kind::Response => {
            let it = Response::decode(payload)?;
            let head = (it.id, it.status, it.app_micros);
            text(&(head, found_fields(it.headers), it.body))
        }
        Kind::Hints => {
            let it = Hints::decode(payload)?;
            text(&(it.id, found_fields(it.headers)))
        }
        Kind::Chunk => {
            let it = Chunk::decode(payload)?;
            text(&(it.id, it.data))
        }
        Kind::ForkApp => {
            let it = ForkApp::decode(payload)?;
            text(&(it.number, it.generation, it.name))
        }
        Kind::Stack => {
            let it = Stack::decode(payload)?;
            text(&(it.lane, it.request, it.text))
        }
        Kind::PartMessage => {
            let it = PartMessage::decode(payload)?;
            text(&(it.part, it.subject, it.content))
        }
        Kind::End | Kind::Abort | Kind::DescriptorsLost => text(&decode_id(payload)?),
        Kind::Hello => text(&Hello::decode(payload)?),
        Kind::Hijack => text(&Hijack::decode(payload)?),
        Kind::Window => text(&Window::decode(payload)?),
        Kind::ForkWorker => text(&ForkWorker::decode(payload)?),
        Kind::AskStack => text(&AskStack::decode(payload)?),
        Kind::Exited => text(&Exited::decode(payload)?),
        Kind::CollectionDue => text(&CollectionDue::decode(payload)?),
        Kind::Collection => text(&Collection::decode(payload)?),
        Kind::Collected => text(&Collected::decode(payload)?),
        Kind::Promote => text(&decode_promote(payload)?),
        Kind::BeginProfile => text(&decode_begin_profile(payload)?),
        Kind::Load => text(&decode_load(payload)?),
        _ => text(&payload),
    })
}

fn bytes(limit: usize) -> impl Strategy<Value = Vec<u8>> {
    collection::vec(any::<u8>(), 0..limit)
}

fn fields() -> impl Strategy<Value = Vec<Field>> {
    let known = select(&carat_wire::NAMES[..]).prop_map(str::to_owned);
    collection::vec((prop_oneof![known, "x-[a-z]{1,30}"], bytes(40)), 0..6)
}

fn request() -> impl Strategy<Value = Message> {
    let numbers = any::<(u32, u8, bool, bool, u16)>();
    let scheme = select(&[Scheme::Http, Scheme::Https][..]);
    let texts = prop::array::uniform5(bytes(30));
    let body = (0..4_u8, bytes(300), any::<(u64, Option<u64>)>());
    let files = collection::vec(any::<bool>(), 0..5);
    let parts = (numbers, scheme, texts, fields(), body, files);
    parts.prop_map(|(numbers, scheme, texts, fields, body, files)| {
        let (id, version, has_short_window, is_from_part, server_port) = numbers;
        let [method, path, query, server_name, remote_addr] = texts.each_ref().map(|it| &it[..]);
        let head = RequestHead {
            id,
            method,
            path,
            query,
            scheme,
            has_short_window,
            is_from_part,
            server_name,
            server_port,
            remote_addr,
            version,
        };
        let body = match &body {
            (0, ..) => RequestBody::None,
            (1, inline, _) => RequestBody::Inline(inline),
            (2, _, (length, _)) => RequestBody::File { length: *length },
            (_, _, (_, length)) => RequestBody::Stream { length: *length },
        };
        let push = |out: &mut Vec<u8>| push_fields(out, &fields);
        let paths = files.iter().copied();
        let encode = |out: &mut Vec<u8>| request::encode(out, &head, body, paths, push);
        message(Kind::Request, encode, (head, &fields, body, &files))
    })
}

fn response() -> impl Strategy<Value = Message> {
    let body = (0..5_u8, bytes(300), any::<(u64, u64, bool)>());
    let parts = (any::<(u32, u16, u32)>(), fields(), body);
    parts.prop_map(|(head, fields, (kind, inline, file))| {
        let (id, status, app_micros) = head;
        let (offset, length, allows_ranges) = file;
        let body = match kind {
            0 => ResponseBody::None,
            1 => ResponseBody::Inline(&inline),
            2 => ResponseBody::Stream,
            3 => ResponseBody::Tunnel,
            _ => ResponseBody::File {
                offset,
                length,
                allows_ranges,
            },
        };
        let push_body = |out: &mut Vec<u8>| match kind {
            0 => body::none(out),
            1 if id % 2 == 0 => body::whole(out, &inline),
            1 => {
                let length = u32::try_from(inline.len()).expect("short");
                body::inline(out, length, inline.chunks(7));
            }
            2 => body::stream(out),
            3 => body::tunnel(out),
            _ => body::file(out, offset, length, allows_ranges),
        };
        let response_head = ResponseHead {
            id,
            status,
            app_micros,
        };
        let (count, encoded) = encoded_fields(&fields);
        let encode = |out: &mut Vec<u8>| {
            response::encode(
                out,
                response_head,
                EncodedHeaders {
                    count,
                    fields: &encoded,
                },
                push_body,
            );
        };
        message(Kind::Response, encode, (head, &fields, body))
    })
}

fn hello() -> impl Strategy<Value = Message> {
    (0..4_usize, any::<u32>(), 1..u16::MAX).prop_map(|(kind, pid, capacity)| {
        let (socket, capacity) = [
            (SocketKind::Mold, 0),
            (SocketKind::Worker, 0),
            (SocketKind::Process, 0),
            (SocketKind::Lane, capacity),
        ][kind];
        let hello = Hello::new(socket, pid, capacity);
        message(Kind::Hello, |out| hello.encode(out), hello)
    })
}

/// Frames that contain only numbers.
fn small() -> impl Strategy<Value = Message> {
    let numbers = any::<(u32, u32, u16, u8)>().prop_flat_map(|(one, two, short, byte)| {
        let (id, bytes) = (one, two);
        let window = Window { id, bytes };
        let hijack = Hijack {
            id,
            app_micros: two,
        };
        let fork = ForkWorker {
            worker: one,
            generation: two,
            lanes: short,
        };
        let ask = AskStack {
            lane: short,
            request: one,
        };
        let exited = Exited {
            is_signal: byte,
            number: one,
        };
        select(vec![
            message(Kind::End, |out| encode_end(out, id), id),
            message(Kind::Abort, |out| encode_abort(out, id), id),
            message(
                Kind::DescriptorsLost,
                |out| encode_descriptors_lost(out, id),
                id,
            ),
            message(Kind::Promote, |out| encode_promote(out, id), id),
            message(Kind::Window, |out| window.encode(out), window),
            message(Kind::Hijack, |out| hijack.encode(out), hijack),
            message(Kind::ForkWorker, |out| fork.encode(out), fork),
            message(Kind::AskStack, |out| ask.encode(out), ask),
            message(Kind::Exited, |out| exited.encode(out), exited),
        ])
    });
    let sampling = (prop::option::of(1..u64::MAX), any::<u8>()).prop_map(|(interval, clocks)| {
        let sampling = Sampling { interval, clocks };
        let encode = |out: &mut Vec<u8>| encode_begin_profile(out, sampling);
        message(Kind::BeginProfile, encode, sampling)
    });
    let load = (0.0..f64::MAX).prop_map(|it| message(Kind::Load, |out| encode_load(out, it), it));
    prop_oneof![2 => hello(), 9 => numbers, 2 => collections(), 1 => sampling, 1 => load]
}

/// Frames by which a worker reports full collections.
fn collections() -> impl Strategy<Value = Message> {
    any::<(u32, u32, u16, u8, u8)>().prop_flat_map(|(request, micros, full, reason, haste)| {
        let collection = Collection {
            request,
            micros,
            full,
            reason,
            haste,
        };
        let due = CollectionDue {
            reason,
            load: haste,
        };
        let collected = Collected { micros };
        select(vec![
            message(Kind::Collection, |out| collection.encode(out), collection),
            message(Kind::CollectionDue, |out| due.encode(out), due),
            message(Kind::Collected, |out| collected.encode(out), collected),
        ])
    })
}

/// Frames whose last field takes the rest of the payload, whatever its bytes are.
fn open() -> impl Strategy<Value = Message> {
    let parts = (any::<(u32, u32, u16)>(), bytes(300), bytes(30));
    parts.prop_flat_map(|((one, two, lane), bytes, stream)| {
        let stack = Stack {
            lane,
            request: one,
            text: &bytes,
        };
        let fork = ForkApp {
            number: one,
            generation: two,
            name: &bytes,
        };
        let to_part = PartMessage {
            part: "it",
            subject: &stream,
            content: &bytes,
        };
        let encode = |out: &mut Vec<u8>| assert!(to_part.encode(out), "within its limits");
        let texts = TEXTS.map(|(kind, encode)| message(kind, |out| encode(out, &bytes), &bytes));
        let others = [
            message(
                Kind::Chunk,
                |out| encode_chunk(out, one, &bytes),
                (one, &bytes),
            ),
            message(Kind::Stack, |out| stack.encode(out), (lane, one, &bytes)),
            message(Kind::ForkApp, |out| fork.encode(out), (one, two, &bytes)),
            message(Kind::PartMessage, encode, ("it", &stream, &bytes)),
        ];
        select([&texts[..], &others].concat())
    })
}

fn hints() -> impl Strategy<Value = Message> {
    (any::<u32>(), fields()).prop_map(|(id, fields)| {
        let (count, encoded) = encoded_fields(&fields);
        let encode = |out: &mut Vec<u8>| {
            hints::encode(
                out,
                id,
                EncodedHeaders {
                    count,
                    fields: &encoded,
                },
            );
        };
        message(Kind::Hints, encode, (id, &fields))
    })
}

/// Kinds of frames without a payload.
const SIGNALS: [Kind; 12] = [
    Kind::Ready,
    Kind::Drain,
    Kind::Bye,
    Kind::Leaving,
    Kind::AskStats,
    Kind::AskForkSafety,
    Kind::TrimMemory,
    Kind::ForkSafe,
    Kind::Lingers,
    Kind::Begin,
    Kind::Collect,
    Kind::DeclineCollection,
];

fn signal() -> impl Strategy<Value = Message> {
    select(&SIGNALS[..]).prop_map(|kind| message(kind, |out| encode_signal(out, kind), b""))
}

fn closed() -> impl Strategy<Value = Message> {
    prop_oneof![2 => request(), 2 => response(), 1 => hints(), 4 => small()]
}

fn any_message() -> impl Strategy<Value = Message> {
    prop_oneof![8 => closed(), 3 => open(), 1 => signal()]
}

fn only(encoded: &[u8]) -> Frame<'_> {
    let frame = Frame::first(encoded).expect("well formed");
    frame.expect("complete")
}

proptest! {
    #[test]
    fn frames_cut_at_any_byte_decode_to_the_same_frames(
        messages in collection::vec(any_message(), 0..6),
        sizes in collection::vec(1_usize..200, 1..20),
    ) {
        let (frames, texts): (Vec<_>, Vec<_>) = messages.into_iter().unzip();
        let encoded = frames.concat();
        let (mut buffer, mut decoded, mut rest) = (Vec::new(), Vec::new(), &encoded[..]);
        for size in sizes.iter().cycle() {
            let (piece, after) = rest.split_at((*size).min(rest.len()));
            buffer.extend_from_slice(piece);
            while let Some(frame) = Frame::first(&buffer).expect("well formed") {
                decoded.push(decode(frame).expect("well formed"));
                let size = frame.size();
                buffer.drain(..size);
            }
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(decoded, texts);
        prop_assert!(buffer.is_empty());
    }

    #[test]
    fn a_frame_that_lacks_a_byte_is_not_complete((encoded, _) in any_message()) {
        for length in 0..encoded.len() {
            prop_assert_eq!(Frame::first(&encoded[..length]), Ok(None));
        }
    }

    #[test]
    fn a_payload_cut_short_or_followed_by_a_byte_is_refused((encoded, _) in closed(), cut: Index) {
        let frame = only(&encoded);
        let longer = [frame.payload, b"x"].concat();
        let shorter = &frame.payload[..cut.index(frame.payload.len())];
        for payload in [shorter, &longer] {
            let refused = decode(Frame { payload, ..frame });
            prop_assert!(refused.is_err(), "{refused:?}");
        }
    }

    #[test]
    fn a_length_over_the_limit_is_refused_before_any_byte_follows(beyond in 1_u32..1 << 31) {
        let length = u32::try_from(FRAME_LIMIT).expect("a u32") + beyond;
        let bytes = length.to_le_bytes();
        prop_assert_eq!(Frame::first(&bytes), Err(Malformed::TooLarge(length)));
    }

    #[test]
    fn any_payload_of_any_kind_is_decoded_or_refused(
        messages in collection::vec(any_message(), 20),
        payload in bytes(400),
    ) {
        for (encoded, _) in &messages {
            let _ = decode(Frame { payload: &payload, ..only(encoded) });
        }
    }
}

#[test]
fn a_text_never_exceeds_its_limit() {
    for length in TEXT_LIMIT - 1..TEXT_LIMIT + 2 {
        for (_, encode) in &TEXTS[..3] {
            let mut encoded = Vec::new();
            encode(&mut encoded, &vec![b'x'; length]);
            assert!(encoded.len() <= HEADER_BYTES + 1 + TEXT_LIMIT);
        }
    }
}
