use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Poll, ready};
use std::time::Duration;

use http::Request;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWriteExt, ReadBuf};
use tokio::sync::OwnedSemaphorePermit;
use tokio::task::yield_now;
use tokio::time::timeout;

use crate::connection_permits::ConnectionPermit;
use crate::connections::guarded::GuardedStream;
use crate::connections::proxy_header::receive_proxy_header;
use crate::parts::{EdgeEvent, EndedConnection, Flag, Protocol, ProtocolConnection, ProtocolEnd};
use crate::server::Server;
use crate::sockets::{ClientStream, ConnectionStart, HandshakeEnd, Preamble};
use crate::time_limits::{ActiveEnd, Deadline, PARK_AFTER, PhaseTimeouts};
use crate::tunnels::{TunnelEnd, TunnelEnds, serve_tunnel};
use carat_body::request::ReceivedBody;
use carat_exchange::{ConnectionPhase, ConnectionState, Peer, Refusal};

/// How long the bytes of a client are drained after its last response. They are discarded, so there is no limit on
/// their number. With a limit, a client that sends a complete body before it reads would be cut off, and might see
/// only the reset.
const LINGER: Duration = Duration::from_secs(5);
/// How long a client that is drained may pause.
const LINGER_PAUSE: Duration = Duration::from_secs(1);
/// The most bytes of one read from a client that is drained.
const LINGER_READ: usize = 8 * 1024;

/// How long a client may take to read a refusal, if `write_timeout` does not cut it off before.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(5);

/// What follows the last request of HTTP/1.1. Boxed: otherwise the future of the connection would keep room for this as
/// long as the connection lasts.
type Ending = Pin<Box<dyn Future<Output = ()>>>;

/// Serves one client until it or the server ends the connection. Not an `async fn`, whose future would keep the arguments
/// twice.
pub(crate) fn serve_connection(
    mut stream: ClientStream,
    preamble: Rc<Preamble>,
    permit: ConnectionPermit,
    server: Rc<Server>,
) -> impl Future<Output = ()> {
    let ConnectionPermit { connection, reply } = permit;
    async move {
        let mut peer = arrived(&stream, reply, &server);
        let deadline = Rc::new(server.deadlines.deadline());
        if preamble.is_proxied || preamble.handshake.is_some() {
            // Boxed for the same reason as an Ending.
            let begun = Box::pin(begin(stream, peer, &preamble, &deadline, &server)).await;
            let Some(begun) = begun else { return };
            (stream, peer) = (begun.stream, begun.peer);
        }
        let peer = Rc::new(peer);
        let mut may_switch = !stream.is_wrapped();
        let mut wait = server.settings.header_timeout;
        let mut until = &server.first_requests_over;
        let mut is_new = true;
        let ending = loop {
            if let Some(protocol) = chosen(&stream, &server) {
                let own = Rc::clone(&server);
                break speak(protocol, stream, Vec::new(), peer, deadline, own);
            }
            if !wait_readable(&stream, &deadline, wait, until).await {
                break close(stream, false);
            }
            let active = serve_active(stream, &peer, &deadline, &server, may_switch);
            let active = Box::pin(active).await;
            count_http1(&active, &server, &mut is_new);
            if active.is_last() {
                break finish(active, peer, deadline, Rc::clone(&server));
            }
            if let ActiveEnd::Idle = active.end {
                may_switch = false;
                until = &server.draining;
                wait = server.settings.idle_timeout.saturating_sub(PARK_AFTER);
            }
            stream = active.stream;
        };
        ending.await;
        drop(connection);
    }
}

/// The two ends of a connection, before anything has been read.
fn arrived(stream: &ClientStream, reply: OwnedSemaphorePermit, server: &Server) -> Peer {
    let address = stream.remote_address();
    let mut peer = stream.peer(address, reply);
    peer.proxy_fields = server.steps.proxies.fields_of(address);
    peer
}

/// The protocol that the handshake has chosen; `None` for HTTP/1.1.
fn chosen(stream: &ClientStream, server: &Server) -> Option<Rc<dyn Protocol>> {
    server.protocols.chosen(stream.protocol()?)
}

