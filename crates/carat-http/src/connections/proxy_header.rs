use std::future::poll_fn;
use std::task::{Context, Poll, ready};

use carat_fields::proxy_protocol::{self, BadProxyHeader, Client};
use carat_wire::Scheme;

use crate::server::Server;
use crate::sockets::ClientStream;
use crate::time_limits::Deadline;
use carat_exchange::{MemoryReservation, Peer};

/// How many bytes one step looks at; most headers have fewer.
const ROOM: usize = 512;

const RESET: &str = "the connection was reset";

/// Reads the PROXY header that a connection must begin with, and makes `peer` the client that the header names. Returns
/// `false` when the connection is over. That is logged unless the peer sent nothing, as health checks do.
pub(crate) async fn receive_proxy_header(
    stream: &ClientStream,
    peer: &mut Peer,
    deadline: &Deadline,
    server: &Server,
) -> bool {
    let address = stream.remote_address();
    let received = if server.steps.proxies.may_proxy(address) {
        deadline.set(server.settings.header_timeout);
        read(stream, deadline, server).await
    } else {
        Err("the peer is not in trusted_proxies")
    };
    match received {
        Ok(None) => false,
        Ok(Some(client)) => {
            name(peer, client, server);
            true
        }
        Err(reason) => {
            server.log.warn(
                "PROXY header refused",
                &[("peer", &peer.logged()), ("reason", &reason)],
            );
            false
        }
    }
}

/// Makes `peer` the client that the PROXY header names. The address of this client decides whether its header fields
/// about clients are believed.
fn name(peer: &mut Peer, client: Client, server: &Server) {
    let Client::Tcp {
        source,
        destination,
        is_encrypted,
    } = client
    else {
        return;
    };
    let address = source.ip().to_canonical();
    peer.remote = address.to_string();
    peer.is_unix = false;
    peer.local_port = destination.port();
    peer.scheme = if is_encrypted {
        Scheme::Https
    } else {
        Scheme::Http
    };
    peer.proxy_fields = server.steps.proxies.fields_of(Some(address));
}

/// Reads the header and nothing beyond it. `None` if the peer leaves before it sends anything, or if the server drains
/// and gives it no more time.
async fn read(
    stream: &ClientStream,
    deadline: &Deadline,
    server: &Server,
) -> Result<Option<Client>, &'static str> {
    let mut header = Vec::new();
    let mut held = MemoryReservation::of(&server.client_memory().account());
    poll_fn(|cx| {
        while let Poll::Ready(step) = poll_step(stream, cx, &mut header) {
            match step? {
                HeaderStep::More(count) if held.try_grow(count) => {}
                HeaderStep::More(_) => return Poll::Ready(Err("client_memory is used up")),
                HeaderStep::Complete(client) => return Poll::Ready(Ok(Some(client))),
                HeaderStep::Ended if header.is_empty() => return Poll::Ready(Ok(None)),
                HeaderStep::Ended => return Poll::Ready(Err("the connection ended within it")),
            }
        }
        if server.first_requests_over.is_set() {
            return Poll::Ready(Ok(None));
        }
        if deadline.passed(cx.waker()) {
            return Poll::Ready(Err("it did not arrive in time"));
        }
        Poll::Pending
    })
    .await
}

enum HeaderStep {
    /// This many bytes of the header were read, and more are needed.
    More(usize),
    Complete(Client),
    Ended,
}

/// Moves the bytes of the header that have arrived into `header`. The bytes behind it stay in the socket for the next
/// reader.
fn poll_step(
    stream: &ClientStream,
    cx: &mut Context<'_>,
    header: &mut Vec<u8>,
) -> Poll<Result<HeaderStep, &'static str>> {
    let mut room = [0; ROOM];
    let peeked = match ready!(stream.poll_peek(cx, &mut room)) {
        Ok(0) => return Poll::Ready(Ok(HeaderStep::Ended)),
        Ok(count) => &room[..count],
        Err(_) => return Poll::Ready(Err(RESET)),
    };
    let begun = header.len();
    header.extend_from_slice(peeked);
    let parsed = proxy_protocol::parse(header).map_err(BadProxyHeader::reason)?;
    header.truncate(parsed.map_or(header.len(), |parsed| parsed.length));
    let taken = header.len() - begun;
    stream.take(&mut room[..taken]).map_err(|_| RESET)?;
    Poll::Ready(Ok(parsed.map_or(HeaderStep::More(taken), |parsed| {
        HeaderStep::Complete(parsed.client)
    })))
}
