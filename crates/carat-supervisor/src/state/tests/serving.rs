//! Boots, deaths and the number of workers.

use std::time::Duration;

use carat_policy::ReforkRule;

use super::world::World;
use super::{fixed, limits};
use crate::command::{Command, Outcome};
use crate::event::Event;
use crate::exit_status::ExitStatus;
use crate::ruby_process::RubyProcess;
use carat_log::WorkerId;

fn serving(workers: u32) -> World {
    World::serving(fixed(workers), ReforkRule::Off)
}

#[test]
fn the_mold_is_booted_and_forks_the_workers_that_are_wanted() {
    let mut world = World::new(fixed(3));
    world.settle();
    assert_eq!(world.serving_pids().len(), 3);
    assert_eq!(world.count("mold ready"), 1);
    let announced = world.commands.iter();
    let announced = announced.filter(|it| matches!(it, Command::Announce));
    assert_eq!(announced.count(), 1);
}

#[test]
fn the_first_mold_that_cannot_boot_ends_the_server() {
    let mut world = World::new(fixed(1));
    world.tick();
    world.send(Event::BootFailed {
        process: RubyProcess::Mold(1),
        cause: "config.ru:1: no such thing".to_owned(),
    });
    let failed = Outcome::Failed("config.ru:1: no such thing".to_owned());
    assert_eq!(world.outcome, Some(failed));
}

#[test]
fn a_worker_that_dies_before_its_hello_is_read_is_replaced() {
    let mut world = World::new(fixed(1));
    world.tick();
    world.get_ready(100);
    let (pid, _) = world.processes.iter().next_back().expect("a worker");
    let (pid, process) = (*pid, world.processes[pid].process);
    world.processes.remove(&pid);
    let status = ExitStatus::Exited(1);
    world.send(Event::Exited { pid, status });
    world.send(Event::Hello { process, pid });
    assert_eq!(world.count("worker died while booting"), 1);
    world.settle();
    assert_eq!(world.serving_pids().len(), 1);
}

#[test]
fn a_mold_that_does_not_fork_in_time_is_killed() {
    let mut world = World::new(fixed(1));
    world.tick();
    world.get_ready(100);
    world.wait(Duration::from_secs(61));
    assert_eq!(world.count("mold does not fork"), 1);
    assert!(world.commands.contains(&Command::Kill { pid: 100 }));
}

#[test]
fn a_cause_counts_also_when_the_lanes_close_first() {
    let mut world = World::new(fixed(1));
    world.tick();
    world.get_ready(100);
    let (pid, _) = world.processes.iter().next_back().expect("a worker");
    let pid = *pid;
    world.say_hello(pid);
    let worker = world.worker(pid);
    world.send(Event::LaneLost(worker));
    world.send(Event::BootFailed {
        process: RubyProcess::Worker(worker),
        cause: "no connection".to_owned(),
    });
    world.exit(pid, ExitStatus::Exited(1), true);
    assert_eq!(world.count("worker failed to boot"), 1);
    assert_eq!(world.count("worker died while booting"), 0);
}

#[test]
fn a_mold_that_failed_to_boot_is_not_forgotten_while_it_runs() {
    let mut world = serving(1);
    let first = world.mold_pids()[0];
    world.exit(first, ExitStatus::Exited(1), true);
    world.wait(Duration::from_secs(1));
    let second = world.mold_pids()[0];
    world.send(Event::BootFailed {
        process: RubyProcess::Mold(2),
        cause: "no luck".to_owned(),
    });
    world.commands.clear();
    world.wait(Duration::from_secs(3));
    assert!(world.commands.contains(&Command::Kill { pid: second }));
}

#[test]
fn a_mold_that_dies_is_replaced_while_its_workers_serve() {
    let mut world = serving(2);
    let mold = world.mold_pids()[0];
    world.exit(mold, world.killed(), true);
    assert_eq!(world.count("mold died"), 1);
    world.settle();
    assert_eq!(world.serving_pids().len(), 2);
    assert_eq!(world.forks(), 0);
}

#[test]
fn a_later_mold_that_cannot_be_started_is_tried_again() {
    let mut world = serving(2);
    let mold = world.mold_pids()[0];
    world.no_process_starts = true;
    world.exit(mold, world.killed(), true);
    world.wait(Duration::from_secs(5));
    assert_eq!(world.outcome, None);
    assert!(world.mold_pids().is_empty());
    world.no_process_starts = false;
    world.wait(Duration::from_secs(10));
    assert_eq!(world.mold_pids().len(), 1);
    assert_eq!(world.serving_pids().len(), 2);
}

