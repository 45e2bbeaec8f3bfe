use std::cell::{Cell, RefCell};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::rc::Rc;
use std::task::Waker;

use crate::simulation::plan::Moment;

/// The state that both ends of a simulated socket pair share: the edge at one end, a process at the other.
#[derive(Debug, Default)]
pub(crate) struct Wire {
    /// The task of the edge that waits for the socket.
    edge: RefCell<Option<Waker>>,
    /// The end that a process has received, if it has.
    process: Cell<Option<WireEnd>>,
    /// Whether the process will look at the socket soon.
    is_announced: Cell<bool>,
}

/// The end that a process holds: its control socket, or one of its lanes.
#[derive(Debug, Clone, Copy)]
pub(crate) enum WireEnd {
    Control(u32),
    Lane(u32, u16),
}

impl Wire {
    /// Notes that the edge waits until the process does something.
    pub(crate) fn wait(&self, waker: &Waker) {
        self.edge.replace(Some(waker.clone()));
    }

    /// Wakes the edge, which may wait for what the process did.
    pub(crate) fn wake_edge(&self) {
        let waker = self.edge.borrow_mut().take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Notes that the edge did something. Returns the moment at which the process reacts, unless it will look anyway.
    pub(crate) fn announce(&self) -> Option<Moment> {
        let end = self.process.get()?;
        let is_new = !self.is_announced.replace(true);
        is_new.then_some(match end {
            WireEnd::Control(pid) => Moment::Process(pid),
            WireEnd::Lane(pid, lane) => Moment::Lane(pid, lane),
        })
    }
}

/// All socket pairs with the inode of the process's end, the oldest first. A map by inode would have another order in
/// each run, because the kernel gives each processor inodes of its own.
#[derive(Debug, Default)]
pub(crate) struct Wires(RefCell<Vec<(u64, Rc<Wire>)>>);

impl Wires {
    /// A new socket pair: the edge's end, the shared state, and the process's end.
    pub(crate) fn pair(&self) -> io::Result<(UnixStream, Rc<Wire>, UnixStream)> {
        let (near, far) = UnixStream::pair()?;
        let wire = Rc::new(Wire::default());
        let inode = rustix::fs::fstat(&far)?.st_ino;
        self.0.borrow_mut().push((inode, Rc::clone(&wire)));
        Ok((near, wire, far))
    }

    /// The end of a process that has received this descriptor.
    pub(crate) fn adopt(&self, socket: OwnedFd, end: WireEnd) -> FarEnd {
        let inode = rustix::fs::fstat(&socket).expect("an open socket").st_ino;
        let wires = self.0.borrow();
        let mut newest_first = wires.iter().rev();
        let found = newest_first.find(|(known, _)| *known == inode);
        let wire = Rc::clone(&found.expect("a socket of a pair").1);
        wire.process.set(Some(end));
        FarEnd { socket, wire }
    }

    /// Wakes the edge on all sockets: a process is gone, and with it descriptors that it had not received yet.
    pub(crate) fn wake_edge(&self) {
        for (_, wire) in self.0.borrow().iter() {
            wire.wake_edge();
        }
    }
}

/// The process's end of a socket.
#[derive(Debug)]
pub(crate) struct FarEnd {
    socket: OwnedFd,
    wire: Rc<Wire>,
}

impl FarEnd {
    /// Notes that the process looks at the socket now.
    pub(crate) fn look(&self) {
        self.wire.is_announced.set(false);
    }

    /// Wakes the edge after the process has read or written.
    pub(crate) fn wake_edge(&self) {
        self.wire.wake_edge();
    }
}

impl AsFd for FarEnd {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
