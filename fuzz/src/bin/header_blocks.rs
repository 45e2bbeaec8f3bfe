//! The malformed fields of a request of HTTP/2 are mended, in their length and nothing else, however the fields are
//! compressed and their bytes are cut. Those in Huffman code become plain ones that take no more of the table.
#![no_main]

use std::collections::VecDeque;

use carat_fuzz::{Input, pass_frames};
use carat_http2::{FrameGuard, PREFACE, huffman_code};
use libfuzzer_sys::fuzz_target;

const SETTINGS: [u8; 9] = [0, 0, 0, 4, 0, 0, 0, 0, 0];
const END_HEADERS: u8 = 4;
const STATIC_FIELDS: usize = 61;
const STATIC_PATH: usize = 4;
const TABLE_LIMIT: usize = 4096;
/// What takes the room of a text that became shorter.
const FILLER: u8 = 0x95;

/// What a client sends, and what its decoder must get.
#[derive(Default)]
struct Sent {
    bytes: Vec<u8>,
    mended: Vec<u8>,
}

/// How a text is written.
#[derive(Clone, Copy)]
enum TextCoding {
    Raw,
    Huffman { is_added: bool },
}

impl Sent {
    fn both(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        self.mended.extend_from_slice(bytes);
    }

    fn integer(&mut self, high: u8, bits: u32, value: usize) {
        let mut bytes = Vec::new();
        integer(&mut bytes, high, bits, value);
        self.both(&bytes);
    }

    fn text(
        &mut self,
        text: &[u8],
        substitute: u8,
        coding: TextCoding,
        rule: &TextRule<impl Fn(u8) -> bool>,
    ) {
        let is_well_formed = rule.takes(text);
        if let (TextCoding::Huffman { is_added }, false) = (coding, text.is_empty()) {
            return self.huffman(text, substitute, is_added, is_well_formed);
        }
        self.integer(0, 7, text.len());
        if is_well_formed {
            return self.both(text);
        }
        self.bytes.extend_from_slice(text);
        let mended = text.iter().map(|byte| {
            if (rule.may_have)(*byte) {
                *byte
            } else {
                substitute
            }
        });
        self.mended.extend(mended);
        if let Some(last) = self.mended.last_mut() {
            *last = substitute;
        }
    }

    fn huffman(&mut self, text: &[u8], substitute: u8, is_added: bool, is_well_formed: bool) {
        let (own, begin) = (huffman_code(text), self.bytes.len());
        integer(&mut self.bytes, 0x80, 7, own.len());
        self.bytes.extend_from_slice(&own);
        let sent = &self.bytes[begin..];
        if is_well_formed {
            return self.mended.extend_from_slice(sent);
        }
        let count = if is_added {
            own.len().min(text.len())
        } else {
            own.len()
        };
        let mut plain = Vec::new();
        integer(&mut plain, 0, 7, count);
        plain.resize(plain.len() + count, substitute);
        let fillers = vec![FILLER; sent.len() - plain.len()];
        // Those of a name are before its field, which has begun.
        let at = self.mended.len() - usize::from(substitute == b'"');
        if at < self.mended.len() {
            self.mended.splice(at..at, fillers);
            self.mended.extend(plain);
        } else {
            self.mended.extend(plain);
            self.mended.extend(fillers);
        }
    }

    fn name(&mut self, name: &[u8], coding: TextCoding) {
        let is_token =
            |byte: u8| byte.is_ascii_lowercase() || b"!#$%&'*+-.^_`|~0123456789".contains(&byte);
        let may_have = |byte| name == b":path" || is_token(byte);
        let rule = TextRule {
            may_have,
            is_utf8: false,
        };
        self.text(name, b'"', coding, &rule);
    }

    fn value(&mut self, value: &[u8], is_pseudo: bool, coding: TextCoding) {
        let may_have = |byte| match byte {
            0x80.. => !is_pseudo,
            0..0x20 | 0x7f => is_pseudo || byte == b'\t',
            _ => true,
        };
        let rule = TextRule {
            may_have,
            is_utf8: is_pseudo,
        };
        self.text(value, b'\t', coding, &rule);
    }
}

