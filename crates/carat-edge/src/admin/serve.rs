use std::convert::Infallible;
use std::io;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{ALLOW, CONTENT_TYPE};
use http::{HeaderValue, Request, Response, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::net::UnixStream;
use tokio::sync::Semaphore;
use tokio::task::{spawn_blocking, spawn_local};
use tokio::time::{sleep, timeout};

use super::control_directory::choose;
use super::control_listener::ControlListener;
use super::memory::MemoryReader;
use super::route::Route;
use super::socket_name::SocketName;
use super::stale_sockets::remove_stale_sockets;
use crate::log::Log;
use crate::settings::Settings;
use crate::supervise::Mailbox;

/// Clients that are served at once; further ones wait.
const CLIENT_LIMIT: usize = 8;
/// Longest request headers in bytes; hyper has no smaller buffer.
const HEADER_LIMIT: usize = 8 * 1024;
/// How long a client may take for its request and for reading the response.
const CLIENT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the listener pauses when no file descriptor is left.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(100);

/// Serves the control socket until the server ends. The server also runs without one.
pub(crate) async fn administer(
    settings: Rc<Settings>,
    log: Rc<Log>,
    mailbox: Mailbox,
) -> io::Result<()> {
    match bind(&settings) {
        Ok(listener) => {
            accept_clients(listener, Rc::new(MemoryReader::new(settings, mailbox))).await;
        }
        Err(error) => log.warn(
            "no control socket: commands such as `carat memory` will not find this server",
            &[("cause", &error)],
        ),
    }
    Ok(())
}

/// Binds the socket that the options name, or one of its own in a private directory, from which those of dead servers
/// are removed.
fn bind(settings: &Settings) -> io::Result<ControlListener> {
    if let Some(path) = &settings.control_socket {
        return ControlListener::bind(path);
    }
    let directory = choose(&settings.control_directories)?;
    let name = SocketName::new(&settings.control_socket_name);
    let path = directory.join(name.of(std::process::id()));
    spawn_blocking(move || remove_stale_sockets(&directory, &name));
    ControlListener::bind(&path)
}

async fn accept_clients(listener: ControlListener, reader: Rc<MemoryReader>) {
    let permits = Arc::new(Semaphore::new(CLIENT_LIMIT));
    while let Ok(permit) = Arc::clone(&permits).acquire_owned().await {
        match listener.accept().await {
            Ok(stream) => {
                let reader = Rc::clone(&reader);
                spawn_local(async move {
                    // A slower client starts again.
                    let _ = timeout(CLIENT_TIMEOUT, serve_connection(stream, reader)).await;
                    drop(permit);
                });
            }
            Err(_) => sleep(EXHAUSTED_PAUSE).await,
        }
    }
}

/// Serves one request.
async fn serve_connection(stream: UnixStream, reader: Rc<MemoryReader>) {
    let service = service_fn(|request| {
        let reader = Rc::clone(&reader);
        async move { Ok::<_, Infallible>(respond(&request, &reader).await) }
    });
    let served = http1::Builder::new()
        .keep_alive(false)
        .header_read_timeout(None)
        .max_buf_size(HEADER_LIMIT)
        .serve_connection(TokioIo::new(stream), service);
    // The response already reported the error.
    let _ = served.await;
}

async fn respond(request: &Request<Incoming>, reader: &MemoryReader) -> Response<Full<Bytes>> {
    let json = match Route::find(request.method(), request.uri().path()) {
        Ok(Route::Memory) => reader.read().await,
        Err(status) => Err(status),
    };
    match json {
        Ok(json) => response(StatusCode::OK, "application/json", json),
        Err(status) => refusal(status),
    }
}

fn refusal(status: StatusCode) -> Response<Full<Bytes>> {
    let mut response = response(status, "text/plain", format!("{status}\n"));
    if status == StatusCode::METHOD_NOT_ALLOWED {
        let methods = HeaderValue::from_static("GET, HEAD");
        response.headers_mut().insert(ALLOW, methods);
    }
    response
}

fn response(status: StatusCode, kind: &'static str, body: String) -> Response<Full<Bytes>> {
    let mut response = Response::new(Full::from(body));
    *response.status_mut() = status;
    let kind = HeaderValue::from_static(kind);
    response.headers_mut().insert(CONTENT_TYPE, kind);
    response
}
