//! Lanes of workers that do what a test says.

use std::fs::File;
use std::rc::Rc;

use crate::lanes::lane::lane_outbox::OUTBOX_LIMIT;
use crate::lanes::lane::{Lane, WorkerRequests, WorkerTunnels};
use carat_log::LaneTag;

impl Lane {
    /// A lane of its own worker, whose requests begin when a test says so.
    pub fn unshared(worker: u32, capacity: u16) -> Rc<Lane> {
        Lane::of_thread(worker, 0, capacity, &WorkerRequests::default())
    }

    /// A lane of a worker with several lanes, whose requests begin when a test says so.
    pub fn of_thread(worker: u32, lane: u16, capacity: u16, load: &WorkerRequests) -> Rc<Lane> {
        let worker = carat_log::WorkerId {
            number: worker,
            serial: u64::from(worker),
        };
        let page = File::open("/dev/null").expect("there on every machine");
        let mut lane = Lane::new(
            LaneTag { worker, lane },
            1,
            page,
            load.clone(),
            WorkerTunnels::default(),
        );
        lane.page = crate::lanes::lane::shared_page::unshared_page();
        lane.open(capacity);
        Rc::new(lane)
    }

    /// The worker begins this request; returns whether it may.
    pub fn worker_begins(&self, id: u32) -> bool {
        self.page.begin(id).expect("written")
    }

    /// Says whether the worker's thread runs code after its response.
    pub fn worker_lingers(&self, lingers: bool) {
        self.page.linger(lingers).expect("written");
        if lingers {
            self.note_lingering();
        }
    }

    /// Fills the outbox, as when the worker reads nothing.
    pub fn fill_outbox(&self) {
        self.outbox.push(|out| out.resize(OUTBOX_LIMIT, 0));
    }

    /// The numbers of the requests that the lane holds.
    pub fn ids(&self) -> Vec<u32> {
        self.in_flight().iter().map(|request| request.id).collect()
    }
}
