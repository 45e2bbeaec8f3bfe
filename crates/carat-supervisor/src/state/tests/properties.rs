//! Any order of events ends in the wanted number of workers, or in a stop. `World` checks after each event that no
//! process is forgotten, that the last serving worker is not chosen, and that the budget holds.

use std::time::Duration;

use carat_policy::{MemoryLimit, ReforkRule};
use proptest::prelude::*;

use super::world::{EDGE_BYTES, FakeProcess, MOLD_BYTES, WORKER_BYTES, World};
use super::{fixed, jobs, limited};
use crate::command::Outcome;
use crate::event::{AppEvent, Event, ProcessEvent, RestartEvent, UpgradeEvent, WorkerEvent};
use crate::exit_status::ExitStatus;
use crate::limits::Limits;
use crate::ruby_process::RubyProcess;
use carat_log::WorkerId;
use carat_settings::ProcessSettings;

/// Something that happens.
#[derive(Debug, Clone)]
enum Happening {
    /// An incident of the process that the number chooses.
    To(usize, Happens),
    MemoryIsRead,
    Ticks(u8),
    Waits(u64),
    Queues(usize),
    IsScaled(u32),
    IsRestarted,
    IsRolledBack,
    IsUpgraded,
    UpgradeFails,
    FilesChange,
    SettingsAreRead(bool),
    IsChecked(bool),
    AppsAreScaled(u32, u32),
    AppsAreReplaced(Option<u32>),
    AppsHaveLoad(Option<f64>),
    LoadHangs(bool),
    AppsHave(u32, u64),
    AppsHaveDescendants(bool),
    AppsSave(u64),
    OneOffOpens,
    OneOffSignals(usize),
    OneOffLeaves(usize),
}

/// An incident of a process.
#[derive(Debug, Clone, Copy)]
enum Happens {
    Hello,
    Ready,
    BootFails,
    NotForkSafe,
    Dies(i32),
    IsKilled,
    DiesBeforeHello,
    Closes,
    LosesLane,
    GetsStuck,
    Leaves,
    IsBusy,
    Finishes,
    Ends,
    Serves(u64),
    IsIdle,
    IsKilledOnRequest,
}

fn happens() -> impl Strategy<Value = Happens> {
    prop_oneof![
        8 => Just(Happens::Hello),
        8 => Just(Happens::Ready),
        1 => Just(Happens::BootFails),
        1 => Just(Happens::NotForkSafe),
        2 => (0..2).prop_map(Happens::Dies),
        2 => Just(Happens::IsKilled),
        1 => Just(Happens::DiesBeforeHello),
        1 => Just(Happens::Closes),
        1 => Just(Happens::LosesLane),
        1 => Just(Happens::GetsStuck),
        1 => Just(Happens::Leaves),
        2 => Just(Happens::IsBusy),
        3 => Just(Happens::Finishes),
        6 => Just(Happens::Ends),
        3 => (0..2000_u64).prop_map(Happens::Serves),
        2 => Just(Happens::IsIdle),
        1 => Just(Happens::IsKilledOnRequest),
    ]
}

fn happening() -> impl Strategy<Value = Happening> {
    let index = 0..64_usize;
    prop_oneof![
        44 => (index.clone(), happens()).prop_map(|(index, what)| Happening::To(index, what)),
        6 => Just(Happening::MemoryIsRead),
        8 => (1..5_u8).prop_map(Happening::Ticks),
        2 => (1..90_u64).prop_map(Happening::Waits),
        2 => (0..40_usize).prop_map(Happening::Queues),
        1 => (1..6_u32).prop_map(Happening::IsScaled),
        2 => Just(Happening::IsRestarted),
        1 => Just(Happening::IsRolledBack),
        1 => Just(Happening::IsUpgraded),
        1 => Just(Happening::UpgradeFails),
        2 => Just(Happening::FilesChange),
        4 => any::<bool>().prop_map(Happening::SettingsAreRead),
        4 => any::<bool>().prop_map(Happening::IsChecked),
        2 => Just(Happening::OneOffOpens),
        1 => index.clone().prop_map(Happening::OneOffSignals),
        1 => index.prop_map(Happening::OneOffLeaves),
        4 => happening_to_apps(),
    ]
}

