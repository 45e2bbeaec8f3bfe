use serde_json::{Value, json};

use crate::supervise::executor::Executor;
use crate::supervise::processes::Host;
use carat_exchange::clock;
use carat_http::{PartList, Server};
use carat_supervisor::{AppProcessStatus, State, WantedProcesses, WorkerStatus};

/// The response to `GET /status`. Times are in seconds, sizes in bytes; a value that does not exist is null.
pub(crate) fn server_status(
    server: &Server,
    state: &State,
    executor: &Executor<impl Host>,
) -> Value {
    let now = clock::now();
    let figures = server.figures();
    let (apps, processes) = (state.apps(), state.processes());
    let paused_for = figures.paused_for(now).map(|left| left.as_secs_f64());
    let bounds = state.limits().elastic;
    let worker = |status| worker(&status, server, executor);
    let molds = processes.molds.iter().filter_map(|(mold, _)| mold.pid);
    let mut status = json!({
        "version": server.settings().version,
        "pid": std::process::id(),
        "state": match state.phase_name() {
            "serving" if paused_for.is_some() => "paused",
            name => name,
        },
        "listeners": executor.ready.urls,
        "uptime": now.saturating_duration_since(server.life().started).as_secs_f64(),
        // The generation of the mold that forks.
        "generation": processes.generation(),
        "connections": server.connections(),
        // The requests that workers hold, and the requests that wait for a worker.
        "running": figures.running(),
        "waiting": figures.waiting(),
        "queue_limit": figures.queue_limit(),
        "pools": figures.pools(),
        // The full garbage collections of the workers, by what they delayed.
        "collections": figures.collections(),
        // How much longer a pause lasts, and how much longer the server serves before it stops.
        "paused_for": paused_for,
        "draining_for": state.draining_for(now).map(|left| left.as_secs_f64()),
        // The step of the restart or upgrade under way.
        "restart": state.restarts().stage(),
        "upgrade": state.upgrades().is_under_way().then_some("starting"),
        // Why the last worker that was to become the mold did not become it.
        "refork": state.refork_refusal(),
        "workers": { "min": bounds.min, "max": bounds.max, "wanted": processes.workers.wanted },
        "processes": processes.worker_statuses(now).map(worker).collect::<Vec<_>>(),
        // The further processes of the application, and how many of each name should run.
        "app_processes": apps.statuses(now).map(|it| app(&it)).collect::<Vec<_>>(),
        "app_counts": apps.wanted().iter().map(app_count).collect::<Vec<_>>(),
        "molds": molds.collect::<Vec<_>>(),
    });
    add_reports(&mut status, server.parts());
    status
}

/// Adds what each part reports, under its name.
fn add_reports(status: &mut Value, parts: &PartList) {
    for part in parts.iter() {
        let report = part.report();
        if !report.is_null() {
            status[part.name()] = report;
        }
    }
}

fn worker(status: &WorkerStatus, server: &Server, executor: &Executor<impl Host>) -> Value {
    let figures = server.figures();
    json!({
        "number": status.id.number,
        "generation": status.generation,
        "pid": status.pid,
        "state": status.stage,
        // How long the worker has been ready; 0 before that.
        "age": status.age.as_secs_f64(),
        "requests": executor.requests(status.id),
        "running": figures.running_on(status.id),
        // Connections that the application has taken over.
        "tunnels": figures.tunnels_on(status.id),
    })
}

fn app(status: &AppProcessStatus) -> Value {
    json!({
        "name": status.name,
        "number": status.number,
        "generation": status.generation,
        "pid": status.pid,
        "state": status.stage,
        // How long the process has run.
        "age": status.age.as_secs_f64(),
        // The private memory, including the memory of descendants.
        "private": status.private,
        "descendants": status.descendants,
    })
}

fn app_count(wanted: &WantedProcesses) -> Value {
    json!({
        "name": wanted.name,
        "min": wanted.bounds.start(),
        "max": wanted.bounds.end(),
        "wanted": wanted.wanted,
        // The load when it was last measured.
        "load": wanted.load,
    })
}
