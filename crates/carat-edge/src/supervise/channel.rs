use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::rc::{Rc, Weak};
use std::task::{Context, Poll, Waker};

use carat_link::{Inbox, Outbox};
use carat_wire::control::Stack;
use carat_wire::{Frame, Hello, Kind, Malformed};
use tokio::task::spawn_local;

use super::event::{Event, Events, Who};
use crate::dispatch::FrameSocket;

/// The edge's end of a control socket. Dropping it closes the socket, which ends the process.
#[derive(Debug)]
pub(crate) struct Channel {
    outgoing: Rc<RefCell<Outgoing>>,
    who: Rc<Cell<Who>>,
}

#[derive(Debug, Default)]
struct Outgoing {
    outbox: Outbox,
    waker: Option<Waker>,
}

impl Channel {
    /// Serves the socket until either side closes it; what comes is told as events.
    pub(crate) fn open(socket: UnixStream, who: Who, events: Events) -> io::Result<Channel> {
        let socket = FrameSocket::new(socket)?;
        let outgoing = Rc::new(RefCell::new(Outgoing::default()));
        let weak = Rc::downgrade(&outgoing);
        let who = Rc::new(Cell::new(who));
        let name = Rc::clone(&who);
        spawn_local(async move {
            let mut inbox = Inbox::default();
            let tell =
                |frame: Frame<'_>| event_of(name.get(), frame).map(|event| events.send(event));
            poll_fn(|cx| poll(cx, &weak, &socket, &mut inbox, tell)).await;
            events.send(Event::Closed(name.get()));
        });
        Ok(Channel { outgoing, who })
    }

    /// A channel to nobody.
    #[cfg(test)]
    pub(crate) fn unconnected() -> Channel {
        Channel {
            outgoing: Rc::default(),
            who: Rc::new(Cell::new(Who::Mold(0))),
        }
    }

    /// The process is somebody else from now on, and so are its events.
    pub(crate) fn rename(&self, who: Who) {
        self.who.set(who);
    }

    /// Sends what `encode` appends, with descriptors beside it.
    pub(crate) fn send(&self, descriptors: Vec<OwnedFd>, encode: impl FnOnce(&mut Vec<u8>)) {
        let mut outgoing = self.outgoing.borrow_mut();
        for descriptor in descriptors {
            outgoing.outbox.attach(descriptor);
        }
        encode(outgoing.outbox.buffer());
        if let Some(waker) = outgoing.waker.take() {
            waker.wake();
        }
    }
}

impl Drop for Channel {
    fn drop(&mut self) {
        // The task sees that the channel is gone, and ends.
        if let Some(waker) = self.outgoing.borrow_mut().waker.take() {
            waker.wake();
        }
    }
}

/// Reads and sends; ready when the socket is over, whatever the reason: the process is then replaced.
fn poll(
    cx: &mut Context<'_>,
    outgoing: &Weak<RefCell<Outgoing>>,
    socket: &FrameSocket,
    inbox: &mut Inbox,
    tell: impl Fn(Frame<'_>) -> Result<(), Malformed>,
) -> Poll<()> {
    let Some(outgoing) = outgoing.upgrade() else {
        return Poll::Ready(());
    };
    while let Poll::Ready(open) = socket.poll_fill(cx, inbox) {
        let told = open.is_ok_and(|open| open) && tell_all(inbox, &tell).is_ok();
        if !told {
            return Poll::Ready(());
        }
    }
    let mut outgoing = outgoing.borrow_mut();
    let flushed = socket.poll_flush(cx, &mut outgoing.outbox);
    outgoing.waker = Some(cx.waker().clone());
    match flushed {
        Poll::Ready(Err(_)) => Poll::Ready(()),
        _ => Poll::Pending,
    }
}

fn tell_all(
    inbox: &mut Inbox,
    tell: impl Fn(Frame<'_>) -> Result<(), Malformed>,
) -> Result<(), Malformed> {
    while let Some(frame) = inbox.frames.next()? {
        tell(frame)?;
    }
    Ok(())
}

fn event_of(who: Who, frame: Frame<'_>) -> Result<Event, Malformed> {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    Ok(match (frame.kind, who) {
        (Kind::Hello, _) => {
            let hello = Hello::decode(frame.payload)?;
            if hello.version != carat_wire::VERSION {
                return Err(Malformed::BadValue("version"));
            }
            Event::Greeted {
                who,
                pid: hello.pid,
            }
        }
        (Kind::Ready, _) => Event::Ready(who),
        (Kind::BootFailed, _) => Event::BootFailed {
            who,
            text: text(frame.payload),
        },
        (Kind::Figures, _) => Event::Figures {
            who,
            json: text(frame.payload),
        },
        (Kind::NotForkSafe, Who::Mold(generation)) => Event::NotForkSafe {
            generation,
            text: text(frame.payload),
        },
        (Kind::Leaving, Who::Worker(worker)) => Event::Leaving(worker),
        // A worker that is to be the mold was told to end by somebody else.
        (Kind::Leaving, Who::Mold(_)) => Event::Closed(who),
        (Kind::Stack, Who::Worker(worker)) => {
            let stack = Stack::decode(frame.payload)?;
            Event::Stack {
                worker,
                lane: stack.lane,
                text: text(stack.text),
            }
        }
        _ => return Err(Malformed::BadValue("kind of frame on a control socket")),
    })
}
