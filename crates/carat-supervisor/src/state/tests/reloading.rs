//! How changed files are loaded while somebody works on them.

use carat_policy::ReforkRule;

use super::fixed;
use super::world::World;
use crate::command::Command;
use crate::event::Event;
use crate::limits::Limits;

fn reloading(workers: u32) -> Limits {
    Limits {
        reload: true,
        ..fixed(workers)
    }
}

/// A world whose files have changed.
fn changed(workers: u32) -> World {
    let mut world = World::serving(reloading(workers), ReforkRule::Off);
    world.send(Event::ReloadRequested);
    world.finish_settings(reloading(workers));
    world
}

/// What the dispatcher learned about reloads.
fn reports(world: &World) -> Vec<Result<(), String>> {
    let commands = world.commands.iter();
    let reports = commands.filter_map(|command| match command {
        Command::EndReload(result) => Some(result.clone()),
        _ => None,
    });
    reports.collect()
}

/// Ticks until this many reloads were reported.
fn settle_until(world: &mut World, count: usize) {
    for _ in 0..200 {
        if reports(world).len() >= count {
            return;
        }
        world.settle_for(1);
    }
    panic!("{count} reports: {:?}", world.messages());
}

#[test]
fn no_old_worker_gets_a_request_once_new_code_serves() {
    let mut world = changed(3);
    let old = world.serving_pids();
    world.process(old[0]).is_busy = true;
    settle_until(&mut world, 1);
    assert_eq!(reports(&world), [Ok(())]);
    let mut serving = world.serving_processes();
    assert!(serving.all(|(_, it)| it.generation == 2));
    drop(serving);
    world.settle();
    assert_eq!(world.serving_pids().len(), 3);
}

#[test]
fn a_request_of_old_code_does_not_delay_the_next_reload() {
    let mut world = changed(1);
    let old = world.serving_pids()[0];
    world.process(old).is_busy = true;
    settle_until(&mut world, 1);
    world.send(Event::ReloadRequested);
    world.finish_settings(reloading(1));
    settle_until(&mut world, 2);
    assert_eq!(reports(&world), [Ok(()), Ok(())]);
    assert_eq!(world.count("ending worker"), 0);
}

#[test]
fn changes_during_a_reload_are_reported_with_the_one_that_follows() {
    let mut world = changed(1);
    world.send(Event::ReloadRequested);
    world.send(Event::ReloadRequested);
    for _ in 0..200 {
        world.settle_for(1);
        if world.count("restarting") == 2 {
            break;
        }
    }
    assert_eq!((reports(&world), world.count("restarted")), (vec![], 1));
    world.finish_settings(reloading(1));
    settle_until(&mut world, 1);
    assert_eq!(
        (reports(&world), world.count("restarted")),
        (vec![Ok(())], 2)
    );
}

#[test]
fn code_that_cannot_be_loaded_is_reported_with_its_cause() {
    let mut world = World::serving(reloading(1), ReforkRule::Off);
    world.send(Event::ReloadRequested);
    let cause = "a.rb:1: wrong".to_owned();
    world.send(Event::SettingsFailed {
        cause: cause.clone(),
    });
    assert_eq!(reports(&world), [Err(cause)]);
}

#[test]
fn nobody_goes_back_from_a_reload() {
    let mut world = changed(2);
    settle_until(&mut world, 1);
    world.settle();
    assert_eq!(world.mold_pids().len(), 1);
    assert!(!world.state.may_roll_back());
}

#[test]
fn a_change_while_the_server_stops_leaves_the_requests_to_the_old_code() {
    let mut world = World::serving(reloading(1), ReforkRule::Off);
    world.stop();
    world.send(Event::ReloadRequested);
    assert_eq!(reports(&world), [Ok(())]);
    assert_eq!(world.count("restarting"), 0);
}

#[test]
fn a_restart_without_reload_is_not_reported() {
    let mut world = World::serving(fixed(1), ReforkRule::Off);
    world.send(Event::RestartRequested);
    world.finish_settings(fixed(1));
    world.settle_for(20);
    assert_eq!((reports(&world), world.count("restarted")), (vec![], 1));
}
