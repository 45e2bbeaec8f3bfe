//! Any sequence of frames decodes to the same frames, wherever its bytes are cut.

use carat_wire::control::{
    AskStack, Broadcast, Exited, ForkApp, ForkWorker, Sampling, Stack, TEXT_LIMIT,
    decode_begin_profile, decode_load, decode_promote, encode_begin_profile, encode_boot_failed,
    encode_cable, encode_console, encode_load, encode_not_fork_safe, encode_promote, encode_signal,
    encode_sources, encode_stats,
};
use carat_wire::hints::{self, Hints};
use carat_wire::request::encode_descriptors_lost;
use carat_wire::response::{ResponseHead, body};
use carat_wire::stream::{Chunk, Window, decode_id, encode_abort, encode_chunk, encode_end};
use carat_wire::{
    FRAME_LIMIT, Frame, HEADER_BYTES, Headers, Hello, Hijack, Kind, Malformed, Name, Request,
    RequestBody, RequestHead, Response, ResponseBody, Scheme, SocketKind, name_of, push_header,
};
use proptest::collection;
use proptest::prelude::*;

/// Those that carry nothing but bytes.
const TEXTS: [Kind; 6] = [
    Kind::BootFailed,
    Kind::NotForkSafe,
    Kind::Stats,
    Kind::Sources,
    Kind::Console,
    Kind::Cable,
];

type Header = (String, Vec<u8>);

/// Every frame, as a value that owns its bytes.
#[derive(Debug, Clone, PartialEq)]
enum Message {
    Hello(Hello),
    Signal(Kind),
    Request(Box<Call>),
    Response(Box<Reply>),
    Chunk(u32, Vec<u8>),
    End(u32),
    Abort(u32),
    DescriptorsLost(u32),
    Hijack(Hijack),
    Hints(u32, Vec<Header>),
    Window(Window),
    ForkWorker(ForkWorker),
    Text(Kind, Vec<u8>),
    AskStack(AskStack),
    Stack(u16, u32, Vec<u8>),
    ForkApp(u32, u32, Vec<u8>),
    Exited(Exited),
    Promote(u32),
    BeginProfile(Sampling),
    Load(f64),
    Broadcast(Vec<u8>, Vec<u8>),
}

#[derive(Debug, Clone, PartialEq)]
struct Call {
    id: u32,
    version: u8,
    scheme: Scheme,
    has_short_window: bool,
    is_cable: bool,
    server_port: u16,
    texts: [Vec<u8>; 5],
    headers: Vec<Header>,
    body: CallBody,
    files: Vec<bool>,
}

#[derive(Debug, Clone, PartialEq)]
enum CallBody {
    None,
    Inline(Vec<u8>),
    File(u64),
    Stream(Option<u64>),
}

#[derive(Debug, Clone, PartialEq)]
struct Reply {
    head: ResponseHead,
    headers: Vec<Header>,
    body: ReplyBody,
}

#[derive(Debug, Clone, PartialEq)]
enum ReplyBody {
    None,
    Inline(Vec<u8>),
    File(u64, u64, bool),
    Stream,
    Tunnel,
}

fn push_headers(out: &mut Vec<u8>, headers: &[Header]) -> u16 {
    for (name, value) in headers {
        push_header(out, name, value);
    }
    u16::try_from(headers.len()).expect("few")
}

fn owned(headers: Headers<'_>) -> Vec<Header> {
    let name = |name: Name<'_>| match name {
        Name::Known(code) => name_of(code).expect("known").to_owned(),
        Name::Literal(bytes) => String::from_utf8(bytes.to_vec()).expect("ASCII"),
    };
    headers
        .map(|(found, value)| (name(found), value.to_vec()))
        .collect()
}

