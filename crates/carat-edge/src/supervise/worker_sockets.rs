use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::rc::Rc;

use carat_wire::Page;
use rustix::fs::MemfdFlags;

use crate::dispatch::FrameSocket;
use crate::dispatch::WorkerId;
use crate::dispatch::{Lane, LaneTag};

/// The sockets of a new worker: the edge's ends, and the descriptors that go to the mold.
#[derive(Debug)]
pub(crate) struct WorkerSockets {
    pub(crate) control: UnixStream,
    pub(crate) lanes: Vec<(Rc<Lane>, FrameSocket)>,
    /// The worker's control socket, then a socket and a page for each lane.
    pub(crate) descriptors: Vec<OwnedFd>,
}

impl WorkerSockets {
    /// Creates the sockets of a worker with this many lanes.
    pub(crate) fn new(worker: WorkerId, lanes: u16) -> io::Result<WorkerSockets> {
        let (control, far) = UnixStream::pair()?;
        let mut descriptors = vec![far.into()];
        let mut near = Vec::new();
        for lane in 0..lanes {
            let (socket, far) = UnixStream::pair()?;
            let page = rustix::fs::memfd_create("carat-lane", MemfdFlags::CLOEXEC)?;
            rustix::fs::ftruncate(&page, Page::BYTES as u64)?;
            let page = File::from(page);
            descriptors.push(far.into());
            descriptors.push(page.try_clone()?.into());
            near.push((
                Rc::new(Lane::new(LaneTag { worker, lane }, page)),
                FrameSocket::new(socket)?,
            ));
        }
        Ok(WorkerSockets {
            control,
            lanes: near,
            descriptors,
        })
    }
}
