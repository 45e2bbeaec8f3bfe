use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;
use tokio::task::spawn_local;

use super::connection::serve_connection;
use super::listener::Listener;
use super::server::Server;

/// How long a listener pauses when no file descriptor is left for another client.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(100);

/// Accepts clients until the server drains, including those that connected before. At
/// `max_connections` further clients wait in the backlog. An error means that the listener accepts nobody any more.
pub(crate) async fn accept(listener: Listener, server: Rc<Server>) -> io::Result<()> {
    loop {
        let permit = tokio::select! {
            biased;
            permit = Arc::clone(&server.connection_permits).acquire_owned() => permit,
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
            Err(error) if is_broken(&error) => return Err(error),
            // The client closed the connection before it was accepted.
            Err(_) => {}
        }
    }
}

fn is_exhausted(error: &io::Error) -> bool {
    is_one_of(
        error,
        &[Errno::MFILE, Errno::NFILE, Errno::NOBUFS, Errno::NOMEM],
    )
}

/// Whether the fault is the listener's rather than that of one client (accept(2)).
fn is_broken(error: &io::Error) -> bool {
    is_one_of(error, &[Errno::BADF, Errno::INVAL, Errno::NOTSOCK])
}

fn is_one_of(error: &io::Error, errnos: &[Errno]) -> bool {
    errnos
        .iter()
        .any(|errno| error.raw_os_error() == Some(errno.raw_os_error()))
}

#[cfg(test)]
mod tests {
    use std::net::Shutdown;

    use socket2::SockRef;
    use tokio::net::TcpListener;
    use tokio::task::{LocalSet, yield_now};

    use super::*;
    use crate::dispatch::{Dispatcher, LaneEvents};
    use crate::log::Log;
    use crate::settings::Settings;

    fn server() -> Rc<Server> {
        let settings = Rc::new(Settings::plain());
        let log = Rc::new(Log::open(&settings).expect("a log"));
        let dispatcher = Dispatcher::new(&settings, &log, LaneEvents::channel().0);
        Server::new(&settings, &log, dispatcher)
    }

    #[test]
    fn a_listener_that_is_shut_down_ends_accepting_with_an_error() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        LocalSet::new().block_on(&runtime.expect("a runtime"), async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let shut_down = SockRef::from(&listener).shutdown(Shutdown::Both);
            shut_down.expect("a listener");
            let accepting = spawn_local(accept(Listener::Tcp(listener), server()));
            // Accepting such a listener fails at once, every time.
            for _ in 0..100 {
                yield_now().await;
            }
            assert!(accepting.is_finished(), "it tries forever");
            assert!(accepting.await.expect("no panic").is_err());
        });
    }
}