impl Call {
    fn encode(&self, out: &mut Vec<u8>) {
        let [method, path, query, server_name, remote_addr] = &self.texts;
        let head = RequestHead {
            id: self.id,
            method,
            path,
            query,
            scheme: self.scheme,
            has_short_window: self.has_short_window,
            is_cable: self.is_cable,
            server_name,
            server_port: self.server_port,
            remote_addr,
            version: self.version,
        };
        let body = match &self.body {
            CallBody::None => RequestBody::None,
            CallBody::Inline(bytes) => RequestBody::Inline(bytes),
            CallBody::File(length) => RequestBody::File { length: *length },
            CallBody::Stream(length) => RequestBody::Stream { length: *length },
        };
        let files = self.files.iter().copied();
        carat_wire::request::encode(out, &head, body, files, |out| {
            push_headers(out, &self.headers)
        });
    }

    fn decode(payload: &[u8]) -> Result<Call, Malformed> {
        let Request {
            head,
            headers,
            body,
            files,
        } = Request::decode(payload)?;
        let texts = [
            head.method,
            head.path,
            head.query,
            head.server_name,
            head.remote_addr,
        ];
        Ok(Call {
            id: head.id,
            version: head.version,
            scheme: head.scheme,
            has_short_window: head.has_short_window,
            is_cable: head.is_cable,
            server_port: head.server_port,
            texts: texts.map(<[u8]>::to_vec),
            headers: owned(headers),
            body: match body {
                RequestBody::None => CallBody::None,
                RequestBody::Inline(bytes) => CallBody::Inline(bytes.to_vec()),
                RequestBody::File { length } => CallBody::File(length),
                RequestBody::Stream { length } => CallBody::Stream(length),
            },
            files: files.iter().collect(),
        })
    }
}

impl Reply {
    fn encode(&self, out: &mut Vec<u8>) {
        let mut headers = Vec::new();
        let count = push_headers(&mut headers, &self.headers);
        carat_wire::response::encode(out, self.head, (count, &headers), |out| match &self.body {
            ReplyBody::None => body::none(out),
            ReplyBody::Inline(bytes) if self.head.id % 2 == 0 => body::whole(out, bytes),
            ReplyBody::Inline(bytes) => {
                let length = u32::try_from(bytes.len()).expect("short");
                body::inline(out, length, bytes.chunks(7));
            }
            ReplyBody::File(offset, length, ranges) => body::file(out, *offset, *length, *ranges),
            ReplyBody::Stream => body::stream(out),
            ReplyBody::Tunnel => body::tunnel(out),
        });
    }

    fn decode(payload: &[u8]) -> Result<Reply, Malformed> {
        let response = Response::decode(payload)?;
        Ok(Reply {
            head: ResponseHead {
                id: response.id,
                status: response.status,
                app_micros: response.app_micros,
            },
            headers: owned(response.headers),
            body: match response.body {
                ResponseBody::None => ReplyBody::None,
                ResponseBody::Inline(bytes) => ReplyBody::Inline(bytes.to_vec()),
                ResponseBody::File {
                    offset,
                    length,
                    allows_ranges,
                } => ReplyBody::File(offset, length, allows_ranges),
                ResponseBody::Stream => ReplyBody::Stream,
                ResponseBody::Tunnel => ReplyBody::Tunnel,
            },
        })
    }
}

