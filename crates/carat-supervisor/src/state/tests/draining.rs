//! The time between the request to stop and the stop.

use std::time::Duration;

use super::fixed;
use super::world::World;
use crate::command::{ClientsCommand, Command, Outcome};
use crate::event::{Event, RestartEvent};
use crate::limits::Limits;

const DELAY: Duration = Duration::from_secs(10);

fn limits(workers: u32) -> Limits {
    let drain_delay = DELAY;
    Limits {
        drain_delay,
        ..fixed(workers)
    }
}

/// A world that was told to stop, and has no client.
fn draining(workers: u32) -> World {
    let mut world = World::of(limits(workers));
    world.demand.has_clients = false;
    world.stop();
    world
}

#[test]
fn the_server_serves_for_the_delay_and_then_stops() {
    let mut world = draining(2);
    assert!(world.has(&Command::Clients(ClientsCommand::TurnAway)));
    assert_eq!(world.state.phase_name(), "draining");
    assert_eq!(world.state.draining_for(world.now), Some(DELAY));
    world.die(world.serving_pids()[0]);
    world.settle_for(20);
    assert_eq!((world.workers(), &world.outcome), (2, &None));
    world.wait(Duration::from_millis(7_500));
    assert!(world.workers() == 2 && !world.is_accepting_over());
    world.wait(Duration::from_secs(1));
    assert!(world.is_accepting_over());
    world.assert_finishes();
}

#[test]
fn a_second_signal_cuts_the_delay_short_and_a_third_one_the_stop() {
    let mut world = draining(1);
    world.demand.has_clients = true;
    for (pause, is_over, outcome) in [
        (100, false, None), // the same signal
        (200, true, None),
        (300, true, Some(Outcome::Cut)),
    ] {
        world.now += Duration::from_millis(pause);
        world.stop();
        assert_eq!(world.is_accepting_over(), is_over);
        assert_eq!(world.outcome, outcome);
    }
}

#[test]
fn requests_have_shutdown_timeout_after_the_delay() {
    let mut world = draining(1);
    world.demand.has_clients = true;
    let (start, end) = (world.now, DELAY + fixed(1).shutdown_timeout);
    while !world.has(&Command::Clients(ClientsCommand::CutOff)) {
        world.tick();
        assert!(world.now - start <= end + Duration::from_millis(300));
    }
    assert!(world.now - start >= end);
}

#[test]
fn a_server_that_is_not_ready_yet_stops_at_once() {
    let mut world = World::new(limits(1));
    world.tick();
    world.stop();
    assert!(!world.has(&Command::Clients(ClientsCommand::TurnAway)) && world.is_accepting_over());
}

#[test]
fn no_restart_begins_or_goes_on_during_the_delay() {
    let mut world = World::of(limits(1));
    world.send(Event::Restart(RestartEvent::Requested));
    world.stop();
    assert_eq!(world.failure(), "the server stops");
    world.send(Event::Restart(RestartEvent::Requested));
    assert_eq!(world.state.restarts().stage(), None);
}

#[test]
fn the_time_that_a_stop_takes_has_the_delay_in_it_once() {
    let timeout = fixed(1).shutdown_timeout;
    let serving = World::of(limits(1));
    assert_eq!(serving.state.stops_within(), DELAY + timeout);
    assert_eq!(draining(1).state.stops_within(), timeout);
}
