//! The further processes of the application.

use std::time::Duration;

use carat_policy::ReforkRule;
use carat_settings::{ProcessSettings, RestartPolicy};

use super::world::{WORKER_BYTES, World};
use super::{fixed, jobs, limited};
use crate::command::{AppCommand, Command};
use crate::event::{AppEvent, Event, RestartEvent, UpgradeEvent};
use crate::exit_status::ExitStatus;

/// A world that runs this process, and never more than `most` at a time.
fn running(app: ProcessSettings, most: u32) -> World {
    let mut world = World::with_apps(fixed(1), ReforkRule::Off, vec![app]);
    world.most_apps = most;
    world.settle();
    world.commands.clear();
    world
}

/// A world that runs one process.
fn one() -> (World, u32) {
    let world = running(jobs(1), 1);
    let pid = only(&world);
    (world, pid)
}

fn overlapping(count: u32) -> ProcessSettings {
    let overlap = true;
    ProcessSettings {
        overlap,
        ..jobs(count)
    }
}

fn only(world: &World) -> u32 {
    let pids = world.app_pids();
    assert_eq!(pids.len(), 1, "{world:#?}");
    pids[0]
}

/// How many further processes run, and how many of them were told to end.
fn counts(world: &World) -> (usize, usize) {
    let pids = world.app_pids();
    let told = pids.iter().filter(|pid| is_ending(world, **pid)).count();
    (pids.len(), told)
}

fn is_ending(world: &World, pid: u32) -> bool {
    world.processes[&pid].is_told_to_end
}

/// New code takes over while the running processes have jobs.
fn restart(world: &mut World) {
    for pid in world.app_pids() {
        world.process(pid).is_busy = true;
    }
    world.send(Event::Restart(RestartEvent::Requested));
    world.settle_for(100);
}

/// Memory is read after a minute.
fn read(world: &mut World) {
    world.wait(Duration::from_secs(60));
    world.finish_reading();
}

fn scale(world: &mut World, count: u32) {
    let (name, bounds) = ("jobs".to_owned(), count..=count);
    world.send(Event::App(AppEvent::Scaled { name, bounds }));
}

fn replace(world: &mut World, number: Option<u32>) {
    let name = "jobs".to_owned();
    world.send(Event::App(AppEvent::Replaced { name, number }));
}

#[test]
fn a_process_starts_when_the_server_serves() {
    let mut world = World::with_apps(fixed(1), ReforkRule::Off, vec![jobs(2)]);
    world.tick();
    assert!(world.app_pids().is_empty());
    world.settle_for(20);
    let found = (counts(&world), world.count("process running"));
    assert_eq!(found, ((2, 0), 2));
}

#[test]
fn one_that_dies_is_replaced_after_a_pause_that_grows_and_logged_once() {
    let (mut world, pid) = one();
    world.die(pid);
    assert!(world.app_pids().is_empty());
    assert_eq!(world.messages(), ["process died"]);
    world.settle_for(4);
    assert_ne!(only(&world), pid);
    assert_eq!(world.count("process died"), 1);
    for _ in 0..4 {
        world.die(only(&world));
        world.settle_while(|world| world.app_pids().is_empty());
    }
    world.die(only(&world));
    world.settle_for(60);
    assert!(world.app_pids().is_empty());
}

#[test]
fn the_policy_decides_what_follows_an_end() {
    for (restart, status, follows) in [
        (RestartPolicy::Always, 0, true),
        (RestartPolicy::OnFailure, 0, false),
        (RestartPolicy::OnFailure, 1, true),
        (RestartPolicy::Never, 1, false),
    ] {
        let mut world = running(ProcessSettings { restart, ..jobs(1) }, 1);
        world.exit(only(&world), ExitStatus::Exited(status), false);
        world.settle();
        assert_eq!(counts(&world).0, usize::from(follows), "{restart:?}");
    }
}

#[test]
fn with_overlap_the_new_one_runs_before_the_old_one_ends() {
    let mut world = running(overlapping(1), 2);
    let old = only(&world);
    restart(&mut world);
    let both = world.app_pids();
    assert_eq!(counts(&world), (2, 0), "the new one begins its work");
    assert!(world.process(both[1]).is_ready);
    world.settle_for(100);
    assert!(is_ending(&world, old));
    world.end(old);
    world.settle_for(5);
    assert_eq!(world.app_pids(), [both[1]]);
    let mut world = running(overlapping(3), 4);
    restart(&mut world);
    world.settle_for(100);
    assert_eq!(counts(&world), (4, 1));
}

#[test]
fn with_overlap_the_old_one_stays_while_new_ones_end_at_their_start() {
    let mut world = running(overlapping(1), 2);
    let old = only(&world);
    restart(&mut world);
    for _ in 0..3 {
        let newest = *world.app_pids().last().expect("a process");
        world.end(newest);
        world.settle_for(95);
        assert!(!is_ending(&world, old), "{world:#?}");
    }
}

