use std::convert::Infallible;
use std::io;
use std::path::PathBuf;
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

use super::door::Door;
use super::litter::sweep;
use super::memory::MemoryReader;
use super::route::Route;
use crate::log::Log;
use crate::settings::Settings;
use crate::supervise::Mailbox;

/// Clients that are served at once; further ones wait.
const CLIENT_LIMIT: usize = 8;
/// What a client's request may take, in bytes; hyper takes no smaller buffer.
const HEAD_LIMIT: usize = 8 * 1024;
/// How long a client has for its request and for taking the answer.
const CLIENT_TIME: Duration = Duration::from_secs(10);
/// How long the door rests when the process has no descriptor left.
const EXHAUSTED_PAUSE: Duration = Duration::from_millis(100);

/// Answers on the control socket until the server ends. Without one the server goes on as well.
pub(crate) async fn administer(
    settings: Rc<Settings>,
    log: Rc<Log>,
    mailbox: Mailbox,
) -> io::Result<()> {
    let path = path(&settings);
    let directory = settings.spool_dir.clone();
    spawn_blocking(move || sweep(&directory));
    match Door::open(&path) {
        Ok(door) => welcome(door, Rc::new(MemoryReader::new(settings, mailbox))).await,
        Err(error) => log.warn(
            "no control socket: `carat memory` will not find this server",
            &[("path", &path.display()), ("cause", &error)],
        ),
    }
    Ok(())
}

/// Where the socket is: `carat memory` looks there as well.
fn path(settings: &Settings) -> PathBuf {
    let by_default = || {
        let name = format!("carat-{}.sock", std::process::id());
        settings.spool_dir.join(name)
    };
    settings.control_socket.clone().unwrap_or_else(by_default)
}

async fn welcome(door: Door, reader: Rc<MemoryReader>) {
    let seats = Arc::new(Semaphore::new(CLIENT_LIMIT));
    while let Ok(seat) = Arc::clone(&seats).acquire_owned().await {
        match door.next().await {
            Ok(stream) => {
                let reader = Rc::clone(&reader);
                spawn_local(async move {
                    // Whoever is slower than that starts again.
                    let _ = timeout(CLIENT_TIME, converse(stream, reader)).await;
                    drop(seat);
                });
            }
            Err(_) => sleep(EXHAUSTED_PAUSE).await,
        }
    }
}

/// Serves one request.
async fn converse(stream: UnixStream, reader: Rc<MemoryReader>) {
    let service = service_fn(|request| {
        let reader = Rc::clone(&reader);
        async move { Ok::<_, Infallible>(answer(&request, &reader).await) }
    });
    let served = http1::Builder::new()
        .keep_alive(false)
        .header_read_timeout(None)
        .max_buf_size(HEAD_LIMIT)
        .serve_connection(TokioIo::new(stream), service);
    // What a client does wrong, it has been told.
    let _ = served.await;
}

async fn answer(request: &Request<Incoming>, reader: &MemoryReader) -> Response<Full<Bytes>> {
    let answer = match Route::find(request.method(), request.uri().path()) {
        Ok(Route::Memory) => reader.read().await,
        Err(status) => Err(status),
    };
    match answer {
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