fn happening_to_apps() -> impl Strategy<Value = Happening> {
    prop_oneof![
        1 => (0..3_u32, 0..2_u32)
            .prop_map(|(min, more)| Happening::AppsAreScaled(min, min + more)),
        2 => prop::option::of(1..4_u32).prop_map(Happening::AppsAreReplaced),
        4 => prop::option::of(0.0..3.0).prop_map(Happening::AppsHaveLoad),
        1 => any::<bool>().prop_map(Happening::LoadHangs),
        2 => (250..260_u32, 0..3 * WORKER_BYTES)
            .prop_map(|(descendants, bytes)| Happening::AppsHave(descendants, bytes)),
        1 => any::<bool>().prop_map(Happening::AppsHaveDescendants),
        2 => (0..2_u64).prop_map(|it| Happening::AppsSave(it << 30)),
    ]
}

fn happenings() -> impl Strategy<Value = Vec<Happening>> {
    prop::collection::vec(happening(), 0..150)
}

impl World {
    fn happen(&mut self, happening: &Happening) {
        match *happening {
            Happening::MemoryIsRead => self.finish_reading(),
            Happening::Ticks(count) => (0..count).for_each(|_| self.tick()),
            Happening::Waits(seconds) => self.wait(Duration::from_secs(seconds)),
            Happening::IsRestarted => self.send(Event::Restart(RestartEvent::Requested)),
            Happening::IsRolledBack => self.send(Event::Restart(RestartEvent::RollbackRequested)),
            Happening::IsUpgraded => self.send(Event::Upgrade(UpgradeEvent::Requested)),
            Happening::Queues(waiting) => {
                self.demand.waiting = waiting;
                self.demand.queue_time = Duration::from_millis(20 * u64::from(waiting > 0));
            }
            Happening::IsScaled(max) => self.scale(max),
            Happening::UpgradeFails => self.fail_upgrade(),
            Happening::FilesChange if self.limits.replaces_at_once => self.change_files(),
            Happening::OneOffOpens if self.state.one_off_obstacle().is_none() => {
                self.open_one_off();
            }
            Happening::OneOffSignals(index) | Happening::OneOffLeaves(index) => {
                let ids = self.one_offs.clone();
                match (ids.get(index % ids.len().max(1)).copied(), happening) {
                    (None, _) => {}
                    (Some(id), Happening::OneOffLeaves(_)) => {
                        self.send(Event::App(AppEvent::OneOffLeft(id)));
                    }
                    (Some(id), _) => {
                        self.send(Event::App(AppEvent::OneOffSignaled { id, signal: 0 }));
                    }
                }
            }
            Happening::SettingsAreRead(true) => self.finish_settings(self.limits),
            Happening::SettingsAreRead(false) => {
                if std::mem::take(&mut self.reads_settings) {
                    let cause = "a syntax error".to_owned();
                    self.send(Event::Restart(RestartEvent::SettingsFailed { cause }));
                }
            }
            Happening::IsChecked(true) => self.finish_check(Ok(())),
            Happening::IsChecked(false) => self.finish_check(Err("503".to_owned())),
            Happening::To(index, what) => {
                let pids: Vec<u32> = self.processes.keys().copied().collect();
                if let Some(pid) = pids.get(index % pids.len().max(1)) {
                    self.happen_to(*pid, what);
                }
            }
            _ => self.happen_to_apps(happening),
        }
    }

