//! The stop.

use std::time::Duration;

use carat_policy::ReforkRule;

use super::fixed;
use super::world::World;
use crate::supervise::command::{Command, Outcome};
use crate::supervise::exit_status::ExitStatus;

fn serving(workers: u32) -> World {
    World::serving(fixed(workers), ReforkRule::Off)
}

/// Where a command is among those so far.
fn index_of(world: &World, wanted: impl Fn(&Command) -> bool) -> usize {
    let index = world.commands.iter().position(wanted);
    index.expect("the command was given")
}

#[test]
fn the_requests_finish_then_the_workers_end_then_the_mold() {
    let mut world = serving(2);
    world.stop();
    world.settle_for(5);
    assert_eq!(
        world.count("worker ends with the server"),
        0,
        "clients wait"
    );
    world.demand.has_clients = false;
    world.settle();
    assert_eq!(world.outcome, Some(Outcome::Finished));
    assert_eq!(world.count("worker ends with the server"), 2);
    let accepting = index_of(&world, |it| *it == Command::StopAccepting);
    let workers = index_of(&world, |it| matches!(it, Command::End(_)));
    let mold = index_of(&world, |it| matches!(it, Command::EndWithServer { .. }));
    assert!(accepting < workers && workers < mold);
    assert_eq!(world.count("worker died"), 0);
}

#[test]
fn a_worker_that_leaves_while_a_client_waits_is_replaced() {
    let mut world = serving(1);
    world.stop();
    let pid = world.serving_pids()[0];
    world.exit(pid, ExitStatus::Exited(0), true);
    world.settle_for(5);
    assert_eq!(world.serving_pids().len(), 1);
    assert_eq!(world.outcome, None);
}

#[test]
fn a_signal_that_comes_twice_at_once_is_one_signal() {
    let mut world = serving(1);
    world.stop();
    world.now += Duration::from_millis(100);
    world.stop();
    assert_eq!(world.outcome, None);
    world.now += Duration::from_millis(200);
    world.stop();
    assert_eq!(world.outcome, Some(Outcome::Cut));
}

#[test]
fn after_shutdown_timeout_the_clients_are_cut_off_and_the_workers_end() {
    let mut world = serving(1);
    world.stop();
    world.wait(Duration::from_secs(31));
    assert!(world.commands.contains(&Command::CutOffClients));
    world.settle();
    assert_eq!(world.outcome, Some(Outcome::Finished));
}

#[test]
fn a_worker_that_does_not_end_is_killed_and_the_server_ends_in_time() {
    let mut world = serving(1);
    let pid = world.serving_pids()[0];
    world.process(pid).is_busy = true;
    world.stop();
    let start = world.now;
    for _ in 0..600 {
        if world.outcome.is_none() {
            world.tick();
        }
    }
    let took = world.now - start;
    assert!(
        took <= Duration::from_millis(30_000 + 4_250 + 300),
        "{took:?}"
    );
    assert!(world.commands.contains(&Command::Kill { pid }));
    let unfinished = "mold killed: its at_exit blocks did not finish in time";
    assert_eq!(world.count(unfinished), 1);
}

#[test]
fn a_worker_that_has_not_booted_is_not_waited_for() {
    let mut world = World::new(fixed(1));
    world.tick();
    world.get_ready(100);
    world.stop();
    world.demand.has_clients = false;
    world.tick();
    world.settle_for(30);
    assert_eq!(world.outcome, Some(Outcome::Finished));
}

#[test]
fn nothing_happens_after_the_end() {
    let mut world = serving(1);
    world.stop();
    world.demand.has_clients = false;
    world.settle();
    world.commands.clear();
    for pid in world.processes.keys().copied().collect::<Vec<_>>() {
        world.end(pid);
    }
    world.wait(Duration::from_secs(60));
    assert_eq!(world.commands, []);
}
