//! How new code takes over.

use std::time::Duration;

use carat_policy::{MemoryLimit, ReforkRule};

use super::fixed;
use super::world::{EDGE_BYTES, MOLD_BYTES, WORKER_BYTES, World};
use crate::command::{BootSettings, Command, Outcome};
use crate::event::Event;
use crate::ruby_process::RubyProcess;
use crate::state::RestartReport;

fn serving(workers: u32) -> World {
    World::serving(fixed(workers), ReforkRule::Off)
}

/// A world whose restart has begun and has the configuration.
fn restarting(workers: u32) -> World {
    let mut world = serving(workers);
    world.send(Event::RestartRequested);
    world.finish_settings(fixed(workers));
    world
}

/// The generations of the workers that serve.
fn generations(world: &World) -> Vec<u32> {
    world
        .serving_processes()
        .map(|(_, it)| it.generation)
        .collect()
}

fn report(world: &World) -> RestartReport {
    let number = world.state.restarts().latest();
    world.state.restarts().report(number).expect("a restart")
}

fn failed(world: &World) -> String {
    match report(world) {
        RestartReport::Failed(cause) => cause,
        other => panic!("{other:?}"),
    }
}

/// Ticks until the message is logged.
fn settle_until(world: &mut World, message: &str) {
    for _ in 0..200 {
        if world.count(message) > 0 {
            return;
        }
        world.settle_for(1);
    }
    panic!("{message}: {:?}", world.messages());
}

#[test]
fn workers_of_a_new_mold_replace_all_others_and_the_old_mold_ends_later() {
    let mut world = restarting(3);
    settle_until(&mut world, "restarted");
    assert_eq!(generations(&world), [2, 2, 2]);
    assert_eq!(report(&world), RestartReport::Done);
    assert_eq!(world.mold_pids().len(), 2, "the previous mold is kept");
    world.settle_for(650);
    assert_eq!(world.mold_pids().len(), 1);
    let end = Command::EndWithServer { generation: 1 };
    assert!(world.commands.contains(&end));
}

#[test]
fn the_new_mold_boots_with_the_new_settings_which_hold_when_it_takes_over() {
    let mut world = serving(2);
    world.send(Event::RestartRequested);
    world.finish_settings(fixed(3));
    world.settle();
    let boot = Command::BootMold {
        generation: 2,
        settings: BootSettings::New,
    };
    assert!(world.commands.contains(&boot));
    assert!(world.commands.contains(&Command::Adopt { generation: 2 }));
    assert_eq!(generations(&world), [2, 2, 2]);
}

#[test]
fn a_mold_that_cannot_load_leaves_the_old_workers() {
    let mut world = restarting(2);
    world.settle_for(1);
    let before = world.serving_pids();
    world.send(Event::BootFailed {
        process: RubyProcess::Mold(2),
        cause: "config.ru:1: broken".to_owned(),
    });
    world.settle();
    assert_eq!(failed(&world), "config.ru:1: broken");
    assert_eq!((world.serving_pids(), world.mold_pids().len()), (before, 1));
}

#[test]
fn a_mold_that_does_not_load_in_time_is_killed() {
    let mut world = restarting(1);
    for _ in 0..3 {
        world.tick();
        world.finish_reading();
    }
    let (pid, _) = world.find(RubyProcess::Mold(2)).expect("a mold");
    world.wait(Duration::from_secs(61));
    assert!(failed(&world).contains("boot_timeout"));
    assert!(world.process(pid).is_killed);
}

#[test]
fn the_first_worker_of_a_new_mold_has_the_new_boot_timeout() {
    let mut world = serving(1);
    world.send(Event::RestartRequested);
    let mut limits = fixed(1);
    limits.boot_timeout = Duration::from_secs(120);
    world.finish_settings(limits);
    let trial = |command: &Command| matches!(command, Command::Fork { is_trial: true, .. });
    let is_forked = (0..50).any(|_| {
        world.settle_for(1);
        world.commands.iter().any(trial)
    });
    assert!(is_forked);
    world.wait(Duration::from_secs(61));
    assert!(matches!(report(&world), RestartReport::UnderWay(_)));
    world.wait(Duration::from_secs(60));
    assert!(failed(&world).contains("120s (boot_timeout)"));
}

#[test]
fn a_worker_that_fails_its_check_leaves_the_old_workers() {
    let mut world = restarting(2);
    let before = world.serving_pids();
    for _ in 0..20 {
        world.settle_without_check();
    }
    assert!(world.check.is_some());
    assert_eq!(world.serving_pids(), before, "no request goes to it");
    world.finish_check(Err("restart_check /up: responded with 503".to_owned()));
    assert_eq!(failed(&world), "restart_check /up: responded with 503");
    world.settle();
    assert_eq!((world.serving_pids(), world.mold_pids().len()), (before, 1));
}

#[test]
fn a_worker_that_is_never_checked_is_killed_in_time() {
    let mut world = restarting(1);
    for _ in 0..20 {
        world.settle_without_check();
    }
    world.check = None;
    world.wait(Duration::from_secs(61));
    for _ in 0..50 {
        world.settle_without_check();
    }
    assert!(failed(&world).starts_with("the first new worker failed"));
    assert_eq!(generations(&world), [1]);
}

#[test]
fn a_second_restart_follows_once() {
    let mut world = restarting(1);
    let first = world.state.restarts().latest();
    world.send(Event::RestartRequested);
    world.send(Event::RestartRequested);
    assert_eq!(world.state.restarts().latest(), first + 1);
    assert_eq!(report(&world), RestartReport::Queued);
    world.settle();
    assert_eq!(world.count("restarted"), 2);
    assert_eq!(generations(&world), [3]);
}

