//! How a restart waits between old code and new.

use std::time::Duration;

use carat_policy::{CanaryFinding, CanaryRule, CanaryVerdict, JudgedCode, MemoryLimit, ReforkRule};

use super::world::{EDGE_BYTES, MOLD_BYTES, WORKER_BYTES, World};
use super::{fixed, limits};
use crate::command::{Command, Outcome};
use crate::event::Event;
use crate::exit_status::ExitStatus;
use crate::held_code::HeldCode;
use crate::limits::Limits;
use crate::ruby_process::RubyProcess;
use crate::state::RestartReport;

const WAITS: &str = "canary waits for `carat restart --go` or `--rollback`";

fn rule(percent: u8) -> CanaryRule {
    CanaryRule {
        percent,
        ..CanaryRule::NONE
    }
}

/// A world whose restart waits with this share.
fn canary_of(limits: Limits, percent: u8) -> World {
    let mut world = World::serving(limits, ReforkRule::Off);
    world.canary = rule(percent);
    world.send(Event::RestartRequested);
    world.settle();
    assert_eq!(world.count(WAITS), 1, "{:?}", world.messages());
    world
}

fn canary(workers: u32, percent: u8) -> World {
    canary_of(fixed(workers), percent)
}

/// A world whose restart waits until the server decides.
fn judged(workers: u32) -> World {
    let mut world = World::serving(fixed(workers), ReforkRule::Off);
    world.canary = CanaryRule {
        judges: true,
        ..rule(10)
    };
    world.send(Event::RestartRequested);
    world.settle();
    assert_eq!(world.count("canary is judged"), 1);
    world
}

fn found(verdict: CanaryVerdict) -> Event {
    let code = JudgedCode {
        requests: 400,
        errors: 1,
        median: Some(Duration::from_millis(5)),
        cpu: Some(Duration::from_millis(2)),
        objects: Some(500),
        private: None,
    };
    let (old, new) = (code, code);
    Event::CanaryJudged(CanaryFinding { verdict, old, new })
}

/// What the server decided.
fn decided(world: &World) -> Option<CanaryVerdict> {
    world.state.restarts().decision().map(|it| it.verdict)
}

/// How many workers of each generation serve.
fn serving(world: &World, generation: u32) -> usize {
    let serving = world.serving_processes();
    serving
        .filter(|(_, it)| it.generation == generation)
        .count()
}

fn report(world: &World) -> RestartReport {
    let number = world.state.restarts().latest();
    world.state.restarts().report(number).expect("a restart")
}

fn has(world: &World, command: &Command) -> bool {
    world.commands.contains(command)
}

/// The process of a worker of the new code.
fn new_pid(world: &World) -> u32 {
    let mut serving = world.serving_processes();
    let found = serving.find(|(_, it)| it.generation == 2);
    found.expect("a worker of the new code").0
}

#[test]
fn workers_of_the_new_code_serve_beside_all_of_the_old() {
    for (workers, percent, new) in [(1, 10, 1), (4, 10, 1), (4, 50, 2), (3, 99, 3)] {
        let world = canary(workers, percent);
        assert_eq!(serving(&world, 1), workers as usize);
        assert_eq!(serving(&world, 2), new, "{percent} % of {workers}");
        let begun = Command::BeginCanary {
            generation: 2,
            rule: rule(percent),
        };
        assert!(has(&world, &begun) && !has(&world, &Command::EndCanary));
        assert_eq!(report(&world), RestartReport::UnderWay("canary"));
    }
}

#[test]
fn a_share_that_is_asked_for_during_the_start_is_that_of_the_restart_after_it() {
    let mut world = World::new(fixed(2));
    world.tick();
    world.send(Event::CanaryRequested { percent: 30 });
    assert_eq!(report(&world), RestartReport::Queued);
    world.settle();
    let begun = Command::BeginCanary {
        generation: 2,
        rule: rule(30),
    };
    assert!(has(&world, &begun));
    assert_eq!((serving(&world, 1), serving(&world, 2)), (2, 1));
    world.send(Event::RollbackRequested);
    world.settle();
    world.send(Event::RestartRequested);
    world.settle();
    assert_eq!(report(&world), RestartReport::Done);
}

#[test]
fn it_waits_for_as_long_as_nobody_decides() {
    let mut world = canary(2, 10);
    world.wait(Duration::from_secs(86_400));
    world.settle();
    assert_eq!((serving(&world, 1), serving(&world, 2)), (2, 1));
    assert_eq!(world.mold_pids().len(), 2);
}

