use std::fs;
use std::path::Path;

use super::door::remove_abandoned;

/// Removes the sockets that servers have left in a directory when they were killed. Those of other users stay where the
/// directory is sticky.
pub(super) fn sweep(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(pid_of);
        // A server that is about to listen is there as well, and one in another container answers.
        let is_dead = pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists());
        if is_dead {
            // What cannot be removed is in nobody's way.
            let _ = remove_abandoned(&entry.path());
        }
    }
}

/// The server whose socket has this name.
fn pid_of(name: &str) -> Option<u32> {
    let pid = name.strip_prefix("carat-")?.strip_suffix(".sock")?;
    pid.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    /// No process has a number as high as that.
    const DEAD: &str = "carat-4294967290.sock";

    #[test]
    fn the_sockets_of_dead_servers_are_removed() {
        let directory = tempfile::tempdir().expect("a directory");
        let own = format!("carat-{}.sock", std::process::id());
        for name in [DEAD, &own, "carat.sock"] {
            drop(UnixListener::bind(directory.path().join(name)).expect("free"));
        }
        sweep(directory.path());
        let is_there = |name: &str| directory.path().join(name).exists();
        assert!(!is_there(DEAD));
        assert!(is_there(&own) && is_there("carat.sock"));
    }

    #[test]
    fn a_socket_that_answers_and_a_file_stay() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("carat-4294967291.sock");
        fs::write(&file, "mine").expect("writable");
        let socket = directory.path().join(DEAD);
        let _listener = UnixListener::bind(&socket).expect("free");
        sweep(directory.path());
        assert!(socket.exists() && file.exists());
        sweep(&file);
    }

    #[test]
    fn only_a_number_makes_a_servers_name() {
        assert_eq!(pid_of("carat-42.sock"), Some(42));
        for name in ["carat-.sock", "carat-x.sock", "carat-42", "x-42.sock"] {
            assert_eq!(pid_of(name), None, "{name}");
        }
    }
}
