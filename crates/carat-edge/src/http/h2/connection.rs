use std::cell::RefCell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use bytes::Bytes;
use h2::{Reason, server};
use tokio::task::JoinSet;

use super::super::deadlines::Deadline;
use super::super::phase_timeouts::ActiveEnd;
use super::super::server::Server;
use super::super::stream::ClientStream;
use super::checked_request::PathFragment;
use super::client::Http2Client;
use super::end::{Http2End, Http2StreamEnd};
use super::frame_notes::FrameNotes;
use super::framed::FramedStream;
use super::resets::ResetBudget;
use super::response_files::ResponseFiles;
use super::stream::serve_stream;
use super::timer::PhaseTimer;
use super::unsent_bytes::{SentPiece, UnsentBytes};
use crate::exchange::{ConnectionState, MemoryReservation, Peer, Refusal};

/// What a connection takes: h2's buffers and tables, and the task.
const CONNECTION_COST: usize = 24 * 1024;

/// How long a client without requests may take to leave once it was asked to.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(1);

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
    let client = Rc::new(Http2Client {
        server: Rc::clone(server),
        peer: Rc::clone(peer),
        unsent: UnsentBytes::new(state.memory()),
        state: Rc::clone(&state),
        files: ResponseFiles::new(server.seats.further_replies()),
        stream: RefCell::new(stream),
    });
    let notes = Rc::default();
    let framed = FramedStream::new(leading, &notes, &client);
    let mut timer = PhaseTimer::new(deadline, &state, server);
    timer.timeouts.allow_idle(server.settings.idle_timeout);
    // Boxed: its room would stay with the connection.
    let begun = Box::pin(begin(framed, &mut timer, &client)).await;
    let mut driver = begun.map(|connection| Http2Connection {
        connection,
        streams: JoinSet::new(),
        client: Rc::clone(&client),
        resets: ResetBudget::new(server.deadlines.now()),
        notes,
        timer,
        has_served_last: false,
        is_leaving: false,
    });
    let end = match &mut driver {
        Ok(driver) => {
            let end = poll_fn(|cx| driver.poll_end(cx)).await;
            driver.streams.shutdown().await;
            end
        }
        Err(end) => *end,
    };
    drop(driver);
    let stream = Rc::into_inner(client).map(|client| client.stream.into_inner());
    (stream, end)
}

/// Exchanges the prefaces.
async fn begin(
    framed: FramedStream,
    timer: &mut PhaseTimer<'_>,
    client: &Http2Client,
) -> Result<server::Connection<FramedStream, SentPiece>, Http2End> {
    let server = &client.server;
    let mut handshake = pin!(server.http2.builder.handshake(framed));
    poll_fn(|cx| {
        if let Poll::Ready(begun) = handshake.as_mut().poll(cx) {
            return Poll::Ready(begun.map_err(|error| client.note_error(&error)));
        }
        if server.first_requests_over.is_set() {
            return Poll::Ready(Err(Http2End::Closed));
        }
        timer.expired(cx).map_or(Poll::Pending, |_| {
            if client.state.has_received() {
                client.note_failure(Refusal::TooSlow.reason());
            }
            Poll::Ready(Err(Http2End::Closed))
        })
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
    notes: Rc<FrameNotes>,
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
            if let Some(flood) = self.notes.flood() {
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
                Ok((mut request, sender)) => {
                    let stream = request.body().stream_id().as_u32();
                    if self.notes.has_fragment(stream) {
                        request.extensions_mut().insert(PathFragment);
                    }
                    if self.streams.is_empty() {
                        self.client.state.begin_message();
                    }
                    let client = Rc::clone(&self.client);
                    self.streams
                        .spawn_local(serve_stream(request, sender, client));
                }
                Err(error) => return Poll::Ready(self.client.note_error(&error)),
            }
        }
        Poll::Ready(if self.is_leaving {
            Http2End::GoneAway
        } else {
            Http2End::Closed
        })
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
        self.client.note_failure(reason);
        self.go_away(Reason::ENHANCE_YOUR_CALM, cx);
        Http2End::GoneAway
    }

    /// Says why the connection ends. The socket has room for that, or the client does not read.
    fn go_away(&mut self, reason: Reason, cx: &mut Context<'_>) {
        self.connection.abrupt_shutdown(reason);
        let _ = self.connection.poll_closed(cx);
    }
}
