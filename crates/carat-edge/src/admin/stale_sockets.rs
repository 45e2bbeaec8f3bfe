use std::fs;
use std::path::Path;

use super::socket_name::SocketName;
use carat_files::remove_stale;

/// Removes the sockets that killed servers left in a directory. In a sticky directory, the sockets of other users stay.
pub(super) fn remove_stale_sockets(directory: &Path, socket_name: &SocketName) {
    let Ok(entries) = fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let pid = name.to_str().and_then(|name| socket_name.pid(name));
        // A server that is about to listen is running, so its socket is kept. A server in another container accepts
        // connections.
        let is_dead = pid.is_some_and(|pid| !Path::new(&format!("/proc/{pid}")).exists());
        if is_dead {
            // A socket that cannot be removed does no harm.
            let _ = remove_stale(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;

    use super::*;

    /// No process has an id this high.
    const DEAD: &str = "carat-4294967290.sock";

    #[test]
    fn the_sockets_of_dead_servers_are_removed() {
        let directory = tempfile::tempdir().expect("a directory");
        let own = format!("carat-{}.sock", std::process::id());
        for name in [DEAD, &own, "carat.sock"] {
            drop(UnixListener::bind(directory.path().join(name)).expect("free"));
        }
        remove_stale_sockets(directory.path(), &SocketName::new("carat-PID.sock"));
        let is_there = |name: &str| directory.path().join(name).exists();
        assert!(!is_there(DEAD));
        assert!(is_there(&own) && is_there("carat.sock"));
    }

    #[test]
    fn a_socket_with_a_listener_and_a_file_stay() {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("carat-4294967291.sock");
        fs::write(&file, "mine").expect("writable");
        let socket = directory.path().join(DEAD);
        let _listener = UnixListener::bind(&socket).expect("free");
        remove_stale_sockets(directory.path(), &SocketName::new("carat-PID.sock"));
        assert!(socket.exists() && file.exists());
        remove_stale_sockets(&file, &SocketName::new("carat-PID.sock"));
    }
}
