use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Method, Request};
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio::task::{spawn_local, yield_now};
use tokio::time::sleep;

use crate::part::cable_history::{self, CableHistory};
use crate::part::cable_sessions::CableSessions;
use crate::part::pings::Pings;
use crate::part::socket_client::SocketClient;
use crate::{ClientOutbox, CommandResult, DeflateWindow, Hub, Reached, SocketLimits, SocketNumber};
use carat_body::response::read_file;
use carat_dispatch::PathPattern;
use carat_exchange::{
    Call, CallBody, InlineBytes, Reply, ReplyBody, ReplyContent, WorkerTunnels, clock,
};
use carat_http::{AccessLog, EdgeCore, Later, RequestDispatch, TimeHistogram};
use carat_log::Log;

/// The most handshakes and commands that the application, or its queue, has at once. Further ones wait outside the
/// queue, so that other requests find room in it.
const REQUESTS_LIMIT: usize = 64;
/// The name of the further process that listens to a broker.
const RELAY: &str = "cable";
/// Clients that are sent a broadcast before the event loop does other work.
const CLIENTS_AT_ONCE: usize = 128;
/// The media type of a result of the application.
const RESULT_TYPE: &str = "application/vnd.carat.cable+json";
/// The longest result of the application in bytes.
const RESULT_LIMIT: u64 = 4 * 1024 * 1024;

/// All sockets of the cable.
#[derive(Debug)]
pub struct Cable {
    /// The path at which clients open sockets.
    pub(super) path: String,
    /// The pattern of that path, which also matches other spellings of it.
    pub(super) handshakes: PathPattern,
    pub(super) hub: Rc<Hub>,
    /// Whether a broker may connect this server with others: then a further process passes on what
    /// the broker sends.
    pub(super) has_broker: bool,
    /// The secret with which programs may broadcast over a TCP port.
    pub(super) token: Option<String>,
    /// Whether messages may be compressed: the option `cable_compression`.
    pub(super) compresses: bool,
    history: CableHistory,
    pub(super) sessions: CableSessions,
    pub(super) pings: Pings,
    /// The permits of tunnels; `None` without `max_tunnels`.
    pub(super) permits: Option<Arc<Semaphore>>,
    pub(super) places: WorkerTunnels,
    /// The permits for handshakes and commands: `REQUESTS_LIMIT` in all.
    pub(super) requests: Semaphore,
    pub(super) dispatch: Rc<RequestDispatch>,
    access_log: AccessLog,
    pub(super) log: Rc<Log>,
    counts: CableCounts,
    /// The times from a broadcast until the task of its last subscriber has run.
    pub(super) fan_outs: TimeHistogram,
    last: Cell<SocketNumber>,
    /// The number of the last call of `disconnect_all`. Earlier calls stop when there is a later
    /// one.
    closing: Cell<u64>,
}

/// The counts of the cable since the server started.
#[derive(Debug, Default)]
struct CableCounts {
    received: Cell<u64>,
    sent: Cell<u64>,
    broadcasts: Cell<u64>,
    slow: Cell<u64>,
    lost: Cell<u64>,
}

/// The statistics of the cable, with counts since the server started.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct CableStats {
    /// Open sockets.
    pub(super) sockets: usize,
    /// Streams that a client listens to.
    pub(super) streams: usize,
    /// Commands of clients.
    pub(super) received: u64,
    /// Messages sent to subscribers.
    pub(super) sent: u64,
    /// Broadcasts of the application and other programs.
    pub(super) broadcasts: u64,
    /// Clients that were disconnected because they did not read.
    pub(super) slow: u64,
    /// Commands that the application did not carry out.
    pub(super) lost: u64,
}

fn add(count: &Cell<u64>, more: usize) {
    count.set(count.get() + more as u64);
}

