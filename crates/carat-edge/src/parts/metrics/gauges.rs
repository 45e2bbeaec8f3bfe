use std::sync::atomic::{AtomicI64, AtomicU64};

use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use serde_json::Value;

use super::scraped::register_times;
use super::utilization::RecentLoad;
use carat_http::{EdgeCore, OtherParts, PartSample, SampleValue};
use carat_settings::Settings;

/// Metrics with one label, whose values are known beforehand.
type KnownGauges = Family<[(&'static str, &'static str); 1], Gauge<i64, AtomicI64>>;
type KnownCounts = Family<[(&'static str, &'static str); 1], Counter>;
type KnownSeconds = Family<[(&'static str, &'static str); 1], Counter<f64, AtomicU64>>;
/// The labels `requests` and `reason`.
type ReasonCounts = Family<[(&'static str, &'static str); 2], Counter>;
type ReasonSeconds = Family<[(&'static str, &'static str); 2], Counter<f64, AtomicU64>>;
/// The label `pool`, whose values the configuration names.
type PoolGauges = Family<[(&'static str, String); 1], Gauge<i64, AtomicI64>>;
type PoolShares = Family<[(&'static str, String); 1], Gauge<f64, AtomicU64>>;
type PoolCounters = Family<[(&'static str, String); 1], Counter>;

/// States of workers, as `carat status` names them.
const STATES: [&str; 5] = ["booting", "serving", "to be replaced", "draining", "stuck"];

/// Kinds of processes.
const KINDS: [&str; 4] = ["edge", "mold", "worker", "app"];

/// The name and the help of a metric, and where `carat status` has its value.
const NUMBERS: [(&str, &str, &str); 5] = [
    ("connections", "Client connections", "/connections"),
    (
        "running_requests",
        "Requests that the workers have",
        "/running",
    ),
    (
        "waiting_requests",
        "Requests that wait for a worker",
        "/waiting",
    ),
    ("queue_limit", "Requests that may wait", "/queue_limit"),
    (
        "wanted_workers",
        "Workers that the load asks for",
        "/workers/wanted",
    ),
];

/// The gauges and counters of the server at this moment.
pub(super) fn gauges(
    core: &EdgeCore,
    parts: &dyn OtherParts,
    status: &Value,
    files: usize,
) -> Registry {
    let mut registry = Registry::with_prefix("carat");
    for (name, help, key) in NUMBERS {
        let value = status.pointer(key).and_then(Value::as_u64);
        registry.register(name, help, gauge(value.unwrap_or_default()));
    }
    let rows = status["processes"].as_array().into_iter().flatten();
    let tunnels = rows.filter_map(|row| row["tunnels"].as_u64()).sum();
    let is_overloaded = core.dispatch.dispatcher.figures().is_overloaded();
    let help = "Connections that the application has taken over";
    registry.register("tunnels", help, gauge(tunnels));
    let help = "1 while the newest requests are served first";
    registry.register("overloaded", help, gauge(is_overloaded.into()));
    registry.register("open_files", "Descriptors of the edge", gauge(files as u64));
    register_workers(&mut registry, status);
    register_pools(&mut registry, status);
    register_bytes(&mut registry, core);
    register_memory(&mut registry, status);
    register_ruby(&mut registry, status);
    register_collections(&mut registry, core);
    for sample in parts.samples() {
        register_sample(&mut registry, &sample);
    }
    let dropped = ConstCounter::new(core.log.dropped_lines());
    registry.register(
        "log_lines_dropped",
        "Lines that the log had no room for",
        dropped,
    );
    registry
}

/// The gauges of the server by the names of `puma-metrics` and `yabeda-puma-plugin`, all workers together: dashboards
/// and autoscalers that were made for Puma read them.
pub(super) fn as_puma(settings: &Settings, status: &Value) -> Registry {
    let mut registry = Registry::with_prefix("puma");
    let workers = status["processes"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let booted = workers.iter().filter(|row| row["state"] != "booting");
    let old = booted.clone().filter(|row| row["state"] != "serving");
    let (all, booted, old) = (workers.len(), booted.count(), old.count());
    let threads = u64::from(settings.slots()) * booted as u64;
    let running = status["running"].as_u64().unwrap_or_default();
    let mut set = |name: &str, help: &str, value: u64| registry.register(name, help, gauge(value));
    let waiting = status["waiting"].as_u64().unwrap_or_default();
    set("backlog", "Requests that wait for a worker", waiting);
    set("running", "Threads or fibers of all workers", threads);
    set(
        "max_threads",
        "Threads or fibers of all workers: Carat starts all at once",
        threads,
    );
    let free = threads.saturating_sub(running);
    set("pool_capacity", "Requests that would begin at once", free);
    set("workers", "Workers", all as u64);
    set("booted_workers", "Workers that are ready", booted as u64);
    set("old_workers", "Workers that are replaced", old as u64);
    registry
}

/// Registers a number of a part.
fn register_sample(registry: &mut Registry, sample: &PartSample) {
    let (name, help) = (sample.name, sample.help);
    match &sample.value {
        SampleValue::Gauge(count) => registry.register(name, help, gauge(*count)),
        SampleValue::Bytes(bytes) => {
            registry.register_with_unit(name, help, Unit::Bytes, gauge(*bytes));
        }
        SampleValue::Counter(count) => registry.register(name, help, ConstCounter::new(*count)),
        SampleValue::Times(times) => register_times(registry, name, help, times),
    }
}

/// Registers the metrics of each pool, if there are several.
fn register_pools(registry: &mut Registry, status: &Value) {
    let (running, waiting) = (PoolGauges::default(), PoolGauges::default());
    let refused = PoolCounters::default();
    let pools = status["pools"].as_array().map_or(&[][..], Vec::as_slice);
    for pool in pools {
        let label = [("pool", pool["name"].as_str().unwrap_or_default().to_owned())];
        let number = |key: &str| pool[key].as_u64().unwrap_or_default();
        let gauges = [(&running, "running"), (&waiting, "waiting")];
        for (family, key) in gauges {
            family.get_or_create(&label).set(signed(number(key)));
        }
        refused.get_or_create(&label).inc_by(number("refused"));
    }
    if pools.is_empty() {
        return;
    }
    let help = "Requests of a pool that the workers have";
    registry.register("pool_running_requests", help, running);
    let help = "Requests of a pool that wait for a worker";
    registry.register("pool_waiting_requests", help, waiting);
    let help = "Requests of a pool that got 503 instead of a worker";
    registry.register("pool_refused_requests", help, refused);
}

/// Registers which share of the threads of the most workers that there may be was busy in the last seconds, and which of
/// each pool's, if there are several.
pub(super) fn register_utilization(registry: &mut Registry, load: &RecentLoad, status: &Value) {
    let number = |value: &Value| value.as_u64().and_then(|it| usize::try_from(it).ok());
    let workers = number(&status["workers"]["max"]).unwrap_or_default();
    let all = Gauge::<f64, AtomicU64>::default();
    all.set(load.utilization(workers));
    let help = "Share of the threads that was busy in the last 15 seconds; above 1, requests wait";
    registry.register("utilization", help, all);
    let pools = status["pools"].as_array().map_or(&[][..], Vec::as_slice);
    if pools.is_empty() {
        return;
    }
    let shares = PoolShares::default();
    for (index, pool) in pools.iter().enumerate() {
        let label = [("pool", pool["name"].as_str().unwrap_or_default().to_owned())];
        let share = load.pool_utilization(index, number(&pool["threads"]), workers);
        shares.get_or_create(&label).set(share);
    }
    let help = "Share of the threads of a pool that was busy in the last 15 seconds";
    registry.register("pool_utilization", help, shares);
}

fn register_workers(registry: &mut Registry, status: &Value) {
    let rows = || status["processes"].as_array().into_iter().flatten();
    let workers = KnownGauges::default();
    for state in STATES {
        let count = rows().filter(|row| row["state"] == state).count();
        workers
            .get_or_create(&[("state", state)])
            .set(signed(count as u64));
    }
    registry.register("workers", "Workers by state", workers);
}

fn register_bytes(registry: &mut Registry, core: &EdgeCore) {
    let clients = core.dispatch.client_memory();
    let mut set = |name: &str, help: &str, value: u64| {
        registry.register_with_unit(name, help, Unit::Bytes, gauge(value));
    };
    set(
        "client_memory_used",
        "Memory that clients make the edge hold",
        clients.used(),
    );
    set(
        "client_memory_limit",
        "The option client_memory",
        clients.limit(),
    );
    set(
        "spool_used",
        "Bytes of bodies in files",
        core.dispatch.dispatcher.figures().spooled(),
    );
}

/// Registers the memory of the processes as the supervisor has last read it. A reading takes the
/// kernel milliseconds for each process.
fn register_memory(registry: &mut Registry, status: &Value) {
    let (pss, private) = (KnownGauges::default(), KnownGauges::default());
    let rows = status["memory"].as_array().into_iter().flatten();
    for kind in KINDS {
        let rows = rows.clone().filter(|row| row["kind"] == kind);
        let sum = |key: &str| rows.clone().filter_map(|row| row[key].as_u64()).sum();
        let label = [("kind", kind)];
        pss.get_or_create(&label).set(signed(sum("pss")));
        private.get_or_create(&label).set(signed(sum("private")));
    }
    let help = "Memory of the processes of a kind, each shared page once";
    registry.register_with_unit("memory_pss", help, Unit::Bytes, pss);
    let help = "Memory of the processes of a kind that no other process has";
    registry.register_with_unit("memory_private", help, Unit::Bytes, private);
}

/// Registers the time and memory that Ruby takes in its processes, as they reported them a few seconds ago.
fn register_ruby(registry: &mut Registry, status: &Value) {
    let (collected, code) = (KnownSeconds::default(), KnownGauges::default());
    for row in status["ruby"].as_array().into_iter().flatten() {
        let kind = KINDS.iter().find(|kind| row["kind"] == **kind);
        let Some(kind) = kind else { continue };
        let seconds = row["gc_seconds"].as_f64().unwrap_or_default();
        let label = [("kind", *kind)];
        collected.get_or_create(&label).inc_by(seconds);
        let bytes = row["jit_bytes"].as_u64().unwrap_or_default();
        code.get_or_create(&label).set(signed(bytes));
    }
    let help = "CPU time of Ruby's garbage collector";
    registry.register_with_unit("gc_time", help, Unit::Seconds, collected);
    let help = "Machine code of Ruby's compiler";
    registry.register_with_unit("jit_code", help, Unit::Bytes, code);
}

/// Registers the full garbage collections of the workers, and the rests for them.
fn register_collections(registry: &mut Registry, core: &EdgeCore) {
    let totals = core.dispatch.dispatcher.figures().collections();
    let (counts, times) = (ReasonCounts::default(), ReasonSeconds::default());
    let groups = [
        ("between", totals.between_requests),
        ("beside", totals.beside_requests),
        ("within", totals.within_requests),
    ];
    for (name, group) in groups {
        for (reason, part) in group.by_reason() {
            let labels = [("requests", name), ("reason", reason.name())];
            counts.get_or_create(&labels).inc_by(part.count);
            times.get_or_create(&labels).inc_by(part.seconds);
        }
    }
    let help = "Full garbage collections of workers: between, beside, or within requests";
    registry.register("full_collections", help, counts);
    let help = "How long these collections took";
    registry.register_with_unit("full_collection_time", help, Unit::Seconds, times);
    let hasty = KnownCounts::default();
    for (reason, count) in totals.haste.by_reason() {
        let label = [("reason", reason.name())];
        hasty.get_or_create(&label).inc_by(count);
    }
    let help = "Full garbage collections within requests, by why they did not wait";
    registry.register("hasty_collections", help, hasty);
    let mut set = |name: &str, help: &str, count: u64| {
        registry.register(name, help, ConstCounter::new(count));
    };
    let help = "Requests that waited for a full garbage collection";
    set("collection_waits", help, totals.waited_requests);
    let help = "Times that a worker got no request, to collect its garbage";
    set("worker_rests", help, totals.rests);
    let help = "How long these rests lasted";
    let lasted = ConstCounter::new(totals.rest_seconds);
    registry.register_with_unit("worker_rest_time", help, Unit::Seconds, lasted);
}

fn gauge(value: u64) -> Gauge<i64, AtomicI64> {
    let gauge = Gauge::default();
    gauge.set(signed(value));
    gauge
}

fn signed(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
