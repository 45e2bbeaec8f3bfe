//! How workers become molds.

use std::time::Duration;

use carat_policy::ReforkRule;
use carat_settings::ProcessSettings;

use super::world::{FakeProcess, MIB, WORKER_BYTES, World};
use super::{fixed, jobs, limited};
use crate::command::{Command, MoldCommand};
use crate::event::{Event, ProcessEvent};
use crate::limits::Limits;
use crate::ruby_process::RubyProcess;

const REPLACED: &str = "worker will be replaced";
const PROMOTED: &str = "worker becomes the next mold";
const FAILED: &str = "worker did not become the mold";

/// A world in which one worker served enough requests to become the mold.
fn due_with(limits: Limits) -> (World, u32) {
    let mut world = World::serving(limits, ReforkRule::After(vec![100]));
    let pid = world.serving_pids()[0];
    world.process(pid).requests = 150;
    (world, pid)
}

/// Two workers, one of which is due.
fn due() -> (World, u32) {
    due_with(fixed(2))
}

/// Two workers, one of which was just told to become the mold.
fn promoted() -> (World, u32) {
    let (mut world, pid) = due();
    world.settle_until(PROMOTED);
    (world, pid)
}

#[test]
fn the_busiest_worker_becomes_the_mold_and_the_others_are_replaced() {
    let (mut world, pid) = due();
    let old = world.mold_pids()[0];
    world.tick();
    assert_eq!(world.count(REPLACED), 1);
    let holds = !world.process(pid).is_draining;
    assert!(holds, "before its successor serves");
    world.settle_for(3);
    assert_eq!((world.count(PROMOTED), world.workers()), (1, 2));
    world.settle();
    assert_eq!((world.mold_pids(), world.workers()), (vec![pid], 2));
    assert!(!world.processes.contains_key(&old));
    assert_eq!(world.count("mold ended"), 1);
    let running = world.state.processes().running();
    assert!(running.iter().all(|process| process.generation == 2));
}

#[test]
fn a_worker_with_tunnels_does_not_become_the_mold() {
    let (mut world, pid) = due();
    world.process(pid).tunnels = 1;
    world.settle();
    assert_eq!(world.count(REPLACED), 0);
    world.process(pid).tunnels = 0;
    world.settle();
    assert_eq!(world.mold_pids(), [pid]);
}

#[test]
fn no_worker_becomes_the_mold_while_there_is_no_memory_for_its_successor() {
    let (mut world, pid) = due_with(limited(2, 2));
    world.settle();
    assert_eq!(world.count(REPLACED), 0);
    assert!(world.serving_pids().contains(&pid));
}

#[test]
fn a_worker_that_grew_towards_its_limit_does_not_become_the_mold() {
    let worker_memory = Some(3 * WORKER_BYTES);
    let (mut world, large) = due_with(Limits {
        worker_memory,
        ..fixed(2)
    });
    world.process(large).requests = 0;
    world.process(large).bytes = 2 * WORKER_BYTES;
    world.read(1);
    let small = world.serving_pids()[1];
    world.process(large).requests = 500;
    world.process(small).requests = 150;
    world.settle();
    assert_eq!(world.mold_pids(), [small]);
}

#[test]
fn a_worker_with_threads_stays_and_is_asked_again_after_a_pause() {
    let (mut world, pid) = due();
    for has_threads in [true, false] {
        world.process(pid).has_threads = has_threads;
        world.settle_for(5);
        assert_eq!((world.count(FAILED), world.count(REPLACED)), (1, 0));
        assert!(world.serving_pids().contains(&pid));
    }
    world.wait(Duration::from_secs(60));
    world.settle();
    assert_eq!(world.mold_pids(), [pid]);
}

#[test]
fn a_worker_that_does_not_say_whether_it_could_be_the_mold_stays() {
    let (mut world, pid) = due();
    world.process(pid).is_mute = true;
    world.settle_for(5);
    assert_eq!(world.count(FAILED), 0);
    world.wait(Duration::from_secs(60));
    assert_eq!((world.count(FAILED), world.count(REPLACED)), (1, 0));
    assert_eq!(world.workers(), 2);
}

#[test]
fn a_worker_that_ends_before_it_says_so_is_forgotten() {
    let (mut world, pid) = due();
    world.process(pid).is_mute = true;
    world.tick();
    world.kill(pid);
    let other = world.serving_pids()[0];
    world.process(other).requests = 150;
    world.settle();
    assert_eq!((world.mold_pids(), world.count(FAILED)), (vec![other], 0));
}

