//! The time between the request to stop and the stop.

use std::time::Duration;

use carat_policy::ReforkRule;

use super::fixed;
use super::world::World;
use crate::command::{Command, Outcome};
use crate::event::Event;
use crate::exit_status::ExitStatus;
use crate::limits::Limits;
use crate::state::RestartReport;

const DELAY: Duration = Duration::from_secs(10);

fn limits(workers: u32) -> Limits {
    let mut limits = fixed(workers);
    limits.drain_delay = DELAY;
    limits
}

/// A world that was told to stop, and has no client.
fn draining(workers: u32) -> World {
    let mut world = World::serving(limits(workers), ReforkRule::Off);
    world.demand.has_clients = false;
    world.stop();
    world
}

fn has(world: &World, command: &Command) -> bool {
    world.commands.contains(command)
}

#[test]
fn the_server_serves_for_the_delay_and_then_stops() {
    let mut world = draining(2);
    assert!(has(&world, &Command::TurnAway));
    assert_eq!(world.state.phase_name(), "draining");
    assert_eq!(world.state.draining_for(world.now), Some(DELAY));
    world.wait(Duration::from_millis(9_500));
    assert_eq!(world.serving_pids().len(), 2);
    assert!(!world.is_accepting_over());
    world.wait(Duration::from_secs(1));
    assert!(world.is_accepting_over());
    world.settle();
    assert_eq!(world.outcome, Some(Outcome::Finished));
}

#[test]
fn a_second_signal_cuts_the_delay_short_and_a_third_one_the_stop() {
    let mut world = draining(1);
    world.demand.has_clients = true;
    world.now += Duration::from_millis(100);
    world.stop();
    assert!(!world.is_accepting_over(), "the same signal");
    world.now += Duration::from_millis(200);
    world.stop();
    assert!(world.is_accepting_over());
    assert_eq!(world.outcome, None);
    world.now += Duration::from_millis(300);
    world.stop();
    assert_eq!(world.outcome, Some(Outcome::Cut));
}

#[test]
fn a_worker_that_dies_during_the_delay_is_replaced() {
    let mut world = draining(2);
    let pid = world.serving_pids()[0];
    world.exit(pid, ExitStatus::Exited(1), true);
    world.settle_for(20);
    assert_eq!(world.serving_pids().len(), 2);
    assert_eq!(world.outcome, None);
}

#[test]
fn requests_have_shutdown_timeout_after_the_delay() {
    let mut world = draining(1);
    world.demand.has_clients = true;
    let (start, timeout) = (world.now, fixed(1).shutdown_timeout);
    while !has(&world, &Command::CutOffClients) {
        world.tick();
        assert!(world.now - start < Duration::from_secs(60), "never");
    }
    let took = world.now - start;
    assert!(took >= DELAY + timeout, "{took:?}");
    assert!(
        took <= DELAY + timeout + Duration::from_millis(300),
        "{took:?}"
    );
}

#[test]
fn a_server_that_is_not_ready_yet_stops_at_once() {
    let mut world = World::new(limits(1));
    world.tick();
    world.stop();
    assert!(!has(&world, &Command::TurnAway));
    assert!(world.is_accepting_over());
}

#[test]
fn no_restart_begins_or_goes_on_during_the_delay() {
    let mut world = World::serving(limits(1), ReforkRule::Off);
    world.send(Event::RestartRequested);
    world.stop();
    let report = world.state.restarts().report(1);
    let stopped = RestartReport::Failed("the server stops".to_owned());
    assert_eq!(report, Some(stopped));
    world.send(Event::RestartRequested);
    assert_eq!(world.state.restarts().stage(), None);
}

#[test]
fn the_time_that_a_stop_takes_has_the_delay_in_it_once() {
    let timeout = fixed(1).shutdown_timeout;
    let world = World::serving(limits(1), ReforkRule::Off);
    assert_eq!(world.state.stops_within(), DELAY + timeout);
    assert_eq!(draining(1).state.stops_within(), timeout);
}
