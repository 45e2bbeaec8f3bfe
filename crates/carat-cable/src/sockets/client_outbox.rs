use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use super::OUTBOX_LIMIT;
use crate::{CloseCode, DeflateWindow, close_frame, disconnect, text_frame};

/// The reason in Action Cable's `disconnect` when other clients need the memory that is held for
/// this one.
const OUT_OF_MEMORY: &str = "out_of_memory";
/// The memory that a frame takes in addition to its bytes.
const FRAME_COST: usize = 16;

/// Identifies the socket of a client.
pub type SocketNumber = u64;

/// Why a WebSocket ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SocketEnd {
    /// The client has closed the socket, or is gone.
    Client,
    /// The client has come back over another socket.
    Returned,
    /// The client has sent a message that is invalid or too long.
    InvalidMessage,
    /// The client has not finished a message in time.
    UnfinishedMessage,
    /// The client does not read.
    TooSlow,
    /// The memory that is held for the client is needed elsewhere.
    OutOfMemory,
    /// The application disconnects this client.
    Remote,
    /// The application has not let the client in, or closes its connection.
    Application,
    /// The server ends.
    ServerRestart,
}

impl SocketEnd {
    fn of(reason: Option<&str>) -> SocketEnd {
        match reason {
            Some("too_slow") => SocketEnd::TooSlow,
            Some(OUT_OF_MEMORY) => SocketEnd::OutOfMemory,
            Some("remote") => SocketEnd::Remote,
            Some("server_restart") => SocketEnd::ServerRestart,
            _ => SocketEnd::Application,
        }
    }

    /// The reason as the access log has it.
    pub fn name(self) -> &'static str {
        match self {
            SocketEnd::Client => "closed by the client",
            SocketEnd::Returned => "the client is back",
            SocketEnd::InvalidMessage => "invalid message",
            SocketEnd::UnfinishedMessage => "unfinished message",
            SocketEnd::TooSlow => "too slow",
            SocketEnd::OutOfMemory => "client_memory is used up",
            SocketEnd::Remote => "disconnected remotely",
            SocketEnd::Application => "closed by the application",
            SocketEnd::ServerRestart => "server restart",
        }
    }
}

impl SocketEnd {
    /// The close frame of a socket that the server ends, with the reason where the code does not say enough.
    fn close_frame(self, code: Option<CloseCode>) -> Vec<u8> {
        let tells = matches!(self, SocketEnd::UnfinishedMessage | SocketEnd::OutOfMemory);
        close_frame(code, if tells { self.name() } else { "" })
    }
}

/// The frames that wait for one client. A frame that waits for many clients is in memory once.
///
/// ```
/// use carat_cable::ClientOutbox;
///
/// let outbox = ClientOutbox::default();
/// outbox.push(&b"\x81\x05hello"[..].into());
/// outbox.close(None, true);
/// let mut bytes = [0; 100];
/// assert_eq!(outbox.take(&mut bytes[..3]), 3);
/// assert!(outbox.take(&mut bytes[3..]) > 4 && outbox.has_ended());
/// assert!(bytes.starts_with(b"\x81\x05hello\x81"));
/// ```
#[derive(Debug)]
pub struct ClientOutbox {
    /// The most bytes that wait behind the first message.
    limit: usize,
    frames: RefCell<VecDeque<Rc<[u8]>>>,
    /// The memory of `frames`.
    bytes: Cell<usize>,
    /// Bytes of the first frame that have been taken.
    sent: Cell<usize>,
    /// Why the socket ends after these frames; `None` while it is open.
    end: Cell<Option<SocketEnd>>,
    waker: RefCell<Option<Waker>>,
    is_extended: bool,
    /// The compression that was negotiated; `None` if texts are sent plain.
    deflate: Option<DeflateWindow>,
}

impl Default for ClientOutbox {
    fn default() -> ClientOutbox {
        ClientOutbox {
            limit: OUTBOX_LIMIT,
            frames: RefCell::default(),
            bytes: Cell::default(),
            sent: Cell::default(),
            end: Cell::default(),
            waker: RefCell::default(),
            is_extended: false,
            deflate: None,
        }
    }
}

impl ClientOutbox {
    /// The outbox of a client of the extended protocol.
    pub fn extended() -> ClientOutbox {
        ClientOutbox {
            is_extended: true,
            ..ClientOutbox::default()
        }
    }

    /// Sets the compression that was negotiated with the client, if any.
    #[must_use]
    pub fn with_deflate(self, deflate: Option<DeflateWindow>) -> ClientOutbox {
        ClientOutbox { deflate, ..self }
    }

