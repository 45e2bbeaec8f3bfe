use std::path::Path;

use carat_policy::{MemoryBudget, client_memory};

use carat_machine::{Container, Machine};
use carat_settings::Settings;

/// How many bytes clients may make the edge hold, by the options and what this machine and its control group have now.
pub(crate) fn client_memory_limit(settings: &Settings) -> u64 {
    client_memory(settings.client_memory, memory_limit(settings))
}

/// How many bytes the server may use (the option `memory`).
pub(crate) fn memory_limit(settings: &Settings) -> u64 {
    let root = Path::new("/");
    let container = Container::find(root).memory();
    MemoryBudget::new(settings.memory, &container, Machine::read(root).memory).limit
}
