use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use carat_guard::FrameFlood;
use h2::{Error, Reason, server};
use tokio::task::JoinSet;

use super::super::deadlines::Deadline;
use super::super::phase_timeouts::ActiveEnd;
use super::super::server::Server;
use super::super::stream::ClientStream;
use super::client::Http2Client;
use super::framed::FramedStream;
use super::resets::ResetBudget;
use super::stream::{Http2StreamEnd, serve_stream};
use super::timer::PhaseTimer;
use super::unsent_bytes::{SentPiece, UnsentBytes};
use crate::exchange::{ConnectionState, MemoryReservation, Peer, Refusal};

/// What a connection takes: h2's buffers and tables, and the task.
const CONNECTION_COST: usize = 24 * 1024;

/// How long a client without requests may take to leave once it was asked to.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(1);

/// How a connection of HTTP/2 ends.
pub(in crate::http) enum Http2End {
    /// Both sides have said what they had to say.
    Closed,
    /// This server has ended it; the client is still to read why.
    GoneAway,
    /// The client does not read.
    Stuck,
}

/// Serves the requests of a client until it or the server ends the connection. `leading` was read from `stream` before.
pub(in crate::http) async fn serve_http2(
    stream: ClientStream,
    leading: Bytes,
    peer: &Rc<Peer>,
    deadline: &Rc<Deadline>,
    server: &Rc<Server>,
) -> (Option<ClientStream>, Http2End) {
    let state = Rc::new(ConnectionState::new(server.client_memory().account()));
    let mut held = MemoryReservation::of(state.memory());
    held.grow(CONNECTION_COST);
    let _active = server.active.add(&state, deadline);
    let flood = Rc::default();
    let stream = Rc::new(RefCell::new(stream));
    let framed = FramedStream::new(&stream, leading, &flood, &state, &server.deadlines);
    let mut timer = PhaseTimer::new(deadline, &state, server);
    timer.timeouts.allow_idle(server.settings.idle_timeout);
    let end = match begin(framed, &mut timer, server).await {
        Ok(connection) => {
            let mut driver = Http2Connection {
                connection,
                streams: JoinSet::new(),
                client: Rc::new(Http2Client {
                    server: Rc::clone(server),
                    peer: Rc::clone(peer),
                    unsent: UnsentBytes::new(state.memory()),
                    state: Rc::clone(&state),
                }),
                resets: ResetBudget::new(server.deadlines.now()),
                flood,
                timer,
                has_served_last: false,
                is_leaving: false,
            };
            let end = poll_fn(|cx| driver.poll_end(cx)).await;
            driver.streams.shutdown().await;
            end
        }
        Err(end) => end,
    };
    let stream = Rc::into_inner(stream).map(RefCell::into_inner);
    (stream, end)
}

/// Exchanges the prefaces.
async fn begin(
    framed: FramedStream,
    timer: &mut PhaseTimer<'_>,
    server: &Server,
) -> Result<server::Connection<FramedStream, SentPiece>, Http2End> {
    let mut handshake = pin!(server.http2.builder.handshake(framed));
    poll_fn(|cx| {
        if let Poll::Ready(begun) = handshake.as_mut().poll(cx) {
            return Poll::Ready(begun.map_err(|_| Http2End::Closed));
        }
        if server.draining.is_set() || timer.expired(cx).is_some() {
            return Poll::Ready(Err(Http2End::Closed));
        }
        Poll::Pending
    })
    .await
}

/// A connection whose prefaces were exchanged.
struct Http2Connection<'a> {
    connection: server::Connection<FramedStream, SentPiece>,
    /// Aborted when the connection ends.
    streams: JoinSet<Http2StreamEnd>,
    client: Rc<Http2Client>,
    resets: ResetBudget,
    flood: Rc<Cell<Option<FrameFlood>>>,
    timer: PhaseTimer<'a>,
    /// Whether a stream has ended since clients are to go elsewhere.
    has_served_last: bool,
    /// Whether the client was asked to send no further requests.
    is_leaving: bool,
}

