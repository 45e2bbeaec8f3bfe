use std::time::Duration;

use carat_policy::{Elastic, MemoryLimit, RecycleLimits};

use carat_settings::Settings;

/// The limits of the processes, as the options and the machine set them.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// The bounds of the number of workers.
    pub elastic: Elastic,
    /// When a worker is recycled.
    pub recycle: RecycleLimits,
    /// How many requests one worker runs at once.
    pub slots: u16,
    /// The memory that all processes together may use.
    pub memory: MemoryLimit,
    /// The machine's memory in bytes; `None` when the kernel does not say.
    pub machine_memory: Option<u64>,
    /// The memory that clients may make the edge hold, in bytes.
    pub client_memory: u64,
    /// The memory that one worker may use, in bytes.
    pub worker_memory: Option<u64>,
    /// How long a worker that is not needed may idle.
    pub worker_idle_timeout: Duration,
    /// How long a process may take to become ready.
    pub boot_timeout: Duration,
    /// How long a request may take.
    pub request_timeout: Option<Duration>,
    /// How long the server continues to serve when it is told to stop; zero to stop at once.
    pub drain_delay: Duration,
    /// How long requests may take to finish, and hooks to run, when a worker or the server ends.
    pub shutdown_timeout: Duration,
    /// How long tunnels may delay the end of a worker.
    pub tunnel_timeout: Duration,
    /// How long the old edge may finish its requests.
    pub upgrade_timeout: Duration,
    /// How long a rollback is possible.
    pub keep_previous: Duration,
    /// Whether a restart may hold the requests while no worker runs.
    pub restart_hold: bool,
    /// Whether a restart replaces all workers at once, and keeps nothing of the old code.
    pub replaces_at_once: bool,
}

impl Limits {
    /// Reads the limits from the options of a server on a machine with these processors and this memory, whose
    /// clients may make the edge hold `client_memory` bytes.
    pub fn new(
        settings: &Settings,
        processors: u32,
        machine_memory: Option<u64>,
        client_memory: u64,
    ) -> Limits {
        Limits {
            elastic: Elastic::new(settings.workers, settings.queue_time_target, processors),
            recycle: RecycleLimits {
                requests: settings.worker_requests,
                age: settings.worker_age,
            },
            slots: settings.slots(),
            memory: settings.memory,
            machine_memory,
            client_memory,
            worker_memory: settings.worker_memory,
            worker_idle_timeout: settings.worker_idle_timeout,
            boot_timeout: settings.boot_timeout,
            request_timeout: settings.request_timeout,
            drain_delay: settings.drain_delay.unwrap_or_default(),
            shutdown_timeout: settings.shutdown_timeout,
            tunnel_timeout: settings.tunnel_timeout,
            upgrade_timeout: settings.upgrade_timeout,
            keep_previous: settings.keep_previous,
            restart_hold: settings.restart_hold,
            replaces_at_once: settings.parts.replace_at_once(),
        }
    }
}