    /// Sets how many bytes may wait for the client behind the first message.
    #[must_use]
    pub fn with_limit(self, limit: usize) -> ClientOutbox {
        ClientOutbox { limit, ..self }
    }

    /// The compression that has been negotiated.
    pub fn deflate(&self) -> Option<DeflateWindow> {
        self.deflate
    }

    /// Whether the client speaks the extended protocol.
    pub fn is_extended(&self) -> bool {
        self.is_extended
    }

    /// Adds a frame, unless the connection is being closed. Returns false when too much waits: then the client is
    /// disconnected.
    pub fn push(&self, frame: &Rc<[u8]>) -> bool {
        let fits = self.add(frame);
        self.wake();
        fits
    }

    /// Like `push`, but does not wake the task of the client. Returns the waker of the task, too,
    /// if it waits.
    pub(super) fn push_quietly(&self, frame: &Rc<[u8]>) -> (bool, Option<Waker>) {
        (self.add(frame), self.waker.take())
    }

    fn add(&self, frame: &Rc<[u8]>) -> bool {
        if self.is_closed() {
            return true;
        }
        let fits = self.is_empty() || self.has_room(1, frame.len());
        if fits {
            self.append(Rc::clone(frame));
        } else {
            self.abandon("too_slow");
        }
        fits
    }

    /// Drops all frames, except a first one that the client has a part of, and disconnects the
    /// client.
    fn abandon(&self, reason: &str) {
        let mut frames = self.frames.borrow_mut();
        frames.truncate(usize::from(self.sent.get() > 0));
        let left = frames.iter().map(|frame| frame.len() + FRAME_COST).sum();
        drop(frames);
        self.bytes.set(left);
        self.append_close(Some(reason), true);
    }

    /// Drops the frames that wait, because their memory is needed elsewhere, and disconnects the
    /// client. It may connect again.
    pub fn make_room(&self) {
        self.abandon(OUT_OF_MEMORY);
        self.wake();
    }

    /// Whether the outbox has room for this number of frames, which have `bytes` bytes together.
    pub fn has_room(&self, frames: usize, bytes: usize) -> bool {
        let first = (self.frames.borrow().front()).map_or(0, |frame| frame.len() + FRAME_COST);
        self.bytes.get() - first + bytes + frames * FRAME_COST <= self.limit
    }

    /// Adds a text.
    pub fn send(&self, text: &str) -> bool {
        self.push(&text_frame(text).into())
    }

    /// Disconnects the client after the frames that wait: tells it why, and whether it may come
    /// back, and closes the WebSocket.
    pub fn close(&self, reason: Option<&str>, reconnect: bool) {
        self.append_close(reason, reconnect);
        self.wake();
    }

    /// Disconnects a client that is to connect again.
    pub fn restart(&self) {
        self.close(Some("server_restart"), true);
    }

    fn append_close(&self, reason: Option<&str>, reconnect: bool) {
        if !self.is_closed() {
            self.append(text_frame(&disconnect(reason, reconnect)).into());
            let end = SocketEnd::of(reason);
            let code = match end {
                SocketEnd::OutOfMemory => CloseCode::TRY_AGAIN_LATER,
                _ => CloseCode::NORMAL,
            };
            self.append_end(end, Some(code));
        }
    }

    /// Closes the WebSocket after the frames that wait.
    pub fn end(&self, end: SocketEnd, code: Option<CloseCode>) {
        self.append_end(end, code);
        self.wake();
    }

    fn append_end(&self, end: SocketEnd, code: Option<CloseCode>) {
        if !self.is_closed() {
            self.end.set(Some(end));
            self.append(end.close_frame(code).into());
        }
    }

    /// Whether no frame waits.
    pub fn is_empty(&self) -> bool {
        self.bytes.get() == 0
    }

    /// Whether the socket ends after the frames that wait.
    pub fn is_closed(&self) -> bool {
        self.end.get().is_some()
    }

    /// Why the socket ends after the frames that wait; `None` while it is open.
    pub fn socket_end(&self) -> Option<SocketEnd> {
        self.end.get()
    }

    /// Whether the socket has ended, and all its frames have been taken.
    pub fn has_ended(&self) -> bool {
        self.is_closed() && self.is_empty()
    }

    /// The memory of the frames that wait. Frames for many clients count for each of them.
    pub fn held_bytes(&self) -> usize {
        self.bytes.get()
    }

