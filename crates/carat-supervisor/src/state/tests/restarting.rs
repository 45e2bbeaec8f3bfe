//! How new code takes over.

use std::time::Duration;

use carat_policy::ReforkRule;
use carat_settings::ProcessSettings;

use super::world::{WORKER_BYTES, World};
use super::{fixed, jobs, limited};
use crate::command::{BootSettings, ClientsCommand, Command, MoldCommand, WorkerCommand};
use crate::event::{Event, RestartEvent};
use crate::limits::Limits;
use crate::ruby_process::RubyProcess;
use crate::state::RestartReport;

/// A world whose restart has begun and has the configuration.
fn restarting(workers: u32) -> World {
    restarting_with(workers, fixed(workers))
}

fn restarting_with(workers: u32, limits: Limits) -> World {
    let mut world = World::of(fixed(workers));
    world.send(Event::Restart(RestartEvent::Requested));
    world.finish_settings(limits);
    world
}

/// A world whose first new worker awaits its answer.
fn checking(workers: u32) -> World {
    let mut world = restarting(workers);
    for _ in 0..20 {
        world.settle_without_check();
    }
    assert!(world.check.is_some());
    world
}

/// Two workers, one of which served enough requests to become the mold.
fn due() -> (World, u32) {
    let mut world = World::serving(fixed(2), ReforkRule::After(vec![100, 1_000_000]));
    let pid = world.serving_pids()[0];
    world.process(pid).requests = 150;
    (world, pid)
}

#[test]
fn workers_of_a_new_mold_replace_all_others_and_the_old_mold_ends_later() {
    let mut world = restarting_with(2, fixed(3));
    world.settle_until("restarted");
    let boot = Command::Mold(MoldCommand::Boot {
        generation: 2,
        settings: BootSettings::New,
    });
    assert!(world.has(&boot) && world.has(&Command::Mold(MoldCommand::Adopt { generation: 2 })));
    world.settle_for(5);
    assert_eq!(world.generations(), [2, 2, 2], "as the new settings say");
    assert_eq!(world.report(), RestartReport::Done);
    assert_eq!(world.mold_pids().len(), 2, "the previous mold is kept");
    world.settle_for(650);
    assert_eq!(world.mold_pids().len(), 1);
    assert!(world.has(&Command::Mold(MoldCommand::EndWithServer { generation: 1 })));
}

#[test]
fn a_mold_that_cannot_load_leaves_the_old_workers() {
    let mut world = restarting(2);
    world.settle_for(1);
    let before = world.serving_pids();
    world.fail_boot(RubyProcess::Mold(2), "config.ru:1: broken");
    world.settle();
    assert_eq!(world.failure(), "config.ru:1: broken");
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
    assert!(world.failure().contains("boot_timeout"));
    assert!(world.process(pid).is_killed);
}

#[test]
fn the_first_worker_of_a_new_mold_has_the_new_boot_timeout() {
    let boot_timeout = Duration::from_secs(120);
    let limits = Limits {
        boot_timeout,
        ..fixed(1)
    };
    let mut world = restarting_with(1, limits);
    let is_trial = |it: &Command| {
        matches!(
            it,
            Command::Worker(WorkerCommand::Fork { is_trial: true, .. })
        )
    };
    world.settle_while(|world| !world.commands.iter().any(is_trial));
    world.wait(Duration::from_secs(61));
    assert!(matches!(world.report(), RestartReport::UnderWay(_)));
    world.wait(Duration::from_secs(60));
    assert!(world.failure().contains("120s (boot_timeout)"));
}

#[test]
fn a_worker_that_fails_its_check_leaves_the_old_workers() {
    let mut world = checking(2);
    let before = world.serving_pids();
    assert_eq!(world.generations(), [1, 1], "no request goes to it");
    let cause = "restart_check /up: responded with 503";
    world.finish_check(Err(cause.to_owned()));
    assert_eq!(world.failure(), cause);
    world.settle();
    assert_eq!((world.serving_pids(), world.mold_pids().len()), (before, 1));
}

#[test]
fn a_worker_that_is_never_checked_is_killed_in_time() {
    let mut world = checking(1);
    world.check = None;
    world.wait(Duration::from_secs(61));
    for _ in 0..50 {
        world.settle_without_check();
    }
    assert!(world.failure().starts_with("the first new worker failed"));
    assert_eq!(world.generations(), [1]);
}

