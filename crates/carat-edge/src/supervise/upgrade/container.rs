use std::fs;

use rustix::process::Pid;

/// Programs that run as process 1 of a container only to start another one, and end with it.
const INITS: [&str; 5] = [
    "tini",
    "docker-init",
    "dumb-init",
    "catatonit",
    "podman-init",
];

/// Why the process with which the server started cannot end before it; `None` if it can.
pub(crate) fn container_obstacle() -> Option<&'static str> {
    let parent = rustix::process::getppid().map_or(0, Pid::as_raw_pid);
    let init = fs::read_to_string("/proc/1/comm").unwrap_or_default();
    obstacle(std::process::id(), parent, init.trim())
}

fn obstacle(pid: u32, parent: i32, init: &str) -> Option<&'static str> {
    let ends = pid == 1 || (parent == 1 && INITS.contains(&init));
    ends.then_some(
        "the container ends with this process: start a new container, or use `carat restart` for new application code",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_container_ends_with_its_first_process() {
        assert!(obstacle(1, 0, "carat-edge").is_some());
        assert!(obstacle(7, 1, "tini").is_some());
        assert_eq!(obstacle(7, 1, "systemd"), None);
        assert_eq!(obstacle(7, 3, "tini"), None);
    }
}
