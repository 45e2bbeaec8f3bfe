use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::rc::Rc;

use crate::simulation::plan::Moment;
use crate::simulation::processes::process::SimulatedProcess;
use crate::simulation::world::World;
use carat_supervisor::ExitStatus;

/// All processes that run in a world, by their ids.
#[derive(Debug)]
pub(crate) struct ProcessTable {
    pub(crate) world: Rc<World>,
    pub(crate) processes: RefCell<BTreeMap<u32, SimulatedProcess>>,
}

impl Deref for ProcessTable {
    type Target = World;

    fn deref(&self) -> &World {
        &self.world
    }
}

impl ProcessTable {
    pub(crate) fn new(world: Rc<World>) -> Rc<ProcessTable> {
        Rc::new(ProcessTable {
            world,
            processes: RefCell::default(),
        })
    }

    /// A process starts.
    pub(crate) fn insert(&self, process: SimulatedProcess) {
        self.note("start", process.pid.into(), process.is_worker().into());
        self.after(0, Moment::Process(process.pid));
        self.processes.borrow_mut().insert(process.pid, process);
    }

    /// Lets a process act, unless it is stopped. It may exit.
    pub(crate) fn act(&self, pid: u32, act: impl FnOnce(&mut SimulatedProcess)) {
        let process = self.processes.borrow_mut().remove(&pid);
        let Some(mut process) = process else {
            return;
        };
        if !process.is_stopped {
            act(&mut process);
        }
        let forked = self.world.forked.take();
        for (pid, sockets) in forked {
            self.insert(SimulatedProcess::worker(pid, sockets, self));
        }
        match process.exit.take() {
            Some(status) => self.end(process, status),
            None => drop(self.processes.borrow_mut().insert(pid, process)),
        }
    }

    /// A process is killed.
    pub(crate) fn kill(&self, pid: u32) {
        let process = self.processes.borrow_mut().remove(&pid);
        if let Some(process) = process {
            self.end(process, self.killed());
        }
    }

    fn end(&self, process: SimulatedProcess, status: ExitStatus) {
        self.note("exit", process.pid.into(), 0);
        let pid = process.pid;
        if self.fault(30) {
            self.orphans.borrow_mut().extend(process.into_lane_ends());
        }
        self.wires.wake_edge();
        self.after(
            self.random.pick(&[0, 0, 100, 3000]),
            Moment::Reap(pid, status),
        );
    }
}
