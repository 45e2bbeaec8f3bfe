use std::future::poll_fn;
use std::io;
use std::rc::Rc;

use tokio::task::spawn_local;
use tokio::time::sleep;

use super::connection_permits::ConnectionPermit;
use super::server::Server;
use crate::connections::serve_connection;
use crate::sockets::AcceptFailures;
use crate::sockets::{ClientStream, Listener};
use carat_exchange::clock;

/// Accepts clients from the time when the server opens until it closes, including clients that connected before. While
/// all permits are taken, further clients wait in the listener's backlog, from which the new edge of an upgrade can
/// accept them, too. An error means that the listener has failed for good.
pub async fn accept(listener: Rc<Listener>, server: Rc<Server>) -> io::Result<()> {
    server.life.until_open().await;
    listener.own_file();
    accept_until_closed(&listener, &server).await?;
    if server.has_handed_over() {
        listener.disown_file();
    } else {
        accept_last(&listener, &server);
    }
    Ok(())
}

async fn accept_until_closed(listener: &Listener, server: &Rc<Server>) -> io::Result<()> {
    let mut failures = AcceptFailures::new("clients");
    loop {
        let permit = tokio::select! {
            biased;
            permit = server.permits.take() => permit,
            () = server.closed.wait() => return Ok(()),
        };
        let offer = server.permits.offer();
        let accepted = tokio::select! {
            biased;
            accepted = poll_fn(|cx| listener.poll_accept(cx)) => accepted,
            () = server.closed.wait() => return Ok(()),
        };
        drop(offer);
        match accepted {
            Ok(stream) => {
                failures.end();
                serve_client(stream, permit, listener, server);
            }
            Err(error) => sleep(failures.pause_after(error, clock::now(), &server.log)?).await,
        }
    }
}

/// Accepts the clients that have connected and that the runtime has not reported yet, as long as there are permits.
/// Clients that are left in the backlog are reset when the socket is closed right after this.
fn accept_last(listener: &Listener, server: &Rc<Server>) {
    while let Some(permit) = server.permits.take_now() {
        let Ok(stream) = listener.accept_now() else {
            return;
        };
        serve_client(stream, permit, listener, server);
    }
}

fn serve_client(
    stream: ClientStream,
    permit: ConnectionPermit,
    listener: &Listener,
    server: &Rc<Server>,
) {
    let (preamble, server) = (Rc::clone(&listener.preamble), Rc::clone(server));
    spawn_local(serve_connection(stream, preamble, permit, server));
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::{Shutdown, SocketAddr, TcpStream as StdTcpStream};
    use std::rc::Weak;
    use std::time::Duration;

    use socket2::SockRef;
    use tokio::io::AsyncReadExt;
    use tokio::net::{TcpListener, TcpStream};
    use tokio::task::{JoinHandle, LocalSet, yield_now};

    use super::*;
    use carat_exchange::ClientMemory;

    /// The edge itself responds, since there is no `Host`.
    const REQUEST: &[u8] = b"GET / HTTP/1.1\r\n\r\n";

    const STOP: Duration = Duration::from_secs(30);

    /// A server with a listener.
    struct Fixture {
        server: Rc<Server>,
        listener: Weak<Listener>,
        address: SocketAddr,
        accepting: JoinHandle<io::Result<()>>,
    }

    fn with_fixture<F: Future<Output = ()>>(test: impl FnOnce(Fixture) -> F) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        LocalSet::new().block_on(&runtime.expect("a runtime"), async {
            let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
            test(Fixture::new(listener)).await;
        });
    }

    impl Fixture {
        fn new(listener: TcpListener) -> Fixture {
            let server = Server::plain(&ClientMemory::new(u64::MAX));
            let address = listener.local_addr().expect("an address");
            let listener = Rc::new(Listener::plain(listener));
            Fixture {
                listener: Rc::downgrade(&listener),
                accepting: spawn_local(accept(listener, Rc::clone(&server))),
                server,
                address,
            }
        }

        fn shut_down(&self) {
            let listener = self.listener.upgrade().expect("it listens");
            let shut_down = SockRef::from(&*listener).shutdown(Shutdown::Both);
            shut_down.expect("a listener");
        }

        /// A client that is connected, as the kernel knows and the runtime does not.
        fn client(&self) -> StdTcpStream {
            StdTcpStream::connect(self.address).expect("a connection")
        }
    }

    async fn response(client: StdTcpStream) -> String {
        client.set_nonblocking(true).expect("a socket");
        let mut client = TcpStream::from_std(client).expect("a socket");
        let mut response = String::new();
        let read = client.read_to_string(&mut response).await;
        read.expect("a response");
        response
    }

    async fn let_tasks_run() {
        for _ in 0..100 {
            yield_now().await;
        }
    }

    #[test]
    fn a_listener_that_is_shut_down_ends_accepting_with_an_error() {
        with_fixture(|fixture| async move {
            fixture.shut_down();
            // Accepting such a listener fails at once, every time.
            let_tasks_run().await;
            assert!(fixture.accepting.is_finished(), "it tries forever");
            assert!(fixture.accepting.await.expect("no panic").is_err());
        });
    }

    #[test]
    fn a_client_that_connects_right_before_the_end_is_served() {
        with_fixture(|fixture| async move {
            let_tasks_run().await;
            let mut client = fixture.client();
            fixture.server.drain(STOP);
            let_tasks_run().await;
            assert!(fixture.accepting.is_finished(), "it still listens");
            client.write_all(REQUEST).expect("a connection");
            assert!(response(client).await.starts_with("HTTP/1.1 400 "));
        });
    }

    #[test]
    fn a_request_that_arrives_right_before_the_end_is_served() {
        with_fixture(|fixture| async move {
            let mut client = fixture.client();
            fixture.server.drain(STOP);
            let_tasks_run().await;
            client.write_all(REQUEST).expect("a connection");
            fixture.server.end_first_requests();
            assert!(response(client).await.starts_with("HTTP/1.1 400 "));
        });
    }

    #[test]
    fn a_request_that_arrives_in_parts_around_the_beginning_of_the_end_is_served() {
        with_fixture(|fixture| async move {
            let mut client = fixture.client();
            let (one, other) = REQUEST.split_at(5);
            client.write_all(one).expect("a connection");
            let_tasks_run().await;
            fixture.server.drain(STOP);
            let_tasks_run().await;
            client.write_all(other).expect("a connection");
            assert!(response(client).await.starts_with("HTTP/1.1 400 "));
        });
    }

    #[test]
    fn a_part_of_a_request_does_not_delay_the_end_either() {
        with_fixture(|fixture| async move {
            let mut client = fixture.client();
            client.write_all(&REQUEST[..5]).expect("a connection");
            let_tasks_run().await;
            fixture.server.drain(STOP);
            let_tasks_run().await;
            fixture.server.end_first_requests();
            assert_eq!(response(client).await, "");
        });
    }

    #[test]
    fn a_client_that_sends_no_request_does_not_delay_the_end() {
        with_fixture(|fixture| async move {
            let client = fixture.client();
            fixture.server.drain(STOP);
            let_tasks_run().await;
            assert_eq!(fixture.server.connections(), 1);
            fixture.server.end_first_requests();
            assert_eq!(response(client).await, "");
        });
    }
}
