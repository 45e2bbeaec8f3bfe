//! The further processes of the application.

use std::time::Duration;

use carat_policy::{MemoryLimit, ReforkRule};
use carat_settings::{ProcessSettings, RestartPolicy};

use super::world::{EDGE_BYTES, MOLD_BYTES, WORKER_BYTES, World};
use super::{fixed, jobs};
use crate::command::{AppCommand, Command};
use crate::event::Event;
use crate::exit_status::ExitStatus;

fn running(apps: Vec<ProcessSettings>) -> World {
    let mut world = World::with_apps(fixed(1), ReforkRule::Off, apps);
    world.settle();
    world.commands.clear();
    world
}

fn only(world: &World) -> u32 {
    let pids = world.app_pids();
    assert_eq!(pids.len(), 1, "{world:#?}");
    pids[0]
}

/// New code takes over while those that run have jobs.
fn restart(world: &mut World) {
    for pid in world.app_pids() {
        world.process(pid).is_busy = true;
    }
    world.send(Event::RestartRequested);
    world.settle_for(100);
}

#[test]
fn a_process_starts_when_the_server_serves() {
    let mut world = World::with_apps(fixed(1), ReforkRule::Off, vec![jobs(2)]);
    world.tick();
    assert!(world.app_pids().is_empty());
    world.settle_for(20);
    assert_eq!(world.app_pids().len(), 2);
    assert_eq!(world.count("process running"), 2);
}

#[test]
fn one_that_dies_is_replaced_after_a_pause_and_logged_once() {
    let mut world = running(vec![jobs(1)]);
    let pid = only(&world);
    world.exit(pid, ExitStatus::Exited(1), false);
    assert!(world.app_pids().is_empty());
    assert_eq!(world.messages(), ["process died"]);
    world.settle_for(4);
    assert_ne!(only(&world), pid);
    assert_eq!(world.count("process died"), 1);
}

#[test]
fn one_that_fails_again_and_again_waits_longer_each_time() {
    let mut world = running(vec![jobs(1)]);
    for _ in 0..5 {
        world.exit(only(&world), ExitStatus::Exited(1), false);
        while world.app_pids().is_empty() {
            world.settle_for(1);
        }
    }
    world.exit(only(&world), ExitStatus::Exited(1), false);
    world.settle_for(60);
    assert!(world.app_pids().is_empty());
}

#[test]
fn the_policy_decides_what_follows_an_end() {
    for (policy, status, follows) in [
        (RestartPolicy::Always, 0, true),
        (RestartPolicy::OnFailure, 0, false),
        (RestartPolicy::OnFailure, 1, true),
        (RestartPolicy::Never, 1, false),
    ] {
        let restart = policy;
        let mut world = running(vec![ProcessSettings { restart, ..jobs(1) }]);
        world.exit(only(&world), ExitStatus::Exited(status), false);
        world.settle();
        assert_eq!(world.app_pids().len(), usize::from(follows), "{policy:?}");
    }
}

#[test]
fn a_restart_replaces_it_when_the_old_one_has_ended() {
    let mut world = running(vec![jobs(1)]);
    let old = only(&world);
    restart(&mut world);
    assert_eq!(only(&world), old);
    assert!(world.process(old).is_told_to_end);
    world.end(old);
    world.settle_for(5);
    let new = only(&world);
    assert_eq!(world.process(new).generation, 2);
}

#[test]
fn with_overlap_the_new_one_runs_before_the_old_one_ends() {
    let overlap = true;
    let mut world = World::with_apps(
        fixed(1),
        ReforkRule::Off,
        vec![ProcessSettings { overlap, ..jobs(1) }],
    );
    world.most_apps = 2;
    world.settle();
    let old = only(&world);
    restart(&mut world);
    let both = world.app_pids();
    assert_eq!(both.len(), 2);
    assert!(world.process(both[1]).is_ready && world.process(old).is_told_to_end);
    world.end(old);
    world.settle_for(5);
    assert_eq!(world.app_pids(), [both[1]]);
}

#[test]
fn one_that_does_not_end_in_time_is_killed() {
    let mut world = running(vec![jobs(1)]);
    let pid = only(&world);
    world.stop();
    assert!(world.process(pid).is_told_to_end);
    world.wait(Duration::from_secs(19));
    assert!(!world.process(pid).is_killed);
    world.wait(Duration::from_secs(2));
    assert!(world.process(pid).is_killed);
    assert_eq!(world.count("killing process"), 1);
}

