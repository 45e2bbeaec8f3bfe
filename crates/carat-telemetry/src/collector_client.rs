use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HOST};
use http::{HeaderValue, Request, Response};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::Incoming;
use hyper::client::conn::http1::{Builder, SendRequest};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::task::spawn_local;
use tokio::time::timeout;

use crate::delivery::Delivery;
use crate::protobuf::{ProtoFields, Value};
use carat_files::on_own_thread;
use carat_settings::Otlp;

/// How long the collector may take to accept a connection, take a message, and respond.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(5);
/// Longest headers of its response; hyper has no smaller buffer.
const COLLECTOR_HEADER_LIMIT: usize = 8 * 1024;
/// Longest body of its response.
const COLLECTOR_BODY_LIMIT: usize = 16 * 1024;

/// Sends messages to the collector, over one connection after the other.
#[derive(Debug)]
pub(crate) struct CollectorClient {
    otlp: Otlp,
    connection: Option<SendRequest<Full<Bytes>>>,
    /// A name is looked up once at a time: a name server that does not respond holds one thread.
    lookups: Arc<Semaphore>,
}

impl CollectorClient {
    pub(crate) fn new(otlp: &Otlp) -> CollectorClient {
        CollectorClient {
            otlp: otlp.clone(),
            connection: None,
            lookups: Arc::new(Semaphore::new(1)),
        }
    }

    /// Sends a message. Returns within a bound.
    pub(crate) async fn send(&mut self, message: Bytes) -> Delivery {
        let sent = timeout(EXPORT_TIMEOUT, self.exchange(message)).await;
        let late = || format!("no response within {} s", EXPORT_TIMEOUT.as_secs());
        match sent {
            Ok(Ok(delivery)) => delivery,
            Ok(Err(error)) => Delivery::Later(None, error.to_string()),
            Err(_) => Delivery::Later(None, late()),
        }
    }

    /// The connection is kept only when the response is complete.
    async fn exchange(&mut self, message: Bytes) -> io::Result<Delivery> {
        let kept = self.connection.take().filter(|it| !it.is_closed());
        let mut connection = match kept {
            Some(connection) => connection,
            None => self.connect().await?,
        };
        connection.ready().await.map_err(io::Error::other)?;
        let request = self.request(message)?;
        let response = connection.send_request(request).await;
        let (delivery, is_complete) = received(response.map_err(io::Error::other)?).await;
        self.connection = is_complete.then_some(connection);
        Ok(delivery)
    }

    fn request(&self, message: Bytes) -> io::Result<Request<Full<Bytes>>> {
        let (host, port) = (&self.otlp.host, self.otlp.port);
        let host = match host.parse() {
            Ok(IpAddr::V6(address)) => format!("[{address}]:{port}"),
            _ => format!("{host}:{port}"),
        };
        let kind = HeaderValue::from_static("application/x-protobuf");
        Request::post(format!("{}/v1/traces", self.otlp.path))
            .header(HOST, host)
            .header(CONTENT_TYPE, kind)
            .body(Full::new(message))
            .map_err(io::Error::other)
    }

    async fn connect(&self) -> io::Result<SendRequest<Full<Bytes>>> {
        let stream = TcpStream::connect(&self.addresses().await?[..]).await?;
        let mut builder = Builder::new();
        builder.max_buf_size(COLLECTOR_HEADER_LIMIT);
        let made = builder.handshake(TokioIo::new(stream)).await;
        let (sender, connection) = made.map_err(io::Error::other)?;
        // It ends with the sender, and what it failed at, the sender says.
        spawn_local(async move { drop(connection.await) });
        Ok(sender)
    }

    async fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        let (host, port) = (self.otlp.host.clone(), self.otlp.port);
        if let Ok(address) = host.parse::<IpAddr>() {
            return Ok(vec![SocketAddr::new(address, port)]);
        }
        let lookup = Arc::clone(&self.lookups).try_acquire_owned();
        let lookup = lookup.map_err(|_| io::Error::other("the name server does not respond"))?;
        let found = on_own_thread(move || {
            let found = (host, port).to_socket_addrs().map(Iterator::collect);
            drop(lookup);
            found
        });
        found.await?
    }
}

/// What the collector says, and whether that was all.
async fn received(response: Response<Incoming>) -> (Delivery, bool) {
    let (head, body) = response.into_parts();
    let body = Limited::new(body, COLLECTOR_BODY_LIMIT).collect().await;
    let delivery = Delivery::by_status(head.status, &head.headers);
    let Ok(body) = body else {
        return (delivery, false);
    };
    if delivery != (Delivery::Taken { rejected: 0 }) {
        return (delivery, true);
    }
    let rejected = rejected(&body.to_bytes()).unwrap_or_default();
    (Delivery::Taken { rejected }, true)
}

/// The number of rejected spans in an `ExportTraceServiceResponse`.
fn rejected(answer: &[u8]) -> Option<u64> {
    let Value::Bytes(partial_success) = ProtoFields::value(answer, 1)? else {
        return None;
    };
    match ProtoFields::value(partial_success, 1)? {
        Value::Number(rejected) => Some(rejected),
        Value::Bytes(_) => None,
    }
}
