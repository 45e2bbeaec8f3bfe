//! Boots, deaths and the number of workers.

use carat_log::WorkerId;
use std::time::Duration;

use super::world::World;
use super::{fixed, limits};
use crate::command::{Command, Outcome, WorkerCommand};
use crate::event::{Event, ProcessEvent, WorkerEvent};
use crate::exit_status::ExitStatus;
use crate::ruby_process::RubyProcess;

/// A world of this many workers, and the first one's process id.
fn serving(workers: u32) -> (World, u32) {
    let world = World::of(fixed(workers));
    let pid = world.serving_pids()[0];
    (world, pid)
}

/// How often this was told.
fn told(world: &World, wanted: &Command) -> usize {
    world.commands.iter().filter(|it| *it == wanted).count()
}

#[test]
fn the_mold_is_booted_and_forks_the_workers_that_are_wanted() {
    let mut world = World::new(fixed(3));
    world.settle();
    assert_eq!((world.workers(), world.count("mold ready")), (3, 1));
    assert_eq!(told(&world, &Command::Announce), 1);
}

#[test]
fn the_first_mold_that_cannot_boot_ends_the_server() {
    let mut world = World::new(fixed(1));
    world.tick();
    world.fail_boot(RubyProcess::Mold(1), "config.ru:1: no such thing");
    let failed = Outcome::Failed("config.ru:1: no such thing".to_owned());
    assert_eq!(world.outcome, Some(failed));
}

#[test]
fn a_worker_that_dies_before_its_hello_is_read_is_replaced() {
    let (mut world, pid) = World::booting(1);
    let process = world.processes.remove(&pid).expect("a worker").process;
    let status = ExitStatus::Exited(1);
    world.send(Event::Process(ProcessEvent::Exited { pid, status }));
    world.send(Event::Process(ProcessEvent::Hello { process, pid }));
    assert_eq!(world.count("worker died while booting"), 1);
    world.settle();
    assert_eq!(world.workers(), 1);
}

#[test]
fn a_mold_that_does_not_fork_in_time_is_killed() {
    let (mut world, _) = World::booting(1);
    world.wait(Duration::from_secs(61));
    assert_eq!(world.count("mold does not fork"), 1);
    assert!(world.has(&Command::Kill { pid: 100 }));
}

#[test]
fn a_cause_counts_also_when_the_lanes_close_first() {
    let (mut world, pid) = World::booting(1);
    world.say_hello(pid);
    let worker = world.worker(pid);
    world.send(Event::Worker(WorkerEvent::LaneLost(worker)));
    world.fail_boot(RubyProcess::Worker(worker), "no connection");
    world.exit(pid, ExitStatus::Exited(1), true);
    assert_eq!(world.count("worker failed to boot"), 1);
    assert_eq!(world.count("worker died while booting"), 0);
}

#[test]
fn a_mold_that_failed_to_boot_is_not_forgotten_while_it_runs() {
    let (mut world, _) = serving(1);
    world.exit(world.mold_pids()[0], ExitStatus::Exited(1), true);
    world.wait(Duration::from_secs(1));
    let pid = world.mold_pids()[0];
    world.fail_boot(RubyProcess::Mold(2), "no luck");
    world.commands.clear();
    world.wait(Duration::from_secs(3));
    assert!(world.has(&Command::Kill { pid }));
}

#[test]
fn a_mold_that_dies_is_replaced_while_its_workers_serve() {
    let (mut world, _) = serving(2);
    world.kill(world.mold_pids()[0]);
    assert_eq!(world.count("mold died"), 1);
    world.settle();
    assert_eq!((world.workers(), world.forks()), (2, 0));
    world.no_process_starts = true;
    world.kill(world.mold_pids()[0]);
    world.wait(Duration::from_secs(5));
    assert_eq!((&world.outcome, world.mold_pids().len()), (&None, 0));
    world.no_process_starts = false;
    world.wait(Duration::from_secs(10));
    assert_eq!((world.mold_pids().len(), world.workers()), (1, 2));
}

