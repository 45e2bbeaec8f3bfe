//! A new edge takes over.

use std::time::Duration;

use carat_policy::{MemoryLimit, ReforkRule};

use super::fixed;
use super::world::{EDGE_BYTES, MIB, MOLD_BYTES, WORKER_BYTES, World};
use crate::command::{Command, Outcome};
use crate::event::Event;
use crate::exit_status::ExitStatus;
use crate::limits::Limits;
use crate::state::UpgradeReport;

/// The process id of the new edge.
const NEW: u32 = 7;

const FIRST: u32 = 1;

fn has(world: &World, command: &Command) -> bool {
    world.commands.contains(command)
}

fn serving(limits: Limits) -> World {
    World::serving(limits, ReforkRule::Off)
}

/// A world whose new edge boots.
fn starting(workers: u32) -> World {
    let mut world = serving(fixed(workers));
    world.send(Event::UpgradeRequested);
    world.settle_for(10);
    assert!(has(&world, &Command::StartSuccessor { number: FIRST }));
    world.send(Event::SuccessorStarted { pid: NEW });
    world
}

/// A world whose new edge accepts the clients.
fn handed_over(workers: u32) -> World {
    let mut world = starting(workers);
    world.send(Event::SuccessorReady { upgrade: FIRST });
    assert!(has(&world, &Command::LetSuccessorServe));
    assert!(!has(&world, &Command::HandOver));
    world.send(Event::SuccessorServes { upgrade: FIRST });
    assert!(has(&world, &Command::HandOver));
    world
}

fn fail(world: &mut World, upgrade: u32) {
    let cause = "no database".to_owned();
    world.send(Event::SuccessorFailed { upgrade, cause });
}

#[test]
fn the_old_edge_ends_with_its_last_client() {
    let mut world = handed_over(2);
    world.demand.clients = 3;
    world.wait(Duration::from_secs(200));
    assert_eq!(world.state.phase_name(), "finishing");
    assert_eq!(
        world.state.upgrades().report(FIRST),
        Some(UpgradeReport::Done(NEW))
    );
    assert_eq!(world.serving_pids().len(), 2);
    world.demand.clients = 0;
    world.demand.has_clients = false;
    world.settle();
    assert_eq!(world.outcome, Some(Outcome::Finished));
}

#[test]
fn workers_end_as_the_clients_leave() {
    let mut world = handed_over(4);
    for (clients, workers) in [(9, 4), (3, 3), (1, 1), (2, 1)] {
        world.demand.clients = clients;
        world.tick();
        world.settle();
        assert_eq!(world.serving_pids().len(), workers, "{clients} clients");
    }
}

#[test]
fn clients_are_cut_off_after_upgrade_timeout() {
    let mut world = handed_over(1);
    world.demand.clients = 1;
    world.wait(Duration::from_secs(299));
    assert!(!world.is_accepting_over());
    world.wait(Duration::from_secs(2));
    assert!(world.is_accepting_over());
    assert!(!has(&world, &Command::CutOffClients));
    world.wait(Duration::from_secs(1));
    assert!(has(&world, &Command::CutOffClients));
    world.settle();
    assert_eq!(world.outcome, Some(Outcome::Finished));
}

#[test]
fn an_edge_that_has_handed_over_can_be_stopped() {
    let mut world = handed_over(1);
    world.stop();
    assert!(world.is_accepting_over());
    assert_eq!(world.outcome, None);
    world.demand.has_clients = false;
    world.settle();
    assert_eq!(world.outcome, Some(Outcome::Finished));
}

#[test]
fn a_new_edge_that_fails_leaves_the_old_one_and_another_may_follow() {
    for is_ready in [false, true] {
        let mut world = starting(1);
        if is_ready {
            world.send(Event::SuccessorReady { upgrade: FIRST });
        }
        fail(&mut world, FIRST);
        assert!(has(&world, &Command::KeepServing));
        assert!(has(&world, &Command::Terminate { pid: NEW }));
        assert!(world.state.upgrade_obstacle().is_some(), "it has not ended");
        let failed = UpgradeReport::Failed("no database".to_owned());
        assert_eq!(world.state.upgrades().report(FIRST), Some(failed));
        // Whatever it says now comes too late.
        world.send(Event::SuccessorReady { upgrade: FIRST });
        world.send(Event::SuccessorServes { upgrade: FIRST });
        assert!(!has(&world, &Command::HandOver));
        world.send(Event::Exited {
            pid: NEW,
            status: ExitStatus::Unknown,
        });
        assert_eq!(world.state.upgrade_obstacle(), None);
        world.send(Event::UpgradeRequested);
        fail(&mut world, FIRST);
        world.settle();
        assert!(has(&world, &Command::StartSuccessor { number: 2 }));
        assert_eq!(world.state.upgrades().stage(), Some("starting"));
        assert_eq!(world.state.upgrades().report(FIRST), None);
    }
}

#[test]
fn a_new_edge_that_hangs_is_ended_and_then_killed() {
    let mut world = starting(1);
    world.wait(Duration::from_secs(178));
    assert!(!has(&world, &Command::Terminate { pid: NEW }));
    world.wait(Duration::from_secs(3));
    assert!(has(&world, &Command::Terminate { pid: NEW }));
    assert!(!has(&world, &Command::Kill { pid: NEW }));
    world.wait(Duration::from_secs(33));
    assert!(has(&world, &Command::Kill { pid: NEW }));
}