impl Cable {
    /// The sockets of the cable; `None` without the option `cable`.
    pub fn new(core: &EdgeCore) -> Option<Rc<Cable>> {
        let (settings, dispatch) = (&core.settings, &core.dispatch);
        let path = settings.parts.cable.path.as_ref()?;
        let prefix = settings.prefix.as_ref();
        let path = prefix.map_or_else(|| path.clone(), |prefix| prefix.whole(path));
        Some(Rc::new(Cable {
            handshakes: PathPattern::new(&path),
            path,
            hub: cable_history::hub(settings),
            has_broker: settings.processes.iter().any(|it| it.name == RELAY),
            token: settings.parts.cable.token.clone(),
            compresses: settings.parts.cable.compression,
            history: CableHistory::new(dispatch.client_memory()),
            sessions: CableSessions::new(settings),
            pings: Pings::default(),
            permits: core.tunnel_permits.clone(),
            places: WorkerTunnels::default(),
            requests: Semaphore::new(REQUESTS_LIMIT),
            dispatch: Rc::clone(dispatch),
            access_log: core.access_log.clone(),
            log: Rc::clone(&core.log),
            counts: CableCounts::default(),
            fan_outs: TimeHistogram::default(),
            last: Cell::default(),
            closing: Cell::default(),
        }))
    }

    /// Sends a message to the subscribers of a stream. Returns the number of subscriptions, or
    /// `None` if the message is no JSON.
    pub(super) fn broadcast(self: &Rc<Self>, stream: &[u8], message: &[u8]) -> Option<usize> {
        let text = std::str::from_utf8(stream).ok();
        cable_history::set_time(&self.hub);
        let Some(reached) = text.and_then(|stream| self.hub.broadcast(stream, message)) else {
            self.log.error(
                "broadcast refused: the message is no JSON",
                &[("stream", &&*String::from_utf8_lossy(stream))],
            );
            return None;
        };
        add(&self.counts.broadcasts, 1);
        let clients = reached.clients;
        self.note(reached);
        Some(clients)
    }

    /// Sends the pings that are due, and fits limits, sessions, and history to `client_memory`.
    /// Called once a tick.
    pub(super) fn tick(self: &Rc<Self>) {
        self.pings.tick();
        let memory = self.dispatch.client_memory();
        let limits = SocketLimits::of(memory.own_limit());
        self.hub.set_limits(limits);
        self.end_kept(self.sessions.tick(limits.kept_sessions, memory.is_short()));
        let sessions = &self.sessions;
        let is_anybody_away = sessions.is_anybody_away();
        (self.history).tick(&self.hub, sessions.held_bytes(), is_anybody_away);
    }

    /// Completes the outbox of a client with its compression and its limit.
    pub(super) fn outbox(
        &self,
        outbox: ClientOutbox,
        deflate: Option<DeflateWindow>,
    ) -> Rc<ClientOutbox> {
        let limit = self.hub.limits().outbox;
        Rc::new(outbox.with_deflate(deflate).with_limit(limit))
    }

    /// Disconnects all clients, one after the other, `within` this time. They may connect again.
    pub(super) fn disconnect_all(self: &Rc<Self>, within: Duration) {
        self.end_kept(self.sessions.end_all());
        let closing = self.begin_closing();
        let cable = Rc::clone(self);
        spawn_local(async move { cable.disconnect_each(closing, within).await });
    }

    /// Counts a call of `disconnect_all`. Returns its number.
    fn begin_closing(&self) -> u64 {
        self.closing.set(self.closing.get() + 1);
        self.closing.get()
    }

    /// Whether this call of `disconnect_all` is still the last one.
    fn closes(&self, closing: u64) -> bool {
        self.closing.get() == closing
    }

    async fn disconnect_each(&self, closing: u64, within: Duration) {
        for group in 0..Pings::GROUPS {
            if !self.closes(closing) || self.pings.is_empty() {
                return;
            }
            self.pings.each(group, ClientOutbox::restart);
            sleep(within / Pings::GROUPS).await;
        }
    }

    /// The statistics of the cable.
    pub(super) fn stats(&self) -> CableStats {
        let counts = &self.counts;
        CableStats {
            sockets: self.places.count(),
            streams: self.hub.streams(),
            received: counts.received.get(),
            sent: counts.sent.get(),
            broadcasts: counts.broadcasts.get(),
            slow: counts.slow.get(),
            lost: counts.lost.get(),
        }
    }

    /// The number of a new socket.
    pub(super) fn next_number(&self) -> SocketNumber {
        self.last.set(self.last.get() + 1);
        self.last.get()
    }