/// Serves what the client speaks instead of HTTP/1.1, if it has begun to. Otherwise ends the connection, or serves its
/// tunnel.
fn finish(
    mut active: ServedConnection,
    peer: Rc<Peer>,
    deadline: Rc<Deadline>,
    server: Rc<Server>,
) -> Ending {
    match active.protocol.take() {
        Some(protocol) => speak(
            protocol,
            active.stream,
            active.received,
            peer,
            deadline,
            server,
        ),
        None => Box::pin(wind_up(active, peer, deadline, server)),
    }
}

/// Ends a connection that hyper does not serve any more, or serves its tunnel.
async fn wind_up(
    active: ServedConnection,
    peer: Rc<Peer>,
    deadline: Rc<Deadline>,
    server: Rc<Server>,
) {
    let ServedConnection {
        stream, received, ..
    } = active;
    match active.end {
        ActiveEnd::TakenOver(takeover) => {
            match TunnelEnds::of_http1(*takeover, received, active.state) {
                Ok(ends) => tunnel(stream, ends, &deadline, &server).await,
                Err(error) => server.log.error("tunnel not opened", &[("cause", &error)]),
            }
        }
        ActiveEnd::Over(refusal) => {
            let refusal = refusal.map(|it| explained(it, &received, &peer, &server));
            end(stream, refusal, active.linger, &peer, &server).await;
        }
        ActiveEnd::Stuck | ActiveEnd::BrokenOff => stream.reset(),
        ActiveEnd::FalseAlarm | ActiveEnd::Idle => close(stream, false).await,
    }
}

/// If a part recognizes what the client speaks instead of HTTP, its refusal takes the place of the one for malformed
/// bytes.
fn explained(refusal: Refusal, received: &[u8], peer: &Peer, server: &Server) -> Refusal {
    let Refusal::Malformed(_) = refusal else {
        return refusal;
    };
    let mut parts = server.parts.iter();
    let known = parts.find_map(|part| part.misdirected(received, peer));
    known.unwrap_or(refusal)
}

/// Carries bytes between the client and the application that has taken over the connection.
async fn tunnel(
    mut stream: ClientStream,
    ends: TunnelEnds,
    deadline: &Rc<Deadline>,
    server: &Server,
) {
    stream.keep_alive();
    let carrying = serve_tunnel(
        &mut stream,
        ends,
        deadline,
        &server.settings,
        &server.active,
    );
    match carrying.await {
        TunnelEnd::Complete => close(stream, true).await,
        TunnelEnd::ClientGone => {}
        TunnelEnd::Stuck => stream.reset(),
    }
}

/// Serves a client that speaks another protocol; `leading` was read from it before.
fn speak(
    protocol: Rc<dyn Protocol>,
    stream: ClientStream,
    leading: Vec<u8>,
    peer: Rc<Peer>,
    deadline: Rc<Deadline>,
    server: Rc<Server>,
) -> Ending {
    Box::pin(async move {
        count(&server, protocol.name());
        let ended = protocol.serve(ProtocolConnection {
            stream,
            leading: leading.into(),
            peer,
            deadline,
            core: server,
        });
        let EndedConnection { stream, end } = ended.await;
        let Some(stream) = stream else { return };
        match end {
            ProtocolEnd::Closed => close(stream, false).await,
            ProtocolEnd::GoneAway => close(stream, true).await,
            ProtocolEnd::Stuck => stream.reset(),
        }
    })
}

/// Counts a client of HTTP/1.1, once, at its first request.
fn count_http1(active: &ServedConnection, server: &Server, is_new: &mut bool) {
    let is_http1 = active.protocol.is_none() && !matches!(active.end, ActiveEnd::FalseAlarm);
    if is_http1 && std::mem::take(is_new) {
        count(server, "http/1.1");
    }
}

/// Reports that a client speaks this protocol.
fn count(server: &Server, protocol: &'static str) {
    server.parts.note(&EdgeEvent::Connected { protocol });
}

/// A connection whose first request may come, and its two ends.
struct BegunConnection {
    stream: ClientStream,
    peer: Peer,
}

