//! The decoder crates alone, on the data that the benchmark sends as request bodies.
//!
//! `bare-codings write gzip 0 10485760 FILE` writes 10 MiB of JSON lines in a content coding; 0 is log2 of the window (`br`
//! and `zstd`). `bare-codings read gzip FILE` decodes them through one buffer and prints the number of bytes and of
//! nanoseconds.

mod json_lines;

use std::{
    env, error::Error, fs::File, io, io::BufReader, io::BufWriter, io::Read, io::Write,
    time::Instant,
};

use brotli::{CompressorWriter, Decompressor};
use flate2::{Compression, bufread::MultiGzDecoder, write::GzEncoder};
use json_lines::JsonLines;
use zstd::zstd_safe::CParameter;

/// Bytes that are read and decoded at once.
const BUFFER_BYTES: usize = 64 * 1024;
const GZIP_LEVEL: u32 = 6;
const BROTLI_LEVEL: u32 = 4;
const ZSTD_LEVEL: i32 = 3;
const USAGE: &str = "usage: bare-codings write CODING WINDOW_BITS BYTES FILE | read CODING FILE";

type Outcome = Result<(), Box<dyn Error>>;

fn main() -> Outcome {
    let words: Vec<String> = env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match *words {
        ["write", coding, window, bytes, path] => {
            let file = BufWriter::new(File::create(path)?);
            write(
                coding,
                window.parse()?,
                JsonLines::new(bytes.parse()?),
                file,
            )
        }
        ["read", coding, path] => read(coding, path),
        _ => Err(USAGE.into()),
    }
}

fn write(coding: &str, window: u32, mut lines: JsonLines, file: BufWriter<File>) -> Outcome {
    match coding {
        "gzip" => {
            let mut encoder = GzEncoder::new(file, Compression::new(GZIP_LEVEL));
            lines.write_to(&mut encoder)?;
            encoder.finish()?.flush()?;
        }
        "br" => {
            let mut encoder = CompressorWriter::new(file, BUFFER_BYTES, BROTLI_LEVEL, window);
            lines.write_to(&mut encoder)?;
            encoder.into_inner().flush()?;
        }
        "zstd" => {
            let mut encoder = zstd::Encoder::new(file, ZSTD_LEVEL)?;
            encoder.set_parameter(CParameter::WindowLog(window))?;
            lines.write_to(&mut encoder)?;
            encoder.finish()?.flush()?;
        }
        _ => return Err(USAGE.into()),
    }
    Ok(())
}

fn read(coding: &str, path: &str) -> Outcome {
    let file = BufReader::with_capacity(BUFFER_BYTES, File::open(path)?);
    let started = Instant::now();
    let bytes = match coding {
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
