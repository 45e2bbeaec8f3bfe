//! The limits of this machine and of its control group, divided among clients and workers.

use std::path::Path;

use carat_policy::{Counted, DescriptorBudget, Elastic, MemoryBudget, client_memory};
use rustix::process::{Resource, getrlimit};

use carat_log::Log;
use carat_machine::{Container, Machine};
use carat_settings::Settings;

/// Divides the limit of open files among clients, bodies, and workers. Logs a warning if fewer clients are possible
/// than the user chose; returns an error if hardly any are.
pub(crate) fn descriptor_budget(
    settings: &Settings,
    log: &Log,
) -> Result<DescriptorBudget, String> {
    let limit = open_files();
    let processors = Machine::read(Path::new("/")).processors;
    let workers = Elastic::new(settings.workers, settings.queue_time_target, processors).max;
    let budget = descriptors_for(settings, workers).ok_or_else(|| {
        format!(
            "the limit of open files, {limit}, is too low for {} and clients: \
             raise `ulimit -Hn` or LimitNOFILE",
            Counted(workers.into(), "worker")
        )
    })?;
    if let Some(chosen) = settings
        .chosen_connections
        .filter(|chosen| budget.connections < *chosen)
    {
        log.warn(
            "the limit of open files allows fewer clients than max_connections",
            &[
                ("clients", &budget.connections),
                ("max_connections", &chosen),
                ("open_files", &limit),
            ],
        );
    }
    Ok(budget)
}

/// Divides the limit among clients and this many workers; `None` if hardly any clients fit.
pub(super) fn descriptors_for(settings: &Settings, workers: u32) -> Option<DescriptorBudget> {
    let most = settings.max_connections;
    DescriptorBudget::new(open_files(), most, workers, settings.lanes())
}

fn open_files() -> usize {
    let limit = getrlimit(Resource::Nofile).current;
    limit.map_or(usize::MAX, |limit| {
        usize::try_from(limit).unwrap_or(usize::MAX)
    })
}

/// How many bytes clients may make the edge hold, by the options, and by the memory of this machine and its control
/// group now.
pub(crate) fn client_memory_limit(settings: &Settings) -> u64 {
    client_memory(settings.client_memory, memory_limit(settings))
}

/// How many bytes the server may use (the option `memory`).
pub(crate) fn memory_limit(settings: &Settings) -> u64 {
    let root = Path::new("/");
    let container = Container::find(root).memory();
    MemoryBudget::new(settings.memory, &container, Machine::read(root).memory).limit
}