#[test]
fn a_lane_that_ends_lets_the_other_requests_of_its_worker_finish() {
    let (mut world, pid) = serving(1);
    world.process(pid).is_busy = true;
    world.send(Event::Worker(WorkerEvent::LaneLost(world.worker(pid))));
    world.tick();
    assert!(!world.process(pid).is_told_to_end && !world.process(pid).is_killed);
    world.finish(pid);
    assert!(world.process(pid).is_told_to_end);
}

#[test]
fn a_worker_that_loses_a_lane_before_it_is_ready_is_replaced() {
    let (mut world, pid) = World::booting(1);
    world.say_hello(pid);
    world.send(Event::Worker(WorkerEvent::LaneLost(world.worker(pid))));
    world.get_ready(pid);
    world.settle();
    assert!(world.workers() == 1 && !world.processes.contains_key(&pid));
}

#[test]
fn a_stuck_worker_reports_its_stack_and_finishes_before_it_is_ended() {
    let (mut world, pid) = serving(1);
    world.process(pid).is_busy = true;
    world.get_stuck(pid);
    world.wait(Duration::from_secs(2));
    assert!(!world.process(pid).is_told_to_end);
    world.finish(pid);
    world.tick();
    assert!(world.has(&Command::Terminate { pid }));
}

/// A world with one or two workers. The second ends after ten idle seconds; the queue asks for two.
fn elastic_world() -> World {
    let mut limits = limits();
    limits.elastic.max = 2;
    limits.worker_idle_timeout = Duration::from_secs(10);
    limits.elastic.queue_time_target = Duration::from_millis(5);
    let mut world = World::of(limits);
    world.demand.queue_time = Duration::from_millis(20);
    world.demand.waiting = 9;
    world
}

/// The server has had no request for 20 s.
fn idle(world: &mut World) {
    world.demand.waiting = 0;
    for pid in world.serving_pids() {
        world.process(pid).idle = Duration::from_secs(20);
    }
}

#[test]
fn the_last_worker_does_not_end_because_a_missing_one_is_wanted() {
    let mut world = elastic_world();
    let pids = world.serving_pids();
    // A second worker cannot be forked: the mold is dead and does not come back.
    world.kill(world.mold_pids()[0]);
    world.tick();
    assert_eq!(world.state.processes().workers.wanted, 2);
    idle(&mut world);
    world.tick();
    assert_eq!(world.state.processes().workers.wanted, 1);
    assert_eq!(world.count("fewer workers"), 1);
    assert_eq!(world.serving_pids(), pids);
}

#[test]
fn an_idle_worker_ends_only_when_the_others_serve() {
    let mut world = elastic_world();
    world.tick();
    idle(&mut world);
    world.tick();
    assert_eq!(world.count("idle worker ends"), 0, "one is booting");
    world.settle_for(3);
    assert_eq!(world.count("idle worker ends"), 1);
    world.settle();
    assert_eq!(world.workers(), 1);
}

#[test]
fn a_worker_with_tunnels_is_not_idle() {
    let mut world = elastic_world();
    world.settle_for(3);
    idle(&mut world);
    let pids = world.serving_pids();
    for pid in &pids {
        world.process(*pid).tunnels = 1;
    }
    world.settle();
    assert_eq!((pids.len(), world.serving_pids()), (2, pids.clone()));
    world.process(pids[0]).tunnels = 0;
    world.settle();
    assert_eq!(world.serving_pids(), pids[1..]);
}

#[test]
fn when_workers_must_go_those_with_the_fewest_tunnels_do() {
    let (mut world, _) = serving(3);
    let pids = world.serving_pids();
    for (pid, tunnels) in pids.iter().zip([3, 1, 2]) {
        world.process(*pid).tunnels = tunnels;
    }
    world.tick();
    world.send(Event::Scaled(fixed(1).elastic));
    world.settle();
    assert_eq!(world.serving_pids(), pids[..1]);
    assert_eq!(world.count("surplus worker ends"), 2);
    world.send(Event::Scaled(fixed(3).elastic));
    world.settle();
    assert_eq!(world.workers(), 3);
}

