//! The stop.

use std::time::Duration;

use super::fixed;
use super::world::World;
use crate::command::{ClientsCommand, Command, MoldCommand, Outcome, WorkerCommand};
use crate::event::{Event, WorkerEvent};
use crate::exit_status::ExitStatus;
use crate::limits::Limits;

/// A world with one worker, and its process id.
fn one() -> (World, u32) {
    let world = World::of(fixed(1));
    let pid = world.serving_pids()[0];
    (world, pid)
}

/// Where a command is among those so far.
fn index_of(world: &World, wanted: impl Fn(&Command) -> bool) -> usize {
    let index = world.commands.iter().position(wanted);
    index.expect("the command was given")
}

#[test]
fn the_requests_finish_then_the_workers_end_then_the_mold_and_nothing_follows() {
    let mut world = World::of(fixed(2));
    world.stop();
    world.settle_for(5);
    let message = "worker ends with the server";
    assert_eq!(world.count(message), 0, "clients wait");
    world.assert_finishes();
    assert_eq!((world.count(message), world.count("worker died")), (2, 0));
    let accepting = index_of(&world, |it| {
        matches!(it, Command::Clients(ClientsCommand::StopAccepting(_)))
    });
    let workers = index_of(&world, |it| matches!(it, Command::End(_)));
    let mold = index_of(&world, |it| {
        matches!(it, Command::Mold(MoldCommand::EndWithServer { .. }))
    });
    assert!(accepting < workers && workers < mold);
    world.commands.clear();
    for pid in world.processes.keys().copied().collect::<Vec<_>>() {
        world.end(pid);
    }
    world.wait(Duration::from_secs(60));
    assert_eq!(world.commands, []);
}

#[test]
fn a_worker_that_leaves_while_a_client_waits_is_replaced() {
    let (mut world, pid) = one();
    world.stop();
    world.exit(pid, ExitStatus::Exited(0), true);
    world.settle_for(5);
    assert_eq!((world.workers(), world.outcome), (1, None));
}

#[test]
fn a_signal_that_comes_twice_at_once_is_one_signal() {
    let (mut world, _) = one();
    for (pause, outcome) in [(0, None), (100, None), (200, Some(Outcome::Cut))] {
        world.now += Duration::from_millis(pause);
        world.stop();
        assert_eq!(world.outcome, outcome);
    }
}

#[test]
fn after_shutdown_timeout_the_clients_are_cut_off_and_the_workers_do_not_wait_for_requests() {
    let (mut world, pid) = one();
    let worker = world.worker(pid);
    world.stop();
    world.wait(Duration::from_secs(31));
    assert!(world.has(&Command::Clients(ClientsCommand::CutOff)));
    world.settle_for(10);
    assert!(world.has(&Command::Worker(WorkerCommand::EndNow(worker))));
    world.settle();
    assert_eq!(world.outcome, Some(Outcome::Finished));
}

#[test]
fn a_worker_that_does_not_end_is_killed_and_the_server_ends_in_time() {
    let (mut world, pid) = one();
    world.process(pid).is_busy = true;
    world.stop();
    let start = world.now;
    while world.outcome.is_none() {
        world.tick();
        assert!(world.now - start <= Duration::from_millis(30_000 + 4_250 + 300));
    }
    assert!(world.has(&Command::Kill { pid }));
    let unfinished = "mold killed: its at_exit blocks did not finish in time";
    assert_eq!(world.count(unfinished), 1);
}

/// When a process was killed; until then it has run its hooks.
fn killed_after(world: &mut World, pid: u32) -> Duration {
    let start = world.now;
    while !world.process(pid).is_killed {
        world.tick();
        assert!(world.now - start < Duration::from_secs(60), "never");
    }
    world.now - start
}

#[test]
fn hooks_have_two_seconds_even_if_shutdown_timeout_is_shorter() {
    for is_stopping in [true, false] {
        let shutdown_timeout = Duration::from_millis(100);
        let mut world = World::of(Limits {
            shutdown_timeout,
            ..fixed(1)
        });
        let pid = world.serving_pids()[0];
        world.demand.has_clients = false;
        if is_stopping {
            world.stop();
        } else {
            world.send(Event::Worker(WorkerEvent::Leaving(world.worker(pid))));
        }
        let took = killed_after(&mut world, pid);
        assert!(took >= Duration::from_secs(2), "{is_stopping} {took:?}");
    }
}

#[test]
fn a_worker_whose_request_outlasts_the_stop_is_told_to_end_without_it() {
    let (mut world, pid) = one();
    let worker = world.worker(pid);
    world.process(pid).is_busy = true;
    world.demand.has_clients = false;
    world.stop();
    world.tick();
    world.wait(Duration::from_secs(30));
    assert!(
        world.has(&Command::Worker(WorkerCommand::EndNow(worker))) && !world.process(pid).is_killed
    );
    let took = killed_after(&mut world, pid);
    assert!(took >= Duration::from_millis(1_900), "after a tick");
}

#[test]
fn a_worker_that_has_not_booted_is_not_waited_for() {
    let (mut world, _) = World::booting(1);
    world.stop();
    world.demand.has_clients = false;
    world.tick();
    world.settle_for(30);
    assert_eq!(world.outcome, Some(Outcome::Finished));
}