#[test]
fn a_new_edge_that_does_not_accept_clients_is_killed_at_once() {
    let mut world = starting(1);
    world.send(Event::SuccessorReady { upgrade: FIRST });
    world.wait(Duration::from_secs(11));
    assert!(has(&world, &Command::Kill { pid: NEW }));
    assert!(has(&world, &Command::KeepServing));
    assert_eq!(world.state.phase_name(), "serving");
}

#[test]
fn a_stop_ends_the_new_edge() {
    let mut world = starting(1);
    world.stop();
    assert!(has(&world, &Command::Terminate { pid: NEW }));
    world.demand.has_clients = false;
    world.settle();
    assert_eq!(world.outcome, Some(Outcome::Finished));
    assert!(has(&world, &Command::Kill { pid: NEW }));
}

#[test]
fn restarts_and_upgrades_wait_for_each_other() {
    let mut world = starting(1);
    world.send(Event::RestartRequested);
    assert_eq!(world.state.restarts().stage(), None);
    let mut world = serving(fixed(1));
    world.send(Event::RestartRequested);
    world.send(Event::UpgradeRequested);
    assert_eq!(world.state.upgrades().stage(), None);
    assert_eq!(
        world.state.upgrade_obstacle(),
        Some("a restart is under way")
    );
}

#[test]
fn workers_make_room_for_the_mold_of_the_new_edge() {
    let room = |workers: u64| EDGE_BYTES + 2 * MOLD_BYTES + workers * WORKER_BYTES + MIB;
    let limited = |workers, bytes| {
        let mut limits = fixed(workers);
        limits.memory = MemoryLimit::Bytes(bytes);
        let mut world = serving(limits);
        world.send(Event::UpgradeRequested);
        world.settle();
        world
    };
    let world = limited(3, room(1));
    assert!(has(&world, &Command::StartSuccessor { number: FIRST }));
    assert!(world.serving_pids().len() < 3);
    let world = limited(1, room(0));
    assert!(!has(&world, &Command::StartSuccessor { number: FIRST }));
    let report = world.state.upgrades().report(FIRST);
    assert!(matches!(report, Some(UpgradeReport::Failed(cause)) if cause.contains("(memory)")));
}

#[test]
fn a_successor_is_announced_when_all_of_its_workers_are_ready() {
    let mut world = World::new(fixed(3));
    world.state.succeed_server(4);
    world.settle();
    let ready = |message: &&&str| **message == "worker ready";
    let announced = world
        .commands
        .iter()
        .position(|it| *it == Command::Announce);
    let before = &world.commands[..announced.expect("announced")];
    let logged = before.iter().filter_map(|command| match command {
        Command::Log(line) => Some(&line.message),
        _ => None,
    });
    assert_eq!(logged.filter(ready).count(), 3);
    assert_eq!(world.state.upgrades().latest(), 4);
}

#[test]
fn the_memory_of_the_old_server_counts_until_it_has_ended() {
    let mut limits = fixed(3);
    limits.memory = MemoryLimit::Bytes(EDGE_BYTES + MOLD_BYTES + 3 * WORKER_BYTES + MIB);
    let mut world = World::new(limits);
    world.state.succeed_server(1);
    world.send(Event::PredecessorUses {
        bytes: 2 * WORKER_BYTES,
    });
    world.settle();
    assert!(has(&world, &Command::Announce));
    assert_eq!(world.serving_pids().len(), 1);
    assert!(world.state.upgrade_obstacle().is_some());
    world.send(Event::PredecessorUses { bytes: 0 });
    world.settle();
    assert_eq!(world.serving_pids().len(), 3);
    assert_eq!(world.state.upgrade_obstacle(), None);
}

fn new_edge_exits(world: &mut World) {
    let status = world.killed();
    world.send(Event::Exited { pid: NEW, status });
}

#[test]
fn the_old_edge_serves_again_when_the_new_one_dies() {
    let mut world = handed_over(3);
    world.demand.clients = 1;
    world.tick();
    world.settle();
    assert_eq!(world.serving_pids().len(), 1);
    new_edge_exits(&mut world);
    assert!(has(&world, &Command::TakeBack));
    world.settle();
    assert_eq!(
        (world.state.phase_name(), world.serving_pids().len()),
        ("serving", 3)
    );
    let report = world.state.upgrades().report(FIRST);
    assert!(
        matches!(report, Some(UpgradeReport::Failed(_))),
        "{report:?}"
    );
    assert_eq!(world.state.upgrade_obstacle(), None);
}

#[test]
fn the_old_edge_ends_although_a_new_one_that_was_told_to_stop_is_gone() {
    let mut world = handed_over(1);
    world.demand.clients = 1;
    world.send(Event::SuccessorStops { upgrade: FIRST });
    new_edge_exits(&mut world);
    assert!(!has(&world, &Command::TakeBack));
    assert_eq!(world.state.phase_name(), "finishing");
}

#[test]
fn a_new_edge_whose_first_worker_cannot_boot_ends_at_once() {
    let mut world = World::new(fixed(2));
    world.state.succeed_server(FIRST);
    world.tick();
    let mold = *world.processes.keys().next().expect("a mold");
    world.get_ready(mold);
    let mut processes = world.processes.values().map(|it| it.process);
    let process = processes.next_back().expect("a worker");
    let cause = "no database".to_owned();
    world.send(Event::BootFailed { process, cause });
    let cause = "the first new worker failed: no database".to_owned();
    assert_eq!(world.outcome, Some(Outcome::Failed(cause)));
}
