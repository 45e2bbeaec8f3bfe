use std::time::SystemTime;

use bytes::Bytes;
use carat_guard::GuardError;
use http::header::{CONNECTION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Response, StatusCode};

use crate::response::reply::ReplyBody;

/// The party at fault when the edge refuses a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The client violates the protocol or a limit, or is too slow.
    Client,
    /// The application fails.
    App,
    /// The server is short of something, or about to stop.
    Server,
}

/// Why a part of the edge refuses requests.
#[derive(Debug, PartialEq, Eq)]
pub struct PartRefusal {
    /// The status of the response.
    pub status: StatusCode,
    /// The reason, as a sentence for the client.
    pub reason: &'static str,
    /// The party at fault.
    pub fault: Fault,
    /// After how many seconds the client should ask again.
    pub retry_after: Option<u8>,
}

/// Why the edge responds to a request itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// The bytes violate HTTP/1.1 or a limit of the guard.
    Malformed(GuardError),
    /// A part refuses the request, or recognizes that the client does not speak HTTP.
    ByPart(&'static PartRefusal),
    /// The path does not begin with `prefix`.
    OutsidePrefix,
    /// The body is larger than `max_body`.
    BodyTooLarge,
    /// The headers or the body arrived too slowly.
    TooSlow,
    /// Clients make the edge hold more than `client_memory`, and this client makes the least progress.
    ClientMemory,
    /// The streamed body of a request that the application has begun is cut off, because clients make the edge hold
    /// more than `client_memory`.
    BodyCutOff,
    /// More than `queue_limit` requests wait.
    QueueFull,
    /// More requests arrive than the application serves, and newer requests are served first: the option `queue`.
    Overloaded {
        /// After how many seconds the client should ask again.
        retry_after: u8,
    },
    /// The request waited longer than `queue_timeout`.
    QueueTimeout,
    /// The server stopped before the application began the request, or the request is a readiness check of a stopping
    /// server.
    Stopping,
    /// The server stopped before the application responded to the request, which it had begun.
    CutOff,
    /// The worker died after it began the request.
    WorkerLost,
    /// The application did not begin its response within `request_timeout`.
    AppTimeout,
    /// The application's response is not valid HTTP.
    InvalidResponse,
    /// The application's response is a file whose descriptor was lost, because too many files are open.
    ReplyLost,
    /// As many tunnels are open as `max_tunnels` allows.
    TooManyTunnels,
    /// Too many files are open to store the body, or to hand it to a worker.
    NoDescriptors,
    /// A static file cannot be opened: too many files are open, or the disk does not respond.
    FileNotOpened,
    /// Writing the body to `spool_dir` failed.
    SpoolFailed,
    /// The file system of `spool_dir` is full, or does not allow a file of this size.
    SpoolFull,
    /// All spooled bodies together would exceed `spool_limit`.
    SpoolLimit,
    /// The body of the application's response would exceed `spool_limit`.
    ResponseNotStored,
}

impl Refusal {
    /// The status of the response.
    pub fn status(self) -> StatusCode {
        match self {
            Refusal::Malformed(refusal) => {
                StatusCode::from_u16(refusal.status()).expect("every GuardError has a valid status")
            }
            Refusal::BodyTooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Refusal::ByPart(refusal) => refusal.status,
            Refusal::OutsidePrefix => StatusCode::NOT_FOUND,
            Refusal::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Refusal::ClientMemory
            | Refusal::QueueFull
            | Refusal::Overloaded { .. }
            | Refusal::QueueTimeout
            | Refusal::Stopping
            | Refusal::TooManyTunnels
            | Refusal::NoDescriptors
            | Refusal::FileNotOpened
            | Refusal::SpoolLimit => StatusCode::SERVICE_UNAVAILABLE,
            Refusal::WorkerLost | Refusal::BodyCutOff => StatusCode::BAD_GATEWAY,
            Refusal::AppTimeout | Refusal::CutOff => StatusCode::GATEWAY_TIMEOUT,
            Refusal::InvalidResponse
            | Refusal::ReplyLost
            | Refusal::SpoolFailed
            | Refusal::ResponseNotStored => StatusCode::INTERNAL_SERVER_ERROR,
            Refusal::SpoolFull => StatusCode::INSUFFICIENT_STORAGE,
        }
    }

    /// The refusal to send in place of this one if the application has begun the request, which must then not be
    /// repeated.
    #[must_use]
    pub fn once_begun(self) -> Refusal {
        match self {
            Refusal::ClientMemory => Refusal::BodyCutOff,
            other => other,
        }
    }

