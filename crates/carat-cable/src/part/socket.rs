use std::fmt;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::{consume_budget, spawn_local};
use tokio::time::{Sleep, sleep, sleep_until};

use crate::part::cable_history::set_time;
use crate::part::message_deadline::MessageDeadline;
use crate::part::server::Cable;
use crate::part::socket_client::SocketClient;
use crate::{
    CableSession, ClientOutbox, CloseCode, CommandResult, DeflateWindow, FrameReader, KeptSession,
    SocketEnd, SocketNumber, WebSocketEvent, pong_frame,
};
use carat_exchange::{EdgeApplication, clock};
use carat_http::Later;

/// How long a client that has come back may take to ask for what it has missed.
const HISTORY_REQUEST_TIMEOUT: Duration = Duration::from_secs(2);

/// The WebSocket of one client. In its tunnel, it has the place of the application.
pub struct CableSocket {
    cable: Rc<Cable>,
    number: SocketNumber,
    outbox: Rc<ClientOutbox>,
    reader: FrameReader,
    message_deadline: MessageDeadline,
    /// `None` once the socket is dropped: the session stays until the application knows of its end.
    session: Option<CableSession>,
    /// Until when the subscriptions of a client that has come back wait for its request.
    history_deadline: Option<Pin<Box<Sleep>>>,
    /// The command that the application carries out now.
    running: Option<Later<Option<CommandResult>>>,
    /// When a timer of a channel is due next.
    alarm: Option<Pin<Box<Sleep>>>,
    client: SocketClient,
}

impl CableSocket {
    /// The socket of a client that the application has let in.
    pub fn open(
        cable: &Rc<Cable>,
        result: CommandResult,
        deflate: Option<DeflateWindow>,
        client: SocketClient,
    ) -> CableSocket {
        let outbox = cable.outbox(ClientOutbox::default(), deflate);
        let number = cable.next_number();
        set_time(&cable.hub);
        let (session, reached) = CableSession::open(&cable.hub, number, &outbox, result);
        cable.note(reached);
        CableSocket::new(cable, number, outbox, session, client)
    }

    /// Opens the socket of a client of the extended protocol. `kept` is set when the client has come back.
    pub(super) fn open_extended(
        cable: &Rc<Cable>,
        result: CommandResult,
        kept: Option<KeptSession>,
        deflate: Option<DeflateWindow>,
        client: SocketClient,
    ) -> CableSocket {
        let outbox = cable.outbox(ClientOutbox::extended(), deflate);
        let number = cable.next_number();
        set_time(&cable.hub);
        let hub = &cable.hub;
        let (session, reached) = match cable.sessions.enter(&result, &outbox) {
            Some(name) => CableSession::open_named(hub, number, &outbox, result, &name, kept),
            None => CableSession::open(hub, number, &outbox, result),
        };
        cable.note(reached);
        CableSocket::new(cable, number, outbox, session, client)
    }

    fn new(
        cable: &Rc<Cable>,
        number: SocketNumber,
        outbox: Rc<ClientOutbox>,
        session: CableSession,
        client: SocketClient,
    ) -> CableSocket {
        cable.pings.add(number, &outbox);
        CableSocket {
            cable: Rc::clone(cable),
            number,
            reader: FrameReader::new(cable.hub.limits().message).with_deflate(outbox.deflate()),
            message_deadline: MessageDeadline::default(),
            outbox,
            history_deadline: session
                .is_held()
                .then(|| Box::pin(sleep(HISTORY_REQUEST_TIMEOUT))),
            session: Some(session),
            running: None,
            alarm: None,
            client,
        }
    }

    /// Ends the wait for a client that has come back, and has not asked in time for the messages that it has missed.
    /// The client gets the broadcasts since its return.
    fn release_overdue(&mut self, cx: &mut Context<'_>) {
        let Some(deadline) = &mut self.history_deadline else {
            return;
        };
        let session = self.session.as_mut().filter(|session| session.is_held());
        let Some(session) = session else {
            self.history_deadline = None;
            return;
        };
        if deadline.as_mut().poll(cx).is_ready() {
            session.release_held();
            self.history_deadline = None;
        }
    }

    /// Closes the socket of a client that does not finish a message in time.
    fn expect_rest(&mut self, cx: &mut Context<'_>) {
        let (is_unfinished, reads_on) = (self.reader.is_unfinished(), self.reads_on());
        if self
            .message_deadline
            .has_passed(is_unfinished, reads_on, cx)
        {
            self.reader.end();
            let code = Some(CloseCode::POLICY_VIOLATION);
            self.outbox.end(SocketEnd::UnfinishedMessage, code);
        }
    }

    /// Tells the session the time, and wakes the task when the next timer is due.
    fn pass_time(&mut self, cx: &mut Context<'_>) {
        let next = self
            .session
            .as_mut()
            .and_then(|it| it.pass_time(clock::now()));
        let Some(next) = next else {
            self.alarm = None;
            return;
        };
        let alarm = self
            .alarm
            .get_or_insert_with(|| Box::pin(sleep_until(next.into())));
        if alarm.deadline() != next.into() {
            alarm.as_mut().reset(next.into());
        }
        if alarm.as_mut().poll(cx).is_ready() {
            cx.waker().wake_by_ref();
        }
    }