impl Message {
    fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Message::Hello(hello) => hello.encode(out),
            Message::Signal(kind) => encode_signal(out, *kind),
            Message::Request(call) => call.encode(out),
            Message::Response(reply) => reply.encode(out),
            Message::Chunk(id, data) => encode_chunk(out, *id, data),
            Message::End(id) => encode_end(out, *id),
            Message::Abort(id) => encode_abort(out, *id),
            Message::DescriptorsLost(id) => encode_descriptors_lost(out, *id),
            Message::Hijack(hijack) => hijack.encode(out),
            Message::Hints(id, fields) => {
                let mut headers = Vec::new();
                let count = push_headers(&mut headers, fields);
                hints::encode(out, *id, (count, &headers));
            }
            Message::Window(window) => window.encode(out),
            Message::ForkWorker(fork) => fork.encode(out),
            Message::Text(Kind::BootFailed, text) => encode_boot_failed(out, text),
            Message::Text(Kind::NotForkSafe, text) => encode_not_fork_safe(out, text),
            Message::Text(Kind::Sources, text) => encode_sources(out, text),
            Message::Text(Kind::Console, order) => encode_console(out, order),
            Message::Text(Kind::Cable, text) => {
                encode_cable(out, |out| out.extend_from_slice(text));
            }
            Message::Text(_, text) => encode_stats(out, text),
            Message::AskStack(ask) => ask.encode(out),
            Message::Exited(exited) => exited.encode(out),
            Message::ForkApp(number, generation, name) => ForkApp {
                number: *number,
                generation: *generation,
                name,
            }
            .encode(out),
            Message::Stack(lane, request, text) => Stack {
                lane: *lane,
                request: *request,
                text,
            }
            .encode(out),
            Message::Promote(generation) => encode_promote(out, *generation),
            Message::BeginProfile(sampling) => encode_begin_profile(out, *sampling),
            Message::Load(load) => encode_load(out, *load),
            Message::Broadcast(stream, message) => {
                assert!(
                    Broadcast { stream, message }.encode(out),
                    "within its limits"
                );
            }
        }
    }

    fn decode(frame: Frame<'_>) -> Result<Message, Malformed> {
        let payload = frame.payload;
        Ok(match frame.kind {
            Kind::Hello => Message::Hello(Hello::decode(payload)?),
            Kind::Request => Message::Request(Box::new(Call::decode(payload)?)),
            Kind::Response => Message::Response(Box::new(Reply::decode(payload)?)),
            Kind::Chunk => {
                let chunk = Chunk::decode(payload)?;
                Message::Chunk(chunk.id, chunk.data.to_vec())
            }
            Kind::End => Message::End(decode_id(payload)?),
            Kind::Abort => Message::Abort(decode_id(payload)?),
            Kind::DescriptorsLost => Message::DescriptorsLost(decode_id(payload)?),
            Kind::Hijack => Message::Hijack(Hijack::decode(payload)?),
            Kind::Hints => {
                let hints = Hints::decode(payload)?;
                Message::Hints(hints.id, owned(hints.headers))
            }
            Kind::Window => Message::Window(Window::decode(payload)?),
            Kind::ForkWorker => Message::ForkWorker(ForkWorker::decode(payload)?),
            Kind::AskStack => Message::AskStack(AskStack::decode(payload)?),
            Kind::Exited => Message::Exited(Exited::decode(payload)?),
            Kind::ForkApp => {
                let fork = ForkApp::decode(payload)?;
                Message::ForkApp(fork.number, fork.generation, fork.name.to_vec())
            }
            Kind::Stack => {
                let stack = Stack::decode(payload)?;
                Message::Stack(stack.lane, stack.request, stack.text.to_vec())
            }
            Kind::Promote => Message::Promote(decode_promote(payload)?),
            Kind::BeginProfile => Message::BeginProfile(decode_begin_profile(payload)?),
            Kind::Load => Message::Load(decode_load(payload)?),
            Kind::Broadcast => {
                let broadcast = Broadcast::decode(payload)?;
                Message::Broadcast(broadcast.stream.to_vec(), broadcast.message.to_vec())
            }
            kind @ (Kind::BootFailed
            | Kind::NotForkSafe
            | Kind::Stats
            | Kind::Sources
            | Kind::Console
            | Kind::Cable) => Message::Text(kind, payload.to_vec()),
            kind => {
                assert_eq!(payload, b"", "a signal says all by its kind");
                Message::Signal(kind)
            }
        })
    }
}

fn bytes(limit: usize) -> impl Strategy<Value = Vec<u8>> {
    collection::vec(any::<u8>(), 0..limit)
}

