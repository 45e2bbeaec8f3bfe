//! How workers become molds.

use std::time::Duration;

use carat_policy::{MemoryLimit, ReforkRule};

use super::world::{EDGE_BYTES, MOLD_BYTES, WORKER_BYTES, World};
use super::{fixed, jobs};
use crate::command::Command;
use crate::event::Event;
use crate::limits::Limits;
use crate::ruby_process::RubyProcess;

fn after(requests: u64, limits: Limits) -> World {
    World::serving(limits, ReforkRule::After(vec![requests]))
}

/// Two workers, one of which served enough requests to become the mold.
fn due() -> (World, u32) {
    let mut world = after(100, fixed(2));
    let pid = world.serving_pids()[0];
    world.process(pid).requests = 150;
    (world, pid)
}

/// The same when the worker was just told to be the mold.
fn promoted() -> (World, u32) {
    let (mut world, pid) = due();
    for _ in 0..20 {
        world.settle_for(1);
        if world.count("worker becomes the next mold") > 0 {
            return (world, pid);
        }
    }
    panic!("no worker becomes the mold: {:?}", world.messages());
}

#[test]
fn the_busiest_worker_becomes_the_mold_and_the_others_are_replaced() {
    let (mut world, pid) = due();
    let old = world.mold_pids();
    world.settle();
    assert_eq!(world.mold_pids(), [pid]);
    assert!(!world.processes.contains_key(&old[0]));
    assert_eq!(world.serving_pids().len(), 2);
    assert_eq!(world.count("mold ended"), 1);
    let generations = world.state.processes().running();
    assert!(generations.iter().all(|process| process.generation == 2));
}

#[test]
fn a_worker_with_tunnels_does_not_become_the_mold() {
    let (mut world, pid) = due();
    world.process(pid).tunnels = 1;
    world.settle();
    assert_eq!(world.count("worker will be replaced"), 0);
    world.process(pid).tunnels = 0;
    world.settle();
    assert_eq!(world.mold_pids(), [pid]);
}

#[test]
fn a_worker_becomes_the_mold_only_after_its_successor_serves() {
    let (mut world, pid) = due();
    world.tick();
    assert_eq!(world.count("worker will be replaced"), 1);
    assert!(!world.process(pid).is_draining);
    world.settle_for(3);
    assert!(world.count("worker becomes the next mold") == 1);
    assert_eq!(world.serving_pids().len(), 2);
}

#[test]
fn no_worker_becomes_the_mold_while_there_is_no_memory_for_its_successor() {
    let mut limits = fixed(2);
    limits.memory = MemoryLimit::Bytes(EDGE_BYTES + MOLD_BYTES + 2 * WORKER_BYTES);
    let mut world = after(100, limits);
    let pid = world.serving_pids()[0];
    world.process(pid).requests = 150;
    world.settle();
    assert_eq!(world.count("worker will be replaced"), 0);
    assert!(world.serving_pids().contains(&pid));
}

#[test]
fn a_worker_that_grew_towards_its_limit_does_not_become_the_mold() {
    let mut limits = fixed(2);
    limits.worker_memory = Some(3 * WORKER_BYTES);
    let mut world = after(100, limits);
    let pids = world.serving_pids();
    world.process(pids[0]).bytes = 2 * WORKER_BYTES;
    world.wait(Duration::from_secs(6));
    world.finish_reading();
    world.process(pids[0]).requests = 500;
    world.process(pids[1]).requests = 150;
    world.settle();
    assert_eq!(world.mold_pids(), [pids[1]]);
}

#[test]
fn a_worker_with_threads_stays_and_is_asked_again_after_a_pause() {
    let (mut world, pid) = due();
    world.process(pid).has_threads = true;
    world.settle_for(5);
    assert_eq!(world.count("worker did not become the mold"), 1);
    assert_eq!(world.count("worker will be replaced"), 0);
    assert!(world.serving_pids().contains(&pid));

    world.process(pid).has_threads = false;
    world.settle_for(5);
    assert_eq!(world.count("worker will be replaced"), 0);
    world.wait(Duration::from_secs(60));
    world.settle();
    assert_eq!(world.mold_pids(), [pid]);
}

#[test]
fn a_worker_that_does_not_say_whether_it_could_be_the_mold_stays() {
    let (mut world, pid) = due();
    world.process(pid).is_mute = true;
    world.settle_for(5);
    assert_eq!(world.count("worker did not become the mold"), 0);
    world.wait(Duration::from_secs(60));
    assert_eq!(world.count("worker did not become the mold"), 1);
    assert_eq!(world.count("worker will be replaced"), 0);
    assert_eq!(world.serving_pids().len(), 2);
}

#[test]
fn a_worker_that_ends_before_it_says_so_is_forgotten() {
    let (mut world, pid) = due();
    world.process(pid).is_mute = true;
    world.tick();
    world.exit(pid, world.killed(), true);
    let other = world.serving_pids()[0];
    world.process(other).requests = 150;
    world.settle();
    assert_eq!(world.mold_pids(), [other]);
    assert_eq!(world.count("worker did not become the mold"), 0);
}

