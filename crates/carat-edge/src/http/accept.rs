use std::future::poll_fn;
use std::io;
use std::rc::Rc;
use std::time::Instant;

use tokio::task::spawn_local;
use tokio::time::sleep;

use super::connection::serve_connection;
use super::listener::Listener;
use super::server::Server;
use crate::accept_failures::AcceptFailures;

/// Accepts clients once the server is open, until it closes, including those that connected before. While all seats are
/// taken, further clients wait in the backlog. An error means that the listener has failed for good.
pub(crate) async fn accept(listener: Rc<Listener>, server: Rc<Server>) -> io::Result<()> {
    server.opened().await;
    let mut failures = AcceptFailures::new("clients");
    loop {
        let seat = tokio::select! {
            biased;
            seat = server.seats.take() => seat,
            () = server.closed.wait() => return Ok(()),
        };
        let offer = server.seats.offer();
        let accepted = tokio::select! {
            biased;
            accepted = poll_fn(|cx| listener.poll_accept(cx)) => accepted,
            () = server.closed.wait() => return Ok(()),
        };
        drop(offer);
        match accepted {
            Ok(stream) => {
                failures.end();
                let (preamble, server) = (Rc::clone(&listener.preamble), Rc::clone(&server));
                spawn_local(serve_connection(stream, preamble, seat, server));
            }
            Err(error) => sleep(failures.pause_after(error, Instant::now(), &server.log)?).await,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Shutdown;

    use socket2::SockRef;
    use tokio::net::TcpListener;
    use tokio::task::{LocalSet, yield_now};

    use super::*;
    use crate::exchange::ClientMemory;

    #[test]
    fn a_listener_that_is_shut_down_ends_accepting_with_an_error() {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        LocalSet::new().block_on(&runtime.expect("a runtime"), async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            let shut_down = SockRef::from(&listener).shutdown(Shutdown::Both);
            shut_down.expect("a listener");
            let server = Server::plain(&ClientMemory::new(u64::MAX));
            let accepting = spawn_local(accept(Rc::new(Listener::plain(listener)), server));
            // Accepting such a listener fails at once, every time.
            for _ in 0..100 {
                yield_now().await;
            }
            assert!(accepting.is_finished(), "it tries forever");
            assert!(accepting.await.expect("no panic").is_err());
        });
    }
}
