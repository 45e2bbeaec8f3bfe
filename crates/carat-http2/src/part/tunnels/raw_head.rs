use std::io;
use std::mem::MaybeUninit;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use http::response::Parts;
use http::{HeaderName, HeaderValue, Response, StatusCode};
use httparse::{EMPTY_HEADER, Status};
use tokio::io::{AsyncRead, ReadBuf};

use carat_exchange::{MemoryAccount, MemoryReservation};

/// The most bytes of the status and the headers that an application may write itself.
const RAW_HEAD_LIMIT: usize = 16 * 1024;
/// The most header fields that an application may write itself.
const RAW_FIELDS_LIMIT: usize = 100;
/// The most bytes of one read.
const READ_BYTES: usize = 4 * 1024;

/// The head of the response that an application writes into its socket in the form of HTTP/1.1.
pub(crate) struct RawHead {
    received: Vec<u8>,
    held: MemoryReservation,
}

impl RawHead {
    /// A head of which nothing has come.
    pub(crate) fn new(memory: &Rc<MemoryAccount>) -> RawHead {
        RawHead {
            received: Vec::new(),
            held: MemoryReservation::of(memory),
        }
    }

    /// Reads the head. Ready with the status and the headers, and the bytes that follow them.
    pub(crate) fn poll(
        &mut self,
        application: &mut (impl AsyncRead + Unpin),
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<(Parts, Vec<u8>)>> {
        loop {
            let mut room = [MaybeUninit::uninit(); READ_BYTES];
            let mut room = ReadBuf::uninit(&mut room);
            ready!(Pin::new(&mut *application).poll_read(cx, &mut room))?;
            if room.filled().is_empty() {
                return Poll::Ready(Err(io::ErrorKind::UnexpectedEof.into()));
            }
            self.received.extend_from_slice(room.filled());
            self.held.set(self.received.capacity());
            if let Some((parts, length)) = parse(&self.received)? {
                return Poll::Ready(Ok((parts, self.received.split_off(length))));
            }
            if self.received.len() > RAW_HEAD_LIMIT {
                return Poll::Ready(Err(io::ErrorKind::InvalidData.into()));
            }
        }
    }
}

/// The status, the headers, and their length; `None` while they are incomplete.
fn parse(bytes: &[u8]) -> io::Result<Option<(Parts, usize)>> {
    let mut fields = [EMPTY_HEADER; RAW_FIELDS_LIMIT];
    let mut raw = httparse::Response::new(&mut fields);
    let Status::Complete(length) = raw.parse(bytes).map_err(io::Error::other)? else {
        return Ok(None);
    };
    let mut parts = Response::new(()).into_parts().0;
    parts.status = StatusCode::from_u16(raw.code.unwrap_or(0)).map_err(io::Error::other)?;
    for field in raw.headers {
        let name = HeaderName::from_bytes(field.name.as_bytes()).map_err(io::Error::other)?;
        let value = HeaderValue::from_bytes(field.value).map_err(io::Error::other)?;
        parts.headers.append(name, value);
    }
    Ok(Some((parts, length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_is_complete_at_its_blank_line() {
        let head =
            b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nX: 1\r\nX: 2\r\n\r\n";
        for length in 0..head.len() {
            assert!(parse(&head[..length]).expect("well formed").is_none());
        }
        let bytes = [&head[..], b"frames"].concat();
        let (parts, length) = parse(&bytes).expect("well formed").expect("complete");
        assert_eq!((parts.status.as_u16(), length), (101, head.len()));
        assert_eq!(parts.headers.get_all("x").iter().count(), 2);
    }

    #[test]
    fn what_is_no_head_is_an_error() {
        for wrong in [
            "220 hello\r\n",
            "HTTP/1.1 abc",
            "HTTP/1.1 200 OK\r\na b: c\r\n\r\n",
            "HTTP/1.1 099 No\r\n\r\n",
        ] {
            assert!(parse(wrong.as_bytes()).is_err(), "{wrong}");
        }
        let many = format!(
            "HTTP/1.1 200 OK\r\n{}\r\n",
            "a: b\r\n".repeat(RAW_FIELDS_LIMIT + 1)
        );
        assert!(parse(many.as_bytes()).is_err());
    }
}
