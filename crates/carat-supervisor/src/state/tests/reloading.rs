//! How changed files are loaded while somebody works on them.

use std::time::Duration;

use super::fixed;
use super::world::World;
use crate::command::{ClientsCommand, Command};
use crate::event::{Event, RestartEvent};
use crate::limits::Limits;

fn reloading(workers: u32) -> Limits {
    Limits {
        replaces_at_once: true,
        ..fixed(workers)
    }
}

/// A world whose files have changed.
fn changed(workers: u32) -> World {
    let mut world = World::of(reloading(workers));
    change(&mut world, workers);
    world
}

fn change(world: &mut World, workers: u32) {
    world.send(Event::Restart(RestartEvent::CodeChanged));
    world.finish_settings(reloading(workers));
}

/// The results of reloads that the dispatcher was told.
fn reports(world: &World) -> Vec<Result<(), String>> {
    let result = |command: &Command| {
        if let Command::Clients(ClientsCommand::EndRestart(result)) = command {
            Some(result.clone())
        } else {
            None
        }
    };
    world.commands.iter().filter_map(result).collect()
}

#[test]
fn a_stop_does_not_wait_for_a_request_at_the_prompt_of_a_debugger() {
    let mut world = World::of(reloading(1));
    let pid = world.serving_pids()[0];
    world.process(pid).is_busy = true;
    world.stop();
    world.wait(Duration::from_millis(1100));
    assert!(world.has(&Command::Clients(ClientsCommand::CutOff)));
    assert_eq!(world.count("requests were still running"), 1);
    world.settle_for(10);
    assert!(world.outcome.is_some());
}

#[test]
fn no_old_worker_gets_a_request_once_new_code_serves() {
    let mut world = changed(3);
    let old = world.serving_pids();
    world.process(old[0]).is_busy = true;
    world.settle_while(|world| reports(world).is_empty());
    assert_eq!(reports(&world), [Ok(())]);
    assert!(world.generations().iter().all(|it| *it == 2));
    world.settle();
    assert_eq!(world.workers(), 3);
    assert_eq!(world.mold_pids().len(), 1);
    assert!(!world.state.may_roll_back(), "nobody goes back from it");
}

#[test]
fn a_request_of_old_code_does_not_delay_the_next_reload() {
    let mut world = changed(1);
    let old = world.serving_pids()[0];
    world.process(old).is_busy = true;
    world.settle_while(|world| reports(world).is_empty());
    change(&mut world, 1);
    world.settle_while(|world| reports(world).len() < 2);
    assert_eq!(reports(&world), [Ok(()), Ok(())]);
    assert_eq!(world.count("ending worker"), 0);
}

#[test]
fn changes_during_a_reload_are_reported_with_the_one_that_follows() {
    let mut world = changed(1);
    world.send(Event::Restart(RestartEvent::CodeChanged));
    world.send(Event::Restart(RestartEvent::CodeChanged));
    world.settle_while(|world| world.count("restarting") < 2);
    assert_eq!((reports(&world).len(), world.count("restarted")), (0, 1));
    world.finish_settings(reloading(1));
    world.settle_while(|world| reports(world).is_empty());
    assert_eq!(reports(&world), [Ok(())]);
    assert_eq!(world.count("restarted"), 2);
}

#[test]
fn code_that_cannot_be_loaded_is_reported_with_its_cause() {
    let mut world = World::of(reloading(1));
    world.send(Event::Restart(RestartEvent::CodeChanged));
    let cause = "a.rb:1: wrong".to_owned();
    let failed = Err(cause.clone());
    world.send(Event::Restart(RestartEvent::SettingsFailed { cause }));
    assert_eq!(reports(&world), [failed]);
}

#[test]
fn a_change_while_the_server_stops_leaves_the_requests_to_the_old_code() {
    let mut world = World::of(reloading(1));
    world.stop();
    world.send(Event::Restart(RestartEvent::CodeChanged));
    assert_eq!(reports(&world), [Ok(())]);
    assert_eq!(world.count("restarting"), 0);
}

#[test]
fn a_restart_without_reload_is_not_reported() {
    let mut world = World::of(fixed(1));
    world.send(Event::Restart(RestartEvent::Requested));
    world.finish_settings(fixed(1));
    world.settle_for(20);
    assert_eq!((reports(&world).len(), world.count("restarted")), (0, 1));
}
