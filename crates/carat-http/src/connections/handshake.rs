use std::future::{Future, poll_fn};
use std::io;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use carat_wire::Scheme;

use crate::parts::EdgeEvent;
use crate::server::Server;
use crate::sockets::ClientStream;
use crate::time_limits::Deadline;
use carat_exchange::{MemoryReservation, Peer};
use carat_tls::{HandshakeError, TlsConfig, TlsStream};

/// How long a client whose handshake was refused may take to leave, and what it may still send.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(1);
const LEAVE_LIMIT: usize = 64 * 1024;

/// The outcome of a connection that must begin with a TLS handshake.
pub(crate) enum HandshakeEnd {
    Established(ClientStream),
    /// The client speaks plain HTTP. What it has sent is unread.
    PlainHttp(ClientStream),
    /// The connection is over.
    Failed,
}

/// Brings up the TLS connection of a client within `handshake_timeout`. Failures are counted for the log, except that of
/// a client that sends nothing.
pub(crate) async fn begin_tls(
    stream: ClientStream,
    config: &TlsConfig,
    peer: &mut Peer,
    deadline: &Rc<Deadline>,
    server: &Server,
) -> HandshakeEnd {
    deadline.set(server.settings.parts.tls.handshake_timeout);
    let first = in_time(deadline, server, |cx| poll_first_byte(&stream, cx));
    let Ok(first) = first.await else {
        return HandshakeEnd::Failed;
    };
    if first.is_ascii_uppercase() {
        note_failure(server, peer, &HandshakeError::PlainHttp);
        return HandshakeEnd::PlainHttp(stream);
    }
    match establish(stream, config, peer, deadline, server).await {
        Ok(stream) if stream.was_validation() => HandshakeEnd::Failed,
        Ok(mut stream) => {
            stream.settle(config);
            count(server, "established");
            peer.scheme = Scheme::Https;
            peer.variables = stream.client_variables(config);
            HandshakeEnd::Established(ClientStream::Tls(stream))
        }
        Err(error) => {
            note_failure(server, peer, &error);
            HandshakeEnd::Failed
        }
    }
}

fn note_failure(server: &Server, peer: &Peer, error: &HandshakeError) {
    count(server, "failed");
    server.handshakes.note_failure(peer, error);
}

fn count(server: &Server, result: &'static str) {
    server.parts.note(&EdgeEvent::Handshake { result });
}

/// Looks at the first byte, and leaves it where it is.
fn poll_first_byte(
    stream: &ClientStream,
    cx: &mut Context<'_>,
) -> Poll<Result<u8, HandshakeError>> {
    let mut first = [0; 1];
    Poll::Ready(match ready!(stream.poll_peek(cx, &mut first)) {
        Ok(0) => Err(HandshakeError::Closed),
        Ok(_) => Ok(first[0]),
        Err(error) => Err(HandshakeError::Lost(error)),
    })
}

async fn establish(
    stream: ClientStream,
    config: &TlsConfig,
    peer: &Peer,
    deadline: &Rc<Deadline>,
    server: &Server,
) -> Result<Box<TlsStream>, HandshakeError> {
    let ClientStream::Tcp(tcp) = stream else {
        // Only TCP listeners have certificates.
        return Err(HandshakeError::Closed);
    };
    let running = server.handshakes.begin(&peer.remote, deadline);
    let mut stream = Box::new(TlsStream::new(tcp, config)?);
    // Later, the connection's own account has them.
    let mut held = MemoryReservation::of(&server.client_memory().account());
    loop {
        in_time(deadline, server, |cx| stream.poll_receive(cx)).await?;
        held.set(0);
        if !held.try_grow(stream.held_bytes()) {
            return Err(HandshakeError::NoMemory);
        }
        let mut step = pin!(running.step(stream));
        let stepped = in_time(deadline, server, |cx| {
            let stepped = ready!(step.as_mut().poll(cx));
            Poll::Ready(stepped.map_err(HandshakeError::Lost))
        });
        let (back, is_complete) = stepped.await?;
        stream = back;
        let is_complete = match is_complete {
            Ok(is_complete) => is_complete,
            Err(error) => {
                leave(&mut stream, deadline, server).await;
                return Err(error);
            }
        };
        let sent = in_time(deadline, server, |cx| {
            let sent = ready!(stream.poll_send(cx));
            Poll::Ready(sent.map_err(HandshakeError::Lost))
        });
        sent.await?;
        if is_complete {
            return Ok(stream);
        }
    }
}

/// Gives a client whose handshake was refused the time to read why.
async fn leave(stream: &mut TlsStream, deadline: &Deadline, server: &Server) {
    let mut left = LEAVE_LIMIT;
    deadline.set(LEAVE_TIMEOUT);
    // It is over either way.
    let _ = in_time(deadline, server, |cx| {
        stream.poll_leave(cx, &mut left).map(Ok)
    })
    .await;
}

/// Polls until the deadline passes, or the server drains and waits for it no longer.
async fn in_time<T>(
    deadline: &Deadline,
    server: &Server,
    mut poll: impl FnMut(&mut Context<'_>) -> Poll<Result<T, HandshakeError>>,
) -> Result<T, HandshakeError> {
    poll_fn(|cx| {
        if let Poll::Ready(result) = poll(cx) {
            return Poll::Ready(result);
        }
        if deadline.passed(cx.waker()) {
            return Poll::Ready(Err(HandshakeError::Lost(io::ErrorKind::TimedOut.into())));
        }
        if server.first_requests_over.is_set() {
            return Poll::Ready(Err(HandshakeError::Closed));
        }
        Poll::Pending
    })
    .await
}