    fn happen_to_apps(&mut self, happening: &Happening) {
        match *happening {
            Happening::AppsAreScaled(min, max) => {
                let (name, bounds) = ("jobs".to_owned(), min..=max);
                self.most_apps = self.most_apps.max(max + 1);
                self.send(Event::App(AppEvent::Scaled { name, bounds }));
            }
            Happening::AppsAreReplaced(number) => {
                let name = "jobs".to_owned();
                self.send(Event::App(AppEvent::Replaced { name, number }));
            }
            Happening::AppsHaveLoad(load) => self.load = load,
            Happening::AppsSave(bytes) => self.saved = bytes,
            Happening::LoadHangs(hangs) => self.is_load_stuck = hangs,
            Happening::AppsHave(descendants, bytes) => {
                (self.descendants, self.app_bytes) = (descendants, bytes);
            }
            Happening::AppsHaveDescendants(outlive_it) => self.has_descendants = outlive_it,
            _ => {}
        }
    }

    /// The new edge cannot take over.
    fn fail_upgrade(&mut self) {
        let (pid, cause) = (None, "no database".to_owned());
        self.send(Event::Upgrade(UpgradeEvent::SuccessorFailed { pid, cause }));
    }

    fn happen_to(&mut self, pid: u32, what: Happens) {
        let it = self.process(pid).clone();
        let is_open = it.said_hello && !it.is_closed;
        match (what, it.process) {
            (Happens::Hello, _) if !it.said_hello => self.say_hello(pid),
            (Happens::Ready, _) if !it.is_ready => self.get_ready(pid),
            (Happens::Dies(status), _) if is_open => {
                self.exit(pid, ExitStatus::Exited(status), status % 2 == 0);
            }
            (Happens::IsKilled, _) if is_open => self.exit(pid, self.killed(), true),
            (Happens::Ends, _) if it.is_killed || it.is_told_to_end => self.end(pid),
            (Happens::IsBusy, _) => self.process(pid).is_busy = !it.is_draining,
            (Happens::Finishes, _) => self.finish(pid),
            (Happens::Serves(count), _) => self.process(pid).requests += count,
            (Happens::IsIdle, _) => self.process(pid).idle = Duration::from_secs(300),
            (Happens::DiesBeforeHello, process) if !it.said_hello => {
                self.die_before_hello(pid, process);
            }
            (Happens::Closes, process) if is_open => {
                self.process(pid).is_closed = true;
                self.send(Event::Process(ProcessEvent::Closed(process)));
            }
            (Happens::BootFails, process) if is_open && !it.is_ready => {
                self.process(pid).is_told_to_end = true;
                self.fail_boot(process, "no luck");
            }
            (Happens::NotForkSafe, RubyProcess::Mold(generation)) if !it.is_ready => {
                let cause = "threads".to_owned();
                self.process(pid).is_told_to_end = true;
                self.send(Event::Process(ProcessEvent::NotForkSafe {
                    generation,
                    cause,
                }));
            }
            (Happens::LosesLane, RubyProcess::Worker(worker)) if it.is_ready => {
                self.process(pid).is_draining = true;
                self.send(Event::Worker(WorkerEvent::LaneLost(worker)));
            }
            (Happens::GetsStuck, RubyProcess::Worker(_)) if it.is_ready => {
                self.process(pid).is_draining = true;
                self.get_stuck(pid);
            }
            (Happens::Leaves | Happens::IsKilledOnRequest, RubyProcess::Worker(worker))
                if it.is_ready =>
            {
                self.leave(pid, worker, matches!(what, Happens::Leaves));
            }
            _ => {}
        }
    }

    fn die_before_hello(&mut self, pid: u32, process: RubyProcess) {
        let status = ExitStatus::Exited(1);
        self.processes.remove(&pid);
        self.send(Event::Process(ProcessEvent::Exited { pid, status }));
        self.send(Event::Process(ProcessEvent::Hello { process, pid }));
        self.send(Event::Process(ProcessEvent::Closed(process)));
    }

