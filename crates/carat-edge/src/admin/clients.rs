//! The clients of the control socket, and of other ports for operators. Only a few are served at once, and a client
//! that keeps the server waiting is ended when another one comes.

use std::cell::{Cell, RefCell};
use std::convert::Infallible;
use std::io;
use std::rc::Rc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::{Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio::task::spawn_local;
use tokio::time::{sleep, sleep_until};

use carat_exchange::clock;
use carat_http::AcceptFailures;
use carat_log::Log;

/// The most clients of a listener that are served at once.
const CLIENT_LIMIT: usize = 8;
/// The longest request headers in bytes; hyper has no smaller buffer.
const HEADER_LIMIT: usize = 8 * 1024;
/// How long a client may take for the headers of its request.
const HEADER_TIMEOUT: Duration = Duration::from_secs(3);
/// How long a client may take for its request and for reading the response.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a client may keep the server waiting while another client asks. A request follows its connection at once,
/// so little time is enough. The shorter the time, the more silent connections may arrive per second before a probe
/// waits behind them in the kernel's queue.
const GRACE: Duration = Duration::from_millis(1);

/// The clients of one listener that are being served.
#[derive(Default)]
pub(crate) struct AdminClients {
    served: RefCell<Vec<Rc<AdminClient>>>,
    gone: Notify,
}

/// A client of the control socket, or of another port for operators.
pub(crate) struct AdminClient {
    /// Since when the server waits for the client; `None` while the client waits for the server.
    is_awaited: Cell<Option<Instant>>,
    deadline: Cell<Instant>,
    ended: Notify,
}

impl AdminClient {
    fn new() -> AdminClient {
        let now = clock::now();
        AdminClient {
            is_awaited: Cell::new(Some(now)),
            deadline: Cell::new(now + CLIENT_TIMEOUT),
            ended: Notify::new(),
        }
    }

    /// Gives the client more time, because the response takes up to `duration`.
    pub(super) fn extend(&self, duration: Duration) {
        self.deadline.set(self.deadline.get() + duration);
    }

    /// Waits until the client's time is over, or it has to give way.
    async fn end(&self) {
        let expired = async {
            while clock::now() < self.deadline.get() {
                sleep_until(self.deadline.get().into()).await;
            }
        };
        tokio::select! {
            () = self.ended.notified() => {}
            () = expired => {}
        }
    }
}

impl AdminClients {
    /// Accepts clients until the listener fails for good, and returns why. `name` is what the log calls the listener.
    pub(crate) async fn accept_all<S, R>(
        self: &Rc<Self>,
        name: &'static str,
        log: &Log,
        accept: impl AsyncFn() -> io::Result<S>,
        responder: Rc<R>,
    ) -> io::Error
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
        R: Responder + 'static,
    {
        let mut failures = AcceptFailures::new(name);
        loop {
            let error = match accept().await {
                Ok(stream) => {
                    failures.end();
                    let client = self.admit().await;
                    let (clients, responder) = (Rc::clone(self), Rc::clone(&responder));
                    spawn_local(async move {
                        tokio::select! {
                            () = serve(stream, &client, &*responder) => {}
                            // A client that was too slow has to ask again.
                            () = client.end() => {}
                        }
                        clients.remove(&client);
                    });
                    continue;
                }
                Err(error) => error,
            };
            match failures.pause_after(error, clock::now(), log) {
                Ok(pause) => sleep(pause).await,
                Err(error) => return error,
            }
        }
    }

    /// Waits until another client may be served. While too many are served, the client that has kept the server waiting
    /// for longest is ended.
    async fn admit(&self) -> Rc<AdminClient> {
        while self.served.borrow().len() >= CLIENT_LIMIT {
            let Some((since, client)) = self.awaited_longest() else {
                self.gone.notified().await;
                continue;
            };
            if clock::now() >= since + GRACE {
                client.ended.notify_one();
                self.remove(&client);
                continue;
            }
            tokio::select! {
                () = self.gone.notified() => {}
                () = sleep_until((since + GRACE).into()) => {}
            }
        }
        let client = Rc::new(AdminClient::new());
        self.served.borrow_mut().push(Rc::clone(&client));
        client
    }

    fn awaited_longest(&self) -> Option<(Instant, Rc<AdminClient>)> {
        let served = self.served.borrow();
        let awaited = served.iter().filter_map(|client| {
            let since = client.is_awaited.get()?;
            Some((since, Rc::clone(client)))
        });
        awaited.min_by_key(|(since, _)| *since)
    }

    fn remove(&self, client: &Rc<AdminClient>) {
        let mut served = self.served.borrow_mut();
        served.retain(|other| !Rc::ptr_eq(other, client));
        self.gone.notify_one();
    }
}

/// The part of the server that answers the requests of a listener.
pub(crate) trait Responder {
    /// Answers one request. `client` may get more time.
    async fn respond(
        &self,
        request: &mut Request<Incoming>,
        client: &AdminClient,
    ) -> Response<Full<Bytes>>;
}

/// Serves one request.
async fn serve<S>(stream: S, client: &AdminClient, responder: &impl Responder)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(|mut request| async move {
        client.is_awaited.set(None);
        let response = responder.respond(&mut request, client).await;
        client.is_awaited.set(Some(clock::now()));
        Ok::<_, Infallible>(response)
    });
    let served = http1::Builder::new()
        .keep_alive(false)
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .max_buf_size(HEADER_LIMIT)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    // The response already reported the error.
    let _ = served.await;
}

#[cfg(test)]
mod tests {
    use tokio::task::LocalSet;
    use tokio::time::advance;

    use super::*;

    fn on_a_stopped_clock<F: Future<Output = ()>>(test: F) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build();
        LocalSet::new().block_on(&runtime.expect("a runtime"), test);
    }

    async fn is_full(clients: &AdminClients) -> bool {
        tokio::select! {
            biased;
            client = clients.admit() => { clients.remove(&client); false }
            () = sleep(Duration::from_secs(60)) => true
        }
    }

    #[test]
    fn the_client_that_was_silent_for_longest_gives_its_place_to_the_next() {
        on_a_stopped_clock(async {
            let clients = AdminClients::default();
            let mut silent = Vec::new();
            for _ in 0..CLIENT_LIMIT {
                silent.push(clients.admit().await);
                advance(Duration::from_millis(1)).await;
            }
            silent[0].is_awaited.set(None);
            let before = clock::now();
            let next = clients.admit().await;
            assert!(clock::now() < before + GRACE);
            silent[1].ended.notified().await;
            assert!(
                clients
                    .served
                    .borrow()
                    .iter()
                    .any(|it| Rc::ptr_eq(it, &next))
            );
            assert_eq!(clients.served.borrow().len(), CLIENT_LIMIT);
        });
    }

    #[test]
    fn a_flood_of_silent_clients_delays_the_next_one_by_less_than_a_second() {
        on_a_stopped_clock(async {
            let (clients, before) = (AdminClients::default(), clock::now());
            // Twice as many clients as the kernel keeps in a queue.
            for _ in 0..2048 {
                clients.admit().await;
            }
            assert!(clock::now() < before + Duration::from_secs(1));
        });
    }

    #[test]
    fn a_client_that_waits_for_its_response_keeps_its_place() {
        on_a_stopped_clock(async {
            let clients = AdminClients::default();
            for _ in 0..CLIENT_LIMIT {
                clients.admit().await.is_awaited.set(None);
            }
            assert!(is_full(&clients).await);
            clients.served.borrow()[3]
                .is_awaited
                .set(Some(clock::now()));
            assert!(!is_full(&clients).await);
        });
    }
}
