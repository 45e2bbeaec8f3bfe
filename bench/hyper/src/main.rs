//! A bare hyper server on one thread: the limit for a server that is built on hyper.
//!
//! `bare-hyper 127.0.0.1:9292` responds to `/` and `/10k` with the bytes of the applications in `bench/apps`, to
//! `/delay/100` as to `/` after 100 ms, and to everything else with 404.

use std::{convert::Infallible, env, io, net::SocketAddr, time::Duration};

use http_body_util::Full;
use hyper::{
    Request, Response, StatusCode, body::Bytes, body::Incoming, header, server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::net::{TcpSocket, TcpStream};

const HELLO: &[u8] = b"Hello, World!";

/// Room for a thousand clients that connect at once.
const BACKLOG: u32 = 4096;
const TEN_KILOBYTES: &[u8; 10_240] = &[b'x'; 10_240];

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(address()?)?;
    let listener = socket.listen(BACKLOG)?;
    loop {
        // The client reset the connection, or the machine is out of descriptors: try again.
        if let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(serve(stream));
        } else {
            tokio::task::yield_now().await;
        }
    }
}

fn address() -> io::Result<SocketAddr> {
    let argument = env::args().nth(1).unwrap_or_default();
    argument.parse().map_err(|_| {
        let usage = format!("usage: bare-hyper IP:PORT (got {argument:?})");
        io::Error::new(io::ErrorKind::InvalidInput, usage)
    })
}

async fn serve(stream: TcpStream) {
    // Without TCP_NODELAY the response is late, not wrong.
    let _ = stream.set_nodelay(true);
    let service = service_fn(async |request| {
        if let Some(delay) = delay(&request) {
            tokio::time::sleep(delay).await;
        }
        Ok::<_, Infallible>(respond(&request))
    });
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    // The client has gone, and nobody is left to notify.
    let _ = connection.await;
}

/// The delay in the path.
fn delay(request: &Request<Incoming>) -> Option<Duration> {
    let milliseconds = request.uri().path().strip_prefix("/delay/")?.parse().ok()?;
    Some(Duration::from_millis(milliseconds)).filter(|delay| !delay.is_zero())
}

fn respond(request: &Request<Incoming>) -> Response<Full<Bytes>> {
    let (status, body) = match request.uri().path() {
        "/" => (StatusCode::OK, HELLO),
        "/10k" => (StatusCode::OK, TEN_KILOBYTES.as_slice()),
        path if path.starts_with("/delay/") => (StatusCode::OK, HELLO),
        _ => (StatusCode::NOT_FOUND, b"not found".as_slice()),
    };
    let mut response = Response::new(Full::new(Bytes::from_static(body)));
    *response.status_mut() = status;
    let text = header::HeaderValue::from_static("text/plain");
    response.headers_mut().insert(header::CONTENT_TYPE, text);
    response
}