    fn leave(&mut self, pid: u32, worker: WorkerId, is_told: bool) {
        self.process(pid).is_draining = true;
        self.send(if is_told {
            Event::Worker(WorkerEvent::Leaving(worker))
        } else {
            Event::Worker(WorkerEvent::KillRequested(worker))
        });
    }

    /// Two workers at least, unless the test allows only one.
    fn scale(&mut self, max: u32) {
        let mut elastic = self.limits.elastic;
        elastic.max = max.max(elastic.min);
        self.send(Event::Scaled(elastic));
    }

    /// All goes well from here on, and nobody asks for more.
    fn recover(&mut self) {
        self.demand.waiting = 0;
        self.demand.queue_time = Duration::ZERO;
        (self.load, self.is_load_stuck, self.has_descendants) = (Some(0.6), false, false);
        (self.descendants, self.app_bytes) = (0, 0);
        for it in self.processes.values_mut() {
            it.idle = Duration::ZERO;
            it.is_busy &= !matches!(it.process, RubyProcess::App(_));
            it.bytes = it.bytes.min(MOLD_BYTES);
        }
        for id in self.one_offs.clone() {
            self.send(Event::App(AppEvent::OneOffLeft(id)));
        }
        for _ in 0..20 {
            self.fail_upgrade();
            self.settle_for(100);
            if self.has_recovered() && !self.awaits_reload() {
                return;
            }
        }
    }

    /// How many workers fit the budget beside the current mold.
    fn fitting(&self) -> u32 {
        let MemoryLimit::Bytes(limit) = self.limits.memory else {
            return u32::MAX;
        };
        let molds = self.mold_pids();
        let molds: u64 = molds.iter().map(|pid| self.processes[pid].bytes).sum();
        let left = limit.saturating_sub(EDGE_BYTES + molds);
        u32::try_from(left / WORKER_BYTES).unwrap_or(u32::MAX)
    }

    /// Whether the wanted workers serve beside one mold, and no other process runs. A first mold that cannot load the
    /// application ends the server.
    fn has_recovered(&self) -> bool {
        if let Some(outcome) = &self.outcome {
            return matches!(outcome, Outcome::Failed(_));
        }
        let serving = u32::try_from(self.serving_pids().len()).expect("few");
        let expected = self
            .state
            .processes()
            .workers
            .wanted
            .min(self.fitting())
            .max(1);
        let apps: u32 = self.state.apps().wanted().iter().map(|it| it.wanted).sum();
        let lasting = self.processes.values().filter(|it| !it.is_meter);
        let running = lasting.clone().filter(|it| it.is_ready);
        let is_app = |it: &&FakeProcess| matches!(it.process, RubyProcess::App(_));
        let has_apps = running.filter(is_app).count() == apps as usize;
        let others = 1 + apps as usize;
        let is_alone = lasting.count() == self.serving_pids().len() + others && has_apps;
        let is_alone = is_alone && self.one_offs.is_empty();
        serving == expected && is_alone && self.mold_pids().len() == 1
    }
}

/// Two to five workers, and room for four.
fn elastic() -> Limits {
    let mut limits = limited(2, 4);
    limits.elastic.max = 5;
    limits.elastic.queue_time_target = Duration::from_millis(5);
    limits.worker_idle_timeout = Duration::from_secs(60);
    limits.recycle.requests = Some(5000);
    limits
}

