//! Measures a decoder with one scratch buffer for a whole body, and with a fresh buffer of 64 bytes
//! for each poll, as tower-http had before its pull request 521. Each is measured alone, and with
//! another thread that decodes each piece, as in the edge.

use std::hint::black_box;
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::Duration;

use brotli::enc::BrotliEncoderParams;
use carat_coding::{Coding, Codings, DecodeLimits, Decoder};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

const PLAIN_BYTES: usize = 1 << 20;
const SCRATCH_BYTES: usize = 64 * 1024;
const POLL_BYTES: usize = 64;

/// Lines of JSON whose words and numbers come from a generator. gzip shrinks them to a quarter or a
/// fifth.
fn records() -> Vec<u8> {
    const WORDS: [&str; 8] = [
        "carat", "edge", "mold", "worker", "lane", "frame", "spool", "drain",
    ];
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as usize
    };
    let mut plain = Vec::with_capacity(PLAIN_BYTES + 200);
    while plain.len() < PLAIN_BYTES {
        let (word, other) = (WORDS[next() % 8], WORDS[next() % 8]);
        let line = format!(
            "{{\"id\":{},\"name\":\"{word}\",\"of\":\"{other}\",\"at\":{}}}\n",
            next(),
            next()
        );
        plain.extend_from_slice(line.as_bytes());
    }
    plain.truncate(PLAIN_BYTES);
    plain
}

fn encode(coding: Coding, plain: &[u8]) -> Vec<u8> {
    let mut coded = Vec::new();
    let mut source = plain;
    match coding {
        Coding::Gzip => {
            let mut encoder = flate2::read::GzEncoder::new(source, flate2::Compression::default());
            std::io::copy(&mut encoder, &mut coded).expect("gzip in memory");
        }
        Coding::Brotli => {
            let params = BrotliEncoderParams {
                quality: 5,
                lgwin: 22,
                ..Default::default()
            };
            brotli::BrotliCompress(&mut source, &mut coded, &params).expect("br in memory");
        }
        Coding::Zstd => coded = zstd::encode_all(source, 3).expect("zstd in memory"),
        Coding::Deflate => unreachable!("deflate is gzip with another header"),
    }
    coded
}

fn decoder(coding: Coding) -> Decoder {
    let codings = Codings::of([coding.name().as_bytes()]).expect("known");
    let limits = DecodeLimits {
        size: u64::MAX,
        ratio: u64::MAX,
    };
    Decoder::new(&codings, limits).expect("coded")
}

/// Decodes with one buffer, or with a new one of 64 bytes for each step, and returns how many bytes came out.
fn steps(coding: Coding, mut coded: &[u8], buffers: Buffers) -> usize {
    let (mut decoder, mut total, mut buffer) = (decoder(coding), 0, buffers.make());
    loop {
        let step = decoder.step(coded, &mut buffer).expect("well formed");
        black_box(&buffer[..step.written]);
        coded = &coded[step.read..];
        total += step.written;
        if !step.more {
            return total;
        }
        if buffers == Buffers::Fresh {
            buffer = buffers.make();
        }
    }
}

/// Decodes as `steps` does, but each piece on another thread, as in the edge.
fn polls(coding: Coding, coded: &[u8], buffers: Buffers) -> usize {
    let (ask, asked) = sync_channel::<Vec<u8>>(1);
    let (tell, told) = sync_channel(1);
    thread::scope(|scope| {
        scope.spawn(move || {
            let (mut decoder, mut rest) = (decoder(coding), coded);
            for mut buffer in asked {
                let step = decoder.step(rest, &mut buffer).expect("well formed");
                rest = &rest[step.read..];
                tell.send((buffer, step)).expect("somebody waits");
            }
        });
        let (mut total, mut buffer) = (0, buffers.make());
        loop {
            ask.send(buffer).expect("the thread lives");
            let (piece, step) = told.recv().expect("the thread answers");
            total += step.written;
            if !step.more {
                drop(ask);
                return total;
            }
            buffer = if buffers == Buffers::Fresh {
                buffers.make()
            } else {
                piece
            };
        }
    })
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Buffers {
    Reused,
    Fresh,
}

impl Buffers {
    fn make(self) -> Vec<u8> {
        vec![
            0;
            if self == Buffers::Reused {
                SCRATCH_BYTES
            } else {
                POLL_BYTES
            }
        ]
    }
}

/// Decodes in one of the two ways.
type Way = fn(Coding, &[u8], Buffers) -> usize;

fn decode(criterion: &mut Criterion) {
    let plain = records();
    for coding in [Coding::Gzip, Coding::Brotli, Coding::Zstd] {
        let coded = encode(coding, &plain);
        for (name, way) in [("steps", steps as Way), ("polls", polls)] {
            let mut group = criterion.benchmark_group(format!("{}/{name}", coding.name()));
            group.throughput(Throughput::Bytes(PLAIN_BYTES as u64));
            for buffers in [Buffers::Reused, Buffers::Fresh] {
                group.bench_function(format!("{buffers:?}").to_lowercase(), |bencher| {
                    bencher.iter(|| way(coding, black_box(&coded), buffers));
                });
            }
            group.finish();
        }
    }
}

#[allow(missing_docs, reason = "the macro makes a function")]
mod group {
    use super::{Criterion, Duration, criterion_group, decode};

    criterion_group! {
        name = benches;
        config = Criterion::default().sample_size(10).warm_up_time(Duration::from_secs(1))
            .measurement_time(Duration::from_secs(2));
        targets = decode
    }
}

criterion_main!(group::benches);
