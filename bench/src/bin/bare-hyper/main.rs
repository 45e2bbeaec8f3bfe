//! A bare hyper server on one thread: the limit for a server that is built on hyper.
//!
//! `bare-hyper 127.0.0.1:9292` responds to `/` and `/10k` with the bytes of the applications in `bench/apps`, to
//! `/delay/100` as to `/` after 100 ms, and to everything else with 404. `bare-hyper 127.0.0.1:9292 127.0.0.1:9443 CERT KEY`
//! does the same over TLS on a second address, with the certificate and the key in these PEM files.

use std::{convert::Infallible, env, io, net::SocketAddr, sync::Arc, time::Duration};

use http_body_util::Full;
use hyper::{
    Request, Response, StatusCode, body::Bytes, body::Incoming, header, server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use rustls::{
    ServerConfig,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::{TcpSocket, TcpStream},
};
use tokio_rustls::TlsAcceptor;

const HELLO: &[u8] = b"Hello, World!";

/// Room for a thousand clients that connect at once.
const BACKLOG: u32 = 4096;
const TEN_KILOBYTES: &[u8; 10_240] = &[b'x'; 10_240];

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let words: Vec<String> = env::args().skip(1).collect();
    match &words[..] {
        [plain] => accept(plain, None).await,
        [plain, tls, cert, key] => {
            let acceptor = acceptor(cert, key).map_err(io::Error::other)?;
            tokio::try_join!(accept(plain, None), accept(tls, Some(acceptor))).map(|_| ())
        }
        _ => Err(invalid("usage: bare-hyper IP:PORT [IP:PORT CERT KEY]")),
    }
}

fn invalid(message: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, message)
}

fn acceptor(
    cert: &str,
    key: &str,
) -> Result<TlsAcceptor, Box<dyn std::error::Error + Send + Sync>> {
    let chain = CertificateDer::pem_file_iter(cert)?.collect::<Result<Vec<_>, _>>()?;
    let key = PrivateKeyDer::from_pem_file(key)?;
    let config = ServerConfig::builder().with_no_client_auth();
    Ok(TlsAcceptor::from(Arc::new(
        config.with_single_cert(chain, key)?,
    )))
}

async fn accept(address: &str, tls: Option<TlsAcceptor>) -> io::Result<()> {
    let address: SocketAddr = address.parse().map_err(|_| invalid("not an address"))?;
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    let listener = socket.listen(BACKLOG)?;
    loop {
        // The client reset the connection, or the machine is out of descriptors: try again.
        let Ok((stream, _)) = listener.accept().await else {
            tokio::task::yield_now().await;
            continue;
        };
        // Without TCP_NODELAY the response is late, not wrong.
        let _ = stream.set_nodelay(true);
        match tls.clone() {
            None => drop(tokio::spawn(serve(stream))),
            Some(tls) => drop(tokio::spawn(serve_tls(tls, stream))),
        }
    }
}

async fn serve_tls(tls: TlsAcceptor, stream: TcpStream) {
    // A client that fails its handshake is no client.
    if let Ok(stream) = tls.accept(stream).await {
        serve(stream).await;
    }
}

async fn serve(stream: impl AsyncRead + AsyncWrite + Unpin) {
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
