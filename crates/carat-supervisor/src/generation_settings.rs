use carat_policy::ReforkRule;

use super::limits::Limits;
use carat_settings::{ProcessSettings, Settings};

/// The settings of a generation, as far as the supervisor's decisions depend on them.
#[derive(Debug, Clone)]
pub struct GenerationSettings {
    /// The limits of the generation, which a restart may change.
    pub limits: Limits,
    /// When a worker becomes the mold.
    pub refork: ReforkRule,
    /// The further processes of the application.
    pub apps: Vec<ProcessSettings>,
}

impl GenerationSettings {
    /// Reads the settings from the options of a server. `client_memory` is how many bytes clients may make the edge
    /// hold.
    pub fn new(
        settings: &Settings,
        processors: u32,
        machine_memory: Option<u64>,
        client_memory: u64,
    ) -> GenerationSettings {
        GenerationSettings {
            limits: Limits::new(settings, processors, machine_memory, client_memory),
            refork: settings.refork.clone(),
            apps: settings.processes.clone(),
        }
    }
}
