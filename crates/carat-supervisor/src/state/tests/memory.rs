//! Memory readings, and what follows.

use std::time::Duration;

use carat_policy::{MemoryLimit, ReforkRule};

use super::fixed;
use super::world::{EDGE_BYTES, MOLD_BYTES, WORKER_BYTES, World};
use crate::event::Event;

/// A server with room for this many workers beside the mold.
fn with_room(workers: u32, room: u64) -> World {
    let mut limits = fixed(workers);
    limits.memory = MemoryLimit::Bytes(EDGE_BYTES + MOLD_BYTES + room * WORKER_BYTES);
    World::serving(limits, ReforkRule::Off)
}

fn with_worker_memory(workers: u32) -> World {
    let mut limits = fixed(workers);
    limits.worker_memory = Some(2 * WORKER_BYTES);
    World::serving(limits, ReforkRule::Off)
}

/// Reads memory again, this many times.
fn read(world: &mut World, times: u32) {
    for _ in 0..times {
        world.wait(Duration::from_secs(6));
        world.finish_reading();
    }
}

#[test]
fn no_more_workers_run_than_fit_and_the_log_says_so_once() {
    let mut world = with_room(4, 2);
    assert_eq!(world.serving_pids().len(), 2);
    world.settle();
    assert_eq!(world.count("no memory for more workers (memory)"), 0);
    let mut fresh = World::new(world.limits);
    fresh.settle();
    assert_eq!(fresh.count("no memory for more workers (memory)"), 1);
}

#[test]
fn waiting_requests_get_no_second_worker_while_the_garbage_of_the_first_is_unknown() {
    let mut limits = fixed(1);
    limits.elastic.max = 2;
    limits.elastic.queue_time_target = Duration::from_millis(5);
    limits.memory = MemoryLimit::Bytes(EDGE_BYTES + MOLD_BYTES + 3 * WORKER_BYTES);
    let mut world = World::serving(limits, ReforkRule::Off);
    world.demand.queue_time = Duration::from_secs(1);
    world.demand.waiting = 9;
    world.settle();
    assert_eq!(world.serving_pids().len(), 1);
    let pid = world.serving_pids()[0];
    world.process(pid).requests = 500;
    read(&mut world, 1);
    world.settle();
    assert_eq!(world.serving_pids().len(), 2);
}

#[test]
fn one_worker_runs_whatever_the_budget() {
    let world = with_room(2, 0);
    assert_eq!(world.serving_pids().len(), 1);
}

#[test]
fn a_worker_that_fits_only_until_it_has_grown_is_tried_ever_more_seldom() {
    let mut world = with_room(2, 2);
    let small = world.serving_pids()[0];
    world.process(small).bytes = WORKER_BYTES * 19 / 20;
    let mut forks = Vec::new();
    for round in 0..300 {
        world.commands.clear();
        for pid in world.serving_pids() {
            world.process(pid).requests = 500;
            if pid != small {
                world.process(pid).bytes = WORKER_BYTES * 11 / 10;
            }
        }
        read(&mut world, 1);
        world.settle_for(2);
        assert!(!world.serving_pids().is_empty());
        if world.forks() > 0 {
            forks.push(round);
        }
    }
    assert_eq!(world.serving_pids().first(), Some(&small));
    assert!((3..=6).contains(&forks.len()), "{forks:?}");
}

#[test]
fn a_worker_that_grew_above_its_limit_is_replaced_after_three_readings() {
    let mut world = with_worker_memory(2);
    let pid = world.serving_pids()[0];
    world.process(pid).requests = 500;
    world.process(pid).bytes = 3 * WORKER_BYTES;
    read(&mut world, 2);
    assert_eq!(world.count("worker will be replaced"), 0);
    read(&mut world, 1);
    assert_eq!(world.count("worker will be replaced"), 1);
    world.settle();
    assert_eq!(world.serving_pids().len(), 2);
    assert!(!world.processes.contains_key(&pid));
}

#[test]
fn a_limit_that_workers_soon_exceed_is_logged_and_not_chased() {
    let mut world = with_worker_memory(1);
    for _ in 0..2 {
        let pid = world.serving_pids()[0];
        world.process(pid).requests = 3;
        world.process(pid).bytes = 3 * WORKER_BYTES;
        for _ in 0..3 {
            world.wait(Duration::from_secs(1));
            world.finish_reading();
        }
        world.settle_for(2);
    }
    let message = "workers soon exceed worker_memory: it is too small";
    assert_eq!(world.count(message), 1);
    assert_eq!(world.count("worker will be replaced"), 1);
}

#[test]
fn a_large_worker_is_replaced_while_another_one_drains() {
    let mut world = with_worker_memory(2);
    let pids = world.serving_pids();
    for pid in &pids {
        world.process(*pid).requests = 500;
        world.process(*pid).is_busy = true;
    }
    world.process(pids[0]).bytes = 3 * WORKER_BYTES;
    read(&mut world, 3);
    let successor = world.processes.keys().next_back().copied();
    let successor = successor.expect("a fork");
    world.say_hello(successor);
    world.get_ready(successor);
    world.tick();
    assert!(world.process(pids[0]).is_draining);
    // It holds a request for long, and the other one grows meanwhile.
    world.process(pids[1]).bytes = 3 * WORKER_BYTES;
    read(&mut world, 3);
    assert_eq!(world.count("worker will be replaced"), 2);
}