#[test]
fn a_generation_that_is_not_fork_safe_is_not_asked_again() {
    let (mut world, pid) = promoted();
    world.process(pid).is_told_to_end = true;
    let (generation, cause) = (2, "Ruby threads are left running".to_owned());
    world.send(Event::Process(ProcessEvent::NotForkSafe {
        generation,
        cause,
    }));
    assert_eq!(world.count(FAILED), 1);
    world.commands.clear();
    let pid = world.serving_pids()[0];
    world.process(pid).requests = 9000;
    world.settle_for(3000);
    assert_eq!((world.count(REPLACED), world.workers()), (0, 2));
}

#[test]
fn a_candidate_that_closes_its_socket_is_killed_and_the_mold_stays() {
    let (mut world, pid) = promoted();
    world.process(pid).is_closed = true;
    world.send(Event::Process(ProcessEvent::Closed(RubyProcess::Mold(2))));
    assert_eq!(world.count(FAILED), 1);
    assert!(world.has(&Command::Kill { pid }));
    world.settle_for(20);
    assert_eq!(world.mold_pids().len(), 1);
    let mold = world.state.processes().molds.ready();
    assert_eq!(mold.map(|it| it.generation), Some(1));
}

#[test]
fn a_candidate_that_is_not_ready_in_time_is_killed() {
    let (mut world, pid) = promoted();
    world.wait(Duration::from_secs(61));
    assert_eq!(world.count(FAILED), 1);
    assert!(world.process(pid).is_killed);
}

#[test]
fn a_promoted_worker_that_does_not_drain_in_time_ends_and_says_why() {
    let (mut world, pid) = due();
    world.process(pid).is_busy = true;
    world.tick();
    world.start_newest();
    assert!(world.process(pid).is_draining);
    world.wait(Duration::from_secs(61));
    assert_eq!(world.count(FAILED), 1);
    assert!(world.has(&Command::Terminate { pid }));
}

#[test]
fn no_mold_is_booted_while_a_worker_is_about_to_be_one() {
    let (mut world, pid) = promoted();
    let molds = world.mold_pids();
    let old = molds.iter().find(|it| **it != pid);
    world.kill(*old.expect("a mold"));
    world.commands.clear();
    world.wait(Duration::from_secs(2));
    let mut commands = world.commands.iter();
    assert!(!commands.any(|it| matches!(it, Command::Mold(MoldCommand::Boot { .. }))));
    world.settle();
    assert_eq!(world.mold_pids(), [pid]);
}

#[test]
fn a_stop_makes_no_worker_the_mold() {
    let (mut world, pid) = due();
    world.tick();
    world.stop();
    world.assert_finishes();
    assert_eq!(world.count(PROMOTED), 0);
    assert!(!world.processes.contains_key(&pid));
}

/// Memory is read after a minute.
fn read(world: &mut World) {
    world.wait(Duration::from_secs(60));
    world.finish_reading();
}

/// A world with two workers, one of which becomes the mold, and two further processes. Sharing saves each of these
/// `before` bytes before the refork, and `after` bytes after it.
fn reforked_with_apps(overlap: bool, before: u64, after: u64) -> (World, Vec<u32>) {
    let rule = ReforkRule::After(vec![100]);
    let apps = ProcessSettings { overlap, ..jobs(2) };
    let mut world = World::with_apps(fixed(2), rule, vec![apps]);
    world.most_apps += u32::from(overlap);
    world.saved = before;
    world.settle();
    read(&mut world);
    world.commands.clear();
    let (worker, apps) = (world.serving_pids()[0], world.app_pids());
    for pid in &apps {
        world.process(*pid).is_busy = true;
    }
    world.process(worker).requests = 150;
    world.settle();
    assert_eq!(world.mold_pids(), [worker]);
    world.saved = after;
    read(&mut world);
    (world, apps)
}

const MOVES: &str = "process moves to the new mold";

#[test]
fn processes_that_cease_to_share_move_to_the_new_mold_once_another_one_runs() {
    let (mut world, apps) = reforked_with_apps(true, 30 * MIB, 20 * MIB);
    for pid in &apps {
        world.process(*pid).is_busy = false;
    }
    for _ in 0..300 {
        let apps = world
            .app_pids()
            .into_iter()
            .map(|pid| &world.processes[&pid]);
        let works = |it: &&FakeProcess| it.is_ready && !it.is_told_to_end;
        assert!(apps.filter(works).count() >= 2, "{world:#?}");
        world.settle_for(1);
    }
    assert_eq!(world.count(MOVES), 2);
    let moved = world.app_pids();
    assert!(moved.len() == 2 && moved.iter().all(|pid| world.processes[pid].generation == 2));
}

#[test]
fn processes_that_share_as_much_after_a_refork_or_may_not_overlap_work_on() {
    for (overlap, after) in [(true, 25 * MIB), (false, 0)] {
        let (world, apps) = reforked_with_apps(overlap, 30 * MIB, after);
        assert_eq!(world.app_pids(), apps);
        assert_eq!(world.count(MOVES), 0);
    }
}
