use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_local;

use super::Listener;
use crate::http::drive;
use crate::server::Server;

/// How long a listener rests when the process has no descriptor left for another client.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(100);

/// Accepts clients until the server drains, those included who have connected by then. At
/// `max_connections` the clients wait in the backlog.
pub(crate) async fn accept(listener: Listener, server: Rc<Server>) -> io::Result<()> {
    loop {
        let seat = tokio::select! {
            biased;
            seat = Arc::clone(&server.seats).acquire_owned() => seat,
            () = server.draining.wait() => return Ok(()),
        };
        let accepted = tokio::select! {
            biased;
            accepted = poll_fn(|cx| listener.poll_accept(cx)) => accepted,
            () = server.draining.wait() => return Ok(()),
        };
        match accepted {
            Ok(stream) => {
                let server = Rc::clone(&server);
                spawn_local(async move {
                    drive(stream, server).await;
                    drop(seat);
                });
            }
            Err(error) if is_exhausted(&error) => {
                server
                    .log
                    .warn("cannot accept: no descriptor left", &[("cause", &error)]);
                tokio::time::sleep(EXHAUSTED_PAUSE).await;
            }
            // The client has gone before it was accepted; that is its own affair.
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