#[test]
fn one_that_does_not_end_in_time_is_killed() {
    let (mut world, pid) = one();
    world.stop();
    assert!(is_ending(&world, pid));
    world.wait(Duration::from_secs(19));
    assert!(!world.process(pid).is_killed);
    world.wait(Duration::from_secs(2));
    assert!(world.process(pid).is_killed);
    assert_eq!(world.count("killing process"), 1);
}

#[test]
fn the_mold_ends_after_the_processes() {
    let (mut world, app) = one();
    let mold = world.mold_pids()[0];
    world.stop();
    world.demand.has_clients = false;
    for _ in 0..20 {
        for pid in world.serving_pids() {
            world.end(pid);
        }
        let pids: Vec<u32> = world.processes.keys().copied().collect();
        for pid in pids {
            if pid != app && is_ending(&world, pid) {
                world.end(pid);
            }
        }
        world.tick();
    }
    assert!(!is_ending(&world, mold));
    world.end(app);
    world.tick();
    assert!(is_ending(&world, mold));
}

#[test]
fn descendants_end_before_another_one_starts() {
    let (mut world, pid) = one();
    world.has_descendants = true;
    world.die(pid);
    world.wait(Duration::from_secs(10));
    assert!(world.app_pids().is_empty());
    let killed = |world: &World| {
        let mut commands = world.commands.iter();
        commands.any(|it| matches!(it, Command::App(AppCommand::SignalGroup { signal: 9, .. })))
    };
    assert!(!killed(&world));
    world.wait(Duration::from_secs(11));
    assert!(killed(&world));
    world.has_descendants = false;
    world.settle_for(5);
    only(&world);
}

#[test]
fn the_number_can_be_changed_while_the_server_runs() {
    let mut world = running(jobs(1), 3);
    for count in [3, 1, 0, 2] {
        scale(&mut world, count);
        world.settle_for(20);
        assert_eq!(world.app_pids().len(), count as usize);
    }
    assert_eq!(world.state.apps().wanted()[0].wanted, 2);
    let mut world = running(overlapping(2), 2);
    scale(&mut world, 1);
    world.settle_for(5);
    only(&world);
}

/// A world whose further process takes more than its memory limit.
fn too_large() -> World {
    let memory = Some(100);
    let mut world = running(ProcessSettings { memory, ..jobs(1) }, 1);
    world.app_bytes = 101;
    world
}

#[test]
fn one_that_takes_too_much_memory_or_too_many_descendants_is_replaced() {
    let mut world = too_large();
    read(&mut world);
    assert_eq!(world.count("process exceeds its memory"), 1);
    assert_eq!(counts(&world), (1, 1));
    let (mut world, pid) = one();
    for (descendants, is_replaced) in [(256, false), (257, true)] {
        world.descendants = descendants;
        read(&mut world);
        assert_eq!(is_ending(&world, pid), is_replaced);
    }
    assert_eq!(world.count("process has too many descendants"), 1);
}

#[test]
fn one_that_is_always_heavy_is_replaced_ever_more_seldom() {
    let mut world = too_large();
    for _ in 0..60 {
        world.settle_for(2);
        world.finish_reading();
        for pid in world.app_pids() {
            if is_ending(&world, pid) {
                world.end(pid);
            }
        }
    }
    assert_eq!(world.count("process exceeds its memory"), 4);
}

#[test]
fn a_restart_replaces_those_of_one_name_one_after_another_when_each_has_ended() {
    let mut world = running(jobs(3), 3);
    restart(&mut world);
    for _ in 0..3 {
        assert_eq!(counts(&world), (3, 1));
        let pids = world.app_pids();
        let told = pids.iter().find(|pid| is_ending(&world, **pid));
        world.end(*told.expect("one ends"));
        assert_eq!(counts(&world), (3, 0));
        world.settle_for(5);
    }
    assert_eq!(counts(&world), (3, 0));
    let pids = world.app_pids();
    assert!(pids.iter().all(|pid| world.processes[pid].generation == 2));
}

#[test]
fn those_that_somebody_ends_are_replaced() {
    let mut world = running(jobs(2), 2);
    let before = world.app_pids();
    for pid in &before {
        world.process(*pid).is_busy = true;
    }
    replace(&mut world, Some(2));
    assert!(is_ending(&world, before[1]) && counts(&world).1 == 1);
    world.end(before[1]);
    world.settle_for(5);
    replace(&mut world, None);
    for _ in 0..10 {
        assert!(counts(&world).1 <= 1);
        for pid in world.app_pids() {
            world.process(pid).is_busy = false;
        }
        world.settle_for(2);
    }
    let after = world.app_pids();
    assert!(after.len() == 2 && !after.iter().any(|pid| before.contains(pid)));
}

#[test]
fn a_starting_process_takes_the_room_of_a_worker() {
    let mut world = World::with_apps(limited(3, 3), ReforkRule::Off, vec![jobs(1)]);
    world.settle_while(|world| world.app_pids().is_empty());
    assert_eq!(world.workers(), 2);
    world.settle();
    assert_eq!(world.workers(), 3);
    // The room that is kept for a successor is that of the largest process so far.
    world.app_bytes = 2 * WORKER_BYTES;
    read(&mut world);
    world.die(only(&world));
    world.die(world.serving_pids()[0]);
    world.settle_for(3);
    assert_eq!(world.workers(), 2);
}

