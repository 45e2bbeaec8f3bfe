use std::io;
use std::path::Path;

use rustix::fs::Mode;
use socket2::{Domain, Socket, Type};
use tokio::net::{UnixListener, UnixStream};

use carat_files::SocketFile;

/// How many clients may wait until another one has been served.
const BACKLOG: i32 = 16;

const ROOT: u32 = 0;

/// The listening control socket. Dropping it removes its file.
pub(super) struct ControlListener {
    listener: UnixListener,
    _file: SocketFile,
}

impl ControlListener {
    /// Binds the socket for the user of this process alone.
    pub(super) fn bind(path: &Path) -> io::Result<ControlListener> {
        ControlListener::listen(path, SocketFile::listen)
    }

    /// Binds the socket for the user of this process alone, in place of the socket of another server.
    pub(super) fn replace(path: &Path) -> io::Result<ControlListener> {
        ControlListener::listen(path, SocketFile::replace)
    }

    fn listen(
        path: &Path,
        listen: impl FnOnce(&Socket, &Path, i32) -> io::Result<SocketFile>,
    ) -> io::Result<ControlListener> {
        let socket = Socket::new(Domain::UNIX, Type::STREAM, None)?;
        // The file is created with the mode of its socket, so nobody else can connect, not even before a chmod.
        rustix::fs::fchmod(&socket, Mode::RUSR | Mode::WUSR)?;
        let file = listen(&socket, path, BACKLOG).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        })?;
        socket.set_nonblocking(true)?;
        Ok(ControlListener {
            listener: UnixListener::from_std(socket.into())?,
            _file: file,
        })
    }

    /// Waits for the next client with access: the user of this process, or root.
    pub(super) async fn accept(&self) -> io::Result<UnixStream> {
        loop {
            let (stream, _) = self.listener.accept().await?;
            let server = rustix::process::geteuid().as_raw();
            let peer = stream.peer_cred();
            if peer.is_ok_and(|peer| has_access(peer.uid(), server)) {
                return Ok(stream);
            }
        }
    }
}

/// Whether a client with this user id has access to a server with that one.
fn has_access(client: u32, server: u32) -> bool {
    client == server || client == ROOT
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn only_its_user_may_connect_and_its_file_ends_with_it() {
        let directory = tempfile::tempdir().expect("a directory");
        let path = directory.path().join("carat.sock");
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build();
        runtime.expect("a runtime").block_on(async {
            let listener = ControlListener::bind(&path).expect("free");
            let mode = fs::metadata(&path).expect("there").permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
            let client = UnixStream::connect(&path).await.expect("accepted");
            listener.accept().await.expect("a client");
            drop((listener, client));
            assert!(!path.exists());
        });
    }

    #[test]
    fn the_servers_user_and_root_have_access() {
        assert!(has_access(1000, 1000));
        assert!(has_access(0, 1000));
        assert!(!has_access(1001, 1000));
        assert!(!has_access(1000, 0));
    }
}
