use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use h2::server::SendResponse;
use h2::{Reason, RecvStream, server};
use http::Request;
use tokio::io::AsyncWriteExt;
use tokio::task::JoinSet;
use tokio::time::timeout;

use super::client::{CONNECTION_COST, Http2Client};
use super::end::Http2StreamEnd;
use super::requests::admit;
use super::stream::serve_stream;
use super::timer::PhaseTimer;
use super::unsent_bytes::SentPiece;
use crate::guard::FrameFault;
use crate::part::frames::{FramedStream, ResetBudget};
use crate::part::http2::Http2;
use carat_exchange::{MemoryReservation, Refusal};
use carat_http::{
    ActiveEnd, ClientStream, EndedConnection, ProtocolConnection, ProtocolCore, ProtocolEnd,
};

/// Bytes of memory that h2's tables take for each stream. The tables grow with the number of open
/// streams, and never shrink.
const SLOT_COST: usize = 1792;

/// Streams for which h2's tables have room at first.
const FIRST_SLOTS: usize = 4;

/// The refusal of a connection: empty SETTINGS, and a GOAWAY with `ENHANCE_YOUR_CALM`, which says
/// that no request was processed (RFC 9113, sections 6.5 and 6.8).
const REFUSAL: [u8; 26] = [
    0, 0, 0, 4, 0, 0, 0, 0, 0, // SETTINGS
    0, 0, 8, 7, 0, 0, 0, 0, 0, // GOAWAY
    0, 0, 0, 0, 0, 0, 0, 11,
];

/// How long a client without requests may take to leave once it was asked to.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(1);

const TOO_MANY_BROKEN: &str = "too many requests were reset or refused";

/// Serves the requests of a client until it or the server ends the connection.
pub(crate) async fn serve_http2(
    protocol: Rc<Http2>,
    connection: ProtocolConnection,
) -> EndedConnection {
    let (stream, deadline, core) = (connection.stream, connection.deadline, connection.core);
    if !core.client_memory().has_rest(CONNECTION_COST as u64) {
        return refuse(stream, &*core).await;
    }
    let client = Http2Client::new(stream, connection.peer, Rc::clone(&core), protocol);
    let _active = core.active().add(&client.state, &deadline);
    let fault = Rc::default();
    let framed = FramedStream::new(connection.leading, &fault, &client);
    let mut timer = PhaseTimer::new(&deadline, &client.state, core.settings());
    timer.timeouts.allow_idle(core.settings().idle_timeout);
    // Boxed: otherwise, its memory would be part of this future until the connection ends.
    let begun = Box::pin(begin(framed, &mut timer, &client)).await;
    let driver = begun.map(|connection| Http2Connection {
        connection,
        streams: JoinSet::new(),
        client: Rc::clone(&client),
        resets: ResetBudget::new(core.deadlines().now()),
        slots: MemoryReservation::of(client.state.memory()),
        fault,
        timer,
        has_served_last: false,
        is_leaving: false,
    });
    let end = match driver {
        Ok(mut driver) => {
            let end = poll_fn(|cx| driver.poll_end(cx)).await;
            let Http2Connection {
                connection,
                mut streams,
                ..
            } = driver;
            // The connection goes first: it may have requests that were never admitted, and count
            // nowhere. The tasks of the streams end only in their turn.
            drop(connection);
            streams.shutdown().await;
            end
        }
        Err(end) => end,
    };
    let stream = Rc::into_inner(client).map(|client| client.stream.into_inner());
    EndedConnection { stream, end }
}

/// Refuses a connection because memory is used up, before anything is kept for the client. The
/// client may try again.
async fn refuse(mut stream: ClientStream, core: &dyn ProtocolCore) -> EndedConnection {
    core.client_memory().refuse();
    let written = timeout(LEAVE_TIMEOUT, stream.write_all(&REFUSAL)).await;
    let end = match written {
        Ok(Ok(())) => ProtocolEnd::GoneAway,
        Ok(Err(_)) | Err(_) => ProtocolEnd::Stuck,
    };
    EndedConnection {
        stream: Some(stream),
        end,
    }
}

/// Exchanges the prefaces.
async fn begin(
    framed: FramedStream,
    timer: &mut PhaseTimer<'_>,
    client: &Http2Client,
) -> Result<server::Connection<FramedStream, SentPiece>, ProtocolEnd> {
    let is_short = client.core.client_memory().is_short();
    let builder = client.protocol.builder(is_short);
    let mut handshake = pin!(builder.handshake(framed));
    poll_fn(|cx| {
        if let Poll::Ready(begun) = handshake.as_mut().poll(cx) {
            return Poll::Ready(begun.map_err(|error| client.note_error(&error)));
        }
        if client.core.are_first_requests_over() {
            return Poll::Ready(Err(ProtocolEnd::Closed));
        }
        timer.expired(cx).map_or(Poll::Pending, |_| {
            if client.state.bytes.has_received() {
                client.note_failure(Refusal::TooSlow.reason());
            }
            Poll::Ready(Err(ProtocolEnd::Closed))
        })
    })
    .await
}

/// A connection whose prefaces were exchanged.
struct Http2Connection<'a> {
    connection: server::Connection<FramedStream, SentPiece>,
    /// The tasks of the streams, which are aborted when the connection ends.
    streams: JoinSet<Http2StreamEnd>,
    client: Rc<Http2Client>,
    resets: ResetBudget,
    /// The memory of h2's tables.
    slots: MemoryReservation,
    /// The fault in the client's frames, if there is one.
    fault: Rc<Cell<Option<FrameFault>>>,
    timer: PhaseTimer<'a>,
    /// Whether a stream has ended since the server began to ask clients to go elsewhere.
    has_served_last: bool,
    /// Whether the client was asked to send no further requests.
    is_leaving: bool,
}

