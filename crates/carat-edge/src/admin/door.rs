use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::Mode;
use socket2::{Domain, SockAddr, Socket, Type};
use tokio::net::{UnixListener, UnixStream};

/// Clients that wait until one of those who are served has gone.
const BACKLOG: i32 = 16;

const ROOT: u32 = 0;

/// The listening control socket. Dropping it removes its file.
#[derive(Debug)]
pub(super) struct Door {
    listener: UnixListener,
    path: PathBuf,
    /// Device and inode: another server may have put its own there.
    file: Option<(u64, u64)>,
}

impl Door {
    /// Binds the socket for the user of this process alone, in place of one that nobody listens on any more.
    pub(super) fn open(path: &Path) -> io::Result<Door> {
        remove_abandoned(path)?;
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        // The file is made with the mode of its socket: nobody else can connect, not even before a chmod.
        rustix::fs::fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
        socket.bind(&SockAddr::unix(path)?)?;
        let door = Door {
            file: identity(path),
            path: path.to_owned(),
            listener: {
                socket.listen(BACKLOG)?;
                socket.set_nonblocking(true)?;
                UnixListener::from_std(socket.into())?
            },
        };
        Ok(door)
    }

    /// Waits for the next client who may ask: the user of this process, or root.
    pub(super) async fn next(&self) -> io::Result<UnixStream> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            let is_known = stream
                .peer_cred()
                .is_ok_and(|peer| may_ask(peer.uid(), rustix::process::geteuid().as_raw()));
            if is_known {
                return Ok(stream);
            }
        }
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        if self.file.is_some() && self.file == identity(&self.path) {
            // Somebody else may have removed it; then there is nothing left to do.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Whether a client with this user id is let in by a server with that.
fn may_ask(client: u32, server: u32) -> bool {
    client == server || client == ROOT
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    let found = fs::symlink_metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

/// Removes the socket of a server that is gone. One that answers stays, and what is no socket.
pub(super) fn remove_abandoned(path: &Path) -> io::Result<()> {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    if !is_socket {
        return Ok(());
    }
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    // A server whose backlog is full is there as well; it is not waited for.
    socket.set_nonblocking(true)?;
    let answer = socket.connect(&SockAddr::unix(path)?);
    if answer.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused) {
        fs::remove_file(path)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::net::UnixListener as StdUnixListener;

    use super::*;

    fn in_directory(test: impl AsyncFnOnce(PathBuf)) {
        let directory = tempfile::tempdir().expect("a directory");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build();
        let runtime = runtime.expect("a runtime");
        runtime.block_on(test(directory.path().join("carat.sock")));
    }

    #[test]
    fn only_its_user_may_connect_and_its_file_ends_with_it() {
        in_directory(async |path| {
            let door = Door::open(&path).expect("free");
            let mode = fs::metadata(&path).expect("there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
            let client = UnixStream::connect(&path).await.expect("let in");
            door.next().await.expect("a client");
            drop((door, client));
            assert!(!path.exists());
        });
    }

    #[test]
    fn a_socket_that_nobody_listens_on_is_replaced() {
        in_directory(async |path| {
            drop(StdUnixListener::bind(&path).expect("free"));
            assert!(path.exists());
            Door::open(&path).expect("replaced");
        });
    }

    #[test]
    fn the_socket_of_a_running_server_and_a_file_stay() {
        in_directory(async |path| {
            let other = StdUnixListener::bind(&path).expect("free");
            assert!(Door::open(&path).is_err());
            drop(other);
            fs::remove_file(&path).expect("still there");
            fs::write(&path, "mine").expect("writable");
            assert!(Door::open(&path).is_err());
            assert_eq!(fs::read(&path).expect("still there"), b"mine");
        });
    }

    #[test]
    fn a_file_that_another_server_has_put_there_stays() {
        in_directory(async |path| {
            let door = Door::open(&path).expect("free");
            let aside = path.with_extension("old");
            fs::rename(&path, &aside).expect("still there");
            let _other = StdUnixListener::bind(&path).expect("free");
            drop(door);
            assert!(path.exists());
        });
    }

    #[test]
    fn the_servers_user_and_root_may_ask() {
        assert!(may_ask(1000, 1000));
        assert!(may_ask(0, 1000));
        assert!(!may_ask(1001, 1000));
        assert!(!may_ask(1000, 0));
    }
}
