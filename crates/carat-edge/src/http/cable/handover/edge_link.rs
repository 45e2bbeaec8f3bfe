use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::os::fd::OwnedFd;
use std::task::{Context, Poll, Waker};

use carat_cable::EdgeMessage;
use carat_dispatch::{FrameSocket, FrameTransport};
use carat_link::{Inbox, Outbox};
use carat_wire::Kind;
use carat_wire::control::encode_cable;
use tokio::sync::Notify;

/// Most bytes that wait for the other edge. One that does not take them is given up.
pub(super) const LINK_LIMIT: usize = 16 * 1024 * 1024;

/// What two edges say to each other about the cable, and the sockets that pass between them.
#[derive(Debug, Default)]
pub(crate) struct EdgeLink {
    outbox: RefCell<Outbox>,
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
        let mut outbox = self.outbox.borrow_mut();
        if let Some(socket) = socket {
            outbox.attach(socket);
        }
        encode_cable(outbox.buffer(), |out| message.encode(out));
        if outbox.len() > LINK_LIMIT {
            self.is_over.set(true);
        }
        self.wake();
    }

    /// Gives the other edge up.
    pub(super) fn close(&self) {
        self.is_over.set(true);
        self.wake();
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.get()
    }

    /// Bytes that wait for the other edge.
    pub(super) fn waiting_bytes(&self) -> usize {
        self.outbox.borrow().len()
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
        let is_waiting = !outbox.is_empty();
        match socket.poll_flush(cx, &mut outbox) {
            Poll::Ready(Err(_)) => Poll::Ready(()),
            Poll::Ready(Ok(())) if is_waiting => {
                self.note_change();
                Poll::Pending
            }
            _ => Poll::Pending,
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
