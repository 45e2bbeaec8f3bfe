use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::poll_fn;
use std::os::fd::OwnedFd;
use std::task::{Context, Poll, Waker};

use carat_cable::{EdgeMessage, HistoryItem, HistoryRecord};
use carat_dispatch::{FrameSocket, FrameTransport};
use carat_link::{Inbox, Outbox};
use carat_wire::Kind;
use carat_wire::control::encode_cable;
use tokio::sync::Notify;

/// Most bytes that wait for the other edge. One that does not take them is given up.
pub(super) const LINK_LIMIT: usize = 16 * 1024 * 1024;
/// Bytes of a history that are encoded before those are sent.
const HISTORY_PART: usize = 256 * 1024;

/// What two edges say to each other about the cable, and the sockets that pass between them.
#[derive(Debug, Default)]
pub(crate) struct EdgeLink {
    outbox: RefCell<Outbox>,
    /// What is left of a history to send, and what follows it.
    history: RefCell<VecDeque<HistoryItem>>,
    behind: RefCell<Vec<u8>>,
    waker: RefCell<Option<Waker>>,
    is_over: Cell<bool>,
    /// What waited for the other edge is sent, or the link has ended.
    changed: Notify,
}

impl EdgeLink {
    /// Sends a message, with a socket beside it.
    pub(crate) fn send(&self, message: &EdgeMessage<'_>, socket: Option<OwnedFd>) {
        if self.is_over.get() {
            return;
        }
        let (mut outbox, mut behind) = (self.outbox.borrow_mut(), self.behind.borrow_mut());
        if let Some(socket) = socket {
            outbox.attach(socket);
        }
        let buffer = if self.history.borrow().is_empty() {
            outbox.buffer()
        } else {
            &mut *behind
        };
        encode_cable(buffer, |out| message.encode(out));
        if outbox.len() + behind.len() > LINK_LIMIT {
            self.is_over.set(true);
        }
        self.wake();
    }

    /// Sends what is kept of broadcasts before all that follows. It is encoded as fast as the other edge reads.
    pub(in crate::cable) fn send_history(
        &self,
        items: VecDeque<HistoryItem>,
        record: &HistoryRecord,
    ) {
        *self.history.borrow_mut() = items;
        let record = serde_json::to_vec(record).expect("only string keys");
        self.send(&EdgeMessage::History(&record), None);
    }

    /// Encodes the next part of the history. Returns whether any is left.
    fn encode_history(&self, outbox: &mut Outbox) -> bool {
        let mut history = self.history.borrow_mut();
        while outbox.len() < HISTORY_PART {
            let Some(item) = history.pop_front() else {
                break;
            };
            let kept = EdgeMessage::Kept(item.broadcast());
            encode_cable(outbox.buffer(), |out| kept.encode(out));
        }
        if history.is_empty() {
            *history = VecDeque::new();
            outbox.buffer().append(&mut self.behind.take());
        }
        !history.is_empty()
    }

