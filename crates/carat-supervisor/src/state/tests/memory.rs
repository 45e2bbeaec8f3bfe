//! Memory readings, and what follows.

use std::time::Duration;

use carat_policy::{MemoryLimit, ReforkRule};

use super::world::{WORKER_BYTES, World};
use super::{fixed, limited};
use crate::event::Event;
use crate::limits::Limits;

const REPLACED: &str = "worker will be replaced";
const SHORTAGE: &str = "no memory for more workers (memory)";

/// A server with memory for `fitting` workers, and the process id of the first one.
fn with_room(workers: u32, fitting: u64) -> (World, u32) {
    let world = World::of(limited(workers, fitting));
    let pid = world.serving_pids()[0];
    (world, pid)
}

fn with_worker_memory(workers: u32) -> World {
    let worker_memory = Some(2 * WORKER_BYTES);
    World::of(Limits {
        worker_memory,
        ..fixed(workers)
    })
}

/// A server with memory for five workers, whose clients may take as much as two of them.
fn with_clients(workers: u32) -> World {
    let client_memory = 2 * WORKER_BYTES;
    World::of(Limits {
        client_memory,
        ..limited(workers, 5)
    })
}

/// A worker that has served, and its size.
fn grow(world: &mut World, pid: u32, requests: u64, bytes: u64) {
    let process = world.process(pid);
    (process.requests, process.bytes) = (requests, bytes);
}

#[test]
fn no_more_workers_run_than_fit_and_the_log_says_so_once() {
    let (mut world, _) = with_room(4, 2);
    assert_eq!(world.workers(), 2);
    world.settle();
    assert_eq!(world.count(SHORTAGE), 0);
    let mut fresh = World::new(world.limits);
    fresh.settle();
    assert_eq!(fresh.count(SHORTAGE), 1);
    assert_eq!(with_room(2, 0).0.workers(), 1, "one, whatever the budget");
}

#[test]
fn waiting_requests_get_no_second_worker_while_the_garbage_of_the_first_is_unknown() {
    let mut limits = limited(1, 3);
    limits.elastic.max = 2;
    limits.elastic.queue_time_target = Duration::from_millis(5);
    let mut world = World::of(limits);
    world.demand.queue_time = Duration::from_secs(1);
    world.demand.waiting = 9;
    world.settle();
    assert_eq!(world.workers(), 1);
    let pid = world.serving_pids()[0];
    world.process(pid).requests = 500;
    world.read(1);
    world.settle();
    assert_eq!(world.workers(), 2);
}

#[test]
fn a_worker_that_fits_only_until_it_has_grown_is_tried_ever_more_seldom() {
    let (mut world, small) = with_room(2, 2);
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
        world.read(1);
        world.settle_for(2);
        assert!(world.workers() > 0);
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
    grow(&mut world, pid, 500, 3 * WORKER_BYTES);
    world.read(2);
    assert_eq!(world.count(REPLACED), 0);
    world.read(1);
    assert_eq!(world.count(REPLACED), 1);
    world.settle();
    assert!(world.workers() == 2 && !world.processes.contains_key(&pid));
}

#[test]
fn a_worker_that_a_collection_makes_small_enough_is_not_replaced() {
    let mut world = with_worker_memory(2);
    let pid = world.serving_pids()[0];
    grow(&mut world, pid, 500, 3 * WORKER_BYTES);
    world.process(pid).collects_to = Some(WORKER_BYTES);
    world.read(9);
    world.settle();
    assert_eq!(world.count(REPLACED), 0);
    assert!(world.processes.contains_key(&pid));
}

#[test]
fn a_worker_that_a_collection_does_not_help_is_replaced_after_the_next_reading() {
    let mut world = with_worker_memory(2);
    let pid = world.serving_pids()[0];
    grow(&mut world, pid, 500, 3 * WORKER_BYTES);
    world.process(pid).collects_to = Some(3 * WORKER_BYTES);
    world.read(3);
    assert_eq!(world.count(REPLACED), 0);
    world.read(1);
    assert_eq!(world.count(REPLACED), 1);
    world.settle();
    assert!(!world.processes.contains_key(&pid));
}

