//! The stop.

use std::time::Duration;

use carat_policy::ReforkRule;

use super::fixed;
use super::world::World;
use crate::command::{Command, Outcome};
use crate::event::Event;
use crate::exit_status::ExitStatus;

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
    let accepting = index_of(&world, |it| matches!(it, Command::StopAccepting(_)));
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
    let mut limits = fixed(1);
    limits.shutdown_timeout = Duration::from_millis(100);
    for is_stopping in [true, false] {
        let mut world = World::serving(limits, ReforkRule::Off);
        let pid = world.serving_pids()[0];
        world.demand.has_clients = false;
        if is_stopping {
            world.stop();
        } else {
            let worker = world.worker(pid);
            world.send(Event::Leaving(worker));
        }
        let took = killed_after(&mut world, pid);
        assert!(took >= Duration::from_secs(2), "{is_stopping} {took:?}");
    }
}

#[test]
fn a_worker_whose_request_outlasts_the_stop_is_told_to_end_without_it() {
    let mut world = serving(1);
    let pid = world.serving_pids()[0];
    let worker = world.worker(pid);
    world.process(pid).is_busy = true;
    world.demand.has_clients = false;
    world.stop();
    world.tick();
    world.wait(Duration::from_secs(30));
    assert!(world.commands.contains(&Command::EndNow(worker)));
    assert!(!world.process(pid).is_killed);
    let took = killed_after(&mut world, pid);
    assert!(
        took >= Duration::from_millis(1_900),
        "{took:?} after a tick"
    );
}

#[test]
fn workers_that_are_cut_off_do_not_wait_for_their_requests() {
    let mut world = serving(1);
    let worker = world.worker(world.serving_pids()[0]);
    world.stop();
    world.wait(Duration::from_secs(31));
    world.settle_for(10);
    assert!(world.commands.contains(&Command::EndNow(worker)));
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