#[test]
fn a_lane_that_ends_lets_the_other_requests_of_its_worker_finish() {
    let mut world = serving(1);
    let pid = world.serving_pids()[0];
    world.process(pid).is_busy = true;
    world.send(Event::LaneLost(world.worker(pid)));
    world.tick();
    assert!(!world.process(pid).is_told_to_end && !world.process(pid).is_killed);
    world.finish(pid);
    assert!(world.process(pid).is_told_to_end);
}

#[test]
fn a_worker_that_loses_a_lane_before_it_is_ready_is_replaced() {
    let mut world = World::new(fixed(1));
    world.tick();
    world.get_ready(100);
    let (pid, _) = world.processes.iter().next_back().expect("a worker");
    let pid = *pid;
    world.say_hello(pid);
    world.send(Event::LaneLost(world.worker(pid)));
    world.get_ready(pid);
    world.settle();
    assert!(!world.processes.contains_key(&pid));
    assert_eq!(world.serving_pids().len(), 1);
}

#[test]
fn a_stuck_worker_reports_its_stack_and_finishes_before_it_is_ended() {
    let mut world = serving(1);
    let pid = world.serving_pids()[0];
    world.process(pid).is_busy = true;
    world.get_stuck(pid);
    world.wait(Duration::from_secs(2));
    assert!(!world.process(pid).is_told_to_end);
    world.finish(pid);
    world.tick();
    assert!(world.commands.contains(&Command::Terminate { pid }));
}

/// One or two workers; a second one ends after ten idle seconds.
fn elastic_world() -> World {
    let mut limits = limits();
    limits.elastic.max = 2;
    limits.worker_idle_timeout = Duration::from_secs(10);
    limits.elastic.queue_time_target = Duration::from_millis(5);
    World::serving(limits, ReforkRule::Off)
}

#[test]
fn the_last_worker_does_not_end_because_a_missing_one_is_wanted() {
    let mut world = elastic_world();
    let pid = world.serving_pids()[0];
    // A second one is wanted, and cannot be forked: the mold is dead and does not come back.
    world.demand.queue_time = Duration::from_millis(20);
    world.demand.waiting = 9;
    let mold = world.mold_pids()[0];
    world.exit(mold, world.killed(), true);
    world.tick();
    assert_eq!(world.state.processes().workers.wanted, 2);
    world.demand.waiting = 0;
    world.process(pid).idle = Duration::from_secs(20);
    world.tick();
    assert_eq!(world.state.processes().workers.wanted, 1);
    assert_eq!(world.count("fewer workers"), 1);
    assert_eq!(world.serving_pids(), [pid]);
}

#[test]
fn an_idle_worker_ends_only_when_the_others_serve() {
    let mut world = elastic_world();
    world.demand.queue_time = Duration::from_millis(20);
    world.demand.waiting = 9;
    world.tick();
    world.demand.waiting = 0;
    for pid in world.serving_pids() {
        world.process(pid).idle = Duration::from_secs(20);
    }
    world.tick();
    assert_eq!(world.count("idle worker ends"), 0, "one is booting");
    world.settle_for(3);
    assert_eq!(world.count("idle worker ends"), 1);
    world.settle();
    assert_eq!(world.serving_pids().len(), 1);
}

#[test]
fn a_worker_with_tunnels_is_not_idle() {
    let mut world = elastic_world();
    world.demand.queue_time = Duration::from_millis(20);
    world.demand.waiting = 9;
    world.settle_for(3);
    world.demand.waiting = 0;
    let pids = world.serving_pids();
    for pid in &pids {
        let process = world.process(*pid);
        (process.idle, process.tunnels) = (Duration::from_secs(20), 1);
    }
    world.settle();
    assert_eq!((pids.len(), world.serving_pids()), (2, pids.clone()));
    world.process(pids[0]).tunnels = 0;
    world.settle();
    assert_eq!(world.serving_pids(), pids[1..]);
}

#[test]
fn when_workers_must_go_those_with_the_fewest_tunnels_do() {
    let mut world = World::serving(fixed(3), ReforkRule::Off);
    let pids = world.serving_pids();
    for (pid, tunnels) in pids.iter().zip([3, 1, 2]) {
        world.process(*pid).tunnels = tunnels;
    }
    world.tick();
    let bounds = fixed(1).elastic;
    world.send(Event::Scaled(bounds));
    world.settle();
    assert_eq!(world.serving_pids(), pids[..1]);
}