#[test]
fn to_go_on_replaces_all_workers_and_keeps_the_old_mold() {
    let mut world = canary(3, 10);
    world.send(Event::GoRequested);
    assert!(has(&world, &Command::EndCanary));
    world.settle_for(100);
    assert_eq!((serving(&world, 1), serving(&world, 2)), (0, 3));
    assert_eq!(report(&world), RestartReport::Done);
    assert_eq!(world.count("restarted"), 1);
    assert!(world.state.may_roll_back());
}

#[test]
fn to_roll_back_leaves_the_old_workers_as_they_were() {
    let mut world = canary(3, 50);
    let old: Vec<u32> = world
        .serving_processes()
        .filter(|(_, it)| it.generation == 1)
        .map(|(pid, _)| pid)
        .collect();
    world.send(Event::RollbackRequested);
    assert!(has(&world, &Command::EndCanary));
    let end = Command::EndWithServer { generation: 2 };
    assert!(has(&world, &end), "its at_exit blocks run");
    world.settle();
    assert_eq!((world.serving_pids(), world.mold_pids().len()), (old, 1));
    assert_eq!(report(&world), RestartReport::Done);
    assert_eq!(world.count("rolled back"), 1);
    assert_eq!(world.state.processes().generation(), Some(1));
}

#[test]
fn new_code_that_is_not_worse_goes_on_by_itself() {
    let mut world = judged(3);
    world.send(found(CanaryVerdict::NotWorse));
    world.settle_for(100);
    assert_eq!((serving(&world, 1), serving(&world, 2)), (0, 3));
    assert_eq!(world.count("canary judged: the new code goes on"), 1);
    assert_eq!(decided(&world), Some(CanaryVerdict::NotWorse));
    world.send(Event::RestartRequested);
    assert_eq!(decided(&world), None);
}

#[test]
fn new_code_that_is_worse_goes_back_by_itself() {
    for verdict in [CanaryVerdict::Slower, CanaryVerdict::MoreErrors] {
        let mut world = judged(3);
        world.send(found(verdict));
        world.settle();
        assert_eq!((serving(&world, 1), serving(&world, 2)), (3, 0));
        assert_eq!(world.count("canary judged: the new code goes back"), 1);
        assert_eq!(decided(&world), Some(verdict));
        world.send(found(CanaryVerdict::NotWorse));
        assert_eq!(decided(&world), Some(verdict), "nothing waits any more");
    }
}

#[test]
fn new_code_whose_workers_die_goes_back_by_itself() {
    let mut world = judged(2);
    for _ in 0..2 {
        let (pid, killed) = (new_pid(&world), world.killed());
        world.exit(pid, killed, false);
        world.settle();
    }
    assert_eq!((serving(&world, 1), serving(&world, 2)), (2, 0));
    assert_eq!(decided(&world), Some(CanaryVerdict::WorkersDied));
}

#[test]
fn new_code_without_enough_requests_goes_back_after_an_hour() {
    let mut world = judged(2);
    world.wait(Duration::from_secs(3000));
    world.settle();
    assert_eq!(decided(&world), None);
    world.wait(Duration::from_secs(700));
    world.settle();
    assert_eq!(decided(&world), Some(CanaryVerdict::TooFewRequests));
    assert_eq!((serving(&world, 1), serving(&world, 2)), (2, 0));
}

#[test]
fn somebody_may_decide_before_the_server_does() {
    let mut world = judged(2);
    world.send(Event::GoRequested);
    world.settle_for(100);
    assert_eq!((serving(&world, 1), serving(&world, 2)), (0, 2));
    assert_eq!(decided(&world), None);
}

#[test]
fn a_dead_canary_is_counted_and_replaced() {
    let mut world = canary(2, 10);
    let pid = new_pid(&world);
    world.exit(pid, world.killed(), true);
    let [old, new] = held_codes(&world).expect("it waits");
    assert_eq!((old.deaths, new.deaths, new.workers), (0, 1, 0));
    world.settle();
    assert_eq!((serving(&world, 1), serving(&world, 2)), (2, 1));
    let old = world.serving_pids()[0];
    world.exit(old, ExitStatus::Exited(1), true);
    world.settle();
    assert_eq!((serving(&world, 1), serving(&world, 2)), (2, 1));
    assert_eq!(held_codes(&world).expect("it waits")[0].deaths, 1);
}

#[test]
fn the_end_of_the_new_mold_ends_the_canary() {
    let mut world = canary(2, 10);
    let (pid, _) = world.find(RubyProcess::Mold(2)).expect("the new mold");
    world.exit(pid, world.killed(), true);
    world.settle();
    assert!(matches!(report(&world), RestartReport::Failed(_)));
    assert!(has(&world, &Command::EndCanary));
    assert_eq!((serving(&world, 1), serving(&world, 2)), (2, 0));
}

