//! How a restart waits between old code and new.

use std::time::Duration;

use carat_policy::{CanaryFinding, CanaryRule, CanaryVerdict, JudgedCode, MemoryLimit, ReforkRule};

use super::world::{EDGE_BYTES, MOLD_BYTES, WORKER_BYTES, World};
use super::{fixed, limits};
use crate::command::Command;
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

/// The command by which the dispatcher sends a share to the new code.
fn begun(percent: u8) -> Command {
    Command::BeginCanary {
        generation: 2,
        rule: rule(percent),
    }
}

/// A world whose restart waits by this rule.
fn waiting(limits: Limits, rule: CanaryRule, message: &str) -> World {
    let mut world = World::of(limits);
    world.canary = rule;
    world.send(Event::RestartRequested);
    world.settle();
    assert_eq!(world.count(message), 1, "{:?}", world.messages());
    world
}

fn canary_of(limits: Limits, percent: u8) -> World {
    waiting(limits, rule(percent), WAITS)
}

fn canary(workers: u32, percent: u8) -> World {
    canary_of(fixed(workers), percent)
}

/// A world whose restart waits until the server decides.
fn judged(workers: u32) -> World {
    let judges = true;
    let rule = CanaryRule { judges, ..rule(10) };
    waiting(fixed(workers), rule, "canary is judged")
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

/// How many workers of the old code and of the new code serve.
fn serving(world: &World) -> (usize, usize) {
    let generations = world.generations();
    let old = generations.iter().filter(|it| **it == 1).count();
    (old, generations.len() - old)
}

/// The process of a worker of the new code.
fn new_pid(world: &World) -> u32 {
    let mut serving = world.serving_processes();
    let found = serving.find(|(_, it)| it.generation == 2);
    found.expect("a worker of the new code").0
}

fn held_codes(world: &World) -> [HeldCode; 2] {
    let restarts = world.state.restarts();
    let codes = restarts.held_codes(world.state.processes());
    codes.expect("it waits")
}

#[test]
fn workers_of_the_new_code_serve_beside_all_of_the_old() {
    for (workers, percent, new) in [(1, 10, 1), (4, 10, 1), (4, 50, 2), (3, 99, 3)] {
        let world = canary(workers, percent);
        assert_eq!(serving(&world), (workers as usize, new), "{percent} %");
        assert!(world.has(&begun(percent)) && !world.has(&Command::EndCanary));
        assert_eq!(world.report(), RestartReport::UnderWay("canary"));
    }
}

#[test]
fn a_share_that_is_asked_for_during_the_start_is_that_of_the_restart_after_it() {
    let mut world = World::new(fixed(2));
    world.tick();
    world.send(Event::CanaryRequested { percent: 30 });
    assert_eq!(world.report(), RestartReport::Queued);
    world.settle();
    assert!(world.has(&begun(30)));
    assert_eq!(serving(&world), (2, 1));
    for event in [Event::RollbackRequested, Event::RestartRequested] {
        world.send(event);
        world.settle();
    }
    assert_eq!(world.report(), RestartReport::Done);
}

#[test]
fn it_waits_for_as_long_as_nobody_decides() {
    let mut world = canary(2, 10);
    world.wait(Duration::from_secs(86_400));
    world.settle();
    assert_eq!((serving(&world), world.mold_pids().len()), ((2, 1), 2));
}

#[test]
fn to_go_on_replaces_all_workers_and_keeps_the_old_mold() {
    let mut world = canary(3, 10);
    world.send(Event::GoRequested);
    assert!(world.has(&Command::EndCanary));
    world.settle_for(100);
    assert_eq!(serving(&world), (0, 3));
    assert_eq!(world.report(), RestartReport::Done);
    assert_eq!(world.count("restarted"), 1);
    assert!(world.state.may_roll_back());
}

#[test]
fn to_roll_back_leaves_the_old_workers_as_they_were() {
    let mut world = canary(3, 50);
    let old = world
        .serving_processes()
        .filter(|(_, it)| it.generation == 1);
    let old: Vec<u32> = old.map(|(pid, _)| pid).collect();
    world.send(Event::RollbackRequested);
    assert!(world.has(&Command::EndCanary));
    let end = Command::EndWithServer { generation: 2 };
    assert!(world.has(&end), "its at_exit blocks run");
    world.settle();
    assert_eq!((world.serving_pids(), world.mold_pids().len()), (old, 1));
    assert_eq!(world.report(), RestartReport::Done);
    assert_eq!(world.count("rolled back"), 1);
    assert_eq!(world.state.processes().generation(), Some(1));
}

#[test]
fn new_code_that_is_not_worse_goes_on_by_itself() {
    let mut world = judged(3);
    world.send(found(CanaryVerdict::NotWorse));
    world.settle_for(100);
    assert_eq!(serving(&world), (0, 3));
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
        assert_eq!(serving(&world), (3, 0));
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
        world.exit(new_pid(&world), world.killed(), false);
        world.settle();
    }
    assert_eq!(serving(&world), (2, 0));
    assert_eq!(decided(&world), Some(CanaryVerdict::WorkersDied));
}

