use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Deref;
use std::rc::Rc;

use rustix::process::Signal;

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

    /// Lets a process act, unless it is stopped. The process may exit.
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
        let forked = self.world.forked_apps.take();
        for (pid, order, control) in forked {
            self.insert(SimulatedProcess::app(pid, order, control, self));
        }
        self.check_app(&process);
        match process.exit.take() {
            Some(status) => self.end(process, status),
            None => drop(self.processes.borrow_mut().insert(pid, process)),
        }
    }

    /// Checks that no more processes run than are declared.
    fn check_app(&self, process: &SimulatedProcess) {
        let Some(app) = process
            .as_app()
            .filter(|it| it.is_running && !it.is_console())
        else {
            return;
        };
        let processes = self.processes.borrow();
        let apps = processes.values().filter_map(SimulatedProcess::as_app);
        let others = apps.filter(|it| it.is_running && it.order.name == app.order.name);
        let others = others.filter(|it| it.is_meter() == app.is_meter()).count();
        let declared = self.settings.processes.iter();
        let mut declared = declared.filter(|it| it.name == app.order.name);
        let most = declared.next().map_or(0, |it| {
            if app.is_meter() {
                1
            } else {
                it.most as usize + usize::from(it.overlap)
            }
        });
        if others >= most {
            let name = &app.order.name;
            self.violate(format!(
                "{} of at most {most} processes {name} run",
                others + 1
            ));
        }
    }

    /// Sends a signal, 0 for none, to a process group. False if the group has no process.
    pub(crate) fn signal_group(&self, group: u32, signal: i32) -> bool {
        self.note("signal group", group.into(), signal.unsigned_abs().into());
        let is_kill = signal == Signal::KILL.as_raw();
        let mut descendants = self.descendants.borrow_mut();
        if is_kill || (signal != 0 && !self.fault(100)) {
            descendants.remove(&group);
        }
        let is_left = descendants.contains_key(&group);
        let mut processes = self.processes.borrow_mut();
        let Some(process) = processes.get_mut(&group) else {
            return is_left;
        };
        let client = process.as_app().and_then(|app| app.client);
        let has_client = client.is_some_and(|it| self.consoles.borrow().is_present(it));
        let is_end = is_kill || signal == Signal::HUP.as_raw();
        if is_end && has_client && !self.is_stopping.get() {
            self.violate(format!("the console of client {client:?} is ended"));
        }
        if is_kill {
            self.after(self.latency(), Moment::Kill(group));
        } else if signal != 0 {
            process.terminate(self);
        }
        true
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
        let is_running = process.as_app().is_some_and(|app| app.is_running);
        if is_running && self.fault(300) {
            self.descendants.borrow_mut().insert(pid, 2);
        }
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