    /// Counts the clients that a broadcast has reached, and wakes their tasks, some at a time: in
    /// between, the event loop does other work.
    pub(super) fn note(self: &Rc<Self>, reached: Reached) {
        if reached.clients == 0 {
            return;
        }
        let mut reached = reached;
        add(&self.counts.sent, reached.clients);
        add(&self.counts.slow, reached.slow);
        let (cable, start) = (Rc::clone(self), clock::now());
        spawn_local(async move {
            while reached.wake(CLIENTS_AT_ONCE) {
                yield_now().await;
            }
            yield_now().await;
            cable.fan_outs.observe(clock::now() - start);
        });
    }

    /// Sends the application a command of a client; `None` if the application could not carry it out.
    pub(super) fn command(
        self: &Rc<Self>,
        body: String,
        client: &SocketClient,
    ) -> Later<Option<CommandResult>> {
        add(&self.counts.received, 1);
        let (cable, client) = (Rc::clone(self), client.clone());
        Box::pin(async move { cable.carry_out(body, client).await })
    }

    async fn carry_out(&self, body: String, client: SocketClient) -> Option<CommandResult> {
        let request = Request::builder()
            .method(Method::POST)
            .uri(&self.path)
            .header(CONTENT_TYPE, "application/json")
            .body(())
            .ok()?;
        // The semaphore is never closed, so this is no error.
        let _permit = self.requests.acquire().await.ok()?;
        // The command takes memory even if none is left: few run at once, and their clients were admitted by their
        // handshakes.
        let bytes = InlineBytes::granted(body.into_bytes(), &client.memory);
        let mut call = Call::new(request.into_parts().0, client.peer, client.memory);
        call.body = CallBody::Inline(bytes);
        call.is_from_part = true;
        let mut entry = self.access_log.start(&mut call);
        let reply = match self.dispatch.dispatch(call) {
            Ok(pending) => pending.await,
            Err(refusal) => Err(refusal),
        };
        let status = reply.as_ref().map(|reply| reply.response.status());
        entry.responded(status.unwrap_or_else(|refusal| refusal.status()));
        if !status.is_ok_and(|status| !status.is_server_error()) {
            add(&self.counts.lost, 1);
        }
        match reply {
            Ok(reply) => {
                entry.timed(reply.times);
                self.result_of(reply).await
            }
            Err(refusal) => {
                entry.refused(refusal);
                None
            }
        }
    }

    /// The application's result of a handshake or a command; `None` if the response is no valid
    /// result, but for example an error's page.
    pub(super) async fn result_of(&self, reply: Reply) -> Option<CommandResult> {
        if !is_result(&reply) {
            return None;
        }
        let parsed = match whole(reply.response.into_body()).await {
            Some(body) => CommandResult::parse(&body).map_err(|error| error.to_string()),
            None => Err("the result is too large".to_owned()),
        };
        let report =
            |cause: &String| (self.log).error("invalid result of the cable", &[("cause", cause)]);
        parsed.inspect_err(report).ok()
    }
}

/// Whether the reply is a result for the edge, and not a response for the client.
pub(super) fn is_result(reply: &Reply) -> bool {
    let kind = reply.response.headers().get(CONTENT_TYPE);
    kind.is_some_and(|kind| kind == RESULT_TYPE)
}

/// The whole body; `None` if it is too large.
async fn whole(body: ReplyBody) -> Option<Bytes> {
    match body.content {
        ReplyContent::Full(bytes) => Some(bytes),
        ReplyContent::File(file) if file.length <= RESULT_LIMIT => read_file(file).await.ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::io::Write;

    use carat_exchange::FileRange;

    use super::*;

    async fn read(length: u64) -> Option<Bytes> {
        let mut file: File = tempfile::tempfile().expect("a file");
        file.write_all(b"{}").expect("written");
        whole(ReplyContent::File(FileRange::new(file, 0, length)).into()).await
    }

    #[tokio::test]
    async fn a_result_has_a_limit() {
        assert_eq!(read(2).await.as_deref(), Some(&b"{}"[..]));
        assert_eq!(read(RESULT_LIMIT + 1).await, None);
        let full = whole(ReplyBody::full(Bytes::from_static(b"{}"))).await;
        assert_eq!(full.as_deref(), Some(&b"{}"[..]));
    }
}