/// A world in which the load of up to three processes is measured.
fn following() -> World {
    let most = 3;
    running(ProcessSettings { most, ..jobs(1) }, 4)
}

#[test]
fn the_number_follows_the_load_that_is_measured() {
    let mut world = following();
    assert_eq!(world.members().len(), 1);
    world.load = Some(3.0);
    world.settle_while(|world| world.members().len() == 1);
    world.settle_for(20);
    assert_eq!(world.members().len(), 2);
    for (load, ticks, members) in [(3.0, 600, 3), (0.6, 1000, 3), (0.0, 700, 2), (0.0, 700, 1)] {
        world.load = Some(load);
        world.settle_for(ticks);
        assert_eq!(world.members().len(), members);
        if load > 1.0 {
            assert_eq!(world.count("processes follow their load"), 2);
        }
    }
}

#[test]
fn a_load_that_cannot_be_measured_is_logged_once() {
    let mut world = following();
    let message = "the load of processes cannot be measured";
    for (load, ticks, logged) in [(None, 300, 1), (Some(0.6), 100, 1), (None, 300, 2)] {
        world.load = load;
        world.settle_for(ticks);
        assert_eq!((world.count(message), world.members().len()), (logged, 1));
    }
}

#[test]
fn a_measurement_that_hangs_is_killed_in_time_or_by_a_stop() {
    let mut world = following();
    for round in 0..2 {
        world.is_load_stuck = true;
        world.settle_for(60);
        let [pid] = world.meters()[..] else {
            panic!("one measures: {world:#?}");
        };
        if round == 1 {
            world.stop();
            assert!(world.process(pid).is_killed);
            break;
        }
        world.wait(Duration::from_secs(5));
        assert!(world.process(pid).is_killed);
        (world.is_load_stuck, world.load) = (false, Some(2.0));
        world.settle_for(40);
        assert_eq!(world.members().len(), 2);
    }
}

#[test]
fn a_new_edge_starts_its_own_when_those_before_have_ended() {
    let mut world = World::with_apps(fixed(1), ReforkRule::Off, vec![jobs(1)]);
    world.state.succeed_server();
    world.settle_for(50);
    assert!(world.app_pids().is_empty());
    // A third edge would not wait for the processes of the first one.
    assert!(world.state.upgrade_obstacle().is_some());
    world.send(Event::Upgrade(UpgradeEvent::PredecessorLeft));
    world.settle_for(5);
    only(&world);
    assert_eq!(world.state.upgrade_obstacle(), None);
}

#[test]
fn an_edge_that_hands_over_ends_its_own() {
    let (mut world, app) = one();
    world.send(Event::Upgrade(UpgradeEvent::Requested));
    world.tick();
    let pid = 42;
    world.send(Event::Upgrade(UpgradeEvent::SuccessorStarted { pid }));
    assert!(!is_ending(&world, app));
    world.send(Event::Upgrade(UpgradeEvent::SuccessorReady { pid }));
    assert!(is_ending(&world, app) && !world.state.apps().are_over());
    world.end(app);
    assert!(world.state.apps().are_over());
}

#[test]
fn a_one_off_process_waits_for_a_mold_and_its_client_hears_how_it_ends() {
    let mut world = World::new(fixed(1));
    let id = world.open_one_off();
    world.tick();
    assert!(world.app_pids().is_empty());
    world.settle();
    assert!(world.has(&Command::App(AppCommand::Begin(id))));
    let status = ExitStatus::Exited(3);
    world.exit(only(&world), status, false);
    let end = Ok(status);
    assert!(world.has(&Command::App(AppCommand::OneOffEnded { id, end })));
    world.settle();
    assert_eq!(world.count("process died"), 0);
    assert!(world.app_pids().is_empty() && world.one_offs.is_empty());
}

#[test]
fn a_one_off_process_without_a_mold_is_given_up_at_boot_timeout_or_by_a_stop() {
    let mut world = World::of(fixed(1));
    world.no_process_starts = true;
    world.die(world.mold_pids()[0]);
    world.open_one_off();
    let id = world.open_one_off();
    world.send(Event::App(AppEvent::OneOffLeft(id)));
    world.wait(Duration::from_secs(3));
    assert_eq!(world.one_offs.len(), 1);
    world.wait(Duration::from_secs(60));
    assert!(world.one_offs.is_empty());
    let id = world.open_one_off();
    world.stop();
    let end = Err("the server is stopping".to_owned());
    assert!(world.has(&Command::App(AppCommand::OneOffEnded { id, end })));
    assert!(world.one_offs.is_empty());
}

#[test]
fn a_restart_leaves_a_one_off_process_alone_and_a_stop_hangs_up() {
    let (mut world, app) = one();
    world.open_one_off();
    world.settle();
    let one_off = world.app_pids()[1];
    restart(&mut world);
    assert!(!is_ending(&world, one_off));
    world.end(app);
    world.stop();
    assert!(is_ending(&world, one_off));
    world.wait(Duration::from_secs(31));
    assert!(world.process(one_off).is_killed);
}