impl Http2Connection<'_> {
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<Http2End> {
        loop {
            let accepted = self.poll_requests(cx);
            if let Some(flood) = self.flood.get() {
                return Poll::Ready(self.fail(flood.reason(), cx));
            }
            if let Poll::Ready(end) = accepted {
                return Poll::Ready(end);
            }
            if !self.note_ended_streams(cx) {
                return Poll::Ready(self.fail("too many requests were reset or refused", cx));
            }
            if self.must_leave() {
                self.leave();
                continue;
            }
            match self.timer.expired(cx) {
                None => return Poll::Pending,
                Some(ActiveEnd::Idle) if !self.is_leaving => self.leave(),
                Some(ActiveEnd::Idle) => {
                    self.go_away(Reason::NO_ERROR, cx);
                    return Poll::Ready(Http2End::GoneAway);
                }
                Some(ActiveEnd::Over(refusal)) => {
                    let refusal = refusal.unwrap_or(Refusal::TooSlow);
                    return Poll::Ready(self.fail(refusal.reason(), cx));
                }
                Some(_) => return Poll::Ready(Http2End::Stuck),
            }
        }
    }

    /// Starts a task for each request. Ready when the connection is over.
    fn poll_requests(&mut self, cx: &mut Context<'_>) -> Poll<Http2End> {
        while let Some(accepted) = ready!(self.connection.poll_accept(cx)) {
            match accepted {
                Ok((request, sender)) => {
                    if self.streams.is_empty() {
                        self.client.state.begin_message();
                    }
                    let client = Rc::clone(&self.client);
                    self.streams
                        .spawn_local(serve_stream(request, sender, client));
                }
                Err(error) => return Poll::Ready(self.note_error(&error)),
            }
        }
        Poll::Ready(if self.is_leaving {
            Http2End::GoneAway
        } else {
            Http2End::Closed
        })
    }

    fn note_error(&self, error: &Error) -> Http2End {
        if !error.is_library() {
            return Http2End::Closed;
        }
        let Http2Client { server, peer, .. } = &*self.client;
        let reason = error.reason().unwrap_or(Reason::INTERNAL_ERROR);
        server
            .http2
            .note_failure(peer, reason.description().to_owned());
        Http2End::GoneAway
    }

    /// Takes the streams that have ended. Returns `false` when too many were broken.
    fn note_ended_streams(&mut self, cx: &mut Context<'_>) -> bool {
        while let Poll::Ready(Some(ended)) = self.streams.poll_join_next(cx) {
            // A task that panicked has printed why; its stream was reset.
            let may_go_on = match ended.unwrap_or(Http2StreamEnd::CutOff) {
                Http2StreamEnd::Complete => {
                    self.resets.note_complete();
                    true
                }
                Http2StreamEnd::Broken => {
                    self.resets.note_broken(self.client.server.deadlines.now())
                }
                Http2StreamEnd::CutOff => true,
            };
            if self.streams.is_empty() {
                self.client.state.end_message();
            }
            self.has_served_last |= self.client.server.turns_away();
            if !may_go_on {
                return false;
            }
        }
        true
    }

    fn must_leave(&self) -> bool {
        let server = &self.client.server;
        let is_asked = server.draining.is_set() || self.has_served_last;
        is_asked && !self.is_leaving
    }

    /// Asks the client to send further requests elsewhere.
    fn leave(&mut self) {
        self.is_leaving = true;
        self.connection.graceful_shutdown();
        self.timer.timeouts.allow_idle(LEAVE_TIMEOUT);
    }

    /// Ends the connection of a client that does what none should.
    fn fail(&mut self, reason: &str, cx: &mut Context<'_>) -> Http2End {
        let Http2Client { server, peer, .. } = &*self.client;
        server.http2.note_failure(peer, reason.to_owned());
        self.go_away(Reason::ENHANCE_YOUR_CALM, cx);
        Http2End::GoneAway
    }

    /// Says why the connection ends. The socket has room for that, or the client does not read.
    fn go_away(&mut self, reason: Reason, cx: &mut Context<'_>) {
        self.connection.abrupt_shutdown(reason);
        let _ = self.connection.poll_closed(cx);
    }
}
