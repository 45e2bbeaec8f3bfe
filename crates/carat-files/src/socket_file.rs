//! The files of Unix sockets: the only code that removes them.

use std::fs;
use std::io;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use socket2::{Domain, SockAddr, Socket, Type};

/// The file of a bound Unix socket. Dropping it removes the file, unless another server put its own there.
pub struct SocketFile {
    path: PathBuf,
    identity: Option<FileIdentity>,
}

/// The device and the inode of a file.
type FileIdentity = (u64, u64);

impl SocketFile {
    /// Binds a socket to a path, in place of the socket of a server that is gone.
    pub fn bind(socket: &Socket, path: &Path) -> io::Result<SocketFile> {
        remove_stale(path)?;
        socket.bind(&SockAddr::unix(path)?)?;
        Ok(SocketFile {
            path: path.to_owned(),
            identity: identity(path),
        })
    }

    /// Binds a socket to a path, and listens.
    pub fn listen(socket: &Socket, path: &Path, backlog: i32) -> io::Result<SocketFile> {
        let file = SocketFile::bind(socket, path)?;
        socket.listen(backlog)?;
        Ok(file)
    }

    /// Binds a socket to a path in place of any other socket, and listens. At any time, the path has a socket that
    /// accepts clients. A file that is no socket is left in place, which is an error.
    pub fn replace(socket: &Socket, path: &Path, backlog: i32) -> io::Result<SocketFile> {
        if fs::symlink_metadata(path).is_ok_and(|found| !found.file_type().is_socket()) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let mut name = path.to_owned().into_os_string();
        name.push(format!(".{}", std::process::id()));
        let new = SocketFile::listen(socket, Path::new(&name), backlog)?;
        fs::rename(&new.path, path)?;
        new.keep();
        Ok(SocketFile::of(path.to_owned()))
    }

    /// The file of a socket that another server has bound, and that this server takes over.
    pub fn of(path: PathBuf) -> SocketFile {
        let identity = identity(&path);
        SocketFile { path, identity }
    }

    /// Leaves the file in place.
    pub fn keep(mut self) {
        self.identity = None;
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        if self.identity.is_some() && self.identity == identity(&self.path) {
            // The file may be gone already.
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Removes the socket of a server that is gone: a socket that refuses a connection. A socket with a listener stays, and
/// so do a file that is no socket, and a socket that has replaced the refusing one meanwhile.
pub fn remove_stale(path: &Path) -> io::Result<()> {
    let is_socket = fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
    if !is_socket {
        return Ok(());
    }
    let before = identity(path);
    if is_refused(path)? && identity(path) == before {
        fs::remove_file(path)?;
    }
    Ok(())
}

/// Whether the socket has no listener. Only a refused connection shows that; a server with a full backlog, or one that
/// this user may not connect to, has a listener, too.
fn is_refused(path: &Path) -> io::Result<bool> {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
    socket.set_nonblocking(true)?;
    let connected = socket.connect(&SockAddr::unix(path)?);
    Ok(connected.is_err_and(|error| error.kind() == io::ErrorKind::ConnectionRefused))
}

fn identity(path: &Path) -> Option<FileIdentity> {
    let found = fs::symlink_metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::{UnixDatagram, UnixListener, UnixStream};

    use super::*;

    fn bind(path: &Path) -> io::Result<(Socket, SocketFile)> {
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        let file = SocketFile::listen(&socket, path, 1)?;
        Ok((socket, file))
    }

    fn in_directory(test: impl FnOnce(PathBuf)) {
        let directory = tempfile::tempdir().expect("a directory");
        test(directory.path().join("carat.sock"));
    }

    #[test]
    fn clients_are_never_refused_while_a_socket_is_replaced() {
        in_directory(|path| {
            let _old = bind(&path).expect("free");
            let new = Socket::new(Domain::UNIX, Type::STREAM, None).expect("a socket");
            let _new = SocketFile::replace(&new, &path, 1).expect("replaced");
            UnixStream::connect(&path).expect("not refused");
        });
    }

    #[test]
    fn a_file_in_the_place_of_a_socket_is_not_replaced() {
        in_directory(|path| {
            fs::write(&path, "mine").expect("writable");
            let new = Socket::new(Domain::UNIX, Type::STREAM, None).expect("a socket");
            assert!(SocketFile::replace(&new, &path, 1).is_err());
            assert_eq!(fs::read(&path).expect("still there"), b"mine");
        });
    }

    #[test]
    fn the_file_is_removed_with_its_socket() {
        in_directory(|path| {
            drop(bind(&path).expect("free"));
            assert!(!path.exists());
        });
    }

    #[test]
    fn a_socket_that_nobody_listens_on_is_replaced() {
        in_directory(|path| {
            drop(UnixListener::bind(&path).expect("free"));
            assert!(path.exists());
            bind(&path).expect("replaced");
        });
    }

    #[test]
    fn the_socket_of_a_running_server_and_a_file_stay() {
        in_directory(|path| {
            let other = UnixListener::bind(&path).expect("free");
            assert!(bind(&path).is_err());
            drop(other);
            fs::remove_file(&path).expect("still there");
            fs::write(&path, "mine").expect("writable");
            assert!(bind(&path).is_err());
            assert_eq!(fs::read(&path).expect("still there"), b"mine");
        });
    }

    #[test]
    fn a_socket_that_fails_in_another_way_than_by_refusing_stays() {
        in_directory(|path| {
            let _datagrams = UnixDatagram::bind(&path).expect("free");
            remove_stale(&path).expect("left alone");
            assert!(path.exists());
        });
    }

    #[test]
    fn a_server_whose_backlog_is_full_stays() {
        in_directory(|path| {
            let (server, _file) = bind(&path).expect("free");
            server.listen(0).expect("bound");
            let clients = (0..3).map(|_| {
                let client = Socket::new(Domain::UNIX, Type::STREAM, None).expect("a socket");
                client.set_nonblocking(true).expect("a socket");
                // The last ones find the backlog full.
                let _ = client.connect(&SockAddr::unix(&path).expect("a path"));
                client
            });
            let _clients: Vec<_> = clients.collect();
            remove_stale(&path).expect("left alone");
            assert!(path.exists());
        });
    }

    #[test]
    fn a_file_that_another_server_put_there_stays() {
        in_directory(|path| {
            let bound = bind(&path).expect("free");
            let aside = path.with_extension("old");
            fs::rename(&path, &aside).expect("still there");
            let _other = UnixListener::bind(&path).expect("free");
            drop(bound);
            assert!(path.exists());
        });
    }
}
