//! A new edge takes over.

use std::time::Duration;

use carat_policy::MemoryLimit;

use super::fixed;
use super::world::{EDGE_BYTES, MIB, MOLD_BYTES, WORKER_BYTES, World};
use crate::command::{ClientsCommand, Command, Outcome, UpgradeCommand};
use crate::event::{Event, ProcessEvent, RestartEvent, UpgradeEvent};
use crate::exit_status::ExitStatus;
use crate::limits::Limits;
use crate::ruby_process::RubyProcess;

/// The process id of the new edge.
const NEW: u32 = 7;

const HAND_OVER: Command = Command::Upgrade(UpgradeCommand::HandOver { pid: NEW });
const TERMINATE: Command = Command::Terminate { pid: NEW };
const KILL: Command = Command::Kill { pid: NEW };

/// A world whose new edge boots.
fn starting(workers: u32) -> World {
    let mut world = World::of(fixed(workers));
    world.send(Event::Upgrade(UpgradeEvent::Requested));
    assert!(world.has(&Command::Upgrade(UpgradeCommand::StartSuccessor)));
    world.send(Event::Upgrade(UpgradeEvent::SuccessorStarted { pid: NEW }));
    world
}

/// A world whose new edge accepts the clients, while the old edge still has `clients` of them.
fn handed_over(workers: u32, clients: usize) -> World {
    let mut world = starting(workers);
    assert!(!world.has(&HAND_OVER));
    world.send(Event::Upgrade(UpgradeEvent::SuccessorReady { pid: NEW }));
    assert!(world.has(&HAND_OVER));
    world.demand.clients = clients;
    world
}

fn fail(world: &mut World, pid: Option<u32>) {
    let cause = "no database".to_owned();
    world.send(Event::Upgrade(UpgradeEvent::SuccessorFailed { pid, cause }));
}

fn serves_on(world: &World, cause: &str) -> bool {
    let cause = cause.to_owned();
    world.has(&Command::Upgrade(UpgradeCommand::KeepServing { cause }))
}

fn exit(world: &mut World, status: ExitStatus) {
    world.send(Event::Process(ProcessEvent::Exited { pid: NEW, status }));
}

#[test]
fn the_old_edge_ends_with_its_last_client() {
    let mut world = handed_over(2, 3);
    world.wait(Duration::from_secs(200));
    assert_eq!(world.state.phase_name(), "finishing");
    assert_eq!(world.workers(), 2);
    world.demand.clients = 0;
    world.assert_finishes();
}

#[test]
fn workers_end_as_the_clients_leave() {
    let mut world = handed_over(4, 9);
    for (clients, workers) in [(9, 4), (3, 3), (1, 1), (2, 1)] {
        world.demand.clients = clients;
        world.tick();
        world.settle();
        assert_eq!(world.workers(), workers, "{clients} clients");
    }
}

#[test]
fn clients_are_cut_off_after_upgrade_timeout() {
    let mut world = handed_over(1, 1);
    for (seconds, is_over, is_cut) in [(299, false, false), (2, true, false), (1, true, true)] {
        world.wait(Duration::from_secs(seconds));
        assert_eq!(world.is_accepting_over(), is_over);
        assert_eq!(world.has(&Command::Clients(ClientsCommand::CutOff)), is_cut);
    }
    world.settle();
    assert_eq!(world.outcome, Some(Outcome::Finished));
}

#[test]
fn an_edge_that_has_handed_over_can_be_stopped() {
    let mut world = handed_over(1, 0);
    world.stop();
    assert!(world.is_accepting_over());
    assert_eq!(world.outcome, None);
    world.assert_finishes();
}

#[test]
fn a_new_edge_that_fails_leaves_the_old_one_and_another_may_follow() {
    let mut world = starting(1);
    fail(&mut world, Some(NEW));
    assert!(serves_on(&world, "no database") && world.has(&TERMINATE));
    assert!(world.state.upgrade_obstacle().is_some(), "it has not ended");
    // It comes too late.
    world.send(Event::Upgrade(UpgradeEvent::SuccessorReady { pid: NEW }));
    assert!(!world.has(&HAND_OVER));
    exit(&mut world, ExitStatus::Unknown);
    assert_eq!(world.state.upgrade_obstacle(), None);
    world.send(Event::Upgrade(UpgradeEvent::Requested));
    world.send(Event::Upgrade(UpgradeEvent::SuccessorStarted { pid: 8 }));
    fail(&mut world, Some(NEW));
    assert!(world.state.upgrades().is_under_way());
    assert_eq!(world.state.phase_name(), "serving");
}

#[test]
fn a_new_edge_that_cannot_be_started_or_dies_at_once_changes_nothing() {
    let mut world = World::of(fixed(1));
    world.send(Event::Upgrade(UpgradeEvent::Requested));
    fail(&mut world, None);
    assert_eq!(world.state.upgrade_obstacle(), None);
    for is_ready in [false, true] {
        let mut world = starting(1);
        exit(&mut world, ExitStatus::Unknown);
        if is_ready {
            world.send(Event::Upgrade(UpgradeEvent::SuccessorReady { pid: NEW }));
        } else {
            fail(&mut world, Some(NEW));
        }
        assert!(!world.has(&HAND_OVER));
        assert_eq!(world.state.upgrade_obstacle(), None);
    }
}

