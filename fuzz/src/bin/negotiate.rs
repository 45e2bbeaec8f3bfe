//! The coding of a response is one that the client named and did not refuse, whatever the order of
//! its wishes and the lines of its header.
#![no_main]

use carat_coding::{CODINGS_LIMIT, Coding, Codings, negotiate};
use carat_fuzz::Input;
use libfuzzer_sys::fuzz_target;

/// Headers beyond this are ignored, so the comparisons below hold only for shorter ones.
const BYTES: usize = 900;
const ENTRIES: usize = 28;

fn check_response(header: &[u8]) {
    let lines = || header.split(|&byte| byte == b'\n');
    let entries: Vec<_> = header.split(|byte| b"\n,".contains(byte)).collect();
    let chosen = negotiate(lines());
    if header.len() > BYTES || entries.len() > ENTRIES {
        return;
    }
    let joined = entries.join(&b","[..]);
    assert_eq!(negotiate([&joined[..]]), chosen, "in one line");
    let reversed: Vec<_> = entries.iter().rev().copied().collect();
    assert_eq!(
        negotiate([&reversed.join(&b","[..])[..]]),
        chosen,
        "reversed"
    );
    let Some(coding) = chosen else { return };
    let refused = [&joined[..], b",", coding.name().as_bytes(), b";q=0"].concat();
    assert_ne!(negotiate([&refused[..]]), Some(coding), "refused");
    let names = |entry: &&[u8]| {
        let name = entry.split(|&byte| byte == b';').next();
        let name = name.unwrap_or_default().trim_ascii();
        name == b"*" || Coding::named(name) == Some(coding)
    };
    assert!(entries.iter().any(names), "not named");
}

fn check_request(header: &[u8]) {
    let Ok(codings) = Codings::of(header.split(|&byte| byte == b'\n')) else {
        return;
    };
    assert!(codings.applied().len() <= CODINGS_LIMIT);
    let names: Vec<_> = codings
        .applied()
        .iter()
        .map(|coding| coding.name())
        .collect();
    assert_eq!(Codings::of([names.join(", ").as_bytes()]), Ok(codings));
}

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::read(data) else {
        return;
    };
    check_response(input.bytes);
    check_request(input.bytes);
});
