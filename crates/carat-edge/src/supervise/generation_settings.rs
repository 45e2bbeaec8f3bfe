use carat_policy::{CanaryRule, ReforkRule};

use super::limits::Limits;
use crate::settings::Settings;

/// The settings of a generation, as far as the supervisor's decisions depend on them.
#[derive(Debug, Clone)]
pub(crate) struct GenerationSettings {
    pub(crate) limits: Limits,
    pub(crate) refork: ReforkRule,
    /// The share that its code gets at first.
    pub(crate) canary: CanaryRule,
}

impl GenerationSettings {
    /// Reads them from the options of a server on a machine with these processors and this memory, whose clients
    /// may make the edge hold `client_memory` bytes.
    pub(crate) fn new(
        settings: &Settings,
        processors: u32,
        machine_memory: Option<u64>,
        client_memory: u64,
    ) -> GenerationSettings {
        GenerationSettings {
            limits: Limits::new(settings, processors, machine_memory, client_memory),
            refork: settings.refork.clone(),
            canary: CanaryRule {
                percent: settings.canary.unwrap_or_default(),
                unit: settings.canary_by,
            },
        }
    }
}
