//! Decoders against the encoders of the same crates. The fuzz target `decode` cuts the bodies anywhere.

use std::io::Write;

use brotli::enc::BrotliEncoderParams;
use carat_coding::{
    Coding, Codings, DecodeError, DecodeLimits, Decoder, GZIP_MEMBERS_LIMIT, RATIO_GRACE,
    ZSTD_WINDOW_LIMIT,
};
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

const ALL: [Coding; 4] = [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd];
const LIMITS: DecodeLimits = DecodeLimits {
    size: 64 << 20,
    ratio: u64::MAX,
};

fn written<W: Write>(mut encoder: W, plain: &[u8], finish: impl Fn(W) -> Vec<u8>) -> Vec<u8> {
    encoder.write_all(plain).expect("memory takes everything");
    finish(encoder)
}

fn encode(coding: Coding, plain: &[u8]) -> Vec<u8> {
    let level = Compression::default();
    match coding {
        Coding::Gzip => written(GzEncoder::new(vec![], level), plain, |e| {
            e.finish().expect("gzip")
        }),
        Coding::Deflate => written(ZlibEncoder::new(vec![], level), plain, |e| {
            e.finish().expect("zlib")
        }),
        Coding::Brotli => brotli(plain, 22),
        Coding::Zstd => zstd::encode_all(plain, 3).expect("zstd"),
    }
}

fn brotli(plain: &[u8], lgwin: i32) -> Vec<u8> {
    let large_window = lgwin > 24;
    let params = BrotliEncoderParams {
        quality: 3,
        lgwin,
        large_window,
        ..Default::default()
    };
    let (mut source, mut out) = (plain, vec![]);
    brotli::BrotliCompress(&mut source, &mut out, &params).expect("br");
    out
}

/// The coded body of `plain` with these codings applied in this order.
fn stack(codings: &[Coding], plain: &[u8]) -> Vec<u8> {
    codings
        .iter()
        .fold(plain.to_vec(), |body, &coding| encode(coding, &body))
}

fn decoder(codings: &[Coding], limits: DecodeLimits) -> Decoder {
    let codings = Codings::of(codings.iter().map(|coding| coding.name().as_bytes()));
    Decoder::new(&codings.expect("known"), limits).expect("coded")
}

/// Decodes a body into a scratch buffer of this size.
fn decode_by(
    decoder: &mut Decoder,
    mut coded: &[u8],
    scratch: usize,
) -> Result<Vec<u8>, DecodeError> {
    let (mut scratch, mut plain) = (vec![0; scratch], vec![]);
    loop {
        let step = decoder.step(coded, &mut scratch)?;
        plain.extend_from_slice(&scratch[..step.written]);
        coded = &coded[step.read..];
        if !step.more {
            break;
        }
    }
    assert_eq!(coded, b"", "nothing more to do");
    decoder.finish()?;
    Ok(plain)
}

fn decode(codings: &[Coding], coded: &[u8]) -> Result<Vec<u8>, DecodeError> {
    decode_by(&mut decoder(codings, LIMITS), coded, 4096)
}

fn text() -> Vec<u8> {
    (0..3000)
        .flat_map(|n| format!("{{\"id\":{n},\"square\":{}}}\n", n * n).into_bytes())
        .collect()
}

fn stacks() -> impl Iterator<Item = Vec<Coding>> {
    let pairs = ALL.iter().flat_map(|&a| ALL.map(|b| vec![a, b]));
    ALL.iter().map(|&coding| vec![coding]).chain(pairs)
}

#[test]
fn every_coding_and_every_pair_gives_the_body_back() {
    for codings in stacks() {
        for plain in [vec![], b"x".to_vec(), text(), vec![0; 1 << 20]] {
            let coded = stack(&codings, &plain);
            assert_eq!(
                decode(&codings, &coded).as_deref(),
                Ok(&plain[..]),
                "{codings:?}"
            );
        }
    }
}

#[test]
fn a_body_cut_short_anywhere_is_truncated() {
    let plain = &text()[..600];
    for codings in stacks() {
        let coded = stack(&codings, plain);
        for length in 1..coded.len() {
            let outcome = decode(&codings, &coded[..length]);
            assert_eq!(
                outcome,
                Err(DecodeError::Truncated),
                "{codings:?} cut at {length}"
            );
        }
    }
}

#[test]
fn no_bytes_are_an_empty_body_in_any_coding() {
    for codings in stacks() {
        assert_eq!(decode(&codings, b""), Ok(vec![]));
    }
}

#[test]
fn bytes_after_the_end_are_refused() {
    for codings in stacks() {
        for garbage in [&b"x"[..], b"\0", b"\r\n", b"garbage garbage garbage"] {
            let mut coded = stack(&codings, b"hello");
            coded.extend_from_slice(garbage);
            let outcome = decode(&codings, &coded);
            // This few bytes may be the start of another member or frame.
            let short = outcome == Err(DecodeError::Truncated) && garbage.len() < 4;
            let refused = short || outcome == Err(DecodeError::Corrupt);
            assert!(refused, "{codings:?} {garbage:?} {outcome:?}");
        }
    }
}