    /// The reason, as a sentence for the client.
    pub fn reason(self) -> &'static str {
        match self {
            Refusal::Malformed(refusal) => refusal.reason(),
            Refusal::ByPart(refusal) => refusal.reason,
            Refusal::OutsidePrefix => "the path does not lead to the application",
            Refusal::BodyTooLarge => "the request body is too large",
            Refusal::TooSlow => "the request arrived too slowly",
            Refusal::ClientMemory | Refusal::BodyCutOff => {
                "the server's memory for clients is used up"
            }
            Refusal::QueueFull | Refusal::Overloaded { .. } => "too many requests are waiting",
            Refusal::Stopping => "the server is stopping",
            Refusal::CutOff => "the server stopped before the application responded",
            Refusal::QueueTimeout => "no worker became free in time",
            Refusal::WorkerLost => "the application process died while it served this request",
            Refusal::AppTimeout => "the application did not respond in time",
            Refusal::InvalidResponse => "the application's response is not valid HTTP",
            Refusal::ReplyLost | Refusal::NoDescriptors => "too many files are open",
            Refusal::TooManyTunnels => "too many tunnels are open",
            Refusal::FileNotOpened => "the file cannot be opened",
            Refusal::SpoolFailed | Refusal::SpoolFull => "the request body could not be stored",
            Refusal::SpoolLimit => "too many request bodies are stored at once",
            Refusal::ResponseNotStored => "the response could not be stored",
        }
    }

    /// The party at fault.
    pub fn fault(self) -> Fault {
        match self {
            Refusal::ByPart(refusal) => refusal.fault,
            Refusal::Malformed(_)
            | Refusal::OutsidePrefix
            | Refusal::BodyTooLarge
            | Refusal::TooSlow => Fault::Client,
            Refusal::WorkerLost | Refusal::AppTimeout | Refusal::InvalidResponse => Fault::App,
            Refusal::ClientMemory
            | Refusal::BodyCutOff
            | Refusal::QueueFull
            | Refusal::Overloaded { .. }
            | Refusal::QueueTimeout
            | Refusal::Stopping
            | Refusal::CutOff
            | Refusal::ReplyLost
            | Refusal::TooManyTunnels
            | Refusal::NoDescriptors
            | Refusal::FileNotOpened
            | Refusal::SpoolFailed
            | Refusal::SpoolFull
            | Refusal::SpoolLimit
            | Refusal::ResponseNotStored => Fault::Server,
        }
    }

    /// Whether the connection is closed after the response, because the start of the next message is unknown, or too
    /// expensive to reach.
    pub fn ends_connection(self) -> bool {
        matches!(self.fault(), Fault::Client)
            || matches!(
                self,
                Refusal::ClientMemory
                    | Refusal::ByPart(_)
                    | Refusal::BodyCutOff
                    | Refusal::NoDescriptors
                    | Refusal::SpoolFailed
                    | Refusal::SpoolFull
                    | Refusal::SpoolLimit
            )
    }

    /// The value of Retry-After: after how many seconds the client should ask again.
    fn retry_after(self) -> Option<u8> {
        match self {
            Refusal::ByPart(refusal) => refusal.retry_after,
            Refusal::Overloaded { retry_after } => Some(retry_after),
            _ if self.status() == StatusCode::SERVICE_UNAVAILABLE => Some(1),
            _ => None,
        }
    }

    /// The refusal as a response.
    pub fn into_response(self) -> Response<ReplyBody> {
        let body = Bytes::from(format!("{}\n", self.reason()));
        let mut response = Response::new(ReplyBody::full(body));
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
        if self.ends_connection() {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        if let Some(seconds) = self.retry_after() {
            headers.insert(RETRY_AFTER, HeaderValue::from(u16::from(seconds)));
        }
        response
    }

    /// The refusal as bytes, for a connection that hyper does not serve any more.
    pub fn into_bytes(self) -> Vec<u8> {
        let (status, reason) = (self.status(), self.reason());
        let phrase = status.canonical_reason().unwrap_or("Refused");
        let retry_after = self.retry_after();
        let retry_after =
            retry_after.map_or_else(String::new, |seconds| format!("retry-after: {seconds}\r\n"));
        format!(
            "HTTP/1.1 {} {phrase}\r\ncontent-type: text/plain\r\ncontent-length: {}\r\n\
             connection: close\r\n{retry_after}date: {}\r\n\r\n{reason}\n",
            status.as_u16(),
            reason.len() + 1,
            httpdate::fmt_http_date(SystemTime::now()),
        )
        .into_bytes()
    }
}