    /// Gives the other edge up.
    pub(super) fn close(&self) {
        self.is_over.set(true);
        self.wake();
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// Bytes that wait for the other edge: more than any limit while a history does.
    pub(super) fn waiting_bytes(&self) -> usize {
        if self.history.borrow().is_empty() {
            self.outbox.borrow().len()
        } else {
            usize::MAX
        }
    }

    /// Something has changed that one waits for.
    pub(super) fn note_change(&self) {
        self.changed.notify_one();
    }

    /// Waits until nothing waits for the other edge, the link has ended, or somebody notes another change.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Carries messages both ways until the other edge is gone, or is given up, or `receive` returns false.
    pub(crate) async fn serve(
        &self,
        socket: FrameSocket,
        mut receive: impl FnMut(EdgeMessage<'_>, Option<OwnedFd>) -> bool,
    ) {
        let mut inbox = Inbox::default();
        poll_fn(|cx| self.poll(cx, &socket, &mut inbox, &mut receive)).await;
        self.is_over.set(true);
        *self.outbox.borrow_mut() = Outbox::default();
        *self.history.borrow_mut() = VecDeque::new();
        *self.behind.borrow_mut() = Vec::new();
        self.note_change();
    }

    fn poll(
        &self,
        cx: &mut Context<'_>,
        socket: &FrameSocket,
        inbox: &mut Inbox,
        receive: &mut impl FnMut(EdgeMessage<'_>, Option<OwnedFd>) -> bool,
    ) -> Poll<()> {
        while let Poll::Ready(open) = socket.poll_fill(cx, inbox) {
            if !open.is_ok_and(|open| open) || receive_all(inbox, receive).is_none() {
                return Poll::Ready(());
            }
        }
        if self.is_over.get() {
            return Poll::Ready(());
        }
        self.waker.replace(Some(cx.waker().clone()));
        let mut outbox = self.outbox.borrow_mut();
        loop {
            let is_left = self.encode_history(&mut outbox);
            let is_waiting = !outbox.is_empty();
            match socket.poll_flush(cx, &mut outbox) {
                Poll::Ready(Err(_)) => return Poll::Ready(()),
                Poll::Ready(Ok(())) if is_left => continue,
                Poll::Ready(Ok(())) if is_waiting => self.note_change(),
                _ => {}
            }
            return Poll::Pending;
        }
    }

    fn wake(&self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// Takes the messages that have arrived. `None` if one is none.
fn receive_all(
    inbox: &mut Inbox,
    receive: &mut impl FnMut(EdgeMessage<'_>, Option<OwnedFd>) -> bool,
) -> Option<()> {
    while let Some(frame) = inbox.frames.next().ok()? {
        let message = EdgeMessage::decode(frame.payload).filter(|_| frame.kind == Kind::Cable)?;
        let socket = match message {
            // A socket that is lost, because too many files are open, is closed: its client comes back.
            EdgeMessage::Socket(_) => {
                let taken = inbox.descriptors.take(1, frame.has_first_descriptor);
                taken.ok().and_then(|mut taken| taken.next())
            }
            _ => None,
        };
        receive(message, socket).then_some(())?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;
    use std::rc::Rc;
    use std::time::Duration;

    use carat_cable::BroadcastHistory;
    use tokio::task::{LocalSet, spawn_local};
    use tokio::time::timeout;

    use super::*;

    fn locally(test: impl Future<Output = ()>) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        LocalSet::new().block_on(&runtime.expect("a runtime"), test);
    }

    fn pair() -> [FrameSocket; 2] {
        let (near, far) = UnixStream::pair().expect("a pair");
        [near, far].map(|end| FrameSocket::new(end).expect("a socket"))
    }

    #[test]
    fn messages_and_sockets_arrive_in_order_and_the_end_is_noticed() {
        locally(async {
            let [near, far] = pair();
            let (link, other) = (Rc::<EdgeLink>::default(), EdgeLink::default());
            for number in 0..600 {
                let socket = UnixStream::pair().expect("a pair").0.into();
                link.send(&EdgeMessage::Socket(b"record"), Some(socket));
                link.send(&EdgeMessage::Offer(number), None);
            }
            let sender = Rc::clone(&link);
            let sending = spawn_local(async move { sender.serve(near, |_, _| true).await });
            let mut received = Vec::new();
            let receive = |message: EdgeMessage<'_>, socket: Option<OwnedFd>| {
                if let EdgeMessage::Offer(number) = message {
                    received.push(number);
                    return number < 599;
                }
                socket.is_some()
            };
            other.serve(far, receive).await;
            assert_eq!(received, (0..600).collect::<Vec<_>>());
            sending.await.expect("no panic");
            assert!(link.is_over());
        });
    }

    #[test]
    fn a_history_precedes_what_follows_and_is_encoded_as_fast_as_it_is_read() {
        locally(async {
            let mut history = BroadcastHistory::new("e".into(), 10, LINK_LIMIT);
            let message = format!("\"{}\"", "x".repeat(2000)).into_bytes();
            for stream in 0..1000 {
                history.keep_payload(&stream.to_string(), &message);
            }
            let [near, far] = pair();
            let (link, other) = (Rc::<EdgeLink>::default(), EdgeLink::default());
            let (items, record) = history.copy();
            link.send_history(items, &record);
            link.send(&EdgeMessage::Turn, None);
            assert!(link.outbox.borrow().is_empty() && link.waiting_bytes() > LINK_LIMIT);
            let sender = Rc::clone(&link);
            let sending = spawn_local(async move { sender.serve(near, |_, _| true).await });
            let mut received = Vec::new();
            let receive = |message: EdgeMessage<'_>, _: Option<OwnedFd>| {
                assert!(link.outbox.borrow().len() <= HISTORY_PART + 3000);
                match message {
                    EdgeMessage::Kept(kept) => received.push(kept.offset),
                    EdgeMessage::History(_) => received.push(0),
                    message => return message != EdgeMessage::Turn,
                }
                true
            };
            other.serve(far, receive).await;
            assert_eq!(received, (1..=1000).chain([0]).collect::<Vec<_>>());
            sending.await.expect("no panic");
        });
    }

    #[test]
    fn an_edge_that_does_not_read_is_given_up() {
        locally(async {
            let [near, _deaf] = pair();
            let link = Rc::<EdgeLink>::default();
            let sender = Rc::clone(&link);
            let sending = spawn_local(async move { sender.serve(near, |_, _| true).await });
            let message = vec![b'1'; LINK_LIMIT / 4];
            for _ in 0..5 {
                link.send(
                    &EdgeMessage::Broadcast {
                        stream: "chat",
                        message: &message,
                    },
                    None,
                );
            }
            let ended = timeout(Duration::from_secs(60), sending).await;
            ended.expect("it ends").expect("no panic");
            assert_eq!(link.waiting_bytes(), 0);
        });
    }
}