#[test]
fn the_mold_ends_after_the_processes() {
    let mut world = running(vec![jobs(1)]);
    let app = only(&world);
    let mold = world.mold_pids()[0];
    world.stop();
    world.demand.has_clients = false;
    for _ in 0..20 {
        for pid in world.serving_pids() {
            world.end(pid);
        }
        let told = |it: &super::world::FakeProcess| it.is_told_to_end;
        let workers: Vec<u32> = world
            .processes
            .iter()
            .filter(|(pid, it)| told(it) && **pid != app)
            .map(|(pid, _)| *pid)
            .collect();
        for pid in workers {
            world.end(pid);
        }
        world.tick();
    }
    assert!(!world.process(mold).is_told_to_end);
    world.end(app);
    world.tick();
    assert!(world.process(mold).is_told_to_end);
}

#[test]
fn descendants_end_before_another_one_starts() {
    let mut world = running(vec![jobs(1)]);
    let pid = only(&world);
    world.has_descendants = true;
    world.exit(pid, ExitStatus::Exited(1), false);
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
    assert_eq!(world.app_pids().len(), 1);
}

#[test]
fn the_number_can_be_changed_while_the_server_runs() {
    let mut world = running(vec![jobs(1)]);
    world.most_apps = 3;
    for count in [3, 1, 0, 2] {
        let name = "jobs".to_owned();
        let bounds = (count, count);
        world.send(Event::AppScaled { name, bounds });
        world.settle_for(20);
        assert_eq!(world.app_pids().len(), count as usize);
    }
    assert_eq!(world.state.apps().wanted()[0].wanted, 2);
}

#[test]
fn fewer_that_may_overlap_end_at_once() {
    let overlap = true;
    let mut world = running(vec![ProcessSettings { overlap, ..jobs(2) }]);
    let (name, bounds) = ("jobs".to_owned(), (1, 1));
    world.send(Event::AppScaled { name, bounds });
    world.settle_for(5);
    assert_eq!(world.app_pids().len(), 1);
}

/// One that takes more than its memory.
fn too_large() -> World {
    let memory = Some(100);
    let mut world = running(vec![ProcessSettings { memory, ..jobs(1) }]);
    world.app_bytes = 101;
    world
}

#[test]
fn a_heavy_one_is_replaced() {
    let mut world = too_large();
    let pid = only(&world);
    world.wait(Duration::from_secs(60));
    world.finish_reading();
    assert_eq!(world.count("process exceeds its memory"), 1);
    assert!(world.process(pid).is_told_to_end);
}

#[test]
fn one_that_is_always_heavy_is_replaced_ever_more_seldom() {
    let mut world = too_large();
    for _ in 0..60 {
        world.settle_for(2);
        world.finish_reading();
        for pid in world.app_pids() {
            if world.process(pid).is_told_to_end {
                world.end(pid);
            }
        }
    }
    assert_eq!(world.count("process exceeds its memory"), 4);
}

#[test]
fn one_with_too_many_descendants_is_replaced() {
    let mut world = running(vec![jobs(1)]);
    let pid = only(&world);
    world.descendants = 256;
    world.wait(Duration::from_secs(60));
    world.finish_reading();
    assert!(!world.process(pid).is_told_to_end);
    world.descendants = 257;
    world.wait(Duration::from_secs(60));
    world.finish_reading();
    assert_eq!(world.count("process has too many descendants"), 1);
    assert!(world.process(pid).is_told_to_end);
}

/// Those that were told to end.
fn ending(world: &World) -> usize {
    let told = |pid: &u32| world.processes[pid].is_told_to_end;
    world.app_pids().into_iter().filter(told).count()
}

#[test]
fn those_of_one_name_are_replaced_one_after_another() {
    let mut world = running(vec![jobs(3)]);
    restart(&mut world);
    for _ in 0..3 {
        assert_eq!((world.app_pids().len(), ending(&world)), (3, 1));
        let pids = world.app_pids();
        let told = pids.iter().find(|pid| world.processes[pid].is_told_to_end);
        world.end(*told.expect("one ends"));
        assert_eq!((world.app_pids().len(), ending(&world)), (3, 0));
        world.settle_for(5);
    }
    assert_eq!((world.app_pids().len(), ending(&world)), (3, 0));
    assert!(
        world
            .app_pids()
            .iter()
            .all(|pid| world.processes[pid].generation == 2)
    );
}

