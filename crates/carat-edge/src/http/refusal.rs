use bytes::Bytes;
use carat_coding::DecodeError;
use carat_guard::GuardError;
use carat_multipart::Exceeded;
use http::header::{ACCEPT_ENCODING, CONNECTION, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, Response, StatusCode};

use crate::body::ReplyBody;

/// What a body may be coded in, for a client that has sent another (RFC 9110 15.5.16).
const DECODED_CODINGS: &str = "gzip, deflate, br, zstd";

/// Whose fault it is that a request is not answered by the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fault {
    Client,
    App,
    Server,
}

/// Why a request is answered by the edge and not by the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// The bytes are not HTTP/1.1 as the guard understands it.
    Malformed(GuardError),
    /// The body is larger than `max_body`.
    BodyTooLarge,
    /// The body has a content coding that the edge does not decode, or too many of them.
    UnknownCoding,
    /// The body is not what its content coding says, or more than may come out of it.
    Undecodable(DecodeError),
    /// The form has more of something than it may have.
    Form(Exceeded),
    /// The head or the body came too slowly.
    TooSlow,
    /// More than `queue_limit` requests wait.
    QueueFull,
    /// The request waited longer than `queue_timeout`.
    QueueTimeout,
    /// The server ends, and the application has not answered in time.
    Stopping,
    /// The worker died after it had begun the request.
    WorkerLost,
    /// The application did not begin its answer within `request_timeout`.
    AppTimeout,
    /// The application's answer cannot be sent as HTTP.
    BadAnswer,
    /// The body could not be written to `spool_dir`.
    SpoolFailed,
    /// The file system of `spool_dir` has no room, or not for a file of this size.
    SpoolFull,
    /// The bodies of all requests together would exceed `spool_limit`.
    SpoolLimit,
}

impl Refusal {
    /// The status that the client gets.
    pub(crate) fn status(self) -> StatusCode {
        match self {
            Refusal::Malformed(refusal) => {
                StatusCode::from_u16(refusal.status()).expect("the guard names real statuses")
            }
            Refusal::BodyTooLarge
            | Refusal::Form(_)
            | Refusal::Undecodable(DecodeError::TooLarge | DecodeError::TooDense) => {
                StatusCode::PAYLOAD_TOO_LARGE
            }
            Refusal::UnknownCoding | Refusal::Undecodable(DecodeError::WindowTooLarge) => {
                StatusCode::UNSUPPORTED_MEDIA_TYPE
            }
            Refusal::Undecodable(DecodeError::Corrupt | DecodeError::Truncated) => {
                StatusCode::BAD_REQUEST
            }
            Refusal::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Refusal::QueueFull
            | Refusal::QueueTimeout
            | Refusal::Stopping
            | Refusal::SpoolLimit => StatusCode::SERVICE_UNAVAILABLE,
            Refusal::WorkerLost => StatusCode::BAD_GATEWAY,
            Refusal::AppTimeout => StatusCode::GATEWAY_TIMEOUT,
            Refusal::BadAnswer | Refusal::SpoolFailed => StatusCode::INTERNAL_SERVER_ERROR,
            Refusal::SpoolFull => StatusCode::INSUFFICIENT_STORAGE,
        }
    }

    /// One sentence for the client.
    pub(crate) fn reason(self) -> &'static str {
        match self {
            Refusal::Malformed(refusal) => refusal.reason(),
            Refusal::BodyTooLarge => "the request body is too large",
            Refusal::UnknownCoding => "the content coding of the request body is not supported",
            Refusal::Undecodable(error) => error.reason(),
            Refusal::Form(exceeded) => exceeded.reason(),
            Refusal::TooSlow => "the request came too slowly",
            Refusal::QueueFull => "too many requests are waiting",
            Refusal::Stopping => "the server is stopping",
            Refusal::QueueTimeout => "no worker became free in time",
            Refusal::WorkerLost => "the application process died while it worked on this request",
            Refusal::AppTimeout => "the application did not answer in time",
            Refusal::BadAnswer => "the application's answer is not valid HTTP",
            Refusal::SpoolFailed | Refusal::SpoolFull => "the request body could not be stored",
            Refusal::SpoolLimit => "too many request bodies are stored at once",
        }
    }

    /// Whose fault it is.
    pub(crate) fn fault(self) -> Fault {
        match self {
            Refusal::Malformed(_)
            | Refusal::BodyTooLarge
            | Refusal::UnknownCoding
            | Refusal::Undecodable(_)
            | Refusal::Form(_)
            | Refusal::TooSlow => Fault::Client,
            Refusal::WorkerLost | Refusal::AppTimeout | Refusal::BadAnswer => Fault::App,
            Refusal::QueueFull
            | Refusal::QueueTimeout
            | Refusal::Stopping
            | Refusal::SpoolFailed
            | Refusal::SpoolFull
            | Refusal::SpoolLimit => Fault::Server,
        }
    }

    /// Whether the connection ends with the answer: where the client's next message begins is not
    /// known, or not worth reading on for.
    pub(crate) fn ends_connection(self) -> bool {
        matches!(self.fault(), Fault::Client)
            || matches!(
                self,
                Refusal::SpoolFailed | Refusal::SpoolFull | Refusal::SpoolLimit
            )
    }

    /// The answer as a response.
    pub(crate) fn into_response(self) -> Response<ReplyBody> {
        let body = Bytes::from(format!("{}\n", self.reason()));
        let mut response = Response::new(ReplyBody::full(body));
        *response.status_mut() = self.status();
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/plain"));
        if self.ends_connection() {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        if self.status() == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        if self.status() == StatusCode::UNSUPPORTED_MEDIA_TYPE {
            headers.insert(ACCEPT_ENCODING, HeaderValue::from_static(DECODED_CODINGS));
        }
        response
    }

    /// The answer as bytes, for a connection whose reader has given up on the client's bytes.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        let (status, reason) = (self.status(), self.reason());
        let phrase = status.canonical_reason().unwrap_or("Refused");
        format!(
            "HTTP/1.1 {} {phrase}\r\ncontent-type: text/plain\r\ncontent-length: {}\r\n\
             connection: close\r\n\r\n{reason}\n",
            status.as_u16(),
            reason.len() + 1,
        )
        .into_bytes()
    }
}
