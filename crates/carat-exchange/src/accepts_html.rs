use carat_fields::Accept;
use http::header::ACCEPT;
use http::{HeaderMap, HeaderValue};

/// Whether the client is a browser that shows a page. `*/*`, which scripts send, does not count.
pub fn accepts_html(request: &HeaderMap) -> bool {
    let lines = request.get_all(ACCEPT).iter();
    Accept::read(lines.map(HeaderValue::as_bytes)).names("text/html")
}
