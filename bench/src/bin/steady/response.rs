use std::io::{self, BufRead, Read};

/// The largest body that is read. The benchmark's applications send less.
const BODY_LIMIT: u64 = 16 << 20;

/// What the benchmark keeps of a response.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Response {
    pub(crate) status: u16,
    /// The process that sent it, if the response names one.
    pub(crate) worker: Option<String>,
    /// Whether the connection can be reused.
    pub(crate) is_kept: bool,
}

/// Reads one complete response. A response without a length ends with its connection.
pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Response> {
    let mut response = Response {
        status: status(&line(input)?)?,
        worker: None,
        is_kept: true,
    };
    let mut body = Body::UntilClosed;
    loop {
        let field = line(input)?;
        let Some((name, value)) = field.split_once(':') else {
            break;
        };
        let value = value.trim();
        match name.to_ascii_lowercase().as_str() {
            "content-length" => body = Body::Bytes(number(value, 10)?),
            "transfer-encoding" => body = Body::Chunks,
            "connection" => response.is_kept = !value.eq_ignore_ascii_case("close"),
            "x-worker" => response.worker = Some(value.to_owned()),
            _ => {}
        }
    }
    response.is_kept &= body != Body::UntilClosed;
    body.skip(input)?;
    Ok(response)
}

#[derive(PartialEq, Eq)]
enum Body {
    Bytes(u64),
    Chunks,
    UntilClosed,
}

impl Body {
    fn skip(&self, input: &mut impl BufRead) -> io::Result<()> {
        match self {
            Body::Bytes(length) => skip(input, *length),
            Body::Chunks => loop {
                let length = number(&line(input)?, 16)?;
                skip(input, length)?;
                line(input)?;
                if length == 0 {
                    return Ok(());
                }
            },
            Body::UntilClosed => io::copy(&mut input.take(BODY_LIMIT), &mut io::sink()).map(drop),
        }
    }
}

fn skip(input: &mut impl BufRead, length: u64) -> io::Result<()> {
    let length = length.min(BODY_LIMIT);
    match io::copy(&mut input.take(length), &mut io::sink())? {
        read if read == length => Ok(()),
        _ => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// A line without its line end.
fn line(input: &mut impl BufRead) -> io::Result<String> {
    let mut line = String::new();
    if input.read_line(&mut line)? == 0 {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    Ok(line.trim_end().to_owned())
}

fn status(line: &str) -> io::Result<u16> {
    let status = line.split(' ').nth(1).and_then(|word| word.parse().ok());
    status.ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn number(text: &str, radix: u32) -> io::Result<u64> {
    u64::from_str_radix(text, radix).map_err(|_| io::ErrorKind::InvalidData.into())
}
