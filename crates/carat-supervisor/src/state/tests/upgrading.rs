//! A new edge takes over.

use std::time::Duration;

use carat_policy::MemoryLimit;

use super::world::{EDGE_BYTES, MIB, MOLD_BYTES, WORKER_BYTES, World};
use super::{fixed, limited};
use crate::command::{Command, Outcome};
use crate::event::Event;
use crate::exit_status::ExitStatus;
use crate::limits::Limits;
use crate::ruby_process::RubyProcess;
use crate::state::UpgradeReport;

/// The process id of the new edge.
const NEW: u32 = 7;

const FIRST: u32 = 1;

const START: Command = Command::StartSuccessor { number: FIRST };
const TERMINATE: Command = Command::Terminate { pid: NEW };
const KILL: Command = Command::Kill { pid: NEW };

/// A world whose new edge boots.
fn starting(workers: u32) -> World {
    let mut world = World::of(fixed(workers));
    world.send(Event::UpgradeRequested);
    world.settle_for(10);
    assert!(world.has(&START));
    world.send(Event::SuccessorStarted { pid: NEW });
    world
}

/// A world whose new edge accepts the clients, of which there are so many.
fn handed_over(workers: u32, clients: usize) -> World {
    let mut world = starting(workers);
    world.send(Event::SuccessorReady { upgrade: FIRST });
    assert!(world.has(&Command::LetSuccessorServe) && !world.has(&Command::HandOver));
    world.send(Event::SuccessorServes { upgrade: FIRST });
    assert!(world.has(&Command::HandOver));
    world.demand.clients = clients;
    world
}

fn fail(world: &mut World, upgrade: u32) {
    let cause = "no database".to_owned();
    world.send(Event::SuccessorFailed { upgrade, cause });
}

fn exit(world: &mut World, status: ExitStatus) {
    world.send(Event::Exited { pid: NEW, status });
}

fn report(world: &World) -> Option<UpgradeReport> {
    world.state.upgrades().report(FIRST)
}

#[test]
fn the_old_edge_ends_with_its_last_client() {
    let mut world = handed_over(2, 3);
    world.wait(Duration::from_secs(200));
    assert_eq!(world.state.phase_name(), "finishing");
    assert_eq!(report(&world), Some(UpgradeReport::Done(NEW)));
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
        assert_eq!(world.has(&Command::CutOffClients), is_cut);
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
    for is_ready in [false, true] {
        let mut world = starting(1);
        if is_ready {
            world.send(Event::SuccessorReady { upgrade: FIRST });
        }
        fail(&mut world, FIRST);
        assert!(world.has(&Command::KeepServing) && world.has(&TERMINATE));
        assert!(world.state.upgrade_obstacle().is_some(), "it has not ended");
        let failed = UpgradeReport::Failed("no database".to_owned());
        assert_eq!(report(&world), Some(failed));
        // Whatever it says now comes too late.
        world.send(Event::SuccessorReady { upgrade: FIRST });
        world.send(Event::SuccessorServes { upgrade: FIRST });
        assert!(!world.has(&Command::HandOver));
        exit(&mut world, ExitStatus::Unknown);
        assert_eq!(world.state.upgrade_obstacle(), None);
        world.send(Event::UpgradeRequested);
        fail(&mut world, FIRST);
        world.settle();
        assert!(world.has(&Command::StartSuccessor { number: 2 }));
        assert_eq!(world.state.upgrades().stage(), Some("starting"));
        assert_eq!(report(&world), None);
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
fn a_new_edge_that_does_not_accept_clients_is_killed_at_once() {
    let mut world = starting(1);
    world.send(Event::SuccessorReady { upgrade: FIRST });
    world.wait(Duration::from_secs(11));
    assert!(world.has(&KILL) && world.has(&Command::KeepServing));
    assert_eq!(world.state.phase_name(), "serving");
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
    world.send(Event::RestartRequested);
    assert_eq!(world.state.restarts().stage(), None);
    let mut world = World::of(fixed(1));
    world.send(Event::RestartRequested);
    world.send(Event::UpgradeRequested);
    assert_eq!(world.state.upgrades().stage(), None);
    let obstacle = world.state.upgrade_obstacle();
    assert_eq!(obstacle, Some("a restart is under way"));
}

#[test]
fn workers_make_room_for_the_mold_of_the_new_edge() {
    let upgraded = |workers, fitting| {
        let bytes = EDGE_BYTES + 2 * MOLD_BYTES + fitting * WORKER_BYTES + MIB;
        let memory = MemoryLimit::Bytes(bytes);
        let mut world = World::of(Limits {
            memory,
            ..fixed(workers)
        });
        world.send(Event::UpgradeRequested);
        world.settle();
        world
    };
    let world = upgraded(3, 1);
    assert!(world.has(&START) && world.workers() < 3);
    let world = upgraded(1, 0);
    assert!(!world.has(&START));
    let failed = |cause: &String| cause.contains("(memory)");
    assert!(matches!(report(&world), Some(UpgradeReport::Failed(it)) if failed(&it)));
}

#[test]
fn a_successor_is_announced_when_all_of_its_workers_are_ready() {
    let mut world = World::new(fixed(3));
    world.state.succeed_server(4);
    world.settle_while(|world| !world.has(&Command::Announce));
    let announced = world
        .commands
        .iter()
        .position(|it| *it == Command::Announce);
    world.commands.truncate(announced.expect("announced"));
    assert_eq!(world.count("worker ready"), 3);
    assert_eq!(world.state.upgrades().latest(), 4);
}

#[test]
fn the_memory_of_the_old_server_counts_until_it_has_ended() {
    let mut world = World::new(limited(3, 3));
    world.state.succeed_server(1);
    for (used, workers) in [(2, 1), (0, 3)] {
        let bytes = used * WORKER_BYTES;
        world.send(Event::PredecessorUses { bytes });
        world.settle();
        assert!(world.has(&Command::Announce));
        assert_eq!(world.workers(), workers);
        assert_eq!(world.state.upgrade_obstacle().is_some(), used > 0);
    }
}

#[test]
fn the_old_edge_serves_again_when_the_new_one_dies() {
    let mut world = handed_over(3, 1);
    world.tick();
    world.settle();
    assert_eq!(world.workers(), 1);
    let killed = world.killed();
    exit(&mut world, killed);
    assert!(world.has(&Command::TakeBack));
    world.settle();
    assert_eq!((world.state.phase_name(), world.workers()), ("serving", 3));
    assert!(matches!(report(&world), Some(UpgradeReport::Failed(_))));
    assert_eq!(world.state.upgrade_obstacle(), None);
}

#[test]
fn the_old_edge_ends_although_a_new_one_that_was_told_to_stop_is_gone() {
    let mut world = handed_over(1, 1);
    world.send(Event::SuccessorStops { upgrade: FIRST });
    let killed = world.killed();
    exit(&mut world, killed);
    assert!(!world.has(&Command::TakeBack));
    assert_eq!(world.state.phase_name(), "finishing");
}

#[test]
fn a_new_edge_whose_first_worker_cannot_boot_ends_at_once() {
    let mut world = World::new(fixed(2));
    world.state.succeed_server(FIRST);
    world.tick();
    world.get_ready(world.mold_pids()[0]);
    let worker = world.worker(world.newest());
    world.fail_boot(RubyProcess::Worker(worker), "no database");
    let cause = "the first new worker failed: no database".to_owned();
    assert_eq!(world.outcome, Some(Outcome::Failed(cause)));
}