fn refork() -> ReforkRule {
    ReforkRule::After(vec![500, 3000])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_the_wanted_number_of_workers_serves_again(
        all in happenings(),
    ) {
        let mut world = World::with_refork(elastic(), refork());
        for happening in &all {
            world.happen(happening);
        }
        world.recover();
        prop_assert!(world.has_recovered(), "{world:#?}");
    }

    #[test]
    fn each_reload_ends_with_new_code_alone_or_with_a_cause(all in happenings()) {
        let limits = Limits { replaces_at_once: true, ..elastic() };
        let mut world = World::serving(limits, refork());
        for happening in &all {
            world.happen(happening);
        }
        world.recover();
        prop_assert!(world.has_recovered() && !world.awaits_reload(), "{world:#?}");
    }

    #[test]
    fn whatever_happens_the_declared_processes_run_again_and_never_more(
        all in happenings(),
        count in 1..3_u32,
        (more, overlap) in (0..3_u32, any::<bool>()),
        stops in any::<bool>(),
    ) {
        let most = count + more;
        let apps = vec![ProcessSettings { most, overlap, ..jobs(count) }];
        let mut world = World::with_apps(elastic(), refork(), apps);
        world.most_apps = most + 1;
        for happening in &all {
            world.happen(happening);
        }
        if stops {
            world.stop();
            world.demand.has_clients = false;
            world.settle();
            world.settle();
            let is_left = !world.members().is_empty()
                || world.meters().iter().any(|pid| !world.processes[pid].is_killed);
            prop_assert!(world.outcome.is_some() && !is_left, "{world:#?}");
        } else {
            world.recover();
            prop_assert!(world.has_recovered(), "{world:#?}");
        }
    }

    #[test]
    fn a_single_worker_is_never_chosen(all in happenings()) {
        let mut limits = limited(1, 1);
        limits.recycle.requests = Some(1000);
        let mut world = World::serving(limits, refork());
        for happening in &all {
            world.happen(happening);
        }
        world.recover();
        prop_assert!(world.has_recovered(), "{world:#?}");
    }

    #[test]
    fn whatever_happens_a_stop_ends_the_server(
        before in happenings(),
        after in happenings(),
        has_clients in any::<bool>(),
        drain_seconds in prop_oneof![Just(0_u64), Just(20)],
    ) {
        let mut limits = elastic();
        limits.drain_delay = Duration::from_secs(drain_seconds);
        let mut world = World::serving(limits, refork());
        for happening in &before {
            world.happen(happening);
        }
        world.stop();
        world.demand.has_clients = has_clients;
        for happening in &after {
            world.happen(happening);
        }
        for _ in 0..1000 {
            world.tick();
        }
        prop_assert!(world.outcome.is_some());
        let alive = world.processes.values().filter(|it| it.said_hello);
        for it in alive.filter(|_| !matches!(world.outcome, Some(Outcome::Failed(_)))) {
            prop_assert!(it.is_killed || it.is_told_to_end || it.is_closed, "{it:?}");
        }
    }

    #[test]
    fn workers_that_grow_too_large_are_replaced_one_by_one(
        all in happenings(),
        sizes in prop::collection::vec(1..6_u64, 20),
    ) {
        let mut limits = fixed(3);
        limits.worker_memory = Some(2 * WORKER_BYTES);
        let mut world = World::serving(limits, ReforkRule::Off);
        for (happening, size) in all.iter().zip(sizes.iter().cycle()) {
            world.happen(happening);
            let pids = world.serving_pids();
            if let Some(pid) = pids.first() {
                world.process(*pid).bytes = size * WORKER_BYTES;
            }
        }
        world.recover();
        prop_assert!(world.has_recovered(), "{world:#?}");
    }
}

/// A reading that began before the worker said hello does not include it.
#[test]
fn a_worker_that_is_being_killed_counts_before_a_second_mold_boots() {
    let limits = Limits {
        replaces_at_once: true,
        ..elastic()
    };
    let mut world = World::serving(limits, refork());
    for happening in [
        Happening::Waits(1),
        Happening::To(25, Happens::Serves(500)),
        Happening::Ticks(1),
        Happening::To(11, Happens::Hello),
        Happening::Waits(60),
        Happening::IsRestarted,
        Happening::SettingsAreRead(true),
        Happening::MemoryIsRead,
    ] {
        world.happen(&happening);
    }
    world.recover();
    assert!(world.has_recovered() && !world.awaits_reload());
}
