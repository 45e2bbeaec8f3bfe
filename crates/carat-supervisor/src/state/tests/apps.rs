//! The further processes of the application.

use std::time::Duration;

use carat_policy::ReforkRule;
use carat_settings::{ProcessSettings, RestartPolicy};

use super::world::World;
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
        world.send(Event::AppScaled { name, count });
        world.settle_for(20);
        assert_eq!(world.app_pids().len(), count as usize);
    }
    assert_eq!(world.state.apps().wanted(), [("jobs".to_owned(), 2)]);
}

#[test]
fn a_heavy_one_is_replaced() {
    let settings = ProcessSettings {
        memory: Some(100),
        ..jobs(1)
    };
    let mut world = running(vec![settings]);
    let pid = only(&world);
    world.app_bytes = 101;
    world.wait(Duration::from_secs(60));
    world.finish_reading();
    assert_eq!(world.count("process exceeds its memory"), 1);
    assert!(world.process(pid).is_told_to_end);
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