    /// Moves bytes of the frames to the front of `into`, and returns how many.
    pub fn take(&self, into: &mut [u8]) -> usize {
        let mut frames = self.frames.borrow_mut();
        let mut taken = 0;
        while let Some(frame) = frames.front() {
            let rest = &frame[self.sent.get()..];
            let count = rest.len().min(into.len() - taken);
            into[taken..taken + count].copy_from_slice(&rest[..count]);
            taken += count;
            if count < rest.len() {
                self.sent.set(self.sent.get() + count);
                return taken;
            }
            self.bytes.set(self.bytes.get() - frame.len() - FRAME_COST);
            self.sent.set(0);
            frames.pop_front();
        }
        // Frees the memory of the list: most clients are idle.
        *frames = VecDeque::new();
        taken
    }

    /// Ready when there are frames to take, or the socket has ended.
    pub fn poll_ready(&self, cx: &Context<'_>) -> Poll<()> {
        if !self.is_empty() || self.is_closed() {
            return Poll::Ready(());
        }
        let mut waker = self.waker.borrow_mut();
        match &mut *waker {
            Some(waker) => waker.clone_from(cx.waker()),
            None => *waker = Some(cx.waker().clone()),
        }
        Poll::Pending
    }

    fn append(&self, frame: Rc<[u8]>) {
        self.bytes.set(self.bytes.get() + frame.len() + FRAME_COST);
        self.frames.borrow_mut().push_back(frame);
    }

    fn wake(&self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(outbox: &ClientOutbox) -> Vec<u8> {
        let mut bytes = vec![0; 2 * OUTBOX_LIMIT];
        let count = outbox.take(&mut bytes);
        bytes.truncate(count);
        bytes
    }

    #[test]
    fn a_client_that_does_not_read_is_told_so_behind_the_frame_that_it_has_a_part_of() {
        let outbox = ClientOutbox::default();
        let frame: Rc<[u8]> = vec![b'x'; 1000].into();
        assert_eq!(outbox.take(&mut []), 0);
        assert!(outbox.push(&frame) && outbox.push(&frame));
        assert_eq!(outbox.take(&mut [0; 400]), 400);
        let pushed = (0..1000).take_while(|_| outbox.push(&frame)).count();
        assert_eq!(pushed, OUTBOX_LIMIT / (1000 + FRAME_COST) - 1);
        assert!(outbox.held_bytes() < 1200);
        let bytes = taken(&outbox);
        let rest = bytes.strip_prefix(&[b'x'; 600][..]).expect("the rest");
        assert!(String::from_utf8_lossy(rest).contains(r#""reason":"too_slow","reconnect":true"#));
        assert!(rest.ends_with(b"\x88\x02\x03\xe8"));
        assert!(outbox.push(&frame) && outbox.has_ended());
    }

    #[test]
    fn a_client_whose_memory_others_need_is_told_so_and_nothing_else_waits() {
        let outbox = ClientOutbox::default();
        let frame: Rc<[u8]> = vec![b'x'; 1000].into();
        assert!((0..100).all(|_| outbox.push(&frame)));
        outbox.make_room();
        let bytes = taken(&outbox);
        let text = String::from_utf8_lossy(&bytes);
        assert!(text.contains(r#""reason":"out_of_memory","reconnect":true"#));
        assert!(bytes.ends_with(b"\x03\xf5client_memory is used up") && bytes.len() < 200);
        assert_eq!(outbox.socket_end(), Some(SocketEnd::OutOfMemory));
    }

    #[test]
    fn a_message_larger_than_what_may_wait_is_sent_with_little_behind_it() {
        let outbox = ClientOutbox::default();
        let (large, small) = (vec![1; 2 * OUTBOX_LIMIT].into(), vec![2; 1000].into());
        assert!(outbox.push(&large) && outbox.push(&small));
        assert_eq!(outbox.take(&mut [0; 400]), 400);
        assert!(!outbox.push(&large) && outbox.is_closed());
    }

    #[test]
    fn whoever_waits_is_woken_by_a_frame_and_by_the_end() {
        let outbox = ClientOutbox::default();
        let cx = Context::from_waker(Waker::noop());
        assert!(outbox.poll_ready(&cx).is_pending());
        assert!(outbox.send("{}") && outbox.poll_ready(&cx).is_ready());
        assert_eq!(taken(&outbox), b"\x81\x02{}");
        assert!(outbox.poll_ready(&cx).is_pending());
        outbox.end(SocketEnd::Client, None);
        outbox.close(None, false);
        assert_eq!(outbox.socket_end(), Some(SocketEnd::Client));
        assert_eq!(taken(&outbox), b"\x88\0");
        assert!(outbox.poll_ready(&cx).is_ready() && outbox.has_ended());
    }
}