#[test]
fn gzip_members_and_zstd_frames_follow_one_another() {
    for coding in [Coding::Gzip, Coding::Zstd] {
        let coded = [
            encode(coding, b"hello "),
            encode(coding, b""),
            encode(coding, b"again"),
        ];
        assert_eq!(
            decode(&[coding], &coded.concat()).as_deref(),
            Ok(&b"hello again"[..])
        );
    }
    let skippable = [
        &b"\x50\x2a\x4d\x18\x03\0\0\0abc"[..],
        &encode(Coding::Zstd, b"hello"),
    ]
    .concat();
    assert_eq!(
        decode(&[Coding::Zstd], &skippable).as_deref(),
        Ok(&b"hello"[..])
    );
}

#[test]
fn a_wrong_checksum_is_corrupt() {
    for coding in [Coding::Gzip, Coding::Deflate] {
        let mut coded = encode(coding, &text());
        let place = coded.len() - if coding == Coding::Gzip { 5 } else { 1 };
        coded[place] ^= 1;
        let found = decode(&[coding], &coded);
        assert_eq!(found, Err(DecodeError::Corrupt), "{coding:?}");
    }
}

#[test]
fn deflate_without_the_zlib_header_is_accepted() {
    for level in 0..=9 {
        let encoder = DeflateEncoder::new(vec![], Compression::new(level));
        let coded = written(encoder, &text(), |e| e.finish().expect("deflate"));
        let found = decode(&[Coding::Deflate], &coded);
        assert_eq!(found, Ok(text()), "level {level}");
    }
}

#[test]
fn the_wrong_coding_is_corrupt() {
    for (coding, other) in [(Coding::Gzip, Coding::Zstd), (Coding::Zstd, Coding::Gzip)] {
        let found = decode(&[coding], &encode(other, &text()));
        assert_eq!(found, Err(DecodeError::Corrupt));
    }
    assert_eq!(decode(&[Coding::Gzip], &text()), Err(DecodeError::Corrupt));
    let found = decode(&[Coding::Brotli], &text());
    assert_eq!(found, Err(DecodeError::Corrupt));
}

#[test]
fn a_zstd_window_above_8_mebibytes_is_refused() {
    let plain = vec![7; ZSTD_WINDOW_LIMIT + 1];
    for (log, outcome) in [
        (23, Ok(plain.clone())),
        (24, Err(DecodeError::WindowTooLarge)),
    ] {
        let mut encoder = zstd::Encoder::new(vec![], 1).expect("a level");
        encoder.window_log(log).expect("a window");
        let coded = written(encoder, &plain, |e| e.finish().expect("zstd"));
        assert_eq!(decode(&[Coding::Zstd], &coded), outcome, "2^{log}");
    }
}

#[test]
fn a_brotli_window_above_16_mebibytes_is_refused() {
    let plain = text();
    let found = decode(&[Coding::Brotli], &brotli(&plain, 24));
    assert_eq!(found, Ok(plain.clone()));
    let found = decode(&[Coding::Brotli], &brotli(&plain, 25));
    assert_eq!(found, Err(DecodeError::Corrupt));
}

#[test]
fn a_body_over_the_size_is_refused_before_it_is_returned() {
    for codings in stacks() {
        let (size, scratch) = (50_000, 999);
        for (bytes, outcome) in [
            (size, Ok(vec![b'a'; 50_000])),
            (size + 1, Err(DecodeError::TooLarge)),
        ] {
            let plain = vec![b'a'; usize::try_from(bytes).expect("small")];
            let coded = stack(&codings, &plain);
            let mut decoder = decoder(&codings, DecodeLimits { size, ..LIMITS });
            let found = decode_by(&mut decoder, &coded, scratch);
            assert_eq!(found, outcome, "{codings:?}");
        }
    }
}

#[test]
fn a_body_over_the_ratio_is_refused_after_the_grace() {
    let limits = DecodeLimits {
        ratio: 100,
        ..LIMITS
    };
    let grace = usize::try_from(RATIO_GRACE).expect("small");
    for codings in stacks() {
        for (bytes, refused) in [(grace, false), (2 * grace, true)] {
            let coded = stack(&codings, &vec![0; bytes]);
            let mut decoder = decoder(&codings, limits);
            let found = decode_by(&mut decoder, &coded, 65_536);
            assert_eq!(found == Err(DecodeError::TooDense), refused, "{codings:?}");
        }
    }
}

#[test]
fn bytes_between_two_codings_count_too() {
    // The inner members are empty, so nothing comes out at the end. The outer coding has a ratio of
    // 1000 before that.
    let members = encode(Coding::Gzip, b"").repeat(GZIP_MEMBERS_LIMIT);
    let coded = encode(Coding::Gzip, &members);
    let codings = [Coding::Gzip, Coding::Gzip];
    for (limits, error) in [
        (
            DecodeLimits {
                ratio: 100,
                ..LIMITS
            },
            DecodeError::TooDense,
        ),
        (
            DecodeLimits {
                size: 1 << 20,
                ..LIMITS
            },
            DecodeError::TooLarge,
        ),
    ] {
        let mut decoder = decoder(&codings, limits);
        let found = decode_by(&mut decoder, &coded, 4096);
        assert_eq!(found, Err(error));
    }
    assert_eq!(decode(&codings, &coded), Ok(vec![]));
}

#[test]
fn gzip_has_no_more_members_than_the_limit() {
    let member = encode(Coding::Gzip, b"");
    let most = member.repeat(GZIP_MEMBERS_LIMIT);
    assert_eq!(decode(&[Coding::Gzip], &most), Ok(vec![]));
    let more = [most, member].concat();
    assert_eq!(decode(&[Coding::Gzip], &more), Err(DecodeError::TooDense));
}
