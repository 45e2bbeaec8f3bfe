use std::fs::File;
use std::os::fd::OwnedFd;
use std::rc::Rc;

use crate::simulation::collector::SimulatedCollector;
use crate::simulation::processes::lane::{LaneRun, WorkerLane};
use crate::simulation::processes::page::WorkerPage;
use crate::simulation::world::World;
use crate::simulation::world::wire::{FarEnd, WireEnd};

/// A worker: its lanes, and its stage.
#[derive(Debug)]
pub(crate) struct SimulatedWorker {
    pid: u32,
    lanes: Vec<WorkerLane>,
    pub(crate) collector: Rc<SimulatedCollector>,
    stage: ServiceStage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ServiceStage {
    Booting,
    Serving,
    /// The lanes finish their requests.
    Finishing(WorkerEnd),
    Over,
}

/// The end of a worker when its lanes have finished.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WorkerEnd {
    Exits,
    /// The worker becomes the mold.
    IsPromoted,
}

impl SimulatedWorker {
    /// `sockets` has a socket and a page for each lane.
    pub(crate) fn new(pid: u32, sockets: Vec<OwnedFd>, world: &World) -> SimulatedWorker {
        let capacity = world.settings.parts.fibers.slots.unwrap_or(1);
        let collector = Rc::new(SimulatedCollector::new(world.scenario.collects_after));
        let mut sockets = sockets.into_iter();
        let mut lanes = Vec::new();
        while let (Some(socket), Some(page)) = (sockets.next(), sockets.next()) {
            let index = u16::try_from(lanes.len()).expect("few");
            let end = world.wires.adopt(socket, WireEnd::Lane(pid, index));
            let page = WorkerPage(File::from(page));
            lanes.push(WorkerLane::new(
                (pid, index),
                end,
                page,
                capacity,
                &collector,
            ));
        }
        SimulatedWorker {
            pid,
            lanes,
            collector,
            stage: ServiceStage::Booting,
        }
    }

    pub(crate) fn serves(&self) -> bool {
        self.stage == ServiceStage::Serving && self.lanes.iter().all(WorkerLane::is_open)
    }

    /// Whether the main thread reads the control socket.
    pub(crate) fn listens(&self) -> bool {
        self.stage == ServiceStage::Serving
    }

    pub(crate) fn lanes(&self) -> u16 {
        u16::try_from(self.lanes.len()).expect("few")
    }

    pub(crate) fn into_lane_ends(self) -> Vec<FarEnd> {
        let ends = self.lanes.into_iter().filter_map(WorkerLane::into_end);
        ends.collect()
    }

    /// The lanes begin to serve.
    pub(crate) fn serve(&mut self, world: &World) {
        self.stage = ServiceStage::Serving;
        for lane in &mut self.lanes {
            lane.push_hello(world);
        }
    }

    /// The lanes take no further request.
    pub(crate) fn finish(&mut self, end: WorkerEnd, world: &World) {
        if self.stage != ServiceStage::Serving {
            return;
        }
        let is_promoted = end == WorkerEnd::IsPromoted;
        world.note("finishing", self.pid.into(), is_promoted.into());
        self.stage = ServiceStage::Finishing(end);
        for lane in &mut self.lanes {
            lane.drain(world);
        }
    }

    /// Returns what follows, once, when all lanes are closed.
    pub(crate) fn take_end(&mut self) -> Option<WorkerEnd> {
        let ServiceStage::Finishing(end) = self.stage else {
            return None;
        };
        if self.lanes.iter().any(WorkerLane::is_open) {
            return None;
        }
        self.stage = ServiceStage::Over;
        Some(end)
    }

    /// Lets a lane act. True when the worker dies of it.
    pub(crate) fn run_lane(&mut self, lane: u16, world: &World) -> bool {
        let lane = self.lanes.get_mut(usize::from(lane));
        lane.is_some_and(|lane| lane.run(world) == LaneRun::Crashed)
    }

    /// The application ends a lane's thread.
    pub(crate) fn end_lane(&mut self, lane: u16) {
        if let (ServiceStage::Serving, Some(lane)) =
            (self.stage, self.lanes.get_mut(usize::from(lane)))
        {
            lane.leave();
        }
    }
}