impl Http2Connection<'_> {
    fn poll_end(&mut self, cx: &mut Context<'_>) -> Poll<ProtocolEnd> {
        loop {
            let accepted = self.poll_requests(cx);
            if let Some(fault) = self.fault.get() {
                self.client.note_failure(fault.reason());
                self.go_away(Reason::from(fault.code()), cx);
                return Poll::Ready(ProtocolEnd::GoneAway);
            }
            if let Poll::Ready(end) = accepted {
                return Poll::Ready(end);
            }
            if !self.note_ended_streams(cx) {
                return Poll::Ready(self.fail(TOO_MANY_BROKEN, cx));
            }
            if self.must_leave() {
                self.leave();
                continue;
            }
            match self.timer.expired(cx) {
                None => return Poll::Pending,
                Some(ActiveEnd::Idle) if !self.is_leaving && !self.must_hurry() => self.leave(),
                Some(ActiveEnd::Idle) => {
                    self.go_away(Reason::NO_ERROR, cx);
                    return Poll::Ready(ProtocolEnd::GoneAway);
                }
                Some(ActiveEnd::Over(refusal)) => {
                    let refusal = refusal.unwrap_or(Refusal::TooSlow);
                    return Poll::Ready(self.fail(refusal.reason(), cx));
                }
                Some(_) => return Poll::Ready(ProtocolEnd::Stuck),
            }
        }
    }

    /// Starts a task for each request. Ready when the connection is over.
    fn poll_requests(&mut self, cx: &mut Context<'_>) -> Poll<ProtocolEnd> {
        let mut refused = 0;
        while let Some(accepted) = ready!(self.connection.poll_accept(cx)) {
            match accepted {
                Ok((request, sender)) => {
                    self.count_slots(self.streams.len() + refused + 1);
                    if self.begin_stream(request, sender) {
                        continue;
                    }
                    refused += 1;
                    if !self.resets.note_broken(self.client.core.deadlines().now()) {
                        return Poll::Ready(self.fail(TOO_MANY_BROKEN, cx));
                    }
                }
                Err(error) => return Poll::Ready(self.client.note_error(&error)),
            }
        }
        Poll::Ready(if self.is_leaving {
            ProtocolEnd::GoneAway
        } else {
            ProtocolEnd::Closed
        })
    }

    /// Counts the memory that h2's tables take when this many streams are open. The tables double
    /// when they are full.
    fn count_slots(&mut self, open: usize) {
        let bytes = open.next_power_of_two().max(FIRST_SLOTS) * SLOT_COST;
        if self.slots.bytes() < bytes as u64 {
            self.slots.set(bytes);
        }
    }

    /// Starts the task of a request. Returns `false` when it was refused for want of memory.
    fn begin_stream(
        &mut self,
        request: Request<RecvStream>,
        sender: SendResponse<SentPiece>,
    ) -> bool {
        let is_only_one = self.streams.is_empty();
        let Some(admitted) = admit(request, sender, &self.client, is_only_one) else {
            return false;
        };
        if is_only_one {
            self.client.state.begin_message();
        }
        let client = Rc::clone(&self.client);
        self.streams.spawn_local(serve_stream(admitted, client));
        true
    }

    /// Takes the streams that have ended. Returns `false` when too many were broken.
    fn note_ended_streams(&mut self, cx: &mut Context<'_>) -> bool {
        while let Poll::Ready(Some(ended)) = self.streams.poll_join_next(cx) {
            // A task that panicked has printed why; its stream was reset.
            let may_go_on = match ended.unwrap_or(Http2StreamEnd::CutOff) {
                Http2StreamEnd::Complete | Http2StreamEnd::Malformed => {
                    self.resets.note_complete();
                    true
                }
                Http2StreamEnd::Broken => {
                    self.resets.note_broken(self.client.core.deadlines().now())
                }
                Http2StreamEnd::CutOff => true,
            };
            if self.streams.is_empty() {
                self.client.state.order.end();
            }
            self.has_served_last |= self.client.core.turns_away();
            if !may_go_on {
                return false;
            }
        }
        true
    }

    /// Whether the client gets no time to leave, because memory is short.
    fn must_hurry(&self) -> bool {
        self.client.core.client_memory().is_short()
    }

    fn must_leave(&self) -> bool {
        let is_asked = self.client.core.is_draining() || self.has_served_last;
        is_asked && !self.is_leaving
    }

    /// Asks the client to send further requests elsewhere.
    fn leave(&mut self) {
        self.is_leaving = true;
        self.connection.graceful_shutdown();
        self.timer.timeouts.allow_idle(LEAVE_TIMEOUT);
    }

    /// Ends the connection of a client that behaves as no client should.
    fn fail(&mut self, reason: &str, cx: &mut Context<'_>) -> ProtocolEnd {
        self.client.note_failure(reason);
        self.go_away(Reason::ENHANCE_YOUR_CALM, cx);
        ProtocolEnd::GoneAway
    }

    /// Tells the client why the connection ends, without waiting: if the socket has no room, the
    /// client does not read.
    fn go_away(&mut self, reason: Reason, cx: &mut Context<'_>) {
        self.connection.abrupt_shutdown(reason);
        let _ = self.connection.poll_closed(cx);
    }
}
