//! The frames of a connection of HTTP/2 are counted, their faults and the resets among them found, however the bytes are cut.
#![no_main]

use carat_fuzz::{Input, pass_frames};
use carat_http2::{FrameFault, FrameGuard, PREFACE, SentResets};
use libfuzzer_sys::fuzz_target;

/// More than a client may send at once, and what each request or body allows beyond.
const OVERHEAD_LIMIT: usize = 1000;
const REQUEST_CREDIT: usize = 4;
const BYTES_CREDIT: usize = 256;

const HEADER_BYTES: usize = 9;
/// Larger header blocks do not wait for their end.
const BLOCK_LIMIT: usize = 32 * 1024;

#[derive(Debug, PartialEq, Eq)]
struct Counted {
    /// What h2 gets, unless there is a fault.
    passed: Vec<u8>,
    fault: Option<FrameFault>,
    is_in_frame: bool,
    resets: Vec<u32>,
}

fn count<'a>(pieces: impl Iterator<Item = &'a [u8]> + Clone) -> Counted {
    let (mut guard, mut sent, mut resets) = (FrameGuard::new(0), SentResets::default(), Vec::new());
    let opening = [&PREFACE[..], &[0, 0, 0, 4, 0, 0, 0, 0, 0]].concat();
    let (passed, held, fault) = pass_frames(&mut guard, [&opening[..]].into_iter());
    assert_eq!((passed, held, fault), (opening, Vec::new(), None));
    let (passed, held, fault) = pass_frames(&mut guard, pieces.clone());
    for piece in pieces {
        sent.pass(piece, |code| resets.push(code));
    }
    Counted {
        passed: if fault.is_none() { passed } else { Vec::new() },
        is_in_frame: fault.is_none() && (guard.is_in_frame() || !held.is_empty()),
        fault,
        resets,
    }
}

/// The complete frames: their types, flags, and payloads.
fn frames(mut bytes: &[u8]) -> Vec<(u8, u8, &[u8])> {
    let mut frames = Vec::new();
    while let Some((header, rest)) = bytes.split_at_checked(HEADER_BYTES) {
        let length = u32::from_be_bytes([0, header[0], header[1], header[2]]) as usize;
        let Some((payload, rest)) = rest.split_at_checked(length) else {
            break;
        };
        frames.push((header[3], header[4], payload));
        bytes = rest;
    }
    frames
}

/// Whether each header block is passed as a whole: it is in one frame, and that is not too large. A CONTINUATION frame that
/// continues nothing, for which h2 ends the connection, does not wait.
fn all_blocks_wait(mut bytes: &[u8]) -> bool {
    while let Some((header, payload)) = bytes.split_at_checked(HEADER_BYTES) {
        let length = u32::from_be_bytes([0, header[0], header[1], header[2]]) as usize;
        if header[3] == 9 || header[3] == 1 && (header[4] & 4 == 0 || length > BLOCK_LIMIT) {
            return false;
        }
        bytes = payload.get(length..).unwrap_or_default();
    }
    true
}

/// RFC 9113, 7.
const ENHANCE_YOUR_CALM: u32 = 0xb;

/// No flood is found without cause, and none is missed.
fn check(counted: &Counted, bytes: &[u8]) {
    let frames = frames(bytes);
    let is_overhead = |(kind, flags, payload): &&(u8, u8, &[u8])| match kind {
        0 => payload.is_empty() && flags & 1 == 0,
        1 => false,
        _ => true,
    };
    let overhead = frames.iter().filter(is_overhead).count();
    let requests = frames.iter().filter(|(kind, ..)| *kind == 1).count();
    let earned = REQUEST_CREDIT * requests + bytes.len() / BYTES_CREDIT;
    if let Some(fault) = counted.fault {
        assert!(fault.code() != ENHANCE_YOUR_CALM || overhead + 2 > OVERHEAD_LIMIT);
    } else {
        assert!(overhead <= OVERHEAD_LIMIT + earned);
        let codes = frames.iter().filter(|(kind, ..)| *kind == 3);
        let codes = codes.filter_map(|(_, _, payload)| payload.first_chunk::<4>());
        let codes: Vec<_> = codes.map(|code| u32::from_be_bytes(*code)).collect();
        assert!(counted.resets.starts_with(&codes));
    }
}

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::read(data) else {
        return;
    };
    // Enough for a flood.
    let bytes = input.bytes.repeat(1 + input.choose(200));
    let whole = count([&bytes[..]].into_iter());
    let cut = count(input.pieces_of(&bytes));
    // A block that is too large to wait is mended only as far as it has come.
    if all_blocks_wait(&bytes) {
        assert_eq!(cut, whole);
    }
    check(&whole, &bytes);
});
