use std::io;
use std::net::{IpAddr, SocketAddr, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::protobuf::{ProtoFields, Value};
use carat_files::on_own_thread;
use carat_settings::Otlp;

/// How long the collector may take to accept a connection, take a message, and respond.
const EXPORT_TIMEOUT: Duration = Duration::from_secs(5);
/// The most bytes of the headers of the collector's response.
const COLLECTOR_HEADER_LIMIT: usize = 8 * 1024;
/// The most header fields of the collector's response.
const COLLECTOR_FIELDS_LIMIT: usize = 64;
/// The most bytes of the response's body.
const COLLECTOR_BODY_LIMIT: usize = 16 * 1024;

/// The longest pause that a collector can ask for.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The outcome of delivering a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Delivery {
    /// The collector has taken the message, except for `rejected` of its spans.
    Taken { rejected: u64 },
    /// The collector will never take the message.
    Refused(u16),
    /// The collector may take the message later, after the time that it named, if any.
    Later(Option<Duration>, String),
}

impl Delivery {
    /// The outcome by the status of a response and its `Retry-After`. OTLP says after which
    /// statuses a message may be sent again.
    pub(crate) fn by_status(status: u16, pause: Option<&str>) -> Delivery {
        match status {
            200..=299 => Delivery::Taken { rejected: 0 },
            429 | 502 | 503 | 504 => {
                let pause = pause.and_then(|seconds| seconds.trim().parse().ok());
                let pause = pause.map(|seconds| Duration::from_secs(seconds).min(LONGEST_PAUSE));
                Delivery::Later(pause, status.to_string())
            }
            _ => Delivery::Refused(status),
        }
    }
}

/// Sends messages to the collector by HTTP/1.1, over one connection after the other.
pub(crate) struct CollectorClient {
    otlp: Otlp,
    connection: Option<TcpStream>,
    /// Lets one lookup of the collector's name run at a time: a name server that does not respond
    /// holds only one thread.
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

    /// Sends a message. Returns within `EXPORT_TIMEOUT`.
    pub(crate) async fn send(&mut self, message: &[u8]) -> Delivery {
        let sent = timeout(EXPORT_TIMEOUT, self.exchange(message)).await;
        let late = || format!("no response within {} s", EXPORT_TIMEOUT.as_secs());
        match sent {
            Ok(Ok(delivery)) => delivery,
            Ok(Err(error)) => Delivery::Later(None, error.to_string()),
            Err(_) => Delivery::Later(None, late()),
        }
    }

    /// Sends a message and reads the response. The connection is kept only when the response is
    /// complete.
    async fn exchange(&mut self, message: &[u8]) -> io::Result<Delivery> {
        let mut connection = match self.connection.take().filter(is_idle) {
            Some(connection) => connection,
            None => TcpStream::connect(&self.addresses().await?[..]).await?,
        };
        let request = [self.head(message.len()).as_bytes(), message].concat();
        connection.write_all(&request).await?;
        let (delivery, is_complete) = received(&mut connection).await?;
        self.connection = is_complete.then_some(connection);
        Ok(delivery)
    }

    fn head(&self, length: usize) -> String {
        let Otlp {
            host, port, path, ..
        } = &self.otlp;
        let host = match host.parse() {
            Ok(IpAddr::V6(address)) => format!("[{address}]"),
            _ => host.clone(),
        };
        format!(
            "POST {path}/v1/traces HTTP/1.1\r\nhost: {host}:{port}\r\n\
             content-type: application/x-protobuf\r\ncontent-length: {length}\r\n\r\n"
        )
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

/// Whether the collector has neither closed the connection nor sent what nobody asked for.
fn is_idle(connection: &TcpStream) -> bool {
    let read = connection.try_read(&mut [0]);
    read.is_err_and(|error| error.kind() == io::ErrorKind::WouldBlock)
}

/// The response of the collector, and whether it was complete. A body of unknown or too large a length is not read.
async fn received(connection: &mut TcpStream) -> io::Result<(Delivery, bool)> {
    let mut bytes = Vec::with_capacity(1024);
    let (delivery, length, begin) = loop {
        if let Some(head) = head(&bytes)? {
            break head;
        }
        if bytes.len() >= COLLECTOR_HEADER_LIMIT || connection.read_buf(&mut bytes).await? == 0 {
            return Err(io::Error::other("the response broke off"));
        }
    };
    let Some(length) = length.filter(|length| *length <= COLLECTOR_BODY_LIMIT) else {
        return Ok((delivery, false));
    };
    let mut body = bytes.split_off(begin);
    let missing = length.saturating_sub(body.len()) as u64;
    connection.take(missing).read_to_end(&mut body).await?;
    let is_complete = body.len() == length;
    let delivery = match delivery {
        Delivery::Taken { .. } if is_complete => Delivery::Taken {
            rejected: rejected(&body).unwrap_or_default(),
        },
        other => other,
    };
    Ok((delivery, is_complete))
}

/// Reads the head of a response. Returns the outcome of the delivery, the length of the body, and
/// the index at which the body begins; `None` if the head is not complete yet.
fn head(bytes: &[u8]) -> io::Result<Option<(Delivery, Option<usize>, usize)>> {
    let mut fields = [httparse::EMPTY_HEADER; COLLECTOR_FIELDS_LIMIT];
    let mut response = httparse::Response::new(&mut fields);
    let parsed = response.parse(bytes).map_err(io::Error::other)?;
    let (httparse::Status::Complete(begin), Some(status)) = (parsed, response.code) else {
        return Ok(None);
    };
    let value = |name: &str| {
        let mut fields = response.headers.iter();
        let field = fields.find(|field| field.name.eq_ignore_ascii_case(name))?;
        std::str::from_utf8(field.value).ok()
    };
    let delivery = Delivery::by_status(status, value("retry-after"));
    let length = value("content-length").and_then(|length| length.parse().ok());
    Ok(Some((delivery, length, begin)))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn by(status: u16, pause: &str) -> Delivery {
        Delivery::by_status(status, Some(pause))
    }

    #[test]
    fn an_overloaded_collector_says_when_to_come_back_within_a_bound() {
        let pause = |delivery| match delivery {
            Delivery::Later(pause, _) => pause,
            other => panic!("{other:?}"),
        };
        assert_eq!(pause(by(429, "7")), Some(Duration::from_secs(7)));
        assert_eq!(pause(by(503, "99999999999")), Some(LONGEST_PAUSE));
        assert_eq!(pause(by(504, "soon")), None);
    }

    #[test]
    fn what_may_not_be_repeated_is_refused() {
        assert_eq!(by(500, ""), Delivery::Refused(500));
        assert_eq!(by(400, ""), Delivery::Refused(400));
        assert_eq!(by(202, ""), Delivery::Taken { rejected: 0 });
    }
}
