use std::cell::Cell;

use http::header::{CONNECTION, CONTENT_LENGTH};
use http::{HeaderValue, Request, Response, Version};

use crate::request::request_context::RequestContext;
use carat_body::response::ClientBody;

/// Decides which response is the last one of its connection.
#[derive(Default)]
pub(crate) struct ConnectionEnd {
    /// Whether clients are told to send their next request elsewhere.
    pub(crate) turns_away: Cell<bool>,
}

impl ConnectionEnd {
    /// Marks a response as the last one of its connection if that is so. The client may already have sent further
    /// requests.
    pub(crate) fn announce<B>(&self, response: &mut Response<B>, context: &RequestContext) {
        if context.closes || self.turns_away.get() {
            close(response, context.is_http10);
            context.state.end.linger();
        }
    }
}

/// Frames a body of unknown length for a client of HTTP/1.0, which knows no chunks: the end of the
/// connection ends the body.
pub(crate) fn delimit(response: &mut Response<ClientBody>, context: &RequestContext) {
    let is_endless = context.is_http10
        && response.body().length().is_none()
        && !response.headers().contains_key(CONTENT_LENGTH);
    if is_endless {
        close(response, true);
    }
    context.state.begin_response(is_endless);
}

/// Adds `connection: close`. As the version is HTTP/1.0, hyper adds no `keep-alive` for a client that asked for it.
fn close<B>(response: &mut Response<B>, is_http10: bool) {
    if is_http10 {
        *response.version_mut() = Version::HTTP_10;
    }
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(CONNECTION, close);
}

/// Whether the client asks for `close` in a way that hyper does not recognize, such as `close;`, or in a value with a
/// byte beyond ASCII. nginx searches for the word, too.
pub(crate) fn asks_to_close<B>(request: &Request<B>) -> bool {
    let fields = request.headers().get_all(CONNECTION).iter();
    let mut fields = fields.map(HeaderValue::as_bytes);
    fields.any(|field| {
        let mut options = field.split(|byte| *byte == b',').map(<[u8]>::trim_ascii);
        options.any(|option| {
            let mut words = option.windows(b"close".len());
            let is_unknown = words.len() > 1 || !field.is_ascii();
            is_unknown && words.any(|word| word.eq_ignore_ascii_case(b"close"))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn close_is_found_where_hyper_does_not_look() {
        let asks = |value: &[u8]| {
            let request = Request::builder().header(CONNECTION, value);
            asks_to_close(&request.body(()).expect("a request"))
        };
        for value in [
            &b"close;"[..],
            b"x, \"Close\"",
            b"close, keep-a\xddlive",
            b"\xff,CLOSE",
        ] {
            assert!(asks(value), "{value:?}");
        }
        for value in [
            &b"close"[..],
            b"keep-alive",
            b"keep-a\xddlive",
            b"",
            b"clo\xe9se",
        ] {
            assert!(!asks(value), "{value:?}");
        }
    }
}
