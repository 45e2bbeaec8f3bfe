//! Encoders against the decoders of this crate. The fuzz target `encode` cuts the bodies anywhere.

use carat_coding::{Coding, Codings, DecodeLimits, Decoder, Encoder, JITTER_BYTES, Levels, Then};

const ALL: [Coding; 4] = [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd];
const LIMITS: DecodeLimits = DecodeLimits {
    size: 64 << 20,
    ratio: u64::MAX,
};
const DEFAULT: Levels = Levels {
    gzip: 6,
    brotli: 4,
    zstd: 3,
};

fn encoder(coding: Coding) -> Encoder {
    Encoder::new(coding, DEFAULT)
}

/// A body that is decoded as it arrives.
struct Client {
    decoder: Decoder,
    body: Vec<u8>,
}

impl Client {
    fn new(coding: Coding) -> Client {
        let codings = Codings::of([coding.name().as_bytes()]).expect("known");
        Client {
            decoder: Decoder::new(&codings, LIMITS).expect("coded"),
            body: Vec::new(),
        }
    }

    /// Takes output and returns the body so far.
    fn take(&mut self, coded: &[u8]) -> &[u8] {
        let (mut scratch, mut read) = ([0; 1000], 0);
        loop {
            let step = self.decoder.step(&coded[read..], &mut scratch);
            let step = step.expect("well formed");
            read += step.read;
            self.body.extend_from_slice(&scratch[..step.written]);
            if !step.more && read == coded.len() {
                return &self.body;
            }
        }
    }
}

fn decoded(coding: Coding, coded: &[u8]) -> Vec<u8> {
    let mut client = Client::new(coding);
    client.take(coded);
    client.decoder.finish().expect("complete");
    client.body
}

/// Text that is neither random nor uniform.
fn text(bytes: usize) -> Vec<u8> {
    let numbers =
        (0_u64..).map(|number| format!("{{\"id\":{},\"name\":\"item\"}},", number * number));
    numbers.flat_map(String::into_bytes).take(bytes).collect()
}

fn levels(level: i32) -> Levels {
    Levels {
        gzip: level.clamp(1, 9).unsigned_abs(),
        brotli: level.clamp(0, 11).unsigned_abs(),
        zstd: level.max(1),
    }
}

fn assert_whole(levels: Levels, body: &[u8]) {
    for coding in ALL {
        let mut encoder = Encoder::new(coding, levels);
        let coded = encoder.encode(&[body], Then::Finish).expect("encoded");
        assert!(coded.len() < body.len() / 2, "{coding:?} {levels:?}");
        assert!(decoded(coding, coded) == body, "{coding:?} {levels:?}");
    }
}

#[test]
fn every_level_gives_a_small_body_back() {
    for level in 0..=19 {
        assert_whole(levels(level), &text(5_000));
    }
}

/// An encoder takes at most 256 KiB before it writes.
#[test]
fn a_body_larger_than_all_buffers_comes_back() {
    for level in [0, 4, 5] {
        assert_whole(levels(level), &text(300_000));
    }
}

#[test]
fn an_empty_body_is_a_body() {
    for coding in ALL {
        let mut encoder = encoder(coding);
        let coded = encoder.encode::<&[u8]>(&[], Then::Finish).expect("encoded");
        assert_eq!(decoded(coding, coded), b"");
    }
}

#[test]
fn flushed_output_decodes_at_once() {
    for coding in ALL {
        let (mut encoder, mut client) = (encoder(coding), Client::new(coding));
        let mut sent = Vec::new();
        for event in ["data: one\n\n", "d", "", "data: three\n\n"] {
            sent.extend_from_slice(event.as_bytes());
            let coded = encoder.encode(&[event], Then::Flush).expect("encoded");
            assert_eq!(client.take(coded), sent, "{coding:?}");
        }
        let kept = encoder
            .encode(&["later"], Then::More)
            .expect("encoded")
            .len();
        let coded = encoder.encode::<&str>(&[], Then::Flush).expect("encoded");
        let holds = kept < 20 && client.take(coded).ends_with(b"later");
        assert!(holds, "{coding:?}");
    }
}

#[test]
fn a_large_piece_is_flushed_whole() {
    let body = text(600_000);
    for coding in ALL {
        let (mut encoder, mut client) = (encoder(coding), Client::new(coding));
        let coded = encoder.encode(&[&body], Then::Flush).expect("encoded");
        assert!(client.take(coded) == body, "{coding:?}");
    }
}

#[test]
fn incompressible_bytes_hardly_grow() {
    let mut state = 1_u64;
    let noise: Vec<u8> = std::iter::repeat_with(|| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 56) as u8
    })
    .take(200_000)
    .collect();
    for coding in ALL {
        let mut encoder = encoder(coding);
        let coded = encoder.encode(&[&noise], Then::Finish).expect("encoded");
        assert!(coded.len() < noise.len() + 1000, "{coding:?}");
        assert!(decoded(coding, coded) == noise, "{coding:?}");
    }
}

/// A body of 5000 bytes, with a number that is as easy to encode as any other.
fn page(number: usize) -> Vec<u8> {
    let mut body = text(4_990);
    body.extend_from_slice(format!("{:010}", number * 7_919_111).as_bytes());
    body
}

#[test]
fn pages_that_differ_little_get_different_lengths_and_each_decodes() {
    for coding in ALL {
        let mut encoder = encoder(coding);
        let mut lengths: Vec<_> = (0..200)
            .map(|number| {
                let body = page(number);
                let coded = encoder.encode(&[&body], Then::Finish).expect("encoded");
                assert!(decoded(coding, coded) == body, "{coding:?}");
                let length = coded.len();
                encoder.reset();
                length
            })
            .collect();
        lengths.sort_unstable();
        let spread = lengths[lengths.len() - 1] - lengths[0];
        lengths.dedup();
        assert!(
            (24..=JITTER_BYTES + 12).contains(&spread) && lengths.len() >= 7,
            "{coding:?} {lengths:?}"
        );
    }
}

#[test]
fn a_page_has_the_same_length_each_time() {
    for coding in ALL {
        let body = page(1);
        let mut lengths = (0..20).map(|_| {
            let mut encoder = encoder(coding);
            let coded = encoder.encode(&[&body], Then::Finish).expect("encoded");
            coded.len()
        });
        let first = lengths.next();
        assert!(lengths.all(|length| Some(length) == first), "{coding:?}");
    }
}

#[test]
fn a_streamed_body_is_lengthened_once() {
    let body = text(5_000);
    for coding in ALL {
        for size in 1..50 {
            let (mut encoder, mut client) = (encoder(coding), Client::new(coding));
            let then = [Then::Flush, Then::More][size % 2];
            for piece in body.chunks(size * 20) {
                let coded = encoder.encode(&[piece], then).expect("encoded");
                client.take(coded);
            }
            let coded = encoder.encode::<&[u8]>(&[], Then::Finish).expect("encoded");
            assert!(client.take(coded) == body, "{coding:?}");
        }
    }
}