    /// Sends the application the commands of the client, one after the other.
    fn advance(&mut self, cx: &mut Context<'_>) {
        self.release_overdue(cx);
        loop {
            self.pass_time(cx);
            let Some(session) = &mut self.session else {
                return;
            };
            if let Some(running) = &mut self.running {
                let Poll::Ready(result) = running.as_mut().poll(cx) else {
                    return;
                };
                self.running = None;
                set_time(&self.cable.hub);
                self.cable.note(session.finish(result));
                continue;
            }
            if self.outbox.is_closed() {
                return;
            }
            self.running = match session.next_command() {
                Some(body) => Some(self.cable.command(body, &self.client)),
                None => return,
            };
        }
    }

    /// Reads a part of what the client has sent. Returns whether more can be read.
    fn read(&mut self, bytes: &mut &[u8], cx: &mut Context<'_>) -> bool {
        match self.reader.read(bytes) {
            Ok(Some(WebSocketEvent::Text(text))) => self.receive(&text, cx),
            Ok(Some(WebSocketEvent::Deflated(message))) => {
                let limit = self.cable.hub.limits().message;
                match self.cable.hub.inflate(message, limit) {
                    Ok(text) => self.receive(&text, cx),
                    Err(code) => self.outbox.end(SocketEnd::InvalidMessage, Some(code)),
                }
            }
            Ok(Some(WebSocketEvent::Ping(payload))) => {
                self.outbox.push(&pong_frame(&payload).into());
            }
            Ok(Some(WebSocketEvent::Pong)) => {}
            Ok(Some(WebSocketEvent::Close(code))) => self.close(code),
            Ok(None) => return false,
            Err(code) => self.outbox.end(SocketEnd::InvalidMessage, Some(code)),
        }
        true
    }

    fn receive(&mut self, text: &str, cx: &mut Context<'_>) {
        self.message_deadline.end();
        if let Some(session) = &mut self.session {
            session.receive(text);
        }
        self.advance(cx);
    }

    /// Ends a socket that the client has closed. A client whose code says that it is done, or
    /// leaves the page, does not come back.
    fn close(&mut self, code: Option<CloseCode>) {
        if matches!(code, Some(CloseCode::NORMAL | CloseCode::GOING_AWAY)) {
            self.session.iter_mut().for_each(CableSession::leave);
        }
        self.outbox.end(SocketEnd::Client, code);
    }

    /// Whether more bytes of the client are read: none while too many commands wait, and none once the socket is being
    /// closed.
    fn reads_on(&self) -> bool {
        let is_full = self.session.as_ref().is_some_and(CableSession::is_full);
        !is_full && !self.outbox.is_closed()
    }
}

impl AsyncRead for CableSocket {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        this.advance(cx);
        this.expect_rest(cx);
        ready!(this.outbox.poll_ready(cx));
        let count = this.outbox.take(buf.initialize_unfilled());
        buf.advance(count);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for CableSocket {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        let mut rest = bytes;
        while this.reads_on() && has_turn(cx) && this.read(&mut rest, cx) {}
        this.expect_rest(cx);
        let count = bytes.len() - rest.len();
        if count == 0 && !bytes.is_empty() {
            // Nothing was read. The task is woken when the running command ends, or for its next turn. When the socket
            // is being closed, `poll_read` ends the tunnel.
            return Poll::Pending;
        }
        Poll::Ready(Ok(count))
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    /// The client sends nothing more.
    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.outbox.end(SocketEnd::Client, None);
        Poll::Ready(Ok(()))
    }
}

/// Whether the task may continue. A client that floods the server with small frames gives way to the others.
fn has_turn(cx: &mut Context<'_>) -> bool {
    pin!(consume_budget()).poll(cx).is_ready()
}

impl EdgeApplication for CableSocket {
    fn held_bytes(&self) -> usize {
        let session = self.session.as_ref().map_or(0, CableSession::held_bytes);
        session + self.outbox.held_bytes() + self.reader.held_bytes()
    }

    fn end(&self) -> Option<&'static str> {
        self.outbox.socket_end().map(SocketEnd::name)
    }

    fn make_room(&mut self) {
        self.reader.end();
        self.outbox.make_room();
    }
}

impl Drop for CableSocket {
    /// Tells the application that the client is gone, once the running command has ended.
    fn drop(&mut self) {
        self.cable.pings.remove(self.number);
        self.outbox.end(SocketEnd::Client, None);
        let Some(mut session) = self.session.take() else {
            return;
        };
        let running = self.running.take();
        let cable = Rc::clone(&self.cable);
        let client = self.client.clone();
        spawn_local(async move {
            if let Some(running) = running {
                let result = running.await;
                set_time(&cable.hub);
                cable.note(session.finish(result));
            }
            cable.client_left(session, &client).await;
        });
    }
}

impl fmt::Debug for CableSocket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CableSocket")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}
