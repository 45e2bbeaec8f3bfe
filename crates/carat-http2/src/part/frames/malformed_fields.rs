//! Passes each byte in each kind of field to the guard and then to h2: a malformed field ends its
//! own request and no other one.

use std::collections::{HashMap, VecDeque};

use carat_guard::HeaderLimits;
use http::request::Parts;
use tokio::io::AsyncWriteExt;

use crate::guard::{DecodedHead, FrameGuard, PREFACE, huffman_code};

const LIMITS: HeaderLimits = HeaderLimits {
    max_header_bytes: 10_000,
    max_headers: 100,
    max_uri: 1000,
};
const INDEXED: u8 = 0x40;
const PLAIN: u8 = 0;
const NEVER_INDEXED: u8 = 0x10;
const STATIC_FIELDS: usize = 61;
const TABLE_LIMIT: usize = 4096;
/// GET, http, `localhost`, and the path `/`.
const HEAD: &[u8] = b"\x82\x86\x01\x09localhost\x84";
const HEAD_WITHOUT_PATH: &[u8] = b"\x82\x86\x01\x09localhost";
const HEAD_WITHOUT_METHOD: &[u8] = b"\x86\x01\x09localhost\x84";

/// A client that knows its own table.
#[derive(Default)]
struct Sender {
    bytes: Vec<u8>,
    table: VecDeque<usize>,
    stream: u32,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Where {
    Name,
    Value,
    Path,
    Method,
    /// A path or a method whose name the field before the last one has brought into the table.
    NamedPath,
    NamedMethod,
}

impl Sender {
    fn new() -> Sender {
        let mut bytes = PREFACE.to_vec();
        bytes.extend([0, 0, 0, 4, 0, 0, 0, 0, 0]);
        Sender {
            bytes,
            stream: 1,
            ..Sender::default()
        }
    }

    /// Adds a request. Returns its stream.
    fn request(&mut self, block: &[&[u8]]) -> u32 {
        let block = block.concat();
        let length = u8::try_from(block.len()).expect("short");
        let stream = self.stream;
        self.bytes.extend([0, 0, length, 1, 5]);
        self.bytes.extend(stream.to_be_bytes());
        self.bytes.extend(block);
        self.stream += 2;
        stream
    }

    fn field(&mut self, kind: u8, is_huffman: bool, name: &[u8], value: &[u8]) -> Vec<u8> {
        let text = |bytes| text(bytes, is_huffman);
        if kind == INDEXED {
            self.add(name.len() + value.len());
        }
        match name {
            b":path" => [&[kind | 4][..], &text(value)].concat(),
            b":method" => [&[kind | 2][..], &text(value)].concat(),
            name => [&[kind][..], &text(name), &text(value)].concat(),
        }
    }

    /// A field whose name is in the table, behind another field.
    fn named(&mut self, kind: u8, is_huffman: bool, name: &[u8], value: &[u8]) -> Vec<u8> {
        let index: &[u8] = if kind == INDEXED {
            self.add(name.len() + value.len());
            &[INDEXED | 0x3f, 0]
        } else {
            &[kind | 0xf, 48]
        };
        [index, &text(value, is_huffman)].concat()
    }

    /// Brings the name of the field into the table, where the case needs it there.
    fn prepare(&mut self, at: Where) {
        let (head, name, value): (_, &[u8], &[u8]) = match at {
            Where::NamedPath => (HEAD_WITHOUT_PATH, b":path", b"/"),
            Where::NamedMethod => (HEAD_WITHOUT_METHOD, b":method", b"PUT"),
            Where::Name | Where::Value | Where::Path | Where::Method => return,
        };
        let field = self.field(INDEXED, false, name, value);
        self.request(&[head, &field]);
    }

    /// A field with this byte, and what comes before it.
    fn case(
        &mut self,
        kind: u8,
        is_huffman: bool,
        at: Where,
        byte: u8,
    ) -> (&'static [u8], Vec<u8>) {
        let mut field = |name: &[u8], value: &[u8]| match at {
            Where::NamedPath | Where::NamedMethod => self.named(kind, is_huffman, name, value),
            _ => self.field(kind, is_huffman, name, value),
        };
        match at {
            Where::Name => (HEAD, field(&[b'x', byte], b"a")),
            Where::Value => (HEAD, field(b"x", &[b'a', byte, b'b'])),
            Where::Path | Where::NamedPath => (HEAD_WITHOUT_PATH, field(b":path", &[b'/', byte])),
            Where::Method | Where::NamedMethod => {
                (HEAD_WITHOUT_METHOD, field(b":method", &[b'A', byte]))
            }
        }
    }

    fn add(&mut self, bytes: usize) {
        self.table.push_front(bytes + 32);
        while self.table.iter().sum::<usize>() > TABLE_LIMIT {
            self.table.pop_back();
        }
    }