/// Reads what precedes the requests: the PROXY header and the handshake. `None` when the connection is over.
async fn begin(
    stream: ClientStream,
    mut peer: Peer,
    preamble: &Preamble,
    deadline: &Rc<Deadline>,
    server: &Server,
) -> Option<BegunConnection> {
    if preamble.is_proxied && !receive_proxy_header(&stream, &mut peer, deadline, server).await {
        return None;
    }
    let Some(handshake) = &preamble.handshake else {
        return Some(BegunConnection { stream, peer });
    };
    let ClientStream::Tcp(socket) = stream else {
        // Only TCP addresses have a transport.
        return None;
    };
    let start = ConnectionStart {
        peer: &mut peer,
        deadline,
        memory: server.client_memory(),
        note: &|result| server.parts.note(&EdgeEvent::Handshake { result }),
        is_given_up: &|| server.first_requests_over.is_set(),
    };
    match handshake.begin(socket, start).await {
        HandshakeEnd::Established(stream) => {
            peer.scheme = handshake.scheme();
            let stream = ClientStream::Wrapped(stream);
            Some(BegunConnection { stream, peer })
        }
        HandshakeEnd::Refused(socket, refusal) => {
            end(
                ClientStream::Tcp(socket),
                Some(refusal),
                true,
                &peer,
                server,
            )
            .await;
            None
        }
        HandshakeEnd::Over => None,
    }
}

/// Ends a connection that hyper does not serve any more. Sends the refusal first, if there is one.
async fn end(
    mut stream: ClientStream,
    refusal: Option<Refusal>,
    linger: bool,
    peer: &Peer,
    server: &Server,
) {
    if let Some(refusal) = refusal {
        server.steps.access_log.refused(peer, refusal);
        let write_timeout = server.settings.write_timeout.min(REFUSAL_TIMEOUT);
        let written = timeout(write_timeout, stream.write_all(&refusal.into_bytes())).await;
        if !matches!(written, Ok(Ok(()))) {
            return stream.reset();
        }
    }
    close(stream, linger).await;
}

/// Waits, parked, until the client sends something, or until the flag is set. Returns `false` when the connection is
/// over.
async fn wait_readable(
    stream: &ClientStream,
    deadline: &Deadline,
    wait: Duration,
    until: &Flag,
) -> bool {
    deadline.set(wait);
    let readable = poll_fn(|cx| {
        if let Poll::Ready(readable) = stream.poll_readable(cx) {
            return Poll::Ready(Some(readable.is_ok()));
        }
        if deadline.passed(cx.waker()) {
            return Poll::Ready(Some(false));
        }
        if until.is_set() {
            return Poll::Ready(None);
        }
        Poll::Pending
    });
    if let Some(is_readable) = readable.await {
        return is_readable;
    }
    // A request may have arrived that the runtime has not reported yet.
    yield_now().await;
    poll_fn(|cx| Poll::Ready(matches!(stream.poll_readable(cx), Poll::Ready(Ok(()))))).await
}

/// A connection after hyper has served it.
struct ServedConnection {
    stream: ClientStream,
    /// Bytes that the client has sent beyond the last request. They are kept when the application has taken over the
    /// connection, when the client speaks another protocol, and when they begin no request.
    received: Vec<u8>,
    /// The protocol that the client has begun to speak; `None` for HTTP/1.1.
    protocol: Option<Rc<dyn Protocol>>,
    end: ActiveEnd,
    linger: bool,
    state: Rc<ConnectionState>,
}

