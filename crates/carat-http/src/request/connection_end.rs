use std::cell::Cell;

use http::header::{CONNECTION, CONTENT_LENGTH};
use http::{HeaderValue, Request, Response, Version};

use crate::request::request_context::RequestContext;
use carat_body::response::ClientBody;

/// Which response is the last one of its connection.
#[derive(Default)]
pub(crate) struct ConnectionEnd {
    /// Clients are to go elsewhere with their next request.
    pub(crate) turns_away: Cell<bool>,
}

impl ConnectionEnd {
    /// Makes a response the last one of its connection if it is. The client may have sent further requests already.
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

/// In a response of HTTP/1.0, hyper adds no `keep-alive` for a client that asked for it.
fn close<B>(response: &mut Response<B>, is_http10: bool) {
    if is_http10 {
        *response.version_mut() = Version::HTTP_10;
    }
    let close = HeaderValue::from_static("close");
    response.headers_mut().insert(CONNECTION, close);
}

/// Whether the client names `close` in a way that hyper does not know, such as `close;`. nginx looks for the word, too.
pub(crate) fn asks_to_close<B>(request: &Request<B>) -> bool {
    let fields = request.headers().get_all(CONNECTION).iter();
    let mut options = fields.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    options.any(|option| {
        let mut words = option.trim_ascii().windows(b"close".len());
        words.len() > 1 && words.any(|word| word.eq_ignore_ascii_case(b"close"))
    })
}
