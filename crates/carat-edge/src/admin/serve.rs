use std::cell::Cell;
use std::convert::Infallible;
use std::io;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::header::{ALLOW, CONNECTION, UPGRADE};
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tokio::sync::Semaphore;
use tokio::task::spawn_local;
use tokio::time::{sleep, sleep_until};

use super::consoles::Consoles;
use super::control_directory::choose;
use super::control_listener::ControlListener;
use super::memory::MemoryReader;
use super::reply::{outcome, refusal, response};
use super::route::{NoRoute, Route};
use super::socket_name::SocketName;
use super::stale_sockets::remove_stale_sockets;
use crate::supervise::{Mailbox, Message, ProfileMessage};
use carat_exchange::clock;
use carat_files::CONFIGURATION_THREADS;
use carat_http::AcceptFailures;
use carat_http::{Cable, Server};
use carat_log::Log;
use carat_settings::Settings;

/// Clients that are served at once; further ones wait.
const CLIENT_LIMIT: usize = 8;
/// Longest request headers in bytes; hyper has no smaller buffer.
const HEADER_LIMIT: usize = 8 * 1024;
/// How long a client may take for its request and for reading the response.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(10);

/// Serves the control socket until the server ends or another edge answers. The server also runs without one. `old` is the
/// control socket of another edge, in whose place this one is.
pub(crate) async fn administer(server: &Server, mailbox: &Mailbox, old: Option<&Path>) {
    let log = &server.log;
    let bound = bind(&server.settings, old);
    server.owns_files.set();
    match bound {
        Ok(listener) => {
            let reader = MemoryReader::new(server, mailbox.clone());
            let mailbox = mailbox.clone();
            let consoles = Consoles::new(server.settings.console, mailbox.clone());
            let resources = Rc::new(Resources {
                reader,
                mailbox,
                consoles,
                cable: server.cable().cloned(),
            });
            tokio::select! {
                failure = accept_clients(listener, resources, log) => {
                    log.warn("the control socket is broken", &[("cause", &failure)]);
                }
                () = server.left.wait() => {}
            }
        }
        Err(error) => log.warn(
            "no control socket: commands such as `carat memory` will not find this server",
            &[("cause", &error)],
        ),
    }
}

/// Binds the socket that the options name, or one of its own in a private directory, from which those of dead servers
/// are removed.
fn bind(settings: &Settings, old: Option<&Path>) -> io::Result<ControlListener> {
    if let Some(path) = &settings.control_socket {
        return if old == Some(path) {
            ControlListener::replace(path)
        } else {
            ControlListener::bind(path)
        };
    }
    let directory = choose(&settings.control_directories)?;
    let name = SocketName::new(&settings.control_socket_name);
    let path = directory.join(name.of(std::process::id()));
    spawn_local(CONFIGURATION_THREADS.run(move || remove_stale_sockets(&directory, &name)));
    ControlListener::bind(&path)
}

/// What requests are answered from.
struct Resources {
    reader: MemoryReader,
    mailbox: Mailbox,
    consoles: Consoles,
    cable: Option<Rc<Cable>>,
}

impl Resources {
    async fn broadcast(&self, request: &mut Request<Incoming>) -> Result<String, String> {
        let no_cable = "the server has no cable (option `cable`)";
        let cable = self.cable.as_ref().ok_or(no_cable)?;
        let reached = cable.order(request.body_mut()).await;
        reached.map_err(|(_, reason)| reason)
    }
}

/// When a client has had long enough.
struct ClientDeadline(Cell<Instant>);

impl ClientDeadline {
    fn new() -> ClientDeadline {
        ClientDeadline(Cell::new(clock::now() + CLIENT_TIMEOUT))
    }

    /// The response takes up to so long.
    fn extend(&self, duration: Duration) {
        self.0.set(self.0.get() + duration);
    }

    async fn pass(&self) {
        while clock::now() < self.0.get() {
            sleep_until(self.0.get().into()).await;
        }
    }
}

/// Accepts clients until the listener fails for good, and returns why.
async fn accept_clients(
    listener: ControlListener,
    resources: Rc<Resources>,
    log: &Log,
) -> io::Error {
    let permits = Arc::new(Semaphore::new(CLIENT_LIMIT));
    let mut failures = AcceptFailures::new("control socket");
    loop {
        let permit = Arc::clone(&permits).acquire_owned().await;
        let error = match listener.accept().await {
            Ok(stream) => {
                failures.end();
                let resources = Rc::clone(&resources);
                spawn_local(async move {
                    let deadline = ClientDeadline::new();
                    tokio::select! {
                        () = serve_connection(stream, resources, &deadline) => {}
                        // A slower client starts again.
                        () = deadline.pass() => {}
                    }
                    drop(permit);
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

/// Serves one request.
async fn serve_connection(stream: UnixStream, resources: Rc<Resources>, deadline: &ClientDeadline) {
    let service = service_fn(|mut request| {
        let resources = Rc::clone(&resources);
        async move { Ok::<_, Infallible>(respond(&mut request, &resources, deadline).await) }
    });
    let served = http1::Builder::new()
        .keep_alive(false)
        .header_read_timeout(None)
        .max_buf_size(HEADER_LIMIT)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    // The response already reported the error.
    let _ = served.await;
}

async fn respond(
    request: &mut Request<Incoming>,
    resources: &Resources,
    deadline: &ClientDeadline,
) -> Response<Full<Bytes>> {
    let (status, json) = match Route::find(request.method(), request.uri()) {
        Ok(Route::Memory) => match resources.reader.read().await {
            Ok(json) => (StatusCode::OK, json),
            Err(status) => return refusal(status),
        },
        Ok(Route::Stacks) => match resources.mailbox.ask(Message::AskStacks).await {
            Some(stacks) => (StatusCode::OK, stacks.to_string()),
            None => return refusal(StatusCode::SERVICE_UNAVAILABLE),
        },
        Ok(Route::Console) => match resources.consoles.open(request) {
            Ok(()) => return switching(),
            Err(reason) => outcome(Some(Err(reason))),
        },
        Ok(Route::Broadcast) => outcome(Some(resources.broadcast(request).await)),
        Ok(Route::Profile(order)) => {
            deadline.extend(order.takes_at_most());
            // Dropped after the reply: whoever hears of the end sees that nobody waits.
            let lease = ProfileLease(resources.mailbox.clone());
            let begin = |asker| Message::Profile(ProfileMessage::Begin(order, asker));
            outcome(lease.0.ask(begin).await)
        }
        Ok(Route::Control(request)) => {
            let ask = |asker| Message::Control(request, asker);
            let reply = resources.mailbox.ask(ask).await;
            outcome(reply.map(|reply| reply.map(|json| json.to_string())))
        }
        Err(no_route) => return no_resource(no_route),
    };
    response(status, "application/json", json)
}

/// The connection speaks another protocol from now on.
fn switching() -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::default());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(CONNECTION, HeaderValue::from_static("upgrade"));
    headers.insert(UPGRADE, HeaderValue::from_static("carat-console"));
    response
}

fn no_resource(no_route: NoRoute) -> Response<Full<Bytes>> {
    let mut response = refusal(no_route.status());
    if let NoRoute::NotAllowed(methods) = no_route {
        let methods = HeaderValue::from_static(methods);
        response.headers_mut().insert(ALLOW, methods);
    }
    response
}

/// Tells the supervisor when the client leaves before it has its profile.
struct ProfileLease(Mailbox);

impl Drop for ProfileLease {
    fn drop(&mut self) {
        self.0.send(Message::Profile(ProfileMessage::Abandoned));
    }
}