#[test]
fn a_recycled_worker_serves_until_its_successor_does() {
    let mut limits = fixed(1);
    limits.recycle.requests = Some(1000);
    let mut world = World::serving(limits, ReforkRule::Off);
    let old = world.serving_pids()[0];
    world.process(old).requests = 1200;
    world.tick();
    assert_eq!(world.count("worker will be replaced"), 1);
    assert_eq!(world.count("worker is replaced"), 0);
    assert_eq!(world.serving_pids(), [old]);
    world.settle();
    assert_eq!(world.count("worker is replaced"), 1);
    assert!(!world.processes.contains_key(&old));
}

#[test]
fn forks_that_fail_together_are_logged_once_and_retried_later() {
    let mut world = World::new(fixed(3));
    world.tick();
    let mold = RubyProcess::Mold(1);
    let forks = world.state.on(Event::Ready(mold), world.now);
    let mut workers = forks.iter().filter_map(|it| match it {
        Command::Fork { worker, .. } => Some(*worker),
        _ => None,
    });
    let worker = workers.next().expect("a fork");
    let cause = "too many open files".to_owned();
    world.send(Event::ForkFailed { worker, cause });
    assert_eq!(world.count("cannot fork a worker"), 1);
    world.commands.clear();
    world.tick();
    assert_eq!(world.forks(), 0);
    world.wait(Duration::from_secs(1));
    assert_eq!(world.forks(), 1);
}

#[test]
fn lower_bounds_end_the_workers_that_are_too_many() {
    let mut world = serving(4);
    let elastic = fixed(2).elastic;
    world.send(Event::Scaled(elastic));
    world.settle();
    assert_eq!(world.serving_pids().len(), 2);
    assert_eq!(world.count("surplus worker ends"), 2);
    world.send(Event::Scaled(fixed(3).elastic));
    world.settle();
    assert_eq!(world.serving_pids().len(), 3);
}

#[test]
fn a_worker_that_somebody_kills_is_replaced_without_a_pause() {
    let mut world = serving(2);
    let pid = world.serving_pids()[0];
    world.process(pid).is_busy = true;
    let worker = world.worker(pid);
    world.send(Event::KillRequested(worker));
    assert!(world.commands.contains(&Command::Kill { pid }));
    world.settle_for(5);
    assert_eq!(world.serving_pids().len(), 2);
    assert_eq!(world.count("worker died"), 0);
    assert!(!world.processes.contains_key(&pid));
}

#[test]
fn a_worker_that_stays_at_its_limit_of_open_files_is_replaced() {
    let mut world = World::serving(fixed(2), ReforkRule::Off);
    let pid = world.serving_pids()[0];
    let worker = world.worker(pid);
    world.send(Event::DescriptorsLost(worker));
    world.settle();
    assert_eq!(
        world.count("worker has too many files open to receive a request"),
        1
    );
    assert!(world.serving_pids().contains(&pid));
    for _ in 0..3 {
        world.send(Event::DescriptorsLost(worker));
    }
    assert_eq!(world.count("worker will be replaced"), 1);
    world.settle();
    assert!(!world.serving_pids().contains(&pid));
    assert_eq!(world.serving_pids().len(), 2);
    assert_eq!(world.count("worker died"), 0);
}

#[test]
fn a_worker_that_rests_after_its_requests_returns_its_free_memory_once() {
    let mut world = serving(2);
    let pids = world.serving_pids();
    let busy = world.worker(pids[0]);
    let set = |world: &mut World, requests, seconds| {
        let process = world.processes.get_mut(&pids[0]).expect("the worker");
        (process.requests, process.idle) = (requests, Duration::from_secs(seconds));
    };
    set(&mut world, 5, 9);
    world.tick();
    assert_eq!(trims(&world), []);
    set(&mut world, 5, 10);
    world.tick();
    set(&mut world, 5, 20);
    world.tick();
    assert_eq!(trims(&world), [busy]);
    set(&mut world, 6, 0);
    world.tick();
    set(&mut world, 6, 10);
    world.tick();
    assert_eq!(trims(&world), [busy, busy]);
}

fn trims(world: &World) -> Vec<WorkerId> {
    let commands = world.commands.iter();
    let trims = commands.filter_map(|command| match command {
        Command::TrimMemory(worker) => Some(*worker),
        _ => None,
    });
    trims.collect()
}
