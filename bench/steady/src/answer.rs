use std::io::{self, BufRead, Read};

/// The largest body that is read; an application of the benchmark sends less.
const BODY_LIMIT: u64 = 16 << 20;

/// What a server has answered.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    /// Which process it came from, where it says so.
    pub(crate) worker: Option<String>,
    /// Whether the connection can be used again.
    pub(crate) is_kept: bool,
}

/// Reads one whole answer. An answer without a length ends with its connection.
pub(crate) fn read(input: &mut impl BufRead) -> io::Result<Answer> {
    let mut answer = Answer {
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
            "connection" => answer.is_kept = !value.eq_ignore_ascii_case("close"),
            "x-worker" => answer.worker = Some(value.to_owned()),
            _ => {}
        }
    }
    answer.is_kept &= body != Body::UntilClosed;
    body.skip(input)?;
    Ok(answer)
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

/// A line without its end.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_with_a_length_leaves_the_next_one_alone() {
        let mut input: &[u8] =
            b"HTTP/1.1 200 OK\r\nX-Worker: 42\r\nContent-Length: 3\r\n\r\noneHTTP/1.1 502 No\r\n";
        let answer = read(&mut input).expect("an answer");
        assert_eq!((answer.status, answer.is_kept), (200, true));
        assert_eq!(answer.worker.as_deref(), Some("42"));
        assert_eq!(input, b"HTTP/1.1 502 No\r\n");
    }

    #[test]
    fn an_answer_in_chunks_ends_with_the_last_one() {
        let mut input: &[u8] =
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n0\r\n\r\nnext";
        assert!(read(&mut input).expect("an answer").is_kept);
        assert_eq!(input, b"next");
    }

    #[test]
    fn an_answer_that_is_cut_off_is_none() {
        for mut input in [
            &b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\non"[..],
            b"HTTP/1.1 200 OK\r\n",
            b"",
        ] {
            assert!(read(&mut input).is_err());
        }
    }

    #[test]
    fn a_connection_that_is_closed_is_not_used_again() {
        let mut input: &[u8] =
            b"HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";
        let answer = read(&mut input).expect("an answer");
        assert_eq!((answer.status, answer.is_kept), (503, false));
    }
}