#[test]
fn a_recycled_worker_serves_until_its_successor_does() {
    let mut limits = fixed(1);
    limits.recycle.requests = Some(1000);
    let mut world = World::of(limits);
    let old = world.serving_pids()[0];
    world.process(old).requests = 1200;
    world.tick();
    let counts = ["worker will be replaced", "worker is replaced"];
    assert_eq!(counts.map(|it| world.count(it)), [1, 0]);
    assert_eq!(world.serving_pids(), [old]);
    world.settle();
    assert_eq!(counts.map(|it| world.count(it)), [1, 1]);
    assert!(!world.processes.contains_key(&old));
}

fn forked_worker(command: &Command) -> Option<WorkerId> {
    if let Command::Worker(WorkerCommand::Fork { worker, .. }) = command {
        Some(*worker)
    } else {
        None
    }
}

#[test]
fn forks_that_fail_together_are_logged_once_and_retried_later() {
    let mut world = World::new(fixed(3));
    world.tick();
    let mold = RubyProcess::Mold(1);
    let forks = world
        .state
        .on(Event::Process(ProcessEvent::Ready(mold)), world.now);
    let mut workers = forks.iter().filter_map(forked_worker);
    let worker = workers.next().expect("a fork");
    let cause = "too many open files".to_owned();
    world.send(Event::Worker(WorkerEvent::ForkFailed { worker, cause }));
    assert_eq!(world.count("cannot fork a worker"), 1);
    world.commands.clear();
    world.tick();
    assert_eq!(world.forks(), 0);
    world.wait(Duration::from_secs(1));
    assert_eq!(world.forks(), 1);
}

#[test]
fn a_worker_that_somebody_kills_is_replaced_without_a_pause() {
    let (mut world, pid) = serving(2);
    world.process(pid).is_busy = true;
    world.send(Event::Worker(WorkerEvent::KillRequested(world.worker(pid))));
    assert!(world.has(&Command::Kill { pid }));
    world.settle_for(5);
    assert_eq!((world.workers(), world.count("worker died")), (2, 0));
    assert!(!world.processes.contains_key(&pid));
}

#[test]
fn a_worker_that_stays_at_its_limit_of_open_files_is_replaced() {
    let (mut world, pid) = serving(2);
    let worker = world.worker(pid);
    world.send(Event::Worker(WorkerEvent::DescriptorsLost(worker)));
    world.settle();
    let message = "worker has too many files open to receive a request";
    assert_eq!(world.count(message), 1);
    assert!(world.serving_pids().contains(&pid));
    for _ in 0..3 {
        world.send(Event::Worker(WorkerEvent::DescriptorsLost(worker)));
    }
    assert_eq!(world.count("worker will be replaced"), 1);
    world.settle();
    assert!(!world.serving_pids().contains(&pid));
    assert_eq!((world.workers(), world.count("worker died")), (2, 0));
}

#[test]
fn a_worker_that_rests_after_its_requests_returns_its_free_memory_once() {
    let (mut world, pid) = serving(2);
    let trim = Command::Worker(WorkerCommand::TrimMemory(world.worker(pid)));
    let rests = [(5, 9, 0), (5, 10, 1), (5, 20, 1), (6, 0, 1), (6, 10, 2)];
    for (requests, seconds, trims) in rests {
        let process = world.process(pid);
        (process.requests, process.idle) = (requests, Duration::from_secs(seconds));
        world.tick();
        assert_eq!(told(&world, &trim), trims, "{requests} {seconds}");
    }
    let mut commands = world.commands.iter();
    assert!(
        commands
            .all(|it| *it == trim || !matches!(it, Command::Worker(WorkerCommand::TrimMemory(_))))
    );
}
