//! A PROXY header is complete at one length, is not longer than its limit, and nothing that follows changes it.
#![no_main]

use carat_fields::proxy_protocol::{PROXY_HEADER_LIMIT, parse};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let bytes = &data[..data.len().min(2 * PROXY_HEADER_LIMIT)];
    match parse(bytes) {
        Ok(Some(header)) => {
            assert!((1..=PROXY_HEADER_LIMIT.min(bytes.len())).contains(&header.length));
            assert_eq!(parse(&bytes[..header.length]), Ok(Some(header)));
            assert_eq!(parse(&bytes[..header.length - 1]), Ok(None));
        }
        Ok(None) => {
            assert!(bytes.len() < PROXY_HEADER_LIMIT);
            let half = &bytes[..bytes.len() / 2];
            assert_eq!(parse(half), Ok(None));
        }
        Err(_) => assert!(!bytes.is_empty()),
    }
});