fn headers() -> impl Strategy<Value = Vec<Header>> {
    let name = prop_oneof![
        prop::sample::select(&carat_wire::NAMES[..]).prop_map(str::to_owned),
        "x-[a-z]{1,30}"
    ];
    collection::vec((name, bytes(40)), 0..6)
}

fn call() -> impl Strategy<Value = Message> {
    let body = prop_oneof![
        Just(CallBody::None),
        bytes(300).prop_map(CallBody::Inline),
        any::<u64>().prop_map(CallBody::File),
        any::<Option<u64>>().prop_map(CallBody::Stream),
    ];
    let scheme = prop::sample::select(&[Scheme::Http, Scheme::Https][..]);
    let numbers = (
        any::<u32>(),
        any::<u8>(),
        scheme,
        any::<(bool, bool)>(),
        any::<u16>(),
    );
    let texts = prop::array::uniform5(bytes(30));
    (
        numbers,
        texts,
        headers(),
        body,
        collection::vec(any::<bool>(), 0..5),
    )
        .prop_map(
            |(
                (id, version, scheme, (has_short_window, is_cable), server_port),
                texts,
                headers,
                body,
                files,
            )| {
                Message::Request(Box::new(Call {
                    id,
                    version,
                    scheme,
                    has_short_window,
                    is_cable,
                    server_port,
                    texts,
                    headers,
                    body,
                    files,
                }))
            },
        )
}

fn reply() -> impl Strategy<Value = Message> {
    let body = prop_oneof![
        Just(ReplyBody::None),
        bytes(300).prop_map(ReplyBody::Inline),
        any::<(u64, u64, bool)>()
            .prop_map(|(offset, length, ranges)| ReplyBody::File(offset, length, ranges)),
        Just(ReplyBody::Stream),
        Just(ReplyBody::Tunnel),
    ];
    (any::<(u32, u16, u32)>(), headers(), body).prop_map(
        |((id, status, app_micros), headers, body)| {
            let head = ResponseHead {
                id,
                status,
                app_micros,
            };
            Message::Response(Box::new(Reply {
                head,
                headers,
                body,
            }))
        },
    )
}

fn hello() -> impl Strategy<Value = Message> {
    let socket = prop_oneof![
        Just((SocketKind::Mold, 0)),
        Just((SocketKind::Worker, 0)),
        Just((SocketKind::Process, 0)),
        (1..u16::MAX).prop_map(|capacity| (SocketKind::Lane, capacity)),
    ];
    (socket, any::<u32>())
        .prop_map(|((socket, capacity), pid)| Message::Hello(Hello::new(socket, pid, capacity)))
}

fn message() -> impl Strategy<Value = Message> {
    let signals = [
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
    ];
    prop_oneof![
        call(),
        reply(),
        hello(),
        prop::sample::select(signals.to_vec()).prop_map(Message::Signal),
        (any::<u32>(), bytes(300)).prop_map(|(id, data)| Message::Chunk(id, data)),
        any::<u32>().prop_map(Message::End),
        any::<u32>().prop_map(Message::Abort),
        any::<u32>().prop_map(Message::DescriptorsLost),
        any::<(u32, u32)>().prop_map(|(id, app_micros)| Message::Hijack(Hijack { id, app_micros })),
        (any::<u32>(), headers()).prop_map(|(id, headers)| Message::Hints(id, headers)),
        any::<(u32, u32)>().prop_map(|(id, bytes)| Message::Window(Window { id, bytes })),
        any::<(u32, u32, u16)>().prop_map(|(worker, generation, lanes)| {
            Message::ForkWorker(ForkWorker {
                worker,
                generation,
                lanes,
            })
        }),
        (prop::sample::select(&TEXTS[..]), bytes(300))
            .prop_map(|(kind, text)| Message::Text(kind, text)),
        any::<(u16, u32)>()
            .prop_map(|(lane, request)| Message::AskStack(AskStack { lane, request })),
        (any::<u16>(), any::<u32>(), bytes(300))
            .prop_map(|(lane, request, text)| Message::Stack(lane, request, text)),
        (any::<u32>(), any::<u32>(), bytes(300))
            .prop_map(|(number, generation, name)| Message::ForkApp(number, generation, name)),
        any::<(u8, u32)>()
            .prop_map(|(is_signal, number)| Message::Exited(Exited { is_signal, number })),
        any::<u32>().prop_map(Message::Promote),
        (prop::option::of(1..u64::MAX), any::<u8>()).prop_map(|(interval, clocks)| {
            Message::BeginProfile(Sampling { interval, clocks })
        }),
        (0.0..f64::MAX).prop_map(Message::Load),
        (bytes(30), bytes(300)).prop_map(|(stream, message)| Message::Broadcast(stream, message)),
    ]
}