#[test]
fn a_second_restart_follows_once() {
    let mut world = restarting(1);
    let first = world.state.restarts().latest();
    world.send(Event::Restart(RestartEvent::Requested));
    world.send(Event::Restart(RestartEvent::Requested));
    assert_eq!(world.state.restarts().latest(), first + 1);
    assert_eq!(world.report(), RestartReport::Queued);
    world.settle();
    assert_eq!(world.count("restarted"), 2);
    assert_eq!(world.generations(), [3]);
}

#[test]
fn a_rollback_brings_the_previous_mold_back() {
    let mut world = restarting(2);
    let old = world.mold_pids()[0];
    world.settle_until("restarted");
    world.send(Event::Restart(RestartEvent::RollbackRequested));
    world.settle_for(50);
    assert_eq!(world.generations(), [3, 3]);
    assert_eq!(world.report(), RestartReport::Done);
    let told = ["restarted", "rolling back", "rolled back"];
    assert_eq!(told.map(|message| world.count(message)), [1, 1, 1]);
    world.settle_for(650);
    assert_eq!(world.mold_pids(), [old]);
}

#[test]
fn new_workers_that_keep_failing_bring_the_previous_mold_back() {
    let mut world = restarting(3);
    world.settle_until("worker will be replaced");
    for _ in 0..400 {
        world.tick();
        world.finish_reading();
        let new = world.processes.clone().into_iter();
        let new: Vec<_> = new.filter(|(_, it)| it.generation == 2).collect();
        for (_, it) in new.iter().filter(|(_, it)| !it.is_ready && !it.is_closed) {
            world.fail_boot(it.process, "no database");
        }
        if world.count("restart undone: the previous mold serves again") == 0 {
            for (pid, _) in new.iter().filter(|(_, it)| !it.said_hello) {
                world.say_hello(*pid);
            }
        }
    }
    world.settle();
    assert_eq!(world.failure(), "no database");
    assert_eq!(world.generations(), [3, 3, 3]);
}

#[test]
fn workers_end_to_make_room_for_the_second_mold_unless_a_single_one_is_left() {
    let mut world = World::of(limited(4, 4));
    world.send(Event::Restart(RestartEvent::Requested));
    world.settle_until("restarted");
    assert!(world.count("worker makes room for the restart") >= 2);
    world.settle();
    assert_eq!(world.generations(), [2, 2, 2, 2]);
    let mut world = World::of(limited(1, 1));
    world.send(Event::Restart(RestartEvent::Requested));
    world.settle_for(20);
    let failure = world.failure();
    assert!(failure.starts_with("no memory for a second mold: 40 MiB more is needed"));
    assert!(failure.contains("raise the limit"), "{failure}");
    assert_eq!((world.generations(), world.count(LAST_ROOM)), (vec![1], 0));
}

#[test]
fn memory_is_read_anew_once_the_previous_mold_has_ended() {
    let mut world = restarting(1);
    world.settle_until("restarted");
    let (old, _) = world.find(RubyProcess::Mold(1)).expect("the old mold");
    world.send(Event::Restart(RestartEvent::Requested));
    world.tick();
    world.finish_reading();
    let readings = |world: &World| {
        let is_reading = |it: &&Command| matches!(it, Command::ReadMemory(_));
        world.commands.iter().filter(is_reading).count()
    };
    let before = readings(&world);
    world.end(old);
    world.tick();
    assert_eq!(readings(&world), before + 1);
}

#[test]
fn a_stop_during_a_restart_ends_all() {
    for ticks in 0..12 {
        let mut world = restarting(2);
        world.settle_for(ticks);
        world.stop();
        world.assert_finishes();
    }
}

#[test]
fn a_restart_waits_for_a_refork_and_resets_it() {
    let (mut world, _) = due();
    world.settle_until("worker becomes the next mold");
    world.send(Event::Restart(RestartEvent::Requested));
    world.settle();
    assert_eq!(world.count("restarted"), 1);
    let newest = world.state.processes().generation().expect("a mold");
    assert_eq!(world.generations(), [newest, newest]);
}

#[test]
fn a_worker_that_drains_to_become_the_mold_does_not_when_a_restart_begins() {
    let (mut world, pid) = due();
    world.settle_until("worker will be replaced");
    world.process(pid).is_busy = true;
    while world.count("worker is replaced") == 0 {
        let processes = world.processes.clone();
        for (pid, _) in processes.iter().filter(|(_, it)| !it.is_ready) {
            world.say_hello(*pid);
            world.get_ready(*pid);
        }
        world.finish_reading();
        world.tick();
    }
    world.send(Event::Restart(RestartEvent::Requested));
    world.finish_settings(fixed(2));
    world.settle();
    let told = ["restarted", "worker becomes the next mold"];
    assert_eq!(told.map(|message| world.count(message)), [1, 0]);
    assert_eq!(world.generations(), [2, 2]);
}

