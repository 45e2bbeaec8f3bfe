use std::path::Path;

use serde::Serialize;

use crate::container::Container;
use crate::machine::Machine;

/// The limits that the kernel sets for this process.
#[derive(PartialEq, Eq, Serialize)]
pub struct MachineLimits {
    /// The lowest memory limit of the control groups in bytes; `None` without one.
    container_memory: Option<u64>,
    /// The machine's memory in bytes; `None` where the kernel does not say.
    machine_memory: Option<u64>,
    processors: u32,
}

impl MachineLimits {
    /// Reads the files of the kernel. `root` is `/`.
    pub fn read(root: &Path) -> MachineLimits {
        let machine = Machine::read(root);
        MachineLimits {
            container_memory: Container::find(root).memory().limit,
            machine_memory: machine.memory,
            processors: machine.processors,
        }
    }

    /// The limits as a JSON object.
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).expect("limits have no keys but strings")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::Recording;

    #[test]
    fn the_limits_of_a_container_and_its_machine_are_json() {
        let json = MachineLimits::read(Recording::docker_v2().root()).to_json();
        let expected = r#"{"container_memory":268435456,"machine_memory":16777216000,"#;
        assert!(json.starts_with(expected), "{json}");
    }

    #[test]
    fn a_machine_without_control_groups_has_no_container_limit() {
        let limits = MachineLimits::read(Recording::bare().root());
        assert_eq!(limits.container_memory, None);
    }
}