#[test]
fn a_generation_that_is_not_fork_safe_is_not_asked_again() {
    let (mut world, pid) = promoted();
    world.process(pid).is_told_to_end = true;
    let cause = "Ruby threads are left running".to_owned();
    world.send(Event::NotForkSafe {
        generation: 2,
        cause,
    });
    assert_eq!(world.count("worker did not become the mold"), 1);
    world.commands.clear();
    let pids = world.serving_pids();
    world.process(pids[0]).requests = 9000;
    world.settle_for(3000);
    assert_eq!(world.count("worker will be replaced"), 0);
    assert_eq!(world.serving_pids().len(), 2);
}

#[test]
fn a_candidate_that_closes_its_socket_is_killed_and_the_mold_stays() {
    let (mut world, pid) = promoted();
    world.process(pid).is_closed = true;
    world.send(Event::Closed(RubyProcess::Mold(2)));
    assert_eq!(world.count("worker did not become the mold"), 1);
    assert!(world.commands.contains(&Command::Kill { pid }));
    world.settle_for(20);
    assert_eq!(world.mold_pids().len(), 1);
    assert_eq!(
        world
            .state
            .processes()
            .molds
            .ready()
            .map(|it| it.generation),
        Some(1)
    );
}

#[test]
fn a_candidate_that_is_not_ready_in_time_is_killed() {
    let (mut world, pid) = promoted();
    world.wait(Duration::from_secs(61));
    assert_eq!(world.count("worker did not become the mold"), 1);
    assert!(world.process(pid).is_killed);
}

#[test]
fn a_promoted_worker_that_does_not_drain_in_time_ends_and_says_why() {
    let (mut world, pid) = due();
    world.process(pid).is_busy = true;
    world.tick();
    let successor = world.processes.keys().next_back().copied();
    let successor = successor.expect("a fork");
    world.say_hello(successor);
    world.get_ready(successor);
    world.tick();
    assert!(world.process(pid).is_draining);
    world.wait(Duration::from_secs(61));
    assert_eq!(world.count("worker did not become the mold"), 1);
    assert!(world.commands.contains(&Command::Terminate { pid }));
}

#[test]
fn no_mold_is_booted_while_a_worker_is_about_to_be_one() {
    let (mut world, pid) = promoted();
    let old = world.mold_pids();
    let old = old.iter().find(|it| **it != pid).copied();
    world.exit(old.expect("a mold"), world.killed(), true);
    world.commands.clear();
    world.wait(Duration::from_secs(2));
    let boots = world.commands.iter();
    let mut boots = boots.filter(|it| matches!(it, Command::BootMold { .. }));
    assert_eq!(boots.next(), None);
    world.settle();
    assert_eq!(world.mold_pids(), [pid]);
}

#[test]
fn a_stop_makes_no_worker_the_mold() {
    let (mut world, pid) = due();
    world.tick();
    world.stop();
    world.demand.has_clients = false;
    world.settle();
    assert_eq!(world.count("worker becomes the next mold"), 0);
    assert!(!world.processes.contains_key(&pid));
}

/// Two processes beside two workers, of which one becomes the mold. So much does sharing save each before and after.
fn reforked_with_apps(before: u64, after: u64) -> (World, Vec<u32>) {
    let rule = ReforkRule::After(vec![100]);
    let mut world = World::with_apps(fixed(2), rule, vec![jobs(2)]);
    world.saved = before;
    world.settle();
    world.wait(Duration::from_secs(60));
    world.finish_reading();
    world.commands.clear();
    let (worker, apps) = (world.serving_pids()[0], world.app_pids());
    for pid in &apps {
        world.process(*pid).is_busy = true;
    }
    world.process(worker).requests = 150;
    world.settle();
    assert_eq!(world.mold_pids(), [worker]);
    world.saved = after;
    world.wait(Duration::from_secs(60));
    world.finish_reading();
    (world, apps)
}

#[test]
fn processes_that_cease_to_share_move_to_the_new_mold_one_after_another() {
    let (mut world, apps) = reforked_with_apps(30 << 20, 20 << 20);
    let ending = |world: &World| {
        apps.iter()
            .map(|pid| world.processes[pid].is_told_to_end)
            .collect::<Vec<_>>()
    };
    assert_eq!(ending(&world), [true, false]);
    for pid in &apps {
        world.end(*pid);
        world.wait(Duration::from_secs(60));
    }
    assert_eq!(world.count("process moves to the new mold"), 2);
    let moved = world.app_pids();
    assert!(moved.len() == 2 && moved.iter().all(|pid| world.processes[pid].generation == 2));
}

#[test]
fn processes_that_share_as_much_after_a_refork_work_on() {
    let (world, apps) = reforked_with_apps(30 << 20, 25 << 20);
    assert_eq!(world.app_pids(), apps);
    assert_eq!(world.count("process moves to the new mold"), 0);
}