    /// The newest field of the table, or an older one.
    fn entry(age: usize) -> Vec<u8> {
        match STATIC_FIELDS + 1 + age {
            index if index < 127 => vec![0x80 | u8::try_from(index).expect("a byte")],
            index => vec![0xff, u8::try_from(index - 127).expect("a byte")],
        }
    }
}

/// A text with its length.
fn text(text: &[u8], is_huffman: bool) -> Vec<u8> {
    let (text, flag) = if is_huffman {
        (huffman_code(text), 0x80)
    } else {
        (text.to_vec(), 0)
    };
    let length = u8::try_from(text.len()).expect("short");
    [&[length | flag][..], &text].concat()
}

/// The requests that h2 passes on, until the last one: those of all streams that it does not reset.
async fn passed(mut bytes: Vec<u8>, last: u32) -> HashMap<u32, Parts> {
    let count = FrameGuard::new(0).pass(&mut bytes, 0).expect("no fault");
    assert_eq!(count, bytes.len());
    let (mut client, server) = tokio::io::duplex(1 << 20);
    client.write_all(&bytes).await.expect("room");
    let mut connection = h2::server::handshake(server).await.expect("a preface");
    let mut heads = HashMap::new();
    while !heads.contains_key(&last) {
        let next = connection.accept().await.expect("another request");
        let (request, response) = next.expect("the connection goes on");
        let stream = response.stream_id().as_u32();
        heads.insert(stream, request.into_parts().0);
    }
    heads
}

fn is_served(heads: &HashMap<u32, Parts>, stream: u32) -> bool {
    heads.get(&stream).is_some_and(|parts| {
        let head = DecodedHead {
            method: parts.method.as_str().as_bytes(),
            authority: Some(b"localhost"),
            target: parts.uri.path_and_query().map(|it| it.as_str().as_bytes()),
        };
        let fields = parts.headers.iter();
        let fields = fields.map(|(name, value)| (name.as_str().as_bytes(), value.as_bytes()));
        head.check(fields, &LIMITS).is_ok()
    })
}

/// Whether the byte may be there; `None` where the rules of a target decide.
fn is_well_formed(byte: u8, at: Where) -> Option<bool> {
    // A backtick at the end marks a malformed method.
    let is_token = byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    match at {
        Where::Name => Some(is_token && !byte.is_ascii_uppercase()),
        Where::Value => Some(byte == b'\t' || (byte >= 0x20 && byte != 0x7f)),
        Where::Path | Where::NamedPath => None,
        Where::Method | Where::NamedMethod => Some(is_token && byte != b'`'),
    }
}

/// The expected outcome of a stream.
struct Expected {
    stream: u32,
    is_served: Option<bool>,
    byte: u8,
}

async fn check(kind: u8, is_huffman: bool, at: Where) {
    let mut sender = Sender::new();
    let mut expected = Vec::new();
    for byte in 0..=255 {
        let mut expect = |stream, is_served| {
            expected.push(Expected {
                stream,
                is_served,
                byte,
            });
        };
        sender.prepare(at);
        let kept = sender.field(INDEXED, is_huffman, b"kept", b"yes");
        expect(sender.request(&[HEAD, &kept]), Some(true));
        let (head, field) = sender.case(kind, is_huffman, at, byte);
        let well_formed = is_well_formed(byte, at);
        expect(sender.request(&[head, &field]), well_formed);
        if kind == INDEXED {
            let stream = sender.request(&[head, &Sender::entry(0)]);
            expect(stream, well_formed);
            expect(sender.request(&[HEAD, &Sender::entry(1)]), Some(true));
            let oldest = Sender::entry(sender.table.len() - 1);
            // Whatever field this is, h2's table has it.
            expect(sender.request(&[HEAD, &oldest]), None);
        }
        expect(sender.request(&[HEAD]), Some(true));
    }
    let heads = passed(sender.bytes, sender.stream - 2).await;
    for Expected {
        stream,
        is_served: wanted,
        byte,
    } in expected
    {
        let found = is_served(&heads, stream);
        let case = format!("{byte:#x} in {at:?}, {kind:#x}, huffman: {is_huffman}, {stream}");
        assert!(wanted.is_none_or(|wanted| wanted == found), "{case}");
    }
}

#[tokio::test]
async fn whatever_byte_a_field_has_other_requests_go_on() {
    for kind in [INDEXED, PLAIN, NEVER_INDEXED] {
        for is_huffman in [false, true] {
            for at in [
                Where::Name,
                Where::Value,
                Where::Path,
                Where::Method,
                Where::NamedPath,
                Where::NamedMethod,
            ] {
                check(kind, is_huffman, at).await;
            }
        }
    }
}