#[test]
fn a_worker_that_just_ended_is_no_reason_to_report_a_shortage() {
    let mut world = with_room(2, 2);
    let pid = world.serving_pids()[0];
    world.exit(pid, world.killed(), true);
    world.tick();
    assert_eq!(world.count("no memory for more workers (memory)"), 0);
    world.settle();
    assert_eq!(world.serving_pids().len(), 2);
}

#[test]
fn a_worker_and_a_mold_that_the_oom_killer_killed_are_named() {
    let mut world = with_room(2, 2);
    let pid = world.serving_pids()[0];
    world.oom_kills = 1;
    world.exit(pid, world.killed(), true);
    assert_eq!(world.count("worker was killed by the OOM killer"), 1);
    world.exit(world.serving_pids()[0], world.killed(), true);
    assert_eq!(world.count("worker died"), 1, "the count did not rise");
}

#[test]
fn a_worker_that_took_over_forks_nobody_before_a_reading_includes_it() {
    let mut limits = fixed(3);
    limits.memory = MemoryLimit::Bytes(EDGE_BYTES + MOLD_BYTES + 4 * WORKER_BYTES);
    let mut world = World::serving(limits, ReforkRule::After(vec![100]));
    let old = world.mold_pids()[0];
    let candidate = world.serving_pids()[0];
    let others = world.serving_pids().split_off(1);
    world.process(candidate).requests = 150;
    world.tick();
    let successor = world.processes.keys().next_back().copied();
    let successor = successor.expect("a fork");
    world.say_hello(successor);
    world.get_ready(successor);
    world.tick();
    world.get_ready(candidate);
    assert!(world.process(old).is_told_to_end);
    world.commands.clear();
    world.process(others[0]).is_busy = true;
    world.get_stuck(others[0]);
    world.tick();
    assert_eq!(world.forks(), 0);
}

#[test]
fn a_new_mold_forks_nobody_before_a_reading_includes_it() {
    let mut world = with_room(2, 2);
    let mold = world.mold_pids()[0];
    let worker = world.serving_pids()[0];
    world.exit(mold, world.killed(), true);
    world.exit(worker, world.killed(), true);
    world.wait(Duration::from_secs(1));
    world.finish_reading();
    let mold = world.mold_pids()[0];
    world.commands.clear();
    world.get_ready(mold);
    assert_eq!(world.forks(), 0);
    world.tick();
    world.finish_reading();
    world.tick();
    world.finish_reading();
    assert_eq!(world.forks(), 1);
}

#[test]
fn a_flood_of_clients_costs_no_worker() {
    let mut limits = fixed(3);
    limits.client_memory = 2 * WORKER_BYTES;
    limits.memory = MemoryLimit::Bytes(EDGE_BYTES + MOLD_BYTES + 5 * WORKER_BYTES);
    let mut world = World::serving(limits, ReforkRule::Off);
    assert_eq!(world.serving_pids().len(), 3);
    // The edge may weigh a little more than what it counted.
    world.client_bytes = 3 * WORKER_BYTES;
    read(&mut world, 5);
    assert_eq!(world.count("worker will be replaced"), 0);
    assert_eq!(world.serving_pids().len(), 3);
}

#[test]
fn what_clients_may_take_follows_the_container_both_ways() {
    let mut limits = fixed(1);
    limits.memory = MemoryLimit::Share(0.5);
    let mut world = World::serving(limits, ReforkRule::Off);
    for (container, expected) in [
        (2 << 30, 107_374_182),
        (1 << 30, 53_687_091),
        (2 << 30, 107_374_182),
    ] {
        world.container_limit = Some(container);
        read(&mut world, 3);
        assert_eq!(world.client_memory, Some(expected));
        // Since the edge has computed it, and before memory was first read.
        let mut starting = World::new(limits);
        starting.container_limit = Some(container);
        starting.settle();
        assert_eq!(starting.client_memory, Some(expected));
    }
}

#[test]
fn the_number_of_workers_follows_the_processors_unless_somebody_chose_it() {
    let mut limits = fixed(1);
    limits.elastic.follows_processors = true;
    let mut world = World::serving(limits, ReforkRule::Off);
    for (processors, max) in [(4, 4), (2, 2)] {
        world.processors = processors;
        read(&mut world, 3);
        assert_eq!(world.state.limits().elastic.max, max);
    }
    assert_eq!(world.files_divided_among, Some(2));
    world.send(Event::Scaled(world.state.limits().elastic.raised()));
    world.processors = 8;
    read(&mut world, 3);
    assert_eq!(world.state.limits().elastic.max, 3);
}

#[test]
fn what_clients_may_take_is_reserved_before_they_do() {
    let mut limits = fixed(5);
    limits.client_memory = 2 * WORKER_BYTES;
    limits.memory = MemoryLimit::Bytes(EDGE_BYTES + MOLD_BYTES + 5 * WORKER_BYTES);
    let world = World::serving(limits, ReforkRule::Off);
    assert_eq!(world.serving_pids().len(), 3);
}