#[test]
fn a_new_edge_that_hangs_is_ended_and_then_killed() {
    let mut world = starting(1);
    for (seconds, is_ended, is_killed) in [(178, false, false), (3, true, false), (33, true, true)]
    {
        world.wait(Duration::from_secs(seconds));
        let found = (world.has(&TERMINATE), world.has(&KILL));
        assert_eq!(found, (is_ended, is_killed));
    }
}

#[test]
fn a_stop_ends_the_new_edge() {
    let mut world = starting(1);
    world.stop();
    assert!(world.has(&TERMINATE));
    world.assert_finishes();
    assert!(world.has(&KILL));
}

#[test]
fn restarts_and_upgrades_wait_for_each_other() {
    let mut world = starting(1);
    world.send(Event::Restart(RestartEvent::Requested));
    assert_eq!(world.state.restarts().stage(), None);
    let mut world = World::of(fixed(1));
    world.send(Event::Restart(RestartEvent::Requested));
    world.send(Event::Upgrade(UpgradeEvent::Requested));
    assert!(!world.state.upgrades().is_under_way());
    let obstacle = world.state.upgrade_obstacle();
    assert_eq!(obstacle, Some("a restart is under way"));
}

#[test]
fn a_new_edge_needs_memory_for_a_mold() {
    let upgraded = |fitting| {
        let bytes = EDGE_BYTES + 2 * MOLD_BYTES + fitting * WORKER_BYTES + MIB;
        let memory = MemoryLimit::Bytes(bytes);
        let mut world = World::of(Limits { memory, ..fixed(1) });
        world.send(Event::Upgrade(UpgradeEvent::Requested));
        world.has(&Command::Upgrade(UpgradeCommand::StartSuccessor))
    };
    assert!(upgraded(1) && !upgraded(0));
}

#[test]
fn a_mold_that_is_kept_makes_room_for_a_new_edge() {
    let bytes = EDGE_BYTES + 2 * MOLD_BYTES + WORKER_BYTES + MIB;
    let mut world = World::of(fixed(1));
    world.send(Event::Restart(RestartEvent::Requested));
    world.settle_until("restarted");
    world.state.limits.memory = MemoryLimit::Bytes(bytes);
    world.read(2);
    assert!(world.state.may_roll_back());
    world.send(Event::Upgrade(UpgradeEvent::Requested));
    assert!(world.has(&Command::Upgrade(UpgradeCommand::StartSuccessor)));
    assert!(!world.state.may_roll_back());
}

#[test]
fn a_new_edge_that_is_told_to_stop_says_no_more_that_it_is_ready() {
    let mut world = World::new(fixed(1));
    world.state.succeed_server();
    world.tick();
    world.get_ready(world.mold_pids()[0]);
    world.send(Event::StopRequested);
    let worker = world.newest();
    world.say_hello(worker);
    world.get_ready(worker);
    assert_eq!(world.count("worker ready"), 1);
    assert!(!world.has(&Command::Announce));
    world.assert_finishes();
}

#[test]
fn a_successor_is_announced_when_all_of_its_workers_are_ready() {
    let mut world = World::new(fixed(3));
    world.state.succeed_server();
    world.settle_while(|world| !world.has(&Command::Announce));
    let announced = world
        .commands
        .iter()
        .position(|it| *it == Command::Announce);
    world.commands.truncate(announced.expect("announced"));
    assert_eq!(world.count("worker ready"), 3);
}

#[test]
fn the_old_edge_stops_when_the_new_one_has_died() {
    let mut world = handed_over(1, 1);
    exit(&mut world, ExitStatus::Exited(0));
    assert_eq!(world.state.phase_name(), "finishing", "it was stopped");
    let mut world = handed_over(1, 1);
    let killed = world.killed();
    exit(&mut world, killed);
    assert!(world.is_accepting_over());
    assert_eq!(world.state.phase_name(), "stopping");
    world.demand.clients = 0;
    world.assert_finishes();
}

#[test]
fn a_new_edge_does_not_outlive_the_old_one_before_it_is_ready() {
    let mut world = World::new(fixed(1));
    world.state.succeed_server();
    world.send(Event::Upgrade(UpgradeEvent::PredecessorLeft));
    assert!(matches!(world.outcome, Some(Outcome::Failed(_))));
    let mut world = World::new(fixed(1));
    world.state.succeed_server();
    world.settle();
    world.send(Event::Upgrade(UpgradeEvent::PredecessorLeft));
    assert_eq!((world.outcome.as_ref(), world.workers()), (None, 1));
}

#[test]
fn a_new_edge_whose_first_worker_cannot_boot_ends_at_once() {
    let mut world = World::new(fixed(2));
    world.state.succeed_server();
    world.tick();
    world.get_ready(world.mold_pids()[0]);
    let worker = world.worker(world.newest());
    world.fail_boot(RubyProcess::Worker(worker), "no database");
    let cause = "the first new worker failed: no database".to_owned();
    assert_eq!(world.outcome, Some(Outcome::Failed(cause)));
}