#[test]
fn with_overlap_there_is_one_more_during_a_restart() {
    let overlap = true;
    let apps = vec![ProcessSettings { overlap, ..jobs(3) }];
    let mut world = World::with_apps(fixed(1), ReforkRule::Off, apps);
    world.most_apps = 4;
    world.settle();
    restart(&mut world);
    assert_eq!((world.app_pids().len(), ending(&world)), (4, 1));
}

#[test]
fn those_that_somebody_ends_are_replaced() {
    let mut world = running(vec![jobs(2)]);
    let before = world.app_pids();
    for pid in &before {
        world.process(*pid).is_busy = true;
    }
    let name = "jobs".to_owned();
    let number = Some(2);
    world.send(Event::AppReplaced { name, number });
    assert!(world.process(before[1]).is_told_to_end && ending(&world) == 1);
    world.end(before[1]);
    world.settle_for(5);
    let (name, number) = ("jobs".to_owned(), None);
    world.send(Event::AppReplaced { name, number });
    for _ in 0..10 {
        assert!(ending(&world) <= 1);
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
    let mut limits = fixed(3);
    limits.memory = MemoryLimit::Bytes(EDGE_BYTES + MOLD_BYTES + 3 * WORKER_BYTES);
    let mut world = World::with_apps(limits, ReforkRule::Off, vec![jobs(1)]);
    while world.app_pids().is_empty() {
        world.settle_for(1);
    }
    assert_eq!(world.serving_pids().len(), 2);
    world.settle();
    assert_eq!(world.serving_pids().len(), 3);
}

#[test]
fn as_much_memory_is_kept_for_a_successor_as_the_largest_had() {
    let mut limits = fixed(3);
    limits.memory = MemoryLimit::Bytes(EDGE_BYTES + MOLD_BYTES + 3 * WORKER_BYTES);
    let mut world = World::with_apps(limits, ReforkRule::Off, vec![jobs(1)]);
    world.settle();
    world.app_bytes = 2 * WORKER_BYTES;
    world.wait(Duration::from_secs(60));
    world.finish_reading();
    let (pid, worker) = (only(&world), world.serving_pids()[0]);
    world.exit(pid, ExitStatus::Exited(1), false);
    world.exit(worker, ExitStatus::Exited(1), false);
    world.settle_for(3);
    assert_eq!(world.serving_pids().len(), 2);
}

/// A world in which the load of up to three processes is measured.
fn following() -> World {
    let most = 3;
    let mut world = World::with_apps(
        fixed(1),
        ReforkRule::Off,
        vec![ProcessSettings { most, ..jobs(1) }],
    );
    world.most_apps = 4;
    world.settle();
    world.commands.clear();
    world
}

#[test]
fn the_number_follows_the_load_that_is_measured() {
    let mut world = following();
    assert_eq!(world.members().len(), 1);
    world.load = Some(3.0);
    while world.members().len() == 1 {
        world.settle_for(1);
    }
    world.settle_for(20);
    assert_eq!(world.members().len(), 2);
    world.settle();
    assert_eq!(world.members().len(), 3);
    assert_eq!(world.count("processes follow their load"), 2);
    world.load = Some(0.6);
    world.settle_for(1000);
    assert_eq!(world.members().len(), 3);
    world.load = Some(0.0);
    world.settle_for(700);
    assert_eq!(world.members().len(), 2);
    world.settle_for(700);
    assert_eq!(world.members().len(), 1);
}

#[test]
fn a_load_that_cannot_be_measured_is_logged_once() {
    let mut world = following();
    world.load = None;
    world.settle_for(300);
    let message = "the load of processes cannot be measured";
    assert_eq!((world.count(message), world.members().len()), (1, 1));
    world.load = Some(0.6);
    world.settle_for(100);
    world.load = None;
    world.settle_for(300);
    assert_eq!(world.count(message), 2);
}

#[test]
fn a_measurement_that_hangs_is_killed_and_another_follows() {
    let mut world = following();
    world.is_load_stuck = true;
    world.settle_for(60);
    let [pid] = world.meters()[..] else {
        panic!("one measures: {world:#?}");
    };
    world.wait(Duration::from_secs(5));
    assert!(world.process(pid).is_killed);
    world.is_load_stuck = false;
    world.load = Some(2.0);
    world.settle_for(40);
    assert_eq!(world.members().len(), 2);
}

#[test]
fn a_stop_kills_what_measures() {
    let mut world = following();
    world.is_load_stuck = true;
    world.settle_for(60);
    let pid = world.meters()[0];
    world.stop();
    assert!(world.process(pid).is_killed);
}

#[test]
fn a_new_edge_starts_its_own_when_those_before_have_ended() {
    let mut world = World::with_apps(fixed(1), ReforkRule::Off, vec![jobs(1)]);
    world.state.succeed_server(1);
    world.settle_for(50);
    assert!(world.app_pids().is_empty());
    world.send(Event::PredecessorRunsNoApps);
    world.settle_for(5);
    assert_eq!(world.app_pids().len(), 1);
}

#[test]
fn an_edge_that_hands_over_ends_its_own_and_takes_them_back() {
    let mut world = running(vec![jobs(1)]);
    let pid = only(&world);
    world.send(Event::UpgradeRequested);
    world.tick();
    world.send(Event::SuccessorStarted { pid: 42 });
    world.send(Event::SuccessorReady { upgrade: 1 });
    assert!(!world.process(pid).is_told_to_end);
    world.send(Event::SuccessorServes { upgrade: 1 });
    assert!(world.process(pid).is_told_to_end && !world.state.apps().are_over());
    world.end(pid);
    assert!(world.state.apps().are_over());
    world.send(Event::Exited {
        pid: 42,
        status: ExitStatus::Exited(1),
    });
    world.settle_for(10);
    assert_eq!(world.app_pids().len(), 1);
}

#[test]
fn a_console_waits_for_a_mold_and_its_client_hears_how_it_ends() {
    let mut world = World::with_apps(fixed(1), ReforkRule::Off, Vec::new());
    let id = world.open_console();
    world.tick();
    assert!(world.app_pids().is_empty());
    world.settle();
    let pid = only(&world);
    let begin = Command::App(AppCommand::Begin(id));
    assert!(world.commands.contains(&begin));
    let status = ExitStatus::Exited(3);
    world.exit(pid, status, false);
    let end = Ok(status);
    let ended = Command::App(AppCommand::ConsoleEnded { id, end });
    assert!(world.commands.contains(&ended));
    world.settle();
    assert_eq!(world.count("process died"), 0);
    assert!(world.app_pids().is_empty() && world.consoles.is_empty());
}

#[test]
fn a_console_without_a_mold_is_given_up_at_boot_timeout() {
    let mut world = running(Vec::new());
    world.no_process_starts = true;
    let mold = world.mold_pids()[0];
    world.exit(mold, ExitStatus::Exited(1), false);
    world.open_console();
    let id = world.open_console();
    world.send(Event::ConsoleLeft(id));
    world.wait(Duration::from_secs(3));
    assert_eq!(world.consoles.len(), 1);
    world.wait(Duration::from_secs(60));
    assert!(world.consoles.is_empty());
}

#[test]
fn a_console_that_waits_for_a_mold_does_not_hold_up_a_stop() {
    let mut world = running(Vec::new());
    world.no_process_starts = true;
    let mold = world.mold_pids()[0];
    world.exit(mold, ExitStatus::Exited(1), false);
    let id = world.open_console();
    world.stop();
    let end = Err("the server is stopping".to_owned());
    let ended = Command::App(AppCommand::ConsoleEnded { id, end });
    assert!(world.commands.contains(&ended) && world.consoles.is_empty());
}

#[test]
fn a_restart_and_a_new_edge_leave_a_console_alone_and_a_stop_hangs_up() {
    let mut world = running(vec![jobs(1)]);
    world.open_console();
    world.settle();
    let pids = world.app_pids();
    let console = pids[1];
    restart(&mut world);
    assert!(!world.process(console).is_told_to_end);
    world.end(pids[0]);
    world.stop();
    assert!(world.process(console).is_told_to_end);
    world.wait(Duration::from_secs(31));
    assert!(world.process(console).is_killed);
}
