use serde::Serialize;
use serde_json::Value;

use crate::http::{CableStats, CacheReport, Server};
use crate::supervise::executor::Executor;
use crate::supervise::processes::Host;
use crate::supervise::reports::canary_hold::canary_decision;
use crate::supervise::reports::{RubyFigure, RubyFigures};
use carat_dispatch::PoolReport;
use carat_exchange::clock;
use carat_supervisor::{AppProcessStatus, ProcessMemory, State, WantedProcesses, WorkerStatus};
use carat_tls::CertificateStatus;

/// What the server does: the response to `GET /status`. Times are seconds.
#[derive(Debug, Serialize)]
pub(crate) struct ServerStatus {
    version: String,
    pid: u32,
    state: &'static str,
    listeners: Vec<String>,
    uptime: f64,
    /// Of the mold that forks; `None` while there is none.
    generation: Option<u32>,
    connections: usize,
    /// Requests that the workers have.
    running: usize,
    /// Requests that wait for a worker.
    waiting: usize,
    queue_limit: usize,
    /// None without the option `pool`.
    pools: Vec<PoolReport>,
    /// How much longer a pause lasts.
    paused_for: Option<f64>,
    /// How much longer it serves before it stops.
    draining_for: Option<f64>,
    /// What the restart under way does.
    restart: Option<&'static str>,
    /// What the upgrade under way does.
    upgrade: Option<&'static str>,
    /// The old edge, until it has ended.
    predecessor: Option<PredecessorRow>,
    /// What old code and new came to while a restart waits.
    canary: Option<Value>,
    /// What the server decided about the last one.
    canary_decision: Option<Value>,
    /// `None` without the option `cache`.
    cache: Option<CacheReport>,
    /// `None` without the option `cable`.
    cable: Option<CableStats>,
    workers: WorkerBounds,
    processes: Vec<WorkerRow>,
    /// The further processes of the application, and how many of each name should run.
    app_processes: Vec<AppRow>,
    app_counts: Vec<AppCount>,
    /// Process ids.
    molds: Vec<u32>,
    /// That of each process when it was last read.
    memory: Vec<ProcessMemory>,
    /// What garbage collection and machine code take; nothing without the option `metrics`.
    ruby: Vec<RubyFigure>,
    /// Those that an authority issues.
    certificates: Vec<CertificateStatus>,
}

/// How many workers may run, and are wanted now.
#[derive(Debug, Serialize)]
struct WorkerBounds {
    min: u32,
    max: u32,
    wanted: u32,
}

/// An edge that has handed over to this one.
#[derive(Debug, Serialize)]
struct PredecessorRow {
    pid: u32,
    connections: usize,
}

#[derive(Debug, Serialize)]
struct WorkerRow {
    number: u32,
    generation: u32,
    pid: Option<u32>,
    state: &'static str,
    /// How long it has been ready; 0 before.
    age: f64,
    requests: u64,
    running: usize,
    /// Connections that the application has taken over.
    tunnels: usize,
}

impl WorkerRow {
    fn new(status: &WorkerStatus, server: &Server, executor: &Executor<impl Host>) -> WorkerRow {
        let lanes = &server.dispatcher.lanes;
        WorkerRow {
            number: status.id.number,
            generation: status.generation,
            pid: status.pid,
            state: status.stage,
            age: status.age.as_secs_f64(),
            requests: executor.requests(status.id),
            running: lanes.running_on(status.id),
            tunnels: lanes.tunnels_on(status.id),
        }
    }
}

#[derive(Debug, Serialize)]
struct AppRow {
    name: String,
    number: u32,
    generation: u32,
    pid: Option<u32>,
    state: &'static str,
    /// How long it has run.
    age: f64,
    /// With that of its descendants.
    private: Option<u64>,
    descendants: u32,
}

#[derive(Debug, Serialize)]
struct AppCount {
    name: String,
    min: u32,
    max: u32,
    wanted: u32,
    /// When it was last measured.
    load: Option<f64>,
}

impl From<WantedProcesses> for AppCount {
    fn from(wanted: WantedProcesses) -> AppCount {
        let (min, max) = wanted.bounds;
        AppCount {
            name: wanted.name,
            min,
            max,
            wanted: wanted.wanted,
            load: wanted.load,
        }
    }
}

impl From<AppProcessStatus> for AppRow {
    fn from(status: AppProcessStatus) -> AppRow {
        AppRow {
            name: status.name,
            number: status.number,
            generation: status.generation,
            pid: status.pid,
            state: status.stage,
            age: status.age.as_secs_f64(),
            private: status.private,
            descendants: status.descendants,
        }
    }
}

impl WorkerBounds {
    fn of(state: &State) -> WorkerBounds {
        let bounds = state.limits().elastic;
        WorkerBounds {
            min: bounds.min,
            max: bounds.max,
            wanted: state.processes().workers.wanted,
        }
    }
}

fn mold_pids(state: &State) -> Vec<u32> {
    let molds = state.processes().molds.iter();
    molds.filter_map(|(mold, _)| mold.pid).collect()
}

impl ServerStatus {
    pub(crate) fn new(
        server: &Server,
        state: &State,
        executor: &Executor<impl Host>,
        (predecessor, canary): (Option<(u32, usize)>, Option<Value>),
        (memory, ruby): (&[ProcessMemory], &RubyFigures),
    ) -> ServerStatus {
        let now = clock::now();
        let (dispatcher, apps) = (&server.dispatcher, state.apps());
        let paused_for = dispatcher.hold.left(now).map(|left| left.as_secs_f64());
        let row = |status| WorkerRow::new(&status, server, executor);
        ServerStatus {
            version: server.settings.version.clone(),
            pid: std::process::id(),
            state: match state.phase_name() {
                "serving" if paused_for.is_some() => "paused",
                name => name,
            },
            listeners: executor.urls().to_vec(),
            uptime: now.saturating_duration_since(server.started).as_secs_f64(),
            generation: state.processes().generation(),
            connections: server.connections(),
            running: dispatcher.lanes.running(),
            waiting: dispatcher.queue.waiting(),
            queue_limit: server.settings.queue_limit,
            pools: dispatcher
                .queue
                .reports(dispatcher.lanes.running(), server.settings.queue_limit),
            paused_for,
            draining_for: state.draining_for(now).map(|left| left.as_secs_f64()),
            restart: state.restarts().stage(),
            upgrade: state.upgrades().stage(),
            predecessor: predecessor.map(|(pid, connections)| PredecessorRow { pid, connections }),
            canary,
            canary_decision: state.restarts().decision().map(canary_decision),
            cache: server.cache().map(|cache| cache.report()),
            cable: server.cable().map(|cable| cable.stats()),
            workers: WorkerBounds::of(state),
            molds: mold_pids(state),
            memory: memory.to_vec(),
            ruby: ruby.report(),
            certificates: server.files.validations.statuses(),
            processes: state.processes().worker_statuses(now).map(row).collect(),
            app_processes: apps.statuses(now).map(AppRow::from).collect(),
            app_counts: apps.wanted().into_iter().map(AppCount::from).collect(),
        }
    }
}