/// Which texts are well formed: those of UTF-8, or those whose every byte `may_have` takes. A byte that it does not take
/// is mended in a text that is not.
struct TextRule<F: Fn(u8) -> bool> {
    may_have: F,
    is_utf8: bool,
}

impl<F: Fn(u8) -> bool> TextRule<F> {
    fn takes(&self, text: &[u8]) -> bool {
        if self.is_utf8 {
            return std::str::from_utf8(text).is_ok();
        }
        text.iter().all(|byte| (self.may_have)(*byte))
    }
}

/// An encoder of HPACK (RFC 7541) that knows the field it writes by a byte.
#[derive(Default)]
struct Encoder(VecDeque<(Vec<u8>, Vec<u8>)>);

impl Encoder {
    fn field(&mut self, out: &mut Sent, choice: u8, name: &[u8], value: &[u8]) {
        let known = |(n, v): &(Vec<u8>, Vec<u8>)| n == name && v == value;
        if let Some(at) = self.0.iter().position(known).filter(|_| choice & 8 != 0) {
            return out.integer(0x80, 7, STATIC_FIELDS + 1 + at);
        }
        let is_added = choice & 1 != 0;
        let coding = match choice & 0x40 {
            0 => TextCoding::Raw,
            _ => TextCoding::Huffman { is_added },
        };
        let named = self.0.iter().position(|(n, _)| n == name);
        let index = match named.filter(|_| choice & 2 != 0) {
            Some(at) => STATIC_FIELDS + 1 + at,
            None if name == b":path" && choice & 4 != 0 => STATIC_PATH,
            None => 0,
        };
        if is_added {
            out.integer(0x40, 6, index);
        } else {
            out.integer(choice & 0x10, 4, index);
        }
        if index == 0 {
            out.name(name, coding);
        }
        out.value(value, name == b":path", coding);
        if is_added {
            self.add(name, value);
        }
    }

    fn add(&mut self, name: &[u8], value: &[u8]) {
        self.0.push_front((name.to_vec(), value.to_vec()));
        let size = |all: &VecDeque<(Vec<u8>, Vec<u8>)>| -> usize {
            all.iter().map(|(n, v)| n.len() + v.len() + 32).sum()
        };
        while size(&self.0) > TABLE_LIMIT {
            self.0.pop_back();
        }
    }
}

fn integer(out: &mut Vec<u8>, high: u8, bits: u32, value: usize) {
    let most = (1_usize << bits) - 1;
    let byte = |value: usize| u8::try_from(value).expect("a byte");
    if value < most {
        return out.push(high | byte(value));
    }
    out.push(high | byte(most));
    let mut rest = value - most;
    while rest > 127 {
        out.push(byte(rest & 127) | 128);
        rest >>= 7;
    }
    out.push(byte(rest));
}

/// Requests with these fields, one for each line.
fn requests(bytes: &[u8]) -> Sent {
    let (mut encoder, mut out) = (Encoder::default(), Sent::default());
    out.both(PREFACE);
    out.both(&SETTINGS);
    for (line, stream) in bytes.split(|byte| *byte == b'\n').zip(1_u32..) {
        let mut block = Sent::default();
        for field in line.split(|byte| *byte == b' ') {
            let Some((choice, value)) = field.split_first() else {
                continue;
            };
            let is_path = choice & 0x20 != 0;
            let name: &[u8] = if is_path { b":path" } else { b"X-path" };
            encoder.field(&mut block, *choice, name, value);
        }
        let length = u32::try_from(block.bytes.len())
            .expect("short")
            .to_be_bytes();
        out.both(&length[1..]);
        out.both(&[1, END_HEADERS]);
        out.both(&stream.to_be_bytes());
        out.bytes.append(&mut block.bytes);
        out.mended.append(&mut block.mended);
    }
    out
}

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::read(data) else {
        return;
    };
    let Sent { bytes, mended } = requests(input.bytes);
    let (passed, held, fault) = pass_frames(&mut FrameGuard::new(0), input.pieces_of(&bytes));
    assert_eq!((passed, held, fault), (mended, Vec::new(), None));
});
