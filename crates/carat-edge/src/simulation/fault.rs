//! The faults of a run that are injected from outside. Processes and clients also make faults by themselves.

use super::server_run::ServerRun;
use crate::simulation::plan::Moment;
use carat_supervisor::{Event, RestartEvent};

/// Microseconds between two faults of a usual run, on average.
const FAULT_GAP: u64 = 120_000;

/// The shortest pause that the server notices, in microseconds.
const PAUSE: u64 = 1_200_000;

impl ServerRun {
    /// Injects a random fault, and schedules the next one.
    pub(super) async fn go_wrong(&mut self) {
        let world = &self.world;
        if world.is_calm.get() {
            return;
        }
        let gap = FAULT_GAP * 1000 / world.scenario.trouble.max(1);
        world.after(world.random.below(2 * gap), Moment::Fault);
        let pids: Vec<u32> = world.processes.borrow().keys().copied().collect();
        let Some(pid) = (!pids.is_empty()).then(|| world.random.pick(&pids)) else {
            return;
        };
        world.note("fault", pid.into(), 0);
        match world.random.below(100) {
            0..25 => world.kill(pid),
            25..30 => {
                world.oom_kills.set(world.oom_kills.get() + 1);
                world.kill(pid);
            }
            30..55 => self.stop_process(pid),
            55..70 => self.end_lane(pid),
            70..80 => world.act(pid, |process| process.leave(world)),
            80..84 => world.tell(Event::Restart(RestartEvent::Requested)),
            84..86 => world.tell(Event::Restart(RestartEvent::RollbackRequested)),
            86..92 => world.act(pid, |process| process.bytes *= 3),
            92..96 => self.pause_machine().await,
            _ => self.pause_edge(),
        }
    }

    /// Ends all faults.
    pub(super) fn calm_down(&self) {
        self.world.note("calm", 0, 0);
        self.world.is_calm.set(true);
        for process in self.world.processes.borrow_mut().values_mut() {
            process.shrink();
        }
    }

    /// Sends SIGSTOP to a process, and SIGCONT some time later.
    fn stop_process(&self, pid: u32) {
        let world = &self.world;
        world.act(pid, |process| process.is_stopped = true);
        let duration = world.random.pick(&[500, 5_000, 300_000, 2_500_000]);
        world.after(duration, Moment::Continue(pid));
    }

    fn end_lane(&self, pid: u32) {
        let world = &self.world;
        world.act(pid, |process| {
            let lanes = u64::from(process.lanes()).max(1);
            let lane = u16::try_from(world.random.below(lanes)).expect("few");
            process.end_lane(lane);
        });
    }

    /// Lets the machine stand still, and with it all processes.
    async fn pause_machine(&self) {
        if self.world.is_stopping.get() || self.is_edge_paused {
            return;
        }
        let duration = PAUSE * self.world.random.between(1, 4);
        self.world.note_pause(duration);
        tokio::time::advance(std::time::Duration::from_micros(duration)).await;
    }

    /// Lets the edge stand still, while the other processes run on.
    fn pause_edge(&mut self) {
        if self.world.is_stopping.get() || self.is_edge_paused {
            return;
        }
        let duration = PAUSE * self.world.random.between(1, 2);
        self.world.note_pause(duration);
        self.is_edge_paused = true;
        self.world.after(duration, Moment::EdgeContinues);
    }
}
