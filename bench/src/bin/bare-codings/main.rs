//! The decoder crates alone, on the data that the benchmark sends as request bodies.
//!
//! `bare-codings gzip FILE` decodes the file (or `br`, `zstd`) through one buffer and prints the number of bytes and of
//! nanoseconds.

use std::{env, error::Error, fs::File, io, io::BufReader, io::Read, io::Write, time::Instant};

use brotli::Decompressor;
use flate2::bufread::MultiGzDecoder;

/// Bytes that are read and decoded at once.
const BUFFER_BYTES: usize = 64 * 1024;
const USAGE: &str = "usage: bare-codings CODING FILE";

fn main() -> Result<(), Box<dyn Error>> {
    let words: Vec<String> = env::args().skip(1).collect();
    let [coding, path] = &words[..] else {
        return Err(USAGE.into());
    };
    let file = BufReader::with_capacity(BUFFER_BYTES, File::open(path)?);
    let started = Instant::now();
    let bytes = match coding.as_str() {
        "gzip" => drain(MultiGzDecoder::new(file)),
        "br" => drain(Decompressor::new(file, BUFFER_BYTES)),
        "zstd" => drain(zstd::Decoder::with_buffer(file)?),
        _ => return Err(USAGE.into()),
    }?;
    let nanoseconds = started.elapsed().as_nanos();
    writeln!(io::stdout(), "bytes={bytes} nanoseconds={nanoseconds}")?;
    Ok(())
}

/// Reads to the end through one buffer and returns the number of bytes.
fn drain(mut source: impl Read) -> io::Result<u64> {
    let mut buffer = vec![0; BUFFER_BYTES];
    let mut bytes = 0;
    loop {
        match source.read(&mut buffer)? {
            0 => return Ok(bytes),
            read => bytes += read as u64,
        }
    }
}
