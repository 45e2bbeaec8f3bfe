use std::rc::Rc;
use std::time::Duration;

use crate::collector_client::{CollectorClient, Delivery};
use crate::messages::message;
use crate::protobuf::ProtoMessage;
use crate::span_queue::SpanQueue;
use carat_log::{FieldValue, Log};
use carat_settings::Otlp;

/// How often a message is sent before its spans are dropped.
const ATTEMPTS: u32 = 5;
/// The pause after the first attempt. It doubles with each further attempt.
const FIRST_PAUSE: Duration = Duration::from_secs(1);

/// The collector, what it learns about the server, and the spans that it is to get.
#[derive(Debug)]
pub(crate) struct Destination {
    pub(crate) otlp: Otlp,
    pub(crate) version: String,
    pub(crate) resource: ProtoMessage,
    pub(crate) queue: Rc<SpanQueue>,
}

/// Sends the spans, one message after the other.
pub(crate) struct Exporter<'a> {
    destination: &'a Destination,
    client: CollectorClient,
    log: Rc<Log>,
    has_warned: bool,
}

impl Exporter<'_> {
    pub(crate) fn new(destination: &Destination, log: Rc<Log>) -> Exporter<'_> {
        Exporter {
            client: CollectorClient::new(&destination.otlp),
            destination,
            log,
            has_warned: false,
        }
    }

    /// Sends spans until the server ends and all of them are sent.
    pub(crate) async fn run(&mut self) {
        let queue = &self.destination.queue;
        while let Some(batch) = queue.next_batch().await {
            let spans: u64 = batch.iter().map(|request| request.spans()).sum();
            let message = message(
                &self.destination.version,
                &self.destination.resource,
                &batch,
            );
            drop(batch);
            queue.settle(self.deliver(&message, spans).await);
        }
    }

    /// Sends a message, again and again if the collector cannot take it yet. Returns how many of
    /// the spans it has taken.
    async fn deliver(&mut self, message: &[u8], spans: u64) -> u64 {
        for attempt in 0..ATTEMPTS {
            let (pause, cause) = match self.client.send(message).await {
                Delivery::Taken { rejected } => {
                    self.note(None);
                    return spans.saturating_sub(rejected);
                }
                Delivery::Refused(status) => {
                    self.note(Some(&status.to_string()));
                    return 0;
                }
                Delivery::Later(pause, cause) => (pause, cause),
            };
            self.note(Some(&cause));
            let queue = &self.destination.queue;
            if queue.is_closed() || attempt + 1 == ATTEMPTS {
                break;
            }
            queue
                .pause(pause.unwrap_or(FIRST_PAUSE * 2_u32.pow(attempt)))
                .await;
        }
        0
    }

    /// Logs when the collector takes nothing any more, and when it does again.
    fn note(&mut self, cause: Option<&str>) {
        let otlp = &self.destination.otlp;
        let collector = format!("{}:{}", otlp.host, otlp.port);
        match cause {
            Some(cause) if !self.has_warned => {
                let fields: [(&str, &dyn FieldValue); 2] =
                    [("collector", &collector), ("cause", &cause)];
                self.log.warn("the collector takes no spans", &fields);
                self.has_warned = true;
            }
            None if self.has_warned => {
                self.log.info(
                    "the collector takes spans again",
                    &[("collector", &collector)],
                );
                self.has_warned = false;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use carat_settings::Settings;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::task::{LocalSet, spawn_local};

    use super::*;

    const MESSAGE: &[u8] = b"message";
    const TAKEN: &str = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n";

    /// Sends a message of one span to the port, to a collector that does as `collect` says. Returns how many spans it took.
    async fn deliver(port: u16, collect: impl Future<Output = ()> + 'static) -> u64 {
        let otlp = Otlp {
            host: "127.0.0.1".to_owned(),
            port,
            path: String::new(),
            sample: 1.0,
        };
        let destination = Destination {
            otlp,
            version: String::new(),
            resource: ProtoMessage::default(),
            queue: Rc::default(),
        };
        let log = Log::open(&Settings::plain()).expect("a log");
        let delivered = async {
            spawn_local(collect);
            let mut exporter = Exporter::new(&destination, Rc::new(log));
            exporter.deliver(MESSAGE, 1).await
        };
        LocalSet::new().run_until(delivered).await
    }

    async fn listen() -> (TcpListener, u16) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let port = listener.local_addr().expect("an address").port();
        (listener, port)
    }

    /// Reads one message and sends each of the responses to one.
    async fn respond(stream: &mut TcpStream, responses: &[&str]) {
        for response in responses {
            let mut received = Vec::new();
            while !received.ends_with(MESSAGE) {
                let read = stream.read_buf(&mut received).await.expect("a message");
                assert_ne!(read, 0, "the message broke off");
            }
            let sent = stream.write_all(response.as_bytes()).await;
            sent.expect("the exporter reads");
        }
    }

    async fn answered(responses: Vec<&'static str>) -> u64 {
        let (listener, port) = listen().await;
        let collect = async move {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            respond(&mut stream, &responses).await;
            std::future::pending::<()>().await;
        };
        deliver(port, collect).await
    }

    #[tokio::test]
    async fn spans_that_an_overloaded_collector_takes_later_are_not_lost() {
        let later = "HTTP/1.1 429 Too Many Requests\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n";
        assert_eq!(answered(vec![later, later, TAKEN]).await, 1);
    }

    #[tokio::test]
    async fn a_connection_that_the_collector_closes_is_replaced() {
        let later =
            "HTTP/1.1 503 Service Unavailable\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n";
        let (listener, port) = listen().await;
        let collect = async move {
            for response in [later, TAKEN] {
                let (mut stream, _) = listener.accept().await.expect("a connection");
                respond(&mut stream, &[response]).await;
            }
            std::future::pending::<()>().await;
        };
        assert_eq!(deliver(port, collect).await, 1);
    }

    #[tokio::test]
    async fn spans_that_the_collector_refuses_are_dropped() {
        let refused = "HTTP/1.1 500 Internal Server Error\r\ncontent-length: 0\r\n\r\n";
        assert_eq!(answered(vec![refused]).await, 0);
    }

    #[tokio::test]
    async fn spans_that_the_collector_rejects_from_a_message_are_dropped() {
        // partial_success { rejected_spans: 1 }
        let partial = "HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\n\n\x02\x08\x01";
        assert_eq!(answered(vec![partial]).await, 0);
    }

    #[tokio::test]
    async fn a_response_that_does_not_end_is_not_read_to_its_end() {
        let endless = "HTTP/1.1 200 OK\r\ncontent-length: 1000000\r\n\r\n";
        let (listener, port) = listen().await;
        let collect = async move {
            let (mut stream, _) = listener.accept().await.expect("a connection");
            respond(&mut stream, &[endless]).await;
            let page = [b'x'; 4096];
            while stream.write_all(&page).await.is_ok() {}
        };
        assert_eq!(deliver(port, collect).await, 1);
    }

    /// The clock stands still, and jumps to the next deadline when nothing else happens.
    #[tokio::test(start_paused = true)]
    async fn a_collector_that_hangs_costs_its_spans() {
        let (_listener, port) = listen().await;
        assert_eq!(deliver(port, std::future::pending()).await, 0);
    }

    #[tokio::test(start_paused = true)]
    async fn a_collector_that_is_gone_costs_its_spans() {
        let (listener, port) = listen().await;
        drop(listener);
        assert_eq!(deliver(port, std::future::pending()).await, 0);
    }
}