#[test]
fn a_restart_takes_over_when_the_old_mold_is_dead() {
    let mut world = restarting(1);
    world.settle_for(1);
    let (old, _) = world.find(RubyProcess::Mold(1)).expect("the mold");
    world.kill(old);
    world.settle();
    assert_eq!(world.report(), RestartReport::Done);
    assert_eq!(world.generations(), [2]);
}

#[test]
fn a_restart_that_is_asked_for_during_the_start_follows_it() {
    let mut world = World::new(fixed(2));
    world.send(Event::Restart(RestartEvent::Requested));
    assert_eq!(world.report(), RestartReport::Queued);
    world.settle_for(200);
    assert_eq!(world.report(), RestartReport::Done);
    assert_eq!(world.generations(), [2, 2]);
}

/// Memory for `workers` workers beside two molds, one of which is counted already.
fn tight(workers: u64) -> Limits {
    limited(1, 2 + workers)
}

const LAST_ROOM: &str = "last worker makes room for the restart: requests wait in the queue";
const WAITED: &str = "requests have waited for the restart: no worker ran";

#[test]
fn the_queue_holds_the_requests_where_two_molds_and_a_worker_do_not_fit() {
    let mut world = World::of(tight(0));
    world.send(Event::Restart(RestartEvent::Requested));
    world.settle_until("restarted");
    world.settle_for(20);
    let told = [LAST_ROOM, WAITED].map(|message| world.count(message));
    assert_eq!(told, [1, 1], "{world:#?}");
    assert!(
        world.has(&Command::Clients(ClientsCommand::HoldRequests))
            && world.has(&Command::Clients(ClientsCommand::ReleaseRequests))
    );
    assert_eq!(world.generations(), [2]);
    let number = world.state.restarts().latest();
    assert!(world.state.restarts().waited(number).is_some());
}

/// Gives each worker that serves a response that does not end.
fn slow_down(world: &mut World) -> Vec<u32> {
    let pids = world.serving_pids();
    for pid in &pids {
        let process = world.process(*pid);
        (process.is_busy, process.is_slow) = (true, true);
    }
    pids
}

/// A restart that waits for the slow response of the last worker, and its process id.
fn held_by_a_slow_response() -> (World, u32) {
    let mut world = World::of(tight(0));
    let slow = slow_down(&mut world)[0];
    world.send(Event::Restart(RestartEvent::Requested));
    world.settle_until(LAST_ROOM);
    (world, slow)
}

#[test]
fn a_slow_response_keeps_others_waiting_for_six_seconds() {
    let (mut world, slow) = held_by_a_slow_response();
    world.settle_for(55);
    assert!(!world.has(&Command::Clients(ClientsCommand::ReleaseRequests)));
    world.settle_for(15);
    assert!(world.has(&Command::Clients(ClientsCommand::ReleaseRequests)));
    assert_eq!(world.generations(), [1], "another worker serves");
    world.settle_for(300);
    assert_eq!(world.count(LAST_ROOM), 1, "{world:#?}");
    world.process(slow).is_slow = false;
    world.settle_until("restarted");
    assert_eq!(world.count(LAST_ROOM), 2);
    assert!(!world.commands.contains(&Command::Terminate { pid: slow }));
    assert_eq!(world.generations(), [2]);
}

#[test]
fn a_second_slow_response_keeps_others_waiting_for_ten_seconds() {
    let (mut world, slow) = held_by_a_slow_response();
    world.settle_for(70);
    let second = slow_down(&mut world)[0];
    world.process(slow).is_slow = false;
    world.settle_while(|world| world.count(LAST_ROOM) < 2);
    world.settle_for(95);
    assert!(!world.has(&Command::Terminate { pid: second }));
    world.settle_for(10);
    assert!(world.has(&Command::Terminate { pid: second }));
    world.settle_until("restarted");
    assert_eq!(world.generations(), [2]);
}

#[test]
fn a_restart_that_does_not_fit_says_by_how_much_and_what_to_set() {
    let limits = |fitting, restart_hold| Limits {
        restart_hold,
        ..limited(1, fitting)
    };
    // Nothing fits beside one mold, and a mold takes as much as two workers.
    for (restart_hold, end) in [(true, "by 40 MiB"), (false, "by 60 MiB")] {
        let mut world = World::of(limits(0, restart_hold));
        world.send(Event::Restart(RestartEvent::Requested));
        world.settle_for(20);
        assert!(world.failure().ends_with(end), "{}", world.failure());
    }
}

