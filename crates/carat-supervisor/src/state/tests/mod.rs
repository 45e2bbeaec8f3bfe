//! Sequences of events against the whole state, with plain values: no process, no socket, no clock.

mod apps;
mod draining;
mod ending;
mod memory;
mod properties;
mod reforking;
mod reloading;
mod restarting;
mod serving;
mod upgrading;
mod world;

use std::time::{Duration, Instant};

use carat_policy::{Elastic, MemoryLimit, RecycleLimits};
use carat_settings::{ProcessSettings, RestartPolicy};

use super::reaction::Reaction;
use crate::limits::Limits;

/// Limits that have no effect, and one worker.
pub(super) fn limits() -> Limits {
    const HOUR: Duration = Duration::from_secs(3600);
    Limits {
        elastic: Elastic {
            min: 1,
            max: 1,
            queue_time_target: HOUR,
            follows_processors: false,
        },
        recycle: RecycleLimits {
            requests: None,
            age: None,
        },
        slots: 1,
        memory: MemoryLimit::Bytes(u64::MAX),
        machine_memory: None,
        client_memory: 0,
        worker_memory: None,
        worker_idle_timeout: HOUR,
        boot_timeout: Duration::from_secs(60),
        request_timeout: Some(Duration::from_secs(60)),
        drain_delay: Duration::ZERO,
        shutdown_timeout: Duration::from_secs(30),
        tunnel_timeout: Duration::from_secs(5),
        replaces_at_once: false,
        upgrade_timeout: Duration::from_secs(300),
        keep_previous: Duration::from_secs(60),
        restart_hold: true,
    }
}

/// Limits of a server with this many workers.
pub(super) fn fixed(workers: u32) -> Limits {
    let mut limits = limits();
    limits.elastic.min = workers;
    limits.elastic.max = workers;
    limits
}

/// The memory of the edge, of a mold, and of this many workers.
pub(super) fn room(workers: u64) -> MemoryLimit {
    MemoryLimit::Bytes(world::EDGE_BYTES + world::MOLD_BYTES + workers * world::WORKER_BYTES)
}

/// Limits of a server that wants `workers` workers, and has memory for `fitting` ones.
pub(super) fn limited(workers: u32, fitting: u64) -> Limits {
    let memory = room(fitting);
    Limits {
        memory,
        ..fixed(workers)
    }
}

/// A process that is declared this many times.
pub(super) fn jobs(count: u32) -> ProcessSettings {
    ProcessSettings {
        name: "jobs".to_owned(),
        count,
        most: count,
        memory: None,
        stop_signal: 15,
        stop_timeout: Some(Duration::from_secs(20)),
        restart: RestartPolicy::Always,
        overlap: false,
        is_command: false,
    }
}

pub(super) fn reaction() -> Reaction {
    Reaction {
        now: Instant::now(),
        limits: limits(),
        commands: Vec::new(),
    }
}
