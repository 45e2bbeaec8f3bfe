use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_local;

use super::connection::serve_connection;
use super::listener::Listener;
use super::server::Server;

/// How long a listener pauses when no file descriptor is left for another client.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(100);

/// Accepts clients until the server drains, including those that connected before. At
/// `max_connections` further clients wait in the backlog.
pub(crate) async fn accept(listener: Listener, server: Rc<Server>) {
    loop {
        let permit = tokio::select! {
            biased;
            permit = Arc::clone(&server.connection_permits).acquire_owned() => permit,
            () = server.draining.wait() => return,
        };
        let accepted = tokio::select! {
            biased;
            accepted = poll_fn(|cx| listener.poll_accept(cx)) => accepted,
            () = server.draining.wait() => return,
        };
        match accepted {
            Ok(stream) => {
                let server = Rc::clone(&server);
                spawn_local(async move {
                    serve_connection(stream, server).await;
                    drop(permit);
                });
            }
            Err(error) if is_exhausted(&error) => {
                server
                    .log
                    .warn("cannot accept: no descriptor left", &[("cause", &error)]);
                tokio::time::sleep(EXHAUSTED_PAUSE).await;
            }
            // The client closed the connection before it was accepted.
            Err(_) => {}
        }
    }
}

fn is_exhausted(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let exhausted = [Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM];
    exhausted
        .iter()
        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}
