//! A form comes out of the splitter byte for byte, the same however it is cut; and its skeleton is
//! split as the form was.
#![no_main]

use carat_fuzz::Input;
use carat_multipart::{Exceeded, FormEvent, FormLimits, Splitter, boundary_of};
use libfuzzer_sys::fuzz_target;

#[derive(Debug, Default, PartialEq, Eq)]
struct Split {
    skeleton: Vec<u8>,
    files: Vec<Vec<u8>>,
    /// Every byte, in the order in which it came out.
    order: Vec<u8>,
}

struct Collector {
    split: Split,
    file: Vec<u8>,
}

impl Collector {
    fn add(&mut self, event: FormEvent<'_>) {
        match event {
            FormEvent::Keep(bytes) => self.split.skeleton.extend_from_slice(bytes),
            FormEvent::File(bytes) => self.file.extend_from_slice(bytes),
            FormEvent::FileEnd => self.split.files.push(std::mem::take(&mut self.file)),
        }
        if let FormEvent::Keep(bytes) | FormEvent::File(bytes) = event {
            assert!(!bytes.is_empty(), "an event without a byte");
            self.split.order.extend_from_slice(bytes);
        }
    }
}

fn split<'a>(
    boundary: &[u8],
    limits: FormLimits,
    pieces: impl Iterator<Item = &'a [u8]>,
) -> Result<Split, Exceeded> {
    let mut splitter = Splitter::new(boundary, limits);
    let mut collector = Collector {
        split: Split::default(),
        file: Vec::new(),
    };
    for mut piece in pieces {
        while let Some(event) = splitter.next(&mut piece)? {
            collector.add(event);
        }
        assert!(piece.is_empty(), "input is left");
    }
    while let Some(event) = splitter.finish() {
        collector.add(event);
    }
    assert!(collector.file.is_empty(), "a file has no end");
    Ok(collector.split)
}

const TIGHT: FormLimits = FormLimits {
    parts: 3,
    files: 2,
    part_header: 90,
    field_bytes: 20,
};

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::read(data) else {
        return;
    };
    let limits = [FormLimits::default(), TIGHT][input.choose(2)];
    let line_end = input.bytes.iter().position(|&byte| byte == b'\n');
    let (content_type, body) = input.bytes.split_at(line_end.map_or(0, |at| at + 1));
    let boundary = boundary_of(content_type.trim_ascii_end()).unwrap_or(b"xyz");
    let whole = split(boundary, limits, [body].into_iter());
    assert_eq!(split(boundary, limits, input.pieces_of(body)), whole);
    assert_eq!(split(boundary, limits, body.chunks(1)), whole);
    let Ok(whole) = whole else { return };
    assert!(body.starts_with(&whole.order), "bytes out are not bytes in");
    let again = split(boundary, limits, [&whole.skeleton[..]].into_iter());
    let again = again.expect("a skeleton is no larger than its form");
    assert_eq!(again.skeleton, whole.skeleton);
    assert_eq!(again.files, vec![Vec::<u8>::new(); whole.files.len()]);
});