/// Serves requests until the connection is idle or over. `may_switch` says whether it may begin with the preface of
/// another protocol.
async fn serve_active(
    stream: ClientStream,
    peer: &Rc<Peer>,
    deadline: &Rc<Deadline>,
    server: &Rc<Server>,
    may_switch: bool,
) -> ServedConnection {
    let state = Rc::new(ConnectionState::new(server.client_memory().account()));
    state.allow_takeover();
    let guarded = GuardedStream::new(stream, server, Rc::clone(&state), may_switch);
    let _active = server.active.add(&state, deadline);
    let service = service_fn(|request: Request<Incoming>| {
        let request = request.map(ReceivedBody::from);
        server.steps.serve(request, peer, &state)
    });
    let mut connection = server
        .http1
        .serve_connection(TokioIo::new(guarded), service);
    let mut timeouts = PhaseTimeouts::new(deadline, &server.settings);
    let mut draining = false;
    let mut noticed = pin!(yield_now());
    let end = poll_fn(|cx| {
        let mut is_over = Pin::new(&mut connection).poll(cx).is_ready();
        let must_drain = !draining && !is_over && must_drain(&state, server);
        // hyper first has to read the bytes that have arrived, which the runtime has to report: otherwise it would
        // close the connection at once.
        if must_drain && noticed.as_mut().poll(cx).is_ready() {
            draining = true;
            Pin::new(&mut connection).graceful_shutdown();
            is_over = Pin::new(&mut connection).poll(cx).is_ready();
        }
        if is_over {
            return Poll::Ready(end_of(&state));
        }
        if let Some(takeover) = state.takeover() {
            return Poll::Ready(ActiveEnd::TakenOver(takeover));
        }
        if !state.bytes.has_received() {
            return Poll::Ready(ActiveEnd::FalseAlarm);
        }
        timeouts.end(&state, cx).map_or(Poll::Pending, Poll::Ready)
    })
    .await;
    let parts = connection.into_parts();
    ServedConnection::new(parts.io.into_inner(), &parts.read_buf, end, state)
}

/// Whether the connection is to be closed after the current request. If the headers of that request have not arrived
/// completely, hyper would close the connection at once.
fn must_drain(state: &ConnectionState, server: &Server) -> bool {
    let has_begun = state.bytes.has_received() && state.phase() != ConnectionPhase::Headers;
    server.draining.is_set() && (has_begun || server.first_requests_over.is_set())
}

impl ServedConnection {
    /// Whether no request of HTTP/1.1 follows.
    fn is_last(&self) -> bool {
        let goes_on = matches!(self.end, ActiveEnd::FalseAlarm | ActiveEnd::Idle);
        self.protocol.is_some() || !goes_on
    }

    /// The result of a connection in whose buffer hyper has left `read`.
    fn new(
        mut guarded: GuardedStream,
        read: &[u8],
        end: ActiveEnd,
        state: Rc<ConnectionState>,
    ) -> ServedConnection {
        let protocol = guarded.take_protocol();
        let is_in_body = guarded.is_in_body();
        let (stream, ahead) = guarded.into_parts();
        let received = match end {
            ActiveEnd::TakenOver(_) => [read, &ahead].concat(),
            _ if protocol.is_some() => [read, &ahead].concat(),
            ActiveEnd::Over(Some(Refusal::Malformed(_))) if !is_in_body => ahead.to_vec(),
            _ => Vec::new(),
        };
        ServedConnection {
            stream,
            received,
            protocol,
            linger: state.end.must_linger() || matches!(end, ActiveEnd::Over(Some(_))),
            end,
            state,
        }
    }
}

/// How a connection ends after hyper has stopped serving it.
fn end_of(state: &ConnectionState) -> ActiveEnd {
    if state.end.must_reset() {
        ActiveEnd::BrokenOff
    } else {
        ActiveEnd::Over(state.end.refusal().filter(|_| state.may_refuse()))
    }
}

/// Closes the connection without a reset, which could discard the response before the client has read it.
fn close(stream: ClientStream, linger: bool) -> Ending {
    Box::pin(shut_down(stream, linger))
}

async fn shut_down(mut stream: ClientStream, linger: bool) {
    if stream.shutdown().await.is_err() || !linger {
        return;
    }
    let drain = async { while let Ok(true) = timeout(LINGER_PAUSE, discard(&mut stream)).await {} };
    // A client that still sends after LINGER is cut off.
    let _ = timeout(LINGER, drain).await;
}

/// Reads once and drops the bytes. Returns `false` at the end. Many connections may linger, so the buffer exists only
/// during the read.
async fn discard(stream: &mut ClientStream) -> bool {
    poll_fn(|cx| {
        let mut discarded = [0; LINGER_READ];
        let mut discarded = ReadBuf::new(&mut discarded);
        let read = ready!(Pin::new(&mut *stream).poll_read(cx, &mut discarded));
        Poll::Ready(read.is_ok() && !discarded.filled().is_empty())
    })
    .await
}
