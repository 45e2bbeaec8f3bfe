//! Exactly the requests whose `:path` contains `#`, or whose fields are too large, are found, however their fields are
//! compressed and their bytes are cut; and arbitrary bytes are passed over.
#![no_main]

use std::collections::VecDeque;

use carat_fuzz::Input;
use carat_guard::{BlockFault, HeaderBlocks, PREFACE};
use libfuzzer_sys::fuzz_target;

const END_HEADERS: u8 = 4;
const STATIC_FIELDS: usize = 61;
const STATIC_PATH: usize = 4;
const TABLE_LIMIT: usize = 4096;
const MAX_HEADER_BYTES: usize = 2000;

/// An encoder of HPACK (RFC 7541) that knows the field it writes by a byte.
#[derive(Default)]
struct Encoder(VecDeque<(Vec<u8>, Vec<u8>)>);

impl Encoder {
    fn field(&mut self, out: &mut Vec<u8>, choice: u8, name: &[u8], value: &[u8]) {
        let known = |(n, v): &(Vec<u8>, Vec<u8>)| n == name && v == value;
        if let Some(at) = self.0.iter().position(known).filter(|_| choice & 8 != 0) {
            return integer(out, 0x80, 7, STATIC_FIELDS + 1 + at);
        }
        let is_added = choice & 1 != 0;
        let named = self.0.iter().position(|(n, _)| n == name);
        let index = match named.filter(|_| choice & 2 != 0) {
            Some(at) => STATIC_FIELDS + 1 + at,
            None if name == b":path" && choice & 4 != 0 => STATIC_PATH,
            None => 0,
        };
        if is_added {
            integer(out, 0x40, 6, index);
        } else {
            integer(out, choice & 0x10, 4, index);
        }
        if index == 0 {
            text(out, name);
        }
        text(out, value);
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

fn text(out: &mut Vec<u8>, text: &[u8]) {
    integer(out, 0, 7, text.len());
    out.extend_from_slice(text);
}

/// Requests with these fields, one for each line, and what is wrong with them.
fn requests(bytes: &[u8]) -> (Vec<u8>, Vec<(u32, BlockFault)>) {
    let (mut encoder, mut out, mut expected) = (Encoder::default(), PREFACE.to_vec(), Vec::new());
    for (line, stream) in bytes.split(|byte| *byte == b'\n').zip(1_u32..) {
        let (mut block, mut has_fragment, mut size) = (Vec::new(), false, 0);
        for field in line.split(|byte| *byte == b' ') {
            let Some((choice, value)) = field.split_first() else {
                continue;
            };
            let is_path = choice & 0x20 != 0;
            let name: &[u8] = if is_path { b":path" } else { b"#path" };
            has_fragment |= is_path && value.contains(&b'#');
            size += name.len() + value.len() + 32;
            encoder.field(&mut block, *choice, name, value);
        }
        if size >= MAX_HEADER_BYTES {
            expected.push((stream, BlockFault::TooLarge));
        } else if has_fragment {
            expected.push((stream, BlockFault::Fragment));
        }
        let length = u32::try_from(block.len()).expect("short").to_be_bytes();
        out.extend_from_slice(&length[1..]);
        out.extend([1, END_HEADERS]);
        out.extend(stream.to_be_bytes());
        out.append(&mut block);
    }
    (out, expected)
}

fn found<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Vec<(u32, BlockFault)> {
    let (mut blocks, mut faults) = (HeaderBlocks::new(MAX_HEADER_BYTES), Vec::new());
    pieces.for_each(|piece| blocks.pass(piece, |stream, fault| faults.push((stream, fault))));
    faults
}

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::read(data) else {
        return;
    };
    let arbitrary = [&PREFACE[..], input.bytes].concat();
    let whole = found([&arbitrary[..]].into_iter());
    assert_eq!(found(input.pieces_of(&arbitrary)), whole);
    let (bytes, expected) = requests(input.bytes);
    assert_eq!(found(input.pieces_of(&bytes)), expected);
});
