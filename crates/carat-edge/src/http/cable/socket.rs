use std::fmt;
use std::io;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::task::{consume_budget, spawn_local};

use crate::http::cable::server::Cable;
use crate::http::request::Later;
use carat_cable::{
    CableSession, ClientOutbox, CommandResult, FrameReader, SocketEnd, SocketNumber,
    WebSocketEvent, pong_frame,
};
use carat_exchange::{EdgeApplication, MemoryAccount, Peer};

/// Longest message of a client in bytes.
const MESSAGE_LIMIT: u32 = 64 * 1024;

/// The WebSocket of one client, at the far end of its tunnel.
pub(crate) struct CableSocket {
    cable: Rc<Cable>,
    number: SocketNumber,
    outbox: Rc<ClientOutbox>,
    reader: FrameReader,
    /// `None` once it is dropped.
    session: Option<CableSession>,
    /// The command that the application has.
    running: Option<Later<Option<CommandResult>>>,
    peer: Rc<Peer>,
    memory: Rc<MemoryAccount>,
}

impl CableSocket {
    /// The socket of a client that the application has let in.
    pub(crate) fn open(
        cable: &Rc<Cable>,
        result: CommandResult,
        peer: Rc<Peer>,
        memory: &Rc<MemoryAccount>,
    ) -> CableSocket {
        let (number, outbox) = (cable.next_number(), Rc::<ClientOutbox>::default());
        let (session, reached) = CableSession::open(&cable.hub, (number, &outbox), result);
        cable.note(reached);
        cable.pulse.add(number, &outbox);
        CableSocket {
            cable: Rc::clone(cable),
            number,
            outbox,
            reader: FrameReader::new(MESSAGE_LIMIT),
            session: Some(session),
            running: None,
            peer,
            memory: Rc::clone(memory),
        }
    }

    /// Has the commands carried out one after the other.
    fn advance(&mut self, cx: &mut Context<'_>) {
        let Some(session) = &mut self.session else {
            return;
        };
        loop {
            if let Some(running) = &mut self.running {
                let Poll::Ready(result) = running.as_mut().poll(cx) else {
                    return;
                };
                self.running = None;
                self.cable.note(session.finish(result));
            }
            if self.outbox.is_closed() {
                return;
            }
            let Some(body) = session.next_command() else {
                return;
            };
            self.running = Some(self.cable.command(body, &self.peer, &self.memory));
        }
    }

    /// Reads a part of what the client has sent. Returns whether more can be read.
    fn read(&mut self, bytes: &mut &[u8], cx: &mut Context<'_>) -> bool {
        match self.reader.read(bytes) {
            Ok(Some(WebSocketEvent::Text(text))) => {
                if let Some(session) = &mut self.session {
                    session.receive(&text);
                }
                self.advance(cx);
            }
            Ok(Some(WebSocketEvent::Ping(payload))) => {
                self.outbox.push(&pong_frame(&payload).into());
            }
            Ok(Some(WebSocketEvent::Pong)) => {}
            Ok(Some(WebSocketEvent::Close(code))) => self.outbox.end(SocketEnd::Client, code),
            Ok(None) => return false,
            Err(code) => self.outbox.end(SocketEnd::InvalidMessage, Some(code)),
        }
        true
    }

    /// Whether more of the client is read. Nothing is once the socket is being closed.
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
        let count = bytes.len() - rest.len();
        if count == 0 && !bytes.is_empty() {
            // The end of the running command, or the next turn, wakes the task. After a close, the other direction ends.
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

/// Whether the task may go on. A client that floods the server with small frames gives way to the others.
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
}

impl Drop for CableSocket {
    /// Tells the application, once it has carried out what it was asked before.
    fn drop(&mut self) {
        self.cable.pulse.remove(self.number);
        self.outbox.end(SocketEnd::Client, None);
        let Some(mut session) = self.session.take() else {
            return;
        };
        let running = self.running.take();
        let cable = Rc::clone(&self.cable);
        let (peer, memory) = (Rc::clone(&self.peer), Rc::clone(&self.memory));
        spawn_local(async move {
            if let Some(running) = running {
                cable.note(session.finish(running.await));
            }
            let body = session.close_body();
            drop(session);
            let closed = cable.command(body, &peer, &memory).await;
            let broadcasts = closed.map(|result| result.broadcasts).unwrap_or_default();
            for (stream, message) in broadcasts {
                cable.broadcast(stream.as_bytes(), message.as_bytes());
            }
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