/// Decodes every complete frame at the front of `buffer`, as an inbox does.
fn take_messages(buffer: &mut Vec<u8>, into: &mut Vec<Message>) -> Result<(), Malformed> {
    while let Some(frame) = Frame::first(buffer)? {
        into.push(Message::decode(frame)?);
        let size = frame.size();
        buffer.drain(..size);
    }
    Ok(())
}

proptest! {
    #[test]
    fn frames_cut_at_any_byte_decode_to_the_same_frames(
        messages in collection::vec(message(), 0..6),
        sizes in collection::vec(1_usize..200, 1..20),
    ) {
        let mut encoded = Vec::new();
        for message in &messages {
            message.encode(&mut encoded);
        }
        let (mut buffer, mut decoded) = (Vec::new(), Vec::new());
        let mut rest = &encoded[..];
        for size in sizes.iter().cycle() {
            let (piece, after) = rest.split_at((*size).min(rest.len()));
            buffer.extend_from_slice(piece);
            take_messages(&mut buffer, &mut decoded).expect("well formed");
            rest = after;
            if rest.is_empty() {
                break;
            }
        }
        prop_assert_eq!(decoded, messages);
        prop_assert!(buffer.is_empty());
    }

    #[test]
    fn a_frame_that_lacks_a_byte_is_not_complete(message in message()) {
        let mut encoded = Vec::new();
        message.encode(&mut encoded);
        for length in 0..encoded.len() {
            prop_assert_eq!(Frame::first(&encoded[..length]), Ok(None));
        }
    }

    #[test]
    fn a_payload_cut_short_or_followed_by_a_byte_is_refused(message in message(), cut: prop::sample::Index) {
        let mut encoded = Vec::new();
        message.encode(&mut encoded);
        let frame = Frame::first(&encoded).expect("well formed").expect("complete");
        let longer = [frame.payload, b"x"].concat();
        let is_open = matches!(
            message,
            Message::Text(..) | Message::Chunk(..) | Message::Stack(..) | Message::ForkApp(..) | Message::Broadcast(..)
        );
        if !is_open && !matches!(message, Message::Signal(_)) {
            let shorter = &frame.payload[..cut.index(frame.payload.len())];
            for payload in [shorter, &longer] {
                let refused = Message::decode(Frame { payload, ..frame });
                prop_assert!(refused.is_err(), "{refused:?}");
            }
        }
    }

    #[test]
    fn a_length_over_the_limit_is_refused_before_any_byte_follows(beyond in 1_u32..1 << 31) {
        let length = u32::try_from(FRAME_LIMIT).expect("a u32") + beyond;
        let bytes = length.to_le_bytes();
        prop_assert_eq!(Frame::first(&bytes), Err(Malformed::TooLarge(length)));
    }
}

#[test]
fn a_text_never_exceeds_its_limit() {
    for length in TEXT_LIMIT - 1..TEXT_LIMIT + 2 {
        for kind in [Kind::BootFailed, Kind::NotForkSafe, Kind::Stats] {
            let mut encoded = Vec::new();
            Message::Text(kind, vec![b'x'; length]).encode(&mut encoded);
            assert!(encoded.len() <= HEADER_BYTES + 1 + TEXT_LIMIT);
        }
    }
}