#[test]
fn code_that_does_not_boot_in_little_memory_gives_way_to_the_old_mold() {
    let mut world = World::of(tight(0));
    world.send(Event::Restart(RestartEvent::Requested));
    world.settle_while(|world| world.find(RubyProcess::Mold(2)).is_none());
    assert_eq!(world.generations(), [] as [u32; 0], "no worker runs");
    world.fail_boot(RubyProcess::Mold(2), "config.ru:1: broken");
    let going_back = RestartReport::UnderWay("going back");
    assert_eq!(world.report(), going_back, "until a worker serves");
    world.settle();
    assert_eq!(world.failure(), "config.ru:1: broken");
    assert_eq!((world.generations(), world.count(WAITED)), (vec![1], 1));
    assert!(world.has(&Command::Clients(ClientsCommand::ReleaseRequests)));
}

#[test]
fn a_restart_ends_though_the_old_code_cannot_boot_a_worker_either() {
    let mut world = World::of(tight(0));
    world.send(Event::Restart(RestartEvent::Requested));
    world.settle_while(|world| world.find(RubyProcess::Mold(2)).is_none());
    world.fail_boot(RubyProcess::Mold(2), "no database");
    world.no_process_starts = true;
    world.wait(world.limits.boot_timeout * 2);
    assert_eq!(
        (world.workers(), world.failure()),
        (0, "no database".to_owned())
    );
}

#[test]
fn the_last_worker_stays_where_the_configuration_forbids_that_requests_wait() {
    let limits = Limits {
        restart_hold: false,
        ..tight(0)
    };
    let mut world = World::of(limits);
    world.send(Event::Restart(RestartEvent::Requested));
    world.settle_for(20);
    assert!(world.failure().ends_with("or allow `restart_hold`"));
    assert_eq!((world.generations(), world.count(LAST_ROOM)), (vec![1], 0));
}

#[test]
fn further_processes_end_before_the_last_worker_and_start_again() {
    let mut world = World::with_apps(tight(1), ReforkRule::Off, vec![jobs(1)]);
    world.app_bytes = WORKER_BYTES;
    world.settle_for(100);
    world.send(Event::Restart(RestartEvent::Requested));
    world.settle_until("restarted");
    world.settle_for(100);
    let room = "processes make room for the restart: they start again after it";
    let told = [room, LAST_ROOM].map(|message| world.count(message));
    assert_eq!(told, [1, 0], "{world:#?}");
    assert_eq!(
        (world.generations(), world.state.apps().running().len()),
        (vec![2], 1)
    );
}

#[test]
fn processes_that_made_room_start_again_once_the_old_worker_and_the_old_mold_have_ended() {
    let mut world = World::with_apps(tight(1), ReforkRule::Off, vec![jobs(1)]);
    world.app_bytes = WORKER_BYTES;
    world.settle_for(100);
    let old = slow_down(&mut world)[0];
    world.send(Event::Restart(RestartEvent::Requested));
    world.settle_while(|world| !world.generations().contains(&2));
    world.settle_for(30);
    assert_eq!(world.app_pids(), [] as [u32; 0], "the old worker responds");
    world.process(old).is_slow = false;
    world.settle_until("restarted");
    let end = Command::Mold(MoldCommand::EndWithServer { generation: 1 });
    world.settle_while(|world| world.app_pids().is_empty());
    assert!(world.has(&end), "no mold is kept for a rollback");
    assert_eq!(world.mold_pids().len(), 1);
}

#[test]
fn a_restart_in_little_memory_waits_for_jobs_until_stop_timeout() {
    let apps = ProcessSettings {
        stop_timeout: Some(Duration::from_secs(200)),
        ..jobs(1)
    };
    let mut world = World::with_apps(tight(1), ReforkRule::Off, vec![apps]);
    world.app_bytes = WORKER_BYTES;
    world.settle_for(100);
    let app = world.app_pids()[0];
    world.process(app).is_busy = true;
    world.send(Event::Restart(RestartEvent::Requested));
    world.settle_for(1500);
    assert!(world.process(app).is_told_to_end);
    world.process(app).is_busy = false;
    world.settle_until("restarted");
}

#[test]
fn a_stop_while_no_worker_runs_ends_all() {
    for ticks in 0..12 {
        let mut world = World::of(tight(0));
        world.send(Event::Restart(RestartEvent::Requested));
        world.settle_for(ticks);
        world.stop();
        world.assert_finishes();
    }
}