#[test]
fn a_rollback_brings_the_previous_mold_back() {
    let mut world = restarting(2);
    let old = world.mold_pids()[0];
    settle_until(&mut world, "restarted");
    world.send(Event::RollbackRequested);
    world.settle_for(50);
    assert_eq!(generations(&world), [3, 3]);
    assert_eq!(report(&world), RestartReport::Done);
    let told = ["restarted", "rolling back", "rolled back"];
    assert_eq!(told.map(|message| world.count(message)), [1, 1, 1]);
    world.settle_for(650);
    assert_eq!(world.mold_pids(), [old]);
}

#[test]
fn new_workers_that_keep_failing_bring_the_previous_mold_back() {
    let mut world = restarting(3);
    settle_until(&mut world, "worker will be replaced");
    for _ in 0..400 {
        world.tick();
        world.finish_reading();
        let booting = world.processes.values();
        let booting = booting.filter(|it| !it.is_ready && it.generation == 2 && !it.is_closed);
        let booting: Vec<_> = booting.map(|it| it.process).collect();
        for process in booting {
            let cause = "no database".to_owned();
            world.send(Event::BootFailed { process, cause });
        }
        if world.count("restart undone: the previous mold serves again") == 0 {
            let pids: Vec<_> = world.processes.keys().copied().collect();
            for pid in pids {
                if !world.process(pid).said_hello && world.process(pid).generation == 2 {
                    world.say_hello(pid);
                }
            }
        }
    }
    world.settle();
    assert_eq!(failed(&world), "no database");
    assert_eq!(generations(&world), [3, 3, 3]);
}

#[test]
fn workers_end_to_make_room_for_the_second_mold() {
    let mut limits = fixed(4);
    limits.memory = MemoryLimit::Bytes(EDGE_BYTES + MOLD_BYTES + 4 * WORKER_BYTES);
    let mut world = World::serving(limits, ReforkRule::Off);
    world.send(Event::RestartRequested);
    settle_until(&mut world, "restarted");
    assert!(world.count("worker makes room for the restart") >= 2);
    world.settle();
    assert_eq!(generations(&world), [2, 2, 2, 2]);
}

#[test]
fn without_memory_for_a_second_mold_a_single_worker_stays() {
    let mut limits = fixed(1);
    limits.memory = MemoryLimit::Bytes(EDGE_BYTES + MOLD_BYTES + WORKER_BYTES);
    let mut world = World::serving(limits, ReforkRule::Off);
    world.send(Event::RestartRequested);
    world.settle_for(20);
    assert!(failed(&world).starts_with("no memory for a second mold"));
    assert_eq!(generations(&world), [1]);
}

#[test]
fn a_stop_during_a_restart_ends_all() {
    for ticks in 0..12 {
        let mut world = restarting(2);
        world.settle_for(ticks);
        world.stop();
        world.demand.has_clients = false;
        world.settle();
        assert_eq!(world.outcome, Some(Outcome::Finished), "after {ticks}");
    }
}

#[test]
fn a_restart_waits_for_a_refork_and_resets_it() {
    let mut world = World::serving(fixed(2), ReforkRule::After(vec![100, 1_000_000]));
    let pid = world.serving_pids()[0];
    world.process(pid).requests = 150;
    settle_until(&mut world, "worker becomes the next mold");
    world.send(Event::RestartRequested);
    world.settle();
    assert_eq!(world.count("restarted"), 1);
    let newest = world.state.processes().generation().expect("a mold");
    assert_eq!(generations(&world), [newest, newest]);
}

#[test]
fn a_worker_that_drains_to_become_the_mold_does_not_when_a_restart_begins() {
    let mut world = World::serving(fixed(2), ReforkRule::After(vec![100, 1_000_000]));
    let pid = world.serving_pids()[0];
    world.process(pid).requests = 150;
    settle_until(&mut world, "worker will be replaced");
    world.process(pid).is_busy = true;
    while world.count("worker is replaced") == 0 {
        let booting = world.processes.iter().filter(|(_, it)| !it.is_ready);
        let booting: Vec<u32> = booting.map(|(pid, _)| *pid).collect();
        for pid in booting {
            world.say_hello(pid);
            world.get_ready(pid);
        }
        world.finish_reading();
        world.tick();
    }
    world.send(Event::RestartRequested);
    world.finish_settings(fixed(2));
    world.settle();
    assert_eq!(world.count("restarted"), 1);
    assert_eq!(world.count("worker becomes the next mold"), 0);
    assert_eq!(generations(&world), [2, 2]);
}

#[test]
fn a_restart_takes_over_when_the_old_mold_is_dead() {
    let mut world = restarting(1);
    world.settle_for(1);
    let old = world.find(RubyProcess::Mold(1)).expect("the mold").0;
    world.exit(old, world.killed(), true);
    world.settle();
    assert_eq!(report(&world), RestartReport::Done);
    assert_eq!(generations(&world), [2]);
}

#[test]
fn a_restart_that_is_asked_for_during_the_start_follows_it() {
    let mut world = World::new(fixed(2));
    world.send(Event::RestartRequested);
    assert_eq!(report(&world), RestartReport::Queued);
    world.settle_for(200);
    assert_eq!(report(&world), RestartReport::Done);
    assert_eq!(generations(&world), [2, 2]);
}
