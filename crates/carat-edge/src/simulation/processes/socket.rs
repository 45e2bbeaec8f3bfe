use std::io;
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::task::{Context, Poll};

use carat_link::{Fill, Flush, Inbox, Outbox};

use crate::simulation::world::World;
use crate::simulation::world::wire::Wire;
use carat_dispatch::FrameTransport;

/// The edge's end of a real socket pair. Its readiness comes from the simulated process at the other end, and not from
/// epoll, whose order differs from run to run.
#[derive(Debug)]
pub(crate) struct SimulatedSocket {
    socket: UnixStream,
    wire: Rc<Wire>,
    world: Rc<World>,
}

impl SimulatedSocket {
    pub(crate) fn new(socket: UnixStream, wire: Rc<Wire>, world: Rc<World>) -> SimulatedSocket {
        SimulatedSocket {
            socket,
            wire,
            world,
        }
    }

    fn announce(&self) {
        if let Some(moment) = self.wire.announce() {
            self.world.after(self.world.latency(), moment);
        }
    }
}

impl FrameTransport for SimulatedSocket {
    fn poll_fill(&self, cx: &mut Context<'_>, inbox: &mut Inbox) -> Poll<io::Result<bool>> {
        match inbox.fill(&self.socket)? {
            Fill::Bytes { .. } => {
                // The process may wait for room.
                self.announce();
                Poll::Ready(Ok(true))
            }
            Fill::Closed => Poll::Ready(Ok(false)),
            Fill::Blocked => {
                self.wire.wait(cx.waker());
                Poll::Pending
            }
        }
    }

    fn poll_flush(&self, cx: &mut Context<'_>, outbox: &mut Outbox) -> Poll<io::Result<()>> {
        if outbox.is_empty() {
            return Poll::Ready(Ok(()));
        }
        let flushed = outbox.flush(&self.socket)?;
        self.announce();
        match flushed {
            Flush::Done => Poll::Ready(Ok(())),
            Flush::Blocked => {
                self.wire.wait(cx.waker());
                Poll::Pending
            }
        }
    }
}

impl Drop for SimulatedSocket {
    fn drop(&mut self) {
        self.announce();
        // Descriptors that this socket was to send are closed, too.
        self.world.wires.wake_edge();
    }
}
