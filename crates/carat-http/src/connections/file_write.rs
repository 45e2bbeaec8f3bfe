use std::io::{self, IoSlice};
use std::task::{Context, Poll};

use crate::sockets::ClientStream;
use carat_exchange::{FilePlaceholder, OutgoingFile};

/// Writes the bytes before the placeholder of a file. If the placeholder comes first, sends the file in its place.
pub(crate) fn write_with_file(
    stream: &ClientStream,
    outgoing: &OutgoingFile,
    slices: &[IoSlice<'_>],
    cx: &mut Context<'_>,
) -> Poll<io::Result<usize>> {
    let is_bytes = |slice: &&IoSlice<'_>| !FilePlaceholder::is(slice);
    match slices.iter().take_while(is_bytes).count() {
        0 => {
            let limit = slices.first().map_or(0, |placeholder| placeholder.len());
            outgoing.poll_send(limit, |file, offset, count| {
                stream.poll_send_file(cx, file, offset, count)
            })
        }
        count => stream.poll_write_more(cx, &slices[..count]),
    }
}

#[cfg(test)]
mod tests {
    use std::future::poll_fn;
    use std::os::unix::fs::FileExt;

    use bytes::Buf;
    use tokio::io::AsyncReadExt;
    use tokio::net::{TcpListener, TcpStream, UnixStream};

    use super::*;
    use carat_exchange::FileRange;

    const HEAD: &[u8] = b"HTTP/1.1 200 OK\r\n\r\n";
    const NEXT: &[u8] = b"next";

    /// Writes as hyper does: headers, the body, and what follows it.
    async fn write(stream: ClientStream, content: &[u8]) {
        let file = tempfile::tempfile().expect("a file");
        file.write_all_at(content, 0).expect("written");
        let outgoing = OutgoingFile::default();
        outgoing.allow();
        let mut body = outgoing.set(FileRange::new(file, 0, content.len() as u64));
        let mut head = HEAD;
        while head.has_remaining() || body.has_remaining() {
            let slices = [head, body.chunk(), NEXT].map(IoSlice::new);
            let slices = &slices[usize::from(head.is_empty())..];
            let written = poll_fn(|cx| write_with_file(&stream, &outgoing, slices, cx)).await;
            let written = written.expect("written");
            let of_head = head.len().min(written);
            head.advance(of_head);
            body.advance(written - of_head);
        }
        assert!(!outgoing.is_set());
    }

    async fn transfer(
        stream: ClientStream,
        mut far: impl tokio::io::AsyncRead + Unpin,
    ) -> (Vec<u8>, Vec<u8>) {
        let content: Vec<u8> = (0..=250).cycle().take(200_000).collect();
        let mut received = Vec::new();
        let (read, ()) = tokio::join!(far.read_to_end(&mut received), async {
            write(stream, &content).await;
        });
        read.expect("received");
        (received, [HEAD, &content].concat())
    }

    #[tokio::test]
    async fn a_file_is_sent_in_place_of_its_placeholder() {
        let (near, far) = UnixStream::pair().expect("a pair");
        let (received, expected) = transfer(ClientStream::Unix(near), far).await;
        assert_eq!(received, expected);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("bound");
        let address = listener.local_addr().expect("an address");
        let (far, near) = tokio::join!(TcpStream::connect(address), listener.accept());
        let (near, _) = near.expect("accepted");
        let far = far.expect("connected");
        let (received, expected) = transfer(ClientStream::Tcp(near), far).await;
        assert_eq!(received, expected);
    }
}