#[test]
fn canaries_that_keep_failing_to_boot_end_the_restart() {
    let mut world = canary(2, 10);
    let pid = new_pid(&world);
    world.exit(pid, world.killed(), true);
    for _ in 0..600 {
        world.tick();
        world.finish_reading();
        let booting = world.processes.values();
        let booting = booting.filter(|it| it.generation == 2 && !it.is_ready && !it.is_told_to_end);
        let workers = booting.filter(|it| matches!(it.process, RubyProcess::Worker(_)));
        let workers: Vec<_> = workers.map(|it| it.process).collect();
        for process in workers {
            let cause = "no database".to_owned();
            let (pid, _) = world.find(process).expect("it boots");
            world.send(Event::BootFailed { process, cause });
            world.process(pid).is_told_to_end = true;
            world.exit(pid, ExitStatus::Exited(1), false);
        }
    }
    world.settle();
    assert_eq!(
        report(&world),
        RestartReport::Failed("no database".to_owned())
    );
    assert_eq!((serving(&world, 1), serving(&world, 2)), (2, 0));
}

#[test]
fn another_restart_is_refused_while_one_waits() {
    let mut world = canary(1, 10);
    let number = world.state.restarts().latest();
    world.send(Event::RestartRequested);
    world.send(Event::CanaryRequested { percent: 20 });
    assert_eq!(world.state.restarts().latest(), number);
    assert_eq!(report(&world), RestartReport::UnderWay("canary"));
}

#[test]
fn the_share_of_the_command_counts_before_that_of_the_configuration() {
    for (percent, holds) in [(25, 1), (0, 0)] {
        let mut world = World::serving(fixed(1), ReforkRule::Off);
        world.canary = rule(10);
        world.send(Event::CanaryRequested { percent });
        world.settle();
        assert_eq!(world.count(WAITS), holds);
        let rule = rule(percent);
        let begun = Command::BeginCanary {
            generation: 2,
            rule,
        };
        assert_eq!(has(&world, &begun), holds == 1);
    }
}

#[test]
fn a_decision_without_a_canary_has_no_effect() {
    let mut world = World::serving(fixed(2), ReforkRule::Off);
    world.send(Event::GoRequested);
    world.settle();
    assert_eq!(serving(&world, 1), 2);
    assert_eq!(world.state.restarts().stage(), None);
}

#[test]
fn a_stop_while_a_restart_waits_ends_all() {
    let mut world = canary(2, 50);
    world.stop();
    world.demand.has_clients = false;
    world.settle();
    assert_eq!(world.outcome, Some(Outcome::Finished));
}

#[test]
fn during_the_drain_delay_the_old_code_serves_alone() {
    let mut limits = fixed(2);
    limits.drain_delay = Duration::from_secs(30);
    let mut world = canary_of(limits, 50);
    world.stop();
    world.settle_for(20);
    assert_eq!((serving(&world, 1), serving(&world, 2)), (2, 0));
    assert!(has(&world, &Command::EndCanary));
}

#[test]
fn no_worker_becomes_the_mold_while_a_restart_waits() {
    let mut world = World::serving(fixed(2), ReforkRule::After(vec![100, 1_000_000]));
    world.canary = rule(10);
    world.send(Event::RestartRequested);
    world.settle();
    let pids = world.serving_pids();
    for pid in pids {
        world.process(pid).requests = 5000;
    }
    world.settle_for(100);
    assert_eq!(world.count("worker becomes the next mold"), 0);
    assert_eq!((serving(&world, 1), serving(&world, 2)), (2, 1));
}

#[test]
fn the_canary_keeps_to_the_memory_budget() {
    let mut limits = fixed(4);
    let molds = 2 * MOLD_BYTES;
    limits.memory = MemoryLimit::Bytes(EDGE_BYTES + molds + 4 * WORKER_BYTES);
    let world = canary_of(limits, 50);
    let new = serving(&world, 2);
    assert!((1..=2).contains(&new), "{new}");
    assert!(serving(&world, 1) + new <= 4);
}

#[test]
fn the_number_of_old_workers_follows_the_load_meanwhile() {
    let mut limits = limits();
    limits.elastic.min = 1;
    limits.elastic.max = 4;
    limits.elastic.queue_time_target = Duration::from_millis(5);
    let mut world = canary_of(limits, 50);
    world.demand.waiting = 30;
    world.demand.queue_time = Duration::from_millis(50);
    world.settle_for(30);
    assert_eq!((serving(&world, 1), serving(&world, 2)), (4, 2));
}

fn held_codes(world: &World) -> Option<[HeldCode; 2]> {
    let restarts = world.state.restarts();
    restarts.held_codes(world.state.processes())
}
