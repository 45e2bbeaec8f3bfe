//! Ranges lie within the content, do not touch, and a header that names them asks for the same again.
#![no_main]

use carat_fields::{RANGES_LIMIT, RequestedRanges};
use carat_fuzz::Input;
use libfuzzer_sys::fuzz_target;

/// Lengths of the content: none, little, and all that a file can have.
const LENGTHS: [u64; 6] = [0, 1, 10, 1000, i64::MAX as u64, u64::MAX];

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::read(data) else {
        return;
    };
    let length = LENGTHS[input.choose(LENGTHS.len())];
    let requested = RequestedRanges::of(input.bytes, length);
    let RequestedRanges::Parts(parts) = &requested else {
        return;
    };
    assert!(!parts.is_empty() && parts.len() <= RANGES_LIMIT);
    let mut sorted = parts.clone();
    sorted.sort_by_key(|part| part.start);
    assert!(sorted.iter().all(|part| part.start < part.end));
    assert!(sorted.iter().all(|part| part.end <= length));
    assert!(sorted.windows(2).all(|pair| pair[0].end < pair[1].start));
    let written: Vec<_> = parts
        .iter()
        .map(|part| format!("{}-{}", part.start, part.end - 1))
        .collect();
    let header = format!("bytes={}", written.join(","));
    assert_eq!(RequestedRanges::of(header.as_bytes(), length), requested);
});
