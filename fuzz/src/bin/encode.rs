//! An encoded body decodes to itself, whatever the pieces and flushes; what was flushed can be
//! decoded at once, and a reset encoder has forgotten the body before.
#![no_main]

use carat_coding::{Coding, Codings, DecodeLimits, Decoder, Encoder, Levels, Then};
use carat_fuzz::Input;
use libfuzzer_sys::fuzz_target;

const CODINGS: [Coding; 4] = [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd];
const LIMITS: DecodeLimits = DecodeLimits {
    size: 1 << 30,
    ratio: u64::MAX,
};
const LEVELS: [Levels; 2] = [
    Levels {
        gzip: 6,
        brotli: 4,
        zstd: 3,
    },
    Levels {
        gzip: 1,
        brotli: 0,
        zstd: 1,
    },
];
/// A body is repeated: encoders begin to write only after many kilobytes.
const REPEATS: [usize; 4] = [1, 1, 7, 150];

/// A client that decodes what has come.
struct Client {
    decoder: Decoder,
    body: Vec<u8>,
}

impl Client {
    fn new(coding: Coding) -> Client {
        let codings = Codings::of([coding.name().as_bytes()]).expect("a known coding");
        Client {
            decoder: Decoder::new(&codings, LIMITS).expect("coded"),
            body: Vec::new(),
        }
    }

    fn take(&mut self, mut coded: &[u8]) {
        let mut scratch = [0; 8192];
        loop {
            let step = self.decoder.step(coded, &mut scratch).expect("well formed");
            coded = &coded[step.read..];
            self.body.extend_from_slice(&scratch[..step.written]);
            if !step.more && coded.is_empty() {
                return;
            }
        }
    }
}

fn encode(encoder: &mut Encoder, input: &Input<'_>, plain: &[u8]) {
    let mut client = Client::new(encoder.coding);
    let mut given = 0;
    for piece in input.pieces_of(plain) {
        given += piece.len();
        let flush = piece.len() % 3 == 0;
        let then = if flush { Then::Flush } else { Then::More };
        client.take(encoder.encode(&[piece], then).expect("memory for a window"));
        if flush {
            assert!(client.body == plain[..given], "what was flushed is missing");
        }
    }
    let last = encoder.encode::<&[u8]>(&[], Then::Finish);
    client.take(last.expect("memory for a window"));
    client.decoder.finish().expect("complete");
    assert!(client.body == plain, "another body");
}

fuzz_target!(|data: &[u8]| {
    let Some(input) = Input::read(data) else {
        return;
    };
    let option = usize::from(input.option);
    let plain = input.bytes.repeat(REPEATS[option / 8 % REPEATS.len()]);
    let mut encoder = Encoder::new(CODINGS[input.choose(4)], LEVELS[option / 4 % 2]);
    let dropped = encoder.encode(&[input.bytes], Then::More);
    assert!(dropped.is_ok(), "memory for a window");
    encoder.reset();
    encode(&mut encoder, &input, &plain);
    encoder.reset();
    encode(&mut encoder, &input, input.bytes);
});