#[test]
fn new_code_without_enough_requests_goes_back_after_an_hour() {
    let mut world = judged(2);
    for (seconds, verdict) in [(3000, None), (700, Some(CanaryVerdict::TooFewRequests))] {
        world.wait(Duration::from_secs(seconds));
        world.settle();
        assert_eq!(decided(&world), verdict);
    }
    assert_eq!(serving(&world), (2, 0));
}

#[test]
fn somebody_may_decide_before_the_server_does() {
    let mut world = judged(2);
    world.send(Event::GoRequested);
    world.settle_for(100);
    assert_eq!((serving(&world), decided(&world)), ((0, 2), None));
}

#[test]
fn a_dead_canary_is_counted_and_replaced() {
    let mut world = canary(2, 10);
    world.kill(new_pid(&world));
    let [old, new] = held_codes(&world);
    assert_eq!((old.deaths, new.deaths, new.workers), (0, 1, 0));
    world.settle();
    assert_eq!(serving(&world), (2, 1));
    world.exit(world.serving_pids()[0], ExitStatus::Exited(1), true);
    world.settle();
    assert_eq!(serving(&world), (2, 1));
    assert_eq!(held_codes(&world)[0].deaths, 1);
}

#[test]
fn the_end_of_the_new_mold_ends_the_canary() {
    let mut world = canary(2, 10);
    let (pid, _) = world.find(RubyProcess::Mold(2)).expect("the new mold");
    world.kill(pid);
    world.settle();
    world.failure();
    assert!(world.has(&Command::EndCanary));
    assert_eq!(serving(&world), (2, 0));
}

#[test]
fn canaries_that_keep_failing_to_boot_end_the_restart() {
    let mut world = canary(2, 10);
    world.kill(new_pid(&world));
    for _ in 0..600 {
        world.tick();
        world.finish_reading();
        for (pid, it) in world.processes.clone() {
            let is_booting = it.generation == 2 && !it.is_ready && !it.is_told_to_end;
            if is_booting && matches!(it.process, RubyProcess::Worker(_)) {
                world.fail_boot(it.process, "no database");
                world.process(pid).is_told_to_end = true;
                world.die(pid);
            }
        }
    }
    world.settle();
    assert_eq!(world.failure(), "no database");
    assert_eq!(serving(&world), (2, 0));
}

#[test]
fn another_restart_is_refused_while_one_waits() {
    let mut world = canary(1, 10);
    let number = world.state.restarts().latest();
    world.send(Event::RestartRequested);
    world.send(Event::CanaryRequested { percent: 20 });
    assert_eq!(world.state.restarts().latest(), number);
    assert_eq!(world.report(), RestartReport::UnderWay("canary"));
}

#[test]
fn the_share_of_the_command_counts_before_that_of_the_configuration() {
    for (percent, holds) in [(25, true), (0, false)] {
        let mut world = World::of(fixed(1));
        world.canary = rule(10);
        world.send(Event::CanaryRequested { percent });
        world.settle();
        assert_eq!(world.count(WAITS), usize::from(holds));
        assert_eq!(world.has(&begun(percent)), holds);
    }
}

#[test]
fn a_decision_without_a_canary_has_no_effect() {
    let mut world = World::of(fixed(2));
    world.send(Event::GoRequested);
    world.settle();
    assert_eq!(serving(&world), (2, 0));
    assert_eq!(world.state.restarts().stage(), None);
}

#[test]
fn a_stop_while_a_restart_waits_ends_all() {
    let mut world = canary(2, 50);
    world.stop();
    world.assert_finishes();
}

#[test]
fn during_the_drain_delay_the_old_code_serves_alone() {
    let drain_delay = Duration::from_secs(30);
    let limits = Limits {
        drain_delay,
        ..fixed(2)
    };
    let mut world = canary_of(limits, 50);
    world.stop();
    world.settle_for(20);
    assert_eq!(serving(&world), (2, 0));
    assert!(world.has(&Command::EndCanary));
}

#[test]
fn no_worker_becomes_the_mold_while_a_restart_waits() {
    let mut world = World::serving(fixed(2), ReforkRule::After(vec![100, 1_000_000]));
    world.canary = rule(10);
    world.send(Event::RestartRequested);
    world.settle();
    for pid in world.serving_pids() {
        world.process(pid).requests = 5000;
    }
    world.settle_for(100);
    assert_eq!(world.count("worker becomes the next mold"), 0);
    assert_eq!(serving(&world), (2, 1));
}

#[test]
fn the_canary_keeps_to_the_memory_budget() {
    let bytes = EDGE_BYTES + 2 * MOLD_BYTES + 4 * WORKER_BYTES;
    let memory = MemoryLimit::Bytes(bytes);
    let world = canary_of(Limits { memory, ..fixed(4) }, 50);
    let (old, new) = serving(&world);
    assert!((1..=2).contains(&new) && old + new <= 4, "{old} {new}");
}

#[test]
fn the_number_of_old_workers_follows_the_load_meanwhile() {
    let mut limits = limits();
    limits.elastic.max = 4;
    limits.elastic.queue_time_target = Duration::from_millis(5);
    let mut world = canary_of(limits, 50);
    world.demand.waiting = 30;
    world.demand.queue_time = Duration::from_millis(50);
    world.settle_for(30);
    assert_eq!(serving(&world), (4, 2));
}