#[test]
fn a_limit_that_workers_soon_exceed_is_logged_and_not_chased() {
    let mut world = with_worker_memory(1);
    for _ in 0..2 {
        let pid = world.serving_pids()[0];
        grow(&mut world, pid, 3, 3 * WORKER_BYTES);
        for _ in 0..3 {
            world.wait(Duration::from_secs(1));
            world.finish_reading();
        }
        world.settle_for(2);
    }
    let message = "workers soon exceed worker_memory: it is too small";
    assert_eq!((world.count(message), world.count(REPLACED)), (1, 1));
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
    world.read(3);
    world.start_newest();
    assert!(world.process(pids[0]).is_draining);
    // It holds a request for long, and the other one grows meanwhile.
    world.process(pids[1]).bytes = 3 * WORKER_BYTES;
    world.read(3);
    assert_eq!(world.count(REPLACED), 2);
}

#[test]
fn a_worker_that_just_ended_is_no_reason_to_report_a_shortage() {
    let (mut world, pid) = with_room(2, 2);
    world.kill(pid);
    world.tick();
    assert_eq!(world.count(SHORTAGE), 0);
    world.settle();
    assert_eq!(world.workers(), 2);
}

#[test]
fn a_worker_that_the_oom_killer_killed_is_named() {
    let (mut world, pid) = with_room(2, 2);
    world.oom_kills = 1;
    world.kill(pid);
    assert_eq!(world.count("worker was killed by the OOM killer"), 1);
    world.kill(world.serving_pids()[0]);
    assert_eq!(world.count("worker died"), 1, "the count did not rise");
}

#[test]
fn a_worker_that_took_over_forks_nobody_before_a_reading_includes_it() {
    let mut world = World::serving(limited(3, 4), ReforkRule::After(vec![100]));
    let (old, pids) = (world.mold_pids()[0], world.serving_pids());
    world.process(pids[0]).requests = 150;
    world.tick();
    world.start_newest();
    world.get_ready(pids[0]);
    assert!(world.process(old).is_told_to_end);
    world.commands.clear();
    world.process(pids[1]).is_busy = true;
    world.get_stuck(pids[1]);
    world.tick();
    assert_eq!(world.forks(), 0);
}

#[test]
fn a_new_mold_forks_nobody_before_a_reading_includes_it() {
    let (mut world, worker) = with_room(2, 2);
    world.kill(world.mold_pids()[0]);
    world.kill(worker);
    world.wait(Duration::from_secs(1));
    world.finish_reading();
    world.commands.clear();
    world.get_ready(world.mold_pids()[0]);
    assert_eq!(world.forks(), 0);
    for _ in 0..2 {
        world.tick();
        world.finish_reading();
    }
    assert_eq!(world.forks(), 1);
}

#[test]
fn a_flood_of_clients_costs_no_worker() {
    let mut world = with_clients(3);
    // The edge may weigh a little more than what it counted.
    world.client_bytes = 3 * WORKER_BYTES;
    world.read(5);
    assert_eq!((world.count(REPLACED), world.workers()), (0, 3));
    assert_eq!(with_clients(5).workers(), 3, "what they may take is kept");
}

#[test]
fn what_clients_may_take_follows_the_container_both_ways() {
    let limits = Limits {
        memory: MemoryLimit::Share(0.5),
        ..fixed(1)
    };
    let mut world = World::of(limits);
    let (large, small) = ((2 << 30, 107_374_182), (1 << 30, 53_687_091));
    for (container, expected) in [large, small, large] {
        world.container_limit = Some(container);
        world.read(3);
        assert_eq!(world.client_memory, Some(expected));
        // The container's limit may also have changed between the start of the edge and the first
        // reading of memory.
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
    let mut world = World::of(limits);
    for processors in [4, 2] {
        world.processors = processors;
        world.read(3);
        assert_eq!(world.state.limits().elastic.max, processors);
    }
    assert_eq!(world.files_divided_among, Some(2));
    world.send(Event::Scaled(world.state.limits().elastic.raised()));
    world.processors = 8;
    world.read(3);
    assert_eq!(world.state.limits().elastic.max, 3);
}
