//! A coded body is decoded to the same bytes, or refused, however it is cut and however small the
//! output is; nothing beyond the limits comes out, and every step makes progress.
#![no_main]

use carat_coding::{Codings, DecodeError, DecodeLimits, Decoder, RATIO_GRACE};
use carat_fuzz::Input;
use libfuzzer_sys::fuzz_target;

const CODINGS: [&str; 12] = [
    "gzip",
    "deflate",
    "br",
    "zstd",
    "gzip, br",
    "br, gzip",
    "zstd, gzip",
    "gzip, zstd",
    "deflate, zstd",
    "br, br",
    "gzip, gzip",
    "zstd, br",
];
const LIMITS: [DecodeLimits; 2] = [
    DecodeLimits {
        size: 2 * RATIO_GRACE,
        ratio: u64::MAX,
    },
    DecodeLimits {
        size: 1000,
        ratio: 2,
    },
];
/// Steps in a row that neither read nor write.
const IDLE_STEPS: usize = 8;

fn decode<'a>(
    codings: &Codings,
    limits: DecodeLimits,
    pieces: impl Iterator<Item = &'a [u8]>,
    scratch: usize,
) -> Result<Vec<u8>, DecodeError> {
    let mut decoder = Decoder::new(codings, limits).expect("coded");
    let (mut scratch, mut plain, mut idle) = (vec![0; scratch], Vec::new(), 0);
    for mut piece in pieces {
        loop {
            let step = decoder.step(piece, &mut scratch)?;
            plain.extend_from_slice(&scratch[..step.written]);
            piece = &piece[step.read..];
            idle = if step.read + step.written > 0 {
                0
            } else {
                idle + 1
            };
            assert!(idle <= IDLE_STEPS || !step.more, "no progress");
            if !step.more {
                break;
            }
        }
        idle = 0;
        assert!(piece.is_empty(), "input is left");
    }
    decoder.finish()?;
    assert!(plain.len() as u64 <= limits.size, "more than the limit");
    Ok(plain)
}

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::read(data) else {
        return;
    };
    let name = CODINGS[input.choose(CODINGS.len())];
    let codings = Codings::of([name.as_bytes()]).expect("known codings");
    let limits = LIMITS[usize::from(input.option) / CODINGS.len() % LIMITS.len()];
    let whole = decode(&codings, limits, [input.bytes].into_iter(), 64 * 1024);
    let cut = decode(
        &codings,
        limits,
        input.pieces(),
        1 + usize::from(input.option),
    );
    assert_eq!(cut.ok(), whole.ok());
});
