use std::time::Duration;

use carat_policy::{Elastic, MemoryLimit, WearLimits};

use crate::settings::Settings;

/// What the options and the machine allow, as far as the processes are concerned.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) elastic: Elastic,
    pub(crate) wear: WearLimits,
    /// How many requests one worker runs at once.
    pub(crate) slots: u16,
    pub(crate) memory: MemoryLimit,
    /// The machine's memory in bytes; `None` when the kernel does not say.
    pub(crate) machine_memory: Option<u64>,
    /// What clients may make the edge hold in bytes.
    pub(crate) client_memory: u64,
    pub(crate) worker_memory: Option<u64>,
    pub(crate) worker_idle_timeout: Duration,
    pub(crate) boot_timeout: Duration,
    pub(crate) request_timeout: Option<Duration>,
    /// Zero for none.
    pub(crate) drain_delay: Duration,
    pub(crate) shutdown_timeout: Duration,
    pub(crate) tunnel_timeout: Duration,
    pub(crate) upgrade_timeout: Duration,
    pub(crate) keep_previous: Duration,
    /// Whether a restart replaces all workers at once, and keeps nothing of the old code.
    pub(crate) reload: bool,
}

impl Limits {
    /// Reads the limits from the options of a server on a machine with these processors and this memory, whose
    /// clients may make the edge hold `client_memory` bytes.
    pub(crate) fn new(
        settings: &Settings,
        processors: u32,
        machine_memory: Option<u64>,
        client_memory: u64,
    ) -> Limits {
        Limits {
            elastic: Elastic::new(settings.workers, settings.queue_time_target, processors),
            wear: WearLimits {
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
            reload: settings.reload,
        }
    }
}
