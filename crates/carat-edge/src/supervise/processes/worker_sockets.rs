use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use carat_wire::Page;
use rustix::fs::MemfdFlags;

use crate::supervise::processes::host::Host;
use carat_dispatch::{Lane, WorkerRequests};
use carat_exchange::WorkerTunnels;
use carat_log::{LaneTag, WorkerId};
use carat_settings::Settings;

/// The sockets of a new worker: the edge's ends, and the descriptors that go to the mold.
pub(crate) struct WorkerSockets<S> {
    pub(crate) control: S,
    pub(crate) lanes: Vec<(Rc<Lane>, S)>,
    /// The worker's control socket, then a socket and a page for each lane.
    pub(crate) descriptors: Vec<OwnedFd>,
}

impl<S> WorkerSockets<S> {
    /// Creates the sockets of a worker that runs with these settings.
    pub(crate) fn new(
        host: &impl Host<Socket = S>,
        worker: WorkerId,
        generation: u32,
        settings: &Settings,
    ) -> io::Result<WorkerSockets<S>> {
        let (control, far) = host.socket_pair()?;
        let mut descriptors = vec![far.into()];
        let mut near = Vec::new();
        let (requests, tunnels) = (WorkerRequests::default(), WorkerTunnels::default());
        for lane in 0..settings.lanes() {
            let (socket, far) = host.socket_pair()?;
            let page = rustix::fs::memfd_create("carat-lane", MemfdFlags::CLOEXEC)?;
            rustix::fs::ftruncate(&page, Page::BYTES as u64)?;
            let page = File::from(page);
            descriptors.push(far.into());
            descriptors.push(page.try_clone()?.into());
            let tag = LaneTag { worker, lane };
            let lane = Lane::new(tag, generation, page, requests.clone(), tunnels.clone());
            near.push((Rc::new(lane), socket));
        }
        Ok(WorkerSockets {
            control,
            lanes: near,
            descriptors,
        })
    }
}
